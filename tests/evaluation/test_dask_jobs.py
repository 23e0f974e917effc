"""Comparisons, tuning and resampling on a Dask cluster of two processes."""

import os

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from tamiz.discovery import StabilitySelection
from tamiz.evaluation import compare, permutation_test, reproduce, stability_of, tune
from tamiz.evaluation.comparison.run import Runner
from tamiz.filters import FisherScore, SignalToNoise
from tamiz.reproduce.base import Recipe
from tests.clusters import is_idle, kill, on_dask, pids
from tests.evaluation.test_compare import data
from tests.evaluation.test_compare_running import SHORT, same
from tests.reproduce.test_reproduce import Coin


def test_comparison_is_the_same_and_its_journal_stays_with_the_caller(client, tmp_path):
    X, y = data()
    path = tmp_path / "journal.jsonl"
    here = compare(X, y, ["relieff", "random"], **SHORT)
    with on_dask():
        there = compare(X, y, ["relieff", "random"], n_jobs=-1, checkpoint=path, **SHORT)
    same(here, there)
    np.testing.assert_array_equal(here.whole_orders["relieff"], there.whole_orders["relieff"])
    assert not np.isnan(there.apparent_errors).all()  # rankings made before the folds arrived
    resumed = compare(X, y, ["relieff", "random"], checkpoint=path, resume=True, **SHORT)
    same(here, resumed)


def test_interrupted_comparison_keeps_what_was_done(client, monkeypatch):
    X, y = data()
    show_progress = Runner._show_progress

    def interrupted(self, unit):
        show_progress(self, unit)
        if len(self.records) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "_show_progress", interrupted)
    with on_dask():
        found = compare(X, y, ["relieff", "random"], n_jobs=-1, **SHORT)
    assert found.status == "interrupted" and np.isfinite(found.errors).any()
    assert is_idle(client)


@pytest.mark.parametrize("fast", [True, False])
def test_tuning_is_the_same(client, fast):
    X, y = data()
    options = {"cv": 3, "grid": {"C": [0.1, 10.0], "gamma": [0.1]}, "fast": fast}
    here = tune(X, y, **options)
    with on_dask():
        there = tune(X, y, n_jobs=-1, **options)
    assert here.best_params == there.best_params
    for mine, theirs in zip(here.cells, there.cells, strict=True):
        np.testing.assert_array_equal(mine.errors, theirs.errors)


def test_resampling_is_the_same(client):
    X, y = data()
    options = {"n_resamples": 6, "random_state": 0}
    here = stability_of(SignalToNoise(2), X, y, **options)
    test = permutation_test(GaussianNB(), X, y, cv=3, n_permutations=8, random_state=0)
    halves = StabilitySelection(SignalToNoise(), n_subsamples=4, random_state=0)
    sizes = halves.fit(X, y).entry_sizes_
    with on_dask():
        there = stability_of(SignalToNoise(2), X, y, n_jobs=-1, **options)
        np.testing.assert_array_equal(halves.set_params(n_jobs=-1).fit(X, y).entry_sizes_, sizes)
        again = permutation_test(
            GaussianNB(), X, y, cv=3, n_permutations=8, random_state=0, n_jobs=-1
        )
    assert here.nogueira == there.nogueira
    assert test.pvalue == again.pvalue and test.score == again.score


def test_reproduction_is_the_same(client):
    recipe = Recipe("C1", "Coins", "nowhere", "toss", "none", (Coin(),))
    here = reproduce(recipe, repeats=6)
    with on_dask():
        there = reproduce(recipe, repeats=6, n_jobs=-1)
    assert here.rows == there.rows and there.repeats == {"coin": 6}


class Warns(DecisionTreeClassifier):
    def fit(self, X, y):
        import warnings

        warnings.warn("told on a worker", UserWarning, stacklevel=2)
        return super().fit(X, y)


def test_warnings_of_workers_are_reported_here(client):
    X, y = data()
    with on_dask(), pytest.warns(UserWarning, match="told on a worker"):
        compare(X, y, ["random"], **{**SHORT, "judges": {"tree": Warns()}})


# ------------------------------------------- at the end: nobody waits for a worker to be replaced


class Deadly(FisherScore):
    """Kills the worker that it is fitted on, in the first fold that comes, and never again."""

    def __init__(self, mark=None, caller=None, n_samples=0):
        super().__init__()
        self.mark, self.caller, self.n_samples = mark, caller, n_samples

    def fit(self, X, y):
        if len(X) < self.n_samples and os.getpid() != self.caller:
            try:
                with open(self.mark, "x", encoding="utf-8") as file:
                    file.write(str(os.getpid()))
            except FileExistsError:
                return super().fit(X, y)
            kill(os.getpid())
        return super().fit(X, y)


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(client, tmp_path):
    X, y = data()
    mark = tmp_path / "struck"
    methods = {"deadly": Deadly(str(mark), os.getpid(), len(X)), "random": "random"}
    options = {**SHORT, "nested": False}
    here = compare(X, y, methods, **options)
    before = pids(client)
    with on_dask():
        there = compare(X, y, methods, n_jobs=-1, **options)
    assert (
        int(mark.read_text(encoding="utf-8")) in before
    )  # in a fold: the rankings on all data come first
    assert there.status == "complete"
    same(here, there)
