"""Honest comparison, slow and obvious: loops over splits, nothing shared between them."""

from __future__ import annotations

import math

import numpy as np
from sklearn.preprocessing import StandardScaler


def ranked(make_selector, X, y):
    """Features, best first, of a fresh selector on standardised features."""
    return make_selector().fit(StandardScaler().fit_transform(X), y).order_


def error(make_judge, X, y, train, test, features):
    """Share of wrong answers in the test part of a fresh judge, scaled by the training part."""
    scaler = StandardScaler().fit(X[train][:, features])
    machine = make_judge().fit(scaler.transform(X[train][:, features]), y[train])
    answers = machine.predict(scaler.transform(X[test][:, features]))
    return sum(a != b for a, b in zip(answers, y[test], strict=True)) / len(test)


def honest(make_selector, make_judge, X, y, splits, sizes):
    """A row for each split: errors with features ranked in its training part."""
    table = []
    for train, test in splits:
        order = ranked(make_selector, X[train], y[train])
        table.append([error(make_judge, X, y, train, test, order[:size]) for size in sizes])
    return table


def apparent(make_selector, make_judge, X, y, splits, sizes):
    """The same with the features ranked once, on everything."""
    order = ranked(make_selector, X, y)
    return [
        [error(make_judge, X, y, train, test, order[:size]) for size in sizes]
        for train, test in splits
    ]


def best_size(table, sizes):
    """Least mean error; the smallest of equals."""
    means = [sum(column) / len(column) for column in zip(*table, strict=True)]
    return min(s for s, m in zip(sizes, means, strict=True) if m <= min(means) + 1e-12)


def nested(make_selector, make_judge, X, y, splits, inner, sizes):
    """Size and error of each split; ``inner[k]`` are splits of the training part of split ``k``."""
    found = []
    for (train, test), inside in zip(splits, inner, strict=True):
        part, labels = X[train], y[train]
        size = best_size(honest(make_selector, make_judge, part, labels, inside, sizes), sizes)
        order = ranked(make_selector, part, labels)
        found.append((size, error(make_judge, X, y, train, test, order[:size])))
    return found


def nested_with_grid(make_selector, judges, X, y, splits, inner, sizes):
    """The same with several judges to choose from, for each size, by the same inner splits."""
    found = []
    for (train, test), inside in zip(splits, inner, strict=True):
        part, labels = X[train], y[train]
        tables = [honest(make_selector, judge, part, labels, inside, sizes) for judge in judges]
        means = np.array(tables).mean(axis=1)
        chosen = means.argmin(axis=0)
        size = best_size(
            [[tables[c][k][s] for s, c in enumerate(chosen)] for k in range(len(inside))], sizes
        )
        order = ranked(make_selector, part, labels)
        curve = [
            error(judges[c], X, y, train, test, order[:s])
            for c, s in zip(chosen, sizes, strict=True)
        ]
        found.append((size, curve[list(sizes).index(size)], curve))
    return found


def nadeau_bengio(errors, n_train, n_test, quantile):
    """Mean and ends of the interval, as the formula is written."""
    J = len(errors)
    mean = sum(errors) / J
    variance = sum((e - mean) ** 2 for e in errors) / (J - 1)
    half = quantile * math.sqrt((1 / J + n_test / n_train) * variance)
    return mean, mean - half, mean + half
