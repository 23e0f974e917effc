"""Which reader a file needs, judged by its extension, else by its first bytes."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tamiz.data.column import Table
from tamiz.data.errors import DataError, listed
from tamiz.data.plan import Options, Plan

#: Kind of file -> module and function that reads it, and its extensions.
FORMATS = {
    "csv": ("tamiz.data.delimited", "read_delimited", (".csv", ".tsv", ".tab", ".txt", ".data")),
    "parquet": ("tamiz.data.parquet", "read_parquet", (".parquet", ".pq")),
    "arff": ("tamiz.data.arff", "read_arff", (".arff",)),
    "libsvm": ("tamiz.data.libsvm", "read_libsvm", (".libsvm", ".svm", ".svmlight")),
    "npz": ("tamiz.data.npz", "read_npz", (".npz", ".npy")),
}
ALSO = {"tsv": "csv", "svmlight": "libsvm", "pq": "parquet"}

_LIBSVM = re.compile(rb"\s*[-+\d.eE]+(,[-+\d.eE]+)*(\s+\d+:\S+)+\s*(#.*)?$")


def read_file(path: Path, shown: str, options: Options, kind: str | None) -> tuple[Table, Plan]:
    """Read a file of any known kind."""
    try:
        kind = _kind(path, shown, kind)
        module, function, _ = FORMATS[kind]
        if options.transpose:
            if kind != "csv":
                raise DataError(f"{shown}: transpose=True reads text tables only, as csv or tsv.")
            module, function = "tamiz.data.transposed", "read_transposed"
        reader: Callable[..., tuple[Table, Plan]] = getattr(import_module(module), function)
        return reader(path, shown, options)
    except PermissionError:
        raise DataError(f"{shown} may not be read by this user; change its permissions.") from None
    except OSError as error:
        why = error.strerror or " ".join(str(error).split())
        raise DataError(f"{shown} cannot be read ({why}); check the file and its disk.") from None
    except MemoryError:
        raise DataError(
            f"{shown} does not fit into memory; read part of it with columns= or nrows=."
        ) from None


def stem(path: Path) -> str:
    """The name of a file without folder and extensions."""
    name = path.name
    for suffix in reversed(path.suffixes):
        if suffix.lower() in _EXTENSIONS or suffix.lower() == ".gz":
            name = name[: -len(suffix)]
        else:
            break
    return name or path.name


_EXTENSIONS = {ending: kind for kind, (_, _, endings) in FORMATS.items() for ending in endings}


def _kind(path: Path, shown: str, told: str | None) -> str:
    if told is not None:
        kind = ALSO.get(told, told)
        if kind not in FORMATS:
            raise DataError(f"format={told!r} is not known; use one of {listed(FORMATS)}.")
        return kind
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in _EXTENSIONS:
        return _EXTENSIONS[suffixes[-1]]
    found = sniff(path)
    if found is None:
        raise DataError(
            f"The kind of {shown} is not known by its extension; name it with format=, for "
            "instance format='csv'."
        )
    return found


def sniff(path: Path) -> str | None:
    """The kind of a file by its first bytes, where they leave no doubt."""
    with open(path, "rb") as file:
        start = file.read(4096)
    if start[:2] == b"\x1f\x8b":
        try:
            with gzip.open(path, "rb") as unpacked:
                start = unpacked.read(4096)
        except (OSError, EOFError, zlib.error):
            return None
    if start[:4] == b"PAR1":
        return "parquet"
    if start[:6] == b"\x93NUMPY":
        return "npz"
    lines = [line for line in start.split(b"\n")[:-1] if line.strip()] or [start]
    first = next((line for line in lines if not line.lstrip().startswith((b"%", b"#"))), b"")
    if first.strip().lower().startswith(b"@relation"):
        return "arff"
    if all(_LIBSVM.match(line) for line in lines[:20]):
        return "libsvm"
    return None
