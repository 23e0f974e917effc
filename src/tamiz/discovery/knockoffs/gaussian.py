r"""Gaussian knockoffs: copies that cannot be told from the features by means and covariances.

Let ``Sigma`` be the correlations of the features and ``D = diag(s)``. The joint correlations of the
features and their knockoffs are

.. math::

    G = \begin{pmatrix} \Sigma & \Sigma - D \\ \Sigma - D & \Sigma \end{pmatrix},

which is positive semidefinite exactly if ``0 <= D <= 2 Sigma``. Feature ``j`` and its knockoff have
correlation ``1 - s_j``: the larger ``s``, the more power. Given the features,

.. math:: \tilde X \mid X \sim N\big(X - X \Sigma^{-1} D,\; 2 D - D \Sigma^{-1} D\big).

*Equicorrelated*: all ``s_j = min(1, 2 lambda_min(Sigma))``.

*Minimum variance-based reconstructability* minimises ``tr G^{-1}``, and ``G`` is orthogonally
similar to ``diag(2 Sigma - D, D)``, so that the objective is

.. math:: L(s) = \sum_j 1 / s_j + \operatorname{tr} (2 \Sigma - D)^{-1}.

Let ``A = (2 Sigma - D)^{-1}``. Moving ``s_j`` by ``delta`` adds
``delta |A e_j|^2 / (1 - delta A_jj)`` to the trace (a change of rank one), so that the best step is

.. math:: \delta = \frac{1 - |A e_j| s_j}{A_{jj} + |A e_j|}.

Cycling over the coordinates decreases a convex function; each step costs ``p^2`` operations.

*Low rank*: ``Sigma = F F' + diag(psi)`` with few factors, for many more features than samples. With
``s <= 2 psi`` the covariance above is a diagonal plus a part of low rank, both positive
semidefinite, and nothing of size ``p x p`` is formed: a step costs the square of the number of
factors.

*Estimates*: with more than twice as many rows as features the correlations are those of the rows,
and the noise is drawn such that ``G`` holds in these rows exactly, as fixed-X knockoffs have it.
Otherwise correlations are shrunk as Ledoit and Wolf derive; the estimate is then the weak point.

References
----------
.. [1] E. Candès, Y. Fan, L. Janson, J. Lv (2018). Panning for gold: model-X knockoffs for high
       dimensional controlled variable selection. JRSS B 80.
.. [2] A. Spector, L. Janson (2022). Powerful knockoffs via minimizing reconstructability. Annals of
       Statistics 50.
.. [3] O. Ledoit, M. Wolf (2004). A well-conditioned estimator for large-dimensional covariance
       matrices. Journal of Multivariate Analysis 88.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from tamiz.runtime.compiling import njit
from tamiz.runtime.memory import require_memory

#: Sweeps stop when one of them lowers the objective by less than this fraction.
_TOL = 1e-7
_MOST_SWEEPS = 100
#: How far inside of its bounds ``s`` stays, as a fraction.
_INSIDE = 1e-6
#: Least part of the variance of a feature that is its own, and not that of the factors.
_LEAST_OWN = 0.02
_LESS = 'Use method="lowrank", which needs no such matrix.'


class GaussianModel(ABC):
    """Correlations of features, and knockoffs of rows drawn by them.

    Attributes
    ----------
    s : array of shape (n_features,)
        Feature ``j`` and its knockoff have correlation ``1 - s[j]`` under the model.
    """

    s: np.ndarray

    @abstractmethod
    def draw(self, Z: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Knockoffs of standardised rows ``Z``."""

    @abstractmethod
    def correlations(self) -> np.ndarray:
        """The correlations that the model takes for true."""


class DenseModel(GaussianModel):
    """Any correlation matrix.

    Parameters
    ----------
    sigma : array of shape (n_features, n_features)
        Correlations, positive definite.
    s : array of shape (n_features,)
        The differences of :math:`G`.
    matched : bool
        Whether the correlations are those of the rows whose knockoffs are drawn, of which there
        must be more than twice as many as features. The noise is then made uncorrelated with the
        features of these rows, and of exactly the covariance above, so that the correlations of
        features and knockoffs in these rows are :math:`G` itself. Otherwise a criterion could tell
        the two apart: the part of a feature that the others do not explain is exactly uncorrelated
        with them, that of its knockoff on average only.
    """

    def __init__(self, sigma: np.ndarray, s: np.ndarray, matched: bool = False):
        self.sigma, self.s, self.matched = sigma, s, matched
        self._change = linalg.cho_solve(linalg.cho_factor(sigma), np.diag(s))
        spread = 2.0 * np.diag(s) - s[:, None] * self._change
        values, vectors = linalg.eigh(0.5 * (spread + spread.T))
        self._root = vectors * np.sqrt(np.maximum(values, 0.0))

    def draw(self, Z: np.ndarray, random: np.random.Generator) -> np.ndarray:
        noise = random.standard_normal(Z.shape)
        if self.matched:
            noise = _matched(noise, Z)
        return Z - Z @ self._change + noise @ self._root.T

    def correlations(self) -> np.ndarray:
        return self.sigma


