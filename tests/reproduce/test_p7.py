"""P7: what the claims of the source are judged by, and a small run."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.evaluation import reproduce
from tamiz.reproduce import p7


def found(**changes):
    """Values of repeats as the source tells of them, unless changed."""
    base = {"few": 0.30, "below": 0.28, "good": 0.25, "later": 0.252, "many": 0.29, "train": 0.08}
    told = {**base, **changes}
    rng = np.random.default_rng(0)
    repeats = []
    for _ in range(10):
        values = {"best k": 20.0}
        for kind in ("training", "cv", "test"):
            levels = [told[name] for name in ("few", "below", "good", "later", "many")]
            levels[0] = told["train"] if kind == "training" else levels[0]
            for ks, level in zip(("1-5", "1-14", "18-26", "27-50", "70-200"), levels, strict=True):
                values[f"{kind} {ks}"] = level + rng.normal(0, 0.002)
        repeats.append(values)
    return repeats


def verdicts(repeats):
    return [row.inside for row in p7.Curves("x", "none").rows(repeats, True)]


def test_what_the_source_says_is_found_true_and_the_contrary_false():
    assert verdicts(found()) == [True] * 7 + [None]
    assert verdicts(found(many=0.23))[2] is False and verdicts(found(many=0.23))[5] is False
    assert verdicts(found(below=0.20))[0] is False
    assert verdicts(found(later=0.30))[1] is False
    assert verdicts(found(train=0.40))[6] is False
    assert verdicts(found(later=0.26))[1] is None  # at the limit: open


def test_ranges_begin_with_one():
    assert p7.mean_over([0.1, 0.2, 0.3, 0.4], (1, 1)) == 0.1
    assert p7.mean_over([0.1, 0.2, 0.3, 0.4], (2, 3)) == pytest.approx(0.25)


def test_a_small_run_finds_the_worse_ends():
    result = reproduce("P7", repeats=3)
    rows = {row.what: row for row in result.rows if row.group.endswith("as they stand")}
    assert rows["k = 70 to 200 less 18 to 26, over ten folds"].inside is True
    assert rows["over ten folds less training, k = 1 to 5"].mean > 0.15
    assert result.repeats == {"as they stand": 3, "z-scores": 3}


def test_scaled_and_unscaled_measurements_are_two_things():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.normal(size=400) * 1000])  # noise is large
    y = (X[:, 0] > 0).astype(int)
    plain, scaled = (
        p7.Curves("x", scaling).repeat((X, y), 0)["cv 18-26"] for scaling in ("none", "zscore")
    )
    assert scaled < 0.15 < 0.35 < plain
