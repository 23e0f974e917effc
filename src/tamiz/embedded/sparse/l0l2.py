"""The linear machine with the ℓ2 penalty and an approximation of the number of features."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.embedded.sparse.l1l2 import CONSTRAINTS
from tamiz.embedded.sparse.machine import LinearFit
from tamiz.embedded.sparse.task_machine import TaskMachine
from tamiz.runtime.progress import Progress
from tamiz.solvers.concave import DCResult, successive_linearisation
from tamiz.solvers.mixed_hinge import original, solve_penalised
from tamiz.solvers.mixed_interior import Certified, PenalisedHinge, centred
from tamiz.validation import by_keyword

_INNER = 10_000  # limit on the iterations of one step
_TRIED = 200  # smallest weights for which it is tried whether another feature can take them over
_COPY = 1e-9  # features whose correlation and scale differ by less are copies


class L0L2SVM(TaskMachine):
    r"""Linear support vector machine with an ℓ2 penalty and a smooth count of the weights.

    Minimises, with a free intercept,

    .. math::

        C \sum_i \bigl(1 - y_i(\langle w, x_i\rangle + b)\bigr)_+
        + \tfrac12 \lVert w\rVert^2 + \nu \sum_j \bigl(1 - e^{-a \lvert w_j\rvert}\bigr) .

    The last term tends to ``nu`` times the number of weights that are not zero as ``a`` grows. The
    texts write it with bounds ``-v <= w <= v`` and ``exp(-a v_j)``, where ``v = |w|`` at every
    minimum, and with ``mu/n`` for ``C``. The term is concave in ``v``: it is replaced by its
    tangent, which leaves an :class:`L1L2SVM` with the penalty ``nu a exp(-a |w_j|)`` for each
    weight, and this again and again. Large weights become free, small ones expensive. The objective
    falls with every step, down to a critical point, which may be a saddle where similar features
    share a weight. There the weight of one feature is moved to the one most like it if that lowers
    the objective, and the steps go on until neither helps.

    For a numeric target the losses are those of :class:`~tamiz.svm.SVR`, ``max(0, |residual| -
    epsilon)``. ``a`` is then in units of a weight's inverse, as the weights are in units of the
    target.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the losses; not looked at if ``mu`` is given.
    nu : float, default=1.0
        Penalty on each feature.
    a : float, default=5.0
        How sharply the penalty counts: a weight of ``1/a`` costs 63 % of ``nu``. The larger, the
        closer to a count and the more local minima.
    mu : float, optional
        Penalty on the mean loss. If given, it takes the place of ``C``, whatever that is: the
        machine is that of ``C = mu/n`` (with weights: n is their sum).
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a machine is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Divide the target by its standard deviation first: ``C``, ``nu``, ``a`` and ``epsilon``
        then have no unit. Weights and predictions are in that of the target. For a regression only.
    start : {"best", "zero", "l2"}, default="best"
        Weights to begin with: none, so that the first step is an ``L1L2SVM`` with ``nu * a``; those
        of the machine without selection; or both, and the lower objective is kept.
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select from the top of the ranking; by default those with
        a weight. If that leaves some out, the machine is fitted again without them.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class. "balanced" gives both sides of each machine the same total.
    tol : float, default=1e-4
        Duality gap accepted within a step, as a fraction of its objective; a step that lowers the
        objective by less than a tenth of that fraction is the last.
    max_iter : int, default=200
        Limit on linearisations from each start; some 5 to 30 are usual. (The iterations within each
        have a limit of their own, 10,000, as in :class:`L1L2SVM`.)
    n_jobs : int, default=None
        Threads for the machines of several classes; the answer does not depend on it.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights, exactly zero for the features left out.
    intercept_ : array of shape (1,) or (n_classes,)
        Constants.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    epsilon_ : float
        Half-width of the tube in units of the target; for a regression only.
    objective_ : float or array
        Objective reached, for each machine.
    history_ : tuple of float, or list of them
        Objective after each step from the start that was kept, for each machine.
    duality_gap_ : None
        The problem is not convex: no bound on the distance to its minimum is known.
    scores_ : array of shape (n_features,)
        Root of the sum of the squared weights over the machines.
    support_, ranking_, order_, selection_
        As with every selector; of the features without weight, those that lost it later come
        first, then those nearer to getting one.
    n_iter_ : int
        Linearisations.
    status_ : str
        "converged", "max_iter", "stalled" or "interrupted".

    See Also
    --------
    L1L2SVM : The convex relative, with one minimum.

    References
    ----------
    .. [1] J. Neumann, C. Schnörr, G. Steidl (2005). Combined SVM-based feature selection and
           classification. Machine Learning 61.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import L0L2SVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = StandardScaler().fit_transform(X)
    >>> machine = L0L2SVM(C=0.1, nu=1.0).fit(Z, y)
    >>> int(machine.support_.sum()), round(machine.score(Z, y), 3)
    (3, 0.97)
    >>> all(later <= earlier for earlier, later in zip(machine.history_, machine.history_[1:]))
    True

    A numeric target:

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> L0L2SVM(C=0.1, task="regression", scale_target=True).fit(Z, y).selection_.selected
    ['s5', 'bmi', 'bp', 's3', 'sex']
    """

    _loosen = "Raise C or lower nu"
    _parameter_constraints: dict[str, list[Any]] = {
        **CONSTRAINTS,
        "a": [Interval(Real, 0.0, None, closed="neither")],
        "start": [StrOptions({"best", "zero", "l2"})],
    }

    @by_keyword
    def __init__(
        self,
        *,
        C: float = 1.0,
        nu: float = 1.0,
        a: float = 5.0,
        mu: float | None = None,
        task: str = "classification",
        epsilon: float = 0.1,
        scale_target: bool = False,
        start: str = "best",
        n_features_to_select: int | float | str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int = 200,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.nu = nu
        self.a = a
        self.mu = mu
        self.task = task
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.start = start
        self.n_features_to_select = n_features_to_select
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> L0L2SVM:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples. Their scale matters to both penalties: standardise first.
        y : array-like of shape (n_samples,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C`` by sample.

        Returns
        -------
        self : L0L2SVM
        """
        return self._fit(X, y, sample_weight)

    def _fit_machine(self, problem: Any, progress: Progress) -> LinearFit:
        X, means = centred(problem.X)
        penalty = float(self.nu), float(self.a)
        base = problem._replace(X=X).penalised(np.zeros(X.shape[1]))
        result: DCResult | None = None
        for start in ("zero", "l2") if self.start == "best" else (self.start,):
            try:
                found = self._from(start, base, penalty, progress)
            except KeyboardInterrupt:
                if result is None:
                    raise
                status = "interrupted"
                break
            if result is None or found.objective < result.objective:
                status = found.status
                result = found
            if found.status == "interrupted":
                status = "interrupted"
                break
        assert result is not None
        coef, intercept = original(result.fit, X, means)
        largest = penalty[0] * penalty[1]
        near = np.abs(result.fit.correlation) / largest if largest > 0 else np.zeros(len(coef))
        return LinearFit(
            coef=coef,
            intercept=intercept,
            objective=result.objective,
            n_iter=result.n_iter,
            status=status,
            history=result.history,
            left=np.where(np.isfinite(result.left), result.left, 0.0) + 0.5 * np.minimum(1.0, near),
        )

    def _from(
        self, start: str, base: PenalisedHinge, penalty: tuple[float, float], progress: Progress
    ) -> DCResult:
        """Descend from one of the starting points."""
        nu, a = penalty

        def solve(penalties: np.ndarray, previous: _Step | None) -> _Step:
            found = solve_penalised(
                base._replace(nu=penalties),
                tol=self.tol,
                max_iter=_INNER,
                progress=progress,
                start=None if previous is None else previous.c,
            )
            return _Step(found, penalties)

        def objective(step: _Step) -> float:
            size = np.abs(step.w)
            return float(step.objective - step.penalties @ size + nu * np.sum(-np.expm1(-a * size)))

        def moves(step: _Step, value: float) -> np.ndarray | None:
            return merged(base, step.w, nu, a, value * (1.0 - 0.1 * self.tol))

        w, first = np.zeros(len(base.nu)), None
        if start == "l2":
            first = solve(base.nu, None)
            w = first.w
            if first.status == "interrupted":
                value = objective(first)
                return DCResult(first, value, (value,), np.full(len(w), np.inf), 0, "interrupted")
        return successive_linearisation(
            solve,
            objective,
            lambda size: nu * a * np.exp(-a * size),
            w,
            tol=0.1 * self.tol,
            max_iter=self.max_iter,
            previous=first,
            moves=moves,
        )


