r"""Knockoffs of any table: numbers by their moments, categories by a Gaussian copula.

A column of many different numbers is standardised; its knockoff has the same mean and variance and
is normal given the others. A column of categories, or of few different numbers, stands for a
standard normal score ``z`` that was cut: category ``k`` is the interval of ``z`` in which the
normal distribution has as much probability as the category has rows. Each row draws its score
inside its interval, given the scores of its other columns (a few sweeps of Gibbs sampling, by the
correlations of the last sweep). Scores have knockoffs as other columns have, and a knockoff score
becomes the category in whose interval it falls. That keeps the proportions of all categories, and
the dependence of columns as far as a Gaussian copula can express it, with the categories in their
given order: it is an approximation, and exact if the scores are jointly normal. With few factors
("lowrank") scores are drawn one column at a time, which takes dependences for weaker than they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from tamiz.discovery.knockoffs.estimates import shrunk_correlations
from tamiz.discovery.knockoffs.gaussian import GaussianModel, gaussian_model
from tamiz.information.columns import LARGE, CodedTable, safe_units
from tamiz.validation import TOO_LARGE, numbers_of, symmetric_matrix

#: Numbers with no more different values than this are taken as levels.
FEW_VALUES = 10
_SWEEPS = 6
#: Standardised columns that differ by no more are one.
_SAME = 1e-9


class KnockoffTable:
    """Draws knockoffs of the rows of one table.

    Parameters
    ----------
    table : CodedTable
        Columns without missing values; codes of a category from 0.
    method, sigma, n_factors
        As in :func:`~tamiz.discovery.knockoffs.gaussian.gaussian_model`; ``sigma`` may be
        covariances.
    marginals : {"auto", "gaussian", "empirical"}
        Which columns of numbers go through normal scores: those of few values, none, all.
    random : numpy.random.Generator
        Draws the scores inside of their intervals.
    n_copies : int
        Knockoffs of every column.

    Attributes
    ----------
    s : array of shape (n_features,)
        0 for constant columns, which are their own knockoffs.
    notes : dict
        What the model was estimated by.
    """

    def __init__(
        self,
        table: CodedTable,
        method: str,
        sigma: np.ndarray | None,
        n_factors: int | None,
        marginals: str,
        random: np.random.Generator,
        n_copies: int = 1,
    ):
        X = table.X
        self.n_copies = n_copies
        self.X = X
        self.varies = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
        self.s = np.zeros(X.shape[1])
        self.notes: dict[str, Any] = {}
        self.model: GaussianModel | None = None
        mapped = [
            bool(table.categorical[j])
            or marginals == "empirical"
            or (marginals == "auto" and len(np.unique(X[:, j])) <= FEW_VALUES)
            for j in self.varies
        ]
        self.mapped = np.array(mapped, dtype=bool)
        part = X[:, self.varies]
        self.sorted = np.sort(part[:, self.mapped], axis=0)
        scores = _scores(part[:, self.mapped], random)
        numbers = part[:, ~self.mapped]
        self.mean, self.spread = numbers.mean(axis=0), numbers.std(axis=0)
        self.Z = np.empty(part.shape)
        self.Z[:, self.mapped] = scores
        self.Z[:, ~self.mapped] = (numbers - self.mean) / self.spread
        if method != "lowrank":
            self._draw_given_others(part, sigma, random)
        self.Z[:, self.mapped] -= self.Z[:, self.mapped].mean(axis=0)
        self.Z[:, self.mapped] /= self.Z[:, self.mapped].std(axis=0)
        if len(self.varies):
            known = None if sigma is None else sigma[np.ix_(self.varies, self.varies)]
            self.model, self.notes = gaussian_model(self.Z, method, known, n_factors, n_copies)
            self.s[self.varies] = self.model.s

    def _draw_given_others(
        self, part: np.ndarray, sigma: np.ndarray | None, random: np.random.Generator
    ) -> None:
        """Draw the scores of equal values anew, given the other columns."""
        bounds = {}
        for j in np.flatnonzero(self.mapped).tolist():
            _, code, counts = np.unique(part[:, j], return_inverse=True, return_counts=True)
            if counts.max() > 1:
                ends = np.concatenate([[0.0], np.cumsum(counts) / len(part)])
                bounds[j] = ndtri(ends[code]), ndtri(ends[code + 1])
        if not bounds or part.shape[1] < 2:
            return
        for _ in range(_SWEEPS):
            if sigma is None:
                current = shrunk_correlations((self.Z - self.Z.mean(axis=0)) / self.Z.std(axis=0))[
                    0
                ]
            else:
                current = sigma[np.ix_(self.varies, self.varies)]
            precision = np.linalg.inv(current)
            for j, (low, high) in bounds.items():
                weight = -precision[j] / precision[j, j]
                weight[j] = 0.0
                mean, spread = self.Z @ weight, 1.0 / np.sqrt(precision[j, j])
                below, above = ndtr((low - mean) / spread), ndtr((high - mean) / spread)
                at = below + (above - below) * random.random(len(mean))
                drawn = mean + spread * ndtri(np.clip(at, 1e-15, 1.0 - 1e-15))
                self.Z[:, j] = np.clip(drawn, np.maximum(low, -8.0), np.minimum(high, 8.0))

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """Knockoffs of every column: an array of shape (n_copies, n_rows, n_columns)."""
        found = np.repeat(self.X[None], self.n_copies, axis=0)
        if self.model is None:
            return found
        for copy, Z in zip(found, self.model.draw(self.Z, random), strict=True):
            part = np.empty(Z.shape)
            part[:, ~self.mapped] = self.mean + self.spread * Z[:, ~self.mapped]
            place = np.minimum((ndtr(Z[:, self.mapped]) * len(Z)).astype(np.intp), len(Z) - 1)
            part[:, self.mapped] = np.take_along_axis(self.sorted, place, axis=0)
            copy[:, self.varies] = part
        return found


def _scores(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Normal scores by rank, equal values in random order."""
    n = len(X)
    order = np.lexsort((random.random(X.shape), X), axis=0)
    rank = np.empty(X.shape)
    np.put_along_axis(rank, order, np.arange(1, n + 1)[:, None] - 0.5, axis=0)
    return ndtri(rank / n)


