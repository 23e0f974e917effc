"""batches: a table of any size, a batch of rows at a time, as often as asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from tamiz.data.assemble import STATED
from tamiz.data.column import Column
from tamiz.data.dataset import Dataset
from tamiz.data.errors import DataError, listed
from tamiz.data.formats import WRITTEN, faults_said, find_format, open_file
from tamiz.data.formats.base import HeldTable, Reader
from tamiz.data.formats.frames import TableIterator, is_pair, is_table, read_memory, read_pair
from tamiz.data.loading import find_path
from tamiz.data.plan import Options
from tamiz.scale.batched import Batches
from tamiz.validation import checked, integer_from, optional, some_columns

#: Sources of other libraries: whether a value is one, and what makes a reader of it.
_REGISTERED: list[tuple[Callable[[Any], bool], Callable[[Any, Options], Reader]]] = []


def register(recognise: Callable[[Any], bool], make: Callable[[Any, Options], Reader]) -> None:
    """Teach :func:`batches` another kind of source.

    Parameters
    ----------
    recognise : callable
        Called with a source; true if it is of this kind. It should not import anything.
    make : callable
        Called with the source and the options; gives a :class:`~tamiz.data.formats.base.Reader`.
    """
    _REGISTERED.append((recognise, make))


@checked(
    DataError,
    **STATED,
    **WRITTEN,
    categorical_features=optional(some_columns),
    batch_rows=optional(integer_from(1)),
    n_features=optional(integer_from(1)),
)
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
    options = Options(
        target, columns, drop, None, separator, decimal, encoding, header, missing,
        n_features=None if n_features is None else int(n_features),
    )  # fmt: skip
    parts = _open(source, options, format)
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


def _open(source: Any, options: Options, kind: str | None) -> list[Reader]:
    parts = source if isinstance(source, tuple) else (source,)
    if any(type(part).__module__.partition(".")[0] == "dask" for part in parts):
        import_module("tamiz.scale.dask")  # which registers its kinds of sources
    for recognise, make in _REGISTERED:
        if recognise(source):
            return [make(source, options)]
    if isinstance(source, (str, os.PathLike)):
        return [_open_file(source, options, kind)]
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
        return [HeldTable(table, plan, guess_roles=False, named=hasattr(source[0], "columns"))]
    if is_table(source):
        table, plan = read_memory(source, options, "the table")
        return [HeldTable(table, plan, guess_roles=hasattr(source, "columns"))]
    if isinstance(source, (list, tuple)):
        if not source:
            raise DataError("source is an empty list; give at least one file or one pair (X, y).")
        paths = [isinstance(item, (str, os.PathLike)) for item in source]
        if all(paths):
            return _open_files(source, options, kind)
        if any(paths):
            raise DataError(
                "source mixes paths and tables; give a list of paths, or a list of tables."
            )
    if callable(source) or hasattr(source, "__iter__"):
        return [TableIterator(source, options)]
    raise DataError(
        f"Batches cannot be made of {type(source).__name__}; pass a path, a list of paths, "
        "an iterable of (X, y) pairs or of frames, or a function that makes one."
    )


def _of_dataset(data: Dataset, options: Options) -> Reader:
    table, plan = read_pair(data.X, data.y, options, data.name or "the data set")
    assert table is not None and plan is not None
    target = data.target if data.target and data.target not in data.feature_names else "target"
    names = [*data.feature_names, target]
    table.rename(dict(zip(table.names, names, strict=True)))
    for name, levels in data.levels.items():
        coded = table.column(name)
        assert coded is not None
        numbers = coded.numbers()
        codes = np.where(np.isnan(numbers), -1, numbers).astype(np.int32)
        table.columns.append(Column(name, None, codes, list(levels), declared=True))
    if data.levels and table.matrix is not None:
        kept = [k for k, name in enumerate(table.matrix_names) if name not in data.levels]
        table.matrix = table.matrix[:, kept]
        table.matrix_names = [table.matrix_names[k] for k in kept]
    plan.features, plan.target = list(data.feature_names), target
    return HeldTable(table, plan, guess_roles=False)


def _open_file(source: Any, options: Options, kind: str | None) -> Reader:
    path = find_path(os.fspath(source)).absolute()  # for passes that are made elsewhere, or later
    with faults_said(path.name):
        reader = open_file(path, options, kind)
        reader.check_batches()
        return reader


def _open_files(sources: Sequence[Any], options: Options, kind: str | None) -> list[Reader]:
    """Files that are parts of one table: of one kind, with the same columns."""
    kinds: dict[str, str] = {}
    for source in sources:
        path = find_path(os.fspath(source))
        with faults_said(path.name):
            kinds.setdefault(find_format(path, path.name, kind).name, path.name)
    if len(kinds) > 1:
        which = ", ".join(f"{name!r} is {what}" for what, name in kinds.items())
        raise DataError(
            f"The files are of several kinds ({which}); parts of one table have to be of one kind."
        )
    first = _open_file(sources[0], options, kind)
    if first.sparse and not first.in_memory:  # features are known after a survey of all files
        return [first, *(_open_file(source, options, kind) for source in sources[1:])]
    plan = first.plan()
    same = replace(
        options,
        target=False if plan.target is None else plan.target,
        columns=plan.features,
        drop=None,
    )
    readers = [first]
    for source in sources[1:]:
        reader = _open_file(source, same, kind)
        _compare_columns(first, reader)
        reader.join(first)
        readers.append(reader)
    return readers


def _compare_columns(first: Reader, reader: Reader) -> None:
    names, other = first.names, reader.names
    if set(names) == set(other):
        return
    lacking = [name for name in names if name not in set(other)]
    extra = [name for name in other if name not in set(names)]
    what = f"lacks {listed(lacking)}" if lacking else f"has {listed(extra)} besides"
    raise DataError(
        f"{reader.shown} has other columns than {first.shown}: it {what}. Parts of one table need "
        "the same columns."
    )
