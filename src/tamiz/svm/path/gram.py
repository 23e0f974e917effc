"""Kernel matrices over all samples, training and test alike, many of them from one.

*Many subsets of features.* For the subset that neighbours are asked of, the squared distances or
inner products are kept, once if all splits see the same features, else for each split. A subset
that differs from it by a few features gets its kernel values in one pass over them
(:mod:`tamiz.kernels.compiled`), row by row as they are needed; others are summed up feature by
feature, or by BLAS if they are many.

*Many kernels.* A radial kernel is a function of squared distances, a polynomial one of inner
products. Along a grid of gamma, degree and constant these do not change: they are worked out once,
by BLAS in float64, and every kernel of the grid is one pass over them. Squared distances may be
kept in float32 where kernel values are: the error of an exponent x = gamma d is then at most 6e-8
x, and that of the value x exp(-x) 6e-8, less than its own rounding.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamiz.kernels import compiled
from tamiz.kernels.compiled import inner_products, mirror, panels, squared_norms
from tamiz.runtime.threads import product, run_tiles
from tamiz.validation import require_memory

#: Memory for the matrices of all splits together, in bytes.
BUDGET = 256 * 2**20
#: More features than this are brought together by BLAS.
_MANY = 24
#: Taking features away must not leave rounding of theirs behind: bound on their relative size.
_LARGEST_PART = 1e4
_ROWS, _COLUMNS = 64, 2048  # a tile that stays in the second-level cache
_PANEL = 128


class SubsetPlan(NamedTuple):
    """What to add to and take from which bases (None: zeros) to come to a subset."""

    features: np.ndarray
    come: np.ndarray
    gone: np.ndarray
    bases: list[np.ndarray] | None
    gammas: np.ndarray  # one for each split
    shared: np.ndarray | None  # columns that come and go, if all splits see the same


class LazyGram:
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

    @classmethod
    def filled(cls, K: np.ndarray) -> LazyGram:
        """A matrix all of whose rows are there."""
        self = cls.__new__(cls)
        self.source = compiled.RowSource(K, np.empty((0, len(K))), np.empty(0), True, 1.0, 0.0, 1)
        self.K, self.ready = K, np.ones(len(K), dtype=np.uint8)
        self.diag = np.ascontiguousarray(K.diagonal())
        self.largest = float(np.abs(self.diag).max(initial=0.0))
        return self

    def __len__(self) -> int:
        return len(self.K)

    def rows(self, index: np.ndarray) -> None:
        """Have some rows filled."""
        compiled.fill_rows(tuple(self.source), index, self.K, self.ready)

    def part(self, samples: np.ndarray) -> LazyGram:
        """The matrix of some samples, for a machine to which the others are nothing."""
        block = np.empty((len(samples), len(samples)))
        if self.ready.all():
            compiled.take_block(self.K, samples, block)
            return LazyGram.filled(block)
        source = self.source
        compiled.take_block(source.base, samples, block)
        columns = np.ascontiguousarray(source.columns[:, samples])
        return LazyGram(source._replace(base=block, columns=columns), np.empty_like(block))

    def _inner_diagonal(self) -> np.ndarray:
        source = self.source
        own = source.base.diagonal() + source.signs @ np.square(source.columns)
        return np.asarray((source.constant + source.gamma * own) ** source.degree)


class SplitColumns:
    """Features as a machine gets them: as they are, or scaled by what the training part says.

    Parameters
    ----------
    X : array of shape (n, p)
        All samples, all features.
    train : array or None
        Positions of the training samples, for the statistics.
    scaler : StandardScaler, MinMaxScaler or None
        Not fitted; its kind is what counts.
    weight : array or None
        Weights of the training samples, which count for the variance.

    Attributes
    ----------
    mean, variance : arrays of shape (p,)
        Of the scaled features over the training samples.
    """

    def __init__(
        self, X: np.ndarray, train: np.ndarray, scaler: Any = None, weight: np.ndarray | None = None
    ):
        self.X = X
        self.scaler: Any = None if scaler is None else _fitted(scaler, X[train])
        part = X[train]
        if self.scaler is not None:
            part = self.scaler.transform(part)
        if weight is not None:  # in a unit in which no product overflows
            weight = np.ldexp(weight, -np.frexp(weight.max())[1])
        self.mean = np.average(part, axis=0, weights=weight)
        self.variance = np.average(np.square(part - self.mean), axis=0, weights=weight)

    def take(self, features: np.ndarray, centred: bool) -> np.ndarray:
        """Features of all samples, one a row; ``centred`` moves them, for distances."""
        columns = np.ascontiguousarray(self.X[:, features].T)
        if isinstance(self.scaler, StandardScaler):
            columns -= self.scaler.mean_[features, None]
            columns /= self.scaler.scale_[features, None]
        elif isinstance(self.scaler, MinMaxScaler):
            columns *= self.scaler.scale_[features, None]
            columns += self.scaler.min_[features, None]
        if centred:
            columns -= self.mean[features, None]
        return columns

    def energy(self, centred: bool) -> np.ndarray:
        """Mean square of every feature over the training samples."""
        return self.variance if centred else self.variance + np.square(self.mean)

    def peak(self, centred: bool) -> np.ndarray:
        """Largest square of every feature over all samples, those to judge by included."""
        every = np.arange(self.X.shape[1])
        return np.square(self.take(every, centred)).max(axis=1)


def _fitted(scaler: Any, X: np.ndarray) -> Any:
    kind = StandardScaler if isinstance(scaler, StandardScaler) else MinMaxScaler
    return kind().fit(X)


class SubsetGrams:
    """Kernel matrices over all samples, training and test alike.

    Parameters
    ----------
    kernel : Kernel
        One with a ``pairwise_form``; its gamma may be a word.
    columns : list of SplitColumns
        The features as each split sees them; a single one if all see the same.
    statistics : list of SplitColumns
        The features as the training part of each split has them, for gamma; a single one if it
        does not depend on the split.
    n : int
        Number of samples.
    """

    def __init__(
        self, kernel: Any, columns: list[SplitColumns], statistics: list[SplitColumns], n: int
    ):
        self.form = kernel.pairwise_form
        self._means = np.stack([c.mean for c in statistics])
        self._variances = np.stack([c.variance for c in statistics])
        self.columns = columns
        self.n = n
        self.radial = self.form.radial
        self._near: tuple[np.ndarray, list[np.ndarray]] | None = None
        require_memory(
            24 * n**2,
            f"kernel values between {n:,} samples, for one subset of features after the other",
            "Use fewer samples, or the linear kernel.",
        )
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

    def plan(self, features: np.ndarray) -> SubsetPlan:
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
    ) -> SubsetPlan:
        shared = None
        if len(self.columns) == 1 and (bases is not None or len(features) <= _MANY):
            shared = self.columns[0].take(np.concatenate([come, gone]), self.radial)
        return SubsetPlan(features, come, gone, bases, self._gammas(features), shared)

    def gram(self, plan: SubsetPlan, split: int) -> LazyGram:
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
        return LazyGram(source, self._scratch("K"))

    def _build(self, columns: SplitColumns, features: np.ndarray, out: np.ndarray) -> np.ndarray:
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


# ---------------------------------------------------------------------- many kernels


class GridGrams:
    """What the kernels of a grid have in common on one table.

    Parameters
    ----------
    X : array of shape (n, p)
        All samples, as the machines see them.
    single : bool
        Whether squared distances may be kept in float32.
    """

    def __init__(self, X: np.ndarray, single: bool):
        self.X = X
        self.single = single
        self._distances: np.ndarray | None = None
        self._inner: np.ndarray | None = None

    def prepare(self, kernel: Any) -> None:
        """Work out what a kernel is a function of, unless it is known."""
        if kernel.pairwise_form.radial:
            if self._distances is None:
                self._distances = squared_distances(self.X, self.single)
        elif self._inner is None:
            self._inner = inner_products(self.X, None)

    def gram(self, kernel: Any, dtype: Any) -> np.ndarray:
        """The kernel matrix; not finite where numbers are too large for it."""
        self.prepare(kernel)
        form = kernel.pairwise_form
        if form.radial:
            assert self._distances is not None
            return radial(self._distances, float(form.gamma), np.dtype(dtype))
        assert self._inner is not None
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(kernel.value(self._inner.copy()))


def squared_distances(X: np.ndarray, single: bool) -> np.ndarray:
    """Squared distances between all rows, exactly symmetric, zero on the diagonal.

    The mean is taken off first: distances stay, and what cancels shrinks to the spread of the data.
    """
    samples = X - X.mean(axis=0)
    norms = squared_norms(samples)
    n = len(samples)
    out = np.empty((n, n), dtype=np.float32 if single else np.float64)
    for start, stop in panels(n, _PANEL):
        part = samples[start:stop] @ samples[start:].T
        part *= -2.0
        part += norms[start:stop, None]
        part += norms[start:]
        np.maximum(part, 0.0, out=part)
        out[start:stop, start:] = part
        mirror(out, start, stop)
    np.fill_diagonal(out, 0.0)
    return out


def radial(distances: np.ndarray, gamma: float, dtype: Any) -> np.ndarray:
    """``exp(-gamma * distances)`` in float32 or float64."""
    out = np.empty(distances.shape, dtype=dtype)
    task = _single_rows if dtype == np.float32 else _double_rows
    run_tiles(task, len(distances), distances, gamma, out, min_items=_ROWS)
    return out


def _single_rows(start: int, stop: int, distances: np.ndarray, gamma: float, out: Any) -> None:
    n = distances.shape[1]
    factor = np.float32(-gamma)
    buffer = np.empty(_ROWS * min(n, _COLUMNS), dtype=np.float32)
    none = np.zeros(max(_ROWS, _COLUMNS), dtype=np.float32)
    for r0 in range(start, stop, _ROWS):
        r1 = min(r0 + _ROWS, stop)
        for c0, c1 in panels(n, _COLUMNS):
            tile = buffer[: (r1 - r0) * (c1 - c0)].reshape(r1 - r0, c1 - c0)
            with np.errstate(over="ignore"):
                np.multiply(distances[r0:r1, c0:c1], factor, out=tile, casting="same_kind")
            compiled.radial_tile(tile, none[: r1 - r0], none[: c1 - c0], out, r0, c0)


def _double_rows(start: int, stop: int, distances: np.ndarray, gamma: float, out: Any) -> None:
    step = max(1, 2**16 // max(1, distances.shape[1]))
    for r0 in range(start, stop, step):
        rows = out[r0 : min(r0 + step, stop)]
        np.multiply(distances[r0 : r0 + len(rows)], -gamma, out=rows)
        np.exp(rows, out=rows)
