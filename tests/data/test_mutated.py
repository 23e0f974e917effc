"""Damaged files of every kind: a data set or one sentence, never anything else.

The damage is what happens to files: bits flip, ends get lost, pieces come twice, editors save in
another encoding. Every file is made from a seed, so a failure names a file that can be made again.
"""

from __future__ import annotations

import gzip
import io
import os
import time
import warnings
import zipfile

import numpy as np
import pytest

import tamiz.data.formats.csv
from tamiz.data import DataError, Dataset, DataWarning, load
from tools.attack.damage import damaged
from tools.attack.tables import FILES, FORMS, csv_bytes, libsvm_bytes, npz_bytes, parquet_bytes

COUNT = 200
SECONDS = 10  # that one small file may take: no file that is read takes a hundredth of it


def outcome(path, **options):
    """A data set, or the sentence; anything else is raised as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what a user sees is a DataWarning, nothing else
        warnings.simplefilter("ignore", DataWarning)
        try:
            return load(path, **options)
        except DataError as error:
            return str(error)


def is_sentence(text, path):
    """One line that names the file and ends like a sentence."""
    return path.name in text and "\n" not in text and text.endswith((".", "?")) and len(text) < 500


def check(raw, name, folder, seeds, harm=damaged, **options):
    """Load every damaged file; return how many were read and how many were refused."""
    read = refused = 0
    for seed in seeds:
        path = folder / f"t{seed}.{name}"
        path.write_bytes(harm(raw, seed))
        began = time.process_time()
        found = outcome(path, **options)
        assert time.process_time() - began < SECONDS, path.name
        path.unlink()
        if isinstance(found, str):
            assert is_sentence(found, path), found
            refused += 1
        else:
            assert isinstance(found, Dataset)
            assert found.X.shape == (found.n_samples, len(found.feature_names))
            read += 1
    return read, refused


@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("thrifty")
def test_data_or_a_sentence(name, tmp_path):
    raw = FILES[name]()
    assert check(raw, name, tmp_path, range(1), lambda raw, seed: raw) == (1, 0)
    read, refused = check(raw, name, tmp_path, range(COUNT))
    assert read and refused  # the damage is neither too slight nor too great


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.usefixtures("thrifty")
def test_other_forms(name, tmp_path):
    raw = FORMS[name]()
    assert check(raw, name, tmp_path, range(1), lambda raw, seed: raw) == (1, 0)
    read, refused = check(raw, name, tmp_path, range(COUNT))
    assert read and refused


@pytest.mark.parametrize("name", FILES)
def test_some_rows_as_they_are(name, tmp_path):
    raw = FILES[name]()
    check(raw, name, tmp_path, range(1000, 1060), nrows=7, encode=None, target=0)


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.usefixtures("thrifty")
def test_compiled_reader(separator, tmp_path, limits):
    """The same for the loops that read large files, in pieces shorter than most rows."""
    limits(tamiz.data.formats.csv, PIECE=1 << 9)
    read, refused = check(csv_bytes(separator), "csv", tmp_path, range(2000, 2100))
    assert read and refused


@pytest.mark.usefixtures("thrifty")
def test_damage_before_packing(tmp_path):
    """A sound package around damaged contents, as a program that failed leaves behind."""
    parts = {}
    with np.load(io.BytesIO(npz_bytes())) as archive:
        for key in archive.files:
            buffer = io.BytesIO()
            np.save(buffer, archive[key])
            parts[f"{key}.npy"] = buffer.getvalue()

    def repack(_, seed):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for k, (key, raw) in enumerate(parts.items()):
                hurt = (seed + k) % 3 == 0  # mostly the head, which says what the rest means
                archive.writestr(key, damaged(raw[:128], seed) + raw[128:] if hurt else raw)
        return buffer.getvalue()

    read, refused = check(b"", "npz", tmp_path, range(COUNT), repack)
    assert read and refused
    check(b"", "npz", tmp_path, range(COUNT, COUNT + 50), repack, nrows=7)
    lone = parts["X.npy"]
    check(lone, "npy", tmp_path, range(100), lambda raw, s: damaged(raw[:128], s) + raw[128:])

    def compress(raw, seed):
        return gzip.compress(damaged(raw, seed), 1, mtime=0)

    read, refused = check(csv_bytes(), "csv.gz", tmp_path, range(3000, 3050), compress)
    assert read and refused
    check(libsvm_bytes(), "svm.gz", tmp_path, range(3000, 3050), compress)


def test_parquet_by_polars(tmp_path, without):
    """Where pyarrow is not installed. Damage that makes polars panic shows on standard error."""
    pytest.importorskip("polars")
    content = parquet_bytes()
    without("pyarrow")
    read, refused = check(content, "parquet", tmp_path, range(100))
    assert read and refused


# ------------------------------------------------------------- what chance would not come across


def huge_index():
    return "t.svm", b"1 1:0.5 2147483646:1\n-1 2:1\n" * 20, "2,147,483,646"


def huge_shape():
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**13, 50)}
    )
    return "t.npy", buffer.getvalue() + bytes(400), "memory"


def open_quote():
    return "t.csv", b'a,b,y\n1,"2,0\n' + b"3,4,1\n" * 200_000, "line 2"


def zeros_behind_the_head():
    return "t.csv", b"a,b,y\n" + b"3,4,1\n" * 60_000 + bytes(1 << 20), "line 60002"


def zeros_in_a_short_table():
    return "t.csv", b"a,b,y\n" + b"3,4,1\n" * 3_000 + bytes(9) + b",1,1\n", "line 3002"


def zeros_in_arff():
    head = b"@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n"
    return "t.arff", head + b"1,0\n" * 5_000 + bytes(99), "line 5005"


def open_quote_in_a_long_table():
    return "t.csv", b'a,b,y\n1,"2,0\n' + b"3,4,1\n" * 900_000, "line 2: a quotation mark is opened"


def carriage_return_in_the_header():
    return "t.csv", b"a,b\r,y\n" + b"3,4,1\n" * 50, "carriage return"


def bytes_that_are_no_text():
    buffer = io.BytesIO()
    np.savez(buffer, X=np.eye(3), y=np.array([b"\xff", b"a", b"b"]))
    return "t.npz", buffer.getvalue(), "no text"


def letters_that_are_none():
    buffer = io.BytesIO()
    np.savez(buffer, X=np.eye(3), feature_names=np.array(["a", "b", "\ud800"]))
    return "t.npz", buffer.getvalue(), "no text"


def no_array_in_the_archive():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("X.npy", "1 2 3")
    return "t.npz", buffer.getvalue(), "'X' is no NumPy array"


def packed_twice():
    return "t.csv.gz", gzip.compress(gzip.compress(csv_bytes())), "t.csv.gz"


CASES = (
    huge_index,
    huge_shape,
    open_quote,
    open_quote_in_a_long_table,
    zeros_behind_the_head,
    zeros_in_a_short_table,
    zeros_in_arff,
    carriage_return_in_the_header,
    bytes_that_are_no_text,
    letters_that_are_none,
    no_array_in_the_archive,
    packed_twice,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.usefixtures("thrifty")
def test_built_to_hurt(case, tmp_path):
    name, raw, words = case()
    path = tmp_path / name
    path.write_bytes(raw)
    found = outcome(path)
    assert isinstance(found, str)
    assert is_sentence(found, path)
    assert words in found


def test_blank_lines_below_a_wide_table_take_no_memory(tmp_path, monkeypatch, thrifty):
    path = tmp_path / "t.csv"
    wide = ",".join("1" * 5000)
    path.write_text(
        ",".join(f"c{j}" for j in range(5000)) + f"\n{wide}\n{wide}\n" + "\n" * 900_000,
        encoding="utf-8",
    )
    assert outcome(path, target=False, encode=None).X.shape == (2, 5000)


def test_numbers_that_signal_are_missing_values(tmp_path):
    X = np.arange(80.0).reshape(40, 2)
    X[3, 0] = np.array(0x7FF0000000000001, dtype=np.uint64).view(np.float64)
    np.save(tmp_path / "t.npy", X)
    data = outcome(tmp_path / "t.npy", target=False)
    assert np.isnan(data.X[3, 0]) and np.isnan(data.X).sum() == 1


@pytest.mark.parametrize("name", ["~nobody_of_this_name/t.csv", "t" * 5000 + ".csv", "t\0.csv"])
def test_names_that_no_system_takes(name):
    with pytest.raises(DataError):
        load(name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(DataError, match="pipe"):
        load(tmp_path / "t.csv")
