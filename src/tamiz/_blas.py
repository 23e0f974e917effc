"""Products inside our own threads: one BLAS thread each.

A BLAS library keeps threads of its own and lets them spin for some time after every call. Calls
that alternate with tiles on our thread pool then fight over the same cores and run several times
slower than on one thread. Where tiles contain products, the tiles are what is shared between
threads, and BLAS is held to one thread for as long as they run. The same goes for loops of many
small products.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SMALL, LARGE = 200_000, 20_000_000  # multiplications

_lock = threading.Lock()
_users = 0
_limiter: Any = None
_controller: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; the last of several users at once restores what was before."""
    global _users
    with _lock:
        if _users == 0:
            _hold()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _release()


def product(A: Any, B: Any) -> Any:
    """``A @ B``, by one thread if it is too small to repay the waking and stopping of others."""
    work = A.shape[0] * A.shape[1] * B.shape[-1]
    if not SMALL < work < LARGE:  # the smallest are left to one thread by BLAS itself
        return A @ B
    with one_blas_thread():
        return A @ B


def _hold() -> None:
    global _controller, _limiter
    if _controller is None:
        from threadpoolctl import ThreadpoolController

        _controller = ThreadpoolController()
    _limiter = _controller.limit(limits=1, user_api="blas")


def _release() -> None:
    global _limiter
    if _limiter is not None:
        _limiter.restore_original_limits()
        _limiter = None


def _after_fork() -> None:
    """In a forked child the other users are gone, and so is whoever held the lock."""
    global _lock, _users
    _lock = threading.Lock()
    _users = 0
    _release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
