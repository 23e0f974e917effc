"""The Relief family written from its formulas with lists and loops.

A value is a float (None where missing) or, in a symbolic column, anything. Distances are rounded
to 36 bits, so that sums that differ by rounding only are ties; the earlier sample is then nearer.
"""

from __future__ import annotations

import math


def rounded(d):
    if d == 0:
        return 0.0
    mantissa, exponent = math.frexp(d)
    return math.ldexp(round(math.ldexp(mantissa, 36)), exponent - 36)


class Differences:
    """diff(f, a, b) for samples a and b by number."""

    def __init__(self, rows, labels, symbolic):
        self.rows, self.labels, self.symbolic = rows, labels, symbolic
        self.low, self.span = [], []
        for j in range(len(symbolic)):
            known = [row[j] for row in rows if row[j] is not None]
            if symbolic[j]:
                self.low.append(None)
                self.span.append(float(len(set(known)) > 1))
            else:
                self.low.append(min(known, default=0.0))
                self.span.append(max(known, default=0.0) - min(known, default=0.0))

    def between(self, j, x, z):
        if self.symbolic[j]:
            return float(x != z)
        return abs((x - self.low[j]) / self.span[j] - (z - self.low[j]) / self.span[j])

    def of_class(self, j, label):
        """Values of feature j in the class; those of all samples if it has none."""
        known = [r[j] for r, k in zip(self.rows, self.labels, strict=True) if k == label]
        known = [x for x in known if x is not None]
        return known or [r[j] for r in self.rows if r[j] is not None]

    def __call__(self, j, a, b):
        if self.span[j] == 0:
            return 0.0
        x, z = self.rows[a][j], self.rows[b][j]
        xs = [x] if x is not None else self.of_class(j, self.labels[a])
        zs = [z] if z is not None else self.of_class(j, self.labels[b])
        return sum(self.between(j, u, v) for u in xs for v in zs) / (len(xs) * len(zs))


def neighbours(rows, labels, symbolic, i, among, k, metric="manhattan", scaling="range"):
    """The k samples of ``among`` nearest to sample i."""
    diff = Differences(rows, labels, symbolic)

    def distance(l):
        total = 0.0
        for j in range(len(symbolic)):
            d = diff(j, i, l)
            if scaling == "none" and not symbolic[j]:
                d *= diff.span[j]
            total += d if metric == "manhattan" else d * d
        return rounded(total)

    return sorted((l for l in among if l != i), key=lambda l: (distance(l), l))[:k]


def relieff(rows, labels, symbolic, samples, k, weight=None, **options):
    diff = Differences(rows, labels, symbolic)
    n, p = len(rows), len(symbolic)
    w = [1.0] * n if weight is None else weight
    of_class = {c: sum(w[l] for l in range(n) if labels[l] == c) for c in labels}
    scores = [0.0] * p
    classes = sorted(set(labels))
    for i in samples:
        own = of_class[labels[i]] / sum(w)
        for c in classes:
            among = [l for l in range(n) if labels[l] == c]
            near = neighbours(rows, labels, symbolic, i, among, k, **options)
            prior = of_class[c] / sum(w)
            factor = -1.0 if c == labels[i] else prior / (1 - own)
            for l in near:
                mine = w[i] / sum(w[s] for s in samples)
                for j in range(p):
                    scores[j] += factor * diff(j, i, l) * mine * w[l] / sum(w[m] for m in near)
    return scores


def relief(rows, labels, symbolic, samples, weight=None, **options):
    diff = Differences(rows, labels, symbolic)
    w = [1.0] * len(rows) if weight is None else weight
    scores = [0.0] * len(symbolic)
    for i in samples:
        same = [l for l in range(len(rows)) if labels[l] == labels[i]]
        other = [l for l in range(len(rows)) if labels[l] != labels[i]]
        (hit,) = neighbours(rows, labels, symbolic, i, same, 1, **options)
        (miss,) = neighbours(rows, labels, symbolic, i, other, 1, **options)
        for j in range(len(symbolic)):
            mine = w[i] / sum(w[s] for s in samples)
            scores[j] += (diff(j, i, miss) - diff(j, i, hit)) * mine
    return scores


def rrelieff(rows, target, symbolic, samples, k, weight=None, **options):
    labels = [0] * len(rows)
    w = [1.0] * len(rows) if weight is None else weight
    mean = sum(w[i] for i in samples) / len(samples)
    diff = Differences(rows, labels, symbolic)
    p, span = len(symbolic), max(target) - min(target)
    n_y, n_f, n_both = 0.0, [0.0] * p, [0.0] * p
    for i in samples:
        near = neighbours(rows, labels, symbolic, i, range(len(rows)), k, **options)
        for l in near:
            apart = abs(target[i] - target[l]) / span if span else 0.0
            share = w[i] / mean * w[l] / sum(w[s] for s in near)
            n_y += apart * share
            for j in range(p):
                n_f[j] += diff(j, i, l) * share
                n_both[j] += apart * diff(j, i, l) * share
    m = len(samples)
    return [
        (n_both[j] / n_y if n_y else 0.0) - ((n_f[j] - n_both[j]) / (m - n_y) if m > n_y else 0.0)
        for j in range(p)
    ]
