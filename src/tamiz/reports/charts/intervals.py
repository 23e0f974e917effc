"""Points with intervals, one row for each method: errors, their bias, and stability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamiz.reports.charts.drawing import TEXT, Drawing, mark
from tamiz.reports.charts.scales import Linear, cut, text_width
from tamiz.reports.page import Style


class Row(NamedTuple):
    """A line of a chart of intervals."""

    name: str
    style: Style
    value: float
    low: float
    high: float
    other: float  # a second point on the line, NaN for none
    text: str  # written at the end of the line
    heading: str  # of the read-out
    lines: Sequence[tuple[str, str, str, float | None]]
    mine: bool = False  # drawn stronger


def draw_rows(
    drawing: Drawing,
    rows: Sequence[Row],
    label: str,
    show: Callable[[float], str],
    ends: tuple[float, float],
    marked: Sequence[tuple[float, str]] = (),
) -> None:
    """Names at the left, points and intervals in the middle, a text at the right."""
    height = 46.0 if drawing.narrow else 30.0
    names = max(text_width(row.name, TEXT) for row in rows)
    tail = max((text_width(row.text, TEXT) for row in rows), default=0.0)
    if drawing.narrow:
        room = 0.0
        left, right, tail_at = 12.0, drawing.width - 12, drawing.width - 4
    else:
        room = min(names, 190.0)
        left = 14 + room
        right = drawing.width - 24 - tail
        tail_at = drawing.width - 4
    top = 22.0 if marked else 8.0
    bottom = top + height * len(rows)
    drawing.height = bottom + 46
    x = Linear(*ends, left, right)
    for value in x.ticks(max(2, int((right - left) / 70))):
        drawing.line(x(value), top, x(value), bottom, "grid")
    for value, words in marked:
        drawing.line(x(value), top, x(value), bottom, "chosen")
        half = text_width(words, TEXT) / 2
        at = min(max(x(value), half + 2), drawing.width - half - 2)
        drawing.text(at, top - 7, words, "note", "middle")
    drawing.x_axis(x, bottom, label, show)
    for k, row in enumerate(rows):
        y = top + height * (k + 0.5) + (10 if drawing.narrow else 0)
        css = "name strong" if row.mine else "name"
        if drawing.narrow:
            beside = drawing.width - 24 - text_width(row.text, TEXT)
            drawing.text(4, y - 14, cut(row.name, beside), css)
            drawing.text(tail_at, y - 14, row.text, "tick", "end")
        else:
            drawing.text(left - 12, y + 4, cut(row.name, room), css, "end")
            drawing.text(tail_at, y + 4, row.text, "tick", "end")
        _row(drawing, row, x, y)
        at = x(row.value) if np.isfinite(row.value) else (left + right) / 2
        drawing.stop(at, top + height * (k + 0.5), row.heading, row.lines, (0.0, height))


def _row(drawing: Drawing, row: Row, x: Linear, y: float) -> None:
    group: Any = row.style.css
    if np.isfinite(row.low) and np.isfinite(row.high):
        drawing.line(x(row.low), y, x(row.high), y, f"whisker {group}")
    if np.isfinite(row.other) and np.isfinite(row.value):
        drawing.line(x(row.other), y, x(row.value), y, f"gap {group}")
    if np.isfinite(row.other):
        drawing.add(mark(row.style.shape, x(row.other), y, f"hollow {group}", 5.0))
    if np.isfinite(row.value):
        drawing.add(mark(row.style.shape, x(row.value), y, f"mark {group}", 5.0))
