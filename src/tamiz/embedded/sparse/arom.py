"""Few features by rescaling: multiply them by their weights, train again, repeat."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Stopwatch, number_to_select
from tamiz.embedded.sparse.machine import LinearFit
from tamiz.embedded.sparse.streaming import (
    Precision,
    Streamed,
    arom_machines,
    arom_problems,
    one_against_rest,
)
from tamiz.embedded.sparse.task_machine import TaskMachine
from tamiz.runtime.progress import Progress, interruption
from tamiz.solvers.mixed_hinge import solve_penalised
from tamiz.solvers.mixed_interior import Certified, centred
from tamiz.solvers.rescaling import Rescaling, rescale, spread_of
from tamiz.svm.last_machine import TASK_CONSTRAINTS
from tamiz.svm.stream.machine import KEPT, Stream
from tamiz.validation import (
    N_JOBS,
    by_keyword,
    check_level,
    checked,
    integer_from,
    unchanged_on_error,
)

_EXACT = 1e-4  # duality gap of one machine; small tables are solved to rounding level anyway
_INNER = 10_000


class AROM(TaskMachine):
    r"""Selection by rescaling (approximation of the zero norm minimisation).

    A linear support vector machine is trained, every feature is multiplied by the absolute value of
    its weight, and both are repeated until nothing changes. With ``z`` the product of all factors
    so far, each step solves

    .. math::

        \min_{w, b} \; \tfrac12 \lVert w\rVert^2
        + C \sum_i \bigl(1 - y_i(\langle w, z * x_i\rangle + b)\bigr)_+ ,
        \qquad z \leftarrow z * \lvert w\rvert .

    In the original features the weights are ``z * w``. A feature with less weight than others loses
    some of its scale, and with it the next weight: its factor goes to zero faster and faster,
    while those that stay end with equal ``|w_j|``.

    With a hard margin a common factor of all features changes nothing. With a soft margin it
    changes what ``C`` is worth: many features share the weight among them, all their factors are
    small, and after a few steps slack is cheaper than any feature. By default the factors
    therefore get a common factor, which gives the rescaled features the total variance that as
    many standardised ones would have,

    .. math:: \sum_j z_j^2 \operatorname{var}(x_j) = p ,

    with ``p`` the number of features that are not constant. The units of a feature do not matter
    to that; they do to the first machine, from which the iteration starts.

    Without the common factor (``normalize=False``) and in terms of the weights ``v = z * w`` of the
    original features, a step minimises an upper bound of

    .. math:: \sum_j \log \lvert v_j\rvert + C \sum_i \text{hinge}_i ,

    which counts features in a soft way.

    For a numeric target the machines are linear :class:`~tamiz.svm.SVR`, with the losses
    ``max(0, |residual| - epsilon)``.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on violations of the margin. A large one is the hard margin of the original; a
        small one may let all features go.
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a machine is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Divide the target by its standard deviation first: ``C`` and ``epsilon``
        then have no unit. Weights and predictions are in that of the target. For a regression only.
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select from the top of the ranking; by default those that
        are left at the end. If some of those are left out, the machine is fitted again.
    final : {"scaled", "plain"}, default="scaled"
        The machine that predicts: the last one of the iteration, on the rescaled features; or a new
        one on the features that are left, unscaled.
    normalize : bool, default=True
        Give the rescaled features, from the second machine on, the total variance of as many
        standardised ones as there are features in the beginning, constant ones aside. Without it
        the factors are the bare products of the weights, those that stay end with ``|w_j| = 1``,
        and with many features and a small ``C`` none may be left.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class. "balanced" gives both sides of each machine the same total.
    tol : float, default=1e-3
        The iteration ends when no feature leaves and no contribution ``|v_j| std_j`` changes
        by more than this fraction of the largest one.
    max_iter : int, default=100
        Limit on rescalings.
    n_jobs : int, default=None
        Threads for the machines of several classes; the answer does not depend on it.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights for the original features, exactly zero for those that left.
    intercept_ : array of shape (1,) or (n_classes,)
        Constants.
    scale_ : array of shape (n_features,) or (n_classes, n_features)
        Factors ``z`` of the features in the last machine.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    epsilon_ : float
        Half-width of the tube in units of the target; for a regression only.
    objective_ : float or array
        Minimum of the last machine, in its scaled features.
    duality_gap_ : float or array
        Its distance to the true minimum.
    history_ : tuple of float, or list of them
        Minimum of each machine on the way.
    scores_ : array of shape (n_features,)
        Root of the sum of the squared weights over the machines.
    support_, ranking_, order_, selection_
        As with every selector; of the features without weight, those that left later come first,
        then those with the larger contribution at that time. The path tells which left when (of
        two classes; with more, every machine has a path of its own, and none is kept).
    n_iter_ : int
        Machines trained on the way.
    status_ : str
        "converged", "max_iter", "stalled" or "interrupted".
    n_passes_ : int
        Passes over the rows; after ``fit_stream`` only.

    See Also
    --------
    L0L2SVM : Penalises the number of features.
    tamiz.svm.SVC : The first of the machines.

    References
    ----------
    .. [1] J. Weston, A. Elisseeff, B. Schölkopf, M. Tipping (2003). Use of the zero-norm with
           linear models and kernel methods. JMLR 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import AROM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = StandardScaler().fit_transform(X)
    >>> machine = AROM(C=0.1).fit(Z, y)
    >>> int(machine.support_.sum()), round(machine.score(Z, y), 3)
    (4, 0.975)

    A numeric target:

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> AROM(C=0.01, task="regression", scale_target=True).fit(Z, y).selection_.selected
    ['s5', 'bmi', 'bp', 's3', 'sex']
    """

    _loosen = "Raise C"
    _parameter_constraints: dict[str, list[Any]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        **TASK_CONSTRAINTS,
        "n_features_to_select": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"auto"}),
            None,
        ],
        "final": [StrOptions({"scaled", "plain"})],
        "normalize": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    @by_keyword
    def __init__(
        self,
        *,
        C: float = 1.0,
        task: str = "classification",
        epsilon: float = 0.1,
        scale_target: bool = False,
        n_features_to_select: int | float | str | None = None,
        final: str = "scaled",
        normalize: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.task = task
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.n_features_to_select = n_features_to_select
        self.final = final
        self.normalize = normalize
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AROM:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples. Their scale matters to the first machine: standardise first.
        y : array-like of shape (n_samples,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C`` by sample; a weight of k is the same as repeating it k times.

        Returns
        -------
        self : AROM
        """
        return self._fit(X, y, sample_weight)

    @checked(gap=check_level, max_passes=integer_from(1), keep_bytes=KEPT)
    def fit_stream(
        self,
        source: Any,
        *,
        target: Any = None,
        standardize: bool = False,
        gap: float = 1e-6,
        max_passes: int = 2000,
        keep_bytes: int | None = None,
        **options: Any,
    ) -> AROM:
        """Fit the machine to a table that need not fit into memory.

        The same iteration as in ``fit``. Each machine is solved in a few passes over the rows,
        from the weights of the one before, up to a certified gap; the order of the rows and the
        cut into batches do not matter. Memory: about two batches, ``keep_bytes`` and a quarter of
        it, a sample of rows (32 MB), and a square table as wide as the features for each class.

        Parameters
        ----------
        source : path, list of paths, iterable of (X, y), callable, or Batches
            Where the rows come from: whatever :func:`tamiz.scale.batches` takes.
        target : str or int, optional
            Column of the labels.
        standardize : bool, default=False
            Take the features as if they had been scaled to mean 0 and deviation 1 (sparse ones are
            not shifted). ``scores_``, ``scale_`` and the ranking are those of the scaled features;
            ``coef_`` and ``intercept_`` are for the features as they are in the table.
        gap : float, default=1e-6
            Largest duality gap of each machine, as a fraction of its objective. Errors of one
            machine go into the factors of all that follow: a coarse gap may end elsewhere.
        max_passes : int, default=2000
            Limit on passes over the rows.
        keep_bytes : int, optional
            Memory for rows that are kept from pass to pass: all of them, checked and converted, if
            they need no more; and in a quarter of it those near the margin, which save passes.
            By default 1 GiB, or a quarter of the memory that is free if that is less; 0 keeps
            none.
        **options
            For :func:`tamiz.scale.batches`: ``batch_rows``, ``columns``, ``drop``, ``classes`` ...;
            and ``executor`` for passes on a cluster.

        Returns
        -------
        self : AROM
            With the attributes of ``fit``, and ``n_passes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from tamiz.embedded import AROM
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> parts = [(X[:300], y[:300]), (X[300:], y[300:])]
        >>> machine = AROM(C=0.1).fit_stream(parts, standardize=True)
        >>> int(machine.support_.sum()), round(machine.score(X, y), 3)
        (4, 0.975)
        """
        with unchanged_on_error(self), Progress("AROM", self.verbose) as progress:
            watch = Stopwatch()
            self._validate_params()
            if self.task != "classification":
                raise ValueError(
                    f"fit_stream is for classes; task={self.task!r} is not available for a stream. "
                    "Use task='classification', or fit on a sample of the rows."
                )
            self.task_ = "classification"
            self._precision = Precision(gap, max_passes)
            stream = Stream(self, source, target, {**options, "keep_bytes": keep_bytes})
            number_to_select(self.n_features_to_select, stream.n_features, stream.n_features)
            tasks = one_against_rest(stream, self.class_weight, self.C)
            problems: list[Any] = list(arom_problems(stream, tasks, standardize, progress))
            self.classes_ = stream.classes
            fits = self._fit_and_restore(problems)
            nothing = LinearFit(np.zeros(stream.n_features), 0.0, np.nan, status="interrupted")
            if all(fit is None for fit in fits):
                raise interruption()
            self._conclude([nothing if f is None else f for f in fits], fits.count(None), watch)
            if self.coef_[:, ~self.support_].any() and self.status_ != "interrupted":
                self._fit_again(problems)
            if standardize:
                self.coef_ = self.coef_ / problems[0].rows.units.scale
            del self._precision
            self.n_passes_ = problems[0].rows.passes + 1
        return self

    def _fit_machines(self, problems: list[Any]) -> list[LinearFit | None]:
        if not isinstance(problems[0], Streamed):
            return super()._fit_machines(problems)

        def begin(spread: np.ndarray) -> Rescaling:
            return Rescaling(spread, self.normalize, self.tol)

        return arom_machines(problems, begin, self.final == "plain", self._precision, self.max_iter)

    def _take(self, fits: list[LinearFit]) -> None:
        scales = [np.ones(len(fit.coef)) if fit.scale is None else fit.scale for fit in fits]
        self.scale_ = scales[0] if len(scales) == 1 else np.array(scales)

    def _fit_machine(self, problem: Any, progress: Progress) -> LinearFit:
        X, means = centred(problem.X)
        problem = problem._replace(X=X)
        run = Rescaling(spread_of(X, problem.C), self.normalize, self.tol)
        found = rescale(partial(_train, problem), run, self.max_iter, progress)
        coef, status = run.scale * run.w, run.status
        if self.final == "plain" and coef.any() and status != "interrupted":
            kept = np.flatnonzero(coef)
            try:
                found = _train(problem, kept, np.ones(X.shape[1]), progress)
                coef = np.zeros(len(coef))
                coef[kept] = found.w
                status = found.status if found.status == "interrupted" else status
            except KeyboardInterrupt:
                status = "interrupted"
        with np.errstate(over="ignore", invalid="ignore"):
            intercept = float(found.intercept - means @ coef)  # refused by whoever takes it
        return LinearFit(
            coef=coef,
            intercept=intercept,
            objective=found.objective,
            gap=found.gap,
            n_iter=len(run.history),
            status=status,
            history=tuple(run.history),
            path=tuple(run.path),
            left=run.left,
            scale=run.scale,
        )


def _train(problem: Any, alive: np.ndarray, z: np.ndarray, progress: Progress) -> Certified:
    """The linear machine on the features ``alive``, multiplied by their factors."""
    X, factors = problem.X[:, alive], z[alive]
    if sparse.issparse(X):
        X = X.tocsr(copy=True)
        X.data *= factors[X.indices]
    else:
        X = np.ascontiguousarray(X * factors)
    return solve_penalised(
        problem._replace(X=X).penalised(np.zeros(len(alive))),
        tol=_EXACT,
        max_iter=_INNER,
        progress=progress,
    )
