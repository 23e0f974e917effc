"""Forward selection and backward elimination: worked examples, loops, floating, ends, kinds."""

from __future__ import annotations

import importlib.util

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.data import load
from tamiz.search import BackwardElimination, BestFirst, ExhaustiveSearch, ForwardSelection, HoldOut
from tamiz.svm import SVC, SVR
from tests.checks import assert_every_check_passes
from tests.frames import to_polars
from tests.naive import search_strategies as naive
from tests.search.cases import ROOT, Table, linear_machine, marks, selected

BOTH = pytest.mark.parametrize("search", [ForwardSelection, BackwardElimination])


def curve(search):
    return [tuple(point["features"].tolist()) for point in search.curve_]


# ------------------------------------------------------------------------------ worked example 6


def test_forward_to_two_on_eight_people(d8):
    search = ForwardSelection(linear_machine(), n_features_to_select=2, cv="loo").fit(d8.X, d8.y)
    errors = [(s.features, round(8 * (1 - s.value))) for s in marks(search, "visit")]
    assert errors == [((0,), 0), ((1,), 3), ((2,), 8), ((0, 1), 0), ((0, 2), 0)]
    assert [s.features for s in marks(search, "add")] == [(0,), (1,)]  # the tie to the first
    assert search.order_.tolist() == [0, 1, 2]
    best = ForwardSelection(linear_machine(), cv="loo").fit(d8.X, d8.y)
    assert selected(best) == (0,)  # the rest adds nothing


@pytest.mark.parametrize("order", [[0, 1, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0]])
def test_backward_to_one_ends_with_the_height_whichever_tie_is_taken(d8, order):
    search = BackwardElimination(linear_machine(), n_features_to_select=1, cv="loo")
    search.fit(d8.X[:, order], d8.y)
    assert [order[j] for j in selected(search)] == [0]
    first = marks(search, "drop")[0]
    assert order[first.features[0]] == next(j for j in order if j != 0)
    assert first.value == search.best_score_ == 1.0


def test_two_people_changed(d8):
    d8.X[3, :2], d8.X[4, :2] = (165, 78), (149, 85)
    search = ForwardSelection(linear_machine(), n_features_to_select=1, cv="loo")
    search.fit(d8.X[:, :2], d8.y)
    assert [8 * (1 - s.value) for s in marks(search, "visit")] == [2, 0]
    assert selected(search) == (1,)


# ------------------------------------------------------------------------------ loops


