"""Damaged tables of every kind, opened in every way: a data set, or one sentence."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any

import tamiz
from tamiz.data import DataError, Dataset, DataWarning
from tools.attack.damage import damaged
from tools.attack.runner import Campaign
from tools.attack.tables import FILES, FORMS, bundled

LONGEST = 500  # letters of a message

#: Ways to open a file; the first is the usual one, and is taken more often.
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"nrows": 7, "encode": None, "target": 0},
    {"target": False, "encode": "onehot"},
    {"in batches": True},
)


class Readers(Campaign):
    """Files as they come: bits flipped, ends lost, pieces twice, another encoding."""

    count = 100_000
    short = 300
    memory = 1 << 30

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.files: dict[str, bytes] = {}
        for name, make in {**FILES, **FORMS, **bundled()}.items():
            with contextlib.suppress(ImportError):  # of what is not installed, nothing is read
                self.files[name] = make()

    def attempt(self, seed: int) -> str:
        name = list(self.files)[seed % len(self.files)]
        way = WAYS[seed // len(self.files) % len(WAYS)]
        path = self.folder / f"t{seed}.{name}"
        path.write_bytes(damaged(self.files[name], seed))
        try:
            return self._opened(path, way)
        finally:
            path.unlink()

    def _opened(self, path: Path, way: dict[str, Any]) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what a user sees is a DataWarning, nothing else
            warnings.simplefilter("ignore", DataWarning)
            try:
                if "in batches" in way:
                    rows = sum(part.X.shape[0] for part in tamiz.scale.batches(path, target=False))
                    assert rows >= 0
                    return "read"
                found = tamiz.data.load(path, **way)
            except DataError as error:
                check_sentence(str(error), path)
                return "refused"
        assert isinstance(found, Dataset)
        assert found.X.shape == (found.n_samples, len(found.feature_names))
        return "read"


def check_sentence(text: str, path: Path) -> None:
    """One line that names the file, ends like a sentence and can be read on a screen."""
    assert path.name in text, f"does not name the file: {text[:200]}"
    assert "\n" not in text, f"has line ends: {text[:200]!r}"
    assert text.endswith((".", "?")), f"does not end: {text[-200:]}"
    assert len(text) < LONGEST, f"{len(text)} letters long: {text[:100]}"
