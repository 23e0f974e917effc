"""What all parts of a report share: the study, the language, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.base import Selection
from tamiz.evaluation.study import Whole
from tamiz.reports._html import Markup, tag, visible
from tamiz.reports._language import NONE, Language

BASELINES = ("random", "all")
COLOURS = 8


class Section(NamedTuple):
    """A part of the report with a heading."""

    key: str
    body: Markup


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
        lead = None if self.recommended is None else self.recommended.method
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
    def told_of_lead(self) -> dict[str, Any]:
        """What the first method notes of its ranking: "sample" and "cuts" if rows were sampled."""
        return getattr(self.study.selections.get(self.lead), "notes", None) or {}

    @property
    def judge(self) -> str | None:
        """The judge of the recommendation, or the first one."""
        if self.recommended is not None:
            return self.recommended.judge
        return None if self.found is None else self.found.judges[0]

    def style(self, method: str) -> Style:
        """How a method is drawn, the same in all charts."""
        return style(self.methods.index(method)) if method in self.methods else BASELINE

    def method(self, name: str) -> str:
        """The name of a method, baselines in words."""
        return self.lang.of("baseline", name) if name in BASELINES else name

    @cached_property
    def chosen(self) -> list[int]:
        """Positions of the features that are recommended, or selected by the first method."""
        if self.recommended is not None:
            place: dict[str, list[int]] = {}
            for j, name in enumerate(self.whole.feature_names):
                place.setdefault(name, []).append(j)
            return [place[name].pop(0) for name in self.recommended.features if place.get(name)]
        selection = self.study.selections.get(self.lead)
        if selection is None:
            return []
        return selected(selection)

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
        n = self.lang.whole(self.data.n_samples)
        return tag("p", self.lang.rich("sample_shown", n=tag("b", n), rows=rows), class_="sample")

    # ----------------------------------------------------------------------------- numbers

    @property
    def shares(self) -> bool:
        return self.found is None or bool(self.found.shares)

    def error(self, value: float | None, signed: bool = False) -> str:
        """An error, in per cent where it is a share."""
        if self.shares:
            return self.lang.share(value, 1, signed)
        if value is None or not np.isfinite(value):
            return NONE
        return ("+" if signed and value > 0 else "") + self.lang.number(value, 4)

    def points(self, value: float | None) -> str:
        """A difference of errors."""
        if not self.shares:
            return self.error(value)
        if value is None or not np.isfinite(value):
            return NONE
        return self.lang("points", n=self.lang.fixed(100 * value, 1))

    def short_points(self, value: float | None) -> str:
        """The same with its sign, for tables and charts."""
        if not self.shares or value is None or not np.isfinite(value):
            return self.error(value, signed=True)
        return self.lang("points_short", n=self.lang.fixed(100 * value, 1, signed=True))

    def between(self, low: float, high: float) -> str:
        """An interval of errors."""
        if not (np.isfinite(low) and np.isfinite(high)):
            return NONE
        return self.lang("between", low=self.error(low), high=self.error(high))

    def error_ends(self, values: Sequence[float]) -> tuple[float, float]:
        """Ends of an axis of errors: shares start at nothing, others a little below the least."""
        low, high = min(values), max(values)
        if self.shares:
            return 0.0, min(1.0, max(1.04 * high, 0.02))
        room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
        return (max(0.0, low - room) if low >= 0 else low - room), high + room

    @property
    def metric(self) -> str:
        """What the errors are."""
        return self.lang.of("metric", "error" if self.found is None else self.found.metric)

    def level(self, confidence: float) -> str:
        """Confidence in per cent."""
        return self.lang.share(confidence, 0 if round(100 * confidence, 6) % 1 == 0 else 1)

    def feature(self, j: int) -> Markup:
        """The name of a feature in running text."""
        return tag("bdi", self.names[j])