@pytest.mark.parametrize("levels", [None, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_they_walk_as_loops_do(seed, levels):
    table = Table(6, seed, levels)
    up, down = table.fit(ForwardSelection), table.fit(BackwardElimination)
    assert curve(up) == naive.forward(table.score, 6, 6)
    assert curve(down)[::-1] == naive.backward(table.score, 6, 1)
    for found in (up, down):
        assert found.best_score_ == max(table.score(s) for s in curve(found))
        assert selected(found) == naive_choice(table, curve(found))
        assert found.n_evaluations_ == 6 * 7 // 2
    for size in range(1, 7):
        up = table.fit(ForwardSelection, n_features_to_select=size)
        down = table.fit(BackwardElimination, n_features_to_select=size)
        assert selected(up) == naive.forward(table.score, 6, size)[-1]
        assert selected(down) == naive.backward(table.score, 6, size)[-1]


def naive_choice(table, subsets):
    best, choice = -np.inf, None
    for subset in sorted(subsets, key=len):
        if table.score(subset) > best:
            best, choice = table.score(subset), subset
    return choice


@BOTH
def test_no_subset_is_judged_twice(search):
    for floating in (False, True):
        table = Table(7, 0)
        found = table.fit(search, floating=floating)
        assert len(table.asked) == len(set(table.asked)) == found.n_evaluations_


def test_the_order_is_that_of_the_steps():
    table = Table(7, 4)
    up = table.fit(ForwardSelection)
    assert up.order_.tolist() == [s.features[0] for s in marks(up, "add")]
    down = table.fit(BackwardElimination)
    dropped = [s.features[0] for s in marks(down, "drop")]
    assert down.order_.tolist()[:0:-1] == dropped


def test_the_others_follow_by_their_value_in_the_last_round():
    table = Table(7, 5)
    up = table.fit(ForwardSelection, n_features_to_select=3)
    before, after = naive.forward(table.score, 7, 3)[-2:]
    outside = [j for j in range(7) if j not in after]
    value = {j: table.score(sorted((*before, j))) for j in outside}
    assert up.order_.tolist()[3:] == sorted(outside, key=lambda j: -value[j])
    down = table.fit(BackwardElimination, n_features_to_select=3)
    before, after = naive.backward(table.score, 7, 3)[-2:]
    value = {j: table.score([k for k in before if k != j]) for j in after}
    assert down.order_.tolist()[:3] == sorted(after, key=lambda j: value[j])


def test_a_start():
    table = Table(6, 2)
    up = table.fit(ForwardSelection, start=[4, 1])
    assert curve(up) == naive.forward(table.score, 6, 6, start=[1, 4])
    assert set(up.order_[:2].tolist()) == {1, 4}
    assert marks(up, "start")[0].features == (1, 4)
    down = table.fit(BackwardElimination, start=[0, 2, 3, 5], n_features_to_select=2)
    assert set(down.order_[-2:].tolist()) == {1, 4}
    assert set(selected(down)) < {0, 2, 3, 5}
    mask = np.isin(np.arange(6), [1, 4])
    assert curve(table.fit(ForwardSelection, start=mask)) == curve(up)


# ------------------------------------------------------------------------------ floating


@BOTH
@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("seed", range(12))
def test_floating_is_nowhere_worse_than_plain(search, seed, levels):
    p = 3 + seed % 6
    table = Table(p, seed, levels)
    plain, floating = table.fit(search), table.fit(search, floating=True)
    assert [len(s) for s in curve(floating)] == list(range(1, p + 1))
    for a, b in zip(plain.curve_, floating.curve_, strict=True):
        assert b["score"] >= a["score"]
    assert floating.best_score_ >= plain.best_score_
    for d in range(1, p + 1):
        a = table.fit(search, n_features_to_select=d)
        b = table.fit(search, n_features_to_select=d, floating=True)
        assert b.support_.sum() == d
        assert b.best_score_ >= a.best_score_


@BOTH
def test_floating_is_sometimes_better(search):
    gains = []
    for seed in range(20):
        table = Table(7, seed)
        plain, floating = table.fit(search), table.fit(search, floating=True)
        gains.append(
            sum(b["score"] > a["score"] for a, b in zip(plain.curve_, floating.curve_, strict=True))
        )
        back = "drop" if search is ForwardSelection else "add"
        assert bool(marks(floating, back)) <= (gains[-1] > 0)
    assert sum(g > 0 for g in gains) > 10


@BOTH
def test_floating_leaves_no_step_that_would_improve_a_size(search):
    """At the end no single step back from the best of a size gives a better one of the next."""
    table = Table(7, 11)
    best = {len(s): s for s in curve(table.fit(search, floating=True))}
    growing = search is ForwardSelection
    for size, subset in best.items():
        for j in range(7):
            if (j in subset) == growing and 1 < size < 7:
                other = tuple(sorted(set(subset) ^ {j}))
                assert table.score(other) <= table.score(best[len(other)])


def test_floating_keeps_fixed_features_and_may_drop_the_start():
    """Only the start is bad here: a floating search gets rid of it."""

    def without_start(X, y):
        return -10.0 * (X[0] == 0).any() + X.shape[1]

    X, y = np.tile(np.arange(5.0), (4, 1)), np.array([0, 1, 0, 1])
    plain = ForwardSelection(criterion=without_start, start=[0], n_features_to_select=3)
    assert 0 in selected(plain.fit(X, y))
    floating = ForwardSelection(
        criterion=without_start, start=[0], n_features_to_select=3, floating=True
    )
    assert 0 not in selected(floating.fit(X, y))
    fixed = ForwardSelection(
        criterion=without_start, fixed_features=[0], n_features_to_select=3, floating=True
    )
    assert 0 in selected(fixed.fit(X, y))


# ------------------------------------------------------------------------------ ends


class Steps:
    """J by the number of features, whichever they are."""

    def __init__(self, *values):
        self.values = values
        self.X = np.random.default_rng(0).random((4, len(values)))

    def __call__(self, X, y):
        return self.values[X.shape[1] - 1]

    def fit(self, search, **params):
        return search(criterion=self, **params).fit(self.X, [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("params", "size", "seen"),
    [
        ({}, 4, 6),
        ({"n_features_to_select": "best"}, 4, 6),
        ({"patience": 1}, 2, 3),
        ({"patience": 2}, 4, 6),
        ({"tol": 0.1}, 2, 3),
        ({"tol": 0.2}, 1, 2),
        ({"tol": 0.15, "patience": 3}, 4, 6),
        ({"max_features": 3}, 2, 3),
    ],
)
def test_ends_of_forward_selection(params, size, seen):
    found = Steps(0.5, 0.625, 0.625, 0.75, 0.75, 0.5).fit(ForwardSelection, **params)
    assert found.support_.sum() == size
    assert len(found.curve_) == seen


@pytest.mark.parametrize(
    ("params", "size", "smallest_seen"),
    [
        ({}, 3, 1),
        ({"patience": 1}, 5, 4),
        ({"patience": 2}, 3, 1),
        ({"tol": 0.0}, 5, 4),
        ({"tol": 0.1}, 2, 1),
        ({"tol": 0.5}, 1, 1),
        ({"max_features": 2}, 2, 1),
        ({"max_features": 2, "patience": 1}, 2, 1),
    ],
)
def test_ends_of_backward_elimination(params, size, smallest_seen):
    found = Steps(0.5, 0.75, 0.8125, 0.6875, 0.75, 0.75).fit(BackwardElimination, **params)
    assert found.support_.sum() == size
    assert found.curve_[0]["n_features"] == smallest_seen


@BOTH
def test_one_standard_error(search):
    rng = np.random.default_rng(5)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 6)) + np.outer(y, [1.5, 0.5, 0.5, 0.0, 0.0, 0.0])
    found = search(GaussianNB(), n_features_to_select="1se", cv=10).fit(X, y)
    full = search(GaussianNB(), cv=10).fit(X, y)
    best = max(full.curve_, key=lambda point: (point["score"], -point["n_features"]))
    assert full.support_.sum() == best["n_features"]
    least = best["score"] - best["standard_error"]
    smallest = min(p["n_features"] for p in full.curve_ if p["score"] >= least)
    assert found.support_.sum() == smallest < best["n_features"]


@BOTH
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_features_to_select": 6}, "n_features_to_select=6 exceeds the 5 features"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": "most"}, "n_features_to_select"),
        ({"n_features_to_select": 2, "tol": 0.1}, "fixes the number of features"),
        ({"n_features_to_select": 2, "patience": 1}, "fixes the number of features"),
        ({"tol": -0.1}, "tol"),
        ({"start": [7]}, "start holds 7"),
        ({"start": ["a"]}, "start names 'a'"),
        ({"start": [0], "feature_groups": [[0, 1]]}, "a part of the group"),
        ({"max_features": 2, "fixed_features": [0, 1, 2]}, "max_features=2"),
        ({"resume": True}, "resume=True needs a file"),
    ],
)  # fmt: skip
def test_impossible_wishes_are_refused(search, params, message):
    with pytest.raises(ValueError, match=message):
        Table(5, 0).fit(search, **params)


