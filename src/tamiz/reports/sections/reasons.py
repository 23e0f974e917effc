"""The sentences behind the reasons of a recommendation: each is true of the numbers it holds."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np

from tamiz.reports.language import find_language
from tamiz.reports.markup import Markup, tag, visible
from tamiz.reports.page import Page

#: How the values of reasons are written; others are names or counts.
_ERRORS = frozenset(
    {"mean", "best_mean", "all_mean", "apparent", "smallest_error", "accurate_error"}
)
_DIFFERENCES = frozenset({"difference", "standard_error", "bias", "limit"})
_COUNTS = {"n_tied": "combination", "best_size": "feature", "least_size": "feature"}


def reason(page: Page, best: Any, code: str, values: dict[str, Any]) -> Markup:
    """The sentence for a reason; what is not known by its code is shown as it is.

    Parameters
    ----------
    page : Page
        The study and the language.
    best : Recommendation
        What it is a reason for.
    code, values
        The reason.
    """
    key = f"reason_{_variant(page, best, code, values)}"
    if not page.lang.has(key):
        given = ", ".join(f"{name} = {_value(page, name, value)}" for name, value in values.items())
        return tag("span", f"{code}{': ' + given if given else ''}")
    known: dict[str, Any] = {"method": best.method, "judge": best.judge, "size": best.size}
    shown = {name: _value(page, name, value) for name, value in {**known, **values}.items()}
    shown["features"] = page.lang.count("feature", int(values.get("size", best.size)))
    if "bias" in values:
        shown["bias"] = page.points(abs(float(values["bias"])))
    for name, what in _COUNTS.items():
        if name in values:
            shown[name] = page.lang.count(what, int(values[name]))
    if code == "boundary_linear" and best.judge not in ("linear", "svc-linear"):
        shown["own"] = best.judge
    shown |= page.limit()
    return page.lang.rich(key, **shown)


def _variant(page: Page, best: Any, code: str, values: dict[str, Any]) -> str:
    """The code with what its numbers ask for: a sentence must not say more than they do."""
    if code == "least_error" and values["n_triples"] == 1:
        return "only_one"
    if code == "ties" and values["n_tied"] == 1:
        return "ties_one"
    if code == "most_recurrent" and not page.found.error_is_rate:
        return "most_recurrent_numbers"
    if code == "fewest_within_error" and values["best_method"] == "all":
        return "fewest_within_error_all"
    if code == "boundary_linear" and values["difference"] <= 0:
        return "boundary_linear_best"
    if code == "boundary_curved" and page.data.task == "regression":
        return "boundary_curved_numbers"
    if code == "selection_bias":
        kind = "smallest" if best.answer == "smallest" else "accurate"
        if page.error(best.error) == page.error(values["apparent"]):
            return f"selection_bias_none_{kind}"
        return f"selection_bias_{kind}" if values["bias"] > 0 else f"selection_bias_more_{kind}"
    return code


def _value(page: Page, key: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return page.method(value) if isinstance(value, str) else visible(value)
    if key in _ERRORS:
        return page.error(float(value))
    if key in _DIFFERENCES:
        return page.points(float(value))
    if key == "frequency":
        return page.lang.in_percent(float(value), 0)
    if key == "nogueira":
        return page.lang.fixed(float(value), 2)
    return page.lang.number(float(value))


def plain(content: Any) -> str:
    """Content as plain text: markup without its tags, all else as it is."""
    text = str(content)
    if isinstance(content, Markup):
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    return " ".join(text.split())


def reason_text(study: Any, recommendation: Any, reason_of: Any, lang: str = "en") -> str:
    """A reason of a recommendation as a sentence.

    Parameters
    ----------
    study : Study
        What was found.
    recommendation : Recommendation
        One of its answers.
    reason_of : Reason
        One of the answer's ``reasons``.
    lang : {"en", "es"}, default="en"
        Language.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from tamiz.data import load
    >>> from tamiz.reports import make_study, reason_text
    >>> study = make_study(load("iris"), ["fisher"], "linear", sizes=[1, 4], repeats=1)
    >>> best = study.most_accurate
    >>> reason_text(study, best, best.reasons[0]).startswith("Of all")
    True
    """
    code, values = reason_of
    return plain(reason(Page(study, find_language(lang)), recommendation, code, values))
