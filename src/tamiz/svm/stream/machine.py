"""Linear machines from a stream: what it holds, its rows for the solver, and passes of Pegasos.

Batches stay in memory between passes, as long as they are small enough.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.loading import available_bytes
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import n_threads, run_tiles
from tamiz.scale import Batch, Batches, ClassMoments, RowSample, batches, sweep
from tamiz.scale.passes import ahead
from tamiz.solvers.pegasos import (
    OnlineSamples,
    PegasosState,
    Setting,
    advance,
    new_state,
    objective,
    solution,
)
from tamiz.svm.linear import LinearDecision, positive_classes
from tamiz.svm.multiclass import class_scores
from tamiz.svm.stream.newton import Rows, Tasks, Units
from tamiz.validation import (
    TOO_LARGE,
    Labels,
    MissingValuesError,
    OneClassError,
    check_class_weight,
    depth_of_caller,
    integer_from,
    optional,
)

_SAMPLE_BYTES = 32 << 20
_MOST_SAMPLED = 20_000
_MOST_CURVATURE = 3 << 29  # bytes; a pass holds about three copies
_STEPS = 10_000_000  # of Pegasos, after which more passes add little
_MIXED = 200  # rows of a batch from which on its class proportions say something


@dataclass
class Look:
    """What a first pass finds: moments by class, a sample of rows, how well the rows are mixed."""

    moments: ClassMoments
    sample: RowSample | None
    stored: float  # numbers that are not zero
    lacking: np.ndarray  # by class: rows of batches that lack it

    def merge(self, other: Look) -> Look:
        """The same of both sets of rows."""
        sample = None
        if self.sample is not None and other.sample is not None:
            sample = self.sample.merge(other.sample)
        return Look(
            self.moments.merge(other.moments),
            sample,
            self.stored + other.stored,
            self.lacking + other.lacking,
        )


@dataclass
class StreamScan:
    """Makes a :class:`Look` of a batch; refuses what a linear machine cannot take."""

    names: list[str]
    n_classes: int
    sample_size: int

    def __call__(self, batch: Batch) -> Look:
        X, codes = batch.X, batch.y
        assert codes is not None
        values = X.data if sparse.issparse(X) else X
        if np.isnan(values).any():
            column = X.indices[np.isnan(values).argmax()] if sparse.issparse(X) else None
            if column is None:
                column = int(np.isnan(X).any(axis=0).argmax())
            raise MissingValuesError(
                f"Batch {batch.index} has a missing value in column {self.names[column]!r}, and a "
                "linear machine needs them all; pass tamiz.scale.batches(...).filled(), which "
                "fills them with medians, or leave out the column or the rows.",
                column=int(column),
            )
        with np.errstate(over="ignore", invalid="ignore"):
            moments = ClassMoments.of(X, codes, self.n_classes)
        sample = None
        if self.sample_size:
            sample = RowSample.of(X, codes, first_row=batch.first_row, size=self.sample_size)
        present = np.bincount(codes, minlength=self.n_classes) > 0
        lacking = np.where(present, 0, X.shape[0] if X.shape[0] >= _MIXED else 0)
        return Look(moments, sample, float(np.count_nonzero(values)), lacking)


class Stream:
    """A table in batches, looked through once.

    Attributes
    ----------
    table : Batches
        The rows.
    classes, counts : arrays of shape (n_classes,)
        Labels, and the number of rows of each.
    n_rows, n_features : int
        Size of the table.
    moments : ClassMoments
        Means and deviations by class.
    passes : Passes
        More passes over the rows.
    """

    def __init__(
        self, owner: Any, source: Any, target: Any, options: dict[str, Any], *, sampled: bool = True
    ):
        name = type(owner).__name__
        executor, keep = options.pop("executor", None), budget(options.pop("keep_bytes", None))
        self.table = _opened(name, source, target, options)
        schema = self.table.survey().schema
        self.classes = _checked_classes(name, schema)
        self.n_features = schema.n_features
        size = int(min(_MOST_SAMPLED, _SAMPLE_BYTES // (8 * schema.n_features))) if sampled else 0
        make = StreamScan(schema.names, len(self.classes), max(size, 200) if sampled else 0)
        self.passes = Passes(self.table, executor, keep)
        look = self.passes.first(make, Progress(name, owner.verbose))
        self.moments, self.sample, self.lacking = look.moments, look.sample, look.lacking
        if not (np.isfinite(look.moments.m2).all() and np.isfinite(look.moments.mean).all()):
            raise ValueError(TOO_LARGE)
        self.counts = look.moments.count
        self.n_rows = round(float(self.counts.sum()))
        absent = np.flatnonzero(self.counts == 0)
        if len(self.counts) - len(absent) < 2:
            raise ValueError(
                f"Of the classes {self.classes.tolist()} only one has rows; {name} needs two."
            )
        if len(absent):
            raise ValueError(
                f"The class {self.classes[absent[0]]!r} was named, but no row has it; leave it "
                "out of classes=."
            )
        self.near_bytes = keep // 4
        self.row_cost, self.row_bytes = float(self.n_features**2), 8.0 * (self.n_features + 1)
        if schema.sparse:  # sums in scattered places are slower than products of tables
            length = look.stored / self.n_rows
            self.row_cost, self.row_bytes = 50.0 * length**2, 12.0 * length + 16.0
        owner.n_features_in_ = schema.n_features
        owner.__dict__.pop("feature_names_in_", None)
        if schema.named:
            owner.feature_names_in_ = np.array(schema.names, dtype=object)

    def weights(self, class_weight: Any) -> np.ndarray:
        """One weight for each class."""
        labels = Labels(self.classes, np.arange(len(self.classes)))
        return check_class_weight(class_weight, labels, self.counts)

    def spread(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of every feature, classes counting by ``weights``."""
        moments = self.moments
        count = moments.count if weights is None else moments.count * weights
        fraction = (count / count.sum())[:, None]
        mean = np.sum(fraction * moments.mean, axis=0)
        within = np.sum(fraction * moments.variance(), axis=0)
        between = np.sum(fraction * (moments.mean - mean) ** 2, axis=0)
        used = count > 0
        same = ~moments.m2[used].any(axis=0)
        same &= (moments.mean[used] == moments.mean[used][:1]).all(axis=0)
        return mean, np.where(same, 0.0, np.sqrt(within + between))

    def units(self) -> Units:
        """Coordinates without large means and with comparable spreads."""
        mean, deviation = self.spread()
        shift = np.zeros(len(mean)) if self.table.schema.sparse else mean
        return Units(shift, np.where(deviation > 0, deviation, 1.0))

    def rows(self, tasks: Tasks, progress: Progress) -> Rows:
        """The rows as the solver of exact machines sees them."""
        needed = 3 * 8 * len(tasks.signs) * (self.n_features + 1) ** 2
        if needed > _MOST_CURVATURE:
            most = math.isqrt(_MOST_CURVATURE // (24 * len(tasks.signs))) - 1
            raise ValueError(
                f"The stream has {self.n_features:,} features; with {len(tasks.signs)} machines at "
                f"most {most:,} are possible, since their curvature is a square table. Take the "
                "best by a filter first (its fit_stream), or use PegasosClassifier.fit_stream."
            )
        units = self.units()
        assert self.sample is not None
        X = np.ascontiguousarray(self.sample.X, dtype=np.float64)
        codes = np.asarray(self.sample.y, dtype=np.intp)
        if self.table.schema.sparse:
            X = sparse.csr_matrix(X)
        return Rows(
            total=lambda make: self.passes.sweep(make, progress),
            tasks=tasks,
            units=units,
            n_rows=self.n_rows,
            row_cost=self.row_cost,
            sample=units.apply(X),
            codes=codes,
            weight=self.n_rows / len(codes),
            near_bytes=self.near_bytes,
            row_bytes=self.row_bytes,
        )


def _opened(name: str, source: Any, target: Any, options: dict[str, Any]) -> Batches:
    """The batches of a source that can be gone over several times."""
    if isinstance(source, Batches):
        if target is not None or options:
            given = ["target"] * (target is not None) + list(options)
            raise ValueError(
                f"{given[0]} was given with batches that are open already; give it to "
                "tamiz.scale.batches instead."
            )
        table = source
    else:
        table = batches(source, target, **{"task": "classification", **options})
    if table.once:
        raise ValueError(
            f"A generator can be read once only, and {name} goes over the rows several times; "
            "pass a function that makes a fresh one, such as lambda: rows(), or a list."
        )
    return table


def _checked_classes(name: str, schema: Any) -> np.ndarray:
    """The classes of a table; refuses targets without two, and features that are no numbers."""
    if schema.classes is None:
        what = "is numeric" if schema.task == "regression" else "is not there"
        raise ValueError(
            f"{name} is a classifier, but the target {what}; name the column of the "
            'classes with target=, or open the batches with task="classification".'
        )
    if schema.categories:
        column = schema.names[min(schema.categories)]
        raise ValueError(
            f"Column {column!r} is nominal, and {name} needs numbers; encode it first, for "
            "instance as one column of zeros and ones for each level, or leave it out with "
            "drop=."
        )
    if len(schema.classes) < 2:
        raise OneClassError(
            f"The target has one class only ({schema.classes[0]!r}); {name} needs two or more.",
            label=schema.classes[0],
        )
    return np.asarray(schema.classes)


def in_features(weights: np.ndarray, units: Units) -> np.ndarray:
    """Weights, intercept last, for the features as they are in the table."""
    coef = weights[..., :-1] / units.scale
    intercept = weights[..., -1] - coef @ units.shift
    return np.concatenate([coef, np.asarray(intercept)[..., None]], axis=-1)


class StreamedMachine(LinearDecision):
    """A linear machine that was found on a stream; it predicts, and is not fitted again.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (n_machines, n_features) and (n_machines,)
        Weights: one machine for two classes, else one for each pair ("ovo") or class ("ovr").
    classes_ : array
        Labels.
    objective_, duality_gap_ : arrays of shape (n_machines,)
        ``1/2 ||w||^2 + C sum hinge`` and an upper bound on its distance to the minimum.
    """

    def __init__(self, multiclass: str = "ovo"):
        self.multiclass = multiclass

    def fit(self, X: Any, y: Any = None) -> StreamedMachine:
        """Refuse: the selector that holds this machine is what can be fitted."""
        raise TypeError(
            "This machine belongs to a selector that was fitted to a stream; fit the selector, or "
            "an SVC of your own."
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values: one for two classes, else one for each class."""
        values = super().decision_function(X)
        if values.ndim == 1:
            return values
        return class_scores(values, len(self.classes_), self.multiclass)


# ------------------------------------------------------------------------------------ Pegasos


def default_passes(max_iter: int, n_rows: int) -> int:
    """``max_iter``, but no more than ten million steps take, and not less than three."""
    return min(max_iter, max(3, -(-_STEPS // n_rows)))


@dataclass
class Loss:
    """Sum of the objectives of some rows, by their number: merges to the mean."""

    total: np.ndarray
    n_rows: int

    def merge(self, other: Loss) -> Loss:
        """Of both sets of rows."""
        return Loss(self.total + other.total, self.n_rows + other.n_rows)


@dataclass
class Losing:
    """Makes the :class:`Loss` of a batch."""

    beta: np.ndarray
    setting: Setting
    units: Units | None
    class_weight: np.ndarray

    def __call__(self, batch: Batch) -> Loss:
        samples = samples_of(batch, self.units, self.class_weight)
        return Loss(objective(samples, self.setting, self.beta) * batch.n_rows, batch.n_rows)


def samples_of(batch: Batch, units: Units | None, class_weight: np.ndarray) -> OnlineSamples:
    """A batch as Pegasos takes it."""
    X = batch.X if units is None else units.apply(batch.X)
    assert batch.y is not None
    return OnlineSamples(X, batch.y, positive_classes(len(class_weight)), class_weight)


@dataclass
class Reached:
    """What the passes of Pegasos reached."""

    state: PegasosState
    objective: np.ndarray | None
    epochs: int
    status: str


def pegasos_passes(
    stream: Stream,
    setting: Setting,
    units: Units | None,
    class_weight: np.ndarray,
    *,
    passes: int,
    batch_size: int,
    order: Callable[[int], np.ndarray],
    tol: float | None,
    progress: Progress,
) -> Reached:
    """Take the rows of the stream ``passes`` times; ``order(n)`` is that of a batch of n rows."""
    state = new_state(len(positive_classes(len(class_weight))), stream.n_features, setting)
    status, done, now = "limit", 0, None
    previous = np.full(len(state.norm2), np.inf)

    def value() -> np.ndarray:
        loss = stream.passes.sweep(Losing(solution(state, setting), setting, units, class_weight))
        return loss.total / loss.n_rows

    try:
        while done < passes and status == "limit":
            with closing(stream.passes.batches()) as run:
                for batch in run:
                    samples = samples_of(batch, units, class_weight)
                    advance(state, samples, setting, order(batch.n_rows), batch_size, progress)
            done += 1
            progress.update(f"pass {done} of {passes}")
            if tol is not None or done == passes:
                now = value()
                if tol is not None and np.all(previous - now <= tol * now):
                    status = "converged"
                previous = now
    except KeyboardInterrupt:
        status, now = "interrupted", None
    return Reached(state, now, done, status)


def warn_if_sorted(stream: Stream) -> None:
    """Warn if whole batches lack a class that others have: the order of the rows counts here."""
    lacking = stream.lacking / stream.n_rows
    common = stream.counts / stream.n_rows >= 0.02
    if (lacking[common] > 0.2).any():
        k = int(np.argmax(np.where(common, lacking, 0.0)))
        warnings.warn(
            f"PegasosClassifier: {lacking[k]:.0%} of the rows come in batches without the class "
            f"{stream.classes[k]!r}; the rows seem to be sorted, and steps that see one class at a "
            "time go astray. Shuffle the rows of the file, or use larger batches (batch_rows).",
            UserWarning,
            stacklevel=depth_of_caller(),
        )


#: What a user may say of the memory for rows that are kept from pass to pass.
KEPT = optional(integer_from(0, of="bytes"))

_MOST = 1 << 30  # bytes
_SHARE = 0.25  # of the memory that is free


def budget(keep_bytes: int | None) -> int:
    """Bytes for batches that are kept: what a user says, else a gigabyte or a quarter of memory."""
    if keep_bytes is None:
        return int(min(_MOST, _SHARE * available_bytes()))
    return keep_bytes


class Passes:
    """Goes over a table again and again; the first pass keeps the batches if they are small.

    A batch that was kept has been read, checked and converted: the passes that follow cost what
    is done with it, and no more. If all of them do not fit into the budget, none is kept, and
    every pass reads the source anew.
    """

    def __init__(self, table: Batches, executor: Any, keep_bytes: int):
        self.table, self.executor = table, executor
        elsewhere = executor is not None or table.executor is not None
        self._left = -1 if elsewhere else keep_bytes
        self._kept: list[Batch] = []
        self._complete = False

    @property
    def kept(self) -> bool:
        """Whether the rows are in memory."""
        return self._complete

    def first(self, make: Any, progress: Progress) -> Any:
        """The first pass."""
        if self._left <= 0:
            return sweep(self.table, make, executor=self.executor, progress=progress)

        def look(batch: Batch) -> Any:
            found = make(batch)
            self._take(batch)
            return found

        found = sweep(self.table, look, progress=progress)
        self._complete = self._left >= 0
        return found

    def _take(self, batch: Batch) -> None:
        X = batch.X
        size = X.data.nbytes + (X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else 0)
        self._left -= size + (0 if batch.y is None else batch.y.nbytes)
        if self._left < 0:
            self._kept = []
        else:
            self._kept.append(batch)

    def sweep(self, make: Any, progress: Any = 0) -> Any:
        """One pass: merged in the order of the batches, whatever the number of threads."""
        if not self._complete:
            return sweep(self.table, make, executor=self.executor, progress=progress)
        total = None
        width = n_threads()
        for start in range(0, len(self._kept), width):
            some = self._kept[start : start + width]
            for part in chain.from_iterable(run_tiles(_each, len(some), some, make)):
                total = part if total is None else total.merge(part)
        return total

    def batches(self) -> Generator[Batch, None, None]:
        """The batches of one pass; close it at the end."""
        if self._complete:
            yield from self._kept
            return
        with closing(ahead(self.table)) as run:  # type: ignore[type-var]
            yield from run


def _each(start: int, stop: int, some: list[Batch], make: Any) -> list[Any]:
    return [make(batch) for batch in some[start:stop]]
