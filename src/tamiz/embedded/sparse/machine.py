r"""What the sparse linear machines share: a classifier that is a selector by its weights.

(Most are a regression as well: :mod:`tamiz.embedded.sparse.task_machine`.)

Every one of them minimises a penalty of the hinge losses plus a penalty on the weights; the
intercept is free. The penalty has one name throughout, ``C``, and may be given as ``lambda_``
(or ``mu``) where the texts do so; the page *Regularisation* of the documentation holds the table:

.. math::

    C \sum_i \text{hinge}_i + \Omega(w)
    \;\propto\; \sum_i \text{hinge}_i + \lambda\,\Omega(w),\ \lambda = 1/C,
    \;\propto\; \tfrac1n \sum_i \text{hinge}_i + \lambda' \Omega(w),\ \lambda' = 1/(nC).

Several classes: one machine per class tells it from all others. A feature is selected if any
machine gives it weight; its score is the root of the sum of its squared weights over the machines.
If fewer features are asked for than have weights, the machines are fitted again to those selected:
the ranking is that of the first fit, and what predicts sees nothing else.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamiz.base import PathStep, Selector, Stopwatch, number_to_select, order_by
from tamiz.information.columns import safe_units
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads, one_blas_thread
from tamiz.runtime.workers import run_in_threads
from tamiz.solvers.linear_program import HingeLosses
from tamiz.solvers.mixed_interior import PenalisedHinge
from tamiz.svm.linear import LinearDecision, per_machine, positive_classes
from tamiz.svm.linear_machine import LinearMachine
from tamiz.validation import (
    Labels,
    check_class_weight,
    check_classes,
    check_penalties,
    check_regression_target,
    check_sample_weight,
    check_squares,
    check_X,
    depth_of_caller,
    far_point,
    unchanged_on_error,
    warn_if_unscaled,
)

#: Relative differences that only rounding makes: of weights, and of keys that rank the others.
_SAME_WEIGHT, _SAME_KEY = 1e-11, 1e-13

#: Who selects for a numeric target: most of these machines, if they are asked to.
_FOR_NUMBERS = (
    'use L1SVM, L1L2SVM, L0L2SVM, FSV, AROM, MILPSVM, SVMRFE or HoldOutSVM with task="regression"'
)


class LinearFit(NamedTuple):
    """One machine: ``coef @ x + intercept``, and how it was found."""

    coef: np.ndarray
    intercept: float
    objective: float  # in the units of C sum hinge + penalty
    gap: float | None = None  # upper bound on the distance to the minimum, where one is known
    n_iter: int = 0
    status: str = "converged"  # or "max_iter", "time_limit", "stalled", "interrupted"
    history: tuple[float, ...] = ()  # objective after each outer step, where there are several
    path: tuple[PathStep, ...] = ()  # features that left, where they leave step by step
    left: np.ndarray | None = None  # step at which each feature left, the later the better
    scale: np.ndarray | None = None  # factors of the features, where the method has some


class BinaryProblem(NamedTuple):
    """One binary problem: labels ±1 and the penalty of each sample's hinge loss."""

    X: Any  # float64, C-contiguous or CSR
    signs: np.ndarray
    C: np.ndarray

    @property
    def losses(self) -> HingeLosses:
        """The losses alone."""
        return HingeLosses(self.signs, self.C)

    def penalised(self, nu: np.ndarray) -> PenalisedHinge:
        """The problem with an ℓ2 penalty and ``nu`` on the absolute weights."""
        return PenalisedHinge(self.X, self.signs, self.C, nu)

    def quick_weights(self, features: np.ndarray) -> np.ndarray:
        """Weights of a machine with squared losses, which takes a moment at any ``C``."""
        machine = LinearMachine(C=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine.fit(self.X[:, features], self.signs, self.C)
        return machine.coef_[0]

    def restored(self, fit: LinearFit) -> LinearFit:
        """The machine in the units of the target, which labels do not have."""
        return fit


def check_samples(
    owner: Any, X: Any, y: Any, sample_weight: Any, *, accept_sparse: bool = True
) -> tuple[Any, Labels, np.ndarray]:
    """Return the samples that have weight, their labels and weights; ``owner`` learns the names."""
    X = check_X(owner, X, reset=True, accept_sparse=accept_sparse)
    weight = _check_table(X, sample_weight)
    labels = check_classes(y, X.shape[0], weight=weight, quantity=_FOR_NUMBERS)
    if not weight.all():
        kept = np.flatnonzero(weight)
        X, weight = X[kept], weight[kept]
        labels = labels._replace(codes=labels.codes[kept])
    return X, labels, weight


def check_numbers(
    owner: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the samples that have weight, their numeric target and weights."""
    X = check_X(owner, X, reset=True, accept_sparse=True)
    weight = _check_table(X, sample_weight)
    target = check_regression_target(y, X.shape[0])
    if weight.all():
        return X, target, weight
    kept = np.flatnonzero(weight)
    return X[kept], target[kept], weight[kept]


def _check_table(X: Any, sample_weight: Any) -> np.ndarray:
    with one_blas_thread():  # the others, once awake, would spin into the solver's time
        check_squares(X)
    return check_sample_weight(sample_weight, X.shape[0])


def one_against_rest(
    class_weight: Any, labels: Labels, weight: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the labels ±1 of each machine and the factors on its losses.

    "balanced" gives both sides of every machine the same total. Balancing the classes instead would
    leave a class of K with the (K-1)-th part of what the others weigh together.
    """
    machines = []
    for k in positive_classes(len(labels.classes)):
        by_side = Labels(np.array([0, 1]), (labels.codes == k).astype(np.intp))
        if isinstance(class_weight, str):
            factor = check_class_weight(class_weight, by_side, weight)[by_side.codes]
        else:
            factor = check_class_weight(class_weight, labels, weight)[labels.codes]
        machines.append((np.where(by_side.codes, 1.0, -1.0), weight * factor))
    return machines


class SparseLinearMachine(LinearDecision, Selector):
    """Base of the sparse linear machines; a subclass says how one binary machine is fitted.

    A subclass defines ``_fit_machine(problem, progress)``, has the parameters ``C``,
    ``class_weight``, ``n_features_to_select``, ``n_jobs`` and ``verbose``, and calls :meth:`_fit`
    from ``fit``. ``_fit_machine`` may be called in several threads at once: it leaves
    ``self`` alone.
    """

    _tables = 5  # of the size of X, that a fit works on
    _sparse = True  # whether sparse X is taken
    _threads = True  # whether n_jobs is for the machines of several classes
    _loosen = "Raise C (lower lambda_)"  # what lets features in

    @abstractmethod
    def _fit_machine(self, problem: BinaryProblem, progress: Progress) -> LinearFit:
        """Fit one machine to labels ±1."""

    def _take(self, fits: list[LinearFit]) -> None:
        """Set the attributes that only this method has."""

    def _check_number(self, n_features: int) -> None:
        """Refuse a wrong number of features before the work."""
        number_to_select(self.n_features_to_select, n_features, n_features)

    def _selected(self, scores: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Mask of the features selected; ``order`` has those of most weight first."""
        n_features = number_to_select(
            self.n_features_to_select, len(scores), int(np.count_nonzero(scores))
        )
        support = np.zeros(len(scores), dtype=bool)
        support[order[:n_features]] = True
        return support

    def _penalty(self, total_weight: float) -> float:
        """``C``, from whichever parameter states it."""
        mu = getattr(self, "mu", None)
        if mu is not None:
            return mu / total_weight
        lambda_ = getattr(self, "lambda_", None)
        if lambda_ is None:
            return self.C
        check_penalties(lambda_, "lambda_")
        return 1.0 / lambda_

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, list[tuple[np.ndarray, np.ndarray]], float]:
        """The samples that have weight, what each machine is to learn with its factors, the total.

        Sets ``classes_``.
        """
        X, labels, weight = check_samples(self, X, y, sample_weight, accept_sparse=self._sparse)
        sides = one_against_rest(self.class_weight, labels, weight)
        self.classes_ = labels.classes
        return X, sides, float(weight.sum())

    def _problem(self, X: Any, side: np.ndarray, C: np.ndarray) -> Any:
        """The problem of one machine."""
        return BinaryProblem(X, side, C)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        with unchanged_on_error(self):
            watch = Stopwatch()
            self._validate_params()
            X, sides, total_weight = self._read(X, y, sample_weight)
            warn_if_unscaled(self, X)
            self._check_number(X.shape[1])
            C = self._penalty(total_weight)
            for _, w in sides:
                check_penalties(float(C) * float(w.max()))
            for name in ("a", "nu"):
                if getattr(self, name, 0) != 0:
                    check_penalties(getattr(self, name), name)
            centre = far_point(X)
            X = X if centre is None else X - centre
            with limit_threads(getattr(self, "n_jobs", None)):
                problems = [self._problem(X, side, C * w) for side, w in sides]
                fits = self._fit_and_restore(problems)
                nothing = LinearFit(np.zeros(X.shape[1]), 0.0, np.nan, status="interrupted")
                n_missing = fits.count(None)
                self._conclude([nothing if f is None else f for f in fits], n_missing, watch)
                if self.coef_[:, ~self.support_].any() and self.status_ != "interrupted":
                    self._fit_again(problems)
                if centre is not None:
                    beta = np.column_stack([self.coef_, self.intercept_])
                    self._set_weights(beta, centre=centre)
        return self

    def _fit_again(self, problems: list[BinaryProblem]) -> None:
        """Fit to the selected features only, so that what is selected is what predicts."""
        chosen = np.flatnonzero(self.support_)
        if not len(chosen):  # the weights that are left are rounding
            self._set_weights(np.column_stack([np.zeros_like(self.coef_), self.intercept_]))
            return
        some = [
            fit
            for fit in self._fit_and_restore([p._replace(X=p.X[:, chosen]) for p in problems])
            if fit is not None
        ]
        beta = np.zeros((len(problems), self.coef_.shape[1] + 1))
        if len(some) < len(problems):  # interrupted: what was there, without the features left out
            self.status_ = "interrupted"
            beta[:, chosen] = self.coef_[:, chosen]
            beta[:, -1] = self.intercept_
            self.objective_ = self.duality_gap_ = None
        else:
            beta[:, chosen] = [fit.coef for fit in some]
            beta[:, -1] = [fit.intercept for fit in some]
            self.objective_ = per_machine(np.array([fit.objective for fit in some]))
            gaps = [fit.gap for fit in some]
            self.duality_gap_ = None if None in gaps else per_machine(np.array(gaps, dtype=float))
        self._set_weights(beta)
        self.selection_.notes["fitted_again"] = True

    def _fit_and_restore(self, problems: list[Any]) -> list[LinearFit | None]:
        """All machines, in the units of the target."""
        fits = self._fit_machines(problems)
        pairs = zip(problems, fits, strict=True)
        return [None if fit is None else problem.restored(fit) for problem, fit in pairs]

    def _fit_machines(self, problems: list[BinaryProblem]) -> list[LinearFit | None]:
        """All machines; None for those that an interruption left undone."""
        fits: list[LinearFit | None] = [None] * len(problems)
        name, n_jobs = type(self).__name__, getattr(self, "n_jobs", None)

        def fit(k: int, progress: Progress) -> bool:
            found = self._fit_machine(problems[k], progress)
            fits[k] = found
            return found.status != "interrupted"

        try:
            if n_jobs in (None, 1) or len(problems) == 1 or not self._threads:
                with Progress(name, self.verbose) as progress:
                    all(fit(k, progress) for k in range(len(problems)))  # up to an interruption
            else:
                run_in_threads(fit, range(len(problems)), name)
        except KeyboardInterrupt:  # outside the iterations, which keep what they have reached
            pass
        return list(fits)

    def _conclude(self, fits: list[LinearFit], n_missing: int, watch: Stopwatch) -> None:
        self._set_weights(np.array([[*fit.coef, fit.intercept] for fit in fits]))
        self.objective_ = (
            None
            if n_missing == len(fits)
            else per_machine(np.array([fit.objective for fit in fits]))
        )
        gaps = [fit.gap for fit in fits]
        self.duality_gap_ = (
            None if any(gap is None for gap in gaps) else per_machine(np.array(gaps, dtype=float))
        )
        self.n_iter_ = max(fit.n_iter for fit in fits)
        statuses = {fit.status for fit in fits}
        self.status_ = next(
            s
            for s in ("interrupted", "stalled", "time_limit", "max_iter", "converged")
            if s in statuses
        )
        self.__dict__.pop("history_", None)
        if any(fit.history for fit in fits):
            self.history_ = fits[0].history if len(fits) == 1 else [fit.history for fit in fits]
        self._take(fits)
        units = safe_units(np.abs(self.coef_).max(axis=0))
        scores = np.sqrt(np.sum((self.coef_ / units) ** 2, axis=0)) * units
        n_kept = int(np.count_nonzero(scores))
        left = [fit.left for fit in fits if fit.left is not None]
        ties = [np.max(left, axis=0)] if left else []
        order = order_by(_levels(scores, _SAME_WEIGHT), *(_levels(key, _SAME_KEY) for key in ties))
        self._finish(
            order=order,
            support=self._selected(scores, order),
            scores=scores,
            # one machine's steps say nothing about when a feature leaves the others
            path=list(fits[0].path) if len(fits) == 1 else [],
            seconds=watch.seconds,
            notes={"n_nonzero": n_kept, "status": self.status_},
        )
        self._warn_after_fit(n_kept, n_missing)

    def _why_unfinished(self) -> str:
        """What to say of a solver that stopped early."""
        return (
            f"the solver stopped ({self.status_}) before the tolerance was reached; "
            "scale the features (sklearn.preprocessing.StandardScaler), or raise max_iter."
        )

    def _warn_after_fit(self, n_kept: int, n_missing: int) -> None:
        """Say what a user should know; the warnings point at the line that calls ``fit``."""
        name = type(self).__name__
        if self.status_ == "interrupted":
            rest = f" {n_missing} machines were not begun." if n_missing else ""
            text = f"{name}: interrupted; the result so far is kept.{rest}"
            warnings.warn(text, ConvergenceWarning, stacklevel=depth_of_caller())
        elif self.status_ != "converged":
            text = f"{name}: {self._why_unfinished()}"
            warnings.warn(text, ConvergenceWarning, stacklevel=depth_of_caller())
        elif not n_kept:  # otherwise it may be for want of time
            warnings.warn(
                f"{name}: every weight is zero, so that the prediction is always the same. "
                f"{self._loosen} to let features in, unless no feature varies.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )


def _levels(values: np.ndarray, rounding: float) -> np.ndarray:
    """Ranks of values that are not negative, where those that differ by rounding only are equal.

    Copies of a feature have the same weight up to rounding; they are ranked as the columns stand.
    """
    order = np.argsort(values)
    ascending = values[order]
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.cumsum(np.append(False, ascending[:-1] < (1.0 - rounding) * ascending[1:]))
    return ranks
