"""Tuning: the cells of a grid with their errors, the choice among them, and their picture.

The picture has filled contours over two parameters, a line over one. Axes are logarithmic where all
candidates are positive and their ratios are more even than their differences. Of more than two
parameters two are drawn, and each point is the least error over the rest. Filled contours need the
errors of a full rectangle; where cells are missing, as after a random search, cells are drawn as
points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.base import json_ready
from tamiz.display import PALETTE, axes, frames, html_table
from tamiz.evaluation.tuning.grid import is_number, shown
from tamiz.validation import checked, one_of

if TYPE_CHECKING:
    import pandas as pd

#: Which way a parameter makes a model simpler: 1 if small values do, -1 if large ones do.
SIMPLER = {
    "C": 1,
    "gamma": 1,
    "degree": 1,
    "length": 1,
    "max_depth": 1,
    "max_leaf_nodes": 1,
    "epsilon": -1,
    "alpha": -1,
    "n_neighbors": -1,
    "min_samples_leaf": -1,
    "min_samples_split": -1,
    "ccp_alpha": -1,
}
#: Values beyond which there are none.
_ENDS = {("degree", 1.0), ("length", 1.0), ("decay", 1.0)}
_SHOWN = 10
_COLOURS = "viridis_r"  # the best is bright, and grey print keeps the order
_LEVELS = 12
_MOST_LABELS = 100  # cells of a heat map that get their error as a number
_MOST_TICKS = 12


@dataclass(eq=False)
class Cell:
    """One combination of parameters.

    Attributes
    ----------
    params : dict
        The parameters.
    errors : array of shape (n_splits,)
        Error on each split; NaN where the estimator failed or the run was stopped.
    seconds : float
        Mean time of fitting and judging on one split.
    failure : str or None
        What the estimator said, if it failed.
    n_samples : int or None
        How many samples a rung of successive halving used; None for all.
    gaps : array of shape (n_splits,) or None
        Duality gap of the machine of each split, beside its objective: how far it can be from the
        optimum. Known where a card solved it (``device`` of ``tune``), NaN elsewhere.
    """

    params: dict[str, Any]
    errors: np.ndarray
    seconds: float = np.nan
    failure: str | None = None
    n_samples: int | None = None
    gaps: np.ndarray | None = None

    @property
    def error(self) -> float:
        """Mean error; NaN if a split is missing."""
        return float(self.errors.mean())

    @property
    def mean(self) -> float:
        """The same as ``error``."""
        return self.error

    @property
    def std(self) -> float:
        """Standard deviation over the splits (dispersion); NaN with one split."""
        return float(self.errors.std(ddof=1)) if len(self.errors) > 1 else np.nan

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN with one split."""
        return self.std / float(np.sqrt(len(self.errors)))