class FactorModel(GaussianModel):
    """A few factors, and a part of its own for every feature.

    Parameters
    ----------
    loadings : array of shape (n_features, n_factors)
        ``F``.
    own : array of shape (n_features,)
        ``psi``; the squared loadings of a feature and its own part add up to one.
    s : array of shape (n_features,)
        The differences of :math:`G`, at most ``2 psi``.
    """

    def __init__(self, loadings: np.ndarray, own: np.ndarray, s: np.ndarray):
        self.loadings, self.own, self.s = loadings, own, s
        self._scaled = loadings / own[:, None]
        inner = np.eye(loadings.shape[1]) + loadings.T @ self._scaled
        self._inner = linalg.inv(inner)
        self._root = (s[:, None] * self._scaled) @ linalg.cholesky(self._inner, lower=True)
        self._single = np.sqrt(np.maximum(s * (2.0 - s / own), 0.0))

    def draw(self, Z: np.ndarray, random: np.random.Generator) -> np.ndarray:
        single = random.standard_normal(Z.shape)
        common = random.standard_normal((len(Z), self.loadings.shape[1]))
        precise = Z / self.own - (Z @ self._scaled) @ self._inner @ self._scaled.T
        return Z - precise * self.s + single * self._single + common @ self._root.T

    def correlations(self) -> np.ndarray:
        return self.loadings @ self.loadings.T + np.diag(self.own)


def _matched(noise: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Noise without correlation with the columns of ``Z``, of unit covariance in these rows."""
    basis = linalg.qr(np.column_stack([np.ones(len(Z)), Z]), mode="economic")[0]
    noise = noise - basis @ (basis.T @ noise)
    lower = linalg.cholesky(noise.T @ noise / len(Z), lower=True)
    return linalg.solve_triangular(lower, noise.T, lower=True).T


# ------------------------------------------------------------------------------- the estimates


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
    fraction = 1.0 if away <= 0.0 else min(1.0, max(0.0, noise / away))
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


# ------------------------------------------------------------------------------- the differences


def equicorrelated(sigma: np.ndarray) -> np.ndarray:
    """The same ``s`` for all features: twice the least eigenvalue, at most 1."""
    least = float(linalg.eigvalsh(sigma, subset_by_index=[0, 0])[0])
    return np.full(len(sigma), (1.0 - _INSIDE) * min(1.0, max(0.0, 2.0 * least)))


def mvr_objective(sigma: np.ndarray, s: np.ndarray) -> float:
    """The trace of the inverse of ``G``, which MVR minimises; infinite outside of its bounds."""
    if not (s > 0).all():
        return np.inf
    values = linalg.eigvalsh(2.0 * sigma - np.diag(s))
    if not values[0] > 0:
        return np.inf
    return float((1.0 / s).sum() + (1.0 / values).sum())


def mvr(sigma: np.ndarray) -> np.ndarray:
    """The ``s`` of minimum variance-based reconstructability, by coordinate descent."""
    s = 0.5 * equicorrelated(sigma)
    before = np.inf
    for _ in range(_MOST_SWEEPS):
        # inverted anew for every sweep, so that no rounding errors pile up
        inverse = np.ascontiguousarray(linalg.inv(2.0 * sigma - np.diag(s)))
        now = float((1.0 / s).sum() + np.trace(inverse))
        if before - now < _TOL * now:
            break
        before = now
        _sweep(inverse, s)
    return _shrunk_inside(sigma, s)


def _shrunk_inside(sigma: np.ndarray, s: np.ndarray) -> np.ndarray:
    """``s``, pulled back a little further if rounding errors took it out of its bounds."""
    for k in range(12):
        inside = s * (1.0 - _INSIDE * 4.0**k)
        if linalg.eigvalsh(2.0 * sigma - np.diag(inside), subset_by_index=[0, 0])[0] > 0:
            return inside
    return equicorrelated(sigma)


def mvr_low_rank(factors: Factors) -> np.ndarray:
    """The same for few factors, within ``s <= 2 psi``."""
    loadings, own = factors
    k = loadings.shape[1]
    s = own.copy()
    for _ in range(_MOST_SWEEPS):
        rest = 2.0 * own - s
        first = linalg.inv(np.eye(k) + 2.0 * loadings.T @ (loadings / rest[:, None]))
        second = loadings.T @ (loadings / np.square(rest)[:, None])
        before = s.copy()
        _sweep_low_rank(loadings, own, s, np.ascontiguousarray(first), second, _INSIDE)
        if np.abs(s - before).max(initial=0.0) < 1e-5:
            break
    return s


@njit(cache=True, nogil=True)
def _sweep(inverse: Any, s: Any) -> None:
    """One step of every coordinate; ``inverse`` is that of ``2 Sigma - D`` and follows."""
    p = len(s)
    column = np.empty(p)
    for j in range(p):
        square = 0.0
        for i in range(p):
            column[i] = inverse[j, i]
            square += column[i] * column[i]
        root = np.sqrt(square)
        step = (1.0 - root * s[j]) / (column[j] + root)
        s[j] += step
        factor = step / (1.0 - step * column[j])
        for i in range(p):
            weight = factor * column[i]
            for l in range(p):
                inverse[i, l] += weight * column[l]


@njit(cache=True, nogil=True)
def _sweep_low_rank(F: Any, own: Any, s: Any, first: Any, second: Any, inside: Any) -> None:
    """One step of every coordinate, by what Woodbury's formula says of the inverse.

    With ``a = 2 psi - s``: ``first`` is ``(I + 2 F' diag(1/a) F)^-1`` and ``second``
    ``F' diag(1/a^2) F``; both follow.
    """
    p, k = F.shape
    u, v = np.empty(k), np.empty(k)
    for j in range(p):
        a = 2.0 * own[j] - s[j]
        uf = 0.0
        for i in range(k):
            u[i] = 0.0
            for l in range(k):
                u[i] += first[i, l] * F[j, l]
            uf += u[i] * F[j, i]
        usu = 0.0
        for i in range(k):
            v[i] = 0.0
            for l in range(k):
                v[i] += second[i, l] * u[l]
            usu += u[i] * v[i]
        diagonal = 1.0 / a - 2.0 * uf / a**2
        square = 1.0 / a**2 - 4.0 * uf / a**3 + 4.0 * usu / a**2
        root = np.sqrt(max(square, 1e-300))
        new = s[j] + (1.0 - root * s[j]) / (diagonal + root)
        new = min(max(new, 2.0 * inside * own[j]), 2.0 * (1.0 - inside) * own[j])
        b = 2.0 * own[j] - new
        change = 2.0 * (1.0 / b - 1.0 / a)
        scale = change / (1.0 + change * uf)
        squares = 1.0 / b**2 - 1.0 / a**2
        for i in range(k):
            for l in range(k):
                first[i, l] -= scale * u[i] * u[l]
                second[i, l] += squares * F[j, i] * F[j, l]
        s[j] = new


# ------------------------------------------------------------------------------- all of it


def gaussian_model(
    Z: np.ndarray, method: str, sigma: np.ndarray | None = None, n_factors: int | None = None
) -> tuple[GaussianModel, dict[str, Any]]:
    """The model of standardised rows, and what it was estimated by.

    Parameters
    ----------
    Z : array of shape (n_samples, n_features)
        Standardised rows.
    method : {"mvr", "equi", "lowrank"}
        How ``s`` is chosen.
    sigma : array of shape (n_features, n_features), optional
        Correlations that are known; estimated by default.
    n_factors : int, optional
        For ``"lowrank"``.
    """
    if method == "lowrank":
        factors = factor_correlations(Z, n_factors)
        notes = {"covariance": "factors", "n_factors": factors.loadings.shape[1]}
        return FactorModel(*factors, mvr_low_rank(factors)), notes
    notes = {"covariance": "given"}
    matched = False
    if sigma is None:
        sigma, fraction = shrunk_correlations(Z)
        notes = {"covariance": "Ledoit-Wolf", "shrinkage": fraction}
        raw = Z.T @ Z / len(Z)
        if len(Z) > 2 * Z.shape[1] + 1 and linalg.eigvalsh(raw, subset_by_index=[0, 0])[0] > 1e-6:
            sigma, notes, matched = raw, {"covariance": "sample"}, True
    s = mvr(sigma) if method == "mvr" else equicorrelated(sigma)
    return DenseModel(sigma, s, matched), notes
