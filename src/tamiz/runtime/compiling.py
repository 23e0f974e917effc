"""Compiled functions: how they are declared, where they are kept, and who hears of compiling.

``njit`` here is numba's, with a cache of its own. numba's keeps a function as long as the file
that it stands in and the version of numba are the same. Ours asks more, and less:

- It is in a folder that the versions of NumPy, numba and llvmlite name, so that two environments
  may share it, and none loads what was compiled for another NumPy. (Python's version is in the
  names of the files, the processor in their index.)
- It is out of date as soon as the text of the file changed, whatever its time stamp, or that of a
  file from which it takes compiled functions, named tuples or constants.
- It is written where NUMBA_CACHE_DIR says, else beside the source, else in the user's cache
  folder, else in a private one among the temporary files. If ``tamiz compile`` has filled one that
  cannot be written (a container image), it is read. Where nothing can be written or what is there
  is damaged, functions are compiled anew.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import inspect
import os
import pickle
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import event, sigutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.cpython import hashing as hashing  # compiled code may refer to its symbols

from tamiz.runtime import progress
from tamiz.runtime.libraries import put_off_machine_code
from tamiz.runtime.reading import for_writable

#: Name of the folder for the versions that compiled code depends on.
VERSIONS = f"numpy{np.__version__}-numba{numba.__version__}-llvmlite{llvmlite.__version__}"

#: Attributes of a module that compiled functions take into themselves.
_TAKEN_IN = (Dispatcher, int, float, complex, str, bytes, tuple, np.ndarray, np.generic)

_IMPORT = re.compile(r"^[ \t]*from ([\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)


def njit(*functions: Callable[..., Any], cache: bool = False, **options: Any) -> Any:
    """``numba.njit`` whose cache is that of this module; use it as a decorator.

    Parameters
    ----------
    cache : bool, default=False
        Keep the compiled function on disk.
    **options
        Those of :func:`numba.njit`.
    """
    if functions:
        return njit(cache=cache, **options)(*functions)
    # nobody asks for the address of a C function, and making it takes a twentieth of the time
    compile_later = numba.njit(**{"no_cfunc_wrapper": True, **options})

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher: Any = compile_later(function)
        if not numba.config.DISABLE_JIT:
            dispatcher.__class__ = _Dispatcher
            if cache:
                dispatcher._cache = _Cache(function)
        return dispatcher

    return decorate


class _Dispatcher(CPUDispatcher):
    """numba's, which compiles less of what only compiled functions call.

    Such a function needs no entry for Python, which unpacks its arguments and takes a tenth of the
    time. It is compiled again, with one, if Python calls it after all. Nor does Python look for
    garbage meanwhile: what the compiler builds is alive, and looking takes another tenth. Arrays
    that must not be written share the code of others where a function only reads them.
    """

    _called_by_compiled = False  #: of the class; the compiler's lock guards it

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a compiled function that calls this one asks for while it is compiled."""
        before, _Dispatcher._called_by_compiled = _Dispatcher._called_by_compiled, True
        try:
            return super().get_call_template(args, kws)
        finally:
            _Dispatcher._called_by_compiled = before

    def compile(self, sig: Any) -> Any:
        """Compile or load for these types of arguments, unless that is done."""
        with global_compiler_lock:
            inner = _Dispatcher._called_by_compiled
            self._compiler.targetoptions["no_cpython_wrapper"] = inner
            if inner:
                return super().compile(sig)
            args, _ = sigutils.normalize_signature(sig)
            if (same := for_writable(self.py_func, args)) != args:
                return self._compile_as(same, args)
            if args in self.overloads and not _has_entry(self.overloads[args]):
                del self.overloads[args]
            with _no_collecting(), put_off_machine_code(self.targetctx.codegen()):
                return super().compile(sig)

    def _compile_as(self, same: Any, args: Any) -> Any:
        """Let what is compiled for some types serve others, too, where both are the same code."""
        entry = self.compile(same)
        found = self.overloads[same]
        self._insert([kind._code for kind in args], found.entry_point, found.objectmode)
        return entry

    def add_overload(self, cres: Any) -> None:
        """Keep what was compiled; Python finds it if it has an entry."""
        if _has_entry(cres):
            super().add_overload(cres)
        else:
            self.overloads[tuple(cres.signature.args)] = cres


def _has_entry(compiled: Any) -> bool:
    """Whether Python can call what was compiled."""
    name = compiled.fndesc.llvm_cpython_wrapper_name
    return bool(compiled.library.get_pointer_to_function(name))


@contextlib.contextmanager
def _no_collecting() -> Iterator[None]:
    """Inside, Python does not look for garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# ------------------------------------------------------------------------------------ the cache


def cache_folder() -> Path:
    """The folder under which functions of this package are kept, one folder a room."""
    return _place(inspect.getfile(njit)).parent


def is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def _place(py_file: str) -> Path:
    """The folder for the functions of a file: the first that can be written, or was filled."""
    room = Path(py_file).resolve().parent
    beside = f"{room.name}_{hashlib.sha256(os.fsencode(room)).hexdigest()[:40]}"
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR, VERSIONS, beside)
    own = Path(py_file).parent / "__pycache__" / VERSIONS
    if _usable(own):
        return own
    return _folder_of_the_user() / VERSIONS / beside


@functools.cache
def _folder_of_the_user() -> Path:
    """The user's cache folder; where it cannot be written, one among the temporary files."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tamiz"
        if is_writable(folder):
            return folder
    except (RuntimeError, OSError):  # a user without a home, or a folder closed to them
        pass
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"tamiz-compiled-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        # What is kept there is run: nobody else may have made it, or may write into it.
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022
    except OSError:
        ours = False
    return folder if ours else Path(tempfile.mkdtemp(prefix="tamiz-compiled-"))


