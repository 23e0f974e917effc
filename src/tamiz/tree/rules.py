"""A tree in words: if-then rules, an indented text, and the source of a Python function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.display import counted, frame_in_notebook, frames
from tamiz.runtime.progress import printable
from tamiz.tree.splits import (
    NominalSplit,
    NumericSplit,
    ObliqueSplit,
    Split,
    Surrogate,
    cell,
    name_of,
    number,
    plain,
    shown,
)
from tamiz.validation import checked, free_identifier

if TYPE_CHECKING:
    import pandas as pd

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


def class_fractions(tree: Tree, node: int) -> np.ndarray:
    """The fraction of each class in a node."""
    mass = tree.value[node]
    total = mass.sum()
    return mass / total if total > 0 else np.full(len(mass), np.nan)


def one_line(text: str) -> str:
    """Text on one line, without letters that steer a terminal: names may hold anything."""
    if text.isprintable():
        return text
    return printable(" ".join(text.replace("\t", " ").splitlines()))


def percent(fraction: float) -> str:
    """A fraction in per cent, with as many digits as are needed."""
    if 0 < fraction < 0.001:
        return "<0.1 %"
    if 0.999 < fraction < 1:
        return ">99.9 %"
    return f"{100 * fraction:.1f} %"


def preorder(tree: Tree, deepest: int | None = None, top: int = 0) -> list[int]:
    """Nodes of a branch from the left to the right, parents first, down to a depth."""
    found, waiting = [], [top]
    while waiting:
        t = waiting.pop()
        found.append(t)
        if tree.left[t] >= 0 and (deepest is None or tree.depth[t] < deepest):
            waiting += [int(tree.right[t]), int(tree.left[t])]
    return found


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
        Its fraction of the weight of all training samples.
    shares : dict
        The fraction of each class in it, the most frequent first; empty for regression.
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

    def to_frame(self) -> pd.DataFrame:
        """One row for each condition."""
        return frames().DataFrame({"condition": list(self.conditions) or ["anything"]})

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(str(self).rpartition("\n")[2], self.to_frame)


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
            found = class_fractions(tree, t)
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
            said += f" {percent(float(class_fractions(tree, t)[int(tree.prediction[t])]))}"
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
class _OtherTest(_Condition):
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
    return _OtherTest(split, left)


@_first.register
def _(split: NumericSplit, left: bool) -> _Condition:
    narrowed = _Interval(split.feature).narrowed(split, left)
    assert narrowed is not None
    return narrowed


@_first.register
def _(split: NominalSplit, left: bool) -> _Condition:
    return _Among(split.feature, split.left if left else split.right, split.missing == int(left))


_DEEPEST = 12  # levels inside one function: Python takes no more than a hundred

_HEAD = '''"""A decision tree with {leaves}, written by tamiz."""


def is_missing(value):
    """None, NaN and pandas.NA are missing values."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA answers neither yes nor no
        return True
'''

#: What the tests are made of; those that a tree needs are written above it.
_HELPERS = {
    "at_most": '''
def at_most(value, limit, missing=None):
    """Whether a number is at most the limit; None if it cannot be told."""
    return missing if is_missing(value) else value <= limit
''',
    "among": '''
def among(value, left, right, missing=None):
    """Whether a category is in the first set rather than in the second; None if in neither."""
    if is_missing(value):
        return missing
    return True if value in left else False if value in right else None
''',
    "ranked": '''
def ranked(value, left, right, missing=None):
    """Whether a level is among the lower ones; one that is in neither list counts as missing."""
    if is_missing(value):
        return missing
    return True if value in left else False if value in right else missing
''',
    "sum_at_most": '''
def sum_at_most(terms, limit):
    """Whether a weighted sum is at most the limit; None if a value is missing."""
    total = 0.0
    for factor, value in terms:
        if is_missing(value):
            return None
        total += factor * value
    return total <= limit
''',
    "opposite": '''
def opposite(answer):
    """The other side; None stays None."""
    return None if answer is None else not answer
''',
    "first": '''
def first(*answers):
    """The first answer that can be told: a test, then those that stand in for it."""
    return next(answer for answer in answers if answer is not None)
