"""Bytes of a text file: the same whatever the size of the pieces."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
