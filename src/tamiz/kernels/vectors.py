"""Eight float64 side by side, for compiled loops whose sums have to stay in registers.

numba has no vectors of its own. A loop over lanes is vectorised, but what it adds up is written to
memory and read again in every step of the loop around it: what such a step waits for costs more
than its arithmetic. A variable of the type here is one vector of the compiler, which a processor
with shorter ones splits:

    total = spread(0.0)
    for j in range(p):
        total = multiply_add(load(a, 8 * j), load(b, 8 * j), total)

Only compiled functions know these variables; they come from arrays and go back to arrays. These are
float64, and their rows follow each other without gaps: with other arrays nothing is compiled.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

#: Numbers in a vector.
LANES = 8

_REAL = ir.VectorType(ir.DoubleType(), LANES)
_PLACES = ir.VectorType(ir.IntType(32), LANES)
#: A product and a sum may become one instruction, as with ``fastmath={"contract"}``.
_FLAGS = ("contract",)


class _Vector(types.Type):
    def __init__(self) -> None:
        super().__init__(name="vector of eight float64")


_vector = _Vector()


@register_model(_Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _REAL)


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Where the vector stands that begins at ``args[1]`` in the array ``args[0]``."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.bitcast(builder.gep(array.data, [args[1]]), _REAL.as_pointer())


def _holds_vectors(array: Any) -> bool:
    """Whether the numbers of an array are float64 and adjacent, row after row."""
    kind = isinstance(array, types.Array) and array.dtype == types.float64
    return kind and array.layout == "C" and array.aligned


@intrinsic
def load(typing_context: Any, array: Any, start: Any) -> Any:
    """Eight numbers of a contiguous array of float64, from a place in its memory on."""
    if not _holds_vectors(array) or not isinstance(start, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(_place(context, builder, signature, args))
        value.align = 8
        return value

    return _vector(array, types.intp), generate


@intrinsic
def store(typing_context: Any, array: Any, start: Any, vector: Any) -> Any:
    """Write them back."""
    writable = _holds_vectors(array) and array.mutable and vector == _vector
    if not writable or not isinstance(start, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, signature, args)).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, _vector), generate


@intrinsic
def spread(typing_context: Any, number: Any) -> Any:
    """The same number eight times."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        empty = ir.Constant(_REAL, ir.Undefined)
        one = builder.insert_element(empty, args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(one, empty, ir.Constant(_PLACES, [0] * LANES))

    return _vector(types.float64), generate


@intrinsic
def multiply(typing_context: Any, a: Any, b: Any) -> Any:
    """``a * b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(args[0], args[1], flags=_FLAGS)

    return _vector(_vector, _vector), generate


@intrinsic
def subtract(typing_context: Any, a: Any, b: Any) -> Any:
    """``a - b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(args[0], args[1], flags=_FLAGS)

    return _vector(_vector, _vector), generate


@intrinsic
def multiply_add(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once where the processor can."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(args[0], args[1], flags=_FLAGS)
        return builder.fadd(product, args[2], flags=_FLAGS)

    return _vector(_vector, _vector, _vector), generate


@intrinsic
def greater(typing_context: Any, a: Any, b: Any) -> Any:
    """The greater one of each pair; ``b`` where one is not a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return _vector(_vector, _vector), generate


@intrinsic
def lane(typing_context: Any, vector: Any, place: Any) -> Any:
    """One of the eight numbers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float64(_vector, types.intp), generate
