"""QPFS against a general solver and plain loops, its approximations, and its behaviour."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import quadprog
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from tamiz.filters import redundancy
from tamiz.filters.qpfs import QPFS
from tamiz.filters.redundancy import smallest_eigenvalue
from tamiz.information import encode
from tests.checks import assert_every_check_passes
from tests.frames import to_polars
from tests.naive import qpfs as naive


def convex_problem(m, seed, rank=None):
    """A positive definite matrix with positive entries, and a relevance."""
    rng = np.random.default_rng(seed)
    U = rng.random((m, rank or m))
    Q = U @ U.T / m
    return Q + (0.0 if rank else 0.05) * np.eye(m), rng.random(m)


def given(Q, F, **params):
    """Fit to a matrix and a relevance; the data do not matter."""
    X = np.arange(2.0 * len(F)).reshape(2, len(F))
    return QPFS(similarity=Q, relevance=F, **params).fit(X, [0, 1])


def kkt(x, Q, F, alpha):
    """Violation of the optimality conditions over the simplex."""
    g = (1 - alpha) * Q @ x - alpha * F
    return float(g[x > 0].max() - g.min())


def general_solver(Q, F, alpha):
    """The minimum by Goldfarb and Idnani's method, for a positive definite matrix."""
    m = len(F)
    constraints = np.column_stack([np.ones(m), np.eye(m)])
    return quadprog.solve_qp((1 - alpha) * Q, alpha * F, constraints, np.eye(m + 1)[0], 1)[:2]


@pytest.fixture(scope="module")
def colon(data_dir):
    data = np.load(data_dir / "colon.npz")
    return np.log(data["X"].astype(float)), data["y"]


# ----------------------------------------------------------------------------- the optimum


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("m", [1, 2, 7, 60])
def test_equals_a_general_solver(m, alpha):
    for seed in range(3):
        Q, F = convex_problem(m, seed)
        x, value = general_solver(Q, F, alpha)
        found = given(Q, F, alpha=alpha, tol=1e-12)
        assert found.objective_ == pytest.approx(value, abs=1e-10)
        assert found.objective_ == pytest.approx(naive.objective(found.weights_, Q, F, alpha))
        np.testing.assert_allclose(found.weights_, x, atol=1e-7)
        assert found.weights_.sum() == pytest.approx(1.0)
        assert found.weights_.min() >= 0.0
        assert found.is_stationary_only_ is False
        assert found.status_ == "converged"


@pytest.mark.parametrize("alpha", ["auto", 0.0, 0.3])
@pytest.mark.parametrize("similarity", ["mutual_information", "pearson"])
def test_two_thousand_genes(colon, similarity, alpha):
    X, y = colon
    found = QPFS(similarity=similarity, alpha=alpha).fit(X, y)
    x, F, a = found.weights_, found.relevance_, found.alpha_
    if similarity == "pearson":
        Q = np.abs(np.corrcoef(X.T))
    else:
        Q = encode(X, bins="mean_std").matrix()
    if alpha == "auto":
        assert a == pytest.approx(Q.mean() / (Q.mean() + F.mean()))
    assert found.objective_ == pytest.approx(naive.objective(x, Q, F, a), abs=1e-12)
    assert kkt(x, Q, F, a) <= 1e-8
    assert found.kkt_violation_ <= 1e-8
    # Neither matrix is positive semi-definite; the attribute says so.
    assert found.is_stationary_only_ is True
    assert found.smallest_eigenvalue_ < 0
    # A stationary point on whose support the problem is convex is the minimum over its support.
    s = np.flatnonzero(x)
    inner = Q[np.ix_(s, s)]
    if np.linalg.eigvalsh(inner)[0] > 1e-9:
        assert found.objective_ == pytest.approx(general_solver(inner, F[s], a)[1], abs=1e-8)


def test_two_thousand_genes_made_convex(colon):
    X, y = colon
    Q = encode(X, bins="mean_std").matrix()
    Q[np.diag_indices(2000)] += 1.5  # now positive definite
    F = encode(X, bins="mean_std").relevance(y)
    found = given(Q, F, alpha=0.5, tol=1e-9)
    assert found.is_stationary_only_ is False
    assert kkt(found.weights_, Q, F, 0.5) <= 1e-8
    # The general solver takes minutes for all; outside a generous set the gradient is larger.
    g = 0.5 * Q @ found.weights_ - 0.5 * F
    s = np.argsort(g)[:300]
    _, value = general_solver(Q[np.ix_(s, s)], F[s], 0.5)
    assert set(np.flatnonzero(found.weights_)) <= set(s)
    assert found.objective_ == pytest.approx(value, abs=1e-8)


