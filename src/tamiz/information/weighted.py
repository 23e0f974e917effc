r"""Discrete columns whose samples have weights.

The counts of :class:`~tamiz.information.codes.Codes` become sums of weights, and a sample of weight
two is two samples. The columns are kept as codes, not as bits, and every table is summed up sample
by sample: a row of the matrix costs n p additions. Samples without weights never come here.

The weights are rounded to multiples of a power of two, so small that all sums of them are exact:
equal tables give equal information whatever the order of the samples, and ties are ties, as with
counts. Integers are not changed, and what follows from them is to the last bit what the repeated
rows give.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.information.codes import DiscreteColumns, require_pairs
from tamiz.information.counting import counting_unit, fixed_point, fixed_point_scale, measure_all
from tamiz.information.packing import MISSING, compress, gather_wide, joint_codes, target_codes
from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import run_tiles

#: Cells of the tables of all columns with one column that are summed up at a time.
MOST_CELLS = 2**22

#: Samples times columns that make a thread worth while.
_WORTH = 200_000


def exact_weights(weight: np.ndarray) -> np.ndarray:
    """The weights, rounded so that no sum of them is rounded.

    Examples
    --------
    >>> import numpy as np
    >>> exact_weights(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    >>> first, second = exact_weights(np.array([0.1, 0.2])), exact_weights(np.array([0.2, 0.1]))
    >>> float(first.sum() - second.sum())
    0.0
    """
    unit = 2.0 ** max(np.ceil(np.log2(float(weight.sum()))) - 52, -1074.0)
    return np.maximum(np.rint(weight / unit), 1.0) * unit


class WeightedCodes(DiscreteColumns):
    """Discrete columns in memory, and a positive weight for each sample.

    Made by :func:`tamiz.information.encode` with ``sample_weight``.

    Parameters
    ----------
    codes : int32 array of shape (n_features, n_samples)
        Codes of the levels that occur, from 0; -1 where missing.
    n_levels : int array of shape (n_features,)
        Number of levels of each.
    weight : array of shape (n_samples,)
        Weights, positive, as :func:`exact_weights` leaves them.

    Attributes
    ----------
    n_samples, n_features : int
        Size of the table.
    total : float
        Sum of the weights.
    target : int array of shape (n_samples,) or None
        Codes of a target: what is meant where none is given.

    Examples
    --------
    >>> from tamiz.information import encode
    >>> once = encode([[0, 0], [0, 1], [1, 1]], bins=None, sample_weight=[1, 1, 2])
    >>> twice = encode([[0, 0], [0, 1], [1, 1], [1, 1]], bins=None)
    >>> bool((once.row(0) == twice.row(0)).all())
    True
    """

    def __init__(self, codes: np.ndarray, n_levels: np.ndarray, weight: np.ndarray):
        self.codes = codes
        self.n_features, self.n_samples = codes.shape
        self.n_levels = np.asarray(n_levels, dtype=np.intp)
        self.varies = self.n_levels > 1
        self.weight = weight
        self.total = float(self.weight.sum())
        self.target: np.ndarray | None = None
        # information does not depend on the unit of the weights, but n log n would leave its range
        self._unit = counting_unit(self.total, self.n_samples)
        self._own, self._whole = weight / self._unit, self.total / self._unit
        self._scale = fixed_point_scale(max(1, int(np.ceil(self._whole))))

    @classmethod
    def from_codes(
        cls,
        narrow: np.ndarray,
        features: np.ndarray,
        wide: dict[int, np.ndarray],
        weight: np.ndarray,
        *,
        missing: str,
    ) -> WeightedCodes:
        """From what :meth:`tamiz.information.codes.Codes.from_codes` takes."""
        columns, n = narrow.shape
        n_levels = np.zeros(columns, dtype=np.int64)
        lacks = np.zeros(columns, dtype=bool)
        run_tiles(compress, columns, narrow, missing == "code", n_levels, lacks, min_items=256)
        codes = np.empty((columns + len(wide), n), dtype=np.int32)
        levels = np.empty(len(codes), dtype=np.int64)
        codes[features] = np.where(narrow == MISSING, -1, narrow.astype(np.int32))
        levels[features] = np.maximum(n_levels, 1)
        if wide:
            rest = gather_wide(wide, n, missing)
            codes[rest.features], levels[rest.features] = rest.codes, rest.n_levels
        return cls(codes, levels, weight)

    # ------------------------------------------------------------------------------ single columns

    def column(self, j: int) -> np.ndarray:
        return self.codes[self._number(j)].copy()

    def condition(self, j: int) -> np.ndarray:
        """Codes of feature ``j`` as a condition: where it is missing, ``n_levels[j]``."""
        codes = self.column(j)
        codes[codes < 0] = self.n_levels[j]
        return codes

    def joint(self, j: int, codes: Any) -> np.ndarray:
        """Codes of the pairs (level of feature ``j``, code), renumbered; -1 where either lacks."""
        return joint_codes(self.column(j), codes)

    def amount(self, which: np.ndarray | None = None) -> float:
        return self.total if which is None else float(self.weight[which].sum())

    def entropies(self) -> np.ndarray:
        return np.array([self._own_entropy(j) for j in range(self.n_features)])

    def _own_entropy(self, j: int) -> float:
        margin = self._margin(j)
        whole = fixed_point(margin.sum(keepdims=True), self._scale)[0]
        return float(whole - fixed_point(margin, self._scale).sum()) / (self._scale * self._whole)

    def n_known(self) -> np.ndarray:
        """Sum of the weights of the samples in which each feature is present."""
        return self._unit * np.array([self._margin(j).sum() for j in range(self.n_features)])

    def _margin(self, j: int) -> np.ndarray:
        present = self.codes[j] >= 0
        return np.bincount(
            self.codes[j, present], self._own[present], minlength=int(self.n_levels[j])
        )

    # ----------------------------------------------------------------------------- one against all

    def against(self, codes: Any = None, *, ratio: bool = False) -> np.ndarray:
        codes = self._own_target() if codes is None else np.asarray(codes)
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        n_codes = int(codes.max(initial=0)) + 1
        out = np.empty(self.n_features)
        sizes = self.n_levels * n_codes
        many = sizes > max(self.n_samples, 2**16)  # mostly empty: only pairs that occur
        for j in np.flatnonzero(many):
            out[j] = self._of_pairs(self.codes[j], codes, ratio)
        for part in _portions(np.flatnonzero(~many), sizes):
            out[part] = self._of_tables(part, codes, n_codes, ratio)
        return out

    def relevance(self, y: Any = None, *, ratio: bool = False) -> np.ndarray:
        return self.against(self._codes_of_target(y), ratio=ratio)

    def conditional(self, j: int, y: Any = None) -> np.ndarray:
        y = self._codes_of_target(y)
        given = self.condition(j)
        return np.maximum(self.against(joint_codes(given, y)) - self.against(given), 0.0)

    def contingency(self, codes: Any = None, n_codes: int | None = None) -> list[np.ndarray]:
        codes = self._own_target() if codes is None else np.asarray(codes)
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        n_codes = int(codes.max(initial=-1)) + 1 if n_codes is None else n_codes
        every = np.arange(self.n_features)
        flat, starts = self._tables(every, codes, n_codes)
        flat *= self._unit
        ends = starts + self.n_levels * n_codes
        return [
            flat[first:last].reshape(-1, n_codes) for first, last in zip(starts, ends, strict=True)
        ]

    def matrix(
        self, *, ratio: bool = False, dtype: Any = np.float64, progress: Progress | None = None
    ) -> np.ndarray:
        require_pairs(self.n_features, np.dtype(dtype).itemsize)
        out = np.empty((self.n_features, self.n_features), dtype=dtype)
        for j in range(self.n_features):
            out[j] = self._row(j, ratio)
            if progress is not None:
                progress.update(f"weighted pairs of {j + 1:,} of {self.n_features:,} features")
        return out

    def take(self, features: Any) -> WeightedCodes:
        features = np.asarray(features, dtype=np.intp)
        part = WeightedCodes(self.codes[features], self.n_levels[features], self.weight)
        part.varies, part.target = self.varies[features], self.target
        return part

    # ---------------------------------------------------------------------------------------- work

    def _codes_of_target(self, y: Any) -> np.ndarray:
        return self._own_target() if y is None else target_codes(y, self.n_samples)

    def _own_target(self) -> np.ndarray:
        if self.target is None:
            raise ValueError("These columns know no target; pass y, one label for each sample.")
        return self.target

    def _row(self, j: int, ratio: bool) -> np.ndarray:
        return self.against(self.codes[j], ratio=ratio)

    def _fill_rows(self, features: np.ndarray, ratio: bool, out: np.ndarray) -> None:
        for k, j in enumerate(features):
            out[k] = self._row(j, ratio)

    def _tables(
        self, part: np.ndarray, codes: np.ndarray, n_codes: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The tables of some features with a column, one after the other, and where each begins."""
        sizes = self.n_levels[part] * n_codes
        starts = np.cumsum(sizes) - sizes
        flat = np.zeros(int(sizes.sum()))
        args = self.codes, part, codes, n_codes, self._own, starts, flat
        run_tiles(sum_tables, len(part), *args, min_items=1 + _WORTH // self.n_samples)
        return flat, starts

    def _of_tables(
        self, part: np.ndarray, codes: np.ndarray, n_codes: int, ratio: bool
    ) -> np.ndarray:
        flat, starts = self._tables(part, codes, n_codes)
        rows = flat.reshape(-1, n_codes).sum(axis=1)
        columns = np.add.reduceat(flat.reshape(-1, n_codes), starts // n_codes, axis=0)
        return self._measure(
            np.add.reduceat(fixed_point(flat, self._scale), starts),
            np.add.reduceat(fixed_point(rows, self._scale), starts // n_codes),
            fixed_point(columns, self._scale).sum(axis=1),
            columns.sum(axis=1),
            ratio,
        )

    def _of_pairs(self, first: np.ndarray, second: np.ndarray, ratio: bool) -> float:
        """The same for one pair of columns, whatever their numbers of levels."""
        both = (first >= 0) & (second >= 0)
        weight = self._own[both]
        first, second = first[both], second[both]
        cells, rows, columns = (
            fixed_point(np.bincount(codes, weight), self._scale).sum(keepdims=True)
            for codes in (joint_codes(first, second), first, second)
        )
        known = weight.sum(keepdims=True)
        return float(self._measure(cells, rows, columns, known, ratio)[0])

    def _measure(
        self, cells: np.ndarray, rows: np.ndarray, columns: np.ndarray, n: np.ndarray, ratio: bool
    ) -> np.ndarray:
        whole = fixed_point(n, self._scale)
        value = measure_all(cells, rows, columns, whole, n, self._whole, ratio)
        return value if ratio else value * (1.0 / self._scale)


def _portions(features: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """The features in parts whose tables are not too large together."""
    if not len(features):
        return []
    ends = np.cumsum(sizes[features])
    return [part for part in np.split(features, _breaks(ends)) if len(part)]


def _breaks(ends: np.ndarray) -> np.ndarray:
    return np.searchsorted(ends, np.arange(MOST_CELLS, int(ends[-1]) + 1, MOST_CELLS), "right")


@njit(cache=True, nogil=True)
def sum_tables(start, stop, codes, part, other, n_codes, weight, starts, flat):  # type: ignore[no-untyped-def]
    """Add the weights of the samples to ``flat[starts[k] + code * n_codes + other]``."""
    for k in range(start, stop):
        column = codes[part[k]]
        first = starts[k]
        for i in range(len(other)):
            if column[i] >= 0 and other[i] >= 0:
                flat[first + column[i] * n_codes + other[i]] += weight[i]
