"""Large text tables: compiled loops over pieces of the file.

A column is numeric until a cell says otherwise. If that happens after rows were already read as
numbers, their spelling is gone, and the file is read again with the column as text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamiz.data._decimal import powers_of_five
from tamiz.data._scan import SLOW, find_cells, read_numbers
from tamiz.data.column import Column, Table
from tamiz.data.dialect import Dialect
from tamiz.data.errors import DataError, holds_zeros, ragged, unclosed, uncut
from tamiz.data.plan import Options, Plan
from tamiz.data.source import PIECE, Source
from tamiz.runtime.progress import Progress

LONGEST_ROW = 1 << 28  # bytes; beyond, a quotation mark was left open


class _ReadAgain(Exception):
    """What was learnt makes the rows read so far useless."""


def parse_large(
    source: Source, dialect: Dialect, names: list[str], plan: Plan, options: Options
) -> tuple[Table, str]:
    """The wanted columns; also the encoding used."""
    state = _Reading(source, dialect, names, plan, options)
    while True:
        try:
            with Progress(f"reading {source.shown}", options.verbose) as progress:
                return state.run(progress), state.encoding
        except _ReadAgain:
            continue


class _Reading:
    """What is known about the columns, over one or more runs through the file."""

    def __init__(
        self, source: Source, dialect: Dialect, names: list[str], plan: Plan, options: Options
    ):
        self.source, self.dialect, self.plan, self.options = source, dialect, plan, options
        self.width = len(names)
        self.place = {name: j for j, name in enumerate(names)}
        self.encoding = source.encoding
        self.text: set[str] = set()  # columns known to hold text
        self.fault_row: int | None = None  # number of the row that cannot be read
        empty = np.empty((0, self.width), np.int32)
        self.bounds = empty, empty  # where the cells of a piece begin and end
        encoded = [
            spelling.encode(self.encoding, errors="ignore")
            for spelling in dialect.missing
            if spelling
        ]
        longest = max((len(raw) for raw in encoded), default=0)
        self.spellings = np.zeros((len(encoded), longest + 1), dtype=np.int64)
        for s, raw in enumerate(encoded):
            self.spellings[s, 0] = len(raw)
            self.spellings[s, 1 : 1 + len(raw)] = list(raw)

    def run(self, progress: Progress) -> Table:
        """Read the file once."""
        for _ in self.walk(progress):
            pass
        return self._table()

    def walk(self, progress: Progress) -> Iterator[None]:
        """Go through the file once, and stop for a moment after each piece."""
        self.n_rows = 0
        self.store = np.empty((0, 0))  # numbers of the features, with room for more rows
        self.bytes = 0  # that the rows read so far take in the file
        self.numeric = [name for name in self.plan.features if name not in self.text]
        self.codes: dict[str, list[np.ndarray]] = {}
        self.seen: dict[str, dict[bytes, int]] = {}  # spelling -> code
        self.levels: dict[str, dict[str, int]] = {}  # level -> code
        self.target_blocks: list[np.ndarray] = []
        to_skip = self.dialect.skip + int(self.dialect.header)
        carry = b""
        line = 1
        done = 0
        self.limit = self.options.nrows
        ended = False
        pieces = self.source.pieces(PIECE)
        while not ended:
            more: list[bytes] = []
            wanted = max(
                1, len(carry)
            )  # as much again, so that a long row is not scanned too often
            while wanted > 0 and not ended:
                piece = next(pieces, None)
                if piece is None:
                    ended = True
                else:
                    more.append(piece)
                    wanted -= len(piece)
                    done += len(piece)
            raw = b"".join([carry, *more])
            if ended and raw and not raw.endswith(b"\n"):
                raw += b"\n"
            while to_skip and raw:
                taken = _line_end(raw, ended)
                if taken is None:
                    break
                line += raw.count(b"\n", 0, taken)
                blank = not raw[:taken].strip()
                raw = raw[taken:]
                to_skip -= not blank
            if to_skip:
                carry = raw
                continue
            first_line = line
            consumed, line = self._read(raw, line, ended)
            full = self.limit is not None and self.n_rows >= self.limit
            zero = raw.find(b"\0", 0, consumed if full else len(raw))
            if zero >= 0:
                raise DataError(
                    holds_zeros(self.source.shown, first_line + raw.count(b"\n", 0, zero))
                )
            carry = raw[consumed:]
            if len(carry) > LONGEST_ROW:
                raise DataError(unclosed(self.source.shown, line))
            if full:
                yield
                break
            progress.update(f"{done / 1e6:.0f} MB, {self.n_rows} rows")
            yield
        if not self.n_rows:
            raise DataError(
                f"{self.source.shown} has a header line but no rows; add rows, or say header=False "
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
            self.fault_row = self.n_rows + n
        if fault > 0:
            raise DataError(ragged(self.source.shown, line, fault, self.width))
        if fault < 0 and ended:
            raise DataError(unclosed(self.source.shown, line))
        self.bytes += consumed
        if n:
            self._take(raw, buffer, starts[:n], ends[:n])
        return consumed, line

    def _take(self, raw: bytes, buffer: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        cells = (raw, buffer, starts, ends)
        block = self._numbers(self.numeric, cells, self._room(len(starts)))
        target = self.plan.target
        wanted_text = [name for name in self.plan.features if name in self.text]
        if target is not None and target not in self.text:
            column = self._numbers([target], cells, np.empty((len(starts), 1)))
            if target not in self.text:
                self.target_blocks.append(column)
        if target is not None and target in self.text:
            wanted_text.append(target)
        for name in wanted_text:
            self.codes.setdefault(name, []).append(self._encode(name, raw, starts, ends))
        still = [k for k, name in enumerate(self.numeric) if name not in self.text]
        if len(still) < len(self.numeric):
            block = block[:, still]
            self.numeric = [self.numeric[k] for k in still]
        self.n_rows += len(starts)
        self._keep(block)

    def _keep(self, block: np.ndarray) -> None:
        """Hold on to the numbers of a piece, which are in the store unless it was the first."""
        if not len(self.store):  # the first piece has settled which columns are numbers
            self._grow(block, self.n_rows)

    def _room(self, n: int) -> np.ndarray:
        """Rows of the store for the next piece; the first piece goes elsewhere."""
        if not self.n_rows:
            return np.empty((n, len(self.numeric)))
        if self.n_rows + n > len(self.store):
            self._grow(self.store[: self.n_rows], self.n_rows + n)
        return self.store[self.n_rows : self.n_rows + n]

    def _grow(self, block: np.ndarray, least: int) -> None:
        """A store that begins with ``block`` and has room for ``least`` rows.

        It is made large enough for the whole file, judged by the rows seen; where that fails, half
        as large again.
        """
        wanted = least + least // 2
        if not self.source.packed and len(block) > len(self.store):
            wanted = int(1.05 * self.source.size / max(self.bytes, 1) * self.n_rows)
        if self.limit is not None:
            wanted = min(wanted, self.limit)
        self.store = np.empty((max(wanted, least), block.shape[1]))
        self.store[: len(block)] = block

    def _numbers(
        self, names: list[str], cells: tuple[bytes, Any, Any, Any], out: np.ndarray
    ) -> np.ndarray:
        """Numbers of some columns, in ``out``; columns found to be text are noted as such."""
        raw, buffer, starts, ends = cells
        assert len(out) == len(starts)
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
        self.text.update(name for name, _, _ in found)
        if self.n_rows:
            raise _ReadAgain

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
        try:
            text = cell.decode(self.encoding)
        except UnicodeDecodeError:
            if self.options.encoding is not None or self.encoding != "utf-8":
                if self.encoding == "cp1252":  # five bytes mean nothing there
                    text = cell.decode("cp1252", errors="replace")
                else:
                    raise DataError(
                        f"{self.source.shown}: {cell[:20]!r} in column {name!r} is not "
                        f"{self.encoding}; name another encoding, for instance encoding='cp1252'."
                    ) from None
            else:
                self.encoding = "cp1252"
                raise _ReadAgain from None
        if special:
            try:
                text = next(csv.reader([text], delimiter=self.dialect.separator))[0]
            except csv.Error as error:
                where = f"{self.source.shown}, column {name!r}"
                raise DataError(uncut(where, str(error))) from None
        text = text.strip()
        if text in self.dialect.missing:
            return -1
        levels = self.levels.setdefault(name, {})
        return levels.setdefault(text, len(levels))

    def _table(self) -> Table:
        X = self.store[: self.n_rows]
        if len(self.store) > 1.5 * self.n_rows:
            X = X.copy()  # so as not to hold on to the room that was not needed
        columns = [
            Column(name, None, np.concatenate(parts), list(self.levels.get(name, {}))).sort_levels()
            for name, parts in self.codes.items()
        ]
        target = self.plan.target
        if target is not None and target not in self.text:
            columns.append(Column(target, np.concatenate(self.target_blocks)[:, 0]))
        return Table(columns, matrix=X, matrix_names=self.numeric)


def _line_end(raw: bytes, ended: bool) -> int | None:
    """Position after the first line end outside quotation marks."""
    position = 0
    while True:
        position = raw.find(b"\n", position) + 1
        if not position:
            return len(raw) if ended and raw else None
        if raw.count(b'"', 0, position) % 2 == 0:
            return position
