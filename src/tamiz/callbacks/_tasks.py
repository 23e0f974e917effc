"""Tasks of a fit and who hears of them, for scikit-learn without ``sklearn.callback``.

What stands here is as much of the interface of scikit-learn 1.9 as callbacks and the estimators of
this package use, under the same names, so that a callback need not know which of both it has.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime
from functools import lru_cache, wraps
from inspect import signature
from typing import Any

#: What a callback has to have.
HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")

#: What a hook may ask for by arguments that are given by keyword only.
_OFFERED = ("X", "y", "metadata", "fitted_estimator")


class CallbackContext:
    """A task: where it stands among the tasks of a fit.

    Attributes
    ----------
    task_name : str
        What is done.
    task_id : int
        Its number among the tasks of its parent.
    max_subtasks : int or None
        How many tasks it may have of its own: 0 none, None not known.
    sequential_subtasks : bool
        Whether these are numbered in the order of their beginning.
    estimator_name : str
        Class of the estimator.
    parent : CallbackContext or None
        The task that this one is a part of.
    root_uuid : UUID
        The same for all tasks of a fit.
    init_time : datetime
        When it was made.
    """

    message = ""  # of a step, in words; ours
    source_estimator_name: str | None = None
    source_task_name: str | None = None

    def __init__(
        self,
        callbacks: list[Any],
        estimator_name: str,
        parent: CallbackContext | None,
        task_name: str,
        task_id: int,
        max_subtasks: int | None,
        sequential_subtasks: bool,
    ):
        self._callbacks = callbacks
        self._children: list[CallbackContext] = []
        self.estimator_name = estimator_name
        self.parent = parent
        self.task_name = task_name
        self.task_id = task_id
        self.max_subtasks = max_subtasks
        self.sequential_subtasks = sequential_subtasks
        self.root_uuid: uuid.UUID = uuid.uuid4() if parent is None else parent.root_uuid
        self.init_time = datetime.now(UTC)

    def __repr__(self) -> str:
        return (
            f"CallbackContext(estimator_name={self.estimator_name!r}, "
            f"task_name={self.task_name!r}, task_id={self.task_id})"
        )

    def subcontext(
        self,
        task_name: str = "",
        task_id: int | None = None,
        max_subtasks: int | None = 0,
        sequential_subtasks: bool = True,
    ) -> CallbackContext:
        """A task that is a part of this one."""
        found = CallbackContext(
            self._callbacks,
            self.estimator_name,
            self,
            task_name,
            len(self._children) if task_id is None else task_id,
            max_subtasks,
            sequential_subtasks,
        )
        self._children.append(found)
        return found

    def call_on_fit_task_begin(self, *, estimator: Any, **facts: Any) -> CallbackContext:
        """Report that the task begins."""
        self._call("on_fit_task_begin", estimator, facts)
        return self

    def call_on_fit_task_end(self, *, estimator: Any, **facts: Any) -> bool:
        """Report that the task has ended; whether some callback wants no more of its kind."""
        return self._call("on_fit_task_end", estimator, facts)

    def _call(self, hook: str, estimator: Any, facts: dict[str, Any]) -> bool:
        attributes = facts.pop("reconstruction_attributes", None)
        if attributes is not None:
            facts["fitted_estimator"] = _with(estimator, attributes)
        stop = False
        for callback in self._callbacks:
            called = getattr(callback, hook)
            asked = _keywords(called)
            unknown = sorted(set(asked) - set(_OFFERED))
            if unknown:
                asker = f"{hook} of {type(callback).__name__}"
                raise TypeError(
                    f"{asker} asks for {', '.join(unknown)}; a hook may ask for "
                    f"{', '.join(_OFFERED)}."
                )
            stop |= bool(called(estimator, self, **{name: facts.get(name) for name in asked}))
        return stop


@lru_cache(maxsize=256)
def _keywords(called: Callable[..., Any]) -> tuple[str, ...]:
    parameters = signature(called).parameters.values()
    return tuple(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)


def _with(estimator: Any, attributes: dict[str, Any]) -> Any:
    fitted = copy(estimator)
    for name, value in attributes.items():
        setattr(fitted, name, value)
    return fitted


class CallbackSupportMixin:
    """An estimator that takes callbacks, and keeps them when it is cloned."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set the callbacks of the estimator, or none."""
        if callbacks:
            self._skl_callbacks = list(callbacks)
        else:
            self.__dict__.pop("_skl_callbacks", None)
        return self

    def __sklearn_clone__(self) -> Any:
        """A copy without what was learned, as scikit-learn makes it, with the same callbacks."""
        parent: Any = super()
        copied = parent.__sklearn_clone__()
        return copied.set_callbacks(*self.__dict__.get("_skl_callbacks", ()))

    def _init_callback_context(
        self,
        task_name: str = "fit",
        task_id: int = 0,
        max_subtasks: int | None = 0,
        sequential_subtasks: bool = True,
    ) -> CallbackContext:
        callbacks = self.__dict__.get("_skl_callbacks", [])
        name = type(self).__name__
        root = CallbackContext(
            callbacks, name, None, task_name, task_id, max_subtasks, sequential_subtasks
        )
        self._callback_fit_ctx = root
        self._set_up: list[Any] = []
        for callback in callbacks:
            self._set_up.append(callback)
            callback.setup(estimator=self, context=root)
        return root


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method after which the callbacks that were set up are torn down, whatever happened."""

    @wraps(method)
    def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(estimator, *args, **kwargs)
        finally:
            root = estimator.__dict__.pop("_callback_fit_ctx", None)
            errors: list[Exception] = []
            for callback in estimator.__dict__.pop("_set_up", ()):
                try:
                    callback.teardown(estimator=estimator, context=root)
                except Exception as error:
                    errors.append(error)
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise ExceptionGroup("Several callbacks failed in their teardown.", errors)

    return managed
