r"""Where to cut a continuous column, by the minimum description length of Fayyad and Irani.

A set S of N samples is cut at the value T that minimises the class entropy of the two parts,

.. math:: E(T) = \frac{N_1}{N} E(S_1) + \frac{N_2}{N} E(S_2),

if the gain in entropy pays for the description of the cut,

.. math::

    E(S) - E(T) > \frac{\log(N - 1) + \log(3^k - 2) - k E(S) + k_1 E(S_1) + k_2 E(S_2)}{N},

with k, k1, k2 the numbers of classes present; then the parts are treated in the same way. The
logarithms have one base, whichever. Only boundaries need be looked at: values between which the
class changes. Of several best cuts the lowest is taken.

References
----------
.. [1] U. M. Fayyad, K. B. Irani (1993). Multi-interval discretization of continuous-valued
       attributes for classification learning. IJCAI.
"""

from __future__ import annotations

from threading import Event

import numpy as np
from numba import njit

from tamiz.information._table import log_table
from tamiz.runtime.parallel import run_tiles

#: Columns that are sorted together; about as much as the cache holds.
_BLOCK = 64


def mdl_cuts(X: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """Cuts of each column, ascending, in a row of their own that is filled up with infinity.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_columns)
        Values; NaN where missing, which is left out.
    y : int array of shape (n_samples,)
        Class codes.
    n_classes : int
        Number of classes.
    """
    n, columns = X.shape
    y = y.astype(np.int32)
    least, halt = 1 + 20_000 // n, Event()
    found = run_tiles(_cut_columns, columns, X, y, n_classes, halt, min_items=least, stop=halt)
    width = max(part.shape[1] for part in found)
    cuts = np.full((columns, width), np.inf)
    first = 0
    for part in found:
        cuts[first : first + len(part), : part.shape[1]] = part
        first += len(part)
    return cuts


def _cut_columns(
    start: int, stop: int, X: np.ndarray, y: np.ndarray, n_classes: int, halt: Event
) -> np.ndarray:
    table, scale = log_table(len(X))
    n = len(X)
    cuts = np.empty((stop - start, n))
    n_cuts = np.zeros(stop - start, dtype=np.int64)
    for first in range(start, stop, _BLOCK):
        if halt.is_set():
            break
        last = min(first + _BLOCK, stop)
        values = np.ascontiguousarray(X[:, first:last].T)
        order = np.argsort(values, axis=1)  # NaN goes to the end
        values = np.take_along_axis(values, order, axis=1)
        part = slice(first - start, last - start)
        _mdl(values, y[order], n_classes, table, scale, cuts[part], n_cuts[part])
    width = int(n_cuts.max(initial=0))
    kept = cuts[:, :width].copy()
    kept[np.arange(width) >= n_cuts[:, None]] = np.inf
    return kept


@njit(cache=True, nogil=True)
def _mdl(values, classes, n_classes, f, scale, cuts, n_cuts):  # type: ignore[no-untyped-def]
    """Cuts of each row of ``values`` (sorted, NaN last) with the ``classes`` in the same order."""
    n = values.shape[1]
    ends = np.empty(n + 1, dtype=np.int64)  # sample with which each run of equal values begins
    before = np.empty((n + 1, n_classes), dtype=np.int64)  # samples of each class before the run
    pure = np.empty(n, dtype=np.int64)  # the class of a run, -1 if there are several
    is_cut = np.empty(n + 1, dtype=np.bool_)
    stack = np.empty((n + 1, 2), dtype=np.int64)
    for j in range(len(values)):
        x, c = values[j], classes[j]
        runs = _runs(x, c, ends, before, pure)
        is_cut[: runs + 1] = False
        stack[0, 0], stack[0, 1] = 0, runs
        depth = 1
        while depth > 0:
            depth -= 1
            low, high = stack[depth, 0], stack[depth, 1]
            cut = _best_cut(low, high, ends, before, pure, f, scale)
            if cut >= 0:
                is_cut[cut] = True
                stack[depth, 0], stack[depth, 1] = low, cut
                stack[depth + 1, 0], stack[depth + 1, 1] = cut, high
                depth += 2
        count = 0
        for run in range(1, runs):
            if is_cut[run]:
                below, above = x[ends[run] - 1], x[ends[run]]
                middle = 0.5 * below + 0.5 * above
                # between neighbouring floating-point numbers there is no middle
                cuts[j, count] = middle if below <= middle < above else below
                count += 1
        n_cuts[j] = count


@njit(cache=True, nogil=True)
def _runs(x, c, ends, before, pure):  # type: ignore[no-untyped-def]
    """Find runs of equal values; return how many there are."""
    runs = 0
    n = 0
    n_classes = before.shape[1]
    for k in range(n_classes):
        before[0, k] = 0
    while n < len(x) and x[n] == x[n]:
        ends[runs] = n
        for k in range(n_classes):
            before[runs + 1, k] = before[runs, k]
        pure[runs] = c[n]
        value = x[n]
        while n < len(x) and x[n] == value:
            before[runs + 1, c[n]] += 1
            if c[n] != pure[runs]:
                pure[runs] = -1
            n += 1
        runs += 1
    ends[runs] = n
    return runs


@njit(cache=True, nogil=True)
def _best_cut(low, high, ends, before, pure, f, scale):  # type: ignore[no-untyped-def]
    """The run with which the second part begins; -1 if no cut is worth its description."""
    n = ends[high] - ends[low]
    whole, k = _entropy(before[low], before[high], f)
    if k < 2:
        return -1
    best, where = whole, -1
    for run in range(low + 1, high):
        if pure[run] >= 0 and pure[run] == pure[run - 1]:
            continue
        first, _ = _entropy(before[low], before[run], f)
        if first >= best:
            continue
        second, _ = _entropy(before[run], before[high], f)
        if first + second < best:
            best, where = first + second, run
    if where < 0:
        return -1
    first, k1 = _entropy(before[low], before[where], f)
    second, k2 = _entropy(before[where], before[high], f)
    n1 = ends[where] - ends[low]
    entropy, entropy1, entropy2 = (
        whole / scale / n,
        first / scale / n1,
        second / scale / (n - n1),
    )
    choices = k * np.log(3.0) + np.log1p(-2.0 * 3.0**-k)  # log(3^k - 2) for any k
    price = np.log(n - 1.0) + choices - k * entropy + k1 * entropy1 + k2 * entropy2
    return where if (whole - best) / scale > price else -1


@njit(cache=True, nogil=True)
def _entropy(first, last, f):  # type: ignore[no-untyped-def]
    """N times the class entropy of the samples between two places, and the classes among them."""
    total, n, present = np.int64(0), np.int64(0), 0
    for c in range(len(first)):
        count = last[c] - first[c]
        if count > 0:
            total += f[count]
            n += count
            present += 1
    return f[n] - total, present
