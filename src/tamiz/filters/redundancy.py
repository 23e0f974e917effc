r"""The redundancy matrix as the solvers see it: exact, its large eigenvalues only, or Nyström's.

Subspace: :math:`\tilde Q = \sum_{\lambda_i > \delta} \lambda_i u_i u_i'`, and weights that are a
combination of these eigenvectors, :math:`x = \tilde U y` (:mod:`tamiz.solvers.subspace`).

Nyström: with the rows :math:`[A\ B]` of ``k`` sampled features,

.. math:: \hat Q = [A\ B]' A^+ [A\ B],

which agrees with ``Q`` wherever a sampled feature is involved and puts :math:`B'A^+B` in place of
the rest, ``E``. Only ``k`` rows are computed, in O(NkM). The eigenvalues of ``A`` that are not
positive are left out: the text assumes a positive semi-definite matrix. So are those that are
small beside the negative ones, the inverse of which would be noise. With :math:`GG' = A^+` and
:math:`S = G'[A\ B][A\ B]'G = P\hat\Lambda P'`, the eigenvectors of :math:`\hat Q` are the columns
of :math:`[A\ B]'GP\hat\Lambda^{-1/2}`. They are never made, only the products with them that are
asked for.

With the exact diagonal, either matrix gets that of ``Q`` where its own is smaller, and the weights
are free. Left as it is, such a matrix must not be used with free weights: the objective is linear
along its null space, the weight falls on few features, and the rest is ranked by relevance.

References
----------
.. [1] C. Williams, M. Seeger (2001). Using the Nyström method to speed up kernel machines. NIPS 13.
.. [2] P. Drineas, M. Mahoney (2005). On the Nyström method for approximating a Gram matrix for
       improved kernel-based learning. JMLR 6.
.. [3] K. Zhang, I. Tsang, J. Kwok (2008). Improved Nyström low-rank approximation and error
       analysis. ICML.
.. [4] A. Alaoui, M. Mahoney (2015). Fast randomized kernel ridge regression with statistical
       guarantees. NIPS 28.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from tamiz.filters.similarity import Similarity, standardised
from tamiz.qp.matrices import DenseQ, LowRankQ, QMatrix, ShiftedQ
from tamiz.runtime.threads import one_blas_thread
from tamiz.solvers.subspace import Span
from tamiz.validation import require_memory

#: Eigenvalues below this fraction of the largest are rounding.
_RELATIVE_FLOOR = 1e-10

#: Features outside the sample whose rows are computed to estimate the error.
_ERROR_ROWS = 64

#: Where A has negative eigenvalues, positive ones below this fraction of the least mean nothing. On
#: genes, 0.03 to 0.3 of it give the smallest errors; without the rule they exceed the matrix.
_NOISE = 0.3

#: A similarity matrix larger than this is never held; its rows are computed when asked for.
MAX_MATRIX_BYTES = 2**30

#: An eigenvalue is negative beyond this fraction of the largest entry times the size.
_DEFINITE = 1e-12
_SMALL = 200
_LARGE = 2000
_PART = 1200
_LANCZOS_STEPS = 30
_BLOCK_ENTRIES = 2**22

#: Rounds of the clustering that samples features.
_KMEANS_ROUNDS = 10


class Redundancy(NamedTuple):
    """The matrix that is used, and how far it can be trusted."""

    Q: QMatrix
    diag: np.ndarray  # of the exact matrix
    mean: Callable[[], float]  # of its entries, or an estimate
    sample: np.ndarray  # the features whose rows were computed
    rank: int | None = None  # if it was limited
    error: float = 0.0  # ‖difference‖ / ‖replaced part‖, Frobenius
    error_norm: float = 0.0  # ‖difference‖
    smallest: float | None = None  # eigenvalue of the exact matrix, or of A (never below)
    is_indefinite: bool | None = False  # the matrix used; None if not known
    n_left_out: int = 0  # eigenvalues not kept
    n_negative: int = 0  # of them negative
    span: Span | None = None  # what the weights are confined to; None: the simplex
    matrix: np.ndarray | None = None  # the exact one, where it was replaced
    tried: tuple[tuple[int, float], ...] = ()  # sizes of samples looked at, and their errors


def exact(similarity: Similarity) -> Redundancy:
    """The similarities themselves, held as a matrix unless that is very large."""
    everything = np.arange(similarity.n)
    if 8 * similarity.n**2 > MAX_MATRIX_BYTES:
        Q: QMatrix = SimilarityQ(similarity)
        return Redundancy(Q, Q.diag(), similarity.mean, everything, is_indefinite=None)
    matrix = similarity.dense()
    with one_blas_thread():
        smallest, negative = smallest_eigenvalue(matrix)
    return Redundancy(
        Q=DenseQ(matrix),
        diag=matrix.diagonal(),
        mean=lambda: float(matrix.mean()),
        sample=everything,
        smallest=smallest,
        is_indefinite=negative,
    )


def subspace(similarity: Similarity, rank_tol: float, exact_diagonal: bool) -> Redundancy:
    """Keep the eigenvalues above ``rank_tol``, and above rounding."""
    matrix = similarity.dense()
    with one_blas_thread():
        values, vectors = np.linalg.eigh(matrix)
    floor = _RELATIVE_FLOOR * abs(float(values[-1]))
    keep = values > max(rank_tol, floor)
    if not keep.any():
        raise ValueError(
            f"No eigenvalue of the similarities exceeds rank_tol={rank_tol:g}; the largest is "
            f"{values[-1]:.3g}. Choose a smaller rank_tol."
        )
    U, kept = vectors[:, keep], values[keep]
    Q: QMatrix = LowRankQ(U, kept)
    if exact_diagonal:
        Q = ShiftedQ(Q, np.maximum(matrix.diagonal() - Q.diag(), 0.0))
        lost = float(np.linalg.norm(matrix - Q.dense()))
    else:
        lost = float(np.linalg.norm(values[~keep]))
    norm = float(np.linalg.norm(values))
    return Redundancy(
        Q=Q,
        diag=matrix.diagonal(),
        mean=lambda: float(matrix.mean()),
        sample=np.arange(len(matrix)),
        rank=int(keep.sum()),
        error=lost / norm,
        error_norm=lost,
        smallest=float(values[0]),
        n_left_out=int((~keep).sum()),
        n_negative=int((values < -floor).sum()),
        span=None if exact_diagonal else _span_of(U, kept),
        matrix=matrix,
    )


def nystroem(
    similarity: Similarity,
    sample: np.ndarray,
    rank_tol: float,
    exact_diagonal: bool,
    rng: np.random.RandomState,
) -> Redundancy:
    """Build the approximation from the rows of ``sample``."""
    others = _error_rows(similarity, sample, rng)
    similarity.prepare(np.concatenate([sample, others]))
    R = similarity.rows(sample)
    A = R[:, sample]
    with one_blas_thread():  # factorisations of this size lose more than they gain by several
        inverse = _pseudo_inverse(0.5 * (A + A.T), rank_tol)
    Q: QMatrix = NystroemQ(R, inverse.G)
    diag = similarity.diag()
    span = None
    if exact_diagonal:
        Q = ShiftedQ(Q, np.maximum(diag - Q.diag(), 0.0))
    else:
        span = _span(R, inverse.G)
    with one_blas_thread():
        error, norm = _estimate_error(similarity, Q, sample, others)
    mean = float(R.mean())
    return Redundancy(
        Q=Q,
        diag=diag,
        mean=lambda: mean,
        sample=sample,
        rank=inverse.G.shape[1],
        error=error,
        error_norm=norm,
        smallest=inverse.smallest,
        n_left_out=len(A) - inverse.G.shape[1],
        n_negative=inverse.n_negative,
        span=span,
    )


def _span_of(vectors: np.ndarray, values: np.ndarray) -> Span:
    """The space of these eigenvectors, scaled by their eigenvalues."""
    return Span(np.ascontiguousarray(vectors.T), np.diag(values**-0.5), np.diag(values))


def _span(R: np.ndarray, G: np.ndarray) -> Span:
    """The space of the eigenvectors of ``R'GG'R``, scaled by its eigenvalues.

    In any orthogonal basis of it the problem is the same: with ``S = G'RR'G``, ``L = R'GS⁻¹`` is
    one, and where all eigenvalues of ``S`` count, they need not be computed.
    """
    with one_blas_thread():
        S = G.T @ (R @ R.T) @ G
        S = 0.5 * (S + S.T)
        floor = _RELATIVE_FLOOR * max(
            float(np.abs(S).sum(axis=1).max(initial=0.0)), np.finfo(float).tiny
        )
        if len(S) and _exceeds(S, floor):  # no eigenvalue exceeds the largest sum of a row
            factor = linalg.cho_factor(S, check_finite=False)
            return Span(R, linalg.cho_solve(factor, G.T, check_finite=False).T.copy(), S)
        values, P = np.linalg.eigh(S)
    keep = values > _RELATIVE_FLOOR * values.max(initial=0.0)
    values, P = values[keep], P[:, keep]
    return Span(R, G @ (P / values), np.diag(values))


class _Inverse(NamedTuple):
    G: np.ndarray  # GG' = A⁺
    smallest: float | None  # eigenvalue of A; None if positive
    n_negative: int


def _pseudo_inverse(A: np.ndarray, rank_tol: float) -> _Inverse:
    """Factor of the inverse of ``A`` on the space of its eigenvalues above ``rank_tol``.

    If a Cholesky factorisation shows that all of them are, it is the factor, at a tenth of the
    cost of the eigenvalues.
    """
    k = len(A)
    # no eigenvalue exceeds the largest sum of a row
    floor = _RELATIVE_FLOOR * max(float(np.abs(A).sum(axis=1).max()), np.finfo(float).tiny)
    floor = max(floor, rank_tol)
    if _exceeds(A, floor):
        L = linalg.cholesky(A, lower=True, check_finite=False)
        G = linalg.solve_triangular(L, np.eye(k), lower=True, check_finite=False).T
        return _Inverse(np.ascontiguousarray(G), None, 0)
    values, vectors = np.linalg.eigh(A)
    keep = values > max(floor, -_NOISE * float(values[0]))
    negative = values < -_RELATIVE_FLOOR * abs(float(values[-1]))
    return _Inverse(vectors[:, keep] / np.sqrt(values[keep]), float(values[0]), int(negative.sum()))


def _error_rows(
    similarity: Similarity, sample: np.ndarray, rng: np.random.RandomState
) -> np.ndarray:
    """Some features outside the sample, by whose rows the error is estimated."""
    rest = np.setdiff1d(np.arange(similarity.n), sample, assume_unique=True)
    if len(rest) <= _ERROR_ROWS:
        return rest
    return np.sort(rng.choice(rest, _ERROR_ROWS, False))


def _estimate_error(
    similarity: Similarity, Q: QMatrix, sample: np.ndarray, some: np.ndarray
) -> tuple[float, float]:
    """``‖E - B'A⁺B‖ / ‖E‖`` and ``‖E - B'A⁺B‖``, from the rows ``some`` of ``E``."""
    rest = np.setdiff1d(np.arange(similarity.n), sample, assume_unique=True)
    E = similarity.rows(some)
    D = (E - Q.rows(some))[:, rest]
    lost, norm = float(np.linalg.norm(D)), float(np.linalg.norm(E[:, rest]))
    return (lost / norm if norm > 0 else 0.0), lost * float(np.sqrt(len(rest) / len(some)))


class SimilarityQ(QMatrix):
    """A similarity as the quadratic term of a problem; rows on demand."""

    def __init__(self, similarity: Similarity):
        self.similarity = similarity
        self.n = similarity.n

    def diag(self) -> np.ndarray:
        return self.similarity.diag()

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.similarity.rows(np.asarray(index))


class NystroemQ(QMatrix):
    """``R'GG'R`` with the rows ``R`` of the sampled features and ``GG' = A⁺``."""

    def __init__(self, R: np.ndarray, G: np.ndarray):
        self.R = R
        self.G = G
        self.n = R.shape[1]

    def _factor(self, index: np.ndarray | slice) -> np.ndarray:
        return self.R[:, index].T @ self.G

    def diag(self) -> np.ndarray:
        out = np.empty(self.n)
        step = max(1, _BLOCK_ENTRIES // len(self.R))
        for start in range(0, self.n, step):
            part = slice(start, start + step)
            factor = self._factor(part)
            out[part] = np.einsum("ij,ij->i", factor, factor)
        return out

    def rows(self, index: np.ndarray) -> np.ndarray:
        return (self._factor(index) @ self.G.T) @ self.R

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self._factor(rows) @ self._factor(columns).T

    def dense(self) -> np.ndarray:
        factor = self._factor(slice(None))
        return factor @ factor.T

    def dot(self, vector: np.ndarray) -> np.ndarray:
        return (self.G @ (self.G.T @ (self.R @ vector))) @ self.R


# ------------------------------------------------------------------------------- definiteness


def smallest_eigenvalue(Q: np.ndarray) -> tuple[float | None, bool | None]:
    """The least eigenvalue of a symmetric matrix, and whether it is negative.

    Large matrices are not decomposed. Lanczos steps give a value that is never below the least
    eigenvalue. If it is not negative, a Cholesky factorisation tells whether any eigenvalue is; if
    none is, the least one remains unknown. Of very large matrices a principal part is looked at:
    its eigenvalues lie within those of the whole, so that a negative one proves as much, but
    nothing follows from their absence.
    """
    n = len(Q)
    if n > _LARGE:
        part = np.sort(np.random.RandomState(0).choice(n, _PART, replace=False))
        value, negative = smallest_eigenvalue(Q[np.ix_(part, part)])
        return value, negative or None
    floor = _DEFINITE * n * max(float(Q.max()), -float(Q.min()), np.finfo(float).tiny)
    if n <= _SMALL:
        value = float(linalg.eigvalsh(Q, subset_by_index=[0, 0], check_finite=False)[0])
        return value, value < -floor
    value = _lanczos(Q, floor)
    if value < -floor:
        return value, True
    return (None, False) if _exceeds(Q, -floor) else (-floor, True)


def _exceeds(Q: np.ndarray, bound: float) -> bool:
    """Whether all eigenvalues are greater than ``bound``."""
    shifted = Q.copy()
    shifted.flat[:: len(Q) + 1] -= bound
    return bool(linalg.lapack.dpotrf(shifted.T, overwrite_a=True)[1] == 0)  # .T: no copy


def _lanczos(Q: np.ndarray, floor: float) -> float:
    """Least Ritz value; stops once it is negative and hardly changes."""
    n = len(Q)
    basis = np.empty((_LANCZOS_STEPS, n))
    vector = np.random.RandomState(0).standard_normal(n)
    vector /= np.linalg.norm(vector)
    main: list[float] = []
    off: list[float] = []
    ritz: list[float] = []
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


# ------------------------------------------------------------------- which features are sampled


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
    require_memory(
        24 * min(Z.shape) ** 2,
        f"ridge leverages of {Z.shape[1]:,} features in {Z.shape[0]:,} samples",
        "Use sampling='uniform', or fewer samples.",
    )
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
