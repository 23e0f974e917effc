"""LIBSVM's sparse text: ``label index:value index:value ...``, one sample a line."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, Table
from tamiz.data.errors import DataError, damaged
from tamiz.data.frames import from_csr
from tamiz.data.plan import Options, Plan

WIDE = 1 << 22  # features that a file may have however few values it holds

_NUMBER = rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_LINE = re.compile(rb"\s*" + _NUMBER + rb"(\s+(qid:\d+|\d+:" + _NUMBER + rb"))*\s*(#.*)?")


def read_libsvm(path: Path, shown: str, options: Options) -> tuple[Table, Plan]:
    """Read a sparse file; indices may start at 0 or at 1."""
    from sklearn.datasets import load_svmlight_file

    file: Any = _open(path)
    try:
        with file:
            if options.nrows is not None:
                rows = (
                    line for line in file if line.strip() and not line.lstrip().startswith(b"#")
                )
                file = io.BytesIO(b"".join(islice(rows, options.nrows)))
            X, y = load_svmlight_file(file, zero_based=True)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(damaged(shown, error, remedy="fetch or pack")) from None
    except (ValueError, OverflowError) as error:
        raise DataError(_complaint(path, shown, error)) from None
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
