"""The ℓ1 machine: hinge losses and a penalty that sets weights to zero; and its path over C."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import order_by
from tamiz.display import axes, colours, frame_in_notebook, frames
from tamiz.embedded.sparse.machine import LinearFit, check_samples, one_against_rest
from tamiz.embedded.sparse.task_machine import TaskMachine
from tamiz.runtime.progress import Progress, interruption
from tamiz.solvers.l1_programs import entry_penalty
from tamiz.solvers.linear_program import HingeProgram, ProgramResult, solve_hinge_program
from tamiz.svm.last_machine import TASK_CONSTRAINTS
from tamiz.validation import (
    N_JOBS,
    by_keyword,
    checked,
    class_weights,
    integer_from,
    names_for,
    one_of,
    positive_numbers,
    real_number,
    verbosity,
)

if TYPE_CHECKING:
    import pandas as pd

SOLVERS = {"auto": "auto", "lp": "vertex", "interior_point": "interior_point"}


class L1SVM(TaskMachine):
    r"""Linear support vector machine with an ℓ1 penalty: it drops features as it fits.

    .. math::

        \min_{w, b} \; C \sum_i (1 - y_i(\langle w, x_i\rangle + b))_+ + \sum_j |w_j|

    The losses are those of :class:`~tamiz.svm.SVC`, not their squares, and the intercept is not
    penalised. An ℓ2 penalty shrinks all weights; this one makes many of them exactly zero, and the
    features that keep a weight are selected. The penalty measures all features by the same rule:
    scale them first.

    For a numeric target the losses are those of :class:`~tamiz.svm.SVR`, ``max(0, |residual| -
    epsilon)``.

    The problem is a linear program. Its solution comes with a lower bound on the minimum, and
    ``duality_gap_`` is the distance to it.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the losses, positive. The smaller, the fewer features;
        :func:`l1_svm_path` finds the value where the first one enters.
    lambda_ : float, default=None
        If given, replaces ``C`` by ``1/lambda_``: the factor on the penalty when the losses
        have none.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a machine is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Measure ``epsilon`` in standard deviations of the target (``C`` has no unit here); for a
        regression only.
    solver : {"auto", "lp", "interior_point"}, default="auto"
        "lp" ends in a vertex of the set of optimal solutions, by HiGHS on programs that grow by
        the features and samples they lack. "interior_point" takes Newton steps towards the middle
        of that set; equal features then share their weight. "auto" does the latter and goes
        on to a vertex where there is a choice, so that of equal features one is kept. A
        regression is one program for HiGHS whatever this is, and ends in a vertex; some thousands
        of samples by hundreds of features take seconds.
    tol : float, default=1e-6
        Gap between objective and lower bound that is accepted, relative to the objective.
    max_iter : int, default=200
        Limit on Newton steps (some 15 to 40 are usual) and on programs solved.
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class; a class that is not named has 1.
        "balanced" gives both sides of each machine the same total.
    n_features_to_select : int, float, "auto" or None, default=None
        A number or fraction of features to select from the top of the ranking. By default all
        that have a weight. If that leaves some out, the machine is fitted again without them.
    n_jobs : int, default=None
        Threads for the machines of several classes; the answer does not depend on it.
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
        Value of the objective; with ``scale_target`` that of the divided target.
    duality_gap_ : float or ndarray of shape (n_classes,)
        The minimum is not further below ``objective_`` than this.
    n_iter_ : int
        Newton steps and programs of the longest machine.
    status_ : str
        "converged", "max_iter", "stalled" (rounding admits no further progress) or "interrupted".
    scores_ : ndarray of shape (n_features,)
        ``|w_j|``; of several machines the root of the sum of squares.
    order_, ranking_, support_, selection_
        As for every selector. Features without weight are ranked by ``|Σ α_i y_i x_ij|``, which
        reaches 1 where a feature enters: the nearer, the better.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had any.

    See Also
    --------
    l1_svm_path : The machines for a range of ``C``, and the order in which features enter.
    RobustLP : No penalty.
    FSV : A penalty that counts features rather than adding weights.

    References
    ----------
    .. [1] P. S. Bradley, O. L. Mangasarian (1998). Feature selection via concave minimization and
           support vector machines. ICML.
    .. [2] J. Zhu, S. Rosset, T. Hastie, R. Tibshirani (2004). 1-norm support vector machines.
           NIPS 16.
    .. [3] A. Dedieu, R. Mazumder, H. Wang (2022). Solving L1-regularized SVMs and related linear
           programs: revisiting the effectiveness of column and constraint generation. JMLR 23(164).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import L1SVM
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> machine = L1SVM(C=0.01).fit(Z, y)
    >>> machine.selection_.selected
    ['worst concave points', 'worst radius', 'mean concave points', 'worst texture']
    >>> bool(machine.duality_gap_ <= 1e-6 * machine.objective_), machine.score(Z, y) > 0.9
    (True, True)

    A numeric target:

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> machine = L1SVM(task="regression", C=0.01, scale_target=True).fit(Z, y)
    >>> machine.selection_.selected[:3], round(machine.score(Z, y), 1)
    (['s5', 'bmi', 'bp'], 0.4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "lambda_": [Interval(Real, 0, None, closed="neither"), None],
        **TASK_CONSTRAINTS,
        "solver": [StrOptions(set(SOLVERS))],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_features_to_select": [Real, StrOptions({"auto"}), None],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    @by_keyword
    def __init__(
        self,
        *,
        C: float = 1.0,
        lambda_: float | None = None,
        task: str = "classification",
        epsilon: float = 0.1,
        scale_target: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
        class_weight: dict[Any, float] | str | None = None,
        n_features_to_select: int | float | str | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.lambda_ = lambda_
        self.task = task
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> L1SVM:
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
        self : L1SVM
        """
        return self._fit(X, y, sample_weight)

    def _fit_machine(self, problem: Any, progress: Progress) -> LinearFit:
        found = problem.losses.program(problem.X, np.ones(problem.X.shape[1])).solve(
            method=SOLVERS[self.solver],
            tol=self.tol,
            max_iter=self.max_iter,
            progress=progress,
        )
        return LinearFit(
            coef=found.w,
            intercept=found.b,
            objective=found.objective,
            gap=found.gap,
            n_iter=found.iterations,
            status=found.status,
            left=np.abs(found.g),
        )


class L1Path(NamedTuple):
    """What :func:`l1_svm_path` returns.

    Attributes
    ----------
    Cs : ndarray of shape (n_values,)
        Penalties on the losses, ascending.
    coefs : ndarray of shape (n_values, n_features)
        Weights at each of them.
    intercepts : ndarray of shape (n_values,)
        Intercepts.
    objectives : ndarray of shape (n_values,)
        Values of the objective, ``C`` times the losses plus the ℓ1 norm.
    gaps : ndarray of shape (n_values,)
        Distances to the lower bounds.
    n_nonzero : ndarray of shape (n_values,)
        Numbers of features with weight.
    entry : ndarray of shape (n_features,)
        Position in ``Cs`` at which each feature first has a weight; n_values if it never has.
    order : ndarray of shape (n_features,)
        Features by entry, earliest first; those that enter together by weight, those that never
        enter by how close they come at the last ``C``.
    classes : ndarray of shape (2,)
        Labels; positive decision values speak for the second.
    statuses : tuple of str
        How each machine was found: "converged", or "max_iter" or "stalled" if its gap is larger
        than the tolerance.
    """

    Cs: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    n_nonzero: np.ndarray
    entry: np.ndarray
    order: np.ndarray
    classes: np.ndarray
    statuses: tuple[str, ...]

    def to_frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """A data frame with a row for each ``C``: what was found, and the weight of each feature.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features.
        """
        table = frames().DataFrame(
            {"C": self.Cs, "n_nonzero": self.n_nonzero, "status": self.statuses}
        )
        given = None if names is None else [str(name) for name in names]
        named = names_for(given, self.coefs.shape[1])
        weights = frames().DataFrame(self.coefs, columns=named)
        joined: pd.DataFrame = frames().concat([table, weights], axis=1)
        return joined

    def _repr_html_(self) -> str | None:
        title = f"L1Path: {len(self.Cs)} machines of {self.coefs.shape[1]} features"
        return frame_in_notebook(title, lambda: self.to_frame().iloc[:, :3])

    def plot(self, names: Sequence[str] | None = None, top: int = 8, ax: Any = None) -> Any:
        """Draw the weights against ``C``.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features.
        top : int, default=8
            How many features, by order of entry, are drawn in colour and named.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        if names is not None and len(names) != len(self.order):
            raise ValueError(f"names holds {len(names)} names for {len(self.order)} features.")
        ax = axes(ax)
        entered = [j for j in self.order if self.entry[j] < len(self.Cs)]
        for j in entered[top:]:
            ax.plot(self.Cs, self.coefs[:, j], color="0.8", lw=0.8)
        for j, colour in zip(entered[:top], colours(len(entered[:top])), strict=True):
            label = f"x{j}" if names is None else str(names[j])
            ax.plot(self.Cs, self.coefs[:, j], color=colour, label=label)
        ax.axhline(0.0, color="0.3", lw=0.8)
        ax.set(xscale="log", xlabel="C", ylabel="weight")
        if entered:
            ax.legend(fontsize="small", title="by order of entry", frameon=False)
        return ax


@checked(
    Cs=positive_numbers,
    n_values=integer_from(1),
    span=real_number(above=1),
    class_weight=class_weights,
    solver=one_of(*SOLVERS),
    tol=real_number(above=0),
    max_iter=integer_from(1),
    verbose=verbosity,
)
def l1_svm_path(
    X: Any,
    y: Any,
    *,
    Cs: Any = None,
    n_values: int = 50,
    span: float = 1000.0,
    class_weight: dict[Any, float] | str | None = None,
    sample_weight: Any = None,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 200,
    verbose: bool | int = 0,
) -> L1Path:
    """Fit :class:`L1SVM` for a range of ``C``, each with the features of the one before first.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    Cs : array-like of shape (n_values,), default=None
        Penalties C; by default ``n_values`` from the one at which the first feature enters, evenly
        spaced on a logarithmic scale.
    n_values : int, default=50
        How many, if ``Cs`` is not given.
    span : float, default=1000
        Ratio of the last ``C`` to the first, if ``Cs`` is not given.
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class.
    sample_weight : array-like of shape (n_samples,), default=None
        Factor on the loss of each sample.
    solver : {"auto", "lp", "interior_point"}, default="auto"
        As in :class:`L1SVM`.
    tol : float, default=1e-6
        Gap that is accepted, relative to the objective.
    max_iter : int, default=200
        Limit on Newton steps and programs at one value of C.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    path : L1Path
        After Ctrl-C, the values of C done so far; a ConvergenceWarning says so, as it does where a
        machine missed the tolerance.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import l1_svm_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = l1_svm_path(StandardScaler().fit_transform(X), y, n_values=8, span=100)
    >>> path.n_nonzero.tolist()[:3], bool(path.n_nonzero[-1] > 5)
    ([0, 4, 6], True)
    >>> path.order[:2].tolist()
    [20, 27]
    """
    X, labels, weight = check_samples(BaseEstimator(), X, y, sample_weight)
    if len(labels.classes) != 2:
        raise ValueError(
            f"y has {len(labels.classes)} classes; a path is that of one machine, which tells two "
            "classes apart. Call it for each class against the others."
        )
    ((signs, weight),) = one_against_rest(class_weight, labels, weight)
    for sign, label in zip((-1.0, 1.0), labels.classes.tolist(), strict=True):
        if not weight[signs == sign].any():
            raise ValueError(
                f"class_weight leaves class {label!r} without weight, so there is nothing to tell "
                "it from; give both classes a positive weight."
            )
    c = np.ones(X.shape[1])
    grid = _grid(Cs, n_values, span, X, signs, weight, c)
    found: list[ProgramResult] = []
    try:
        with Progress("l1_svm_path", verbose) as progress:
            for k, C in enumerate(grid):
                progress.update(f"C {k + 1} of {len(grid)}")
                result = solve_hinge_program(
                    HingeProgram(X, signs, C * weight, c),
                    method=SOLVERS[solver],
                    tol=tol,
                    max_iter=max_iter,
                    start=found[-1] if found else None,
                    progress=progress,
                )
                if result.status == "interrupted":  # not what it would have become
                    break
                found.append(result)
    except KeyboardInterrupt:
        pass
    if not found:
        raise interruption()
    _warn_of_unfinished(found, len(grid))
    return _collect(found, grid[: len(found)], labels.classes)


def _warn_of_unfinished(found: list[ProgramResult], n_values: int) -> None:
    """Warn of values of C that were not done, or not to the tolerance."""
    texts = []
    if len(found) < n_values:
        texts.append(f"interrupted; {len(found)} of {n_values} values of C were done and are kept.")
    missed = [result.status for result in found if result.status != "converged"]
    if missed:
        texts.append(
            f"the solver stopped ({', '.join(sorted(set(missed)))}) before the tolerance was "
            f"reached at {len(missed)} of {len(found)} values of C; statuses and gaps say which. "
            "Scale the features (sklearn.preprocessing.StandardScaler), or raise max_iter."
        )
    for text in texts:
        warnings.warn(f"l1_svm_path: {text}", ConvergenceWarning, stacklevel=4)


def _grid(
    Cs: np.ndarray | None,
    n_values: int,
    span: float,
    X: Any,
    signs: np.ndarray,
    weight: np.ndarray,
    c: Any,
) -> np.ndarray:
    if Cs is not None:
        return Cs
    first = entry_penalty(X, signs, weight, c)
    if not np.isfinite(first):
        raise ValueError(
            "No feature enters the path at any C: none varies, or the class with less weight "
            "lies amid the other, where no plane lowers the losses. Try class_weight='balanced', "
            "or look at the columns of X."
        )
    return first * np.geomspace(1.0, span, n_values) if n_values > 1 else np.array([first])


def _collect(found: list[ProgramResult], Cs: np.ndarray, classes: np.ndarray) -> L1Path:
    coefs = np.array([result.w for result in found])
    entered = coefs != 0
    entry = np.where(entered.any(axis=0), entered.argmax(axis=0), len(Cs))
    at_entry = np.abs(coefs[np.minimum(entry, len(Cs) - 1), np.arange(coefs.shape[1])])
    return L1Path(
        Cs=Cs,
        coefs=coefs,
        intercepts=np.array([result.b for result in found]),
        objectives=np.array([result.objective for result in found]),
        gaps=np.array([result.gap for result in found]),
        n_nonzero=entered.sum(axis=1),
        entry=entry,
        order=order_by(-entry.astype(np.float64), at_entry, np.abs(found[-1].g)),
        classes=classes,
        statuses=tuple(result.status for result in found),
    )
