"""Model files of any content: taken apart, changed, and put together with checksums that agree."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import tamiz


def forge(
    path: Path,
    nodes: Iterable[Any] = (),
    root: Any = None,
    arrays: Iterable[bytes] = (),
    *,
    header: Mapping[str, Any] | None = None,
    extra: Mapping[str, bytes] | None = None,
    text: bytes | None = None,
    deflate: Iterable[str] = (),
) -> Path:
    """Write any content in a proper container, with checksums that agree.

    ``header`` replaces fields of it, ``extra`` adds members that it does not list, ``text`` is
    written in the place of nodes and root; members that ``deflate`` names are compressed.
    """
    model = text or json.dumps({"root": root, "nodes": list(nodes)}).encode()
    members = {"model.json": model, **{f"arrays/{i}.npy": data for i, data in enumerate(arrays)}}
    about = {
        "format": "tamiz model",
        "version": 1,
        "tamiz": tamiz.__version__,
        "members": {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in members.items()
        },
        **(header or {}),
    }
    top = json.dumps(about).encode()
    digest = hashlib.sha256(top).hexdigest().encode()
    packed = set(deflate)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {"tamiz.json": top, "tamiz.sha256": digest, **members}.items():
            kind = zipfile.ZIP_DEFLATED if name in packed else zipfile.ZIP_STORED
            archive.writestr(name, data, kind)
        for name, data in (extra or {}).items():
            archive.writestr(name, data)
    return path


def content(path: Path) -> tuple[list[Any], Any, list[bytes]]:
    """Nodes, root and arrays of a file."""
    with zipfile.ZipFile(path) as archive:
        model = json.loads(archive.read("model.json"))
        count = sum(name.startswith("arrays/") for name in archive.namelist())
        arrays = [archive.read(f"arrays/{i}.npy") for i in range(count)]
        return model["nodes"], model["root"], arrays


def npy(array: Any) -> bytes:
    """An array as a file of NumPy's; objects in it are pickled."""
    data = io.BytesIO()
    np.save(data, array, allow_pickle=True)
    return data.getvalue()


THINGS = [None, -1, 0, 1e308, 2**70, "", "os.system", "x" * 50, [], {}, [0], [3], [[1]], True]


def spots(value: Any) -> list[tuple[Any, Any]]:
    """Every place in JSON, as the container that holds it and the key in it."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            found.append((part, key))
            if isinstance(part[key], (dict, list)):
                waiting.append(part[key])
    return found


def scrambled(value: Any, chance: Random) -> Any:
    """JSON with one thing in it replaced by another."""
    places = spots(value)
    part, key = chance.choice(places)
    other, name = chance.choice(places)
    part[key] = copy.deepcopy(chance.choice([*THINGS, other[name]]))
    return value


def miscounted(value: Any, chance: Random) -> Any:
    """JSON with one integer in it, such as a size, changed."""
    places = [(part, key) for part, key in spots(value) if type(part[key]) is int]
    if places:
        part, key = chance.choice(places)
        n = part[key]
        part[key] = chance.choice([n + 1, n - 1, -1, 0, 2 * n + 1, 10**6, 2**31, 2**62, -(2**31)])
    return value


def bent(array: np.ndarray, chance: Random) -> np.ndarray:
    """An array with other values, another shape or another type."""
    array = array.copy()
    how = chance.randrange(8)
    if how == 0:
        return array[: chance.randrange(len(array) + 1)] if array.ndim else array[None]
    if how == 1:
        return array.reshape(-1)[:: chance.choice([1, 2, -1])]
    if how == 2:
        return array.T if array.ndim > 1 else np.stack([array, array])
    if how == 3:
        kind = chance.choice(["<f8", "<f4", "<i8", "<i4", "|b1", "<c16", "<u1", ">f8"])
        try:
            with np.errstate(all="ignore"):
                return array.astype(kind)
        except (TypeError, ValueError):
            return np.zeros(array.shape, kind)
    if array.size == 0 or array.dtype.kind not in "biuf":
        return np.zeros(chance.randrange(4), array.dtype)
    flat = array.reshape(-1)
    for _ in range(chance.choice([1, 1, 3, array.size])):
        at = chance.randrange(array.size)
        if array.dtype.kind == "f":
            flat[at] = chance.choice([np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1e-320, 2.0**53])
        elif array.dtype.kind == "b":
            flat[at] = not flat[at]
        else:
            limits = np.iinfo(array.dtype)
            wild = [limits.max, limits.min, -1, 0, int(flat[at]) + 1, int(flat[at]) - 1, 10**6]
            flat[at] = min(max(chance.choice(wild), limits.min), limits.max)
    return flat.reshape(array.shape)
