"""Gaussian knockoffs: feasibility, optimality, moments."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.covariance import ledoit_wolf

from tamiz.discovery import Knockoffs
from tamiz.discovery.knockoffs.estimates import (
    ESTIMATES,
    estimated_correlations,
    factor_correlations,
    shrunk_correlations,
    sparse_correlations,
)
from tamiz.discovery.knockoffs.gaussian import (
    DenseModel,
    FactorModel,
    equicorrelated,
    gaussian_model,
    mvr,
    mvr_low_rank,
    mvr_objective,
)
from tests.naive import knockoffs as naive


def correlations(p, seed, n=60):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    Z[:, 1:] += 0.8 * Z[:, :-1]
    return np.corrcoef(Z.T)


def standardised(n, p, n_factors, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_factors)) @ rng.normal(size=(n_factors, p))
    X += rng.normal(size=(n, p))
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_equicorrelated_equals_bisection(seed):
    sigma = correlations(5, seed)
    s = equicorrelated(sigma)
    assert np.ptp(s) == 0
    assert s[0] == pytest.approx(naive.equicorrelated(sigma), rel=1e-4)


def test_equicorrelated_is_one_without_correlations():
    assert equicorrelated(np.eye(4)) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(("p", "seed"), [(3, 0), (5, 1), (8, 2), (40, 3)])
def test_joint_correlations_are_positive_semidefinite(p, seed):
    sigma = correlations(p, seed)
    for s in (equicorrelated(sigma), mvr(sigma)):
        assert (s > 0).all() and (s <= 2).all()
        G = naive.joint_correlations(sigma, s)
        assert np.linalg.eigvalsh(G)[0] > -1e-10
    assert mvr_objective(sigma, mvr(sigma)) <= mvr_objective(sigma, equicorrelated(sigma))


@pytest.mark.parametrize(("p", "seed"), [(2, 0), (3, 1), (4, 2), (5, 3)])
def test_mvr_equals_general_minimiser(p, seed):
    sigma = correlations(p, seed)

    def objective(logs):
        G = naive.joint_correlations(sigma, np.exp(logs))
        values = np.linalg.eigvalsh(G)
        return (1.0 / values).sum() if values[0] > 0 else 1e9

    start = np.log(0.5 * equicorrelated(sigma))
    options = {"maxiter": 20000, "maxfev": 20000, "xatol": 1e-9, "fatol": 1e-9}
    best = minimize(objective, start, method="Nelder-Mead", options=options)
    s = mvr(sigma)
    assert objective(np.log(s)) == pytest.approx(best.fun, rel=1e-4)
    assert mvr_objective(sigma, s) == pytest.approx(objective(np.log(s)), rel=1e-8)


def test_mvr_gradient_vanishes_on_many_features():
    sigma = correlations(60, 4, n=200)
    s = mvr(sigma)
    inverse = np.linalg.inv(2 * sigma - np.diag(s))
    gradient = -1 / s**2 + np.square(inverse).sum(axis=1)
    assert np.abs(gradient * s**2).max() < 0.02


def test_low_rank_equals_dense_where_its_bounds_are_not_met():
    factors = factor_correlations(standardised(300, 8, 2), 2)
    sigma = factors.loadings @ factors.loadings.T + np.diag(factors.own)
    np.testing.assert_allclose(np.diag(sigma), 1.0)
    s = mvr_low_rank(factors)
    assert (s <= 2 * factors.own).all() and (s > 0).all()
    dense = mvr(sigma)
    assert (dense < 2 * factors.own).all()
    np.testing.assert_allclose(s, dense, rtol=5e-3)


def test_factor_model_draws_as_the_dense_model_does():
    """The mean given the features, and the covariance of the noise, are those of the formula."""
    factors = factor_correlations(standardised(300, 6, 2), 2)
    s = mvr_low_rank(factors)
    low = FactorModel(*factors, s)
    dense = DenseModel(low.correlations(), s)

    class NoNoise:
        def standard_normal(self, shape):
            return np.zeros(shape)

    Z = np.random.default_rng(1).normal(size=(7, 6))
    np.testing.assert_allclose(low.draw(Z, NoNoise()), dense.draw(Z, NoNoise()), atol=1e-10)
    zero = np.zeros((40000, 6))
    spread = np.cov(low.draw(zero, np.random.default_rng(2))[0].T)
    sigma, D = low.correlations(), np.diag(s)
    np.testing.assert_allclose(spread, 2 * D - D @ np.linalg.inv(sigma) @ D, atol=0.03)


@pytest.mark.parametrize("kind", ["mvr", "equi", "lowrank"])
def test_moments_stay_the_same_when_pairs_are_swapped(kind):
    rng = np.random.default_rng(0)
    factors = factor_correlations(standardised(500, 5, 1), 1)
    sigma = factors.loadings @ factors.loadings.T + np.diag(factors.own)
    if kind == "lowrank":
        model = FactorModel(*factors, mvr_low_rank(factors))
    else:
        model = DenseModel(sigma, mvr(sigma) if kind == "mvr" else equicorrelated(sigma))
    Z = rng.multivariate_normal(np.zeros(5), sigma, size=60000)
    T = model.draw(Z, rng)[0]
    both = np.corrcoef(np.hstack([Z, T]).T)
    expected = naive.joint_correlations(sigma, model.s)
    np.testing.assert_allclose(both, expected, atol=0.02)
    swap = np.array([1, 3])
    order = np.arange(10)
    order[swap], order[swap + 5] = swap + 5, swap
    np.testing.assert_allclose(both[np.ix_(order, order)], both, atol=0.03)


@pytest.mark.parametrize(("n", "p"), [(50, 4), (30, 60)])
def test_shrinkage_equals_that_of_scikit_learn(n, p):
    Z = standardised(n, p, 2)
    sigma, fraction = shrunk_correlations(Z)
    peer, peer_fraction = ledoit_wolf(Z, assume_centered=True)
    assert fraction == pytest.approx(peer_fraction)
    np.testing.assert_allclose(sigma, peer, atol=1e-12)


def test_number_of_factors_is_found():
    for n, p in ((200, 40), (60, 400)):
        assert factor_correlations(standardised(n, p, 3)).loadings.shape == (p, 3)


@pytest.mark.parametrize("method", ["mvr", "equi"])
def test_correlations_of_enough_samples_are_matched_exactly(method):
    Z = standardised(60, 8, 2)
    model, notes = gaussian_model(Z, method)
    assert notes == {"covariance": "sample"}
    T = model.draw(Z, np.random.default_rng(0))[0]
    both = np.hstack([Z, T])
    sigma = Z.T @ Z / len(Z)
    np.testing.assert_allclose(
        both.T @ both / len(Z), naive.joint_correlations(sigma, model.s), atol=1e-6
    )
    assert gaussian_model(Z[:16], method)[1]["covariance"] in ESTIMATES


# ---------------------------------------------------------------------------- several copies


@pytest.mark.parametrize(("k", "seed"), [(2, 0), (3, 1), (6, 2)])
def test_several_copies_are_feasible_and_optimal(k, seed):
    sigma = correlations(4, seed)
    assert equicorrelated(sigma, k)[0] == pytest.approx(naive.equicorrelated(sigma, k), rel=1e-4)

    def objective(logs):
        values = np.linalg.eigvalsh(naive.joint_correlations(sigma, np.exp(logs), k))
        return (1.0 / values).sum() if values[0] > 0 else 1e9

    start = np.log(0.5 * equicorrelated(sigma, k))
    options = {"maxiter": 20000, "maxfev": 20000, "xatol": 1e-9, "fatol": 1e-9}
    best = minimize(objective, start, method="Nelder-Mead", options=options)
    s = mvr(sigma, k)
    assert objective(np.log(s)) == pytest.approx(best.fun, rel=1e-4)
    assert mvr_objective(sigma, s, k) == pytest.approx(objective(np.log(s)), rel=1e-8)
    assert (s < mvr(sigma)).all()  # closer to the features than one copy is


@pytest.mark.parametrize("method", ["mvr", "equi"])
def test_several_copies_match_the_samples_exactly(method):
    Z = standardised(60, 8, 2)
    model, notes = gaussian_model(Z, method, n_copies=3)
    assert notes == {"covariance": "sample"}
    both = np.hstack([Z, *model.draw(Z, np.random.default_rng(0))])
    expected = naive.joint_correlations(Z.T @ Z / len(Z), model.s, 3)
    np.testing.assert_allclose(both.T @ both / len(Z), expected, atol=1e-6)
    assert gaussian_model(Z[:33], method, n_copies=3)[1]["covariance"] in ESTIMATES


def test_several_copies_of_few_factors():
    rng = np.random.default_rng(0)
    factors = factor_correlations(standardised(300, 6, 2), 2)
    model = FactorModel(*factors, mvr_low_rank(factors, 3), 3)
    sigma = model.correlations()
    dense = mvr(sigma, 3)
    assert (dense < 4 / 3 * factors.own).all()
    np.testing.assert_allclose(model.s, dense, rtol=5e-3)
    Z = rng.multivariate_normal(np.zeros(6), sigma, size=60000)
    both = np.corrcoef(np.hstack([Z, *model.draw(Z, rng)]).T)
    np.testing.assert_allclose(both, naive.joint_correlations(sigma, model.s, 3), atol=0.02)


# ---------------------------------------------------------------------------------- the estimates


def drawn(sigma, n, seed=0):
    Z = np.random.default_rng(seed).multivariate_normal(np.zeros(len(sigma)), sigma, size=n)
    return (Z - Z.mean(axis=0)) / Z.std(axis=0)


def neighbours(p, rho):
    place = np.arange(p)
    return rho ** np.abs(place[:, None] - place)


@pytest.mark.parametrize("kind", ["neighbours", "causes", "all alike"])
def test_the_estimate_is_the_one_that_new_rows_fit(kind):
    rng = np.random.default_rng(1)
    if kind == "neighbours":
        sigma, names = neighbours(150, 0.4), {"sparse", "Ledoit-Wolf"}
    elif kind == "causes":
        loads = 0.5 * rng.normal(size=(150, 3))
        spread = np.sqrt(1 + (loads**2).sum(axis=1))
        sigma = (loads @ loads.T + np.eye(150)) / np.outer(spread, spread)
        names = {"factors", "factors and sparse"}
    else:
        sigma, names = np.full((150, 150), 0.05) + 0.95 * np.eye(150), {"Ledoit-Wolf", "factors"}
    Z = drawn(sigma, 200)
    found, notes = estimated_correlations(Z)
    assert notes["covariance"] in names
    assert np.linalg.eigvalsh(found)[0] > 0
    np.testing.assert_allclose(np.diag(found), 1.0, atol=1e-12)
    new = drawn(sigma, 4000, seed=5)
    fits = {name: -naive.log_density(estimate(Z), new) for name, estimate in ESTIMATES.items()}
    assert -naive.log_density(found, new) <= min(fits.values()) * 1.02
    again, same = estimated_correlations(Z)
    np.testing.assert_array_equal(again, found)
    assert same == notes


def test_sparse_correlations_equal_loops():
    Z = drawn(neighbours(40, 0.6), 120)
    got = sparse_correlations(Z)
    np.testing.assert_allclose(got, naive.sparse_correlations(Z), atol=1e-12)
    assert (got == 0).sum() > 40 * 30
    few = drawn(neighbours(40, 0.9), 25)  # what is left of it is no correlation matrix
    np.testing.assert_allclose(sparse_correlations(few), naive.sparse_correlations(few), atol=1e-12)
    assert np.linalg.eigvalsh(sparse_correlations(few))[0] == pytest.approx(0.05)


def test_what_factors_leave_is_looked_at_in_its_own_units():
    """Pairs that go together beside a cause of everything, which explains 0.7 of each feature."""
    pairs = np.kron(np.eye(40), [[1.0, 0.8], [0.8, 1.0]])
    sigma = 0.7 + 0.3 * pairs
    found = ESTIMATES["factors and sparse"](drawn(sigma, 300))
    partners = found[np.arange(0, 80, 2), np.arange(1, 80, 2)]
    np.testing.assert_allclose(partners, 0.94, atol=0.05)  # factors alone leave 0.7
    others = found[0, 2:]
    np.testing.assert_allclose(others, 0.7, atol=0.12)


def test_knockoffs_of_common_causes_keep_the_rate_with_few_samples():
    """By Ledoit and Wolf alone 0.30 of what was found was wrong, over sixty tables; now 0.18."""
    rates = {"chosen": [], "shrunk": []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        loads = 0.4 * rng.normal(size=(3, 300))
        X = rng.normal(size=(200, 3)) @ loads + rng.normal(size=(200, 300))
        X /= np.sqrt(1 + (loads**2).sum(axis=0))
        relevant = rng.choice(300, 20, replace=False)
        y = X[:, relevant] @ np.sign(loads[0, relevant]) + 2.2 * rng.normal(size=200)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        for name, known in (("chosen", None), ("shrunk", shrunk_correlations(Z)[0])):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = Knockoffs("linear", covariance=known, fdr=0.2, random_state=seed).fit(X, y)
            chosen = np.flatnonzero(found.support_)
            rates[name].append(len(np.setdiff1d(chosen, relevant)) / max(1, len(chosen)))
    assert np.mean(rates["chosen"]) <= 0.2 + np.sqrt(0.16 / 12)
    assert np.mean(rates["shrunk"]) > np.mean(rates["chosen"])


@pytest.mark.parametrize("p", [7, 33, 70])
def test_blocks_of_coordinates_end_at_the_optimum(p):
    """Sizes below, at and beyond a block; no coordinate can be moved to lower the objective."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(3 * p, p))
    X[:, 1:] += X[:, :-1]
    sigma = np.corrcoef(X.T)
    for n_copies in (1, 3):
        s = mvr(sigma, n_copies)
        best = mvr_objective(sigma, s, n_copies)
        assert np.isfinite(best)
        for j in range(0, p, 5):
            for factor in (0.99, 1.01):
                moved = s.copy()
                moved[j] *= factor
                assert mvr_objective(sigma, moved, n_copies) > best * (1 - 1e-5)
        order = rng.permutation(p)
        again = mvr(sigma[np.ix_(order, order)], n_copies)
        np.testing.assert_allclose(again, s[order], rtol=0.02)


def test_the_optimum_of_nearly_singular_correlations():
    """Where rounding errors would pile up in an inverse that is only followed."""
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(400, 80)), axis=1)
    sigma = 0.999 * np.corrcoef(walk.T) + 0.001 * np.eye(80)
    s = mvr(sigma)
    best = mvr_objective(sigma, s)
    for other in (0.999 * s, 1.0005 * s, equicorrelated(sigma), 0.5 * equicorrelated(sigma)):
        assert mvr_objective(sigma, other) >= best * (1 - 1e-6)


@pytest.mark.parametrize("method", ["mvr", "equi", "lowrank"])
@pytest.mark.parametrize("n", [40, 400])
def test_what_is_drawn_does_not_hang_on_rounding(method, n):
    """A seed draws the same on every machine, but for as much as a root of rounding errors."""
    Z = standardised(n, 30, 3)
    changed = Z * (1.0 + 1e-14 * np.random.default_rng(5).standard_normal(Z.shape))
    first, again = (
        gaussian_model(table, method)[0].draw(table, np.random.default_rng(7))
        for table in (Z, changed)
    )
    assert np.abs(first - again).max() < 1e-5
