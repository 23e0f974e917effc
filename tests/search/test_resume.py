"""Runs that were killed and taken up again end as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer

from tamiz.runtime.checkpoint import identity
from tamiz.search import (
    BackwardElimination,
    BestFirst,
    ExhaustiveSearch,
    ForwardSelection,
    SimulatedAnnealing,
)
from tests.search.cases import ROOT, Table, selected

ALL = pytest.mark.parametrize(
    "search", [ForwardSelection, BackwardElimination, ExhaustiveSearch, BestFirst]
)

PROGRAM = """
import json, os, random, signal, sys, time
import numpy as np
from tamiz.search import BackwardElimination, BestFirst, ExhaustiveSearch, ForwardSelection

folder = sys.argv[1]
X = np.tile(np.arange(7.0), (4, 1))
y = np.array([0, 1, 0, 1])
values = np.random.default_rng(0).random(128)


def J(Z, _):
    time.sleep(0.003)
    return values[sum(1 << int(j) for j in Z[0])]


SEARCHES = {
    "forward": lambda **k: ForwardSelection(criterion=J, floating=True, **k),
    "backward": lambda **k: BackwardElimination(criterion=J, **k),
    "exhaustive": lambda **k: ExhaustiveSearch(criterion=J, **k),
    "best_first": lambda **k: BestFirst(criterion=J, direction="both", patience=8, **k),
}


def told(found):
    path = [[s.action, list(s.features), s.n_features, s.value] for s in found.selection_.path]
    return [found.order_.tolist(), found.support_.tolist(), found.best_score_, path]


def child(name, path):
    pid = os.fork()
    if pid == 0:
        SEARCHES[name](checkpoint=path, resume=os.path.exists(path)).fit(X, y)
        os._exit(0)
    return pid


random.seed(int(sys.argv[2]))
kills, held, wrong = 0, [], []
length, truth = {}, {}
for name, make in SEARCHES.items():
    began = time.perf_counter()
    truth[name] = told(make().fit(X, y))
    length[name] = time.perf_counter() - began
while kills < 20:
    for name in SEARCHES:
        path = os.path.join(folder, f"{name}-{kills}")
        for _ in range(2):
            pid = child(name, path)
            time.sleep(random.uniform(0.0, 0.8 * length[name]))
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            kills += os.WIFSIGNALED(status)
        if os.path.exists(path):
            held.append(open(path).read().count("\\n") - 2)
        again = SEARCHES[name](checkpoint=path, resume=os.path.exists(path)).fit(X, y)
        if told(again) != truth[name]:
            wrong.append(path)
