"""Dataset: a table ready for a selector, and all that is known about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tamiz.data.column import plain_number
from tamiz.data.errors import DataError, Finding, listed, near
from tamiz.display import frame_in_notebook, frames
from tamiz.validation import as_numpy, checked, one_of, require_memory, some_columns

if TYPE_CHECKING:
    import pandas as pd

ENCODINGS = ("ordinal", "onehot")
MISSING = "(missing)"


def encode(data: Dataset, how: str) -> Dataset:
    """See :meth:`tamiz.data.Dataset.encode`."""
    if sparse.issparse(data.X):
        return data
    if data.X.dtype == object:
        raise DataError("These data hold text as it is; load them again with encode='onehot'.")
    if how == "ordinal" or not data.levels:
        return data
    width = len(data.feature_names) + sum(map(len, data.levels.values()))
    require_memory(
        16 * data.n_samples * width,  # the columns, and the table that is made of them
        f"{data.n_samples:,} rows with categories as {width:,} columns of 0 and 1",
        "Leave out columns of many categories with drop=, use fewer rows with nrows=, or a method "
        "that takes categories as they are ('tamiz methods' shows which).",
    )
    blocks: list[np.ndarray] = []
    names: list[str] = []
    roles = dict(data.roles)
    groups: list[list[int]] = [[j for j in group] for group in data.feature_groups]
    moved: dict[int, int] = {}
    for j, name in enumerate(data.feature_names):
        column = data.X[:, j]
        if name not in data.levels:
            moved[j] = len(names)
            blocks.append(column[:, None])
            names.append(name)
            continue
        block, labels = indicators(column, data.levels[name])
        start = len(names)
        names += [f"{name}={label}" for label in labels]
        roles.update(dict.fromkeys(names[start:], data.roles.get(name, "categorical")))
        blocks.append(block)
        if len(labels) > 1:
            groups.append(list(range(start, len(names))))
    earlier = [[moved[j] for j in group] for group in groups[: len(data.feature_groups)]]
    X = np.hstack(blocks)
    coded = [name for name in data.feature_names if name in data.levels]
    n_made = len(names) - len(data.feature_names) + len(coded)
    note = (
        f"Categories as indicators: {listed(coded)} became {n_made} columns of 0 and 1, with names "
        f"such as {next(name for name in names if name.startswith(f'{coded[0]}='))!r}."
    )
    return replace(
        data,
        X=X,
        feature_names=names,
        categorical=np.zeros(len(names), dtype=bool),
        missing=np.isnan(X).sum(axis=0),
        levels={},
        feature_groups=earlier + groups[len(data.feature_groups) :],
        roles=roles,
        notes=[*data.notes, note],
    )


def columns_of(data: Dataset) -> list[np.ndarray]:
    """For each feature, the columns that it has after ``data.encode("onehot")``."""
    widths = [
        len(indicators(data.X[:, j], data.levels[name])[1]) if name in data.levels else 1
        for j, name in enumerate(data.feature_names)
    ]
    ends = np.cumsum(widths)
    return [np.arange(end - width, end) for end, width in zip(ends, widths, strict=True)]


def indicators(column: np.ndarray, levels: list[str]) -> tuple[np.ndarray, list[str]]:
    """One column of 0 and 1 for each level, and the names of these columns.

    Two levels make one column, that of the second: the first says nothing more. Missing cells are
    a level of their own.
    """
    labels = list(levels)
    codes = column.copy()
    gaps = np.isnan(codes)
    if gaps.any():
        codes[gaps] = len(labels)
        labels.append(MISSING)
    first = 1 if len(labels) == 2 else 0
    block = (codes[:, None] == np.arange(first, len(labels))).astype(np.float64)
    return block, labels[first:]


@dataclass(repr=False, eq=False)
class Dataset:
    """Features, target and what the columns are.

    Attributes
    ----------
    X : array of shape (n_samples, n_features), or CSR matrix
        The features as float64, NaN where a cell is missing. Categories are codes 0, 1, ...
        (see ``levels``) or indicators (see ``feature_groups``). With ``encode=None`` an array of
        objects, if any column is text.
    y : array of shape (n_samples,) or None
        Labels (text or integers) or, in a regression, float64 numbers.
    feature_names : list of str
        Names of the columns of ``X``.
    target_names : list of str or None
        Names of the classes, in the order of the sorted labels; None in a regression.
    categorical : boolean array of shape (n_features,)
        Which columns of ``X`` are codes of categories.
    name, source : str
        What the data are called, and where they came from.
    target : str or None
        Name of the target.
    task : {"classification", "regression"} or None
        What the target asks for, as guessed or as given.
    roles : dict
        What each column was taken for: "numeric", "categorical", "id", "text", "date",
        "constant", "empty", "duplicate" or "leak". Columns that were set aside are in it too.
    missing : array of shape (n_features,)
        Number of missing cells in each column.
    levels : dict
        For each coded column, the names of its codes.
    feature_groups : list of lists of int
        The indicators of one category, as positions in ``X``: a unit for those selectors that
        take ``feature_groups``. Empty unless encoded one-hot.
    aside : dict
        Columns of the file that are not in ``X``, and why.
    extras : dict
        Further arrays that came with the data, such as ``split`` (one entry for each row);
        ``groups``, ``weights``, ``time`` and ``samples`` (their names) if asked for;
        ``dates`` of the column of dates that was named as times, or is the only one, NaT where it
        has no value.
    dated_by : str or None
        The column that ``time`` or ``dates`` come from.
    notes : list of str
        What was noticed or decided while reading.
    warnings : list of Finding
        What should be looked at, with codes for programs.

    See Also
    --------
    tamiz.data.load : makes it from a name, a file or a table.

    Examples
    --------
    >>> from tamiz.data import load
    >>> people = load("d8")
    >>> people
    <d8: 8 x 3, classification with 2 classes>
    >>> people.keep(["height"]).X.ravel().tolist()[:3]
    [170.0, 147.0, 150.0]
    >>> X, y = people.as_xy()
    >>> X.shape, y.tolist()
    ((8, 3), [1, -1, -1, -1, 1, -1, 1, 1])
    """

    X: Any
    y: np.ndarray | None = None
    feature_names: list[str] = field(default_factory=list)
    target_names: list[str] | None = None
    categorical: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    name: str = ""
    source: str = ""
    target: str | None = None
    task: str | None = None
    roles: dict[str, str] = field(default_factory=dict)
    missing: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    levels: dict[str, list[str]] = field(default_factory=dict)
    feature_groups: list[list[int]] = field(default_factory=list)
    aside: dict[str, str] = field(default_factory=dict)
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    dated_by: str | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.X, self.y = as_numpy(self.X), as_numpy(self.y, "y")
        p = self.n_features
        if not self.feature_names:
            self.feature_names = [f"x{j}" for j in range(p)]
        if len(self.feature_names) != p:
            raise DataError(
                f"feature_names has {len(self.feature_names)} entries but X has {p} columns; give "
                "one name for each."
            )
        if self.y is not None and len(self.y) != self.n_samples:
            raise DataError(
                f"y has {len(self.y)} entries but X has {self.n_samples} rows; they must be equal."
            )
        if len(self.categorical) != p:
            self.categorical = np.zeros(p, dtype=bool)
        if len(self.missing) != p:
            self.missing = count_missing(self.X)

    # ---------------------------------------------------------------------------- what it is

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``."""
        return self.X.shape[1]

    @property
    def class_counts(self) -> dict[str, int]:
        """How many samples each class has; empty in a regression."""
        if self.y is None or self.target_names is None:
            return {}
        counts = np.unique(self.y, return_counts=True)[1].tolist()
        return dict(zip(self.target_names, counts, strict=True))

    def __repr__(self) -> str:
        parts = [f"{self.n_samples} x {self.n_features}"]
        if self.task == "classification":
            parts.append(f"classification with {len(self.target_names or [])} classes")
        elif self.task is not None:
            parts.append(self.task)
        n_categorical = int(np.sum(self.categorical))
        if n_categorical:
            parts.append(f"{n_categorical} categorical")
        n_missing = int(np.sum(self.missing))
        if n_missing:
            parts.append(f"{n_missing} missing")
        return f"<{self.name or 'Dataset'}: {', '.join(parts)}>"

    def __str__(self) -> str:
        return self.describe()

    def to_frame(self) -> pd.DataFrame:
        """One row for each column of ``X``: role, missing cells and values; ``frame`` holds these.

        Examples
        --------
        >>> from tamiz.data import load
        >>> load("d8").to_frame()[["column", "role", "values"]]
           column     role          values
        0  height  numeric      147 to 177
        1  weight  numeric        75 to 85
        2   noise  numeric  0.011 to 0.757
        """
        p = range(self.n_features)
        columns = {
            "column": self.feature_names,
            "role": [self.roles.get(name, "numeric") for name in self.feature_names],
            "missing": [int(self.missing[j]) for j in p],
            "values": [_shown_values(self, j) for j in p],
        }
        return frames().DataFrame(columns)

    def _repr_html_(self) -> str | None:
        first = _shown_target(self)
        return frame_in_notebook(f"{repr(self).strip('<>')}; target {first}", self.to_frame)

    def describe(self, top: int = 20) -> str:
        """An overview in plain text: size, target, columns with their roles, notes.

        Parameters
        ----------
        top : int, default=20
            Number of columns to list.
        """
        return _describe(self, top)

    # --------------------------------------------------------------------------- what to use

    def as_xy(self) -> tuple[Any, np.ndarray | None]:
        """``X`` and ``y``, as ``fit`` takes them."""
        return self.X, self.y

    @property
    def frame(self) -> pd.DataFrame:
        """All columns as a pandas table, categories by name, the target last."""
        pd = frames("frame")
        if sparse.issparse(self.X):
            table = pd.DataFrame.sparse.from_spmatrix(self.X, columns=self.feature_names)
        elif not self.levels:
            table = pd.DataFrame(self.X, columns=self.feature_names)
        else:
            columns: dict[str, Any] = {}
            for j, name in enumerate(self.feature_names):
                column = self.X[:, j]
                if name in self.levels:
                    codes = np.where(np.isnan(column), -1, column).astype(int)
                    column = pd.Categorical.from_codes(codes, categories=self.levels[name])
                columns[name] = column
            table = pd.DataFrame(columns)
        if self.y is not None:
            name = self.target or "target"
            while name in self.feature_names:
                name += "_"
            table = table.assign(**{name: self.y})
        return table

    @checked(DataError, features=some_columns)
    def keep(self, features: Any) -> Dataset:
        """The same with these features only, in the order given.

        Parameters
        ----------
        features : sequence of str or int, or boolean mask
            Names or positions.
        """
        return self._with_features(self._positions(features, "keep"))

    @checked(DataError, features=some_columns)
    def drop(self, features: Any) -> Dataset:
        """The same without these features.

        Parameters
        ----------
        features : sequence of str or int, or boolean mask
            Names or positions.
        """
        gone = set(self._positions(features, "drop"))
        return self._with_features([j for j in range(self.n_features) if j not in gone])

    def take(self, rows: Any) -> Dataset:
        """The same with these rows only: positions, a slice, or a boolean mask.

        ``data.take(data.extras["split"] == "train")`` is the official training part of a set that
        has one. A class of which no row is left loses its name too.
        """
        rows = np.arange(self.n_samples)[rows]
        X = self.X[rows]
        y = None if self.y is None else self.y[rows]
        names = self.target_names
        if names is not None and self.y is not None and y is not None:
            left = np.isin(np.unique(self.y), y)
            names = [label for label, still in zip(names, left, strict=True) if still]
        extras = {
            key: array[rows] if len(array) == self.n_samples else array
            for key, array in self.extras.items()
        }
        return replace(self, X=X, y=y, target_names=names, missing=count_missing(X), extras=extras)

    @checked(DataError, how=one_of(*ENCODINGS))
    def encode(self, how: str = "onehot") -> Dataset:
        """The same with coded columns turned into indicators.

        Parameters
        ----------
        how : {"onehot", "ordinal"}
            One column for each level (a single one where there are two levels and nothing is
            missing), grouped in ``feature_groups``; or the codes as they are.

        Returns
        -------
        Dataset
            Missing cells of a category become a level of their own.
        """
        return encode(self, how)

    # ------------------------------------------------------------------------------- private

    def _positions(self, features: Any, method: str) -> list[int]:
        if isinstance(features, (str, Integral)) and not isinstance(features, bool):
            features = [features]
        values = list(features)
        if values and all(isinstance(value, (bool, np.bool_)) for value in values):
            if len(values) != self.n_features:
                raise DataError(
                    f"{method} got a mask of {len(values)} entries; the data have "
                    f"{self.n_features} features."
                )
            return np.flatnonzero(values).tolist()
        place = {name: j for j, name in enumerate(self.feature_names)}
        found: list[int] = []
        for value in values:
            if isinstance(value, Integral):
                if not -self.n_features <= int(value) < self.n_features:
                    raise DataError(
                        f"{method} got position {value}; the {self.n_features} features are "
                        f"numbered 0 to {self.n_features - 1}."
                    )
                found.append(int(value) % self.n_features)
            elif value in place:
                found.append(place[value])
            else:
                hint = near(str(value), place) or f" There are {listed(place)}."
                raise DataError(f"{method} names {value!r}, but no feature is called so.{hint}")
        if len(set(found)) < len(found):
            raise DataError(f"{method} lists a feature twice; list each one once.")
        return found

    def _with_features(self, kept: list[int]) -> Dataset:
        if not kept:
            raise DataError("No feature would be left; keep at least one.")
        names = [self.feature_names[j] for j in kept]
        place = {j: k for k, j in enumerate(kept)}
        gone = set(self.feature_names).difference(names)
        groups = [[place[j] for j in group if j in place] for group in self.feature_groups]
        extras = {
            key: array[kept]
            if len(array) == self.n_features and len(array) != self.n_samples
            else array
            for key, array in self.extras.items()
        }
        return replace(
            self,
            X=self.X[:, kept],
            feature_names=names,
            categorical=self.categorical[kept],
            missing=self.missing[kept],
            levels={name: self.levels[name] for name in names if name in self.levels},
            feature_groups=[group for group in groups if group],
            extras=extras,
            warnings=[
                found
                for found in self.warnings
                if not found.columns or not gone.issuperset(found.columns)
            ],
        )


