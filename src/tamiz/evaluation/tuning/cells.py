"""The cells of a grid: what one is measured by, who does them, what is written down.

The measure is a scorer of scikit-learn, turned into an error, which is to be small. Scores whose
best value is one become ``1 - score`` (accuracy becomes the fraction of errors); scorers that carry
a minus sign already, such as ``neg_mean_squared_error``, lose it; of any other score the error is
minus the score. :class:`Plain` scores one cell on one split by the estimator itself, and
:func:`run_cells` runs them all, the fast way where there is one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer

from tamiz.evaluation.tuning.grid import Grid, lasting_text, shown, with_params
from tamiz.evaluation.tuning.result import Cell
from tamiz.routing import Routes
from tamiz.runtime.checkpoint import Journal, digest, identity
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads, one_blas_thread
from tamiz.runtime.workers import Shared, find_runner
from tamiz.search.judges import fit_arguments, last_step
from tamiz.search.resampling import fit_to_the_end, preferred_workers, rows_for
from tamiz.search.splits import Split
from tamiz.svm.kernel_machine import KernelMachine
from tamiz.svm.path.problem import Doubt
from tamiz.validation import inner_fit, refuse_interrupted

if TYPE_CHECKING:
    from tamiz.evaluation.tuning.fast import Fast

#: Beginnings of the names of scores whose best value is one.
_UP_TO_ONE = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "fbeta",
    "precision",
    "recall",
    "roc_auc",
    "average_precision",
    "jaccard",
    "top_k_accuracy",
    "matthews_corrcoef",
    "cohen_kappa",
    "r2",
    "explained_variance",
    "d2_",
)


class Outcome(NamedTuple):
    """The score of a cell on a split, or why there is none."""

    score: float  # NaN if the estimator failed
    seconds: float
    failure: str | None = None
    gap: float = np.nan  # relative duality gap of the machine, where it was certified


class Plain:
    """Any estimator on any table that it takes.

    Parameters
    ----------
    estimator : estimator
        Not fitted; it is cloned for every fit.
    X, y : table, array
        Samples and target.
    weight : array or None
        Sample weights, for fitting and for the metric.
    splits : list of pairs of arrays
        Positions of the samples to learn from and to judge by.
    metric : TuningMetric
        What is measured.
    strict : bool
        Whether a failure is raised, or reported in words.
    routes : Routes, optional
        Who gets what of the metadata, where they ask for it.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        splits: Sequence[Split],
        metric: TuningMetric,
        strict: bool = False,
        routes: Routes | None = None,
    ):
        self.estimator, self.routes = estimator, routes
        self.X, self.y, self.weight = X, y, weight
        self.splits = list(splits)
        self.metric = metric
        self.strict = strict
        self.prefer = preferred_workers(estimator)

    def score(self, params: Mapping[str, Any], split: int) -> Outcome:
        """Fit and measure; a failure is reported in words, unless ``strict``."""
        train, test = self.splits[split]
        began = time.perf_counter()
        try:
            machine = self.candidate(params)
            fit_part = self.part(machine, train, train)
            fit_to_the_end(machine, fit_part, self.y[train], **self.arguments(machine, train))
            value = self.measure(machine, test, train)
            if np.isnan(value):
                raise ValueError(
                    f"{self.metric.name} is not defined on split {split}; it may hold one class "
                    "only."
                )
        except (MemoryError, KeyboardInterrupt, Doubt):
            raise
        except Exception as error:
            if self.strict:
                raise
            said = f"{type(error).__name__}: {error}"
            return Outcome(np.nan, time.perf_counter() - began, said)
        return Outcome(value, time.perf_counter() - began)

    def arguments(self, machine: Any, rows: np.ndarray) -> dict[str, Any]:
        """What ``fit`` gets besides these rows: weights, or what was asked for."""
        if self.routes is not None:
            return self.routes.part("estimator", rows)
        return fit_arguments(machine, None if self.weight is None else self.weight[rows])

    def measure(self, machine: Any, test: np.ndarray, train: np.ndarray) -> float:
        """The score of a machine that was fitted to one part of the samples on another."""
        if self.routes is not None:
            asked = self.routes.part("scorer", test)
            part = self.part(machine, test, train)
            return self.metric.score(machine, part, self.y[test], asked)
        held_out = None if self.weight is None else self.weight[test]
        judge_part = self.part(machine, test, train)
        return self.metric.measure(machine, judge_part, self.y[test], held_out)

    def candidate(self, params: Mapping[str, Any]) -> Any:
        """The estimator with the parameters of a cell, not fitted."""
        return with_params(self.estimator, params)

    def refit(self, params: Mapping[str, Any], verbose: bool | int) -> Any:
        """The estimator with these parameters, fitted to all samples."""
        estimator = self.candidate(params)
        machine = last_step(estimator)
        own = getattr(machine, "verbose", None)
        ours = isinstance(machine, KernelMachine) and not own
        if ours:  # a matrix of strings takes its time
            machine.verbose = max(0, int(verbose))
        try:
            everything = np.arange(len(self.y))
            estimator.fit(self.X, self.y, **self.arguments(estimator, everything))
        finally:
            if ours:
                machine.verbose = own
        refuse_interrupted(estimator)
        return estimator

    def identity(self, cells: Sequence[Mapping[str, Any]], scoring: Any) -> dict[str, str]:
        """What must agree for scores of an earlier run to be taken up."""
        X = self.X if sparse.issparse(self.X) else np.asarray(self.X)
        data = [X, self.y] if self.weight is None else [X, self.y, self.weight]
        data += [] if self.routes is None else self.routes.arrays()
        return {
            **identity(self.estimator, *data),
            "method": f"tune {type(self.estimator).__name__}",
            "grid": digest(np.array([repr(lasting_text(cell)) for cell in cells])),
            "scoring": repr(scoring),
            "splits": digest(*(part for split in self.splits for part in split)),
        }

    def part(self, machine: Any, rows: np.ndarray, train: np.ndarray) -> Any:
        """The samples of these rows, as the machine takes them."""
        return rows_for(machine, self.X, rows, train)


@dataclass
class TuningMetric:
    """A scorer and the way from its score to an error.

    Attributes
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.
    name : str
        What the errors are, for tables and axes.
    offset : float
        The error is ``offset - score``.
    plain_accuracy : bool
        Whether the score is the fraction of right predictions.
    stands_in : bool
        Whether the scorer looks at predictions and decision values only.
    weighted : bool
        Whether the scorer takes sample weights.
    """

    scorer: Any
    name: str
    offset: float
    plain_accuracy: bool
    stands_in: bool
    weighted: bool

    def error(self, score: Any) -> Any:
        """The error, a number or an array of them."""
        return self.offset - score

    def measure(self, machine: Any, X: Any, y: np.ndarray, weight: np.ndarray | None) -> float:
        """The score of a fitted machine."""
        extra = {} if weight is None or not self.weighted else {"sample_weight": weight}
        return self.score(machine, X, y, extra)

    def score(self, machine: Any, X: Any, y: np.ndarray, extra: dict[str, Any]) -> float:
        """The score, by a scorer that gets something more."""
        score = self.scorer(machine, X, y, **extra)
        try:
            return float(score)
        except (TypeError, ValueError):
            raise ValueError(
                f"scoring must return one number, it returned {score!r} ({type(score).__name__})."
            ) from None


def make_metric(estimator: Any, scoring: Any) -> TuningMetric:
    """The metric that ``scoring`` stands for; None is the estimator's own score."""
    try:
        scorer = check_scoring(estimator, scoring)
    except (TypeError, ValueError) as error:
        raise type(error)(f"scoring={scoring!r} cannot be used: {error}") from None
    name, offset = _named(estimator, scoring)
    own = isinstance(scorer, _BaseScorer) or scoring is None
    return TuningMetric(
        scorer=scorer,
        name=name,
        offset=offset,
        plain_accuracy=name == "1 - accuracy" and (scoring is None or isinstance(scoring, str)),
        stands_in=own,
        weighted=own,
    )


def _named(estimator: Any, scoring: Any) -> tuple[str, float]:
    if scoring is None:
        score = getattr(type(last_step(estimator)), "score", None)
        usual = getattr(score, "__module__", "").partition(".")[0] in ("sklearn", "tamiz")
        if usual and is_classifier(estimator):
            return "1 - accuracy", 1.0
        if usual and is_regressor(estimator):
            return "1 - r2", 1.0
        return "-score", 0.0
    if isinstance(scoring, str):
        name, turned = scoring, scoring.startswith("neg_")
    else:
        function = getattr(scoring, "_score_func", scoring)
        name = getattr(function, "__name__", type(function).__name__).removesuffix("_score")
        turned = getattr(scoring, "_sign", 1) < 0
    if turned:
        return name.removeprefix("neg_"), 0.0
    if name.startswith(_UP_TO_ONE) and isinstance(scoring, (str, _BaseScorer)):
        return f"1 - {name}", 1.0
    return f"-{name}", 0.0


# ---------------------------------------------------------------------- running


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
        self.gaps = np.full(shape, np.nan)
        self.done = np.zeros(shape, dtype=bool)
        self.failures: dict[int, list[str]] = {}
        self.journal = journal
        self.progress = progress
        self.interrupted = False
        for cell, split, score, *rest in journal.records if journal else ():
            value = np.nan if score is None else score
            self._note(cell, split, Outcome(value, *rest))
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
            record += [] if np.isnan(outcome.gap) else [outcome.gap]
            self.journal.append([record])
        self.progress.update(self._message())

    def _note(self, cell: int, split: int, outcome: Outcome) -> None:
        self.scores[cell, split] = outcome.score
        self.seconds[cell, split] = outcome.seconds
        self.gaps[cell, split] = outcome.gap
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
    runner = find_runner(n_jobs)
    try:
        wanted = board.wanted()
        if fast is not None and fast.groups:
            fast.clear_line = board.progress.close
            with limit_threads(n_jobs), _for_threads(fast.workers):
                fast.run(wanted, board.report)
            wanted = board.wanted()
        rest = sorted(wanted)
        if runner.serial or (len(rest) < 2 and not runner.remote):
            with limit_threads(n_jobs):
                for cell, split in rest:
                    board.report(cell, split, _score(plain, full[cell], split, board.cells[cell]))
            return
        in_threads = plain.prefer == "threads" and not runner.remote
        jobs = [(full[cell], split, board.cells[cell]) for cell, split in rest]
        working = runner.results(_score_alone, Shared(plain), jobs, prefer=plain.prefer)
        with _for_threads(runner.n_workers if in_threads else 1), closing(working) as outcomes:
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


# ---------------------------------------------------------------------- successive halving


def run_halving(
    plain: Plain, cells: Grid, seed: int, n_jobs: int | None, verbose: bool | int
) -> list[Cell]:
    """Many cells on few samples, the better third on more, by scikit-learn.

    Returns the cells of all rungs; those of the last rung are the ones to choose from.
    """
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    search = HalvingGridSearchCV(
        plain.estimator,
        cells.full_parts(),
        cv=_Splits(plain.splits),
        scoring=plain.metric.scorer,
        refit=False,
        error_score="raise" if plain.strict else np.nan,
        random_state=seed % 2**32,
        n_jobs=n_jobs,
        verbose=max(0, int(verbose) - 1),
    )
    with inner_fit():
        search.fit(plain.X, plain.y)
    table = search.cv_results_
    scores = np.column_stack([table[f"split{k}_test_score"] for k in range(len(plain.splits))])
    errors = plain.metric.error(scores)
    seconds = table["mean_fit_time"] + table["mean_score_time"]
    return [
        Cell(cells.short(params), errors[k], float(seconds[k]), None, int(table["n_resources"][k]))
        for k, params in enumerate(table["params"])
    ]


def refuse_for_halving(**given: Any) -> None:
    """Say what successive halving cannot take."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} cannot be used with search='halving'; use 'grid' or 'random'."
            )


class _Splits:
    """Splits known beforehand, in the form of a splitter."""

    def __init__(self, splits: Any):
        self.splits = splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Yield the splits."""
        yield from self.splits

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return len(self.splits)
