"""How alike two features are, and how alike a feature and the target: what QPFS and CFS ask.

A similarity answers with whole rows and never has to exist as a matrix. It comes from arrays
(:func:`similarity_of_arrays`) or from the statistics of a stream (:func:`similarity_of_stream`).
Features without any information (constant, or constant after discretisation) are left out: nothing
is similar to them, so a method that avoids redundancy would take them for the best of all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.filters.base import REGRESSION
from tamiz.filters.streaming import Correlate, Sampling, Stream, count_columns
from tamiz.gpu import lane_of
from tamiz.information import encode
from tamiz.information.codes import DiscreteColumns, require_pairs
from tamiz.information.columns import safe_units
from tamiz.information.on_card import to_card
from tamiz.runtime.progress import Progress
from tamiz.scale import CoMoments, RowSample
from tamiz.validation import (
    check_classes,
    check_regression_target,
    check_X,
    symmetric_matrix,
)

#: Entries computed at a time where the whole matrix is passed over but not kept.
_BLOCK_ENTRIES = 2**22

#: A column whose spread is below this fraction of its size holds rounding, not values.
_ROUNDING = 1e-12


class Kind(NamedTuple):
    """Which similarity is meant, and how the parameter is called that says so."""

    name: str  # "mutual_information", "symmetrical_uncertainty" or "pearson"
    parameter: str  # of the selector, for sentences
    least: float = 0.0  # entropy below which features are left out, see Information

    @property
    def counts(self) -> bool:
        """Whether features are discretised and counted."""
        return self.name != "pearson"

    @property
    def ratio(self) -> bool:
        """Whether information is divided by the entropies."""
        return self.name == "symmetrical_uncertainty"

    def require_labels(self, target: Target) -> None:
        """Refuse a measure that needs classes where the target holds numbers."""
        if target.is_numeric:
            raise ValueError(
                f'Unknown label type: continuous. {self.parameter}="{self.name}" needs class '
                f'labels, but y holds numbers; use {self.parameter}="pearson", which also serves '
                "regression, or put y into classes first."
            )


class Target(NamedTuple):
    """What is to be predicted: labels as codes, or numbers."""

    values: Any  # codes 0, 1, ... of the classes, or float64 numbers; None if they are streamed
    n_classes: int  # 0 for numbers

    @property
    def is_numeric(self) -> bool:
        return self.n_classes == 0


def read_target(y: np.ndarray, n_samples: int, task: str, *, guessed: bool) -> Target:
    """Check the vector ``y``, labels or numbers according to the task.

    If the task was ``guessed``, labels that look like a numeric target are warned of.
    """
    if task == "regression":
        labels = 'Use task="classification" for labels.'
        return Target(check_regression_target(y, n_samples, labels=labels), 0)
    found = check_classes(y, n_samples, quantity=REGRESSION, warn=guessed)
    return Target(found.codes, len(found.classes))


class Similarity(ABC):
    """Similarity of the informative features with each other and with the target."""

    n_features: int  # number of all features
    kept: np.ndarray  # the informative ones
    relevance: np.ndarray  # similarity of each kept feature with the target
    varies: np.ndarray | None = None  # which of all features vary; those kept, if not given
    progress = Progress("", 0)  # where a long computation says how far it is

    @property
    def n(self) -> int:
        """Number of informative features."""
        return len(self.kept)

    def prepare(self, index: np.ndarray) -> None:  # noqa: B027  (only streams gain by it)
        """Take note that the rows of the features ``index`` will be asked for."""

    @abstractmethod
    def rows(self, index: np.ndarray) -> np.ndarray:
        """Similarity of the features ``index`` (positions in ``kept``) with all, float64."""

    def row(self, k: int) -> np.ndarray:
        """Similarity of one feature with all."""
        return self.rows(np.array([k]))[0]

    @abstractmethod
    def diag(self) -> np.ndarray:
        """Similarity of every feature with itself."""

    @abstractmethod
    def points(self) -> np.ndarray:
        """A table of numbers whose columns stand for the features, to tell which lie close."""

    def dense(self) -> np.ndarray:
        """The whole matrix, made symmetric to the last bit."""
        require_pairs(self.n, 16)  # it and its transpose
        Q = self.rows(np.arange(self.n))
        return 0.5 * (Q + Q.T)

    def mean(self) -> float:
        """Mean of all entries, without keeping them."""
        step = max(1, _BLOCK_ENTRIES // max(1, self.n))
        total = 0.0
        for start in range(0, self.n, step):
            stop = min(start + step, self.n)
            total += float(self.rows(np.arange(start, stop)).sum())
            self.progress.update(f"mean similarity, {stop:,} of {self.n:,} features")
        return total / self.n**2


class Information(Similarity):
    """Mutual information of discretised features in nats, or symmetrical uncertainty (``ratio``).

    The mutual information of a feature with itself is its entropy: one that hardly varies is hardly
    redundant with anything, itself included, however little it tells of the target. Features whose
    entropy is below ``least`` times the mean of those that vary are left out like constant ones.
    ``points`` gives the codes of some features in a sample of rows, where no others are kept.
    """

    def __init__(
        self,
        codes: DiscreteColumns,
        *,
        least: float = 0.0,
        ratio: bool = False,
        points: Callable[[np.ndarray], np.ndarray] | None = None,
    ):
        entropies = codes.entropies()
        varying = entropies > 0.0
        enough = least * entropies[varying].mean() if varying.any() else 0.0
        self.n_features = codes.n_features
        self.ratio = ratio
        self.varies = codes.varies
        self.kept = np.flatnonzero(varying & (entropies >= enough))
        self.codes = codes if self.n == codes.n_features else codes.take(self.kept)
        self._diag = np.ones(self.n) if ratio else entropies[self.kept]
        self.relevance = codes.relevance(ratio=ratio)[self.kept]
        self._points = points

    def prepare(self, index: np.ndarray) -> None:
        self.codes.prepare(index)

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.codes.rows(index, ratio=self.ratio)

    def row(self, k: int) -> np.ndarray:
        return self.codes.su_row(k) if self.ratio else self.codes.row(k)

    def dense(self) -> np.ndarray:
        # each pair is counted once
        return self.codes.matrix(ratio=self.ratio, progress=self.progress)

    def diag(self) -> np.ndarray:
        return self._diag

    def points(self) -> np.ndarray:
        if self._points is not None:
            return self._points(self.kept)
        return np.column_stack([self.codes.column(j) for j in range(self.n)]).astype(np.float64)


class Pearson(Similarity):
    """Absolute correlation; with a class, the mean over its indicators weighted by frequency."""

    def __init__(self, X: np.ndarray, target: Target, weight: np.ndarray | None = None):
        self.weight = weight
        Z, varies = standardised(X, weight)
        self.n_features = X.shape[1]
        self.kept = np.flatnonzero(varies)
        self.Z = Z if len(self.kept) == X.shape[1] else np.ascontiguousarray(Z[:, self.kept])
        self.relevance = weighted_relevance(self._with, target, weight)

    def _with(self, columns: np.ndarray) -> np.ndarray:
        Y, _ = standardised(columns, self.weight)
        return np.minimum(np.abs(self.Z.T @ Y), 1.0)

    def rows(self, index: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(self.Z[:, index].T) @ self.Z
        np.abs(rows, out=rows)
        np.minimum(rows, 1.0, out=rows)
        rows[np.arange(len(index)), index] = 1.0
        return rows

    def diag(self) -> np.ndarray:
        return np.ones(self.n)

    def points(self) -> np.ndarray:
        return self.Z


class PearsonOfMoments(Similarity):
    """The same from sums of products, with the rows of a sample as points."""

    def __init__(self, moments: CoMoments, sample: RowSample | None = None):
        self.n_features = moments.n_features
        self.kept = np.flatnonzero(moments.varies())
        whole = np.abs(moments.correlations())
        self.R = whole if self.n == self.n_features else whole[np.ix_(self.kept, self.kept)]
        self.relevance = moments.relevance()[self.kept]
        self.sample = sample

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.R[index]

    def diag(self) -> np.ndarray:
        return np.ones(self.n)

    def points(self) -> np.ndarray:
        assert self.sample is not None
        return np.ascontiguousarray(standardised(self.sample.X)[0][:, self.kept])


class Custom(Similarity):
    """A function of two tables that compares each column of one with each of the other."""

    def __init__(self, X: np.ndarray, target: Target, function: Callable[..., Any]):
        self.function = function
        self.n_features = X.shape[1]
        self.kept = np.flatnonzero(standardised(X)[1])
        self.X = X if len(self.kept) == X.shape[1] else np.ascontiguousarray(X[:, self.kept])
        self.relevance = weighted_relevance(lambda Y: self._compare(self.X, Y), target)
        self._diag: np.ndarray | None = None

    def _compare(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        values = np.asarray(self.function(A, B), dtype=np.float64)
        expected = (A.shape[1], B.shape[1])
        if values.shape != expected:
            raise ValueError(
                f"similarity returned an array of shape {values.shape} for tables of "
                f"{expected[0]} and {expected[1]} columns; it must return one of shape {expected} "
                "whose entry (i, j) compares column i of the first with column j of the second."
            )
        if not np.isfinite(values).all():
            raise ValueError(
                "similarity returned NaN or infinite values; it must be finite for any two columns "
                "that are not constant."
            )
        return values

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self._compare(self.X[:, index], self.X)

    def dense(self) -> np.ndarray:
        require_pairs(self.n, 16)
        Q = self._compare(self.X, self.X)
        if np.abs(Q - Q.T).max(initial=0.0) > 1e-8 * np.abs(Q).max(initial=0.0):
            raise ValueError(
                "similarity is not symmetric: similarity(A, B) must be the transpose of "
                "similarity(B, A). Use the mean of both."
            )
        return 0.5 * (Q + Q.T)

    def diag(self) -> np.ndarray:
        if self._diag is None:
            single = [self._compare(x, x)[0, 0] for x in np.split(self.X, self.n, axis=1)]
            self._diag = np.array(single)
        return self._diag

    def points(self) -> np.ndarray:
        return self.X


class Given(Similarity):
    """A matrix that is there already, with the relevance beside it."""

    def __init__(self, Q: Any, n_features: int):
        Q = symmetric_matrix("similarity", Q)
        if Q.shape != (n_features, n_features):
            raise ValueError(
                f"similarity has shape {Q.shape}, but X has {n_features} features; pass a "
                f"matrix of shape {(n_features, n_features)}."
            )
        self.n_features = n_features
        self.kept = np.flatnonzero(Q.any(axis=1))
        self.Q = 0.5 * (Q + Q.T)[np.ix_(self.kept, self.kept)]
        self.relevance = np.zeros(self.n)

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.Q[index]

    def dense(self) -> np.ndarray:
        return self.Q

    def diag(self) -> np.ndarray:
        return self.Q.diagonal().copy()

    def points(self) -> np.ndarray:
        return self.Q  # features are close if they resemble the same ones


def weighted_relevance(
    compare: Callable[[np.ndarray], np.ndarray],
    target: Target,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Similarity with the target: with numbers as they are, with classes through indicators.

    With classes it is ``Σ_k p(c_k) |s(f, 1[c = c_k])|``, which for two classes and the correlation
    is the correlation with the label.
    """
    if target.is_numeric:
        return np.abs(compare(target.values[:, None])).ravel()
    indicators = (target.values[:, None] == np.arange(target.n_classes)).astype(np.float64)
    return np.abs(compare(indicators)) @ np.average(indicators, axis=0, weights=weight)


