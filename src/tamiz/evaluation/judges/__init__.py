"""Judges: the estimators whose error judges a subset of the features, and the error itself."""

from tamiz.evaluation.judges.named import (
    JUDGES,
    ErrorMetric,
    PerFeature,
    Predicted,
    candidates_of,
    check_judge,
    judge_name,
    make_judge,
    name_of_judge,
    nothing_selected,
    resolved,
)

__all__ = [
    "JUDGES",
    "ErrorMetric",
    "PerFeature",
    "Predicted",
    "candidates_of",
    "check_judge",
    "judge_name",
    "make_judge",
    "name_of_judge",
    "nothing_selected",
    "resolved",
]
