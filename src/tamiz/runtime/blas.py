"""Products inside our own threads: one BLAS thread each.

A BLAS library keeps threads of its own and lets them spin for some time after every call. Calls
that alternate with tiles on our thread pool then fight over the same cores and run several times
slower than on one thread. Where tiles contain products, the tiles are what is shared between
threads, and BLAS is held to one thread for as long as they run. The same goes for loops of many
small products.

Most libraries have one limit for the whole process: the first holder sets it, and the last one,
whichever thread it is in, puts back what was there. Libraries built on OpenMP have a limit for each
thread, which every thread sets and puts back for itself.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SMALL, LARGE = 200_000, 20_000_000  # multiplications

_lock = threading.Lock()


class _Hold:
    """Libraries held to one thread as long as there are holders. Use it under the lock."""

    def __init__(self, per_thread: bool):
        self.per_thread = per_thread
        self.holders = 0
        self.before: list[tuple[Any, int]] = []

    def take(self) -> None:
        if not self.before:  # else a take that was interrupted has noted them already
            libraries = [lib for lib in _libraries() if _is_per_thread(lib) == self.per_thread]
            numbers = [(lib, lib.get_num_threads()) for lib in libraries]
            self.before = [(lib, number) for lib, number in numbers if number is not None]
        if self.holders == 0:
            _set([(lib, 1) for lib, _ in self.before])
        self.holders += 1

    def leave(self) -> None:
        if self.holders == 0:
            return  # it was taken before a fork, in the parent
        self.holders -= 1
        if self.holders == 0:
            self.restore()

    def restore(self) -> None:
        self.holders = 0
        _set(self.before)
        self.before = []


class _Own(threading.local):
    """The hold of each thread."""

    def __init__(self) -> None:
        self.hold = _Hold(per_thread=True)


_shared = _Hold(per_thread=False)
_own = _Own()
_known: list[Any] = []
_n_modules = 0  # loaded when the libraries were looked up


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; the last of several users at once restores what was before."""
    own = _own.hold
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
    """In a forked child the other holders are gone."""
    global _lock
    _lock = threading.Lock()
    _shared.restore()
    _own.hold.restore()


if hasattr(os, "register_at_fork"):
    # no other thread may be inside a library's setting when the process forks
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_after_fork,
    )
