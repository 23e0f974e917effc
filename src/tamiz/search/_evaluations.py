"""All subsets that a search judged, as a table: the scores of every split, and what became of each.

It is held in arrays, since of subsets there may be millions: for each one ``8 * metrics * splits``
bytes of scores, ``p / 8`` of features and ten more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(repr=False)
class Evaluations:
    """The subsets that a search judged, in the order in which it asked for them.

    Attributes
    ----------
    scores : array of shape (n_subsets, n_metrics, n_splits)
        Scores of each split, the higher the better; NaN where the judge failed.
    metrics : tuple of str
        Names of the scores; the first is the criterion of the search.
    names : list of str
        Names of all features.
    seconds : array of shape (n_subsets,)
        When the score was there, since the search began. After a resume, scores from the journal
        are there at once.
    accepted : boolean array of shape (n_subsets,)
        Whether the search went on from the subset: it was the start, the best of a round, expanded,
        taken by the walk of annealing, or the best so far.
    selected : boolean array of shape (n_subsets,)
        Whether it is the answer; none is if the answer could not be judged.
    subsets : array of bytes of shape (n_subsets, ceil(n_features / 8))
        The features, a bit each; :meth:`support` unpacks them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.search import ForwardSelection
    >>> X, y = load_iris(return_X_y=True)
    >>> found = ForwardSelection(cv=3).fit(X, y).evaluations_
    >>> found
    <Evaluations: 10 subsets of 4 features, score on 3 splits>
    >>> found.features(4), found.scores[4, 0].round(2).tolist(), bool(found.accepted[4])
    (['x0', 'x3'], [0.92, 0.96, 0.92], False)
    """

    scores: np.ndarray
    metrics: tuple[str, ...]
    names: list[str]
    seconds: np.ndarray
    accepted: np.ndarray
    selected: np.ndarray
    subsets: np.ndarray

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        n, _, n_splits = self.scores.shape
        splits = "1 split" if n_splits == 1 else f"{n_splits} splits"
        return (
            f"<Evaluations: {n:,} subset{'' if n == 1 else 's'} of {len(self.names)} features, "
            f"{', '.join(self.metrics)} on {splits}>"
        )

    @property
    def nbytes(self) -> int:
        """Memory that the table takes."""
        parts = (self.scores, self.seconds, self.accepted, self.selected, self.subsets)
        return sum(part.nbytes for part in parts)

    @property
    def support(self) -> np.ndarray:
        """Which features each subset holds, boolean (n_subsets, n_features)."""
        return np.unpackbits(self.subsets, axis=1, count=len(self.names)).astype(bool)

    @property
    def n_features(self) -> np.ndarray:
        """Number of features of each subset."""
        return np.unpackbits(self.subsets, axis=1).sum(axis=1, dtype=np.intp)

    @property
    def mean(self) -> np.ndarray:
        """Mean over the splits, (n_subsets, n_metrics)."""
        return self.scores.mean(axis=2)

    @property
    def sd(self) -> np.ndarray:
        """Standard deviation over the splits (n - 1); NaN if there is one only."""
        if self.scores.shape[2] < 2:
            return np.full(self.scores.shape[:2], np.nan)
        return self.scores.std(axis=2, ddof=1)

    @property
    def rank(self) -> np.ndarray:
        """Rank of each subset by the mean of the first metric, 1 for the best; equals share it."""
        value = self.mean[:, 0] if len(self) else np.empty(0)
        value = np.where(np.isfinite(value), value, -np.inf)
        _, level, counts = np.unique(-value, return_inverse=True, return_counts=True)
        return 1 + (np.cumsum(counts) - counts)[level]

    def features(self, i: int) -> list[str]:
        """Names of the features of subset ``i``."""
        bits = np.unpackbits(self.subsets[i], count=len(self.names))
        return [self.names[j] for j in np.flatnonzero(bits)]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of plain values, fit for JSON: scores that are not there are None."""
        columns: dict[str, list[Any]] = {
            "number": list(range(1, len(self) + 1)),
            "features": [self.features(i) for i in range(len(self))],
            "n_features": self.n_features.tolist(),
        }
        for m, metric in enumerate(self.metrics):
            columns[f"mean_{metric}"] = _plain(self.mean[:, m])
            columns[f"sd_{metric}"] = _plain(self.sd[:, m])
            for k in range(self.scores.shape[2]):
                columns[f"split{k}_{metric}"] = _plain(self.scores[:, m, k])
        columns["rank"] = self.rank.tolist()
        columns["seconds"] = self.seconds.tolist()
        columns["accepted"] = self.accepted.tolist()
        columns["selected"] = self.selected.tolist()
        return columns

    def to_frame(self) -> pd.DataFrame:
        """A pandas table with one row for each subset, numbered from 1 as they were asked for.

        Its columns are ``features`` (a list of names), ``n_features``, for each metric
        ``mean_<metric>``, ``sd_<metric>`` and ``split0_<metric>``, ``split1_<metric>``, ..., then
        ``rank``, ``seconds``, ``accepted`` and ``selected``.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame needs pandas; install it with: pip install 'tamiz[frames]'"
            ) from None
        columns = self.to_dict()
        number = pd.Index(columns.pop("number"), name="number", dtype="int64")
        frame = pd.DataFrame(columns, index=number)
        numbers = [name for name in columns if name.startswith(("mean_", "sd_", "split"))]
        return frame.astype(dict.fromkeys(numbers, "float64"))


def _plain(values: np.ndarray) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]
