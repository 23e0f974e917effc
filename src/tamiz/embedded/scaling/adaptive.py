"""Scaling factors adapted with the machine, under a constraint on their norm."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.embedded.scaling.machines import DualOptimum, Sample
from tamiz.embedded.scaling.path import Domain, Rule, ScalingPlan
from tamiz.embedded.scaling.selector import (
    KERNEL_CONSTRAINTS,
    SCALING_CONSTRAINTS,
    ScalingSelector,
    Task,
)
from tamiz.kernels import Kernel
from tamiz.validation import check_penalties


class AdaptiveScaling(ScalingSelector):
    """Selection by scaling factors of given norm that suit the machine best.

    Every feature is multiplied by a factor ``σ_j``; the factors solve

        ``min_σ max_α  Σ α_i - ½ Σ α_i α_l y_i y_l K(σ * x_i, σ * x_l)``

    subject to the constraints of the machine on ``α`` and ``σ >= 0``, ``‖σ‖_q = σ0``: the optimum
    ``½‖w‖² + C Σ ξ`` of the machine is made as small as factors of this norm allow. (A numeric
    target has the dual of :class:`~tamiz.svm.SVR` in its place.) Factors become
    exactly zero on the way, and those that are zero where the descent comes to rest are the
    features left out. For a linear kernel and ``q = 2`` the problem is convex, and its
    solution is the machine with the squared ℓ1 norm ``‖w‖₁² / (2 σ0²)`` in place of ``½‖w‖²``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of the features. By itself the method takes those whose factor is not
        zero at the optimum. Features asked for beyond these enter by rank, with the factor zero.
    q : float, default=2.0
        Which norm is held, from 0.25 to 2. Kernels depend on the squares of the factors, which 2
        leaves on a simplex; smaller values are stricter, and harder to optimise: a factor that has
        reached zero then stays there, and the descent ends in one of many low points. The few
        factors left share a norm that grows as ``p ** (1 / q)``, up to ``p ** 4``.
    sigma0 : float or None, default=None
        The norm. By default ``p ** (1 / q)`` for p features that are not constant, so that all
        factors are 1 in the beginning.
    constraint : {"equal", "at_most"}, default="equal"
        Whether the norm is ``sigma0`` or may be less. Less can only pay with kernels for which
        larger factors do harm, such as the Gaussian.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a selector is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    max_factor : float, default=None
        If given, no factor exceeds it; ``q`` must be 2 then, and the norm one that several choices
        of factors have: ``sigma0`` below ``max_factor * sqrt(p)``, or ``constraint="at_most"``.
    C : float, default=1.0
        Penalty on violations of the margin, or on residuals outside the tube.
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
        How many features leave at a time once the optimum is reached, for the ranking: a number, a
        fraction of those still there, or half of them.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    max_iter : int, default=500
        Largest number of steps of each descent.
    tol : float, default=1e-3
        A descent ends when three steps together lower the objective by less than this fraction. The
        first one, which decides what is selected by itself, must have come to rest besides: no
        factor whose square a further step along the projected gradient would change by more than
        0.3 % of the mean of those in use.
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
        The machine's optimum ``½‖w‖² + C Σ ξ`` at these factors (of several classes: the sum over
        all pairs).
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
    RadiusMarginScaling : Factors by a bound on the leave-one-out error.
    KPSVM : Factors of a Gaussian kernel under a penalty.

    References
    ----------
    .. [1] Y. Grandvalet, S. Canu (2003). Adaptive scaling for feature selection in SVMs. Advances
           in Neural Information Processing Systems 15.

    Examples
    --------
    The class is the exclusive or of the first two of ten features:

    >>> import numpy as np
    >>> from tamiz.embedded import AdaptiveScaling
    >>> X = np.random.default_rng(0).standard_normal((100, 10))
    >>> y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    >>> selector = AdaptiveScaling().fit(X, y)
    >>> sorted(selector.order_[:2].tolist())
    [0, 1]

    A numeric target, the product of the two:

    >>> selector = AdaptiveScaling(task="regression").fit(X, X[:, 0] * X[:, 1])
    >>> sorted(selector.order_[:2].tolist())
    [0, 1]
    """

    _tables = 7  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        **SCALING_CONSTRAINTS,
        **KERNEL_CONSTRAINTS,
        "q": [Interval(Real, 0.25, 2.0, closed="both")],
        "sigma0": [Interval(Real, 0.0, None, closed="neither"), None],
        "constraint": [StrOptions({"equal", "at_most"})],
        "max_factor": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_features_to_select: Any = None,
        *,
        q: float = 2.0,
        sigma0: float | None = None,
        constraint: str = "equal",
        task: str = "classification",
        max_factor: float | None = None,
        C: float = 1.0,
        epsilon: float = 0.1,
        scale_target: bool = False,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        step: int | float | str = 1,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = 500,
        tol: float = 1e-3,
        verbose: bool | int = 0,
        checkpoint: Any = None,
        resume: bool = False,
    ):
        self.n_features_to_select = n_features_to_select
        self.q = q
        self.sigma0 = sigma0
        self.constraint = constraint
        self.task = task
        self.max_factor = max_factor
        self.C = C
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.step = step
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.resume = resume

    def _task(self, kernel: Kernel, sample: Sample, useful: np.ndarray, wanted: int | None) -> Task:
        q, n_useful = float(self.q), int(useful.sum())
        total = float(n_useful)
        if self.sigma0 is not None:
            with np.errstate(over="ignore"):
                total = float(np.power(float(self.sigma0), q))
            check_penalties(total, "sigma0 ** q")
        final = q < 2.0 or not kernel.any_width
        cap = self._cap(q, total, n_useful)
        at_most = self.constraint == "at_most"
        domain = Domain(q=q, total=total, at_most=at_most, final=final, cap=cap)
        plan = ScalingPlan(domain, Rule.FIRST, wanted, self._step, self.max_iter, self.tol)
        factor = min((total / n_useful) ** (1.0 / q), cap)
        return Task(DualOptimum(kernel, sample), plan, factor, kernel)

    def _cap(self, q: float, total: float, n_useful: int) -> float:
        """The largest factor, if it leaves anything to choose."""
        cap = np.inf if self.max_factor is None else float(self.max_factor)
        if cap < np.inf:
            check_penalties(cap, "max_factor")
        if cap < np.inf and q != 2.0:
            raise ValueError(f"max_factor={cap:g} needs q=2; got q={q:g}. Leave one of them out.")
        if self.constraint == "equal" and n_useful * cap**2 <= total * (1.0 + 1e-9):
            raise ValueError(
                f"max_factor={cap:g} leaves {n_useful} factors of norm {np.sqrt(total):.6g} no "
                f"choice. Give a sigma0 below {cap * np.sqrt(n_useful):.6g}, or "
                'constraint="at_most".'
            )
        return cap
