"""Text tables: what is read equals what was written, and what pandas reads."""

from __future__ import annotations

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamiz.data import DataError, DataWarning, load
from tamiz.data.formats import csv
from tamiz.data.formats.csv import CsvReader
from tamiz.data.plan import Options

LAYOUTS = [(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ".")]


def write(folder, content, name="t.csv"):
    path = folder / name
    if isinstance(content, str):
        path.write_bytes(content.encode())
    else:
        path.write_bytes(content)
    return path


def read(path, **told):
    """All columns by name."""
    table = CsvReader(path, path.name, Options(target=False, **told)).collect()
    columns = {name: table.column(name) for name in table.names}
    return {name: column for name, column in columns.items() if column is not None}


@pytest.fixture(params=["whole", "pieces"])
def way(request, limits):
    """The file in one piece, or in pieces so small that they cut everything."""
    if request.param == "pieces":
        limits(csv, PIECE=37)
    return request.param


# ------------------------------------------------------------------------------- against pandas

words = (
    st.text("abcXYZ äß.-_'", min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda word: word and not _is_number(word) and word not in ("inf", "nan"))
)


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


@st.composite
def tables(draw):
    n = draw(st.integers(3, 12))
    columns = {}
    for j in range(draw(st.integers(2, 5))):
        kind = draw(st.sampled_from(["float", "int", "text", "gaps"]))
        if kind == "float":
            column = draw(st.lists(st.floats(-1e9, 1e9), min_size=n, max_size=n))
        elif kind == "int":
            column = draw(st.lists(st.integers(-(10**6), 10**6), min_size=n, max_size=n))
        elif kind == "text":
            column = draw(
                st.lists(
                    st.one_of(words, st.sampled_from(['a"b', "c,d", "e;f", "g\nh"])),
                    min_size=n,
                    max_size=n,
                )
            )
        else:
            column = draw(
                st.lists(st.one_of(st.none(), st.floats(-10, 10)), min_size=n, max_size=n)
            )
            column[0] = 1.5
        columns[f"column{j}"] = column
    return pd.DataFrame(columns)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from(LAYOUTS), st.booleans(), st.booleans())
def test_reads_what_pandas_reads(tmp_path, way, frame, layout, windows, quoted):
    separator, decimal = layout
    path = tmp_path / "t.csv"
    frame.to_csv(
        path,
        index=False,
        sep=separator,
        decimal=decimal,
        lineterminator="\r\n" if windows else "\n",
        quoting=1 if quoted else 0,
    )
    with warnings.catch_warnings():  # the argument is going, as its value becomes the default
        warnings.simplefilter("ignore")
        peer = pd.read_csv(path, sep=separator, decimal=decimal, float_precision="round_trip")
    ours = read(path, separator=separator, decimal=decimal, header=True)
    assert list(ours) == list(peer.columns)
    for name, column in ours.items():
        theirs = peer[name]
        if pd.api.types.is_numeric_dtype(theirs):
            np.testing.assert_array_equal(column.numbers(), theirs.to_numpy(dtype=float))
        else:
            expected = [None if pd.isna(v) else str(v).replace("\r\n", "\n") for v in theirs]
            assert column.objects().tolist() == expected


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from(LAYOUTS))
def test_pieces_of_any_size_give_the_same(tmp_path, monkeypatch, frame, layout):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False, sep=layout[0], decimal=layout[1])
    whole = read(path, separator=layout[0], decimal=layout[1], header=True)
    with monkeypatch.context() as patch:
        patch.setattr("tamiz.data.formats.csv.PIECE", 53)
        cut = read(path, separator=layout[0], decimal=layout[1], header=True)
    assert list(whole) == list(cut)
    for name in whole:
        assert whole[name].levels == cut[name].levels
        np.testing.assert_array_equal(whole[name].numbers(), cut[name].numbers())


# ------------------------------------------------------------------------------------ by example


def test_everything_is_guessed(tmp_path, way):
    path = write(tmp_path, "größe;art;n\r\n1,5;Bär;1\r\n2,25;Kuh;?\r\n;Bär;3\r\n", "t.txt")
    columns = read(path)
    assert columns["größe"].objects().tolist() == [1.5, 2.25, None]
    assert columns["art"].objects().tolist() == ["Bär", "Kuh", "Bär"]
    assert columns["n"].objects().tolist() == [1.0, None, 3.0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings(tmp_path, way, encoding):
    raw = "art,größe\nBär,1\nKuh,2\n".encode(encoding)
    if encoding == "utf-16-le":
        raw = b"\xff\xfe" + raw
    columns = read(write(tmp_path, raw))
    assert list(columns) == ["art", "größe"]
    assert columns["art"].levels == ["Bär", "Kuh"]


def test_western_text_after_the_head_is_warned_of(tmp_path):
    rows = b"n,word\n" + b"1,plain\n2,plain\n" * 150_000 + "2,é\n".encode("cp1252")
    with pytest.warns(DataWarning, match="cp1252"):
        data = load(write(tmp_path, rows), target="n")
    assert data.levels["word"] == ["plain", "é"]


def test_packed_with_or_without_the_extension(tmp_path, way):
    packed = gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0)
    for name in ("t.csv.gz", "t.csv"):
        columns = read(write(tmp_path, packed, name))
        assert columns["b"].numbers().tolist() == [2, 4]


