"""Trees as graphs: each says the number of the leaf that a sample ends in.

The operator for trees answers in float32. A leaf's number is exact in it, a value is not: the
values stand in a table of float64 beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.onnx.answers import Answers, answers, largest, two_chances
from tamiz.onnx.graph import ML, Graph, Value
from tamiz.tree import BoostingClassifier, BoostingRegressor, ForestClassifier
from tamiz.tree.cart import CARTClassifier, CARTRegressor
from tamiz.tree.structure import NumericSplit, Tree


def leaves(graph: Graph, X: Value, trees: list[dict[str, np.ndarray]]) -> Value:
    """Numbers of the leaves, one column for each tree; a tree holds arrays over its nodes."""
    sizes = [len(tree["left"]) for tree in trees]
    which = np.repeat(np.arange(len(trees)), sizes)
    node = np.concatenate([np.arange(size) for size in sizes])
    whole = {key: np.concatenate([tree[key] for tree in trees]) for key in trees[0]}
    leaf = whole["left"] < 0
    tensor = graph.onnx.numpy_helper.from_array
    found = graph.op(
        "TreeEnsembleRegressor",
        X,
        domain=ML,
        n_targets=len(trees),
        nodes_treeids=which.tolist(),
        nodes_nodeids=node.tolist(),
        nodes_featureids=np.where(leaf, 0, whole["feature"]).tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(leaf, 0, whole["left"]).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, whole["right"]).tolist(),
        nodes_missing_value_tracks_true=np.where(leaf, 0, whole["missing_left"]).tolist(),
        nodes_values_as_tensor=tensor(np.where(leaf, 0.0, whole["threshold"]), "thresholds"),
        target_treeids=which[leaf].tolist(),
        target_nodeids=node[leaf].tolist(),
        target_ids=which[leaf].tolist(),
        target_weights_as_tensor=tensor(node[leaf].astype(np.float64), "numbers"),
    )
    return graph.number(found, np.int64)


def _leaf(model: Any, graph: Graph, X: Value) -> Value:
    tree: Tree = model.tree_
    plain = all(split is None or isinstance(split, NumericSplit) for split in tree.splits)
    if not plain or any(tree.surrogates) or model.categories_:
        raise TypeError(
            f"{type(model).__name__} with tests of categories, of several features at once, or "
            "with tests that stand in for missing values cannot be written as an ONNX graph; "
            "encode categories, fill in missing values, or use a forest."
        )
    n = tree.n_nodes
    feature, threshold, missing = np.zeros(n, dtype=int), np.zeros(n), np.zeros(n, dtype=int)
    for t, split in enumerate(tree.splits):
        if isinstance(split, NumericSplit):
            feature[t], threshold[t], missing[t] = split.feature, split.threshold, split.missing
    missing = np.where(missing < 0, tree.majority_left, missing)
    arrays = {"left": tree.left, "right": tree.right, "feature": feature, "threshold": threshold}
    return graph.first_column(leaves(graph, X, [arrays | {"missing_left": missing}]))


@answers.register(CARTClassifier)
def _class_tree(model: Any, graph: Graph, X: Value) -> Answers:
    leaf, value = _leaf(model, graph, X), model.tree_.value
    chances = graph.pick(value / value.sum(axis=1, keepdims=True), leaf)
    codes = graph.pick(model.tree_.prediction, leaf)
    return Answers(codes, model.classes_, probabilities=chances)


@answers.register(CARTRegressor)
def _number_tree(model: Any, graph: Graph, X: Value) -> Answers:
    return Answers(value=graph.pick(model.tree_.prediction, _leaf(model, graph, X)))


def _sums(model: Any, graph: Graph, X: Value) -> Value:
    """Sums over the trees of the values in the leaves."""
    feature, threshold, left, right, value, roots, _ = model.forest_
    cuts, _counts = model.bins_
    ends = np.append(roots[1:], len(feature))
    inner = feature >= 0
    limit = np.where(inner, cuts[feature, np.minimum(threshold, cuts.shape[1] - 1)], 0.0)
    trees = []
    for start, end in zip(roots, ends, strict=True):
        part, down = slice(start, end), inner[start:end]
        trees.append(
            {
                "left": np.where(down, left[part] - start, -1),
                "right": np.where(down, right[part] - start, -1),
                "feature": feature[part],
                "threshold": limit[part],
                "missing_left": np.zeros(end - start, dtype=int),
            }
        )
    place = leaves(graph, X, trees) + np.asarray(roots, dtype=np.int64)
    return graph.reduce("ReduceSum", graph.pick(value, place), 1, keep=False)


@answers.register(ForestClassifier)
def _forest(model: Any, graph: Graph, X: Value) -> Answers:
    chances = _sums(model, graph, X) / float(len(model.forest_[5]))
    return Answers(largest(graph, chances), model.classes_, probabilities=chances)


@answers.register(BoostingClassifier)
def _boosted(model: Any, graph: Graph, X: Value) -> Answers:
    values = _sums(model, graph, X) + model.start_
    if len(model.classes_) == 2:
        values = graph.first_column(values)
        chances = two_chances(graph, values)
        return Answers(largest(graph, chances), model.classes_, values, chances)
    chances = graph.op("Softmax", values, axis=1)
    return Answers(largest(graph, chances), model.classes_, values, chances)


@answers.register(BoostingRegressor)
def _boosted_numbers(model: Any, graph: Graph, X: Value) -> Answers:
    return Answers(value=graph.first_column(_sums(model, graph, X) + model.start_))
