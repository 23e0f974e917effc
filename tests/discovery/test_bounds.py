"""Bounds of stability selection: a general-purpose solver, published numbers, and limits."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.discovery import stability_bound
from tamiz.discovery.bounds import largest_q, least_count, r_concave_tail
from tests.naive.discovery import largest_tail


@pytest.mark.parametrize(
    ("n", "t", "mean", "r"),
    [(4, 3, 0.8, -0.5), (4, 4, 0.3, -0.25), (3, 2, 0.04, -0.25)],
)
def test_tail_equals_the_largest_that_a_solver_finds(n, t, mean, r):
    want = largest_tail(mean, t, n, r, starts=2)
    assert r_concave_tail(mean / n, t, n, r) == pytest.approx(want, abs=1e-8)


@pytest.mark.parametrize(
    ("q", "want"),
    # printed by the tests of the R package stabs: p = 100, cutoff 0.6, 50 pairs; its search is
    # coarser than ours, and ends a little below the maximum
    [(1, 0.006971364), (3, 0.08691176), (5, 0.2605329), (8, 0.7042719), (10, 1.141338)],
)
def test_r_concave_bound_equals_that_of_stabs(q, want):
    found = stability_bound(q, 100, 0.6, assumption="r-concave")
    assert want * (1 - 1e-6) <= found <= want * 1.004
    assert found == pytest.approx(want, abs=3e-5)


def test_sizes_and_thresholds_equal_those_of_stabs():
    assert largest_q(0.2, 200, 60, 50, "r-concave") == 6
    assert largest_q(0.2, 200, 60, 50, "unimodal") == 3
    assert least_count(0.2, 7, 200, 50, "r-concave", 51) == 62
    assert least_count(0.2, 7, 200, 50, "unimodal", 51) == 81
    assert stability_bound(3, 10, 0.96, assumption="unimodal") == pytest.approx(0.176, abs=5e-4)


@pytest.mark.parametrize("q", range(1, 11, 3))
def test_closed_forms(q):
    none = stability_bound(q, 100, 0.6, assumption="none")
    assert none == pytest.approx(q**2 / (0.2 * 100))
    unimodal = stability_bound(q, 100, 0.6, assumption="unimodal")
    assert unimodal == pytest.approx(q**2 / (2 * (0.2 - 0.01) * 100))
    above = stability_bound(q, 100, 0.9, assumption="unimodal")
    assert above == pytest.approx(4 * (0.1 + 0.01) * q**2 / (1.02 * 100))


def test_bound_grows_with_size_and_falls_with_threshold_and_assumptions():
    concave = {"assumption": "r-concave"}
    by_size = [stability_bound(q, 300, 0.8, **concave) for q in range(1, 150, 10)]
    assert (np.diff(by_size) > 0).all()
    by_threshold = [stability_bound(30, 300, c / 100, **concave) for c in range(55, 101)]
    assert (np.diff(by_threshold) < 0).all()
    for threshold in (0.6, 0.75, 0.9):
        kinds = [stability_bound(20, 300, threshold, assumption=a) for a in ("none", "unimodal")]
        assert stability_bound(20, 300, threshold, **concave) < kinds[1] < kinds[0]


def test_a_bound_that_says_nothing_is_the_number_of_features():
    assert stability_bound(90, 100, 0.6, assumption="r-concave") == 100
    assert stability_bound(90, 100, 0.6, assumption="unimodal") == 100
    assert stability_bound(5, 100, 0.5, assumption="none") == 100
    assert stability_bound(1, 1, 1.0) == 1


def test_frequencies_between_two_counts_need_the_upper_one():
    assert stability_bound(5, 100, 0.605) == stability_bound(5, 100, 0.61)
    assert stability_bound(5, 100, 0.3 + 0.3) == stability_bound(5, 100, 0.6)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"q": 0}, "q=0 must be a number above 0"),
        ({"n_features": 0}, "n_features=0 must be an integer from 1"),
        ({"assumption": "normal"}, "assumption='normal' is not understood"),
    ],
)
def test_refused_arguments(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        stability_bound(**{"q": 1, "n_features": 10, "threshold": 0.7, **arguments})
