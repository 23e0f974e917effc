"""Callbacks: follow a fit while it runs, and end it.

Every estimator has ``set_callbacks``, which takes callbacks of scikit-learn's kind (from version
1.9 on it has some, such as its progress bar). Functions are followed by :func:`use_callbacks`.
"""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.callbacks.listening import (
        StopAfter,
        StoppedByCallbackError,
        TakesCallbacks,
        use_callbacks,
    )

__all__ = ["StopAfter", "StoppedByCallbackError", "TakesCallbacks", "use_callbacks"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".listening": "StopAfter StoppedByCallbackError TakesCallbacks use_callbacks",
    },
)
