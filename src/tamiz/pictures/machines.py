"""The method ``plot`` of machines, one mixin for each kind."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from tamiz.display import INK, LINE, PALETTE, axes, colours, tint
from tamiz.pictures.marks import (
    codes_of,
    draw_boundary,
    draw_regions,
    draw_segments,
    draw_slack,
    outer_legend,
    scatter_classes,
)
from tamiz.pictures.plane import Plane, plane_of, with_heights
from tamiz.validation import check_X

FREE, BOUNDED, SUPPORT = "free support vectors", "bounded support vectors", "support vectors"
_RINGS = {FREE: ("o", 95), BOUNDED: ("D", 75), SUPPORT: ("o", 95)}


class MachinePlot(ABC):
    """Base of the mixins: the samples to draw, the plane, and the axes.

    A machine with support vectors offers them by :meth:`_support_marks`, one whose decision values
    are linear in the features its normal by :meth:`_normal`.
    """

    def plot(
        self,
        X: Any = None,
        y: Any = None,
        features: Any = None,
        ax: Any = None,
        *,
        at: Any = None,
        slack: bool = True,
        legend: bool = True,
        resolution: int = 200,
    ) -> Any:
        """Draw the machine over one or two features, with its support vectors, by matplotlib.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            Samples to draw, usually those of ``fit``; their range is the range of the picture.
            A machine keeps only its support vectors: these are drawn if ``X`` is not given.
        y : array-like of shape (n_samples,), optional
            Labels or target values of ``X``.
        features : int, str, or two of them, optional
            The features on the axes, by position or name. With one or two features all are taken.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        at : array-like of shape (n_features,), dict, or data frame of one row, optional
            A row with the values at which the other features are held; by default their medians
            in ``X``. Named values are taken by the names of the features, if the machine has any.
        slack : bool, default=True
            Whether to draw a line from each sample that violates its margin (or tube) to it. Only
            where all features are on the axes: elsewhere a sample lies beside the plane.
        legend : bool, default=True
            Whether to explain the marks, to the right of the axes.
        resolution : int, default=200
            Points of the grid along each axis.

        Returns
        -------
        matplotlib axes
            What was drawn into.
        """
        check_is_fitted(self)
        table, y = self._drawn_samples(X, y)
        plane = plane_of(self, table, features, at, resolution)
        ax = axes(ax)
        with without_name_warnings():
            self._draw(plane, table, y, ax, slack and plane.whole)
            marks = self._support_marks()
            support = [f"{sum(map(len, marks.values()))} support vectors"] if marks else []
            facts = ", ".join(support + ([] if X is None else self._counts(table, y)))
        title = f"{type(self).__name__}: {facts}" if facts else type(self).__name__
        ax.set_title("\n".join(filter(None, (title, plane.cut))), size="medium")
        for label, vectors in marks.items():
            if len(vectors):
                self._ring(ax, plane, label, vectors, table, y)
        ax.set(xlabel=plane.names[0], xlim=plane.limits[0])
        if legend:
            outer_legend(ax)
        return ax

    def _drawn_samples(self, X: Any, y: Any) -> tuple[np.ndarray, Any]:
        """The samples as a dense table, and the labels or targets as they were given."""
        if X is None:
            return self._kept_samples()
        tags = get_tags(self).input_tags
        with without_name_warnings():
            X = check_X(self, X, reset=False, accept_sparse=tags.sparse, allow_nan=tags.allow_nan)
        X = _dense(X)
        if y is not None:
            y = np.asarray(y)
            if y.shape != (len(X),):
                raise ValueError(f"y has the shape {y.shape}, but X has {len(X)} samples.")
        return X, y

    def _kept_samples(self) -> tuple[np.ndarray, Any]:
        raise ValueError(
            f"{type(self).__name__} keeps no training samples, so the picture needs them: pass X, "
            "and y for the colours, as in machine.plot(X, y)."
        )

    def _support_marks(self) -> dict[str, np.ndarray]:
        """Support vectors by what they are called; none by default."""
        return {}

    def _normal(self) -> np.ndarray | None:
        """The gradient of decision values that are linear in the features; None of others."""
        weights = getattr(self, "coef_", None)
        return None if weights is None else np.asarray(weights)[0]

    @abstractmethod
    def _counts(self, X: np.ndarray, y: Any) -> list[str]:
        """What the title says of the samples."""

    @abstractmethod
    def _draw(self, plane: Plane, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        """Draw the machine and its samples; ``slack`` adds the lines to the margins."""

    def _ring(self, ax: Any, plane: Plane, label: str, vectors: Any, X: Any, y: Any) -> None:
        """Marks around support vectors."""
        places = self._places(plane, vectors, X, y)
        mark, size = _RINGS[label]
        ax.scatter(
            *places.T, s=size, marker=mark, facecolors="none", edgecolors=INK, linewidths=1.2,
            label=label, zorder=4,
        )  # fmt: skip

    def _places(self, plane: Plane, vectors: Any, X: Any, y: Any) -> np.ndarray:
        """Where samples are drawn; with one feature a second coordinate is looked up."""
        points = vectors[:, list(plane.columns)]
        if len(plane.columns) == 2:
            return np.asarray(points)
        heights = self._heights(X, y)
        return np.column_stack([points, _looked_up(vectors, X, heights)])

    @abstractmethod
    def _heights(self, X: np.ndarray, y: Any) -> np.ndarray:
        """Second coordinate of the samples where only one feature is drawn."""


class ClassifierPlot(MachinePlot):
    """Classifiers: boundary and margins of two classes, regions of more."""

    #: Decision values of the margins; empty for methods that have none.
    _margins: tuple[float, ...] = ()
    classes_: np.ndarray
    predict: Callable[[Any], np.ndarray]

    def _draw(self, plane: Plane, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        names = [str(label) for label in self.classes_]
        palette = colours(len(names))
        codes = None if y is None else codes_of(self, y)
        decide = getattr(self, "decision_function", None)
        if len(names) == 2 and decide is not None:
            signed = plane.evaluate(decide)
            lines = draw_boundary(ax, plane, signed, self._margins, (palette[0], palette[1]))
            if slack and codes is not None and self._margins:
                level = np.where(codes > 0, self._margins[-1], self._margins[0])
                draw_slack(
                    ax, plane, self._normal(), X, self._heights(X, y), decide(X), level, lines
                )
        else:
            said = plane.evaluate(lambda rows: codes_of(self, self.predict(rows), known=False))
            draw_regions(ax, plane, said, palette)
        points = with_heights(plane, X, self._heights(X, y))
        if codes is None:
            ax.scatter(*points.T, s=18, color=LINE, label="samples", zorder=3)
        else:
            scatter_classes(ax, points, codes, names)
        if len(plane.columns) == 2:
            ax.set(ylabel=plane.names[1], ylim=plane.limits[1])
        elif codes is not None:
            ax.set_yticks((np.arange(len(names)) + 0.5) / len(names), names)
            ax.set_ylim(0, 1)
        else:
            ax.set(yticks=[], ylim=(0, 1))

    def _heights(self, X: np.ndarray, y: Any) -> np.ndarray:
        """Over one feature, each class has a strip of its own, in which samples are spread."""
        spread = np.random.default_rng(0).uniform(0.15, 0.85, len(X))
        if y is None:
            return spread
        return (codes_of(self, y) + spread) / len(self.classes_)

    def _counts(self, X: np.ndarray, y: Any) -> list[str]:
        if y is None:
            return []
        said = codes_of(self, self.predict(X), known=False)
        undecided = int((said < 0).sum())
        wrong = int((said != codes_of(self, y)).sum()) - undecided
        return [f"{wrong} of {len(X)} wrong"] + [f"{undecided} undecided"] * (undecided > 0)


class NoveltyPlot(MachinePlot):
    """Machines that describe one class: the boundary around it."""

    decision_function: Callable[[Any], np.ndarray]
    predict: Callable[[Any], np.ndarray]

    def _draw(self, plane: Plane, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        outside, inside = PALETTE[1], PALETTE[0]
        lines = draw_boundary(
            ax, plane, plane.evaluate(self.decision_function), (), (outside, inside)
        )
        values, heights = self.decision_function(X), self._heights(X, y)
        if slack:
            level = np.zeros(len(X))
            draw_slack(ax, plane, self._normal(), X, heights, values, level, lines, above=True)
        points, out = with_heights(plane, X, heights), np.asarray(self.predict(X)) < 0
        for mask, mark, colour, label in (
            (~out, "o", inside, "inside"), (out, "s", outside, "outside")
        ):  # fmt: skip
            ax.scatter(
                *points[mask].T, s=22, marker=mark, color=colour, edgecolors="white",
                linewidths=0.5, label=label, zorder=3,
            )  # fmt: skip
        if len(plane.columns) == 2:
            ax.set(ylabel=plane.names[1], ylim=plane.limits[1])
        else:
            ax.set(yticks=[], ylim=(0, 1))

    def _counts(self, X: np.ndarray, y: Any) -> list[str]:
        return [f"{int((np.asarray(self.predict(X)) < 0).sum())} of {len(X)} outside"]

    def _heights(self, X: np.ndarray, y: Any) -> np.ndarray:
        return np.random.default_rng(0).uniform(0.15, 0.85, len(X))


class RegressorPlot(MachinePlot):
    """Regressions: a curve with its tube over one feature, a surface over two."""

    epsilon: float
    predict: Callable[[Any], np.ndarray]

    @property
    def _half_width(self) -> float:
        """Of the tube, in units of the target: as fitted, where that differs from the parameter."""
        return float(getattr(self, "epsilon_", self.epsilon))

    def _draw(self, plane: Plane, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        target = None if y is None else np.asarray(y, dtype=np.float64)
        if len(plane.columns) == 2:
            self._draw_surface(plane, X, target, ax)
            return
        x = plane.grid()[0]
        curve, width = np.asarray(self.predict(plane.rows(x[:, None]))), self._half_width
        ax.fill_between(
            x, curve - width, curve + width, color=tint(PALETTE[0], 0.2), lw=0,
            label=f"tube, ε = {width:g}",
        )  # fmt: skip
        ax.plot(x, curve, color=PALETTE[0], lw=1.6, label="prediction")
        ax.set_ylabel("target")
        if target is None:
            return
        places = X[:, plane.columns[0]]
        if slack:
            off = target - self.predict(X)
            beyond = np.abs(off) > self._half_width * (1 + 1e-9)
            ends = target - off + np.sign(off) * self._half_width
            draw_segments(
                ax,
                np.column_stack([places, target])[beyond],
                np.column_stack([places, ends])[beyond],
            )
        ax.scatter(
            places, target, s=20, color=PALETTE[1], edgecolors="white", linewidths=0.5,
            label="samples", zorder=3,
        )  # fmt: skip

    def _draw_surface(self, plane: Plane, X: np.ndarray, target: Any, ax: Any) -> None:
        values = plane.evaluate(self.predict)
        shown = values if target is None else np.concatenate([values.ravel(), target])
        low, high = float(shown.min()), float(shown.max())
        first, second = plane.grid()
        levels = np.linspace(low, high if high > low else low + 1.0, 13)
        surface = ax.contourf(first, second, values, levels, cmap="Blues", alpha=0.8)
        ax.contour(first, second, values, levels, colors=LINE, linewidths=0.4)
        ax.figure.colorbar(surface, ax=ax, label="predicted")
        place = X[:, list(plane.columns)]
        seen = {"color": LINE} if target is None else {
            "c": target, "cmap": "Blues", "vmin": levels[0], "vmax": levels[-1],
        }  # fmt: skip
        ax.scatter(*place.T, s=24, edgecolors=PALETTE[1], linewidths=0.9, label="samples",
                   zorder=3, **seen)  # fmt: skip
        ax.set(ylabel=plane.names[1], ylim=plane.limits[1])

    def _heights(self, X: np.ndarray, y: Any) -> np.ndarray:
        return np.full(len(X), np.nan) if y is None else np.asarray(y, dtype=np.float64)

    def _counts(self, X: np.ndarray, y: Any) -> list[str]:
        if y is None:
            return []
        off = np.abs(np.asarray(y, dtype=np.float64) - self.predict(X))
        return [f"{int((off > self._half_width * (1 + 1e-9)).sum())} of {len(X)} outside the tube"]


def _looked_up(vectors: np.ndarray, X: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The heights of those samples that are among ``X``; missing for others."""
    known = {row.tobytes(): height for row, height in zip(X, heights, strict=True)}
    return np.array([known.get(np.ascontiguousarray(v).tobytes(), np.nan) for v in vectors])


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


@contextmanager
def without_name_warnings() -> Iterator[None]:
    """Grids have no column names, whatever the machine was fitted to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
