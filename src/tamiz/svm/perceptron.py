"""Rosenblatt's perceptron."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from tamiz.solvers.perceptron import PerceptronResult, solve_perceptron
from tamiz.svm.linear import LinearDecision, per_machine, positive_classes
from tamiz.validation import (
    check_classes,
    check_counted_rows,
    check_known_classes,
    check_squares,
    check_X,
    far_from_origin,
    unchanged_on_error,
)


class PerceptronClassifier(LinearDecision):
    """The perceptron: weights change by ``± x`` at every mistake, until there is none.

    If the classes can be separated by a hyperplane, one is found after a number of mistakes that
    :meth:`mistake_bound` bounds. If not, the weights run in a circle for ever; the machine then
    stops at a limit and says so.

    Parameters
    ----------
    max_iter : int, default=1000
        Limit on the passes over the samples.
    learning_rate : float, default=1.0
        Factor on every change. It multiplies the weights and alters no decision.
    fit_intercept : bool, default=True
        Whether to append a constant feature.
    keep : {"last", "best"}, default="last"
        Which weights to return when the classes were not separated: the last, or the best met on
        the way (the pocket), judged by the errors on the training samples.
    shuffle : bool, default=False
        Whether each pass has an order of its own. Only without it can cycling be proved.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
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
    n_mistakes_ : int, float or ndarray of shape (n_classes,)
        Mistakes made while learning, of each machine if there are several; with weights that are
        not integers, a change by a fraction of a step is so much of a mistake.
    n_iter_ : int
        Passes over the samples (of the machine that needed most), the last one, without a
        mistake, included.
    converged_ : bool
        Whether every machine separates its classes.
    status_ : str
        "separated", "cycles" (proof: weights at the start of a pass came back), "limit"
        (max_iter passes made, neither separated nor proved to cycle) or "interrupted" (Ctrl-C:
        the result so far is kept). The worst of the machines.
    bound_ : float, ndarray of shape (n_classes,) or None
        What :meth:`mistake_bound` last returned; None after ``fit``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if X had any.

    See Also
    --------
    HardMarginSVC : The separating hyperplane with the widest margin.
    PegasosClassifier : A similar update that also serves classes which overlap.

    References
    ----------
    .. [1] F. Rosenblatt (1958). The perceptron. Psychological Review 65.
    .. [2] A. B. J. Novikoff (1962). On convergence proofs on perceptrons.
    .. [3] S. I. Gallant (1990). Perceptron-based learning algorithms. IEEE Transactions on Neural
           Networks 1.

    Examples
    --------
    >>> from tamiz.svm import PerceptronClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> conjunction = PerceptronClassifier().fit(X, [0, 0, 0, 1])
    >>> conjunction.status_, conjunction.n_mistakes_
    ('separated', 18)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     PerceptronClassifier().fit(X, [0, 1, 1, 0]).status_  # exclusive or
    'cycles'
    """

    _margins = ()  # any hyperplane that separates will do
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "keep": [StrOptions({"last", "best"})],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        max_iter: int = 1000,
        learning_rate: float = 1.0,
        fit_intercept: bool = True,
        keep: str = "last",
        shuffle: bool = False,
        random_state: Any = None,
        verbose: bool | int = 0,
    ):
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept
        self.keep = keep
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PerceptronClassifier:
        """Learn until no sample is on the wrong side.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample is presented, one time after the other, and counts as a mistake
            with ``keep="best"``. Integers have the effect of rows repeated where they stand; the
            last change of another weight is a fraction of a step. Rows of weight zero are left out.

        Returns
        -------
        self : PerceptronClassifier
        """
        with unchanged_on_error(self):
            self._validate_params()
            X, y, weight = check_counted_rows(X, y, sample_weight)
            X = check_X(self, X, reset=True, accept_sparse=True)
            check_squares(X)
            labels = check_classes(y, X.shape[0])
            self.classes_ = labels.classes
            results: list[PerceptronResult] = []
            for k in positive_classes(len(labels.classes)):
                results.append(
                    solve_perceptron(
                        X,
                        np.where(labels.codes == k, 1.0, -1.0),
                        intercept=self.fit_intercept,
                        learning_rate=float(self.learning_rate),
                        max_iter=0 if self._stopped(results) else self.max_iter,
                        pocket=self.keep == "best",
                        draw=self._order_of(X.shape[0]),
                        weight=weight,
                        verbose=self.verbose,
                    )
                )
            self._set_weights(np.array([result.solution for result in results]))
            mistakes = np.array([result.mistakes for result in results])
            whole = weight is None or (weight == np.floor(weight)).all()
            self.n_mistakes_ = per_machine(mistakes.astype(np.int64) if whole else mistakes)
            self.n_iter_ = max(result.iterations for result in results)
            statuses = [result.status for result in results]
            self.converged_ = all(status == "separated" for status in statuses)
            self.status_ = next(
                s for s in ("interrupted", "limit", "cycles", "separated") if s in statuses
            )
            self.bound_ = None
            if self.status_ == "interrupted":
                self._warn_interrupted(results)
            elif not self.converged_:
                self._say_what_failed(statuses, self.fit_intercept and far_from_origin(X))
        return self

    def mistake_bound(self, machine: Any, X: Any, y: Any) -> Any:
        """Bound the mistakes that any perceptron makes on separable samples.

        If the machine has decision values ``y f(x) ≥ 1``, the bound is the square of the largest
        norm of a sample times the norm of the machine's weights, the constant feature and the
        intercept included. The machine is rescaled so that the smallest of these values is 1; any
        machine that separates will do, and one with a wide margin, such as ``HardMarginSVC``,
        gives a small bound.

        Parameters
        ----------
        machine : estimator
            A fitted linear machine with ``coef_`` and ``intercept_``, one row for each row of
            ``coef_`` here.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        bound : float or ndarray of shape (n_classes,)
            Bound on the number of mistakes, also kept as ``bound_``.
        """
        check_is_fitted(self)
        X = check_X(self, X, reset=False, accept_sparse=True)
        codes = check_known_classes(
            y,
            X.shape[0],
            self.classes_,
            remedy="Pass labels that the perceptron was fitted to.",
        )
        weights = np.atleast_2d(np.asarray(machine.coef_, dtype=np.float64))
        intercept = np.broadcast_to(np.ravel(machine.intercept_), len(weights)).astype(float)
        if weights.shape != self.coef_.shape:
            raise ValueError(
                f"machine.coef_ has shape {weights.shape}, but this perceptron's is "
                f"{self.coef_.shape}; pass a machine fitted to the same classes and features"
                + (", one class against the rest." if len(self.classes_) > 2 else ".")
            )
        if not self.fit_intercept and intercept.any():
            raise ValueError(
                f"machine.intercept_ is {intercept[np.flatnonzero(intercept)[0]]:g}, but this "
                "perceptron has fit_intercept=False; pass a machine without an intercept, "
                "or fit the perceptron with one."
            )
        decision = X @ weights.T + intercept
        positive = positive_classes(len(self.classes_))
        margin = (np.where(codes[:, None] == positive, 1.0, -1.0) * decision).min(axis=0)
        if (margin <= 0).any():
            k = int(np.flatnonzero(margin <= 0)[0])
            name = self.classes_[positive].tolist()[k]
            raise ValueError(
                f"machine does not separate the class {name!r} from the rest of the samples "
                f"(least margin {margin[k]:g}), so there is no bound; pass one that does, "
                "such as HardMarginSVC."
            )
        largest2 = row_norms(X, squared=True).max() + self.fit_intercept
        norm2 = np.einsum("kj,kj->k", weights, weights) + intercept**2
        self.bound_ = per_machine(largest2 * norm2 / margin**2)
        return self.bound_

    def _order_of(self, n: int) -> Callable[[], np.ndarray] | None:
        if not self.shuffle:
            return None
        random = check_random_state(self.random_state)
        return lambda: random.permutation(n)

    def _say_what_failed(self, statuses: list[str], far: bool) -> None:
        names = self.classes_[positive_classes(len(self.classes_))].tolist()
        failed = [repr(name) for name, s in zip(names, statuses, strict=True) if s != "separated"]
        what = (
            "the classes" if len(names) == 1 else f"{', '.join(failed[:5])} from the other classes"
        )
        advice = (
            'keep="best" returns the best weights met; PegasosClassifier or SVC serve classes '
            "that overlap."
        )
        if far:
            self._warn(
                f"{self.n_iter_} passes did not separate {what}. The samples are far from the "
                "origin for how they differ, so that all steps are nearly the same: subtract the "
                f"mean first (sklearn.preprocessing.StandardScaler). {advice}"
            )
        elif self.status_ == "cycles":
            self._warn(
                f"no hyperplane was found that separates {what}, and none will be: after "
                f"{self.n_iter_} passes the weights are back where they were before. {advice}"
            )
        else:
            self._warn(
                f"max_iter={self.max_iter} passes did not separate {what}. If they can be "
                f"separated, a larger max_iter will do it. {advice}"
            )
