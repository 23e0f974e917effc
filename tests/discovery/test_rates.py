"""Thresholds and e-values against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamiz.discovery import knockoff_threshold
from tamiz.discovery.knockoffs.rates import e_bh, e_values
from tests.naive import knockoffs as naive

statistics = st.lists(st.integers(-6, 12), min_size=1, max_size=40)


@given(statistics, st.sampled_from([0.05, 0.1, 0.2, 0.5]), st.sampled_from([0, 1]))
def test_threshold_equals_loop(W, q, offset):
    found = knockoff_threshold(np.array(W, dtype=float), fdr=q, offset=offset)
    assert found == naive.threshold([float(w) for w in W], q, offset)


@given(statistics, st.sampled_from([0.1, 0.2, 0.5]))
def test_e_values_equal_loop(W, q):
    W = np.array(W, dtype=float)
    np.testing.assert_allclose(e_values(W, q), naive.e_values(W.tolist(), q))


@given(
    st.lists(st.floats(0, 60), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.2, 0.5]),
)
def test_e_bh_equals_loop(e, q):
    support, least = e_bh(np.array(e), q)
    assert support.tolist() == naive.e_bh(e, q)
    assert (least == math.inf) == (not support.any())


@given(statistics, st.sampled_from([0.1, 0.2, 0.5]))
def test_one_draw_of_e_values_selects_what_the_threshold_does(W, q):
    W = np.array(W, dtype=float)
    support, _ = e_bh(e_values(W, q), q)
    np.testing.assert_array_equal(support, knockoff_threshold(W, fdr=q) <= W)


def test_nothing_without_enough_winners():
    W = np.arange(1.0, 10.0)
    assert knockoff_threshold(W, fdr=0.1) == math.inf  # nine winners, ten are needed
    assert knockoff_threshold(np.arange(1.0, 11.0), fdr=0.1) == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"W": [1.0, np.nan]}, "finite numbers"),
        ({"W": [[1.0]]}, "finite numbers"),
        ({"W": "text"}, "finite numbers"),
        ({"W": [1.0], "fdr": 1.5}, "fdr"),
        ({"W": [1.0], "offset": 2}, "offset"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        knockoff_threshold(**arguments)
