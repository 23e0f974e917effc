"""Checkpoints of long runs: written completely or not at all, and never resumed by another run.

A checkpoint is one ``.npz`` file of plain arrays, with a JSON text inside that says which run it
belongs to. It is replaced as a whole, so that a process that dies at any instant leaves the
previous state or the new one. It is replaced only if it is still the file that this run wrote or
read last: of two runs with one checkpoint the second to write is refused. Nothing in it is code:
reading it runs none.

A journal is a text file of results, appended as they come. Its first line holds the number of bytes
that are known to be complete, in a field of fixed width that is rewritten in place after every
record; the second says which run the journal belongs to; then one record a line. Every line has a
checksum, of all lines from the second to its own: none can change its place. A file shorter than
its first line says was cut; bytes beyond it were being written when the process died, and are
dropped.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit

from tamiz.validation import DamagedFileError, check_resume

_SPLITTERS = (BaseCrossValidator, BaseShuffleSplit)
FORMAT = "tamiz checkpoint"
VERSION = 1
_NAME = "tamiz journal"
_JOURNAL = 2  # the version that is written; the first has no checksums in its two first lines
_WIDTH = 20
_LOCKED = (1 << 31) - 2  # the byte that stands for a journal where a lock keeps others from reading
_WAITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # seconds between attempts to replace a file


def digest(*arrays: Any) -> str:
    """A hash of data: equal for equal values, types and shapes."""
    total = hashlib.sha256()
    for array in arrays:
        if sparse.issparse(array):
            array = array.tocsr()
            parts = [array.data, array.indices, array.indptr]
        else:
            parts = [np.asarray(array)]
        for part in parts:
            total.update(f"{part.dtype.str}{part.shape}".encode())
            if part.dtype.hasobject:
                total.update(repr(part.tolist()).encode())
            else:
                total.update(np.ascontiguousarray(part).view(np.uint8).data)
    return total.hexdigest()


def identity(estimator: Any, *data: Any, leave_out: tuple[str, ...] = ()) -> dict[str, str]:
    """What must agree for a run to be resumed: the method, its parameters, and the data.

    Parameters that do not change the answer are left out: where the checkpoint lies, whether to
    resume, how many jobs, on which device, how much is printed.
    """
    ignored = {"checkpoint", "resume", "n_jobs", "device", "verbose", *leave_out}
    params = estimator.get_params(deep=True)
    return {
        "method": type(estimator).__name__,
        **{
            name: stable_text(value)
            for name, value in params.items()
            if name not in ignored and not name.endswith(("__n_jobs", "__device", "__verbose"))
        },
        "data": digest(*data),
    }


def stable_text(value: Any) -> str:
    """A text for a parameter that is the same in another process."""
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return digest(value)
    if isinstance(value, np.random.RandomState):
        state: Any = value.get_state(legacy=True)
        return f"RandomState#{_short(state[1].tobytes().hex() + repr(state[2:]))}"
    if isinstance(value, np.random.Generator):
        return f"Generator#{_short(repr(value.bit_generator.state))}"
    if isinstance(value, Iterator):
        raise ValueError(
            f"{type(value).__name__} objects can be read only once, so that a checkpoint could not "
            "recognise them later; pass a list instead."
        )
    if callable(value) and hasattr(value, "__qualname__"):
        module = getattr(value, "__module__", None)  # methods of built-in types have none
        return f"{module}.{value.__qualname__}{_code_digest(value)}"
    if isinstance(value, (list, tuple)):  # of splits, say, whose repr leaves out the middle
        return f"{type(value).__name__}({', '.join(map(stable_text, value))})"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({', '.join(sorted(map(stable_text, value)))})"
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{stable_text(k)}: {stable_text(v)}" for k, v in value.items()) + "}"
        )
    if isinstance(value, BaseEstimator):
        return type(value).__qualname__  # its parameters are listed one by one
    inside = getattr(value, "__dict__", None)
    if inside is not None and (isinstance(value, _SPLITTERS) or _mute(value)):
        own = ", ".join(f"{name}={stable_text(item)}" for name, item in sorted(inside.items()))
        return f"{type(value).__qualname__}({own})"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))  # addresses differ between processes


def _mute(value: Any) -> bool:
    """Whether an object prints as nothing but its address."""
    return type(value).__repr__ is object.__repr__


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _code_digest(function: Any) -> str:
    """What a function does, as far as its code, its defaults and what it closes over say."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    parts = [
        code.co_code.hex(),
        *(stable_text(constant) for constant in code.co_consts if not hasattr(constant, "co_code")),
        *(nested.co_code.hex() for nested in code.co_consts if hasattr(nested, "co_code")),
        *code.co_names,
        *(stable_text(value) for value in getattr(function, "__defaults__", None) or ()),
        *(stable_text(value) for value in cells if value is not function),
    ]
    return "#" + _short("\0".join(parts))


