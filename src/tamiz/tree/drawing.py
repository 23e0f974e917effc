"""A tree as a picture: SVG without any other package, or drawn by matplotlib."""

from __future__ import annotations

from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from tamiz.tree._layout import (
    _BAR,
    _PAD,
    FONT_SIZE,
    INK,
    LINE,
    LINE_HEIGHT,
    Box,
    Drawing,
    lay_out,
    legend_places,
)
from tamiz.tree._wording import counted

if TYPE_CHECKING:
    from tamiz.tree._wording import Wording
    from tamiz.tree.structure import Tree

_DIRECTIONS = ("auto", "down", "right")
_FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_INCH = 96.0  # points of the layout
#: Below this no letters can be read; above that no screen is large enough.
_LARGEST = 60.0


def svg(tree: Tree, wording: Wording, max_depth: Any = None, direction: Any = "auto") -> str:
    """The tree as the text of an SVG file."""
    drawing = drawn(tree, wording, max_depth, direction)
    w, h = drawing.width, drawing.height
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{h:.0f}" '
        f'viewBox="0 0 {w:.1f} {h:.1f}" role="img" font-family="{_FONT}" '
        f'font-size="{FONT_SIZE}" fill="{INK}">',
        f"<title>Decision tree with {counted(tree.n_leaves, 'leaf', 'leaves')}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for (name, colour), (x, y) in zip(drawing.legend, legend_places(drawing), strict=True):
        out.append(f'<rect x="{x:.1f}" y="{y + 2:.1f}" width="11" height="11" fill="{colour}"/>')
        out.append(f'<text x="{x + 17:.1f}" y="{y + 12:.1f}">{_text(name)}</text>')
    if drawing.note:
        y = drawing.boxes[0].y if drawing.direction == "down" else min(b.y for b in drawing.boxes)
        out.append(
            f'<text x="{_PAD}" y="{y - 14:.1f}" font-style="italic">{_text(drawing.note)}</text>'
        )
    for parent, child in drawing.links:
        (x1, y1), (x2, y2) = _ends(drawing, drawing.boxes[parent], drawing.boxes[child])
        bend = (f"{x1:.1f},{(y1 + y2) / 2:.1f} {x2:.1f},{(y1 + y2) / 2:.1f}"
                if drawing.direction == "down"
                else f"{(x1 + x2) / 2:.1f},{y1:.1f} {(x1 + x2) / 2:.1f},{y2:.1f}")  # fmt: skip
        out.append(
            f'<path d="M{x1:.1f},{y1:.1f} C{bend} {x2:.1f},{y2:.1f}" fill="none" stroke="{LINE}"/>'
        )
    for box in drawing.boxes:
        out += _svg_box(drawing, box)
    return "\n".join([*out, "</svg>", ""])


def _svg_box(drawing: Drawing, box: Box) -> list[str]:
    w, h = drawing.box_width, drawing.box_height
    out = [
        f"<g><title>{_text(box.title)}</title>",
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="4" '
        f'fill="{box.fill}" stroke="{box.edge}" stroke-width="{2 if box.leaf else 1}"/>',
    ]
    for k, line in enumerate(box.lines):
        # the second line is what the node says; the first how to get there
        weight = ' font-weight="bold"' if k == 1 and box.leaf else ""
        y = box.y + _PAD + LINE_HEIGHT * (k + 0.75)
        out.append(
            f'<text x="{box.x + w / 2:.1f}" y="{y:.1f}" text-anchor="middle"{weight}>'
            f"{_text(line)}</text>"
        )
    x, y, room = box.x + _PAD, box.y + h - _PAD - _BAR + 4, w - 2 * _PAD
    for share, colour in box.bar:
        out.append(
            f'<rect x="{x:.2f}" y="{y:.1f}" width="{share * room:.2f}" height="{_BAR:.0f}" '
            f'fill="{colour}"/>'
        )
        x += share * room
    out.append(
        f'<rect x="{box.x + _PAD:.1f}" y="{y:.1f}" width="{room:.1f}" height="{_BAR:.0f}" '
        f'fill="none" stroke="{LINE}" stroke-width="0.5"/></g>'
    )
    return out


def write_svg(text: str, path: Any) -> None:
    """Write the picture, in a folder that must exist."""
    if not isinstance(path, (str, PathLike)):
        raise TypeError(f"path={path!r} is not the name of a file; use text or a path.")
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder; add the name of a file, tree.svg.")
    if not target.parent.is_dir():
        raise ValueError(f"path={str(path)!r} lies in a folder that does not exist; make it first.")
    target.write_text(text, encoding="utf-8")


