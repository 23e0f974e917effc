"""A study: everything that one question about one table is answered with."""

from tamiz.evaluation.study.answers import AGREEMENT, Answers, Reason, Recommendation
from tamiz.evaluation.study.making import make_study
from tamiz.evaluation.study.plan import DEFAULT_BUDGET, StudyPlan
from tamiz.evaluation.study.result import (
    Study,
    Whole,
    make_pipeline_for,
    preparation,
    versions,
)

__all__ = [
    "AGREEMENT",
    "DEFAULT_BUDGET",
    "Answers",
    "Reason",
    "Recommendation",
    "Study",
    "StudyPlan",
    "Whole",
    "make_pipeline_for",
    "make_study",
    "preparation",
    "versions",
]
