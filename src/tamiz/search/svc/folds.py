"""One split of the samples, as the fast judge of support vector machines sees it.

Whatever of a split does not depend on the subset of features is worked out once: its classes, its
binary problems, and the position, scale and variance of every feature in its training part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamiz.svm.multiclass import tasks
from tamiz.validation import Labels, check_class_weight


class Problem:
    """One machine: its samples by position in the whole table, their signs and prices of slack."""

    def __init__(self, samples: np.ndarray, signs: np.ndarray, C: np.ndarray):
        self.samples = samples
        self.signs = signs
        self.C = C
        self._bounds: Bounds | None = None

    def bounds(self, n: int) -> Bounds:
        """Over ``n`` samples; those that take no part cannot move. Not to be written to."""
        if self._bounds is None or len(self._bounds.p) != n:
            self._bounds = self._make_bounds(n)
        return self._bounds

    def _make_bounds(self, n: int) -> Bounds:
        lower, upper, p = np.zeros(n), np.zeros(n), np.zeros(n)
        ends = self.signs * self.C
        lower[self.samples] = np.minimum(ends, 0.0)
        upper[self.samples] = np.maximum(ends, 0.0)
        p[self.samples] = -self.signs
        return Bounds(lower, upper, p)


class Bounds(NamedTuple):
    """Bounds of the sign-free variables, and the linear term."""

    lower: np.ndarray
    upper: np.ndarray
    p: np.ndarray


class Fold:
    """One split.

    Parameters
    ----------
    train, test : arrays
        Positions of the samples.
    y : array
        Labels of all samples.
    weight : array or None
        Positive weights of all samples.
    machine : SVC
        Whose ``C``, ``class_weight`` and ``multiclass`` count.

    Attributes
    ----------
    classes : array
        Labels of the training samples, sorted; predictions are among them.
    test_codes : array
        Positions of the labels of the test samples in ``classes``, -1 if they are not there.
    """

    def __init__(
        self,
        train: np.ndarray,
        test: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray | None,
        machine: Any,
    ):
        self.train, self.test = train, test
        self.classes, codes = np.unique(y[train], return_inverse=True)
        if len(self.classes) < 2:
            raise ValueError("a split has one class only.")
        self.codes = codes.astype(np.intp)
        own = np.ones(len(train)) if weight is None else weight[train]
        by_class = check_class_weight(machine.class_weight, Labels(self.classes, self.codes), own)
        self.C = machine.C * own * by_class[self.codes]
        self.scheme = machine.multiclass
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        self.test_codes = np.array([place.get(label, -1) for label in y[test].tolist()])
        self._only = self._all_problems() if len(self.classes) == 2 else None

    def problems(self) -> list[Problem]:
        """The binary problems, in the order of the machines."""
        return self._all_problems() if self._only is None else self._only

    def _all_problems(self) -> list[Problem]:
        return [
            Problem(self.train[task.samples], task.signs, self.C[task.samples])
            for task in tasks(self.codes, len(self.classes), self.scheme)
        ]


class Columns:
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
