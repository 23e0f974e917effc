"""Threads: a pool for compiled functions that release the GIL, and BLAS limited to one thread.

numba's own ``prange`` needs a threading layer, and the layers differ in what they survive: one
aborts the process when two Python threads enter it, another when the process forks. Tiles given
to ordinary threads have neither problem, cost some tens of microseconds, and keep the compiled
functions small enough to be cached on disk.

A BLAS library keeps threads of its own and lets them spin for some time after every call. Calls
that alternate with tiles on our thread pool then compete for the same cores and run several times
slower than on one thread. Where tiles contain products, the tiles are what is divided among
threads, and BLAS is limited to one thread for as long as they run. The same goes for loops of many
small products. Most libraries have one limit for the whole process: the first user sets it, and
the last one, whichever thread it is in, puts back what was there. Libraries built on OpenMP have a
limit for each thread, which every thread sets and puts back for itself.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any

from tamiz.validation import refuse_no_jobs

_pool: ThreadPoolExecutor | None = None
_pool_pid = -1
_forked = False  # whether this process came about by a fork
_limit: ContextVar[int | None] = ContextVar("tamiz_threads", default=None)


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Let tiles use at most ``n_jobs`` threads: of this caller, for as long as this lasts.

    Results do not depend on it. None leaves things as they are; negative numbers count from the
    number of threads, -1 being all of them. With one thread, BLAS is limited to one as well.
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


def openmp_threads() -> int:
    """Number of threads for libraries that run OpenMP: one in a forked process.

    The threads of the parent are not there after a fork, and some implementations (GNU's) wait for
    them without end.
    """
    return 1 if _forked else n_threads()


def _available() -> int:
    requested = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if requested.isdigit() and int(requested) > 0:
        return int(requested)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every platform has it
        return os.cpu_count() or 1


def _get_pool() -> ThreadPoolExecutor:
    global _pool, _pool_pid
    if _pool is None or _pool_pid != os.getpid():  # threads do not survive a fork
        _pool = ThreadPoolExecutor(max_workers=max(1, _available() - 1), thread_name_prefix="tamiz")
        _pool_pid = os.getpid()
    return _pool


class _Tiles:
    """The tiles of one call: threads take the next one until there is none, or they are stopped.

    No lock is held: a thread says that it begins before it looks whether it may, and whoever stops
    it says so before looking at who has begun, so that one of them sees the other. Taking the next
    number of a count is one step of the interpreter.
    """

    __slots__ = ("_args", "_begun", "_cuts", "_ended", "_function", "_next", "_stopped", "results")

    def __init__(self, function: Callable[..., Any], cuts: list[int], args: tuple[Any, ...]):
        self._function = function
        self._cuts = cuts
        self._args = args
        self._next = count(1)  # the first is the caller's
        self._begun: list[None] = []
        self._ended: list[None] = []
        self._stopped = False
        self.results: list[Any] = [None] * (len(cuts) - 1)

    def work(self) -> None:
        """Do tiles in a thread of the pool, unless it is too late to begin."""
        _limit.set(1)  # tiles of a tile would wait for threads that wait for theirs
        self._begun.append(None)
        try:
            self.take(next(self._next))
        except BaseException:
            self._stopped = True
            raise
        finally:
            self._ended.append(None)

    def take(self, k: int) -> None:
        """Do tile ``k``, and then whichever nobody has begun."""
        cuts = self._cuts
        while k < len(self.results) and not self._stopped:
            self.results[k] = self._function(cuts[k], cuts[k + 1], *self._args)
            k = next(self._next)

    def stop(self, stop: threading.Event | None) -> None:
        """Let no tile begin, and wait for those at work, even if Ctrl-C comes again."""
        while True:
            try:
                self._stopped = True
                if stop is not None:
                    stop.set()
                while len(self._ended) < len(self._begun):
                    time.sleep(0.001)
                return
            except KeyboardInterrupt:
                continue


def run_tiles(
    function: Callable[..., Any],
    n_items: int,
    *args: Any,
    min_items: int = 1,
    max_items: int | None = None,
    stop: threading.Event | None = None,
) -> list[Any]:
    """Call ``function(start, stop, *args)`` on ranges that cover ``range(n_items)``.

    The calling thread does its part, and what others have not begun, so a thread that is slow to
    wake is never waited for. The result is the list of return values in the order of the ranges.
    The function must release the GIL to gain anything, and must write to disjoint places for
    different ranges. Tiles that a thread of the pool asks for are all done by that thread.

    Ctrl-C comes to the main thread alone, and an error to one. Either way nobody is at work any
    more when the exception reaches the caller: ranges that had not begun are left out, and those
    under way are waited for, since their threads write to the caller's arrays.

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
    max_items : int, optional
        Ranges are no longer than this, whatever the number of threads, and threads that are done
        earlier take more of them. By default there are as many ranges as threads. Where items
        differ in their work, or cores in their speed, ranges of a few milliseconds end together.
    stop : threading.Event, optional
        Set before ranges under way are waited for. A function that takes long looks at it now
        and then, and returns early.
    """
    threads = min(n_threads(), max(1, n_items // max(1, min_items)))
    pieces = threads if max_items is None else max(threads, -(-n_items // max(1, max_items)))
    if pieces <= 1:
        return [function(0, n_items, *args)]
    tiles = _Tiles(function, [n_items * k // pieces for k in range(pieces + 1)], args)
    try:
        pool = _get_pool() if threads > 1 else None
        futures = [pool.submit(tiles.work) for _ in range(1, threads)] if pool is not None else []
        tiles.take(0)
        for future in futures:
            if not future.cancel():
                future.result()
        return tiles.results
    except BaseException:
        tiles.stop(stop)
        raise


# -------------------------------------------------------------------------------- BLAS

SMALL, LARGE = 200_000, 20_000_000  # multiplications

_lock = threading.Lock()


class _Limit:
    """Libraries held to one thread as long as there are users. Use it under the lock."""

    def __init__(self, per_thread: bool):
        self.per_thread = per_thread
        self.users = 0
        self.before: list[tuple[Any, int]] = []

    def take(self) -> None:
        if not self.before:  # else a take that was interrupted has noted them already
            libraries = [lib for lib in _libraries() if _is_per_thread(lib) == self.per_thread]
            numbers = [(lib, lib.get_num_threads()) for lib in libraries]
            self.before = [(lib, number) for lib, number in numbers if number is not None]
        if self.users == 0:
            _set([(lib, 1) for lib, _ in self.before])
        self.users += 1

    def leave(self) -> None:
        if self.users == 0:
            return  # it was taken before a fork, in the parent
        self.users -= 1
        if self.users == 0:
            self.restore()

    def restore(self) -> None:
        self.users = 0
        _set(self.before)
        self.before = []


class _Own(threading.local):
    """The limit of each thread."""

    def __init__(self) -> None:
        self.limit = _Limit(per_thread=True)


_shared = _Limit(per_thread=False)
_own = _Own()
_known: list[Any] = []
_n_modules = 0  # loaded when the libraries were looked up


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; the last of several users at once restores what was before."""
    own = _own.limit
    with _lock:
        _shared.take()
        own.take()
    try:
        yield
    finally:
        with _lock:
            own.leave()
            _shared.leave()


def product(A: Any, B: Any) -> Any:
    """``A @ B``, by one thread if it is too small to repay the waking and stopping of others."""
    work = A.shape[0] * A.shape[1] * B.shape[-1]
    if not SMALL < work < LARGE:  # the smallest are left to one thread by BLAS itself
        return A @ B
    with one_blas_thread():
        return A @ B


def _libraries() -> list[Any]:
    """The BLAS libraries; looked up again when modules were imported, which may bring another."""
    global _known, _n_modules
    if _n_modules != len(sys.modules):
        from threadpoolctl import ThreadpoolController

        _n_modules = len(sys.modules)
        _known = list(ThreadpoolController().select(user_api="blas").lib_controllers)
    return _known


def _is_per_thread(lib: Any) -> bool:
    return lib.internal_api == "openblas" and getattr(lib, "threading_layer", None) == "openmp"


def _set(limits: list[tuple[Any, int]]) -> None:
    """Set the limits, in whichever thread this is.

    From 3.8 on threadpoolctl lets one thread set the limit of OpenBLAS and passes over the others
    in silence. Who may set it is decided here, by the lock; so its claim is dropped, before and
    after.
    """
    claimed = {type(lib) for lib, _ in limits if hasattr(lib, "clear_controlling_thread")}
    for kind in claimed:
        kind.clear_controlling_thread(force=True)
    for lib, number in limits:
        lib.set_num_threads(number)
    for kind in claimed:
        kind.clear_controlling_thread(force=True)


def _after_fork() -> None:
    """In a forked child the other users are gone."""
    global _lock, _forked
    _lock = threading.Lock()
    _forked = True
    _shared.restore()
    _own.limit.restore()


if hasattr(os, "register_at_fork"):
    # no other thread may be inside a library's setting when the process forks
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_after_fork,
    )
