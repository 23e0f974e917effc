"""The plan of a comparison: which samples learn and which judge, in every repeat and fold."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from tamiz.search.splits import Split, make_splits

#: Without ``sizes``: about three steps to a factor of four, up to this many.
_GRID = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)


@dataclass
class Part:
    """One split, and where it stands."""

    train: np.ndarray
    test: np.ndarray
    repeat: int
    fold: int


def plan_parts(
    cv: Any, repeats: int, X: Any, y: np.ndarray, task: str, seed: int, groups: Any
) -> list[Part]:
    """All splits of all repeats.

    A number of folds is shuffled anew in every repeat, the classes in proportion. Splitters that
    would give the same splits again are used once.
    """
    seeds = np.random.SeedSequence([seed, 1]).generate_state(repeats)
    parts = []
    for r in range(repeats if _varies(cv) else 1):
        splitter = cv
        if isinstance(cv, Integral) and not isinstance(cv, bool):
            splitter = _folds(int(cv), y, task, int(seeds[r]), groups)
        splits = make_splits(splitter, X, y, task == "classification", int(seeds[r]), groups)
        parts += [Part(train, test, r, f) for f, (train, test) in enumerate(splits)]
    if task == "classification":
        _refuse_one_class(parts, y)
    return parts


def inner_splits(y: np.ndarray, n_folds: int, task: str, seed: int, groups: Any) -> list[Split]:
    """Folds of a training part; fewer if samples, classes or groups are too few, or none at all."""
    most = len(y) if groups is None else len(np.unique(groups))
    if task == "classification":
        most = min(most, int(np.unique(y, return_counts=True)[1].max()))
    if most < 2:
        return []
    splitter = _splitter(min(n_folds, most), task, seed, groups)
    splits = list(splitter.split(np.zeros((len(y), 1)), y, groups))
    if task == "classification":
        splits = [(a, b) for a, b in splits if len(np.unique(y[a])) > 1]
    return [(a, b) for a, b in splits if len(a) and len(b)]


def check_sizes(sizes: Any, p: int) -> np.ndarray:
    """Numbers of features, ascending; a grid up to 200 by default."""
    if sizes is None:
        return np.array(sorted({min(size, p) for size in _GRID}))
    try:
        given = np.atleast_1d(np.asarray(sizes))
        whole = given.astype(np.intp)
        fine = given.ndim == 1 and len(given) > 0 and given.dtype.kind in "iuf"
        fine = fine and bool((whole == given).all()) and whole.min() >= 1
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise ValueError(
            f"sizes={sizes!r} is not understood; pass numbers of features from 1, such as "
            "[1, 5, 20, 100]."
        )
    if whole.max() > p:
        raise ValueError(
            f"sizes holds {whole.max()}, but X has {p} features; leave out sizes above {p}."
        )
    return np.unique(whole)


def _folds(n_folds: int, y: np.ndarray, task: str, seed: int, groups: Any) -> Any:
    if n_folds < 2 or n_folds > len(y):
        raise ValueError(
            f"cv={n_folds} folds need at least 2 and at most {len(y)}, one per sample."
        )
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        least = int(counts.min())
        if least < 2:
            raise ValueError(
                f"class {labels.tolist()[int(counts.argmin())]!r} has one sample: it cannot be in "
                "a training and in a test part. Leave this sample out, or merge its class with "
                "another."
            )
        if least < n_folds:
            raise ValueError(
                f"cv={n_folds} folds need {n_folds} samples of every class; class "
                f"{labels.tolist()[int(counts.argmin())]!r} has {least}. Use cv={least}, or leave "
                "this class out or merge it with another."
            )
    if groups is not None and len(np.unique(groups)) < n_folds:
        raise ValueError(
            f"cv={n_folds} folds need {n_folds} groups; there are {len(np.unique(groups))}."
        )
    return _splitter(n_folds, task, seed, groups)


def _splitter(n_folds: int, task: str, seed: int, groups: Any) -> Any:
    if groups is not None:
        if task == "classification":
            return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        return GroupKFold(n_folds, shuffle=True, random_state=seed)
    kind = StratifiedKFold if task == "classification" else KFold
    return kind(n_folds, shuffle=True, random_state=seed)


def _varies(cv: Any) -> bool:
    """Whether another seed gives other splits."""
    if isinstance(cv, Integral):
        return True
    if isinstance(cv, (str, LeaveOneOut)) or not hasattr(cv, "split"):
        return False
    return getattr(cv, "random_state", 0) is None and bool(getattr(cv, "shuffle", True))


def _refuse_one_class(parts: list[Part], y: np.ndarray) -> None:
    for part in parts:
        if len(np.unique(y[part.train])) < 2:
            raise ValueError(
                f"the training part of repeat {part.repeat}, fold {part.fold} holds one class "
                "only; use fewer folds, or shuffled and stratified ones."
            )
