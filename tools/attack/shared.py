"""Two processes on one file: each is right or refused, and the file is whole at any time."""

from __future__ import annotations

import contextlib
import functools
import shutil
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tools.attack.children import Child, run
from tools.attack.jobs import jobs, same, write_table
from tools.attack.kills import load_here, run_noted
from tools.attack.runner import Campaign
from tools.attack.signals import prepared, program

REFUSED = ("is in use by another run", "exists already")
SAVES = 12


class SharedFile(Campaign):
    """Two runs with one checkpoint or journal, two that save a model, two with one ``--out``.

    Of two runs with one checkpoint one must end with its answer; the other may, or is refused in
    a sentence; afterwards the file can be resumed. A model that is read while two processes save
    theirs is one of the two; the last file of two commands is that of one of them.
    """

    count = 300
    short = 1
    seconds = 240.0
    memory = 16 << 30
    apart = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs = jobs()
        self.whole: dict[str, Any] = {}
        self.ready = False

    def attempt(self, seed: int) -> str:
        folder = self.folder / f"t{seed}"
        folder.mkdir()
        try:
            turn = seed // 3
            if seed % 3 == 0:
                return _models(folder, turn) if turn % 2 else self._outputs(folder, turn)
            names = list(self.jobs)
            number = 2 * turn + seed % 3 - 1
            return self._runs(names[number % len(names)], folder, Random(seed))
        finally:
            shutil.rmtree(folder)

    def _runs(self, name: str, folder: Path, chance: Random) -> str:
        job, path = self.jobs[name], folder / "run"
        if name not in self.whole:
            load_here(job, self.folder / f"{name}.here")
            began = time.monotonic()
            answer, _ = run(functools.partial(run_noted, job, folder / "whole", False), folder)
            self.whole[name] = answer, time.monotonic() - began
            (folder / "whole").unlink()
        whole, seconds = self.whole[name]
        write_table(folder / "table.csv")  # commands that begin at the same time would both do it
        delay = chance.choice([0.0, 0.0, chance.random() * seconds])
        children = []
        for k in range(2):
            other = folder / f"cwd{k}"  # commands keep their own copies of other files
            other.mkdir()
            resume = bool(k) and chance.random() < 0.7
            children.append(Child(functools.partial(run_noted, job, path, resume), other))
            time.sleep(delay)
        for child in children:
            child.wait()
        right = 0
        for child in children:
            fine, answer = child.answer
            if fine:
                assert same(answer[0], whole), f"{name}: another answer"
                right += 1
            else:
                said = f"{answer} {child.err}"
                assert any(words in said for words in REFUSED), f"{name}: {said[-400:]}"
            child.forget()
        assert right, f"{name}: both were refused"
        left = [file.name for file in folder.iterdir() if file.name.endswith(".new")]
        assert not left, f"{name}: left behind: {left}"
        again, _ = run(functools.partial(run_noted, job, path, True), folder)
        assert same(again, whole), f"{name}: another answer from the file that is left"
        return "both ended" if right == 2 else "one ended, one refused"

    def _outputs(self, folder: Path, turn: int) -> str:
        if not self.ready:
            prepared(self.folder)
            self.ready = True
        names = ("one", "two")
        rows = (self.folder / "table.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        expected = []
        for k, name in enumerate(names):
            (folder / f"{name}.csv").write_text("".join(rows[: 20 + 20 * k]), encoding="utf-8")
            shutil.copy(self.folder / "model.tamiz", folder)
            run(
                program(["predict", "model.tamiz", f"{name}.csv", "--out", f"{name}.out.csv"]),
                folder,
            )
            expected.append((folder / f"{name}.out.csv").read_bytes())
        commands = [
            ["predict", "model.tamiz", f"{name}.csv", "--out", "both.csv"] for name in names
        ]
        children = [Child(program(command), folder) for command in commands]
        seen = 0
        while any(child.poll() is None for child in children):
            with contextlib.suppress(FileNotFoundError):
                assert (folder / "both.csv").read_bytes() in expected, "half a file was seen"
                seen += 1
            time.sleep(0.0005)
        for child in children:
            assert child.wait() == 0, child.err
            child.forget()
        assert (folder / "both.csv").read_bytes() in expected
        assert not [file for file in folder.iterdir() if file.name.endswith(".new")]
        return "outputs whole"


def _models(folder: Path, turn: int) -> str:
    """Two processes save, this one reads."""
    from tamiz import load

    path = folder / "model.tamiz"
    children = [
        Child(functools.partial(_save, path, 10.0**k, 40 + 300 * k), folder) for k in (0, 1)
    ]
    read = 0
    while any(child.poll() is None for child in children):
        with contextlib.suppress(FileNotFoundError):
            found = load(path)
            read += 1
            assert found.n_features_in_ == (40 if found.C == 1.0 else 340), "a mixture was read"
        time.sleep(0.001)
    for child in children:
        assert child.wait() == 0, child.err
        child.forget()
    assert load(path).C in (1.0, 10.0)
    assert [file.name for file in folder.iterdir()] == ["model.tamiz"]
    return "models whole"


def _save(path: Path, C: float, width: int) -> None:
    from tamiz import SVC, save

    y = np.arange(20) % 2
    model = SVC(C=C).fit(np.random.default_rng(0).normal(size=(20, width)) + y[:, None], y)
    for _ in range(SAVES):
        save(model, path)
