"""Dense copies of sparse tables: made where they fit, refused with their size where not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tamiz.data import memory
from tamiz.data.memory import dense_copy, free_bytes


def test_copies_are_made_as_long_as_they_fit(free_memory):
    X = sparse.eye(10, 5, format="csc")
    np.testing.assert_array_equal(dense_copy(X, "None."), X.toarray())
    table = np.ones((2, 2))
    assert dense_copy(table, "None.") is table
    free_memory(400)
    assert dense_copy(X, "None.").shape == (10, 5)
    with pytest.raises(
        MemoryError, match=r"10 × 5 values: about 0\.0 MB with the work .*Sell it\.$"
    ):
        dense_copy(X, "Sell it.", tables=2)
    with pytest.raises(MemoryError, match=r"100,000 × 100,000 values: about 80\.0 GB, but 0\.0 MB"):
        dense_copy(sparse.csr_matrix((100_000, 100_000)), "Sell it.")


def test_free_memory_is_the_least_of_what_is_reported(monkeypatch, tmp_path):
    assert free_bytes() > 1 << 20
    (tmp_path / "limit").write_text("1000000")
    (tmp_path / "usage").write_text("700000")
    (tmp_path / "memory.stat").write_text("inactive_file 200000\nanon 5\n")
    group = (str(tmp_path), "limit", "usage")
    monkeypatch.setattr(memory, "_LIMITS", (group,))
    assert free_bytes() == 500_000
    (tmp_path / "limit").write_text("max")  # no limit
    monkeypatch.setattr(memory, "_system", lambda: 77)
    assert free_bytes() == 77
    monkeypatch.setattr(memory, "_system", lambda: None)
    assert free_bytes() > 1 << 20  # a guess
