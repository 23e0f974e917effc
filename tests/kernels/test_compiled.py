"""The compiled exponentials against NumPy's, over their whole range."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba import njit

from tamiz.kernels import compiled


def single(x):
    """The single-precision exponential of each argument, through the tile function."""
    x = np.asarray(x, dtype=np.float32)
    out = np.empty((1, len(x)), np.float32)
    zeros = np.zeros(len(x), np.float32)
    compiled.radial_tile(x[None, :].copy(), zeros[:1], zeros, out, 0, 0)
    return out[0]


@njit
def _doubles(x, out):
    for k in range(len(x)):
        out[k] = compiled.exp_double(x[k])


def double(x):
    """The double-precision exponential of each argument."""
    out = np.empty_like(x)
    _doubles(x, out)
    return out


def test_single_over_the_whole_range():
    x = np.linspace(-104, 0, 2_000_003).astype(np.float32)
    value, exact = single(x), np.exp(x.astype(np.float64))
    inside = x > -87
    assert np.abs(value[inside] / exact[inside] - 1).max() <= 1.5e-7
    assert not value[~inside].any()
    assert single([0.0])[0] == 1.0
    assert np.isfinite(value).all()


def test_single_near_the_seams_of_its_reduction():
    k = np.arange(-125, 1)
    seams = (k + 0.5) * np.log(2)
    x = np.concatenate([seams + d for d in (-1e-5, -1e-6, 0.0, 1e-6, 1e-5)])
    x = x[(x > -87) & (x <= 0)].astype(np.float32)
    assert np.abs(single(x) / np.exp(x.astype(np.float64)) - 1).max() <= 1.5e-7


def test_single_never_rises_above_one_and_never_falls_as_x_grows():
    x = np.sort(-np.geomspace(1e-9, 86, 400_001)).astype(np.float32)
    value = single(x)
    assert value.max() <= 1.0
    assert (np.diff(value.astype(np.float64)) >= -1.2e-7 * value[1:]).all()


def test_arguments_above_zero_count_as_zero():
    assert (single([1e-7, 0.5, 3.0]) == 1.0).all()


def test_extreme_arguments():
    assert not single([-1e4, -1e30, -np.inf]).any()


def test_the_tile_takes_halves_off_and_writes_where_told():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        product = rng.normal(size=(3, 37)).astype(dtype)
        left, right = (rng.uniform(1, 2, size=m).astype(dtype) for m in (3, 37))
        out = np.full((6, 50), 7.0, np.float32)
        compiled.radial_tile(product, left, right, out, 2, 5)
        expected = np.exp(np.minimum(product - left[:, None] - right, 0).astype(np.float64))
        assert np.abs(out[2:5, 5:42] / expected - 1).max() < 1e-6
        out[2:5, 5:42] = 7.0
        assert (out == 7.0).all()


def test_mirror_copies_the_upper_triangle_only():
    rng = np.random.default_rng(0)
    for n in (1, 31, 32, 33, 97):
        table = rng.normal(size=(n, n)).astype(np.float32)
        mirrored = table.copy()
        compiled.mirror_tile(mirrored, 0, n, 0, n)
        assert np.array_equal(mirrored, np.triu(table) + np.triu(table, 1).T)
    table = rng.normal(size=(97, 97)).astype(np.float32)
    mirrored = table.copy()
    compiled.mirror_tile(mirrored, 10, 20, 40, 75)
    expected = table.copy()
    expected[40:75, 10:20] = table[10:20, 40:75].T
    assert np.array_equal(mirrored, expected)


def test_double_over_the_whole_range():
    x = np.concatenate([np.linspace(-760, 0, 1_000_003), -np.geomspace(1e-300, 1, 100_001)])
    out = double(x)
    exact = np.exp(x)
    inside = x >= -708
    assert np.abs(out[inside] / exact[inside] - 1).max() <= 1e-15
    assert not out[~inside].any()
    assert out[x == 0.0][0] == 1.0
    assert not double(np.array([-708.5, -1e4, -1e300, -np.inf])).any()


@pytest.mark.skipif(
    tuple(map(int, numba.__version__.split(".")[:2])) < (0, 61),
    reason="the LLVM of older versions of numba leaves these loops scalar",
)
def test_the_loops_use_vector_instructions():
    """One number at a time would make the radial kernel several times slower."""
    tile = njit(nogil=True)(compiled.radial_tile.py_func)  # anew: a cached one hides its code
    x = np.zeros((1, 8), np.float32)
    tile(x, x[0], x[0], np.empty_like(x), 0, 0)
    assert "x float>" in "".join(tile.inspect_llvm().values())
    double(np.zeros(8))
    assert "x double>" in "".join(_doubles.inspect_llvm().values())
