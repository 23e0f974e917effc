"""Training samples made ready: the interface between kernels and solvers.

A solver asks for the diagonal, for the whole Gram matrix, for some of its rows, for a block, or for
the values of a decision function at new samples, and gets them in the type it chose. How they come
about is the business of the classes here: recomputed from samples, combined from the parts of a
composite, looked up in a table, or (module ``radial``) by the fast lane of the radial kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamiz.kernels.compiled import panels
from tamiz.validation import Array, Matrix, as_samples, check_same_width, require_gram

if TYPE_CHECKING:
    from tamiz.kernels.algebra import Composite
    from tamiz.kernels.base import Kernel
    from tamiz.kernels.mapped import Mapped

Index = NDArray[np.intp]
Values = NDArray[Any]  # float64 or float32, as the caller of ``prepare`` chose

DECISION_BYTES = 64 * 2**20  # kernel values held at once while a decision function is evaluated
SINGLE_EPS = float(np.finfo(np.float32).eps)
DOUBLE_EPS = float(np.finfo(np.float64).eps)


def finite_values(kernel: Kernel, compute: Callable[[], Array]) -> Array:
    """What ``compute`` returns, refused in a sentence where numbers of its type end before it."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = compute()
        # the sum is finite unless some value is not (or, harmlessly, unless it overflows)
        fine = np.isfinite(values.sum()) or np.isfinite(values).all()
    if not fine:
        raise ValueError(
            f"Values of {kernel!r} are beyond what {values.dtype} holds: X has very large values, "
            "or the kernel large parameters. Scale the features first, for instance with "
            "sklearn.preprocessing.StandardScaler, or choose a smaller gamma, degree or factor."
        )
    return values


