"""Parquet files in batches, through pyarrow, or polars where that alone is installed.

pyarrow decodes a batch of rows of every column, and reads the file through small buffers: a row
group of a gigabyte needs no gigabyte of memory. Numbers go straight into the rows of ``X``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, Table, distinct_names
from tamiz.data.errors import DataError, damaged
from tamiz.data.plan import Options, Plan, make_plan
from tamiz.runtime.parallel import n_threads
from tamiz.scale.parts import CHANGED, Part, rows_per_batch

BUFFER = 1 << 16  # bytes of each column that are read at a time
CACHED = 1 << 18  # numbers that are decoded and copied together: what a cache holds


def parquet_part(path: Path, shown: str, options: Options) -> ParquetPart:
    """A part that is read by what is installed."""
    if find_spec("pyarrow") is not None:
        return ArrowPart(path, shown, options)
    if find_spec("polars") is not None:
        return PolarsPart(path, shown, options)
    raise ImportError(
        f"{shown} is a Parquet file, which needs pyarrow or polars; install one with: "
        "pip install 'tamiz[frames]'"
    )


class ParquetPart(Part):
    """A Parquet file."""

    def __init__(self, path: Path, shown: str, options: Options):
        self.path, self.shown, self.options = path, shown, options
        try:
            self._look()
        except Exception as error:
            raise self._fault(error) from None
        if len(set(self.names)) < len(self.names):
            twice = distinct_names(self.names)[1]
            raise DataError(
                f"{shown} has more than one column called {twice[0]!r}; give each its own name."
            )

    @abstractmethod
    def _look(self) -> None:
        """Find names, number of rows and kinds of columns, without reading values."""

    @abstractmethod
    def _read(self, columns: list[str], rows: int) -> Iterator[Table]:
        """Some columns, so many rows at a time."""

    def plan(self) -> Plan:
        return make_plan(self.names, self.options, self.shown)

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[Table]:
        wanted = set(self.plan().names if columns is None else columns)
        kept = [name for name in self.names if name in wanted]
        try:
            yield from self._read(kept, rows_per_batch(len(kept)) if rows is None else rows)
        except BaseException as error:
            panic = type(error).__name__ == "PanicException"  # of polars; no Exception
            if isinstance(error, (DataError, MemoryError)) or not (
                isinstance(error, Exception) or panic
            ):
                raise
            raise self._fault(error) from None

    def _fault(self, error: BaseException) -> Exception:
        if isinstance(error, (DataError, PermissionError, MemoryError, FileNotFoundError)):
            return error  # type: ignore[return-value]
        return DataError(damaged(self.shown, error, "no Parquet file, or it is "))

    def _refuse(self, name: str, kind: Any) -> DataError:
        return DataError(
            f"{self.shown}: column {name!r} is of type {kind}, which is neither numbers nor text; "
            "leave it out with drop=."
        )


class ArrowPart(ParquetPart):
    """A Parquet file read by pyarrow.

    Attributes
    ----------
    row_groups : list of int or None
        The groups of rows that belong to this part; None for all.
    """

    row_groups: list[int] | None = None

    def _look(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            schema = file.schema_arrow
            self.n_rows = file.metadata.num_rows
        self.names = list(schema.names)
        self._kinds = [str(field.type) for field in schema]
        self._plain_text = {f.name for f in schema if pa.types.is_string(f.type)}
        self._text = {f.name for f in schema if _is_text(f.type) or pa.types.is_dictionary(f.type)}
        self._declared = {f.name for f in schema if pa.types.is_dictionary(f.type)}
        self._dates = {f.name for f in schema if pa.types.is_temporal(f.type)}

    def _read(self, columns: list[str], rows: int) -> Iterator[Table]:
        import pyarrow.parquet as pq

        # Text with few levels is read as codes right away.
        as_codes = [name for name in columns if name in self._plain_text]
        step = int(np.clip(CACHED // max(1, len(columns)), 8192, 1 << 16))
        with pq.ParquetFile(
            self.path, read_dictionary=as_codes, buffer_size=BUFFER, pre_buffer=False
        ) as file:
            several = n_threads() > 1
            left = self._same_as_before(file)
            filling = _Filling(self, columns, min(rows, left))
            for batch in file.iter_batches(
                min(step, rows), self.row_groups, columns, use_threads=several
            ):
                while len(batch):
                    piece = batch[: filling.n - filling.at]
                    filling.add(piece)
                    batch = batch[len(piece) :]
                    if filling.at == filling.n:
                        left -= filling.n
                        table = filling.table()
                        filling = _Filling(self, columns, min(rows, left))
                        yield table
                        del table
                    del piece

    def _same_as_before(self, file: Any) -> int:
        """Number of rows to come, if the file is the one that was opened."""
        schema = file.schema.to_arrow_schema()  # that of the file, whatever is read as codes
        if list(schema.names) != self.names or [str(f.type) for f in schema] != self._kinds:
            raise DataError(f"{self.shown} has other columns than before: {CHANGED}")
        told, groups = file.metadata, self.row_groups
        if groups is None or max(groups) < told.num_row_groups:
            n = told.num_rows if groups is None else sum(told.row_group(k).num_rows for k in groups)
            if n == self.n_rows:
                return n
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
        return array.to_numpy(zero_copy_only=False)  # gaps become NaN

    def _levels(self, name: str, arrays: list[Any]) -> Column:
        import pyarrow as pa

        place: dict[str, int] = {}
        parts = []
        for array in arrays:
            array.validate(full=True)  # of a damaged file these are not checked on reading
            if not pa.types.is_dictionary(array.type):
                text = array if _is_text(array.type) else array.cast(pa.string())
                array = text.dictionary_encode()
            codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
            levels = array.dictionary.to_pylist()
            own = np.full(len(levels) + 1, -1, dtype=np.int32)
            for k, level in enumerate(levels):
                if level is None or (name not in self._declared and not level.strip()):
                    continue
                own[k] = place.setdefault(str(level), len(place))
            parts.append(own[codes])  # -1 is the last
        return Column(
            name,
            None,
            np.concatenate(parts),
            list(place),
            declared=name in self._declared,
            date=name in self._dates,
        )


class _Filling:
    """A table that is filled by small pieces, each of which is in the cache when it is copied."""

    def __init__(self, part: ArrowPart, columns: list[str], n: int):
        self.part, self.columns, self.n = part, columns, n
        self.target = part.plan().target
        self.special = part._text | part._dates
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
        columns = dict(zip(self.columns, piece.columns, strict=True))  # faster than one by one
        arrays = [self.part._numbers(name, columns[name]) for name in self.numeric]
        _fill(self.X[rows], arrays)
        for name, held in self.rest.items():
            array = columns[name]
            held.append(array if name in self.special else self.part._numbers(name, array))
        self.at += len(piece)

    def table(self) -> Table:
        """What was taken in."""
        columns = [
            self.part._levels(name, held)
            if name in self.special
            else Column(name, np.concatenate(held).astype(np.float64))
            for name, held in self.rest.items()
        ]
        return Table(
            columns,
            self.part.shown,
            matrix=self.X,
            matrix_names=self.numeric,
            names=self.part.names,
        )


class PolarsPart(ParquetPart):
    """A Parquet file read by polars."""

    def _look(self) -> None:
        import polars as pl

        scan = pl.scan_parquet(self.path)
        self.names = list(pl.read_parquet_schema(self.path))
        self.n_rows = int(scan.select(pl.len()).collect().item())

    def _read(self, columns: list[str], rows: int) -> Iterator[Table]:
        import narwhals.stable.v1 as nw
        import polars as pl

        from tamiz.data.frames import frame_column

        before = self.names, self.n_rows
        self._look()
        if (self.names, self.n_rows) != before:
            raise DataError(f"{self.shown} has other rows or columns than before: {CHANGED}")
        target = self.plan().target
        assert self.n_rows is not None
        for start in range(0, self.n_rows, rows):
            frame = pl.scan_parquet(self.path).select(columns).slice(start, rows).collect()
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
            yield Table(rest, self.shown, matrix=X, matrix_names=numeric, names=self.names)


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