@functools.cache
def _usable(folder: Path) -> bool:
    return any(folder.glob("*.nbi")) or is_writable(folder)


@functools.cache
def _stamp(py_file: str, module: str) -> bytes:
    """What the compiled functions of a file depend on: its text, and that of some that it imports.

    Those are the files of the package whose compiled functions, named tuples and constants it
    imports by name, and modules as such.
    """
    text = Path(py_file).read_bytes()
    digest = hashlib.sha256(text)
    names = vars(sys.modules[module]) if module in sys.modules else {}
    package = module.partition(".")[0]
    for home, imported in _IMPORT.findall(text.decode("utf-8")):
        if home.partition(".")[0] != package:
            continue
        parts = (part.split(" as ")[-1].strip() for part in imported.strip("()").split(","))
        values = [names.get(part.split("#")[0].strip()) for part in parts]
        wanted = {value.__name__ for value in values if isinstance(value, ModuleType)}
        if any(map(_is_taken_in, values)):
            wanted.add(home)
        for name in sorted(wanted - {module}):
            file = getattr(sys.modules.get(name), "__file__", None)
            if file is not None:
                digest.update(_stamp(file, name))
    return digest.digest()


def _is_taken_in(value: Any) -> bool:
    kind = type(value).__name__
    return (
        isinstance(value, _TAKEN_IN)
        or (isinstance(value, type) and issubclass(value, tuple))
        or kind == "_Intrinsic"
    )


class _Locator:
    """Where the functions of a file are kept, and when they are out of date."""

    def __init__(self, function: Callable[..., Any], py_file: str):
        self._py_file = py_file
        self._module = function.__module__
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], py_file: str) -> _Locator:
        return cls(function, py_file)

    def ensure_cache_path(self) -> None:
        _place(self._py_file).mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(_place(self._py_file))

    def get_source_stamp(self) -> bytes:
        return _stamp(self._py_file, self._module)

    def get_disambiguator(self) -> str:
        return str(self._line)


class _CacheFiles(CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _Cache(FunctionCache):
    """numba's, in our places; a file that cannot be read or written is as good as none."""

    _impl_class = _CacheFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # numba would first load all that it knows of typing and lowering, which takes some tenths
        # of a second; only compiling needs it, and loads it anyway. Compiled code needs its runtime
        # and the symbols that modules add on import (those of hashing are imported above).
        rtsys.initialize(target_context)
        try:
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
        except Exception:  # whatever damaged bytes lead to
            return None
        # two processes may have given two signatures one file, where nothing can be locked
        if found is None or tuple(found.signature.args) != tuple(sig):
            return None
        return found if _Dispatcher._called_by_compiled or _has_entry(found) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with _alone(Path(self._cache_path)):
                self._save(sig, data)
        except OSError:  # read-only, or full
            return
        except RuntimeError:  # numba has no object code: Ctrl-C came while LLVM returned it
            raise KeyboardInterrupt from None

    def _save(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except (pickle.UnpicklingError, EOFError, ValueError, AttributeError):  # damaged
            self.flush()
            super().save_overload(sig, data)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder of compiled functions, where that can be done.

    numba reads its index, takes the next free number and writes both: two at once take one number.
    """
    try:
        fcntl: Any = import_module("fcntl")
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


# ---------------------------------------------------------------------------------- announcing


_KIND = "numba:compile"


class CompileWatch(event.Listener):
    """Listens to numba while it is entered.

    Compiled functions are kept on disk, so that only the first run, or the first with another kind
    of table, compiles anything.

    Parameters
    ----------
    announce : callable, optional
        Called once, when the first function is compiled, with the name of its module.
    compiled : callable, optional
        Called with the seconds that each took.

    Attributes
    ----------
    seconds : float
        Time spent on compiling.
    """

    def __init__(
        self,
        announce: Callable[[str], None] | None = None,
        compiled: Callable[[float], None] | None = None,
    ):
        self.announce = announce
        self.compiled = compiled
        self.seconds = 0.0
        self._depth = 0
        self._began = 0.0
        self._announced = False

    def on_start(self, event: Any) -> None:
        """A function begins to be compiled; those that it calls are compiled inside."""
        if not self._depth:
            self._began = time.monotonic()
        self._depth += 1
        if not self._announced and self.announce is not None:
            self._announced = True
            self.announce(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event: Any) -> None:
        """A function is compiled."""
        self._depth -= 1
        if not self._depth:
            spent = time.monotonic() - self._began
            self.seconds += spent
            if self.compiled is not None:
                self.compiled(spent)

    def __enter__(self) -> CompileWatch:
        event.register(_KIND, self)
        return self

    def __exit__(self, *_: object) -> None:
        event.unregister(_KIND, self)


class _Herald(event.Listener):
    """Announces compiling of this package's functions, once in a process."""

    def __init__(self) -> None:
        self._first: str | None = None
        self._began = 0.0

    def on_start(self, event: Any) -> None:
        name = event.data["dispatcher"].py_func.__module__ or ""  # none in a jitclass of others
        if name.partition(".")[0] != "tamiz":
            return
        if self._first is None:
            self._first, self._began = name, time.monotonic()
        progress.announce_compiling(self._first, time.monotonic() - self._began)

    def on_end(self, event: Any) -> None:
        pass


event.register(_KIND, _Herald())
