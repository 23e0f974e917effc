"""More than two classes: which machines to build, and how their answers become one.

One versus one builds a machine for each pair of classes ``(i, j)``, ``i < j``, positive for ``j``;
the class with most votes wins, ties go to the larger sum of decision values. One versus rest
builds a machine for each class, positive for it; the largest decision value wins. Two classes need
one machine, positive for the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np


class Task(NamedTuple):
    """One binary problem: the samples that take part and their signs."""

    samples: np.ndarray
    signs: np.ndarray


def tasks(codes: np.ndarray, n_classes: int, scheme: str) -> Iterator[Task]:
    """The binary problems of a scheme, in the order of the machines."""
    if scheme == "ovr" and n_classes > 2:
        everyone = np.arange(len(codes))
        for k in range(n_classes):
            yield Task(everyone, np.where(codes == k, 1.0, -1.0))
        return
    for i, j in combinations(range(n_classes), 2):
        samples = np.flatnonzero((codes == i) | (codes == j))
        yield Task(samples, np.where(codes[samples] == j, 1.0, -1.0))


def class_scores(decisions: np.ndarray, n_classes: int, scheme: str) -> np.ndarray:
    """One score per class from the values of all machines, (samples, classes).

    For one versus one the score is the number of votes plus the summed decision values squeezed
    into (-1/2, 1/2), so that the order by score is the order by votes, ties by sums.
    """
    if scheme == "ovr":
        return decisions
    votes = np.zeros((len(decisions), n_classes))
    sums = np.zeros((len(decisions), n_classes))
    for k, (i, j) in enumerate(combinations(range(n_classes), 2)):
        value = decisions[:, k]
        votes[:, j] += value > 0
        votes[:, i] += value <= 0
        sums[:, j] += value
        sums[:, i] -= value
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))
