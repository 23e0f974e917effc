"""Categories as numbers: codes, or one indicator for each level."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tamiz.data.errors import DataError, listed

if TYPE_CHECKING:
    from tamiz.data.dataset import Dataset

ENCODINGS = ("ordinal", "onehot")
MISSING = "(missing)"


def check_encoding(encode: object) -> None:
    """Refuse what is neither a known encoding nor None."""
    if encode is not None and encode not in ENCODINGS:
        raise DataError(
            f"encode={encode!r} is not known; use 'ordinal' (codes), 'onehot' (indicators) or "
            "None (cells as they are)."
        )


def encode(data: Dataset, how: str) -> Dataset:
    """See :meth:`tamiz.data.Dataset.encode`."""
    check_encoding(how)
    if sparse.issparse(data.X):
        return data
    if data.X.dtype == object:
        raise DataError("These data hold text as it is; load them again with encode='onehot'.")
    if how == "ordinal" or not data.levels:
        return data
    blocks: list[np.ndarray] = []
    names: list[str] = []
    roles = dict(data.roles)
    groups: list[list[int]] = [[j for j in group] for group in data.feature_groups]
    moved: dict[int, int] = {}
    for j, name in enumerate(data.feature_names):
        column = data.X[:, j]
        if name not in data.levels:
            moved[j] = len(names)
            blocks.append(column[:, None])
            names.append(name)
            continue
        block, labels = indicators(column, data.levels[name])
        start = len(names)
        names += [f"{name}={label}" for label in labels]
        roles.update(dict.fromkeys(names[start:], data.roles.get(name, "categorical")))
        blocks.append(block)
        if len(labels) > 1:
            groups.append(list(range(start, len(names))))
    earlier = [[moved[j] for j in group] for group in groups[: len(data.feature_groups)]]
    X = np.hstack(blocks)
    coded = [name for name in data.feature_names if name in data.levels]
    n_made = len(names) - len(data.feature_names) + len(coded)
    note = (
        f"Categories as indicators: {listed(coded)} became {n_made} columns of 0 and 1, with names "
        f"such as {next(name for name in names if name.startswith(f'{coded[0]}='))!r}."
    )
    return replace(
        data,
        X=X,
        feature_names=names,
        categorical=np.zeros(len(names), dtype=bool),
        missing=np.isnan(X).sum(axis=0),
        levels={},
        feature_groups=earlier + groups[len(data.feature_groups) :],
        roles=roles,
        notes=[*data.notes, note],
    )


def columns_of(data: Dataset) -> list[np.ndarray]:
    """For each feature, the columns that it has after ``data.encode("onehot")``."""
    widths = [
        len(indicators(data.X[:, j], data.levels[name])[1]) if name in data.levels else 1
        for j, name in enumerate(data.feature_names)
    ]
    ends = np.cumsum(widths)
    return [np.arange(end - width, end) for end, width in zip(ends, widths, strict=True)]


def indicators(column: np.ndarray, levels: list[str]) -> tuple[np.ndarray, list[str]]:
    """One column of 0 and 1 for each level, and the names of these columns.

    Two levels make one column, that of the second: the first says nothing more. Missing cells are
    a level of their own.
    """
    labels = list(levels)
    codes = column.copy()
    gaps = np.isnan(codes)
    if gaps.any():
        codes[gaps] = len(labels)
        labels.append(MISSING)
    first = 1 if len(labels) == 2 else 0
    block = (codes[:, None] == np.arange(first, len(labels))).astype(np.float64)
    return block, labels[first:]
