"""Fits that count only when they came to their end, and the workers that suit an estimator."""

from __future__ import annotations

from typing import Any

from tamiz.search.judges import last_step
from tamiz.solvers import Status
from tamiz.validation import inner_fit


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
