"""SVMRFE: choice of size, checkpoints, interruption, threads, bad input, the estimator contract."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from tamiz.embedded import SVMRFE
from tamiz.embedded.rfe import elimination
from tamiz.embedded.rfe.machines import KernelMachines, LinearMachines, Machines
from tamiz.kernels import RBF, Precomputed
from tamiz.svm import SVC
from tests.calls import failing, interrupted, watched
from tests.checks import assert_every_check_passes

ROOT = Path(__file__).resolve().parent.parent.parent


def data(n=60, p=12, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = 2 * X[:, 1] - 1.5 * X[:, 4] + X[:, 7] + 0.3 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)


# ---------------------------------------------------------------------- choice of size


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("classes", [2, 3])
def test_errors_by_size_are_those_of_machines_fitted_in_the_fold(kernel, classes):
    X, y = data(classes=classes)
    rfe = SVMRFE("best", kernel=kernel, gamma=0.1, step=3, cv=3).fit(X, y)
    assert rfe.cv_sizes_.tolist() == [12, 9, 6, 3, 1]
    for k, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        inner = SVMRFE(1, kernel=kernel, gamma=0.1, step=3).fit(X[train], y[train])
        for size, error in zip(rfe.cv_sizes_, rfe.cv_errors_[k], strict=True):
            kept = np.sort(inner.order_[:size])
            machine = SVC(kernel=kernel, gamma=0.1).fit(X[train][:, kept], y[train])
            assert error == pytest.approx(np.mean(machine.predict(X[test][:, kept]) != y[test]))
    mean = rfe.cv_errors_.mean(axis=0)
    assert rfe.support_.sum() == rfe.cv_sizes_[mean <= mean.min() + 1e-12].min()
    assert rfe.selection_.notes["cv_sizes"].tolist() == [12, 9, 6, 3, 1]
    fewer = SVMRFE("1se", kernel=kernel, gamma=0.1, step=3, cv=3).fit(X, y)
    assert fewer.support_.sum() <= rfe.support_.sum()
    assert np.array_equal(fewer.order_, rfe.order_)


@pytest.mark.parametrize("wanted", ["best", "1se"])
def test_the_elimination_applied_is_the_one_judged(wanted):
    X, y = data(p=13)
    rfe = SVMRFE(wanted, step=4, cv=3).fit(X, y)
    assert rfe.cv_sizes_.tolist() == [13, 9, 5, 1]
    assert [13, *(event.n_features for event in rfe.selection_.path)] == [13, 9, 5, 1]
    assert np.array_equal(rfe.order_, SVMRFE(1, step=4).fit(X, y).order_)
    assert rfe.support_.sum() in (13, 9, 5, 1)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_folds_know_sample_weights(kernel):
    X, y = data()
    y = np.where(np.random.default_rng(1).random(60) < 0.15, 1 - y, y)  # so that there are errors
    weight = np.random.default_rng(2).choice([0.1, 1.0, 6.0], 60)
    options = {"kernel": kernel, "gamma": 0.1, "step": 3}
    rfe = SVMRFE("best", cv=3, **options).fit(X, y, sample_weight=weight)
    plain = SVMRFE("best", cv=3, **options).fit(X, y)
    assert not np.allclose(rfe.cv_errors_, plain.cv_errors_)
    unlike = 0
    for k, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        inner = SVMRFE(1, **options).fit(X[train], y[train], sample_weight=weight[train])
        for size, error in zip(rfe.cv_sizes_, rfe.cv_errors_[k], strict=True):
            kept = np.sort(inner.order_[:size])
            machine = SVC(kernel=kernel, gamma=0.1)
            machine.fit(X[train][:, kept], y[train], sample_weight=weight[train])
            wrong = machine.predict(X[test][:, kept]) != y[test]
            assert error == pytest.approx(np.average(wrong, weights=weight[test]))
            careless = SVC(kernel=kernel, gamma=0.1).fit(X[train][:, kept], y[train])
            unlike += not np.array_equal(careless.predict(X[test][:, kept]) != y[test], wrong)
    assert unlike  # training without weights would be noticed


def test_folds_by_position_count_samples_of_weight_zero_too():
    X, y = data()
    weight = np.ones(60)
    weight[[0, 1, 2, 17, 33]] = 0.0
    used = np.flatnonzero(weight)
    place = {row: k for k, row in enumerate(used)}
    folds = [(train, test) for train, test in ShuffleSplit(3, random_state=0).split(X)]
    mapped = [
        tuple(np.array([place[row] for row in part if row in place]) for part in fold)
        for fold in folds
    ]
    expected = SVMRFE("best", cv=mapped).fit(X[used], y[used])
    masks = [tuple(np.isin(np.arange(60), part) for part in fold) for fold in folds]
    for cv in (folds, ShuffleSplit(3, random_state=0), masks):
        rfe = SVMRFE("best", cv=cv).fit(X, y, sample_weight=weight)
        assert np.array_equal(rfe.cv_errors_, expected.cv_errors_)
        assert np.array_equal(rfe.order_, expected.order_)
    for part in ([60], [-1], [0.5], [[1, 2]]):
        with pytest.raises(ValueError, match="Fold 0 of cv holds"):
            SVMRFE("best", cv=[(np.arange(50), part)]).fit(X, y)


def test_best_finds_the_three_that_matter():
    X, y = data(n=200, p=20)
    rfe = SVMRFE("1se").fit(X, y)
    assert set(np.flatnonzero(rfe.support_)) == {1, 4, 7}
    assert rfe.cv_errors_.shape == (5, 20)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_threads_change_nothing(kernel):
    X, y = data(classes=3)
    one = SVMRFE("best", kernel=kernel, random_state=3, n_jobs=1).fit(X, y)
    two = SVMRFE("best", kernel=kernel, random_state=3, n_jobs=2).fit(X, y)
    assert np.array_equal(one.cv_errors_, two.cv_errors_)
    assert np.array_equal(one.order_, two.order_) and np.array_equal(one.support_, two.support_)
    other = SVMRFE("best", kernel=kernel, random_state=4).fit(X, y)
    assert not np.array_equal(one.cv_errors_, other.cv_errors_)


def test_groups_with_cross_validation():
    X, y = data()
    groups = [[0, 1, 2], [3, 4], [6, 7]]
    rfe = SVMRFE("best", feature_groups=groups, fixed_features=[11], cv=3).fit(X, y)
    assert rfe.cv_sizes_.tolist() == list(range(8, 0, -1))
    assert all(len(set(rfe.support_[g])) == 1 for g in groups) and rfe.support_[11]


# ---------------------------------------------------------------------- checkpoints


@contextmanager
def one_drop_a_call(kind):
    """Features leave by one call each, not many in one compiled loop."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(kind, "drop_singles", Machines.drop_singles)
        yield


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf"}, {"step": 3}, {"feature_groups": [[0, 5]]}]
)
def test_resumed_elimination_equals_an_uninterrupted_one(tmp_path, save_every_step, options):
    X, y = data(classes=3)
    whole = SVMRFE(4, **options).fit(X, y)
    path = tmp_path / "state.npz"
    kind = KernelMachines if "kernel" in options else LinearMachines
    power_cut = failing(kind, "drop", RuntimeError("power cut"), at=4)
    with one_drop_a_call(kind), power_cut, pytest.raises(RuntimeError, match="power cut"):
        SVMRFE(4, checkpoint=path, **options).fit(X, y)
    with np.load(path) as file:
        assert 0 < len(file["dropped"]) < 11
    rest = SVMRFE(4, checkpoint=path, resume=True, **options).fit(X, y)
    assert np.array_equal(rest.order_, whole.order_)
    assert [s.features for s in rest.selection_.path] == [s.features for s in whole.selection_.path]
    assert rest.decision_function(X) == pytest.approx(whole.decision_function(X), abs=1e-8)
    with pytest.raises(FileExistsError, match="resume=True"):
        SVMRFE(4, checkpoint=path, **options).fit(X, y)
    with pytest.raises(ValueError, match="another run: C was"):
        SVMRFE(4, C=2.0, checkpoint=path, resume=True, **options).fit(X, y)


