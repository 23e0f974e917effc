"""Equality and times on a card: what the tests do with NumPy in its place, and the rows J.

    python -m tools.gpu_check                      # equality, then all rows; tables are printed
    python -m tools.gpu_check --only J1 J3         # some rows; no names: equality alone
    python -m tools.gpu_check --peer --cpu 120     # TorchKM beside, and the CPU where that is
                                                   # estimated to take at most so many seconds
    python -m tools.gpu_check --seconds 500 --row-seconds 120 --results one.json
    python -m tools.gpu_check --cells              # the certificate of every cell is printed
    python -m tools.gpu_check --page one.json two.json  # docs/benchmarks-gpu.md; needs no card
    python -m tools.gpu_check --emulated --quick   # no card: small sizes, to try this program

Where tamiz is not installed: PYTHONPATH=src python -m tools.gpu_check.
Each row has its certificate. What fails is reported, and the rest goes on. The card comes first
for all rows, then what is beside it, the more important rows first; a file of results is written
anew after each of them, so that a call that is cut short loses only what was left. Files of several
calls make one page: of a row that is in several, the last file counts.
The exit code is 1 if a result differs from the CPU's, a certificate is not what it should be, or
something failed; times alone fail nothing, nor does a row for which there was no time left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan, nan
from typing import Any, NamedTuple


class Equality(NamedTuple):
    """A result of the card beside that of the CPU."""

    name: str
    found: float  # how far they are apart, relative
    limit: float

    @property
    def holds(self) -> bool:
        """Whether they are equal enough; a number that is none is not."""
        return self.found <= self.limit


class Timing(NamedTuple):
    """A row of the table of times."""

    row: str
    workload: str
    where: str  # the card, the CPU, or another package
    seconds: float  # nan: there is no time, and the certificate says why
    first: float  # seconds of the first call, with what is compiled and allocated
    certificate: str
    bar: str
    holds: bool = True  # of the certificate
    gaps: tuple[tuple[str, tuple[float, ...]], ...] = ()  # of the machines of each cell

    @property
    def was_run(self) -> bool:
        """Whether there is a time."""
        return not isnan(self.seconds)


Result = Equality | Timing


class Job(NamedTuple):
    """Something to do, and what to say where it does not come to its end."""

    row: str
    what: str
    run: Callable[[], Iterator[Result]]
    where: str

    def ended(self, why: str, holds: bool) -> Timing:
        """What is reported in the place of a result."""
        return Timing(self.row, self.what, self.where, nan, nan, why, "", holds)


def apart(found: Any, expected: Any) -> float:
    """The largest difference, beside the largest size."""
    import numpy as np

    return float(np.abs(np.subtract(found, expected)).max() / max(np.abs(expected).max(), 1e-300))