class Prepared(ABC):
    """Kernel values between n training samples, and between them and new ones.

    Attributes
    ----------
    kernel : Kernel
        The kernel, its parameters all numbers.
    n : int
        Number of training samples.
    dtype : numpy dtype
        Type of the values returned (the diagonal is always float64).
    entry_error : float
        Estimate of the absolute error of an entry.
    """

    def __init__(self, kernel: Kernel, n: int, dtype: np.dtype[Any]) -> None:
        self.kernel = kernel
        self.n = n
        self.dtype = dtype
        self._diagonal: Array | None = None

    def _check_parts(self) -> None:
        """Refuse parts that hold another number of samples; for kernels that come from a file."""
        if any(n != self.n for n in self._counted()) or self.n < 0:
            raise ValueError("The parts of a prepared kernel hold different numbers of samples.")

    def _counted(self) -> Iterator[int]:
        """Number of training samples, as each part of it says."""
        if self._diagonal is not None:
            yield len(self._diagonal)

    # ------------------------------------------------------------------ what subclasses say

    @abstractmethod
    def _compute_diag(self) -> Array:
        """K(x, x) for each training sample."""

    @abstractmethod
    def _gram(self) -> Values:
        """All entries, exactly symmetric."""

    @abstractmethod
    def _block(self, rows: Index, cols: Index | None, out: Values | None = None) -> Values:
        """Entries between training samples, all columns if ``cols`` is None.

        A class that can fill ``out`` without a detour does so and returns it; the others leave
        the copy to the caller.
        """

    @abstractmethod
    def _cross(self, Z: Any, out: Values | None = None) -> Values:
        """Entries between new samples and the training samples, always a new array or ``out``."""

    @abstractmethod
    def _new_samples(self, Z: Any) -> Any:
        """Check new samples and convert them."""

    @abstractmethod
    def subset(self, index: ArrayLike) -> Prepared:
        """The same for some of the training samples, for instance the support vectors."""

    @property
    @abstractmethod
    def entry_error(self) -> float: ...

    # ------------------------------------------------------------------ what solvers ask

    def diag(self) -> Array:
        """K(x_i, x_i), float64 of shape (n,); a read-only array."""
        if self._diagonal is None:
            self._diagonal = np.asarray(self._compute_diag(), dtype=np.float64)
            self._diagonal.flags.writeable = False
        return self._diagonal

    def gram(self) -> Values:
        """The Gram matrix, shape (n, n), exactly symmetric."""
        require_gram(self.n, self.n, self.dtype.itemsize)
        return finite_values(self.kernel, lambda: self._typed(self._gram(), None))

    def rows(self, index: ArrayLike, out: Values | None = None) -> Values:
        """Rows of the Gram matrix, shape (len(index), n), written into ``out`` if given."""
        chosen = _as_index(index)
        check_out(out, (len(chosen), self.n), self.dtype)
        return self._typed(self._block(chosen, None, out), out)

    def block(self, rows: ArrayLike, cols: ArrayLike, out: Values | None = None) -> Values:
        """Entries at the crossings of some rows and columns, written into ``out`` if given.

        The shape is (len(rows), len(cols)).
        """
        chosen, columns = _as_index(rows), _as_index(cols)
        check_out(out, (len(chosen), len(columns)), self.dtype)
        return self._typed(self._block(chosen, columns, out), out)

    def cross(self, Z: ArrayLike, out: Values | None = None) -> Values:
        """Kernel values between new and training samples, shape (len(Z), n)."""
        samples = self._new_samples(Z)
        if out is None:
            require_gram(_length(samples), self.n, self.dtype.itemsize)
        check_out(out, (_length(samples), self.n), self.dtype)
        return self._typed(self._cross(samples, out), out)

    def decision(self, Z: ArrayLike, coef: ArrayLike) -> Array:
        """``cross(Z) @ coef`` in pieces, so that memory stays bounded for any number of rows.

        Parameters
        ----------
        Z : array or CSR matrix of shape (m, p)
            New samples.
        coef : array of shape (n,) or (n, k)
            Coefficients of the training samples; rows of zeros cost nothing.

        Returns
        -------
        ndarray of float64, shape (m,) or (m, k)
        """
        weights = np.asarray(coef, dtype=np.float64)
        if weights.ndim not in (1, 2) or weights.shape[0] != self.n:
            raise ValueError(
                f"coef must have one row for each of the {self.n} training samples; "
                f"it has shape {weights.shape}."
            )
        samples = self._new_samples(Z)
        table = np.ascontiguousarray(weights.reshape(self.n, -1))
        used = np.flatnonzero(table.any(axis=1))
        if len(used) < 0.9 * self.n:
            values = self.subset(used)._decision(samples, np.ascontiguousarray(table[used]))
        else:
            values = self._decision(samples, table)
        return values[:, 0] if weights.ndim == 1 else values

    def _decision(self, Z: Any, coef: Array) -> Array:
        out = np.zeros((_length(Z), coef.shape[1]))
        if self.n:
            step = max(1, DECISION_BYTES // (8 * self.n))
            for start, stop in panels(len(out), step):
                np.matmul(self._cross(Z[start:stop]), coef, out=out[start:stop])
        return out

    def _typed(self, values: Values, out: Values | None) -> Values:
        if out is None:
            return values if values.dtype == self.dtype else values.astype(self.dtype)
        if values is not out:
            out[...] = values
        return out

    def __repr__(self) -> str:
        return f"<{self.kernel!r} on {self.n} samples, {self.dtype.name}>"


class Recomputed(Prepared):
    """Any kernel, its values worked out from the samples each time they are asked for."""

    def __init__(self, kernel: Kernel, X: Matrix, dtype: np.dtype[Any]) -> None:
        super().__init__(kernel, X.shape[0], dtype)
        self.X = X

    def _counted(self) -> Iterator[int]:
        yield from super()._counted()
        yield self.X.shape[0]

    def _compute_diag(self) -> Array:
        return self.kernel._diag(self.X)

    def _gram(self) -> Values:
        return self.kernel._gram(self.X, None)

    def _block(self, rows: Index, cols: Index | None, out: Values | None = None) -> Values:
        return self.kernel._gram(self.X[rows], self.X if cols is None else self.X[cols])

    def _cross(self, Z: Any, out: Values | None = None) -> Values:
        return self.kernel._gram(Z, self.X)

    def _new_samples(self, Z: Any) -> Any:
        samples = self.kernel._samples(Z, "Z")
        check_same_width(samples, self.X)
        return samples

    def subset(self, index: ArrayLike) -> Prepared:
        return self.kernel._prepare(self.X[_as_index(index)], self.dtype)

    @property
    def entry_error(self) -> float:
        size = self.kernel._error_scale(self.X, self.diag())
        return rounding(self.dtype) * float(np.abs(self.diag()).max(initial=0.0)) + (
            4 * DOUBLE_EPS * size
        )


class PreparedLinear(Recomputed):
    """The linear kernel, whose decision function is one vector in the space of the features."""

    def _decision(self, Z: Any, coef: Array) -> Array:
        return np.asarray(Z @ (self.X.T @ coef))


class PreparedTable(Prepared):
    """A Gram matrix known beforehand; new samples are rows of kernel values."""

    def __init__(
        self,
        kernel: Kernel,
        table: Array,
        dtype: np.dtype[Any],
        columns: Index | None = None,
        width: int | None = None,
    ) -> None:
        super().__init__(kernel, table.shape[0], dtype)
        self.table = table
        self.columns = columns
        self.width = table.shape[0] if width is None else width

    def _counted(self) -> Iterator[int]:
        yield from super()._counted()
        yield from self.table.shape
        if self.columns is not None:
            yield len(self.columns)

    def _compute_diag(self) -> Array:
        return np.diag(self.table).copy()

    def _gram(self) -> Values:
        return self.table.copy()

    def _block(self, rows: Index, cols: Index | None, out: Values | None = None) -> Values:
        return self.table[rows] if cols is None else self.table[np.ix_(rows, cols)]

    def _cross(self, Z: Any, out: Values | None = None) -> Values:
        return Z.copy() if self.columns is None else np.ascontiguousarray(Z[:, self.columns])

    def _new_samples(self, Z: Any) -> Any:
        samples = as_samples(Z, "Z", repr(self.kernel), accept_sparse=False)
        if samples.shape[1] != self.width:
            raise ValueError(
                f"with precomputed kernel values Z needs one column for each of the {self.width} "
                f"training samples; it has shape {samples.shape}."
            )
        return samples

    def subset(self, index: ArrayLike) -> Prepared:
        chosen = _as_index(index)
        columns = chosen if self.columns is None else self.columns[chosen]
        table = np.ascontiguousarray(self.table[np.ix_(chosen, chosen)])
        return PreparedTable(self.kernel, table, self.dtype, columns, self.width)

    @property
    def entry_error(self) -> float:
        return rounding(self.dtype) * float(np.abs(self.table).max(initial=0.0))


class PreparedComposite(Prepared):
    """A kernel made of others: their values in float64, combined entry by entry."""

    def __init__(self, kernel: Composite, parts: list[Prepared], dtype: np.dtype[Any]) -> None:
        super().__init__(kernel, parts[0].n, dtype)
        self.composite = kernel
        self.parts = parts

    def _counted(self) -> Iterator[int]:
        yield from super()._counted()
        yield from (part.n for part in self.parts)

    def _compute_diag(self) -> Array:
        return self.composite.combine(*(part.diag().copy() for part in self.parts))

    def _gram(self) -> Values:
        return self.composite.combine(*(part._gram() for part in self.parts))

    def _block(self, rows: Index, cols: Index | None, out: Values | None = None) -> Values:
        return self.composite.combine(*(part._block(rows, cols) for part in self.parts))

    def _cross(self, Z: Any, out: Values | None = None) -> Values:
        values = (part._cross(z) for part, z in zip(self.parts, Z.parts, strict=True))
        return self.composite.combine(*values)

    def _new_samples(self, Z: Any) -> Any:
        return _SamplesOfParts([part._new_samples(Z) for part in self.parts])

    def subset(self, index: ArrayLike) -> Prepared:
        parts = [part.subset(index) for part in self.parts]
        return PreparedComposite(self.composite, parts, self.dtype)

    @property
    def entry_error(self) -> float:
        sizes = [np.abs(part.diag()).max(initial=0.0, keepdims=True) for part in self.parts]
        slopes = self.composite.partials(*sizes)
        inherited = sum(
            float(abs(slope[0])) * part.entry_error
            for slope, part in zip(slopes, self.parts, strict=True)
        )
        own = float(np.abs(self.diag()).max(initial=0.0))
        return inherited + (rounding(self.dtype) + 2 * DOUBLE_EPS) * own


class PreparedMapped(Prepared):
    """K(h(x), h(x')): another prepared kernel, on mapped samples."""

    def __init__(self, kernel: Mapped, inner: Prepared, dtype: np.dtype[Any]) -> None:
        super().__init__(kernel, inner.n, dtype)
        self.mapped = kernel
        self.inner = inner

    def _counted(self) -> Iterator[int]:
        yield from super()._counted()
        yield self.inner.n

    def _compute_diag(self) -> Array:
        return self.inner.diag().copy()

    def _gram(self) -> Values:
        return self.inner._gram()

    def _block(self, rows: Index, cols: Index | None, out: Values | None = None) -> Values:
        return self.inner._block(rows, cols, out)

    def _cross(self, Z: Any, out: Values | None = None) -> Values:
        return self.inner._cross(Z, out)

    def _decision(self, Z: Any, coef: Array) -> Array:
        return self.inner._decision(Z, coef)

    def _new_samples(self, Z: Any) -> Any:
        return self.inner._new_samples(self.mapped.image(self.kernel._samples(Z, "Z")))

    def subset(self, index: ArrayLike) -> Prepared:
        return PreparedMapped(self.mapped, self.inner.subset(index), self.dtype)

    @property
    def entry_error(self) -> float:
        return self.inner.entry_error


class _SamplesOfParts:
    """New samples in the form that each part of a composite wants; slices like one table."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return _length(self.parts[0])

    def __getitem__(self, where: slice) -> _SamplesOfParts:
        return _SamplesOfParts([part[where] for part in self.parts])


def rounding(dtype: np.dtype[Any]) -> float:
    """Relative error of storing a float64 number in ``dtype``."""
    return SINGLE_EPS / 2 if dtype == np.float32 else 0.0


def check_out(out: Values | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an output array of the wrong shape or type."""
    if out is None:
        return
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(
            f"out must have shape {shape} and type {dtype.name}; "
            f"it has shape {out.shape} and type {out.dtype.name}."
        )


def _as_index(index: ArrayLike) -> Index:
    return np.asarray(index, dtype=np.intp).reshape(-1)


def _length(Z: Any) -> int:
    return int(Z.shape[0]) if hasattr(Z, "shape") else len(Z)
