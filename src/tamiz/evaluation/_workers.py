"""Who does the work, and what they are given: checks and workers that several functions share."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from numbers import Integral
from typing import Any

from tamiz.runtime.parallel import limit_threads, refuse_no_jobs
from tamiz.runtime.workers import Shared, crew_of
from tamiz.search.judges import last_step
from tamiz.solvers import Status
from tamiz.validation.unscaled import inner_fit


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
    with inner_fit():
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
    function: Callable[..., Any],
    shared: Any,
    jobs: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    machine: Any,
) -> Generator[Any, None, None]:
    """Results of ``function(shared, *job)`` in the order of the jobs, each as soon as it is known.

    ``shared`` goes to every worker once (:mod:`tamiz.runtime.workers`).
    """
    crew = crew_of(n_jobs)
    prefer = preferred_workers(machine)
    if crew.alone or prefer != "threads":
        return crew.results(function, Shared(shared), jobs, prefer=prefer)
    return crew.results(_alone, Shared((function, shared)), jobs, prefer=prefer)


def _alone(work: tuple[Callable[..., Any], Any], *job: Any) -> Any:
    """One of several workers: it takes one thread only."""
    function, shared = work
    with limit_threads(1):
        return function(shared, *job)
