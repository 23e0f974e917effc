"""The critical difference diagram: mean ranks on a line, methods that do not differ joined.

The better half of the methods is written on the left and the others on the right, one line of text
for each, so that names never meet, whatever the ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tamiz.display import axes
from tamiz.evaluation.statistical_tests.significance import Significance, critical_difference
from tamiz.validation import check_names

_ALPHA = 0.05
_LINE = 0.30  # inches for a line of text
_BAR = 0.13  # inches for a bar
_GAP = 0.15  # inches between the line of ranks and the names
_LETTER = 0.085  # inches for a letter, a wide one


def critical_difference_diagram(
    ranks: Any,
    *,
    names: Any = None,
    n_runs: int | None = None,
    alpha: float = _ALPHA,
    ax: Any = None,
) -> Any:
    """Draw mean ranks on a line and join the methods that do not differ.

    Parameters
    ----------
    ranks : Significance, mapping or array of shape (n_methods,)
        The outcome of a comparison, or mean ranks, 1 for the best.
    names : list of str, optional
        Names of the methods, with an array.
    n_runs : int, optional
        Number of data sets behind the ranks, which gives Nemenyi's critical difference. Without it
        ranks alone are drawn.
    alpha : float, default=0.05
        Level of the critical difference.
    ax : matplotlib axes, optional
        Where to draw; a new figure of fitting height by default.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from tamiz.evaluation import critical_difference_diagram
    >>> ax = critical_difference_diagram({"svm": 1.4, "tree": 2.6, "k-NN": 2.0}, n_runs=20)
    """
    if isinstance(ranks, Significance):
        if names is not None or n_runs is not None or alpha not in (_ALPHA, ranks.alpha):
            raise ValueError(
                "names, n_runs and alpha go with ranks; a Significance has its own. Pass them to "
                "significance(...)."
            )
        mean, named = ranks.ranks, ranks.names
        critical, bars = ranks.critical_difference, _spans(ranks)
    else:
        mean, named = _read(ranks, names)
        critical, bars = None, []
        if n_runs is not None:
            critical = critical_difference(len(mean), n_runs, alpha)
            bars = _within(np.sort(mean), critical)
    order = np.argsort(mean, kind="stable")
    return _draw(mean[order], [named[j] for j in order], critical, bars, ax)


def _read(ranks: Any, names: Any) -> tuple[np.ndarray, list[str]]:
    if isinstance(ranks, Mapping):
        names, ranks = list(ranks), list(ranks.values())
    try:
        mean = np.asarray(ranks, dtype=np.float64)
    except (TypeError, ValueError):
        mean = np.zeros(0)
    if mean.ndim != 1 or len(mean) < 2 or not np.isfinite(mean).all():
        raise ValueError(
            "ranks must be a Significance, or one finite mean rank for each of two or more methods."
        )
    if mean.min() < 1 or mean.max() > len(mean):
        raise ValueError(f"ranks must lie between 1 and the number of methods, {len(mean)}.")
    if names is None:
        return mean, [f"method {j + 1}" for j in range(len(mean))]
    return mean, check_names(names, len(mean), "ranks")


def _spans(found: Significance) -> list[tuple[float, float]]:
    rank = dict(zip(found.names, found.ranks.tolist(), strict=True))
    return [(rank[group[0]], rank[group[-1]]) for group in found.groups]


def _within(mean: np.ndarray, critical: float) -> list[tuple[float, float]]:
    """The longest runs of ranks no further apart than the critical difference."""
    spans: list[tuple[int, int]] = []
    for start in range(len(mean)):
        stop = int(np.searchsorted(mean, mean[start] + critical, side="left")) - 1
        if stop > start and not (spans and stop <= spans[-1][1]):
            spans.append((start, stop))
    return [(float(mean[a]), float(mean[b])) for a, b in spans]


def _draw(
    mean: np.ndarray,
    names: list[str],
    critical: float | None,
    bars: list[tuple[float, float]],
    ax: Any,
) -> Any:
    k = len(mean)
    left = (k + 1) // 2  # the better half
    lanes = _lanes(bars)
    depth = (max(lanes, default=-1) + 1) * _BAR + 0.12
    bottom = -(depth + _LINE * max(left, k - left))
    own = ax is None
    ax = axes(ax, height=_top(critical) - bottom + 0.15)
    low, high = _ends(mean, critical)
    unit = _scale(ax, own, low, high, [f"{m:.2f}  {n}" for m, n in zip(mean, names, strict=True)])
    ax.set_ylim(bottom, _top(critical))  # inches, where the figure is our own
    ax.set_axis_off()
    _draw_line(ax, low, high, unit)
    if critical is not None:
        _draw_critical(ax, low, critical)
    for (start, stop), lane in zip(bars, lanes, strict=True):
        y = -0.10 - lane * _BAR
        reach = 0.04 * unit
        ax.plot([start - reach, stop + reach], [y, y], color="0.15", lw=4, solid_capstyle="butt")
    for place in range(k):
        right = place >= left
        row = k - 1 - place if right else place
        y = -(depth + _LINE * (row + 0.5))
        edge = high + _GAP * unit if right else low - _GAP * unit
        ax.plot([mean[place], mean[place], edge], [0, y, y], color="0.35", lw=0.9)
        shift = 0.06 * unit * (1 if right else -1)
        number = f"{mean[place]:.2f}"
        text = f"{number}  {names[place]}" if right else f"{names[place]}  {number}"
        ax.text(edge + shift, y, text, ha="left" if right else "right", va="center", size=9)
    return ax


def _top(critical: float | None) -> float:
    return 0.45 if critical is None else 0.95


def _ends(mean: np.ndarray, critical: float | None) -> tuple[int, int]:
    low, high = math.floor(mean.min()), math.ceil(mean.max())
    if critical is not None:  # its bar must fit above the line
        high = max(high, math.ceil(low + critical - 1e-9))
    return low, max(high, low + 1)


def _scale(ax: Any, own: bool, low: int, high: int, texts: list[str]) -> float:
    """Leave room for the names on both sides; the ranks in an inch of the line."""
    side = _GAP + 0.1 + _LETTER * max(map(len, texts))
    if own:
        width = max(7.0, 2 * side + max(2.6, 0.25 * (high - low)))
        ax.figure.set_size_inches(width, ax.figure.get_size_inches()[1])
    else:
        width = ax.get_window_extent().width / ax.figure.dpi
    line = max(width - 0.1 - 2 * side, 0.25 * width)
    unit = (high - low) / line
    side = (width - 0.1 - line) / 2
    ax.set_xlim(low - side * unit, high + side * unit)
    return unit


def _draw_line(ax: Any, low: int, high: int, unit: float) -> None:
    ax.plot([low, high], [0, 0], color="black", lw=1.2, solid_capstyle="butt")
    step = max(1, math.ceil(0.3 * unit))  # numbers no nearer than 0.3 inches
    for tick in range(low, high + 1):
        named = (tick - low) % step == 0
        ax.plot([tick, tick], [0, 0.10 if named else 0.06], color="black", lw=1.2)
        if named:
            ax.text(tick, 0.14, str(tick), ha="center", va="bottom", size=9)


def _draw_critical(ax: Any, low: int, critical: float) -> None:
    height = 0.58
    ax.plot([low, low + critical], [height, height], color="black", lw=1.6)
    for end in (low, low + critical):
        ax.plot([end, end], [height - 0.05, height + 0.05], color="black", lw=1.6)
    text = f"critical difference {critical:.2f}"
    ax.text(low, height + 0.07, text, ha="left", va="bottom", size=9)


def _lanes(bars: list[tuple[float, float]]) -> list[int]:
    """For each bar, left to right, the first level where it touches no earlier one."""
    ends: list[float] = []
    chosen = []
    for start, stop in bars:
        lane = next((m for m, end in enumerate(ends) if end < start - 1e-9), len(ends))
        ends[lane : lane + 1] = [stop]
        chosen.append(lane)
    return chosen
