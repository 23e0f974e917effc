"""Data frames that hold text or categories, in numbers and back.

What is explained is a function of a table of numbers, whose entries are mixed and shuffled. A
column of anything else stands there by the positions of its values among those that occur, and
is written out again before the model is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from tamiz.validation import is_frame

#: What a missing value is called among the values of a category.
MISSING = "missing"


class CodedFrames:
    """Frames with the same columns, some of which hold no numbers.

    Parameters
    ----------
    frames : sequence of data frames
        All frames that are coded.

    Attributes
    ----------
    levels : dict of lists
        For each column that holds no numbers, by its position: its values in words, in the order of
        their codes. A missing value is one of them, the last.
    """

    def __init__(self, frames: Sequence[Any]):
        self._like = frames[0]
        tables = [nw.from_native(one, eager_only=True) for one in frames]
        self.levels: dict[int, list[str]] = {}
        self._values: dict[int, np.ndarray] = {}
        self._codes: dict[int, dict[Any, int]] = {}
        self._types: dict[int, Any] = {}
        for j, column in enumerate(tables[0].iter_columns()):
            if not _holds_numbers(column):
                cells = [cell for one in tables for cell in _cells(one[column.name])]
                self._note(j, cells)
                self._types[j] = column.dtype

    @property
    def names(self) -> list[str]:
        """The columns that hold no numbers."""
        names = list(self._like.columns)
        return [str(names[j]) for j in self.levels]

    def _note(self, j: int, cells: list[tuple[Any, Any]]) -> None:
        known = dict(reversed(cells))  # the first of those that are equal
        keys = sorted((key for key in known if key is not None), key=str)
        keys += [None] if None in known else []
        values = np.empty(len(keys), dtype=object)
        for k, key in enumerate(keys):
            values[k] = known[key]
        self._values[j] = values
        self._codes[j] = {key: k for k, key in enumerate(keys)}
        self.levels[j] = [MISSING if key is None else str(key) for key in keys]

    def encode(self, X: Any) -> np.ndarray:
        """Numbers as they are, NaN where one is missing, and codes."""
        columns = []
        for j, column in enumerate(nw.from_native(X, eager_only=True).iter_columns()):
            if j in self._codes:
                codes = self._codes[j]
                columns.append(np.array([codes[key] for key, _ in _cells(column)], float))
            else:
                columns.append(_numbers(column))
        return np.column_stack(columns)

    def decode(self, table: np.ndarray) -> Any:
        """A frame as they were given, of numbers and codes."""
        like = nw.from_native(self._like, eager_only=True)
        columns: dict[str, Any] = dict(zip(like.columns, table.T, strict=True))
        for j, values in self._values.items():
            columns[like.columns[j]] = values[table[:, j].astype(np.intp)].tolist()
        frame = nw.from_dict(columns, native_namespace=nw.get_native_namespace(like))
        kinds = {like.columns[j]: dtype for j, dtype in self._types.items()}
        casts = [
            nw.col(name).cast(dtype)
            for name, dtype in kinds.items()
            if dtype not in (nw.String, nw.Object, nw.Enum) and frame[name].dtype != dtype
        ]
        return (frame.with_columns(*casts) if casts else frame).to_native()


def coded_frames(X: Any, background: Any = None) -> CodedFrames | None:
    """How these frames are coded; None if they hold nothing but numbers, or are no frames."""
    if not is_frame(X):
        return None
    columns = list(nw.from_native(X, eager_only=True).iter_columns())
    if all(map(_holds_numbers, columns)):
        return None
    if background is None:
        return CodedFrames([X])
    if not is_frame(background) or list(background.columns) != list(X.columns):
        first = next(column.name for column in columns if not _holds_numbers(column))
        raise ValueError(
            f"X holds text or categories, as in {first!r}, so background must be a data frame with "
            "the same columns in the same order: background[X.columns]."
        )
    return CodedFrames([X, background])


def frame_of_numbers(X: Any) -> np.ndarray | None:
    """A frame as an array, NaN where a number is missing; None if a column holds no numbers."""
    columns = list(nw.from_native(X, eager_only=True).iter_columns())
    if not columns or not all(map(_holds_numbers, columns)):
        return None
    return np.column_stack([_numbers(column) for column in columns])


def _holds_numbers(column: Any) -> bool:
    return bool(column.dtype.is_numeric()) or column.dtype == nw.Boolean


def _numbers(column: Any) -> np.ndarray:
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _cells(column: Any) -> list[tuple[Any, Any]]:
    """What equal cells have in common, None of missing ones, and the cells themselves."""
    missing = column.is_null().to_list()
    return [
        (None if gone else cell, cell) for cell, gone in zip(column.to_list(), missing, strict=True)
    ]
