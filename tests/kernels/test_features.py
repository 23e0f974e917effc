"""Trackers against recomputation: updates, leaving features out, derivatives."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tamiz.kernels import (
    RBF,
    Conformal,
    FeatureGram,
    FunctionKernel,
    Linear,
    Polynomial,
    Precomputed,
    QuadraticForm,
    Sigmoid,
)
from tests.kernels.cases import ALL, B, P, close, samples
from tests.naive import kernels as naive

SCALE = np.array([1.3, -0.4, 0.8, 0.0])  # a negative factor and a removed feature among them
TANH = RBF(gamma=0.4).of(np.tanh)
FUNCTION = FunctionKernel(lambda X, Z: (X @ Z.T) ** 2)
RECOMPUTED = {
    "composed": (TANH, lambda x, z: naive.rbf(0.4)(np.tanh(x), np.tanh(z))),
    "function": (FUNCTION, lambda x, z: naive.dot(x, z) ** 2),
    "conformal": (Conformal(lambda X: 1 + X[:, 0]), lambda x, z: (1 + x[0]) * (1 + z[0])),
    "function_sum": (
        FUNCTION + RBF(gamma=0.4),
        lambda x, z: naive.dot(x, z) ** 2 + naive.rbf(0.4)(x, z),
    ),
}
TRACKED = ALL | RECOMPUTED


def coefficients(n=13, seed=5):
    """Coefficients of both signs, some of them 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.3, 0.0, rng.normal(size=n))


@pytest.mark.parametrize("name", TRACKED)
def test_start(name):
    kernel, oracle = TRACKED[name]
    X = samples()
    tracker = kernel.track(X)
    assert isinstance(tracker, FeatureGram)
    close(tracker.K, naive.gram(oracle, X), 1e-12)
    assert tracker.active.all()
    assert (tracker.scale == 1).all()
    tracker = kernel.track(X, scale=SCALE)
    close(tracker.K, naive.gram(oracle, naive.scaled(X, SCALE)), 1e-12)
    assert tracker.active.tolist() == [True, True, True, False]
    assert np.array_equal(tracker.scale, SCALE)


@pytest.mark.parametrize("name", TRACKED)
def test_random_changes_equal_recomputation(name):
    kernel, _ = TRACKED[name]
    X = samples()
    tracker = kernel.track(X)
    rng = np.random.default_rng(11)
    scale = np.ones(P)
    remembered = scale.copy()
    for _ in range(60):
        j = int(rng.integers(P))
        if rng.random() < 0.4:
            scale[j] = remembered[j] = rng.normal()
            tracker.rescale(j, scale[j])
        elif scale[j] != 0:
            scale[j] = 0.0
            tracker.remove(j)
        else:
            scale[j] = remembered[j]
            tracker.add(j)
        assert np.array_equal(tracker.scale, scale)
        assert np.array_equal(tracker.active, scale != 0)
        gram = tracker.K
        close(gram, kernel(X * scale), 1e-11)
        assert np.array_equal(gram, gram.T)


@pytest.mark.parametrize("name", TRACKED)
def test_without_leaves_the_tracker_alone(name):
    kernel, oracle = TRACKED[name]
    X = samples()
    tracker = kernel.track(X, scale=SCALE)
    before = tracker.K.copy()
    for j in range(P):
        less = tracker.without(j)
        close(less, naive.gram(oracle, naive.scaled(X, SCALE, without=j)), 1e-12)
        assert np.array_equal(less, less.T)
        less[:] = 0.0
    assert np.array_equal(tracker.K, before)
    assert np.array_equal(tracker.scale, SCALE)


@pytest.mark.parametrize("n", [1, 2, 12, 13])
@pytest.mark.parametrize("name", TRACKED)
def test_leave_one_out_norms_equal_brute_force(name, n):
    kernel, oracle = TRACKED[name]
    X, coef = samples(n), coefficients(n)
    found = kernel.track(X, scale=SCALE).leave_one_out_norms(coef)
    expected = naive.leave_one_out_norms(oracle, X, SCALE, coef)
    close(found, expected, 1e-11)


