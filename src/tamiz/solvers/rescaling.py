"""Few features by rescaling: multiply them by their weights, train again, repeat.

What :class:`tamiz.embedded.AROM` does with the hinge loss, for any machine with weights; its
docstring states the iteration and what it minimises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.base import PathStep
from tamiz.runtime.progress import Progress
from tamiz.solvers.mixed_interior import constant

#: A feature has left when its contribution is this fraction of the largest one; contributions of
#: features that leave fall ever faster (each step squares them), so the fraction hardly matters.
_GONE = 1e-6


class Rescaling:
    """The iteration of one machine: what is left of the features, and with which factors.

    Attributes
    ----------
    alive : array of int
        Features that are left.
    z : array of shape (n_features,)
        Their factors in the next machine.
    scale, w : arrays of shape (n_features,)
        Factors and weights of the last machine.
    left : array of shape (n_features,)
        When each feature left; 0 for those that did not.
    finished : bool
        Whether no machine has to be trained any more.
    change : float or None
        Largest change of a contribution in the last step, as a fraction of the largest one.
    """

    def __init__(self, spread: np.ndarray, normalize: bool, tol: float):
        self.spread, self.normalize, self.tol = spread, normalize, tol
        self.alive = np.flatnonzero(spread > 0)
        # no variance of the data, which a single feature in small units could fill
        self.total = len(self.alive)
        self.z = np.where(spread > 0, 1.0, 0.0)
        self.scale, self.w = self.z.copy(), np.zeros(len(spread))
        self.left = np.zeros(len(spread))
        self.history: list[float] = []
        self.path: list[PathStep] = []
        self.status, self.finished = "max_iter", False
        self.change: float | None = None

    def absorb(self, w: np.ndarray, objective: float, status: str) -> None:
        """Take the machine on the features ``alive``, multiplied by ``z``, and rescale."""
        z, spread, alive = self.z, self.spread, self.alive
        self.scale, self.w = z.copy(), np.zeros(len(z))
        self.w[alive] = w
        self.history.append(objective)
        size = np.abs(z * self.w) * spread
        largest = float(size.max(initial=0.0))
        gone = alive[size[alive] <= _GONE * largest]
        if len(gone):
            when = len(self.history)
            self.left[gone] = when + (0.5 * size[gone] / largest if largest > 0 else 0.0)
            n_left = len(alive) - len(gone)
            self.path.append(PathStep("drop", tuple(gone.tolist()), n_left, objective))
        if status != "converged":
            self.status, self.finished = status, True
            return
        before = z * spread
        if self.normalize:  # proportions are what should stand still
            before = before * (largest / before.max(initial=1e-300))
        change = np.abs(size - before).max(initial=0.0)
        self.change = float(change / largest) if largest > 0 else 0.0
        normal = _has_norm(z * spread, self.total, self.normalize)
        if not len(gone) and change <= self.tol * largest and normal:
            self.status, self.finished = "converged", True
            return
        z = np.abs(z * self.w)
        z[gone] = 0.0
        size = z * spread
        largest = float(size.max(initial=0.0))
        if self.normalize and largest > 0.0:  # in a unit whose square is within float64
            z = z / largest * np.sqrt(self.total / np.sum((size / largest) ** 2))
        self.z, self.alive = z, np.flatnonzero(z)
        if not len(self.alive):
            self.w[:] = 0.0
            self.status, self.finished = "converged", True


def rescale(
    train: Callable[[np.ndarray, np.ndarray, Progress], Any],
    run: Rescaling,
    max_iter: int,
    progress: Progress,
) -> Any:
    """Train and rescale until the features that are left keep their contributions.

    ``train(alive, z, progress)`` gives the machine on the features ``alive``, multiplied by their
    factors: it has ``w``, ``objective`` and ``status``. The last of them is returned.
    An interruption ends it with the last machine that was trained, if there is one.
    """
    last: Any = None
    while not run.finished and len(run.history) < max_iter:
        try:
            found = train(run.alive, run.z, progress)
        except KeyboardInterrupt:
            if last is None:
                raise
            run.status = "interrupted"
            break
        if found.status == "interrupted" and last is not None:
            run.status = "interrupted"
            break
        last = found
        progress.update(f"step {len(run.history) + 1}, {len(run.alive)} of {len(run.z)} features")
        run.absorb(found.w, found.objective, found.status)
    assert last is not None
    return last


def _has_norm(contributions: np.ndarray, total: int, normalize: bool) -> bool:
    """Whether the factors have their common factor already: those of the first machine may not."""
    return not normalize or bool(abs(np.sum(contributions**2) - total) <= 1e-9 * total)


def spread_of(X: Any, weight: np.ndarray) -> np.ndarray:
    """Standard deviation of every feature, exactly zero where it is constant.

    Samples count by the penalties of their losses: what costs nothing has no part in it, and a
    sample of weight two is the sample twice.
    """
    fraction = weight / weight.sum()
    if sparse.issparse(X):
        mean = X.T @ fraction
        square = X.multiply(X).T @ fraction
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        # a rare feature may have less than rounding leaves: its root mean square will do
        deviation = np.where(deviation > 0, deviation, np.sqrt(square))
    else:
        deviation = np.sqrt(fraction @ (X - fraction @ X) ** 2)
    return np.where(constant(X), 0.0, deviation)
