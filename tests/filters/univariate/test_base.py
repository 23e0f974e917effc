"""What all univariate filters and the Relief family owe to their users."""

from __future__ import annotations

import importlib
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from tamiz.filters import (
    AUCScore,
    ChiSquared,
    FisherScore,
    KolmogorovSmirnov,
    PearsonScore,
    Relief,
    ReliefF,
    RReliefF,
    SignalToNoise,
    StumpError,
    WelchT,
)

WEIGHTED = [
    FisherScore(),
    FisherScore(variant="criterion"),
    FisherScore(variant="multiclass"),
    SignalToNoise(),
    WelchT(),
    PearsonScore(),
    AUCScore(),
    KolmogorovSmirnov(),
    StumpError(),
]
UNIVARIATE = [*WEIGHTED, ChiSquared(), ChiSquared(test="counts")]
RELIEF = [Relief(random_state=0), ReliefF(random_state=0)]

each_weighted = pytest.mark.parametrize("filter_", WEIGHTED, ids=str)
each_univariate = pytest.mark.parametrize("filter_", UNIVARIATE, ids=str)
each = pytest.mark.parametrize("filter_", [*UNIVARIATE, *RELIEF], ids=str)


def not_met(estimator):
    """Relief looks for neighbours: a copied row is its own nearest one, a weight is not."""
    if not isinstance(estimator, Relief | ReliefF | RReliefF):
        return {}
    return {"check_sample_weight_equivalence_on_dense_data": "a copied row is a neighbour"}


