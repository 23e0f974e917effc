r"""Linear machines: how they decide, and how they state their regularisation.

Several classes: one machine per class tells it from all others, and the class with the largest
decision value wins.

The same regularisation has two names. With the *sum* of the hinge losses, as in
:class:`~tamiz.svm.SVC`,

.. math::

    \tfrac12 \lVert w\rVert^2 + C \sum_i \text{hinge}_i
    \quad\text{is}\quad
    nC \Bigl(\tfrac{\lambda}{2} \lVert w\rVert^2 + \tfrac1n \sum_i \text{hinge}_i\Bigr)
    \quad\text{with}\quad \lambda = \frac{1}{nC},

so both have the same minimum. (With the sum of the losses and ``λ/2 ‖w‖²`` it would be
``λ = 1/C``.) With sample weights, ``n`` is their sum.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamiz.base import ScoredClassifier
from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence
from tamiz.pictures import ClassifierPlot
from tamiz.svm.confidence import MarginConfidence, weakest
from tamiz.validation import TOO_LARGE, check_penalties, check_X, dense_copy, depth_of_caller

_FEWER_ROWS = "Pass fewer rows at a time."


def lambda_of(lambda_: float, C: float | None, n_samples: float) -> float:
    """Return ``lambda_``, or ``1/(nC)`` if ``C`` is given."""
    check_penalties(lambda_ if C is None else C, "lambda_" if C is None else "C")
    if C is None:
        return lambda_
    with np.errstate(over="ignore", divide="ignore"):
        found = float(np.float64(1.0) / (n_samples * C))
    if not 0.0 < found < np.inf:
        check_penalties(found, "1 / (C times the sum of the sample weights)")
    return found


def positive_classes(n_classes: int) -> np.ndarray:
    """Return the code of the class that each machine tells from all others."""
    return np.array([1]) if n_classes == 2 else np.arange(n_classes)


def per_machine(values: Any) -> Any:
    """Return a single number as such, those of several machines as an array."""
    return values[0].item() if len(values) == 1 else np.asarray(values)


def weights_in_use(machine: Any) -> dict[str, Any]:
    """How many features a fitted machine uses, for notebooks."""
    if not hasattr(machine, "coef_"):
        return {}
    coef = np.atleast_2d(machine.coef_)
    used = np.count_nonzero(coef.any(axis=0))
    return {"features with a weight": f"{used:,} of {coef.shape[1]:,}"}


class LinearDecision(TakesCallbacks, Evidence, ScoredClassifier, ClassifierPlot, BaseEstimator):
    """Base of classifiers that decide by ``coef_ @ x + intercept_``."""

    coef_: np.ndarray
    intercept_: np.ndarray

    def _evidence(self) -> dict[str, Any]:
        return weights_in_use(self) | super()._evidence()

    classes_: np.ndarray
    _margins: tuple[float, ...] = (-1.0, 1.0)
    _centre: np.ndarray | None = None  # what samples are measured from; None: the origin
    _intercept_there: np.ndarray | None = None  # the constant of the function in these terms

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive values speak for ``classes_[1]``. Several: one column for each
            class, the largest wins.
        """
        check_is_fitted(self)
        X = check_X(self, X, reset=False, accept_sparse=True)
        with np.errstate(over="ignore", invalid="ignore"):
            if self._centre is None:
                values = X @ self.coef_.T + self.intercept_
            else:
                near = dense_copy(X, _FEWER_ROWS, tables=2) - self._centre
                values = near @ self.coef_.T + self._intercept_there
        if not np.isfinite(values).all():
            raise ValueError(TOO_LARGE)
        return values.ravel() if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        values = self.decision_function(X)
        codes = values > 0 if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes.astype(np.intp)]

    @available_if(lambda self: bool(self._margins))
    def margin_confidence(self, X: Any) -> MarginConfidence:
        """How sure the machine is of its predictions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        confidence : MarginConfidence
            Named tuple with one entry for each sample: ``values``, the decision value in favour of
            the predicted class (1 is on the margin), ``boundary_distance``, in units of the
            features, and as property ``places``: "inside", "on" or "beyond" the margin.
            ``support_distance`` is None: no samples are kept.
        """
        values = self.decision_function(X)
        table = values[:, None] if values.ndim == 1 else values
        winner = values > 0 if values.ndim == 1 else values.argmax(axis=1)
        norms = np.linalg.norm(self.coef_, axis=1)
        widths = np.divide(1.0, norms, out=np.full(len(norms), np.inf), where=norms > 0)
        with np.errstate(invalid="ignore"):
            found = weakest(table, widths, winner.astype(np.intp), len(self.classes_), False)
        return MarginConfidence(*found, None, 1e-3)

    def _set_weights(
        self,
        beta: np.ndarray,
        in_range: bool | np.bool_ = True,
        centre: np.ndarray | None = None,
    ) -> None:
        """Take over the weights of all machines, the intercept in the last column.

        ``in_range`` is false if numbers on the way to them were too large; ``centre`` is the point
        that the samples were measured from, if not the origin.
        """
        if not in_range or not np.isfinite(beta).all():
            raise ValueError(TOO_LARGE)
        self.coef_ = np.ascontiguousarray(beta[:, :-1])
        self.intercept_ = beta[:, -1].copy()
        self._centre = self._intercept_there = None
        if centre is not None:
            self._centre, self._intercept_there = centre, self.intercept_
            with np.errstate(over="ignore", invalid="ignore"):
                self.intercept_ = self.intercept_ - self.coef_ @ centre
            if not np.isfinite(self.intercept_).all():
                raise ValueError(TOO_LARGE)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")  # the parameter lambda_ would pass for a fitted attribute

    def _stopped(self, results: Sequence[Any]) -> bool:
        """Whether Ctrl-C ended one of the machines fitted so far: no others are then begun."""
        return any(result.status == "interrupted" for result in results)

    def _warn_interrupted(self, results: Sequence[Any]) -> None:
        done = sum(result.iterations > 0 for result in results)
        rest = "" if done == len(results) else f" {len(results) - done} machines were not begun."
        self._warn(
            f"interrupted in iteration {results[done - 1].iterations:,} of machine {done} of "
            f"{len(results)}; the result so far is kept.{rest}"
        )

    def _warn(self, message: str) -> None:
        """Warn at the line of the user."""
        said = f"{type(self).__name__}: {message}"
        warnings.warn(said, ConvergenceWarning, stacklevel=depth_of_caller())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
