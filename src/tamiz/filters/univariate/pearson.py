r"""Pearson correlation of each feature with the target.

For a numeric target the score is ``|ρ(f, y)|``; for classes ``c_k`` with fractions ``p_k``

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
from scipy import special
from sklearn.utils._param_validation import StrOptions

from tamiz.base import Stopwatch
from tamiz.filters.base import REGRESSION
from tamiz.filters.streaming import Needs, Stream
from tamiz.filters.univariate.base import BY_PVALUE, MomentFilter, Scored, check_labelled
from tamiz.scale import Batch, ClassMoments
from tamiz.scale.moments import TargetMoments
from tamiz.validation import (
    ANNOUNCE,
    as_vector,
    check_regression_target,
    check_sample_weight,
    check_X,
    guess_task,
)

#: What to do about classes where numbers were meant.
_LABELS = 'Use task="classification" for labels.'


class PearsonScore(MomentFilter):
    """Absolute Pearson correlation with a numeric target or with class indicators.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether ``y`` holds classes or numbers. ``"auto"``: text is classes, and so
        are two integers, or at most twenty with two rows or more for each; other numbers are a
        numeric target.
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
        Scores between 0 and 1; 0 for constant features.
    correlations_ : array of shape (n_features,) or (n_classes, n_features)
        Signed correlations with the numeric target or the second of two classes, or with the
        indicator of each class.
    pvalues_ : array of shape (n_features,) or None
        Two-sided p-values of the correlation; None with more than two classes.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    WelchT : compares means without pooling variances.

    References
    ----------
    .. [1] M. A. Hall (1999). Correlation-based feature selection for machine learning. PhD thesis,
           University of Waikato.

    Examples
    --------
    >>> from tamiz.filters import PearsonScore
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
            guessed = self.task == "auto"
            samples = check_labelled(
                self, X, y, sample_weight, accept_sparse=True, quantity=REGRESSION, warn=guessed
            )
            self.classes_ = samples.labels.classes
            return self._conclude(self._score(samples), watch)
        X = check_X(self, X, reset=True, accept_sparse=True, min_samples=2)
        y = check_regression_target(y, X.shape[0], labels=_LABELS)
        weight = None
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, X.shape[0])
            counted = weight > 0
            X, y, weight = X[counted], y[counted], weight[counted]
        self.__dict__.pop("classes_", None)
        moments = TargetMoments.in_safe_units(X, y, weight)
        return self._conclude(self._from_target(moments), watch)

    def _from_target(self, moments: TargetMoments) -> Scored:
        rho, constant = moments.correlations(), moments.columns.constant()
        self.correlations_ = rho
        pvalues = np.where(constant, 1.0, correlation_pvalues(rho, moments.n_rows))
        return Scored(np.abs(rho), pvalues, constant)

    def _stream_needs(self) -> Needs:
        return Needs(task=self.task, instead=REGRESSION)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        if stream.classes is not None:
            return super()._fit_streamed(stream, watch, sample_size)
        moments = stream.sweep(target_moments)
        return self._conclude(self._from_target(moments), watch, **stream.summary())

    @property
    def _numbers_instead(self) -> str | None:  # type: ignore[override]
        return REGRESSION if self.task == "auto" else None

    _unknown_class = f'{ANNOUNCE} If y is numeric, say so with task="regression".'

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
            raise ValueError("classes was given, but the target is numeric; leave it out.")
        X = check_X(self, X, reset=before is None, accept_sparse=True)
        y = check_regression_target(y, X.shape[0], labels=_LABELS)
        part = TargetMoments.of(X, y)
        return part if before is None else before.merge(part)

    def _enough(self, total: Any) -> bool:
        return total.n_rows > 1 if isinstance(total, TargetMoments) else super()._enough(total)

    def _conclude_partial(self, total: Any, watch: Stopwatch, n_rows: int) -> Any:
        if isinstance(total, TargetMoments):
            return self._conclude(self._from_target(total), watch, n_rows=n_rows)
        return super()._conclude_partial(total, watch, n_rows)

    def _from_moments(self, moments: ClassMoments) -> tuple[np.ndarray, np.ndarray | None]:
        fraction = moments.count / moments.count.sum()
        rho = indicator_correlations(moments)
        if len(fraction) > 2:
            self.correlations_ = rho
            return fraction @ np.abs(rho), None
        self.correlations_ = rho[1]
        return np.abs(rho[1]), correlation_pvalues(rho[1], moments.count.sum())


def target_moments(batch: Batch) -> TargetMoments:
    """From a batch to what correlations with its target need."""
    assert batch.y is not None
    return TargetMoments.of(batch.X, batch.y)


def indicator_correlations(moments: ClassMoments) -> np.ndarray:
    """Correlation of every feature with the indicator of every class."""
    whole = moments.pooled()
    fraction = (moments.count / moments.count.sum())[:, None]
    sigma = np.sqrt(np.where(moments.constant(), 0.0, whole.variance()[0]))
    rest = np.maximum(1 - fraction, np.finfo(np.float64).eps)  # some weights may be as good as none
    distance = (moments.mean - whole.mean) * np.sqrt(fraction / rest)
    return np.clip(np.where(sigma > 0, distance / np.where(sigma > 0, sigma, 1.0), 0.0), -1.0, 1.0)


def correlation_pvalues(rho: np.ndarray, n: float) -> np.ndarray:
    """Two-sided p-values of correlations over ``n`` samples; 1 if there are too few to tell."""
    if n <= 2:
        return np.ones(len(rho))
    with np.errstate(divide="ignore", over="ignore"):
        t = np.abs(rho) * np.sqrt((n - 2) / (1 - rho**2))
    return 2 * special.stdtr(n - 2, -t)
