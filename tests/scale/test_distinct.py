"""DistinctValues: the union of what batches hold, up to a limit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamiz.scale import DistinctValues
from tests.naive.streaming import blocks, merge_anyhow


@settings(max_examples=40)
@given(n=st.integers(1, 100), limit=st.integers(1, 12), seed=st.integers(0, 2**31))
def test_least_values_of_all(n, limit, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, (n, 3)) / 4
    X[rng.random((n, 3)) < 0.2] = np.nan
    parts = [DistinctValues.of(b.X, limit) for b in blocks(X, None, rng)]
    got = merge_anyhow(parts, rng)
    for j, x in enumerate(X.T):
        known = sorted(set(x[~np.isnan(x)].tolist()))
        assert got.values[j].tolist() == known[:limit]
        assert got.overflow[j] == (len(known) > limit)
        assert got.n_known[j] == np.count_nonzero(~np.isnan(x))


def test_pickled_and_refused():
    part = DistinctValues.of(np.ones((3, 2)), 5)
    assert pickle.loads(pickle.dumps(part)).merge(part).n_known.tolist() == [6, 6]
    assert part.nbytes == 2 * 17
    with pytest.raises(ValueError, match="Limits 5 and 6"):
        part.merge(DistinctValues.of(np.ones((3, 2)), 6))
