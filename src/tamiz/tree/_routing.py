"""Send the rows of a table down a tree.

The questions of a tree are laid out as flat arrays once, and the arrays are kept for as long as the
tree lives. They are checked on the way: compiled code goes where an index points, and a tree may
come from a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit

from tamiz.runtime.parallel import run_tiles
from tamiz.tree.splits import UNDECIDED, NominalSplit, NumericSplit, ObliqueSplit, Surrogate

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree

#: Fewest rows for which a thread of its own is worth while.
_ROWS = 4096

_NUMERIC, _NOMINAL, _OBLIQUE = 0, 1, 2


class Questions(NamedTuple):
    """All questions of a tree: those of node ``t`` are ``first[t]`` to ``first[t + 1]``.

    The first is the split of the node, the others are its surrogates.
    """

    left: np.ndarray
    right: np.ndarray
    majority_left: np.ndarray
    first: np.ndarray
    kind: np.ndarray
    feature: np.ndarray  # of an oblique split: not used
    threshold: np.ndarray
    missing: np.ndarray
    reverse: np.ndarray
    start: np.ndarray  # of the part of ``table`` or of ``columns`` that belongs to the question
    size: np.ndarray
    table: np.ndarray  # by code: 1 left, 0 right, -1 undecided
    columns: np.ndarray
    coefficients: np.ndarray


_laid_out: WeakKeyDictionary[Any, Questions] = WeakKeyDictionary()


def route(tree: Tree, X: np.ndarray) -> np.ndarray:
    """The leaf (int32) that each row of a C-contiguous float64 table ends in."""
    questions = _laid_out.get(tree)
    if questions is None:
        questions = _laid_out[tree] = lay_out(tree)
    X = np.ascontiguousarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != tree.n_features:
        raise ValueError(
            f"The tree takes tables of {tree.n_features} columns; this one has shape {X.shape}."
        )
    leaf = np.empty(len(X), dtype=np.int32)
    if len(X):
        run_tiles(_descend, len(X), X, questions, leaf, min_items=_ROWS)
    return leaf


def check_children(left: np.ndarray, right: np.ndarray) -> None:
    """Refuse a tree with a way that does not end in a leaf."""
    n = len(left)
    inner = np.flatnonzero(left >= 0)
    for child in (left, right):
        if child.shape != (n,) or not ((child[inner] > inner) & (child[inner] < n)).all():
            raise ValueError("The children of a tree must come after their parents.")


def lay_out(tree: Tree) -> Questions:
    """The questions of a tree as arrays."""
    n, p = tree.n_nodes, tree.n_features
    check_children(tree.left, tree.right)
    inner = tree.left >= 0
    if len(tree.splits) != n or len(tree.surrogates) != n or tree.majority_left.shape != (n,):
        raise ValueError("A tree needs a split, surrogates and a larger side for every node.")
    first = np.zeros(n + 1, dtype=np.int64)
    cells: list[tuple[int, int, float, int, int, int, int]] = []
    table: list[int] = []
    columns: list[int] = []
    coefficients: list[float] = []
    for t in range(n):
        if inner[t]:
            for asked in (tree.splits[t], *tree.surrogates[t]):
                reverse = isinstance(asked, Surrogate) and asked.reverse
                split = asked.split if isinstance(asked, Surrogate) else asked
                if split is None or any(not 0 <= j < p for j in split.features):
                    raise ValueError(f"Node {t} of the tree asks for a feature that is not there.")
                match split:
                    case NumericSplit(j, threshold, missing):
                        cells.append((_NUMERIC, j, threshold, missing, reverse, 0, 0))
                    case NominalSplit(j, left, right, missing):
                        codes = [UNDECIDED] * (1 + max((*left, *right)))
                        for code in right:
                            codes[code] = 0
                        for code in left:
                            codes[code] = 1
                        where = len(table)
                        cells.append((_NOMINAL, j, 0.0, missing, reverse, where, len(codes)))
                        table.extend(codes)
                    case ObliqueSplit(js, a, threshold):
                        where = len(columns)
                        cells.append((_OBLIQUE, js[0], threshold, -1, reverse, where, len(js)))
                        columns.extend(js)
                        coefficients.extend(float(value) for _, value in zip(js, a, strict=True))
                    case _:
                        raise TypeError(f"{type(split).__name__} is not a split of a tree.")
        first[t + 1] = len(cells)
    columns_of: list[Any] = list(zip(*cells, strict=True)) if cells else [()] * 7
    kind, feature, limit, gap, turned, start, size = columns_of
    return Questions(
        np.ascontiguousarray(tree.left, dtype=np.int32),
        np.ascontiguousarray(tree.right, dtype=np.int32),
        np.ascontiguousarray(tree.majority_left, dtype=np.bool_),
        first,
        np.array(kind, dtype=np.int8),
        np.array(feature, dtype=np.int32),
        np.array(limit, dtype=np.float64),
        np.array(gap, dtype=np.int8),
        np.array(turned, dtype=np.bool_),
        np.array(start, dtype=np.int64),
        np.array(size, dtype=np.int64),
        np.array(table, dtype=np.int8),
        np.array(columns, dtype=np.int32),
        np.array(coefficients, dtype=np.float64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(begin, end, X, questions, leaf):
    # taken out of the tuple once: in the loop each access would cost a count of references
    left, right, first = questions.left, questions.right, questions.first
    kind, feature, threshold = questions.kind, questions.feature, questions.threshold
    reverse, missing, majority_left = questions.reverse, questions.missing, questions.majority_left
    start, size, table = questions.start, questions.size, questions.table
    columns, coefficients = questions.columns, questions.coefficients
    for i in range(begin, end):
        t = 0
        while left[t] >= 0:
            q = first[t]
            side = -1
            while side < 0 and q < first[t + 1]:
                x = X[i, feature[q]]
                if kind[q] == _OBLIQUE:
                    total = 0.0
                    for k in range(start[q], start[q] + size[q]):
                        total += coefficients[k] * X[i, columns[k]]
                    if total == total:
                        side = 1 if total <= threshold[q] else 0
                elif x != x:
                    side = missing[q]
                elif kind[q] == _NUMERIC:
                    side = 1 if x <= threshold[q] else 0
                elif 0 <= x < size[q]:
                    side = table[start[q] + int(x)]
                if side >= 0 and reverse[q]:
                    side = 1 - side
                q += 1
            if side < 0:
                side = 1 if majority_left[t] else 0
            t = left[t] if side == 1 else right[t]
        leaf[i] = t