def test_quoted_cells(tmp_path, way):
    text = 'a,b\n"x,y",1\n"say ""no""",2\n"two\nlines",3\n" blank ",4\n'
    columns = read(write(tmp_path, text))
    assert columns["a"].objects().tolist() == ["x,y", 'say "no"', "two\nlines", "blank"]


def test_blanks_as_separator(tmp_path, way):
    columns = read(write(tmp_path, "  a   b\n 1   2.5 \n   3 4\n"))
    assert columns["b"].numbers().tolist() == [2.5, 4]


def test_blank_lines_and_ends(tmp_path, way):
    columns = read(write(tmp_path, "\na,b\n\n1,2,\n\n   \n3,4"))
    assert columns["b"].numbers().tolist() == [2, 4]


def test_old_macintosh_lines(tmp_path, way):
    assert read(write(tmp_path, "a,b\r1,2\r3,4\r"))["b"].numbers().tolist() == [2, 4]


def test_column_that_turns_out_to_be_text_keeps_its_spelling(tmp_path, way):
    text = "a,b\n" + "1.50,2\n" * 20 + "x,3\n"
    columns = read(write(tmp_path, text))
    assert columns["a"].levels == ["1.50", "x"]
    assert columns["b"].numbers()[-1] == 3


def test_own_spellings_of_missing(tmp_path, way):
    path = write(tmp_path, "a,b\n-999,NA\n1,x\n")
    columns = read(path, missing=["-999"])
    assert columns["a"].objects().tolist() == [None, 1.0]
    assert columns["b"].objects().tolist() == ["NA", "x"]


def test_only_wanted_columns_and_rows(tmp_path, way):
    path = write(tmp_path, "a,b,c\n1,2,3\n4,5,6\n7,8\n")  # the ragged row is not reached
    columns = read(path, columns=["a", 2], nrows=2)
    assert {name: column.numbers().tolist() for name, column in columns.items()} == {
        "a": [1, 4],
        "c": [3, 6],
    }


def test_head_suffices_for_a_few_rows_of_a_long_file(tmp_path):
    path = write(tmp_path, gzip.compress(("a,b\n" + "1,2\n" * 200_000).encode()), "t.csv.gz")
    path.write_bytes(path.read_bytes()[:-20])  # whoever reads to the end finds it cut short
    with pytest.raises(DataError):
        load(path)
    assert load(path, nrows=3).n_samples == 3


def test_duplicate_names_are_numbered_with_a_warning(tmp_path, way):
    path = write(tmp_path, "a,a,a_2,y\n1,5,3,0\n2,9,4,1\n")
    with pytest.warns(DataWarning, match="'a'"):
        data = load(path)
    assert data.feature_names == ["a", "a_3", "a_2"]


# -------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "t.csv is empty"),
        (b"\n\n  \n", "holds no text"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3,4,5\n6,7\n", "t.csv, line 3: 3 fields where 2 are expected"),
        (b"a,b\n1,2\n3\n6,7\n", "line 3: 1 fields where 2"),
        (b'a,b\n1,2\n3,4,"x"\n6,7\n', "line 3: 3 fields where 2"),
        (b'a,b\n"x\ny",2\n3\n6,7\n', "line 4: 1 fields where 2"),
        (bytes(range(256)) * 20, "binary"),
        (b"PK\x03\x04rest", "spreadsheet"),
        (b"PAR1rest", "Parquet"),
        (gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-20], "cut short"),
        (gzip.compress(b"", mtime=0), "empty"),
    ],
)
def test_broken_files(tmp_path, way, content, words):
    with pytest.raises(DataError, match=words) as caught:
        load(write(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_open_quotation_mark(tmp_path, way):
    with pytest.raises(DataError, match="line 3: a quotation mark"):
        load(write(tmp_path, 'a,b\n1,2\n3,"4\n5,6\n'))


def test_lonely_quotation_mark_inside_a_cell_is_a_letter(tmp_path, way):
    columns = read(write(tmp_path, 'pipe,n\n5" wide,1\n7 wide,2\n'))
    assert columns["pipe"].objects().tolist() == ['5" wide', "7 wide"]


def test_comments_at_the_top(tmp_path, way):
    columns = read(write(tmp_path, "# made, by\n# hand\na,b\n1,2\n3,4\n"))
    assert columns["b"].numbers().tolist() == [2, 4]
    columns = read(write(tmp_path, "# by hand\n#a,b\n1,2\n3,4\n"))
    assert list(columns) == ["#a", "b"]


def test_wrong_encoding_is_said(tmp_path, way):
    raw = "a,b\nä,1\nö,2\n".encode("cp1252")
    with pytest.raises(DataError, match="utf-8"):
        load(write(tmp_path, raw), encoding="utf-8")
    with pytest.raises(DataError, match="encoding='nonsense'"):
        load(write(tmp_path, raw), encoding="nonsense")


def test_same_numbers_as_written(tmp_path, way):
    X = np.random.default_rng(0).normal(size=(50, 4))
    buffer = io.StringIO()
    pd.DataFrame(X, columns=list("abcd")).to_csv(buffer, index=False)
    columns = read(write(tmp_path, buffer.getvalue()))
    np.testing.assert_array_equal(np.column_stack([c.numbers() for c in columns.values()]), X)
