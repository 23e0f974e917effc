"""From a flat table of nodes and a list of arrays back to a model.

Objects are made empty, by ``object.__new__``, and their attributes set: neither ``__init__`` nor
``__setstate__`` runs. What they are comes from the tables of :mod:`tamiz.persistence._known`.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.persistence import _compiled, _generators
from tamiz.persistence._encode import MAX_DEPTH, attributes, check_attribute, is_key_part
from tamiz.persistence._errors import ModelFileError
from tamiz.persistence._known import RENAMED, Known, is_enum, is_named_tuple, type_of
from tamiz.persistence._npy import is_plain

_COMPRESSED = ("csr", "csc", "bsr")
_SPARSE = (*_COMPRESSED, "coo", "dia", "lil", "dok")
_ROOM = 4  # levels that nodes of one object take more when written than when counted here


class Decoder:
    """Builds what the nodes say, one after the other; a node sees only earlier ones."""

    def __init__(self, nodes: Any, arrays: list[np.ndarray], known: Known) -> None:
        self._nodes = nodes
        self._arrays = arrays
        self._known = known
        self._values: list[Any] = []
        self._depths: list[int] = []
        self._depth = 0

    def decode(self, root: Any) -> Any:
        """The value that ``root`` refers to."""
        if not isinstance(self._nodes, list):
            raise ModelFileError("its table of nodes is not a list.")
        for node in self._nodes:
            if not isinstance(node, list) or not node or not isinstance(node[0], str):
                raise ModelFileError("a node of its table does not say of which kind it is.")
            read = _READERS.get(node[0])
            if read is None:
                raise ModelFileError(f"a node of its table is of the unknown kind {node[0]!r:.60}.")
            self._depth = 0
            self._values.append(read(self, *node[1:]))
            if self._depth > MAX_DEPTH + _ROOM:
                raise ModelFileError(f"its parts lie more than {MAX_DEPTH} levels deep.")
            self._depths.append(self._depth + 1)
        return self._value(root)

    def _value(self, code: Any) -> Any:
        """A plain value as it is, or the value of an earlier node."""
        if not isinstance(code, (list, dict)):
            return code
        if not isinstance(code, list) or len(code) != 1 or type(code[0]) is not int:
            raise ModelFileError("a value in it is neither plain nor a reference.")
        if not 0 <= code[0] < len(self._values):
            raise ModelFileError(f"node {len(self._values)} refers to node {code[0]}, a later one.")
        self._depth = max(self._depth, self._depths[code[0]])
        return self._values[code[0]]

    def _values_of(self, codes: Any) -> list[Any]:
        if not isinstance(codes, list):
            raise ModelFileError("a list is missing in it.")
        return [self._value(code) for code in codes]

    # ------------------------------------------------------------------ containers

    def _set(self, codes: Any) -> list[Any]:
        return [_key(value) for value in self._values_of(codes)]

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        return {_key(self._value(key)): self._value(value) for key, value in pairs}

    def _limits(self, *codes: Any) -> list[Any]:
        return [self._value(code) for code in codes]

    # ------------------------------------------------------------------ NumPy and SciPy

    def _array(self, number: Any, writeable: Any) -> np.ndarray:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ModelFileError("it refers to an array that it does not have.")
        array = self._arrays[number]
        if not writeable:
            array.flags.writeable = False
        return array

    def _objects(self, shape: Any, codes: Any) -> np.ndarray:
        values = self._values_of(codes)
        if math.prod(shape) != len(values) or min(shape, default=0) < 0:
            raise ModelFileError("an array of objects in it does not have the size that it says.")
        flat = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            flat[i] = value
        return flat.reshape(shape)

    def _masked(self, data: Any, mask: Any, fill: Any) -> np.ma.MaskedArray:
        values, where = self._value(data), self._value(mask)
        if not isinstance(values, np.ndarray) or not isinstance(where, np.ndarray):
            raise ModelFileError("a masked array in it has no values or no mask.")
        array = np.ma.MaskedArray(values, mask=where)
        array.fill_value = self._value(fill)
        return array

    def _scalar(self, dtype: Any, text: Any) -> Any:
        kind, data = _plain_dtype(dtype), base64.b64decode(text, validate=True)
        if len(data) != kind.itemsize:
            raise ModelFileError(f"a value in it does not have the size of {kind}.")
        return np.frombuffer(data, dtype=kind)[0] if data else kind.type()

    def _dtype(self, text: Any) -> np.dtype[Any]:
        return np.dtype(object) if text == "|O" else _plain_dtype(text)

    def _sparse(self, name: Any, shape: Any, codes: Any) -> Any:
        kind, _, sort = str(name).partition("_")
        if kind not in _SPARSE or sort not in ("matrix", "array"):
            raise ModelFileError(f"it holds a sparse matrix of the unknown kind {name!r:.60}.")
        parts = {part: self._value(code) for part, code in codes.items()}
        if not all(isinstance(part, np.ndarray) for part in parts.values()):
            raise ModelFileError("a sparse matrix in it is not made of arrays.")
        size = tuple(shape)
        if kind in _COMPRESSED:
            cls = getattr(sparse, name)
            made = cls((parts["data"], parts["indices"], parts["indptr"]), shape=size)
            made.check_format(full_check=True)  # compiled code goes where the indices point
            return made
        if kind == "dia":
            return getattr(sparse, name)((parts["data"], parts["offsets"]), shape=size)
        made = getattr(sparse, f"coo_{sort}")((parts["data"], (parts["row"], parts["col"])), size)
        return made.asformat(kind)

    # ------------------------------------------------------------------ objects

    def _object(self, key: Any, state: Any, items: Any = None) -> Any:
        cls = self._known.class_of(key)
        if is_enum(cls) or is_named_tuple(cls) or not isinstance(state, dict):
            raise ModelFileError(f"it does not say properly what the {key} in it holds.")
        if (items is not None) != issubclass(cls, dict):
            raise ModelFileError(f"it does not say properly what the {key} in it holds.")
        made: Any = dict.__new__(cls) if issubclass(cls, dict) else object.__new__(cls)
        if items is not None:
            dict.update(made, self._value(items))
        renamed = RENAMED.get(key, {})
        for old, code in state.items():
            name: Any = renamed.get(old, old)
            try:
                check_attribute(cls, name, f"a {key}")
            except TypeError as error:
                raise ModelFileError(f"{error} Nothing of it was run.") from None
            object.__setattr__(made, name, self._value(code))
        _compiled.check(key, made, attributes(made))
        return made

    def _namedtuple(self, key: Any, codes: Any) -> Any:
        cls: Any = self._known.class_of(key)
        values = self._values_of(codes)
        if not is_named_tuple(cls) or len(values) != len(cls._fields):
            raise ModelFileError(f"it does not say properly what the {key} in it holds.")
        return tuple.__new__(cls, values)

    def _enum(self, key: Any, name: Any) -> Any:
        cls: Any = self._known.class_of(key)
        if not is_enum(cls) or name not in cls.__members__:
            raise ModelFileError(f"{key} has no member {name!r:.60}.")
        return cls.__members__[name]


def _key(value: Any) -> Any:
    """Refuse keys whose hash could take forever, or would run a method."""
    parts = value if type(value) is tuple else (value,)
    if not all(is_key_part(part) for part in parts):
        raise ModelFileError("a key of a dict in it is not a plain value.")
    return value


def _plain_dtype(text: Any) -> np.dtype[Any]:
    kind = np.dtype(text) if isinstance(text, str) and len(text) < 40 else np.dtype(object)
    if not is_plain(kind):
        raise ModelFileError(f"it names the type {text!r:.60}, which is not one of plain data.")
    return kind


_READERS: dict[str, Callable[..., Any]] = {
    "int": lambda _, text: int(text, 16),
    "float": lambda _, text: float(text),
    "complex": lambda _, real, imag: complex(float.fromhex(real), float.fromhex(imag)),
    "bytes": lambda _, text: base64.b64decode(text, validate=True),
    "path": lambda _, text: Path(text),
    "list": Decoder._values_of,
    "tuple": lambda self, codes: tuple(self._values_of(codes)),
    "set": lambda self, codes: set(self._set(codes)),
    "frozenset": lambda self, codes: frozenset(self._set(codes)),
    "dict": Decoder._dict,
    "slice": lambda self, *codes: slice(*self._limits(*codes)),
    "range": lambda self, *codes: range(*self._limits(*codes)),
    "array": Decoder._array,
    "objects": Decoder._objects,
    "masked": Decoder._masked,
    "scalar": Decoder._scalar,
    "dtype": Decoder._dtype,
    "sparse": Decoder._sparse,
    "random_state": lambda self, state: _generators.random_state(self._value(state)),
    "generator": lambda self, state: _generators.generator(self._value(state)),
    "type": lambda _, key: type_of(key),
    "function": lambda self, key: self._known.function_of(key),
    "tree": lambda self, state: _compiled.unpacked(self._value(state)),
    "object": Decoder._object,
    "namedtuple": Decoder._namedtuple,
    "enum": Decoder._enum,
}
