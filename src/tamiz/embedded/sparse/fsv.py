"""FSV: features counted by a concave penalty, minimised by successive linearisation."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import PathStep
from tamiz.embedded.sparse.machine import LinearFit
from tamiz.embedded.sparse.task_machine import TaskMachine
from tamiz.runtime.progress import Progress, interruption
from tamiz.runtime.workers import run_in_threads
from tamiz.solvers.linear_program import HingeProgram, ProgramResult
from tamiz.solvers.tube_program import TubeProgram
from tamiz.svm.last_machine import TASK_CONSTRAINTS
from tamiz.validation import N_JOBS, by_keyword

_PROGRAM = 1e-6  # gap to which programs are solved, or less
_CERTAIN = 1e-4  # ... and up to which, where rounding ends them earlier, their answer counts
_TIE = 1e-6  # multipliers this near to a bound may be at it: a program may have more solutions
_TILT = 1e-3  # relative change of slopes that makes another of them the only one
_MOST_TILTS = 8  # features of either kind for which that is tried alone
_LEAST_SLOPE = 1e-6  # fraction of the slope at zero below which the penalty is made linear


class FSV(TaskMachine):
    r"""Feature selection by concave minimisation.

    .. math::

        \min_{w, b} \; C \sum_i (1 - y_i(\langle w, x_i\rangle + b))_+
        + \sum_j \bigl(1 - e^{-a |w_j|}\bigr)

    Each term of the penalty is near zero or near one: it counts features. Large weights cost no
    more than middling ones, so fewer features do the work that :class:`L1SVM` spreads over many.
    The drawback is that the problem is not convex. It is solved by successive linearisation: the
    penalty is replaced by its tangent at the present weights, ``Σ a exp(-a|v_j|) |w_j|``, which
    makes a linear program; its solution is the next point. The objective never rises, and
    since every solution is a vertex, the steps come to an end after finitely many. Which
    stationary point they end in depends on where they begin; restarts keep the best.

    For a numeric target the losses are those of :class:`~tamiz.svm.SVR`, ``max(0, |residual| -
    epsilon)``. ``a`` is then in units of a weight's inverse, as the weights are in units of the
    target.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the losses, positive; a feature costs at most 1.
    lambda_ : float, default=None
        If given, replaces ``C`` by ``1/lambda_``: the factor on the penalty when the losses
        have none.
    a : float, default=5.0
        Steepness of the penalty. The larger, the closer to counting, and the more stationary
        points there are.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a machine is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Divide the target by its standard deviation first: ``C``, ``a`` and ``epsilon``
        then have no unit. Weights and predictions are in that of the target. For a regression only.
    n_restarts : int, default=0
        Number of further runs from random weights, beside the first, which begins at zero.
    tol : float, default=1e-6
        A run ends once a step lowers the objective by less than this, relative to it. The linear
        programs are solved to a relative gap of 1e-6, or of ``tol`` if that is less, or as near to
        it as rounding admits.
    max_iter : int, default=50
        Limit on steps of one run. One program takes up to 200 Newton steps and restricted programs
        (``max_iter`` of them, if that is more).
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class; a class that is not named has 1.
        "balanced" gives both sides of each machine the same total.
    n_features_to_select : int, float, "auto" or None, default=None
        A number or fraction of features to select from the top of the ranking. By default all
        that have a weight. If that leaves some out, the machine is fitted again without them.
    random_state : int, RandomState instance or None, default=None
        Draws the starting points of the restarts.
    n_jobs : int, default=None
        Threads for the restarts, or without restarts for the machines of several classes; the
        answer does not depend on it.
    verbose : bool or int, default=0
        Show progress.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one machine for each class if there are more than two.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels; not for a regression.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    epsilon_ : float
        Half-width of the tube in units of the target; for a regression only.
    objective_ : float or ndarray of shape (n_classes,)
        Value of the objective.
    history_ : tuple of float, or list of tuples
        Objective after each step of the run that was kept; one tuple for each machine.
    duality_gap_ : None
        The problem is not convex: no lower bound is known.
    n_iter_ : int
        Steps of the run that was kept.
    status_ : str
        "converged", "max_iter", "stalled" (rounding leaves the optimum of the last program
        uncertain by more than a fraction of 1e-4) or "interrupted".
    scores_ : ndarray of shape (n_features,)
        ``|w_j|``; of several machines the root of the sum of squares.
    order_, ranking_, support_, selection_
        As for every selector. Features without weight are ranked by the step at which they lost
        it, the later the better, then by how close they come to entering. With two classes the path
        lists the steps.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had any.

    See Also
    --------
    L1SVM : The convex counterpart; the first step from zero is ``L1SVM(C=C / a)``.

    References
    ----------
    .. [1] P. S. Bradley, O. L. Mangasarian (1998). Feature selection via concave minimization and
           support vector machines. ICML.
    .. [2] O. L. Mangasarian (1996). Machine learning via polyhedral concave minimization. In:
           Applied mathematics and parallel computing, Physica-Verlag.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import FSV, L1SVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = StandardScaler().fit_transform(X)
    >>> machine = FSV(C=0.1).fit(Z, y)
    >>> int(machine.support_.sum()), int(L1SVM(C=0.1 / 5).fit(Z, y).support_.sum())
    (3, 6)
    >>> list(machine.history_) == sorted(machine.history_, reverse=True)
    True

    A numeric target:

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> FSV(C=0.05, task="regression", scale_target=True).fit(Z, y).selection_.selected
    ['s5', 'bmi']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "lambda_": [Interval(Real, 0, None, closed="neither"), None],
        "a": [Interval(Real, 0, None, closed="neither")],
        **TASK_CONSTRAINTS,
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_features_to_select": [Real, StrOptions({"auto"}), None],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    @by_keyword
    def __init__(
        self,
        *,
        C: float = 1.0,
        lambda_: float | None = None,
        a: float = 5.0,
        task: str = "classification",
        epsilon: float = 0.1,
        scale_target: bool = False,
        n_restarts: int = 0,
        tol: float = 1e-6,
        max_iter: int = 50,
        class_weight: dict[Any, float] | str | None = None,
        n_features_to_select: int | float | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.lambda_ = lambda_
        self.a = a
        self.task = task
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.n_restarts = n_restarts
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FSV:
        """Fit the machine and select the features that have a weight.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels, or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor on the loss of each sample. A weight of two is the sample twice; a weight of
            zero leaves it out.

        Returns
        -------
        self : FSV
        """
        return self._fit(X, y, sample_weight)

    @property
    def _threads(self) -> bool:  # type: ignore[override]
        return self.n_restarts == 0  # otherwise they are for the runs

    def _fit_machine(self, problem: Any, progress: Progress) -> LinearFit:
        rng = check_random_state(self.random_state)
        p = problem.X.shape[1]
        starts = [np.zeros(p)] + [
            rng.exponential(2.0 / self.a, size=p) for _ in range(self.n_restarts)
        ]
        runs: list[LinearFit | None] = []
        if self.n_jobs in (None, 1) or len(starts) == 1:
            for start in starts:
                run = self._run(problem, start, progress)
                runs.append(run)
                if run is None or run.status == "interrupted":
                    break
        else:
            runs = run_in_threads(partial(self._run, problem), starts, type(self).__name__)
        reached = [run for run in runs if run is not None]
        if not reached:
            raise interruption()
        best = min(reached, key=lambda run: run.objective)  # the first of equal ones
        if len(reached) < len(starts) or any(run.status == "interrupted" for run in reached):
            best = best._replace(status="interrupted")
        return best

    def _run(self, problem: Any, v: np.ndarray, progress: Progress) -> LinearFit | None:
        """Successive linearisation from the weights ``v``; None if Ctrl-C left nothing of it."""
        w, b, objective = np.zeros(len(v)), 0.0, np.inf
        left, nearness = np.zeros(len(v)), np.zeros(len(v))
        history: list[float] = []
        path: list[PathStep] = []
        status = "max_iter"
        try:
            for step in range(1, self.max_iter + 1):
                progress.update(f"step {step}, {np.count_nonzero(w)} features")
                program, last = self._linearised(problem, v, progress)
                reached, gain = self._objective(program, last), 0.0
                if last.status == "converged" and objective - reached <= self.tol * objective:
                    last, reached = self._tied(program, last, progress)
                if reached < objective:
                    gone = (w != 0) & (last.w == 0)
                    left[gone] = step
                    gain, objective = objective - reached, reached
                    w, b, v = last.w, last.b, last.w
                    nearness = np.abs(last.g) / program.c
                    history.append(objective)
                    features = tuple(np.flatnonzero(gone).tolist())
                    action = "drop" if step > 1 else "start"
                    path.append(PathStep(action, features, int(np.count_nonzero(w)), objective))
                if last.status in ("interrupted", "max_iter"):
                    status = last.status
                    break
                if gain <= self.tol * max(objective, 1e-300):
                    # no lower point on the tangent, as far as rounding allows
                    certain = last.gap <= max(self.tol, _CERTAIN) * last.objective
                    status = "converged" if certain else "stalled"
                    break
        except KeyboardInterrupt:
            status = "interrupted"
        if not history:
            return None
        return LinearFit(
            coef=w,
            intercept=b,
            objective=objective,
            n_iter=len(history),
            status=status,
            history=tuple(history),
            path=tuple(path),
            left=left + 0.5 * nearness,  # steps count before nearness, which is at most one
        )

    def _linearised(
        self, problem: Any, v: np.ndarray, progress: Progress
    ) -> tuple[HingeProgram | TubeProgram, ProgramResult]:
        """The program with the tangent of the penalty at ``v``, and its solution."""
        slope = self.a * np.maximum(np.exp(-self.a * np.abs(v)), _LEAST_SLOPE)
        program = problem.losses.program(problem.X, slope)
        return program, self._solve(program, progress)

    def _solve(self, program: HingeProgram | TubeProgram, progress: Progress) -> ProgramResult:
        return program.solve(
            method="vertex",
            tol=min(self.tol, _PROGRAM),
            max_iter=max(self.max_iter, 200),
            progress=progress,
        )

    def _tied(
        self, program: HingeProgram | TubeProgram, found: ProgramResult, progress: Progress
    ) -> tuple[ProgramResult, float]:
        """The best by the concave objective of several solutions of a program, if there are such.

        The tangent cannot tell them apart, the penalty can. Each of a few small tilts of the
        tangent makes another of them the only one.
        """
        best, least = found, self._objective(program, found)
        used = found.w != 0
        near = ~used & (np.abs(found.g) >= (1.0 - _TIE) * program.c)
        if not near.any() and not program.undecided(found, _TIE):
            return best, least  # the only solution
        tilts = [np.where(used, raised, -_TILT) for raised in (-_TILT, _TILT)]
        for kind, change in ((near, -_TILT), (used, _TILT)):
            for j in np.flatnonzero(kind)[:_MOST_TILTS]:
                tilts.append(np.where(np.arange(len(used)) == j, change, 0.0))
        for tilt in tilts:
            other = self._solve(program._replace(c=program.c * (1.0 + tilt)), progress)
            if other.status == "interrupted":
                return best._replace(status="interrupted"), least
            if other.status != "converged":
                continue
            other = other._replace(objective=program.objective(other.w, other.b))
            value = self._objective(program, other)
            if value < least - self.tol * least:
                best, least = other, value
        return best, least

    def _objective(self, program: HingeProgram | TubeProgram, found: ProgramResult) -> float:
        """The concave objective; beyond the least slope the penalty is its tangent."""
        losses = found.objective - float(program.c @ np.abs(found.w))
        size = np.abs(found.w)
        bend = -np.log(_LEAST_SLOPE) / self.a
        penalty = -np.expm1(-self.a * np.minimum(size, bend))
        penalty += self.a * _LEAST_SLOPE * np.maximum(size - bend, 0.0)
        return losses + float(penalty.sum())
