"""A journal of results on disk: appended as they come, safe against a kill at any instant.

The file is text. Its first line holds the number of bytes that are known to be complete, in a
field of fixed width that is rewritten in place after every record; the second says which run the
journal belongs to; then one record a line, with a checksum. A file shorter than its first line says
was cut; bytes beyond it were in flight when the process died, and are dropped.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tamiz.runtime.checkpoint import refuse_other_run, refuse_unwritable

try:
    import fcntl
except ImportError:  # a system without it
    fcntl = None  # type: ignore[assignment]

_NAME = "tamiz journal"
_VERSION = 1
_WIDTH = 20
_FIRST = len(f"{_NAME} {_VERSION} {0:0{_WIDTH}d}\n")


class Journal:
    """Records of one run, kept in a file.

    Parameters
    ----------
    path : str or path
        The file. Its folder must exist.
    identity : dict of str
        Which run this is; see :func:`tamiz.runtime.checkpoint.identity`.
    resume : bool
        Whether to take up the records that the file holds. Without it an existing file is an
        error, so that no earlier run is lost.
    facts : dict, optional
        What the run decided at its beginning and must decide again, such as a seed. Of a journal
        that is taken up, the facts are those it holds.

    Attributes
    ----------
    records : list
        What was found in the file.
    facts : dict
        See above.
    """

    def __init__(
        self,
        path: Any,
        identity: dict[str, str],
        *,
        resume: bool = False,
        facts: dict[str, Any] | None = None,
    ):
        self.path = Path(path)
        self.records: list[Any] = []
        self.facts = facts or {}
        self._file: int | None = None
        if self.path.exists():
            if not resume:
                raise FileExistsError(
                    f"checkpoint={str(path)!r} exists already. Pass resume=True to go on from it, "
                    "or name another file."
                )
            self._open(os.O_RDWR)
            try:
                self._length = self._read(identity)
            except BaseException:
                self.close()
                raise
            os.ftruncate(self._descriptor, self._length)
        else:
            refuse_unwritable(self.path)
            self._length = self._create(json.dumps({"identity": identity, "facts": self.facts}))
            self._open(os.O_RDWR)

    def append(self, records: Iterable[Any]) -> None:
        """Write records, values that JSON can hold."""
        lines = []
        for record in records:
            text = json.dumps(record, separators=(",", ":"))
            lines.append(f"{zlib.crc32(text.encode()):08x} {text}\n")
        content = "".join(lines).encode()
        if content:
            self._write(content, self._length)
            self._length += len(content)
            self._commit()

    def close(self) -> None:
        """Close the file; what was appended is on disk."""
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _descriptor(self) -> int:
        if self._file is None:
            raise ValueError(f"the journal {self.path} is closed.")
        return self._file

    def _open(self, flags: int) -> None:
        try:
            self._file = os.open(self.path, flags | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise type(error)(
                f"checkpoint={str(self.path)!r} cannot be written to ({error.strerror or error})."
            ) from None
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._file)
                self._file = None
                raise ValueError(
                    f"checkpoint={str(self.path)!r} is in use by another run. Wait for its end, or "
                    "name another file."
                ) from None

    def _create(self, about: str) -> int:
        """Write the beginning beside its place and move it there: it is never there in part."""
        length = _FIRST + len(about.encode()) + 1
        beside = self.path.with_name(self.path.name + ".new")
        try:
            beside.write_bytes(f"{self._first(length)}{about}\n".encode())
            os.replace(beside, self.path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise type(error)(
                f"checkpoint={str(self.path)!r} cannot be written to ({error.strerror or error})."
            ) from None
        return length

    def _first(self, length: int) -> str:
        return f"{_NAME} {_VERSION} {length:0{_WIDTH}d}\n"

    def _commit(self) -> None:
        self._write(self._first(self._length).encode(), 0)

    def _write(self, content: bytes, place: int) -> None:
        try:
            os.lseek(self._descriptor, place, os.SEEK_SET)
            done = 0
            while done < len(content):
                done += os.write(self._descriptor, content[done:])
        except OSError as error:
            raise OSError(
                f"The journal {self.path} could not be written ({error.strerror or error}); what "
                "it held before is intact, and the run can be resumed from it."
            ) from error

    def _read(self, identity: dict[str, str]) -> int:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise type(error)(
                f"checkpoint={str(self.path)!r} cannot be read ({error.strerror or error})."
            ) from None
        if not content.startswith(f"{_NAME} ".encode()):
            raise ValueError(
                f"checkpoint={str(self.path)!r} is no journal of tamiz. Name another file."
            )
        first = re.fullmatch(rb"[a-z ]+ (\d+) (\d+)\n", content[:_FIRST])
        if first is None:
            raise ValueError(self._damaged("its first line is not complete"))
        version, length = int(first[1]), int(first[2])
        if version != _VERSION:
            raise ValueError(
                f"checkpoint={str(self.path)!r} has version {version}; this tamiz reads version "
                f"{_VERSION}. Name another file, or remove this one."
            )
        if len(content) < length or length < _FIRST:
            raise ValueError(
                self._damaged(f"{len(content):,} of its {length:,} bytes are left; it was cut")
            )
        lines = content[_FIRST:length].decode("utf-8", errors="replace").split("\n")
        try:
            about = json.loads(lines[0])
            found, self.facts = about["identity"], about["facts"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(self._damaged("line 2 cannot be read")) from None
        refuse_other_run(self.path, found, identity)
        for number, line in enumerate(lines[1:-1], start=3):
            checksum, _, text = line.partition(" ")
            if checksum != f"{zlib.crc32(text.encode()):08x}":
                raise ValueError(self._damaged(f"line {number} is not what was written"))
            self.records.append(json.loads(text))
        return length

    def _damaged(self, how: str) -> str:
        return (
            f"checkpoint={str(self.path)!r} is damaged: {how}. Restore it from a copy, or name "
            "another file to begin anew."
        )
