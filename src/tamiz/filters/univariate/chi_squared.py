r"""Chi-squared test between each feature and the class.

*Independence*: with ``O_rk`` the number of samples of level ``r`` and class ``k``, and
``E_rk = O_r· O_·k / n``,

.. math:: \chi^2 = \sum_{r,k} \frac{(O_{rk} - E_{rk})^2}{E_{rk}}, \qquad (R - 1)(K - 1)

degrees of freedom, over the levels and classes that occur. Continuous features are cut into bins
first. *Counts*: the feature itself counts something, as words in texts; ``O_k`` is its sum over
class ``k`` and ``E_k`` the class's fraction of its total, with ``K − 1`` degrees of freedom.

References
----------
.. [1] K. Pearson (1900). On the criterion that a given system of deviations is such that it can be
       reasonably supposed to have arisen from random sampling. Philosophical Magazine 50.
.. [2] H. Liu, R. Setiono (1995). Chi2: feature selection and discretization of numeric attributes.
       ICTAI.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse, special
from sklearn.utils._param_validation import StrOptions

from tamiz.base import Stopwatch
from tamiz.filters import partial, streaming
from tamiz.filters.base import NUMBERS, encode_classes, refuse_categories
from tamiz.filters.streaming import Needs, Stream, count_with_classes
from tamiz.filters.univariate.base import BY_PVALUE, LabelledSamples, Scored, UnivariateFilter
from tamiz.information.encoding import BINNING
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale import Batch
from tamiz.validation import (
    MissingValuesError,
    check_counted_rows,
    check_X,
    refuse_duplicate_names,
    unchanged_on_error,
)

#: Columns that are summed together.
_TILE = 256


class ChiSquared(UnivariateFilter):
    """Chi-squared test of independence between a feature and the class.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    test : {"independence", "counts"}, default="independence"
        Whether to count samples by level and class, or to take the features themselves for
        counts, which must not be negative (scikit-learn's ``chi2``).
    bins : {"mean_std", "mdl", "width", "frequency"} or None, default="mean_std"
        How to cut continuous columns (see :func:`tamiz.information.discretise`); None if all
        columns are discrete already. "mdl" looks at the class, which makes p-values too small.
        Not used by ``"counts"``.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    categorical_features : array-like, optional
        Columns whose values are categories: indices, names or a mask. Columns that hold text or,
        in a data frame, categories always are. Not possible with ``"counts"``.
    missing : {"code", "ignore"}, default="code"
        Whether missing values are a level of their own, or not counted.
    rank_by : {"statistic", "cramers_v"}, default="statistic"
        What to rank by. The statistic grows with the number of levels. Cramér's V lies between 0
        and 1 whatever their number (with ``"counts"`` it is Cohen's w, the root of the statistic
        per count), but chance alone raises it too where levels are many: that of an identifier is
        1. Such columns are warned of. Where missing values are not counted, the
        samples that lack them still are, in the denominator of Cramér's V: it is the V of the
        others times the root of their fraction.
    alpha : float in (0, 1] or None, default=None
        Select the features whose corrected p-value is at most this, if ``n_features_to_select`` is
        not given; constant features never.
    correction : {"none", "fdr", "by", "storey", "holm", "bonferroni"}, default="none"
        How p-values are corrected for the number of features before they are compared with
        ``alpha``: not at all, for the fraction of wrong features among those selected (Benjamini
        and Hochberg, Benjamini and Yekutieli, Storey), or for the chance of any (Holm,
        Bonferroni); see :func:`tamiz.discovery.adjust_pvalues`. ``pvalues_`` stay as they are.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Statistic or Cramér's V; 0 for constant features.
    pvalues_ : array of shape (n_features,)
        Probabilities of a larger statistic, if feature and class were independent.
    dof_ : array of shape (n_features,)
        Degrees of freedom.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    KolmogorovSmirnov : for continuous features, without bins.

    References
    ----------
    .. [1] H. Liu, R. Setiono (1995). Chi2: feature selection and discretization of numeric
           attributes. ICTAI.

    Examples
    --------
    >>> import pandas as pd
    >>> from tamiz.filters import ChiSquared
    >>> X = pd.DataFrame({"colour": ["red", "red", "blue", "blue", "red", "blue"],
    ...                   "shape": ["round", "square", "round", "square", "round", "square"]})
    >>> ChiSquared().fit(X, ["a", "a", "b", "b", "a", "b"]).scores_.round(3).tolist()
    [6.0, 0.667]
    """

    _parameter_constraints = {
        **UnivariateFilter._parameter_constraints,
        **BY_PVALUE,
        "test": [StrOptions({"independence", "counts"})],
        **BINNING,
        "rank_by": [StrOptions({"statistic", "cramers_v"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        test: str = "independence",
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        rank_by: str = "statistic",
        alpha: float | None = None,
        correction: str = "none",
    ):
        self.n_features_to_select = n_features_to_select
        self.test = test
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.rank_by = rank_by
        self.alpha = alpha
        self.correction = correction

    _weighted = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Score the features and select the best.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (n_samples, n_features)
            Data.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            if self.test == "counts":
                self._refuse_categories()
                X, y, weight = check_counted_rows(X, y, sample_weight)
                return self._fit(X, y, weight)
            self._validate_params()
            watch = Stopwatch()
            refuse_duplicate_names(X)
            return self._conclude(
                self._from_codes(encode_classes(self, X, y, sample_weight)), watch
            )

    def _from_codes(self, codes: Any) -> Scored:
        """Test the independence of the classes and columns in memory or of a stream."""
        statistic, self.dof_, least = contingency_chi2(codes.contingency())
        scores = statistic
        if self.rank_by == "cramers_v":
            # per sample, missing or not: a feature known in few cannot rank high by luck
            scores = np.sqrt(statistic / np.where(least > 0, codes.amount() * least, 1.0))
        pvalues = np.where(self.dof_ > 0, chi2_tail(statistic, self.dof_), 1.0)
        return Scored(scores, pvalues, ~codes.varies)

    def _score(self, samples: LabelledSamples) -> Scored:
        codes, n_classes = samples.labels.codes, samples.n_classes
        sums = ClassSums.of(samples.X, codes, n_classes)
        if samples.weight is not None:
            column = samples.weight[:, None]
            X = samples.X.multiply(column).tocsr() if sparse.issparse(samples.X) else None
            total = ClassSums.of(samples.X * column if X is None else X, codes, n_classes)
            sums = replace(sums, n_rows=samples.class_weight(), observed=total.observed)
        return self._from_sums(sums)

    def _from_sums(self, sums: ClassSums) -> Scored:
        observed, low, high = sums.observed, sums.low, sums.high
        with np.errstate(over="ignore"):
            total = observed.sum(axis=0)
        if not np.isfinite(total).all():
            raise ValueError(
                "The counts of a feature of X add up to more than float64 holds; divide X by a "
                "common factor."
            )
        counts = sums.n_rows
        expected = (counts / counts.sum())[:, None] * total
        constant = low == high
        safe = np.where(total > 0, expected, 1.0)
        excess = observed - expected
        statistic = (excess / safe * excess).sum(axis=0)  # the square itself may be too large
        statistic = np.where(constant, 0.0, statistic)
        self.dof_ = np.full(len(statistic), len(counts) - 1)
        scores = statistic
        if self.rank_by == "cramers_v":
            scores = np.sqrt(statistic / np.where(total > 0, total, 1.0))
        return Scored(scores, chi2_tail(statistic, self.dof_), constant)

    fit_stream = streaming.fit_stream

    def _stream_needs(self) -> Needs:
        if self.test == "counts":
            self._refuse_categories()
        return Needs(nominal=self.test == "independence")

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        if self.test == "counts":
            sums = stream.sweep(SumCounts(stream.n_classes))
            stream.check_rows(sums.n_rows, NUMBERS)
            scored = self._from_sums(sums)
        else:
            codes = count_with_classes(self, stream, sample_size, pairs=False, instead=NUMBERS)
            scored = self._from_codes(codes)
        return self._conclude(scored, watch, **stream.summary())

    partial_fit = partial.WhenDiscrete(partial.partial_fit)

    def _why_two_passes(self) -> str:
        return "" if self.test == "counts" else partial.bins_need_all_rows(self.bins)

    def _take(self, X: Any, y: np.ndarray, classes: Any, before: Any) -> Any:
        first = before is None
        if not first and isinstance(before, ClassSums) != (self.test == "counts"):
            raise ValueError(
                f"test was changed to {self.test!r} after batches had been taken with another "
                "one; set it back, or start anew with a fresh ChiSquared."
            )
        if self.test == "independence":
            return partial.take_values(self, X, y, classes, before)
        self._refuse_categories()
        X = check_X(self, X, reset=first, accept_sparse=True)
        codes = partial.class_codes(self, y, X.shape[0], classes, first=first)
        part = ClassSums.of(X, codes, len(self.classes_))
        return part if first else before.merge(part)

    def _enough(self, total: Any) -> bool:
        return partial.two_classes(total)

    def _conclude_partial(self, total: Any, watch: Stopwatch, n_rows: int) -> Any:
        if self.test == "counts":
            scored = self._from_sums(total.occurring())
        else:
            scored = self._from_codes(total.codes(self.missing))
        return self._conclude(scored, watch, n_rows=n_rows)

    def _refuse_categories(self) -> None:
        refuse_categories(self.categorical_features, 'test="counts"', 'test="independence"')

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        independence = self.test == "independence"
        tags.input_tags.allow_nan = independence
        tags.input_tags.categorical = independence
        tags.input_tags.positive_only = not independence
        return tags


def chi2_tail(statistic: np.ndarray, dof: np.ndarray) -> np.ndarray:
    """Probability of a larger value; without the overhead of the distribution's object."""
    return special.chdtrc(dof, statistic)


@dataclass
class SumCounts:
    """From a batch to its sums."""

    n_classes: int

    def __call__(self, batch: Batch) -> ClassSums:
        if np.isnan(batch.X.data if sparse.issparse(batch.X) else batch.X).any():
            raise MissingValuesError("Input X contains NaN.")
        assert batch.y is not None
        return ClassSums.of(batch.X, batch.y, self.n_classes)


@dataclass(eq=False)
class ClassSums:
    """Sum of every feature over every class, and its least and greatest value (never negative)."""

    n_rows: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, X: Any, codes: np.ndarray, n_classes: int) -> ClassSums:
        """Add up ``X`` (dense or CSR, no value missing); negative values are refused."""
        n, p = X.shape
        rows = np.bincount(codes, minlength=n_classes).astype(np.float64)
        if sparse.issparse(X):
            ones = (np.ones(n), (codes, np.arange(n)))
            indicator = sparse.csr_array(ones, shape=(n_classes, n))
            ends = X.min(axis=0), X.max(axis=0)
            low, high = (np.asarray(side.todense()).ravel() for side in ends)
            refuse_negative(low)
            return cls(rows, (indicator @ X).toarray(), low, high)
        sums = np.zeros((n_classes, p))
        low, high = X[0].copy(), X[0].copy()
        tiles = -(-p // _TILE)
        least = max(1, 2**17 // (n * min(p, _TILE)))
        run_tiles(_sum_tiles, tiles, X, codes, sums, low, high, min_items=least)
        refuse_negative(low)
        return cls(rows, sums, low, high)

    @property
    def class_rows(self) -> np.ndarray:
        """Rows of each class."""
        return self.n_rows

    def occurring(self) -> ClassSums:
        """The same for the classes that have rows only."""
        there = self.n_rows > 0
        return ClassSums(self.n_rows[there], self.observed[there], self.low, self.high)

    def merge(self, other: ClassSums) -> ClassSums:
        """The sums of both sets of rows together."""
        with np.errstate(over="ignore"):  # reported when all are there
            observed = self.observed + other.observed
        return ClassSums(
            self.n_rows + other.n_rows,
            observed,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def refuse_negative(low: np.ndarray) -> None:
    """Refuse features whose least values are below zero."""
    least = low.min(initial=0.0)
    if least < 0:
        raise ValueError(
            f'Negative values in data passed to ChiSquared(test="counts"): X holds {least:.6g}, '
            'and nothing is counted below zero. Use test="independence" for measurements.'
        )


@njit(cache=True, nogil=True)
def _sum_tiles(start, stop, X, codes, sums, low, high):  # type: ignore[no-untyped-def]
    for left in range(start * _TILE, min(stop * _TILE, X.shape[1]), _TILE):
        right = min(left + _TILE, X.shape[1])
        least, most = low[left:right], high[left:right]
        for i in range(len(codes)):
            x, total = X[i, left:right], sums[codes[i], left:right]
            for j in range(right - left):
                total[j] += x[j]
                least[j] = x[j] if x[j] < least[j] else least[j]
                most[j] = x[j] if x[j] > most[j] else most[j]


def contingency_chi2(tables: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Statistic, degrees of freedom, and lesser side minus one of each table.

    Rows and columns may be empty; empty ones count nowhere.
    """
    least = np.zeros(len(tables), dtype=np.intp)
    statistic = np.zeros(len(tables))
    dof = np.zeros(len(tables), dtype=np.intp)
    heights = np.array([len(table) for table in tables])
    for height in np.unique(heights[heights > 0]):
        where = np.flatnonzero(heights == height)
        counts = np.stack([tables[j] for j in where]).astype(np.float64)
        unit = np.array([_unit_of(n) for n in counts.sum(axis=(1, 2)).tolist()])
        counts /= unit[:, None, None]
        rows, columns = counts.sum(axis=2), counts.sum(axis=1)
        n = rows.sum(axis=1)
        expected = rows[:, :, None] * columns[:, None, :] / np.where(n > 0.0, n, 1.0)[:, None, None]
        terms = (counts - expected) ** 2 / np.where(expected > 0, expected, 1.0)
        statistic[where] = terms.sum(axis=(1, 2)) * unit
        height_in_use, width_in_use = (rows > 0).sum(axis=1), (columns > 0).sum(axis=1)
        dof[where] = (height_in_use - 1) * (width_in_use - 1)
        least[where] = np.minimum(height_in_use, width_in_use) - 1
    return np.where(dof > 0, statistic, 0.0), np.maximum(dof, 0), np.maximum(least, 0)


def _unit_of(total: float) -> float:
    """A power of two by which sums of weights are divided whose squares leave float64."""
    return 1.0 if 1e-100 < total < 1e100 or not total else 2.0 ** np.floor(np.log2(total))
