"""Indicators batch by batch are those of the whole table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tamiz.cli._stream import Indicators
from tamiz.data import load
from tamiz.data.formats import base
from tamiz.scale import batches


@pytest.fixture
def path(tmp_path):
    """Text with and without missing values, of two and more levels, one of them late; codes."""
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "blue", "green"], n),
            "shape": rng.choice(["round", "square"], n),
            "gaps": rng.choice(["left", "right", None], n),
            "zip": rng.choice([10.0, 9.0, 7.5], n),
            "late": np.where(np.arange(n) < 250, "early", "late"),
            "kind": rng.integers(0, 2, n),
        }
    )
    table.loc[::50, "kind"] = np.nan  # left out
    table.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.mark.parametrize("rows", [1, 70, None])
def test_the_columns_of_the_whole_table(path, rows, limits):
    roles = {"zip": "categorical"}
    with pytest.warns(UserWarning, match="Left out"):
        whole = load(path, target="kind", roles=roles).encode("onehot")
    with pytest.warns(UserWarning, match="Left out"):
        table = Indicators(batches(path, "kind", roles=roles, batch_rows=rows).survey())
    limits(base, BATCH_BYTES=32 * 8 * table.schema.n_features)
    assert table.schema.names == whole.feature_names
    assert "gaps=(missing)" in table.schema.names and "zip=7.5" in table.schema.names
    assert not table.schema.categories
    for _ in range(2):  # it can be read again
        parts = list(table)
        np.testing.assert_array_equal(np.vstack([part.X for part in parts]), whole.X)
        y = np.concatenate([part.y for part in parts])
        np.testing.assert_array_equal(table.schema.classes[y], whole.y)
    assert max(part.n_rows for part in parts) <= 32
    numbers = np.concatenate([part.first_row + np.arange(part.n_rows) for part in parts])
    assert len(set(numbers.tolist())) == table.n_rows == len(whole.y)


def test_what_became_of_the_columns_is_reported(path):
    with pytest.warns(UserWarning, match="Left out"):
        table = Indicators(batches(path, "kind").survey())
    assert "'colour', 'shape', 'gaps', 'late' became 8 columns" in table.note
    assert "such as 'colour=blue'" in table.note
