"""What the text of P4 says of its curves, as numbers with a sign."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tamiz.reproduce.base import UNEXPLAINED, Found, Row, claim, interval_of_mean

Claim = Callable[[list[Found]], list[Row]]

_ALPHAS = ("0.1", "0.5", "0.9")
_NOTHING = 1e-9  # rounding
_FEW = "not decided by so few repeats"


def mean_error(values: Found, name: str, least: int = 0, most: int = 10**9) -> float:
    """Mean error of a method over the sizes from ``least`` to ``most``."""
    sizes = np.array(values["sizes"])
    return float(np.array(values[name])[(sizes >= least) & (sizes <= most)].mean())


def worse(
    name: str,
    worse: str,
    better: str,
    *,
    least: int = 0,
    most: int = 10**9,
    why: str = "",
    note: str = "",
) -> Claim:
    """One method errs more than another."""

    def make(found: list[Found]) -> list[Row]:
        differences = [
            mean_error(values, worse, least, most) - mean_error(values, better, least, most)
            for values in found
        ]
        low, high = interval_of_mean(differences)
        holds: bool | None = None
        if len(found) > 1 and (low > _NOTHING or high < -_NOTHING):
            holds = low > 0
        return [
            claim(
                f"{worse} less {better}{_range(least, most)}",
                differences,
                "above 0",
                holds,
                group=f"difference of errors, points, {name}",
                decimals=2,
                why=_open(differences) if holds is None else why or _OUTSIDE.get(name, UNEXPLAINED),
                note=note,
            )
        ]

    return make


def alike(
    name: str,
    one: str,
    other: str,
    *,
    least: int = 0,
    most: int = 10**9,
    within: float = 2.0,
    why: str = "",
) -> Claim:
    """Two methods err alike."""

    def make(found: list[Found]) -> list[Row]:
        differences = [
            mean_error(values, one, least, most) - mean_error(values, other, least, most)
            for values in found
        ]
        low, high = interval_of_mean(differences)
        holds: bool | None = None
        if len(found) > 1 and -within <= low <= high <= within:
            holds = True
        elif len(found) > 1 and (low > within or high < -within):
            holds = False
        return [
            claim(
                f"{one} less {other}{_range(least, most)}",
                differences,
                f"within {within:g}",
                holds,
                group=f"difference of errors, points, {name}",
                decimals=2,
                why=_FEW if holds is None else why,
            )
        ]

    return make


def information_beats_correlation(name: str, note: str = "") -> Claim:
    """QPFS by mutual information errs less than by correlation, for each alpha."""

    def make(found: list[Found]) -> list[Row]:
        return [
            line
            for alpha in _ALPHAS
            for line in worse(name, f"QPFS {alpha} corr", f"QPFS {alpha} MI", note=note)(found)
        ]

    return make


def _range(least: int, most: int) -> str:
    if least:
        return f", {least} features or more"
    return f", up to {most} features" if most < 10**9 else ""


def _open(differences: list[float]) -> str:
    """What can be said where the mean may be on either side."""
    if min(differences) > _NOTHING:
        return f"{_FEW}, though so in every one"
    if max(differences) < -_NOTHING:
        return f"{_FEW}, though the other way round in every one"
    return "not decided: the sign changes from repeat to repeat"


_OUTSIDE = dict.fromkeys(("GCM", "NCI60"), "unexplained; not the data of the source")
_FEWER = "3 % of our 1,363 features are 41, too few to stand for the rest; of 16,063 they are 482"

CLAIMS: dict[str, list[Claim]] = {
    "SRBCT": [
        information_beats_correlation("SRBCT"),
        alike("SRBCT", "QPFS 0.5 corr", "mRMR", least=20),
        alike("SRBCT", "QPFS 0.9 corr", "mRMR", least=20),
        worse("SRBCT", "QPFS 0.5 MI", "QPFS 0.1 MI"),
        worse("SRBCT", "QPFS 0.9 MI", "QPFS 0.1 MI"),
        worse("SRBCT", "mRMR", "QPFS 0.1 MI"),
        alike("SRBCT", "QPFS 0.1 MI, Nyström 0.1", "QPFS 0.1 MI", least=40),
    ],
    "ARR": [
        information_beats_correlation("ARR"),
        worse("ARR", "QPFS 0.5 corr", "MaxRel"),
        worse("ARR", "QPFS 0.5 corr", "mRMR"),
        worse("ARR", "mRMR", "QPFS 0.5 MI", least=60),
        *(
            worse("ARR", "random", method)
            for method in ("MaxRel", "mRMR", "QPFS 0.5 corr", "QPFS 0.5 MI")
        ),
    ],
    "NCI60": [
        information_beats_correlation("NCI60"),
        worse("NCI60", "QPFS 0.5 corr", "MaxRel"),
        worse("NCI60", "QPFS 0.5 corr", "mRMR"),
        worse("NCI60", "QPFS 0.1 corr", "random"),
        worse("NCI60", "QPFS 0.5 MI", "mRMR"),
    ],
    "GCM": [
        information_beats_correlation(
            "GCM", "said of all data sets, though no figure shows correlation on this one"
        ),
        worse("GCM", "QPFS 0.1 MI, Nyström 0.03", "MaxRel", most=60),
        worse("GCM", "QPFS 0.1 MI, Nyström 0.03", "mRMR", most=60),
        alike("GCM", "QPFS 0.1 MI, Nyström 0.03", "mRMR", least=61,
              why=_FEWER),
        alike("GCM", "QPFS 0.1 MI, Nyström 0.03", "QPFS 0.1 MI, Nyström 0.1", why=_FEWER),
    ],
}  # fmt: skip
