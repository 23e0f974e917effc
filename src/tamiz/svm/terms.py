"""The numbers of a fitted machine's function, for whoever evaluates it elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Terms(NamedTuple):
    """``sum_i coef_i K(x - centre, x_i - centre) + intercept``, of every machine.

    Attributes
    ----------
    centre : array of shape (n_features,) or None
        What samples are measured from; None is the origin.
    intercept : array of shape (n_machines,)
        The constant in these terms; ``intercept_`` is that of samples as they are.
    scheme : str
        How several machines decide together: "ovo" or "ovr".
    """

    centre: np.ndarray | None
    intercept: np.ndarray
    scheme: str


def terms_of(machine: Any) -> Terms:
    """The terms of a fitted kernel machine or plane."""
    centre = getattr(machine, "_centre", None)
    constant = machine.intercept_ if centre is None else machine._intercept_there
    scheme = getattr(machine, "_scheme", None) or getattr(machine, "multiclass", "ovr")
    return Terms(centre, np.atleast_1d(constant), str(scheme))
