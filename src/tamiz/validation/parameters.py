"""Parameters: how they are given, and what they may be.

Estimators declare their parameters in scikit-learn's ``_parameter_constraints``. Functions declare
theirs with :func:`checked`, by the checks of this module: each takes the name and the value, and
returns the value as it is used, or raises a sentence that says what it may be.

Where a method needs one scale, features of quite different spread are warned of.
Distances, inner products and penalties add up what the features say, each in its own unit: a
feature in large units then decides alone. The check looks at a sample of the rows and costs far
less than a fit.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar, cast

import numpy as np

from tamiz.validation.errors import ParameterError, refused

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


def checked(
    error: type[ValueError] = ParameterError, /, **checks: Check
) -> Callable[[Function], Function]:
    """Check the named parameters of a function before it runs.

    Each check is called as ``check(name, value)``, in the order in which they are listed, and what
    it returns takes the place of the value. A value that is refused raises ``error``, the error of
    the room where it has one of its own.

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
    tamiz.validation.errors.ParameterError: repeats=0 must be an integer from 1.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        called = function.__name__
        if called == "__init__":  # users know the class
            called = function.__qualname__.split(".")[-2]
        unknown = checks.keys() - signature.parameters.keys()
        if unknown:
            raise TypeError(f"{function.__name__} has no parameter {min(unknown)!r}")

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                given = signature.bind(*args, **kwargs)
            except TypeError as wrong:
                raise TypeError(f"{called}() {wrong}") from None
            given.apply_defaults()
            for name, check in checks.items():
                given.arguments[name] = check_as(error, check, name, given.arguments[name])
            return function(*given.args, **given.kwargs)

        return cast(Function, run)

    return decorate


def check_as(error: type[ValueError], check: Check, name: str, value: Any) -> Any:
    """What a check returns; a value that is refused raises ``error``."""
    try:
        return check(name, value)
    except ValueError as wrong:
        if isinstance(wrong, error):
            raise
        raise error(str(wrong)) from None


class PartRefused(ParameterError):
    """A part of a value is refused: the sentence says what that part may be, not the whole."""


def optional(check: Check) -> Check:
    """The same check, and None is fine too."""

    def check_unless_none(name: str, value: Any) -> Any:
        if value is None:
            return None
        try:
            return check(name, value)
        except PartRefused:
            raise
        except ValueError as wrong:
            text = f"{str(wrong).removesuffix('.')}, or None."
            raise ParameterError(text, parameter=name, value=value) from None

    return check_unless_none


