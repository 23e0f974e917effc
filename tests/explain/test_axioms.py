"""Shapley's axioms for fitted models: exact ones and sampled ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.explain import shapley_values
from tamiz.filters import FisherScore
from tamiz.kernels import RBF
from tamiz.neighbors import KNNClassifier
from tamiz.svm import SVC, SVDD, SVR, OneClassSVM
from tamiz.tree import CARTClassifier

EXACT = [
    lambda: SVC(gamma=0.3),
    lambda: SVC(kernel="linear"),
    lambda: SVC(kernel="poly", degree=2, gamma=0.3, coef0=1.0),
    lambda: SVC(kernel=RBF(gamma=0.1) + 0.5 * RBF(gamma=0.9)),
    lambda: SVR(gamma=0.3),
    lambda: OneClassSVM(gamma=0.3),
    lambda: SVDD(gamma=0.3),
]
VALUES = ("interventional", "kernel_mean", "left_out")
seeds = st.integers(0, 2**32 - 1)


def table(seed: int, n: int = 40, p: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and two classes that depend on a product and a sum of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0
    y[:2] = False, True
    return X, y.astype(int)


def answers(model, X: np.ndarray) -> np.ndarray:
    """What the values of a model are about."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@settings(max_examples=12, deadline=None)
@given(seeds, st.sampled_from(EXACT), st.sampled_from(VALUES))
def test_efficiency_values_and_base_add_up_to_the_decision(seed, make, value):
    X, y = table(seed)
    model = make().fit(X, y)
    found = shapley_values(model, X[:6], X, value=value)
    assert found.method == "exact"
    want = answers(model, X[:6])
    scale = 1.0 + np.abs(want).max() + np.abs(found.values).sum(axis=1).max()
    np.testing.assert_allclose(
        found.base + found.values.sum(axis=1), want, rtol=0, atol=1e-9 * scale
    )


@settings(max_examples=12, deadline=None)
@given(seeds, st.sampled_from(EXACT), st.sampled_from(VALUES))
def test_symmetry_copies_of_a_feature_have_the_same_values(seed, make, value):
    X, y = table(seed)
    X = np.column_stack([X, X[:, 1]])
    found = shapley_values(make().fit(X, y), X[:6], X[::3], value=value).values
    scale = 1.0 + np.abs(found).max()
    np.testing.assert_allclose(found[:, 1], found[:, 4], rtol=0, atol=1e-9 * scale)


@settings(max_examples=12, deadline=None)
@given(seeds, st.sampled_from(EXACT), st.sampled_from(VALUES))
def test_dummy_a_feature_that_the_machine_does_not_use_has_no_value(seed, make, value):
    """Dropped by a selector before the machine; the others are as if it had never been there."""
    X, y = table(seed)
    selector = FisherScore(3).fit(X, y)
    kept, gone = selector.get_support(), ~selector.get_support()
    model = make_pipeline(selector, StandardScaler(), make()).fit(X, y)
    alone = make_pipeline(StandardScaler(), make()).fit(X[:, kept], y)
    found = shapley_values(model, X[:6], X[::3], value=value).values
    wanted = shapley_values(alone, X[:6, kept], X[::3][:, kept], value=value).values
    assert not found[:, gone].any()
    scale = 1.0 + np.abs(wanted).max()
    np.testing.assert_allclose(found[:, kept], wanted, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("model", [SVC(gamma=0.3), SVC(kernel="linear")], ids=repr)
def test_dummy_a_feature_that_is_the_same_in_all_samples_has_no_value(model):
    X, y = table(0)
    X = np.column_stack([X, np.full(len(X), 3.0)])
    found = shapley_values(model.fit(X, y), X[:6], X[::3]).values
    np.testing.assert_allclose(found[:, 4], 0.0, atol=1e-12)
    assert np.abs(found[:, :4]).max() > 0.01


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_sampled_values_add_up_and_leave_out_what_a_tree_does_not_test(seed):
    X, y = table(seed)
    tree = CARTClassifier(max_depth=2, random_state=0).fit(X, y)
    used = np.flatnonzero(tree.feature_importances_)
    found = shapley_values(tree, X[:4], X[::4], n_permutations=40, random_state=0)
    assert found.method == "permutations"
    unused = np.setdiff1d(np.arange(4), used)
    assert len(unused) and not found.values[:, unused].any()
    want = tree.predict_proba(X[:4])
    got = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(got, want[:, 1] if got.ndim == 1 else want, atol=1e-10)


def test_sampled_values_of_copies_agree_within_their_standard_error():
    X, y = table(1)
    X = np.column_stack([X, X[:, 1]])
    model = KNNClassifier(5).fit(X, y)
    found = shapley_values(model, X[:4], X[::4], n_permutations=400, random_state=0)
    apart = np.abs(found.values[:, 1] - found.values[:, 4])
    both = np.hypot(found.standard_error[:, 1], found.standard_error[:, 4])
    np.testing.assert_array_less(apart, 4.0 * both + 1e-12)
