"""The picture of a report card: the confusion table, and the ROC curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.display.selection_plot import axes

if TYPE_CHECKING:
    from tamiz.evaluation.card.report_card import ReportCard


def plot(card: ReportCard, ax: Any) -> Any:
    """Draw the table and, where there are scores, the curves."""
    pair: Any = np.ravel(ax) if ax is not None else []
    if len(pair) == 2:
        table, curves = pair
    elif ax is not None or not card.roc:
        return plot_confusion(card, axes(ax))
    else:
        import matplotlib.pyplot as plt

        pair = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")[1]
        table, curves = pair
    plot_confusion(card, table)
    if card.roc:
        plot_roc(card, curves)
    return np.asarray(pair)


def plot_confusion(card: ReportCard, ax: Any) -> Any:
    """Counts, shaded by their share of the true class."""
    counts = card.confusion
    whole = counts.sum(axis=1, keepdims=True)
    shade = counts / np.where(whole > 0, whole, 1)
    ax.imshow(shade, cmap="Blues", vmin=0, vmax=1)
    k = len(card.classes)
    for i in range(k):
        for j in range(k):
            dark = shade[i, j] > 0.55
            text = f"{counts[i, j]:,}" if counts.dtype.kind == "i" else f"{counts[i, j]:.4g}"
            if k <= 8 and whole[i, 0] > 0:
                text += f"\n{100 * shade[i, j]:.1f} %"
            colour = "white" if dark else "black"
            ax.text(j, i, text, ha="center", va="center", color=colour, size=_size(k))
    labels = [str(label) for label in card.classes]
    turned = {"rotation": 45, "ha": "right"} if max(map(len, labels)) * k > 40 else {}
    ax.set_xticks(range(k), labels, **turned)
    ax.set_yticks(range(k), labels)
    ax.set(xlabel="predicted", ylabel="true")
    accuracy = card.metrics["accuracy"]
    ax.set_title(f"accuracy {accuracy.value:.3f} {_span(accuracy.interval)}", size="medium")
    return ax


def _size(k: int) -> float:
    return max(5.0, 11.0 - 0.5 * k)


def plot_roc(card: ReportCard, ax: Any) -> Any:
    """One curve for two classes, else one for each class against the others."""
    ax.plot([0, 1], [0, 1], color="0.7", lw=1, ls="--")
    for curve in card.roc:
        if not len(curve["fpr"]):
            continue
        metrics = card.per_class.get(curve["class"], card.metrics)
        label = f"{curve['class']}: {metrics['roc_area'].value:.3f}"
        ax.plot(curve["fpr"], curve["tpr"], lw=1.6, label=label)
    if card.positive is not None and not math.isnan(card["sensitivity"].value):
        at = (1 - card["specificity"].value, card["sensitivity"].value)
        ax.plot(*at, "o", color="tab:red", ms=6, label="predictions as given")
    area = card["roc_area"]
    ax.set(xlabel="1 − specificity", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("equal")
    if len(card.roc) <= 12:
        ax.legend(
            fontsize="small",
            loc="lower right",
            title=None if len(card.roc) == 1 else "area of each class",
        )
    what = "ROC area" if card.positive is not None else "mean ROC area"
    ax.set_title(f"{what} {area.value:.3f} {_span(area.interval)}", size="medium")
    return ax


def _span(interval: tuple[float, float]) -> str:
    low, high = interval
    return "" if math.isnan(low) else f"({low:.3f} to {high:.3f})"
