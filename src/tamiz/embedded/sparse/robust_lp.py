"""The robust linear program: hinge losses without a penalty."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.embedded.sparse.machine import BinaryProblem, LinearFit, SparseLinearMachine
from tamiz.runtime.progress import Progress
from tamiz.solvers.linear_program import HingeProgram, solve_unpenalised
from tamiz.validation import N_JOBS


class RobustLP(SparseLinearMachine):
    r"""Plane with the least hinge losses, and of those the one with the least ℓ1 norm.

    .. math::

        \min_{w, b} \; \sum_i (1 - y_i(\langle w, x_i\rangle + b))_+

    No penalty, no margin to widen: only the samples on the wrong side count, and by how far. Many
    planes may share the minimum; on separable data all that separate do, once they are scaled up.
    Of these the machine takes the one with the least ``Σ|w_j|`` (the limit of
    :class:`L1SVM` for growing ``C``), which needs no more features than it must: with more features
    than samples, most weights are zero.

    Parameters
    ----------
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class; a class that is not named has 1.
        "balanced" minimises the sum of the *mean* losses of both sides of each machine, as the
        authors of the method wrote it (times a constant): then ``w = 0`` is never a minimiser
        unless the means of the two sides coincide.
    tol : float, default=1e-6
        Gap between objective and lower bound that is accepted, relative to the larger of the
        objective and the thousandth part of the losses without any feature. A larger one, left by
        rounding, makes ``status_`` "stalled".
    max_iter : int, default=200
        Limit on Newton steps and on programs solved.
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
        Sum of the losses; zero if the classes are separable.
    duality_gap_ : float or ndarray of shape (n_classes,)
        The minimum is not further below ``objective_`` than this.
    n_iter_ : int
        Newton steps and programs of the longest machine.
    status_ : str
        "converged", "max_iter", "stalled" or "interrupted".
    scores_ : ndarray of shape (n_features,)
        ``|w_j|``; of several machines the root of the sum of squares.
    order_, ranking_, support_, selection_
        As for every selector. Features without weight are ranked by how near they come to
        entering under a small penalty.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had any.

    See Also
    --------
    L1SVM : The same losses with a penalty that drops features.
    tamiz.svm.HardMarginSVC : The separating plane with the widest (Euclidean) margin.

    References
    ----------
    .. [1] K. P. Bennett, O. L. Mangasarian (1992). Robust linear programming discrimination of two
           linearly inseparable sets. Optimization Methods and Software 1, 23-34.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.embedded import RobustLP
    >>> X = np.array([[1.0, 3.0], [2.0, 1.0], [-1.0, 2.0], [-2.0, 2.5]])
    >>> machine = RobustLP().fit(X, [1, 1, 0, 0])  # separable: by the first feature alone
    >>> machine.coef_.round(6).tolist(), round(machine.objective_, 6)
    ([[1.0, 0.0]], 0.0)
    """

    _loosen = "Set class_weight='balanced' (or change the weights)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_features_to_select": [Real, StrOptions({"auto"}), None],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_features_to_select: int | float | str | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RobustLP:
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
        self : RobustLP
        """
        return self._fit(X, y, sample_weight)

    def _penalty(self, total_weight: float) -> float:
        return 1.0

    def _fit_machine(self, problem: BinaryProblem, progress: Progress) -> LinearFit:
        program = HingeProgram(*problem, np.ones(problem.X.shape[1]))
        found = solve_unpenalised(program, tol=self.tol, max_iter=self.max_iter, progress=progress)
        return LinearFit(
            coef=found.w,
            intercept=found.b,
            objective=found.objective,
            gap=found.gap,
            n_iter=found.iterations,
            status=found.status,
            left=np.abs(found.g),
        )
