"""From neighbours to classes: votes and ties, for several numbers of neighbours at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.runtime.threads import run_tiles

#: Winner where classes tie and none is to be taken.
NOBODY = -1


class TieRule(NamedTuple):
    """What happens if classes have the same votes.

    Of the tied classes the one with the largest ``preference`` is taken, then the one with the
    nearest neighbour; none if the rule is to ``abstain``.
    """

    preference: np.ndarray
    abstain: bool


def nearest_rule(counts: np.ndarray) -> TieRule:
    """The class of the nearest neighbour among the tied."""
    return TieRule(np.zeros(len(counts)), False)


def frequent_rule(counts: np.ndarray) -> TieRule:
    """The class with most training samples among the tied."""
    return TieRule(counts.astype(np.float64), False)


def abstain_rule(counts: np.ndarray) -> TieRule:
    """No class."""
    return TieRule(np.zeros(len(counts)), True)


TIE_RULES = {"nearest": nearest_rule, "frequent": frequent_rule, "abstain": abstain_rule}


def equal_votes(distances: np.ndarray) -> np.ndarray:
    """One for each neighbour; none for those of which nothing is known in common."""
    return np.isfinite(distances).astype(np.float64)


def near_votes(distances: np.ndarray) -> np.ndarray:
    """One over the distance; those at distance zero, if there are any, vote alone.

    All times the distance of the nearest, which keeps the votes of very near ones finite.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        votes = distances[:, :1] / distances
    votes[np.isinf(distances)] = 0.0
    same = distances == 0
    alone = same.any(axis=1)
    votes[alone] = same[alone]
    return votes


VOTES = {"uniform": equal_votes, "distance": near_votes}


def winners(
    rows: np.ndarray, votes: np.ndarray, codes: np.ndarray, counts: np.ndarray, ks: np.ndarray,
    rule: TieRule,
) -> np.ndarray:  # fmt: skip
    """Code of the winning class for each query and each of the ascending ``ks``."""
    out = np.empty((len(rows), len(ks)), dtype=np.intp)
    run_tiles(
        _winners, len(rows), rows, votes, codes, counts.astype(np.float64), ks.astype(np.intp),
        rule, out, min_items=1 + 2**16 // max(1, int(ks[-1])),
    )  # fmt: skip
    return out


def proportions(
    rows: np.ndarray, votes: np.ndarray, codes: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Proportion of the votes of each class; of the training samples if nobody votes."""
    total = np.empty((len(rows), len(counts)))
    for c in range(len(counts)):
        total[:, c] = np.where(codes[rows] == c, votes, 0.0).sum(axis=1)
    total[~total.any(axis=1)] = counts
    return total / total.sum(axis=1, keepdims=True)


@njit(cache=True, nogil=True)
def _winners(start, stop, rows, votes, codes, counts, ks, rule, out):
    n_classes = len(counts)
    total = np.empty(n_classes)
    came = np.empty(n_classes, dtype=np.intp)  # when a class first voted
    for q in range(start, stop):
        total[:] = 0.0
        came[:] = n_classes + rows.shape[1]
        r = 0
        for s in range(len(ks)):
            while r < ks[s]:
                c = codes[rows[q, r]]
                if votes[q, r] > 0:
                    if total[c] == 0:
                        came[c] = r
                    total[c] += votes[q, r]
                r += 1
            if total.max() > 0:
                out[q, s] = _winner(total, came, rule)
            else:
                out[q, s] = _winner(counts, came, rule)


@njit(cache=True, nogil=True)
def _winner(total, came, rule):
    preference = rule.preference
    most = total.max() * (1 - 1e-9)  # sums of reciprocals tie up to rounding
    best, tied = -1, 0
    for c in range(len(total)):
        if total[c] < most:
            continue
        tied += 1
        if (
            best < 0
            or preference[c] > preference[best]
            or (preference[c] == preference[best] and came[c] < came[best])
        ):
            best = c
    return NOBODY if rule.abstain and tied > 1 else best
