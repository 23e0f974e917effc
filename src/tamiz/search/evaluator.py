"""The evaluator: J(S) for any subset, remembered, written down, shared among workers.

Strategies propose subsets of *units* (a feature, or a group of features) and get evaluations. An
evaluation is made once; a run that is resumed repeats its strategy from the beginning with the
evaluations of the journal at hand, so that it ends where the uninterrupted run would have ended.

All subsets that a search judged make a table in the end, :class:`Evaluations`. It is held in
arrays, since of subsets there may be millions: for each one ``8 * metrics * splits`` bytes of
scores, ``p / 8`` of features and ten more.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamiz.base import PathStep
from tamiz.display import PALETTE, TableResult, axes, frames
from tamiz.runtime.checkpoint import Journal
from tamiz.runtime.progress import Progress
from tamiz.runtime.workers import Shared, find_runner
from tamiz.search.judges import FarJudge, Judge, judged, judged_far
from tamiz.validation import Units, depth_of_caller

if TYPE_CHECKING:
    import pandas as pd


#: Subsets that take more than this of the memory for copies are judged by threads: their fits are
#: long enough to share the interpreter, and processes would need the table a second time.
_LARGE_FRACTION = 0.25


class Evaluation(NamedTuple):
    """The scores of one subset."""

    scores: np.ndarray  # (metrics, splits), higher is better; NaN if the judge failed

    @property
    def value(self) -> float:
        """J: the mean of the first metric; minus infinity if the judge failed."""
        value = float(self.scores[0].mean())
        return value if np.isfinite(value) else -np.inf

    @property
    def standard_error(self) -> float:
        """Of J over the splits; 0 with a single one."""
        own = self.scores[0]
        return float(own.std(ddof=1) / np.sqrt(len(own))) if len(own) > 1 else 0.0


class TimeUp(Exception):
    """The time budget is spent."""


class Evaluator:
    """Scores subsets through a judge.

    Parameters
    ----------
    judge : Judge
        What scores a subset.
    units : Units
        What can be in or out; fixed features are always in.
    n_jobs : int or None
        Workers, as in joblib, or of a cluster (see :mod:`tamiz.runtime.workers`).
    journal : Journal or None
        Where evaluations are written down; those it holds already are taken over.
    time_budget : float or None
        Seconds after which no further evaluation is begun.
    failures : {"raise", "worst"}
        Whether a judge that fails ends the search, or the subset counts as the worst.
    progress : Progress
        The line that is shown.

    Attributes
    ----------
    path : list of PathStep
        Every new evaluation ("visit"), and what strategies add with :meth:`mark`.
    n_evaluations : int
        Subsets that were judged or taken from the journal, each counted once.
    """

    def __init__(
        self,
        judge: Judge,
        units: Units,
        *,
        n_jobs: int | None = None,
        journal: Journal | None = None,
        time_budget: float | None = None,
        failures: str = "raise",
        progress: Progress | None = None,
    ):
        self.judge = judge
        self.units = units
        self.runner = find_runner(n_jobs)
        self._shared = Shared(FarJudge(judge) if self.runner.remote else judge)
        self.journal = journal
        self.failures = failures
        self.path: list[PathStep] = []
        self.stage = ""  # what the strategy is doing, for the progress line
        self._progress = progress or Progress("search", 0)
        self._started = time.monotonic()
        self._deadline = None if time_budget is None else self._started + time_budget
        self._known: dict[bytes, Evaluation] = {}
        self._kept: dict[bytes, Evaluation] = {}  # from the journal, not asked for yet
        self._best: tuple[float, int] | None = None
        self._failed: list[str] = []
        self._seconds: list[float] = []  # when each of those known was
        self._taken: set[bytes] = set()
        for features, scores in journal.records if journal is not None else ():
            table = np.array(scores, dtype=np.float64).reshape(len(judge.metrics), -1)
            self._kept[self._key_of_features(features)] = Evaluation(table)

    # ------------------------------------------------------------------ asking

    @property
    def workers(self) -> int:
        """How many subsets are judged at a time."""
        return self.runner.n_workers

    @property
    def n_units(self) -> int:
        return len(self.units.members)

    @property
    def n_evaluations(self) -> int:
        return len(self._known)

    def features(self, subset: np.ndarray) -> np.ndarray:
        """Positions, ascending, of the features of a subset of units, fixed ones included."""
        chosen = [self.units.members[k] for k in np.flatnonzero(subset)]
        return np.sort(np.concatenate([self.units.fixed, *chosen])).astype(np.intp)

    def n_features(self, subset: np.ndarray) -> int:
        """Number of features of a subset of units, fixed ones included."""
        return len(self.units.fixed) + int(self.units.sizes[subset].sum())

    def one(self, subset: np.ndarray) -> Evaluation:
        """The evaluation of one subset."""
        return self.many([subset])[0]

    def many(
        self, subsets: Sequence[np.ndarray], near: np.ndarray | None = None
    ) -> list[Evaluation]:
        """The evaluations of subsets, boolean arrays over the units.

        ``near`` says that all of them are neighbours of one subset, which some judges can use to
        be faster.
        """
        self._check_time()
        keys = [_key(subset) for subset in subsets]
        new: dict[bytes, np.ndarray] = {}
        for key, subset in zip(keys, subsets, strict=True):
            if key not in self._known and key not in new:
                new[key] = self.features(subset)
        if new:
            self._judge_all(new, near)
        return [self._known[key] for key in keys]

    def is_known(self, subset: np.ndarray) -> bool:
        """Whether a subset was evaluated already."""
        return _key(subset) in self._known

    def recall(self, subset: np.ndarray) -> Evaluation:
        """The evaluation of a subset that was evaluated already, whatever the time."""
        return self._known[_key(subset)]

    def known(self) -> Iterator[tuple[np.ndarray, Evaluation]]:
        """All subsets evaluated so far, as boolean arrays over the units, in order."""
        for key, evaluation in self._known.items():
            bits = np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=self.n_units)
            yield bits.astype(bool), evaluation

    def table(self, selected: np.ndarray, names: Sequence[str]) -> Evaluations:
        """All subsets evaluated so far with their scores, and what became of each."""
        p, n = self.units.n_features, len(self._known)
        shape = (n, len(self.judge.metrics), self.judge.n_splits)
        subsets = np.zeros((n, -(-p // 8)), dtype=np.uint8)
        scores = np.empty(shape)
        chosen = np.zeros(n, dtype=bool)
        for i, (subset, evaluation) in enumerate(self.known()):
            key = self._key_of_features(self.features(subset))
            subsets[i] = np.frombuffer(key, dtype=np.uint8)
            scores[i] = evaluation.scores
            chosen[i] = np.array_equal(subset, selected)
        return Evaluations(
            subsets=subsets,
            scores=scores,
            metrics=self.judge.metrics,
            names=list(names),
            seconds=np.array(self._seconds),
            accepted=np.array([key in self._taken for key in self._known], dtype=bool),
            selected=chosen,
        )

    # ------------------------------------------------------------------ writing down

    def mark(
        self,
        action: str,
        subset: np.ndarray,
        changed: Sequence[int] = (),
        *,
        taken: bool = True,
        **details: Any,
    ) -> None:
        """Record a decision of the strategy about an evaluated subset.

        ``changed`` are the units added or dropped; without any, all features of the subset are
        recorded. ``taken`` says whether the strategy goes on from the subset.
        """
        if taken:
            self._taken.add(_key(subset))
        units = [self.units.members[k] for k in changed]
        features = self.features(subset)
        concerned = np.concatenate(units) if units else features
        evaluation = self.recall(subset)
        self.path.append(
            PathStep(
                action,
                tuple(concerned.tolist()),
                len(features),
                evaluation.value,
                {"scores": self._named(evaluation), **details},
            )
        )

    def warn_failures(self) -> None:
        """Say how many subsets could not be judged, and why the first could not."""
        if self._failed:
            warnings.warn(
                f"{len(self._failed)} of {self.n_evaluations} subsets could not be judged and "
                f"count as the worst; the first failure was: {self._failed[0]}",
                RuntimeWarning,
                stacklevel=depth_of_caller(),
            )

    # ------------------------------------------------------------------ the work

    def _judge_all(self, new: dict[bytes, np.ndarray], near: np.ndarray | None) -> None:
        todo: list[tuple[bytes, np.ndarray]] = []
        for key, features in new.items():
            kept = self._kept.pop(self._key_of_features(features), None)
            if kept is not None:
                if np.isnan(kept.scores).any():
                    self._failed.append("recorded in the journal that was resumed")
                self._learn(key, features, kept)
            elif not len(features):
                self._learn(key, features, self._nothing())
            else:
                todo.append((key, features))
        if not todo:
            return
        self._check_time()
        # as many as were asked for: how many are left depends on where a run was resumed
        approach = None if near is None else self.features(near), len(new)
        if self.runner.remote:
            finished = self._together(todo, self.runner.n_workers, None, approach)
        else:
            self.judge.approach(*approach)
            finished = self._here(todo)
        for key, features, scores in finished:
            evaluation = self._nothing() if isinstance(scores, str) else Evaluation(scores)
            if isinstance(scores, str):
                self._failed.append(scores)
            if self.journal is not None:
                self.journal.append([[features.tolist(), _for_json(evaluation.scores)]])
            self._learn(key, features, evaluation)
            self._check_time()

    def _in_turn(self, todo: list[tuple[bytes, np.ndarray]]) -> Iterator[Any]:
        for key, features in todo:
            yield key, features, judged(self.judge, features, slice(None), self.failures)

    def _here(self, todo: list[tuple[bytes, np.ndarray]]) -> Iterator[Any]:
        """On this machine, with no more workers than its memory has room for."""
        fraction = self.judge.memory_fraction(max(len(features) for _, features in todo))
        workers = self.runner.n_workers
        if fraction > 0.0:
            workers = min(workers, max(1, int(1.0 / fraction)))
        if workers == 1:
            return self._in_turn(todo)
        prefer = "threads" if fraction > _LARGE_FRACTION else self.judge.prefer
        return self._together(todo, workers, prefer, None)

    def _together(
        self,
        todo: list[tuple[bytes, np.ndarray]],
        workers: int,
        prefer: str | None,
        approach: tuple[np.ndarray | None, int] | None,
    ) -> Iterator[Any]:
        """Share the work: whole subsets if there are many, else parts of their splits.

        On a cluster the job itself says what the judge should ``approach``.
        """
        parts = [slice(None)]
        if len(todo) < 2 * workers and self.judge.n_splits > 1:
            n_parts = min(self.judge.n_splits, -(-2 * workers // len(todo)))
            edges = np.linspace(0, self.judge.n_splits, n_parts + 1).astype(int)
            parts = [slice(int(a), int(b)) for a, b in pairwise(edges)]
        more = () if approach is None else (approach,)
        jobs = [(features, part, self.failures, *more) for _, features in todo for part in parts]
        function = judged if approach is None else judged_far
        working = self.runner.results(function, self._shared, jobs, prefer=prefer, at_once=workers)
        with closing(working) as results:
            for key, features in todo:
                tables = [next(results) for _ in parts]
                failure = next((table for table in tables if isinstance(table, str)), None)
                yield key, features, failure or np.concatenate(tables, axis=1)

    def _learn(self, key: bytes, features: np.ndarray, evaluation: Evaluation) -> None:
        self._known[key] = evaluation
        self._seconds.append(round(time.monotonic() - self._started, 3))
        value = evaluation.value
        details: dict[str, Any] = {
            "scores": self._named(evaluation),
            "standard_error": evaluation.standard_error,
            "number": len(self._known),
            "seconds": self._seconds[-1],
        }
        seen = FeatureSet(self._key_of_features(features), self.units.n_features)
        self.path.append(PathStep("visit", seen, len(features), value, details))
        if self._best is None or value > self._best[0]:
            self._best = (value, len(features))
        best, size = self._best
        self._progress.update(
            f"{self.stage}{', ' if self.stage else ''}{len(self._known):,} subsets, best "
            f"{best:.4g} with {size} features"
        )

    def _named(self, evaluation: Evaluation) -> dict[str, float]:
        means = evaluation.scores.mean(axis=1)
        return dict(zip(self.judge.metrics, means.tolist(), strict=True))

    def _nothing(self) -> Evaluation:
        return Evaluation(np.full((len(self.judge.metrics), self.judge.n_splits), np.nan))

    def _check_time(self) -> None:
        if self._deadline is not None and self._known and time.monotonic() > self._deadline:
            raise TimeUp

    def _key_of_features(self, features: Any) -> bytes:
        mask = np.zeros(self.units.n_features, dtype=bool)
        mask[np.asarray(features, dtype=np.intp)] = True
        return np.packbits(mask).tobytes()


class FeatureSet(Sequence[int]):
    """Positions of features, ascending, in a bit each: of visits there may be millions.

    It compares, prints and hashes like the tuple that it stands for.
    """

    __slots__ = ("_bits", "_n")

    def __init__(self, bits: bytes, n_features: int):
        self._bits = bits
        self._n = n_features

    def _check_parts(self) -> None:
        """Refuse another number of features than of bits, in what comes from a file."""
        if not 0 <= self._n <= 8 * len(self._bits) < self._n + 8:
            raise ValueError("A set of features has another size than it says.")

    def _tuple(self) -> tuple[int, ...]:
        mask = np.unpackbits(np.frombuffer(self._bits, dtype=np.uint8), count=self._n)
        return tuple(np.flatnonzero(mask).tolist())

    def __getitem__(self, index: Any) -> Any:
        return self._tuple()[index]

    def __len__(self) -> int:
        return int.from_bytes(self._bits, "big").bit_count()

    def __iter__(self) -> Iterator[int]:
        return iter(self._tuple())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FeatureSet):
            return self._bits == other._bits and self._n == other._n
        return self._tuple() == other

    def __lt__(self, other: Sequence[int]) -> bool:
        return self._tuple() < tuple(other)

    def __hash__(self) -> int:
        return hash(self._tuple())

    def __repr__(self) -> str:
        return repr(self._tuple())


def _key(subset: np.ndarray) -> bytes:
    return np.packbits(np.asarray(subset, dtype=bool)).tobytes()


def _for_json(scores: np.ndarray) -> list[list[float | None]]:
    """A table of scores; JSON has no NaN, and repr of a float loses nothing."""
    return [[None if np.isnan(v) else float(v) for v in row] for row in scores]


@dataclass(repr=False)
class Evaluations(TableResult):
    """The subsets that a search judged, in the order in which it asked for them.

    Attributes
    ----------
    scores : array of shape (n_subsets, n_metrics, n_splits)
        Scores of each split, the higher the better; NaN where the judge failed.
    metrics : tuple of str
        Names of the scores; the first is the criterion of the search.
    names : list of str
        Names of all features.
    seconds : array of shape (n_subsets,)
        When the score was there, since the search began. After a resume, scores from the journal
        are there at once.
    accepted : boolean array of shape (n_subsets,)
        Whether the search went on from the subset: it was the start, the best of a round, expanded,
        taken by the walk of annealing, or the best so far.
    selected : boolean array of shape (n_subsets,)
        Whether it is the answer; none is if the answer could not be judged.
    subsets : array of bytes of shape (n_subsets, ceil(n_features / 8))
        The features, a bit each; :meth:`support` unpacks them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.search import ForwardSelection
    >>> X, y = load_iris(return_X_y=True)
    >>> found = ForwardSelection(cv=3).fit(X, y).evaluations_
    >>> found
    <Evaluations: 10 subsets of 4 features, score on 3 splits>
    >>> found.features(4), found.scores[4, 0].round(2).tolist(), bool(found.accepted[4])
    (['x0', 'x3'], [0.92, 0.96, 0.92], False)
    """

    scores: np.ndarray
    metrics: tuple[str, ...]
    names: list[str]
    seconds: np.ndarray
    accepted: np.ndarray
    selected: np.ndarray
    subsets: np.ndarray

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        n, _, n_splits = self.scores.shape
        splits = "1 split" if n_splits == 1 else f"{n_splits} splits"
        return (
            f"<Evaluations: {n:,} subset{'' if n == 1 else 's'} of {len(self.names)} features, "
            f"{', '.join(self.metrics)} on {splits}>"
        )

    @property
    def nbytes(self) -> int:
        """Memory that the table takes."""
        parts = (self.scores, self.seconds, self.accepted, self.selected, self.subsets)
        return sum(part.nbytes for part in parts)

    @property
    def support(self) -> np.ndarray:
        """Which features each subset holds, boolean (n_subsets, n_features)."""
        return np.unpackbits(self.subsets, axis=1, count=len(self.names)).astype(bool)

    @property
    def n_features(self) -> np.ndarray:
        """Number of features of each subset."""
        return np.unpackbits(self.subsets, axis=1).sum(axis=1, dtype=np.intp)

    @property
    def mean(self) -> np.ndarray:
        """Mean over the splits, (n_subsets, n_metrics)."""
        return self.scores.mean(axis=2)

    @property
    def sd(self) -> np.ndarray:
        """Standard deviation over the splits (n - 1); NaN if there is one only."""
        if self.scores.shape[2] < 2:
            return np.full(self.scores.shape[:2], np.nan)
        return self.scores.std(axis=2, ddof=1)

    @property
    def rank(self) -> np.ndarray:
        """Rank of each subset by the mean of the first metric, 1 for the best; equals share it."""
        value = self.mean[:, 0] if len(self) else np.empty(0)
        value = np.where(np.isfinite(value), value, -np.inf)
        _, level, counts = np.unique(-value, return_inverse=True, return_counts=True)
        return 1 + (np.cumsum(counts) - counts)[level]

    def features(self, i: int) -> list[str]:
        """Names of the features of subset ``i``."""
        bits = np.unpackbits(self.subsets[i], count=len(self.names))
        return [self.names[j] for j in np.flatnonzero(bits)]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of plain values, fit for JSON: scores that are not there are None."""
        columns: dict[str, list[Any]] = {
            "number": list(range(1, len(self) + 1)),
            "features": [self.features(i) for i in range(len(self))],
            "n_features": self.n_features.tolist(),
        }
        for m, metric in enumerate(self.metrics):
            columns[f"mean_{metric}"] = _plain(self.mean[:, m])
            columns[f"sd_{metric}"] = _plain(self.sd[:, m])
            for k in range(self.scores.shape[2]):
                columns[f"split{k}_{metric}"] = _plain(self.scores[:, m, k])
        columns["rank"] = self.rank.tolist()
        columns["seconds"] = self.seconds.tolist()
        columns["accepted"] = self.accepted.tolist()
        columns["selected"] = self.selected.tolist()
        return columns

    def _overview(self) -> pd.DataFrame:
        columns = ["features", *(f"mean_{name}" for name in self.metrics), "rank", "selected"]
        return self.to_frame().sort_values("rank", kind="stable")[columns]

    def to_frame(self) -> pd.DataFrame:
        """A pandas table with one row for each subset, numbered from 1 as they were asked for.

        Its columns are ``features`` (a list of names), ``n_features``, for each metric
        ``mean_<metric>``, ``sd_<metric>`` and ``split0_<metric>``, ``split1_<metric>``, ..., then
        ``rank``, ``seconds``, ``accepted`` and ``selected``.
        """
        pd = frames()
        columns = self.to_dict()
        number = pd.Index(columns.pop("number"), name="number", dtype="int64")
        frame = pd.DataFrame(columns, index=number)
        numbers = [name for name in columns if name.startswith(("mean_", "sd_", "split"))]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the score of every subset over its number of features, and the best of each number.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        ax = axes(ax)
        score = self.mean[:, 0]
        there = np.isfinite(score)
        ax.plot(self.n_features[there], score[there], ".", color="0.72", ms=5, label="subsets")
        sizes = np.unique(self.n_features[there])
        best = [score[there & (self.n_features == size)].max() for size in sizes]
        ax.plot(sizes, best, color=PALETTE[0], marker="o", ms=4, label="best of each number")
        chosen = np.flatnonzero(self.selected & there)
        ax.plot(
            self.n_features[chosen], score[chosen], "o", ms=9, mfc="none", mec=PALETTE[1], mew=1.5,
            label="selected",
        )  # fmt: skip
        ax.set(xlabel="number of features", ylabel=self.metrics[0].replace("_", " "))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(fontsize="small", frameon=False)
        return ax


def _plain(values: np.ndarray) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]
