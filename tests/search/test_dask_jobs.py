"""Searches, and eliminations, on a Dask cluster of two processes: the answers of one process."""

import threading

import numpy as np
import pytest
from distributed import Client
from joblib import parallel_config
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from tamiz.discovery import Knockoffs, Shadows, StabilitySelection, permutation_scores
from tamiz.embedded import SVMRFE, HoldOutSVM
from tamiz.filters import WelchT
from tamiz.runtime.dask import DaskRunner
from tamiz.runtime.workers import LocalRunner, SerialRunner, Shared, find_runner
from tamiz.search import ExhaustiveSearch, ForwardSelection
from tamiz.search.evaluator import Evaluator
from tests.calls import failing, watched
from tests.clusters import is_idle, kill, on_dask, pids


@pytest.fixture(scope="module")
def table():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :8] / X[:200, :8].std(axis=0), y[:200]


def values(search):
    return [(step.action, step.features, step.value) for step in search.selection_.path]


# ------------------------------------------------------------------------------- the same answer


@pytest.mark.parametrize(
    "search",
    [
        ForwardSelection(GaussianNB(), n_features_to_select=3),  # joblib would use processes
        ForwardSelection(n_features_to_select=2, cv=3),  # a judge that is given neighbours
        ExhaustiveSearch(criterion="cfs", n_features_to_select=2),  # a judge without an estimator
    ],
    ids=["any estimator", "neighbours", "merit"],
)
def test_searches_take_the_same_path(client, table, search):
    here = values(search.fit(*table))
    with on_dask():
        there = values(search.set_params(n_jobs=-1).fit(*table))
    search.set_params(n_jobs=None)
    assert there == here and len(here) > 10


@pytest.mark.parametrize(
    "selector",
    [
        SVMRFE(n_features_to_select="best", cv=3),
        HoldOutSVM(kernel="rbf", splits_per_step=4, random_state=0),
        HoldOutSVM(estimator=GaussianNB(), splits_per_step=2, random_state=0),
    ],
    ids=["rfe", "kernel", "refit"],
)
def test_eliminations_take_the_same_path(client, table, selector):
    X, y = table[0][:80], table[1][:80]
    here = values(selector.fit(X, y))
    errors = getattr(selector, "errors_", None)
    with on_dask():
        there = values(selector.set_params(n_jobs=-1).fit(X, y))
    assert there == here and len(here) > 5
    np.testing.assert_array_equal(getattr(selector, "errors_", None), errors)


@pytest.mark.parametrize(
    ("finder", "said"),
    [
        (StabilitySelection(WelchT(), n_subsamples=20, random_state=0), "entry_sizes_"),
        (StabilitySelection(SelectKBest(), n_subsamples=10, random_state=0), "entry_sizes_"),
        (Knockoffs("auc", n_draws=6, fdr=0.5, random_state=0), "draws_"),
        (Shadows(max_rounds=15, n_trees=5, random_state=0), "history_"),
    ],
    ids=["halves", "of another package", "knockoffs", "shadows"],
)
def test_discoveries_are_the_same(client, table, finder, said):
    here = getattr(finder.fit(*table), said)
    with on_dask():
        there = getattr(finder.set_params(n_jobs=-1).fit(*table), said)
    finder.set_params(n_jobs=None)
    assert np.nanmax(np.abs(here)) > 0
    np.testing.assert_array_equal(there, here)


def test_shuffled_scores_are_the_same(client, table):
    here = permutation_scores(WelchT(), *table, n_permutations=60, random_state=0)
    with on_dask():
        there = permutation_scores(WelchT(), *table, n_permutations=60, random_state=0, n_jobs=-1)
    np.testing.assert_array_equal(there.maxt, here.maxt)


# ---------------------------------------------------------------------------------- what is sent


def test_table_travels_once_and_jobs_are_small(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))  # 1 MB
    y = (X[:, 3] + rng.normal(size=2000) > 0).astype(int)
    groups = [list(range(k, 60, 6)) for k in range(6)]
    search = ForwardSelection(GaussianNB(), n_features_to_select=20, feature_groups=groups)
    with (
        on_dask(),
        watched(DaskRunner, "__init__") as made,
        watched(type(client), "scatter") as sent,
    ):
        search.fit(X, y)
    assert len(sent) == 1 and sent[0].options["broadcast"]
    assert len(made) == 1 and 0 < made[0].args[0].largest_batch < 10_000


def twice(shared, number):
    return shared[number] * 2


def test_what_is_shared_may_be_a_list_or_a_dictionary(client):
    with on_dask():
        runner = find_runner(-1)
    assert list(runner.results(twice, Shared([1, 2, 3]), [(2,), (0,)])) == [6, 2]
    assert list(runner.results(twice, Shared({"a": 4}), (("a",) for _ in range(3)))) == [8, 8, 8]
    assert list(runner.results(twice, Shared([1]), [])) == []


