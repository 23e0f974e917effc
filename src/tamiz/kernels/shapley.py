r"""Shapley values of a kernel expansion, exact for kernels of distances and inner products.

The value of feature ``j`` at a sample ``x`` is its mean contribution, over all orders in which
features can become known, to ``v(S)``, the value of ``f(x) = sum_s c_s K(x, s)`` when the features
``S`` are known. What stands for the others says :class:`Absent`. With every other feature known
with probability ``t``, independently,

.. math::

    \phi_j = \int_0^1 E_t[v(S \cup j) - v(S)] \, dt .

*Radial kernel.* A term is a product of factors, ``a_l`` of known features, ``b_l`` of absent ones:

.. math::

    \phi_j = (a_j - b_j) \int_0^1 \prod_{l \ne j} ((1 - t) b_l + t a_l) \, dt ,

the integral of a polynomial of degree ``p - 1``, for which ``ceil(p / 2)`` nodes of Gauss and
Legendre are exact. All its factors are positive, so nothing cancels, and products that leave one
out are made without division, so that factors may be zero. Fewer nodes do where a bound on an
ellipse around [0, 1] proves that the rest is below rounding: a factor is at most
``max(a + (a - b) r, b + (b - a) r)`` in size there, ``r = (R - 1) / 2``, where ``R`` is the mean
of ``rho``, which says how large the ellipse is, and ``1 / rho``; with the product ``M`` of these,
``m`` nodes err by at most ``M (32 / 15) rho^(-2m) / (1 - rho^-2)``.

*Powers of the inner product.* With the terms ``D_l = gamma (x_l - z_l) s_l`` and
``A = constant + gamma <z, s>``,
``v(S) = (A + sum_S D_l) ** d = d! [tau^d] exp(tau (A + sum_S D_l))``.
The expectation of the exponential is a product again, whose logarithm has the coefficients
``K_n(t) P_n / n!`` with ``P_n = sum_l D_l ** n`` and the cumulants ``K_n`` of a Bernoulli variable,
``K_1 = t`` and ``K_{n+1} = t (1 - t) K_n'``. With
``G = exp(tau A) prod_l (1 + t (e^{tau D_l} - 1))``,

.. math::

    \phi_j = d! \sum_{n=1}^d D_j^n \int_0^1 \frac{K_n'(t)}{n!} \, [\tau^{d-n}] G \, dt ,

for which ``ceil(d / 2)`` nodes are exact: matrix products and little else.

References
----------
.. [1] L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games 2.
.. [2] G. Owen (1972). Multilinear extensions of games. Management Science 18.
.. [3] L. N. Trefethen (2008). Is Gauss quadrature better than Clenshaw-Curtis? SIAM Review 50.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial as Series
from scipy.special import roots_legendre

from tamiz.kernels.base import Kernel, PairwiseForm
from tamiz.kernels.compiled import exp_double
from tamiz.kernels.vectors import (
    LANES,
    greater,
    lane,
    load,
    multiply,
    multiply_add,
    spread,
    store,
    subtract,
)
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.validation import TOO_LARGE

#: Nodes that are worked on at a time.
AT_ONCE = 4
#: Degrees beyond this lose digits to alternating cumulants.
HIGHEST_DEGREE = 8
#: Ellipses on which products are bounded, by the mean of rho and 1 / rho.
_RADII = np.array([1.15, 1.6, 3.0, 8.0, 24.0])
_NEGLIGIBLE = 2.0**-54  # beside kernel values of up to 1
_ROOM = 2**22  # numbers in a table of intermediate values


class ExpansionShapley(NamedTuple):
    """Shapley values (samples, features, machines), and the value when no feature is known."""

    values: np.ndarray
    base: np.ndarray


class Absent(ABC):
    """What stands for features that are not known.

    Parameters
    ----------
    background : array of shape (n_background, n_features)
        Samples that absent features are taken from.
    """

    def __init__(self, background: np.ndarray):
        self.background = background

    @abstractmethod
    def points(self, table: np.ndarray) -> np.ndarray:
        """What takes the place of absent features in inner products, given that of the samples."""

    @abstractmethod
    def factors(self, vectors: np.ndarray, gamma: float) -> np.ndarray | None:
        """Factors of absent features (features, vectors); None if each sample has its own."""


class Interventional(Absent):
    """The values of each sample of the background in turn: ``v(S) = mean_z f(x_S, z_notS)``."""

    def points(self, table: np.ndarray) -> np.ndarray:
        return table

    def factors(self, vectors: np.ndarray, gamma: float) -> np.ndarray | None:
        return None


class KernelMean(Absent):
    """The mean over the background of the feature's factor, or term, in every kernel value."""

    def points(self, table: np.ndarray) -> np.ndarray:
        return table.mean(axis=0, keepdims=True)

    def factors(self, vectors: np.ndarray, gamma: float) -> np.ndarray | None:
        means = np.empty(vectors.shape[::-1])
        for j in range(len(means)):
            levels, counts = np.unique(self.background[:, j], return_counts=True)
            step = max(1, _ROOM // max(1, len(vectors)))
            means[j] = sum(
                counts[k : k + step]
                @ np.exp(-gamma * np.square(levels[k : k + step, None] - vectors[:, j]))
                for k in range(0, len(levels), step)
            )
        return means / len(self.background)


class LeftOut(Absent):
    """Nothing: the kernel is that of the known features, as eliminations leave features out."""

    def points(self, table: np.ndarray) -> np.ndarray:
        return np.zeros((1, table.shape[1]))

    def factors(self, vectors: np.ndarray, gamma: float) -> np.ndarray | None:
        return np.ones(vectors.shape[::-1])


def has_exact_values(kernel: Kernel) -> bool:
    """Whether :func:`expansion_shapley` knows the kernel.

    Examples
    --------
    >>> from tamiz.kernels import RBF, Linear, Sigmoid
    >>> has_exact_values(RBF(gamma=1.0) + 0.5 * Linear()), has_exact_values(Sigmoid(gamma=1.0))
    (True, False)
    """
    forms = kernel.pairwise_sum
    return forms is not None and all(
        form.radial or form.degree <= HIGHEST_DEGREE for _, form in forms
    )


def expansion_shapley(
    kernel: Kernel,
    X: np.ndarray,
    vectors: np.ndarray,
    coef: np.ndarray,
    absent: Absent,
    own: float = 0.0,
) -> ExpansionShapley:
    """Shapley values of ``sum_s coef_s K(x, s) + own K(x, x)`` at the rows of ``X``.

    Parameters
    ----------
    kernel : Kernel
        A sum of radial kernels and powers of inner products, with all its numbers.
    X : array of shape (n, p)
        Samples.
    vectors : array of shape (m, p)
        Support vectors.
    coef : array of shape (machines, m)
        Their coefficients.
    absent : Absent
        What stands for features that are not known.
    own : float, default=0.0
        Factor of ``K(x, x)``.

    Returns
    -------
    ExpansionShapley

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.kernels import Polynomial
    >>> from tamiz.kernels.shapley import Interventional, expansion_shapley
    >>> X, zero = np.array([[1.0, 2.0]]), Interventional(np.zeros((1, 2)))
    >>> found = expansion_shapley(Polynomial(2), X, np.ones((1, 2)), np.ones((1, 1)), zero)
    >>> found.values[0, :, 0].round(9).tolist(), found.base.tolist()  # (1 + 1 + 2)² - 1 = 15
    ([5.0, 10.0], [1.0])
    """
    forms = kernel.pairwise_sum
    if forms is None or not has_exact_values(kernel):
        raise ValueError(
            f"{kernel!r} is no sum of radial kernels and powers of inner products up to "
            f"{HIGHEST_DEGREE}, so its Shapley values are not known exactly."
        )
    values = np.zeros((*X.shape, len(coef)))
    base = np.zeros(len(coef))
    with np.errstate(over="ignore", invalid="ignore"):
        for weight, form in forms:
            if len(vectors):
                if form.radial:
                    part = _radial_shapley(form, X, vectors, coef, absent)
                else:
                    points = absent.points(absent.background)
                    part = _power_shapley(form, X, vectors, coef, points)
                values += weight * part.values
                base += weight * part.base
            if own and form.radial:  # K(x, x) is 1
                base += own * weight
            elif own:
                ones = np.ones((1, X.shape[1])), np.ones((1, 1))
                squares = absent.points(np.square(absent.background))
                part = _power_shapley(form, np.square(X), *ones, squares)
                values += own * weight * part.values
                base += own * weight * part.base
    if not (np.isfinite(values).all() and np.isfinite(base).all()):
        raise ValueError(TOO_LARGE)
    return ExpansionShapley(values, base)


# ---------------------------------------------------------------------------- powers


def _power_shapley(
    form: PairwiseForm, X: np.ndarray, vectors: np.ndarray, coef: np.ndarray, points: np.ndarray
) -> ExpansionShapley:
    gamma, degree = float(form.gamma), form.degree
    start = form.constant + gamma * (points @ vectors.T)
    base = np.mean(start**degree, axis=0) @ coef.T
    if degree == 1:
        weights = gamma * (coef @ vectors)
        values = (X - points.mean(axis=0))[:, :, None] * weights.T
        return ExpansionShapley(values, base)
    rule = _cumulant_rule(degree)
    powers = [vectors**n for n in range(1, degree + 1)]
    values = np.zeros((*X.shape, len(coef)))
    step = max(1, _ROOM // (len(vectors) * (degree + 2)))
    for i, x in enumerate(X):
        for k in range(0, len(points), step):
            steps = gamma * (x - points[k : k + step])
            sums = [steps**n @ power.T for n, power in enumerate(powers, 1)]
            shares = _shares(start[k : k + step], sums, rule)
            for n, (power, share) in enumerate(zip(powers, shares, strict=True), 1):
                for c, own in enumerate(coef):
                    values[i, :, c] += np.einsum(
                        "kj,kj->j", steps**n, share @ (own[:, None] * power)
                    )
    return ExpansionShapley(values / len(points), base)


class _CumulantRule(NamedTuple):
    weights: np.ndarray  # of the nodes, times the factorial of the degree
    cumulants: np.ndarray  # K_n at the nodes, divided by (n - 1)!
    slopes: np.ndarray  # K_n' at the nodes, divided by n!


def _cumulant_rule(degree: int) -> _CumulantRule:
    nodes, weights = roots_legendre((degree + 1) // 2)
    t = (nodes + 1.0) / 2.0
    cumulants, slopes = [], []
    K = Series([0.0, 1.0])
    for n in range(1, degree + 1):
        cumulants.append(K(t) / math.factorial(n - 1))
        slopes.append(K.deriv()(t) / math.factorial(n))
        K = Series([0.0, 1.0, -1.0]) * K.deriv()
    whole = math.factorial(degree) * weights / 2.0
    return _CumulantRule(whole, np.array(cumulants), np.array(slopes))


def _shares(start: np.ndarray, sums: list[np.ndarray], rule: _CumulantRule) -> list[np.ndarray]:
    """What each power of a feature's term is multiplied by."""
    degree = len(sums)
    shares = [np.zeros_like(start) for _ in sums]
    for k, weight in enumerate(rule.weights):
        logs = [rule.cumulants[n, k] * sums[n] for n in range(degree)]  # n times the coefficients
        logs[0] = logs[0] + start
        G = [np.ones_like(start)]
        for n in range(1, degree):
            G.append(sum(logs[m - 1] * G[n - m] for m in range(1, n + 1)) / n)
        for n in range(1, degree + 1):
            shares[n - 1] += weight * rule.slopes[n - 1, k] * G[degree - n]
    return shares


# ---------------------------------------------------------------------------- radial kernels


class _RadialTerms(NamedTuple):
    """Support vectors in tiles, and what stands for absent features: samples or factors."""

    blocks: np.ndarray  # (tiles, features, lanes)
    weights: np.ndarray  # (tiles * lanes, machines); zero beyond the last vector
    gamma: float
    background: np.ndarray  # empty if the factors are given
    given: np.ndarray  # factors as blocks, or empty


def _radial_shapley(
    form: PairwiseForm, X: np.ndarray, vectors: np.ndarray, coef: np.ndarray, absent: Absent
) -> ExpansionShapley:
    gamma = float(form.gamma)
    table = absent.factors(vectors, gamma)
    tiles = -(-len(vectors) // LANES)
    padded = np.minimum(np.arange(tiles * LANES), len(vectors) - 1)
    weights = np.zeros((tiles * LANES, len(coef)))
    weights[: len(vectors)] = coef.T
    Z, given = np.empty((0, X.shape[1])), np.empty((0, X.shape[1], LANES))
    if table is None:
        Z = np.ascontiguousarray(absent.background)
        base = np.zeros(len(coef))
        for z in Z:
            base += coef @ np.exp(-gamma * np.square(vectors - z).sum(axis=1))
        base /= len(Z)
    else:
        given = _in_tiles(table[:, padded])
        base = coef @ table.prod(axis=0)
    values = np.zeros((*X.shape, len(coef)))
    terms = _RadialTerms(_in_tiles(vectors[padded].T), weights, gamma, Z, given)
    X = np.ascontiguousarray(X)
    run_tiles(_radial_rows, len(X), X, terms, _rules(X.shape[1]), values, max_items=16)
    return ExpansionShapley(values / max(1, len(Z)), base)


def _in_tiles(table: np.ndarray) -> np.ndarray:
    """(features, vectors) as (tiles, features, lanes)."""
    p, n = table.shape
    return np.ascontiguousarray(table.reshape(p, n // LANES, LANES).transpose(1, 0, 2))


class _Rules(NamedTuple):
    """Numbers of nodes to choose from, a multiple of four; the last is exact, or as good."""

    nodes: np.ndarray  # (rules, nodes)
    weights: np.ndarray  # (rules, nodes)
    limits: np.ndarray  # (ellipses, rules): bounds on the factors for which a rule will do


def _rules(p: int) -> _Rules:
    """The rules for ``p`` features.

    Products of factors between 0 and 1 are at most ``R ** p`` on an ellipse, so that
    ``4.4 sqrt(p)`` nodes and a few will do for any, to rounding.
    """
    most = max(1, min((p + 1) // 2, math.ceil(4.4 * math.sqrt(p)) + 8))
    most += -most % AT_ONCE
    sizes = [m for m in (4, 8, 12, 16, 20, 24, 32, 48, 64, 96) if m < most]
    sizes.append(most)
    nodes, weights = np.zeros((len(sizes), most)), np.zeros((len(sizes), most))
    for k, m in enumerate(sizes):
        x, w = roots_legendre(m)
        nodes[k, :m], weights[k, :m] = (x + 1.0) / 2.0, w / 2.0
    rho = (_RADII + np.sqrt(np.square(_RADII) - 1.0))[:, None]
    with np.errstate(over="ignore"):
        limits = _NEGLIGIBLE * (15.0 / 32.0) * (1.0 - rho**-2) * rho ** (2.0 * np.array(sizes))
    return _Rules(nodes, weights, limits)


@njit(cache=True, nogil=True)
def _radial_rows(start: Any, stop: Any, X: Any, terms: Any, rules: Any, out: Any) -> None:
    """Add up the values of the rows ``start`` to ``stop``, over support vectors and background."""
    blocks, weights, gamma, Z, given = terms
    tiles, p, _ = blocks.shape
    n_absent = max(1, len(Z))
    size = max(1, min(n_absent, 2**15 // (p * LANES)))  # a quarter of a megabyte
    known, total = np.empty((p, LANES)), np.empty((p, LANES))
    absent = np.empty((size, p, LANES))
    prefix = np.empty((p, AT_ONCE * LANES))
    for tile in range(tiles):
        for first in range(0, n_absent, size):
            last = min(n_absent, first + size)
            for k in range(first, last):
                if len(given):
                    absent[k - first] = given[tile]
                else:
                    _factors(Z[k], blocks[tile], gamma, absent[k - first])
            for i in range(start, stop):
                _factors(X[i], blocks[tile], gamma, known)
                total[:] = 0.0
                ellipse = _best_ellipse(known, absent[0], rules)
                for k in range(last - first):
                    _add_pair(known, absent[k], rules, ellipse, prefix, total)
                for j in range(p):
                    for c in range(weights.shape[1]):
                        for l in range(LANES):
                            out[i, j, c] += weights[tile * LANES + l, c] * total[j, l]


@njit(cache=True, nogil=True)
def _factors(x: Any, vectors: Any, gamma: Any, out: Any) -> None:
    for j in range(len(x)):
        for l in range(LANES):
            gap = x[j] - vectors[j, l]
            out[j, l] = exp_double(-gamma * gap * gap)


@njit(cache=True, nogil=True)
def _best_ellipse(known: Any, absent: Any, rules: Any) -> Any:
    """The ellipse that asks for the fewest nodes; it will do for other backgrounds."""
    best, fewest = 0, rules.limits.shape[1]
    for ellipse in range(len(_RADII)):
        here = _rule_of(known, absent, rules, ellipse)
        if here < fewest:
            best, fewest = ellipse, here
    return best


@njit(cache=True, nogil=True)
def _rule_of(known: Any, absent: Any, rules: Any, ellipse: Any) -> Any:
    """The rule with the fewest nodes that leaves an error below rounding, by the bound."""
    half = spread((_RADII[ellipse] - 1.0) / 2.0)
    minus = spread((1.0 - _RADII[ellipse]) / 2.0)
    product = spread(1.0)
    for j in range(len(known)):
        a, b = load(known, j * LANES), load(absent, j * LANES)
        gap = subtract(a, b)
        beyond = greater(multiply_add(half, gap, a), multiply_add(minus, gap, b))
        product = multiply(product, beyond)
    largest = 0.0
    for l in range(LANES):
        largest = max(largest, lane(product, l))
    last = rules.limits.shape[1] - 1
    for which in range(last):
        if largest <= rules.limits[ellipse, which]:
            return which
    return last


@njit(cache=True, nogil=True)
def _add_pair(known: Any, absent: Any, rules: Any, ellipse: Any, prefix: Any, total: Any) -> None:
    """Add the values of one sample and one of the background, four nodes at once.

    From the first feature to the last, ``prefix`` keeps the products of the factors before each;
    on the way back they meet the products of those behind.
    """
    which, p = _rule_of(known, absent, rules, ellipse), len(known)
    nodes, weights = rules.nodes[which], rules.weights[which]
    for first in range(0, len(nodes), AT_ONCE):
        if weights[first] == 0.0:  # the rule has no more
            break
        t0, t1 = spread(nodes[first]), spread(nodes[first + 1])
        t2, t3 = spread(nodes[first + 2]), spread(nodes[first + 3])
        run0, run1 = spread(weights[first]), spread(weights[first + 1])
        run2, run3 = spread(weights[first + 2]), spread(weights[first + 3])
        for j in range(p):
            at = j * AT_ONCE * LANES
            store(prefix, at, run0)
            store(prefix, at + LANES, run1)
            store(prefix, at + 2 * LANES, run2)
            store(prefix, at + 3 * LANES, run3)
            other = load(absent, j * LANES)
            gap = subtract(load(known, j * LANES), other)
            run0 = multiply(run0, multiply_add(t0, gap, other))
            run1 = multiply(run1, multiply_add(t1, gap, other))
            run2 = multiply(run2, multiply_add(t2, gap, other))
            run3 = multiply(run3, multiply_add(t3, gap, other))
        run0 = run1 = run2 = run3 = spread(1.0)
        for k in range(p):
            j = p - 1 - k
            at = j * AT_ONCE * LANES
            other = load(absent, j * LANES)
            gap = subtract(load(known, j * LANES), other)
            part = multiply(load(prefix, at), run0)
            part = multiply_add(load(prefix, at + LANES), run1, part)
            part = multiply_add(load(prefix, at + 2 * LANES), run2, part)
            part = multiply_add(load(prefix, at + 3 * LANES), run3, part)
            store(total, j * LANES, multiply_add(gap, part, load(total, j * LANES)))
            run0 = multiply(run0, multiply_add(t0, gap, other))
            run1 = multiply(run1, multiply_add(t1, gap, other))
            run2 = multiply(run2, multiply_add(t2, gap, other))
            run3 = multiply(run3, multiply_add(t3, gap, other))
