r"""Pearson correlation of each feature with the target.

For a numeric target the score is ``|ρ(f, y)|``; for classes ``c_k`` with shares ``p_k``

.. math::

    \sum_k p_k \, |\rho(f, 1[c = c_k])|, \qquad
    \rho(f, 1[c = c_k]) = \frac{\mu_k - \mu}{\sigma} \sqrt{\frac{p_k}{1 - p_k}},

which for two classes is the correlation with either indicator.

References
----------
.. [1] M. A. Hall (1999). Correlation-based feature selection for machine learning. (The weighted
       sum over class indicators.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse, special
from sklearn.utils._param_validation import StrOptions

from tamiz.base import Stopwatch
from tamiz.filters._streaming import Stream
from tamiz.filters.univariate_base import BY_PVALUE, MomentFilter, Scored, check_labelled
from tamiz.information.scale import safe_units
from tamiz.runtime.parallel import run_tiles
from tamiz.scale.batch import Batch
from tamiz.scale.moments import ClassMoments, in_units
from tamiz.scale.target_moments import TargetMoments
from tamiz.validation import (
    ANNOUNCE,
    as_vector,
    check_regression_target,
    check_sample_weight,
    check_X,
    guess_task,
)


class PearsonScore(MomentFilter):
    """Absolute Pearson correlation with a numeric target or with class indicators.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether ``y`` holds classes or numbers. ``"auto"``: text and whole numbers are classes;
        floats with a fractional part are numbers, and so are whole ones with more than twenty
        levels of fewer than ten samples each.
    alpha : float in (0, 1] or None, default=None
        Select the features whose corrected p-value is at most this, if ``n_features_to_select`` is
        not given; constant features never.
    correction : {"none", "fdr", "bonferroni"}, default="none"
        How p-values are corrected for the number of features before they are compared with
        ``alpha``: not at all, by Benjamini and Hochberg's procedure for the share of wrong
        features among those selected, or by Bonferroni's for the chance of any. ``pvalues_`` stay
        as they are.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Scores between 0 and 1; 0 for constant features.
    correlations_ : array of shape (n_features,) or (n_classes, n_features)
        Signed correlations with the numeric target or the second of two classes, or with the
        indicator of each class.
    pvalues_ : array of shape (n_features,) or None
        Two-sided p-values of the correlation; None with more than two classes.
    support_, ranking_, order_, selection_
        See :class:`tamiz.selector.Selector`.

    See Also
    --------
    WelchT : compares means without pooling variances.

    References
    ----------
    .. [1] M. A. Hall (1999). Correlation-based feature selection for machine learning. PhD thesis,
           University of Waikato.

    Examples
    --------
    >>> from tamiz.filters.pearson import PearsonScore
    >>> X = [[1, 5], [2, 3], [3, 6], [4, 2]]
    >>> PearsonScore().fit(X, [1.1, 1.9, 3.2, 4.1]).scores_.round(3).tolist()
    [0.996, 0.356]
    """

    _parameter_constraints = {
        **MomentFilter._parameter_constraints,
        **BY_PVALUE,
        "task": [StrOptions({"auto", "classification", "regression"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        task: str = "auto",
        alpha: float | None = None,
        correction: str = "none",
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.alpha = alpha
        self.correction = correction

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._validate_params()
        watch = Stopwatch()
        y = as_vector(y)
        task = guess_task(y) if self.task == "auto" else self.task
        if task == "classification":
            remedy = 'use task="regression"'
            guessed = self.task == "auto"
            samples = check_labelled(
                self, X, y, sample_weight, accept_sparse=True, quantity=remedy, warn=guessed
            )
            self.classes_ = samples.labels.classes
            return self._conclude(self._score(samples), watch)
        X = check_X(self, X, reset=True, accept_sparse=True, min_samples=2)
        y = check_regression_target(y, X.shape[0], labels='Use task="classification" for labels.')
        weight = None
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, X.shape[0])
            counted = weight > 0
            X, y, weight = X[counted], y[counted], weight[counted]
        self.__dict__.pop("classes_", None)
        n = len(y) if weight is None else weight.sum()
        return self._conclude(self._from_correlations(*correlate(X, y, weight), n), watch)

    def _from_correlations(self, rho: np.ndarray, constant: np.ndarray, n: float) -> Scored:
        self.correlations_ = rho
        pvalues = np.where(constant, 1.0, correlation_pvalues(rho, n))
        return Scored(np.abs(rho), pvalues, constant)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        if stream.classes is not None:
            return super()._fit_streamed(stream, watch, sample_size)
        moments = stream.sweep(correlate_batch)
        return self._conclude(self._from_target(moments), watch, **stream.told())

    def _from_target(self, moments: TargetMoments) -> Scored:
        rho = moments.correlations()
        return self._from_correlations(rho, moments.columns.constant(), moments.n_rows)

    _quantity = 'use task="regression"'

    def _many_classes(self) -> str | None:
        return self._quantity if self.task == "auto" else None

    _unknown_class = f'{ANNOUNCE} If y is a quantity, say so with task="regression".'

    def _take(self, X: Any, y: np.ndarray, classes: Any, before: Any) -> Any:
        task = self.task
        if before is not None:
            was = "regression" if isinstance(before, TargetMoments) else "classification"
            if task not in ("auto", was):
                raise ValueError(
                    f"task was changed to {task!r} after batches had been taken with {was!r}; set "
                    "it back, or start anew with a fresh PearsonScore."
                )
            task = was
        elif task == "auto":
            labels = classes is not None or y.dtype.kind != "f"  # a batch is too little to judge
            task = "classification" if labels else guess_task(y)
        if task == "classification":
            return super()._take(X, y, classes, before)
        if classes is not None:
            raise ValueError("classes was given, but the target is a quantity; leave it out.")
        X = check_X(self, X, reset=before is None, accept_sparse=True)
        y = check_regression_target(y, X.shape[0], labels='Use task="classification" for labels.')
        part = TargetMoments.of(X, y)
        return part if before is None else before.merge(part)

    def _conclude_partial(self, total: Any, watch: Stopwatch) -> Any:
        if isinstance(total, TargetMoments):
            return self._conclude(self._from_target(total), watch, n_rows=self._rows_of(total))
        return super()._conclude_partial(total, watch)

    def _rows_of(self, total: Any) -> int:
        return int(total.n_rows if isinstance(total, TargetMoments) else total.count.sum())

    def _enough(self, total: Any) -> bool:
        if isinstance(total, TargetMoments):
            return total.n_rows > 1
        return super()._enough(total)

    def _from_moments(self, moments: ClassMoments) -> tuple[np.ndarray, np.ndarray | None]:
        share = moments.count / moments.count.sum()
        rho = indicator_correlations(moments)
        if len(share) > 2:
            self.correlations_ = rho
            return share @ np.abs(rho), None
        self.correlations_ = rho[1]
        return np.abs(rho[1]), correlation_pvalues(rho[1], moments.count.sum())


def correlate_batch(batch: Batch) -> TargetMoments:
    """From a batch to what correlations with its target need."""
    assert batch.y is not None
    return TargetMoments.of(batch.X, batch.y)


def indicator_correlations(moments: ClassMoments) -> np.ndarray:
    """Correlation of every feature with the indicator of every class."""
    whole = moments.pooled()
    share = (moments.count / moments.count.sum())[:, None]
    sigma = np.sqrt(np.where(moments.constant(), 0.0, whole.variance()[0]))
    gap = (moments.mean - whole.mean) * np.sqrt(share / (1 - share))
    return np.clip(np.where(sigma > 0, gap / np.where(sigma > 0, sigma, 1.0), 0.0), -1.0, 1.0)


def correlation_pvalues(rho: np.ndarray, n: float) -> np.ndarray:
    """Two-sided p-values of correlations over ``n`` samples; 1 if there are too few to tell."""
    if n <= 2:
        return np.ones(len(rho))
    with np.errstate(divide="ignore"):
        t = np.abs(rho) * np.sqrt((n - 2) / (1 - rho**2))
    return 2 * special.stdtr(n - 2, -t)


def correlate(X: Any, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Correlation of every feature with ``y``, and which features are constant."""
    y = y / safe_units(np.abs(y).max())
    with np.errstate(over="ignore", invalid="ignore"):
        moments = ClassMoments.of(X, np.zeros(len(y), dtype=np.intp), 1, weight)
        rho, constant = _correlate(X, y, weight, moments)
    units = moments.units(X)
    scaled = np.flatnonzero(units != 1.0)
    if len(scaled):
        part = in_units(X, scaled, units)
        moments = ClassMoments.of(part, np.zeros(len(y), dtype=np.intp), 1, weight)
        rho[scaled], constant[scaled] = _correlate(part, y, weight, moments)
    return rho, constant


