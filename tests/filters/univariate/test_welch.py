"""WelchT: against scipy, against Welch's formula for several classes, and in degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tamiz.filters import WelchT
from tamiz.filters.univariate.welch import welch_anova, welch_t
from tamiz.scale.moments import ClassMoments


def groups(n_classes, seed=0, p=6):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, 40 * n_classes)
    X = rng.standard_normal((len(y), p)) * (1 + y[:, None]) + 0.3 * y[:, None]
    return X, y


@pytest.mark.parametrize("seed", range(5))
def test_two_classes_equal_scipy(seed):
    X, y = groups(2, seed)
    t, pvalues = stats.ttest_ind(X[y == 0], X[y == 1], equal_var=False)
    got = WelchT().fit(X, y)
    np.testing.assert_allclose(got.scores_, np.abs(t), rtol=1e-10)
    np.testing.assert_allclose(got.pvalues_, pvalues, rtol=1e-9)


def test_worked_data_equal_scipy(d8):
    t, pvalues = stats.ttest_ind(d8.X[d8.y == 1], d8.X[d8.y == -1], equal_var=False)
    got = WelchT().fit(d8.X, d8.y)
    np.testing.assert_allclose(got.scores_, np.abs(t))
    np.testing.assert_allclose(got.pvalues_, pvalues)


def naive_anova(parts):
    """Welch's F and its degrees of freedom, from the formula of his paper."""
    k = len(parts)
    n = [len(part) for part in parts]
    weights = [len(part) / np.var(part, ddof=1) for part in parts]
    means = [np.mean(part) for part in parts]
    total = sum(weights)
    middle = sum(w * m for w, m in zip(weights, means, strict=True)) / total
    between = sum(w * (m - middle) ** 2 for w, m in zip(weights, means, strict=True)) / (k - 1)
    lam = sum((1 - w / total) ** 2 / (m - 1) for w, m in zip(weights, n, strict=True))
    return between / (1 + 2 * (k - 2) / (k**2 - 1) * lam), (k**2 - 1) / (3 * lam)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_several_classes_equal_the_formula(n_classes):
    X, y = groups(n_classes)
    got = WelchT().fit(X, y)
    for j in range(X.shape[1]):
        f, freedom = naive_anova([X[y == k, j] for k in range(n_classes)])
        assert got.scores_[j] ** 2 == pytest.approx(f, rel=1e-10)
        assert got.pvalues_[j] == pytest.approx(stats.f.sf(f, n_classes - 1, freedom), rel=1e-8)


def test_two_classes_are_the_special_case():
    X, y = groups(2)
    moments = ClassMoments.of(X, y, 2)
    t, p_t = welch_t(moments)
    f, p_f = welch_anova(moments)
    np.testing.assert_allclose(f, t**2)
    np.testing.assert_allclose(p_f, p_t)


def test_classes_without_variance():
    y = np.repeat([0, 1, 2], 4)
    noise = np.random.default_rng(0).standard_normal(12)
    apart = np.where(y == 2, noise, y)  # two constant classes with different means
    alike = np.where(y == 2, noise, 7.0)  # with the same mean
    constant = np.full(12, 7.0)
    got = WelchT().fit(np.column_stack([apart, alike, constant, noise]), y)
    assert got.scores_[0] == np.inf
    assert got.pvalues_[0] == 0
    assert np.isfinite(got.scores_[1])
    assert got.scores_[1] > 0
    assert got.scores_[2] == 0
    assert got.pvalues_[2] == 1
    # the limit: a tiny variance in the two constant classes
    tiny = alike + 1e-6 * np.where(y == 2, 0, np.tile([1, -1], 6))
    assert got.scores_[1] == pytest.approx(WelchT().fit(tiny[:, None], y).scores_[0], rel=1e-4)


def test_single_samples_are_left_out():
    X, y = groups(2)
    more = np.vstack([X, X[:1] + 100]), np.append(y, 9)
    np.testing.assert_array_equal(WelchT().fit(*more).scores_, WelchT().fit(X, y).scores_)
    with pytest.raises(ValueError, match="two classes of at least two samples each"):
        WelchT().fit([[1.0], [2.0], [3.0]], [0, 0, 1])
