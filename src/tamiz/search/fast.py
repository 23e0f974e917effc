"""The choice of a judge: the plain one, or the fast one of support vector machines.

The fast one gives the scores of the plain one, sooner, from :mod:`tamiz.svm.path`. Kernel values
come from those of a neighbouring subset and cover training and test samples alike, so that the
value of a machine at a test sample is an entry of its gradient. Machines are solved to rounding by
a few compiled calls, without estimators, checks and copies. And to leave out a sample that is no
support vector changes nothing, so that leave-one-out fits once and refits the support vectors only.

The plain judge solves machines of this size to rounding too, so both come to the same predictions,
unless a value is so close to a boundary that rounding decides. Such a split is left to the plain
judge, as is everything that did not converge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from tamiz.routing import Routes
from tamiz.search.judges import CrossValidation, Judge, Predicted
from tamiz.search.splits import Split
from tamiz.solvers.descent import MAX_VARIABLES
from tamiz.svm import SVC
from tamiz.svm.multiclass import decide
from tamiz.svm.path.exact import Settled, fit, values_at
from tamiz.svm.path.gram import LazyGram, SplitColumns, SubsetGrams, SubsetPlan
from tamiz.svm.path.problem import (
    CLOSE,
    Doubt,
    DualBox,
    SplitProblems,
    has_ties,
    has_usual_sizes,
    keeps_digits,
    machine_and_scaler,
    served_kernel,
)

#: Scores of the plain judge that are kept.
_MOST_KNOWN = 100_000
#: Up to this many samples a machine is solved to rounding by the estimator too.
LARGEST_MACHINE = MAX_VARIABLES
#: Kernel matrices over all samples, training and test, are held for up to this many.
MOST_SAMPLES = 1000
#: Statistics of every feature in every split are held up to this many numbers.
MOST_STATISTICS = 8_000_000
_LOOSEST = 1e-2
#: Where squares of tables vanish, and the inverse of where they overflow.
_SMALLEST = 1e-145
#: So many neighbours must be asked for to fit the machines that theirs start from.
_WORTH_A_START = 4
#: Splits that leave out this few samples start from the machine fitted to all.
_FEW_LEFT_OUT = 3


def judge_for(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    splits: Sequence[Split],
    scoring: Any,
    sample_weight: np.ndarray | None,
    routes: Routes | None = None,
) -> Judge:
    """The fastest judge that scores subsets as ``CrossValidation`` would.

    The fast one serves ``tamiz.svm.SVC`` with a linear, polynomial or radial kernel, alone or in a
    pipeline behind a ``StandardScaler`` or ``MinMaxScaler`` with default parameters, on dense data
    without missing values, with up to 600 samples in a machine.
    """
    plain = CrossValidation(estimator, X, y, splits, scoring, sample_weight, routes)
    if routes is not None or not _is_plain_table(X):
        return plain
    machine, scaler = machine_and_scaler(estimator, {SVC})
    if machine is None or (kernel := served_kernel(machine)) is None:
        return plain
    if scaler is None and not keeps_digits(kernel, X):
        return plain
    if machine.max_iter >= 0 or machine.tol > _LOOSEST:  # small machines not solved to rounding
        return plain
    if sample_weight is not None and not (sample_weight > 0).all():
        return plain
    if not can_stand_in(scoring) or not _fits(plain, X):
        return plain
    form = kernel.pairwise_form
    assert form is not None
    any_unit = form.radial and form.gamma == "scale"
    if scaler is not None:  # the other one takes very small numbers for constants
        any_unit = isinstance(scaler, StandardScaler)
    table = _in_usual_units(X, any_unit)
    if table is None:
        return plain
    direct = scoring is None or scoring == "accuracy"
    return FastSVC(plain, machine, scaler, kernel, direct, table)


def _is_plain_table(X: Any) -> bool:
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or X.ndim != 2:
        return False
    return X.shape[0] <= MOST_SAMPLES and bool(np.isfinite(X).all())


def _in_usual_units(X: np.ndarray, any_unit: bool) -> np.ndarray | None:
    """The table, or a power of two times it if machines are the same in any unit; or None."""
    if has_usual_sizes(X):
        return X
    largest = float(np.abs(X).max())
    if not any_unit or not _SMALLEST < largest < 1.0 / _SMALLEST:
        return None
    moved = np.ldexp(X, -int(np.frexp(largest)[1]))
    return moved if has_usual_sizes(moved) else None


def _fits(plain: CrossValidation, X: np.ndarray) -> bool:
    """Whether every split can be taken the fast way."""
    if plain.n_splits * X.shape[1] > MOST_STATISTICS:
        return False
    return all(
        len(train) <= LARGEST_MACHINE and len(np.unique(train)) == len(train)
        for train, _ in plain.splits
    )


def can_stand_in(scoring: Any) -> bool:
    """Whether the metrics look at predictions and decision values only."""
    from sklearn.metrics._scorer import _BaseScorer

    if scoring is None or isinstance(scoring, str):
        return True
    if callable(scoring):
        return isinstance(scoring, _BaseScorer)
    several = scoring.values() if isinstance(scoring, dict) else scoring
    return all(isinstance(one, (str, _BaseScorer)) for one in several)


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
        One with a ``pairwise_form``, as the parameters of ``machine`` say.
    direct : bool
        Whether the only metric is accuracy.
    X : array of shape (n, p)
        The table, in a unit in which squares neither overflow nor vanish.
    """

    prefer = "threads"

    def __init__(
        self,
        plain: CrossValidation,
        machine: Any,
        scaler: Any,
        kernel: Any,
        direct: bool,
        X: np.ndarray,
    ):
        self.plain = plain
        self.metrics, self.n_splits = plain.metrics, plain.n_splits
        self.direct = direct
        y, weight = plain.y, plain.sample_weight
        self.C = float(machine.C)
        self.folds = [_problems(*split, y, weight, machine) for split in plain.splits]
        own = scaler is not None
        needs = own or kernel.pairwise_form.gamma == "scale"
        weights = [None if weight is None else weight[train] for train, _ in plain.splits]
        everyone = np.arange(len(X))
        whole = SplitColumns(X, everyone)
        statistics = [whole]
        if needs:
            statistics = [
                SplitColumns(X, train, scaler, w)
                for (train, _), w in zip(plain.splits, weights, strict=True)
            ]
        self.grams = SubsetGrams(kernel, statistics if own else [whole], statistics, len(X))
        self.same_kernel = not needs  # one matrix serves all splits
        self.few_left_out = all(
            len(X) - len(train) <= _FEW_LEFT_OUT for train, _ in plain.splits
        ) and all(fold is not None for fold in self.folds)
        self.leave_one_out = self.same_kernel and _is_leave_one_out(
            plain.splits, len(X), y, machine
        )
        self.starts: dict[int, np.ndarray] = {}
        self.same = _first_equal(X)
        self.known: dict[tuple[int, bytes], list[float]] = {}  # of the plain judge
        self.everyone: SplitProblems | None = None
        if self.few_left_out:
            self.everyone = _problems(everyone, everyone, y, weight, machine)

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

    def _fit_for_start(self, fold: SplitProblems, K: LazyGram) -> np.ndarray:
        """The machine of the neighbour: whoever begins there has less to do."""
        return fit(K, fold.duals()[0].box(len(K), self.C)).b

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
        plan: SubsetPlan,
        k: int,
        K: LazyGram | None,
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
        # Constant and repeated columns are in doubt again and again, and their tables are equal.
        table = k, self.same[plan.features].tobytes()
        if table not in self.known:
            found = self.plain._one(plan.features, train, test)
            if len(self.known) >= _MOST_KNOWN:
                return found
            self.known[table] = found
        return self.known[table]

    def _values(self, fold: SplitProblems, K: LazyGram, start: np.ndarray | None) -> np.ndarray:
        """Values of every machine of a split at its test samples."""
        columns = [values_at(dual, self.C, K, fold.test, start) for dual in fold.duals()]
        return columns[0][:, None] if len(columns) == 1 else np.column_stack(columns)

    def _measure(self, fold: SplitProblems, values: np.ndarray, test: np.ndarray) -> list[float]:
        winner, decisions, distance = decide(values, len(fold.classes), fold.scheme)
        if not distance.min() > CLOSE:
            raise Doubt
        plain = self.plain
        if self.direct:
            right = winner == fold.test_codes
            if plain.sample_weight is None:
                return [np.count_nonzero(right) / len(test)]
            return [float(np.average(right, weights=plain.sample_weight[test]))]
        predictions = fold.classes[winner]
        answers = Predicted(fold.classes, predictions, decisions)
        try:
            found = plain.measure(answers, np.arange(len(test))[:, None], test)
        except Exception:  # the plain judge says it in the words of the estimator itself
            raise Doubt from None
        if answers.asked and has_ties(decisions):
            raise Doubt  # ranks would be up to rounding
        return found

    # ------------------------------------------------------------------ few samples left out

    def _machines_of_all(self, plan: SubsetPlan, K: LazyGram | None) -> list[Settled] | None:
        """The machines fitted to all samples, if all of them are beyond doubt."""
        assert self.everyone is not None
        K = self.grams.gram(plan, 0) if K is None else K
        machines = []
        for dual in self.everyone.duals():
            machine = fit(K, dual.box(len(K), self.C))
            if not machine.is_sure(K.largest):
                return None
            machines.append(machine)
        return machines

    def _leave_one_out(
        self, K: LazyGram, machines: list[Settled], numbers: range
    ) -> dict[int, np.ndarray]:
        """Values of all machines at the sample left out, for each split that is beyond doubt."""
        assert self.everyone is not None
        table = np.empty((len(numbers), len(machines)))
        sure = np.ones(len(numbers), dtype=bool)
        for t, (dual, machine) in enumerate(zip(self.everyone.duals(), machines, strict=True)):
            lower, upper, p = dual.box(len(K), self.C)
            lower, upper = lower.copy(), upper.copy()
            for row, k in enumerate(numbers):
                i = int(self.plain.splits[k][1][0])
                takes_part = lower[i] < upper[i]
                if not takes_part or (machine.b[i] == 0.0 and machine.free):
                    table[row, t] = machine.g[i] - p[i] - machine.multiplier
                    continue
                ends = lower[i], upper[i]
                lower[i] = upper[i] = 0.0
                other = fit(K, DualBox(lower, upper, p), machine.b)
                lower[i], upper[i] = ends
                sure[row] &= other.is_sure(K.largest)
                table[row, t] = other.g[i] - p[i] - other.multiplier
        return {k: table[[row]] for row, k in enumerate(numbers) if sure[row]}


def _first_equal(X: np.ndarray) -> np.ndarray:
    """For each column the first one that is equal to it."""
    first: dict[bytes, int] = {}
    columns = np.ascontiguousarray(X.T) + 0.0  # -0.0 and 0.0 are equal
    return np.array([first.setdefault(one.tobytes(), j) for j, one in enumerate(columns)])


def _problems(
    train: np.ndarray, test: np.ndarray, y: np.ndarray, weight: np.ndarray | None, machine: Any
) -> SplitProblems | None:
    """The problems of a split; None if a machine cannot be fitted, and the plain one says why."""
    try:
        return SplitProblems(train, test, y, weight, machine)
    except Doubt:
        return None


def _is_leave_one_out(splits: list[Any], n: int, y: np.ndarray, machine: Any) -> bool:
    """Whether every split leaves out one sample and nothing else depends on which."""
    if machine.class_weight == "balanced":
        return False
    alone = all(
        len(test) == 1 and len(train) == n - 1 and test[0] not in train for train, test in splits
    )
    return alone and bool(np.unique(y, return_counts=True)[1].min() >= 2)
