"""A uniform sample of rows that does not depend on how the table was cut into batches.

Every row gets a pseudo-random number that depends on its place in the table and the seed only, and
the rows with the k least numbers are the sample. The k least of two sets of rows are the k least of
the k least of each, so samples merge, in any order, to the sample of all rows.

References
----------
.. [1] G. L. Steele, D. Lea, C. H. Flood (2014). Fast splittable pseudorandom number generators.
       OOPSLA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.scale.batch import check_block
from tamiz.validation import check_level, checked, integer_from


def row_hash(rows: np.ndarray, seed: int) -> np.ndarray:
    """A number below 2**64 for every row: no two rows have the same (splitmix64).

    Examples
    --------
    >>> import numpy as np
    >>> [hex(value) for value in row_hash(np.arange(2), seed=0)]
    ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    """
    with np.errstate(over="ignore"):
        start = np.uint64((seed * 0x9E3779B97F4A7C15 * 0xD1B54A32D192ED03) % 2**64)
        z = start + (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


@dataclass(eq=False)
class RowSample:
    """At most ``size`` rows, every set of that many equally likely; all rows if they are no more.

    Memory: eight bytes (four, if all values are exact in float32) for each value of the sample.

    Attributes
    ----------
    size, seed : int
        Most rows to keep, and what the choice depends on.
    n_rows : int
        Rows that were looked through.
    rows : int array of shape (n_kept,)
        Places of the rows in the table, ascending.
    values : array of shape (n_kept, n_features)
        The rows as they are kept; ``X`` has them as float64.
    y : array of shape (n_kept,) or None
        Their classes or target values.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import RowSample
    >>> X = np.arange(100.0)[:, None]
    >>> first = RowSample.of(X[:40], None, first_row=0, size=5, seed=7)
    >>> second = RowSample.of(X[40:], None, first_row=40, size=5, seed=7)
    >>> whole = RowSample.of(X, None, first_row=0, size=5, seed=7)
    >>> second.merge(first).rows.tolist() == whole.rows.tolist()
    True
    """

    size: int
    seed: int
    n_rows: int
    rows: np.ndarray
    values: np.ndarray
    y: np.ndarray | None

    @classmethod
    @checked(size=integer_from(1))
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        first_row: int,
        size: int = 20_000,
        seed: int = 0,
        n_rows: int | None = None,
    ) -> RowSample:
        """Sample a block of neighbouring rows.

        Parameters
        ----------
        X : float64 array or CSR matrix of shape (n, n_features)
            The rows.
        y : array of shape (n,) or None
            Their classes or target values.
        first_row : int
            Place of the first of them in the table.
        size : int, default=20000
            Most rows to keep.
        seed : int, default=0
            Another seed gives another sample.
        n_rows : int, optional
            Rows of the whole table, if known. Rows that have no chance to remain (below 1e-14) are
            then left out at once, which saves time.
        """
        X = check_block(X)
        hashes = row_hash(first_row + np.arange(X.shape[0]), seed)
        kept = _least(hashes, size)
        if n_rows is not None and n_rows > size:
            fraction = (size + 8.0 * np.sqrt(size) + 32.0) / n_rows
            kept = kept[hashes[kept] < np.float64(min(fraction, 1.0)) * 2.0**64]
        part = X[kept]
        part = part.toarray() if sparse.issparse(part) else part
        part = _in_float32(part)
        target = None if y is None else np.asarray(y)[kept]
        return cls(size, seed, X.shape[0], first_row + kept, part, target)

    def merge(self, other: RowSample) -> RowSample:
        """The sample of both sets of rows together."""
        if (self.size, self.seed) != (other.size, other.seed):
            raise ValueError(
                f"Samples of size {self.size} and {other.size}, with seeds {self.seed} and "
                f"{other.seed}, do not merge; use one size and one seed for every batch."
            )
        rows = np.concatenate([self.rows, other.rows])
        order = np.argsort(rows, kind="stable")
        order = order[_least(row_hash(rows[order], self.seed), self.size)]
        values = np.concatenate([self.values, other.values])[order]
        y = None
        if self.y is not None and other.y is not None:
            y = np.concatenate([self.y, other.y])[order]
        return RowSample(self.size, self.seed, self.n_rows + other.n_rows, rows[order], values, y)

    @property
    def X(self) -> np.ndarray:
        """The rows as float64."""
        return np.ascontiguousarray(self.values, dtype=np.float64)

    @property
    def exact(self) -> bool:
        """Whether no row had to be left out."""
        return len(self.rows) == self.n_rows

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.values.nbytes + self.rows.nbytes + (0 if self.y is None else self.y.nbytes)

    @checked(confidence=check_level)
    def rank_error(self, confidence: float = 0.99) -> np.ndarray:
        r"""Bound on the error of fractions of a column that are taken from the sample.

        By the inequality of Dvoretzky, Kiefer and Wolfowitz (with Massart's constant), the
        distribution function of the m known values of the sample differs nowhere from that of all
        rows by more than :math:`\sqrt{\log(2 / (1 - c)) / 2m}`, with probability c. 0 if no row
        was left out.

        Examples
        --------
        >>> import numpy as np
        >>> from tamiz.scale import RowSample
        >>> sample = RowSample.of(np.zeros((50_000, 1)), None, first_row=0, size=20_000)
        >>> sample.rank_error().round(4)
        array([0.0115])
        """
        known = np.count_nonzero(~np.isnan(self.values), axis=0)
        if self.exact:
            return np.zeros(self.values.shape[1])
        bound = np.sqrt(np.log(2.0 / (1.0 - confidence)) / (2.0 * np.maximum(known, 1)))
        return np.minimum(bound, 1.0)


def _least(hashes: np.ndarray, size: int) -> np.ndarray:
    """Places of the least numbers, ascending."""
    if len(hashes) <= size:
        return np.arange(len(hashes))
    return np.sort(np.argpartition(hashes, size)[:size])


def _in_float32(values: np.ndarray) -> np.ndarray:
    """The values in half the memory if nothing is lost."""
    for part in (values[:16], values):  # most tables show it at once
        with np.errstate(over="ignore"):
            short = part.astype(np.float32)
        if not np.array_equal(short, part, equal_nan=True):
            return values
    return short
