r"""Classification with a budget of slack: the total of the violations is given, not their penalty.

.. math::

    \min_{w, b, \xi} \; \tfrac12 \|w\|^2
    \quad\text{s.t.}\quad y_i(\langle w, \phi(x_i)\rangle + b) \ge 1 - \xi_i,\; \xi \ge 0,\;
    \sum_i c_i \xi_i \le K

The multiplier of the budget is the penalty ``C`` of the soft-margin machine. With ``D(C)`` the
optimum of that machine, the dual of the problem here is

.. math::

    \max_{C \ge 0} \; D(C) - C K, \qquad D'(C) = S(C) = \sum_i c_i \xi_i(C),

so that ``C`` is where the total slack ``S``, which falls as ``C`` grows, meets the budget. Between
the values of ``C`` at which a sample changes sides, dual variables, weights and slack are linear in
``C``: the secant through two machines of one such piece ends the search.

It also ends with a proof. Of two machines, one with more slack than allowed and one with less, a
convex combination meets the budget. Its dual variables are feasible for the same combination of
both ``C``, hence

.. math::

    \sum_i \alpha_i - \tfrac12 \|w\|^2 - C K \;\le\; \min \;\le\; \tfrac12 \|w\|^2 .

At ``C = 0`` there are no weights, and the slack is that of the rarer class, twice its number. No
budget below the least slack of any hyperplane can be met, which a linear program finds.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.qp import QMatrix, equality_multiplier, kkt_violation, svc_problem
from tamiz.solvers import QPResult, Status, solve
from tamiz.svm.diagnostics import least_slack
from tamiz.svm.hard_margin import fit_without_slack, require_digits
from tamiz.svm.kernel_machine import KERNEL_CONSTRAINTS
from tamiz.svm.multiclass import BinaryFit, Task, at_stake, describe
from tamiz.svm.svc import KernelClassifier
from tamiz.validation import (
    Labels,
    by_keyword,
    check_class_weight,
    check_penalties,
    depth_of_caller,
    unchanged_on_error,
)

#: Gap, relative to the objective and to ``tol``, at which the search for C ends; and where it ends
#: if the gaps of the two machines leave nothing to gain.
_EXACT, _GOOD = 1e-7, 1e-3
#: Factor of C while the budget is not met, and how often before it is asked whether it can be.
_GROWTH, _PATIENCE = 10.0, 3
#: Machines that a search may take, and those of them that may have too much slack at first.
_LIMIT, _GROWTHS = 100, 25


class BudgetSVC(KernelClassifier):
    """Support vector classifier with a budget of slack in place of the penalty C.

    Minimises ``½‖w‖²`` subject to ``y_i (⟨w, φ(x_i)⟩ + b) ≥ 1 - ξ_i``, ``ξ ≥ 0`` and
    ``Σ ξ_i ≤ budget``: the widest margin among the machines whose violations of it add up to no
    more than the budget. As a sample on the wrong side has a slack above 1, the budget also limits
    the number of training errors. The result is that of :class:`SVC` with the penalty ``C_``, which
    the budget determines; a budget of 0 is :class:`HardMarginSVC`.

    Parameters
    ----------
    budget : float, default=1.0
        Largest sum of the slacks, or with ``mean=True`` their largest mean. Of several classes,
        that of each machine.
    mean : bool, default=False
        Whether the budget is one for each sample: ``Σ ξ_i ≤ budget * n``.
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`SVC`.
    gamma, degree, coef0, multiclass, solver, tol, cache_mb, max_iter, verbose
        As in :class:`SVC`; ``tol`` also bounds the duality gap, relative to the objective.
    class_weight : dict, "balanced" or None, default=None
        Factors of the slack by class: ``Σ c_i ξ_i ≤ budget``.
    warm_start : bool, default=False
        Start the search from the previous ``C_`` and solution, as in :class:`SVC`.

    Attributes
    ----------
    C_ : float
        Penalty for which the soft-margin machine has this solution; 0 if the budget is so large
        that there are no weights. Of several classes, one for each machine, as for those below.
    total_slack_ : float
        ``Σ ξ_i``, weighted if samples or classes are.
    budget_ : float
        What it may be.
    objective_, dual_objective_, duality_gap_ : float
        ``½‖w‖²``, a lower bound of it, ``Σ α - ½‖w‖² - C_ budget_``, and their difference: no
        machine within the budget has a smaller ``½‖w‖²`` than the second.
    alpha_, support_, support_vectors_, dual_coef_, intercept_, coef_, margin_, slack_
        As in :class:`SVC`.
    free_support_, bounded_support_, kkt_violation_, n_iter_, status_, kernel_, classes_
        As in :class:`SVC` with ``C=C_``; ``n_iter_`` counts the steps of all machines on the way.

    Raises
    ------
    ValueError
        If no machine has so little slack; the sentence says how much is needed.

    See Also
    --------
    SVC : Penalty C in place of the budget.
    HardMarginSVC : No slack at all.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman (2009). The elements of statistical learning,
           section 12.2. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.svm import BudgetSVC, SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[50:], y[50:]
    >>> machine = BudgetSVC(20.0, kernel="linear").fit(X, y)
    >>> round(machine.total_slack_, 6), round(machine.C_, 4)
    (20.0, 0.1438)
    >>> same = SVC(C=machine.C_, kernel="linear").fit(X, y)
    >>> bool(abs(same.margin_ - machine.margin_) < 1e-6)
    True
    """

    _exact = True
    _parameter_constraints: dict[str, list[Any]] = {
        **KERNEL_CONSTRAINTS,
        "budget": [Interval(Real, 0.0, None, closed="left")],
        "mean": ["boolean"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    @by_keyword
    def __init__(
        self,
        budget: float = 1.0,
        *,
        mean: bool = False,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        multiclass: str = "ovo",
        solver: str = "auto",
        tol: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        cache_mb: float = 2000.0,
        max_iter: int = -1,
        verbose: bool | int = 0,
    ):
        self.budget = budget
        self.mean = mean
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multiclass = multiclass
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BudgetSVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, or their square matrix of kernel values if precomputed. With a kernel
            of strings a list, array, Series or single column of strings.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the slack by sample; a weight of zero leaves the sample out, a weight of k
            is the same as repeating it k times.

        Returns
        -------
        self : BudgetSVC
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, solution: Sequence[BinaryFit] | None = None
    ) -> None:
        before = getattr(self, "C_", None) if self.warm_start else None
        self._searches: list[BudgetFit] = []
        self._guesses = [] if before is None else np.ravel(before).tolist()
        super()._fit(X, y, sample_weight, solution)
        found, self._searches = self._searches, []
        n_loose = sum(search.loose for search in found)
        if n_loose:
            self._warn_of_loose(found, n_loose)
        for name in ("C", "total_slack", "budget"):
            values = [float(getattr(search, name)) for search in found]
            setattr(self, f"{name}_", values[0] if len(values) == 1 else np.array(values))

    def _warn_of_loose(self, found: list[BudgetFit], n_loose: int) -> None:
        enough = min(search.enough for search in found if search.loose)
        who = "the machine has" if len(found) == 1 else f"{n_loose} of {len(found)} machines have"
        warnings.warn(
            f"BudgetSVC: budget={self.budget:g} is so large that {who} no weights: predicting the "
            f"more frequent class everywhere takes a slack of {enough:.6g}. Choose a smaller "
            "budget.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )

    def _gram_matrix(self, X: Any, largest: float) -> QMatrix:
        return super()._gram_matrix(X, np.inf)  # C is not known yet

    def _upper_bounds(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """What the slack of each sample counts: the bounds of a machine with C = 1."""
        by_class = check_class_weight(self.class_weight, Labels(self.classes_, codes), weight)
        check_penalties(float(weight.max()) * float(by_class.max()))
        return weight * by_class[codes]

    def _fit_task(
        self,
        K: QMatrix,
        task: Task,
        C: np.ndarray,
        start: np.ndarray | None,
        interrupted: bool,
    ) -> BinaryFit:
        fit = super()._fit_task(K, task, C, start, interrupted)
        if interrupted:  # the machine was not looked for
            self._searches.append(BudgetFit(fit, np.nan, np.nan, np.nan, False, np.nan))
        return fit

    def _fit_one(
        self, K: QMatrix, signs: np.ndarray, C: np.ndarray, start: np.ndarray | None
    ) -> BinaryFit:
        budget = float(self.budget) * (float(C.sum()) if self.mean else 1.0)
        k = len(self._searches)
        guess = self._guesses[k] if start is not None and k < len(self._guesses) else None
        search = fit_within_budget(
            SlackProblem(K, signs, C, budget), start, guess, **self._solver_options()
        )
        self._searches.append(search)
        return search.fit


# ---------------------------------------------------------------------- one machine


class SlackProblem(NamedTuple):
    """One binary machine and its budget."""

    K: QMatrix
    signs: np.ndarray
    weight: np.ndarray  # what a slack counts
    budget: float


class BudgetFit(NamedTuple):
    """A machine with its budget, and the penalty that has the same solution."""

    fit: BinaryFit
    C: float
    total_slack: float
    budget: float
    loose: bool  # whether the budget is so large that there are no weights
    enough: float  # the least budget with which there are none


class _Member(NamedTuple):
    """A soft-margin machine and its total slack."""

    C: float
    result: QPResult
    slack: float


def fit_within_budget(
    problem: SlackProblem,
    start: np.ndarray | None = None,
    guess: float | None = None,
    *,
    tol: float,
    max_iter: int,
    **options: Any,
) -> BudgetFit:
    """Find the penalty whose machine uses up the budget, and that machine.

    Parameters
    ----------
    problem : SlackProblem
        The machine and its budget.
    start : array, optional
        Dual variables to start from.
    guess : float, optional
        A penalty to start from.
    tol, max_iter, **options
        Those of :func:`tamiz.solvers.solve`.

    Raises
    ------
    ValueError
        If no machine has so little slack.
    """
    K, signs, weight, budget = problem
    options = {"max_iter": max_iter, **options}
    none = _without_weights(problem)
    if budget >= none.slack:
        return _told(problem, none, none, tol, 0, none.slack)
    if budget == 0.0:
        fit = fit_without_slack(K, signs, start, tol=tol, **options)
        total = float(weight @ fit.slack)
        return BudgetFit(fit, float((fit.alpha / weight).max()), total, 0.0, False, none.slack)
    search = _Search(problem, none, {"tol": 0.1 * tol, **options})
    C = guess or 1.0 / max(float(np.mean(K.diag())), 1e-300)
    while search.high is None and not search.stopped:
        search.try_at(C, start if search.low.C == 0.0 else search.low.result.a)
        search.grown += 1
        if search.high is None and search.grown == _PATIENCE:
            _require_enough(problem)
        C *= _GROWTH
    while not search.stopped and not search.is_exact(tol):
        search.narrow()
    high = search.low if search.high is None else search.high
    early = Status.MAX_ITER if search.limited else Status.STALLED
    early = Status.INTERRUPTED if search.interrupted else early
    return _told(problem, search.low, high, tol, search.n_iter, none.slack, early)


class _Search:
    """The two machines between which the one sought lies."""

    def __init__(self, problem: SlackProblem, none: _Member, options: dict[str, Any]):
        self.problem, self.options = problem, options
        self.low: _Member = none  # too much slack
        self.high: _Member | None = None  # not too much
        self.rounding = 1e-10 * none.slack
        self.n_iter = self.n_machines = self.grown = 0
        self.interrupted = self.limited = self.vague = False
        self.halving = False

    @property
    def stopped(self) -> bool:
        lost = self.high is None and self.grown >= _GROWTHS
        return self.interrupted or self.vague or lost or self.n_machines >= _LIMIT

    def try_at(self, C: float, start: np.ndarray | None) -> None:
        """Solve the machine with penalty ``C``, and keep it as one of the two."""
        K, signs, weight, budget = self.problem
        result = solve(svc_problem(K, signs, C * weight), start=start, **self.options)
        self.n_iter += result.iterations
        self.n_machines += 1
        self.limited |= result.status == Status.MAX_ITER
        if result.status == Status.INTERRUPTED:
            self.interrupted = True
            if self.low.C > 0.0 or self.high is not None:
                return
        member = _Member(C, result, _slack(result, signs, weight))
        hidden = result.rounding > 10.0 * self.options["tol"]
        if member.slack > budget + self.rounding:
            self.low = member
            self.vague |= hidden  # no machine of a larger penalty is known better
        else:
            self.high = member
            self.vague |= hidden and result.status == Status.MAX_ITER

    def is_exact(self, tol: float) -> bool:
        """Whether the machine between the two is the one sought, or no other can be found."""
        assert self.high is not None
        if self.high.C - self.low.C <= 1e-12 * self.high.C:
            return True
        half_norm, gap = _gap(_between(self.low, self.high, self.problem), self.problem.budget)
        inner = max(self.low.result.gap or 0.0, self.high.result.gap or 0.0)
        return gap <= tol * half_norm * (_GOOD if gap <= 2.0 * inner else _EXACT)

    def narrow(self) -> None:
        """Solve one more machine between the two."""
        low, high = self.low, self.high
        assert high is not None
        before = high.C - low.C
        if self.halving:
            C = np.sqrt(low.C * high.C) if low.C > 0.0 else 0.1 * high.C
        else:
            C = _between(low, high, self.problem).C
        theta = (C - low.C) / before
        self.try_at(C, (1.0 - theta) * low.result.a + theta * high.result.a)
        assert self.high is not None
        self.halving = not self.halving and 0.5 * before < self.high.C - self.low.C


def _slack(result: QPResult, signs: np.ndarray, weight: np.ndarray) -> float:
    assert result.gradient is not None
    intercept = -float(result.multiplier or 0.0)
    return float(weight @ np.maximum(0.0, -(result.gradient + signs * intercept)))


def _without_weights(problem: SlackProblem) -> _Member:
    """The machine at C = 0: the more frequent class for every sample."""
    signs, weight = problem.signs, problem.weight
    balance = float(weight @ signs)
    result = QPResult(
        a=np.zeros(len(signs)),
        gradient=np.full(len(signs), -1.0),
        objective=0.0,
        gap=0.0,
        violation=0.0,
        multiplier=-float(np.sign(balance)),
        iterations=0,
        status=Status.CONVERGED,
    )
    rarer = min(float(weight[signs > 0].sum()), float(weight[signs < 0].sum()))
    return _Member(0.0, result, 2.0 * rarer)


def _between(low: _Member, high: _Member, problem: SlackProblem) -> _Member:
    """The combination of two machines that just meets the budget."""
    excess = max(0.0, low.slack - problem.budget)
    theta = min(1.0, excess / (low.slack - high.slack)) if low.slack > high.slack else 1.0
    one, two = low.result, high.result
    assert one.gradient is not None and two.gradient is not None
    C = (1.0 - theta) * low.C + theta * high.C
    a = (1.0 - theta) * one.a + theta * two.a
    top = C * problem.weight
    # at the bound of both is at the bound of this one, rounding aside
    a = np.where((one.a >= low.C * problem.weight) & (two.a >= high.C * problem.weight), top, a)
    gradient = (1.0 - theta) * one.gradient + theta * two.gradient
    signs, a, rounding = problem.signs, np.minimum(a, top), max(one.rounding, two.rounding)
    ends = signs * top
    point = signs * a, signs * gradient, np.minimum(ends, 0.0), np.maximum(ends, 0.0)
    result = two._replace(
        a=a,
        gradient=gradient,
        multiplier=(1.0 - theta) * (one.multiplier or 0.0) + theta * (two.multiplier or 0.0),
        violation=kkt_violation(*point) + rounding,
        rounding=rounding,
    )
    member = _Member(C, result, _slack(result, signs, problem.weight))
    # without free variables the constant is not unique: the middle, if it takes no more slack
    middle = result._replace(multiplier=equality_multiplier(*point))
    slack = _slack(middle, signs, problem.weight)
    return _Member(C, middle, slack) if slack <= member.slack * (1.0 + 1e-12) else member


def _gap(member: _Member, budget: float) -> tuple[float, float]:
    """``½‖w‖²``, and how far it can be above the optimum."""
    assert member.result.gradient is not None
    squared = float(member.result.a @ (member.result.gradient + 1.0))
    return 0.5 * squared, squared - float(member.result.a.sum()) + member.C * budget


def _told(
    problem: SlackProblem,
    low: _Member,
    high: _Member,
    tol: float,
    n_iter: int,
    enough: float,
    early: Status = Status.STALLED,
) -> BudgetFit:
    """The machine between two, with what it says about itself."""
    member = _between(low, high, problem)
    half_norm, gap = _gap(member, problem.budget)
    rounding, penalties = member.result.rounding, member.C * problem.weight
    fit = describe(member.result, problem.signs, penalties)
    gap += rounding * at_stake(fit.alpha, penalties[fit.slack > 0])
    within = member.slack <= problem.budget * (1.0 + 1e-9) + 1e-9 * enough
    good = within and gap <= tol * half_norm + 1e-12 and rounding <= tol
    good = good and early is not Status.INTERRUPTED
    fit = fit._replace(
        objective=half_norm,
        dual_objective=half_norm - gap,
        duality_gap=float(np.maximum(0.0, gap)),
        n_iter=n_iter,
        status=Status.CONVERGED if good else early,
    )
    loose = member.C == 0.0
    return BudgetFit(fit, member.C, member.slack, problem.budget, loose, enough)


def _require_enough(problem: SlackProblem) -> None:
    """Refuse a budget that no machine meets."""
    K, signs, weight, budget = problem
    least = least_slack(np.asarray(K.dense(), dtype=np.float64), signs, weight)
    if least > budget + 1e-9 * (budget + float(weight.sum())):
        require_digits(K, f"Whether a machine has a total slack of {budget:.6g} or less")
        raise ValueError(
            f"No machine has a total slack of {budget:.6g} or less: the least that any hyperplane "
            f"of the feature space needs is {least:.6g}. Raise the budget above that, or use a "
            "richer kernel."
        )
