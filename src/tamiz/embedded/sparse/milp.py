"""MILPSVM: the best subset for a linear machine, by mixed-integer linear programming."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import number_to_select
from tamiz.embedded.sparse.machine import LinearFit
from tamiz.embedded.sparse.task_machine import TaskMachine
from tamiz.runtime.progress import Progress
from tamiz.solvers.subset_program import SubsetProgram
from tamiz.solvers.subset_search import SubsetResult, solve_subset_program
from tamiz.svm.last_machine import TASK_CONSTRAINTS
from tamiz.validation import (
    Units,
    check_units,
    finite_vector,
    number_to_drop,
    refused,
    values_by_name,
)

# how a limit is described that not even the least unit keeps
_COST = "the cheapest {} costs {:g}, budget is {:g}"
_FEATURES = "the smallest {} has {:g}, n_features_to_select is {:g}"
_WIDE = 60  # units beyond which the elimination drops a tenth at a time


class MILPSVM(TaskMachine):
    r"""Linear machine on the best subset of features, proved to be so or within a known gap.

    .. math::

        \min_{w, b, z} \; C \sum_i (1 - y_i(\langle w, x_i\rangle + b))_+ + \sum_j |w_j|
        \quad\text{s.t.}\quad |w_j| \le M_j z_j,\; \sum_j c_j z_j \le k,\; z_j \in \{0, 1\}

    Of all subsets within the limits (a number of features, a budget of costs, or both) the one on
    which :class:`L1SVM` has the least objective. HiGHS branches on the features; the bounds
    :math:`M_j` are derived from the data, not guessed. The subset of a recursive elimination,
    improved by exchanges, is where the search starts; whatever the time allows, the answer comes
    with ``bound_``, below which no subset can be, and ``gap_``.

    For a numeric target the losses are those of :class:`~tamiz.svm.SVR`, ``max(0, |residual| -
    epsilon)``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Largest number of features, or the fraction of them; no limit by default, which makes it
        :class:`L1SVM`. With ``costs`` and without ``budget`` it limits the sum of the costs instead
        (a float up to 1: a fraction of the total). Fewer are selected where more do not help.
    C : float, default=1.0
        Penalty on the losses.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a machine is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Divide the target by its standard deviation first: ``weight_bound`` and ``epsilon``
        then have no unit. Weights and predictions are in that of the target. For a regression only.
    costs : array-like of shape (n_features,) or dict, default=None
        Cost of each feature, not negative; a group costs what its features cost together. A dict,
        or a Series with names as its index, gives the cost of every feature by its name.
    budget : float, default=None
        Largest sum of the costs of the features selected. ``n_features_to_select``, if given,
        limits their number as well.
    feature_groups : list of lists or dict of lists, default=None
        Features, by position or name, that are selected together or not at all. A feature in no
        group stands alone.
    weight_bound : float, default=None
        A number ``B`` gives the form of the authors: no penalty on the weights, only the losses
        count, and :math:`|w_j| \le B` takes the place of the penalty.
    preselect : int, default=None
        Let a recursive elimination keep this many features first. ``bound_`` and ``gap_`` are
        then about subsets of those only, and the answer may miss a better one.
    tol : float, default=1e-4
        Gap between objective and lower bound that is accepted, relative to the objective.
    time_limit : float or None, default=60.0
        Seconds after which the best subset so far is returned; None for no limit. HiGHS looks at
        the clock between its steps, so a large table may take longer.
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class; a class that is not named has 1.
        "balanced" gives both sides of each machine the same total.
    verbose : bool or int, default=0
        Show progress.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one machine for each class if there are more than two. All use the same features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels; not for a regression.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    epsilon_ : float
        Half-width of the tube in units of the target; for a regression only.
    objective_ : float
        Value of the objective, over all machines.
    bound_ : float
        No subset within the limits has a lower objective.
    gap_ : float
        ``(objective_ - bound_) / objective_``.
    duality_gap_ : float
        ``objective_ - bound_``.
    start_objective_ : float
        Objective of the subset that the search began with.
    n_iter_ : int
        Nodes of the search tree.
    status_ : str
        "converged" (the gap is within ``tol``), "time_limit", "stalled" (rounding admits no
        further progress) or "interrupted".
    scores_ : ndarray of shape (n_features,)
        ``|w_j|``; of several machines the root of the sum of squares.
    order_, ranking_, support_, selection_
        As for every selector. Features without weight are ranked by ``|Σ α_i y_i x_ij|``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had any.

    See Also
    --------
    L1SVM : The same objective without limits: a linear program, for any number of features.
    FSV : A penalty that counts features, without a guarantee.
    tamiz.search.ExhaustiveSearch : The best subset by the error of any estimator.

    References
    ----------
    .. [1] S. Maldonado, J. Pérez, R. Weber, M. Labbé (2014). Feature selection for support vector
           machines via mixed integer linear programming. Information Sciences 279.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import MILPSVM
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> machine = MILPSVM(2).fit(Z, y)
    >>> machine.get_feature_names_out().tolist(), machine.status_
    (['sepal width (cm)', 'petal width (cm)'], 'converged')
    >>> MILPSVM(costs=[1, 9, 2, 2], budget=5).fit(Z, y).get_feature_names_out().tolist()
    ['sepal length (cm)', 'petal length (cm)', 'petal width (cm)']

    A numeric target:

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> machine = MILPSVM(2, C=0.1, task="regression", scale_target=True).fit(Z, y)
    >>> machine.selection_.selected, machine.status_
    (['bmi', 's5'], 'converged')
    """

    _loosen = "Raise C"

    _tables = 7  # of the size of X, that a fit works on
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [Real, StrOptions({"auto"}), None],
        "C": [Interval(Real, 0, None, closed="neither")],
        **TASK_CONSTRAINTS,
        "costs": ["array-like", dict, None],
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "feature_groups": [list, tuple, dict, None],
        "weight_bound": [Interval(Real, 0, None, closed="neither"), None],
        "preselect": [Interval(Real, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        C: float = 1.0,
        task: str = "classification",
        epsilon: float = 0.1,
        scale_target: bool = False,
        costs: Any = None,
        budget: float | None = None,
        feature_groups: Any = None,
        weight_bound: float | None = None,
        preselect: int | None = None,
        tol: float = 1e-4,
        time_limit: float | None = 60.0,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = 0,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.task = task
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.costs = costs
        self.budget = budget
        self.feature_groups = feature_groups
        self.weight_bound = weight_bound
        self.preselect = preselect
        self.tol = tol
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.verbose = verbose

    def _evidence(self) -> dict[str, Any]:
        found = super()._evidence()
        for label, name in (("lower bound", "bound_"), ("gap to the bound", "gap_")):
            if getattr(self, name, None) is not None:
                found[label] = getattr(self, name)
        return found

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MILPSVM:
        """Find the best subset and fit the machine to it.

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
        self : MILPSVM
        """
        return self._fit(X, y, sample_weight)

    def _check_number(self, n_features: int) -> None:
        units = check_units(self.feature_groups, None, n_features, self._names(n_features))
        self._limits(units)

    def _limits(self, units: Units) -> SubsetLimits:
        """What each unit uses up, and how much there is of it."""
        wanted, p = self.n_features_to_select, units.n_features
        if self.costs is None:
            if self.budget is not None:
                raise ValueError("budget limits the sum of costs; give costs as well.")
            return SubsetLimits.checked(
                [units.sizes], [number_to_select(wanted, p, p)], [_FEATURES], units
            )
        names = getattr(self, "feature_names_in_", None)
        costs = finite_vector("costs", values_by_name(self.costs, "costs", p, names))
        if costs.shape != (p,):
            raise ValueError(f"costs has shape {costs.shape}; X has {p} features.")
        if (costs < 0.0).any():
            raise ValueError("costs must not be negative.")
        uses, limits, kinds = [units.totals(costs)], [self.budget], [_COST]
        if self.budget is None:
            limits = [_part_of(costs.sum(), wanted)]
        elif wanted is not None and wanted != "auto":
            uses, kinds = [*uses, units.sizes], [_COST, _FEATURES]
            limits = [self.budget, number_to_select(wanted, p, p)]
        return SubsetLimits.checked(uses, limits, kinds, units)

    def _fit_machine(self, problem: Any, progress: Progress) -> LinearFit:
        """One machine alone; several are fitted together, with the same features."""
        (fit,) = self._fit_machines([problem])
        assert fit is not None
        return fit

    def _fit_machines(self, problems: list[Any]) -> list[LinearFit | None]:
        begun = time.monotonic()
        X, p = problems[0].X, problems[0].X.shape[1]
        units = check_units(self.feature_groups, None, p, self._names(p))
        limits = self._limits(units)
        try:
            with Progress(type(self).__name__, self.verbose) as progress:
                order = np.arange(len(units.members))
                if (limits.uses.sum(axis=1) > limits.most).any() or self.preselect is not None:
                    order = _order_by_elimination(problems, units, progress)
                order = self._kept(order, units, limits)
                inside = np.sort(order)  # units among which the search is exact
                kept = np.sort(np.concatenate([units.members[u] for u in inside]))
                program = SubsetProgram(
                    X[:, kept],
                    [problem.losses for problem in problems],
                    np.full(len(kept), 0.0 if self.weight_bound is not None else 1.0),
                    np.searchsorted(inside, units.of_feature()[kept]),
                    limits.uses[:, inside],
                    limits.most,
                    None if self.weight_bound is None else np.full(len(kept), self.weight_bound),
                )
                left = None
                if self.time_limit is not None:
                    left = max(1e-3, self.time_limit - (time.monotonic() - begun))
                found = solve_subset_program(
                    program,
                    starts=[np.searchsorted(inside, order)],
                    tol=self.tol,
                    time_limit=left,
                    progress=progress,
                )
        except KeyboardInterrupt:
            return [None] * len(problems)
        self._found = found
        W, near = np.zeros((2, len(problems), p))
        W[:, kept], near[:, kept] = found.fit.W, np.abs(found.fit.G)
        gap = found.fit.objective - found.bound
        return [
            LinearFit(
                coef=w,
                intercept=float(b),
                objective=float(value),
                gap=gap,
                n_iter=found.n_nodes,
                status=found.status,
                left=g,
            )
            for w, b, value, g in zip(W, found.fit.b, found.fit.values, near, strict=True)
        ]

    def _kept(self, order: np.ndarray, units: Units, limits: SubsetLimits) -> np.ndarray:
        """The units among which the search is exact, best first."""
        if self.preselect is None or self.preselect >= units.n_features:
            return order
        order = order[(limits.uses[:, order] <= limits.most[:, None]).all(axis=0)]
        total = np.cumsum(units.sizes[order])
        return order[: max(1, int(np.searchsorted(total, self.preselect, side="right")))]

    def _take(self, fits: list[LinearFit]) -> None:
        found: SubsetResult | None = self.__dict__.pop("_found", None)
        if found is None:  # interrupted before there was anything
            self.objective_ = self.duality_gap_ = self.bound_ = self.gap_ = None
            self.start_objective_ = None
            return
        self.objective_ = found.fit.objective
        self.bound_, self.gap_ = found.bound, found.gap
        self.duality_gap_ = self.objective_ - self.bound_
        self.start_objective_ = found.start

    def _selected(self, scores: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Features with weight, and the others of their groups."""
        p = len(scores)
        units = check_units(self.feature_groups, None, p, self._names(p))
        return (units.totals(scores) > 0.0)[units.of_feature()]

    def _why_unfinished(self) -> str:
        objective, bound = self.objective_, self.bound_
        if objective is not None and bound is not None and self.status_ == "time_limit":
            known = "no lower bound above zero is known (bound_)"
            if bound > 0.0:
                above = 100.0 * (objective - bound) / bound
                known = f"the objective is at most {above:.3g} % above the least one (bound_)"
            return (
                f"time was up after {self.time_limit:g} s; {known}. Raise time_limit or tol, "
                "lower C, or let preselect= narrow the choice."
            )
        return super()._why_unfinished()


