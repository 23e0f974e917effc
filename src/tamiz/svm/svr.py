"""Support vector regression with any kernel and both epsilon-insensitive losses."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import ScoredRegressor
from tamiz.pictures import RegressorPlot
from tamiz.qp import svr_problem
from tamiz.solvers import QPResult, solve
from tamiz.svm.kernel_machine import KERNEL_CONSTRAINTS, KernelMachine
from tamiz.svm.multiclass import at_stake
from tamiz.validation import (
    TOO_LARGE,
    by_keyword,
    check_penalties,
    check_regression_target,
    check_sample_weight,
    far_level,
    unchanged_on_error,
)

_NO_RIDGE = 1e-307  # below it, the ridge 1/(2C) of the squared loss is beyond float64


class SVR(ScoredRegressor, RegressorPlot, KernelMachine):
    """Epsilon-insensitive support vector regression.

    Minimises ``½‖w‖² + C Σ L(y_i - f(x_i))``, where ``L(r)`` is ``max(0, |r| - epsilon)`` or its
    square: deviations inside a tube of half-width ``epsilon`` cost nothing, and only the samples
    outside it or on its surface are support vectors.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on residuals outside the tube.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target.
    loss : {"linear", "squared"}, default="linear"
        Power of the deviation beyond the tube.
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`SVC`.
    gamma, degree, coef0, solver, tol, warm_start, cache_mb, max_iter, device, verbose
        As in :class:`SVC`.

    Attributes
    ----------
    support_ : array
        Indices of the support vectors.
    support_vectors_ : array of shape (n_support, n_features)
        The support vectors (empty if precomputed).
    dual_coef_ : array of shape (1, n_support)
        Coefficients of the expansion, ``alpha_[0] - alpha_[1]`` of the support vectors.
    intercept_ : array of shape (1,)
        Constant term.
    coef_ : array of shape (1, n_features)
        Weights; linear kernel only.
    alpha_ : array of shape (2, n_samples)
        Dual variables of the constraints above and below the tube.
    slack_ : array of shape (n_samples,)
        Distance beyond the tube.
    free_support_, bounded_support_ : arrays
        Indices of the support vectors with ``alpha < C`` and ``alpha = C``.
    objective_, dual_objective_, duality_gap_, kkt_violation_, n_iter_, status_, kernel_
        As in :class:`SVC`.

    See Also
    --------
    SVC : Classification.

    References
    ----------
    .. [1] H. Drucker, C. Burges, L. Kaufman, A. Smola, V. Vapnik (1997). Support vector
           regression machines. NIPS 9.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz import SVR
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> machine = SVR(C=10.0, epsilon=0.05).fit(x, np.sin(x[:, 0]))
    >>> bool(np.abs(machine.predict(x) - np.sin(x[:, 0])).max() < 0.06)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"linear", "squared"})],
    }

    @by_keyword
    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        loss: str = "linear",
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-3,
        warm_start: bool = False,
        cache_mb: float = 2000.0,
        max_iter: int = -1,
        device: str | None = None,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        """Fit the regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, or their square matrix of kernel values if precomputed.
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C`` by sample.

        Returns
        -------
        self : SVR
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._validate_params()
        X = self._check_table(X, reset=True)
        n = X.shape[0]
        target = check_regression_target(y, n)
        weight = check_sample_weight(sample_weight, n)
        active = np.flatnonzero(weight > 0)
        previous = getattr(self, "alpha_", None) if self.warm_start else None
        start = None
        if previous is not None and previous.shape[-1] == n:
            start = previous[:, active].ravel()
        part = self._take(X, active) if len(active) < n else X
        self.kernel_ = self._resolve_kernel(part, weight[active])
        self._choose_centre(part)
        largest = float(self.C) * float(weight.max())
        if np.isinf(largest):
            check_penalties(largest, "C times sample_weight")
        C = self.C * weight[active]
        if self.loss == "squared" and not float(C.min()) > _NO_RIDGE:
            check_penalties(C.min(), "C times sample_weight")
        K = self._gram_matrix(part, np.inf if self.loss == "squared" else float(C.max()))
        level = far_level(target[active])  # the intercept takes it, and the digits are kept
        target = target - level
        problem = svr_problem(K, target[active], C, self.epsilon, self.loss == "squared")
        result = solve(problem, start=start, **self._solver_options())
        self._describe(result, X, active, target, C)
        self.intercept_ = self.intercept_ + level
        self._note_place(K, [result.precision])
        self._report([result.status])

    def _describe(
        self, result: QPResult, X: Any, active: np.ndarray, target: np.ndarray, C: np.ndarray
    ) -> None:
        assert result.gradient is not None and result.objective is not None
        squared = self.loss == "squared"
        alpha = result.a.reshape(2, -1)
        coef = alpha[0] - alpha[1]
        intercept = -float(result.multiplier or 0.0) + 0.0
        ridge = coef / (2.0 * C) if squared else 0.0
        expansion = result.gradient[: len(coef)] - self.epsilon + target[active] - ridge
        beyond = np.abs(target[active] - expansion - intercept) - self.epsilon
        slack = np.maximum(0.0, beyond)
        dual = -result.objective
        with np.errstate(over="ignore", invalid="ignore"):
            loss = slack**2 if squared else slack
            primal = 0.5 * float(coef @ expansion) + float(C @ loss)
        if not (np.isfinite(primal) and np.isfinite(dual)):
            check_penalties(C, "C times sample_weight")
        n = X.shape[0]
        self.alpha_ = np.zeros((2, n))
        self.alpha_[:, active] = alpha
        self.slack_ = np.full(n, np.nan)
        self.slack_[active] = slack
        self.intercept_ = np.array([intercept])
        self._store_expansion(X, (self.alpha_[0] - self.alpha_[1])[None, :])
        size = np.abs(coef)
        upper = np.full(len(C), np.inf) if squared else C
        self.free_support_ = active[(size > 0) & (size < upper)]
        self.bounded_support_ = active[(size > 0) & (size >= upper)]
        self.objective_, self.dual_objective_ = primal, dual
        self.duality_gap_ = max(0.0, primal - dual)
        if result.rounding > 0:
            self.duality_gap_ += result.rounding * at_stake(coef, C[beyond > -result.rounding])
        self.kkt_violation_ = float(result.violation or 0.0)
        self.n_iter_ = max(1, result.iterations)
        self.status_ = str(result.status)

    def predict(self, X: Any) -> np.ndarray:
        """Predicted values at the rows of ``X``."""
        values = self._expansion(self._check_table(X, reset=False))[:, 0]
        if not np.isfinite(values).all():
            raise ValueError(TOO_LARGE)
        return values