class Checkpoint:
    """The state of one run, kept in a file.

    Parameters
    ----------
    path : str or path
        The file. Its folder must exist.
    identity : dict of str
        Which run this is; see :func:`identity`.
    resume : bool
        Whether to resume from the state in the file. Without it an existing file is an error,
        so that no earlier run is lost.
    every : float, default=2.0
        Minimum number of seconds between two writes. After a slow write the next one waits twenty
        times as long as that took, so that at most a twentieth of the time goes into writing.

    Attributes
    ----------
    state : dict or None
        The state found: arrays by name. None if there was none.
    """

    def __init__(
        self, path: Any, identity: dict[str, str], *, resume: bool = False, every: float = 2.0
    ):
        self.path = Path(path)
        self.identity = identity
        self.every = every
        self.state: dict[str, np.ndarray] | None = None
        self._wait = every
        self._last = time.monotonic()
        self._ours: _Stamp | None = None  # the file that this run wrote or read last
        if _found(self.path, resume):
            self.state = self._read()

    def save(self, state: dict[str, Any], *, now: bool = False) -> None:
        """Write the state, unless the last write is too recent and ``now`` is false."""
        if not now and time.monotonic() - self._last < self._wait:
            return
        began = time.perf_counter()
        content = io.BytesIO()
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in state.items()}
        header = {
            **{"format": FORMAT, "version": VERSION, "identity": self.identity},
            "arrays": sorted(arrays),  # an archive has no checksum of its list of members
        }
        for name, array in arrays.items():
            if array.dtype.hasobject:
                raise TypeError(f"{name} is not an array of numbers or text")
        np.savez_compressed(content, __header__=np.array(json.dumps(header)), **arrays)
        try:
            write_whole(self.path, content.getvalue(), self._settle)
        except OSError as error:
            raise OSError(
                f"The checkpoint {self.path} could not be written ({error.strerror or error}); "
                "the previous one, if any, is intact."
            ) from error
        self._last = time.monotonic()
        if self.every:  # zero asks for every state, whatever it costs
            self._wait = max(self.every, 20.0 * (time.perf_counter() - began))

    def _settle(self, beside: Path, target: Path) -> None:
        """Move a new file to its place, unless another run has put one there."""
        _exchange(beside, target, self._ours)
        self._ours = _Stamp.of(target.stat())

    def _read(self) -> dict[str, np.ndarray]:
        try:
            with self.path.open("rb") as file:
                self._ours = _Stamp.of(os.fstat(file.fileno()))
                with np.load(file, allow_pickle=False) as archive:
                    arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop("__header__")))
            found = header["identity"] if header.get("format") == FORMAT else None
            if header.get("arrays", sorted(arrays)) != sorted(arrays):
                raise ValueError("an array is missing")
            if not all(isinstance(array, np.ndarray) for array in arrays.values()):
                raise ValueError("a part is no array")
        except Exception as error:  # of the many that a mangled archive can cause
            raise DamagedFileError(
                f"checkpoint={str(self.path)!r} is no checkpoint of tamiz, or is damaged "
                f"({type(error).__name__}). Name another file, or remove this one.",
                path=str(self.path),
            ) from None
        if not isinstance(found, dict):
            raise ValueError(
                f"checkpoint={str(self.path)!r} is no checkpoint of tamiz. Name another file."
            )
        if header.get("version") != VERSION:
            raise _other_version(self.path, header.get("version"))
        _refuse_other_run(self.path, found, self.identity)
        return arrays


