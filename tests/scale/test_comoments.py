"""CoMoments: against numpy and the filters that take correlations, over any cut of the rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_selection import f_classif

from tamiz.filters import MRMR
from tamiz.filters.similarity import Pearson, Target
from tamiz.scale import CoMoments
from tests.naive.streaming import blocks, merge_anyhow


def in_parts(X, y, rng, n_classes=0, target=None):
    parts = []
    for b in blocks(X, y, rng):
        t = None if target is None else target[b.first_row : b.first_row + len(b.X)]
        parts.append(CoMoments.of(b.X, b.y, n_classes, t))
    return merge_anyhow(parts, rng)


@settings(max_examples=40)
@given(
    n=st.integers(3, 200),
    p=st.integers(1, 6),
    n_classes=st.integers(2, 4),
    seed=st.integers(0, 2**31),
)
def test_parts_equal_the_whole(n, p, n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + rng.standard_normal(p)
    y = rng.integers(0, n_classes, n)
    got = in_parts(X, y, rng, n_classes)
    Z = X - X.mean(axis=0)
    scale = np.sqrt(np.outer((Z**2).sum(axis=0), (Z**2).sum(axis=0)))
    assert np.abs((got.cross - Z.T @ Z) / scale).max() < 1e-13
    np.testing.assert_allclose(got.mean, X.mean(axis=0), rtol=0, atol=1e-13)
    assert got.class_rows.tolist() == np.bincount(y, minlength=n_classes).tolist()
    for k in np.unique(y):
        np.testing.assert_allclose(got.class_mean[k], X[y == k].mean(axis=0), rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        got.correlations(), np.corrcoef(X.T).reshape(p, p), rtol=0, atol=1e-12
    )


def test_equal_to_the_filters():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    X = rng.standard_normal((500, 8)) + y[:, None] * np.linspace(0, 1, 8)
    X[:, 3] = X[:, 2] + 0.1 * X[:, 3]
    X[:, 5] = 0.1
    got = in_parts(X, y, rng, 3)
    mrmr = MRMR(measure="f_pearson").fit(X, y)
    np.testing.assert_allclose(got.f_statistics(), mrmr.relevance_, rtol=1e-11)
    varying = np.flatnonzero(got.varies())
    assert varying.tolist() == [0, 1, 2, 3, 4, 6, 7]
    peer = f_classif(X[:, varying], y)[0]
    np.testing.assert_allclose(got.f_statistics()[varying], peer, rtol=1e-10)
    similar = Pearson(X, Target(y, 3))
    np.testing.assert_allclose(
        np.abs(got.correlations()[np.ix_(varying, varying)]),
        similar.rows(np.arange(7)),
        rtol=0,
        atol=1e-12,
    )
    np.testing.assert_allclose(got.relevance()[varying], similar.relevance, rtol=0, atol=1e-12)
    assert got.relevance()[5] == got.f_statistics()[5] == got.correlations()[5, 5] == 0.0


def test_a_numeric_target():
    rng = np.random.default_rng(0)
    X, t = rng.standard_normal((300, 4)), rng.standard_normal(300)
    t += X[:, 1]
    got = in_parts(X, None, rng, target=t)
    expected = [np.corrcoef(x, t)[0, 1] for x in X.T]
    np.testing.assert_allclose(got.target_correlations(), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(got.relevance(), np.abs(expected), rtol=0, atol=1e-13)
    assert got.correlations().shape == (4, 4) and got.n_features == 4


def test_large_means_cost_no_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 3))
    X[:, 1] += X[:, 0]
    far = X + 1e8
    near = far - 1e8  # what the numbers are, with their last digits gone
    got = in_parts(far, None, rng)
    np.testing.assert_allclose(got.correlations(), np.corrcoef(near.T), rtol=0, atol=1e-12)


def test_constants_stay_exact():
    X = np.column_stack([np.full(50, 0.1), np.arange(50.0)])
    got = in_parts(X, None, np.random.default_rng(0))
    assert got.cross[0].tolist() == [0.0, 0.0]
    assert got.mean[0] == 0.1
    assert got.correlations().tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_sparse_rows_and_pickling():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3)) * (rng.random((100, 3)) < 0.3)
    part = CoMoments.of(sparse.csr_array(X))
    assert (pickle.loads(pickle.dumps(part)).cross == CoMoments.of(X).cross).all()
    assert part.nbytes == 8 * (3 + 3 + 9 + 3 + 3)
    assert part.merge(CoMoments.of(X[:0])).n_rows == 100


def test_refusals():
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"Input X \(column 1\) contains NaN. Fill the missing values"
    ):
        CoMoments.of(X)
    with pytest.raises(ValueError, match="contains infinity"):
        CoMoments.of(np.array([[1.0], [np.inf]]))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        CoMoments.of(np.ones((2, 1)), target=np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="leave the range of float64"):
        CoMoments.of(np.array([[1e300], [-1e300]]))
    with pytest.raises(ValueError, match="neither classes nor a numeric target"):
        CoMoments.of(np.ones((3, 1))).f_statistics()
