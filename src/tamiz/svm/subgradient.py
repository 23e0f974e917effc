"""The linear soft-margin machine by subgradient descent over all samples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.solvers.subgradient import HingeProblem, SubgradientResult, solve_subgradient
from tamiz.svm.linear import LinearDecision, lambda_of, per_machine, positive_classes
from tamiz.validation import (
    check_class_weight,
    check_classes,
    check_sample_weight,
    check_squares,
    check_X,
    far_from_origin,
    unchanged_on_error,
    warn_if_far,
)


class SubgradientClassifier(LinearDecision):
    """Linear support vector machine fitted by subgradient descent, with a guarantee.

    Minimises ``lambda_/2 ‖w‖²`` plus the weighted mean of the hinge losses. Every step looks at
    all samples. It is the plainest method there is, slow beside the others, and deterministic:
    its value lies in ``bound_``, which holds for every data set, and in sample weights that mean
    exactly what repeated samples mean. The intercept is the weight of a constant feature and is
    penalised like the others. Subtract the means of the features first: where samples are over five
    times farther from the origin than from their mean, which has a warning, the machine may be no
    better than chance.

    Parameters
    ----------
    lambda_ : float, default=1e-2
        Regularisation, positive.
    C : float, default=None
        If given, replaces ``lambda_`` by ``1/(n C)``, with n the number of samples or the sum of
        their weights, which states the problem of ``SVC(C=C, kernel="linear")``.
    step : {"constant", "decreasing"}, default="constant"
        Length of step t of T: ``B/(ρ√T)``, with ρ a bound on the subgradients in the ball, or
        ``1/(lambda_ t)``, which has the better guarantee for larger ``lambda_`` and T.
    radius : float, default=None
        ``B``: the minimum is sought among the weights (intercept included) of at most this norm.
        Otherwise the ball is one that is known to hold the minimum.
    max_iter : int, default=1000
        Number of steps T.
    average : bool or "best", default=True
        Whether to return the average of the iterates or (False) the last one, for which there is
        no bound. "best" returns the iterate with the least objective, for which the bound of the
        average holds as well.
    tol : float, default=None
        If given, the number of steps is the smallest for which ``bound_`` is at most ``tol``,
        if that is no more than ``max_iter``.
    fit_intercept : bool, default=True
        Whether to append a constant feature.
    class_weight : dict or "balanced", default=None
        Factor on the losses of the samples of each class; a class that is not named has 1.
        "balanced" gives all classes the same total.
    verbose : bool or int, default=0
        Show progress.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    objective_ : float or ndarray of shape (n_classes,)
        Objective on the training data, of each machine if there are several.
    bound_ : float, ndarray of shape (n_classes,) or None
        ``objective_`` exceeds the minimum (in the ball) by no more than this: ``Bρ/√T`` for
        constant steps, ``ρ²(1 + log T)/(2 lambda_ T)`` for decreasing ones. None if
        ``average=False``.
    n_iter_ : int
        Steps taken.
    status_ : str
        "limit" (max_iter steps made), "converged" (``bound_`` is at most ``tol``) or
        "interrupted" (Ctrl-C: the result so far is kept, and ``bound_`` is that of the steps
        made).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if X had any.

    See Also
    --------
    PegasosClassifier : The same objective by single samples; streams.
    SVC : The exact solution, and kernels.
    tamiz.solvers.subgradient.subgradient_descent : The method for any convex function.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David (2014). Understanding machine learning, chapter 14.
           Cambridge University Press.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from tamiz.svm import SubgradientClassifier
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> machine = SubgradientClassifier(lambda_=0.1, step="decreasing").fit(X, y)
    >>> bool(machine.score(X, y) > 0.9), machine.status_
    (True, 'limit')
    >>> bool(machine.objective_ - machine.bound_ < machine.objective_)
    True

    The best iterate has the same guarantee:

    >>> best = SubgradientClassifier(lambda_=0.1, step="decreasing", average="best").fit(X, y)
    >>> best.bound_ == machine.bound_
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lambda_": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "step": [StrOptions({"constant", "decreasing"})],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "average": ["boolean", StrOptions({"best"})],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        lambda_: float = 1e-2,
        *,
        C: float | None = None,
        step: str = "constant",
        radius: float | None = None,
        max_iter: int = 1000,
        average: bool | str = True,
        tol: float | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = 0,
    ):
        self.lambda_ = lambda_
        self.C = C
        self.step = step
        self.radius = radius
        self.max_iter = max_iter
        self.average = average
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SubgradientClassifier:
        """Fit the machine.

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
        self : SubgradientClassifier
        """
        with unchanged_on_error(self):
            self._validate_params()
            X = check_X(self, X, reset=True, accept_sparse=True)
            check_squares(X)
            warn_if_far(self, self.fit_intercept and far_from_origin(X))
            own = check_sample_weight(sample_weight, X.shape[0])
            labels = check_classes(y, X.shape[0], weight=own)
            if not own.all():
                kept = np.flatnonzero(own)
                X, own = X[kept], own[kept]
                labels = labels._replace(codes=labels.codes[kept])
            total = own.sum()
            lambda_ = lambda_of(self.lambda_, self.C, total)
            weight = own * check_class_weight(self.class_weight, labels, own)[labels.codes] / total
            self.classes_ = labels.classes
            results: list[SubgradientResult] = []
            for k in positive_classes(len(labels.classes)):
                signs = np.where(labels.codes == k, 1.0, -1.0)
                results.append(
                    solve_subgradient(
                        HingeProblem(X, signs, weight, lambda_, self.fit_intercept),
                        step=self.step,
                        radius=self.radius,
                        n_iter=0 if self._stopped(results) else self.max_iter,
                        average=self.average,
                        tol=self.tol,
                        verbose=self.verbose,
                    )
                )
            self._set_weights(np.array([result.solution for result in results]))
            self.objective_ = per_machine(np.array([result.objective for result in results]))
            bounds = [result.bound for result in results]
            self.bound_ = (
                None if None in bounds else per_machine(np.array(bounds, dtype=np.float64))
            )
            self.n_iter_ = max(result.iterations for result in results)
            statuses = {result.status for result in results}
            # the worst of the machines
            self.status_ = next(s for s in ("interrupted", "limit", "converged") if s in statuses)
            if self.status_ == "interrupted":
                self._warn_interrupted(results)
            elif self.status_ == "limit" and self.tol is not None:
                worst = "unknown" if self.bound_ is None else f"{np.max(self.bound_):.3g}"
                self._warn(
                    f"after max_iter={self.max_iter} steps the bound on the gap is {worst}, above "
                    f"tol={self.tol:g}; increase max_iter, lambda_ or tol, or scale the features."
                )
        return self
