"""The fast way: the errors of the plain one, on every kind of machine that it takes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from tamiz.evaluation import tune
from tamiz.evaluation.tuning.cells import Plain, make_metric
from tamiz.evaluation.tuning.fast import Fast
from tamiz.svm import SVC, SVR
from tamiz.svm.path import penalties
from tamiz.svm.path.gram import GridGrams
from tests.calls import watched

WIDE = {"C": [0.1, 1.0, 100.0], "gamma": [0.01, 1.0]}
RNG = np.random.default_rng(0)


def both(X, y, estimator, grid, **options):
    """The same grid the fast way and the plain way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        quick = tune(X, y, estimator, grid, refit=False, **options)
        plain = tune(X, y, estimator, grid, refit=False, fast=False, **options)
    assert plain.notes["fast_cells"] == 0
    return quick, plain


def scaled(machine, scaler=None):
    return make_pipeline(scaler or StandardScaler(), machine)


CASES = {
    "three classes": (load_iris, SVC(), WIDE, {}),
    "one versus rest": (load_iris, SVC(multiclass="ovr"), WIDE, {}),
    "scaled inside": (load_wine, scaled(SVC()), WIDE, {}),
    "scaled to a range": (load_wine, scaled(SVC(), MinMaxScaler()), WIDE, {}),
    "words for gamma": (
        load_wine,
        scaled(SVC()),
        {"C": [0.5, 5.0], "gamma": ["scale", "auto"]},
        {},
    ),
    "words without a scaler": (load_iris, SVC(), {"C": [0.5, 5.0], "gamma": ["scale"]}, {}),
    "linear": (load_wine, scaled(SVC(kernel="linear")), {"C": [0.01, 0.1, 1.0]}, {}),
    "polynomial": (
        load_wine,
        scaled(SVC(kernel="poly")),
        {"degree": [1, 2, 3], "coef0": [0.0, 1.0], "gamma": [0.1], "C": [0.1, 1.0]},
        {},
    ),
    "class weights": (
        load_breast_cancer,
        scaled(SVC()),
        {"class_weight": [None, "balanced", {0: 4.0, 1: 1.0}], "C": [0.1, 1.0]},
        {},
    ),
    "area under the curve": (load_breast_cancer, scaled(SVC()), WIDE, {"scoring": "roc_auc"}),
    "ten folds of two classes": (load_breast_cancer, scaled(SVC()), WIDE, {"cv": 10}),
    "leave one out": (load_iris, SVC(), {"C": [1.0, 10.0], "gamma": [0.5]}, {"cv": "loo"}),
}


@pytest.mark.parametrize("name", CASES)
def test_small_machines_err_on_the_same_samples(name):
    load, estimator, grid, options = CASES[name]
    X, y = load(return_X_y=True)
    if "cv" in options:
        X, y = X[::3], y[::3]
    quick, plain = both(X, y, estimator, grid, **{"cv": 3, **options})
    assert quick.notes["fast_cells"] == len(quick.cells)
    np.testing.assert_allclose(quick.errors, plain.errors, atol=1e-12)


def test_sample_weights_and_class_weights_together():
    X, y = load_wine(return_X_y=True)
    weight = RNG.uniform(0.3, 3.0, len(y))
    quick, plain = both(
        X, y, scaled(SVC(class_weight="balanced")), WIDE, cv=3, sample_weight=weight
    )
    np.testing.assert_allclose(quick.errors, plain.errors, atol=1e-12)


def large(n_classes=2):
    """So many samples that machines are solved to a tolerance, from kernel values in float32."""
    X, y = make_classification(
        1400, 12, n_informative=6, n_classes=n_classes, flip_y=0.1, random_state=1
    )
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("estimator", [SVC(), scaled(SVC(class_weight="balanced"))])
def test_large_machines_err_on_the_same_samples_up_to_the_tolerance(estimator):
    X, y = large()
    grid = {"C": [0.1, 10.0, 300.0], "gamma": [0.01, 0.1]}  # the last C needs float64
    quick, plain = both(X, y, estimator, grid, cv=4)
    assert quick.notes["fast_cells"] == 6
    assert np.abs(quick.errors - plain.errors).max() <= 2.5 / 350  # two samples of a fold
    assert np.mean(quick.errors != plain.errors) < 0.15


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_large_machines_of_three_classes(scheme):
    X, y = large(3)
    weight = RNG.uniform(0.5, 2.0, len(y))
    estimator = SVC(multiclass=scheme)
    quick, plain = both(
        X, y, estimator, {"C": [0.5, 5.0], "gamma": [0.05]}, cv=3, sample_weight=weight
    )
    assert quick.notes["fast_cells"] == 2
    assert np.abs(quick.errors - plain.errors).max() <= 3.0 / 460


