"""From data to a selection: the stages of hold-out elimination in their order.

Check, screen one by one if asked to, choose the machine if asked to, eliminate, read the record,
and fit the last machine. The parameters are those of :class:`tamiz.embedded.HoldOutSVM`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from tamiz.base import Stopwatch, number_to_select
from tamiz.embedded._last_machine import LastMachineSelector
from tamiz.embedded.holdout.elimination import (
    Plan,
    Record,
    eliminate,
    kept_at_stop,
    path_of,
    unit_order,
)
from tamiz.embedded.holdout.errors import error_prices, validation_counts
from tamiz.embedded.holdout.far import FarRun
from tamiz.embedded.holdout.judges import KernelJudge, RefitJudge, Run
from tamiz.embedded.holdout.prefilter import prefilter_pvalues, unit_pvalues
from tamiz.embedded.holdout.tune import (
    Grid,
    Table,
    best,
    check_grid,
    resolved,
    tune_machine,
    wanted,
)
from tamiz.kernels import Kernel, as_kernel
from tamiz.runtime.checkpoint import Checkpoint, open_checkpoint
from tamiz.runtime.parallel import refuse_no_jobs
from tamiz.runtime.progress import Progress
from tamiz.runtime.units import Units, check_features, check_units
from tamiz.runtime.workers import crew_of
from tamiz.svm import SVC
from tamiz.validation import (
    Labels,
    check_class_weight,
    check_classes,
    check_squares,
    check_X,
)
from tamiz.validation.unscaled import inner_fit, warn_if_unscaled

#: A matrix of kernel values of all samples that takes more megabytes than this is warned of.
LARGE_MB = 2000.0


class HoldOutElimination(LastMachineSelector):
    """Everything of HoldOutSVM but its parameters."""

    def _fit(self, X: Any, y: Any) -> None:
        watch = Stopwatch()
        self._validate_params()
        refuse_no_jobs(self.n_jobs)
        X = check_X(self, X, reset=True)
        labels = check_classes(y, X.shape[0])
        grid = self._check_judge(X)
        number_to_select(self.n_features_to_select, X.shape[1], X.shape[1])  # refused early
        names = getattr(self, "feature_names_in_", None)
        units = check_units(self.feature_groups, self.fixed_features, X.shape[1], names)
        held_out = validation_counts(labels, self.validation_size)
        prices = error_prices(self.costs, self.balanced, labels, held_out)
        saved = open_checkpoint(self, X, labels.codes)
        state = None if saved is None else saved.state
        if not np.ptp(X, axis=0).any():
            warnings.warn(
                "HoldOutSVM: every feature of X is constant, so that nothing can be learned; the "
                "ranking is a matter of chance.",
                UserWarning,
                stacklevel=3,
            )
        seed = _new_seed(self.random_state) if state is None else int(str(state["seed"]))
        self.classes_ = labels.classes
        kept, local, failed = self._screen(X, labels, units)
        Xk = np.ascontiguousarray(X[:, kept])
        record = Record() if state is None else Record.from_state(state)
        extra = {"seed": str(seed), "tuned": "[]" if state is None else str(state["tuned"])}
        with Progress("HoldOutSVM", self.verbose) as progress, ExitStack() as stack:
            chosen = self._choose_machine(
                Xk, labels, kept, grid, seed, record, extra, saved, progress
            )
            make = self._judge(Xk, labels, local)
            judge = make()
            plan = Plan(
                [np.flatnonzero(labels.codes == k) for k in range(len(labels.classes))],
                held_out,
                prices,
                self.splits_per_step,
                self.ties == "all",
                self.stop == "worse",
                seed,
            )
            if chosen:
                run = self._runner(stack, make)
                eliminate(judge, local, plan, record, run, saved, extra, progress)
            if saved is not None:
                saved.save({**record.state(), **extra}, now=True)
        self.status_ = "converged" if record.complete else "interrupted"
        self._conclude(X, y, kept, local, failed, record, held_out, judge, watch)

    # ------------------------------------------------------------------ before the elimination

    def _check_judge(self, X: np.ndarray) -> Grid | None:
        """The candidates to choose from, if any."""
        if self.estimator is not None:
            if not is_classifier(self.estimator):
                raise ValueError(
                    f"estimator={self.estimator!r} is not a classifier; HoldOutSVM counts errors "
                    "of classification."
                )
            for name, given in (("tune", wanted(self.tune)), ("class_weight", self.class_weight)):
                if given:
                    raise ValueError(
                        f"{name} is for the support vector machine, but estimator= names another "
                        "judge; leave one of them out (the judge has parameters of its own)."
                    )
            return None
        check_squares(X)
        warn_if_unscaled(self, X)
        kernel = self.kernel
        if kernel.precomputed if isinstance(kernel, Kernel) else kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' knows no features, so that none can be eliminated; use a "
                "kernel of the samples, such as 'rbf'."
            )
        megabytes = 8e-6 * len(X) ** 2
        if megabytes > LARGE_MB:
            warnings.warn(
                f"HoldOutSVM: X has {len(X)} samples, and every matrix of kernel values between "
                f"them takes {megabytes:.0f} MB; up to three are held at once. Take a random part "
                "of the samples if memory is short.",
                UserWarning,
                stacklevel=4,
            )
        return check_grid(self.tune, self.kernel) if wanted(self.tune) else None

    def _screen(
        self, X: np.ndarray, labels: Labels, units: Units
    ) -> tuple[np.ndarray, Units, list[np.ndarray]]:
        """Features that enter the elimination, their units, and the units that fail, best first."""
        self.__dict__.pop("pvalues_", None)
        categorical = np.zeros(X.shape[1], dtype=bool)
        if self.categorical_features is not None:
            columns = check_features(
                self.categorical_features,
                "categorical_features",
                X.shape[1],
                getattr(self, "feature_names_in_", None),
            )
            categorical[columns] = True
        if self.prefilter is None:
            return np.arange(X.shape[1]), units, []
        self.pvalues_ = prefilter_pvalues(self.prefilter, X, labels.codes, categorical)
        values = unit_pvalues(self.pvalues_, units)
        passed = values <= self.prefilter_level
        by_value = np.argsort(values, kind="stable")
        if not passed.any() and not len(units.fixed):
            warnings.warn(
                f"HoldOutSVM: no feature has a p-value of {self.prefilter_level:g} or less; the "
                "one with the least is kept. Raise prefilter_level, or leave prefilter out.",
                UserWarning,
                stacklevel=4,
            )
            passed[by_value[0]] = True
        inside = [units.members[k] for k in np.flatnonzero(passed)]
        kept = np.sort(np.concatenate([units.fixed, *inside]).astype(np.intp))
        members = [np.searchsorted(kept, features) for features in inside]
        local = Units(members, np.searchsorted(kept, units.fixed), len(kept))
        return kept, local, [units.members[k] for k in by_value if not passed[k]]

    def _choose_machine(
        self,
        X: np.ndarray,
        labels: Labels,
        kept: np.ndarray,
        grid: Grid | None,
        seed: int,
        record: Record,
        extra: dict[str, str],
        saved: Checkpoint | None,
        progress: Progress,
    ) -> bool:
        """Set ``C_`` and ``kernel_``; false if Ctrl-C cut the choice short.

        The table of candidates goes into ``extra``, which every checkpoint holds.
        """
        for name in ("C_", "kernel_", "tuning_"):
            self.__dict__.pop(name, None)
        if self.estimator is not None:
            return True
        kernel = self.kernel
        if not isinstance(kernel, str):
            kernel = as_kernel(kernel).restrict(kept, self.n_features_in_)
        names = ("C", "gamma", "degree", "coef0")
        params: dict[str, Any] = {name: getattr(self, name) for name in names}
        complete = True
        if grid is not None:
            self.tuning_: Table = json.loads(extra["tuned"])

            def keep() -> None:
                extra["tuned"] = json.dumps(self.tuning_)
                if saved is not None:
                    saved.save({**record.state(), **extra})

            complete = tune_machine(
                X,
                labels,
                grid,
                {**params, "kernel": kernel},
                check_class_weight(self.class_weight, labels),
                error_prices(self.costs, self.balanced, labels, np.bincount(labels.codes)),
                self.multiclass,
                self.tol,
                seed % 2**32,
                self.tuning_,
                progress,
                keep,
            )
            params |= best(self.tuning_)
        self.C_ = float(params["C"])
        self.kernel_ = resolved(kernel, params, X)
        return complete

    def _judge(
        self, X: np.ndarray, labels: Labels, units: Units
    ) -> Callable[[], KernelJudge | RefitJudge]:
        """What makes the judge: here, and on every worker of a cluster."""
        n_classes = len(labels.classes)
        if self.estimator is not None:
            names = labels.classes[labels.codes]
            return partial(RefitJudge, X, units, names, n_classes, self.estimator)
        C = self.C_ * check_class_weight(self.class_weight, labels)[labels.codes]
        return partial(
            KernelJudge,
            X,
            units,
            labels.codes,
            n_classes,
            self.multiclass,
            self.kernel_,
            C,
            self.tol,
        )

    def _runner(self, stack: ExitStack, make: Callable[[], Any]) -> Run:
        crew = crew_of(self.n_jobs)
        if crew.far:
            return FarRun(crew, make)
        if crew.alone:
            return lambda function, jobs: [function(*job) for job in jobs]
        parallel = stack.enter_context(Parallel(n_jobs=self.n_jobs, prefer="threads"))
        return lambda function, jobs: (
            parallel(delayed(function)(*job) for job in jobs)
            if len(jobs) > 1
            else [function(*job) for job in jobs]
        )

    # ------------------------------------------------------------------ after the elimination

    def _conclude(
        self,
        X: np.ndarray,
        y: Any,
        kept: np.ndarray,
        units: Units,
        failed: list[np.ndarray],
        record: Record,
        held_out: np.ndarray,
        judge: KernelJudge | RefitJudge,
        watch: Stopwatch,
    ) -> None:
        order = [kept[units.members[k]] for k in unit_order(record, len(units.members))] + failed
        fixed = kept[units.fixed]
        path = path_of(record, units, kept)
        at_stop = len(fixed) + sum(
            len(units.members[k]) for k in kept_at_stop(record, len(units.members))
        )
        known = [step for step in path if step.value is not None]
        self.errors_ = np.array([step.value for step in known])
        self.sizes_ = np.array([step.n_features for step in known], dtype=np.intp)
        self._finish(
            order=np.concatenate([fixed, *order]),
            n_selected=self._n_selected(at_stop, len(fixed), order),
            path=path,
            seconds=watch.seconds,
            notes={
                "status": self.status_,
                "n_at_stop": at_stop,
                "stopped_by_rule": record.stopped is not None,
                "n_validation": int(held_out.sum()),
                "n_prefiltered": sum(len(features) for features in failed),
                "n_fits": judge.n_fits,
            },
        )
        self._tell(judge)
        selected = np.flatnonzero(self.support_)
        machine = self._last_machine(kept) if self.estimator is None else clone(self.estimator)
        with inner_fit():
            self.estimator_ = machine.fit(X[:, selected], y)
        self.selection_.seconds = watch.seconds

    def _n_selected(self, at_stop: int, n_fixed: int, order: list[np.ndarray]) -> int:
        number = number_to_select(
            self.n_features_to_select, n_fixed + sum(map(len, order)), at_stop
        )
        ends = n_fixed + np.cumsum([0, *(len(features) for features in order)])
        first = 0 if n_fixed else 1
        return int(max(ends[first], ends[ends <= number].max(initial=0)))

    def _last_machine(self, kept: np.ndarray) -> SVC:
        return SVC(
            C=self.C_,
            kernel=self.kernel_.restrict(np.flatnonzero(self.support_[kept]), len(kept)),
            multiclass=self.multiclass,
            tol=self.tol,
            class_weight=self.class_weight,
        )

    def _tell(self, judge: KernelJudge | RefitJudge) -> None:
        """Say what a user should know; the warnings point at the line that calls ``fit``."""
        if self.status_ == "interrupted":
            text = "the features not yet removed are ranked by the errors of the last step."
            if len(self.selection_.path) == 1:
                text = "no feature was removed yet, so that all are kept in no particular order."
                if wanted(self.tune):
                    text += f" {len(self.tuning_)} candidates of tune were tried."
            text = f"HoldOutSVM: interrupted; {text}"
            warnings.warn(text, ConvergenceWarning, stacklevel=5)
        if judge.n_early:
            text = (
                f"HoldOutSVM: {judge.n_early} of {judge.n_fits} machines stopped before the "
                "tolerance was reached; scale the features (sklearn.preprocessing.StandardScaler), "
                "or lower C."
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=5)


def _new_seed(random_state: Any) -> int:
    draws = check_random_state(random_state).randint(0, 2**31 - 1, size=4)
    return int(sum(int(draw) << (31 * k) for k, draw in enumerate(draws)))
