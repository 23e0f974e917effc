"""sweep: what is merged, in which order, by which threads, and how it ends."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tamiz.data import DataError
from tamiz.data.formats.base import HeldTable
from tamiz.runtime.threads import limit_threads, n_threads
from tamiz.scale import batches, sweep
from tamiz.scale.passes import ahead

X = np.random.default_rng(0).normal(size=(100, 4))
Y = np.arange(100) % 2


class Seen:
    """Rows in the order in which they were merged."""

    def __init__(self, batch):
        self.rows = [(batch.index, batch.X, batch.y)]

    def merge(self, other):
        self.rows = self.rows + other.rows
        return self


def readers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "tamiz-reader"]


def test_merged_in_order():
    seen = sweep((X, Y), Seen).rows
    assert [k for k, _, _ in seen] == [0]
    seen = sweep(batches((X, Y), batch_rows=7), Seen).rows
    assert [k for k, _, _ in seen] == list(range(15))
    np.testing.assert_array_equal(np.concatenate([rows for _, rows, _ in seen]), X)
    np.testing.assert_array_equal(np.concatenate([y for _, _, y in seen]), Y)
    assert not readers()


@pytest.fixture
def ten_batches(monkeypatch):
    """``ten_batches(action)``: a table; ``action`` gets the number of each batch that is read."""
    original = HeldTable.tables

    def table(action):
        found = batches((X, Y), batch_rows=10).survey()

        def tables(self, columns, rows):
            for k, part in enumerate(original(self, columns, rows)):
                action(k)
                yield part

        monkeypatch.setattr(HeldTable, "tables", tables)
        return found

    return table


def test_reading_overlaps_counting(ten_batches):
    read = [threading.Event() for _ in range(10)]
    table = ten_batches(lambda k: read[k].set())
    overlaps = []

    def make(batch):
        """Goes on when the next batch has been read, which another thread has to do meanwhile."""
        overlaps.append(all(later.wait(5) for later in read[len(overlaps) + 1 :][:1]))
        return Seen(batch)

    sweep(table, make)
    assert overlaps == [True] * 10


def test_one_batch_is_read_ahead_and_no_more(ten_batches):
    numbers = []
    table = ten_batches(numbers.append)
    stream = ahead(table)
    for k in range(3):
        next(stream)
        time.sleep(0.05)
        assert numbers == list(range(k + 2))
    stream.close()
    assert not readers()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interruption_ends_the_reader(ten_batches, error):
    table = ten_batches(lambda k: time.sleep(0.01))

    def make(batch):
        if batch.index == 3:
            assert readers()
            raise error
        return Seen(batch)

    with pytest.raises(error):
        sweep(table, make)
    assert not readers()
    assert len(sweep(table, Seen).rows) == 10  # and nothing is spoilt


def test_a_fault_in_the_reader_is_raised_here():
    bad = X.copy()
    bad[55, 2] = np.inf
    made = []

    def make(batch):
        made.append(batch.index)
        return Seen(batch)

    with pytest.raises(DataError, match=r"batch 5 .*column 'x2', row 55"):
        sweep(batches((bad, Y), batch_rows=10), make)
    assert made == [0, 1, 2, 3, 4]
    assert not readers()


def test_iterables_are_read_by_the_caller():
    threads = set()

    def rows():
        threads.add(threading.current_thread())
        yield X, Y

    sweep(rows, Seen)
    assert threads == {threading.current_thread()}


def test_the_limit_of_threads_holds_in_the_reader(ten_batches, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = []
    table = ten_batches(lambda k: found.append((threading.current_thread().name, n_threads())))
    with limit_threads(1):
        sweep(table, Seen)
    assert found == [("tamiz-reader", 1)] * 10


def test_progress_after_two_seconds(clock, capsys):
    def make(batch):
        clock.now += 0.7
        return Seen(batch)

    sweep(batches((X, Y), batch_rows=10), make, progress=2, label="counting")
    lines = capsys.readouterr().err.splitlines()
    assert lines and lines[0] == "counting: 30 of 100 rows, about 5 s left [2 s]"
    sweep(batches((X, Y), batch_rows=10), make, progress=0)
    assert capsys.readouterr().err == ""


def test_an_executor_takes_over():
    class Elsewhere:
        def sweep(self, table, make, line, told):
            return [make(batch).rows[0][0] for batch in table]

    assert sweep(batches((X, Y), batch_rows=50), Seen, executor=Elsewhere()) == [0, 1]


def test_no_rows():
    with pytest.raises(DataError, match="no rows"):
        sweep([(X[:0], Y[:0])], Seen)
