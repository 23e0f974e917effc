"""Which arguments a compiled function only reads.

numba takes an array that must not be written for another type, and compiles a function once more
for it. Tables become such arrays where joblib shares them with processes, or where they are mapped
from a file: every process would compile anew what is there already. A function that only reads an
argument is the same code for both, so that one will do (:mod:`tamiz.runtime.compiling`).

The source says so: an argument counts as read only if none of the names that may stand for its
memory is written to, changed in place, returned, or given to something that is not known to read.
Whatever is not understood counts as written.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher

#: Attributes that are no memory of the array.
_NUMBERS = {"shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides"}

#: Functions whose answer is a number or new memory, and that change nothing.
_HARMLESS = frozenset(
    {
        *(len, range, int, float, bool, abs, min, max, round, slice),
        *(np.empty, np.zeros, np.ones, np.full, np.arange, np.empty_like, np.zeros_like),
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float32, np.float64, np.bool_, np.exp, np.log, np.log2, np.log1p, np.expm1, np.sqrt),
        *(np.abs, np.floor, np.ceil, np.isnan, np.isfinite, np.sum, np.dot, np.sign),
    }
)


class Memory(NamedTuple):
    """Memory of an argument, and the type of what stands for it, if that is known."""

    argument: str
    type: Any


class Found(NamedTuple):
    """Arguments that a function may change, and those whose memory may be in what it returns."""

    written: frozenset[str]
    returned: frozenset[str]


def for_writable(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Types of arguments, with arrays that may not be written as others where that is the same."""
    plain = tuple(map(_writable, args))
    if plain == args:
        return args
    names = list(inspect.signature(function).parameters)
    if len(names) != len(args):
        return args
    found = look(function, plain)
    kept = found.written | found.returned
    return tuple(
        old if name in kept else new for name, old, new in zip(names, args, plain, strict=True)
    )


def _writable(kind: Any) -> Any:
    if isinstance(kind, types.Array):
        return kind if kind.mutable else kind.copy(readonly=False)
    if isinstance(kind, types.BaseTuple) and len(kind) > 0:
        parts = [_writable(part) for part in kind]
        if parts == list(kind):
            return kind
        return types.BaseTuple.from_types(parts, getattr(kind, "instance_class", None))
    return kind


def look(function: Callable[..., Any], args: tuple[Any, ...]) -> Found:
    """What a function does with arguments of these types; None where a type is not known."""
    return _look(function, args, ())


def _look(
    function: Callable[..., Any], args: tuple[Any, ...], callers: tuple[Callable[..., Any], ...]
) -> Found:
    names = list(inspect.signature(function).parameters)
    if function in callers:  # it calls itself
        return Found(frozenset(names), frozenset(names))
    tree = _tree(function)
    if tree is None or tree.args.vararg or tree.args.kwarg or len(args) != len(names):
        return Found(frozenset(names), frozenset(names))
    given = dict(zip(names, args, strict=True))
    looking = _Looking(function, tree, given, (*callers, function))
    before = None
    while before != looking.memory:  # a name may get what another stands for further down
        before = {name: set(parts) for name, parts in looking.memory.items()}
        for statement in tree.body:
            looking.visit(statement)
    return Found(frozenset(looking.written), frozenset(looking.returned))


@functools.cache
def _tree(function: Callable[..., Any]) -> ast.FunctionDef | None:
    """The source of a function; None if there is none, or if the file is no longer what runs."""
    try:
        module = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError, ValueError):
        return None
    tree = module.body[0]
    if not isinstance(tree, ast.FunctionDef):
        return None
    ours = function.__code__
    for code in compile(module, "the source", "exec", dont_inherit=True).co_consts:
        if isinstance(code, CodeType) and code.co_name == ours.co_name:  # the rest is of the module
            same = (code.co_names, code.co_varnames, code.co_consts)
            if same == (ours.co_names, ours.co_varnames, ours.co_consts):
                return tree
    return None


