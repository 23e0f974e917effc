"""How the features act: their importances, curves of the first ones, and pairs that act together.

Of the recommended judge, fitted to the recommended features. A category is one feature, though the
judge takes its indicators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.explain import interaction_strength, partial_dependence, shapley_values
from tamiz.explain.decisions import decisions_of
from tamiz.reports.charts.columns import WIDTH, groups_of, number_axis
from tamiz.reports.charts.drawing import TEXT, Drawing, figure, mark, path, swatch
from tamiz.reports.charts.scales import Linear, cut, text_width
from tamiz.reports.markup import Markup, table, tag, visible
from tamiz.reports.page import Page, Section, style
from tamiz.reports.sections.plane import (
    MOST_FITTED,
    codes_of,
    looks_bent,
    machine_for,
    some_rows,
    table_of,
)

MOST_FEATURES, MOST_BARS, MOST_CURVES, MOST_PAIRS = 30, 12, 6, 5
#: Features that are named as filled, and values of a category that are drawn.
MOST_NAMED, MOST_LEVELS = 8, 8
#: Rows that are explained, by a kernel expansion or by sampling; background, and thin lines.
MOST_ROWS, MOST_SAMPLED, BACKGROUND, MOST_LINES = 150, 40, 40, 25
_PERMUTATIONS, _PAIR_ROWS = 20, 60
#: Numbers and indicators from which on a kernel expansion is slow, and fewer rows are explained.
_MANY_COLUMNS = 100
#: Pairs whose strength is less than this part of the spread of the decision value say nothing.
_WEAK = 0.01


def build(page: Page) -> Section | None:
    """The section, if something is recommended and the judge has values to explain."""
    if page.recommended is None or page.answers is None or not page.has_numbers:
        return None
    if page.data.n_samples < 8 or not page.chosen:
        return None
    try:
        return Section("effects", _Effects(page).body())
    except (ValueError, TypeError, FloatingPointError):  # some machines have no value to explain
        return None


class _Levels(NamedTuple):
    """Values of a category, the most frequent first, and the mean decisions (values, outputs)."""

    names: list[str]
    mean: np.ndarray
    n_rarer: int  # values that are not among them


class _Effects:
    """The judge on the recommended features, and what is found of it."""

    def __init__(self, page: Page):
        self.page, self.lang = page, page.lang
        self.cut = len(page.chosen) > MOST_FEATURES
        self.features = page.chosen[:MOST_FEATURES]
        self.names = [page.names[j] for j in self.features]
        X, self.columns = table_of(page, self.features)
        first = [columns[0] for columns in self.columns]
        middle = np.nanmedian(X, axis=0)
        middle = np.where(np.isfinite(middle), middle, 0.0)
        gaps = ~np.isfinite(X)
        X = np.where(gaps, middle, X)
        self.classes = page.data.task != "regression"
        code = codes_of(page) if self.classes else np.zeros(len(X))
        rows = some_rows(code, MOST_FITTED)
        target = code[rows] if self.classes else np.asarray(page.data.y, dtype=np.float64)[rows]
        self.rows, self.X = rows, X[rows]
        self.middle, self.gaps = middle[first], gaps[rows].mean(axis=0)[first]
        self.model = machine_for(page, X.shape[1]).fit(self.X, target)
        rng = np.random.default_rng(0)
        mixed = rng.permutation(len(self.X))
        some, others = self.X[mixed[:MOST_ROWS]], self.X[mixed[-BACKGROUND:]]
        quick = decisions_of(self.model, some[:2]).method == "exact"
        if not quick or X.shape[1] > _MANY_COLUMNS:
            some = some[:MOST_SAMPLED]
        self.found = shapley_values(
            self.model,
            some,
            others,
            feature_groups=self.columns,
            n_permutations=_PERMUTATIONS,
            random_state=0,
        )
        self.limit = self.found.limit or 0.0  # above it, values speak for the second class
        self.importances = self.found.importances
        self.order = np.argsort(-self.importances, kind="stable")
        self.some = some
        self.outputs = self._outputs()

    def _outputs(self) -> list[str]:
        """Names of the decisions; machines know codes of classes."""
        names = self.found.output_names
        if not self.classes:
            return names
        known = {str(k): name for k, name in enumerate(groups_of(self.page).names)}
        shown = []
        for name in names:
            first, over, second = name.partition(" over ")
            pair = {"first": known.get(first, first), "second": known.get(second, second)}
            shown.append(self.lang("effects_over", **pair) if over else pair["first"])
        return shown

    # ------------------------------------------------------------------------------ parts

    def body(self) -> Markup:
        lang, page = self.lang, self.page
        judge = tag("b", visible(page.recommended.judge))
        rows = lang.count("row", len(self.X))
        if self.cut:
            n, every = lang.integer(len(self.features)), lang.integer(len(page.chosen))
            intro = lang.rich("effects_intro_part", judge=judge, rows=rows, n=n, all=every)
        else:
            intro = lang.rich("effects_intro", judge=judge, rows=rows)
        parts = [tag("p", intro)]
        if self.gaps.any():
            parts.append(tag("p", self._about_gaps(), class_="fine"))
        parts.append(self._bars())
        parts.append(tag("p", self._about_curves()))
        if len(self.outputs) > 1:
            keys = [
                tag("span", swatch(style(c), "median"), tag("bdi", visible(name)), class_="key")
                for c, name in enumerate(self.outputs)
            ]
            parts.append(tag("div", keys, class_="legend"))
        parts.append(tag("div", self._curves(), class_="panels"))
        if len(self.features) > 1:
            parts.append(self._pairs())
        return Markup("".join(parts))

    def _about_gaps(self) -> str:
        """Which features had missing values, those with most of them first."""
        lang = self.lang
        most = np.argsort(-self.gaps, kind="stable")[: np.count_nonzero(self.gaps)]
        names = [
            lang(
                "effects_filled_one",
                name=self.names[j],
                value=lang.number(float(self.middle[j]), 3),
                part=lang.in_percent(float(self.gaps[j]), 1),
            )
            for j in most.tolist()
        ]
        shown = "; ".join(names[:MOST_NAMED])
        if len(names) > MOST_NAMED:
            shown = lang("and_more", names=shown, n=lang.integer(len(names) - MOST_NAMED))
        return lang("effects_filled", names=shown)

    def _about_curves(self) -> str:
        said = self.lang("effects_curves")
        coded = [self._is_coded(j) for j in self._first]
        if len(self.outputs) == 1 and len(self.features) > 1 and not all(coded):
            said += " " + self.lang("effects_lines")
        if any(coded):
            said += " " + self.lang("effects_dots")
        if looks_bent(self.page, self.model):
            said += " " + self.lang("effects_curved")
        if not self.classes:
            return f"{said} {self.lang('effects_target')}"
        if len(self.outputs) == 1:
            positive, limit = visible(self.outputs[0]), self.lang.number(self.limit, 2)
            return f"{said} {self.lang('effects_side', positive=positive, limit=limit)}"
        return f"{said} {self.lang('effects_sides', names=self.lang.listed(self.outputs, 8))}"

    def _bars(self) -> Markup:
        lang = self.lang
        shown = [int(j) for j in self.order[:MOST_BARS]]
        first, total = shown[0], float(self.importances.sum())
        key = "effects_finding_part" if self.cut else "effects_finding"
        finding = lang(
            "effects_finding_one" if len(self.features) == 1 else key,
            name=self.names[first],
            value=lang.number(float(self.importances[first]), 3),
            part=lang.in_percent(float(self.importances[first]) / total if total else 0.0, 0),
            rows=lang.count("row", len(self.some)),
        )
        if self.found.standard_error is not None:
            error = lang.number(float(np.nanmax(self.found.standard_error)), 2)
            finding += " " + lang("effects_sampled", error=error)
        return figure(
            self.page, lambda d: self._draw_bars(d, shown), lang("effects_title"), finding
        )

    def _draw_bars(self, drawing: Drawing, shown: list[int]) -> None:
        lang, height = self.lang, 44.0 if drawing.narrow else 26.0
        room = min(max(text_width(self.names[j], TEXT) for j in shown), 190.0)
        left = 8.0 if drawing.narrow else 14.0 + room
        right = drawing.width - 56.0
        top, bottom = 6.0, 6.0 + height * len(shown)
        drawing.height = bottom + 46
        most = float(self.importances[shown[0]]) or 1.0
        x = Linear(0.0, most, left, right)
        for value in x.ticks(max(2, int((right - left) / 80))):
            drawing.line(x(value), top, x(value), bottom, "grid")
        drawing.x_axis(x, bottom, lang("effects_axis"), lambda v: lang.number(v, 3))
        for k, j in enumerate(shown):
            y = top + height * k
            value = float(self.importances[j])
            if drawing.narrow:
                drawing.text(left, y + 14, cut(self.names[j], drawing.width - 16), "name")
            else:
                drawing.text(left - 12, y + 17, cut(self.names[j], room), "name", "end")
            bar = y + (20.0 if drawing.narrow else 6.0)
            width = max(1.0, x(value) - left)
            drawing.add(tag("rect", x=left, y=bar, width=width, height=14.0, class_="bar c1"))
            text = lang.number(value, 3)
            drawing.text(left + width + 6, bar + 11, text, "tick")
            said = [("c1", lang("effects_adds"), text, None)]
            drawing.stop(left + width, y + height / 2, self.names[j], said, (0.0, height))

    @property
    def _first(self) -> list[int]:
        """The features that have a picture."""
        return [int(j) for j in self.order[:MOST_CURVES]]

    def _is_coded(self, j: int) -> bool:
        return self.page.is_coded(self.features[j])

    def _curves(self) -> list[Markup]:
        numbers = [j for j in self._first if not self._is_coded(j)]
        levels = {j: self._levels(j) for j in self._first if self._is_coded(j)}
        drawn = [part.mean for part in levels.values()]
        if numbers:
            columns = [int(self.columns[j][0]) for j in numbers]
            found = partial_dependence(self.model, self.some, columns, grid_resolution=30)
            drawn += found.mean
            if len(self.outputs) == 1:
                drawn += [lines[:MOST_LINES] for lines in found.individual]
        values = np.concatenate([np.ravel(part) for part in drawn])
        ends = float(values.min()), float(values.max())
        return [
            self._level_panel(j, levels[j], ends)
            if j in levels
            else self._curve_panel(j, found, numbers.index(j), ends)
            for j in self._first
        ]

    def _curve_panel(self, j: int, found: Any, k: int, ends: tuple[float, float]) -> Markup:
        lang, grid, mean = self.lang, found.grids[k], found.mean[k]
        finding = lang(
            "effects_curve",
            name=self.names[j],
            low=lang.number(float(grid[0]), 3),
            high=lang.number(float(grid[-1]), 3),
            first=lang.number(float(mean[0, 0]), 3),
            last=lang.number(float(mean[-1, 0]), 3),
            least=lang.number(float(mean[:, 0].min()), 3),
            most=lang.number(float(mean[:, 0].max()), 3),
        )
        return self._panel(j, lambda d: self._draw_curve(d, self.names[j], found, k, ends), finding)

    def _panel(self, j: int, draw: Callable[[Drawing], None], finding: str) -> Markup:
        heading = tag("h3", tag("bdi", visible(self.names[j])))
        chart = figure(self.page, draw, self.names[j], finding, widths=(WIDTH,), caption=False)
        return tag("div", heading, chart, class_="panel")

    def _levels(self, j: int) -> _Levels:
        """The mean decision when all rows have a value of a category, for the usual ones."""
        known = self.page.data.levels[self.page.whole.feature_names[self.features[j]]]
        names = [*map(visible, known), self.lang("evidence_missing")]
        codes = np.asarray(self.page.column(self.features[j]), dtype=np.float64)[self.rows]
        codes = np.where(np.isfinite(codes), codes, len(known)).astype(int)
        there, rows, counts = np.unique(codes, return_index=True, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
        columns = self.columns[j]
        points = self.X[np.ix_(rows[order], columns)]
        mean = decisions_of(self.model, self.some).partial(columns, points)
        return _Levels([names[c] for c in there[order]], mean, len(there) - len(order))

    def _level_panel(self, j: int, levels: _Levels, ends: tuple[float, float]) -> Markup:
        lang, mean = self.lang, levels.mean[:, 0]
        low, high = int(mean.argmin()), int(mean.argmax())
        finding = lang(
            "effects_levels",
            name=self.names[j],
            low=levels.names[low],
            high=levels.names[high],
            least=lang.number(float(mean[low]), 3),
            most=lang.number(float(mean[high]), 3),
        )
        return self._panel(j, lambda d: self._draw_levels(d, self.names[j], levels, ends), finding)

    def _draw_levels(
        self, drawing: Drawing, heading: str, levels: _Levels, ends: tuple[float, float]
    ) -> None:
        left, right, row = 8.0, drawing.width - 8, 29.0
        bottom = 8.0 + row * len(levels.names)
        drawing.height = bottom + 22
        room = 0.05 * (ends[1] - ends[0]) or 0.5
        x = Linear(ends[0] - room, ends[1] + room, left, right)
        if x.low < self.limit < x.high and self.classes:
            drawing.line(x(self.limit), 4, x(self.limit), bottom, "axis")
        for k, name in enumerate(levels.names):
            y = 4.0 + row * (k + 1) - 8
            drawing.text(left, y - 9, cut(name, right - left, 11), "small")
            drawing.line(left, y, right, y, "grid")
            rows: list[tuple[str, str, str, float | None]] = []
            for c, output in enumerate(self.outputs):
                value, css = float(levels.mean[k, c]), style(c).css
                drawing.add(tag("g", mark(style(c).shape, x(value), y), class_=css))
                rows.append((css, output, self.lang.number(value, 3), None))
            drawing.stop(drawing.width / 2, y, f"{heading} = {name}", rows, (0.0, row))
        number_axis(drawing, self.page, x, bottom)
        if levels.n_rarer:
            rarer = self.lang("effects_rarer", n=self.lang.integer(levels.n_rarer))
            drawing.text(left, bottom + 34, rarer, "small")
            drawing.height += 18

    def _draw_curve(
        self, drawing: Drawing, name: str, found: Any, k: int, ends: tuple[float, float]
    ) -> None:
        lang, grid = self.lang, found.grids[k]
        left, right, top, bottom = 38.0, drawing.width - 6, 8.0, 140.0
        drawing.height = bottom + 22
        room = 0.05 * (ends[1] - ends[0]) or 0.5
        low, high = float(grid[0]), float(grid[-1])
        x = Linear(low, high if high > low else low + 1.0, left, right)
        y = Linear(ends[0] - room, ends[1] + room, bottom, top)
        for value in y.ticks(4):
            drawing.line(left, y(value), right, y(value), "grid")
            drawing.text(left - 4, y(value) + 4, lang.number(value, 3), "tiny", "end")
        if y.low < self.limit < y.high and self.classes:
            drawing.line(left, y(self.limit), right, y(self.limit), "axis")
        across = [x(float(v)) for v in grid]
        if len(self.outputs) == 1:
            for curve in found.individual[k][:MOST_LINES, :, 0]:
                points = list(zip(across, map(y, curve.tolist()), strict=True))
                drawing.add(tag("path", d=path(points), class_="single"))
        for c in range(len(self.outputs)):
            heights = [y(v) for v in found.mean[k][:, c].tolist()]
            css = f"median {style(c).css}"
            drawing.add(tag("path", d=path(list(zip(across, heights, strict=True))), class_=css))
        number_axis(drawing, self.page, x, bottom)
        for g in range(0, len(grid), max(1, len(grid) // 10)):
            rows = [
                (style(c).css, output, lang.number(float(found.mean[k][g, c]), 3), None)
                for c, output in enumerate(self.outputs)
            ]
            heading = f"{name} = {lang.number(float(grid[g]), 3)}"
            drawing.stop(across[g], (top + bottom) / 2, heading, rows)

    def _pairs(self) -> Markup:
        lang = self.lang
        first = np.sort(self.order[: 2 * MOST_CURVES]) if self.found.method == "exact" else None
        found = interaction_strength(
            self.model,
            self.some,
            first,
            feature_groups=self.columns,
            top_features=MOST_CURVES,
            n_rows=_PAIR_ROWS if self.found.method == "exact" else MOST_SAMPLED // 2,
            random_state=0,
        )
        spread = float(self.found.values.sum(axis=1).std()) or 1.0
        strong = np.flatnonzero(found.strength > _WEAK * spread)[:MOST_PAIRS]
        heading = tag("h3", lang("effects_pairs"))
        if not len(strong):
            return Markup(heading + tag("p", lang("effects_no_pairs")))
        rows = []
        for u in strong:
            one, other = (self.page.feature(self.features[int(j)]) for j in found.pairs[u])
            pair = Markup(one + " × " + other)
            part = lang.in_percent(min(1.0, float(found.h_squared[u])), 0)
            rows.append([pair, lang.number(float(found.strength[u]), 3), part])
        head = [lang("effects_pair"), lang("effects_strength"), lang("effects_h")]
        a, b = (self.names[int(j)] for j in found.pairs[strong[0]])
        rows_said = lang.count("row", found.n_rows)
        note = lang("effects_pairs_note", rows=rows_said, first=a, second=b)
        shown = table(head, rows, lang("effects_pairs_caption"))
        return Markup(heading + shown + tag("p", note, class_="fine"))
