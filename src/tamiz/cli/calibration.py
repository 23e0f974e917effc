"""Probabilities from decision values.

Platt's sigmoid ``P(class | f) = 1 / (1 + exp(-(a f + b)))`` is fitted, by maximum likelihood, to
decision values of rows that took no part in the fit. The targets are ``(n₁ + 1) / (n₁ + 2)`` and
``1 / (n₀ + 2)`` in place of 1 and 0, so that classes that are separated without error do not get
certainty. More than two classes: a sigmoid for each against the rest, then divided by their sum.

The sigmoid is used for any number of rows. Isotonic regression needs some thousand rows of each
class to be better, and gives probabilities of exactly 0 and 1, which log loss punishes.

References
----------
.. [1] J. Platt (1999). Probabilistic outputs for support vector machines. Advances in Large Margin
   Classifiers.
.. [2] B. Zadrozny, C. Elkan (2002). Transforming classifier scores into accurate multiclass
   probability estimates. KDD.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from tamiz.search.splits import TimeFolds, inner_splits

FOLDS = 5
MOST_ROWS = 3000  # in the folds of a calibration: it must not take longer than the fit


def decision_values(machine: Any, X: Any) -> np.ndarray | None:
    """What a classifier knows about rows: one column for two classes, else one for each class.

    Decision values, or the fractions of votes that trees and neighbours give; None where there is
    neither.
    """
    n_classes = len(machine.classes_)
    if hasattr(machine, "decision_function"):
        found = np.asarray(machine.decision_function(X), dtype=float)
    elif hasattr(machine, "predict_proba"):
        found = np.asarray(machine.predict_proba(X), dtype=float)
        found = found[:, 1] - 0.5 if n_classes == 2 else found  # zero where it is undecided
    else:
        return None
    found = found.reshape(len(found), -1)
    return found if found.shape[1] == (1 if n_classes == 2 else n_classes) else None


def fit_copy(pipeline: Pipeline, X: Any, y: np.ndarray, weights: Any = None) -> Pipeline:
    """A fitted copy; the last step takes the weights of the rows."""
    machine = clone(pipeline)
    if weights is None:
        return machine.fit(X, y)
    path, last = "", machine
    while isinstance(last, Pipeline):
        name, last = last.steps[-1]
        path += f"{name}__"
    if not has_fit_parameter(last, "sample_weight"):
        raise ValueError(f"{type(last).__name__} takes no weights; use another judge.")
    return machine.fit(X, y, **{f"{path}sample_weight": np.asarray(weights)})


def out_of_fold(
    pipeline: Pipeline,
    X: Any,
    y: np.ndarray,
    splits: Iterable[tuple[np.ndarray, np.ndarray]],
    weights: Any = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Predictions and decision values of each row by a copy that was fitted without it.

    Rows that no split tests have NaN (of predictions: the row's own ``y``).
    """
    classes = np.unique(y)
    predictions, values = np.array(y), None
    for train, test in splits:
        given = None if weights is None else np.asarray(weights)[train]
        machine = fit_copy(pipeline, X[train], y[train], given)
        predictions[test] = machine.predict(X[test])
        if not np.array_equal(getattr(machine, "classes_", ()), classes):
            continue  # a regression, or a class without rows to learn from
        found = decision_values(machine, X[test])
        if found is None:
            continue
        if values is None:
            values = np.full((len(y), found.shape[1]), np.nan)
        values[test] = found
    return predictions, values


def folds_of(
    y: np.ndarray, seed: int, groups: Any = None, times: Any = None
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """About 3,000 rows, the classes in proportion, and their folds; none if a class has one row.

    The folds number the rows that were chosen; rows of a group are in one fold, and with times
    every fold is predicted from the past.
    """
    rng = np.random.default_rng(seed)
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(codes)
    if len(counts) < 2 or counts.min() < 2:
        return np.arange(len(y)), []
    rows = np.arange(len(y))
    if len(y) > MOST_ROWS:
        take = np.maximum(np.minimum(counts, FOLDS), counts * MOST_ROWS // len(y))
        rows = np.sort(
            np.concatenate(
                [
                    rng.choice(np.flatnonzero(codes == k), size=n, replace=False)
                    for k, n in enumerate(take)
                ]
            )
        )
    codes = codes[rows]
    if times is not None:
        everyone, known = np.arange(len(rows)), np.asarray(times)[rows]
        return rows, inner_splits(TimeFolds(FOLDS), everyone, codes, FOLDS, True, seed, known)
    units = rows if groups is None else np.asarray(groups)[rows]
    most = min(int(np.bincount(codes).max()), len(np.unique(units)))
    if most < 2:
        return rows, []
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(min(FOLDS, most), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # two rows of a class are never in one fold
        return rows, list(splitter.split(np.zeros((len(rows), 1)), codes, units))


def fit_sigmoids(
    values: np.ndarray, y: np.ndarray, classes: np.ndarray, weights: Any = None
) -> np.ndarray:
    """Slope and intercept for each column of decision values; weights count as rows."""
    modelled = classes[1:] if values.shape[1] == 1 else classes
    weights = np.ones(len(y)) if weights is None else np.asarray(weights) / np.mean(weights)
    return np.array(
        [_sigmoid(values[:, k], y == label, weights) for k, label in enumerate(modelled)]
    )


def probabilities(values: np.ndarray, sigmoids: np.ndarray) -> np.ndarray:
    """One row for each row of ``values``, one column for each class; rows add up to one."""
    found = expit(values * sigmoids[:, 0] + sigmoids[:, 1])
    if found.shape[1] == 1:
        return np.hstack([1 - found, found])
    found = np.maximum(found, np.finfo(float).tiny)
    return found / found.sum(axis=1, keepdims=True)


def _sigmoid(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    n, n_positive = float(weights.sum()), float(weights[positive].sum())
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n - n_positive + 2))
    spread = float(scores.std())
    if spread > 0:
        # a row counts as both classes, with weights that are its target
        machine = LogisticRegression(C=1e10, tol=1e-8, max_iter=1000).fit(
            np.concatenate([scores, scores])[:, None] / spread,
            np.repeat([1, 0], len(scores)),
            sample_weight=np.concatenate([weights * target, weights * (1 - target)]),
        )
        if machine.coef_[0, 0] > 0:
            return float(machine.coef_[0, 0] / spread), float(machine.intercept_[0])
    # scores that say nothing, or the opposite, of rows not seen: every row has the class's rate
    return 0.0, float(logit((n_positive + 1) / (n + 2)))
