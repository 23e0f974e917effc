"""A tree as the source of a Python function that needs nothing but Python."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.tree._wording import Wording, counted
from tamiz.tree.splits import (
    NominalSplit,
    NumericSplit,
    ObliqueSplit,
    Split,
    Surrogate,
    cell,
    plain,
)

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree

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


def python_source(tree: Tree, wording: Wording, name: str = "predict") -> str:
    """Source of a module with a function of that name, which takes one row.

    A row is a mapping by feature name, or a sequence if the features have no names.
    """
    if not isinstance(name, str) or not name.isidentifier() or name in (*_HELPERS, "is_missing"):
        raise ValueError(f"name={name!r} cannot be the name of the function; use a free word.")
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
