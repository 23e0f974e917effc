r"""Where the path of the ℓ1 machine begins: the price of slack at which the first weight appears.

With all weights zero, every multiplier of the lighter class is at its bound and those of the
heavier class only have to add up to the same. So ``w = 0`` is optimal at price ``C`` if some choice
of the latter keeps all features within their constraints, and the price at which none does is

.. math::

    C_0 = 1 / \min_\alpha \max_j \Bigl|\sum_i \alpha_i y_i x_{ij}\Bigr| / c_j

over such ``α`` (at ``C = 1``). If both classes weigh the same there is nothing to choose;
otherwise it is a linear program with as few rows as features reach the maximum, which is grown from
those that exceed it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tamiz.solvers.l1.gather import divided, units


def entry_price(X: Any, y: np.ndarray, weight: np.ndarray, c: np.ndarray) -> float:
    """Return the least factor on ``weight`` beyond which some weight is not zero; may be inf."""
    middle, scale = units(X)
    if middle is not None:  # both classes weigh the same in every sum here: it cancels
        X = X - middle
    if scale is not None:
        X, c = divided(X, scale), c / scale
    unit = float(weight.max())  # the tolerances of HiGHS are absolute
    return _least_factor(X, y, weight / unit, c) / unit


def _least_factor(X: Any, y: np.ndarray, weight: np.ndarray, c: np.ndarray) -> float:
    if weight[y > 0].sum() < weight[y < 0].sum():
        y = -y
    heavy, light = y > 0, y < 0
    total = weight[light].sum()
    alpha = np.where(light, weight, weight * total / weight[heavy].sum())
    g = X.T @ (y * alpha)
    rounding = 1e-12 * float(np.max((abs(X).T @ weight) / c, initial=0.0))
    if weight[heavy].sum() <= total * (1.0 + 1e-12):
        return _inverse(float(np.max(np.abs(g) / c)), rounding)
    fixed = X[light].T @ -weight[light]
    rows = X[heavy]
    bounds = [(0.0, w) for w in weight[heavy]] + [(0.0, None)]
    n_heavy = int(heavy.sum())
    J = np.zeros(0, dtype=np.intp)
    level = 0.0
    while True:
        ratio = np.abs(g) / c
        ratio[J] = 0.0
        broken = np.flatnonzero(ratio > level * (1.0 + 1e-9))
        if not len(broken):
            return _inverse(level, rounding)
        J = np.append(J, broken[np.argsort(-ratio[broken])[: max(10, len(J))]])
        part = rows[:, J].T
        part = part.toarray() if sparse.issparse(part) else part
        A = np.block([[part, -c[J][:, None]], [-part, -c[J][:, None]]])
        answer = linprog(
            np.append(np.zeros(n_heavy), 1.0),
            A_ub=A,
            b_ub=np.concatenate([-fixed[J], fixed[J]]),
            A_eq=np.append(np.ones(n_heavy), 0.0)[None],
            b_eq=[total],
            bounds=bounds,
            method="highs",
        )
        if answer.status != 0:  # take what is known: a bound from below on the price
            return _inverse(float(np.max(np.abs(g) / c)), rounding)
        level = float(answer.fun)
        g = rows.T @ answer.x[:-1] + fixed


def _inverse(level: float, rounding: float) -> float:
    """``1/level``; features that do not vary leave rounding only."""
    return np.inf if level <= rounding else 1.0 / level
