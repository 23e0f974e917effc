"""Running the cells: who does them, what is written down, what happens on Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

import numpy as np

from tamiz.evaluation.tuning.fast import Fast
from tamiz.evaluation.tuning.grid import shown
from tamiz.evaluation.tuning.plain import Outcome, Plain
from tamiz.runtime.blas import one_blas_thread
from tamiz.runtime.journal import Journal
from tamiz.runtime.parallel import limit_threads
from tamiz.runtime.progress import Progress
from tamiz.runtime.workers import Shared, crew_of


class Board:
    """The scores of all cells on all splits, as far as they are known.

    Parameters
    ----------
    cells : list of dict
        Parameters as the user named them.
    n_splits : int
        Number of splits.
    journal : Journal or None
        Where scores are written down; those that it holds are taken over.
    progress : Progress
        The line that is shown.
    """

    def __init__(
        self,
        cells: Sequence[dict[str, Any]],
        n_splits: int,
        journal: Journal | None,
        progress: Progress,
    ):
        self.cells = list(cells)
        shape = len(self.cells), n_splits
        self.scores = np.full(shape, np.nan)
        self.seconds = np.full(shape, np.nan)
        self.done = np.zeros(shape, dtype=bool)
        self.failures: dict[int, list[str]] = {}
        self.journal = journal
        self.progress = progress
        self.interrupted = False
        for cell, split, score, seconds, failure in journal.records if journal else ():
            value = np.nan if score is None else score
            self._note(cell, split, Outcome(value, seconds, failure))
        self._known = int(self.done.sum())
        self._began = time.monotonic()

    def wanted(self) -> set[tuple[int, int]]:
        """Cells and splits that are still to be done."""
        return {(int(c), int(k)) for c, k in zip(*np.nonzero(~self.done), strict=True)}

    def report(self, cell: int, split: int, outcome: Outcome) -> None:
        """Learn what came out."""
        if self.done[cell, split]:
            return
        self._note(cell, split, outcome)
        if self.journal is not None:
            score = float(outcome.score) if np.isfinite(outcome.score) else None
            record = [cell, split, score, round(outcome.seconds, 6), outcome.failure]
            self.journal.append([record])
        self.progress.update(self._message())

    def _note(self, cell: int, split: int, outcome: Outcome) -> None:
        self.scores[cell, split] = outcome.score
        self.seconds[cell, split] = outcome.seconds
        self.done[cell, split] = True
        if outcome.failure is not None:
            self.failures.setdefault(cell, []).append(outcome.failure)

    def _message(self) -> str:
        done, total = int(self.done.sum()), self.done.size
        fresh = max(1, done - self._known)
        left = (time.monotonic() - self._began) / fresh * (total - done)
        means = self.scores[self.done.all(axis=1)].mean(axis=1)
        best = "" if not np.isfinite(means).any() else f", best score {np.nanmax(means):.4g}"
        return f"{done:,} of {total:,} fits{best}, about {left:.0f} s left"


def run_cells(
    board: Board,
    plain: Plain,
    full: Sequence[dict[str, Any]],
    fast: Fast | None,
    n_jobs: int | None,
) -> None:
    """Fill the board; on Ctrl-C it stays as it is and says so."""
    crew = crew_of(n_jobs)
    try:
        wanted = board.wanted()
        if fast is not None and fast.groups:
            fast.clear_line = board.progress.close
            with limit_threads(n_jobs), _for_threads(fast.workers):
                fast.run(wanted, board.report)
            wanted = board.wanted()
        rest = sorted(wanted)
        if crew.alone or (len(rest) < 2 and not crew.far):
            with limit_threads(n_jobs):
                for cell, split in rest:
                    board.report(cell, split, _score(plain, full[cell], split, board.cells[cell]))
            return
        in_threads = plain.prefer == "threads" and not crew.far
        jobs = [(full[cell], split, board.cells[cell]) for cell, split in rest]
        working = crew.results(_score_alone, Shared(plain), jobs, prefer=plain.prefer)
        with _for_threads(crew.workers if in_threads else 1), closing(working) as outcomes:
            for (cell, split), outcome in zip(rest, outcomes, strict=True):
                board.report(cell, split, outcome)
    except KeyboardInterrupt:
        board.interrupted = True


def _for_threads(workers: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread while several of ours work, from the first job to the last."""
    return one_blas_thread() if workers > 1 else nullcontext()


def _score(plain: Plain, params: dict[str, Any], split: int, cell: dict[str, Any]) -> Outcome:
    try:
        return plain.score(params, split)
    except Exception as error:
        error.add_note(
            f"This happened in the cell {shown(cell)}, on split {split}. With error_score=nan such "
            "cells are left out of the choice instead of ending it."
        )
        raise


def _score_alone(plain: Plain, params: dict[str, Any], split: int, cell: dict[str, Any]) -> Outcome:
    if plain.prefer == "threads":
        with limit_threads(1):
            return _score(plain, params, split, cell)
    return _score(plain, params, split, cell)
