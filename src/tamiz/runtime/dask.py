"""Jobs on the workers of a Dask cluster.

Joblib's own backend would send what jobs share to one worker and lose it with that worker, and
would wait forever for a job whose worker has died. Here the shared object is copied to every
worker once, jobs carry a handle to it, and what was lost with a worker is sent again. Jobs
of a worker that dies are given to another one by Dask itself.
"""

from __future__ import annotations

import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError
from itertools import islice
from typing import Any

from tamiz.runtime.threads import limit_threads
from tamiz.runtime.workers import Configured, Runner, Shared

#: A batch, the jobs sent to a worker in one message, should take at least this many seconds.
_WORTH_A_MESSAGE = 0.2
#: How often a batch is sent again when what it needs was lost with all workers that held it.
_ATTEMPTS = 5
#: Seconds to wait for a worker when none is left.
_PATIENCE = 60.0
#: Seconds between two checks of the workers and the batches.
_LOOK = 2.0


def inside_a_task() -> bool:
    """Whether this is a worker's thread, at work on a task of a cluster."""
    from distributed.worker import thread_state

    return hasattr(thread_state, "execution_state")


class Box:
    """Wraps the shared object: Dask would send a list or a dictionary as many objects."""

    def __init__(self, value: Any):
        self.value = value


class JobBatch:
    """Jobs sent to a worker in one message."""

    def __init__(self, jobs: list[tuple[Any, ...]]):
        self.jobs = jobs
        self.attempts = 0
        self.handle: Any = None
        self.future: Any = None

    @property
    def lost(self) -> bool:
        return self.future.status in ("cancelled", "lost")

    @property
    def done(self) -> bool:
        return self.future.status in ("finished", "error")


