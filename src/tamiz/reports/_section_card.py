"""How good the predictions are: confusion matrix, report card, ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports._chart import Drawing, figure, legend, swatch
from tamiz.reports._chart_ranks import draw_roc
from tamiz.reports._html import Markup, tag, visible
from tamiz.reports._page import Page, Section, style
from tamiz.reports._scales import Linear, cut
from tamiz.reports._tables import folded, shaded, table

LONG = 180.0  # so wide may a heading be


def build(page: Page) -> Section | None:
    """The section of the report card."""
    card = page.study.card
    if card is None:
        return None
    intro = page.lang("card_intro")
    if card.positive is not None:
        intro += " " + page.lang("positive_class", name=class_name(page, card.positive))
    parts = [tag("p", intro), _confusion(page, card), _metrics(page, card)]
    if card.roc:
        parts.append(_roc(page, card))
    if card.per_class:
        parts.append(folded(page.lang("per_class"), _per_class(page, card)))
    return Section("card", Markup("".join(parts)))


def class_name(page: Page, label: Any) -> str:
    """The name of a class by its label."""
    data = page.data
    if data.y is not None and data.target_names is not None:
        for value, name in zip(np.unique(data.y).tolist(), data.target_names, strict=False):
            if value == label or str(value) == str(label):
                return visible(name)
    return visible(label)


def _confusion(page: Page, card: Any) -> Markup:
    lang = page.lang
    names = [class_name(page, label) for label in card.classes]
    rows = []
    for name, counts in zip(names, np.asarray(card.confusion, dtype=float), strict=True):
        total = counts.sum()
        cells = []
        for count in counts:
            share = count / total if total else np.nan
            small = tag("small", lang.share(share, 0)) if count else None
            cells.append(
                (Markup(tag("b", lang.number(count)) + (" " + small if small else "")), share)
            )
        rows.append((lang("is_class", name=name), cells))
    heads = [lang("predicted_class", name=cut(name, LONG)) for name in names]
    return shaded(lang("true_predicted"), heads, rows, lang("confusion_caption"))


def _metrics(page: Page, card: Any) -> Markup:
    lang = page.lang
    rows = []
    for name, metric in card.metrics.items():
        low, high = metric.interval
        span = (
            "–"
            if np.isnan(low)
            else lang("between", low=_score(page, low), high=_score(page, high))
        )
        why = (
            tag("small", visible(metric.reason))
            if metric.reason and np.isnan(metric.value)
            else None
        )
        rows.append(
            [
                lang.of("score", name),
                Markup(tag("span", _score(page, metric.value)) + (why or "")),
                span,
                _bar(metric.value, low, high, name),
                lang(f"means_{name}") if lang.has(f"means_{name}") else "",
            ]
        )
    level = page.level(card.confidence)
    head = [lang("measure"), lang("value"), lang("interval_of", level=level), "", lang("meaning")]
    return table(head, rows, lang("card_caption"), text=(0, 3, 4), css="card")


def _score(page: Page, value: float) -> str:
    return page.lang.fixed(value, 3)


def _bar(value: float, low: float, high: float, name: str) -> Markup | None:
    """A point with its interval on a line from 0 (or −1) to 1; the numbers stand beside it."""
    if np.isnan(value):
        return None
    x = Linear(-1.0 if name == "mcc" else 0.0, 1.0, 4.0, 116.0)
    parts = [tag("path", d="M4 9L116 9", class_="grid")]
    if not np.isnan(low):
        parts.append(tag("path", d=f"M{x(low):.1f} 9L{x(high):.1f} 9", class_="whisker c1"))
    parts.append(tag("circle", cx=x(value), cy=9.0, r=4.0, class_="mark c1"))
    return tag("svg", parts, viewBox="0 0 120 18", width="120", height="18", aria_hidden="true")


def _per_class(page: Page, card: Any) -> Markup:
    lang = page.lang
    names = list(next(iter(card.per_class.values())))
    head = [lang("class"), *(lang.of("score", name) for name in names)]
    rows = [
        [class_name(page, label), *(_score(page, metrics[name].value) for name in names)]
        for label, metrics in card.per_class.items()
    ]
    return table(head, rows, lang("per_class_caption"))


def _roc(page: Page, card: Any) -> Markup:
    lang = page.lang
    entries: list[tuple[int | None, Markup, str]] = [
        (k, swatch(style(k), "plain"), class_name(page, curve["class"]))
        for k, curve in enumerate(card.roc)
    ]
    named = [{**curve, "class": class_name(page, curve["class"])} for curve in card.roc]
    drawn = type("Curves", (), {"roc": named})
    area = card.metrics.get("roc_area")
    finding = lang("roc_finding_plain")
    if area is not None and np.isfinite(area.value):
        finding = lang("roc_finding", area=_score(page, area.value))

    def draw(drawing: Drawing) -> None:
        draw_roc(drawing, page, drawn)

    return figure(
        page,
        draw,
        lang("roc_title"),
        finding,
        above=legend(entries),
        widths=(440.0, 330.0),
        css="square",
    )
