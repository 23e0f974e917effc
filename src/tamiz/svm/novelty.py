"""Machines without labels: what lies outside of the data they were fitted to is new.

The one-class machine finds the part of feature space, away from the origin, where the data lie;
support vector data description the smallest ball around the data in feature space.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import Interval

from tamiz.pictures import NoveltyPlot
from tamiz.qp import QMatrix, QuadraticProblem, one_class_problem, svdd_problem
from tamiz.solvers import QPResult, solve
from tamiz.svm.kernel_machine import KERNEL_CONSTRAINTS, KernelExpansion, KernelMachine
from tamiz.validation import (
    TOO_LARGE,
    by_keyword,
    check_penalties,
    check_sample_weight,
    unchanged_on_error,
)


def least_gradient(result: QPResult, problem: QuadraticProblem) -> float:
    """The level of the boundary: the least gradient of the variables below their bound.

    Taken at the edge and not as the mean over the free variables, it leaves outside only samples
    whose variable is at its bound, however loose the tolerance: at most the promised fraction.
    """
    assert result.gradient is not None
    below = result.gradient[result.a < problem.upper]
    return float(below.min()) if len(below) else float(result.multiplier or 0.0)


def squared_spread(K: QMatrix) -> float:
    """Largest squared distance from the first sample: between ``R²`` and ``4R²`` of the ball."""
    diag = K.diag()
    row = np.asarray(K.rows(np.zeros(1, dtype=np.intp))[0], dtype=np.float64)
    return max(float((diag[0] - 2.0 * row + diag).max()), 1e-300)


#: Kernel values beyond this leave no room for the squares of their sums.
_LARGEST = 1e140
#: Samples this close to the boundary, relative to its level, count as inside: free support vectors
#: lie on it exactly, and rounding must not decide what they are.
ON_BOUNDARY = 1e-9
_LAST_DIGITS = 1e-13  # of a level that is far from zero for how values differ


class NoveltyMachine(OutlierMixin, NoveltyPlot, KernelMachine):
    """Frame of the machines that describe one class; a subclass states its problem."""

    @abstractmethod
    def _problem(self, K: QMatrix, weight: np.ndarray) -> QuadraticProblem: ...

    def _scale(self, K: QMatrix) -> float:
        """What the tolerance is relative to: gradients have the scale of the kernel here."""
        return max(float(np.abs(K.diag()).max(initial=0.0)), 1e-300)

    @abstractmethod
    def _describe(self, result: QPResult, K: QMatrix, problem: QuadraticProblem) -> None:
        """Set the attributes that follow from the solution."""

    @abstractmethod
    def score_samples(self, X: Any) -> np.ndarray:
        """How typical the rows of ``X`` are: the higher the more."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, or their square matrix of kernel values if precomputed.
        y : ignored
            For the sake of pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a sample of weight zero is left out.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit(X, sample_weight)
        return self

    def _fit(self, X: Any, sample_weight: Any) -> None:
        self._validate_params()
        X = self._check_table(X, reset=True)
        n = X.shape[0]
        weight = check_sample_weight(sample_weight, n)
        check_penalties(weight, "The largest of sample_weight")
        active = np.flatnonzero(weight > 0)
        previous = getattr(self, "alpha_", None) if self.warm_start else None
        start = previous[active] if previous is not None and len(previous) == n else None
        part = self._take(X, active) if len(active) < n else X
        self.kernel_ = self._resolve_kernel(part, weight[active])
        self._choose_centre(part)
        K = self._gram_matrix(part, 1.0)
        if np.abs(K.diag()).max(initial=0.0) > _LARGEST:
            raise ValueError(TOO_LARGE)
        problem = self._problem(K, weight[active])
        options = self._solver_options()
        options["tol"] *= self._scale(K)
        result = solve(problem, start=start, **options)
        self.alpha_ = np.zeros(n)
        self.alpha_[active] = result.a
        self.intercept_ = np.zeros(1)
        self._describe(result, K, problem)
        self._store_expansion(X, self.alpha_[None, :])
        positive = result.a > 0
        self.free_support_ = active[positive & (result.a < problem.upper)]
        self.bounded_support_ = active[positive & (result.a >= problem.upper)]
        self.kkt_violation_ = float(result.violation or 0.0)
        self.n_iter_ = max(1, result.iterations)
        self.status_ = str(result.status)
        self._note_place(K, [result.precision])
        self._report([result.status])

    def decision_function(self, X: Any) -> np.ndarray:
        """``score_samples(X) - offset_``: not negative for samples of the described class."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """1 for samples of the described class, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class OneClassSVM(NoveltyMachine):
    """Outlier detection by the hyperplane farthest from the origin.

    Maximises ``rho - ½‖w‖² - Σ ξ_i / (nu n)`` (up to scale) subject to ``⟨w, φ(x_i)⟩ ≥ rho - ξ_i``.
    At most a fraction ``nu`` of the samples falls outside, and at least a fraction ``nu`` are
    support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        Fraction of outliers admitted, in (0, 1].
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`SVC`.
    gamma, degree, coef0, solver, warm_start, cache_mb, max_iter, device, verbose
        As in :class:`SVC`.
    tol : float, default=1e-3
        Largest violation of the KKT conditions accepted, relative to the largest ``K(x, x)``; far
        from the origin of the feature space, to how much products with ``w`` differ there.

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
    kkt_violation_ : float
        Largest violation of the KKT conditions, in the unit of kernel values.
    n_iter_, status_, device_, kernel_
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
        device: str | None = None,
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
        self.device = device
        self.verbose = verbose

    _movable = False  # the plane is the one farthest from the origin

    def _problem(self, K: QMatrix, weight: np.ndarray) -> QuadraticProblem:
        return one_class_problem(K, self.nu, weight)

    def _scale(self, K: QMatrix) -> float:
        return super()._scale(K) * self._contrast(K)

    def _contrast(self, K: QMatrix) -> float:
        """How gradients differ, as a fraction of their size.

        They are products with the normal, and far from the origin all are nearly the same: they
        differ as the products with one sample do, or as far as the samples are apart.
        """
        size = super()._scale(K)
        products = np.ptp(np.asarray(K.rows(np.zeros(1, dtype=np.intp))[0], dtype=np.float64))
        apart = squared_spread(K) - 4.0 * K.rounding_error  # a difference of products itself
        return float(np.clip(max(products / size, np.sqrt(max(apart, 0.0) / size)), 1e-16, 1.0))

    def _describe(self, result: QPResult, K: QMatrix, problem: QuadraticProblem) -> None:
        level = least_gradient(result, problem)
        self.offset_ = level - max(ON_BOUNDARY * self._contrast(K), _LAST_DIGITS) * abs(level)
        self.intercept_ = np.array([-self.offset_])
        self.dual_objective_ = -float(result.objective or 0.0)
        self.duality_gap_ = result.gap

    def score_samples(self, X: Any) -> np.ndarray:
        """``⟨w, φ(x)⟩`` at the rows of ``X``."""
        values = self._expansion(self._check_table(X, reset=False))[:, 0]
        return values - self.intercept_[0]


class SVDD(NoveltyMachine):
    """Smallest ball around the data in feature space, a fraction of the samples outside if wanted.

    Solves ``max Σ β_i K_ii - Σ β_i β_l K_il`` subject to ``Σ β = 1``, ``β ≥ 0``, whose value is the
    squared radius; with ``nu > 0`` every ``β_i`` is bounded by ``1 / (nu n)``, which lets at most a
    fraction ``nu`` of the samples out of the ball.

    Parameters
    ----------
    nu : float, default=0.1
        Fraction of samples that may lie outside, in [0, 1]; zero encloses all.
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`SVC`.
    gamma, degree, coef0, solver, warm_start, cache_mb, max_iter, device, verbose
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
    kkt_violation_, n_iter_, status_, device_, kernel_
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
        device: str | None = None,
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
        self.device = device
        self.verbose = verbose

    def _problem(self, K: QMatrix, weight: np.ndarray) -> QuadraticProblem:
        with np.errstate(over="ignore"):  # no bound at all
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
            beyond = outside > 0
            self.objective_ = squared + float(problem.upper[beyond] @ outside[beyond])
        else:  # no sample may be outside, however loose the tolerance
            squared = max(0.0, float(distances.max()))
            self.objective_ = squared
        self.squared_radius_ = squared
        self.radius_ = float(np.sqrt(squared))
        rounding = 4.0 * K.rounding_error  # a distance is made of four kernel values
        self.offset_ = -squared - max(ON_BOUNDARY * max(squared, 1e-300), rounding)
        self.dual_objective_ = -2.0 * result.objective
        self.duality_gap_ = max(0.0, self.objective_ - self.dual_objective_)
        constant = float(np.ptp(diag)) <= 1e-9 * max(1.0, float(np.abs(diag).max()))
        self._constant_diag = float(diag[0]) if constant else None

    def _normal(self) -> None:
        """None: distances from a centre are not linear, whatever the kernel."""

    def kernel_expansion(self) -> KernelExpansion:
        """The decision values, as a function of samples that are rows of numbers."""
        found = super().kernel_expansion()
        constant = np.array([-self._center_norm - self.offset_])
        return found._replace(coef=2.0 * found.coef, own=-1.0, intercept=constant)

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the squared distance of the rows of ``X`` from the centre."""
        X = self._check_table(X, reset=False)
        values = self._expansion(X)[:, 0]
        if not self._is_precomputed():
            with np.errstate(over="ignore"):
                own: Any = self.kernel_.diag(self._measured(X))
        elif self._constant_diag is not None:
            own = self._constant_diag
        else:
            raise ValueError(
                "The distance of new samples needs their kernel values with themselves, which a "
                'precomputed matrix does not hold. Use kernel="precomputed" with a kernel whose '
                "diagonal is constant, or pass the kernel itself."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            scores = -(own - 2.0 * values + self._center_norm)
        if self._is_precomputed() and not np.isfinite(scores).all():
            raise ValueError(TOO_LARGE)
        # farther away than float64 can say is outside of any ball
        return np.where(np.isfinite(scores), scores, -np.finfo(np.float64).max)
