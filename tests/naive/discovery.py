"""Slow versions of what tamiz.discovery does: halves, frequencies, bounds, adjusted p-values."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone


def halves(units_by_class, seed, b):
    """Pair number ``b`` of disjoint halves of units, classes in proportion."""
    random = np.random.default_rng([seed, b])
    first, second, rest = [], [], []
    for units in units_by_class:
        mixed = random.permutation(units)
        h = len(mixed) // 2
        first += list(mixed[:h])
        second += list(mixed[h : 2 * h])
        rest += list(mixed[2 * h :])
    mixed = random.permutation(rest)
    h = len(mixed) // 2
    return sorted(first + list(mixed[:h])), sorted(second + list(mixed[h : 2 * h]))


def frequencies(selector, X, y, n_pairs, seed):
    """Fraction of the halves in which a selector selects each feature, columns in any order."""
    classes = [np.flatnonzero(y == label) for label in np.unique(y)]
    count = np.zeros(X.shape[1])
    for b in range(n_pairs):
        for side, rows in enumerate(halves(classes, seed, b)):
            columns = np.random.default_rng([seed, b, side]).permutation(X.shape[1])
            part = np.array([[X[i, j] for j in columns] for i in rows])
            fitted = clone(selector).fit(part, y[rows])
            selected = (fitted[-1] if hasattr(fitted, "steps") else fitted).get_support()
            for place, j in enumerate(columns):
                count[j] += selected[place]
    return count / (2 * n_pairs)


def largest_tail(mean, t, n, r, starts=12):
    """Largest P(X ≥ t) of the r-concave X on 0, …, n with this mean or less: no theory, a solver.

    On each support ``low, …, top`` the function f^r is any convex sequence of positive numbers: its
    first value, its first slope and non-negative bends. Scale is free, so that f is normalised.
    """
    random = np.random.default_rng(0)
    best = 0.0
    for low, top in itertools.combinations(range(n + 1), 2):
        if top < t:
            continue
        i = np.arange(low, top + 1)
        hinges = np.array([np.maximum(i - knot, 0) for knot in range(low + 1, top)])

        def convex(free, i=i, low=low, hinges=hinges):
            bends = free[2:] @ hinges if len(hinges) else 0.0
            return free[0] + free[1] * (i - low) + bends

        def f(free, convex=convex):
            value = np.maximum(convex(free), 1e-9) ** (1 / r)
            return value / value.sum()

        for _ in range(starts):
            begin = np.concatenate([10 ** random.uniform(-2, 1, 1), random.uniform(0, 2, 1)])
            begin = np.concatenate([begin, random.exponential(0.3, len(hinges))])
            found = minimize(
                lambda free, i=i, f=f: -f(free)[i >= t].sum(),
                begin,
                method="SLSQP",
                bounds=[(None, 50.0), (-50.0, 50.0)] + [(0.0, 1e4)] * len(hinges),
                constraints=[
                    {"type": "ineq", "fun": lambda free, convex=convex: convex(free) - 1e-3},
                    {"type": "ineq", "fun": lambda free, i=i, f=f: mean - f(free) @ i},
                ],
                options={"maxiter": 100, "ftol": 1e-12},
            )
            valid = f(found.x) @ i <= mean + 1e-7 and (convex(found.x) > 0).all()
            if valid and (found.x[2:] >= -1e-9).all():
                best = max(best, -found.fun)
    return best


# ------------------------------------------------------------------------------------- p-values


def holm(p):
    """Step down: the k-th smallest times the number of those not smaller, never decreasing."""
    m, out, worst = len(p), np.empty(len(p)), 0.0
    for k, j in enumerate(sorted(range(m), key=lambda j: p[j])):
        worst = max(worst, min(1.0, (m - k) * p[j]))
        out[j] = worst
    return out


def q_values(p, pi0):
    """Least estimated rate of all cuts that select the feature."""
    m = len(p)
    return np.array(
        [min(min(1.0, m * t / sum(x <= t for x in p)) for t in p if t >= own) * pi0 for own in p]
    )


def permuted(scores, shuffled):
    """p-values, step-down maxT and rates of a list of shuffled scores, by loops."""
    m, p = len(shuffled), len(scores)
    alone = [(1 + sum(s[j] >= scores[j] for s in shuffled)) / (1 + m) for j in range(p)]
    maxt = np.empty(p)
    rate = np.empty(p)
    for j in range(p):
        higher = [i for i in range(p) if scores[i] >= scores[j]]
        worst = 0.0
        for i in higher:
            left = [k for k in range(p) if scores[k] <= scores[i]]
            as_high = sum(max(s[k] for k in left) >= scores[i] for s in shuffled)
            worst = max(worst, (1 + as_high) / (1 + m))
        maxt[j] = worst
        cuts = [t for t in scores if t <= scores[j]]
        rate[j] = min(
            min(1.0, np.mean([(s >= t).sum() for s in [*shuffled, scores]]) / (scores >= t).sum())
            for t in cuts
        )
    return np.array(alone), maxt, rate