# ------------------------------------------------------------------------------- equal columns


def equal_columns(X: np.ndarray) -> dict[int, int]:
    """Columns that hold what an earlier one holds, and the first that does; constants left out."""
    seen: dict[bytes, int] = {}
    found = {}
    for j in np.flatnonzero(X.max(axis=0) > X.min(axis=0)).tolist():
        first = seen.setdefault((X[:, j] + 0.0).tobytes(), j)  # -0 is 0
        if first != j:
            found[j] = first
    return found


def same_but_units(X: np.ndarray, numeric: np.ndarray) -> dict[int, int]:
    """Columns of numbers that hold an earlier one in other units, and the first that they hold.

    Such a column is the other times a number, plus a number: their correlation is 1 or -1. Only
    columns whose projections on a random direction agree are compared.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        No missing values.
    numeric : array of int
        The columns that may be found, none of them constant.
    """
    if len(X) < 4 or len(numeric) < 2:  # two or three rows lie on one line too easily
        return {}
    Z = X[:, numeric] / safe_units(np.abs(X[:, numeric]).max(axis=0))
    Z = Z - Z.mean(axis=0)
    length = np.sqrt(np.square(Z).sum(axis=0))
    Z, numeric = Z[:, length > 0] / length[length > 0], numeric[length > 0]
    direction = np.random.default_rng(0).standard_normal(len(Z))
    place = np.abs(direction @ Z)
    order = np.lexsort((numeric, place))
    near = np.append(np.diff(place[order]) <= _SAME, False)
    found: dict[int, int] = {}
    for block in np.split(order, np.flatnonzero(~near) + 1):
        firsts: list[int] = []
        for k in sorted(block.tolist()):
            same = [one for one in firsts if _one_line(Z[:, one], Z[:, k])]
            if same:
                found[int(numeric[k])] = int(numeric[same[0]])
            else:
                firsts.append(k)
    return found


