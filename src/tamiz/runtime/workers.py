"""Who does the work: the caller, threads or processes of this machine, or a cluster.

Joblib decides, as everywhere else: by ``n_jobs``, and by ``joblib.parallel_config``. Under its
backend "dask" jobs go to the workers of the Dask client (:mod:`tamiz.runtime.dask`). A Dask client
alone changes nothing; the cluster is used where the caller says so. :func:`run_jobs` is the short
way; :func:`run_in_threads` is for pieces of one fit, which Ctrl-C ends at their next report.

Wherever a job is done, scikit-learn is configured as it is for the caller (metadata routing, kind
of output, …): by itself, its configuration is that of one thread.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config

from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads, n_threads


class Shared:
    """What all jobs need, such as the table. It travels to a worker once, not with every job.

    Parameters
    ----------
    value : object
        Threads get the object itself; processes get its large arrays as files in memory, which
        joblib writes once; workers of a cluster get one copy each, for as long as this exists.
    """

    def __init__(self, value: Any):
        self.value = value
        self.there: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # client -> handle


class Runner(ABC):
    """Runs jobs on workers.

    Attributes
    ----------
    n_workers : int
        How many jobs are done at a time.
    serial : bool
        Whether the caller is the only worker, so that passing on jobs gains nothing.
    remote : bool
        Whether jobs leave this machine's memory: what they change is not seen by the caller, and
        what the caller changes in something shared is not seen by them.
    """

    n_workers: int = 1
    serial: bool = False
    remote: bool = False

    @abstractmethod
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
        """Results of ``function(shared.value, *job)`` in the order of the jobs, one by one.

        Close the generator (``contextlib.closing``) to give up what is still to do.

        Parameters
        ----------
        function : callable
            Of a module, so that it can be sent.
        shared : Shared
            Its first argument.
        jobs : iterable of tuples
            The other arguments; taken as workers become free.
        prefer : {"threads", "processes"}, optional
            What workers of this machine are.
        at_once : int, optional
            At most so many workers.
        no_more_than_needed : bool, default=False
            Begin a job when a worker is free for it, and not before: jobs are long, and the last
            ones may not be wanted any more.
        """


class Configured:
    """A function that runs under the configuration of scikit-learn that was in force here."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._config = get_config()
        self.__name__ = getattr(function, "__name__", "job")

    def __call__(self, *args: Any) -> Any:
        with config_context(**self._config):
            return self._function(*args)


class SerialRunner(Runner):
    """The caller."""

    serial = True

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
        for job in jobs:
            yield function(shared.value, *job)


class LocalRunner(Runner):
    """Threads or processes, as joblib runs them."""

    def __init__(self, n_workers: int):
        self.n_workers = n_workers

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
        options: dict[str, Any] = {}
        function = Configured(function)
        workers = min(self.n_workers, at_once or self.n_workers)
        if no_more_than_needed and prefer == "threads" and _joblib_threads():
            yield from _threads(function, shared.value, iter(jobs), workers)
            return
        if no_more_than_needed:
            options = {"pre_dispatch": "n_jobs", "batch_size": 1}
        parallel = Parallel(
            n_jobs=workers,
            prefer=prefer,
            return_as="generator",
            **options,
        )
        # Of jobs under way when the caller has enough. A filter of warnings would not do: jobs in
        # threads change the filters at the same time.
        parallel._warn_exit_early = lambda: None
        yield from parallel(delayed(function)(shared.value, *job) for job in jobs)


def _joblib_threads() -> bool:
    """Whether nobody has asked joblib for another backend."""
    return get_active_backend()[0].__class__.__name__ in ("LokyBackend", "ThreadingBackend")


def _threads(
    function: Callable[..., Any], value: Any, jobs: Iterator[tuple[Any, ...]], workers: int
) -> Generator[Any, None, None]:
    """Results in the order of the jobs, by threads that end by themselves.

    When the caller has enough, no job is begun any more, and those under way are not waited for:
    what takes long in them looks at a sign of its own. The threads do not keep a program alive.
    """
    ready: dict[int, tuple[bool, Any]] = {}
    news = threading.Condition()
    given, ended, stopped = 0, False, False

    def work() -> None:
        nonlocal given, ended
        while True:
            with news:
                if stopped or ended:
                    return
                try:
                    job = next(jobs)
                except StopIteration:
                    ended = True
                    news.notify_all()
                    return
                except BaseException as error:  # of who makes the jobs
                    ready[given], given, ended = (False, error), given + 1, True
                    news.notify_all()
                    return
                number, given = given, given + 1
            try:
                result = (True, function(value, *job))
            except BaseException as error:
                result = (False, error)
            with news:
                ready[number] = result
                news.notify_all()

    for k in range(workers):
        threading.Thread(target=work, daemon=True, name=f"tamiz-worker-{k}").start()
    try:
        number = 0
        while True:
            with news:
                while number not in ready:
                    if ended and number >= given:
                        return
                    news.wait()
                fine, result = ready.pop(number)
            if not fine:
                raise result
            yield result
            number += 1
    finally:
        stopped = True


def find_runner(n_jobs: int | None) -> Runner:
    """The workers that ``n_jobs`` and the surrounding ``joblib.parallel_config`` ask for.

    On a cluster None and -1 stand for all of its workers, a positive number for at most so many
    at a time, and 1 for the caller. A job that is on a cluster already passes nothing on.
    """
    backend = get_active_backend()[0]
    if type(backend).__module__ == "joblib._dask":
        from tamiz.runtime.dask import DaskRunner, inside_a_task

        return SerialRunner() if n_jobs == 1 or inside_a_task() else DaskRunner(backend, n_jobs)
    n_workers = effective_n_jobs(n_jobs)
    return SerialRunner() if n_workers == 1 else LocalRunner(n_workers)


def run_jobs(
    function: Callable[..., Any],
    shared: Any,
    jobs: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    prefer: str,
) -> Generator[Any, None, None]:
    """Results of ``function(shared, *job)`` in the order of the jobs, each as soon as it is known.

    ``shared`` goes to every worker once. Where several threads work (``prefer="threads"``), each
    job uses one thread only.
    """
    runner = find_runner(n_jobs)
    if runner.serial or prefer != "threads":
        return runner.results(function, Shared(shared), jobs, prefer=prefer)
    return runner.results(_in_one_thread, Shared((function, shared)), jobs, prefer=prefer)


def _in_one_thread(work: tuple[Callable[..., Any], Any], *job: Any) -> Any:
    function, shared = work
    with limit_threads(1):
        return function(shared, *job)


class _Stoppable(Progress):
    """Silent, since lines written by several threads at once would be torn; passes on Ctrl-C."""

    def __init__(self, label: str, stop: threading.Event):
        super().__init__(label)
        self._stop = stop

    def update(self, message: str) -> None:
        """Raise KeyboardInterrupt in this thread once the main one has had it."""
        if self._stop.is_set():
            raise KeyboardInterrupt


def run_in_threads(
    function: Callable[[Any, Progress], Any], items: Sequence[Any], label: str
) -> list[Any]:
    """``function(item, progress)`` of each item; None where Ctrl-C left nothing.

    As many threads as :func:`~tamiz.runtime.threads.limit_threads` allows, one item at a time
    each.

    Ctrl-C comes to the main thread alone. Here it goes on to the others at their next
    ``progress.update``; the pieces that had not begun are left out, and the threads are waited for:
    one left behind inside a solver would bring down the process when that ends.
    """
    stop = threading.Event()

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
