"""What predictors answer, as graphs: machines, planes, and selectors that end with a machine."""

from __future__ import annotations

from functools import singledispatch
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from tamiz.embedded.scaling.selector import ScalingSelector
from tamiz.kernels import Precomputed
from tamiz.onnx.graph import Graph, Value
from tamiz.onnx.kernels import SamplePairs, kernel_values
from tamiz.onnx.transforms import features, refitted
from tamiz.svm import SVDD, SVR, LinearMachine, LinearMachineRegressor, OneClassSVM
from tamiz.svm.last_machine import LastMachineSelector
from tamiz.svm.linear import LinearDecision
from tamiz.svm.stream.machine import StreamedMachine
from tamiz.svm.svc import KernelClassifier
from tamiz.svm.terms import terms_of


class Answers(NamedTuple):
    """What a model says of each sample; None is what it does not say."""

    codes: Value | None = None  # places of the predicted classes
    classes: np.ndarray | None = None
    decisions: Value | None = None
    probabilities: Value | None = None
    value: Value | None = None  # of a regression


@singledispatch
def answers(model: Any, graph: Graph, X: Value) -> Answers:
    """The predictions of a model as a graph; a model of your own can be registered."""
    raise TypeError(
        f"{type(model).__name__} cannot be written as an ONNX graph by tamiz; it writes its own "
        "machines, trees, forests and selectors, and pipelines of them with scalers."
    )


@answers.register(Pipeline)
def _pipeline(model: Any, graph: Graph, X: Value) -> Answers:
    for _, step in model.steps[:-1]:
        X = features(step, graph, X)
    return answers(model.steps[-1][1], graph, X)


@answers.register(GridSearchCV)
@answers.register(RandomizedSearchCV)
def _best(model: Any, graph: Graph, X: Value) -> Answers:
    return answers(refitted(model), graph, X)


# ---------------------------------------------------------------------------- kernel machines


def expansion(machine: Any, graph: Graph, X: Value) -> Value:
    """``sum_i coef_i K(x, x_i) + intercept``, a column for each machine; ``X`` is moved already."""
    coef = np.ascontiguousarray(machine.dual_coef_.T)
    there = terms_of(machine).intercept
    if takes_kernel_values(machine):
        return graph.columns(X, machine.support_) @ coef + there
    if machine.kernel_.is_linear:
        return X @ np.ascontiguousarray(machine.coef_.T) + there
    vectors = machine.support_vectors_
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    if not len(coef) and not machine.kernel_.compares_text:
        return X @ np.zeros((machine.n_features_in_, coef.shape[1])) + there
    return kernel_values(machine.kernel_, SamplePairs(graph, X, vectors)) @ coef + there


def moved(machine: Any, X: Value) -> Value:
    """Samples as the kernel gets them."""
    centre = terms_of(machine).centre
    return X if centre is None else X - centre


def takes_kernel_values(machine: Any) -> bool:
    """Whether the samples of the machine are rows of kernel values."""
    return isinstance(machine.kernel_, Precomputed)


@answers.register(KernelClassifier)
def _classifier(model: Any, graph: Graph, X: Value) -> Answers:
    values = expansion(model, graph, moved(model, X))
    return by_values(graph, values, model.classes_, terms_of(model).scheme)


@answers.register(SVR)
def _regressor(model: Any, graph: Graph, X: Value) -> Answers:
    values = expansion(model, graph, moved(model, X))
    return Answers(value=graph.first_column(values))


@answers.register(OneClassSVM)
def _one_class(model: Any, graph: Graph, X: Value) -> Answers:
    scores = expansion(model, graph, moved(model, X)) - float(model.intercept_[0])
    return _novelty(graph, scores - float(model.offset_))


@answers.register(SVDD)
def _ball(model: Any, graph: Graph, X: Value) -> Answers:
    if takes_kernel_values(model):
        raise TypeError(
            "SVDD of precomputed kernel values cannot be written as an ONNX graph: the distance of "
            "a new sample needs its kernel value with itself; pass the kernel itself."
        )
    X = moved(model, X)
    own = kernel_values(model.kernel_, SamplePairs(graph, X, None))
    squares = own - 2.0 * expansion(model, graph, X) + float(model._center_norm)
    return _novelty(graph, 0.0 - squares - float(model.offset_))


