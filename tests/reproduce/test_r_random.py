"""Draws of R, compared with what R prints."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.reproduce.base import RGenerator, tune_folds


@pytest.mark.parametrize(
    ("seed", "printed"),
    [
        (1, [9, 4, 7, 1, 2, 5, 3, 10, 6, 8]),
        (42, [1, 5, 10, 8, 2, 4, 6, 9, 7, 3]),
        (123, [3, 10, 2, 8, 6, 9, 1, 7, 5, 4]),
    ],
)
def test_sample_of_ten_is_what_r_prints(seed, printed):
    assert (RGenerator(seed).sample(10) + 1).tolist() == printed


def test_uniforms_are_what_r_prints():
    # set.seed(42); runif(3)
    generator = RGenerator(42)
    drawn = [generator._uniform() for _ in range(3)]
    assert drawn == pytest.approx([0.9148060435, 0.9370754133, 0.2861395348], abs=5e-11)


@pytest.mark.parametrize("n", [1, 2, 7, 310, 70_000])
def test_a_sample_is_without_replacement(n):
    size = min(n, 500)
    drawn = RGenerator(0).sample(n, size)
    assert len(set(drawn.tolist())) == size and drawn.min() >= 0 and drawn.max() < n


@pytest.mark.parametrize("n", [3220, 1098, 11])
def test_folds_are_ranges_of_the_permutation(n):
    order = np.random.default_rng(0).permutation(n)
    folds = tune_folds(n, 10, order)
    np.testing.assert_array_equal(np.concatenate(folds), order)
    assert max(map(len, folds)) - min(map(len, folds)) <= 1
