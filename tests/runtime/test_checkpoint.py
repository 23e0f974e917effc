"""Checkpoints: whole or not at all, and never taken up by another run."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from tamiz import SVC
from tamiz.runtime.checkpoint import Checkpoint, digest, identity, open_checkpoint
from tamiz.validation import DamagedFileError


class Run(BaseEstimator):
    def __init__(self, C=1.0, kernel="rbf", checkpoint=None, resume=False, n_jobs=None, verbose=0):
        self.C = C
        self.kernel = kernel
        self.checkpoint = checkpoint
        self.resume = resume
        self.n_jobs = n_jobs
        self.verbose = verbose


X = np.arange(12.0).reshape(4, 3)


def test_a_state_comes_back_as_it_was(tmp_path):
    path = tmp_path / "run.npz"
    first = open_checkpoint(Run(checkpoint=path), X)
    assert first is not None and first.state is None
    first.save({"order": np.array([2, 0]), "names": np.array(["a", "ñ"]), "seed": 7}, now=True)
    second = open_checkpoint(Run(checkpoint=path, resume=True, n_jobs=2, verbose=1), X)
    assert second.state["order"].tolist() == [2, 0]
    assert second.state["names"].tolist() == ["a", "ñ"]
    assert int(second.state["seed"]) == 7
    assert os.listdir(tmp_path) == ["run.npz"]


def test_states_are_not_written_too_often(tmp_path):
    keeper = Checkpoint(tmp_path / "run.npz", {}, every=1000.0)
    keeper.save({"a": 1})
    assert not keeper.path.exists()
    keeper.save({"a": 1}, now=True)
    assert keeper.path.exists()


@pytest.mark.parametrize(
    ("other", "data", "word"),
    [
        (Run(C=2.0), X, "C was 1.0, and is 2.0"),
        (Run(kernel="linear"), X, "kernel was 'rbf'"),
        (Run(), X + 1, "data are not the same"),
        (Run(), X.astype(np.float32), "data are not the same"),
        (Run(), X.reshape(3, 4), "data are not the same"),
    ],
)
def test_another_run_is_refused(tmp_path, other, data, word):
    path = tmp_path / "run.npz"
    open_checkpoint(Run(checkpoint=path), X).save({"a": 1}, now=True)
    with pytest.raises(ValueError, match=word):
        open_checkpoint(other.set_params(checkpoint=path, resume=True), data)


def test_an_existing_file_is_not_overwritten(tmp_path):
    path = tmp_path / "precious.csv"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="resume=True"):
        open_checkpoint(Run(checkpoint=path), X)
    with pytest.raises(ValueError, match="no checkpoint of tamiz"):
        open_checkpoint(Run(checkpoint=path, resume=True), X)
    assert path.read_text(encoding="utf-8") == "mine"


def test_every_truncation_is_recognised(tmp_path):
    path = tmp_path / "run.npz"
    open_checkpoint(Run(checkpoint=path), X).save({"a": np.arange(50)}, now=True)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"damaged|no checkpoint"):
            open_checkpoint(Run(checkpoint=path, resume=True), X)


def test_no_changed_byte_gives_another_state_or_a_foreign_error(tmp_path):
    path = tmp_path / "run.npz"
    state = {"order": np.arange(50), "names": np.array(["a", "ñ"]), "none": np.empty((0, 3))}
    open_checkpoint(Run(checkpoint=path), X).save(state, now=True)
    whole, refused = path.read_bytes(), 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            found = open_checkpoint(Run(checkpoint=path, resume=True), X).state
        except DamagedFileError:
            refused += 1
            continue
        for name, array in state.items():  # a date, or a comment of the archive
            np.testing.assert_array_equal(found[name], array)
    assert refused > len(whole) // 2


SAVE = """
import sys, numpy as np
from tamiz.runtime.checkpoint import Checkpoint
keeper = Checkpoint(sys.argv[1], {}, resume=True, every=0.0)
print("ready", flush=True)
sys.stdin.readline()
for k in range(100):
    keeper.save({"k": k, "all": np.full(20000, k)})
