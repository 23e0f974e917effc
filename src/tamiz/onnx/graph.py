"""Graphs of ONNX operators, written as arithmetic.

A :class:`Value` is a name in the graph that is being written; ``+ - * / @`` and the methods of the
:class:`Graph` add nodes to it. Numbers are float64 throughout, whatever type comes in: float32
would leave about four decimals of a decision value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Version of the operators that are written, and of the trees among them.
OPSET, ML_OPSET = 17, 3
ML = "ai.onnx.ml"
_LEAST_DIVISOR = 1e-300  # one over less is beyond float64


def onnx_package() -> Any:
    """The package onnx, or an error that says how to install it."""
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "to_onnx needs onnx; install it with: pip install 'tamiz[onnx]'"
        ) from None
    return onnx


class Value:
    """One result in a graph."""

    __array_ufunc__ = None  # arrays leave ``array + value`` to the value

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name

    def __add__(self, other: Any) -> Value:
        return self.graph.op("Add", self, other)

    def __sub__(self, other: Any) -> Value:
        return self.graph.op("Sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return self.graph.op("Sub", other, self)

    def __mul__(self, other: Any) -> Value:
        if _is_row_of_one(other):
            return self @ np.reshape(other, (1, 1))
        return self.graph.op("Mul", self, other)

    def __truediv__(self, other: Any) -> Value:
        if _is_row_of_one(other) and np.abs(other).min() > _LEAST_DIVISOR:
            return self @ (1.0 / np.reshape(other, (1, 1)))
        return self.graph.op("Div", self, other)

    def __matmul__(self, other: Any) -> Value:
        return self.graph.op("MatMul", self, other)

    __radd__ = __add__
    __rmul__ = __mul__


def _is_row_of_one(factor: Any) -> bool:
    """Whether it is the row of factors of a table that has one column.

    onnxruntime merges a factor of one entry, whatever its axes, with a product of matrices before
    or behind it, as an attribute of that, and attributes are float32. Two products stay two.
    """
    return isinstance(factor, np.ndarray) and factor.ndim > 0 and factor.size == 1


class Graph:
    """Nodes and constants in the order in which they were written.

    Parameters
    ----------
    opset : int
        Version of the operators.
    prefix : str
        What the names of results begin with.
    """

    def __init__(self, opset: int = OPSET, prefix: str = "") -> None:
        self.onnx = onnx_package()
        self.opset = opset
        self.prefix = prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def named(self, name: str) -> Value:
        """A value that somebody else provides, such as the input."""
        return Value(self, name)

    def constant(self, content: Any) -> Value:
        """An array; numbers are float64, integers int64, text stays text."""
        array = np.asarray(content)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        elif array.dtype.kind in "OU":
            array = array.astype(object)
        name = f"{self.prefix}c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        if array.ndim == 0:  # ascontiguousarray makes it one-dimensional
            del self.constants[-1].dims[:]
        return Value(self, name)

    def op(self, kind: str, *inputs: Any, domain: str = "", out: str = "", **options: Any) -> Value:
        """The (first) result of an operator; what is no value becomes a constant."""
        return self.ops(kind, 1, *inputs, domain=domain, out=out, **options)[0]

    def ops(
        self, kind: str, n: int, *inputs: Any, domain: str = "", out: str = "", **options: Any
    ) -> list[Value]:
        """All ``n`` results of an operator."""
        values = [one if isinstance(one, Value) else self.constant(one) for one in inputs]
        place = len(self.nodes)
        names = [out] if out else [f"{self.prefix}v{place}_{k}" for k in range(n)]
        self.nodes.append(
            self.onnx.helper.make_node(
                kind,
                [value.name for value in values],
                names,
                name=f"{self.prefix}n{place}",
                domain=domain,
                **options,
            )
        )
        return [Value(self, name) for name in names]

    def reduce(self, kind: str, value: Value, axis: int, keep: bool = True) -> Value:
        """Sum, least or largest along one axis."""
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, value, np.array([axis]), keepdims=int(keep))
        return self.op(kind, value, axes=[axis], keepdims=int(keep))

    def columns(self, value: Value, chosen: Any) -> Value:
        """Some columns of a table."""
        return self.op("Gather", value, np.asarray(chosen, dtype=np.int64), axis=1)

    def pick(self, table: Any, index: Value) -> Value:
        """The entries, or rows, of a constant at the places that ``index`` says."""
        return self.op("Gather", np.asarray(table), index, axis=0)

    def first_column(self, value: Value) -> Value:
        """The only column of a table, as a vector."""
        return self.op("Squeeze", value, np.array([1]))

    def number(self, value: Value, dtype: Any = np.float64) -> Value:
        """The same in another type."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.op("Cast", value, to=kind)

    def where(self, condition: Value, yes: Any, no: Any) -> Value:
        """Entries of one or the other."""
        return self.op("Where", condition, yes, no)

    def join(self, values: Sequence[Value]) -> Value:
        """Tables side by side."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=1)
