"""Kernels beside their oracles: what several test files run over."""

from __future__ import annotations

import numpy as np

from tamiz.kernels import RBF, Linear, Polynomial, QuadraticForm, Sigmoid
from tests.naive import kernels as naive

P = 4
_ROOT = np.random.default_rng(7).normal(size=(P, P))
B = (_ROOT @ _ROOT.T).round(3)
B = (B + B.T) / 2

ELEMENTARY = {
    "linear": (Linear(), naive.linear()),
    "poly1": (Polynomial(degree=1, gamma=0.7, coef0=0.0), naive.polynomial(1, 0.7, 0.0)),
    "poly2": (Polynomial(degree=2), naive.polynomial(2, 1.0, 1.0)),
    "poly5": (Polynomial(degree=5, gamma=0.3, coef0=0.4), naive.polynomial(5, 0.3, 0.4)),
    "rbf": (RBF(gamma=0.4), naive.rbf(0.4)),
    "rbf_width": (RBF(width=2.0), naive.rbf(0.125)),
    "sigmoid": (Sigmoid(gamma=0.3, coef0=-0.2), naive.sigmoid(0.3, -0.2)),
    "quadratic": (QuadraticForm(B), naive.quadratic_form(B)),
}

_rbf, _poly, _linear = RBF(gamma=0.4), Polynomial(degree=2), Linear()
_f_rbf, _f_poly, _f_linear = naive.rbf(0.4), naive.polynomial(2, 1.0, 1.0), naive.linear()

COMPOSITE = {
    "sum": (_rbf + _poly, naive.total(_f_rbf, _f_poly)),
    "scaled": (2.5 * _poly, naive.multiple(2.5, _f_poly)),
    "product": (_rbf * _poly, naive.product(_f_rbf, _f_poly)),
    "exp": ((0.1 * _linear).exp(), naive.exponential(naive.multiple(0.1, _f_linear))),
    "poly_of": (_rbf.poly([0.5, 0.0, 2.0]), naive.polynomial_of(_f_rbf, [0.5, 0.0, 2.0])),
    "quadratic_product": (
        QuadraticForm(B) * _rbf,
        naive.product(naive.quadratic_form(B), _f_rbf),
    ),
    "nested": (
        (0.5 * _rbf + 0.1 * (_linear * Sigmoid(gamma=0.2))).poly([1, 1]),
        naive.polynomial_of(
            naive.total(
                naive.multiple(0.5, _f_rbf),
                naive.multiple(0.1, naive.product(_f_linear, naive.sigmoid(0.2, 0.0))),
            ),
            [1, 1],
        ),
    ),
}

ALL = ELEMENTARY | COMPOSITE


def samples(n=13, seed=0, p=P):
    """A few samples of moderate size."""
    return np.random.default_rng(seed).normal(size=(n, p))


def close(actual, expected, tol):
    """Largest difference relative to the largest expected value is at most tol."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape
    assert np.array_equal(np.isnan(actual), np.isnan(expected))
    size = max(1e-300, float(np.nanmax(np.abs(expected), initial=0.0)))
    gap = float(np.nanmax(np.abs(actual - expected), initial=0.0))
    assert gap <= tol * size, f"differs by {gap:.3g}, largest value {size:.3g}"
