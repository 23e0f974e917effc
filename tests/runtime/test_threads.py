"""Nobody is at work any more when an exception leaves the tiles."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tamiz.filters import AUCScore
from tamiz.filters.univariate import order
from tamiz.information import Discretiser, cuts
from tamiz.runtime import threads as parallel
from tamiz.runtime.threads import run_tiles
from tamiz.tree import CARTClassifier, _samples


@pytest.fixture
def pool(monkeypatch):
    """Lets tiles have four pieces, and a pool of so many threads."""
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    pools = []

    def of_size(threads):
        pools.append(ThreadPoolExecutor(threads))
        monkeypatch.setattr(parallel, "_pool", pools[-1])
        monkeypatch.setattr(parallel, "_pool_pid", os.getpid())
        return pools[-1]

    yield of_size
    for one in pools:
        one.shutdown()


class Pieces:
    """Four tiles: one fails once ``wanted`` have begun; other threads wait to be stopped."""

    def __init__(self, wanted, error, failing=0):
        self.wanted, self.error, self.failing = wanted, error, failing
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.stop = threading.Event()
        self._enough = threading.Event()

    def __call__(self, start, stop):
        self.begun.append(start)
        if len(self.begun) == self.wanted:
            self._enough.set()
        assert self._enough.wait(20)
        if start == self.failing:
            raise self.error
        if start:
            assert self.stop.wait(20)
            self.last_moment()
            time.sleep(0.05)  # whoever does not wait is gone by now
        self.ended.append(start)

    def last_moment(self):
        """What else happens while the caller waits."""


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("bad")])
def test_tiles_at_work_are_waited_for_and_the_others_never_begin(pool, error):
    one = pool(1)
    pieces = Pieces(2, error)
    with pytest.raises(type(error)):
        run_tiles(pieces, 4, stop=pieces.stop)
    assert pieces.ended == [1]
    one.submit(int).result()  # the last in the queue
    assert sorted(pieces.begun) == [0, 1]


def test_an_error_in_another_thread_waits_for_the_rest(pool):
    pool(3)
    pieces = Pieces(4, ValueError("the second piece is bad"), failing=1)
    with pytest.raises(ValueError, match="second piece"):
        run_tiles(pieces, 4, stop=pieces.stop)
    assert sorted(pieces.ended) == [0, 2, 3]


def test_ctrl_c_pressed_twice(pool):
    """The second one must not let the caller go while others write to its arrays."""
    pool(1)

    class Impatient(Pieces):
        def last_moment(self):
            signal.raise_signal(signal.SIGINT)

    pieces = Impatient(2, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run_tiles(pieces, 4, stop=pieces.stop)
    assert pieces.ended == [1]


def test_after_an_exception_tiles_work_as_before(pool):
    pool(2)
    with pytest.raises(ZeroDivisionError):
        run_tiles(lambda start, stop: 1 // start, 4)
    assert run_tiles(lambda start, stop: (start, stop), 9) == [(0, 2), (2, 4), (4, 6), (6, 9)]


@pytest.mark.parametrize("threads", ["1", "4"])
def test_ranges_are_no_longer_than_asked_and_come_in_order(pool, monkeypatch, threads):
    pool(3)
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    found = run_tiles(lambda start, stop: (start, stop), 23, max_items=5)
    assert [start for start, _ in found] == [0, *(stop for _, stop in found[:-1])]
    assert found[-1][1] == 23
    assert max(stop - start for start, stop in found) <= 5


def test_the_caller_does_what_busy_threads_have_not_begun(pool):
    one, free = pool(1), threading.Event()
    one.submit(free.wait, 20)  # the only thread of the pool is at work for somebody else
    try:
        found = run_tiles(lambda start, stop: threading.get_ident(), 4)
    finally:
        free.set()
    assert set(found) == {threading.get_ident()}


def test_tiles_of_tiles_wait_for_nobody(pool):
    """A thread of the pool that waited for others could wait for one that waits for it."""
    pool(3)  # enough for all, so that nobody waits for ever if it does

    def inner(start, stop):
        return threading.get_ident()

    def outer(start, stop):
        return threading.get_ident(), run_tiles(inner, 4)

    (main, shared), (other, own) = run_tiles(outer, 2)
    assert main == threading.get_ident() != other
    assert set(own) == {other}
    assert len(shared) == 4  # the caller's tiles go on to share the work


@pytest.mark.parametrize(
    ("module", "estimator"),
    [(order, AUCScore()), (cuts, Discretiser("mdl")), (_samples, CARTClassifier())],
)
def test_tiles_that_sort_many_columns_end_early(monkeypatch, module, estimator):
    sorted_after = []

    def pressed(function, n_items, *args, min_items=1, stop):
        stop.set()
        monkeypatch.setattr(np, "argsort", lambda *a, **k: sorted_after.append(a))
        function(0, n_items, *args)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run_tiles", pressed)
    X = np.random.default_rng(0).standard_normal((40, 3))
    if module is _samples:  # smaller tables are sorted at once
        X = np.repeat(X, 1000, axis=1)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, np.arange(40) % 2)
    assert not sorted_after
