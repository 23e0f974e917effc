"""KolmogorovSmirnov: against the definition and scipy; p-values exact and in the limit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tamiz.filters import KolmogorovSmirnov
from tamiz.filters.univariate.kolmogorov_smirnov import smirnov_pvalues
from tests.naive import univariate as naive


@given(
    n=st.integers(2, 60),
    n_classes=st.integers(2, 4),
    seed=st.integers(0, 2**31),
    how=st.sampled_from(["weighted", "max"]),
    weighted=st.booleans(),
)
def test_equal_to_the_definition(n, n_classes, seed, how, weighted):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 4, n), np.full(n, 0.1)])
    weight = rng.random(n) + 0.2 if weighted else None
    got = KolmogorovSmirnov(multiclass=how).fit(X, y, sample_weight=weight)
    for j in range(3):
        expected = naive.kolmogorov_smirnov(X[:, j].tolist(), y.tolist(), how, weight)
        assert got.scores_[j] == pytest.approx(expected, abs=1e-12)
    assert got.order_[-1] == 2


@pytest.mark.parametrize("sizes", [(4, 4), (3, 7), (22, 40), (1, 9), (80, 90)])
def test_exact_pvalues_equal_scipy(sizes):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], sizes)
    X = rng.standard_normal((sum(sizes), 8)) + y[:, None] * np.arange(8)
    got = KolmogorovSmirnov().fit(X, y)
    for j in range(8):
        expected = stats.ks_2samp(X[y == 0, j], X[y == 1, j], method="exact")
        assert got.scores_[j] == pytest.approx(expected.statistic)
        assert got.pvalues_[j] == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize(("m", "n"), [(2, 3), (3, 3), (2, 5)])
def test_exact_pvalues_equal_counting_all_orders(m, n):
    distances = []
    for first in itertools.combinations(range(m + n), m):
        a = [(float(i), 1.0) for i in first]
        b = [(float(i), 1.0) for i in range(m + n) if i not in first]
        distances.append(naive.smirnov_distance(a, b))
    for d in sorted(set(distances)):
        share = np.mean([other >= d - 1e-9 for other in distances])
        assert smirnov_pvalues(np.array([d]), m, n)[0] == pytest.approx(share)


def test_large_samples_follow_the_limit():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    X = rng.standard_normal((4000, 5)) + 0.05 * np.arange(5) * y[:, None]
    got = KolmogorovSmirnov().fit(X, y)
    for j in range(5):
        expected = stats.ks_2samp(X[y == 0, j], X[y == 1, j], method="exact").pvalue
        assert got.pvalues_[j] == pytest.approx(expected, rel=0.15)


def test_sees_spread_and_not_the_mean_alone():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 200)
    X = rng.standard_normal((400, 2))
    X[:, 1] *= np.where(y, 4, 1)
    assert KolmogorovSmirnov().fit(X, y).order_[0] == 1


def test_whole_weights_give_the_pvalues_of_copies():
    rng = np.random.default_rng(0)
    X, y, weight = rng.standard_normal((30, 3)), np.tile([0, 1], 15), rng.integers(1, 4, 30)
    repeated = np.repeat(np.arange(30), weight)
    one = KolmogorovSmirnov().fit(X, y, sample_weight=weight).pvalues_
    np.testing.assert_allclose(one, KolmogorovSmirnov().fit(X[repeated], y[repeated]).pvalues_)
