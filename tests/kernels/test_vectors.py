"""Eight numbers at once against the same arithmetic in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from tamiz.kernels.vectors import (
    LANES,
    greater,
    lane,
    load,
    multiply,
    multiply_add,
    spread,
    store,
    subtract,
)
from tamiz.runtime.compiling import njit

pytestmark = pytest.mark.ours


@njit
def _each(a, b, number, out):
    """Every operation once, from the second vector of ``a`` and the first one of ``b``."""
    x, y = load(a, LANES), load(b, 0)
    store(out, 0, spread(number))
    store(out, LANES, multiply(x, y))
    store(out, 2 * LANES, subtract(x, y))
    store(out, 3 * LANES, multiply_add(x, y, x))
    store(out, 4 * LANES, greater(x, y))
    for k in range(LANES):
        out[5, k] = lane(x, LANES - 1 - k)


@njit
def _first(a):
    out = np.empty(LANES)
    store(out, 0, load(a, 0))
    return out


@njit
def _fill(out, number):
    store(out, 0, spread(number))


@njit
def _dot(a, b, n):
    total = spread(0.0)
    for k in range(n):
        total = multiply_add(load(a, LANES * k), load(b, LANES * k), total)
    out = np.empty(LANES)
    store(out, 0, total)
    return out


def test_operations_are_those_of_each_number():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, LANES)), rng.normal(size=(1, LANES))
    out = np.full((7, LANES), 9.0)
    _each(a, b, 2.5, out)
    x, y = a[1], b[0]
    np.testing.assert_array_equal(out[0], 2.5)
    np.testing.assert_array_equal(out[1], x * y)
    np.testing.assert_array_equal(out[2], x - y)
    np.testing.assert_allclose(out[3], x * y + x, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(out[4], np.maximum(x, y))
    np.testing.assert_array_equal(out[5], x[::-1])
    np.testing.assert_array_equal(out[6], 9.0)  # nothing is written beyond


def test_the_greater_of_a_pair_with_nan_is_the_second():
    a = np.full((2, LANES), np.nan)
    out = np.empty((6, LANES))
    _each(a, np.arange(float(LANES))[None], 0.0, out)
    np.testing.assert_array_equal(out[4], np.arange(float(LANES)))


@pytest.mark.parametrize("n", [0, 1, 37])
def test_a_variable_keeps_its_lanes_through_a_loop(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n + 1, LANES))
    wanted = (a[:n] * b[:n]).sum(axis=0)
    np.testing.assert_allclose(_dot(a.ravel(), b.ravel(), n), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(16, dtype=np.float32),
        np.arange(16),
        np.arange(32.0)[::2],
        np.arange(64.0).reshape(8, 8)[:, 2],
        np.asfortranarray(np.arange(64.0).reshape(8, 8)),
        np.arange(16, dtype=complex),
    ],
    ids=["float32", "integers", "every second one", "a column", "columns first", "complex"],
)
def test_other_arrays_are_refused_when_they_are_compiled(array):
    for refused in (lambda: _first(array), lambda: _fill(array, 1.0)):
        with pytest.raises(TypingError):
            refused()


def test_what_cannot_be_written_is_only_read():
    fixed = np.arange(8.0)
    fixed.flags.writeable = False
    np.testing.assert_array_equal(_first(fixed), fixed)
    with pytest.raises(TypingError):
        _fill(fixed, 1.0)
