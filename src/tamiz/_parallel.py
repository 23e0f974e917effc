"""A shared thread pool for compiled functions that release the GIL.

numba's own ``prange`` needs a threading layer, and the layers differ in what they survive: one
aborts the process when two Python threads enter it, another when the process forks. Tiles handed
to ordinary threads have neither problem, cost some tens of microseconds, and keep the compiled
functions small enough to be cached on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_pool: ThreadPoolExecutor | None = None
_pool_pid = -1


def n_threads() -> int:
    """Number of threads that tiles may use: ``OMP_NUM_THREADS`` if set, else the usable cores."""
    requested = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if requested.isdigit() and int(requested) > 0:
        return int(requested)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every platform tells the affinity
        return os.cpu_count() or 1


def _get_pool() -> ThreadPoolExecutor:
    global _pool, _pool_pid
    if _pool is None or _pool_pid != os.getpid():  # threads do not survive a fork
        _pool = ThreadPoolExecutor(max_workers=max(1, n_threads() - 1), thread_name_prefix="tamiz")
        _pool_pid = os.getpid()
    return _pool


def run_tiles(
    function: Callable[..., Any], n_items: int, *args: Any, min_items: int = 1
) -> list[Any]:
    """Call ``function(start, stop, *args)`` on ranges that cover ``range(n_items)``.

    The calling thread does its share, so a pool of one core is never waited for. The result is
    the list of return values in the order of the ranges. The function must release the GIL to
    gain anything, and must write to disjoint places for different ranges.

    Parameters
    ----------
    function : callable
        Called as ``function(start, stop, *args)``.
    n_items : int
        Length of the range to cover.
    *args
        Passed on to every call.
    min_items : int, default=1
        A range is not split into pieces smaller than this.
    """
    pieces = min(n_threads(), max(1, n_items // max(1, min_items)))
    if pieces <= 1:
        return [function(0, n_items, *args)]
    cuts = [n_items * k // pieces for k in range(pieces + 1)]
    pool = _get_pool()
    futures = [pool.submit(function, cuts[k], cuts[k + 1], *args) for k in range(1, pieces)]
    first = function(cuts[0], cuts[1], *args)
    return [first, *(future.result() for future in futures)]