def test_folds_that_were_done_are_not_run_again(tmp_path):
    X, y = data()
    whole = SVMRFE("best", cv=4).fit(X, y)
    path = tmp_path / "state.npz"
    power_cut = failing(elimination, "_one_fold", RuntimeError("power cut"), at=3)
    with power_cut, pytest.raises(RuntimeError, match="power cut"):
        SVMRFE("best", cv=4, checkpoint=path).fit(X, y)
    with watched(elimination, "_one_fold") as folds:
        rest = SVMRFE("best", cv=4, checkpoint=path, resume=True).fit(X, y)
    assert len(folds) == 2  # two of four were there
    assert np.array_equal(rest.cv_errors_, whole.cv_errors_)
    assert np.array_equal(rest.support_, whole.support_)


def test_resumed_folds_are_those_of_the_run_that_died(tmp_path):
    X, y = data()
    drawn = []

    class Unseeded:
        """Other folds each time."""

        def split(self, X, y=None, groups=None):
            drawn.append(list(ShuffleSplit(4).split(X, y)))
            return iter(drawn[-1])

        def get_n_splits(self, X=None, y=None, groups=None):
            return 4

    path = tmp_path / "state.npz"
    power_cut = failing(elimination, "_one_fold", RuntimeError("power cut"), at=3)
    with power_cut, pytest.raises(RuntimeError, match="power cut"):
        SVMRFE("best", cv=Unseeded(), checkpoint=path).fit(X, y)
    with watched(elimination, "_one_fold") as folds:
        rest = SVMRFE("best", cv=Unseeded(), checkpoint=path, resume=True).fit(X, y)
    assert len(folds) == 2 and rest.cv_errors_.shape == (4, 12)
    whole = SVMRFE("best", cv=drawn[0]).fit(X, y)
    assert np.array_equal(rest.cv_errors_, whole.cv_errors_)


