"""ARFF, the format of Weka and OpenML: dense and sparse, nominal, text, dates, missing values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable, distinct_names, numbered
from tamiz.data.errors import DataError, holds_zeros, listed
from tamiz.data.formats.base import HeldTable
from tamiz.data.formats.frames import from_csr
from tamiz.data.formats.text import TextFile
from tamiz.data.plan import ColumnPlan, Options, make_plan

_ATTRIBUTE = re.compile(
    r"""@attribute\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s{]+)\s*(.*)""", re.I
)
_TOKEN = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,]*?)\s*(,|$)""", re.DOTALL)
_ENTRY = re.compile(
    r"""\s*(\d+)\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,\s]+)\s*(,|$)""", re.DOTALL
)
LONGEST_LINE = 1 << 28  # bytes

_ESCAPE = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass
class Attribute:
    """One line of the header."""

    name: str
    kind: str  # "numeric", "nominal", "string" or "date"
    levels: list[str] = field(default_factory=list)

    def column(self, name: str, cells: list[str | None], shown: str, lines: list[int]) -> Column:
        if self.kind == "numeric":
            values = np.empty(len(cells))
            for i, cell in enumerate(cells):
                try:
                    values[i] = np.nan if cell is None else float(cell)
                except ValueError:
                    raise DataError(
                        f"{shown}, line {lines[i]}: {cell!r} is no number, but attribute {name!r} "
                        "is numeric; correct the cell, or declare the attribute as string."
                    ) from None
            return Column(name, values)
        if self.kind == "nominal":
            place = {level: k for k, level in enumerate(self.levels)}
            codes = np.empty(len(cells), dtype=np.int32)
            for i, cell in enumerate(cells):
                code = -1 if cell is None else place.get(cell)
                if code is None:
                    raise DataError(
                        f"{shown}, line {lines[i]}: {cell!r} is not among the values declared for "
                        f"{name!r} ({listed(self.levels)}); add it to the header or correct it."
                    )
                codes[i] = code
            return Column(name, None, codes, list(self.levels), declared=True)
        return Column.from_cells(name, cells, date=self.kind == "date")


def open_arff(path: Path, shown: str, options: Options) -> HeldTable:
    """Read an ARFF file."""
    return HeldTable(*_read(path, shown, options))


def _read(path: Path, shown: str, options: Options) -> tuple[RawTable, ColumnPlan]:
    source = TextFile(path, shown, options.encoding)
    lines = _lines(source)
    attributes = _read_header(lines, shown)
    names, renamed = distinct_names([attribute.name for attribute in attributes])
    warnings = numbered(shown, renamed, "attributes")
    plan = make_plan(names, options, shown)
    wanted = set(plan.names)
    rows = _data_rows(lines, options.nrows)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{shown} has no rows after @data; a data set needs at least one.")
    if first[1].startswith("{"):
        table, plan = _read_sparse(chain([first], rows), attributes, names, shown, options)
        table.warnings = warnings
        return table, plan
    where = [j for j, name in enumerate(names) if name in wanted]
    cells: list[list[str | None]] = [[] for _ in where]
    numbers: list[int] = []
    weighted = False
    for number, line in chain([first], rows):
        row = _split(line)
        if len(row) == len(names) + 1 and row[-1] is not None and row[-1].startswith("{"):
            row, weighted = row[:-1], True
        if len(row) != len(names):
            raise DataError(
                f"{shown}, line {number}: {len(row)} values where {len(names)} attributes are "
                "declared; put text that holds a comma in quotation marks."
            )
        numbers.append(number)
        for target, j in zip(cells, where, strict=True):
            target.append(row[j])
    columns = [
        attributes[j].column(names[j], column, shown, numbers)
        for j, column in zip(where, cells, strict=True)
    ]
    notes = ["Weights of the rows were passed over."] if weighted else []
    return RawTable(columns, shown, notes, warnings, names=names), plan


def _lines(source: TextFile) -> Iterator[tuple[int, str]]:
    """Numbered lines, decoded."""
    number = 0
    encoding = source.encoding

    def decode(raw: bytes) -> str:
        nonlocal encoding
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            encoding = "cp1252"
            return raw.decode(encoding, errors="replace")

    def take(raw: bytes) -> tuple[int, str]:
        nonlocal number
        number += 1
        if b"\0" in raw:
            raise DataError(holds_zeros(source.shown, number))
        return number, decode(raw).strip()

    held: list[bytes] = []  # the beginning of a line that is not complete
    for piece in source.pieces():
        first, *rest = piece.split(b"\n")
        held.append(first)
        if not rest:
            if b"\0" in first:
                raise DataError(holds_zeros(source.shown, number + 1))
            if sum(map(len, held)) > LONGEST_LINE:
                raise DataError(
                    f"{source.shown}, line {number + 1}: the line has no end; the file is no ARFF "
                    "file, or it is damaged."
                )
            continue
        yield take(b"".join(held))
        for raw in rest[:-1]:
            yield take(raw)
        held = rest[-1:]
    if any(held):
        yield take(b"".join(held))


