"""Pure noise: the honest error is a coin's, the apparent one is not."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz import compare

pytestmark = pytest.mark.ours

SEEDS = 3


@pytest.fixture(scope="module")
def runs():
    found = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((62, 2000))
        y = rng.permutation(np.arange(62) % 2)
        options = {"sizes": [5, 50], "cv": 10, "repeats": 1, "nested": False}
        found.append(compare(X, y, ["fisher", "rfe"], random_state=seed, **options))
    return found


@pytest.mark.parametrize("method", ["fisher", "rfe", "random", "all"])
def test_the_honest_interval_holds_one_half(runs, method):
    lines = [found.estimate(method) for found in runs]
    inside = sum(line.low <= 0.5 <= line.high for line in lines)
    # 95 % each: two or more of three outside has a probability below one in a hundred
    assert inside >= SEEDS - 1
    assert abs(np.mean([line.error for line in lines]) - 0.5) < 0.12


@pytest.mark.parametrize("method", ["fisher", "rfe"])
def test_the_apparent_error_is_far_below(runs, method):
    for found in runs:
        line = found.estimate(method)
        assert line.apparent < 0.30
        assert line.bias > 0.15


def test_the_difference_is_reported(runs):
    found = runs[0]
    told = str(found)
    worst = max((found.estimate(m) for m in ("fisher", "rfe")), key=lambda line: line.bias)
    assert "selection bias" in told
    assert f"{worst.method} would seem to err {100 * worst.apparent:.1f} %" in told
    assert f"{100 * worst.error:.1f} %: {100 * worst.bias:.1f} points more" in told