def test_terms_equal_plain_loops():
    X, y = load_wine(return_X_y=True)
    X, y = X[::2], y[::2]
    for similarity, terms in (
        ("mutual_information", naive.information_terms),
        ("pearson", naive.pearson_terms),
    ):
        Q, F = terms(X, y.tolist())
        found = QPFS(similarity=similarity, rank_tol=0.0, diagonal="exact").fit(X, y)
        np.testing.assert_allclose(found.relevance_, F, atol=1e-12)
        assert found.alpha_ == pytest.approx(Q.mean() / (Q.mean() + F.mean()))
        values, vectors = np.linalg.eigh(Q)
        Q_convex = (vectors * np.maximum(values, 0)) @ vectors.T
        x = naive.solve(Q_convex, F, found.alpha_)
        expected = naive.objective(x, Q_convex, F, found.alpha_)
        assert found.objective_ == pytest.approx(expected, abs=1e-9)
        assert found.order_.tolist() == naive.ranking(found.weights_, F)


@pytest.mark.parametrize("similarity", ["mutual_information", "pearson"])
def test_alpha_one_is_maximum_relevance(similarity):
    X, y = load_breast_cancer(return_X_y=True)
    found = QPFS(similarity=similarity, alpha=1.0).fit(X, y)
    assert found.order_.tolist() == np.argsort(-found.relevance_, kind="stable").tolist()
    assert found.n_suggested_ == 1
    assert found.objective_ == pytest.approx(-found.relevance_.max())
    nearly = QPFS(similarity=similarity, alpha=1.0 - 1e-9).fit(X, y)
    assert nearly.order_.tolist() == found.order_.tolist()


def test_alpha_zero_ignores_the_target():
    X, y = load_breast_cancer(return_X_y=True)
    found = QPFS(alpha=0.0).fit(X, y)
    other = QPFS(alpha=0.0).fit(X, np.arange(len(y)) % 2)
    np.testing.assert_allclose(found.weights_, other.weights_)
    assert found.objective_ > 0


def test_scaling_of_both_terms_changes_nothing():
    Q, F = convex_problem(40, 1)
    for alpha in ("auto", 0.4):
        weights = [given(c * Q, c * F, alpha=alpha).weights_ for c in (1e-9, 1.0, 1e9)]
        np.testing.assert_allclose(weights[0], weights[1], atol=1e-7)
        np.testing.assert_allclose(weights[2], weights[1], atol=1e-7)


def test_order_of_columns_does_not_matter(colon):
    X, y = colon
    X = X[:, :400]
    shuffled = np.random.default_rng(0).permutation(400)
    for alpha in ("auto", 0.1):
        found = QPFS(alpha=alpha, tol=1e-12).fit(X, y)
        other = QPFS(alpha=alpha, tol=1e-12).fit(X[:, shuffled], y)
        np.testing.assert_allclose(other.weights_, found.weights_[shuffled], atol=1e-9)


def test_ties_are_broken_by_relevance():
    Q = np.eye(5)
    F = np.array([0.1, 0.9, 0.1, 0.05, 0.9])
    found = given(Q, F, alpha=0.9)
    assert found.weights_[1] == pytest.approx(found.weights_[4])
    assert sorted(found.order_[:2]) == [1, 4]
    assert found.order_[2:].tolist() == [0, 2, 3]
    assert found.n_suggested_ == 2
    equal = given(np.ones((4, 4)), np.ones(4))
    assert equal.order_.shape == (4,)


def test_constant_features_come_last():
    X, y = load_breast_cancer(return_X_y=True)
    wider = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X))])
    for params in ({}, {"alpha": 0.0}, {"similarity": "pearson", "alpha": 0.05}):
        found, plain = QPFS(**params).fit(wider, y), QPFS(**params).fit(X, y)
        np.testing.assert_allclose(found.weights_[1:-1], plain.weights_, atol=1e-9)
        assert found.order_[-2:].tolist() == [0, 31]
        assert found.selection_.notes["n_left_out"] == 2


