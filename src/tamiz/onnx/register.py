"""Converters for skl2onnx, the converter of scikit-learn's own models."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from tamiz.base import Selector
from tamiz.onnx.answers import answers
from tamiz.onnx.convert import labels_of
from tamiz.onnx.graph import ML, ML_OPSET, OPSET, Graph, Value
from tamiz.onnx.transforms import features

#: Where estimators are that no other room has imported yet.
_ROOMS = ("discovery", "embedded", "evaluation", "filters", "neighbors", "search", "svm", "tree")
_ALIAS = "Tamiz"
_OPTIONS = {"predict": [False, True], "zipmap": [True, False, "columns"]}


def register_skl2onnx() -> None:
    """Let ``skl2onnx.to_onnx`` write the models of tamiz, also inside its pipelines.

    The graphs are those of :func:`tamiz.to_onnx`, with the steps around them as skl2onnx writes
    these. What tamiz cannot write is refused in the same sentences, when it is converted.

    Notes
    -----
    Classifiers have the output ``label`` and, where they have them, ``probabilities`` and
    ``decisions``, as plain tables: skl2onnx's option ``zipmap`` is accepted and does nothing.
    Selectors give their features; with the option ``predict`` those that end with a machine predict
    instead. Classes of your own below those of tamiz are known if they exist when this is called.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import tamiz
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), tamiz.SVC()).fit(X, y)

    With skl2onnx installed::

        tamiz.onnx.register_skl2onnx()
        graph = skl2onnx.to_onnx(model, X[:1])
    """
    try:
        import skl2onnx
    except ImportError:
        raise ImportError(
            "register_skl2onnx needs skl2onnx; install it with: pip install skl2onnx"
        ) from None
    for kind in _kinds():
        skl2onnx.update_registered_converter(
            kind, _ALIAS, _say_nothing, _convert, parser=_parse, options=_OPTIONS
        )


def _kinds() -> Iterator[type]:
    """All classes that a graph can be written of, scikit-learn's own left out."""
    for room in _ROOMS:
        names = import_module(f"tamiz.{room}")
        for name in names.__all__:
            getattr(names, name)
    waiting = [kind for one in (answers, features) for kind in one.registry]
    seen: set[type] = {object}
    while waiting:
        kind = waiting.pop()
        if kind in seen or kind.__module__.split(".")[0] in ("sklearn", "builtins"):
            continue
        seen.add(kind)
        waiting += kind.__subclasses__()
        yield kind


def _predicts(scope: Any, model: Any) -> bool:
    if not hasattr(model, "predict"):
        return False
    return (
        not isinstance(model, Selector) or scope.get_options(model, {"predict": False})["predict"]
    )


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs; whatever is converted with them has their names."""
    from skl2onnx.common.data_types import guess_tensor_type

    check_is_fitted(model)
    operator = scope.declare_local_operator(_ALIAS, model)
    operator.inputs = inputs
    number = guess_tensor_type(inputs[0].type)
    if not _predicts(scope, model):
        outputs = [("features", type(number)([None, None]))]
    elif hasattr(model, "classes_") or is_outlier_detector(model):
        outputs = [("label", _tensor_of(getattr(model, "classes_", np.array([-1, 1]))))]
        k = len(getattr(model, "classes_", ()))
        if hasattr(model, "predict_proba"):
            outputs.append(("probabilities", type(number)([None, k])))
        if hasattr(model, "decision_function"):
            outputs.append(("decisions", type(number)([None, k] if k > 2 else [None])))
    else:
        outputs = [("value", type(number)([None]))]
    for name, kind in outputs:
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _tensor_of(classes: Any) -> Any:
    from skl2onnx.common import data_types

    kinds = {
        "O": data_types.StringTensorType,
        "i": data_types.Int64TensorType,
        "f": data_types.DoubleTensorType,
        "b": data_types.BooleanTensorType,
    }
    return kinds[labels_of(classes).dtype.kind]([None])


def _say_nothing(operator: Any) -> None:
    """Types and shapes are those that were declared."""


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph of one model among skl2onnx's nodes."""
    opset = container.target_opset
    if opset < OPSET:
        raise ValueError(
            f"models of tamiz are written with operators of version {OPSET}; pass "
            f"target_opset={OPSET} or more instead of {opset}."
        )
    model = operator.raw_operator
    graph = Graph(opset, prefix=f"{scope.get_unique_operator_name('tamiz')}_")
    inputs = [graph.number(graph.named(one.full_name)) for one in operator.inputs]
    X = graph.join(inputs)
    predicts = _predicts(operator.scope_inst, model)
    found = _answered(model, graph, X) if predicts else {"features": features(model, graph, X)}
    for variable, value in zip(operator.outputs, found.values(), strict=False):
        _give(graph, variable, value)
    container.nodes.extend(graph.nodes)
    container.initializers.extend(graph.constants)
    container.node_domain_version_pair_sets.add(("", opset))
    if any(node.domain == ML for node in graph.nodes):
        container.node_domain_version_pair_sets.add((ML, ML_OPSET))


def _answered(model: Any, graph: Graph, X: Value) -> dict[str, Value]:
    said = answers(model, graph, X)
    found: dict[str, Value | None] = {}
    if said.codes is not None:
        found["label"] = graph.pick(labels_of(said.classes), said.codes)
    found |= {
        "probabilities": said.probabilities,
        "decisions": said.decisions,
        "value": said.value,
    }
    return {name: value for name, value in found.items() if value is not None}


def _give(graph: Graph, variable: Any, value: Value) -> None:
    """A result under the name that skl2onnx gave it, in its type."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    kind = {FloatTensorType: np.float32, DoubleTensorType: np.float64}.get(type(variable.type))
    if kind is not None:
        value = graph.number(value, kind)
    graph.op("Identity", value, out=variable.full_name)
