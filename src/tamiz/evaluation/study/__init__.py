"""A study: everything that one question about one table is answered with.

:mod:`making` is the walk. It plans what fits into the time (:mod:`plan`), compares all methods,
judges and numbers of features (:mod:`tamiz.evaluation.comparison`), chooses among them
(:mod:`choice`), says what the answers are and why (:mod:`answers`), and predicts the samples that
took no part (:mod:`predictions`). A :class:`Study` keeps all of it (:mod:`result`).
"""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.evaluation.study.answers import AGREEMENT, Answers, Reason, Recommendation
    from tamiz.evaluation.study.making import make_study
    from tamiz.evaluation.study.plan import DEFAULT_BUDGET, StudyPlan
    from tamiz.evaluation.study.result import (
        Study,
        Whole,
        make_pipeline_for,
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
    "versions",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".answers": "AGREEMENT Answers Reason Recommendation",
        ".making": "make_study",
        ".plan": "DEFAULT_BUDGET StudyPlan",
        ".result": "Study Whole make_pipeline_for versions",
    },
)
