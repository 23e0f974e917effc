"""A tree as a picture: SVG without any other package, or drawn by matplotlib.

The layout is that of Reingold and Tilford (1981): children side by side as near as their branches
allow, a parent in the middle above them, the same branch the same shape wherever it stands. Each
branch keeps its outline, the first and last place taken at each depth below it.

Small trees grow downwards. Large ones grow to the right: text is wide and not high, so that more of
it fits.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from tamiz.display import INK, LINE, PALETTE, axes, colours, counted, tint
from tamiz.pictures import Plane, scatter_classes
from tamiz.tree.rules import Wording, class_fractions, one_line, percent, preorder
from tamiz.validation import integer_from, one_of, optional

if TYPE_CHECKING:
    from tamiz.tree.splits import Split
    from tamiz.tree.structure import Tree


#: What a user may say of a picture.
DRAWN = {"max_depth": optional(integer_from(0)), "direction": one_of("auto", "down", "right")}
_FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_INCH = 96.0  # points of the layout
#: Below this no letters can be read; above that no screen is large enough.
_LARGEST = 60.0


def svg(tree: Tree, wording: Wording, max_depth: Any = None, direction: Any = "auto") -> str:
    """The tree as the text of an SVG file."""
    drawing = lay_out(tree, wording, max_depth, direction)
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
    for fraction, colour in box.bar:
        out.append(
            f'<rect x="{x:.2f}" y="{y:.1f}" width="{fraction * room:.2f}" height="{_BAR:.0f}" '
            f'fill="{colour}"/>'
        )
        x += fraction * room
    out.append(
        f'<rect x="{box.x + _PAD:.1f}" y="{y:.1f}" width="{room:.1f}" height="{_BAR:.0f}" '
        f'fill="none" stroke="{LINE}" stroke-width="0.5"/></g>'
    )
    return out


def write_svg(text: str, target: Path) -> None:
    """Write the picture, in a folder that must exist."""
    if target.is_dir():
        raise ValueError(f"path={str(target)!r} is a folder; add the name of a file, tree.svg.")
    if not target.parent.is_dir():
        raise ValueError(
            f"path={str(target)!r} lies in a folder that does not exist; make it first."
        )
    target.write_text(text, encoding="utf-8", newline="\n")


def plot(
    tree: Tree, wording: Wording, ax: Any = None, max_depth: Any = None, direction: Any = "auto"
) -> Any:
    """The same picture by matplotlib."""
    drawing = lay_out(tree, wording, max_depth, direction)
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
        for fraction, colour in box.bar:
            ax.add_patch(Rectangle((x, y), fraction * room, _BAR, fc=colour, ec="none"))
            x += fraction * room
        ax.add_patch(Rectangle((box.x + _PAD, y), room, _BAR, fc="none", ec=LINE, lw=0.4 * scale))
    return ax


def partition(tree: Tree, plane: Plane) -> list[tuple[int, np.ndarray]]:
    """The leaves that a plane passes through, and the corners of what each has of it.

    Questions about the features on the axes cut the plane along a line; the others are answered by
    the values at which their features are held.
    """
    (left, right), (low, high) = plane.limits
    found = []
    stack = [(0, np.array([[left, low], [right, low], [right, high], [left, high]]))]
    while stack:
        node, corners = stack.pop()
        split = tree.splits[node]
        if split is None:
            found.append((node, corners))
            continue
        line = _line(split, plane)
        if line is None:
            sent = int(split.sends_left(plane.at[None, :])[0])
            leftwards = bool(tree.majority_left[node]) if sent < 0 else sent == 1
            stack.append((int((tree.left if leftwards else tree.right)[node]), corners))
            continue
        above = corners @ line[0] - line[1]
        for child, side in ((tree.right[node], -above), (tree.left[node], above)):
            part = _clip(corners, side)
            if len(part):
                stack.append((int(child), part))
    return found


def _line(split: Split, plane: Plane) -> tuple[np.ndarray, float] | None:
    """``(a, t)`` such that ``a @ point <= t`` goes left; None if the axes do not matter."""
    if not set(split.features) & set(plane.columns):
        return None
    form = split.hyperplane()
    if form is None:
        name = plane.names[plane.columns.index(split.features[0])]
        raise ValueError(
            f"The tree asks to which set of categories {name!r} belongs, which no line in a plane "
            "can show; choose numeric features for the axes."
        )
    coefficients, limit = form
    a = np.zeros(2)
    for j, weight in coefficients.items():
        if j in plane.columns:
            a[plane.columns.index(j)] = weight
        else:
            limit -= weight * plane.at[j]
    return a, limit


def _clip(corners: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The part of a convex polygon where ``side``, linear and given at its corners, is <= 0."""
    kept: list[np.ndarray] = []
    for k in range(len(corners)):
        before, now = side[k - 1], side[k]
        if (before > 0) != (now > 0):
            t = before / (before - now)
            kept.append(corners[k - 1] + t * (corners[k] - corners[k - 1]))
        if now <= 0:
            kept.append(corners[k])
    return np.array(kept) if len(kept) > 2 else np.empty((0, 2))


