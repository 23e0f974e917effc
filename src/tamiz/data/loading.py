"""load and available: data by name, from a file, or from a table in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tamiz.data.assemble import STATED, build
from tamiz.data.dataset import ENCODINGS, Dataset
from tamiz.data.errors import DataError, DataWarning, near
from tamiz.data.formats import WRITTEN, faults_said, open_file, stem
from tamiz.data.formats import table_bytes as bytes_of_file
from tamiz.data.formats.base import HeldTable, Reader
from tamiz.data.named import (
    ALIASES,
    SETS,
    Named,
    canonical,
    find_file,
    own_file,
    read_built_in,
)
from tamiz.data.plan import Options
from tamiz.validation import (
    checked,
    depth_of_caller,
    file_or_dict,
    free_bytes,
    integer_from,
    one_column,
    one_of,
    optional,
    real_number,
    require_memory,
    some_columns,
)


@checked(
    DataError,
    **STATED,
    **WRITTEN,
    labels=optional(file_or_dict),
    groups=optional(one_column),
    time=optional(one_column),
    weights=optional(one_column),
    keep=optional(some_columns),
    encode=one_of(*ENCODINGS, None),
    nrows=optional(integer_from(1)),
    leaks=one_of("keep", "drop"),
)
def load(
    source: Any,
    target: Any = None,
    *,
    columns: Any = None,
    drop: Any = None,
    roles: Mapping[Any, str] | None = None,
    task: str | None = None,
    encode: str | None = "ordinal",
    nrows: int | None = None,
    format: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] | None = None,
    transpose: bool = False,
    labels: Any = None,
    groups: Any = None,
    weights: Any = None,
    time: Any = None,
    leaks: str = "keep",
    keep: Any = None,
    download: bool | None = None,
    verbose: bool | int = 0,
) -> Dataset:
    """Read a data set by name, from a file, or from a table in memory.

    Everything that is guessed (separator, header, target, roles of the columns, task) is written
    in ``notes`` of the result and can be overruled.

    Parameters
    ----------
    source : str, path, data frame or 2-D array
        A name from :func:`available`; a file (CSV or TSV, also gzip'd; Parquet; ARFF; LIBSVM;
        NumPy npz); or a pandas or polars frame. A file without extension that is called like a
        set is meant if it is written with a folder, as in ``"./iris"``.
    target : str, int or False, optional
        Name or position of the target; False for none. By default a column called target, class,
        label or y, else the last one.
    columns : sequence of str or int, optional
        Features to read; the others are passed over. All by default.
    drop : sequence of str or int, optional
        Features to leave out.
    roles : dict, optional
        What columns are, where the guess is wrong: ``{"zip": "categorical", "key": "ignore"}``.
        See ``roles`` of :class:`Dataset`.
    task : {"classification", "regression"}, optional
        By default text, two values, or few integers that return are labels; other numbers ask
        for a regression.
    encode : {"ordinal", "onehot"} or None, default="ordinal"
        Categories as codes, as indicators with ``feature_groups``, or cells as they are.
    nrows : int, optional
        Read so many rows only.
    format : {"csv", "parquet", "arff", "libsvm", "npz"}, optional
        By default judged by the extension.
    separator, decimal, encoding : str, optional
        Of a text table; guessed by default.
    header : bool, optional
        Whether the first line of a text table holds names; guessed by default.
    missing : sequence of str, optional
        Spellings of a missing value in a text table instead of the usual ones (an empty cell,
        ``NA``, ``?``, ``NaN``, ``null`` ...).
    transpose : bool, default=False
        Whether a text table holds features in rows and samples in columns, as expression data do:
        its first column names features, its header samples (``extras["samples"]``). The target is
        then a row (the only one of text by default), or comes from ``labels``.
    labels : path or dict, optional
        Labels of the samples of a transposed table: a text table with a column of sample names and
        one of labels (``target`` names it if there are more), or one column in the order of the
        samples; or a dict from sample to label. Samples without a label are left out.
    groups, weights : str or int, optional
        Columns that are no features: which rows belong together, and what each counts. They are in
        ``extras["groups"]`` and ``extras["weights"]``; weights are positive.
    time : str or int, optional
        Column that is no feature and says when each row was, as a number or a date: in
        ``extras["time"]``, dates as seconds. Evaluations then learn from the past only.
    leaks : {"keep", "drop"}, default="keep"
        What becomes of features that alone give the target, (nearly) without error: kept, with a
        warning, or set aside. Their role is "leak" either way.
    keep : str, int or sequence of them, optional
        Columns that are known before the target is and are not to be suspected.
    download : bool, optional
        Deprecated: all data sets known by name come with the package, and nothing is fetched.
    verbose : bool or int, default=0
        Show progress on files that take longer than two seconds.

    Returns
    -------
    Dataset

    See Also
    --------
    available : the names.
    about : source, terms and citation of a data set known by name.

    Examples
    --------
    >>> from tamiz.data import load
    >>> iris = load("iris")
    >>> iris
    <iris: 150 x 4, classification with 3 classes>
    >>> iris.target_names
    ['setosa', 'versicolor', 'virginica']
    >>> load("iris", target="petal width (cm)").task
    'regression'
    """
    if download is not None:
        words = "download= does nothing any more: all data sets come with the package."
        warnings.warn(words, FutureWarning, stacklevel=depth_of_caller())
    if labels is not None and not transpose:
        raise DataError(
            "labels= goes with transpose=True, for tables with samples in columns; name a column "
            "of labels with target=."
        )
    options = Options(
        target, columns, drop, nrows, separator, decimal, encoding, header, missing,
        _named_columns(groups=groups, weights=weights, time=time), transpose, labels=labels,
    )  # fmt: skip
    entry = None if not isinstance(source, str) or transpose else _named(source)
    if entry is not None and entry.text:
        encode, options.missing = None, []
    with faults_said(_shown(source)):
        reader, name, classes = _open(source, entry, options, format)
        table = reader.collect(int(verbose))
        data, alarms = build(
            table,
            reader.plan(),
            name=name,
            roles=roles,
            task=task,
            encode=encode,
            trusted=entry is not None,
            leaks=leaks,
            keep=keep,
        )
    if classes is not None and data.target == "target" and data.target_names is not None:
        data.target_names = [classes[k] for k in _codes(data.target_names)]
    for alarm in alarms:
        warnings.warn(alarm, DataWarning, stacklevel=depth_of_caller())
    return data


@checked(DataError, where=one_of("bundled", "folder", None))
def available(where: str | None = None) -> list[str]:
    """Names that :func:`load` knows.

    Parameters
    ----------
    where : {"bundled", "folder"}, optional
        Only those that come with the installation (all of them), or those that are read from the
        folder that the environment variable TAMIZ_DATA names.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from tamiz.data import available
    >>> available()[:6]
    ['d8', 'iris', 'wine', 'breast_cancer', 'digits', 'diabetes']
    """
    if where == "folder":
        return [name for name, e in SETS.items() if not e.built_in and own_file(name) is not None]
    return list(SETS)


# --------------------------------------------------------------------------------------- private


def _named_columns(**given: Any) -> dict[str, Any]:
    """Columns that are no features, by what they are for, as far as they were named."""
    return {key: column for key, column in given.items() if column is not None}


def _open(
    source: Any, entry: Named | None, options: Options, format: str | None
) -> tuple[Reader, str, list[str] | None]:
    """The reader of a source, the name of the data, and those of their classes where known."""
    if entry is not None:
        if entry.built_in:
            table, plan, classes = read_built_in(entry, options)
            return HeldTable(table, plan), entry.name, classes
        return open_file(find_file(entry.name), options), entry.name, None
    if isinstance(source, (str, os.PathLike)):
        path = find_path(os.fspath(source))
        reader = open_file(path, options, format)
        if options.columns is None and options.nrows is None:
            _require_room(reader, path)
        return reader, stem(path), None
    from tamiz.data.formats.frames import read_memory

    if options.transpose:
        raise DataError("transpose=True reads text tables only; transpose the table yourself.")
    return HeldTable(*read_memory(source, options)), "table", None


def _require_room(reader: Reader, path: Path) -> None:
    """Refuse a file whose whole table memory does not hold."""
    size = reader.bytes_in_memory()
    if size is not None:
        packed = path.suffix == ".gz"  # how far it unpacks is a guess
        require_memory(
            size / 2 if packed else size,
            f"the table of {path.name} in memory",
            "Read part of it with columns= or nrows=, or go through it in batches: "
            "tamiz.scale.batches and fit_stream, on the command line tamiz rank --stream.",
        )


def _shown(source: Any) -> str:
    return Path(source).name if isinstance(source, (str, os.PathLike)) else "the table"


def _named(source: str) -> Named | None:
    """The entry of a name; None for what must be a path."""
    if os.sep in source or (os.altsep and os.altsep in source):
        return None
    key = canonical(source)
    return None if key is None else SETS[key]


def find_path(shown: str) -> Path:
    """The file of this name; a sentence if there is none that can be read."""
    try:
        path = Path(shown).expanduser()
        _refuse_absent(path, shown)
        ordinary = path.is_file()
    except (OSError, RuntimeError) as error:  # a folder without permission; no such user after ~
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise DataError(f"{shown!r} cannot be read ({why}); check the name.") from None
    if not ordinary:
        raise DataError(
            f"{shown} is a pipe or a device, which can be read only once; save what it gives to a "
            "file first."
        )
    return path


def _refuse_absent(path: Path, shown: str) -> None:
    if path.is_dir():
        raise DataError(f"{shown} is a folder; name a file in it.")
    if path.exists():
        return
    if path.suffix or os.sep in shown:
        folder = path.parent
        beside = [p.name for p in folder.iterdir() if p.is_file()] if folder.is_dir() else []
        hint = near(path.name, beside[:1000]) or " Check the name and the folder."
        raise DataError(f"There is no file {shown!r}.{hint}")
    hint = near(shown, [*SETS, *ALIASES]) or " tamiz.data.available() lists the names."
    raise DataError(f"{shown!r} is neither a data set known by name nor a file.{hint}")


def _codes(labels: list[str]) -> list[int]:
    """Positions among the classes of labels that are 0, 1, ..., or -1 and 1."""
    return [0 if label == "-1" else int(label) for label in labels]


# ------------------------------------------------------------------ does it fit into memory?


@checked(
    DataError,
    share=real_number(above=0, finite=False, hint=", such as 0.25"),
    format=WRITTEN["format"],
)
def is_large(path: Any, share: float = 0.25, *, format: str | None = None) -> bool:
    """Whether the table of a file would take more than a fraction of the memory that is free.

    Parameters
    ----------
    path : str or path
        The file. What is no file (a data set known by name) is not large.
    share : float, default=0.25
        Fraction of the available memory. Reading and fitting need a few times what the table takes.
    format : str, optional
        Kind of file; by default judged by the extension.

    Returns
    -------
    bool

    See Also
    --------
    table_bytes, available_bytes : the two numbers that are compared.

    Examples
    --------
    >>> from tamiz.scale import is_large
    >>> is_large("iris")
    False
    """
    file = Path(path).expanduser()
    if not file.is_file():
        return False
    return table_bytes(file, format=format) > share * available_bytes()


@checked(DataError, format=WRITTEN["format"])
def table_bytes(path: Any, *, format: str | None = None) -> int:
    """Bytes that the table of a file takes in memory as float64 numbers, about.

    A Parquet file says how many rows and columns it has; of a text table the first rows show how
    long a row is.
    """
    return bytes_of_file(find_path(os.fspath(path)), format)


def available_bytes() -> int:
    """Memory that a process can still take: what the system has free, within its own limits."""
    return free_bytes()
