r"""A linear machine solved in the primal: as many samples as one likes, few or many features."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.solvers.squared_hinge import SquaredHinge, minimise_dual, minimise_primal
from tamiz.svm.linear_decision import LinearDecision, per_machine, positive_classes
from tamiz.validation import (
    check_class_weight,
    check_classes,
    check_sample_weight,
    check_squares,
    check_X,
    unchanged_on_error,
)


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
            used = factor > 0
            table = X.tocsr() if sparse.issparse(X) else X
            if not used.all() or len(kept) < len(weight):
                table = table[kept[used]]
            signs = [
                np.where(labels.codes[used] == k, 1.0, -1.0)
                for k in positive_classes(len(labels.classes))
            ]
            found, weights = fit_machines(table, signs, 2.0 * self.C * factor[used], self.tol)
            self.classes_ = labels.classes
            self._set_weights(weights)
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
        dense = X.toarray() if sparse.issparse(X) else X
        for y in signs:
            one = minimise_primal(dense, y, cost, tol=tol)
            found.append(one)
            rows.append(np.append(one.weights, one.intercept))
        return found, np.array(rows)
    K = np.asarray((X @ X.T).todense() if sparse.issparse(X) else X @ X.T)
    for y in signs:
        one = minimise_dual(K, y, cost, tol=tol)
        found.append(one)
        rows.append(np.append(np.asarray(X.T @ one.weights), one.intercept))
    return found, np.array(rows)
