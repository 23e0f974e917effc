"""Tuning: the cells of a grid with their errors, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.base import _plain
from tamiz.display.html import html_table
from tamiz.display.tables import frames
from tamiz.evaluation.tuning.grid import is_number, shown
from tamiz.evaluation.tuning.plot import plot_tuning

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
    """

    params: dict[str, Any]
    errors: np.ndarray
    seconds: float = np.nan
    failure: str | None = None
    n_samples: int | None = None

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
        if any(cell.n_samples is not None for cell in self.cells):
            table["n_samples"] = [cell.n_samples for cell in self.cells]
        table["chosen"] = [k == self.best_index for k in range(len(self.cells))]
        return pd.DataFrame(table)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON; what is not known is None."""
        return {
            "metric": self.metric,
            "choose": self.choose,
            "best_params": _plain(self.best_params),
            "best_error": _plain(self.best_error),
            "best_std": _plain(self.best_std),
            "best_index": self.best_index,
            "cells": [
                {
                    "params": _plain(cell.params),
                    "error": _plain(cell.error),
                    "std": _plain(cell.std),
                    "errors": _plain(cell.errors),
                    "seconds": _plain(cell.seconds),
                    "n_samples": cell.n_samples,
                    "failure": cell.failure,
                }
                for cell in self.cells
            ],
            "n_splits": self.n_splits,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "edges": list(self.edges),
            "notes": _plain(self.notes),
        }

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
    that differ from the best in parameters of which it is known what makes them simpler, and in
    none towards the complicated.
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