def test_client_that_joblib_is_given(client):
    with Client(client.scheduler.address, set_as_default=False) as other:
        with parallel_config(backend="dask", client=other):
            runner = find_runner(-1)
        assert runner.client is other
        assert list(runner.results(twice, Shared([1, 2]), [(0,), (1,)])) == [2, 4]


@pytest.mark.parametrize("error", [KeyError("tcp://127.0.0.1:1"), OSError("closed"), ValueError()])
def test_a_worker_that_is_lost_while_data_are_copied(client, error):
    with on_dask(), failing(type(client), "scatter", error) as asked:
        runner = find_runner(-1)
        assert list(runner.results(twice, Shared([1, 2]), [(0,), (1,)])) == [2, 4]
    assert asked


def test_who_works_is_said_by_joblib_alone(client):
    assert isinstance(find_runner(None), SerialRunner)  # although a client is there
    assert isinstance(find_runner(2), LocalRunner)
    with on_dask():
        assert [find_runner(n).n_workers for n in (None, -1, 2, 7)] == [2, 2, 2, 2]
        assert isinstance(find_runner(1), SerialRunner)
        assert find_runner(-1).remote and not find_runner(-1).serial
    with parallel_config(backend="threading", n_jobs=2):
        assert isinstance(find_runner(None), LocalRunner)
    assert client.submit(nested).result() == ["SerialRunner", "SerialRunner"]


def nested():
    with on_dask():
        return [type(find_runner(n)).__name__ for n in (None, -1)]


# ------------------------------------------------------------------------------- what goes wrong


def test_interruption_cancels_what_is_left(client, table, monkeypatch):
    learn = Evaluator._learn

    def interrupted(self, *args):
        learn(self, *args)
        if self.n_evaluations == 10:
            raise KeyboardInterrupt

    monkeypatch.setattr(Evaluator, "_learn", interrupted)
    told = pytest.warns(Warning, match="interrupted after 10 subsets")
    with on_dask(), watched(type(client), "cancel") as cancelled, told:
        search = ForwardSelection(GaussianNB(), n_jobs=-1).fit(*table)
    assert len(search.selection_.path) >= 10
    assert any(list(call.args[1]) for call in cancelled) and is_idle(client)


class Refuses(LogisticRegression):
    def fit(self, X, y):
        raise ValueError("no such fit")


class Unsendable(Exception):
    def __init__(self):
        super().__init__("holds a lock")
        self.lock = threading.Lock()


class Unmakeable(Exception):
    """Can be sent, but not be made again from what was sent."""

    def __init__(self, code, reason):
        super().__init__(f"{reason} ({code})")


def fails(shared, number):
    if number == 3:
        raise Unsendable if shared is None else Unmakeable(7, "out of order")
    return number


def test_failures_arrive_as_they_were_raised(client, table):
    with on_dask():
        with pytest.raises(ValueError, match="no such fit") as caught:
            ForwardSelection(Refuses(), n_jobs=-1).fit(*table)
        assert any("positions" in note for note in caught.value.__notes__)
        assert any("On a worker" in note for note in caught.value.__notes__)
        runner, found = find_runner(-1), []
        with pytest.raises(RuntimeError, match="Unsendable: holds a lock"):
            found.extend(runner.results(fails, Shared(None), [(k,) for k in range(6)]))
        assert found == [0, 1, 2]
        with pytest.raises(RuntimeError, match="Unmakeable: out of order"):
            list(runner.results(fails, Shared(1), [(k,) for k in range(6)]))
    assert is_idle(client)


# --------------------------------------------- at the end: nobody waits for workers to be replaced


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(client, table, monkeypatch):
    search = ForwardSelection(GaussianNB(), n_features_to_select=4)
    here = values(search.fit(*table))
    learn, before = Evaluator._learn, pids(client)

    def struck(self, *args):
        learn(self, *args)
        if self.n_evaluations == 12:
            kill(before[0])

    monkeypatch.setattr(Evaluator, "_learn", struck)
    with on_dask():
        there = values(search.set_params(n_jobs=-1).fit(*table))
    assert there == here and len(here) > 20
    assert before[0] not in pids(client)


def slowly(shared, number):
    threading.Event().wait(0.02)
    return shared["offset"] + number


def test_data_lost_with_every_worker_is_sent_again(client):
    with on_dask():
        runner = find_runner(-1)
    found = []
    for number in runner.results(slowly, Shared({"offset": 100}), [(k,) for k in range(60)]):
        found.append(number)
        if len(found) == 5:
            kill(*pids(client))
    assert found == list(range(100, 160))
