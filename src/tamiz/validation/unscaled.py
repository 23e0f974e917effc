"""The warning about features of quite different spread, where a method needs one scale.

Distances, inner products and penalties add up what the features say, each in its own unit: a
feature in large units then decides alone. The check looks at a sample of the rows and costs far
less than a fit.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

import numpy as np

#: How much larger one spread may be than another.
_FACTOR = 1000.0
_ROWS = 256  # most rows that are looked at
_FEW = 8  # rows of the first look, which most tables pass
_EXTREMES = 64  # features with the least, and with the largest range there, of the second look

_inner: ContextVar[bool] = ContextVar("tamiz_inner_fit", default=False)


class UnscaledWarning(UserWarning):
    """Features differ so much in spread that those of large units decide alone.

    Raised by ``fit`` of methods that depend on the units of the features. Scale the features, or
    silence it with ``warnings.simplefilter("ignore", UnscaledWarning)`` if the units are meant.
    """


@contextmanager
def inner_fit() -> Iterator[None]:
    """Fits inside, which are steps of a procedure, do not warn: the procedure does, once."""
    token = _inner.set(True)
    try:
        yield
    finally:
        _inner.reset(token)


def warn_if_unscaled(estimator: Any, X: Any) -> None:
    """Warn if the spread of one feature is over 1,000 times that of another.

    Parameters
    ----------
    estimator : estimator
        Who is being fitted; its feature names are used if it has them.
    X : array of shape (n_samples, n_features)
        Checked samples. Anything but a dense array of numbers is left alone.
    """
    if _inner.get() or type(X) is not np.ndarray or X.ndim != 2 or min(X.shape) < 2:
        return
    suspects = _suspects(X)
    if not len(suspects):
        return
    spread = robust_spread(X[:, suspects])
    if not np.isfinite(spread).any():
        return
    low, high = int(np.nanargmin(spread)), int(np.nanargmax(spread))
    if not spread[high] > _FACTOR * spread[low]:
        return
    names = getattr(estimator, "feature_names_in_", None)
    places = (suspects[low], suspects[high])
    small, large = (f"x{j}" if names is None else repr(str(names[j])) for j in places)
    warnings.warn(
        f"{type(estimator).__name__} depends on the units of the features, and they differ: "
        f"the spread of {large} is {spread[high]:.3g}, that of {small} is {spread[low]:.3g}. "
        "Scale them first: make_pipeline(StandardScaler(), ...) of scikit-learn.",
        UnscaledWarning,
        stacklevel=_depth_of_caller(),
    )


def robust_spread(X: np.ndarray) -> np.ndarray:
    """Distance between the quartiles of each feature; NaN for constant and two-valued ones.

    A feature most of whose values are equal has the range in its place. Of many samples a part,
    evenly drawn, is looked at.
    """
    table = np.array(X[:: -(-len(X) // _ROWS)].T, order="C")
    n = table.shape[1]
    low, high = np.fmin.reduce(table, axis=1), np.fmax.reduce(table, axis=1)
    ends = (table == low[:, None]) | (table == high[:, None]) | np.isnan(table)
    table.partition([n // 4, (3 * n) // 4], axis=1)  # NaN goes last
    with np.errstate(over="ignore"):
        spread = table[:, (3 * n) // 4] - table[:, n // 4]
        spread = np.where(spread > 0, spread, high - low)
    spread[ends.all(axis=1)] = np.nan
    return spread


def _suspects(X: np.ndarray) -> np.ndarray:
    """Features whose range in a few rows is very small or very large; none if all are alike."""
    rows = X[:: -(-len(X) // _FEW)]
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = rows.max(axis=0) - rows.min(axis=0)
    varying = np.flatnonzero(ranges > 0)
    ranges = ranges[varying]
    if len(ranges) and ranges.max() <= _FACTOR / 10 * ranges.min():
        return varying[:0]
    if X.shape[1] <= 2 * _EXTREMES or len(varying) <= 2 * _EXTREMES:
        return np.arange(X.shape[1])
    order = np.argpartition(ranges, (_EXTREMES, len(ranges) - _EXTREMES))
    return varying[np.concatenate([order[:_EXTREMES], order[-_EXTREMES:]])]


def _depth_of_caller() -> int:
    """How far up the first line outside this package is, for ``stacklevel``."""
    frame: FrameType | None = sys._getframe(1)
    depth = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "tamiz":
        frame, depth = frame.f_back, depth + 1
    return depth
