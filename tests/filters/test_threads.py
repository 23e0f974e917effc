"""n_jobs changes how many threads work, never what they find."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    InformationGain,
    MaxDep,
    MaxRel,
    Relief,
    ReliefF,
    RReliefF,
)
from tamiz.runtime import threads as parallel
from tamiz.runtime.threads import limit_threads, n_threads, run_tiles


def test_limits(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    assert n_threads() == 6
    for wanted, expected in ((1, 1), (2, 2), (9, 6), (-1, 6), (-2, 5), (-9, 1), (None, 6)):
        with limit_threads(wanted):
            assert n_threads() == expected
            with limit_threads(2):  # the inner one can only take away
                assert n_threads() == min(2, expected)
    assert n_threads() == 6
    with pytest.raises(ValueError, match="n_jobs=0 leaves no thread"), limit_threads(0):
        pass


def test_one_thread_is_the_callers(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    seen = set()

    def note(start, stop):
        seen.add(threading.get_ident())

    with limit_threads(1):
        run_tiles(note, 100)
    assert seen == {threading.get_ident()}
    with limit_threads(2):
        assert len(run_tiles(note, 100)) == 2


def test_other_threads_are_not_limited(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    found = []
    with limit_threads(1):
        other = threading.Thread(target=lambda: found.append(n_threads()))
        other.start()
        other.join()
    assert found == [4]


@pytest.mark.parametrize(
    "selector",
    [
        CFS(),
        CMIM(3),
        JMI(3),
        MRMR(3),
        MRMR(3, bins="frequency", n_bins=9),
        MaxRel(3),
        InformationGain(3),
        MaxDep(2),
        QPFS(),
        QPFS(similarity="pearson"),
        Relief(random_state=0),
        ReliefF(random_state=0),
        RReliefF(random_state=0),
    ],
    ids=lambda s: repr(s)[:50],
)
def test_the_answer_does_not_depend_on_threads(selector, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 40)) + 0.5 * y[:, None] * (np.arange(40) % 3 == 0)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    counts, original = [], parallel.n_threads
    monkeypatch.setattr(parallel, "n_threads", lambda: counts.append(original()) or counts[-1])
    results = [selector.set_params(n_jobs=k).fit(X, y).scores_ for k in (1, 3, None)]
    for scores in results[1:]:
        np.testing.assert_array_equal(scores, results[0])
    assert {1, 3} <= set(counts)
    with pytest.raises(ValueError, match="n_jobs"):
        selector.set_params(n_jobs=0).fit(X, y)
    selector.set_params(n_jobs=None)
