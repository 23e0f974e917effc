"""Wide tables in a file: columns as bits, counted where they are.

The file holds what :class:`~tamiz.information.codes.Codes` holds in memory, one :class:`Group` of
columns after the other, and is mapped into memory: whoever counts reads it from the disk once, and
from the system's cache of files as long as that has room. A column of r levels takes r bits per
sample; the last of them is read for the columns that others are held against only, since its counts
follow from the others.

Compiled code takes counts from the bits as indices, so that whatever a file says is checked when it
is opened: places, margins, and once all the bits. Checksums find what was damaged; the other checks
are for files that somebody made by hand.

Layout, little-endian: a mark, the place, length and checksum of the index; then for each group its
bits, its margins, its columns and which of them vary; the index, as JSON, comes last.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.information.codes import MOST_PACKED, Codes
from tamiz.information.counting import TILE, Planes, count_ones, log_table
from tamiz.information.packing import Group, Wide
from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import run_tiles
from tamiz.validation import (
    DamagedFileError,
    as_numpy,
    checked,
    file_path,
    integer_from,
    is_frame,
    require_memory,
)

MARK = b"tamiz packed 1\n\0"
_HEAD = len(MARK) + 24
_ALIGNED = 64

#: Columns that are coded at a time.
BLOCK = 8192

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class PackedTable:
    """A table of discrete columns in a file, made by :func:`pack_table`.

    The filters that count (``MaxRel``, ``InformationGain``, ``SymmetricalUncertainty``, ``MRMR``,
    ``JMI``, ``CMIM``, ``MaxDep``, ``CFS``, ``QPFS``) take it in the place of ``X``, and
    :func:`encode` does. How its columns were cut, and what became of missing values, was decided
    when it was packed; parameters such as ``bins`` mean nothing then.

    Parameters
    ----------
    path : str or path
        The file. Its bits are checked once, which reads all of it; do not change it while it is
        open.
    verbose : bool or int, default=0
        Show progress.

    Attributes
    ----------
    shape : tuple of int
        Samples and columns.
    names : list of str or None
        Names of the columns, if they had any.
    n_levels : int array of shape (n_features,)
        Number of levels of each column.

    See Also
    --------
    pack_table : Makes the file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tamiz.filters import MRMR
    >>> from tamiz.information import PackedTable, pack_table
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.integers(0, 3, (300, 1000), dtype=np.int8)
    >>> X[:, 7] = np.where(rng.random(300) < 0.8, y, X[:, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     packed = pack_table(X, Path(folder) / "markers.packed", bins=None)
    ...     found = MRMR(n_features_to_select=3).fit(packed, y)
    ...     best = packed.codes(found.order_[:1])
    ...     packed.close()
    >>> int(found.order_[0]), (best[:, 0] == X[:, 7]).all()
    (7, np.True_)
    """

    @checked(path=file_path)
    def __init__(self, path: Any, *, verbose: bool | int = 0):
        from tamiz.runtime.checkpoint import cannot, open_to_read  # splitters come with it

        _refuse_big_endian()
        self.path = str(path)
        self._map: mmap.mmap | None = None
        with open_to_read(Path(path)) as file:
            if os.fstat(file.fileno()).st_size < _HEAD:
                raise self._damaged("it ends within its first bytes")
            try:
                self._map = _mapped(file.fileno())
            except OSError as error:
                raise cannot("read", Path(path), error) from None
        self._codes = self._read(verbose)

    def _read(self, verbose: bool | int) -> _FileCodes:
        index = self._index()
        n, p = index.n_samples, index.n_features
        require_memory(
            32 * n + 64 * p,
            f"what is known of {n:,} samples and {p:,} columns of {self.path!r}",
            "Pack fewer of them.",
        )
        table, _ = log_table(n)
        groups = []
        home = np.zeros(p, dtype=np.int64)
        varies, n_levels = np.ones(p, dtype=bool), np.zeros(p, dtype=np.intp)
        with Progress("checking", verbose) as progress:
            for done, entry in enumerate(index.groups):
                if (
                    self._checksum(entry.at, _group_bytes(entry.levels, n, entry.columns))
                    != entry.sum
                ):
                    raise self._damaged("its checksum is not that of what it holds")
                parts = self._arrays(entry, n)
                _check_numbers(parts, n, p, self._damaged)
                home[parts.features] += 1
                varies[parts.features] = parts.varies != 0
                sums = table[parts.margins].sum(axis=0)
                planes = Planes(parts.bits, parts.margins, sums)
                self._check_bits(planes, n)
                incomplete = bool((parts.margins.sum(axis=0) < np.uint64(n)).any())
                groups.append(Group(parts.features.astype(np.intp), planes, incomplete))
                n_levels[parts.features] = np.count_nonzero(parts.margins, axis=0)
                progress.update(f"{(done + 1) / len(index.groups):.0%}")
        if (home != 1).any():
            raise self._damaged(f"it has column {int(np.argmax(home != 1))} not exactly once")
        self.names = index.names
        codes = _FileCodes(n, p, groups, _NOTHING, n_levels)
        codes.varies = varies
        return codes

    def _index(self) -> _Index:
        data = memoryview(self._open_map())
        if bytes(data[: len(MARK)]) != MARK:
            raise self._damaged("it does not begin as a packed table does")
        place, length, total = np.frombuffer(data[len(MARK) : _HEAD], "<u8").tolist()
        if not _HEAD <= place <= place + length <= len(data):
            raise self._damaged("its index is not inside the file")
        if self._checksum(place, length) != total:
            raise self._damaged("the checksum of its index is wrong")
        text = bytes(data[place : place + length])
        # lists of nothing take the most memory for a letter
        require_memory(
            length + 80 * (text.count(b"[") + text.count(b"{") + text.count(b",")),
            f"the index of {self.path!r}",
            "Pack fewer columns into a file.",
        )
        try:
            return _Index.of(json.loads(text), place)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._damaged("its index cannot be read") from None

    def _checksum(self, at: int, length: int) -> int:
        return zlib.crc32(memoryview(self._open_map())[at : at + length])

    def _arrays(self, entry: _Entry, n: int) -> _Parts:
        data, parts, at = self._open_map(), [], entry.at
        for shape, kind in _shapes(entry.levels, n, entry.columns):
            size = int(np.prod(shape))
            parts.append(np.frombuffer(data, kind, size, at).reshape(shape))
            at += -(-size * np.dtype(kind).itemsize // _ALIGNED) * _ALIGNED
        return _Parts(*parts)

    def _check_bits(self, planes: Planes, n: int) -> None:
        last = _ZERO if n % 64 == 0 else ~((_ONE << np.uint64(n % 64)) - _ONE)
        args = planes.bits, planes.margins, last
        if any(run_tiles(count_faults, planes.bits.shape[2], *args, min_items=TILE)):
            raise self._damaged("its bits are not what was written")

    def _damaged(self, why: str) -> DamagedFileError:
        message = f"{self.path!r} is no sound packed table: {why}. Make it again with pack_table."
        return DamagedFileError(message, path=self.path)

    def _open_map(self) -> mmap.mmap:
        if self._map is None:
            raise ValueError(f"The packed table {self.path!r} was closed; open it again.")
        return self._map

    # ------------------------------------------------------------------------------- what it is

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and columns."""
        return self._codes.n_samples, self._codes.n_features

    @property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each column."""
        return self._codes.n_levels

    def __len__(self) -> int:
        return self._codes.n_samples

    def __repr__(self) -> str:
        n, p = self.shape
        return f"<PackedTable: {n:,} samples, {p:,} columns, {self.path}>"

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(
            "A PackedTable is no array. Filters that count, such as MaxRel and MRMR, are fitted to "
            "it; everything else needs a table: codes(columns) gives the codes of some columns."
        )

    def __getitem__(self, rows: Any) -> Any:
        raise TypeError(
            "Rows of a PackedTable cannot be taken, nor weighted: pack the rows that are meant."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedTable, (self.path,)  # a process that gets one opens the file itself

    def codes(self, columns: Any) -> np.ndarray:
        """Codes of some columns: an array of shape (n_samples, n_columns), -1 where missing.

        Parameters
        ----------
        columns : sequence of int, or mask
            Their places.
        """
        self._open_map()
        which = np.atleast_1d(np.asarray(columns))
        which = np.flatnonzero(which) if which.dtype == bool else which
        require_memory(
            4 * len(which) * len(self),
            f"the codes of {len(which):,} columns of {len(self):,} samples",
            "Ask for fewer columns at a time.",
        )
        out = np.empty((len(which), len(self)), dtype=np.int32)
        for line, j in zip(out, which, strict=True):
            line[:] = self._codes.column(int(j))
        return out.T

    def as_codes(self) -> Codes:
        """The columns, to be counted against each other."""
        self._open_map()
        codes = self._codes
        known = codes.n_samples, codes.n_features, codes.groups, codes.wide, codes.n_levels
        again = _FileCodes(*known)
        again.varies = codes.varies
        return again

    def close(self) -> None:
        """Release the file; nothing can be counted any more."""
        if self._map is not None:
            n, p = self.shape
            self._codes = _FileCodes(n, p, [], _NOTHING, self._codes.n_levels)
            held, self._map = self._map, None
            with contextlib.suppress(BufferError):  # who still counts keeps it open
                held.close()

    def __enter__(self) -> PackedTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _mapped(file: int) -> mmap.mmap:
    """A file in memory, as pages that would be copied if they were written to, which nobody does.

    Arrays that must not be written to would need all code compiled for them once more. No room is
    set aside for copies, where a system can do without: files may be larger than memory.
    """
    if hasattr(mmap, "MAP_NORESERVE"):
        flags = mmap.MAP_PRIVATE | mmap.MAP_NORESERVE
        return mmap.mmap(file, 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    return mmap.mmap(file, 0, access=mmap.ACCESS_COPY)


#: No columns that are kept as codes.
_NOTHING = Wide(
    np.empty(0, dtype=np.intp), np.empty((0, 1), dtype=np.int32), np.empty(0, dtype=np.int64)
)


class _FileCodes(Codes):
    """Columns whose bits stay in a file."""

    def in_one_group(self, most_levels: int) -> Planes | None:
        return None  # it would be a copy of the file

    def take(self, features: Any) -> Codes:
        bits = sum(group.planes.bits.nbytes for group in self.groups)
        require_memory(
            bits * len(features) / max(1, self.n_features),
            f"the bits of {len(features):,} columns",
            "Select fewer features: those not selected are then not ranked among each other.",
        )
        return super().take(features)


class _Entry(NamedTuple):
    """What the index says of a group."""

    at: int
    levels: int
    columns: int
    sum: int  # checksum


class _Index(NamedTuple):
    """What is in the file."""

    n_samples: int
    n_features: int
    groups: list[_Entry]
    names: list[str] | None

    @classmethod
    def of(cls, said: Any, end: int) -> _Index:
        """From JSON, if that describes arrays within the first ``end`` bytes; else ValueError."""
        n, p, names = said["n_samples"], said["n_features"], said["names"]
        groups = [_Entry(*entry) for entry in said["groups"]]
        numbers = [n, p, *(value for entry in groups for value in entry[:3])]
        if not all(type(value) is int and 0 < value < 2**48 for value in numbers):
            raise ValueError("a number that is no size")
        if sum(entry.columns for entry in groups) != p:
            raise ValueError("other columns than it says")
        for entry in groups:
            if entry.at % _ALIGNED or entry.levels > MOST_PACKED:
                raise ValueError("a group that cannot be")
        free = _HEAD
        for entry in sorted(groups):
            if entry.at < free:
                raise ValueError("groups that overlap")
            free = entry.at + _group_bytes(entry.levels, n, entry.columns)
        if free > end:
            raise ValueError("a group outside the file")
        if names is not None:
            text = type(names) is list and all(type(name) is str for name in names)
            if not text or len(names) != p or len(set(names)) != p:
                raise ValueError("names that are not those of the columns")
            "".join(names).encode("utf-8")  # a UnicodeError where there is half a character
        return cls(n, p, groups, names)


class _Parts(NamedTuple):
    """The arrays of a group, as they are in the file."""

    bits: np.ndarray
    margins: np.ndarray
    features: np.ndarray
    varies: np.ndarray


def _shapes(levels: int, n_samples: int, columns: int) -> list[tuple[tuple[int, ...], str]]:
    """Shapes and types of the arrays of a group."""
    words = -(-n_samples // 64)
    return [
        ((levels, words, columns), "<u8"),
        ((levels, columns), "<u8"),
        ((columns,), "<i8"),
        ((columns,), "u1"),
    ]


def _group_bytes(levels: int, n_samples: int, columns: int) -> int:
    words = -(-n_samples // 64)
    sizes = 8 * levels * words * columns, 8 * levels * columns, 8 * columns, columns
    return sum(-(-size // _ALIGNED) * _ALIGNED for size in sizes)


def _check_numbers(parts: _Parts, n: int, p: int, damaged: Any) -> None:
    """Places and margins are within what they count, and levels without samples come last."""
    features, margins = parts.features, parts.margins
    # compared, not subtracted: differences of the largest integers are beyond them
    if features[0] < 0 or features[-1] >= p or (features[1:] <= features[:-1]).any():
        raise damaged("its columns are not in order")
    if (margins > np.uint64(n)).any() or (margins.sum(axis=0) > np.uint64(n)).any():
        raise damaged("a column has more samples than there are")
    empty = margins == 0
    if empty[0].any() or (empty[:-1] & ~empty[1:]).any():
        raise damaged("a column has no samples at one of its levels")


@njit(cache=True, nogil=True)
def count_faults(start: Any, stop: Any, bits: Any, margins: Any, outside: Any) -> Any:
    """Number of columns whose levels overlap, are not as frequent as said, or have bits beyond the
    last sample (those set in ``outside``, in the last word).
    """
    r, n_words, _ = bits.shape
    seen = np.empty(TILE, dtype=np.uint64)
    wrong = np.empty(TILE, dtype=np.uint64)
    counts = np.empty((r, TILE), dtype=np.uint64)
    faults = 0
    for j in range(start, stop, TILE):
        nj = min(TILE, stop - j)
        wrong[:] = _ZERO
        counts[:] = _ZERO
        for w in range(n_words):
            seen[:] = outside if w == n_words - 1 else _ZERO
            for b in range(r):
                _look(bits[b, w, j : j + nj], seen, wrong, counts[b])
        for l in range(nj):
            sound = wrong[l] == _ZERO
            for b in range(r):
                sound = sound and counts[b, l] == margins[b, j + l]
            faults += 0 if sound else 1
    return faults


@njit(cache=True, nogil=True)
def _look(words: Any, seen: Any, wrong: Any, counts: Any) -> None:
    for l in range(len(words)):
        wrong[l] |= seen[l] & words[l]
        seen[l] |= words[l]
        counts[l] += count_ones(words[l])


# ----------------------------------------------------------------------------------------- writing


@checked(path=file_path, block=integer_from(1))
def pack_table(
    X: Any,
    path: Any,
    *,
    bins: str | None = "mean_std",
    n_bins: int = 5,
    y: Any = None,
    missing: str = "code",
    block: int = BLOCK,
    verbose: bool | int = 0,
) -> PackedTable:
    """Cut the columns of a wide table, and write them to a file as bits.

    Columns are coded a block at a time, so that neither the table nor its codes need be in memory.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features), or iterable of these
        The table, which may be an array that is mapped into memory
        (``numpy.load(..., mmap_mode="r")``), or blocks of its columns, one after the other: a list,
        or a generator. Columns that hold text or, in a data
        frame, categories are categorical.
    path : str or path
        The file to write. One that was there before is replaced when all is written.
    bins, n_bins, y, missing
        How to cut continuous columns and what missing values mean, as in :func:`encode`.
    block : int, default=8192
        Columns of a table that are coded at a time; memory for these as float64 numbers is needed.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    PackedTable
        The file, open.

    See Also
    --------
    encode : The same in memory.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tamiz.information import pack_table
    >>> blocks = (np.random.default_rng(k).normal(size=(100, 500)) for k in range(4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with pack_table(blocks, Path(folder) / "wide.packed") as packed:
    ...         packed.shape, np.unique(packed.n_levels).tolist()
    ((100, 2000), [3])
    """
    _refuse_big_endian()
    from tamiz.runtime.checkpoint import cannot, write_whole  # splitters come with it

    how = {"bins": bins, "n_bins": n_bins, "y": y, "missing": missing}
    theirs: list[OSError] = []
    blocks = _noting(_blocks(X, int(block)), theirs)
    try:
        with Progress("packing", verbose) as progress:
            write_whole(path, lambda file: _write(file, blocks, how, progress))
    except OSError as error:
        if error in theirs:
            raise
        raise cannot("write", Path(path), error) from None
    return PackedTable(path, verbose=verbose)


def _refuse_big_endian() -> None:
    if sys.byteorder != "little":
        raise OSError("Packed tables are written and read on little-endian machines only.")


def _noting(blocks: Iterator[Any], errors: list[OSError]) -> Iterator[Any]:
    """The blocks; errors of whoever reads them are not those of the file that is written."""
    try:
        yield from blocks
    except OSError as error:
        errors.append(error)
        raise


def _blocks(X: Any, block: int) -> Iterator[Any]:
    """Blocks of columns."""
    if isinstance(X, PackedTable):
        raise TypeError("X is a packed table already; copy its file.")
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        for first in range(0, frame.shape[1], block):
            yield nw.to_native(frame[:, first : first + block])
    elif hasattr(X, "shape"):
        table = X.tocsc() if sparse.issparse(X) else as_numpy(X)
        if len(table.shape) != 2:
            raise ValueError(f"X has shape {table.shape}; it must have two dimensions.")
        for first in range(0, table.shape[1], block):
            yield table[:, first : first + block]
    elif isinstance(X, Iterator) or (isinstance(X, (list, tuple)) and X and _is_table(X[0])):
        yield from X
    else:
        yield from _blocks(np.asarray(X), block)


def _is_table(X: Any) -> bool:
    return is_frame(X) or len(getattr(X, "shape", ())) == 2


class _Written(NamedTuple):
    """What is known of the file so far."""

    groups: list[_Entry]
    names: list[str]


def _write(file: IO[bytes], blocks: Iterator[Any], how: dict[str, Any], progress: Progress) -> None:
    """The file of some blocks of columns."""
    from tamiz.information.encoding import encode  # which opens packed tables

    file.write(MARK + bytes(_HEAD - len(MARK)))
    n_samples, p, named = None, 0, 0
    written = _Written([], [])
    for part in blocks:
        codes = cast(Codes, encode(part, **how))  # no weights are passed
        if n_samples is None:
            n_samples = codes.n_samples
        elif codes.n_samples != n_samples:
            raise ValueError(
                f"X has {codes.n_samples} samples in the block of columns that begins at {p}; "
                f"those before have {n_samples}."
            )
        _refuse_wide(codes, p)
        for group in codes.groups:
            written.groups.append(_write_group(file, group, codes, p))
        if is_frame(part):
            named += codes.n_features
            written.names.extend(str(name) for name in nw.from_native(part).columns)
        p += codes.n_features
        progress.update(f"{p:,} columns")
    if n_samples is None:
        raise ValueError("X has no columns; there is nothing to pack.")
    names = written.names if named == p else None
    if names is not None and len(set(names)) != p:
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"X has the column name {twice!r} twice; names must differ.")
    index = {"n_samples": n_samples, "n_features": p, "groups": written.groups, "names": names}
    place = file.tell()
    text = json.dumps(index).encode("utf-8")
    file.write(text)
    file.seek(len(MARK))
    file.write(np.array([place, len(text), zlib.crc32(text)], "<u8").tobytes())


def _refuse_wide(codes: Codes, first: int) -> None:
    if len(codes.wide.features):
        k, levels = int(codes.wide.features[0]), int(codes.wide.n_levels[0])
        what = f"{levels:,} levels" if levels > MOST_PACKED else "no known value"
        raise ValueError(
            f"X has {what} in column {first + k}; a packed table takes columns of 1 to "
            f"{MOST_PACKED} levels. Use fewer bins, or leave the column out."
        )


def _write_group(file: IO[bytes], group: Group, codes: Codes, first: int) -> _Entry:
    """Append a group; the end of the file is aligned before and after."""
    file.write(bytes(-file.tell() % _ALIGNED))
    at, total = file.tell(), 0
    for part in (
        np.ascontiguousarray(group.planes.bits, "<u8"),
        np.ascontiguousarray(group.planes.margins, "<u8"),
        np.asarray(group.features + first, "<i8"),
        codes.varies[group.features].astype("u1"),
    ):
        for data in (part.data.cast("B"), bytes(-part.nbytes % _ALIGNED)):
            file.write(data)
            total = zlib.crc32(data, total)
    return _Entry(at, group.n_levels, len(group.features), total)