class _Looking(ast.NodeVisitor):
    """Walks through a function and notes which arguments may be written."""

    def __init__(
        self,
        function: Callable[..., Any],
        tree: ast.FunctionDef,
        given: dict[str, Any],
        callers: tuple[Callable[..., Any], ...],
    ) -> None:
        self.known = {**inspect.getclosurevars(function).nonlocals, **function.__globals__}
        self.callers = callers
        #: Names -> what they may stand for.
        self.memory = {name: {Memory(name, kind)} for name, kind in given.items()}
        changed = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self.constant = {name: kind for name, kind in given.items() if name not in changed}
        self.written: set[str] = set()
        self.returned: set[str] = set()

    # ------------------------------------------------------------------------------- expressions

    def behind(self, node: ast.AST | None) -> set[Memory]:
        """The memory that the value of an expression may be."""
        if node is None or isinstance(node, ast.Constant | ast.Compare | ast.BinOp | ast.UnaryOp):
            return set()
        if isinstance(node, ast.Name):
            return self.memory.get(node.id, set())
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Call):
            return self._answer(node)
        return set().union(*map(self.behind, ast.iter_child_nodes(node)))

    def _attribute(self, node: ast.Attribute) -> set[Memory]:
        if node.attr in _NUMBERS:
            return set()
        found = set()
        for name, kind in self.behind(node.value):
            fields = getattr(kind, "fields", ())
            part = kind[fields.index(node.attr)] if node.attr in fields else None
            found |= _of(name, part)
        return found

    def _subscript(self, node: ast.Subscript) -> set[Memory]:
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        single = sum(not isinstance(index, ast.Slice) for index in indices)
        found = set()
        for name, kind in self.behind(node.value):
            if isinstance(kind, types.Array):
                left = kind.ndim - single
                found |= _of(name, kind.copy(ndim=left, layout="A")) if left > 0 else set()
            elif isinstance(kind, types.BaseTuple):
                place = getattr(node.slice, "value", None)
                parts = [kind[place]] if isinstance(place, int) else list(kind)
                found |= set().union(*(_of(name, part) for part in parts))
            else:
                found.add(Memory(name, None))
        return found

    def _answer(self, node: ast.Call) -> set[Memory]:
        what = self.called(node.func)
        if isinstance(what, Dispatcher):
            returned = self._inside(what, node).returned
            given = self._given(what.py_func, node)
            parts = [self.behind(value) for name, value in given if name in returned or not name]
        elif _is_harmless(what):
            return set()
        else:
            parts = [self.behind(part) for part in ast.iter_child_nodes(node)]
        return {Memory(name, None) for name, _ in set().union(*parts)}

    def called(self, node: ast.AST) -> Any:
        """What a call names; None if that is not known."""
        if isinstance(node, ast.Name) and node.id not in self.memory:
            return self.known.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            home = self.known.get(node.value.id)
            if isinstance(home, ModuleType) and node.value.id not in self.memory:
                return getattr(home, node.attr, None)
        return None

    def visit_Call(self, node: ast.Call) -> None:
        what = self.called(node.func)
        self.generic_visit(node)
        if isinstance(what, Dispatcher):
            inside = self._inside(what, node)
            given = self._given(what.py_func, node)
            parts = [
                self.behind(value) for name, value in given if name in inside.written or not name
            ]
        elif _is_harmless(what) and not node.keywords:
            return
        else:
            parts = [self.behind(part) for part in ast.iter_child_nodes(node)]
        self.written |= {name for name, _ in set().union(*parts)}

    def _given(
        self, function: Callable[..., Any], node: ast.Call
    ) -> Iterator[tuple[str, ast.expr]]:
        """Names of a function's arguments ("" if not known), and what a call gives for them."""
        names = [*inspect.signature(function).parameters]
        place = 0
        for value in node.args:
            parts: list[ast.expr] = [value]
            if isinstance(value, ast.Starred):
                kind = self._kind(value.value)
                if not isinstance(kind, types.BaseTuple):
                    names, place = [], 0  # nobody knows what comes where
                    yield "", value.value
                    continue
                parts = [
                    ast.Subscript(value.value, ast.Constant(k), ast.Load())
                    for k in range(len(kind))
                ]
            for part in parts:
                yield names[place] if place < len(names) else "", part
                place += 1
        for word in node.keywords:
            yield word.arg or "", word.value

    def _inside(self, what: Any, node: ast.Call) -> Found:
        """What a compiled function does that is called here."""
        kinds: dict[str, Any] = {
            name: types.none if one.default is None else None
            for name, one in inspect.signature(what.py_func).parameters.items()
        }
        for name, value in self._given(what.py_func, node):
            kinds[name] = self._kind(value)
        kinds.pop("", None)
        return _look(what.py_func, tuple(kinds.values()), self.callers)

    def _kind(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            return types.none if node.value is None else None
        if isinstance(node, ast.Name) and node.id in self.constant:
            return self.constant[node.id]
        kinds = {kind for _, kind in self.behind(node)}
        return (
            kinds.pop() if len(kinds) == 1 and isinstance(node, ast.Name | ast.Subscript) else None
        )

    # -------------------------------------------------------------------------------- statements

    def take(self, target: ast.AST, parts: set[Memory]) -> None:
        """Something is given a value that may be such memory."""
        if isinstance(target, ast.Name):
            self.memory.setdefault(target.id, set()).update(parts)
        elif isinstance(target, ast.Tuple | ast.List):
            for k, one in enumerate(target.elts):
                self.take(one, set().union(*(_part(part, k, len(target.elts)) for part in parts)))
        elif isinstance(target, ast.Starred):
            self.take(target.value, parts)
        else:  # an entry, a slice, an attribute
            self.written |= {name for name, _ in self.behind(getattr(target, "value", None))}

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            names, values = getattr(target, "elts", ()), getattr(node.value, "elts", ())
            if names and len(names) == len(values):
                for name, value in zip(names, values, strict=True):
                    self.take(name, self.behind(value))
            else:
                self.take(target, self.behind(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        self.take(node.target, self.behind(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        place = node.target if isinstance(node.target, ast.Name) else node.target.value
        self.written |= {name for name, _ in self.behind(place)}  # of arrays it is done in place

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self.take(node.target, self.behind(node.value))

    def visit_For(self, node: ast.For) -> None:
        self.take(node.target, {Memory(name, None) for name, _ in self.behind(node.iter)})
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """Where an argument is None or not is decided while compiling, only one branch is there."""
        holds = self._decided(node.test)
        self.visit(node.test)
        for statement in node.body if holds is not False else ():
            self.visit(statement)
        for statement in node.orelse if holds is not True else ():
            self.visit(statement)

    def _decided(self, test: ast.expr) -> bool | None:
        if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name)):
            return None
        (how, *_), (other, *more) = test.ops, test.comparators
        kind = self.constant.get(test.left.id)
        none = isinstance(other, ast.Constant) and other.value is None
        if more or kind is None or not none or not isinstance(how, ast.Is | ast.IsNot):
            return None
        absent = isinstance(kind, types.NoneType) or getattr(kind, "value", kind) is None
        return absent == isinstance(how, ast.Is)

    def visit_Return(self, node: ast.Return) -> None:
        self.generic_visit(node)
        self.returned |= {name for name, _ in self.behind(node.value)}

    def anything_else(self, node: ast.AST) -> None:
        """Statements that compiled functions of this package do not have."""
        self.written |= {name for parts in self.memory.values() for name, _ in parts}

    visit_With = visit_Try = visit_Lambda = visit_FunctionDef = visit_Delete = anything_else
    visit_ListComp = visit_GeneratorExp = visit_DictComp = visit_SetComp = anything_else
    visit_Yield = visit_YieldFrom = visit_Global = visit_Nonlocal = visit_Match = anything_else


def _is_harmless(what: Any) -> bool:
    try:
        return what in _HARMLESS
    except TypeError:  # nothing that could be looked up
        return False


def _of(name: str, kind: Any) -> set[Memory]:
    """Part of an argument; numbers are no memory."""
    return set() if isinstance(kind, types.Number | types.Boolean) else {Memory(name, kind)}


def _part(memory: Memory, k: int, n: int) -> set[Memory]:
    """What one of ``n`` names gets when memory is dealt out to them."""
    name, kind = memory
    if isinstance(kind, types.BaseTuple) and len(kind) == n:
        return _of(name, kind[k])
    if isinstance(kind, types.Array):
        return _of(name, kind.copy(ndim=kind.ndim - 1, layout="A")) if kind.ndim > 1 else set()
    return {Memory(name, None)}