def test_nothing_but_constants():
    with pytest.warns(UserWarning, match="QPFS found no relevant feature: every feature is"):
        found = QPFS().fit(np.ones((6, 3)), [0, 1] * 3)
    assert found.weights_.tolist() == [0.0] * 3
    assert not found.support_.any()
    assert found.order_.tolist() == [0, 1, 2]


def test_a_target_without_any_relation():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4)
    with pytest.warns(UserWarning, match="QPFS found no relevant feature"):
        found = QPFS(bins=None).fit(X, np.repeat([0, 1], 8))
    assert found.alpha_ == 0.0
    assert not found.support_.any()
    assert found.weights_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("n", [2, 3, 64, 65, 1000])
def test_any_number_of_samples(n):
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = np.column_stack([y, rng.integers(0, 3, n), 1 - y])
    for params in ({"bins": None}, {"similarity": "pearson"}):
        found = QPFS(**params).fit(X, y)
        assert found.weights_.sum() == pytest.approx(1.0)
        assert found.weights_[0] + found.weights_[2] >= found.weights_[1] - 1e-9


def test_indefinite_matrix_is_reported_and_can_be_made_convex():
    Q = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])  # eigenvalues -1, 3, 3
    F = np.zeros(3)
    found = given(Q, F, alpha=0.0)
    assert found.is_stationary_only_ is True
    assert found.smallest_eigenvalue_ == pytest.approx(-1.0)
    assert kkt(found.weights_, Q, F, 0.0) <= 1e-8
    convex = given(Q, F, alpha=0.0, rank_tol=0.0, diagonal="exact")
    assert convex.is_stationary_only_ is False
    assert convex.selection_.notes["negative_eigenvalues"] == 1
    assert convex.weights_[2] == pytest.approx(1 / 3)  # how the rest is shared does not matter


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.99, 1.01, 5.0])
@pytest.mark.parametrize("large", [400, 300])
def test_smallest_eigenvalue_of_large_matrices(shift, large, limits):
    limits(redundancy, _LARGE=large, _PART=large)
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(400, 400)))[0]
    values = np.linspace(-1.0, 4.0, 400) + shift
    estimate, negative = smallest_eigenvalue((U * values) @ U.T)
    if values[0] > 0:
        assert estimate is None
        assert negative is (False if large == 400 else None)
    elif large == 400:
        assert negative is True
        assert values[0] - 1e-9 <= estimate < 0
        assert estimate == pytest.approx(values[0], abs=0.1)
    elif negative:
        assert values[0] - 1e-9 <= estimate < 0


# ----------------------------------------------------------------------- approximations


def subspace_solver(Q, F, alpha, rank):
    """(3.8) to (3.10) of the text by a general solver: weights and objective."""
    values, U = np.linalg.eigh(Q)
    values, U = values[-rank:], U[:, -rank:]
    constraints = np.column_stack([U.sum(axis=0), U.T])
    H = (1 - alpha) * np.diag(values)
    y, best = quadprog.solve_qp(H, alpha * U.T @ F, constraints, np.eye(len(F) + 1)[0], 1)[:2]
    return U @ y, best


@pytest.mark.parametrize("delta", [0.0, 0.003, 0.02, 0.5])
def test_weights_in_a_subspace(delta):
    Q, F = convex_problem(50, 2, rank=10)
    Q += 0.01 * np.diag(np.random.default_rng(0).random(50))
    rank = int((np.linalg.eigvalsh(Q) > delta).sum())
    found = given(Q, F, alpha=0.3, rank_tol=delta, tol=1e-10)
    assert found.selection_.notes["rank"] == rank
    x, best = subspace_solver(Q, F, 0.3, rank)
    assert found.objective_ == pytest.approx(best, abs=1e-9)
    np.testing.assert_allclose(found.weights_, x, atol=1e-7)
    assert found.n_suggested_ >= 50 - rank + 1
    assert found.is_stationary_only_ is False
    whole = given(Q, F, alpha=0.3, tol=1e-10)
    if rank == 50:  # nothing left out: the exact problem
        np.testing.assert_allclose(found.weights_, whole.weights_, atol=1e-7)
    cost = naive.objective(found.weights_, Q, F, 0.3) - whole.objective_
    assert -1e-9 <= cost <= found.error_bound_ + 1e-9
    # the printed bound, f(x*) - f(x) <= l (M - k) delta / 2, holds because f(x*) is the least;
    # it does not limit the cost, the other way round, which with one eigenvector exceeds it
    bound = found.selection_.notes["published_bound"]
    assert bound == pytest.approx(0.5 * found.n_suggested_ * (50 - rank) * delta, abs=1e-12)
    assert -cost <= bound + 1e-9
    assert whole.error_bound_ is None


