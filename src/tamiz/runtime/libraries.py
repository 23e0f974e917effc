"""Machine code for what Python calls, and for nothing else.

numba makes machine code of every function that it compiles, those that only compiled functions call
included. Nobody runs that code: the function is linked into its callers before it is optimised, and
optimised and translated with each of them. Here a function that has no entry for Python keeps the
representation that is linked. It gets machine code when somebody asks for its address, or when
a function that is not ours is compiled against it.

Functions that let sums be rearranged (``fastmath``) are optimised by themselves in any case, as
numba does: the order of a sum should not depend on where it is inlined. Those that call themselves
are compiled in numba's way, which finds them by their address.

All of this rests on the insides of numba. Where they are not as expected, nothing is put off.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.targetconfig import ConfigStack

_KIND = "tamiz: linked only"  #: of what is kept on disk without machine code
_ENTRY = "_ZN7cpython"  #: how names of entries for Python begin
_ENVIRONMENT = "_ZN08NumbaEnv"
_REARRANGED = {"fast", "reassoc"}

#: What the class below calls or replaces.
_EXPECTED = [
    "finalize",
    "get_pointer_to_function",
    "serialize_using_object_code",
    "_unserialize",
    "_ensure_finalized",
    "_optimize_final_module",
    "_finalize_final_module",
    "_finalize_dynamic_globals",
    "_get_module_for_linking",
]
_AS_EXPECTED = all(callable(getattr(JITCodeLibrary, name, None)) for name in _EXPECTED)


@contextlib.contextmanager
def put_off_machine_code(codegen: Any) -> Iterator[None]:
    """What is compiled or loaded inside gets machine code if it has an entry for Python.

    Parameters
    ----------
    codegen : numba.core.codegen.JITCPUCodegen
        That of the target. The compiler's lock must be held.
    """
    if not _AS_EXPECTED or getattr(codegen, "_library_class", None) is not JITCodeLibrary:
        yield
        return
    codegen._library_class = _Library
    try:
        yield
    finally:
        del codegen._library_class


class _Library(JITCodeLibrary):
    """numba's, which is linked and optimised, but not translated before that is needed."""

    _waits = False  #: whether machine code is yet to be made

    def __init__(self, codegen: Any, name: str):
        super().__init__(codegen, name)
        flags = ConfigStack.top_or_none()
        allowed = getattr(getattr(flags, "fastmath", None), "flags", ())
        self._optimised = False
        self._rearranged = bool(_REARRANGED & set(allowed))
        self._environments: list[Any] = []

    @property
    def codegen(self) -> Any:
        """What sets the address of an environment, which is not there before the code."""
        return _Later() if self._waits else self._codegen

    def _optimize_final_module(self) -> None:
        if self._rearranged:
            self._optimise()

    def _optimise(self) -> None:
        if not self._optimised:
            self._optimised = True
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._compiled_object_is_known():  # from the cache
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._finalized = self._waits = True
        variables = self._final_module.global_variables
        if any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in variables):
            self._translate()

    def _compiled_object_is_known(self) -> bool:
        return bool(self._object_caching_enabled and self._compiled_object)

    def _translate(self) -> None:
        """Make machine code."""
        if not self._waits:
            return
        with global_compiler_lock:
            self._waits = False
            self._dynamic_globals.clear()  # numba collects them again
            self._optimise()
            self._final_module.verify()
            super()._finalize_final_module()
            for variable in self._final_module.global_variables:
                if variable.name.startswith(_ENVIRONMENT):
                    environment = lookup_environment(variable.name)
                    if environment is not None:
                        self._codegen.set_env(variable.name, environment)
                        self._environments.append(environment)  # the code has its address only

    def get_pointer_to_function(self, name: str) -> int:
        """Its address; zero if there is none of that name."""
        self._ensure_finalized()
        if self._waits and name.startswith(_ENTRY):
            try:
                if self._final_module.get_function(name).is_declaration:
                    return 0
            except NameError:
                return 0
        self._translate()
        return int(super().get_pointer_to_function(name))

    def _get_module_for_linking(self) -> Any:
        if not isinstance(self, self._codegen._library_class):
            self._translate()  # numba's libraries expect what they link to be there
        return super()._get_module_for_linking()

    def serialize_using_object_code(self) -> Any:
        """For the cache: with machine code if there is some."""
        self._ensure_finalized()
        if self._waits:
            return self.name, _KIND, (self._final_module.as_bitcode(), self._optimised)
        return super().serialize_using_object_code()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != _KIND:
            return super()._unserialize(codegen, state)
        self = codegen.create_library(name)
        self.enable_object_caching()
        bitcode, self._optimised = data
        self._final_module = binding.parse_bitcode(bitcode)
        self._finalize_final_module()
        return self


class _Later:
    """In the place of the code generator, for a library without machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: the address is set when the code is there."""
