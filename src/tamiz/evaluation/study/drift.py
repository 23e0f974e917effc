"""Whether the chosen features of a table with dates change over time.

The rows are put in the order of their dates and cut into periods of about equally many rows, as
many as leave each period enough of them; the population stability index compares each with the
first (:mod:`tamiz.information.population`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.data import Dataset
from tamiz.data.errors import Finding, listed
from tamiz.information.population import ANOTHER, PopulationStability, population_stability

MOST_FEATURES, MOST_ROWS, MOST_PERIODS = 30, 100_000, 6
#: Rows that a period has at least, that a further period takes, and that ten bins take, not five.
LEAST_ROWS, MORE_ROWS, MANY_ROWS = 40, 100, 400


class Drift(NamedTuple):
    """What became of some features.

    Attributes
    ----------
    stability : PopulationStability
        The index of each feature in each period; features have the names of the data set.
    undated : int
        Rows without a date, which are left out.
    """

    stability: PopulationStability
    undated: int


def times_of(data: Dataset) -> np.ndarray | None:
    """When each row was: dates, or else the numbers that the user named."""
    times = data.extras.get("dates", data.extras.get("time"))
    return None if times is None or len(times) != data.n_samples else np.asarray(times)


def drift_of(data: Dataset, features: Sequence[int]) -> Drift | None:
    """The stability of features, given by their positions; None without dates or enough rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.data import Dataset
    >>> day = np.arange(400)
    >>> X = np.column_stack([day % 7, day // 100])
    >>> found = drift_of(Dataset(X.astype(float), extras={"time": day}), [0, 1])
    >>> found.stability.changed, found.undated
    (['x1'], 0)
    """
    times = times_of(data)
    if times is None or not len(features) or data.X.dtype.kind not in "biuf":
        return None
    missing = np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    rows = np.flatnonzero(~missing)
    undated = len(times) - len(rows)
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    if len(rows) < 2 * LEAST_ROWS or (times[rows] == times[rows[0]]).all():
        return None
    kept = list(features)[:MOST_FEATURES]
    part = data.X[rows][:, kept]
    n_periods = int(np.clip(len(rows) // MORE_ROWS, 2, MOST_PERIODS))
    found = population_stability(
        part.toarray() if sparse.issparse(part) else np.asarray(part),
        time=times[rows],
        n_periods=n_periods,
        n_bins=10 if len(rows) >= MANY_ROWS * n_periods else 5,
        categorical_features=np.asarray(data.categorical)[kept],
    )
    names = [str(data.feature_names[j]) for j in kept]
    return Drift(replace(found, names=names), undated)


def drift_warnings(data: Dataset, features: Sequence[str]) -> list[dict[str, Any]]:
    """A warning of features that are no longer what they were."""
    places = [j for j, name in enumerate(data.feature_names) if name in set(features)]
    found = drift_of(data, places)
    if found is None:
        return []
    stability = found.stability
    far = stability.beyond_chance >= ANOTHER
    names = [stability.names[k] for k in stability.order if far[k]]
    if not names:
        return []
    text = (
        f"Changed over time: {listed(names)}. The error holds for rows such as those it was "
        "measured on."
    )
    if data.dated_by and not {"time", "groups"} & set(data.extras):
        text += f" For one that takes the change into account say time={data.dated_by!r}."
    return [Finding("drift", tuple(names), text).to_dict()]
