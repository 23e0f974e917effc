"""Damaged checkpoints and journals: refused in a sentence, or read as they were written."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.runtime.checkpoint import Checkpoint, Journal
from tools.attack.damage import damaged
from tools.attack.readers import check_sentence
from tools.attack.runner import Campaign

IDENTITY = {"method": "SVMRFE", "C": "1.0", "data": "0" * 64}
STATE = {
    "order": np.arange(30)[::-1],
    "values": np.linspace(0, 1, 30),
    "names": np.array(["a", "ñ", "long " * 9]),
    "seed": np.array(7),
    "nothing": np.empty((0, 3)),
}
RECORDS: list[Any] = [{"s": [1, 2], "v": [0.1, None]}, "ñ", [1.0000000000000002], {}, [[]]] * 4


class Checkpoints(Campaign):
    """Bytes of both kinds of file; and of the parts of an archive, its checksums repaired.

    A file that is read must hold what was written: all of it, or of a journal whose first line was
    not damaged, nothing less.
    """

    count = 100_000
    short = 600
    memory = 1 << 29

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "run"
        Checkpoint(self.path, IDENTITY, every=0.0).save(STATE)
        self.archive = self.path.read_bytes()
        self.path.unlink()
        with Journal(self.path, IDENTITY, facts={"seed": 7}) as journal:
            journal.append(RECORDS)
        self.journal = self.path.read_bytes()

    def attempt(self, seed: int) -> str:
        kind = seed % 3
        raw = self.journal if kind == 0 else self.archive
        made = damaged(raw, seed) if kind < 2 else _repacked(raw, seed)
        self.path.write_bytes(made)
        try:
            if kind == 0:
                with Journal(self.path, IDENTITY, resume=True) as journal:
                    found = journal.records, journal.facts
                assert found == (RECORDS, {"seed": 7}), "another journal was read"
            else:
                state = Checkpoint(self.path, IDENTITY, resume=True).state
                assert kind == 2 or _same(state, STATE), "another state was read"
        except ValueError as error:
            check_sentence(str(error), self.path)
            return f"{('journal', 'archive', 'forged archive')[kind]} refused"
        return f"{('journal', 'archive', 'forged archive')[kind]} read"


def _repacked(raw: bytes, seed: int) -> bytes:
    """An archive with one damaged part, and checksums that agree."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = sorted(parts)[seed // 3 % len(parts)]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, damaged(part, seed) if name == chosen else part)
    return buffer.getvalue()


def _same(one: Any, other: Any) -> bool:
    return list(one) == list(other) and all(
        one[name].dtype == other[name].dtype and np.array_equal(one[name], other[name])
        for name in other
    )
