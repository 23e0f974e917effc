"""The linear machine with two penalties: one that classifies, one that selects."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.embedded.sparse.machine import LinearFit
from tamiz.embedded.sparse.task_machine import TaskMachine
from tamiz.runtime.progress import Progress
from tamiz.solvers.mixed_hinge import original, solve_penalised
from tamiz.solvers.mixed_interior import centred
from tamiz.svm.last_machine import TASK_CONSTRAINTS
from tamiz.validation import N_JOBS, by_keyword

#: Constraints on the parameters of machines with two penalties.
CONSTRAINTS: dict[str, list[Any]] = {
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "nu": [Interval(Real, 0.0, None, closed="left")],
    "mu": [Interval(Real, 0.0, None, closed="neither"), None],
    **TASK_CONSTRAINTS,
    "n_features_to_select": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "n_jobs": N_JOBS,
    "verbose": ["verbose"],
}


class L1L2SVM(TaskMachine):
    r"""Linear support vector machine with an ℓ2 and an ℓ1 penalty.

    Minimises, with a free intercept,

    .. math::

        C \sum_i \bigl(1 - y_i(\langle w, x_i\rangle + b)\bigr)_+
        + \tfrac12 \lVert w\rVert^2 + \nu \sum_j \lvert w_j\rvert .

    The ℓ1 term sets weights to exactly zero; the ℓ2 term keeps correlated features together, where
    an ℓ1 penalty alone would take one of them at random, and lets more features in than there are
    samples. ``nu=0`` is :class:`~tamiz.svm.SVC` with a linear kernel. The references write
    ``(mu/n) sum(hinge)`` for the losses, which is ``C = mu/n``.

    For a numeric target the losses are those of :class:`~tamiz.svm.SVR`, ``max(0, |residual| -
    epsilon)``, and ``nu=0`` is that machine.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the losses; ignored if ``mu`` is given.
    nu : float, default=0.1
        Penalty on the absolute weights. With standardised features a feature can enter only if its
        correlation with the dual variables exceeds ``nu``; at ``nu >= C * n * max|x|`` none does.
    mu : float, optional
        Penalty on the mean loss. If given, it takes the place of ``C``: the machine is that of
        ``C = mu/n`` (with weights: n is their sum).
    task : {"classification", "regression", "auto"}, default="classification"
        Whether ``y`` holds labels or numbers. "auto" decides by ``y``: text and few distinct
        integers are labels. Until it is fitted such a machine is neither a classifier nor a
        regressor, so that folds made around it are not stratified.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target; for a regression only.
    scale_target : bool, default=False
        Divide the target by its standard deviation first: ``C``, ``nu`` and ``epsilon``
        then have no unit. Weights and predictions are in that of the target. For a regression only.
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select from the top of the ranking; by default those with
        a weight. If that leaves some out, the machine is fitted again without them.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class. "balanced" gives both sides of each machine the same total.
    tol : float, default=1e-4
        Duality gap accepted, as a fraction of the objective. Tables on which a Newton step is cheap
        are solved to rounding level whatever it is.
    max_iter : int, default=10000
        Limit on Newton steps and on sweeps of coordinate descent over a large table, together.
    n_jobs : int, default=None
        Threads for the machines of several classes; the answer does not depend on it.
    verbose : bool or int, default=0
        Show progress when fitting takes longer than two seconds.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights, exactly zero for the features left out.
    intercept_ : array of shape (1,) or (n_classes,)
        Constants. Where an interval of them is optimal (no sample exactly on the margin), its
        midpoint.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    epsilon_ : float
        Half-width of the tube in units of the target; for a regression only.
    objective_ : float or array
        Minimum reached, for each machine.
    duality_gap_ : float or array
        Upper bound on the distance to the true minimum; twice the gap bounds
        the squared distance of the weights to the optimal ones.
    scores_ : array of shape (n_features,)
        Root of the sum of the squared weights over the machines.
    support_, ranking_, order_, selection_
        As with every selector; features without weight are ranked by how near they are to
        getting one.
    n_iter_ : int
        Steps taken.
    status_ : str
        "converged", "max_iter", "stalled" (rounding admits no further progress) or "interrupted".

    See Also
    --------
    L0L2SVM : A concave penalty in place of the ℓ1 norm: fewer features.
    tamiz.svm.SVC : The machine without selection.

    References
    ----------
    .. [1] J. Neumann, C. Schnörr, G. Steidl (2005). Combined SVM-based feature selection and
           classification. Machine Learning 61.
    .. [2] L. Wang, J. Zhu, H. Zou (2006). The doubly regularized support vector machine. Statistica
           Sinica 16.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz.embedded import L1L2SVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Z = StandardScaler().fit_transform(X)
    >>> machine = L1L2SVM(C=0.1, nu=2.0).fit(Z, y)
    >>> int(machine.support_.sum()), round(machine.score(Z, y), 3)
    (12, 0.972)
    >>> machine.duality_gap_ < 1e-9 * machine.objective_
    True

    A numeric target:

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
    >>> machine = L1L2SVM(C=0.1, nu=10.0, task="regression", scale_target=True).fit(Z, y)
    >>> machine.selection_.selected, machine.duality_gap_ < 1e-9 * machine.objective_
    (['s5', 'bmi', 'bp', 's3'], True)
    """

    _loosen = "Raise C or lower nu"
    _parameter_constraints = CONSTRAINTS

    @by_keyword
    def __init__(
        self,
        *,
        C: float = 1.0,
        nu: float = 0.1,
        mu: float | None = None,
        task: str = "classification",
        epsilon: float = 0.1,
        scale_target: bool = False,
        n_features_to_select: int | float | str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.C = C
        self.nu = nu
        self.mu = mu
        self.task = task
        self.epsilon = epsilon
        self.scale_target = scale_target
        self.n_features_to_select = n_features_to_select
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> L1L2SVM:
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
        self : L1L2SVM
        """
        return self._fit(X, y, sample_weight)

    def _fit_machine(self, problem: Any, progress: Progress) -> LinearFit:
        X, means = centred(problem.X)
        found = solve_penalised(
            problem._replace(X=X).penalised(np.full(X.shape[1], float(self.nu))),
            tol=self.tol,
            max_iter=self.max_iter,
            progress=progress,
        )
        coef, intercept = original(found, X, means)
        return LinearFit(
            coef=coef,
            intercept=intercept,
            objective=found.objective,
            gap=found.gap,
            n_iter=found.n_iter,
            status=found.status,
            left=np.abs(found.correlation),
        )
