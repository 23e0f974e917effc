"""Drawings in SVG: axes, marks, and the read-outs that a pointer or the arrow keys call up.

Text in a drawing that is made smaller to fit a phone cannot be read. Every drawing is therefore
made for two widths, and the page shows one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tamiz.reports.charts.scales import Scale, text_width
from tamiz.reports.markup import Markup, escape, short, tag, visible
from tamiz.reports.page import Page, Style

WIDE, NARROW = 720.0, 340.0
#: A narrow drawing of at most this height stands beside its words on paper.
BESIDE = 330.0
TEXT = 12.0


class Drawing:
    """An SVG picture that is being drawn.

    Parameters
    ----------
    width : float
        Its width; a drawing function may lay things out by it.
    name : str
        What its parts are called after.
    """

    def __init__(self, width: float, name: str = "drawing"):
        self.width = width
        self.name = name
        self.height = 0.0
        self.parts: list[Markup] = []
        self.stops: list[list[Any]] = []

    @property
    def narrow(self) -> bool:
        """Whether this is the drawing for a phone."""
        return self.width < 500

    def add(self, *parts: Markup) -> None:
        """Put something on top."""
        self.parts.extend(parts)

    def text(self, x: float, y: float, text: str, css: str = "", anchor: str = "start") -> None:
        """Text with its baseline at y."""
        self.add(
            tag(
                "text",
                text,
                x=float(x),
                y=float(y),
                class_=css or None,
                text_anchor=None if anchor == "start" else anchor,
            )
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """A straight line."""
        d = f"M{short(x1)} {short(y1)}L{short(x2)} {short(y2)}"
        self.add(tag("path", d=d, class_=css))

    def clipped(self, box: tuple[float, float, float, float], *parts: Markup) -> None:
        """Put something on top that is seen inside a box only (x, y, width, height)."""
        x, y, width, height = map(float, box)
        name = f"{self.name}-c{len(self.parts)}"
        frame = tag("rect", x=x, y=y, width=width, height=height)
        edge = " ".join(map(short, (x, y, width, height)))
        self.add(
            tag("clipPath", frame, id=name),
            tag("g", *parts, clip_path=f"url(#{name})", data_clip=edge),
        )

    def stop(
        self,
        x: float,
        y: float,
        heading: str,
        rows: Sequence[tuple[str, str, str, float | None]] = (),
        size: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """A place with a read-out: a heading, and rows of style, name, value and height."""
        shown = [
            [css, visible(name), value, None if at is None else round(at, 1)]
            for css, name, value, at in rows
        ]
        box = [round(x, 1), round(y, 1), round(size[0], 1), round(size[1], 1)]
        self.stops.append([*box, visible(heading), shown])

    def x_axis(
        self,
        scale: Scale,
        y: float,
        label: str,
        show: Callable[[float], str],
        ticks: Sequence[float] | None = None,
    ) -> None:
        """An axis at the bottom; marks whose texts would meet are left out."""
        self.line(scale.start, y, scale.end, y, "axis")
        length = abs(scale.end - scale.start)
        values = scale.ticks(max(2, int(length / 60))) if ticks is None else ticks
        reach = float("-inf")
        for value in values:
            x, text = scale(value), show(value)
            half = text_width(text, TEXT) / 2
            self.line(x, y, x, y + 4, "axis")
            if x - half > reach + 4:
                self.text(x, y + 17, text, "tick", "middle")
                reach = x + half
        self.text((scale.start + scale.end) / 2, y + 36, label, "label", "middle")

    def y_axis(
        self,
        scale: Scale,
        left: float,
        right: float,
        label: str,
        show: Callable[[float], str],
        above: float = 12.0,
    ) -> None:
        """Lines across with numbers at the left, and what they are so far above."""
        for value in scale.ticks(max(2, int(abs(scale.end - scale.start) / 40))):
            y = scale(value)
            self.line(left, y, right, y, "grid")
            self.text(left - 6, y + 4, show(value), "tick", "end")
        self.text(2, min(scale.start, scale.end) - above, label, "label")


def path(points: Sequence[tuple[float, float]], close: bool = False) -> str:
    """The ``d`` of a line through points."""
    text = "".join(f"{'L' if k else 'M'}{short(x)} {short(y)}" for k, (x, y) in enumerate(points))
    return text + "Z" if close else text


def mark(shape: int, x: float, y: float, css: str | None = "mark", r: float = 3.6) -> Markup:
    """One of eight marks, so that lines differ by more than their colour."""
    if shape == 0:
        return tag("circle", cx=float(x), cy=float(y), r=r, class_=css)
    corners = _MARKS[shape]
    points = [(x + r * dx, y + r * dy) for dx, dy in corners]
    return tag("path", d=path(points, close=True), class_=css)


_MARKS: dict[int, list[tuple[float, float]]] = {
    1: [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    2: [(0, -1.25), (1.15, 0.8), (-1.15, 0.8)],
    3: [(0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)],
    4: [(0, 1.25), (1.15, -0.8), (-1.15, -0.8)],
    5: [
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
    6: [(-1.3, -0.55), (1.3, -0.55), (1.3, 0.55), (-1.3, 0.55)],
    7: [
        (0, -1.3),
        (0.4, -0.4),
        (1.3, 0),
        (0.4, 0.4),
        (0, 1.3),
        (-0.4, 0.4),
        (-1.3, 0),
        (-0.4, -0.4),
    ],
}


def swatch(style: Style, kind: str = "line") -> Markup:
    """A little sample of a line with its mark, for legends."""
    inner: list[Markup] = [tag("path", d="M1 6L25 6", class_=kind)]
    if kind == "line":
        inner.append(mark(style.shape, 13, 6))
    return tag("svg", inner, class_=f"swatch {style.css}", viewBox="0 0 26 12", aria_hidden="true")


def legend(entries: Sequence[tuple[int | None, Markup, str]]) -> Markup:
    """Samples with names; those with a number bring their line to the front."""
    parts = []
    for number, sample, name in entries:
        if number is None:
            parts.append(tag("span", sample, name, class_="key"))
        else:
            parts.append(
                tag(
                    "button",
                    sample,
                    tag("bdi", name),
                    type="button",
                    class_="key",
                    data_series=number,
                    aria_pressed="false",
                )
            )
    return tag("div", parts, class_="legend")


def figure(
    page: Page,
    draw: Callable[[Drawing], None],
    title: str,
    finding: str,
    *,
    above: Markup | None = None,
    css: str = "",
    widths: Sequence[float] = (WIDE, NARROW),
    caption: bool = True,
) -> Markup:
    """A chart for each width, with a title, the finding in words, and its read-outs."""
    charts, low = [], False
    for k, width in enumerate(widths):
        name = page.next_id("chart")
        drawing = Drawing(width, name)
        draw(drawing)
        low = drawing.narrow and drawing.height <= BESIDE
        svg = tag(
            "svg",
            tag("title", title, id=f"{name}-t"),
            tag("desc", finding, id=f"{name}-d"),
            drawing.parts,
            role="img",
            aria_labelledby=f"{name}-t {name}-d",
            viewBox=f"0 0 {short(width)} {short(drawing.height)}",
            width=float(width),
            height=float(drawing.height),
        )
        only = "" if len(widths) == 1 else (" wide", " narrow")[k]
        stops = None
        if drawing.stops:
            stops = json.dumps(drawing.stops, ensure_ascii=False, separators=(",", ":"))
        charts.append(tag("div", svg, class_=f"chart{only}", data_stops=stops))
    words = tag("figcaption", finding) if caption else None
    heading = tag("p", escape(title), class_="charttitle") if caption else None
    if low and len(widths) > 1:
        css = f"{css} low".strip()
    return tag("figure", heading, above, charts, words, class_=css or None)
