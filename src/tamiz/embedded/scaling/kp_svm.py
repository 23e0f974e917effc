"""The kernel-penalised machine."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.embedded.scaling.machines import LEAST, DualOptimum, Sample, Value
from tamiz.embedded.scaling.path import Domain, Rule, ScalingPlan
from tamiz.embedded.scaling.selector import SCALING_CONSTRAINTS, ScalingSelector, Task
from tamiz.kernels import RBF, Kernel
from tamiz.validation import TOO_LARGE, check_penalties

AUTO = 0.1  # penalty of all features together, as a fraction of the objective in the beginning


class PenalisedOptimum(DualOptimum):
    """``D(v) + penalty * Σ (1 - exp(-beta v_j))``."""

    def __init__(self, kernel: Kernel, sample: Sample, penalty: float, beta: float):
        super().__init__(kernel, sample)
        self.penalty = penalty
        self.beta = beta

    def at(self, sigma: np.ndarray, warm: np.ndarray | None = None) -> Value:
        machine = super().at(sigma, warm)
        spared = np.exp(-self.beta * sigma)
        return Value(
            machine.value + self.penalty * float(np.sum(1.0 - spared)),
            machine.gradient,
            self.penalty * self.beta * spared,
            machine.warm,
        )


class KPSVM(ScalingSelector):
    """Machine with a Gaussian kernel that pays for every feature it looks at.

    The kernel has a rate of its own for each feature,

        ``K(x, x') = exp(-Σ v_j² (x_j - x'_j)²)``,

    and the rates solve ``min_v D(v) + penalty · Σ (1 - exp(-beta v_j))``, ``v >= 0``, where
    ``D(v)`` is the optimum of the machine, ``½‖w‖² + C Σ ξ``: of a classifier, or for a numeric
    target of a support vector regression (KP-SVR). The penalty approaches the number of
    features in use. All rates are equal in the beginning; they move downhill, with the machine
    solved anew at every step. Features whose rate falls below ``epsilon`` are dropped. Then the
    feature with the least rate is taken out and the others adapt, as long as the objective does
    not rise: that is where the method stops by itself. The ranking goes on down to one feature.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of the features. By itself the method takes those that are left when
        the objective stops improving.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a selector is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    C : float, default=1.0
        Penalty on violations of the margin, or on residuals outside the tube.
    tube : float, default=0.1
        Half-width of the tube, in units of the target, which :class:`~tamiz.svm.SVR` calls
        ``epsilon``; for a regression only.
    scale_target : bool, default=False
        Measure ``C`` and ``tube`` in standard deviations of the target, so that its unit does not
        matter; for a regression only.
    gamma : float, "scale" or "auto", default="scale"
        The rates are ``√gamma`` in the beginning: the machine starts as ``SVC(C, gamma=gamma)``.
    penalty : float or "auto", default="auto"
        Penalty on each feature. "auto" makes the largest possible penalty, that of all features, a
        tenth of ``D`` in the beginning. 0 leaves the elimination to the machine alone.
    beta : float or "auto", default="auto"
        How fast the penalty of a feature rises with its rate; "auto" is ``1 / √gamma``. The product
        ``beta · v_j`` counts: from about 3 on, a feature costs the full penalty.
    epsilon : float, default=0.01
        Features are dropped when their rate falls below this fraction of the rate in the beginning.
    limit_total : bool, default=True
        Let the sum of ``v_j²`` not exceed what it is in the beginning, so that the kernel as a
        whole gets no narrower. Without this limit and with a large ``C`` the objective is often
        least for a kernel so narrow that every sample resembles itself only.
    max_factor : float, default=None
        If given, every rate is confined to ``[0, max_factor · √gamma]``, in place of the sum of
        their squares: with 1 no feature is looked at more closely than in the beginning.
    step : int, float or "half", default=1
        How many features leave at a time after the first descent: a number, a fraction of those
        still there, or half of them.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    max_iter : int, default=200
        Largest number of steps of each descent.
    tol : float, default=1e-3
        A descent ends when three steps together lower the objective by less than this fraction. An
        elimination that raises the objective by no more than this fraction does not count as a
        rise.
    verbose : bool or int, default=0
        Show progress.
    checkpoint : str or path, optional
        File in which the state of the run is kept.
    resume : bool, default=False
        Go on from the state in ``checkpoint``.

    Attributes
    ----------
    scale_ : array of shape (n_features,)
        The rates ``v``; zero for features not selected, and for those that were asked for beyond
        the ones that the method kept.
    widths_ : array of shape (n_features,)
        ``1 / (√2 v_j)``: the kernel of one feature alone is ``RBF(width=widths_[j])``. Infinite
        where the rate is zero, for then the machine does not look at the feature.
    penalty_, beta_ : float
        The numbers that were used.
    estimator_ : SVC or SVR
        The machine on the selected features times their rates; ``predict`` uses it.
    objective_ : float or None
        ``D`` plus the penalty at these rates (of several classes: ``D`` summed over all pairs).
    history_ : array
        The objective at the beginning, after each step of the first descent, and after each
        elimination that lowered it further. It never rises.
    n_iter_ : int
        Steps over all descents.
    status_ : str
        "converged", "max_iter" or "interrupted". ``selection_.notes["n_failed"]`` counts machines
        on the way that could not be solved up to their tolerance; a warning reports them.
    kernel_ : Kernel
        The kernel of ``estimator_``, Gaussian with rate 1.
    classes_ : array
        Class labels; not for a regression.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    support_, ranking_, order_, selection_
        As for every selector; ``selection_.path`` holds the objective for each number of features.

    See Also
    --------
    AdaptiveScaling : Factors under a constraint on their norm, for any kernel.
    RadiusMarginScaling : Factors by a bound on the leave-one-out error.

    References
    ----------
    .. [1] S. Maldonado, R. Weber, J. Basak (2011). Simultaneous feature selection and
           classification using kernel-penalized support vector machines. Information Sciences 181.

    Examples
    --------
    The class is the exclusive or of the first two of ten features:

    >>> import numpy as np
    >>> from tamiz.embedded import KPSVM
    >>> X = np.random.default_rng(0).standard_normal((100, 10))
    >>> y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    >>> selector = KPSVM().fit(X, y)
    >>> sorted(selector.order_[:2].tolist())
    [0, 1]

    A numeric target, the product of the two:

    >>> selector = KPSVM(task="regression").fit(X, X[:, 0] * X[:, 1])
    >>> sorted(selector.order_[:2].tolist())
    [0, 1]
    """

    _tables = 7  # of the size of X, that a fit works on
    _parameter_constraints: dict[str, list[Any]] = {
        **SCALING_CONSTRAINTS,
        "penalty": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="left")],
        "beta": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="neither")],
        "epsilon": [Interval(Real, 0.0, 1.0, closed="left")],
        "limit_total": ["boolean"],
        "max_factor": [Interval(Real, 0.0, None, closed="neither"), None],
        "tube": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: Any = None,
        *,
        task: str = "classification",
        C: float = 1.0,
        tube: float = 0.1,
        scale_target: bool = False,
        gamma: float | str = "scale",
        penalty: float | str = "auto",
        beta: float | str = "auto",
        epsilon: float = 0.01,
        limit_total: bool = True,
        max_factor: float | None = None,
        step: int | float | str = 1,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        verbose: bool | int = 0,
        checkpoint: Any = None,
        resume: bool = False,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.C = C
        self.tube = tube
        self.scale_target = scale_target
        self.gamma = gamma
        self.penalty = penalty
        self.beta = beta
        self.epsilon = epsilon
        self.limit_total = limit_total
        self.max_factor = max_factor
        self.step = step
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.resume = resume

    def _tube(self) -> float:
        return float(self.tube)

    def _kernel(self) -> Kernel:
        return RBF(gamma=self.gamma)

    def _task(self, kernel: Kernel, sample: Sample, useful: np.ndarray, wanted: int | None) -> Task:
        assert isinstance(kernel, RBF)
        v0, cap = float(np.sqrt(kernel.rate)), np.inf
        if self.max_factor is not None:
            check_penalties(self.max_factor, "max_factor")
            cap = float(self.max_factor) * v0
        start = min(v0, cap)
        if not start > LEAST:
            raise ValueError(TOO_LARGE)
        unit = RBF(gamma=1.0)
        self.beta_ = 1.0 / v0 if isinstance(self.beta, str) else float(self.beta)
        if isinstance(self.penalty, str):
            first = DualOptimum(unit, sample).at(np.where(useful, start, 0.0)).value
            self.penalty_ = AUTO * first / int(useful.sum())
        else:
            self.penalty_ = float(self.penalty)
        objective = PenalisedOptimum(unit, sample, self.penalty_, self.beta_)
        total = v0**2 * int(useful.sum()) if self.limit_total and cap == np.inf else None
        floor = self.epsilon * start
        domain = Domain(1.0, total=total, at_most=True, floor=floor, final=True, cap=cap)
        plan = ScalingPlan(domain, Rule.IMPROVING, wanted, self._step, self.max_iter, self.tol)
        return Task(objective, plan, start, unit)

    @property
    def widths_(self) -> np.ndarray:
        """The width of each feature's Gaussian."""
        with np.errstate(divide="ignore"):
            return 1.0 / (np.sqrt(2.0) * self.scale_)
