"""Whether methods differ beyond chance, and whether there is any signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports.charts.columns import draw_shuffles
from tamiz.reports.charts.drawing import Drawing, figure
from tamiz.reports.charts.ranks import draw_ranks
from tamiz.reports.markup import Markup, tag, visible
from tamiz.reports.page import Page, Section
from tamiz.reports.tables import folded, table

MOST_PAIRS = 60


def compared(page: Page) -> Section | None:
    """Mean ranks, and the pairs of methods."""
    found = page.study.significance
    if found is None or len(found.names) < 2:
        return None
    lang = page.lang
    apart = [pair for pair in found.pairs if pair.significant]
    finding = lang("ranks_none", n=lang.integer(len(found.pairs)))
    if apart:
        finding = lang(
            "ranks_some",
            n=lang.integer(len(apart)),
            all=lang.integer(len(found.pairs)),
            first=page.method(apart[0].first),
            second=page.method(apart[0].second),
        )
    chart = figure(page, lambda d: draw_ranks(d, page, found), lang("ranks_title"), finding)
    intro = tag(
        "p",
        lang.rich(
            "ranks_intro",
            test=lang.of("test", found.test),
            n=lang.integer(found.n_runs),
            p=lang.pvalue(found.pvalue),
        ),
    )
    parts = [intro, chart]
    if found.reason:
        parts.append(tag("p", visible(found.reason), class_="fine"))
    title = lang("pairs_folded", n=lang.integer(len(found.pairs)))
    parts.append(folded(title, _pairs(page, found), opened=len(found.pairs) <= 6))
    return Section("methods", Markup("".join(parts)))


def _pairs(page: Page, found: Any) -> Markup:
    lang = page.lang
    ranks = found.test == "Friedman"

    def show(value: float) -> str:
        return lang.fixed(value, 2) if ranks else page.short_points(value)

    rows = []
    order = sorted(
        found.pairs, key=lambda pair: pair.adjusted if pair.adjusted == pair.adjusted else 2
    )
    for pair in order[:MOST_PAIRS]:
        low, high = pair.interval
        span = "–" if np.isnan(low) else lang("between", low=show(low), high=show(high))
        rows.append(
            [
                f"{page.method(pair.first)} – {page.method(pair.second)}",
                show(pair.difference),
                span,
                lang.pvalue(pair.adjusted),
                lang("js_yes") if pair.significant else lang("js_no"),
            ]
        )
    head = [
        lang("pair"),
        lang("difference"),
        lang("interval_of", level=page.level(1 - found.alpha)),
        lang("adjusted"),
        lang("differ"),
    ]
    return table(head, rows, lang("pairs_caption"), css="even")


def signal(page: Page) -> Section | None:
    """The score beside those with shuffled labels."""
    test = page.study.permutation
    if test is None or not len(test.permuted):
        return None
    lang = page.lang

    def show(value: float) -> str:
        return lang.number(float(value), 3)

    found = test.pvalue <= 0.05
    finding = lang(
        "shuffles_finding_yes" if found else "shuffles_finding_no",
        score=show(test.score),
        middle=show(float(np.median(test.permuted))),
        n=lang.integer(test.n_as_high),
        all=lang.integer(test.n_permutations),
        p=lang.pvalue(test.pvalue),
    )

    def draw(drawing: Drawing) -> None:
        draw_shuffles(drawing, page, test, show)

    parts = [
        tag("p", lang.rich("shuffles_intro")),
        figure(page, draw, lang("shuffles_title"), finding),
    ]
    if test.stopped:
        parts.append(tag("p", visible(test.stopped), class_="fine"))
    return Section("signal", Markup("".join(parts)))
