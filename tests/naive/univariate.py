"""Scores of single features written from their formulas with lists and loops."""

from __future__ import annotations

import math


def split(values, labels, weights=None):
    """Values and weights of each class, in the order of the sorted labels."""
    weights = [1.0] * len(labels) if weights is None else weights
    return [
        [(x, w) for x, w, label in zip(values, weights, labels, strict=True) if label == k]
        for k in sorted(set(labels))
    ]


def mean_and_variance(part, ddof=0):
    n = sum(w for _, w in part)
    mean = sum(w * x for x, w in part) / n
    return mean, sum(w * (x - mean) ** 2 for x, w in part) / (n - ddof)


def ratio(a, b):
    if b > 0:
        return a / b
    return math.inf if a > 0 else 0.0


def fisher(values, labels, variant, weights=None):
    parts = split(values, labels, weights)
    if variant == "multiclass" or len(parts) > 2:
        whole, _ = mean_and_variance([pair for part in parts for pair in part])
        between = within = 0.0
        for part in parts:
            n = sum(w for _, w in part)
            mean, variance = mean_and_variance(part)
            between += n * (mean - whole) ** 2
            within += n * variance
        return ratio(between, within)
    (m1, v1), (m2, v2) = map(mean_and_variance, parts)
    gap = abs(m1 - m2)
    return ratio(gap if variant == "criterion" else gap**2, v1 + v2)


def one_against_rest(parts, k):
    return parts[k], [pair for c, part in enumerate(parts) if c != k for pair in part]


def over_classes(parts, score, how):
    """Combine ``score(class, rest)`` over the classes."""
    if len(parts) == 2:
        return score(parts[0], parts[1])
    total = sum(w for part in parts for _, w in part)
    each = [score(*one_against_rest(parts, k)) for k in range(len(parts))]
    if how == "max":
        return max(each)
    return sum(sum(w for _, w in part) / total * s for part, s in zip(parts, each, strict=True))


def signal_to_noise(values, labels, how="weighted", weights=None):
    def score(a, b):
        (m1, v1), (m2, v2) = mean_and_variance(a), mean_and_variance(b)
        return ratio(abs(m1 - m2), math.sqrt(v1) + math.sqrt(v2))

    return over_classes(split(values, labels, weights), score, how)


def auc_of(a, b):
    """Probability that a value of ``a`` exceeds one of ``b``, ties one half."""
    won = sum(w * v * ((x > z) + (x == z) / 2) for x, w in a for z, v in b)
    return won / (sum(w for _, w in a) * sum(v for _, v in b))


def auc(values, labels, how="weighted", weights=None):
    return over_classes(split(values, labels, weights), lambda a, b: abs(auc_of(a, b) - 0.5), how)


def smirnov_distance(a, b):
    na, nb = sum(w for _, w in a), sum(w for _, w in b)
    largest = 0.0
    for t in {x for x, _ in a + b}:
        fa = sum(w for x, w in a if x <= t) / na
        fb = sum(w for x, w in b if x <= t) / nb
        largest = max(largest, abs(fa - fb))
    return largest


def kolmogorov_smirnov(values, labels, how="weighted", weights=None):
    return over_classes(split(values, labels, weights), smirnov_distance, how)


def stump_error(values, labels, weights=None):
    """Least training error over all thresholds and all predictions on either side."""
    parts = split(values, labels, weights)
    total = sum(w for part in parts for _, w in part)
    best = max(sum(w for _, w in part) for part in parts)
    for t in sorted(set(values))[:-1]:
        low = max(sum(w for x, w in part if x <= t) for part in parts)
        high = max(sum(w for x, w in part if x > t) for part in parts)
        best = max(best, low + high)
    return 1 - best / total


def correlation(a, b, weights=None):
    weights = [1.0] * len(a) if weights is None else weights
    n = sum(weights)
    ma = sum(w * x for x, w in zip(a, weights, strict=True)) / n
    mb = sum(w * x for x, w in zip(b, weights, strict=True)) / n
    triples = list(zip(a, b, weights, strict=True))
    saa = sum(w * (x - ma) ** 2 for x, _, w in triples)
    sbb = sum(w * (z - mb) ** 2 for _, z, w in triples)
    if len(set(a)) == 1 or len(set(b)) == 1:
        return 0.0
    return sum(w * (x - ma) * (z - mb) for x, z, w in triples) / math.sqrt(saa * sbb)


def pearson(values, labels, weights=None):
    """Sum over the classes of share times |correlation with the indicator|."""
    weights = [1.0] * len(labels) if weights is None else weights
    score = 0.0
    for k in set(labels):
        indicator = [float(label == k) for label in labels]
        share = sum(w * i for w, i in zip(weights, indicator, strict=True)) / sum(weights)
        score += share * abs(correlation(values, indicator, weights))
    return score


def chi_squared(values, labels):
    """Statistic and degrees of freedom of the table of values and labels."""
    rows, columns, n = sorted(set(values)), sorted(set(labels)), len(values)
    statistic = 0.0
    for r in rows:
        for c in columns:
            observed = sum(v == r and k == c for v, k in zip(values, labels, strict=True))
            expected = values.count(r) * labels.count(c) / n
            statistic += (observed - expected) ** 2 / expected
    return statistic, (len(rows) - 1) * (len(columns) - 1)
