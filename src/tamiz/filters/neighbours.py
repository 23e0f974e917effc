r"""Pairs of samples in the Relief family: tables, exact nearest neighbours, sums of differences.

``diff(f, a, b)`` is ``|a − b| / (max − min)`` for a numeric feature and 0 or 1 for a symbolic one.
Where a value is missing it is replaced by its expectation, given the class of the sample that
lacks it: for a symbol, ``1 − P(v | class)``; for a number, ``E |x − v|`` over the values ``v`` that
the feature has in that class; both missing, the expectation over both. A class without any value
borrows those of all classes [1]_.

Distances are sums over features: ``|a − b|`` (or its square) for numbers, 0 or 1 for symbols, and
an expectation where a value is missing. Blocks of pairs are computed in float32, with several
pairs at a time in registers, and only to find candidates: whatever lies within the rounding error
of the k-th distance is computed again in float64, which decides who is among the neighbours. They
are therefore those of the float64 distances.

Distances that agree in their first 36 bits are ties. The order of summation, which vector code
and naive loops do differently, then has no say in them: ties go to the smaller index, or to the
smaller of two pseudo-random numbers that depend on the seed and the pair alone.

References
----------
.. [1] I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tamiz.gpu import Lane
from tamiz.gpu.distances import Difference, MissingTable, add_differences, add_missing
from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import run_tiles
from tamiz.validation import require_memory

#: Samples in a block of pairs, features in a strip of it, entries of distances kept at a time.
_SIDE = 32
_STRIP = 1024
_MOST_KEPT = 2**25

#: Differences that make a thread worth while, and those after which progress is shown.
_WORTH = 2**22
_SLICE = 2**31

#: Bytes for each distance on a card: the sums, their float32 copy, and what is between.
_CARD_COPIES = 32

#: Vector lanes assumed by the error bound; wider vectors only make it safer.
_LANES = 4

#: Columns of numbers below this one are multiplied by its inverse, which is exact.
_TINY = 2.0**-1000


class ReliefTable(NamedTuple):
    """Samples, sorted by class, as compiled functions want them.

    Numbers are scaled so that none exceeds 1 in size.
    """

    codes: np.ndarray  # intp (n,): class of each sample
    numbers: np.ndarray  # float64 (n, a): complete numeric features
    symbols: np.ndarray  # int32 (n, b): complete symbolic features
    partial: np.ndarray  # float64 (n, c): features that lack values, NaN where missing
    partial_symbolic: np.ndarray  # bool (c,)
    expected: np.ndarray  # float64 (classes, n, c): diff of each value from a missing one
    both: np.ndarray  # float64 (classes, classes, c): diff of two missing values
    symbol_weight: float  # what a differing symbol adds to a distance
    partial_weight: np.ndarray  # float64 (c,): factor of diff in a distance


class Ties(NamedTuple):
    """Which of several samples at the same distance is the nearer one."""

    names: np.ndarray  # intp (n,): index of each sample in the user's order
    seed: np.uint64
    at_random: bool  # by a random number of the pair, else by index


class ScaledFeatures(NamedTuple):
    """Features on the scale of ``diff``, and where they stand in the tables."""

    values: np.ndarray  # float64 (n, p): numbers in [0, 1], codes of symbols, NaN where missing
    symbolic: np.ndarray  # bool (p,)
    partial: np.ndarray  # bool (p,): which lack values
    constant: np.ndarray  # bool (p,)
    span: np.ndarray  # float64 (p,): max − min of numbers, 1 for symbols


def scale_columns(X: np.ndarray, order: np.ndarray, symbolic: np.ndarray) -> ScaledFeatures:
    """Bring every numeric feature to [0, 1], a constant one to 0, and the rows into ``order``."""
    low, high, lacks = _extremes(X)
    constant = ~(high > low)  # also without any value
    still = constant | symbolic
    low[still] = 0.0
    # max − min itself may overflow, and half of it may be nothing
    size = np.maximum(np.abs(low), np.abs(high, where=~constant, out=np.zeros_like(high)))
    unit = np.where(still | (size > _TINY), 0.5, 1.0 / _TINY)
    half = np.where(still, 0.5, unit * high - unit * low)
    values = np.empty_like(X)
    least = max(1, 2**18 // X.shape[1])
    run_tiles(_scale_rows, len(X), X, order, (low, unit, half), values, min_items=least)
    if constant.any():
        values[:, constant] = 0.0  # differs from nothing, missing or not
    span = np.where(still, 1.0, np.minimum(half, np.finfo(float).max / 2) / unit)
    return ScaledFeatures(values, symbolic, lacks & ~constant, constant, span)


@njit(cache=True, nogil=True)
def _extremes(X):  # type: ignore[no-untyped-def]
    """Least and greatest value of each column, infinite without any, and which lack values."""
    n, p = X.shape
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    known = np.zeros(p)
    for i in range(n):
        for j in range(p):
            x = X[i, j]
            low[j] = x if x < low[j] else low[j]
            high[j] = x if x > high[j] else high[j]
            known[j] += 1.0 if x == x else 0.0
    return low, high, known < n


@njit(cache=True, nogil=True)
def _scale_rows(start, stop, X, order, scale, values):  # type: ignore[no-untyped-def]
    low, unit, half = scale
    for r in range(start, stop):
        x, out = X[order[r]], values[r]
        for j in range(len(low)):
            out[j] = (unit[j] * x[j] - unit[j] * low[j]) / half[j]


def build_table(
    columns: ScaledFeatures, codes: np.ndarray, n_classes: int, by_range: bool
) -> tuple[ReliefTable, ReliefTable]:
    """Tables of the same samples for distances and for differences.

    They differ only if distances are not ``by_range``: then features weigh as much as their
    values spread, relative to the widest.
    """
    values, symbolic, lacks, _, span = columns
    numeric = ~symbolic & ~lacks
    filled = values[:, lacks]
    expected, both = expected_differences(filled, symbolic[lacks], codes, n_classes)
    diff = ReliefTable(
        codes,
        values if numeric.all() else np.ascontiguousarray(values[:, numeric]),
        np.ascontiguousarray(values[:, symbolic & ~lacks]).astype(np.int32),
        np.ascontiguousarray(filled),
        symbolic[lacks],
        expected,
        both,
        1.0,
        np.ones(int(lacks.sum())),
    )
    if by_range:
        return diff, diff
    widest = span.max(initial=1.0 if symbolic.any() else 0.0)
    factor = span / (widest if widest > 0 else 1.0)
    distance = diff._replace(
        numbers=diff.numbers * factor[numeric],
        symbol_weight=1.0 / max(widest, 1.0),  # where there are symbols, it is 1 at least
        partial_weight=factor[lacks],
    )
    return distance, diff


def feature_order(columns: ScaledFeatures) -> np.ndarray:
    """Features in the order of a table: numbers, symbols, features that lack values."""
    symbolic, lacks = columns.symbolic, columns.partial
    parts = (~symbolic & ~lacks, symbolic & ~lacks, lacks)
    return np.concatenate([np.flatnonzero(part) for part in parts])


def expected_differences(
    values: np.ndarray, symbolic: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Difference of each value from a missing one of each class, and of two missing ones."""
    n, p = values.shape
    require_memory(
        8 * n_classes * n * p,
        f"differences of {n:,} × {p:,} values from missing ones of {n_classes} classes",
        "Fill in the missing values first, use fewer samples, or select features by a faster "
        "filter first.",
    )
    expected = np.zeros((n_classes, n, p))
    both = np.zeros((n_classes, n_classes, p))
    for j in range(p):
        present = ~np.isnan(values[:, j])
        own = [present & (codes == c) for c in range(n_classes)]
        own = [rows if rows.any() else present for rows in own]
        x = values[present, j]
        for c, rows in enumerate(own):
            known = values[rows, j]
            expected[c, present, j] = _unlike(x, known) if symbolic[j] else _mean_distance(x, known)
        for c, rows in enumerate(own):
            both[c, :, j] = expected[:, rows, j].mean(axis=1)
    return expected, both


