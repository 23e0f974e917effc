"""The ℓ1 machine: hinge losses and a penalty that sets weights to zero."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.embedded.sparse.machine import LinearFit, Priced, SparseLinearMachine
from tamiz.runtime.parallel import N_JOBS
from tamiz.runtime.progress import Progress
from tamiz.solvers.linear_program import HingeProgram, solve_hinge_program
from tamiz.validation.keywords import by_keyword

SOLVERS = {"auto": "auto", "lp": "vertex", "interior_point": "interior_point"}


class L1SVM(SparseLinearMachine):
    r"""Linear support vector machine with an ℓ1 penalty: it drops features as it fits.

    .. math::

        \min_{w, b} \; C \sum_i (1 - y_i(\langle w, x_i\rangle + b))_+ + \sum_j |w_j|

    The losses are those of :class:`~tamiz.svm.SVC`, not their squares, and the intercept is not
    penalised. An ℓ2 penalty shrinks all weights; this one makes many of them exactly zero, and the
    features that keep a weight are selected. The penalty measures all features by the same rule:
    scale them first.

    The problem is a linear program. Its solution comes with a lower bound on the minimum, and
    ``duality_gap_`` is the distance to it.

    Parameters
    ----------
    C : float, default=1.0
        Price of the losses, positive. The smaller, the fewer features;
        :func:`l1_svm_path` finds the value where the first one enters.
    lambda_ : float, default=None
        If given, replaces ``C`` by ``1/lambda_``: the factor on the penalty when the losses
        have none.
    solver : {"auto", "lp", "interior_point"}, default="auto"
        "lp" ends in a vertex of the set of optimal solutions, by HiGHS on programs that grow by
        the features and samples they lack. "interior_point" takes Newton steps towards the middle
        of that set; equal features then share their weight. "auto" does the latter and goes
        on to a vertex where there is a choice, so that of equal features one is kept.
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
        Labels.
    objective_ : float or ndarray of shape (n_classes,)
        Value of the objective.
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
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "lambda_": [Interval(Real, 0, None, closed="neither"), None],
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
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor on the loss of each sample. A weight of two is the sample twice; a weight of
            zero leaves it out.

        Returns
        -------
        self : L1SVM
        """
        return self._fit(X, y, sample_weight)

    def _fit_machine(self, problem: Priced, progress: Progress) -> LinearFit:
        program = HingeProgram(*problem, np.ones(problem.X.shape[1]))
        found = solve_hinge_program(
            program,
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
