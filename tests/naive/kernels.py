"""Kernels the slow and obvious way: plain Python numbers, one pair of samples at a time."""

from __future__ import annotations

import math

import numpy as np


def dot(x, z):
    total = 0.0
    for a, b in zip(x, z, strict=True):
        total += float(a) * float(b)
    return total


def squared_distance(x, z):
    total = 0.0
    for a, b in zip(x, z, strict=True):
        total += (float(a) - float(b)) ** 2
    return total


def linear():
    return dot


def polynomial(degree, gamma, coef0):
    return lambda x, z: (coef0 + gamma * dot(x, z)) ** degree


def rbf(gamma):
    return lambda x, z: math.exp(-gamma * squared_distance(x, z))


def sigmoid(gamma, coef0):
    return lambda x, z: math.tanh(gamma * dot(x, z) + coef0)


def quadratic_form(B):
    def value(x, z):
        total = 0.0
        for i in range(len(x)):
            for j in range(len(z)):
                total += float(x[i]) * float(B[i][j]) * float(z[j])
        return total

    return value


def total(f, g):
    return lambda x, z: f(x, z) + g(x, z)


def multiple(a, f):
    return lambda x, z: a * f(x, z)


def product(f, g):
    return lambda x, z: f(x, z) * g(x, z)


def exponential(f):
    return lambda x, z: math.exp(f(x, z))


def polynomial_of(f, coefficients):
    return lambda x, z: sum(c * f(x, z) ** k for k, c in enumerate(coefficients))


def gram(f, X, Z=None):
    """Kernel values of all pairs of rows."""
    Z = X if Z is None else Z
    return np.array([[f(x, z) for z in Z] for x in X]).reshape(len(X), len(Z))


def feature_distances(f, X, Z):
    """``sqrt(K(x, x) + K(z, z) - 2 K(x, z))`` of all pairs, 0 where the square is negative."""
    return np.array([[max(f(x, x) + f(z, z) - 2 * f(x, z), 0.0) ** 0.5 for z in Z] for x in X])


def scaled(X, scale, without=None):
    """Rows times the factors, with one feature at 0 if asked."""
    factors = [0.0 if j == without else float(s) for j, s in enumerate(scale)]
    return np.array([[float(v) * s for v, s in zip(row, factors, strict=True)] for row in X])


def leave_one_out_norms(f, X, scale, coef):
    """Double sum of c_i c_l K(x_i, x_l) for each feature left out; NaN where the factor is 0."""
    out = []
    for j, factor in enumerate(scale):
        if factor == 0:
            out.append(math.nan)
            continue
        rows = scaled(X, scale, without=j)
        terms = [
            coef[i] * coef[m] * f(rows[i], rows[m])
            for i in range(len(rows))
            for m in range(len(rows))
        ]
        out.append(math.fsum(terms))
    return np.array(out)


def leave_one_out_decisions(f, X, Z, scale, coef):
    """Sum of c_i K(z, x_i) for each new sample and each feature left out."""
    out = np.full((len(Z), len(scale)), math.nan)
    for j, factor in enumerate(scale):
        if factor == 0:
            continue
        rows, new = scaled(X, scale, without=j), scaled(Z, scale, without=j)
        for k in range(len(new)):
            out[k, j] = math.fsum(coef[i] * f(new[k], rows[i]) for i in range(len(rows)))
    return out


def derivative(f, X, scale, j, step=1e-5):
    """Central difference of the Gram matrix by the factor of feature j."""
    up, down = np.array(scale, dtype=float), np.array(scale, dtype=float)
    up[j] += step
    down[j] -= step
    return (gram(f, scaled(X, up)) - gram(f, scaled(X, down))) / (2 * step)
