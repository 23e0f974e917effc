"""Text tables whose rows are features and whose columns are samples, as expression data come.

The first column names the features, the header names the samples. Labels are a row of the table,
or come from a second file, which names samples and their labels.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, RawTable, distinct_names, numbered
from tamiz.data.errors import DataError, Finding, NoLabelColumn, listed
from tamiz.data.formats.base import HeldTable
from tamiz.data.formats.csv import read_cells
from tamiz.data.formats.text import Dialect, TextFile, guess_dialect
from tamiz.data.plan import USUAL_TARGETS, Options, make_plan


def open_transposed(path: Path, shown: str, options: Options) -> HeldTable:
    """Read a text table of samples in columns, with its labels."""
    head, rows, dialect = _rows(path, shown, options)
    if len(head) < 2:
        raise DataError(
            f"{shown} has one column only, and transpose=True needs names of features and samples; "
            "name the separator with separator=."
        )
    first = rows[:50]
    described = [
        j
        for j in range(1, len(head))
        if 2 * sum(not _is_value(row[j], dialect) for row in first) > max(len(first), 2)
    ]
    if len(described) == len(head) - 1:
        raise DataError(
            f"{shown} holds text in nearly all columns, and transpose=True needs numbers of "
            "samples there; leave it out if each row is a sample."
        )
    kept = [j for j in range(1, len(head)) if j not in described][: options.nrows]
    samples = distinct_names([head[j] for j in kept])[0]
    names = [row[0].strip() for row in rows]
    names, renamed = distinct_names([name or f"unnamed_{i}" for i, name in enumerate(names)])
    columns = [
        _column(name, [row[j] for j in kept], dialect)
        for name, row in zip(names, rows, strict=True)
    ]
    notes = [f"Rows were taken as features, and {len(samples)} columns as samples."]
    if described:
        notes.append(f"Columns of text, left out: {listed([head[j] for j in described])}.")
    table = RawTable(columns, shown, notes, extras={"samples": np.array(samples)})
    table.warnings = numbered(shown, renamed, "rows")
    if options.labels is not None:
        table, options = _with_labels(table, options)
    elif options.target is None:
        options = replace(options, target=_label_row(table, shown))
    return HeldTable(table, make_plan(table.names, options, shown))


def _rows(path: Path, shown: str, options: Options) -> tuple[list[str], list[list[str]], Dialect]:
    """Header, rows of cells, and how they are written; lines of GEO's own (``!...``) left out."""
    file = TextFile(path, shown, options.encoding)
    raw = b"".join(file.pieces())
    if raw.startswith(b"!"):
        raw = b"".join(line for line in raw.splitlines(keepends=True) if line[:1] != b"!")
    text = raw.decode(file.encoding, errors="replace")
    dialect = guess_dialect(text, True, options, shown, path)
    rows = read_cells(raw, dialect, file.encoding, shown)
    if not rows:
        raise DataError(f"{shown} has a header line but no rows; add rows.")
    return dialect.names, rows, dialect


def _column(name: str, cells: list[str], dialect: Dialect) -> Column:
    """A column of numbers if every cell that is not missing is one, else of text."""
    cells = [cell.strip() for cell in cells]
    there = [None if cell in dialect.missing else cell for cell in cells]
    if all(cell is None or dialect.is_number(cell) for cell in there):
        return Column(name, np.array([np.nan if c is None else dialect.number(c) for c in there]))
    return Column.from_cells(name, there)


def _is_value(cell: str, dialect: Dialect) -> bool:
    cell = cell.strip()
    return cell in dialect.missing or dialect.is_number(cell)


def _label_row(table: RawTable, shown: str) -> Any:
    """The row of labels: the only one that holds text, else one with a usual name."""
    texts = [column.name for column in table.columns if column.is_text]
    usual = [name for name in table.names if name.lower() in USUAL_TARGETS]
    if len(usual) != 1 and len(texts) != 1:
        found = f"several rows hold text: {listed(texts)}" if texts else "no row holds text"
        raise DataError(
            f"{shown} is read with samples in columns, and {found}; name the row of labels with "
            "target=, or a file of labels with labels='labels.csv'."
        )
    name = usual[0] if len(usual) == 1 else texts[0]
    table.notes.append(f"Row {name!r} is taken as the target (target=... changes it).")
    return name


# --------------------------------------------------------------------------------------- labels


