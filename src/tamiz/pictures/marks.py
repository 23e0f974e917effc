"""What is drawn into a plane: boundaries, regions, slack, samples in the marks of their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tamiz.display import INK, LINE, colours, tint
from tamiz.pictures.plane import Plane, with_heights

#: Marks of the classes, in their order; they begin again after the last.
MARKS = "os^Dv<>P"
_SHADE = 0.45  # how much of a class's colour is left where the machine is sure


def codes_of(machine: Any, y: Any, known: bool = True) -> np.ndarray:
    """Positions of labels among the classes; -1 (or an error) for labels that are none of them."""
    classes, y = np.asarray(machine.classes_), np.asarray(y)
    place = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)
    if known and (codes < 0).any():
        label = y[codes < 0].tolist()[0]
        raise ValueError(
            f"y holds the label {label!r}, which the machine does not know: its classes are "
            f"{', '.join(map(repr, classes.tolist()))}."
        )
    return codes


def scatter_classes(ax: Any, points: Any, codes: np.ndarray, names: Sequence[str]) -> None:
    """Samples in the colours and marks of their classes, which the legend names."""
    for k, (name, colour) in enumerate(zip(names, colours(len(names)), strict=True)):
        ax.scatter(
            *points[codes == k].T, s=22, marker=MARKS[k % len(MARKS)], color=colour,
            edgecolors="white", linewidths=0.5, label=name, zorder=3,
        )  # fmt: skip


def outer_legend(ax: Any) -> None:
    """A legend to the right of the axes, where it hides nothing."""
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize="small",
        frameon=False,
    )  # fmt: skip


def draw_boundary(
    ax: Any,
    plane: Plane,
    values: np.ndarray,
    margins: Sequence[float],
    sides: tuple[str, str],
) -> dict[float, list[np.ndarray]]:
    """Shading, boundary and margins; the lines drawn, by level."""
    from matplotlib.colors import LinearSegmentedColormap

    first, second = plane.grid()
    largest = 2.0 * max(margins) if margins else float(np.quantile(np.abs(values), 0.98)) or 1.0
    blend = LinearSegmentedColormap.from_list(
        "sides", [tint(sides[0], _SHADE), "#ffffff", tint(sides[1], _SHADE)]
    )
    ax.pcolormesh(
        first, second, values, cmap=blend, vmin=-largest, vmax=largest, shading="gouraud",
        rasterized=True, zorder=0,
    )  # fmt: skip
    drawn: dict[float, list[np.ndarray]] = {}
    for level in (0.0, *margins):
        if not values.min() < level < values.max():
            drawn[level] = []  # matplotlib would warn
            continue
        lines = ax.contour(
            first, second, values, [level], colors=INK, linewidths=1.6 if level == 0 else 1.0,
            linestyles="solid" if level == 0 else "dashed", zorder=1,
        )  # fmt: skip
        drawn[level] = _pieces(lines.get_paths())
    ax.plot([], [], color=INK, lw=1.6, label="boundary")
    if margins:
        ax.plot([], [], color=INK, lw=1.0, ls="--", label="margins")
    return drawn


def _pieces(paths: Sequence[Any]) -> list[np.ndarray]:
    """The connected lines of some paths, each with its points."""
    pieces = [
        piece
        for path in paths
        if len(path.vertices)
        for piece in np.split(path.vertices, np.flatnonzero(path.codes == path.MOVETO)[1:])
    ]
    return [piece for piece in pieces if len(piece) > 1]


def draw_regions(ax: Any, plane: Plane, codes: np.ndarray, palette: Sequence[str]) -> None:
    """A tint for each class, white where no class was said, and lines between them."""
    from matplotlib.colors import ListedColormap

    first, second = plane.grid()
    paints = ["#ffffff", *(tint(colour, 0.35) for colour in palette)]
    ax.pcolormesh(
        first, second, codes, cmap=ListedColormap(paints), vmin=-1.5, vmax=len(palette) - 0.5,
        shading="nearest", rasterized=True, zorder=0,
    )  # fmt: skip
    present = np.unique(codes)
    for code in present if len(present) > 1 else ():
        ax.contour(first, second, codes == code, [0.5], colors=INK, linewidths=0.6, zorder=1)


def draw_slack(
    ax: Any,
    plane: Plane,
    normal: np.ndarray | None,
    X: np.ndarray,
    heights: np.ndarray,
    values: np.ndarray,
    level: np.ndarray,
    lines: Mapping[float, list[np.ndarray]],
    above: bool = False,
) -> None:
    """Lines from the samples on the wrong side of their level to it.

    The level is reached along ``normal``, the gradient of decision values that are linear; of
    others, at its nearest point in the picture.
    """
    side = np.where(above, 1.0, np.sign(level))
    violated = side * (level - values) > 1e-6 * max(1.0, float(np.abs(level).max()))
    starts = with_heights(plane, X, heights)[violated]
    if normal is not None:
        w = normal[list(plane.columns)]
        step = np.outer((level - values)[violated] / float(w @ w), w) if w.any() else None
        if step is None:
            return
        ends = starts.copy()
        ends[:, : step.shape[1]] += step
        draw_segments(ax, starts, ends)
        return
    wanted = level[violated]
    reached = [
        (start, _nearest(start, lines.get(float(goal), [])))
        for start, goal in zip(starts, wanted, strict=True)
    ]
    pairs = [(start, end) for start, end in reached if end is not None]
    if pairs:
        draw_segments(ax, np.array([s for s, _ in pairs]), np.array([e for _, e in pairs]))


def _nearest(point: np.ndarray, lines: Sequence[np.ndarray]) -> np.ndarray | None:
    """The nearest point of some polygonal lines; None without lines."""
    best, least = None, np.inf
    for line in lines:
        begin, along = line[:-1], np.diff(line, axis=0)
        length = np.maximum((along**2).sum(axis=1), 1e-300)
        t = np.clip(((point - begin) * along).sum(axis=1) / length, 0.0, 1.0)
        feet = begin + t[:, None] * along
        far = ((feet - point) ** 2).sum(axis=1)
        k = int(far.argmin())
        if far[k] < least:
            best, least = feet[k], float(far[k])
    return best


def draw_segments(ax: Any, starts: np.ndarray, ends: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    if len(starts):
        pairs = np.stack([starts, ends], axis=1)
        ax.add_collection(
            LineCollection(list(pairs), colors=LINE, linewidths=1.0, label="slack", zorder=2),
            autolim=False,
        )
