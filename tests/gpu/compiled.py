"""A lane whose kernels are compiled by a C++ compiler and run on the CPU, thread by thread.

What stands in a .cu file is then tested without a card, with the arguments as they are passed.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tamiz.gpu import Lane, emulated
from tamiz.gpu.emulation import CardArray

COMPILER = shutil.which("g++") if sys.platform == "linux" else None

MOST_ARGUMENTS = 64

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++ on Linux")


class RawModule:
    """In the place of cupy.RawModule: what it needs of it."""

    folder: Path
    built: dict[tuple[Any, ...], Any] = {}

    def __init__(self, *, code: str, options: tuple[str, ...]):
        self.code = code
        self.options = tuple(option for option in options if option.startswith("-D"))

    def get_function(self, name: str) -> Any:
        key = self.code, self.options, name
        if key not in self.built:
            self.built[key] = self._build(name)
        return self.built[key]

    def _build(self, name: str) -> Any:
        source = self.folder / f"{name}{len(self.built)}.cpp"
        library = source.with_suffix(".so")
        shim = Path(__file__).parent / "cuda_shim.h"
        source.write_text(f'#include "{shim}"\n{self.code}\nEXPORT({name})\n', encoding="utf-8")
        flags = ("-O1", "-std=c++17", "-shared", "-fPIC", "-ffp-contract=off", "-w")
        command = [str(COMPILER), *flags, *self.options, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        functions = ctypes.CDLL(str(library))
        sizes = (ctypes.c_int * MOST_ARGUMENTS)()
        n_arguments = getattr(functions, f"sizes_{name}")(sizes)
        return _started_by(getattr(functions, f"launch_{name}"), sizes[:n_arguments])


def _started_by(launch: Any, sizes: list[int]) -> Any:
    """A kernel as CuPy has it: called with the grid, the block and the arguments."""

    def start(grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        held = [_held(argument) for argument in arguments]
        assert [_size(argument) for argument in arguments] == sizes, "no types of this kernel"
        pointers = (ctypes.c_void_p * len(held))(
            *(
                ctypes.addressof(one) if isinstance(one, ctypes.c_void_p) else one.ctypes.data
                for one in held
            )
        )
        (threads,) = block
        gx, gy = (*grid, 1)[:2]
        assert 1 <= gx < 2**31 and 1 <= gy < 2**16 and threads <= 1024, "no grid of a card"
        launch(pointers, ctypes.c_int(gx), ctypes.c_int(gy), ctypes.c_int(threads))

    return start


def _size(argument: Any) -> int:
    """Bytes of an argument; of an array, of one entry of it, negative."""
    return -argument.dtype.itemsize if isinstance(argument, CardArray) else argument.itemsize


def _held(argument: Any) -> Any:
    """Where the value of an argument is: the address of an array, or a number."""
    if isinstance(argument, CardArray):
        array = argument._a
        assert array.flags.c_contiguous
        return ctypes.c_void_p(array.ctypes.data)
    assert isinstance(argument, np.generic), f"{argument!r} has no size that a kernel knows"
    return np.array([argument])


@contextmanager
def compiled_lane(folder: Path) -> Iterator[Lane]:
    """Inside, ``device="cuda"`` runs the kernels themselves."""
    with emulated() as lane:
        RawModule.folder = folder
        lane.xp = SimpleNamespace(**vars(lane.xp), RawModule=RawModule)
        yield lane
