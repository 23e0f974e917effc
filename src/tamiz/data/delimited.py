"""Text tables: CSV, TSV and their relatives.

The first rows decide separator, decimal sign, header and names; then only the columns asked for
are kept. Small files go through Python's ``csv`` module, which is obvious and needs no
compilation; large ones through compiled loops that do the same, a piece at a time.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from tamiz.data.column import Column, Table, distinct_names, numbered
from tamiz.data.dialect import NAMES_OF, Dialect, guess_dialect
from tamiz.data.errors import DataError, Finding, holds_zeros, ragged, unclosed, uncut
from tamiz.data.plan import Options, Plan, make_plan
from tamiz.data.source import Source

SMALL = 1 << 22  # bytes of text up to which the csv module reads it all


def read_delimited(path: Path, shown: str, options: Options) -> tuple[Table, Plan]:
    """Read a text table."""
    if options.nrows is not None and options.nrows < 1:
        raise DataError(f"nrows={options.nrows} is not possible; read at least one row.")
    source = Source(path, shown, options.encoding)
    source.lengthen()
    tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes)
    dialect = guess_dialect(source.text(), source.whole, options, shown, tabs)
    names, renamed = distinct_names(dialect.names)
    plan = make_plan(names, options, shown)
    plan.notes = [*dialect.notes, *plan.notes]
    notes: list[str] = []
    if dialect.separator != "," or dialect.decimal != ".":
        notes.append(
            f"Separator: {NAMES_OF.get(dialect.separator, repr(dialect.separator))}"
            + (", decimal comma." if dialect.decimal == "," else ".")
        )
    text = _small_text(source, options)
    if text is not None:
        columns, encoding = parse_small(text, source, dialect, names, plan, options)
        table = Table(columns, shown, names=names)
    else:
        from tamiz.data.large import parse_large

        table, encoding = parse_large(source, dialect, names, plan, options)
        table.source, table.names = shown, names
    table.notes = notes
    table.warnings = numbered(shown, renamed)
    if encoding != "utf-8" and options.encoding is None:
        why = (
            f"{shown} is not UTF-8; it was read as Western European ({encoding}). If letters look "
            "wrong, name its encoding with encoding=."
        )
        table.warnings.append(Finding("encoding", (), why))
    return table, plan


def _small_text(source: Source, options: Options) -> bytes | None:
    """The whole text if it is short, or if few rows are wanted and the head has them."""
    if source.whole:
        return source.head
    if options.nrows is not None and source.head.count(b"\n") > 2 * options.nrows + 10:
        lines = source.head.split(b"\n")
        if b'"' not in source.head:  # so that every line end ends a row
            return b"\n".join(lines[:-1])
    if source.size > SMALL:
        return None
    pieces, total = [], 0
    for piece in source.pieces(HEAD_STEP):
        pieces.append(piece)
        total += len(piece)
        if total > SMALL:
            return None
    return b"".join(pieces)


HEAD_STEP = 1 << 19


def parse_small(
    raw: bytes, source: Source, dialect: Dialect, names: list[str], plan: Plan, options: Options
) -> tuple[list[Column], str]:
    """The wanted columns, by the csv module; also the encoding used."""
    encoding = source.encoding
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        if options.encoding is not None:
            line = raw.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{source.shown}, line {line}: the text is not {options.encoding}; name another "
                "encoding, for instance encoding='cp1252'."
            ) from None
        encoding = "cp1252"
        text = raw.decode(encoding, errors="replace")
    wanted = set(plan.names)
    where = [(j, name) for j, name in enumerate(names) if name in wanted]
    cells: list[list[str]] = [[] for _ in where]
    for row in small_rows(text, dialect, len(names), source.shown, options.nrows):
        for target, (j, _) in zip(cells, where, strict=True):
            target.append(row[j])
    if not cells or not cells[0]:
        raise DataError(
            f"{source.shown} has a header line but no rows; add rows, or say header=False if the "
            "first line is a row."
        )
    return [
        convert_cells(name, column, dialect) for (_, name), column in zip(where, cells, strict=True)
    ], encoding


def small_rows(text: str, dialect: Dialect, width: int, shown: str, nrows: int | None):
    """Rows of cells, each of the same width; a sentence with the line number otherwise."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=dialect.separator, skipinitialspace=True
    )
    blanks = dialect.separator == " "
    left = -1 if nrows is None else nrows
    to_skip = dialect.skip
    header = dialect.header
    start = line = 0
    zero = text.find("\0")
    zero_line = text.count("\n", 0, zero) + 1 if zero >= 0 else math.inf
    try:
        for row in reader:
            start, line = line + 1, reader.line_num
            if line >= zero_line:
                raise DataError(holds_zeros(shown, start))
            if to_skip:
                to_skip -= 1
                continue
            if blanks and row and row[-1] == "":
                row = row[:-1]
            if not row or (len(row) == 1 and not row[0].strip() and width > 1):
                continue
            if header:
                header = False
                continue
            if len(row) == width + 1 and not row[-1].strip():
                row = row[:-1]  # a separator at the end of the line
            if len(row) != width:
                raise DataError(ragged(shown, start, len(row), width))
            left -= 1
            yield row
            if not left:
                return
        if text.count('"') % 2:
            _refuse_open_quote(text, dialect, shown, start)
    except csv.Error as error:
        raise DataError(uncut(f"{shown}, line {line + 1}", str(error))) from None


def _refuse_open_quote(text: str, dialect: Dialect, shown: str, line: int) -> None:
    """A cell that runs to the end of the file because its quotation mark is not closed."""
    strict = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.separator,
        skipinitialspace=True,
        strict=True,
    )
    try:
        for _ in strict:
            pass
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise DataError(unclosed(shown, line)) from None


def convert_cells(name: str, cells: list[str], dialect: Dialect) -> Column:
    """A column of numbers if every cell that is not missing is one, else of text."""
    if dialect.decimal == "." and not dialect.numbers_missing:
        try:
            values = np.array([float(cell) for cell in cells])
        except ValueError:
            pass
        else:  # float knows more spellings than we do: "nan" and "1_000"
            if np.isfinite(values).all() and "_" not in "".join(cells):
                return Column(name, values)
    missing, is_number, number = dialect.missing, dialect.is_number, dialect.number
    cells = [cell.strip() for cell in cells]
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        if cell in missing:
            values[i] = np.nan
        elif is_number(cell):
            values[i] = number(cell)
        else:
            return Column.from_cells(name, [None if cell in missing else cell for cell in cells])
    return Column(name, values)
