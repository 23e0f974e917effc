"""How sure a machine is of its predictions: where they lie, seen from margin and support vectors.

A decision value of a machine counts margins: at 1 a sample lies on the margin of its class, below
that between boundary and margin, in no man's land. Times the width of the margin it is the distance
from the boundary in feature space.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.display import INK, PALETTE, axes, frame_in_notebook, frames
from tamiz.kernels import Kernel

if TYPE_CHECKING:
    import pandas as pd

#: Kernel values computed at once for the distances to support vectors.
_AT_ONCE = 2**22
#: Where a prediction may lie, seen from the margin.
PLACES = ("beyond", "on", "inside")


class MarginConfidence(NamedTuple):
    """Where predictions lie, one number for each sample."""

    values: np.ndarray  # decision value in favour of the predicted class, in units of the margin
    boundary_distance: np.ndarray | None  # from the boundary, in feature space; < 0: other side
    support_distance: np.ndarray | None  # to the nearest support vector, in feature space
    tol: float  # how far from 1 a value may be to count as on the margin

    @property
    def places(self) -> np.ndarray:
        """``"inside"`` the margin, ``"on"`` it or ``"beyond"`` it."""
        off = self.values - 1.0
        return np.where(np.abs(off) <= self.tol, "on", np.where(off > 0, "beyond", "inside"))

    def to_frame(self) -> pd.DataFrame:
        """One row for each sample: value, place, and the distances that are known."""
        columns: dict[str, Any] = {"value": self.values, "place": self.places}
        for name in ("boundary_distance", "support_distance"):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        return frames().DataFrame(columns)

    def _repr_html_(self) -> str | None:
        counts = [f"{int((self.places == place).sum()):,} {place} it" for place in PLACES]
        title = f"Seen from the margin: {len(self.values):,} predictions, {', '.join(counts)}"
        return frame_in_notebook(title, self.to_frame)

    def plot(self, ax: Any = None) -> Any:
        """Draw how many predictions lie how far from the boundary, in units of the margin.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes(ax)
        edges = np.histogram_bin_edges(self.values, min(40, max(5, len(self.values) // 5)))
        for place, colour in zip(PLACES, PALETTE, strict=False):
            own = self.values[self.places == place]
            ax.hist(own, bins=edges, color=colour, alpha=0.8, label=f"{place} it ({len(own):,})")
        for value, text in ((0.0, "boundary"), (1.0, "margin")):
            ax.axvline(value, color=INK, linewidth=1.0, linestyle="--" if value else "-")
            ax.annotate(text, (value, 1.0), xycoords=("data", "axes fraction"), ha="center",
                        va="bottom", size="small")  # fmt: skip
        ax.set(xlabel="decision value for the predicted class", ylabel="predictions")
        ax.legend(frameon=False, fontsize="small")
        return ax


def weakest(
    values: np.ndarray, widths: np.ndarray, winner: np.ndarray, n_classes: int, pairs: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Value and distance of the machine that speaks least for the predicted class.

    ``values`` are those of all machines, (samples, machines), ``widths`` the widths of their
    margins and ``winner`` the codes of the predicted classes. One versus one has a machine for
    each pair; one versus rest has one for each class, and only that of the winner counts.
    """
    rows = np.arange(len(values))
    if n_classes == 2:
        value = np.where(winner == 1, values[:, 0], -values[:, 0])
        return value, value * widths[0]
    if not pairs:
        value = values[rows, winner]
        return value, value * widths[winner]
    least, near = np.full(len(values), np.inf), np.full(len(values), np.inf)
    for k, (i, j) in enumerate(combinations(range(n_classes), 2)):
        favour = np.where(winner == j, values[:, k], -values[:, k])
        part = (winner == i) | (winner == j)
        least = np.where(part, np.minimum(least, favour), least)
        near = np.where(part, np.minimum(near, favour * widths[k]), near)
    return least, near


def nearest(kernel: Kernel, X: Any, vectors: Any) -> np.ndarray:
    """Distance of each sample to the nearest of some others, in feature space."""
    n, m = len(X) if isinstance(X, list) else X.shape[0], vectors.shape[0]
    if not m:
        return np.full(n, np.inf)
    step = max(1, _AT_ONCE // m)
    parts = [kernel.distance(X[k : k + step], vectors).min(axis=1) for k in range(0, n, step)]
    return np.concatenate(parts) if parts else np.empty(0)