def each_value(check: Check, example: str) -> Check:
    """The check for a dict, by a check of each of its values."""

    def check_each(name: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise refused(name, value, f"is not understood; give a dict such as {example}.")
        for key, one in value.items():
            try:
                check(f"{name}[{key!r}]", one)
            except ValueError as wrong:
                raise PartRefused(str(wrong), parameter=name, value=value) from None
        return value

    return check_each


def one_of(*allowed: Any) -> Check:
    """The check for one of a few values: texts, None or NaN."""

    def check_choice(name: str, value: Any) -> Any:
        for one in allowed:
            if value is one or (isinstance(value, str) and value == one):
                return one
            if isinstance(one, float) and isinstance(value, Real) and math.isnan(value):
                return one
        said = [repr(one) for one in allowed]
        words = " or ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)
        raise refused(name, value, f"is not understood; use {words}.")

    return check_choice


def integer_from(least: int, most: int | None = None, *, of: str = "") -> Check:
    """The check for an integer from ``least`` to ``most``; ``of`` says what it counts."""
    kind = "integer" if not of else f"integer number of {of}"
    span = f"{least}" if most is None else f"{least} to {most:,}"

    def check_integer(name: str, value: Any) -> int:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if whole and least <= int(value) and (most is None or int(value) <= most):
            return int(value)
        raise refused(name, value, f"must be an {kind} from {span}.")

    return check_integer


def real_number(
    *,
    least: float | None = None,
    above: float = -math.inf,
    finite: bool = True,
    of: str = "",
    hint: str = "",
    words: tuple[str, ...] = (),
) -> Check:
    """The check for a number from ``least`` or above ``above``, or one of a few words.

    ``of`` says what is counted, ``hint`` is the end of the sentence.
    """
    kind = "number" if not of else f"number of {of}"
    if least is not None:
        kind += f" from {least:g}"
    elif above > -math.inf:
        kind += f" above {above:g}"
    kind += "".join(f" or {word!r}" for word in words)

    def check_number(name: str, value: Any) -> float | str:
        if isinstance(value, str) and value in words:
            return value
        if isinstance(value, Real) and not isinstance(value, bool):
            found = _as_float(value)
            enough = found > above if least is None else found >= least
            if enough and (found < math.inf or not finite):
                return found
        raise refused(name, value, f"must be a {kind}{hint}.")

    return check_number


def _as_float(value: Any) -> float:
    """A number as floating-point number; infinite if it is beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_level(name: str, value: Any) -> float:
    """The check for a number strictly between 0 and 1, such as ``confidence`` or ``alpha``."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < _as_float(value) < 1:
        return float(value)
    hint = " (95 % is 0.95)" if isinstance(value, Real) and 1 <= _as_float(value) <= 100 else ""
    raise refused(name, value, f"must be a number between 0 and 1{hint}.")


def fraction(name: str, value: Any) -> float:
    """The check for a number above 0 and at most 1."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < _as_float(value) <= 1:
        return float(value)
    raise refused(name, value, "must be a number above 0 and at most 1.")


def or_word(check: Check, *words: str) -> Check:
    """The same check, and some words are fine too."""

    def check_unless_word(name: str, value: Any) -> Any:
        if isinstance(value, str) and value in words:
            return value
        try:
            return check(name, value)
        except ValueError as wrong:
            said = " or ".join(map(repr, words))
            text = f"{str(wrong).removesuffix('.')}, or {said}."
            raise ParameterError(text, parameter=name, value=value) from None

    return check_unless_word


#: The check for a limit on time, where there is one.
time_limit = optional(real_number(above=0, finite=False, of="seconds"))


def switch_or_integer(least: int) -> Check:
    """The check for True, False, or an integer from ``least``."""

    def check_switch(name: str, value: Any) -> bool | int:
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        if isinstance(value, Integral) and int(value) >= least:
            return int(value)
        raise refused(
            name, value, f"is not understood; use True, False, or an integer from {least}."
        )

    return check_switch


def score_of_failures(name: str, value: Any) -> float | str:
    """The check for what stands in for a score that cannot be computed."""
    if isinstance(value, str) and value == "raise":
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    raise refused(name, value, "must be a number, nan or 'raise'.")


def float_type(name: str, value: Any) -> np.dtype[Any]:
    """The check for one of the two types of floating-point numbers that are computed with."""
    try:
        found = np.dtype(value)
    except TypeError:
        found = np.dtype(object)
    if found in (np.dtype(np.float64), np.dtype(np.float32)):
        return found
    raise refused(name, value, "is not understood; use numpy.float64 or numpy.float32.")


def file_path(name: str, value: Any) -> Path:
    """The check for the name of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}={value!r} must be the name of a file.")
    if "\0" in os.fsdecode(value):
        raise ValueError(f"{name}={value!r} is the name of no file: it has a null character.")
    return Path(os.fsdecode(value))


def class_or_classes(name: str, value: Any) -> type | tuple[type, ...]:
    """The check for what ``isinstance`` takes: a class or a tuple of classes."""
    if all(isinstance(one, type) for one in (value if isinstance(value, tuple) else (value,))):
        return value
    raise TypeError(f"{name}={value!r} must be a class or a tuple of classes.")


def number_of_jobs(name: str, value: Any) -> int | None:
    """The check for a number of workers, or None."""
    if value is not None and (not isinstance(value, Integral) or isinstance(value, bool)):
        raise TypeError(f"{name}={value!r} must be an integer or None.")
    jobs = None if value is None else int(value)
    refuse_no_jobs(jobs)
    return jobs


def refuse_no_jobs(n_jobs: int | None) -> None:
    """Say that nobody is left to do the work."""
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 leaves no thread to work; use a positive number of threads, -1 for all, or "
            "None for the default."
        )


def estimator_with(*methods: str, advice: str) -> Check:
    """The check for an estimator that has some methods."""

    def check_estimator(name: str, value: Any) -> Any:
        if isinstance(value, type):
            called = value.__name__
            raise TypeError(f"{name}={called} is a class; pass an object of it, {called}().")
        missing = [method for method in methods if not hasattr(value, method)]
        if missing:
            advised = advice[:1].upper() + advice[1:].removesuffix(".")
            raise TypeError(f"{name}={value!r} is no estimator: it has no {missing[0]}. {advised}.")
        return value

    return check_estimator


#: The check for what can be cloned and fitted.
fittable = estimator_with("get_params", "fit", advice="use one like those of scikit-learn")


