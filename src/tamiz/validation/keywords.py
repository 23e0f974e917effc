"""Parameters that are to be given by keyword, and still work by position for a while."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Init = TypeVar("Init", bound=Callable[..., None])


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
