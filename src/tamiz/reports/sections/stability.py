"""Whether another sample would give the same features."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports.charts.cells import draw_choices, draw_masks
from tamiz.reports.charts.curves import Row, draw_rows
from tamiz.reports.charts.drawing import Drawing, figure
from tamiz.reports.charts.scales import cut
from tamiz.reports.markup import Markup, folded, shaded, tag
from tamiz.reports.page import Page, Section
from tamiz.reports.sections.summary import AGREEMENT, agreement

MOST_ROWS = 25


def build(page: Page) -> Section | None:
    """The section of stability, if it was measured for any method."""
    known = {m: s for m, s in (page.study.stability or {}).items() if s is not None}
    parts = _choices(page)
    if page.answers is not None:  # with all features selected, the index is not defined
        known = {m: s for m, s in known.items() if np.isfinite(s.nogueira)}
    if not known:
        return Section("stability", Markup("".join(parts))) if parts else None
    first = page.lead
    lead = first if first is not None and first in known else next(iter(known))
    size = {} if page.shown is None else {"size": page.lang.count("feature", page.shown.size)}
    parts.append(tag("p", page.lang.rich("stability_intro", **size)))
    parts.append(_indices(page, known))
    rows = _rows(page, known, lead)
    if rows:
        maps = [_map(page, known, lead, rows)]
        if len(known) > 1:
            maps.append(_by_method(page, known, rows))
        inside = Markup("".join(maps))
        parts.append(folded(page.lang("more_stability"), inside) if page.answers else inside)
    return Section("stability", Markup("".join(parts)))


def _choices(page: Page) -> list[Markup]:
    """Which features each split chose inside, with their numbers."""
    if page.answers is None or page.recommended is None:
        return []
    nested, lang = page.answers.nested["smallest"], page.lang
    found, contest = page.found, nested.contest
    masks, splits = [], []
    for split, place in zip(contest.splits.tolist(), nested.chosen.tolist(), strict=True):
        if place < 0:
            continue
        triple = contest.triples[place]
        kept = (found.selections if triple.own else found.orders)[triple.method][split]
        features = kept if triple.own else kept[: triple.size]
        masks.append(np.isin(np.arange(found.n_features), features))
        by = lang("by_judge", method=page.method(triple.method), judge=triple.judge)
        splits.append((lang.integer(len(features)), by))
    if len(masks) < 2 or found.n_features != len(page.names):
        return []
    often = np.mean(masks, axis=0)
    order = [int(j) for j in np.lexsort([_places(page), -often]) if often[j] > 0]
    rows = order[:MOST_ROWS]
    finding = lang(
        "choices_finding",
        always=lang.count("feature", int((often == 1).sum())),
        ever=lang.integer(len(order)),
        n=lang.integer(len(masks)),
    )
    if len(order) > MOST_ROWS:
        finding += " " + lang("choices_first", n=lang.integer(MOST_ROWS))
    chart = figure(
        page,
        lambda drawing: draw_choices(drawing, page, rows, np.array(masks), splits),
        lang("choices_title"),
        finding,
    )
    return [tag("p", lang.rich("choices_intro")), chart]


def _places(page: Page) -> np.ndarray:
    """Places of the features in the ranking of the leading method."""
    selection = page.study.selections.get(page.lead)
    if selection is None:
        return np.arange(len(page.names))
    return np.asarray(selection.ranking)


def _indices(page: Page, known: dict[str, Any]) -> Markup:
    """Nogueira's index of every method with its interval."""
    lang = page.lang
    rows = []
    for name in [m for m in page.methods if m in known]:
        one = known[name]
        low, high = one.interval
        value = lang.fixed(one.nogueira, 2)
        span = (
            ""
            if np.isnan(low)
            else lang("between", low=lang.fixed(low, 2), high=lang.fixed(high, 2))
        )
        lines = [
            ("", lang("nogueira"), value, None),
            ("", lang("interval"), span or "–", None),
            ("", lang("kuncheva"), lang.fixed(one.kuncheva, 2), None),
            ("", lang("jaccard"), lang.fixed(one.jaccard, 2), None),
            ("", lang("selections"), lang.integer(one.n_selections), None),
        ]
        text = f"{value} ({span})" if span else value
        rows.append(
            Row(
                name,
                page.style(name),
                one.nogueira,
                low,
                high,
                np.nan,
                text,
                name,
                lines,
                name == page.lead,
            )
        )
    values = [v for row in rows for v in (row.low, row.value) if np.isfinite(v)]
    least = min([0.0, *values])

    def draw(drawing: Drawing) -> None:
        marked = [(AGREEMENT[0], lang("mark_poor")), (AGREEMENT[1], lang("mark_good"))]
        draw_rows(drawing, rows, lang("nogueira"), lambda v: lang.fixed(v, 1), (least, 1.0), marked)

    best = max(rows, key=lambda row: row.value if np.isfinite(row.value) else -np.inf)
    finding = lang("stability_undefined")
    if np.isfinite(best.value):
        first = next(
            (row for row in rows if row.name == page.lead and np.isfinite(row.value)), best
        )
        finding = lang(
            "stability_finding",
            method=first.name,
            index=lang.fixed(first.value, 2),
            words=lang(agreement(first.value)),
            best=best.name,
            best_index=lang.fixed(best.value, 2),
        )
    return figure(page, draw, lang("stability_title"), finding)


def _rows(page: Page, known: dict[str, Any], lead: str) -> list[int]:
    """The features that are selected most often, by the leading method first."""
    frequency = np.asarray(known[lead].frequency)
    if len(frequency) != len(page.names):
        return []
    place = np.arange(len(frequency))
    if lead in page.study.selections:
        place = np.asarray(page.study.selections[lead].ranking)
    order = np.lexsort([place, -frequency])
    return [int(j) for j in order[:MOST_ROWS] if frequency[j] > 0]


def _map(page: Page, known: dict[str, Any], lead: str, rows: list[int]) -> Markup:
    one, lang = known[lead], page.lang
    always = int((np.asarray(one.frequency) == 1).sum())
    ever = int((np.asarray(one.frequency) > 0).sum())
    finding = lang(
        "map_finding",
        always=lang.count("feature", always),
        ever=lang.integer(ever),
        n=lang.integer(one.n_selections),
    )
    title = lang("map_title", method=lead, n=lang.count("feature", len(rows)))
    return figure(page, lambda drawing: draw_masks(drawing, page, one, rows), title, finding)


def _by_method(page: Page, known: dict[str, Any], rows: list[int]) -> Markup:
    methods = [m for m in page.methods if m in known and len(known[m].frequency) == len(page.names)]
    body = []
    for j in rows[:15]:
        fractions = [float(known[m].frequency[j]) for m in methods]
        cells = [(page.lang.in_percent(v, 0), v) for v in fractions]
        body.append((page.feature(j), cells))
    return shaded(
        page.lang("feature"), [cut(m, 180.0) for m in methods], body, page.lang("frequency_caption")
    )