class _Stamp(NamedTuple):
    """Which file it is: one that replaces it has another number, whatever its time."""

    device: int
    number: int
    size: int

    @classmethod
    def of(cls, found: os.stat_result) -> _Stamp:
        return cls(found.st_dev, found.st_ino, found.st_size)


def _exchange(beside: Path, target: Path, ours: _Stamp | None) -> None:
    """Replace ``target`` if it is the file that is ours, or is not there."""
    try:
        file = os.open(target, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            _put(beside, target)
            return
        raise _in_use(target) from None
    try:
        # asked before it is locked, too: who is refused must not be in the way of the owner
        if _Stamp.of(os.fstat(file)) != ours or not _locked(file, _WAITS):
            raise _in_use(target)
        if not _Stamp.of(os.fstat(file)) == _Stamp.of(target.stat()) == ours:
            raise _in_use(target)
        if os.name == "nt":  # where no file can be replaced that is open
            os.close(file)
            file = -1
        _replace(beside, target)
    finally:
        if file >= 0:
            os.close(file)


def _put(beside: Path, target: Path) -> None:
    """Move a file to a place where none is."""
    try:
        target.hardlink_to(beside)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(errno.EEXIST, "it is there", str(target)) from None
        _replace(beside, target)
    else:
        beside.unlink()


def _in_use(path: Path) -> ValueError:
    return ValueError(
        f"checkpoint={str(path)!r} is in use by another run. Wait for its end, or name another "
        "file."
    )


def open_checkpoint(
    estimator: Any, *data: Any, leave_out: tuple[str, ...] = ()
) -> Checkpoint | None:
    """The checkpoint that ``estimator.checkpoint`` names, or None if it names none."""
    check_resume(estimator.resume, estimator.checkpoint)
    if estimator.checkpoint is None:
        return None
    return Checkpoint(
        estimator.checkpoint,
        identity(estimator, *data, leave_out=leave_out),
        resume=estimator.resume,
    )


def open_journal(
    estimator: Any, seed: int, *data: Any, leave_out: tuple[str, ...] = (), **more: str
) -> Journal | None:
    """The journal that ``estimator.checkpoint`` names, or None if it names none.

    ``more`` is what must agree besides the parameters and the data; the seed is among its facts.
    """
    check_resume(estimator.resume, estimator.checkpoint)
    if estimator.checkpoint is None:
        return None
    path = Path(estimator.checkpoint)
    if path.is_dir():
        raise IsADirectoryError(
            f"checkpoint={str(path)!r} is a folder; name a file, for instance "
            f"{str(path / 'run.journal')!r}."
        )
    about = {**identity(estimator, *data, leave_out=leave_out), **more}
    return Journal(path, about, resume=estimator.resume, facts={"seed": seed})


class Journal:
    """Records of one run, kept in a file.

    Parameters
    ----------
    path : str or path
        The file. Its folder must exist.
    identity : dict of str
        Which run this is; see :func:`identity`.
    resume : bool
        Whether to resume from the records in the file. Without it an existing file is an
        error, so that no earlier run is lost.
    facts : dict, optional
        What the run decided at its beginning and must decide again, such as a seed. When a
        journal is resumed, the facts are those it holds.

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
        self._version = _JOURNAL
        self._sum = 0
        if _found(self.path, resume):
            self._open(os.O_RDWR)
            try:
                self._length = self._read(identity)
            except BaseException:
                self.close()
                raise
            os.ftruncate(self._descriptor, self._length)
        else:
            self._length = self._create(json.dumps({"identity": identity, "facts": self.facts}))
            self._open(os.O_RDWR)

    def append(self, records: Iterable[Any]) -> None:
        """Write records, values that JSON can hold."""
        before = self._sum
        try:
            content = "".join(
                self._line(json.dumps(record, separators=(",", ":"))) for record in records
            ).encode()
            self._write(content, self._length)
        except BaseException:  # the next line goes on from what is in the file
            self._sum = before
            raise
        if content:
            self._length += len(content)
            self._commit()

    def close(self) -> None:
        """Close the file; what was appended is on disk."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            os.fsync(file)
        except OSError as error:
            raise OSError(
                f"The journal {self.path} could not be written ({error.strerror or error}); the "
                "run can be resumed from what has reached the disk."
            ) from error
        finally:
            _unlock(file)
            os.close(file)

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
        if not _locked(self._file):
            os.close(self._file)
            self._file = None
            raise _in_use(self.path) from None

    def _create(self, about: str) -> int:
        """Write the header, completely or not at all."""
        second = self._line(about)
        length = len(self._first(0)) + len(second.encode())
        try:
            write_whole(self.path, f"{self._first(length)}{second}".encode())
        except OSError as error:
            raise type(error)(
                f"checkpoint={str(self.path)!r} cannot be written to ({error.strerror or error})."
            ) from None
        return length

    def _first(self, length: int) -> str:
        text = f"{_NAME} {self._version} {length:0{_WIDTH}d}"
        return f"{text}\n" if self._version == 1 else f"{text} {zlib.crc32(text.encode()):08x}\n"

    def _line(self, text: str) -> str:
        """A line with its checksum, which goes on from that of the line before."""
        self._sum = zlib.crc32(text.encode(), 0 if self._version == 1 else self._sum)
        return f"{self._sum:08x} {text}\n"

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
        top, _, rest = content.partition(b"\n")
        first = re.fullmatch(rb"[a-z ]+ (\d{1,9}) (\d{20})( [0-9a-f]{8})?", top)
        if first is None:
            raise self._damaged("its first line is not complete")
        self._version, length = int(first[1]), int(first[2])
        if self._version not in (1, _JOURNAL):
            raise _other_version(self.path, self._version)
        if self._first(length).encode() != top + b"\n":
            raise self._damaged("its first line is not what was written")
        if len(content) < length or length <= len(top):
            raise self._damaged(f"{len(content):,} of its {length:,} bytes are left; it was cut")
        lines = rest[: length - len(top) - 1].decode("utf-8", errors="replace").split("\n")
        if lines[-1]:
            raise self._damaged("its last line does not end")
        # in the first version the second line has no checksum
        texts = [
            line if self._version == 1 and number == 2 else self._checked(line, number)
            for number, line in enumerate(lines[:-1], start=2)
        ]
        try:
            about = json.loads(texts[0])
            found, self.facts = about["identity"], about["facts"]
            self.records = [json.loads(text) for text in texts[1:]]
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            raise self._damaged("line 2 cannot be read") from None
        _refuse_other_run(self.path, found, identity)
        return length

    def _checked(self, line: str, number: int) -> str:
        """A line without its checksum."""
        text = line.partition(" ")[2]
        if self._line(text) != f"{line}\n":
            raise self._damaged(f"line {number} is not what was written")
        return text

    def _damaged(self, how: str) -> DamagedFileError:
        return DamagedFileError(
            f"checkpoint={str(self.path)!r} is damaged: {how}. Restore it from a copy, or name "
            "another file to begin anew.",
            path=str(self.path),
        )


def _found(path: Path, resume: bool) -> bool:
    """Whether there is a state to resume; refuses files that cannot be written or would be lost."""
    if not path.exists():
        _refuse_unwritable(path)
        return False
    if not resume:
        raise FileExistsError(
            f"checkpoint={str(path)!r} exists already. Pass resume=True to go on from it, or name "
            "another file."
        )
    if not path.is_file() and not path.is_dir():
        raise ValueError(
            f"checkpoint={str(path)!r} is a device or a pipe, not a file. Name another file."
        )
    return True


def _refuse_other_run(path: Path, found: dict[str, str], wanted: dict[str, str]) -> None:
    """Raise an error if a file belongs to another run."""
    # the method first: if it differs, its parameters differ too
    for name in sorted({*found, *wanted}, key=lambda name: (name != "method", name)):
        before, now = found.get(name), wanted.get(name)
        if before != now:
            what = (
                "the data are not the same"
                if name == "data"
                else f"{name} was {before}, and is {now}"
            )
            raise ValueError(
                f"checkpoint={str(path)!r} belongs to another run: {what}. Name another file, or "
                "repeat the call that wrote it."
            )


def _other_version(path: Path, found: Any) -> ValueError:
    return ValueError(
        f"checkpoint={str(path)!r} has version {found!r:.40}, which this tamiz does not read. Name "
        "another file, or remove this one."
    )


def _refuse_unwritable(path: Path) -> None:
    """Raise an error before the work begins if its state could not be written."""
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"checkpoint={str(path)!r}: the folder {str(folder)!r} does not exist."
        )
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            f"checkpoint={str(path)!r}: the folder {str(folder)!r} cannot be written to."
        )


