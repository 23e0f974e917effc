"""The compiled reader of LIBSVM's text beside that of scikit-learn."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from tamiz.data import DataError, load
from tamiz.data.formats import libsvm
from tamiz.data.formats.libsvm import parse

digits = st.text("0123456789", min_size=1, max_size=25)
signs = st.sampled_from(["", "-", "+"])
shifts = st.sampled_from(["e", "E"]).flatmap(
    lambda letter: st.builds("{}{}{}".format, st.just(letter), signs, st.integers(0, 400))
)
plain = st.builds(
    "{}{}{}".format,
    signs,
    st.one_of(
        digits,
        st.builds("{}.{}".format, digits, digits),
        digits.map("{}.".format),
        digits.map(".{}".format),
    ),
    st.one_of(st.just(""), shifts),
)
numbers = st.one_of(plain, st.floats(allow_nan=False, allow_infinity=False).map(repr))


def bits(values: np.ndarray) -> list[int]:
    return np.asarray(values, dtype=np.float64).view(np.int64).tolist()


@given(st.lists(numbers, min_size=1, max_size=20))
def test_numbers_to_the_last_bit(texts):
    """In the place of a label, and in that of a value."""
    raw = "\n".join(f"{text} 3:{text}" for text in texts).encode()
    X, y = parse(raw)
    expected = bits(np.array([float(text) for text in texts]))
    assert bits(y) == expected
    assert bits(X.data) == expected


@pytest.mark.parametrize(
    ("zeros", "exponent"), [(200_000, "2000000"), (100_000, "1000000"), (100_000, "100000")]
)
def test_exponents_of_many_digits(zeros, exponent):
    """As many places as there are, of which some could be left out unseen."""
    text = f"0.{zeros * '0'}7e{exponent}"
    X, y = parse(f"-{text} 1:{text}".encode())
    assert bits(X.data) == bits(-y) == bits([float(text)])


blanks = st.sampled_from([" ", "  ", "\t", " \t "])
ends = st.sampled_from(["\n", "\r\n", " \n", " # said\n", "#\n", "\n\n", "\n# all 1:2\n"])
few = st.sampled_from(["0", "1", "-2.5", "+3", "1e-3", ".25", "7.", "12345678901234567890"])
pairs = st.lists(st.tuples(st.integers(0, 40), few), max_size=6, unique_by=lambda pair: pair[0])


@st.composite
def texts(draw):
    lines = []
    for pair in draw(st.lists(pairs, min_size=1, max_size=6)):
        gap = draw(blanks)
        words = [draw(few), *(f"{index}:{value}" for index, value in sorted(pair))]
        lines.append(gap.join(words) + draw(ends))
    text = "".join(lines).encode()
    return text.rstrip() if draw(st.booleans()) else text


@given(texts())
def test_equal_to_scikit_learn(raw):
    X, y = parse(raw)
    theirs, labels = load_svmlight_file(io.BytesIO(raw), zero_based=True)
    assert bits(y) == bits(labels)
    assert X.shape == theirs.shape
    assert X.indptr.tolist() == theirs.indptr.tolist()
    assert X.indices.tolist() == theirs.indices.tolist()
    assert bits(X.data) == bits(theirs.data)


@pytest.mark.parametrize(
    "line",
    [
        "one 1:2",
        "1 a:2",
        "1 2:3 1:4",
        "1 2:3 2:4",
        "1 -1:3",
        "1 2147483647:1",
        "1 99999999999999999999:1",
        "1 2:",
        "1 2",
        "1 :2",
        "1 2:3:4",
        "1 2:nan",
        "inf 2:3",
        "1,2 3:4",
        "1 qid:3 4:5",
        "1 2:0x10",
        "1 2:1_0",
        "1 2:1e",
        "1 2:--1",
        "1 2:.",
        "1 2 :3",
        "1 2: 3",
        "1\x0b2:3",
        "1 2:3\x00",
    ],
)
def test_whatever_is_strange_is_left_to_the_slow_reader(line):
    assert parse(b"1 1:1\n") is not None
    assert parse(f"1 1:1\n{line}\n1 1:1\n".encode()) is None
    assert parse(f"1 1:1\n{line}".encode()) is None


def test_nothing_but_comments():
    X, y = parse(b"# nothing\n\n  \n#1 2:3")
    assert X.shape[0] == len(y) == 0


@pytest.mark.parametrize("line", [b"1 5:x\n", b"1 7:1 5:2\n", b"2 3\n"])
def test_the_line_at_fault_is_named_whichever_reader_it_was(tmp_path, monkeypatch, line):
    text = b"1 5:0.5 7:2\n" * 300
    (tmp_path / "t.svm").write_bytes(text[:1200] + line + text[1200:])
    said = []
    for compiled in (parse, lambda raw: None):
        monkeypatch.setattr(libsvm, "parse", compiled)
        with pytest.raises(DataError) as caught:
            load(tmp_path / "t.svm")
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("chunk", [64, 1000, 1 << 20])
def test_pieces_add_up_to_the_file(tmp_path, limits, chunk):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.integers(3)} "
        + " ".join(f"{j}:{rng.normal():.17g}" for j in np.flatnonzero(rng.random(30) < 0.2) + 1)
        for _ in range(200)
    ]
    (tmp_path / "t.svm").write_text("\n".join([*lines, "1 31:1"]), encoding="utf-8")
    X, y = load_svmlight_file(str(tmp_path / "t.svm"))
    limits(libsvm, CHUNK=chunk)
    found = load(tmp_path / "t.svm")
    assert found.X.shape == X.shape == (201, 31)
    assert bits(found.X.data) == bits(X.data)
    assert found.X.indices.tolist() == X.indices.tolist()
    assert found.y.tolist() == y.tolist()
    few = load(tmp_path / "t.svm", nrows=57)
    assert bits(few.X.data) == bits(X.data[: X.indptr[57]])
