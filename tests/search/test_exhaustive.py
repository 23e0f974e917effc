"""ExhaustiveSearch against loops, and the behaviour that all searches share."""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from tamiz.search import ExhaustiveSearch, HoldOut
from tamiz.search.exhaustive import count_by_size, fillings, in_words, subsets_of_size
from tamiz.svm import SVC
from tamiz.validation import check_units
from tests.checks import assert_every_check_passes
from tests.frames import to_polars
from tests.naive import search_strategies as naive
from tests.search.cases import Table, linear_machine, marks, selected

# ------------------------------------------------------------------------------ worked example 5


def test_leave_one_out_errors_of_all_subsets(d8):
    search = ExhaustiveSearch(linear_machine(), cv="loo").fit(d8.X, d8.y)
    errors = {step.features: round(8 * (1 - step.value)) for step in marks(search, "visit")}
    assert errors == {
        (0,): 0, (1,): 3, (2,): 8, (0, 1): 0, (0, 2): 0, (1, 2): 4, (0, 1, 2): 0
    }  # fmt: skip
    assert selected(search) == (0,)
    assert search.best_score_ == 1.0


def test_two_people_changed(d8):
    d8.X[3, :2], d8.X[4, :2] = (165, 78), (149, 85)
    search = ExhaustiveSearch(linear_machine(), n_features_to_select=1, cv="loo")
    search.fit(d8.X[:, :2], d8.y)
    assert {s.features: 8 * (1 - s.value) for s in marks(search, "visit")} == {(0,): 2, (1,): 0}
    assert selected(search) == (1,)


# ------------------------------------------------------------------------------ loops


@pytest.mark.parametrize("levels", [None, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_loops_find(seed, levels):
    table = Table(6, seed, levels)
    assert selected(table.fit(ExhaustiveSearch)) == naive.exhaustive(table.score, 6, range(1, 7))
    for size in range(1, 7):
        found = table.fit(ExhaustiveSearch, n_features_to_select=size)
        assert selected(found) == naive.exhaustive(table.score, 6, [size])
        assert found.n_subsets_ == found.n_evaluations_ == comb(6, size)
    some = table.fit(ExhaustiveSearch, min_features=2, max_features=4)
    assert selected(some) == naive.exhaustive(table.score, 6, range(2, 5))
    assert {len(step.features) for step in marks(some, "visit")} == {2, 3, 4}


def test_no_subset_is_judged_twice():
    table = Table(7, 0)
    found = table.fit(ExhaustiveSearch)
    assert len(table.asked) == len(set(table.asked)) == found.n_subsets_ == 2**7 - 1


def test_the_curve_holds_the_best_of_each_size():
    table = Table(5, 3)
    found = table.fit(ExhaustiveSearch)
    assert [point["n_features"] for point in found.curve_] == [1, 2, 3, 4, 5]
    for point in found.curve_:
        best = naive.exhaustive(table.score, 5, [point["n_features"]])
        assert tuple(point["features"].tolist()) == best
        assert point["score"] == table.score(best)
    assert [s.features for s in marks(found, "best")] == [
        tuple(point["features"].tolist()) for point in found.curve_
    ]


def test_groups_and_fixed_features():
    table = Table(7, 1)
    groups, fixed = [[1, 4], [2, 3, 6]], [5]
    found = table.fit(ExhaustiveSearch, feature_groups=groups, fixed_features=fixed)
    allowed = [
        tuple(sorted({5, *chain(*chosen)}))
        for size in range(4)
        for chosen in combinations([[0], *groups], size)
    ]
    assert sorted(tuple(s.features) for s in marks(found, "visit")) == sorted(allowed)
    assert selected(found) == max(allowed, key=table.score)
    exact = table.fit(
        ExhaustiveSearch, feature_groups=groups, fixed_features=fixed, n_features_to_select=4
    )
    assert {s.features for s in marks(exact, "visit")} == {(0, 1, 4, 5), (2, 3, 5, 6)}
    with pytest.raises(ValueError, match="no union of feature_groups"):
        table.fit(
            ExhaustiveSearch,
            feature_groups=[[0, 1], [2, 3], [4, 5, 6]],
            n_features_to_select=1,
        )


@pytest.mark.parametrize("seed", range(5))
def test_counting_and_listing_agree_with_loops(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 6).tolist()
    edges = np.concatenate([[0], np.cumsum(sizes)])
    groups = [list(range(a, b)) for a, b in pairwise(edges)]
    units = check_units(groups, None, int(edges[-1]))
    counts = count_by_size(units)
    for total in range(int(edges[-1]) + 1):
        loops = sorted(
            chosen
            for k in range(7)
            for chosen in combinations(range(6), k)
            if sum(sizes[i] for i in chosen) == total
        )
        assert list(fillings(sizes, total)) == loops
        assert counts[total] == len(loops)
        listed = [tuple(np.flatnonzero(s).tolist()) for s in subsets_of_size(units, total)]
        assert listed == loops


def test_one_standard_error_takes_the_smallest_subset_close_to_the_best():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 5)) + np.outer(y, [1.5, 0.5, 0.5, 0.0, 0.0])
    found = ExhaustiveSearch(GaussianNB(), n_features_to_select="1se", cv=10).fit(X, y)
    best = max(found.curve_, key=lambda point: point["score"])
    least = best["score"] - best["standard_error"]
    smallest = min(p["n_features"] for p in found.curve_ if p["score"] >= least)
    assert found.support_.sum() == smallest < best["n_features"]


