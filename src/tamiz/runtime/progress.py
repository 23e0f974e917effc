"""A progress line on standard error, shown only when it helps.

Nothing appears before two seconds have passed (unless the work begins with a piece of unknown
length), when ``verbose`` is false, or when standard error is not a terminal (unless ``verbose`` is
2 or more).

Whoever wants to know of it without looking at a terminal is a :class:`Listener`
(:mod:`tamiz.callbacks` has one for callbacks of scikit-learn's kind).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol


class Listener(Protocol):
    """Follows the loops of one caller, and may end them."""

    def begin(self, label: str, most: int | None) -> bool:
        """A loop of at most so many steps begins; whether this listener follows it."""

    def step(self, message: str) -> None:
        """A step of the loop is done. May raise KeyboardInterrupt, as Ctrl-C would, or an error."""

    def end(self, *, failed: bool) -> None:
        """The loop has ended, by an exception or as it should."""

    def interruption(self, message: str) -> KeyboardInterrupt:
        """What says that the last loop was interrupted, and that nothing could be kept."""


#: Who listens to the loops that begin here; None is nobody. Threads and processes have their own.
listener: ContextVar[Listener | None] = ContextVar("tamiz_listener", default=None)


def interruption(message: str = "") -> KeyboardInterrupt:
    """To raise where a loop was interrupted before there was anything to keep.

    Whoever ended the loop by :meth:`Listener.step` recognises it; otherwise it is that of Ctrl-C.
    """
    heard = listener.get()
    return KeyboardInterrupt(message) if heard is None else heard.interruption(message)


def printable(text: str) -> str:
    """Text that a terminal only shows: control characters are spelled out, none is obeyed.

    Names of columns and cells come from files of others, and may hold sequences that move the
    cursor, change colours or set the title of a window.

    >>> printable("age\\x1b[2J\\n")
    'age\\\\x1b[2J\\n'
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode()
        for sign in text
    )


class Progress:
    """One line that is rewritten in place: what is done, how far, and for how long.

    Parameters
    ----------
    label : str
        What is being done.
    verbose : bool or int
        0 is silent, 1 shows the line on terminals, 2 also elsewhere (one line per update).
    delay : float, default=2.0
        Seconds before the first line appears.
    most : int, optional
        The largest number of updates, if it is known.

    Examples
    --------
    >>> with Progress("fitting", verbose=0) as progress:
    ...     progress.update("half-way")
    """

    def __init__(
        self,
        label: str,
        verbose: bool | int = 0,
        delay: float = 2.0,
        *,
        most: int | None = None,
    ):
        self.label = label
        self.most = most
        self._follower: Listener | None = None
        self.verbose = int(verbose)
        self.delay = delay
        self._started = self._last = time.perf_counter()
        self._width = 0

    def __enter__(self) -> Progress:
        found = listener.get()
        if found is not None and found.begin(self.label, self.most):
            self._follower = found
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        follower, self._follower = self._follower, None
        if follower is not None:
            follower.end(failed=kind is not None)

    @property
    def followed(self) -> bool:
        """Whether a listener follows this loop, and may end it."""
        return self._follower is not None

    def begin(self, message: str) -> None:
        """Show ``message`` at once: it may take long until there is something to update."""
        if self.verbose >= 2 or (self.verbose and sys.stderr.isatty()):
            self._show(message, time.perf_counter())

    def update(self, message: str) -> None:
        """A step is done: show ``message``, at most ten times a second.

        Where a listener wants the loop to end, this raises what Ctrl-C would.
        """
        if self._follower is not None:
            self._follower.step(message)
        now = time.perf_counter()
        if not self.verbose or now - self._started < self.delay or now - self._last < 0.1:
            return
        if not sys.stderr.isatty() and (self.verbose < 2 or now - self._last < self.delay):
            return
        self._show(message, now)

    def _show(self, message: str, now: float) -> None:
        self._last = now
        text = printable(f"{self.label}: {message} [{now - self._started:.0f} s]")
        if sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._width))
            self._width = max(self._width, len(text))
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the line."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


# ------------------------------------------------------------------------------------ compiling

#: Seconds of compiling after which it is announced in a terminal, where nobody listens.
_PATIENCE = 2.0

_listener: Callable[[str], None] | None = None
_announced = False


def listen_to_compiling(listener: Callable[[str], None] | None) -> None:
    """Have the first function that is compiled announced at once, by a sentence.

    By default the sentence is written to standard error if that is a terminal and compiling has
    taken two seconds already.
    """
    global _listener, _announced
    _listener, _announced = listener, False


def announce_compiling(module: str, seconds: float) -> None:
    """A function of ``module`` is about to be compiled; the first one was so many seconds ago."""
    global _announced
    if _announced:
        return
    sentence = (
        f"compiling, once: {module} and what else is needed is prepared for this machine and kept; "
        "later runs begin at once ('tamiz compile' prepares everything)"
    )
    if _listener is not None:
        _announced = True
        _listener(sentence)
    elif seconds > _PATIENCE and sys.stderr is not None and sys.stderr.isatty():
        _announced = True
        sys.stderr.write(f"tamiz: {sentence}\n")
        sys.stderr.flush()
