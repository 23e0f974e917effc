"""Targets: what they ask for, and those that nobody can predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tamiz.data import DataError, load

N = 60
RNG = np.random.default_rng(5)


def table(y):
    columns = {"a": RNG.normal(size=N), "status": np.where(np.arange(N) % 3, "ill", "well")}
    return pd.DataFrame({**columns, "stage": np.arange(N) % 4, "y": y})


@pytest.mark.parametrize(
    ("y", "why"),
    [
        ([f"p{k}" for k in range(N)], "a value of its own in every row"),
        ([f"one two three {k}" for k in range(N)], "free text"),
        ([f"word{k}" if k > 4 else "word" for k in range(N)], "free text"),
        ([f"2024-01-{1 + k % 28:02d}" for k in range(N)], "dates or times"),
        (["always"] * N, "one value only, 'always'"),
        (np.full(N, 3.0), "one value only, 3"),
    ],
)
def test_absurd_targets_are_refused_with_a_suggestion(y, why):
    with pytest.raises(DataError, match=f"the target 'y' .*{why}") as caught:
        load(table(y))
    assert "name another with target=; 'status' (2 classes), 'stage' (4 classes) look" in str(
        caught.value
    )


def test_as_many_classes_as_rows_are_refused_and_taken_as_numbers_otherwise():
    y = RNG.permutation(N) * 2.0
    with pytest.raises(DataError, match="has 60 classes in 60 rows"):
        load(table(y), task="classification")
    assert load(table(y)).task == "regression"


def test_nothing_is_suggested_where_nothing_looks_like_a_target():
    frame = pd.DataFrame({"a": RNG.normal(size=N), "y": [f"p{k}" for k in range(N)]})
    with pytest.raises(DataError, match=r"name another with target=\.$"):
        load(frame)


def test_samples_in_columns_are_suspected_where_text_is_mostly_numbers():
    cells = [f"{v:.3f}" for v in RNG.normal(size=N - 1)]
    with pytest.raises(DataError, match="read the table with transpose=True"):
        load(table([*cells, "tumour"]))


def test_the_first_rows_may_hold_one_class():
    frame = table(np.repeat(["no", "yes"], N // 2))
    assert load(frame, nrows=10).target_names == ["no"]
    with pytest.raises(DataError, match="one value only"):
        load(frame[:10])
