r"""Criteria that need no estimator: merits of a subset by its columns and the labels alone.

``"cfs"`` is Hall's merit (:mod:`tamiz.filters.cfs`). The other two measure how far apart the
classes are if each is a normal distribution :math:`N(\mu_i, \Sigma_i)`, for every pair of classes,
weighted by the product of their proportions of the samples:

.. math::

    \text{Bhattacharyya:}\quad & \tfrac18 d'\Sigma^{-1} d
        + \tfrac12 \log\frac{|\Sigma|}{\sqrt{|\Sigma_i||\Sigma_j|}},
        \qquad \Sigma = \tfrac12(\Sigma_i + \Sigma_j),\; d = \mu_i - \mu_j \\
    \text{divergence:}\quad & \tfrac12 d'(\Sigma_i^{-1} + \Sigma_j^{-1}) d
        + \tfrac12 \operatorname{tr}(\Sigma_i^{-1}\Sigma_j + \Sigma_j^{-1}\Sigma_i - 2I)

With two classes the value is therefore the textbook distance times the product of the proportions:
a quarter of it where the classes are of equal size, less otherwise. The factor is the same for
every subset and changes no choice; divide by it to compare with values printed elsewhere.

Both are functions of the joint distribution that can only grow with another feature, which is what
branch and bound asks for. With few samples of a class, or features that are constant in it, an
estimated covariance is singular and the distance infinite. Features are therefore standardised and
``1e-6`` is added to all variances; the criterion remains monotone, since it is that of the features
plus a little independent noise.

Weights of the samples are numbers of rows: an integer counts exactly as if the row were repeated,
in the means, the covariances (over the sum of the weights of a class, less one) and the
proportions, and rows of weight zero are left out.

References
----------
.. [1] T. Kailath (1967). The divergence and Bhattacharyya distance measures in signal selection.
       IEEE Transactions on Communication Technology 15.
.. [2] M. Hall (2000). Correlation-based feature selection for discrete and numeric class machine
       learning. ICML.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from scipy import linalg

from tamiz.filters.cfs import merit as cfs_merit
from tamiz.information import encode
from tamiz.information.columns import safe_units
from tamiz.search.judges import Judge, Merit
from tamiz.validation import word_or_function

#: Added to the variances of standardised features.
RIDGE = 1e-6

Criterion = Callable[[np.ndarray], float]


def merit_for(
    criterion: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None
) -> Judge:
    """The judge that a name or a function ``f(X[:, subset], y)`` stands for.

    Parameters
    ----------
    criterion : {"cfs", "bhattacharyya", "divergence"} or callable
        A function is taken as monotone if it has an attribute ``monotone`` that is true.
    X : array of shape (n_samples, n_features)
        Data without missing values.
    y : array of shape (n_samples,)
        Labels.
    weight : array of shape (n_samples,), optional
        Numbers of rows that the samples stand for; a function does not take them.
    """
    known = word_or_function(
        *CRITERIA, function="f(X_subset, y) that returns a number, the greater the better"
    )
    if isinstance(known("criterion", criterion), str):
        make, monotone = CRITERIA[criterion]
        if weight is not None and not weight.all():
            there = np.flatnonzero(weight)
            X, y, weight = X[there], y[there], weight[there]
        judge = Merit(make(X, y, weight), criterion)
        judge.monotone = monotone
        return judge
    if weight is not None:
        raise ValueError(
            "sample_weight was given, but a function f(X_subset, y) as criterion does not get "
            "weights; leave one of the two out, use a criterion by name, or judge by an estimator."
        )
    judge = Merit(_called(criterion, X, y), getattr(criterion, "__name__", "criterion"))
    judge.monotone = bool(getattr(criterion, "monotone", False))
    return judge


def _called(function: Callable[..., Any], X: np.ndarray, y: np.ndarray) -> Criterion:
    def value(features: np.ndarray) -> float:
        found = function(X[:, features], y)
        if not np.isscalar(found) and np.size(found) != 1:
            raise ValueError(
                f"criterion returned an array of shape {np.shape(found)}; it must return one "
                "number, the greater the better."
            )
        number = float(np.asarray(found).reshape(()))
        if not np.isfinite(number):
            raise ValueError(
                f"criterion returned {number} for the features {features.tolist()}; it must be a "
                "finite number, the greater the better."
            )
        return number

    return value


def _cfs(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Criterion:
    """Hall's merit with symmetrical uncertainty after discretisation by description length."""
    codes = encode(X, bins="mdl", y=y, sample_weight=weight)
    _, labels = np.unique(y, return_inverse=True)
    relevance = codes.su_relevance(labels)
    rows: dict[int, np.ndarray] = {}

    def value(features: np.ndarray) -> float:
        for j in features.tolist():
            if j not in rows:
                rows[j] = np.asarray(codes.su_row(j))
        table = np.array([rows[j][features] for j in features.tolist()])
        return cfs_merit(range(len(features)), relevance[features], table)

    return value


