"""What a recipe is: the published numbers, and how to obtain ours on one random split.

A recipe has parts, one for each data set or experiment, because their splits cost differently. A
part knows its published numbers, what to prepare once, what to compute on one split, and how the
values over the splits become rows of the table. How often it is repeated, by how many workers, and
what becomes of an interrupted run is the business of :mod:`tamiz.evaluation.reproduce`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Row:
    """One line of the comparison.

    Attributes
    ----------
    what : str
        What was measured.
    group : str
        The quantity: rows of one group share a scale.
    mean, sd : float
        Of our values; ``sd`` is None with a single one.
    low, high : float
        Our central 95 %: of our own values, those that leave out at most 2.5 % at each end; with
        ``of`` above 1 where the mean of so many values would lie.
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

    Up to 40 values these are the smallest and the largest: fewer cannot tell more.
    """
    low = np.quantile(values, 0.025, method="lower")
    high = np.quantile(values, 0.975, method="higher")
    return float(low), float(high)


def interval_of_mean(values: Sequence[float], of: float = np.inf) -> tuple[float, float]:
    """Where the mean of ``of`` more such values lies in 95 of 100 cases.

    Single values spread far wider than means of many, so that nearly any mean is among them. Both
    means are uncertain, that of the ``of`` values and ours: their difference has the deviation
    ``s sqrt(1 / of + 1 / n)``, and Student's t counts for ``s`` being estimated. Of infinitely many
    values it is the usual interval for their expectation.
    """
    mean, sd = _moments(values)
    if sd is None:
        return mean, mean
    n = len(values)
    reach = float(stats.t.ppf(0.975, n - 1)) * sd * float(np.sqrt(1 / of + 1 / n))
    return mean - reach, mean + reach


def is_inside(published: float, low: float, high: float, decimals: int) -> bool:
    """Whether a printed number may stand for a value between ``low`` and ``high``."""
    half = 0.5 * 10.0**-decimals
    slack = 1e-9 * max(1.0, abs(published))  # a half in decimal is none in binary
    return low - half - slack <= published <= high + half + slack


def row(
    what: str,
    values: Sequence[float],
    *,
    group: str,
    published: float | None = None,
    published_sd: float | None = None,
    decimals: int = 3,
    why: str = "",
    note: str = "",
    random: bool = True,
    of: int = 1,
    judged: bool = True,
) -> Row:
    """Our values beside a printed number, which is the mean ``of`` so many.

    ``why`` is the explanation if it lies outside, ``note`` is said in any case. A single value of a
    ``random`` repeat is no interval, and nothing can be inside; nor is it asked if not ``judged``.
    """
    inside, remark = None, note
    low, high = central(values) if of == 1 else interval_of_mean(values, of)
    if judged and published is not None and (len(values) > 1 or not random):
        inside = is_inside(published, low, high, decimals)
        if not inside:
            remark = "; ".join(filter(None, [note, why])) or UNEXPLAINED
    return Row(
        what, group, *_moments(values), low, high, len(values),
        published, published_sd, decimals, "", inside, remark, of,
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


def _moments(values: Sequence[float]) -> tuple[float, float | None]:
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return float(np.mean(values)), sd


Found = dict[str, Any]


class Part(ABC):
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
        Whether the numbers stand whatever ``repeats`` says, because more would add nothing.
    alone : bool
        Whether its repeats must not share the machine, because they measure time.
    """

    name: str
    data: tuple[str, ...]
    quick: int
    full: int
    fixed: bool = False
    alone: bool = False

    def n_repeats(self, quick: bool, repeats: int | None) -> int:
        """How many repeats are due."""
        own = self.quick if quick else self.full
        return own if repeats is None or self.fixed else repeats

    @abstractmethod
    def prepare(self, quick: bool, seed: int) -> Any:
        """What all repeats share, computed once: the data above all."""

    @abstractmethod
    def repeat(self, ready: Any, seed: int) -> Found:
        """The values of one repeat, such as JSON can hold."""

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
    parts : tuple of Part
        The experiments.
    thinned : str
        What the quick form leaves out, besides repeats.
    """

    name: str
    title: str
    source: str
    protocol: str
    data: str
    parts: tuple[Part, ...]
    thinned: str = ""


def column(found: list[Found], key: str) -> list[float]:
    """The values of one key over the repeats."""
    return [float(values[key]) for values in found]
