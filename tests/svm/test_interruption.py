"""Stopped early, by a limit or by Ctrl-C: the point is feasible, said to be early, and predicts."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tamiz.runtime.progress import Progress
from tamiz.svm import SVC, SVDD, SVR, OneClassSVM
from tests.calls import interrupted
from tests.conftest import Screen

ROOT = Path(__file__).resolve().parent.parent.parent
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
LABELS = RNG.integers(0, 2, size=300)
THREE = RNG.integers(0, 3, size=300)
C = 10.0


# ------------------------------------------------------------------------------- a limit


@pytest.mark.parametrize("solver", ["smo", "decomposition", "chunking"])
@pytest.mark.parametrize("steps", [0, 1, 7, 40])
def test_classifier_at_its_limit(solver, steps):
    machine = SVC(C=C, kernel="linear", solver=solver, max_iter=steps)
    with pytest.warns(ConvergenceWarning, match=rf"SVC: .*max_iter={steps} .*raise max_iter") as w:
        machine.fit(X, LABELS)
    assert w[0].filename == __file__  # the line of the user, not one of ours
    assert machine.status_ == "max_iter"
    assert machine.kkt_violation_ > machine.tol
    assert machine.n_iter_ <= max(1, steps)
    alpha = machine.alpha_
    assert (alpha >= 0).all() and (alpha <= C).all()
    assert alpha @ np.where(LABELS == 1, 1.0, -1.0) == pytest.approx(0.0, abs=1e-9)
    assert machine.objective_ - machine.dual_objective_ == pytest.approx(machine.duality_gap_)
    assert set(machine.predict(X)) <= {0, 1}


@pytest.mark.parametrize("loss", ["linear", "squared"])
def test_regression_at_its_limit(loss):
    machine = SVR(C=C, kernel="linear", loss=loss, max_iter=5)
    with pytest.warns(ConvergenceWarning, match=r"SVR: .*max_iter=5"):
        machine.fit(X, X[:, 0] + RNG.normal(size=300))
    assert machine.status_ == "max_iter"
    alpha = machine.alpha_
    assert (alpha >= 0).all() and (loss == "squared" or (alpha <= C).all())
    assert alpha[0].sum() == pytest.approx(alpha[1].sum())
    assert np.isfinite(machine.predict(X)).all()


@pytest.mark.parametrize(
    ("machine", "total"), [(SVDD(max_iter=3), 1.0), (OneClassSVM(max_iter=3), 150.0)]
)
def test_novelty_at_its_limit(machine, total):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3"):
        machine.fit(X)
    assert machine.status_ == "max_iter"
    assert machine.alpha_.min() >= 0.0
    assert machine.alpha_.sum() == pytest.approx(total)
    assert set(machine.predict(X)) <= {-1, 1}


def test_more_steps_come_no_further_from_the_optimum():
    dual = []
    for steps in (1, 10, 100, 1000):
        with pytest.warns(ConvergenceWarning):
            machine = SVC(C=C, tol=1e-9, max_iter=steps).fit(X, LABELS)
        dual.append(machine.dual_objective_)
    assert dual == sorted(dual)
    best = SVC(C=C, tol=1e-9).fit(X, LABELS).dual_objective_
    assert dual[-1] <= best * (1 + 1e-9)


def test_every_machine_of_several_is_counted():
    with pytest.warns(ConvergenceWarning, match="3 of 3 solvers"):
        machine = SVC(C=C, max_iter=2).fit(X, THREE)
    assert machine.status_ == ["max_iter"] * 3


# ------------------------------------------------------------------------------- Ctrl-C

OUTSIDE = "smo"
CASES = {
    "smo": "SVC(gamma=.001, C=1e5, tol=1e-9, solver='smo')",
    "decomposition": "SVC(gamma=.001, C=1e5, tol=1e-9, solver='decomposition', cache_mb=20)",
    "chunking": "SVC(gamma=.001, C=1e5, tol=1e-9, solver='chunking')",
    "three classes": "SVC(gamma=.001, C=1e5, tol=1e-9)",
    "regression": "SVR(gamma=.001, C=1e5, tol=1e-9)",
    "pegasos": "PegasosClassifier(max_iter=10**7, random_state=0)",
}

PROGRAM = """
import json, os, signal, sys, threading, time, warnings
import numpy as np
import tamiz.svm
from sklearn.base import clone
from tamiz.runtime.progress import Progress

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
two, three = rng.integers(0, 2, size=2000), rng.integers(0, 3, size=2000)
values = X[:, 0] + rng.normal(size=2000)
from_outside = sys.argv[2]  # the fit that the parent interrupts; the others do it themselves

running = threading.Event()
update = Progress.update
def watched(self, message):
    running.set()  # the solver is at work
    update(self, message)
Progress.update = watched

def press():
    running.wait()
    time.sleep(0.1)
    signal.raise_signal(signal.SIGINT)

def wait_for_parent():
    running.wait()
    print("RUNNING", flush=True)

