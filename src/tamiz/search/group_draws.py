"""Draws of whole groups of samples, such as those of a patient.

A group is in one part of a draw, or in none. Every part must hold every class; where groups mix the
classes, no way to deal them out guarantees this, and so a draw that fails is repeated. Groups are
dealt out by their *stratum*, as samples are by their class: a group counts as one of its most
frequent class, or, where that fails too often, of the class that the fewest groups have. Where all
draws of two halves fail, groups change sides: one that holds a class which a half lacks goes there,
mostly one that takes no other class away (a random walk as for satisfiability, WalkSAT).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamiz.validation import group_codes

#: A draw is repeated this often at most.
TRIES = 2000
#: Draws by which the two ways to deal groups out are compared.
_TRIALS = 50

Strata = list[np.ndarray]
Dealing = Callable[[Strata, np.random.Generator], Sequence[np.ndarray]]


class GroupUnits:
    """Groups as the units of draws.

    Parameters
    ----------
    groups : array of shape (n_samples,)
        Which samples belong together.
    classes : list of arrays
        Rows of each class; one of all rows where there are no classes.
    names : list, optional
        Names of the classes, for sentences.

    Attributes
    ----------
    members : list of arrays
        Rows of each group.
    holds : boolean array of shape (n_groups, n_classes)
        Which classes a group has.
    """

    def __init__(self, groups: Any, classes: list[np.ndarray], names: Sequence[Any] | None = None):
        n = sum(map(len, classes))
        codes = group_codes(groups, n)
        ends = np.cumsum(np.bincount(codes))
        self.members = np.split(np.argsort(codes, kind="stable"), ends[:-1])
        self.names = names
        counts = np.zeros((len(self.members), len(classes)), dtype=np.intp)
        for k, rows in enumerate(classes):
            counts[:, k] = np.bincount(codes[rows], minlength=len(self.members))
        self.holds = counts > 0
        rarity = np.where(self.holds, self.holds.sum(axis=0), n + 1)
        self.by_class = self._strata(counts.argmax(axis=1)), self._strata(rarity.argmin(axis=1))

    def _strata(self, stratum: np.ndarray) -> Strata:
        found = [np.flatnonzero(stratum == k) for k in range(self.holds.shape[1])]
        return [units for units in found if len(units)]

    def rows(self, units: np.ndarray) -> np.ndarray:
        """Rows of some groups, ascending; those of a group drawn twice are there twice."""
        return np.sort(np.concatenate([self.members[unit] for unit in units]))

    def complete(self, parts: Sequence[np.ndarray]) -> bool:
        """Whether every part holds every class."""
        return all(len(part) and self.holds[part].any(axis=0).all() for part in parts)


class GroupDraw:
    """Draws parts of whole groups such that every part holds every class.

    Parameters
    ----------
    units : GroupUnits
        The groups.
    deal : callable
        Makes the parts from strata of groups and a generator.
    apart : int
        In how many groups every class must be, since as many parts have none in common.
    need : str
        Says what the parts are for, in the sentence of a refusal.
    mend : bool, default=False
        Whether the parts are two halves, in which groups may change sides.
    """

    def __init__(self, units: GroupUnits, deal: Dealing, apart: int, need: str, mend: bool = False):
        self.units, self.deal, self.mend = units, deal, mend
        self._refuse(apart, need)
        hits = [self._hits(strata) for strata in units.by_class]
        self.strata = units.by_class[int(hits[0] < _TRIALS / 2 and hits[1] > hits[0])]
        self.tries = TRIES if any(hits) or not mend else 1
        known = self._drawn(np.random.default_rng(0))
        if known is None:
            raise ValueError(
                f"no way was found to divide the {len(units.members)} groups such that every part "
                f"holds every class; {need}. Add groups, or leave a class out that few groups have."
            )
        self.known = known

    def _refuse(self, apart: int, need: str) -> None:
        if len(self.units.members) < apart:
            raise ValueError(f"all samples are in one group; {need}. Add groups.")
        n_groups = self.units.holds.sum(axis=0)
        k = int(n_groups.argmin())
        if n_groups[k] < apart:
            whose = "" if self.units.names is None else f" of class {self.units.names[k]!r}"
            raise ValueError(
                f"there is only one group{whose}; {need}. Add samples of other groups, or leave "
                "that class out."
            )

    def _hits(self, strata: Strata) -> int:
        random = np.random.default_rng(0)
        return sum(self.units.complete(self.deal(strata, random)) for _ in range(_TRIALS))

    def _drawn(self, random: np.random.Generator) -> Sequence[np.ndarray] | None:
        for _ in range(self.tries):
            parts = self.deal(self.strata, random)
            if self.units.complete(parts):
                return parts
        return _with_sides_changed(self.units.holds, parts[0], random) if self.mend else None

    def __call__(self, random: np.random.Generator) -> list[np.ndarray]:
        """Rows of the parts, ascending; after too many failures those of a draw that is known."""
        parts = self._drawn(random)
        return [self.units.rows(part) for part in (self.known if parts is None else parts)]


def _with_sides_changed(
    holds: np.ndarray, first: np.ndarray, random: np.random.Generator
) -> list[np.ndarray] | None:
    """Two halves that hold every class, from a first half that may not; None if none was found."""
    side = np.ones(len(holds), dtype=np.intp)
    side[first] = 0
    counts = np.array([holds[side == k].sum(axis=0) for k in (0, 1)])

    def move(group: int) -> None:
        counts[side[group]] -= holds[group]
        side[group] = 1 - side[group]
        counts[side[group]] += holds[group]

    for _ in range(max(TRIES, 20 * len(holds))):
        lacking = np.argwhere(counts == 0)
        if not len(lacking):
            break
        half, wanted = lacking[random.integers(len(lacking))]
        able = np.flatnonzero(holds[:, wanted])  # all of them are in the other half
        taken = (holds[able] & (counts[1 - half] == 1)).sum(axis=1)
        best = able if random.random() < 0.3 else able[taken == taken.min()]
        move(random.choice(best))
    else:
        return None
    for group in random.permutation(len(holds)):
        sizes = np.bincount(side, minlength=2)
        larger = int(sizes[1] > sizes[0])
        if sizes[larger] - sizes[1 - larger] < 2:
            break
        if side[group] == larger and (counts[larger][holds[group]] > 1).all():
            move(group)
    return [np.flatnonzero(side == 0), np.flatnonzero(side == 1)]
