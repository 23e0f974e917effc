"""The searches behind CFS, on sums that grow with the subset."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tamiz.base import PathStep
from tamiz.runtime.progress import Progress

#: The exhaustive search looks at two to the power of this many subsets at most.
MOST_FEATURES = 20

#: Merits closer than this are equal; the same sums in another order differ by less.
EQUAL = 1e-12


class Node(NamedTuple):
    """A subset and the sums that its merit and that of its children need."""

    subset: frozenset[int]
    relevance: float  # sum of the correlations with the target
    pairs: float  # sum of the correlations of all pairs
    rows: np.ndarray  # for each feature, the sum of its correlations with the subset


class Merit:
    """The two forms of the merit, as a function of the size of a subset and its two sums."""

    def __init__(self, form: str):
        self.form = form

    def __call__(
        self, size: int | np.ndarray, relevance: float | np.ndarray, pairs: float | np.ndarray
    ) -> np.ndarray:
        """``κ ρ_cf / sqrt(κ + κ(κ-1) ρ_ff)``, or with ``(κ-1) ρ_ff`` under the root."""
        redundancy = 2.0 * pairs
        if self.form == "printed":
            redundancy = redundancy / size
        return relevance / np.sqrt(size + redundancy)

    def of_children(self, node: Node, relevance: np.ndarray) -> np.ndarray:
        """Merit of the subset with each feature added; minus infinity for those inside."""
        merits = self(len(node.subset) + 1, node.relevance + relevance, node.pairs + node.rows)
        merits[list(node.subset)] = -np.inf
        return merits


class Correlations:
    """Correlations with the target, and rows of those between features, each computed once."""

    def __init__(
        self,
        relevance: np.ndarray,
        row: Callable[[int], np.ndarray],
        varies: np.ndarray | None = None,
    ):
        self.relevance = relevance
        self.varies = np.ones(len(relevance), dtype=bool) if varies is None else varies
        self.n = len(relevance)
        self._compute = row
        self._kept: dict[int, np.ndarray] = {}
        self.progress = Progress("", 0)

    @property
    def n_rows(self) -> int:
        """Number of rows computed so far."""
        return len(self._kept)

    def row(self, j: int) -> np.ndarray:
        """Correlations of feature ``j`` with all others."""
        if j not in self._kept:
            self._kept[j] = self._compute(j)
            self.progress.update(f"correlations of {len(self._kept):,} features")
        return self._kept[j]

    def empty(self) -> Node:
        """The subset without features."""
        return Node(frozenset(), 0.0, 0.0, np.zeros(self.n))

    def child(self, node: Node, j: int) -> Node:
        """The subset with one feature more."""
        return Node(
            node.subset | {j},
            node.relevance + float(self.relevance[j]),
            node.pairs + float(node.rows[j]),
            node.rows + self.row(j),
        )

    def node(self, subset: np.ndarray) -> Node:
        """The sums of a subset that is not empty."""
        rows = np.stack([self.row(int(j)) for j in subset])
        inner = rows[:, subset]
        pairs = 0.5 * float(inner.sum() - inner.trace())
        relevance = float(self.relevance[subset].sum())
        return Node(frozenset(subset.tolist()), relevance, pairs, rows.sum(axis=0))


class Found(NamedTuple):
    """What a search found."""

    subset: list[int]
    merit: float
    n_expanded: int
    path: list[PathStep]


def best_first(correlations: Correlations, merit: Merit, stale: int, tol: float) -> Found:
    """Expand the best subset not yet expanded, until ``stale`` expansions in a row gain nothing.

    Children are not put on the list one by one: each expanded subset keeps the merits of its
    children, and the list holds the best of them not yet taken.
    """
    best: tuple[float, list[int]] = (-np.inf, [])
    children: list[tuple[Node, np.ndarray]] = []  # parent, merits of those not yet taken
    queue: list[tuple[float, int, int]] = []  # minus merit, parent, child
    expanded: set[frozenset[int]] = set()
    path: list[PathStep] = []
    node, value, fruitless = correlations.empty(), 0.0, 0
    while True:
        expanded.add(node.subset)
        merits = merit.of_children(node, correlations.relevance)
        first = int(merits.argmax())
        top = float(merits[first])
        fruitless = 0 if top > best[0] + tol else fruitless + 1
        if top > best[0] + EQUAL:
            best = top, [*sorted(node.subset), first]
        details = {"best": best[0], "stale": fruitless}
        if node.subset:
            path.append(_visit(node, value, details))
        if fruitless >= stale:
            break
        children.append((node, merits))
        heapq.heappush(queue, (-top, len(children) - 1, first))
        following = _take(queue, children, expanded)
        if following is None:
            break
        value, parent, j = following
        node = correlations.child(parent, j)
    return Found(best[1], best[0], len(expanded), path)


def _take(
    queue: list[tuple[float, int, int]],
    children: list[tuple[Node, np.ndarray]],
    expanded: set[frozenset[int]],
) -> tuple[float, Node, int] | None:
    """Remove the best child that is not expanded from the list; put its next sibling there."""
    while queue:
        negative, number, j = heapq.heappop(queue)
        if negative == np.inf:  # only features inside are left
            continue
        parent, merits = children[number]
        merits[j] = -np.inf
        sibling = int(merits.argmax())
        heapq.heappush(queue, (-float(merits[sibling]), number, sibling))
        if parent.subset | {j} not in expanded:
            return -negative, parent, j
    return None


def forward(correlations: Correlations, merit: Merit, stale: int, tol: float) -> Found:
    """Add the best feature as long as the merit grows."""
    node, best, path = correlations.empty(), -np.inf, []
    order: list[int] = []
    while len(order) < correlations.n:
        merits = merit.of_children(node, correlations.relevance)
        j = int(np.argmax(merits))
        if merits[j] <= best + EQUAL:
            break
        best = float(merits[j])
        node = correlations.child(node, j)
        order.append(j)
        path.append(PathStep("add", (j,), len(order), best))
    return Found(order, best, len(path) + 1, path)


def exhaustive(correlations: Correlations, merit: Merit, stale: int, tol: float) -> Found:
    """Judge every subset; of equal merits the smallest subset, then the first in binary order.

    Subset ``m`` holds the features whose bits are set in ``m``. The sums of the subsets whose
    highest bit is ``b`` are those of the subsets below, plus feature ``b``.
    """
    n = correlations.n
    if n > MOST_FEATURES:
        raise ValueError(
            f'search="exhaustive" would judge 2**{n} subsets; it is meant for at most '
            f'{MOST_FEATURES} features. Use search="best_first", or select some features first.'
        )
    size, relevance, pairs = (np.zeros(1) for _ in range(3))
    for b in range(n):
        with_b = np.zeros(1)  # sum of the correlations of b with each subset of those before it
        for a in range(b):
            with_b = np.concatenate([with_b, with_b + correlations.row(b)[a]])
        size = np.concatenate([size, size + 1.0])
        relevance = np.concatenate([relevance, relevance + correlations.relevance[b]])
        pairs = np.concatenate([pairs, pairs + with_b])
    size[0] = 1.0  # the empty subset has no merit; avoid a division by zero
    merits = merit(size, relevance, pairs)
    merits[0] = -np.inf
    close = np.flatnonzero(merits >= merits.max() - EQUAL)
    m = int(close[np.argmin(size[close])])
    subset = [b for b in range(n) if m >> b & 1]
    path = [PathStep("visit", tuple(subset), len(subset), float(merits[m]))]
    return Found(subset, float(merits[m]), len(merits) - 1, path)


def grow_within(subset: list[int], correlations: Correlations, merit: Merit) -> np.ndarray:
    """The features of a subset in the order in which forward selection among them takes them."""
    index = np.array(sorted(subset), dtype=np.intp)
    if not len(index):
        return index
    inner = [correlations.row(int(j))[index] for j in index]
    relevance = correlations.relevance[index]
    rows, order = np.zeros(len(index)), list[int]()
    total = pairs = 0.0
    for size in range(1, len(index) + 1):
        merits = merit(size, total + relevance, pairs + rows)
        merits[order] = -np.inf
        k = int(np.argmax(merits))
        total, pairs, rows = total + relevance[k], pairs + rows[k], rows + inner[k]
        order.append(k)
    return index[order]


def _visit(node: Node, value: float, details: dict[str, float]) -> PathStep:
    return PathStep("visit", tuple(sorted(node.subset)), len(node.subset), value, details)


SEARCHES = {"best_first": best_first, "forward": forward, "exhaustive": exhaustive}
