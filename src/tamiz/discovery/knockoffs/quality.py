"""How well knockoffs do what they should: be exchangeable with their features, and differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from tamiz.display import PALETTE, TableResult, axes, frames, number, pvalue_text
from tamiz.validation import integer_from

if TYPE_CHECKING:
    import pandas as pd

_ROWS = 400  # most rows of the energy test
_PERMUTATIONS = 199
_SHUFFLES = 5  # of all columns, for the largest difference by chance


@dataclass(repr=False)
class KnockoffQuality(TableResult):
    """What can be seen of the knockoffs of one draw.

    Attributes
    ----------
    names : list of str
        Names of the features.
    correlation : array of shape (n_features,)
        Correlation of each feature with its knockoff: the closer to 1, the less power there is for
        this feature. 1 for constant features.
    own_moments : float
        Root mean square difference between the correlations among the knockoffs and those among
        the features.
    cross_moments : float
        The same between a knockoff and another feature.
    expected : float
        What both would be about by chance for this number of samples, from knockoffs without a
        fault.
    largest : float
        Largest difference of both kinds, of any pair of features: where it is far above
        ``expected_largest``, knockoffs miss what neighbours have in common, which a mean over all
        pairs does not show.
    expected_largest : float
        What it is if no columns have anything to do with each other: its mean over five shuffles of
        these features and knockoffs, one by one. Two rare categories that meet once have a large
        correlation, so that it depends on what the columns hold.
    energy_pvalue : float
        p-value of a permutation test (energy distance, at most 400 rows): half of the rows with
        features and knockoffs as they are, half with a random half of the pairs swapped. Small
        means that the two can be told apart, so that the rate of false discoveries is not
        guaranteed. Of knockoffs that were made from the same rows it is rather too large.
    """

    names: list[str]
    correlation: np.ndarray
    own_moments: float
    cross_moments: float
    expected: float
    energy_pvalue: float
    largest: float = 0.0
    expected_largest: float = 0.0

    def __repr__(self) -> str:
        return (
            f"<KnockoffQuality: mean correlation with the knockoff "
            f"{number(float(np.mean(self.correlation)))}, moments off by "
            f"{number(self.own_moments)} and {number(self.cross_moments)} "
            f"(about {number(self.expected)} by chance), at most by {number(self.largest)} "
            f"(about {number(self.expected_largest)}), "
            f"energy test p = {pvalue_text(self.energy_pvalue)}>"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each feature: its correlation with its knockoff, the largest first."""
        order = np.argsort(-self.correlation, kind="stable")
        return frames().DataFrame(
            {
                "name": [self.names[j] for j in order],
                "index": order,
                "correlation": self.correlation[order],
            }
        )

    def plot(self, top: int = 20, ax: Any = None) -> Any:
        """Draw the correlations of the features that are hardest to tell from their knockoffs.

        Parameters
        ----------
        top : int, default=20
            How many features.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        best = np.argsort(-self.correlation, kind="stable")[: integer_from(1)("top", top)][::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.22 * len(best)))
        ax.barh(np.arange(len(best)), self.correlation[best], color=PALETTE[0])
        ax.set_yticks(np.arange(len(best)), [self.names[j] for j in best])
        ax.axvline(
            float(np.mean(self.correlation)), color="0.5", lw=1, ls="--", label="mean of all"
        )
        ax.set_xlabel("correlation with the knockoff")
        ax.legend(fontsize="small", frameon=False)
        return ax


def measure_quality(
    X: np.ndarray, copies: np.ndarray, names: list[str], random: np.random.Generator
) -> KnockoffQuality:
    """Compare features with their knockoffs."""
    n, p = X.shape
    spread = X.std(axis=0)
    varies = np.flatnonzero((spread > 0) & (copies.std(axis=0) > 0))
    correlation = np.ones(p)
    Z, T = (_standardised(part[:, varies]) for part in (X, copies))
    correlation[varies] = np.einsum("ij,ij->j", Z, T) / n
    own = cross = largest = most = 0.0
    if len(varies) > 1:
        looked_at = np.sort(random.permutation(len(varies))[:1000])
        A, B = Z[:, looked_at], T[:, looked_at]
        off = _differences(A, B)
        own, cross = (float(np.sqrt(np.mean(np.square(one)))) for one in off)
        largest, most = _largest(off), _largest_by_chance(A, B)
    pvalue = energy_test(Z, T, random) if len(varies) else 1.0
    chance = float(np.sqrt(2.0 / n))
    return KnockoffQuality(names, correlation, own, cross, chance, pvalue, largest, most)


def _differences(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correlations among knockoffs, and of them with other features, less those of the features."""
    n, p = A.shape
    apart = ~np.eye(p, dtype=bool)
    among = A.T @ A / n
    return (B.T @ B / n - among)[apart], (A.T @ B / n - among)[apart]


def _largest(differences: tuple[np.ndarray, np.ndarray]) -> float:
    return float(max(np.abs(one).max() for one in differences))


def _largest_by_chance(A: np.ndarray, B: np.ndarray) -> float:
    """The largest difference of columns shuffled one by one, a mean over some shuffles."""
    random = np.random.default_rng(0)  # one of its own: the same columns have the same answer
    found = [
        _largest(_differences(random.permuted(A, axis=0), random.permuted(B, axis=0)))
        for _ in range(_SHUFFLES)
    ]
    return float(np.mean(found))


def energy_test(Z: np.ndarray, T: np.ndarray, random: np.random.Generator) -> float:
    """Whether swapping a random half of the pairs changes the distribution of the rows."""
    rows = random.permutation(len(Z))[: min(len(Z), _ROWS)]
    half = len(rows) // 2
    if half < 2:
        return 1.0
    rows = rows[: 2 * half]
    swap = random.random(Z.shape[1]) < 0.5
    first, second = Z[rows].copy(), T[rows].copy()
    lower = np.ix_(np.arange(half), np.flatnonzero(swap))
    first[lower], second[lower] = second[lower].copy(), first[lower].copy()
    distance = squareform(pdist(np.hstack([first, second])))
    signs = np.where(np.arange(2 * half) < half, 1.0, -1.0)
    tried = np.array([signs, *(random.permutation(signs) for _ in range(_PERMUTATIONS))])
    # 2 sum(across) - sum(inside both): with equal halves, minus the quadratic form in the signs
    energy = -np.einsum("ij,ij->i", tried @ distance, tried)
    return float((1 + np.count_nonzero(energy[1:] >= energy[0])) / (1 + _PERMUTATIONS))


def _standardised(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
