"""Missing values of numeric columns filled, batch by batch, with numbers found in passes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.errors import DataError, DataWarning, listed
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale._medians import Search, find_medians
from tamiz.scale.batch import Batch, dense_pieces
from tamiz.scale.batched import Batches
from tamiz.scale.passes import sweep
from tamiz.scale.sample import RowSample
from tamiz.validation import checked, depth_of_caller, real_number

#: Most rows and bytes of the sample with which the search for medians begins.
_SAMPLE_ROWS, _SAMPLE_BYTES = 20_000, 32 << 20
#: A sample of fewer rows tells too little of where a median is.
_LEAST_SAMPLE = 100
#: What may take the place of missing values.
_STRATEGY = real_number(words=("median", "mean"))


class Filled(Batches):
    """The batches of a table, with the missing values of its numeric columns filled.

    Made by :meth:`Batches.filled`. Everything else is as in the table; passes are made where its
    own are made.

    In nominal columns a missing value stays: it is a level of its own. In sparse tables what is not
    stored is a zero, and what is stored as NaN is missing. A column without any value is filled
    with zeros, and warned of. Memory does not grow with the rows: a sample of some of them (32 MB),
    and while medians are searched about 100 MB, or 20 kB for each column to fill if that is more.

    Attributes
    ----------
    fill_values : dict
        What missing values become, by the name of the column, of the columns that have some (of all
        numeric columns, if a number was asked for: nobody looked then).
    n_filled : int or None
        Number of missing values; None if a number was asked for.
    n_passes : int
        How often rows were gone through to find these values.

    See Also
    --------
    sklearn.impute.SimpleImputer : the same for a table in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.filters import FisherScore
    >>> from tamiz.scale import batches
    >>> X = np.array([[1.0, 5.0], [np.nan, 6.0], [4.0, 5.0], [3.0, 7.0]])
    >>> table = batches([(X, [0, 0, 1, 1])]).filled()
    >>> FisherScore().fit_stream(table).order_.tolist()
    [0, 1]
    """

    def __init__(
        self, table: Batches, fill_values: dict[str, float], n_filled: int | None, n_passes: int
    ):
        self.__dict__.update(vars(table))
        self._table = table
        self.fill_values, self.n_filled, self.n_passes = fill_values, n_filled, n_passes
        place = {name: j for j, name in enumerate(table.schema.names)}
        self._fill = np.full(len(place), np.nan)
        for name, value in fill_values.items():
            self._fill[place[name]] = value

    @property
    def parts(self) -> Any:  # type: ignore[override]  # nobody shall read past the filling
        """What the table is made of; its missing values are not filled."""
        raise DataError(
            "These batches are filled as they are read, and executor= would read the "
            "source itself; let the cluster do the passes of the table: "
            "batches(path).on(client).filled()."
        )

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if known."""
        return self._table.n_rows

    @property
    def n_batches(self) -> int | None:
        """Number of batches, if known."""
        return self._table.n_batches

    @property
    def executor(self) -> Any:
        """Who does the passes, if not this process."""
        executor = self._table.executor
        return None if executor is None else _Behind(executor, self._table, self._fill)

    def on(self, client: Any = None) -> Batches:
        """The same table, whose passes are done by the workers of a Dask cluster."""
        made = copy.copy(self)
        made._table = self._table.on(client)
        return made

    @checked(strategy=_STRATEGY)
    def filled(self, strategy: Any = "median", *, verbose: Any = None) -> Filled:
        """Itself: nothing is left to be filled."""
        return self

    def _go(self) -> Generator[Batch, None, None]:
        stream = iter(self._table)
        while (batch := next(stream, None)) is not None:
            yield fill_batch(batch, self._fill)
            del batch

    def __repr__(self) -> str:
        return f"{repr(self._table)[:-1]}, missing values filled>"


