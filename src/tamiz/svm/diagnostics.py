"""What a fitted machine says about its own error: the radius-margin bound."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.qp import QMatrix, ShiftedQ, svc_problem, svdd_problem
from tamiz.solvers import solve
from tamiz.svm.outlier import squared_spread
from tamiz.svm.svc import KernelClassifier
from tamiz.validation import check_classes


class RadiusMargin(NamedTuple):
    """The quantities of the radius-margin bound."""

    radius_squared: float  # of the smallest ball around the training samples
    weight_squared: float  # ||w||^2 = 1 / margin^2
    value: float  # 4 R^2 ||w||^2
    is_bound: bool  # whether ``value`` bounds the number of leave-one-out errors

    def __str__(self) -> str:
        word = "bound on" if self.is_bound else "estimate, not a bound, of"
        return f"{self.value:.4g} ({word} the number of leave-one-out errors)"


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
    X = svc._check_table(X, reset=False)
    labels = check_classes(y, X.shape[0])
    if len(labels.classes) != 2:
        raise ValueError(
            f"radius_margin_bound needs two classes; y has {len(labels.classes)}. Apply it to "
            "each pair of classes."
        )
    if not np.array_equal(svc.classes_, labels.classes):
        raise ValueError(
            f"y holds the classes {labels.classes.tolist()}, the machine was fitted to "
            f"{svc.classes_.tolist()}; hand over the data of the fit."
        )
    K = svc._gram_matrix(X, np.inf)
    options = svc._solver_options()
    if squared_slack:
        if not hasattr(svc, "C"):
            raise ValueError(
                "squared_slack=True needs the price C of an SVC; HardMarginSVC has none."
            )
        price = svc._upper_bounds(labels.codes, np.ones(X.shape[0]))
        K = ShiftedQ(K, 1.0 / price)
        signs = np.where(labels.codes == 1, 1.0, -1.0)
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


def squared_radius(K: QMatrix, **options: Any) -> float:
    """Squared radius of the smallest ball around all samples; ``options`` go to the solver."""
    problem = svdd_problem(K, np.inf)
    options = {**options, "tol": options.get("tol", 1e-3) * 0.1 * squared_spread(K)}
    result = solve(problem, **options)
    assert result.gradient is not None
    # of the ball with this centre that holds every sample: never too small
    centre = float(result.a @ (result.gradient - problem.p))
    return max(0.0, centre - 2.0 * float(result.gradient.min()))