for name, text in json.loads(sys.argv[1]).items():
    machine = eval(text, {k: getattr(tamiz.svm, k) for k in tamiz.svm.__all__})
    y = values if name == "regression" else three if name == "three classes" else two
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(machine).set_params(max_iter=1).fit(X, y)  # compiles
    running.clear()
    thread = threading.Thread(target=wait_for_parent if name == from_outside else press)
    thread.start()
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine.fit(X, y)
    seconds = time.perf_counter() - started
    thread.join()
    alpha = getattr(machine, "alpha_", np.zeros((1, 2000)))
    alpha = alpha.toarray() if hasattr(alpha, "toarray") else np.asarray(alpha)
    signs = np.where(y == 1, 1.0, -1.0)
    if name == "regression":
        balance = [float(alpha[0].sum() - alpha[1].sum())]
    elif name == "three classes":
        pairs = [(0, 1), (0, 2), (1, 2)]
        balance = [float(a[y == j].sum() - a[y == i].sum()) for a, (i, j) in zip(alpha, pairs)]
    else:
        balance = [float(alpha.ravel() @ signs)]
    print("ANSWER" + json.dumps({
        "name": name,
        "status": machine.status_,
        "low": float(alpha.min()), "high": float(alpha.max()), "balance": balance,
        "finite": bool(np.isfinite(machine.predict(X).astype(float)).all()),
        "warnings": [f"{w.category.__name__}: {w.message}" for w in caught],
        "seconds": seconds,
    }), flush=True)
"""


@functools.cache
def interrupted_fits():
    """All cases in one process, each interrupted while its solver is at work.

    The first is interrupted from outside, as by a terminal, where a system can do that.
    """
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    outside = OUTSIDE if os.name != "nt" else ""  # Windows has no SIGINT for other processes
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(CASES), outside],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            if outside:
                assert process.stdout.readline() == "RUNNING\n"
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 0, err
    marked = [line.removeprefix("ANSWER") for line in out.splitlines() if "ANSWER" in line]
    return {answer["name"]: answer for answer in map(json.loads, marked)}


def assert_usable(answer):
    statuses = answer["status"]
    assert set([statuses] if isinstance(statuses, str) else statuses) == {"interrupted"}
    assert answer["low"] >= 0.0 and answer["high"] <= 1e5
    assert np.abs(answer["balance"]).max() <= 1e-9 * 1e5 * 2000
    assert answer["finite"]
    assert answer["seconds"] < 30.0  # left alone, each of them takes longer
    (warning,) = answer["warnings"]
    assert warning.startswith("ConvergenceWarning") and "interrupted" in warning


@pytest.mark.parametrize("name", CASES)
def test_interrupted_machines_are_usable(name):
    assert_usable(interrupted_fits()[name])


def test_an_interrupted_refit_before_the_solver_starts_keeps_the_earlier_one():
    machine = SVC().fit(X, LABELS)
    before = machine.predict(X)
    with interrupted(SVC, "_gram_matrix"), pytest.raises(KeyboardInterrupt):
        machine.fit(X[:, :2], THREE)
    np.testing.assert_array_equal(machine.predict(X), before)


# ------------------------------------------------------------------------------- progress


@pytest.fixture
def stderr_of(clock):
    """Standard error of a fit during which the clock moves by so many seconds at every look."""

    def fit(verbose, tty, seconds):
        clock.step = seconds
        with redirect_stderr(Screen(tty)) as stream:
            SVC(C=100.0, tol=1e-6, verbose=verbose).fit(X, LABELS)
        return stream.getvalue()

    return fit


def test_progress_appears_when_asked_for_and_slow(stderr_of):
    shown = stderr_of(verbose=1, tty=True, seconds=3)
    assert "steps, KKT violation" in shown
    assert shown.endswith("\r")  # and is removed at the end
    assert "steps, KKT violation" in stderr_of(verbose=2, tty=False, seconds=3)


@pytest.mark.parametrize(
    ("verbose", "tty", "seconds"),
    [(0, True, 3), (0, False, 3), (1, True, 0), (2, False, 0), (1, False, 3)],
    ids=["not asked", "not asked, file", "quick", "quick, file", "file"],
)
def test_otherwise_it_does_not(stderr_of, verbose, tty, seconds):
    assert stderr_of(verbose, tty, seconds) == ""


def test_nothing_goes_to_standard_output(capsys):
    with Progress("fitting", verbose=2, delay=0.0) as progress:
        progress._last -= 10.0
        progress.update("half-way")
    out, err = capsys.readouterr()
    assert out == ""
    assert "fitting: half-way" in err


def test_the_first_two_seconds_are_silent(clock):
    with redirect_stderr(Screen(terminal=True)) as stream:
        progress = Progress("fitting", verbose=1)
        clock.now = 1.9
        progress.update("early")
        assert stream.getvalue() == ""
        clock.now = 2.1
        progress.update("late")
        assert "late" in stream.getvalue()
