"""Several at once: four threads, and children forked or started anew after a fit of the parent.

The same estimators are fitted and used in four threads at the same time, each on data of its own;
what comes out must be what comes out one after the other, to the last digit. Children must give the
answers of their parent, and end.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tools.attack.estimators import Subject, subjects
from tools.attack.runner import Campaign
from tools.attack.zoo import USES

THREADS = 4
PATIENCE = 60.0  # seconds that a child may take, on a machine that is busy


def data(subject: Subject, seed: int) -> tuple[Any, np.ndarray]:
    """Samples that the estimator takes, and a target that is labels and numbers alike."""
    draw = np.random.default_rng([20, seed])
    y = np.arange(24) % 2
    X = draw.normal(size=(24, 4)) + 9.0 * y[:, None]
    if subject.table == "gram":
        return np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2)), y
    if subject.table == "texts":
        return ["".join(draw.choice(list("ab"), size=6)) + "abab"[: 1 + k] for k in y], y
    if str(subject.quick.get("metric")) == "mixed":
        X[:, 0] = np.arange(24) % 3
    return X, y


def answers(subject: Subject, seed: int, model: Any = None) -> bytes:
    """Fit, unless a fitted model is given, and all that it says of its rows."""
    X, y = data(subject, seed)
    with np.errstate(all="ignore"):
        if model is None:
            model = subject.make(**subject.quick).fit(X, y)
        found = [np.asarray(getattr(model, use)(X)) for use in USES if hasattr(model, use)]
    for name in ("scores_", "support_"):
        if hasattr(model, name):
            found.append(np.asarray(getattr(model, name)))
    return pickle.dumps([(one.dtype.str, one.shape, one.tobytes()) for one in found])


def in_child(connection: Any, name: str, seed: int, fitted: bytes | Any) -> None:
    """Use the parent's model and fit one anew; send both answers."""
    warnings.simplefilter("ignore")
    subject = subjects()[name]
    model = pickle.loads(fitted) if isinstance(fitted, bytes) else fitted
    connection.send([answers(subject, seed, model), answers(subject, seed)])
    connection.close()


class _Together(Campaign):
    """Every estimator in turn."""

    count = 1_500
    seconds = 3 * PATIENCE

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.subjects = subjects()
        self.names = list(self.subjects)

    def about(self, seed: int) -> str:
        return self.names[seed % len(self.names)]


class Threads(_Together):
    """Four threads, each with an estimator of the same kind and data of its own."""

    short = 20

    def attempt(self, seed: int) -> str:
        subject = self.subjects[self.names[seed % len(self.names)]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._threads(subject, seed)
        return "the same"

    def _threads(self, subject: Subject, seed: int) -> None:
        seeds = range(seed, seed + THREADS)
        found: dict[int, Any] = {}
        ready = threading.Barrier(THREADS)

        def work(k: int) -> None:
            ready.wait()
            try:
                found[k] = answers(subject, k)
            except Exception as error:
                found[k] = error

        threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(found) == THREADS, "a thread does not end"
        for k in seeds:
            if isinstance(found[k], Exception):
                raise found[k]
            assert found[k] == answers(subject, k), "another answer than one after the other"


class Forks(_Together):
    """A forked child; in every fifth round of all estimators, one that is started anew."""

    short = 10
    apart = True

    def attempt(self, seed: int) -> str:
        method = "spawn" if seed // len(self.names) % 5 == 4 else "fork"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._child(self.names[seed % len(self.names)], seed, method)

    def _child(self, name: str, seed: int, method: str) -> str:
        subject = self.subjects[name]
        X, y = data(subject, seed)
        model: Any = subject.make(**subject.quick).fit(X, y)
        expected = answers(subject, seed, model)
        start: Any = multiprocessing.get_context(method)
        here, there = start.Pipe()
        if method == "spawn":
            model = _pickled(model)
        child = start.Process(target=in_child, args=(there, name, seed, model), daemon=True)
        child.start()
        there.close()
        try:
            assert here.poll(PATIENCE), f"the child ({method}) does not answer"
            try:
                used, anew = here.recv()
            except EOFError:
                child.join(PATIENCE)
                raise AssertionError(f"the child ended with {child.exitcode}") from None
            child.join(PATIENCE)
            assert child.exitcode == 0, f"the child ended with {child.exitcode}"
        finally:
            if child.is_alive():
                child.kill()
            here.close()
        assert used == expected, "the child says something else of the parent's model"
        assert anew == expected, "the child's own fit is another one"
        return method


def _pickled(model: Any) -> Any:
    """As bytes; what cannot be pickled is passed as nothing, and fitted anew by the child."""
    try:
        return pickle.dumps(model)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
