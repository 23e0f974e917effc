"""Errors: by number of features, by number of rows, and what a careless estimate promises."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.base import corrected_error
from tamiz.reports.charts.curves import Row, curves_figure, draw_rows, tradeoff_figure
from tamiz.reports.charts.drawing import Drawing, figure, legend, mark, path, swatch
from tamiz.reports.charts.scales import Linear
from tamiz.reports.markup import Markup, folded, table, tag
from tamiz.reports.page import Page, Section, style


def tradeoff(page: Page) -> Section | None:
    """Error against number of features, for all combinations of method, judge and size."""
    if page.answers is None or len(page.answers.contest.triples) < 2:
        return None
    intro = tag("p", page.lang.rich("tradeoff_intro", **page.limit()))
    return Section("tradeoff", Markup(intro + tradeoff_figure(page)))


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
        numbers = folded(page.lang("as_table_judge", judge=judge), _numbers(page, judge))
        both = Markup(str(chart) + numbers)
        parts.append(both if k == 0 else folded(page.lang("judge_is", judge=judge), both))
    return Section("curves", Markup("".join(parts)))


def _numbers(page: Page, judge: str) -> Markup:
    """The same as a table."""
    found = page.found
    methods = [m for m in [*page.methods, "random"] if m in found.methods]
    head = [page.lang("n_features"), *(page.method(m) for m in methods)]
    lines = [found.curve(m, judge) for m in methods]
    rows = [
        [page.lang.integer(size), *(page.error(line.error[c]) for line in lines)]
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
    without = page.honest.get("without_features", np.nan)
    marked = []
    if ends[0] <= without <= ends[1]:
        marked.append((without, page.lang("majority_mark")))

    def show(value: float) -> str:
        return page.lang.in_percent(value, 0) if page.in_percent else page.lang.number(value)

    def draw(drawing: Drawing) -> None:
        draw_rows(drawing, rows, page.metric, show, ends, marked)

    key = "bias_finding" if worst.bias > 0 else "bias_none"
    finding = page.lang(
        key,
        method=_name(page, worst),
        apparent=page.error(worst.apparent),
        error=page.error(worst.error),
        bias=page.points(worst.bias),
    )
    chart = figure(page, draw, page.lang("bias_title"), finding, above=_legend(page))
    intro = tag("p", page.lang.rich("bias_intro"))
    numbers = folded(page.lang("as_table"), _table(page))
    return Section("bias", Markup("".join([intro, chart, numbers])))


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
    if page.honest:
        mine = 0
        rows.append(_procedure(page, several))
    for one in lines:
        size = lang.integer(one.size) if np.isfinite(one.size) else "–"
        span = "–"
        if np.isfinite(one.size_low):
            a, b = lang.integer(one.size_low), lang.integer(one.size_high)
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


def _procedure(page: Page, several: bool) -> list[str]:
    """The line of the whole procedure, whose error is that of the summary."""
    lang, honest = page.lang, page.honest
    sizes = page.answers.nested["smallest"].sizes
    span = "–"
    if len(sizes):
        low, high = lang.integer(np.min(sizes)), lang.integer(np.max(sizes))
        span = low if low == high else f"{low} – {high}"
    shown = page.answers.smallest
    return [
        lang("whole_procedure"),
        *(["–"] if several else []),
        lang.integer(shown.size),
        page.error(honest["error"]),
        page.between(honest["low"], honest["high"]),
        page.error(shown.apparent),
        page.short_points(honest["error"] - shown.apparent),
        span,
        "–",
    ]


# ------------------------------------------------------------------------------ learning curve


def learning(page: Page) -> Section | None:
    """The learning curve, if it was worked out."""
    curve = getattr(page.study, "learning", None)
    if curve is None or len(curve.n_train) < 2 or not np.isfinite(curve.error).all():
        return None
    lang = page.lang
    entries: list[tuple[int | None, Markup, str]] = [
        (0, swatch(style(0)), lang("learning_test")),
        (1, swatch(style(1)), lang("learning_training")),
    ]
    chart = figure(
        page,
        lambda drawing: _draw_learning(drawing, page, curve),
        lang("learning_title", metric=page.metric),
        learning_finding(page, curve),
        above=legend(entries),
    )
    intro = tag("p", lang.rich("learning_intro", size=lang.count("feature", page.shown.size)))
    return Section("learning", Markup(intro + chart))


def learning_finding(page: Page, curve: Any) -> str:
    """What the last step of the curve says: no more than its standard error allows.

    The difference of the last two points is paired over the folds, and its standard error is
    corrected for training parts that overlap.
    """
    lang = page.lang
    gain = curve.errors[:, -2] - curve.errors[:, -1]
    mean = float(gain.mean())
    values = {
        "few": lang.integer(curve.n_train[-2]),
        "many": lang.count("row", round(float(curve.n_train[-1]))),
        "before": page.error(float(curve.error[-2])),
        "after": page.error(float(curve.error[-1])),
    }
    if len(gain) < 2:
        return lang("learning_unknown", **values)
    n_test = page.found.n_samples / len(gain)
    error = float(corrected_error(gain, n_test / float(curve.n_train[-1])))
    values["standard_error"] = page.points(error)
    if mean > error:
        return lang("learning_helps", **values)
    return lang("learning_rises" if mean < -error else "learning_hardly", **values)


def _draw_learning(drawing: Drawing, page: Page, curve: Any) -> None:
    left, right = 52.0, drawing.width - 16
    top, bottom = (46.0, 240.0) if drawing.narrow else (32.0, 250.0)
    drawing.height = bottom + 46
    lines = [(0, "learning_test", curve.error), (1, "learning_training", curve.training_error)]
    seen = [float(v) for _, _, values in lines for v in values if np.isfinite(v)]
    folds = np.asarray(curve.errors, dtype=np.float64)
    seen += [float(v) for v in folds[np.isfinite(folds)]]
    y = Linear(*page.error_ends(seen, [float(v) for v in curve.error]), bottom, top)
    x = Linear(0.0, float(curve.n_train[-1]), left, right)
    drawing.y_axis(y, left, right, page.metric, page.tick(y), 28.0 if drawing.narrow else 12.0)
    drawing.x_axis(x, bottom, page.lang("learning_axis"), page.lang.integer, curve.n_train.tolist())
    spots = [
        mark(0, x(n), y(float(v)), "faint", 2.4)
        for row in folds
        for n, v in zip(curve.n_train, row, strict=True)
        if np.isfinite(v) and v <= y.high
    ]
    drawing.add(tag("g", spots, class_="c1"))
    for k, _, values in lines:
        places = [
            (x(n), y(float(v)))
            for n, v in zip(curve.n_train, values, strict=True)
            if np.isfinite(v)
        ]
        look = style(k)
        parts = [tag("path", d=path(places), class_="line")]
        parts += [mark(look.shape, px, py) for px, py in places]
        drawing.add(tag("g", parts, class_=f"series {look.css}", data_s=k))
    for c, n in enumerate(curve.n_train):
        rows: list[tuple[str, str, str, float | None]] = [
            (style(k).css, page.lang(name), page.error(float(values[c])), y(float(values[c])))
            for k, name, values in lines
        ]
        drawing.stop(x(n), (top + bottom) / 2, page.lang.count("row", round(float(n))), rows)
