"""The fast judge of support vector machines: the scores of the plain one, sooner.

Three things are saved beside the plain judge. Kernel values come from those of a neighbouring
subset (:mod:`tamiz.search.svc.bases`) and cover training and test samples alike, so that the value
of a machine at a test sample is an entry of its gradient. Machines are solved to rounding by a few
compiled calls (:mod:`tamiz.search.svc.solve`), without estimators, checks and copies. And to leave
out a sample that is no support vector changes nothing, so that leave-one-out fits once and refits
the support vectors only.

The plain judge solves machines of this size to rounding too, so both come to the same predictions,
unless a value is so close to a boundary that rounding decides. Such a split is left to the plain
judge, as is everything that did not converge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from tamiz.search.judges import CrossValidation, Judge
from tamiz.search.svc.bases import Gram, Grams, Plan
from tamiz.search.svc.folds import Columns, Fold, Problem
from tamiz.search.svc.solve import Machine, gradient, settle, without
from tamiz.svm.multiclass import class_scores

#: Values closer to a boundary than this are not for rounding to decide.
_CLOSE = 1e-7
#: Machines with fewer samples than this share of all get a matrix of their own.
_SMALL_PART = 0.75
#: So many neighbours must be asked for to fit the machines that theirs start from.
_WORTH_A_START = 4
#: Splits that leave out this few samples start from the machine fitted to all.
_FEW_LEFT_OUT = 3


class Doubt(Exception):
    """Rounding would decide: ask the plain judge."""


class FastSVC(Judge):
    """Cross-validation of ``tamiz.svm.SVC``, alone or behind a scaler.

    Parameters
    ----------
    plain : CrossValidation
        The judge whose scores are given.
    machine : SVC
        The estimator, or the last step of the pipeline.
    scaler : StandardScaler, MinMaxScaler or None
        The first step of the pipeline.
    kernel : Kernel
        RBF, Linear or Polynomial, as the parameters of ``machine`` say.
    direct : bool
        Whether the only metric is accuracy.
    """

    prefer = "threads"

    def __init__(
        self, plain: CrossValidation, machine: Any, scaler: Any, kernel: Any, direct: bool
    ):
        self.plain = plain
        self.metrics, self.n_splits = plain.metrics, plain.n_splits
        self.direct = direct
        X, y, weight = plain.X, plain.y, plain.sample_weight
        self.folds = [_fold(*split, y, weight, machine) for split in plain.splits]
        own = scaler is not None
        needs = own or kernel.pairwise_form.gamma == "scale"
        weights = [None if weight is None else weight[train] for train, _ in plain.splits]
        everyone = np.arange(len(X))
        whole = Columns(X, everyone)
        statistics = [whole]
        if needs:
            statistics = [
                Columns(X, train, scaler, w)
                for (train, _), w in zip(plain.splits, weights, strict=True)
            ]
        self.grams = Grams(kernel, statistics if own else [whole], statistics, len(X))
        self.same_kernel = not needs  # one matrix serves all splits
        self.few_left_out = all(
            len(X) - len(train) <= _FEW_LEFT_OUT for train, _ in plain.splits
        ) and all(fold is not None for fold in self.folds)
        self.leave_one_out = self.same_kernel and _is_leave_one_out(
            plain.splits, len(X), y, machine
        )
        self.starts: dict[int, np.ndarray] = {}
        self.everyone: Fold | None = None
        if self.few_left_out:
            self.everyone = _fold(everyone, everyone, y, weight, machine)

    def approach(self, features: np.ndarray | None, n_subsets: int = 1) -> None:
        self.grams.approach(features)
        self.starts = {}
        if features is not None and len(features) and n_subsets >= _WORTH_A_START:
            plan = self.grams.plan(features)
            K = self.grams.gram(plan, 0) if self.same_kernel else None
            self.starts = {
                k: self._fit_for_start(fold, self.grams.gram(plan, k) if K is None else K)
                for k, fold in enumerate(self.folds)
                if fold is not None and len(fold.classes) == 2
            }

    def _fit_for_start(self, fold: Fold, K: Gram) -> np.ndarray:
        """The machine of the neighbour: whoever begins there has less to do."""
        lower, upper, p = fold.problems()[0].bounds(len(K))
        return settle(K, np.zeros(len(K)), p.copy(), lower, upper).b

    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        numbers = range(self.n_splits)[splits]
        plan = self.grams.plan(features)
        K = self.grams.gram(plan, 0) if self.same_kernel else None
        values: dict[int, np.ndarray] = {}
        start: np.ndarray | None = None
        if self.everyone is not None:
            machines = self._machines_of_all(plan, K)
            if machines is not None and self.leave_one_out and K is not None:
                values = self._leave_one_out(K, machines, numbers)
            elif machines is not None and len(machines) == 1:
                start = machines[0].b
        results = [self._one(plan, k, K, values.get(k), start) for k in numbers]
        return np.array(results, dtype=np.float64).T

    # ------------------------------------------------------------------ one split

    def _one(
        self,
        plan: Plan,
        k: int,
        K: Gram | None,
        values: np.ndarray | None,
        start: np.ndarray | None,
    ) -> list[float]:
        train, test = self.plain.splits[k]
        fold = self.folds[k]
        if fold is not None:
            try:
                if values is None:
                    K = self.grams.gram(plan, k) if K is None else K
                    start = self.starts.get(k) if start is None else start
                    values = self._values(fold, K, start)
                return self._measure(fold, values, test)
            except Doubt:
                pass
        return self.plain._one(plan.features, train, test)

    def _values(self, fold: Fold, K: Gram, start: np.ndarray | None) -> np.ndarray:
        """Values of every machine of a split at its test samples."""
        columns = [_value(problem, K, fold.test, start) for problem in fold.problems()]
        return columns[0][:, None] if len(columns) == 1 else np.column_stack(columns)

    def _measure(self, fold: Fold, values: np.ndarray, test: np.ndarray) -> list[float]:
        if len(fold.classes) == 2:
            decisions = values[:, 0]
            gap = np.abs(decisions)
            winner = (decisions > 0).astype(np.intp)
        else:
            decisions = class_scores(values, len(fold.classes), fold.scheme)
            winner = decisions.argmax(axis=1)
            two = np.partition(decisions, -2, axis=1)[:, -2:]
            gap = two[:, 1] - two[:, 0]
            if fold.scheme == "ovo":
                gap = np.minimum(gap, np.abs(values).min(axis=1))
        if not gap.min() > _CLOSE:
            raise Doubt
        plain = self.plain
        if self.direct:
            right = winner == fold.test_codes
            if plain.sample_weight is None:
                return [np.count_nonzero(right) / len(test)]
            return [float(np.average(right, weights=plain.sample_weight[test]))]
        predictions = fold.classes[winner]
        answers = Answers(fold.classes, predictions, decisions)
        try:
            found = plain.measure(answers, np.arange(len(test))[:, None], test)
        except Exception:  # the plain judge says it in the words of the estimator itself
            raise Doubt from None
        if answers.asked and _has_ties(decisions):
            raise Doubt  # ranks would be up to rounding
        return found

    # ------------------------------------------------------------------ few samples left out

    def _machines_of_all(self, plan: Plan, K: Gram | None) -> list[Machine] | None:
        """The machines fitted to all samples, if all of them are beyond doubt."""
        assert self.everyone is not None
        K = self.grams.gram(plan, 0) if K is None else K
        machines = []
        for problem in self.everyone.problems():
            lower, upper, p = problem.bounds(len(K))
            machine = settle(K, np.zeros(len(K)), p.copy(), lower, upper)
            if not _is_sure(machine, K):
                return None
            machines.append(machine)
        return machines

    def _leave_one_out(
        self, K: Gram, machines: list[Machine], numbers: range
    ) -> dict[int, np.ndarray]:
        """Values of all machines at the sample left out, for each split that is beyond doubt."""
        assert self.everyone is not None
        table = np.empty((len(numbers), len(machines)))
        sure = np.ones(len(numbers), dtype=bool)
        for t, (problem, machine) in enumerate(
            zip(self.everyone.problems(), machines, strict=True)
        ):
            lower, upper, p = problem.bounds(len(K))
            lower, upper = lower.copy(), upper.copy()
            for row, k in enumerate(numbers):
                i = int(self.plain.splits[k][1][0])
                takes_part = lower[i] < upper[i]
                if not takes_part or (machine.b[i] == 0.0 and machine.free):
                    table[row, t] = machine.g[i] - p[i] - machine.multiplier
                    continue
                ends = lower[i], upper[i]
                lower[i] = upper[i] = 0.0
                b = without(K, machine.b, lower, upper)
                other = settle(K, b, gradient(K, b, p), lower, upper)
                lower[i], upper[i] = ends
                sure[row] &= _is_sure(other, K)
                table[row, t] = other.g[i] - p[i] - other.multiplier
        return {k: table[[row]] for row, k in enumerate(numbers) if sure[row]}


class Answers(ClassifierMixin, BaseEstimator):
    """Predictions known beforehand, in the form that scorers ask for."""

    def __init__(self, classes: Any, predictions: Any, decisions: Any):
        self.classes = classes
        self.predictions = predictions
        self.decisions = decisions
        self.classes_ = classes
        self.asked = False

    def predict(self, X: Any) -> np.ndarray:
        """The predictions."""
        return self.predictions

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision values."""
        self.asked = True
        return self.decisions


