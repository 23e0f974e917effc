"""Criteria that need no estimator: merits of a subset by its columns and the labels alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.search.judges import Judge, Merit


def merit_for(criterion: Any, X: np.ndarray, y: np.ndarray) -> Judge:
    """The judge that a name or a function ``f(X[:, subset], y)`` stands for."""
    if callable(criterion):
        return Merit(lambda features: criterion(X[:, features], y), "criterion")
    raise ValueError(f"criterion={criterion!r} is not understood.")
