"""Studies of a table, and the page that shows them."""

from tamiz.reports._render import render, write_report
from tamiz.reports._text import summary
from tamiz.reports.study import Reason, Recommendation, Study, make_study

__all__ = ["Reason", "Recommendation", "Study", "make_study", "render", "summary", "write_report"]
