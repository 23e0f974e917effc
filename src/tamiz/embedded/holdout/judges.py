"""Who says how many validation samples are missed, with all features and without each.

The machine of the text is trained once on the training part, and its multipliers and intercept are
kept while a feature is taken out of the kernel. Any other classifier has nothing to keep: it is
fitted anew without the feature.

On discrete data many decision values are exactly zero, and rounding would give them a sign. Values
closer to zero than rounding can tell (and sums of values closer to each other) count as equal: the
sample goes to the earlier class, whichever way the value was computed.

A numeric target has losses in place of errors: the machine is a support vector regression, and what
it loses on the validation samples is added up, absolute, squared or beyond the tube.

The text states the criterion as the sum over the validation samples of \\|y - sgn(f)\\|, which is 2
for every error; here an error counts once. Errors are counted by class, in integers, and weighed by
their costs afterwards: equal counts then have exactly the same cost, so that ties are found
whatever the costs are.

Three questions are asked of the kernel at every step: the Gram matrix of the training part, the
values of its machine at the validation part, and those values without each feature. The answers
for the radial and the linear kernel come from a table of the features still in, one row for each
sample; columns of features that have left are set to zero and cleared away from time to time. Other
kernels go through :meth:`tamiz.kernels.Kernel.track`. The value with nothing taken out is one more
column of the same sums, that of a feature which is zero everywhere: what makes no difference then
makes none to the last bit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble._base import _set_random_states

from tamiz.kernels import Kernel
from tamiz.kernels.features import leave_out
from tamiz.qp.matrices import take_block
from tamiz.routing import Routes
from tamiz.runtime.threads import run_tiles
from tamiz.runtime.workers import Runner, Shared
from tamiz.search.group_draws import GroupDraw, GroupUnits, Strata
from tamiz.svm.multiclass import tasks
from tamiz.svm.path.penalties import fit_once, fit_tube
from tamiz.svm.path.problem import TubeTask
from tamiz.validation import (
    LARGE_TARGET,
    TOO_LARGE,
    Labels,
    Units,
    finite_costs,
    inner_fit,
    refuse_interrupted,
    refused,
)

#: The table is cleared when this fraction of its columns has left.
_CLEAR = 0.125
#: Exponentials that take longer than waking another thread, even on a machine that is busy.
WORTH_A_THREAD = 400_000
_LANES = 8  # columns are filled up to a multiple of what vector instructions take at once


class FadingGram:
    """Any kernel.

    Attributes
    ----------
    place : array of shape (p,)
        The column of :meth:`without` that belongs to each feature still in.
    nothing, width : int
        The column with nothing taken out, and the number of columns.
    size : float
        Size of the numbers whose rounding decides the error of a kernel value.
    entry_error : float
        That error, where it can matter: values of a radial kernel keep their digits anywhere.
    """

    nothing: int
    width: int
    entry_error = 0.0

    def __init__(self, kernel: Kernel, X: np.ndarray):
        self.kernel = kernel
        self.X = X
        self.tracker = kernel.track(X)
        self.place = np.arange(X.shape[1])
        self.nothing, self.width = X.shape[1], X.shape[1] + 1
        bounded = np.isfinite(kernel.bound)
        self.size = kernel.bound if bounded else float(np.abs(self.tracker.K).max(initial=0.0))

    def remove(self, features: Sequence[int]) -> None:
        """Take features out for good."""
        for j in features:
            self.tracker.remove(int(j))

    def refresh(self) -> None:
        """Bring the values up to date before several threads ask for them."""
        _ = self.tracker.K
        self.entry_error = self.tracker.entry_error

    def block(self, rows: np.ndarray) -> np.ndarray:
        """The Gram matrix of some of the samples."""
        return take_block(self.tracker.K, rows)

    def values(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Sum over the support of coef K(row, .)."""
        return self.tracker.K[np.ix_(rows, support)] @ coef

    def without(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """The same without each feature (found through ``place``) and without ``nothing``."""
        full = np.zeros(len(self.X))
        full[support] = coef
        each = self.tracker.leave_one_out_decisions(self.X[rows], full)
        return np.column_stack([each, self.values(rows, support, coef)])

    def without_group(
        self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray, features: np.ndarray
    ) -> np.ndarray:
        """The same without several features together."""
        if not len(support):
            return np.zeros(len(rows))
        scale = self.tracker.scale
        scale[features] = 0.0
        return self.kernel(self.X[rows] * scale, self.X[support] * scale) @ coef


class _TableGram(FadingGram):
    """A kernel that works on a table of the features still in."""

    def __init__(self, kernel: Kernel, X: np.ndarray, table: np.ndarray):
        super().__init__(kernel, X)
        self._fill(np.arange(X.shape[1]), table)

    def _fill(self, features: np.ndarray, columns: np.ndarray) -> None:
        self.nothing = len(features)
        self.width = self.nothing + 1 + -(self.nothing + 1) % _LANES
        self.table = np.zeros((len(self.X), self.width))
        self.table[:, : len(features)] = columns
        self.place = np.full(self.X.shape[1], -1, dtype=np.intp)
        self.place[features] = np.arange(len(features))
        self._gone = 0

    def remove(self, features: Sequence[int]) -> None:
        super().remove(features)
        for j in features:
            self.table[:, self.place[j]] = 0.0
            self.place[j] = -1
        self._gone += len(features)
        if self._gone > max(_LANES, _CLEAR * self.table.shape[1]):
            left = np.flatnonzero(self.place >= 0)
            self._fill(left, self.table[:, self.place[left]])


class RadialGram(_TableGram):
    """The radial kernel: the Gram matrix comes from squared distances, each feature a term."""

    tracker: Any

    def __init__(self, kernel: Any, X: np.ndarray):
        self.gamma = float(kernel.pairwise_form.gamma)
        root = np.sqrt(self.gamma)
        self.spread = np.square(np.ptp(X, axis=0) * root)  # greatest gamma d_j of each feature
        super().__init__(kernel, X, (X - X.mean(axis=0)) * root)
        # what the exponent loses to rounding grows with the exponent
        self.size += self.gamma * float(self.tracker.distances.max(initial=0.0))

    def refresh(self) -> None:
        """Nothing to do: distances follow at once."""

    def block(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), len(rows)))
        distance = self.tracker.distances
        pairs = (-(-len(rows) // 32) + 1) // 2  # of strips of the triangle
        least = max(1, WORTH_A_THREAD * pairs * 2 // len(rows) ** 2)
        run_tiles(leave_out.radial_block, pairs, distance, self.gamma, rows, out, min_items=least)
        return out

    def values(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        return np.exp(-self.gamma * self.tracker.distances[np.ix_(rows, support)]) @ coef

    def without(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        if self.table.shape[1] < len(support):
            return self._by_columns(rows, support, coef)
        out = np.empty((len(rows), self.table.shape[1]))
        least = max(1, WORTH_A_THREAD // max(1, len(support) * self.table.shape[1]))
        run_tiles(
            leave_out.radial_table_decisions,
            len(rows),
            self.table,
            self.tracker.distances,
            (self.gamma, float(self.spread[self.place >= 0].max(initial=0.0))),
            rows,
            support,
            coef,
            out,
            min_items=least,
        )
        return out

    def _by_columns(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Few features: the inner loop runs over the support, filled up to whole vectors."""
        size = len(support) + -len(support) % (2 * _LANES)
        columns = np.zeros((self.table.shape[1], size))
        columns[:, : len(support)] = self.table[support].T
        exponent = np.zeros((len(rows), size))
        exponent[:, : len(support)] = self.tracker.distances[np.ix_(rows, support)]
        exponent *= -self.gamma
        weight = np.zeros(size)
        weight[: len(support)] = coef
        out = np.empty((len(rows), self.table.shape[1]))
        run_tiles(
            leave_out.radial_column_decisions,
            len(rows),
            self.table[rows],
            columns,
            exponent,
            weight,
            out,
            min_items=max(1, WORTH_A_THREAD // columns.size),
        )
        return out


class LinearGram(_TableGram):
    """The linear kernel: a feature takes its own term with it."""

    def __init__(self, kernel: Kernel, X: np.ndarray):
        super().__init__(kernel, X, X)

    def without(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        terms = self.table[rows]
        terms *= coef @ self.table[support]
        return terms.sum(axis=1, keepdims=True) - terms


def fading_gram(kernel: Kernel, X: np.ndarray) -> FadingGram:
    """The fastest that knows the kernel."""
    form = kernel.pairwise_form
    if form is not None and form.radial:
        return RadialGram(kernel, X)
    if kernel.is_linear:
        return LinearGram(kernel, X)
    return FadingGram(kernel, X)


#: Errors closer than this, relatively, are equal: costs need not be integers.
TIE = 1e-9
#: Decision values below this, relative to the numbers they are a sum of, are zero.
ROUNDING = 1e-11
#: Values of all classes held at once: validation samples are dealt with in blocks of this size.
BLOCK = 2**22

Run = Callable[[Callable[..., Any], list[tuple[Any, ...]]], list[Any]]


# ---------------------------------------------------------------------- splits and errors


class HoldOutSplit(NamedTuple):
    """A random division of the samples; each part is ordered by class."""

    train: np.ndarray
    validation: np.ndarray
    starts: np.ndarray  # where each class begins in ``validation``
    factors: np.ndarray | None = None  # of the errors of each class, where their numbers vary

    def errors(self, wrong: np.ndarray) -> np.ndarray:
        """Errors of each class, as if as many were held out as usual; one row a sample."""
        counts = count_wrong(wrong, self.starts)
        if self.factors is None:
            return counts
        return counts * self.factors.reshape(-1, *[1] * (counts.ndim - 1))


def validation_counts(labels: Labels, fraction: float) -> np.ndarray:
    """How many samples of each class are held out, with one at least on either side."""
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    if counts.min() < 2:
        k = int(counts.argmin())
        raise ValueError(
            f"The class {labels.classes.tolist()[k]!r} has {counts[k]} sample; HoldOutSVM needs at "
            "least two of every class, one to train with and one to validate with. Leave the "
            "class out, or join it with another one."
        )
    return np.clip(np.rint(fraction * counts).astype(np.intp), 1, counts - 1)


def random_split(
    by_class: list[np.ndarray], held_out: np.ndarray, rng: np.random.Generator
) -> HoldOutSplit:
    """Hold out the given number of samples of each class at random."""
    mixed = [rng.permutation(samples) for samples in by_class]
    train = [samples[count:] for samples, count in zip(mixed, held_out, strict=True)]
    validation = [samples[:count] for samples, count in zip(mixed, held_out, strict=True)]
    starts = np.cumsum(held_out) - held_out
    return HoldOutSplit(np.concatenate(train), np.concatenate(validation), starts)


class GroupedSplits:
    """Hold out whole groups of samples.

    Of the groups as many are held out as of samples, the classes in proportion as far as groups
    allow. Since the number of samples then varies, errors count as if it were the usual one.

    Parameters
    ----------
    groups : array of shape (n,)
        Which samples belong together.
    by_class : list of arrays
        Samples of each class.
    held_out : array
        How many of each class are held out, as a rule.
    fraction : float
        How much is held out.
    names : list, optional
        Names of the classes.
    """

    def __init__(
        self,
        groups: Any,
        by_class: list[np.ndarray],
        held_out: np.ndarray,
        fraction: float,
        names: Sequence[Any] | None = None,
    ):
        self.held_out, self.fraction = held_out, fraction
        self.code = _codes(by_class)
        need = "HoldOutSVM needs one to train with and one to validate with"
        self.parts = GroupDraw(GroupUnits(groups, by_class, names), self._deal, 2, need)

    def _deal(self, strata: Strata, rng: np.random.Generator) -> list[np.ndarray]:
        train, held = [], []
        for units in strata:
            mixed = rng.permutation(units)
            count = int(self.fraction * len(units) + rng.random())  # on average the fraction
            held.append(mixed[:count])
            train.append(mixed[count:])
        return [np.concatenate(train), np.concatenate(held)]

    def draw(self, rng: np.random.Generator) -> HoldOutSplit:
        """A random division."""
        train, held = self.parts(rng)
        return _counting_as_usual(train, held, self.code, self.held_out)


class TimedSplits:
    """Train with what comes before a moment drawn at random, and validate on what follows it.

    The block that is validated on has about as many samples as are held out of others, and never
    ends between samples of one time. The moment has between half and all of the remaining number
    of samples before it, or any other number if there is no such moment with every class on both
    sides. Since the number of samples of a class in the block varies, errors count as if it were
    the usual one.

    Parameters
    ----------
    moments : array of shape (n,)
        The time of each sample, as its place among the different times.
    by_class, held_out, names
        As in :class:`GroupedSplits`.
    gap : int, default=0
        Number of different times before the block that are not trained with.

    Attributes
    ----------
    starts, ends : arrays
        The first time of the block at each moment that may be drawn, and the first one after it.
    """

    def __init__(
        self,
        moments: np.ndarray,
        by_class: list[np.ndarray],
        held_out: np.ndarray,
        names: Sequence[Any] | None = None,
        gap: int = 0,
    ):
        self.moments, self.held_out, self.gap = moments, held_out, gap
        self.code = _codes(by_class)
        n_times = int(moments.max()) + 1
        before = np.zeros((n_times + 1, len(by_class)), dtype=np.intp)  # of each class, each time
        for k, rows in enumerate(by_class):
            before[1:, k] = np.cumsum(np.bincount(moments[rows], minlength=n_times))
        n_before = before.sum(axis=1)
        n, n_held = n_before[-1], int(held_out.sum())
        starts = np.arange(1, n_times)
        ends = _nearest(n_before, n_before[starts] + n_held, starts + 1)
        trained = before[np.maximum(starts - gap, 0)] > 0
        validated = before[ends] > before[starts]
        able = (trained & validated).all(axis=1)
        if not able.any():
            raise ValueError(_no_moment(trained & validated, names, gap))
        usual = able & (2 * n_before[starts] >= n - n_held) & (n_before[starts] <= n - n_held)
        drawn = usual if usual.any() else able
        self.starts, self.ends = starts[drawn], ends[drawn]

    def draw(self, rng: np.random.Generator) -> HoldOutSplit:
        """A division at a random moment."""
        k = rng.integers(len(self.starts))
        start, end = self.starts[k], self.ends[k]
        train = np.flatnonzero(self.moments < start - self.gap)
        held = np.flatnonzero((self.moments >= start) & (self.moments < end))
        return _counting_as_usual(train, held, self.code, self.held_out)


def _nearest(ascending: np.ndarray, values: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The place of the nearest number to each value, the earlier of two; ``least`` or later."""
    after = np.clip(np.searchsorted(ascending, values), 1, len(ascending) - 1)
    earlier = values - ascending[after - 1] <= ascending[after] - values
    return np.maximum(after - earlier, least)


def _no_moment(able: np.ndarray, names: Sequence[Any] | None, gap: int) -> str:
    """Why no moment has what is needed on both sides; ``able`` says it for each class."""
    near = f" after a gap of {gap} different times" if gap else ""
    never = np.flatnonzero(~able.any(axis=0))
    if names is None:
        return (
            f"gap={gap} leaves nothing to train with before any moment; use a smaller one, or more "
            "samples of different times."
        )
    whose = f"class {names[never[0]]!r}" if len(never) else "every class"
    return (
        f"with times= HoldOutSVM trains with what comes before a moment and validates on the block "
        f"that follows{near}; no moment has samples of {whose} on both sides. Leave out a class "
        "that is there for a short time only, or raise validation_size."
    )


def _codes(by_class: list[np.ndarray]) -> np.ndarray:
    """The class of each sample."""
    code = np.empty(sum(map(len, by_class)), dtype=np.intp)
    for k, samples in enumerate(by_class):
        code[samples] = k
    return code


def _counting_as_usual(
    train: np.ndarray, held: np.ndarray, code: np.ndarray, held_out: np.ndarray
) -> HoldOutSplit:
    """A division whose errors count as if as many samples of each class were held out as usual."""
    train, held = (rows[np.argsort(code[rows], kind="stable")] for rows in (train, held))
    counts = np.bincount(code[held], minlength=len(held_out))
    return HoldOutSplit(train, held, np.cumsum(counts) - counts, held_out / counts)


def count_wrong(wrong: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Number of errors of each class; ``wrong`` has one row for each validation sample.

    Losses instead of errors are added up likewise.
    """
    exact = np.int64 if wrong.dtype == bool else np.float64
    return np.add.reduceat(wrong, starts, axis=0, dtype=exact)


@dataclass(frozen=True)
class NumericLoss:
    """What a prediction of a number loses.

    Parameters
    ----------
    kind : {"absolute", "squared", "epsilon_insensitive"}
        Absolute or squared error, or the absolute error beyond the tube.
    epsilon : float
        Half-width of the tube.
    """

    kind: str
    epsilon: float

    def __call__(self, guess: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The loss of each prediction."""
        with np.errstate(over="ignore"):  # what is lost may be infinite
            return self._of(np.abs(guess - truth))

    def _of(self, off: np.ndarray) -> np.ndarray:
        if self.kind == "squared":
            return off * off
        return np.maximum(off - self.epsilon, 0.0) if self.kind == "epsilon_insensitive" else off

    def unit(self, target: np.ndarray) -> float:
        """The mean loss of the best constant, or nearly: what makes a loss large or small."""
        with np.errstate(over="ignore"):
            centre = target.mean() if self.kind == "squared" else np.median(target)
            found = replace(self, epsilon=0.0)(np.full_like(target, centre), target).mean()
        if not np.isfinite(found):
            raise ValueError(LARGE_TARGET)
        return float(found)


def numeric_counts(target: np.ndarray, fraction: float) -> np.ndarray:
    """How many samples of a numeric target are held out, with one at least on either side."""
    n = len(target)
    if n < 2:
        raise ValueError(
            f"X has {n} sample; HoldOutSVM needs at least two, one to train with and one to "
            "validate with."
        )
    return np.clip(np.rint([fraction * n]).astype(np.intp), 1, n - 1)


def error_costs(costs: Any, balanced: bool, labels: Labels, held_out: np.ndarray) -> np.ndarray:
    """The cost of an error on a validation sample of each class.

    ``costs`` is a pair (false positive, false negative) for two classes, of which the second is
    the positive one, or a mapping from class to the cost of missing one of its samples.
    """
    cost = np.ones(len(held_out))
    if costs is not None:
        cost = _class_costs(costs, labels)
    return cost / (len(held_out) * held_out) if balanced else cost


def _class_costs(costs: Any, labels: Labels) -> np.ndarray:
    known = labels.classes.tolist()
    if isinstance(costs, Mapping):
        missing = [label for label in known if label not in costs]
        strange = [label for label in costs if label not in known]
        if missing or strange:
            what = f"lacks {missing[0]!r}" if missing else f"names {strange[0]!r}"
            raise ValueError(
                f"costs {what}; as a mapping it holds the cost of missing a sample for each class "
                f"of y and for nothing else ({', '.join(map(repr, known))})."
            )
        values = [costs[label] for label in known]
    else:
        values = list(np.atleast_1d(np.asarray(costs, dtype=object)))
        if len(values) != 2:
            raise refused(
                "costs",
                costs,
                "is not understood; use a pair (false positive, false negative), or a mapping from "
                "each class to the cost of missing one of its samples.",
            )
        if len(known) != 2:
            raise ValueError(
                f"costs={costs!r} is a pair, but y has {len(known)} classes; use a mapping from "
                "each class to the cost of missing one of its samples."
            )
    # a false positive is a missed sample of the first class, a false negative one of the second
    return finite_costs("costs", values)


# ---------------------------------------------------------------------- judges


class ErrorCounts(NamedTuple):
    """Errors by class, summed over the splits of a step."""

    present: np.ndarray  # (n_classes,), with everything that is still in
    without: np.ndarray  # (n_units, n_classes), with each unit taken out


class KeptMachine(NamedTuple):
    """One trained machine: support vectors, multipliers with sign, intercept, and what is zero."""

    support: np.ndarray
    coef: np.ndarray
    intercept: float
    zero: float


class KernelJudge:
    """Support vector machines on a Gram matrix that follows as features leave.

    Parameters
    ----------
    X : array of shape (n, p)
        Samples.
    units : Units
        What can leave.
    codes : array of shape (n,)
        Classes 0, 1, ...
    n_classes, scheme : int, {"ovo", "ovr"}
        Number of classes, and how more than two are dealt with.
    kernel : Kernel
        All its parameters numbers.
    C : array of shape (n,)
        Penalty C of each sample.
    tol : float
        Tolerance of the solver.
    """

    recorded: Any = bool  # what is noted of a prediction: whether it is wrong

    def __init__(
        self,
        X: np.ndarray,
        units: Units,
        codes: np.ndarray,
        n_classes: int,
        scheme: str,
        kernel: Kernel,
        C: np.ndarray,
        tol: float,
    ):
        self.units = units
        self.first = np.array([features[0] for features in units.members], dtype=np.intp)
        self.grouped = units.sizes > 1
        self.codes = codes
        self.n_classes = n_classes
        self.scheme = scheme
        self.C = C
        self.tol = tol
        with np.errstate(over="ignore", invalid="ignore"):
            self.gram = fading_gram(kernel, X)
            if np.isinf(kernel.bound) and not np.isfinite(self.gram.tracker.K).all():
                raise ValueError(TOO_LARGE)
        self.n_fits = self.n_early = 0
        self.removed: list[int] = []

    def remove(self, unit: int) -> None:
        """Take a unit out for good."""
        self.gram.remove(self.units.members[unit].tolist())
        self.removed.append(int(unit))

    def refresh(self) -> None:
        """Bring everything up to date before several threads ask."""
        self.gram.refresh()

    def errors(
        self, splits: Sequence[HoldOutSplit], units: np.ndarray, seeds: Sequence[int], run: Run
    ) -> ErrorCounts:
        """Errors with all that is in, and without each of ``units``."""
        self.refresh()
        parts = run(self._errors, [(split, units) for split in splits])
        self.n_fits += sum(part[2] for part in parts)
        self.n_early += sum(part[3] for part in parts)
        return ErrorCounts(sum(part[0] for part in parts), sum(part[1] for part in parts))

    def _errors(
        self, split: HoldOutSplit, units: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, int, int]:
        machines, early = self._machines(split)
        truth = self.codes[split.validation]
        grouped = self.grouped[units]
        single = not grouped.all()
        width, nothing = (self.gram.width, self.gram.nothing) if single else (1, 0)
        columns = self.gram.place[self.first[units]]
        columns[grouped] = width + np.arange(np.count_nonzero(grouped))
        width += int(np.count_nonzero(grouped))
        wrong = np.empty((len(truth), width), dtype=self.recorded)
        step = max(1, BLOCK // (2 * self.n_classes * width))
        for first in range(0, len(truth), step):
            rows = slice(first, first + step)
            here = split.validation[rows]
            wrong[rows] = self._wrong(machines, here, truth[rows, None], units[grouped], single)
        counts = split.errors(wrong)
        return counts[:, nothing], counts[:, columns].T, len(machines), early

    def _wrong(
        self,
        machines: list[KeptMachine],
        rows: np.ndarray,
        truth: np.ndarray,
        groups: np.ndarray,
        single: bool,
    ) -> np.ndarray:
        """Which predictions are wrong, one row for each of ``rows``."""
        return np.not_equal(self._winners(machines, rows, groups, single), truth)

    def _machines(self, split: HoldOutSplit) -> tuple[list[KeptMachine], int]:
        """Machines trained on the training part, and how many stopped before the tolerance."""
        machines, early = [], 0
        for task in tasks(self.codes[split.train], self.n_classes, self.scheme):
            rows = split.train[task.samples]
            # From nothing each time: a new split shares too little with the last one for its
            # multipliers to save work (measured).
            K = self.gram.block(rows)
            coef, intercept, converged = fit_once(K, task.signs, self.C[rows], self.tol)
            early += not (converged and self._keeps_digits(coef))
            inside = coef.nonzero()[0]
            size = abs(intercept) + self.gram.size * float(np.abs(coef).sum())
            machines.append(KeptMachine(rows[inside], coef[inside], intercept, ROUNDING * size))
        return machines, early

    def _keeps_digits(self, coef: np.ndarray) -> bool:
        """Whether rounding of kernel values leaves a machine within the tolerance."""
        return self.gram.entry_error * float(np.linalg.norm(coef)) <= self.tol

    def _values(
        self, machine: KeptMachine, rows: np.ndarray, groups: np.ndarray, single: bool
    ) -> np.ndarray:
        """Values without each feature and without nothing, and behind them without each group."""
        sums = rows, machine.support, machine.coef
        alone = self.gram.without(*sums) if single else self.gram.values(*sums)[:, None]
        if len(groups):
            together = [self.gram.without_group(*sums, self.units.members[k]) for k in groups]
            alone = np.column_stack([alone, *together])
        alone += machine.intercept
        return alone

    def _winners(
        self, machines: list[KeptMachine], rows: np.ndarray, groups: np.ndarray, single: bool
    ) -> np.ndarray:
        """The class that all machines together speak for, one row for each of ``rows``.

        Most votes win, then the larger sum of values, then the earlier class.
        """
        each = (self._values(machine, rows, groups, single) for machine in machines)
        if self.n_classes == 2:
            return next(each) > machines[0].zero
        if self.scheme == "ovr":
            sums = np.stack(list(each))
            zero = 2.0 * max(machine.zero for machine in machines)
            return (sums >= sums.max(axis=0) - zero).argmax(axis=0)
        zero = 2.0 * sum(machine.zero for machine in machines)
        pairs = zip(combinations(range(self.n_classes), 2), machines, each, strict=True)
        for number, ((i, j), machine, values) in enumerate(pairs):
            if not number:
                sums = np.zeros((self.n_classes, *values.shape))
                votes = np.zeros(sums.shape, dtype=np.int16)
            positive = values > machine.zero
            votes[j] += positive
            votes[i] += ~positive
            sums[j] += values
            sums[i] -= values
        sums[votes < votes.max(axis=0)] = -np.inf
        return (sums >= sums.max(axis=0) - zero).argmax(axis=0)


class NumericJudge(KernelJudge):
    """Support vector regression on such a matrix; losses in place of errors.

    Parameters
    ----------
    X, units, kernel, C, tol
        As in :class:`KernelJudge`.
    target : array of shape (n,)
        What is to be predicted.
    epsilon : float
        Half-width of the tube.
    loss : NumericLoss
        Of a prediction.
    """

    recorded = np.float64

    def __init__(
        self,
        X: np.ndarray,
        units: Units,
        target: np.ndarray,
        kernel: Kernel,
        C: np.ndarray,
        epsilon: float,
        tol: float,
        loss: NumericLoss,
    ):
        super().__init__(X, units, target, 1, "", kernel, C, tol)
        self.epsilon = epsilon
        self.loss = loss

    def _wrong(
        self,
        machines: list[KeptMachine],
        rows: np.ndarray,
        truth: np.ndarray,
        groups: np.ndarray,
        single: bool,
    ) -> np.ndarray:
        return self.loss(self._values(machines[0], rows, groups, single), truth)

    def _machines(self, split: HoldOutSplit) -> tuple[list[KeptMachine], int]:
        rows = split.train
        task = TubeTask(np.arange(len(rows)), self.codes[rows], self.epsilon)
        found = fit_tube(self.gram.block(rows), task, self.C[rows], self.tol)
        coef, intercept, converged = found
        inside = coef.nonzero()[0]
        converged = converged and self._keeps_digits(coef)
        return [KeptMachine(rows[inside], coef[inside], intercept, 0.0)], int(not converged)


class RefitJudge:
    """Any classifier or regressor, fitted anew without each unit.

    Parameters
    ----------
    X : array of shape (n, p)
        Samples.
    labels : array of shape (n,)
        Class labels as the user gave them, or numbers.
    units : Units
        What can leave.
    n_classes : int
        Number of classes; 1 for numbers.
    estimator : classifier or regressor
        Cloned for every fit.
    loss : callable, default=np.not_equal
        What is noted of predictions, given them and the truth.
    routes : Routes, optional
        What the estimator asked for besides samples and target.
    """

    def __init__(
        self,
        X: np.ndarray,
        units: Units,
        labels: np.ndarray,
        n_classes: int,
        estimator: Any,
        loss: Callable[..., Any] = np.not_equal,
        routes: Routes | None = None,
    ):
        self.routes = routes
        self.X = X
        self.units = units
        self.labels = labels
        self.n_classes = n_classes
        self.estimator = estimator
        self.loss = loss
        self.active = np.ones(X.shape[1], dtype=bool)
        self.n_fits = self.n_early = 0
        self.removed: list[int] = []

    def remove(self, unit: int) -> None:
        """Take a unit out for good."""
        self.active[self.units.members[unit]] = False
        self.removed.append(int(unit))

    def refresh(self) -> None:
        """Nothing to do: every fit starts anew."""

    def errors(
        self, splits: Sequence[HoldOutSplit], units: np.ndarray, seeds: Sequence[int], run: Run
    ) -> ErrorCounts:
        """Errors with all that is in, and without each of ``units``."""
        nothing = np.array([], dtype=np.intp)
        jobs = [
            (split, features, seed)
            for split, seed in zip(splits, seeds, strict=True)
            for features in (nothing, *(self.units.members[k] for k in units))
        ]
        self.n_fits += len(jobs)
        counts = np.array(run(self._errors, jobs)).reshape(len(splits), -1, self.n_classes)
        total = counts.sum(axis=0)
        return ErrorCounts(total[0], total[1:])

    def _errors(self, split: HoldOutSplit, without: np.ndarray, seed: int) -> np.ndarray:
        columns = self.active.copy()
        columns[without] = False
        machine = clone(self.estimator)
        _set_random_states(machine, seed)
        asked = {} if self.routes is None else self.routes.part("estimator", split.train)
        with inner_fit():
            machine.fit(self.X[np.ix_(split.train, columns)], self.labels[split.train], **asked)
        refuse_interrupted(machine)
        guess = machine.predict(self.X[np.ix_(split.validation, columns)])
        wrong = np.asarray(self.loss(guess, self.labels[split.validation]))
        return split.errors(wrong)


# ---------------------------------------------------------------------- on a cluster


class KeepingUp:
    """What makes a judge, and on a worker the judge, from which what has left is taken out.

    Workers get the samples once, and make the matrices from them. A job says what has left by the
    step that it belongs to.

    Parameters
    ----------
    make : callable
        Makes a judge from which nothing has left.
    """

    def __init__(self, make: Callable[[], Any]):
        self.make = make
        self._judge: Any = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"make": self.make}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["make"])  # type: ignore[misc]

    def judge(self, removed: tuple[int, ...]) -> Any:
        """The judge at the step at which these units have left."""
        with self._lock:
            known = [] if self._judge is None else self._judge.removed
            if self._judge is None or tuple(known) != removed[: len(known)]:
                self._judge = self.make()
            for unit in removed[len(self._judge.removed) :]:
                self._judge.remove(unit)
            self._judge.refresh()
            return self._judge


class FarRun:
    """Does the jobs of a step on a cluster.

    Parameters
    ----------
    runner : Runner
        The workers.
    make : callable
        Makes the judge.
    """

    def __init__(self, runner: Runner, make: Callable[[], Any]):
        self.runner = runner
        self.shared = Shared(KeepingUp(make))

    def __call__(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """Results of a method of the judge."""
        judge = function.__self__  # type: ignore[attr-defined]
        removed = tuple(judge.removed)
        calls = [(function.__name__, removed, job) for job in jobs]
        with closing(self.runner.results(called, self.shared, calls)) as found:
            return list(found)


def called(there: KeepingUp, name: str, removed: tuple[int, ...], job: tuple[Any, ...]) -> Any:
    """On a worker: what the method ``name`` of the judge gives."""
    return getattr(there.judge(removed), name)(*job)
