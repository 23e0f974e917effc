"""Features that come and go together, and features that stay.

Eliminations and searches act on *units*: a unit is one feature, or a group of features such as the
indicator columns of one category. Fixed features belong to no unit: they are always in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np

from tamiz.validation.errors import MissingValuesError
from tamiz.validation.frames import as_numpy
from tamiz.validation.labels import missing_entries


class Units(NamedTuple):
    """What can be added or removed, and what is always in."""

    members: list[np.ndarray]  # indices of the features of each unit, ascending
    fixed: np.ndarray  # indices of the features that are always in, ascending
    n_features: int
    named: Mapping[str, np.ndarray] | None = None  # groups that were given by name

    @property
    def single(self) -> bool:
        """Whether every unit is one feature and none is fixed."""
        return len(self.members) == self.n_features

    @property
    def sizes(self) -> np.ndarray:
        """Number of features in each unit."""
        if self.single:
            return np.ones(self.n_features, dtype=np.intp)
        return np.array([len(features) for features in self.members], dtype=np.intp)

    def of_feature(self) -> np.ndarray:
        """The unit of each feature, -1 for those fixed."""
        if self.single:
            return np.arange(self.n_features)
        unit = np.full(self.n_features, -1, dtype=np.intp)
        for k, features in enumerate(self.members):
            unit[features] = k
        return unit

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Sum of a value over the features of each unit."""
        if self.single:
            return values
        unit = self.of_feature()
        free = unit >= 0
        return np.bincount(unit[free], values[free], minlength=len(self.members))


_UNKNOWN_GROUP = (
    "whether such a sample belongs with others is unknown. Leave these samples out, or give each a "
    "group of its own."
)


def check_groups(
    groups: Any, n_samples: int, *, name: str = "groups", unknown: str = _UNKNOWN_GROUP
) -> np.ndarray:
    """Which samples belong together, or their times: a vector without missing values.

    ``name`` is what the user calls it, and ``unknown`` what to say of missing values.
    """
    groups = as_numpy(groups, name)
    if not isinstance(groups, np.ndarray) and nw.dependencies.is_into_series(groups):
        groups = nw.from_native(groups, series_only=True).to_numpy()
    given = np.asarray(groups)
    if given.ndim == 2 and given.shape[1] == 1:  # a frame of one column
        given = given[:, 0]
    if isinstance(groups, str):
        raise ValueError(
            f"{name}={groups!r} is the name of a column; pass the column, frame[{groups!r}], with "
            "one entry for each of the samples."
        )
    if given.ndim != 1:
        raise ValueError(
            f"{name} has shape {given.shape}; it needs one entry for each of the samples."
        )
    if len(given) != n_samples:
        raise ValueError(
            f"{name} has {len(given)} entries, X has {n_samples} rows; it needs one for each "
            "of the samples."
        )
    bad = missing_entries(given)
    if bad.any():
        where, count = int(np.flatnonzero(bad)[0]), int(bad.sum())
        raise MissingValuesError(
            f"{name} contains a missing value (first at row {where}; {count} in all): {unknown}",
            argument=name,
            row=where,
            count=count,
        )
    if given.dtype.kind == "O":
        kinds = {isinstance(one, str) for one in given.tolist()}
        if len(kinds) > 1:
            raise ValueError(
                f"{name} mixes text with other values; use one type for all, for instance "
                f"[str(one) for one in {name}]."
            )
    return given


def check_times(
    times: Any, n_samples: int, *, name: str = "times", unknown: str = _UNKNOWN_GROUP
) -> np.ndarray:
    """The times of the samples: numbers or dates."""
    found = check_groups(times, n_samples, name=name, unknown=unknown)
    if found.dtype.kind in "US" or any(isinstance(one, str) for one in found[:1]):
        raise ValueError(
            f"{name} holds the text {str(found[0])!r}; times are numbers or dates, since text is "
            "not in their order."
        )
    return found


def group_codes(groups: Any, n_samples: int) -> np.ndarray:
    """The same as numbers from 0."""
    return np.unique(check_groups(groups, n_samples), return_inverse=True)[1]


def number_to_drop(step: Any, left: int, least: int) -> int:
    """How many of ``left`` units leave now, so that ``least`` stay at any rate.

    ``step`` is their number, their fraction of those left, or "half".
    """
    if isinstance(step, str):
        count = left // 2
    elif isinstance(step, Integral):
        count = int(step)
    else:
        count = int(float(step) * left + 1e-9)  # 0.29 * 100 is a little less than 29
    return max(1, min(count, left - least))