@checked(strategy=_STRATEGY)
def fill(table: Batches, strategy: Any, verbose: int) -> Filled:
    """Fill the missing values of a table; used by :meth:`Batches.filled`."""
    value = None if isinstance(strategy, str) else strategy
    schema = table.survey().schema
    numeric = np.flatnonzero(~schema.categorical).tolist()
    if value is not None:
        return Filled(table, {schema.names[j]: value for j in numeric}, None, 0)
    if table.once:
        raise DataError(
            f"A generator can be read once only, and to fill in a {strategy} the rows are gone "
            "through before; pass a function that makes a fresh one, such as "
            "batches(lambda: rows()), or fill in a number, such as filled(0)."
        )
    if not numeric:
        return Filled(table, {}, 0, 0)
    passes = _Passes(table, verbose)
    room = _SAMPLE_BYTES // (8 * len(numeric))
    size = min(_SAMPLE_ROWS, room) if room >= _LEAST_SAMPLE else 0
    found: KnownCounts = passes.go(numeric, lambda places: CountKnown(places, size, table.n_rows))
    n_rows, missing = found.n_rows, found.n_rows - found.n_known
    incomplete = np.flatnonzero(missing)
    empty = incomplete[found.n_known[incomplete] == 0]
    values = dict.fromkeys(empty.tolist(), 0.0)
    some = [k for k in incomplete.tolist() if k not in values]
    sample = None if found.sample is None else found.sample.values
    if sample is not None and len(sample) == n_rows:  # all rows are in it
        for k in some:
            values[k] = whole_value(_known(sample[:, k]), strategy)
    elif some and strategy == "mean":
        columns = [numeric[k] for k in some]
        means: Means = passes.go(columns, FindMeans)
        values.update(zip(some, means.value().tolist(), strict=True))
    elif some:
        searches = {
            k: Search(numeric[k], int(found.n_known[k]), name=schema.names[numeric[k]])
            for k in some
        }
        if sample is not None:
            for k, search in searches.items():
                search.begin(_known(sample[:, k]))
        del sample, found
        find_medians(list(searches.values()), passes.go)
        values.update({k: float(search.median or 0.0) for k, search in searches.items()})
    if len(empty):
        names = listed([schema.names[numeric[k]] for k in empty.tolist()])
        warnings.warn(
            f"No row has a value in column {names}; it is filled with 0.",
            DataWarning,
            stacklevel=depth_of_caller(),
        )
    named = {schema.names[numeric[k]]: values[k] for k in sorted(values)}
    return Filled(table, named, int(missing.sum()), passes.n_passes)


def whole_value(known: np.ndarray, strategy: str) -> float:
    """The median or the mean of values that are all at hand."""
    if strategy == "mean":
        return float(Means.of(known[:, None]).value()[0])
    search = Search(0, len(known))
    search.sort(0, known)
    assert search.median is not None
    return search.median


def _known(column: np.ndarray) -> np.ndarray:
    return column[~np.isnan(column)].astype(np.float64)


class _Passes:
    """Goes over some columns of a table, again and again, and counts how often.

    Where the source can do so, no other columns are read.
    """

    def __init__(self, table: Batches, verbose: int):
        self.table, self.verbose = table, verbose
        self.n_passes = 0

    def go(self, columns: list[int], make: Callable[[Any], Any]) -> Any:
        """The statistic that ``make(places)`` gives, for places of these columns in a batch."""
        table, schema = self.table, self.table.schema
        self.n_passes += 1
        label = "looking for missing values"
        if self.n_passes > 1:
            label = f"what to fill in, pass {self.n_passes}"
        if type(table) is not Batches or not all(part.narrows for part in table.parts):
            return sweep(table, make(columns), progress=self.verbose, label=label)
        narrow = copy.copy(table)
        names = [schema.names[j] for j in columns]
        levels = {k: schema.categories[j] for k, j in enumerate(columns) if j in schema.categories}
        narrow._schema = replace(schema, names=names, categories=levels)
        places = list(range(len(columns)))
        found: Any = sweep(narrow, make(places), progress=self.verbose, label=label)
        table._n_rows, table._piece_rows = narrow._n_rows, narrow._piece_rows
        return found


# --------------------------------------------------------------------------------- statistics


@dataclass(eq=False)
class KnownCounts:
    """How many values of each column are there, and a sample of rows (None if too wide)."""

    n_rows: int
    n_known: np.ndarray
    sample: RowSample | None

    def merge(self, other: KnownCounts) -> KnownCounts:
        """The same of both sets of rows."""
        sample = None
        if self.sample is not None and other.sample is not None:
            sample = self.sample.merge(other.sample)
        return KnownCounts(self.n_rows + other.n_rows, self.n_known + other.n_known, sample)


