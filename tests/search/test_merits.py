"""Criteria without an estimator: equal to the formulas, monotone where they say so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tamiz.filters.cfs import CFS
from tamiz.search.merits import RIDGE, merit_for
from tests.naive import cfs as naive_cfs
from tests.naive import search as naive


def make(seed=0, n=60, p=6, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[: 2 * classes] = np.tile(np.arange(classes), 2)
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 10, p) + 3.0
    X[:, 0] += y
    X[:, 1] *= 1 + y
    return X, y


@pytest.mark.parametrize("name", ["bhattacharyya", "divergence"])
@pytest.mark.parametrize("classes", [2, 4])
def test_distances_are_the_formulas(name, classes):
    X, y = make(classes, classes=classes)
    judge = merit_for(name, X, y)
    for features in ([0], [1, 4], [0, 1, 2, 3, 4, 5]):
        expected = getattr(naive, name)(X[:, features], y, RIDGE)
        found = judge.score(np.array(features))
        assert found.shape == (1, 1)
        assert found[0, 0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["bhattacharyya", "divergence"])
@pytest.mark.parametrize("seed", range(4))
def test_distances_are_monotone_even_if_singular(name, seed):
    """Few samples, a constant and a repeated feature: another feature never takes away."""
    X, y = make(seed, n=9, p=7, classes=2)
    X[:, 5] = 2.0
    X[:, 6] = X[:, 0]
    judge = merit_for(name, X, y)
    assert judge.monotone
    rng = np.random.default_rng(seed)
    for _ in range(10):
        order = rng.permutation(7)
        values = [judge.score(np.sort(order[: k + 1]))[0, 0] for k in range(7)]
        assert np.isfinite(values).all()
        for small, large in pairwise(values):
            assert large >= small - 1e-7 * max(1.0, abs(small))
        assert values[-1] > values[0] - 1e-9


def test_distances_do_not_mind_the_units():
    X, y = make(5)
    judge, other = (merit_for("divergence", table, y) for table in (X, X * 1000.0 - 7.0))
    S = np.array([0, 2, 3])
    assert other.score(S)[0, 0] == pytest.approx(judge.score(S)[0, 0], rel=1e-9)


def test_cfs_is_halls_merit():
    X, y = make(1, n=120)
    judge = merit_for("cfs", X, y)
    assert not judge.monotone
    selector = CFS(search="exhaustive").fit(X, y)
    assert judge.score(np.sort(selector.subset_))[0, 0] == pytest.approx(selector.merit_, rel=1e-12)
    from tamiz.information import encode

    codes = encode(X, bins="mdl", y=y)
    table = codes.matrix(ratio=True)
    relevance = codes.su_relevance(y)
    for features in ([0], [0, 1, 4]):
        expected = naive_cfs.merit(features, relevance, table)
        assert judge.score(np.array(features))[0, 0] == pytest.approx(expected, rel=1e-12)


def test_a_function_is_a_criterion():
    X, y = make()

    def spread(X, y):
        return X.var()

    judge = merit_for(spread, X, y)
    assert judge.metrics == ("spread",) and not judge.monotone
    assert judge.score(np.array([1, 3]))[0, 0] == X[:, [1, 3]].var()
    spread.monotone = True
    assert merit_for(spread, X, y).monotone


@pytest.mark.parametrize(
    ("criterion", "sentence"),
    [
        ("wilks", "is not understood; use 'cfs', 'bhattacharyya'"),
        (lambda X, y: np.nan, "returned nan for the features"),
        (lambda X, y: X[0], "must return one number"),
    ],
)
def test_what_cannot_be_a_criterion_is_reported(criterion, sentence):
    X, y = make()
    with pytest.raises(ValueError, match=sentence):
        merit_for(criterion, X, y).score(np.array([0, 1]))


@pytest.mark.parametrize("name", ["bhattacharyya", "divergence", "cfs"])
def test_weights_are_numbers_of_rows(name):
    X, y = make(2, n=90)
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    judge, repeated = merit_for(name, X, y, weight), merit_for(name, X[rows], y[rows])
    for features in ([0], [1, 4], [0, 1, 2, 3, 4, 5]):
        S = np.array(features)
        assert judge.score(S)[0, 0] == pytest.approx(repeated.score(S)[0, 0], rel=1e-9)
    ones = merit_for(name, X, y, np.ones(len(y)))
    assert ones.score(S)[0, 0] == pytest.approx(merit_for(name, X, y).score(S)[0, 0], rel=1e-12)


def test_a_class_whose_weights_are_one_row_is_reported():
    X, y = make(classes=2)
    with pytest.raises(ValueError, match="class 1 has weights that come to one row or less"):
        merit_for("divergence", X, y, np.where(y == 1, 0.01, 1.0))


def test_a_class_of_one_sample_is_reported():
    X, y = make(classes=2)
    y[:] = 0
    y[3] = 1
    with pytest.raises(ValueError, match="class 1 has one sample only"):
        merit_for("divergence", X, y)