# ------------------------------------------------------------------------------ files written whole


def write_whole(
    path: Any,
    content: bytes | Callable[[IO[bytes]], Any],
    settle: Callable[[Path, Path], Any] | None = None,
) -> None:
    """Replace a file atomically: a reader, even after a crash, sees the old file or the new one.

    The content is written to a file beside the place, flushed to disk, and moved there. Of a link,
    what it points to is replaced. A file that was there before keeps its permissions, and is
    unchanged if an error is raised.

    Parameters
    ----------
    path : str or path
        The file. Its folder must exist.
    content : bytes or callable
        What to write, or a function that writes it to the open file it is given.
    settle : callable, optional
        Moves the complete file to its place, if not as usual.
    """
    target = Path(os.path.realpath(path))
    _refuse_strange(target)
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
        Path(beside).chmod(_permissions(target))
        (settle or _replace)(Path(beside), target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(beside).unlink()
        raise


def open_to_read(path: Path) -> IO[bytes]:
    """Open a file of bytes; one that cannot be read is an OSError with a sentence."""
    try:
        _refuse_strange(path)
        return path.open("rb")
    except OSError as error:
        raise cannot("read", path, error) from None


def _refuse_strange(path: Path) -> None:
    """Refuse what is neither a file nor a folder: reading it may never end, and moving a file to
    its place would remove it.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")


_WHY = {
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "access is denied",
    errno.EPERM: "access is denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your quota of the disk is used up",
    errno.ENAMETOOLONG: "the name is too long",
}


def cannot(what: str, place: Path, error: OSError) -> OSError:
    """The same kind of error, as a sentence."""
    number = error.errno or 0
    why = _WHY.get(number) or error.strerror or str(error)
    rest = " A file that was there before is unchanged." if what == "write" else ""
    return OSError(number, f"cannot {what} {str(place)!r}: {why}.{rest}")


def _replace(new: Path, target: Path) -> None:
    """Move a file to the place of another.

    Windows refuses (errors 5 and 32) as long as somebody, a virus scanner perhaps, reads the old
    one: that is waited for, about a second.
    """
    for wait in _WAITS:
        try:
            new.replace(target)
            return
        except PermissionError as error:
            if getattr(error, "winerror", None) not in (5, 32):
                raise
            time.sleep(wait)
    new.replace(target)


def _locked(file: int, waits: tuple[float, ...] = ()) -> bool:
    """Keep other processes out, where the file system can; False if one of them stays inside."""
    for wait in (0.0, *waits):
        time.sleep(wait)
        try:
            _lock(file)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                return True  # there are no locks here
        else:
            return True
    return False


def _lock(file: int) -> None:
    """Keep other processes out until the file is closed; OSError if one of them is inside."""
    try:
        posix: Any = import_module("fcntl")
    except ImportError:
        with contextlib.suppress(ImportError):  # neither: a browser, where no other process is
            windows: Any = import_module("msvcrt")
            os.lseek(file, _LOCKED, os.SEEK_SET)
            windows.locking(file, windows.LK_NBLCK, 1)
    else:
        posix.flock(file, posix.LOCK_EX | posix.LOCK_NB)


def _unlock(file: int) -> None:
    """Give a locked file free at once: Windows does it some time after it is closed."""
    with contextlib.suppress(ImportError, OSError):  # not Windows; not locked
        windows: Any = import_module("msvcrt")
        os.lseek(file, _LOCKED, os.SEEK_SET)
        windows.locking(file, windows.LK_UNLCK, 1)


def _permissions(target: Path) -> int:
    """Permissions of the existing file, or those that a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