def plot_partition(
    tree: Tree, wording: Wording, plane: Plane, points: np.ndarray, codes: Any, ax: Any
) -> Any:
    """The leaves as polygons in the colours of the tree, and samples where they are given."""
    ax = axes(ax)
    from matplotlib.patches import Polygon

    paint = _painter(tree, wording)
    for leaf, corners in partition(tree, plane):
        ax.add_patch(
            Polygon(corners, fc=tint(paint.edge(leaf), 0.35) if wording.classes is not None
                    else paint.fill(leaf), ec=INK, lw=0.8, gid=f"leaf {leaf}", zorder=0)
        )  # fmt: skip
    if codes is None:
        ax.scatter(*points.T, s=18, color=LINE, label="samples", zorder=3)
    elif wording.classes is None:
        ax.scatter(*points.T, s=24, c=codes, cmap="Blues", edgecolors=INK, linewidths=0.5,
                   label="samples", zorder=3)  # fmt: skip
    else:
        scatter_classes(ax, points, codes, [one_line(str(name)) for name in wording.classes])
    ax.set(xlim=plane.limits[0], ylim=plane.limits[1], xlabel=plane.names[0])
    if len(plane.columns) == 2:
        ax.set_ylabel(plane.names[1])
    else:
        ax.set_yticks([])
    return ax


def _scale(ax: Any, drawing: Drawing) -> float:
    """How much smaller than drawn the axes are: letters shrink with the boxes."""
    figure = ax.figure
    place = ax.get_position()
    width = place.width * figure.get_figwidth() * _INCH / drawing.width
    height = place.height * figure.get_figheight() * _INCH / drawing.height
    return float(min(width, height))


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


FONT_SIZE, LINE_HEIGHT = 12, 15.0
_PAD, _BAR = 8.0, 7.0
_GAP_ACROSS, _GAP_ALONG = {"down": 12.0, "right": 7.0}, {"down": 34.0, "right": 40.0}
_NARROWEST, _WIDEST = 64.0, 220.0  # text of a box
_LEAST_NAME = 80.0  # what is left of a long name beside a long set
_MOST_LEAVES = 60  # shown at once, unless a depth is asked for
_DOWN = 10  # leaves up to which a tree grows downwards
_MOST_CLASSES = 12  # named in the legend


class Box(NamedTuple):
    """One node: its corner, its lines, and the bar at its lower edge."""

    node: int
    x: float
    y: float
    lines: tuple[str, ...]
    bar: tuple[tuple[float, str], ...]  # fractions and colours
    fill: str
    edge: str
    leaf: bool
    title: str  # everything, unshortened


