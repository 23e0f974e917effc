"""What the judge sees: the best two features with its boundary, or one with its threshold."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from tamiz.data.dataset import columns_of as indicator_columns
from tamiz.evaluation.judges import resolved
from tamiz.evaluation.study.answers import usual_candidate
from tamiz.reports.charts.columns import (
    WIDTH,
    Groups,
    Spots,
    draw_levels,
    draw_numbers,
    draw_plane,
    draw_points,
    groups_of,
)
from tamiz.reports.charts.drawing import Drawing, figure, legend, mark
from tamiz.reports.charts.scales import text_width
from tamiz.reports.markup import Markup, tag, visible
from tamiz.reports.page import Page, Section, style
from tamiz.reports.sections.features import class_legend

#: Rows that are fitted and drawn, and features among which the best pair is looked for.
MOST_FITTED, MOST_DRAWN, MOST_TRIED, FIRST = 1500, 600, 300, 6
#: Points of a feature with no more values than this are spread a little.
MOST_VALUES = 12
_PLANES = ("linear", "svc-linear")


def build(page: Page) -> Section | None:
    """The section, if something is recommended and can be drawn."""
    if page.recommended is None or page.answers is None or not page.has_numbers:
        return None
    if page.data.n_samples < 8 or not page.chosen:
        return None
    try:
        part = _shown(page)
    except (ValueError, FloatingPointError):  # two features may be too few for a machine
        return None
    return None if part is None else Section("plane", part)


def _shown(page: Page) -> Markup | None:
    numeric = [j for j in page.chosen if not page.is_coded(j)]
    if page.data.task == "regression":
        return _fitted_line(page, numeric[0]) if numeric else None
    if len(numeric) > 1:
        return _pair(page, numeric)
    first = page.chosen[0]
    return _levels(page, first) if page.is_coded(first) else _threshold(page, first)


# ------------------------------------------------------------------------------------- fitting


def machine_for(page: Page, n_columns: int) -> Any:
    """The recommended judge for so many columns, not fitted."""
    contest = page.answers.contest
    place = contest.places[contest.choice.smallest]
    model = page.study.pipeline()
    model["judge"].set_params(**resolved(usual_candidate(page.found, place), n_columns))
    return model


def looks_bent(page: Page, model: Any) -> bool:
    """Whether the judge is linear, and a feature is transformed before it."""
    drawn_in = getattr(model.named_steps.get("scale"), "drawn_in_", None)
    linear = page.recommended.judge in _PLANES
    return linear and drawn_in is not None and bool(np.any(drawn_in))


def some_rows(code: np.ndarray, most: int) -> np.ndarray:
    """Rows drawn at random, each class with its part and at least two."""
    rng = np.random.default_rng(0)
    if len(code) <= most:
        return np.arange(len(code))
    kept = []
    for label in np.unique(code):
        members = rng.permutation(np.flatnonzero(code == label))
        kept.append(members[: max(2, round(most * len(members) / len(code)))])
    return np.sort(np.concatenate(kept))


def table_of(page: Page, features: list[int]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Features as the judge takes them, categories as indicators, and the columns of each."""
    data = page.data.keep([page.whole.place(j) for j in features])
    X = data.encode("onehot").X
    dense = X.toarray() if sparse.issparse(X) else X
    return np.asarray(dense, dtype=np.float64), indicator_columns(data)


def columns_of(page: Page, features: list[int]) -> np.ndarray:
    return np.column_stack([np.asarray(page.column(j), dtype=np.float64) for j in features])


def codes_of(page: Page) -> np.ndarray:
    return np.unique(page.data.y, return_inverse=True)[1].ravel()


def _error(page: Page, predicted: np.ndarray, code: np.ndarray) -> float:
    """The fraction of wrong answers; of each class, and their mean, if the error is balanced."""
    wrong = predicted != code
    if page.found.metric == "error":
        return float(wrong.mean())
    return float(np.mean([wrong[code == k].mean() for k in np.unique(code)]))


def _best_pair(page: Page, numeric: list[int], code: np.ndarray) -> tuple[int, int]:
    """Of the first features the two that the judge errs least with, in halves of some rows."""
    tried = numeric[:FIRST]
    if len(tried) == 2:
        return tried[0], tried[1]
    rows = some_rows(code, MOST_TRIED)
    X, y = columns_of(page, tried)[rows], code[rows]
    half = np.zeros(len(rows), dtype=bool)
    for label in np.unique(y):  # every other row of each class
        half[np.flatnonzero(y == label)[::2]] = True
    errors = {}
    for a, b in combinations(range(len(tried)), 2):
        model = machine_for(page, 2)
        parts = []
        for train in (half, ~half):
            fitted = clone(model).fit(X[train][:, [a, b]], y[train])
            parts.append(_error(page, fitted.predict(X[~train][:, [a, b]]), y[~train]))
        errors[tried[a], tried[b]] = float(np.mean(parts))
    return min(errors, key=lambda pair: errors[pair])


