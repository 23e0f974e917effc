"""The nested sequence of pruned trees, and the choice of one of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tamiz.tree._shape import check_shape
from tamiz.tree.prune.links import weakest_links
from tamiz.tree.prune.losses import Losses, sums_along

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree


class Measure(ABC):
    """What a tree is charged for: a sum over its tests."""

    name: ClassVar[str]
    label: ClassVar[str]

    @abstractmethod
    def sizes(self, tree: Tree) -> np.ndarray:
        """What the test at each node adds."""

    @abstractmethod
    def of(self, path: PruningPath) -> np.ndarray:
        """The sizes of the trees of a sequence."""


class MeanDepth(Measure):
    """Tests that a training sample meets on average, ``l(T)``."""

    name, label = "mean_depth", "mean depth l(T)"

    def sizes(self, tree: Tree) -> np.ndarray:
        return np.asarray(tree.weight / tree.weight[0], dtype=np.float64)

    def of(self, path: PruningPath) -> np.ndarray:
        return path.mean_depths


class Leaves(Measure):
    """Number of leaves."""

    name, label = "leaves", "leaves"

    def sizes(self, tree: Tree) -> np.ndarray:
        return np.ones(len(tree.left))

    def of(self, path: PruningPath) -> np.ndarray:
        return path.leaves


MEASURES: dict[str, Measure] = {kind.name: kind for kind in (MeanDepth(), Leaves())}
RULES = ("best", "1se")


def check_measure(measure: Any) -> Measure:
    """The measure of that name."""
    if not isinstance(measure, str) or measure not in MEASURES:
        raise ValueError(f"measure={measure!r} is unknown; use one of {', '.join(MEASURES)}.")
    return MEASURES[measure]


def check_rule(rule: Any) -> str:
    """The rule itself, if there is such a one."""
    if not isinstance(rule, str) or rule not in RULES:
        raise ValueError(
            f"rule={rule!r} is unknown; use 'best' for the tree with least error, or '1se' for the "
            "smallest within one standard error of it."
        )
    return rule


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class PruningPath:
    """The sub-trees that are best for some price of size, from the largest to the root alone.

    Tree ``k`` is the smallest of those with least ``error + alpha * size`` for all prices from
    ``alphas[k]`` up to ``alphas[k + 1]``. Each is inside the one before it. Tree 0, for the price
    0, is the smallest with the training error of the full tree.

    Attributes
    ----------
    measure : {"mean_depth", "leaves"}
        What a tree is charged for.
    alphas : array of shape (n_trees,)
        Prices, growing from 0.
    leaves : array of shape (n_trees,)
        Numbers of leaves.
    mean_depths : array of shape (n_trees,)
        Tests that a training sample meets on average.
    training_errors : array of shape (n_trees,)
        Error on the training data, with the costs of the tree; for regression the mean square.
    full : Tree
        The tree that was pruned.
    last : array of shape (n_nodes,)
        The first tree of the sequence in which each node of the full tree is not divided.
    errors, standard_errors : arrays of shape (n_trees,) or None
        Error on other data than the tree was grown with, where it was measured.
    data : str
        What it was measured on: "held-out data" or "cross-validation"; empty if it was not.
    rule : {"best", "1se"} or None
        How the tree was chosen.
    chosen : int or None
        Its position.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamiz.tree import CARTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = CARTClassifier().fit(X[:400], y[:400]).pruning_path()
    >>> bool((path.leaves[1:] < path.leaves[:-1]).all()), int(path.leaves[-1])
    (True, 1)
    """

    measure: str
    alphas: np.ndarray
    leaves: np.ndarray
    mean_depths: np.ndarray
    training_errors: np.ndarray
    full: Tree = field(repr=False)
    last: np.ndarray = field(repr=False)
    errors: np.ndarray | None = None
    standard_errors: np.ndarray | None = None
    data: str = ""
    rule: str | None = None
    chosen: int | None = None

    def __len__(self) -> int:
        return len(self.alphas)

    def __getitem__(self, k: int) -> Tree:
        return self.tree(k)

    def __iter__(self) -> Iterator[Tree]:
        return (self.tree(k) for k in range(len(self)))

    def tree(self, k: int) -> Tree:
        """Tree ``k`` of the sequence; -1 is the root alone.

        Parameters
        ----------
        k : int
            Position in the sequence.

        Returns
        -------
        Tree
            A tree of its own.
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
            raise TypeError(f"k={k!r} is not a position; use a whole number.")
        if not -len(self) <= k < len(self):
            raise IndexError(
                f"k={k} is outside of the sequence, whose {len(self)} trees are numbered 0 to "
                f"{len(self) - 1}."
            )
        return self.full.with_leaves(self.last <= k % len(self))

    def at(self, alpha: float) -> int:
        """Position of the tree that is best at the price ``alpha``.

        Parameters
        ----------
        alpha : float
            Price of a unit of size, not negative.

        Returns
        -------
        int
            Its position.
        """
        number = isinstance(alpha, (int, float, np.number)) and not isinstance(alpha, bool)
        if not number or not alpha >= 0:
            raise ValueError(f"alpha={alpha!r} is not a price; use a number from 0.")
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    def measured(self, losses: Losses, data: str, rule: str) -> PruningPath:
        """The same sequence with errors on other data, and the tree that the rule chooses."""
        errors, standard = losses.mean, losses.standard_error
        return replace(
            self, errors=errors, standard_errors=standard, data=data, rule=rule,
            chosen=choose(errors, standard, rule),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------ shown

    def to_dict(self) -> dict[str, Any]:
        """Everything but the trees, as plain numbers and lists."""
        columns = {name: values.tolist() for name, values in self._columns().items()}
        return {
            "measure": self.measure, "full_leaves": int(self.full.n_leaves), "data": self.data,
            "rule": self.rule, "chosen": self.chosen, **columns,
        }  # fmt: skip

    def to_frame(self) -> Any:
        """A pandas data frame, one row for each tree."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame needs pandas; install it with: pip install 'tamiz[frames]'"
            ) from None
        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {
            "alpha": self.alphas, "leaves": self.leaves, "mean_depth": self.mean_depths,
            "training_error": self.training_errors,
        }  # fmt: skip
        if self.errors is not None and self.standard_errors is not None:
            columns |= {"error": self.errors, "standard_error": self.standard_errors}
        return columns

    def __str__(self) -> str:
        return "\n".join(_table(self))

    def plot(self, ax: Any = None, *, growth: bool = False) -> Any:
        """Draw errors along the sequence against the size of the tree.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        growth : bool, default=False
            Draw also the trees that the full tree was while it grew.

        Returns
        -------
        matplotlib axes
            What was drawn into.
        """
        from tamiz.tree.prune.plot import plot_path

        return plot_path(self, ax, growth)


_MOST_LINES = 40


def _table(path: PruningPath) -> Iterator[str]:
    per = {"mean_depth": "unit of mean depth", "leaves": "leaf"}[path.measure]
    yield f"{len(path)} tree{'s' * (len(path) > 1)}, pruned by error for each {per} saved"
    if path.full.n_leaves > path.leaves[0]:
        yield f"(the full tree has {path.full.n_leaves} leaves, and the training error of tree 0)"
    columns = path._columns()
    yield "tree  " + "  ".join(f"{name.replace('_', ' '):>14}" for name in columns)
    shown = range(len(path))
    if len(path) > _MOST_LINES:  # the small ones are those of interest, and the one chosen
        around = path.chosen if path.chosen is not None else len(path)
        shown = range(max(0, min(around - 10, len(path) - _MOST_LINES)), len(path))
        yield (
            f"  ({shown.start} larger trees are left out; to_frame() has all)"
            if shown.start
            else ""
        )
    for k in shown:
        cells = [f"{v[k]:>14d}" if v.dtype.kind == "i" else f"{v[k]:>14.6g}"
                 for v in columns.values()]  # fmt: skip
        yield f"{k:>4}  {'  '.join(cells)}{'  <- chosen' if k == path.chosen else ''}"
    if path.chosen is not None:
        rule = "least error" if path.rule == "best" else "smallest within one standard error"
        yield f"chosen: tree {path.chosen}, {rule} ({path.data})"


def pruning_path(tree: Tree, measure: str = "mean_depth") -> PruningPath:
    """The nested sequence of best sub-trees of a tree.

    Parameters
    ----------
    tree : Tree
        The full tree.
    measure : {"mean_depth", "leaves"}, default="mean_depth"
        What a tree is charged for: the tests that a training sample meets on average, or its
        leaves (the classical cost-complexity pruning).

    Returns
    -------
    PruningPath
        Prices, sizes and training errors; the trees on demand.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). *Classification and Regression
       Trees*, chapter 3.
    """
    size = check_measure(measure).sizes(check_shape(tree))
    alphas, last = weakest_links(tree.left, tree.right, tree.parent, tree.error, size)
    depths = MEASURES["mean_depth"].sizes(tree)
    # a node is divided in all trees before `last`: 1 leaf to begin with, and one more for each
    inner = np.bincount(last[last > 0], minlength=len(alphas) + 1)[1:]
    weighted = np.bincount(last, weights=depths, minlength=len(alphas) + 1)[1:]
    errors = sums_along(tree.parent, last, len(alphas), tree.error[:, None])[:, 0]
    errors[-1] = tree.error[0]
    return PruningPath(
        measure=measure,
        alphas=alphas,
        leaves=1 + inner[::-1].cumsum()[::-1],
        mean_depths=weighted[::-1].cumsum()[::-1],
        training_errors=np.maximum(errors, 0.0),
        full=tree,
        last=last,
    )


def choose(errors: np.ndarray, standard_errors: np.ndarray, rule: str) -> int:
    """Position of the tree that a rule takes; among equals the smallest, which is the last."""
    best = errors.min()
    limit = best + 1e-12 * np.abs(errors).max()  # sums along the sequence round that much
    if rule == "1se":
        at_best = np.flatnonzero(errors <= limit)[-1]
        standard = standard_errors[at_best]
        limit += standard if np.isfinite(standard) else 0.0
    return int(np.flatnonzero(errors <= limit)[-1])


#: What cannot be computed again from the full tree.
_FOUND = ("errors", "standard_errors", "data", "rule", "chosen")


def record_of(path: PruningPath) -> dict[str, Any]:
    """What an estimator keeps of its pruning: both trees, and what other data said."""
    assert path.chosen is not None  # a tree to keep
    found = {name: getattr(path, name) for name in _FOUND}
    return {"full": path.full, "kept": path.tree(path.chosen), "measure": path.measure, **found}


def recalled(record: dict[str, Any]) -> PruningPath:
    """The sequence of which a record was kept."""
    path = pruning_path(record["full"], record["measure"])
    return replace(path, **{name: record[name] for name in _FOUND})


def growth_curve(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leaves, mean depth and training error of a tree while it grew, split by split.

    Nodes are numbered in the order in which they were made, so that the splits are in the order of
    their left children.
    """
    inner = np.flatnonzero(tree.left >= 0)
    inner = inner[np.argsort(tree.left[inner], kind="stable")]
    less = tree.error[inner] - tree.error[tree.left[inner]] - tree.error[tree.right[inner]]
    depth = np.concatenate([[0.0], np.cumsum(tree.weight[inner] / tree.weight[0])])
    error = tree.error[0] - np.concatenate([[0.0], np.cumsum(less)])
    return np.arange(1, len(inner) + 2), depth, np.maximum(error, 0.0)
