"""Values of features in each class: small panels for one feature, the plane for two.

The plane shows samples, and the regions in which a machine predicts each class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from tamiz.reports.charts.drawing import TEXT, Drawing, mark, path
from tamiz.reports.charts.scales import Linear, Scale, cut, scale_of, text_width
from tamiz.reports.markup import Markup, short, tag
from tamiz.reports.page import Page, style

WIDTH = 236.0
BINS = 96
MOST_LEVELS = 6
MOST_CLASSES = 8
MOST_POINTS = 400


class Groups(NamedTuple):
    """Rows of the table by class."""

    names: list[str]
    code: np.ndarray  # of each row; -1 for classes that are not drawn


def groups_of(page: Page) -> Groups:
    """The classes, the largest eight if there are more; one group if there are none."""
    data = page.data
    if data.y is None or data.target_names is None or data.task == "regression":
        return Groups([""], np.zeros(data.n_samples, dtype=int))
    code = np.unique(data.y, return_inverse=True)[1].ravel()
    counts = np.bincount(code)
    if page.sampled:  # the largest are those of all rows
        counts = np.array([page.whole.class_counts[name] for name in data.target_names])
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    place = np.full(len(counts), -1)
    place[kept] = np.arange(len(kept))
    return Groups([str(data.target_names[c]) for c in kept], place[code])


def density(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """A kernel density estimate from counts in bins; the width follows Silverman's rule.

    The width has a lower limit, so that many equal values do not become a mere line.
    """
    counts, _ = np.histogram(values, bins=BINS, range=(low, high))
    n = len(values)
    inside = values[(values >= low) & (values <= high)]  # outliers must not widen the kernel
    spread = float(np.std(inside)) if len(inside) else 0.0
    quarter = float(np.subtract(*np.percentile(values, [75, 25]))) / 1.34
    narrow = min(spread, quarter) if quarter > 0 else spread
    width = 0.9 * max(narrow, 0.3 * spread) * n**-0.2
    bins = max(1.5, min(BINS / 8, width / (high - low) * BINS))
    reach = np.arange(-BINS, BINS + 1)
    bell = np.exp(-0.5 * (reach / bins) ** 2)
    smooth = np.convolve(counts / n, bell / bell.sum(), mode="full")
    return smooth[BINS : 2 * BINS]


def draw_numbers(
    drawing: Drawing, page: Page, column: np.ndarray, groups: Groups, row: float = 40.0
) -> Scale:
    """A ridge for each class, its median marked; each has its own height."""
    there = np.isfinite(column)
    left, right = 6.0, drawing.width - 6
    top = 4.0
    bottom = top + row * len(groups.names)
    drawing.height = bottom + 22
    x = scale_of(column[there], left, right)
    centres = left + (np.arange(BINS) + 0.5) / BINS * (right - left)
    for k, name in enumerate(groups.names):
        part = column[there & (groups.code == k)]
        places = np.array([x.fraction(value) for value in part.tolist()])
        shape = density(places, 0.0, 1.0) if len(part) else np.zeros(BINS)
        base = top + row * (k + 1)
        css = style(k).css
        drawing.line(left, base, right, base, "grid")
        if len(part):
            tall = float(shape.max()) or 1.0
            heights = base - (row - 15) * shape / tall
            points = list(zip(centres.tolist(), heights.tolist(), strict=True))
            shut = [(points[0][0], base), *points, (points[-1][0], base)]
            drawing.add(tag("path", d=path(shut, close=True), class_=f"area {css}"))
            drawing.add(tag("path", d=path(points), class_=f"edge {css}"))
            middle = float(np.median(part))
            drawing.line(x(middle), base - row + 16, x(middle), base, f"median {css}")
        drawing.text(left, base - row + 12, cut(name, drawing.width - 12, 11), "small")
        drawing.stop(
            drawing.width / 2,
            base - row / 2,
            name or page.lang("all_rows"),
            _quartiles(page, part),
            (0.0, row),
        )
    number_axis(drawing, page, x, bottom)
    return x


def _quartiles(page: Page, part: np.ndarray) -> list[tuple[str, str, str, float | None]]:
    if not len(part):
        return [("", "", page.lang("no_values"), None)]
    a, b, c = np.percentile(part, [25, 50, 75])
    show = page.lang.number
    rows = [
        ("", page.lang("median"), show(float(b)), None),
        ("", page.lang("middle_half"), f"{show(float(a))} – {show(float(c))}", None),
        (
            "",
            page.lang("rows_sample" if page.sampled else "rows"),
            page.lang.integer(len(part)),
            None,
        ),
    ]
    return rows  # type: ignore[return-value]


def number_axis(drawing: Drawing, page: Page, x: Scale, bottom: float) -> None:
    """A small axis at the bottom of a panel."""
    drawing.line(x.start, bottom, x.end, bottom, "axis")
    reach = float("-inf")
    for value in x.ticks(4):
        text = page.lang.number(value, 3)
        half = text_width(text, 11) / 2
        at = x(value)
        if at - half < x.start - 4 or at + half > x.end + 4 or at - half < reach + 4:
            continue
        drawing.line(at, bottom, at, bottom + 4, "axis")
        drawing.text(at, bottom + 16, text, "small", "middle")
        reach = at + half


def draw_levels(
    drawing: Drawing,
    page: Page,
    column: np.ndarray,
    levels: list[str],
    groups: Groups,
    by_count: bool = True,
) -> None:
    """Bars for each level: its fraction in each class; the commonest first, or as they come."""
    there = np.isfinite(column)
    codes = column[there].astype(int)
    counts = np.bincount(codes, minlength=len(levels))
    order = np.argsort(-counts, kind="stable") if by_count else np.arange(len(counts))
    kept = [int(c) for c in order if counts[c]]
    shown = kept if len(kept) <= MOST_LEVELS else kept[: MOST_LEVELS - 1]
    rest = [c for c in kept if c not in shown]
    entries = [(levels[c], [c]) for c in shown]
    if rest:
        entries.append((page.lang("other_levels", n=page.lang.integer(len(rest))), rest))
    n_groups = len(groups.names)
    bar = 9.0 if n_groups < 5 else 6.0
    row = 17 + (bar + 1) * n_groups + 4
    drawing.height = max(30.0, row * len(entries) + 6)
    if not entries:
        drawing.text(6, 20, page.lang("no_values"), "small")
        return
    room = drawing.width - 54
    code = groups.code[there]
    for k, (name, members) in enumerate(entries):
        top = row * k + 2
        drawing.text(6, top + 12, cut(str(name), drawing.width - 12, 11), "small")
        within = np.isin(codes, members)
        rows: list[tuple[str, str, str, float | None]] = []
        for g in range(n_groups):
            total = int((code == g).sum())
            fraction = float((within & (code == g)).sum() / total) if total else 0.0
            y = top + 17 + (bar + 1) * g
            css = style(g).css
            drawing.add(
                tag(
                    "rect",
                    x=6.0,
                    y=y,
                    width=max(0.8, fraction * room),
                    height=bar,
                    class_=f"bar {css}",
                )
            )
            drawing.text(
                10 + fraction * room, y + bar - 0.5, page.lang.in_percent(fraction, 0), "tiny"
            )
            rows.append((css, groups.names[g], page.lang.in_percent(fraction, 1), None))
        drawing.stop(drawing.width / 2, top + row / 2, str(name), rows, (0.0, row))


def draw_points(
    drawing: Drawing,
    page: Page,
    column: np.ndarray,
    target: np.ndarray,
    predicted: Callable[[np.ndarray], np.ndarray] | None = None,
) -> None:
    """A regression: the target over the feature, a sample of the rows where there are many.

    ``predicted`` gives what a machine says at some values, which is drawn as a line.
    """
    there = np.flatnonzero(np.isfinite(column) & np.isfinite(target))
    if len(there) > MOST_POINTS:
        there = np.random.default_rng(0).choice(there, MOST_POINTS, replace=False)
    left, right, top, bottom = 40.0, drawing.width - 8, 8.0, 150.0 if drawing.width < 600 else 300.0
    drawing.height = bottom + 22
    x, y = scale_of(column[there], left, right), scale_of(target[there], bottom, top)
    for value in y.ticks(4):
        drawing.line(left, y(value), right, y(value), "grid")
        drawing.text(left - 4, y(value) + 4, page.lang.number(value, 3), "tiny", "end")
    for k in there.tolist():
        drawing.add(tag("circle", cx=x(column[k]), cy=y(target[k]), r=2.2, class_="point c1"))
    if predicted is not None:
        values = [x.at(fraction) for fraction in np.linspace(0, 1, 121)]
        heights = predicted(np.array(values))
        points = [(x(a), y(b)) for a, b in zip(values, heights, strict=True)]
        drawing.add(tag("path", d=path(points), class_="fitted"))
    number_axis(drawing, page, x, bottom)


def draw_shuffles(drawing: Drawing, page: Page, test: Any, show: Any) -> None:
    """Scores with shuffled labels as a histogram, the score of the labels as a line."""
    permuted = np.asarray(test.permuted, dtype=np.float64)
    permuted = permuted[np.isfinite(permuted)]
    every = np.append(permuted, test.score)
    low, high = float(every.min()), float(every.max())
    room = 0.06 * (high - low) or 0.05
    left, right, top, bottom = 40.0, drawing.width - 12, 44.0, 210.0
    drawing.height = bottom + 46
    x = Linear(low - room, high + room, left, right)
    n_bins = 24 if drawing.narrow else 48
    counts, edges = np.histogram(permuted, bins=n_bins, range=(x.low, x.high))
    y = Linear(0.0, float(max(counts.max(), 1)) * 1.05, bottom, top)
    drawing.y_axis(y, left, right, page.lang("shuffles_axis"), page.lang.number)
    for k, count in enumerate(counts.tolist()):
        a, b = x(edges[k]), x(edges[k + 1])
        if count:
            drawing.add(
                tag(
                    "rect",
                    x=a,
                    y=y(count),
                    width=max(1.0, b - a - 0.6),
                    height=bottom - y(count),
                    class_="bar c0",
                )
            )
            heading = f"{show(edges[k])} – {show(edges[k + 1])}"
            drawing.stop(
                (a + b) / 2,
                (top + bottom) / 2,
                heading,
                [("c0", page.lang("shuffled"), page.lang.integer(count), None)],
            )
    at = x(test.score)
    drawing.line(at, top - 8, at, bottom, "observed")
    words = page.lang("observed_score", score=show(test.score))
    half = text_width(words, TEXT) / 2
    drawing.text(
        min(max(at, half + 2), drawing.width - half - 2), top - 14, words, "note", "middle"
    )
    drawing.x_axis(x, bottom, page.lang.of("metric", test.metric), show)


# ------------------------------------------------------------------------ the plane of two features


#: Size of the grid on which a machine predicts: for a smooth boundary, and for a stepped one.
SMOOTH, STEPS = (72, 52), (150, 110)


class Spots(NamedTuple):
    """Samples that are drawn."""

    x: np.ndarray
    y: np.ndarray
    code: np.ndarray  # class code, which determines colour and shape


#: Returns the predicted classes at given points, and a score of each class or None.
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
    """For every class that is predicted somewhere, its region and its boundary as paths.

    A score of two classes is interpolated between the nodes of a grid, so that the boundary is
    smooth. Scores of several classes may jump where votes change; there the classes predicted
    at the nodes of a finer grid are smoothed. A machine without scores has a stepped boundary.
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
