"""How many features: the elimination repeated inside folds, judged on what they hold out."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, check_cv

from tamiz._progress import Progress
from tamiz._validation import Labels
from tamiz.embedded._rfe_run import Elimination, number_to_drop
from tamiz.embedded._rfe_setup import Samples, Setup
from tamiz.embedded._rfe_sparse import SparseMachines

Split = tuple[np.ndarray, np.ndarray]


def splits_of(cv: Any, X: Any, labels: Labels, random_state: Any) -> list[Split]:
    """Training and held-out samples of each fold; every class must be in every training part."""
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    if cv is None or isinstance(cv, Integral):
        n_splits = 5 if cv is None else int(cv)
        scarce = int(counts.argmin())
        if counts[scarce] < n_splits:
            raise ValueError(
                f"cv={n_splits} needs at least {n_splits} samples of every class; class "
                f"{labels.classes[scarce].item()!r} has {counts[scarce]}. Use fewer folds, or a "
                "number for n_features_to_select."
            )
        shuffle = random_state is not None
        cv = StratifiedKFold(n_splits, shuffle=shuffle, random_state=random_state)
    splits = [
        (np.asarray(train), np.asarray(test))
        for train, test in check_cv(cv, labels.codes, classifier=True).split(X, labels.codes)
    ]
    for k, (train, test) in enumerate(splits):
        kept = np.bincount(labels.codes[train], minlength=len(labels.classes))
        if not kept.all() or not len(test):
            lost = labels.classes[int(kept.argmin())].item()
            what = f"no sample of class {lost!r} for training" if len(test) else "nothing held out"
            raise ValueError(f"Fold {k} of cv has {what}; use other folds.")
    return splits


def errors_by_size(
    setup: Setup,
    data: Samples,
    splits: list[Split],
    n_jobs: int | None,
    progress: Progress,
    done: list[np.ndarray],
    keep: Callable[[list[np.ndarray]], None],
) -> tuple[np.ndarray, np.ndarray]:
    """Share of wrong predictions of each fold at each number of units, and these numbers.

    ``done`` holds the errors of the first folds, if known; ``keep`` gets all those known after
    each fold. Folds run in threads: compiled code does the work.
    """
    rest = splits[len(done) :]
    answers = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_one_fold)(setup, data, split) for split in rest
    )
    errors = list(done)
    for fold in answers:
        errors.append(fold)
        keep(errors)
        progress.update(f"{len(errors)} of {len(splits)} folds")
    return np.array(errors), np.array(sizes_of(setup))


def sizes_of(setup: Setup) -> list[int]:
    """Numbers of units in play along an elimination to the end."""
    least = 0 if len(setup.units.fixed) else 1
    sizes = [len(setup.units.members)]
    while sizes[-1] > least:
        sizes.append(sizes[-1] - number_to_drop(setup.step, sizes[-1], least))
    return sizes


def _one_fold(setup: Setup, data: Samples, split: Split) -> np.ndarray:
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
    return np.array(errors)
