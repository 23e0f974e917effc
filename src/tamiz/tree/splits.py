"""The tests at the inner nodes of a tree: which samples go left, and how to say so.

A split answers 1 (left), 0 (right) or -1 (cannot tell, because a value is missing or a category
was not there when the split was made). Tables hold numbers; categories are codes from 0, a code
below 0 is a category that is not known, NaN is a missing value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: What a split says about a sample.
LEFT, RIGHT, UNDECIDED = 1, 0, -1

Categories = Mapping[int, Any]
Names = Sequence[Any]


class Split(ABC):
    """A question with the answers left and right."""

    @property
    @abstractmethod
    def features(self) -> tuple[int, ...]:
        """The columns that the question asks for."""

    @abstractmethod
    def sends_left(self, X: np.ndarray) -> np.ndarray:
        """1 for the rows that go left, 0 for right, -1 for those it cannot place (int8)."""

    def hyperplane(self) -> tuple[dict[int, float], float] | None:
        """Coefficients by feature, and the limit up to which their sum goes left; None if none."""
        return None

    @abstractmethod
    def text(
        self, left: bool, names: Names | None = None, categories: Categories | None = None
    ) -> str:
        """What is true of the samples that go left (or right).

        Parameters
        ----------
        left : bool
            Which side.
        names : sequence, optional
            Names of all features; ``x0``, ``x1``, ... if left out.
        categories : dict, optional
            By feature, what the codes of nominal and ordinal features stand for.
        """

    @abstractmethod
    def source(
        self,
        names: Names | None = None,
        categories: Categories | None = None,
        row: str = "row",
    ) -> str:
        """A Python expression that is true if a sample goes left.

        ``row`` is the name of a mapping by feature name (or a sequence, without ``names``) of the
        values as the user has them. Values are taken as known.
        """


@dataclass(frozen=True)
class NumericSplit(Split):
    """``x <= threshold`` goes left; numbers, and categories with an order.

    Parameters
    ----------
    feature : int
        Column.
    threshold : float
        Between two values that occurred; infinite if all known values go left.
    missing : {-1, 0, 1}, default=-1
        Where a missing value goes; -1 leaves it undecided.
    """

    feature: int
    threshold: float
    missing: int = UNDECIDED

    @property
    def features(self) -> tuple[int, ...]:
        return (self.feature,)

    def sends_left(self, X: np.ndarray) -> np.ndarray:
        x = X[:, self.feature]
        sent = (x <= self.threshold).astype(np.int8)
        sent[np.isnan(x)] = self.missing
        return sent

    def hyperplane(self) -> tuple[dict[int, float], float]:
        return {self.feature: 1.0}, self.threshold

    def text(
        self, left: bool, names: Names | None = None, categories: Categories | None = None
    ) -> str:
        name = name_of(self.feature, names)
        if np.isinf(self.threshold):
            return f"{name} is known" if left else f"{name} is missing"
        if categories is not None and self.feature in categories:
            limit = shown(categories[self.feature][int(np.floor(self.threshold))])
        else:
            limit = number(self.threshold)
        return _or_missing(f"{name} {'<=' if left else '>'} {limit}", self.missing, left)

    def source(
        self,
        names: Names | None = None,
        categories: Categories | None = None,
        row: str = "row",
    ) -> str:
        value = cell(self.feature, names, row)
        if np.isinf(self.threshold):
            return "True"
        if categories is not None and self.feature in categories:
            below = categories[self.feature][: int(np.floor(self.threshold)) + 1]
            return f"{value} in {_tuple(below)}"
        return f"{value} <= {float(self.threshold)!r}"


@dataclass(frozen=True)
class NominalSplit(Split):
    """Categories of a set go left, those of another right.

    Parameters
    ----------
    feature : int
        Column.
    left, right : frozenset of int
        Codes; any other is undecided.
    missing : {-1, 0, 1}, default=-1
        Where a missing value goes; -1 leaves it undecided.
    """

    feature: int
    left: frozenset[int]
    right: frozenset[int]
    missing: int = UNDECIDED

    @property
    def features(self) -> tuple[int, ...]:
        return (self.feature,)

    def sends_left(self, X: np.ndarray) -> np.ndarray:
        x = X[:, self.feature]
        sent = np.full(len(x), UNDECIDED, dtype=np.int8)
        sent[np.isin(x, list(self.right))] = RIGHT
        sent[np.isin(x, list(self.left))] = LEFT
        sent[np.isnan(x)] = self.missing
        return sent

    def text(
        self, left: bool, names: Names | None = None, categories: Categories | None = None
    ) -> str:
        name = name_of(self.feature, names)
        chosen = self._values(self.left if left else self.right, categories)
        if not chosen:
            return f"{name} is missing"
        if not (self.right if left else self.left):
            return f"{name} is known"
        if len(chosen) == 1:
            return _or_missing(f"{name} = {shown(chosen[0])}", self.missing, left)
        listed = ", ".join(shown(value) for value in chosen)
        return _or_missing(f"{name} in {{{listed}}}", self.missing, left)

    def source(
        self,
        names: Names | None = None,
        categories: Categories | None = None,
        row: str = "row",
    ) -> str:
        return f"{cell(self.feature, names, row)} in {_tuple(self._values(self.left, categories))}"

    def _values(self, codes: frozenset[int], categories: Categories | None) -> list[Any]:
        known = None if categories is None else categories.get(self.feature)
        return [code if known is None else known[code] for code in sorted(codes)]


@dataclass(frozen=True)
class ObliqueSplit(Split):
    """A weighted sum of features that is at most ``threshold`` goes left.

    Parameters
    ----------
    columns : tuple of int
        The features that have a coefficient.
    coefficients : tuple of float
        One for each.
    threshold : float
        Limit of the sum.
    """

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    threshold: float

    @property
    def features(self) -> tuple[int, ...]:
        return self.columns

    def sends_left(self, X: np.ndarray) -> np.ndarray:
        total = np.zeros(len(X))
        with np.errstate(over="ignore", invalid="ignore"):
            for j, a in zip(self.columns, self.coefficients, strict=True):
                total += a * X[:, j]  # term by term, as the compiled code adds
        sent = (total <= self.threshold).astype(np.int8)
        sent[np.isnan(total)] = UNDECIDED
        return sent

    def hyperplane(self) -> tuple[dict[int, float], float]:
        return dict(zip(self.columns, self.coefficients, strict=True)), self.threshold

    def text(
        self, left: bool, names: Names | None = None, categories: Categories | None = None
    ) -> str:
        total = ""
        for j, a in zip(self.columns, self.coefficients, strict=True):
            size = f"{abs(a):.4g} {name_of(j, names)}"
            if total:
                total += f" {'-' if a < 0 else '+'} {size}"
            else:
                total = f"-{size}" if a < 0 else size
        return f"{total} {'<=' if left else '>'} {number(self.threshold)}"

    def source(
        self,
        names: Names | None = None,
        categories: Categories | None = None,
        row: str = "row",
    ) -> str:
        parts = (
            f"{float(a)!r} * {cell(j, names, row)}"
            for j, a in zip(self.columns, self.coefficients, strict=True)
        )
        return f"{' + '.join(parts)} <= {float(self.threshold)!r}"


@dataclass(frozen=True)
class Surrogate(Split):
    """A split on another feature that imitates the split of a node.

    Parameters
    ----------
    split : NumericSplit or NominalSplit
        The question.
    reverse : bool
        Whether its left is the node's right.
    agreement : float
        Share of the weight that both can place which both send to the same side.
    association : float
        Breiman's predictive association: by how much the surrogate errs less than sending all
        samples to the larger side, ``1 - (1 - agreement) / (1 - larger side's fraction)``.
    """

    split: Split
    reverse: bool
    agreement: float
    association: float

    @property
    def features(self) -> tuple[int, ...]:
        return self.split.features

    def sends_left(self, X: np.ndarray) -> np.ndarray:
        sent = self.split.sends_left(X)
        if self.reverse:
            sent = np.where(sent < 0, sent, 1 - sent).astype(np.int8)
        return sent

    def text(
        self, left: bool, names: Names | None = None, categories: Categories | None = None
    ) -> str:
        return self.split.text(left != self.reverse, names, categories)

    def source(
        self,
        names: Names | None = None,
        categories: Categories | None = None,
        row: str = "row",
    ) -> str:
        condition = self.split.source(names, categories, row)
        return f"not ({condition})" if self.reverse else condition


def number(value: float) -> str:
    """A limit with six digits, or more where these would not tell one unit from the next."""
    if 1e5 <= abs(value) < 1e15:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.6g}"


def name_of(feature: int, names: Names | None) -> str:
    """How a feature is called in a sentence."""
    return f"x{feature}" if names is None else str(names[feature])


def cell(feature: int, names: Names | None, row: str) -> str:
    """The value of a feature in Python source."""
    return f"{row}[{feature if names is None else plain(names[feature])!r}]"


def plain(value: Any) -> Any:
    """A value without NumPy's wrapping, so that its repr is Python."""
    return value.item() if isinstance(value, np.generic) else value


def shown(value: Any) -> str:
    """A category in a sentence."""
    return str(plain(value))


def _tuple(values: Any) -> str:
    return repr(tuple(plain(value) for value in values))


def _or_missing(condition: str, missing: int, left: bool) -> str:
    return f"{condition} or missing" if missing == int(left) else condition
