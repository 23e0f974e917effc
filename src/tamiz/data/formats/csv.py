"""Text tables: CSV, TSV and their relatives, also compressed with gzip.

The first rows decide separator, decimal sign, header and names; then compiled loops go over pieces
of the file, and only the columns asked for are kept. A column is numeric until a cell says
otherwise. If that happens after rows were already read as numbers, their spelling is gone, and the
file is read again with the column as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, RawTable, distinct_names, numbered
from tamiz.data.errors import DataError, Finding, endless, holds_zeros, ragged, unclosed
from tamiz.data.formats._scan import SLOW, find_cells, powers_of_five, read_numbers
from tamiz.data.formats.base import CHANGED, ReadAgain, Reader
from tamiz.data.formats.text import HEAD, NAMES_OF, PACKED, PIECE, Dialect, TextFile, guess_dialect
from tamiz.data.plan import ColumnPlan, Options, make_plan

LONGEST_ROW = 1 << 28  # bytes; beyond, a quotation mark was left open, or lines do not end


class CsvReader(Reader):
    """A text table.

    Which columns hold text is known when all rows were read: a column that looks like numbers
    may turn out otherwise in the last row. ``text`` is what is known so far, and is shared by the
    files of one table.

    Attributes
    ----------
    may_be_empty : bool
        Whether there may be nothing but a header: as one file of several.
    """

    reads_all = True
    narrows = True
    may_be_empty = False

    def __init__(self, path: Path, shown: str, options: Options):
        self.shown, self.options = shown, options
        self.file = TextFile(path, shown, options.encoding)
        self.file.lengthen()
        self.dialect = guess_dialect(self.file.text(), self.file.whole, options, shown, path)
        self.names, self._renamed = distinct_names(self.dialect.names)
        self.named = self.dialect.header
        self.text: set[str] = set()
        self.encoding = self.file.encoding
        self.settled = False
        self._scan: _Scan | None = None

    def plan(self) -> ColumnPlan:
        return make_plan(self.names, self.options, self.shown)

    def notes(self) -> list[str]:
        dialect = self.dialect
        found = [*dialect.notes, *self.plan().notes]
        if dialect.separator == "," and dialect.decimal == ".":
            return found
        separator = NAMES_OF.get(dialect.separator, repr(dialect.separator))
        comma = ", decimal comma" if dialect.decimal == "," else ""
        return [f"Separator: {separator}{comma}.", *found]

    def findings(self) -> list[Finding]:
        found = numbered(self.shown, self._renamed)
        if self.encoding != "utf-8" and self.options.encoding is None:
            why = (
                f"{self.shown} is not UTF-8; it was read as Western European ({self.encoding}). If "
                "letters look wrong, name its encoding with encoding=."
            )
            found.append(Finding("encoding", (), why))
        return found

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[RawTable]:
        if self.may_be_empty and self._only_header():
            return
        self._refuse_another()
        plan = self.plan()
        if columns is not None:
            wanted = set(columns)
            target = plan.target if plan.target in wanted else None
            plan = ColumnPlan(target, [name for name in plan.features if name in wanted])
        self.fault_row = None
        self._scan = _Scan(self, plan)
        try:
            yield from self._scan.tables(rows)
        except ReadAgain:
            if self.settled:
                raise DataError(
                    f"{self.shown} is not UTF-8 throughout; name its encoding, for instance "
                    "encoding='cp1252'."
                ) from None
            raise

    def rows_expected(self, n_read: int) -> int | None:
        if self.file.packed or self._scan is None:
            return None
        expected = int(1.05 * self.file.size / max(self._scan.bytes, 1) * n_read)
        return expected if self.options.nrows is None else min(expected, self.options.nrows)

    def bytes_in_memory(self) -> int | None:
        size = self.file.size * (PACKED if self.file.packed else 1)
        lines = max(1, self.file.head.count(b"\n"))
        about = 8 * len(self.names) * size / max(1.0, len(self.file.head) / lines)
        return int(min(about, 8 * size))  # a cell has a byte at least; empty lines have no cells

    def settle(self, surveyed: bool) -> None:
        self.settled = True

    def join(self, first: Reader) -> None:
        assert isinstance(first, CsvReader)
        self.text = first.text
        self.may_be_empty = first.may_be_empty = True

    def leave_out(self, name: str) -> None:
        if self._scan is not None:
            self._scan.leave_out(name)

    def text_columns(self) -> set[str]:
        return set(self.text)

    def _only_header(self) -> bool:
        rows = self.file.head.partition(b"\n")[2]
        return self.dialect.header and self.file.whole and not rows.strip()

    def _refuse_another(self) -> None:
        """The first line says which column is which, and was read when the file was opened."""
        first = self.file.head.partition(b"\n")[0]
        now = next(iter(self.file.pieces(max(64, len(self.file.bom) + len(first)))), b"")
        seen = min(len(first), len(now))  # decompressed text may come in smaller pieces
        if not now or now[:seen] != first[:seen] or now[seen : seen + 1] not in (b"", b"\n"):
            raise DataError(f"{self.shown} begins with another line than before: {CHANGED}")


class _Scan:
    """One way through a text table, which gives tables of so many rows and keeps none.

    Columns of text that are met on the way are added to those the reader knows. Where numbers of
    such a column were given before, :class:`ReadAgain` is raised; once the reader has settled what
    its columns are, that is an error of the file.
    """

    def __init__(self, reader: CsvReader, plan: ColumnPlan):
        self.reader, self.plan = reader, plan
        self.file, self.dialect, self.options = reader.file, reader.dialect, reader.options
        self.text = reader.text
        self.width = len(reader.names)
        self.place = {name: j for j, name in enumerate(reader.names)}
        self.n_rows = 0
        self.bytes = 0  # that the rows read so far take in the file
        self.limit = self.options.nrows
        empty = np.empty((0, self.width), np.int32)
        self.bounds = empty, empty  # where the cells of a piece begin and end
        self.spellings = _spellings(self.dialect, reader.encoding)
        self.numeric = [name for name in plan.features if name not in self.text]
        # what was read and not yet given, by pieces of the file
        self.numbers: list[np.ndarray] = []
        self.targets: list[np.ndarray] = []
        self.codes: dict[str, list[np.ndarray]] = {}
        self.seen: dict[str, dict[bytes, int]] = {}  # spelling -> code
        self.place_of_level: dict[str, dict[str, int]] = {}
        self.levels: dict[str, list[str]] = {}

    def leave_out(self, name: str) -> None:
        """Read a column of text no further."""
        self.plan = ColumnPlan(self.plan.target, [f for f in self.plan.features if f != name])
        for held in (self.codes, self.seen, self.place_of_level, self.levels):
            held.pop(name, None)  # type: ignore[attr-defined]

    # ---------------------------------------------------------------------------------- tables

    def tables(self, rows: int | None) -> Iterator[RawTable]:
        """Tables of ``rows`` rows, of which the last may have fewer; None: one for each piece."""
        for _ in self._walk():
            yield from self._cut(rows)
        yield from self._cut(rows, last=True)

    def _cut(self, rows: int | None, last: bool = False) -> Iterator[RawTable]:
        held = sum(map(len, self.numbers))
        step = held if rows is None else rows
        if not held or (held < step and not last):
            return
        X = self.numbers[0] if len(self.numbers) == 1 else np.concatenate(self.numbers)
        codes = {name: np.concatenate(parts) for name, parts in self.codes.items()}
        target = self.plan.target
        y = np.concatenate(self.targets) if self.targets else None
        stop = held if last else held - held % step
        self.numbers = [X[stop:]] if stop < held else []
        self.targets = [y[stop:]] if y is not None and stop < held else []
        self.codes = {name: [all_codes[stop:]] for name, all_codes in codes.items()}
        for start in range(0, stop, step):
            piece = slice(start, min(start + step, stop))
            columns = [
                Column(name, None, all_codes[piece], self.levels.setdefault(name, []))
                for name, all_codes in codes.items()
            ]
            if target is not None and y is not None:
                columns.append(Column(target, y[piece]))
            yield RawTable(
                columns,
                self.file.shown,
                matrix=X[piece],
                matrix_names=list(self.numeric),
                names=self.reader.names,
            )

    # ------------------------------------------------------------------------------ going over

    def _walk(self) -> Iterator[None]:
        """Go through the file once, and stop for a moment after each piece."""
        to_skip = self.dialect.skip + int(self.dialect.header)
        carry = b""
        line = 1
        ended = False
        pieces = self.file.pieces(PIECE if self.limit is None else min(PIECE, HEAD))
        while not ended:
            more: list[bytes] = []
            wanted = max(1, len(carry))  # as much again: a long row is not scanned too often
            while wanted > 0 and not ended:
                piece = next(pieces, None)
                if piece is None:
                    ended = True
                else:
                    more.append(piece)
                    wanted -= len(piece)
            raw = b"".join([carry, *more])
            if ended and raw and not raw.endswith(b"\n"):
                raw += b"\n"
            raw, to_skip, line = skip_lines(raw, to_skip, line, ended)
            if to_skip:
                carry = raw
                continue
            first_line = line
            consumed, line = self._read(raw, line, ended)
            full = self.limit is not None and self.n_rows >= self.limit
            zero = raw.find(b"\0", 0, consumed if full else len(raw))
            if zero >= 0:
                where = first_line + raw.count(b"\n", 0, zero)
                raise DataError(holds_zeros(self.file.shown, where))
            carry = raw[consumed:]
            if len(carry) > LONGEST_ROW:
                if b"\n" not in carry:
                    raise DataError(endless(self.file.shown, line, LONGEST_ROW))
                raise DataError(unclosed(self.file.shown, line))  # the line ends, not the row
            yield
            if full:
                break
        if not self.n_rows:
            raise DataError(
                f"{self.file.shown} has a header line but no rows; add rows, or say header=False "
                "if the first line is a row."
            )

    def _read(self, raw: bytes, line: int, ended: bool) -> tuple[int, int]:
        """Take in the complete rows of ``raw``; return how many bytes they are, and the line."""
        buffer = np.frombuffer(raw, dtype=np.uint8, count=raw.rfind(b"\n") + 1)
        most = min(raw.count(b"\n"), len(raw) // self.width) + 1  # blank lines are no rows
        if self.limit is not None:
            most = min(most, self.limit - self.n_rows)
        if len(self.bounds[0]) < most:  # kept from piece to piece: fresh memory is slow
            shape = (most + most // 4, self.width)
            self.bounds = np.empty(shape, np.int32), np.empty(shape, np.int32)
        starts, ends = self.bounds
        n, consumed, line, fault = find_cells(
            buffer, ord(self.dialect.separator), self.width, starts, ends, line, most
        )
        if fault > 0 or (fault < 0 and ended):
            self.reader.fault_row = self.n_rows + n
            refuse_row(self.file.shown, line, fault, self.width)
        self.bytes += consumed
        if n:
            self._take(raw, buffer, starts[:n], ends[:n])
        return consumed, line

    def _take(self, raw: bytes, buffer: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        cells = (raw, buffer, starts, ends)
        block = self._numbers(self.numeric, cells)
        target = self.plan.target
        texts = [name for name in self.plan.features if name in self.text]
        if target is not None and target not in self.text:
            column = self._numbers([target], cells)
            if target not in self.text:
                self.targets.append(column[:, 0])
        if target is not None and target in self.text:
            texts.append(target)
        for name in texts:
            self.codes.setdefault(name, []).append(self._encode(name, raw, starts, ends))
        still = [k for k, name in enumerate(self.numeric) if name not in self.text]
        if len(still) < len(self.numeric):
            block = block[:, still]
            self.numeric = [self.numeric[k] for k in still]
        self.n_rows += len(starts)
        self.numbers.append(block)

    # --------------------------------------------------------------------------------- numbers

    def _numbers(self, names: list[str], cells: tuple[bytes, Any, Any, Any]) -> np.ndarray:
        """Numbers of some columns; columns found to be text are noted as such."""
        raw, buffer, starts, ends = cells
        out = np.empty((len(starts), len(names)))
        columns = np.array([self.place[name] for name in names], dtype=np.int64)
        odd = np.full(len(columns), -1, dtype=np.int64)
        slow = np.empty((SLOW + len(columns), 2), dtype=np.int64)
        point = ord(self.dialect.decimal)
        first = 0
        while first < len(starts):
            first, n_slow = read_numbers(
                buffer, starts, ends, columns, out, point, self.spellings,
                self.dialect.numbers_missing, powers_of_five(), first, odd, slow,
            )  # fmt: skip
            for i, k in slow[:n_slow].tolist():
                cell = raw[starts[i, columns[k]] : ends[i, columns[k]]].decode("ascii")
                out[i, k] = self.dialect.number(cell)
        found = []
        for k in np.flatnonzero(odd >= 0).tolist():
            start, end = (bounds[odd[k], columns[k]] for bounds in (starts, ends))
            text = raw[start : end if end >= 0 else ~end]
            found.append((names[k], text, self.n_rows + int(odd[k])))
        if found:
            self._meet_text(found)
        return out

    def _meet_text(self, found: list[tuple[str, bytes, int]]) -> None:
        """Columns taken for numbers hold text: their names, the first such cell, and its row."""
        if self.reader.settled:
            name, cell, self.reader.fault_row = min(found, key=lambda one: one[2])
            text = cell[:30].decode(self.reader.encoding, errors="replace")
            raise DataError(
                f"{self.file.shown}: column {name!r} holds {text!r} where numbers were read "
                f"before; correct it, or take the column as nominal with categorical_features="
                f"[{name!r}]."
            )
        self.text.update(name for name, _, _ in found)
        if self.n_rows:
            raise ReadAgain

    # ------------------------------------------------------------------------------------ text

    def _encode(self, name: str, raw: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Codes of the cells of a column of text."""
        j = self.place[name]
        seen = self.seen.setdefault(name, {})
        codes = np.empty(len(starts), dtype=np.int32)
        bounds = zip(starts[:, j].tolist(), ends[:, j].tolist(), strict=True)
        for i, (start, end) in enumerate(bounds):
            cell = raw[start : end if end >= 0 else ~end]
            code = seen.get(cell)
            if code is None:
                code = seen[cell] = self._code(name, cell, end < 0)
            codes[i] = code
        return codes

    def _code(self, name: str, cell: bytes, special: bool) -> int:
        """The code of a spelling met for the first time."""
        encoding = self.reader.encoding
        try:
            text = cell.decode(encoding)
        except UnicodeDecodeError:
            if encoding == "cp1252":  # five byte values are undefined there
                text = cell.decode("cp1252", errors="replace")
            elif self.options.encoding is None and encoding == "utf-8":
                self.reader.encoding = "cp1252"
                raise ReadAgain from None
            else:
                raise DataError(
                    f"{self.file.shown}: {cell[:20]!r} in column {name!r} is not {encoding}; name "
                    "another encoding, for instance encoding='cp1252'."
                ) from None
        text = (unquoted(text) if special else text).strip()
        if text in self.dialect.missing:
            return -1
        place = self.place_of_level.setdefault(name, {})
        code = place.setdefault(text, len(place))
        if code == len(self.levels.setdefault(name, [])):
            self.levels[name].append(text)  # one list, which the tables share
        return code


