"""Kernel matrices of subsets of features, the neighbours of one subset at little cost.

For the subset that neighbours are asked of, the squared distances or inner products are kept, once
if all splits see the same features, else for each split. A subset that differs from it by a few
features gets its kernel values in one pass over them (:mod:`tamiz.kernels.lazy_rows`); others are
summed up feature by feature, or by BLAS if they are many.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tamiz.kernels import lazy_rows as compiled
from tamiz.runtime.blas import product
from tamiz.search.svc.folds import Columns

#: Memory for the matrices of all splits together, in bytes.
BUDGET = 256 * 2**20
#: More features than this are brought together by BLAS.
_MANY = 24
#: Taking features away must not leave rounding of theirs behind: bound on their relative size.
_LARGEST_PART = 1e4


class Plan(NamedTuple):
    """What to add to and take from which bases (None: zeros) to come to a subset."""

    features: np.ndarray
    come: np.ndarray
    gone: np.ndarray
    bases: list[np.ndarray] | None
    gammas: np.ndarray  # one for each split
    shared: np.ndarray | None  # columns that come and go, if all splits see the same


class Gram:
    """A kernel matrix whose rows are filled when they are asked for.

    Attributes
    ----------
    K : array of shape (n, n)
        Only rows that are ready hold kernel values.
    ready : array of shape (n,)
        1 for the rows that are.
    diag : array of shape (n,)
        The diagonal, always there.
    largest : float
        Of the diagonal.
    """

    def __init__(self, source: compiled.RowSource, K: np.ndarray):
        self.source = source
        self.K = K
        self.ready = np.zeros(len(K), dtype=np.uint8)
        self.diag = _ones(len(K)) if source.radial else self._inner_diagonal()
        self.largest = 1.0 if source.radial else float(np.abs(self.diag).max())

    def __len__(self) -> int:
        return len(self.K)

    def rows(self, index: np.ndarray) -> None:
        """Have some rows filled."""
        compiled.fill_rows(tuple(self.source), index, self.K, self.ready)

    def part(self, samples: np.ndarray) -> Gram:
        """The matrix of some samples, for a machine to which the others are nothing."""
        source = self.source
        base = np.empty((len(samples), len(samples)))
        compiled.take_block(source.base, samples, base)
        columns = np.ascontiguousarray(source.columns[:, samples])
        return Gram(source._replace(base=base, columns=columns), np.empty_like(base))

    def _inner_diagonal(self) -> np.ndarray:
        source = self.source
        own = source.base.diagonal() + source.signs @ np.square(source.columns)
        return np.asarray((source.constant + source.gamma * own) ** source.degree)


class Grams:
    """Kernel matrices over all samples, training and test alike.

    Parameters
    ----------
    kernel : Kernel
        One with a ``pairwise_form``; its gamma may be a word.
    columns : list of Columns
        The features as each split sees them; a single one if all see the same.
    statistics : list of Columns
        The features as the training part of each split has them, for gamma; a single one if it
        does not depend on the split.
    n : int
        Number of samples.
    """

    def __init__(self, kernel: Any, columns: list[Columns], statistics: list[Columns], n: int):
        self.form = kernel.pairwise_form
        self._means = np.stack([c.mean for c in statistics])
        self._variances = np.stack([c.variance for c in statistics])
        self.columns = columns
        self.n = n
        self.radial = self.form.radial
        self._near: tuple[np.ndarray, list[np.ndarray]] | None = None
        self._zeros = np.zeros((n, n))
        # of each feature as each split sees it: what its removal may leave behind, what there is
        self._peaks = np.stack([c.peak(self.radial) for c in columns])
        self._energies = np.stack([c.energy(self.radial) for c in columns])
        self._local = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_local": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _local=threading.local())

    def approach(self, features: np.ndarray | None) -> None:
        """Keep the bases of one subset, or of none."""
        if features is None:
            self._near = None
            return
        if self._near is not None and np.array_equal(self._near[0], features):
            return
        if 8 * self.n**2 * len(self.columns) > BUDGET:
            self._near = None
            return
        bases = [
            self._build(columns, features, np.empty((self.n, self.n))) for columns in self.columns
        ]
        self._near = features, bases  # in one assignment: others may be reading

    def _gammas(self, features: np.ndarray) -> np.ndarray:
        """The numbers that gamma stands for on the training parts."""
        splits = len(self._means)
        gamma = self.form.gamma
        if gamma == "auto":
            return np.full(splits, 1.0 / len(features))
        if gamma == "scale":
            mean = self._means[:, features]
            # the variance of all entries: within the features, and of their means
            spread = np.square(mean - mean.mean(axis=1, keepdims=True))
            variance = (self._variances[:, features] + spread).mean(axis=1)
            positive = variance > 0
            return np.where(positive, 1.0 / (len(features) * np.where(positive, variance, 1)), 1.0)
        return np.full(splits, float(gamma))

    def plan(self, features: np.ndarray) -> Plan:
        """How to come to a subset: from the neighbour, or from nothing."""
        near = self._near
        if near is None:
            return self._plan(features, features, features[:0], None)
        known, bases = near
        inside = np.zeros(self.columns[0].X.shape[1], dtype=bool)
        inside[known] = True
        come = features[~inside[features]]
        inside[features] = ~inside[features]  # left: those that are known and not asked for
        gone = known[inside[known]]
        far = len(come) + len(gone) >= min(len(features), _MANY + 1)
        if not far and len(gone):
            lost = self._peaks[:, gone].sum(axis=1)
            far = bool((lost > _LARGEST_PART * self._energies[:, features].sum(axis=1)).any())
        if far:
            return self._plan(features, features, features[:0], None)
        return self._plan(features, come, gone, bases)

    def _plan(
        self,
        features: np.ndarray,
        come: np.ndarray,
        gone: np.ndarray,
        bases: list[np.ndarray] | None,
    ) -> Plan:
        shared = None
        if len(self.columns) == 1 and (bases is not None or len(features) <= _MANY):
            shared = self.columns[0].take(np.concatenate([come, gone]), self.radial)
        return Plan(features, come, gone, bases, self._gammas(features), shared)

    def gram(self, plan: Plan, split: int) -> Gram:
        """The kernel matrix; the caller's until this thread asks for another."""
        which = split if len(self.columns) > 1 else 0
        columns = self.columns[which]
        gamma = float(plan.gammas[split if len(plan.gammas) > 1 else 0])
        if plan.bases is None and len(plan.features) > _MANY:
            base = self._build(columns, plan.features, self._scratch("base"))
            changed = np.empty((0, self.n))
        else:
            base = self._zeros if plan.bases is None else plan.bases[which]
            moved = np.concatenate([plan.come, plan.gone])
            shared = plan.shared
            changed = columns.take(moved, self.radial) if shared is None else shared
        signs = np.ones(len(changed))
        signs[len(plan.come) :] = -1.0
        form = self.form
        source = compiled.RowSource(
            base, changed, signs, form.radial, gamma, form.constant, form.degree
        )
        return Gram(source, self._scratch("K"))

    def _build(self, columns: Columns, features: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Squared distances or inner products of a subset."""
        values = columns.take(features, self.radial)
        if len(features) <= _MANY:
            (compiled.distance_pass if self.radial else compiled.product_pass)(values, out)
            return out
        out[...] = product(values.T, values)
        if self.radial:
            compiled.to_distances(out)
        return out

    def _scratch(self, name: str) -> np.ndarray:
        """A matrix of this thread: asking the system for memory would cost more than the work."""
        matrix = getattr(self._local, name, None)
        if matrix is None:
            matrix = np.empty((self.n, self.n))
            setattr(self._local, name, matrix)
        return matrix


@lru_cache(maxsize=4)
def _ones(n: int) -> np.ndarray:
    return np.ones(n)  # nobody writes to a diagonal
