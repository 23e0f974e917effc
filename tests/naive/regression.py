"""Selection for a numeric target, slow and obvious: the dual of SVR by a general solver, loops."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from tamiz.embedded.holdout.elimination import stream
from tamiz.embedded.holdout.judges import random_split
from tests.naive.qp import solve_general
from tests.naive.rfe import form, gram_of


def coefficients(gram, y, C, epsilon, weight=None):
    """``a - a*`` and the constant of the regression, from its dual with two variables a sample."""
    n = len(y)
    weight = np.ones(n) if weight is None else weight
    signs = np.repeat([1.0, -1.0], n)
    Q = np.outer(signs, signs) * np.tile(gram, (2, 2))
    p = np.concatenate([epsilon - y, epsilon + y])
    upper = np.tile(C * weight, 2)
    a, _ = solve_general(Q, p, signs, 0.0, np.zeros(2 * n), upper)
    coef = a[:n] - a[n:]
    # at the optimum the residual of a sample strictly between its bounds is +-epsilon
    size = np.abs(coef)
    free = (size > 1e-6 * C * weight) & (size < (1 - 1e-6) * C * weight)
    values = gram @ coef
    constants = [y[i] - values[i] - epsilon * np.sign(coef[i]) for i in range(n) if free[i]]
    return coef, float(np.mean(constants))


def norm_changes(kernel, X, y, units, active, C=1.0, epsilon=0.1, weight=None):
    """``|W² - W²_(-u)|`` for each unit of ``active``, the coefficients held fixed."""
    here = sorted(j for u in active for j in units[u])
    whole = gram_of(kernel, X, here)
    coef, _ = coefficients(whole, y, C, epsilon, weight)
    changes = {}
    for u in active:
        less = gram_of(kernel, X, [j for j in here if j not in units[u]])
        changes[u] = abs(form(coef, whole) - form(coef, less))
    return changes


def eliminate(kernel, X, y, units=None, **options):
    """Units in the order in which they leave, one at a time; the last one stays."""
    units = [[j] for j in range(X.shape[1])] if units is None else units
    active, gone = list(range(len(units))), []
    while len(active) > 1:
        changes = norm_changes(kernel, X, y, units, active, **options)
        worst = min(active, key=lambda u: (changes[u], -u))
        gone.append(worst)
        active.remove(worst)
    return gone + active


def losses(residuals, kind, epsilon):
    """Mean loss, one residual at a time."""
    total = 0.0
    for r in residuals:
        if kind == "squared":
            total += r * r
        elif kind == "absolute":
            total += abs(r)
        else:
            total += max(0.0, abs(r) - epsilon)
    return total / len(residuals)


def hold_out(kernel, X, y, *, seed, held_out, C, epsilon, loss):
    """Hold-out elimination: of each step the loss, the losses without each feature, who goes.

    The random splits are those of the library.
    """
    inside, steps = list(range(X.shape[1])), []
    everyone = [np.arange(len(y))]
    while True:
        rng = stream(seed, len(steps))
        split = random_split(everyone, np.array([held_out]), rng)
        train, test = split.train, split.validation
        gram = gram_of(kernel, X, inside)
        coef, constant = coefficients(gram[np.ix_(train, train)], y[train], C, epsilon)

        def lost(features, train=train, test=test, coef=coef, constant=constant):
            K = gram_of(kernel, X, features)[np.ix_(test, train)]
            return losses(K @ coef + constant - y[test], loss, epsilon)

        present = lost(inside)
        if len(inside) == 1:
            return [*steps, (present, {}, None)]
        without = {j: lost([k for k in inside if k != j]) for j in inside}
        gone = min(without, key=without.get)
        steps.append((present, without, gone))
        inside.remove(gone)


def dual_optimum(gram, y, C, epsilon):
    """The optimum ``½‖w‖² + C Σ ξ`` of the regression, from its dual."""
    coef, _ = coefficients(gram, y, C, epsilon)
    return coef @ y - epsilon * np.abs(coef).sum() - 0.5 * form(coef, gram)


def l1_minimum(X, y, C, epsilon):
    """Least ``Σ C_i (|y_i - f(x_i)| - epsilon)_+ + Σ |w_j|``, by a program in w⁺, w⁻, b, ξ."""
    n, p = X.shape
    cost = np.concatenate([np.ones(2 * p), [0.0], C])
    rows, limits = [], []
    for i in range(n):
        value = np.concatenate([X[i], -X[i], [1.0]])
        slack = np.zeros(n)
        slack[i] = -1.0
        rows += [np.concatenate([-value, slack]), np.concatenate([value, slack])]
        limits += [epsilon - y[i], epsilon + y[i]]
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    return linprog(cost, np.array(rows), limits, bounds=bounds, method="highs-ipm").fun


def mixed_minimum(X, y, C, epsilon, nu):
    """Weights, constant and least ``Σ C_i (|y_i - f| - epsilon)_+ + ½‖w‖² + Σ nu_j |w_j|``.

    A quadratic program in w⁺, w⁻, b, ξ by CVXOPT.
    """
    import cvxopt

    n, p = X.shape
    priced = np.flatnonzero(nu)  # a weight without a penalty is a free w⁺ alone
    parts = np.hstack([np.eye(p), -np.eye(p)[:, priced]])
    m = parts.shape[1]
    size = m + 1 + n
    Q = np.zeros((size, size))
    Q[:m, :m] = parts.T @ parts
    linear = np.concatenate([nu, nu[priced], [0.0], C])
    value = np.hstack([X @ parts, np.ones((n, 1))])
    rows = [np.hstack([-value, -np.eye(n)]), np.hstack([value, -np.eye(n)])]
    signs = -np.eye(size)[np.r_[priced, p:m, m + 1 : size]]
    limits = np.concatenate([epsilon - y, epsilon + y, np.zeros(len(signs))])
    answer = cvxopt.solvers.qp(
        *(cvxopt.matrix(part) for part in (Q, linear, np.vstack([*rows, signs]), limits)),
        options={"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11},
    )
    x = np.array(answer["x"]).ravel()
    w, b = parts @ x[:m], float(x[m])
    return w, b, tube_losses(X, y, C, epsilon, w, b) + 0.5 * w @ w + nu @ np.abs(w)


def tube_losses(X, y, C, epsilon, w, b):
    """``Σ C_i (|y_i - f(x_i)| - epsilon)_+``, one sample at a time."""
    return sum(C[i] * max(0.0, abs(y[i] - float(X[i] @ w) - b) - epsilon) for i in range(len(y)))


def rescaled(X, y, C, epsilon, steps):
    """AROM without a common factor: weights ``z * w`` after so many machines."""
    z = np.ones(X.shape[1])
    for _ in range(steps):
        w, _, _ = mixed_minimum(X * z, y, C, epsilon, np.zeros(len(z)))
        total = z * w
        z = np.abs(total)
    return total


def linearised(X, y, C, epsilon, a, steps):
    """FSV from zero: the concave objective after so many programs, and the weights."""
    n, p = X.shape
    w = np.zeros(p)
    for _ in range(steps):
        slope = a * np.exp(-a * np.abs(w))
        cost = np.concatenate([slope, slope, [0.0], C])
        value = np.hstack([X, -X, np.ones((n, 1))])
        rows = np.vstack([np.hstack([-value, -np.eye(n)]), np.hstack([value, -np.eye(n)])])
        limits = np.concatenate([epsilon - y, epsilon + y])
        bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
        x = linprog(cost, rows, limits, bounds=bounds, method="highs").x
        w, b = x[:p] - x[p : 2 * p], x[2 * p]
    return tube_losses(X, y, C, epsilon, w, b) + np.sum(1 - np.exp(-a * np.abs(w))), w
