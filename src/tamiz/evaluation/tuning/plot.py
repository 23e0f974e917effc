"""The picture of a grid: filled contours over two parameters, a line over one.

Axes are logarithmic where all candidates are positive and their ratios are more even than their
differences. Of more than two parameters two are drawn, and each point is the least error over the
rest. Filled contours need the errors of a full rectangle; where cells are missing, as after a
random search, cells are drawn as points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.display.selection_plot import axes
from tamiz.evaluation.tuning.grid import is_number, shown

if TYPE_CHECKING:
    from tamiz.evaluation.tuning.result import Cell, Tuning

_COLOURS = "viridis_r"  # the best is bright, and grey print keeps the order
_LEVELS = 12
_MOST_LABELS = 100  # cells of a heat map that get their error as a number
_MOST_TICKS = 12


def plot_tuning(tuning: Tuning, ax: Any, params: Sequence[str] | None, kind: str) -> Any:
    """Draw into ``ax``, or into a new figure with a panel for each kernel."""
    if kind not in _MAPS:
        raise ValueError(f"kind={kind!r} is not known; use 'contour' or 'heat'.")
    panels = _panels(tuning)
    if ax is not None or len(panels) == 1:
        title = next(name for name, cells in panels.items() if tuning.best in cells)
        place = axes(ax)
        _draw(tuning, panels[title], place, params, kind, title if len(panels) > 1 else "")
        return place
    places = _row_of_axes(len(panels))
    for place, (name, cells) in zip(places, panels.items(), strict=True):
        _draw(tuning, cells, place, params, kind, name)
    return places


def _row_of_axes(count: int) -> Any:
    figure = axes().figure
    figure.clear()
    figure.set_size_inches(5.2 * count, 4.5)
    return figure.subplots(1, count)


def _panels(tuning: Tuning) -> dict[str, list[Cell]]:
    """Cells by what is no number in them: kernels, mostly."""
    panels: dict[str, list[Cell]] = {}
    top = max(cell.n_samples or 0 for cell in tuning.cells)
    for cell in tuning.cells:
        if (cell.n_samples or 0) < top:
            continue  # the early rungs of a halving are errors of other machines
        words = {k: v for k, v in cell.params.items() if not is_number(v)}
        panels.setdefault(shown(words), []).append(cell)
    return panels


def _draw(tuning: Tuning, cells: list[Cell], ax: Any, params: Any, kind: str, title: str) -> None:
    names = _names(tuning, cells, params)
    if not names:
        ax.text(0.5, 0.5, f"{tuning.metric} {cells[0].error:.4g}", ha="center", va="center")
        ax.set_axis_off()
    elif len(names) == 1:
        _draw_line(tuning, cells, names[0], ax)
    else:
        _draw_map(tuning, cells, names, kind, ax)
    if title:
        ax.set_title(title)


def _names(tuning: Tuning, cells: list[Cell], params: Any) -> list[str]:
    """The parameters to draw: those asked for, else the first two that vary, gamma across."""
    varying = [
        name
        for name in tuning.names
        if len({cell.params[name] for cell in cells if is_number(cell.params.get(name))}) > 1
    ]
    if params is None:
        two = varying if len(varying) <= 2 else _most_telling(cells, varying)
        # as textbooks draw it: gamma to the right, C upwards
        return sorted(two, key=lambda name: name.rpartition("__")[2] == "C")
    wanted = [params] if isinstance(params, str) else list(params)
    if not 1 <= len(wanted) <= 2:
        raise ValueError(f"params={params!r} must name one or two parameters.")
    for name in wanted:
        if name not in tuning.names:
            raise ValueError(
                f"params names {name!r}, which is not in the grid; that has "
                f"{', '.join(tuning.names)}."
            )
    return [name for name in wanted if name in varying]


def _most_telling(cells: list[Cell], varying: list[str]) -> list[str]:
    """The two parameters along which the least error changes most."""

    def spread(name: str) -> float:
        least = list(_least_by(cells, (name,)).values())
        finite = [cell.error for cell in least if np.isfinite(cell.error)]
        return max(finite) - min(finite) if finite else 0.0

    return sorted(sorted(varying, key=spread, reverse=True)[:2], key=varying.index)


def _least_by(cells: list[Cell], names: tuple[str, ...]) -> dict[tuple[float, ...], Cell]:
    """The best cell at each place."""
    found: dict[tuple[float, ...], Cell] = {}
    for cell in cells:
        if not all(is_number(cell.params.get(name)) for name in names):
            continue
        place = tuple(float(cell.params[name]) for name in names)
        if place not in found or cell.error < found[place].error or np.isnan(found[place].error):
            found[place] = cell
    return found


def _is_log(values: np.ndarray) -> bool:
    """Whether ratios of neighbours are more even than their differences."""
    if len(values) < 3:
        return bool((values > 0).all() and values.max() >= 10 * values.min())
    if not (values > 0).all():
        return False
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return bool(ratios.std() / ratios.mean() < steps.std() / steps.mean())


def _draw_line(tuning: Tuning, cells: list[Cell], name: str, ax: Any) -> None:
    best = _least_by(cells, (name,))
    order = sorted(best)
    x = np.array([place[0] for place in order])
    mean = np.array([best[place].error for place in order])
    spread = np.nan_to_num(np.array([best[place].standard_error for place in order]))
    ax.errorbar(x, mean, yerr=spread, marker="o", ms=4, capsize=3, lw=1.3)
    if tuning.best in cells and is_number(tuning.best.params.get(name)):
        ax.plot(float(tuning.best.params[name]), tuning.best_error, "r*", ms=14, label="chosen")
        ax.legend(frameon=False)
    if _is_log(x):
        ax.set_xscale("log")
    ax.set(xlabel=name, ylabel=f"{tuning.metric} (± standard error)")


def _draw_map(tuning: Tuning, cells: list[Cell], names: list[str], kind: str, ax: Any) -> None:
    best = _least_by(cells, tuple(names))
    places = np.array(sorted(best))
    logs = [_is_log(np.unique(places[:, k])) for k in range(2)]
    at = np.column_stack([np.log10(places[:, k]) if logs[k] else places[:, k] for k in range(2)])
    values = np.array([best[tuple(place)].error for place in places])
    x, y = np.unique(at[:, 0]), np.unique(at[:, 1])
    if len(x) * len(y) == len(values) and np.isfinite(values).all() and np.ptp(values) > 0:
        picture = _MAPS[kind](x, y, values.reshape(len(x), len(y)).T, ax)
    else:
        finite = np.isfinite(values)
        picture = ax.scatter(*at[finite].T, c=values[finite], cmap=_COLOURS, s=60)
        ax.plot(*at[~finite].T, "x", color="0.5")
    if tuning.best in cells:
        chosen = [float(tuning.best.params[name]) for name in names]
        star = [np.log10(v) if log else v for v, log in zip(chosen, logs, strict=True)]
        ax.plot(*star, "r*", ms=15, mec="white", clip_on=False, zorder=5)
        label = f"{shown({n: tuning.best.params[n] for n in names})}: {tuning.best_error:.4g}"
        ax.set_title(label, fontsize="medium")
    for axis, name, log, ticks in zip((ax.xaxis, ax.yaxis), names, logs, (x, y), strict=True):
        axis.set_label_text(f"log10({name})" if log else name)
        if len(ticks) <= _MOST_TICKS:
            axis.set_ticks(ticks, [f"{tick:.3g}" for tick in ticks])
    ax.figure.colorbar(picture, ax=ax, label=tuning.metric, format="%.3g")


def _levels(table: np.ndarray) -> np.ndarray:
    """Steps of colour: even in ratio where errors differ by much, so that the good part shows."""
    low, high = float(table.min()), float(table.max())
    if low > 0 and high > 4 * low:
        return np.geomspace(low, high * 1.0001, _LEVELS)
    return np.linspace(low, high + 1e-9 * max(1.0, abs(high)), _LEVELS)


def _contour(x: np.ndarray, y: np.ndarray, table: np.ndarray, ax: Any) -> Any:
    from matplotlib.colors import BoundaryNorm

    levels = _levels(table)
    picture = ax.contourf(
        x, y, table, levels=levels, cmap=_COLOURS, norm=BoundaryNorm(levels, 256), extend="neither"
    )
    ax.plot(*(side.ravel() for side in np.meshgrid(x, y)), ".", color="0.25", ms=3)
    return picture


def _heat(x: np.ndarray, y: np.ndarray, table: np.ndarray, ax: Any) -> Any:
    from matplotlib.colors import BoundaryNorm

    norm = BoundaryNorm(_levels(table), 256)
    picture = ax.pcolormesh(x, y, table, cmap=_COLOURS, norm=norm, shading="nearest")
    if table.size <= _MOST_LABELS:
        middle = 0.5 * (norm(table.min()) + norm(table.max()))
        for i, j in np.ndindex(table.shape):
            colour = "white" if norm(table[i, j]) > middle else "black"
            ax.annotate(
                f"{table[i, j]:.3g}",
                (x[j], y[i]),
                xytext=(0, 5),  # above the middle, where the star may be
                textcoords="offset points",
                ha="center",
                size="small",
                color=colour,
            )
    return picture


_MAPS = {"contour": _contour, "heat": _heat}
