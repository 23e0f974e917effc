"""A tree as if-then rules, as an indented text, and as the source of a Python function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.tree._wording import Wording, counted, one_line, percent, preorder, shares
from tamiz.tree.splits import NominalSplit, NumericSplit, Split, number, shown

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree


@dataclass(frozen=True)
class Rule:
    """One leaf: its conditions, and what it says.

    Attributes
    ----------
    node : int
        The leaf.
    conditions : tuple of str
        What is true of its samples; those on one feature are one.
    prediction : object
        The class, or the mean.
    n_samples : int
        Training samples in it.
    coverage : float
        Its share of the weight of all training samples.
    shares : dict
        The share of each class in it, the most frequent first; empty for regression.
    error : float
        Its own error: cost for each unit of weight, or mean square.
    """

    node: int
    conditions: tuple[str, ...]
    prediction: Any
    n_samples: int
    coverage: float
    shares: dict[Any, float] = field(default_factory=dict)
    error: float = 0.0

    def __str__(self) -> str:
        one = len(self.conditions) == 1
        parts = (c if one or not c.endswith(" or missing") else f"({c})" for c in self.conditions)
        said = " AND ".join(parts) or "anything"
        value = f"{self.prediction:.6g}" if not self.shares else one_line(str(self.prediction))
        inside = ", ".join(f"{one_line(str(c))} {percent(s)}" for c, s in self.shares.items() if s)
        inside = inside or f"deviation {np.sqrt(self.error):.4g}"
        count = f"{counted(self.n_samples, 'sample')}, {percent(self.coverage)}"
        return f"IF {said}\nTHEN {value}   ({count}; {inside})"


def rules_of(tree: Tree, wording: Wording) -> list[Rule]:
    """One rule for each leaf, from the left of the tree to the right."""
    held: dict[int, tuple[_Condition, ...]] = {0: ()}
    rules = []
    for t in preorder(tree):
        conditions = held.pop(t)
        split = tree.splits[t]
        if split is not None:
            for child, left in ((int(tree.left[t]), True), (int(tree.right[t]), False)):
                held[child] = _narrowed(conditions, split, left)
            continue
        inside = {}
        if wording.classes is not None:
            found = shares(tree, t)
            inside = {
                wording.classes[k]: float(found[k]) for k in np.argsort(-found, kind="stable")
            }
        rules.append(
            Rule(
                node=t,
                conditions=tuple(one_line(c.text(wording)) for c in conditions),
                prediction=wording.predicted(tree, t),
                n_samples=int(tree.n_samples[t]),
                coverage=float(tree.weight[t] / tree.weight[0]),
                shares=inside,
                error=float(tree.error[t] * tree.weight[0] / tree.weight[t]),
            )
        )
    return rules


def rules_text(tree: Tree, wording: Wording) -> str:
    """The rules, numbered."""
    rules = rules_of(tree, wording)
    width = len(str(len(rules)))
    blocks = []
    for k, rule in enumerate(rules, 1):
        first, rest = str(rule).split("\n", 1)
        blocks.append(f"{k:>{width}}. {first}\n{' ' * (width + 2)}{rest}")
    return "\n".join(blocks)


def tree_text(tree: Tree, wording: Wording, max_depth: int | None) -> str:
    """The tree drawn with letters, one line for each node."""
    lines: list[str] = []
    inset = {0: ""}
    for t in preorder(tree, max_depth):
        above = int(tree.parent[t])
        branch, below = "", ""
        if above >= 0:
            last = int(tree.right[above]) == t
            branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
            branch, below = inset[above] + branch, inset[above] + below
        inset[t] = below
        said = f"{wording.condition(tree, t)}: {wording.prediction(tree, t)}"
        if wording.classes is not None:
            said += f" {percent(float(shares(tree, t)[int(tree.prediction[t])]))}"
        said += f", n = {tree.n_samples[t]}"
        hidden = tree.left[t] >= 0 and max_depth is not None and tree.depth[t] >= max_depth
        lines.append(branch + said + (" ..." if hidden else ""))
    return "\n".join(lines)


# ------------------------------------------------------------------ conditions that grow narrower


class _Condition(ABC):
    """What several tests on the way to a leaf say together about one feature."""

    @abstractmethod
    def text(self, wording: Wording) -> str:
        """In words."""

    def narrowed(self, split: Split, left: bool) -> _Condition | None:
        """This and the answer to one more test; None if the test is about something else."""
        return None


@dataclass(frozen=True)
class _Answer(_Condition):
    """The answer to a test that can be put together with no other."""

    split: Split
    left: bool

    def text(self, wording: Wording) -> str:
        return self.split.text(self.left, wording.names, wording.categories)


@dataclass(frozen=True)
class _Interval(_Condition):
    """``low < x <= high``; with ``missing`` if a missing value would get here, too."""

    feature: int
    low: float = -np.inf
    high: float = np.inf
    missing: bool = True
    known: bool = True  # whether any number would get here

    def narrowed(self, split: Split, left: bool) -> _Condition | None:
        if not isinstance(split, NumericSplit) or split.feature != self.feature:
            return None
        limit = float(split.threshold)
        return _Interval(
            self.feature,
            low=self.low if left else max(self.low, limit),
            high=min(self.high, limit) if left else self.high,
            missing=self.missing and split.missing == int(left),
            known=self.known and (left or np.isfinite(limit)),
        )

    def text(self, wording: Wording) -> str:
        name = wording.feature(self.feature)
        if not self.known:
            return f"{name} is missing"
        said = self._between(name, wording.categories.get(self.feature))
        if not said:
            return f"{name} is known"
        return f"{said} or missing" if self.missing else said

    def _between(self, name: str, levels: Sequence[Any] | None) -> str:
        if levels is not None:
            return self._levels(name, levels)
        if np.isinf(self.low):
            return "" if np.isinf(self.high) else f"{name} <= {number(self.high)}"
        if np.isinf(self.high):
            return f"{name} > {number(self.low)}"
        low, high = number(self.low), number(self.high)
        if low == high:  # rounded to the same
            low, high = repr(self.low), repr(self.high)
        return f"{low} < {name} <= {high}"

    def _levels(self, name: str, levels: Sequence[Any]) -> str:
        first = 0 if np.isinf(self.low) else int(np.floor(self.low)) + 1
        end = len(levels) if np.isinf(self.high) else int(np.floor(self.high)) + 1
        if first <= 0 and end >= len(levels):
            return ""
        return _listed(name, [shown(level) for level in levels[max(first, 0) : end]])


@dataclass(frozen=True)
class _Among(_Condition):
    """One of some categories; with ``missing`` if a missing value would get here, too."""

    feature: int
    codes: frozenset[int]
    missing: bool

    def narrowed(self, split: Split, left: bool) -> _Condition | None:
        if not isinstance(split, NominalSplit) or split.feature != self.feature:
            return None
        side = split.left if left else split.right
        return _Among(self.feature, self.codes & side, self.missing and split.missing == int(left))

    def text(self, wording: Wording) -> str:
        name, levels = wording.feature(self.feature), wording.categories.get(self.feature)
        codes = sorted(self.codes)
        if not codes:
            return f"{name} is missing"
        said = _listed(name, [shown(c if levels is None else levels[c]) for c in codes])
        return f"{said} or missing" if self.missing else said


def _listed(name: str, values: list[str]) -> str:
    return f"{name} = {values[0]}" if len(values) == 1 else f"{name} in {{{', '.join(values)}}}"


def _narrowed(
    conditions: tuple[_Condition, ...], split: Split, left: bool
) -> tuple[_Condition, ...]:
    """The conditions after one more test: one of them narrower, or one more."""
    for k, condition in enumerate(conditions):
        found = condition.narrowed(split, left)
        if found is not None:
            return (*conditions[:k], found, *conditions[k + 1 :])
    return (*conditions, _first(split, left))


@singledispatch
def _first(split: Split, left: bool) -> _Condition:
    """The condition that one test makes."""
    return _Answer(split, left)


@_first.register
def _(split: NumericSplit, left: bool) -> _Condition:
    narrowed = _Interval(split.feature).narrowed(split, left)
    assert narrowed is not None
    return narrowed


@_first.register
def _(split: NominalSplit, left: bool) -> _Condition:
    return _Among(split.feature, split.left if left else split.right, split.missing == int(left))
