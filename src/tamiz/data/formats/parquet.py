"""Parquet files in batches, through pyarrow, or polars where that alone is installed.

pyarrow decodes a batch of rows of every column, and reads the file through small buffers: a row
group of a gigabyte needs no gigabyte of memory. Numbers go straight into the rows of ``X``.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, RawTable, distinct_names, numbered
from tamiz.data.errors import DataError, Finding, damaged
from tamiz.data.formats.base import CHANGED, Reader, readable, rows_per_batch
from tamiz.data.plan import ColumnPlan, Options, make_plan
from tamiz.runtime.threads import n_threads

BUFFER = 1 << 16  # bytes of each column that are read at a time
CACHED = 1 << 18  # numbers that are decoded and copied together: what a cache holds


def open_parquet(path: Path, shown: str, options: Options) -> ParquetReader:
    """A reader by what is installed."""
    if find_spec("pyarrow") is not None:
        return ArrowReader(path, shown, options)
    if find_spec("polars") is not None:
        return PolarsReader(path, shown, options)
    raise ImportError(
        f"{shown} is a Parquet file, which needs pyarrow or polars; install one with: "
        "pip install 'tamiz[frames]'"
    )


class ParquetReader(Reader):
    """A Parquet file."""

    narrows = True
    in_file: int  # rows of the file, or of those row groups that are read
    _renamed: list[str]

    def __init__(self, path: Path, shown: str, options: Options):
        self.path, self.shown, self.options = path, shown, options
        with self._faults_said():
            self._look()
        self.n_rows = self.in_file
        if options.nrows is not None:
            self.n_rows = min(self.in_file, options.nrows)

    def findings(self) -> list[Finding]:
        return numbered(self.shown, self._renamed)

    @abstractmethod
    def _look(self) -> None:
        """Find names, number of rows and kinds of columns, without reading values."""

    @abstractmethod
    def _read(self, columns: list[str], rows: int) -> Iterator[RawTable]:
        """Some columns, so many rows at a time."""

    def plan(self) -> ColumnPlan:
        return make_plan(self.names, self.options, self.shown)

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[RawTable]:
        wanted = set(self.plan().names if columns is None else columns)
        kept = [name for name in self.names if name in wanted]
        with self._faults_said():
            yield from self._read(kept, rows_per_batch(len(kept)) if rows is None else rows)

    @contextmanager
    def _faults_said(self) -> Iterator[None]:
        """Faults of the file as sentences; each library has its own kinds of errors."""
        try:
            yield
        except (DataError, PermissionError, MemoryError, FileNotFoundError):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise  # polars' panics are no exceptions in some versions
            raise DataError(damaged(self.shown, error, "no Parquet file, or it is ")) from None

    def _refuse(self, name: str, kind: Any) -> DataError:
        return DataError(
            f"{self.shown}: column {name!r} is of type {kind}, which is neither numbers nor text; "
            "leave it out with drop=."
        )


class ArrowReader(ParquetReader):
    """A Parquet file read by pyarrow.

    Attributes
    ----------
    row_groups : list of int or None
        The groups of rows that belong to this reader; None for all.
    """

    row_groups: list[int] | None = None

    def _look(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            schema = file.schema_arrow
            self.in_file = file.metadata.num_rows
        self._own = list(schema.names)  # which may repeat
        self.names, self._renamed = distinct_names(self._own)
        self._kinds = [str(field.type) for field in schema]
        kinds = dict(zip(self.names, (field.type for field in schema), strict=True))
        self._declared = {name for name, kind in kinds.items() if pa.types.is_dictionary(kind)}
        self._dates = {name for name, kind in kinds.items() if pa.types.is_temporal(kind)}
        texts = {name for name, kind in kinds.items() if _is_text(kind)}
        self._text = texts | self._declared
        self._plain_text = {
            own
            for own, name in zip(self._own, self.names, strict=True)
            if pa.types.is_string(kinds[name])
        }

    def _read(self, columns: list[str], rows: int) -> Iterator[RawTable]:
        import pyarrow.parquet as pq

        # Text with few levels is read as codes right away.
        own = dict(zip(self.names, self._own, strict=True))
        wanted = list(dict.fromkeys(own[name] for name in columns))
        as_codes = [name for name in wanted if name in self._plain_text]
        step = int(np.clip(CACHED // max(1, len(columns)), 8192, 1 << 16))
        with pq.ParquetFile(
            self.path, read_dictionary=as_codes, buffer_size=BUFFER, pre_buffer=False
        ) as file:
            several = n_threads() > 1
            left = self._same_as_before(file)
            filling = _ArrowTable(self, columns, min(rows, left))
            if not left:
                return
            for batch in file.iter_batches(
                min(step, rows), self.row_groups, wanted, use_threads=several
            ):
                while len(batch):
                    piece = batch[: filling.n - filling.at]
                    filling.add(piece)
                    batch = batch[len(piece) :]
                    if filling.at == filling.n:
                        left -= filling.n
                        table = filling.table()
                        if not left:
                            yield table
                            return
                        filling = _ArrowTable(self, columns, min(rows, left))
                        yield table
                        del table
                    del piece

    def pieces(self) -> list[Reader]:
        """Groups of rows that make at least a batch."""
        import pyarrow.parquet as pq

        with readable(self), self._faults_said(), pq.ParquetFile(self.path) as file:
            metadata = file.metadata
        sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        least = rows_per_batch(len(self.names))
        found: list[Reader] = []
        groups: list[int] = []
        for k in range(len(sizes)):
            groups.append(k)
            n = sum(sizes[g] for g in groups)
            if n >= least or k == len(sizes) - 1:
                piece = copy.copy(self)
                piece.row_groups, piece.n_rows, piece.in_file = groups, n, n
                found.append(piece)
                groups = []
        return found

    def columns_read(self, columns: list[str]) -> list[str]:
        """What comes if these columns are asked for: others of the same name in the file, too."""
        asked = set(columns)
        wanted = {own for own, name in zip(self._own, self.names, strict=True) if name in asked}
        return [n for own, n in zip(self._own, self.names, strict=True) if own in wanted]

    def _same_as_before(self, file: Any) -> int:
        """Number of rows to come, if the file is the one that was opened."""
        schema = file.schema.to_arrow_schema()  # that of the file, whatever is read as codes
        if list(schema.names) != self._own or [str(f.type) for f in schema] != self._kinds:
            raise DataError(f"{self.shown} has other columns than before: {CHANGED}")
        metadata, groups = file.metadata, self.row_groups
        if groups is None or max(groups) < metadata.num_row_groups:
            n = (
                metadata.num_rows
                if groups is None
                else sum(metadata.row_group(k).num_rows for k in groups)
            )
            if n == self.in_file:
                return n if self.options.nrows is None else min(n, self.options.nrows)
        raise DataError(f"{self.shown} has other rows than before: {CHANGED}")

    def _numbers(self, name: str, array: Any) -> np.ndarray:
        import pyarrow as pa

        kind = array.type
        if pa.types.is_boolean(kind):
            array = array.cast(pa.uint8())
        elif pa.types.is_decimal(kind):
            array = array.cast(pa.float64())
        elif pa.types.is_null(kind):
            return np.full(len(array), np.nan)
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise self._refuse(name, kind)
        return array.to_numpy(zero_copy_only=False)  # missing values become NaN

    def _levels(self, name: str, arrays: list[Any]) -> Column:
        import pyarrow as pa

        place: dict[str, int] = {}
        parts = []
        for array in arrays:
            array.validate(full=True)  # of a damaged file these are not checked on reading
            if not pa.types.is_dictionary(array.type):
                array = array.dictionary_encode()
            codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
            levels = array.dictionary.to_pylist()
            own = np.full(len(levels) + 1, -1, dtype=np.int32)
            for k, level in enumerate(levels):
                text = "" if level is None else str(level)
                if level is not None and (text.strip() or name in self._declared):
                    own[k] = place.setdefault(text, len(place))
            parts.append(own[codes])  # -1 is the last
        return Column(
            name,
            None,
            np.concatenate(parts),
            list(place),
            declared=name in self._declared,
            date=name in self._dates,
        )


class _ArrowTable:
    """A table that is filled by small pieces, each of which is in the cache when it is copied."""

    def __init__(self, reader: ArrowReader, columns: list[str], n: int):
        self.reader, self.columns, self.n = reader, columns, n
        self.target = reader.plan().target
        self.read = reader.columns_read(columns)
        self.special = reader._text | reader._dates
        self.numeric = [
            name for name in columns if name not in self.special and name != self.target
        ]
        self.X = np.empty((n, len(self.numeric)))
        self.rest: dict[str, list[Any]] = {
            name: [] for name in columns if name in self.special or name == self.target
        }
        self.at = 0

    def add(self, piece: Any) -> None:
        """Take in the next rows."""
        rows = slice(self.at, self.at + len(piece))
        columns = dict(zip(self.read, piece.columns, strict=True))  # faster than one by one
        arrays = [self.reader._numbers(name, columns[name]) for name in self.numeric]
        _fill(self.X[rows], arrays)
        for name, held in self.rest.items():
            array = columns[name]
            held.append(array if name in self.special else self.reader._numbers(name, array))
        self.at += len(piece)

    def table(self) -> RawTable:
        """What was taken in."""
        columns = [
            self.reader._levels(name, held)
            if name in self.special
            else Column(name, np.concatenate(held).astype(np.float64))
            for name, held in self.rest.items()
        ]
        return RawTable(
            columns,
            self.reader.shown,
            matrix=self.X,
            matrix_names=self.numeric,
            names=self.reader.names,
        )


class PolarsReader(ParquetReader):
    """A Parquet file read by polars."""

    def _look(self) -> None:
        import polars as pl

        scan = pl.scan_parquet(self.path)
        self.names, self._renamed = list(pl.read_parquet_schema(self.path)), []
        self.in_file = int(scan.select(pl.len()).collect().item())

    def _read(self, columns: list[str], rows: int) -> Iterator[RawTable]:
        import narwhals.stable.v1 as nw
        import polars as pl

        from tamiz.data.formats.frames import frame_column

        before = self.names, self.in_file
        self._look()
        if (self.names, self.in_file) != before:
            raise DataError(f"{self.shown} has other rows or columns than before: {CHANGED}")
        target = self.plan().target
        assert self.n_rows is not None
        for start in range(0, self.n_rows, rows):
            n = min(rows, self.n_rows - start)
            frame = pl.scan_parquet(self.path).select(columns).slice(start, n).collect()
            kinds = {name: frame[name].dtype for name in columns}
            plain = {
                name
                for name, kind in kinds.items()
                if kind.is_numeric() or kind in (pl.Boolean, pl.Null)
            }
            numeric = [name for name in columns if name in plain and name != target]
            X = np.empty((len(frame), len(numeric)))
            _fill(X, [frame[name].cast(pl.Float64).to_numpy() for name in numeric])
            rest = []
            for name in columns:
                if name not in plain:
                    series = nw.from_native(frame[name], series_only=True)
                    rest.append(frame_column(name, series, self.shown))
                elif name == target:
                    rest.append(Column(name, frame[name].cast(pl.Float64).to_numpy()))
            yield RawTable(rest, self.shown, matrix=X, matrix_names=numeric, names=self.names)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    tests = ("is_string", "is_large_string", "is_string_view")  # older versions lack the last
    return any(getattr(pa.types, test)(kind) for test in tests if hasattr(pa.types, test))


def _fill(X: np.ndarray, arrays: list[np.ndarray]) -> None:
    """Write columns into a C-contiguous table, so many rows at a time as a cache holds."""
    n, p = X.shape
    step = max(2048, CACHED // max(1, p))  # fewer rows cost more in calls than the cache gains
    for start in range(0, n, step):
        block = X[start : start + step]
        for j, array in enumerate(arrays):
            block[:, j] = array[start : start + step]
