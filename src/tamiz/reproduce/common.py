"""Steps that several recipes share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Samples(NamedTuple):
    """Numbers and labels, the labels as text."""

    X: np.ndarray
    y: np.ndarray
    names: list[str]


def read(name: str, numeric: bool = False) -> Samples:
    """A data set by name, in the order of its rows; only its ``numeric`` columns if told so."""
    from tamiz.data import load

    data = load(name)
    X, names = np.asarray(data.X, dtype=np.float64), np.asarray(data.feature_names, dtype=str)
    if numeric:
        X, names = X[:, ~data.categorical], names[~data.categorical]
    return Samples(X, np.asarray(data.y).astype(str), names.tolist())


def unit(X: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
    """Columns scaled to [0, 1]; to the range that they have in ``like`` if it is given."""
    low, high = (X if like is None else like).min(axis=0), (X if like is None else like).max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0)


def e1071_scale(train: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Means zero and deviations (n - 1) one in the training part, as ``e1071::svm`` does.

    If a column is constant there, e1071 warns and scales none of them.
    """
    deviation = train.std(axis=0, ddof=1)
    if not deviation.all():
        return [train, *others]
    mean = train.mean(axis=0)
    return [(table - mean) / deviation for table in (train, *others)]


def split(rng: np.random.Generator, y: np.ndarray, share: float = 0.7) -> tuple[Any, Any]:
    """A random split that keeps the classes in proportion: positions to train and to test."""
    train = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        train[members[: max(1, round(share * len(members)))]] = True
    return np.flatnonzero(train), np.flatnonzero(~train)


def stratified_folds(rng: np.random.Generator, y: np.ndarray, n_folds: int) -> list[np.ndarray]:
    """Held-out positions of each fold; classes in proportion, sizes that differ by one at most."""
    order = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)])
    return [np.sort(order[k::n_folds]) for k in range(n_folds)]


def without(n: int, held: np.ndarray) -> np.ndarray:
    """The positions up to ``n`` that are not held out."""
    left = np.ones(n, dtype=bool)
    left[held] = False
    return np.flatnonzero(left)
