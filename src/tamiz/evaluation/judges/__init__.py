"""Judges: the estimators whose error judges a subset of the features, and the error itself."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.evaluation.judges.listed import JUDGES, PerFeature, judge_name
    from tamiz.evaluation.judges.named import (
        ErrorMetric,
        Predicted,
        candidates_of,
        check_judge,
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".listed": "JUDGES PerFeature judge_name",
        ".named": "ErrorMetric Predicted candidates_of check_judge make_judge name_of_judge "
        "nothing_selected resolved",
    },
)
