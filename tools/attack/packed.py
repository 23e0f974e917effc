"""Packed tables that were damaged or forged: refused in a sentence, or counted without harm."""

from __future__ import annotations

import json
import warnings
import zlib
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tamiz.filters import CFS, MRMR
from tamiz.information import PackedTable, encode, pack_table
from tamiz.validation import DamagedFileError
from tools.attack.damage import damaged
from tools.attack.forge import bent, miscounted, scrambled
from tools.attack.readers import check_sentence
from tools.attack.runner import Campaign

HEAD = 40  # bytes: a mark, then place, length and checksum of the index
ALIGNED = 64


class Written(NamedTuple):
    """A file, taken apart."""

    raw: bytes
    index: dict[str, Any]
    groups: list[list[np.ndarray]]  # bits, margins, columns and which of them vary
    y: np.ndarray


class Packed(Campaign):
    """Files with damaged bytes; and with changed indexes and arrays, their checksums repaired.

    A table that is opened is counted in every way: with bounds checked by numba
    (NUMBA_BOUNDSCHECK=1), an index out of an array is a failure even where it hits something. It
    must count as a table in memory does that has its codes.
    """

    count = 20_000
    short = 300
    memory = 1 << 30

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "wide.packed"
        self.made = [
            self._written(np.random.default_rng(k), n, missing, block)
            for k, (n, missing, block) in enumerate(
                [(130, "code", 7), (64, "ignore", 100), (70, "ignore", 5)]
            )
        ]

    def attempt(self, seed: int) -> str:
        chance = Random(seed)
        made = self.made[seed % len(self.made)]
        kind = seed // len(self.made) % 5
        if kind == 0:
            self.path.write_bytes(damaged(made.raw, seed))
            return self._counted(made.y)
        index, groups = json.loads(json.dumps(made.index)), [list(part) for part in made.groups]
        if kind == 1:
            index = scrambled(index, chance)
        elif kind == 2:
            for _ in range(chance.choice([1, 1, 2])):
                index = miscounted(index, chance)
        else:
            for _ in range(chance.choice([1, 1, 2])):
                _change(groups[chance.randrange(len(groups))], chance, kind == 3)
        self.path.write_bytes(_put_together(made.raw, index, groups))
        return self._counted(made.y)

    def _written(self, draw: Any, n: int, missing: str, block: int) -> Written:
        y = draw.integers(0, 3, n)
        X = draw.normal(size=(n, 16)) + np.where(np.arange(16) % 5 == 0, y[:, None], 0.0)
        X[:, 3] = 7.0
        X[draw.random(X.shape) < 0.03] = np.nan
        X[:, 8:12] = draw.integers(0, 40, (n, 4))
        blocks = [X[:, :8], X[:, 8:12] // 1, X[:, 12:]]
        with pack_table(iter(blocks), self.path, bins="width", missing=missing, block=block):
            raw = self.path.read_bytes()
        place, length = np.frombuffer(raw[16:32], "<u8").tolist()
        index = json.loads(raw[place : place + length])
        groups = [_arrays(raw, entry, n) for entry in index["groups"]]
        return Written(raw, index, groups, y)

    def _counted(self, y: np.ndarray) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)  # of columns like identifiers
            try:
                packed = PackedTable(self.path)
            except DamagedFileError as error:
                check_sentence(str(error), self.path)
                return "refused"
            with packed:
                _count(packed, y)
        return "counted"


def _count(packed: PackedTable, y: np.ndarray) -> None:
    n, p = packed.shape
    stored, codes = packed.as_codes(), packed.codes(np.arange(p))
    assert codes.shape == (n, p) and (codes.max(axis=0) == packed.n_levels - 1).all()
    target = np.resize(y, n)
    memory = encode(np.where(codes < 0, np.nan, codes), bins=None, missing="ignore")
    assert (stored.matrix() == memory.matrix()).all()
    assert (stored.n_known() == memory.n_known()).all()
    for measure in ("relevance", "contingency"):
        ours, theirs = getattr(stored, measure)(target), getattr(memory, measure)(target)
        assert all(np.array_equal(*pair) for pair in zip(ours, theirs, strict=True))
    assert (stored.conditional(0, target) == memory.conditional(0, target)).all()
    for selector in (MRMR(min(3, p)), CFS(bins="mean_std")):
        selector.fit(packed, target)


def _sizes(entry: list[int], n: int) -> list[tuple[tuple[int, ...], str]]:
    _, levels, columns, _ = entry
    words = -(-n // 64)
    return [
        ((levels, words, columns), "<u8"),
        ((levels, columns), "<u8"),
        ((columns,), "<i8"),
        ((columns,), "u1"),
    ]


def _arrays(raw: bytes, entry: list[int], n: int) -> list[np.ndarray]:
    """The arrays of a group, as the layout of the file says."""
    at, found = entry[0], []
    for shape, kind in _sizes(entry, n):
        part = np.frombuffer(raw, kind, int(np.prod(shape)), at).reshape(shape)
        found.append(part)
        at += -(-part.nbytes // ALIGNED) * ALIGNED
    return found


def _change(group: list[np.ndarray], chance: Random, wild: bool) -> None:
    """Other bits, counts or columns; ``wild``: of any value, else such as a table might have."""
    if wild:
        at = chance.randrange(4)
        changed = bent(group[at], chance)
        if changed.nbytes == group[at].nbytes:
            group[at] = changed
        return
    bits, margins = group[0].copy(), group[1].copy()
    levels, words, columns = bits.shape
    j = chance.randrange(columns)
    here, there = chance.randrange(levels), chance.randrange(levels)
    if chance.random() < 0.4:  # levels change their places
        bits[[here, there], :, j] = bits[[there, here], :, j]
        margins[[here, there], j] = margins[[there, here], j]
    elif chance.random() < 0.5:  # a level is gone
        bits[here, :, j] = 0
        margins[here, j] = 0
    else:  # a bit is set or not, and counted
        word = chance.randrange(words)
        bits[here, word, j] ^= np.uint64(1) << np.uint64(chance.randrange(64))
        margins[here, j] = sum(int(part).bit_count() for part in bits[here, :, j])
    group[0], group[1] = bits, margins


def _put_together(raw: bytes, index: Any, groups: list[list[np.ndarray]]) -> bytes:
    """The file again, with the index and the arrays as they are, and checksums that agree."""
    body = bytearray(raw[: int(np.frombuffer(raw[16:24], "<u8")[0])])
    entries = index.get("groups") if isinstance(index, dict) else None
    before = json.loads(raw[len(body) :])["groups"]
    for k, (entry, group) in enumerate(zip(before, groups, strict=True)):
        at = first = entry[0]
        for part in group:
            body[at : at + part.nbytes] = part.tobytes()
            at += -(-part.nbytes // ALIGNED) * ALIGNED
        total = zlib.crc32(bytes(body[first:at]))
        if isinstance(entries, list) and k < len(entries) and entries[k] == entry:
            entries[k] = [*entry[:3], total]
    text = json.dumps(index).encode()
    head = np.array([len(body), len(text), zlib.crc32(text)], "<u8").tobytes()
    return raw[:16] + head + bytes(body[HEAD:]) + text