def test_starts_on_the_wrong_side_are_refused():
    table = Table(5, 0)
    with pytest.raises(ValueError, match="hold 3 features, more than n_features_to_select=2"):
        table.fit(ForwardSelection, start=[0, 1, 2], n_features_to_select=2)
    with pytest.raises(ValueError, match="hold 3 features, more than max_features=2"):
        table.fit(ForwardSelection, start=[0, 1, 2], max_features=2)
    with pytest.raises(ValueError, match="hold 2 features, fewer than n_features_to_select=3"):
        table.fit(BackwardElimination, start=[0, 1], n_features_to_select=3)
    with pytest.raises(ValueError, match="nothing to remove"):
        table.fit(BackwardElimination, start=[])
    with pytest.raises(ValueError, match="every group of features is larger than the 1"):
        table.fit(ForwardSelection, feature_groups=[[0, 1], [2, 3, 4]], max_features=1)


# ------------------------------------------------------------------------------ groups


@BOTH
@pytest.mark.parametrize("floating", [False, True])
def test_groups_move_together_and_fixed_features_stay(search, floating):
    table = Table(7, 3)
    groups, fixed = [[1, 4], [2, 3, 6]], [5]
    found = table.fit(search, feature_groups=groups, fixed_features=fixed, floating=floating)
    for step in marks(found, "visit"):
        inside = set(step.features)
        assert 5 in inside
        assert all(inside >= set(g) or not inside & set(g) for g in groups)
    assert found.order_[0] == 5
    places = found.ranking_
    assert abs(places[1] - places[4]) == 1
    assert np.ptp(places[[2, 3, 6]]) == 2


