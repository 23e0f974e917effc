"""The choice among methods, judges and sizes: against plain loops, and what must hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_classification

import tests.naive.choice as naive
from tamiz import compare
from tamiz.base import choose_size, corrected_error
from tamiz.evaluation.study.choice import (
    MOST_ACCURATE,
    POINTS,
    SMALLEST,
    Contest,
    Triple,
    choose,
    smoothed,
)

pytestmark = pytest.mark.filterwarnings("ignore:CFS found no relevant feature")

#: Errors in sixteenths over 2, 4 or 8 splits: ties are many, and means exact.
sixteenths = st.integers(0, 16).map(lambda k: k / 16)


@st.composite
def contests(draw):
    n_splits, n = draw(st.sampled_from([2, 4, 8])), draw(st.integers(1, 7))
    row = st.lists(sixteenths, min_size=n, max_size=n)
    errors = draw(st.lists(row, min_size=n_splits, max_size=n_splits))
    sizes = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    recurring = draw(st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=n, max_size=n))
    return np.array(errors), np.array(sizes), draw(st.sampled_from([0.1, 0.5])), np.array(recurring)


@st.composite
def triples(draw):
    every = [
        Triple(method, judge, size, own)
        for method in "abc"
        for judge in "xy"
        for size, own in ((1, False), (2, False), (5, False), (9, False), (2, True))
    ]
    return draw(st.lists(st.sampled_from(every), min_size=1, unique=True))


# --------------------------------------------------------------------------------- the formulas


@given(contests(), st.sampled_from([np.inf, 0.05, 0.2]))
def test_choose_equals_plain_loops(contest, limit):
    errors, sizes, ratio, recurring = contest
    found = choose(errors, sizes, ratio, limit=limit, recurrence=recurring)
    best, smallest, near = naive.choose(errors, sizes, ratio, None, limit, recurring)
    assert (found.best, found.smallest) == (best, smallest)
    assert np.flatnonzero(found.near).tolist() == near


@given(triples(), st.integers(1, 4), st.data())
def test_smoothed_equals_plain_loops(those, n_splits, data):
    errors = np.array([[data.draw(sixteenths) for _ in those] for _ in range(n_splits)])
    before = errors.copy()
    expected = naive.smoothed(errors, those, 0.5)
    np.testing.assert_allclose(smoothed(errors, those, 0.5), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(errors, before)


def test_corrected_error_is_that_of_the_formula():
    errors = np.random.default_rng(0).normal(size=(6, 3))
    for ratio in (0.2, 1.0):
        expected = [naive.corrected_error(column, ratio) for column in errors.T]
        np.testing.assert_allclose(corrected_error(errors, ratio), expected)
    # without a ratio, that of as many folds: 5 training parts for each test part
    np.testing.assert_allclose(corrected_error(errors), corrected_error(errors, 1 / 5))
    assert corrected_error(errors[:, 0], 0.2) == pytest.approx(expected_of_one(errors[:, 0]))
    np.testing.assert_array_equal(corrected_error(errors[:1], 0.2), np.zeros(3))


def expected_of_one(values):
    return np.sqrt((1 / len(values) + 0.2) * np.var(values, ddof=1))


# ------------------------------------------------------------------------------ what must hold


@given(contests(), st.sampled_from([np.inf, 0.1]))
def test_the_smallest_is_small_and_near(contest, limit):
    errors, sizes, ratio, recurring = contest
    found = choose(errors, sizes, ratio, limit=limit, recurrence=recurring)
    assert sizes[found.smallest] <= sizes[found.best]
    worse = errors[:, found.smallest] - errors[:, found.best]
    assert worse.mean() <= naive.corrected_error(worse, ratio) + 1e-9
    assert worse.mean() <= limit + 1e-9
    assert found.means[found.best] == found.means.min()
    assert found.near[[found.best, found.smallest]].all()
    assert not (found.equal & ~found.near).any()


@given(contests(), st.randoms(use_true_random=False))
def test_the_order_of_triples_decides_nothing_but_full_ties(contest, random):
    errors, sizes, ratio, recurring = contest
    turn = random.sample(range(len(sizes)), len(sizes))
    one = choose(errors, sizes, ratio, recurrence=recurring)
    two = choose(errors[:, turn], sizes[turn], ratio, recurrence=recurring[turn])
    assert sizes[one.best] == sizes[turn][two.best]
    assert one.means[one.best] == two.means[two.best]
    # the one that the others are measured against is the same unless two tie in everything
    keys = {(one.means[t], sizes[t], recurring[t]) for t in range(len(sizes))}
    if len(keys) == len(sizes):
        assert turn[two.best] == one.best and turn[two.smallest] == one.smallest


@given(contests(), st.integers(-8, 8))
def test_a_constant_added_to_all_errors_changes_nothing(contest, shift):
    errors, sizes, ratio, recurring = contest
    one = choose(errors, sizes, ratio, recurrence=recurring)
    two = choose(errors + shift / 16, sizes, ratio, recurrence=recurring)
    assert (one.best, one.smallest) == (two.best, two.smallest)
    np.testing.assert_array_equal(one.near, two.near)


@given(contests(), st.data())
def test_who_is_better_in_every_split_by_the_same_is_chosen(contest, data):
    errors, sizes, ratio, _ = contest
    winner = data.draw(st.integers(0, len(sizes) - 1))
    errors = errors.copy()
    errors[:, winner] = errors.min(axis=1) - 1 / 16
    found = choose(errors, sizes, ratio)
    assert found.best == winner
    # a difference that does not vary has no standard error: no one like that is as good
    constant = np.ptp(errors - errors[:, [winner]], axis=0) == 0
    assert not found.near[constant & (np.arange(len(sizes)) != winner)].any()


def test_ties():
    errors = np.full((4, 4), 0.25)
    sizes = np.array([3, 1, 1, 7])
    found = choose(errors, sizes, 0.25, recurrence=np.array([0.9, 0.2, 0.6, 0.1]))
    assert found.best == 3  # of equal errors the one with most features is compared with
    assert found.smallest == 2  # of the smallest the most recurrent
    assert found.equal.all()
    undefined = choose(errors, sizes, 0.25, recurrence=np.array([0.9, np.nan, 0.1, 0.1]))
    assert undefined.smallest == 2


def test_no_more_than_the_limit_is_given_away():
    rng = np.random.default_rng(0)
    errors = np.column_stack([0.1 + 0.1 * rng.random(10), 0.1 + 0.1 * rng.random(10)])
    errors -= errors.mean(axis=0)
    errors += [0.23, 0.20]  # three points, and a standard error of more
    assert choose(errors, np.array([1, 9]), 0.5).smallest == 0
    held = choose(errors, np.array([1, 9]), 0.5, limit=POINTS)
    assert held.smallest == 1 and held.near.all() and held.equal.tolist() == [False, True]


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 6), st.sampled_from([None, 0.3]))
def test_the_rule_of_one_standard_error_is_the_same_for_one_method(seed, n_splits, n, ratio):
    errors = np.random.default_rng(seed).random((n_splits, n))
    sizes = np.arange(1, n + 1) ** 2
    usual = 1 / (n_splits - 1) if ratio is None else ratio
    found = choose(errors, sizes, usual)
    assert choose_size(errors, sizes, "1se", ratio) == sizes[found.smallest]
    assert choose_size(errors, sizes, "best", ratio) == sizes[found.best]


def test_a_dip_of_one_size_is_taken_out_and_a_step_is_kept():
    curve = [Triple("a", "x", size) for size in (1, 2, 3, 5, 8, 12)]
    dip = np.array([0.4, 0.3, 0.1, 0.3, 0.3, 0.3])
    assert smoothed(dip[None], curve, 0.5).tolist() == [0.4, 0.3, 0.3, 0.3, 0.3, 0.3]
    step = np.array([0.4, 0.4, 0.1, 0.1, 0.1, 0.1])
    np.testing.assert_array_equal(smoothed(step[None], curve, 0.5), step)
    two = [Triple("a", "x", 3), Triple("b", "x", 3), Triple("b", "y", 3)]
    assert smoothed(np.array([[0.1, 0.2, 0.0]]), two, 0.5).tolist() == [0.2, 0.2, 0.0]


def test_the_only_method_that_sees_the_signal_is_believed_where_it_is_clearly_better():
    two = [Triple("relieff", "rbf", 4), Triple("fisher", "rbf", 4)]
    noise = np.array([0.01, -0.01, 0.02, -0.02, 0.0])
    clear = np.column_stack([0.10 + noise, 0.30 - noise])
    doubt = 2.7764 * naive.corrected_error(2 * noise, 0.25)
    assert 0.1 < doubt + 0.1 < 0.25
    np.testing.assert_allclose(smoothed(clear, two, 0.25), [0.10 + doubt, 0.30], rtol=1e-5)
    few = np.array([[0.11, 0.29], [0.09, 0.32]])  # two splits prove nothing
    np.testing.assert_allclose(smoothed(few, two, 1.0), [few[:, 1].mean()] * 2)
    close = np.column_stack([0.27 + noise, 0.30 - noise])
    np.testing.assert_allclose(smoothed(close, two, 0.25), [0.30, 0.30])


# --------------------------------------------------------------------------------- comparisons


@pytest.fixture(scope="module")
def comparison():
    X, y = make_classification(80, 8, n_informative=3, class_sep=1.5, flip_y=0.1, random_state=0)
    return compare(
        X,
        y,
        ["fisher", "cfs", "mrmr"],
        ["linear", "tree"],
        sizes=[1, 3, 8],
        cv=4,
        repeats=2,
        rule="1se",
        baselines=("all",),
        random_state=0,
    )


def test_every_triple_takes_part(comparison):
    contest = Contest.of(comparison)
    curves = {(t.method, t.judge, t.size) for t in contest.triples if not t.own}
    assert curves == {
        (m, j, s) for m in ("fisher", "cfs", "mrmr") for j in ("linear", "tree") for s in (1, 3, 8)
    }
    own = {(t.method, t.size) for t in contest.triples if t.own}
    assert ("all", 8) in own and {method for method, _ in own} >= {"all", "cfs"}
    for (m, j, c), column in zip(contest.places, contest.errors.T, strict=True):
        expected = comparison.own_errors[m, j] if c < 0 else comparison.errors[m, j, :, c]
        np.testing.assert_array_equal(column, expected)
    assert contest.ratio == pytest.approx(1 / 3) and contest.splits.tolist() == list(range(8))
    some = Contest.of(comparison, ["fisher"])
    assert {t.method for t in some.triples} == {"fisher"}


def test_the_choice_of_a_comparison_is_that_of_plain_loops(comparison):
    contest = Contest.of(comparison)
    means = naive.smoothed(contest.errors.tolist(), contest.triples, 1 / 3)
    sizes = [t.size for t in contest.triples]
    best, smallest, near = naive.choose(contest.errors, sizes, 1 / 3, means, POINTS)
    assert (contest.choice.best, contest.choice.smallest) == (best, smallest)
    assert np.flatnonzero(contest.choice.near).tolist() == near
    np.testing.assert_allclose(contest.choice.means, means)


@pytest.mark.parametrize("answer", [SMALLEST, MOST_ACCURATE])
def test_nested_errors_are_those_of_plain_loops(comparison, answer):
    contest = Contest.of(comparison)
    for (m, j, c), column in zip(contest.places, contest.inner.transpose(2, 0, 1), strict=True):
        np.testing.assert_array_equal(column, comparison.inner_errors[m, j, :, :, c])
    found = contest.nested(answer)
    expected = naive.nested(
        contest.inner.tolist(),
        contest.split_sizes.tolist(),
        contest.errors.tolist(),
        contest.triples,
        POINTS,
        answer == SMALLEST,
    )
    np.testing.assert_allclose(found.errors, expected)
    assert found.interval.mean == pytest.approx(np.average(expected, weights=comparison.n_test))
    assert found.interval.low <= found.interval.mean <= found.interval.high
    sizes = [contest.split_sizes[k, t] for k, t in enumerate(found.chosen)]
    assert found.sizes.tolist() == sizes


@pytest.mark.parametrize("rate", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_nested_errors_of_any_inner_errors(comparison, seed, rate):
    rng = np.random.default_rng(seed)
    contest = Contest.of(replace(comparison, error_is_rate=rate))
    contest = replace(contest, inner=0.3 + 0.1 * rng.random(contest.inner.shape))
    tables = [table.tolist() for table in (contest.inner, contest.split_sizes, contest.errors)]
    limit = max(POINTS, 1.01 / contest.comparison.n_samples) if rate else np.inf
    for answer in (SMALLEST, MOST_ACCURATE):
        expected = naive.nested(*tables, contest.triples, limit, answer == SMALLEST)
        np.testing.assert_allclose(contest.nested(answer).errors, expected)


def test_better_than_a_constant_by_a_corrected_test(comparison):
    found = Contest.of(comparison).nested(MOST_ACCURATE)
    constant = np.full(8, 0.5)
    gain = constant - found.errors
    t = gain.mean() / naive.corrected_error(gain, 1 / 3)
    assert found.beats(constant) == pytest.approx(stats.t.sf(t, 7))
    assert found.beats(found.errors) == 1.0
    assert found.beats(found.errors + 0.1) < 1e-9
    assert np.isnan(found.beats(np.full(8, np.nan)))


def test_no_triple_of_the_front_is_beaten(comparison):
    contest = Contest.of(comparison)
    front, means = contest.pareto(), contest.choice.means
    sizes = np.array([t.size for t in contest.triples])
    for t in range(len(sizes)):
        beaten = ((sizes <= sizes[t]) & (means < means[t] - 1e-12)).any()
        if t in front:
            assert not beaten
        else:
            assert any(sizes[f] <= sizes[t] and means[f] <= means[t] + 1e-12 for f in front)
    a, b = front[0], front[-1]
    difference, error = contest.compared(a, b)
    assert difference == pytest.approx(means[a] - means[b])
    away = contest.errors[:, a] - contest.errors[:, b]
    assert error == pytest.approx(naive.corrected_error(away, 1 / 3))
    assert contest.triples[contest.best_of("tree")].judge == "tree"
    assert contest.best_of("nobody") is None


def with_gaps(comparison, method, split):
    """As if a method had failed in a split."""
    m = comparison.methods.index(method)
    errors, own = comparison.errors.copy(), comparison.own_errors.copy()
    errors[m, :, split], own[m, :, split] = np.nan, np.nan
    return replace(comparison, errors=errors, own_errors=own)


def test_a_method_that_failed_in_one_split_is_out(comparison):
    contest = Contest.of(with_gaps(comparison, "fisher", 2))
    assert {t.method for t in contest.triples} == {"cfs", "mrmr", "all"}
    assert contest.splits.tolist() == list(range(8))
    without = Contest.of(comparison, ["cfs", "mrmr", "all"])
    np.testing.assert_array_equal(contest.errors, without.errors)
    assert contest.choice.best == without.choice.best


def test_a_run_that_was_cut_short_uses_the_splits_that_all_have(comparison):
    cut = comparison
    for method in comparison.methods:
        for split in (5, 6, 7):
            cut = with_gaps(cut, method, split)
    contest = Contest.of(cut)
    assert contest.splits.tolist() == [0, 1, 2, 3, 4]
    assert {t.method for t in contest.triples} == set(comparison.methods)
    nothing = replace(
        comparison,
        errors=np.full_like(comparison.errors, np.nan),
        own_errors=np.full_like(comparison.own_errors, np.nan),
    )
    assert Contest.of(nothing) is None


def test_an_inner_fold_without_a_value_takes_the_triple_out_there(comparison):
    inner = comparison.inner_errors.copy()
    inner[:, 0, 0] = np.nan  # before the first judge, nothing inside the first split
    contest = Contest.of(replace(comparison, inner_errors=inner))
    found = contest.nested(MOST_ACCURATE)
    assert contest.triples[found.chosen[0]].judge == "tree"
    whole = Contest.of(comparison).nested(MOST_ACCURATE)
    np.testing.assert_array_equal(found.chosen[1:], whole.chosen[1:])
    inner[:, :, 3] = np.nan
    gone = Contest.of(replace(comparison, inner_errors=inner)).nested(SMALLEST)
    assert gone.chosen[3] == -1 and np.isnan(gone.errors[3]) and len(gone.sizes) == 7
    assert np.isfinite(gone.interval.mean)
