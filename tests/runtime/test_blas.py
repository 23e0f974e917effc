"""BLAS is held to one thread from every thread, and gets its own number back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tamiz.runtime import threads as blas
from tests.calls import interrupted


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads(request):
    """Two BLAS threads, whatever the environment says, and those of before afterwards."""
    if request.node.name == "test_in_a_process_of_its_own":
        yield
        return
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("BLAS was told otherwise before; see test_in_a_process_of_its_own")
        yield


def test_in_a_process_of_its_own():
    """All tests below: `make test` allows one BLAS thread, and tests before this set limits."""
    two = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__,
         "-k", "not process_of_its_own"],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **two},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    if "passed" not in done.stdout:
        pytest.skip("no BLAS library whose threads can be set")
    assert "skipped" not in done.stdout, done.stdout


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join(20)
    return found[0]


def inside():
    with blas.one_blas_thread():
        return blas_threads()


def test_every_thread_can_hold():
    assert inside() == {1}
    assert in_a_thread(inside) == {1}  # not the first thread to set a limit
    assert blas_threads() == {2}
    assert inside() == {1} and blas_threads() == {2}


@pytest.mark.parametrize("first", ["this", "other"])
def test_the_last_to_leave_restores_whichever_thread_it_is_in(first):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with blas.one_blas_thread():
            entered.set()
            leave.wait(20)

    thread = threading.Thread(target=other)
    hold = blas.one_blas_thread()
    if first == "this":
        hold.__enter__()
        thread.start()
        entered.wait(20)
        hold.__exit__(None, None, None)
        assert blas_threads() == {1}
        leave.set()
        thread.join(20)
    else:
        thread.start()
        entered.wait(20)
        hold.__enter__()
        leave.set()
        thread.join(20)
        assert blas_threads() == {1}
        hold.__exit__(None, None, None)
    assert blas_threads() == {2}


def test_limits_that_a_user_set_around_it_end_as_usual():
    with threadpool_limits(1, user_api="blas"):
        assert in_a_thread(inside) == {1}
    assert blas_threads() == {2}


def test_a_hold_that_failed_halfway_is_forgotten():
    ctrl_c = interrupted(blas, "_set", at=None, after=True)
    with ctrl_c, pytest.raises(KeyboardInterrupt):
        inside()
    assert inside() == {1}
    assert blas_threads() == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_inside_a_hold_is_free():
    with blas.one_blas_thread():
        child = os.fork()
        if child == 0:
            code = 1
            try:
                free = blas_threads() == {2}
                code = 0 if free and inside() == {1} and blas_threads() == {2} else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert blas_threads() == {2}


def test_a_library_that_is_loaded_later_is_held_too():
    """cvxopt brings a BLAS of its own."""
    code = (
        "import numpy, threadpoolctl as t; from tamiz.runtime import threads as blas\n"
        "with blas.one_blas_thread(): pass\n"
        "import cvxopt\n"
        "with t.threadpool_limits(2, user_api='blas'), blas.one_blas_thread():\n"
        "    found = t.threadpool_info()\n"
        "print({lib['num_threads'] for lib in found if lib['user_api'] == 'blas'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "{1}"
