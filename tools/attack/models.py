"""Model files that were damaged or forged: refused in a sentence, or a model that does no harm."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import tamiz
from tamiz.persistence import ModelFileError, ModelFileWarning
from tools.attack.damage import damaged
from tools.attack.forge import bent, content, forge, miscounted, npy, scrambled
from tools.attack.readers import check_sentence
from tools.attack.runner import Campaign
from tools.attack.zoo import use, zoo


class Saved(NamedTuple):
    """A file, what is in it, and rows to use its model on."""

    raw: bytes
    text: str
    arrays: list[bytes]
    rows: Any


class Models(Campaign):
    """Files with damaged bytes; and with changed fields, sizes and arrays, checksums repaired.

    What is still loaded is used: with bounds checked by numba (NUMBA_BOUNDSCHECK=1), an index out
    of an array is a failure even where it happens to hit something.
    """

    count = 100_000
    short = 150
    memory = 1 << 30

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.makers = zoo()
        self.names = list(self.makers)
        self.made: dict[str, Saved] = {}
        self.path = folder / "m.tamiz"

    def attempt(self, seed: int) -> str:
        chance = Random(seed)
        raw, text, arrays, rows = self._model(self.names[seed % len(self.names)])
        kind = seed // len(self.names) % 5
        if kind == 0:
            self.path.write_bytes(damaged(raw, seed))
            return self._used(rows)
        model = json.loads(text)
        if kind == 1:
            for _ in range(chance.choice([1, 1, 3])):
                model = scrambled(model, chance)
        elif kind == 2:
            for _ in range(chance.choice([1, 1, 2])):
                model = miscounted(model, chance)
        else:
            arrays = list(arrays)
            for _ in range(chance.choice([1, 1, 2]) if arrays else 0):
                at = chance.randrange(len(arrays))
                arrays[at] = npy(bent(np.load(io.BytesIO(arrays[at])), chance))
        forge(self.path, text=json.dumps(model).encode(), arrays=arrays)
        return self._used(rows)

    def _model(self, name: str) -> Saved:
        """The file of a model; it is fitted when it is asked for the first time."""
        if name not in self.made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model, rows = self.makers[name]()
            tamiz.save(model, self.path)
            nodes, root, arrays = content(self.path)
            text = json.dumps({"nodes": nodes, "root": root})
            self.made[name] = Saved(self.path.read_bytes(), text, arrays, rows)
        return self.made[name]

    def _used(self, rows: Any) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ModelFileWarning)
            try:
                model = tamiz.load(self.path)
            except ModelFileError as error:
                check_sentence(str(error), self.path)
                return "refused"
        return "loaded and used" if use(model, rows) else "loaded, and of no use"
