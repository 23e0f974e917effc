r"""What machines say about themselves and their data: the radius-margin bound, separability.

Whether a hyperplane can separate two classes is answered with a proof. The linear program

.. math::

    \min_{w, b, \xi \ge 0} \sum_i \xi_i
    \quad\text{s.t.}\quad y_i(\langle w, z_i\rangle + b) \ge 1 - \xi_i

has optimum zero if and only if the classes can be separated. If not, its multipliers
``0 ≤ λ_i ≤ 1`` satisfy ``Σ λ_i y_i z_i = 0`` and ``Σ λ_i y_i = 0``: scaled to sum one in each class
they are the weights of a point that both convex hulls share. That point is the proof.

For kernels the ``z_i`` are coordinates in feature space: rows of a factor ``L`` with ``K = LL'``,
measured from the first sample and found by pivoted Cholesky. Samples that are affinely independent
there, as those of a radial kernel are, can be separated whatever their labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.optimize import linprog
from sklearn.utils.validation import check_is_fitted

from tamiz.display import frame_in_notebook, frames
from tamiz.qp import QMatrix, ShiftedQ, svc_problem, svdd_problem
from tamiz.solvers import solve
from tamiz.svm.novelty import squared_spread
from tamiz.svm.svc import KernelClassifier
from tamiz.validation import check_classes, instance_of

if TYPE_CHECKING:
    import pandas as pd


class RadiusMargin(NamedTuple):
    """The quantities of the radius-margin bound."""

    radius_squared: float  # of the smallest ball around the training samples
    weight_squared: float  # ||w||^2 = 1 / margin^2
    value: float  # 4 R^2 ||w||^2
    is_bound: bool  # whether ``value`` bounds the number of leave-one-out errors

    def __str__(self) -> str:
        word = "bound on" if self.is_bound else "estimate, not a bound, of"
        return f"{self.value:.4g} ({word} the number of leave-one-out errors)"

    def to_frame(self) -> pd.DataFrame:
        """One row with the quantities."""
        return frames().DataFrame([self._asdict()])

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(str(self), self.to_frame)


def radius_margin_bound(
    svc: KernelClassifier, X: Any, y: Any, *, squared_slack: bool = False
) -> RadiusMargin:
    """``4 R²‖w‖²``, which bounds the number of leave-one-out errors of a maximum-margin machine.

    Parameters
    ----------
    svc : SVC or HardMarginSVC
        A machine fitted to ``X`` and ``y``, two classes.
    X : array-like of shape (n_samples, n_features)
        The training samples (their kernel matrix if precomputed).
    y : array-like of shape (n_samples,)
        The class labels.
    squared_slack : bool, default=False
        Refit with squared slack, ``½‖w‖² + (C/2) Σ ξ²``, which is a hard margin for the kernel
        ``K + I/C`` and for which the bound holds even if the classes overlap. Class weights are
        respected, sample weights of the fit are not.

    Returns
    -------
    result : RadiusMargin
        Named tuple ``(radius_squared, weight_squared, value, is_bound)``. For a machine with
        linear slack in use the value is only an estimate.

    Notes
    -----
    The bound is 4 R²‖w‖² in the count of errors, so it is informative only where it is below the
    number of samples.

    References
    ----------
    .. [1] V. Vapnik, O. Chapelle (2000). Bounds on error expectation for support vector machines.
           Neural Computation 12.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.svm import HardMarginSVC, radius_margin_bound
    >>> X, y = np.array([[-3.0], [-2.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> result = radius_margin_bound(HardMarginSVC().fit(X, y), X, y)
    >>> round(result.radius_squared, 6), round(result.weight_squared, 6), result.is_bound
    (9.0, 0.25, True)
    """
    data = machine_data(svc, X, y, "radius_margin_bound")
    K, signs = data.K, data.signs
    options = svc._solver_options()
    if squared_slack:
        K = ShiftedQ(K, 1.0 / data.penalties())
        result = solve(svc_problem(K, signs, np.inf), **options)
        assert result.gradient is not None
        weight_squared = float(result.a @ (result.gradient + 1.0))
        exact = True
    else:
        weight_squared = 1.0 / float(svc.margin_) ** 2
        exact = float(np.nanmax(svc.slack_)) <= 10 * svc.tol
    radius_squared = squared_radius(K, **options)
    value = 4.0 * radius_squared * weight_squared
    return RadiusMargin(radius_squared, weight_squared, value, exact)


class MachineData(NamedTuple):
    """The data of a fitted machine of two classes, checked against it."""

    K: QMatrix
    signs: np.ndarray
    codes: np.ndarray
    svc: KernelClassifier

    def penalties(self) -> np.ndarray:
        """The penalty of each sample, where all have the weight 1."""
        if not hasattr(self.svc, "C"):
            raise ValueError(
                f"squared_slack=True needs the penalty C of an SVC; {type(self.svc).__name__} "
                "has none."
            )
        return self.svc._upper_bounds(self.codes, np.ones(len(self.signs)))


def machine_data(svc: KernelClassifier, X: Any, y: Any, name: str) -> MachineData:
    """Check that the function ``name`` can speak about a machine and the data it was fitted to."""
    require_two_classes(svc, name)
    X = svc._check_table(X, reset=False)
    labels = check_classes(y, X.shape[0])
    if not np.array_equal(svc.classes_, labels.classes):
        raise ValueError(
            f"y holds the classes {labels.classes.tolist()}, the machine was fitted to "
            f"{svc.classes_.tolist()}; pass the data of the fit."
        )
    if X.shape[0] != len(svc.slack_):
        raise ValueError(
            f"X has {X.shape[0]} rows, the machine was fitted to {len(svc.slack_)}; pass the data "
            "of the fit."
        )
    K = svc._gram_matrix(X, np.inf)
    return MachineData(K, np.where(labels.codes == 1, 1.0, -1.0), labels.codes, svc)


def require_two_classes(svc: KernelClassifier, name: str) -> None:
    """Refuse machines that the function ``name`` cannot speak about."""
    instance_of(KernelClassifier, f"{name} takes a fitted SVC, HardMarginSVC or BudgetSVC.")(
        "svc", svc
    )
    check_is_fitted(svc)
    if len(svc.classes_) != 2:
        raise ValueError(
            f"{name} needs two classes; the machine has {len(svc.classes_)}. Apply it to "
            "each pair of classes."
        )


def squared_radius(K: QMatrix, **options: Any) -> float:
    """Squared radius of the smallest ball around all samples; ``options`` go to the solver."""
    problem = svdd_problem(K, np.inf)
    options = {**options, "tol": options.get("tol", 1e-3) * 0.1 * squared_spread(K)}
    result = solve(problem, **options)
    assert result.gradient is not None
    # of the ball with this centre that holds every sample: never too small
    centre = float(result.a @ (result.gradient - problem.p))
    return max(0.0, centre - 2.0 * float(result.gradient.min()))


class NotSeparableError(ValueError):
    """The classes cannot be separated without error.

    Attributes
    ----------
    certificate : array or None
        Weights of the samples, not negative and of sum one in each class, whose two weighted means
        coincide in feature space.
    distance : float
        Distance of the two means relative to the size of the data: zero up to rounding.
    """

    def __init__(self, message: str, certificate: np.ndarray | None = None, distance: float = 0.0):
        super().__init__(message)
        self.certificate = certificate
        self.distance = distance


class Verdict(NamedTuple):
    """Whether the classes can be separated; if not, the weights of a common point."""

    separable: bool
    certificate: np.ndarray | None
    distance: float


#: A common point is accepted as a proof when the two means are this close, relative to the data.
_COINCIDE = 1e-6
#: Directions of the feature space have a squared length above this, relative to the data ...
_RANK_TOL = 1e-12
#: ... and above this relative to the kernel values, since rounding of these makes directions too.
_RANK_ROUNDING = 32.0 * float(np.finfo(np.float64).eps)


def separability(K: np.ndarray, signs: np.ndarray) -> Verdict:
    """Decide whether labels ±1 can be separated in the feature space of a Gram matrix."""
    Z = feature_coordinates(K)
    if _independent(Z):
        return Verdict(True, None, np.inf)
    Z = _standard(Z)
    answer = _slack_program(Z, signs, np.ones(len(K)))
    if not answer.success:
        return Verdict(True, None, np.nan)  # not shown to be inseparable
    w, b = answer.x[: Z.shape[1]], answer.x[Z.shape[1]]
    if (signs * (Z @ w + b) > 0).all():
        return Verdict(True, None, np.inf)
    multipliers = np.maximum(0.0, -np.asarray(answer.ineqlin.marginals))
    return _verify(Z, signs, multipliers)


def least_slack(K: np.ndarray, signs: np.ndarray, weight: np.ndarray) -> float:
    """The least sum ``Σ weight_i ξ_i`` of any hyperplane; NaN if it cannot be said.

    So it is where the linear program fails, or the kernel has no feature space.
    """
    Z = feature_coordinates(K)
    if _independent(Z):
        return 0.0
    moved = from_first(K)
    size = np.abs(moved.diagonal()).max(initial=0.0)
    if np.abs(Z @ Z.T - moved).max() > max(1e-6 * size, len(K) * _rounding(K)):
        return np.nan
    answer = _slack_program(_standard(Z), signs, weight)
    return float(answer.fun) if answer.success else np.nan


def from_first(K: np.ndarray) -> np.ndarray:
    """Inner products measured from the first sample: no hyperplane depends on the origin."""
    return np.asarray(K - K[0] - K[:, :1] + K[0, 0])


def _standard(Z: np.ndarray) -> np.ndarray:
    """Coordinates measured from their mean, in units of the largest distance from it."""
    rounding = 8.0 * np.finfo(np.float64).eps * float(np.abs(Z).max(initial=0.0))
    Z = Z - Z.mean(axis=0)
    Z[np.abs(Z) <= rounding] = 0.0  # or the units would blow up what rounding left of equal samples
    return np.asarray(Z / (float(np.sqrt((Z**2).sum(axis=1).max())) or 1.0))


def _slack_program(Z: np.ndarray, signs: np.ndarray, weight: np.ndarray) -> Any:
    """Minimise the weighted slack over ``w``, ``b`` and ``ξ``, in that order."""
    n, r = Z.shape
    A = sparse.hstack(
        [
            sparse.csr_array(-signs[:, None] * Z),
            sparse.csr_array(-signs[:, None]),
            -sparse.csr_array(sparse.identity(n, format="csr")),
        ],
        format="csc",
    )
    cost = np.concatenate([np.zeros(r + 1), weight])
    bounds = [(None, None)] * (r + 1) + [(0, None)] * n
    return linprog(cost, A_ub=A, b_ub=np.full(n, -1.0), bounds=bounds, method="highs")


def _verify(Z: np.ndarray, signs: np.ndarray, multipliers: np.ndarray) -> Verdict:
    positive, negative = signs > 0, signs < 0
    totals = multipliers[positive].sum(), multipliers[negative].sum()
    if min(totals) <= 0:
        return Verdict(True, None, np.nan)
    weights = np.where(positive, multipliers / totals[0], multipliers / totals[1])
    distance = float(np.linalg.norm((signs * weights) @ Z))
    if distance > _COINCIDE:
        return Verdict(True, None, distance)
    return Verdict(False, weights, distance)


def feature_coordinates(K: np.ndarray) -> np.ndarray:
    """Coordinates of the samples in feature space, measured from the first sample.

    They are the rows of ``L`` with ``LL'`` the inner products from there, of numerical rank.
    """
    moved = from_first(K)
    n, size = len(K), float(np.abs(moved.diagonal()).max(initial=0.0))
    factor, pivots, rank, _ = lapack.dpstrf(
        np.asfortranarray(moved, dtype=np.float64),
        tol=max(_RANK_TOL * size, _rounding(K), 1e-300),
        lower=1,
    )
    L = np.tril(factor)[:, :rank]
    coordinates = np.empty((n, rank))
    coordinates[pivots - 1] = L
    return coordinates


def _rounding(K: np.ndarray) -> float:
    """What rounding of kernel values can make of the squared length of a direction."""
    return _RANK_ROUNDING * float(np.abs(K.diagonal()).max(initial=0.0))


def _independent(Z: np.ndarray) -> bool:
    """Whether samples are affinely independent: the first one is the origin of ``Z``."""
    return Z.shape[1] >= len(Z) - 1
