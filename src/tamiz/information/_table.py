"""The table of n log n that replaces logarithms of counts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=4)
def log_table(n_samples: int) -> tuple[np.ndarray, float]:
    """n log n for n = 0, ..., N as fixed-point numbers, and their scale (a power of two).

    Sums of whole numbers do not depend on their order, so equal tables of counts give equal
    information to the last bit, however their rows and columns are arranged. The scale leaves
    room for the sum of four entries.

    Examples
    --------
    >>> table, scale = log_table(8)
    >>> (table / scale).round(4)
    array([ 0.    ,  0.    ,  1.3863,  3.2958,  5.5452,  8.0472, 10.7506, 13.6214, 16.6355])
    """
    n = np.arange(1, n_samples + 1, dtype=np.float64)
    values = np.concatenate([[0.0], n * np.log(n)])
    scale = 2.0 ** (60 - int(np.ceil(np.log2(max(values[-1], 1.0)))))
    return np.rint(values * scale).astype(np.int64), scale
