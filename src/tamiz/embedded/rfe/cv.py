"""How many features: the elimination repeated inside folds, judged on what they hold out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, check_cv

from tamiz.embedded.rfe.run import Elimination
from tamiz.embedded.rfe.setup import Samples, Setup
from tamiz.embedded.rfe.sparse import SparseMachines
from tamiz.runtime.progress import Progress
from tamiz.runtime.units import number_to_drop
from tamiz.runtime.workers import Shared, crew_of
from tamiz.validation import Labels

Split = tuple[np.ndarray, np.ndarray]


def splits_of(
    cv: Any, X: Any, y: Any, labels: Labels, used: np.ndarray, random_state: Any
) -> list[Split]:
    """Training and held-out samples of each fold, numbered among those of positive weight.

    A number of folds divides the samples ``used``, as if there were no others. All else speaks of
    the table as it was handed over. Every class must be in every training part.
    """
    codes = labels.codes[used]
    if cv is None or isinstance(cv, Integral):
        counts = np.bincount(codes, minlength=len(labels.classes))
        n_splits = 5 if cv is None else int(cv)
        scarce = int(counts.argmin())
        if counts[scarce] < n_splits:
            raise ValueError(
                f"cv={n_splits} needs at least {n_splits} samples of every class; class "
                f"{labels.classes[scarce].item()!r} has {counts[scarce]}. Use fewer folds, or a "
                "number for n_features_to_select."
            )
        shuffle = random_state is not None
        folds = StratifiedKFold(n_splits, shuffle=shuffle, random_state=random_state)
        splits = list(folds.split(np.empty((len(used), 0)), codes))
    else:
        place = np.full(len(labels.codes), -1, dtype=np.intp)
        place[used] = np.arange(len(used))
        whole = check_cv(cv, np.asarray(y), classifier=True).split(X, np.asarray(y))
        splits = []
        for k, fold in enumerate(whole):
            train, test = (place[_rows(part, k, len(place))] for part in fold)
            splits.append((train[train >= 0], test[test >= 0]))
    if not splits:
        raise ValueError(f"cv={cv!r} gives no fold; use at least one.")
    for k, (train, test) in enumerate(splits):
        kept = np.bincount(codes[train], minlength=len(labels.classes))
        if not kept.all() or not len(test):
            lost = labels.classes[int(kept.argmin())].item()
            what = f"no sample of class {lost!r} for training" if len(test) else "nothing held out"
            raise ValueError(f"Fold {k} of cv has {what}; use other folds.")
    return splits


def _rows(part: Any, fold: int, n: int) -> np.ndarray:
    """Positions of samples from positions or a mask."""
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"Fold {fold} of cv holds {part!r}; a fold is a pair of lists of positions of samples."
        )
    wrong = rows[(rows < 0) | (rows >= n)]
    if len(wrong):
        raise ValueError(
            f"Fold {fold} of cv holds position {wrong[0]}; X has {n} samples, numbered 0 to "
            f"{n - 1}."
        )
    return rows.astype(np.intp)


def pack(splits: list[Split]) -> dict[str, np.ndarray]:
    """Folds as arrays for a checkpoint."""
    return {
        "cv_samples": np.concatenate([part for split in splits for part in split]),
        "cv_counts": np.array([[len(part) for part in split] for split in splits]),
    }


def unpack(state: dict[str, np.ndarray]) -> list[Split]:
    """What :func:`pack` packed."""
    parts = np.split(state["cv_samples"], np.cumsum(state["cv_counts"].ravel())[:-1])
    return list(zip(parts[::2], parts[1::2], strict=True))


def errors_by_size(
    setup: Setup,
    data: Samples,
    splits: list[Split],
    n_jobs: int | None,
    progress: Progress,
    errors: list[np.ndarray],
    keep: Callable[[], None],
) -> float:
    """Append to ``errors`` the share of wrong predictions of each further fold at each size.

    ``keep`` is called after each fold. Folds run in threads, as compiled code does the work, or on
    a cluster. Returns the largest excess of a machine.
    """
    jobs = [(split,) for split in splits[len(errors) :]]
    working = crew_of(n_jobs).results(_fold, Shared((setup, data)), jobs, prefer="threads")
    most = 0.0
    with closing(working) as answers:
        for fold, excess in answers:
            errors.append(fold)
            most = max(most, excess)
            keep()
            progress.update(f"{len(errors)} of {len(splits)} folds")
    return most


def sizes_of(setup: Setup) -> list[int]:
    """Numbers of units in play along an elimination to the end."""
    least = 0 if len(setup.units.fixed) else 1
    sizes = [len(setup.units.members)]
    while sizes[-1] > least:
        sizes.append(sizes[-1] - number_to_drop(setup.step, sizes[-1], least))
    return sizes


def _fold(given: tuple[Setup, Samples], split: Split) -> tuple[np.ndarray, float]:
    return _one_fold(*given, split)


def _one_fold(setup: Setup, data: Samples, split: Split) -> tuple[np.ndarray, float]:
    train, test = split
    machines, _ = setup.machines(data.part(train))
    held = data.part(test)
    Z = held.X
    if sparse.issparse(Z) and not isinstance(machines, SparseMachines):
        Z = Z.toarray()
    errors: list[float] = []

    def visit(_: int) -> None:
        codes = setup.predict(machines, Z, len(data.labels.classes))
        errors.append(float(np.average(codes != held.labels.codes, weights=held.weight)))

    Elimination(machines, setup.units, setup.step, 0).run(Progress("fold", 0), visit=visit)
    return np.array(errors), machines.excess