def test_the_published_bound_holds_with_free_weights_only():
    """Fine and Scheinberg's bound is for a smaller matrix, not for fewer points."""
    Q, F = np.full((20, 20), 1.0) + 0.02 * np.eye(20), np.arange(20.0) / 20
    delta = 0.021
    values, U = np.linalg.eigh(Q)
    low_rank = (U[:, -1:] * values[-1:]) @ U[:, -1:].T
    x = naive.solve(low_rank + 1e-9 * np.eye(20), F, 0.5)
    best = given(Q, F, alpha=0.5, tol=1e-10).objective_
    cost = naive.objective(x, Q, F, 0.5) - best
    assert -1e-6 <= cost <= 0.5 * np.count_nonzero(x > 1e-9) * 19 * delta
    found = given(Q, F, alpha=0.5, rank_tol=delta)
    cost = naive.objective(found.weights_, Q, F, 0.5) - best
    np.testing.assert_allclose(found.weights_, 0.05)  # one eigenvector leaves no choice
    assert 0.2 < cost <= found.error_bound_
    l = np.count_nonzero(x > 1e-9)
    assert cost > 0.5 * l * 19 * delta


@pytest.mark.parametrize("diagonal", ["nystroem", "exact"])
def test_bound_holds_for_indefinite_matrices(diagonal):
    rng = np.random.default_rng(3)
    for seed in range(5):
        U = rng.random((30, 30))
        Q = np.abs(U + U.T) / 2 + 1.5 * np.eye(30)
        F = rng.random(30)
        found = given(Q, F, alpha=0.4, rank_tol=0.1 * seed, diagonal=diagonal)
        true = naive.objective(found.weights_, Q, F, 0.4)
        best = min(given(Q, F, alpha=0.4).objective_, true)
        assert true - best <= found.error_bound_ + 1e-9


def test_no_eigenvalue_is_left():
    Q, F = convex_problem(5, 0)
    with pytest.raises(ValueError, match=r"No eigenvalue .* exceeds rank_tol=100; the largest is"):
        given(Q, F, rank_tol=100.0)
    opposed = np.array([[1.0, -0.9], [-0.9, 1.0]])
    with pytest.raises(ValueError, match="No combination of the 1 eigenvectors"):
        given(opposed, F[:2], alpha=0.5, rank_tol=0.5)
    assert given(opposed, F[:2], alpha=0.5, rank_tol=0.5, diagonal="exact").weights_.sum() == 1.0


@pytest.mark.parametrize("similarity", ["mutual_information", "pearson"])
def test_sampling_everything_is_exact(similarity):
    X, y = load_breast_cancer(return_X_y=True)
    exact = QPFS(similarity=similarity).fit(X, y)
    found = QPFS(similarity=similarity, nystroem=1.0).fit(X, y)
    np.testing.assert_array_equal(found.weights_, exact.weights_)
    assert found.alpha_ == exact.alpha_
    assert found.approximation_error_ == 0.0


def test_nystroem_is_exact_if_the_sample_spans_the_matrix():
    Q, F = convex_problem(60, 4, rank=8)
    params = {"alpha": 0.3, "nystroem": 0.5, "random_state": 0, "tol": 1e-12}
    found = given(Q, F, **params)
    assert found.approximation_error_ < 1e-6
    assert found.selection_.notes["rank"] == 8
    x, best = subspace_solver(Q, F, 0.3, 8)
    assert found.objective_ == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(found.weights_, x, atol=1e-5)
    free = given(Q, F, diagonal="exact", **params)
    assert free.objective_ == pytest.approx(given(Q, F, alpha=0.3).objective_, abs=1e-7)


