"""The best subset of each size, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import choose_size
from tamiz.search.evaluator import Evaluation

#: What ``n_features_to_select`` may be where a search can choose the number itself.
SIZE_OR_RULE: list[Any] = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="right"),
    StrOptions({"auto", "best", "1se"}),
]


class Record(NamedTuple):
    """A subset of units that was judged."""

    subset: np.ndarray
    n_features: int
    evaluation: Evaluation

    @property
    def value(self) -> float:
        return self.evaluation.value


class Records:
    """The best subset met of each size; of equals the one met first.

    Sizes are whatever the search counts: features, or units if these are groups.
    """

    def __init__(self) -> None:
        self.best: dict[int, Record] = {}

    def offer(self, size: int, record: Record) -> bool:
        """Keep a subset if it is better than the one of its size; whether it was."""
        rival = self.best.get(size)
        if rival is not None and not exceeds(record.value, rival.value):
            return False
        self.best[size] = record
        return True

    def up_to(self, limit: int) -> list[Record]:
        """The records with at most ``limit`` features, small sizes first."""
        known = [self.best[size] for size in sorted(self.best)]
        return [record for record in known if record.n_features <= limit]


def exceeds(value: float, other: float) -> bool:
    """Whether one J is larger than another by more than rounding."""
    return value > other + rounding(other)


def rounding(value: float) -> float:
    """How far apart two values of J are still equal: sums in another order differ by less."""
    return 1e-12 * abs(value) if np.isfinite(value) else 0.0


def first_best(evaluations: Sequence[Evaluation]) -> int:
    """Place of the largest J; of equals, the first."""
    values = np.array([evaluation.value for evaluation in evaluations])
    top = float(values.max())
    return int(np.argmax(values >= top - rounding(top)))


def by_rule(records: Sequence[Record], rule: str) -> Record:
    """The best record, ties to the fewest features; or the smallest within one standard error."""
    judged = [record for record in records if np.isfinite(record.value)]
    if not judged:
        return records[0]
    errors = -np.stack([record.evaluation.scores[0] for record in judged], axis=1)
    size = choose_size(errors, np.array([record.n_features for record in judged]), rule)
    of_size = [record for record in judged if record.n_features == size]
    return max(of_size, key=lambda record: record.value)  # the first of equals
