"""Little memory: the job is done, or a sentence says that it cannot be, and the process lives.

A child of this process gets a limit of address space (``ulimit -v``) at one of ten levels above
what it has, runs one job on a table of some size, and then a small one to show that it is well.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import tamiz
from tamiz.validation import NotEnoughMemoryError
from tools.attack.runner import Campaign

#: Bytes that a child may take beyond what it has.
LEVELS = tuple(1 << k for k in range(20, 30))
PATIENCE = 100.0


def table(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, four of whose features differ."""
    draw = np.random.default_rng(21)
    y = np.arange(n) % 2
    X = draw.normal(size=(n, p))
    X[:, :4] += y[:, None]
    return X, y


def sparse_table(n: int, p: int) -> tuple[Any, np.ndarray]:
    """The same, sparse: what needs a dense copy must ask for it first."""
    draw = np.random.default_rng(22)
    at = draw.integers(n, size=3 * n), draw.integers(p, size=3 * n)
    return sparse.csr_matrix((draw.random(3 * n), at), shape=(n, p)), np.arange(n) % 2


class Job(NamedTuple):
    """What is done with the data that ``make`` gives for a number of rows and columns."""

    run: Callable[[Any], Any]
    make: Callable[[int, int], Any]
    shape: tuple[int, int]
    small: tuple[int, int] = (60, 8)


def fitted(make: Callable[[], Any], data: Any) -> Any:
    """Fit and use."""
    X, y = data
    model = make().fit(X, y)
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def jobs(folder: Path) -> dict[str, Job]:
    """Name -> job."""
    svm, tree, filters, embedded = tamiz.svm, tamiz.tree, tamiz.filters, tamiz.embedded
    long: dict[str, Any] = {
        "SVC": partial(svm.SVC, max_iter=2000),
        "SVC linear": partial(svm.SVC, kernel="linear", max_iter=500),
        "KNNClassifier": tamiz.neighbors.KNNClassifier,
        "ReliefF": filters.ReliefF,
        "PegasosClassifier": partial(svm.PegasosClassifier, max_iter=2, random_state=0),
        "LinearMachine": svm.LinearMachine,
        "CARTClassifier": partial(tree.CARTClassifier, max_depth=4),
        "ForestClassifier": partial(tree.ForestClassifier, 8, random_state=0),
        "BoostingClassifier": partial(tree.BoostingClassifier, n_estimators=5),
    }
    for name in ("FisherScore", "AUCScore", "MRMR", "InformationGain", "CFS", "QPFS"):
        long[name] = getattr(filters, name)
    wide: dict[str, Any] = {
        "LinearMachine wide": svm.LinearMachine,
        "L1SVM wide": embedded.L1SVM,
        "SVMRFE wide": partial(embedded.SVMRFE, 2, step=0.5),
    }
    spread: dict[str, Any] = {
        "LinearMachine sparse": svm.LinearMachine,
        "SVC sparse": partial(svm.SVC, max_iter=200),
        "MRMR sparse": filters.MRMR,
    }
    found: dict[str, Job] = {}
    for k, (name, make) in enumerate(long.items()):
        found[name] = Job(partial(fitted, make), table, (3_000, 20) if k < 4 else (20_000, 30))
    for name, make in wide.items():
        found[name] = Job(partial(fitted, make), table, (300, 5_000), (60, 80))
    for name, make in spread.items():
        found[name] = Job(partial(fitted, make), sparse_table, (4_000, 3_000))
    found["tamiz.data.load"] = Job(tamiz.data.load, partial(written, folder), (100_000, 3))
    return found


def written(folder: Path, n: int, p: int) -> Path:
    """A file of so many rows."""
    path = folder / f"{n}.csv"
    if not path.exists():
        rows = (",".join([*["0.5"] * (p - 1), "ab"[i % 2]]) for i in range(n))
        head = ",".join(f"c{j}" for j in range(p))
        path.write_text("\n".join([head, *rows]), encoding="utf-8")
    return path


def in_child(connection: Any, job: Job, room: int) -> None:
    """Run a job with little memory, then a small one; send what happened."""
    import resource

    warnings.simplefilter("ignore")
    data = job.make(*job.shape)
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + room
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        job.run(data)
        outcome = "done"
    except NotEnoughMemoryError as error:
        text = str(error)
        outcome = "refused" if text.endswith(".") and " " in text else f"no sentence: {text}"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {error}"
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        job.run(job.make(*job.small))
    except BaseException as error:
        outcome += f"; and then {type(error).__name__}: {error}"
    connection.send(outcome)
    connection.close()


class Memory(Campaign):
    """One job at one of ten levels."""

    count = 10 * 22
    short = 4
    apart = True
    needs = "/proc/self/statm"
    seconds = 2 * PATIENCE
    memory = 1 << 40  # the limits are those of the children

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs = jobs(folder)
        self.names = list(self.jobs)
        self.warm: set[str] = set()

    def attempt(self, seed: int) -> str:
        name = self.names[seed % len(self.names)]
        job, room = self.jobs[name], LEVELS[seed // len(self.names) % len(LEVELS)]
        if name not in self.warm:
            # Libraries are loaded, functions compiled; at the full size, since other code may be at
            # work there, and the C library ends a process without memory for a library's own data.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                job.run(job.make(*job.shape))
            self.warm.add(name)
        start = multiprocessing.get_context("fork")
        here, there = start.Pipe()
        child = start.Process(target=in_child, args=(there, job, room), daemon=True)
        child.start()
        there.close()
        try:
            assert here.poll(PATIENCE), f"{name} does not end with {room:,} bytes"
            outcome: str = here.recv()
        except EOFError:
            child.join(PATIENCE)
            raise AssertionError(f"{name} died ({child.exitcode}) with {room:,} bytes") from None
        finally:
            child.join(5.0)
            if child.is_alive():
                child.kill()
            here.close()
        assert outcome in ("done", "refused"), f"{name} with {room:,} bytes: {outcome}"
        return outcome