def _novelty(graph: Graph, values: Value) -> Answers:
    values = graph.first_column(values)
    inside = graph.number(graph.op("GreaterOrEqual", values, 0.0), np.int64)
    return Answers(inside, np.array([-1, 1]), values)


def by_values(graph: Graph, values: Value, classes: np.ndarray, scheme: str) -> Answers:
    """The decision of several machines together, as :func:`tamiz.svm.multiclass.decide` has it."""
    k = len(classes)
    if k == 2:
        values = graph.first_column(values)
        codes = graph.number(graph.op("Greater", values, 0.0), np.int64)
        return Answers(codes, classes, values)
    if scheme == "ovo":
        pairs = list(combinations(range(k), 2))
        for_first, for_second = np.zeros((2, len(pairs), k))
        for m, (i, j) in enumerate(pairs):
            for_first[m, i] = for_second[m, j] = 1.0
        values = graph.op("Clip", values, -1e300 / k, 1e300 / k)
        second = graph.number(graph.op("Greater", values, 0.0))
        votes = second @ for_second + (1.0 - second) @ for_first
        sums = values @ (for_second - for_first)
        values = votes + sums / (3.0 * (graph.op("Abs", sums) + 1.0))
    return Answers(largest(graph, values), classes, values)


def largest(graph: Graph, values: Value) -> Value:
    """The column of the largest value in each row, the first of equals."""
    return graph.op("ArgMax", values, axis=1, keepdims=0)


# ------------------------------------------------------------------------------------- planes


def _plane(model: Any, graph: Graph, X: Value) -> Value:
    coef = np.ascontiguousarray(np.atleast_2d(model.coef_).T)
    return moved(model, X) @ coef + terms_of(model).intercept


@answers.register(LinearDecision)
def _linear(model: Any, graph: Graph, X: Value) -> Answers:
    values = _plane(model, graph, X)
    if getattr(model, "task_", "classification") == "regression":
        return Answers(value=graph.first_column(values))
    return by_values(graph, values, model.classes_, "ovr")


@answers.register(StreamedMachine)
def _streamed(model: Any, graph: Graph, X: Value) -> Answers:
    return by_values(graph, _plane(model, graph, X), model.classes_, terms_of(model).scheme)


@answers.register(LinearMachine)
def _with_chances(model: Any, graph: Graph, X: Value) -> Answers:
    found = _linear(model, graph, X)
    if model.loss != "logistic":
        return found
    assert found.decisions is not None  # it is a classifier
    if len(model.classes_) == 2:
        return found._replace(probabilities=two_chances(graph, found.decisions))
    chances = graph.op("Sigmoid", found.decisions)
    total = graph.reduce("ReduceSum", chances, 1)
    even = 1.0 / len(model.classes_)
    some = graph.op("Greater", total, 0.0)
    return found._replace(probabilities=graph.where(some, chances / total, even))


@answers.register(LinearMachineRegressor)
def _linear_regressor(model: Any, graph: Graph, X: Value) -> Answers:
    return Answers(value=graph.first_column(_plane(model, graph, X)))


def two_chances(graph: Graph, odds: Value) -> Value:
    """Probabilities of both classes from the log odds of the second."""
    column = graph.op("Unsqueeze", odds, np.array([1]))
    return graph.op("Sigmoid", column * np.array([[-1.0, 1.0]]))


# ---------------------------------------------------------------------------------- selectors


@answers.register(LastMachineSelector)
def _last_machine(model: Any, graph: Graph, X: Value) -> Answers:
    return answers(model.estimator_, graph, graph.columns(X, np.flatnonzero(model.support_)))


@answers.register(ScalingSelector)
def _scaled_machine(model: Any, graph: Graph, X: Value) -> Answers:
    scaled = graph.columns(X, model._columns) * model.scale_[model._columns]
    return answers(model.estimator_, graph, scaled)
