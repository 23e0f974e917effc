"""Pictures of fitted machines: what they decide over two features, and what that rests on.

A picture has two axes, a machine may have many features. The others are held at their medians, or
at the values of a given row, and the machine is evaluated on a grid over the two (:class:`Plane`).
What is drawn there depends on the kind of machine, and each kind has its mixin:

* :class:`ClassifierPlot`: the boundary ``f(x) = 0``, the margins ``f(x) = ±1`` where the machine
  has them, decision values as shading; for more than two classes, and for methods without decision
  values, the regions of the classes.
* :class:`NoveltyPlot`: the boundary around the data.
* :class:`RegressorPlot`: over one feature the curve with its tube, over two the predicted surface.

Support vectors are marked where the machine has them: rings for free ones, diamonds for bounded
ones. Slack is a line from a sample to the margin (or tube) that it violates.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from tamiz.display import INK, LINE, PALETTE, axes, colours, tint
from tamiz.validation import check_X

#: Marks of the classes, in their order; they begin again after the last.
MARKS = "os^Dv<>P"
FREE, BOUNDED, SUPPORT = "free support vectors", "bounded support vectors", "support vectors"
_RINGS = {FREE: ("o", 95), BOUNDED: ("D", 75), SUPPORT: ("o", 95)}
_PADDING = 0.08  # of the range of the samples, at each side
_BLOCK = 2_000_000  # cells of a table that are evaluated at once
_SHADE = 0.45  # how much of a class's colour is left where the machine is sure


@dataclass(frozen=True)
class Plane:
    """One or two features as axes, the others held at one value each.

    Attributes
    ----------
    columns : tuple of int
        The features on the axes, one or two.
    at : array of shape (n_features,)
        Values of all features; those of ``columns`` are replaced.
    names : tuple of str
        Labels of the axes.
    limits : tuple of (low, high)
        Ranges drawn, always two; with one feature the second is 0 to 1.
    resolution : int
        Points of the grid along each axis.
    """

    columns: tuple[int, ...]
    at: np.ndarray
    names: tuple[str, ...]
    limits: tuple[tuple[float, float], tuple[float, float]]
    resolution: int

    @property
    def whole(self) -> bool:
        """Whether no feature is left out, so that samples lie in the plane."""
        return len(self.columns) == len(self.at)

    def grid(self) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates along both axes."""
        first, second = (np.linspace(*ends, self.resolution) for ends in self.limits)
        return first, second

    def rows(self, points: np.ndarray) -> np.ndarray:
        """Samples with the coordinates given, complete with the values held."""
        table = np.tile(self.at, (len(points), 1))
        table[:, list(self.columns)] = points[:, : len(self.columns)]
        return table

    def evaluate(self, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The function over the grid, (second axis, first axis), a block of rows at a time."""
        first, second = self.grid()
        if len(self.columns) == 1:
            points = first[:, None]
        else:
            points = np.stack([g.ravel() for g in np.meshgrid(first, second)], axis=1)
        step = max(1, _BLOCK // len(self.at))
        parts = [
            np.asarray(function(self.rows(points[k : k + step])))
            for k in range(0, len(points), step)
        ]
        values = np.concatenate(parts)
        if len(self.columns) == 1:
            return np.tile(values, (len(second), 1))
        return values.reshape(len(second), len(first))


def plane_of(
    machine: Any, X: np.ndarray, features: Any = None, at: Any = None, resolution: int = 200
) -> Plane:
    """The plane of a picture: features chosen by position or name, ranges of the samples."""
    columns, names = _columns(machine, X.shape[1], features)
    if isinstance(resolution, bool) or not isinstance(resolution, Integral) or resolution < 2:
        raise ValueError(f"resolution={resolution!r} must be an integer of at least 2.")
    if at is None:
        held = np.nanmedian(X, axis=0)
    else:
        held = np.asarray(at, dtype=np.float64).ravel()
        if len(held) != X.shape[1]:
            raise ValueError(
                f"at holds {len(held)} values, but the machine has {X.shape[1]} features: pass a "
                "whole row, such as at=X[0]; those on the axes are ignored."
            )
    ranges = [_range(X[:, j]) for j in columns]
    return Plane(columns, held, names, (ranges[0], [*ranges, (0.0, 1.0)][1]), int(resolution))


def _columns(machine: Any, p: int, features: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    known = getattr(machine, "feature_names_in_", None)
    known = None if known is None else [str(name) for name in known]
    if features is None:
        if p > 2:
            example = (0, 1) if known is None else tuple(known[:2])
            raise ValueError(
                f"{type(machine).__name__} was fitted to {p} features, and a picture has two axes: "
                f"choose two, such as features={example!r}. The others are held at their medians, "
                "or at the row that you pass as at."
            )
        features = range(p)
    elif isinstance(features, (str, Integral)):
        features = [features]
    chosen = []
    for feature in features:
        if isinstance(feature, str):
            if known is None or feature not in known:
                there = "it was fitted without names" if known is None else ", ".join(known[:20])
                raise ValueError(f"features: the machine has no feature {feature!r} ({there}).")
            chosen.append(known.index(feature))
        elif isinstance(feature, Integral) and -p <= int(feature) < p:
            chosen.append(int(feature) % p)
        else:
            raise ValueError(f"features: {feature!r} is no position among {p} features.")
    if not 1 <= len(set(chosen)) == len(chosen) <= 2:
        raise ValueError(f"features={features!r} must be one feature or two different ones.")
    labels = [f"x{j}" if known is None else known[j] for j in chosen]
    return tuple(chosen), tuple(labels)


def _range(x: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    room = _PADDING * (high - low) or max(1.0, abs(low))
    return low - room, high + room


# ------------------------------------------------------------------------------------------ mixins


class MachinePlot:
    """Base of the mixins: the samples to draw, the plane, and the axes.

    A machine with support vectors offers them by :meth:`_support_marks`.
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
        at : array-like of shape (n_features,), optional
            A row with the values at which the other features are held; by default their medians
            in ``X``.
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
        with _without_name_warnings():
            self._draw(plane, table, y, ax, slack and plane.whole)
        marks = self._support_marks()
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
        with _without_name_warnings():
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

    def _draw(self, plane: Plane, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        raise NotImplementedError

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

    def _heights(self, X: np.ndarray, y: Any) -> np.ndarray:
        raise NotImplementedError


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
            lines = _boundary(ax, plane, signed, self._margins, (palette[0], palette[1]))
            if slack and codes is not None and self._margins:
                level = np.where(codes > 0, self._margins[-1], self._margins[0])
                _slack(ax, plane, self, X, self._heights(X, y), decide(X), level, lines)
        else:
            said = plane.evaluate(lambda rows: codes_of(self, self.predict(rows), known=False))
            _regions(ax, plane, said, palette)
        points = _with_heights(plane, X, self._heights(X, y))
        if codes is None:
            ax.scatter(*points.T, s=18, color=LINE, label="samples", zorder=3)
        else:
            scatter_classes(ax, points, codes, names)
        ax.set_title(self._title(X, y), size="medium")
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

    def _title(self, X: np.ndarray, y: Any) -> str:
        parts = []
        support = sum(map(len, self._support_marks().values()))
        if support:
            parts.append(f"{support} support vectors")
        if y is not None:
            wrong = int((np.asarray(self.predict(X)) != y).sum())
            parts.append(f"{wrong} of {len(X)} wrong")
        name = type(self).__name__
        return f"{name}: {', '.join(parts)}" if parts else name


class NoveltyPlot(MachinePlot):
    """Machines that describe one class: the boundary around it."""

    decision_function: Callable[[Any], np.ndarray]
    predict: Callable[[Any], np.ndarray]

    def _draw(self, plane: Plane, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        outside, inside = PALETTE[1], PALETTE[0]
        lines = _boundary(ax, plane, plane.evaluate(self.decision_function), (), (outside, inside))
        values, heights = self.decision_function(X), self._heights(X, y)
        if slack:
            _slack(ax, plane, self, X, heights, values, np.zeros(len(X)), lines, above=True)
        points, out = _with_heights(plane, X, heights), np.asarray(self.predict(X)) < 0
        for mask, mark, colour, label in (
            (~out, "o", inside, "inside"), (out, "s", outside, "outside")
        ):  # fmt: skip
            ax.scatter(
                *points[mask].T, s=22, marker=mark, color=colour, edgecolors="white",
                linewidths=0.5, label=label, zorder=3,
            )  # fmt: skip
        support = sum(map(len, self._support_marks().values()))
        ax.set_title(
            f"{type(self).__name__}: {support} support vectors, {int(out.sum())} of {len(X)} "
            "outside", size="medium",
        )  # fmt: skip
        if len(plane.columns) == 2:
            ax.set(ylabel=plane.names[1], ylim=plane.limits[1])
        else:
            ax.set(yticks=[], ylim=(0, 1))

    def _heights(self, X: np.ndarray, y: Any) -> np.ndarray:
        return np.random.default_rng(0).uniform(0.15, 0.85, len(X))


class RegressorPlot(MachinePlot):
    """Regressions: a curve with its tube over one feature, a surface over two."""

    epsilon: float
    predict: Callable[[Any], np.ndarray]

    def _draw(self, plane: Plane, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        target = None if y is None else np.asarray(y, dtype=np.float64)
        ax.set_title(self._title(len(X), target, X), size="medium")
        if len(plane.columns) == 2:
            self._draw_surface(plane, X, target, ax)
            return
        x = plane.grid()[0]
        curve = np.asarray(self.predict(plane.rows(x[:, None])))
        ax.fill_between(
            x, curve - self.epsilon, curve + self.epsilon, color=tint(PALETTE[0], 0.2), lw=0,
            label=f"tube, ε = {self.epsilon:g}",
        )  # fmt: skip
        ax.plot(x, curve, color=PALETTE[0], lw=1.6, label="prediction")
        ax.set_ylabel("target")
        if target is None:
            return
        places = X[:, plane.columns[0]]
        if slack:
            off = target - self.predict(X)
            beyond = np.abs(off) > self.epsilon * (1 + 1e-9)
            ends = target - off + np.sign(off) * self.epsilon
            _segments(
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

    def _title(self, n: int, target: Any, X: np.ndarray) -> str:
        support = sum(map(len, self._support_marks().values()))
        title = f"{type(self).__name__}: {support} support vectors"
        if target is not None:
            out = int((np.abs(target - self.predict(X)) > self.epsilon * (1 + 1e-9)).sum())
            title += f", {out} of {n} outside the tube"
        return title


# ----------------------------------------------------------------------------------------- drawing


def scatter_classes(ax: Any, points: Any, codes: np.ndarray, names: Sequence[str]) -> None:
    """Samples in the colours and marks of their classes, which the legend names."""
    for k, (name, colour) in enumerate(zip(names, colours(len(names)), strict=True)):
        ax.scatter(
            *points[codes == k].T, s=22, marker=MARKS[k % len(MARKS)], color=colour,
            edgecolors="white", linewidths=0.5, label=name, zorder=3,
        )  # fmt: skip


def outer_legend(ax: Any) -> None:
    """A legend to the right of the axes, where it hides nothing."""
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize="small",
        frameon=False,
    )  # fmt: skip


def _boundary(
    ax: Any,
    plane: Plane,
    values: np.ndarray,
    margins: Sequence[float],
    sides: tuple[str, str],
) -> dict[float, list[np.ndarray]]:
    """Shading, boundary and margins; the lines drawn, by level."""
    from matplotlib.colors import LinearSegmentedColormap

    first, second = plane.grid()
    largest = 2.0 * max(margins) if margins else float(np.quantile(np.abs(values), 0.98)) or 1.0
    blend = LinearSegmentedColormap.from_list(
        "sides", [tint(sides[0], _SHADE), "#ffffff", tint(sides[1], _SHADE)]
    )
    ax.pcolormesh(
        first, second, values, cmap=blend, vmin=-largest, vmax=largest, shading="gouraud",
        rasterized=True, zorder=0,
    )  # fmt: skip
    drawn: dict[float, list[np.ndarray]] = {}
    for level in (0.0, *margins):
        if not values.min() < level < values.max():
            drawn[level] = []  # matplotlib would warn
            continue
        lines = ax.contour(
            first, second, values, [level], colors=INK, linewidths=1.6 if level == 0 else 1.0,
            linestyles="solid" if level == 0 else "dashed", zorder=1,
        )  # fmt: skip
        drawn[level] = [segment for segment in lines.allsegs[0] if len(segment) > 1]
    ax.plot([], [], color=INK, lw=1.6, label="boundary")
    if margins:
        ax.plot([], [], color=INK, lw=1.0, ls="--", label="margins")
    return drawn


def _regions(ax: Any, plane: Plane, codes: np.ndarray, palette: Sequence[str]) -> None:
    """A tint for each class, white where no class was said, and lines between them."""
    from matplotlib.colors import ListedColormap

    first, second = plane.grid()
    paints = ["#ffffff", *(tint(colour, 0.35) for colour in palette)]
    ax.pcolormesh(
        first, second, codes, cmap=ListedColormap(paints), vmin=-1.5, vmax=len(palette) - 0.5,
        shading="nearest", rasterized=True, zorder=0,
    )  # fmt: skip
    present = np.unique(codes)
    for code in present if len(present) > 1 else ():
        ax.contour(first, second, codes == code, [0.5], colors=INK, linewidths=0.6, zorder=1)


def _slack(
    ax: Any,
    plane: Plane,
    machine: Any,
    X: np.ndarray,
    heights: np.ndarray,
    values: np.ndarray,
    level: np.ndarray,
    lines: Mapping[float, list[np.ndarray]],
    above: bool = False,
) -> None:
    """Lines from the samples on the wrong side of their level to it.

    The level is reached along the normal of a linear machine; of others, at its nearest point in
    the picture.
    """
    side = np.where(above, 1.0, np.sign(level))
    violated = side * (level - values) > 1e-6 * max(1.0, float(np.abs(level).max()))
    starts = _with_heights(plane, X, heights)[violated]
    weights = getattr(machine, "coef_", None)
    if weights is not None:
        w = np.asarray(weights)[0][list(plane.columns)]
        step = np.outer((level - values)[violated] / float(w @ w), w) if w.any() else None
        if step is None:
            return
        ends = starts.copy()
        ends[:, : step.shape[1]] += step
        _segments(ax, starts, ends)
        return
    wanted = level[violated]
    reached = [
        (start, _nearest(start, lines.get(float(goal), [])))
        for start, goal in zip(starts, wanted, strict=True)
    ]
    pairs = [(start, end) for start, end in reached if end is not None]
    if pairs:
        _segments(ax, np.array([s for s, _ in pairs]), np.array([e for _, e in pairs]))


def _nearest(point: np.ndarray, lines: Sequence[np.ndarray]) -> np.ndarray | None:
    """The nearest point of some polygonal lines; None without lines."""
    best, least = None, np.inf
    for line in lines:
        begin, along = line[:-1], np.diff(line, axis=0)
        length = np.maximum((along**2).sum(axis=1), 1e-300)
        t = np.clip(((point - begin) * along).sum(axis=1) / length, 0.0, 1.0)
        feet = begin + t[:, None] * along
        far = ((feet - point) ** 2).sum(axis=1)
        k = int(far.argmin())
        if far[k] < least:
            best, least = feet[k], float(far[k])
    return best


def _segments(ax: Any, starts: np.ndarray, ends: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    if len(starts):
        pairs = np.stack([starts, ends], axis=1)
        ax.add_collection(
            LineCollection(list(pairs), colors=LINE, linewidths=1.0, label="slack", zorder=2),
            autolim=False,
        )


def _with_heights(plane: Plane, X: np.ndarray, heights: np.ndarray) -> np.ndarray:
    points = X[:, list(plane.columns)]
    return points if len(plane.columns) == 2 else np.column_stack([points, heights])


def _looked_up(vectors: np.ndarray, X: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The heights of those samples that are among ``X``; missing for others."""
    known = {row.tobytes(): height for row, height in zip(X, heights, strict=True)}
    return np.array([known.get(np.ascontiguousarray(v).tobytes(), np.nan) for v in vectors])


def codes_of(machine: Any, y: Any, known: bool = True) -> np.ndarray:
    """Positions of labels among the classes; -1 (or an error) for labels that are none of them."""
    classes, y = np.asarray(machine.classes_), np.asarray(y)
    place = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.array([place.get(label, -1) for label in y.tolist()], dtype=np.intp)
    if known and (codes < 0).any():
        label = y[codes < 0].tolist()[0]
        raise ValueError(
            f"y holds the label {label!r}, which the machine does not know: its classes are "
            f"{', '.join(map(repr, classes.tolist()))}."
        )
    return codes


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


@contextmanager
def _without_name_warnings() -> Iterator[None]:
    """Grids have no column names, whatever the machine was fitted to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


# ------------------------------------------------------------------------------------------ panels


def plot_panels(
    machine: Any,
    X: Any,
    y: Any,
    grid: Mapping[str, Sequence[Any]],
    *,
    features: Any = None,
    slack: bool = False,
    resolution: int = 100,
) -> Any:
    """Draw a machine for each combination of one or two parameters, a panel each.

    Parameters
    ----------
    machine : estimator with a method ``plot``
        A copy is fitted for each panel; the machine itself stays as it is.
    X, y : array-likes
        Samples to fit and to draw.
    grid : dict
        Values by name, as for scikit-learn's ``GridSearchCV``. Of two parameters the first goes
        down, the second to the right.
    features : int, str, or two of them, optional
        The features on the axes, if there are more than two.
    slack : bool, default=False
        Whether to draw slack.
    resolution : int, default=100
        Points of the grid along each axis.

    Returns
    -------
    array of matplotlib axes
        Of shape (rows, columns).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from tamiz.svm import SVC, plot_panels
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> panels = plot_panels(
    ...     SVC(), X, y, {"C": [0.1, 10], "gamma": [0.1, 1, 10]}, resolution=20
    ... )  # doctest: +SKIP
    """
    if not 1 <= len(grid) <= 2 or not all(len(values) for values in grid.values()):
        raise ValueError(
            "grid must hold the values of one or two parameters, such as "
            '{"C": [0.1, 10], "gamma": [0.1, 1]}.'
        )
    cases = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    widths = [len(values) for values in grid.values()]
    n_columns = widths[-1] if len(widths) == 2 else min(4, len(cases))
    n_rows = -(-len(cases) // n_columns)
    figure = axes().figure
    figure.clear()
    figure.set_size_inches(0.4 + 2.7 * n_columns, 0.3 + 2.8 * n_rows)
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True)
    for ax, case in zip(panels.flat, cases, strict=False):
        fitted = clone(machine).set_params(**case)
        fitted.fit(X) if y is None else fitted.fit(X, y)
        fitted.plot(
            X, y, features=features, ax=ax, slack=slack, legend=False, resolution=resolution
        )
        said = ", ".join(f"{name} = {_shown(value)}" for name, value in case.items())
        found = ax.get_title().partition(": ")[2].replace(" support vectors", " SVs")
        ax.set_title(f"{said}\n{found}", size="small")
        ax.label_outer()
    for ax in panels.flat[len(cases) :]:
        ax.set_axis_off()
    return panels


def plot_kernels(
    machine: Any, X: Any, y: Any, kernels: Sequence[Any] | None = None, **options: Any
) -> Any:
    """Draw a machine with each of several kernels, a panel each.

    Parameters
    ----------
    machine : estimator with a parameter ``kernel``
        Such as :class:`~tamiz.svm.SVC`.
    X, y : array-likes
        Samples to fit and to draw.
    kernels : sequence of str or Kernel, optional
        By default every kernel of tables that has a name: linear, poly, rbf, sigmoid. Sums,
        products and compositions of :mod:`tamiz.kernels` can be passed as well.
    **options
        As for :func:`plot_panels`: ``features``, ``slack``, ``resolution``.

    Returns
    -------
    array of matplotlib axes
        Of shape (rows, columns), four panels in a row.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from tamiz.svm import SVC, plot_kernels
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> panels = plot_kernels(SVC(C=10), X, y)  # doctest: +SKIP
    """
    if kernels is None:
        from tamiz.kernels import KERNEL_NAMES

        kernels = [name for name in KERNEL_NAMES if name != "precomputed"]
    return plot_panels(machine, X, y, {"kernel": list(kernels)}, **options)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