def count_missing(X: Any) -> np.ndarray:
    """Number of missing cells in each column."""
    if sparse.issparse(X):
        coo = X.tocoo()
        return np.bincount(coo.col[np.isnan(coo.data)], minlength=X.shape[1])
    if X.dtype == object:
        return np.array([sum(cell is None for cell in X[:, j]) for j in range(X.shape[1])])
    if X.dtype.kind != "f":
        return np.zeros(X.shape[1], dtype=np.intp)
    return np.isnan(X).sum(axis=0)


# --------------------------------------------------------------------- overview in plain text


def _describe(data: Dataset, top: int) -> str:
    """See :meth:`tamiz.data.Dataset.describe`."""
    lines = [f"{data.name or 'Dataset'}: {data.n_samples} samples, {data.n_features} features"]
    if data.source:
        lines.append(f"from      {data.source}")
    lines.append(f"target    {_shown_target(data)}")
    lines.append(f"features  {_shown_features(data)}")
    lines.append("")
    lines += _column_lines(data, top)
    if data.aside:
        lines.append("")
        lines.append("not used:")
        lines += [f"  {name}: {why}" for name, why in data.aside.items()]
    if data.notes:
        lines.append("")
        lines.append("notes:")
        lines += [f"  {note}" for note in data.notes]
    return "\n".join(lines)


