r"""Kernel values on the card: the whole matrix where it fits, blocks of rows where not.

Three forms cover the linear, polynomial, radial and sigmoid kernels,

.. math::

    e^{-\gamma \|x - z\|^2}, \qquad (c + \gamma \langle x, z\rangle)^d, \qquad
    \tanh(\gamma \langle x, z\rangle + c),

each one product of matrices and a few passes over the block. For the radial form samples are
measured from their mean and scaled by :math:`\sqrt{2\gamma}`; its exponent is then the product less
half of both squared norms, as in :mod:`tamiz.kernels.radial`.

Entries may be stored in float32; sums over them are always taken in float64, and
:meth:`CardGram.exact_product` computes them in float64 from the samples, for certificates. No sum
depends on the order in which threads end: the same problem gives the same answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.gpu.lane import Lane

RADIAL, POWER, TANH = "radial", "power", "tanh"

#: Largest gamma ||x - mean||**2 for which a product in float32 is accurate enough.
_SINGLE_REACH = 30.0
#: And for which one in float64 leaves digits at all.
_LARGEST_REACH = 1e9
#: A sample of a larger half-norm is at kernel value 0 from any training sample; in float32, where
#: these are within the reach above, already here.
_FAR, _SINGLE_FAR = 1e300, 1e8
#: Blocks of rows take at most this, and this part of the memory that is free.
_BLOCK_BYTES, _BLOCK_PART = 2**31, 1.0 / 16.0
#: The part of free memory that a matrix kept as a whole may take.
_WHOLE_PART = 0.75


class KernelForm(NamedTuple):
    """A kernel as the card computes it; its parameters are numbers."""

    shape: str  # RADIAL, POWER or TANH
    gamma: float
    constant: float = 0.0
    degree: int = 1


class UnfitForCardError(ValueError):
    """This problem is not one for the card, whatever its memory; the sentence says why."""


class CardSamples(NamedTuple):
    """Samples on the card in the terms of a form, and what is taken off their products."""

    rows: Any
    half: Any  # half their squared norms; None for forms of inner products


class CardGram:
    """Kernel values between training samples, and between them and new ones, on the card.

    Parameters
    ----------
    lane : Lane
        The card.
    form : KernelForm
        The kernel.
    X : array of shape (n, p)
        Training samples, on the host.
    dtype : numpy dtype, default=float64
        In which entries are stored.

    Raises
    ------
    UnfitForCardError
        If the samples are so far apart that products lose all digits.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.gpu import emulated
    >>> from tamiz.gpu.gram import RADIAL, CardGram, KernelForm
    >>> with emulated() as lane:
    ...     gram = CardGram(lane, KernelForm(RADIAL, 0.5), np.array([[0.0], [2.0]]))
    ...     print(gram.block(np.array([0, 1])).round(4))
    [[1.     0.1353]
     [0.1353 1.    ]]
    """

    def __init__(self, lane: Lane, form: KernelForm, X: np.ndarray, dtype: Any = np.float64):
        self.lane, self.form = lane, form
        self.n, self.p = X.shape
        self.dtype = np.dtype(dtype)
        self.centre = X.mean(axis=0) if form.shape == RADIAL and len(X) else np.zeros(self.p)
        lane.require(8 * self.n * (self.p + 1), "the samples", size=self.n)
        rows, half = self._spread(X)
        reach = 0.0 if half is None else float(half.max(initial=0.0))
        if not reach <= _LARGEST_REACH:
            raise UnfitForCardError(
                "X holds samples so far apart, beside the range of the radial kernel, that their "
                'distances cannot be computed on the card; scale the features, or use device="cpu".'
            )
        single = self.dtype == np.float32 and form.shape == RADIAL and reach <= _SINGLE_REACH
        self.exact = self._sent(rows, half, np.float64)
        self.samples = self._rounded(self.exact) if single else self.exact
        self._whole: Any = None
        self._keeps: bool | None = None  # not decided yet

    def _spread(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Samples in the terms of the form, still on the host, in float64."""
        if self.form.shape != RADIAL:
            return np.asarray(X, dtype=np.float64), None
        rows = (X - self.centre) * np.sqrt(2.0 * self.form.gamma)
        with np.errstate(over="ignore"):
            half = 0.5 * np.einsum("ij,ij->i", rows, rows)
        return rows, half

    def _nearer(self, rows: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """New samples without infinite numbers where a kernel value is 0."""
        limit = _FAR if self.samples is self.exact else _SINGLE_FAR
        far = ~(half < limit)
        if far.any():
            rows, half = np.where(far[:, None], 0.0, rows), np.where(far, limit, half)
        return rows, half

    def _sent(self, rows: np.ndarray, half: np.ndarray | None, dtype: Any) -> CardSamples:
        send = self.lane.to_device
        return CardSamples(send(rows, dtype), None if half is None else send(half, dtype))

    def _rounded(self, samples: CardSamples) -> CardSamples:
        """Samples in float32, with the norms of what they were rounded to."""
        rows = samples.rows.astype(np.float32)
        wide = rows.astype(np.float64)
        half = 0.5 * (wide * wide).sum(axis=1)
        half = self.lane.xp.where(samples.half < _SINGLE_FAR, half, _SINGLE_FAR)
        return CardSamples(rows, half.astype(np.float32))

    # ------------------------------------------------------------------ what is kept

    @property
    def whole(self) -> Any:
        """The whole matrix on the card, or None if it does not fit; computed once."""
        if self._keeps is None:
            self._keeps = self.lane.fits(self.bytes_of_whole() / _WHOLE_PART)
        if self._keeps and self._whole is None:
            with self.lane.guarded("the kernel matrix"):
                whole = self.lane.xp.empty((self.n, self.n), dtype=self.dtype)
                for start, stop in self.panels(self.n, self.n):
                    whole[start:stop] = self._values(_part(self.samples, start, stop), self.samples)
            self._whole = whole
        return self._whole

    def bytes_of_whole(self) -> float:
        """Memory of the whole matrix."""
        return float(self.dtype.itemsize) * self.n**2

    def drop(self) -> None:
        """Give the memory of the whole matrix back; from now on rows are computed."""
        self._whole, self._keeps = None, False

    def panels(self, rows: int, width: int) -> list[tuple[int, int]]:
        """Ranges of rows whose blocks of this width are small beside the memory that is free."""
        room = min(_BLOCK_BYTES, _BLOCK_PART * self.lane.free_bytes())
        step = int(room // (8 * max(1, width)))
        if step < 1:
            self.lane.require(8 * width / _BLOCK_PART, "a row of the kernel matrix", size=width)
            step = 1
        return [(start, min(start + step, rows)) for start in range(0, rows, step)]

    def subset(self, index: np.ndarray) -> CardGram:
        """The same for some of the training samples."""
        part = object.__new__(CardGram)
        part.__dict__.update(self.__dict__)
        chosen = self.lane.to_device(index, np.int64)
        part.n, part._whole, part._keeps = len(index), None, None
        part.exact = _taken(self.exact, chosen)
        same = self.samples is self.exact
        part.samples = part.exact if same else _taken(self.samples, chosen)
        return part

    # ------------------------------------------------------------------ entries

    def rows(self, index: Any) -> Any:
        """The rows ``index`` (an array of the card) of the matrix, on the card."""
        if self.whole is not None:
            return self.whole[index]
        return self._values(_taken(self.samples, index), self.samples).astype(self.dtype)

    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """The entries at ``rows`` × ``columns`` (the same by default), on the host."""
        chosen = self.lane.to_device(rows, np.int64)
        other = chosen if columns is None else self.lane.to_device(columns, np.int64)
        whole = self.whole
        if whole is not None:
            return self.lane.to_host(whole[chosen[:, None], other])
        left, right = _taken(self.samples, chosen), _taken(self.samples, other)
        out = np.empty((len(rows), len(right.rows)), dtype=self.dtype)
        with self.lane.guarded("a block of the kernel matrix"):
            for start, stop in self.panels(len(rows), out.shape[1]):
                values = self._values(_part(left, start, stop), right)
                out[start:stop] = self.lane.to_host(values.astype(self.dtype))
        return out

    def add_product(self, index: np.ndarray, coef: np.ndarray, out: Any) -> None:
        """``out += coef @ K[index]``; ``out`` is an array of the card in float64."""
        chosen, weights = self.lane.to_device(index, np.int64), self.lane.to_device(coef)
        with self.lane.guarded("rows of the kernel matrix"):
            for start, stop in self.panels(len(index), self.n):
                block = self.rows(chosen[start:stop])
                out += weights[start:stop] @ block.astype(np.float64)

    def exact_product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` from entries in float64, computed in blocks from the samples."""
        support = np.flatnonzero(coef)
        out = self.lane.xp.zeros(self.n, dtype=np.float64)
        weights = self.lane.to_device(coef[support])
        chosen = _taken(self.exact, self.lane.to_device(support, np.int64))
        with self.lane.guarded("rows of the kernel matrix"):
            for start, stop in self.panels(len(support), self.n):
                out += weights[start:stop] @ self._values(_part(chosen, start, stop), self.exact)
        return self.lane.to_host(out)

    def decision(self, Z: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """``K(Z, X) @ coef`` for new samples; ``coef`` has one column for each machine."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows, half = self._spread(Z)
        if half is not None:
            rows, half = self._nearer(rows, half)
        weights = self.lane.to_device(coef, np.float64)
        out = np.empty((len(Z), coef.shape[1]))
        single = self.samples is not self.exact
        with self.lane.guarded("kernel values of new samples"):
            for start, stop in self.panels(len(Z), self.n):
                own = None if half is None else half[start:stop]
                left = self._sent(rows[start:stop], own, np.float64)
                values = self._values(self._rounded(left) if single else left, self.samples)
                out[start:stop] = self.lane.to_host(values.astype(np.float64) @ weights)
        return out

    def _values(self, left: CardSamples, right: CardSamples) -> Any:
        """Kernel values between samples of the card, in the type of these."""
        xp, form = self.lane.xp, self.form
        values = left.rows @ right.rows.T
        if form.shape == RADIAL:
            values -= left.half[:, None]
            values -= right.half
            xp.minimum(values, 0.0, out=values)
            return xp.exp(values, out=values)
        values *= form.gamma
        values += form.constant
        return xp.tanh(values, out=values) if form.shape == TANH else _power(values, form.degree)


def _power(base: Any, exponent: int) -> Any:
    """``base ** exponent``, at least 1, by repeated squaring."""
    result = None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if exponent:
            base = base * base
    return result


def _part(samples: CardSamples, start: int, stop: int) -> CardSamples:
    half = None if samples.half is None else samples.half[start:stop]
    return CardSamples(samples.rows[start:stop], half)


def _taken(samples: CardSamples, index: Any) -> CardSamples:
    half = None if samples.half is None else samples.half[index]
    return CardSamples(samples.rows[index], half)
