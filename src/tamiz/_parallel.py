"""A shared thread pool for compiled functions that release the GIL.

numba's own ``prange`` needs a threading layer, and the layers differ in what they survive: one
aborts the process when two Python threads enter it, another when the process forks. Tiles handed
to ordinary threads have neither problem, cost some tens of microseconds, and keep the compiled
functions small enough to be cached on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any

from tamiz._blas import one_blas_thread

_pool: ThreadPoolExecutor | None = None
_pool_pid = -1
_limit: ContextVar[int | None] = ContextVar("tamiz_threads", default=None)

#: What ``n_jobs`` may be.
N_JOBS: list[Any] = [Integral, None]


def refuse_no_jobs(n_jobs: int | None) -> None:
    """Say that nobody is left to do the work."""
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 leaves no thread to work; use a positive number of threads, -1 for all, or "
            "None for the default."
        )


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Let tiles use at most ``n_jobs`` threads: of this caller, for as long as this lasts.

    Results do not depend on it. None leaves things as they are; negative numbers count from the
    number of threads, -1 being all of them. With one thread, BLAS is held to one as well.
    """
    refuse_no_jobs(n_jobs)
    if n_jobs is None:
        yield
        return
    most = n_threads()
    token = _limit.set(min(most, n_jobs) if n_jobs > 0 else max(1, most + 1 + n_jobs))
    try:
        if _limit.get() == 1:
            with one_blas_thread():
                yield
        else:
            yield
    finally:
        _limit.reset(token)


def n_threads() -> int:
    """Number of threads that tiles may use.

    That is the limit in force if there is one, else ``OMP_NUM_THREADS`` if set, else the usable
    cores.
    """
    limit = _limit.get()
    return _available() if limit is None else limit


def _available() -> int:
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
        _pool = ThreadPoolExecutor(max_workers=max(1, _available() - 1), thread_name_prefix="tamiz")
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
