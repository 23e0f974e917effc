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

What a model takes in memory is estimated before it is built, and counted against one
:class:`Budget`: a few kilobytes of text can stand for gigabytes of lists.

Arrays are written as .npy, header and values apart, so that neither side needs a second copy.
Reading trusts nothing: a header is a literal of at most a few kilobytes, its type must not hold
objects, and the size that it declares must be the size that is there before memory is taken.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy


class ModelFileError(ValueError):
    """A file is not a model of tamiz, is damaged, or holds what must not be loaded."""


class ModelFileWarning(UserWarning):
    """A model was written by another version; look at its answers before you trust them."""


FORMAT = "tamiz model"
VERSION = 1

HEADER, CHECKSUM, MODEL = "tamiz.json", "tamiz.sha256", "model.json"
MAX_HEADER = 1 << 26
MAX_MODEL = 1 << 30
_LARGE_MEMBER = 1 << 30
SPARE = 1 << 20  # bytes that any model may take, whatever max_bytes says
GROWTH = 4  # a file may take so many times its size: what is not compressed hides nothing
# bytes that a sign of a JSON text stands for in memory, at most: a list, a dict, a value; what is
# made of them is counted with them
_COSTS = {b"[": 160, b"{": 400, b",": 64}


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
        members[f"arrays/{i}.npy"] = pack(array)
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


class Budget:
    """Bytes of memory that a model may take, counted before anything is built.

    Parameters
    ----------
    max_bytes : int
        What the caller allows.
    size : int
        Size of the file.

    Attributes
    ----------
    limit, left : int
        All of it, and what has not been taken.
    """

    def __init__(self, max_bytes: int, size: int) -> None:
        self.max_bytes = max_bytes
        self.limit = self.left = max(max_bytes, GROWTH * size) + SPARE

    def take(self, n_bytes: int, what: str) -> None:
        """Count something that is about to be built."""
        self.left -= n_bytes
        if self.left < 0:
            raise self._too_much(what)

    def check_length(self, n: int, what: str) -> None:
        """Refuse a declared length if an array of so many numbers would be beyond the limit."""
        if 8 * n > self.limit:
            raise self._too_much(what)

    def _too_much(self, what: str) -> ModelFileError:
        return ModelFileError(
            f"{what} would take more memory than max_bytes={self.max_bytes:,} allows. If you trust "
            "it, pass a larger max_bytes."
        )


class Container:
    """An open model file; its header is read and checked at once, the rest when asked for.

    Parameters
    ----------
    file : binary file
        The file, at its beginning.
    size : int
        Its size.
    max_bytes : int
        What it may take in memory, unless the file itself is as large.

    Attributes
    ----------
    header : dict
        What ``tamiz.json`` says.
    budget : Budget
        What may still be built.
    """

    def __init__(self, file: IO[bytes], size: int, max_bytes: int) -> None:
        self._archive = zipfile.ZipFile(file)
        self._size = size
        self.budget = Budget(max_bytes, size)
        self._infos = {info.filename: info for info in self._archive.infolist()}
        if HEADER not in self._infos or CHECKSUM not in self._infos:
            raise ModelFileError("it is a zip archive, but not a model of tamiz.")
        header, checksum = self._infos[HEADER], self._infos[CHECKSUM]
        if header.file_size > MAX_HEADER or checksum.file_size != 64:
            raise ModelFileError("its header does not have a possible size.")
        if any(info.compress_type != zipfile.ZIP_STORED for info in (header, checksum)):
            raise ModelFileError("its header is compressed, which tamiz.save never does.")
        data = self._archive.read(header)
        if self._archive.read(checksum) != _digest((data,)).encode():
            raise _damaged(HEADER)
        self.header = _from_json(data, self.budget)
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

    def read(self) -> tuple[dict[str, Any], list[np.ndarray]]:
        """The nodes and the arrays, after all checks."""
        members = self.header.get("members")
        if not isinstance(members, dict) or MODEL not in members:
            raise ModelFileError("its list of members is missing.")
        self._check_members(members)
        model = _from_json(self._bytes(MODEL, members[MODEL]), self.budget)
        if not isinstance(model, dict) or set(model) != {"nodes", "root"}:
            raise ModelFileError("its table of nodes is missing.")
        names = [f"arrays/{i}.npy" for i in range(len(members) - 1)]
        if set(names) != set(members) - {MODEL}:
            raise ModelFileError("its arrays are not numbered one after the other.")
        return model, [self._read_array(name, members[name]) for name in names]

    def _check_members(self, members: dict[str, Any]) -> None:
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
        max_bytes = self.budget.max_bytes
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
        self.budget.take(listed["size"], f"its array {name}")
        with self._archive.open(self._infos[name]) as member:
            reader = MemberReader(member)
            array = unpack(reader, listed["size"])
            if reader.read(1) or reader.total.hexdigest() != listed["sha256"]:
                raise _damaged(name)
        return array


def _describes(listed: Any, size: int) -> bool:
    return isinstance(listed, dict) and listed.get("size") == size and "sha256" in listed


def _from_json(data: bytes, budget: Budget) -> Any:
    """The values of a text, if there is room for as many as it may hold."""
    counted = sum(cost * data.count(sign) for sign, cost in _COSTS.items())
    budget.take(len(data) + counted, "its text")
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


