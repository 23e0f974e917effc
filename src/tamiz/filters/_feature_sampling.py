"""Which features Nyström's method samples.

References
----------
.. [1] K. Zhang, I. Tsang, J. Kwok (2008). Improved Nyström low-rank approximation and error
       analysis. ICML.
.. [2] A. Alaoui, M. Mahoney (2015). Fast randomized kernel ridge regression with statistical
       guarantees. NIPS 28.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from tamiz.filters._similarity import Similarity, standardised

_ROUNDING = 1e-10
_KMEANS_ROUNDS = 10


def sample_features(
    similarity: Similarity, k: int, sampling: str, rng: np.random.RandomState
) -> np.ndarray:
    """Choose ``k`` features, sorted."""
    return np.sort(_SAMPLINGS[sampling](similarity, k, rng))


def _uniform(similarity: Similarity, k: int, rng: np.random.RandomState) -> np.ndarray:
    return rng.choice(similarity.n, k, replace=False)


def _kmeans(similarity: Similarity, k: int, rng: np.random.RandomState) -> np.ndarray:
    """The features nearest to the centres of ``k`` clusters of features.

    Features are unit vectors; a feature and its negative carry the same information, so a cluster
    gathers what correlates with its centre with either sign.
    """
    Z = standardised(similarity.points())[0].T
    chosen = rng.choice(len(Z), k, replace=False)
    centres = Z[chosen]
    for _ in range(_KMEANS_ROUNDS):
        product = Z @ centres.T
        cluster = np.abs(product).argmax(axis=1)
        sign = np.where(product[np.arange(len(Z)), cluster] < 0.0, -1.0, 1.0)
        members = sparse.csr_array((sign, (cluster, np.arange(len(Z)))), shape=(k, len(Z)))
        centres = members @ Z
        length = np.linalg.norm(centres, axis=1)
        empty = length == 0.0
        centres[empty] = Z[rng.choice(len(Z), int(empty.sum()), replace=False)]
        centres /= np.where(empty, 1.0, length)[:, None]
    near = np.abs(centres @ Z.T)
    taken = np.zeros(len(Z), dtype=bool)
    picks = np.empty(k, dtype=np.intp)
    for c in range(k):  # each feature once, even if two centres meet in it
        picks[c] = np.where(taken, -1.0, near[c]).argmax()
        taken[picks[c]] = True
    return picks


def _leverage(similarity: Similarity, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Draw features with probability in proportion to their ridge leverage.

    With the standardised features as columns of ``Z``, the leverage of feature j is
    ``z_j'(ZZ' + ridge I)^(-1) z_j``; the ridge is such that they sum to ``k`` or, where the rank
    is smaller, to half of it.
    """
    Z = standardised(similarity.points())[0]
    wide = Z.shape[0] <= Z.shape[1]
    values, vectors = linalg.eigh(Z @ Z.T if wide else Z.T @ Z, check_finite=False)
    positive = values > _ROUNDING * values[-1]
    values, vectors = values[positive], vectors[:, positive]
    wanted = min(float(k), 0.5 * len(values))
    low, high = 1e-12 * values[-1], float(values.sum()) / wanted
    for _ in range(60):  # the sum falls as the ridge grows
        ridge = float(np.sqrt(low * high))
        if (values / (values + ridge)).sum() > wanted:
            low = ridge
        else:
            high = ridge
    if wide:
        leverage = np.einsum("ij,i->j", (vectors.T @ Z) ** 2, 1.0 / (values + ridge))
    else:
        leverage = np.einsum("ij,j->i", vectors**2, values / (values + ridge))
    leverage = np.maximum(leverage, 1e-12 * leverage.max())
    return rng.choice(len(leverage), k, replace=False, p=leverage / leverage.sum())


_SAMPLINGS = {"uniform": _uniform, "kmeans": _kmeans, "leverage": _leverage}
