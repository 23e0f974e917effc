"""How much memory is free, and whether a table fits into it: dense copies, and whole files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from scipy import sparse

from tamiz.data.errors import DataError
from tamiz.data.formats import WRITTEN
from tamiz.data.formats import table_bytes as bytes_of_file
from tamiz.data.loading import find_path
from tamiz.validation import checked, real_number


def dense_copy(X: Any, remedy: str, *, tables: int = 1) -> Any:
    """A sparse matrix as an array, if memory allows; anything else as it is.

    Parameters
    ----------
    X : sparse matrix or anything else
        The table.
    remedy : str
        A sentence for those whose copy is too large: what to do instead.
    tables : int, default=1
        How many tables of this size the work on it takes, the copy among them.

    Raises
    ------
    MemoryError
        If they would take more than is free. Said before anything is allocated: a system that
        promises more than it has ends the process later, without a word.
    """
    if not sparse.issparse(X):
        return X
    needed = 8 * tables * X.shape[0] * X.shape[1] if X.ndim == 2 else 0
    if needed > (free := free_bytes()):
        work = "" if tables == 1 else " with the work on it"
        raise MemoryError(
            f"X is sparse, and this needs a dense copy of its {X.shape[0]:,} × {X.shape[1]:,} "
            f"values: about {_size(needed)}{work}, but {_size(free)} of memory are free. {remedy}"
        )
    return X.toarray()


def free_bytes() -> int:
    """Memory that this process can still take: what the system has, within the limits set to it."""
    known = [most for most in (_system(), *map(_container, _LIMITS)) if most is not None]
    if known:
        return min(known)
    try:  # a guess: half of all
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not every platform says
        return 4 << 30


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


#: Folder, file of the limit and file of what is used, of both kinds of control groups.
_LIMITS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def _system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        said = dict(line.split(":", 1) for line in lines if ":" in line)
        return 1024 * int(said["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError, IndexError):
        return None


def _container(names: tuple[str, str, str]) -> int | None:
    """What is left of the limit of a control group; pages of files are given back when asked."""
    folder, limit, usage = names
    try:
        most, used = (
            int(Path(folder, name).read_text(encoding="utf-8")) for name in (limit, usage)
        )
        said = dict(
            line.split()
            for line in Path(folder, "memory.stat").read_text(encoding="utf-8").splitlines()
        )
        used -= int(said.get("inactive_file", 0))
    except (OSError, ValueError):  # no group, or no limit
        return None
    return max(0, most - used) if most < 1 << 60 else None


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:,.1f} MB"
