"""What the filters say about parameters and data, whichever of them is asked."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tamiz.embedded import SVMRFE
from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    AUCScore,
    ChiSquared,
    FisherScore,
    InformationGain,
    KolmogorovSmirnov,
    MaxDep,
    MaxRel,
    PearsonScore,
    Relief,
    ReliefF,
    RReliefF,
    SignalToNoise,
    StumpError,
    SymmetricalUncertainty,
    WelchT,
    neighbours,
)
from tamiz.information import Discretiser, encode
from tamiz.search import ForwardSelection
from tamiz.svm import LinearMachine
from tamiz.tree import CARTClassifier, ForestClassifier
from tamiz.validation import check_classes, check_X

COUNTING = [MaxRel, InformationGain, SymmetricalUncertainty, MRMR, JMI, CMIM, MaxDep]
BINNING = [*COUNTING, ChiSquared, CFS, QPFS]


def numbers(n=90, n_classes=2):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, 6))
    X[:, :3] += y[:, None] * [1.0, 2.0, 0.5]
    X[:, 4] = 3.0
    return X, y


# ---------------------------------------------------------------------------- categorical_features


@pytest.mark.parametrize("method", [*BINNING, Relief, ReliefF])
@pytest.mark.parametrize("features", [1, "kind", [1], ["kind"], [-1], [False, True]])
def test_every_way_to_name_categories(method, features):
    X, y = numbers(60)
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.tile([7.0, 3.0, 5.0], 20)})
    options = {} if issubclass(method, Relief | ReliefF) else {"bins": "mean_std"}
    seeds = {"random_state": 0} if "random_state" in method().get_params() else {}
    got = method(categorical_features=features, **options, **seeds).fit(frame, y)
    text = frame.assign(kind=frame["kind"].map({3.0: "a", 5.0: "b", 7.0: "c"}))
    np.testing.assert_allclose(got.scores_, method(**options, **seeds).fit(text, y).scores_)


@pytest.mark.parametrize(
    ("selector", "what"),
    [
        (MRMR(measure="f_pearson"), 'measure="f_pearson"'),
        (CFS(correlation="pearson"), 'correlation="pearson"'),
        (CFS(correlation=np.eye(7)), "an array as correlation"),
        (QPFS(similarity="pearson"), 'similarity="pearson"'),
        (QPFS(similarity=lambda A, B: np.abs(A.T @ B)), "a similarity given"),
        (QPFS(similarity=np.eye(6), relevance=np.ones(6)), "a similarity given"),
        (ChiSquared(test="counts"), 'test="counts"'),
    ],
)
def test_categories_are_refused_where_features_are_numbers(selector, what):
    X, y = numbers()
    selector.set_params(categorical_features=[0])
    with pytest.raises(ValueError, match=f"categorical_features cannot be used with {what}.*; use"):
        selector.fit(np.abs(X), y)


@pytest.mark.parametrize("method", BINNING)
@pytest.mark.parametrize("n_bins", [1, 251])
def test_one_limit_of_bins(method, n_bins):
    X, y = numbers()
    with pytest.raises(ValueError, match=r"n_bins.*\[2, 250\]"):
        method(bins="width", n_bins=n_bins).fit(X, y)
    with pytest.raises(ValueError, match=r"n_bins.*\[2, 250\]"):
        Discretiser("width", n_bins=n_bins).fit(X, y)


def test_numbered_columns_and_positions():
    X = np.column_stack([np.tile([1.0, 2, 3, 50], 10), np.tile([5.0, 1, 9, 7], 10)])
    plain = encode(X, categorical_features=[1])
    from_zero = encode(pd.DataFrame(X), categorical_features=[1])
    assert from_zero.n_levels.tolist() == plain.n_levels.tolist()
    assert encode(pd.DataFrame(X), categorical_features=[-1]).n_levels.tolist() == [2, 4]
    from_one = pd.DataFrame(X, columns=[1, 2])
    for features in ([0], [1], [2], 1, [-1]):
        with pytest.raises(ValueError, match=r"numbered themselves \(1, 2\).*boolean mask"):
            encode(from_one, categorical_features=features)
    assert encode(from_one, categorical_features=[False, True]).n_levels.tolist() == [2, 4]
    from_one.columns = from_one.columns.astype(str)
    assert encode(from_one, categorical_features=["2"]).n_levels.tolist() == [2, 4]
    gap = pd.DataFrame(np.column_stack([X, X[:, 0]]), columns=[0, 2, 1])  # 0 is 0 either way
    assert encode(gap, categorical_features=[0]).n_levels.tolist() == [4, 3, 2]
    with pytest.raises(ValueError, match="names 1, but the columns"):
        ReliefF(categorical_features=[1]).fit(gap, np.arange(40) % 2)


def test_names_and_positions_in_one_list():
    frame = pd.DataFrame({"a": [0.5, 9, 1, 1], "b": [3.0, 1, 2, 1], "c": [1.0, 2, 3, 40]})
    assert encode(frame, categorical_features=["a", 1]).n_levels.tolist() == [3, 3, 2]


def test_a_continuous_column_is_named():
    X, y = numbers()
    for frame in (pd.DataFrame(X[:, :2], columns=["u", "Width"]), pl.DataFrame({"Width": X[:, 1]})):
        last = frame[["Width"]]
        with pytest.raises(ValueError, match="column 'Width' of X has 90 distinct values"):
            MaxRel(bins=None).fit(last, y)
    with pytest.raises(ValueError, match="column 1 of X has 90 distinct"):
        MaxRel(bins=None).fit(np.column_stack([y, X[:, 1]]), y)


# ------------------------------------------------------------------------------------------ target


@pytest.mark.parametrize(
    ("selector", "remedy"),
    [
        (PearsonScore(), 'task="regression"'),
        (CFS(), 'task="regression"'),
        (QPFS(similarity="pearson"), 'task="regression"'),
    ],
)
def test_integers_that_look_like_a_numeric_target(selector, remedy):
    X, _ = numbers()
    ages = np.arange(90) // 3
    with pytest.warns(UserWarning, match=f"30 different integers.*{remedy}"):
        selector.fit(X, ages)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "CFS found no relevant")
        selector.fit(X, ages // 2)  # fifteen classes are nothing strange
        selector.set_params(task="regression")
        selector.fit(X, ages)


@pytest.mark.parametrize(
    ("selector", "remedy"),
    [
        (PearsonScore(task="classification"), 'task="regression"'),
        (CFS(task="classification", bins="width"), 'task="regression"'),
        (InformationGain(), "PearsonScore"),
        (ReliefF(), "RReliefF"),
        (FisherScore(), "PearsonScore"),
        (MaxRel(), "PearsonScore"),
    ],
)
def test_numbers_where_classes_are_needed(selector, remedy):
    X, _ = numbers()
    with pytest.raises(ValueError, match=f"Unknown label type.*{remedy}.*turn y into classes"):
        selector.fit(X, X[:, 0])


# ------------------------------------------------------------------------- sizes of all magnitudes

SCORING = [
    FisherScore(variant="criterion"),
    FisherScore(variant="classical"),
    FisherScore(variant="multiclass"),
    SignalToNoise(),
    WelchT(),
    PearsonScore(),
    AUCScore(),
    KolmogorovSmirnov(),
    StumpError(),
    MRMR(6, measure="f_pearson"),
    *(MRMR(6, bins=bins) for bins in ("mean_std", "mdl", "width", "frequency")),
    CFS(correlation="pearson"),
    QPFS(similarity="pearson"),
    ReliefF(random_state=0),
]


@pytest.mark.parametrize("selector", SCORING, ids=lambda s: repr(s)[:40])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1018])
def test_units_of_any_size(selector, n_classes, exponent):
    X, y = numbers(n_classes=n_classes)
    usual = selector.fit(X, y).scores_.copy()
    order = selector.order_.tolist()
    if getattr(selector, "variant_", "") == "criterion":  # the only one that depends on units
        usual = np.ldexp(usual, -exponent)
    tables = [np.ldexp(X, exponent)]
    if isinstance(selector, FisherScore | SignalToNoise | WelchT | PearsonScore):
        tables.append(sparse.csr_array(tables[0]))
    for table in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            selector.fit(table, y)
        np.testing.assert_allclose(selector.scores_, usual, rtol=1e-9)
        assert selector.order_.tolist() == order


@pytest.mark.parametrize(
    "selector", [PearsonScore(task="regression"), RReliefF(random_state=0), CFS(task="regression")]
)
@pytest.mark.parametrize("exponent", [-1000, 600, 1016])
def test_targets_of_any_size(selector, exponent):
    X, _ = numbers()
    y = X[:, 0] + 2 * X[:, 1]
    usual = selector.fit(X, y).scores_.copy()
    for a, b in ((exponent, 0), (0, exponent), (exponent, exponent)):
        np.testing.assert_allclose(
            selector.fit(np.ldexp(X, a), np.ldexp(y, b)).scores_, usual, rtol=1e-8
        )


def test_the_ends_of_the_range():
    X, y = np.tile([[1.7e308], [-1.7e308]], (20, 1)), np.tile([0, 1], 20)
    assert PearsonScore().fit(X, y).scores_ == 1.0
    assert np.isinf(WelchT().fit(X, y).scores_)
    for bins in ("mean_std", "width", "frequency", "mdl"):
        assert MaxRel(bins=bins).fit(X, y).scores_ == pytest.approx(np.log(2))


# ---------------------------------------------------------------------------------------- progress


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (ReliefF(random_state=0), "distances, 100%"),
        (Relief(random_state=0), "differences, 100%"),
        (CFS(), "correlations of"),
        (QPFS(), "pairs of 3 and 3 levels, 100%"),
        (MRMR(measure="f_pearson"), "3 of 3 features"),
        (JMI(), "3 of 3 features"),
        (MaxDep(), "features"),
    ],
)
def test_long_runs_say_how_far_they_are(selector, text, clock, capsys):
    clock.step = 3.0
    X, y = numbers(300)
    X[:, 4] = np.arange(300) % 7
    selector.set_params(verbose=2).fit(X, y)
    assert text in capsys.readouterr().err
    selector.set_params(verbose=0).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("method", [ReliefF, RReliefF])
def test_slices_change_nothing(method, limits):
    X, y = numbers(150)
    X[::7, 2] = np.nan
    usual = method(random_state=0, categorical_features=[5]).fit(X, y).scores_
    limits(neighbours, _SLICE=1)
    sliced = method(random_state=0, categorical_features=[5]).fit(X, y).scores_
    np.testing.assert_array_equal(sliced, usual)


# ----------------------------------------------------------------------------- the short way round


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint64, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_arrays_become_tables(dtype, order):
    X = np.asarray(np.arange(12).reshape(4, 3) % 5, dtype=dtype, order=order)
    estimator = FisherScore()
    estimator.feature_names_in_ = np.array(["a"])
    table = check_X(estimator, X, reset=True)
    assert table.dtype == np.float64 and table.flags.c_contiguous
    np.testing.assert_array_equal(table, X)
    assert estimator.n_features_in_ == 3 and not hasattr(estimator, "feature_names_in_")
    if dtype is np.float64 and order == "C":
        assert check_X(estimator, X, reset=False) is X


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.ones((3, 2)), "X has 2 features, but FisherScore is expecting 3"),
        (np.ones((0, 3)), "0 sample"),
        (np.ones((2, 0)), "0 feature"),
        (np.ones(3), "Expected 2D array"),
        (np.ones((2, 3, 1)), "dim"),
        (np.array([[1.0, np.nan, 1.0]]), "contains NaN .first at row 0, column 1"),
        (np.array([[1.0, -np.inf, 1.0]]), "contains infinity"),
        (np.ones((2, 3)) * 1j, "Complex data not supported"),
    ],
)
def test_the_short_way_leaves_no_check_out(X, sentence):
    estimator = FisherScore().fit(*[z[:, :3] if z.ndim == 2 else z for z in numbers()])
    with pytest.raises(ValueError, match=sentence):
        check_X(estimator, X, reset=False)


def test_names_are_still_compared():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = FisherScore().fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        check_X(selector, X, reset=False)
    assert not hasattr(selector.fit(X, y), "feature_names_in_")


def test_large_sums_are_not_infinite_values():
    X = np.full((4, 2), 1.7e308)
    np.testing.assert_array_equal(check_X(FisherScore(), X, reset=True), X)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.array([2, 1, 2]), [1, 2]),
        (np.array([2.0, 1.0, 2.0]), [1.0, 2.0]),
        (np.array([True, False, True]), [False, True]),
        (np.array(["b", "a", "b"]), ["a", "b"]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
        (np.array([[2], [1], [2]]).ravel(), [1, 2]),
    ],
)
def test_labels_of_every_kind(y, classes):
    labels = check_classes(y, 3)
    assert labels.classes.tolist() == classes and labels.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("y", [np.array([0.5, 1.0, 2.0]), np.array([2.0**60, 2.5, 1.0])])
def test_fractions_are_no_labels(y):
    with pytest.raises(ValueError, match="Unknown label type"):
        check_classes(y, 3)


@pytest.mark.parametrize(
    ("machine", "remedy"),
    [
        (LinearMachine(), "use a regression such as SVR"),
        (ForestClassifier(n_estimators=2), "use a regression"),
        (CARTClassifier(), "use CARTRegressor"),
        (SVMRFE(2, cv=None), 'set task="regression"'),
        (ForwardSelection(LinearMachine(), n_features_to_select=1, cv=2), "use a regression"),
    ],
)
def test_machines_and_searches_warn_of_integers_as_filters_do(machine, remedy):
    rng = np.random.default_rng(0)
    X, ages = rng.normal(size=(66, 3)), np.arange(66) // 3
    with pytest.warns(UserWarning, match=f"y holds 22 different integers.*{remedy}") as caught:
        machine.fit(X, ages)
    # the fits inside say nothing: their samples are others
    said = [str(one.message) for one in caught if "different integers" in str(one.message)]
    assert all("in 66 samples" in text for text in said)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*different integers")
        machine.fit(X, ages % 3)
        machine.fit(X, np.array([f"age {k}" for k in ages]))
