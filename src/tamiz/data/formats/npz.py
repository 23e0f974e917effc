"""NumPy archives: ``X``, ``y`` and ``feature_names``, and whatever else lies beside them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, RawTable, distinct_names, numbered
from tamiz.data.errors import DataError, listed
from tamiz.data.formats.base import HeldTable
from tamiz.data.formats.frames import array_column, from_array, texts_of
from tamiz.data.plan import ColumnPlan, Options

FEATURES = ("X", "x", "data")
TARGETS = ("y", "Y", "target", "labels")
NAMES = ("feature_names", "columns", "names")


def open_npz(path: Path, shown: str, options: Options) -> HeldTable:
    """Read an archive without running code from it (``allow_pickle=False``)."""
    try:
        with open(path, "rb") as file:
            arrays = _read_arrays(file, shown, options.nrows)
    except (DataError, FileNotFoundError, PermissionError, MemoryError):
        raise
    except Exception as error:  # zipfile, zlib, tokenize and NumPy have kinds of their own
        words = " ".join(str(error).split()).rstrip(".")[:80] or type(error).__name__
        raise DataError(
            f"{shown} is no NumPy archive, or it is cut short ({words}); save it again with "
            "numpy.savez."
        ) from None
    return HeldTable(*_from_arrays(arrays, shown, options))


def _read_arrays(file: Any, shown: str, nrows: int | None) -> dict[str, np.ndarray]:
    first = file.read(6)
    if first != np.lib.format.MAGIC_PREFIX and first[:2] != b"PK":  # neither an array nor a zip
        raise DataError(f"{shown} is no NumPy archive; save it with numpy.savez.")
    if nrows is not None and first == np.lib.format.MAGIC_PREFIX:
        file.seek(0)
        head = _read_head(file)
        if head is not None and head[0] and not head[1] and not head[2].hasobject:
            return {"X": _beginning(file, (min(nrows, head[0][0]), *head[0][1:]), head[2])}
    file.seek(0)
    archive = np.load(file, allow_pickle=False)
    if isinstance(archive, np.ndarray):
        return {"X": archive}
    with archive:
        return _read_members(archive, shown, nrows)


def _read_members(archive: Any, shown: str, nrows: int | None) -> dict[str, np.ndarray]:
    """All arrays; of those with one entry for each row only so many entries."""
    found: dict[str, np.ndarray] = {}
    heads = {key: _head(archive, key) for key in archive.files}
    known = {key: head for key, head in heads.items() if head is not None}
    big = next((key for key in FEATURES if key in known), None)
    if big is None:
        big = next((key for key, head in known.items() if len(head[0]) == 2), None)
    table = None if big is None or known[big][1] else known[big][0]
    for key in archive.files:
        head = known.get(key)
        if head is not None and table is not None and nrows is not None and not head[2].hasobject:
            shape, by_column, dtype = head
            is_names = key in NAMES and shape == table[1:]
            if shape[:1] == table[:1] and shape[0] > nrows and not is_names and not by_column:
                with archive.zip.open(f"{key}.npy") as stream:
                    _read_head(stream)
                    found[key] = _beginning(stream, (nrows, *shape[1:]), dtype)
                continue
        if head is not None and head[2].hasobject:
            raise DataError(
                f"{shown}: the array {key!r} holds Python objects, which are not loaded because "
                "they can run code; save it as numbers or text (dtype str)."
            )
        found[key] = archive[key]
        if not isinstance(found[key], np.ndarray):
            raise DataError(f"{shown}: {key!r} is no NumPy array; save it with numpy.savez.")
    return found


def _head(archive: Any, key: str) -> tuple[tuple[int, ...], bool, np.dtype] | None:
    """Shape, order and type of a member; None if they are not said in the usual way."""
    if f"{key}.npy" not in archive.zip.namelist():
        return None
    with archive.zip.open(f"{key}.npy") as stream:
        if stream.read(6) != np.lib.format.MAGIC_PREFIX:
            return None
        stream.seek(0)
        return _read_head(stream)


def _read_head(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype] | None:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        head = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        head = np.lib.format.read_array_header_2_0(stream)
    else:
        return None
    return head


def _beginning(stream: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The first rows of an array whose head was read; what follows stays packed."""
    count = math.prod(shape)
    raw = stream.read(count * dtype.itemsize)
    return np.frombuffer(raw, dtype, count).reshape(shape).copy()


def _from_arrays(
    arrays: dict[str, Any], shown: str, options: Options
) -> tuple[RawTable, ColumnPlan]:
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
    names_key = next((k for k in NAMES if k in arrays and arrays[k].shape == X.shape[1:]), None)
    names = [f"x{j}" for j in range(X.shape[1])]
    if names_key is not None:
        names = _names(arrays.pop(names_key), names_key, shown)
    names, renamed = distinct_names(names)
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
    return from_array(
        X[keep], names, columns, shown, options, hint, extras, numbered(shown, renamed)
    )


def _names(array: np.ndarray, key: str, shown: str) -> list[str]:
    if array.dtype.kind in "US":
        return texts_of(array, key, shown)
    return [str(name) for name in array]
