"""NumPy archives: ``X``, ``y`` and ``feature_names``, and whatever else lies beside them."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, Table, distinct_names
from tamiz.data.errors import DataError, listed
from tamiz.data.plan import Options, Plan, make_plan

FEATURES = ("X", "x", "data")
TARGETS = ("y", "Y", "target", "labels")
NAMES = ("feature_names", "columns", "names")


def read_npz(path: Path, shown: str, options: Options) -> tuple[Table, Plan]:
    """Read an archive without running code from it (``allow_pickle=False``)."""
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            return _from_arrays({"X": archive}, shown, options)
        arrays = {}
        with archive:
            for key in archive.files:
                try:
                    arrays[key] = archive[key]
                except ValueError:
                    raise DataError(
                        f"{shown}: the array {key!r} holds Python objects, which are not loaded "
                        "because they can run code; save it as numbers or text (dtype str)."
                    ) from None
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        raise DataError(
            f"{shown} is no NumPy archive, or it is cut short ({_first_words(error)}); save it "
            "again with numpy.savez."
        ) from None
    return _from_arrays(arrays, shown, options)


def _first_words(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")[:80] or type(error).__name__


def _from_arrays(arrays: dict[str, Any], shown: str, options: Options) -> tuple[Table, Plan]:
    key = next((key for key in FEATURES if key in arrays), None)
    if key is None:
        two = [key for key, array in arrays.items() if array.ndim == 2]
        if len(two) != 1:
            raise DataError(
                f"{shown} holds {listed(arrays)} but no array 'X'; save the features as 'X' and "
                "the target as 'y' with numpy.savez."
            )
        key = two[0]
    X = arrays.pop(key)
    if X.ndim != 2:
        raise DataError(
            f"{shown}: {key!r} has shape {X.shape}; it needs one row for each sample and one "
            "column for each feature."
        )
    names_key = next((k for k in NAMES if k in arrays and len(arrays[k]) == X.shape[1]), None)
    names = [f"x{j}" for j in range(X.shape[1])]
    if names_key is not None:
        names = [str(name) for name in arrays.pop(names_key)]
    names, renamed = distinct_names(names)
    warnings = [f"Names used twice were changed: {listed(renamed)}."] if renamed else []
    y_key = next((k for k in TARGETS if k in arrays and arrays[k].ndim == 1), None)
    columns: list[Column] = []
    hint = None
    if y_key is not None:
        y = arrays.pop(y_key)
        if len(y) != len(X):
            raise DataError(
                f"{shown}: {y_key!r} has {len(y)} entries but {key!r} has {len(X)} rows; they must "
                "be equal."
            )
        hint = "target" if "target" not in names else y_key + "_"
        columns.append(array_column(hint, y, shown))
    keep = slice(options.nrows)
    columns = [column.take(np.arange(len(X))[keep]) for column in columns]
    extras = {
        k: array[keep] if array.ndim and len(array) == len(X) else array
        for k, array in arrays.items()
    }
    return from_array(X[keep], names, columns, shown, options, hint, extras, warnings)


def from_array(
    X: np.ndarray,
    names: list[str],
    columns: list[Column],
    shown: str,
    options: Options,
    hint: str | None = None,
    extras: dict[str, np.ndarray] | None = None,
    warnings: list[str] | None = None,
) -> tuple[Table, Plan]:
    """A table from a matrix of numbers (or text) and further columns."""
    if not len(X):
        raise DataError(f"{shown} holds no rows; a data set needs at least one.")
    matrix = None
    all_names = [*names, *(column.name for column in columns)]
    if X.dtype.kind in "biuf":
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        matrix_names = names
    else:
        columns = [array_column(name, X[:, j], shown) for j, name in enumerate(names)] + columns
        matrix_names = []
    plan = make_plan(all_names, options, shown, hint)
    if plan.target in matrix_names:  # a column of the matrix is the target
        j = matrix_names.index(plan.target)
        assert matrix is not None
        columns.append(Column(plan.target, matrix[:, j].copy()))
        matrix = np.delete(matrix, j, axis=1)
        matrix_names = [name for name in matrix_names if name != plan.target]
    table = Table(columns, shown, [], warnings or [], matrix, matrix_names, hint, extras or {})
    return table, plan


def array_column(name: str, array: np.ndarray, shown: str) -> Column:
    """A column from a one-dimensional array of numbers, text or Python objects."""
    if array.dtype.kind in "biuf":
        return Column(name, array.astype(np.float64))
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind in "Mm":
        cells = [None if np.isnat(cell) else str(cell) for cell in array]
        return Column.from_cells(name, cells, date=True)
    if array.dtype.kind == "U":
        return Column.from_cells(name, [cell or None for cell in array.tolist()])
    if array.dtype.kind == "O":
        return object_column(name, array.tolist())
    raise DataError(
        f"{shown}: {name!r} is of type {array.dtype}, which is neither numbers nor text."
    )


def object_column(name: str, cells: list[Any]) -> Column:
    """A column from Python values: numbers if all are, else text."""
    from numbers import Real

    cells = [None if cell is None or cell != cell else cell for cell in cells]
    if all(cell is None or isinstance(cell, Real) for cell in cells):
        return Column(name, np.array([np.nan if c is None else float(c) for c in cells]))
    return Column.from_cells(name, [None if cell is None else str(cell) for cell in cells])
