"""LIBSVM's sparse text: ``label index:value index:value ...``, one sample per line.

Compiled code reads what is plainly of that form; numbers are those of ``float``, to the last bit. A
text with anything but labels, ascending indices, numbers, blanks and comments is left to the slow
reader, which says what is wrong with it.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import DataError, damaged
from tamiz.data.formats._scan import powers_of_five, read_decimal
from tamiz.data.formats.base import Reader, readable
from tamiz.data.formats.frames import from_csr
from tamiz.data.plan import ColumnPlan, Options
from tamiz.runtime.compiling import njit

WIDE = 1 << 22  # features that a file may have however few values it holds
CHUNK = 8 << 20  # bytes of text that are read at a time

Rows = tuple[Any, np.ndarray]  # samples as CSR matrix, and their labels

_NUMBER = rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_LINE = re.compile(rb"\s*" + _NUMBER + rb"(\s+(qid:\d+|\d+:" + _NUMBER + rb"))*\s*(#.*)?")


class LibsvmReader(Reader):
    """A sparse file. Its width, and whether indices start at 0 or 1, are known after all rows."""

    reads_all = True
    sparse = True
    named = False
    own_batches = True

    def __init__(self, path: Path, shown: str, options: Options):
        self.path, self.shown, self.options = path, shown, options
        self.width = self.base = 0  # greatest index + 1, and the index of the first feature
        self.n_features = options.n_features
        self._plan: ColumnPlan | None = None

    def plan(self) -> ColumnPlan:
        if self._plan is not None:
            return self._plan
        return ColumnPlan(None if self.options.target is False else "target", self._feature_names())

    def collect(self, verbose: int = 0) -> RawTable:
        if self.options.nrows is None:
            X, y = _stacked(list(self._rows()))
        else:
            X, y = self._first_rows(self.options.nrows)
        if not len(y):
            raise self._empty()
        self._fix_width(X.shape[1], bool((X.indices == 0).any()), X.nnz)
        names = self._feature_names()
        target = Column("target", np.asarray(y, dtype=np.float64))
        table, self._plan = from_csr(
            X[:, self.base :] if self.base else X,
            names,
            [target],
            self.shown,
            self.options,
            "target",
        )
        table.notes = self._plan.notes
        return table

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[RawTable]:
        names = self._feature_names()
        p = len(names)
        held: list[Rows] = []
        n_held = 0
        for X, y in self._rows():
            if X.shape[1] > p + self.base:
                raise DataError(
                    f"{self.shown} has an index of {X.shape[1] - 1} where the greatest was "
                    f"{p + self.base - 1}: the file has changed."
                )
            X.resize(X.shape[0], p + self.base)
            X = X[:, self.base :] if self.base else X
            if rows is None:
                yield self._table(X, y, names)
                continue
            held.append((X, y))
            n_held += len(y)
            if n_held >= rows:
                X, y = _stacked(held)
                stop = n_held - n_held % rows
                for start in range(0, stop, rows):
                    piece = slice(start, start + rows)
                    yield self._table(X[piece], y[piece], names)
                held = [(X[stop:], y[stop:])]
                n_held -= stop
        if n_held:
            X, y = _stacked(held)
            yield self._table(X, y, names)

    def check_batches(self) -> None:
        options = self.options
        if options.target not in (None, False, "target"):
            raise DataError(
                f"target={options.target!r} is not possible with {self.shown}: the target of a "
                "LIBSVM file is what its lines begin with. Leave target= out."
            )
        if options.columns is not None or options.drop is not None:
            raise DataError(
                f"{self.shown} is a LIBSVM file, of which all features are read; leave columns= "
                "and drop= out."
            )

    def survey(self, others: Sequence[Reader], see: Callable[[RawTable], None]) -> bool:
        width = n_values = 0
        zero = False
        readers = [reader for reader in others if isinstance(reader, LibsvmReader)]
        n_rows = 0
        for reader in readers:
            with readable(reader):
                for X, y in reader._rows():
                    see(RawTable([Column("target", y)], reader.shown))
                    n_rows += len(y)
                    width = max(width, X.shape[1])
                    n_values += X.nnz
                    zero = zero or bool((X.indices == 0).any())
        if not n_rows:
            raise self._empty()
        for reader in readers:
            reader._fix_width(width, zero, n_values)
        return True

    # ------------------------------------------------------------------------------- private

    def _feature_names(self) -> list[str]:
        """f1, f2, ..., by the indices of the file."""
        p = self.n_features if self.n_features is not None else self.width - self.base
        digits = len(str(p + self.base - 1))
        return [f"f{j + self.base:0{digits}d}" for j in range(p)]

    def _fix_width(self, width: int, zero: bool, n_values: int) -> None:
        """Settle the features: greatest index + 1, whether index 0 is used, and values in all."""
        if width > max(WIDE, 100 * n_values) and self.n_features is None:
            raise DataError(
                f"{self.shown} has {n_values:,} values but an index of {width - 1:,}; that is a "
                "mistake, or the table is too wide to hold. Number the features without large "
                "gaps, or read the file in batches and name their number with n_features=."
            )
        self.width = width
        self.base = int(width > 1 and not zero)  # numbered from 1, as LIBSVM does
        found = width - self.base
        if self.n_features is not None and self.n_features < found:
            raise DataError(
                f"{self.shown} has {found} features, by its greatest index {width - 1}, but "
                f"n_features={self.n_features}; give at least {found}."
            )

    def _table(self, X: Any, y: np.ndarray, names: list[str]) -> RawTable:
        target = [Column("target", y)]
        return RawTable(target, self.shown, matrix=X, matrix_names=names, names=[*names, "target"])

    def _empty(self) -> DataError:
        return DataError(f"{self.shown} is empty; it should hold lines such as '1 3:0.5 7:2'.")

    def _rows(self) -> Iterator[Rows]:
        """Samples and labels, some megabytes of text at a time, cut at ends of lines.

        A piece is as wide as the greatest index in it; index 0 is a column of its own.
        """
        with _faults_said(self.path, self.shown), _open(self.path) as file:
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

    def _first_rows(self, n_rows: int) -> Rows:
        """The beginning of the file; what follows is not looked at."""
        with _faults_said(self.path, self.shown), _open(self.path) as file:
            rows = (line for line in file if line.strip() and not line.lstrip().startswith(b"#"))
            return _parse(b"".join(islice(rows, n_rows)))


def _stacked(held: list[Rows]) -> Rows:
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


def _parse(raw: bytes) -> Rows:
    """By compiled code; by scikit-learn if there is anything unusual, such as ``qid``."""
    found = parse(raw)
    if found is not None:
        return found
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(io.BytesIO(raw), zero_based=True)
    return X, np.asarray(y, dtype=np.float64)


@contextmanager
def _faults_said(path: Path, shown: str) -> Iterator[None]:
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


# ----------------------------------------------------------------------------------------- compiled


_NEWLINE, _RETURN, _TAB, _BLANK, _HASH = 10, 13, 9, 32, 35
_POINT, _COLON, _ZERO, _NINE = 46, 58, 48, 57

_STRANGE = -1


def parse(raw: bytes) -> tuple[sparse.csr_matrix, np.ndarray] | None:
    """Samples and labels of complete lines, or None if the slow reader has to look at them.

    The width of the matrix is the greatest index + 1; index 0 is a column of its own.
    """
    text = np.frombuffer(raw, dtype=np.uint8)
    n_lines, n_pairs = _count(text)
    labels = np.empty(n_lines)
    starts = np.zeros(n_lines + 1, dtype=np.int64)
    indices = np.empty(n_pairs, dtype=np.int32)
    values = np.empty(n_pairs)
    hard = np.empty((n_pairs + n_lines, 3), dtype=np.int64)
    n_rows, n_hard = _parse_text(text, labels, starts, indices, values, hard, powers_of_five())
    if n_rows == _STRANGE:
        return None
    for place, begin, end in hard[:n_hard].tolist():
        if place < 0:
            labels[-place - 1] = float(raw[begin:end])
        else:
            values[place] = float(raw[begin:end])
    n_values = int(starts[n_rows])
    indices, values = indices[:n_values], values[:n_values]
    width = int(indices.max()) + 1 if n_values else 1
    narrow = starts[: n_rows + 1].astype(np.int32)  # a piece of text has far fewer than 2**31 pairs
    X = sparse.csr_matrix((values, indices, narrow), shape=(n_rows, width))
    return X, labels[:n_rows]


@njit(cache=True, nogil=True)
def _count(text):
    """Upper limits of the numbers of lines and of pairs."""
    lines, pairs = 1, 0
    for letter in text:
        if letter == _NEWLINE:
            lines += 1
        elif letter == _COLON:
            pairs += 1
    return lines, pairs


@njit(cache=True, nogil=True, error_model="numpy")
def _parse_text(text, labels, starts, indices, values, hard, powers):
    """Fill the arrays; numbers of rows (or _STRANGE) and of entries of ``hard``.

    An entry of ``hard`` is a number that Python has to read: its place among the values, or
    -1 - row for a label, and where it begins and ends.
    """
    n = len(text)
    at = n_rows = n_values = n_hard = 0
    while at < n:
        at = _skip_blanks(text, at)
        if at < n and text[at] != _NEWLINE and text[at] != _HASH:
            value, end = read_decimal(text, at, n, _POINT, powers)
            if end == at or not _ends(text, end):
                return _STRANGE, 0
            labels[n_rows] = value
            if value != value:
                hard[n_hard, 0] = -1 - n_rows
                hard[n_hard, 1] = at
                hard[n_hard, 2] = end
                n_hard += 1
            at = _skip_blanks(text, end)
            before = -1
            while at < n and text[at] != _NEWLINE and text[at] != _HASH:
                index, end = _index(text, at)
                if end == at or end >= n or text[end] != _COLON or index <= before:
                    return _STRANGE, 0
                before = index
                at = end + 1
                value, end = read_decimal(text, at, n, _POINT, powers)
                if end == at or not _ends(text, end):
                    return _STRANGE, 0
                indices[n_values] = index
                values[n_values] = value
                if value != value:
                    hard[n_hard, 0] = n_values
                    hard[n_hard, 1] = at
                    hard[n_hard, 2] = end
                    n_hard += 1
                n_values += 1
                at = _skip_blanks(text, end)
            n_rows += 1
            starts[n_rows] = n_values
        while at < n and text[at] != _NEWLINE:  # a comment
            at += 1
        at += 1
    return n_rows, n_hard


@njit(cache=True, nogil=True, inline="always")
def _skip_blanks(text, at):
    while at < len(text) and (text[at] == _BLANK or text[at] == _TAB or text[at] == _RETURN):
        at += 1
    return at


@njit(cache=True, nogil=True, inline="always")
def _ends(text, at):
    """Whether a number may end here."""
    if at >= len(text):
        return True
    c = text[at]
    return c in (_BLANK, _NEWLINE, _TAB, _RETURN, _HASH)


@njit(cache=True, nogil=True, inline="always")
def _index(text, at):
    """An integer below 2**31, and where it ends; it ends where it begins if there is none."""
    begin = at
    index = np.int64(0)
    while at < len(text) and _ZERO <= text[at] <= _NINE:
        index = 10 * index + (np.int64(text[at]) - _ZERO)
        at += 1
        if index >= 2147483647:
            return 0, begin
    return index, at
