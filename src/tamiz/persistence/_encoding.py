"""From a model to a flat table of nodes and a list of arrays, and back.

A node is a list that begins with its kind. Its children are plain values, or references ``[i]`` to
nodes that come earlier in the table. So there are no reference cycles, shared objects stay
shared, and reading needs no recursion, however deep a file claims to be.

Objects are made empty, by ``object.__new__``, and their attributes set: neither ``__init__`` nor
``__setstate__`` runs. What they are comes from the tables of :mod:`tamiz.persistence._known`.
"""

from __future__ import annotations

import base64
import inspect
import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path, PurePath
from types import (
    BuiltinFunctionType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.persistence import _compiled
from tamiz.persistence._container import Budget, ModelFileError, is_key_part, is_plain
from tamiz.persistence._known import (
    MOVED,
    RENAMED,
    KnownNames,
    is_enum,
    is_named_tuple,
    key_of_type,
    type_of,
)

MAX_DEPTH = 100
LARGE = 1 << 63  # integers from here on are written in base 16, whose length has no limit

_COMPRESSED = ("csr", "csc", "bsr")
_INLINE = (bool, str, type(None))
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, np.ufunc)


class Encoder:
    """Collects the nodes and arrays of one model.

    Attributes
    ----------
    nodes : list of lists
        The table; the last node, if ``root`` refers to one, is the model.
    arrays : list of arrays
        What the nodes of kind "array" refer to, by position.
    classes : dict
        How many objects of each class there are.
    """

    def __init__(self, known: KnownNames) -> None:
        self.nodes: list[list[Any]] = []
        self.arrays: list[np.ndarray] = []
        self.classes: dict[str, int] = {}
        self._known = known
        self._seen: dict[int, Any] = {}
        self._open: set[int] = set()
        self._alive: list[Any] = []  # ids are valid only while the objects live

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """The value itself if it is plain, else a reference to its node."""
        if _is_inline(value):
            return value
        kind = type(value)
        if kind is int:
            return self._add("int", hex(value))
        if kind is float:
            return self._add("float", repr(value))
        if id(value) in self._seen:
            return self._seen[id(value)]
        if id(value) in self._open:
            raise ValueError(
                f"{where} contains itself, directly or through its parts; a model with a cycle "
                "cannot be saved. Take the reference out, for instance by setting it to None."
            )
        if depth > MAX_DEPTH:
            raise ValueError(
                f"{where[:200]} ... lies more than {MAX_DEPTH} levels deep, and cannot be saved."
            )
        self._open.add(id(value))
        try:
            reference = self._encode_node(kind, value, where, depth + 1)
        finally:
            self._open.discard(id(value))
        self._seen[id(value)] = reference
        self._alive.append(value)
        return reference

    def _add(self, *node: Any) -> list[int]:
        self.nodes.append(list(node))
        return [len(self.nodes) - 1]

    def _encode_node(self, kind: type, value: Any, where: str, depth: int) -> Any:
        simple = _SIMPLE.get(kind)
        if simple is not None:
            return simple(self, value, where, depth)
        if kind in (np.ndarray, np.memmap):
            return self._array(value, where, depth)
        if kind is np.ma.MaskedArray:
            parts = (value.data, np.ma.getmaskarray(value), value.fill_value)
            return self._add("masked", *(self.encode(part, where, depth) for part in parts))
        if issubclass(kind, np.generic):
            return self._scalar(value, where)
        if issubclass(kind, np.dtype):
            return self._dtype(value, where)
        if sparse.issparse(value):
            return self._sparse(value, where, depth)
        if kind in (np.random.RandomState, np.random.Generator):
            return self._random(value, where, depth)
        if isinstance(value, PurePath):
            return self._add("path", str(value))
        if isinstance(value, type):
            return self._type(value, where)
        tree = _compiled.packed(value)
        if tree is not None:
            return self._add("tree", self.encode(tree, where, depth))
        return self._object(kind, value, where, depth)

    # ------------------------------------------------------------------ containers

    def _sequence(self, value: Any, where: str, depth: int) -> Any:
        items = [
            item if _is_inline(item) else self.encode(item, f"{where}[{i}]", depth)
            for i, item in enumerate(value)
        ]
        return self._add(type(value).__name__, items)

    def _set(self, value: Any, where: str, depth: int) -> Any:
        for item in value:
            self._check_key(item, where)
        # in a fixed order: the same model gives the same file
        items = [self.encode(item, f"{where}{{}}", depth) for item in sorted(value, key=repr)]
        return self._add(type(value).__name__, items)

    def _dict(self, value: dict[Any, Any], where: str, depth: int) -> Any:
        pairs = []
        for key, item in value.items():
            self._check_key(key, where)
            if not (_is_inline(key) and _is_inline(item)):
                name = f"{where}[{key!r:.80}]"
                key, item = self.encode(key, name, depth), self.encode(item, name, depth)
            pairs.append([key, item])
        return self._add("dict", pairs)

    def _check_key(self, key: Any, where: str) -> None:
        parts = key if type(key) is tuple else (key,)
        if not all(is_key_part(part) for part in parts):
            raise TypeError(
                f"{where} has the key {key!r:.80} of type {type(key).__name__}; keys of "
                "dicts and members of sets can be saved if they are text, numbers, None, or tuples "
                "of these."
            )

    def _limits(self, value: Any, where: str, depth: int) -> Any:
        parts = (value.start, value.stop, value.step)
        limits = [self.encode(part, where, depth) for part in parts]
        return self._add(type(value).__name__, *limits)

    # ------------------------------------------------------------------ NumPy and SciPy

    def _array(self, value: np.ndarray, where: str, depth: int) -> Any:
        if is_plain(value.dtype):
            self.arrays.append(np.asarray(value))
            return self._add("array", len(self.arrays) - 1, bool(value.flags.writeable))
        if value.dtype.kind != "O":
            raise TypeError(
                f"{where} is an array of type {value.dtype}, which cannot be saved; convert it to "
                "an array of numbers or of text (dtype=str or object) first."
            )
        items = []
        for item in value.ravel().tolist():
            if not is_key_part(item) and type(item) not in (list, tuple, dict, np.ndarray):
                raise TypeError(
                    f"{where} is an array of objects and holds one of type "
                    f"{type(item).__name__}; such arrays can be saved if they hold text, numbers "
                    "or None."
                )
            items.append(self.encode(item, where, depth))
        return self._add("objects", list(value.shape), items)

    def _scalar(self, value: np.generic, where: str) -> Any:
        if not is_plain(value.dtype):
            raise TypeError(f"{where} is a value of type {value.dtype}, which cannot be saved.")
        # NumPy gives empty text a length of one as soon as it is in an array
        data = np.asarray(value).tobytes() if value.dtype.itemsize else b""
        return self._add("scalar", value.dtype.str, base64.b64encode(data).decode())

    def _dtype(self, value: np.dtype[Any], where: str) -> Any:
        if not is_plain(value) and value.kind != "O":
            raise TypeError(f"{where} is the type {value}, which cannot be saved.")
        return self._add("dtype", value.str)

    def _sparse(self, value: Any, where: str, depth: int) -> Any:
        if value.ndim != 2:
            raise TypeError(f"{where} is a sparse array that is not a matrix, and cannot be saved.")
        stored = value if value.format in _COMPRESSED else value.tocoo()
        if value.format in _COMPRESSED:
            parts = {name: getattr(stored, name) for name in ("data", "indices", "indptr")}
        elif value.format == "dia":
            parts = {"data": value.data, "offsets": value.offsets}
        else:
            parts = {"data": stored.data, "row": stored.row, "col": stored.col}
        self._alive.append(parts)
        shape = [int(n) for n in value.shape]
        arrays = {name: self.encode(part, f"{where}.{name}", depth) for name, part in parts.items()}
        return self._add("sparse", type(value).__name__, shape, arrays)

    def _random(self, value: Any, where: str, depth: int) -> Any:
        state = _compiled.state_of(value)
        if state is None:
            raise TypeError(
                f"{where} is a generator of random numbers of a kind that cannot be saved; use "
                "numpy.random.default_rng or an integer instead."
            )
        self._alive.append(state)
        kind = "random_state" if isinstance(value, np.random.RandomState) else "generator"
        return self._add(kind, self.encode(state, where, depth))

    # ------------------------------------------------------------------ objects

    def _type(self, value: type, where: str) -> Any:
        key = key_of_type(value)
        if key is None:
            raise TypeError(
                f"{where} is the class {value.__module__}.{value.__qualname__} itself, which "
                "cannot be saved; put an object of the class in its place."
            )
        return self._add("type", key)

    def _object(self, kind: type, value: Any, where: str, depth: int) -> Any:
        key = self._known.key_of_class(kind)
        if key is None:
            return self._function(value, where)
        self.classes[key] = self.classes.get(key, 0) + 1
        if is_enum(kind):
            return self._add("enum", key, value.name)
        if is_named_tuple(kind):
            names = kind._fields  # type: ignore[attr-defined]
            items = [
                item if _is_inline(item) else self.encode(item, f"{where}.{name}", depth)
                for name, item in zip(names, value, strict=True)
            ]
            return self._add("namedtuple", key, items)
        items = []
        if isinstance(value, dict):  # Bunch
            items = [self._dict(dict(value), where, depth)]
        elif isinstance(value, (list, tuple, set, str, bytes, int, float, np.ndarray)):
            raise TypeError(f"{where} is a {key}, a kind of {kind.__base__} that cannot be saved.")
        state = {}
        for name, part in sorted(_compiled.kept(key, attributes(value)).items()):
            if name == CALLBACKS:  # they follow fits, and are no part of what was learned
                continue
            check_attribute(kind, name, where)
            state[name] = self.encode(part, f"{where}.{name}", depth)
        return self._add("object", key, state, *items)

    def _function(self, value: Any, where: str) -> Any:
        key = self._known.key_of_function(value) if callable(value) else None
        if key is not None:
            return self._add("function", key)
        if isinstance(value, ModuleType):
            raise TypeError(f"{where} is the module {value.__name__}, which cannot be saved.")
        if isinstance(value, _FUNCTIONS) or inspect.isroutine(value):
            name = getattr(value, "__qualname__", None) or getattr(value, "__name__", repr(value))
            raise TypeError(
                f"{where} is the function {name}, and a model file holds data, never code. "
                "Use a built-in choice, given by its name or as an object of tamiz, in its place; "
                "or pass allow=[the function] to tamiz.save and to tamiz.load."
            )
        kind = type(value)
        raise TypeError(
            f"{where} is of class {kind.__module__}.{kind.__qualname__}, which is not one that "
            f"tamiz.save knows.{_remedy(kind)}"
        )


