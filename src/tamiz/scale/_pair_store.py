"""Tables of pairs of columns: of all pairs from one pass, or of those asked for, pass by pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.scale.counts import LevelCounts
from tamiz.scale.cuts import Cuts
from tamiz.scale.pair_counts import PairCounts


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


class PairStore:
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