@pytest.mark.parametrize("m", [60, 600])
def test_nystroem_equals_the_formula(m):
    Q, F = convex_problem(m, 5)
    found = given(Q, F, alpha=0.3, nystroem=0.1, random_state=1, tol=1e-10)
    sample = found.sampled_features_
    assert len(sample) == m // 10
    approximate = naive.nystroem(Q, sample)
    x, best = subspace_solver(approximate, F, 0.3, m // 10)
    np.testing.assert_allclose(found.weights_, x, atol=1e-7)
    assert found.objective_ == pytest.approx(best, abs=1e-9)
    assert found.objective_ == pytest.approx(naive.objective(x, approximate, F, 0.3), abs=1e-9)
    assert found.kkt_violation_ <= 1e-10
    rest = np.setdiff1d(np.arange(m), sample)
    E = Q[np.ix_(rest, rest)]
    error = np.linalg.norm(E - approximate[np.ix_(rest, rest)]) / np.linalg.norm(E)
    assert found.approximation_error_ == pytest.approx(error, rel=1e-6 if m == 60 else 0.3)


def test_genes_nearly_all_have_weight_with_nystroem(data_dir):
    """On GCM with 3 % of the features the published method hardly agrees with MaxRel."""
    data = np.load(data_dir / "gcm_ramaswamy_1363.npz")
    X, y = data["X"].astype(float), data["y"]
    params = {"alpha": 0.1, "nystroem": 0.03, "min_entropy": 0.0, "random_state": 0}
    found = QPFS(**params).fit(X, y)
    assert 1320 <= found.n_suggested_ <= 1335
    relevant = set(np.argsort(-found.relevance_)[:40])
    assert len(relevant & set(found.order_[:40])) <= 15
    free = QPFS(diagonal="exact", **params).fit(X, y)
    assert free.n_suggested_ < 200


def test_the_sample_grows_until_the_error_is_small(colon):
    X, y = colon
    params = {"nystroem": "auto", "random_state": 0, "alpha": 0.3}
    found = QPFS(**params).fit(X, y)
    k = len(found.sampled_features_)
    assert found.approximation_error_ <= 0.25
    tried = found.selection_.notes["tried"]
    assert [n for n, _ in tried] == [20 * 2**i for i in range(len(tried))] and len(tried) > 1
    assert tried[-1] == [k, found.approximation_error_]
    assert all(error > 0.25 for _, error in tried[:-1])
    smaller = QPFS(**{**params, "nystroem": k / 4000}).fit(X, y)
    assert smaller.approximation_error_ > 0.25
    strict = QPFS(max_error=0.15, **params).fit(X, y)
    assert strict.approximation_error_ <= 0.15
    assert set(found.sampled_features_) < set(strict.sampled_features_)
    for diagonal, hint in {
        "nystroem": 'None) or diagonal="exact" may',
        "exact": "None) may",
    }.items():
        worst = QPFS(max_error=0.0, diagonal=diagonal, **params)
        with pytest.warns(UserWarning, match=r"estimated error .* above max_error=0, and") as said:
            worst.fit(X[:, :100], y)
        text = str(said[0].message)
        assert f"is {worst.approximation_error_:.3g}, above" in text and hint in text
        assert said[0].filename == __file__
    few = X[:, :15]  # so few need no sample
    assert QPFS(**params).fit(few, y).approximation_error_ == 0.0


def test_a_truth_value_is_no_fraction():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=r"nystroem=True must be a fraction .* or None"):
        QPFS(nystroem=True).fit(X, np.arange(20) % 2)


def test_nystroem_with_the_exact_diagonal():
    Q, F = convex_problem(80, 6)
    found = given(Q, F, alpha=0.3, nystroem=0.2, random_state=2, diagonal="exact", tol=1e-10)
    approximate = naive.nystroem(Q, found.sampled_features_)
    approximate[np.diag_indices(80)] = Q.diagonal()
    assert kkt(found.weights_, approximate, F, 0.3) <= 1e-8
    plain = given(Q, F, alpha=0.3, nystroem=0.2, random_state=2)
    best = given(Q, F, alpha=0.3).objective_
    excess = [naive.objective(s.weights_, Q, F, 0.3) - best for s in (found, plain)]
    assert 0 <= excess[0] < excess[1]
    assert found.approximation_error_ < plain.approximation_error_


