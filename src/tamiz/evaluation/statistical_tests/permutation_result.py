"""The score of a method beside those under shuffled labels: the result of a permutation test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.base import _plain
from tamiz.display.selection_plot import axes
from tamiz.evaluation.intervals import Interval, between, frames, pvalue_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(repr=False)
class PermutationTest:
    """The score of a method beside those under shuffled labels.

    Attributes
    ----------
    score : float
        Mean score over the splits with the labels as they are; higher is better.
    permuted : array of shape (n_permutations,)
        Mean scores with shuffled labels.
    pvalue : float
        ``(1 + count) / (1 + n)`` with the number of shuffles that score as high or higher. The one
        is for the labels as they are, which are a permutation, too; without it the test would
        reject too often.
    interval : tuple of float
        Where the p-value of all permutations lies: the exact interval of the share of shuffles
        that score as high.
    confidence : float
        Confidence of the interval.
    metric : str
        Name of the score.
    stopped : str or None
        Why fewer shuffles were made than asked for.
    notes : dict
        The estimator and the number of splits.
    """

    score: float
    permuted: np.ndarray
    pvalue: float
    interval: Interval
    confidence: float
    metric: str = "score"
    stopped: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def n_permutations(self) -> int:
        """Number of shuffles made."""
        return len(self.permuted)

    @property
    def n_as_high(self) -> int:
        """Number of shuffles that score as high as the labels, or higher."""
        return count_as_high(self.permuted, self.score)

    def __repr__(self) -> str:
        return (
            f"<PermutationTest: {self.metric} {self.score:.3f}, p = {pvalue_text(self.pvalue)} "
            f"({self.n_permutations} permutations)>"
        )

    def __str__(self) -> str:
        low, middle, high = np.quantile(self.permuted, [0.025, 0.5, 0.975])
        lines = [
            f"{self.metric} with the labels as they are   {self.score:.4f}",
            f"{self.metric} with labels shuffled          {middle:.4f} (median; 95 % between "
            f"{low:.4f} and {high:.4f})",
            f"as high in {self.n_as_high} of {self.n_permutations} shuffles: "
            f"p = {pvalue_text(self.pvalue)} ({100 * self.confidence:g} % interval "
            f"{between(self.interval, 4)})",
        ]
        return "\n".join(lines + ([self.stopped] if self.stopped else []))

    def to_frame(self) -> pd.DataFrame:
        """The scores with shuffled labels, one row each."""
        return frames().DataFrame({self.metric: self.permuted})

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON."""
        return _plain(
            {
                "score": self.score,
                "metric": self.metric,
                "pvalue": self.pvalue,
                "interval": self.interval,
                "confidence": self.confidence,
                "n_permutations": self.n_permutations,
                "n_as_high": self.n_as_high,
                "permuted": self.permuted,
                "stopped": self.stopped,
                "notes": self.notes,
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores with shuffled labels as a histogram, and the score of the labels.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        ax = axes(ax, height=3.8)
        different = len(np.unique(self.permuted))
        bins = max(1, min(30, different, math.isqrt(self.n_permutations) + 5))
        label = f"{self.n_permutations} shuffles"
        ax.hist(self.permuted, bins=bins, color="0.75", edgecolor="white", label=label)
        middle = float(np.median(self.permuted))
        top = 0.8  # the legend stands above the lines
        ax.axvline(middle, ymax=top, color="0.35", ls="--", lw=1, label=f"median {middle:.3f}")
        label = f"labels as they are {self.score:.3f}"
        ax.axvline(self.score, ymax=top, color="tab:red", lw=2, label=label)
        ax.set(xlabel=self.metric.replace("_", " "), ylabel="shuffles")
        ax.set_title(f"p = {pvalue_text(self.pvalue)} ({between(self.interval, 3)})", size="medium")
        ax.margins(x=0.08)
        low, high = ax.get_ylim()
        ax.set_ylim(low, 1.3 * high)
        ax.legend(
            fontsize="small",
            ncols=3,
            loc="upper center",
            frameon=False,
            columnspacing=1.2,
            handlelength=1.6,
        )
        return ax


def count_as_high(permuted: Any, score: float) -> int:
    """How many are as high, sums of equal numbers in another order taken as equal."""
    slack = 1e-12 * max(1.0, abs(score))
    return int((np.asarray(permuted) >= score - slack).sum())
