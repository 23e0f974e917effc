"""The overview of a data set in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tamiz.data.column import plain_number

if TYPE_CHECKING:
    from tamiz.data.dataset import Dataset


def describe(data: Dataset, top: int) -> str:
    """See :meth:`tamiz.data.Dataset.describe`."""
    lines = [f"{data.name or 'Dataset'}: {data.n_samples} samples, {data.n_features} features"]
    if data.source:
        lines.append(f"from      {data.source}")
    lines.append(f"target    {_target(data)}")
    lines.append(f"features  {_features(data)}")
    lines.append("")
    lines += _table(data, top)
    if data.aside:
        lines.append("")
        lines.append("not used:")
        lines += [f"  {name}: {why}" for name, why in data.aside.items()]
    if data.notes:
        lines.append("")
        lines.append("notes:")
        lines += [f"  {note}" for note in data.notes]
    return "\n".join(lines)


def _target(data: Dataset) -> str:
    if data.y is None:
        return "none"
    name = data.target or "y"
    counts = data.class_counts
    if counts:
        shown = ", ".join(f"{label} {count}" for label, count in list(counts.items())[:8])
        more = f", and {len(counts) - 8} more" if len(counts) > 8 else ""
        return f"{name}: {data.task} with {len(counts)} classes ({shown}{more})"
    if len(data.y) == 0:
        return f"{name}: {data.task}"
    low, high = plain_number(np.min(data.y)), plain_number(np.max(data.y))
    return f"{name}: {data.task}, {low} to {high}"


def _features(data: Dataset) -> str:
    inside = [data.roles.get(name, "numeric") for name in data.feature_names]
    parts = [f"{inside.count(role)} {role}" for role in dict.fromkeys(inside)]
    n_missing = int(np.sum(data.missing))
    if n_missing:
        parts.append(f"{n_missing} missing cells in {np.count_nonzero(data.missing)} columns")
    if sparse.issparse(data.X):
        parts.append(f"sparse, {data.X.nnz} values stored")
    return "; ".join(parts)


def _table(data: Dataset, top: int) -> list[str]:
    """Name, role, missing cells and values of the first columns."""
    rows = [("column", "role", "missing", "values")]
    for j, name in enumerate(data.feature_names[:top]):
        role = data.roles.get(name, "numeric")
        rows.append((name[:32], role, str(data.missing[j] or ""), _values(data, j)))
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [
        "  "
        + "  ".join([*(cell.ljust(w) for cell, w in zip(row[:3], widths, strict=True)), row[3]])
        for row in rows
    ]
    if data.n_features > top:
        lines.append(f"  ... and {data.n_features - top} more")
    return [line.rstrip() for line in lines]


def _values(data: Dataset, j: int) -> str:
    name = data.feature_names[j]
    if name in data.levels:
        levels = data.levels[name]
        shown = ", ".join(levels[:5])
        return shown if len(levels) <= 5 else f"{shown}, ... ({len(levels)} levels)"
    column: Any = data.X[:, [j]].toarray().ravel() if sparse.issparse(data.X) else data.X[:, j]
    if column.dtype == object:
        first = next((str(cell) for cell in column if cell is not None), "")
        return first if len(first) <= 40 else first[:37] + "..."
    column = column[~np.isnan(column)] if column.dtype.kind == "f" else column
    if not len(column):
        return ""
    return f"{_short(column.min())} to {_short(column.max())}"


def _short(value: Any) -> str:
    value = float(value)
    return plain_number(value) if value.is_integer() else f"{value:.4g}"
