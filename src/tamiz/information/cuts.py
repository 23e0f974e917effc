r"""Where to cut continuous columns: three rules that do not look at a target, and one that does.

A value belongs to the bin whose number is that of the cuts below it: bins are open on the left and
closed on the right.

By the minimum description length of Fayyad and Irani, a set S of N samples is cut at the value T
that minimises the class entropy of the two parts,

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

from tamiz.information.columns import safe_units
from tamiz.information.counting import counting_unit, fixed_point, fixed_point_scale, log_table
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles

#: Rounding of the mean and the deviation, relative to their size.
SLACK = 16 * np.finfo(np.float64).eps

#: Columns that are sorted together; about as much as the cache holds.
_BLOCK = 64


def find_cuts(
    X: np.ndarray,
    method: str,
    n_bins: int,
    y: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Cuts of each column, ascending, in a row of their own that is filled up with infinity.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_columns)
        Values in C order; NaN where missing.
    method : {"mean_std", "mdl", "width", "frequency"}
        The rule.
    n_bins : int
        Number of bins for the last two.
    y : int array of shape (n_samples,), optional
        Class codes, for "mdl".
    weight : array of shape (n_samples,), optional
        Numbers of rows that each row stands for, positive.
    """
    if weight is not None and method != "width":
        return _weighted_cuts(X, method, n_bins, y, weight)
    if method == "mdl":
        assert y is not None
        return mdl_cuts(X, y, int(y.max(initial=0)) + 1)
    if method == "mean_std":
        return _around_mean(X)
    return width_cuts(X, n_bins) if method == "width" else frequency_cuts(X, n_bins)


def _around_mean(X: np.ndarray) -> np.ndarray:
    cuts, size = np.empty((X.shape[1], 2)), np.empty(X.shape[1])
    run_tiles(_mean_std, X.shape[1], X, cuts, size, min_items=1 + 100_000 // len(X))
    units = safe_units(size)
    scaled = np.flatnonzero(units != 1.0)
    if len(scaled):  # squares were beyond the range of float64
        with np.errstate(over="ignore"):  # no value is beyond a cut that is infinite
            cuts[scaled] = _around_mean(X[:, scaled] / units[scaled]) * units[scaled, None]
    return cuts


def width_cuts(X: np.ndarray, n_bins: int) -> np.ndarray:
    low = np.fmin.reduce(X, axis=0)[:, None]
    high = np.fmax.reduce(X, axis=0)[:, None]
    t = np.arange(1, n_bins) / n_bins
    cuts = low * (1.0 - t) + high * t
    # A value that lies on a cut belongs below it, whichever way the cut was rounded.
    slack = SLACK * np.abs(low) + SLACK * np.abs(high)
    cuts = np.minimum(cuts + slack, np.nextafter(high, -np.inf))
    cuts[np.broadcast_to(~(high > low), cuts.shape)] = np.inf  # constant, or nothing but NaN
    return cuts


def frequency_cuts(X: np.ndarray, n_bins: int) -> np.ndarray:
    ordered = np.sort(X.T, axis=1)  # NaN goes to the end
    n = np.count_nonzero(~np.isnan(ordered), axis=1)[:, None]
    t = np.arange(1, n_bins) / n_bins
    place = np.maximum(n - 1, 0) * t
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(n - 1, 0))
    low, high = (np.take_along_axis(ordered, k, axis=1) for k in (below, above))
    part = place - below
    cuts = low * (1.0 - part) + high * part
    cuts = np.where(low == high, low, cuts)
    # A cut that repeats, or has nothing above it, separates nothing.
    top = np.take_along_axis(ordered, np.maximum(n - 1, 0), axis=1)
    useless = ~(cuts < top)
    useless[:, 1:] |= cuts[:, 1:] <= cuts[:, :-1]
    cuts[useless] = np.inf
    return np.sort(cuts, axis=1)


