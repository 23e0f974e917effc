"""The frame around every selector: tables in, tables out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tamiz.filters import FisherScore, ReliefF

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
Y = (X[:, 2] + 0.5 * X[:, 4] > 0).astype(int)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(X),  # columns numbered 0, 1, ...
        pd.DataFrame(X, columns=list("abcde"), index=np.arange(100, 140)),
        pl.DataFrame(X, schema=list("abcde")),
        X,
        sparse.csr_array(X),
    ],
    ids=["numbered", "named", "polars", "array", "sparse"],
)
def test_the_same_kind_comes_out(table):
    selector = FisherScore(n_features_to_select=2).fit(table, Y)
    out = selector.transform(table)
    assert type(out) is type(table)
    assert selector.order_[0] == 2
    if hasattr(out, "columns"):
        assert list(out.columns) == [
            c for c, k in zip(table.columns, selector.support_, strict=True) if k
        ]
    if isinstance(table, pd.DataFrame):
        assert out.index.equals(table.index)
    values = out.toarray() if sparse.issparse(out) else np.asarray(out)
    np.testing.assert_allclose(values, X[:, selector.support_])


def test_nothing_selected():
    frame = pd.DataFrame(X, columns=list("abcde"))
    selector = ReliefF(threshold=0.999).fit(frame, Y)
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(frame).shape == (40, 0)


def test_scores_of_an_earlier_fit_do_not_stay():
    selector = FisherScore().fit(X, Y)
    assert len(selector.scores_) == 5
    selector.fit(X[:, :3], Y)
    assert len(selector.scores_) == len(selector.selection_.scores) == 3
