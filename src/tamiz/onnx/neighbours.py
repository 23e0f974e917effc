"""Nearest neighbours as graphs: distances attribute by attribute, the nearest, and their votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.neighbors import KNNClassifier
from tamiz.neighbors.classifier import TIE_RULES, Voters
from tamiz.onnx.answers import Answers, answers
from tamiz.onnx.graph import Graph, Value

#: Numbers beyond it are taken as this large, so that no sum of squares is infinite.
_FAR = 1e140


@answers.register(KNNClassifier)
def _vote(model: Any, graph: Graph, X: Value) -> Answers:
    if model.has_weights:
        raise TypeError(
            "KNNClassifier that was fitted with sample_weight cannot be written as an ONNX graph; "
            "fit it without, to the rows repeated."
        )
    voters = model.voters()
    if voters.coded.any():
        raise TypeError(
            "KNNClassifier with columns of categories cannot be written as an ONNX graph; use "
            "indicators of the categories."
        )
    sums = _sums(voters, graph, X)
    k, n = model.n_neighbors, len(voters.codes)
    least, rows = graph.ops(
        "TopK", 2, _rounded(graph, sums), np.array([min(k, n)]), axis=1, largest=0, sorted=1
    )
    distances = graph.op("Sqrt", least) if voters.metric.power == 2 else least
    votes = _VOTES[model.weights](graph, distances)
    return _elected(model, graph, votes, graph.pick(voters.codes, rows))


def _sums(voters: Voters, graph: Graph, X: Value) -> Value:
    """Sums over the attributes known in both, a row for each new sample.

    The differences are taken one attribute at a time, as the search takes them: inner products
    would lose the digits that tell equal distances from unequal ones.
    """
    space = voters.space
    kept = space.columns.toarray() if space.is_sparse else space.columns  # attributes are rows
    new = graph.columns(X, space.used) * space.factor
    known, both = graph.op("Not", graph.op("IsNaN", new)), ~np.isnan(kept)
    new = graph.op("Clip", graph.where(known, new, 0.0), -_FAR, _FAR)
    known = graph.number(known)
    begun = known @ np.zeros(kept.shape)
    squares = space.kinds == _SQUARE
    sums = graph.op(
        "Scan",
        begun,
        graph.op("Transpose", new, perm=[1, 0]),
        graph.op("Transpose", known, perm=[1, 0]),
        np.where(both, kept, 0.0),
        both.astype(np.float64),
        np.where(space.kinds == _MISMATCH, space.weight, 0.0),
        squares.astype(np.float64),
        body=_attribute(graph),
        num_scan_inputs=6,
    )
    total = float(space.weight.sum())
    found = known @ (both * space.weight[:, None])  # weight of what is known in both
    whole = graph.op("GreaterOrEqual", found, total * (1.0 - 1e-12))
    some = graph.where(whole, sums, sums * total / graph.where(whole, 1.0, found))
    return graph.where(graph.op("Greater", found, 0.0), some, np.inf)


#: What an attribute adds to the sum, as the room of neighbours numbers it.
_SQUARE, _MISMATCH = 0, 2


def _attribute(outer: Graph) -> Any:
    """What one attribute adds: a square, a size, or the weight of a mismatch."""
    graph = Graph(outer.opset, prefix=f"{outer.prefix}attribute_")
    names = ["sums", "new", "new_known", "kept", "kept_known", "mismatch", "square"]
    sums, new, new_known, kept, kept_known, mismatch, square = (
        graph.named(graph.prefix + name) for name in names
    )
    column = np.array([1])
    apart = graph.op("Abs", graph.op("Unsqueeze", new, column) - kept)
    size = graph.where(graph.op("Greater", square, 0.0), apart * apart, apart)
    differ = graph.number(graph.op("Greater", apart, 0.0)) * mismatch
    added = graph.where(graph.op("Greater", mismatch, 0.0), differ, size)
    added = added * graph.op("Unsqueeze", new_known, column) * kept_known
    graph.op("Add", sums, added, out=graph.prefix + "out")
    helper, double = outer.onnx.helper, outer.onnx.TensorProto.DOUBLE
    axes = [["rows", "kept"], ["rows"], ["rows"], ["kept"], ["kept"], [], []]
    return helper.make_graph(
        graph.nodes,
        "attribute",
        [
            helper.make_tensor_value_info(graph.prefix + name, double, shape)
            for name, shape in zip(names, axes, strict=True)
        ],
        [helper.make_tensor_value_info(graph.prefix + "out", double, axes[0])],
        graph.constants,
    )


def _rounded(graph: Graph, sums: Value) -> Value:
    """Sums to 36 bits, by Veltkamp's splitting: those that agree so far are ties."""
    far = graph.op("IsInf", sums)
    near = graph.where(far, 0.0, sums)
    t = near * 131073.0  # 2^17 + 1
    return graph.where(far, np.inf, t - (t - near))


def _equal(graph: Graph, distances: Value) -> Value:
    return graph.number(graph.op("Not", graph.op("IsInf", distances)))


def _near(graph: Graph, distances: Value) -> Value:
    """One over the distance, those at distance zero alone."""
    first = graph.columns(distances, [0])
    none = graph.op("IsInf", distances)
    same = graph.number(graph.op("Equal", distances, 0.0))
    votes = graph.where(none, 0.0, first / graph.where(none, 1.0, distances))
    return graph.where(graph.op("Equal", first, 0.0), same, votes)


_VOTES = {"uniform": _equal, "distance": _near}


def _elected(model: Any, graph: Graph, votes: Value, codes: Value) -> Answers:
    """The class with most votes; of tied ones that which the rule prefers, then the nearest."""
    counts = model.class_count_.astype(np.float64)
    k, C = model.n_neighbors, len(counts)
    cast = graph.pick(np.eye(C), codes) * graph.op("Unsqueeze", votes, np.array([2]))
    total = graph.reduce("ReduceSum", cast, 1, keep=False)
    # where nobody votes, the training samples do
    nobody = graph.op("Equal", graph.reduce("ReduceMax", total, 1), 0.0)
    total = graph.where(nobody, counts, total)
    order = np.arange(float(k))[None, :, None]
    came = graph.where(graph.op("Greater", cast, 0.0), order, float(k))
    came = graph.reduce("ReduceMin", came, 1, keep=False)
    most = graph.reduce("ReduceMax", total, 1) * (1.0 - 1e-9)
    tied = graph.op("GreaterOrEqual", total, most)
    rule = TIE_RULES[model.ties](model.class_count_)
    liked = graph.where(tied, rule.preference[None, :], -1.0)
    liked = graph.op("Equal", liked, graph.reduce("ReduceMax", liked, 1))
    chosen = graph.op("ArgMin", graph.where(liked, came, float(k) + 1.0), axis=1, keepdims=0)
    classes = model.classes_
    if rule.abstain:
        several = graph.reduce("ReduceSum", graph.number(tied), 1, keep=False)
        chosen = graph.where(graph.op("Greater", several, 1.0), np.int64(C), chosen)
        held = object if classes.dtype.kind == "O" else None
        classes = np.concatenate([classes, np.array([model.reject_label_], dtype=held)])
    chances = total / graph.reduce("ReduceSum", total, 1)
    return Answers(chosen, classes, probabilities=chances)
