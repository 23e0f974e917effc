"""fit_stream: the fit of a filter to a table that need not fit into memory.

What a filter needs of the data is a statistic that merges (:mod:`tamiz.scale`): ``fit`` takes it
from one array, ``fit_stream`` from all batches, and what follows is the same code. A filter that
can be streamed says what it needs of the table (``_stream_needs``) and goes through the rows
(``_fit_streamed``); :func:`fit_stream` becomes its method. Here is what all of them share: the
table opened and checked, its passes counted, and the discrete columns of a stream, known by counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.base import Stopwatch
from tamiz.information.encoding import warn_of_identifiers
from tamiz.runtime.threads import limit_threads
from tamiz.scale import (
    Batch,
    Batches,
    CoMoments,
    Cuts,
    DistinctValues,
    Ranges,
    RowSample,
    StreamedCodes,
    batches,
    streamed_cuts,
    sweep,
)
from tamiz.validation import (
    Labels,
    MissingValuesError,
    OneClassError,
    checked,
    depth_of_caller,
    integer_from,
    optional,
    unchanged_on_error,
    warn_of_quantity,
)

#: Rows of a sample by default, as long as they take no more than so many bytes, and at least.
_SAMPLE_ROWS = 20_000
_SAMPLE_BYTES = 2**26
_LEAST_SAMPLE = 1000

#: What a filter takes as its target.
CLASSES, NUMERIC, EITHER = "classification", "regression", "auto"


class Needs(NamedTuple):
    """What a filter needs of a stream."""

    task: str = CLASSES  # what the target has to be
    nominal: bool = False  # whether the filter takes nominal columns
    instead: str = "use PearsonScore, RReliefF or CFS, which take numbers"  # of a numeric target
    keeps_classes: bool = True  # whether fit sets classes_


@checked(sample_size=optional(integer_from(2)))
def fit_stream(
    self: Any,
    source: Any,
    *,
    target: Any = None,
    sample_size: int | None = None,
    verbose: bool | int | None = None,
    **options: Any,
) -> Any:
    """Fit to a table that need not fit into memory, a batch of rows at a time.

    The result is that of ``fit`` on all rows, whatever the batches: bit by bit where rows are
    counted, to rounding where they are summed up. What rests on a sample of rows (cuts by "mdl" and
    "frequency", the neighbours of Relief, the order of values) is exact if the table has no more
    rows than the sample, and says in ``selection_.notes`` if not. After an error or Ctrl-C the
    filter is as it was before.

    Whether the target holds classes or numbers, where ``task="auto"`` leaves that open, is judged
    as ``fit`` does if pairs ``(X, y)`` are passed. The target of a file, or of a frame, is read as
    :func:`tamiz.data.load` reads it, for which integers of more than 20 levels are a numeric
    target; a warning says so.

    Parameters
    ----------
    source : path, list of paths, (X, y), iterable of (X, y), callable, or Batches
        Where the rows come from: whatever :func:`tamiz.scale.batches` takes.
    target : str or int, optional
        Column of the target.
    sample_size : int, optional
        Rows of the sample, where one is taken. By default 20,000, fewer if the table is very wide
        (5,000 for the Relief family).
    verbose : bool or int, optional
        Show progress; by default as the filter itself does.
    **options
        For :func:`tamiz.scale.batches`: ``batch_rows``, ``columns``, ``drop``, ``classes`` ...; and
        ``executor`` for passes on a cluster.

    Returns
    -------
    self
        With ``n_rows_`` and ``n_passes_`` besides what ``fit`` sets.
    """
    with unchanged_on_error(self):
        self._validate_params()
        needs = self._stream_needs()
        watch = Stopwatch()
        _check_options(options)
        talk = int(getattr(self, "verbose", 0) if verbose is None else verbose)
        with limit_threads(getattr(self, "n_jobs", None)):
            stream = Stream(self, source, target, options, needs, talk)
            stream.record(self)
            self._fit_streamed(stream, watch, sample_size)
        self.n_rows_, self.n_passes_ = stream.n_rows, stream.n_passes
    return self


class Stream:
    """A table in batches, opened for a filter, and what is known of it.

    Parameters
    ----------
    owner : estimator
        Who asks; for sentences, and for ``categorical_features``.
    source, target, options
        For :func:`tamiz.scale.batches`; ``executor`` among the options does the passes.
    needs : Needs
        What the filter needs.
    verbose : int
        Whether passes show how far they are.

    Attributes
    ----------
    table : Batches
        The rows.
    classes : array or None
        The labels; None if the target is numeric.
    n_passes : int
        Passes over all columns so far.
    notes : dict
        What the selection should say.
    """

    def __init__(
        self,
        owner: Any,
        source: Any,
        target: Any,
        options: dict[str, Any],
        needs: Needs,
        verbose: int,
    ):
        self.name = type(owner).__name__
        self.verbose = verbose
        self.n_passes = 0
        self.notes: dict[str, Any] = {}
        self._needs = needs
        self._executor = options.pop("executor", None)
        self.table = self._open(owner, source, target, options)
        self.schema = self.table.survey().schema
        self.names = self.schema.names
        self.classes: np.ndarray | None = self.schema.classes
        self._check_target()
        if not needs.nominal:
            self.refuse_nominal()

    def _open(self, owner: Any, source: Any, target: Any, options: dict[str, Any]) -> Batches:
        marked = getattr(owner, "categorical_features", None)
        if isinstance(source, Batches):
            given = ["target"] * (target is not None) + list(options)
            given += ["categorical_features"] * (marked is not None)
            if given:
                raise ValueError(
                    f"{given[0]} was given with batches that are open already; give it to "
                    "tamiz.scale.batches instead."
                )
            return source
        if marked is not None and "categorical_features" not in options:
            options["categorical_features"] = marked
        if self._needs.task != EITHER:
            options = {"task": self._needs.task, **options}
        return batches(source, target, verbose=self.verbose, **options)

    def refuse_nominal(self) -> None:
        """Refuse nominal columns where numbers are needed."""
        if self.schema.categories:
            column = self.names[min(self.schema.categories)]
            raise ValueError(
                f"Column {column!r} is nominal, and {self.name} needs numbers here; encode it "
                "first, for instance as one column of zeros and ones for each level, leave it out "
                "with drop=, or use a filter that counts, such as MaxRel."
            )

    def _check_target(self) -> None:
        classes, task, instead = self.classes, self._needs.task, self._needs.instead
        if self.schema.task is None:
            raise ValueError(
                f"{self.name} requires a target, and the table has none; name its column with "
                "target=."
            )
        if task == NUMERIC and classes is not None:
            raise ValueError(
                f"{self.name} takes a numeric target, and the target holds classes "
                f"({classes.tolist()[0]!r}, ...); use ReliefF for classes, or, if they are "
                'numbers, open the table with task="regression".'
            )
        if classes is None:
            if task == CLASSES:
                raise ValueError(
                    f"{self.name} needs classes, and the target is numeric; {instead}, or "
                    'open the batches with task="classification".'
                )
            return
        if classes.dtype.kind == "f" and (classes != np.floor(classes)).any():
            part = classes[classes != np.floor(classes)].tolist()[0]
            raise ValueError(
                f"Unknown label type: continuous. The target holds {part!r}: {instead}, or turn "
                "it into classes first."
            )
        if len(classes) < 2:
            self._refuse_one_class(classes.tolist()[0])

    def _refuse_one_class(self, label: Any) -> None:
        raise OneClassError(
            f"The target holds one class only ({label!r} in all rows); {self.name} needs rows of "
            "at least 2 classes.",
            label=label,
        )

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if the target is numeric."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def n_rows(self) -> int:
        """Number of rows; known after a pass."""
        assert self.table.n_rows is not None
        return self.table.n_rows

    @property
    def nominal(self) -> dict[int, int]:
        """How many levels each nominal column has."""
        return {j: len(levels) for j, levels in self.schema.categories.items()}

    def record(self, estimator: Any) -> None:
        """Note names, number of features and classes in the estimator."""
        estimator.__dict__.pop("feature_names_in_", None)
        if self.schema.named:
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        estimator.n_features_in_ = self.schema.n_features
        estimator.__dict__.pop("classes_", None)
        if self.classes is not None and self._needs.keeps_classes:
            estimator.classes_ = self.classes

    def need_again(self) -> None:
        """Refuse a generator before it has been read in vain."""
        if self.table.once:
            raise ValueError(
                f"{self.name} goes through the rows more than once, and a generator can be read "
                "once only; pass a function that makes a fresh one, or a list, or use a filter of "
                "one pass, such as FisherScore."
            )

    def sweep(self, *makers: Callable[[Batch], Any] | None) -> Any:
        """Go through all batches and merge what each maker gives of them.

        Returns one statistic, or as many as there are makers; None for a maker that is None.
        """
        self.n_passes += 1
        label = f"{self.name}, pass {self.n_passes}"
        found = sweep(
            self.table,
            _Located(_Several(makers), self.names, self.name),
            executor=self._executor,
            progress=self.verbose,
            label=label,
        )
        return found.parts[0] if len(makers) == 1 else found.parts

    def check_rows(self, rows: np.ndarray, instead: str | None = None) -> None:
        """Two classes must have rows; labels that look like a numeric target are warned of."""
        assert self.classes is not None
        there, absent = np.flatnonzero(rows), np.flatnonzero(rows == 0)
        if len(there) < 2:
            label = self.classes.tolist()[int(there[0])] if len(there) else None
            self._refuse_one_class(label)
        if len(absent):
            raise ValueError(
                f"The class {self.classes.tolist()[int(absent[0])]!r} was named, but no row has "
                "it; leave it out of classes=."
            )
        if instead is not None:
            n = int(rows.sum())
            warn_of_quantity(Labels(self.classes, np.broadcast_to(np.intp(0), n)), instead)

    def summary(self) -> dict[str, Any]:
        """Notes for the selection."""
        return {"n_rows": self.n_rows, "n_passes": self.n_passes, **self.notes}


@dataclass
class _Parts:
    """Several statistics of the same rows."""

    parts: tuple[Any, ...]

    def merge(self, other: _Parts) -> _Parts:
        """The same of both sets of rows."""
        pairs = zip(self.parts, other.parts, strict=True)
        return _Parts(tuple(None if a is None else a.merge(b) for a, b in pairs))


@dataclass
class _Several:
    """Makes several statistics of a batch; can be sent to another process."""

    makers: tuple[Callable[[Batch], Any] | None, ...]

    def __call__(self, batch: Batch) -> _Parts:
        return _Parts(tuple(None if make is None else make(batch) for make in self.makers))


@dataclass
class _Located:
    """A statistic of a batch; an error says in which batch, and in which column."""

    make: Callable[[Batch], Any]
    names: list[str]
    owner: str

    def __call__(self, batch: Batch) -> Any:
        try:
            return self.make(batch)
        except MissingValuesError:
            column = first_incomplete(batch.X)
            assert column is not None
            raise MissingValuesError(
                f"Batch {batch.index} contains NaN in column {self.names[column]!r}, and "
                f"{self.owner} needs all values. Pass tamiz.scale.batches(...).filled(), which "
                "fills in medians, or leave these rows out.",
                column=column,
            ) from None
        except ValueError as error:
            raise ValueError(f"In batch {batch.index}: {error}") from None


def first_incomplete(X: Any) -> int | None:
    """A column that lacks values; None if there is none."""
    if sparse.issparse(X):
        missing = np.flatnonzero(np.isnan(X.data))
        return int(X.indices[missing[0]]) if len(missing) else None
    columns = np.flatnonzero(np.isnan(X).any(axis=0))
    return int(columns[0]) if len(columns) else None


# ------------------------------------------------------------------------------------ statistics


@dataclass
class Correlate:
    """From a batch to the products of all pairs of columns; with a numeric target if no classes."""

    n_classes: int

    def __call__(self, batch: Batch) -> CoMoments:
        if self.n_classes:
            return CoMoments.of(batch.X, batch.y, self.n_classes)
        return CoMoments.of(batch.X, target=batch.y)


@dataclass
class Sampling:
    """Makes a :class:`RowSample` of a batch."""

    size: int
    n_rows: int | None = None

    @classmethod
    def of(cls, stream: Stream, asked: int | None, usual: int = _SAMPLE_ROWS) -> Any:
        """As many rows as asked for, or as many as take little memory."""
        if asked is None:
            width = 8 * max(1, stream.schema.n_features)
            asked = max(_LEAST_SAMPLE, min(usual, _SAMPLE_BYTES // width))
        return cls(int(asked), stream.table.n_rows)

    def __call__(self, batch: Batch) -> RowSample:
        first = batch.first_row
        return RowSample.of(batch.X, batch.y, first_row=first, size=self.size, n_rows=self.n_rows)


def _check_options(options: dict[str, Any]) -> None:
    """Refuse options that :func:`tamiz.scale.batches` does not have."""
    known = {*signature(batches).parameters, "executor"} - {"source", "target"}
    wrong = [name for name in options if name not in known]
    if wrong:
        weights = " Rows of a stream are not weighted." if wrong[0] == "sample_weight" else ""
        raise TypeError(
            f"fit_stream has no option {wrong[0]!r}; it takes those of tamiz.scale.batches: "
            f"{', '.join(sorted(known))}.{weights}"
        )


# ------------------------------------------------------------------------------ discrete columns


class StreamedColumns(NamedTuple):
    """The discrete columns of a stream, and the sample and the cuts they come from."""

    codes: StreamedCodes
    sample: RowSample | None
    cuts: Cuts


def count_columns(
    stream: Stream,
    *,
    bins: str | None,
    n_bins: int,
    missing: str = "code",
    pairs: bool,
    sample_size: int | None,
    sampled: bool = False,
) -> StreamedColumns:
    """The discrete columns of a stream, counted together with its classes.

    A first pass finds where the columns are cut, by the rules of :mod:`tamiz.information`; a second
    one counts. The counts give the same numbers as the columns themselves would. ``pairs`` says
    whether pairs will be asked for; ``sampled`` asks for a sample in any case.
    """
    stream.need_again()
    by_order = bins in ("mdl", "frequency")
    sampling = Sampling.of(stream, sample_size) if by_order or sampled else None
    distinct = None if bins else _distinct_of
    ranges, sample, values = stream.sweep(_ranges_of, sampling, distinct)
    if by_order and not sample.exact:
        size = f"{len(sample.rows):,} of {stream.n_rows:,} rows"
        stream.notes["cuts"] = f'bins="{bins}" were found in a sample of {size}'
        stream.notes["rank_error"] = float(sample.rank_error().max(initial=0.0))
    names = stream.names if stream.schema.named else None
    cuts = streamed_cuts(
        bins,
        n_bins=n_bins,
        ranges=ranges,
        sample=sample if by_order else None,
        distinct=values,
        levels=stream.nominal,
        names=names,
    )
    codes = StreamedCodes(
        stream.sweep, cuts, stream.n_classes, missing=missing, pairs=pairs, varies=ranges.varies()
    )
    warn_of_identifiers(codes, lambda j: f"column {j if names is None else repr(names[j])}")
    _warn_of_empty_columns(ranges, stream.names)
    return StreamedColumns(codes, sample, cuts)


def count_with_classes(
    selector: Any, stream: Stream, sample_size: int | None, *, pairs: bool, instead: str
) -> StreamedCodes:
    """The discrete columns of a stream by the parameters of a selector that takes classes."""
    codes = count_columns(
        stream,
        bins=selector.bins,
        n_bins=selector.n_bins,
        missing=selector.missing,
        pairs=pairs,
        sample_size=sample_size,
    ).codes
    stream.check_rows(codes.class_rows, instead)
    return codes


def _ranges_of(batch: Batch) -> Ranges:
    return Ranges.of(batch.X)


def _distinct_of(batch: Batch) -> DistinctValues:
    return DistinctValues.of(batch.X)


def _warn_of_empty_columns(ranges: Ranges, names: list[str]) -> None:
    nothing = np.flatnonzero(ranges.n_known == 0)
    if len(nothing):
        more = f" (and {len(nothing) - 1} more)" if len(nothing) > 1 else ""
        warnings.warn(
            f"Column {names[nothing[0]]!r}{more} has no value in any row; it tells nothing "
            "and is ranked last. Leave it out with drop=.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )
