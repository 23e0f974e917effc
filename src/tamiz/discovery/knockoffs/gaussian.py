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

Cycling over the coordinates decreases a convex function; each step costs ``p^2`` operations. The
changes of ``A`` are not added one by one: a block of coordinates needs its own columns of ``A``
only, in which the changes so far are accounted for as it goes, and at its end all of them are added
at once, as a product of matrices.

*Several copies at once* [3]_: with ``k`` knockoffs of every feature ``G`` has ``k + 1`` blocks a
side, ``Sigma`` on the diagonal and ``Sigma - D`` elsewhere. It is orthogonally similar to ``k``
times ``D`` and once ``(k + 1) Sigma - k D``, so that all above holds with ``c = (k + 1) / k`` in
place of 2: ``D <= c Sigma``, and

.. math:: L(s) = k \sum_j 1 / s_j + \tfrac1k \operatorname{tr} (c \Sigma - D)^{-1}, \qquad
          \delta = \frac{1 - |A e_j| s_j / k}{A_{jj} + |A e_j| / k}.

Given the features, the mean of the ``k`` copies has the covariance ``c D - D Sigma^{-1} D``, and
what they differ by is independent of it, with the covariance ``D`` for each contrast of unit
length.

*Low rank*: ``Sigma = F F' + diag(psi)`` with few factors, for many more features than samples. With
``s <= c psi`` the covariance above is a diagonal plus a part of low rank, both positive
semidefinite, and nothing of size ``p x p`` is formed: a step costs the square of the number of
factors.

*Estimates*: with more than ``k + 1`` times as many rows as features the correlations are those of
the rows, and the noise is drawn such that ``G`` holds in these rows exactly, as fixed-X knockoffs
have it.
Otherwise they are estimated (:mod:`tamiz.discovery.knockoffs.estimates`), which is then the weak
point.

References
----------
.. [1] E. Candès, Y. Fan, L. Janson, J. Lv (2018). Panning for gold: model-X knockoffs for high
       dimensional controlled variable selection. JRSS B 80.
.. [2] A. Spector, L. Janson (2022). Powerful knockoffs via minimizing reconstructability. Annals of
       Statistics 50.
.. [3] J. R. Gimenez, J. Zou (2019). Improving the stability of the knockoff procedure: multiple
       simultaneous knockoffs and entropy maximization. AISTATS, PMLR 89.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import linalg

from tamiz.discovery.knockoffs.estimates import (
    Factors,
    estimated_correlations,
    factor_correlations,
)
from tamiz.runtime.compiling import njit

#: Sweeps stop when one of them lowers the objective by less than this fraction.
_TOL = 1e-7
_MOST_SWEEPS = 100
#: Coordinates whose changes of the inverse are added at once.
_BLOCK = 32
#: Sweeps after which the inverse is computed anew.
_ANEW = 4
#: How far inside of its bounds ``s`` stays, as a fraction.
_INSIDE = 1e-6


class GaussianModel(ABC):
    """Correlations of features, and knockoffs of rows drawn by them.

    Attributes
    ----------
    s : array of shape (n_features,)
        Feature ``j`` and each of its knockoffs have correlation ``1 - s[j]`` under the model.
    n_copies : int
        Knockoffs of every feature.
    """

    s: np.ndarray
    n_copies: int

    @abstractmethod
    def draw(self, Z: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Knockoffs of standardised rows ``Z``: an array of shape (n_copies, *Z.shape)."""

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
        must be more than features and knockoffs together. The noise is then made uncorrelated with
        the features of these rows, and of exactly the covariance above, so that the correlations of
        features and knockoffs in these rows are :math:`G` itself. Otherwise a criterion could tell
        the two apart: the part of a feature that the others do not explain is exactly uncorrelated
        with them, that of its knockoff on average only.
    n_copies : int
        Knockoffs of every feature.
    """

    def __init__(self, sigma: np.ndarray, s: np.ndarray, matched: bool = False, n_copies: int = 1):
        self.sigma, self.s, self.matched, self.n_copies = sigma, s, matched, n_copies
        self._change = linalg.cho_solve(linalg.cho_factor(sigma), np.diag(s))
        spread = _ratio(n_copies) * np.diag(s) - s[:, None] * self._change
        values, vectors = linalg.eigh(0.5 * (spread + spread.T))
        # The symmetric root: eigenvectors alone are up to sign, and up to rotations where values
        # are close, so that rounding would decide what is drawn.
        self._root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T

    def draw(self, Z: np.ndarray, random: np.random.Generator) -> np.ndarray:
        n, p = Z.shape
        noise = random.standard_normal((n, self.n_copies * p))
        if self.matched:
            noise = _matched(noise, Z)
        rest = noise[:, p:].reshape(n, self.n_copies - 1, p).transpose(1, 0, 2)
        return _apart(Z - Z @ self._change + noise[:, :p] @ self._root.T, rest, self.s)

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
        The differences of :math:`G`, at most ``c psi``.
    n_copies : int
        Knockoffs of every feature.
    """

    def __init__(self, loadings: np.ndarray, own: np.ndarray, s: np.ndarray, n_copies: int = 1):
        largest = np.argmax(np.abs(loadings), axis=0)
        signs = np.where(loadings[largest, np.arange(loadings.shape[1])] < 0.0, -1.0, 1.0)
        self.loadings = loadings = loadings * signs  # which rounding would decide otherwise
        self.own, self.s, self.n_copies = own, s, n_copies
        self._scaled = loadings / own[:, None]
        inner = np.eye(loadings.shape[1]) + loadings.T @ self._scaled
        self._inner = linalg.inv(inner)
        self._root = (s[:, None] * self._scaled) @ linalg.cholesky(self._inner, lower=True)
        self._single = np.sqrt(np.maximum(s * (_ratio(n_copies) - s / own), 0.0))

    def draw(self, Z: np.ndarray, random: np.random.Generator) -> np.ndarray:
        single = random.standard_normal(Z.shape)
        common = random.standard_normal((len(Z), self.loadings.shape[1]))
        precise = Z / self.own - (Z @ self._scaled) @ self._inner @ self._scaled.T
        middle = Z - precise * self.s + single * self._single + common @ self._root.T
        rest = random.standard_normal((self.n_copies - 1, *Z.shape))
        return _apart(middle, rest, self.s)

    def correlations(self) -> np.ndarray:
        return self.loadings @ self.loadings.T + np.diag(self.own)


def _ratio(n_copies: int) -> float:
    """``c``: ``D`` is at most this times ``Sigma``."""
    return (n_copies + 1.0) / n_copies


def _apart(middle: np.ndarray, rest: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Copies around their mean, which differ by noise along contrasts of unit length."""
    contrasts = linalg.helmert(len(rest) + 1)
    return middle + np.sqrt(s) * np.einsum("mk,mij->kij", contrasts, rest)


def _matched(noise: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Noise without correlation with the columns of ``Z``, of unit covariance in these rows."""
    basis = linalg.qr(np.column_stack([np.ones(len(Z)), Z]), mode="economic")[0]
    noise = noise - basis @ (basis.T @ noise)
    lower = linalg.cholesky(noise.T @ noise / len(Z), lower=True)
    return linalg.solve_triangular(lower, noise.T, lower=True).T


# ------------------------------------------------------------------------------- the differences


def equicorrelated(sigma: np.ndarray, n_copies: int = 1) -> np.ndarray:
    """The same ``s`` for all features: ``c`` times the least eigenvalue, at most 1."""
    least = _ratio(n_copies) * float(linalg.eigvalsh(sigma, subset_by_index=[0, 0])[0])
    return np.full(len(sigma), (1.0 - _INSIDE) * min(1.0, max(0.0, least)))


def mvr_objective(sigma: np.ndarray, s: np.ndarray, n_copies: int = 1) -> float:
    """The trace of the inverse of ``G``, which MVR minimises; infinite outside of its bounds."""
    if not (s > 0).all():
        return np.inf
    values = linalg.eigvalsh(_ratio(n_copies) * sigma - np.diag(s))
    if not values[0] > 0:
        return np.inf
    return float(n_copies * (1.0 / s).sum() + (1.0 / values).sum() / n_copies)


def mvr(sigma: np.ndarray, n_copies: int = 1) -> np.ndarray:
    """The ``s`` of minimum variance-based reconstructability, by coordinate descent."""
    bound = _ratio(n_copies) * sigma
    s = 0.5 * equicorrelated(sigma, n_copies)
    before, since = np.inf, _ANEW  # sweeps since the inverse was computed
    inverse = np.empty(0)
    for _ in range(_MOST_SWEEPS):
        if since >= _ANEW:  # so that no rounding errors pile up
            inverse, since = _inverse(bound - np.diag(s)), 0
        now = _reconstructability(inverse, s, n_copies)
        if since and before - now < _TOL * now:
            inverse, since = _inverse(bound - np.diag(s)), 0
            now = _reconstructability(inverse, s, n_copies)
        if before - now < _TOL * now:
            break
        before, since = now, since + 1
        for first in range(0, len(s), _BLOCK):
            columns = inverse[first : first + _BLOCK].copy()
            factors = _sweep_block(columns, s, first, float(n_copies))
            inverse += (columns.T * factors) @ columns
    return _shrunk_inside(sigma, s, n_copies)


def _reconstructability(inverse: np.ndarray, s: np.ndarray, n_copies: int) -> float:
    """The objective, up to a factor, by the inverse of ``c Sigma - D``."""
    return float((1.0 / s).sum() + np.trace(inverse) / n_copies**2)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite matrix, by Cholesky."""
    lower, failed = linalg.lapack.dpotrf(matrix, lower=1)
    found, singular = linalg.lapack.dpotri(lower, lower=1)
    if failed or singular:
        return np.ascontiguousarray(linalg.inv(matrix))
    found = np.tril(found)
    return np.ascontiguousarray(found + np.tril(found, -1).T)


def _shrunk_inside(sigma: np.ndarray, s: np.ndarray, n_copies: int) -> np.ndarray:
    """``s``, pulled back a little further if rounding errors took it out of its bounds."""
    for k in range(12):
        inside = s * (1.0 - _INSIDE * 4.0**k)
        apart = _ratio(n_copies) * sigma - np.diag(inside)
        if linalg.eigvalsh(apart, subset_by_index=[0, 0])[0] > 0:
            return inside
    return equicorrelated(sigma, n_copies)


def mvr_low_rank(factors: Factors, n_copies: int = 1) -> np.ndarray:
    """The same for few factors, within ``s <= c psi``."""
    loadings, own = factors
    k, ratio = loadings.shape[1], _ratio(n_copies)
    s = 0.5 * ratio * own
    for _ in range(_MOST_SWEEPS):
        rest = ratio * own - s
        first = linalg.inv(np.eye(k) + ratio * loadings.T @ (loadings / rest[:, None]))
        second = loadings.T @ (loadings / np.square(rest)[:, None])
        before = s.copy()
        inner = np.ascontiguousarray(first)
        _sweep_low_rank(loadings, own, s, inner, second, (_INSIDE, float(n_copies)))
        if np.abs(s - before).max(initial=0.0) < 1e-5:
            break
    return s


@njit(cache=True, nogil=True)
def _sweep_block(columns: Any, s: Any, first: Any, n_copies: Any) -> Any:
    """One step of every coordinate of a block, whose columns of the inverse are ``columns``.

    Every column is left as it was when its step was taken; the changes of the inverse of
    ``c Sigma - D`` are then the outer products of the columns, times the factors returned.
    """
    size, p = columns.shape
    factors = np.zeros(size)
    for k in range(size):
        column = columns[k]
        for m in range(k):  # what the steps before have changed in it
            weight = factors[m] * columns[m, first + k]
            earlier = columns[m]
            for i in range(p):
                column[i] += weight * earlier[i]
        square = 0.0
        for i in range(p):
            square += column[i] * column[i]
        root = np.sqrt(square) / n_copies
        own = column[first + k]
        step = (1.0 - root * s[first + k]) / (own + root)
        s[first + k] += step
        factors[k] = step / (1.0 - step * own)
    return factors


@njit(cache=True, nogil=True)
def _sweep_low_rank(F: Any, own: Any, s: Any, first: Any, second: Any, limits: Any) -> None:
    """One step of every coordinate, by what Woodbury's formula says of the inverse.

    With ``a = c psi - s``: ``first`` is ``(I + c F' diag(1/a) F)^-1`` and ``second``
    ``F' diag(1/a^2) F``; both follow. ``limits`` is how far inside ``s`` stays, and ``k``.
    """
    p, k = F.shape
    inside, n_copies = limits
    c = (n_copies + 1.0) / n_copies
    u, v = np.empty(k), np.empty(k)
    for j in range(p):
        a = c * own[j] - s[j]
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
        diagonal = 1.0 / a - c * uf / a**2
        square = 1.0 / a**2 - 2.0 * c * uf / a**3 + c**2 * usu / a**2
        root = np.sqrt(max(square, 1e-300)) / n_copies
        new = s[j] + (1.0 - root * s[j]) / (diagonal + root)
        new = min(max(new, c * inside * own[j]), c * (1.0 - inside) * own[j])
        b = c * own[j] - new
        change = c * (1.0 / b - 1.0 / a)
        scale = change / (1.0 + change * uf)
        squares = 1.0 / b**2 - 1.0 / a**2
        for i in range(k):
            for l in range(k):
                first[i, l] -= scale * u[i] * u[l]
                second[i, l] += squares * F[j, i] * F[j, l]
        s[j] = new


# ------------------------------------------------------------------------------- all of it


def gaussian_model(
    Z: np.ndarray,
    method: str,
    sigma: np.ndarray | None = None,
    n_factors: int | None = None,
    n_copies: int = 1,
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
    n_copies : int
        Knockoffs of every feature.
    """
    if method == "lowrank":
        factors = factor_correlations(Z, n_factors)
        notes = {"covariance": "factors", "n_factors": factors.loadings.shape[1]}
        return FactorModel(*factors, mvr_low_rank(factors, n_copies), n_copies), notes
    notes = {"covariance": "given"}
    matched = False
    if sigma is None:
        if len(Z) > (n_copies + 1) * Z.shape[1] + 1:
            raw = Z.T @ Z / len(Z)
            if linalg.eigvalsh(raw, subset_by_index=[0, 0])[0] > 1e-6:
                sigma, notes, matched = raw, {"covariance": "sample"}, True
        if sigma is None:
            sigma, notes = estimated_correlations(Z)
    s = (mvr if method == "mvr" else equicorrelated)(sigma, n_copies)
    return DenseModel(sigma, s, matched, n_copies), notes
