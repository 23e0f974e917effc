"""Bytes of a text file: the same whatever the size of the pieces."""

from __future__ import annotations

import gzip
import subprocess
import sys
import textwrap

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tamiz.data.formats.csv
from tamiz.data import DataError, load
from tamiz.data.formats.text import HEAD, TextFile


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text("ab,ä€\n", min_size=1, max_size=60),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 9),
)
def test_pieces_make_the_text(tmp_path, text, encoding, ends, packed, size):
    raw = text.replace("\n", ends).encode(encoding)
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(raw) if packed else raw)
    source = TextFile(path, "t.csv")
    assert source.encoding == "utf-8" and source.whole
    assert b"".join(source.pieces(size)).decode() == text
    assert source.text() == text


def test_head_is_a_part_of_a_long_file(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"0123456789abcdef" * (5 * HEAD // 16))
    source = TextFile(tmp_path / "t.csv", "t.csv")
    assert not source.whole and HEAD <= len(source.head) < 5 * HEAD


@pytest.mark.parametrize("cut", [1, 2])
def test_character_cut_at_the_end_of_the_head_is_still_utf8(tmp_path, cut):
    content = b"a" * (2 * HEAD - cut) + "€".encode() * 3
    (tmp_path / "t.csv").write_bytes(content)
    source = TextFile(tmp_path / "t.csv", "t.csv")
    assert source.head == content[: 2 * HEAD] and source.encoding == "utf-8"


# ------------------------------------------------------------------ encodings of two and four bytes


TABLE = "a,b,y\n" + "1,2,0\n3,4,1\n" * 20
WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("encoding", WIDE)
def test_wide_letters_without_a_mark_are_read_or_named(encoding, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE.encode(encoding))
    for name in (encoding, encoding[:6]):  # with the order of the bytes, and without
        assert load(path, target=False, encoding=name).X.shape == (40, 3)
    with pytest.raises(DataError, match=f"looks like {encoding} text without a mark"):
        load(path)
    other = "utf-32" if encoding < "utf-3" else "utf-16"
    with pytest.raises(DataError, match=f"does not begin with the mark of {other}"):
        load(path, encoding=other)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_half_a_letter_at_the_end_is_reported(encoding, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE.encode(encoding)[:-1])
    with pytest.raises(DataError, match="may be cut short"):
        load(path)


# --------------------------------------------------------------------------------- too much of it


def test_a_line_without_an_end_is_not_blamed_on_a_quotation_mark(tmp_path, limits):
    path = tmp_path / "t.csv"
    limits(tamiz.data.formats.text, LONG_HEAD=1 << 20)
    for cell in (b"x", b"1,", b"ab;"):
        path.write_bytes(cell * (3 << 20))
        with pytest.raises(DataError, match="line 1: the line does not end within 1 MiB"):
            load(path)
    limits(tamiz.data.formats.csv, LONGEST_ROW=1 << 21)
    path.write_bytes(b"a,b\n" + b"1,2\n" * 200_000 + b"x" * (5 << 20))
    with pytest.raises(DataError, match="line 200002: the line does not end within 2 MiB"):
        load(path, target=False)
    path.write_bytes(b'a,b\n1,"' + b"2,3\n" * (1 << 20))
    with pytest.raises(DataError, match="line 2: a quotation mark is opened"):
        load(path, target=False)


@pytest.mark.parametrize("length", [100, 500, 200_000])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.arff", "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\nXX,0\n"),
        ("t.arff", "@relation r\n@attribute XX numerik\n@attribute y {0,1}\n@data\n1,0\n"),
        ("t.svm", "1 1:XX\n"),
        ("t.csv", "XX,b\n"),
    ],
)
def test_messages_are_of_a_length_that_can_be_read(name, content, length, tmp_path):
    path = tmp_path / name
    path.write_text(content.replace("XX", "x\x1b[2Jx" * (length // 6)), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load(path, target="z" if name == "t.csv" else None)
    text = str(caught.value)
    assert len(text) < 500 and text.endswith((".", "?")) and text.isprintable()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory that is kept")
def test_more_rows_than_memory_are_an_error_of_the_table(tmp_path):
    """A small file that unpacks to many rows, read by a process that may take little."""
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,y\n")
        for _ in range(40):
            file.write(b"1,0\n" * (1 << 20))
    code = """
        import pathlib, resource, sys, tamiz
        small = pathlib.Path(sys.argv[1]).with_name("small.csv")
        small.write_text("a,y\\n" + "1,0\\n2,1\\n" * 9)
        tamiz.data.load(small)  # what is compiled and imported is not counted
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + (1 << 28)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        try:
            tamiz.data.load(sys.argv[1])
        except tamiz.data.DataError as error:
            print(error)
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("t.csv.gz does not fit into memory; read part of it"), done.stdout