def standardised(X: np.ndarray, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Columns centred and of length one (zero if constant), and which of them vary.

    With weights, the rows are then multiplied by their roots, so that products are weighted sums.
    """
    weight = None if weight is None else weight / weight.max()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = X.mean(axis=0) if weight is None else np.average(X, axis=0, weights=weight)
        Z = X - mean
    size = np.abs(Z).max(axis=0, initial=0.0)
    if not np.isfinite(size).all():  # a sum, or a difference, was beyond the range of float64
        return standardised(X / safe_units(np.abs(X).max(axis=0)), weight)
    varies = size > _ROUNDING * np.abs(mean)
    Z /= np.where(varies, size, 1.0)  # first by the largest entry: squares must not overflow
    Z[:, ~varies] = 0.0
    if weight is not None:
        Z *= np.sqrt(weight)[:, None]
    length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    varies &= length > 0.0  # else only where weights vanish
    Z[:, ~varies] = 0.0
    Z /= np.where(varies, length, 1.0)
    return Z, varies


# --------------------------------------------------------------------------- from arrays or streams


def similarity_of_arrays(
    selector: Any,
    X: Any,
    y: np.ndarray,
    task: str,
    kind: Kind,
    weight: np.ndarray | None = None,
) -> Similarity:
    """The similarity of the features of ``X``, by the parameters of a selector."""
    if not kind.counts:
        return Pearson(*read_numbers(selector, X, y, task), weight)
    device = getattr(selector, "device", None)
    lane_of(device)  # a card that is missing is missed before the work
    codes = encode(
        X,
        bins=selector.bins,
        n_bins=selector.n_bins,
        y=y if selector.bins == "mdl" else None,
        categorical_features=selector.categorical_features,
        estimator=selector,
        sample_weight=weight,
    )
    target = read_target(y, codes.n_samples, task, guessed=selector.task == "auto")
    kind.require_labels(target)
    codes.target = target.values
    return Information(to_card(codes, device), least=kind.least, ratio=kind.ratio)


def read_numbers(selector: Any, X: Any, y: np.ndarray, task: str) -> tuple[np.ndarray, Target]:
    """``X`` as numbers, and the target."""
    X = check_X(selector, X, reset=True, min_samples=2)
    return X, read_target(y, len(X), task, guessed=selector.task == "auto")


def similarity_of_stream(
    selector: Any,
    stream: Stream,
    kind: Kind,
    sample_size: int | None,
    *,
    sampled: bool = False,
    pairs: bool = True,
) -> Similarity:
    """The same of a stream; ``sampled`` asks for points, ``pairs`` for more than the relevance."""
    instead = REGRESSION if selector.task == "auto" else None
    if not kind.counts:
        stream.refuse_nominal()  # task="auto" may turn out to be about a numeric target
        sampling = Sampling.of(stream, sample_size) if sampled else None
        moments, sample = stream.sweep(Correlate(stream.n_classes), sampling)
        if stream.classes is not None:
            stream.check_rows(moments.class_rows, instead)
        return PearsonOfMoments(moments, sample)
    kind.require_labels(Target(None, stream.n_classes))
    columns = count_columns(
        stream,
        bins=selector.bins,
        n_bins=selector.n_bins,
        pairs=pairs,
        sample_size=sample_size,
        sampled=sampled,
    )
    stream.check_rows(columns.codes.class_rows, instead)

    def points(kept: np.ndarray) -> np.ndarray:
        assert columns.sample is not None
        codes = columns.cuts.codes(columns.sample.X)[:, kept]
        return np.column_stack([_numbered(column) for column in codes.T]).astype(np.float64)

    return Information(columns.codes, least=kind.least, ratio=kind.ratio, points=points)


def _numbered(column: np.ndarray) -> np.ndarray:
    """The levels that occur, numbered one after the other, missing values last."""
    known = column >= 0
    out = np.full(len(column), -1)
    out[known] = np.unique(column[known], return_inverse=True)[1]
    if not known.all():
        out[~known] = out.max() + 1
    return out