def _unlike(x: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Probability that a known value differs from ``x``."""
    levels, counts = np.unique(known, return_counts=True)
    place = np.minimum(np.searchsorted(levels, x), len(levels) - 1)
    return 1.0 - np.where(levels[place] == x, counts[place], 0) / len(known)


def _mean_distance(x: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Mean of ``|x − v|`` over the known values ``v``, by sums over the sorted ones."""
    known = np.sort(known)
    sums = np.concatenate([[0.0], np.cumsum(known)])
    below = np.searchsorted(known, x)
    lower = x * below - sums[below]
    upper = sums[-1] - sums[below] - x * (len(known) - below)
    return np.maximum(lower + upper, 0.0) / len(known)


def nearest(
    table: ReliefTable,
    samples: np.ndarray,
    groups: np.ndarray,
    k: int,
    ties: Ties,
    squared: bool,
    progress: Progress,
    lane: Lane | None = None,
) -> np.ndarray:
    """The ``k`` nearest neighbours of each sample in each group, -1 where there are fewer.

    Parameters
    ----------
    table : ReliefTable
        The samples.
    samples : array of shape (m,)
        Whose neighbours are wanted.
    groups : intp array of shape (n_classes, n_groups, 2, 2)
        Where to look, by class of the sample: up to two ranges for each group.
    k : int
        Number of neighbours.
    ties : Ties
        What decides ties.
    squared : bool
        Sum squares of differences (the euclidean order) instead of differences.
    progress : Progress
        Where to say how far it is.
    lane : Lane, optional
        The card that computes the distances. Who is among the neighbours is decided as without it,
        from the float64 distances of those in doubt, so that they are the same.

    Returns
    -------
    neighbours : int32 array of shape (m, n_groups, k)
        In no particular order, which is the same every time.
    """
    n, m = len(table.codes), len(samples)
    n_groups = groups.shape[1]
    neighbours = np.full((m, n_groups, k), -1, dtype=np.int32)
    width = table.numbers.shape[1] + table.symbols.shape[1] + 4 * table.partial.shape[1]
    rows = max(1, _WORTH // (4 * n + 4 * n_groups * width))
    if lane is None:
        blocks = _blocks_on_cpu(table, samples, squared, progress)
    else:
        blocks = _blocks_on_card(table, samples, squared, lane)
    for top, distances in blocks:
        part, found = samples[top : top + len(distances)], neighbours[top : top + len(distances)]
        chosen = distances, table, part, groups, ties, squared, found
        run_tiles(_choose, len(part), *chosen, min_items=rows, max_items=4 * rows)
        progress.update(f"neighbours, {(top + len(part)) / m:.0%}")
    return neighbours


def _blocks_on_cpu(
    table: ReliefTable, samples: np.ndarray, squared: bool, progress: Progress
) -> Iterator[tuple[int, np.ndarray]]:
    """Distances of some samples after the other from all, and the place of the first of them."""
    n, m = len(table.codes), len(samples)
    single = table.numbers.astype(np.float32)
    symmetric = np.array_equal(samples, np.arange(n)) and n * n <= _MOST_KEPT
    height = n if symmetric else max(_SIDE, min(m, _MOST_KEPT // n // _SIDE * _SIDE))
    distances = np.empty((min(height, m), n), dtype=np.float32)
    columns = -(-n // _SIDE)
    p = single.shape[1] + table.symbols.shape[1] + 4 * table.partial.shape[1]
    blocks = max(1, _WORTH // (_SIDE * _SIDE * p + 1))
    for top in range(0, m, height):
        part = samples[top : top + height]
        grid = np.ones((-(-len(part) // _SIDE), columns), dtype=bool)
        pairs = np.argwhere(np.triu(grid) if symmetric else grid)
        args = single, table, part, distances, squared, symmetric
        step = max(1, _SLICE // (_SIDE * _SIDE * p + 1))
        for first in range(0, len(pairs), step):
            some = pairs[first : first + step]
            run_tiles(_fill, len(some), some, *args, min_items=blocks, max_items=4 * blocks)
            done = (top + len(part) * (first + len(some)) / len(pairs)) / m
            progress.update(f"distances, {done:.0%}")
        yield top, distances[: len(part)]


def _blocks_on_card(
    table: ReliefTable, samples: np.ndarray, squared: bool, lane: Lane
) -> Iterator[tuple[int, np.ndarray]]:
    """The same on a card, which sums up in float64: what is rounded to float32 is the distance."""
    n, m = len(table.codes), len(samples)
    kind = Difference.SQUARED if squared else Difference.ABSOLUTE
    columns = table.numbers.shape[1] + table.symbols.shape[1] + table.partial.shape[1]
    held = 8 * (n * columns + table.expected.size)
    copies = _CARD_COPIES * (2 if table.partial.shape[1] else 1)
    what = f"distances of {n:,} samples in {columns:,} features"
    lane.require(held + copies * n * _SIDE, what, size=n)
    room = (lane.free_bytes() - held) // (copies * n)
    height = int(max(_SIDE, min(m, _MOST_KEPT // n, room)))
    with lane.guarded(what):
        numbers = lane.to_device(table.numbers)
        symbols = lane.to_device(table.symbols.astype(np.float64))
        weight = table.symbol_weight * (table.symbol_weight if squared else 1.0)
        missing = MissingTable(
            lane.to_device(table.partial),
            table.partial_symbolic,
            lane.to_device(table.expected),
            lane.to_device(table.both),
            table.partial_weight,
            lane.to_device(table.codes),
        )
        for top in range(0, m, height):
            rows = lane.to_device(samples[top : top + height])
            out = lane.xp.zeros((len(rows), n), dtype=np.float64)
            if table.numbers.shape[1]:
                add_differences(lane, numbers[rows], numbers, kind, 1.0, out)
            if table.symbols.shape[1]:
                add_differences(lane, symbols[rows], symbols, Difference.UNLIKE, weight, out)
            add_missing(lane, missing, rows, squared, out)
            yield top, lane.to_host(out.astype(np.float32))


def summed_differences(
    table: ReliefTable,
    samples: np.ndarray,
    neighbours: np.ndarray,
    coef: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """``Σ coef[r, q] · diff(f, samples[r], neighbours[r, q])`` for every feature of the table.

    Numbers come first, then symbols, then features that lack values. The samples are taken in the
    same order whatever the number of threads: the sums do not depend on it.
    """
    least = max(1, _WORTH // max(1, neighbours.size))
    parts = []
    for function, width in (
        (_sum_numbers, table.numbers.shape[1]),
        (_sum_symbols, table.symbols.shape[1]),
        (_sum_partial, table.partial.shape[1]),
    ):
        total = np.zeros(width)
        step = max(1, _SLICE // max(1, neighbours.shape[1] * width))
        for first in range(0, len(samples) if width else 0, step):
            rows = slice(first, first + step)
            args = table, samples[rows], neighbours[rows], coef[rows], total
            run_tiles(function, width, *args, min_items=least)
            progress.update(f"differences, {min(first + step, len(samples)) / len(samples):.0%}")
        parts.append(total)
    return np.concatenate(parts)


@njit(cache=True, nogil=True)
def _fill(start, stop, pairs, single, table, samples, distances, squared, symmetric):  # type: ignore[no-untyped-def]
    """Blocks ``start`` to ``stop`` of the distances from ``samples`` to all."""
    n, p = single.shape
    block = np.empty((_SIDE, _SIDE), dtype=np.float32)
    left = np.empty((_SIDE, min(p, _STRIP)), dtype=np.float32)
    held = -1  # the row of blocks whose samples are in ``left``
    for task in range(start, stop):
        top, side = pairs[task, 0] * _SIDE, pairs[task, 1] * _SIDE
        rows, columns = min(_SIDE, len(samples) - top), min(_SIDE, n - side)
        half = symmetric and top == side  # the other half of the block is its mirror image
        block[:] = 0.0
        for first in range(0, p, _STRIP):
            last = min(first + _STRIP, p)
            if p > _STRIP or pairs[task, 0] != held:
                for r in range(rows):
                    for j in range(first, last):
                        left[r, j - first] = single[samples[top + r], j]
                for r in range(rows, _SIDE):
                    left[r, : last - first] = 0.0
                held = pairs[task, 0]
            strip = first, last
            _add_numbers(left, single, side, columns, strip, rows, squared, half, block)
        if table.symbols.shape[1] or table.partial.shape[1]:
            for r in range(rows):
                i = samples[top + r]
                for c in range(r if half else 0, columns):
                    block[r, c] += np.float32(_other_features(table, i, side + c, squared))
        for r in range(rows):
            for c in range(r if half else 0, columns):
                distances[top + r, side + c] = block[r, c]
        if symmetric:
            for c in range(columns):
                for r in range(c if half else rows):
                    distances[side + c, top + r] = block[r, c]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _add_numbers(left, single, side, columns, strip, rows, squared, half, block):  # type: ignore[no-untyped-def]
    """Add the numeric part of the distances, four rows at a time; with ``half``, from them on."""
    first, last = strip
    p = last - first
    for r in range(0, rows, 4):
        a, b, c, d = left[r, :p], left[r + 1, :p], left[r + 2, :p], left[r + 3, :p]
        for l in range(r if half else 0, columns):
            x = single[side + l, first:last]  # a row of a table: numba knows it is contiguous
            s, t, u, v = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            if squared:
                for j in range(p):
                    s += (a[j] - x[j]) * (a[j] - x[j])
                    t += (b[j] - x[j]) * (b[j] - x[j])
                    u += (c[j] - x[j]) * (c[j] - x[j])
                    v += (d[j] - x[j]) * (d[j] - x[j])
            else:
                for j in range(p):
                    s += abs(a[j] - x[j])
                    t += abs(b[j] - x[j])
                    u += abs(c[j] - x[j])
                    v += abs(d[j] - x[j])
            block[r, l] += s
            block[r + 1, l] += t
            block[r + 2, l] += u
            block[r + 3, l] += v


@njit(cache=True, nogil=True)
def _other_features(table, i, l, squared):  # type: ignore[no-untyped-def]
    """Part of a distance that comes from symbols and from features that lack values."""
    differing = 0
    for j in range(table.symbols.shape[1]):
        differing += table.symbols[i, j] != table.symbols[l, j]
    weight = table.symbol_weight
    total = differing * (weight * weight if squared else weight)
    for j in range(table.partial.shape[1]):
        diff = table.partial_weight[j] * _partial_diff(table, i, l, j)
        total += diff * diff if squared else diff
    return total


@njit(cache=True, nogil=True)
def _partial_diff(table, i, l, j):  # type: ignore[no-untyped-def]
    """Difference of two samples in a feature that lacks values: its expectation where one does."""
    codes = table.codes
    a, b = table.partial[i, j], table.partial[l, j]
    if np.isnan(a):
        if np.isnan(b):
            return table.both[codes[i], codes[l], j]
        return table.expected[codes[i], l, j]
    if np.isnan(b):
        return table.expected[codes[l], i, j]
    if table.partial_symbolic[j]:
        return 1.0 if a != b else 0.0
    return abs(a - b)


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _exact_numbers(x, z, squared):  # type: ignore[no-untyped-def]
    total = 0.0
    if squared:
        for j in range(len(x)):
            total += (x[j] - z[j]) * (x[j] - z[j])
    else:
        for j in range(len(x)):
            total += abs(x[j] - z[j])
    return total


@njit(cache=True, nogil=True)
def _rounded(d):  # type: ignore[no-untyped-def]
    """``d`` rounded to 36 significant bits (Veltkamp's splitting)."""
    t = d * 131073.0  # 2^17 + 1
    return t - (t - d)


@njit(cache=True, nogil=True)
def _mixed(seed, i, l):  # type: ignore[no-untyped-def]
    """A pseudo-random number that depends on the seed and the pair (two rounds of splitmix64)."""
    z = seed
    for part in (np.uint64(i), np.uint64(l)):
        z = z + part + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return z


@njit(cache=True, nogil=True)
def _choose(start, stop, distances, table, samples, bounds, ties, squared, out):  # type: ignore[no-untyped-def]
    """Nearest neighbours of the samples ``start`` to ``stop``."""
    codes, names = table.codes, ties.names
    n_groups, k = out.shape[1], out.shape[2]
    p = table.numbers.shape[1]
    width = p + table.symbols.shape[1] + table.partial.shape[1]
    tail = (min(p, _STRIP) / _LANES + p / _STRIP + 8.0) * 2.0**-24
    nearest = np.empty(k, dtype=np.float32)
    exact = np.empty(k)
    tie = np.empty(k, dtype=np.uint64)
    maybe = np.empty(len(codes), dtype=np.int32)
    for r in range(start, stop):
        i = samples[r]
        for g in range(n_groups):
            ranges = bounds[codes[i], g]
            found = _smallest(distances[r], ranges, i, nearest)
            if found == 0:
                continue
            low, high = np.inf, np.inf
            if found == k:  # otherwise everything is a neighbour
                error = width * 2.0**-22 + 2.0 * tail * nearest[k - 1]
                low, high = nearest[k - 1] - 2.0 * error, nearest[k - 1] + 2.0 * error
            near, doubtful = _sort_out(distances[r], ranges, i, low, high, out[r, g], maybe)
            if near + doubtful <= k:
                for a in range(doubtful):
                    out[r, g, near + a] = maybe[a]
                continue
            count, rest = 0, out[r, g, near:]
            for q in range(doubtful):
                l = maybe[q]
                d = _exact_numbers(table.numbers[i], table.numbers[l], squared)
                d = _rounded(d + _other_features(table, i, l, squared))
                mark = np.uint64(names[l])
                if ties.at_random:
                    mark = _mixed(ties.seed, names[i], names[l])
                count = _insert(d, mark, l, exact, tie, rest, count)


@njit(cache=True, nogil=True)
def _sort_out(row, ranges, i, low, high, sure, maybe):  # type: ignore[no-untyped-def]
    """Those certainly among the nearest, and those that rounding leaves in doubt."""
    near, doubtful = 0, 0
    for part in range(2):
        for l in range(ranges[part, 0], ranges[part, 1]):
            if row[l] > high or l == i:
                continue
            if row[l] < low:
                sure[near] = l
                near += 1
            else:
                maybe[doubtful] = l
                doubtful += 1
    return near, doubtful


@njit(cache=True, nogil=True)
def _smallest(row, ranges, i, nearest):  # type: ignore[no-untyped-def]
    """The smallest distances of a row within the ranges, ascending; returns their number."""
    k, found = len(nearest), 0
    for part in range(2):
        for l in range(ranges[part, 0], ranges[part, 1]):
            d = row[l]
            if found == k and d >= nearest[k - 1]:
                continue
            if l == i:
                continue
            if found < k:
                found += 1
            q = found - 1
            while q > 0 and nearest[q - 1] > d:
                nearest[q] = nearest[q - 1]
                q -= 1
            nearest[q] = d
    return found


@njit(cache=True, nogil=True)
def _insert(d, mark, l, exact, tie, out, count):  # type: ignore[no-untyped-def]
    """Insert a candidate into the sorted list of the nearest; returns its length."""
    k = len(out)
    if count == k and (d > exact[k - 1] or (d == exact[k - 1] and mark >= tie[k - 1])):
        return count
    q = count if count < k else k - 1
    while q > 0 and (exact[q - 1] > d or (exact[q - 1] == d and tie[q - 1] > mark)):
        exact[q], tie[q], out[q] = exact[q - 1], tie[q - 1], out[q - 1]
        q -= 1
    exact[q], tie[q], out[q] = d, mark, l
    return min(count + 1, k)


@njit(cache=True, nogil=True)
def _sum_numbers(start, stop, table, samples, neighbours, coef, total):  # type: ignore[no-untyped-def]
    part = total[start:stop]
    numbers = table.numbers
    for r in range(len(samples)):
        x = numbers[samples[r], start:stop]
        near, w = neighbours[r], coef[r]
        q = 0
        while q < len(near):
            if q + 4 <= len(near) and min(near[q], near[q + 1], near[q + 2], near[q + 3]) >= 0:
                a, b = numbers[near[q], start:stop], numbers[near[q + 1], start:stop]
                c, d = numbers[near[q + 2], start:stop], numbers[near[q + 3], start:stop]
                s, t, u, v = w[q], w[q + 1], w[q + 2], w[q + 3]
                for j in range(stop - start):  # four at a time: fewer passes over the sums
                    part[j] += (s * abs(x[j] - a[j]) + t * abs(x[j] - b[j])) + (
                        u * abs(x[j] - c[j]) + v * abs(x[j] - d[j])
                    )
                q += 4
                continue
            if near[q] >= 0:
                a, s = numbers[near[q], start:stop], w[q]
                for j in range(stop - start):
                    part[j] += s * abs(x[j] - a[j])
            q += 1


@njit(cache=True, nogil=True)
def _sum_symbols(start, stop, table, samples, neighbours, coef, total):  # type: ignore[no-untyped-def]
    part = total[start:stop]
    for r in range(len(samples)):
        x = table.symbols[samples[r], start:stop]
        for q in range(neighbours.shape[1]):
            l, w = neighbours[r, q], coef[r, q]
            if l >= 0:
                z = table.symbols[l, start:stop]
                for j in range(stop - start):
                    part[j] += w if x[j] != z[j] else 0.0


@njit(cache=True, nogil=True)
def _sum_partial(start, stop, table, samples, neighbours, coef, total):  # type: ignore[no-untyped-def]
    for r in range(len(samples)):
        i = samples[r]
        for q in range(neighbours.shape[1]):
            l = neighbours[r, q]
            if l >= 0:
                for j in range(start, stop):
                    total[j] += coef[r, q] * _partial_diff(table, i, l, j)
