"""Thresholds and e-values against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamiz.discovery import knockoff_threshold
from tamiz.discovery.knockoffs.rates import e_bh, e_values, signed_leads
from tests.naive import knockoffs as naive

statistics = st.lists(st.integers(-6, 12), min_size=1, max_size=40)


copies = st.sampled_from([1, 2, 5])


@given(statistics, st.sampled_from([0.05, 0.1, 0.2, 0.5]), st.sampled_from([0, 1]), copies)
def test_threshold_equals_loop(W, q, offset, k):
    found = knockoff_threshold(np.array(W, dtype=float), fdr=q, offset=offset, n_copies=k)
    assert found == naive.threshold([float(w) for w in W], q, offset, k)


@given(statistics, st.sampled_from([0.1, 0.2, 0.5]), copies)
def test_e_values_equal_loop(W, q, k):
    W = np.array(W, dtype=float)
    np.testing.assert_allclose(e_values(W, q, k), naive.e_values(W.tolist(), q, k))


@given(
    st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 30), st.sampled_from([0.1, 0.2, 0.5])
)
def test_several_copies_follow_the_published_rule(seed, k, p, q):
    """Importances are integers, so that there are ties; features (row 0) are somewhat better."""
    Z = np.random.default_rng(seed).integers(0, 12, size=(k + 1, p)).astype(float)
    Z[0, : p // 2] += 8
    W = signed_leads(Z, np.zeros(p, dtype=int))
    expected = naive.winners(Z.tolist())
    np.testing.assert_array_equal(W, [lead if best == 0 else -lead for best, lead in expected])
    assert knockoff_threshold(W, fdr=q, n_copies=k) == naive.multiple_threshold(Z.tolist(), q)
    order = np.random.default_rng(seed).permutation(k + 1)  # whichever row the feature is in
    own = np.full(p, np.flatnonzero(order == 0)[0])
    np.testing.assert_array_equal(signed_leads(Z[order], own), W)


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
    assert knockoff_threshold([3.0, 2.0, 1.0], fdr=0.1, n_copies=3) == math.inf  # four are needed
    assert knockoff_threshold([4.0, 3.0, 2.0, 1.0], fdr=0.1, n_copies=3) == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"W": [1.0, np.nan]}, "finite numbers"),
        ({"W": [[1.0]]}, "finite numbers"),
        ({"W": "text"}, "finite numbers"),
        ({"W": [1.0], "fdr": 1.5}, "fdr"),
        ({"W": [1.0], "offset": 2}, "offset"),
        ({"W": [1.0], "n_copies": 0}, "n_copies"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        knockoff_threshold(**arguments)
