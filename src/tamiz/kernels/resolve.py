"""From what a user writes to a kernel object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tamiz.kernels.base import Kernel
from tamiz.kernels.elementary import RBF, Linear, Polynomial, Precomputed, Sigmoid
from tamiz.kernels.mapped import FunctionKernel

_NAMED: dict[str, Callable[[Any, Any, Any], Kernel]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(degree=degree, gamma=gamma, coef0=coef0),
    "rbf": lambda gamma, degree, coef0: RBF(gamma=gamma),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma=gamma, coef0=coef0),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}

KERNEL_NAMES = tuple(_NAMED)


def as_kernel(
    kernel: str | Kernel | Callable[[Any, Any], Any],
    *,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
) -> Kernel:
    """Turn a name, a kernel object or a function into a kernel object.

    Parameters
    ----------
    kernel : str, Kernel or callable
        One of "linear", "poly", "rbf", "sigmoid" and "precomputed"; a kernel object, returned as
        it is; or a function that takes two tables of samples and gives their kernel values.
    gamma, degree, coef0 : float or str, int, float
        Parameters of the named kernels that have them; not used for objects and functions.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from tamiz.kernels import as_kernel
    >>> as_kernel("rbf", gamma=0.5)
    RBF(gamma=0.5)
    >>> as_kernel("cubic")
    Traceback (most recent call last):
    ...
    ValueError: kernel='cubic' is not known; use one of 'linear', 'poly', 'rbf', 'sigmoid', \
'precomputed', a kernel object or a function f(X, Z).
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in _NAMED:
        return _NAMED[kernel](gamma, degree, coef0)
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise ValueError(
            f"kernel={kernel.__name__} is a class; pass an object of it, such as RBF(gamma=0.1)."
        )
    if callable(kernel):
        return FunctionKernel(kernel)
    names = ", ".join(repr(name) for name in KERNEL_NAMES)
    raise ValueError(
        f"kernel={kernel!r} is not known; use one of {names}, a kernel object or a function "
        "f(X, Z)."
    )
