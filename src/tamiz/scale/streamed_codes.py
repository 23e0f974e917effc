r"""Mutual information of columns that were never in memory together.

What :class:`tamiz.information.Codes` computes from packed samples is here computed from tables of
counts that were added up over batches. The tables are integers and n log n is rounded to the same
fixed-point numbers (see :mod:`tamiz.information.counting`), so every value is equal to that of
``Codes`` on all rows with the same cuts, to the last bit. The fixed-point numbers are worked out
for the counts that occur, not for 0 to N.

Memory: the tables of all pairs if they fit into the budget. If not, those of the features asked
for, a pass over the data at a time: with each of them those of the most relevant features that
have not been counted, as many as half the budget holds, because they are asked for next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tamiz.information.codes import DiscreteColumns, require_pairs
from tamiz.information.counting import fixed_point, fixed_point_scale, measure_all
from tamiz.information.encoding import DISCRETE
from tamiz.runtime.compiling import njit
from tamiz.scale.counts import LevelCounts
from tamiz.scale.cuts import Cuts
from tamiz.scale.pair_counts import PairCounts

#: Memory for tables of pairs, in bytes.
BUDGET = 2**27


class StreamedCodes(DiscreteColumns):
    """Discrete columns known by their counts: what filters ask of :class:`information.Codes`.

    Parameters
    ----------
    sweep : callable
        ``sweep(make)`` calls ``make(batch)`` for every batch, which has the attributes X and y,
        and merges what it returns.
    cuts : Cuts
        Where the columns are cut.
    n_classes : int
        Number of classes.
    missing : {"code", "ignore"}, default="code"
        Whether missing values are a level of their own.
    pairs : bool, default=True
        Whether pairs of features will be asked for. They are then counted in the first pass, if
        the budget allows.
    varies : bool array of shape (n_features,), optional
        Which columns had different values before they were cut; those with several levels if not
        given (see :meth:`tamiz.scale.Ranges.varies`).
    budget : int, default=134217728
        Bytes for the tables of pairs. While batches are merged, up to three times as much is used.

    Attributes
    ----------
    n_samples, n_features : int
        Size of the table.
    n_levels : int array of shape (n_features,)
        Number of levels that occur in each feature.
    varies : bool array of shape (n_features,)
        Whether the values that a feature had before it was cut differ at all.
    n_passes : int
        Passes over the data so far.

    See Also
    --------
    tamiz.information.Codes : The same for a table in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from tamiz.scale import Cuts, StreamedCodes
    >>> X, y = np.array([[0, 0], [0, 1], [1, 1], [1, 1.0]]), np.array([0, 0, 1, 1])
    >>> batches = [SimpleNamespace(X=X[:3], y=y[:3]), SimpleNamespace(X=X[3:], y=y[3:])]
    >>> def sweep(make):
    ...     first, second = map(make, batches)
    ...     return first.merge(second)
    >>> codes = StreamedCodes(sweep, Cuts.of([[0.5], [0.5]]), n_classes=2)
    >>> codes.row(0).round(4)
    array([0.6931, 0.2158])
    >>> codes.relevance().round(4)
    array([0.6931, 0.2158])
    """

    def __init__(
        self,
        sweep: Callable[[Callable[[Any], Any]], Any],
        cuts: Cuts,
        n_classes: int,
        *,
        missing: str = "code",
        pairs: bool = True,
        varies: np.ndarray | None = None,
        budget: int = BUDGET,
    ):
        DISCRETE["missing"]("missing", missing)
        if pairs:
            check_levels(cuts, n_classes, budget)
        if pairs and PairCounts.size(cuts, n_classes) <= budget:
            counted = sweep(CountPairs(cuts, n_classes))
            store = _PairStore(sweep, counted.levels, counted, budget)
        else:
            store = _PairStore(sweep, sweep(CountLevels(cuts, n_classes)), None, budget)
        self._prepare(store, np.arange(cuts.n_features), missing)
        self.varies = self.n_levels > 1 if varies is None else (self.n_levels > 1) | varies

    @classmethod
    def from_counts(
        cls, counts: PairCounts, *, missing: str = "code", varies: np.ndarray | None = None
    ) -> StreamedCodes:
        """From the tables of all pairs."""
        if counts.pivots is not None:
            raise ValueError("counts holds some pairs only; count all, with pivots=None.")
        n_classes, size = len(counts.counts), PairCounts.size(counts.cuts, len(counts.counts))
        return cls(
            lambda make: counts, counts.cuts, n_classes, missing=missing, varies=varies, budget=size
        )

    def _prepare(self, store: _PairStore, features: np.ndarray, missing: str) -> None:
        self._store, self._features, self._missing = store, features, missing
        levels = store.levels
        self.n_samples, self.n_features = levels.n_samples, len(features)
        if self.n_samples == 0:
            raise ValueError("There are no rows: every batch was empty. Pass some data.")
        self._tables = [levels.table(j, missing=missing) for j in features]
        self.n_levels = np.array(
            [max(1, np.count_nonzero(table.any(axis=1))) for table in self._tables], dtype=np.intp
        )
        self._scale = fixed_point_scale(self.n_samples)

    # ------------------------------------------------------------------------------ single columns

    @property
    def n_passes(self) -> int:
        """Passes over the data so far."""
        return self._store.n_passes

    @property
    def class_rows(self) -> np.ndarray:
        """Rows of each class."""
        return self._store.levels.n_rows

    def entropies(self) -> np.ndarray:
        margins = [table.sum(axis=1) for table in self._tables]
        known = np.array([int(part.sum()) for part in margins])
        return (self._f(known) - self._sums(margins)) / (self._scale * self.n_samples)

    def n_known(self) -> np.ndarray:
        return np.array([table.sum() for table in self._tables], dtype=np.intp)

    def contingency(self, codes: Any = None, n_codes: int | None = None) -> list[np.ndarray]:
        """Contingency table of every feature (levels that occur, rows) with the classes."""
        _refuse_target(codes)
        kept = [table[table.any(axis=1)] for table in self._tables]
        return [
            part if len(part) else table[:1] for part, table in zip(kept, self._tables, strict=True)
        ]

    def relevance(self, y: Any = None, *, ratio: bool = False) -> np.ndarray:
        """Information of every feature with the classes, which were counted with it."""
        return self.against(y, ratio=ratio)

    def against(self, codes: Any = None, *, ratio: bool = False) -> np.ndarray:
        """Mutual information, or symmetrical uncertainty, of every feature with the classes."""
        _refuse_target(codes)
        tables = self._tables
        cells = self._sums([table.ravel() for table in tables])
        rows = self._sums([table.sum(axis=1) for table in tables])
        columns = self._sums([table.sum(axis=0) for table in tables])
        return self._measure(cells, rows, columns, self.n_known(), ratio)

    # ----------------------------------------------------------------------------- one against all

    def conditional(self, j: int, y: Any = None) -> np.ndarray:
        _refuse_target(y)
        j = self._number(j)
        alone = self._information(j, by_class=False, whole=True, ratio=False)
        together = self._information(j, by_class=True, whole=True, ratio=False)
        return np.maximum(together - alone, 0.0)

    def _fill_rows(self, features: np.ndarray, ratio: bool, out: np.ndarray) -> None:
        places = self._places()
        for first, last in self._store.portions(places[features]):
            self._store.fetch(places[features[first:last]])
            for k in range(first, last):
                out[k] = self._row(features[k], ratio)

    def prepare(self, features: Any) -> None:
        """Count the pairs of some features in one pass, as many as fit into the budget.

        They will be asked for by later calls of :meth:`rows`.
        """
        places = self._places()[np.asarray(features)]
        (first, last), *_ = self._store.portions(places)
        self._store.fetch(places[first:last])

    def matrix(
        self, *, ratio: bool = False, dtype: Any = np.float64, progress: Any = None
    ) -> np.ndarray:
        require_pairs(self.n_features, np.dtype(dtype).itemsize)
        return self.rows(np.arange(self.n_features), ratio=ratio, dtype=dtype)

    def take(self, features: Any) -> StreamedCodes:
        """Some features only, renumbered in the order given; the counts are shared."""
        features = np.asarray(features, dtype=np.intp)
        part = object.__new__(StreamedCodes)
        part._prepare(self._store, self._features[features], self._missing)
        part.varies = self.varies[features]
        return part

    def column(self, j: int) -> np.ndarray:
        """Refused: single samples are not kept."""
        raise TypeError(
            "The codes of single samples are not kept when data is streamed, so what needs them "
            "(MaxDep, and QPFS with an approximate matrix) cannot be computed. Use a method that "
            "counts pairs, such as JMI or MRMR, or data that fits in memory."
        )

    # ---------------------------------------------------------------------------------------- work

    def _places(self) -> np.ndarray:
        return self._store.levels.cuts.layout.place[self._features]

    def _row(self, j: int, ratio: bool) -> np.ndarray:
        return self._information(j, by_class=False, whole=False, ratio=ratio)

    def _information(self, j: int, *, by_class: bool, whole: bool, ratio: bool) -> np.ndarray:
        """Information of every feature with feature ``j``, or with its pairs with the class.

        ``whole`` makes the missing values of feature ``j`` one of its levels in any case.
        """
        levels, layout = self._store.levels, self._store.levels.cuts.layout
        places = self._places()
        place = int(places[j])
        rest = np.full(len(layout.order), True) if self._missing == "code" else ~layout.incomplete
        with_rest = whole or bool(rest[place])
        block = self._store.block(place, self._likely)
        width = (block.shape[1] + with_rest) * (len(levels.n_rows) if by_class else 1)
        heights = layout.n_counted[places] + rest[places]
        cells = np.zeros(int(heights.sum()) * width, dtype=np.int64)
        rows = np.zeros(int(heights.sum()), dtype=np.int64)
        columns = np.zeros((len(places), width), dtype=np.int64)
        counted = _ColumnCounts(levels.counts, levels.n_rows, layout.first, rest)
        out = _Margins(cells, rows, columns.reshape(-1))
        _expand_tables(place, places, block, counted, with_rest, by_class, out)
        starts = np.cumsum(heights) - heights
        return self._measure(
            np.add.reduceat(self._f(cells), starts * width),
            np.add.reduceat(self._f(rows), starts),
            self._f(columns).sum(axis=1),
            columns.sum(axis=1),
            ratio,
        )

    def _likely(self) -> np.ndarray:
        """Places by the relevance of their features, the greatest first."""
        return self._places()[np.argsort(-self.relevance(), kind="stable")]

    def _f(self, counts: np.ndarray) -> np.ndarray:
        """n log n in fixed point."""
        return fixed_point(counts, self._scale)

    def _sums(self, parts: list[np.ndarray]) -> np.ndarray:
        """Sum of f over each of several lists of counts, none of them empty."""
        lengths = np.array([len(part) for part in parts])
        return np.add.reduceat(self._f(np.concatenate(parts)), np.cumsum(lengths) - lengths)

    def _measure(
        self, cells: np.ndarray, rows: np.ndarray, columns: np.ndarray, n: np.ndarray, ratio: bool
    ) -> np.ndarray:
        """Information or symmetrical uncertainty from sums of f."""
        value = measure_all(cells, rows, columns, self._f(n), n, self.n_samples, ratio)
        return value if ratio else value * (1.0 / self._scale)


def _refuse_target(y: Any) -> None:
    if y is not None:
        raise ValueError(
            "The classes were counted together with the features, and other targets are not known: "
            "leave y out, or make a pass with the other target."
        )


@dataclass
class CountLevels:
    """From a batch to its :class:`LevelCounts`; can be sent to another process."""

    cuts: Cuts
    n_classes: int

    def __call__(self, batch: Any) -> LevelCounts:
        return LevelCounts.of(batch.X, batch.y, self.cuts, self.n_classes)


@dataclass
class CountPairs:
    """From a batch to its :class:`PairCounts`; can be sent to another process."""

    cuts: Cuts
    n_classes: int
    pivots: np.ndarray | None = None

    def __call__(self, batch: Any) -> PairCounts:
        return PairCounts.of(batch.X, batch.y, self.cuts, self.n_classes, self.pivots)


class _PairStore:
    """Tables of pairs: of all, or of those asked for so far."""

    def __init__(
        self, sweep: Callable[..., Any], levels: LevelCounts, pairs: PairCounts | None, budget: int
    ):
        self.sweep, self.levels, self.pairs, self.budget = sweep, levels, pairs, budget
        self.n_passes = 1
        self.blocks: dict[int, np.ndarray] = {}  # the one used last is last

    def block(self, place: int, likely: Callable[[], np.ndarray]) -> np.ndarray:
        """Tables of one place with all."""
        if self.pairs is not None:
            return self.pairs.block(place)
        if place not in self.blocks:
            new = [q for q in likely().tolist() if q not in self.blocks and q != place]
            (_, last), *_ = self.portions(np.array([place, *new]), self.budget // 2)
            self.fetch(np.array([place, *new])[:last])
        block = self.blocks.pop(place)
        self.blocks[place] = block
        return block

    def portions(self, places: np.ndarray, budget: int | None = None) -> list[tuple[int, int]]:
        """Ranges of places whose tables fit into the budget together."""
        if self.pairs is not None:
            return [(0, len(places))]
        layout = self.levels.cuts.layout
        sizes = 8 * len(self.levels.n_rows) * layout.n_counted[places] * layout.first[-1]
        most = self.budget if budget is None else budget
        parts, first, total = [], 0, 0
        for k, size in enumerate(sizes.tolist()):
            if k > first and total + size > most:
                parts.append((first, k))
                first, total = k, 0
            total += size
        return [*parts, (first, len(places))]

    def fetch(self, places: np.ndarray) -> None:
        """Count the pairs of some places in one pass, and forget others if there is no room."""
        wanted = [q for q in np.unique(places).tolist() if q not in self.blocks]
        if self.pairs is not None or not wanted:
            return
        cuts = self.levels.cuts
        check_levels(cuts, len(self.levels.n_rows), self.budget)
        need = PairCounts.size(cuts, len(self.levels.n_rows), np.array(wanted))
        used = sum(block.nbytes for block in self.blocks.values())
        for q in list(self.blocks):
            if used + need > self.budget and q not in places:
                used -= self.blocks.pop(q).nbytes
        pivots = np.array(wanted, dtype=np.intp)
        counted = self.sweep(CountPairs(cuts, len(self.levels.n_rows), pivots))
        if counted.levels.n_samples != self.levels.n_samples:
            raise ValueError(
                f"A pass met {counted.levels.n_samples} rows, the first one "
                f"{self.levels.n_samples}: the data has changed in between. Start again."
            )
        self.n_passes += 1
        for q in wanted:
            self.blocks[q] = counted.block(q).copy()  # a view would keep all of them


def check_levels(cuts: Cuts, n_classes: int, budget: int) -> None:
    """A column with very many levels has tables that no memory holds."""
    layout = cuts.layout
    sizes = 8 * n_classes * layout.n_counted * layout.first[-1]
    if len(sizes) and sizes.max() > budget:
        j = int(layout.order[np.argmax(sizes)])
        raise ValueError(
            f"Column {j} has {cuts.n_bins[j]} levels, and its tables with the other columns take "
            f"{sizes.max() / 2**20:,.0f} MB, more than the budget of {budget / 2**20:,.0f} MB. "
            "Leave it out if it is an identifier, put its values into groups, or raise budget."
        )


class _ColumnCounts(NamedTuple):
    """What is known of the single columns."""

    levels: np.ndarray  # int64 (classes, counted): rows at each counted level
    n_rows: np.ndarray  # int64 (classes,): rows of each class
    first: np.ndarray  # int64 (places + 1,): where the counted levels of each place begin
    rest: np.ndarray  # bool (places,): whether the level that is not counted is part of a table


class _Margins(NamedTuple):
    """Cells and margins of tables, one table after the other; zero at first."""

    cells: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


@njit(cache=True, nogil=True)
def _expand_tables(place, targets, block, counted, with_rest, by_class, out):  # type: ignore[no-untyped-def]
    """Whole tables of one place (its columns) with others (their rows), and their margins.

    Parameters
    ----------
    place : int
        The place.
    targets : intp array
        The other places.
    block : int64 array of shape (n_classes, m, n_counted)
        Tables of the counted levels.
    counted : _ColumnCounts
        Counts of the single columns.
    with_rest : bool
        Whether the level of the place that is not counted is part of the table.
    by_class : bool
        Whether the columns are pairs of level and class, or levels.
    out : _Margins
        Where the cells and margins go.
    """
    levels, n_rows, first, rest = counted
    cells, rows, columns = out
    n_classes, m, _ = block.shape
    width = m + 1 if with_rest else m
    n_columns = width * n_classes if by_class else width
    cell, row, column = 0, 0, 0
    for t in targets:
        r = first[t + 1] - first[t]
        height = r + 1 if rest[t] else r
        for k in range(n_classes):
            shift = k * width if by_class else 0
            for a in range(r + 1):
                own = n_rows[k]  # of the rows at level a of t: those at no counted level of place
                if a < r:
                    own = levels[k, first[t] + a]
                else:
                    for other in range(r):
                        own -= levels[k, first[t] + other]
                if a == height:
                    break
                for b in range(m):
                    if a < r:
                        n = block[k, b, first[t] + a]
                    else:
                        n = levels[k, first[place] + b]
                        for other in range(r):
                            n -= block[k, b, first[t] + other]
                    own -= n
                    cells[cell + a * n_columns + shift + b] += n
                    rows[row + a] += n
                    columns[column + shift + b] += n
                if with_rest:
                    cells[cell + a * n_columns + shift + m] += own
                    rows[row + a] += own
                    columns[column + shift + m] += own
        cell += height * n_columns
        row += height
        column += n_columns
