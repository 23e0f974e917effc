"""What a recipe is: the published numbers, and how to obtain ours on one random split.

A recipe has parts, one for each data set or experiment, because their splits cost differently. A
part knows its published numbers, what to prepare once, what to compute on one split, and how the
values over the splits become rows of the table. How often it is repeated, by how many workers, and
what becomes of an interrupted run is up to :mod:`tamiz.evaluation.reproduce`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

UNEXPLAINED = "unexplained"
FEW = "not decided by so few repeats"
ROUNDING = 1e-9  # differences up to this count as zero


@dataclass(frozen=True)
class Row:
    """One line of the comparison.

    Attributes
    ----------
    what : str
        What was measured.
    group : str
        Rows of one group measure the same thing and share a scale.
    mean, sd : float
        Of our values; ``sd`` is None with a single one.
    low, high : float
        Our central 95 %: two of our values that leave out at most 2.5 % at each end. If ``of``
        is above 1, the interval in which the mean of that many values would lie.
    n : int
        Number of our values, one for each repeat.
    published : float or None
        The printed number.
    published_sd : float or None
        What is printed behind ±.
    decimals : int
        Decimals of the printed number; a value that rounds to it is inside.
    claim : str
        What is claimed in words, instead of a printed number.
    inside : bool or None
        Whether the published number is inside our central 95 %, or the claim holds; None where
        nothing is published, or nothing can be judged.
    remark : str
        Why not, or what to know.
    of : int
        How many values the printed number is the mean of; 1 for a single one.
    """

    what: str
    group: str
    mean: float
    sd: float | None
    low: float
    high: float
    n: int
    published: float | None = None
    published_sd: float | None = None
    decimals: int = 3
    claim: str = ""
    inside: bool | None = None
    remark: str = ""
    of: int = 1


def central(values: Sequence[float]) -> tuple[float, float]:
    """The central 95 %: two of the values that leave out at most 2.5 % at each end.

    With up to 40 values these are the smallest and the largest.
    """
    low = np.quantile(values, 0.025, method="lower")
    high = np.quantile(values, 0.975, method="higher")
    return float(low), float(high)


def interval_of_mean(values: Sequence[float], of: float = np.inf) -> tuple[float, float]:
    """Where the mean of ``of`` more such values lies in 95 of 100 cases.

    Single values spread far wider than means of many, so that nearly any mean is among them. Both
    means are uncertain, that of the ``of`` values and ours: their difference has the deviation
    ``s sqrt(1 / of + 1 / n)``, and Student's t accounts for ``s`` being estimated. Of infinitely
    many values it is the usual interval for their expectation.
    """
    mean, sd = _moments(values)
    if sd is None:
        return mean, mean
    n = len(values)
    reach = float(stats.t.ppf(0.975, n - 1)) * sd * float(np.sqrt(1 / of + 1 / n))
    return mean - reach, mean + reach


def is_inside(published: float, low: float, high: float, decimals: int) -> bool:
    """Whether a value between ``low`` and ``high`` rounds to the printed number."""
    half = 0.5 * 10.0**-decimals
    slack = 1e-9 * max(1.0, abs(published))  # decimal halves are not exact in binary
    return low - half - slack <= published <= high + half + slack


def row(
    what: str,
    values: Sequence[float],
    *,
    group: str,
    published: float | tuple[float | None, float | None] | None = None,
    decimals: int = 3,
    why: str = "",
    note: str = "",
    of: int = 1,
    judged: bool | None = None,
) -> Row:
    """Our values beside a printed number, which is the mean ``of`` so many.

    ``published`` is the number, or a pair of it and of what is printed behind ±. ``why`` is the
    explanation if it lies outside, ``note`` is said in any case. By default it is ``judged``
    whether the number lies inside if there are several values: a single one of a random repeat is
    no interval.
    """
    value, deviation = published if isinstance(published, tuple) else (published, None)
    inside, remark = None, note
    low, high = central(values) if of == 1 else interval_of_mean(values, of)
    if value is not None and (len(values) > 1 if judged is None else judged):
        inside = is_inside(value, low, high, decimals)
        if not inside:
            remark = "; ".join(filter(None, [note, why])) or UNEXPLAINED
    return Row(
        what, group, *_moments(values), low, high, len(values),
        value, deviation, decimals, "", inside, remark, of,
    )  # fmt: skip


def claim(
    what: str,
    values: Sequence[float],
    words: str,
    holds: bool | None,
    *,
    group: str,
    decimals: int = 3,
    why: str = "",
    note: str = "",
) -> Row:
    """Our values beside a claim in words; it holds, or not, or is left open (None)."""
    low, high = central(values)
    remark = note if holds else "; ".join(filter(None, [note, why])) or UNEXPLAINED
    return Row(
        what, group, *_moments(values), low, high, len(values),
        None, None, decimals, words, holds if holds is None else bool(holds), remark,
    )  # fmt: skip


def claim_above(
    what: str,
    differences: Sequence[float],
    *,
    group: str,
    decimals: int = 4,
    why: str = "",
    undecided: str = FEW,
    note: str = "",
) -> Row:
    """A difference that is claimed to be positive, judged by the interval of its mean.

    ``why`` is the explanation if it is not, ``undecided`` what is said if the interval holds zero.
    """
    low, high = interval_of_mean(differences)
    decided = len(differences) > 1 and (low > ROUNDING or high < -ROUNDING)
    return claim(
        what, differences, "above 0", low > 0 if decided else None, group=group,
        decimals=decimals, why=why if decided else undecided, note=note,
    )  # fmt: skip


def claim_within(
    what: str,
    differences: Sequence[float],
    bound: float,
    *,
    group: str,
    decimals: int = 4,
    why: str = "",
) -> Row:
    """A difference that is claimed to be small, judged by the interval of its mean."""
    low, high = interval_of_mean(differences)
    holds: bool | None = None
    if len(differences) > 1 and -bound <= low <= high <= bound:
        holds = True
    elif len(differences) > 1 and (low > bound or high < -bound):
        holds = False
    return claim(
        what, differences, f"within {bound:g}", holds, group=group, decimals=decimals,
        why=FEW if holds is None else why,
    )  # fmt: skip


def _moments(values: Sequence[float]) -> tuple[float, float | None]:
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return float(np.mean(values)), sd


Found = dict[str, Any]


class Experiment(ABC):
    """One experiment of a recipe.

    Attributes
    ----------
    name : str
        Unique in the recipe.
    data : tuple of str
        Names for :func:`tamiz.data.load`.
    quick, full : int
        Numbers of repeats.
    fixed : bool
        Whether ``repeats`` is ignored, because more repeats would add nothing.
    alone : bool
        Whether its repeats must run one at a time, because they measure time.
    """

    name: str
    data: tuple[str, ...]
    quick: int
    full: int
    fixed: bool = False
    alone: bool = False

    def n_repeats(self, quick: bool, repeats: int | None) -> int:
        """Number of repeats to run."""
        own = self.quick if quick else self.full
        return own if repeats is None or self.fixed else repeats

    @abstractmethod
    def prepare(self, quick: bool, seed: int) -> Any:
        """What all repeats share, computed once: the data above all."""

    @abstractmethod
    def repeat(self, ready: Any, seed: int) -> Found:
        """The values of one repeat, in types that JSON can hold."""

    @abstractmethod
    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        """The lines of the table from the values of all repeats, at least one."""


@dataclass(frozen=True)
class Recipe:
    """A published table, or several of one study.

    Attributes
    ----------
    name, title, source : str
        What is reproduced, and where it was printed.
    protocol : str
        What is done, in words.
    data : str
        What it is done with, in words.
    parts : tuple of Experiment
        The experiments.
    thinned : str
        What the quick form leaves out, besides repeats.
    """

    name: str
    title: str
    source: str
    protocol: str
    data: str
    parts: tuple[Experiment, ...]
    thinned: str = ""


def column(found: list[Found], key: str) -> list[float]:
    """The values of one key over the repeats."""
    return [float(values[key]) for values in found]


class LabelledTable(NamedTuple):
    """Numbers and labels, the labels as text."""

    X: np.ndarray
    y: np.ndarray
    names: list[str]


def read(name: str, numeric: bool = False) -> LabelledTable:
    """A data set by name, in the order of its rows; only its ``numeric`` columns if asked for."""
    from tamiz.data import load

    data = load(name)
    X, names = np.asarray(data.X, dtype=np.float64), np.asarray(data.feature_names, dtype=str)
    if numeric:
        X, names = X[:, ~data.categorical], names[~data.categorical]
    return LabelledTable(X, np.asarray(data.y).astype(str), names.tolist())


def unit(X: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
    """Columns scaled to [0, 1]; to the range that they have in ``like`` if it is given."""
    low, high = (X if like is None else like).min(axis=0), (X if like is None else like).max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0)


def e1071_scale(train: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Means zero and deviations (n - 1) one in the training part, as ``e1071::svm`` does.

    If a column is constant there, e1071 warns and scales none of them.
    """
    deviation = train.std(axis=0, ddof=1)
    if not deviation.all():
        return [train, *others]
    mean = train.mean(axis=0)
    return [(table - mean) / deviation for table in (train, *others)]