def plot(
    tree: Tree, wording: Wording, ax: Any = None, max_depth: Any = None, direction: Any = "auto"
) -> Any:
    """The same picture by matplotlib."""
    drawing = drawn(tree, wording, max_depth, direction)
    try:
        import matplotlib.pyplot as plt
        from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
        from matplotlib.path import Path as Curve
    except ImportError:
        raise ImportError(
            "plot needs matplotlib; install it with: pip install 'tamiz[plot]'. to_svg draws "
            "without it."
        ) from None
    if ax is None:
        width, height = (min(_LARGEST, s / _INCH) for s in (drawing.width, drawing.height))
        figure = plt.figure(figsize=(width, height))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    ax.set_axis_off()
    scale = _scale(ax, drawing)
    size = FONT_SIZE * 72.0 / _INCH * scale
    for (name, colour), (x, y) in zip(drawing.legend, legend_places(drawing), strict=True):
        ax.add_patch(Rectangle((x, y + 2), 11, 11, fc=colour, ec="none"))
        ax.text(x + 17, y + 8, _plain(name), size=size, va="center", color=INK)
    if drawing.note:
        y = min(box.y for box in drawing.boxes) - 18
        ax.text(_PAD, y, drawing.note, size=size, style="italic", va="center", color=INK)
    for parent, child in drawing.links:
        (x1, y1), (x2, y2) = _ends(drawing, drawing.boxes[parent], drawing.boxes[child])
        down = drawing.direction == "down"
        bends = ([(x1, (y1 + y2) / 2), (x2, (y1 + y2) / 2)] if down
                 else [((x1 + x2) / 2, y1), ((x1 + x2) / 2, y2)])  # fmt: skip
        curve = Curve([(x1, y1), *bends, (x2, y2)], [Curve.MOVETO] + [Curve.CURVE4] * 3)
        ax.add_patch(PathPatch(curve, fc="none", ec=LINE, lw=0.8 * scale))
    w, h = drawing.box_width, drawing.box_height
    for box in drawing.boxes:
        ax.add_patch(
            FancyBboxPatch(
                (box.x, box.y), w, h, boxstyle="round,pad=0,rounding_size=4", fc=box.fill,
                ec=box.edge, lw=(1.6 if box.leaf else 0.8) * scale, mutation_aspect=1,
            )
        )  # fmt: skip
        for k, line in enumerate(box.lines):
            y = box.y + _PAD + LINE_HEIGHT * (k + 0.5)
            bold = "bold" if k == 1 and box.leaf else "normal"
            ax.text(box.x + w / 2, y, _plain(line), size=size * 0.94, ha="center", va="center",
                    weight=bold, color=INK)  # fmt: skip
        x, y, room = box.x + _PAD, box.y + h - _PAD - _BAR + 4, w - 2 * _PAD
        for share, colour in box.bar:
            ax.add_patch(Rectangle((x, y), share * room, _BAR, fc=colour, ec="none"))
            x += share * room
        ax.add_patch(Rectangle((box.x + _PAD, y), room, _BAR, fc="none", ec=LINE, lw=0.4 * scale))
    return ax


def _scale(ax: Any, drawing: Drawing) -> float:
    """How much smaller than drawn the axes are: letters shrink with the boxes."""
    figure = ax.figure
    place = ax.get_position()
    width = place.width * figure.get_figwidth() * _INCH / drawing.width
    height = place.height * figure.get_figheight() * _INCH / drawing.height
    return float(min(width, height))


def drawn(tree: Tree, wording: Wording, max_depth: Any, direction: Any) -> Drawing:
    """The layout, after a look at what was asked for."""
    if not isinstance(direction, str) or direction not in _DIRECTIONS:
        raise ValueError(
            f"direction={direction!r} is unknown; use one of {', '.join(_DIRECTIONS)}."
        )
    return lay_out(tree, wording, check_depth(max_depth), direction)


def check_depth(max_depth: Any) -> int | None:
    """A depth down to which a tree is shown, or None."""
    if max_depth is None:
        return None
    whole = isinstance(max_depth, Integral) and not isinstance(max_depth, bool)
    if not whole or max_depth < 0:
        raise ValueError(f"max_depth={max_depth!r} is not a depth; use a whole number from 0.")
    return int(max_depth)


def _ends(
    drawing: Drawing, parent: Box, child: Box
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the line between two boxes begins and ends."""
    w, h = drawing.box_width, drawing.box_height
    if drawing.direction == "down":
        return (parent.x + w / 2, parent.y + h), (child.x + w / 2, child.y)
    return (parent.x + w, parent.y + h / 2), (child.x, child.y + h / 2)


def _text(text: str) -> str:
    """Text that an SVG file may hold: letters that XML forbids are replaced."""
    allowed = "".join(c if c in "\t\n" or " " <= c not in "\ufffe\uffff" else "�" for c in text)
    return escape(allowed.encode("utf-8", "replace").decode("utf-8"), {'"': "&quot;"})


def _plain(text: str) -> str:
    """Text in which matplotlib sees no formulas."""
    return text.replace("$", r"\$")
