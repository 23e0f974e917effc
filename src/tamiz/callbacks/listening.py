"""Estimators that take callbacks: a root task for the fit, a task for each loop, one for each step.

The loops of this package all report to a :class:`~tamiz.runtime.progress.Progress`. Whoever has
callbacks listens there, so that no estimator calls a hook itself. A callback that wants to end a
loop does what Ctrl-C does, and what was reached is kept in the same way.
"""

from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

from tamiz.callbacks._tasks import HOOKS
from tamiz.runtime.progress import listener
from tamiz.validation import checked, integer_from, is_inner_fit, optional, time_limit

if TYPE_CHECKING:
    from tamiz.callbacks._tasks import CallbackContext, CallbackSupportMixin, with_callbacks
else:
    try:
        from sklearn.callback import CallbackContext, CallbackSupportMixin, with_callbacks
    except ImportError:  # before scikit-learn 1.9
        from tamiz.callbacks._tasks import CallbackContext, CallbackSupportMixin, with_callbacks

#: Methods whose run is a root task.
_FITS = ("fit", "fit_stream")

#: Where estimators keep what concerns callbacks. It is out of their sight during a fit: copies of
#: them that it makes have no callbacks, and what goes to workers need not be sent with them.
_KEPT = (
    "_skl_callbacks",
    "_parent_callback_ctx",
    "_callback_fit_ctx",
    "_skl_callbacks_to_teardown",
    "_set_up",
)

#: Those of an estimator whose fit is to be followed.
_KEPT_BEFORE = frozenset(_KEPT[:2])


class StoppedByCallbackError(RuntimeError):
    """A callback ended a fit before there was anything to keep.

    Attributes
    ----------
    procedure : str
        What was ended.
    """

    def __init__(self, procedure: str):
        self.procedure = procedure
        super().__init__(
            f"{procedure} was ended by a callback before there was a result that could be kept; "
            "let the callback wait for more steps."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.procedure,)


class _EndedByCallback(KeyboardInterrupt):
    """Ends a loop as Ctrl-C does; where nothing could be kept, another error says so."""


class _Tasks:
    """The tasks of one fit, as they begin and end.

    Parameters
    ----------
    owner : estimator
        Who is fitted.
    root : CallbackContext
        Its root task.
    facts : dict
        X, y and metadata of the fit.
    """

    def __init__(self, owner: Any, root: CallbackContext, facts: dict[str, Any]):
        self.owner = owner
        self.procedure = root.estimator_name
        self._facts = facts
        self._open = [root]
        self._place = os.getpid(), threading.get_ident()
        self._ended = False  # whether a callback has ended the last loop
        self._left: int | None = None  # steps that may still begin
        self.shared = False  # whether fits inside are followed as part of this one

    # ------------------------------------------------------------------ what loops call

    def begin(self, label: str, most: int | None) -> bool:
        """A loop begins. Loops inside another, and those of other threads, are not followed."""
        if len(self._open) > 1 or self._place != (os.getpid(), threading.get_ident()):
            return False
        self._ended = False
        self._left = most
        if isinstance(self.owner, Procedure):
            self.procedure = label
        self._enter(label, most)
        self._next()
        return True

    def step(self, message: str) -> None:
        """A step is done; another one begins unless there was the last one."""
        if len(self._open) < 3:  # beyond the last one
            return
        self._open[-1].message = message
        stop = self._leave()
        if stop and not is_inner_fit():
            self._ended = True
            raise _EndedByCallback  # loops know what to keep then
        self._next()

    def end(self, *, failed: bool) -> None:
        """The loop has ended, and with it the step that had begun."""
        while len(self._open) > 1:
            with suppress(Exception) if failed else nullcontext():
                self._leave()

    def interruption(self, message: str) -> KeyboardInterrupt:
        """That of the callback if it has ended the last loop."""
        return (_EndedByCallback if self._ended else KeyboardInterrupt)(message)

    def give_up(self) -> None:
        """End all that is open; the error that is under way matters more than one of a hook."""
        while self._open:
            with suppress(Exception):
                self._leave()

    # ------------------------------------------------------------------ tasks

    def _next(self) -> None:
        if self._left is not None:
            self._left -= 1
        if self._left is None or self._left >= 0:
            self._enter(f"{self._open[1].task_name} step", 0)

    def _enter(self, name: str, most: int | None) -> None:
        task = self._open[-1].subcontext(task_name=name, max_subtasks=most)
        task.message = ""
        self._open.append(task)  # before the hook: what has begun is ended even if that fails
        task.call_on_fit_task_begin(estimator=self.owner, **self._facts)

    def _leave(self) -> bool:
        task = self._open.pop()
        return bool(task.call_on_fit_task_end(estimator=self.owner, **self._facts))