# ------------------------------------------------------------------------------------ drawings


def _pair(page: Page, numeric: list[int]) -> Markup:
    lang, code = page.lang, codes_of(page)
    pair = list(_best_pair(page, numeric, code))
    X = columns_of(page, pair)
    rows = some_rows(code, MOST_FITTED)
    model = machine_for(page, 2).fit(X[rows], code[rows])
    wrong = float(np.mean(model.predict(X[rows]) != code[rows]))
    groups = groups_of(page)
    place = _places(groups, code)
    there = np.flatnonzero(np.isfinite(X).all(axis=1) & (groups.code >= 0))
    there = there[some_rows(code[there], MOST_DRAWN)]
    shown = X[there].copy()
    spread = [k for k in range(2) if _spread(shown[:, k], k)]
    spots = Spots(shown[:, 0], shown[:, 1], groups.code[there])

    def ask(places: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        return place[model.predict(places)], _scores(model, places, place)

    names = (page.names[pair[0]], page.names[pair[1]])
    key = "plane_intro_both" if len(page.chosen) == 2 else "plane_intro"
    tried = lang.integer(min(len(numeric), FIRST))
    values = {"n": lang.count("feature", len(page.chosen)), "tried": tried}
    intro = tag("p", lang.rich(key, judge=tag("b", visible(page.recommended.judge)), **values))
    finding = lang(
        "plane_finding",
        first=names[0],
        second=names[1],
        wrong=lang.in_percent(wrong, 1),
        rows=lang.count("row", len(rows)),
    )
    if len(there) < page.data.n_samples:
        finding += " " + lang("plane_drawn", n=lang.count("row", len(there)))
    if looks_bent(page, model):
        finding += " " + lang("plane_curved")
    if spread:
        finding += " " + lang("plane_spread", names=lang.listed([names[k] for k in spread]))
    keys: list[tuple[int | None, Markup, str]] = [
        (k, _sample(k), visible(name)) for k, name in enumerate(groups.names)
    ]
    chart = figure(
        page,
        lambda drawing: draw_plane(drawing, page, names, spots, ask),
        lang("plane_title", judge=visible(page.recommended.judge)),
        finding,
        above=legend(keys),
        widths=(560.0, 340.0),
    )
    return Markup(intro + chart)


def _spread(column: np.ndarray, seed: int) -> bool:
    """Spread points of a few values a little, in place, so that they can be distinguished."""
    values = np.unique(column)
    if not 1 < len(values) <= MOST_VALUES:
        return False
    step = float(np.diff(values).min())
    column += np.random.default_rng(seed).uniform(-0.18, 0.18, len(column)) * step
    return True


def _sample(k: int) -> Markup:
    inner = mark(style(k).shape, 13, 6, None, 4.0)
    css = f"swatch spots {style(k).css}"
    return tag("svg", inner, class_=css, viewBox="0 0 26 12", aria_hidden="true")


def _places(groups: Groups, code: np.ndarray) -> np.ndarray:
    """For each class its place among those that are drawn; -1 for the others."""
    place = np.full(int(code.max()) + 1, -1)
    place[code] = groups.code
    return place


def _scores(model: Any, places: np.ndarray, place: np.ndarray) -> np.ndarray | None:
    """A score for every class, if the machine has some that vary smoothly."""
    if not hasattr(model, "decision_function") or (place < 0).any():
        return None
    found = np.asarray(model.decision_function(places), dtype=np.float64).reshape(len(places), -1)
    if found.shape[1] == 1 and len(place) == 2:
        return np.column_stack([-found[:, 0], found[:, 0]])
    return found if found.shape[1] == len(place) else None


def _threshold(page: Page, j: int) -> Markup:
    """One feature: where the classes lie, and where the machine changes its answer."""
    lang, code, groups = page.lang, codes_of(page), groups_of(page)
    column = np.asarray(page.column(j), dtype=np.float64)
    rows = some_rows(code, MOST_FITTED)
    model = machine_for(page, 1).fit(column[rows, None], code[rows])
    wrong = float(np.mean(model.predict(column[rows, None]) != code[rows]))
    place = _places(groups, code)
    changes: list[float] = []

    def draw(drawing: Drawing) -> None:
        x = draw_numbers(drawing, page, column, groups, row=64.0)
        bottom = drawing.height
        fractions = np.linspace(0, 1, 1201)
        values = np.array([x.at(float(u)) for u in fractions])
        named = place[model.predict(values[:, None])]
        cuts = np.flatnonzero(np.diff(named)) + 1
        ends = [0, *cuts.tolist(), len(fractions) - 1]
        changes[:] = [float(values[k]) for k in cuts]
        drawing.height = bottom + 34
        reach = 0.0
        for a, b in pairwise(ends):
            start, end = x(values[a]), x(values[b])
            css = f"bar {style(int(named[a])).css}" if named[a] >= 0 else "bar c0"
            drawing.add(
                tag("rect", x=start, y=bottom + 2, width=end - start, height=9.0, class_=css)
            )
        for value in changes:
            at, text = x(value), lang.number(value, 3)
            drawing.line(at, 4, at, bottom + 14, "chosen")
            half = text_width(text, 11) / 2
            if at - half > reach + 4:
                spot = min(max(at, half + 2), drawing.width - half - 2)
                drawing.text(spot, bottom + 27, text, "small strong", "middle")
                reach = at + half

    draw(Drawing(600.0))
    many = len(changes) > 4
    shown = ", ".join(lang.number(value, 3) for value in changes[:4])
    key = "threshold_none" if not changes else "threshold_many" if many else "threshold_finding"
    finding = lang(
        key,
        name=page.names[j],
        values=shown,
        n=lang.integer(len(changes)),
        wrong=lang.in_percent(wrong, 1),
        rows=lang.count("row", len(rows)),
    )
    intro = lang.rich("threshold_intro", judge=tag("b", visible(page.recommended.judge)))
    title = lang("threshold_title", name=page.names[j])
    chart = figure(page, draw, title, finding, widths=(600.0, 340.0))
    return Markup(tag("p", intro) + class_legend(page, groups) + chart)


def _levels(page: Page, j: int) -> Markup:
    """One categorical feature: which class the machine names for each of its values."""
    lang, code, groups = page.lang, codes_of(page), groups_of(page)
    name = page.whole.feature_names[j]
    codes = np.asarray(page.column(j), dtype=np.float64)
    X, _ = table_of(page, [j])
    model = machine_for(page, X.shape[1]).fit(X, code)
    predicted = model.predict(X)
    wrong = float(np.mean(predicted != code))
    place = _places(groups, code)
    levels = []
    for k, level in enumerate(page.data.levels[name]):
        those = predicted[codes == k]
        named = int(place[those[0]]) if len(those) else -1
        says = f" → {visible(groups.names[named])}" if named >= 0 else ""
        levels.append(f"{visible(level)}{says}")
    finding = lang(
        "levels_fitted",
        name=page.names[j],
        wrong=lang.in_percent(wrong, 1),
        rows=lang.count("row", len(code)),
    )

    def draw(drawing: Drawing) -> None:
        draw_levels(drawing, page, codes, levels, groups)

    intro = lang.rich("levels_intro", judge=tag("b", visible(page.recommended.judge)))
    title = lang("threshold_title", name=page.names[j])
    chart = figure(page, draw, title, finding, widths=(2 * WIDTH, 340.0))
    return Markup(tag("p", intro) + class_legend(page, groups) + chart)


def _fitted_line(page: Page, j: int) -> Markup:
    """A regression: the target over the best feature, and what the machine says of it alone."""
    lang = page.lang
    column = np.asarray(page.column(j), dtype=np.float64)
    target = np.asarray(page.data.y, dtype=np.float64)
    rows = some_rows(np.zeros(len(target)), MOST_FITTED)
    model = machine_for(page, 1).fit(column[rows, None], target[rows])
    predict: Callable[[np.ndarray], np.ndarray] = lambda values: model.predict(values[:, None])  # noqa: E731

    def draw(drawing: Drawing) -> None:
        draw_points(drawing, page, column, target, predict)

    judge = visible(page.recommended.judge)
    finding = lang("line_finding", name=page.names[j], judge=judge)
    title = lang("line_title", target=visible(page.data.target or "y"), name=page.names[j])
    chart = figure(page, draw, title, finding, widths=(640.0, 340.0))
    return Markup(tag("p", lang.rich("line_intro", judge=tag("b", judge))) + chart)
