"""Parameters: how they are given, numbers of jobs, and estimators."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from numbers import Integral
from typing import Any, TypeVar, cast

Init = TypeVar("Init", bound=Callable[..., None])

#: What ``n_jobs`` may be.
N_JOBS: list[Any] = [Integral, None]


def by_keyword(init: Init) -> Init:
    """A constructor that still takes its keyword-only parameters by position, with a warning.

    ``n_features_to_select`` is the one parameter that selectors take by position, ``estimator``
    that of searches, and the first parameter that of machines. What was accepted beyond that goes
    on working until version 0.3. The signature is that of ``init``.
    """
    parameters = list(inspect.signature(init).parameters.values())[1:]
    names = [p.name for p in parameters]
    allowed = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)

    @wraps(init)
    def accept(self: Any, *args: Any, **kwargs: Any) -> None:
        if not allowed < len(args) <= len(names):
            init(self, *args, **kwargs)
            return
        late = dict(zip(names[allowed:], args[allowed:], strict=False))
        shown = ", ".join(f"{name}={value!r}" for name, value in late.items())
        warnings.warn(
            f"Pass {shown} to {type(self).__name__} by keyword; by position it will be an error "
            "from version 0.3 on.",
            FutureWarning,
            stacklevel=2,
        )
        init(self, *args[:allowed], **late, **kwargs)

    return cast(Init, accept)


def refuse_no_jobs(n_jobs: int | None) -> None:
    """Say that nobody is left to do the work."""
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 leaves no thread to work; use a positive number of threads, -1 for all, or "
            "None for the default."
        )


def check_jobs(n_jobs: Any) -> int | None:
    """A number of workers, or None."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs={n_jobs!r} must be an integer or None.")
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
