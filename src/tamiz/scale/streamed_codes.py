r"""Mutual information of columns that were never in memory together.

What :class:`tamiz.information.Codes` computes from packed samples is here computed from tables of
counts that were added up over batches. The tables are whole numbers and n log n is rounded to the
same fixed-point numbers (see :func:`tamiz.information._table.log_table`), so every value is equal
to that of ``Codes`` on all rows with the same cuts, to the last bit. The fixed-point numbers are
worked out for the counts that occur, not for 0 to N.

Memory: the tables of all pairs if they fit into the budget. If not, those of the features asked
for, a pass over the data at a time: with each of them those of the most relevant features that
have not been counted, as many as half the budget holds, because they are asked for next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.information.counting import FAINT
from tamiz.scale._pair_kernels import expand_tables
from tamiz.scale._pair_store import CountLevels, CountPairs, PairStore, check_levels
from tamiz.scale.cuts import Cuts
from tamiz.scale.pair_counts import PairCounts

#: Memory for tables of pairs, in bytes.
BUDGET = 2**27


class StreamedCodes:
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
        if missing not in ("code", "ignore"):
            raise ValueError(f'missing={missing!r} is not understood; use "code" or "ignore".')
        if pairs:
            check_levels(cuts, n_classes, budget)
        if pairs and PairCounts.size(cuts, n_classes) <= budget:
            counted = sweep(CountPairs(cuts, n_classes))
            store = PairStore(sweep, counted.levels, counted, budget)
        else:
            store = PairStore(sweep, sweep(CountLevels(cuts, n_classes)), None, budget)
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

    def _prepare(self, store: PairStore, features: np.ndarray, missing: str) -> None:
        self._store, self._features, self._missing = store, features, missing
        levels = store.levels
        self.n_samples, self.n_features = levels.n_samples, len(features)
        if self.n_samples == 0:
            raise ValueError("There are no rows: every batch was empty. Hand over some data.")
        self._tables = [levels.table(j, missing=missing) for j in features]
        self.n_levels = np.array(
            [max(1, np.count_nonzero(table.any(axis=1))) for table in self._tables], dtype=np.intp
        )
        top = _n_log_n(np.array([self.n_samples]))[0]
        self._scale = 2.0 ** (60 - int(np.ceil(np.log2(max(top, 1.0)))))

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
        """Entropy of each feature."""
        margins = [table.sum(axis=1) for table in self._tables]
        known = np.array([int(part.sum()) for part in margins])
        return (self._f(known) - self._sums(margins)) / (self._scale * self.n_samples)

    def n_known(self) -> np.ndarray:
        """Number of samples in which each feature is present."""
        return np.array([table.sum() for table in self._tables], dtype=np.intp)

    def contingency(self, y: None = None, n_codes: int | None = None) -> list[np.ndarray]:
        """Contingency table of every feature (levels that occur, rows) with the classes."""
        _refuse_target(y)
        kept = [table[table.any(axis=1)] for table in self._tables]
        return [
            part if len(part) else table[:1] for part, table in zip(kept, self._tables, strict=True)
        ]

    def relevance(self, y: None = None) -> np.ndarray:
        """Mutual information of every feature with the classes, which were counted with it."""
        return self.against(y)

    def su_relevance(self, y: None = None) -> np.ndarray:
        """Symmetrical uncertainty of every feature with the classes."""
        return self.against(y, ratio=True)

    def against(self, codes: None = None, *, ratio: bool = False) -> np.ndarray:
        """Mutual information, or symmetrical uncertainty, of every feature with the classes."""
        _refuse_target(codes)
        tables = self._tables
        cells = self._sums([table.ravel() for table in tables])
        rows = self._sums([table.sum(axis=1) for table in tables])
        columns = self._sums([table.sum(axis=0) for table in tables])
        return self._measure(cells, rows, columns, self.n_known(), ratio)

    # ----------------------------------------------------------------------------- one against all

    def row(self, j: int) -> np.ndarray:
        """Mutual information of feature ``j`` with every feature; its entropy with itself."""
        return self._row(j, ratio=False)

    def su_row(self, j: int) -> np.ndarray:
        """Symmetrical uncertainty of feature ``j`` with every feature."""
        return self._row(j, ratio=True)

    def conditional(self, j: int, y: None = None) -> np.ndarray:
        """Conditional mutual information I(f; y | feature j) of every feature f with the classes.

        Samples that lack feature ``j`` are one more part of those over which the condition divides
        them.
        """
        _refuse_target(y)
        alone = self._information(j, by_class=False, whole=True, ratio=False)
        together = self._information(j, by_class=True, whole=True, ratio=False)
        return np.maximum(together - alone, 0.0)

    def rows(self, features: Any, *, ratio: bool = False, dtype: Any = np.float64) -> np.ndarray:
        """Rows of the matrix of mutual information: ``(len(features), n_features)``."""
        features = np.asarray(features)
        features = np.flatnonzero(features) if features.dtype == bool else features
        out = np.empty((len(features), self.n_features), dtype=dtype)
        places = self._places()
        for first, last in self._store.portions(places[features]):
            self._store.fetch(places[features[first:last]])
            for k in range(first, last):
                out[k] = self._row(features[k], ratio)
        return out

    def prepare(self, features: Any) -> None:
        """Count the pairs of some features in one pass, as many as fit into the budget.

        They will be asked for by later calls of :meth:`rows`.
        """
        places = self._places()[np.asarray(features)]
        (first, last), *_ = self._store.portions(places)
        self._store.fetch(places[first:last])

    def su_rows(self, features: Any, *, dtype: Any = np.float64) -> np.ndarray:
        """Rows of the matrix of symmetrical uncertainty."""
        return self.rows(features, ratio=True, dtype=dtype)

    def matrix(
        self, *, ratio: bool = False, dtype: Any = np.float64, progress: Any = None
    ) -> np.ndarray:
        """Mutual information of all pairs of features."""
        return self.rows(np.arange(self.n_features), ratio=ratio, dtype=dtype)

    def take(self, features: Any) -> StreamedCodes:
        """Some features only, renumbered in the order given; the counts are shared."""
        features = np.asarray(features, dtype=np.intp)
        part = object.__new__(StreamedCodes)
        part._prepare(self._store, self._features[features], self._missing)
        part.varies = self.varies[features]
        return part

    def in_one_group(self, most_levels: int) -> None:
        """None: there are no packed samples to search in."""
        return None

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
        place = int(places[_number(j, self.n_features)])
        rest = np.full(len(layout.order), True) if self._missing == "code" else ~layout.gappy
        with_rest = whole or bool(rest[place])
        block = self._store.block(place, self._likely)
        width = (block.shape[1] + with_rest) * (len(levels.n_rows) if by_class else 1)
        heights = layout.n_counted[places] + rest[places]
        cells = np.zeros(int(heights.sum()) * width, dtype=np.int64)
        rows = np.zeros(int(heights.sum()), dtype=np.int64)
        columns = np.zeros((len(places), width), dtype=np.int64)
        expand_tables(
            place, places, block, levels.counts, levels.n_rows, layout.first, rest, with_rest,
            by_class, cells, rows, columns.reshape(-1),
        )  # fmt: skip
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
        return np.rint(_n_log_n(counts) * self._scale).astype(np.int64)

    def _sums(self, parts: list[np.ndarray]) -> np.ndarray:
        """Sum of f over each of several lists of counts, none of them empty."""
        lengths = np.array([len(part) for part in parts])
        return np.add.reduceat(self._f(np.concatenate(parts)), np.cumsum(lengths) - lengths)

    def _measure(
        self,
        cells: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
        n: np.ndarray,
        ratio: bool,
    ) -> np.ndarray:
        """Information or symmetrical uncertainty from sums of f, operation by operation as in
        ``information._counting``.
        """
        whole = self._f(n)
        information = (whole + cells - rows - columns).astype(np.float64)
        least = (whole >> FAINT).astype(np.float64)
        nothing = (information < least) | (n == 0)
        if ratio:
            entropy = (whole - rows).astype(np.float64) + (whole - columns).astype(np.float64)
            some = entropy > least
            share = n / float(self.n_samples)
            value = 2.0 * information / np.where(some, entropy, 1.0) * share
            return np.where(nothing | ~some, 0.0, value)
        value = information * (1.0 / float(self.n_samples)) * (1.0 / self._scale)
        return np.where(nothing, 0.0, value)


def _n_log_n(counts: np.ndarray) -> np.ndarray:
    n = counts.astype(np.float64)
    return n * np.log(np.maximum(n, 1.0))


def _number(j: Any, n_features: int) -> int:
    whole = isinstance(j, (int, np.integer)) and not isinstance(j, bool)
    if not whole or not -n_features <= j < n_features:
        raise IndexError(
            f"{j!r} is not a feature; use a number from 0 to {n_features - 1}, the position of a "
            "column."
        )
    return int(j)


def _refuse_target(y: Any) -> None:
    if y is not None:
        raise ValueError(
            "The classes were counted together with the features, and other targets are not known: "
            "leave y out, or make a pass with the other target."
        )
