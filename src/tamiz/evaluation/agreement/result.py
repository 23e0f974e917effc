"""How much several selections agree: the result of :func:`tamiz.evaluation.stability`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.base import _plain
from tamiz.display.selection_plot import axes
from tamiz.evaluation.agreement.measures import (
    StabilityTest,
    agreement_test,
    by_pairs,
    nogueira,
)
from tamiz.evaluation.intervals import (
    UNKNOWN,
    Interval,
    between,
    check_count,
    frames,
    number,
    quantile,
    wilson,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(repr=False)
class Stability:
    """How much several selections agree.

    Attributes
    ----------
    nogueira : float
        The index of Nogueira and others: 1 for equal selections, about 0 for random ones. NaN if it
        is undefined; ``reason`` then says why.
    variance : float
        Its asymptotic variance.
    interval : tuple of float
        Interval of the index at the given confidence.
    confidence : float
        Confidence of all intervals.
    kuncheva : float or None
        Kuncheva's index, the mean over all pairs; None if the selections differ in size.
    jaccard : float
        Mean over all pairs of the shared features divided by the joint ones (1 if both are empty).
    frequency : array of shape (n_features,)
        Share of the selections that hold each feature.
    frequency_interval : array of shape (n_features, 2)
        Wilson's interval of each frequency, as if the selections were independent.
    names : list of str
        Names of the features.
    masks : boolean array of shape (n_selections, n_features)
        The selections.
    reason : str or None
        Why the index is undefined, where it is.
    notes : dict
        Where the selections come from, if :func:`stability_of` made them.

    Examples
    --------
    >>> from tamiz.evaluation import stability
    >>> found = stability([[0, 1], [0, 1], [0, 2]], n_features=10)
    >>> found
    <Stability: 0.583 (0.361 to 0.806), 3 selections of 10 features>
    >>> found.frequency[:3].round(2).tolist()
    [1.0, 0.67, 0.33]
    """

    nogueira: float
    variance: float
    interval: Interval
    confidence: float
    kuncheva: float | None
    jaccard: float
    frequency: np.ndarray
    frequency_interval: np.ndarray
    names: list[str]
    masks: np.ndarray
    reason: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def n_selections(self) -> int:
        """Number of selections."""
        return len(self.masks)

    @property
    def n_features(self) -> int:
        """Number of features, selected or not."""
        return self.masks.shape[1]

    @property
    def sizes(self) -> np.ndarray:
        """Number of features in each selection."""
        return self.masks.sum(axis=1)

    def compare(self, other: Stability) -> StabilityTest:
        """Test whether another method is as stable: two-sided, the selections independent.

        Parameters
        ----------
        other : Stability
            Of another method, by as many or other resamples.

        Returns
        -------
        StabilityTest
            The difference of the indices (this one minus the other), its interval, statistic and
            p-value.
        """
        if not isinstance(other, Stability):
            raise TypeError(
                f"compare needs another Stability, not {type(other).__name__}; make it with "
                "stability(...) or stability_of(...)."
            )
        return agreement_test(
            self.nogueira - other.nogueira, self.variance + other.variance, self.confidence, 2
        )

    def above(self, threshold: float) -> StabilityTest:
        """Test whether the stability is above a value: one-sided.

        Nogueira and others call values below 0.4 poor, 0.4 to 0.75 intermediate to good, above
        excellent, as is usual for measures of agreement.
        """
        if not isinstance(threshold, Real) or not math.isfinite(threshold):
            raise ValueError(f"threshold={threshold!r} must be a number, such as 0.4 or 0.75.")
        return agreement_test(self.nogueira - float(threshold), self.variance, self.confidence, 1)

    def __repr__(self) -> str:
        if math.isnan(self.nogueira):
            index = "undefined"
        else:
            index = f"{self.nogueira:.3f} ({between(self.interval)})"
        return f"<Stability: {index}, {self.n_selections} selections of {self.n_features} features>"

    def __str__(self) -> str:
        sizes = self.sizes
        size = f"{sizes.min()}" if np.ptp(sizes) == 0 else f"{sizes.min()} to {sizes.max()}"
        kuncheva = "– (sizes differ)" if self.kuncheva is None else number(self.kuncheva)
        lines = [
            f"Stability of {self.n_selections} selections of {size} among {self.n_features} "
            "features",
            f"  Nogueira's index   {number(self.nogueira)}   "
            f"({100 * self.confidence:g} % interval {between(self.interval)})",
            f"  Kuncheva's index   {kuncheva}",
            f"  mean Jaccard       {number(self.jaccard)}",
        ]
        if self.reason:
            lines.append(f"  {self.reason}")
        best = self._most_frequent(10)
        width = max((len(self.names[j]) for j in best), default=0)
        lines.append("  most frequent features:")
        lines += [
            f"    {self.names[j]:<{width}}  {self.frequency[j]:.3f}   ({between(self._of(j))})"
            for j in best
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, fit for JSON; what is undefined is None."""
        return _plain(
            {
                "nogueira": self.nogueira,
                "variance": self.variance,
                "interval": self.interval,
                "confidence": self.confidence,
                "kuncheva": self.kuncheva,
                "jaccard": self.jaccard,
                "n_selections": self.n_selections,
                "n_features": self.n_features,
                "sizes": self.sizes,
                "reason": self.reason,
                "features": [
                    {
                        "name": self.names[j],
                        "index": int(j),
                        "frequency": self.frequency[j],
                        "interval": self._of(j),
                    }
                    for j in self._order()
                ],
                "selections": [np.flatnonzero(mask) for mask in self.masks],
                "notes": self.notes,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each feature, the most frequent first: frequency and its interval."""
        order = self._order()
        return frames().DataFrame(
            {
                "name": [self.names[j] for j in order],
                "index": order,
                "frequency": self.frequency[order],
                "low": self.frequency_interval[order, 0],
                "high": self.frequency_interval[order, 1],
            }
        )

    def plot(self, top: int = 30, ax: Any = None) -> Any:
        """Draw how often the most frequent features were selected, with intervals.

        Parameters
        ----------
        top : int, default=30
            Most bars.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        best = self._most_frequent(top)[::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.22 * len(best)))
        place = np.arange(len(best))
        value = self.frequency[best]
        reach = np.abs(self.frequency_interval[best].T - value)
        ax.barh(place, value, color="tab:blue", alpha=0.8, height=0.75)
        ax.errorbar(value, place, xerr=reach, fmt="none", ecolor="0.25", elinewidth=1, capsize=2)
        ax.set_yticks(place, [self.names[j] for j in best], size="small")
        ax.set(xlim=(0, 1.02), ylim=(-0.6, len(best) - 0.4))
        ax.set_xlabel(f"share of {self.n_selections} selections")
        ax.set_title(self._title(), size="medium")
        return ax

    def plot_selections(self, top: int = 40, ax: Any = None) -> Any:
        """Draw which selection holds which of the most frequent features, as a table of cells.

        Parameters
        ----------
        top : int, default=40
            Most features.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        best = self._most_frequent(top)
        ax = axes(ax, height=max(2.5, 1.1 + 0.2 * len(best)))
        # selections that agree stand side by side
        order = np.lexsort(~self.masks[:, best].T[::-1])
        ax.imshow(
            self.masks[np.ix_(order, best)].T,
            aspect="auto",
            cmap="Blues",
            vmin=0,
            vmax=1.25,
            interpolation="nearest",
        )
        ax.set_yticks(np.arange(len(best)), [self.names[j] for j in best], size="small")
        ax.set_xticks([])
        ax.set_xlabel(f"{self.n_selections} selections, like ones side by side")
        ax.set_title(self._title(), size="medium")
        return ax

    def _title(self) -> str:
        if math.isnan(self.nogueira):
            return "stability undefined"
        return f"stability {self.nogueira:.2f} ({between(self.interval, 2)})"

    def _order(self) -> np.ndarray:
        return np.argsort(-self.frequency, kind="stable")

    def _most_frequent(self, top: int) -> np.ndarray:
        order = self._order()[: check_count("top", top, 1)]
        chosen = order[self.frequency[order] > 0]
        return chosen if len(chosen) else order

    def _of(self, j: int) -> Interval:
        low, high = self.frequency_interval[j].tolist()
        return low, high


def measure(masks: np.ndarray, names: list[str], confidence: float) -> Stability:
    index, variance, reason = nogueira(masks)
    half = quantile(confidence) * math.sqrt(variance) if not math.isnan(variance) else math.nan
    count = masks.sum(axis=0)
    low, high = wilson(count, len(masks), confidence)
    kuncheva, jaccard = by_pairs(masks)
    return Stability(
        nogueira=index,
        variance=variance,
        interval=UNKNOWN if math.isnan(half) else (index - half, min(1.0, index + half)),
        confidence=confidence,
        kuncheva=kuncheva,
        jaccard=jaccard,
        frequency=count / len(masks),
        frequency_interval=np.column_stack([low, high]),
        names=names,
        masks=masks,
        reason=reason,
    )
