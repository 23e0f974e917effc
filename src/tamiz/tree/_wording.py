"""How the numbers of a tree are said: names of features, categories and classes."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.tree.splits import name_of, plain

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree


class Wording(NamedTuple):
    """The names that a fitted estimator knows.

    Attributes
    ----------
    names : sequence of str or None
        Of the features; ``x0``, ``x1``, ... if None.
    categories : mapping of int to sequence
        By feature, what its codes stand for.
    classes : sequence or None
        The labels; None for regression.
    """

    names: Sequence[Any] | None = None
    categories: Mapping[int, Any] = {}
    classes: Sequence[Any] | None = None

    def feature(self, j: int) -> str:
        """The name of a feature."""
        return one_line(name_of(j, self.names))

    def condition(self, tree: Tree, node: int) -> str:
        """What is true of the samples of a node and not of its sibling; "all" at the root."""
        above = int(tree.parent[node])
        if above < 0:
            return "all"
        split = tree.splits[above]
        assert split is not None  # it has children
        return one_line(split.text(int(tree.left[above]) == node, self.names, self.categories))

    def prediction(self, tree: Tree, node: int) -> str:
        """What a node predicts."""
        value = self.predicted(tree, node)
        return f"{value:.6g}" if self.classes is None else one_line(str(value))

    def predicted(self, tree: Tree, node: int) -> Any:
        """The class, or the mean, without NumPy's wrapping."""
        value = tree.prediction[node]
        return plain(value if self.classes is None else self.classes[int(value)])


def shares(tree: Tree, node: int) -> np.ndarray:
    """The share of each class in a node."""
    mass = tree.value[node]
    total = mass.sum()
    return mass / total if total > 0 else np.full(len(mass), np.nan)


def one_line(text: str) -> str:
    """Text on one line, without letters that steer a terminal: names may hold anything."""
    if text.isprintable():
        return text
    flat = " ".join(text.replace("\t", " ").splitlines())
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in flat)


def counted(n: int, one: str, many: str = "") -> str:
    """A number of things, in the right number."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A share in percent, with as many digits as tell something."""
    if 0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1:
        return ">99.9 %"
    return f"{100 * share:.1f} %"


def preorder(tree: Tree, deepest: int | None = None, top: int = 0) -> list[int]:
    """Nodes of a branch from the left to the right, parents first, down to a depth."""
    found, waiting = [], [top]
    while waiting:
        t = waiting.pop()
        found.append(t)
        if tree.left[t] >= 0 and (deepest is None or tree.depth[t] < deepest):
            waiting += [int(tree.right[t]), int(tree.left[t])]
    return found