class SubsetLimits(NamedTuple):
    """How much of what a subset may use."""

    uses: np.ndarray  # (limits, units)
    most: np.ndarray

    @classmethod
    def checked(
        cls, uses: list[np.ndarray], most: list[Any], kinds: list[str], units: Units
    ) -> SubsetLimits:
        """Refuse limits that no unit keeps."""
        found = cls(np.array(uses, dtype=np.float64), np.array(most, dtype=np.float64))
        if not (found.uses <= found.most[:, None]).all(axis=0).any():
            what = "feature" if units.single else "feature or group"
            least = "; ".join(
                kind.format(what, use.min(), limit)
                for kind, use, limit in zip(kinds, *found, strict=True)
            )
            raise ValueError(
                f"No {what} can be selected: {least}. Raise budget or n_features_to_select."
            )
        return found


def _part_of(total: float, wanted: Any) -> float:
    """The budget that ``n_features_to_select`` stands for where features have costs."""
    if wanted is None or isinstance(wanted, str):
        raise ValueError("costs are given, but no budget; set budget, or n_features_to_select.")
    if isinstance(wanted, bool) or not float(wanted) > 0.0:
        text = "is not understood; with costs it is a positive budget, or a fraction in (0, 1]."
        raise refused("n_features_to_select", wanted, text)
    fraction = isinstance(wanted, float) and wanted <= 1.0
    return float(wanted) * total if fraction else float(wanted)


def _order_by_elimination(problems: list[Any], units: Units, progress: Progress) -> np.ndarray:
    """Units by recursive elimination with the same penalties, best first.

    The losses are squared: that machine takes a moment at any ``C``, and a start need not be good.
    """
    left, gone = np.arange(len(units.members)), []
    while len(left) > 1:
        progress.update(f"elimination, {len(left)} left")
        features = np.sort(np.concatenate([units.members[u] for u in left]))
        squares = np.zeros(units.n_features)
        for problem in problems:
            squares[features] += problem.quick_weights(features) ** 2
        worth = units.totals(squares)[left]
        n_drop = number_to_drop(1 if len(left) <= _WIDE else 0.1, len(left), 1)
        drop = np.argsort(worth, kind="stable")[:n_drop]
        gone.append(left[drop])
        left = np.delete(left, drop)
    return np.concatenate([left, *(part[::-1] for part in reversed(gone))])
