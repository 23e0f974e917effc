"""Discrete columns whose bits are on a card: the same counts, the same information, the same ties.

The columns are those of :class:`~tamiz.information.codes.Codes`, in memory or in a file. What is
asked of all of them at once (a row, several rows, the matrix, the steps of a greedy search) is
counted on the card; everything else stays where it was. Bits are copied when the first counts are
wanted, in pieces of at most a gigabyte. What the card has no room for is copied again each time it
is counted, one piece after the other: slower, but never refused, as long as there is room for a few
vectors with one number for each column.

Columns with too many levels for bits are counted on the CPU, and so is what others share with a
column (a target, or two features taken together) where the table has more than ``MOST_ON_CARD``
cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tamiz.gpu import Lane, lane_of
from tamiz.gpu.counts import (
    WIDTH,
    CardPivots,
    CardTable,
    Panels,
    Wanted,
    as_pivots,
    join_panels,
    measure,
    panel_bytes,
    to_panels,
    to_pivots,
)
from tamiz.information.codes import MOST_PACKED, Codes, require_pairs
from tamiz.information.counting import Planes
from tamiz.information.packing import Group, Pivot
from tamiz.runtime.progress import Progress

#: Tables with more cells than this are counted on the CPU; no two columns of bits have such.
MOST_ON_CARD = MOST_PACKED**2

#: Bytes of a piece, at most; and the copies of it that exist while it is made.
_PIECE = 1 << 30
_COPIES = 4

#: Vectors of one number for each column that are needed beside the bits.
_VECTORS = 8

#: Rows that are counted at a time, and bytes of bits read after which a search reports back.
_ROWS = 512
_SLICE = 400_000_000_000


def to_card(codes: Any, device: str | None) -> Any:
    """Discrete columns where ``device`` says that they are counted.

    Parameters
    ----------
    codes : DiscreteColumns
        The columns.
    device : {"cpu", "cuda", "auto"} or None
        As estimators have it. Weighted samples and streams are counted on the CPU: "cuda" refuses
        them, "auto" leaves them as they are.

    Returns
    -------
    codes : DiscreteColumns
        The same, or :class:`CardCodes`.
    """
    lane = lane_of(device)
    if lane is None:
        return codes
    if isinstance(codes, Codes):
        return codes if isinstance(codes, CardCodes) else CardCodes(codes, lane)
    if device == "cuda":
        raise ValueError(
            'device="cuda" counts bits, one for each sample, and knows no sample_weight; leave one '
            'of them out, or use device="auto", which counts weighted samples on the CPU.'
        )
    return codes


class CardCodes(Codes):
    """Discrete columns that are counted on a card.

    Parameters
    ----------
    codes : Codes
        The columns, in memory or in a file.
    lane : Lane
        The card.

    Examples
    --------
    >>> from tamiz.gpu import emulated
    >>> from tamiz.information import encode
    >>> codes = encode([[0, 0], [0, 1], [1, 1], [1, 1]], bins=None)
    >>> with emulated() as lane:
    ...     CardCodes(codes, lane).row(0).round(4)
    array([0.6931, 0.2158])
    """

    def __init__(self, codes: Codes, lane: Lane):
        known = codes.n_samples, codes.n_features, codes.groups, codes.wide, codes.n_levels
        super().__init__(*known)
        self.varies, self.target = codes.varies, codes.target
        self.lane = lane
        self._source = codes
        self._pieces: list[_Piece] | None = None
        self._table: CardTable | None = None

    def in_one_group(self, most_levels: int) -> Planes | None:
        return None  # that is for compiled loops

    def take(self, features: Any) -> CardCodes:
        """Some features only; the card holds their bits in the place of those it had."""
        part = CardCodes(self._source.take(features), self.lane)
        part.target = self.target
        self._pieces = None
        return part

    @property
    def all_on_card(self) -> bool:
        """Whether no pair of columns has to be counted on the CPU."""
        return not len(self.wide.features)

    # ------------------------------------------------------------------------------- what it counts

    def card_rows(self, pivots: CardPivots, ratio: bool = False) -> Any:
        """Information of some pivots with every packed column, on the card; 0 for the others."""
        with self.lane.guarded("rows of mutual information"):
            out = self.lane.xp.zeros((len(pivots.rows), self.n_features), dtype=np.float64)
            pivots = pivots._replace(rows=np.arange(len(out), dtype=np.int32))
            for piece in self._planned():
                if piece.n_levels * pivots.n_levels <= MOST_ON_CARD:
                    panels = self._held(piece)
                    measure(self.lane, pivots, panels, self._on_card(), Wanted(out, ratio))
            return out

    def card_row(self, j: int) -> Any:
        """Information of feature ``j`` with every packed column, on the card."""
        return self.card_rows(self._single(self.pivot(j)))[0]

    def card_matrix(
        self, *, ratio: bool = False, dtype: Any = np.float64, progress: Progress | None = None
    ) -> Any:
        """The matrix of all packed columns, on the card; each pair is counted once."""
        p, size = self.n_features, np.dtype(dtype).itemsize
        what = f"the matrix of all pairs of {p:,} features"
        self.lane.require(size * p * p, what, size=p, unit="features", power=2)
        with self.lane.guarded(what):
            out = self.lane.xp.zeros((p, p), dtype=dtype)
            pieces = self._planned()
            for a, left in enumerate(pieces):
                held = self._held(left)
                for b, right in enumerate(pieces[a:], start=a):
                    panels = held if a == b else self._held(right)
                    wanted = Wanted(out, ratio, mirror=True, half=a == b)
                    for pivots in self._all_pivots(held):
                        measure(self.lane, pivots, panels, self._on_card(), wanted)
                    if progress is not None:
                        progress.update(f"parts {a + 1} and {b + 1} of {len(pieces)}")
            return out

    def matrix(
        self, *, ratio: bool = False, dtype: Any = np.float64, progress: Progress | None = None
    ) -> np.ndarray:
        require_pairs(self.n_features, np.dtype(dtype).itemsize)
        self._planned()  # their bits first: the matrix gets the rest
        if self.lane.fits(2 * np.dtype(dtype).itemsize * self.n_features**2):
            out = self.lane.to_host(self.card_matrix(ratio=ratio, dtype=dtype, progress=progress))
        else:
            out = self._matrix_in_parts(ratio, dtype, progress)
        self._fill_wide(ratio, out)
        return out

    def _matrix_in_parts(self, ratio: bool, dtype: Any, progress: Progress | None) -> np.ndarray:
        """The matrix some rows at a time: each pair is counted twice."""
        out = np.zeros((self.n_features, self.n_features), dtype=dtype)
        for group in self.groups:
            done = 0
            for pivots in self._batches(group, np.arange(len(group.features)), group.features):
                out[pivots.rows] = self.lane.to_host(self.card_rows(pivots, ratio))
                done += len(pivots.rows)
                if progress is not None:
                    progress.update(
                        f"rows of {group.n_levels} levels, {done / len(group.features):.0%}"
                    )
        return out

    def _fill_groups(self, pivot: Pivot, ratio: bool, out: np.ndarray) -> None:
        far = [group for group in self.groups if group.n_levels * pivot.n_levels > MOST_ON_CARD]
        if len(far) < len(self.groups):
            out[:] = self.lane.to_host(self.card_rows(self._single(pivot), ratio))[0]
        for group in far:
            self._fill_group(pivot, group, ratio, out)

    def _fill_rows(self, features: np.ndarray, ratio: bool, out: np.ndarray) -> None:
        if not self.all_on_card:
            for k, j in enumerate(features):
                self._fill_row(self.pivot(j), ratio, out[k])
            return
        for number, group in enumerate(self.groups):
            which = np.flatnonzero(self._home[features] == number)
            for pivots in self._batches(group, self._place[features[which]], which):
                out[pivots.rows] = self.lane.to_host(self.card_rows(pivots, ratio))

    # ------------------------------------------------------------------------------------- pivots

    def _single(self, pivot: Pivot) -> CardPivots:
        first = np.zeros(1, dtype=np.int32)
        bits, margins = pivot.bits[None], pivot.margins[None]
        return to_pivots(self.lane, bits, margins, first, self.n_samples, self.table)

    def _batches(self, group: Group, places: np.ndarray, rows: np.ndarray) -> Iterator[CardPivots]:
        """Columns of a group as pivots, as many at a time as there is room for rows of theirs.

        Their ``rows`` are those given; on the card they are numbered from 0.
        """
        self._planned()
        room = self.lane.free_bytes() // (3 * 8 * max(1, self.n_features))
        step = int(min(_ROWS, max(1, room)))
        for first in range(0, len(places), step):
            bits, margins = group.pivots(places[first : first + step])
            part = rows[first : first + step]
            yield to_pivots(self.lane, bits, margins, part, self.n_samples, self.table)

    def _all_pivots(self, panels: Panels) -> Iterator[CardPivots]:
        """All columns of a piece as pivots, as many panels at a time as there is room for.

        With every level kept, and the copies while they are made, a panel of two levels takes
        seven times its own memory.
        """
        n_panels, _, n_words, _ = panels.bits.shape
        single = _COPIES * 8 * (panels.n_levels + 1) * n_words * WIDTH
        step = max(1, self.lane.free_bytes() // single)
        for first in range(0, n_panels, step):
            part = Panels(*(array[first : first + step] for array in panels))
            yield as_pivots(self.lane, part, self.n_samples)

    # --------------------------------------------------------------------------------- on the card

    def _on_card(self) -> CardTable:
        if self._table is None:
            self._table = CardTable(
                self.lane.to_device(self.table), self.n_samples, 1.0 / self.scale
            )
        return self._table

    def _held(self, piece: _Piece) -> Panels:
        return piece.panels if piece.panels is not None else self._load(piece)

    def _planned(self) -> list[_Piece]:
        """The pieces, those that the card has room for on the card."""
        if self._pieces is None:
            vectors = 8 * _VECTORS * self.n_features + self.table.nbytes
            single = max((self._panel_bytes(group) for group in self.groups), default=0)
            self.lane.require(
                vectors + _COPIES * single,
                f"counting {self.n_features:,} columns of {self.n_samples:,} samples",
                size=self.n_features,
                unit="columns",
            )
            room = self.lane.free_bytes() - vectors
            most = max(single, min(_PIECE, room // (2 * _COPIES)))
            room -= _COPIES * most
            pieces = []
            for piece in self._cut(most):
                if piece.n_bytes <= room:
                    piece = piece._replace(panels=self._load(piece))
                    room -= piece.n_bytes
                pieces.append(piece)
            self._pieces = pieces
        return self._pieces

    def _panel_bytes(self, group: Group) -> int:
        return panel_bytes(group.n_levels, not group.incomplete, self.n_samples)

    def _cut(self, most: int) -> Iterator[_Piece]:
        """Columns of equally many levels together, up to so many bytes."""
        kinds: dict[tuple[int, bool], list[Group]] = {}
        for group in self.groups:
            kinds.setdefault((group.n_levels, group.incomplete), []).append(group)
        for groups in kinds.values():
            single = self._panel_bytes(groups[0])
            parts: list[tuple[Group, slice]] = []
            room = max(1, most // single)
            for group in groups:
                first = 0
                while first < len(group.features):
                    stop = min(len(group.features), first + room * WIDTH)
                    parts.append((group, slice(first, stop)))
                    room -= -(-(stop - first) // WIDTH)
                    first = stop
                    if room == 0:
                        yield _Piece(parts, single * _n_panels(parts))
                        parts, room = [], max(1, most // single)
            if parts:
                yield _Piece(parts, single * _n_panels(parts))

    def _load(self, piece: _Piece) -> Panels:
        lane, held = self.lane, []
        with lane.guarded("the bits of the columns"):
            for group, part in piece.parts:
                bits, margins = group.planes.bits[:, :, part], group.planes.margins[:, part]
                places = group.features[part]
                complete = not group.incomplete
                held.append(to_panels(lane, bits, margins, places, complete, self.table))
            return join_panels(lane, held)


class _Piece(NamedTuple):
    """Columns of equally many levels that are on the card at the same time."""

    parts: list[tuple[Group, slice]]
    n_bytes: int
    panels: Panels | None = None  # None: copied whenever they are counted

    @property
    def n_levels(self) -> int:
        """Number of levels of each column."""
        return self.parts[0][0].n_levels


def _n_panels(parts: list[tuple[Group, slice]]) -> int:
    return sum(-(-(part.stop - part.start) // WIDTH) for _, part in parts)


class SharedSums:
    """What columns share with those that a greedy search has added, summed up on the card.

    Parameters
    ----------
    codes : CardCodes
        The columns, all of them on the card.
    relevance : float64 array of shape (n_features,)
        Relevance of each, which also breaks ties.
    total : float64 array of shape (n_features,)
        Information that each shares with those added so far.
    n_added : int
        How many those are.
    floor : float
        If not negative, the quotient of relevance and mean information is looked at in the place of
        the difference, and information counts as this much at least.
    """

    def __init__(
        self,
        codes: CardCodes,
        relevance: np.ndarray,
        total: np.ndarray,
        n_added: int,
        floor: float,
    ):
        self.codes = codes
        self.n_added = n_added
        self._floor = floor
        self._relevance = codes.lane.to_device(relevance)
        self._total = codes.lane.to_device(total)
        self._numbers = codes.lane.to_device(np.arange(len(relevance), dtype=np.int64))

    def total(self) -> np.ndarray:
        """What each column shares with those added, on the host."""
        return self.codes.lane.to_host(self._total)

    def steps_at_once(self) -> int:
        """Steps that take some tenths of a second."""
        bits = sum(group.planes.bits.nbytes for group in self.codes.groups)
        return int(min(256, 1 + _SLICE // max(1, bits)))

    def steps(self, n_steps: int, alive: np.ndarray) -> list[tuple[int, float]]:
        """Add columns one after the other: the greatest value of those that ``alive`` marks, then
        the greatest relevance, then the first. Returns places and values.

        Ctrl-C leaves the sums as they were: none of the columns is added.
        """
        open_, total, found = self.codes.lane.to_device(alive), self._total, []
        for m in range(self.n_added, self.n_added + n_steps):
            k, value = self._best(open_, total, m)
            open_[k] = False
            total = self._with(k, total)
            found.append((k, value))
        self._total, self.n_added = total, self.n_added + n_steps
        return found

    def add(self, k: int) -> None:
        """Add column ``k``, whatever its value."""
        self._total = self._with(k, self._total)
        self.n_added += 1

    def _with(self, k: int, total: Any) -> Any:
        """The sums with column ``k`` added."""
        row = self.codes.card_row(k)
        return total + (self.codes.lane.xp.maximum(row, self._floor) if self._floor >= 0 else row)

    def _best(self, open_: Any, total: Any, n_added: int) -> tuple[int, float]:
        xp, value = self.codes.lane.xp, self._relevance
        if n_added:
            m = float(n_added)
            value = value * m / total if self._floor >= 0 else value - total / m
        value = xp.where(open_, value, -np.inf)
        best = value.max()
        relevance = xp.where(value == best, self._relevance, -np.inf)
        last = len(self._numbers)
        first = xp.where(relevance == relevance.max(), self._numbers, last).min()
        return int(first), float(best)
