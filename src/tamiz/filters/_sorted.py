"""Columns in sorted order, a few at a time, for scores that look at ranks."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import numpy as np
from scipy import sparse

from tamiz.filters.univariate_base import Samples, column_block
from tamiz.runtime.parallel import run_tiles

#: Numbers that a task holds at a time.
_BLOCK_ENTRIES = 2**20


def sweep_sorted(samples: Samples, kernel: Callable[..., None], *out: np.ndarray) -> None:
    """Call ``kernel(values, order, codes, weight, *out)`` for every column of ``X``.

    ``values`` is the column, ``order`` the permutation that sorts it; the last axis of each
    ``out`` runs over the columns, and the kernel gets the part that belongs to its column.
    """
    X, codes = samples.X, samples.labels.codes
    n, p = X.shape
    weight = np.ones(n) if samples.weight is None else samples.weight
    if sparse.issparse(X):
        X = X.tocsc()
    width = max(1, min(64, _BLOCK_ENTRIES // max(1, n)))

    halt = Event()

    def task(start: int, stop: int) -> None:
        for left in range(start, stop, width):
            if halt.is_set():
                return
            right = min(left + width, stop)
            values = column_block(X, left, right)
            order = np.argsort(values, axis=1)
            kernel(values, order, codes, weight, *(array[..., left:right] for array in out))

    run_tiles(task, p, min_items=max(1, 2**14 // max(1, n)), stop=halt)
