"""Tuning on strings: other searches, long runs that are stopped, and what is refused."""

from __future__ import annotations

import signal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import uniform
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from tamiz.evaluation import tune
from tamiz.evaluation.tuning.cells import Plain
from tamiz.kernels import GapWeighted
from tamiz.kernels.strings import kernel as blocks
from tamiz.svm import SVC
from tests.calls import interrupted
from tests.tuned_strings import (
    FOLDS,
    SMALL,
    X,
    agree,
    count_matrices,
    letters,
    machine,
    pairs,
    quietly,
    searched,
    y,
)


@pytest.fixture
def counted(monkeypatch):
    return count_matrices(monkeypatch)


# ------------------------------------------------------------------------------ other ways


def test_random_search_and_halving():
    grid = {"kernel__decay": uniform(0.1, 0.8), "C": [1.0, 10.0]}
    tuning = quietly(X, y, machine(), grid, search="random", n_iter=5)
    params = [cell.params for cell in tuning.cells]
    assert len({cell["kernel__decay"] for cell in params}) == 5
    agree(tuning, searched(X, y, machine(), [{k: [v] for k, v in cell.items()} for cell in params]))
    halved = quietly(X, y, machine(), SMALL, search="halving", refit=True)
    assert halved.best_estimator.kernel.length == 2


def test_custom_metrics_see_strings():
    def longest(estimator, samples, target):
        assert all(isinstance(sample, str) for sample in samples)
        return estimator.score(samples, target)

    tuning = quietly(X, y, machine(), SMALL, scoring=longest)
    np.testing.assert_allclose(
        1 + tuning.errors, quietly(X, y, machine(), SMALL).errors, atol=1e-12
    )


def test_pipelines_that_make_strings():
    def upper(samples):
        return samples.str.upper()

    pipe = make_pipeline(FunctionTransformer(upper), machine())
    tuning = quietly(pd.Series(X), y, pipe, SMALL, refit=True)
    assert np.array_equal(tuning.errors, quietly(X, y, machine(), SMALL).errors)
    assert len(tuning.best_estimator.predict(pd.Series(["abab", "aabb"]))) == 2
    turned = make_pipeline(FunctionTransformer(lambda s: [one[::-1] for one in s]), machine())
    quietly([list(s) for s in X], y, turned, SMALL)


def test_what_the_grid_says_about_its_edges():
    grid = {"kernel__length": [1, 2, 3], "C": [1.0]}
    target = np.array(["c" in s for s in X])  # a letter alone tells them apart
    assert not tune(X, target, machine(), grid, cv=FOLDS, refit=False).edges
    tuning = quietly(X, y, machine(), {"kernel__decay": [0.2, 0.5, 1.0]})
    assert not any("larger" in sentence for sentence in tuning.edges)
    tied = quietly(X, y, machine(C=1e-3), {"kernel__length": [3, 2]})
    assert np.ptp(tied.errors, axis=0).max() == 0  # so small a C guesses
    assert tied.best_params == {"kernel__length": 2}


# ------------------------------------------------------------------------------ long runs


def test_interrupted_and_resumed(tmp_path, counted, monkeypatch):
    file = tmp_path / "strings.journal"
    grid = {"kernel__tokens": [letters, pairs], "C": [1.0, 10.0], "kernel__length": [1]}
    whole = quietly(X, y, machine(), grid)
    counted.clear()
    self_values = blocks.self_values

    def stop(*args):
        if counted[1:]:  # while the second matrix is computed
            signal.raise_signal(signal.SIGINT)
        return self_values(*args)

    monkeypatch.setattr("tamiz.kernels.strings.kernel.self_values", stop)
    first = quietly(X, y, machine(), grid, checkpoint=file)
    assert first.interrupted and np.isfinite(first.errors).all(axis=1).tolist() == [True, False] * 2
    monkeypatch.undo()
    counted.clear()
    rest = quietly(X, y, machine(), grid, checkpoint=file, resume=True)
    assert np.array_equal(rest.errors, whole.errors) and not rest.interrupted
    with pytest.raises(ValueError, match="belongs to another run: the data"):
        quietly(X[::-1], y, machine(), grid, checkpoint=file, resume=True)
    other = {**grid, "kernel__tokens": [letters, str.split]}
    with pytest.raises(ValueError, match="belongs to another run: grid"):
        quietly(X, y, machine(), other, checkpoint=file, resume=True)


def test_ctrl_c_in_the_last_fit_keeps_the_errors():
    with interrupted(Plain, "refit"):
        tuning = quietly(X, y, machine(), SMALL, refit=True)
    assert tuning.interrupted and tuning.best_estimator is None
    assert np.isfinite(tuning.errors).all()


