"""A worker of a Dask cluster is lost in the middle of every distributed job: the same answer."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.clusters import both_there, kill, on_dask, pids, two_workers
from tools.attack.jobs import RECIPE, same, table
from tools.attack.runner import Campaign, load_per_core


class LostWorkers(Campaign):
    """Kill one worker process, or both, some time after the work began.

    The cluster is two processes on this machine, which listen to nobody else; Dask replaces them.
    The answer must be that of one process, or a sentence of the package must say what happened.

    Parameters
    ----------
    folder : path
        An empty folder for files.
    client : Client, optional
        A cluster of two workers that is there already, as in the tests, which try the first ones
        (``tests/scale/test_dask.py``).
    """

    count = 114
    short = 0
    seconds = 300.0
    memory = 16 << 30
    apart = True

    def __init__(self, folder: Path, client: Any = None) -> None:
        super().__init__(folder)
        self._stack = contextlib.ExitStack()  # closed with the process
        self._own = client is None
        self.client = client or self._stack.enter_context(two_workers())
        self.jobs = _jobs(folder)
        self.known: dict[str, tuple[Any, float]] = {}

    def attempt(self, seed: int) -> str:
        name = list(self.jobs)[seed % len(self.jobs)]
        job, chance = self.jobs[name], Random(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._struck(name, job, chance)

    def _complete(self) -> Any:
        """The client of two workers; Dask gives up one that is killed while it is replaced."""
        try:
            with both_there(self.client, 60.0 * max(1.0, load_per_core()) ** 0.5):
                return self.client
        except TimeoutError:
            if not self._own:
                raise
        with contextlib.suppress(Exception):  # of processes that are gone
            self._stack.close()
        self._stack = contextlib.ExitStack()
        self.client = self._stack.enter_context(two_workers())
        return self.client

    def _struck(self, name: str, job: Distributed, chance: Random) -> str:
        if name not in self.known:
            here = job(None)
            with both_there(self._complete()) as client, on_dask():
                began = time.monotonic()
                there = job(client)
            assert same(there, here), f"{name}: another answer on the cluster"
            self.known[name] = here, time.monotonic() - began
        here, seconds = self.known[name]
        for retry in range(4):
            with both_there(self._complete()) as client, on_dask():
                victims = pids(client)[: 2 if chance.random() < 0.25 else 1]
                delay = chance.random() * 0.8 * seconds * 0.5**retry
                struck = threading.Timer(delay, kill, victims)
                struck.start()
                try:
                    there = job(client)
                except RuntimeError as error:
                    if "Dask cluster" not in str(error):
                        raise
                    return "ended with a sentence"
                finally:
                    late = struck.is_alive()
                    struck.cancel()
                    struck.join()
            assert same(there, here), f"{name}: another answer"
            if not late:
                return f"same answer without {'both' if victims[1:] else 'one'}"
        return "ended before the worker was lost"


Distributed = Callable[[Any], Any]  # with the client; without a cluster if that is None


def _jobs(folder: Path) -> dict[str, Distributed]:
    """Name -> every job that a cluster can do."""
    import pandas as pd

    X, y = table(240, 10)
    frame = pd.DataFrame(X, columns=list("abcdefghij")).assign(y=np.array(["no", "yes"])[y])
    path = folder / "rows.parquet"
    frame.to_parquet(path, row_group_size=40)
    return {
        **{
            name: functools.partial(_search, name)
            for name in (
                "ForwardSelection",
                "BackwardElimination",
                "ExhaustiveSearch",
                "BranchAndBound",
                "BestFirst",
                "SimulatedAnnealing",
                "GeneticSearch",
            )
        },
        "SVMRFE": functools.partial(
            _embedded, "SVMRFE", {"n_features_to_select": "best", "cv": 5, "kernel": "rbf"}
        ),
        "HoldOutSVM": functools.partial(
            _embedded, "HoldOutSVM", {"kernel": "rbf", "splits_per_step": 4, "random_state": 0}
        ),
        "compare": _compare,
        "tune": _tune,
        "stability_of": _stability,
        "permutation_test": _permutations,
        "permutation_scores": _permuted_scores,
        "StabilitySelection": _stable,
        "reproduce": _reproduce,
        "sweep of a frame": functools.partial(_sweep, frame),
        "sweep of a file": functools.partial(_sweep, path),
        "fit_stream": functools.partial(_stream, path),
    }


def _jobs_of(client: Any) -> int | None:
    return None if client is None else -1


def _search(name: str, client: Any) -> Any:
    from sklearn.naive_bayes import GaussianNB

    import tamiz.search

    options: dict[str, Any] = {"random_state": 0, "cv": 3}
    if name == "ExhaustiveSearch":
        options = {"max_features": 2, "cv": 3}
    if name == "BranchAndBound":  # a word that is not kept: the answer is the same anywhere
        options = {"criterion": None, "monotone": True, "cv": 3}
    if name == "GeneticSearch":
        options |= {"N": 8, "G": 5}
    found = getattr(tamiz.search, name)(GaussianNB(), n_jobs=_jobs_of(client), **options)
    found.fit(*table(240, 10))
    return [found.order_.tolist(), found.support_.tolist(), found.best_score_]


def _embedded(name: str, options: dict[str, Any], client: Any) -> Any:
    import tamiz.embedded

    found = getattr(tamiz.embedded, name)(n_jobs=_jobs_of(client), **options)
    found.fit(*table(240, 10))
    return [found.order_.tolist(), found.support_.tolist()]


def _compare(client: Any) -> Any:
    from tamiz.evaluation import compare

    options: dict[str, Any] = {"sizes": [1, 4], "cv": 4, "random_state": 0, "repeats": 2}
    found = compare(*table(), ["fisher", "rfe"], n_jobs=_jobs_of(client), **options)
    assert found.status == "complete"
    return [found.errors.tolist(), np.asarray(found.nested_errors).tolist()]


def _tune(client: Any) -> Any:
    from tamiz.evaluation import tune

    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1, 1.0]}
    found = tune(*table(), grid=grid, cv=4, fast=False, n_jobs=_jobs_of(client))
    return [found.best_params, [cell.errors.tolist() for cell in found.cells]]


def _stability(client: Any) -> Any:
    from tamiz.embedded import SVMRFE
    from tamiz.evaluation import stability_of

    options: dict[str, Any] = {"n_resamples": 12, "random_state": 0, "n_jobs": _jobs_of(client)}
    return stability_of(SVMRFE(3), *table(), **options).nogueira


def _permutations(client: Any) -> Any:
    from tamiz import SVC
    from tamiz.evaluation import permutation_test

    options: dict[str, Any] = {"cv": 3, "n_permutations": 16, "random_state": 0}
    found = permutation_test(SVC(), *table(), n_jobs=_jobs_of(client), **options)
    return [found.score, found.pvalue]


def _permuted_scores(client: Any) -> Any:
    from tamiz.discovery import permutation_scores
    from tamiz.filters import ReliefF

    options: dict[str, Any] = {"n_permutations": 60, "random_state": 0}
    found = permutation_scores(ReliefF(), *table(240, 10), n_jobs=_jobs_of(client), **options)
    return [found.scores.tolist(), found.pvalues.tolist()]


def _stable(client: Any) -> Any:
    from tamiz.discovery import StabilitySelection
    from tamiz.embedded import SVMRFE

    options: dict[str, Any] = {"pfer": 1.0, "n_subsamples": 40, "random_state": 0}
    found = StabilitySelection(SVMRFE(), n_jobs=_jobs_of(client), **options).fit(*table(240, 10))
    return [found.order_.tolist(), found.support_.tolist(), found.frequencies_.tolist()]


def _reproduce(client: Any) -> Any:
    from tamiz.evaluation import reproduce

    found = reproduce(RECIPE, repeats=60, verbose=0, n_jobs=_jobs_of(client))
    return [[row.mean, row.published] for row in found.rows]


def _batches(source: Any, client: Any) -> Any:
    import dask.dataframe as dd

    from tamiz.scale import batches

    if isinstance(source, Path):
        found = batches(source, "y")
        return found if client is None else found.on(client)
    return batches(source if client is None else dd.from_pandas(source, npartitions=8), "y")


def _sweep(source: Any, client: Any) -> Any:
    from tamiz.scale import sweep

    rows = _batches(source, client).survey()
    return sweep(rows, _moments).mean.tolist()


def _moments(batch: Any) -> Any:
    from tamiz.scale import ClassMoments

    time.sleep(0.02)
    return ClassMoments.of(batch.X, batch.y, 2)


def _stream(source: Path, client: Any) -> Any:
    from tamiz.filters import MRMR

    found = MRMR(4, bins="mean_std").fit_stream(_batches(source, client))
    return [found.order_.tolist(), found.support_.tolist()]
