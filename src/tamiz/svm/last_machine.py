"""Selectors that end with a machine on the selected features, and predict with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamiz.base import Selector
from tamiz.svm.multiclass import BinaryFit
from tamiz.svm.svc import SVC
from tamiz.validation import check_X, inner_fit


def machine_has(method: str) -> Any:
    """Make a method available if the last machine has it, or the one to come if none is fitted."""

    def check(self: Any) -> bool:
        machine = self._last_machine() if hasattr(self, "support_") else self._machine_to_be()
        getattr(machine, method)
        return True

    return available_if(check)


class LastMachineSelector(Selector):
    """Base of selectors whose ``estimator_`` was fitted to the selected features.

    A subclass's ``fit`` sets ``estimator_`` and calls ``_finish``. It says with
    :meth:`_machine_to_be` what predicts, and with :meth:`_reduced` what that is given.
    """

    estimator_: Any

    def _machine_to_be(self) -> Any:
        """What ``estimator_`` will be; AttributeError if there will be none."""
        return SVC

    def _takes_sparse(self) -> bool:
        return False

    def _reduced(self, X: Any) -> Any:
        """New samples as ``estimator_`` takes them."""
        X = check_X(self, X, reset=False, accept_sparse=self._takes_sparse())
        return X[:, np.flatnonzero(self.support_)]

    def _last_machine(self) -> Any:
        check_is_fitted(self, "support_")
        if not hasattr(self, "estimator_"):
            self._machine_to_be()  # which may have a better sentence
            raise AttributeError("there is no estimator to predict with: it could not be fitted.")
        return self.estimator_

    @machine_has("predict")
    def predict(self, X: Any) -> np.ndarray:
        """Predict with the estimator fitted to the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with all the features that ``fit`` saw.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels, or numbers if the estimator is a regressor.
        """
        return np.asarray(self._last_machine().predict(self._reduced(X)))

    @machine_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the estimator fitted to the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with all the features that ``fit`` saw.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive values speak for ``classes_[1]``.
        """
        return np.asarray(self._last_machine().decision_function(self._reduced(X)))

    @machine_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the estimator fitted to the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with all the features that ``fit`` saw.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.asarray(self._last_machine().predict_proba(self._reduced(X)))


class LastMachineClassifier(ClassifierMixin, LastMachineSelector):
    """Base of selectors that are classifiers, usually by an ``SVC`` at the end.

    A subclass's ``fit`` sets ``classes_`` as well.
    """

    classes_: np.ndarray
    multiclass: str
    tol: float
    class_weight: Any

    def _fit_last_machine(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        solution: Sequence[BinaryFit] | None = None,
        **params: Any,
    ) -> None:
        """Set ``estimator_`` to an ``SVC`` on the selected features, solved already or not."""
        params |= {name: getattr(self, name) for name in ("multiclass", "tol", "class_weight")}
        with inner_fit():
            if solution is None:
                self.estimator_ = SVC(**params).fit(X, y, sample_weight)
            else:
                self.estimator_ = SVC.from_solution(X, y, solution, sample_weight, **params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags
