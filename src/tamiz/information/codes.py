r"""Discrete columns, and what mutual-information methods ask of them.

:class:`DiscreteColumns` is the interface; behind it stand :class:`Codes`, columns packed in memory,
and :class:`tamiz.scale.StreamedCodes`, columns known by counts that were added up over batches.

Where values are missing and are not a level of their own, a pair of columns is counted in the m of
n samples that have both. What these samples tell is multiplied by their fraction m/n:

.. math:: \frac{m}{n} I_m(X; Z) = I(X; Z \mid M),

with M whether both are known and a missing value the same for all. So a column that is known in
few samples cannot rank high by luck: the estimate of I from m samples is too high by about
(r − 1)(c − 1)/2m, that of the product by (r − 1)(c − 1)/2n, as with any complete column. If Z is
complete, it is what X tells with missing values as a level, less what they tell by themselves.
Symmetrical uncertainty is multiplied by the same fraction.

Memory: a column of r levels takes r bits per sample, twice while a whole matrix is computed. A
column with more than ``MOST_PACKED`` levels is kept as one four-byte code per sample and counted
sample by sample. Beyond that and the result, a thread needs half a megabyte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamiz.information.counting import (
    HEIGHT,
    TILE,
    Measuring,
    Pivots,
    Planes,
    grouped_planes,
    grouped_rows,
    log_table,
    pairs,
    pairs_counts,
)
from tamiz.information.packing import (
    MISSING,
    Group,
    Pivot,
    Wide,
    compress,
    gather_wide,
    joint_codes,
    pack_bits,
    pack_planes,
    place,
    target_codes,
    tiles_of,
)
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import run_tiles
from tamiz.validation import require_memory

#: Columns with more levels than this are not packed.
MOST_PACKED = 64

#: Tables with more cells than this are counted sample by sample: that is then cheaper.
MOST_CELLS = 768

#: Population counts that make a thread worth while, and those after which progress is shown.
_WORTH = 200_000
_SLICE = 2_000_000_000

#: Population counts of all pairs up to which features form one group, as if all had the same
#: number of levels, and those levels: fewer calls are then worth more than fewer counts.
_FEW = 500_000
_FEW_LEVELS = 8

#: In the place of what :func:`~tamiz.information.counting.pairs` does not need.
_NO_LINES = np.empty((0, 0))
_NO_TILES = np.empty((0, 2), dtype=np.intp)


class DiscreteColumns(ABC):
    """Discrete columns over the same samples, and the information that they share.

    All information is in nats. With missing values left out (``missing="ignore"``), a measure of
    two columns is that of the samples which have both, times their fraction of all samples.

    Attributes
    ----------
    n_samples, n_features : int
        Size of the table.
    n_levels : int array of shape (n_features,)
        Number of levels that occur in each feature.
    varies : bool array of shape (n_features,)
        Whether the values that a feature had before it was cut differ at all.
    """

    n_samples: int
    n_features: int
    n_levels: np.ndarray
    varies: np.ndarray

    @abstractmethod
    def entropies(self) -> np.ndarray:
        """Entropy of each feature: of its information, that with itself."""

    @abstractmethod
    def n_known(self) -> np.ndarray:
        """Number of samples in which each feature is present."""

    @abstractmethod
    def contingency(self, codes: Any = None, n_codes: int | None = None) -> list[np.ndarray]:
        """Contingency table of every feature (rows) with a column of codes: counts that add."""

    @abstractmethod
    def against(self, codes: Any = None, *, ratio: bool = False) -> np.ndarray:
        """Mutual information of every feature with a column of codes (negative: missing), by
        default the target that the columns know. With ``ratio``, symmetrical uncertainty.
        """

    @abstractmethod
    def relevance(self, y: Any = None, *, ratio: bool = False) -> np.ndarray:
        """Mutual information of every feature with a target, by default the one that the columns
        know. With ``ratio``, symmetrical uncertainty.
        """

    @abstractmethod
    def conditional(self, j: int, y: Any = None) -> np.ndarray:
        """Conditional mutual information I(f; y | feature j) of every feature f with the target.

        Samples that lack feature ``j`` are one more part of those over which the condition divides
        them: what they tell without it stays.
        """

    @abstractmethod
    def matrix(
        self, *, ratio: bool = False, dtype: Any = np.float64, progress: Progress | None = None
    ) -> np.ndarray:
        """Mutual information of all pairs of features."""

    @abstractmethod
    def take(self, features: Any) -> Any:
        """Some features only, renumbered in the order given (ascending)."""

    @abstractmethod
    def column(self, j: int) -> np.ndarray:
        """Codes of feature ``j``, 0 to ``n_levels[j] - 1``, and -1 where missing."""

    @abstractmethod
    def _row(self, j: int, ratio: bool) -> np.ndarray:
        """Information of feature ``j``, which is in range, with every feature."""

    @abstractmethod
    def _fill_rows(self, features: np.ndarray, ratio: bool, out: np.ndarray) -> None:
        """The same of several features, written into the rows of ``out``."""

    def amount(self, which: np.ndarray | None = None) -> float:
        """How many samples there are, or a mask marks; with weights their sum."""
        return float(self.n_samples if which is None else np.count_nonzero(which))

    def prepare(self, features: Any) -> None:  # noqa: B027  (only counts gain by it)
        """Take note that the rows of some features will be asked for."""

    def in_one_group(self, most_levels: int) -> Planes | None:
        """All features packed as one group, if they have few levels; None where they are not."""
        return None

    def su_relevance(self, y: Any = None) -> np.ndarray:
        """Symmetrical uncertainty of every feature with the target."""
        return self.relevance(y, ratio=True)

    def row(self, j: int) -> np.ndarray:
        """Mutual information of feature ``j`` with every feature; its entropy with itself."""
        return self._row(self._number(j), ratio=False)

    def su_row(self, j: int) -> np.ndarray:
        """Symmetrical uncertainty of feature ``j`` with every feature."""
        return self._row(self._number(j), ratio=True)

    def rows(self, features: Any, *, ratio: bool = False, dtype: Any = np.float64) -> np.ndarray:
        """Rows of the matrix of mutual information: ``(len(features), n_features)``."""
        features = self._numbers(features)
        if len(features) == 1:
            return self._row(features[0], ratio)[None].astype(dtype, copy=False)
        out = np.empty((len(features), self.n_features), dtype=dtype)
        self._fill_rows(features, ratio, out)
        return out

    def su_rows(self, features: Any, *, dtype: Any = np.float64) -> np.ndarray:
        """Rows of the matrix of symmetrical uncertainty."""
        return self.rows(features, ratio=True, dtype=dtype)

    def blocks(
        self, size: int = 256, *, ratio: bool = False, dtype: Any = np.float64
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """The matrix in blocks of rows, for matrices that memory does not hold."""
        for first in range(0, self.n_features, size):
            rows = slice(first, min(first + size, self.n_features))
            yield rows, self.rows(np.arange(rows.start, rows.stop), ratio=ratio, dtype=dtype)

    def _number(self, j: Any) -> int:
        """A feature by its number; names are not known here."""
        whole = isinstance(j, (int, np.integer)) and not isinstance(j, bool)
        if not whole or not -self.n_features <= j < self.n_features:
            raise IndexError(
                f"{j!r} is not a feature; use a number from 0 to {self.n_features - 1}, the "
                "position of a column of X."
            )
        return int(j)

    def _numbers(self, features: Any) -> np.ndarray:
        """Several features by their numbers, or by a mask."""
        features = np.asarray(features)
        if features.dtype == bool:
            return np.flatnonzero(features)
        if features.size:
            ends = (features.min(), features.max()) if features.dtype.kind in "iu" else features
            for j in np.array(ends).tolist():
                self._number(j)
        return features.astype(np.intp)


class Codes(DiscreteColumns):
    """Discrete columns in memory, packed so that they can be counted against each other.

    Made by :func:`tamiz.information.encode`. All information is in nats. With missing values left
    out (``missing="ignore"``), a measure of two columns is that of the samples which have both,
    times their fraction of all samples.

    Attributes
    ----------
    n_samples, n_features : int
        Size of the table.
    n_levels : int array of shape (n_features,)
        Number of levels that occur in each feature.
    varies : bool array of shape (n_features,)
        Whether the values that a feature had before it was cut differ at all.
    target : int array of shape (n_samples,) or None
        Codes of a target: what is meant where none is given.

    Examples
    --------
    >>> from tamiz.information import encode
    >>> codes = encode([[0, 0], [0, 1], [1, 1], [1, 1]], bins=None)
    >>> codes.entropies().round(4)
    array([0.6931, 0.5623])
    >>> codes.row(0).round(4)
    array([0.6931, 0.2158])
    >>> codes.relevance(["a", "a", "b", "b"]).round(4)
    array([0.6931, 0.2158])
    """

    def __init__(
        self,
        n_samples: int,
        n_features: int,
        groups: list[Group],
        wide: Wide,
        n_levels: np.ndarray | None = None,
    ):
        self.n_samples = n_samples
        self.n_features = n_features
        self.target: np.ndarray | None = None
        self.groups = groups
        self.wide = wide
        self.n_levels = np.empty(n_features, dtype=np.intp)
        self._home = np.full(n_features, -1, dtype=np.intp)  # group of each feature; -1 is wide
        self._place = np.empty(n_features, dtype=np.intp)  # place in its group
        for number, group in enumerate(groups):
            self.n_levels[group.features] = group.n_levels
            self._home[group.features] = number
            self._place[group.features] = np.arange(len(group.features))
        self.n_levels[wide.features] = wide.n_levels
        if n_levels is not None:  # groups may have more, which are empty
            self.n_levels = n_levels
        self._place[wide.features] = np.arange(len(wide.features))
        self.varies = self.n_levels > 1
        self.table, self.scale = log_table(n_samples)

    @classmethod
    def from_codes(
        cls,
        narrow: np.ndarray,
        features: np.ndarray,
        wide: dict[int, np.ndarray] | None = None,
        *,
        missing: str = "code",
    ) -> Codes:
        """Pack codes.

        Parameters
        ----------
        narrow : uint8 array of shape (n_columns, n_samples)
            Codes below 255, which stands for missing. Changed in place.
        features : int array of shape (n_columns,)
            Places of these columns among all features.
        wide : dict
            Further columns by place: int32 codes, -1 where missing, with any number of levels.
        missing : {"code", "ignore"}
            Whether missing values are a level of their own.
        """
        columns, n = narrow.shape
        wide = dict(wide or {})
        n_features = columns + len(wide)
        n_levels = np.zeros(columns, dtype=np.int64)
        lacks = np.zeros(columns, dtype=bool)
        run_tiles(compress, columns, narrow, missing == "code", n_levels, lacks, min_items=256)
        for k in np.flatnonzero(n_levels > MOST_PACKED):
            codes = narrow[k].astype(np.int32)
            codes[narrow[k] == MISSING] = -1
            wide[int(features[k])] = codes
        most = int(n_levels.max(initial=1))
        work = most * most * columns * columns * (n // 64 + 1)
        if columns and most <= _FEW_LEVELS and work <= _FEW and not lacks.any():
            planes = pack_planes(narrow, np.arange(columns), most)
            group = Group(features.astype(np.intp), planes, False)
            rest = gather_wide(wide, n, missing)
            levels = np.empty(n_features, dtype=np.intp)
            levels[features], levels[rest.features] = n_levels, rest.n_levels
            return cls(n, n_features, [group], rest, levels)
        groups = []
        packed = (n_levels <= MOST_PACKED) & (n_levels > 0)
        for key in np.unique(2 * n_levels[packed] + lacks[packed]):
            rows = np.flatnonzero(packed & (2 * n_levels + lacks == key))
            planes = pack_planes(narrow, rows, int(key) // 2)
            groups.append(Group(features[rows].astype(np.intp), planes, bool(key % 2)))
        for k in np.flatnonzero(n_levels == 0):  # nothing but missing values
            wide[int(features[k])] = np.full(n, -1, dtype=np.int32)
        return cls(n, n_features, groups, gather_wide(wide, n, missing))

    # ------------------------------------------------------------------------------ single columns

    def column(self, j: int) -> np.ndarray:
        j = self._number(j)
        if self._home[j] < 0:
            return self.wide.codes[self._place[j]].copy()
        return self.pivot(j).codes

    def entropies(self) -> np.ndarray:
        out = np.empty(self.n_features)
        table, scale = self.table, self.scale
        for group in self.groups:
            n = group.planes.margins.sum(axis=0)
            out[group.features] = (table[n] - group.planes.sums) / (scale * self.n_samples)
        for k, j in enumerate(self.wide.features):
            margins = np.bincount(self.wide.codes[k] + 1)[1:]
            whole = table[margins.sum()]
            out[j] = (whole - table[margins].sum()) / (scale * self.n_samples)
        return out

    def n_known(self) -> np.ndarray:
        out = np.empty(self.n_features, dtype=np.intp)
        for group in self.groups:
            out[group.features] = group.planes.margins.sum(axis=0)
        out[self.wide.features] = np.count_nonzero(self.wide.codes >= 0, axis=1)
        return out

    def joint(self, j: int, codes: Any) -> np.ndarray:
        """Codes of the pairs (level of feature ``j``, code), renumbered; -1 where either lacks."""
        return joint_codes(self.column(j), codes)

    # ----------------------------------------------------------------------------- one against all

    def against(self, codes: Any = None, *, ratio: bool = False) -> np.ndarray:
        codes = self._own_target() if codes is None else np.asarray(codes)
        out = np.empty(self.n_features)
        self._fill_row(Pivot.of(codes, self.n_samples), ratio, out)
        return out

    def relevance(self, y: Any = None, *, ratio: bool = False) -> np.ndarray:
        return self.against(self._codes_of_target(y), ratio=ratio)

    def conditional(self, j: int, y: Any = None) -> np.ndarray:
        y = self._codes_of_target(y)
        given = self.condition(j)
        complete = given.max() < self.n_levels[j]
        alone = self.row(j) if complete else self.against(given)
        return np.maximum(self.against(joint_codes(given, y)) - alone, 0.0)

    def _codes_of_target(self, y: Any) -> np.ndarray:
        return self._own_target() if y is None else target_codes(y, self.n_samples)

    def _own_target(self) -> np.ndarray:
        if self.target is None:
            raise ValueError("These columns know no target; pass y, one label for each sample.")
        return self.target

    def condition(self, j: int) -> np.ndarray:
        """Codes of feature ``j`` as a condition: where it is missing, ``n_levels[j]``."""
        codes = self.column(j)
        codes[codes < 0] = self.n_levels[j]
        return codes

    # ---------------------------------------------------------------------------- several, and all

    def _fill_rows(self, features: np.ndarray, ratio: bool, out: np.ndarray) -> None:
        for number, group in enumerate(self.groups):
            which = np.flatnonzero(self._home[features] == number)
            for first in range(0, len(which), 512):
                part = which[first : first + 512]
                pivots = group.pivots(self._place[features[part]])
                self._fill_packed(pivots, group.incomplete, ratio, part, out)
        for k in np.flatnonzero(self._home[features] < 0):
            self._fill_row(self.pivot(features[k]), ratio, out[k])

    def matrix(
        self, *, ratio: bool = False, dtype: Any = np.float64, progress: Progress | None = None
    ) -> np.ndarray:
        """Mutual information of all pairs of features, each pair counted once."""
        require_pairs(self.n_features, np.dtype(dtype).itemsize)
        out = np.empty((self.n_features, self.n_features), dtype=dtype)
        scale = 1.0 if ratio else 1.0 / self.scale
        for a, left in enumerate(self.groups):
            pivots = left.pivots(np.arange(len(left.features)))
            for right in self.groups[a:]:
                if left.n_levels * right.n_levels > MOST_CELLS:
                    self._fill_slowly(left, right, ratio, out)
                    continue
                complete = not (left.incomplete or right.incomplete)
                how = Measuring(self.table, complete, ratio, scale)
                places = left.features, right.features
                tiles = tiles_of(len(left.features), len(right.features), left is right)
                cells = max(1, (left.n_levels - 1) * (right.n_levels - 1))
                step = 1 + _SLICE // (HEIGHT * TILE * pivots.bits.shape[2] * cells)
                for first in range(0, len(tiles), step):
                    part = tiles[first : first + step]
                    args = pivots, right.planes, how, _NO_LINES, part, places, out
                    run_tiles(pairs, len(part), *args)
                    if progress is not None:
                        progress.update(
                            f"pairs of {left.n_levels} and {right.n_levels} levels, "
                            f"{min(1.0, (first + step) / len(tiles)):.0%}"
                        )
        self._fill_wide(ratio, out)
        return out

    def contingency(self, codes: Any = None, n_codes: int | None = None) -> list[np.ndarray]:
        codes = self._own_target() if codes is None else np.asarray(codes)
        n_codes = int(codes.max(initial=-1)) + 1 if n_codes is None else n_codes
        tables: list[Any] = [None] * self.n_features
        bits = pack_bits(codes, n_codes)
        for group in self.groups:
            counts = np.zeros((len(group.features), n_codes, group.n_levels), dtype=np.int64)
            planes = group.planes.bits
            run_tiles(pairs_counts, len(group.features), bits, planes, counts, min_items=TILE)
            for k, j in enumerate(group.features):
                tables[j] = counts[k].T[: self.n_levels[j]]
        for k, j in enumerate(self.wide.features):
            table = np.zeros((self.wide.n_levels[k], n_codes), dtype=np.int64)
            both = (self.wide.codes[k] >= 0) & (codes >= 0)
            np.add.at(table, (self.wide.codes[k][both], codes[both]), 1)
            tables[j] = table
        return tables

    def take(self, features: Any) -> Codes:
        features = np.asarray(features, dtype=np.intp)
        place = np.full(self.n_features, -1, dtype=np.intp)
        place[features] = np.arange(len(features))
        groups = []
        for group in self.groups:
            kept = np.flatnonzero(place[group.features] >= 0)
            if len(kept):
                groups.append(group.take(kept, place[group.features[kept]]))
        kept = np.flatnonzero(place[self.wide.features] >= 0)
        wide = Wide(
            place[self.wide.features[kept]], self.wide.codes[kept], self.wide.n_levels[kept]
        )
        part = Codes(self.n_samples, len(features), groups, wide, self.n_levels[features])
        part.varies = self.varies[features]
        part.target = self.target
        return part

    def in_one_group(self, most_levels: int) -> Planes | None:
        if len(self.wide.features) or any(group.incomplete for group in self.groups):
            return None
        r = max(group.n_levels for group in self.groups)
        if r > most_levels:
            return None
        if len(self.groups) == 1:
            return self.groups[0].planes
        # levels that a feature lacks are empty
        shape = r, self.groups[0].planes.bits.shape[1], self.n_features
        bits, margins = np.zeros(shape, dtype=np.uint64), np.zeros((r, shape[2]), dtype=np.uint64)
        sums = np.empty(shape[2], dtype=np.int64)
        for group in self.groups:
            bits[: group.n_levels, :, group.features] = group.planes.bits
            margins[: group.n_levels, group.features] = group.planes.margins
            sums[group.features] = group.planes.sums
        return Planes(bits, margins, sums)

    # ---------------------------------------------------------------------------------------- work

    def pivot(self, j: int) -> Pivot:
        """Feature ``j`` as a column that others are held against."""
        home, place = self._home[j], self._place[j]
        if home < 0:
            return Pivot.of(self.wide.codes[place], self.n_samples)
        return Pivot.from_group(self.groups[home], place, self.n_samples)

    def _row(self, j: int, ratio: bool) -> np.ndarray:
        out = np.empty(self.n_features)
        self._fill_row(self.pivot(j), ratio, out)
        return out

    def _fill_row(self, pivot: Pivot, ratio: bool, out: np.ndarray) -> None:
        """Write the information of one column of codes with every feature."""
        self._fill_groups(pivot, ratio, out)
        if len(self.wide.features):
            part = np.empty(len(self.wide.features))
            columns = self.wide.codes, self.wide.n_levels
            args = pivot.order, pivot.bounds, *columns, self.table, ratio, part
            run_tiles(grouped_rows, len(part), *args, min_items=1 + _WORTH // self.n_samples)
            out[self.wide.features] = part * (1.0 if ratio else 1.0 / self.scale)

    def _fill_groups(self, pivot: Pivot, ratio: bool, out: np.ndarray) -> None:
        """Write the information of one column of codes with every feature that is packed."""
        for group in self.groups:
            self._fill_group(pivot, group, ratio, out)

    def _fill_group(self, pivot: Pivot, group: Group, ratio: bool, out: np.ndarray) -> None:
        """Write the information of one column of codes with those of a group."""
        if group.n_levels * pivot.n_levels > MOST_CELLS:
            part = self._grouped(pivot, group, ratio)
        else:
            single = Pivots(pivot.bits[None], pivot.margins[None])
            part = self._pairs(single, group, pivot.incomplete, ratio)[0]
        out[group.features] = part * (1.0 if ratio else 1.0 / self.scale)

    def _fill_wide(self, ratio: bool, out: np.ndarray) -> None:
        """Write the rows and columns of a matrix that belong to columns without bits."""
        for j in self.wide.features:
            row = np.empty(self.n_features)
            self._fill_row(self.pivot(j), ratio, row)
            out[j] = row
            out[:, j] = row

    def _fill_packed(
        self, pivots: Pivots, incomplete: bool, ratio: bool, rows: np.ndarray, out: np.ndarray
    ) -> None:
        """Write rows ``rows`` of ``out`` for packed pivots of one group."""
        scale = 1.0 if ratio else 1.0 / self.scale
        for group in self.groups:
            if group.n_levels * pivots.bits.shape[1] > MOST_CELLS:
                for k, bits, margin in zip(rows, *pivots, strict=True):
                    pivot = Pivot(None, margin, self.n_samples)
                    pivot.bits = bits
                    out[k, group.features] = scale * self._grouped(pivot, group, ratio)
            else:
                part = self._pairs(pivots, group, incomplete, ratio)
                part *= scale
                place(part, rows, group.features, out)
        if len(self.wide.features):
            planes = np.ascontiguousarray(pivots.bits.transpose(1, 2, 0))
        for k, j in enumerate(self.wide.features):
            pivot = Pivot.of(self.wide.codes[k], self.n_samples)
            part = np.empty(len(rows))
            args = pivot.order, pivot.bounds, planes, self.table, ratio, part
            grouped_planes(0, len(rows), *args)
            out[rows, j] = part * scale

    def _pairs(self, pivots: Pivots, group: Group, incomplete: bool, ratio: bool) -> np.ndarray:
        out = np.empty((len(pivots.bits), len(group.features)))
        cells = max(1, (group.n_levels - 1) * (pivots.bits.shape[1] - 1))
        work = len(out) * (pivots.bits.shape[2] * cells + 8)  # population counts per column
        how = Measuring(self.table, not (incomplete or group.incomplete), ratio, 1.0)
        args = pivots, group.planes, how, out, _NO_TILES, (group.features,) * 2, out
        run_tiles(pairs, len(group.features), *args, min_items=1 + _WORTH // work)
        return out

    def _fill_slowly(self, left: Group, right: Group, ratio: bool, out: np.ndarray) -> None:
        """Part of the matrix for two groups whose tables have very many cells."""
        scale = 1.0 if ratio else 1.0 / self.scale
        for j in left.features:
            part = scale * self._grouped(self.pivot(j), right, ratio)
            out[j, right.features] = out[right.features, j] = part

    def _grouped(self, pivot: Pivot, group: Group, ratio: bool) -> np.ndarray:
        """Information of a pivot with a group, sample by sample."""
        out = np.empty(len(group.features))
        args = pivot.order, pivot.bounds, group.planes.bits, self.table, ratio, out
        run_tiles(grouped_planes, len(out), *args, min_items=1 + _WORTH // self.n_samples)
        return out


def require_pairs(n_features: int, itemsize: int = 8) -> None:
    """Refuse a matrix of all pairs of features that memory does not hold."""
    require_memory(
        itemsize * n_features**2,
        f"a matrix of all pairs of {n_features:,} features",
        "Select features first by a filter of single features (FisherScore, InformationGain), ask "
        "for float32, or for some rows at a time.",
    )