def check_units(
    feature_groups: Any, fixed_features: Any, n_features: int, names: Sequence[Any] | None = None
) -> Units:
    """Read ``feature_groups`` and ``fixed_features``.

    Parameters
    ----------
    feature_groups : sequence of sequences, dict of sequences, or None
        Each group lists features by position or by name; the keys of a dict are the names of the
        groups. A feature in no group is a unit alone.
    fixed_features : sequence, or None
        Features that are always in. A group of which any is fixed is fixed as a whole.
    n_features : int
        Number of features.
    names : sequence of str, optional
        Names of the features.
    """
    if feature_groups is None and fixed_features is None:
        return Units(list(np.arange(n_features)[:, None]), np.empty(0, dtype=np.intp), n_features)
    groups = [] if feature_groups is None else feature_groups
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise ValueError(
            f"feature_groups={feature_groups!r} is not understood; pass a list of groups, each a "
            "list of positions or names of features, such as [[0, 1], ['age', 'income']], or a "
            "dict of such lists, such as {'colour': ['red', 'green']}."
        )
    by_name = isinstance(groups, Mapping)
    given = dict(groups) if by_name else dict(enumerate(groups))
    keys = list(given)
    taken = np.full(n_features, -1, dtype=np.intp)
    read: list[np.ndarray] = []
    for k, (key, group) in enumerate(given.items()):
        features = check_features(group, f"feature_groups[{key!r}]", n_features, names)
        if not len(features):
            raise ValueError(f"feature_groups[{key!r}] is empty; leave it out.")
        double = features[taken[features] >= 0]
        if len(double):
            raise ValueError(
                f"feature {_called(double[0], names)} is in "
                f"feature_groups[{keys[taken[double[0]]]!r}] and in feature_groups[{key!r}]; a "
                "feature belongs to one group at most."
            )
        taken[features] = k
        read.append(features)
    fixed = np.zeros(n_features, dtype=bool)
    if fixed_features is not None:
        fixed[check_features(fixed_features, "fixed_features", n_features, names)] = True
    for features in read:
        fixed[features] |= fixed[features].any()
    first = {int(features[0]): features for features in read}
    members = [
        first.get(j, np.array([j]))
        for j in range(n_features)
        if not fixed[j] and (taken[j] < 0 or j in first)
    ]
    named = {str(key): features for key, features in zip(keys, read, strict=True)}
    return Units(members, np.flatnonzero(fixed), n_features, named if by_name else None)


def check_features(
    features: Any, argument: str, n_features: int, names: Sequence[Any] | None = None
) -> np.ndarray:
    """Positions, ascending, of features given by position, by name, or by a boolean mask."""
    text, listed = isinstance(features, (str, bytes)), isinstance(features, Iterable)
    if text or not listed or (isinstance(features, np.ndarray) and features.ndim != 1):
        raise ValueError(
            f"{argument}={features!r} is not understood; pass a list of positions or names of "
            "features."
        )
    values = list(features)
    if values and all(isinstance(value, (bool, np.bool_)) for value in values):
        if len(values) != n_features:
            raise ValueError(
                f"{argument} is a mask of {len(values)} entries; X has {n_features} features."
            )
        return np.flatnonzero(values)
    place = {} if names is None else {str(name): j for j, name in enumerate(names)}
    found = []
    for value in values:
        if isinstance(value, str):
            if value not in place:
                known = "X has no named columns" if not place else f"X has no column {value!r}"
                raise ValueError(f"{argument} names {value!r}, but {known}.")
            found.append(place[value])
        elif isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)):
            if not 0 <= int(value) < n_features:
                raise ValueError(
                    f"{argument} holds {value}; features are numbered 0 to {n_features - 1}."
                )
            found.append(int(value))
        else:
            raise ValueError(
                f"{argument} holds {value!r}; features are given by position or by name."
            )
    if len(set(found)) < len(found):
        twice = next(j for j in found if found.count(j) > 1)
        raise ValueError(f"{argument} lists feature {_called(twice, names)} twice.")
    return np.array(sorted(found), dtype=np.intp)


def values_by_name(
    values: Any,
    argument: str,
    n_features: int,
    names: Sequence[Any] | None = None,
    otherwise: float | None = None,
) -> Any:
    """Values in the order of the features if they come by name (a dict or a pandas Series).

    Features that are not named get ``otherwise``, or are refused; other values stay as they are.
    """
    if hasattr(values, "index") and hasattr(values, "to_dict"):
        labels = list(values.index)
        if not all(isinstance(label, str) for label in labels):
            return values
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise ValueError(f"{argument} names {twice!r} more than once; give one value each.")
        values = values.to_dict()
    if not isinstance(values, dict):
        return values
    places = {name: j for j, name in enumerate(range(n_features) if names is None else names)}
    for name in values:
        if name not in places:
            known = ", ".join(map(repr, list(places)[:3]))
            raise ValueError(
                f"{argument} names {name!r}, which X does not have; its columns are {known}"
                f"{', ...' if n_features > 3 else ''}."
            )
    absent = next((name for name in places if name not in values), None)
    if otherwise is None and absent is not None:
        raise ValueError(
            f"{argument} does not name {absent!r}; give a value for every column of X."
        )
    return [values.get(name, otherwise) for name in places]


def _called(j: Any, names: Sequence[Any] | None) -> str:
    return str(int(j)) if names is None else repr(str(names[j]))