@pytest.mark.parametrize("similarity", ["mutual_information", "pearson"])
@pytest.mark.parametrize("sampling", ["uniform", "kmeans", "leverage"])
def test_more_samples_come_nearer(colon, sampling, similarity):
    X, y = colon
    X = X[:, :500]
    fits = [
        QPFS(similarity=similarity, nystroem=share, sampling=sampling, random_state=0).fit(X, y)
        for share in (0.05, 0.3, 0.9)
    ]
    assert [len(np.unique(f.sampled_features_)) for f in fits] == [25, 150, 450]
    errors = [f.approximation_error_ for f in fits]
    assert errors[0] > max(errors[1:])
    assert 0 < max(errors[1:]) < 0.3  # small eigenvalues of an indefinite block do no harm
    again = QPFS(similarity=similarity, nystroem=0.3, sampling=sampling, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.weights_, fits[1].weights_)


def test_only_the_sampled_rows_are_computed():
    X = np.random.default_rng(0).normal(size=(30, 400))
    rows = []

    def similarity(A, B):
        rows.append((A.shape[1], B.shape[1]))
        return np.abs(np.nan_to_num(A.T @ B)) / len(A)

    QPFS(similarity=similarity, nystroem=0.1, random_state=0).fit(X, np.arange(30) % 2)
    full = sum(a for a, b in rows if b == 400)
    assert full == 40 + redundancy._ERROR_ROWS


def test_a_matrix_too_large_to_be_held(colon, monkeypatch):
    X, y = colon
    for params in ({}, {"alpha": 0.1}):
        exact = QPFS(**params).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr(redundancy, "MAX_MATRIX_BYTES", 1000)
            lazy = QPFS(**params).fit(X, y)
        assert lazy.is_stationary_only_ is None
        assert lazy.alpha_ == pytest.approx(exact.alpha_)
        assert lazy.kkt_violation_ <= 1e-8
        assert lazy.objective_ == pytest.approx(exact.objective_, abs=1e-4)


# ------------------------------------------------------------------------- other inputs


def test_callable_similarity_equals_the_built_in_one():
    X, y = load_wine(return_X_y=True)

    def correlation(A, B):
        return np.abs(np.corrcoef(A.T, B.T)[: A.shape[1], A.shape[1] :])

    for params in ({}, {"alpha": 0.2}, {"nystroem": 0.5, "random_state": 0, "alpha": 0.2}):
        own = QPFS(similarity=correlation, **params).fit(X, y)
        built_in = QPFS(similarity="pearson", **params).fit(X, y)
        np.testing.assert_allclose(own.weights_, built_in.weights_, atol=1e-7)
        np.testing.assert_allclose(own.relevance_, built_in.relevance_)


def test_relevance_can_be_given():
    X, y = load_wine(return_X_y=True)
    F = np.linspace(0, 1, 13)
    for relevance in (F, lambda X, y: F):
        found = QPFS(relevance=relevance, alpha=1.0).fit(X, y)
        assert found.order_[0] == 12


def test_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    X[:, 3] = X[:, 0]
    y = X[:, 0] + 0.5 * X[:, 1] + 0.1 * rng.normal(size=300)
    found = QPFS(similarity="pearson").fit(X, y)
    np.testing.assert_allclose(found.relevance_, np.abs(np.corrcoef(X.T, y)[-1, :-1]))
    assert set(found.order_[:2]) <= {0, 1, 3}
    whole = QPFS(similarity="pearson", task="regression").fit(X, np.rint(10 * y).astype(int))
    assert whole.relevance_[0] == pytest.approx(found.relevance_[0], abs=0.01)


def test_missing_values_and_text_are_values():
    frame = pd.DataFrame(
        {"a": [None, "u"] * 20, "b": [1.0, np.nan, 2.0, 1.0] * 10, "c": np.arange(40.0)}
    )
    y = ["yes", "no"] * 20
    found = QPFS(alpha=0.9).fit(frame, y)
    assert found.relevance_[0] == pytest.approx(np.log(2))
    assert found.selection_.selected[0] == "a"
    assert list(found.transform(frame).columns) == [
        c for c, keep in zip(frame.columns, found.support_, strict=True) if keep
    ]


def test_number_of_features():
    X, y = load_breast_cancer(return_X_y=True)
    assert QPFS(alpha=0.1).fit(X, y).support_.sum() == QPFS(alpha=0.1).fit(X, y).n_suggested_ > 1
    assert QPFS(n_features_to_select=7).fit(X, y).support_.sum() == 7
    assert QPFS(n_features_to_select=0.5).fit(X, y).support_.sum() == 15


