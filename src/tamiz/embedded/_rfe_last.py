"""The machine on the selected features, started from where the elimination had it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tamiz.kernels import RBF, Kernel, Linear, Polynomial, Sigmoid
from tamiz.kernels.algebra import Composite
from tamiz.svm import SVC


class Widened:
    """Puts the features that were left out back as zeros, for kernels that count on them."""

    def __init__(self, features: np.ndarray, n_features: int):
        self.features = features
        self.n_features = n_features

    def __call__(self, X: Any) -> np.ndarray:
        wide = np.zeros((X.shape[0], self.n_features))
        wide[:, self.features] = X.toarray() if sparse.issparse(X) else X
        return wide

    def __repr__(self) -> str:
        return f"zeros around {len(self.features)} of {self.n_features} features"


def restricted(kernel: Kernel, features: np.ndarray, n_features: int) -> Kernel:
    """The kernel on some of the features, equal to the whole one with zeros for the others."""
    if _takes_any_width(kernel) or len(features) == n_features:
        return kernel
    return kernel.of(Widened(features, n_features))


def _takes_any_width(kernel: Kernel) -> bool:
    if isinstance(kernel, Composite):
        return all(_takes_any_width(part) for part in kernel.parts)
    return isinstance(kernel, (Linear, Polynomial, RBF, Sigmoid))


def fit_last(
    svc: SVC,
    X: Any,
    y: Any,
    sample_weight: Any,
    classes: np.ndarray,
    alpha: Any,
) -> SVC:
    """Fit ``svc``, from the dual variables ``alpha`` (machines, samples) if they are known."""
    if alpha is None:
        return svc.fit(X, y, sample_weight)
    svc.set_params(warm_start=True)
    svc.alpha_ = alpha[0] if len(alpha) == 1 else sparse.csr_matrix(alpha)
    svc.classes_ = classes
    svc._scheme = svc.multiclass
    svc.fit(X, y, sample_weight)
    return svc.set_params(warm_start=False)
