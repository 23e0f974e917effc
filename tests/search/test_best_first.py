"""BestFirst against a list that is searched through every time."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

from tamiz.filters import CFS
from tamiz.search import BestFirst, ForwardSelection, HoldOut
from tests.checks import assert_every_check_passes
from tests.naive import search_strategies as naive
from tests.search.cases import Table, marks, selected


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


class ByNumber:
    """J by the number of features alone."""

    def __init__(self, value):
        self.value = value

    def __call__(self, X, y):
        return float(self.value(X.shape[1]))

    def fit(self, p, **params):
        X = np.tile(np.arange(float(p)), (4, 1))
        return BestFirst(criterion=self, **params).fit(X, [0, 1, 0, 1])


def fewer(n):
    return -n


def more(n):
    return n


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_a_number_is_reached_soon_even_if_every_feature_costs(direction):
    """The best open subsets are all small; the patience counts none the less."""
    found = ByNumber(fewer).fit(14, n_features_to_select=7, direction=direction)
    assert found.support_.sum() == 7
    assert found.n_evaluations_ < 14 * 7 + 5 * 14
    assert len(marks(found, "complete")) > 0
    down = ByNumber(more).fit(14, n_features_to_select=7, direction="backward")
    assert down.support_.sum() == 7
    assert down.n_evaluations_ < 14 * 7 + 5 * 14


def test_the_number_is_completed_from_the_best_subset_of_the_nearest_size():
    class Costly(Table):
        def score(self, subset):
            return super().score(subset) - len(subset)

        def __call__(self, X, y):
            return super().__call__(X, y) - X.shape[1]

    table = Costly(9, 0)
    found = table.fit(BestFirst, n_features_to_select=6, patience=1)
    steps = marks(found, "complete")
    first = steps[0].features
    known = []
    for step in found.selection_.path:  # judged before that
        if step is steps[0]:
            break
        known.append(tuple(step.features))
    largest = max(map(len, known))
    assert tuple(first) == max((s for s in known if len(s) == largest), key=table.score)
    current = tuple(first)
    while len(current) < 6:
        bigger = [tuple(sorted((*current, j))) for j in range(9) if j not in current]
        current = max(bigger, key=table.score)
    assert selected(found) == current
    assert [len(s.features) for s in steps] == list(range(largest, 6))


def test_a_limit_far_from_the_start_is_reached_soon():
    found = ByNumber(more).fit(14, max_features=4, direction="backward")
    assert found.support_.sum() == 4
    assert found.n_evaluations_ < 14 * 14


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("d", range(2, 9))
def test_with_groups_a_number_is_the_largest_allowed(direction, d):
    table = Table(8, 3)
    params = {"feature_groups": [[0, 5, 6], [1, 2], [3, 4]], "direction": direction}
    found = table.fit(BestFirst, n_features_to_select=d, patience=10**6, **params)
    allowed = [
        tuple(sorted(chain(*chosen)))
        for k in range(1, 5)
        for chosen in combinations([[0, 5, 6], [1, 2], [3, 4], [7]], k)
    ]
    assert selected(found) == max((s for s in allowed if len(s) <= d), key=table.score)
    quick = table.fit(BestFirst, n_features_to_select=d, patience=1, **params)
    assert 0 < quick.support_.sum() <= d


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("value", [fewer, more])
def test_seven_pairs_and_five_features(direction, value):
    pairs = [[2 * k, 2 * k + 1] for k in range(7)]
    found = ByNumber(value).fit(
        14, n_features_to_select=5, feature_groups=pairs, direction=direction
    )
    assert found.support_.sum() in (2, 4)
    with pytest.raises(ValueError, match="every group of features is larger than the 1 features"):
        ByNumber(value).fit(14, n_features_to_select=1, feature_groups=pairs, direction=direction)


def test_the_only_feature_that_fits_is_not_dropped_on_the_way_down():
    def without_the_last(X, y):
        return -float((X[0] == 6).any())

    X, y = np.tile(np.arange(7.0), (4, 1)), [0, 1, 0, 1]
    found = BestFirst(
        criterion=without_the_last,
        feature_groups=[[0, 1, 2], [3, 4, 5]],
        n_features_to_select=2,
        direction="backward",
        patience=1,
    ).fit(X, y)
    assert selected(found) == (6,)
    assert found.best_score_ == -1.0


def test_a_start_without_a_group_that_fits_is_refused():
    groups = {"feature_groups": [[0, 1, 2], [3, 4, 5], [6]], "start": [0, 1, 2, 3, 4, 5]}
    for direction in ("backward", "both"):
        with pytest.raises(ValueError, match="of start is larger than the 2 features"):
            ByNumber(more).fit(7, n_features_to_select=2, direction=direction, **groups)
    fixed = ByNumber(more).fit(
        8, n_features_to_select=2, direction="both", fixed_features=[7], **groups
    )
    assert selected(fixed) == (6, 7)


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("groups", [None, [[0, 1], [2, 3], [4, 5]]])
@pytest.mark.parametrize("stop_after", [1, 3, 6])
def test_an_interruption_never_gives_more_than_asked_for(direction, groups, stop_after):
    table = Table(7, 1, stop_after=stop_after)
    start = None if direction == "forward" else range(7)
    with pytest.warns(ConvergenceWarning, match="interrupted after") as caught:
        found = table.fit(
            BestFirst,
            n_features_to_select=3,
            direction=direction,
            feature_groups=groups,
            start=start,
        )
    assert 0 < found.support_.sum() <= 3
    said = [str(w.message) for w in caught]
    if selected(found) not in table.asked:
        assert found.best_score_ is None
        assert any("a part of a larger subset" in text for text in said)
    else:
        assert found.best_score_ == table.score(selected(found))
        assert len(said) == 1
        assert ("instead of 3" in said[0]) == (found.support_.sum() < 3)


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
    assert_every_check_passes(
        BestFirst(GaussianNB(), patience=1, max_features=2, cv=HoldOut(0.4, random_state=0))
    )
