r"""Low-rank stand-ins of a similarity matrix: the subspace of large eigenvalues, and Nyström's.

Subspace: :math:`\tilde Q = \sum_{\lambda_i > \delta} \lambda_i u_i u_i'`.

Nyström: with the rows :math:`[A\ B]` of ``k`` sampled features,

.. math:: \hat Q = [A\ B]' A^+ [A\ B],

which agrees with ``Q`` wherever a sampled feature is involved and puts :math:`B'A^+B` in place of
the rest, ``E``. Only ``k`` rows are computed; the cost is O(NkM) for them and O(k²M) for the
factor. The eigenvalues of ``A`` that are not positive are left out: the text assumes a positive
semi-definite matrix, and the inverse of an eigenvalue near zero would be noise.

References
----------
.. [1] C. Williams, M. Seeger (2001). Using the Nyström method to speed up kernel machines. NIPS 13.
.. [2] P. Drineas, M. Mahoney (2005). On the Nyström method for approximating a Gram matrix for
       improved kernel-based learning. JMLR 6.
.. [3] K. Zhang, I. Tsang, J. Kwok (2008). Improved Nyström low-rank approximation and error
       analysis. ICML.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from tamiz.filters._similarity import Similarity, standardised

#: Eigenvalues below this share of the largest are rounding.
_RELATIVE_FLOOR = 1e-10

#: Features outside the sample whose rows are computed to estimate the error.
_ERROR_ROWS = 64
_KMEANS_ROUNDS = 10

#: An eigenvalue is negative beyond this share of the largest entry times the size.
_DEFINITE = 1e-12
_SMALL = 200
_CHOLESKY_MAX = 4000
_LANCZOS_STEPS = 40


class LowRank(NamedTuple):
    """``U diag(values) U' + diag(shift)`` in place of ``Q``, and how good it is."""

    U: np.ndarray
    values: np.ndarray
    shift: np.ndarray | None  # what restores the diagonal, if asked for
    mean: float  # of the entries of Q, known or estimated
    error: float  # ‖difference‖ / ‖replaced part‖, Frobenius
    error_norm: float  # ‖difference‖
    smallest: float  # least eigenvalue met: of Q, or of A (which is never below that of Q)
    largest: float
    n_left_out: int  # eigenvalues not kept
    n_negative: int
    sample: np.ndarray  # the features whose rows were computed


def subspace(Q: np.ndarray, rank_tol: float) -> LowRank:
    """Keep the eigenvalues above ``rank_tol``."""
    values, vectors = linalg.eigh(Q, check_finite=False)
    keep = values > rank_tol
    lost = float(np.linalg.norm(values[~keep]))
    norm = float(np.linalg.norm(values))
    return LowRank(
        U=vectors[:, keep],
        values=values[keep],
        shift=None,
        mean=float(Q.mean()),
        error=lost / norm if norm > 0 else 0.0,
        error_norm=lost,
        smallest=float(values[0]),
        largest=float(values[-1]),
        n_left_out=int((~keep).sum()),
        n_negative=int((values < -_RELATIVE_FLOOR * abs(values[-1])).sum()),
        sample=np.arange(len(Q)),
    )


def nystroem(
    similarity: Similarity,
    sample: np.ndarray,
    rank_tol: float,
    exact_diagonal: bool,
    rng: np.random.RandomState,
) -> LowRank:
    """Build the approximation from the rows of ``sample``."""
    R = similarity.rows(sample)
    A = R[:, sample]
    values, vectors = linalg.eigh(0.5 * (A + A.T), check_finite=False)
    floor = _RELATIVE_FLOOR * max(float(np.abs(values).max()), np.finfo(float).tiny)
    keep = values > max(rank_tol, floor)
    # [A B]' V λ^(-1/2): weights of one, so that no small eigenvalue is ever divided by twice
    U = R.T @ (vectors[:, keep] / np.sqrt(values[keep]))
    shift = None
    if exact_diagonal:
        shift = np.maximum(similarity.diag() - np.einsum("ij,ij->i", U, U), 0.0)
        shift[sample] = 0.0
    error, norm = _estimate_error(similarity, U, shift, sample, rng)
    return LowRank(
        U=U,
        values=np.ones(U.shape[1]),
        shift=shift,
        mean=float(R.mean()),
        error=error,
        error_norm=norm,
        smallest=float(values[0]),
        largest=float(values[-1]),
        n_left_out=int((~keep).sum()),
        n_negative=int((values < -floor).sum()),
        sample=sample,
    )


