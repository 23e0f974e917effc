r"""What the sparse linear machines share: a classifier that is a selector by its weights.

Every one of them minimises a price of the hinge losses plus a penalty on the weights; the
intercept is free. The price has one name throughout, ``C``, and may be given as ``lambda_``
(or ``mu``) where the texts do so; the page *Regularisation* of the documentation holds the table:

.. math::

    C \sum_i \text{hinge}_i + \Omega(w)
    \;\propto\; \sum_i \text{hinge}_i + \lambda\,\Omega(w),\ \lambda = 1/C,
    \;\propto\; \tfrac1n \sum_i \text{hinge}_i + \lambda' \Omega(w),\ \lambda' = 1/(nC).

Several classes: one machine per class tells it from all others. A feature is selected if any
machine gives it weight; its score is the root of the sum of its squared weights over the machines.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamiz._progress import Progress
from tamiz._validation import (
    check_class_weight,
    check_classes,
    check_sample_weight,
    check_squares,
    check_X,
    unchanged_on_error,
)
from tamiz.base import PathStep, Stopwatch, number_to_select, order_by
from tamiz.selector import Selector
from tamiz.svm._linear import LinearMachine, per_machine, positive_classes


class LinearFit(NamedTuple):
    """One machine: ``coef @ x + intercept``, and how it was found."""

    coef: np.ndarray
    intercept: float
    objective: float  # in the units of C sum hinge + penalty
    gap: float | None = None  # upper bound on the distance to the minimum, where one is known
    n_iter: int = 0
    status: str = "converged"  # or "max_iter", "interrupted"
    history: tuple[float, ...] = ()  # objective after each outer step, where there are several
    path: tuple[PathStep, ...] = ()  # features that left, where they leave step by step
    left: np.ndarray | None = None  # step at which each feature left, the later the better


class Priced(NamedTuple):
    """One binary problem: labels ±1 and the price of each sample's hinge loss."""

    X: Any  # float64, C-contiguous or CSR
    signs: np.ndarray
    C: np.ndarray


class SparseLinearMachine(LinearMachine, Selector):
    """Base of the sparse linear machines; a subclass says how one binary machine is fitted.

    A subclass defines ``_fit_machine(problem, progress)``, has the parameters ``C``,
    ``class_weight``, ``n_features_to_select`` and ``verbose``, and calls :meth:`_fit` from ``fit``.
    """

    _sparse = True  # whether sparse X is taken
    _loosen = "Raise C (lower lambda_)"  # what lets features in

    @abstractmethod
    def _fit_machine(self, problem: Priced, progress: Progress) -> LinearFit:
        """Fit one machine to labels ±1."""

    def _price(self, total_weight: float) -> float:
        """``C``, from whichever parameter states it."""
        mu = getattr(self, "mu", None)
        if mu is not None:
            return mu / total_weight
        lambda_ = getattr(self, "lambda_", None)
        return self.C if lambda_ is None else 1.0 / lambda_

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        with unchanged_on_error(self):
            watch = Stopwatch()
            self._validate_params()
            X = check_X(self, X, reset=True, accept_sparse=self._sparse)
            check_squares(X)
            weight = check_sample_weight(sample_weight, X.shape[0])
            labels = check_classes(y, X.shape[0], weight=weight)
            if not weight.all():
                kept = np.flatnonzero(weight)
                X, weight = X[kept], weight[kept]
                labels = labels._replace(codes=labels.codes[kept])
            # asked for here, so that a wrong number is refused before the work
            number_to_select(self.n_features_to_select, X.shape[1], X.shape[1])
            by_class = check_class_weight(self.class_weight, labels, weight)
            price = self._price(float(weight.sum())) * weight * by_class[labels.codes]
            self.classes_ = labels.classes
            fits: list[LinearFit] = []
            machines = positive_classes(len(labels.classes))
            with Progress(type(self).__name__, self.verbose) as progress:
                for k in machines:
                    signs = np.where(labels.codes == k, 1.0, -1.0)
                    fits.append(self._fit_machine(Priced(X, signs, price), progress))
                    if fits[-1].status == "interrupted":
                        break
            n_missing = len(machines) - len(fits)
            nothing = LinearFit(np.zeros(X.shape[1]), 0.0, np.nan, status="interrupted")
            self._conclude(fits + [nothing] * n_missing, n_missing, watch)
        return self

    def _conclude(self, fits: list[LinearFit], n_missing: int, watch: Stopwatch) -> None:
        self._set_weights(np.array([[*fit.coef, fit.intercept] for fit in fits]))
        self.objective_ = per_machine(np.array([fit.objective for fit in fits]))
        gaps = [fit.gap for fit in fits]
        self.duality_gap_ = (
            None if any(gap is None for gap in gaps) else per_machine(np.array(gaps, dtype=float))
        )
        self.n_iter_ = max(fit.n_iter for fit in fits)
        statuses = {fit.status for fit in fits}
        self.status_ = next(
            s for s in ("interrupted", "stalled", "max_iter", "converged") if s in statuses
        )
        self.__dict__.pop("history_", None)
        if any(fit.history for fit in fits):
            self.history_ = fits[0].history if len(fits) == 1 else [fit.history for fit in fits]
        scores = np.sqrt(np.sum(self.coef_**2, axis=0))
        n_kept = int(np.count_nonzero(scores))
        ties = (
            []
            if fits[0].left is None
            else [np.max([f.left for f in fits if f.left is not None], axis=0)]
        )
        wanted = self.n_features_to_select
        own = wanted is None or (isinstance(wanted, str) and wanted == "auto")
        n_selected = n_kept if own else number_to_select(wanted, len(scores), None)
        self._finish(
            order=order_by(scores, *ties),
            n_selected=n_selected,
            scores=scores,
            path=[step for fit in fits for step in fit.path],
            seconds=watch.seconds,
            notes={"n_nonzero": n_kept, "status": self.status_},
        )
        self._tell(n_kept, n_missing)

    def _tell(self, n_kept: int, n_missing: int) -> None:
        """Say what a user should know; the warnings point at the line that calls ``fit``."""
        name = type(self).__name__
        if self.status_ == "interrupted":
            rest = f" {n_missing} machines were not begun." if n_missing else ""
            text = f"{name}: interrupted; what had been reached is kept.{rest}"
            warnings.warn(text, ConvergenceWarning, stacklevel=5)
        elif self.status_ != "converged":
            text = (
                f"{name}: the solver stopped ({self.status_}) before the tolerance was reached; "
                "scale the features (sklearn.preprocessing.StandardScaler), or raise max_iter."
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=5)
        if not n_kept:
            warnings.warn(
                f"{name}: every weight is zero at this penalty, so no feature is selected and one "
                f"class is always predicted. {self._loosen} to let features in.",
                UserWarning,
                stacklevel=5,
            )
