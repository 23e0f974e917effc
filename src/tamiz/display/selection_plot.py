"""The picture of a selection: the criterion along its path, or the best scores as bars."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tamiz.base import PathStep, Selection

_MOST_NAMES = 40
_WIDE = 200  # more features than this are drawn on a logarithmic axis

#: What the values of a path are, for methods that do not say so in their notes.
_QUANTITIES = {
    "AROM": "objective",
    "AdaptiveScaling": "objective",
    "FSV": "objective",
    "HoldOutSVM": "errors on held-out samples",
    "KPSVM": "objective",
    "RadiusMarginScaling": "objective",
    "SVMRFE": "criterion of the feature removed",
}


def plot_selection(selection: Selection, top: int, ax: Any) -> Any:
    """Draw into ``ax``, or into a new figure that is large enough for its labels."""
    if not isinstance(top, Integral) or isinstance(top, bool) or top < 1:
        raise ValueError(f"top={top!r} is not a number of bars; use an integer from 1.")
    steps = [s for s in selection.path if s.value is not None and np.isfinite(s.value)]
    if not steps and selection.scores is None:
        raise ValueError(f"{selection.method or 'This selection'} has neither scores nor a path.")
    n_bars = 0 if steps else min(int(top), len(selection.order))
    ax = axes(ax, height=max(4.5, 0.9 + 0.19 * n_bars))
    if steps:
        _draw_path(selection, steps, ax)
    else:
        _draw_bars(selection, n_bars, ax)
    count = int(selection.support.sum())
    ax.set_title(f"{selection.method}: {count} of {len(selection.order)} selected")
    return ax


def _draw_path(selection: Selection, steps: list[PathStep], ax: Any) -> None:
    decided = [s for s in steps if s.action != "visit"]
    if decided:
        ax.plot([s.n_features for s in decided], [s.value for s in decided], marker="o", ms=3)
    else:
        sizes = np.array([s.n_features for s in steps])
        values = np.array([s.value for s in steps], dtype=float)
        different = np.unique(sizes)
        ax.plot(sizes, values, ".", color="0.7", ms=4)
        ax.plot(different, [values[sizes == k].max() for k in different], marker="o", ms=3)
    ax.axvline(int(selection.support.sum()), color="0.6", ls="--", lw=1)
    ax.set(xlabel="number of features", ylabel=quantity(selection))
    added = [s for s in decided if s.action == "add" and len(s.features) == 1]
    if 0 < len(added) == len(decided) <= _MOST_NAMES:
        names = [selection.names[s.features[0]] for s in added]
        ax.set_xticks([s.n_features for s in added], names, rotation=60, ha="right", size="small")
        ax.set_xlabel("feature added")
    elif max(s.n_features for s in steps) > _WIDE:
        ax.set_xscale("log")  # what matters happens among the last few
    else:
        ax.xaxis.get_major_locator().set_params(integer=True)


def quantity(selection: Selection) -> str:
    """What the values of the path are: the method's own word, the metric of a search, or a guess.

    >>> from tamiz import Selection
    >>> quantity(Selection(order=[0], support=[True], notes={"metrics": ["roc_auc"]}))
    'roc auc'
    """
    notes = selection.notes
    if notes.get("criterion") is not None:
        return str(notes["criterion"])
    if notes.get("metrics"):
        return str(notes["metrics"][0]).replace("_", " ")
    word = _QUANTITIES.get(selection.method, "criterion")
    if selection.method == "HoldOutSVM" and selection.params.get("costs") is not None:
        return "cost of the " + word
    if selection.method == "SVMRFE":
        return f"{selection.params.get('criterion', 'margin')} ".replace("_", " ") + word
    return word


def _draw_bars(selection: Selection, n_bars: int, ax: Any) -> None:
    best = selection.order[:n_bars][::-1]
    scores = selection.scores[best] if selection.scores is not None else np.zeros(n_bars)
    finite = scores[np.isfinite(scores)]
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    # an infinite score is a bar beyond all others, and says so
    length = np.where(np.isfinite(scores), scores, np.sign(scores) * 1.15 * largest)
    colours = ["tab:blue" if selection.support[j] else "0.75" for j in best]
    ax.barh(np.arange(len(best)), length, color=colours)
    ax.set_yticks(np.arange(len(best)), [selection.names[j] for j in best], size="small")
    for k in np.flatnonzero(np.isinf(scores)):
        ax.annotate("∞", (length[k], k), va="center", ha="left")
    ax.set(xlabel="score", ylim=(-0.7, len(best) - 0.3))


def axes(ax: Any = None, height: float = 4.5) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "plot needs matplotlib; install it with: pip install 'tamiz[plot]'"
        ) from None
    return plt.subplots(figsize=(7, height), layout="constrained")[1]
