"""Solvers of the one quadratic problem, and first-order methods for linear machines."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".decomposition": "SOLVERS solve solve_chunking solve_decomposition",
        ".frame": "QPResult Status",
        ".smo": "solve_smo",
    },
)
