"""Whether a file is better read in batches: how much memory it needs, and how much there is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tamiz.data.errors import DataError
from tamiz.data.formats import _kind
from tamiz.data.loading import _path
from tamiz.data.memory import free_bytes
from tamiz.data.plan import Options

#: Bytes in memory for each byte on disk, of files that are not looked into.
_GROWTH = {"libsvm": 1.5, "arff": 2.0, "npz": 1.5}
_PACKED = 5.0  # bytes of text for each byte of gzip


def is_large(path: Any, share: float = 0.25, *, format: str | None = None) -> bool:
    """Whether the table of a file would take more than a share of the memory that is free.

    Parameters
    ----------
    path : str or path
        The file. What is no file (a data set known by name) is not large.
    share : float, default=0.25
        Share of the available memory. Reading and fitting need a few times what the table takes.
    format : str, optional
        Kind of file; by default judged by the extension.

    Returns
    -------
    bool

    See Also
    --------
    table_bytes, available_bytes : the two numbers that are compared.

    Examples
    --------
    >>> from tamiz.scale import is_large
    >>> is_large("iris")
    False
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not share > 0:
        raise DataError(f"share={share!r} is not possible; give a number above 0, such as 0.25.")
    file = Path(path).expanduser()
    if not file.is_file():
        return False
    return table_bytes(file, format=format) > share * available_bytes()


def table_bytes(path: Any, *, format: str | None = None) -> int:
    """Bytes that the table of a file takes in memory as float64 numbers, about.

    A Parquet file says how many rows and columns it has; of a text table the first rows tell how
    long a row is.
    """
    file = _path(os.fspath(path))
    kind = _kind(file, file.name, format)
    size = file.stat().st_size
    if kind == "parquet":
        from tamiz.scale.parquet import parquet_part

        part = parquet_part(file, file.name, Options(target=False))
        return 8 * (part.n_rows or 0) * len(part.names)
    with open(file, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    if packed:
        size = int(size * _PACKED)
    if kind != "csv":
        return int(size * _GROWTH[kind])
    from tamiz.scale.csv import CsvPart

    part_csv = CsvPart(file, file.name, Options(target=False))
    head = part_csv.source.head
    lines = max(1, head.count(b"\n"))
    return int(8 * len(part_csv.names) * size / max(1.0, len(head) / lines))


def available_bytes() -> int:
    """Memory that a process can still take: what the system has free, within its own limits."""
    return free_bytes()
