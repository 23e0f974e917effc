"""Ranges: ends, missing values, and moments against exact fractions, over any cut of the rows."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tamiz.scale import Ranges
from tests.naive.streaming import blocks, merge_anyhow


def exact(x):
    """Mean and standard deviation of the known values, without rounding until the end."""
    values = [Fraction(v) for v in x[~np.isnan(x)].tolist()]
    mean = sum(values) / len(values)
    return float(mean), math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))


def in_parts(X, rng):
    return merge_anyhow([Ranges.of(batch.X) for batch in blocks(X, None, rng)], rng)


@settings(max_examples=40)
@given(
    n=st.integers(1, 150),
    shift=st.sampled_from([0.0, 1.0, 1e8, -1e12]),
    gaps=st.sampled_from([0.0, 0.3, 0.98]),
    whole=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_parts_equal_the_whole_to_the_last_digits(n, shift, gaps, whole, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1.0, 5.0, 100.0] + shift
    X = np.rint(X) if whole else X
    X[rng.random((n, 3)) < gaps] = np.nan
    got = in_parts(X, rng)
    assert got.n_rows == n
    assert got.n_known.tolist() == np.count_nonzero(~np.isnan(X), axis=0).tolist()
    assert got.gaps().tolist() == np.isnan(X).any(axis=0).tolist()
    for j, x in enumerate(X.T):
        known = x[~np.isnan(x)]
        if not len(known):
            assert (got.low[j], got.high[j]) == (np.inf, -np.inf)
            assert np.isnan([got.mean()[j], got.deviation()[j]]).all()
            assert not got.varies()[j]
            continue
        assert (got.low[j], got.high[j]) == (known.min(), known.max())
        assert got.between[j] == (len(np.unique(known)) > 2)
        assert got.varies()[j] == (len(np.unique(known)) > 1)
        mean, deviation = exact(x)
        # relative to the spread for the mean: large means cost no digits
        tolerance = 2e-16 * abs(mean) + 1e-15 * deviation
        assert abs(got.mean()[j] - mean) <= tolerance
        rounding = 0 if whole else 2e-16 * abs(shift)  # of x - origin
        assert abs(got.deviation()[j] - deviation) <= 4e-15 * deviation + rounding


def test_sums_of_integers_have_no_error():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (5000, 2)).astype(float) + 10.0**9
    one, many = Ranges.of(X), in_parts(X, rng)
    for got in (one, many):
        assert [got.mean()[0], got.deviation()[0]] == pytest.approx(exact(X[:, 0]), rel=3e-16)
    assert one.deviation().tolist() == many.deviation().tolist()


def test_values_beyond_what_can_be_squared():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    plain = Ranges.of(X)
    factor = np.array([2.0**900, 2.0**-900, 1.0])
    extreme = in_parts(X * factor, rng)
    np.testing.assert_allclose(extreme.mean() / factor, plain.mean(), rtol=1e-13)
    np.testing.assert_allclose(extreme.deviation() / factor, plain.deviation(), rtol=1e-13)
    mixed = Ranges.of(X * 2.0**-900).merge(Ranges.of(X * 2.0**900))
    np.testing.assert_allclose(
        mixed.deviation() / 2.0**900, np.vstack([X, 0 * X]).std(axis=0), rtol=1e-13
    )


def test_sparse_rows_are_the_same():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) * (rng.random((300, 5)) < 0.2)
    a, b = Ranges.of(X), Ranges.of(sparse.csr_array(X))
    assert (a.mean() == b.mean()).all() and (a.low == b.low).all() and (a.high == b.high).all()


def test_pickled_and_small():
    part = Ranges.of(np.ones((10_000, 7)))
    again = pickle.loads(pickle.dumps(part)).merge(part)
    assert again.mean().tolist() == [1.0] * 7
    assert again.nbytes == 7 * (3 * 8 + 1 + 2 * 8 + 4 * 8)


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="Column 1 holds an infinite value"):
        Ranges.of(np.array([[1.0, np.inf], [2.0, np.nan]]))
    with pytest.raises(ValueError, match="1 dimensions"):
        Ranges.of(np.ones(3))
