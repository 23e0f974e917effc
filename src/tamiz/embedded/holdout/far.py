"""Hold-out elimination on a cluster: every worker has a judge of its own that keeps up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

from tamiz.runtime.workers import Crew, Shared


class KeepingUp:
    """What makes a judge, and on a worker the judge, from which what has left is taken out.

    Workers get the samples once, and make the matrices from them. A job says what has left by the
    step that it belongs to.

    Parameters
    ----------
    make : callable
        Makes a judge from which nothing has left.
    """

    def __init__(self, make: Callable[[], Any]):
        self.make = make
        self._judge: Any = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"make": self.make}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["make"])  # type: ignore[misc]

    def judge(self, removed: tuple[int, ...]) -> Any:
        """The judge at the step at which these units have left."""
        with self._lock:
            known = [] if self._judge is None else self._judge.removed
            if self._judge is None or tuple(known) != removed[: len(known)]:
                self._judge = self.make()
            for unit in removed[len(self._judge.removed) :]:
                self._judge.remove(unit)
            self._judge.refresh()
            return self._judge


class FarRun:
    """Does the jobs of a step on a cluster.

    Parameters
    ----------
    crew : Crew
        The workers.
    make : callable
        Makes the judge.
    """

    def __init__(self, crew: Crew, make: Callable[[], Any]):
        self.crew = crew
        self.shared = Shared(KeepingUp(make))

    def __call__(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """Results of a method of the judge."""
        judge = function.__self__  # type: ignore[attr-defined]
        removed = tuple(judge.removed)
        calls = [(function.__name__, removed, job) for job in jobs]
        with closing(self.crew.results(called, self.shared, calls)) as found:
            return list(found)


def called(there: KeepingUp, name: str, removed: tuple[int, ...], job: tuple[Any, ...]) -> Any:
    """On a worker: what the method ``name`` of the judge gives."""
    return getattr(there.judge(removed), name)(*job)
