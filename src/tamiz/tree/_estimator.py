"""What the tree estimators share: input, growth, and sending samples to leaves."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.runtime.parallel import N_JOBS, limit_threads
from tamiz.tree._fast import grow_fast
from tamiz.tree._grower import Grower
from tamiz.tree._growth import Growth, Limits
from tamiz.tree._oblique import Climb
from tamiz.tree._reading import TreeReading
from tamiz.tree._samples import Rules, samples_of, sort, unit_of
from tamiz.tree._search import Kinds
from tamiz.tree._table import Table, read_table, read_training_table
from tamiz.tree.impurity import SOMETHING, Criterion, smallest_side
from tamiz.tree.structure import Tree

#: Surrogates for each split of data with gaps, if the user does not say.
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


class TreeEstimator(TreeReading, BaseEstimator):
    """Base class of the tree estimators."""

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

    def _read_training_table(self, X: Any) -> Table:
        """Check the table, and keep what is needed to read others like it."""
        self.__dict__.pop("pruning_", None)  # of an earlier tree
        table = read_training_table(self, X, self.categorical_features, self.ordinal_features)
        self.categories_, self.nominal_ = table.categories, table.nominal
        return table

    def _read(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "tree_")
        return read_table(self, X, self.nominal_, self.categories_)

    def _grow(
        self,
        table: Table,
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
                numeric[list(table.categories)] = False  # ordinal codes are no numbers to add up
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
            int(split),
            int(leaf),
            max(SOMETHING, float(self.min_weight_fraction_leaf) * weight * (1.0 - 1e-12)),
            float(self.min_balance),
            -1 if self.max_depth is None else int(self.max_depth),
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
        """Questions on the longest way to a leaf."""
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
