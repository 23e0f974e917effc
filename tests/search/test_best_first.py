"""BestFirst against a list that is searched through every time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

from tamiz.filters import CFS
from tamiz.search import BestFirst, ForwardSelection
from tests.naive import search_strategies as naive
from tests.search.cases import Table, marks, run_checks, selected


@pytest.mark.parametrize("levels", [None, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_loops_find(seed, levels):
    table = Table(6, seed, levels)
    for patience in (1, 3, 5):
        for direction in ("forward", "both"):
            found = table.fit(BestFirst, patience=patience, direction=direction)
            expected, judged = naive.best_first(table.score, 6, patience, direction == "both")
            assert selected(found) == expected
            assert found.n_evaluations_ == judged
            assert found.n_expanded_ <= judged


def test_endless_patience_sees_everything():
    table = Table(5, 0)
    for direction in ("forward", "backward", "both"):
        found = table.fit(BestFirst, patience=10**6, direction=direction)
        assert found.n_evaluations_ == 31
        assert selected(found) == naive.exhaustive(table.score, 5, range(1, 6))
        assert found.n_expanded_ in (31, 32)  # the empty subset too


@pytest.mark.parametrize("seed", range(10))
def test_it_is_at_least_as_good_as_the_climb(seed):
    """Forward selection that stops at the first round without gain is its beginning."""
    table = Table(7, seed)
    climb = table.fit(ForwardSelection, patience=1)
    found = table.fit(BestFirst)
    assert found.best_score_ >= climb.best_score_


def test_no_subset_is_judged_twice():
    table = Table(7, 0)
    found = table.fit(BestFirst, direction="both")
    assert len(table.asked) == len(set(table.asked)) == found.n_evaluations_


def test_the_best_open_subset_is_expanded():
    table = Table(6, 2)
    found = table.fit(BestFirst, patience=4)
    known, expanded = set(), set()
    for step in found.selection_.path:
        if step.action == "visit":
            known.add(step.features)
        else:
            waiting = known - expanded
            assert step.value == max(table.score(s) for s in waiting)
            expanded.add(step.features)
    assert len(expanded) + 1 == found.n_expanded_ == found.selection_.notes["n_expanded"]


def test_patience_and_tolerance():
    class Ladder(Table):
        def score(self, subset):
            return 0.125 * len(subset)

        def __call__(self, X, y):
            return self.score(X[0])

    table = Ladder(6, 0)
    assert table.fit(BestFirst, tol=0.0).support_.all()
    # two steps of 0.125 do not count, so the search ends after the third subset
    assert table.fit(BestFirst, tol=0.3, patience=2).n_expanded_ == 3
    assert table.fit(BestFirst, tol=0.1).support_.all()


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("d", range(1, 7))
def test_a_number_of_features(direction, d):
    table = Table(6, 4)
    found = table.fit(BestFirst, direction=direction, n_features_to_select=d, patience=10**6)
    assert selected(found) == naive.exhaustive(table.score, 6, [d])
    quick = table.fit(BestFirst, direction=direction, n_features_to_select=d)
    assert quick.support_.sum() == d
    sizes = {len(step.features) for step in marks(found, "visit")}
    if direction == "forward":
        assert max(sizes) == d
    if direction == "backward":
        assert min(sizes) == d


def test_a_start_and_the_largest_number():
    table = Table(6, 3)
    found = table.fit(BestFirst, start=[2, 5], direction="both")
    assert marks(found, "visit")[0].features == (2, 5)
    small = table.fit(BestFirst, max_features=2, patience=50)
    assert max(len(s.features) for s in marks(small, "visit")) == 2
    back = table.fit(BestFirst, direction="backward", max_features=2, patience=10**6)
    assert selected(back) == naive.exhaustive(table.score, 6, [1, 2])


def test_one_standard_error():
    rng = np.random.default_rng(5)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 5)) + np.outer(y, [1.5, 0.5, 0.5, 0.0, 0.0])
    found = BestFirst(GaussianNB(), n_features_to_select="1se", cv=10).fit(X, y)
    best = max(found.curve_, key=lambda point: point["score"])
    least = best["score"] - best["standard_error"]
    assert found.support_.sum() == min(p["n_features"] for p in found.curve_ if p["score"] >= least)


def test_groups_and_fixed_features():
    table = Table(6, 3)
    found = table.fit(BestFirst, feature_groups=[[0, 1], [2, 3]], fixed_features=[5], patience=50)
    for step in marks(found, "visit"):
        inside = set(step.features)
        assert 5 in inside
        assert {0, 1} <= inside or not {0, 1} & inside
    assert found.n_evaluations_ == 8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"start": [], "direction": "backward"}, "nothing to remove"),
        ({"start": [0, 1, 2], "max_features": 2}, "a forward search only adds"),
        ({"start": [0, 1, 2], "n_features_to_select": 2}, "cannot come to n_features_to_select=2"),
        (
            {"start": [0], "n_features_to_select": 2, "direction": "backward"},
            "a backward search cannot come to",
        ),
        ({"patience": 0}, "patience"),
        ({"direction": "up"}, "direction"),
        ({"n_features_to_select": 7}, "exceeds the 5 features"),
    ],
)
def test_impossible_wishes_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        Table(5, 0).fit(BestFirst, **params)


@pytest.mark.parametrize("stop_after", [1, 4, 8, 13])
def test_an_interruption_keeps_the_best_so_far(stop_after):
    table = Table(6, 1, stop_after=stop_after)
    with pytest.warns(ConvergenceWarning, match=f"interrupted after {stop_after} subsets"):
        found = table.fit(BestFirst)
    assert selected(found) in table.asked
    if stop_after >= 6:  # a whole expansion
        assert table.score(selected(found)) == max(p["score"] for p in found.curve_)


def test_the_same_search_as_in_cfs():
    """With the merit of CFS as the criterion it finds what the filter of that name finds."""
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.random.default_rng(0).random((150, 4))])
    inside = CFS(correlation="pearson").fit(X, y)
    from tamiz.filters.cfs import merit

    table = np.abs(np.corrcoef(X, y, rowvar=False))

    def criterion(Z, _):
        chosen = [int(np.flatnonzero((Z[:, [k]] == X).all(axis=0))[0]) for k in range(Z.shape[1])]
        return merit(chosen, inside.scores_, table[:8, :8])

    found = BestFirst(criterion=criterion).fit(X, y)
    assert found.best_score_ == pytest.approx(inside.merit_)
    assert selected(found) == tuple(sorted(inside.subset_.tolist()))


def test_workers_do_not_change_the_answer():
    X, y = load_iris(return_X_y=True)
    one, two = (BestFirst(n_jobs=n, cv=3).fit(X, y) for n in (1, 2))
    assert [s[:4] for s in one.selection_.path] == [s[:4] for s in two.selection_.path]


def test_scikit_learn_checks():
    done = run_checks(
        "BestFirst(GaussianNB(), patience=1, max_features=3, cv=HoldOut(0.4, random_state=0))"
    )
    assert done.returncode == 0, done.stderr
