"""What the machines without labels share: scores, predictions, fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from tamiz.qp import QMatrix, QuadraticProblem
from tamiz.solvers import QPResult, solve
from tamiz.svm.kernel_machine import KernelMachine
from tamiz.validation import check_sample_weight, unchanged_on_error


def least_gradient(result: QPResult, problem: QuadraticProblem) -> float:
    """The level of the boundary: the least gradient of the variables below their bound.

    Taken at the edge and not as the mean over the free variables, it leaves outside only samples
    whose variable is at its bound, however loose the tolerance: at most the promised share.
    """
    assert result.gradient is not None
    below = result.gradient[result.a < problem.upper]
    return float(below.min()) if len(below) else float(result.multiplier or 0.0)


def squared_spread(K: QMatrix) -> float:
    """Largest squared distance from the first sample: between ``R²`` and ``4R²`` of the ball."""
    diag = K.diag()
    row = np.asarray(K.rows(np.zeros(1, dtype=np.intp))[0], dtype=np.float64)
    return max(float((diag[0] - 2.0 * row + diag).max()), 1e-300)


#: Samples this close to the boundary, relative to its level, count as inside: free support vectors
#: lie on it exactly, and rounding must not decide what they are.
ON_BOUNDARY = 1e-9


class NoveltyMachine(OutlierMixin, KernelMachine):
    """Frame of the machines that describe one class; a subclass states its problem."""

    @abstractmethod
    def _problem(self, K: QMatrix, weight: np.ndarray) -> QuadraticProblem: ...

    def _scale(self, K: QMatrix) -> float:
        """What the tolerance is relative to: gradients have the scale of the kernel here."""
        return max(float(np.abs(K.diag()).max(initial=0.0)), 1e-300)

    @abstractmethod
    def _describe(self, result: QPResult, K: QMatrix, problem: QuadraticProblem) -> None:
        """Set the attributes that follow from the solution."""

    @abstractmethod
    def score_samples(self, X: Any) -> np.ndarray:
        """How typical the rows of ``X`` are: the higher the more."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, or their square matrix of kernel values if precomputed.
        y : ignored
            For the sake of pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a sample of weight zero is left out.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit(X, sample_weight)
        return self

    def _fit(self, X: Any, sample_weight: Any) -> None:
        self._validate_params()
        X = self._check_table(X, reset=True)
        n = X.shape[0]
        weight = check_sample_weight(sample_weight, n)
        active = np.flatnonzero(weight > 0)
        previous = getattr(self, "alpha_", None) if self.warm_start else None
        start = previous[active] if previous is not None and len(previous) == n else None
        part = self._take(X, active) if len(active) < n else X
        self.kernel_ = self._resolve_kernel(part, weight[active])
        K = self._gram_matrix(part, 1.0)
        problem = self._problem(K, weight[active])
        options = self._solver_options()
        options["tol"] *= self._scale(K)
        result = solve(problem, start=start, **options)
        self.alpha_ = np.zeros(n)
        self.alpha_[active] = result.a
        self.intercept_ = np.zeros(1)
        self._describe(result, K, problem)
        self._store_expansion(X, self.alpha_[None, :])
        positive = result.a > 0
        self.free_support_ = active[positive & (result.a < problem.upper)]
        self.bounded_support_ = active[positive & (result.a >= problem.upper)]
        self.kkt_violation_ = float(result.violation or 0.0)
        self.n_iter_ = max(1, result.iterations)
        self.status_ = str(result.status)
        self._report([result.status])

    def decision_function(self, X: Any) -> np.ndarray:
        """``score_samples(X) - offset_``: not negative for samples of the described class."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """1 for samples of the described class, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
