"""What the tree estimators share: input, growth, leaves of samples, pruning, rules, drawings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence, importance_table
from tamiz.pictures import codes_of, outer_legend, plane_of, row_of, without_name_warnings
from tamiz.runtime.threads import limit_threads
from tamiz.tree import drawing
from tamiz.tree._fast import grow_fast
from tamiz.tree._grower import Grower
from tamiz.tree._oblique import Climb
from tamiz.tree._samples import Growth, Limits, Rules, samples_of, sort, unit_of
from tamiz.tree._splitting import Kinds
from tamiz.tree._table import TreeTable, read_table, read_training_table
from tamiz.tree.drawing import DRAWN
from tamiz.tree.findings import Finding, find
from tamiz.tree.impurity import MOST, SOMETHING, Criterion, smallest_side
from tamiz.tree.pruning import (
    PRUNING,
    PruningPath,
    pruning_path,
    recalled,
    record_of,
)
from tamiz.tree.pruning_errors import (
    cross_validated_losses,
    held_out_losses,
    refuse_strangers,
)
from tamiz.tree.rules import (
    PathInWords,
    Rule,
    Wording,
    path_of,
    python_source,
    rules_of,
    rules_text,
    tree_text,
)
from tamiz.tree.structure import Tree, check_codes, check_shape, impurity_importances
from tamiz.validation import N_JOBS, checked, file_path, one_of, optional

#: Default number of surrogates for each split of data with missing values.
_SURROGATES = 5

GROWTH_CONSTRAINTS: dict[str, list[Any]] = {
    "splits": [StrOptions({"axis", "oblique"})],
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
    "max_mean_depth": [Interval(Real, 0.0, None, closed="left"), None],
    "max_leaf_nodes": [Interval(Integral, 1, None, closed="left"), None],
    "max_error": [Interval(Real, 0.0, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "min_balance": [Interval(Real, 0.0, 0.5, closed="both")],
    "leaf_choice": [StrOptions({"impurity", "decrease"})],
    "categorical_features": ["array-like", Integral, str, None],
    "ordinal_features": ["array-like", dict, Integral, str, None],
    "max_exact_categories": [Interval(Integral, 2, 20, closed="both")],
    "missing": [StrOptions({"auto", "surrogate", "direction"})],
    "n_surrogates": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
    "n_restarts": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": N_JOBS,
    "verbose": ["verbose"],
}

_STYLES: dict[str, Callable[[Tree, Wording], Any]] = {
    "text": rules_text,
    "python": python_source,
    "list": rules_of,
}


class TreeEstimator(TakesCallbacks, Evidence, BaseEstimator):
    """Base class of the tree estimators."""

    _tables = 6  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = GROWTH_CONSTRAINTS

    splits: str
    max_depth: int | None
    max_mean_depth: float | None
    max_leaf_nodes: int | None
    max_error: float | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    min_balance: float
    leaf_choice: str
    categorical_features: Any
    ordinal_features: Any
    max_exact_categories: int
    missing: str
    n_surrogates: int | str
    n_restarts: int
    random_state: Any
    n_jobs: int | None
    verbose: bool | int

    tree_: Tree
    categories_: dict[int, np.ndarray]
    nominal_: np.ndarray
    pruning_: dict[str, Any]

    def _read_training_table(self, X: Any) -> TreeTable:
        """Check the training table, and keep what is needed to read new samples."""
        self.__dict__.pop("pruning_", None)  # of an earlier tree
        table = read_training_table(self, X, self.categorical_features, self.ordinal_features)
        self.categories_, self.nominal_ = table.categories, table.nominal
        return table

    def _check_parts(self) -> None:
        """Refuse trees that ask for what is not there; for models that come from a file."""
        counts = {j: len(found) for j, found in vars(self).get("categories_", {}).items()}
        for tree in (vars(self).get(name) for name in ("tree_", "full_tree_")):
            if tree is None:
                continue
            if not isinstance(tree, Tree) or tree.n_features != self.n_features_in_:
                raise ValueError("The tree has other features than its estimator.")
            check_codes(tree, lambda feature: counts.get(feature, 0))

    def _read(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "tree_")
        return read_table(self, X, self.nominal_, self.categories_)

    def _grow(
        self,
        table: TreeTable,
        criterion: Criterion,
        *,
        y: np.ndarray | None = None,
        t: np.ndarray | None = None,
        weight: np.ndarray,
        growth: np.ndarray,
        costs: np.ndarray,
    ) -> Growth:
        """Grow on samples of positive weight; ``growth`` is what they weigh in the impurity."""
        X, nominal = table.X, table.nominal
        unit_w, unit_t = unit_of(weight), 1.0 if t is None else unit_of(t)
        weight, growth = weight * unit_w, growth * unit_w
        t = None if t is None else t * unit_t
        with limit_threads(self.n_jobs):
            keys, levels = sort(X, nominal)
            samples = samples_of(
                keys, levels, criterion, y=y, t=t, weight=weight, growth=growth, costs=costs
            )
            rules = self._rules(criterion, len(X), float(weight.sum()), unit_t)
            limits = self._limits(unit_t)
            gaps = bool(np.isnan(X).any())
            n_surrogates = self.n_surrogates
            if isinstance(n_surrogates, str):
                n_surrogates = _SURROGATES if gaps and self.missing != "direction" else 0
            oblique = self.splits == "oblique"
            if not (gaps or nominal.any() or oblique or n_surrogates):
                grown = grow_fast(samples, levels, rules, limits, self.verbose)
                return grown._replace(impurity=grown.impurity / unit_w / unit_t / unit_t)
            counts = [len(table.categories.get(j, ())) for j in range(X.shape[1])]
            kinds = Kinds(
                nominal,
                np.where(nominal, counts, 0).astype(np.int64),
                int(self.max_exact_categories),
                self.missing != "direction",
                self.missing != "surrogate",
            )
            climb = None
            if oblique:
                seed = int(check_random_state(self.random_state).randint(2**31 - 1))
                numeric = ~nominal
                numeric[list(table.categories)] = False  # ordinal codes must not be added
                columns = np.flatnonzero(numeric)
                climb = Climb(columns, int(self.n_restarts), seed)
            grown = Grower(
                X, samples, levels, rules, limits, kinds, n_surrogates, climb, self.verbose
            ).grow()
            return grown._replace(impurity=grown.impurity / unit_w / unit_t / unit_t)

    def _rules(self, criterion: Criterion, n: int, weight: float, unit: float) -> Rules:
        split, leaf = self.min_samples_split, self.min_samples_leaf
        if not isinstance(split, Integral):
            split = max(2, smallest_side(n, 1, float(split)))
        if not isinstance(leaf, Integral):
            leaf = smallest_side(n, 1, float(leaf))
        return Rules(
            int(criterion),
            min(int(split), MOST),
            min(int(leaf), MOST),
            max(SOMETHING, float(self.min_weight_fraction_leaf) * weight * (1.0 - 1e-12)),
            float(self.min_balance),
            -1 if self.max_depth is None else min(int(self.max_depth), MOST),
            float(self.min_impurity_decrease) * unit * unit * weight,
            self.leaf_choice == "decrease",
        )

    def _limits(self, unit: float) -> Limits:
        return Limits(
            np.inf if self.max_leaf_nodes is None else float(self.max_leaf_nodes),
            np.inf if self.max_mean_depth is None else float(self.max_mean_depth),
            -1.0 if self.max_error is None else float(self.max_error) * unit * unit,
        )

    def apply(self, X: Any) -> np.ndarray:
        """The leaf that each sample ends in.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        leaf : int array of shape (n_samples,)
            Numbers of nodes of ``tree_``.
        """
        table = self._read(X)
        with limit_threads(self.n_jobs):
            return self.tree_.apply(table)

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """The nodes that each sample passes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        passed : sparse matrix of shape (n_samples, n_nodes)
            1 where a sample passes a node, its leaf included.
        """
        at = self.apply(X).astype(np.intp)
        rows, nodes = [], []
        which = np.arange(len(at))
        while len(which):
            rows.append(which)
            nodes.append(at)
            at = self.tree_.parent[at].astype(np.intp)
            which, at = which[at >= 0], at[at >= 0]
        row, node = np.concatenate(rows), np.concatenate(nodes)
        n = int(row.max(initial=-1)) + 1
        return sparse.csr_matrix(
            (np.ones(len(row), dtype=np.int64), (row, node)), shape=(n, self.tree_.n_nodes)
        )

    def get_depth(self) -> int:
        """Number of tests on the longest path to a leaf."""
        check_is_fitted(self, "tree_")
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def _evidence(self) -> dict[str, Any]:
        tree = getattr(self, "tree_", None)
        if tree is None:
            return {}
        pruned = self._record() is not None
        return {
            "leaves": tree.n_leaves,
            **({"leaves before pruning": self.full_tree_.n_leaves} if pruned else {}),
            "depth": tree.max_depth,
            **super()._evidence(),
        }

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = super()._evidence_html(caption)
        if not hasattr(self, "tree_"):
            return found
        names = getattr(self, "feature_names_in_", None)
        return found + importance_table(self.feature_importances_, names)

    # ---------------------------------------------------------------------------------- pruning

    @property
    def full_tree_(self) -> Tree:
        """The tree as it was grown, whatever was pruned since."""
        record = self._record()
        return self.tree_ if record is None else record["full"]

    @property
    def prune_path_(self) -> PruningPath:
        """The sequence that the tree was last pruned by; by mean depth if it was not."""
        record = self._record()
        return self.pruning_path() if record is None else recalled(record)

    def _record(self) -> dict[str, Any] | None:
        """How the tree was pruned; None if it was not, or has been grown again since."""
        check_is_fitted(self, "tree_")
        record: dict[str, Any] | None = vars(self).get("pruning_")
        return record if record is not None and record["kept"] is self.tree_ else None

    def pruning_path(self, measure: str = "mean_depth") -> PruningPath:
        """Return the nested sequence of best sub-trees of the tree as it was grown.

        Parameters
        ----------
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for: the tests that a training sample meets on average, or its
            leaves (classical cost-complexity pruning).

        Returns
        -------
        PruningPath
            Complexity penalties, sizes and training errors; the trees on demand.
        """
        return pruning_path(self.full_tree_, measure)

    @checked(**PRUNING)
    def prune(
        self,
        X: Any,
        y: Any,
        *,
        measure: str = "mean_depth",
        rule: str = "best",
        sample_weight: Any = None,
    ) -> Self:
        """Keep the sub-tree that does best on held-out data.

        The estimator itself is changed. The tree as it was grown is kept as ``full_tree_``, and
        each call prunes that one, so that it can be pruned again in another way.

        Parameters
        ----------
        X : array or table of shape (n_samples, n_features)
            Samples that were not used to grow the tree.
        y : array of shape (n_samples,)
            Their classes or values. A class that the tree does not know is a mistake of all
            sub-trees, at the largest of the costs.
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for.
        rule : {"best", "1se"}, default="best"
            The sub-tree with least error, of equal ones the smallest; or the smallest whose error
            is within one standard error of it.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        self : object
            The estimator, with the sub-tree as ``tree_``, and the sequence with its errors as
            ``prune_path_``.
        """
        path = self.pruning_path(measure)
        self._refuse_strangers(y)
        losses = held_out_losses(self, path, X, y, sample_weight)
        return self._keep(path.measured(losses, "held-out data", rule))

    @checked(**PRUNING)
    def prune_cv(
        self,
        X: Any,
        y: Any,
        *,
        cv: Any = 10,
        measure: str = "mean_depth",
        rule: str = "best",
        sample_weight: Any = None,
        groups: Any = None,
        random_state: Any = 0,
        verbose: bool | int = 0,
    ) -> Self:
        """Keep the sub-tree that does best in cross-validation.

        A tree is grown in each fold with the same parameters, and pruned at the alphas of the
        sequence (the geometric mean of those between which each sub-tree is the best).

        Parameters
        ----------
        X, y : array or table, array
            The data that the tree was grown with.
        cv : int, splitter or list of splits, default=10
            Folds; an integer means random folds that keep the class proportions.
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for.
        rule : {"best", "1se"}, default="best"
            As for :meth:`prune`.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples, as in fit.
        groups : array of shape (n_samples,), optional
            Samples of one group stay in the same part of each split, also if ``cv`` is an integer.
        random_state : int, RandomState or None, default=0
            Seed of the folds if ``cv`` is an integer.
        verbose : bool or int, default=0
            Show a line of progress.

        Returns
        -------
        self : object
            As for :meth:`prune`. If interrupted, it is unchanged.
        """
        path = self.pruning_path(measure)
        self._refuse_strangers(y)
        losses = cross_validated_losses(
            self, path, X, y, sample_weight, cv, random_state, groups, verbose
        )
        return self._keep(path.measured(losses, "cross-validation", rule))

    def prune_at(self, alpha: float, *, measure: str = "mean_depth") -> Self:
        """Keep the sub-tree that is best if a unit of size costs ``alpha``; no data is needed.

        Parameters
        ----------
        alpha : float
            Complexity penalty; 0 keeps the smallest sub-tree with the error of the full tree.
        measure : {"mean_depth", "leaves"}, default="mean_depth"
            What a tree is charged for.

        Returns
        -------
        self : object
            As of :meth:`prune`.
        """
        path = self.pruning_path(measure)
        return self._keep(replace(path, chosen=path.at(alpha)))

    def unprune(self) -> Self:
        """Undo all pruning.

        Returns
        -------
        self : object
            The estimator, with the tree as it was grown.
        """
        self.tree_ = self.full_tree_
        self.__dict__.pop("pruning_", None)
        return self

    def _refuse_strangers(self, y: Any) -> None:
        classes = getattr(self, "classes_", None)
        if classes is not None:
            refuse_strangers(y, classes)

    def _keep(self, path: PruningPath) -> Self:
        self.pruning_ = record_of(path)
        self.tree_ = self.pruning_["kept"]
        return self

    # ---------------------------------------------------------------------------------- reading

    @property
    def feature_importances_(self) -> np.ndarray:
        """Decrease of impurity by the tests of each feature; they sum to one."""
        return impurity_importances(self._tree())

    def importances(self, *, surrogates: bool = False) -> np.ndarray:
        """Return how much each feature contributes to the tree.

        Parameters
        ----------
        surrogates : bool, default=False
            Count also what the tests that stand in for missing values would have done, so that a
            feature hidden behind a better one is seen. Without missing values, a tree has such
            tests only if ``n_surrogates`` asks for them.

        Returns
        -------
        array of shape (n_features,)
            Fractions of the decrease of impurity; without surrogates ``feature_importances_``.
        """
        return impurity_importances(self._tree(), surrogates=surrogates)

    @checked(style=one_of(*_STYLES))
    def rules(self, style: str = "text") -> Any:
        """Return the tree as rules.

        Parameters
        ----------
        style : {"text", "python", "list"}, default="text"
            One if-then rule for each leaf, with its coverage and class proportions; the
            source of a Python function ``predict(row)`` that needs no other package and predicts
            the same, missing values included; or a list of :class:`Rule`.

        Returns
        -------
        str or list of Rule
            The rules, from the left of the tree to the right.
        """
        found: str | list[Rule] = _STYLES[style](self._tree(), self._wording())
        return found

    def explain(self, X: Any) -> list[PathInWords]:
        """Return why the tree predicts what it predicts, one sentence for each sample.

        Tests of one feature are put together; where a value is missing, the surrogate that stood
        for it is named, or that the sample went the way of most.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        list of PathInWords
            ``str`` of each is the sentence; ``nodes``, ``reasons`` and ``shares`` are its parts.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from tamiz.tree import CARTClassifier
        >>> iris = load_iris(as_frame=True)
        >>> names = iris.target_names[iris.target]
        >>> tree = CARTClassifier(max_depth=2).fit(iris.data, names)
        >>> print(tree.explain(iris.data[:1])[0])
        Predicted setosa, because petal width (cm) <= 0.8 (it is 0.2). 50 training samples in this
        leaf, 100.0 % of class setosa.
        """
        table, wording, tree = self._read(X), self._wording(), self._tree()
        return [path_of(tree, wording, row) for row in np.asarray(table, dtype=np.float64)]

    @checked(max_depth=DRAWN["max_depth"])
    def to_text(self, max_depth: int | None = None) -> str:
        """Return the tree as text, one line for each node.

        Parameters
        ----------
        max_depth : int, optional
            Depth down to which it is drawn.

        Returns
        -------
        str
            The lines.
        """
        return tree_text(self._tree(), self._wording(), max_depth)

    @checked(path=optional(file_path), **DRAWN)
    def to_svg(
        self, path: Any = None, *, max_depth: int | None = None, direction: str = "auto"
    ) -> str:
        """Return the tree as an SVG picture; no other package is needed.

        Parameters
        ----------
        path : str or path, optional
            File to write it to.
        max_depth : int, optional
            Depth down to which it is drawn; as far as it stays readable if not given.
        direction : {"auto", "down", "right"}, default="auto"
            Where the tree grows to: small ones downwards, large ones to the right.

        Returns
        -------
        str
            The text of the picture.
        """
        text = drawing.svg(self._tree(), self._wording(), max_depth, direction)
        if path is not None:
            drawing.write_svg(text, path)
        return text

    @checked(**DRAWN)
    def plot(self, ax: Any = None, *, max_depth: int | None = None, direction: str = "auto") -> Any:
        """Draw the tree by matplotlib; ``plot().figure.savefig("tree.png")`` writes it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure of the right size if not given.
        max_depth, direction : int, str
            As for :meth:`to_svg`.

        Returns
        -------
        matplotlib axes
            What was drawn into.
        """
        return drawing.plot(self._tree(), self._wording(), ax, max_depth, direction)

    def plot_partition(
        self,
        X: Any,
        y: Any = None,
        features: Any = None,
        ax: Any = None,
        *,
        at: Any = None,
        legend: bool = True,
    ) -> Any:
        """Draw how the tree divides the plane of one or two features, by matplotlib.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples to draw; their range is the range of the picture.
        y : array-like of shape (n_samples,), optional
            Labels or target values of ``X``.
        features : int, str, or two of them, optional
            The features on the axes, by position or name. With one or two features all are taken.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        at : array-like of shape (n_features,), dict, or data frame of one row, optional
            Values at which the other features are held; by default medians, and of categories the
            most frequent one.
        legend : bool, default=True
            Whether to name the classes, to the right of the axes.

        Returns
        -------
        matplotlib axes
            What was drawn into. Each leaf is a polygon.
        """
        tree, table = self._tree(), self._read(X)
        if at is not None:
            with without_name_warnings():
                at = self._read(at if np.ndim(at) == 2 else [row_of(self, at)])[0]
        else:
            at = np.nanmedian(table, axis=0)
            for j in np.flatnonzero(self.nominal_):
                codes, counts = np.unique(table[:, j], return_counts=True)
                at[j] = codes[counts.argmax()]
        plane = plane_of(self, table, features, at)
        wording = self._wording()
        points = table[:, list(plane.columns)]
        if y is not None:
            y = np.asarray(y) if wording.classes is None else codes_of(self, y)
        if len(plane.columns) == 1:
            height = np.random.default_rng(0).uniform(0.15, 0.85, len(points))
            points = np.column_stack([points, height])
        ax = drawing.plot_partition(tree, wording, plane, points, y, ax)
        if legend:
            outer_legend(ax)
        return ax

    def findings(
        self, *, few: int = 5, balance: float = 0.05, repeats: int = 3, tests: int = 2
    ) -> list[Finding]:
        """Return what in the tree deserves a second look.

        Parameters
        ----------
        few : int, default=5
            Fragmentation: a leaf with fewer samples is small.
        balance : float, default=0.05
            Fragmentation: a test is lopsided if it sends a smaller fraction to one side.
        repeats : int, default=3
            Repetition: fewest tests of one feature on the path to one leaf that are reported.
        tests : int, default=2
            Replication: fewest tests of a structure that is reported if it occurs more than once.

        Returns
        -------
        list of Finding
            Kind, sentence and nodes of each.
        """
        return find(
            self._tree(), self._wording(), few=few, balance=balance, repeats=repeats, tests=tests
        )

    def _tree(self) -> Tree:
        check_is_fitted(self, "tree_")
        return check_shape(self.tree_)

    def _wording(self) -> Wording:
        regression = self.tree_.kind == "regression"
        return Wording(
            getattr(self, "feature_names_in_", None),
            self.categories_,
            None if regression else self.classes_.tolist(),
        )
