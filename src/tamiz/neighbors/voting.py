"""The neighbours that voted: how far they are, and how much of the decision is theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.display import TableResult, axes, colours, frames
from tamiz.validation import integer_from

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class VotingNeighbours(TableResult):
    """The training samples that decided what some samples are taken for.

    Attributes
    ----------
    rows : int array of shape (n_samples, k)
        Positions among the training samples, the nearest first.
    distances : array of shape (n_samples, k)
        Distances; infinite where nothing is known in common.
    labels : array of shape (n_samples, k)
        Their classes.
    votes : array of shape (n_samples, k)
        The fraction of all votes that each neighbour has; rows sum to 1, unless nobody votes.
    predictions : array of shape (n_samples,)
        What the classifier says.
    classes : array
        All classes.
    """

    rows: np.ndarray
    distances: np.ndarray
    labels: np.ndarray
    votes: np.ndarray
    predictions: np.ndarray
    classes: np.ndarray

    def __repr__(self) -> str:
        n, k = self.rows.shape
        return f"<VotingNeighbours: {k} neighbours of {n} samples>"

    def to_frame(self) -> pd.DataFrame:
        """A data frame with a row for each sample and neighbour."""
        n, k = self.rows.shape
        return frames().DataFrame(
            {
                "sample": np.repeat(np.arange(n), k),
                "neighbour": self.rows.ravel(),
                "distance": self.distances.ravel(),
                "class": self.labels.ravel(),
                "vote": self.votes.ravel(),
                "prediction": np.repeat(self.predictions, k),
            }
        )

    def plot(self, sample: int = 0, ax: Any = None) -> Any:
        """Draw the distances of the neighbours of one sample, coloured by their classes.

        Parameters
        ----------
        sample : int, default=0
            Which sample.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        i = integer_from(0, len(self.rows) - 1)("sample", sample)
        known = np.isfinite(self.distances[i])
        place = np.arange(len(self.rows[i]))[::-1]
        ax = axes(ax, height=max(2.5, 1.2 + 0.24 * len(place)))
        palette = colours(len(self.classes))
        for c, label in enumerate(self.classes):
            mine = known & (self.labels[i] == label)
            bars = ax.barh(place[mine], self.distances[i][mine], color=palette[c])
            if mine.any():
                bars.set_label(str(label))
            for bar, vote in zip(bars, self.votes[i][mine], strict=True):
                ax.annotate(
                    f" {vote:.0%}",
                    (bar.get_width(), bar.get_y() + bar.get_height() / 2),
                    va="center",
                    size="small",
                )
        ax.set_yticks(place, [f"row {row}" for row in self.rows[i]])
        ax.set(xlabel="distance (and fraction of the votes)")
        ax.margins(x=0.12)
        ax.set_title(f"predicted: {self.predictions[i]}")
        ax.legend(frameon=False, fontsize="small")
        return ax
