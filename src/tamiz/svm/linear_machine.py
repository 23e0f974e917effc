r"""Linear machines over the product of losses and penalties: a classifier and a regression.

.. math::

    \min_{w, b} \; C \sum_i s_i\, L(y_i, \langle w, x_i\rangle + b) + \Omega(w)

Who solves which pair stands in :mod:`tamiz.svm.loss_penalty`. The intercept is never penalised; it
may be left out.
"""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamiz.base import ScoredRegressor
from tamiz.callbacks import TakesCallbacks
from tamiz.display import Evidence, axes, colours, frame_in_notebook, frames
from tamiz.pictures import RegressorPlot
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import one_blas_thread
from tamiz.svm.linear import LinearDecision, per_machine, positive_classes, weights_in_use
from tamiz.svm.loss_penalty import (
    CLASSIFIER_LOSSES,
    OFF_CENTRE,
    PENALTIES,
    REGRESSOR_LOSSES,
    LossEngine,
    MachineFit,
    Mixture,
    SolverLimits,
    Table,
    Weighed,
)
from tamiz.validation import (
    TOO_LARGE,
    by_keyword,
    check_class_weight,
    check_classes,
    check_penalties,
    check_regression_target,
    check_sample_weight,
    check_squares,
    check_X,
    checked,
    depth_of_caller,
    far_point,
    integer_from,
    names_for,
    near_zero,
    positive_numbers,
    real_number,
    unchanged_on_error,
)

if TYPE_CHECKING:
    import pandas as pd

_POSITIVE = Interval(Real, 0, None, closed="neither")
_CONSTRAINTS: dict[str, list[Any]] = {
    "C": [_POSITIVE],
    "penalty": [StrOptions(set(PENALTIES))],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "a": [_POSITIVE],
    "fit_intercept": ["boolean"],
    "tol": [_POSITIVE],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
}


class _Samples(NamedTuple):
    """What ``fit`` and ``path`` make of their arguments."""

    kept: _Kept
    targets: list[np.ndarray]  # of each machine
    shift: float  # of the target
    classes: np.ndarray | None

    @property
    def X(self) -> Any:
        """Samples that have weight, measured from the centre."""
        return self.kept.X

    @property
    def weight(self) -> np.ndarray:
        """Their weights."""
        return self.kept.weight

    @property
    def centre(self) -> np.ndarray | None:
        """What the samples are measured from; None: the origin."""
        return self.kept.centre

    def table(self, intercept: bool) -> Table:
        """The samples as solvers ask for them."""
        return Table(self.kept.X, intercept, self.kept.near)