# ---------------------------------------------------------------------- one machine


def _value(problem: Problem, K: Gram, test: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    """Fit a machine and return its values at the test samples."""
    n = len(K)
    samples = problem.samples
    if len(samples) >= _SMALL_PART * n:
        lower, upper, p = problem.bounds(n)
        if start is None:
            b, g = np.zeros(n), p.copy()
        else:
            b = without(K, start, lower, upper)
            g = gradient(K, b, p)
        machine = settle(K, b, g, lower, upper)
        values = machine.g[test] - p[test] - machine.multiplier
    else:
        part = K.part(samples)
        own = Problem(np.arange(len(samples)), problem.signs, problem.C)
        lower, upper, p = own.bounds(len(samples))
        machine = settle(part, np.zeros(len(p)), p.copy(), lower, upper)
        used = np.flatnonzero(machine.b)
        K.rows(samples[used])
        values = machine.b[used] @ K.K[samples[used][:, None], test] - machine.multiplier
    if not _is_sure(machine, K):
        raise Doubt
    return values


def _is_sure(machine: Machine, K: Gram) -> bool:
    """Whether a machine converged, and rounding of kernel values cannot have moved it much."""
    return machine.certain and (1e-13 * machine.weight * K.largest <= _CLOSE)


def _has_ties(decisions: np.ndarray) -> bool:
    """Whether two samples have decision values that only rounding tells apart."""
    if len(decisions) < 2:
        return False
    ordered = np.sort(decisions, axis=0)
    return bool(np.diff(ordered, axis=0).min() <= _CLOSE * 1e-2)


# ---------------------------------------------------------------------- splits


def _fold(
    train: np.ndarray, test: np.ndarray, y: np.ndarray, weight: np.ndarray | None, machine: Any
) -> Fold | None:
    """What the split amounts to; None if a machine cannot be fitted, which the plain one says."""
    try:
        return Fold(train, test, y, weight, machine)
    except ValueError:
        return None


def _is_leave_one_out(splits: list[Any], n: int, y: np.ndarray, machine: Any) -> bool:
    """Whether every split leaves out one sample and nothing else depends on which."""
    if machine.class_weight == "balanced":
        return False
    alone = all(
        len(test) == 1 and len(train) == n - 1 and test[0] not in train for train, test in splits
    )
    return alone and bool(np.unique(y, return_counts=True)[1].min() >= 2)
