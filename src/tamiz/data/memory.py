"""Whether the table of a file fits into memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tamiz.data.errors import DataError
from tamiz.data.formats import WRITTEN
from tamiz.data.formats import table_bytes as bytes_of_file
from tamiz.data.loading import find_path
from tamiz.runtime.memory import free_bytes
from tamiz.validation import checked, real_number


@checked(
    DataError,
    share=real_number(above=0, finite=False, hint=", such as 0.25"),
    format=WRITTEN["format"],
)
def is_large(path: Any, share: float = 0.25, *, format: str | None = None) -> bool:
    """Whether the table of a file would take more than a fraction of the memory that is free.

    Parameters
    ----------
    path : str or path
        The file. What is no file (a data set known by name) is not large.
    share : float, default=0.25
        Fraction of the available memory. Reading and fitting need a few times what the table takes.
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
    file = Path(path).expanduser()
    if not file.is_file():
        return False
    return table_bytes(file, format=format) > share * available_bytes()


@checked(DataError, format=WRITTEN["format"])
def table_bytes(path: Any, *, format: str | None = None) -> int:
    """Bytes that the table of a file takes in memory as float64 numbers, about.

    A Parquet file says how many rows and columns it has; of a text table the first rows show how
    long a row is.
    """
    return bytes_of_file(find_path(os.fspath(path)), format)


def available_bytes() -> int:
    """Memory that a process can still take: what the system has free, within its own limits."""
    return free_bytes()
