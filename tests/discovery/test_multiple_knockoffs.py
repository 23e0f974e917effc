"""Several knockoffs of every feature at once: exchangeable, within the rate, and of use."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tamiz.discovery import Knockoffs
from tamiz.discovery.importances import scorer_for
from tamiz.discovery.knockoffs.rates import ScoredStatistic, knockoff_statistics
from tamiz.discovery.knockoffs.table import same_but_units
from tamiz.information.columns import CodedTable


def quiet(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y)


def few_matter(seed, n=250, p=20, relevant=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1:] += 0.4 * X[:, :-1]
    return X, 0.5 * X[:, ::5][:, :relevant].sum(axis=1) + rng.normal(size=n)


@pytest.mark.parametrize("given", ["linear", "pearson", "forest", "relieff"])
def test_places_of_a_feature_and_its_knockoffs_change_the_sign_only(given):
    rng = np.random.default_rng(1)
    X, *copies = rng.normal(size=(4, 50, 5))
    copies = np.array(copies)
    copies[1, :, 4] = copies[0, :, 4]  # equal ones: nobody can tell which is which
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    table = CodedTable(np.zeros((50, 5)), np.zeros(5, dtype=bool), {})
    statistic = ScoredStatistic(scorer_for("statistic", given, "auto", table, y))
    W = knockoff_statistics(statistic, X, copies, y, seed=3)
    assert W[4] == 0 and (W[:4] != 0).any()
    columns = np.concatenate([X[None], copies])
    wins = np.zeros(5, dtype=int)
    for shift in range(4):  # each of the four is the feature once
        turned = np.roll(columns, shift, axis=0)
        found = knockoff_statistics(statistic, turned[0], turned[1:], y, seed=3)
        np.testing.assert_array_equal(np.abs(found), np.abs(W))
        wins += found > 0
    np.testing.assert_array_equal(wins, np.where(W != 0, 1, 0))
    other = knockoff_statistics(statistic, X, copies[[2, 0, 1]], y, seed=3)
    np.testing.assert_array_equal(other, W)


def test_rate_is_kept_and_few_relevant_features_are_found():
    """One knockoff each finds none of four features at 0.1, which takes ten; several do."""
    rates, power, with_one = [], [], []
    for seed in range(40):
        X, y = few_matter(seed)
        relevant = np.zeros(20, dtype=bool)
        relevant[::5] = True
        found = quiet(Knockoffs(n_copies=5, random_state=seed), X, y).support_
        rates.append((found & ~relevant).sum() / max(1, found.sum()))
        power.append(found[relevant].mean())
        if seed < 10:
            one = quiet(Knockoffs(random_state=seed), X, y).support_
            with_one.append(one[relevant].mean())
    assert np.mean(rates) <= 0.1 + 3 * np.std(rates) / np.sqrt(len(rates))
    assert np.mean(power) > 0.7 and np.mean(with_one) < 0.1


def test_noise_is_selected_within_the_rate():
    hits = 0
    for seed in range(40):
        rng = np.random.default_rng(100 + seed)
        X, y = rng.normal(size=(130, 10)), rng.normal(size=130)
        hits += quiet(Knockoffs(fdr=0.2, n_copies=5, random_state=seed), X, y).support_.any()
    # any discovery is a false one; one is enough to be selected here
    assert 1 <= hits <= 8 + 3 * np.sqrt(40 * 0.2 * 0.8)


def test_infinite_threshold_selects_nothing_and_says_how_many_are_needed():
    X, y = few_matter(0, relevant=2)
    with pytest.warns(UserWarning, match="at least 4 features must beat their knockoffs together"):
        found = Knockoffs(fdr=0.1, n_copies=3, random_state=0).fit(X, y)
    assert found.threshold_ == np.inf and not found.support_.any()
    assert (found.e_values_ == 0).all()


def test_copies_and_draws_go_together():
    X, y = few_matter(1)
    found = Knockoffs(fdr=0.2, n_copies=5, n_draws=3, random_state=0).fit(X, y)
    assert found.draws_.shape == (3, 20)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), [0, 5, 10, 15])


def test_several_copies_of_the_caller():
    X, y = few_matter(2, n=60, p=6)
    T = np.random.default_rng(0).normal(size=(2, 3, *X.shape))
    array = quiet(Knockoffs(knockoffs=T, n_copies=3, n_draws=2, random_state=0), X, y)
    draws = iter(T)
    called = quiet(
        Knockoffs(
            knockoffs=lambda X, random_state: next(draws), n_copies=3, n_draws=2, random_state=0
        ),
        X,
        y,
    )
    np.testing.assert_array_equal(array.draws_, called.draws_)  # and called once a draw
    with pytest.raises(ValueError, match=r"it must be \(2, 3, 60, 6\)"):
        Knockoffs(knockoffs=T[:, 0], n_copies=3, n_draws=2).fit(X, y)
    with pytest.raises(ValueError, match="what knockoffs returns"):
        Knockoffs(knockoffs=lambda X, random_state: X, n_copies=2).fit(X, y)


def test_function_of_pairs_is_refused():
    X, y = few_matter(3, n=40, p=5)
    with pytest.raises(ValueError, match="n_copies=2 and a function as statistic"):
        Knockoffs(lambda A, B, y: A[0], n_copies=2).fit(X, y)


# ---------------------------------------------------------------------------- equal columns


def test_equal_columns_are_named_and_the_first_stands_for_them():
    X, y = few_matter(4, p=12)
    alone = quiet(Knockoffs(fdr=0.4, random_state=0), X, y)
    twice = np.column_stack([X, X[:, 5], X[:, 0], X[:, 5]])
    with pytest.warns(UserWarning, match="column 12 equals column 5; column 13 equals column 0"):
        found = Knockoffs(fdr=0.4, random_state=0).fit(twice, y)
    np.testing.assert_array_equal(found.statistics_[:12], alone.statistics_)
    np.testing.assert_array_equal(found.support_, [*alone.support_, False, False, False])
    assert found.support_[[0, 5]].all()
    np.testing.assert_array_equal(found.s_[12:], 0.0)
    np.testing.assert_array_equal(found.quality_.correlation[12:], 1.0)
    assert len(found.quality_.names) == 15
    known = quiet(Knockoffs(covariance=np.eye(15), random_state=0), twice, y)
    assert known.s_[:12].min() > 0.9


def test_columns_in_other_units_are_named_and_the_first_stands_for_them():
    X, y = few_matter(4, p=12)
    alone = quiet(Knockoffs(fdr=0.4, random_state=0), X, y)
    near = X[:, 3] + 1e-6 * np.random.default_rng(0).normal(size=len(X))  # no copy
    again = np.column_stack([X, 1.8 * X[:, 5] + 32, X[:, 0], -1e6 * X[:, 1], X[:, 5] / 7 - 1e3])
    words = (
        "column 12 is column 5 in other units; column 13 equals column 0; "
        "column 14 is column 1 in other units; column 15 is column 5 in other units"
    )
    with pytest.warns(UserWarning, match=words):
        found = Knockoffs(fdr=0.4, random_state=0).fit(again, y)
    np.testing.assert_array_equal(found.statistics_[:12], alone.statistics_)
    assert not found.support_[12:].any() and found.support_[[0, 5]].all()
    numeric = np.arange(13)
    assert same_but_units(np.column_stack([X, near]), numeric) == {}
    assert same_but_units(np.column_stack([X, X[:, 3] - 5]), numeric) == {12: 3}
    assert same_but_units(again[:3], np.arange(16)) == {}


def test_a_function_of_ones_own_is_called_once_for_each_draw():
    X, y = few_matter(4, p=12)
    calls = []

    def own(X, random_state):
        calls.append(1)
        return random_state.normal(size=X.shape)

    for n_draws, n_jobs in ((1, None), (3, None), (3, 2)):
        calls.clear()
        given = {"knockoffs": own, "n_draws": n_draws, "n_jobs": n_jobs, "random_state": 0}
        quiet(Knockoffs("pearson", **given), X, y)  # workers are threads: one list
        assert len(calls) == n_draws


def test_draws_in_a_file_go_on_to_the_answer_of_one_run(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = X[:, :6].sum(axis=1) + rng.normal(size=200)
    path = tmp_path / "draws"
    settings = {"fdr": 0.4, "n_draws": 5, "random_state": 0}
    whole = Knockoffs(statistic="pearson", **settings).fit(X, y)
    few = Knockoffs(statistic="pearson", **{**settings, "n_draws": 2}, checkpoint=path).fit(X, y)
    assert len(few.draws_) == 2
    size = path.stat().st_size
    again = Knockoffs(statistic="pearson", **settings, checkpoint=path, resume=True).fit(X, y)
    np.testing.assert_array_equal(again.draws_, whole.draws_)
    np.testing.assert_array_equal(again.support_, whole.support_)
    assert path.stat().st_size > size
    with pytest.raises(ValueError, match="resume"):
        Knockoffs(resume=True).fit(X, y)
