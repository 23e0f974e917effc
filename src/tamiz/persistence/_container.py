"""The file around a model: a zip archive with a fixed set of members, each with its checksum.

::

    tamiz.json       what the file is, who wrote it, and size and SHA-256 of the members below
    tamiz.sha256     SHA-256 of tamiz.json
    model.json       the nodes
    arrays/0.npy     the arrays, numbered
    ...

Nothing is ever unpacked to disk. A member is read only if it is in the list of ``tamiz.json``, has
the size that is said there, and all of them together are within bounds. The checksums find damage;
they are no signature, and whoever can change the file can change them too.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import IO, Any

import numpy as np

from tamiz.persistence import _npy
from tamiz.persistence._errors import ModelFileError

FORMAT = "tamiz model"
VERSION = 1

HEADER, CHECKSUM, MODEL = "tamiz.json", "tamiz.sha256", "model.json"
MAX_HEADER = 1 << 26
MAX_MODEL = 1 << 30
_LARGE_MEMBER = 1 << 30


def write(
    file: IO[bytes],
    about: dict[str, Any],
    model: dict[str, Any],
    arrays: list[np.ndarray],
    compress: bool,
) -> None:
    """Write a model; the same model gives the same bytes."""
    text = _to_json(model)
    members: dict[str, tuple[Any, ...]] = {MODEL: (text,)}
    for i, array in enumerate(arrays):
        members[f"arrays/{i}.npy"] = _npy.pack(array)
    listed = {
        name: {"size": sum(map(len, parts)), "sha256": _digest(parts)}
        for name, parts in members.items()
    }
    header = _to_json({"format": FORMAT, "version": VERSION, **about, "members": listed})
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        _add(archive, HEADER, (header,), False)
        _add(archive, CHECKSUM, (_digest((header,)).encode(),), False)
        for name, parts in members.items():
            _add(archive, name, parts, compress)


def _to_json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def _digest(parts: tuple[Any, ...]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()


def _add(archive: zipfile.ZipFile, name: str, parts: tuple[Any, ...], compress: bool) -> None:
    info = zipfile.ZipInfo(name)  # dated 1980, like all
    info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    info.external_attr = 0o644 << 16
    info.file_size = sum(map(len, parts))
    with archive.open(info, "w", force_zip64=info.file_size > _LARGE_MEMBER) as member:
        for part in parts:
            member.write(part)


class Container:
    """An open model file; its header is read and checked at once, the rest when asked for.

    Parameters
    ----------
    file : binary file
        The file, at its beginning.
    size : int
        Its size.
    """

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._archive = zipfile.ZipFile(file)
        self._size = size
        self._infos = {info.filename: info for info in self._archive.infolist()}
        if HEADER not in self._infos or CHECKSUM not in self._infos:
            raise ModelFileError("it is a zip archive, but not a model of tamiz.")
        header, checksum = self._infos[HEADER], self._infos[CHECKSUM]
        if header.file_size > MAX_HEADER or checksum.file_size != 64:
            raise ModelFileError("its header does not have a possible size.")
        data = self._archive.read(header)
        if self._archive.read(checksum) != _digest((data,)).encode():
            raise _damaged(HEADER)
        self.header = _from_json(data)
        if not isinstance(self.header, dict) or self.header.get("format") != FORMAT:
            raise ModelFileError("it does not say that it is a model of tamiz.")
        self._check_version()

    def _check_version(self) -> None:
        version = self.header.get("version")
        if type(version) is not int or version < 1:
            raise ModelFileError(f"it has no proper format version ({version!r:.40}).")
        if version > VERSION:
            raise ModelFileError(
                f"it has format version {version}, and this tamiz reads up to version {VERSION}; "
                f"it was written by tamiz {self.header.get('tamiz')!s:.40}. Install that version "
                "or a later one."
            )

    def read(self, max_bytes: int) -> tuple[dict[str, Any], list[np.ndarray]]:
        """The nodes and the arrays, after all checks."""
        members = self.header.get("members")
        if not isinstance(members, dict) or MODEL not in members:
            raise ModelFileError("its list of members is missing.")
        self._check_members(members, max_bytes)
        model = _from_json(self._bytes(MODEL, members[MODEL]))
        if not isinstance(model, dict) or set(model) != {"nodes", "root"}:
            raise ModelFileError("its table of nodes is missing.")
        names = [f"arrays/{i}.npy" for i in range(len(members) - 1)]
        if set(names) != set(members) - {MODEL}:
            raise ModelFileError("its arrays are not numbered one after the other.")
        return model, [self._read_array(name, members[name]) for name in names]

    def _check_members(self, members: dict[str, Any], max_bytes: int) -> None:
        names = {HEADER, CHECKSUM, *members}
        if len(self._infos) != len(self._archive.infolist()) or names != set(self._infos):
            strange = sorted(names ^ set(self._infos))[:1]
            raise ModelFileError(
                f"its members are not those that its header lists ({strange}); nothing of it was "
                "unpacked."
            )
        packed = unpacked = 0
        for name, info in self._infos.items():
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ModelFileError(f"its member {name!r:.60} is compressed in an unknown way.")
            if name in members and not _describes(members[name], info.file_size):
                raise ModelFileError(f"its member {name!r:.60} does not have the size it says.")
            packed += info.compress_size
            unpacked += info.file_size
        if self._infos[MODEL].file_size > MAX_MODEL:
            raise ModelFileError("its table of nodes is too large to be one.")
        if packed > self._size:
            raise ModelFileError("its members overlap, as in an archive made to do harm.")
        # what is not compressed takes in memory what it takes on disk
        if unpacked > max(max_bytes, self._size):
            raise ModelFileError(
                f"it has {self._size:,} bytes and would unpack to {unpacked:,}, more than "
                f"max_bytes={max_bytes:,}. If you trust it, pass a larger max_bytes."
            )

    def _bytes(self, name: str, listed: dict[str, Any]) -> bytes:
        data = self._archive.read(self._infos[name])
        if len(data) != listed["size"] or _digest((data,)) != listed["sha256"]:
            raise _damaged(name)
        return data

    def _read_array(self, name: str, listed: dict[str, Any]) -> np.ndarray:
        with self._archive.open(self._infos[name]) as member:
            hashed = _Hashed(member)
            array = _npy.unpack(hashed, listed["size"])
            if hashed.read(1) or hashed.total.hexdigest() != listed["sha256"]:
                raise _damaged(name)
        return array


def _describes(listed: Any, size: int) -> bool:
    return isinstance(listed, dict) and listed.get("size") == size and "sha256" in listed


def _from_json(data: bytes) -> Any:
    try:
        return json.loads(data.decode("ascii"), parse_constant=_no_constant)
    except RecursionError:
        raise ModelFileError("its text is nested too deeply to be a model.") from None
    except ValueError as error:
        raise ModelFileError(f"its text is not JSON ({error!s:.100}).") from None


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _damaged(name: str) -> ModelFileError:
    return ModelFileError(f"it is damaged: the checksum of {name} does not agree.")


class _Hashed:
    """Hashes what is read."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.total = hashlib.sha256()

    def read(self, n: int = -1, /) -> bytes:
        data: bytes = self._source.read(n)
        self.total.update(data)
        return data
