"""fit_stream: the fit of a filter to a table that need not fit into memory.

What a filter needs of the data is a statistic that merges (:mod:`tamiz.scale`): ``fit`` takes it
from one array, ``fit_stream`` from all batches, and what follows is the same code. Here is what
all filters share: the table opened and checked, its passes counted, and the discrete columns that
the filters of information ask for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.base import Stopwatch
from tamiz.runtime.parallel import limit_threads
from tamiz.scale import (
    Batch,
    Batches,
    CoMoments,
    RowSample,
    batches,
    sweep,
)
from tamiz.validation import (
    Labels,
    MissingValuesError,
    OneClassError,
    unchanged_on_error,
    warn_of_quantity,
)

#: Rows of a sample by default, as long as they take no more than so many bytes, and at least.
SAMPLE_ROWS = 20_000
_SAMPLE_BYTES = 2**26
_LEAST_SAMPLE = 1000

#: What a filter takes as its target.
CLASSES, QUANTITY, EITHER = "classification", "regression", "auto"


class Stream:
    """A table in batches, opened for a filter, and what is known of it.

    Parameters
    ----------
    owner : estimator
        Who asks; for sentences, and for ``categorical_features``.
    source, target, options
        For :func:`tamiz.scale.batches`; ``executor`` among the options does the passes.
    task : {"classification", "regression", "auto"}
        What the target has to be.
    quantity : str
        What to do about a quantity where classes are needed.
    nominal : bool
        Whether the filter takes nominal columns.
    verbose : int
        Whether passes show how far they are.

    Attributes
    ----------
    table : Batches
        The rows.
    classes : array or None
        The labels; None if the target is a quantity.
    n_passes : int
        Passes over all columns so far.
    """

    def __init__(
        self,
        owner: Any,
        source: Any,
        target: Any,
        options: dict[str, Any],
        *,
        task: str,
        quantity: str,
        nominal: bool,
        verbose: int,
    ):
        self.name = type(owner).__name__
        self.verbose = verbose
        self.n_passes = 0
        self.notes: dict[str, Any] = {}
        self._executor = options.pop("executor", None)
        self.table = self._open(owner, source, target, options, task, verbose)
        self.schema = self.table.survey().schema
        self.names = self.schema.names
        self.classes: np.ndarray | None = self.schema.classes
        self._check_target(task, quantity)
        if not nominal:
            self.refuse_nominal()

    def _open(
        self, owner: Any, source: Any, target: Any, options: dict[str, Any], task: str, verbose: int
    ) -> Batches:
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
        if task != EITHER:
            options = {"task": task, **options}
        return batches(source, target, verbose=verbose, **options)

    def refuse_nominal(self) -> None:
        """Refuse nominal columns where numbers are needed."""
        if self.schema.categories:
            column = self.names[min(self.schema.categories)]
            raise ValueError(
                f"Column {column!r} is nominal, and {self.name} needs numbers here; encode it "
                "first, for instance as one column of zeros and ones for each level, leave it out "
                "with drop=, or use a filter that counts, such as MaxRel."
            )

    def _check_target(self, task: str, quantity: str) -> None:
        classes = self.classes
        if self.schema.task is None:
            raise ValueError(
                f"{self.name} requires a target, and the table has none; name its column with "
                "target=."
            )
        if task == QUANTITY and classes is not None:
            raise ValueError(
                f"{self.name} takes a quantity as target, and the target holds classes "
                f"({classes.tolist()[0]!r}, ...); use ReliefF for classes, or, if they are "
                'numbers, open the table with task="regression".'
            )
        if classes is None:
            if task == CLASSES:
                raise ValueError(
                    f"{self.name} needs classes, and the target holds a quantity; {quantity}, or "
                    'open the batches with task="classification".'
                )
            return
        if classes.dtype.kind == "f" and (classes != np.floor(classes)).any():
            part = classes[classes != np.floor(classes)].tolist()[0]
            raise ValueError(
                f"Unknown label type: continuous. The target holds {part!r}: {quantity}, or turn "
                "it into classes first."
            )
        if len(classes) < 2:
            raise OneClassError(
                f"The target holds one class only ({classes.tolist()[0]!r} in all rows); "
                f"{self.name} needs rows of at least 2 classes.",
                label=classes.tolist()[0],
            )

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if the target is a quantity."""
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
        if self.classes is not None and estimator._keeps_classes:
            estimator.classes_ = self.classes

    def need_again(self) -> None:
        """Refuse a generator before it has been read in vain."""
        if self.table.once:
            raise ValueError(
                f"{self.name} goes through the rows more than once, and a generator can be read "
                "once only; hand over a function that makes a fresh one, or a list, or use a "
                "filter of one pass, such as FisherScore."
            )

    def sweep(self, make: Callable[[Batch], Any]) -> Any:
        """Go through all batches and merge what ``make`` gives of each."""
        self.n_passes += 1
        label = f"{self.name}, pass {self.n_passes}"
        checked = _Told(make, self.names, self.name)
        found = sweep(
            self.table, checked, executor=self._executor, progress=self.verbose, label=label
        )
        return found

    def check_rows(self, rows: np.ndarray, quantity: str | None = None) -> None:
        """Two classes must have rows; labels that look like a quantity are warned of."""
        assert self.classes is not None
        there, absent = np.flatnonzero(rows), np.flatnonzero(rows == 0)
        if len(there) < 2:
            label = self.classes.tolist()[int(there[0])] if len(there) else None
            raise OneClassError(
                f"The target holds one class only ({label!r} in all rows); {self.name} needs rows "
                "of at least 2 classes.",
                label=label,
            )
        if len(absent):
            raise ValueError(
                f"The class {self.classes.tolist()[int(absent[0])]!r} was named, but no row has "
                "it; leave it out of classes=."
            )
        if quantity is not None:
            n = int(rows.sum())
            warn_of_quantity(Labels(self.classes, np.broadcast_to(np.intp(0), n)), quantity)

    def told(self) -> dict[str, Any]:
        """Notes for the selection."""
        return {"n_rows": self.n_rows, "n_passes": self.n_passes, **self.notes}


