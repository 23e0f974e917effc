"""Error by number of features: curves of the methods, and the trade-off of all combinations.

And points with intervals, one row for each method: errors, their bias, and stability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamiz.reports.charts.drawing import TEXT, Drawing, figure, legend, mark, path, swatch
from tamiz.reports.charts.scales import Linear, Log, Scale, cut, text_width
from tamiz.reports.markup import Markup, tag, visible
from tamiz.reports.page import BASELINE, Page, Style, style


def curves_figure(page: Page, judge: str) -> Markup | None:
    """The chart for one judge, or None if no method has a curve."""
    found = page.found
    methods = [m for m in [*page.methods, "random"] if m in found.methods]
    curves = {m: found.curve(m, judge) for m in methods}
    curves = {m: c for m, c in curves.items() if np.isfinite(c.error).any()}
    if not curves or len(found.sizes) < 2:
        return None
    everything = _all_features(page, judge)
    entries: list[tuple[int | None, Markup, str]] = [
        (k, swatch(page.style(m)), page.method(m)) for k, m in enumerate(curves)
    ]
    if everything is not None:
        name = page.lang("level_of", name=page.method("all"), error=page.error(everything))
        entries.append((None, swatch(BASELINE, "level"), name))
    if any(np.isfinite(c.apparent).any() for c in curves.values()):
        entries.append((None, _plain_swatch("line"), page.lang("honest")))
        entries.append((None, _plain_swatch("apparent"), page.lang("apparent")))
    title = page.lang("curves_title", metric=page.metric, judge=judge)
    return figure(
        page,
        lambda drawing: _draw(drawing, page, curves, everything),
        title,
        _finding(page, curves, judge),
        above=legend(entries),
        css="many" if len(curves) > 1 else "",
    )


def _plain_swatch(kind: str) -> Markup:
    inner = tag("path", d="M1 6L25 6", class_=kind)
    return tag("svg", inner, class_="swatch c0", viewBox="0 0 26 12", aria_hidden="true")


def _all_features(page: Page, judge: str) -> float | None:
    """The error with all features, where it was measured."""
    if "all" not in page.found.methods:
        return None
    value = page.found.estimate("all", judge).error
    return float(value) if np.isfinite(value) else None


def _finding(page: Page, curves: dict[str, Any], judge: str) -> str:
    lead = next(iter(curves))
    curve = curves[lead]
    best = int(np.nanargmin(curve.error))
    sentence = page.lang(
        "curves_finding",
        method=page.method(lead),
        error=page.error(curve.error[best]),
        size=page.lang.integer(curve.sizes[best]),
        first=page.error(curve.error[np.flatnonzero(np.isfinite(curve.error))[0]]),
        first_size=page.lang.integer(curve.sizes[np.flatnonzero(np.isfinite(curve.error))[0]]),
    )
    biases = np.concatenate([c.bias for m, c in curves.items() if m != "random"])
    if np.isfinite(biases).any() and np.nanmax(biases) > 0:
        sentence += " " + page.lang("curves_gap", gap=page.points(float(np.nanmax(biases))))
    top = page.error_ends(_seen(page, curves), _kept(page, curves))[1]
    if max(np.nanmax(c.error) for c in curves.values()) > top:
        sentence += " " + page.lang("curves_cut", error=page.error(top))
    return sentence


def _draw(drawing: Drawing, page: Page, curves: dict[str, Any], everything: float | None) -> None:
    found = page.found
    left, right = 52.0, drawing.width - 14
    top, bottom = (54.0, 280.0) if drawing.narrow else (50.0, 336.0)
    drawing.height = bottom + 46
    seen = _seen(page, curves)
    y = Linear(*page.error_ends(seen, _kept(page, curves)), bottom, top)
    sizes = found.sizes
    x = _size_axis(sizes, left + 8, right)
    tick = page.tick(y)
    drawing.y_axis(y, left, right, page.metric, tick, 30.0)
    drawing.x_axis(x, bottom, page.lang("n_features"), page.lang.integer, [float(s) for s in sizes])
    if everything is not None and y.low <= everything <= y.high:
        drawing.line(left, y(everything), right, y(everything), "level c0")
    shown = page.shown
    if shown is not None and page.recommended is not None and shown.kind == "chosen":
        at = x(shown.size)
        drawing.line(at, top, at, bottom, "chosen")
        words = page.lang("recommended_size")
        drawing.text(min(max(at, left + 40), right - 40), top - 6, words, "note", "middle")
    lines = [
        _series(k, page, method, curve, x, y)
        for k, (method, curve) in reversed(list(enumerate(curves.items())))
    ]
    drawing.clipped((left, top - 5, right - left + 6, bottom - top + 10), *lines)
    for c, size in enumerate(sizes):
        rows: list[tuple[str, str, str, float | None]] = []
        for method, curve in curves.items():
            if not np.isfinite(curve.error[c]):
                continue
            text = page.error(curve.error[c])
            if np.isfinite(curve.low[c]):
                text += f" ({page.between(curve.low[c], curve.high[c])})"
            if np.isfinite(curve.apparent[c]) and method in page.methods:
                text += " · " + page.lang("apparent_short", error=page.error(curve.apparent[c]))
            css = page.style(method).css
            height = y(curve.error[c]) if curve.error[c] <= y.high else None
            rows.append((css, page.method(method), text, height))
        drawing.stop(x(size), (top + bottom) / 2, page.lang.count("feature", int(size)), rows)


def _seen(page: Page, curves: dict[str, Any]) -> list[float]:
    """All errors of the curves, honest and apparent."""
    lines = [curve.error for curve in curves.values()]
    lines += [curves[m].apparent for m in page.methods if m in curves]
    return [float(v) for line in lines for v in line[np.isfinite(line)]]


def _kept(page: Page, curves: dict[str, Any]) -> list[float]:
    """Errors that no zoom cuts off: that of the answer, with its interval."""
    first = next(iter(curves.values()))
    best = int(np.nanargmin(first.error))
    kept = [first.error[best], first.high[best]]
    if page.shown is not None and page.shown.size in first.sizes:
        kept.append(first.error[first.sizes.tolist().index(page.shown.size)])
    return [float(v) for v in kept if np.isfinite(v)]


def _size_axis(sizes: Any, start: float, end: float) -> Scale:
    """An axis of numbers of features: equal factors are equal distances, where there are many."""
    low, high = float(sizes[0]), float(sizes[-1])
    return Log(low, high, start, end) if high / low >= 10 else Linear(low, high, start, end)


def _series(k: int, page: Page, method: str, curve: Any, x: Scale, y: Scale) -> Markup:
    style = page.style(method)

    def places(which: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
        pairs = zip(curve.sizes[which], values[which], strict=True)
        return [(x(size), y.beyond(value)) for size, value in pairs]

    parts = []
    known = np.isfinite(curve.error) & np.isfinite(curve.low) & np.isfinite(curve.high)
    if known.sum() > 1:
        around = places(known, curve.high) + places(known, curve.low)[::-1]
        parts.append(tag("path", d=path(around, close=True), class_="band"))
    apparent = np.isfinite(curve.apparent) & (method in page.methods)  # baselines have none
    if apparent.any():
        parts.append(tag("path", d=path(places(apparent, curve.apparent)), class_="apparent"))
    honest = places(np.isfinite(curve.error), curve.error)
    parts.append(tag("path", d=path(honest), class_="line"))
    parts += [mark(style.shape, px, py) for px, py in honest]
    first = " lead" if method == page.lead else ""
    return tag("g", parts, class_=f"series {style.css}{first}", data_s=k)


# ----------------------------------------------------------------------------------- trade-off


def tradeoff_figure(page: Page) -> Markup:
    """All combinations by size and error, the best of each size joined, both answers marked."""
    lang, contest = page.lang, page.answers.contest
    front = contest.pareto()
    means = contest.choice.means
    first, last = front[0], front[-1]
    values = {
        "n": lang.count("combination", len(contest.triples)),
        "first": lang.count("feature", contest.triples[first].size),
        "first_error": page.error(float(means[first])),
    }
    finding = lang("tradeoff_one", **values)
    if last != first:
        values["last"] = lang.count("feature", contest.triples[last].size)
        finding = lang("tradeoff_finding", last_error=page.error(float(means[last])), **values)
    n_cut = int((means > _tradeoff_ends(page)[1]).sum())
    if n_cut:
        finding += " " + lang("tradeoff_cut", n=lang.count("combination", n_cut))
    entries: list[tuple[int | None, Markup, str]] = [
        (k, _dot(k), visible(judge)) for k, judge in enumerate(contest.comparison.judges)
    ]
    entries.append((None, _plain_swatch("front"), lang("front")))
    return figure(
        page,
        lambda drawing: _draw_tradeoff(drawing, page, front),
        lang("tradeoff_title", metric=page.metric),
        finding,
        above=legend(entries),
    )


def _dot(k: int) -> Markup:
    inner = mark(style(k).shape, 13, 6, "mark")
    return tag(
        "svg", inner, class_=f"swatch {style(k).css}", viewBox="0 0 26 12", aria_hidden="true"
    )


def _tradeoff_ends(page: Page) -> tuple[float, float]:
    choice = page.answers.contest.choice
    kept = [float(choice.means[choice.best]), float(choice.means[choice.smallest])]
    return page.error_ends(choice.means.tolist(), kept)


def _draw_tradeoff(drawing: Drawing, page: Page, front: list[int]) -> None:
    lang, contest = page.lang, page.answers.contest
    choice, triples = contest.choice, contest.triples
    left, right = 52.0, drawing.width - 20
    top, bottom = (62.0, 300.0) if drawing.narrow else (44.0, 330.0)
    drawing.height = bottom + 46
    y = Linear(*_tradeoff_ends(page), bottom, top)
    sizes = sorted({triple.size for triple in triples if triple.size > 0}) or [1]
    x = _size_axis(sizes, left + 12, right)
    tick = page.tick(y)
    drawing.y_axis(y, left, right, page.metric, tick, 44.0 if drawing.narrow else 26.0)
    drawing.x_axis(x, bottom, lang("n_features"), lang.integer, [float(s) for s in sizes])
    _without_features(drawing, page, y, left, right, top)
    place = {judge: k for k, judge in enumerate(contest.comparison.judges)}
    by_judge: dict[int, list[Markup]] = {k: [] for k in place.values()}
    for t, triple in enumerate(triples):
        if choice.means[t] > y.high:
            continue
        k = place[triple.judge]
        shift = 2.6 * (k - (len(place) - 1) / 2)  # those of one size stand beside each other
        css = "faint equal" if choice.equal[t] else "faint"
        spot = (x(max(triple.size, sizes[0])) + shift, y(float(choice.means[t])))
        by_judge[k].append(mark(style(k).shape, *spot, css, 3.0))
    for k, dots in by_judge.items():
        drawing.add(tag("g", dots, class_=f"series {style(k).css}", data_s=k))
    points = [(x(max(triples[t].size, sizes[0])), y(float(choice.means[t]))) for t in front]
    drawing.add(tag("path", d=path(points), class_="front"))
    if page.recommended is not None:
        _mark_answers(drawing, page, x, y)
    for size in sizes:
        those = [t for t, triple in enumerate(triples) if triple.size == size]
        rows: list[tuple[str, str, str, float | None]] = []
        for judge, k in place.items():
            mine = [t for t in those if triples[t].judge == judge]
            if mine:
                t = min(mine, key=lambda t: choice.means[t])
                error = float(choice.means[t])
                height = y(error) if error <= y.high else None
                name = f"{judge}, {page.method(triples[t].method)}"
                rows.append((style(k).css, name, page.error(error), height))
        drawing.stop(x(size), (top + bottom) / 2, lang.count("feature", size), rows)


def _mark_answers(drawing: Drawing, page: Page, x: Scale, y: Scale) -> None:
    """Rings around both answers, with their names."""
    contest = page.answers.contest
    choice = contest.choice
    spots: dict[tuple[float, float], list[str]] = {}
    for key, t in (("answer_smallest", choice.smallest), ("answer_most_accurate", choice.best)):
        spot = (x(max(contest.triples[t].size, x.low)), y(float(choice.means[t])))
        spots.setdefault(spot, []).append(page.lang(key))
    taken: list[tuple[float, float, float]] = []
    for (px, py), names in spots.items():
        drawing.add(tag("circle", cx=px, cy=py, r=8.0, class_="ring"))
        words = " · ".join(names)
        half = text_width(words, TEXT) / 2
        at = min(max(px, half + 54), drawing.width - half - 4)
        height = py + 24 if py + 30 < y.start else py - 14
        if any(
            abs(height - h) < 15 and a - 6 < at + half and at - half < b + 6 for a, b, h in taken
        ):
            height = py - 14 if height > py else py - 30
        taken.append((at - half, at + half, height))
        drawing.text(at, height, words, "name strong", "middle")


def _without_features(
    drawing: Drawing, page: Page, y: Scale, left: float, right: float, top: float
) -> None:
    """The error without features: a line, or a note at the edge if it is far away."""
    without = float(page.honest["without_features"])
    words = page.lang("without_mark", error=page.error(without))
    if y.low <= without <= y.high:
        drawing.line(left, y(without), right, y(without), "level c0")
        at = y(without) - 6 if y(without) - 20 > top else y(without) + 15
    else:
        words = f"{words} {'↑' if without > y.high else '↓'}"
        at = top - 8 if without > y.high else y.start - 6
    drawing.text(right, at, words, "note", "end")


# ---------------------------------------------------------------------------------------- intervals


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
