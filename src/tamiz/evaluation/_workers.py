"""Who does the work, and what they are given: checks and workers that several functions share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from tamiz._parallel import limit_threads, refuse_no_jobs
from tamiz.search.judges import last_step
from tamiz.solvers import Status


def check_jobs(n_jobs: Any) -> int | None:
    """A number of workers, or None."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs={n_jobs!r} must be a whole number or None.")
    number = None if n_jobs is None else int(n_jobs)
    refuse_no_jobs(number)
    return number


def check_estimator(estimator: Any, name: str = "estimator") -> None:
    """Refuse a class, and what cannot be cloned and fitted."""
    if isinstance(estimator, type):
        raise TypeError(f"{name}={estimator.__name__} is a class; pass an object of it.")
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "fit"):
        raise TypeError(
            f"{name}={estimator!r} is no estimator; it needs fit and get_params, as those of "
            "scikit-learn have."
        )


def fit_to_the_end(machine: Any, *data: Any, **arguments: Any) -> Any:
    """Fit; machines of this package keep what they have at Ctrl-C, which is no answer here."""
    machine.fit(*data, **arguments)
    refuse_interrupted(machine)
    return machine


def refuse_interrupted(fitted: Any) -> None:
    """Take a fit, or a step of a pipeline, that ended at Ctrl-C for the Ctrl-C that it was."""
    for step in [fitted, *(step for _, step in getattr(fitted, "steps", []))]:
        if getattr(step, "status_", None) == str(Status.INTERRUPTED):
            raise KeyboardInterrupt


def preferred_workers(estimator: Any) -> str:
    """Threads for machines of this package, which let go of the interpreter; else processes."""
    home = type(last_step(estimator)).__module__.partition(".")[0]
    return "threads" if home == "tamiz" else "processes"


def run_jobs(
    function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], n_jobs: int | None, machine: Any
) -> Iterator[Any]:
    """Results of ``function(*job)`` in the order of the jobs, each as soon as it is known."""
    if effective_n_jobs(n_jobs) == 1:
        for job in jobs:
            yield function(*job)
        return
    prefer = preferred_workers(machine)
    work = _alone if prefer == "threads" else function
    first = (function,) if prefer == "threads" else ()
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    results = parallel(delayed(work)(*first, *job) for job in jobs)
    try:
        for result in results:  # noqa: UP028 (the warning below would come from inside)
            yield result
    finally:
        with warnings.catch_warnings():  # of jobs under way, when the caller has enough
            warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
            results.close()


def _alone(function: Callable[..., Any], *job: Any) -> Any:
    """One of several workers: it takes one thread only."""
    with limit_threads(1):
        return function(*job)
