"""Columns with sample weights: repeated rows, the formula, and sums that are exact."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tamiz.filters import MaxRel
from tamiz.information import Discretiser, encode
from tamiz.information.weighted import MOST_CELLS
from tests.naive import weighted as naive


def table(n=150, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.integers(0, 4, (n, 5)).astype(float)
    X[:, 0] += y
    X[:, 3] = 2.0
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, rng


def listed(column):
    return [None if value != value else value for value in column.tolist()]


@pytest.mark.parametrize("missing", ["code", "ignore"])
def test_every_measure_of_integer_weights_is_that_of_repeated_rows(missing):
    X, y, rng = table()
    weight = rng.integers(1, 5, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    got = encode(X, bins=None, missing=missing, sample_weight=weight)
    want = encode(X[rows], bins=None, missing=missing)
    got.target, want.target = y, y[rows]
    for name in ("entropies", "n_known", "relevance", "su_relevance", "matrix"):
        np.testing.assert_array_equal(getattr(got, name)(), getattr(want, name)(), name)
    for j in range(5):
        np.testing.assert_array_equal(got.conditional(j), want.conditional(j))
        np.testing.assert_array_equal(got.su_row(j), want.su_row(j))
    for one, other in zip(got.contingency(), want.contingency(), strict=True):
        np.testing.assert_array_equal(one, other)
    kept = np.array([0, 2, 4])
    np.testing.assert_array_equal(got.take(kept).matrix(), want.take(kept).matrix())
    assert got.amount() == want.amount() == weight.sum()


def test_real_weights_follow_the_formula():
    X, y, rng = table()
    weight = rng.uniform(0.1, 3.0, len(y))
    codes = encode(X, bins=None, missing="ignore", sample_weight=weight)
    columns = [listed(column) for column in X.T]
    for j, first in enumerate(columns):
        want = [naive.over_pairs(first, second, weight) for second in columns]
        np.testing.assert_allclose(codes.row(j), want, atol=1e-9)
    want = [naive.over_pairs(first, y.tolist(), weight) for first in columns]
    np.testing.assert_allclose(codes.relevance(y), want, atol=1e-9)


def test_many_tables_are_summed_in_parts():
    rng = np.random.default_rng(1)
    X, weight = rng.integers(0, 60, (100, 3000)).astype(float), rng.integers(1, 4, 100)
    rows = np.repeat(np.arange(100), weight)
    got, want = encode(X, bins=None, sample_weight=weight), encode(X[rows], bins=None)
    assert (got.n_levels * got.n_levels[0]).sum() > MOST_CELLS
    np.testing.assert_array_equal(got.row(0), want.row(0))


def test_large_tables_are_summed_pair_by_pair():
    rng = np.random.default_rng(1)
    X, weight = rng.integers(0, 60, (400, 3)).astype(float), rng.integers(1, 4, 400)
    names = np.arange(400).astype(float)[:, None]
    wide = np.hstack([X, names, names[::-1]])
    rows = np.repeat(np.arange(400), weight)
    got = encode(wide, bins=None, categorical_features=[3, 4], sample_weight=weight)
    want = encode(wide[rows], bins=None, categorical_features=[3, 4])
    np.testing.assert_array_equal(got.matrix(), want.matrix())


def test_the_order_of_the_samples_does_not_change_a_bit():
    X, y, rng = table(400)
    weight = rng.uniform(0.01, 5.0, len(y))
    order = rng.permutation(len(y))
    one = encode(X, bins=None, sample_weight=weight).matrix()
    other = encode(X[order], bins=None, sample_weight=weight[order]).matrix()
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(one, one.T)


@pytest.mark.parametrize("bins", ["mean_std", "width", "frequency", "mdl"])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_cuts_of_integer_weights_are_those_of_repeated_rows(bins, decimals):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 90)
    X = np.round(rng.normal(size=(90, 6)) + y[:, None] * np.arange(6) / 2, decimals)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = 1.0
    weight = rng.integers(0, 4, 90)
    rows = np.repeat(np.arange(90), weight)
    got = Discretiser(bins, n_bins=4).fit(X, y, sample_weight=weight)
    want = Discretiser(bins, n_bins=4).fit(X[rows], y[rows])
    for one, other in zip(got.cuts_, want.cuts_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(got.transform(X), want.transform(X))


@pytest.mark.parametrize("unit", [1e-300, 1e-6, 2.5, 1e170, 1e300])
@pytest.mark.parametrize("bins", ["mean_std", "width", "frequency"])
def test_information_does_not_depend_on_the_unit_of_the_weights(bins, unit):
    X, y, rng = table()
    weight = rng.uniform(0.1, 3.0, len(y))
    weight /= weight.mean()
    # quantiles of more rows lie a little elsewhere; of fewer, they are those of so many
    large = bins == "frequency" and unit > 1.0
    one = encode(X, bins=bins, sample_weight=weight * 1e6 if large else weight)
    other = encode(X, bins=bins, sample_weight=weight * (1e6 if large and unit < 3 else unit))
    np.testing.assert_allclose(one.matrix(), other.matrix(), atol=1e-12)
    np.testing.assert_allclose(one.entropies(), other.entropies(), rtol=1e-12)
    np.testing.assert_array_equal(one.n_levels, other.n_levels)


@pytest.mark.parametrize("bins", ["mean_std", "mdl", "width", "frequency"])
def test_cuts_do_not_jump_beside_integer_weights(bins):
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 1.2 * y[:, None]
    weight = rng.integers(1, 5, 60).astype(float)
    near = weight + 1e-9 * rng.random(60)
    one, other = (Discretiser(bins).fit(X, y, sample_weight=own) for own in (weight, near))
    for first, second in zip(one.cuts_, other.cuts_, strict=True):
        np.testing.assert_allclose(first, second, atol=1e-6)


def test_small_weights_do_not_make_identifiers():
    X = np.random.default_rng(0).integers(0, 12, (60, 2))
    weight = np.random.default_rng(1).uniform(0.5, 1.5, 60) / 60
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaxRel(bins=None).fit(X, np.arange(60) % 2, sample_weight=weight)


def test_weights_of_one_cost_nothing():
    X, _, _ = table()
    assert type(encode(X, bins=None, sample_weight=np.ones(len(X)))).__name__ == "Codes"


def test_a_row_of_weight_zero_is_refused_where_rows_are_not_left_out():
    X, _, _ = table()
    with pytest.raises(ValueError, match="must be positive here"):
        encode(X, bins=None, sample_weight=np.arange(len(X)))