def test_containers():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = QPFS(alpha=0.3).fit(X, y)
    assert isinstance(found.transform(X), pd.DataFrame)
    frame = to_polars(X)
    same = QPFS(alpha=0.3).fit(frame, pl.Series(y))
    assert isinstance(same.transform(frame), pl.DataFrame)
    matrix = sparse.csr_matrix(X.to_numpy())
    packed = QPFS(alpha=0.3).fit(matrix, y)
    assert sparse.issparse(packed.transform(matrix))
    for other in (same, packed):
        np.testing.assert_allclose(other.weights_, found.weights_, atol=1e-12)
    assert found.selection_.names == list(X.columns)


def test_pipeline_and_grid_search():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(QPFS(n_features_to_select=5), GaussianNB())
    grid = GridSearchCV(pipe, {"qpfs__alpha": [0.1, 0.5, "auto"]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9


@pytest.mark.parametrize(
    "selector",
    [
        QPFS(bins="mdl"),
        QPFS(similarity="pearson", nystroem=0.5, sampling="leverage", random_state=0),
    ],
    ids=str,
)
def test_scikit_learn_checks(selector):
    assert_every_check_passes(selector)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"alpha": 1.5}, "alpha"),
        ({"alpha": "half"}, "alpha"),
        ({"nystroem": 0.0}, "nystroem"),
        ({"nystroem": 1.5}, "nystroem"),
        ({"nystroem": "half"}, "nystroem"),
        ({"max_error": -0.1}, "max_error"),
        ({"sampling": "best"}, "sampling"),
        ({"rank_tol": -1.0}, "rank_tol"),
        ({"n_features_to_select": 9}, "exceeds the 4 features"),
        ({"similarity": "cosine"}, "similarity"),
        ({"similarity": np.eye(4)}, "pass relevance"),
        ({"similarity": np.eye(3), "relevance": np.ones(4)}, r"shape \(3, 3\).*4 features"),
        ({"similarity": np.triu(np.ones((4, 4))), "relevance": np.ones(4)}, "not symmetric"),
        ({"similarity": np.full((4, 4), np.nan), "relevance": np.ones(4)}, "NaN"),
        ({"relevance": np.ones(3)}, "one finite number for each of the 4"),
        ({"relevance": [1.0, 2.0, np.inf, 0.0]}, "one finite number"),
        ({"similarity": lambda A, B: np.ones(3)}, r"shape \(3,\).*must return"),
        ({"similarity": lambda A, B: np.full((A.shape[1], B.shape[1]), np.nan)}, "returned NaN"),
        ({"similarity": lambda A, B: A.T @ B**3}, "not symmetric"),
        ({"categorical_features": ["colour"]}, "colour"),
        ({"bins": None}, "discrete"),
    ],
)
def test_bad_parameters(params, match):
    X = np.random.default_rng(0).normal(size=(20, 4))
    with pytest.raises(ValueError, match=match):
        QPFS(**params).fit(X, [0, 1] * 10)


@pytest.mark.parametrize(
    ("params", "X", "y", "match"),
    [
        ({}, np.zeros((4, 2)), None, "y is None"),
        ({}, np.zeros((4, 2)), [0, 1], "inconsistent numbers"),
        ({}, np.zeros((4, 2)), [0, 0, 0, 0], "one class only"),
        ({}, np.zeros((4, 2)), [0.5, 1.5, 2.5, 3.1], 'similarity="pearson"'),
        ({"similarity": "pearson"}, np.full((4, 2), np.nan), [0, 1, 0, 1], "contains NaN"),
        ({"similarity": "pearson"}, sparse.eye(4), [0, 1, 0, 1], "[Ss]parse"),
        ({}, np.full((4, 2), np.inf), [0, 1, 0, 1], "infinity"),
        ({"similarity": "pearson"}, [["a", "b"], ["c", "d"]], [0, 1], "text"),
        ({}, [[1.0, 2.0]], [0], "minimum of 2"),
    ],
)
def test_bad_data(params, X, y, match):
    with pytest.raises((ValueError, TypeError), match=match):
        QPFS(**params).fit(X, y)
