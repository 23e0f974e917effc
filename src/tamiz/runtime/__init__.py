"""Threads, workers, progress, checkpoints: how work is run, not what is computed.

And how packages are loaded: :func:`lazy_names` loads names on their first use (PEP 562). A program
that ranks by one filter should not wait for every search, tree and machine to be imported. A
package names its modules for type checkers (``if TYPE_CHECKING``) and for that function.
:func:`put_off` does as much to packages of others, for programs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
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


class _StandIn(ModuleType):
    """In the place of a module, which is loaded when something of it is first used."""

    def __getattr__(self, name: str) -> Any:
        _withdraw(self)
        return getattr(import_module(self.__name__), name)


@contextmanager
def put_off(*modules: str) -> Iterator[None]:
    """What is imported inside gets these modules without their being loaded, until it uses them.

    Only for a process of our own: the modules of all packages are concerned. Afterwards, nothing is
    left but stand-ins under the names that others gave them. They are no longer in ``sys.modules``,
    where libraries look for pandas to know whether a table may be one of its own.

    Parameters
    ----------
    *modules : str
        Their full names. Those that are loaded or not installed are left alone.

    Examples
    --------
    >>> import sys
    >>> with put_off("wave"):
    ...     import wave
    >>> "wave" in sys.modules
    False
    >>> wave.Error.__name__, "wave" in sys.modules
    ('Error', True)
    """
    stand_ins = []
    for name in modules:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None:
            continue
        module = module_from_spec(spec)
        module.__class__ = _StandIn
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:  # which would load it when asked for the attribute
            setattr(sys.modules[parent], child, module)
        stand_ins.append(module)
    try:
        yield
    finally:
        for module in stand_ins:
            _withdraw(module)


def _withdraw(stand_in: ModuleType) -> None:
    """Leave no trace of a stand-in where modules are looked for."""
    name = stand_in.__name__
    if sys.modules.get(name) is stand_in:
        del sys.modules[name]
    parent, _, child = name.rpartition(".")
    if parent and vars(sys.modules[parent]).get(child) is stand_in:
        delattr(sys.modules[parent], child)
