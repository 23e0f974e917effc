r"""Decision values when columns of some rows are given other values: exact and quick, or by asking.

A kernel expansion is a function of one number for each pair of a row and a support vector: the
squared distance, or the inner product. Each column is one term of it, so that other values for the
columns ``J`` cost one term each, however many columns there are. What is more, the mean over rows
in which they are replaced by a point ``v`` needs the rows only once:

.. math::

    \frac1n \sum_i \sum_s c_s e^{-\gamma \|x_i - s\|^2}\Big|_{x_{iJ} = v}
    = \sum_s c_s e^{-\gamma \|v - s_J\|^2} \cdot
      \frac1n \sum_i e^{-\gamma \|x_{i \setminus J} - s_{\setminus J}\|^2},

and for powers of the inner product the binomial theorem separates the two in the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import comb
from typing import Any

import numpy as np

from tamiz.explain.model import (
    Terms,
    columns_of_the_machine,
    function_of,
    terms_of,
    through,
)
from tamiz.explain.tables import CodedFrames
from tamiz.pictures import without_name_warnings

#: Numbers in a table of distances.
_ROOM = 2**24
_MOST_POINTS = 50_000  # evaluated at a time


class Decisions(ABC):
    """A fitted model, and rows of which columns change.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The rows, as they are given to the model.
    outputs : list of str
        Names of the values.
    method : {"exact", "brute"}
        Whether terms of a kernel are followed, or the model is asked.
    """

    X: np.ndarray
    outputs: list[str]
    method: str

    @abstractmethod
    def replaced(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Values (rows, outputs) when row ``i`` has ``values[i]`` in ``columns``."""

    @abstractmethod
    def each(self, columns: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Values (rows, points, outputs) when ``columns`` of every row are those of each point."""

    @abstractmethod
    def partial(self, columns: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Means of :meth:`each` over the rows (points, outputs): the partial dependence."""

    def plain(self) -> np.ndarray:
        """Values (rows, outputs) of the rows as they are."""
        nothing = np.empty(0, dtype=np.intp)
        return self.replaced(nothing, np.empty((len(self.X), 0)))


def decisions_of(
    model: Any, X: np.ndarray, like: Any = None, coded: CodedFrames | None = None
) -> Decisions:
    """The quick one where the model is a kernel expansion behind steps that keep columns apart.

    A model that finds columns by name is asked with frames such as ``like``; codes are written out.
    """
    front = columns_of_the_machine(model, X, X) if coded is None else None
    terms = None if front is None else terms_of(front)
    if front is not None and terms is not None and _is_served(terms, len(X)):
        return ExpansionDecisions(model, X, front.X, front.source, terms)
    return FunctionDecisions(model, X, like, coded)


def _is_served(terms: Terms, n_rows: int) -> bool:
    kernel, vectors, _, _, own, _ = terms.expansion
    forms = kernel.pairwise_sum or ()
    constant = not own or all(form.radial for _, form in forms)
    return constant and len(vectors) * n_rows <= _ROOM


class FunctionDecisions(Decisions):
    """Any model, asked for every row that arises."""

    method = "brute"

    def __init__(
        self, model: Any, X: np.ndarray, like: Any = None, coded: CodedFrames | None = None
    ):
        self.X = X
        self._function, self.outputs = function_of(model, like, coded)

    def _ask(self, table: np.ndarray) -> np.ndarray:
        with without_name_warnings():
            return self._function(table)

    def replaced(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        table = self.X.copy()
        table[:, columns] = values
        return self._ask(table)

    def each(self, columns: np.ndarray, points: np.ndarray) -> np.ndarray:
        n = len(self.X)
        step = max(1, _MOST_POINTS // n)
        parts = []
        for first in range(0, len(points), step):
            some = points[first : first + step]
            table = np.tile(self.X, (len(some), 1))
            table[:, columns] = np.repeat(some, n, axis=0)
            parts.append(self._ask(table).reshape(len(some), n, -1))
        return np.concatenate(parts).transpose(1, 0, 2)

    def partial(self, columns: np.ndarray, points: np.ndarray) -> np.ndarray:
        step = max(1, _MOST_POINTS // len(self.X))
        parts = (points[k : k + step] for k in range(0, len(points), step))
        return np.concatenate([self.each(columns, part).mean(axis=0) for part in parts])


class ExpansionDecisions(Decisions):
    """A kernel expansion, followed by its distances and inner products."""

    method = "exact"

    def __init__(
        self, model: Any, X: np.ndarray, seen: np.ndarray, source: np.ndarray, terms: Terms
    ):
        self.X = X
        self.outputs = terms.outputs
        self._model, self._source = model, source
        kernel, self._vectors, self._coef, constant, own, self._centre = terms.expansion
        self._seen = seen if self._centre is None else seen - self._centre
        self._forms = [(weight, form) for weight, form in kernel.pairwise_sum or ()]
        self._constant = constant + own * sum(weight for weight, _ in self._forms)
        radial = {form.radial for _, form in self._forms}
        n, m = len(seen), len(self._vectors)
        self._distances = np.zeros((n, m))
        if True in radial:
            for j in range(seen.shape[1]):
                self._distances += self._gaps(self._seen[:, j], j)
        self._products = self._seen @ self._vectors.T if False in radial else np.zeros((0, m))
        self._weights = None
        if all(not form.radial and form.degree == 1 for _, form in self._forms):
            slope = sum(weight * float(form.gamma) for weight, form in self._forms)
            self._weights = slope * (self._coef @ self._vectors)
            self._values = self._values_of(self._distances, self._products)

    def _gaps(self, values: np.ndarray, j: int) -> np.ndarray:
        """Squared differences (values, vectors) in one column of the machine."""
        return np.square(values[:, None] - self._vectors[:, j])

    def _values_of(self, distances: np.ndarray, products: np.ndarray) -> np.ndarray:
        total = np.zeros((len(self.X), len(self._coef))) + self._constant
        for weight, form in self._forms:
            gamma = float(form.gamma)
            if form.radial:
                K = np.exp(-gamma * distances)
            else:
                K = (form.constant + gamma * products) ** form.degree
            total += weight * (K @ self._coef.T)
        return total

    def _places(self, columns: np.ndarray) -> np.ndarray:
        """Columns of the machine that come from some of the original ones."""
        return np.flatnonzero(np.isin(self._source, columns))

    def _as_seen(self, columns: np.ndarray, values: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Values of the original columns as the machine gets them."""
        table = np.repeat(self.X[:1], len(values), axis=0)
        table[:, columns] = values
        seen = through(self._model, table)[:, places]
        return seen if self._centre is None else seen - self._centre[places]

    def replaced(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        places = self._places(columns)
        if not len(places):
            return self._values_of(self._distances, self._products)
        return self._with(places, self._as_seen(columns, values, places))

    def shuffled(self, columns: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Values (rows, outputs) when ``columns`` are those of the rows in another order."""
        places = self._places(columns)
        if not len(places):
            return self._values_of(self._distances, self._products)
        return self._with(places, self._seen[np.ix_(order, places)])

    def _with(self, places: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Values when some columns of the machine have other values."""
        old = self._seen[:, places]
        if self._weights is not None:
            return self._values + (new - old) @ self._weights[:, places].T
        distances, products = self._distances, self._products
        if any(form.radial for _, form in self._forms):
            distances = self._without(places)
            for k, j in enumerate(places):
                distances += self._gaps(new[:, k], j)
        if len(products):
            products = products + (new - old) @ self._vectors[:, places].T
        return self._values_of(distances, products)

    def _without(self, places: np.ndarray) -> np.ndarray:
        rest = self._distances.copy()
        for j in places:
            rest -= self._gaps(self._seen[:, j], j)
        return np.maximum(rest, 0.0, out=rest)

    def _parts(self, columns: np.ndarray, points: np.ndarray) -> Any:
        """Pairs of a function of the rows and one of the points; values are sums of products."""
        places = self._places(columns)
        new = self._as_seen(columns, points, places)
        if any(form.radial for _, form in self._forms):
            rest = self._without(places)
            near = np.zeros((len(points), len(self._vectors)))
            for k, j in enumerate(places):
                near += self._gaps(new[:, k], j)
        if len(self._products):
            others = self._products - self._seen[:, places] @ self._vectors[:, places].T
            own = new @ self._vectors[:, places].T
        for weight, form in self._forms:
            gamma = float(form.gamma)
            if form.radial:
                yield weight, np.exp(-gamma * rest), np.exp(-gamma * near)
                continue
            start, d = form.constant + gamma * others, form.degree
            for q in range(d + 1):
                yield weight * comb(d, q), start ** (d - q), (gamma * own) ** q

    def each(self, columns: np.ndarray, points: np.ndarray) -> np.ndarray:
        found = np.zeros((len(self.X), len(points), len(self._coef))) + self._constant
        for weight, rows, at in self._parts(columns, points):
            for c, coef in enumerate(self._coef):
                found[:, :, c] += weight * ((rows * coef) @ at.T)
        return found

    def partial(self, columns: np.ndarray, points: np.ndarray) -> np.ndarray:
        found = np.zeros((len(points), len(self._coef))) + self._constant
        for weight, rows, at in self._parts(columns, points):
            found += weight * (at @ (rows.mean(axis=0) * self._coef).T)
        return found