class DaskRunner(Runner):
    """The workers of a Dask client.

    Parameters
    ----------
    backend : joblib's backend for Dask
        Where the client comes from.
    n_jobs : int or None
        Maximum number of jobs at a time; None or a negative number for all threads of all workers.

    Attributes
    ----------
    largest_batch : int
        Bytes of the largest message with jobs.
    """

    remote = True

    def __init__(self, backend: Any, n_jobs: int | None):
        self.client = backend.client
        self._most = n_jobs if n_jobs is not None and n_jobs > 0 else None
        self._threads = max(1, backend.effective_n_jobs(-1))  # waits for the first worker
        self._counted = time.monotonic()
        self._seconds: float | None = None  # of a job, as far as known
        self.largest_batch = 0

    @property
    def n_workers(self) -> int:  # type: ignore[override]
        if time.monotonic() - self._counted > _LOOK:  # workers come and go
            found = sum(self.client.ncores().values())
            if not found:
                self._wait_for_a_worker()
            self._threads, self._counted = max(1, found), time.monotonic()
        return self._threads if self._most is None else min(self._threads, self._most)

    def results(
        self,
        function: Callable[..., Any],
        shared: Shared,
        jobs: Iterable[tuple[Any, ...]],
        *,
        prefer: str | None = None,
        at_once: int | None = None,
        no_more_than_needed: bool = False,
    ) -> Generator[Any, None, None]:
        function = Configured(function)
        waiting = iter(jobs)
        left = len(jobs) if isinstance(jobs, list) else None
        window: deque[JobBatch] = deque()
        ahead = 1 if no_more_than_needed else 2
        try:
            while True:
                open_places = ahead * self.n_workers - sum(not batch.done for batch in window)
                for _ in range(open_places):
                    size = 1 if no_more_than_needed else self._size(left)
                    some = list(islice(waiting, size))
                    if not some:
                        break
                    left = None if left is None else left - len(some)
                    window.append(JobBatch(some))
                    self._send(window[-1], function, shared)
                if not window:
                    return
                content = self._content(window[0]) if window[0].done else None
                if content is not None:
                    window.popleft()
                    yield from content[0]
                    if content[1] is not None:
                        raise content[1]
                    continue
                self._wait(window)
                for batch in window:
                    if batch.lost:
                        self._send(batch, function, shared)
        finally:
            if window:  # the caller has enough, or was interrupted
                self.client.cancel([batch.future for batch in window])

    def _size(self, left: int | None) -> int:
        """Number of jobs in a batch: worth a message, but few enough to keep all workers busy."""
        if self._seconds is None:
            return 1
        size = max(1, int(_WORTH_A_MESSAGE / max(self._seconds, 1e-6)))
        return size if left is None else max(1, min(size, left // (2 * self.n_workers)))

    def _send(self, batch: JobBatch, function: Callable[..., Any], shared: Shared) -> None:
        from distributed.protocol.pickle import dumps

        batch.attempts += 1
        if batch.attempts > _ATTEMPTS:
            raise RuntimeError(
                f"The Dask cluster lost a job {_ATTEMPTS} times, with all workers that held its "
                "data. Look at the workers' logs: they may be short of memory, or the connection "
                "to the scheduler may be gone."
            )
        if batch.handle is not None and shared.there.get(self.client) is batch.handle:
            del shared.there[self.client]  # the shared object was lost with the workers
        batch.handle = self._handle(shared, again=batch.attempts > 1)
        # as bytes: Dask looks for graphs in lists and tuples, and would take a job for one
        message = dumps((function, batch.jobs))
        self.largest_batch = max(self.largest_batch, len(message))
        name = f"tamiz-{getattr(function, '__name__', 'job').strip('_')}"
        batch.future = self.client.submit(do, batch.handle, message, key=_key(name), pure=False)

    def _handle(self, shared: Shared, again: bool) -> Any:
        """The handle to the shared object that jobs carry.

        At first it is copied to all workers. If lost, or if a worker is lost while it is copied, it
        is made by a task: that goes through the scheduler, but never to a worker that is dead and
        not yet known to be so, and Dask can do it again by itself.
        """
        if self.client not in shared.there:
            self._wait_for_a_worker()
            box = Box(shared.value)
            copied = None if again else self._copied(box)
            shared.there[self.client] = self._by_task(box) if copied is None else copied
        return shared.there[self.client]

    def _copied(self, box: Box) -> Any:
        """The handle to copies on all workers; None if some worker is not there any more."""
        try:
            return self.client.scatter([box], broadcast=True, hash=False)[0]
        except (OSError, KeyError, ValueError):  # what scheduler and connections say of it
            return None

    def _by_task(self, box: Box) -> Any:
        from distributed.protocol.pickle import dumps

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="(?s).*[Ll]arge")  # which is known
            return self.client.submit(unpacked, dumps(box), key=_key("tamiz-shared"), pure=False)

    def _wait_for_a_worker(self) -> None:
        from distributed import TimeoutError as DaskTimeoutError

        try:
            self.client.wait_for_workers(1, timeout=_PATIENCE)
        except (TimeoutError, DaskTimeoutError) as error:
            raise RuntimeError(
                f"The Dask cluster has had no worker for {_PATIENCE:g} seconds; start one and run "
                "this again (with a checkpoint, what was done is kept)."
            ) from error

    def _wait(self, window: deque[JobBatch]) -> None:
        """Wait until a batch is finished, or the next check is due."""
        from distributed import TimeoutError as DaskTimeoutError
        from distributed import wait

        try:
            with self.client.as_current():
                wait(
                    [batch.future for batch in window if not batch.done],
                    timeout=_LOOK,
                    return_when="FIRST_COMPLETED",
                )
        except (TimeoutError, DaskTimeoutError, CancelledError):
            return  # the status of each batch says whether it is lost

    def _content(self, batch: JobBatch) -> tuple[list[Any], Exception | None] | None:
        """Results of a batch, and the failure that ended them; None if lost with a worker."""
        from distributed import KilledWorker

        try:
            found, error, seconds = batch.future.result()
        except CancelledError:
            return None
        except KilledWorker as killed:
            raise RuntimeError(
                "A job took down one worker of the Dask cluster after another. It may need more "
                "memory than a worker has: use fewer threads for each worker, or larger workers."
            ) from killed
        if found:
            mean = seconds / len(found)
            self._seconds = mean if self._seconds is None else 0.7 * self._seconds + 0.3 * mean
        return found, error


def _key(name: str) -> str:
    from uuid import uuid4

    return f"{name}-{uuid4().hex}"


def unpacked(message: bytes) -> Any:
    """On a worker: unpickle what was sent as bytes."""
    from distributed.protocol.pickle import loads

    return loads(message)


def do(box: Box, message: bytes) -> tuple[list[Any], Exception | None, float]:
    """On a worker: the results of the jobs up to the first that fails, and its failure.

    Each job takes one thread. Dask gives a worker as many jobs at a time as it has threads.
    """
    from distributed.protocol.pickle import dumps, loads

    function, jobs = unpacked(message)
    began = time.perf_counter()
    found: list[Any] = []
    with limit_threads(1):
        for job in jobs:
            try:
                found.append(function(box.value, *job))
            except Exception as error:
                error.add_note(f"On a worker of the cluster:\n{traceback.format_exc()}")
                try:
                    loads(dumps(error))
                except Exception:  # it holds what cannot be sent, or cannot be made again there
                    error = RuntimeError(f"{type(error).__name__}: {error}")
                return found, error, time.perf_counter() - began
    return found, None, time.perf_counter() - began
