"""Samples in the plane of two features, and the regions in which a machine names each class."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from tamiz.reports.charts.drawing import TEXT, Drawing, mark, path
from tamiz.reports.charts.scales import Scale, cut, scale_of
from tamiz.reports.markup import Markup, short, tag
from tamiz.reports.page import Page, style

#: Cells of the grid on which a machine is asked: with a smooth boundary, and with one of steps.
SMOOTH, STEPS = (72, 52), (150, 110)


class Spots(NamedTuple):
    """Samples that are drawn."""

    x: np.ndarray
    y: np.ndarray
    code: np.ndarray  # of the class, which decides on colour and shape


#: Asked for the classes at some places, and for a score of each class or None.
Asked = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | None]]


def draw_plane(
    drawing: Drawing, page: Page, names: tuple[str, str], spots: Spots, ask: Asked
) -> None:
    """Samples by colour and shape, on the regions of the classes."""
    left, right = 58.0, drawing.width - 14
    top = 28.0
    bottom = top + min(400.0, 0.78 * (right - left))
    drawing.height = bottom + 46
    x, y = scale_of(spots.x, left, right), scale_of(spots.y, bottom, top)
    for k, fill, edge in regions(x, y, ask):
        drawing.add(tag("path", d=fill, class_=f"region {style(k).css}"))
        if edge:
            drawing.add(tag("path", d=edge, class_="boundary"))
    drawing.y_axis(y, left, right, cut(names[1], drawing.width - 20), page.lang.number)
    drawing.x_axis(x, bottom, cut(names[0], right - left, TEXT), page.lang.number)
    marks: dict[int, list[Markup]] = {}
    for a, b, k in zip(spots.x.tolist(), spots.y.tolist(), spots.code.tolist(), strict=True):
        marks.setdefault(k, []).append(mark(style(k).shape, x(a), y(b), None, 3.0))
    for k, those in sorted(marks.items(), key=lambda entry: -len(entry[1])):  # the rarest on top
        drawing.add(tag("g", those, class_=f"series spots {style(k).css}", data_s=k))


def regions(x: Scale, y: Scale, ask: Asked) -> list[tuple[int, str, str]]:
    """For every class that is named somewhere, its region and its boundary as paths.

    A score of two classes is interpolated between the nodes of a grid, so that the boundary is
    smooth. Scores of several classes may jump where votes change; there the classes that are named
    at the nodes of a finer grid are smoothed. A machine without scores has steps.
    """
    us, vs = (np.linspace(0, 1, n + 1) for n in SMOOTH)
    codes, scores = ask(_places(x, y, us, vs))
    if scores is not None and scores.shape[1] > 2:
        us, vs = (np.linspace(0, 1, n + 1) for n in STEPS)
        codes = ask(_places(x, y, us, vs))[0]
        shape = (len(vs), len(us))
        planes = [
            uniform_filter((codes == k).reshape(shape).astype(np.float64), 5, mode="nearest")
            for k in range(scores.shape[1])
        ]
        scores = np.column_stack([plane.ravel() for plane in planes])
    if scores is not None:
        best_two = np.sort(scores, axis=1)[:, -2:]
        found = []
        for k in range(scores.shape[1]):
            others = np.where(scores[:, k] == best_two[:, 1], best_two[:, 0], best_two[:, 1])
            above = (scores[:, k] - others).reshape(len(vs), len(us))
            if (above > 0).any():
                found.append((k, *_inside(above, _lines(x, us), _lines(y, vs))))
        return found
    n_x, n_y = STEPS
    us, vs = (np.arange(n_x) + 0.5) / n_x, (np.arange(n_y) + 0.5) / n_y
    named = ask(_places(x, y, us, vs))[0].reshape(n_y, n_x)
    across, up = _lines(x, np.linspace(0, 1, n_x + 1)), _lines(y, np.linspace(0, 1, n_y + 1))
    return [
        (int(k), "".join(_runs(named[r] == k, r, across, up) for r in range(n_y)), "")
        for k in np.unique(named)
        if k >= 0
    ]


def _places(x: Scale, y: Scale, us: np.ndarray, vs: np.ndarray) -> np.ndarray:
    """The values at the nodes of a grid, row by row."""
    a = np.array([x.at(float(u)) for u in us])
    b = np.array([y.at(float(v)) for v in vs])
    return np.column_stack([np.tile(a, len(b)), np.repeat(b, len(a))])


def _lines(scale: Scale, fractions: np.ndarray) -> list[float]:
    return [float(scale.start + u * (scale.end - scale.start)) for u in fractions]


def _runs(inside: np.ndarray, r: int, across: list[float], up: list[float]) -> str:
    """Cells of a row that lie side by side, as rectangles."""
    steps = np.diff(np.concatenate([[0], inside.astype(int), [0]]))
    text = ""
    for a, b in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True):
        low, high = short(up[r]), short(up[r + 1])
        text += f"M{short(across[a])} {low}H{short(across[b])}V{high}H{short(across[a])}Z"
    return text


def _inside(above: np.ndarray, across: list[float], up: list[float]) -> tuple[str, str]:
    """Where values on a grid are positive, and the line where they change their sign."""
    positive = above > 0
    corners = [positive[:-1, :-1], positive[:-1, 1:], positive[1:, 1:], positive[1:, :-1]]
    full = np.logical_and.reduce(corners)
    partly = np.logical_or.reduce(corners) & ~full
    fill = "".join(_runs(full[r], r, across, up) for r in range(len(full)))
    edge = ""
    for r, c in np.argwhere(partly).tolist():
        places = [(r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c)]
        polygon: list[tuple[float, float]] = []
        crossed: list[tuple[float, float]] = []
        for (r1, c1), (r2, c2) in zip(places, [*places[1:], places[0]], strict=True):
            f, g = float(above[r1, c1]), float(above[r2, c2])
            if f > 0:
                polygon.append((across[c1], up[r1]))
            if (f > 0) != (g > 0):
                part = f / (f - g)
                px = across[c1] + part * (across[c2] - across[c1])
                py = up[r1] + part * (up[r2] - up[r1])
                polygon.append((px, py))
                crossed.append((px, py))
        fill += path(polygon, close=True)
        edge += "".join(path(crossed[k : k + 2]) for k in range(0, len(crossed) - 1, 2))
    return fill, edge
