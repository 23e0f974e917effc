"""The ranking of all features, which the page sorts, searches and leafs through.

Rows are not written into the page one by one: the columns go into one block of JSON, and the page
makes the rows that are in view. The first rows are there without a script too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.reports.language import NONE
from tamiz.reports.markup import Markup, json_block, tag
from tamiz.reports.page import Page, Section
from tamiz.reports.tables import scrolling

FIRST_ROWS = 25
PAGES = (25, 50, 100)
_MARK = 2  # the column that says whether a feature is selected


class Column(NamedTuple):
    """A column of the ranking."""

    label: str
    kind: str  # "text", "integer", "number", "fraction", "mark"
    values: list[Any]


def build(page: Page) -> Section | None:
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
