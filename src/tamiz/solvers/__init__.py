"""Solvers of the one quadratic problem, and first-order methods for linear machines."""

from tamiz.solvers.decomposition import SOLVERS, solve, solve_chunking, solve_decomposition
from tamiz.solvers.frame import QPResult, Status
from tamiz.solvers.smo import solve_smo

__all__ = [
    "SOLVERS",
    "QPResult",
    "Status",
    "solve",
    "solve_chunking",
    "solve_decomposition",
    "solve_smo",
]


def __dir__() -> list[str]:
    return sorted(__all__)
