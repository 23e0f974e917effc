"""Pieces of one fit in threads, and Ctrl-C among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from tamiz.runtime.parallel import limit_threads, n_threads
from tamiz.runtime.progress import Progress


class _Stoppable(Progress):
    """Silent, since lines written by several threads at once would be torn; hands on Ctrl-C."""

    def __init__(self, label: str, stop: Event):
        super().__init__(label)
        self._stop = stop

    def update(self, message: str) -> None:
        """Raise KeyboardInterrupt in this thread once the main one has had it."""
        if self._stop.is_set():
            raise KeyboardInterrupt


def in_threads(
    function: Callable[[Any, Progress], Any], items: Sequence[Any], label: str
) -> list[Any]:
    """``function(item, progress)`` of each item; None where Ctrl-C left nothing.

    As many threads as :func:`~tamiz.runtime.parallel.limit_threads` allows, one item at a time
    each.

    Ctrl-C comes to the main thread alone. Here it goes on to the others at their next
    ``progress.update``; the pieces that had not begun are left out, and the threads are waited for:
    one left behind inside a solver would bring down the process when that ends.
    """
    stop = Event()

    def piece(item: Any) -> Any:
        with limit_threads(1):
            try:
                return None if stop.is_set() else function(item, _Stoppable(label, stop))
            except KeyboardInterrupt:
                return None

    n_workers = min(n_threads(), len(items))
    with ThreadPoolExecutor(max_workers=n_workers, thread_name_prefix="tamiz-fit") as pool:
        futures = [pool.submit(piece, item) for item in items]
        try:
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            stop.set()
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            raise
