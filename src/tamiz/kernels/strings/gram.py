"""Gram matrices of strings: which form of the programme, in which order, on which threads.

Work is cut into rounds of about a fifth of a second, so that Ctrl-C is heard and progress can be
shown; within a round, each thread gets strings of the same total cost, however uneven their
lengths are. The values do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamiz.kernels._checks import Array
from tamiz.kernels.strings.compiled import (
    LANES,
    common_symbols,
    interleave,
    lane_rows,
    mirror_half,
    pair_rows,
    self_groups,
)
from tamiz.kernels.strings.texts import Encoded
from tamiz.runtime.parallel import n_threads, run_tiles
from tamiz.runtime.progress import Progress

ROUND_SECONDS = 0.2
WORTH_A_THREAD = 2e-4  # seconds of work that pay for handing it to another thread

# Measured seconds: of a symbol of s at one level for all lanes, the same for a symbol of t in one
# lane; of a cell at one level alone, of a symbol that is looked up, of a pair.
LANE_STEP = 10e-9
LANE_CELL = 0.2e-9
PAIR_CELL = 1.7e-9
PAIR_SYMBOL = 1.5e-9
PAIR = 15e-9

_SAMPLED_PAIRS = 256
_verbose: ContextVar[int] = ContextVar("tamiz_strings_verbose", default=0)


@contextmanager
def showing_progress(verbose: bool | int) -> Iterator[None]:
    """Show the progress of Gram matrices of strings that take longer than two seconds."""
    token = _verbose.set(int(verbose))
    try:
        yield
    finally:
        _verbose.reset(token)


class Scale(NamedTuple):
    """Numbers that keep the programme within what float64 holds.

    Attributes
    ----------
    one : float
        Weight of a single match, a power of two: 1 unless sums over long strings would overflow.
    faint : float
        What stands in the place of zero.
    """

    one: float
    faint: float


class TooManySubsequences(ValueError):
    """Sums that are beyond float64 however they are scaled."""


def scale_for(longest_s: int, longest_t: int, length: int, decay: float) -> Scale:
    """Choose the scale from a bound on the sums: every symbol a match.

    There are ``C(|s|, q) C(|t|, q)`` pairs of subsequences; and with ``g = 1 / (1 - decay)`` each
    end of a chain has at most ``g²`` times the weight of the ends one link before.
    """
    largest = 0.0
    for q in range(1, min(length, longest_s, longest_t) + 1):
        count = _log2_choose(longest_s, q) + _log2_choose(longest_t, q)
        if decay < 1.0:
            gain = -2.0 * (q - 1) * math.log2(1.0 - decay)
            count = min(count, math.log2(longest_s) + math.log2(longest_t) + gain)
        largest = max(largest, count)
    if largest < 90.0:
        return Scale(1.0, 1e-280 if decay < 1.0 else 0.0)
    shift = max(0, math.ceil((largest - 1000.0) / 2.0))
    if 2 * shift > 900:
        raise TooManySubsequences
    return Scale(2.0 ** (-2 * shift), 0.0)


def self_values(a: Encoded, length: int, decay: float, scale: Scale) -> Array:
    """Sums of M_q of every string with itself, shape (n, length)."""
    out = np.empty((len(a.starts) - 1, length))
    order = np.argsort(a.lengths, kind="stable")
    longest = a.lengths[order][LANES - 1 :: LANES].astype(np.float64)
    longest = np.append(longest, a.lengths.max(initial=0))[: -(-len(order) // LANES)]
    cost = length * longest * (LANE_STEP + LANE_CELL * LANES * longest) + PAIR
    with Progress("string kernel, norms", _verbose.get()) as progress:
        for bounds, share in _rounds(cost):
            args = (bounds, order, a.codes, a.starts, decay, scale.one, scale.faint, out)
            run_tiles(self_groups, len(bounds) - 1, *args)
            progress.update(f"{100 * share:.0f} %")
    return out


def gram(
    a: Encoded, b: Encoded | None, left: Array, right: Array, decay: float, scale: Scale
) -> Array:
    """Sums over q of ``left[i, q] right[c, q]`` times the sums of M_q.

    Symmetric if b is None; the diagonal is then left to the caller, who knows it.
    """
    half = b is None
    b, n_symbols = (a, len(a.symbols)) if b is None else b.in_alphabet_of(a)
    out = np.zeros((len(a.starts) - 1, len(b.starts) - 1))
    if not out.size or not n_symbols:
        return out
    method = _by_pairs if _pairs_are_cheaper(a, b, n_symbols, left.shape[1]) else _by_lanes
    with Progress("string kernel", _verbose.get()) as progress:
        order = method(a, b, half, n_symbols, left, right, decay, scale, out, progress)
    if half:
        run_tiles(mirror_half, len(order), order, out, min_items=1024)
    return out


def _pairs_are_cheaper(a: Encoded, b: Encoded, n_symbols: int, m: int) -> bool:
    """Compare what both forms would cost, by the symbols in common of some of the pairs."""
    n, k = len(a.starts) - 1, len(b.starts) - 1
    rng = np.random.default_rng(0)  # the same choice every time
    rows, columns = rng.integers(n, size=_SAMPLED_PAIRS), rng.integers(k, size=_SAMPLED_PAIRS)
    if a is b:  # a string has all symbols in common with itself, but that is known beforehand
        rows, columns = rows[rows != columns], columns[rows != columns]
    of_s, of_t = a.lengths[rows], b.lengths[columns]
    steps = of_s @ (LANE_STEP + LANE_CELL * LANES * of_t)
    dense = m * float(steps) / min(LANES, k)
    symbols = PAIR * len(rows) + PAIR_SYMBOL * float((of_s + of_t).sum())
    if symbols >= dense:
        return False
    cells = common_symbols((a.codes, a.starts), (b.codes, b.starts), rows, columns, n_symbols)
    return symbols + PAIR_CELL * m * float(cells) < dense


def _by_lanes(
    a: Encoded,
    b: Encoded,
    half: bool,
    n_symbols: int,
    left: Array,
    right: Array,
    decay: float,
    scale: Scale,
    out: Array,
    progress: Progress,
) -> NDArray[np.intp]:
    """Strings of similar length share the lanes; a symmetric matrix needs rows from there on."""
    order = np.argsort(b.lengths, kind="stable")
    rows = order if half else np.arange(len(a.starts) - 1)
    lengths = a.lengths[rows].astype(np.float64)
    for start in range(0, len(order), LANES):
        columns = order[start : start + LANES]
        longest = int(b.lengths[columns[-1]])
        if not longest:
            continue  # nothing matches an empty string
        T = np.empty((longest, LANES), dtype=np.int32)
        interleave(b.codes, b.starts, columns, T)
        first = start if half else 0
        step = LANE_STEP + LANE_CELL * LANES * longest
        cost = left.shape[1] * step * lengths[first:] + PAIR
        for bounds, share in _rounds(cost):
            where = (bounds, rows[first:], a.codes, a.starts, T, columns, left, right)
            run_tiles(lane_rows, len(bounds) - 1, *where, decay, scale.one, scale.faint, out)
            done = start + share * len(columns)
            progress.update(f"{done:,.0f} of {len(order):,} strings")
    return order


def _by_pairs(
    a: Encoded,
    b: Encoded,
    half: bool,
    n_symbols: int,
    left: Array,
    right: Array,
    decay: float,
    scale: Scale,
    out: Array,
    progress: Progress,
) -> NDArray[np.intp]:
    power = _powers(decay, np.concatenate([a.lengths, b.lengths]))
    n, k = out.shape
    typical = float(b.lengths.mean())
    cells = 0.1 * a.lengths * typical * left.shape[1]  # of which few are left
    cost = PAIR + PAIR_SYMBOL * (a.lengths + typical) + PAIR_CELL * cells
    cost = cost * (np.arange(1, n + 1) if half else k)
    pair = (a.codes, a.starts), (b.codes, b.starts)
    for bounds, share in _rounds(cost):
        where = (bounds, half, *pair, left, right, n_symbols, power, scale.one, scale.faint, out)
        run_tiles(pair_rows, len(bounds) - 1, *where)
        progress.update(f"{100 * share:.0f} %")
    return np.arange(n)


def _rounds(cost: Array) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Cut items of known cost into rounds, each into pieces of equal cost, one for each thread."""
    done = np.cumsum(cost)
    total = float(done[-1]) if len(done) else 0.0
    threads = n_threads()
    start = 0
    while start < len(cost):
        before = float(done[start - 1]) if start else 0.0
        until = before + ROUND_SECONDS * threads
        stop = max(start + 1, int(np.searchsorted(done, until, side="right")))
        span = float(done[stop - 1]) - before
        pieces = min(threads, max(1, int(span / WORTH_A_THREAD)))
        cuts = np.searchsorted(done, before + span * np.arange(1, pieces) / pieces)
        inner = np.clip(cuts + 1, start, stop)
        yield np.concatenate([[start], inner, [stop]]).astype(np.int64), done[stop - 1] / total
        start = stop


def _powers(decay: float, lengths: Any) -> Array:
    """Powers of the decay up to the longest string; those of no consequence are zero."""
    with np.errstate(under="ignore"):
        power = decay ** np.arange(int(np.max(lengths, initial=0)) + 2, dtype=np.float64)
    power[power < 1e-280] = 0.0
    return np.asarray(power)


def _log2_choose(n: int, k: int) -> float:
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2.0)