def test_progress_of_a_matrix_is_shown_if_asked_for(capsys, clock):
    clock.step = 3.0
    quietly(X, y, machine(), SMALL, verbose=2)
    told = capsys.readouterr().err
    assert told.count("string kernel, norms: 100 %") == 2 and "tuning: 16 of 16 fits" in told
    quietly(X, y, machine(), SMALL)
    assert not capsys.readouterr().err


# ------------------------------------------------------------------------------ sentences


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([*X[:5], None, *X[6:]], r"X\[5\] is missing"),
        (pd.Series([*X[:5], None, *X[6:]]), r"X\[5\] is missing"),
        (pl.Series([*X[:5], None, *X[6:]]), r"X\[5\] is missing"),
        ([*X[:5], 7, *X[6:]], r"X\[5\] is 7 of type int"),
        ([s.encode() for s in X], r"X\[0\] is bytes"),
        (np.array([s.encode() for s in X]), r"X\[0\] is bytes"),
        (X[0], "is one string"),
        (np.ones((48, 2)), "holds numbers"),
        (pd.DataFrame({"a": X, "b": X}), r"2 columns \('a', 'b'\)"),
        ([], r"0 sample\(s\)"),
        (X[:7], "X has 7 rows but y has 48 entries"),
    ],
)
def test_wrong_samples(samples, sentence):
    with pytest.raises(ValueError, match=sentence):
        tune(samples, y, machine(), SMALL, cv=FOLDS)


@pytest.mark.parametrize(
    ("estimator", "grid", "sentence"),
    [
        (machine(), {"kernel__length": [0]}, "cell kernel__length=0: length of GapWeighted must"),
        (machine(), {"kernel__decay": [2.0]}, "cell kernel__decay=2: decay of GapWeighted must"),
        (machine(), {"kernel__weights": [[1, 1, 1]]}, "has 3 entries for length=2"),
        (machine(), {"kernel__tokens": ["letter"]}, "must be 'char', 'word' or a function"),
        (machine(), {"kernel__lenght": [2]}, "Did you mean 'kernel__length'"),
        (machine(), {"kernel": ["rbf", GapWeighted()]}, "no samples suit both"),
        (machine(), [{"C": [1.0]}, {"kernel": ["linear"]}], "kernel='linear', which compares vec"),
        (SVC(kernel=GapWeighted), {"C": [1.0]}, "kernel=GapWeighted is a class"),
        (SVC(), {"C": [1.0]}, r"text needs a string kernel: kernel=GapWeighted\(\)"),
        (None, None, r"text needs a string kernel: kernel=GapWeighted\(\)"),
        (make_pipeline(StandardScaler(), machine()), SMALL, "StandardScaler scales numbers, and"),
    ],
)
def test_wrong_grids_and_kernels(estimator, grid, sentence):
    with pytest.raises(ValueError, match=sentence):
        tune(X, y, estimator, grid, cv=FOLDS)


def test_cells_that_fail():
    grid = {"kernel__length": [2, 99], "C": [1.0, 2.0]}
    with pytest.warns(RuntimeWarning, match=r"2 of 4 cells .*all kernel values are 0"):
        tuning = tune(X, y, machine(), grid, cv=FOLDS)
    agree(tuning, searched(X, y, machine(), grid))
    with pytest.raises(ValueError, match="all kernel values are 0"):
        quietly(X, y, machine(), grid, error_score="raise")

    def broken(text):
        raise ZeroDivisionError("by the user")

    with pytest.warns(RuntimeWarning, match=r"1 of 2 cells .*ZeroDivisionError: by the user"):
        tuning = tune(X, y, machine(), {"kernel__tokens": [broken, "char"]}, cv=FOLDS)
    assert tuning.best_params == {"kernel__tokens": "char"} and tuning.notes["fast_cells"] == 1


def test_one_class_in_a_fold():
    target = np.arange(len(X)) % 2
    cv = [(np.arange(0, 48, 2), np.arange(1, 48, 2)), (np.arange(30), np.arange(30, 48))]
    with pytest.raises(ValueError, match=r"All 4 cells .*y holds one class only"):
        quietly(X, target, machine(), SMALL, cv=cv)
    tuning = quietly(X, target, machine(), SMALL, cv=cv, error_score=0.0)
    assert (tuning.errors[:, 0] == 1.0).all() and (tuning.errors[:, 1] < 1.0).all()
    short = ["" if i < 24 else s for i, s in enumerate(X)]  # a training part of empty strings
    halves = [(np.arange(24), np.arange(24, 48)), (np.arange(24, 48), np.arange(24))]
    blank = quietly(short, target, machine(), SMALL, cv=halves, error_score=0.0)
    assert (blank.errors[:, 0] == 1.0).all() and np.isfinite(blank.errors).all()
    assert all("fewer symbols" in cell.failure for cell in blank.cells)
