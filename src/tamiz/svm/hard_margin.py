"""Hard-margin classification: the widest band between classes that can be separated."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from tamiz.qp import QMatrix, svc_problem
from tamiz.solvers import QPResult, Status, solve
from tamiz.svm.diagnostics import NotSeparableError, separability
from tamiz.svm.kernel_machine import KERNEL_CONSTRAINTS
from tamiz.svm.multiclass import BinaryFit, describe
from tamiz.svm.novelty import squared_spread
from tamiz.svm.svc import KernelClassifier
from tamiz.validation import TOO_FAR, by_keyword, unchanged_on_error

#: Steps per sample before the question of separability is put to a linear programme.
_FIRST_STEPS = 50
#: What hulls of samples have in common is not asked of kernel values whose error is a larger
#: fraction than this of the largest squared distance: it hides directions whose length is about a
#: thousandth of that distance.
_HIDDEN = 1e-7


class HardMarginSVC(KernelClassifier):
    """Maximum-margin classifier without slack.

    Minimises ``½‖w‖²`` subject to ``y_i (⟨w, φ(x_i)⟩ + b) ≥ 1``. Where no hyperplane of the feature
    space separates the classes, :class:`NotSeparableError` says so and carries the proof: weights
    of the samples for which the weighted means of both classes coincide.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        As in :class:`SVC`. A radial kernel separates any distinct samples.
    gamma, degree, coef0, multiclass, solver, tol, warm_start, cache_mb, max_iter, verbose
        As in :class:`SVC`.

    Attributes
    ----------
    alpha_, support_, support_vectors_, dual_coef_, intercept_, coef_, margin_
        As in :class:`SVC`; at the optimum ``‖w‖² = Σ alpha_``.
    slack_, free_support_, bounded_support_, status_, n_iter_
        As in :class:`SVC`; slack is zero up to the tolerance, no support vector is bounded.
    objective_, dual_objective_, duality_gap_, kkt_violation_
        As in :class:`SVC`. The primal objective is that of the weights scaled up until every
        sample keeps its distance, so that the gap is a bound.

    See Also
    --------
    SVC : Soft margin; violations are penalised by C.

    References
    ----------
    .. [1] B. Boser, I. Guyon, V. Vapnik (1992). A training algorithm for optimal margin
           classifiers. COLT.

    Examples
    --------
    >>> from tamiz import HardMarginSVC
    >>> machine = HardMarginSVC().fit([[147.0], [154.0], [170.0], [177.0]], [-1, -1, 1, 1])
    >>> round(float(-machine.intercept_[0] / machine.coef_[0, 0]), 6), round(machine.margin_, 6)
    (162.0, 8.0)
    """

    _exact = True
    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "multiclass": [StrOptions({"ovo", "ovr"})],
    }

    @by_keyword
    def __init__(
        self,
        kernel: Any = "linear",
        *,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        multiclass: str = "ovo",
        solver: str = "auto",
        tol: float = 1e-3,
        warm_start: bool = False,
        cache_mb: float = 2000.0,
        max_iter: int = -1,
        verbose: bool | int = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multiclass = multiclass
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.verbose = verbose

    def _takes_sparse(self) -> bool:
        return False  # the proof of inseparability works on the dense Gram matrix

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HardMarginSVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples, or their square matrix of kernel values if precomputed.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Samples of weight zero are left out; other weights matter only for ``gamma="scale"``.

        Returns
        -------
        self : HardMarginSVC

        Raises
        ------
        NotSeparableError
            If the classes cannot be separated.
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def _upper_bounds(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.full(len(codes), np.inf)

    def _fit_one(
        self, K: QMatrix, signs: np.ndarray, C: np.ndarray, start: np.ndarray | None
    ) -> BinaryFit:
        return fit_without_slack(K, signs, start, **self._solver_options())


def fit_without_slack(
    K: QMatrix, signs: np.ndarray, start: np.ndarray | None, *, max_iter: int, **options: Any
) -> BinaryFit:
    """Fit one machine without slack to labels ±1; options go to :func:`tamiz.solvers.solve`.

    Raises
    ------
    NotSeparableError
        If the classes cannot be separated.
    """
    C = np.full(K.n, np.inf)
    problem = svc_problem(K, signs, C)
    limit = max_iter if max_iter >= 0 else max(10_000, _FIRST_STEPS * K.n)
    result = solve(problem, start=start, max_iter=limit, **options)
    if result.status not in (Status.CONVERGED, Status.INTERRUPTED):
        _require_separable(K, signs, result)
        if max_iter < 0 and result.status is Status.MAX_ITER:
            result = solve(problem, start=result.a, max_iter=max_iter, **options)
    return _with_feasible_primal(describe(result, signs, C))


def _require_separable(K: QMatrix, signs: np.ndarray, result: QPResult) -> None:
    """Return if some hyperplane separates; raise with the certificate if none does."""
    assert result.gradient is not None
    decision = signs * (result.gradient + 1.0)  # without the intercept
    if result.status is Status.UNBOUNDED:
        require_digits(K, "Whether the classes can be separated")
    if decision[signs > 0].min() > decision[signs < 0].max():
        return
    verdict = separability(np.asarray(K.dense(), dtype=np.float64), signs)
    if not verdict.separable:
        require_digits(K, "Whether the classes can be separated")
        raise NotSeparableError(
            "The classes cannot be separated: their convex hulls share a point in the feature "
            "space of the kernel, so no hard margin exists. Use SVC, which admits slack at a "
            "penalty C, or a richer kernel.",
            verdict.certificate,
            verdict.distance,
        )


def require_digits(K: QMatrix, what: str) -> None:
    """Refuse to answer from kernel values whose rounding hides how the samples differ."""
    error = K.rounding_error
    if error > 0 and error > _HIDDEN * squared_spread(K) and not _all_equal(K.X):
        raise ValueError(f"{what} cannot be told: {TOO_FAR}")


def _all_equal(X: Any) -> bool:
    """Whether samples are known to be the same: no digits could tell them apart."""
    return isinstance(X, np.ndarray) and bool((X[:1] == X).all())


def _with_feasible_primal(fit: BinaryFit) -> BinaryFit:
    """Replace the primal objective by that of ``w`` scaled so that no slack is left.

    The slack of a hard-margin solution is a matter of tolerance; weights divided by one minus
    the largest slack satisfy every constraint, and their objective bounds the optimum from above.
    """
    worst = float(fit.slack.max(initial=0.0)) + fit.rounding
    half_norm = 0.5 / fit.margin**2
    primal = half_norm / (1.0 - worst) ** 2 if worst < 1.0 else np.inf
    return fit._replace(
        objective=primal, duality_gap=float(np.maximum(0.0, primal - fit.dual_objective))
    )
