"""Runs that were killed and taken up again end as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import json, os, random, signal, sys, time, warnings
import numpy as np
import tamiz.runtime.checkpoint as checkpoint
from sklearn.base import BaseEstimator
from tamiz.discovery import Knockoffs, Shadows, StabilitySelection
from tamiz.filters import PearsonScore

warnings.simplefilter("ignore")
checkpoint.Checkpoint.save.__kwdefaults__["now"] = True  # not every few seconds only
folder = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 12))
y = (X[:, 0] + X[:, 1] + rng.normal(size=60) > 0).astype(int)


class Slow(PearsonScore):
    def fit(self, X, y, **beside):
        time.sleep(0.004)
        return super().fit(X, y, **beside)


Slow.__module__ = "tamiz.filters"  # several workers are threads then, and start at once

def statistic(A, B, y):
    time.sleep(0.01)
    return np.abs(A.T @ (y - 0.5)) - np.abs(B.T @ (y - 0.5))


KINDS = {
    "halves": lambda **k: StabilitySelection(Slow(), n_subsamples=40, random_state=0, **k),
    "knockoffs": lambda **k: Knockoffs(statistic, n_draws=15, fdr=0.5, random_state=0, **k),
    "shadows": lambda **k: Shadows(Slow(), max_rounds=40, random_state=0, **k),
}


def told(found):
    state = [found.support_.tolist(), found.order_.tolist(), found.scores_.tolist()]
    more = getattr(found, "entry_sizes_", getattr(found, "draws_", getattr(found, "hits_", None)))
    return [*state, np.asarray(more).tolist()]


def child(name, path, n_jobs):
    pid = os.fork()
    if pid == 0:
        KINDS[name](checkpoint=path, resume=os.path.exists(path), n_jobs=n_jobs).fit(X, y)
        os._exit(0)
    return pid


random.seed(int(sys.argv[2]))
killed, held, wrong = 0, dict.fromkeys(KINDS, 0), []
for name, make in KINDS.items():
    truth = told(make().fit(X, y))
    whole = {}  # seconds of a run that nobody kills, by its number of workers
    for n_jobs in (1, 2):
        began = time.perf_counter()
        os.waitpid(child(name, os.path.join(folder, f"{name}-whole-{n_jobs}"), n_jobs), 0)
        whole[n_jobs] = time.perf_counter() - began
    for k in range(6):
        first, second, last = [(1, 1, 1), (2, 2, 2), (1, 2, 1)][k % 3]  # workers
        path = os.path.join(folder, f"{name}-{k}")
        for n_jobs in (first, second):
            pid = child(name, path, n_jobs)
            time.sleep(random.uniform(0.1, 0.7) * whole[n_jobs])
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            killed += os.WIFSIGNALED(status)
        held[name] += os.path.exists(path)
        again = make(checkpoint=path, resume=os.path.exists(path), n_jobs=last).fit(X, y)
        if told(again) != truth:
            wrong.append(path)
print(json.dumps({"killed": killed, "held": held, "wrong": wrong}))
"""


@pytest.mark.ours
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks")
def test_kills_at_random_moments(tmp_path):
    """One program that starts its fits, of one worker or two, as processes and kills these.

    How many are killed before they end depends on how fast the machine is from one moment to the
    next, so that a third of the 36 will do.
    """
    seed = 0
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(seed)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    report = json.loads(done.stdout)
    assert report["killed"] >= 12, report
    assert min(report["held"].values()) >= 2, report  # there was something to go on from
    assert report["wrong"] == [], f"seed {seed}"
