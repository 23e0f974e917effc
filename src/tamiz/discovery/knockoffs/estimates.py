r"""Correlations of features where the samples are too few to take theirs.

No estimate is right for all tables. Four are made, and the one is taken under which rows that were
not looked at are most likely (as normal ones; twice a fifth of the rows, by the other four):

- *Ledoit and Wolf*: all correlations are drawn towards none by the same fraction, which is derived.
  Dense and weak correlations.
- *Sparse*: those below ``2 sqrt(log p / n)``, where chance has most of its largest, are taken for
  none, the others as they are [2]_. Neighbours and blocks: each feature goes with few others.
- *Factors*: principal components less the noise in them. A few causes of everything.
- *Both*: factors, and the sparse part of what they leave [3]_.

Where an estimate misses correlations the rate of false discoveries is not kept: the knockoff of a
feature then lacks what its feature shares with a relevant neighbour. With a thousand rows of 2,000
features, of which neighbours have the correlation 0.5, knockoffs by Ledoit and Wolf or by factors
realise 0.3 to 0.4 instead of 0.2, those by the sparse estimate 0.19.

References
----------
.. [1] O. Ledoit, M. Wolf (2004). A well-conditioned estimator for large-dimensional covariance
       matrices. Journal of Multivariate Analysis 88.
.. [2] P. Bickel, E. Levina (2008). Covariance regularization by thresholding. Annals of Statistics
       36.
.. [3] J. Fan, Y. Liao, M. Mincheva (2013). Large covariance estimation by thresholding principal
       orthogonal complements. Journal of the Royal Statistical Society B 75.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from tamiz.validation import require_memory

#: Least part of the variance of a feature that is its own, and not that of the factors.
_LEAST_OWN = 0.02
#: Least eigenvalue of what is estimated.
_LEAST_EIGENVALUE = 0.05
#: Parts of the rows, two of which are left out in turn to compare estimates.
_PARTS = 5
_LESS = 'Use method="lowrank", which needs no such matrix.'


def estimated_correlations(Z: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """Correlations of standardised rows by the best of the estimates, and its name."""
    n, p = Z.shape
    require_memory(48 * p * p, f"The correlations of {p:,} features", _LESS)
    best = "Ledoit-Wolf"
    if p > 1 and n >= _PARTS:
        parts = np.array_split(np.random.default_rng(0).permutation(n), _PARTS)
        losses = dict.fromkeys(ESTIMATES, 0.0)
        for new in parts[:2]:
            A = _standardised(np.delete(Z, new, axis=0))
            for name, estimate in ESTIMATES.items():
                losses[name] += _surprise(estimate(A), Z[new])
        best = min(losses, key=lambda name: losses[name])
    return ESTIMATES[best](Z), {"covariance": best}


def _standardised(Z: np.ndarray) -> np.ndarray:
    spread = Z.std(axis=0)
    return (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _surprise(sigma: np.ndarray, Z: np.ndarray) -> float:
    """Minus twice the mean logarithm of the normal density of the rows, up to a constant."""
    try:
        lower = linalg.cholesky(sigma, lower=True)
    except linalg.LinAlgError:
        return np.inf
    solved = linalg.solve_triangular(lower, Z.T, lower=True)
    return float(2.0 * np.log(np.diag(lower)).sum() + np.square(solved).sum() / len(Z))


_LEAST_DRAWN = 1e-6  # fraction that leaves a matrix which can be inverted


def shrunk_correlations(Z: np.ndarray) -> tuple[np.ndarray, float]:
    """Correlations of standardised rows, drawn towards none as Ledoit and Wolf derive.

    Returns the matrix and how far it was drawn, from 0 (not at all) to 1.
    """
    n, p = Z.shape
    require_memory(32 * p * p, f"The correlations of {p:,} features", _LESS)
    raw = Z.T @ Z / n
    away = float(np.square(raw).sum()) - p  # distance from the identity, squared: the diagonal is 1
    # sum over samples of |z z' - raw|^2 / n^2
    noise = (float(np.square(np.einsum("ij,ij->i", Z, Z)).sum()) / n - np.square(raw).sum()) / n
    # of two rows alone, say, all correlations are 1: they are drawn in as far as they must be
    fraction = 1.0 if away <= 0.0 else min(1.0, max(_LEAST_DRAWN, noise / away))
    shrunk = (1.0 - fraction) * raw
    np.fill_diagonal(shrunk, 1.0)
    return shrunk, fraction


class Factors(NamedTuple):
    """Correlations as a few factors and own parts."""

    loadings: np.ndarray  # (features, factors)
    own: np.ndarray


def factor_correlations(Z: np.ndarray, n_factors: int | None = None) -> Factors:
    """Factors of standardised rows: principal components less the noise in them.

    By default as many as have an eigenvalue above ``(1 + sqrt(p/n))^2``, the largest that
    independent features would show (Marchenko and Pastur), and at most half as many as rows.
    """
    n, p = Z.shape
    require_memory(
        24 * min(n, p) ** 2,
        f"The factors of {p:,} features in {n:,} samples",
        "Use fewer samples, or select features first.",
    )
    if p <= n:
        values, vectors = linalg.eigh(Z.T @ Z / n)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    else:
        values, left = linalg.eigh(Z @ Z.T / n)
        values, left = np.maximum(values[::-1], 0.0), left[:, ::-1]
        scale = np.sqrt(n * np.maximum(values, np.finfo(float).tiny))
        vectors = (Z.T @ left) / scale
    most = max(1, min(n, p) // 2)
    if n_factors is None:
        k = int((values > (1.0 + np.sqrt(p / n)) ** 2).sum())
    else:
        k = n_factors
    k = min(max(k, 1), most)
    noise = max(0.0, (p - float(values[:k].sum())) / max(1, p - k))
    loadings = vectors[:, :k] * np.sqrt(np.maximum(values[:k] - noise, 0.0))
    common = np.square(loadings).sum(axis=1)
    ceiling = 1.0 - _LEAST_OWN
    loadings *= np.sqrt(np.where(common > ceiling, ceiling / np.maximum(common, 1e-300), 1.0))[
        :, None
    ]
    return Factors(np.ascontiguousarray(loadings), 1.0 - np.square(loadings).sum(axis=1))


def sparse_correlations(Z: np.ndarray) -> np.ndarray:
    """Correlations of standardised rows, those that chance may have made left out."""
    return _thresholded(Z.T @ Z / len(Z), len(Z))


def _thresholded(matrix: np.ndarray, n: int) -> np.ndarray:
    """Correlations with the small ones left out, pulled towards none until they are regular."""
    p = len(matrix)
    kept = np.where(np.abs(matrix) > 2.0 * np.sqrt(np.log(p) / n), matrix, 0.0)
    np.fill_diagonal(kept, 1.0)
    least = float(linalg.eigvalsh(kept, subset_by_index=[0, 0])[0])
    if least < _LEAST_EIGENVALUE:
        kept *= (1.0 - _LEAST_EIGENVALUE) / (1.0 - least)
        np.fill_diagonal(kept, 1.0)
    return kept


def _by_factors(Z: np.ndarray) -> np.ndarray:
    factors = factor_correlations(Z)
    return factors.loadings @ factors.loadings.T + np.diag(factors.own)


def _by_both(Z: np.ndarray) -> np.ndarray:
    loadings, own = factor_correlations(Z)
    common = loadings @ loadings.T
    rest = Z.T @ Z / len(Z) - common
    np.fill_diagonal(rest, own)
    scale = np.sqrt(np.outer(own, own))  # what chance makes of the rest is in its own units
    return common + _thresholded(rest / scale, len(Z)) * scale


#: The estimates by name.
ESTIMATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Ledoit-Wolf": lambda Z: shrunk_correlations(Z)[0],
    "sparse": sparse_correlations,
    "factors": _by_factors,
    "factors and sparse": _by_both,
}