@pytest.mark.parametrize("name", TRACKED)
def test_leave_one_out_decisions_equal_brute_force(name):
    kernel, oracle = TRACKED[name]
    X, Z, coef = samples(), samples(6, seed=1), coefficients()
    found = kernel.track(X, scale=SCALE).leave_one_out_decisions(Z, coef)
    expected = naive.leave_one_out_decisions(oracle, X, Z, SCALE, coef)
    close(found, expected, 1e-11)


@pytest.mark.parametrize("name", ALL)
def test_derivatives_equal_differences(name):
    kernel, oracle = ALL[name]
    X, coef = samples(), coefficients()
    weights = np.random.default_rng(2).normal(size=13)
    tracker = kernel.track(X, scale=SCALE)
    gradient, diag_gradient = tracker.gradient(coef), tracker.diag_gradient(weights)
    for j in range(P):
        expected = naive.derivative(oracle, X, SCALE, j)
        close(tracker.derivative(j), expected, 1e-6) if expected.any() else None
        size = np.abs(np.outer(coef, coef) * expected).sum() + 1e-6
        assert abs(gradient[j] - coef @ expected @ coef) <= 1e-6 * size
        size = np.abs(weights * np.diag(expected)).sum() + 1e-6
        assert abs(diag_gradient[j] - weights @ np.diag(expected)) <= 1e-6 * size
    close(gradient, [coef @ tracker.derivative(j) @ coef for j in range(P)], 1e-11)


def test_derivative_of_a_removed_feature():
    X = samples()
    for kernel in (Linear(), RBF(gamma=0.4), Polynomial()):
        assert not kernel.track(X, scale=SCALE).derivative(3).any()
    # In a quadratic form the other features keep the derivative from vanishing.
    assert QuadraticForm(B).track(X, scale=SCALE).derivative(3).any()


@pytest.mark.parametrize("name", RECOMPUTED)
def test_kernels_without_derivatives_say_so(name):
    kernel, _ = RECOMPUTED[name]
    tracker = kernel.track(samples())
    blamed = r"FunctionKernel\(<lambda>\) has no derivative" if "sum" in name else "no derivative"
    for ask in (
        lambda: tracker.derivative(0),
        lambda: tracker.gradient(coefficients()),
        lambda: tracker.diag_gradient(np.ones(13)),
    ):
        with pytest.raises(TypeError, match=blamed):
            ask()


def test_precomputed_values_have_no_features():
    with pytest.raises(TypeError, match="Precomputed has no features"):
        Precomputed().track(np.eye(3))
    with pytest.raises(TypeError, match="Precomputed has no features"):
        (2 * Precomputed() + Linear()).track(np.eye(3))


@pytest.mark.parametrize("make", [Linear, lambda: RBF(gamma=1.0), lambda: Polynomial(2)])
def test_the_rounding_of_a_huge_feature_does_not_stay_behind(make):
    X = samples(40, p=6)
    X[:, 2] *= 1e7
    kernel = make()
    tracker = kernel.track(X)
    tracker.remove(2)
    rest = X.copy()
    rest[:, 2] = 0.0
    close(tracker.K, kernel(rest), 1e-12)


def test_long_sequences_do_not_drift():
    X = samples(30, p=40) + 5.0
    for kernel in (Linear(), RBF(gamma=0.02), Polynomial(gamma=0.02)):
        tracker = kernel.track(X)
        rng = np.random.default_rng(0)
        for _ in range(3000):
            tracker.rescale(int(rng.integers(40)), float(rng.uniform(0.0, 2.0)))
        close(tracker.K, kernel(X * tracker.scale), 1e-11)


def test_features_that_underflow_the_kernel_come_back():
    X = samples(20, p=3)
    X[:, 0] *= 100.0
    kernel = RBF(gamma=5.0)
    tracker = kernel.track(X)
    assert (tracker.K < 1e-300).sum() > 300
    coef = coefficients(20)
    found = tracker.leave_one_out_norms(coef)
    close(found, naive.leave_one_out_norms(naive.rbf(5.0), X, np.ones(3), coef), 1e-9)
    tracker.remove(0)
    close(tracker.K, kernel(X[:, 1:]), 1e-11)


