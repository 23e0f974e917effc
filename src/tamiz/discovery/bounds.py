r"""How many features a selection by frequency holds by mistake, at most and on average.

A selector that takes ``q`` of ``p`` features is applied to ``2B`` halves of the samples, which are
``B`` pairs of disjoint ones. ``Π(j)`` is the fraction of the halves in which feature ``j`` is
selected, and those with ``Π(j) ≥ τ`` are kept. A feature is *unlikely* if one half selects it with
probability ``θ = q/p`` at most, as a draw of ``q`` features at random would. Then the expected
number ``E`` of unlikely features among those kept is at most

- ``q² / ((2τ − 1) p)`` whatever the distribution of the frequencies is;
- ``q² / (2 (2τ − 1 − 1/(2B)) p)`` for ``τ ≤ 3/4`` and ``4 (1 − τ + 1/(2B)) q² / ((1 + 1/B) p)``
  above, if the fraction ``Π̃(j)`` of pairs whose halves both select ``j`` is unimodal;
- ``p min{D(θ²; 2τ − 1, B, −1/2), D(θ; τ, 2B, −1/4)}`` if ``Π̃(j)`` is (−1/2)-concave and ``Π(j)``
  (−1/4)-concave.

``D(θ; η, B, r)`` is the largest ``P(X ≥ η)`` of all ``r``-concave ``X`` on ``{0, 1/B, …, 1}`` with
mean ``θ`` or less. For ``r < 0`` a probability function ``f`` is ``r``-concave if ``f^r`` is convex
on its support. In the extreme case ``f^r`` is a straight line on ``0, …, k`` and what is left of
the probability lies at ``k + 1``:

.. math::

    f(i) = c\,(a + i)^{1/r}, \quad i = 0, …, k; \qquad
    P(X \ge t/B) = 1 - (k + 1 - \theta B)
        \frac{\sum_{i < t} (a + i)^{1/r}}{\sum_{i \le k} (k + 1 - i)(a + i)^{1/r}}

for ``a`` between ``a_{k+1}`` and ``a_k``, where ``a_k`` gives the function on ``0, …, k`` alone the
mean ``θB``. One looks for the largest value over ``k`` and ``a``.

References
----------
.. [1] N. Meinshausen, P. Bühlmann (2010). Stability selection. Journal of the Royal Statistical
       Society B 72.
.. [2] R. D. Shah, R. J. Samworth (2013). Variable selection with error control: another look at
       stability selection. Journal of the Royal Statistical Society B 75.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from tamiz.validation import checked, integer_from, one_of, real_number

_LEAST, _MOST = 1e-9, 1e9  # of a, the place of the pole of f
_BLOCK = 1 << 20  # numbers that are held at a time


def _no_assumption(q: float, p: int, count: int, n_pairs: int) -> float:
    twice = count / n_pairs - 1.0  # 2τ − 1
    return q * q / (twice * p) if twice > 0 else math.inf


def _unimodal(q: float, p: int, count: int, n_pairs: int) -> float:
    theta, tau, half = q / p, count / (2 * n_pairs), 1 / (2 * n_pairs)
    least = 0.5 + min(theta**2, half + 0.75 * theta**2)
    if theta > 1 / math.sqrt(3) or count < n_pairs + 2 or tau <= least:
        return math.inf
    if tau <= 0.75:
        return q * theta / (2 * (2 * tau - 1 - half))
    return q * theta * 4 * (1 - tau + half) / (1 + 1 / n_pairs)


def _r_concave(q: float, p: int, count: int, n_pairs: int) -> float:
    theta = q / p
    both = r_concave_tail(theta**2, count - n_pairs, n_pairs, -0.5)
    return p * min(both, r_concave_tail(theta, count, 2 * n_pairs, -0.25))


#: What may be assumed of the frequencies, and the bound that follows.
ASSUMPTIONS: dict[str, Callable[[float, int, int, int], float]] = {
    "none": _no_assumption,
    "unimodal": _unimodal,
    "r-concave": _r_concave,
}


@checked(
    q=real_number(above=0),
    n_features=integer_from(1),
    threshold=real_number(above=0),
    n_pairs=integer_from(1),
    assumption=one_of(*ASSUMPTIONS),
)
def stability_bound(
    q: float,
    n_features: int,
    threshold: float,
    *,
    n_pairs: int = 50,
    assumption: str = "unimodal",
) -> float:
    """Bound of the expected number of features that stability selection takes by mistake.

    Parameters
    ----------
    q : float
        Number of features selected in each half of the samples, in the mean if it varies.
    n_features : int
        Number of features to select from.
    threshold : float
        Fraction of the halves in which a feature must be selected to be kept; above 0.5.
    n_pairs : int, default=50
        Number of pairs of halves.
    assumption : {"none", "unimodal", "r-concave"}, default="unimodal"
        What is assumed of the distribution of the frequencies; the bound of Meinshausen and
        Bühlmann needs nothing, those of Shah and Samworth are smaller. Scores of single features
        on pure noise come up to the r-concave bound and, at low thresholds, exceed it.

    Returns
    -------
    float
        At most ``n_features``: where a bound says nothing, that is the answer.

    See Also
    --------
    StabilitySelection : Selects by it.

    References
    ----------
    .. [1] N. Meinshausen, P. Bühlmann (2010). Stability selection. Journal of the Royal Statistical
           Society B 72.
    .. [2] R. D. Shah, R. J. Samworth (2013). Variable selection with error control: another look at
           stability selection. Journal of the Royal Statistical Society B 75.

    Examples
    --------
    >>> from tamiz.discovery import stability_bound
    >>> [round(stability_bound(7, 200, 0.62, assumption=name), 3)
    ...  for name in ("none", "unimodal", "r-concave")]
    [1.021, 0.533, 0.196]
    """
    return bound_at(q, n_features, count_of(threshold, n_pairs), n_pairs, assumption)


def bound_at(q: float, n_features: int, count: int, n_pairs: int, assumption: str) -> float:
    """The bound for features selected in ``count`` halves or more."""
    if count > 2 * n_pairs:
        return 0.0  # no feature is selected more often than there are halves
    found = ASSUMPTIONS[assumption](q, n_features, count, n_pairs)
    return float(min(n_features, found))


def count_of(threshold: float, n_pairs: int) -> int:
    """The least number of halves that is at least this fraction of them."""
    return math.ceil(threshold * 2 * n_pairs - 1e-9)


def largest_q(
    pfer: float, n_features: int, count: int, n_pairs: int, assumption: str
) -> int | None:
    """The largest number of features for each half that keeps the bound; None if one is too many.

    Half of the features is the most: with more, a feature at random is selected in most halves.
    """

    def holds(q: int) -> bool:
        return bound_at(q, n_features, count, n_pairs, assumption) <= pfer

    low, high = 0, max(1, n_features // 2)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low or None


def least_count(
    pfer: float, q: float, n_features: int, n_pairs: int, assumption: str, start: int
) -> int | None:
    """The least number of halves, from ``start`` on, that keeps the bound; None if none does."""
    for count in range(start, 2 * n_pairs + 1):
        if bound_at(q, n_features, count, n_pairs, assumption) <= pfer:
            return count
    return None


def largest_size(n_features: int) -> int:
    """Most features to select in each half where the data choose: the square root of 8 p."""
    return max(1, min(n_features // 2, math.isqrt(8 * n_features)))


def count_for_fdr(
    counts: np.ndarray, q: float, n_pairs: int, fdr: float, assumption: str
) -> int | None:
    """The least number of halves whose bound is at most ``fdr`` of the features selected so often.

    ``counts`` says in how many halves each feature was selected. None if there is no such number.
    """
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        selected = int((counts >= count).sum())
        bound = bound_at(q, len(counts), count, n_pairs, assumption)
        if selected and bound <= fdr * selected:
            return count
    return None


def least_rate(counts: np.ndarray, q: float, n_pairs: int, assumption: str) -> tuple[float, int]:
    """The least bound divided by the number of features selected, and in how many halves.

    Infinity where no number of halves has both features and a bound.
    """
    found = (math.inf, 2 * n_pairs)
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        selected = int((counts >= count).sum())
        if selected and (bound := bound_at(q, len(counts), count, n_pairs, assumption)) > 0:
            found = min(found, (bound / selected, count))
    return found


def size_for_fdr(
    entries: np.ndarray, sizes: Sequence[int], fdr: float, assumption: str
) -> tuple[int, int] | None:
    """The size and the number of halves that select most, if the bound is small enough.

    ``entries`` says, for each half and feature, with which size the feature comes in (0: never);
    rows 2b and 2b + 1 are a pair. Of sizes that select as many the bound decides. None if no size
    is good enough.
    """
    n_pairs, p = len(entries) // 2, entries.shape[1]
    best: tuple[float, float] = (0, 0.0)
    found = None
    for q in map(int, sizes):
        counts = ((entries > 0) & (entries <= q)).sum(axis=0)
        count = count_for_fdr(counts, q, n_pairs, fdr, assumption)
        if count is None:
            continue
        value = (int((counts >= count).sum()), -bound_at(q, p, count, n_pairs, assumption))
        if value > best:
            best, found = value, (q, count)
    return found


def sizes_up_to(largest: int) -> list[int]:
    """Sizes to choose from: about twenty, even in their ratio."""
    return np.unique(np.geomspace(largest, 1, 20).round().astype(int)).tolist()


# ---------------------------------------------------------------------------- r-concave functions


@lru_cache(maxsize=4096)
def r_concave_tail(theta: float, t: int, n: int, r: float) -> float:
    """D(θ; t/n, n, r), as above; 1 for ``t`` up to twice the mean, where it says nothing."""
    if t < math.ceil(2 * theta * n) + 1 or theta <= 0:
        return 1.0 if theta > 0 else 0.0
    if t > n:
        return 0.0
    ends = _poles(theta, n, r)
    first = n - len(ends) + 1  # the least k whose function on 0, …, k can have this mean
    upper = np.concatenate([[_MOST], ends])[t - first :]  # of k = t − 1, …, n
    lower = np.concatenate([ends, ends[-1:]])[t - first :]
    k = np.arange(t - 1, n + 1)
    place = np.linspace(0.0, 1.0, 17)
    logs = np.log(lower)[:, None] + place * np.log(upper / lower)[:, None]
    rows = max(1, _BLOCK // (17 * n))  # as many k at a time as memory allows
    values = np.concatenate(
        [
            _tail(np.exp(logs[i : i + rows]), k[i : i + rows], t, theta * n, r)
            for i in range(0, len(k), rows)
        ]
    )
    best = np.unravel_index(np.argmax(values), values.shape)
    found, row = float(values[best]), logs[best[0]]
    low, high = row[max(best[1] - 1, 0)], row[min(best[1] + 1, len(row) - 1)]
    for _ in range(6):  # each looks sixteen times closer
        row = np.linspace(low, high, 33)
        one = _tail(np.exp(row)[None], k[best[0], None], t, theta * n, r)[0]
        top = int(np.argmax(one))
        found = max(found, float(one[top]))
        low, high = row[max(top - 1, 0)], row[min(top + 1, 32)]
    return found


@lru_cache(maxsize=64)
def _poles(theta: float, n: int, r: float) -> np.ndarray:
    """a_k for all k to n that have one, by halving the interval of log a: it falls with k."""
    k = np.arange(math.floor(2 * theta * n) + 1, n + 1)
    i = np.arange(n + 1)
    inside = i <= k[:, None]
    low, high = np.full(len(k), math.log(_LEAST)), np.full(len(k), math.log(_MOST))
    for _ in range(60):
        middle = 0.5 * (low + high)
        weight = np.where(inside, _power(np.exp(middle)[:, None] + i, r), 0.0)
        above = (weight @ i) > theta * n * weight.sum(axis=1)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.exp(0.5 * (low + high))


def _tail(a: np.ndarray, k: np.ndarray, t: int, mean: float, r: float) -> np.ndarray:
    """P(X ≥ t/n) for poles ``a`` (rows as ``k``, any number of columns)."""
    i = np.arange(int(k.max()) + 1)
    weight = _power(a[:, :, None] + i, r)
    left = np.maximum(k[:, None] + 1 - i, 0)
    whole = np.einsum("kai,ki->ka", weight, left)
    return 1.0 - (k[:, None] + 1 - mean) * weight[:, :, :t].sum(axis=2) / whole


def _power(x: np.ndarray, r: float) -> np.ndarray:
    """x^(1/r), of the two r that are used by multiplication."""
    if r == -0.5:
        return 1.0 / (x * x)
    if r == -0.25:
        y = 1.0 / (x * x)
        return y * y
    return x ** (1.0 / r)
