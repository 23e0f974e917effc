"""The best subset of the categories of a feature.

``c`` categories can be divided in ``2^(c-1) - 1`` ways. For two classes, and for squared error, the
best way is among the ``c - 1`` cuts of the categories in the order of the share of one class, or of
the mean (Breiman et al. 1984, theorem 4.5; Fisher 1958): the impurity is concave in that share.
That is so if either side may be as small as one sample. With a larger minimum, and for more
classes, all subsets are tried up to a limit, each from the one before by moving one category
(Gray code). Beyond the limit the cuts of several orders are tried: by the share of each class, and
by the first principal component of the class shares (Coppersmith, Hong and Hosking 1999).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tamiz.tree.impurity import SOMETHING, better, put, score_of, shift, weigh

_SQUARED = 3


@njit(cache=True, nogil=True, error_model="numpy")
def best_subset(criterion, totals, counts, costs, table, least, heavy, slack, max_exact, goes_left):
    """Score and smaller weight of the best division of categories, marked in ``goes_left``.

    Parameters
    ----------
    totals : array (categories, totals)
        What each category adds to the totals of its side.
    counts : array (categories,)
        Samples of each; those without any are left out.
    goes_left : int8 array (categories,)
        Filled: 1 left, 0 right, -1 without samples. All -1 says that there is no division.
    """
    n_totals = totals.shape[1]
    present = np.empty(len(counts), dtype=np.int64)
    c = 0
    everything = np.zeros(n_totals)
    for level in range(len(counts)):
        goes_left[level] = -1
        if counts[level] > 0:
            present[c] = level
            c += 1
            shift(everything, 1.0, totals[level])
    if c < 2:
        return -np.inf, 0.0
    present = present[:c]
    n_classes, last_class = 0, 0
    for k in range(n_totals):
        if everything[k] > 0.0:
            n_classes += 1
            last_class = k
    ordered = criterion == _SQUARED or n_classes <= 2
    constrained = least > 1 or heavy > SOMETHING
    if (not ordered or constrained) and c <= max_exact:
        return _all_subsets(
            criterion, totals, counts, costs, table, least, heavy, slack, present, everything,
            goes_left,
        )  # fmt: skip
    first, last = -1, n_totals  # orders to try: the principal component, then every class
    if ordered:
        first = 1 if criterion == _SQUARED else last_class
        last = first + 1
    position, order = np.empty(c), np.empty(c, dtype=np.int64)
    best, balance = -np.inf, 0.0
    for k in range(first, last):
        if k < 0:
            _principal(criterion, totals, present, everything, position)
        else:
            for i in range(c):
                weight = weigh(criterion, totals[present[i]])
                position[i] = totals[present[i], k] / weight if weight > 0.0 else 0.0
        _sort(position, order)
        best, balance = _along(
            order, criterion, totals, counts, costs, table, least, heavy, slack, present,
            everything, goes_left, best, balance,
        )  # fmt: skip
    return best, balance


@njit(cache=True, nogil=True, error_model="numpy")
def _along(
    order,
    criterion,
    totals,
    counts,
    costs,
    table,
    least,
    heavy,
    slack,
    present,
    everything,
    goes_left,
    best,
    best_balance,
):
    """The best cut of the categories in an order, if it is better than the best so far."""
    c = len(present)
    left, right = np.zeros(totals.shape[1]), np.zeros(totals.shape[1])
    put(right, everything)
    n_left, n_right, cut = 0, 0, -1
    for i in range(c):
        n_right += counts[present[i]]
    for i in range(c - 1):
        level = present[order[i]]
        shift(left, 1.0, totals[level])
        shift(right, -1.0, totals[level])
        n_left += counts[level]
        n_right -= counts[level]
        if n_left < least or n_right < least:
            continue
        score, balance = _score(criterion, left, right, costs, table)
        if balance >= heavy and better(score, balance, best, best_balance, slack):
            best, best_balance, cut = max(best, score), balance, i
    if cut >= 0:
        for i in range(c):
            goes_left[present[order[i]]] = 1 if i <= cut else 0
    return best, best_balance


@njit(cache=True, nogil=True, error_model="numpy")
def _all_subsets(
    criterion, totals, counts, costs, table, least, heavy, slack, present, everything, goes_left
):
    """Every division once: the last category always stays on the right."""
    c = len(present)
    left, right = np.zeros(totals.shape[1]), np.zeros(totals.shape[1])
    put(right, everything)
    n_left, n_right = 0, 0
    for i in range(c):
        n_right += counts[present[i]]
    inside = np.zeros(c, dtype=np.int8)
    best, best_balance = -np.inf, 0.0
    for step in range(1, 1 << (c - 1)):
        i = 0
        while not (step >> i) & 1:
            i += 1
        level = present[i]
        sign = -1 if inside[i] else 1
        inside[i] = 1 - inside[i]
        shift(left, sign, totals[level])
        shift(right, -sign, totals[level])
        n_left += sign * counts[level]
        n_right -= sign * counts[level]
        if n_left < least or n_right < least:
            continue
        score, balance = _score(criterion, left, right, costs, table)
        if balance >= heavy and better(score, balance, best, best_balance, slack):
            best, best_balance = max(best, score), balance
            for k in range(c):
                goes_left[present[k]] = inside[k]
    return best, best_balance


@njit(cache=True, nogil=True, error_model="numpy")
def _score(criterion, left, right, costs, table):
    """Score of both sides, and the smaller weight."""
    balance = min(weigh(criterion, left), weigh(criterion, right))
    score = score_of(criterion, left, costs, table) + score_of(criterion, right, costs, table)
    return score, balance


@njit(cache=True, nogil=True, error_model="numpy")
def _principal(criterion, totals, present, everything, position):
    """Place of each category on the first principal component of its class shares."""
    c, n_classes = len(present), totals.shape[1]
    total = weigh(criterion, everything)
    shares = np.zeros((c, n_classes))
    spread = np.zeros((n_classes, n_classes))
    for i in range(c):
        weight = weigh(criterion, totals[present[i]])
        for k in range(n_classes):
            if weight > 0.0:
                shares[i, k] = totals[present[i], k] / weight - everything[k] / total
        for a in range(n_classes):
            for b in range(n_classes):
                spread[a, b] += weight * shares[i, a] * shares[i, b]
    widest = 0
    for a in range(n_classes):
        if spread[a, a] > spread[widest, widest]:
            widest = a
    direction, turned = np.zeros(n_classes), np.zeros(n_classes)
    put(direction, spread[widest])
    for _ in range(200):
        size = 0.0
        for a in range(n_classes):
            turned[a] = 0.0
            for b in range(n_classes):
                turned[a] += spread[a, b] * direction[b]
            size = max(size, abs(turned[a]))
        if size <= 0.0:
            break
        for a in range(n_classes):
            direction[a] = turned[a] / size
    for i in range(c):
        position[i] = 0.0
        for a in range(n_classes):
            position[i] += shares[i, a] * direction[a]


@njit(cache=True, nogil=True, error_model="numpy")
def _sort(position, order):
    """Put the places in ascending order of position (Shell's way); equal ones as they come."""
    c = len(position)
    for i in range(c):
        order[i] = i
    gap = 1
    while 3 * gap + 1 < c:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, c):
            held = order[i]
            k = i
            while k >= gap and (
                position[order[k - gap]] > position[held]
                or (position[order[k - gap]] == position[held] and order[k - gap] > held)
            ):
                order[k] = order[k - gap]
                k -= gap
            order[k] = held
        gap //= 3
