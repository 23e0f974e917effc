"""The price of calling a sample of one class by the name of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def check_costs(costs: Any, classes: np.ndarray) -> np.ndarray:
    """The matrix ``C[i, j]``, the cost of calling a sample of ``classes[i]`` a ``classes[j]``.

    None costs 1 for every mistake. A dict by pairs of labels, or by the true label alone, costs 1
    for what it does not name.
    """
    n_classes = len(classes)
    plain = 1.0 - np.eye(n_classes)
    if costs is None:
        return plain
    if isinstance(costs, Mapping):
        return _from_dict(costs, classes, plain)
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"costs must hold numbers, one row and one column for each of the {n_classes} classes."
        ) from None
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}, but y has {n_classes} class(es); give one row and "
            "one column for each class, in the order of classes_ (sorted)."
        )
    _check_values(matrix, classes)
    return matrix


def weights_of_costs(costs: np.ndarray) -> np.ndarray:
    """What a class weighs more in the impurity because its samples cost more to mistake.

    Breiman's altered priors: ``C(i) = sum_j C_ij``. With costs that depend on the true class alone,
    they make the plain problem the same as the one with costs.
    """
    total = costs.sum(axis=1)
    return total if total.any() else np.ones(len(costs))


def _from_dict(costs: Mapping[Any, Any], classes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    number = {label: k for k, label in enumerate(classes.tolist())}
    named: set[Any] = set()
    entries: list[tuple[tuple[Any, ...], Any]] = []
    for key, cost in costs.items():
        pair = isinstance(key, tuple) and len(key) == 2 and key not in number
        labels = key if pair else (key,)
        named.update(labels)
        entries.append((labels, cost))
    for labels, cost in entries:
        if any(label not in number for label in labels):
            if set(number) <= named:  # a fold may lack a class
                continue
            unknown = next(label for label in labels if label not in number)
            raise ValueError(
                f"costs names the class {unknown!r}, which is not among those of y "
                f"({', '.join(map(repr, classes[:10].tolist()))}); remove it or correct its name."
            )
        if not isinstance(cost, (int, float, np.number)):
            raise ValueError(f"costs[{labels!r}] is {cost!r}; costs must be numbers.")
        i = number[labels[0]]
        if len(labels) == 2:
            matrix[i, number[labels[1]]] = float(cost)
        else:
            matrix[i] = float(cost)
            matrix[i, i] = 0.0
    _check_values(matrix, classes)
    return matrix


def _check_values(matrix: np.ndarray, classes: np.ndarray) -> None:
    labels = classes.tolist()
    bad = np.argwhere(~np.isfinite(matrix) | (matrix < 0))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"costs[{i}, {j}], of calling {labels[i]!r} by {labels[j]!r}, is {matrix[i, j]}; costs "
            "must be finite and not negative."
        )
    wrong = np.flatnonzero(np.diag(matrix))
    if len(wrong):
        i = wrong[0]
        raise ValueError(
            f"costs[{i}, {i}] is {matrix[i, i]}; the right name ({labels[i]!r}) costs nothing, so "
            "the diagonal must be 0."
        )
    if len(matrix) > 1 and not matrix.any():
        raise ValueError("costs is zero everywhere; at least one mistake must cost something.")
