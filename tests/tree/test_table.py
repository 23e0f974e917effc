"""Sparse tables: read as their dense copies, refused with a sentence where these do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tamiz.tree import CARTClassifier, CARTRegressor


@pytest.mark.parametrize("model", [CARTClassifier(), CARTRegressor()])
def test_a_dense_copy_that_does_not_fit_is_refused_before_it_is_made(model, monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random(40, 30, 0.3, format="csr", random_state=0)
    y = rng.integers(2, size=40)
    expected = model.fit(X.toarray(), y).predict(X.toarray())
    np.testing.assert_array_equal(model.fit(X, y).predict(X), expected)
    monkeypatch.setattr("tamiz.data.memory.free_bytes", lambda: 9000)
    monkeypatch.setattr(type(X), "toarray", lambda self: pytest.fail("the copy was made"))
    with pytest.raises(MemoryError, match=r"40 × 30 values.* are free. Select features first"):
        model.fit(X, y)
    with pytest.raises(MemoryError, match="Hand over fewer rows at a time"):
        model.predict(X)
    np.testing.assert_array_equal(model.predict(np.zeros((1, 30))).shape, (1,))