# ------------------------------------------------------------------------------ foretelling


def test_the_number_of_subsets_and_the_time_are_reported():
    table = Table(8, 0)
    found = table.fit(ExhaustiveSearch)
    notes = found.selection_.notes
    assert notes["n_subsets"] == 255
    assert found.estimated_seconds_ == notes["estimated_seconds"] >= 0


def test_the_time_foretold_grows_with_the_size_of_the_subsets(clock):
    class Slow(Table):
        def __call__(self, X, y):
            clock.now += 0.001 * X.shape[1]
            return super().__call__(X, y)

    found = Slow(7, 0).fit(ExhaustiveSearch)
    true = 0.001 * sum(k * comb(7, k) for k in range(8))
    assert 0.9 * true < found.estimated_seconds_ < 4 * true


def test_too_many_subsets_are_refused():
    X, y = np.random.default_rng(0).random((30, 40)), np.arange(30) % 2
    with pytest.raises(ValueError, match=r"1,099,511,627,775 subsets of 40 units.*limit=100,000"):
        ExhaustiveSearch().fit(X, y)
    with pytest.raises(ValueError, match="780 subsets"):
        ExhaustiveSearch(n_features_to_select=2, limit=700).fit(X, y)
    table = Table(5, 0)
    assert table.fit(ExhaustiveSearch, limit=None).n_subsets_ == 31


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (100, "100 s"), (600, "10 min"), (1e4, "3 h"), (1e6, "12 days")],
)
def test_times_in_words(seconds, text):
    assert in_words(seconds) == text


def test_the_progress_line_says_how_many(capsys, clock):
    class Slow(Table):
        def __call__(self, X, y):
            clock.now += 3.0
            return super().__call__(X, y)

    Slow(3, 0).fit(ExhaustiveSearch, verbose=2)
    assert "of 7, about 21 s in all" in capsys.readouterr().err


# ------------------------------------------------------------------------------ bad wishes


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_features_to_select": 9}, "n_features_to_select=9 exceeds the 5 features"),
        ({"min_features": 6}, "min_features=6 leaves nothing"),
        ({"min_features": 3, "n_features_to_select": 2}, "cannot both hold"),
        ({"max_features": 2, "n_features_to_select": 3}, "cannot both hold"),
        ({"fixed_features": [0, 1], "n_features_to_select": 1}, "cannot both hold"),
        ({"fixed_features": range(5)}, "every feature is fixed"),
        ({"limit": 0}, "limit"),
    ],
)
def test_impossible_wishes_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        Table(5, 0).fit(ExhaustiveSearch, **params)


# ------------------------------------------------------------------------------ kinds of data


def test_kinds_of_tables_give_the_same():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    judge = SVC(kernel="linear")
    plain = ExhaustiveSearch(judge, fixed_features=[1]).fit(X, y)
    for table in (frame, to_polars(frame)):
        found = ExhaustiveSearch(judge, fixed_features=["b"]).fit(table, y)
        assert selected(found) == selected(plain)
        assert list(found.transform(table).columns) == [
            c for c, s in zip("abcd", found.support_, strict=True) if s
        ]
        assert type(found.transform(table)) is type(table)
        assert found.predict(table).tolist() == plain.predict(X).tolist()
    thin = ExhaustiveSearch(judge, fixed_features=[1]).fit(sparse.csr_matrix(X), y)
    assert selected(thin) == selected(plain)
    assert thin.best_score_ == pytest.approx(plain.best_score_)


def test_regression():
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :5]
    found = ExhaustiveSearch(Ridge(0.01), scoring="neg_mean_squared_error").fit(X, y)
    scores = {
        subset: cross_val_score(
            Ridge(0.01), X[:, subset], y, cv=5, scoring="neg_mean_squared_error"
        ).mean()
        for size in range(1, 6)
        for subset in combinations(range(5), size)
    }
    assert selected(found) == max(scores, key=scores.get)
    assert found.best_score_ == pytest.approx(max(scores.values()))
    assert found.predict(X).shape == y.shape


def test_workers_do_not_change_the_answer():
    X, y = load_iris(return_X_y=True)
    one, two = (ExhaustiveSearch(n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.order_.tolist() == two.order_.tolist()
    assert [s[:4] for s in one.selection_.path] == [s[:4] for s in two.selection_.path]


def test_scikit_learn_checks():
    # one subset a fit: the checks are about the interface, and make some two hundred fits
    assert_every_check_passes(
        ExhaustiveSearch(GaussianNB(), n_features_to_select=1.0, cv=HoldOut(0.4, random_state=0))
    )
