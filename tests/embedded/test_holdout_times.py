"""HoldOutSVM with times: it learns from the past, and validates on what follows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

import tamiz.embedded.holdout.judges as judges
from tamiz import HoldOutSVM
from tamiz.embedded.holdout.elimination import new_seed, stream
from tamiz.embedded.holdout.judges import TimedSplits
from tamiz.search import TimeFolds
from tests.calls import interrupted
from tests.naive import holdout as naive


def series(n=60, p=6, n_classes=2, seed=0):
    """Samples in mixed order, with about two of each time, and classes that come and go."""
    rng = np.random.default_rng(seed)
    times = rng.integers(0, n // 2, size=n)
    X = rng.normal(size=(n, p))
    y = np.digitize(X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n), [0.4, 1.2])
    return X, np.minimum(y, n_classes - 1), times


def moments(times):
    return np.unique(times, return_inverse=True)[1]


def by_class(y):
    return [np.flatnonzero(y == k) for k in range(max(y) + 1)]


def drawn(splits, n=400):
    """The splits that are drawn, as sets of samples."""
    rng = np.random.default_rng(0)
    made = [splits.draw(rng) for _ in range(n)]
    return {(frozenset(one.train.tolist()), frozenset(one.validation.tolist())) for one in made}


@pytest.mark.parametrize("seed", range(12))
def test_splits_equal_naive_loop(seed):
    rng = np.random.default_rng(seed)
    n, gap = int(rng.integers(12, 60)), int(rng.integers(0, 3))
    times, y = rng.integers(0, n // (1 + seed % 4), size=n), rng.integers(0, 2, size=n)
    held_out = np.maximum(1, (rng.uniform(0.1, 0.7) * np.bincount(y)).astype(int))
    expected = naive.splits_in_time(times.tolist(), y.tolist(), held_out.sum(), gap)
    splits = TimedSplits(moments(times), by_class(y), held_out, gap=gap)
    assert drawn(splits) == {(frozenset(a), frozenset(b)) for a, b in expected}
    for one in (splits.draw(rng) for _ in range(20)):
        assert times[one.train].max() < times[one.validation].min()
        assert (np.diff(y[one.train]) >= 0).all() and (np.diff(y[one.validation]) >= 0).all()
        counts = np.bincount(y[one.validation])
        assert one.starts.tolist() == [0, counts[0]]
        assert one.factors.tolist() == (held_out / counts).tolist()


def test_moments_keep_half_to_all_of_the_training_part():
    y = np.arange(100) % 2
    splits = TimedSplits(np.arange(100), by_class(y), np.array([15, 15]))
    assert splits.starts.tolist() == list(range(35, 71))
    assert (splits.ends - splits.starts == 30).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"n_splits": 3}, {"ties": "all", "stop": "not_better"}])
def test_elimination_equals_naive_elimination(options, n_classes):
    X, y, times = series(n_classes=n_classes)
    own = {"splits_per_step" if name == "n_splits" else name: v for name, v in options.items()}
    selector = HoldOutSVM(C=2.0, gamma=0.2, tol=1e-9, random_state=3, **own)
    selector.fit(X, y, times=times)
    held_out = np.clip(np.rint(0.3 * np.bincount(y)).astype(int), 1, None)
    known = naive.splits_in_time(times.tolist(), y.tolist(), held_out.sum())
    steps, last, at_stop = naive.eliminate(
        naive.radial(0.2), X, y.tolist(), held_out=held_out.tolist(), seed=new_seed(3), C=2.0,
        draw=lambda rng: known[rng.integers(len(known))], **options,
    )  # fmt: skip
    path = selector.selection_.path
    assert len(path) == len(steps) + 1
    for event, (present, errors, leave) in zip(path[1:], steps, strict=True):
        assert event.details["error"] == pytest.approx(present, rel=1e-9)
        assert event.details["without"].tolist() == pytest.approx(list(errors.values()), rel=1e-5)
        assert sorted(event.features) == sorted(leave)
    assert selector.errors_[-1] == pytest.approx(last)
    assert np.flatnonzero(selector.support_).tolist() == sorted(at_stop)


class Watched(KNeighborsClassifier):
    """Notes the times, its first column, that it learns from and that it is asked about."""

    seen: list[tuple[float, float]] = []

    def fit(self, X, y):
        self.last_ = X[:, 0].max()
        return super().fit(X, y)

    def predict(self, X):
        Watched.seen.append((self.last_, X[:, 0].min()))
        return super().predict(X)


@pytest.mark.parametrize("gap", [0, 7])
def test_no_step_is_judged_by_the_past(gap):
    X, y, times = series(200)
    X[:, 0] = times
    Watched.seen = []
    selector = HoldOutSVM(
        estimator=Watched(), fixed_features=[0], splits_per_step=4, gap=gap, random_state=0
    )
    selector.fit(X, y, times=times)
    distance = [np.searchsorted(np.unique(times), pair) for pair in Watched.seen]
    assert min(b - a for a, b in distance) == gap + 1
    assert len({first for _, first in Watched.seen}) > 10  # moments are drawn anew
    Watched.seen = []
    selector.set_params(gap=0).fit(X, y)
    assert all(last > first for last, first in Watched.seen)


def test_order_of_the_rows_and_unit_of_the_times_do_not_matter():
    X, y, times = series(120)
    selector = HoldOutSVM(splits_per_step=3, random_state=0).fit(X, y, times=times)
    errors, order = selector.errors_.tolist(), selector.order_.tolist()
    mixed = np.random.default_rng(1).permutation(120)
    for rows, given in [
        (mixed, times[mixed]),
        (slice(None), 3.0 * times - 40.0),
        (slice(None), pd.Series(pd.Timestamp("2024-02-01") + pd.to_timedelta(times, "D"))),
    ]:
        again = selector.fit(X[rows], y[rows], times=given)
        assert again.errors_.tolist() == pytest.approx(errors)
        assert again.order_.tolist() == order


def trending(n=300, seed=0):
    """A target that follows one column and rises, and the time, which fits the past alone."""
    rng = np.random.default_rng(seed)
    time = np.arange(n)
    y = np.sin(time / 9) + 0.1 * rng.standard_normal(n)
    return np.column_stack([y + 0.6 * rng.standard_normal(n), time / 3.0]), y, time


def test_a_regression_learns_from_the_past():
    X, y, time = trending()
    options = {"estimator": KNeighborsRegressor(3), "task": "regression", "splits_per_step": 5}
    selector = HoldOutSVM(1, random_state=0, **options)
    assert selector.fit(X, y, times=time).order_[0] == 0
    assert selector.fit(X, y).order_[0] == 1

    machine = HoldOutSVM(task="regression", gamma=0.1, splits_per_step=3, tol=1e-8, random_state=0)
    error = machine.fit(X, y, times=time).errors_[0]
    splits = TimedSplits(time, [np.arange(300)], np.array([90]))
    rng, losses = stream(new_seed(0), 0), []
    for one in (splits.draw(rng) for _ in range(3)):
        guess = SVR(gamma=0.1, tol=1e-8).fit(X[one.train], y[one.train]).predict(X[one.validation])
        losses.append(np.abs(guess - y[one.validation]).mean())
    assert error == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize("gap", [0, 4])
def test_tune_follows_time(gap):
    """Its folds are those of TimeFolds, without the first ones where a class is still to come."""
    X, y, time = trending(150)
    options = {"tune": {"gamma": [0.01, 0.1]}, "gap": gap, "tol": 1e-6, "random_state": 0}
    folds = list(TimeFolds(10, gap=gap).split(X, groups=time))
    machine = HoldOutSVM(task="regression", **options).fit(X, y, times=time)
    for entry in machine.tuning_:
        made = SVR(gamma=entry["gamma"], tol=1e-6)
        total = sum(np.abs(made.fit(X[a], y[a]).predict(X[b]) - y[b]).sum() for a, b in folds)
        assert entry["error"] == pytest.approx(total, rel=1e-4)
    labels = np.where(time > 30, 2, 0) * (time % 3 == 0) + (time % 5 == 0)
    whole = [(a, b) for a, b in folds if len(set(labels[a])) == len(set(labels))]
    assert 5 < len(whole) < 10
    machine = HoldOutSVM(**options).fit(X, labels, times=time)
    for entry in machine.tuning_:
        made = SVC(gamma=entry["gamma"], tol=1e-6)
        total = sum((made.fit(X[a], labels[a]).predict(X[b]) != labels[b]).sum() for a, b in whole)
        assert entry["error"] == total


def test_prefilter_leaves_its_columns_to_the_splits():
    X, y, times = series(200, 12)
    selector = HoldOutSVM(prefilter="auto", prefilter_level=0.5, splits_per_step=2, random_state=0)
    selector.fit(X, y, times=times)
    passed = np.flatnonzero(selector.pvalues_ <= 0.5)
    assert 1 < len(passed) < 12 and selector.sizes_[0] == len(passed)
    alone = HoldOutSVM(splits_per_step=2, random_state=0).fit(X[:, passed], y, times=times)
    assert selector.errors_.tolist() == alone.errors_.tolist()


@pytest.mark.parametrize("call", [2, 9])
def test_interrupted_and_resumed_equals_uninterrupted(call, tmp_path):
    X, y, times = series()
    options = {"splits_per_step": 2, "random_state": 3}
    whole = HoldOutSVM(**options).fit(X, y, times=times)
    options |= {"checkpoint": tmp_path / "state.npz"}
    with interrupted(judges, "fit_once", at=call), pytest.warns(ConvergenceWarning):
        HoldOutSVM(**options).fit(X, y, times=times)
    again = HoldOutSVM(resume=True, **options)
    for other in ({}, {"times": times[::-1]}, {"groups": times}):
        with pytest.raises(ValueError, match="data are not the same"):
            again.fit(X, y, **other)
    again.fit(X, y, times=times)
    assert again.order_.tolist() == whole.order_.tolist()
    assert again.errors_.tolist() == whole.errors_.tolist()
    two = HoldOutSVM(splits_per_step=2, random_state=3, n_jobs=2).fit(X, y, times=times)
    assert two.errors_.tolist() == whole.errors_.tolist()


# ------------------------------------------------------------------ refused


def test_what_times_cannot_do_is_refused():
    X, y, times = series()
    for options, words in [
        ({"groups": times}, r"groups= and times= cannot be combined: .* Leave one of them out"),
        ({"times": np.full(60, "May")}, "times holds the text 'May'; times are numbers or dates"),
        ({"times": np.ones(60)}, "times are the same in all samples"),
        ({"times": times[:5]}, "times has 5 entries, X has 60 rows"),
    ]:
        with pytest.raises(ValueError, match=words):
            HoldOutSVM().fit(X, y, **{"times": times, **options})
    for given in ({}, {"groups": times}):
        with pytest.raises(ValueError, match=r"gap=5 needs times=: .* Pass times to fit, or leave"):
            HoldOutSVM(gap=5).fit(X, y, **given)


def test_a_class_on_one_side_of_every_moment_is_refused():
    X, y, _ = series()
    late = np.where(np.isin(np.arange(60), [48, 55]), "new", np.where(y == 1, "ill", "well"))
    when = np.where(late == "new", 50, np.arange(60))  # both of the same time
    with pytest.raises(ValueError, match=r"no moment has samples of class 'new' on both sides"):
        HoldOutSVM().fit(X, late, times=when)
    # one after the other: no block is as large as usual, but there is a moment
    found = HoldOutSVM(random_state=0).fit(X, late, times=np.arange(60))
    assert sorted(found.order_) == list(range(6))
    with pytest.raises(ValueError, match=r"no moment has samples of every class on both sides"):
        HoldOutSVM().fit(X[:10], [0] * 5 + [1] * 5, times=range(10))
    with pytest.raises(ValueError, match=r"gap=59 leaves nothing to train with before any moment"):
        HoldOutSVM(task="regression", gap=59).fit(X, X[:, 0], times=np.arange(60))
    with pytest.raises(ValueError, match="after a gap of 30 different times"):
        HoldOutSVM(gap=30).fit(X, late, times=np.arange(60))