@pytest.mark.parametrize("d", range(1, 8))
def test_with_groups_a_number_is_the_largest_allowed(d):
    table = Table(7, 3)
    groups = [[0, 1, 2], [3, 4]]
    up = table.fit(ForwardSelection, feature_groups=groups, n_features_to_select=d)
    down = table.fit(BackwardElimination, feature_groups=groups, n_features_to_select=d)
    assert 0 < up.support_.sum() <= d
    assert 0 < down.support_.sum() <= d
    room = d - up.support_.sum()
    left_out = [g for g in [*groups, [5], [6]] if not up.support_[g].any()]
    assert all(len(g) > room for g in left_out)


def test_only_fixed_features_may_be_the_answer():
    def fewer(X, y):
        return -X.shape[1]

    X, y = np.random.default_rng(0).random((6, 4)), [0, 1] * 3
    for search in (ForwardSelection, BackwardElimination):
        assert selected(search(criterion=fewer, fixed_features=[2]).fit(X, y)) == (2,)
        one = search(criterion=fewer, fixed_features=[2], n_features_to_select=1)
        assert selected(one.fit(X, y)) == (2,)


# ------------------------------------------------------------------------------ bad luck


class Fussy(ClassifierMixin, BaseEstimator):
    """Fails on tables with some number of columns."""

    def __init__(self, bad=(2,)):
        self.bad = bad

    def fit(self, X, y):
        if X.shape[1] in self.bad:
            raise ValueError(f"I do not like {X.shape[1]} columns")
        self.classes_ = np.unique(y)
        self.machine_ = GaussianNB().fit(X, y)
        return self

    def predict(self, X):
        return self.machine_.predict(X)


@BOTH
def test_an_estimator_that_fails_on_some_subsets(search):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="I do not like 2 columns"):
        search(Fussy()).fit(X, y)
    with pytest.warns(RuntimeWarning, match=r"of \d+ subsets could not be judged"):
        found = search(Fussy(), error_score="worst").fit(X, y)
    assert found.support_.sum() != 2
    assert np.isfinite(found.best_score_)
    assert sorted(found.order_.tolist()) == [0, 1, 2, 3]


@BOTH
def test_an_estimator_that_always_fails(search):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(RuntimeWarning, match="10 of 10 subsets could not be judged"):
        found = search(Fussy(bad=(1, 2, 3, 4)), error_score="worst").fit(X, y)
    assert found.best_score_ == -np.inf
    with pytest.raises(AttributeError) as caught:
        found.predict(X)
    assert "no estimator to predict with" in str(caught.value.__cause__)


def test_a_failed_fit_leaves_the_earlier_one():
    X, y = load_iris(return_X_y=True)
    found = ForwardSelection(GaussianNB(), n_features_to_select=1).fit(X, y)
    before = found.order_.copy()
    with pytest.raises(ValueError, match="NaN"):
        found.fit(np.full_like(X, np.nan), y)
    assert found.order_.tolist() == before.tolist()
    assert found.predict(X).shape == y.shape


def test_constant_features_and_copies():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([np.ones(150), X[:, 2], X[:, 2], X[:, 3]])
    found = ForwardSelection(SVC(kernel="linear"), cv=3).fit(X, y)
    assert not found.support_[0]
    assert found.support_[[1, 2]].sum() <= 1
    flat = ForwardSelection(SVC(kernel="linear"), cv=3).fit(np.ones((20, 3)), [0, 1] * 10)
    assert selected(flat) == (0,)


@BOTH
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("stop_after", [1, 2, 5, 9, 14, 21, 27])
def test_an_interruption_keeps_the_best_so_far(search, floating, stop_after):
    table = Table(6, 1, stop_after=stop_after)
    if stop_after >= table_size(search, floating):
        pytest.skip("over before the interruption")
    with pytest.warns(ConvergenceWarning, match=f"interrupted after {stop_after} subsets"):
        found = table.fit(search, floating=floating)
    assert found.status_ == found.selection_.notes["status"] == "interrupted"
    assert selected(found) in table.asked
    assert found.best_score_ == table.score(selected(found))
    rounds = np.cumsum([6, 5, 4, 3, 2, 1] if search is ForwardSelection else [1, 6, 5, 4, 3, 2])
    complete = rounds[rounds <= stop_after]
    if not floating and len(complete):  # at least as good as the last complete round tells
        assert found.best_score_ == max(table.score(s) for s in curve(found))