def test_regression_gives_the_same_numbers():
    X, y = (part[:200] for part in load_diabetes(return_X_y=True))
    grid = {"C": [1.0, 10.0], "gamma": [0.05], "epsilon": [1.0, 10.0]}
    for loss in ("linear", "squared"):
        estimator = scaled(SVR(loss=loss))
        quick, plain = both(X, y, estimator, grid, cv=3, scoring="neg_mean_absolute_error")
        assert quick.notes["fast_cells"] == 4
        np.testing.assert_allclose(quick.errors, plain.errors, rtol=1e-4)
    weight = RNG.uniform(0.5, 2.0, len(y))
    quick, plain = both(X, y, SVR(), {"C": [10.0], "gamma": [5.0]}, cv=3, sample_weight=weight)
    assert quick.metric == "1 - r2"
    np.testing.assert_allclose(quick.errors, plain.errors, rtol=1e-4)


# ------------------------------------------------------------------------------ what is left out


@pytest.mark.parametrize(
    ("estimator", "grid", "served"),
    [
        (SVC(kernel="sigmoid"), {"C": [1.0]}, 0),
        (SVC(), {"kernel": ["rbf", "sigmoid", "linear"]}, 2),
        (SVC(max_iter=100_000), {"C": [1.0]}, 0),
        (SVC(solver="decomposition"), {"C": [1.0]}, 0),
        (SVC(warm_start=True), {"C": [1.0]}, 0),
        (scaled(SVC(), StandardScaler(with_mean=False)), {"C": [1.0]}, 0),
        (scaled(SVC(), RobustScaler()), {"C": [1.0]}, 0),
        (SVC(kernel=lambda A, B: A @ B.T), {"C": [1.0]}, 0),
    ],
)
def test_what_the_fast_way_does_not_take_goes_the_plain_way(estimator, grid, served):
    X, y = load_iris(return_X_y=True)
    quick, plain = both(X, y, estimator, grid, cv=3)
    assert quick.notes["fast_cells"] == served
    np.testing.assert_allclose(quick.errors, plain.errors, atol=1e-12)


def test_memory_is_bounded():
    X, y = load_iris(return_X_y=True)
    one = Plain(
        SVC(), X, y, None, [(np.arange(100), np.arange(100, 150))], make_metric(SVC(), None)
    )
    cells = [{"C": 1.0, "gamma": 0.1}]
    fits = 150**2 * 8 * 5 / 2**20  # four matrices together, one of each thread
    assert not Fast(one, X, cells, 0.9 * fits, 1).groups
    assert Fast(one, X, cells, 1.1 * fits, 4).workers == 1
    assert Fast(one, X, cells, 2.0 * fits, 4).workers == 4
    assert tune(X, y, SVC(), {"C": [1.0]}, cv=3, memory_mb=0).notes["fast_cells"] == 0


def test_weights_of_zero_and_repeated_samples_go_the_plain_way():
    X, y = load_iris(return_X_y=True)
    weight = np.where(np.arange(150) % 7, 1.0, 0.0)
    quick, plain = both(X, y, SVC(), {"C": [1.0]}, cv=3, sample_weight=weight)
    assert quick.notes["fast_cells"] == 0
    np.testing.assert_array_equal(quick.errors, plain.errors)
    again = [(np.r_[0:100, 0:50], np.arange(100, 150))]
    y = np.where(np.arange(150) % 2, "odd", "even")
    assert tune(X, y, SVC(), {"C": [1.0]}, cv=again).notes["fast_cells"] == 0


def test_doubt_is_left_to_the_estimator(limits):
    """A split whose machine does not converge, or errs within rounding, is fitted plainly."""
    X, y = load_iris(return_X_y=True)
    usual = tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=3)
    limits(penalties, CLOSE=np.inf)
    with watched(Plain, "score") as asked:
        quick = tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=3, refit=False)
    assert len(asked) == 6
    np.testing.assert_allclose(quick.errors, usual.errors)


def test_single_precision_gives_way_where_it_is_too_coarse(limits):
    X, y = large()
    with watched(GridGrams, "gram") as computed:
        kept = tune(X, y, SVC(), {"C": [1.0, 10.0], "gamma": [0.1]}, cv=4, refit=False)
        assert [call.args[2] for call in computed] == [np.float32]
        limits(penalties, _SINGLE_ERROR=1e-5)
        computed.clear()
        changed = tune(X, y, SVC(), {"C": [1.0, 10.0], "gamma": [0.1]}, cv=4, refit=False)
        assert [call.args[2] for call in computed] == [np.float32, np.float64]
    assert np.abs(kept.errors - changed.errors).max() <= 2 / 350


def test_a_split_with_one_class_says_so_in_the_words_of_the_machine():
    X, y = load_iris(return_X_y=True)
    splits = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 90), np.arange(90, 150))]
    with pytest.raises(ValueError, match="one class only"):
        tune(X, y, SVC(), {"C": [1.0]}, cv=splits)


def test_kernel_values_beyond_float64_fail_as_the_machine_fails():
    X, y = load_iris(return_X_y=True)
    grid = {"kernel": ["poly"], "degree": [3, 400], "gamma": [100.0], "C": [1.0]}
    with pytest.warns(RuntimeWarning, match="degree=400.*failed on 3 of 3"):
        found = tune(X, y, SVC(), grid, cv=3)
    assert np.isfinite(found.cells[0].error) and np.isnan(found.cells[1].error)