def scoring_function(name: str, value: Any) -> Any:
    """The check for what scores features: an estimator, or a function of X and y."""
    if not isinstance(value, type) and callable(value):
        return value
    return fittable(name, value)


def instance_of(kind: type, advice: str) -> Check:
    """The check for an object of a class."""

    def check_instance_of(name: str, value: Any) -> Any:
        if isinstance(value, kind):
            return value
        raise TypeError(f"{name} must be a {kind.__name__}, but is {value!r:.80}. {advice}")

    return check_instance_of


def position(name: str, value: Any) -> int:
    """The check for a position in a sequence, whose length is compared by who knows it."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise TypeError(f"{name}={value!r} is not a position; use an integer.")


def free_identifier(*taken: str) -> Check:
    """The check for a name that Python takes and that is not taken."""

    def check_identifier(name: str, value: Any) -> str:
        if isinstance(value, str) and value.isidentifier() and value not in taken:
            return value
        raise refused(name, value, "cannot be the name of the function; use a free word.")

    return check_identifier


def check_names(names: Any, n: int | None, of: str) -> list[str]:
    """Different names, one for each of the ``n`` things (None: as many as there are)."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        each = of if n is None else f"{n} {of}"
        raise refused("names", names, f"must be a list, one name for each of the {each}.")
    own = [str(name) for name in names]
    if n is not None and len(own) != n:
        raise ValueError(f"names holds {len(own)} names for {n} {of}.")
    twice = [name for name, times in Counter(own).items() if times > 1]
    if twice:
        raise ValueError(f"names holds {twice[0]!r} more than once.")
    return own


def check_resume(resume: Any, checkpoint: Any) -> None:
    """Refuse to resume from nothing."""
    if resume and checkpoint is None:
        raise ValueError("resume=True needs a file to resume from: pass checkpoint=path.")


# ------------------------------------------------------------------------- parameters of an object

# Objects such as kernels check their parameters when they are made. The sentence names the owner:
# ``gamma of RBF must be above 0; got -1.0.``

GAMMA_WORDS = ("scale", "auto")


def refused_of(owner: str, name: str, value: Any, must: str, hint: str = "") -> ParameterError:
    """The error of a parameter of an object: what it must be, what it is, and a hint."""
    text = f"{name} of {owner} must {must}; got {value!r}.{hint and ' '}{hint}"
    return ParameterError(text, parameter=name, value=value)


