"""Selectors that end with a machine on the selected features, and predict with it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamiz.base import Selector
from tamiz.display import Evidence
from tamiz.information.columns import safe_units
from tamiz.svm.multiclass import BinaryFit
from tamiz.svm.svc import SVC
from tamiz.svm.svr import SVR
from tamiz.validation import as_numpy, as_vector, check_X, guess_task, inner_fit

#: What to do about numbers where classes are needed, for ``check_classes``.
INSTEAD = 'set task="regression"'

#: Constraints on the parameters of what takes classes and numbers.
TASK_CONSTRAINTS: dict[str, list[Any]] = {
    "task": [StrOptions({"auto", "classification", "regression"})],
    "epsilon": [Interval(Real, 0.0, None, closed="left")],
    "scale_target": ["boolean"],
}


def spread_of(target: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Standard deviation of a numeric target; 1 if it does not vary."""
    unit = float(safe_units(np.abs(target).max(initial=0.0)))
    target = target / unit
    centred = target - np.average(target, weights=weight)
    return float(np.sqrt(np.average(centred * centred, weights=weight))) * unit or 1.0


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

    def _evidence_html(self, caption: str = "What was found") -> str:
        found = super()._evidence_html(caption)
        machine = getattr(self, "estimator_", None)
        if isinstance(machine, Evidence):
            found += machine._evidence_html(f"{type(machine).__name__} of the selected features")
        return found

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


class TaskSelector(Selector):
    """Base of selectors that are classifiers or regressors, as their parameter ``task`` says.

    "auto" leaves it to the target: such a selector is neither until it is fitted. ``fit`` begins
    with :meth:`_settle_task`.

    Attributes
    ----------
    task_ : {"classification", "regression"}
        What it was fitted for.
    """

    task: str
    task_: str

    def _settle_task(self, y: Any) -> bool:
        """Set ``task_``; whether it is a regression."""
        self.task_ = guess_task(as_vector(y)) if self.task == "auto" else self.task
        if self.task_ == "regression":
            self.__dict__.pop("classes_", None)
        return self.task_ == "regression"

    def _known_task(self) -> str | None:
        """The task as far as it is known: by the parameter, or by the last fit."""
        return getattr(self, "task_", None) if self.task == "auto" else self.task

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions, or their R² for a regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True labels or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        score : float
        """
        measure = r2_score if self._known_task() == "regression" else accuracy_score
        with np.errstate(over="ignore"):  # a prediction may be as wrong as float64 can say
            truth, weight = as_numpy(y, "y"), as_numpy(sample_weight, "sample_weight")
            return float(measure(truth, self.predict(X), sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        task = self._known_task()
        tags.target_tags.required = True
        tags.estimator_type, tags.classifier_tags, tags.regressor_tags = None, None, None
        if task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        elif task == "classification":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


class LastMachineLearner(TaskSelector, LastMachineSelector):
    """Base of selectors that end with an ``SVC``, or with an ``SVR`` for a regression.

    A subclass's ``fit`` sets ``classes_`` as well, if there are classes.
    """

    classes_: np.ndarray
    multiclass: str
    tol: float
    class_weight: Any
    epsilon: float
    scale_target: bool

    def _unit(self, target: np.ndarray, weight: np.ndarray | None = None) -> float:
        """What ``C`` and ``epsilon`` of a regression are multiplied by."""
        return spread_of(target, weight) if self.scale_target else 1.0

    def _refuse_class_weight(self) -> None:
        """A regression has no classes."""
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight={self.class_weight!r} is for classes, and y is taken as numbers; "
                "use class_weight=None and, to weigh samples, sample_weight."
            )

    def _machine_to_be(self) -> Any:
        return SVR if self._known_task() == "regression" else SVC

    def _fit_last_machine(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        solution: Sequence[BinaryFit] | None = None,
        **params: Any,
    ) -> None:
        """Set ``estimator_`` to a machine on the selected features, solved already or not.

        ``params`` are those of an ``SVR`` for a regression, in the unit of the target.
        """
        params["tol"] = self.tol
        with inner_fit():
            if self.task_ == "regression":
                self.estimator_ = SVR(**params).fit(X, y, sample_weight)
                return
            params |= {name: getattr(self, name) for name in ("multiclass", "class_weight")}
            if solution is None:
                self.estimator_ = SVC(**params).fit(X, y, sample_weight)
            else:
                self.estimator_ = SVC.from_solution(X, y, solution, sample_weight, **params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags
