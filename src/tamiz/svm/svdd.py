"""Support vector data description: the smallest ball around the data in feature space."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.qp import QMatrix, QuadraticProblem, svdd_problem
from tamiz.solvers import QPResult
from tamiz.svm.kernel_machine import KERNEL_CONSTRAINTS
from tamiz.svm.outlier import (
    ON_BOUNDARY,
    NoveltyMachine,
    least_gradient,
    squared_spread,
)
from tamiz.validation.keywords import by_keyword


class SVDD(NoveltyMachine):
    """Smallest ball around the data in feature space, a share of the samples outside if wanted.

    Solves ``max Σ β_i K_ii - Σ β_i β_l K_il`` subject to ``Σ β = 1``, ``β ≥ 0``, whose value is the
    squared radius; with ``nu > 0`` every ``β_i`` is bounded by ``1 / (nu n)``, which lets at most a
    share ``nu`` of the samples out of the ball.

    Parameters
    ----------
    nu : float, default=0.1
        Share of samples that may lie outside, in [0, 1]; zero encloses all.
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`SVC`.
    gamma, degree, coef0, solver, warm_start, cache_mb, max_iter, verbose
        As in :class:`SVC`.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted, relative to the size of the data: about
        the relative error of the squared radius.

    Attributes
    ----------
    alpha_ : array of shape (n_samples,)
        The ``β``: weights of the centre.
    radius_ : float
        Radius of the ball.
    squared_radius_ : float
        Its square.
    support_, support_vectors_, dual_coef_, free_support_, bounded_support_
        As in :class:`SVC`. Free support vectors lie on the sphere, bounded ones outside.
    offset_ : float
        ``-squared_radius_``, less a rounding margin;
        ``decision_function(X) = score_samples(X) - offset_``.
    objective_, dual_objective_, duality_gap_
        Primal ``R² + Σ C_i ξ_i`` and dual value; their difference.
    kkt_violation_, n_iter_, status_, kernel_
        As in :class:`SVC`.

    See Also
    --------
    OneClassSVM : Hyperplane instead of ball.
    radius_margin_bound : Uses the radius.

    References
    ----------
    .. [1] D. Tax, R. Duin (2004). Support vector data description. Machine Learning 54.

    Examples
    --------
    Two points span the ball of a linear kernel:

    >>> from tamiz.svm import SVDD
    >>> machine = SVDD(nu=0, kernel="linear").fit([[0.0, 0.0], [6.0, 8.0], [3.0, 5.0]])
    >>> round(machine.radius_, 6), machine.predict([[3.0, 4.0], [7.0, 9.0]]).tolist()
    (5.0, [1, -1])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "nu": [Interval(Real, 0.0, 1.0, closed="both")],
    }

    @by_keyword
    def __init__(
        self,
        nu: float = 0.1,
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
        C = weight / (self.nu * weight.sum()) if self.nu > 0 else np.inf
        return svdd_problem(K, C)

    def _scale(self, K: QMatrix) -> float:
        return 0.1 * squared_spread(K)

    def _describe(self, result: QPResult, K: QMatrix, problem: QuadraticProblem) -> None:
        assert result.gradient is not None and result.objective is not None
        g = result.gradient
        diag = -2.0 * problem.p
        self._center_norm = float(result.a @ (g - problem.p))  # squared norm of the centre
        distances = self._center_norm - 2.0 * g
        if self.nu > 0:
            squared = max(0.0, self._center_norm - 2.0 * least_gradient(result, problem))
            outside = np.maximum(0.0, distances - squared)
            self.objective_ = squared + float(problem.upper @ outside)
        else:  # no sample may be outside, however loose the tolerance
            squared = max(0.0, float(distances.max()))
            self.objective_ = squared
        self.squared_radius_ = squared
        self.radius_ = float(np.sqrt(squared))
        self.offset_ = -squared - ON_BOUNDARY * max(squared, 1e-300)
        self.dual_objective_ = -2.0 * result.objective
        self.duality_gap_ = max(0.0, self.objective_ - self.dual_objective_)
        constant = float(np.ptp(diag)) <= 1e-9 * max(1.0, float(np.abs(diag).max()))
        self._constant_diag = float(diag[0]) if constant else None

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the squared distance of the rows of ``X`` from the centre."""
        X = self._check_table(X, reset=False)
        values = self._expansion(X)[:, 0]
        if not self._is_precomputed():
            with np.errstate(over="ignore"):  # an infinite distance is outside, as it should be
                own: Any = self.kernel_.diag(X)
        elif self._constant_diag is not None:
            own = self._constant_diag
        else:
            raise ValueError(
                "The distance of new samples needs their kernel values with themselves, which a "
                'precomputed matrix does not hold. Use kernel="precomputed" with a kernel whose '
                "diagonal is constant, or hand over the kernel itself."
            )
        return -(own - 2.0 * values + self._center_norm)
