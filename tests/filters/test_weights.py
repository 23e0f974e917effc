"""Sample weights in the filters that count: integers are repeated rows, zero is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    ChiSquared,
    InformationGain,
    MaxDep,
    MaxRel,
    SymmetricalUncertainty,
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
    unit = weight / weight.mean()
    want = [naive.chi_squared(column.tolist(), y.tolist(), unit) for column in X.T]
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


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