def _is_inline(value: Any) -> bool:
    """Whether JSON can represent the value as it is; checked first, since most values can be."""
    kind = type(value)
    return (
        kind in _INLINE
        or (kind is int and -LARGE < value < LARGE)
        or (kind is float and math.isfinite(value))
    )


def _remedy(kind: type) -> str:
    top = kind.__module__.partition(".")[0]
    if top in ("pandas", "polars"):
        return " Put an array in the place of the table, for instance by its to_numpy()."
    if top == "sklearn":
        return (
            " Of scikit-learn, the usual steps of a pipeline can be saved, and its machines, trees "
            "and searches; this class is not among them."
        )
    return " If it is your own class, pass allow=[the class] to tamiz.save and to tamiz.load."


#: Where estimators, also scikit-learn's, keep their callbacks.
CALLBACKS = "_skl_callbacks"


def attributes(value: Any) -> dict[str, Any]:
    """All that an object holds, in its dict and in its slots."""
    state = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                state[name] = getattr(value, name)
    return state


def check_attribute(cls: type, name: Any, where: str) -> None:
    """Refuse a name under which data would replace a method."""
    wrong = not isinstance(name, str) or (name.startswith("__") and name.endswith("__"))
    if not wrong:
        found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        # __slots__ members and cached properties are meant to hold data
        made_for_data = (MemberDescriptorType, cached_property)
        wrong = hasattr(type(found), "__get__") and not isinstance(found, made_for_data)
    if wrong:
        raise TypeError(f"{where} has an attribute {name!r:.80}, which cannot hold data.")


