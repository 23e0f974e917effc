"""States of random numbers, as plain values, and checked before a generator takes them.

The check is more than courtesy: compiled code reads at the position that a state names, and NumPy
does not look whether it is inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.persistence._errors import ModelFileError

Check = Callable[[Any], bool]


def _whole(limit: int) -> Check:
    return lambda value: type(value) is int and 0 <= value < limit


def _words(count: int, kind: type) -> Check:
    return lambda value: (
        isinstance(value, np.ndarray) and value.shape == (count,) and value.dtype == kind
    )


_HALF = {"has_uint32": _whole(2), "uinteger": _whole(1 << 32)}
_PCG = {"state": {"state": _whole(1 << 128), "inc": _whole(1 << 128)}, **_HALF}

# Bit generator -> what its state must look like.
_STATES: dict[str, dict[str, Any]] = {
    "MT19937": {"state": {"key": _words(624, np.uint32), "pos": _whole(625)}},
    "PCG64": _PCG,
    "PCG64DXSM": _PCG,
    "Philox": {
        "state": {"counter": _words(4, np.uint64), "key": _words(2, np.uint64)},
        "buffer": _words(4, np.uint64),
        "buffer_pos": _whole(5),
        **_HALF,
    },
    "SFC64": {"state": {"state": _words(4, np.uint64)}, **_HALF},
}
_GAUSS = {"has_gauss": _whole(2), "gauss": lambda value: type(value) is float}


def state_of(source: Any) -> dict[str, Any] | None:
    """The state of a RandomState or a Generator, None if it is of an unknown kind."""
    if isinstance(source, np.random.RandomState):
        state: Any = source.get_state(legacy=False)
        return _plain(state) if state["bit_generator"] == "MT19937" else None
    bits = source.bit_generator
    if type(bits).__name__ not in _STATES or not isinstance(bits, np.random.BitGenerator):
        return None
    # what spawn() draws from; before NumPy 1.25 it had another name, and there was no spawn
    seeds = getattr(bits, "seed_seq", None)
    entropy = seeds.state if isinstance(seeds, np.random.SeedSequence) else None
    return {**_plain(bits.state), "seeds": entropy and dict(entropy)}


def random_state(state: Any) -> np.random.RandomState:
    """The RandomState that a state was taken from."""
    _check(state, {"state": _STATES["MT19937"]["state"], **_GAUSS}, "MT19937")
    source = np.random.RandomState(0)
    source.set_state(state)
    return source


def generator(state: Any) -> np.random.Generator:
    """The Generator that a state was taken from."""
    if not isinstance(state, dict) or not isinstance(state.get("bit_generator"), str):
        raise _wrong("it names no generator")
    state = dict(state)
    name, seeds = state["bit_generator"], state.pop("seeds", None)
    if name not in _STATES:
        raise _wrong(f"{name[:40]!r} is not a generator that is known")
    _check(state, _STATES[name], name)
    bits = getattr(np.random, name)(0 if seeds is None else _seeds(seeds))
    bits.state = state
    return np.random.Generator(bits)


def _seeds(state: Any) -> np.random.SeedSequence:
    names = {"entropy", "spawn_key", "pool_size", "n_children_spawned"}
    if not isinstance(state, dict) or set(state) != names:
        raise _wrong("its seeds are not complete")
    if not _whole(1 << 32)(state["n_children_spawned"]) or not _whole(1 << 12)(state["pool_size"]):
        raise _wrong("its seeds are not numbers in their range")
    return np.random.SeedSequence(**state)


def _plain(state: Any) -> dict[str, Any]:
    """Whole numbers of NumPy as Python's, inner dicts too."""
    return {
        name: _plain(value)
        if isinstance(value, dict)
        else (value.item() if isinstance(value, np.generic) else value)
        for name, value in state.items()
    }


def _check(state: Any, wanted: dict[str, Any], name: str | None = None) -> None:
    if not isinstance(state, dict):
        raise _wrong("it is no table")
    if name is not None and state.get("bit_generator") != name:
        raise _wrong(f"it is not one of {name}")
    for part, check in wanted.items():
        if part not in state:
            raise _wrong(f"{part} is missing")
        if isinstance(check, dict):
            _check(state[part], check)
        elif not check(state[part]):
            raise _wrong(f"{part} is not in its range")


def _wrong(why: str) -> ModelFileError:
    return ModelFileError(f"it holds a state of random numbers that cannot be one: {why}.")