@dataclass(frozen=True)
class Drawing:
    """Boxes and lines between them, in points, y downwards."""

    width: float
    height: float
    box_width: float
    box_height: float
    direction: str
    boxes: tuple[Box, ...]
    links: tuple[tuple[int, int], ...]  # positions in ``boxes``: parent, child
    legend: tuple[tuple[str, str], ...]  # name and colour
    note: str


def lay_out(
    tree: Tree, wording: Wording, max_depth: int | None = None, direction: str = "auto"
) -> Drawing:
    """The drawing of a tree down to a depth."""
    deepest = _deepest(tree, max_depth)
    nodes = preorder(tree, deepest)
    ends = [t for t in nodes if tree.left[t] < 0 or tree.depth[t] == deepest]
    if direction == "auto":
        direction = "down" if len(ends) <= _DOWN else "right"
    across = _places(tree, nodes, set(ends))
    paint = _painter(tree, wording)
    texts = {t: _lines(tree, wording, t, t in ends) for t in nodes}
    widest = max(
        width_of(line, bold=k == 1 and bool(tree.left[t] < 0))
        for t, lines in texts.items()
        for k, line in enumerate(lines)
    )
    n_lines = max(map(len, texts.values()))
    width = max(widest, _NARROWEST) + 2 * _PAD
    height = LINE_HEIGHT * n_lines + 2 * _PAD + _BAR
    legend = paint.legend()
    name_width = _entry_width(legend)
    hidden = tree.n_leaves - sum(1 for t in ends if tree.left[t] < 0)
    note = (
        f"Down to depth {deepest}: {hidden} of {tree.n_leaves} leaves are not shown."
        if hidden
        else ""
    )
    span, steps = max(across.values()), max(int(tree.depth[t]) for t in nodes)
    gap, step = _GAP_ACROSS[direction], _GAP_ALONG[direction]
    if direction == "down":
        place = {t: (across[t] * (width + gap), tree.depth[t] * (height + step)) for t in nodes}
        total = (span * (width + gap) + width, steps * (height + step) + height)
    else:
        place = {t: (tree.depth[t] * (width + step), across[t] * (height + gap)) for t in nodes}
        total = (steps * (width + step) + width, span * (height + gap) + height)
    room = max(total[0], width_of(note))
    rows = legend_rows(len(legend), name_width, room)
    top = _PAD + 18.0 * (rows + bool(note)) + 8.0 * bool(rows or note)
    place_of = {t: k for k, t in enumerate(nodes)}
    boxes = tuple(
        Box(
            t, _PAD + float(place[t][0]), top + float(place[t][1]),
            tuple(texts[t]), paint.bar(t), paint.fill(t), paint.edge(t),
            bool(tree.left[t] < 0), _title(tree, wording, t),
        )
        for t in nodes
    )  # fmt: skip
    return Drawing(
        width=max(room, name_width) + 2 * _PAD, height=total[1] + top + _PAD, box_width=width,
        box_height=height, direction=direction, boxes=boxes,
        links=tuple((place_of[int(tree.parent[t])], k) for k, t in enumerate(nodes) if t),
        legend=legend, note=note,
    )  # fmt: skip


def _entry_width(legend: tuple[tuple[str, str], ...]) -> float:
    return max((width_of(name) + 34.0 for name, _ in legend), default=0.0)


