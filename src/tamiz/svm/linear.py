r"""Linear machines: how they decide, how they state their regularisation, and one in the primal.

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

:class:`LinearMachine` is solved in the primal: any number of samples, few or many features.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamiz.pictures import ClassifierPlot
from tamiz.runtime.memory import dense_copy, require_gram
from tamiz.solvers.squared_hinge import SquaredHinge, minimise_dual, minimise_primal
from tamiz.svm.confidence import MarginConfidence, weakest
from tamiz.validation import (
    TOO_LARGE,
    check_class_weight,
    check_classes,
    check_penalties,
    check_sample_weight,
    check_squares,
    check_X,
    depth_of_caller,
    far_point,
    unchanged_on_error,
)

_FEWER_ROWS = "Pass fewer rows at a time."


def lambda_of(lambda_: float, C: float | None, n_samples: float) -> float:
    """Return ``lambda_``, or ``1/(nC)`` if ``C`` is given."""
    check_penalties(lambda_ if C is None else C, "lambda_" if C is None else "C")
    return lambda_ if C is None else 1.0 / (n_samples * C)


def positive_classes(n_classes: int) -> np.ndarray:
    """Return the code of the class that each machine tells from all others."""
    return np.array([1]) if n_classes == 2 else np.arange(n_classes)


def per_machine(values: Any) -> Any:
    """Return a single number as such, those of several machines as an array."""
    return values[0].item() if len(values) == 1 else np.asarray(values)


class LinearDecision(ClassifierMixin, ClassifierPlot, BaseEstimator):
    """Base of classifiers that decide by ``coef_ @ x + intercept_``."""

    coef_: np.ndarray
    intercept_: np.ndarray
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
            self.intercept_ = self.intercept_ - self.coef_ @ centre

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


class LinearMachine(LinearDecision):
    r"""Linear classifier with the squared hinge loss, solved by Newton steps.

    .. math::

        \min_{w, b} \; \tfrac12 \lVert w\rVert^2
        + C \sum_i \max\bigl(0,\, 1 - y_i (w'x_i + b)\bigr)^2

    Time grows with ``n min(n, p)²``: 30,000 samples of 20 features take some milliseconds, as do
    100 samples of 10,000 features. Several classes: one machine per class against all others.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of the squared slacks.
    loss : {"squared_hinge"}, default="squared_hinge"
        The loss.
    penalty : {"l2"}, default="l2"
        The penalty of the weights.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    tol : float, default=1e-9
        Relative size of the gradient at which to stop.

    Attributes
    ----------
    coef_ : ndarray of shape (n_machines, n_features)
        Weights.
    intercept_ : ndarray of shape (n_machines,)
        Constants, which are not penalised.
    classes_ : ndarray
        Labels.
    objective_, duality_gap_ : float, or array with several machines
        Value of the minimum, and a bound on its distance from the true one.
    n_iter_ : int, or array
        Newton steps.

    See Also
    --------
    SVC : The hinge loss and other kernels.
    PegasosClassifier : Tables larger than memory.

    References
    ----------
    .. [1] S. S. Keerthi, D. DeCoste (2005). A modified finite Newton method for fast solution of
           large scale linear SVMs. JMLR 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.svm import LinearMachine
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = LinearMachine().fit(X, y)
    >>> bool(machine.score(X, y) > 0.9), bool((machine.duality_gap_ < 1e-6).all())
    (True, True)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"squared_hinge"})],
        "penalty": [StrOptions({"l2"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        penalty: str = "l2",
        class_weight: Any = None,
        tol: float = 1e-9,
    ):
        self.C = C
        self.loss = loss
        self.penalty = penalty
        self.class_weight = class_weight
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearMachine:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C for each sample; a weight of zero leaves it out.

        Returns
        -------
        self : LinearMachine
        """
        with unchanged_on_error(self):
            self._validate_params()
            X = check_X(self, X, reset=True, accept_sparse=True)
            check_squares(X)
            weight = check_sample_weight(sample_weight, X.shape[0])
            labels = check_classes(y, X.shape[0], weight=weight)
            kept = np.flatnonzero(weight)
            labels = labels._replace(codes=labels.codes[kept])
            by_class = check_class_weight(self.class_weight, labels, weight[kept])
            factor = weight[kept] * by_class[labels.codes]
            check_penalties(float(self.C) * float(factor.max()))
            used = factor > 0
            table = X.tocsr() if sparse.issparse(X) else X
            if not used.all() or len(kept) < len(weight):
                table = table[kept[used]]
            signs = [
                np.where(labels.codes[used] == k, 1.0, -1.0)
                for k in positive_classes(len(labels.classes))
            ]
            centre = far_point(table)
            near = table if centre is None else table - centre
            found, weights = fit_machines(near, signs, 2.0 * self.C * factor[used], self.tol)
            self.classes_ = labels.classes
            self._set_weights(weights, centre=centre)
        self.objective_ = per_machine(np.array([one.objective for one in found]))
        self.duality_gap_ = per_machine(np.array([one.gap for one in found]))
        self.n_iter_ = per_machine(np.array([one.steps for one in found]))
        if not all(one.converged for one in found):
            self._warn(
                "Newton's steps ended before the gradient vanished; scale the features, or lower C."
            )
        return self


def fit_machines(
    X: Any, signs: list[np.ndarray], cost: np.ndarray, tol: float
) -> tuple[list[SquaredHinge], np.ndarray]:
    """One machine for each vector of signs: solutions, and weights with the intercept last."""
    n, p = X.shape
    found, rows = [], []
    if p <= n:
        dense = dense_copy(X, "Select features first, or use PegasosClassifier.", tables=2)
        for y in signs:
            one = minimise_primal(dense, y, cost, tol=tol)
            found.append(one)
            rows.append(np.append(one.weights, one.intercept))
        return found, np.array(rows)
    require_gram(n, n)
    K = np.asarray((X @ X.T).todense() if sparse.issparse(X) else X @ X.T)
    for y in signs:
        one = minimise_dual(K, y, cost, tol=tol)
        found.append(one)
        rows.append(np.append(np.asarray(X.T @ one.weights), one.intercept))
    return found, np.array(rows)
