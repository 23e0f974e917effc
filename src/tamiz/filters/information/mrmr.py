r"""Minimum redundancy, maximum relevance.

With S the features already selected, the next is the v that maximises

.. math::

    \text{difference: } R(v, c) - \frac{1}{|S|} \sum_{s \in S} Q(v, s), \qquad
    \text{quotient: } R(v, c) \Big/ \frac{1}{|S|} \sum_{s \in S} Q(v, s),

where relevance R and redundancy Q are mutual information, or the F statistic of the analysis of
variance and the absolute Pearson correlation. The first is the one of greatest relevance. Only the
redundancies with features that have been selected are ever computed, and their sums are carried
along: k features of p cost k p pairs.

References
----------
.. [1] C. Ding, H. Peng (2005). Minimum redundancy feature selection from microarray gene
       expression data. Journal of Bioinformatics and Computational Biology 3(2).
.. [2] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import StrOptions

from tamiz.filters.base import NUMBERS, refuse_card, refuse_categories
from tamiz.filters.information.base import GreedyFilter
from tamiz.filters.information.greedy import CountedCriterion, Criterion
from tamiz.filters.streaming import Correlate, Needs, Stream
from tamiz.information.codes import DiscreteColumns
from tamiz.information.columns import safe_units
from tamiz.information.counting import least_redundant
from tamiz.information.on_card import CardCodes, SharedSums
from tamiz.scale.comoments import anova_f
from tamiz.validation import (
    check_classes,
    check_counted_rows,
    check_X,
    dense_copy,
)

#: Least redundancy of a pair in the quotient form; below it, zero would decide by itself.
FLOOR = 1e-3


#: With up to this many levels, all features are treated as if they had as many as the richest.
MOST_LEVELS = 4

#: Cells times words from which threads shorten a step, and words after which Ctrl-C is looked for.
LONG_STEP = 4_000_000
SLICE = 20_000_000


class MRMR(GreedyFilter):
    """Minimum redundancy, maximum relevance.

    Adds one feature after the other: the one that tells most about the class and shares least
    with those selected before.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    scheme : {"difference", "quotient"}, default="difference"
        How relevance and redundancy are combined.
    measure : {"mutual_information", "f_pearson"}, default="mutual_information"
        What they are: mutual information of discretised features, or the F statistic and the
        absolute Pearson correlation of continuous ones. In the quotient, a redundancy counts as
        0.001 at least.
    bins : {"mean_std", "mdl", "width", "frequency"} or None, default="mean_std"
        How to cut continuous features, see :class:`tamiz.information.Discretiser`; None if all
        are discrete already. Not used with "f_pearson".
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are. Not possible with "f_pearson".
    missing : {"code", "ignore"}, default="code"
        Missing values are a level of their own, or are left out of the counts; what a feature
        tells is then multiplied by the fraction of the samples that have it. "f_pearson" does not
        accept missing values.
    full_ranking : bool, default=False
        Whether the search goes on through all features. Otherwise those not selected are ranked
        by the value they would have had if added next.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where pairs of columns are counted: on the CPU, on a GPU, or on a GPU if there is one that
        works. The result is the same. ``fit_stream`` and "f_pearson" use the CPU.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Value of the criterion when the feature was added, or would have been added next. Values of
        features added at different steps do not compare: use ``ranking_`` for that.
    relevance_ : array of shape (n_features,)
        Mutual information with the class in nats, or F statistic.
    status_ : str
        "finished", or "interrupted": the features added until then are selected.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`; the path of ``selection_`` has the values.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    QPFS : The same trade-off for all features at once.
    JMI, CMIM : Criteria that also see what features tell together.
    MaxRel : Relevance only.

    References
    ----------
    .. [1] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information:
           criteria of max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8).

    Examples
    --------
    The first two features are measurements of the same thing; one of them is enough, although the
    other tells more about the class than the third feature does:

    >>> import numpy as np
    >>> from tamiz.filters import MRMR
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> first = y + 0.7 * rng.standard_normal(500)
    >>> X = np.column_stack([
    ...     first, first + 0.2 * rng.standard_normal(500), y + 1.5 * rng.standard_normal(500)
    ... ])
    >>> selector = MRMR(n_features_to_select=2).fit(X, y)
    >>> selector.relevance_.round(2)
    array([0.12, 0.13, 0.03])
    >>> selector.order_
    array([1, 2, 0])
    """

    _parameter_constraints = {
        **GreedyFilter._parameter_constraints,
        "scheme": [StrOptions({"difference", "quotient"})],
        "measure": [StrOptions({"mutual_information", "f_pearson"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        scheme: str = "difference",
        measure: str = "mutual_information",
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        full_ranking: bool = False,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        device: str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.measure = measure
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.full_ranking = full_ranking
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def _criterion_name(self) -> str:
        sign = "−" if self.scheme == "difference" else "/"
        return f"relevance {sign} mean redundancy"

    def _criterion(self, codes: DiscreteColumns) -> Criterion:
        quotient = self.scheme == "quotient"
        if isinstance(codes, CardCodes) and codes.all_on_card:
            return _SharedOnCard(codes, quotient)
        return _SharedInformation(codes, quotient)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Criterion:
        if self.measure == "mutual_information":
            return super()._read(X, y, sample_weight)
        refuse_card(
            self.device, 'measure="f_pearson"', 'use measure="mutual_information", which counts'
        )
        self._refuse_categories()
        X, y, weight = check_counted_rows(X, y, sample_weight)
        X = check_X(self, X, reset=True, accept_sparse=True, min_samples=2)
        labels = check_classes(y, X.shape[0], quantity=NUMBERS)
        self.classes_ = labels.classes
        X = dense_copy(X, "Use measure='mutual_information', which needs none.", tables=2)
        columns, relevance = _standardised(X, labels.codes, weight)
        return _Correlated(_UnitColumns(columns), relevance, self.scheme == "quotient")

    def _read_stream(self, stream: Stream, sample_size: int | None) -> Criterion:
        if self.measure == "mutual_information":
            return super()._read_stream(stream, sample_size)
        moments = stream.sweep(Correlate(stream.n_classes))
        stream.check_rows(moments.class_rows, NUMBERS)
        matrix = _CorrelationMatrix(moments.correlations())
        return _Correlated(matrix, moments.f_statistics(), self.scheme == "quotient")

    def _stream_needs(self) -> Needs:
        if self.measure == "f_pearson":
            self._refuse_categories()
        return Needs(nominal=self.measure == "mutual_information")

    def _refuse_categories(self) -> None:
        counted = 'measure="mutual_information"'
        refuse_categories(self.categorical_features, 'measure="f_pearson"', counted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counted = self.measure == "mutual_information"
        tags.input_tags.allow_nan = tags.input_tags.categorical = counted
        return tags


class _SharedInformation(CountedCriterion):
    """Mutual information on both sides."""

    _arrays = ("features", "relevance", "total")

    def __init__(self, codes: DiscreteColumns, quotient: bool):
        super().__init__(codes)
        self.total = np.zeros(codes.n_features)
        self.n_added = 0
        self.quotient = quotient
        self._prepare()

    def _prepare(self) -> None:
        """One group if that is the faster way: for steps too short to be shared by threads."""
        codes = self.codes
        r = int(codes.n_levels.max(initial=1))
        short = r * r * -(-codes.n_samples // 64) * codes.n_features <= LONG_STEP
        # asked for only then: it may be a copy of all bits
        self.planes = codes.in_one_group(MOST_LEVELS) if short else None

    def several(self, alive: np.ndarray, n_steps: int) -> list[tuple[int, float]] | None:
        if self.planes is None:
            return None
        n_steps = min(n_steps, 1 + SLICE // self.planes.bits.size)
        table, scale = self.codes.table, 1.0 / self.codes.scale
        floor = FLOOR if self.quotient else -1.0
        total = (
            self.total.copy()
        )  # Ctrl-C comes when the loop is over: all of it counts, or nothing
        so_far = alive, self.relevance, total, self.n_added
        order, values = least_redundant(n_steps, *so_far, self.planes, table, scale, floor)
        found = list(zip(order.tolist(), values.tolist(), strict=True))
        self.total, self.n_added = total, self.n_added + n_steps
        return found

    def keep(self, which: np.ndarray) -> None:
        super().keep(which)
        self._prepare()

    def values(self) -> np.ndarray:
        return _combined(self.relevance, self.total, self.n_added, self.quotient)

    def add(self, k: int) -> None:
        row = self.codes.row(k)
        self.total += np.maximum(row, FLOOR) if self.quotient else row
        self.n_added += 1


class _SharedOnCard(_SharedInformation):
    """The same on a card, where the sums stay until somebody asks for them."""

    codes: CardCodes

    def _prepare(self) -> None:
        floor = FLOOR if self.quotient else -1.0
        self.sums = SharedSums(self.codes, self.relevance, self.total, self.n_added, floor)

    def several(self, alive: np.ndarray, n_steps: int) -> list[tuple[int, float]] | None:
        return self.sums.steps(min(n_steps, self.sums.steps_at_once()), alive)

    def add(self, k: int) -> None:
        self.sums.add(k)

    def keep(self, which: np.ndarray) -> None:
        self._fetch()
        super().keep(which)

    def values(self) -> np.ndarray:
        self._fetch()
        return super().values()

    def _fetch(self) -> None:
        self.total, self.n_added = self.sums.total(), self.sums.n_added


class _Correlated(Criterion):
    """F statistic and absolute Pearson correlation."""

    def __init__(
        self, columns: _UnitColumns | _CorrelationMatrix, relevance: np.ndarray, quotient: bool
    ):
        self.columns, self.relevance = columns, relevance
        self.tier = np.where(columns.vary(), 0.0, 2.0)
        self.features = np.arange(len(relevance))
        self.total = np.zeros(len(relevance))
        self.n_added = 0
        self.quotient = quotient

    def values(self) -> np.ndarray:
        return _combined(self.relevance, self.total, self.n_added, self.quotient)

    def add(self, k: int) -> None:
        row = np.abs(self.columns.row(k))
        self.total += np.maximum(row, FLOOR, out=row) if self.quotient else row
        self.n_added += 1

    def keep(self, which: np.ndarray) -> None:
        self.columns = self.columns.take(which)
        self.features, self.total = self.features[which], self.total[which]
        self.relevance, self.tier = self.relevance[which], self.tier[which]


class _UnitColumns(NamedTuple):
    """Columns as rows, centred and of length one: the correlations with one of them are the product
    of a matrix and a vector.
    """

    Z: np.ndarray

    def vary(self) -> np.ndarray:
        return np.asarray(self.Z.any(axis=1))

    def row(self, k: int) -> np.ndarray:
        return self.Z @ self.Z[k]

    def take(self, which: np.ndarray) -> _UnitColumns:
        return _UnitColumns(self.Z[which])


class _CorrelationMatrix(NamedTuple):
    """All correlations; zero for constant columns, with themselves too."""

    R: np.ndarray

    def vary(self) -> np.ndarray:
        return self.R.diagonal() > 0.0

    def row(self, k: int) -> np.ndarray:
        return self.R[k]

    def take(self, which: np.ndarray) -> _CorrelationMatrix:
        return _CorrelationMatrix(self.R[np.ix_(which, which)])


def _combined(relevance: np.ndarray, total: np.ndarray, n_added: int, quotient: bool) -> np.ndarray:
    if n_added == 0:
        return relevance
    return relevance * n_added / total if quotient else relevance - total / n_added


def _standardised(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Columns of ``X`` as rows, centred and of length one, and the F statistic of each.

    Constant columns become zero. With weights, samples are multiplied by their roots: the products
    of columns are then weighted sums.
    """
    n, n_classes = len(X), int(y.max()) + 1
    Z = np.array(X.T, order="C")  # a copy even of one column: it changes below
    scale = np.abs(Z).max(axis=1, keepdims=True)
    units = safe_units(scale)
    if (units != 1.0).any():
        Z, scale = Z / units, scale / units
    n_rows = mass = n if weight is None else float(weight.sum())
    if weight is None:
        Z -= Z.mean(axis=1, keepdims=True)
    else:
        weight = weight / weight.max()  # squares times weights must not overflow
        mass = float(weight.sum())
        Z -= np.average(Z, axis=1, weights=weight)[:, None]
        Z *= np.sqrt(weight)
    total = np.einsum("ij,ij->i", Z, Z)
    # What rounding leaves of a constant column is not variation.
    constant = total <= mass * (8 * np.finfo(float).eps * scale[:, 0]) ** 2
    total[constant] = 1.0
    Z /= np.sqrt(total)[:, None]
    Z[constant] = 0.0
    indicator = np.zeros((n, n_classes))
    indicator[np.arange(n), y] = 1.0 if weight is None else np.sqrt(weight)
    sums = Z @ indicator
    # fraction of the variance, from 0 to 1
    between = (sums**2 / np.bincount(y, weight)).sum(axis=1)
    return Z, np.where(constant, 0.0, anova_f(between, n_rows, n_classes))
