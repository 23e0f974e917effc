"""Batches that stay in memory between passes, as long as they are small enough."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from itertools import chain
from numbers import Integral
from typing import Any

from scipy import sparse

from tamiz.runtime.parallel import n_threads, run_tiles
from tamiz.runtime.progress import Progress
from tamiz.scale import Batch, Batches, sweep
from tamiz.scale.memory import available_bytes
from tamiz.scale.passes import ahead

_MOST = 1 << 30  # bytes
_SHARE = 0.25  # of the memory that is free


def budget(keep_bytes: Any) -> int:
    """Bytes for batches that are kept: what a user says, else a gigabyte or a quarter of memory."""
    if keep_bytes is None:
        return int(min(_MOST, _SHARE * available_bytes()))
    if not isinstance(keep_bytes, Integral) or isinstance(keep_bytes, bool) or keep_bytes < 0:
        raise ValueError(
            f"keep_bytes={keep_bytes!r} must be a whole number of bytes, 0 to keep no rows in "
            "memory between passes, or None."
        )
    return int(keep_bytes)


class Passes:
    """Goes over a table again and again; the first pass keeps the batches if they are small.

    A batch that was kept has been read, checked and converted: the passes that follow cost what
    is done with it, and no more. If all of them do not fit into the budget, none is kept, and
    every pass reads the source anew.
    """

    def __init__(self, table: Batches, executor: Any, keep_bytes: int):
        self.table, self.executor = table, executor
        elsewhere = executor is not None or table.executor is not None
        self._left = -1 if elsewhere else keep_bytes
        self._kept: list[Batch] = []
        self._complete = False

    @property
    def kept(self) -> bool:
        """Whether the rows are in memory."""
        return self._complete

    def first(self, make: Any, progress: Progress) -> Any:
        """The first pass."""
        if self._left <= 0:
            return sweep(self.table, make, executor=self.executor, progress=progress)

        def look(batch: Batch) -> Any:
            found = make(batch)
            self._take(batch)
            return found

        found = sweep(self.table, look, progress=progress)
        self._complete = self._left >= 0
        return found

    def _take(self, batch: Batch) -> None:
        X = batch.X
        size = X.data.nbytes + (X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else 0)
        self._left -= size + (0 if batch.y is None else batch.y.nbytes)
        if self._left < 0:
            self._kept = []
        else:
            self._kept.append(batch)

    def sweep(self, make: Any, progress: Any = 0) -> Any:
        """One pass: merged in the order of the batches, whatever the number of threads."""
        if not self._complete:
            return sweep(self.table, make, executor=self.executor, progress=progress)
        total = None
        width = n_threads()
        for start in range(0, len(self._kept), width):
            some = self._kept[start : start + width]
            for part in chain.from_iterable(run_tiles(_each, len(some), some, make)):
                total = part if total is None else total.merge(part)
        return total

    def batches(self) -> Generator[Batch, None, None]:
        """The batches of one pass; close it at the end."""
        if self._complete:
            yield from self._kept
            return
        with closing(ahead(self.table)) as run:  # type: ignore[type-var]
            yield from run


def _each(start: int, stop: int, some: list[Batch], make: Any) -> list[Any]:
    return [make(batch) for batch in some[start:stop]]
