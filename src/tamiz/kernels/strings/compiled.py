r"""Compiled: the dynamic programme of gap-weighted subsequences, eight pairs at a time or sparse.

A common subsequence of length q is a chain of q matches (i, j), s_i = t_j, that moves forward in
both strings; between two links it costs :math:`\lambda` for each symbol it skips. Write
:math:`M_q(i, j)` for the weight of all chains of q links that end at (i, j), and

.. math::

    D_q(i, j) = \sum_{i' \le i,\, j' \le j} \lambda^{(i - i') + (j - j')} M_q(i', j')

for what they are worth to a link that follows. Then :math:`M_1 = 1` at a match, :math:`M_{q+1}(i,
j) = D_q(i-1, j-1)` at a match, 0 elsewhere, and the sum of all :math:`M_q` is
:math:`K_q / \lambda^{2q}`. ``D`` comes from its neighbours by a scan along t and one step along s,

.. math:: R_q(i, j) = M_q(i, j) + \lambda R_q(i, j-1), \qquad
          D_q(i, j) = R_q(i, j) + \lambda D_q(i-1, j),

in which nothing is ever subtracted: every result is as exact as a sum of positive numbers.

The scan makes each step wait for the one before, so no string can be vectorised along itself.
*Lanes* hold the same place of eight different strings t, which is eight programmes in the time of
one. Where the alphabet is large (words), most symbols of s do not occur in t at all: the second
form drops them first and keeps their number as a power of :math:`\lambda`.

Numbers that fade to below 1e-308 would cost the processor a hundred times as much as others. So
the places without a match hold ``faint`` instead of zero, too small to show in a result.

References
----------
H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, "Text classification using
string kernels", Journal of Machine Learning Research 2, 2002.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tamiz.runtime.compiling import njit

LANES = 8
NOBODY = -1  # the symbol of places after the end of a string; it matches none


def _sweep(update: bool) -> Any:
    """One step along s at level q, for all places of the strings t in the lanes.

    ``M = D[q, j] where T[j] == symbol else faint`` is added up in ``total[q]``; with ``update``,
    ``R = M + decay * R`` and ``D[q + 1, j + 1] = R + decay * D[q + 1, j + 1]``. ``symbol`` is one
    number for all lanes, or an array with one for each. numba has no vectors of its own, and ``R``
    must stay in a register: the loop is written out in the compiler's language.
    """
    real, whole = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(32), LANES)
    index = ir.IntType(64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def pointer(k: int, kind: Any) -> Any:
            array = context.make_array(signature.args[k])(context, builder, args[k])
            return builder.bitcast(array.data, kind.as_pointer())

        def spread(value: Any, kind: Any) -> Any:
            empty = ir.Constant(kind, ir.Undefined)
            one = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(one, empty, ir.Constant(whole, [0] * LANES))

        def load(place: Any, align: int = 8) -> Any:
            value = builder.load(place)
            value.align = align
            return value

        def store(value: Any, place: Any) -> None:
            builder.store(value, place).align = 8

        def multiply_add(a: Any, b: Any, c: Any) -> Any:
            product = builder.fmul(a, b, flags=("contract",))
            return builder.fadd(product, c, flags=("contract",))

        T, decay, faint = pointer(0, whole), spread(args[2], real), spread(args[3], real)
        if isinstance(signature.args[1], types.Array):
            symbol = load(pointer(1, whole), 4)
        else:
            symbol = spread(args[1], whole)
        zero, one, q, length = ir.Constant(index, 0), ir.Constant(index, 1), args[6], args[7]
        places = builder.add(length, one)
        P = builder.gep(pointer(4, real), [builder.mul(q, places)])
        D = builder.gep(P, [places])
        total = builder.gep(pointer(5, real), [q])
        nothing = ir.Constant(real, [0.0] * LANES)

        before = builder.block
        loop = builder.append_basic_block("sweep")
        after = builder.append_basic_block("swept")
        builder.cbranch(builder.icmp_signed(">", length, zero), loop, after)

        builder.position_at_end(loop)
        j, R, added = builder.phi(index), builder.phi(real), builder.phi(real)
        match = builder.icmp_signed("==", load(builder.gep(T, [j]), 4), symbol)
        M = builder.select(match, load(builder.gep(P, [j])), faint)
        next_j, next_R, next_added = builder.add(j, one), nothing, builder.fadd(added, M)
        if update:
            next_R = multiply_add(decay, R, M)
            place = builder.gep(D, [next_j])
            store(multiply_add(decay, load(place), next_R), place)
        changes = (j, zero, next_j), (R, nothing, next_R), (added, nothing, next_added)
        for variable, first, following in changes:
            variable.add_incoming(first, before)
            variable.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", next_j, length), loop, after)

        builder.position_at_end(after)
        swept = builder.phi(real)
        swept.add_incoming(nothing, before)
        swept.add_incoming(next_added, loop)
        store(builder.fadd(load(total), swept), total)
        return context.get_dummy_value()

    @intrinsic  # type: ignore[untyped-decorator]
    def sweep(
        typing_context: Any,
        T: Any,
        symbol: Any,
        decay: Any,
        faint: Any,
        D: Any,
        total: Any,
        q: Any,
        length: Any,
    ) -> Any:
        return types.void(T, symbol, decay, faint, D, total, types.int64, types.int64), generate

    return sweep


_advance = _sweep(update=True)
_add_up = _sweep(update=False)


@njit(cache=True, nogil=True)
def _lane_room(m, length):  # type: ignore[no-untyped-def]
    """D of all levels and places; lines of the cache begin at multiples of 64 bytes."""
    size = m * (length + 1) * LANES
    room = np.empty(size + 8)
    skipped = (-room.ctypes.data // 8) % 8
    return room[skipped : skipped + size].reshape(m, length + 1, LANES)


@njit(cache=True, nogil=True)
def lane_rows(start, stop, bounds, rows, strings, lanes, factors, weights, out):  # type: ignore[no-untyped-def]
    """``out[i, c]`` for the strings i of ``rows`` and the ``columns`` c, which are the lanes of T.

    The value is the sum over q of ``left[i, q] * right[c, q]`` times the sum of all M_q, where M_1
    is ``one`` at a match. ``bounds`` cuts ``rows`` into pieces of equal work.
    """
    (codes, starts), (T, columns), (left, right) = strings, lanes, factors
    decay, one, faint = weights
    m, length = left.shape[1], T.shape[0]
    D, total = _lane_room(m, length), np.empty((m, LANES))
    D[0] = one
    for r in range(bounds[start], bounds[stop]):
        i = rows[r]
        D[1:] = faint
        total[:] = 0.0
        first = starts[i]
        for k in range(starts[i + 1] - first):
            symbol = codes[first + k]
            # from the highest level down: each reads the one below as the last symbol left it
            for q in range(min(k, m - 1), -1, -1):
                if q == m - 1:
                    _add_up(T, symbol, decay, faint, D, total, q, length)
                else:
                    _advance(T, symbol, decay, faint, D, total, q, length)
        for lane in range(len(columns)):
            c, value = columns[lane], 0.0
            for q in range(m):
                if total[q, lane] > 1e30 * faint:
                    value += total[q, lane] * left[i, q] * right[c, q]
            out[i, c] = value


@njit(cache=True, nogil=True)
def interleave(codes, starts, members, T):  # type: ignore[no-untyped-def]
    """Write the strings ``members`` side by side into T of shape (length, LANES)."""
    T[:] = NOBODY
    for lane in range(len(members)):
        first = starts[members[lane]]
        for k in range(starts[members[lane] + 1] - first):
            T[k, lane] = codes[first + k]


@njit(cache=True, nogil=True)
def pair_rows(start, stop, bounds, half, strings, factors, weights, out):  # type: ignore[no-untyped-def]
    """The same values, each pair by itself on the symbols that both strings have.

    With ``half``, only the columns before the row: the others are the same by symmetry, and values
    of strings with themselves, on which nothing is saved, are known.
    """
    a, b, n_symbols = strings
    left, right = factors
    faint = weights[2]
    m = left.shape[1]
    seen_s, seen_t = np.full(n_symbols, -1), np.full(n_symbols, -1)
    s, t, room = _room(a[1], b[1], m)
    total = room[3]
    stamp = -1
    for i in range(bounds[start], bounds[stop]):
        for k in range(a[1][i], a[1][i + 1]):
            seen_s[a[0][k]] = i
        for c in range(i if half else len(b[1]) - 1):
            stamp += 1
            n_t = _common(b[0], b[1][c], b[1][c + 1], seen_s, i, t, seen_t, stamp)
            value = 0.0
            if n_t:
                n_s = _common(a[0], a[1][i], a[1][i + 1], seen_t, stamp, s, seen_t, stamp)
                _chains(s, n_s, t, n_t, weights, room)
                for q in range(m):
                    if total[q] > 1e30 * faint:
                        value += total[q] * left[i, q] * right[c, q]
            out[i, c] = value


@njit(cache=True, nogil=True)
def self_groups(start, stop, bounds, order, strings, weights, out):  # type: ignore[no-untyped-def]
    """``out[i, q]``: the sum of all M_q of string i with itself, q from 0.

    Groups of as many strings as there are lanes, in the given order, each with itself.
    """
    codes, starts = strings
    decay, one, faint = weights
    n, m = out.shape
    total = np.empty((m, LANES))
    for g in range(bounds[start], bounds[stop]):
        members = order[g * LANES : min(n, (g + 1) * LANES)]
        length = 0
        for i in members:
            length = max(length, starts[i + 1] - starts[i])
        T = np.empty((length, LANES), dtype=np.int32)
        interleave(codes, starts, members, T)
        S = T.copy()
        for k in range(length):
            for lane in range(LANES):
                if S[k, lane] == NOBODY:
                    S[k, lane] = NOBODY - 1  # the end of a string is not like the end of another
        D = _lane_room(m, length)
        D[0] = one
        D[1:] = faint
        total[:] = 0.0
        for k in range(length):
            symbol = S[k]
            for q in range(min(k, m - 1), -1, -1):
                if q == m - 1:
                    _add_up(T, symbol, decay, faint, D, total, q, length)
                else:
                    _advance(T, symbol, decay, faint, D, total, q, length)
        for lane in range(len(members)):
            i = members[lane]
            for q in range(m):
                out[i, q] = total[q, lane] if starts[i + 1] - starts[i] > q else 0.0


@njit(cache=True, nogil=True)
def common_symbols(a, b, rows, columns, n_symbols):  # type: ignore[no-untyped-def]
    """Cells left to work on after symbols of one string only are dropped, over some pairs."""
    seen_s, seen_t = np.full(n_symbols, -1), np.full(n_symbols, -1)
    s, t, _ = _room(a[1], b[1], 1)
    cells = 0
    for k in range(len(rows)):
        i, c = rows[k], columns[k]
        for x in range(a[1][i], a[1][i + 1]):
            seen_s[a[0][x]] = k
        n_t = _common(b[0], b[1][c], b[1][c + 1], seen_s, k, t, seen_t, k)
        cells += n_t * _common(a[0], a[1][i], a[1][i + 1], seen_t, k, s, seen_t, k)
    return cells


@njit(cache=True, nogil=True)
def mirror_half(start, stop, order, out):  # type: ignore[no-untyped-def]
    """Copy what was computed, rows at or after their columns in ``order``, to the other half."""
    for a in range(start, stop):
        for b in range(a + 1, len(order)):
            out[order[a], order[b]] = out[order[b], order[a]]


@njit(cache=True, nogil=True)
def _room(a_starts, b_starts, m):  # type: ignore[no-untyped-def]
    """Memory for one pair after the other: symbols and places of both strings, D, R, sums."""
    longest_s, longest_t = 1, 1
    for i in range(len(a_starts) - 1):
        longest_s = max(longest_s, a_starts[i + 1] - a_starts[i])
    for i in range(len(b_starts) - 1):
        longest_t = max(longest_t, b_starts[i + 1] - b_starts[i])
    s, t = np.empty((2, longest_s), dtype=np.int64), np.empty((2, longest_t), dtype=np.int64)
    return s, t, (np.empty((longest_t, m)), np.empty(m), np.empty(m), np.empty(m))


@njit(cache=True, nogil=True)
def _common(codes, first, last, wanted, mark, kept, seen, stamp):  # type: ignore[no-untyped-def]
    """Keep the symbols of a string that are marked in ``wanted``, with their places."""
    n = 0
    for k in range(first, last):
        if wanted[codes[k]] == mark:
            kept[0, n] = codes[k]
            kept[1, n] = k - first
            seen[codes[k]] = stamp
            n += 1
    return n


@njit(cache=True, nogil=True, fastmath={"contract"})
def _chains(s, n_s, t, n_t, weights, room):  # type: ignore[no-untyped-def]
    """The programme of one pair; ``power[g]`` is the decay to the power of g."""
    power, one, faint = weights
    D, R, old, total = room
    m = len(total)
    total[:] = 0.0
    D[:n_t] = 0.0
    for i in range(n_s):
        step_s = s[1, i] - s[1, i - 1] if i else 1
        down = power[step_s]
        R[:] = 0.0
        old[:] = 0.0
        for j in range(n_t):
            step_t = t[1, j] - t[1, j - 1] if j else 1
            along = power[step_t]
            match = s[0, i] == t[0, j]
            near = power[step_s - 1] * power[step_t - 1] if match else 0.0
            M = one if match else faint
            for q in range(m - 1):
                if match:
                    total[q] += M
                R[q] = M + along * R[q]
                M = near * old[q] if match else faint
                old[q] = D[j, q]
                D[j, q] = R[q] + down * D[j, q]
            if match:
                total[m - 1] += M