"""


@pytest.mark.ours
def test_two_processes_with_one_checkpoint_do_not_break_each_other(tmp_path):
    path = tmp_path / "run.npz"
    command = [sys.executable, "-c", SAVE, str(path)]
    both = [
        subprocess.Popen(command, **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE))
        for _ in range(2)
    ]
    for process in both:
        process.stdout.readline()
    for process in both:
        process.stdin.write(b"\n")
        process.stdin.flush()
    while not path.exists():
        time.sleep(0.001)
    while any(process.poll() is None for process in both):
        state = Checkpoint(path, {}, resume=True).state  # never half a file
        assert (state["all"] == state["k"]).all()
    said = [process.communicate()[1].decode() for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], said
    assert "is in use by another run. Wait for its end" in "".join(said)
    assert int(Checkpoint(path, {}, resume=True).state["k"]) == 99
    assert os.listdir(tmp_path) == ["run.npz"]


def test_a_file_that_another_run_put_there_is_not_replaced(tmp_path):
    path = tmp_path / "run.npz"
    one, two = (Checkpoint(path, {}, every=0.0) for _ in range(2))
    one.save({"a": 1})
    with pytest.raises(ValueError, match="in use by another run"):
        two.save({"a": 2})
    one.save({"a": 3})
    later = Checkpoint(path, {}, resume=True, every=0.0)
    later.save({"a": 4})
    with pytest.raises(ValueError, match="in use by another run"):
        one.save({"a": 5})
    path.unlink()
    later.save({"a": 6})
    assert int(Checkpoint(path, {}, resume=True).state["a"]) == 6
    assert os.listdir(tmp_path) == ["run.npz"]


def test_a_foreign_archive_and_pickles_are_refused(tmp_path):
    path = tmp_path / "foreign.npz"
    np.savez(path, a=np.arange(3))
    with pytest.raises(ValueError, match="no checkpoint of tamiz"):
        open_checkpoint(Run(checkpoint=path, resume=True), X)
    np.savez(path, __header__=np.array([{"format": "tamiz checkpoint"}], dtype=object))
    with pytest.raises(ValueError, match="no checkpoint of tamiz"):
        open_checkpoint(Run(checkpoint=path, resume=True), X)


def test_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        patch.setattr("tamiz.runtime.checkpoint.VERSION", 99)
        open_checkpoint(Run(checkpoint=path), X).save({"a": 1}, now=True)
    with pytest.raises(ValueError, match="version 99"):
        open_checkpoint(Run(checkpoint=path, resume=True), X)


def test_folders_that_do_not_exist_and_resume_without_a_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        open_checkpoint(Run(checkpoint=tmp_path / "no" / "run.npz"), X)
    with pytest.raises(ValueError, match="checkpoint=path"):
        open_checkpoint(Run(resume=True), X)
    assert open_checkpoint(Run(), X) is None


def test_a_full_disk_leaves_the_previous_state(tmp_path, full_disk):
    path = tmp_path / "run.npz"
    keeper = open_checkpoint(Run(checkpoint=path), X)
    keeper.save({"a": 1}, now=True)
    full_disk("fsync")
    with pytest.raises(OSError, match=r"could not be written \(No space left"):
        keeper.save({"a": 2}, now=True)
    assert os.listdir(tmp_path) == ["run.npz"]
    again = open_checkpoint(Run(checkpoint=path, resume=True), X)
    assert int(again.state["a"]) == 1


@pytest.mark.ours
def test_a_killed_process_leaves_a_whole_state(tmp_path):
    path = tmp_path / "run.npz"
    code = f"""
        import numpy as np
        from tamiz.runtime.checkpoint import Checkpoint
        keeper = Checkpoint({str(path)!r}, {{}}, every=0.0)
        k = 0
        while True:
            k += 1
            keeper.save({{"k": k, "all": np.full(20000, k)}})
    """
    for wait in (0.05, 0.15):
        path.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
        while not path.exists():
            time.sleep(0.01)
        time.sleep(wait)
        process.kill()
        process.wait()
        state = Checkpoint(path, {}, resume=True).state
        assert (state["all"] == state["k"]).all()


def test_fingerprints():
    assert digest(X) == digest(X.copy(order="F"))
    assert digest(X, X) != digest(np.vstack([X, X]))
    assert digest(np.array(["a", None], dtype=object)) != digest(np.array(["a", "b"], dtype=object))
    assert identity(Run(kernel=max), X)["kernel"] == "builtins.max"


def said(value):
    return identity(Run(kernel=value), X)["kernel"]


class Mute:
    def __init__(self, k):
        self.k = k


def test_what_repr_hides_is_told_apart():
    long = np.arange(5000) % 5
    other_long = np.where(np.arange(5000) == 2500, 3, long)
    for one, other in (
        (np.random.RandomState(1), np.random.RandomState(2)),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (
            ShuffleSplit(random_state=np.random.RandomState(1)),
            ShuffleSplit(random_state=np.random.RandomState(2)),
        ),
        (KFold(3), KFold(5)),
        (PredefinedSplit(long), PredefinedSplit(other_long)),
        (Mute(3), Mute(5)),
        ([(long, long)], [(long, long[::-1])]),
        ({"a": 1}, {"a": 2}),
    ):
        assert said(one) != said(other)
    assert said(np.random.RandomState(1)) == said(np.random.RandomState(1))
    assert said(Mute(3)) == said(Mute(3))
    with pytest.raises(ValueError, match="read only once"):
        said(iter([1, 2]))


def test_the_workers_of_a_nested_estimator_do_not_matter():
    one, two = (Run(kernel=KNeighborsClassifier(n_jobs=jobs)) for jobs in (1, 2))
    assert identity(one, X) == identity(two, X)
    other = Run(kernel=KNeighborsClassifier(n_neighbors=3))
    assert identity(one, X) != identity(other, X)


def test_the_device_does_not_matter():
    assert "device" not in identity(SVC(device="cuda"), X)
    one, two = (Run(kernel=SVC(device=device)) for device in ("cuda", None))
    assert identity(one, X) == identity(two, X)


def test_functions_are_the_same_in_another_process():
    code = """
        from tamiz.runtime.checkpoint import stable_text
        f = lambda name: name in {"alpha", "beta", "gamma", "delta"} or name == {"x": 1}
        print(stable_text(f), stable_text(frozenset("abcdef")))
    """
    code = textwrap.dedent(code)
    with contextlib.redirect_stdout(io.StringIO()) as here:
        exec(compile(code, "<string>", "exec", dont_inherit=True), {"__name__": "__main__"})
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # another order of sets
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == here.getvalue() != ""


def power(k):
    return lambda a, b: (a @ b.T) ** k


def test_functions_are_told_apart_by_what_they_do():
    functions = [
        lambda a, b: a @ b.T,
        lambda a, b: a @ b.T + 1,
        lambda a, b: a @ b.T + 2,
        lambda a, b, c=1: a @ b.T + c,
        lambda a, b, c=2: a @ b.T + c,
        power(2),
        power(3),
        np.add,
        np.subtract,
        str.split,
        str.lower,
    ]
    said = [identity(Run(kernel=f), X)["kernel"] for f in functions]
    assert len(set(said)) == len(functions)
    assert identity(Run(kernel=power(2)), X) == identity(Run(kernel=power(2)), X)