print(json.dumps({"kills": kills, "held": held, "wrong": wrong}))
"""


@pytest.mark.ours
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks")
def test_twenty_kills_at_random_moments(tmp_path):
    """One program that starts its searches as processes of its own and kills these."""
    seed = int.from_bytes(os.urandom(4), "big")
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(seed)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    report = json.loads(done.stdout)
    assert report["kills"] >= 20
    assert report["wrong"] == [], f"seed {seed}"
    assert max(report["held"]) > 5  # some were killed well on their way


def same(one, other):
    assert one.order_.tolist() == other.order_.tolist()
    assert one.support_.tolist() == other.support_.tolist()
    assert [s[:4] for s in one.selection_.path] == [s[:4] for s in other.selection_.path]
    assert one.best_score_ == other.best_score_


@ALL
@pytest.mark.parametrize("stop_after", [1, 6, 11])
def test_an_interrupted_run_is_taken_up(search, stop_after, tmp_path):
    file = tmp_path / "run"
    table = Table(5, 0, stop_after=stop_after)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        table.fit(search, checkpoint=file)
    table.stop_after = None
    resumed = table.fit(search, checkpoint=file, resume=True)
    assert len(table.asked) == len(set(table.asked))  # nothing was judged again
    same(resumed, table.fit(search))
    assert resumed.status_ == "finished"


def test_a_finished_run_judges_nothing_when_taken_up(tmp_path):
    file = tmp_path / "run"
    X, y = load_iris(return_X_y=True)
    first = ForwardSelection(GaussianNB(), checkpoint=file).fit(X, y)
    lines = file.read_text(encoding="utf-8").count("\n")
    again = ForwardSelection(GaussianNB(), checkpoint=file, resume=True).fit(X, y)
    same(first, again)
    assert file.read_text(encoding="utf-8").count("\n") == lines == first.n_evaluations_ + 2


def test_the_seed_of_random_splits_is_kept(tmp_path):
    """random_state=None: the run that is taken up meets the splits of the first."""
    X, y = load_iris(return_X_y=True)
    file = tmp_path / "run"
    params = {"cv": ShuffleSplit(3, test_size=0.4), "checkpoint": file}
    with pytest.warns(ConvergenceWarning, match="out of time"):
        ForwardSelection(GaussianNB(), time_budget=1e-9, **params).fit(X, y)
    held = json.loads(file.read_text(encoding="utf-8").splitlines()[2].partition(" ")[2])
    full = ForwardSelection(GaussianNB(), resume=True, **params).fit(X, y)
    again = ForwardSelection(GaussianNB(), resume=True, **params).fit(X, y)
    same(full, again)
    step = full.selection_.path[0]
    assert [step.features, step.value] == [tuple(held[0]), pytest.approx(np.mean(held[1][0]))]


@ALL
def test_a_run_with_other_parameters_is_refused(search, tmp_path):
    X, y = load_iris(return_X_y=True)
    file = tmp_path / "run"
    search(GaussianNB(), max_features=2, checkpoint=file).fit(X, y)
    with pytest.raises(FileExistsError, match="resume=True"):
        search(GaussianNB(), max_features=2, checkpoint=file).fit(X, y)
    for other, message in [
        ({"max_features": 3}, "max_features was 2, and is 3"),
        (
            {"estimator": GaussianNB(var_smoothing=0.1)},
            "estimator__var_smoothing was 1e-09, and is 0.1",
        ),
        ({"cv": 3}, "cv was 5, and is 3"),
        ({"scoring": "f1_macro"}, "scoring"),
        ({"fixed_features": [1]}, "fixed_features"),
    ]:
        params = {"estimator": GaussianNB(), "max_features": 2, "checkpoint": file, **other}
        with pytest.raises(ValueError, match=f"belongs to another run.*{message}"):
            search(**params, resume=True).fit(X, y)
    with pytest.raises(ValueError, match="the data are not the same"):
        search(GaussianNB(), max_features=2, checkpoint=file, resume=True).fit(X + 1, y)
    same_run = search(
        GaussianNB(), max_features=2, checkpoint=file, resume=True, time_budget=100.0, verbose=1
    )
    assert same_run.fit(X, y).support_.any()


def test_another_search_is_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    file = tmp_path / "run"
    ForwardSelection(GaussianNB(), checkpoint=file).fit(X, y)
    with pytest.raises(ValueError, match="method was ForwardSelection"):
        BackwardElimination(GaussianNB(), checkpoint=file, resume=True).fit(X, y)


def test_another_search_with_other_parameters_is_named_first(tmp_path):
    X, y = load_iris(return_X_y=True)
    file = tmp_path / "run"
    ForwardSelection(GaussianNB(), checkpoint=file).fit(X, y)
    sentence = "another run: method was ForwardSelection, and is SimulatedAnnealing"
    with pytest.raises(ValueError, match=sentence):
        SimulatedAnnealing(GaussianNB(), checkpoint=file, resume=True).fit(X, y)


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_is_no_file(tmp_path, resume):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(IsADirectoryError, match=r"is a folder; name a file, .*run\.journal"):
        ForwardSelection(GaussianNB(), checkpoint=tmp_path, resume=resume).fit(X, y)
    assert list(tmp_path.iterdir()) == []


def test_splits_and_functions_are_told_apart(tmp_path):
    """Long lists of splits whose printed form is the same; functions at another address."""
    rng = np.random.default_rng(0)
    X, y = rng.random((3000, 2)), np.arange(3000) % 2
    one, two = (list(StratifiedKFold(2, shuffle=True, random_state=s).split(X, y)) for s in (0, 1))
    mixed = [(one[0][0], two[0][1]), one[1]]
    said = [identity(ForwardSelection(cv=cv), X)["cv"] for cv in (one, two, mixed, list(one))]
    assert said[0] == said[3]
    assert len(set(said)) == 3
    function = identity(ForwardSelection(FunctionTransformer(np.log1p)), X)
    assert "0x" not in json.dumps(identity(ForwardSelection(FunctionTransformer(selected)), X))
    assert function != identity(ForwardSelection(FunctionTransformer(np.exp)), X)


def test_files_that_cannot_be_used(tmp_path):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        ForwardSelection(GaussianNB(), checkpoint=tmp_path / "no" / "run").fit(X, y)
    other = tmp_path / "notes.txt"
    other.write_text("milk, bread", encoding="utf-8")
    with pytest.raises(ValueError, match="is no journal of tamiz"):
        ForwardSelection(GaussianNB(), checkpoint=other, resume=True).fit(X, y)
    assert other.read_text(encoding="utf-8") == "milk, bread"
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    if not os.access(closed, os.W_OK):  # an administrator may write anywhere
        with pytest.raises(PermissionError, match="cannot be written to"):
            ForwardSelection(GaussianNB(), checkpoint=closed / "run").fit(X, y)
    with pytest.raises(OSError, match="checkpoint="):
        ForwardSelection(GaussianNB(), checkpoint=closed, resume=True).fit(X, y)


def test_a_journal_that_was_cut_is_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    file = tmp_path / "run"
    ForwardSelection(GaussianNB(), checkpoint=file).fit(X, y)
    content = file.read_bytes()
    file.write_bytes(content[:-10])
    with pytest.raises(ValueError, match="it was cut"):
        ForwardSelection(GaussianNB(), checkpoint=file, resume=True).fit(X, y)
    file.write_bytes(content + b"in flight when the power went")
    again = ForwardSelection(GaussianNB(), checkpoint=file, resume=True).fit(X, y)
    assert file.read_bytes() == content
    assert again.status_ == "finished"


class CutOnce(GaussianNB):
    """Ends as the machines of this package do at Ctrl-C in one fit: with what it has."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.status_ = ["finished", "interrupted"] if self.fits == 7 else "finished"
        return super().fit(X, y)


def test_a_subset_that_was_judged_by_half_a_machine_is_not_in_the_journal(tmp_path):
    CutOnce.fits = 0
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "journal"
    options = {"n_features_to_select": 2, "cv": 3, "checkpoint": path}
    with pytest.warns(UserWarning, match="interrupted"):
        cut = ForwardSelection(CutOnce(), **options).fit(X, y)
    assert cut.status_ == "interrupted"
    assert (
        len(path.read_text(encoding="utf-8").splitlines()) == 2 + 2
    )  # the third subset was under way
    again = ForwardSelection(CutOnce(), resume=True, **options).fit(X, y)
    whole = ForwardSelection(CutOnce(), n_features_to_select=2, cv=3).fit(X, y)
    assert again.order_.tolist() == whole.order_.tolist() and again.status_ == "finished"