def split(rng: np.random.Generator, y: np.ndarray, fraction: float = 0.7) -> tuple[Any, Any]:
    """A random split that keeps the classes in proportion: positions to train and to test."""
    train = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        train[members[: max(1, round(fraction * len(members)))]] = True
    return np.flatnonzero(train), np.flatnonzero(~train)


def stratified_folds(rng: np.random.Generator, y: np.ndarray, n_folds: int) -> list[np.ndarray]:
    """Held-out positions of each fold; classes in proportion, sizes that differ by one at most."""
    order = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)])
    return [np.sort(order[k::n_folds]) for k in range(n_folds)]


def without(n: int, held: np.ndarray) -> np.ndarray:
    """The positions below ``n`` that are not held out."""
    left = np.ones(n, dtype=bool)
    left[held] = False
    return np.flatnonzero(left)


_TO_UNIT = 2.0**-32


class RGenerator:
    """R's default generator after ``set.seed(seed)``.

    Examples
    --------
    >>> RGenerator(42).sample(10) + 1
    array([ 1,  5, 10,  8,  2,  4,  6,  9,  7,  3])
    """

    def __init__(self, seed: int):
        words = []
        for _ in range(50 + 625):
            seed = (69069 * seed + 1) % 2**32
            words.append(seed)
        self._twister = np.random.MT19937()
        state = self._twister.state
        # words[50] is R's position in the state; R starts with a new block, position 624
        state["state"] = {"key": np.array(words[51:], dtype=np.uint32), "pos": 624}
        self._twister.state = state

    def _uniform(self) -> float:
        value = int(self._twister.random_raw()) * _TO_UNIT
        return min(max(value, 0.5 * _TO_UNIT), 1.0 - 0.5 * _TO_UNIT)

    def _below(self, n: int) -> int:
        """An integer from 0 to n - 1."""
        bits = (n - 1).bit_length()
        while True:
            value = 0
            for _ in range(0, bits + 1, 16):
                value = 65536 * value + int(self._uniform() * 65536)
            value %= 1 << bits
            if value < n:
                return value

    def sample(self, n: int, size: int | None = None) -> np.ndarray:
        """``sample(n, size)`` without replacement, counted from zero."""
        left, drawn = list(range(n)), []
        for _ in range(n if size is None else size):
            k = self._below(n)
            n -= 1
            drawn.append(left[k])
            left[k] = left[n]
        return np.array(drawn, dtype=np.intp)


def tune_folds(n: int, n_folds: int, permutation: np.ndarray) -> list[np.ndarray]:
    """The held-out samples of each fold, as ``e1071::tune`` cuts a permutation into ranges."""
    width = (n - 1) / n_folds
    fold = np.maximum(np.ceil(np.arange(n) / width - 1e-9).astype(int) - 1, 0)
    return [permutation[fold == k] for k in range(n_folds)]