_SIMPLE: dict[type, Callable[[Encoder, Any, str, int], Any]] = {
    list: Encoder._sequence,
    tuple: Encoder._sequence,
    set: Encoder._set,
    frozenset: Encoder._set,
    dict: Encoder._dict,
    slice: Encoder._limits,
    range: Encoder._limits,
    bytes: lambda encoder, value, *_: encoder._add("bytes", base64.b64encode(value).decode()),
    complex: lambda encoder, value, *_: encoder._add("complex", value.real.hex(), value.imag.hex()),
}


_SPARSE = (*_COMPRESSED, "coo", "dia", "lil", "dok")
_ROOM = 4  # extra levels that an object takes when written, beyond those counted here


_PART = 64  # bytes that a part of a value counts for, wherever it is shared


class Decoder:
    """Builds the values that the nodes describe, in order; a node refers only to earlier ones.

    What is built counts against the budget. So do the parts of every value, as often as they occur
    in it: sixty lists that hold the one before twice are short to write, and whoever goes through
    them does not come to an end.
    """

    def __init__(
        self, nodes: Any, arrays: list[np.ndarray], known: KnownNames, budget: Budget
    ) -> None:
        self._nodes = nodes
        self._arrays = arrays
        self._known = known
        self._budget = budget
        self._values: list[Any] = []
        self._depths: list[int] = []
        self._sizes: list[int] = []  # parts of each value, those of its parts included
        self._depth = self._size = 0

    def decode(self, root: Any) -> Any:
        """The value that ``root`` refers to."""
        if not isinstance(self._nodes, list):
            raise ModelFileError("its table of nodes is not a list.")
        for node in self._nodes:
            if not isinstance(node, list) or not node or not isinstance(node[0], str):
                raise ModelFileError("a node of its table does not state its kind.")
            read = _READERS.get(node[0])
            if read is None:
                raise ModelFileError(f"a node of its table is of the unknown kind {node[0]!r:.60}.")
            self._depth, self._size = 0, 1
            self._values.append(read(self, *node[1:]))
            if self._depth > MAX_DEPTH + _ROOM:
                raise ModelFileError(f"its parts lie more than {MAX_DEPTH} levels deep.")
            if self._size * _PART > self._budget.limit:
                raise ModelFileError("a value in it holds the same parts too many times.")
            self._depths.append(self._depth + 1)
            self._sizes.append(self._size)
        return self._value(root)

    def _value(self, code: Any) -> Any:
        """A plain value as it is, or the value of an earlier node."""
        if not isinstance(code, (list, dict)):
            self._size += 1
            return code
        if not isinstance(code, list) or len(code) != 1 or type(code[0]) is not int:
            raise ModelFileError("a value in it is neither plain nor a reference.")
        if not 0 <= code[0] < len(self._values):
            raise ModelFileError(f"node {len(self._values)} refers to node {code[0]}, a later one.")
        self._depth = max(self._depth, self._depths[code[0]])
        self._size += self._sizes[code[0]]
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
            raise ModelFileError("an array of objects in it does not have the size that it states.")
        flat = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            flat[i] = value
        return flat.reshape(shape)

    def _masked(self, data: Any, mask: Any, fill: Any) -> np.ma.MaskedArray:
        values, where = self._value(data), self._value(mask)
        if not isinstance(values, np.ndarray) or not isinstance(where, np.ndarray):
            raise ModelFileError("a masked array in it has no values or no mask.")
        self._budget.take(values.nbytes + where.nbytes, "a masked array in it")
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
        size = _compiled.sparse_shape(shape)
        self._budget.check_length(sum(size), "a sparse matrix in it")
        self._budget.take(_compiled.sparse_bytes(kind, size, parts), "a sparse matrix in it")
        _compiled.check_sparse(kind, size, parts)
        if kind in _COMPRESSED:
            cls = getattr(sparse, name)
            return cls((parts["data"], parts["indices"], parts["indptr"]), shape=size)
        if kind == "dia":
            return getattr(sparse, name)((parts["data"], parts["offsets"]), shape=size)
        made = getattr(sparse, f"coo_{sort}")((parts["data"], (parts["row"], parts["col"])), size)
        return made.asformat(kind)

    def _random(self, make: Callable[[Any], Any], code: Any) -> Any:
        self._budget.take(_compiled.GENERATOR_BYTES, "a generator of random numbers in it")
        return make(self._value(code))

    def _tree(self, code: Any) -> Any:
        state = self._value(code)
        self._budget.take(_compiled.tree_bytes(state), "a tree in it")
        return _compiled.unpacked(state)

    # ------------------------------------------------------------------ objects

    def _object(self, key: Any, state: Any, items: Any = None) -> Any:
        cls = self._known.class_of(key)
        if is_enum(cls) or is_named_tuple(cls) or not isinstance(state, dict):
            raise _malformed(key)
        if (items is not None) != issubclass(cls, dict):
            raise _malformed(key)
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
        # under its name of today: an older one is no way around what is checked
        _compiled.check(MOVED.get(key, key), made, attributes(made), self._budget)
        return made

    def _namedtuple(self, key: Any, codes: Any) -> Any:
        cls: Any = self._known.class_of(key)
        values = self._values_of(codes)
        if not is_named_tuple(cls) or len(values) != len(cls._fields):
            raise _malformed(key)
        return tuple.__new__(cls, values)

    def _enum(self, key: Any, name: Any) -> Any:
        cls: Any = self._known.class_of(key)
        if not is_enum(cls) or name not in cls.__members__:
            raise ModelFileError(f"{key} has no member {name!r:.60}.")
        return cls.__members__[name]


def _malformed(key: Any) -> ModelFileError:
    return ModelFileError(f"the contents of a {key} in it are malformed.")


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
    "random_state": lambda self, state: self._random(_compiled.random_state, state),
    "generator": lambda self, state: self._random(_compiled.generator, state),
    "type": lambda _, key: type_of(key),
    "function": lambda self, key: self._known.function_of(key),
    "tree": Decoder._tree,
    "object": Decoder._object,
    "namedtuple": Decoder._namedtuple,
    "enum": Decoder._enum,
}
