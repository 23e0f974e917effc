"""What transformers make of a table, as graphs: selectors, scalers, and what fills in values."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from tamiz.base import Selector
from tamiz.evaluation import AutoScaler, CovariateAdjuster
from tamiz.onnx.graph import Graph, Value


@singledispatch
def features(step: Any, graph: Graph, X: Value) -> Value:
    """What a fitted transformer makes of a table; one of your own can be registered."""
    raise TypeError(
        f"{type(step).__name__} cannot be written as an ONNX graph by tamiz; before a machine it "
        "writes selectors, StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, AutoScaler, "
        "CovariateAdjuster and SimpleImputer. skl2onnx may know the others: after "
        "tamiz.onnx.register_skl2onnx(), skl2onnx.to_onnx(model, X[:1]) writes the machines of "
        "tamiz among them."
    )


@features.register(str)
@features.register(type(None))
def _nothing(step: Any, graph: Graph, X: Value) -> Value:
    return X  # "passthrough"


@features.register(Pipeline)
def _pipeline(step: Any, graph: Graph, X: Value) -> Value:
    for _, inner in step.steps:
        X = features(inner, graph, X)
    return X


@features.register(GridSearchCV)
@features.register(RandomizedSearchCV)
def _best(step: Any, graph: Graph, X: Value) -> Value:
    return features(refitted(step), graph, X)


def refitted(search: Any) -> Any:
    """The model that a search fitted to all samples with the best parameters."""
    if not search.refit:
        raise TypeError(
            f"{type(search).__name__} with refit=False has no model that could be written as an "
            "ONNX graph; fit it with refit=True."
        )
    return search.best_estimator_


@features.register(Selector)
@features.register(SelectorMixin)
def _selected(step: Any, graph: Graph, X: Value) -> Value:
    chosen = step.get_support(indices=True)
    if not len(chosen):
        raise ValueError(
            f"{type(step).__name__} selected no features, so there is nothing to write; select at "
            "least one."
        )
    return graph.columns(X, chosen)


@features.register(StandardScaler)
def _standard(step: Any, graph: Graph, X: Value) -> Value:
    if step.with_mean:
        X = X - step.mean_
    return X / step.scale_ if step.with_std else X


@features.register(MinMaxScaler)
def _minmax(step: Any, graph: Graph, X: Value) -> Value:
    X = X * step.scale_ + step.min_
    low, high = map(float, step.feature_range)
    return graph.op("Clip", X, low, high) if step.clip else X


@features.register(MaxAbsScaler)
def _maxabs(step: Any, graph: Graph, X: Value) -> Value:
    X = X / step.scale_
    return graph.op("Clip", X, -1.0, 1.0) if getattr(step, "clip", False) else X


@features.register(RobustScaler)
def _robust(step: Any, graph: Graph, X: Value) -> Value:
    if step.with_centering:
        X = X - step.center_
    return X / step.scale_ if step.with_scaling else X


@features.register(AutoScaler)
def _auto(step: Any, graph: Graph, X: Value) -> Value:
    if step.drawn_in_.any():
        t = (X - step.center_) / step.spread_
        far = graph.op("Abs", t)
        # asinh of the size, without what cancels near zero; beyond 1e150 its square is infinite
        near = graph.op("Min", far, 1e150)
        root = graph.op("Sqrt", near * near + 1.0)
        inside = _log1p(graph, near + near * near / (root + 1.0))
        drawn = graph.op("Sign", t) * (inside + graph.op("Log", graph.op("Max", far / 1e150, 1.0)))
        X = graph.where(graph.constant(step.drawn_in_), drawn, X)
    return (X - step.mean_) / step.scale_


def _log1p(graph: Graph, u: Value) -> Value:
    """``log(1 + u)`` that keeps the digits of a small ``u``: Kahan's ``log(v) u / (v - 1)``."""
    v = u + 1.0
    same = graph.op("Equal", v, 1.0)
    rest = graph.where(same, 1.0, v - 1.0)
    return graph.where(same, u, graph.op("Log", v) * u / rest)


@features.register(CovariateAdjuster)
def _adjusted(step: Any, graph: Graph, X: Value) -> Value:
    known = graph.columns(X, step.covariates_) - step.center_
    Z = graph.columns(X, step.features_) - step.mean_
    if len(step.covariates_):
        Z = Z - known @ step.coef_
    return graph.where(graph.constant(step.gone_), 0.0, Z)


@features.register(SimpleImputer)
def _filled(step: Any, graph: Graph, X: Value) -> Value:
    missing = step.missing_values
    is_nan = isinstance(missing, float) and np.isnan(missing)
    if step.add_indicator or not (is_nan or isinstance(missing, (int, float))):
        raise TypeError(
            "SimpleImputer with indicators, or of other missing values than numbers and NaN, "
            "cannot be written as an ONNX graph by tamiz; use the plain form."
        )
    there = np.asarray(step.statistics_, dtype=np.float64)
    lost = np.isnan(there)  # columns without any value, which are left out
    if lost.any():
        X, there = graph.columns(X, np.flatnonzero(~lost)), there[~lost]
    absent = graph.op("IsNaN", X) if is_nan else graph.op("Equal", X, float(missing))
    return graph.where(absent, there, X)