def _with_labels(table: RawTable, options: Options) -> tuple[RawTable, Options]:
    """The table with a target from the labels; samples without one are left out."""
    samples = [str(name) for name in table.extras["samples"]]
    shown, name, given, dialect = _read_labels(options, samples)
    cells = [given.get(sample, "") for sample in samples]
    there = _labelled(cells, dialect, shown, given, samples, table.source)
    strangers = [sample for sample in given if sample not in set(samples)]
    if strangers:
        table.notes.append(f"{shown} names samples that are not in the table: {listed(strangers)}.")
    columns = table.columns
    if len(there) < len(samples):
        gone = [samples[i] for i in range(len(samples)) if i not in set(there)]
        text = (
            f"Left out because {shown} has no label for them: {len(gone)} of {len(samples)} "
            f"samples, {listed(gone)}."
        )
        table.warnings.append(Finding("rows_dropped", (), text))
        rows = np.array(there)
        columns = [column.take(rows) for column in columns]
        table.extras["samples"] = table.extras["samples"][rows]
    name = distinct_names([*table.names, name])[0][-1]
    target = _column(name, [cells[i] for i in there], dialect)
    made = RawTable(
        [*columns, target], table.source, table.notes, table.warnings, extras=table.extras
    )
    return made, replace(options, target=name)


def labels_of(samples: list[str], options: Options, source: str) -> list[Any]:
    """The labels of samples as ``options.labels`` has them: text or numbers, None for no label.

    Nothing has to be learned from them: all may be equal.
    """
    shown, name, given, dialect = _read_labels(options, samples)
    cells = [given.get(sample, "") for sample in samples]
    there = _labelled(cells, dialect, shown, given, samples, source)
    column = _column(name, [cells[i] for i in there], dialect)
    found: list[Any] = [None] * len(samples)
    values = column.numbers() if column.codes is None else np.array(column.levels)[column.codes]
    for i, value in zip(there, values.tolist(), strict=True):
        found[i] = value
    return found


def _labelled(
    cells: list[str],
    dialect: Dialect,
    shown: str,
    given: dict[str, str],
    samples: list[str],
    source: str,
) -> list[int]:
    """Which samples have a label; refused if none has."""
    there = [i for i, cell in enumerate(cells) if cell.strip() not in dialect.missing]
    if not there and not set(given) & set(samples):
        raise DataError(
            f"{shown} names none of the samples of {source}: it has {listed(given, 3)}, the "
            f"table {listed(samples, 3)}; use the same names, or one label for each in their order."
        )
    if not there:
        raise DataError(f"{shown} has no label for any sample of {source}; all are missing.")
    return there


def _read_labels(options: Options, samples: list[str]) -> tuple[str, str, dict[str, str], Dialect]:
    """What the labels are called, their own name, label by sample, and how they are written."""
    if isinstance(options.labels, Mapping):
        given = {str(sample): str(label) for sample, label in options.labels.items()}
        return "labels=", "label", given, Dialect(",")
    path = Path(options.labels).expanduser()
    if not path.is_file():
        raise DataError(
            f"There is no file {os.fspath(options.labels)!r} of labels; check its name."
        )
    shown = path.name
    plain = Options(encoding=options.encoding, header=False, missing=options.missing)
    try:
        _, rows, dialect = _rows(path, shown, plain)
    except OSError as error:
        raise DataError(f"{shown} cannot be read ({error.strerror}); check the file.") from None
    rows = [[cell.strip() for cell in row] for row in rows]
    width = len(rows[0])
    if width == 1:
        name = rows[0][0] if len(rows) == len(samples) + 1 else "label"
        rows = rows[len(rows) - len(samples) :] if len(rows) == len(samples) + 1 else rows
        if len(rows) != len(samples):
            raise DataError(
                f"{shown} holds {len(rows)} labels in one column, and the table has {len(samples)} "
                "samples; give one for each, or names of samples in a first column."
            )
        return shown, name, dict(zip(samples, (row[0] for row in rows), strict=True)), dialect
    key = max(range(width), key=lambda j: len({row[j] for row in rows} & set(samples)))
    has_head = rows[0][key] not in set(samples)
    head = rows[0] if has_head else [f"x{j}" for j in range(width)]
    rows = rows[1:] if has_head else rows
    others = [j for j in range(width) if j != key]
    if width > 2 or (has_head and options.target is not None):
        if options.target not in head:
            raise NoLabelColumn(
                f"{shown} has {width} columns; name the one with the labels with target=: "
                f"{listed([head[j] for j in others])}."
            )
        others = [head.index(options.target)]
    twice = distinct_names([row[key] for row in rows])[1]
    if twice:
        raise DataError(f"{shown} names samples twice: {listed(twice)}; give one label for each.")
    name = head[others[0]] if has_head and head[others[0]] else "label"
    return shown, name, {row[key]: row[others[0]] for row in rows}, dialect
