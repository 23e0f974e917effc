"""The selected features: their values in each class."""

from __future__ import annotations

from collections.abc import Callable

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
from tamiz.reports.markup import Markup, tag, visible
from tamiz.reports.page import Page, Section, style
from tamiz.reports.tables import folded

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
    return tag("div", heading, chart, note, class_="panel")


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
