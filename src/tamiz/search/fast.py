"""The choice of a judge: the plain one, or a faster one that gives the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamiz.kernels import as_kernel
from tamiz.search.judges import CrossValidation, Judge
from tamiz.search.splits import Split
from tamiz.search.svc.judge import FastSVC
from tamiz.solvers.polish import MAX_VARIABLES
from tamiz.svm import SVC

#: Up to this many samples a machine is solved to rounding by the estimator too.
LARGEST_MACHINE = MAX_VARIABLES
#: Kernel matrices over all samples, training and test, are held for up to this many.
MOST_SAMPLES = 1000
#: Statistics of every feature in every split are held up to this many numbers.
MOST_STATISTICS = 8_000_000
#: Features beyond these sizes are left to the estimator, which has sentences for them.
_TINY, _HUGE = 1e-60, 1e60
_LOOSEST = 1e-2


def judge_for(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    splits: Sequence[Split],
    scoring: Any,
    sample_weight: np.ndarray | None,
) -> Judge:
    """The fastest judge that scores subsets as ``CrossValidation`` would.

    The fast one serves ``tamiz.svm.SVC`` with a linear, polynomial or radial kernel, alone or in a
    pipeline behind a ``StandardScaler`` or ``MinMaxScaler`` with default parameters, on dense data
    without gaps, with up to 600 samples in a machine. (The sigmoid kernel need not be positive
    definite; a machine may then have several solutions, and the plain judge is the one to ask.)
    """
    plain = CrossValidation(estimator, X, y, splits, scoring, sample_weight)
    machine, scaler = _parts(estimator)
    if machine is None or not _is_exact(machine) or not _is_plain_table(X):
        return plain
    kernel = as_kernel(
        machine.kernel, gamma=machine.gamma, degree=machine.degree, coef0=machine.coef0
    )
    if kernel.pairwise_form is None:
        return plain
    if sample_weight is not None and not (sample_weight > 0).all():
        return plain
    if not _can_stand_in(plain.scorer, scoring) or not _fits(plain, X):
        return plain
    return FastSVC(plain, machine, scaler, kernel, direct=scoring is None or scoring == "accuracy")


def _parts(estimator: Any) -> tuple[Any, Any]:
    """The machine and the scaler before it, or twice None if the estimator is anything else."""
    if get_config().get("enable_metadata_routing"):
        return None, None
    if type(estimator) is SVC:
        return estimator, None
    if type(estimator) is Pipeline and len(estimator.steps) == 2 and estimator.memory is None:
        scaler, machine = (step for _, step in estimator.steps)
        if type(machine) is SVC and _is_default(scaler):
            return machine, scaler
    return None, None


def _is_default(scaler: Any) -> bool:
    if type(scaler) is StandardScaler:
        return bool(scaler.with_mean and scaler.with_std)
    if type(scaler) is MinMaxScaler:
        return tuple(scaler.feature_range) == (0, 1) and not scaler.clip
    return False


def _is_exact(machine: SVC) -> bool:
    """Whether the parameters are valid, and such that small machines are solved to rounding."""
    try:
        machine._validate_params()
    except (TypeError, ValueError):
        return False
    return machine.max_iter < 0 and machine.tol <= _LOOSEST


def _is_plain_table(X: Any) -> bool:
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or X.ndim != 2:
        return False
    if X.shape[0] > MOST_SAMPLES or not np.isfinite(X).all():
        return False
    size = np.abs(X).max(axis=0)
    spread = np.ptp(X, axis=0)
    usual = ((size == 0) | (size > _TINY)) & (size < _HUGE) & ((spread == 0) | (spread > _TINY))
    return bool(usual.all())


def _fits(plain: CrossValidation, X: np.ndarray) -> bool:
    """Whether every split can be taken the fast way."""
    if plain.n_splits * X.shape[1] > MOST_STATISTICS:
        return False
    return all(
        len(train) <= LARGEST_MACHINE and len(np.unique(train)) == len(train)
        for train, _ in plain.splits
    )


def _can_stand_in(scorer: Any, scoring: Any) -> bool:
    """Whether the metrics look at predictions and decision values only."""
    from sklearn.metrics._scorer import _BaseScorer

    if scoring is None or isinstance(scoring, str):
        return True
    if callable(scoring):
        return isinstance(scoring, _BaseScorer)
    several = scoring.values() if isinstance(scoring, dict) else scoring
    return all(isinstance(one, (str, _BaseScorer)) for one in several)
