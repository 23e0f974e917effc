"""What every solver of the quadratic problem returns."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"  # KKT violation within the tolerance
    MAX_ITER = "max_iter"  # the iteration limit came first
    INTERRUPTED = "interrupted"  # Ctrl-C
    STALLED = "stalled"  # rounding admits no further progress
    UNBOUNDED = "unbounded"  # the objective falls without limit along a direction found
    INFEASIBLE = "infeasible"  # bounds and equality contradict each other


class QPResult(NamedTuple):
    """Solution of ``min ½a'Qa + p'a, y'a = d, lower ≤ a ≤ upper``.

    What is not known is ``None``.
    """

    a: np.ndarray  # always inside the bounds, with the right sum
    gradient: np.ndarray | None  # Qa + p at ``a``
    objective: float | None
    gap: float | None  # bound on objective - optimum, for convex problems with finite bounds
    violation: float | None  # KKT violation
    multiplier: float | None  # of the equality; minus the bias of a machine
    iterations: int
    status: Status

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self.status is Status.CONVERGED
