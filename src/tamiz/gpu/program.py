"""Kernels in CUDA C: files of this package, compiled by the lane's library when first used.

An emulated lane has no compiler: each kernel has a twin in NumPy beside the function that starts
it. Tests compile the files with a C++ compiler and hold both together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from tamiz.gpu.lane import Lane


def has_compiler(lane: Lane) -> bool:
    """Whether kernels can be compiled for the lane; otherwise their twins do the work."""
    return hasattr(lane.xp, "RawModule")


@lru_cache(maxsize=256)
def kernel(lane: Lane, file: str, name: str, **macros: Any) -> Callable[..., None]:
    """A kernel of a file beside this one, called as ``kernel(grid, block, arguments)``.

    Products and sums are rounded one by one (no fused multiply-add), as on the CPU.
    """
    code = (Path(__file__).parent / file).read_text("utf-8")
    options = ("--fmad=false", *(f"-D{key}={value}" for key, value in macros.items()))
    function: Callable[..., None] = lane.xp.RawModule(code=code, options=options).get_function(name)
    return function
