"""The ranking of all features, and the selected features: their values in each class.

The page sorts, searches and leafs through the ranking. Rows are not written into the page one by
one: the columns go into one block of JSON, and the page makes the rows that are in view. The first
rows are there without a script too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.reports.charts.columns import (
    MOST_LEVELS,
    MOST_POINTS,
    WIDTH,
    Groups,
    draw_levels,
    draw_numbers,
    draw_points,
    groups_of,
)
from tamiz.reports.charts.drawing import Drawing, figure
from tamiz.reports.language import NONE
from tamiz.reports.markup import Markup, folded, json_block, scrolling, tag, visible
from tamiz.reports.page import Page, Section, style

FIRST_ROWS = 25
PAGES = (25, 50, 100)
_MARK = 2  # the column that says whether a feature is selected


class Column(NamedTuple):
    """A column of the ranking."""

    label: str
    kind: str  # "text", "integer", "number", "fraction", "mark"
    values: list[Any]


def ranked(page: Page) -> Section | None:
    """The section of the ranking, if a method ranked all data."""
    if page.lead not in page.study.selections:
        return None
    columns = _columns(page)
    lang = page.lang
    how = tag("span", " ", lang("ranking_how"), class_="screen")
    alone = all(name == page.lead for name in page.study.selections)
    key = "ranking_intro_alone" if alone else "ranking_intro"
    key = "ranking_intro_sample" if "sample" in page.notes_of_lead else key
    intro = tag("p", lang.rich(key, method=tag("b", page.lead)), how)
    head = tag("tr", [_head(k, column) for k, column in enumerate(columns)])
    n_rows = len(columns[0].values)
    body = [
        tag(
            "tr",
            [_cell(page, column, r) for column in columns],
            class_="on" if columns[_MARK].values[r] else None,
        )
        for r in range(min(FIRST_ROWS, n_rows))
    ]
    caption = lang("ranking_caption", method=page.lead)
    grid = tag(
        "table", tag("caption", caption), tag("thead", head), tag("tbody", body), id="ranking-table"
    )
    block = {
        "columns": [[column.kind, column.values] for column in columns],
        "labels": [column.label for column in columns],
        "texts": {key: lang(f"js_{key}") for key in ("showing", "none", "yes", "no")},
        "decimal": lang.decimal,
        "thousands": lang.thousands,
        "percent": lang.percent,
        "group": lang.group_from,
        "file": "ranking.csv",
    }
    parts = [
        intro,
        _tools(page, n_rows),
        scrolling(caption, grid, "ranking"),
        _pager(page, n_rows),
        tag("script", json_block(block), type="application/json", id="ranking-data"),
    ]
    return Section("ranking", Markup("".join(parts)))


def _columns(page: Page) -> list[Column]:
    """Rank, name, score, mark, the ranks of the others, and what is known of the column."""
    lang, lead, whole = page.lang, page.lead, page.whole
    selection = page.study.selections[lead]
    order = np.asarray(selection.order)
    chosen = set(page.chosen)
    columns = [
        Column(lang("rank"), "integer", list(range(1, len(order) + 1))),
        Column(lang("feature"), "text", [page.names[j] for j in order]),
        Column(lang("recommended_short"), "mark", [int(j in chosen) for j in order.tolist()]),
    ]
    if selection.scores is not None:
        columns.append(Column(lang("score"), "number", _numbers(selection.scores[order])))
    if selection.pvalues is not None:
        columns.append(Column(lang("pvalue"), "number", _numbers(selection.pvalues[order])))
    for name in page.methods:
        other = page.study.selections.get(name)
        if name != lead and other is not None:
            ranks = np.asarray(other.ranking)[order].tolist()
            columns.append(Column(lang("rank_by", method=name), "integer", ranks))
    measure = (page.study.stability or {}).get(lead)
    if measure is not None and len(measure.frequency) == len(order):
        fractions = [round(float(v), 3) for v in measure.frequency[order]]
        columns.append(Column(lang("frequency"), "fraction", fractions))
    roles = [page.data.roles.get(whole.feature_names[j], "numeric") for j in order]
    if len(set(roles)) > 1:
        columns.append(Column(lang("kind"), "text", [lang.of("role", role) for role in roles]))
    missing = np.asarray(whole.missing)
    if missing.any():
        columns.append(Column(lang("missing"), "integer", missing[order].tolist()))
    return columns


def _numbers(values: np.ndarray) -> list[float | None]:
    """Six digits are enough to read, and keep the page small; what is not a number is None."""
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=float)]


def _head(k: int, column: Column) -> Markup:
    button = tag(
        "button",
        tag("bdi", column.label),
        tag("span", class_="arrow", aria_hidden="true"),
        type="button",
        data_column=k,
    )
    first = "ascending" if k == 0 else "none"
    side = None if column.kind == "text" else "n"
    return tag("th", button, scope="col", aria_sort=first, class_=side)


def _cell(page: Page, column: Column, r: int) -> Markup:
    value = column.values[r]
    if column.kind == "text":
        return tag("td", tag("bdi", value))
    return tag("td", _shown(page, column.kind, value), class_="n")


def _shown(page: Page, kind: str, value: Any) -> str:
    if value is None:
        return NONE
    if kind == "mark":
        return page.lang("js_yes") if value else page.lang("js_no")
    if kind == "fraction":
        return page.lang.in_percent(value, 0)
    return page.lang.integer(value) if kind == "integer" else page.lang.number(value, 4, trim=False)


def _tools(page: Page, n_rows: int) -> Markup:
    lang = page.lang
    search = tag(
        "label",
        tag("span", lang("search")),
        tag("input", type="search", id="ranking-search", autocomplete="off", spellcheck="false"),
    )
    only = tag(
        "label", tag("input", type="checkbox", id="ranking-only"), " ", lang("only_selected")
    )
    options = [tag("option", str(n), value=str(n)) for n in PAGES]
    size = tag(
        "label", tag("span", lang("rows_per_page")), tag("select", options, id="ranking-size")
    )
    save = tag("button", lang("save_csv"), type="button", id="ranking-save")
    return tag("div", search, only, size, save, class_="tools screen")


def _pager(page: Page, n_rows: int) -> Markup:
    lang = page.lang
    text = (
        lang("js_showing").replace("%1", "1").replace("%2", lang.integer(min(FIRST_ROWS, n_rows)))
    )
    text = text.replace("%3", lang.integer(n_rows))
    return tag(
        "div",
        tag("button", lang("previous"), type="button", id="ranking-back"),
        tag("span", text, role="status", id="ranking-status"),
        tag("button", lang("next"), type="button", id="ranking-next"),
        class_="pager",
    )


# ----------------------------------------------------------------------------------------- features


FIRST, MOST = 9, 24


def build(page: Page) -> Section | None:
    """A panel for each selected feature, the best first."""
    data = page.data
    chosen = page.chosen[:MOST]
    if not chosen or not page.has_numbers or not data.n_samples:
        return None
    groups = groups_of(page)
    lang = page.lang
    regression = data.task == "regression" and data.y is not None
    key = "features_intro_numbers" if regression else "features_intro"
    values = {"sample": lang.integer(data.n_samples)} if page.sampled else {}
    if regression and data.n_samples > MOST_POINTS:
        key, values["n"] = "features_intro_points", lang.integer(MOST_POINTS)
    parts: list[Markup] = [tag("p", lang.rich(key, **values))]
    note = page.sample_note()
    if note is not None:
        parts.append(note)
    if len(page.chosen) > MOST:
        parts.append(
            tag(
                "p",
                lang("features_first", n=lang.integer(MOST), all=lang.integer(len(page.chosen))),
            )
        )
    present = data.class_counts
    absent = [visible(name) for name in page.whole.class_counts if name not in present]
    if absent:
        parts.append(tag("p", lang("classes_absent", names=lang.listed(absent))))
    if len(present) > len(groups.names):
        parts.append(tag("p", lang("largest_classes", n=lang.integer(len(groups.names)))))
    if len(groups.names) > 1:
        parts.append(class_legend(page, groups))
    panels = [_panel(page, j, groups, regression) for j in chosen]
    parts.append(tag("div", panels[:FIRST], class_="panels"))
    if len(panels) > FIRST:
        more = tag("div", panels[FIRST:], class_="panels")
        n = lang.count("feature", len(panels) - FIRST)
        parts.append(folded(lang("more_features", n=n), more))
    return Section("features", Markup("".join(parts)))


def class_legend(page: Page, groups: Groups) -> Markup:
    """The classes; of a sample with the rows of each, since a small class may have few in it."""
    rows = [page.lang.count("row", int((groups.code == k).sum())) for k in range(len(groups.names))]
    keys = [
        tag(
            "span",
            tag("span", class_=f"block {style(k).css}"),
            tag("bdi", visible(name)),
            f" ({rows[k]})" if page.sampled else None,
            class_="key",
        )
        for k, name in enumerate(groups.names)
    ]
    return tag("div", keys, class_="legend")


def _panel(page: Page, j: int, groups: Groups, regression: bool) -> Markup:
    data, lang = page.data, page.lang
    name = page.whole.feature_names[j]
    column = np.asarray(page.column(j), dtype=np.float64)
    draw: Callable[[Drawing], None]
    coded = page.is_coded(j)
    few = None if coded or regression else few_numbers(column)
    if few is not None:
        levels = [lang.number(value) for value in few.tolist()]
        codes = np.where(np.isfinite(column), np.searchsorted(few, column), np.nan)
        title, finding = page.names[j], levels_finding(page, codes, levels, groups)

        def draw(drawing: Drawing) -> None:
            draw_levels(drawing, page, codes, levels, groups, by_count=False)
    elif coded:
        levels = [visible(level) for level in data.levels[name]]
        title, finding = page.names[j], levels_finding(page, column, levels, groups)

        def draw(drawing: Drawing) -> None:
            draw_levels(drawing, page, column, levels, groups)
    elif regression:
        title, finding = page.names[j], _correlation(page, column)

        def draw(drawing: Drawing) -> None:
            draw_points(drawing, page, column, np.asarray(data.y, dtype=np.float64))
    else:
        title, finding = page.names[j], _medians(page, column, groups)

        def draw(drawing: Drawing) -> None:
            draw_numbers(drawing, page, column, groups)

    if page.sampled:
        finding = lang("finding_sample", finding=finding)
    missing = int(page.whole.missing[j])
    key = "n_missing_all" if page.sampled else "n_missing"
    note = tag("p", lang(key, n=lang.integer(missing)), class_="fine") if missing else None
    chart = figure(page, draw, title, finding, widths=(WIDTH,), caption=False)
    heading = tag("h3", page.feature(j))
    return tag("div", heading, note, chart, class_="panel")


def few_numbers(column: np.ndarray) -> np.ndarray | None:
    """The values of a column of a few integers: a density would invent others.

    They may be some more if most rows have the same value, since a density would be a mere spike.
    """
    there = column[np.isfinite(column)]
    values, counts = np.unique(there, return_counts=True)
    if not len(values) or not (values == np.floor(values)).all():
        return None
    most = MOST_LEVELS if counts.max() <= 0.4 * len(there) else 3 * MOST_LEVELS
    return values if len(values) <= most and len(there) >= 3 * len(values) else None


def _medians(page: Page, column: np.ndarray, groups: Groups) -> str:
    parts = []
    for k, name in enumerate(groups.names):
        part = column[(groups.code == k) & np.isfinite(column)]
        shown = page.lang.number(float(np.median(part))) if len(part) else "–"
        parts.append(f"{visible(name) or page.lang('all_rows')} {shown}")
    return page.lang("medians_finding", medians=", ".join(parts))


def levels_finding(page: Page, column: np.ndarray, levels: list[str], groups: Groups) -> str:
    parts = []
    for k, name in enumerate(groups.names):
        codes = column[(groups.code == k) & np.isfinite(column)].astype(int)
        shown = levels[int(np.bincount(codes).argmax())] if len(codes) else "–"
        parts.append(f"{visible(name) or page.lang('all_rows')} {shown}")
    return page.lang("levels_finding", levels=", ".join(parts))


def _correlation(page: Page, column: np.ndarray) -> str:
    target = np.asarray(page.data.y, dtype=np.float64)
    there = np.isfinite(column) & np.isfinite(target)
    value = np.nan
    if there.sum() > 2 and np.ptp(column[there]) > 0 and np.ptp(target[there]) > 0:
        value = float(np.corrcoef(column[there], target[there])[0, 1])
    return page.lang("correlation_finding", r=page.lang.fixed(value, 2))