#: Tears down what was set up; what scikit-learn does after a method, which is none here.
_tear_down = with_callbacks(lambda owner: None)


@contextmanager
def _followed(owner: Any, facts: dict[str, Any]) -> Iterator[None]:
    """The root task of an owner, during which its callbacks follow the loops of this thread."""
    try:
        root = owner._init_callback_context(max_subtasks=None)
        root.message = ""
        tasks = _Tasks(owner, root, facts)
        kept = {name: owner.__dict__.pop(name) for name in _KEPT if name in owner.__dict__}
        token = listener.set(tasks)
        done = False
        try:
            root.call_on_fit_task_begin(estimator=owner, **facts)
            yield
            done = True
            root.call_on_fit_task_end(estimator=owner, **facts, reconstruction_attributes={})
        except _EndedByCallback:
            raise StoppedByCallbackError(tasks.procedure) from None
        finally:
            listener.reset(token)
            if not done:
                tasks.give_up()
            owner.__dict__.update(kept)
    finally:
        _tear_down(owner)


def _heard(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A method ``fit`` whose loops the callbacks of its estimator follow."""

    @wraps(fit)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = listener.get()
        owner = getattr(now, "owner", None)
        if owner is not self and not _KEPT_BEFORE.isdisjoint(self.__dict__):
            with _followed(self, _facts(fit, args, kwargs)):
                return fit(self, *args, **kwargs)
        shared = isinstance(owner, Procedure) or getattr(now, "shared", False)
        if now is None or owner is self or shared:
            return fit(self, *args, **kwargs)
        token = listener.set(None)  # a step of somebody else's procedure
        try:
            return fit(self, *args, **kwargs)
        finally:
            listener.reset(token)

    run.__dict__["_heard"] = True
    return run


def _facts(
    fit: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """What hooks may ask for, of the arguments of ``fit`` by position and by name."""
    signature = inspect.signature(fit)
    try:
        given = signature.bind_partial(None, *args, **kwargs).arguments
    except TypeError:  # the call says so itself
        given = {}
    others = dict(list(given.items())[1:])  # without self
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            others |= others.pop(parameter.name, {})
    X, y = others.pop("X", None), others.pop("y", None)
    metadata = {name: value for name, value in others.items() if value is not None}
    return {"X": X, "y": y, "metadata": metadata}


@contextmanager
def own_loops() -> Iterator[None]:
    """Let the loops of a fit inside count as loops of the estimator that makes it.

    For an estimator whose whole work is the fit of another one, such as a ranking by a forest. All
    other fits inside a procedure are steps of it, and not followed one by one.
    """
    now = listener.get()
    if not isinstance(now, _Tasks):
        yield
        return
    before, now.shared = now.shared, True
    try:
        yield
    finally:
        now.shared = before


class TakesCallbacks(CallbackSupportMixin):
    """An estimator whose fit callbacks can follow and end."""

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        for name in _FITS:
            fit = getattr(cls, name, None)
            if callable(fit) and not hasattr(fit, "_heard"):
                setattr(cls, name, _heard(fit))

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set what follows the next fits, and may end them.

        Parameters
        ----------
        *callbacks : objects
            With the methods ``setup``, ``on_fit_task_begin``, ``on_fit_task_end`` and
            ``teardown`` of scikit-learn's callbacks. None at all removes those that were set.

        Returns
        -------
        self : estimator
        """
        for callback in callbacks:
            missing = [hook for hook in HOOKS if not callable(getattr(callback, hook, None))]
            if isinstance(callback, type) or missing:
                what = (
                    f"{callback.__name__} is a class; pass an instance"
                    if isinstance(callback, type)
                    else f"{callback!r} has no {', '.join(missing)}"
                )
                raise TypeError(f"callbacks must be objects with {', '.join(HOOKS)}: {what}.")
        return super().set_callbacks(*callbacks)


class Procedure(TakesCallbacks):
    """In the place of an estimator where functions are followed."""

    def __repr__(self) -> str:
        return "Procedure()"


@contextmanager
def use_callbacks(*callbacks: Any) -> Iterator[None]:
    """Let callbacks follow what is computed inside, and end it.

    For functions such as :func:`tamiz.tune` and :func:`tamiz.compare`, which have no
    ``set_callbacks``. Fits inside are followed as well, unless they have callbacks of their own.

    Parameters
    ----------
    *callbacks : objects
        As in ``set_callbacks`` of estimators. What their hooks get as estimator stands for the
        whole of what is inside.

    Examples
    --------
    >>> import tamiz
    >>> from tamiz.callbacks import StopAfter, use_callbacks
    >>> data = tamiz.data.load("wdbc")
    >>> with use_callbacks(StopAfter(steps=4)):
    ...     found = tamiz.tune(data.X, data.y, tamiz.SVC(), {"C": [1, 10]}, cv=3, fast=False)
    >>> found.interrupted
    True
    """
    owner = Procedure().set_callbacks(*callbacks)
    with _followed(owner, {"X": None, "y": None, "metadata": {}}):
        yield


class StopAfter:
    """End a fit after some time, or after some steps; what it has reached is kept.

    The limits are looked at when a step ends. Both may be given: the first that is reached counts.

    Parameters
    ----------
    seconds : float, optional
        Time since the fit began.
    steps : int, optional
        Number of steps, of all loops of the fit.

    Examples
    --------
    >>> import warnings
    >>> import tamiz
    >>> from tamiz.callbacks import StopAfter
    >>> data = tamiz.data.load("wdbc")
    >>> selector = tamiz.SVMRFE(step=1, kernel="rbf").set_callbacks(StopAfter(steps=5))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that it was interrupted
    ...     selector = selector.fit(data.X, data.y)
    >>> selector.status_, len(selector.selection_.path)
    ('interrupted', 5)
    """

    @checked(seconds=time_limit, steps=optional(integer_from(1)))
    def __init__(self, seconds: float | None = None, *, steps: int | None = None):
        if seconds is None and steps is None:
            raise ValueError("StopAfter needs a limit: give seconds, steps or both.")
        self.seconds = seconds
        self.steps = steps
        self._begun: dict[Any, float] = {}
        self._done: dict[Any, int] = {}

    def __repr__(self) -> str:
        return f"StopAfter(seconds={self.seconds!r}, steps={self.steps!r})"

    def now(self) -> float:
        """Seconds of the clock that counts; a subclass may have another one."""
        return time.monotonic()

    def setup(self, estimator: Any, context: Any) -> None:
        """A fit begins."""
        self._begun[context.root_uuid] = self.now()
        self._done[context.root_uuid] = 0

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A task begins, which does not matter here."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Whether a limit has been reached."""
        if context.parent is None or context.max_subtasks != 0:
            return False
        fit = context.root_uuid
        self._done[fit] += 1
        late = self.seconds is not None and self.now() - self._begun[fit] >= self.seconds
        return late or (self.steps is not None and self._done[fit] >= self.steps)

    def teardown(self, estimator: Any, context: Any) -> None:
        """The fit has ended."""
        self._begun.pop(context.root_uuid, None)
        self._done.pop(context.root_uuid, None)
