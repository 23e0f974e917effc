"""A study: everything that one question about one table is answered with."""

from tamiz.evaluation.study.answers import AGREEMENT, Answers, Reason, Recommendation
from tamiz.evaluation.study.making import make_study
from tamiz.evaluation.study.pipelines import make_pipeline_for, preparation, rank_all
from tamiz.evaluation.study.plan import DEFAULT_BUDGET, Plan
from tamiz.evaluation.study.result import Study, versions
from tamiz.evaluation.study.whole import Whole

__all__ = [
    "AGREEMENT",
    "DEFAULT_BUDGET",
    "Answers",
    "Plan",
    "Reason",
    "Recommendation",
    "Study",
    "Whole",
    "make_pipeline_for",
    "make_study",
    "preparation",
    "rank_all",
    "versions",
]