def _correlate(
    X: Any, y: np.ndarray, weight: np.ndarray | None, moments: ClassMoments
) -> tuple[np.ndarray, np.ndarray]:
    weight = np.ones(len(y)) if weight is None else weight
    centred = y - (weight @ y) / weight.sum() if np.ptp(y) > 0 else np.zeros(len(y))
    weighted = weight * centred
    cross = np.zeros(X.shape[1])
    if sparse.issparse(X):
        cross = X.T @ weighted
    else:
        least = max(1, 2**17 // max(1, len(y)))
        run_tiles(_cross, X.shape[1], X, moments.mean[0], weighted, cross, min_items=least)
    constant = moments.constant()
    spread = np.where(constant, 0.0, np.sqrt(moments.m2[0] * (weighted @ centred)))
    rho = np.where(spread > 0, cross / np.where(spread > 0, spread, 1.0), 0.0)
    return np.clip(rho, -1.0, 1.0), constant


@njit(cache=True, nogil=True)
def _cross(start, stop, X, shift, y, cross):  # type: ignore[no-untyped-def]
    """Sums of products of centred features and target, for the columns ``start`` to ``stop``."""
    for i in range(len(y)):
        for j in range(start, stop):
            cross[j] += (X[i, j] - shift[j]) * y[i]
