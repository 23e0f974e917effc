"""batches: a table of any size, a batch of rows at a time, as often as asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

from tamiz.data.assemble import check_choices
from tamiz.data.dataset import Dataset
from tamiz.data.errors import DataError, listed
from tamiz.data.formats import _kind, read_file
from tamiz.data.frames import read_memory
from tamiz.data.loading import _path
from tamiz.data.plan import Options
from tamiz.scale.batched import Batches
from tamiz.scale.csv import CsvPart
from tamiz.scale.iterables import IterablePart, TablePart, is_pair, is_table, read_pair
from tamiz.scale.libsvm import LibsvmPart
from tamiz.scale.parquet import parquet_part
from tamiz.scale.parts import Part, unreadable

#: Sources of other libraries: whether a value is one, and what makes a part of it.
_REGISTERED: list[tuple[Callable[[Any], bool], Callable[[Any, Options], Part]]] = []


def register(recognise: Callable[[Any], bool], make: Callable[[Any, Options], Part]) -> None:
    """Teach :func:`batches` another kind of source.

    Parameters
    ----------
    recognise : callable
        Called with a source; true if it is of this kind. It should not import anything.
    make : callable
        Called with the source and the options; gives a part.
    """
    _REGISTERED.append((recognise, make))


def batches(
    source: Any,
    target: Any = None,
    *,
    columns: Any = None,
    drop: Any = None,
    batch_rows: int | None = None,
    classes: Any = None,
    categorical_features: Any = None,
    roles: Mapping[Any, str] | None = None,
    task: str | None = None,
    n_features: int | None = None,
    format: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] | None = None,
    verbose: bool | int = 0,
) -> Batches:
    """Open a table that need not fit into memory, to be read a batch of rows at a time.

    The rows are those that :func:`tamiz.data.load` would give of the whole: the same features in
    the same order, the same codes of nominal columns. Two things are judged on fewer rows: an
    identifier by its name is recognised in the first rows, and a column without any value stays
    a feature.

    Parameters
    ----------
    source : path, list of paths, frame, (X, y), iterable, callable or Batches
        - A file: Parquet, CSV or TSV (also gzip'd), LIBSVM text. Files of other kinds are read as
          a whole and cut. A list of files of one kind are parts of one table.
        - An iterable of pairs ``(X, y)`` or of data frames: a list, or any object that can be
          iterated over again. A function without arguments that gives a fresh iterator. A
          generator, which can be gone through once only.
        - A table in memory: a frame, a :class:`tamiz.data.Dataset`, a pair ``(X, y)``.
        - A Dask data frame, or a Dask array and its target, ``batches(X, y)``: passes are done on
          the cluster (see :meth:`Batches.on` for files).
    target : str, int or False, optional
        Name or position of the target; False for none. Guessed as in :func:`tamiz.data.load`.
    columns, drop : sequence of str or int, optional
        Features to read, or to leave out.
    batch_rows : int, optional
        Rows in a batch. By default so many that a batch takes about 35 MB; items of an iterable
        are taken as they come.
    classes : array-like, optional
        All labels of the target. Saves the survey of a table of numbers; any other label is
        then an error.
    categorical_features : sequence of str or int, or mask, optional
        Columns of numbers that are codes of categories. Columns of text always are.
    roles : dict, optional
        What columns are, where the guess is wrong, as in :func:`tamiz.data.load`.
    task : {"classification", "regression"}, optional
        What the target asks for; guessed by default.
    n_features : int, optional
        Number of features of a LIBSVM file; by default its greatest index says.
    format, separator, decimal, encoding, header, missing
        How a file is written, as in :func:`tamiz.data.load`; guessed by default.
    verbose : bool or int, default=0
        Show progress of a survey that takes longer than two seconds.

    Returns
    -------
    Batches

    See Also
    --------
    sweep : go through all batches and merge what each gives.
    tamiz.data.load : read a table as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import batches
    >>> X, y = np.arange(12.0).reshape(6, 2), np.array(["a", "b", "a", "b", "b", "a"])
    >>> table = batches((X, y), batch_rows=4)
    >>> table.schema.classes.tolist()
    ['a', 'b']
    >>> [(batch.first_row, batch.y.tolist()) for batch in table]
    [(0, [0, 1, 0, 1]), (4, [1, 0])]
    """
    if isinstance(source, Batches):
        return source
    check_choices(roles, task, "ordinal")
    for name, value in (("batch_rows", batch_rows), ("n_features", n_features)):
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if value is not None and not (whole and int(value) >= 1):
            raise DataError(f"{name}={value!r} is not possible; give a whole number, at least 1.")
    options = Options(target, columns, drop, None, separator, decimal, encoding, header, missing)
    parts = _open(source, options, format, n_features)
    return Batches(
        parts,
        batch_rows=None if batch_rows is None else int(batch_rows),
        classes=classes,
        categorical_features=categorical_features,
        roles=roles,
        task=task,
        verbose=int(verbose),
    )


# --------------------------------------------------------------------------------------- private


def _open(source: Any, options: Options, kind: str | None, n_features: int | None) -> list[Part]:
    for recognise, make in _REGISTERED:
        if recognise(source):
            return [make(source, options)]
    if isinstance(source, (str, os.PathLike)):
        return [_open_file(source, options, kind, n_features)]
    if isinstance(source, Dataset):
        if source.y is None:
            source = source.X
            options = replace(options, target=False)
        else:
            options = replace(options, target=None)
            return [_of_dataset(source, options)]
    if is_pair(source):
        table, plan = read_pair(source[0], source[1], options, "the table")
        if table is None or plan is None:
            raise DataError("the table holds no rows; a table needs at least one.")
        table.source = "the table"
        return [TablePart(table, plan, guess_roles=False, named=hasattr(source[0], "columns"))]
    if is_table(source):
        table, plan = read_memory(source, options, "the table")
        return [TablePart(table, plan, guess_roles=hasattr(source, "columns"))]
    if isinstance(source, (list, tuple)):
        if not source:
            raise DataError("source is an empty list; give at least one file or one pair (X, y).")
        paths = [isinstance(item, (str, os.PathLike)) for item in source]
        if all(paths):
            return _open_files(source, options, kind, n_features)
        if any(paths):
            raise DataError(
                "source mixes paths and tables; give a list of paths, or a list of tables."
            )
    if callable(source) or hasattr(source, "__iter__"):
        return [IterablePart(source, options)]
    raise DataError(
        f"Batches cannot be made of {type(source).__name__}; hand over a path, a list of paths, "
        "an iterable of (X, y) pairs or of frames, or a function that makes one."
    )


def _of_dataset(data: Dataset, options: Options) -> Part:
    from tamiz.data.column import Column

    table, plan = read_pair(data.X, data.y, options, data.name or "the data set")
    assert table is not None and plan is not None
    names = dict(zip(table.names[:-1], data.feature_names, strict=True))
    target = data.target if data.target and data.target not in data.feature_names else "target"
    names[table.names[-1]] = target
    table.matrix_names = [names[name] for name in table.matrix_names]
    for column in table.columns:
        column.name = names[column.name]
    for name, levels in data.levels.items():
        if table.matrix is not None and name in table.matrix_names:
            codes = table.matrix[:, table.matrix_names.index(name)]
            whole = [-1 if code != code else int(code) for code in codes]
            table.columns.append(Column(name, None, _int32(whole), list(levels), declared=True))
    if data.levels and table.matrix is not None:
        kept = [k for k, name in enumerate(table.matrix_names) if name not in data.levels]
        table.matrix = table.matrix[:, kept]
        table.matrix_names = [table.matrix_names[k] for k in kept]
    table.names = [*data.feature_names, target]
    plan.features, plan.target = list(data.feature_names), target
    return TablePart(table, plan, guess_roles=False)


def _int32(values: list[int]) -> Any:
    import numpy as np

    return np.array(values, dtype=np.int32)


def _open_file(source: Any, options: Options, kind: str | None, n_features: int | None) -> Part:
    shown = os.fspath(source)
    path = _path(shown).absolute()  # for passes that are made elsewhere, or later
    try:
        kind = _kind(path, path.name, kind)
        if n_features is not None and kind != "libsvm":
            raise DataError(f"n_features= belongs to LIBSVM files; {path.name} is none.")
        if kind == "parquet":
            return parquet_part(path, path.name, options)
        if kind == "csv":
            return CsvPart(path, path.name, options)
        if kind == "libsvm":
            return LibsvmPart(path, path.name, options, n_features)
    except OSError as error:
        raise DataError(unreadable(path.name, error)) from None
    table, plan = read_file(path, path.name, options, kind)
    return TablePart(table, plan, guess_roles=True)


def _open_files(
    sources: Sequence[Any], options: Options, kind: str | None, n_features: int | None
) -> list[Part]:
    """Files that are parts of one table: of one kind, with the same columns."""
    kinds: dict[str, str] = {}
    for source in sources:
        path: Path = _path(os.fspath(source))
        try:
            kinds.setdefault(_kind(path, path.name, kind), path.name)
        except OSError as error:
            raise DataError(unreadable(path.name, error)) from None
    if len(kinds) > 1:
        which = ", ".join(f"{name!r} is {what}" for what, name in kinds.items())
        raise DataError(
            f"The files are of several kinds ({which}); parts of one table have to be of one kind."
        )
    first = _open_file(sources[0], options, kind, n_features)
    parts = [first]
    if isinstance(first, LibsvmPart):
        return [*parts, *(_open_file(s, options, kind, n_features) for s in sources[1:])]
    plan = first.plan()
    told = replace(options, target=False if plan.target is None else plan.target, drop=None)
    told.columns = plan.features
    for source in sources[1:]:
        part = _open_file(source, replace(told), kind, n_features)
        _compare_columns(first, part)
        if isinstance(part, CsvPart) and isinstance(first, CsvPart):
            part.text = first.text
            part.may_be_empty = first.may_be_empty = True
        parts.append(part)
    return parts


def _compare_columns(first: Part, part: Part) -> None:
    names, other = first.names, part.names
    if set(names) == set(other):
        return
    lacking = [name for name in names if name not in set(other)]
    extra = [name for name in other if name not in set(names)]
    what = f"lacks {listed(lacking)}" if lacking else f"has {listed(extra)} besides"
    raise DataError(
        f"{part.shown} has other columns than {first.shown}: it {what}. Parts of one table need "
        "the same columns."
    )
