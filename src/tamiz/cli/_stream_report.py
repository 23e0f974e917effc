"""The report of a ranking whose table was read in batches.

The ranking comes from all rows. One more pass counts rows, classes and missing values, and
draws a sample of rows: pictures need cells, and the cells of all rows are more than memory holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tamiz.cli._stream import Indicators
from tamiz.data import Dataset
from tamiz.data.column import plain_number
from tamiz.data.dataset import count_missing
from tamiz.data.findings import leaks
from tamiz.data.formats import stem
from tamiz.data.plan import ASIDE, duplicates, perhaps_identifiers
from tamiz.evaluation.study import Study, Whole
from tamiz.reports.page import selected
from tamiz.reports.sections.features import MOST
from tamiz.scale import Batch, RowSample, sweep

if TYPE_CHECKING:
    from tamiz.cli.rank import Ranking
    from tamiz.scale import Batches, Schema

#: Rows of the sample, and bytes up to which it takes in columns that no picture shows.
SAMPLE_ROWS = 5_000
SAMPLE_BYTES = 32 * 2**20


@dataclass
class Tally:
    """What one pass counts in all rows, and the sample that it draws.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    missing : int array of shape (n_features,)
        Number of missing values of each column.
    low, high : float arrays of shape (n_features,)
        Least and greatest value of each column; NaN if it has none.
    classes : int array of shape (n_classes,)
        Rows of each class; empty in a regression.
    sample : RowSample
        Some rows of some columns.
    """

    n_rows: int
    missing: np.ndarray
    low: np.ndarray
    high: np.ndarray
    classes: np.ndarray
    sample: RowSample

    @classmethod
    def of(
        cls, batch: Batch, *, columns: list[int], n_classes: int, seed: int, n_rows: int | None
    ) -> Tally:
        """Those of a batch."""
        X = batch.X
        missing = count_missing(X)
        if sparse.issparse(X):
            by_column = X.tocsc()
            low, high = (f(axis=0).toarray().ravel() for f in (by_column.nanmin, by_column.nanmax))
        else:
            low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        y = batch.y
        counts = np.bincount(y, minlength=n_classes) if n_classes and y is not None else None
        part = X if len(columns) == X.shape[1] else X[:, columns]
        sample = RowSample.of(
            part, y, first_row=batch.first_row, size=SAMPLE_ROWS, seed=seed, n_rows=n_rows
        )
        return cls(
            batch.n_rows,
            missing,
            low,
            high,
            np.empty(0, dtype=np.intp) if counts is None else counts,
            sample,
        )

    def merge(self, other: Tally) -> Tally:
        """Those of both sets of rows."""
        return Tally(
            self.n_rows + other.n_rows,
            self.missing + other.missing,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.classes + other.classes,
            self.sample.merge(other.sample),
        )


def streamed_study(
    table: Batches,
    ranking: Ranking,
    *,
    method: str,
    path: Path,
    seed: int,
    given: dict[str, str] | None = None,
    command: str | None = None,
    verbose: int = 0,
) -> Study:
    """What a report shows of a ranking of batches.

    Parameters
    ----------
    table : Batches
        What was ranked; it is read once more.
    ranking : Ranking
        The ranking of all rows, and the notes on how the table was read and ranked.
    method : str
        Name of the method.
    path : Path
        The file, which the data set is named after.
    seed : int
        Seed of the random sample of rows.
    given : dict, optional
        Roles that the user gave to columns.
    command : str, optional
        How to repeat it.
    verbose : int
        Whether to show how far the pass is.

    Returns
    -------
    Study
        Its data set holds the sample, of the features that pictures show.
    """
    selection, given = ranking.selection, given or {}
    shown = selected(selection)[:MOST]
    origin = table.table if isinstance(table, Indicators) else table
    made_of = table.made_of if isinstance(table, Indicators) else None
    schema = origin.schema
    columns = _columns_to_look_at(schema, shown, made_of)
    make = partial(
        Tally.of, columns=columns, n_classes=schema.n_classes, seed=seed, n_rows=origin.n_rows
    )
    tally = sweep(origin, make, progress=verbose, label="sampling rows for the report")
    roles = _roles(schema, tally, given)
    compared = _compared(schema, tally.sample, columns, roles, given)
    if tally.sample.exact:
        roles, compared = {**roles, **compared}, {}
    whole = Whole(
        tally.n_rows,
        list(table.schema.names),
        _missing(tally, made_of),
        dict(zip(_class_names(schema), tally.classes.tolist(), strict=True)),
        shown,
        0 if schema.sparse else None if len(columns) == schema.n_features else len(columns),
        compared,
        _doubtful(schema, tally.sample, columns, roles),
    )
    for k, (j, level) in enumerate(made_of or ()):
        if level is not None:
            roles[table.schema.names[k]] = roles[schema.names[j]]
    dataset = _sampled(table, tally.sample, columns, shown, path, roles)
    dataset.notes = list(ranking.read)
    return Study(
        dataset,
        {method: selection},
        params=selection.params,
        command=command,
        seed=seed,
        notes=[*ranking.notes, sample_note(dataset.n_samples, tally.n_rows, seed)],
        seconds=selection.seconds,
        whole=whole,
    )


def _sampled(
    table: Batches,
    sample: RowSample,
    columns: list[int],
    shown: list[int],
    path: Path,
    roles: dict[str, str],
) -> Dataset:
    """The sample as a data set of the features shown."""
    origin = table.table if isinstance(table, Indicators) else table
    made_of = table.made_of if isinstance(table, Indicators) else None
    schema, names, categories = origin.schema, table.schema.names, table.schema.categories
    y, present = sample.y, None
    if schema.classes is not None and y is not None:
        labels = _class_names(schema)
        present = [labels[c] for c in np.unique(y).tolist()]
        y = schema.classes[y]
    return Dataset(
        _shown_cells(sample.X, columns, shown, schema, made_of),
        y,
        [names[f] for f in shown],
        present,
        np.array([f in categories for f in shown], dtype=bool),
        name=stem(path),
        source=path.name,
        target=schema.target,
        task=schema.task,
        roles=roles,
        levels={names[f]: _levels(categories[f]) for f in shown if f in categories},
        aside=dict(schema.aside),
    )


def sample_note(n_sample: int, n_rows: int, seed: int) -> str:
    """What the report took from the rows."""
    if n_sample == n_rows:
        return "for the report the rows were read once more."
    return (
        f"pictures of the report show {n_sample:,} of the {n_rows:,} rows, drawn at random with "
        f"seed {seed}; for that the rows were read once more."
    )


# ----------------------------------------------------------------------------------- the columns


def _columns_to_look_at(
    schema: Schema, shown: list[int], made_of: list[tuple[int, int | None]] | None
) -> list[int]:
    """All columns if a sample of them is small, else those that pictures show."""
    p = schema.n_features
    if not schema.sparse and 8 * SAMPLE_ROWS * p <= SAMPLE_BYTES:
        return list(range(p))
    return sorted({f if made_of is None else made_of[f][0] for f in shown})


def _shown_cells(
    cells: np.ndarray,
    columns: list[int],
    shown: list[int],
    schema: Schema,
    made_of: list[tuple[int, int | None]] | None,
) -> np.ndarray:
    """The sample of the features shown, indicators among them."""
    place = {j: k for k, j in enumerate(columns)}
    X = np.empty((len(cells), len(shown)))
    for k, feature in enumerate(shown):
        j, level = (feature, None) if made_of is None else made_of[feature]
        X[:, k] = cells[:, place[j]]
        if level is not None:
            codes = np.where(np.isnan(X[:, k]), len(schema.categories[j]), X[:, k])
            X[:, k] = codes == level
    return X


def _missing(tally: Tally, made_of: list[tuple[int, int | None]] | None) -> np.ndarray:
    """Missing cells of each feature; an indicator has none."""
    if made_of is None:
        return tally.missing
    return np.array([tally.missing[j] if level is None else 0 for j, level in made_of])


def _roles(schema: Schema, tally: Tally, given: dict[str, str]) -> dict[str, str]:
    """What the columns are, by all rows."""
    reasons = {why: role for role, why in ASIDE.items()}
    roles = {name: reasons.get(why, "ignore") for name, why in schema.aside.items()}
    constant, empty = tally.low == tally.high, np.isnan(tally.low)
    for j, name in enumerate(schema.names):
        kind = "categorical" if j in schema.categories else "numeric"
        kind = "constant" if constant[j] else "empty" if empty[j] else kind
        roles[name] = given.get(name, kind)
    return roles


def _compared(
    schema: Schema,
    sample: RowSample,
    columns: list[int],
    roles: dict[str, str],
    given: dict[str, str],
) -> dict[str, str]:
    """Columns that repeat another or give the target away, in the rows of the sample."""
    if schema.sparse or sample.y is None:
        return {}
    cells = sample.X
    names = [schema.names[j] for j in columns]
    varied = np.fmin.reduce(cells, axis=0) < np.fmax.reduce(cells, axis=0) if len(names) else ()
    asked = [
        k
        for k in np.flatnonzero(varied).tolist()
        if roles[names[k]] in ("numeric", "categorical") and names[k] not in given
    ]
    found = {
        names[k]: "duplicate"
        for k, first in duplicates(cells, asked).items()
        if _same_levels(schema, columns[k], columns[first])
    }
    asked = [k for k in asked if names[k] not in found]
    if asked:
        given_away = leaks(cells[:, asked], sample.y, schema.classes is not None)
        found.update({names[asked[k]]: "leak" for k in given_away})
    return found


def _doubtful(
    schema: Schema, sample: RowSample, columns: list[int], roles: dict[str, str]
) -> list[str]:
    """Columns of the sample that may be identifiers."""
    if schema.sparse:
        return []
    names = [schema.names[j] for j in columns]
    plain = [k for k, name in enumerate(names) if roles[name] == "numeric"]
    return [names[k] for k in perhaps_identifiers(sample.X, names, plain)]


def _same_levels(schema: Schema, j: int, other: int) -> bool:
    """Whether equal codes of two columns mean equal cells."""
    if j not in schema.categories or other not in schema.categories:
        return j not in schema.categories and other not in schema.categories
    return _levels(schema.categories[j]) == _levels(schema.categories[other])


def _levels(levels: np.ndarray) -> list[str]:
    return [one if isinstance(one, str) else plain_number(one) for one in levels.tolist()]


def _class_names(schema: Schema) -> list[str]:
    return [] if schema.classes is None else _levels(schema.classes)
