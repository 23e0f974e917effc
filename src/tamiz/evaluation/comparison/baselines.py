"""What any selector must beat: chance, and no selection at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tamiz.base import Selector, number_to_select
from tamiz.validation import check_X


class RandomRanking(Selector):
    """Features in random order.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many are selected; half of them by default.
    random_state : int, RandomState or None, default=None
        Seed of the order.
    """

    def __init__(
        self, n_features_to_select: int | float | str | None = None, *, random_state: Any = None
    ):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RandomRanking:
        """Draw an order; ``y`` is not looked at."""
        X = check_X(self, X, reset=True, accept_sparse=True, allow_nan=True)
        p = X.shape[1]
        self._finish(
            order=check_random_state(self.random_state).permutation(p),
            n_selected=number_to_select(self.n_features_to_select, p, None),
        )
        return self


class AllFeatures(Selector):
    """Every feature is selected."""

    def fit(self, X: Any, y: Any = None) -> AllFeatures:
        """Take the columns as they come."""
        X = check_X(self, X, reset=True, accept_sparse=True, allow_nan=True)
        p = X.shape[1]
        self._finish(order=np.arange(p), n_selected=p)
        return self
