r"""Pairs of samples in the Relief family: exact nearest neighbours, and sums of differences.

Distances are sums over features: ``|a − b|`` (or its square) for numbers, 0 or 1 for symbols, and
an expectation where a value is missing. Blocks of pairs are computed in float32, with several
pairs at a time in registers, and only to find candidates: whatever lies within the rounding error
of the k-th distance is computed again in float64, which decides who is among the neighbours. They
are therefore those of the float64 distances.

Distances that agree in their first 36 bits are ties. The order of summation, which vector code
and naive loops do differently, then has no say in them: ties go to the smaller index, or to the
smaller of two pseudo-random numbers that depend on the seed and the pair alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.runtime.parallel import run_tiles
from tamiz.runtime.progress import Progress

#: Samples in a block of pairs, features in a strip of it, entries of distances kept at a time.
_SIDE = 32
_STRIP = 1024
_MOST_KEPT = 2**25

#: Differences that make a thread worth while, and those after which progress is shown.
_WORTH = 2**22
_SLICE = 2**31

#: Vector lanes assumed by the error bound; wider vectors only make it safer.
_LANES = 4


class Table(NamedTuple):
    """Samples, sorted by class, as compiled functions want them.

    Numbers are scaled so that none exceeds 1 in size.
    """

    numbers: np.ndarray  # float64 (n, a): numeric features without gaps
    symbols: np.ndarray  # int32 (n, b): symbolic features without gaps
    gappy: np.ndarray  # float64 (n, c): features with gaps, NaN where missing
    gappy_symbolic: np.ndarray  # bool (c,)
    expected: np.ndarray  # float64 (classes, n, c): diff of each value from a missing one
    both: np.ndarray  # float64 (classes, classes, c): diff of two missing values
    symbol_weight: float  # what a differing symbol adds to a distance
    gappy_weight: np.ndarray  # float64 (c,): factor of diff in a distance


def nearest(
    table: Table,
    codes: np.ndarray,
    samples: np.ndarray,
    groups: np.ndarray,
    k: int,
    names: np.ndarray,
    seed: int,
    squared: bool,
    progress: Progress,
) -> np.ndarray:
    """The ``k`` nearest neighbours of each sample in each group, -1 where there are fewer.

    Parameters
    ----------
    table : Table
        The samples.
    codes : array of shape (n,)
        Class of each.
    samples : array of shape (m,)
        Whose neighbours are wanted.
    groups : intp array of shape (n_classes, n_groups, 2, 2)
        Where to look, by class of the sample: up to two ranges for each group.
    k : int
        Number of neighbours.
    names : array of shape (n,)
        Index of each sample in the user's order, which decides ties.
    seed : int
        Ties at random with this seed; by index if negative.
    squared : bool
        Sum squares of differences (the euclidean order) instead of differences.
    progress : Progress
        Where to say how far it is.

    Returns
    -------
    neighbours : int32 array of shape (m, n_groups, k)
        In no particular order, which is the same every time.
    """
    n, m = len(codes), len(samples)
    n_groups = groups.shape[1]
    neighbours = np.full((m, n_groups, k), -1, dtype=np.int32)
    single = table.numbers.astype(np.float32)
    symmetric = np.array_equal(samples, np.arange(n)) and n * n <= _MOST_KEPT
    height = n if symmetric else max(_SIDE, min(m, _MOST_KEPT // n // _SIDE * _SIDE))
    distances = np.empty((min(height, m), n), dtype=np.float32)
    columns = -(-n // _SIDE)
    p = single.shape[1] + table.symbols.shape[1] + 4 * table.gappy.shape[1]
    blocks = max(1, _WORTH // (_SIDE * _SIDE * p + 1))
    rows = max(1, _WORTH // (4 * n + 4 * n_groups * p))
    for top in range(0, m, height):
        part = samples[top : top + height]
        found = neighbours[top : top + height]
        grid = np.ones((-(-len(part) // _SIDE), columns), dtype=bool)
        pairs = np.argwhere(np.triu(grid) if symmetric else grid)
        args = single, table, codes, part, distances, squared, symmetric
        step = max(1, _SLICE // (_SIDE * _SIDE * p + 1))
        for first in range(0, len(pairs), step):
            some = pairs[first : first + step]
            run_tiles(_fill, len(some), some, *args, min_items=blocks)
            done = (top + len(part) * (first + len(some)) / len(pairs)) / m
            progress.update(f"distances, {done:.0%}")
        marks = names, np.uint64(max(seed, 0)), seed >= 0
        chosen = distances, table, codes, part, groups, *marks, squared, found
        run_tiles(_choose, len(part), *chosen, min_items=rows)
    return neighbours


def summed_differences(
    table: Table,
    codes: np.ndarray,
    samples: np.ndarray,
    neighbours: np.ndarray,
    coef: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """``Σ coef[r, q] · diff(f, samples[r], neighbours[r, q])`` for every feature of the table.

    Numbers come first, then symbols, then features with gaps. The samples are taken in the same
    order whatever the number of threads: the sums do not depend on it.
    """
    least = max(1, _WORTH // max(1, neighbours.size))
    parts = []
    for function, width in (
        (_sum_numbers, table.numbers.shape[1]),
        (_sum_symbols, table.symbols.shape[1]),
        (_sum_gappy, table.gappy.shape[1]),
    ):
        total = np.zeros(width)
        step = max(1, _SLICE // max(1, neighbours.shape[1] * width))
        for first in range(0, len(samples) if width else 0, step):
            rows = slice(first, first + step)
            args = table, codes, samples[rows], neighbours[rows], coef[rows], total
            run_tiles(function, width, *args, min_items=least)
            progress.update(f"differences, {min(first + step, len(samples)) / len(samples):.0%}")
        parts.append(total)
    return np.concatenate(parts)


@njit(cache=True, nogil=True)
def _fill(start, stop, pairs, single, table, codes, samples, distances, squared, symmetric):  # type: ignore[no-untyped-def]
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
                    left[r, : last - first] = single[samples[top + r], first:last]
                for r in range(rows, _SIDE):
                    left[r, : last - first] = 0.0
                held = pairs[task, 0]
            _add_numbers(left, single, side, columns, first, last, rows, squared, half, block)
        if table.symbols.shape[1] or table.gappy.shape[1]:
            for r in range(rows):
                i = samples[top + r]
                for c in range(r if half else 0, columns):
                    block[r, c] += np.float32(_other_features(table, codes, i, side + c, squared))
        for r in range(rows):
            for c in range(r if half else 0, columns):
                distances[top + r, side + c] = block[r, c]
        if symmetric:
            for c in range(columns):
                for r in range(c if half else rows):
                    distances[side + c, top + r] = block[r, c]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _add_numbers(left, single, side, columns, first, last, rows, squared, half, block):  # type: ignore[no-untyped-def]
    """Add the numeric part of the distances, four rows at a time; with ``half``, from them on."""
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
def _other_features(table, codes, i, l, squared):  # type: ignore[no-untyped-def]
    """Part of a distance that comes from symbols and from features with gaps."""
    differing = 0
    for j in range(table.symbols.shape[1]):
        differing += table.symbols[i, j] != table.symbols[l, j]
    weight = table.symbol_weight
    total = differing * (weight * weight if squared else weight)
    for j in range(table.gappy.shape[1]):
        diff = table.gappy_weight[j] * _gappy_diff(table, codes, i, l, j)
        total += diff * diff if squared else diff
    return total


@njit(cache=True, nogil=True)
def _gappy_diff(table, codes, i, l, j):  # type: ignore[no-untyped-def]
    """Difference of two samples in a feature with gaps: expected where a value is missing."""
    a, b = table.gappy[i, j], table.gappy[l, j]
    if np.isnan(a):
        if np.isnan(b):
            return table.both[codes[i], codes[l], j]
        return table.expected[codes[i], l, j]
    if np.isnan(b):
        return table.expected[codes[l], i, j]
    if table.gappy_symbolic[j]:
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
def _choose(
    start, stop, distances, table, codes, samples, bounds, names, seed, at_random, squared, out
):  # type: ignore[no-untyped-def]
    """Nearest neighbours of the samples ``start`` to ``stop``."""
    n_groups, k = out.shape[1], out.shape[2]
    p = table.numbers.shape[1]
    width = p + table.symbols.shape[1] + table.gappy.shape[1]
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
                out[r, g, near : near + doubtful] = maybe[:doubtful]
                continue
            count, rest = 0, out[r, g, near:]
            for q in range(doubtful):
                l = maybe[q]
                d = _exact_numbers(table.numbers[i], table.numbers[l], squared)
                d = _rounded(d + _other_features(table, codes, i, l, squared))
                mark = np.uint64(names[l])
                if at_random:
                    mark = _mixed(seed, names[i], names[l])
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
def _sum_numbers(start, stop, table, codes, samples, neighbours, coef, total):  # type: ignore[no-untyped-def]
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
def _sum_symbols(start, stop, table, codes, samples, neighbours, coef, total):  # type: ignore[no-untyped-def]
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
def _sum_gappy(start, stop, table, codes, samples, neighbours, coef, total):  # type: ignore[no-untyped-def]
    for r in range(len(samples)):
        i = samples[r]
        for q in range(neighbours.shape[1]):
            l = neighbours[r, q]
            if l >= 0:
                for j in range(start, stop):
                    total[j] += coef[r, q] * _gappy_diff(table, codes, i, l, j)
