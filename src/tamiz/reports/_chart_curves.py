"""Error by number of features: honest solid with its band, apparent dashed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports._chart import Drawing, figure, legend, mark, path, swatch
from tamiz.reports._html import Markup, tag
from tamiz.reports._page import BASELINE, Page
from tamiz.reports._scales import Linear, Log, Scale


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
        entries.append((None, swatch(BASELINE, "level"), page.method("all")))
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
        css="many" if len(curves) > 2 else "",
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
        size=page.lang.whole(curve.sizes[best]),
        first=page.error(curve.error[np.flatnonzero(np.isfinite(curve.error))[0]]),
        first_size=page.lang.whole(curve.sizes[np.flatnonzero(np.isfinite(curve.error))[0]]),
    )
    gaps = np.concatenate([c.bias for m, c in curves.items() if m != "random"])
    if np.isfinite(gaps).any() and np.nanmax(gaps) > 0:
        sentence += " " + page.lang("curves_gap", gap=page.points(float(np.nanmax(gaps))))
    return sentence


def _draw(drawing: Drawing, page: Page, curves: dict[str, Any], everything: float | None) -> None:
    found = page.found
    left, right = 52.0, drawing.width - 14
    top, bottom = (50.0, 276.0) if drawing.narrow else (34.0, 320.0)
    drawing.height = bottom + 46
    seen = [] if everything is None else [everything]
    for curve in curves.values():
        seen += curve.error[np.isfinite(curve.error)].tolist()
    first = next(iter(curves.values()))
    for values in (
        first.low,
        first.high,
        *(curves[m].apparent for m in page.methods if m in curves),
    ):
        seen += values[np.isfinite(values)].tolist()
    y = Linear(*page.error_ends(seen), bottom, top)
    sizes = found.sizes
    x: Scale
    if sizes[-1] / sizes[0] >= 10:
        x = Log(float(sizes[0]), float(sizes[-1]), left + 8, right)
    else:
        x = Linear(float(sizes[0]), float(sizes[-1]), left + 8, right)
    drawing.y_axis(y, left, right, page.metric, _tick(page, y), 28.0 if drawing.narrow else 12.0)
    drawing.x_axis(x, bottom, page.lang("n_features"), page.lang.whole, [float(s) for s in sizes])
    if everything is not None:
        drawing.line(left, y(everything), right, y(everything), "level c0")
    recommended = page.recommended
    if recommended is not None and recommended.kind == "chosen":
        at = x(recommended.size)
        drawing.line(at, top, at, bottom, "chosen")
        drawing.text(
            min(max(at, left + 40), right - 40),
            top - 6,
            page.lang("recommended_size"),
            "note",
            "middle",
        )
    for k, (method, curve) in reversed(list(enumerate(curves.items()))):
        drawing.add(_series(k, page, method, curve, x, y))
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
            rows.append((css, page.method(method), text, y(curve.error[c])))
        drawing.stop(x(size), (top + bottom) / 2, page.lang.count("feature", int(size)), rows)


def _series(k: int, page: Page, method: str, curve: Any, x: Scale, y: Scale) -> Markup:
    style = page.style(method)
    there = np.isfinite(curve.error)
    parts = []
    known = there & np.isfinite(curve.low) & np.isfinite(curve.high)
    if known.sum() > 1:
        upper = [(x(s), y(v)) for s, v in zip(curve.sizes[known], curve.high[known], strict=True)]
        under = [(x(s), y(v)) for s, v in zip(curve.sizes[known], curve.low[known], strict=True)]
        parts.append(tag("path", d=path(upper + under[::-1], close=True), class_="band"))
    apparent = np.isfinite(curve.apparent) & (method in page.methods)  # baselines have none
    if apparent.any():
        points = zip(curve.sizes[apparent], curve.apparent[apparent], strict=True)
        parts.append(tag("path", d=path([(x(s), y(v)) for s, v in points]), class_="apparent"))
    places = [(x(s), y(v)) for s, v in zip(curve.sizes[there], curve.error[there], strict=True)]
    parts.append(tag("path", d=path(places), class_="line"))
    parts += [mark(style.shape, px, py) for px, py in places]
    first = " lead" if method == page.lead else ""
    return tag("g", parts, class_=f"series {style.css}{first}", data_s=k)


def _tick(page: Page, scale: Scale) -> Any:
    """How the numbers at the axis are written: no more decimals than they need."""
    ticks = scale.ticks(6)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    if page.shares:
        digits = 0 if round(100 * step, 6) % 1 == 0 else 1
        return lambda v: page.lang.share(v, digits)
    return lambda v: page.lang.number(v, 3)
