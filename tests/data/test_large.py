"""Large text tables: pieces, restarts, progress, memory."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pytest

import tamiz._progress
import tamiz.data.delimited
import tamiz.data.large
from tamiz.data import load
from tamiz.data.column import plain_number


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """Six megabytes of numbers, with a word at the very end of one column."""
    path = tmp_path_factory.mktemp("big") / "big.csv"
    X = np.random.default_rng(0).normal(size=(30_000, 10)).round(6)
    lines = [",".join([*map(repr, row.tolist()), str(i % 2), "5"]) for i, row in enumerate(X)]
    lines[-1] = lines[-1][:-1] + "end"
    header = [f"f{j}" for j in range(10)]
    path.write_text(",".join([*header, "target", "late"]) + "\n" + "\n".join(lines))
    assert path.stat().st_size > tamiz.data.delimited.SMALL // 2
    return path, X


@pytest.fixture(autouse=True)
def no_small_reader(monkeypatch):
    monkeypatch.setattr(tamiz.data.delimited, "_small_text", lambda *_: None)


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
def test_rows_that_become_shorter(tmp_path, monkeypatch, packed):
    """More rows come than the first ones let expect."""
    monkeypatch.setattr(tamiz.data.large, "PIECE", 1 << 12)
    X = np.concatenate([np.full((100, 3), 1.2345678901234567), np.ones((20_000, 3))])
    text = "a,b,c\n" + "".join(",".join(map(plain_number, row)) + "\n" for row in X.tolist())
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    np.testing.assert_array_equal(load(path, target=False).X, X)


def test_few_rows_read_few_bytes(big, monkeypatch):
    path, X = big
    sizes = []
    original = tamiz.data.large._Reading._read

    def counted(self, raw, line, ended):
        sizes.append(len(raw))
        return original(self, raw, line, ended)

    monkeypatch.setattr(tamiz.data.large, "PIECE", 1 << 16)
    monkeypatch.setattr(tamiz.data.large._Reading, "_read", counted)
    np.testing.assert_array_equal(load(path, nrows=100, drop="late").X, X[:100])
    assert len(sizes) == 1


def test_progress(big, monkeypatch, capsys):
    path, _ = big
    monkeypatch.setattr(tamiz.data.large, "PIECE", 1 << 18)
    clock = iter(np.arange(0, 1e6, 3.0))
    monkeypatch.setattr(tamiz._progress.time, "perf_counter", lambda: next(clock))
    load(path, drop="late", verbose=2)
    told = capsys.readouterr().err
    assert "reading big.csv: " in told and " rows [" in told


def test_one_column_as_features(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "\n".join(f"{i % 7},{'pq'[i % 2]}" for i in range(50)))
    data = load(path)
    assert data.X.ravel().tolist() == [i % 7 for i in range(50)]
    assert data.y.tolist() == ["pq"[i % 2] for i in range(50)]
