"""Views of the quadratic term: what a solver may ask of ``Q``, and the ways to answer.

A solver never sees how ``Q`` is made. It asks for the diagonal, for rows, for a block, for the
product with a sparse vector, or for the whole matrix; a kernel on data, an array, a low-rank
factorisation answer in their own way, and the views (signed, scaled, shifted, repeated) answer by
asking the matrix they stand before.

At the end: rows and blocks of large dense matrices, moved and multiplied without copies between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.validation import require_memory

if TYPE_CHECKING:
    from tamiz.gpu.gram import CardGram

#: Gram matrices up to this size are held in float64 whatever the kernel.
SMALL_GRAM_BYTES = 8 * 2**20


class OnCard(NamedTuple):
    """A matrix that is on a card: kernel values, and what is added to their diagonal."""

    gram: CardGram
    shift: np.ndarray | None


class QMatrix(ABC):
    """A symmetric matrix of ``n`` rows that may not exist in memory."""

    n: int

    #: samples that it was computed from, where they are known
    X: Any = None

    #: absolute error of an entry that a solver must expect (0 when exact to float64)
    entry_error: float = 0.0

    #: whether ``dense`` costs nothing
    in_memory: bool = False

    _kept: np.ndarray | None = None

    @property
    def dtype(self) -> np.dtype:
        """Type of the entries that ``rows`` and ``dense`` return."""
        return np.dtype(np.float64)

    @property
    def rounding_error(self) -> float:
        """Absolute error of an entry from arithmetic in float64, where it is known."""
        return 0.0

    @abstractmethod
    def diag(self) -> np.ndarray:
        """Diagonal, float64."""

    @abstractmethod
    def rows(self, index: np.ndarray) -> np.ndarray:
        """The rows ``index``, all columns."""

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The entries at ``rows`` × ``columns``."""
        return np.ascontiguousarray(self.rows(rows)[:, columns])

    def fill(self, out: np.ndarray, rows: np.ndarray, columns: np.ndarray | None = None) -> None:
        """Write the entries at ``rows`` × ``columns`` (all columns by default) into ``out``."""
        out[...] = self.rows(rows) if columns is None else self.block(rows, columns)

    def dense(self) -> np.ndarray:
        """The whole matrix, computed once; callers must not write to it."""
        if self._kept is None:
            require_memory(
                self.dtype.itemsize * self.n**2,
                f"a matrix of {self.n:,} × {self.n:,} values",
                "Use a solver that keeps only some rows (solver='auto' or 'decomposition'), or "
                "fewer samples.",
            )
            self._kept = self._all()
        return self._kept

    def _all(self) -> np.ndarray:
        return self.rows(np.arange(self.n))

    def double(self) -> QMatrix:
        """The same matrix with entries in float64."""
        return self

    def dot(self, vector: np.ndarray) -> np.ndarray:
        """``Q @ vector`` in float64, touching only the rows where ``vector`` is not zero."""
        result = np.zeros(self.n)
        support = np.flatnonzero(vector)
        step = max(1, 2**22 // max(1, self.n))
        for start in range(0, len(support), step):
            part = support[start : start + step]
            result += vector[part] @ self.rows(part).astype(np.float64, copy=False)
        return result

    def exact_dot(self, vector: np.ndarray) -> np.ndarray:
        """``Q @ vector`` from entries computed in float64, however they are stored."""
        return self.dot(vector)

    def on_card(self) -> OnCard | None:
        """Where the matrix is on a card; None if it is not."""
        return None

    def repeated(self) -> tuple[QMatrix, int]:
        """The distinct part of the matrix and how often it is repeated in both directions."""
        return self, 1

    def unsigned(self, y: np.ndarray) -> QMatrix:
        """The matrix ``Q_ij / (y_i y_j)``."""
        return self if np.all(y == 1.0) else ScaledQ(self, 1.0 / y)


class DenseQ(QMatrix):
    """A matrix that is there already.

    Parameters
    ----------
    array : array of shape (n, n)
        The entries.
    rounding_error : float
        Absolute error of an entry, where it is known.
    """

    in_memory = True

    def __init__(self, array: np.ndarray, rounding_error: float = 0.0):
        self._rounding_error = rounding_error
        self.array = np.ascontiguousarray(array)
        if self.array.dtype not in (np.float32, np.float64):
            self.array = self.array.astype(np.float64)
        self.n = len(self.array)

    @property
    def rounding_error(self) -> float:
        return self._rounding_error

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    def diag(self) -> np.ndarray:
        return self.array.diagonal().astype(np.float64)

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.array[index]

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.array[rows[:, None], columns]

    def dense(self) -> np.ndarray:
        return self.array

    def dot(self, vector: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(vector)
        result = np.zeros(self.n)
        add_rows(self.array, support, vector[support], result)
        return result

    def double(self) -> DenseQ:
        return DenseQ(self.array.astype(np.float64), self._rounding_error)

    def subset(self, samples: np.ndarray, whole: bool = True) -> DenseQ:
        """The part that belongs to ``samples``."""
        return DenseQ(take_block(self.array, samples), self._rounding_error)


class KernelQ(QMatrix):
    """The Gram matrix of a kernel on data, computed when asked for.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel (no ``gamma="scale"`` left).
    X : array or CSR matrix of shape (n, p)
        The data.
    dtype : numpy dtype, optional
        Type in which entries are stored. By default float32 for kernels bounded by one on large
        data, where it halves memory and time, and float64 otherwise.
    """

    def __init__(self, kernel: Any, X: Any, dtype: Any = None):
        self.kernel = kernel
        self.X = X
        self.n = X.shape[0]
        if dtype is None:
            small = 8 * self.n**2 <= SMALL_GRAM_BYTES
            dtype = np.float64 if small or not kernel.unit_bounded else np.float32
        self._prepared = kernel.prepare(X, dtype=np.dtype(dtype))
        if self.dtype == np.float32:
            self.entry_error = float(self._prepared.entry_error)

    @property
    def rounding_error(self) -> float:
        return 0.0 if self.dtype == np.float32 else float(self._prepared.entry_error)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self._prepared.dtype)

    def diag(self) -> np.ndarray:
        return self._prepared.diag()

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self._prepared.rows(index)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self._prepared.block(rows, columns)

    def fill(self, out: np.ndarray, rows: np.ndarray, columns: np.ndarray | None = None) -> None:
        if columns is None:
            self._prepared.rows(rows, out)
        else:
            self._prepared.block(rows, columns, out)

    def _all(self) -> np.ndarray:
        return self._prepared.gram()

    def double(self) -> KernelQ:
        return KernelQ(self.kernel, self.X, np.float64)

    def subset(self, samples: np.ndarray, whole: bool) -> KernelQ:
        """The part that belongs to ``samples``; ``whole``: cut out of the dense matrix."""
        part = KernelQ(self.kernel, self.X[samples], self.dtype)
        if whole:
            part._kept = take_block(self.dense(), samples)
        return part

    def dot(self, vector: np.ndarray) -> np.ndarray:
        return super().dot(vector) if self._kept is None else DenseQ(self._kept).dot(vector)

    def exact_dot(self, vector: np.ndarray) -> np.ndarray:
        if self.dtype == np.float64:
            return self.dot(vector)
        support = np.flatnonzero(vector)
        if not len(support):
            return np.zeros(self.n)
        exact = self.kernel.prepare(self.X[support], dtype=np.dtype(np.float64))
        return exact.decision(self.X, vector[support])


class LowRankQ(QMatrix):
    """``U diag(weights) U'``: a Nyström or spectral approximation of a larger matrix."""

    def __init__(self, U: np.ndarray, weights: np.ndarray | None = None):
        self.U = np.ascontiguousarray(U, dtype=np.float64)
        self.weights = np.ones(self.U.shape[1]) if weights is None else np.asarray(weights)
        self._weighted = self.U * self.weights
        self.n = len(self.U)

    def diag(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self._weighted, self.U)

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self._weighted[index] @ self.U.T

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self._weighted[rows] @ self.U[columns].T

    def dot(self, vector: np.ndarray) -> np.ndarray:
        return self._weighted @ (self.U.T @ vector)


class _View(QMatrix):
    """A matrix seen through another one of the same size."""

    def __init__(self, inner: QMatrix):
        self.inner = inner
        self.n = inner.n
        self.entry_error = inner.entry_error

    @property
    def dtype(self) -> np.dtype:
        return self.inner.dtype

    @property
    def rounding_error(self) -> float:
        return self.inner.rounding_error


class ScaledQ(_View):
    """``s_i Q_ij s_j``; with signs ``s = y`` it is the quadratic term of a classifier.

    A scalar ``s`` stands for the same factor at every index.
    """

    def __init__(self, inner: QMatrix, scale: np.ndarray | float):
        super().__init__(inner)
        self.scale = np.broadcast_to(np.asarray(scale, dtype=np.float64), (inner.n,))
        self._largest = float(np.max(np.abs(self.scale), initial=0.0)) ** 2
        self.entry_error = inner.entry_error * self._largest

    @property
    def rounding_error(self) -> float:
        return self.inner.rounding_error * self._largest

    def diag(self) -> np.ndarray:
        return self.inner.diag() * self.scale**2

    def rows(self, index: np.ndarray) -> np.ndarray:
        scale = self.scale.astype(self.dtype)
        return self.inner.rows(index) * scale[index, None] * scale

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        scale = self.scale.astype(self.dtype)
        return self.inner.block(rows, columns) * scale[rows, None] * scale[columns]

    def dot(self, vector: np.ndarray) -> np.ndarray:
        return self.scale * self.inner.dot(self.scale * vector)

    def exact_dot(self, vector: np.ndarray) -> np.ndarray:
        return self.scale * self.inner.exact_dot(self.scale * vector)

    def unsigned(self, y: np.ndarray) -> QMatrix:
        if np.array_equal(self.scale, y):
            return self.inner
        return ScaledQ(self.inner, self.scale / y)

    def double(self) -> ScaledQ:
        return ScaledQ(self.inner.double(), self.scale)


class ShiftedQ(_View):
    """``Q + shift * I``: squared slack turns into a ridge on the diagonal."""

    def __init__(self, inner: QMatrix, shift: np.ndarray | float):
        super().__init__(inner)
        self.shift = np.broadcast_to(np.asarray(shift, dtype=np.float64), (inner.n,))
        if inner.dtype == np.float32:  # the ridge is rounded with the rest
            self.entry_error += 1e-7 * float(np.abs(self.shift).max(initial=0.0))

    def diag(self) -> np.ndarray:
        return self.inner.diag() + self.shift

    def rows(self, index: np.ndarray) -> np.ndarray:
        rows = np.array(self.inner.rows(index))
        rows[np.arange(len(index)), index] += self.shift[index].astype(rows.dtype)
        return rows

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        block = np.array(self.inner.block(rows, columns))
        same = rows[:, None] == columns
        block[same] += np.broadcast_to(self.shift[rows, None], same.shape)[same].astype(block.dtype)
        return block

    def dot(self, vector: np.ndarray) -> np.ndarray:
        return self.inner.dot(vector) + self.shift * vector

    def exact_dot(self, vector: np.ndarray) -> np.ndarray:
        return self.inner.exact_dot(vector) + self.shift * vector

    def _all(self) -> np.ndarray:
        whole = self.inner.dense().copy()
        whole.flat[:: self.n + 1] += self.shift.astype(whole.dtype)
        return whole

    def on_card(self) -> OnCard | None:
        inner = self.inner.on_card()
        if inner is None:
            return None
        return OnCard(inner.gram, self.shift + (0.0 if inner.shift is None else inner.shift))

    def double(self) -> ShiftedQ:
        return ShiftedQ(self.inner.double(), self.shift)


class RepeatedQ(QMatrix):
    """The same matrix ``copies`` times in both directions, as regression needs it.

    Index ``c * n + i`` is copy ``c`` of the inner index ``i``.
    """

    def __init__(self, inner: QMatrix, copies: int):
        self.inner = inner
        self.copies = copies
        self.n = inner.n * copies
        self.entry_error = inner.entry_error

    @property
    def dtype(self) -> np.dtype:
        return self.inner.dtype

    @property
    def rounding_error(self) -> float:
        return self.inner.rounding_error

    def diag(self) -> np.ndarray:
        return np.tile(self.inner.diag(), self.copies)

    def rows(self, index: np.ndarray) -> np.ndarray:
        return np.tile(self.inner.rows(index % self.inner.n), (1, self.copies))

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.inner.block(rows % self.inner.n, columns % self.inner.n)

    def dot(self, vector: np.ndarray) -> np.ndarray:
        return np.tile(self.inner.dot(self._fold(vector)), self.copies)

    def exact_dot(self, vector: np.ndarray) -> np.ndarray:
        return np.tile(self.inner.exact_dot(self._fold(vector)), self.copies)

    def _fold(self, vector: np.ndarray) -> np.ndarray:
        return vector.reshape(self.copies, self.inner.n).sum(axis=0)

    def repeated(self) -> tuple[QMatrix, int]:
        return self.inner, self.copies

    def double(self) -> RepeatedQ:
        return RepeatedQ(self.inner.double(), self.copies)


def take_block(matrix: np.ndarray, index: np.ndarray) -> np.ndarray:
    """``matrix[index][:, index]`` as a new contiguous array."""
    block = np.empty((len(index), len(index)), dtype=matrix.dtype)
    copy_block(matrix, index, block, np.arange(len(index)))
    return block


def add_rows(store: np.ndarray, slots: np.ndarray, coef: np.ndarray, result: np.ndarray) -> None:
    """``result += coef @ store[slots]`` in float64, without copying the rows together."""
    run_tiles(_add_rows, len(result), store, slots, coef, result, min_items=4096)


def copy_block(source: np.ndarray, old: np.ndarray, target: np.ndarray, new: np.ndarray) -> None:
    """``target[new][:, new] = source[old][:, old]``."""
    run_tiles(_copy_block, len(old), source, old, target, new, min_items=64)


def copy_rows(source: np.ndarray, target: np.ndarray, places: np.ndarray) -> None:
    """``target[places] = source``."""
    run_tiles(_copy_rows, len(places), source, target, places, min_items=16)


def put_cross(entries: np.ndarray, target: np.ndarray, places: np.ndarray) -> None:
    """``target[places] = entries`` and ``target[:, places] = entries.T``, for a square target."""
    copy_rows(entries, target, places)
    run_tiles(_put_columns, len(target), entries, target, places, min_items=64)


@njit(cache=True, nogil=True)
def _copy_rows(start: Any, stop: Any, source: Any, target: Any, places: Any) -> None:
    for r in range(start, stop):
        row, out = source[r], target[places[r]]
        for c in range(len(row)):
            out[c] = row[c]


@njit(cache=True, nogil=True)
def _put_columns(start: Any, stop: Any, entries: Any, target: Any, places: Any) -> None:
    tile = 16  # entries of a row that come into the cache together
    for c0 in range(start, stop, tile):
        c1 = min(c0 + tile, stop)
        for r in range(len(places)):
            row, place = entries[r], places[r]
            for c in range(c0, c1):
                target[c, place] = row[c]


@njit(cache=True, nogil=True)
def _copy_block(start, stop, source, old, target, new):  # type: ignore[no-untyped-def]
    for r in range(start, stop):
        row, out = source[old[r]], target[new[r]]
        for c in range(len(old)):
            out[new[c]] = row[old[c]]


@njit(cache=True, nogil=True)
def _add_rows(start, stop, store, slots, coef, result):  # type: ignore[no-untyped-def]
    """The columns ``start:stop`` of :func:`add_rows`, four rows at a time."""
    tile = 2048
    for s in range(start, stop, tile):
        e = min(s + tile, stop)
        out = result[s:e]
        k = 0
        while k + 4 <= len(slots):
            _add_four(
                out,
                store[slots[k], s:e],
                store[slots[k + 1], s:e],
                store[slots[k + 2], s:e],
                store[slots[k + 3], s:e],
                coef[k : k + 4],
            )
            k += 4
        while k < len(slots):
            row, c = store[slots[k], s:e], coef[k]
            for v in range(len(out)):
                out[v] += c * row[v]
            k += 1


@njit(cache=True, nogil=True)
def _add_four(out, r0, r1, r2, r3, c):  # type: ignore[no-untyped-def]
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    for v in range(len(out)):
        out[v] += (c0 * r0[v] + c1 * r1[v]) + (c2 * r2[v] + c3 * r3[v])
