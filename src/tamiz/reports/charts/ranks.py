"""Mean ranks of methods on a line, those that do not differ joined; and curves of two rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tamiz.reports.charts.drawing import Drawing, path
from tamiz.reports.charts.scales import Linear, cut
from tamiz.reports.markup import tag, visible
from tamiz.reports.page import Page, style

_LINE = 22.0
_BAR = 9.0


def draw_ranks(drawing: Drawing, page: Page, found: Any) -> None:
    """The critical difference diagram; on a phone a list with brackets."""
    order = np.argsort(found.ranks, kind="stable")
    ranks = np.asarray(found.ranks, dtype=np.float64)[order]
    named = [found.names[j] for j in order]
    place = {name: k for k, name in enumerate(named)}
    bars = [(place[group[0]], place[group[-1]]) for group in found.groups]
    draw = _draw_list if drawing.narrow else _draw_line
    draw(drawing, page, found, ranks, named, bars)


def _draw_line(
    drawing: Drawing,
    page: Page,
    found: Any,
    ranks: np.ndarray,
    named: list[str],
    bars: list[tuple[int, int]],
) -> None:
    """Ranks on a line, names of the better half at the left, the others at the right."""
    k = len(ranks)
    critical = found.critical_difference
    low, high = math.floor(ranks.min()), math.ceil(ranks.max())
    if critical is not None:  # its bar must fit above the line
        high = max(high, math.ceil(low + critical - 1e-9))
    high = max(high, low + 1)
    side = 190.0
    x = Linear(float(low), float(high), side, drawing.width - side)
    axis = 62.0 if critical is not None else 28.0
    drawing.line(x.start, axis, x.end, axis, "axis")
    for tick in range(low, high + 1, max(1, math.ceil((high - low) / 10))):
        drawing.line(x(tick), axis - 6, x(tick), axis, "axis")
        drawing.text(x(tick), axis - 10, page.lang.integer(tick), "tick", "middle")
    if critical is not None:
        end = x(low + critical)
        drawing.line(x.start, 24, end, 24, "critical")
        for at in (x.start, end):
            drawing.line(at, 19, at, 29, "critical")
        words = page.lang("critical_difference", n=page.lang.fixed(critical, 2))
        drawing.text(x.start, 13, words, "note")
    lanes = _lanes(bars)
    for (start, stop), lane in zip(bars, lanes, strict=True):
        y = axis + 9 + lane * _BAR
        drawing.line(x(ranks[start]) - 4, y, x(ranks[stop]) + 4, y, "joined")
    depth = axis + 14 + (max(lanes, default=-1) + 1) * _BAR
    left = (k + 1) // 2
    drawing.height = depth + _LINE * max(left, k - left) + 8
    for place, name in enumerate(named):
        right = place >= left
        y = depth + _LINE * ((k - 1 - place if right else place) + 0.5)
        edge = x.end + 14 if right else x.start - 14
        at = x(ranks[place])
        css = page.style(name).css
        drawing.add(tag("path", d=path([(at, axis), (at, y), (edge, y)]), class_=f"leader {css}"))
        number = page.lang.fixed(ranks[place], 2)
        shown = cut(page.method(name), side - 64)
        text = f"{number}  {shown}" if right else f"{shown}  {number}"
        drawing.text(edge + (6 if right else -6), y + 4, text, "name", "start" if right else "end")
        _stop(drawing, page, (at + edge) / 2, y, found, name)


def _draw_list(
    drawing: Drawing,
    page: Page,
    found: Any,
    ranks: np.ndarray,
    named: list[str],
    bars: list[tuple[int, int]],
) -> None:
    """Names under each other, those that do not differ joined by brackets at the right."""
    lanes = _lanes(bars)
    room = drawing.width - 12 - 12 * (max(lanes, default=-1) + 1)
    top = 30.0
    drawing.height = top + _LINE * len(named) + 8
    drawing.text(room - 8, 16, page.lang("mean_rank"), "label", "end")
    for k, name in enumerate(named):
        y = top + _LINE * (k + 0.5)
        drawing.line(4, y + _LINE / 2, room, y + _LINE / 2, "grid")
        drawing.text(4, y + 4, cut(page.method(name), room - 80), "name")
        drawing.text(room - 8, y + 4, page.lang.fixed(ranks[k], 2), "tick", "end")
        _stop(drawing, page, room / 2, y, found, name)
    for (start, stop), lane in zip(bars, lanes, strict=True):
        x = room + 8 + 12 * lane
        drawing.line(x, top + _LINE * start + 4, x, top + _LINE * (stop + 1) - 4, "joined")


def _stop(drawing: Drawing, page: Page, x: float, y: float, found: Any, name: str) -> None:
    j = found.names.index(name)
    rows: list[tuple[str, str, str, float | None]] = [
        ("", page.lang("mean_rank"), page.lang.fixed(float(found.ranks[j]), 2), None),
        ("", page.lang("mean_error"), page.error(float(found.means[j])), None),
    ]
    drawing.stop(x, y, page.method(name), rows, (0.0, _LINE))


def _lanes(bars: list[tuple[int, int]]) -> list[int]:
    """For each bar, left to right, the first level where it touches no earlier one."""
    ends: list[int] = []
    chosen = []
    for start, stop in bars:
        lane = next((m for m, end in enumerate(ends) if end < start), len(ends))
        ends[lane : lane + 1] = [stop]
        chosen.append(lane)
    return chosen


class Rates(NamedTuple):
    """A curve of two rates between 0 and 1, as a threshold moves."""

    name: str
    x: np.ndarray  # rising
    y: np.ndarray
    level: float  # what chance would reach: a level, or NaN for the diagonal


def draw_rates(
    drawing: Drawing, page: Page, curves: Sequence[Rates], labels: tuple[str, str], heading: str
) -> None:
    """One curve for each positive class, chance as a broken line.

    ``heading`` is the key of the words for a place on the x axis.
    """
    left, top = 48.0, 30.0
    side = min(300.0, drawing.width - left - 24)
    bottom = top + side
    drawing.height = bottom + 46
    x, y = Linear(0.0, 1.0, left, left + side), Linear(0.0, 1.0, bottom, top)

    def show(value: float) -> str:
        return page.lang.in_percent(value, 0)

    drawing.y_axis(y, left, left + side, labels[1], show)
    drawing.x_axis(x, bottom, labels[0], show)
    for k, curve in enumerate(curves):
        css = style(k).css
        if np.isnan(curve.level):
            drawing.line(x(0), y(0), x(1), y(1), "chance")
        else:
            drawing.line(x(0), y(curve.level), x(1), y(curve.level), f"level {css}")
        points = [(x(a), y(b)) for a, b in zip(*_thinned(curve.x, curve.y), strict=True)]
        line = tag("path", d=path(points), class_="line")
        drawing.add(tag("g", line, class_=f"series {css}", data_s=k))
    for value in np.linspace(0, 1, 21):
        rows: list[tuple[str, str, str, float | None]] = []
        for k, curve in enumerate(curves):
            if np.isnan(curve.level):  # the most that is reached so far
                reached = curve.y[curve.x <= value + 1e-12]
            else:  # the best that is left from here on
                reached = curve.y[curve.x >= value - 1e-12]
            height = float(reached.max()) if len(reached) else 0.0
            rows.append((style(k).css, visible(curve.name), show(height), y(height)))
        words = page.lang(heading, fraction=show(float(value)))
        drawing.stop(x(float(value)), (top + bottom) / 2, words, rows)


def _thinned(a: np.ndarray, b: np.ndarray, most: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """No more points than a screen can show."""
    if len(a) <= most:
        return a, b
    kept = np.unique(np.linspace(0, len(a) - 1, most).astype(int))
    return a[kept], b[kept]