@dataclass
class CountKnown:
    """Makes :class:`KnownCounts` of some columns of a batch."""

    places: list[int]
    sample_size: int
    n_rows: int | None

    def __call__(self, batch: Batch) -> KnownCounts:
        X = batch.X
        if len(self.places) < X.shape[1]:
            X = X[:, self.places]
        n, p = X.shape
        if sparse.issparse(X):
            known = n - np.bincount(X.indices[np.isnan(X.data)], minlength=p)
        else:
            counts = run_tiles(_count_known, n, X, min_items=max(1, 2**17 // max(1, p)))
            known = np.sum(counts, axis=0)
        sample = None
        if self.sample_size:
            first, size, n_rows = batch.first_row, self.sample_size, self.n_rows
            sample = RowSample.of(X, None, first_row=first, size=size, n_rows=n_rows)
        return KnownCounts(n, known, sample)


@dataclass(eq=False)
class Means:
    """Mean, least and greatest value of each column, without those that are missing."""

    count: np.ndarray
    mean: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Means:
        """Those of a block, whose sums may be beyond float64."""
        missing = np.isnan(X)
        count = len(X) - np.count_nonzero(missing, axis=0)
        least = np.where(missing, np.inf, X).min(axis=0, initial=np.inf)
        most = np.where(missing, -np.inf, X).max(axis=0, initial=-np.inf)
        n = np.maximum(count, 1)
        zeros = np.where(missing, 0.0, X)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = zeros.sum(axis=0) / n
        far = ~np.isfinite(mean)
        mean[far] = (zeros[:, far] / n[far]).sum(axis=0)
        return cls(count, mean, least, most)

    def merge(self, other: Means) -> Means:
        """Those of both sets of rows."""
        count = self.count + other.count
        n = np.maximum(count, 1)
        return Means(
            count,
            self.mean * (self.count / n) + other.mean * (other.count / n),
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )

    def value(self) -> np.ndarray:
        """The means; rounding does not carry them beyond the values, nor off a constant."""
        return np.clip(self.mean, self.least, self.most)


@dataclass
class FindMeans:
    """Makes :class:`Means` of some columns of a batch."""

    places: list[int]

    def __call__(self, batch: Batch) -> Means:
        pieces = [Means.of(piece) for _, piece in dense_pieces(batch.X[:, self.places], 1 << 12)]
        total = pieces[0]
        for piece in pieces[1:]:
            total = total.merge(piece)
        return total


# ------------------------------------------------------------------------------------- filling


def fill_batch(batch: Batch, values: np.ndarray) -> Batch:
    """The batch with ``values`` for missing ones, where they are numbers; itself if it has none."""
    X = batch.X
    if sparse.issparse(X):
        missing = np.isnan(X.data)
        if not missing.any():
            return batch
        X = X.copy()
        X.data[missing] = values[X.indices[missing]]
        return replace(batch, X=X)
    filled = np.empty_like(X)
    least = max(1, 2**17 // max(1, X.shape[1]))
    if not sum(run_tiles(_fill_rows, len(X), X, values, filled, min_items=least)):
        return batch
    return replace(batch, X=filled)


@njit(cache=True, nogil=True)
def _fill_rows(start, stop, X, values, filled):  # type: ignore[no-untyped-def]
    """Copy the rows ``start`` to ``stop`` with missing values filled; how many there were."""
    n = 0
    for i in range(start, stop):
        for j in range(X.shape[1]):
            x = X[i, j]
            if x != x:
                x = values[j]
                n += 1
            filled[i, j] = x
    return n


@njit(cache=True, nogil=True)
def _count_known(start, stop, X):  # type: ignore[no-untyped-def]
    """Values that are there in the rows ``start`` to ``stop``, of each column."""
    known = np.zeros(X.shape[1], dtype=np.int64)
    for i in range(start, stop):
        for j in range(X.shape[1]):
            known[j] += X[i, j] == X[i, j]
    return known


@dataclass
class _Then:
    """From a batch to the statistic of the filled batch."""

    make: Callable[[Batch], Any]
    values: np.ndarray

    def __call__(self, batch: Batch) -> Any:
        return self.make(fill_batch(batch, self.values))


class _Behind:
    """Lets whoever does the passes of a table do those of its filled batches."""

    def __init__(self, executor: Any, table: Batches, values: np.ndarray):
        self._executor, self._table, self._values = executor, table, values

    def sweep(self, table: Batches, make: Any, line: Any = None, describe: Any = None) -> Any:
        """The merged statistic of all batches."""
        return self._executor.sweep(self._table, _Then(make, self._values), line, describe)
