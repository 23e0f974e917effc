"""Equality and times on a card: what the tests do with NumPy in its place, and the rows J.

    python -m tools.gpu_check                    # equality, then all rows; the table is printed
    python -m tools.gpu_check --only J1 J3       # some rows
    python -m tools.gpu_check --cpu --peer       # the CPU of the same machine, and TorchKM, beside
    python -m tools.gpu_check --page             # docs/benchmarks-gpu.md is written as well
    python -m tools.gpu_check --emulated --quick # no card: small sizes, to try this program itself

Where tamiz is not installed: PYTHONPATH=src python -m tools.gpu_check.
Each row prints its certificate. The exit code is 1 if a result differs from the CPU's or a
certificate is not what it should be; times alone fail nothing. Rows are shown on standard error as
they are done, so that a run that is cut short loses only what was left. With --cpu a call can take
many minutes: ask for few rows then.
"""

from __future__ import annotations

from typing import NamedTuple


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
    seconds: float
    first: float  # seconds of the first call, with what is compiled and allocated
    certificate: str
    bar: str
    holds: bool = True  # of the certificate
