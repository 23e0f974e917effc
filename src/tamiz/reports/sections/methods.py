"""Whether methods differ beyond chance, whether there is any signal, and how judges were tuned."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.reports.charts.cells import draw_grid
from tamiz.reports.charts.columns import draw_shuffles
from tamiz.reports.charts.drawing import Drawing, figure
from tamiz.reports.charts.ranks import draw_ranks
from tamiz.reports.markup import Markup, folded, table, tag, visible
from tamiz.reports.page import Page, Section

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


# ------------------------------------------------------------------------------------------- tuning


MOST_CELLS = 900
FIRST_CELLS = 10


def tuned(page: Page) -> Section | None:
    """A map where two numbers vary; the best combinations in any case."""
    tuning = page.study.tuning
    if tuning is None or not tuning.cells:
        return None
    lang = page.lang
    chosen = ", ".join(f"{visible(k)} = {_value(page, v)}" for k, v in tuning.best_params.items())
    words = lang.rich(
        "tuning_intro", params=tag("b", chosen), error=tag("b", _error(page, tuning.best_error))
    )
    parts = [tag("p", words)]
    if tuning.interrupted:
        done = sum(bool(np.isfinite(cell.error)) for cell in tuning.cells)
        values = {"done": lang.integer(done), "all": lang.integer(len(tuning.cells))}
        parts.insert(0, tag("p", lang.rich("tuning_cut_short", **values)))
    axes = _axes(tuning)
    if axes is not None:
        parts.append(_map(page, tuning, axes))
    parts += [
        tag("p", visible(text), class_="fine", lang=None if lang.code == "en" else "en")
        for text in tuning.edges
    ]
    parts.append(_best(page, tuning))
    return Section("tuning", Markup("".join(parts)))


def _axes(tuning: Any) -> tuple[str, str] | None:
    """The two numbers that vary most, C and gamma before others."""
    varying = []
    for name in tuning.names:
        values = [cell.params.get(name) for cell in tuning.cells]
        numbers = {float(v) for v in values if _is_number(v)}
        if len(numbers) > 1:
            varying.append((name.rpartition("__")[2] not in ("C", "gamma"), -len(numbers), name))
    names = [name for _, _, name in sorted(varying, key=lambda entry: entry[:2])][:2]
    if len(names) < 2:
        return None
    first, second = sorted(names, key=lambda name: tuning.names.index(name))
    return first, second


def _map(page: Page, tuning: Any, axes: tuple[str, str]) -> Markup:
    lang = page.lang
    known = [c for c in tuning.cells if all(_is_number(c.params.get(name)) for name in axes)]
    columns, rows = (sorted({float(c.params[name]) for c in known}) for name in axes)
    if len(columns) * len(rows) > MOST_CELLS:
        return Markup("")
    errors = np.full((len(rows), len(columns)), np.nan)
    for cell in known:
        r, c = rows.index(float(cell.params[axes[1]])), columns.index(float(cell.params[axes[0]]))
        errors[r, c] = np.fmin(errors[r, c], cell.mean)  # the least over whatever else varies
    if not np.isfinite(errors).any():
        return Markup("")
    best = tuple(float(tuning.best_params.get(name, np.nan)) for name in axes)
    names = (axes[0].rpartition("__")[2], axes[1].rpartition("__")[2])

    def draw(drawing: Drawing) -> None:
        draw_grid(
            drawing,
            page,
            names,
            (columns, rows),
            errors,
            (best[0], best[1]),
            lambda v: _error(page, v),
        )

    near = np.isfinite(errors) & (errors <= np.nanmin(errors) + _slack(tuning))
    finding = lang(
        "tuning_finding",
        n=lang.integer(near.sum()),
        all=lang.integer(np.isfinite(errors).sum()),
        low=_error(page, float(np.nanmin(errors))),
        high=_error(page, float(np.nanmax(errors))),
    )
    return figure(page, draw, lang("tuning_title", metric=visible(tuning.metric)), finding)


def _slack(tuning: Any) -> float:
    value = tuning.best.standard_error
    return float(value) if np.isfinite(value) else 0.0


def _best(page: Page, tuning: Any) -> Markup:
    lang = page.lang
    order = sorted(
        range(len(tuning.cells)),
        key=lambda k: (not np.isfinite(tuning.cells[k].mean), tuning.cells[k].mean, k),
    )[:FIRST_CELLS]
    rows, mine = [], None
    for r, k in enumerate(order):
        cell = tuning.cells[k]
        if k == tuning.best_index:
            mine = r
        values = [_value(page, cell.params.get(name, "–")) for name in tuning.names]
        spread = _error(page, cell.std) if np.isfinite(cell.std) else "–"
        rows.append([str(r + 1), *values, _error(page, cell.mean), spread])
    head = ["", *map(visible, tuning.names), visible(tuning.metric), lang("deviation")]
    return table(head, rows, lang("tuning_caption"), text=(), mine=mine)


def _error(page: Page, value: float) -> str:
    return page.lang.number(value, 3)


def _value(page: Page, value: Any) -> str:
    return page.lang.number(float(value)) if _is_number(value) else visible(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
