"""How large a table would be, and whether that is too large."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tamiz.data import DataError
from tamiz.scale import available_bytes, is_large, table_bytes

FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(2000, 6)), columns=list("abcdey"))


@pytest.fixture
def folder(tmp_path):
    pl.DataFrame({name: FRAME[name].tolist() for name in FRAME}).write_parquet(
        tmp_path / "t.parquet"
    )
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    (tmp_path / "t.svm").write_text("1 1:0.5 3:2\n" * 2000, encoding="utf-8")
    return tmp_path


def test_sizes(folder):
    exact = 8 * FRAME.size
    assert table_bytes(folder / "t.parquet") == exact
    assert table_bytes(folder / "t.csv") == pytest.approx(exact, rel=0.05)
    assert table_bytes(folder / "t.csv.gz") == pytest.approx(exact, rel=2)
    assert table_bytes(folder / "t.svm") > 12 * 4000 / 2


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz", "t.svm"])
def test_large_is_more_than_a_fraction_of_the_free_memory(folder, name, free_memory):
    size = table_bytes(folder / name)
    free_memory(4 * size + 8)
    assert available_bytes() == 4 * size + 8
    assert not is_large(folder / name)
    assert is_large(folder / name, share=0.2)
    free_memory(4 * size - 8)
    assert is_large(str(folder / name))


def test_what_is_no_file_is_not_large(tmp_path):
    assert not is_large("iris")
    assert not is_large(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="no file"):
        table_bytes(tmp_path / "absent.csv")


@pytest.mark.parametrize("share", [0, -1, "half", True, float("nan")])
def test_fractions_that_are_refused(share):
    with pytest.raises(DataError, match="share="):
        is_large("iris", share=share)


def test_there_is_some_memory():
    assert 1 << 20 < available_bytes() < 1 << 50