@dataclass(repr=False)
class Tuning:
    """What :func:`tamiz.evaluation.tune` found.

    Attributes
    ----------
    cells : list of Cell
        Every combination of parameters with its errors, in the order of the grid.
    metric : str
        What the errors are, such as "1 - accuracy".
    best_index : int
        Position of the chosen cell.
    choose : {"best", "1se"}
        The rule it was chosen by.
    best_estimator : estimator or None
        Fitted to all samples with the parameters chosen; None without ``refit`` or after Ctrl-C.
    names : list of str
        Names of the parameters in the grid.
    n_splits : int
        Number of splits.
    seconds : float
        Time that everything took.
    interrupted : bool
        Whether Ctrl-C ended the run: cells may then be missing (NaN).
    edges : list of str
        Sentences about parameters whose best value is the least or the greatest of the grid.
    notes : dict
        How the work was done: the search, and how many cells took the fast way.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz import tune
    >>> X, y = load_iris(return_X_y=True)
    >>> tuning = tune(X, y, grid={"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}, cv=5)
    >>> tuning
    <Tuning: C=1, gamma=0.1 with 1 - accuracy 0.0267 ± 0.0279, 9 cells, 5 splits>
    >>> tuning.best_estimator.predict(X[:2]).tolist()
    [0, 0]
    """

    cells: list[Cell]
    metric: str
    best_index: int
    choose: str
    best_estimator: Any
    names: list[str]
    n_splits: int
    seconds: float = 0.0
    interrupted: bool = False
    edges: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> Cell:
        """The chosen cell."""
        return self.cells[self.best_index]

    @property
    def best_params(self) -> dict[str, Any]:
        """Parameters of the chosen cell, as the grid named them."""
        return dict(self.best.params)

    @property
    def best_error(self) -> float:
        """Mean error of the chosen cell. As the least of many it is a little optimistic."""
        return self.best.error

    @property
    def best_std(self) -> float:
        """Standard deviation of the errors of the chosen cell over the splits."""
        return self.best.std

    @property
    def largest_gap(self) -> float | None:
        """The largest relative duality gap of the machines that a card solved; None if none."""
        known = [cell.gaps for cell in self.cells if cell.gaps is not None]
        gaps = np.concatenate(known) if known else np.empty(0)
        gaps = gaps[~np.isnan(gaps)]
        return float(gaps.max()) if len(gaps) else None

    @property
    def errors(self) -> np.ndarray:
        """Errors, (n_cells, n_splits)."""
        return np.array([cell.errors for cell in self.cells])

    def __repr__(self) -> str:
        spread = "" if np.isnan(self.best_std) else f" ± {self.best_std:.3g}"
        stopped = ", interrupted" if self.interrupted else ""
        return (
            f"<Tuning: {shown(self.best.params)} with {self.metric} {self.best_error:.3g}{spread}, "
            f"{len(self.cells)} cells, {self.n_splits} splits{stopped}>"
        )

    def __str__(self) -> str:
        """The best cells as a table."""
        table = self._table()
        widths = [max(len(line[c]) for line in table) for c in range(len(table[0]))]
        lines = [
            "  ".join(t.rjust(w) for t, w in zip(line, widths, strict=True)).rstrip()
            for line in table
        ]
        return "\n".join([*lines, *self._remarks()])

    def _repr_html_(self) -> str:
        """The best cells as a table, in notebooks."""
        head, *rows = self._table()
        return html_table(repr(self)[1:-1], head, rows, self._remarks())

    def _table(self) -> list[list[str]]:
        """Names of the columns, and the best cells."""
        rows = [["", *self.names, self.metric, "std", "seconds"]]
        for k in self._order()[:_SHOWN]:
            cell = self.cells[k]
            values = [_text(cell.params.get(name, "")) for name in self.names]
            numbers = [_text(cell.error), _text(cell.std), _text(cell.seconds)]
            rows.append(["*" if k == self.best_index else "", *values, *numbers])
        return rows

    def _remarks(self) -> list[str]:
        """What to know besides the best cells."""
        lines = []
        if len(self.cells) > _SHOWN:
            lines.append(f"… and {len(self.cells) - _SHOWN} more cells")
        if self.choose == "1se":
            lines.append("* the simplest cell within one standard error of the best")
        if self.largest_gap is not None:
            served = sum(cell.gaps is not None for cell in self.cells)
            lines.append(
                f"{served} of {len(self.cells)} cells were solved on {self.notes['device']}, each "
                f"machine within {self.largest_gap:.1e} of its optimum (relative duality gap)"
            )
        if self.interrupted:
            missing = sum(bool(np.isnan(cell.errors).any()) for cell in self.cells)
            lines.append(f"Interrupted: {missing} of {len(self.cells)} cells are not complete.")
        return [*lines, *self.edges]

    def _order(self) -> list[int]:
        means = np.array([cell.error for cell in self.cells])
        rungs = np.array([-(cell.n_samples or 0) for cell in self.cells])
        return np.lexsort([means, rungs]).tolist()

    def to_frame(self) -> pd.DataFrame:
        """One row for each cell, in the order of the grid: parameters, errors, time."""
        pd = frames()
        table: dict[str, Any] = {
            name: [cell.params.get(name) for cell in self.cells] for name in self.names
        }
        table["error"] = [cell.error for cell in self.cells]
        table["std"] = [cell.std for cell in self.cells]
        table["standard_error"] = [cell.standard_error for cell in self.cells]
        for k in range(self.n_splits):
            table[f"split{k}"] = [cell.errors[k] for cell in self.cells]
        table["seconds"] = [cell.seconds for cell in self.cells]
        if self.largest_gap is not None:
            none = np.full(self.n_splits, np.nan)
            table["gap"] = [np.max(none if c.gaps is None else c.gaps) for c in self.cells]
        if any(cell.n_samples is not None for cell in self.cells):
            table["n_samples"] = [cell.n_samples for cell in self.cells]
        table["chosen"] = [k == self.best_index for k in range(len(self.cells))]
        return pd.DataFrame(table)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON; what is not known is None."""
        return {
            "metric": self.metric,
            "choose": self.choose,
            "best_params": json_ready(self.best_params),
            "best_error": json_ready(self.best_error),
            "best_std": json_ready(self.best_std),
            "best_index": self.best_index,
            "cells": [
                {
                    "params": json_ready(cell.params),
                    "error": json_ready(cell.error),
                    "std": json_ready(cell.std),
                    "errors": json_ready(cell.errors),
                    "seconds": json_ready(cell.seconds),
                    "n_samples": cell.n_samples,
                    "failure": cell.failure,
                    **({} if cell.gaps is None else {"gaps": json_ready(cell.gaps)}),
                }
                for cell in self.cells
            ],
            "n_splits": self.n_splits,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "edges": list(self.edges),
            "notes": json_ready(self.notes),
        }

    @checked(kind=one_of("contour", "heat"))
    def plot(
        self, ax: Any = None, *, params: Sequence[str] | None = None, kind: str = "contour"
    ) -> Any:
        """Draw the error over the parameters.

        One number that varies: a line with the standard error of the mean. Two: filled contours, on
        logarithmic axes where the candidates are spaced that way, with the chosen cell marked. Of
        more, two are drawn, and each point is the least error over the rest; each kernel (or other
        choice that is no number) gets a panel if no ``ax`` is given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        params : sequence of one or two str, optional
            Which parameters to draw.
        kind : {"contour", "heat"}, default="contour"
            Filled contours, or a field for each cell with its error in it. Steps of colour are even
            in ratio where errors differ by much.

        Returns
        -------
        ax : matplotlib axes, or an array of them
        """
        return plot_tuning(self, ax, params, kind)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)


# ---------------------------------------------------------------------- the choice


def choose_cell(cells: Sequence[Cell], rule: str) -> int:
    """Position of the cell to take.

    Of equal errors the simplest cell is taken (small C, gamma and degree), then the first. The rule
    "1se" takes the simplest cell whose error is within one standard error of the least, among those
    that differ from the best only in parameters known to make a model simpler or more complex, and
    that are more complex in none of them.
    """
    means = np.array([cell.error for cell in cells])
    rungs = np.array([cell.n_samples or 0 for cell in cells])
    means[rungs < rungs.max()] = np.nan  # rungs of fewer samples say less
    if np.isnan(means).all():
        raise ValueError("no cell is complete: there is nothing to choose from.")
    least = float(np.nanmin(means))
    slack = 1e-12 * max(1.0, abs(least))
    tied = np.flatnonzero(means <= least + slack).tolist()
    best = min(tied, key=lambda k: (complexity(cells[k].params), k))
    spread = cells[best].standard_error
    if rule == "best" or np.isnan(spread):
        return best
    within = np.flatnonzero(means <= least + slack + spread).tolist()
    simpler = [k for k in within if _no_more(cells[k].params, cells[best].params)]
    return min(simpler, key=lambda k: (complexity(cells[k].params), means[k], k))


def complexity(params: dict[str, Any]) -> float:
    """Sum of the logarithms of the parameters that are known to make a model complicated."""
    total = 0.0
    for name, value in params.items():
        way = SIMPLER.get(name.rpartition("__")[2])
        if way and is_number(value) and float(value) > 0:
            total += way * float(np.log10(float(value)))
    return total


def _no_more(params: dict[str, Any], best: dict[str, Any]) -> bool:
    """Whether a cell is nowhere more complicated than the best, and comparable with it."""
    if params.keys() != best.keys():
        return False
    for name, value in params.items():
        way, other = SIMPLER.get(name.rpartition("__")[2]), best[name]
        if way and is_number(value) and is_number(other):
            if way * (float(value) - float(other)) > 0:
                return False
        elif not _same(value, other):
            return False
    return True


def _same(a: Any, b: Any) -> bool:
    return a is b or repr(a) == repr(b)


def find_edges(cells: Sequence[Cell], best: int) -> list[str]:
    """A sentence for each parameter whose best value has nothing beyond it in the grid."""
    means = np.array([cell.error for cell in cells])
    own = cells[best].params
    sentences = []
    for name, value in own.items():
        if not is_number(value):
            continue
        others = [
            k
            for k, cell in enumerate(cells)
            if cell.params.keys() == own.keys() and is_number(cell.params[name])
        ]
        known = sorted({float(cells[k].params[name]) for k in others})
        if len(known) < 3 or float(value) not in (known[0], known[-1]):
            continue
        if (name.rpartition("__")[2], float(value)) in _ENDS:
            continue
        inner = [k for k in others if float(cells[k].params[name]) not in (known[0], known[-1])]
        if inner and np.nanmin(np.append(means[inner], np.inf)) <= means[best] + 1e-12:
            continue  # as good inside
        which, way = ("least", "smaller") if float(value) == known[0] else ("greatest", "larger")
        sentences.append(
            f"The best {name}={value:.4g} is the {which} of the grid: try {way} values too."
        )
    return sentences


# ---------------------------------------------------------------------- picture


def plot_tuning(tuning: Tuning, ax: Any, params: Sequence[str] | None, kind: str) -> Any:
    """Draw into ``ax``, or into a new figure with a panel for each kernel."""
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
    ax.errorbar(x, mean, yerr=spread, color=PALETTE[0], marker="o", ms=4, capsize=3, lw=1.3)
    if tuning.best in cells and is_number(tuning.best.params.get(name)):
        place = float(tuning.best.params[name]), tuning.best_error
        ax.plot(*place, "*", color=PALETTE[1], ms=14, label="chosen")
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
        ax.plot(*star, "*", color=PALETTE[1], ms=15, mec="white", clip_on=False, zorder=5)
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