def check_real(name: str, value: Any, owner: str) -> None:
    """Refuse anything that is not one finite real number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ParameterError(
            f"{name} of {owner} must be a number; got {value!r} of type {type(value).__name__}.",
            parameter=name,
            value=value,
        )
    if not math.isfinite(value):
        raise refused_of(owner, name, value, "be finite", "Pass a finite number.")


def check_positive(name: str, value: Any, owner: str) -> None:
    """Refuse anything that is not a finite number above zero."""
    check_real(name, value, owner)
    if value <= 0:
        raise refused_of(owner, name, value, "be above 0", "Pass a positive number.")


def check_not_negative(name: str, value: Any, owner: str, why: str) -> None:
    """Refuse anything that is not a finite number from zero; ``why`` says what it would do."""
    check_real(name, value, owner)
    if value < 0:
        raise refused_of(owner, name, value, "not be negative", why)


def check_proportion(name: str, value: Any, owner: str, hint: str) -> None:
    """Refuse anything that is not a number above 0 and at most 1."""
    check_real(name, value, owner)
    if not 0 < value <= 1:
        raise refused_of(owner, name, value, "be above 0 and at most 1", hint)


def check_gamma(value: Any, owner: str) -> None:
    """Refuse a gamma that is neither a positive number nor one of the words of scikit-learn."""
    if not isinstance(value, str):
        check_positive("gamma", value, owner)
    elif value not in GAMMA_WORDS:
        raise refused_of(owner, "gamma", value, "be a positive number, 'scale' or 'auto'")


def check_count(name: str, value: Any, owner: str, of: str = "") -> None:
    """Refuse anything that is not an integer from 1; ``of`` says what it counts."""
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not whole or int(value) < 1:
        raise refused_of(owner, name, value, f"be an integer of at least 1{of}")


def check_switch(name: str, value: Any, owner: str) -> None:
    """Refuse anything but True and False."""
    if not isinstance(value, bool | np.bool_):
        raise refused_of(owner, name, value, "be True or False")


def check_callable(name: str, value: Any, owner: str) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise refused_of(owner, name, value, "be a function")


def check_instance(name: str, value: Any, owner: str, kind: type, called: str, hint: str) -> None:
    """Refuse what is no object of a class, which is ``called`` so in the sentence."""
    if not isinstance(value, kind):
        raise refused_of(owner, name, value, f"be {called}", hint)


def check_factors(name: str, values: Any, owner: str, expected: str, why: str) -> None:
    """Refuse all but a list of numbers of which none is negative and one is positive.

    ``expected`` describes the list, ``why`` says what a negative number would do.
    """
    flat = isinstance(values, Sequence | np.ndarray) and getattr(values, "ndim", 1) == 1
    if isinstance(values, str) or not flat:
        raise refused_of(owner, name, values, f"be a list of numbers{expected}")
    for k, value in enumerate(values):
        check_not_negative(f"{name}[{k}]", value, owner, why)
    if not any(values):
        raise ParameterError(
            f"{name} of {owner} are {list(values)!r}; at least one must be positive.",
            parameter=name,
            value=values,
        )


def refuse_class(name: str, value: Any, kind: type, example: str) -> None:
    """Refuse a class where an object of it is needed."""
    if isinstance(value, type) and issubclass(value, kind):
        raise ParameterError(
            f"{name}={value.__name__} is a class; pass an object of it, such as {example}.",
            parameter=name,
            value=value,
        )


# ---------------------------------------------------------------------------- units of the features


#: How much larger one spread may be than another.
_FACTOR = 1000.0
#: Samples so many times farther from the origin than from their mean are far from it, unless a
#: machine stands more.
_FAR = 5.0
_ROWS = 256  # most rows that are looked at
_FEW = 8  # rows of the first look, which most tables pass
_EXTREMES = 64  # features with the least, and with the largest range there, of the second look

_inner: ContextVar[bool] = ContextVar("tamiz_inner_fit", default=False)
_columns: ContextVar[Sequence[str] | None] = ContextVar("tamiz_columns", default=None)


class UnscaledWarning(UserWarning):
    """Features differ so much in spread, or are so far from zero, that units decide the answer.

    Raised by ``fit`` of methods that depend on the units of the features, and of those that
    approach their answer in steps made of samples, which lie far from the origin. Scale the
    features, or silence it with ``warnings.simplefilter("ignore", UnscaledWarning)`` if the units
    are meant.
    """


@contextmanager
def called_columns(names: Sequence[str] | None) -> Iterator[None]:
    """How warnings call the columns of an array that is a part of a table; None: by position.

    An estimator that has seen names of its own calls them by these.
    """
    token = _columns.set(names)
    try:
        yield
    finally:
        _columns.reset(token)


@contextmanager
def inner_fit() -> Iterator[None]:
    """Fits inside, which are steps of a procedure, do not warn: the procedure does, once."""
    token = _inner.set(True)
    try:
        yield
    finally:
        _inner.reset(token)


def is_inner_fit() -> bool:
    """Whether this fit is a step of a procedure, which needs all of it or none."""
    return _inner.get()


def refuse_interrupted(fitted: Any) -> None:
    """Take a fit, or a step of a pipeline, that ended at Ctrl-C for the Ctrl-C that it was.

    Machines of this package keep what they have then, which is no answer in a procedure.
    """
    for step in [fitted, *(step for _, step in getattr(fitted, "steps", []))]:
        status = getattr(step, "status_", None)  # a list, of machines for several classes
        several = status if isinstance(status, (list, tuple)) else [status]
        if any(isinstance(one, str) and one == "interrupted" for one in several):
            raise KeyboardInterrupt


def warn_if_unscaled(estimator: Any, X: Any) -> None:
    """Warn if the spread of one feature is over 1,000 times that of another.

    Parameters
    ----------
    estimator : estimator
        Who is being fitted; its feature names are used if it has them.
    X : array of shape (n_samples, n_features)
        Checked samples. Anything but a dense array of numbers is left alone.
    """
    if _inner.get() or type(X) is not np.ndarray or X.ndim != 2 or min(X.shape) < 2:
        return
    suspects = _suspects(X)
    if not len(suspects):
        return
    spread = robust_spread(X[:, suspects])
    if not np.isfinite(spread).any():
        return
    low, high = int(np.nanargmin(spread)), int(np.nanargmax(spread))
    if not spread[high] > _FACTOR * spread[low]:
        return
    names = getattr(estimator, "feature_names_in_", None)
    called = _columns.get()
    if names is not None:
        called = [repr(str(name)) for name in names]
    elif called is None or len(called) != X.shape[1]:
        called = [f"x{j}" for j in range(X.shape[1])]
    small, large = called[suspects[low]], called[suspects[high]]
    warnings.warn(
        f"{type(estimator).__name__} depends on the units of the features, and they differ: "
        f"the spread of {large} is {spread[high]:.3g}, that of {small} is {spread[low]:.3g}. "
        "Scale them first: make_pipeline(StandardScaler(), ...) of scikit-learn.",
        UnscaledWarning,
        stacklevel=depth_of_caller(),
    )


def far_from_origin(X: Any, limit: float = _FAR) -> bool:
    """Whether samples are over ``limit`` times farther from the origin than from their mean.

    Root mean squares of both distances are compared, in the columns that vary: what a constant one
    adds to steps is what an intercept adds. Samples that are all equal are not far.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or min(X.shape) < 1:
        return False
    varies = (X[:1] != X).any(axis=0)
    if not varies.all():
        X = X[:, varies]
        if not X.size:
            return False
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(np.vdot(X, X)):
            X = X / np.abs(X).max()
        mean = X.mean(axis=0)
        return far_mean(float(mean @ mean), float(np.vdot(X, X)) / len(X), limit)