class LinearPath(NamedTuple):
    """Machines for a range of ``C``, each begun at the one before.

    Attributes
    ----------
    Cs : ndarray of shape (n_values,)
        Penalties on the losses, ascending.
    coefs : ndarray of shape (n_values, n_features) or (n_values, n_classes, n_features)
        Weights at each of them; with more than two classes, of one machine for each class.
    intercepts : ndarray of shape (n_values,) or (n_values, n_classes)
        Intercepts.
    objectives : ndarray of shape (n_values,) or (n_values, n_classes)
        Values of the objective.
    gaps : ndarray of shape (n_values,) or (n_values, n_classes), or None
        The minimum is no further below the objective than this. None if the penalty is not convex.
    n_nonzero : ndarray of shape (n_values,)
        Numbers of features with a weight in any machine.
    statuses : tuple of str
        "converged", "max_iter" or "stalled", the worst of the machines at each ``C``.
    """

    Cs: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray | None
    n_nonzero: np.ndarray
    statuses: tuple[str, ...]

    def to_frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """A data frame with a row for each ``C``: what was found, and the weight of each feature.

        With more than two classes the weights are those of the first machine.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features.
        """
        coefs = self.coefs if self.coefs.ndim == 2 else self.coefs[:, 0]
        table = frames().DataFrame(
            {"C": self.Cs, "n_nonzero": self.n_nonzero, "status": self.statuses}
        )
        given = None if names is None else [str(name) for name in names]
        named = names_for(given, coefs.shape[1])
        weights = frames().DataFrame(coefs, columns=named)
        joined: pd.DataFrame = frames().concat([table, weights], axis=1)
        return joined

    def _repr_html_(self) -> str | None:
        title = f"LinearPath: {len(self.Cs)} machines of {self.coefs.shape[-1]} features"
        return frame_in_notebook(title, lambda: self.to_frame().iloc[:, :3])

    def plot(self, names: Sequence[str] | None = None, top: int = 8, ax: Any = None) -> Any:
        """Draw the weights of the first machine against ``C``.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features.
        top : int, default=8
            How many features, by the largest weight they reach, are drawn in colour and named.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        coefs = self.coefs if self.coefs.ndim == 2 else self.coefs[:, 0]
        if names is not None and len(names) != coefs.shape[1]:
            raise ValueError(f"names holds {len(names)} names for {coefs.shape[1]} features.")
        ax = axes(ax)
        largest = np.abs(coefs).max(axis=0)
        order = np.argsort(-largest, kind="stable")
        order = order[largest[order] > 0]
        for j in order[top:]:
            ax.plot(self.Cs, coefs[:, j], color="0.8", lw=0.8)
        for j, colour in zip(order[:top], colours(len(order[:top])), strict=True):
            label = f"x{j}" if names is None else str(names[j])
            ax.plot(self.Cs, coefs[:, j], color=colour, label=label)
        ax.axhline(0.0, color="0.3", lw=0.8)
        ax.set(xscale="log", xlabel="C", ylabel="weight")
        if len(order):
            ax.legend(fontsize="small", title="by largest weight", frameon=False)
        return ax


class LossAndPenalty(TakesCallbacks, Evidence, BaseEstimator, metaclass=ABCMeta):
    """What the classifier and the regression share; they say which losses there are."""

    C: float
    penalty: str
    l1_ratio: float
    a: float
    fit_intercept: bool
    tol: float
    max_iter: int
    warm_start: bool
    verbose: bool | int

    @abstractmethod
    def _engine(self) -> LossEngine:
        """What solves the problems of the loss."""

    @abstractmethod
    def _samples(self, X: Any, y: Any, sample_weight: Any) -> _Samples:
        """The samples and their target, checked."""

    @checked(
        Cs=positive_numbers,
        n_values=integer_from(1),
        span=real_number(above=1),
    )
    def path(
        self,
        X: Any,
        y: Any,
        *,
        Cs: Any = None,
        n_values: int = 50,
        span: float = 1000.0,
        sample_weight: Any = None,
    ) -> LinearPath:
        """Fit the machine for a range of ``C``, each begun at the one before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels, or the target.
        Cs : array-like of shape (n_values,), default=None
            Penalties on the losses. By default ``n_values``, evenly spaced on a logarithmic scale,
            from the ``C`` at which the first feature enters; where every feature has a weight at
            any ``C`` (the penalties "l2" and "arom"), with 1 in the middle.
        n_values : int, default=50
            How many, if ``Cs`` is not given.
        span : float, default=1000
            Ratio of the last ``C`` to the first, if ``Cs`` is not given.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor on the loss of each sample.

        Returns
        -------
        path : LinearPath
            After Ctrl-C, the values of C done so far, with a ConvergenceWarning. The estimator
            itself stays as it was.
        """
        self._validate_params()
        samples = clone(self)._samples(X, y, sample_weight)
        table, engine = samples.table(self.fit_intercept), self._engine()
        grid = self._grid(Cs, n_values, span, samples, table, engine)
        rows: list[list[MachineFit]] = []
        try:
            with Progress(type(self).__name__, self.verbose) as progress:
                for k, C in enumerate(grid):
                    progress.update(f"C {k + 1} of {len(grid)}")
                    before = [one.state for one in rows[-1]] if rows else [None] * len(samples[1])
                    fits = self._machines(samples, table, engine, float(C), before, progress)
                    if any(one is None or one.status == "interrupted" for one in fits):
                        break
                    rows.append([one for one in fits if one is not None])
        except KeyboardInterrupt:
            pass
        if not rows:
            raise KeyboardInterrupt
        if len(rows) < len(grid):
            self._caution(f"interrupted; {len(rows)} of {len(grid)} values of C are kept.")
        return self._collected(grid[: len(rows)], rows, samples)

    def _grid(
        self,
        Cs: np.ndarray | None,
        n_values: int,
        span: float,
        samples: _Samples,
        table: Table,
        engine: LossEngine,
    ) -> np.ndarray:
        """The values of C of a path, the first where the first weight appears."""
        if Cs is not None:
            check_penalties(Cs * float(samples.weight.max()))
            return Cs
        slope = PENALTIES[self.penalty].slope(Mixture(self.l1_ratio, self.a))
        if slope == 0.0:
            return np.geomspace(span**-0.5, span**0.5, n_values) if n_values > 1 else np.ones(1)
        first = slope * min(
            engine.entry(Weighed(table, y, samples.weight)) for y in samples.targets
        )
        if not np.isfinite(first):
            raise ValueError(
                "No feature enters the path at any C: none varies, or none is related to y. Look "
                "at the columns of X, or give Cs."
            )
        return first * np.geomspace(1.0, span, n_values) if n_values > 1 else np.array([first])

    def _machines(
        self,
        samples: _Samples,
        table: Table,
        engine: LossEngine,
        C: float,
        before: Sequence[Any],
        progress: Progress,
    ) -> list[MachineFit | None]:
        """All machines at one ``C``; None for those that an interruption left undone."""
        penalty, mixture = PENALTIES[self.penalty], Mixture(self.l1_ratio, self.a)
        limits = SolverLimits(float(self.tol), self.max_iter, progress)
        fits: list[MachineFit | None] = [None] * len(samples.targets)
        for k, y in enumerate(samples.targets):
            try:
                given = Weighed(table, y, C * samples.weight)
                found = penalty.fit(engine, given, mixture, before[k], limits)
            except KeyboardInterrupt:
                break
            fits[k] = found
            if found.status == "interrupted":
                break
        return fits

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._validate_params()
        engine = self._engine()
        # threads that BLAS wakes for a look at the table would spin during the fit
        with one_blas_thread() if engine.one_thread else nullcontext():
            samples = self._samples(X, y, sample_weight)
            check_penalties(float(self.C) * float(samples.weight.max()))
            table, before = samples.table(self.fit_intercept), self._before(samples, engine)
            with Progress(type(self).__name__, self.verbose) as progress:
                fits = self._machines(samples, table, engine, float(self.C), before, progress)
        done = [one for one in fits if one is not None]
        if not done:
            raise KeyboardInterrupt
        p = samples.X.shape[1]
        nothing = MachineFit(np.zeros(p), 0.0, np.nan, None, 0, "interrupted")
        self._conclude([nothing if one is None else one for one in fits], samples)

    def _before(self, samples: _Samples, engine: LossEngine) -> list[Any]:
        """Where each machine begins: at the one of the last fit, if that is wanted."""
        none = [None] * len(samples.targets)
        coef = getattr(self, "coef_", None)
        if not self.warm_start or coef is None:
            return none
        weights = np.atleast_2d(coef)
        if weights.shape != (len(samples.targets), samples.X.shape[1]):
            return none
        intercepts = np.atleast_1d(self.intercept_) - samples.shift
        if not self.fit_intercept:
            intercepts = np.zeros(len(weights))
        if samples.centre is not None:
            intercepts = intercepts + weights @ samples.centre
        begin = PENALTIES[self.penalty].begin
        return [begin(engine, w, float(b)) for w, b in zip(weights, intercepts, strict=True)]

    def _conclude(self, fits: list[MachineFit], samples: _Samples) -> None:
        beta = np.array([np.append(one.w, one.b + samples.shift) for one in fits])
        self._take_weights(beta, samples)
        self.objective_ = per_machine(np.array([one.objective for one in fits]))
        lower = [one.lower for one in fits]
        known = None not in lower
        self.dual_objective_ = per_machine(np.array(lower, dtype=float)) if known else None
        gaps = np.array([one.objective - (one.lower or 0.0) for one in fits])
        self.duality_gap_ = per_machine(np.maximum(gaps, 0.0)) if known else None
        left = [one.stationarity for one in fits]
        self.stationarity_ = None if None in left else per_machine(np.array(left, dtype=float))
        self.n_iter_ = per_machine(np.array([max(1, one.iterations) for one in fits]))
        self.status_ = _worst(fits)
        if self.status_ == "interrupted":
            undone = sum(one.iterations == 0 for one in fits)
            rest = f" {undone} machines were not begun." if undone and len(fits) > 1 else ""
            self._caution(f"interrupted; the result so far is kept.{rest}")
        elif self.status_ != "converged":
            self._caution(
                f"the solver stopped ({self.status_}) before the tolerance was reached; scale the "
                "features, or lower C, or raise max_iter."
            )

    @abstractmethod
    def _take_weights(self, beta: np.ndarray, samples: _Samples) -> None:
        """Set the fitted weights."""

    def _collected(
        self, Cs: np.ndarray, rows: list[list[MachineFit]], samples: _Samples
    ) -> LinearPath:
        coefs = np.array([[one.w for one in row] for row in rows])
        intercepts = np.array([[one.b for one in row] for row in rows]) + samples.shift
        if samples.centre is not None:
            intercepts = intercepts - coefs @ samples.centre
        objectives = np.array([[one.objective for one in row] for row in rows])
        gaps = None
        if rows[0][0].lower is not None:
            lower = np.array([[one.lower for one in row] for row in rows])
            gaps = np.maximum(objectives - lower, 0.0)
        n_nonzero = (coefs != 0).any(axis=1).sum(axis=1)
        statuses = tuple(_worst(row) for row in rows)
        missed = sum(status != "converged" for status in statuses)
        if missed:
            self._caution(
                f"the tolerance was not reached at {missed} of {len(rows)} values of C; statuses "
                "say which. Scale the features, or raise max_iter."
            )
        if coefs.shape[1] == 1:
            coefs, intercepts, objectives = coefs[:, 0], intercepts[:, 0], objectives[:, 0]
            gaps = None if gaps is None else gaps[:, 0]
        return LinearPath(Cs, coefs, intercepts, objectives, gaps, n_nonzero, statuses)

    def _caution(self, message: str) -> None:
        said = f"{type(self).__name__}: {message}"
        warnings.warn(said, ConvergenceWarning, stacklevel=depth_of_caller())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _evidence(self) -> dict[str, Any]:
        return weights_in_use(self) | super()._evidence()


def _worst(fits: Sequence[MachineFit]) -> str:
    found = {one.status for one in fits}
    return next(s for s in ("interrupted", "stalled", "max_iter", "converged") if s in found)


class _Kept(NamedTuple):
    """The samples that have weight, from a point near them; their weights, and that point."""

    X: Any
    weight: np.ndarray
    centre: np.ndarray | None
    near: bool | None  # whether no feature is far from zero, if that was looked at


def _kept(X: Any, weight: np.ndarray, intercept: bool) -> _Kept:
    table = X.tocsr() if sparse.issparse(X) else X
    if not weight.all():
        used = np.flatnonzero(weight)
        table, weight = table[used], weight[used]
    if sparse.issparse(table) or not intercept:  # without one the origin is no point like others
        return _Kept(table, weight, None, None)
    if near_zero(table, OFF_CENTRE):
        return _Kept(table, weight, None, True)
    centre = far_point(table)
    if centre is None:
        return _Kept(table, weight, None, False)
    return _Kept(table - centre, weight, centre, None)


def _gives_probabilities(self: LinearMachine) -> bool:
    """Whether the loss is a likelihood."""
    if self.loss in CLASSIFIER_LOSSES and CLASSIFIER_LOSSES[self.loss]().probabilities:
        return True
    raise AttributeError(
        f'loss="{self.loss}" does not model probabilities. Use loss="logistic", or '
        "sklearn.calibration.CalibratedClassifierCV."
    )


class LinearMachine(LossAndPenalty, LinearDecision):
    r"""Linear classifier: any of four losses with any of six penalties.

    .. math::

        \min_{w, b} \; C \sum_i L\bigl(y_i, \langle w, x_i\rangle + b\bigr) + \Omega(w)

    ======================  ==========================================================
    ``loss``                :math:`L(y, f)`, with labels ±1
    ======================  ==========================================================
    ``"hinge"``             :math:`(1 - y f)_+`
    ``"squared_hinge"``     :math:`(1 - y f)_+^2`
    ``"logistic"``          :math:`\log(1 + e^{-y f})`
    ``"squared"``           :math:`(y - f)^2`
    ======================  ==========================================================

    ======================  ==========================================================
    ``penalty``             :math:`\Omega(w)`, with :math:`\rho` the ``l1_ratio``
    ======================  ==========================================================
    ``"l2"``                :math:`\tfrac12 \lVert w\rVert^2`
    ``"l1"``                :math:`\sum_j |w_j|`
    ``"l1l2"``              :math:`\rho \sum_j |w_j| + \tfrac{1-\rho}{2} \lVert w\rVert^2`
    ``"l0"``                :math:`\sum_j (1 - e^{-a|w_j|})`, about the number of features
    ``"l0l2"``              :math:`\rho \sum_j (1 - e^{-a|w_j|})
                            + \tfrac{1-\rho}{2} \lVert w\rVert^2`
    ``"arom"``              :math:`\tfrac12 \lVert w\rVert^2` of features that are multiplied by
                            their weights again and again, about :math:`\sum_j \log |w_j|`
    ======================  ==========================================================

    The first three are convex: the answer comes with a lower bound on the minimum. The others have
    many stationary points; the answer is one of them, and ``stationarity_`` says how nearly.
    The intercept is not penalised; ``fit_intercept=False`` leaves it out. Several classes: one
    machine per class against all others.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the losses; the larger, the less the weights are held back.
    loss : {"hinge", "squared_hinge", "logistic", "squared"}, default="squared_hinge"
        The loss.
    penalty : {"l2", "l1", "l1l2", "l0", "l0l2", "arom"}, default="l2"
        The penalty of the weights.
    l1_ratio : float, default=0.5
        Fraction of the part that selects, in the penalties "l1l2" and "l0l2".
    a : float, default=5.0
        Steepness of "l0" and "l0l2": the larger, the closer to counting features.
    fit_intercept : bool, default=True
        Whether there is a constant. Without one the decision passes through the origin.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    tol : float, default=1e-6
        Duality gap that is accepted, relative to the objective. With "l0" and "l0l2" that of each
        convex problem on the way, and what a step has to gain to be followed by another.
    max_iter : int, default=1000
        Limit on the iterations of one convex problem: Newton steps, programs, or sweeps.
    warm_start : bool, default=False
        Begin at the weights of the last fit. Interior points (the hinge loss) begin afresh.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants.
    classes_ : ndarray
        Labels.
    objective_ : float, or array with several machines
        Value of the objective; with "arom" that of the last machine, in its own features.
    dual_objective_ : float, array or None
        A bound on the minimum from below; None if the penalty is not convex.
    duality_gap_ : float, array or None
        The difference of the two: the minimum is not further away.
    stationarity_ : float, array or None
        Penalties that are not convex only. "l0", "l0l2": the most by which the convex problem with
        the tangent of the penalty could lower the objective from here. "arom": the last change of
        a contribution, as a fraction of the largest.
    n_iter_ : int, or array
        Iterations of the solver, of all convex problems together.
    status_ : str
        "converged", "max_iter", "stalled" (rounding) or "interrupted".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had any.

    See Also
    --------
    LinearMachineRegressor : A numeric target.
    SVC : The hinge loss and other kernels.
    tamiz.embedded.L1SVM : The hinge and the ℓ1 penalty as a selector; so are ``L1L2SVM``,
        ``L0L2SVM``, ``FSV`` and ``AROM`` for their penalties.
    PegasosClassifier : Tables larger than memory.

    References
    ----------
    .. [1] S. S. Keerthi, D. DeCoste (2005). A modified finite Newton method for fast solution of
           large scale linear SVMs. JMLR 6.
    .. [2] M. Massias, A. Gramfort, J. Salmon (2018). Celer: a fast solver for the Lasso with dual
           extrapolation. ICML.
    .. [3] P. S. Bradley, O. L. Mangasarian (1998). Feature selection via concave minimization and
           support vector machines. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.svm import LinearMachine
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = StandardScaler().fit_transform(X)
    >>> machine = LinearMachine(loss="logistic", penalty="l1", C=0.1).fit(Z, y)
    >>> int((machine.coef_ != 0).sum()), round(machine.score(Z, y), 3)
    (8, 0.974)
    >>> machine.duality_gap_ < 1e-6 * machine.objective_
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_CONSTRAINTS,
        "loss": [StrOptions(set(CLASSIFIER_LOSSES))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    @by_keyword
    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        a: float = 5.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.loss = loss
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.a = a
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearMachine:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C for each sample; a weight of zero leaves it out.

        Returns
        -------
        self : LinearMachine
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes; with the logistic loss only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``. With more than two classes, those of the machines divided
            by their sum.
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([expit(-values), expit(values)])
        chances = expit(values)
        total = chances.sum(axis=1, keepdims=True)
        even = np.full_like(chances, 1.0 / chances.shape[1])
        return np.divide(chances, total, out=even, where=total > 0)

    def _engine(self) -> LossEngine:
        return CLASSIFIER_LOSSES[self.loss]()

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> _Samples:
        X = check_X(self, X, reset=True, accept_sparse=True)
        check_squares(X)
        weight = check_sample_weight(sample_weight, X.shape[0])
        labels = check_classes(y, X.shape[0], weight=weight)
        kept = np.flatnonzero(weight)
        some = labels._replace(codes=labels.codes[kept])
        by_class = check_class_weight(self.class_weight, some, weight[kept])
        factor = np.zeros(len(weight))
        factor[kept] = weight[kept] * by_class[some.codes]
        codes = labels.codes[factor > 0]
        if self.loss == "logistic" and len(codes) and (codes == codes[0]).all():
            raise ValueError(
                "class_weight leaves one class only with weight, and the logistic loss then has no "
                "minimum; give both classes a positive weight."
            )
        if not len(codes):
            check_penalties(0.0)
        kept_samples = _kept(X, factor, self.fit_intercept)
        signs = [np.where(codes == k, 1.0, -1.0) for k in positive_classes(len(labels.classes))]
        return _Samples(kept_samples, signs, 0.0, labels.classes)

    def _take_weights(self, beta: np.ndarray, samples: _Samples) -> None:
        assert samples.classes is not None
        self.classes_ = samples.classes
        self._set_weights(beta, centre=samples.centre)


class LinearMachineRegressor(ScoredRegressor, RegressorPlot, LossAndPenalty):
    r"""Linear regression: squared losses with any of six penalties.

    .. math::

        \min_{w, b} \; C \sum_i L\bigl(y_i - \langle w, x_i\rangle - b\bigr) + \Omega(w)

    with :math:`L(r) = r^2`, or :math:`L(r) = (|r| - \varepsilon)_+^2`, which ignores errors inside
    a tube. The penalties are those of :class:`LinearMachine`. With ``n`` samples, ``penalty="l1"``
    is scikit-learn's ``Lasso(alpha=1 / (2 * n * C))`` and ``penalty="l2"`` its
    ``Ridge(alpha=1 / (2 * C))``.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the losses; the larger, the less the weights are held back.
    loss : {"squared", "squared_epsilon_insensitive"}, default="squared"
        The loss. For the one that is not squared see :class:`SVR`.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; with "squared_epsilon_insensitive".
    penalty : {"l2", "l1", "l1l2", "l0", "l0l2", "arom"}, default="l2"
        The penalty of the weights.
    l1_ratio : float, default=0.5
        Fraction of the part that selects, in the penalties "l1l2" and "l0l2".
    a : float, default=5.0
        Steepness of "l0" and "l0l2".
    fit_intercept : bool, default=True
        Whether there is a constant; without one the values at the origin are zero.
    tol : float, default=1e-6
        Duality gap that is accepted, relative to the objective.
    max_iter : int, default=1000
        Limit on the iterations of one convex problem.
    warm_start : bool, default=False
        Begin at the weights of the last fit.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : float
        Constant, which is not penalised.
    objective_, dual_objective_, duality_gap_, stationarity_, n_iter_, status_
        As in :class:`LinearMachine`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had any.

    See Also
    --------
    LinearMachine : Labels.
    SVR : Other kernels, and the tube with a loss that is not squared.

    References
    ----------
    .. [1] R. Tibshirani (1996). Regression shrinkage and selection via the lasso. Journal of the
           Royal Statistical Society B 58.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tamiz.svm import LinearMachineRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> machine = LinearMachineRegressor(penalty="l1", C=0.001).fit(X, y)
    >>> int((machine.coef_ != 0).sum()), machine.status_
    (2, 'converged')
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_CONSTRAINTS,
        "loss": [StrOptions(set(REGRESSOR_LOSSES))],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    @by_keyword
    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared",
        epsilon: float = 0.1,
        penalty: str = "l2",
        l1_ratio: float = 0.5,
        a: float = 5.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.a = a
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearMachineRegressor:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Target.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C for each sample; a weight of zero leaves it out.

        Returns
        -------
        self : LinearMachineRegressor
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the value predicted for each sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Numbers.
        """
        check_is_fitted(self)
        X = check_X(self, X, reset=False, accept_sparse=True)
        with np.errstate(over="ignore", invalid="ignore"):
            if self._centre is None or sparse.issparse(X):
                found = X @ self.coef_ + self.intercept_
            else:
                found = (X - self._centre) @ self.coef_ + self._intercept_there
        if not np.isfinite(found).all():
            raise ValueError(TOO_LARGE)
        return np.asarray(found)

    def _engine(self) -> LossEngine:
        make: Callable[[float], LossEngine] = REGRESSOR_LOSSES[self.loss]
        return make(float(self.epsilon))

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> _Samples:
        X = check_X(self, X, reset=True, accept_sparse=True)
        check_squares(X)
        target = check_regression_target(y, X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0])
        target = target[weight > 0]
        kept = _kept(X, weight, self.fit_intercept)
        with np.errstate(over="ignore", invalid="ignore"):
            shift = float(np.average(target, weights=kept.weight)) if self.fit_intercept else 0.0
            if not np.isfinite(float(np.sum((target - shift) ** 2))):
                raise ValueError(TOO_LARGE)
        return _Samples(kept, [target - shift], shift, None)

    def _take_weights(self, beta: np.ndarray, samples: _Samples) -> None:
        if not np.isfinite(beta).all():
            raise ValueError(TOO_LARGE)
        self.coef_ = np.ascontiguousarray(beta[0, :-1])
        self._centre, self._intercept_there = samples.centre, float(beta[0, -1])
        self.intercept_ = self._intercept_there
        if samples.centre is not None:
            self.intercept_ -= float(self.coef_ @ samples.centre)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