def test_rounding_never_lifts_a_radial_value_above_one():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(6, 5)), 6, axis=0)  # equal but for the feature that goes
    X[:, 2] = 30.0 * rng.normal(size=36)
    tracker = RBF(gamma=1.0).track(X)
    assert tracker.without(2).max() <= 1.0
    coef = rng.normal(size=36)
    tracker.remove(2)
    assert tracker.K.max() <= 1.0
    close(tracker.K, RBF(gamma=1.0)(np.delete(X, 2, axis=1)), 1e-11)
    tracker.add(2)
    expected = naive.leave_one_out_norms(naive.rbf(1.0), X, np.ones(5), coef)
    close(tracker.leave_one_out_norms(coef), expected, 1e-10)


def test_offset_data():
    X, coef = samples(30) + 1e6, coefficients(30)
    tracker = RBF(gamma=0.4).track(X)
    expected = naive.leave_one_out_norms(naive.rbf(0.4), X, np.ones(P), coef)
    close(tracker.leave_one_out_norms(coef), expected, 1e-8)
    close(tracker.K, naive.gram(naive.rbf(0.4), X), 1e-8)


def test_linear_norms_keep_their_digits_beside_a_dominant_feature():
    X = samples(30)
    X[:, 1] *= 1e9
    coef = coefficients(30)
    found = Linear().track(X).leave_one_out_norms(coef)
    assert found[1] == pytest.approx(np.square(coef @ np.delete(X, 1, axis=1)).sum(), rel=1e-12)


@pytest.mark.parametrize("name", ["linear", "poly5", "rbf", "sigmoid", "nested"])
def test_threads_change_nothing(name, monkeypatch):
    kernel, _ = ALL[name]
    X, Z, coef = samples(331), samples(120, seed=1), coefficients(331)
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        tracker = kernel.track(X)
        tracker.rescale(1, 0.3)
        answers.append(
            (
                tracker.K.copy(),
                tracker.leave_one_out_norms(coef),
                tracker.leave_one_out_decisions(Z, coef),
                tracker.gradient(coef),
            )
        )
    for one, three in zip(*answers, strict=True):
        close(one, three, 1e-13)


def test_many_features_all_but_one_removed():
    X, coef = samples(15, p=9), coefficients(15)
    tracker = RBF(gamma=0.4).track(X)
    for j in range(8):
        tracker.remove(j)
    found = tracker.leave_one_out_norms(coef)
    assert found[8] == pytest.approx(coef.sum() ** 2)  # no feature left: every value is 1
    tracker.remove(8)
    assert (tracker.K == 1.0).all()
    assert np.isnan(tracker.leave_one_out_norms(coef)).all()
    assert np.isnan(tracker.leave_one_out_decisions(X, coef)).all()
    tracker.add(4)
    close(tracker.K, RBF(gamma=0.4)(X[:, [4]]), 1e-12)


def test_without_support_vectors_all_is_zero():
    tracker = RBF(gamma=0.4).track(samples(), scale=SCALE)
    norms = tracker.leave_one_out_norms(np.zeros(13))
    assert norms.tolist()[:3] == [0.0, 0.0, 0.0]
    assert np.isnan(norms[3])
    assert not tracker.leave_one_out_decisions(samples(4), np.zeros(13))[:, :3].any()
    assert not tracker.gradient(np.zeros(13)).any()


def test_words_are_resolved_on_the_unscaled_samples():
    X = samples()
    tracker = RBF(gamma="scale").track(X, scale=SCALE)
    assert tracker.kernel.gamma == pytest.approx(1 / (P * X.var()))


