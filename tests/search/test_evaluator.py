"""The evaluator: every subset judged once, written down, shared, and never two answers."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.runtime.checkpoint import Journal
from tamiz.search.base import seeded
from tamiz.search.evaluator import Evaluator, TimeUp
from tamiz.search.fast import judge_for
from tamiz.search.judges import CrossValidation, Judge
from tamiz.search.splits import make_splits
from tamiz.svm import SVC
from tamiz.validation import check_units


class Counting(Judge):
    """A judge that remembers what it was asked; fails on some subsets."""

    metrics = ("first", "second")
    n_splits = 3

    def __init__(self, bad=(), pause=0.0, interrupt=None):
        self.asked = []
        self.near = []
        self.bad = [tuple(features) for features in bad]
        self.pause, self.interrupt = pause, interrupt

    def score(self, features, splits=slice(None)):
        key = tuple(features.tolist())
        self.asked.append(key)
        time.sleep(self.pause)
        if self.interrupt == key:
            raise KeyboardInterrupt
        if key in self.bad:
            raise ValueError(f"cannot judge {key}")
        first = np.array([sum(key), sum(key) + 1.0, sum(key) + 2.0]) / 10
        return np.array([first, -first])[:, splits]

    def approach(self, features, n_subsets=1):
        self.near.append(None if features is None else features.tolist())


def subset(*chosen, n=4):
    mask = np.zeros(n, dtype=bool)
    mask[list(chosen)] = True
    return mask


def evaluator(judge, n=4, groups=None, fixed=None, **options):
    return Evaluator(judge, check_units(groups, fixed, n), **options)


def test_each_subset_is_judged_once():
    judge = Counting()
    own = evaluator(judge)
    first = own.many([subset(0), subset(1), subset(0)])
    again = own.many([subset(1), subset(0, 2)])
    assert judge.asked == [(0,), (1,), (0, 2)]
    assert own.n_evaluations == 3
    assert first[0] is first[2] and again[0] is first[1]
    assert first[1].value == pytest.approx(0.2)
    assert first[1].standard_error == pytest.approx(0.1 / np.sqrt(3))
    assert own.is_known(subset(0, 2)) and not own.is_known(subset(2))
    assert [step.features for step in own.path] == [(0,), (1,), (0, 2)]
    assert own.path[0].details["scores"] == pytest.approx({"first": 0.1, "second": -0.1})


def test_units_and_fixed_features_become_features():
    judge = Counting()
    own = evaluator(judge, 6, groups=[[1, 4]], fixed=[3])
    own.one(np.array([True, False, False, True]))
    own.one(np.array([False, True, False, False]))
    own.one(np.zeros(4, dtype=bool))
    assert judge.asked == [(0, 3, 5), (1, 3, 4), (3,)]


def test_the_empty_subset_is_the_worst_and_asks_nobody():
    judge = Counting()
    own = evaluator(judge)
    assert own.one(subset()).value == -np.inf
    assert judge.asked == [] and own.n_evaluations == 1


def test_the_neighbour_is_given_before_and_forgotten_after():
    judge = Counting()
    own = evaluator(judge)
    own.many([subset(0, 1)], near=subset(0))
    own.many([subset(3)])
    assert judge.near == [[0], None]


def test_failures():
    with pytest.raises(ValueError, match=r"cannot judge \(1,\)"):
        evaluator(Counting(bad=[[1]])).many([subset(0), subset(1)])
    for jobs in (1, 2):
        own = evaluator(Counting(bad=[[1], [2]]), failures="worst", n_jobs=jobs)
        found = own.many([subset(0), subset(1), subset(2)])
        assert [np.isfinite(e.value) for e in found] == [True, False, False]
        assert found[1].value == -np.inf
        with pytest.warns(RuntimeWarning, match="2 of 3 subsets could not be judged.*cannot judge"):
            own.warn_failures()


def test_no_failure_no_warning(recwarn):
    own = evaluator(Counting(), failures="worst")
    own.one(subset(0))
    own.warn_failures()
    assert not recwarn.list


def test_time_budget_ends_after_an_evaluation():
    judge = Counting(pause=0.03)
    own = evaluator(judge, time_budget=0.05)
    with pytest.raises(TimeUp):
        own.many([subset(k) for k in range(4)])
    assert 1 <= own.n_evaluations < 4
    assert len(judge.asked) == own.n_evaluations
    # what is known costs no time and is still reported
    assert own.recall(subset(0)).value == pytest.approx(0.1)
    with pytest.raises(TimeUp):  # though a search that goes on asking for it must end
        own.one(subset(0))


def test_interruption_keeps_what_was_reached(tmp_path):
    path = tmp_path / "run"
    with Journal(path, {"run": "a"}) as journal:
        own = evaluator(Counting(interrupt=(2,)), journal=journal)
        with pytest.raises(KeyboardInterrupt):
            own.many([subset(k) for k in range(4)])
        assert own.n_evaluations == 2
    judge = Counting()
    with Journal(path, {"run": "a"}, resume=True) as journal:
        own = evaluator(judge, journal=journal)
        resumed = own.many([subset(k) for k in range(4)])
    assert judge.asked == [(2,), (3,)]
    fresh = evaluator(Counting()).many([subset(k) for k in range(4)])
    for ours, theirs in zip(resumed, fresh, strict=True):
        np.testing.assert_array_equal(ours.scores, theirs.scores)


def test_the_journal_keeps_every_bit_and_every_failure(tmp_path):
    path = tmp_path / "run"
    X, y = table()
    splits = make_splits(3, X, y, True, 0)
    scoring = ["accuracy", "roc_auc"]

    def judge():
        return CrossValidation(GaussianNB(), X, y, splits, scoring)

    with Journal(path, {"run": "a"}) as journal:
        before = evaluator(judge(), journal=journal).many([subset(0), subset(0, 1), subset()])
    with Journal(path, {"run": "a"}, resume=True) as journal:
        silent = judge()
        silent.score = None  # not to be asked
        after = evaluator(silent, journal=journal).many([subset(0), subset(0, 1), subset()])
    for ours, theirs in zip(after, before, strict=True):
        np.testing.assert_array_equal(ours.scores, theirs.scores)


def test_a_failure_of_a_journal_stays_a_failure(tmp_path):
    path = tmp_path / "run"
    with Journal(path, {"run": "a"}) as journal:
        evaluator(Counting(bad=[[1]]), journal=journal, failures="worst").one(subset(1))
    judge = Counting()
    with Journal(path, {"run": "a"}, resume=True) as journal:
        own = evaluator(judge, journal=journal, failures="worst")
        assert own.one(subset(1)).value == -np.inf
    assert not judge.asked


def table(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),  # processes
        SVC(tol=0.5),  # threads, plain
        make_pipeline(StandardScaler(), SVC()),  # threads, fast
        SGDClassifier(max_iter=5, tol=None),  # random
    ],
    ids=["processes", "threads", "fast", "random"],
)
@pytest.mark.parametrize("count", [1, 6])
def test_workers_change_nothing(estimator, count):
    """Few subsets are shared by their splits, many as a whole."""
    X, y = table()
    weight = np.linspace(0.5, 2.0, len(y))
    splits = make_splits(5, X, y, True, 0)
    subsets = [subset(0), subset(1), subset(0, 1), subset(2), subset(0, 3), subset(1, 2, 3)]
    tables = []
    for jobs in (1, 2):
        estimator = seeded(estimator, 3)
        judge = judge_for(estimator, X, y, splits, ["accuracy", "f1"], weight)
        own = evaluator(judge, n_jobs=jobs)
        found = own.many(subsets[:count], near=subset())
        tables.append(np.array([evaluation.scores for evaluation in found]))
    assert tables[0].shape == (count, 2, 5)
    np.testing.assert_array_equal(*tables)


class Picky(ClassifierMixin, BaseEstimator):
    """Refuses one feature alone."""

    def fit(self, X, y):
        if X.shape[1] == 1:
            raise ValueError("one feature is not enough")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_an_estimator_that_fails_on_some_subsets():
    X, y = table()
    judge = CrossValidation(Picky(), X, y, make_splits(3, X, y, True, 0), None)
    own = evaluator(judge, failures="worst")
    one, two = own.many([subset(0), subset(0, 1)])
    assert one.value == -np.inf and np.isfinite(two.value)
    with pytest.raises(ValueError, match="one feature is not enough"):
        evaluator(judge).one(subset(0))


class Greedy(Counting):
    """A judge that needs a fraction of the memory, and remembers which threads asked it."""

    prefer = "processes"  # in which nothing of it could be remembered

    def __init__(self, share):
        super().__init__(pause=0.01)
        self.share, self.threads = share, set()

    def memory_fraction(self, n_features):
        return self.share

    def score(self, features, splits=slice(None)):
        self.threads.add(threading.get_ident())
        return super().score(features, splits)


@pytest.mark.parametrize(("share", "most"), [(0.3, 3), (0.4, 2), (0.6, 1), (3.0, 1)])
def test_large_subsets_are_judged_by_fewer_threads(share, most):
    judge = Greedy(share)
    everything = [subset(*np.flatnonzero([k & 1, k & 2, k & 4, k & 8])) for k in range(1, 16)]
    found = evaluator(judge, n_jobs=4).many(everything)
    assert 1 <= len(judge.threads) <= most
    assert len(judge.asked) == 15  # in this process
    assert (judge.threads == {threading.get_ident()}) == (most == 1)
    assert [one.value for one in found] == [
        one.value for one in evaluator(Counting()).many(everything)
    ]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_memory_fraction_grows_with_the_subset(kind):
    X = np.zeros((2000, 5000))  # 80 MB, of which no page is touched
    if kind == "sparse":
        entries = np.zeros(6_000_000), np.zeros(6_000_000, dtype=np.int32)
        X = csr_matrix((*entries, np.arange(2001, dtype=np.int32) * 3000), shape=X.shape)
    y = np.arange(2000) % 2
    judge = CrossValidation(GaussianNB(), X, y, make_splits(3, X, y, True, 0), None)
    # three copies of two thirds of the rows, beside one table's worth
    assert judge.memory_fraction(2500) == pytest.approx(1.0, rel=1e-3)
    assert judge.memory_fraction(5) == pytest.approx(0.002, rel=1e-3)
    small = CrossValidation(
        GaussianNB(), X[:60], y[:60], make_splits(3, X[:60], y[:60], True, 0), None
    )
    assert small.memory_fraction(5000) < 0.05
