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
from sklearn.utils._param_validation import StrOptions

from tamiz.filters.univariate.order import Between, OrderFilter
from tamiz.scale.ordered import Bounds, OrderedColumns
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

    def _between(self, columns: OrderedColumns) -> Between:
        rows = columns.class_weight()
        each = Labels(self.classes_, np.arange(len(rows)))  # a sample of each class
        factor = check_class_weight(self.class_weight, each, rows)
        own = columns.class_weight(factor)
        baseline, total = own.max(), own.sum()
        right = columns.stump(factor)
        gains = ((one - baseline) / total for one in (right.middle, *right))
        # sums in another order differ by rounding
        gain, low, high = (np.where(one > 1e-12, one, 0.0) for one in gains)
        self.errors_ = np.maximum(0.0, 1 - baseline / total - gain)
        return Between(gain, Bounds(low, high))