def test_another_random_state_does_not_mix_folds(tmp_path):
    X, y = data()
    path = tmp_path / "state.npz"

    def make(seed, **options):
        return SVMRFE("best", cv=4, random_state=np.random.RandomState(seed), **options)

    first = make(1, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="random_state was"):
        make(2, checkpoint=path, resume=True).fit(X, y)
    again = make(1, checkpoint=path, resume=True).fit(X, y)
    assert np.array_equal(again.cv_errors_, first.cv_errors_)
    assert not np.array_equal(first.cv_errors_, make(2).fit(X, y).cv_errors_)


CHILD = """
import sys, time
import numpy as np
import tamiz.runtime.checkpoint as c
from tamiz.embedded import SVMRFE
from tamiz.embedded.rfe.machines import LinearMachines
c.Checkpoint.save.__kwdefaults__["now"] = True
drop = LinearMachines.drop
def slow(self, gone):
    drop(self, gone)
    time.sleep(0.1)
LinearMachines.drop = slow
X, y = np.load(sys.argv[1])["X"], np.load(sys.argv[1])["y"]
SVMRFE(4, step=2, checkpoint=sys.argv[2]).fit(X, y)
"""


@pytest.mark.ours
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_process_can_be_resumed(tmp_path):
    X, y = data(p=80)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    path = tmp_path / "state.npz"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "data.npz"), str(path)], env=environment
    )
    try:
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.02)
        assert path.exists() and child.poll() is None
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    with np.load(path) as file:
        assert 0 < len(file["dropped"]) < 79
    rest = SVMRFE(4, step=2, checkpoint=path, resume=True).fit(X, y)
    whole = SVMRFE(4, step=2).fit(X, y)
    assert np.array_equal(rest.order_, whole.order_)


# ---------------------------------------------------------------------- interruption


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("wanted", [9, 3, "best"])
def test_ctrl_c_keeps_what_was_reached(kernel, wanted):
    X, y = data()
    kind = LinearMachines if kernel == "linear" else KernelMachines
    whole = SVMRFE(3, kernel=kernel).fit(X, y)
    ctrl_c = interrupted(kind, "drop", at=6 + (kernel == "rbf"))  # its first one drops none
    told = pytest.warns(ConvergenceWarning, match="after 5 of 12 units")
    with one_drop_a_call(kind), ctrl_c, told:
        rfe = SVMRFE(wanted, kernel=kernel).fit(X, y)
    assert rfe.status_ == rfe.selection_.notes["status"] == "interrupted"
    assert np.array_equal(rfe.order_[-5:], whole.order_[-5:])
    # the others by the criterion that was last known: the next to go is the last of them
    assert rfe.order_[6] == whole.order_[6]
    assert rfe.support_.sum() == (6 if wanted == "best" else wanted)
    assert rfe.predict(X).shape == (60,)


@pytest.mark.parametrize("at", [1, 4])
def test_ctrl_c_in_the_compiled_loop_keeps_what_it_did(monkeypatch, at):
    X, y = data()
    whole = SVMRFE(3).fit(X, y)
    real, count = LinearMachines.advance, [0]

    def pressed(self, tasks, changes, n_drops=0, **options):
        answer = real(self, tasks, changes, min(n_drops, 2), **options)  # two drops a call
        count[0] += n_drops > 0
        if count[0] == at:
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(LinearMachines, "advance", pressed)
    with pytest.warns(ConvergenceWarning, match=f"after {2 * at} of 12 units"):
        rfe = SVMRFE(3).fit(X, y)
    assert np.array_equal(rfe.order_[-2 * at :], whole.order_[-2 * at :])
    assert len(rfe.selection_.path) == 2 * at
    for a, b in zip(rfe.selection_.path, whole.selection_.path, strict=False):
        assert a.features == b.features and a.value == pytest.approx(b.value)
    # the others by what was known at that moment: the next to go is the last of them
    assert rfe.order_[11 - 2 * at] == whole.order_[11 - 2 * at]


