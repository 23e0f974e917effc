"""The k nearest neighbours, slowly: one pair, one attribute, one vote at a time."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from fractions import Fraction


def is_gap(value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def scales(rows, nominal, scaling):
    """What the differences of each column are divided by."""
    found = []
    for j in range(len(nominal)):
        known = [row[j] for row in rows if not is_gap(row[j])]
        scale = 1.0
        if not nominal[j] and known and scaling == "range":
            scale = max(known) - min(known)
        if not nominal[j] and known and scaling == "zscore":
            scale = statistics.pstdev(known)  # exact: nothing but 0 for a constant column
        found.append(scale if scale > 0 else 1.0)
    return found


def distance(x, z, nominal, weight, scale, power=1):
    """Over what is known in both, times the weight of all over that of the known."""
    terms, known = [], 0.0
    for j in range(len(x)):
        if is_gap(x[j]) or is_gap(z[j]) or weight[j] == 0:
            continue
        known += weight[j]
        if nominal[j]:
            terms.append(weight[j] * (x[j] != z[j]))
        else:
            terms.append(weight[j] * (abs(x[j] - z[j]) / scale[j]) ** power)
    if known == 0:
        return math.inf
    return (math.fsum(terms) * math.fsum(weight) / known) ** (1 / power)


def neighbours(rows, x, k, nominal, weight, scale, power=1):
    """Distances and row numbers; of equal distances (to 9 digits) the smaller row number."""
    found = [(distance(x, z, nominal, weight, scale, power), i) for i, z in enumerate(rows)]
    found.sort(key=lambda pair: (pair[0] if math.isinf(pair[0]) else float(f"{pair[0]:.9e}"),
                                 pair[1]))  # fmt: skip
    return found[:k]


def vote(near, y, ties="nearest", reject=None, weights="uniform"):
    """The winner, and the fraction of the votes of each class."""
    votes: Counter = Counter()
    zero = any(d == 0 for d, _ in near)
    for d, i in near:
        if math.isinf(d):
            continue
        if weights == "uniform":
            votes[y[i]] += Fraction(1)
        elif zero:
            votes[y[i]] += Fraction(int(d == 0))
        else:
            votes[y[i]] += Fraction(1 / d)
    votes = Counter({c: v for c, v in votes.items() if v > 0})
    if not votes:
        votes = Counter(y)
    most = max(votes.values())
    tied = [c for c in sorted(set(y)) if votes[c] >= most * Fraction(999999999, 1000000000)]
    share = {c: float(votes[c] / sum(votes.values())) for c in sorted(set(y))}
    if len(tied) == 1:
        return tied[0], share
    if ties == "abstain":
        return reject, share
    if ties == "frequent":
        count = Counter(y)
        largest = max(count[c] for c in tied)
        tied = [c for c in tied if count[c] == largest]
    for d, i in near:
        if y[i] in tied and not math.isinf(d):
            return y[i], share
    return tied[0], share


def error_curves(make, X, y, splits, ks, test=None):
    """Training, cross-validated and test errors by fitting anew for every k: a plain loop."""
    cv = [[float((make(k).fit(X[a], y[a]).predict(X[b]) != y[b]).mean()) for k in ks]
          for a, b in splits]  # fmt: skip
    train = [float((make(k).fit(X, y).predict(X) != y).mean()) for k in ks]
    if test is None:
        return cv, train, None
    return cv, train, [float((make(k).fit(X, y).predict(test[0]) != test[1]).mean()) for k in ks]
