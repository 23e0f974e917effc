"""The picture of a pruning sequence: errors against the size of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.display.selection_plot import axes
from tamiz.tree.prune.pruning import MEASURES, growth_curve

if TYPE_CHECKING:
    from tamiz.tree.prune.pruning import PruningPath

_MANY = 30  # trees up to which each gets a mark


def plot_path(path: PruningPath, ax: Any, growth: bool) -> Any:
    """Draw into ``ax``, or into a new figure."""
    measure = MEASURES[path.measure]
    sizes = measure.of(path)
    ax = axes(ax)
    mark = "o" if len(path) <= _MANY else None
    if growth:
        leaves, depths, errors = growth_curve(path.full)
        grown = {"mean_depth": depths, "leaves": leaves}[path.measure]
        ax.plot(grown, errors, ":", color="0.5", lw=1.2, label="training data, while it grew")
    ax.plot(sizes, path.training_errors, color="tab:blue", marker=mark, ms=3,
            label="training data, best sub-trees")  # fmt: skip
    if path.errors is not None and path.standard_errors is not None:
        ax.plot(sizes, path.errors, ls="--", color="tab:orange", marker=mark, ms=3, label=path.data)
        spread = np.nan_to_num(path.standard_errors)
        ax.fill_between(sizes, path.errors - spread, path.errors + spread, color="tab:orange",
                        alpha=0.15, lw=0)  # fmt: skip
        if path.chosen is not None:
            k = path.chosen
            said = "leaf" if path.leaves[k] == 1 else "leaves"
            ax.plot(sizes[k], path.errors[k], "o", ms=9, mfc="none", mec="k",
                    label=f"chosen: {path.leaves[k]} {said}")  # fmt: skip
    if path.measure == "leaves" and sizes[0] > 50:
        ax.set_xscale("log")
    kind = "error" if path.full.kind == "classification" else "mean squared error"
    ax.set(xlabel=measure.label, ylabel=kind)
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small")
    return ax
