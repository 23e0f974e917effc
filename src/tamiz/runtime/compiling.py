"""Compiling on first use: announced when it happens, and measured, so that no budget pays."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from numba.core import event

_KIND = "numba:compile"


class CompileWatch(event.Listener):
    """Listens to numba while it is entered.

    Compiled functions are kept on disk, so that only the first run, or the first with another kind
    of table, compiles anything.

    Parameters
    ----------
    announce : callable, optional
        Called once, when the first function is compiled.
    compiled : callable, optional
        Called with the seconds that each took.

    Attributes
    ----------
    seconds : float
        Time spent on compiling.
    """

    def __init__(
        self,
        announce: Callable[[], None] | None = None,
        compiled: Callable[[float], None] | None = None,
    ):
        self.announce = announce
        self.compiled = compiled
        self.seconds = 0.0
        self._depth = 0
        self._began = 0.0
        self._announced = False

    def on_start(self, event: Any) -> None:
        """A function begins to be compiled; those that it calls are compiled inside."""
        if not self._depth:
            self._began = time.monotonic()
        self._depth += 1
        if not self._announced and self.announce is not None:
            self._announced = True
            self.announce()

    def on_end(self, event: Any) -> None:
        """A function is compiled."""
        self._depth -= 1
        if not self._depth:
            spent = time.monotonic() - self._began
            self.seconds += spent
            if self.compiled is not None:
                self.compiled(spent)

    def __enter__(self) -> CompileWatch:
        event.register(_KIND, self)
        return self

    def __exit__(self, *_: object) -> None:
        event.unregister(_KIND, self)