def read_cells(raw: bytes, dialect: Dialect, encoding: str, shown: str) -> list[list[str]]:
    """The rows of a whole text table as cells of text, without the header."""
    raw = raw if raw.endswith(b"\n") else raw + b"\n"
    raw, _, line = skip_lines(raw, dialect.skip + int(dialect.header), 1, True)
    width = len(dialect.names)
    buffer = np.frombuffer(raw, dtype=np.uint8)
    most = raw.count(b"\n") + 1
    starts, ends = (np.empty((most, width), np.int32) for _ in range(2))
    n, consumed, line, fault = find_cells(
        buffer, ord(dialect.separator), width, starts, ends, line, most
    )
    if fault:
        refuse_row(shown, line, fault, width)
    zero = raw.find(b"\0")
    if zero >= 0:
        raise DataError(holds_zeros(shown, line - raw.count(b"\n", zero, consumed)))
    rows = []
    for row_starts, row_ends in zip(starts[:n].tolist(), ends[:n].tolist(), strict=True):
        cells = []
        for start, end in zip(row_starts, row_ends, strict=True):
            cell = raw[start : end if end >= 0 else ~end].decode(encoding, errors="replace")
            cells.append(cell if end >= 0 else unquoted(cell))
        rows.append(cells)
    return rows


