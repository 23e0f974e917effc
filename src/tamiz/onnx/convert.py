"""From a fitted model to a file that other programs can run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import tamiz
from tamiz.onnx import neighbours as _neighbours  # noqa: F401  registers what they answer
from tamiz.onnx import trees as _trees  # noqa: F401  registers what trees answer
from tamiz.onnx.answers import Answers, answers
from tamiz.onnx.graph import ML, ML_OPSET, OPSET, Graph, Value
from tamiz.onnx.transforms import features
from tamiz.runtime.checkpoint import cannot, write_whole
from tamiz.validation import checked, estimator_with, file_path, one_of, optional

_IR_VERSION = 8  # that of the operators' version


@checked(
    model=estimator_with("fit", advice="pass a fitted one"),
    path=optional(file_path),
    dtype=one_of("float64", "float32"),
)
def to_onnx(
    model: Any, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64"
) -> Any:
    """Write a fitted model as an ONNX graph, which runs without tamiz and without Python.

    Parameters
    ----------
    model : estimator
        A fitted machine (``SVC``, ``SVR``, ``OneClassSVM``, ``SVDD``, linear machines), tree,
        forest or selector of tamiz, or a pipeline of them with scalers of scikit-learn.
    path : str or path-like, optional
        Where to write the file as well; one that is there is replaced at the last moment.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input and of the numbers that come out. Inside, everything is float64.

    Returns
    -------
    onnx.ModelProto
        Its input ``X`` has a row for each sample. Classifiers have the output ``label`` and, where
        the model has them, ``decisions`` and ``probabilities``; regressions have ``value``, other
        selectors and transformers ``features``. Where the model knows the names of its columns, the
        property ``features`` of the file holds them, in order, as JSON.

    Raises
    ------
    TypeError
        If a kernel or a step has no form in ONNX; the sentence names it.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tamiz
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = tamiz.to_onnx(tamiz.SVC().fit(X, y))
    >>> [one.name for one in graph.graph.output]
    ['label', 'decisions']
    """
    check_is_fitted(model)
    graph = Graph()
    X = graph.named("X")
    inside = graph.number(X) if dtype == "float32" else X
    outputs = [
        _output(graph, name, value, dtype) for name, value in _named(model, graph, inside).items()
    ]
    width = _width(model)
    helper, kinds = graph.onnx.helper, graph.onnx.TensorProto
    kind = kinds.FLOAT if dtype == "float32" else kinds.DOUBLE
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            type(model).__name__,
            [helper.make_tensor_value_info("X", kind, ["rows", width])],
            outputs,
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)],
        producer_name="tamiz",
        producer_version=tamiz.__version__,
        ir_version=_IR_VERSION,
    )
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        helper.set_model_props(made, {"features": json.dumps([str(name) for name in names])})
    if path is not None:
        try:
            write_whole(path, made.SerializeToString())
        except OSError as error:
            raise cannot("write", Path(path), error) from None
    return made


def _width(model: Any) -> int:
    """Columns of the input; a pipeline may begin with steps that are left out."""
    first = model
    while isinstance(first, Pipeline):
        acting = [step for _, step in first.steps if step is not None and step != "passthrough"]
        if not acting:
            raise TypeError("a Pipeline of 'passthrough' alone does nothing that could be written.")
        first = acting[0]
    return int(first.n_features_in_)


def _named(model: Any, graph: Graph, X: Value) -> dict[str, tuple[Value, Any, int]]:
    """The outputs: a value, its type and its number of axes."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not hasattr(last, "predict"):
        return {"features": (features(model, graph, X), None, 2)}
    found: Answers = answers(model, graph, X)
    named: dict[str, tuple[Value, Any, int]] = {}
    if found.codes is not None:
        labels = labels_of(found.classes)
        named["label"] = (graph.pick(labels, found.codes), labels.dtype, 1)
    if found.decisions is not None:
        assert found.classes is not None
        named["decisions"] = (found.decisions, None, 1 if len(found.classes) == 2 else 2)
    if found.probabilities is not None:
        named["probabilities"] = (found.probabilities, None, 2)
    if found.value is not None:
        named["value"] = (found.value, None, 1)
    return named


def labels_of(classes: Any) -> np.ndarray:
    """Classes in a type that a graph can hold: text, integers, numbers or truth values."""
    labels = np.asarray(classes)
    if labels.dtype.kind in "OU" and all(isinstance(one, str) for one in labels.tolist()):
        return labels.astype(object)
    if labels.dtype.kind in "iufb":
        return labels.astype({"i": np.int64, "u": np.int64, "f": np.float64, "b": bool}[
            labels.dtype.kind
        ])  # fmt: skip
    raise TypeError(
        f"classes of type {labels.dtype} cannot be written as an ONNX graph; use text or numbers."
    )


def _output(graph: Graph, name: str, written: tuple[Value, Any, int], dtype: str) -> Any:
    value, kind, axes = written
    helper, kinds = graph.onnx.helper, graph.onnx.TensorProto
    if kind is None:
        kind = np.dtype(dtype)
        value = graph.number(value, kind)
    graph.op("Identity", value, out=name)
    text = np.dtype(kind) == object
    element = kinds.STRING if text else helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    return helper.make_tensor_value_info(name, element, ["rows", None][:axes])
