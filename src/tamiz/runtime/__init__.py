"""Threads, workers, progress, checkpoints: how work is run, not what is computed.

And how packages are loaded: :func:`lazy_names` loads names on their first use (PEP 562). A program
that ranks by one filter should not wait for every search, tree and machine to be imported. A
package names its modules for type checkers (``if TYPE_CHECKING``) and for that function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping
        Module -> the names that it defines, separated by spaces. A module that begins with a point
        is one of the package.

    Examples
    --------
    >>> find, names = lazy_names("tamiz.filters", {".cfs": "CFS", ".relief": "Relief ReliefF"})
    >>> names()
    ['CFS', 'Relief', 'ReliefF']
    >>> find("CFS")
    <class 'tamiz.filters.cfs.CFS'>
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in home:
            value = getattr(import_module(home[name], package), name)
            setattr(sys.modules[package], name, value)  # the next use does not come here
            return value
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")  # a module of the package
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted(home)
