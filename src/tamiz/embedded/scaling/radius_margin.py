"""Scaling factors by estimates of the leave-one-out error: the radius-margin bound, or spans."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.embedded.scaling.machines import Objective, RadiusMargin, Sample, SpanEstimate
from tamiz.embedded.scaling.path import Domain, Rule, ScalingPlan
from tamiz.embedded.scaling.selector import (
    KERNEL_CONSTRAINTS,
    SCALING_CONSTRAINTS,
    ScalingSelector,
    Task,
)
from tamiz.kernels import Kernel
from tamiz.validation import check_penalties


class RadiusMarginScaling(ScalingSelector):
    """Selection by scaling factors that minimise the radius-margin bound.

    Every feature is multiplied by a factor ``σ_j >= 0``, and the factors are moved downhill on

        ``R²(σ) · ‖w‖²(σ)``,

    the squared radius of the smallest ball around the samples in the space of the kernel
    ``K(σ * x, σ * x')`` over the squared margin in it. Four times this product bounds the number
    of leave-one-out errors. ``criterion="span"`` minimises a closer estimate of that number
    instead. For a numeric target ``w`` is that of a support vector regression with squared slack;
    the product then measures how large the ball is beside how flat the function is, and is related
    to a bound on the leave-one-out error [3]_ but not one itself. Features whose factor becomes
    zero leave; then those with the least factors are taken out step by step, with the other
    factors adapted each time, down to one.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of the features. By itself the method takes the fewest features whose
        bound is the least met on the way, up to the fraction ``tol``.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a selector is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    criterion : {"radius_margin", "span"}, default="radius_margin"
        What is minimised: the bound, or the smoothed number of leave-one-out errors by the spans
        of the support vectors, see :func:`tamiz.svm.span_bound`. The latter is closer to the
        truth, has more local minima, and inverts the matrix of support vectors at each step.
    C : float, default=1.0
        Penalty on violations of the margin, or on residuals outside the tube. The factors are
        found with squared slack, ``½‖w‖² + (C/2) Σ ξ²``, for which the bound holds;
        ``estimator_`` is an ordinary :class:`~tamiz.svm.SVC` or :class:`~tamiz.svm.SVR`.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Measure ``C`` and ``epsilon`` in standard deviations of the target, so that its unit does
        not matter; for a regression only.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", or an object of :mod:`tamiz.kernels`, composites
        included. Functions have no derivative and are refused.
    gamma : float, "scale" or "auto", default="scale"
        Factor of the kernels given by name.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    step : int, float or "half", default=1
        How many features leave at a time after the first descent: a number, a fraction of those
        still there, or half of them.
    normalize : bool, default=True
        Keep the sum of the squared factors at the number of features that are not constant. With
        a linear kernel a common factor of all features does the same as another ``C``. With a
        Gaussian kernel it is the rate ``gamma``, and where classes overlap and ``C`` is large the
        bound is least for factors so large that every sample resembles itself only: let the
        scale go free only with a small ``C`` or well separated classes. Without effect if
        ``max_factor`` is given.
    max_factor : float, default=None
        If given, factors are confined to ``[0, max_factor]``, in place of their sum of squares.
        1 is the original proposal: features can only be made smaller.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    max_iter : int, default=200
        Largest number of steps of each descent.
    tol : float, default=1e-3
        A descent ends when three steps together lower the objective by less than this fraction.
    verbose : bool or int, default=0
        Show progress.
    checkpoint : str or path, optional
        File in which the state of the run is kept.
    resume : bool, default=False
        Go on from the state in ``checkpoint``.

    Attributes
    ----------
    scale_ : array of shape (n_features,)
        Factors with which ``estimator_`` sees the features; zero for those not selected.
    estimator_ : SVC or SVR
        The machine on the selected features times their factors; ``predict`` uses it.
    objective_ : float or None
        ``R²‖w‖²`` of the selected features, or the number of errors by their spans (of several
        classes: the sum over all pairs).
    history_ : array
        The objective at the beginning, after each step of the first descent, and after each
        elimination that lowered it further. It never rises.
    n_iter_ : int
        Steps over all descents.
    status_ : str
        "converged", "max_iter" or "interrupted". ``selection_.notes["n_failed"]`` counts machines
        on the way that could not be solved up to their tolerance; a warning reports them.
    kernel_ : Kernel
        The kernel with all its parameters.
    classes_ : array
        Class labels; not for a regression.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    support_, ranking_, order_, selection_
        As for every selector; ``selection_.path`` holds the objective for each number of features.

    See Also
    --------
    AdaptiveScaling : Factors under a constraint on their norm that minimise the machine's own
        objective.
    KPSVM : Factors of a Gaussian kernel under a penalty.
    tamiz.svm.radius_margin_bound : The bound of one fitted machine.
    tamiz.svm.span_bound : The estimate of one fitted machine.

    References
    ----------
    .. [1] J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio, V. Vapnik (2001). Feature
           selection for SVMs. Advances in Neural Information Processing Systems 13.
    .. [2] O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee (2002). Choosing multiple parameters
           for support vector machines. Machine Learning 46.
    .. [3] M.-W. Chang, C.-J. Lin (2005). Leave-one-out bounds for support vector regression model
           selection. Neural Computation 17.

    Examples
    --------
    The class is the exclusive or of the first two of ten features:

    >>> import numpy as np
    >>> from tamiz.embedded import RadiusMarginScaling
    >>> X = np.random.default_rng(0).standard_normal((100, 10))
    >>> y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    >>> selector = RadiusMarginScaling().fit(X, y)
    >>> sorted(selector.order_[:2].tolist())
    [0, 1]

    A numeric target, the product of the two:

    >>> selector = RadiusMarginScaling(task="regression").fit(X, X[:, 0] * X[:, 1])
    >>> sorted(selector.order_[:2].tolist())
    [0, 1]
    """

    _tables = 7  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        **SCALING_CONSTRAINTS,
        **KERNEL_CONSTRAINTS,
        "normalize": ["boolean"],
        "criterion": [StrOptions({"radius_margin", "span"})],
        "max_factor": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    _squared = True

    def __init__(
        self,
        n_features_to_select: Any = None,
        *,
        task: str = "classification",
        criterion: str = "radius_margin",
        C: float = 1.0,
        epsilon: float = 0.1,
        scale_target: bool = False,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        step: int | float | str = 1,
        normalize: bool = True,
        max_factor: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        verbose: bool | int = 0,
        checkpoint: Any = None,
        resume: bool = False,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.criterion = criterion
        self.C = C
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.step = step
        self.normalize = normalize
        self.max_factor = max_factor
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.resume = resume

    def _task(self, kernel: Kernel, sample: Sample, useful: np.ndarray, wanted: int | None) -> Task:
        if self.criterion == "span" and self.task_ == "regression":
            raise ValueError(
                "criterion='span' counts errors of classification, and y is taken as numbers; use "
                "criterion='radius_margin'."
            )
        mixed = not kernel.any_width  # the squares of the factors do not tell all
        cap = np.inf if self.max_factor is None else float(self.max_factor)
        if cap < np.inf:
            check_penalties(cap, "max_factor")
        summed = self.normalize and self.max_factor is None
        total = float(useful.sum()) if summed else None
        domain = Domain(total=total, final=mixed, cap=cap)
        plan = ScalingPlan(domain, Rule.LEAST, wanted, self._step, self.max_iter, self.tol)
        return Task(_CRITERIA[self.criterion](kernel, sample), plan, min(1.0, cap), kernel)


_CRITERIA: dict[str, type[Objective]] = {"radius_margin": RadiusMargin, "span": SpanEstimate}