class _Normals:
    """The classes as normal distributions of the standardised features."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None):
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError("a distance between classes needs at least two of them in y.")
        self.weight = np.ones(len(X)) if weight is None else weight
        counts = np.bincount(codes, self.weight)
        few = np.flatnonzero(counts <= 1)
        if len(few):
            has = "one sample only" if weight is None else "weights that come to one row or less"
            raise ValueError(
                f"class {classes.tolist()[few[0]]!r} has {has}; the covariance of a class needs at "
                "least two. Leave the class out, or use another criterion."
            )
        X = X / safe_units(np.abs(X).max(axis=0))
        centred = X - np.average(X, axis=0, weights=self.weight)
        scale = np.sqrt(np.average(centred**2, axis=0, weights=self.weight))
        self.Z = centred / np.where(scale > 0, scale, 1.0)
        self.rows = [np.flatnonzero(codes == k) for k in range(len(classes))]
        self.counts, self.proportions = counts, counts / counts.sum()
        self.means = np.array(
            [np.average(self.Z[rows], axis=0, weights=self.weight[rows]) for rows in self.rows]
        )

    def covariances(self, features: np.ndarray) -> list[np.ndarray]:
        """Of every class, in the features of a subset."""
        found = []
        for rows, mean, count in zip(self.rows, self.means, self.counts, strict=True):
            centred = self.Z[np.ix_(rows, features)] - mean[features]
            weighted = centred * self.weight[rows, None]
            covariance = centred.T @ weighted / (count - 1)
            covariance.flat[:: len(features) + 1] += RIDGE
            found.append(covariance)
        return found

    def sum_over_pairs(self, features: np.ndarray, distance: Callable[..., float]) -> float:
        """Distances of all pairs of classes, weighted by the product of their proportions."""
        covariances = self.covariances(features)
        total = 0.0
        for i, j in combinations(range(len(self.rows)), 2):
            difference = self.means[i, features] - self.means[j, features]
            pair = distance(difference, covariances[i], covariances[j])
            total += self.proportions[i] * self.proportions[j] * pair
        return total


def _bhattacharyya(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Criterion:
    normals = _Normals(X, y, weight)

    def distance(d: np.ndarray, A: np.ndarray, B: np.ndarray) -> float:
        middle = linalg.cho_factor(0.5 * (A + B), lower=True)
        logs = [_log_determinant(linalg.cholesky(S, lower=True)) for S in (A, B)]
        apart = float(d @ linalg.cho_solve(middle, d)) / 8.0
        return apart + 0.5 * (_log_determinant(middle[0]) - 0.5 * sum(logs))

    return lambda features: normals.sum_over_pairs(features, distance)


def _divergence(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Criterion:
    normals = _Normals(X, y, weight)

    def distance(d: np.ndarray, A: np.ndarray, B: np.ndarray) -> float:
        first, second = linalg.cho_factor(A, lower=True), linalg.cho_factor(B, lower=True)
        apart = float(d @ linalg.cho_solve(first, d)) + float(d @ linalg.cho_solve(second, d))
        shape = np.trace(linalg.cho_solve(first, B)) + np.trace(linalg.cho_solve(second, A))
        return 0.5 * (apart + float(shape) - 2.0 * len(d))

    return lambda features: normals.sum_over_pairs(features, distance)


def _log_determinant(factor: np.ndarray) -> float:
    return 2.0 * float(np.log(factor.diagonal()).sum())


#: Criteria by name, and whether they are monotone.
CRITERIA: dict[str, tuple[Callable[..., Criterion], bool]] = {
    "cfs": (_cfs, False),
    "bhattacharyya": (_bhattacharyya, True),
    "divergence": (_divergence, True),
}
