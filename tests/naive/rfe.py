"""Recursive feature elimination, slow and obvious: train anew, leave each unit out by loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.svm import SVC


def machines(gram, y, C, weight, scheme):
    """``(samples, y * alpha)`` of every binary machine, by scikit-learn, to a tight tolerance.

    At a tighter one LIBSVM may go on for ever, lost in rounding.
    """
    y = np.asarray(y)
    classes = np.unique(y)
    if len(classes) > 2 and scheme == "ovr":
        problems = [(np.arange(len(y)), y == c) for c in classes]
    else:
        problems = []
        for first, second in combinations(classes, 2):
            samples = np.array([i for i in range(len(y)) if y[i] in (first, second)])
            problems.append((samples, y[samples] == second))
    found = []
    for samples, positive in problems:
        svc = SVC(C=C, kernel="precomputed", tol=1e-7, max_iter=500_000)
        svc.fit(gram[np.ix_(samples, samples)], positive, sample_weight=weight[samples])
        c = np.zeros(len(samples))
        c[svc.support_] = svc.dual_coef_[0]
        found.append((samples, c))
    return found


def gram_of(kernel, X, features):
    """Kernel values with all other features at zero; ``kernel`` takes two vectors."""
    Z = np.zeros_like(X)
    Z[:, features] = X[:, features]
    return np.array([[kernel(a, b) for b in Z] for a in Z])


def form(c, gram):
    """Sum of c_i c_l K_il, term by term."""
    total = 0.0
    for i in range(len(c)):
        for l in range(len(c)):
            total += c[i] * c[l] * gram[i, l]
    return total


def margin_changes(kernel, X, y, units, active, C=1.0, weight=None, scheme="ovo"):
    """``sum over machines of |W² - W²_(-u)|`` for each unit of ``active``, alpha held fixed."""
    weight = np.ones(len(y)) if weight is None else weight
    here = sorted(j for u in active for j in units[u])
    whole = gram_of(kernel, X, here)
    trained = machines(whole, y, C, weight, scheme)
    changes = {}
    for u in active:
        rest = [j for j in here if j not in units[u]]
        less = gram_of(kernel, X, rest)
        changes[u] = sum(
            abs(form(c, whole[np.ix_(s, s)]) - form(c, less[np.ix_(s, s)])) for s, c in trained
        )
    return changes


def eliminate(kernel, X, y, units=None, **options):
    """Units in the order in which they leave, one at a time; the last one stays."""
    units = [[j] for j in range(X.shape[1])] if units is None else units
    active = list(range(len(units)))
    gone = []
    while len(active) > 1:
        changes = margin_changes(kernel, X, y, units, active, **options)
        worst = min(active, key=lambda u: (changes[u], -u))
        gone.append(worst)
        active.remove(worst)
    return gone + active
