"""Text tables in batches."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tamiz.data import DataError, load
from tamiz.scale import batches
from tests.scale.tables import assert_same_as, together


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.csv"


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return [
        f"{a:.3f},{b},{c}"
        for a, b, c in zip(
            rng.normal(size=n), rng.integers(0, 9, n), rng.integers(0, 2, n), strict=True
        )
    ]


def test_ragged_in_the_middle(path):
    lines = rows(100)
    lines[57] = "1,2"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    for options in ({}, {"classes": [0, 1]}):  # met by the survey, or by the pass
        with pytest.raises(
            DataError, match=r"In batch 2 \(from row 40\): t\.csv, line 59: 2 fields where 3"
        ):
            list(batches(path, batch_rows=20, **options))


def test_ragged_beyond_the_first_piece(path):
    lines = rows(120_000)
    lines[110_000] = "1,2"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    seen = []
    table = batches(path, batch_rows=10_000, classes=[0, 1])
    with pytest.raises(DataError, match=r"In batch 11 .*t\.csv, line 110002: 2 fields"):
        seen.extend(batch.index for batch in table)
    assert seen and seen == list(range(len(seen)))


def test_many_pieces(path):
    """Rows and batches cross the pieces in which the file is read."""
    path.write_text("\n".join(["a,b,y", *rows(150_000)]) + "\n", encoding="utf-8")
    assert path.stat().st_size > 1.5 * (1 << 20)
    sizes = [batch.n_rows for batch in batches(path, batch_rows=7_000)]
    assert sizes == [7_000] * 21 + [3_000]
    for size in (7_000, None):
        assert_same_as(batches(path, batch_rows=size), load(path))


def test_text_where_numbers_were(path):
    lines = rows(120_000)
    lines[110_000] = "abc,2,1"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"In batch 11 .*column 'a' holds 'abc' where numbers"):
        list(batches(path, batch_rows=10_000, classes=[0, 1]))
    assert "a" not in batches(path).schema.names or 0 in batches(path).schema.categories


def test_infinite(path):
    lines = rows(30)
    lines[17] = "inf,2,1"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"batch 1 .* an infinite value in column 'a', row 17"):
        list(batches(path, batch_rows=10))


def test_no_rows(path):
    path.write_text("a,b,y\n", encoding="utf-8")
    with pytest.raises(DataError, match="no rows"):
        batches(path).survey()
    path.write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="is empty"):
        batches(path)


def test_gzip_cut_short(path):
    packed = gzip.compress("\n".join(["a,b,y", *rows(5000)]).encode())
    path = path.with_suffix(".csv.gz")
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match="damaged or cut short"):
        batches(path).survey()


def test_without_header(path):
    path.write_text("\n".join(rows(50)) + "\n", encoding="utf-8")
    table = batches(path, batch_rows=20)
    assert_same_as(table, load(path))
    assert not table.schema.named


def test_another_encoding_met_late(path):
    lines = [f"{k % 7},pera,{k % 2}" for k in range(150_000)]
    lines[140_000] = "1,piña,0"
    path.write_bytes("\n".join(["a,w,y", *lines]).encode("cp1252"))
    with pytest.warns(UserWarning, match="not UTF-8; it was read as Western European"):
        table = batches(path, batch_rows=20_000).survey()
    assert table.schema.categories[1].tolist() == ["pera", "piña"]
    assert together(table).X[140_000, 1] == 1


def test_free_text_is_not_remembered(path):
    lines = [f"{k % 7},word{k},{k % 2}" for k in range(90_000)]
    path.write_text("\n".join(["a,w,y", *lines]), encoding="utf-8")
    with pytest.warns(UserWarning, match="'w' .free text"):
        table = batches(path, batch_rows=20_000).survey()
    assert table.schema.names == ["a"]
    assert together(table).X[:, 0].tolist() == [k % 7 for k in range(90_000)]
    with pytest.raises(DataError, match="at least 80,000 levels"):
        batches(path, batch_rows=20_000, roles={"w": "categorical"}).survey()


def test_text_that_stands_for_numbers(path):
    path.write_text("a,y\n" + "".join(f"'{k % 5},{k % 2}\n" for k in range(30)), encoding="utf-8")
    with pytest.raises(DataError, match="in column 'a', where numbers were expected"):
        list(batches(path, roles={"a": "numeric"}))


def test_an_empty_column_stays(path):
    path.write_text("a,b,y\n" + "".join(f",{k % 5},{k % 2}\n" for k in range(30)), encoding="utf-8")
    table = batches(path, batch_rows=9)
    assert table.schema.names == ["a", "b"]
    assert np.isnan(together(table).X[:, 0]).all()


def test_text_met_in_a_later_file_is_text_in_all(tmp_path):
    """Also when no level of the later file occurs in the earlier one."""
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    paths[0].write_text("a,b,y\n1,5,0\n2,6,1\n1,7,0\n", encoding="utf-8")
    paths[1].write_text("a,b,y\nword,8,0\nword,9,1\n", encoding="utf-8")
    table = batches(paths, "y", batch_rows=2)
    assert table.schema.categories[0].tolist() == ["1", "2", "word"]
    assert together(table).X[:, 0].tolist() == [0, 1, 0, 2, 2]


@pytest.mark.parametrize("first", [True, False])
def test_one_of_several_files_may_be_empty(tmp_path, first):
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    paths[first].write_text("a,b,y\n" + "\n".join(rows(9)) + "\n", encoding="utf-8")
    paths[not first].write_text("a,b,y\n", encoding="utf-8")
    assert len(together(batches(paths, "y")).X) == 9
    with pytest.raises(DataError, match="holds no rows"):
        batches([paths[not first]] * 2, "y").survey()


@pytest.mark.parametrize("packed", [False, True])
def test_file_with_another_header_in_the_next_pass(path, packed):
    write = gzip.open if packed else open

    def put(header):
        with write(path, "wb") as file:
            file.write(("\ufeff" + "\r\n".join([header, *rows(50)])).encode())

    put("a,b,y")
    table = batches(path, "y", batch_rows=7)
    assert len(together(table).X) == 50
    for header in ("b,a,y", "a,b,y2", "a,b, y"):
        put(header)
        with pytest.raises(DataError, match=r"t\.csv begins with another line than before"):
            list(table)
    put("a,b,y")
    assert len(together(table).X) == 50
