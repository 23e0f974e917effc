"""StumpError: against all thresholds one by one, and against a tree of depth one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamiz.filters import StumpError
from tests.naive import univariate as naive


@given(
    n=st.integers(2, 50),
    n_classes=st.integers(2, 4),
    seed=st.integers(0, 2**31),
    weighted=st.booleans(),
)
def test_equal_to_trying_all_thresholds(n, n_classes, seed, weighted):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 4, n), np.full(n, 0.1)])
    weight = rng.random(n) + 0.2 if weighted else None
    got = StumpError().fit(X, y, sample_weight=weight)
    for j in range(3):
        expected = naive.stump_error(X[:, j].tolist(), y.tolist(), weight)
        assert got.errors_[j] == pytest.approx(expected, abs=1e-10)
    own = np.bincount(y, weight)
    np.testing.assert_allclose(got.scores_, 1 - own.max() / own.sum() - got.errors_, atol=1e-10)
    assert got.scores_[2] == 0
    assert got.order_[-1] == 2


def test_worked_data(d8):
    """Height separates tall from short; weight, cut at 81.5, errs once in eight."""
    got = StumpError().fit(d8.X, d8.y)
    assert got.errors_.tolist() == [0.0, 0.125, 0.25]
    assert got.scores_.tolist() == [0.5, 0.375, 0.25]


def test_balanced_classes_make_a_rare_one_worth_finding():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [95, 5])
    x = np.where(y, 1.0, (rng.random(100) < 0.1).astype(float))[:, None]
    assert StumpError().fit(x, y).scores_[0] == 0
    balanced = StumpError(class_weight="balanced").fit(x, y)
    assert balanced.scores_[0] > 0.4
    wrong = np.mean(x[y == 0])
    assert balanced.errors_[0] == pytest.approx(wrong / 2)
    assert StumpError(class_weight={0: 5, 1: 95}).fit(x, y).errors_ == pytest.approx(
        balanced.errors_
    )


def test_class_weight_of_an_unknown_class():
    with pytest.raises(ValueError, match="class_weight names the class 7"):
        StumpError(class_weight={7: 1}).fit([[1], [2]], [0, 1])
