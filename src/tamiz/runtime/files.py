"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any


def write_whole(path: Any, content: bytes | Callable[[IO[bytes]], Any]) -> None:
    """Put a file in its place at once: a reader, or a crash, meets the old file or the new one.

    The content is written to a file beside the place, flushed to disk, and moved there. Of a link,
    what it points to is replaced. A file that was there before keeps its permissions, and is
    unchanged if an error is raised.

    Parameters
    ----------
    path : str or path
        The file. Its folder must exist.
    content : bytes or callable
        What to write, or a function that writes it to the open file it is given.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    handle, beside = tempfile.mkstemp(
        prefix=f".{target.name[:80]}.", suffix=".new", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, _permissions(target))
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _permissions(target: Path) -> int:
    """Those of the file that is there, or those that a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
