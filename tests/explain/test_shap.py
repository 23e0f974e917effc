"""Shapley values against those of shap's KernelExplainer: all subsets, and a sample of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from tamiz.explain import shapley_values
from tamiz.neighbors import KNNClassifier
from tamiz.svm import SVC, SVDD, SVR, OneClassSVM

shap = pytest.importorskip("shap", reason="shap is not installed: it is in the group test")


def table(p: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:120, :p], y[:120]


def of_shap(f, X: np.ndarray, Z: np.ndarray, seed: int = 0, **options) -> np.ndarray:
    """Its weighted least squares, without the penalty that it uses for many features."""
    np.random.seed(seed)  # noqa: NPY002  shap draws from the global state
    explainer = shap.KernelExplainer(f, Z)
    return np.asarray(explainer.shap_values(X, l1_reg=False, silent=True, **options))


@pytest.mark.parametrize(
    "machine",
    [
        SVC(gamma=0.1),
        SVC(kernel="poly", degree=3, gamma=0.1, coef0=1.0),
        SVC(kernel="linear"),
        SVR(gamma=0.1),
        OneClassSVM(gamma=0.1),
        SVDD(gamma=0.1),
    ],
    ids=repr,
)
def test_values_equal_those_of_shap_over_all_subsets(machine):
    X, y = table(6)
    f = getattr(machine.fit(X, y), "decision_function", machine.predict)
    some, Z = X[:4], X[10:25]
    found = shapley_values(machine, some, Z)
    assert found.method == "exact"
    scale = np.abs(found.values).max()
    np.testing.assert_allclose(found.values, of_shap(f, some, Z), rtol=0, atol=1e-6 * scale)
    assert found.base == pytest.approx(shap.KernelExplainer(f, Z).expected_value, rel=1e-9)


def test_sampled_values_are_within_their_standard_error_of_those_of_shap():
    X, y = table(6)
    model = KNNClassifier(7).fit(X, y)
    some, Z = X[:3], X[10:20]
    found = shapley_values(model, some, Z, n_permutations=400, random_state=0)
    assert found.method == "permutations"

    def f(points):
        return model.predict_proba(points)[:, 1]

    gap = np.abs(found.values - of_shap(f, some, Z))
    np.testing.assert_array_less(gap, 4.0 * found.standard_error + 1e-9)


def test_a_sample_of_the_subsets_comes_within_its_own_error_and_nearer_with_more():
    X, y = table(14)
    machine = SVR(gamma=0.05).fit(X, 2.0 * y - 1.0)
    some, Z = X[:3], X[20:30]
    ours = shapley_values(machine, some, Z).values
    few, more = (
        [of_shap(machine.predict, some, Z, seed, nsamples=n) for seed in (0, 1)]
        for n in (150, 4000)
    )
    noise = np.abs(few[0] - few[1]).max()
    assert noise > 1e-6  # it is a sample
    assert np.abs(few[0] - ours).max() <= 4.0 * noise
    assert np.abs(more[0] - ours).max() < np.abs(few[0] - ours).max()
