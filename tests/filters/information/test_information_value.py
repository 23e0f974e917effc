"""InformationValue: the formula, streams, weights."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters import InformationValue
from tamiz.information import Discretiser, WeightOfEvidence
from tests.checks import assert_every_check_passes
from tests.naive import evidence as naive


def samples(n=240, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 4)) + y[:, None] * [1.0, 0.5, 0.0, 0.2]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("bins", ["frequency", "mdl", "width"])
def test_scores_follow_the_formula(bins):
    X, y = samples()
    got = InformationValue(bins=bins, n_bins=6).fit(X, y)
    codes = Discretiser(bins, n_bins=6).fit(X, y).transform(X)
    want = [naive.information_value(c.tolist(), y.tolist(), 0.5) for c in codes.T]
    np.testing.assert_allclose(got.scores_, want, atol=1e-12)
    woe = WeightOfEvidence(bins, n_bins=6).fit(X, y)
    np.testing.assert_allclose(got.scores_, woe.information_values_, atol=1e-12)


def test_several_classes_are_weighed_by_their_frequency():
    X, y = samples(n_classes=3)
    got = InformationValue().fit(X, y).scores_
    parts = [InformationValue().fit(X, y == k).scores_ * (y == k).mean() for k in range(3)]
    np.testing.assert_allclose(got, np.sum(parts, axis=0))


def test_streams_and_batches_give_what_fit_gives():
    X, y = samples()
    X = np.round(2 * X)
    want = InformationValue(bins=None).fit(X, y)
    parts = [(X[:100], y[:100]), (X[100:], y[100:])]
    np.testing.assert_allclose(InformationValue(bins=None).fit_stream(parts).scores_, want.scores_)
    batches = InformationValue(bins=None)
    for part in parts:
        batches.partial_fit(*part, classes=[0, 1])
    np.testing.assert_allclose(batches.scores_, want.scores_)


def test_integer_weights_are_repeated_rows():
    X, y = samples()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    got = InformationValue().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(got.scores_, InformationValue().fit(X[rows], y[rows]).scores_)


def test_every_check_passes():
    assert_every_check_passes(InformationValue())
