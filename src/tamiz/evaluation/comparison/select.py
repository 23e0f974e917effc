"""The selection inside a training part: gaps, scale, seeds, and the order that a selector gives."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from tamiz.base import order_by
from tamiz.evaluation._workers import refuse_interrupted
from tamiz.evaluation.comparison.setting import Failures, Ranking, Setting
from tamiz.evaluation.scaler import AutoScaler


def prepared(
    setting: Setting, train: np.ndarray, test: np.ndarray, key: tuple[int, ...]
) -> tuple[Any, Any]:
    """Both parts, missing values filled and features scaled by what the training part says."""

    def make() -> tuple[Any, Any]:
        X, X_test = setting.X[train], setting.X[test]
        steps = preparing_steps(setting.gaps, setting.scale, sparse.issparse(setting.X))
        if not steps:
            return X, X_test
        pipe = Pipeline(steps)
        return pipe.fit_transform(X), pipe.transform(X_test)

    return setting.kept.get(key, make)


def preparing_steps(gaps: bool, scale: str | None, is_sparse: bool) -> list[tuple[str, Any]]:
    """What is done to a table before selector and judge, by name; sparse ones are not centred."""
    steps: list[tuple[str, Any]] = []
    if gaps:
        steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True)))
    if scale == "auto" and not is_sparse:
        steps.append(("scale", AutoScaler()))
    elif scale in ("standard", "auto"):
        steps.append(("scale", StandardScaler(with_mean=not is_sparse)))
    elif scale == "minmax":
        steps.append(("scale", MaxAbsScaler() if is_sparse else MinMaxScaler()))
    return steps


def try_to_rank(
    setting: Setting,
    name: str,
    Z: Any,
    y: np.ndarray,
    key: tuple[int, ...],
    failures: Failures,
) -> Ranking | None:
    setting.stop.look()
    try:
        selector = seeded(clone(setting.selectors[name]), setting.seed_of("select", name, *key))
        began = time.perf_counter()
        rows = some_rows(y, setting.limits.methods.get(name), setting.task, setting.seed_of(*key))
        if len(rows) < len(y):
            Z, y = Z[rows], y[rows]
        selector.fit(Z, y)
        seconds = time.perf_counter() - began
        refuse_interrupted(selector)
        order = order_of(selector)
        if order is None and not setting.own[name]:
            raise TypeError(
                f"{type(selector).__name__} tells neither a ranking (order_, ranking_, scores_, "
                "feature_importances_ or coef_) nor a selection (get_support)"
            )
        own = np.flatnonzero(selector.get_support()) if setting.own[name] else np.empty(0, np.intp)
        scores = getattr(selector, "scores_", None)
        if setting.units is not None:
            order, own = _by_unit(order, own, setting.units)
            if scores is not None:
                scores = np.array([np.max(scores[columns]) for columns in setting.units])
        return Ranking(order, own, seconds, scores)
    except Exception as error:
        failures.take(error, f"selection by {name!r} among {len(y)} samples")
        return None


def some_rows(y: np.ndarray, most: int | None, task: str, seed: int) -> np.ndarray:
    """At most so many of the samples, drawn at random, the classes in proportion; all if None."""
    n = len(y)
    if most is None or n <= most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    if task != "classification":
        return np.sort(rng.permutation(n)[:most])
    kept = []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        kept.append(members[: max(min(len(members), 10), round(most * len(members) / n))])
    return np.sort(np.concatenate(kept))


def _by_unit(order: Any, own: np.ndarray, units: list[np.ndarray]) -> tuple[Any, np.ndarray]:
    """Features of several columns stand where the first of their columns stands."""
    unit = np.empty(sum(map(len, units)), dtype=np.intp)
    for j, columns in enumerate(units):
        unit[columns] = j
    if order is not None:
        found, first = np.unique(unit[order], return_index=True)
        order = found[np.argsort(first)]
    return order, np.unique(unit[own])


def order_of(selector: Any) -> Any:
    """All features, best first, as a fitted selector or estimator tells; None if it does not."""
    if hasattr(selector, "order_"):
        return np.asarray(selector.order_, dtype=np.intp)
    if hasattr(selector, "ranking_"):
        return np.argsort(np.asarray(selector.ranking_), kind="stable")
    scores = getattr(selector, "scores_", None)
    # a forest has an estimator_ too, which is but the pattern of its trees: itself first
    machines: list[Any] = [selector, getattr(selector, "estimator_", None)]
    for machine in machines:
        if scores is None:
            scores = getattr(machine, "feature_importances_", None)
        if scores is None and hasattr(machine, "coef_"):
            scores = np.linalg.norm(np.atleast_2d(machine.coef_), axis=0)
    return None if scores is None else order_by(np.asarray(scores, dtype=np.float64))


def seeded(estimator: Any, seed: int) -> Any:
    """Give a seed to everything in an estimator that has none."""
    params = estimator.get_params(deep=True)
    unset = [
        name
        for name, value in params.items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    return (
        estimator.set_params(**dict.fromkeys(sorted(unset), seed % 2**31)) if unset else estimator
    )
