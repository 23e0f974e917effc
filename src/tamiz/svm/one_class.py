"""One-class machine: the part of feature space, away from the origin, where the data lie."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.qp import QMatrix, QuadraticProblem, one_class_problem
from tamiz.solvers import QPResult
from tamiz.svm.kernel_machine import KERNEL_CONSTRAINTS
from tamiz.svm.outlier import ON_BOUNDARY, NoveltyMachine, least_gradient
from tamiz.validation.keywords import by_keyword


class OneClassSVM(NoveltyMachine):
    """Outlier detection by the hyperplane farthest from the origin.

    Maximises ``rho - ½‖w‖² - Σ ξ_i / (nu n)`` (up to scale) subject to
    ``⟨w, φ(x_i)⟩ ≥ rho - ξ_i``. At most a share ``nu`` of the samples falls outside, and at least a
    share ``nu`` are support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        Share of outliers admitted, in (0, 1].
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`SVC`.
    gamma, degree, coef0, solver, warm_start, cache_mb, max_iter, verbose
        As in :class:`SVC`.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted, relative to the largest ``K(x, x)``.

    Attributes
    ----------
    alpha_ : array of shape (n_samples,)
        Dual variables, of sum ``nu * n``.
    support_, support_vectors_, dual_coef_, intercept_, coef_, free_support_, bounded_support_
        As in :class:`SVC`; ``intercept_`` is ``-offset_``.
    offset_ : float
        ``rho`` (less a rounding margin); ``decision_function(X) = score_samples(X) - offset_``.
    dual_objective_ : float
        Minus the optimum ``½ alpha'K alpha`` of the dual.
    duality_gap_ : float
        Bound on the distance to the optimum.
    kkt_violation_, n_iter_, status_, kernel_
        As in :class:`SVC`.

    See Also
    --------
    SVDD : Smallest ball; the same boundary for radial kernels.

    References
    ----------
    .. [1] B. Schölkopf et al. (2001). Estimating the support of a high-dimensional
           distribution. Neural Computation 13.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.svm import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> machine = OneClassSVM(nu=0.1, gamma=0.2).fit(X)
    >>> bool((machine.predict(X) == -1).mean() <= 0.1), int(machine.predict([[8.0, 8.0]])[0])
    (True, -1)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    @by_keyword
    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-3,
        warm_start: bool = False,
        cache_mb: float = 2000.0,
        max_iter: int = -1,
        verbose: bool | int = 0,
    ):
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.verbose = verbose

    def _problem(self, K: QMatrix, weight: np.ndarray) -> QuadraticProblem:
        return one_class_problem(K, self.nu, weight)

    def _describe(self, result: QPResult, K: QMatrix, problem: QuadraticProblem) -> None:
        level = least_gradient(result, problem)
        self.offset_ = level - ON_BOUNDARY * abs(level)
        self.intercept_ = np.array([-self.offset_])
        self.dual_objective_ = -float(result.objective or 0.0)
        self.duality_gap_ = result.gap

    def score_samples(self, X: Any) -> np.ndarray:
        """``⟨w, φ(x)⟩`` at the rows of ``X``."""
        values = self._expansion(self._check_table(X, reset=False))[:, 0]
        return values - self.intercept_[0]