class MemberReader:
    """Counts and hashes what is read of a member."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.n = 0
        self.total = hashlib.sha256()

    def read(self, n: int = -1, /) -> bytes:
        data = self._source.read(n)
        self.n += len(data)
        self.total.update(data)
        return data


# -------------------------------------------------------------------------------------- arrays


KINDS = "?biufcSUmM"  # bool, integers, real and complex numbers, bytes, text, dates
CHUNK = 1 << 20


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether the values of a type are data that a file can hold as they are."""
    return dtype.kind in KINDS.replace("?", "") and dtype.names is None and not dtype.hasobject


def is_key_part(value: Any) -> bool:
    """Whether a value is plain and cannot be changed."""
    plain = (bool, int, float, complex, str, bytes)
    return value is None or type(value) in plain or isinstance(value, np.generic)


def pack(array: np.ndarray) -> tuple[bytes, memoryview]:
    """The header of the file of an array, and its values in the order that the header says."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    described = npy.header_data_from_array_1_0(array)
    header = io.BytesIO()
    npy.write_array_header_1_0(header, described)
    flat = array.reshape(-1, order="F" if described["fortran_order"] else "C")
    if not array.nbytes:
        return header.getvalue(), memoryview(b"")
    return header.getvalue(), flat.view(np.uint8).data  # dates have no buffer of their own


def unpack(source: MemberReader, size: int) -> np.ndarray:
    """Read one array from ``size`` bytes of a file."""
    try:
        version = npy.read_magic(source)
        if version != (1, 0):
            raise ValueError(f"version {version}")
        header = npy.read_array_header_1_0(source)
    except ValueError as error:
        raise ModelFileError(f"an array in it has no readable header ({error}).") from None
    shape, fortran, dtype = header
    if not is_plain(dtype):
        raise ModelFileError(
            f"an array in it has the type {dtype.str!r}, which can hold objects; only numbers, "
            "text and dates are loaded, nothing was run."
        )
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize != size - source.n:
        raise ModelFileError(
            f"an array in it declares the shape {shape} and type {dtype.str!r}, but has "
            f"{size - source.n:,} bytes."
        )
    array = np.empty(shape, dtype=dtype, order="F" if fortran else "C")
    if array.nbytes:
        room = array.reshape(-1, order="F" if fortran else "C").view(np.uint8).data
        _fill(room, source)
    return array


def _fill(room: memoryview, source: MemberReader) -> None:
    start = 0
    while start < len(room):
        piece = source.read(min(CHUNK, len(room) - start))
        if not piece:
            raise ModelFileError("an array in it ends too early.")
        room[start : start + len(piece)] = piece
        start += len(piece)


# ---------------------------------------------------------------------- files of other kinds


_NO_CODE = (
    "loading it would run code from the file, and tamiz does not run code from files. Load it with "
    "the tool that wrote it if you trust its origin, and save the model with tamiz.save."
)

# First bytes -> what begins like this.
_STARTS = (
    (b"\x1f\x8b", f"a gzip file, perhaps a compressed joblib dump: {_NO_CODE}"),
    (b"BZh", f"a bzip2 file, perhaps a compressed joblib dump: {_NO_CODE}"),
    (b"\xfd7zXZ", f"an xz file, perhaps a compressed joblib dump: {_NO_CODE}"),
    (b"\x04\x22\x4d\x18", f"an lz4 file, perhaps a compressed joblib dump: {_NO_CODE}"),
    (b"\x93NUMPY", "a NumPy array; load it with numpy.load."),
    (b"\x89HDF", "an HDF5 file, which tamiz does not load."),
    (b"PAR1", "a Parquet table; tamiz.data.load reads data, tamiz.load reads models."),
    (b'{"', "JSON text, which tamiz.load does not read."),
)
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


def what_is(path: Path, first: bytes, size: int) -> str | None:
    """A phrase that goes on from "it is ..."; None if the file may be a model."""
    if size == 0:
        return "empty: the model was never written, or the copy failed."
    if first[:1] == b"\x80" and first[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return f"a pickle (of joblib, too): {_NO_CODE}"
    if first[:1] in (b"(", b"]", b"}", b"c") and b"\n" in first[:200] and _ends_like_pickle(path):
        return f"a pickle of an old kind: {_NO_CODE}"
    if first[:2] in _ZLIB:
        return f"zlib data, perhaps a compressed joblib dump: {_NO_CODE}"
    for start, answer in _STARTS:
        if first.startswith(start):
            return answer
    if first.startswith(b"PK\x03\x04"):
        ours = first[30:40] == b"tamiz.json"  # the name of the first member
        return None if ours else _which_archive(path)
    return "not a model of tamiz, and of no kind that is recognised."


def _ends_like_pickle(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"."


def _which_archive(path: Path) -> str | None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except Exception:  # a damaged archive: the reader of models will say so
        return None
    if "tamiz.json" in names:
        return None
    if "schema.json" in names:
        return (
            "a skops file. Load it with skops.io.load if you trust the types that it lists, and "
            "save the model with tamiz.save."
        )
    if any(name.endswith(".pkl") for name in names):
        return f"a zip archive with a pickle inside: {_NO_CODE}"
    if names and all(name.endswith(".npy") for name in names):
        return "an archive of NumPy arrays (.npz); load it with numpy.load."
    return "a zip archive, but not a model of tamiz."
