"""One quadratic problem, the views of its matrix, its optimality, and the machines stated as it."""

from tamiz.qp.adapters import (
    one_class_problem,
    simplex_problem,
    svc_problem,
    svdd_problem,
    svr_problem,
)
from tamiz.qp.matrices import (
    DenseQ,
    KernelQ,
    LowRankQ,
    QMatrix,
    RepeatedQ,
    ScaledQ,
    ShiftedQ,
)
from tamiz.qp.optimality import (
    Optimality,
    duality_gap,
    equality_multiplier,
    kkt_violation,
    optimality,
)
from tamiz.qp.problem import InfeasibleError, QuadraticProblem, SignFreeProblem

__all__ = [
    "DenseQ",
    "InfeasibleError",
    "KernelQ",
    "LowRankQ",
    "Optimality",
    "QMatrix",
    "QuadraticProblem",
    "RepeatedQ",
    "ScaledQ",
    "ShiftedQ",
    "SignFreeProblem",
    "duality_gap",
    "equality_multiplier",
    "kkt_violation",
    "one_class_problem",
    "optimality",
    "simplex_problem",
    "svc_problem",
    "svdd_problem",
    "svr_problem",
]


def __dir__() -> list[str]:
    return sorted(__all__)
