"""Calls of one function while a test runs: watched, slowed, interrupted, or divided."""

from __future__ import annotations

import _thread
import functools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import pytest

from tamiz.runtime.progress import Progress


class Call(NamedTuple):
    """What one call was given."""

    args: tuple[Any, ...]
    options: dict[str, Any]


@contextmanager
def _through(owner: Any, name: str, act: Callable[..., Any]) -> Iterator[list[Call]]:
    """Let every call of ``owner.name`` be ``act(its number, the real call)``; yields the calls.

    The number counts from 1, and is the length of what is yielded: a test may clear it.
    """
    real = getattr(owner, name)
    calls: list[Call] = []

    @functools.wraps(real, updated=())
    def called(*args: Any, **options: Any) -> Any:
        calls.append(Call(args, options))
        return act(len(calls), functools.partial(real, *args, **options))

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(owner, name, called)
        yield calls


def watched(owner: Any, name: str) -> AbstractContextManager[list[Call]]:
    """Note what every call of ``owner.name`` is given."""
    return _through(owner, name, lambda number, call: call())


def slowed(owner: Any, name: str, seconds: float) -> AbstractContextManager[list[Call]]:
    """Let every call of ``owner.name`` take so much longer, and no more of a processor's time."""

    def act(number: int, call: Callable[[], Any]) -> Any:
        time.sleep(seconds)
        return call()

    return _through(owner, name, act)


def clocked(
    owner: Any, name: str, clock: Any, seconds: float
) -> AbstractContextManager[list[Call]]:
    """Let every call of ``owner.name`` take so long by a clock of the test, ``clock.now``."""

    def act(number: int, call: Callable[[], Any]) -> Any:
        clock.now += seconds
        return call()

    return _through(owner, name, act)


def failing(
    owner: Any,
    name: str,
    error: type[BaseException] | BaseException,
    at: int | None = None,
    *,
    after: bool = False,
) -> AbstractContextManager[list[Call]]:
    """Raise an error in call number ``at`` of ``owner.name``, in every one if None.

    ``after``: when the call has done its work, instead of before.
    """

    def act(number: int, call: Callable[[], Any]) -> Any:
        due = at is None or number == at
        answer = call() if after or not due else None
        if due:
            raise error
        return answer

    return _through(owner, name, act)


def interrupted(
    owner: Any, name: str, at: int | None = 1, *, after: bool = False
) -> AbstractContextManager[list[Call]]:
    """Ctrl-C in call number ``at`` of ``owner.name``, where nothing inside catches it."""
    return failing(owner, name, KeyboardInterrupt, at, after=after)


def interrupted_inside(owner: Any, name: str, at: int) -> AbstractContextManager[list[Call]]:
    """Call number ``at`` of a solver catches Ctrl-C itself: its answer has that status."""

    def act(number: int, call: Callable[[], Any]) -> Any:
        answer = call()
        return answer._replace(status="interrupted") if number == at else answer

    return _through(owner, name, act)


def interrupted_soon() -> AbstractContextManager[list[Call]]:
    """Ctrl-C 0.3 s after a fit has begun its loop, not before: pytest would be hit instead."""

    def act(number: int, call: Callable[[], Any]) -> Any:
        threading.Timer(0.3, _thread.interrupt_main).start()
        return call()

    return _through(Progress, "__enter__", act)


def signalled(owner: Any, name: str, number: int, at: int) -> AbstractContextManager[list[Call]]:
    """A signal comes to this process in call number ``at`` of ``owner.name``."""

    def act(count: int, call: Callable[[], Any]) -> Any:
        if count == at:
            signal.raise_signal(number)
        return call()

    return _through(owner, name, act)


@contextmanager
def tiles_of_one(module: Any) -> Iterator[None]:
    """Let ``module`` work on every item alone, as if there were a thread for each."""

    def run_tiles(function: Callable[..., Any], n_items: int, *args: Any, **_: Any) -> list[Any]:
        return [function(k, k + 1, *args) for k in range(n_items)]

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(module, "run_tiles", run_tiles)
        yield