@njit(cache=True, nogil=True)
def _mean_std(start, stop, X, cuts, size):  # type: ignore[no-untyped-def]
    """Mean minus and plus one standard deviation (of the population) of columns of ``X``.

    ``size`` becomes the greatest absolute value of each, 0 where it does not matter.
    """
    n = X.shape[0]
    width = 256
    shift, total, square = np.empty(width), np.empty(width), np.empty(width)
    low, high = np.empty(width), np.empty(width)
    count, between = np.empty(width), np.empty(width)
    for j in range(start, stop, width):
        m = min(width, stop - j)
        for l in range(m):
            total[l] = square[l] = count[l] = between[l] = 0.0
            low[l], high[l] = np.inf, -np.inf
            i = 0
            while i < n - 1 and X[i, j + l] != X[i, j + l]:
                i += 1
            shift[l] = X[i, j + l]  # some value of the column: sums of differences lose less
        for i in range(n):
            _first_moments(X[i, j : j + m], shift, total, count, low, high)
        for l in range(m):
            total[l] /= max(count[l], 1.0)  # the mean, from the shift on
        for i in range(n):
            _second_moments(X[i, j : j + m], shift, total, low, high, square, between)
        for l in range(m):
            size[j + l] = 0.0
            if count[l] == 0.0 or low[l] == high[l]:
                cuts[j + l, 0] = cuts[j + l, 1] = np.inf
                continue
            size[j + l] = max(abs(low[l]), abs(high[l]))
            mean = shift[l] + total[l]
            deviation = np.sqrt(square[l] / count[l])
            slack = SLACK * (abs(mean) + deviation)
            cuts[j + l, 0] = mean - deviation + slack
            cuts[j + l, 1] = mean + deviation + slack
            if between[l] == 0.0:
                separate_two_values(low[l], high[l], mean, cuts[j + l])


@njit(cache=True, nogil=True)
def _first_moments(x, shift, total, count, low, high):  # type: ignore[no-untyped-def]
    """Add one row; comparisons with NaN are false, which leaves missing values out."""
    for l in range(len(x)):
        present = x[l] == x[l]
        total[l] += x[l] - shift[l] if present else 0.0
        count[l] += 1.0 if present else 0.0
        low[l] = x[l] if x[l] < low[l] else low[l]
        high[l] = x[l] if x[l] > high[l] else high[l]


@njit(cache=True, nogil=True)
def _second_moments(x, shift, mean, low, high, square, between):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        distance = x[l] - shift[l] - mean[l] if x[l] == x[l] else 0.0
        square[l] += distance * distance
        between[l] = 1.0 if (x[l] > low[l]) & (x[l] < high[l]) else between[l]


@njit(cache=True, nogil=True)
def separate_two_values(low, high, mean, cuts):  # type: ignore[no-untyped-def]
    """Keep the only two values of a column apart.

    The commoner is in the middle bin and the rarer outside. Equally common, they lie exactly on
    the two cuts, and rounding could put both into the middle.
    """
    if mean < 0.5 * low + 0.5 * high - 1e-9 * (high - low):
        cuts[0] = min(cuts[0], np.nextafter(low, -np.inf))
        cuts[1] = min(max(cuts[1], low), np.nextafter(high, low))
    else:
        cuts[0] = min(max(cuts[0], low), np.nextafter(high, low))
        cuts[1] = max(cuts[1], high)


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
    cost = np.log(n - 1.0) + choices - k * entropy + k1 * entropy1 + k2 * entropy2
    return where if (whole - best) / scale > cost else -1


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


# ------------------------------------------------------------------------------------ with weights


def _weighted_cuts(
    X: np.ndarray, method: str, n_bins: int, y: np.ndarray | None, weight: np.ndarray
) -> np.ndarray:
    """The same of rows that stand for several each; a column at a time."""
    found = []
    for column in X.T:
        present = ~np.isnan(column)
        order = np.flatnonzero(present)[np.argsort(column[present], kind="stable")]
        values, own = column[order], weight[order]
        if not len(values) or values[0] == values[-1]:
            found.append(np.empty(0))
        elif method == "mean_std":
            found.append(_weighted_mean_std(values, own))
        elif method == "frequency":
            found.append(_weighted_quantiles(values, own, n_bins))
        else:
            assert y is not None
            found.append(_weighted_mdl(values, own, y[order]))
    width = 2 if method == "mean_std" else max(len(cuts) for cuts in found)
    table = np.full((len(found), width), np.inf)
    for row, cuts in zip(table, found, strict=True):
        row[: len(cuts)] = cuts
    return table