@pytest.mark.parametrize("done", [0, 2])
def test_ctrl_c_in_the_folds_keeps_the_ranking_and_the_folds(done):
    X, y = data()
    whole = SVMRFE("best").fit(X, y)
    text = "chosen by the 2 that were done" if done else "half of the features are kept"
    told = pytest.warns(ConvergenceWarning, match=f"fold {done + 1} of 5; the ranking.*{text}")
    with interrupted(elimination, "_one_fold", at=done + 1), told:
        rfe = SVMRFE("best", n_jobs=1).fit(X, y)
    assert rfe.status_ == "interrupted"
    assert np.array_equal(rfe.order_, whole.order_)
    if not done:
        assert not hasattr(rfe, "cv_errors_") and rfe.support_.sum() == 6
        return
    assert np.array_equal(rfe.cv_errors_, whole.cv_errors_[:2])
    mean = rfe.cv_errors_.mean(axis=0)
    assert rfe.support_.sum() == rfe.cv_sizes_[mean <= mean.min() + 1e-12].min()


def test_ctrl_c_before_anything_is_not_swallowed():
    X, y = data()
    rfe = SVMRFE(3).fit(X, y)
    before = rfe.order_
    with interrupted(LinearMachines, "start"), pytest.raises(KeyboardInterrupt):
        rfe.fit(X, y)
    assert rfe.order_ is before


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "'C' parameter"),
        ({"step": 0}, "'step' parameter"),
        ({"step": 1.5}, "'step' parameter"),
        ({"n_features_to_select": 13}, "exceeds the 12 features"),
        ({"n_features_to_select": 0}, "'n_features_to_select' parameter"),
        ({"kernel": "precomputed"}, "does not work on features"),
        ({"kernel": Precomputed()}, "does not work on features"),
        ({"kernel": 0.5 * Precomputed() + RBF()}, "does not work on features"),
        ({"feature_groups": [[0, 99]]}, "feature_groups"),
        ({"fixed_features": ["a"]}, "no named columns"),
        ({"n_features_to_select": 1, "fixed_features": [1, 2]}, "fixed_features keeps 2"),
        ({"resume": True}, "needs a file to resume from"),
        ({"n_features_to_select": "best", "cv": 40}, "at least 40 samples of every class"),
        ({"criterion": "radius"}, "'criterion' parameter"),
    ],
)
def test_bad_parameters_get_a_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        SVMRFE(**options).fit(*data())


def test_bad_data_gets_a_sentence():
    X, y = data()
    with pytest.raises(ValueError, match="one class only"):
        SVMRFE().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="row 3, column 2"):
        SVMRFE().fit(np.where(np.arange(720).reshape(60, 12) == 38, np.nan, X), y)
    with pytest.raises(ValueError, match="very large values"):
        SVMRFE().fit(X * 1e200, y)
    with pytest.raises(TypeError, match="Sparse"):
        SVMRFE(kernel="rbf").fit(sparse.csr_matrix(X), y)
    with pytest.raises(TypeError, match="no derivative"):
        SVMRFE(kernel=lambda A, B: A @ B.T, order="first").fit(X, y)
    only = np.flatnonzero(y == 0)
    with pytest.raises(ValueError, match="Fold 0 of cv has no sample of class 1"):
        SVMRFE("best", cv=[(only[:20], only[20:])]).fit(X, y)
    SVMRFE("best", cv=ShuffleSplit(3, random_state=0)).fit(X, y)


@pytest.mark.parametrize("n", [2, 3])
def test_very_few_samples(n):
    X = np.random.default_rng(0).normal(size=(n, 5))
    for kernel in ("linear", "rbf"):
        rfe = SVMRFE(2, kernel=kernel).fit(X, np.arange(n) % 2)
        assert rfe.support_.sum() == 2
    assert SVMRFE(1).fit(X[:, :1], np.arange(n) % 2).order_.tolist() == [0]


# ---------------------------------------------------------------------- the contract


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_tables_keep_their_kind_and_names(make):
    X, y = data()
    names = [f"n{j}" for j in range(12)]
    table = make(dict(zip(names, X.T, strict=True)))
    rfe = SVMRFE(3, fixed_features=["n9"], feature_groups=[["n0", "n1"]]).fit(table, y)
    out = rfe.transform(table)
    assert type(out) is type(table)
    assert list(out.columns) == rfe.get_feature_names_out().tolist() and "n9" in out.columns
    assert rfe.predict(table).shape == (60,)


def test_function_kernel():
    X, y = data(p=8)
    rfe = SVMRFE(2, kernel=lambda A, B: A @ B.T).fit(X, y)
    assert np.array_equal(rfe.order_, SVMRFE(2).fit(X, y).order_)


@pytest.mark.parametrize(
    "selector",
    [SVMRFE(), SVMRFE(kernel="rbf", step="half"), SVMRFE(criterion="radius_margin")],
    ids=str,
)
def test_every_estimator_check_passes(selector):
    assert_every_check_passes(selector)
