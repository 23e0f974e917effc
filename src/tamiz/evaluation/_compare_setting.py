"""What the units of a comparison share, and what they note down."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tamiz.evaluation._compare_judges import Metric
from tamiz.evaluation._plan import Part

#: In place of a repeat and a fold: everything at once.
WHOLE = -1


@dataclass
class Setting:
    """What all units share. Nothing in it changes while they run."""

    X: Any
    y: np.ndarray
    task: str
    parts: list[Part]
    selectors: dict[str, Any]
    own: dict[str, bool]  # whether the number that a selector selects is worth judging
    curve: dict[str, bool]  # whether its ranking is judged at every size
    judges: dict[str, Any]
    candidates: dict[str, list[dict[str, Any]]]
    sizes: np.ndarray
    metric: Metric
    scale: str | None
    gaps: bool
    inner: int  # folds inside the training part; 0 for none
    nested: bool  # whether the size is chosen in there
    rule: str
    seed: int
    raising: bool
    groups: np.ndarray | None = None
    whole: dict[str, Ranking] = field(default_factory=dict)  # rankings on all data

    def seed_of(self, *what: Any) -> int:
        """A seed that depends on what it is for, and not on what else is run."""
        return seed_for(self.seed, *what)


def seed_for(seed: int, *what: Any) -> int:
    """The seed of a piece of a run."""
    words = [zlib.crc32(str(word).encode()) for word in what]
    return int(np.random.SeedSequence([seed, *words]).generate_state(1)[0])


class Ranking(NamedTuple):
    """What a selector said."""

    order: np.ndarray | None  # best first; None if it only selects
    own: np.ndarray  # the features that it selects, ascending
    seconds: float


class Failures:
    """What went wrong in a unit, and how often a metric had no value."""

    def __init__(self, setting: Setting, where: str):
        self.setting = setting
        self.where = where
        self.texts: list[str] = []
        self.n_undefined = 0

    def take(self, error: Exception, what: str) -> None:
        """Note a failure, or pass it on."""
        if self.setting.raising or isinstance(error, MemoryError):
            error.add_note(
                f"This happened in {self.where}, {what}. With error_score=nan such values are left "
                "out instead of ending the comparison."
            )
            raise error
        self.texts.append(f"{what}: {type(error).__name__}: {error}")
