"""Selection by p-value, and exact p-values of small samples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tamiz.filters import (
    AUCScore,
    ChiSquared,
    FisherScore,
    KolmogorovSmirnov,
    PearsonScore,
    SignalToNoise,
    WelchT,
)
from tamiz.filters.univariate.auc import mann_whitney_pvalues, wins_distribution
from tamiz.filters.univariate.base import corrected
from tamiz.filters.univariate.kolmogorov_smirnov import smirnov_pvalues

WITH = [
    WelchT(),
    PearsonScore(),
    AUCScore(),
    KolmogorovSmirnov(),
    ChiSquared(),
    FisherScore(variant="multiclass"),
]


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_corrections(n):
    p = np.random.default_rng(n).random(n) ** 3
    p[: n // 3] = p[0]  # ties
    np.testing.assert_allclose(corrected(p, "fdr"), stats.false_discovery_control(p))
    np.testing.assert_allclose(corrected(p, "bonferroni"), np.minimum(1, n * p))
    np.testing.assert_array_equal(corrected(p, "none"), p)


@pytest.mark.parametrize("selector", WITH, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("correction", ["none", "fdr", "bonferroni"])
def test_selection_by_pvalue(selector, correction):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 50)
    X = np.column_stack([rng.normal(size=(100, 60)), np.ones(100)])
    X[:, :5] += 1.5 * y[:, None]
    got = selector.set_params(alpha=0.05, correction=correction).fit(X, y)
    np.testing.assert_array_equal(got.support_, corrected(got.pvalues_, correction) <= 0.05)
    assert got.support_[:5].all()
    assert not got.support_[-1]
    assert got.transform(X).shape[1] == got.support_.sum()
    assert selector.set_params(alpha=1.0).fit(X, y).support_.sum() == 60  # no constant
    assert selector.set_params(n_features_to_select=3).fit(X, y).support_.sum() == 3
    selector.set_params(n_features_to_select=None, alpha=None, correction="none")


def test_alpha_without_pvalues():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.tile([0, 1, 2], 10)
    with pytest.raises(ValueError, match=r"alpha=0.05 selects by p-value, but AUCScore has none"):
        AUCScore(alpha=0.05).fit(X, y)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        WelchT(alpha=0.0).fit(X, y)
    assert not hasattr(SignalToNoise(), "alpha")


# ----------------------------------------------------------------------------------------- exact


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 5), (3, 4), (5, 5), (2, 9), (8, 3)])
def test_numbers_of_wins_by_enumeration(m, n):
    m, n = min(m, n), max(m, n)
    count = np.zeros(m * n + 1)
    for ranks in combinations(range(m + n), m):
        count[sum(ranks) - m * (m - 1) // 2] += 1
    np.testing.assert_allclose(wins_distribution(m, n), count / count.sum(), rtol=1e-12)


@pytest.mark.parametrize(("m", "n"), [(5, 5), (8, 8), (8, 60), (3, 200), (9, 9), (2, 2), (1, 7)])
def test_mann_whitney_is_that_of_scipy(m, n):
    rng = np.random.default_rng(m * n)
    y = np.repeat([0, 1], [m, n])
    X = rng.normal(size=(m + n, 6)) + np.linspace(0, 2, 6) * y[:, None]
    X[:, 5] = rng.integers(0, 4, m + n)  # ties
    got = AUCScore().fit(X, y).pvalues_
    for j in range(6):
        expected = stats.mannwhitneyu(X[y == 1, j], X[y == 0, j]).pvalue
        assert got[j] == pytest.approx(expected, rel=1e-9)


def test_a_long_tail_stays_accurate():
    m, n = 8, 2000
    tail = stats.mannwhitneyu(np.arange(8.0), np.arange(8.0, 2008), method="exact").pvalue
    got = mann_whitney_pvalues(np.zeros(1), np.zeros(1), m, n)[0]
    assert got == pytest.approx(tail, rel=1e-9)
    assert wins_distribution(m, n).sum() == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize(("m", "n"), [(100, 110), (212, 357), (7, 900), (300, 300), (1, 3)])
def test_smirnov_is_exact_for_larger_samples(m, n):
    rng = np.random.default_rng(m + n)
    y = np.repeat([0, 1], [m, n])
    X = rng.normal(size=(m + n, 5)) + np.linspace(0, 1, 5) * y[:, None]
    got = KolmogorovSmirnov().fit(X, y).pvalues_
    for j in range(5):
        expected = stats.ks_2samp(X[y == 0, j], X[y == 1, j], method="exact").pvalue
        assert got[j] == pytest.approx(expected, rel=1e-6)


def test_smirnov_beyond_the_exact_range_is_that_of_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=1200), rng.normal(size=1300) + 0.05
    both = stats.ks_2samp(a, b, method="asymp")
    assert smirnov_pvalues(np.array([both.statistic]), 1200, 1300)[0] == pytest.approx(both.pvalue)
