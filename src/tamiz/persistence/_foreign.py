"""What a file is that is not a model of tamiz, told from its first bytes."""

from __future__ import annotations

import zipfile
from pathlib import Path

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
