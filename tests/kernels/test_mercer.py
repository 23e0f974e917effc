"""The check of Mercer's condition on a sample, and its warning."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from tamiz.kernels import (
    RBF,
    FunctionKernel,
    IndefiniteKernelWarning,
    Linear,
    Precomputed,
    Sigmoid,
    mercer_check,
    warn_if_indefinite,
)
from tests.kernels.cases import COMPOSITE, ELEMENTARY, samples

INDEFINITE = Sigmoid(gamma=1.0, coef0=-1.0)


def test_eigenvalues_are_those_of_the_gram_matrix():
    X = samples(20)
    found = mercer_check(INDEFINITE, X)
    values = np.linalg.eigvalsh(INDEFINITE(X))
    assert found.smallest == pytest.approx(values[0])
    assert found.largest == pytest.approx(values[-1])
    assert found.ratio == pytest.approx(values[0] / np.abs(values).max())
    assert not found.is_mercer
    assert found.n_samples == 20
    assert "not a Mercer kernel" in str(found)
    smallest, largest, ratio, is_mercer, n = found
    assert (smallest, largest, ratio, is_mercer, n) == found
    assert n == 20 and found._fields == ("smallest", "largest", "ratio", "is_mercer", "n_samples")
    assert found.eigenvalues == pytest.approx(values)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))]
)
def test_eigenvalues_go_with_copies(again):
    found = mercer_check(INDEFINITE, samples(20))
    other = again(found)
    assert type(other) is type(found) and other == found
    assert other.eigenvalues == found.eigenvalues and len(found.eigenvalues) == 20
    changed = found._replace(n_samples=3)
    assert changed.n_samples == 3 and changed.eigenvalues == found.eigenvalues


@pytest.mark.parametrize("name", ["linear", "poly2", "rbf", "quadratic", "sum", "product", "exp"])
def test_mercer_kernels_pass(name):
    kernel, _ = (ELEMENTARY | COMPOSITE)[name]
    found = mercer_check(kernel, samples(40))
    assert found.is_mercer
    assert "no clearly negative eigenvalue" in str(found)


def test_large_sets_are_sampled_with_a_seed():
    X = samples(120)
    one = mercer_check("sigmoid", X, max_samples=30, random_state=1)
    assert one.n_samples == 30
    assert one == mercer_check("sigmoid", X, max_samples=30, random_state=1)
    assert one != mercer_check("sigmoid", X, max_samples=30, random_state=2)
    gram = RBF(gamma=0.5)(X)
    table = mercer_check(Precomputed(), gram, max_samples=30, random_state=1)
    plain = mercer_check(RBF(gamma=0.5), X, max_samples=30, random_state=1)
    assert table.smallest == pytest.approx(plain.smallest, abs=1e-12)


def test_a_negative_kernel_is_not_mercer():
    assert not mercer_check(FunctionKernel(lambda X, Z: -(X @ Z.T)), samples()).is_mercer
    assert mercer_check(FunctionKernel(lambda X, Z: 0 * (X @ Z.T)), samples()).is_mercer


def test_the_warning_names_the_kernel():
    with pytest.warns(IndefiniteKernelWarning, match=r"Sigmoid\(coef0=-1\.0\) is not positive"):
        found = warn_if_indefinite(INDEFINITE, samples())
    assert not found.is_mercer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert warn_if_indefinite(RBF(), samples()) is None
        assert warn_if_indefinite("linear", samples()) is None
        assert warn_if_indefinite(Sigmoid(gamma=1e-3), samples(3)).is_mercer
        assert warn_if_indefinite(Precomputed(), Linear()(samples())).is_mercer


def test_bad_arguments():
    with pytest.raises(ValueError, match="tol"):
        mercer_check("rbf", samples(), tol=-1)
    with pytest.raises(ValueError, match="max_samples"):
        mercer_check("rbf", samples(), max_samples=0)
    with pytest.raises(ValueError, match="no rows"):
        mercer_check("linear", np.empty((0, 3)))
