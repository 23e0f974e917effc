"""SVC beside scikit-learn's (LIBSVM): the same optimum on easy, degenerate and real problems."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC as PeerSVC

from tamiz.svm import SVC

TOL = 1e-6


def gaussian(n=120, p=6, seed=0):
    X, y = make_classification(n, p, n_informative=3, n_redundant=1, flip_y=0.1, random_state=seed)
    return X, y


def duplicated():
    X, y = gaussian(60, 4, 1)
    X, y = np.vstack([X, X, X[:20]]), np.concatenate([y, y, 1 - y[:20]])
    return X, y


def wide():
    return gaussian(40, 200, 2)


def one_feature():
    X, y = gaussian(150, 6, 3)
    return X[:, :1], y


def badly_scaled():
    X, y = gaussian(100, 5, 4)
    return X * np.array([1e-2, 1.0, 10.0, 1.0, 1e-1]) + np.array([0, 5, 0, -3, 0]), y


def offset():
    X, y = gaussian(100, 4, 5)
    return X + 300.0, y


def unbalanced():
    X, y = make_classification(200, 5, weights=[0.93], random_state=6)
    return X, y


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    keep = np.isin(y, (3, 8))
    return MinMaxScaler().fit_transform(X[keep]), y[keep]


def iris_pair():
    X, y = load_iris(return_X_y=True)
    return X[y > 0], y[y > 0]


DATA = {
    f.__name__: f
    for f in (
        gaussian,
        duplicated,
        wide,
        one_feature,
        badly_scaled,
        offset,
        unbalanced,
        breast_cancer,
        digits,
        iris_pair,
    )
}

RBF = dict(kernel="rbf", gamma=0.1)
POLY = dict(kernel="poly", gamma=0.2, coef0=1.0, degree=2)
SIGMOID = dict(kernel="sigmoid", gamma=0.01, coef0=-0.5)
LINEAR = dict(kernel="linear")

PROBLEMS = [
    *[("gaussian", RBF, C, None) for C in (1e-3, 1e-1, 1.0, 1e2, 1e4)],
    *[("gaussian", LINEAR, C, None) for C in (1e-3, 1e-1, 1.0, 1e2)],
    *[("gaussian", POLY, C, None) for C in (1e-3, 1.0, 1e2)],
    *[("gaussian", SIGMOID, C, None) for C in (1e-1, 1.0)],
    *[("gaussian", RBF, 1.0, w) for w in ("balanced", {0: 10.0, 1: 0.1})],
    *[("duplicated", RBF, C, None) for C in (1e-2, 1.0, 1e3)],
    ("duplicated", LINEAR, 1.0, {0: 3.0, 1: 1.0}),
    *[("wide", LINEAR, C, None) for C in (1e-3, 1.0, 1e4)],
    *[("wide", RBF, C, "balanced") for C in (1.0, 1e4)],
    *[("one_feature", RBF, C, None) for C in (1e-3, 1.0, 1e2, 1e4)],
    *[("one_feature", LINEAR, C, "balanced") for C in (1e-2, 1.0)],
    *[("badly_scaled", LINEAR, C, None) for C in (1e-3, 1.0)],
    *[("badly_scaled", RBF, C, None) for C in (1.0, 1e3)],
    ("badly_scaled", POLY, 1e-2, None),
    *[("offset", RBF, C, None) for C in (1.0, 1e4)],
    *[("unbalanced", RBF, C, w) for C in (1.0, 1e2) for w in (None, "balanced")],
    *[("breast_cancer", RBF, C, None) for C in (1e-2, 1.0, 1e2, 1e4)],
    *[("breast_cancer", LINEAR, C, None) for C in (1e-3, 1.0)],
    ("breast_cancer", POLY, 1.0, "balanced"),
    *[("digits", RBF, C, None) for C in (0.1, 10.0)],
    *[("digits", LINEAR, C, None) for C in (0.1, 10.0)],
    *[("iris_pair", LINEAR, C, None) for C in (0.1, 10.0, 1e4)],
]

# LIBSVM keeps kernel values in single precision, which is too little here.
PEER_FALLS_SHORT = ("iris_pair", LINEAR, 1e4, None)


def gram(X, kernel="rbf", **params):
    function = {
        "rbf": rbf_kernel,
        "linear": linear_kernel,
        "poly": polynomial_kernel,
        "sigmoid": sigmoid_kernel,
    }[kernel]
    return function(X, **params)


def dual_objective(K, coef):
    return np.abs(coef).sum() - 0.5 * coef @ K @ coef


def ids(problem):
    name, kernel, C, weight = problem
    return f"{name}-{kernel['kernel']}-C{C:g}-{weight or 'plain'}"


@pytest.mark.parametrize("problem", PROBLEMS, ids=ids)
def test_same_optimum(problem):
    name, kernel, C, class_weight = problem
    X, y = DATA[name]()
    K = gram(X, **kernel)
    peer = PeerSVC(C=C, tol=TOL, class_weight=class_weight, max_iter=4_000_000, **kernel)
    peer.fit(X, y)
    peer_coef = np.zeros(len(y))
    peer_coef[peer.support_] = peer.dual_coef_[0]
    best = dual_objective(K, peer_coef)
    objectives = []
    for solver in ("smo", "decomposition", "chunking"):
        ours = SVC(C=C, tol=TOL, class_weight=class_weight, solver=solver, **kernel).fit(X, y)
        assert ours.status_ == "converged"
        assert ours.kkt_violation_ <= TOL
        coef = ours.alpha_ * np.where(y == ours.classes_[1], 1.0, -1.0)
        objectives.append(dual_objective(K, coef))
        assert objectives[-1] >= best - 1e-5 * abs(best)
        if kernel is SIGMOID:  # a stationary point of an indefinite problem need not be the same
            continue
        if problem == PEER_FALLS_SHORT:  # and the duality gap proves that it is the peer
            assert ours.duality_gap_ <= 1e-6 * ours.objective_
            assert objectives[-1] > best
            continue
        assert objectives[-1] == pytest.approx(best, rel=1e-5)
        decision = peer.decision_function(X)
        clear = np.abs(decision) > 1e-4 * max(1.0, np.abs(decision).max())
        np.testing.assert_array_equal(ours.predict(X)[clear], peer.predict(X)[clear])
        assert ours.dual_objective_ == pytest.approx(objectives[-1], rel=1e-6)
        assert 0.0 <= ours.duality_gap_ <= 1e-4 * max(1.0, ours.objective_)
    scale = max(1.0, abs(objectives[0]))
    np.testing.assert_allclose(objectives, objectives[0], atol=1e-6 * scale)


def test_there_are_at_least_forty_problems():
    assert len(PROBLEMS) >= 40
    assert len({ids(problem) for problem in PROBLEMS}) == len(PROBLEMS)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("kernel", [RBF, LINEAR], ids=["rbf", "linear"])
def test_many_classes(kernel, scheme):
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16.0, y[:600]
    ours = SVC(C=1.0, tol=TOL, multiclass=scheme, **kernel).fit(X, y)
    if scheme == "ovo":
        peer = PeerSVC(C=1.0, tol=TOL, break_ties=True, **kernel).fit(X, y)
        pairs = PeerSVC(C=1.0, tol=TOL, decision_function_shape="ovo", **kernel).fit(X, y)
        # LIBSVM's pair (i, j) is positive for i, ours for j
        np.testing.assert_allclose(
            ours.pairwise_decision_function(X), -pairs.decision_function(X), atol=1e-4
        )
        np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-4)
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    else:
        for k, label in enumerate(ours.classes_):
            peer = PeerSVC(C=1.0, tol=TOL, **kernel).fit(X, y == label)
            np.testing.assert_allclose(
                ours.decision_function(X)[:, k], peer.decision_function(X), atol=1e-4
            )


def test_precomputed_equals_kernel():
    X, y = gaussian()
    K = gram(X, **RBF)
    direct = SVC(C=2.0, tol=TOL, **RBF).fit(X, y)
    table = SVC(C=2.0, tol=TOL, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(table.alpha_, direct.alpha_, atol=1e-5)
    np.testing.assert_allclose(table.decision_function(K), direct.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_sample_weights_equal_the_peer(seed):
    X, y = gaussian(seed=seed)
    weight = np.random.default_rng(seed).uniform(0, 3, len(y))
    ours = SVC(C=1.0, tol=TOL, **RBF).fit(X, y, sample_weight=weight)
    peer = PeerSVC(C=1.0, tol=TOL, **RBF).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-4)


def test_large_problem_in_single_precision_is_as_exact():
    X, y = make_classification(2500, 20, random_state=0)
    ours = SVC(C=1.0, gamma=0.05).fit(X, y)
    peer = PeerSVC(C=1.0, gamma=0.05).fit(X, y)
    K = rbf_kernel(X, gamma=0.05)
    coef, peer_coef = np.zeros(len(y)), np.zeros(len(y))
    coef[ours.support_] = ours.dual_coef_[0]
    peer_coef[peer.support_] = peer.dual_coef_[0]
    assert dual_objective(K, coef) == pytest.approx(dual_objective(K, peer_coef), rel=1e-5)
    # the KKT conditions hold for the exact kernel, not only for the stored one
    g = K @ coef - np.where(y == 1, 1.0, -1.0)
    grow, shrink = coef < np.where(y == 1, 1.0, 0.0), coef > np.where(y == 1, 0.0, -1.0)
    assert g[shrink].max() - g[grow].min() <= 1.1e-3
