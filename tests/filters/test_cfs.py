"""CFS against plain loops, worked examples, and the behaviour of a selector."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from tamiz.filters.cfs import CFS, SEARCHES, Correlations, Merit, merit
from tamiz.information import encode
from tests.checks import assert_every_check_passes
from tests.frames import to_polars
from tests.naive import cfs as naive

EXAMPLE = np.array(
    [
        [1.0, 0.5, 0.33, 0.95],
        [0.5, 1.0, 0.75, 0.8],
        [0.33, 0.75, 1.0, 0.7],
        [0.95, 0.8, 0.7, 1.0],
    ]
)


def random_table(p, seed, levels=None):
    """Random correlations, the target last; with few ``levels`` there are many ties."""
    rng = np.random.default_rng(seed)
    table = (
        rng.random((p + 1, p + 1))
        if levels is None
        else rng.integers(0, levels, (p + 1, p + 1)) / levels
    )
    table = np.triu(table, 1)
    table += table.T
    np.fill_diagonal(table, 1.0)
    return table


def fit_table(table, **params):
    p = len(table) - 1
    return CFS(correlation=table, **params).fit(np.arange(2.0 * p).reshape(2, p), [0, 1])


# ------------------------------------------------------------------------------ worked example


@pytest.mark.parametrize(
    ("form", "subset", "value"),
    [
        ("hall", [0, 2], 1.0117),
        ("hall", [0, 1], 1.0104),
        ("hall", [0, 1, 2], 0.9871),
        ("printed", [0, 1, 2], 1.2169),
        ("hall", [1], 0.8),
        ("printed", [0, 1], 1.1068),
    ],
)
def test_merit_of_the_worked_example(form, subset, value):
    found = merit(subset, EXAMPLE[:-1, -1], EXAMPLE[:-1, :-1], form)
    assert found == pytest.approx(value, abs=5e-5)
    assert found == pytest.approx(naive.merit(subset, EXAMPLE[:-1, -1], EXAMPLE, form))


@pytest.mark.parametrize("search", sorted(SEARCHES))
def test_the_form_of_the_merit_changes_the_winner(search):
    printed = fit_table(EXAMPLE, search=search, merit="printed")
    assert sorted(printed.subset_) == [0, 1, 2]
    assert printed.merit_ == pytest.approx(1.2169, abs=5e-5)
    hall = fit_table(EXAMPLE, search=search)
    assert sorted(hall.subset_) == [0, 2]
    assert hall.order_.tolist() == [0, 2, 1]


# ------------------------------------------------------------------------------------ searches


@pytest.mark.parametrize("form", ["hall", "printed"])
@pytest.mark.parametrize("levels", [None, 4, 2])
@pytest.mark.parametrize("p", [1, 2, 5, 9])
def test_exhaustive_equals_brute_force(p, levels, form):
    for seed in range(4):
        table = random_table(p, seed, levels)
        subset, value = naive.exhaustive(table[:-1, -1], table, form)
        found = fit_table(table, search="exhaustive", merit=form)
        assert found.merit_ == pytest.approx(value, abs=1e-12)
        assert len(found.subset_) == len(subset)
        if levels is None:
            assert sorted(found.subset_) == subset


@pytest.mark.parametrize("form", ["hall", "printed"])
@pytest.mark.parametrize(("p", "seed"), [(2, 0), (6, 1), (9, 2), (12, 3), (12, 4)])
def test_best_first_equals_a_plain_list(p, seed, form):
    table = 0.3 * random_table(p, seed)
    subset, value = naive.best_first(table[:-1, -1], table, form=form)
    found = fit_table(table, merit=form)
    assert found.merit_ == pytest.approx(value, abs=1e-12)
    assert sorted(found.subset_) == subset


def test_more_patience_never_ends_worse_and_reaches_the_optimum():
    gaps = []
    for seed in range(10):
        table = random_table(10, seed)
        best = fit_table(table, search="exhaustive").merit_
        values = [fit_table(table, stale=s, tol=0.0).merit_ for s in (1, 5, 2000)]
        assert values[0] <= values[1] + 1e-12 <= values[2] + 2e-12
        assert values[2] == pytest.approx(best, abs=1e-12)
        gaps.append(best - values[0])
    assert max(gaps) > 1e-6  # otherwise this test shows nothing


def test_forward_stops_at_the_first_step_without_gain():
    table = random_table(12, 7)
    found = fit_table(table, search="forward")
    values = [step.value for step in found.selection_.path]
    assert values == sorted(values)
    assert [step.features[0] for step in found.selection_.path] == found.subset_.tolist()
    children = [
        naive.merit([*found.subset_, j], table[:-1, -1], table)
        for j in range(12)
        if j not in found.subset_
    ]
    assert max(children, default=-1.0) <= found.merit_ + 1e-12


def test_exhaustive_refuses_many_features():
    with pytest.raises(ValueError, match=r"2\*\*21 subsets.*best_first"):
        fit_table(random_table(21, 0), search="exhaustive")


def test_rows_are_computed_once_and_only_where_needed():
    table = random_table(300, 0)
    asked = []

    def row(j):
        asked.append(j)
        return table[j, :-1]

    found = SEARCHES["best_first"](Correlations(table[:-1, -1], row), Merit("hall"), 5, 1e-5)
    assert len(asked) == len(set(asked)) < 60
    assert set(found.subset) - set(asked) <= {found.subset[-1]}


def test_path_records_the_subsets_visited():
    table = random_table(10, 3)
    found = fit_table(table)
    steps = found.selection_.path
    assert len(steps) == found.n_expanded_ - 1  # the empty subset has no merit
    for step in steps:
        assert step.value == pytest.approx(naive.merit(step.features, table[:-1, -1], table))
    assert steps[-1].details["stale"] == 5
    assert len({step.features for step in steps}) == len(steps)


def test_no_subset_is_expanded_twice():
    found = fit_table(random_table(6, 0), stale=10_000)
    subsets = [step.features for step in found.selection_.path]
    assert len(subsets) == len(set(subsets)) == 63
    assert found.n_expanded_ == 64


def test_ranking_continues_with_what_adds_most():
    table = random_table(9, 5)
    found = fit_table(table)
    inside, rest = found.subset_.tolist(), found.order_[len(found.subset_) :]
    values = [naive.merit([*inside, j], table[:-1, -1], table) for j in rest]
    assert values == sorted(values, reverse=True)
    assert fit_table(table, n_features_to_select=4).support_.sum() == 4
    assert fit_table(table, n_features_to_select=0.9).support_.sum() == 8


# ---------------------------------------------------------------------------------- real data


def uncertainties(X, y):
    codes = encode(X, bins="mdl", y=y)
    columns = [codes.column(j).tolist() for j in range(codes.n_features)]
    su = naive.symmetrical_uncertainty
    relevance = [su(column, list(y)) for column in columns]
    return relevance, [[su(a, b) for b in columns] for a in columns]


def test_vertebral_column(data_dir):
    data = pd.read_csv(data_dir / "vertebral_2c.csv.gz")
    X, y = data.drop(columns="target"), data["target"]
    relevance, table = uncertainties(X, y)
    for search in SEARCHES:
        found = CFS(search=search).fit(X, y)
        assert found.subset_.tolist() == [5], search  # the published result
        np.testing.assert_allclose(found.scores_, relevance, atol=1e-12)
    assert naive.exhaustive(relevance, table)[0] == [5]


@pytest.mark.parametrize("name", ["pima", "vertebral_3c", "corral", "heart_cleveland"])
def test_best_first_reaches_the_optimum_on_tables(data_dir, name):
    data = pd.read_csv(data_dir / f"{name}.csv.gz")
    X, y = data.drop(columns="target"), data["target"]
    best = CFS(search="exhaustive").fit(X, y)
    relevance, table = uncertainties(X, y)
    assert best.merit_ == pytest.approx(naive.exhaustive(relevance, table)[1], abs=1e-10)
    found = CFS().fit(X, y)
    assert found.merit_ == pytest.approx(best.merit_, abs=1e-12)


def test_breast_cancer_equals_the_plain_search():
    X, y = load_breast_cancer(return_X_y=True)
    relevance, table = uncertainties(X, y)
    subset, value = naive.best_first(relevance, table)
    found = CFS().fit(X, y)
    assert sorted(found.subset_) == subset
    assert found.merit_ == pytest.approx(value, abs=1e-10)


def test_regression_uses_correlation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    X[:, 4] = X[:, 0] + 1e-3 * rng.normal(size=200)
    X[:, 7] = 3.0
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=200)
    found = CFS(search="exhaustive").fit(X, y)
    assert sorted(found.subset_) in ([0, 1], [1, 4])
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.nan_to_num(np.abs(np.corrcoef(X.T, y)[-1, :-1]))
    np.testing.assert_allclose(found.scores_, expected, atol=1e-12)
    assert found.order_[-1] == 7
    counts = np.rint(5 * y).astype(int)
    whole = CFS(task="regression").fit(X, counts)
    assert sorted(whole.subset_) == sorted(CFS().fit(X, counts + 0.5).subset_)


def test_n_from_two_to_a_thousand():
    rng = np.random.default_rng(1)
    for n in (2, 3, 10, 63, 64, 65, 1000):
        y = np.arange(n) % 2
        X = np.column_stack([y, rng.integers(0, 2, n), np.zeros(n), y])
        found = CFS(bins=None).fit(X, y)
        assert found.subset_.tolist() == [0]
        assert found.merit_ == pytest.approx(1.0)
        assert found.scores_[2] == 0.0


def test_nothing_to_find():
    with pytest.warns(UserWarning, match="CFS found no relevant feature"):
        found = CFS().fit(np.zeros((10, 3)), [0, 1] * 5)
    assert found.support_.tolist() == [False, False, False]
    assert found.merit_ == 0.0
    assert found.subset_.tolist() == []
    with pytest.warns(UserWarning, match="CFS found no relevant feature"):
        assert CFS(2).fit(np.zeros((10, 3)), [0, 1] * 5).support_.sum() == 2


def test_missing_values_are_values():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [1.0, 1.0], [2.0, 2.0]] * 5)
    found = CFS(bins=None).fit(X, [0, 0, 1, 1] * 5)
    assert found.subset_.tolist() == [0]
    expected = naive.symmetrical_uncertainty([9, 9, 1, 2] * 5, [0, 0, 1, 1] * 5)
    assert found.scores_[0] == pytest.approx(expected)
    assert found.transform(X).shape == (20, 1)


def test_a_copy_of_the_only_feature_gains_nothing():
    y = np.repeat([0, 1], 20)
    x = np.where(np.arange(40) % 7 == 0, 1 - y, y)
    found = CFS(bins=None, search="exhaustive").fit(np.column_stack([x, x]), y)
    assert found.subset_.tolist() == [0]
    both = merit([0, 1], found.scores_, np.ones((2, 2)))
    assert both == pytest.approx(found.merit_)


# ------------------------------------------------------------------------------ as an estimator


@pytest.mark.parametrize(
    "selector",
    [CFS(), CFS(search="forward", bins="mean_std"), CFS(correlation="pearson")],
    ids=str,
)
def test_scikit_learn_checks(selector):
    assert_every_check_passes(selector)


def test_containers():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = CFS().fit(X, y)
    assert found.selection_.selected == [X.columns[j] for j in found.subset_]
    assert isinstance(found.transform(X), pd.DataFrame)
    same = CFS().fit(to_polars(X), pl.Series(y))
    assert isinstance(same.transform(to_polars(X)), pl.DataFrame)
    packed = CFS().fit(sparse.csr_matrix(X.to_numpy()), y)
    for other in (same, packed):
        assert other.order_.tolist() == found.order_.tolist()


def test_text_columns_are_categories():
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": range(20)})
    assert CFS().fit(frame, ["u", "v"] * 10).selection_.selected == ["a"]


def test_pipeline_and_grid_search():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(CFS(), GaussianNB())
    grid = GridSearchCV(pipe, {"cfs__search": ["best_first", "forward"]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.93


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"correlation": np.eye(3)}, r"shape \(3, 3\).*shape \(5, 5\)"),
        ({"correlation": -np.ones((5, 5))}, "negative"),
        ({"correlation": np.triu(np.ones((5, 5)))}, "not symmetric"),
        ({"correlation": "spearman"}, "correlation"),
        ({"stale": 0}, "stale"),
        ({"search": "random"}, "search"),
        ({"merit": "mine"}, "merit"),
        ({"n_features_to_select": 5}, "exceeds the 4 features"),
        ({"n_features_to_select": 0.0}, "n_features_to_select"),
        ({"bins": "many"}, "bins"),
    ],
)
def test_bad_parameters(params, match):
    X = np.random.default_rng(0).normal(size=(10, 4))
    with pytest.raises(ValueError, match=match):
        CFS(**params).fit(X, [0, 1] * 5)


@pytest.mark.parametrize(
    ("params", "X", "y", "match"),
    [
        ({}, np.zeros((4, 2)), None, "y is None"),
        ({}, np.zeros((4, 2)), [0, 1], "inconsistent numbers"),
        ({}, np.zeros((4, 2)), [0, 0, 0, 0], "one class only"),
        (
            {"correlation": "symmetrical_uncertainty"},
            np.zeros((4, 2)),
            [0.5, 1.5, 2.5, 3.1],
            "continuous",
        ),
        ({"correlation": "pearson"}, np.full((4, 2), np.nan), [0, 1, 0, 1], "contains NaN"),
        ({}, np.full((4, 2), np.inf), [0, 1, 0, 1], "infinity"),
        ({"correlation": "pearson"}, [["a", "b"], ["c", "d"]], [0, 1], "text"),
    ],
)
def test_bad_data(params, X, y, match):
    with pytest.raises(ValueError, match=match):
        CFS(**params).fit(X, y)
