"""Parquet, with either library."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tamiz.data import DataError, DataWarning, load
from tests.frames import to_polars

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 3.0, 4.0, 5.0, 6.0],
        "whole": [3, 2, 1, 3, 2, 1],
        "word": ["a", "b", None, "a", "b", "a"],
        "label": ["x", "y", "x", "y", "x", "y"],
    }
)


@pytest.fixture(params=["pyarrow", "polars"])
def path(request, tmp_path, without):
    pytest.importorskip(request.param)
    to_polars(FRAME).write_parquet(tmp_path / "t.parquet")
    without(*{"pyarrow", "polars"} - {request.param})
    return tmp_path / "t.parquet"


def test_round_trip(path):
    data = load(path)
    assert data.target == "label"
    assert data.levels == {"word": ["a", "b"]}
    np.testing.assert_array_equal(data.X[:, 0], FRAME["number"])
    np.testing.assert_array_equal(data.X[:, 1], FRAME["whole"])
    np.testing.assert_array_equal(data.X[:, 2], [0, 1, np.nan, 0, 1, 0])
    assert data.y.tolist() == FRAME["label"].tolist()


def test_some_columns_and_rows(path):
    data = load(path, target="word", columns=["whole"], nrows=2)
    assert data.X.tolist() == [[3], [2]]
    assert data.y.tolist() == ["a", "b"]


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_no_other_column_is_read(library, tmp_path, without):
    """The other columns are damaged: whoever reads them fails."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip(library)
    path = tmp_path / "t.parquet"
    to_polars(FRAME).write_parquet(path)
    group, raw = parquet.ParquetFile(path).metadata.row_group(0), bytearray(path.read_bytes())
    for chunk in (group.column(j) for j in range(group.num_columns)):
        if chunk.path_in_schema in ("whole", "word"):
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            raw[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(raw)
    without(*{"pyarrow", "polars"} - {library})
    found = load(path, columns=["number"], target="label")
    np.testing.assert_array_equal(found.X[:, 0], FRAME["number"])
    with pytest.raises(DataError, match="damaged"):
        load(path)


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="polars has no columns of one name")
def test_columns_of_one_name_are_numbered(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0], [0, 1, 0]]
    table = pa.Table.from_arrays([pa.array(c) for c in columns], names=["a", "a", "y"])
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.warns(DataWarning, match="which were numbered: 'a'"):
        data = load(tmp_path / "t.parquet")
    assert data.feature_names == ["a", "a_2"]
    assert data.X.T.tolist() == columns[:2]
    assert load(tmp_path / "t.parquet", columns="a_2").X.T.tolist() == columns[1:2]


def test_cut_short(path):
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) - 30])
    with pytest.raises(DataError, match=r"t\.parquet is no Parquet file, or it is damaged"):
        load(path)


def test_unknown_column(path):
    with pytest.raises(DataError, match="Did you mean 'number'"):
        load(path, columns=["numbr"])


def test_without_either_library_the_extra_is_named(path, without):
    without("pyarrow", "polars")
    with pytest.raises(ImportError, match=r"tamiz\[frames\]"):
        load(path)


def test_dates_and_truth(tmp_path):
    frame = pl.DataFrame(
        {
            "day": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 8), eager=True),
            "flag": [True, False, None, True, True, False, True, False],
            "y": [0, 1, 0, 1, 0, 1, 0, 1],
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="'day'"):
        data = load(tmp_path / "t.parquet")
    assert data.feature_names == ["flag"]
    np.testing.assert_array_equal(data.X[:, 0], [1, 0, np.nan, 1, 1, 0, 1, 0])
