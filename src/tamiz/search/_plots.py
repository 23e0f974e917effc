"""The picture of a search: the best score by number of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.base import PathStep, Selection
from tamiz.display.selection_plot import axes, quantity


def plot_sizes(selection: Selection, ax: Any = None) -> Any:
    """Best score met at each number of features, its standard error, and the number chosen."""
    ax = axes(ax)
    best = best_by_size(selection.path)
    if not best:
        raise ValueError(f"{selection.method} judged no subset; there is nothing to draw.")
    sizes = np.array(list(best))
    value = np.array([step.value for step in best.values()])
    spread = np.array([(step.details or {}).get("standard_error", 0.0) for step in best.values()])
    (line,) = ax.plot(sizes, value, marker="o", ms=4, label="best subset met of each size")
    if spread.any():
        ax.fill_between(
            sizes,
            value - spread,
            value + spread,
            color=line.get_color(),
            alpha=0.2,
            lw=0,
            label="± one standard error over the splits",
        )
    chosen = int(selection.support.sum())
    ax.axvline(chosen, color="0.6", ls="--", lw=1, zorder=0)
    mark = selection.notes.get("score")
    if mark is not None and np.isfinite(mark):
        ax.plot([chosen], [mark], "o", ms=9, mfc="none", mec="tab:red", mew=1.5, label="selected")
    ax.set(xlabel="number of features", ylabel=quantity(selection))
    whole_numbers(ax.xaxis)
    ax.legend(fontsize="small")
    ax.set_title(f"{selection.method}: {chosen} of {len(selection.support)} features selected")
    return ax


def whole_numbers(axis: Any) -> None:
    """Ticks at whole numbers only, unless someone has placed them already."""
    from matplotlib.ticker import MaxNLocator

    locator = axis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        locator.set_params(integer=True)


def best_by_size(path: list[PathStep]) -> dict[int, PathStep]:
    """Of all subsets judged, the best of each number of features, ascending."""
    best: dict[int, PathStep] = {}
    for step in path:
        if step.action != "visit" or step.value is None or not np.isfinite(step.value):
            continue
        rival = best.get(step.n_features)
        if rival is None or rival.value is None or step.value > rival.value:
            best[step.n_features] = step
    return dict(sorted(best.items()))
