"""Parquet in batches: types of columns, row groups, damage; with either library."""

from __future__ import annotations

import datetime
import decimal
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import pytest

from tamiz.data import DataError, DataWarning, load
from tamiz.scale import batches
from tests.calls import watched
from tests.scale.tables import assert_same_as, together

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 40
RNG = np.random.default_rng(1)
GAP = np.arange(N) % 11 == 3


def gappy(values, kind=None):
    return pa.array([None if GAP[i] else v for i, v in enumerate(values)], type=kind)


COLUMNS = {
    "float64": pa.array(RNG.normal(size=N)),
    "float32": pa.array(RNG.normal(size=N).astype(np.float32)),
    "float16": pa.array(RNG.normal(size=N).astype(np.float16)),
    "int8": pa.array(RNG.integers(-9, 9, N).astype(np.int8)),
    "uint64": pa.array(RNG.integers(0, 2**40, N).astype(np.uint64)),
    "int_gaps": gappy(RNG.integers(0, 9, N).tolist(), pa.int32()),
    "float_gaps": gappy(RNG.normal(size=N).tolist(), pa.float32()),
    "bool": pa.array((RNG.random(N) < 0.5).tolist()),
    "bool_gaps": gappy((RNG.random(N) < 0.5).tolist()),
    "decimal": gappy([decimal.Decimal(f"{k}.25") for k in RNG.integers(0, 9, N)]),
    "words": gappy(RNG.choice(["b", "a", "c"], N).tolist()),
    "blank": pa.array(RNG.choice(["b", " ", "a"], N).tolist()),
    "large": pa.array(RNG.choice(["u", "v"], N).tolist(), type=pa.large_string()),
    "declared": gappy(RNG.choice(["z", "k", "m"], N).tolist()).dictionary_encode(),
    "y": pa.array((np.arange(N) % 2).tolist()),
}
if find_spec("polars") and tuple(map(int, version("polars").split(".")[:2])) < (1, 10):
    del COLUMNS["float16"]  # such files polars could not open before


@pytest.fixture(params=["pyarrow", "polars"])
def library(request, without):
    pytest.importorskip(request.param)
    without(*{"pyarrow", "polars"} - {request.param})
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.parquet"


@pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")
@pytest.mark.parametrize("group", [7, 40])
def test_every_type_of_column(library, path, group):
    pq.write_table(pa.table(COLUMNS), path, row_group_size=group)
    roles = {name: "numeric" for name in ("float64", "float32", "uint64")}
    for rows in (1, 9, 40):
        table = batches(path, "y", batch_rows=rows, roles=roles)
        assert_same_as(table, load(path, "y", roles=roles))
        assert table.n_batches == -(-N // rows) == len(list(table))


def test_a_column_of_nulls_stays(library, path):
    pq.write_table(pa.table({**COLUMNS, "null": pa.nulls(N)}), path)
    table = batches(path, "y", columns=["int8", "null"], batch_rows=9)
    assert table.schema.names == ["int8", "null"]
    assert np.isnan(together(table).X[:, 1]).all()


def test_dates_are_reported_and_left_out(library, path):
    day = datetime.date(2020, 1, 1)
    moments = {
        "day": pa.array([day] * N),
        "moment": pa.array([datetime.datetime(2020, 1, 1, 12)] * N),
    }
    pq.write_table(pa.table({**moments, **COLUMNS}), path)
    table = batches(path, "y", columns=["day", "moment", "int8"], batch_rows=9)
    with pytest.warns(DataWarning, match="'day', 'moment' .dates or times"):
        table.survey()
    assert table.schema.names == ["int8"]
    assert together(table).X.shape == (N, 1)


def test_lists_are_refused(library, path):
    pq.write_table(pa.table({**COLUMNS, "nested": pa.array([[1]] * N)}), path)
    with pytest.raises(DataError, match="column 'nested' is of type"):
        batches(path, "y").survey()
    assert batches(path, "y", columns=["int8"]).schema.names == ["int8"]


def test_only_what_is_needed_is_read(path):
    pq.write_table(pa.table(COLUMNS), path)
    with watched(pq.ParquetFile, "iter_batches") as calls:
        table = batches(path, "y", columns=["int8", "words"], batch_rows=9)
        list(table)
    look, survey, rows = (list(call.args[3]) for call in calls)
    assert look == ["int8", "words", "y"]
    assert survey == ["words", "y"]
    assert rows == ["int8", "words", "y"]


def test_rows_are_known_without_reading(library, path):
    pq.write_table(pa.table(COLUMNS), path, row_group_size=7)
    table = batches(path, "y", batch_rows=9)
    assert (table.n_rows, table.n_batches) == (N, 5)
    assert table.memory(10) == 8 * 10 * table.schema.n_features


def test_no_rows(library, path):
    pq.write_table(pa.table(COLUMNS).slice(0, 0), path)
    with pytest.raises(DataError, match=r"t\.parquet holds no rows"):
        batches(path, "y").survey()


def test_cut_short(library, path):
    pq.write_table(pa.table(COLUMNS), path)
    raw = path.read_bytes()
    path.write_bytes(raw[:-30])
    with pytest.raises(DataError, match=r"t\.parquet is no Parquet file, or it is damaged"):
        batches(path, "y").survey()


def test_damage_in_the_middle(path):
    n = 3000
    table = pa.table({"a": RNG.normal(size=n), "y": np.arange(n) % 2})
    pq.write_table(table, path, row_group_size=1000, compression="gzip")
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(0)
    raw = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    raw[start + 60 : start + 4000] = bytes(3940)
    path.write_bytes(raw)
    read = batches(path, "y", batch_rows=1000, classes=[0, 1])
    with pytest.raises(DataError, match=r"In batch 1 \(from row 1000\): t\.parquet is .*damaged"):
        list(read)


def test_text_in_a_later_file(tmp_path):
    numbers = pa.table({"a": [1.0, 2.0], "y": [0, 1]})
    words = pa.table({"a": ["u", "v"], "y": [0, 1]})
    pq.write_table(numbers, tmp_path / "0.parquet")
    pq.write_table(words, tmp_path / "1.parquet")
    files = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    with pytest.raises(
        DataError, match=r"1\.parquet, batch 1 \(from row 2\) has 'u' in column 'a'"
    ):
        list(batches(files))
    with pytest.raises(DataError, match=r"0\.parquet, batch 1 .* numbers in column 'a'"):
        list(batches(files[::-1]))


@pytest.mark.parametrize("options", [{}, {"task": "regression"}])  # with a survey, and without
def test_file_written_anew_between_passes(library, path, options):
    table = pa.table({"a": np.cos(np.arange(40)), "b": np.sin(np.arange(40)), "y": [0, 1] * 20})
    pq.write_table(table, path, row_group_size=10)
    read = batches(path, "y", batch_rows=15, **options)
    assert len(together(read).X) == 40
    others = {
        "longer": pa.concat_tables([table, table]),
        "shorter": table[:35],
        "turned": table.select(["b", "a", "y"]),
        "lacking": table.select(["a", "y"]),
    }
    for other in others.values():
        pq.write_table(other, path)
        with pytest.raises(DataError, match=r"t\.parquet has other .* than before"):
            list(read)


def test_column_of_another_type_in_the_next_pass(path):
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": [0, 1]}), path)
    read = batches(path, "y").survey()
    pq.write_table(pa.table({"a": ["u", "v"], "y": [0, 1]}), path)
    with pytest.raises(DataError, match="other columns than before"):
        list(read)


def test_columns_of_one_name_are_numbered(path):
    columns = [pa.array([1, 2]), pa.array([3, 4]), pa.array([0, 1])]
    pq.write_table(pa.Table.from_arrays(columns, names=["a", "a", "y"]), path)
    with pytest.warns(DataWarning, match="which were numbered: 'a'"):
        (batch,) = batches(path)
    assert batch.X.tolist() == [[1, 3], [2, 4]]


def test_without_either_library_the_extra_is_named(path, without):
    pq.write_table(pa.table(COLUMNS), path)
    without("pyarrow", "polars")
    with pytest.raises(ImportError, match=r"tamiz\[frames\]"):
        batches(path)


def test_memory_is_that_of_a_few_batches(path):
    """Going through 64 MB of rows holds far less than all of them."""
    n, p = 100_000, 10
    made = pq.ParquetWriter(path, pa.schema([(f"x{j}", pa.float32()) for j in range(p)]))
    for _ in range(8):
        block = RNG.integers(0, 99, (n, p)).astype(np.float32)
        made.write_table(pa.table({f"x{j}": block[:, j] for j in range(p)}))
    made.close()
    held = pa.default_memory_pool().bytes_allocated()  # by what other tests have left
    table = batches(path, target=False, batch_rows=10_000)
    table.survey()
    import tracemalloc

    tracemalloc.start()  # numpy reports to it; pyarrow keeps its own account
    total = sum(batch.n_rows for batch in table)
    numpy_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 8 * n
    assert numpy_peak < 3.5 * 8 * 10_000 * p
    assert pa.default_memory_pool().bytes_allocated() - held < 8e6
