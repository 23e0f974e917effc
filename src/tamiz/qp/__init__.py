"""One quadratic problem, the views of its matrix, its optimality, and the machines stated as it."""

from tamiz.qp.matrices import (
    DenseQ,
    KernelQ,
    LowRankQ,
    QMatrix,
    RepeatedQ,
    ScaledQ,
    ShiftedQ,
)
from tamiz.qp.problem import (
    InfeasibleError,
    Optimality,
    QuadraticProblem,
    SignFreeProblem,
    duality_gap,
    equality_multiplier,
    gradient_rounding,
    kkt_violation,
    one_class_problem,
    optimality,
    simplex_problem,
    svc_problem,
    svdd_problem,
    svr_problem,
)

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
    "gradient_rounding",
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
