"""Data sets by name: those that come along, those in a folder, those to be fetched.

What they are is listed in ``sets.toml``.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import DataError
from tamiz.data.formats.frames import from_array, object_column
from tamiz.data.plan import ColumnPlan, Options, make_plan

SUFFIXES = (".csv.gz", ".npz", ".csv", ".parquet")

_D8 = [
    (170, 85, 0.011, +1),
    (147, 75, 0.340, -1),
    (150, 77, 0.034, -1),
    (154, 81, 0.092, -1),
    (175, 79, 0.065, +1),
    (152, 80, 0.358, -1),
    (173, 82, 0.360, +1),
    (177, 84, 0.757, +1),
]


def data_folder() -> Path | None:
    """The folder of data sets: TAMIZ_DATA, else ``shared/data`` beside a checkout of the source."""
    named = os.environ.get("TAMIZ_DATA")
    if named:
        path = Path(named).expanduser()
        if not path.is_dir():
            raise DataError(
                f"TAMIZ_DATA names {named!r}, which is not a folder; correct or unset it."
            )
        return path
    root = Path(__file__).resolve().parents[3]
    beside = root.parent / "shared" / "data"
    return beside if (root / "pyproject.toml").is_file() and beside.is_dir() else None


def find_file(name: str) -> Path | None:
    """The file of a named set, if there is one."""
    folder = data_folder()
    if folder is None:
        return None
    return next((p for s in SUFFIXES if (p := folder / f"{name}{s}").is_file()), None)


def read_bundled(entry: Named, options: Options) -> tuple[RawTable, ColumnPlan, list[str] | None]:
    """A set that needs no file; also the names of its classes."""
    if entry.name == "d8":
        array = np.array(_D8, dtype=float)[: options.nrows]
        y = Column("target", array[:, 3].copy())
        names = ["height", "weight", "noise"]
        table, plan = from_array(array[:, :3], names, [y], "tamiz", options, "target")
        return table, plan, ["short", "tall"]
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{entry.name}")()
    keep = slice(options.nrows)
    names = [str(name) for name in bunch.feature_names]
    y = Column("target", np.asarray(bunch.target, dtype=np.float64)[keep])
    table, plan = from_array(
        np.asarray(bunch.data)[keep], names, [y], "scikit-learn", options, "target"
    )
    classes = getattr(bunch, "target_names", None)
    return table, plan, None if classes is None else [str(label) for label in classes]


def fetch(entry: Named, options: Options, download: bool) -> tuple[RawTable, ColumnPlan]:
    """A set from OpenML, compared with what is known of it."""
    where = f"{entry.name}.csv.gz or {entry.name}.npz"
    folder = os.environ.get("TAMIZ_DATA")
    remedy = f"put {where} in {'that folder' if folder else 'a folder and name it in TAMIZ_DATA'}"
    looked = f"the folder {folder!r}" if folder else "a folder of data (TAMIZ_DATA is not set)"
    if entry.openml is None:
        raise DataError(
            f"Data set {entry.name!r} was looked for in {looked} and cannot be fetched; {remedy}."
        )
    if not download:
        raise DataError(
            f"Data set {entry.name!r} was looked for in {looked}; {remedy}, or allow download=True."
        )
    shown = f"OpenML {entry.openml}"
    try:
        bunch = _fetch_openml(entry.openml)
    except Exception as error:  # whatever the network, the server or the cache may bring
        words = str(error).split("\n")[0].rstrip(".")[:100] or type(error).__name__
        raise DataError(
            f"Data set {entry.name!r} was looked for in {looked}, and fetching it from OpenML "
            f"(number {entry.openml}) failed ({words}); {remedy}, or try again with a network."
        ) from None
    X, y = bunch.data, np.asarray(bunch.target)
    if X.shape != (entry.rows, entry.features):
        raise DataError(
            f"{shown} has {X.shape[0]} rows and {X.shape[1]} features where {entry.name!r} has "
            f"{entry.rows} and {entry.features}: not the same data; {remedy}."
        )
    y, note = match_labels(y, entry, shown, remedy)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    categories = getattr(bunch, "categories", None) or {}
    names = [str(name) for name in bunch.feature_names]
    columns: list[Column] = []
    for j, name in enumerate(names):
        levels = categories.get(name)
        if levels:
            codes = np.where(np.isnan(X[:, j]), -1, X[:, j]).astype(np.int32)
            columns.append(
                Column(name, None, codes, [str(level) for level in levels], declared=True)
            )
        else:
            columns.append(Column(name, X[:, j]))
    target = "target" if "target" not in names else "target_"
    columns.append(object_column(target, y.tolist()))
    if options.nrows is not None:
        rows = np.arange(len(X))[: options.nrows]
        columns = [column.take(rows) for column in columns]
    table = RawTable(columns, shown, [note] if note else [])
    return table, make_plan(table.names, options, shown, target)


def match_labels(y: Any, entry: Named, shown: str, remedy: str) -> tuple[np.ndarray, str]:
    """Give fetched labels the names used here, found by the number of samples of each class."""
    labels, counts = np.unique(y.astype(str), return_counts=True)
    known = entry.classes or {}
    if sorted(counts.tolist()) != sorted(known.values()):
        raise DataError(
            f"{shown} has classes of {sorted(counts.tolist())} samples where {entry.name!r} has "
            f"{sorted(known.values())}: not the same data; {remedy}."
        )
    ours = _as_labels(list(known))
    if set(labels.tolist()) == set(known):
        by_label = dict(zip(known, ours, strict=True))
        return np.array([by_label[label] for label in y.astype(str)], dtype=object), ""
    if len(set(counts.tolist())) == len(counts):
        by_count = {count: label for label, count in zip(ours, known.values(), strict=True)}
        by_label = {
            label: by_count[count] for label, count in zip(labels, counts.tolist(), strict=True)
        }
        note = "Labels of OpenML were renamed by the number of samples of each class."
        return np.array([by_label[label] for label in y.astype(str)], dtype=object), note
    note = f"Labels are those of OpenML ({', '.join(labels)}); elsewhere {', '.join(known)}."
    return np.array(_as_labels(y.astype(str).tolist()), dtype=object), note


def _as_labels(labels: list[str]) -> list[Any]:
    try:
        return [int(label) for label in labels]
    except ValueError:
        return labels


def _fetch_openml(number: int) -> Any:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=number, as_frame=False, parser="liac-arff")


# ---------------------------------------------------------------------------------- the list


class Named(NamedTuple):
    """One entry of the list."""

    name: str
    rows: int
    features: int
    summary: str
    classes: dict[str, int] | None = None  # label: count; None for a numeric target
    openml: int | None = None
    bundled: bool = False  # comes with scikit-learn or with tamiz
    text: bool = False  # the features are free text, left as it is


def _read_list() -> tuple[dict[str, Named], dict[str, str]]:
    """The sets by name, and other names of the same."""
    content = tomllib.loads((Path(__file__).parent / "sets.toml").read_text(encoding="utf-8"))
    sets = {name: Named(name, **entry) for name, entry in content["sets"].items()}
    return sets, content["aliases"]


SETS, ALIASES = _read_list()


def canonical(name: str) -> str | None:
    """The name under which a set is listed, or None; case, blanks and hyphens do not matter."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = ALIASES.get(key, key)
    return key if key in SETS else None
