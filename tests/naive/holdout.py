"""Hold-out elimination written out with lists and loops.

Kernel values come from their definitions, one pair of samples at a time, with the features that
are left; the machine is scikit-learn's, on a matrix of those values. The random splits are the ones
of the library (they are part of the input: any split is as good as another).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from tamiz.embedded.holdout.elimination import stream
from tamiz.embedded.holdout.judges import random_split

TIE = 1e-9  # values closer to each other than this are equal


def linear(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def radial(gamma):
    return lambda x, z: math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


def polynomial(gamma, coef0, degree):
    return lambda x, z: (gamma * linear(x, z) + coef0) ** degree


def sigmoid(gamma, coef0):
    return lambda x, z: math.tanh(gamma * linear(x, z) + coef0)


def quadratic(B):
    return lambda x, z: sum(
        a * B[i][j] * b for i, a in enumerate(x) for j, b in enumerate(z) if a and b
    )


def without(x, features):
    return [value for j, value in enumerate(x) if j not in features]


def zeroed(x, features):
    """For kernels that know which feature is which: what is taken out is zero."""
    return [0.0 if j in features else value for j, value in enumerate(x)]


def train(kernel, samples, signs, C):
    """Coefficients and intercept of one machine."""
    K = np.array([[kernel(x, z) for z in samples] for x in samples])
    machine = SVC(C=1.0, kernel="precomputed", tol=1e-7, max_iter=100_000)
    machine.fit(K, signs, sample_weight=C)
    coef = [0.0] * len(samples)
    for place, value in zip(machine.support_, machine.dual_coef_[0], strict=True):
        coef[place] = float(value)
    return coef, float(machine.intercept_[0])


def decision(kernel, samples, coef, intercept, z):
    return intercept + sum(c * kernel(x, z) for c, x in zip(coef, samples, strict=True) if c)


def machines(kernel, X, y, C, train_rows, n_classes, scheme, train=train):
    """One machine for each pair of classes (positive for the second), or for each class."""
    if scheme == "ovr" and n_classes > 2:
        pairs = [(None, k) for k in range(n_classes)]
    else:
        pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    found = []
    for i, j in pairs:
        rows = [r for r in train_rows if i is None or y[r] in (i, j)]
        signs = [1 if y[r] == j else -1 for r in rows]
        found.append(
            (i, j, rows, *train(kernel, [X[r] for r in rows], signs, [C[r] for r in rows]))
        )
    return found


def vote(found, kernel, X, z, gone, n_classes, scheme, absent=without):
    """The class of sample z when the features ``gone`` are taken out and the machines kept."""
    values = []
    for _, _, rows, coef, intercept in found:
        samples = [absent(X[r], gone) for r in rows]
        values.append(decision(kernel, samples, coef, intercept, absent(z, gone)))
    if n_classes == 2:
        return 1 if values[0] > TIE else 0
    if scheme == "ovr":
        return first_of_the_largest(range(n_classes), values)
    votes, sums = [0] * n_classes, [0.0] * n_classes
    for (i, j, *_), value in zip(found, values, strict=True):
        votes[j if value > TIE else i] += 1
        sums[j] += value
        sums[i] -= value
    return first_of_the_largest([k for k in range(n_classes) if votes[k] == max(votes)], sums)


def first_of_the_largest(classes, values):
    largest = max(values[k] for k in classes)
    return next(k for k in classes if values[k] >= largest - TIE)


def priced_errors(guesses, truth, prices):
    return sum(prices[t] for g, t in zip(guesses, truth, strict=True) if g != t)


def eliminate(
    kernel,
    X,
    y,
    *,
    held_out,
    seed,
    C=1.0,
    class_factor=None,
    prices=None,
    groups=None,
    fixed=(),
    n_splits=1,
    ties="random",
    stop="worse",
    scheme="ovo",
    train=train,
    absent=without,
    draw=None,
):
    """The whole elimination; ``draw`` makes a split from a generator, at random by default.

    Returns, step by step, (error with all, {unit: error without}, units that go), the error at the
    end, and the units in play when the rule says stop.
    """
    X = [list(map(float, row)) for row in X]
    n, p = len(X), len(X[0])
    n_classes = max(y) + 1
    prices = prices or [1.0] * n_classes
    factor = class_factor or [1.0] * n_classes
    price_of_slack = [C * factor[y[i]] for i in range(n)]
    units = groups or [[j] for j in range(p) if j not in fixed]
    inside, gone = list(range(len(units))), []
    least = 0 if len(fixed) else 1
    by_class = [np.array([i for i in range(n) if y[i] == k]) for k in range(n_classes)]
    steps, stopped = [], None
    draw = draw or (lambda rng: random_split(by_class, held_out, rng))
    usual = prices
    while True:
        rng = stream(seed, len(steps))
        splits = [draw(rng) for _ in range(n_splits)]
        rng.integers(2**31 - 1, size=n_splits)
        removable = inside if len(inside) > least else []
        present, errors = 0.0, {k: 0.0 for k in removable}
        for split in splits:
            reduced = [absent(x, gone) for x in X]
            rows = [int(r) for r in split.train]
            found = machines(kernel, reduced, y, price_of_slack, rows, n_classes, scheme, train)
            truth = [y[int(r)] for r in split.validation]
            # as if as many samples of each class were held out as usual
            prices = [usual[k] * held_out[k] / truth.count(k) for k in range(n_classes)]

            def guesses(features, found=found, split=split, gone=tuple(gone)):
                out = set(gone) | set(features)
                return [
                    vote(found, kernel, X, X[int(r)], out, n_classes, scheme, absent)
                    for r in split.validation
                ]

            present += priced_errors(guesses([]), truth, prices) / n_splits
            for k in removable:
                errors[k] += priced_errors(guesses(units[k]), truth, prices) / n_splits
        if not removable:
            return steps, present, stopped if stopped is not None else list(inside)
        lowest = min(errors.values())
        tied = [k for k in removable if errors[k] <= lowest + 1e-9]
        mixed = rng.permutation(tied).tolist()
        leave = mixed[: min(len(mixed), len(inside) - least)] if ties == "all" else mixed[:1]
        worse = lowest > present + 1e-9 if stop == "worse" else lowest >= present - 1e-9
        if worse and stopped is None:
            stopped = list(inside)
        steps.append((present, errors, leave))
        for k in leave:
            inside.remove(k)
            gone += units[k]


class Split(NamedTuple):
    """Samples to train with and to validate with."""

    train: list[int]
    validation: list[int]


def splits_in_time(times, y, n_held, gap=0):
    """All splits that may be drawn: what comes before a moment, and the block that follows it."""
    moments, n = sorted(set(times)), len(times)
    usual, others = [], []
    for k in range(1, len(moments)):
        n_before = sum(t < moments[k] for t in times)
        train = [i for i in range(n) if k >= gap and times[i] < moments[k - gap]]
        blocks = [
            [i for i in range(n) if moments[k] <= times[i] <= last] for last in moments[k:]
        ]  # the first of the nearest in size
        block = min(blocks, key=lambda rows: abs(len(rows) - n_held))
        if {y[i] for i in train} == {y[i] for i in block} == set(y):
            good = (n - n_held) / 2 <= n_before <= n - n_held
            (usual if good else others).append(
                Split(*(sorted(rows, key=lambda i: (y[i], i)) for rows in (train, block)))
            )
    return usual or others


def cross_validated(kernel, X, y, folds, C, class_factor, prices, scheme):
    """Price of the errors in all folds."""
    X = [list(map(float, row)) for row in X]
    n_classes = max(y) + 1
    total = 0.0
    for train_rows, test_rows in folds:
        slack = [C * class_factor[label] for label in y]
        found = machines(kernel, X, y, slack, [int(r) for r in train_rows], n_classes, scheme)
        guesses = [vote(found, kernel, X, X[int(r)], (), n_classes, scheme) for r in test_rows]
        total += priced_errors(guesses, [y[int(r)] for r in test_rows], prices)
    return total
