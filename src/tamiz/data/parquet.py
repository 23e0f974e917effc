"""Parquet files, through pyarrow or polars, whichever is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tamiz.data.column import Table
from tamiz.data.errors import DataError, damaged
from tamiz.data.frames import read_frame
from tamiz.data.plan import Options, Plan, make_plan


def read_parquet(path: Path, shown: str, options: Options) -> tuple[Table, Plan]:
    """Read the wanted columns and rows of a Parquet file, and no others."""
    if find_spec("pyarrow") is not None:
        names, read = _with_pyarrow(path)
    elif find_spec("polars") is not None:
        names, read = _with_polars(path)
    else:
        raise ImportError(
            f"{shown} is a Parquet file, which needs pyarrow or polars; install one with: "
            "pip install 'tamiz[frames]'"
        )
    try:
        every = names()
        plan = make_plan(every, options, shown)
        wanted = set(plan.names)
        frame = read([name for name in every if name in wanted], options.nrows)
        table, plan_read = read_frame(
            frame,
            Options(
                target=plan.target if plan.target is not None else False, beside=options.beside
            ),
            shown,
        )
    except (DataError, PermissionError, MemoryError):
        raise
    except BaseException as error:  # each library has its own kinds
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # polars' panics are no exceptions in some versions
        raise DataError(damaged(shown, error, "no Parquet file, or it is ")) from None
    plan_read.notes, plan_read.guessed, plan_read.part = plan.notes, plan.guessed, plan.part
    table.names = every
    return table, plan_read


def _with_pyarrow(path: Path) -> tuple[Any, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def names() -> list[str]:
        return list(pq.ParquetFile(path).schema_arrow.names)

    def read(columns: list[str], nrows: int | None) -> Any:
        frame = unchecked(columns, nrows)
        frame.validate(full=True)  # text and codes of a damaged file are not checked on reading
        return frame

    def unchecked(columns: list[str], nrows: int | None) -> Any:
        file = pq.ParquetFile(path)
        if nrows is None:
            return file.read(columns=columns)
        batches, left = [], nrows
        for batch in file.iter_batches(batch_size=min(nrows, 65536), columns=columns):
            batches.append(batch[:left])
            left -= len(batches[-1])
            if left <= 0:
                break
        return (
            pa.Table.from_batches(batches, schema=batches[0].schema)
            if batches
            else file.read(columns=columns)
        )

    return names, read


def _with_polars(path: Path) -> tuple[Any, Any]:
    import polars as pl

    def names() -> list[str]:
        return list(pl.read_parquet_schema(path))

    def read(columns: list[str], nrows: int | None) -> Any:
        return pl.read_parquet(path, columns=columns, n_rows=nrows)

    return names, read
