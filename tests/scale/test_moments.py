"""Moments by class and products with a numeric target: merged parts equal the whole."""

from __future__ import annotations

import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tamiz.scale import moments as moments_module
from tamiz.scale.moments import ClassMoments, TargetMoments, divide_scores
from tests.calls import tiles_of_one
from tests.naive.streaming import blocks, merge_anyhow


def direct(X, codes, n_classes, weight=None):
    """Means and deviations by class, straight from the definition."""
    weight = np.ones(len(X)) if weight is None else weight
    mean, m2 = np.zeros((n_classes, X.shape[1])), np.zeros((n_classes, X.shape[1]))
    for k in range(n_classes):
        rows = codes == k
        if rows.any():
            mean[k] = np.average(X[rows], axis=0, weights=weight[rows])
            m2[k] = weight[rows] @ (X[rows] - mean[k]) ** 2
    return np.bincount(codes, weight, minlength=n_classes), mean, m2


def assert_equal(moments, expected, rtol=1e-10):
    for name, value in zip(("count", "mean", "m2"), expected, strict=True):
        scale = np.abs(value).max(initial=1e-300)
        np.testing.assert_allclose(
            getattr(moments, name), value, rtol=rtol, atol=1e-13 * max(scale, 1), err_msg=name
        )


@given(
    n=st.integers(1, 300),
    p=st.integers(1, 12),
    n_classes=st.integers(1, 5),
    weighted=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_equal_to_the_definition_dense_and_sparse(n, p, n_classes, weighted, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.5) + rng.integers(0, 2)
    codes = rng.integers(0, n_classes, n)
    weight = rng.random(n) + 0.1 if weighted else None
    expected = direct(X, codes, n_classes, weight)
    assert_equal(ClassMoments.of(X, codes, n_classes, weight), expected)
    assert_equal(ClassMoments.of(sparse.csr_array(X), codes, n_classes, weight), expected)


@given(cuts=st.lists(st.integers(0, 200), max_size=4), seed=st.integers(0, 2**31))
def test_merged_parts_equal_the_whole(cuts, seed):
    rng = np.random.default_rng(seed)
    X, codes = rng.standard_normal((200, 3)) + 5, rng.integers(0, 3, 200)
    places = [0, *sorted(cuts), 200]
    parts = [
        ClassMoments.of(X[a:b], codes[a:b], 3) if b > a else None
        for a, b in itertools.pairwise(places)
    ]
    merged = None
    for part in parts:
        if part is not None:
            merged = part if merged is None else merged.merge(part)
    assert_equal(merged, direct(X, codes, 3))


@pytest.mark.parametrize("shape", [(20_000, 3), (50, 700), (8192, 256), (8193, 257)])
def test_chunks_in_both_directions(shape):
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal(shape), rng.integers(0, 3, shape[0])
    assert_equal(ClassMoments.of(X, codes, 3), direct(X, codes, 3))


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((20_000, 300)), rng.integers(0, 2, 20_000)
    here = ClassMoments.of(X, codes, 2)
    with tiles_of_one(moments_module):
        alone = ClassMoments.of(X, codes, 2)
    assert (here.mean == alone.mean).all()
    assert (here.m2 == alone.m2).all()


def test_large_offsets_keep_the_variance():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 1))
    X[0] = 1e3  # the value that the others are taken relative to is far off
    moments = ClassMoments.of(X + 1e9, np.zeros(5000, dtype=int), 1)
    assert moments.variance()[0, 0] == pytest.approx(X.var(), rel=1e-6)


def test_constants_are_exact():
    codes = np.array([0, 1] * 500)
    X = np.column_stack([np.full(1000, 0.1), np.where(codes, 0.3, 0.7), np.arange(1000.0)])
    for table in (X, sparse.csr_array(X)):
        moments = ClassMoments.of(table, codes, 2, np.full(1000, 0.3))
        assert moments.m2[:, :2].tolist() == [[0, 0], [0, 0]]
        assert moments.mean[:, 0].tolist() == [0.1, 0.1]
        assert moments.mean[:, 1].tolist() == [0.7, 0.3]
        assert moments.constant().tolist() == [True, False, False]
        halves = ClassMoments.of(table[:300], codes[:300], 2).merge(
            ClassMoments.of(table[300:], codes[300:], 2)
        )
        assert halves.constant().tolist() == [True, False, False]


def test_pooled_and_one_against_rest():
    rng = np.random.default_rng(1)
    X, codes = rng.standard_normal((90, 4)), np.repeat([0, 1, 2], 30)
    moments = ClassMoments.of(X, codes, 3)
    assert_equal(moments.pooled(), direct(X, np.zeros(90, dtype=int), 1))
    assert_equal(moments.one_against_rest(1), direct(X, (codes != 1).astype(int), 2))


def test_variance_without_freedom_is_zero():
    moments = ClassMoments.of(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), 2)
    assert moments.variance(ddof=1).ravel().tolist() == [0.0, 2.0]


def test_division_by_zero():
    got = divide_scores(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 2.0]))
    assert got.tolist() == [0.0, np.inf, 0.5]


def test_batches_refuse_what_has_no_moments():
    X, codes = np.ones((3, 2)), np.array([0, 1, 0])
    assert_equal(ClassMoments.of_batch(X, codes, 2), direct(X, codes, 2))
    for value, sentence in (
        (np.nan, r"contains NaN \(column 1\). Fill the missing values"),
        (1e200, "divide the column"),
        (np.inf, "divide the column"),
    ):
        X[1, 1] = value
        for table in (X, sparse.csr_array(X)):
            with pytest.raises(ValueError, match=sentence):
                ClassMoments.of_batch(table, codes, 2)


def test_merging_in_any_order():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((500, 3)) + 1e3, rng.integers(0, 3, 500)
    parts = [ClassMoments.of_batch(b.X, b.y, 3) for b in blocks(X, codes, rng) if len(b.X)]
    assert_equal(merge_anyhow(parts, rng), direct(X, codes, 3), rtol=1e-11)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)) * [1, 1e-3, 1e4, 1] + [0, 5, 1e6, 0]
X[:, 3] = 2.5
Y = X[:, 0] + 1e-4 * X[:, 2] + RNG.normal(size=400)


@pytest.mark.parametrize("cut", [(0, 400), (0, 1, 2, 399, 400), (0, 200, 400)])
def test_correlations_do_not_depend_on_the_cut(cut):
    total = None
    for a, b in pairwise(cut):
        part = TargetMoments.of(X[a:b], Y[a:b])
        total = part if total is None else total.merge(part)
    right = [np.corrcoef(X[:, j], Y)[0, 1] for j in range(3)]
    np.testing.assert_allclose(total.correlations()[:3], right, rtol=1e-9)
    assert total.correlations()[3] == 0.0 and total.n_rows == 400


def test_sparse_rows_and_a_constant_target():
    thin = np.where(RNG.random((400, 4)) < 0.2, X, 0.0)
    both = TargetMoments.of(sparse.csr_matrix(thin), Y).correlations()
    np.testing.assert_allclose(both, TargetMoments.of(thin, Y).correlations(), rtol=1e-10)
    assert (TargetMoments.of(X, np.full(400, 0.1)).correlations() == 0).all()
    with pytest.raises(ValueError, match="NaN"):
        TargetMoments.of(np.full((3, 1), np.nan), Y[:3])
