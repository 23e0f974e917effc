"""The kinds of files, and which reader each needs: by its extension, else by its first bytes."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tamiz.data.errors import DataError
from tamiz.data.formats.base import Reader, unreadable
from tamiz.data.formats.text import PACKED
from tamiz.data.plan import Options
from tamiz.validation import (
    NotEnoughMemoryError,
    known_name,
    one_character,
    one_of,
    optional,
    spellings,
    text_encoding,
)

Opener = Callable[[Path, str, Options], Reader]

_LIBSVM = re.compile(rb"\s*[-+\d.eE]+(,[-+\d.eE]+)*(\s+\d+:\S+)+\s*(#.*)?$")


class Format(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    name : str
        As ``format=`` names it.
    extensions : tuple of str
        In lower case, with the point; ``.gz`` may follow.
    opener : str or callable
        Makes a :class:`~tamiz.data.formats.base.Reader` from a path, what the file is called in
        messages, and options; or ``module:function``, imported when needed.
    recognise : callable
        Whether the first bytes (unpacked, some thousand) leave no doubt that it is this kind.
    growth : float or None
        Bytes in memory for each byte on disk, of kinds that are not looked into; None if the
        reader knows better.
    also : str
        Another name of it for ``format=``.
    """

    name: str
    extensions: tuple[str, ...]
    opener: str | Opener
    recognise: Callable[[bytes], bool] = lambda start: False
    growth: float | None = None
    also: str = ""


FORMATS: dict[str, Format] = {}


def register_format(kind: Format) -> None:
    """Teach :func:`tamiz.data.load` and :func:`tamiz.scale.batches` another kind of file."""
    FORMATS[kind.name] = kind


def _by_name() -> dict[str, Format]:
    """The kinds by all names that ``format=`` takes."""
    also = {kind.also: kind for kind in FORMATS.values() if kind.also}
    return {**also, **FORMATS}


#: How a file is written, where a user says it.
WRITTEN: dict[str, Any] = {
    "format": optional(known_name(_by_name)),
    "separator": optional(one_character),
    "decimal": optional(one_of(".", ",")),
    "encoding": optional(text_encoding),
    "missing": optional(spellings),
}


def find_format(path: Path, shown: str, given: str | None = None) -> Format:
    """The kind of a file, as named by the user, by its extension, or by its first bytes."""
    if given is not None:
        return _by_name()[given]
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    for kind in FORMATS.values():
        if suffixes and suffixes[-1] in kind.extensions:
            return kind
    name = sniff(path)
    if name is None:
        raise DataError(
            f"The kind of {shown} is not known by its extension; name it with format=, for "
            "instance format='csv'."
        )
    return FORMATS[name]


def sniff(path: Path) -> str | None:
    """The name of the kind of a file by its first bytes, where they leave no doubt."""
    with open(path, "rb") as file:
        start = file.read(4096)
    if start[:2] == b"\x1f\x8b":
        try:
            with gzip.open(path, "rb") as unpacked:
                start = unpacked.read(4096)
        except (OSError, EOFError, zlib.error):
            return None
    return next((kind.name for kind in FORMATS.values() if kind.recognise(start)), None)


def open_file(path: Path, options: Options, given: str | None = None) -> Reader:
    """The reader of a file of any known kind."""
    kind = find_format(path, path.name, given)
    opener = kind.opener
    if options.transpose:
        if kind.name != "csv":
            raise DataError(f"{path.name}: transpose=True reads text tables only, as csv or tsv.")
        opener = "tamiz.data.formats.transposed:open_transposed"
    if options.n_features is not None and kind.name != "libsvm":
        raise DataError(f"n_features= belongs to LIBSVM files; {path.name} is none.")
    if isinstance(opener, str):
        module, _, function = opener.partition(":")
        opener = getattr(import_module(module), function)
    reader: Reader = opener(path, path.name, options)
    return reader


def table_bytes(path: Path, given: str | None = None) -> int:
    """Bytes that the table of a file takes in memory as float64 numbers, about."""
    kind = find_format(path, path.name, given)
    if kind.growth is None:
        return open_file(path, Options(target=False), given).bytes_in_memory() or 0
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return int(kind.growth * path.stat().st_size * (PACKED if packed else 1))


@contextmanager
def faults_said(shown: str) -> Iterator[None]:
    """Say in a sentence why a file cannot be read into memory."""
    try:
        yield
    except OSError as error:
        raise DataError(unreadable(shown, error)) from None
    except NotEnoughMemoryError:
        raise
    except MemoryError:
        raise DataError(
            f"{shown} does not fit into memory; read part of it with columns= or nrows=."
        ) from None


def stem(path: Path) -> str:
    """The name of a file without folder and extensions."""
    known = {".gz", *(ending for kind in FORMATS.values() for ending in kind.extensions)}
    name = path.name
    for suffix in reversed(path.suffixes):
        if suffix.lower() not in known:
            break
        name = name[: -len(suffix)]
    return name or path.name


def _lines(start: bytes) -> list[bytes]:
    """The first lines that hold anything."""
    return [line for line in start.split(b"\n")[:-1] if line.strip()] or [start]


def _is_arff(start: bytes) -> bool:
    first = next((one for one in _lines(start) if not one.lstrip().startswith((b"%", b"#"))), b"")
    return first.strip().lower().startswith(b"@relation")


def _is_libsvm(start: bytes) -> bool:
    return all(_LIBSVM.match(line) for line in _lines(start)[:20])


for _kind in (
    Format(
        "csv",
        (".csv", ".tsv", ".tab", ".txt", ".data"),
        "tamiz.data.formats.csv:CsvReader",
        also="tsv",
    ),
    Format(
        "parquet",
        (".parquet", ".pq"),
        "tamiz.data.formats.parquet:open_parquet",
        lambda start: start.startswith(b"PAR1"),
        also="pq",
    ),
    Format("arff", (".arff",), "tamiz.data.formats.arff:open_arff", _is_arff, growth=2.0),
    Format(
        "libsvm",
        (".libsvm", ".svm", ".svmlight"),
        "tamiz.data.formats.libsvm:LibsvmReader",
        _is_libsvm,
        growth=1.5,
        also="svmlight",
    ),
    Format(
        "npz",
        (".npz", ".npy"),
        "tamiz.data.formats.npz:open_npz",
        lambda start: start.startswith(b"\x93NUMPY"),
        growth=1.5,
    ),
):
    register_format(_kind)
