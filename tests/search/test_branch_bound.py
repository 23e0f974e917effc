"""BranchAndBound against exhaustive search, for criteria that only grow."""

from __future__ import annotations

import warnings
from math import comb

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from tamiz.search import BranchAndBound, ExhaustiveSearch
from tamiz.svm import SVC
from tests.checks import assert_every_check_passes
from tests.naive import search_strategies as naive
from tests.search.cases import Table, marks, selected


def gaussian(p, seed, n=60):
    """Two classes with correlated features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    mixed = rng.standard_normal((n, p)) @ rng.standard_normal((p, p))
    return mixed + np.outer(y, rng.standard_normal(p)), y


@pytest.mark.parametrize("seed", range(50))
def test_it_finds_what_exhaustive_search_finds(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 13))
    d = int(rng.integers(1, p + 1))
    if seed % 20 == 0:  # three large ones, where d in the middle leaves most subsets to spare
        p = 13 + seed // 20 % 2
        d = int(rng.integers(p // 3, p - p // 3 + 1))
    criterion = ("bhattacharyya", "divergence")[seed % 2]
    X, y = gaussian(p, seed)
    fast, full = (
        search(criterion=criterion, n_features_to_select=d).fit(X, y)
        for search in (BranchAndBound, ExhaustiveSearch)
    )
    assert selected(fast) == selected(full)
    assert fast.best_score_ == full.best_score_
    assert fast.n_subsets_ == full.n_subsets_ == full.n_evaluations_
    if full.n_subsets_ > 300:
        assert fast.n_evaluations_ < full.n_subsets_
    assert fast.selection_.notes["violations"] == 0


def test_most_of_the_work_is_spared():
    judged = in_all = 0
    for seed in range(5):
        X, y = gaussian(14, seed)
        found = BranchAndBound(n_features_to_select=7).fit(X, y)
        judged, in_all = judged + found.n_evaluations_, in_all + found.n_subsets_
        assert found.selection_.notes["n_branches_cut"] > 0
    assert in_all == 5 * comb(14, 7)
    assert judged < in_all / 3


@pytest.mark.parametrize("levels", [None, 2, 4])
@pytest.mark.parametrize("seed", range(8))
def test_any_monotone_table(seed, levels):
    table = Table(7, seed, levels, monotone=True)
    for d in range(1, 8):
        found = table.fit(BranchAndBound, monotone=True, n_features_to_select=d)
        assert selected(found) == naive.exhaustive(table.score, 7, [d])


def test_no_subset_is_judged_twice():
    table = Table(9, 0, monotone=True)
    table.fit(BranchAndBound, monotone=True, n_features_to_select=4)
    assert len(table.asked) == len(set(table.asked))


def test_the_worst_case_is_right_too():
    """Where every subset is worth the same, nothing tells the branches apart."""
    table = Table(6, 0, levels=1, monotone=True)
    found = table.fit(BranchAndBound, monotone=True, n_features_to_select=3)
    assert selected(found) == (0, 1, 2)


def test_fewer_subsets_are_judged_the_larger_the_problem():
    """Over random problems; a single one may be one of the worst cases."""
    shares = []
    for p in (8, 11, 14):
        judged = in_all = 0
        for seed in range(8):
            X, y = gaussian(p, 100 + seed)
            found = BranchAndBound(n_features_to_select=p // 2).fit(X, y)
            judged, in_all = judged + found.n_evaluations_, in_all + found.n_subsets_
        shares.append(judged / in_all)
    assert shares[0] < 0.8
    assert shares[2] < shares[1] < shares[0]


# ------------------------------------------------------------------------------ groups


@pytest.mark.parametrize("seed", range(20))
def test_groups_of_unequal_size_find_the_best_within_the_number(seed):
    rng = np.random.default_rng(seed)
    table = Table(8, seed, monotone=True)
    shuffled = rng.permutation(8).tolist()
    groups = [shuffled[:3], shuffled[3:5]]
    fixed = [shuffled[7]] if seed % 2 else None
    for d in range(1, 9):
        params = {"feature_groups": groups, "fixed_features": fixed}
        fast = table.fit(BranchAndBound, monotone=True, n_features_to_select=d, **params)
        full = table.fit(ExhaustiveSearch, max_features=d, **params)
        assert fast.best_score_ == full.best_score_
        assert fast.support_.sum() <= d
        assert fast.n_subsets_ is None


def test_groups_that_do_not_fit_are_refused():
    table = Table(4, 0, monotone=True)
    with pytest.raises(ValueError, match="every group of features is larger than the 1"):
        table.fit(
            BranchAndBound,
            monotone=True,
            feature_groups=[[0, 1], [2, 3]],
            n_features_to_select=1,
        )


# ------------------------------------------------------------------------------ monotone or not


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"criterion": None}, "a cross-validated score"),
        ({"criterion": "cfs"}, "'cfs'"),
        ({"criterion": np.std}, "std"),
    ],
)
def test_criteria_that_may_fall_are_refused(params, name):
    X, y = gaussian(4, 0)
    with pytest.raises(ValueError, match=f"never falls when a feature is added, and .*{name}"):
        BranchAndBound(**params).fit(X, y)


def test_a_function_may_say_itself_that_it_is_monotone():
    table = Table(6, 0, monotone=True)
    with pytest.raises(ValueError, match="never falls when a feature is added"):
        table.fit(BranchAndBound, n_features_to_select=3)
    table.monotone = True
    found = table.fit(BranchAndBound, n_features_to_select=3)
    assert selected(found) == naive.exhaustive(table.score, 6, [3])
    table.monotone = False
    with pytest.raises(ValueError, match="never falls when a feature is added"):
        table.fit(BranchAndBound, n_features_to_select=3)


def test_a_false_word_is_noticed():
    table = Table(6, 0)
    with pytest.warns(RuntimeWarning, match=r"raised the criterion \d+ times; it is not monotone"):
        found = table.fit(BranchAndBound, monotone=True, n_features_to_select=3)
    assert found.selection_.notes["violations"] > 0


def test_a_true_word_is_silent():
    table = Table(6, 0, monotone=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table.fit(BranchAndBound, monotone=True, n_features_to_select=3)


@pytest.mark.parametrize("criterion", ["bhattacharyya", "divergence", Table(4, 0, monotone=True)])
def test_an_estimator_beside_a_criterion_is_refused(criterion):
    """The criterion would judge, and a user who names an estimator expects it to."""
    X, y = gaussian(4, 0)
    sentence = r"would not ask estimator=SVC\(...\).*ExhaustiveSearch.*criterion=None"
    with pytest.raises(ValueError, match=sentence):
        BranchAndBound(SVC(), criterion=criterion, monotone=True).fit(X, y)
    with pytest.raises(ValueError, match="a cross-validated score is not known to be one"):
        BranchAndBound(SVC(), criterion=None).fit(X, y)
    assert BranchAndBound(criterion="divergence").fit(X, y).support_.sum() == 2


# ------------------------------------------------------------------------------ how much work


class Sum:
    """A monotone criterion that counts how often it is asked: what each feature is worth."""

    monotone = True

    def __init__(self):
        self.asked = 0

    def __call__(self, X, y):
        self.asked += 1
        return float(np.abs(X[0]).sum())


class Level:
    """A criterion by which nothing can be cut, interrupted after some thousand subsets."""

    most = 10_050

    def __init__(self):
        self.asked = 0

    def __call__(self, X, y):
        if self.asked == self.most:
            raise KeyboardInterrupt
        self.asked += 1
        return float(X.shape[1])


PAIRS = np.arange(80).reshape(40, 2).tolist()


@pytest.mark.parametrize(
    ("n", "p", "size", "criterion", "groups", "said"),
    [
        (6, 59, 5, "bhattacharyya", None, r"5.01e\+06 subsets, and with no more samples than fea"),
        (6, 59, 10, "divergence", None, r"6.28e\+10 subsets, and with no more samples than fea"),
        (59, 59, 5, "divergence", None, r"5.01e\+06 subsets, and with no more samples than fea"),
        (60, 59, 10, "divergence", None, r"6.28e\+10 subsets, and too many may be left even if"),
        (6, 80, 11, "bhattacharyya", PAIRS, r"6.58e\+05 subsets, and with no more samples"),
        (60, 59, 10, Sum(), None, r"6.28e\+10 subsets, and too many may be left even if"),
        (6, 59, 10, Sum(), None, r"6.28e\+10 subsets, and too many may be left even if"),
        (6, 1200, 600, Sum(), None, r"more than 1e\+300 subsets"),
    ],
)
def test_a_search_without_end_is_announced_before_the_first_subset(
    n, p, size, criterion, groups, said
):
    X, y = gaussian(p, 0, n)
    search = BranchAndBound(n_features_to_select=size, criterion=criterion, feature_groups=groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=f"begins to search {said}.*Set time_budget"):
            search.fit(X, y)
    assert getattr(criterion, "asked", 0) == 0


def test_few_samples_say_nothing_of_a_criterion_of_the_user():
    """5.2 million subsets, of which few are judged."""
    X, y = gaussian(25, 0, 20)
    X[0] = np.random.default_rng(1).permutation(2.0 ** -np.arange(25))
    criterion = Sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = BranchAndBound(n_features_to_select=12, criterion=criterion).fit(X, y)
    assert selected(found) == tuple(np.sort(np.argsort(-np.abs(X[0]))[:12]).tolist())
    assert criterion.asked == found.n_evaluations_ < 1000


def test_rows_of_weight_zero_are_no_samples():
    X, y = gaussian(59, 0, 200)
    weight = np.zeros(200)
    weight[:40] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="no more samples than features"):
            BranchAndBound(n_features_to_select=5).fit(X, y, sample_weight=weight)


def test_nothing_is_announced_where_branches_may_be_cut_or_the_time_is_bounded():
    X, y = gaussian(59, 0)
    X[0] = np.random.default_rng(1).permutation(3.0 ** -np.arange(59))  # the first decide
    criterion = Sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = BranchAndBound(n_features_to_select=5, criterion=criterion).fit(X, y)  # n = 60
        BranchAndBound(n_features_to_select=2).fit(X[:6, :20], y[:6])
        few = Sum()
        bounded = BranchAndBound(n_features_to_select=10, criterion=few, time_budget=600)
        bounded.fit(X[:6], y[:6])
    assert selected(found) == tuple(np.sort(np.argsort(-np.abs(X[0]))[:5]).tolist())
    assert criterion.asked == found.n_evaluations_ < 5 * 59
    assert few.asked == bounded.n_evaluations_ < 10 * 59


def test_who_was_warned_beforehand_is_not_warned_again():
    X, y = gaussian(59, 0, 6)
    with pytest.warns(UserWarning) as caught:  # noqa: PT030 - all of them are looked at
        found = BranchAndBound(n_features_to_select=10, criterion=Level(), monotone=True).fit(X, y)
    assert found.n_evaluations_ == Level.most
    said = [str(one.message) for one in caught]
    assert sum("begins to search" in text for text in said) == 1
    assert not any("has judged" in text for text in said)


@pytest.mark.parametrize("criterion", ["bhattacharyya", "divergence"])
def test_of_few_samples_no_more_subsets_are_judged_than_the_tree_has(criterion):
    """Every inner node has two branches or more: there are fewer of them than subsets."""
    X, y = gaussian(59, 0, 6)
    found = BranchAndBound(n_features_to_select=2, criterion=criterion).fit(X, y)
    assert found.n_subsets_ == comb(59, 2)
    assert found.n_evaluations_ < 2 * found.n_subsets_ + 59


# ------------------------------------------------------------------------------ the rest


def test_half_of_the_features_by_default():
    X, y = gaussian(7, 0)
    assert BranchAndBound().fit(X, y).support_.sum() == 3
    for most, size in ((2, 2), (5, 3), (20, 3)):
        found = BranchAndBound(max_features=most).fit(X, y)
        assert found.support_.sum() == size
        assert found.n_subsets_ == comb(7, size)
    assert BranchAndBound(n_features_to_select=5, max_features=6).fit(X, y).support_.sum() == 5
    assert BranchAndBound(n_features_to_select=0.3).fit(X, y).support_.sum() == 2
    with pytest.raises(ValueError, match="n_features_to_select=8 exceeds the 7 features"):
        BranchAndBound(n_features_to_select=8).fit(X, y)


def test_the_path_tells_how_the_best_grew():
    X, y = gaussian(9, 1)
    found = BranchAndBound(n_features_to_select=4).fit(X, y)
    steps = marks(found, "best")
    assert steps[-1].features == selected(found)
    values = [step.value for step in steps]
    assert values == sorted(values)


def test_an_interruption_keeps_the_best_so_far():
    table = Table(9, 0, monotone=True, stop_after=40)
    with pytest.warns(ConvergenceWarning, match="interrupted after 40 subsets"):
        found = table.fit(BranchAndBound, monotone=True, n_features_to_select=4)
    assert found.status_ == "interrupted"
    assert found.support_.sum() == 4
    met = [subset for subset in table.asked if len(subset) == 4]
    assert selected(found) == max(met, key=table.score)


@pytest.mark.parametrize(
    ("stop_after", "groups"),
    [*((n, None) for n in range(1, 12)), *((n, [[0, 1], [2, 3, 4]]) for n in range(1, 6))],
)
def test_an_early_interruption_gives_the_number_asked_for(stop_after, groups):
    table = Table(6, 0, monotone=True, stop_after=stop_after)
    with pytest.warns(ConvergenceWarning, match="interrupted after") as caught:
        found = table.fit(
            BranchAndBound, monotone=True, n_features_to_select=2, feature_groups=groups
        )
    size = found.support_.sum()
    assert size == 2 if groups is None else 0 < size <= 2
    unjudged = selected(found) not in table.asked
    assert unjudged == (found.best_score_ is None)
    assert unjudged == any("a part of a larger subset" in str(w.message) for w in caught)
    if groups is None:  # all, then one left out, then the two that are missed most
        assert unjudged == (stop_after < 8)


def test_out_of_time_at_once():
    X, y = gaussian(6, 0)
    with pytest.warns(ConvergenceWarning, match="no subset with 2 features or fewer"):
        found = BranchAndBound(n_features_to_select=2, time_budget=1e-9).fit(X, y)
    assert found.support_.sum() == 2
    assert found.status_ == "time_budget"


def test_the_first_bound_is_what_is_missed_most():
    table = Table(7, 3, monotone=True)
    found = table.fit(BranchAndBound, monotone=True, n_features_to_select=3)
    everything = tuple(range(7))
    cost = {j: -table.score([k for k in everything if k != j]) for j in everything}
    expected = tuple(sorted(sorted(everything, key=lambda j: -cost[j])[:3]))
    assert marks(found, "best")[0].features == expected
    assert table.asked.index(expected) == 8


@pytest.mark.parametrize("seed", range(6))
def test_there_is_a_bound_after_the_first_round_with_groups_too(seed):
    table = Table(9, seed, monotone=True)
    groups = [[0, 1], [2, 3, 4], [5, 6]]  # and two alone
    found = table.fit(BranchAndBound, monotone=True, n_features_to_select=4, feature_groups=groups)
    first = tuple(marks(found, "best")[0].features)
    assert table.asked.index(first) <= 6  # all, five with one left out, this


def test_real_data_and_many_features():
    X, y = load_breast_cancer(return_X_y=True)
    found = BranchAndBound(n_features_to_select=12).fit(X[:, :15], y)
    assert found.n_evaluations_ < found.n_subsets_


def test_a_criterion_predicts_nothing_and_a_function_takes_no_weights():
    X, y = gaussian(5, 0)
    found = BranchAndBound().fit(X, y)
    assert not hasattr(found, "predict")
    assert found.transform(X).shape == (60, 2)
    mine = BranchAndBound(criterion=lambda X, y: float(X.shape[1]), monotone=True)
    with pytest.raises(ValueError, match="as criterion does not get weights"):
        mine.fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="unexpected argument 'weight'"):
        BranchAndBound().fit(X, y, weight=np.ones(60))
    judged = BranchAndBound(SVC(kernel="linear"), criterion=None, monotone=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it is not monotone
        assert judged.fit(X, y, sample_weight=np.ones(60)).predict(X).shape == (60,)


@pytest.mark.parametrize("criterion", ["bhattacharyya", "divergence"])
def test_weights_are_numbers_of_rows(criterion):
    X, y = gaussian(7, 1)
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    found = BranchAndBound(n_features_to_select=3, criterion=criterion)
    found.fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = BranchAndBound(n_features_to_select=3, criterion=criterion).fit(X[rows], y[rows])
    np.testing.assert_array_equal(found.support_, repeated.support_)
    assert found.best_score_ == pytest.approx(repeated.best_score_, rel=1e-10)
    plain = BranchAndBound(n_features_to_select=3, criterion=criterion).fit(X, y)
    assert abs(found.best_score_ - plain.best_score_) > 1e-3  # they do matter


def test_a_class_without_weight_is_none():
    X, y = gaussian(5, 0)
    three = np.where(np.arange(len(y)) < 4, 2, y)
    weight = (three != 2).astype(float)
    found = BranchAndBound().fit(X, three, sample_weight=weight)
    alone = BranchAndBound().fit(X[4:], y[4:])
    assert found.classes_.tolist() == [0, 1]
    assert found.best_score_ == pytest.approx(alone.best_score_, rel=1e-10)


def test_workers_do_not_change_the_answer():
    X, y = gaussian(9, 2)
    one, two = (BranchAndBound(n_features_to_select=4, n_jobs=n).fit(X, y) for n in (1, 2))
    assert [s[:4] for s in one.selection_.path] == [s[:4] for s in two.selection_.path]


def test_scikit_learn_checks():
    assert_every_check_passes(BranchAndBound(n_features_to_select=1))
