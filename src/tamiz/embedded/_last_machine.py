"""Selectors that end with a machine on the selected features, and predict with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tamiz.selector import Selector
from tamiz.validation import check_X


class LastMachineSelector(ClassifierMixin, Selector):
    """Base of selectors whose ``estimator_`` was fitted to the selected features.

    A subclass's ``fit`` sets ``classes_`` and ``estimator_`` and calls ``_finish``.
    """

    estimator_: Any
    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample, by the machine on the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with all the features that ``fit`` saw.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        X = self._reduced(X)  # first: it says so if nothing is fitted
        return np.asarray(self.estimator_.predict(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the machine on the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with all the features that ``fit`` saw.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive values speak for ``classes_[1]``.
        """
        X = self._reduced(X)
        return np.asarray(self.estimator_.decision_function(X))

    def _reduced(self, X: Any) -> Any:
        check_is_fitted(self, "support_")
        X = check_X(self, X, reset=False, accept_sparse=self._takes_sparse())
        return X[:, np.flatnonzero(self.support_)]

    def _takes_sparse(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags
