"""Every run that can be resumed, small: what campaigns kill, starve and run twice."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from tamiz.reproduce.base import Experiment, Recipe, row
from tamiz.runtime.checkpoint import Checkpoint, Journal

Job = Callable[[Path, bool], Any]  # file and whether to resume -> answer
#: What differs from run to run: times, and when it was.
_TIMES = re.compile(r"seconds|created|compiling|duration|time|path|command|checkpoint", re.I)


@functools.cache
def table(n: int = 60, p: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that two of the features separate, not quite."""
    rng = np.random.default_rng(7)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, :2] += 1.2 * y[:, None]
    return X, y


def write_table(path: Path) -> None:
    """The same as a file."""
    X, y = table()
    rows = [",".join([*(f"{x:.4f}" for x in row), "yn"[k]]) for row, k in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,e,f,g,h,class", *rows]) + "\n", encoding="utf-8")


class Draws(Experiment):
    """Means of random numbers, from the seed alone: a published table that takes no time."""

    name = "draws"
    data = ()
    quick, full = 12, 50

    def prepare(self, quick: bool, seed: int) -> float:
        return 2.0

    def repeat(self, ready: Any, seed: int) -> dict[str, float]:
        draws = np.random.default_rng(seed).normal(ready, size=30_000)
        return {"value": float(np.sort(draws).mean())}

    def rows(self, found: Any, quick: bool) -> list[Any]:
        return [row("mean", [one["value"] for one in found], group="all", published=2.0)]


RECIPE = Recipe("D1", "Draws", "nowhere", "draw", "none", (Draws(),))


def jobs() -> dict[str, Job]:
    """Name -> the run; with two workers where it has them."""
    found: dict[str, Job] = {
        name: functools.partial(_search, name, options)
        for name, options in {
            "ForwardSelection": {"floating": True},
            "BackwardElimination": {},
            "ExhaustiveSearch": {"max_features": 3},
            "BestFirst": {"patience": 4},
            "BranchAndBound": {"n_features_to_select": 3},
            "SimulatedAnnealing": {"random_state": 3},
            "GeneticSearch": {"random_state": 3, "N": 8, "G": 8},
        }.items()
    }
    for name, kind, options in (
        ("SVMRFE linear", "SVMRFE", {"n_features_to_select": 2}),
        ("SVMRFE rbf", "SVMRFE", {"n_features_to_select": 2, "kernel": "rbf"}),
        ("SVMRFE folds", "SVMRFE", {"n_features_to_select": "best", "cv": 4, "n_jobs": 2}),
        ("HoldOutSVM", "HoldOutSVM", {"random_state": 5, "n_jobs": 2}),
        ("KPSVM", "KPSVM", {"n_features_to_select": 3}),
        ("AdaptiveScaling", "AdaptiveScaling", {"n_features_to_select": 3}),
        ("RadiusMarginScaling", "RadiusMarginScaling", {"n_features_to_select": 3}),
    ):
        found[name] = functools.partial(_selector, kind, options)
    for name in ("StabilitySelection", "Knockoffs", "Shadows"):
        found[name] = functools.partial(_discovery, name)
    found |= {
        "tune": functools.partial(_tune, False),
        "tune trees": functools.partial(_tune, True),
        "permutation_test": _permutations,
        "compare": _compare,
        "reproduce": _reproduce,
        "tamiz select": functools.partial(_command, "select", ["--repeats", "2"]),
        "tamiz compare": functools.partial(_command, "compare", ["--repeats", "1"]),
    }
    return found


class Noted(NamedTuple):
    """What a run did with its file."""

    found: int  # records or states that were in it
    written: int  # records or states that it wrote


@contextlib.contextmanager
def noting() -> Iterator[Callable[[], Noted]]:
    """Count what is found in checkpoints and written to them; every state is written."""
    found = written = 0
    opened: dict[type, Any] = {kind: kind.__init__ for kind in (Checkpoint, Journal)}
    save: Any = Checkpoint.save
    append: Any = Journal.append

    def count(self: Any, *args: Any, **options: Any) -> None:
        nonlocal found
        opened[type(self)](self, *args, **options)
        state = self.records if isinstance(self, Journal) else (self.state or ())
        found += len(state)

    def every(self: Any, state: Any, **options: Any) -> None:
        nonlocal written
        save(self, state, now=True)
        written += 1

    def noted(self: Any, records: Any) -> None:
        nonlocal written
        records = list(records)
        append(self, records)
        written += len(records)

    with (
        mock.patch.object(Checkpoint, "__init__", count),
        mock.patch.object(Journal, "__init__", count),
        mock.patch.object(Checkpoint, "save", every),
        mock.patch.object(Journal, "append", noted),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield lambda: Noted(found, written)


def same(one: Any, other: Any) -> bool:
    """Whether two answers are equal, numbers up to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return same(one.tolist(), np.asarray(other).tolist())
    if isinstance(one, float) and isinstance(other, (int, float)):
        return bool(np.isclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True))
    return bool(one == other)


def without_times(value: Any) -> Any:
    """A document without the fields that differ from run to run."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not _TIMES.search(str(k))}
    return [without_times(part) for part in value] if isinstance(value, (list, tuple)) else value


def _selection(fitted: Any) -> dict[str, Any]:
    steps = [step for step in fitted.selection_.path if step.action != "visit"]
    return {
        "order": fitted.order_.tolist(),
        "support": fitted.support_.tolist(),
        "path": [[s.action, list(s.features), s.n_features, s.value] for s in steps],
    }


def _search(name: str, options: dict[str, Any], path: Path, resume: bool) -> Any:
    import tamiz.search

    X, y = table()
    kind = getattr(tamiz.search, name)
    judge = {} if name == "BranchAndBound" else {"cv": 3}
    made = kind(checkpoint=path, resume=resume, n_jobs=2, **judge, **options)
    found = made.fit(X, y)
    return {**_selection(found), "best": found.best_score_}


def _selector(name: str, options: dict[str, Any], path: Path, resume: bool) -> Any:
    import tamiz.embedded

    X, y = table()
    found = getattr(tamiz.embedded, name)(checkpoint=path, resume=resume, **options).fit(X, y)
    answer = _selection(found)
    if hasattr(found, "cv_errors_"):
        answer["errors"] = np.asarray(found.cv_errors_).tolist()
    return answer


def _discovery(name: str, path: Path, resume: bool) -> Any:
    import tamiz.discovery

    X, y = table()
    options: dict[str, Any] = {
        "StabilitySelection": {"n_subsamples": 60, "pfer": 1.0},
        "Knockoffs": {"n_draws": 12, "n_copies": 2, "statistic": "auc"},
        "Shadows": {"max_rounds": 30, "n_trees": 8},
    }[name]
    options |= {"random_state": 4, "n_jobs": 2, "checkpoint": path, "resume": resume}
    found = getattr(tamiz.discovery, name)(**options).fit(X, y)
    return [found.support_.tolist(), np.asarray(found.scores_).tolist()]


def _tune(trees: bool, path: Path, resume: bool) -> Any:
    from tamiz.evaluation import tune

    X, y = table()
    options: dict[str, Any] = {"cv": 3, "n_jobs": 2, "checkpoint": path, "resume": resume}
    if trees:
        from tamiz.tree import CARTClassifier

        found = tune(X, y, CARTClassifier(), {"max_depth": [1, 2, 3, 4]}, **options)
    else:
        found = tune(X, y, grid={"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}, **options)
    return [found.best_params, [[cell.params, cell.errors.tolist()] for cell in found.cells]]


def _permutations(path: Path, resume: bool) -> Any:
    from tamiz import SVC
    from tamiz.evaluation import permutation_test

    X, y = table()
    options: dict[str, Any] = {"cv": 3, "n_permutations": 16, "random_state": 0, "n_jobs": 2}
    found = permutation_test(SVC(), X, y, checkpoint=path, resume=resume, **options)
    return [found.score, found.pvalue, found.permuted.tolist()]


def _compare(path: Path, resume: bool) -> Any:
    from tamiz.evaluation import compare

    X, y = table()
    options: dict[str, Any] = {"sizes": [1, 4], "cv": 3, "random_state": 0, "n_jobs": 2}
    options |= {"repeats": 1, "prefer": "threads"}
    found = compare(X, y, ["fisher", "rfe"], checkpoint=path, resume=resume, **options)
    assert found.status == "complete"
    names = ("errors", "apparent_errors", "nested_errors", "nested_sizes", "own_errors")
    return [np.asarray(getattr(found, name)).tolist() for name in names]


def _reproduce(path: Path, resume: bool) -> Any:
    from tamiz.evaluation import reproduce

    found = reproduce(RECIPE, checkpoint=path, resume=resume, verbose=0)
    return [[row.mean, row.published] for row in found.rows]


def _command(name: str, options: list[str], path: Path, resume: bool) -> Any:
    """The program itself; the same command begins and goes on."""
    from tamiz.cli.app import run

    data = path.parent / "table.csv"
    if not data.exists():
        write_table(data)
    arguments = [name, str(data), "-m", "fisher,welch", "--judge", "linear", "--cv", "3", "-j", "2"]
    arguments += ["-q", "--json", "--sizes", "1,4", "--checkpoint", str(path), *options]
    out = path.with_name(f"{path.name}.{os.getpid()}.json")  # of this process alone
    kept = os.dup(1)
    with out.open("wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        code = run(arguments)
        sys.stdout.flush()
        shown = out.read_text(encoding="utf-8")
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        out.unlink()
    assert code == 0, f"exit code {code}"
    return without_times(json.loads(shown))