@dataclass
class _Told:
    """A statistic of a batch; what is wrong with it is told with its number and the column."""

    make: Callable[[Batch], Any]
    names: list[str]
    owner: str

    def __call__(self, batch: Batch) -> Any:
        try:
            return self.make(batch)
        except ValueError as error:
            column = first_gap(batch.X)
            if column is None or not isinstance(error, MissingValuesError):
                raise ValueError(f"In batch {batch.index}: {error}") from None
            raise MissingValuesError(
                f"Batch {batch.index} contains NaN in column {self.names[column]!r}, and "
                f"{self.owner} needs all values. Hand over tamiz.scale.batches(...).filled(), "
                "which fills the gaps with medians, or leave these rows out.",
                column=column,
            ) from None


def first_gap(X: Any) -> int | None:
    """A column that lacks values; None if there is none."""
    if sparse.issparse(X):
        gaps = np.flatnonzero(np.isnan(X.data))
        return int(X.indices[gaps[0]]) if len(gaps) else None
    columns = np.flatnonzero(np.isnan(X).any(axis=0))
    return int(columns[0]) if len(columns) else None


class Streaming:
    """What gives a filter ``fit_stream``; a subclass defines ``_fit_streamed``."""

    _streams_nominal = False  # whether nominal columns can be streamed
    _keeps_classes = True  # whether fit sets classes_
    _quantity = "use PearsonScore, RReliefF or CFS, which take numbers"

    def fit_stream(
        self,
        source: Any,
        *,
        target: Any = None,
        sample_size: int | None = None,
        verbose: bool | int | None = None,
        **options: Any,
    ) -> Any:
        """Fit to a table that need not fit into memory, a batch of rows at a time.

        The result is that of ``fit`` on all rows, whatever the batches: bit by bit where rows are
        counted, to rounding where they are summed up. What rests on a sample of rows (cuts by
        "mdl" and "frequency", the neighbours of Relief, the order of values) is exact if the table
        has no more rows than the sample, and says in ``selection_.notes`` if not. After an error
        or Ctrl-C the filter is as it was before.

        Whether the target holds classes or a quantity, where ``task="auto"`` leaves that open, is
        judged as ``fit`` does if pairs ``(X, y)`` are handed over. The target of a file, or of a
        frame, is read as :func:`tamiz.data.load` reads it, for which whole numbers of more than 20
        levels are a quantity; a warning tells of it.

        Parameters
        ----------
        source : path, list of paths, (X, y), iterable of (X, y), callable, or Batches
            Where the rows come from: whatever :func:`tamiz.scale.batches` takes.
        target : str or int, optional
            Column of the target.
        sample_size : int, optional
            Rows of the sample, where one is taken. By default 20,000, fewer if the table is very
            wide (5,000 for the Relief family).
        verbose : bool or int, optional
            Show progress; by default as the filter itself does.
        **options
            For :func:`tamiz.scale.batches`: ``batch_rows``, ``columns``, ``drop``, ``classes`` ...;
            and ``executor`` for passes on a cluster.

        Returns
        -------
        self
            With ``n_rows_`` and ``n_passes_`` besides what ``fit`` sets.
        """
        with unchanged_on_error(self):
            self._validate_params()  # type: ignore[attr-defined]
            self._check_streamable()
            watch = Stopwatch()
            check_sample_size(sample_size)
            check_options(options)
            talk = getattr(self, "verbose", 0) if verbose is None else verbose
            with limit_threads(getattr(self, "n_jobs", None)):
                stream = Stream(
                    self,
                    source,
                    target,
                    options,
                    task=self._stream_task(),
                    quantity=self._quantity,
                    nominal=self._takes_nominal(),
                    verbose=int(talk),
                )
                stream.record(self)
                self._fit_streamed(stream, watch, sample_size)
            self.n_rows_, self.n_passes_ = stream.n_rows, stream.n_passes
        return self

    @abstractmethod
    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        """Go through the rows, and set the fitted attributes."""

    def _stream_task(self) -> str:
        """What the target has to be."""
        return getattr(self, "task", CLASSES)

    def _takes_nominal(self) -> bool:
        return self._streams_nominal

    def _check_streamable(self) -> None:
        """Refuse parameters with which streaming is not possible."""

    def _finish(self, **found: Any) -> None:
        for name in ("n_rows_", "n_passes_", "score_bounds_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        super()._finish(**found)  # type: ignore[misc]


# ------------------------------------------------------------------------------------ statistics


@dataclass
class Correlate:
    """From a batch to the products of all pairs of columns; a quantity as target if no classes."""

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
    seed: int = 0

    def __call__(self, batch: Batch) -> RowSample:
        first, n_rows = batch.first_row, self.n_rows
        return RowSample.of(
            batch.X, batch.y, first_row=first, size=self.size, n_rows=n_rows, seed=self.seed
        )


def check_options(options: dict[str, Any]) -> None:
    """Refuse options that :func:`tamiz.scale.batches` does not have."""
    known = {*signature(batches).parameters, "executor"} - {"source", "target"}
    wrong = [name for name in options if name not in known]
    if wrong:
        weights = " Rows of a stream are not weighted." if wrong[0] == "sample_weight" else ""
        raise TypeError(
            f"fit_stream has no option {wrong[0]!r}; it takes those of tamiz.scale.batches: "
            f"{', '.join(sorted(known))}.{weights}"
        )


def check_sample_size(size: Any) -> None:
    """Refuse what is no number of rows."""
    whole = isinstance(size, Integral) and not isinstance(size, bool)
    if size is not None and not (whole and int(size) >= 2):
        raise ValueError(f"sample_size={size!r} must be a whole number, at least 2, or None.")


def rows_to_sample(asked: int | None, n_features: int, usual: int = SAMPLE_ROWS) -> int:
    """Rows of a sample: as asked, or as many as take little memory."""
    if asked is not None:
        return int(asked)
    return int(max(_LEAST_SAMPLE, min(usual, _SAMPLE_BYTES // (8 * max(1, n_features)))))
