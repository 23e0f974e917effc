"""The plane of a picture: one or two features as axes, the others held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from tamiz.validation import integer_from

_PADDING = 0.08  # of the range of the samples, at each side
_BLOCK = 2_000_000  # cells of a table that are evaluated at once


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
    chosen : bool
        Whether ``at`` is a row that was passed, and not medians.
    """

    columns: tuple[int, ...]
    at: np.ndarray
    names: tuple[str, ...]
    limits: tuple[tuple[float, float], tuple[float, float]]
    resolution: int
    chosen: bool = False

    @property
    def whole(self) -> bool:
        """Whether no feature is left out, so that samples lie in the plane."""
        return len(self.columns) == len(self.at)

    @property
    def cut(self) -> str:
        """Where the picture cuts through the features that are not drawn; empty without any."""
        others = len(self.at) - len(self.columns)
        if not others:
            return ""
        plural = "s" * (others > 1)
        where = "a given row" if self.chosen else f"the median{plural}"
        return f"cut at {where} of {others} other feature{plural}"

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
    resolution = integer_from(2)("resolution", resolution)
    if at is None:
        held = np.nanmedian(X, axis=0)
    else:
        held = np.asarray(row_of(machine, at), dtype=np.float64).ravel()
        if len(held) != X.shape[1]:
            raise ValueError(
                f"at holds {len(held)} values, but the machine has {X.shape[1]} features: pass a "
                "whole row, such as at=X[0]; those on the axes are ignored."
            )
        bad = np.isinf(held) if get_tags(machine).input_tags.allow_nan else ~np.isfinite(held)
        bad[list(columns)] = False
        if bad.any():
            j = int(bad.argmax())
            raise ValueError(
                f"at holds {held[j]} for the feature {_label(machine, j)}; pass finite numbers."
            )
    ranges = [_range(X[:, j]) for j in columns]
    return Plane(columns, held, names, (ranges[0], [*ranges, (0.0, 1.0)][1]), int(resolution),
                 chosen=at is not None)  # fmt: skip


def row_of(machine: Any, at: Any) -> Any:
    """The values of a row in the order of the machine's features, by their names if it has any."""
    if isinstance(at, Mapping):
        names, values = list(at), list(at.values())
    elif hasattr(at, "columns") and len(at) == 1:
        names, values = list(at.columns), list(np.asarray(at, dtype=object)[0])
    elif hasattr(at, "iloc") and np.ndim(at) == 1:
        names, values = list(at.index), list(at)
    else:
        return at
    known = _names(machine)
    if known is None and isinstance(at, Mapping):
        raise ValueError(
            "at is a dict, but the machine was fitted without names: pass the values of a whole "
            "row, such as at=X[0]."
        )
    if known is None or not (isinstance(at, Mapping) or all(isinstance(n, str) for n in names)):
        return values
    given = dict(zip(names, values, strict=True))
    for wrong, why in (
        ([name for name in names if name not in known], "it has none called"),
        ([name for name in known if name not in given], "missing are"),
    ):
        if wrong:
            shown = ", ".join(map(repr, wrong[:5])) + (", ..." if len(wrong) > 5 else "")
            raise ValueError(f"at must name the features of the machine; {why}: {shown}.")
    return [given[name] for name in known]


def _names(machine: Any) -> list[str] | None:
    known = getattr(machine, "feature_names_in_", None)
    return None if known is None else [str(name) for name in known]


def _columns(machine: Any, p: int, features: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    known = _names(machine)
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
    return tuple(chosen), tuple(_label(machine, j) for j in chosen)


def _label(machine: Any, j: int) -> str:
    known = _names(machine)
    return f"x{j}" if known is None else known[j]


def _range(x: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    room = _PADDING * (high - low) or max(1.0, abs(low))
    return low - room, high + room


def with_heights(plane: Plane, X: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Where samples are drawn; over one feature, their heights are the second coordinate."""
    points = X[:, list(plane.columns)]
    return points if len(plane.columns) == 2 else np.column_stack([points, heights])