def _shown_target(data: Dataset) -> str:
    if data.y is None:
        return "none"
    name = data.target or "y"
    counts = data.class_counts
    if counts:
        shown = ", ".join(f"{label} {count}" for label, count in list(counts.items())[:8])
        more = f", and {len(counts) - 8} more" if len(counts) > 8 else ""
        return f"{name}: {data.task} with {len(counts)} classes ({shown}{more})"
    if len(data.y) == 0:
        return f"{name}: {data.task}"
    low, high = plain_number(np.min(data.y)), plain_number(np.max(data.y))
    return f"{name}: {data.task}, {low} to {high}"


def _shown_features(data: Dataset) -> str:
    inside = [data.roles.get(name, "numeric") for name in data.feature_names]
    parts = [f"{inside.count(role)} {role}" for role in dict.fromkeys(inside)]
    n_missing = int(np.sum(data.missing))
    if n_missing:
        parts.append(f"{n_missing} missing cells in {np.count_nonzero(data.missing)} columns")
    if sparse.issparse(data.X):
        parts.append(f"sparse, {data.X.nnz} values stored")
    return "; ".join(parts)


def _column_lines(data: Dataset, top: int) -> list[str]:
    """Name, role, missing cells and values of the first columns."""
    rows = [("column", "role", "missing", "values")]
    for j, name in enumerate(data.feature_names[:top]):
        role = data.roles.get(name, "numeric")
        rows.append((name[:32], role, str(data.missing[j] or ""), _shown_values(data, j)))
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [
        "  "
        + "  ".join([*(cell.ljust(w) for cell, w in zip(row[:3], widths, strict=True)), row[3]])
        for row in rows
    ]
    if data.n_features > top:
        lines.append(f"  ... and {data.n_features - top} more")
    return [line.rstrip() for line in lines]


def _shown_values(data: Dataset, j: int) -> str:
    name = data.feature_names[j]
    if name in data.levels:
        levels = data.levels[name]
        shown = ", ".join(levels[:5])
        return shown if len(levels) <= 5 else f"{shown}, ... ({len(levels)} levels)"
    column: Any = data.X[:, [j]].toarray().ravel() if sparse.issparse(data.X) else data.X[:, j]
    if column.dtype == object:
        first = next((str(cell) for cell in column if cell is not None), "")
        return first if len(first) <= 40 else first[:37] + "..."
    column = column[~np.isnan(column)] if column.dtype.kind == "f" else column
    if not len(column):
        return ""
    return f"{_short(column.min())} to {_short(column.max())}"


def _short(value: Any) -> str:
    value = float(value)
    return plain_number(value) if value.is_integer() else f"{value:.4g}"