@parametrize_with_checks(
    [*UNIVARIATE, *RELIEF, RReliefF(random_state=0)], expected_failed_checks=not_met
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def table(n=120, p=8, n_classes=2, seed=0):
    """Counts, so that every filter takes them; the first feature is the best, the last constant."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.poisson(3.0, (n, p)).astype(float)
    X[:, 0] = rng.poisson(2.0 + 6 * y)
    X[:, -1] = 5
    return X, y


@each
@pytest.mark.parametrize("n_classes", [2, 4])
def test_best_first_and_constant_last(filter_, n_classes):
    X, y = table(n_classes=n_classes)
    got = clone(filter_).set_params(n_features_to_select=1).fit(X, y)
    assert got.order_[0] == 0
    assert got.order_[-1] == 7
    assert got.scores_[7] == 0
    assert np.isfinite(got.scores_).all()
    assert got.support_.tolist() == [True] + [False] * 7
    assert sorted(got.ranking_) == list(range(1, 9))
    assert got.transform(X).shape == (120, 1)
    pvalues = getattr(got, "pvalues_", None)
    if pvalues is not None:
        assert ((pvalues >= 0) & (pvalues <= 1)).all()
        assert pvalues[7] == 1
        assert pvalues[0] < 1e-5


@each_univariate
def test_pvalues_of_noise_are_uniform(filter_):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(20.0, (300, 400)), rng.integers(0, 2, 300)
    if isinstance(filter_, KolmogorovSmirnov):  # with ties its p-values are too large
        X = X + rng.random(X.shape)
    pvalues = clone(filter_).fit(X, y).pvalues_
    if pvalues is not None:
        assert np.mean(pvalues < 0.1) == pytest.approx(0.1, abs=0.05)


@each
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_names_and_kind(filter_, kind):
    X, y = table()
    names = [f"gene {j}" for j in range(8)]
    frame = kind(dict(zip(names, X.T, strict=True)))
    got = clone(filter_).set_params(n_features_to_select=3).fit(frame, pd.Series(y))
    np.testing.assert_allclose(got.scores_, clone(filter_).fit(X, y).scores_)
    reduced = got.transform(frame)
    assert isinstance(reduced, kind)
    assert list(reduced.columns) == got.get_feature_names_out().tolist()
    assert got.selection_.selected[0] == "gene 0"


@each_univariate
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_equals_dense(filter_, form):
    X, y = table()
    X[:, :7] *= np.random.default_rng(1).random((120, 7)) < 0.4
    got = clone(filter_).fit(form(X), y)
    np.testing.assert_allclose(got.scores_, clone(filter_).fit(X, y).scores_, rtol=1e-9)
    assert sparse.issparse(got.transform(form(X)))


@each_weighted
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_count_like_copies(filter_, n_classes):
    X, y = table(60, n_classes=n_classes)
    X = X + 0.01 * np.random.default_rng(1).standard_normal(X.shape)
    weight = np.random.default_rng(2).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), weight)
    one = clone(filter_).fit(X, y, sample_weight=weight)
    other = clone(filter_).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-9, atol=1e-12)
    if one.pvalues_ is not None:
        np.testing.assert_allclose(one.pvalues_, other.pvalues_, rtol=1e-7)


@each_univariate
def test_order_of_rows_and_names_of_classes_do_not_matter(filter_):
    X, y = table(n_classes=3)
    rows = np.random.default_rng(1).permutation(120)
    other = clone(filter_).fit(X[rows], np.array(["c", "a", "b"])[y[rows]])
    np.testing.assert_allclose(other.scores_, clone(filter_).fit(X, y).scores_, rtol=1e-9)


@each
def test_repeated_features_score_alike(filter_):
    X, y = table()
    got = clone(filter_).fit(X[:, [0, 1, 1, 0]], y).scores_
    np.testing.assert_allclose(got[[0, 1]], got[[3, 2]])


@each
def test_bad_input(filter_):
    X, y = table(20)
    with pytest.raises(ValueError, match="one class only"):
        clone(filter_).fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="requires y"):
        clone(filter_).fit(X, None)
    with pytest.raises(ValueError, match=r"20 rows but y has 19|inconsistent"):
        clone(filter_).fit(X, y[:-1])
    if not (clone(filter_).__sklearn_tags__().input_tags.categorical):
        with pytest.raises(ValueError, match="holds text"):
            clone(filter_).fit(np.array([["a", "1"], ["b", "2"]]), [0, 1])
    with pytest.raises(ValueError, match="more than once"):
        clone(filter_).fit(pd.DataFrame(X[:, :2], columns=["a", "a"]), y)
    with pytest.raises(ValueError, match="infinity"):
        clone(filter_).fit(np.where(X > 7, np.inf, X), y)
    with pytest.raises(ValueError, match="exceeds the 8 features"):
        clone(filter_).set_params(n_features_to_select=9).fit(X, y)
    with pytest.raises(ValueError, match="'n_features_to_select' parameter"):
        clone(filter_).set_params(n_features_to_select=-1).fit(X, y)
    with pytest.raises(ValueError, match=r"one sample|minimum of|one class"):
        clone(filter_).fit(X[:1], y[:1])
    if not isinstance(filter_, PearsonScore):
        with pytest.raises(ValueError, match="continuous"):
            clone(filter_).fit(X, np.linspace(0.1, 1, 20))


@each_univariate
def test_missing_values_are_refused_unless_counted(filter_):
    X, y = table(20)
    X[3, 2] = np.nan
    if isinstance(filter_, ChiSquared) and filter_.test == "independence":
        assert np.isfinite(clone(filter_).fit(X, y).scores_).all()
        return
    with pytest.raises(ValueError, match=r"NaN.*row 3, column 2"):
        clone(filter_).fit(X, y)


@each_weighted
def test_bad_weights(filter_):
    X, y = table(20)
    with pytest.raises(ValueError, match="not negative"):
        clone(filter_).fit(X, y, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="with positive sample_weight"):
        clone(filter_).fit(X, y, sample_weight=(y == 0).astype(float))


@each
def test_survives_pickling_and_cloning(filter_):
    X, y = table(40)
    got = clone(filter_).fit(X, y)
    again = pickle.loads(pickle.dumps(got))
    np.testing.assert_array_equal(again.transform(X), got.transform(X))
    np.testing.assert_array_equal(clone(got).fit(X, y).scores_, got.scores_)


def test_grid_search_over_number_and_method():
    X, y = table()
    pipe = Pipeline([("filter", FisherScore()), ("machine", LinearSVC())])
    grid = GridSearchCV(
        pipe,
        {
            "filter": [FisherScore(variant="classical"), AUCScore(), ReliefF(random_state=0)],
            "filter__n_features_to_select": [1, 0.5],
        },
        cv=3,
    ).fit(X, y)
    assert grid.best_score_ > 0.8


def test_one_feature_and_two_samples():
    for filter_ in (FisherScore(), AUCScore(), KolmogorovSmirnov(), StumpError(), PearsonScore()):
        got = filter_.fit([[1.0], [2.0]], ["a", "b"])
        assert got.support_.tolist() == [True]
        assert not np.isnan(got.scores_).any()


def test_the_former_module_of_the_base_classes_warns():
    sys.modules.pop("tamiz.filters.univariate_base", None)
    with pytest.warns(FutureWarning, match=r"tamiz\.filters\.univariate\.base"):
        module = importlib.import_module("tamiz.filters.univariate_base")
    assert issubclass(FisherScore, module.UnivariateFilter)
