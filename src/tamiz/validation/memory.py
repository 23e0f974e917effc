"""How much memory is free, and a sentence before more than that is taken.

A system that promises more memory than it has ends the process later, without a word. So whoever
is about to allocate something that grows faster than the data (a Gram matrix, a dense copy of a
sparse table, a table of indicators) asks here first. The environment variable TAMIZ_FREE_MEMORY
(``"500M"``, ``"3G"``, or bytes) says how much may be taken, in the place of what the system says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tamiz.validation.errors import NotEnoughMemoryError

#: What takes less is never asked about: looking up what is free takes longer than allocating it.
_SMALL = 32 << 20

_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def require_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse what would take more memory than is free, before anything is allocated.

    Parameters
    ----------
    n_bytes : float
        Memory that is about to be taken, all copies at one time included.
    what : str
        What takes it, without a full stop.
    remedy : str
        A sentence: what to do instead.

    Raises
    ------
    NotEnoughMemoryError
        With ``needed`` and ``free`` in bytes, and ``remedy``.
    """
    if fits_memory(n_bytes):
        return
    free = free_bytes()
    raise NotEnoughMemoryError(
        f"{what}: about {shown_size(n_bytes)}, but {shown_size(free)} of memory are free. {remedy}",
        needed=int(n_bytes),
        free=free,
        remedy=remedy,
    )


def fits_memory(n_bytes: float) -> bool:
    """Whether so much memory is free."""
    return (n_bytes <= _SMALL and _said() is None) or n_bytes <= free_bytes()


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
    """
    from scipy import sparse

    if not sparse.issparse(X):
        return X
    if X.ndim == 2:
        work = "this needs" if tables == 1 else "this needs, and works on,"
        require_memory(
            8 * tables * X.shape[0] * X.shape[1],
            f"X is sparse, and {work} a dense copy of its {X.shape[0]:,} × {X.shape[1]:,} values",
            remedy,
        )
    return X.toarray()


def require_gram(n: int, m: int, itemsize: int = 8, matrices: int = 1) -> None:
    """Refuse kernel values between n and m samples that memory does not hold."""
    require_memory(
        matrices * itemsize * n * m,
        f"kernel values between {n:,} and {m:,} samples",
        "Use fewer samples or blocks of rows; kernel.prepare(X, dtype='float32') halves the "
        "memory, and machines of tamiz.svm need no more than their cache_mb.",
    )


def require_inner_products(n: int, matrices: int = 1) -> None:
    """Refuse matrices of the inner products of n samples that memory does not hold."""
    require_memory(
        8 * matrices * n * n,
        f"inner products of all pairs of {n:,} samples",
        "Use fewer samples, or a machine that reads them one by one, such as PegasosClassifier.",
    )


def free_bytes() -> int:
    """Memory that this process can still take: what the system has, within the limits set to it.

    The least of: memory that is available, what is left of the control groups of the process
    (containers, batch systems) and of its limit of address space (``ulimit -v``).
    """
    said = _said()
    if said is not None:
        return said
    answers = (_system(), _windows(), _address_space(), *_groups())
    known = [most for most in answers if most is not None]
    if known:
        return min(known)
    try:  # a guess: half of all
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not every platform says
        return 4 << 30


def shown_size(n_bytes: float) -> str:
    """A number of bytes for readers: "0.5 MB", "12.3 GB"."""
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:,.1f} MB"


def left_in_group(folder: Path, limit: str, usage: str) -> int | None:
    """What is left of the limit of a control group; pages of files are given back when asked."""
    try:
        most, used = (int((folder / name).read_text("utf-8")) for name in (limit, usage))
        said = dict(
            line.split() for line in (folder / "memory.stat").read_text("utf-8").splitlines()
        )
        used -= int(said.get("inactive_file", 0))
    except (OSError, ValueError):  # no group, or no limit
        return None
    return max(0, most - used) if most < 1 << 60 else None


def _said() -> int | None:
    text = os.environ.get("TAMIZ_FREE_MEMORY", "").strip().upper().removesuffix("B")
    if not text:
        return None
    number, shift = (text[:-1], _UNITS[text[-1]]) if text[-1] in _UNITS else (text, 0)
    try:
        return int(float(number) * (1 << shift))
    except (ValueError, OverflowError):
        raise ValueError(
            f"TAMIZ_FREE_MEMORY={os.environ['TAMIZ_FREE_MEMORY']!r} is no amount of memory; write "
            "bytes, or a number with a unit such as 500M or 3G."
        ) from None


def _system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        said = dict(line.split(":", 1) for line in lines if ":" in line)
        return 1024 * int(said["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError, IndexError):
        return None


def _windows() -> int | None:
    """What GlobalMemoryStatusEx says: the least of physical memory and of what may be committed."""
    if sys.platform != "win32":
        return None
    import ctypes

    names = ("total", "free", "total_page", "free_page", "total_own", "free_own", "extended")
    fields = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)]
    status = type(
        "MemoryStatus",
        (ctypes.Structure,),
        {"_fields_": [*fields, *((name, ctypes.c_ulonglong) for name in names)]},
    )()
    status.length = ctypes.sizeof(status)
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(min(status.free, status.free_page, status.free_own))


def _address_space() -> int | None:
    """What is left of the limit of address space, where there is one (``ulimit -v``)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
    except (ImportError, AttributeError, OSError, ValueError, IndexError):
        return None
    return max(0, most - pages * resource.getpagesize())


def _groups() -> Iterator[int | None]:
    """Of every control group that the process is in: what is left."""
    inside = ["/"]
    try:
        for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or "memory" in controllers.split(","):
                inside.append(path)
    except (OSError, ValueError):
        pass
    for base, limit, usage in (
        (Path("/sys/fs/cgroup"), "memory.max", "memory.current"),
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        folders = {base / path.lstrip("/") for path in inside}
        folders |= {above for folder in folders for above in folder.parents}
        for folder in sorted(one for one in folders if one.is_relative_to(base)):
            yield left_in_group(folder, limit, usage)
