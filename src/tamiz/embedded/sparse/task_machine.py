r"""Sparse linear machines for classes or numbers.

For a numeric target the hinge losses give way to those of :class:`~tamiz.svm.SVR`,

.. math:: \sum_i C_i \,(|t_i - \langle w, x_i\rangle - b| - \epsilon)_+ ,

and the penalties on the weights stay. The target is measured from its median, which only shifts
the intercept; with ``scale_target`` it is divided by its standard deviation as well, so that the
parameters have no unit. Weights and intercept are given back in the unit of the target.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamiz.embedded.sparse.machine import LinearFit, SparseLinearMachine, check_numbers
from tamiz.pictures import RegressorPlot
from tamiz.solvers.mixed_interior import PenalisedHinge
from tamiz.solvers.tube_program import TubeLosses
from tamiz.svm.last_machine import TaskSelector, spread_of
from tamiz.svm.linear_machine import LinearMachineRegressor


class TubeProblem(NamedTuple):
    """A regression: the target and the penalty of each sample's loss."""

    X: Any  # float64, C-contiguous or CSR
    target: np.ndarray  # from the level, in units
    C: np.ndarray
    epsilon: float  # in units
    level: float = 0.0
    unit: float = 1.0

    @property
    def losses(self) -> TubeLosses:
        """The losses alone."""
        return TubeLosses(self.target, self.C, self.epsilon)

    def penalised(self, nu: np.ndarray) -> PenalisedHinge:
        """The problem with an ℓ2 penalty and ``nu`` on the absolute weights, row by row."""
        X, y, C, margin = self.losses.kinks(self.X)
        return PenalisedHinge(X, y, C, nu, margin)

    def quick_weights(self, features: np.ndarray) -> np.ndarray:
        """Weights of a machine with squared losses, which takes a moment at any ``C``."""
        machine = LinearMachineRegressor(C=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine.fit(self.X[:, features], self.target, self.C)
        return np.ravel(machine.coef_)

    def restored(self, fit: LinearFit) -> LinearFit:
        """The machine in the units of the target."""
        intercept = self.unit * fit.intercept + self.level
        return fit._replace(coef=self.unit * fit.coef, intercept=float(intercept))


def _decides(machine: Any) -> bool:
    """A regression has no decision values."""
    return bool(machine._known_task() != "regression")


class TaskMachine(TaskSelector, SparseLinearMachine, RegressorPlot):
    """Base of the sparse machines that take classes or numbers, as their parameter ``task`` says.

    A subclass has the parameters ``task``, ``epsilon`` and ``scale_target`` as well, and its
    ``_fit_machine`` takes a ``BinaryProblem`` or a :class:`TubeProblem`.
    """

    epsilon: float
    scale_target: bool
    class_weight: Any

    @available_if(_decides)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive values speak for ``classes_[1]``. Several: one column for each
            class, the largest wins.
        """
        return super().decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample, or a number for a regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels or numbers.
        """
        check_is_fitted(self)
        return super().decision_function(X) if self.task_ == "regression" else super().predict(X)

    def _draw(self, plane: Any, X: np.ndarray, y: Any, ax: Any, slack: bool) -> None:
        draw = RegressorPlot._draw if self.task_ == "regression" else SparseLinearMachine._draw
        draw(self, plane, X, y, ax, slack)

    def _counts(self, X: Any, y: Any) -> list[str]:
        count = RegressorPlot._counts if self.task_ == "regression" else SparseLinearMachine._counts
        return count(self, X, y)

    def _heights(self, X: np.ndarray, y: Any) -> np.ndarray:
        kind = RegressorPlot if self.task_ == "regression" else SparseLinearMachine
        return kind._heights(self, X, y)

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, list[tuple[np.ndarray, np.ndarray]], float]:
        self.__dict__.pop("epsilon_", None)
        if not self._settle_task(y):
            return super()._read(X, y, sample_weight)
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight={self.class_weight!r} is for classes, and y is taken as numbers; "
                "use class_weight=None and, to weigh samples, sample_weight."
            )
        X, target, weight = check_numbers(self, X, y, sample_weight)
        return X, [(target, weight)], float(weight.sum())

    def _problem(self, X: Any, side: np.ndarray, C: np.ndarray) -> Any:
        if self.task_ != "regression":
            return super()._problem(X, side, C)
        unit = spread_of(side, C) if self.scale_target else 1.0
        self.epsilon_ = unit * float(self.epsilon)
        with np.errstate(over="ignore", invalid="ignore"):
            level = float(np.median(side))
            beyond = (side - level) / unit
        if not np.isfinite(beyond).all():
            raise ValueError("y has values whose differences are beyond what float64 holds.")
        return TubeProblem(X, beyond, C, float(self.epsilon), level, unit)