def _estimate_error(
    similarity: Similarity,
    U: np.ndarray,
    shift: np.ndarray | None,
    sample: np.ndarray,
    rng: np.random.RandomState,
) -> tuple[float, float]:
    """``‖E - B'A⁺B‖ / ‖E‖`` and ``‖E - B'A⁺B‖``, from some rows of ``E``."""
    rest = np.setdiff1d(np.arange(similarity.n), sample, assume_unique=True)
    if not len(rest):
        return 0.0, 0.0
    some = rest if len(rest) <= _ERROR_ROWS else np.sort(rng.choice(rest, _ERROR_ROWS, False))
    E = similarity.rows(some)
    D = E - U[some] @ U.T
    if shift is not None:
        D[np.arange(len(some)), some] -= shift[some]
    E, D = E[:, rest], D[:, rest]
    lost, norm = float(np.linalg.norm(D)), float(np.linalg.norm(E))
    return (lost / norm if norm > 0 else 0.0), lost * float(np.sqrt(len(rest) / len(some)))


# ------------------------------------------------------------------------------- definiteness


def smallest_eigenvalue(Q: np.ndarray) -> tuple[float, bool | None]:
    """The least eigenvalue of a symmetric matrix, and whether it is negative.

    A large matrix is not decomposed. Lanczos steps give a value that is never below the least
    eigenvalue, so a negative one proves that there is a negative eigenvalue; a Cholesky
    factorisation proves that there is none. ``None`` if neither is affordable.
    """
    n = len(Q)
    floor = _DEFINITE * n * max(float(np.abs(Q).max()), np.finfo(float).tiny)
    if n <= _SMALL:
        value = float(linalg.eigvalsh(Q, subset_by_index=[0, 0], check_finite=False)[0])
        return value, value < -floor
    value = _lanczos(Q, floor)
    if value < -floor:
        return value, True
    if n > _CHOLESKY_MAX:
        return value, None
    shifted = Q.copy()
    shifted.flat[:: n + 1] += floor
    _, info = linalg.lapack.dpotrf(shifted, overwrite_a=True)
    return value, bool(info > 0)


def _lanczos(Q: np.ndarray, floor: float) -> float:
    """Least Ritz value; stops once it is negative and hardly changes."""
    n = len(Q)
    basis = np.empty((_LANCZOS_STEPS, n))
    vector = np.random.RandomState(0).standard_normal(n)
    vector /= np.linalg.norm(vector)
    main, off, ritz = [], [], []
    for step in range(_LANCZOS_STEPS):
        basis[step] = vector
        image = Q @ vector
        main.append(float(image @ vector))
        ritz.append(float(linalg.eigvalsh_tridiagonal(main, off)[0]))
        if step >= 8 and ritz[-1] < -floor and ritz[-1] > ritz[-5] * 1.02:
            break
        for _ in range(2):  # once is not enough for orthogonality to rounding
            image -= basis[: step + 1].T @ (basis[: step + 1] @ image)
        length = float(np.linalg.norm(image))
        if length <= floor:
            break
        off.append(length)
        vector = image / length
    return min(ritz)


# ------------------------------------------------------------------ which features are sampled


def sample_features(
    X: np.ndarray, k: int, sampling: str, rng: np.random.RandomState
) -> np.ndarray:
    """Choose ``k`` columns of ``X``, sorted."""
    return np.sort(_SAMPLINGS[sampling](X, k, rng))


def _uniform(X: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    return rng.choice(X.shape[1], k, replace=False)


def _kmeans(X: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    """The features nearest to the centres of ``k`` clusters of features.

    Features are unit vectors; a feature and its negative carry the same information, so a cluster
    gathers what correlates with its centre with either sign.
    """
    Z = standardised(X)[0].T
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


def _leverage(X: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Draw features with probability in proportion to their ridge leverage.

    With the standardised features as columns of ``Z``, the leverage of feature j is
    ``z_j'(ZZ' + ridge I)^(-1) z_j``; the ridge is such that they sum to ``k`` or, where the rank
    is smaller, to half of it.
    """
    Z = standardised(X)[0]
    wide = Z.shape[0] <= Z.shape[1]
    values, vectors = linalg.eigh(Z @ Z.T if wide else Z.T @ Z, check_finite=False)
    positive = values > _RELATIVE_FLOOR * values[-1]
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
