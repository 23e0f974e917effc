"""LIBSVM's sparse text: ``label index:value index:value ...``, one sample a line."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, Table
from tamiz.data.errors import DataError, damaged
from tamiz.data.frames import from_csr
from tamiz.data.plan import Options, Plan

WIDE = 1 << 22  # features that a file may have however few values it holds
CHUNK = 8 << 20  # bytes of text that are read at a time
COMPILED = 1 << 20  # bytes of text from which on the compiled reader is worth its loading

Samples = tuple[Any, np.ndarray]

_NUMBER = rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_LINE = re.compile(rb"\s*" + _NUMBER + rb"(\s+(qid:\d+|\d+:" + _NUMBER + rb"))*\s*(#.*)?")


def read_libsvm(path: Path, shown: str, options: Options) -> tuple[Table, Plan]:
    """Read a sparse file; indices may start at 0 or at 1."""
    if options.nrows is None:
        X, y = together(list(pieces(path, shown)))
    else:
        X, y = _first_rows(path, shown, options.nrows)
    if not len(y):
        raise DataError(f"{shown} is empty; it should hold lines such as '1 3:0.5 7:2'.")
    if X.shape[1] > max(WIDE, 100 * X.nnz):
        raise DataError(
            f"{shown} has {X.nnz:,} values but an index of {X.shape[1] - 1:,}; that is a slip, or "
            "needs more memory than it is worth. Number the features without large gaps."
        )
    first = 0
    if X.shape[1] > 1 and X.getnnz(axis=0)[0] == 0:  # numbered from 1, as LIBSVM does
        X, first = X[:, 1:], 1
    width = len(str(X.shape[1] + first - 1))
    names = [f"f{j + first:0{width}d}" for j in range(X.shape[1])]
    target = Column("target", np.asarray(y, dtype=np.float64))
    return from_csr(X, names, [target], shown, options, "target")


def pieces(path: Path, shown: str) -> Iterator[Samples]:
    """Samples and labels of the file, some megabytes of text at a time, cut at ends of lines.

    A piece is as wide as the greatest index in it; index 0 is a column of its own.
    """
    with _told(path, shown), _open(path) as file:
        carry = b""
        while True:
            piece = file.read(CHUNK)
            raw = carry + piece
            cut = raw.rfind(b"\n") + 1 if piece else len(raw)
            carry = raw[cut:]
            if raw[:cut].strip():
                X, y = _parse(raw[:cut])
                if len(y):
                    yield X, y
            if not piece:
                return


def together(held: list[Samples]) -> Samples:
    """Pieces one below the other, all as wide as the widest."""
    if len(held) == 1:
        return held[0]
    width = max((X.shape[1] for X, _ in held), default=1)
    for X, _ in held:
        X.resize(X.shape[0], width)
    if not held:
        return sparse.csr_matrix((0, width)), np.empty(0)
    return (
        sparse.vstack([X for X, _ in held], format="csr"),
        np.concatenate([y for _, y in held]),
    )


def _parse(raw: bytes) -> Samples:
    if len(raw) >= COMPILED:
        from tamiz.data._libsvm_parser import parse

        found = parse(raw)
        if found is not None:
            return found
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(io.BytesIO(raw), zero_based=True)
    return X, np.asarray(y, dtype=np.float64)


def _first_rows(path: Path, shown: str, n_rows: int) -> Samples:
    """The beginning of the file; what follows is not looked at."""
    with _told(path, shown), _open(path) as file:
        rows = (line for line in file if line.strip() and not line.lstrip().startswith(b"#"))
        return _parse(b"".join(islice(rows, n_rows)))


@contextmanager
def _told(path: Path, shown: str) -> Iterator[None]:
    """Faults of the file as sentences."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(damaged(shown, error, remedy="fetch or pack")) from None
    except DataError:
        raise
    except (ValueError, OverflowError) as error:
        raise DataError(_complaint(path, shown, error)) from None


def _open(path: Path) -> Any:
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else open(path, "rb")


def _complaint(path: Path, shown: str, error: Exception) -> str:
    """Name the first line that is not of the form."""
    with _open(path) as file:
        for number in count(1):
            try:
                line = file.readline()
            except (EOFError, OSError, zlib.error) as fault:
                return damaged(shown, fault, remedy="fetch or pack")
            if not line:
                break
            line = line.strip()
            if line and not line.startswith(b"#") and not _LINE.fullmatch(line):
                text = line[:40].decode("utf-8", errors="replace")
                return (
                    f"{shown}, line {number}: {text!r} is not of the form 'label index:value ...'; "
                    "correct it, or name another kind of file with format=."
                )
    words = " ".join(str(error).split()).rstrip(".")
    return f"{shown} cannot be read as LIBSVM's sparse text: {words}."
