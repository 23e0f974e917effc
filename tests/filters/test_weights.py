"""Sample weights in the filters that count: integers are repeated rows, zero is left out."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    AUCScore,
    ChiSquared,
    InformationGain,
    InformationValue,
    KolmogorovSmirnov,
    MaxDep,
    MaxRel,
    PearsonScore,
    SymmetricalUncertainty,
    WelchT,
)
from tests.naive import weighted as naive

COUNTING = [MaxRel, InformationGain, SymmetricalUncertainty, MRMR, JMI, CMIM, MaxDep, ChiSquared]
BINS = ["mean_std", "mdl", "width", "frequency"]


def samples(n=120, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 7))
    X[:, :3] += y[:, None] * [1.0, 0.5, 0.2]
    X[:, 5] = rng.integers(0, 4, n)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 4] = 3.0
    return X, y, rng.integers(0, 4, n)


def assert_as_repeated(selector, X, y, weight, **equal):
    rows = np.repeat(np.arange(len(y)), weight)
    again = type(selector)(**selector.get_params()).fit(X[rows], y[rows])
    got = selector.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(got.order_, again.order_)
    np.testing.assert_array_equal(got.support_, again.support_)
    if equal:
        np.testing.assert_allclose(got.scores_, again.scores_, **equal)
    else:
        np.testing.assert_array_equal(got.scores_, again.scores_)


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("method", [*COUNTING, CFS, QPFS])
def test_integer_weights_are_repeated_rows_to_the_last_bit(method, bins):
    assert_as_repeated(method(bins=bins), *samples())


@pytest.mark.parametrize("method", COUNTING)
def test_missing_values_may_be_left_out(method):
    assert_as_repeated(method(missing="ignore"), *samples())


@pytest.mark.parametrize(
    "selector",
    [
        MRMR(measure="f_pearson"),
        MRMR(measure="f_pearson", scheme="quotient"),
        CFS(correlation="pearson"),
        QPFS(similarity="pearson"),
    ],
)
def test_correlations_are_weighted(selector):
    X, y, weight = samples(missing=0.0)
    assert_as_repeated(selector, X, y, weight, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_counts_are_weighted(kind):
    rng = np.random.default_rng(0)
    y, weight = rng.integers(0, 2, 80), rng.integers(0, 4, 80)
    X = kind(rng.poisson(2.0, (80, 5)).astype(float))
    assert_as_repeated(ChiSquared(test="counts"), X, y, weight, rtol=1e-12)


def test_real_weights_follow_the_formula():
    X, y, _ = samples(missing=0.0)
    X = np.round(X)
    weight = np.random.default_rng(1).uniform(0.1, 4.0, len(y))
    got = MaxRel(bins=None).fit(X, y, sample_weight=weight).scores_
    want = [naive.mutual_information(column.tolist(), y.tolist(), weight) for column in X.T]
    np.testing.assert_allclose(got, want, atol=1e-9)
    got = ChiSquared(bins=None).fit(X, y, sample_weight=weight).scores_
    want = [naive.chi_squared(column.tolist(), y.tolist(), weight) for column in X.T]
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("method", [*COUNTING, InformationValue, CFS, QPFS])
def test_nothing_jumps_where_weights_are_hardly_integers(method, bins):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4)) + y[:, None] * [1.5, 1.0, 0.5, 0.0]
    weight = rng.integers(1, 5, 60).astype(float)
    near = weight + 1e-10
    one, other = (method(bins=bins).fit(X, y, sample_weight=own) for own in (weight, near))
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "selector",
    [
        WelchT(),
        PearsonScore(),
        AUCScore(),
        KolmogorovSmirnov(),
        ChiSquared(),
        ChiSquared(rank_by="cramers_v"),
        ChiSquared(test="counts"),
        MRMR(measure="f_pearson"),
    ],
)
def test_weights_are_numbers_of_rows_everywhere(selector):
    """Of all rows 2.5 times: beside two and three times, and with the formula between them."""
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = np.abs(rng.normal(size=(40, 3)) + 0.4 * y[:, None])
    near, half, two, three = (
        clone(selector).fit(X, y, sample_weight=np.full(40, unit))
        for unit in (2.0 + 1e-10, 2.5, 2.0, 3.0)
    )
    np.testing.assert_allclose(near.scores_, two.scores_, rtol=1e-6)
    if getattr(two, "pvalues_", None) is not None:
        np.testing.assert_allclose(near.pvalues_, two.pvalues_, rtol=1e-3)
        assert (two.pvalues_ >= half.pvalues_).all() and (half.pvalues_ >= three.pvalues_).all()


@pytest.mark.parametrize("selector", [AUCScore(), KolmogorovSmirnov(), WelchT(), PearsonScore()])
def test_pvalues_of_small_samples_do_not_jump_beside_weights_of_one(selector):
    rng = np.random.default_rng(4)
    y = np.arange(12) % 2
    X = rng.normal(size=(12, 5)) + 0.5 * y[:, None]
    one = clone(selector).fit(X, y).pvalues_
    other = clone(selector).fit(X, y, sample_weight=1.0 + 1e-10 * rng.random(12)).pvalues_
    np.testing.assert_allclose(other, one, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e17, 1e150, 1e300])
@pytest.mark.parametrize("method", [*COUNTING, InformationValue, CFS, QPFS])
def test_weights_of_any_size_are_counted(method, unit):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4)) + y[:, None] * [1.5, 1.0, 0.5, 0.0]
    weight = rng.integers(1, 5, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        got = method().fit(X, y, sample_weight=weight * unit)
    assert np.isfinite(got.scores_).all()
    if method not in (ChiSquared, InformationValue, MaxDep):  # these depend on how many rows
        got = method(bins="width").fit(X, y, sample_weight=weight * unit)
        want = method(bins="width").fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(got.scores_, want.scores_, rtol=1e-6, atol=1e-9)


def test_mrmr_with_weights_of_a_small_sum_has_an_order():
    X, y, weight = samples(missing=0.0)
    for unit in (1e-300, 1e-6, 1e300):
        got = MRMR(measure="f_pearson").fit(X, y, sample_weight=weight * unit)
        assert np.isfinite(got.scores_).all() and got.order_[0] == 0


def test_rows_are_checked_before_they_are_counted():
    X, y, _ = samples(missing=0.0)
    weight = np.arange(120) % 3
    want = MaxRel().fit(X, y, sample_weight=weight).scores_
    for kind in (sparse.coo_matrix, sparse.dia_matrix, sparse.csc_array):
        got = MaxRel().fit(kind(X), y, sample_weight=weight).scores_
        np.testing.assert_allclose(got, want, atol=1e-12)
    for make in (MaxRel, CFS, ChiSquared):
        with pytest.raises(ValueError, match="119 entries; they must be equal"):
            make().fit(X, y[:-1], sample_weight=weight)
        with pytest.raises((ValueError, TypeError)) as without:
            make().fit(None, y)
        with pytest.raises(type(without.value)) as with_weights:
            make().fit(None, y, sample_weight=weight)
        assert str(with_weights.value) == str(without.value)


def test_rows_of_weight_zero_are_not_looked_at():
    X, y, weight = samples()
    y = np.append(y, 7)  # a class of weight zero is none
    frame = pd.DataFrame(np.vstack([X, X[:1]]), columns=list("abcdefg"))
    got = MRMR().fit(frame, y, sample_weight=[*weight, 0])
    np.testing.assert_array_equal(got.classes_, [0, 1, 2])
    np.testing.assert_array_equal(got.feature_names_in_, list("abcdefg"))
    np.testing.assert_array_equal(got.order_, MRMR().fit(X, y[:-1], sample_weight=weight).order_)


@pytest.mark.parametrize("method", [*COUNTING, CFS, QPFS])
def test_bad_weights_get_a_sentence(method):
    X, y, _ = samples()
    for weight, words in (
        (np.ones(5), "one weight for each row"),
        (-np.ones(120), "not negative"),
        (np.zeros(120), "zero for every sample"),
        (np.full(120, np.nan), "finite"),
        (["a"] * 120, "real numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            method().fit(X, y, sample_weight=weight)


def test_similarities_that_know_no_weights_refuse_them():
    X, y, weight = samples(missing=0.0)
    for selector in (
        CFS(correlation=np.eye(8)),
        QPFS(similarity=lambda A, B: np.abs(A.T @ B)),
        QPFS(similarity=np.eye(7), relevance=np.ones(7)),
    ):
        with pytest.raises(ValueError, match="sample_weight was given, but"):
            selector.fit(X, y, sample_weight=weight)
        selector.fit(X, y, sample_weight=np.ones(len(y)))