def far_mean(mean2: float, total2: float, limit: float) -> bool:
    """The same of squared norms: that of the mean of the samples, and the mean of theirs."""
    # total2 > limit^2 * (total2 - mean2)
    return limit**2 * mean2 > (limit**2 - 1.0) * total2


def warn_if_far(estimator: Any, far: bool, limit: float = _FAR, instead: str = "") -> None:
    """Warn that steps made of samples far from the origin come to no good machine.

    Parameters
    ----------
    estimator : estimator
        Who is being fitted.
    far : bool
        Whether the samples are (:func:`far_from_origin`).
    limit : float
        From where on they are.
    instead : str
        What to do about it, if not to put a scaler before the machine.
    """
    if far and not _inner.get():
        advice = "Subtract the mean first: make_pipeline(StandardScaler(), ...) of scikit-learn."
        warnings.warn(
            f"{type(estimator).__name__} takes steps along samples, and these are over "
            f"{limit:g} times farther from the origin than from their mean: all steps are nearly "
            "the same, and the machine may be far from the best. " + (instead or advice),
            UnscaledWarning,
            stacklevel=depth_of_caller(),
        )


def robust_spread(X: np.ndarray) -> np.ndarray:
    """Distance between the quartiles of each feature; NaN for constant and two-valued ones.

    A feature most of whose values are equal has the range in its place. Of many samples a part,
    evenly drawn, is looked at.
    """
    table = np.array(X[:: -(-len(X) // _ROWS)].T, order="C")
    n = table.shape[1]
    low, high = np.fmin.reduce(table, axis=1), np.fmax.reduce(table, axis=1)
    ends = (table == low[:, None]) | (table == high[:, None]) | np.isnan(table)
    table.partition([n // 4, (3 * n) // 4], axis=1)  # NaN goes last
    with np.errstate(over="ignore"):
        spread = table[:, (3 * n) // 4] - table[:, n // 4]
        spread = np.where(spread > 0, spread, high - low)
    spread[ends.all(axis=1)] = np.nan
    return spread


def _suspects(X: np.ndarray) -> np.ndarray:
    """Features whose range in a few rows is very small or very large; none if all are alike."""
    rows = X[:: -(-len(X) // _FEW)]
    with np.errstate(over="ignore", invalid="ignore"):
        ranges = rows.max(axis=0) - rows.min(axis=0)
    varying = np.flatnonzero(ranges > 0)
    ranges = ranges[varying]
    if len(ranges) and ranges.max() / (_FACTOR / 10) <= ranges.min():
        return varying[:0]
    if X.shape[1] <= 2 * _EXTREMES or len(varying) <= 2 * _EXTREMES:
        return np.arange(X.shape[1])
    order = np.argpartition(ranges, (_EXTREMES, len(ranges) - _EXTREMES))
    return varying[np.concatenate([order[:_EXTREMES], order[-_EXTREMES:]])]


def depth_of_caller() -> int:
    """How far up the first line outside this package is, for ``stacklevel``."""
    frame: FrameType | None = sys._getframe(1)
    depth = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "tamiz":
        frame, depth = frame.f_back, depth + 1
    return depth