def _read_header(lines: Iterator[tuple[int, str]], shown: str) -> list[Attribute]:
    attributes: list[Attribute] = []
    for number, line in lines:
        lower = line.lower()
        if not line or line.startswith("%") or lower.startswith("@relation"):
            continue
        if lower.startswith("@data"):
            if not attributes:
                raise DataError(f"{shown} declares no @attribute before @data; it needs some.")
            return attributes
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            raise DataError(
                f"{shown}, line {number}: {line[:40]!r} is not understood; before @data there are "
                "lines such as '@attribute age numeric'."
            )
        attributes.append(_attribute(match[1], match[2].strip(), number, shown))
    raise DataError(f"{shown} has no @data line; it is no ARFF file, or it is cut short.")


def _attribute(name: str, kind: str, number: int, shown: str) -> Attribute:
    name = _plain(name)
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise DataError(
                f"{shown}, line {number}: the values of {name!r} are not closed with a brace."
            )
        levels = [level for level in _split(kind[1:-1], missing=None) if level is not None]
        return Attribute(name, "nominal", list(dict.fromkeys(levels)))
    word = kind.split()[0].lower() if kind else ""
    if word in ("numeric", "real", "integer"):
        return Attribute(name, "numeric")
    if word in ("string", "date"):
        return Attribute(name, word)
    raise DataError(
        f"{shown}, line {number}: the type {kind[:20]!r} of {name!r} is not known; use numeric, "
        "string, date, or {values}."
    )


def _data_rows(lines: Iterator[tuple[int, str]], nrows: int | None) -> Iterator[tuple[int, str]]:
    left = -1 if nrows is None else nrows
    for number, line in lines:
        if line and not line.startswith("%"):
            if not left:
                return
            left -= 1
            yield number, line


def _split(line: str, missing: str | None = "?") -> list[str | None]:
    """Values between commas; quotation marks of both kinds, with backslash escapes."""
    if "'" not in line and '"' not in line:
        separator = "," if "," in line else "\t" if "\t" in line else ","
        cells = [cell.strip() for cell in line.split(separator)]
        return [None if cell == missing or cell == "" else cell for cell in cells]
    values: list[str | None] = []
    position = 0
    while position <= len(line):
        match = _TOKEN.match(line, position)
        if match is None:  # text after a closing mark: up to the next comma
            end = line.find(",", position)
            end = len(line) if end < 0 else end
            values.append(_plain(line[position:end].strip()))
            position = end + 1
            continue
        token = match[1]
        quoted = token[:1] in ("'", '"')
        values.append(_plain(token) if quoted else None if token == missing or not token else token)
        if match[2] != ",":
            break
        position = match.end()
    return values


def _plain(token: str) -> str:
    """The text of a token without its quotation marks and backslashes."""
    if len(token) >= 2 and token[0] == token[-1] and token[0] in "'\"":
        token = token[1:-1]
    if "\\" in token:
        token = re.sub(r"\\(.)", lambda m: _ESCAPE.get(m[1], m[1]), token)
    return token


def _read_sparse(
    rows: Iterator[tuple[int, str]],
    attributes: list[Attribute],
    names: list[str],
    shown: str,
    options: Options,
) -> tuple[RawTable, ColumnPlan]:
    """Rows that name what is not zero: a sparse matrix if all features are numbers."""
    numbers, entries = [], []
    for number, line in rows:
        numbers.append(number)
        entries.append(_sparse_row(line, len(names), f"{shown}, line {number}"))

    def column(j: int) -> Column:
        attribute = attributes[j]
        default = attribute.levels[0] if attribute.kind == "nominal" and attribute.levels else "0"
        if attribute.kind in ("string", "date"):
            default = ""
        cells = [row.get(j, default) for row in entries]
        return attribute.column(names[j], cells, shown, numbers)

    plan = make_plan(names, options, shown)
    target = None if plan.target is None else names.index(plan.target)
    features = [j for j in range(len(names)) if j != target]
    if any(attributes[j].kind != "numeric" for j in features):
        wanted = set(plan.names)
        read = [column(j) for j in range(len(names)) if names[j] in wanted]
        return RawTable(read, shown, names=names), plan
    place = {j: k for k, j in enumerate(features)}
    data, at, columns = [], [], []
    for i, row in enumerate(entries):
        for j, cell in row.items():
            if j == target:
                continue
            try:
                data.append(np.nan if cell is None else float(cell))
            except ValueError:
                raise DataError(
                    f"{shown}, line {numbers[i]}: {cell!r} is no number, but attribute "
                    f"{names[j]!r} is numeric."
                ) from None
            at.append(i)
            columns.append(place[j])
    matrix = sparse.csr_matrix((data, (at, columns)), shape=(len(entries), len(features)))
    rest = [] if target is None else [column(target)]
    return from_csr(matrix, [names[j] for j in features], rest, shown, options, plan.target)


def _sparse_row(line: str, width: int, where: str) -> dict[int, str | None]:
    """The values of a row between braces, by the number of the attribute."""
    body, _, _ = line.rpartition("}")
    if not line.startswith("{") or (not body and line != "{}"):
        raise DataError(f"{where}: a sparse row stands between braces.")
    row: dict[int, str | None] = {}
    body = body.split("}")[0][1:] if "'" not in body and '"' not in body else body[1:]
    position = 0
    while position < len(body) and body[position:].strip():
        match = _ENTRY.match(body, position)
        if match is None or int(match[1]) >= width:
            raise DataError(
                f"{where}: {body[position : position + 20]!r} is not of the form 'index value' "
                f"with an index below {width}."
            )
        row[int(match[1])] = None if match[2] == "?" else _plain(match[2])
        position = match.end()
    return row
