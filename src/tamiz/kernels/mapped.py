"""Kernels of mapped samples, kernels given as functions, and kernels given by name.

K(h(x), h(x')) is a Mercer kernel whenever K is one, for any map h. Two more belong here: f(x) f(x')
is the linear kernel of the one number f(x), and x' B x for a positive semi-definite B is the
linear kernel of the samples turned by a square root of B. :func:`as_kernel` turns what a user
writes into a kernel object.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tamiz.kernels.base import ATOM, NEEDS_KERNEL, Kernel, _text
from tamiz.kernels.elementary import RBF, Linear, Polynomial, Precomputed, Sigmoid
from tamiz.validation import (
    Array,
    Matrix,
    as_samples,
    check_callable,
    check_instance,
    known_name,
    refuse_class,
    symmetric_matrix,
)

if TYPE_CHECKING:
    from tamiz.kernels.features.base import FeatureGram
    from tamiz.kernels.prepared import Prepared


class Mapped(Kernel):
    """K(h(x), h(x')): an inner kernel and a map."""

    @property
    def inner(self) -> Kernel:
        """The kernel K of the mapped samples."""
        return Linear()

    @abstractmethod
    def image(self, X: Matrix) -> Matrix:
        """h(x) for each row, checked and ready for the inner kernel."""

    @property
    def always_mercer(self) -> bool:
        return self.inner.always_mercer

    def _gram(self, X: Matrix, Z: Matrix | None) -> Array:
        return self.inner._gram(self.image(X), None if Z is None else self.image(Z))

    def _diag(self, X: Matrix) -> Array:
        return self.inner._diag(self.image(X))

    def _squared_distances(self, X: Matrix, Z: Matrix | None) -> Array:
        return self.inner._squared_distances(self.image(X), None if Z is None else self.image(Z))

    def _prepare(self, X: Matrix, dtype: np.dtype[Any]) -> Prepared:
        from tamiz.kernels.prepared import PreparedMapped

        return PreparedMapped(self, self.inner._prepare(self.image(X), dtype), dtype)


class Composed(Mapped):
    """K(h(x), h(x')), usually written ``k.of(h)``.

    Parameters
    ----------
    kernel : Kernel
        The kernel K.
    function : callable
        The map h: takes a table of samples of shape (n, p) and gives a table of shape (n, q),
        each row from the row at the same place.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.kernels import Linear
    >>> Linear().of(np.sqrt)([[4.0]], [[9.0]])
    array([[6.]])
    """

    _parameters = ("kernel", "function")

    def __init__(self, kernel: Kernel, function: Callable[[Any], Any]) -> None:
        self.kernel = kernel
        self.function = function
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_instance("kernel", self.kernel, "Composed", Kernel, *NEEDS_KERNEL)
        if self.kernel.compares_text:
            raise ValueError(
                f"{self.kernel!r} compares strings, and a map is of tables of numbers. Map the "
                "strings before, or give the kernel a function in tokens."
            )
        check_callable("function", self.function, "Composed")

    @property
    def inner(self) -> Kernel:
        return self.kernel

    @property
    def bound(self) -> float:
        return self.kernel.bound

    @property
    def _pending(self) -> bool:
        return self.kernel._pending

    def _resolve(self, X: Matrix, weight: Array | None = None) -> Kernel:
        if not self._pending:
            return self
        return Composed(self.kernel._resolve(self.image(X), weight), self.function)

    def image(self, X: Matrix) -> Matrix:
        mapped = self.kernel._samples(self.function(X), "the mapped table")
        _require_rows(mapped, X, self)
        return mapped

    def __repr__(self) -> str:
        return f"{self.kernel._text(ATOM)}.of({_text(self.function)})"


class Conformal(Mapped):
    """f(x) f(x') for a function f with one value for each sample.

    Multiplied with another kernel it weighs the samples: see ``Kernel.times_function``.

    Parameters
    ----------
    function : callable
        Takes a table of samples of shape (n, p) and gives n numbers.

    Examples
    --------
    >>> from tamiz.kernels import Conformal
    >>> Conformal(lambda X: X.sum(axis=1))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[21.]])
    """

    _parameters = ("function",)

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_callable("function", self.function, "Conformal")

    def image(self, X: Matrix) -> Matrix:
        values = np.asarray(self.function(X), dtype=np.float64)
        if values.size != X.shape[0]:
            raise ValueError(
                f"function of {self!r} must give one number for each sample; for "
                f"{X.shape[0]} samples it gave an array of shape {values.shape}."
            )
        return as_samples(values.reshape(-1, 1), "its values", repr(self), accept_sparse=False)

    def __repr__(self) -> str:
        return f"Conformal({_text(self.function)})"


class QuadraticForm(Mapped):
    """The inner product x' B x' in the metric of a positive semi-definite matrix B.

    Parameters
    ----------
    B : array of shape (p, p)
        Symmetric, without negative eigenvalues.

    See Also
    --------
    Linear : the case of the identity matrix.

    Examples
    --------
    >>> from tamiz.kernels import QuadraticForm
    >>> QuadraticForm([[2.0, 0.0], [0.0, 1.0]])([[1.0, 1.0]], [[3.0, 4.0]]).round(12)
    array([[10.]])
    """

    _parameters = ("B",)

    def __init__(self, B: ArrayLike) -> None:
        self.B = B
        self._check_parameters()

    def _check_parameters(self) -> None:
        self._root_of: tuple[Any, Array] | None = None
        _ = self.root

    @property
    def matrix(self) -> Array:
        """B as an array."""
        return np.asarray(self.B, dtype=np.float64)

    @property
    def root(self) -> Array:
        """A matrix R with R R' = B; samples times R have B's inner product."""
        if self._root_of is None or self._root_of[0] is not self.B:
            self._root_of = (self.B, _square_root(self.B))
        return self._root_of[1]

    def _restrict(self, columns: NDArray[np.intp], width: int) -> Kernel:
        return QuadraticForm(self.matrix[np.ix_(columns, columns)])

    def image(self, X: Matrix) -> Matrix:
        if X.shape[1] != len(self.root):
            raise ValueError(
                f"B of QuadraticForm has shape {self.matrix.shape}, so it needs samples with "
                f"{len(self.root)} features; these have {X.shape[1]}."
            )
        return np.ascontiguousarray(X @ self.root)

    def _track(self, X: Array, scale: Array) -> FeatureGram:
        from tamiz.kernels.features.elementary import QuadraticFeatures

        return QuadraticFeatures(self, X, scale)


class FunctionKernel(Kernel):
    """A kernel given as a function of two tables of samples.

    What the function returns is checked: its shape, that its numbers are finite and, between
    a table and itself, that it is symmetric.

    Parameters
    ----------
    function : callable
        Takes tables of shapes (n, p) and (m, p), gives the table of kernel values (n, m).

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.kernels import FunctionKernel
    >>> def overlap(X, Z):
    ...     return np.minimum(X[:, None, :], Z[None, :, :]).sum(axis=2)
    >>> FunctionKernel(overlap)([[1.0, 2.0]], [[3.0, 1.0]])
    array([[2.]])
    """

    _parameters = ("function",)

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_callable("function", self.function, "FunctionKernel")

    def _gram(self, X: Matrix, Z: Matrix | None) -> Array:
        values = self._checked(X, X if Z is None else Z)
        if Z is not None or np.array_equal(values, values.T):
            return values
        gap = float(np.abs(values - values.T).max())
        if gap > 1e-6 * float(np.abs(values).max()):
            raise ValueError(
                f"{self!r} is not symmetric: K(x, x') and K(x', x) differ by up to {gap:.3g}. "
                "A kernel must not depend on the order of its arguments."
            )
        return (values + values.T) / 2

    def _diag(self, X: Matrix) -> Array:
        chunk = 32  # few enough that computing a square to read its diagonal wastes little
        pieces = [
            np.diag(self._checked(X[start : start + chunk], X[start : start + chunk]))
            for start in range(0, X.shape[0], chunk)
        ]
        return np.concatenate(pieces) if pieces else np.empty(0)

    def _checked(self, X: Matrix, Z: Matrix) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at below
            values = np.array(self.function(X, Z), dtype=np.float64)  # a copy: it may be reused
        wanted = (X.shape[0], Z.shape[0])
        if values.shape != wanted:
            raise ValueError(
                f"the kernel function {_text(self.function)} must return a matrix of shape "
                f"{wanted} for {wanted[0]} and {wanted[1]} samples; it returned shape "
                f"{values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(
                f"the kernel function {_text(self.function)} returned NaN or infinite values; "
                "kernel values must be finite numbers."
            )
        return values

    def __repr__(self) -> str:
        return f"FunctionKernel({_text(self.function)})"


class Widened:
    """The map that puts the features that were left out back, as zeros.

    Parameters
    ----------
    columns : array of int
        The features that are left.
    width : int
        Number of features before.
    """

    function: Callable[..., Any] | None = None  # set in older files: what takes the wide tables

    def __init__(self, columns: NDArray[np.intp], width: int) -> None:
        self.columns = columns
        self.width = width

    def __call__(self, *tables: Any) -> Any:
        wide = [self._wide(table) for table in tables]
        return wide[0] if self.function is None else self.function(*wide)

    def _wide(self, table: Any) -> Array:
        wide = np.zeros((table.shape[0], self.width))
        wide[:, self.columns] = table.toarray() if sparse.issparse(table) else table
        return wide

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Widened):
            return NotImplemented
        same = self.function == other.function and self.width == other.width
        return same and np.array_equal(self.columns, other.columns)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inner = "" if self.function is None else f"{_text(self.function)} with "
        return f"{inner}zeros around {len(self.columns)} of {self.width} features"


def _require_rows(mapped: Matrix, X: Matrix, kernel: Kernel) -> None:
    if mapped.shape[0] != X.shape[0]:
        raise ValueError(
            f"the map of {kernel!r} must keep one row for each sample; it turned "
            f"{X.shape[0]} rows into {mapped.shape[0]}."
        )


def _square_root(B: Any) -> Array:
    matrix = symmetric_matrix("B of QuadraticForm", B, least=1)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if values[0] < -1e-10 * max(values[-1], 1e-300):
        raise ValueError(
            f"B of QuadraticForm must have no negative eigenvalue; its smallest is "
            f"{values[0]:.3g}. x' B x' is not a Mercer kernel otherwise."
        )
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


_NAMED: dict[str, Callable[[Any, Any, Any], Kernel]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(degree=degree, gamma=gamma, coef0=coef0),
    "rbf": lambda gamma, degree, coef0: RBF(gamma=gamma),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma=gamma, coef0=coef0),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}

KERNEL_NAMES = tuple(_NAMED)
_kernel_name = known_name(lambda: KERNEL_NAMES, beyond=", a kernel object or a function f(X, Z)")


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
    tamiz.validation.errors.ParameterError: kernel='cubic' is not known; use one of 'linear', \
'poly', 'rbf', 'sigmoid', 'precomputed', a kernel object or a function f(X, Z).
    """
    if isinstance(kernel, Kernel):
        return kernel
    refuse_class("kernel", kernel, Kernel, "RBF(gamma=0.1)")
    if callable(kernel):
        return FunctionKernel(kernel)
    return _NAMED[_kernel_name("kernel", kernel)](gamma, degree, coef0)
