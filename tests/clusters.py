"""A Dask cluster of two processes on this machine, for tests.

One for a test process, however many files ask for it: see ``dask_client`` in conftest.py.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import joblib
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

#: What workers would import first of all: done once, in the process that they are forked from.
_IMPORTED = ["tamiz.evaluation", "tamiz.embedded", "tamiz.scale", "pandas", "dask.dataframe"]


@contextmanager
def two_workers() -> Iterator[Client]:
    """A client of two worker processes, each with one thread; nothing listens to the outside.

    It is not the active one: what other tests do with Dask stays in their own process.
    """
    # on a busy machine it takes long to replace a worker, and Dask would give up on it
    settings: dict[str, Any] = {"distributed.deploy.lost-worker-timeout": "300s"}
    if "forkserver" in multiprocessing.get_all_start_methods():
        settings["distributed.worker.multiprocessing-method"] = "forkserver"
    with (
        dask.config.set(settings),
        _forked(),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
            scheduler_kwargs={"dashboard": False},
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _forked() -> Iterator[None]:
    """Let new processes start with everything imported; end the process that forks them."""
    context = get_mp_context()
    if context.get_start_method() != "forkserver":
        yield
        return
    context.set_forkserver_preload(["distributed", *_IMPORTED])
    try:
        yield
    finally:
        from multiprocessing.forkserver import _forkserver

        _forkserver._stop()


@contextmanager
def both_there(client: Client, seconds: float = 120.0) -> Iterator[Client]:
    """Make a client the active one, when workers that were killed have been replaced."""
    client.wait_for_workers(2, timeout=seconds)
    with client.as_current():
        yield client


def on_dask() -> Any:
    """Joblib's context that says so."""
    return joblib.parallel_config(backend="dask")


def pids(client: Client) -> list[int]:
    """Of the workers that are there; one that was killed may still be asked for a moment."""
    end = time.monotonic() + 60.0
    while True:
        try:
            return sorted(client.run(os.getpid).values())
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def kill(*workers: int) -> None:
    """End worker processes without a word of warning."""
    for pid in workers:
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows has the latter only


def is_idle(client: Client, seconds: float = 20.0) -> bool:
    """Whether the workers have nothing left to do, at the latest after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(client.processing().values()):
            return True
        time.sleep(0.05)
    return False
