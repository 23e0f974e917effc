"""Large text tables: pieces, restarts, progress, memory."""

from __future__ import annotations

import gzip
import io
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tamiz.data import DataError, load
from tamiz.data.column import plain_number
from tamiz.data.formats import csv
from tamiz.data.formats.text import HEAD, PIECE
from tests.calls import watched


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """Six megabytes of numbers, with a word at the very end of one column."""
    path = tmp_path_factory.mktemp("big") / "big.csv"
    X = np.random.default_rng(0).normal(size=(30_000, 10)).round(6)
    lines = [",".join([*map(repr, row.tolist()), str(i % 2), "5"]) for i, row in enumerate(X)]
    lines[-1] = lines[-1][:-1] + "end"
    header = [f"f{j}" for j in range(10)]
    path.write_text(
        ",".join([*header, "target", "late"]) + "\n" + "\n".join(lines), encoding="utf-8"
    )
    return path, X


def test_late_word_makes_the_column_text(big):
    path, X = big
    data = load(path)
    np.testing.assert_array_equal(data.X[:, :10], X)
    assert data.levels == {"late": ["5", "end"]}
    np.testing.assert_array_equal(data.y, np.arange(len(X)) % 2)


def test_memory_is_the_table_and_little_more(big):
    path, X = big
    load(path, drop="late")
    tracemalloc.start()
    data = load(path, drop="late")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data.X.nbytes == X.nbytes
    assert peak < 2.5 * X.nbytes + 2**23


@pytest.mark.parametrize("packed", [False, True])
def test_rows_that_become_shorter(tmp_path, packed):
    """More rows come than the first ones let expect."""
    X = np.concatenate([np.full((20_000, 3), 1.2345678901234567), np.ones((400_000, 3))])
    long, short = (",".join(map(plain_number, X[k].tolist())) + "\n" for k in (0, -1))
    text = "a,b,c\n" + long * 20_000 + short * 400_000
    assert len(long) * 20_000 > PIECE and len(short) * 400_000 > 2 * PIECE
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    np.testing.assert_array_equal(load(path, target=False).X, X)


def test_few_rows_read_few_bytes(big):
    path, X = big
    with watched(csv._Scan, "_read") as pieces:
        np.testing.assert_array_equal(load(path, nrows=100, drop="late").X, X[:100])
    assert len(pieces) == 1


def test_progress_tells_how_many_rows_were_read(big, clock, capsys):
    path, _ = big
    clock.step = 3.0
    load(path, drop="late", verbose=2)
    told = capsys.readouterr().err
    assert "reading big.csv: " in told and " rows [" in told


def test_one_column_as_features(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "a,y\n" + "\n".join(f"{i % 7},{'pq'[i % 2]}" for i in range(50)), encoding="utf-8"
    )
    data = load(path)
    assert data.X.ravel().tolist() == [i % 7 for i in range(50)]
    assert data.y.tolist() == ["pq"[i % 2] for i in range(50)]


def test_first_line_longer_than_the_head(tmp_path):
    """Names that take more room than guesses look at by default."""
    p = 30_000
    path = tmp_path / "t.csv"
    names = [f"a_rather_long_name_{j}" for j in range(p)]
    row = ",".join(["1.5"] * p)
    path.write_text(
        "\n".join([",".join([*names, "y"]), *(f"{row},{k % 2}" for k in range(30))]),
        encoding="utf-8",
    )
    assert len(",".join(names)) > 2 * HEAD
    data = load(path, encode=None)
    assert data.X.shape == (30, p) and data.feature_names == names and data.target == "y"


def test_a_row_over_many_pieces_is_not_scanned_again_and_again(tmp_path, limits):
    limits(csv, PIECE=1 << 10)
    path = tmp_path / "t.csv"
    path.write_text(f'a,y\n"{"x" * (1 << 20)}",0\n' + "z,1\n" * 9, encoding="utf-8")
    with watched(csv._Scan, "_read") as pieces:
        assert load(path, encode=None).X.shape == (10, 1)
    assert sum(len(piece.args[1]) for piece in pieces) < 6 << 20


# ------------------------------------------------------- files that nobody wants to read as a whole

GIGANTIC = 5 << 29  # 2.5 GiB, a hole but for the beginning


def csv_head(n):
    return "a,b,y\n" + "".join(f"{i % 17},{i * 0.5},{i % 2}\n" for i in range(n))


def arff_head(n):
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute y {0,1}\n@data\n"
    return head + csv_head(n).partition("\n")[2]


def libsvm_head(n):
    return "".join(f"{i % 2} 1:{i % 17} 2:{i * 0.5}\n" for i in range(n))


def npy_head(n):
    buffer = io.BytesIO()
    shape = (GIGANTIC // 16, 2)
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    X = np.column_stack([np.arange(n) % 17, np.arange(n) * 0.5])
    return buffer.getvalue() + X.tobytes()


HEADS = {"csv": csv_head, "arff": arff_head, "svm": libsvm_head, "npy": npy_head}


def bytes_read():
    """How much this process has read so far."""
    try:
        text = Path("/proc/self/io").read_text(encoding="utf-8")
    except OSError:
        pytest.skip("this system does not tell how much a process has read")
    return int(text.split("rchar:")[1].split()[0])


def gigantic(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        os.truncate(path, GIGANTIC)
    except OSError:
        pytest.skip("this file system takes no files of 2.5 GiB")
    if path.stat().st_blocks * 512 > GIGANTIC // 2:
        path.unlink()
        pytest.skip("this file system has no sparse files")
    return path


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("n", [3_000, 100_000])
def test_some_rows_of_a_gigantic_file(tmp_path, kind, n):
    path = gigantic(tmp_path / f"t.{kind}", HEADS[kind](n))
    before = bytes_read()
    data = load(path, nrows=n // 2, target=False if kind == "npy" else None, roles={0: "numeric"})
    read = bytes_read() - before
    path.unlink()
    first = data.X[:, [0]].toarray() if kind == "svm" else data.X[:, [0]]
    np.testing.assert_array_equal(first.ravel(), np.arange(n // 2) % 17)
    assert read < 100 << 20  # the first to come imports modules


@pytest.mark.parametrize("kind", ["csv", "arff"])
def test_a_hole_is_reported_without_reading_it(tmp_path, kind):
    path = gigantic(tmp_path / f"t.{kind}", HEADS[kind](50_000))
    before = bytes_read()
    with pytest.raises(DataError, match=r"line 5000\d: there are zero bytes"):
        load(path)
    assert bytes_read() - before < 100 << 20
    path.unlink()


@pytest.mark.parametrize("packed", [False, True])
def test_some_rows_of_an_archive(tmp_path, packed):
    """Only the beginning of an array is unpacked, if rows lie one after the other."""
    X = np.random.default_rng(0).random((400_000, 5))
    y = np.arange(len(X)) % 2
    save = np.savez_compressed if packed else np.savez
    save(tmp_path / "t.npz", X=X, y=y, feature_names=list("abcde"), split=y == 0, one=1.0)
    before = bytes_read()
    data = load(tmp_path / "t.npz", nrows=50)
    assert bytes_read() - before < X.nbytes // 10
    np.testing.assert_array_equal(data.X, X[:50])
    np.testing.assert_array_equal(data.y, y[:50])
    assert data.feature_names == list("abcde") and data.extras["split"].shape == (50,)
    np.savez(tmp_path / "t.npz", X=np.asfortranarray(X[:200]), y=y[:200])
    np.testing.assert_array_equal(load(tmp_path / "t.npz", nrows=50).X, X[:50])
