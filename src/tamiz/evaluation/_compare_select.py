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
from tamiz.evaluation._compare_setting import Failures, Ranking, Setting
from tamiz.evaluation._workers import refuse_interrupted


def prepared(setting: Setting, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
    """Both parts, gaps filled and features scaled by what the training part tells."""
    X, X_test = setting.X[train], setting.X[test]
    steps = preparing_steps(setting.gaps, setting.scale, sparse.issparse(setting.X))
    if not steps:
        return X, X_test
    pipe = Pipeline(steps)
    return pipe.fit_transform(X), pipe.transform(X_test)


def preparing_steps(gaps: bool, scale: str | None, is_sparse: bool) -> list[tuple[str, Any]]:
    """What is done to a table before selector and judge, by name; sparse ones are not centred."""
    steps: list[tuple[str, Any]] = []
    if gaps:
        steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True)))
    if scale == "standard":
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
    try:
        selector = seeded(clone(setting.selectors[name]), setting.seed_of("select", name, *key))
        began = time.perf_counter()
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
        return Ranking(order, own, seconds)
    except Exception as error:
        failures.take(error, f"selection by {name!r} among {len(y)} samples")
        return None


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