''',
}
_PLAIN = (bool, int, float, str, bytes, type(None))


@checked(name=free_identifier(*_HELPERS, "is_missing"))
def python_source(tree: Tree, wording: Wording, name: str = "predict") -> str:
    """Source of a module with a function of that name, which takes one row.

    A row is a mapping by feature name, or a sequence if the features have no names.
    """
    waiting, functions = [0], []
    while waiting:
        functions.append(_function(tree, wording, waiting.pop(), name, waiting))
    body = "\n\n\n".join(functions)
    count = counted(tree.n_leaves, "leaf", "leaves")
    helpers = [text for word, text in _HELPERS.items() if f"{word}(" in body]
    head = _HEAD.format(leaves=count) if helpers else _HEAD.format(leaves=count).split("\n\n\n")[0]
    return "\n".join([head.rstrip("\n") + "\n", *helpers, "", body, ""])


def _function(tree: Tree, wording: Wording, top: int, name: str, waiting: list[int]) -> str:
    """The branch of a node as one function; branches below that are too deep wait for theirs."""
    lines = [f"def {name}{f'_{top}' if top else ''}(row):"]
    if not top:
        what = "name" if wording.names is not None else "number"
        lines.append(f'    """The prediction for one row, given by {what} of feature."""')
    stack: list[tuple[int, int, bool]] = [(top, 1, False)]
    while stack:
        t, level, otherwise = stack.pop()
        indent, split = "    " * level, tree.splits[t]
        if split is not None and level <= _DEEPEST:
            word = "elif" if otherwise else "if"
            lines.append(f"{indent}{word} {_question(tree, t, split, wording)}:")
            stack.append((int(tree.right[t]), level, True))
            stack.append((int(tree.left[t]), level + 1, False))
            continue
        if otherwise:
            lines.append(f"{indent}else:")
            indent += "    "
        if split is None:
            said = counted(int(tree.n_samples[t]), "sample")
            lines.append(f"{indent}return {_literal(wording.predicted(tree, t))}  # {said}")
        else:
            waiting.append(t)
            lines.append(f"{indent}return {name}_{t}(row)")
    return "\n".join(lines)


def _question(tree: Tree, t: int, split: Split, wording: Wording) -> str:
    asked = [_call(test, wording) for test in (split, *tree.surrogates[t])]
    return f"first({', '.join([*asked, str(bool(tree.majority_left[t]))])})"


@singledispatch
def _call(split: Any, wording: Wording) -> str:
    """A test as a call of one of the helpers."""
    raise TypeError(f"a test of type {type(split).__name__} has no source.")


@_call.register
def _(split: NumericSplit, wording: Wording) -> str:
    value = cell(split.feature, wording.names, "row")
    levels = wording.categories.get(split.feature)
    if levels is not None:
        end = len(levels) if np.isinf(split.threshold) else int(np.floor(split.threshold)) + 1
        return _sets("ranked", value, levels[:end], levels[end:], split.missing)
    return f"at_most({value}, {_number(split.threshold)}{_missing(split.missing)})"


@_call.register
def _(split: NominalSplit, wording: Wording) -> str:
    levels = wording.categories.get(split.feature)
    left, right = (
        [code if levels is None else levels[code] for code in sorted(codes)]
        for codes in (split.left, split.right)
    )
    return _sets("among", cell(split.feature, wording.names, "row"), left, right, split.missing)


@_call.register
def _(split: ObliqueSplit, wording: Wording) -> str:
    terms = ", ".join(
        f"({_number(a)}, {cell(j, wording.names, 'row')})"
        for j, a in zip(split.columns, split.coefficients, strict=True)
    )
    return f"sum_at_most([{terms}], {_number(split.threshold)})"


@_call.register
def _(split: Surrogate, wording: Wording) -> str:
    inner = _call(split.split, wording)
    return f"opposite({inner})" if split.reverse else inner


def _sets(word: str, value: str, left: Any, right: Any, missing: int) -> str:
    sides = ([_literal(plain(v)) for v in side] for side in (left, right))
    sets = (f"({', '.join(side)}{',' * (len(side) == 1)})" for side in sides)
    return f"{word}({value}, {', '.join(sets)}{_missing(missing)})"


def _missing(missing: int) -> str:
    return "" if missing < 0 else f", missing={bool(missing)}"


def _number(value: float) -> str:
    value = float(value)
    return repr(value) if np.isfinite(value) else f'float("{value}")'


def _literal(value: Any) -> str:
    """A label or category as Python source."""
    if isinstance(value, float):
        return _number(value)
    if not isinstance(value, _PLAIN):
        raise ValueError(
            f"{value!r} of type {type(value).__name__} cannot be written as Python source; use "
            "text or numbers for classes and categories."
        )
    return repr(value)


# ------------------------------------------------------------------ the way of one sample


@dataclass(frozen=True)
class PathInWords:
    """Why a tree predicts what it predicts for one sample; ``str`` makes a sentence of it.

    Attributes
    ----------
    nodes : tuple of int
        The nodes that the sample passes, the root first.
    reasons : tuple of str
        What its answers say together, one reason for each feature with the value that it has;
        where the value is missing, what stood for it.
    prediction : object
        The class, or the mean.
    n_samples : int
        Training samples in the leaf.
    shares : dict
        The fraction of each class in the leaf, the most frequent first; empty for regression.
    deviation : float
        Standard deviation of the target in the leaf; 0 for classes.
    """

    nodes: tuple[int, ...]
    reasons: tuple[str, ...]
    prediction: Any
    n_samples: int
    shares: dict[Any, float] = field(default_factory=dict)
    deviation: float = 0.0

    def __str__(self) -> str:
        said = f"{self.prediction:.6g}" if not self.shares else one_line(str(self.prediction))
        because = "; ".join(self.reasons) or "the tree asks nothing"
        where = f"{counted(self.n_samples, 'training sample')} in this leaf"
        if not self.shares:
            return f"Predicted {said}, because {because}. {where}, deviation {self.deviation:.4g}."
        part = percent(self.shares.get(self.prediction, 0.0))
        return f"Predicted {said}, because {because}. {where}, {part} of class {said}."

    def to_frame(self) -> pd.DataFrame:
        """One row for each reason."""
        return frames().DataFrame({"reason": list(self.reasons) or ["the tree asks nothing"]})

    def _repr_html_(self) -> str | None:
        said = f"{self.prediction:.6g}" if not self.shares else one_line(str(self.prediction))
        where = f"{counted(self.n_samples, 'training sample')} in this leaf"
        return frame_in_notebook(f"Predicted {said}; {where}", self.to_frame)


def path_of(tree: Tree, wording: Wording, row: np.ndarray) -> PathInWords:
    """The way of one row of an internal table (codes, NaN where missing) down the tree."""
    leaf = int(tree.apply(row[None, :])[0])
    nodes = [*tree.ancestors(leaf), leaf]
    conditions: tuple[_Condition, ...] = ()
    others: dict[str, _Unanswered] = {}
    for t, child in pairwise(nodes):
        split, left = tree.splits[t], int(tree.left[t]) == child
        assert split is not None  # it has children
        absent = _absent(split, wording, row)
        if not absent:
            conditions = _narrowed(conditions, split, left)
        else:
            others.setdefault(absent, _Unanswered()).add(tree, t, left, wording, row)
    said = [_with_value(condition, wording, row) for condition in conditions]
    said += [f"{absent}{one.text(wording)}" for absent, one in others.items()]
    shares: dict[Any, float] = {}
    deviation = 0.0
    if wording.classes is None:
        deviation = float(np.sqrt(tree.error[leaf] * tree.weight[0] / tree.weight[leaf]))
    else:
        found = class_fractions(tree, leaf)
        shares = {wording.classes[k]: float(found[k]) for k in np.argsort(-found, kind="stable")}
    return PathInWords(
        tuple(nodes),
        tuple(one_line(reason) for reason in said),
        wording.predicted(tree, leaf),
        int(tree.n_samples[leaf]),
        shares,
        deviation,
    )


def _with_value(condition: _Condition, wording: Wording, row: np.ndarray) -> str:
    """A condition on known values, and the value."""
    text = condition.text(wording).removesuffix(" or missing")
    feature = getattr(condition, "feature", None)
    if feature is None:
        return text
    value = _value(feature, wording, row)
    return text if text.endswith(f"= {value}") else f"{text} (it is {value})"


def _value(feature: int, wording: Wording, row: np.ndarray) -> str:
    levels, value = wording.categories.get(feature), float(row[feature])
    known = levels is not None and 0 <= value < len(levels)
    return shown(levels[int(value)]) if known and levels is not None else f"{value:.6g}"


def _absent(split: Split, wording: Wording, row: np.ndarray) -> str:
    """Why the value of a row does not answer a question; empty if it does."""
    missing = [wording.feature(j) for j in split.features if np.isnan(row[j])]
    if missing:
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if split.sends_left(row[None, :])[0] >= 0:
        return ""
    (j,) = split.features  # a category in neither set
    new = not 0 <= row[j] < len(wording.categories.get(j, ()))
    where = "in training" if new else "where this is asked"
    return f"{wording.feature(j)} is a category that was not seen {where}"


class _Unanswered:
    """What decided the questions about one feature whose value does not answer them."""

    def __init__(self) -> None:
        self.stood: list[str] = []  # surrogates
        self.most: tuple[_Condition, ...] = ()  # the way of most samples

    def add(self, tree: Tree, t: int, left: bool, wording: Wording, row: np.ndarray) -> None:
        """One more question."""
        split = tree.splits[t]
        assert split is not None
        if split.sends_left(row[None, :])[0] >= 0:
            return  # missing values have a side of their own
        for surrogate in tree.surrogates[t]:
            if surrogate.sends_left(row[None, :])[0] >= 0:
                text = surrogate.text(left, wording.names, wording.categories)
                (j,) = surrogate.features
                question = split.text(left, wording.names, wording.categories)
                value = "missing" if np.isnan(row[j]) else _value(j, wording, row)
                self.stood.append(f"{text} (it is {value}) stands for {question}")
                return
        self.most = _narrowed(self.most, split, left)

    def text(self, wording: Wording) -> str:
        """In words, to follow what is absent."""
        said = [condition.text(wording).removesuffix(" or missing") for condition in self.most]
        parts = self.stood + [f"most samples have {one}" for one in said]
        return "".join(f", and {part}" for part in parts)
