"""Parameters: how they are given, and what they may be.

Estimators declare their parameters in scikit-learn's ``_parameter_constraints``. Functions declare
theirs with :func:`checked`, by the checks of this module: each takes the name and the value, and
returns the value as it is used, or raises a sentence that says what it may be.
"""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar, cast

Init = TypeVar("Init", bound=Callable[..., None])
Function = TypeVar("Function", bound=Callable[..., Any])
Check = Callable[[str, Any], Any]

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


def checked(**checks: Check) -> Callable[[Function], Function]:
    """Check the named parameters of a function before it runs.

    Each check is called as ``check(name, value)``, in the order in which they are listed, and what
    it returns takes the place of the value.

    Examples
    --------
    >>> from tamiz.validation import checked, integer_from, one_of
    >>> @checked(repeats=integer_from(1), rule=one_of("best", "1se"))
    ... def choose(repeats=5, rule="best"):
    ...     return repeats, rule
    >>> choose(rule="1se")
    (5, '1se')
    >>> choose(0)
    Traceback (most recent call last):
    ...
    ValueError: repeats=0 must be an integer from 1.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        unknown = checks.keys() - signature.parameters.keys()
        if unknown:
            raise TypeError(f"{function.__name__} has no parameter {min(unknown)!r}")

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            for name, check in checks.items():
                given.arguments[name] = check(name, given.arguments[name])
            return function(*given.args, **given.kwargs)

        return cast(Function, run)

    return decorate


def integer_from(least: int) -> Check:
    """The check for an integer from ``least``; see :func:`check_count`."""
    return lambda name, value: check_count(name, value, least)


def one_of(*allowed: Any) -> Check:
    """The check for one of a few values; see :func:`check_choice`."""
    return lambda name, value: check_choice(name, value, allowed)


def optional(check: Check) -> Check:
    """The same check, and None is fine too."""
    return lambda name, value: None if value is None else check(name, value)


def number_of_jobs(name: str, value: Any) -> int | None:
    """The check for a number of workers; see :func:`check_jobs`."""
    return check_jobs(value)


def fittable(name: str, value: Any) -> Any:
    """The check for what can be cloned and fitted; see :func:`check_estimator`."""
    check_estimator(value, name)
    return value


def check_level(name: str, value: Any) -> float:
    """A probability strictly between 0 and 1, such as ``confidence`` or ``alpha``."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < 1:
        return float(value)
    hint = " (95 % is 0.95)" if isinstance(value, Real) and 1 <= float(value) <= 100 else ""
    raise ValueError(f"{name}={value!r} must be a number between 0 and 1{hint}.")


def check_count(name: str, value: Any, least: int) -> int:
    """An integer from ``least``."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise ValueError(f"{name}={value!r} must be an integer from {least}.")


def check_choice(name: str, value: Any, allowed: Iterable[Any]) -> Any:
    """One of a few values: texts, or None."""
    known = list(allowed)
    if any(value is one or (isinstance(value, str) and value == one) for one in known):
        return value
    said = [repr(one) for one in known]
    words = ", ".join(said[:-1]) + f" or {said[-1]}"
    raise ValueError(f"{name}={value!r} is not understood; use {words}.")


def check_names(names: Any, n: int | None, of: str) -> list[str]:
    """Different names, one for each of the ``n`` things (None: as many as there are)."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        each = of if n is None else f"{n} {of}"
        raise ValueError(f"names={names!r} must be a list, one name for each of the {each}.")
    own = [str(name) for name in names]
    if n is not None and len(own) != n:
        raise ValueError(f"names holds {len(own)} names for {n} {of}.")
    twice = [name for name, times in Counter(own).items() if times > 1]
    if twice:
        raise ValueError(f"names holds {twice[0]!r} more than once.")
    return own


def check_budget(value: Any) -> float | None:
    """A number of seconds, or None."""
    if value is None:
        return None
    if not isinstance(value, Real) or not float(value) > 0:
        raise ValueError(f"time_budget={value!r} must be a positive number of seconds.")
    return float(value)


def check_resume(resume: Any, checkpoint: Any) -> None:
    """Refuse to resume from nothing."""
    if resume and checkpoint is None:
        raise ValueError("resume=True needs a file to resume from: pass checkpoint=path.")


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
