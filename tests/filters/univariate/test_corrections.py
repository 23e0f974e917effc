"""Corrected p-values: SciPy, loops, splines of SciPy, and what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import make_smoothing_spline

from tamiz.discovery import adjust_pvalues, estimate_pi0
from tamiz.filters import WelchT
from tests.naive import discovery as naive

LAMBDAS = np.arange(0.05, 0.951, 0.05)


def some_pvalues(seed, m=40):
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.beta(0.2, 4, m // 4), rng.random(m - m // 4)])
    p[3] = p[4]  # ties
    return p


@pytest.mark.parametrize("method", ["bh", "by"])
@pytest.mark.parametrize("seed", range(3))
def test_false_discovery_rates_equal_scipy(method, seed):
    p = some_pvalues(seed)
    want = stats.false_discovery_control(p, method=method)
    np.testing.assert_allclose(adjust_pvalues(p, method), want, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_holm_and_bonferroni_equal_loops(seed):
    p = some_pvalues(seed)
    np.testing.assert_allclose(adjust_pvalues(p, "holm"), naive.holm(p), rtol=1e-12)
    np.testing.assert_array_equal(adjust_pvalues(p, "bonferroni"), np.minimum(1, 40 * p))
    np.testing.assert_array_equal(adjust_pvalues(p, "none"), p)


@pytest.mark.parametrize("pi0", ["bootstrap", "smoother", 0.7])
def test_q_values_equal_loops(pi0):
    p = some_pvalues(5)
    used = pi0 if pi0 == 0.7 else estimate_pi0(p, pi0)
    want = naive.q_values(p, used)
    np.testing.assert_allclose(adjust_pvalues(p, "storey", pi0=pi0), want, rtol=1e-12)
    assert (want <= adjust_pvalues(p, "bh")).all()


def test_smoother_is_the_spline_of_scipy_with_three_degrees_of_freedom():
    p = some_pvalues(1, 400)
    curve = [np.mean(p > lam) / (1 - lam) for lam in LAMBDAS]
    grid = np.arange(len(curve), dtype=float)

    def matrix(weight):
        rows = [make_smoothing_spline(grid, e, lam=weight)(grid) for e in np.eye(len(grid))]
        return np.array(rows).T

    low, high = 10.0, 1e4
    for _ in range(25):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if np.trace(matrix(middle)) > 3 else (low, middle)
    want = (matrix(np.sqrt(low * high)) @ curve)[-1]
    assert estimate_pi0(p, "smoother") == pytest.approx(min(1.0, want), abs=1e-5)


def test_bootstrap_chooses_by_variance_and_bias():
    p = some_pvalues(2, 400)
    curve = np.array([np.mean(p > lam) / (1 - lam) for lam in LAMBDAS])
    errors = []
    for lam, value in zip(LAMBDAS, curve, strict=True):
        fraction = np.mean(p > lam)  # of a binomial count of 400
        variance = fraction * (1 - fraction) / 400 / (1 - lam) ** 2
        errors.append(variance + (value - np.quantile(curve, 0.1)) ** 2)
    assert estimate_pi0(p, "bootstrap") == pytest.approx(min(1.0, curve[np.argmin(errors)]))


def test_fraction_of_irrelevant_features_is_found():
    rng = np.random.default_rng(0)
    p = np.concatenate([np.full(2_000, 1e-6), rng.random(8_000)])
    for method in ("conservative", "bootstrap", "smoother", 0.5):
        assert estimate_pi0(p, method) == pytest.approx(0.8, abs=0.03)
    assert estimate_pi0(p) == estimate_pi0(p, 0.5) == (np.sum(p > 0.5) + 1) / (10_000 * 0.5)
    assert estimate_pi0(np.full(10, 1e-9), "bootstrap") == 0.1  # never 0
    assert estimate_pi0(np.full(10, 1e-9)) == 0.2


def test_q_values_are_conservative_by_themselves():
    p = some_pvalues(5)
    want = naive.q_values(p, (np.sum(p > 0.5) + 1) / 20)
    np.testing.assert_allclose(adjust_pvalues(p, "storey"), np.where(p > 0.5, 1.0, want))


@pytest.mark.parametrize("relevant", [0, 10])
def test_twenty_q_values_keep_the_rate(relevant):
    rng = np.random.default_rng(1)
    rates = {"conservative": [], "bootstrap": []}
    for _ in range(1000):
        z = rng.standard_normal(20)
        z[:relevant] += 3.5
        p = 2 * stats.norm.sf(abs(z))
        for pi0, found in rates.items():
            chosen = adjust_pvalues(p, "storey", pi0=pi0) <= 0.1
            found.append(chosen[relevant:].sum() / max(1, chosen.sum()))
    assert np.mean(rates["conservative"]) <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 1000)
    assert np.mean(rates["bootstrap"]) > 0.15  # as said; about 0.22


def test_q_values_of_noise_keep_the_rate_with_few_features():
    """Cut at 1, the estimate of what is irrelevant would let 0.233 pass for 0.2."""
    rng = np.random.default_rng(2)
    found = [(adjust_pvalues(rng.random(5), "storey") <= 0.2).any() for _ in range(8000)]
    assert np.mean(found) <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 8000)


def test_q_values_above_one_half_say_nothing_of_smaller_ones():
    # the running minimum would give 6/5 * 0.51 to all, had 0.51 a say
    assert adjust_pvalues([0.30, 0.35, 0.40, 0.45, 0.49, 0.51], "storey")[0] == pytest.approx(0.392)


def test_q_values_are_at_most_twice_those_of_benjamini_and_hochberg():
    rng = np.random.default_rng(0)
    for m in (1, 2, 3, 5, 20):
        for _ in range(50):
            p = rng.random(m) ** rng.integers(1, 4)
            assert (adjust_pvalues(p, "storey") <= 2 * adjust_pvalues(p, "bh") + 1e-12).all()
    np.testing.assert_array_equal(adjust_pvalues([0.2], "storey"), [0.4])
    assert "``2 p``" in adjust_pvalues.__doc__


def test_filters_take_every_correction():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), np.arange(60) % 2
    X[:, :4] += 1.2 * y[:, None]
    for name in ("fdr", "bh", "by", "storey", "holm", "bonferroni"):
        got = WelchT(alpha=0.05, correction=name).fit(X, y)
        np.testing.assert_array_equal(got.support_, adjust_pvalues(got.pvalues_, name) <= 0.05)
        assert got.support_[:4].all()


@pytest.mark.parametrize(
    ("pvalues", "sentence"),
    [
        ([0.1, np.nan], "holds nan at position 1"),
        ([0.1, 1.5], "holds 1.5 at position 1"),
        ([[0.1]], r"has shape \(1, 1\)"),
        ([], r"has shape \(0,\)"),
        (["a"], "must hold numbers"),
    ],
)
def test_what_is_no_p_value_is_refused(pvalues, sentence):
    with pytest.raises(ValueError, match=sentence):
        adjust_pvalues(pvalues)


def test_unknown_words_are_refused():
    with pytest.raises(ValueError, match="method='sidak' is not understood"):
        adjust_pvalues([0.1], "sidak")
    with pytest.raises(ValueError, match="at most 1, or 'conservative' or 'bootstrap' or"):
        adjust_pvalues([0.1], "storey", pi0=2.0)
    with pytest.raises(ValueError, match=r"between 0 and 1.*'smoother'"):
        estimate_pi0([0.1], 1.0)
