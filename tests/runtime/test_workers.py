"""Workers that are threads: results in order, errors passed on, and an end without waiting."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest
from joblib import parallel_config
from sklearn import config_context, get_config

from tamiz.runtime.workers import LocalRunner, SerialRunner, Shared, find_runner

LONG = {"prefer": "threads", "no_more_than_needed": True}


def late_first(shared, number):
    """The first jobs take longest."""
    time.sleep(0.02 * max(0, 3 - number))
    return shared * number


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_jobs(workers):
    jobs = ((k,) for k in range(12))
    found = LocalRunner(workers).results(late_first, Shared(10), jobs, **LONG)
    assert list(found) == [10 * k for k in range(12)]


def test_the_same_as_the_caller_alone():
    jobs = [(k,) for k in range(5)]
    alone = list(SerialRunner().results(late_first, Shared(2), jobs))
    assert list(LocalRunner(3).results(late_first, Shared(2), jobs, **LONG)) == alone
    assert list(LocalRunner(3).results(late_first, Shared(2), [], **LONG)) == []


def test_no_more_jobs_at_a_time_than_workers():
    at_work, most, lock = 0, 0, threading.Lock()

    def job(_, number):
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.01)
        with lock:
            at_work -= 1
        return number

    assert (
        len(list(LocalRunner(3).results(job, Shared(None), [(k,) for k in range(12)], **LONG)))
        == 12
    )
    assert most == 3
    most = 0
    few = LocalRunner(3).results(job, Shared(None), [(k,) for k in range(6)], at_once=1, **LONG)
    assert len(list(few)) == 6 and most == 1


def test_an_error_comes_in_its_turn_and_ends_the_work():
    begun = []

    def job(_, number):
        begun.append(number)
        if number == 2:
            raise ArithmeticError("two")
        time.sleep(0.01)
        return number

    found = LocalRunner(2).results(job, Shared(None), ((k,) for k in range(50)), **LONG)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ArithmeticError, match="two"):
        next(found)
    n_begun = len(begun)
    time.sleep(0.05)
    assert len(begun) <= n_begun + 1 and n_begun < 10


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_the_list_of_jobs_is_passed_on(workers):
    def jobs():
        yield (1,)
        raise LookupError("no more jobs")

    found = LocalRunner(workers).results(late_first, Shared(1), jobs(), **LONG)
    assert next(found) == 1
    with pytest.raises(LookupError, match="no more jobs"):
        next(found)


def test_closing_early_begins_no_job_and_waits_for_none():
    begun, ended, go_on = [], [], threading.Event()

    def job(_, number):
        begun.append(number)
        if number > 0:
            go_on.wait(60)
            ended.append(number)
        return number

    jobs = ((k,) for k in range(100))
    with closing(LocalRunner(2).results(job, Shared(None), jobs, **LONG)) as results:
        assert next(results) == 0
        while len(begun) < 3:  # both workers are busy
            time.sleep(0.001)
    assert not ended
    go_on.set()
    time.sleep(0.05)
    assert begun == [0, 1, 2]


def test_a_result_that_is_not_asked_for_yet_does_not_hold_back_the_workers():
    done = []
    results = LocalRunner(2).results(
        lambda _, k: done.append(k), Shared(None), [(k,) for k in range(4)], **LONG
    )
    with closing(results):
        next(results)
        for _ in range(200):
            if len(done) == 4:
                break
            time.sleep(0.005)
    assert sorted(done) == [0, 1, 2, 3]


def settings(_, number):
    return number, get_config()["enable_metadata_routing"], get_config()["transform_output"]


@pytest.mark.parametrize("options", [LONG, {"prefer": "threads"}, {"prefer": "processes"}])
def test_workers_are_configured_as_the_caller_is(options):
    jobs = [(k,) for k in range(3)]
    with config_context(enable_metadata_routing=True, transform_output="pandas"):
        found = list(LocalRunner(2).results(settings, Shared(None), jobs, **options))
    assert found == [(k, True, "pandas") for k in range(3)]
    found = list(LocalRunner(2).results(settings, Shared(None), jobs, **options))
    assert found == [(k, False, "default") for k in range(3)]


def test_another_backend_is_respected():
    with parallel_config(backend="threading"):
        assert list(find_runner(2).results(late_first, Shared(1), [(4,), (5,)], **LONG)) == [4, 5]
    with parallel_config(backend="sequential"):
        assert find_runner(2).serial
