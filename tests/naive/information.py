"""Entropy, information, discretisation and greedy filters from their formulas: slow, obvious.

Columns are lists; missing values are None or NaN. Probabilities are fractions of counts.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction


def is_missing(value):
    return value is None or value != value


def present(x, z):
    """The pairs in which both values are present."""
    return [(a, b) for a, b in zip(x, z, strict=True) if not is_missing(a) and not is_missing(b)]


def entropy(x):
    n = len(x)
    return -sum(k / n * math.log(k / n) for k in Counter(x).values())


def mutual_information(x, z):
    """I(x; z) = sum p(a, b) log(p(a, b) / (p(a) p(b)))."""
    n = len(x)
    joint, first, second = Counter(zip(x, z, strict=True)), Counter(x), Counter(z)
    return sum(k / n * math.log(k * n / (first[a] * second[b])) for (a, b), k in joint.items())


def conditional_mutual_information(x, z, given):
    """I(x; z | given): the mean over the values of the condition."""
    n = len(x)
    total = 0.0
    for value, k in Counter(given).items():
        rows = [i for i in range(n) if given[i] == value]
        total += k / n * mutual_information([x[i] for i in rows], [z[i] for i in rows])
    return total


def symmetrical_uncertainty(x, z):
    total = entropy(x) + entropy(z)
    return 2 * mutual_information(x, z) / total if total > 0 else 0.0


def over_pairs(measure, x, z, missing):
    """A measure with missing values as a level, or without the pairs in which one is missing.

    In the latter case, times the share of the pairs that are left.
    """
    if missing == "code":
        return measure(
            ["gap" if is_missing(a) else a for a in x], ["gap" if is_missing(b) else b for b in z]
        )
    pairs = present(x, z)
    if not pairs:
        return 0.0
    return len(pairs) / len(x) * measure([a for a, _ in pairs], [b for _, b in pairs])


def conditional_over_gaps(x, z, given):
    """I(x; z | given) over samples that have x, times their fraction; missing given: a level."""
    rows = [i for i in range(len(x)) if not is_missing(x[i])]
    if not rows:
        return 0.0
    condition = ["gap" if is_missing(given[i]) else given[i] for i in rows]
    value = conditional_mutual_information([x[i] for i in rows], [z[i] for i in rows], condition)
    return len(rows) / len(x) * value


# --------------------------------------------------------------------------------- discretisation


def mean_std_codes(x):
    """0 up to the mean minus one deviation, 1 up to the mean plus one, 2 beyond; exact."""
    values = [Fraction(v) for v in x if not is_missing(v)]
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    codes = []
    for v in x:
        if is_missing(v):
            codes.append(None)
            continue
        distance = Fraction(v) - mean
        if distance <= 0 and distance**2 >= variance:
            codes.append(0)
        elif distance <= 0 or distance**2 <= variance:
            codes.append(1)
        else:
            codes.append(2)
    return codes


def class_entropy(labels):
    return entropy(labels) if labels else 0.0


def mdl_cuts(x, labels):
    """Cuts by Fayyad and Irani: all midpoints tried, the lowest best one taken."""
    rows = sorted((v, c) for v, c in zip(x, labels, strict=True) if not is_missing(v))
    return sorted(_mdl(rows))


def _mdl(rows):
    n = len(rows)
    labels = [c for _, c in rows]
    whole = class_entropy(labels)
    best = None
    for k in range(1, n):
        if rows[k - 1][0] == rows[k][0]:
            continue
        rest = (k * class_entropy(labels[:k]) + (n - k) * class_entropy(labels[k:])) / n
        if best is None or rest < best[0] - 1e-12:
            best = rest, k
    if best is None:
        return []
    rest, k = best
    classes = len(set(labels))
    classes1, classes2 = len(set(labels[:k])), len(set(labels[k:]))
    price = math.log(n - 1) + math.log(3**classes - 2)
    price -= classes * whole
    price += classes1 * class_entropy(labels[:k]) + classes2 * class_entropy(labels[k:])
    if whole - rest <= price / n:
        return []
    cut = (rows[k - 1][0] + rows[k][0]) / 2
    return [cut, *_mdl(rows[:k]), *_mdl(rows[k:])]


def width_codes(x, n_bins):
    values = [v for v in x if not is_missing(v)]
    low, high = Fraction(min(values)), Fraction(max(values))
    cuts = [low + (high - low) * k / n_bins for k in range(1, n_bins)]
    return [None if is_missing(v) else sum(Fraction(v) > c for c in cuts) for v in x]


# ------------------------------------------------------------------------------------------ greedy


def greedy(columns, y, steps, value):
    """Add the column of greatest ``value(columns, y, selected, j)``; return order and values.

    Constant columns are added when there are no others.
    """
    selected, values = [], []
    for _ in range(steps):
        rest = [j for j in range(len(columns)) if j not in selected]
        rest = [j for j in rest if len(set(columns[j])) > 1] or rest
        scored = {j: value(columns, y, selected, j) for j in rest}
        best = max(scored.values())
        ties = [j for j in rest if scored[j] > best - 1e-12]
        relevance = [mutual_information(columns[j], y) for j in ties]
        pick = next(j for j, r in zip(ties, relevance, strict=True) if r > max(relevance) - 1e-12)
        selected.append(pick)
        values.append(best)
    return selected, values


def mrmr_difference(columns, y, selected, j):
    relevance = mutual_information(columns[j], y)
    if not selected:
        return relevance
    return relevance - sum(mutual_information(columns[j], columns[s]) for s in selected) / len(
        selected
    )


def mrmr_quotient(columns, y, selected, j, floor=1e-3):
    relevance = mutual_information(columns[j], y)
    if not selected:
        return relevance
    shared = [max(floor, mutual_information(columns[j], columns[s])) for s in selected]
    return relevance / (sum(shared) / len(selected))


def jmi(columns, y, selected, j):
    if not selected:
        return mutual_information(columns[j], y)
    pairs = [list(zip(columns[j], columns[s], strict=True)) for s in selected]
    return sum(mutual_information(pair, y) for pair in pairs) / len(selected)


def cmim(columns, y, selected, j):
    values = [mutual_information(columns[j], y)]
    values += [conditional_mutual_information(columns[j], y, columns[s]) for s in selected]
    return min(values)


def maxdep(columns, y, selected, j):
    together = list(zip(*(columns[s] for s in selected), columns[j], strict=True))
    return mutual_information(together, y)


# --------------------------------------------------------------------------- F and correlation


def f_statistic(x, y):
    n, classes = len(x), sorted(set(y))
    mean = sum(x) / n
    between = within = 0.0
    for c in classes:
        part = [a for a, b in zip(x, y, strict=True) if b == c]
        centre = sum(part) / len(part)
        between += len(part) * (centre - mean) ** 2
        within += sum((a - centre) ** 2 for a in part)
    if between + within == 0:
        return 0.0
    return (between / (len(classes) - 1)) / (within / (n - len(classes)))


def correlation(x, z):
    n = len(x)
    mx, mz = sum(x) / n, sum(z) / n
    sxx, szz = sum((a - mx) ** 2 for a in x), sum((b - mz) ** 2 for b in z)
    if sxx == 0 or szz == 0:
        return 0.0
    return sum((a - mx) * (b - mz) for a, b in zip(x, z, strict=True)) / math.sqrt(sxx * szz)


def f_pearson(columns, y, selected, j, quotient=False, floor=1e-3):
    relevance = f_statistic(columns[j], y)
    if not selected:
        return relevance
    shared = [abs(correlation(columns[j], columns[s])) for s in selected]
    if quotient:
        return relevance / (sum(max(floor, q) for q in shared) / len(shared))
    return relevance - sum(shared) / len(shared)