def refuse_row(shown: str, line: int, fault: int, width: int) -> None:
    """Say what is wrong with a row, as :func:`find_cells` found it."""
    raise DataError(ragged(shown, line, fault, width) if fault > 0 else unclosed(shown, line))


def unquoted(cell: str) -> str:
    """A cell that begins with a quotation mark, without its marks; of doubled ones one stays."""
    parts = []
    at = 1
    while (end := cell.find('"', at)) >= 0 and cell[end + 1 : end + 2] == '"':
        parts.append(cell[at : end + 1])
        at = end + 2
    parts.append(cell[at:] if end < 0 else cell[at:end] + cell[end + 1 :])
    return "".join(parts)


def skip_lines(raw: bytes, n: int, line: int, ended: bool) -> tuple[bytes, int, int]:
    """``raw`` without its first ``n`` lines that hold anything; how many are left, and the line."""
    while n and raw:
        taken = _line_end(raw, ended)
        if taken is None:
            break
        line += raw.count(b"\n", 0, taken)
        blank = not raw[:taken].strip()
        raw = raw[taken:]
        n -= not blank
    return raw, n, line


def _line_end(raw: bytes, ended: bool) -> int | None:
    """Position after the first line end outside quotation marks."""
    position = 0
    while True:
        position = raw.find(b"\n", position) + 1
        if not position:
            return len(raw) if ended and raw else None
        if raw.count(b'"', 0, position) % 2 == 0:
            return position


def _spellings(dialect: Dialect, encoding: str) -> np.ndarray:
    """Spellings of a missing value as rows of bytes: length, then letters."""
    encoded = [one.encode(encoding, errors="ignore") for one in dialect.missing if one]
    longest = max((len(raw) for raw in encoded), default=0)
    spellings = np.zeros((len(encoded), longest + 1), dtype=np.int64)
    for s, raw in enumerate(encoded):
        spellings[s, 0] = len(raw)
        spellings[s, 1 : 1 + len(raw)] = list(raw)
    return spellings
