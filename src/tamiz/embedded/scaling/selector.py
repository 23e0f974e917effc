"""What all selectors based on scaling factors share: parameters, data, result, prediction."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.base import Stopwatch, number_to_select
from tamiz.embedded.scaling.machines import Objective, Sample, TubeTarget
from tamiz.embedded.scaling.path import ALIVE, ScalingPlan, ScalingState, begin, run
from tamiz.kernels import KERNEL_NAMES, Kernel, as_kernel
from tamiz.runtime.checkpoint import open_checkpoint
from tamiz.runtime.progress import Progress
from tamiz.svm.last_machine import INSTEAD, TASK_CONSTRAINTS, LastMachineLearner
from tamiz.svm.svc import SVC
from tamiz.svm.svr import SVR
from tamiz.validation import (
    TOO_LARGE,
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
    inner_fit,
    number_to_drop,
    unchanged_on_error,
    warn_if_unscaled,
)

#: Constraints on the parameters of all selectors based on scaling factors.
SCALING_CONSTRAINTS: dict[str, Any] = {
    "n_features_to_select": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="right"),
        StrOptions({"auto"}),
        None,
    ],
    **TASK_CONSTRAINTS,
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
    "step": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="neither"),
        StrOptions({"half"}),
    ],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "verbose": ["verbose"],
    "checkpoint": [str, PathLike, None],
    "resume": ["boolean"],
}

#: Further constraints, for selectors that take any differentiable kernel.
KERNEL_CONSTRAINTS: dict[str, Any] = {
    "kernel": [StrOptions(set(KERNEL_NAMES) - {"precomputed"}), Kernel, callable],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
}


class Task(NamedTuple):
    """The optimisation problem of a method: objective, schedule and starting point."""

    objective: Objective
    plan: ScalingPlan
    factor: float  # initial factor of every feature
    kernel: Kernel  # kernel of the machine, applied to the scaled features


class ScalingSelector(LastMachineLearner):
    """Base class of selectors based on scaling factors.

    A subclass defines in :meth:`_task` what is minimised, where, and which stage is chosen.
    """

    _squared = False  # whether slack is squared, so that the unit of the target cancels

    @abstractmethod
    def _task(self, kernel: Kernel, sample: Sample, useful: np.ndarray, wanted: int | None) -> Task:
        """State the problem for a kernel whose parameters are all numbers."""

    def _tube(self) -> float:
        """Half-width of the tube of a regression."""
        return float(self.epsilon)

    def _kernel(self) -> Kernel:
        return as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Find the factors and select features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples. Bring the features to comparable scales first.
        y : array-like of shape (n_samples,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C`` by sample; a weight of zero leaves the sample out, a weight of k is
            the same as repeating it k times.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Check, state the problem, carry it to the end, and fit the last machine."""
        watch = Stopwatch()
        self._validate_params()
        X = check_X(self, X, reset=True)
        warn_if_unscaled(self, X)
        check_squares(X)
        n, p = X.shape
        weight = check_sample_weight(sample_weight, n)
        kept = np.flatnonzero(weight)
        target, factor = self._target(y, weight)
        X, weight = X[kept], weight[kept]
        own = self.n_features_to_select in (None, "auto")
        wanted = None if own else number_to_select(self.n_features_to_select, p, None)
        useful = _useful(X)
        with np.errstate(over="ignore"):
            sample = Sample(X, target, weight, self.C * factor)
            check_penalties(sample.penalty * weight)
        kernel = self._kernel().resolve(X, weight)
        if isinstance(self.gamma, Real):
            check_penalties(self.gamma, "gamma")
        _require_derivative(kernel, X)
        # no machine or ball of a linear kernel depends on the origin, whatever the factors
        centre = far_point(X) if kernel.is_linear else None
        near = sample if centre is None else sample._replace(X=X - centre)
        task = self._task(kernel, near, useful, wanted)
        values = target.values if isinstance(target, TubeTarget) else target.codes
        checkpoint = open_checkpoint(self, X, values, weight)
        if checkpoint is not None and checkpoint.state is not None:
            state = ScalingState.of(checkpoint.state)
        else:
            state = begin(task.plan, useful, task.factor)
        interrupted = False
        with Progress(type(self).__name__, self.verbose) as progress:

            def tell(state: ScalingState) -> None:
                value = state.values[-1] if state.values else state.marks[-1][2]
                progress.update(f"{len(state.alive)} of {p} features, objective {value:.6g}")
                if checkpoint is not None:
                    checkpoint.save(state.arrays())

            try:
                run(task.objective, task.plan, state, tell)
            except KeyboardInterrupt:
                interrupted = True
            if checkpoint is not None:
                checkpoint.save(state.arrays(), now=True)
        self._conclude(task, state, sample, wanted, interrupted, watch)

    def _target(self, y: Any, weight: np.ndarray) -> tuple[Labels | TubeTarget, np.ndarray]:
        """The target of the samples that have weight, and the factors of C by class."""
        kept = np.flatnonzero(weight)
        if self._settle_task(y):
            self._refuse_class_weight()
            values = check_regression_target(y, len(weight))[kept]
            unit = self._unit(values, weight[kept])
            factor = np.full(len(kept), 1.0 if self._squared else unit)
            return TubeTarget(values, unit * self._tube()), factor
        labels = check_classes(y, len(weight), weight=weight, quantity=INSTEAD)
        labels = labels._replace(codes=labels.codes[kept])
        self.classes_ = labels.classes
        by_class = check_class_weight(self.class_weight, labels, weight[kept])
        return labels, by_class[labels.codes]

    def _conclude(
        self,
        task: Task,
        state: ScalingState,
        sample: Sample,
        wanted: int | None,
        interrupted: bool,
        watch: Stopwatch,
    ) -> None:
        # remaining features are ordered by factor, the others by when they were eliminated
        order = np.lexsort(
            [
                np.arange(len(state.sigma)),
                -state.merit,
                -np.where(state.left == ALIVE, state.sigma, 0.0),
                -state.left,
            ]
        )
        chosen = state.sigma if state.chosen is None else state.chosen
        n_kept = int(np.count_nonzero(chosen))
        n_selected = n_kept if wanted is None else wanted
        self.scale_ = np.where(np.isin(np.arange(len(chosen)), order[:n_selected]), chosen, 0.0)
        # not known if the first machine was not finished
        self.objective_ = float(state.chosen_value) if state.history else None
        self.history_ = np.array(state.history)
        self.n_iter_ = state.n_iter
        self.status_ = "interrupted" if interrupted else "max_iter" if state.cut else "converged"
        self.kernel_ = task.kernel
        self._finish(
            order=order,
            n_selected=n_selected,
            path=state.path(),
            seconds=watch.seconds,
            notes={
                "status": self.status_,
                "n_evaluations": task.objective.n_evaluations,
                "n_failed": task.objective.n_failed,
            },
        )
        self._columns = (
            np.arange(len(chosen)) if not task.kernel.any_width else np.flatnonzero(self.support_)
        )
        target: Any = sample.labels
        if isinstance(target, TubeTarget):
            C, y = self.C * self._unit(target.values, sample.weight), target.values
            machine: Any = SVR(C=C, epsilon=target.epsilon, kernel=task.kernel)
        else:
            machine = SVC(C=self.C, kernel=task.kernel, class_weight=self.class_weight)
            y = target.classes[target.codes]
        with inner_fit():
            self.estimator_ = machine.fit(self._scaled(sample.X), y, sample_weight=sample.weight)
        self._warn_after_fit(interrupted, task.objective.n_failed)

    def _warn_after_fit(self, interrupted: bool, n_failed: int) -> None:
        """Warn of inexact or unfinished fits; the warnings point at the line that calls ``fit``."""
        name = type(self).__name__
        if n_failed:
            warnings.warn(
                f"{name}: {n_failed} of the machines trained on the way could not be solved up to "
                "the tolerance, so that objective and factors are less exact than they look; "
                "scale the features (sklearn.preprocessing.StandardScaler), or lower C.",
                ConvergenceWarning,
                stacklevel=depth_of_caller(),
            )
        if self.status_ == "converged":
            return
        if interrupted:
            text = "interrupted; the factors reached are kept, and the ranking follows from them."
        else:
            text = (
                f"a descent reached max_iter={self.max_iter} before the objective settled; raise "
                "max_iter or tol, or scale the features (sklearn.preprocessing.StandardScaler)."
            )
        warnings.warn(f"{name}: {text}", ConvergenceWarning, stacklevel=depth_of_caller())

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            scaled = np.ascontiguousarray(X[:, self._columns] * self.scale_[self._columns])
        if not np.isfinite(scaled).all():
            raise ValueError(TOO_LARGE)
        return scaled

    def _reduced(self, X: Any) -> Any:
        check_is_fitted(self, "support_")
        return self._scaled(check_X(self, X, reset=False))

    def _step(self, n: int) -> int:
        """How many of n features are eliminated at once."""
        return number_to_drop(self.step, n, 1)


def _useful(X: np.ndarray) -> np.ndarray:
    """Which features are not constant."""
    if len(X) == 1:
        raise ValueError("There is 1 sample of positive weight; factors need at least two samples.")
    useful = np.asarray((X[:1] != X).any(axis=0))
    if not useful.any():
        raise ValueError(
            "Every feature of X is constant, so that nothing can be learned. Check how X was made."
        )
    return useful


def _require_derivative(kernel: Kernel, X: np.ndarray) -> None:
    """Refuse kernels that have no derivative with respect to the factors, before any work."""
    with np.errstate(over="ignore", invalid="ignore"):
        kernel.track(X[:1]).gradient(np.ones(1))