@pytest.mark.parametrize("params", [{"n_features_to_select": 2}, {"max_features": 2}])
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("stop_after", [1, 4, 8, 13])
def test_an_interrupted_elimination_gives_no_more_than_asked_for(params, floating, stop_after):
    table = Table(6, 1, stop_after=stop_after)
    with pytest.warns(ConvergenceWarning, match="the 2 selected are a part of a larger"):
        found = table.fit(BackwardElimination, floating=floating, **params)
    assert found.support_.sum() == 2
    assert found.best_score_ is None
    assert set(found.order_[:2].tolist()) == set(selected(found))


@pytest.mark.parametrize("groups", [None, [[0, 1]]])
@pytest.mark.parametrize("search", [ForwardSelection, BestFirst])
def test_an_interruption_in_the_first_round_leaves_a_curve(search, groups):
    table = Table(6, 1, stop_after=3)
    with pytest.warns(ConvergenceWarning, match="interrupted after 3 subsets"):
        found = table.fit(search, feature_groups=groups)
    for point in found.curve_:
        met = [s for s in table.asked if len(s) == point["n_features"]]
        assert tuple(point["features"].tolist()) == max(met, key=table.score)
    assert [p["n_features"] for p in found.curve_] == sorted({len(s) for s in table.asked})
    assert max(p["score"] for p in found.curve_) == found.best_score_


def test_an_interrupted_forward_selection_says_what_was_reached():
    table = Table(6, 1, stop_after=8)
    with pytest.warns(ConvergenceWarning, match="It has 1 feature instead of 4"):
        found = table.fit(ForwardSelection, n_features_to_select=4)
    assert selected(found) == naive.forward(table.score, 6, 1)[0]
    table = Table(6, 1, stop_after=8)
    with pytest.warns(ConvergenceWarning) as caught:
        table.fit(ForwardSelection, max_features=4)
    assert len(caught) == 1


def table_size(search, floating):
    table = Table(6, 1)
    table.fit(search, floating=floating)
    return len(table.asked)


def test_an_interruption_before_anything_was_judged_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        Table(4, 0, stop_after=0).fit(ForwardSelection)


# ------------------------------------------------------------------------------ kinds of data


@BOTH
def test_kinds_of_tables_give_the_same(search):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    params = {"estimator": SVC(kernel="linear"), "n_features_to_select": 2, "cv": 3}
    plain = search(**params).fit(X, y)
    for table in (frame, to_polars(frame)):
        found = search(**params).fit(table, y)
        assert found.order_.tolist() == plain.order_.tolist()
        assert list(found.transform(table).columns) == sorted(found.selection_.selected)
        assert type(found.transform(table)) is type(table)
    thin = search(**params).fit(sparse.csr_matrix(X), y)
    assert thin.order_.tolist() == plain.order_.tolist()
    assert sparse.issparse(thin.transform(sparse.csr_matrix(X)))
    by_name = search(**{**params, "fixed_features": ["c"]}).fit(frame, y)
    assert by_name.support_[2]


@pytest.mark.parametrize(
    "judge",
    [Ridge(0.01), SVR(kernel="linear", C=100.0)],
    ids=["Ridge", "SVR"],
)
@BOTH
def test_regression(search, judge):
    X, y = load_diabetes(return_X_y=True)
    X = X[:150, [2, 3, 8, 0]]
    found = search(judge, cv=3, scoring="neg_mean_absolute_error").fit(X, y[:150])
    best = ExhaustiveSearch(judge, cv=3, scoring="neg_mean_absolute_error").fit(X, y[:150])
    assert found.best_score_ <= best.best_score_ + 1e-12
    assert found.best_score_ > best.best_score_ - 1.0
    assert found.predict(X).shape == (150,)
    assert np.isfinite(found.score(X, y[:150]))


def test_several_metrics():
    X, y = load_iris(return_X_y=True)
    found = ForwardSelection(GaussianNB(), scoring=["balanced_accuracy", "f1_macro"], cv=3)
    found.fit(X, y)
    assert set(found.best_scores_) == {"balanced_accuracy", "f1_macro"}
    assert found.best_scores_["balanced_accuracy"] == found.best_score_
    for step in found.selection_.path:
        assert set(step.details["scores"]) == {"balanced_accuracy", "f1_macro"}