def _weighted_mean_std(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Mean minus and plus one standard deviation of sorted values that differ."""
    unit = safe_units(np.abs(values[[0, -1]]).max(keepdims=True))
    x = values / unit
    fraction = weight / weight.sum()
    mean = x[0] + fraction @ (x - x[0])
    deviation = np.sqrt(fraction @ (x - mean) ** 2)
    slack = SLACK * (abs(mean) + deviation)
    cuts = np.array([mean - deviation + slack, mean + deviation + slack])
    if ((x == x[0]) | (x == x[-1])).all():
        separate_two_values(x[0], x[-1], mean, cuts)
    with np.errstate(over="ignore"):  # a cut beyond float64 has all values below it
        scaled: np.ndarray = cuts * unit
    return scaled


def _weighted_quantiles(values: np.ndarray, weight: np.ndarray, n_bins: int) -> np.ndarray:
    """Quantiles of sorted values, as if each were there as often as its weight says.

    The values are at least as many as they are, however small the weights.
    """
    upto = np.cumsum(weight * max(1.0, len(weight) / float(weight.sum())))
    last = max(float(upto[-1]) - 1.0, 0.0)
    t = np.arange(1, n_bins) / n_bins
    place = last * t
    if (weight == np.floor(weight)).all():
        below = np.floor(place)
        rows = [np.searchsorted(upto, at, "right") for at in (below, np.minimum(below + 1.0, last))]
        low, high = (values[np.minimum(row, len(values) - 1)] for row in rows)
        part = place - below
        cuts = np.where(low == high, low, low * (1.0 - part) + high * part)
    else:
        cuts = np.array([_mean_of_row(values, upto, at) for at in place])
    cuts = cuts[cuts < values[-1]]
    return cuts[rises(cuts)]


def _mean_of_row(values: np.ndarray, upto: np.ndarray, start: float) -> float:
    """Mean of what lies from ``start`` to ``start + 1``: of whole rows, the interpolated value."""
    end = min(start + 1.0, float(upto[-1]))
    first = min(int(np.searchsorted(upto, start, "right")), len(values) - 1)
    last = min(int(np.searchsorted(upto, end, "left")), len(values) - 1)
    if values[first] == values[last]:
        return float(values[first])
    part = np.diff(np.clip(upto[first : last + 1], start, end), prepend=start)
    part[part < 1e-6] = 0.0  # else a cut at a value would lie beside it, on either side
    mean = float(values[first : last + 1] @ (part / part.sum()))
    return min(max(mean, float(values[first])), float(values[last]))


def rises(values: np.ndarray) -> np.ndarray:
    """Where values are greater than the one before; the first is.

    They are compared, not subtracted: the difference of two numbers may be beyond float64.
    """
    return np.concatenate([np.ones(min(1, len(values)), dtype=bool), values[1:] > values[:-1]])


def _weighted_mdl(values: np.ndarray, weight: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Cuts of sorted values by the minimum description length."""
    starts = np.flatnonzero(rises(values))  # of runs of equal values
    counts = np.zeros((len(values), int(y.max()) + 1))
    unit = counting_unit(float(weight.sum()), len(weight))
    counts[np.arange(len(values)), y] = weight / unit
    runs = np.add.reduceat(counts, starts)
    before = np.vstack([np.zeros(runs.shape[1]), np.cumsum(runs, axis=0)])
    mixed = np.count_nonzero(runs, axis=1) > 1
    label = np.where(mixed, -1, runs.argmax(axis=1))
    boundary = np.append(False, mixed[1:] | (label[1:] != label[:-1]))
    scale = fixed_point_scale(max(1, int(np.ceil(weight.sum() / unit))))
    found, waiting = list[int](), [(0, len(runs))]
    while waiting:
        low, high = waiting.pop()
        at = low + 1 + np.flatnonzero(boundary[low + 1 : high])
        cut = _best_weighted_cut(before[low], before[at], before[high], scale, unit)
        if cut >= 0:
            found.append(int(at[cut]))
            waiting += [(low, int(at[cut])), (int(at[cut]), high)]
    run = np.array(sorted(found), dtype=np.intp)
    lower, upper = values[starts[run] - 1], values[starts[run]]
    middle = 0.5 * lower + 0.5 * upper
    return np.where((lower <= middle) & (middle < upper), middle, lower)


def _best_weighted_cut(
    low: np.ndarray, at: np.ndarray, high: np.ndarray, scale: float, unit: float
) -> int:
    """Which of the sums of weights ``at`` the boundaries to cut at; -1 if none is worth it.

    The sums are in units of so many rows.
    """
    if not len(at):
        return -1
    sides = [high - low, at - low, high - at]
    rest = fixed_point(sides[0].sum(), scale) - fixed_point(sides[0], scale).sum()
    parts = [
        fixed_point(side.sum(axis=1), scale) - fixed_point(side, scale).sum(axis=1)
        for side in sides[1:]
    ]
    best = int(np.argmin(parts[0] + parts[1]))
    gain = float(rest - parts[0][best] - parts[1][best]) / scale
    first, second = sides[1][best], sides[2][best]
    n, k = float(sides[0].sum()), int(np.count_nonzero(sides[0]))
    if k < 2 or gain <= 0.0:
        return -1
    terms = ((first, parts[0][best]), (second, parts[1][best]))
    own = sum(np.count_nonzero(side) * float(part) / scale / side.sum() for side, part in terms)
    choices = k * np.log(3.0) + np.log1p(-2.0 * 3.0**-k)
    cost = np.log(max(n * unit - 1.0, 1.0)) + choices - k * (float(rest) / scale / n) + own
    return best if gain * unit > cost else -1
