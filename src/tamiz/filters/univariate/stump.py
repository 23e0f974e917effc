"""Training error of the best one-threshold rule on each feature.

The rule splits the values at one threshold and predicts the more frequent class on either side
(both sides may predict the same class: the rule that ignores the feature is among them). All
thresholds between distinct values are tried in one sweep over the sorted column.

References
----------
.. [1] R. C. Holte (1993). Very simple classification rules perform well on most commonly used
       datasets. Machine Learning 11.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from sklearn.utils._param_validation import StrOptions

from tamiz.filters.univariate.base import LabelledSamples, Scored
from tamiz.filters.univariate.order import Bounded, OrderFilter, sweep_sorted
from tamiz.scale import Bounds, ClassHistograms
from tamiz.validation import Labels, check_class_weight


class StumpError(OrderFilter):
    """How much a single feature with one threshold reduces the training error.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    class_weight : dict, "balanced" or None, default=None
        Cost of an error in each class. With ``"balanced"`` all classes together cost the same, and
        a rare class is worth finding.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Error of always predicting the most frequent class, less the error of the best threshold;
        0 for constant features.
    errors_ : array of shape (n_features,)
        Training error of the best threshold, as a fraction of the total weight.
    score_bounds_ : array of shape (2, n_features)
        After ``fit_stream``: what the scores are known to lie between.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    AUCScore : the order of the values over all thresholds.

    References
    ----------
    .. [1] R. C. Holte (1993). Very simple classification rules perform well on most commonly used
           datasets. Machine Learning 11.

    Examples
    --------
    >>> from tamiz.filters import StumpError
    >>> X = [[1, 4], [2, 1], [3, 3], [4, 2]]
    >>> StumpError().fit(X, ["no", "no", "yes", "yes"]).errors_.tolist()
    [0.0, 0.25]
    """

    _parameter_constraints = {
        **OrderFilter._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        class_weight: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.class_weight = class_weight

    def _score(self, samples: LabelledSamples) -> Scored:
        weight = np.ones(samples.X.shape[0]) if samples.weight is None else samples.weight
        factor = check_class_weight(self.class_weight, samples.labels, samples.weight)
        samples = samples._replace(weight=weight * factor[samples.labels.codes])
        own = samples.class_weight()
        right, distinct = np.zeros(samples.X.shape[1]), np.zeros(samples.X.shape[1])
        sweep_sorted(samples, _most_right, right, distinct)
        baseline = own.max()
        gain = (right - baseline) / own.sum()
        gain = np.where(gain > 1e-12, gain, 0.0)  # sums in another order differ by rounding
        self.errors_ = np.maximum(0.0, 1 - baseline / own.sum() - gain)
        return Scored(gain, None, distinct == 1)

    def _bounded(self, histograms: ClassHistograms) -> Bounded:
        rows = histograms.class_rows.astype(np.float64)
        each = Labels(self.classes_, np.arange(len(rows)))  # a sample of each class
        factor = check_class_weight(self.class_weight, each, rows)
        own = factor * rows
        baseline = 1 - own.max() / own.sum()
        errors = histograms.stump_errors(factor)
        self.errors_ = errors.middle
        low, high = (baseline - side for side in (errors.high, errors.low))
        low, high = (np.where(gain > 1e-12, gain, 0.0) for gain in (low, high))
        return Bounded(Bounds(low, high), None)


@njit(cache=True, nogil=True)
def _most_right(values, order, codes, weight, right, distinct):  # type: ignore[no-untyped-def]
    """Weight of what the best threshold predicts rightly, for each row of ``values``."""
    n, n_classes = values.shape[1], codes.max() + 1
    counts = np.empty(n_classes)
    left = np.empty(n)  # weight of the most frequent class among the first q + 1
    for j in range(len(values)):
        counts[:] = 0.0
        most = 0.0
        for q in range(n):
            i = order[j, q]
            counts[codes[i]] += weight[i]
            most = max(most, counts[codes[i]])
            left[q] = most
        best = most
        counts[:] = 0.0
        most = 0.0
        distinct[j] = 1.0
        for q in range(n - 1, 0, -1):
            i = order[j, q]
            counts[codes[i]] += weight[i]
            most = max(most, counts[codes[i]])
            if values[j, order[j, q - 1]] != values[j, i]:
                distinct[j] += 1.0
                best = max(best, left[q - 1] + most)
        right[j] = best
