"""The summary of a study in plain text, in the words of the report."""

from __future__ import annotations

import html
import re
import textwrap
from typing import Any

from tamiz.reports import _section_summary as words
from tamiz.reports._language import find_language
from tamiz.reports._page import Page

_FIRST_NAMES = 30
#: Reasons that the sentences before them have told already.
_TOLD = frozenset({"selection_bias", "stable", "fairly_stable", "fragile", "no_signal"})


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
    lines = textwrap.wrap(_plain(words._question(page)), width)
    chosen = page.chosen
    if chosen:
        said = page.lang.rich(
            words.advice_key(page),
            n=page.lang.count("feature", len(chosen)),
            method=page.lead or "",
        )
        names = ", ".join(_plain(page.feature(j)) for j in chosen[:_FIRST_NAMES])
        rest = f", … (+{len(chosen) - _FIRST_NAMES})" if chosen[_FIRST_NAMES:] else ""
        lines += ["", *textwrap.wrap(_plain(said), width)]
        lines += textwrap.wrap(
            f"{names}{rest}", width, initial_indent="    ", subsequent_indent="    "
        )
    texts = [
        *words._expected(page), *words._promised(page), *words._signal(page),
        *words._repeatable(page),
    ]  # fmt: skip
    if texts:
        lines.append("")
    for text in texts:
        lines += textwrap.wrap(_plain(text), width)
    best = page.recommended
    reasons = [] if best is None else [one for one in best.reasons if one[0] not in _TOLD]
    if reasons:
        lines += ["", f"{page.lang('why')}:"]
        for code, values in reasons:
            reason = _plain(words.reason(page, code, values))
            lines += textwrap.wrap(reason, width, initial_indent="  - ", subsequent_indent="    ")
    return lines


def _plain(markup: Any) -> str:
    """Markup without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", str(markup))).split())