def legend_rows(count: int, name_width: float, room: float) -> int:
    """Lines that the legend takes."""
    return -(-count // max(1, int(room // name_width))) if count else 0


def legend_places(drawing: Drawing) -> list[tuple[float, float]]:
    """Corner of each entry of the legend."""
    width = _entry_width(drawing.legend)
    each = max(1, int((drawing.width - 2 * _PAD) // width)) if width else 1
    return [
        (_PAD + width * (k % each), _PAD + 18.0 * (k // each)) for k in range(len(drawing.legend))
    ]


def _deepest(tree: Tree, max_depth: int | None) -> int:
    """The depth down to which a tree is drawn: as asked, else as far as it stays readable."""
    if max_depth is not None:
        return min(max_depth, tree.max_depth)
    # drawn down to d, the ends are the leaves above and all nodes at d
    leaves = np.bincount(tree.depth[tree.is_leaf], minlength=tree.max_depth + 1)
    nodes = np.bincount(tree.depth, minlength=tree.max_depth + 1)
    ends = np.cumsum(leaves) - leaves + nodes
    return max(1, int(np.flatnonzero(ends <= _MOST_LEAVES).max())) if tree.max_depth else 0


def _places(tree: Tree, nodes: list[int], ends: set[int]) -> dict[int, float]:
    """Place of each node across the direction of growth, in boxes, from 0."""
    outline: dict[int, list[list[float]]] = {}  # by depth below the node: first and last place
    shift: dict[int, float] = {}  # of a child from its parent
    for t in reversed(nodes):
        if t in ends:
            outline[t] = [[0.0, 0.0]]
            continue
        left, right = int(tree.left[t]), int(tree.right[t])
        a, b = outline.pop(left), outline.pop(right)
        apart = max(last - first + 1.0 for (_, last), (first, _) in zip(a, b, strict=False))
        shift[left], shift[right] = -apart / 2, apart / 2
        rows = [[0.0, 0.0]]
        for depth in range(max(len(a), len(b))):
            of_a = [p - apart / 2 for p in a[depth]] if depth < len(a) else None
            of_b = [p + apart / 2 for p in b[depth]] if depth < len(b) else None
            rows.append([(of_a or of_b)[0], (of_b or of_a)[1]])  # type: ignore[index]
        outline[t] = rows
    place = {nodes[0]: 0.0}
    for t in nodes[1:]:
        place[t] = place[int(tree.parent[t])] + shift[t]
    least = min(place.values())
    return {t: p - least for t, p in place.items()}


# --------------------------------------------------------------------------------------- words


def _lines(tree: Tree, wording: Wording, t: int, end: bool) -> list[str]:
    rest = f", n = {tree.n_samples[t]}"
    if wording.classes is not None:
        rest = f" {percent(float(class_fractions(tree, t)[int(tree.prediction[t])]))}{rest}"
    bold = bool(tree.left[t] < 0)
    room = (_WIDEST - width_of(rest, bold)) / (_BOLD if bold else 1.0)
    lines = [_condition(tree, wording, t), cut(wording.prediction(tree, t), room) + rest]
    if end and tree.left[t] >= 0:
        below = sum(1 for u in preorder(tree, top=t) if tree.left[u] < 0)
        lines.append(f"... {below} leaves below")
    return lines


def _condition(tree: Tree, wording: Wording, t: int) -> str:
    """How to get to a node. What tells it from its sibling stays: the name gives way first."""
    line = wording.condition(tree, t)
    above = int(tree.parent[t])
    split = tree.splits[above] if above >= 0 else None
    if split is None or width_of(line) <= _WIDEST:
        return line
    if len(split.features) > 1:  # a sum, which gives way to its limit
        at = max(line.rfind(" <= "), line.rfind(" > "))
        return cut(line, _WIDEST, line[at:])
    name = wording.feature(split.features[0])
    if line.startswith(name):
        over = width_of(line) - _WIDEST
        line = cut(name, max(width_of(name) - over, _LEAST_NAME)) + line[len(name) :]
    return cut(line, _WIDEST, "")


def cut(text: str, room: float, tail: str | None = None) -> str:
    """Text that is not wider than ``room``; what is left out is left out before the tail."""
    if width_of(text) <= room:
        return text
    if tail is None:  # the end often tells long names apart
        backwards = text[::-1]
        tail = backwards[: _letters(backwards, room / 3)][::-1].lstrip()
    return text[: _letters(text, room - width_of("…" + tail))].rstrip() + "…" + tail


def _letters(text: str, room: float) -> int:
    """How many letters from the beginning there is room for."""
    widths = np.cumsum([width_of(letter) for letter in text])
    return int(np.searchsorted(widths, room, side="right"))


#: Widths of letters of DejaVu Sans at size 12; others are about as wide as digits.
_WIDTHS = {
    letter: width
    for letters, width in (
        (" ,./:;\\f|'IJijl", 4.0),
        ('()-[]t!r"', 5.0),
        ("*_`?Lcsz", 6.4),
        ("ABKVXZCR", 8.3),
        ("DHNUGOQ&", 9.4),
        ("#+<=>^w~", 10.1),
        ("M%mW@…", 11.9),
    )
    for letter in letters
}
_BOLD = 1.12


def width_of(text: str, bold: bool = False) -> float:
    """About how wide a text is, in points."""
    width = sum(
        _WIDTHS.get(c) or (12.0 if unicodedata.east_asian_width(c) in "WF" else 7.7) for c in text
    )
    return width * (_BOLD if bold else 1.0)


def _title(tree: Tree, wording: Wording, t: int) -> str:
    """What a reader sees who points at a box."""
    lines = [f"node {t}: {wording.condition(tree, t)}", f"predicts {wording.prediction(tree, t)}"]
    held = percent(float(tree.weight[t] / tree.weight[0]))
    lines.append(f"{counted(int(tree.n_samples[t]), 'sample')}, {held} of all")
    if wording.classes is not None:
        found = class_fractions(tree, t)
        most = [k for k in np.argsort(-found, kind="stable")[:_MOST_CLASSES] if found[k] > 0]
        lines += [f"{one_line(str(wording.classes[k]))}: {percent(float(found[k]))}" for k in most]
    else:
        lines.append(f"impurity {tree.impurity[t]:.6g}")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------- colours


class _Classes:
    """Boxes in a pale tint of the class predicted; bars of the class fractions."""

    def __init__(self, tree: Tree, wording: Wording):
        self.tree = tree
        assert wording.classes is not None
        self.names = [one_line(str(label)) for label in wording.classes]
        self.colours = colours(len(self.names))

    def fill(self, t: int) -> str:
        return tint(self.edge(t), 0.18)

    def edge(self, t: int) -> str:
        return self.colours[int(self.tree.prediction[t])]

    def bar(self, t: int) -> tuple[tuple[float, str], ...]:
        found = class_fractions(self.tree, t)
        return tuple((float(s), c) for s, c in zip(found, self.colours, strict=True) if s > 0)

    def legend(self) -> tuple[tuple[str, str], ...]:
        entries = [(cut(n, _WIDEST), c) for n, c in zip(self.names, self.colours, strict=True)]
        if len(entries) > _MOST_CLASSES:
            more = len(entries) - _MOST_CLASSES
            entries = [*entries[:_MOST_CLASSES], (f"and {more} more classes", "#ffffff")]
        return tuple(entries)


class _Numbers:
    """Boxes darker, and bars longer, the larger the mean."""

    def __init__(self, tree: Tree):
        self.tree = tree
        low, high = float(tree.prediction.min()), float(tree.prediction.max())
        self.fraction = (tree.prediction - low) / (high - low if high > low else 1.0)

    def fill(self, t: int) -> str:
        return tint(PALETTE[0], 0.05 + 0.30 * float(self.fraction[t]))

    def edge(self, t: int) -> str:
        return PALETTE[0]

    def bar(self, t: int) -> tuple[tuple[float, str], ...]:
        fraction = float(self.fraction[t])
        return ((fraction, PALETTE[0]), (1.0 - fraction, "#ffffff"))

    def legend(self) -> tuple[tuple[str, str], ...]:
        return ()


def _painter(tree: Tree, wording: Wording) -> Any:
    return _Numbers(tree) if wording.classes is None else _Classes(tree, wording)