def test_inside_a_pipeline_and_a_grid():
    X, y = load_iris(return_X_y=True)
    search = ForwardSelection(GaussianNB(), cv=3)
    pipe = make_pipeline(StandardScaler(), search, GaussianNB())
    grid = GridSearchCV(pipe, {"forwardselection__n_features_to_select": [1, 2]}, cv=3)
    grid.fit(X, y)
    assert grid.best_estimator_[1].support_.sum() in (1, 2)
    assert grid.predict(X).shape == y.shape
    inner = GridSearchCV(
        ForwardSelection(SVC(kernel="linear"), n_features_to_select=1, cv=3),
        {"estimator__C": [0.1, 1.0]},
        cv=2,
    )
    assert inner.fit(X, y).best_params_["estimator__C"] in (0.1, 1.0)
    assert clone(search).get_params().keys() == search.get_params().keys()


@BOTH
def test_workers_do_not_change_the_answer(search):
    X, y = load_iris(return_X_y=True)
    one, two = (search(n_jobs=n, cv=3, floating=True).fit(X, y) for n in (1, 2))
    assert one.order_.tolist() == two.order_.tolist()
    assert [s[:4] for s in one.selection_.path] == [s[:4] for s in two.selection_.path]


def test_random_splits_are_the_same_for_all_subsets_and_for_a_seed():
    X, y = load_iris(return_X_y=True)
    from sklearn.model_selection import ShuffleSplit

    runs = [
        ForwardSelection(GaussianNB(), cv=ShuffleSplit(3), random_state=s).fit(X, y)
        for s in (0, 0, 1)
    ]
    values = [[s.value for s in run.selection_.path] for run in runs]
    assert values[0] == values[1] != values[2]


def test_they_are_found_at_the_top():
    assert tamiz.ForwardSelection is ForwardSelection
    assert tamiz.BackwardElimination is BackwardElimination


# ------------------------------------------------------------------------------ a published study


def test_what_holds_of_the_study_of_vertebral_columns():
    """f6 comes first and goes last; the published fits lie among ours (12 splits of 100)."""
    spec = importlib.util.spec_from_file_location("study", ROOT / "examples/vertebral_wrappers.py")
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    X, y = load("vertebral_2c").as_xy()
    up = study.run(ForwardSelection, X, y, 12)
    down = study.run(BackwardElimination, X, y, 12)
    assert (up.order[:, 0] == 6).all()
    assert (down.order[:, -1] == 6).mean() > 0.8
    assert up.fit.min() <= study.PUBLISHED["forward"][1] <= up.fit.max()
    assert down.fit.min() <= study.PUBLISHED["backward"][1] <= down.fit.max()
    assert up.curves[:, 1].min() <= study.PUBLISHED_FIT_OF_TWO <= up.curves[:, 1].max()
    assert frozenset(study.PUBLISHED["backward"][0]) in down.subsets
    assert up.fit.mean() > up.honest.mean() + 0.02  # the fit flatters


# ------------------------------------------------------------------------------ pictures


@BOTH
def test_the_picture_shows_the_best_of_each_size(search):
    import matplotlib

    matplotlib.use("Agg")
    X, y = load_iris(return_X_y=True)
    found = search(GaussianNB(), cv=5).fit(X, y)
    ax = found.plot()
    x, height = ax.lines[0].get_data()
    assert x.tolist() == [1, 2, 3, 4]
    assert height.tolist() == [point["score"] for point in found.curve_]
    assert len(ax.collections) == 1  # the band
    assert [line.get_label() for line in ax.lines].count("selected") == 1
    other = found.selection_.plot()
    n_decided = len(marks(found, "add", "drop", "start"))
    assert len(other.lines[0].get_xdata()) == n_decided
    assert found.plot(ax=other) is other
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    "search",
    [
        ForwardSelection(GaussianNB(), max_features=2, cv=HoldOut(0.4), random_state=0),
        BackwardElimination(
            GaussianNB(), n_features_to_select=0.9, cv=HoldOut(0.4), random_state=0
        ),
    ],
    ids=lambda search: type(search).__name__,
)
def test_scikit_learn_checks(search):
    assert_every_check_passes(search)
