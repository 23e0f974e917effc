"""Whether the chosen features change over time, and what each of their values says of the class.

Shown where the table has a column of dates, or of times: the population stability index of every
feature over periods, and with two classes its information value and the weights of its bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tamiz.evaluation import PopulationStability
from tamiz.evaluation.study.drift import MOST_FEATURES, MOST_ROWS, drift_of, times_of
from tamiz.information import WeightOfEvidence
from tamiz.information.evidence import divergence_by_chance
from tamiz.information.population import ANOTHER, CHANGED
from tamiz.reports.charts.columns import WIDTH
from tamiz.reports.charts.drawing import Drawing, figure, legend, mark, path, swatch
from tamiz.reports.charts.scales import Linear, Scale, Symlog, cut
from tamiz.reports.markup import Markup, folded, shaded, table, tag, visible
from tamiz.reports.page import Page, Section, style
from tamiz.reports.sections.plane import columns_of

MOST_LINES, MOST_PANELS, MOST_BINS = 5, 6, 8
#: From these information values on a feature says something, by custom of credit scoring.
STRENGTHS = {0.02: "weak", 0.1: "medium", 0.3: "strong", 0.5: "suspect"}
_BINS, _SMOOTHING = 5, 0.5


def build(page: Page) -> Section | None:
    """The section, if rows have times: of the features that are chosen, or else the best ones."""
    if not page.has_numbers or times_of(page.data) is None:
        return None
    best = None if page.answers is None else page.answers.most_accurate
    chosen = page.chosen or ([] if best is None else page.positions(best.features))
    features = chosen[:MOST_FEATURES]
    found = drift_of(page.data, [page.whole.place(j) for j in features])
    if found is None:
        return None
    parts = _Stability(page, features, found.stability, found.undated).parts()
    parts += _unselected(page, set(chosen))
    coded = np.array([page.is_coded(j) for j in features])
    weighed = _weigh(page, columns_of(page, features), coded)
    if weighed is not None:
        parts += _Evidence(page, features, *weighed).parts()
    return Section("drift", Markup("".join(parts)))


def _unselected(page: Page, chosen: set[int]) -> list[Markup]:
    """Features that changed and are not among those shown: a sentence, if there are any."""
    others = [j for j in range(len(page.names)) if j not in chosen]
    held = set(page.whole.held)
    looked = [j for j in others if j in held][:MOST_FEATURES]
    found = drift_of(page.data, [page.whole.place(j) for j in looked])
    if found is None:
        return []
    far = found.stability.beyond_chance >= ANOTHER
    names = [page.names[looked[k]] for k in found.stability.order.tolist() if far[k]]
    if not names:
        return []
    lang = page.lang
    counts = {"k": lang.integer(len(looked)), "n": lang.integer(len(others))}
    return [tag("p", lang("drift_unselected", names=lang.listed(names), **counts))]


# ---------------------------------------------------------------------------------- stability


@dataclass
class _Stability:
    """How far the features are from what they were in the first period."""

    page: Page
    features: list[int]
    found: PopulationStability
    undated: int

    def parts(self) -> list[Markup]:
        page, lang, found = self.page, self.page.lang, self.found
        column = page.data.dated_by
        first, last = found.moments[0]
        values = {"first": visible(first), "last": visible(last)}
        values |= {"changed": lang.fixed(CHANGED, 1), "another": lang.fixed(ANOTHER, 2)}
        if column:
            values["column"] = visible(column)
        parts = [tag("p", lang("drift_intro", n=lang.integer(len(found.moments)), **values))]
        parts.append(tag("p", lang("drift_reading", **values)))
        parts.append(self._figure())
        rows = self._table()
        parts.append(folded(lang("drift_table"), rows) if len(self.features) > 8 else rows)
        if self.undated:
            n = lang.count("row", self.undated)
            parts.append(tag("p", lang("drift_undated", n=n), class_="fine"))
        parts.append(tag("p", self._advice(), class_="fine"))
        return parts

    def verdict(self, k: int) -> str:
        """In a word: "stable", "changed" a little, or "another" feature."""
        beyond = self.found.beyond_chance[k]
        return "another" if beyond >= ANOTHER else "changed" if beyond >= CHANGED else "stable"

    def _names(self, verdict: str) -> list[str]:
        order = self.found.order.tolist()
        return [self.page.names[self.features[k]] for k in order if self.verdict(k) == verdict]

    def _finding(self) -> str:
        lang, found = self.page.lang, self.found
        another, changed = self._names("another"), self._names("changed")
        k = int(found.order[0])
        t = int(found.values[:, k].argmax())
        worst = {
            "name": self.page.names[self.features[k]],
            "value": lang.fixed(float(found.values[t, k]), 2),
            "period": self._title(t),
        }
        if another:
            key = "drift_another_one" if len(another) == 1 else "drift_another"
            n = lang.integer(len(self.features))
            said = lang(key, names=lang.listed(another), k=lang.integer(len(another)), n=n)
        elif changed:
            said = lang("drift_changed", names=lang.listed(changed))
        else:
            said = self._stable()
        return f"{said} {lang('drift_worst', **worst)}"

    def _stable(self) -> str:
        """That nothing has changed, and of which features it is said."""
        lang, n = self.page.lang, len(self.page.chosen)
        if not n:
            return lang("drift_stable_best")
        if n == 1:
            return lang("drift_stable_one")
        first = {"k": lang.integer(len(self.features))} if len(self.features) < n else {}
        return lang("drift_stable", n=lang.integer(n), **first)

    def _advice(self) -> str:
        """What chance alone gives, and what to do about features that changed."""
        lang, found = self.page.lang, self.found
        said = lang("drift_chance", limit=lang.fixed(float(found.limit.max()), 2))
        if not self._names("another") and not self._names("changed"):
            return said
        said += " " + lang("drift_look")
        if not {"time", "groups"} & set(self.page.data.extras) and self.page.data.dated_by:
            said += " " + lang("drift_time", column=visible(self.page.data.dated_by))
        return said

    def _title(self, t: int) -> str:
        """What a period is called; the reference does not count."""
        first, last = (visible(moment) for moment in self.found.moments[t + 1])
        return first if first == last else self.page.lang("between", low=first, high=last)

    def _heading(self, t: int) -> Markup:
        """The same for a narrow column: a date is not broken."""
        first, last = (
            tag("span", visible(moment), class_="whole") for moment in self.found.moments[t + 1]
        )
        return first if first == last else self.page.lang.rich("between", low=first, high=last)

    def _table(self) -> Markup:
        lang, found = self.page.lang, self.found
        head = [tag("span", lang("drift_verdict"))]
        head += [self._heading(t) for t in range(len(found.periods))]
        rows = []
        for k in found.order.tolist():
            cells = [(lang.of("change", self.verdict(k)), np.nan)]
            cells += [(lang.fixed(v, 2), v / (2 * ANOTHER)) for v in found.values[:, k].tolist()]
            rows.append((self.page.feature(self.features[k]), cells))
        return shaded(lang("feature"), head, rows, lang("drift_caption"))

    # ------------------------------------------------------------------------------ picture

    def _figure(self) -> Markup:
        lang = self.page.lang
        shown = self.found.order[:MOST_LINES].tolist()
        entries: list[tuple[int | None, Markup, str]] = [
            (c, swatch(style(c)), self.page.names[self.features[k]]) for c, k in enumerate(shown)
        ]
        title = lang("drift_title")
        if len(self.features) > MOST_LINES:
            title = lang("drift_title_first", n=lang.integer(MOST_LINES))
        return figure(
            self.page, lambda d: self._draw(d, shown), title, self._finding(), above=legend(entries)
        )

    def _draw(self, drawing: Drawing, shown: list[int]) -> None:
        lang, found = self.page.lang, self.found
        left, right, top, bottom = 44.0, drawing.width - 36, 34.0, 250.0
        drawing.height = bottom + 46
        most = max(1.2 * ANOTHER, 1.05 * float(found.values[:, shown].max()))
        y: Scale = Linear(0.0, most, bottom, top)
        if most > 6 * ANOTHER:
            y = Symlog(0.0, most, bottom, top, CHANGED)
        x = Linear(0.0, float(len(found.periods)), left, right)
        drawing.y_axis(y, left, right, lang("drift_axis"), lambda v: lang.number(v, 2), 18.0)
        levels = (CHANGED, "drift_mark_changed"), (ANOTHER, "drift_mark_another")
        for level, _ in levels:
            drawing.line(left, y(level), right, y(level), "chance")
        ticks = [float(t) for t in range(len(found.moments))]
        drawing.x_axis(
            x, bottom, lang("drift_start"), lambda v: visible(found.moments[int(v)][0]), ticks
        )
        series = []
        for c, k in enumerate(shown):
            points = [(x(0.0), y(0.0))]
            points += [(x(t + 1.0), y(v)) for t, v in enumerate(found.values[:, k].tolist())]
            dots = [mark(style(c).shape, *spot) for spot in points[1:]]
            line = tag("path", d=path(points), class_="line")
            series.append(tag("g", line, dots, class_=f"series {style(c).css}", data_s=c))
        drawing.add(*reversed(series))
        for level, key in levels:  # over the lines that cross it
            drawing.text(left + 4, y(level) - 4, lang(key), "small note")
        for t in range(len(found.periods)):
            rows = [
                (style(c).css, self.page.names[self.features[k]], lang.fixed(v, 3), y(v))
                for c, k in enumerate(shown)
                for v in [float(found.values[t, k])]
            ]
            drawing.stop(x(t + 1.0), (top + bottom) / 2, self._title(t), rows)


# ----------------------------------------------------------------------------------- evidence


def _weigh(page: Page, X: np.ndarray, coded: np.ndarray) -> tuple[WeightOfEvidence, str] | None:
    """Weights of the bins, and the class they speak for; None without two classes."""
    names = page.data.target_names
    if page.data.task == "regression" or page.data.y is None or names is None or len(names) != 2:
        return None
    code = np.unique(page.data.y, return_inverse=True)[1].ravel()
    classes = getattr(page.study, "classes", None)
    positive = 0 if classes is not None and classes[-1] == names[0] else 1
    rows = np.arange(len(X))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(1).choice(rows, MOST_ROWS, replace=False))
    if len(np.unique(code[rows])) < 2:
        return None
    weights = WeightOfEvidence(
        "frequency",
        n_bins=_BINS,
        smoothing=_SMOOTHING,
        categorical_features=coded if coded.any() else None,
        positive=positive,
    ).fit(X[rows], code[rows])
    return weights, str(names[positive])


class _Bin(NamedTuple):
    name: str
    weight: float
    rows: float
    fraction: float  # of its rows that are of the class


@dataclass
class _Evidence:
    """What the values of the features say of the class."""

    page: Page
    features: list[int]
    weights: WeightOfEvidence
    positive: str

    def __post_init__(self) -> None:
        values = self.weights.information_values_
        self.order = np.argsort(-values, kind="stable").tolist()

    def parts(self) -> list[Markup]:
        lang = self.page.lang
        positive = visible(self.positive)
        parts = [tag("h3", lang("evidence_heading")), tag("p", lang("evidence_intro"))]
        parts.append(self._table())
        parts.append(tag("p", self._note(), class_="fine"))
        parts.append(tag("p", lang("evidence_panels", positive=positive)))
        panels = [self._panel(k) for k in self.order[:MOST_PANELS]]
        parts.append(tag("div", panels, class_="panels"))
        return parts

    def _note(self) -> str:
        """What the order of the bins hides, and the features that say too much."""
        lang = self.page.lang
        n, shown = len(self.page.names), len(self.features)
        said = lang("evidence_note", bins=lang.integer(_BINS), n=lang.count("feature", n))
        if shown < n:
            said += " " + lang("evidence_chosen", k=lang.integer(shown), n=lang.integer(n))
        much = [k for k in self.order if self.strength(k) == "suspect"]
        if much:
            names = lang.listed([self.page.names[self.features[k]] for k in much])
            said += " " + lang("evidence_check", names=names, value=lang.fixed(0.5, 1))
        return said

    def strength(self, k: int) -> str:
        """In a word; what chance may give the best of all features counts as none."""
        counts = self.weights.counts_[k]
        limit = divergence_by_chance(counts, _SMOOTHING, searched=len(self.page.names))[1]
        value = float(self.weights.information_values_[k])
        said = [word for least, word in STRENGTHS.items() if value >= max(least, limit)]
        return said[-1] if said else "none"

    def bins(self, k: int) -> list[_Bin]:
        """The bins of a feature that have rows."""
        counts, weights = self.weights.counts_[k], self.weights.weights_[k]
        rows = counts.sum(axis=1)
        names = self._bin_names(k)
        return [
            _Bin(names[b], float(weights[b]), float(rows[b]), float(counts[b, 1] / rows[b]))
            for b in range(len(rows))
            if rows[b]
        ]

    def _bin_names(self, k: int) -> list[str]:
        lang = self.page.lang
        missing = lang("evidence_missing")
        if k in self.weights.categories_:
            levels = self.page.data.levels[self.page.whole.feature_names[self.features[k]]]
            codes = self.weights.categories_[k].tolist()
            return [*(visible(levels[int(code)]) for code in codes), missing]
        ends = [lang.number(value, 4) for value in self.weights.cuts_[k].tolist()]
        if not ends:
            return [lang("evidence_all"), missing]
        inner = [lang("between", low=low, high=high) for low, high in pairwise(ends)]
        return [f"≤ {ends[0]}", *inner, f"> {ends[-1]}", missing]

    def _table(self) -> Markup:
        lang = self.page.lang
        positive = visible(self.positive)
        head = [lang("feature"), lang("evidence_value"), lang("evidence_says")]
        head += [
            lang("evidence_most", positive=positive),
            lang("evidence_least", positive=positive),
        ]
        rows = []
        for k in self.order:
            bins = self.bins(k)
            value = lang.fixed(float(self.weights.information_values_[k]), 2)
            said = [
                self.page.feature(self.features[k]),
                value,
                lang.of("tells", self.strength(k)),
            ]
            for one in (max(bins, key=_weight), min(bins, key=_weight)):
                said.append(f"{one.name} ({lang.in_percent(one.fraction, 0)})")
            rows.append(said)
        caption = lang("evidence_caption", positive=positive)
        return table(head, rows, caption, text=(0, 2, 3, 4))

    def _panel(self, k: int) -> Markup:
        lang, name = self.page.lang, self.page.names[self.features[k]]
        bins = self.bins(k)
        if len(bins) > MOST_BINS:
            bins = sorted(sorted(bins, key=lambda one: -one.rows)[:MOST_BINS], key=bins.index)
        most, least = max(bins, key=_weight), min(bins, key=_weight)
        finding = lang(
            "evidence_finding",
            name=name,
            positive=visible(self.positive),
            most=most.name,
            least=least.name,
            high=lang.in_percent(most.fraction, 0),
            low=lang.in_percent(least.fraction, 0),
        )
        chart = figure(
            self.page,
            lambda drawing: self._draw(drawing, bins),
            name,
            finding,
            widths=(WIDTH,),
            caption=False,
        )
        return tag("div", tag("h3", tag("bdi", visible(name))), chart, class_="panel")

    def _draw(self, drawing: Drawing, bins: list[_Bin]) -> None:
        lang = self.page.lang
        drawn = self.order[:MOST_PANELS]  # one scale for all
        reach = max(0.1, *(abs(one.weight) for k in drawn for one in self.bins(k)))
        left, right, row = 6.0, drawing.width - 6.0, 33.0
        x = Linear(-reach, reach, left, right)
        drawing.height = row * len(bins) + 2
        for b, (name, weight, rows, part) in enumerate(bins):
            top = row * b + 2
            text = lang.fixed(weight, 2, signed=True)
            drawing.text(left, top + 12, cut(name, right - left - 44, 11), "small")
            drawing.text(right, top + 12, text, "small note", "end")
            drawing.line(left, top + 20.5, right, top + 20.5, "grid")
            ends = sorted((x(0.0), x(weight)))
            css = "bar c2" if weight >= 0 else "bar c1"  # colours of the classes
            width = max(0.8, ends[1] - ends[0])
            drawing.add(tag("rect", x=ends[0], y=top + 16, width=width, height=9.0, class_=css))
            drawing.line(x(0.0), top + 15, x(0.0), top + 26, "axis")
            said: list[tuple[str, str, str, float | None]] = [
                (css.split()[1], lang("evidence_weight"), text, None),
                ("", visible(self.positive), lang.in_percent(part, 1), None),
                ("", lang("rows"), lang.integer(rows), None),
            ]
            drawing.stop(drawing.width / 2, top + row / 2, name, said, (0.0, row))


def _weight(one: _Bin) -> float:
    return one.weight