def test_wrong_requests_are_refused_in_a_sentence():
    X = samples()
    tracker = RBF(gamma=0.4).track(X, scale=SCALE)
    with pytest.raises(ValueError, match="feature 3 is removed already"):
        tracker.remove(3)
    with pytest.raises(ValueError, match="feature 0 is present already"):
        tracker.add(0)
    for j in (4, -1):
        with pytest.raises(IndexError, match=f"no feature {j}; they are numbered 0 to 3"):
            tracker.remove(j)
    with pytest.raises(TypeError):
        tracker.remove(1.5)
    with pytest.raises(ValueError, match="must be finite"):
        tracker.rescale(0, np.nan)
    with pytest.raises(ValueError, match="coef must hold one number for each of the 13 samples"):
        tracker.leave_one_out_norms(np.ones(4))
    with pytest.raises(ValueError, match="same features"):
        tracker.leave_one_out_decisions(samples(2, p=3), np.ones(13))
    with pytest.raises(ValueError, match="scale must hold one factor for each of the 4"):
        RBF(gamma=0.4).track(X, scale=np.ones(3))
    with pytest.raises(ValueError, match="finite factors; got inf"):
        RBF(gamma=0.4).track(X, scale=[1, 1, np.inf, 1])
    with pytest.raises(ValueError, match="needs samples with 4 features"):
        QuadraticForm(B).track(samples(p=3))
    assert tracker.active.tolist() == [True, True, True, False]


@pytest.mark.parametrize("name", TRACKED)
def test_leave_one_out_diagonals_equal_brute_force(name):
    kernel, oracle = TRACKED[name]
    X, weights = samples(), np.abs(coefficients())
    weights[::3] = 0.0
    found = kernel.track(X, scale=SCALE).leave_one_out_diag(weights)
    grams = [naive.gram(oracle, naive.scaled(X, SCALE, without=j)) for j in range(P)]
    expected = [weights @ np.diag(gram) if SCALE[j] else np.nan for j, gram in enumerate(grams)]
    close(found, np.array(expected), 1e-11)


@pytest.mark.parametrize("offset", [0.0, 10.0, 1e6, 1e10])
@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(degree=3, gamma=0.5, coef0=1.0),
        Sigmoid(gamma=0.1, coef0=0.5),
        RBF(gamma=0.5),
        2.0 * Linear() + Polynomial(degree=2, gamma=0.5, coef0=1.0) * RBF(gamma=0.1),
    ],
    ids=repr,
)
def test_error_of_an_entry_is_at_least_that_of_a_matrix_made_anew(kernel, offset):
    X = offset + np.random.default_rng(0).normal(size=(12, 5))
    tracker = kernel.track(X)
    assert tracker.entry_error == pytest.approx(kernel.prepare(X).entry_error, rel=1e-6)
    for j in (0, 3, 4):
        tracker.remove(j)
        anew = kernel.prepare(X * tracker.scale).entry_error
        assert (1.0 - 1e-6) * anew <= tracker.entry_error <= 10.0 * anew


class Prepared:
    """Counts how often a kernel reads the table of samples."""

    times = 0

    def _prepare(self, X, dtype):
        type(self).times += 1
        return super()._prepare(X, dtype)


def test_error_of_an_entry_does_not_read_the_samples_again():
    class CountedPolynomial(Prepared, Polynomial):
        pass

    class CountedRBF(Prepared, RBF):
        pass

    X = np.random.default_rng(0).normal(size=(12, 5))
    for kernel in (CountedPolynomial(degree=2), CountedRBF(gamma=0.5)):
        tracker = kernel.track(X)
        tracker.remove(1)
        assert tracker.entry_error > 0
        assert type(kernel).times == 0


@pytest.mark.parametrize("removed", [[], [0], [2, 0]])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_error_of_an_entry_is_that_beside_exact_arithmetic(offset, removed):
    rng = np.random.default_rng(0)
    X = offset + rng.normal(size=(12, 4))
    X[:, 0] *= 1e3  # taking it off leaves its rounding behind
    tracker = (2.0 * Linear() + Polynomial(degree=3, gamma=0.5, coef0=1.0)).track(X)
    for j in removed:
        tracker.remove(j)
    kept = [j for j in range(4) if j not in removed]
    rows = [[Fraction(float(v)) for v in row] for row in X[:, kept]]
    worst = 0.0
    for i, a in enumerate(rows):
        for k, b in enumerate(rows):
            inner = sum(u * v for u, v in zip(a, b, strict=True))
            exact = 2 * inner + (inner / 2 + 1) ** 3
            worst = max(worst, abs(float(Fraction(float(tracker.K[i, k])) - exact)))
    largest = float(np.abs(tracker.K).max())
    assert worst <= tracker.entry_error <= 1e-11 * largest
