"""Studies of a table, and the page that shows them."""

from tamiz.evaluation.study import Reason, Recommendation, Study, make_study
from tamiz.reports._render import render, write_report
from tamiz.reports.sections.reasons import reason_text
from tamiz.reports.sections.summary import summary

__all__ = [
    "Reason",
    "Recommendation",
    "Study",
    "make_study",
    "reason_text",
    "render",
    "summary",
    "write_report",
]


def __dir__() -> list[str]:
    return sorted(__all__)
