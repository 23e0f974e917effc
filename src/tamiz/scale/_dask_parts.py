"""Readers of Dask collections: partitions of data frames, chunks of arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable, distinct_names
from tamiz.data.errors import DataError
from tamiz.data.formats.base import Reader, cut_table
from tamiz.data.formats.frames import frame_column, read_pair
from tamiz.data.plan import ColumnPlan, Options, make_plan

_TARGET = "target"


class PartitionReader:
    """Makes a table of a partition of a Dask data frame, which is a pandas frame.

    Parameters
    ----------
    target : str or None
        Name of the target.
    plain : set of str
        Columns whose categories differ from partition to partition: taken as text.
    shown : str
        What the table is called in messages.
    """

    def __init__(self, target: str | None, plain: set[str], shown: str):
        self.target, self.plain, self.shown = target, plain, shown

    def tables(self, piece: Any, rows: int | None) -> Iterator[RawTable]:
        """Tables of at most so many rows."""
        if len(piece):
            yield from cut_table(self._table(piece), rows)

    def _table(self, frame: Any) -> RawTable:
        frame = frame.copy(deep=False)
        frame.columns = names = [str(name) for name in frame.columns]
        kinds = {name: getattr(frame[name].dtype, "kind", "O") for name in names}
        own = {name for name in names if type(frame[name].dtype).__module__.startswith("numpy")}
        numeric = [n for n in names if n in own and kinds[n] in "iuf" and n != self.target]
        columns: list[Column] = []
        for name in names:
            if name in numeric:
                continue
            series = frame[name].astype(object) if name in self.plain else frame[name]
            columns.append(frame_column(name, nw.from_native(series, series_only=True), self.shown))
        matrix = np.ascontiguousarray(frame[numeric].to_numpy(dtype=np.float64))
        return RawTable(columns, self.shown, matrix=matrix, matrix_names=numeric, names=names)


class ChunkReader:
    """Makes a table of a pair of chunks.

    Parameters
    ----------
    options : Options
        What to read.
    shown : str
        What the table is called in messages.
    """

    def __init__(self, options: Options, shown: str):
        self.options, self.shown = options, shown

    def tables(self, piece: Any, rows: int | None) -> Iterator[RawTable]:
        """Tables of at most so many rows."""
        X, y = piece
        table, _ = read_pair(X, y, self.options, self.shown)
        if table is not None:
            yield from cut_table(table, rows)


class DaskReader(Reader):
    """A Dask collection.

    Rows are computed where Dask computes: by the client that is active, or by threads.

    Attributes
    ----------
    client : dask.distributed.Client or None
        Another client to use.
    """

    client: Any = None

    @property
    def executor(self) -> Any:  # type: ignore[override]
        """Passes are done where the partitions are."""
        from tamiz.scale.dask import DaskExecutor

        return DaskExecutor(self.client)

    @abstractmethod
    def partitions(self, columns: Sequence[str] | None) -> list[Any]:
        """The partitions, delayed, in order."""

    @abstractmethod
    def reader(self) -> PartitionReader | ChunkReader:
        """What makes tables of them."""

    def rows_of_partitions(self) -> list[int] | None:
        """Rows of each partition, if known."""
        return None

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[RawTable]:
        reader = self.reader()
        for piece in self.partitions(columns):
            yield from reader.tables(self._value(piece), rows)

    def first(self, rows: int | None) -> RawTable | None:
        from dask import delayed

        reader = self.reader()
        for piece in self.partitions(None):  # not all of a partition travels
            table = next(reader.tables(self._value(delayed(_head)(piece, rows)), rows), None)
            if table is not None:
                self._looked_at(table)
                return table
        return None

    def _value(self, piece: Any) -> Any:
        from tamiz.scale.dask import computed

        return computed(piece, self.client)

    def _looked_at(self, table: RawTable) -> None:
        self.sparse = sparse.issparse(table.matrix)


class DaskFrameReader(DaskReader):
    """A Dask data frame."""

    narrows = True
    shown = "the Dask data frame"

    def __init__(self, frame: Any, options: Options):
        names, renamed = distinct_names([str(name) for name in frame.columns])
        if renamed:
            raise DataError(
                f"{self.shown} has more than one column called {renamed[0]!r}; give each its own "
                "name."
            )
        self.frame, self.names, self.options = frame, names, options
        self._plan = make_plan(names, options, self.shown)
        self._own = dict(zip(names, frame.columns, strict=True))
        self._plain = {
            name
            for name, own in self._own.items()
            if str(frame.dtypes[own]) == "category" and not frame[own].cat.known
        }

    def plan(self) -> ColumnPlan:
        return self._plan

    def partitions(self, columns: Sequence[str] | None) -> list[Any]:
        wanted = set(self._plan.names if columns is None else columns)
        return self.frame[[self._own[n] for n in self.names if n in wanted]].to_delayed()

    def reader(self) -> PartitionReader:
        return PartitionReader(self._plan.target, self._plain, self.shown)


class DaskArrayReader(DaskReader):
    """A Dask array, and a target in as many chunks."""

    guess_roles = False
    named = False
    reads_all = True
    shown = "the Dask array"

    def __init__(self, X: Any, y: Any, options: Options):
        if getattr(X, "ndim", 2) != 2:
            raise DataError(
                f"{self.shown} has {X.ndim} dimensions; it needs one row for each sample and one "
                "column for each feature."
            )
        frame = hasattr(X, "columns")
        self.named = frame
        if not frame and X.numblocks[1] > 1:
            X = X.rechunk({1: -1})  # a row has to be in one piece
        self.X, self.y, self.options = X, _like(y, X, self.shown), options
        sizes = [np.nan] if frame else X.chunks[0]
        self._sizes = None if np.isnan(sizes).any() else [int(n) for n in sizes]
        self.n_rows = None if self._sizes is None else sum(self._sizes)
        self._plan: ColumnPlan | None = None

    def plan(self) -> ColumnPlan:
        if self._plan is None:
            names = (
                [str(name) for name in self.X.columns]
                if hasattr(self.X, "columns")
                else [f"x{j}" for j in range(self.X.shape[1])]
            )
            target = None
            if self.y is not None:
                target = _TARGET
                while target in names:
                    target += "_"
                names = [*names, target]
            columns, drop = self.options.columns, self.options.drop
            asked = Options(False if target is None else target, columns, drop)
            self.names = names
            self._plan = make_plan(names, asked, self.shown)
        return self._plan

    def partitions(self, columns: Sequence[str] | None) -> list[Any]:
        from dask import delayed

        blocks = _delayed(self.X)
        targets = [None] * len(blocks) if self.y is None else _delayed(self.y)
        return [delayed(_pair)(X, y) for X, y in zip(blocks, targets, strict=True)]

    def rows_of_partitions(self) -> list[int] | None:
        return self._sizes

    def reader(self) -> ChunkReader:
        target = False if self.y is None else None
        return ChunkReader(Options(target, self.options.columns, self.options.drop), self.shown)


def open_dask(source: Any, options: Options) -> DaskReader:
    """A reader of a Dask data frame, from an array and its target, or from a pair of them."""
    X, y = source if isinstance(source, tuple) else (source, None)
    if y is None and hasattr(options.target, "ndim"):  # batches(X, y)
        y = options.target
        options = Options(None, options.columns, options.drop)
    if y is None and hasattr(X, "columns"):
        return DaskFrameReader(X, options)
    if y is None and options.target is not False:
        raise DataError(
            "A Dask array needs its target: batches(X, y), or target=False if there is none."
        )
    return DaskArrayReader(X, y, options)


def is_dask(source: Any) -> bool:
    """Whether a source is a Dask collection, or a pair that begins with one."""
    first = source[0] if isinstance(source, tuple) and len(source) == 2 else source
    home = type(first).__module__.partition(".")[0]
    return home in ("dask", "dask_expr") and hasattr(first, "dask")


def _like(y: Any, X: Any, shown: str) -> Any:
    """A target in the pieces of ``X``."""
    if y is None:
        return None
    if not hasattr(y, "dask"):
        import dask.array as da

        y = np.asarray(y)
        if hasattr(X, "columns") or np.isnan(X.chunks[0]).any():
            raise DataError(
                "y is in memory, but how long the chunks of X are is not known; call "
                "X.compute_chunk_sizes() first, or pass y as a Dask array."
            )
        if len(y) != X.shape[0]:
            raise DataError(f"X has {X.shape[0]} rows but y has {len(y)} entries.")
        return da.from_array(y, chunks=(X.chunks[0],))
    if getattr(y, "ndim", 1) != 1:
        raise DataError(f"y has {y.ndim} dimensions; give one label or number for each row of X.")
    n_X = X.npartitions if hasattr(X, "columns") else X.numblocks[0]
    both = not hasattr(X, "columns") and hasattr(y, "chunks")
    if both and not np.isnan(X.chunks[0]).any() and not np.isnan(y.chunks[0]).any():
        if sum(y.chunks[0]) != X.shape[0]:
            raise DataError(f"X has {X.shape[0]} rows but y has {sum(y.chunks[0])} entries.")
        return y if y.chunks[0] == X.chunks[0] else y.rechunk((X.chunks[0],))
    n_y = y.npartitions
    if n_X != n_y:
        raise DataError(
            f"{shown} is in {n_X} pieces along the rows but y in {n_y}, and their lengths are not "
            "known; let both come from the same partitions, or call compute_chunk_sizes()."
        )
    return y


def _delayed(collection: Any) -> list[Any]:
    made = collection.to_delayed()
    return list(made.ravel()) if isinstance(made, np.ndarray) else list(made)


def _pair(X: Any, y: Any) -> tuple[Any, Any]:
    if hasattr(y, "to_numpy") and not isinstance(y, np.ndarray):
        y = y.to_numpy()
    return X, y


def _head(piece: Any, rows: int | None) -> Any:
    if isinstance(piece, tuple):
        return piece[0][:rows], None if piece[1] is None else piece[1][:rows]
    return piece.iloc[:rows]
