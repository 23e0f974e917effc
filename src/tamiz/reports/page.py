"""What all parts of a report need: the study, the language, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.base import Selection
from tamiz.evaluation.study import Whole
from tamiz.reports.language import NONE, Language
from tamiz.reports.markup import Markup, escape, tag, visible

BASELINES = ("random", "all")
COLOURS = 8
#: Errors are cut off beyond so many times the distance from the least to the upper quartile.
_ZOOM = 2.5


class Section(NamedTuple):
    """A part of the report with a heading.

    Attributes
    ----------
    key : str
        Names the part of the page: links to it end with ``#key``.
    body : Markup
        What stands below the heading.
    title : str or None
        The heading; None for the one that the language has for the key.
    """

    key: str
    body: Markup
    title: str | None = None


class Style(NamedTuple):
    """How a method or class is drawn: a colour and a mark, and after eight a broken line too."""

    css: str
    shape: int


def style(place: int) -> Style:
    """The style of the first, second, ... of several things."""
    broken = " again" if place >= COLOURS else ""
    return Style(f"c{place % COLOURS + 1}{broken}", place % COLOURS)


BASELINE = Style("c0", 0)


def selected(selection: Selection) -> list[int]:
    """Positions of the features that a method selects, best first."""
    return [int(j) for j in selection.order if selection.support[j]]


@dataclass
class Page:
    """A study in a language."""

    study: Any
    lang: Language
    _ids: list[int] = field(default_factory=lambda: [0])

    def next_id(self, stem: str) -> str:
        """A name that no other element has."""
        self._ids[0] += 1
        return f"{stem}-{self._ids[0]}"

    # -------------------------------------------------------------------------- who is who

    @property
    def data(self) -> Any:
        return self.study.dataset

    @property
    def found(self) -> Any:
        return self.study.comparison

    @property
    def recommended(self) -> Any:
        return self.study.recommended

    @property
    def answers(self) -> Any:
        """Both answers and what they rest on, also if they are no better than no feature at all."""
        return getattr(self.study, "answers", None)

    @property
    def shown(self) -> Any:
        """The smallest answer, whether it is recommended or not."""
        if self.recommended is not None or self.answers is None:
            return self.recommended
        return self.answers.smallest

    @property
    def honest(self) -> dict[str, Any]:
        """The error of the whole procedure; empty if it is not known."""
        return getattr(self.study, "honest", None) or {}

    @property
    def no_signal(self) -> bool:
        """Whether nothing is better than no feature at all."""
        return self.answers is not None and not self.answers.signal

    @property
    def cut_short(self) -> bool:
        """Whether not all that was planned is there."""
        return getattr(self.study, "status", "complete") != "complete"

    @cached_property
    def whole(self) -> Whole:
        """All rows, of which the data may be a sample."""
        return getattr(self.study, "whole", None) or Whole.of(self.data)

    @property
    def sampled(self) -> bool:
        """Whether pictures of columns show a sample of the rows."""
        return self.data.n_samples < self.whole.n_rows

    @cached_property
    def names(self) -> list[str]:
        """Names of all features, fit to be shown."""
        return [visible(name) or self.lang("no_name") for name in self.whole.feature_names]

    @cached_property
    def methods(self) -> list[str]:
        """All methods: the recommended one first, the baselines left out."""
        known = list(self.study.selections)
        if self.found is not None:
            known += [name for name in self.found.methods if name not in known]
        known = [name for name in known if name not in BASELINES]
        lead = None if self.shown is None else self.shown.method
        return sorted(known, key=lambda name: name != lead)

    @property
    def only_tuned(self) -> bool:
        """Whether parameters were chosen, but no features."""
        return self.study.tuning is not None and self.found is None and not self.methods

    @property
    def lead(self) -> str | None:
        """The recommended method, or the first one."""
        return self.methods[0] if self.methods else None

    @property
    def notes_of_lead(self) -> dict[str, Any]:
        """What the first method notes of its ranking: "sample" and "cuts" if rows were sampled."""
        return getattr(self.study.selections.get(self.lead), "notes", None) or {}

    @property
    def judge(self) -> str | None:
        """The judge of the recommendation, or the first one."""
        if self.shown is not None:
            return self.shown.judge
        return None if self.found is None else self.found.judges[0]

    def style(self, method: str) -> Style:
        """How a method is drawn, the same in all charts."""
        return style(self.methods.index(method)) if method in self.methods else BASELINE

    def method(self, name: str) -> str:
        """The name of a method, baselines in words."""
        return self.lang.of("baseline", name) if name in BASELINES else name

    @cached_property
    def chosen(self) -> list[int]:
        """Positions of the features that are recommended, or selected by the first method.

        There are none if features were compared and nothing can be recommended.
        """
        if self.recommended is not None:
            return self.positions(self.recommended.features)
        if self.found is not None:
            return []
        selection = self.study.selections.get(self.lead)
        if selection is None:
            return []
        return selected(selection)

    def positions(self, features: Sequence[str]) -> list[int]:
        """Where features of these names are among all; of equal names the first comes first."""
        place: dict[str, list[int]] = {}
        for j, name in enumerate(self.whole.feature_names):
            place.setdefault(name, []).append(j)
        return [place[name].pop(0) for name in features if place.get(name)]

    @property
    def has_numbers(self) -> bool:
        """Whether the cells are numbers or codes, and so can be drawn."""
        X = self.data.X
        return getattr(X, "dtype", None) is not None and X.dtype != object

    def is_coded(self, j: int) -> bool:
        """Whether a feature holds codes of categories, which judges take as indicators."""
        return self.whole.feature_names[j] in self.data.levels

    def column(self, j: int) -> np.ndarray:
        """One feature, dense."""
        X, k = self.data.X, self.whole.place(j)
        column = X[:, [k]].toarray().ravel() if sparse.issparse(X) else np.asarray(X[:, k])
        return column

    def sample_note(self) -> Markup | None:
        """That pictures show a sample, to stand beside them; None if they show all rows."""
        if not self.sampled:
            return None
        rows = self.lang.count("row", self.whole.n_rows)
        n = self.lang.integer(self.data.n_samples)
        return tag("p", self.lang.rich("sample_shown", n=tag("b", n), rows=rows), class_="sample")

    # ----------------------------------------------------------------------------- numbers

    @property
    def in_percent(self) -> bool:
        """Whether errors are fractions, and so written in per cent."""
        return self.found is None or bool(self.found.error_is_rate)

    def error(self, value: float | None, signed: bool = False) -> str:
        """An error, in per cent where it is a fraction."""
        if self.in_percent:
            return self.lang.in_percent(value, 1, signed)
        if value is None or not np.isfinite(value):
            return NONE
        return ("+" if signed and value > 0 else "") + self.lang.number(value, 4, trim=False)

    def points(self, value: float | None) -> str:
        """A difference of errors."""
        if not self.in_percent:
            return self.error(value)
        if value is None or not np.isfinite(value):
            return NONE
        return self.lang("points", n=self.lang.fixed(100 * value, 1))

    def short_points(self, value: float | None) -> str:
        """The same with its sign, for tables and charts."""
        if not self.in_percent or value is None or not np.isfinite(value):
            return self.error(value, signed=True)
        return self.lang("points_short", n=self.lang.fixed(100 * value, 1, signed=True))

    def between(self, low: float, high: float) -> str:
        """An interval of errors."""
        if not (np.isfinite(low) and np.isfinite(high)):
            return NONE
        return self.lang("between", low=self.error(low), high=self.error(high))

    def error_ends(
        self, values: Sequence[float], zoom: Sequence[float] | None = None
    ) -> tuple[float, float]:
        """Ends of an axis of errors.

        Fractions start at zero, unless all are far from it; others a little below the least. With
        ``zoom``, a few errors that are much larger than most are cut off, but none of those.
        """
        low, high = min(values), max(values)
        if zoom is not None:
            away = _ZOOM * (float(np.quantile(values, 0.75)) - low)
            high = min(high, max([low + away, *zoom])) if away > 0 else high
        if self.in_percent and low < 0.5 * high:
            return 0.0, min(1.0, max(1.04 * high, 0.02))
        if self.in_percent:
            room = 0.12 * (high - low) or 0.1 * high
            return max(0.0, low - room), min(1.0, high + room)
        room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
        return (max(0.0, low - room) if low >= 0 else low - room), high + room

    def limit(self) -> dict[str, str]:
        """The most that is given away for fewer features, as a field of a sentence, if any."""
        limit = np.inf if self.answers is None else self.answers.contest.limit
        return {"limit": self.points(limit)} if np.isfinite(limit) else {}

    def known_metric(self) -> dict[str, str]:
        """The name of the metric as a field of a sentence, unless it is the plain error."""
        plain = self.found is None or self.found.metric == "error"
        return {} if plain else {"metric": self.metric_inside}

    def honest_fields(self) -> dict[str, Any]:
        """The honest error, its metric and its interval as fields of a sentence, where known."""
        honest = self.honest
        fields = {"error": tag("b", self.error(honest["error"])), **self.known_metric()}
        between = self.between(honest["low"], honest["high"])
        if between != NONE:
            fields |= {"between": between, "level": self.level(self.found.confidence)}
        return fields

    def with_interval(self, value: float, low: float, high: float) -> str:
        """An error with its interval in brackets; without, if that is not known or has no width."""
        between = self.between(low, high)
        if between == NONE or low == high:
            return self.error(value)
        return f"{self.error(value)} ({between})"

    def tick(self, scale: Any) -> Callable[[float], str]:
        """How errors at an upright axis are written: no more decimals than they need."""
        ticks = scale.ticks(max(2, int(abs(scale.end - scale.start) / 40)))
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        if self.in_percent:
            digits = 0 if round(100 * step, 6) % 1 == 0 else 1
            return lambda v: self.lang.in_percent(v, digits)
        return lambda v: self.lang.number(v, 3)

    @property
    def metric(self) -> str:
        """What the errors are."""
        return self.lang.of("metric", "error" if self.found is None else self.found.metric)

    @property
    def metric_inside(self) -> str:
        """The same inside a sentence."""
        return self.metric[:1].lower() + self.metric[1:]

    def level(self, confidence: float) -> str:
        """Confidence in per cent."""
        return self.lang.in_percent(confidence, 0 if round(100 * confidence, 6) % 1 == 0 else 1)

    def feature(self, j: int) -> Markup:
        """The name of a feature in running text; a narrow column breaks it after an underscore."""
        return tag("bdi", Markup(escape(self.names[j]).replace("_", "_<wbr>")))
