"""How sure machines are: places seen from the margin, distances to boundary and support vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from tamiz.embedded import L1SVM
from tamiz.kernels import RBF, GapWeighted
from tamiz.svm import SVC, BudgetSVC, HardMarginSVC, LinearMachine, PerceptronClassifier


def two_classes(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, p)) + 1.5 * y[:, None], y


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), LinearMachine(), L1SVM()], ids=repr)
def test_distance_to_the_boundary_of_a_plane_is_the_euclidean_one(machine):
    X, y = two_classes()
    machine.fit(X, y)
    new = np.random.default_rng(1).standard_normal((20, 3)) * 2
    found = machine.margin_confidence(new)
    w, b = machine.coef_[0], machine.intercept_[0]
    # the foot of the perpendicular lies on the plane
    signed = (new @ w + b) / np.linalg.norm(w)
    foot = new - signed[:, None] * w / np.linalg.norm(w)
    np.testing.assert_allclose(foot @ w + b, 0, atol=1e-9)
    np.testing.assert_allclose(
        found.boundary_distance, np.linalg.norm(new - foot, axis=1), rtol=1e-6
    )
    np.testing.assert_allclose(found.values, np.abs(machine.decision_function(new)), rtol=1e-9)


@pytest.mark.parametrize("machine", [SVC(tol=1e-6), BudgetSVC(10.0), SVC(C=0.1)], ids=repr)
def test_training_samples_lie_where_their_dual_variables_say(machine):
    X, y = two_classes()
    machine.fit(X, y)
    found = machine.margin_confidence(X)
    right = machine.predict(X) == y
    free = np.isin(np.arange(60), machine.free_support_)
    assert free.any()
    assert (found.places[free & right] == "on").all()
    outside = ~np.isin(np.arange(60), machine.support_)
    assert not (found.places[outside] == "inside").any()
    sums = [(found.places == place).sum() for place in ("inside", "on", "beyond")]
    assert sum(sums) == 60


def test_hard_margin_has_nobody_inside_and_distances_are_those_in_feature_space():
    X, y = two_classes()
    machine = HardMarginSVC(kernel="rbf", gamma=0.5).fit(X, y)
    found = machine.margin_confidence(X)
    assert not (found.places == "inside").any()
    assert found.boundary_distance.min() == pytest.approx(machine.margin_, rel=1e-2)
    new = X[:10] + 0.3
    near = machine.margin_confidence(new).support_distance
    squares = cdist(new, machine.support_vectors_, "sqeuclidean")
    expected = np.sqrt(2 - 2 * np.exp(-0.5 * squares)).min(axis=1)
    np.testing.assert_allclose(near, expected, rtol=1e-9)
    assert machine.margin_confidence(machine.support_vectors_).support_distance.max() < 1e-6


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_of_several_classes_the_machine_that_speaks_least_for_the_winner_counts(scheme):
    X, y = load_iris(return_X_y=True)
    machine = SVC(kernel="linear", multiclass=scheme).fit(X, y)
    values = machine.pairwise_decision_function(X)
    found = machine.margin_confidence(X)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for i in range(0, 150, 7):
        winner = int(machine.predict(X[i : i + 1])[0])
        if scheme == "ovr":
            votes = [(values[i, winner], values[i, winner] * machine.margin_[winner])]
        else:
            votes = [
                (s * values[i, k], s * values[i, k] * machine.margin_[k])
                for k, pair in enumerate(pairs)
                if winner in pair
                for s in [1 if pair[1] == winner else -1]
            ]
        assert found.values[i] == pytest.approx(min(v for v, _ in votes))
        assert found.boundary_distance[i] == pytest.approx(min(d for _, d in votes))


def test_sparse_samples_strings_and_kernel_values():
    X, y = two_classes()
    machine = SVC(gamma=0.5).fit(X, y)
    dense = machine.margin_confidence(X)
    thin = SVC(gamma=0.5).fit(sparse.csr_array(X), y).margin_confidence(sparse.csr_array(X))
    np.testing.assert_allclose(thin.support_distance, dense.support_distance, atol=1e-6)
    known = SVC(kernel="precomputed").fit(RBF(gamma=0.5)(X), y)
    given = known.margin_confidence(RBF(gamma=0.5)(X))
    assert given.support_distance is None
    np.testing.assert_allclose(given.values, dense.values, atol=1e-6)
    texts = ["cats and dogs", "cat and dog", "blue sky", "blue skies", "a dog", "the sky"]
    labels = [0, 0, 1, 1, 0, 1]
    strings = SVC(kernel=GapWeighted(2)).fit(texts, labels).margin_confidence(texts)
    assert strings.support_distance.shape == (6,)
    assert strings.support_distance.min() < 1e-6


def test_a_machine_without_weights_or_without_margin():
    X, y = two_classes()
    with pytest.warns(UserWarning, match="no weights"):
        empty = BudgetSVC(1e6).fit(X, y)
    found = empty.margin_confidence(X[:3])
    assert np.isinf(found.support_distance).all()
    assert not hasattr(PerceptronClassifier().fit(X, y), "margin_confidence")
    with pytest.raises(ValueError, match="features"):
        SVC().fit(X, y).margin_confidence(X[:, :2])
