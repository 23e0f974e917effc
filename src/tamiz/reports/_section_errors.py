"""Errors: by number of features, and what ranking on all data would have promised."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports._chart import Drawing, figure, legend, mark
from tamiz.reports._chart_curves import curves_figure
from tamiz.reports._chart_intervals import Row, draw_rows
from tamiz.reports._html import Markup, tag
from tamiz.reports._page import Page, Section
from tamiz.reports._section_summary import majority_error
from tamiz.reports._tables import folded, table


def curves(page: Page) -> Section | None:
    """Error by number of features; further judges fold away."""
    if page.found is None:
        return None
    judges = sorted(page.found.judges, key=lambda judge: judge != page.judge)
    charts = [(judge, curves_figure(page, judge)) for judge in judges]
    shown = [(judge, chart) for judge, chart in charts if chart is not None]
    if not shown:
        return None
    parts = [tag("p", page.lang.rich("curves_intro"))]
    for k, (judge, chart) in enumerate(shown):
        assert chart is not None
        parts.append(chart if k == 0 else folded(page.lang("judge_is", judge=judge), chart))
        numbers = _numbers(page, judge)
        parts.append(folded(page.lang("as_table_judge", judge=judge), numbers))
    return Section("curves", Markup("".join(parts)))


def _numbers(page: Page, judge: str) -> Markup:
    """The same as a table."""
    found = page.found
    methods = [m for m in [*page.methods, "random"] if m in found.methods]
    head = [page.lang("n_features"), *(page.method(m) for m in methods)]
    lines = [found.curve(m, judge) for m in methods]
    rows = [
        [page.lang.whole(size), *(page.error(line.error[c]) for line in lines)]
        for c, size in enumerate(found.sizes)
    ]
    return table(head, rows, page.lang("curves_caption", judge=judge), text=())


# ------------------------------------------------------------------------------ selection bias


def bias(page: Page) -> Section | None:
    """Apparent and honest error of each method, the difference between them named."""
    if page.found is None:
        return None
    lines = [one for one in _estimates(page) if np.isfinite(one.error)]
    if not any(np.isfinite(one.apparent) for one in lines):
        return None
    rows = [_row(page, one) for one in lines]
    known = [one for one in lines if np.isfinite(one.bias)]
    known = [one for one in known if one.method in page.methods] or known
    worst = max(known, key=lambda one: one.bias)
    ends = _ends(page, lines)
    majority = majority_error(page)
    marked = []
    if majority is not None and ends[0] <= majority <= ends[1]:
        marked.append((majority, page.lang("majority_mark")))

    def show(value: float) -> str:
        return page.lang.share(value, 0) if page.shares else page.lang.number(value)

    def draw(drawing: Drawing) -> None:
        draw_rows(drawing, rows, page.metric, show, ends, marked)

    key = "bias_finding" if worst.bias > 0 else "bias_none"
    finding = page.lang(
        key,
        method=page.method(worst.method),
        apparent=page.error(worst.apparent),
        error=page.error(worst.error),
        bias=page.points(worst.bias),
    )
    chart = figure(page, draw, page.lang("bias_title"), finding, above=_legend(page))
    intro = tag("p", page.lang.rich("bias_intro"))
    return Section("bias", Markup("".join([intro, chart, _table(page)])))


def _legend(page: Page) -> Markup:
    def sample(css: str) -> Markup:
        return tag(
            "svg",
            mark(0, 13, 6, css, 4.5),
            class_="swatch c0",
            viewBox="0 0 26 12",
            aria_hidden="true",
        )

    whisker = tag(
        "svg",
        tag("path", d="M1 6L25 6", class_="whisker"),
        class_="swatch c0",
        viewBox="0 0 26 12",
        aria_hidden="true",
    )
    return legend(
        [
            (None, sample("mark"), page.lang("honest")),
            (None, sample("hollow"), page.lang("apparent")),
            (None, whisker, page.lang("interval_of", level=page.level(page.found.confidence))),
        ]
    )


def _estimates(page: Page) -> list[Any]:
    """Lines of the recommended judge, best first, baselines last."""
    lines = [one for one in page.found.estimates() if one.judge == page.judge]
    known = [one for one in lines if one.method in page.methods]
    others = [one for one in lines if one.method not in page.methods]
    known.sort(key=lambda one: (not np.isfinite(one.error), one.error))
    return known + others


def _name(page: Page, one: Any) -> str:
    """The method, and whether the number of features is its own, where it has both."""
    twice = sum(o.method == one.method and o.judge == one.judge for o in page.found.estimates()) > 1
    name = page.method(one.method)
    return page.lang("own_size", method=name) if twice and one.kind == "own" else name


def _is_recommended(page: Page, one: Any) -> bool:
    best = page.recommended
    return best is not None and (best.method, best.judge, best.kind) == (
        one.method,
        one.judge,
        one.kind,
    )


def _row(page: Page, one: Any) -> Row:
    lang = page.lang
    lines = [
        ("", lang("honest"), page.error(one.error), None),
        ("", lang("interval"), page.between(one.low, one.high), None),
        ("", lang("apparent"), page.error(one.apparent), None),
        ("", lang("selection_bias"), page.points(one.bias), None),
    ]
    text = page.short_points(one.bias) if np.isfinite(one.bias) else ""
    return Row(
        _name(page, one),
        page.style(one.method),
        one.error,
        one.low,
        one.high,
        one.apparent,
        text,
        _name(page, one),
        lines,
        _is_recommended(page, one),
    )


def _ends(page: Page, lines: list[Any]) -> tuple[float, float]:
    values = [v for one in lines for v in (one.error, one.low, one.high, one.apparent)]
    return page.error_ends([v for v in values if np.isfinite(v)])


def _table(page: Page) -> Markup:
    """All methods and judges, with sizes and times."""
    lang, found = page.lang, page.found
    several = len(found.judges) > 1
    head = [
        lang("method"),
        *([lang("judge")] if several else []),
        lang("size"),
        lang("honest"),
        lang("interval"),
        lang("apparent"),
        lang("selection_bias"),
        lang("sizes_in_splits"),
        lang("seconds"),
    ]
    lines = _estimates(page) + [one for one in found.estimates() if one.judge != page.judge]
    rows, mine = [], None
    for k, one in enumerate(lines):
        if _is_recommended(page, one):
            mine = k
        size = lang.whole(one.size) if np.isfinite(one.size) else "–"
        span = "–"
        if np.isfinite(one.size_low):
            a, b = lang.whole(one.size_low), lang.whole(one.size_high)
            span = a if a == b else f"{a} – {b}"
        rows.append(
            [
                _name(page, one),
                *([one.judge] if several else []),
                size,
                page.error(one.error),
                page.between(one.low, one.high),
                page.error(one.apparent),
                page.short_points(one.bias),
                span,
                lang.seconds(one.select_seconds),
            ]
        )
    text = (0, 1) if several else (0,)
    return table(head, rows, lang("methods_caption"), text=text, mine=mine, css="even")
