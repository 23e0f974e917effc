"""Covariates are regressed out of the features inside the training parts, and nowhere else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from tamiz import compare
from tamiz.data import load
from tamiz.evaluation import CovariateAdjuster
from tamiz.evaluation.study import make_study
from tamiz.filters import FisherScore
from tamiz.reports import render, summary
from tamiz.svm import SVC
from tests.checks import assert_every_check_passes


def clinic(n=160, seed=0):
    """Feature 2 follows age, which ill people have more of; feature 4 follows the illness."""
    rng = np.random.default_rng(seed)
    age, batch = rng.uniform(20, 80, n), rng.integers(0, 3, n)
    ill = (rng.random(n) < 1 / (1 + np.exp(-(age - 50) / 10))).astype(int)
    genes = rng.standard_normal((n, 6)) + 2.0 * (batch == 1)[:, None]
    genes[:, 2] += (age - 50) / 2
    genes[:, 4] += 1.4 * ill
    return age, batch, genes, ill


def test_residuals_are_those_of_scikit_learn():
    age, batch, genes, _ = clinic()
    known = np.column_stack([age, batch == 0, batch == 1, batch == 2])  # one too many
    table = np.column_stack([genes[:, :2], known, genes[:, 2:]])
    adjuster = CovariateAdjuster([2, 3, 4, 5]).fit(table[:100])
    model = LinearRegression().fit(known[:100], genes[:100])
    np.testing.assert_allclose(adjuster.transform(table), genes - model.predict(known), atol=1e-9)
    for j in range(6):
        single = LinearRegression().fit(known[:100], genes[:100, j])
        expected = single.score(known[:100], genes[:100, j])
        assert adjuster.explained_[j] == pytest.approx(expected)


def test_names_of_what_is_left():
    frame = pd.DataFrame({"a": [1.0, 2, 4], "age": [3.0, 1, 2], "b": [0.0, 1, 1]})
    adjuster = CovariateAdjuster(["age"]).fit(frame)
    assert adjuster.get_feature_names_out().tolist() == ["a", "b"]
    assert adjuster.set_output(transform="pandas").transform(frame).columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("covariates", "words"),
    [
        ([0, 1], "names every column"),
        (["age"], "X has no named columns"),
        ([7], "features are numbered 0 to 1"),
        ("age", "not understood"),
    ],
)
def test_covariates_that_are_none(covariates, words):
    with pytest.raises(ValueError, match=words):
        CovariateAdjuster(covariates).fit(np.eye(2))


def test_extreme_units_and_constant_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    plain = CovariateAdjuster([0]).fit(X).transform(X)
    moved = np.column_stack([1e200 * X[:, 0], X[:, 1:]])
    np.testing.assert_allclose(CovariateAdjuster([0]).fit(moved).transform(moved), plain)
    constant = np.column_stack([np.ones(30), X[:, 1:]])
    found = CovariateAdjuster([0]).fit(constant)
    np.testing.assert_allclose(found.transform(constant), X[:, 1:] - X[:, 1:].mean(axis=0))
    assert found.explained_.tolist() == [0.0, 0.0]


def test_comparison_equals_plain_loops():
    age, batch, genes, ill = clinic()
    known = np.column_stack([age, batch == 1]).astype(float)
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(genes, ill))
    found = compare(
        np.column_stack([known, genes]), ill, ["fisher"], SVC(kernel="linear"), sizes=[1, 3],
        cv=splits, repeats=1, nested=False, apparent=False, baselines=(), adjust=[0, 1],
    )  # fmt: skip
    beside = compare(
        genes, ill, ["fisher"], SVC(kernel="linear"), sizes=[1, 3], cv=splits, repeats=1,
        nested=False, apparent=False, baselines=(), adjust=known,
    )  # fmt: skip
    np.testing.assert_array_equal(found.errors, beside.errors)
    for k, (train, test) in enumerate(splits):
        model = LinearRegression().fit(known[train], genes[train])
        left, right = (genes[rows] - model.predict(known[rows]) for rows in (train, test))
        scaler = StandardScaler().fit(left)
        left, right = scaler.transform(left), scaler.transform(right)
        order = FisherScore().fit(left, ill[train]).order_
        assert found.orders["fisher"][k].tolist() == order.tolist()
        for s, size in enumerate([1, 3]):
            machine = SVC(kernel="linear").fit(left[:, order[:size]], ill[train])
            error = np.mean(machine.predict(right[:, order[:size]]) != ill[test])
            assert found.errors[0, 0, k, s] == pytest.approx(error)


def test_what_only_follows_a_covariate_is_not_found():
    age, _, genes, ill = clinic()
    options = {"sizes": [1], "cv": 4, "repeats": 1, "apparent": "rank", "baselines": ()}
    plain = compare(genes, ill, ["fisher"], random_state=0, **options)
    assert plain.whole_orders["fisher"][0] == 2
    adjusted = compare(genes, ill, ["fisher"], random_state=0, adjust=age[:, None], **options)
    assert adjusted.whole_orders["fisher"][0] == 4


@pytest.mark.parametrize(
    ("adjust", "words"),
    [
        ([], "adjust names no column"),
        (list(range(6)), "adjust names every column"),
        (["sex"], "X has no column .sex."),
        (np.zeros((3, 1)), "adjust has 3 rows, X has 160"),
    ],
)
def test_compare_refuses(adjust, words):
    _, _, genes, ill = clinic()
    with pytest.raises(ValueError, match=words):
        compare(genes, ill, ["fisher"], adjust=adjust)
    with pytest.raises((ValueError, TypeError), match="needs a dense table"):
        compare(sparse.csr_matrix(genes), ill, ["fisher"], adjust=[0])


@pytest.fixture(scope="module")
def study():
    age, batch, genes, ill = clinic()
    table = pd.DataFrame(genes, columns=list("abcdef")).assign(
        age=age, batch=np.array(["x", "y", "z"])[batch], ill=ill
    )
    table.loc[3, "age"] = np.nan
    return make_study(
        load(table, "ill"), ["fisher"], "linear", sizes=[1, 2], cv=4, repeats=1, tune=None,
        adjust=["age", "batch"],
    )  # fmt: skip


def test_a_study_says_what_changes(study):
    assert study.dataset.feature_names == list("abcdef")
    assert study.recommended.features[0] == "e"
    found = study.to_dict()["adjustment"]
    assert found["columns"] == ["age", "batch"] and found["explained"]["c"] > 0.8
    assert found["left"] == ["c"][: len(found["left"])] and "e" in found["entered"]
    said = " ".join(summary(study))
    assert "adjusted for age, batch inside every training part" in said
    assert "Without it fisher would put c among the first" in said
    assert "se ajustaron por" in render(study, "es")
    with pytest.raises(ValueError, match="CovariateAdjuster"):
        study.pipeline()


def test_a_study_names_what_it_does_not_know():
    _, _, genes, ill = clinic()
    data = load(pd.DataFrame(genes, columns=list("abcdef")).assign(ill=ill), "ill")
    with pytest.raises(ValueError, match="adjust names 'sex', which is no feature"):
        make_study(data, ["fisher"], adjust=["sex"])
    with pytest.raises(ValueError, match="adjust= names every feature"):
        make_study(data, ["fisher"], adjust=list("abcdef"))


def test_weights_are_those_of_scikit_learn_and_numbers_of_rows():
    rng = np.random.default_rng(0)
    known = rng.normal(size=(60, 2))
    genes = known @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3))
    table, weight = np.column_stack([known, genes]), rng.integers(0, 4, 60)
    adjuster = CovariateAdjuster([0, 1]).fit(table, sample_weight=weight)
    model = LinearRegression().fit(known, genes, sample_weight=weight)
    np.testing.assert_allclose(adjuster.transform(table), genes - model.predict(known), atol=1e-9)
    repeated = CovariateAdjuster([0, 1]).fit(np.repeat(table, weight, axis=0))
    np.testing.assert_allclose(adjuster.explained_, repeated.explained_)
    np.testing.assert_allclose(adjuster.transform(table), repeated.transform(table), atol=1e-9)
    table[:, 2] = 3.0 * table[:, 0] + 0.1
    assert CovariateAdjuster([0]).fit(table, sample_weight=weight).gone_.tolist() == [
        False, True, False, False,
    ]  # fmt: skip


def test_estimator_checks():
    assert_every_check_passes(CovariateAdjuster([0]))


def test_a_feature_that_a_covariate_determines_leaves_nothing():
    age, _, genes, ill = clinic()
    table = np.column_stack([genes, 12.3 * age + 7.0])
    adjuster = CovariateAdjuster([7]).fit(np.column_stack([table, age]))
    left = adjuster.transform(np.column_stack([table, age]))
    assert adjuster.gone_.tolist() == [False] * 6 + [True] and (left[:, 6] == 0).all()
    options = {"sizes": [1], "cv": 4, "repeats": 1, "apparent": "rank", "baselines": ()}
    found = compare(table, ill, ["fisher"], adjust=age[:, None], random_state=0, **options)
    assert found.whole_orders["fisher"][0] == 4 and found.whole_orders["fisher"][-1] == 6


def test_groups_of_features_do_not_go_with_positions_that_adjusting_moves():
    _, _, genes, ill = clinic()
    with pytest.raises(ValueError, match="feature_groups does not go with adjust"):
        compare(genes, ill, ["fisher"], adjust=[0], feature_groups=[[1, 2]])


def test_one_name_to_adjust_for_is_one_name():
    age, _, genes, ill = clinic()
    data = load(pd.DataFrame(genes, columns=list("abcdef")).assign(age=age, ill=ill), "ill")
    options = {"sizes": [1], "cv": 3, "repeats": 1, "tune": None, "fdr": None}
    study = make_study(data, ["fisher"], "linear", adjust="age", **options)
    assert study.params["adjust"] == ["age"]
