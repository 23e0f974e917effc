"""Tables that the tests of sources share, and what reading them in batches gives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from tamiz.data.column import plain_number


class Whole(NamedTuple):
    """All batches together."""

    X: Any
    y: np.ndarray | None


def together(table) -> Whole:
    """Go through all batches; check what holds for each; put them together."""
    rows = list(table)
    schema = table.schema
    seen = 0
    for k, batch in enumerate(rows):
        assert batch.index == k
        assert batch.first_row >= seen
        seen = batch.first_row + batch.n_rows
        assert batch.n_rows > 0
        assert batch.X.shape == (batch.n_rows, schema.n_features)
        assert batch.X.dtype == np.float64
        if not schema.sparse:
            assert batch.X.flags.c_contiguous
        if schema.task == "classification":
            assert batch.y.dtype == np.intp
            assert batch.y.min() >= 0 and batch.y.max() < schema.n_classes
        for j, levels in schema.categories.items():
            codes = batch.X[:, j][~np.isnan(batch.X[:, j])]
            assert np.isin(codes, np.arange(len(levels))).all()
    assert table.n_rows == sum(batch.n_rows for batch in rows)
    join = sparse.vstack if schema.sparse else np.concatenate
    X = join([batch.X for batch in rows])
    y = None if rows[0].y is None else np.concatenate([batch.y for batch in rows])
    return Whole(X, y)


def assert_same_as(table, data) -> None:
    """The batches hold what ``tamiz.data.load`` gives of the whole."""
    X, y = together(table)
    schema = table.schema
    assert schema.names == data.feature_names
    assert schema.task == data.task
    np.testing.assert_array_equal(schema.categorical, data.categorical)
    for j, levels in schema.categories.items():
        shown = [level if levels.dtype.kind == "U" else plain_number(level) for level in levels]
        assert shown == data.levels[schema.names[j]]
    if sparse.issparse(data.X):
        assert sparse.issparse(X)
        assert (abs(X - data.X)).nnz == 0
    else:
        np.testing.assert_array_equal(X, data.X)
    if data.task == "classification":
        np.testing.assert_array_equal(schema.classes, np.unique(data.y))
        np.testing.assert_array_equal(schema.classes[y], data.y)
    else:
        np.testing.assert_array_equal(y, data.y)


def mixed(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Numbers, integers, words and a label; missing values in all but the integers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(3),
            "word": rng.choice(["pear", "apple", "fig"], n),
            "whole": rng.integers(0, 9, n),
            "tiny": rng.normal(size=n).round(2) * 1e-7,
            "label": rng.choice(["no", "yes"], n),
        }
    )
    frame.loc[rng.choice(n, 9), "size"] = np.nan
    frame.loc[rng.choice(n, 9), "word"] = None
    frame.loc[rng.choice(n, 5), "label"] = None
    return frame
