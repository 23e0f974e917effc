"""Several targets: each by itself, combined, or as one class for every combination."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline

from tamiz.filters import CFS, MRMR, QPFS, FisherScore, MaxRel, MultiTarget, PearsonScore, ReliefF
from tests.checks import assert_every_check_passes
from tests.naive import information as naive


def labels(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 6)).astype(float)
    Y = np.column_stack([X[:, 0] > 1, X[:, 1] + X[:, 2] > 2, rng.random(n) > 0.5]).astype(int)
    return X, Y


@pytest.mark.parametrize("combine", ["max", "mean", "joint"])
def test_scores_follow_the_definition(combine):
    X, Y = labels()
    got = MultiTarget(MaxRel(bins=None), combine=combine).fit(X, Y)
    columns = [column.tolist() for column in X.T]
    if combine == "joint":
        rows = [tuple(row) for row in Y.tolist()]
        want = [naive.mutual_information(column, rows) for column in columns]
    else:
        table = np.array(
            [[naive.mutual_information(column, y.tolist()) for column in columns] for y in Y.T]
        )
        np.testing.assert_allclose(got.target_scores_, table, atol=1e-12)
        want = table.max(axis=0) if combine == "max" else table.mean(axis=0)
    np.testing.assert_allclose(got.scores_, want, atol=1e-12)
    assert (np.diff(got.scores_[got.order_]) <= 0).all()


def test_against_scikit_learn_for_each_label():
    X, Y = labels()
    got = MultiTarget(MaxRel(bins=None)).fit(X, Y).target_scores_
    want = [mutual_info_classif(X, y, discrete_features=True) for y in Y.T]
    np.testing.assert_allclose(got, want, atol=1e-10)


@pytest.mark.parametrize("combine", ["max", "mean", "joint"])
@pytest.mark.parametrize("inner", [MaxRel(), MRMR(), FisherScore(), ReliefF(random_state=0)])
def test_one_target_is_that_target(inner, combine):
    X, Y = labels()
    got = MultiTarget(inner, combine=combine)
    want = type(inner)(**inner.get_params()).fit(X, Y[:, 1])
    np.testing.assert_array_equal(got.fit(X, Y[:, 1]).order_, want.order_)
    np.testing.assert_array_equal(got.fit(X, Y[:, 1:2]).order_, want.order_)


def test_greedy_scores_become_places():
    X, Y = labels()
    got = MultiTarget(MRMR(bins=None, full_ranking=True)).fit(X, Y)
    ranks = np.array([one.ranking_ for one in got.selectors_])
    np.testing.assert_allclose(got.target_scores_, 1 - (ranks - 1) / 6)


def test_the_order_of_the_targets_does_not_matter():
    X, Y = labels()
    for combine in ("max", "mean", "joint"):
        one = MultiTarget(combine=combine).fit(X, Y).scores_
        np.testing.assert_allclose(one, MultiTarget(combine=combine).fit(X, Y[:, ::-1]).scores_)


def test_numbers_as_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    Y = X[:, [2, 0]] * [5.0, 0.1] + rng.normal(size=(100, 2)) * [0.5, 0.1]
    got = MultiTarget(PearsonScore(), n_features_to_select=2).fit(X, Y)
    assert set(got.get_support(indices=True)) == {0, 2}
    with pytest.raises(ValueError, match="numbers in target 'y0'"):
        MultiTarget(PearsonScore(), combine="joint").fit(X, Y)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, sparse.csr_array, list])
def test_every_kind_of_table_of_targets(kind):
    X, Y = labels()
    names = ["a", "b", "c"]
    if kind in (pd.DataFrame, pl.DataFrame):
        given = kind(dict(zip(names, Y.T, strict=True)))
    else:
        given = Y.tolist() if kind is list else kind(Y)
    got = MultiTarget().fit(X, given)
    np.testing.assert_array_equal(got.scores_, MultiTarget().fit(X, Y).scores_)
    assert got.target_names_ == (names if hasattr(given, "columns") else ["y0", "y1", "y2"])


def test_text_labels_and_names_of_features():
    X, Y = labels()
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    targets = pd.DataFrame({"size": np.where(Y[:, 0] == 1, "big", "small"), "n": Y[:, 1]})
    got = MultiTarget(n_features_to_select=2, combine="joint").fit(frame, targets)
    assert got.selection_.selected[0] == "u"
    assert got.target_names_ == ["size × n"]
    assert list(got.transform(frame).columns) == [
        c for c in "uvwxyz" if c in got.selection_.selected
    ]


def test_a_target_of_one_value_is_left_out():
    X, Y = labels()
    Y[:, 2] = 1
    with pytest.warns(UserWarning, match=r"1 target\(s\) with one value only, first 'y2'"):
        got = MultiTarget(combine="mean").fit(X, Y)
    np.testing.assert_array_equal(got.scores_, MultiTarget(combine="mean").fit(X, Y[:, :2]).scores_)
    with pytest.raises(ValueError, match="one class only"):
        MultiTarget().fit(X, np.ones((200, 2)))


def test_what_varies_in_rows_of_weight_zero_only_does_not_vary():
    X, Y = labels()
    Y[:, 2] = 1
    Y[:20, 2] = 0
    weight = np.where(np.arange(len(X)) < 20, 0, 2)
    with pytest.warns(UserWarning, match=r"1 target\(s\) with one value only, first 'y2'"):
        got = MultiTarget().fit(X, Y, sample_weight=weight)
    assert got.selectors_[2] is None and not got.target_scores_[2].any()


@pytest.mark.parametrize("inner", [SelectFromModel(LogisticRegression()), LogisticRegression()])
def test_what_has_no_ranking_is_refused_with_a_sentence(inner):
    X, Y = labels()
    with pytest.raises(ValueError, match="has neither scores_ nor ranking_ after fit"):
        MultiTarget(inner).fit(X, Y)


@pytest.mark.parametrize("combine", ["max", "mean"])
def test_selectors_of_scikit_learn(combine):
    X, Y = labels()
    X[:, 3] = 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, of the constant feature
        got = MultiTarget(SelectKBest(f_classif, k=2), combine=combine).fit(X, Y)
        want = np.nan_to_num([f_classif(X, y)[0] for y in Y.T])
    np.testing.assert_allclose(got.target_scores_, want)
    assert got.order_[-1] == 3
    ranked = MultiTarget(RFE(LogisticRegression()), combine=combine).fit(X, Y)
    assert np.isfinite(ranked.scores_).all()


@pytest.mark.parametrize("inner", [CFS(bins=None), MRMR(bins=None), QPFS(bins=None)])
def test_targets_without_a_relevant_feature_have_zeros(inner):
    X = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1, 0] for i in range(32)])
    Y = np.column_stack([X[:, 2], X[:, 0] ^ X[:, 1] ^ X[:, 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = MultiTarget(inner, combine="mean").fit(X, Y)
        alone = MultiTarget(inner).fit(X, Y[:, :1])
    assert not got.target_scores_[1].any()
    np.testing.assert_array_equal(got.order_, alone.order_)


def test_targets_of_one_name_are_refused():
    X, Y = labels()
    targets = pd.DataFrame(Y, columns=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"y has 1 column name\(s\) more than once, first 'a'"):
        MultiTarget().fit(X, targets)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda Y: np.where(Y == 1, np.nan, 0.0), "Target 'y0': Input y contains NaN"),
        (lambda Y: Y[:-1], "inconsistent numbers of samples"),
        (lambda Y: Y[:, :, None], "3 axes"),
        (lambda Y: Y[:, :0], "no columns"),
        (lambda Y: [[1], [1, 2], *[[3]] * 198], "MultiLabelBinarizer"),
        (lambda Y: None, "requires y"),
    ],
)
def test_bad_targets_get_a_sentence(change, words):
    X, Y = labels()
    with pytest.raises(ValueError, match=words):
        MultiTarget().fit(X, change(Y))


def test_weights_reach_the_selector():
    X, Y = labels()
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    got = MultiTarget().fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(got.scores_, MultiTarget().fit(X[rows], Y[rows]).scores_)
    with pytest.raises(ValueError, match="SelectKBest takes no sample weights"):
        MultiTarget(SelectKBest()).fit(X, Y, sample_weight=weight)


def test_in_a_pipeline():
    X, Y = labels()
    model = make_pipeline(
        MultiTarget(n_features_to_select=3), MultiOutputClassifier(LogisticRegression())
    )
    assert model.fit(X, Y).predict(X).shape == Y.shape


@pytest.mark.parametrize("combine", ["max", "joint"])
def test_every_check_passes(combine):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_every_check_passes(MultiTarget(combine=combine))
