"""Statistics of the evaluation room from their definitions, with lists, sets and loops."""

from __future__ import annotations

import itertools
import math


def kuncheva(sets, d):
    """Mean consistency of all pairs of sets of the same size."""
    values = []
    for a, b in itertools.combinations(sets, 2):
        k = len(a)
        values.append((len(a & b) * d - k * k) / (k * (d - k)))
    return sum(values) / len(values)


def jaccard(sets):
    values = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in itertools.combinations(sets, 2)]
    return sum(values) / len(values)


def nogueira(sets, d):
    """The index from the sample variances of the indicators of the features."""
    M = len(sets)
    spread = 0.0
    for f in range(d):
        marks = [1.0 if f in chosen else 0.0 for chosen in sets]
        mean = sum(marks) / M
        spread += sum((mark - mean) ** 2 for mark in marks) / (M - 1)
    k = sum(len(chosen) for chosen in sets) / M
    return 1 - (spread / d) / ((k / d) * (1 - k / d))


def nogueira_jackknife(sets, d):
    """Variance of the index by leaving out one selection at a time."""
    M = len(sets)
    left = [nogueira(sets[:i] + sets[i + 1 :], d) for i in range(M)]
    mean = sum(left) / M
    return (M - 1) / M * sum((value - mean) ** 2 for value in left)


def delong(positive, negative):
    """Area and variance from all pairs."""

    def order(a, b):
        return 1.0 if a > b else 0.5 if a == b else 0.0

    m, n = len(positive), len(negative)
    upper = [sum(order(a, b) for b in negative) / n for a in positive]
    lower = [sum(order(a, b) for a in positive) / m for b in negative]
    area = sum(upper) / m
    s1 = sum((v - area) ** 2 for v in upper) / (m - 1)
    s0 = sum((v - area) ** 2 for v in lower) / (n - 1)
    return area, s1 / m + s0 / n


def ranks(row):
    """1 for the smallest; equal numbers share the mean of their ranks."""
    return [
        sum(other < value for other in row) + (1 + sum(other == value for other in row)) / 2
        for value in row
    ]


def friedman(table):
    """Chi-square with Conover's form of the correction for ties."""
    N, k = len(table), len(table[0])
    ranked = [ranks(row) for row in table]
    sums = [sum(row[j] for row in ranked) for j in range(k)]
    squares = sum(r * r for row in ranked for r in row)
    constant = N * k * (k + 1) ** 2 / 4
    return (k - 1) * (sum(s * s for s in sums) - N * constant) / (squares - constant)


def holm(pvalues):
    """The smallest level at which the step-down procedure rejects each hypothesis."""
    m = len(pvalues)
    order = sorted(range(m), key=lambda i: pvalues[i])
    adjusted = [0.0] * m
    for place, i in enumerate(order):
        adjusted[i] = min(1.0, max((m - q) * pvalues[order[q]] for q in range(place + 1)))
    return adjusted


def signed_rank_pvalue(differences):
    """Share of all signs that give as small a rank sum, two-sided; zeros keep no sign."""
    ranked = ranks([abs(d) for d in differences])
    pairs = [(r, d > 0) for r, d in zip(ranked, differences, strict=True) if d != 0]
    total = sum(r for r, _ in pairs)
    plus = sum(r for r, positive in pairs if positive)
    smaller = min(plus, total - plus)
    count = 0
    for signs in itertools.product((0, 1), repeat=len(pairs)):
        value = sum(r for (r, _), sign in zip(pairs, signs, strict=True) if sign)
        count += value <= smaller + 1e-9
    return min(1.0, 2 * count / 2 ** len(pairs))


def corrected_t(a, b, n_train, n_test):
    d = [x - y for x, y in zip(a, b, strict=True)]
    J = len(d)
    mean = sum(d) / J
    variance = sum((v - mean) ** 2 for v in d) / (J - 1)
    return mean / math.sqrt((1 / J + n_test / n_train) * variance)


def matthews(TP, FP, FN, TN):
    return (TP * TN - FP * FN) / math.sqrt((TP + FP) * (TP + FN) * (TN + FP) * (TN + FN))