def _one_line(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two vectors of unit length are one, or opposite ones."""
    return bool(np.abs(a - np.copysign(1.0, a @ b) * b).max() <= _SAME)


def part_of(table: CodedTable, columns: np.ndarray) -> CodedTable:
    """Some of the columns of a table."""
    return CodedTable(
        np.ascontiguousarray(table.X[:, columns]),
        table.categorical[columns],
        {k: table.categories[j] for k, j in enumerate(columns.tolist()) if j in table.categories},
        None if table.names is None else [table.names[j] for j in columns.tolist()],
    )


# ------------------------------------------------------------------------------- their sources


class CopySource(NamedTuple):
    """Where the knockoffs of a draw come from, of shape (n_copies, n_samples, n_features)."""

    draw: Callable[[int, np.random.Generator], np.ndarray]
    s: np.ndarray | None
    notes: dict[str, Any]


def own_copies(given: Any, X: np.ndarray, n_draws: int, n_copies: int) -> CopySource:
    """Knockoffs of the caller: one array for all draws, or a function that returns those of one."""
    shape = X.shape if n_copies == 1 else (n_copies, *X.shape)
    if callable(given):

        def called(k: int, random: np.random.Generator) -> np.ndarray:
            seed = np.random.RandomState(int(random.integers(2**31 - 1)))
            found = _checked_copy(given(X.copy(), seed), shape, "what knockoffs returns")
            return found.reshape(n_copies, *X.shape)

        return CopySource(called, None, {"method": "own function"})
    array = numbers_of("knockoffs", given)
    whole = shape if n_draws == 1 else (n_draws, *shape)
    if array.shape not in (whole, (n_draws, *shape)):
        several = f"{n_draws} draw{'s' * (n_draws > 1)} of X"
        if n_copies > 1:
            several += f" with n_copies={n_copies}"
        raise ValueError(
            f"knockoffs has shape {np.shape(given)}; for {several} it must be {whole}: the "
            f"shape of X, {X.shape}{', for every copy' * (n_copies > 1)}."
        )
    _checked_copy(array, array.shape, "knockoffs")
    copies = array.reshape(n_draws, n_copies, *X.shape)
    return CopySource(lambda k, random: copies[k], None, {"method": "own array"})


def in_units(source: CopySource, units: np.ndarray) -> CopySource:
    """The same knockoffs, measured in units of the columns."""

    def draw(k: int, random: np.random.Generator) -> np.ndarray:
        with np.errstate(over="ignore"):
            copies = source.draw(k, random) / units
        if not (np.abs(copies) <= LARGE).all():
            raise ValueError(TOO_LARGE)
        return copies

    return source._replace(draw=draw)


def _checked_copy(copy: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    copy = numbers_of(what, copy)
    if copy.shape != shape or not np.isfinite(copy).all():
        named = "the shape of X" if len(shape) == 2 else "the shape (n_copies, *X.shape)"
        raise ValueError(
            f"{what} must hold finite numbers in {named}, {shape}; it has shape "
            f"{copy.shape}{'' if copy.shape != shape else ' and missing or infinite values'}."
        )
    return copy


def as_correlations(covariance: Any, p: int) -> np.ndarray:
    """Correlations from the covariances of the caller."""
    matrix = symmetric_matrix("covariance of Knockoffs", covariance, 1)
    if matrix.shape != (p, p):
        raise ValueError(f"covariance has shape {matrix.shape}; X has {p} features.")
    values = np.linalg.eigvalsh(matrix)
    if not values[0] > 1e-10 * values[-1]:
        raise ValueError(
            f"covariance is not positive definite: its least eigenvalue is {values[0]:.3g}. Add a "
            "small multiple of the identity."
        )
    spread = np.sqrt(np.diag(matrix))
    return matrix / np.outer(spread, spread)
