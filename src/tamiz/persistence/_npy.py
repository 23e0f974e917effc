"""Arrays as .npy: header and values apart, so that neither side needs a second copy.

Reading trusts nothing. A header is a literal of at most a few kilobytes, its type must not hold
objects, and the size that it declares must be the size that is there before memory is taken.
"""

from __future__ import annotations

import io
import math
from typing import Any, Protocol

import numpy as np
from numpy.lib import format as npy

from tamiz.persistence._errors import ModelFileError

KINDS = "?biufcSUmM"  # bool, whole, real and complex numbers, bytes, text, dates
CHUNK = 1 << 20


class Source(Protocol):
    """What arrays are read from."""

    def read(self, n: int = -1, /) -> bytes: ...


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether the values of a type are data that a file can hold as they are."""
    return dtype.kind in KINDS.replace("?", "") and dtype.names is None and not dtype.hasobject


def pack(array: np.ndarray) -> tuple[bytes, memoryview]:
    """The header of the file of an array, and its values in the order that the header says."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    described = npy.header_data_from_array_1_0(array)
    header = io.BytesIO()
    npy.write_array_header_1_0(header, described)  # type: ignore[arg-type]
    flat = array.reshape(-1, order="F" if described["fortran_order"] else "C")
    if not array.nbytes:
        return header.getvalue(), memoryview(b"")
    return header.getvalue(), flat.view(np.uint8).data  # dates have no buffer of their own


def unpack(source: Source, size: int) -> np.ndarray:
    """Read one array from ``size`` bytes of a file."""
    counted = _Counted(source)
    try:
        version = npy.read_magic(counted)  # type: ignore[arg-type]
        if version != (1, 0):
            raise ValueError(f"version {version}")
        header = npy.read_array_header_1_0(counted)  # type: ignore[arg-type]
    except ValueError as error:
        raise ModelFileError(f"an array in it has no readable header ({error}).") from None
    shape, fortran, dtype = header
    if not is_plain(dtype):
        raise ModelFileError(
            f"an array in it has the type {dtype.str!r}, which can hold objects; only numbers, "
            "text and dates are loaded, nothing was run."
        )
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize != size - counted.n:
        raise ModelFileError(
            f"an array in it declares the shape {shape} and type {dtype.str!r}, but has "
            f"{size - counted.n:,} bytes."
        )
    array = np.empty(shape, dtype=dtype, order="F" if fortran else "C")
    if array.nbytes:
        room = array.reshape(-1, order="F" if fortran else "C").view(np.uint8).data
        _fill(room, source)
    return array


def _fill(room: memoryview, source: Source) -> None:
    start = 0
    while start < len(room):
        piece = source.read(min(CHUNK, len(room) - start))
        if not piece:
            raise ModelFileError("an array in it ends too early.")
        room[start : start + len(piece)] = piece
        start += len(piece)


class _Counted:
    """Counts what was read, to know where the values begin."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.n = 0

    def read(self, n: int = -1, /) -> bytes:
        data = self._source.read(n)
        self.n += len(data)
        return data