def merged(
    problem: PenalisedHinge, w: np.ndarray, nu: float, a: float, below: float
) -> np.ndarray | None:
    """Weights with one feature less and an objective under ``below``, if there are any nearby.

    The weight of one feature goes to the most similar feature in use, in the proportion that
    changes the outputs least; the lowest objective of all such moves is taken. Of two copies with
    equal weights the steps know no better than to keep both. Along the exchange of weight between
    them the losses are constant, and where the penalties bend down, ``nu a^2 exp(-a |w_j|) > 1``,
    they fall from the middle to both ends: every such saddle is left. Where the penalties bend up,
    in local minima, one feature in place of two may pay all the same. Of copies the first stays.
    """
    used = np.flatnonzero(w)
    if len(used) < 2:
        return None
    part = problem.X[:, used]
    part = part.toarray() if sparse.issparse(part) else part
    weight = problem.C / problem.C.max()  # a sample that counts twice is two samples
    part = part - np.average(part, axis=0, weights=weight)
    least = np.argsort(np.abs(w[used]), kind="stable")[:_TRIED]
    inner = (part[:, least] * weight[:, None]).T @ part
    squares = np.maximum(weight @ np.square(part), 1e-300)
    likeness = np.abs(inner) / np.sqrt(squares[least][:, None] * squares)
    likeness[np.arange(len(least)), least] = -1.0
    best = None
    for k, j in enumerate(least):
        other = int(likeness[k].argmax())
        moved = w[used]
        slope = inner[k, other] / squares[other]
        moved[other] += moved[j] * slope
        moved[j] = 0.0
        if j < other and likeness[k, other] > 1.0 - _COPY and abs(abs(slope) - 1.0) < _COPY:
            moved[j], moved[other] = slope * moved[other], 0.0
        value = _objective(problem, part, moved, nu, a)
        if value < below:
            below = value
            best = np.zeros(len(w))
            best[used] = moved
    return best


def _objective(
    problem: PenalisedHinge, part: np.ndarray, w: np.ndarray, nu: float, a: float
) -> float:
    """The whole objective of weights for the columns ``part``, with the best intercept."""
    outputs = part @ w
    losses = problem.losses(outputs + problem.intercept(outputs))
    return float(losses + 0.5 * w @ w - nu * np.sum(np.expm1(-a * np.abs(w))))


class _Step:
    """A solution of one step with the penalties it was found for."""

    def __init__(self, found: Certified, penalties: np.ndarray):
        self.found = found
        self.penalties = penalties

    def __getattr__(self, name: str) -> Any:
        return getattr(self.found, name)
