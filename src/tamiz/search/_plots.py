"""Pictures of searches: the best score by size, the walk of annealing, the generations."""

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
    integer_ticks(ax.xaxis)
    ax.legend(fontsize="small")
    ax.set_title(f"{selection.method}: {chosen} of {len(selection.support)} features selected")
    return ax


def integer_ticks(axis: Any) -> None:
    """Ticks at integers only, unless someone has placed them already."""
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


def plot_annealing(selection: Selection, ax: Any = None) -> Any:
    """Score of the current subset by iteration, and the temperature on a second axis."""
    ax = axes(ax)
    steps = [s for s in selection.path if s.action in ("start", "accept", "reject")]
    if not steps:
        raise ValueError(f"{selection.method} judged no subset; there is nothing to draw.")
    taken = [s for s in steps if s.action != "reject"]
    turned = [s for s in steps if s.action == "reject"]
    ax.step(
        [*_details(taken, "iteration"), _details(steps, "iteration")[-1]],
        [*(s.value for s in taken), taken[-1].value],
        where="post",
        color="tab:blue",
        label="score of the current subset",
    )
    if turned:
        ax.plot(
            _details(turned, "iteration"),
            [s.value for s in turned],
            ".",
            color="0.7",
            ms=4,
            label="turned down",
            zorder=1,
        )
    best = selection.notes.get("score")
    if best is not None:
        ax.axhline(best, color="tab:green", ls=":", lw=1, label="selected")
    handles, labels = ax.get_legend_handles_labels()
    warm = [s for s in steps if (s.details or {})["temperature"] is not None]
    if warm:  # else the search was cut short before a temperature was chosen
        heat = ax.twinx()
        (line,) = heat.plot(
            _details(warm, "iteration"),
            _details(warm, "temperature"),
            color="tab:red",
            lw=1,
            drawstyle="steps-post",
            label="temperature",
        )
        heat.set(ylabel="temperature", yscale="log")
        heat.yaxis.label.set_color("tab:red")
        handles, labels = [*handles, line], [*labels, "temperature"]
    ax.set(xlabel="iteration", ylabel=quantity(selection))
    _legend_below(ax, handles, labels)
    ax.set_title(_title(selection))
    return ax


def plot_genetic(selection: Selection, ax: Any = None) -> Any:
    """Scores of all individuals by generation, with the best and the mean."""
    ax = axes(ax)
    steps = [s for s in selection.path if s.action == "individual" and np.isfinite(s.value or 0.0)]
    if not steps:
        raise ValueError(f"{selection.method} judged no subset; there is nothing to draw.")
    generation = np.array(_details(steps, "generation"))
    value = np.array([s.value for s in steps], dtype=float)
    numbers = np.unique(generation)
    ax.plot(generation, value, "o", color="0.7", ms=3, label="individuals")
    best = [value[generation == g].max() for g in numbers]
    mean = [value[generation == g].mean() for g in numbers]
    ax.plot(numbers, mean, color="tab:orange", label="mean")
    ax.plot(numbers, best, color="tab:blue", label="best")
    ax.set(xlabel="generation", ylabel=quantity(selection))
    integer_ticks(ax.xaxis)
    _legend_below(ax, *ax.get_legend_handles_labels())
    ax.set_title(_title(selection))
    return ax


def _details(steps: list[Any], name: str) -> list[Any]:
    return [(step.details or {})[name] for step in steps]


def _legend_below(ax: Any, handles: list[Any], labels: list[str]) -> None:
    """The legend under the axes: the points of a random search may be anywhere inside."""
    ax.legend(
        handles,
        labels,
        fontsize="small",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=len(labels),
        frameon=False,
    )


def _title(selection: Selection) -> str:
    chosen = int(selection.support.sum())
    return f"{selection.method}: {chosen} of {len(selection.support)} features selected"
