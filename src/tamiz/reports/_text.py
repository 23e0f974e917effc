"""The summary of a study in plain text, in the words of the report."""

from __future__ import annotations

import textwrap
from typing import Any

from tamiz.reports.language import find_language
from tamiz.reports.page import Page
from tamiz.reports.sections import summary as words
from tamiz.reports.sections.data import warned
from tamiz.reports.sections.reasons import plain

_FIRST_NAMES = 10
_MOST_WARNINGS = 3


def summary(study: Any, lang: str = "en", width: int = 88) -> list[str]:
    """What was found, line by line, as the first section of the report says it.

    Parameters
    ----------
    study : Study
        What was found.
    lang : {"en", "es"}, default="en"
        Language.
    width : int, default=88
        Lines are at most so long.

    Returns
    -------
    lines : list of str

    Examples
    --------
    >>> from tamiz.data import load
    >>> from tamiz.filters import FisherScore
    >>> from tamiz.reports import Study, summary
    >>> data = load("d8")
    >>> found = FisherScore(2).fit(data.X, data.y).selection_
    >>> summary(Study(data, {"fisher": found}))[0]
    'Which of 3 features tell the 2 classes of “target” apart? Studied on 8 rows.'
    """
    page = Page(study, find_language(lang))
    lines = _wrapped(words.question(page), width)
    for text in words.first(page):
        lines += _wrapped(text, width)
    alarms = warned(page)
    for alarm, _ in alarms[:_MOST_WARNINGS]:
        lines += _wrapped(alarm, width, "! ")
    if alarms[_MOST_WARNINGS:]:
        more = page.lang.whole(len(alarms) - _MOST_WARNINGS)
        lines.append(f"! {page.lang('more_names', n=more)}")
    best = page.recommended
    if best is not None:
        both = words.same_answer(page)
        lines += ["", *_answer(page, best, "answer_both" if both else "answer_smallest", width)]
        if not both:
            lines += _answer(page, study.most_accurate, "answer_most_accurate", width)
    elif page.chosen:
        n = page.lang.count("feature", len(page.chosen))
        said = page.lang.rich("advice_ranking", n=n, method=page.lead or "")
        lines += ["", *_wrapped(said, width), *_names(page, page.chosen, width)]
    texts = words.sentences(page)
    if texts:
        lines += ["", *_wrapped(" ".join(plain(text) for text in texts), width)]
    if best is not None:
        reasons = words.reasons_of(page, best)
        lines += ["", f"{page.lang('why')}:"] if reasons else []
        for text in reasons:
            lines += _wrapped(text, width, "- ")
    return lines


def _answer(page: Page, one: Any, key: str, width: int) -> list[str]:
    """An answer: how many features, by whom, with which error, and their names."""
    said = page.lang(
        "answer_line",
        what=page.lang(key),
        n=page.lang.count("feature", one.size),
        method=page.method(one.method),
        judge=one.judge,
        error=page.with_interval(one.error, one.low, one.high),
    )
    return [*_wrapped(said, width), *_names(page, page.positions(one.features), width)]


def _names(page: Page, chosen: list[int], width: int) -> list[str]:
    if words.takes_all(page, chosen):
        return [f"    {page.lang('answer_all')}"]
    names = ", ".join(plain(page.feature(j)) for j in chosen[:_FIRST_NAMES])
    rest = f", … (+{len(chosen) - _FIRST_NAMES})" if chosen[_FIRST_NAMES:] else ""
    return textwrap.wrap(f"{names}{rest}", width, initial_indent="    ", subsequent_indent="    ")


def _wrapped(content: Any, width: int, mark: str = "") -> list[str]:
    indent = " " * len(mark)
    return textwrap.wrap(plain(content), width, initial_indent=mark, subsequent_indent=indent)
