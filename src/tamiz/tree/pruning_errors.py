"""Errors of a pruning sequence on data that did not grow its tree, in one pass over the rows.

A row that ends in some leaf of the full tree ends, in each pruned tree, in one of the nodes above
that leaf. So it is enough to know, for each node, what the rows that pass it would cost if it were
a leaf. That follows from what lies in the leaves, added up towards the root: the mass of each
class, or the first four moments of the target. Each node then counts for the trees in which it is a
leaf, a stretch of the sequence.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import _safe_indexing

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.tree.pruning import PruningPath, pruning_path, sums_along
from tamiz.validation import (
    as_numpy,
    as_vector,
    check_groups,
    check_regression_target,
    check_sample_weight,
    check_split,
    check_target,
    folds,
)


def held_out_losses(
    estimator: Any, path: PruningPath, X: Any, y: Any, sample_weight: Any = None
) -> Losses:
    """Losses of all trees of a sequence on rows that the estimator did not see."""
    table = estimator._read(X)
    target = check_target(y, len(table))
    weight = check_sample_weight(sample_weight, len(table))
    weight = weight * class_factors(estimator, target, weight)
    if not weight.any():
        raise ValueError(
            "sample_weight and class_weight leave no row of X with a weight to judge by; pass "
            "rows of the classes that count."
        )
    return _losses(estimator, path, table, target, weight)


def class_factors(estimator: Any, y: np.ndarray, weight: np.ndarray) -> Any:
    """What ``class_weight`` makes of each row; "balanced" balances the rows themselves.

    The rows need not have all classes that the weights name, and may have others.
    """
    given = getattr(estimator, "class_weight", None)
    if given is None:
        return 1.0
    labels = y.tolist()
    if isinstance(given, str):
        totals: dict[Any, float] = {}
        for label, w in zip(labels, weight.tolist(), strict=True):
            totals[label] = totals.get(label, 0.0) + w
        given = {label: 1.0 / total for label, total in totals.items() if total > 0}
        scale = float(weight.sum()) / len(given)
        given = {label: scale * factor for label, factor in given.items()}
    return np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)


def _losses(
    estimator: Any, path: PruningPath, table: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> Losses:
    full, leaf = path.full, path.full.apply(table)
    if full.kind == "regression":
        values = check_regression_target(y, len(table))
        return squared_losses(full, path.last, len(path), leaf, values, weight)
    codes = known_codes(y, estimator.classes_)
    return class_losses(full, path.last, len(path), leaf, codes, weight, estimator.costs_)


def known_codes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The code of each label; -1 for a class that the tree does not know."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)


def refuse_strangers(y: Any, classes: np.ndarray) -> None:
    """Refuse labels none of which the tree knows: they are written in another way."""
    labels = as_vector(y)
    if len(labels) and (known_codes(labels, classes) < 0).all():
        raise ValueError(
            f"y holds none of the classes that the tree knows; y[0] is {labels.tolist()[0]!r}, the "
            f"classes are {', '.join(map(repr, classes[:10].tolist()))}. Pass labels of the "
            "same kind as in fit."
        )


def cross_validated_losses(
    estimator: Any, path: PruningPath, X: Any, y: Any, sample_weight: Any, cv: Any,
    random_state: Any, groups: Any, verbose: bool | int,
) -> Losses:  # fmt: skip
    """Losses by Breiman's cross-validation.

    The trees of the folds have sequences of their own. Tree ``k`` of the whole is the best for all
    alphas between ``alpha_k`` and ``alpha_k+1``. Their geometric mean stands for it: the tree of a
    fold is pruned at that alpha, and judged by the rows that it did not see.
    """
    X = as_numpy(X)
    n = len(estimator._read(X))  # the checks of X
    target = check_target(y, n)
    weight = check_sample_weight(sample_weight, n)
    judged = weight * class_factors(estimator, target, weight)
    alphas = np.append(np.sqrt(path.alphas[:-1] * path.alphas[1:]), np.inf)
    model = clone(estimator)
    if path.full.kind == "classification":
        model.set_params(costs=_by_label(estimator))
    total: Losses | None = None
    folds = list(_folds(estimator, cv, target, random_state, groups))
    with Progress("pruning", verbose) as progress:
        for k, (train, test) in enumerate(folds):
            progress.update(f"fold {k + 1} of {len(folds)}")
            test = test[judged[test] > 0]
            if not len(test) or not weight[train].any():
                continue
            fold = _grown(model, X, target, weight, train)
            own = pruning_path(fold.tree_, path.measure)
            table = fold._read(_safe_indexing(X, test))
            chosen = np.searchsorted(own.alphas, alphas, side="right") - 1
            part = _losses(fold, own, table, target[test], judged[test]).at(chosen)
            total = part if total is None else total.plus(part)
    if total is None:
        raise ValueError("cv leaves no rows with a weight to judge by; use a number of folds.")
    return total


def _grown(model: Any, X: Any, y: np.ndarray, weight: np.ndarray, train: np.ndarray) -> Any:
    """A tree of its own for one fold, which may lack a class."""
    fold = clone(model)
    given = getattr(fold, "class_weight", None)
    if isinstance(given, dict):
        there = set(y[train].tolist())
        fold.set_params(class_weight={k: v for k, v in given.items() if k in there} or None)
    even = (weight == weight[0]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said already when the whole tree was grown
        return fold.fit(
            _safe_indexing(X, train), y[train], sample_weight=None if even else weight[train]
        )


def _by_label(estimator: Any) -> Any:
    """The costs by labels, so that a fold may lack a class."""
    if estimator.costs is None:
        return None
    labels = estimator.classes_.tolist()
    return {
        (a, b): float(estimator.costs_[i, j])
        for i, a in enumerate(labels)
        for j, b in enumerate(labels)
        if i != j
    }


def _folds(
    estimator: Any, cv: Any, y: np.ndarray, random_state: Any, groups: Any
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The folds; a number stands for random ones that keep the proportions of the classes."""
    n, classifier = len(y), hasattr(estimator, "classes_")
    cv = folds()("cv", cv)
    if groups is not None:
        groups = check_groups(groups, n)
        count = len(set(groups.tolist()))
        if isinstance(cv, int) and cv > count:
            raise ValueError(f"cv={cv} folds: use a number from 2 to {count}, the groups.")
    if isinstance(cv, int):
        largest = int(np.unique(y, return_counts=True)[1].max()) if classifier else n
        if cv > largest:
            held = "samples of the largest class" if classifier else "samples"
            raise ValueError(f"cv={cv} folds: use a number from 2 to {largest}, the {held}.")
        if groups is not None:
            kind: Any = StratifiedGroupKFold if classifier else GroupKFold
        else:
            kind = StratifiedKFold if classifier else KFold
        splitter: Any = kind(cv, shuffle=True, random_state=random_state)
    else:
        splitter = check_cv(cv, y, classifier=classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with few samples is no harm here
        listed = hasattr(cv, "__iter__") and not hasattr(cv, "split")
        given = splitter.cv if listed else splitter.split(np.zeros((n, 1)), y, groups)
        for k, pair in enumerate(given):
            yield check_split(pair, k, n)


class Losses(NamedTuple):
    """Sums over held-out rows, for each tree of a sequence; those of several parts can be added.

    Attributes
    ----------
    total, squares : arrays of shape (n_trees,)
        Weighted sums of the losses and of their squares.
    weight, weight_squares : float
        Sum of the weights of the rows and of their squares.
    """

    total: np.ndarray
    squares: np.ndarray
    weight: float
    weight_squares: float

    def at(self, trees: np.ndarray) -> Losses:
        """Those of some trees of the sequence, in this order."""
        return self._replace(total=self.total[trees], squares=self.squares[trees])

    def plus(self, other: Losses) -> Losses:
        """The same trees on both parts."""
        return Losses(
            self.total + other.total,
            self.squares + other.squares,
            self.weight + other.weight,
            self.weight_squares + other.weight_squares,
        )

    @property
    def mean(self) -> np.ndarray:
        """The error of each tree."""
        return self.total / self.weight

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean; nan for a single row."""
        n = self.weight**2 / self.weight_squares
        if n <= 1.0:
            return np.full(len(self.total), np.nan)
        variance = np.maximum(self.squares / self.weight - self.mean**2, 0.0)
        return np.sqrt(variance / (n - 1.0))


def class_losses(
    tree: Any, last: np.ndarray, n_trees: int, leaf: np.ndarray, codes: np.ndarray,
    weight: np.ndarray, costs: np.ndarray,
) -> Losses:  # fmt: skip
    """Costs of misclassified rows.

    Parameters
    ----------
    tree : Tree
        The full tree.
    last : array of shape (n_nodes,)
        The first tree of the sequence in which each node is not divided.
    n_trees : int
        Length of the sequence.
    leaf : array of shape (n_rows,)
        Leaf of the full tree in which each row ends.
    codes : array of shape (n_rows,)
        Class of each row; -1 for one that the tree does not know. It costs as much as the worst
        mistake.
    weight : array of shape (n_rows,)
        Weights of the rows.
    costs : array of shape (n_classes, n_classes)
        Cost of predicting the second where the first is right.
    """
    n_classes = len(costs)
    known = np.vstack([costs, np.full((1, n_classes), costs.max())])  # the last: unknown class
    codes = np.where(codes < 0, n_classes, codes)
    mass = np.zeros((len(tree.left), n_classes + 1))
    np.add.at(mass, (leaf, codes), weight)
    _add_up(np.asarray(tree.parent, dtype=np.int64), mass)
    chosen = known[:, tree.prediction.astype(np.intp)].T
    each = np.column_stack([(mass * chosen).sum(axis=1), (mass * chosen**2).sum(axis=1)])
    return _along(tree, last, n_trees, each, weight)


def squared_losses(
    tree: Any, last: np.ndarray, n_trees: int, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> Losses:
    """Squared differences from the mean of each node; parameters as of :func:`class_losses`."""
    centre = float(tree.prediction[0])  # powers of small numbers lose less
    moments = np.zeros((len(tree.left), 5))
    z = y - centre
    for power in range(5):
        np.add.at(moments[:, power], leaf, weight * z**power)
    _add_up(np.asarray(tree.parent, dtype=np.int64), moments)
    m = tree.prediction - centre
    w, z1, z2, z3, z4 = moments.T
    loss = z2 - 2.0 * m * z1 + m**2 * w
    squares = z4 - 4.0 * m * z3 + 6.0 * m**2 * z2 - 4.0 * m**3 * z1 + m**4 * w
    each = np.column_stack([np.maximum(loss, 0.0), np.maximum(squares, 0.0)])
    return _along(tree, last, n_trees, each, weight)


def _along(
    tree: Any, last: np.ndarray, n_trees: int, each: np.ndarray, weight: np.ndarray
) -> Losses:
    total, squares = sums_along(tree.parent, last, n_trees, each).T
    return Losses(
        np.maximum(total, 0.0), np.maximum(squares, 0.0), float(weight.sum()),
        float((weight**2).sum()),
    )  # fmt: skip


@njit(cache=True)
def _add_up(parent, mass):
    for t in range(len(parent) - 1, 0, -1):
        mass[parent[t]] += mass[t]
