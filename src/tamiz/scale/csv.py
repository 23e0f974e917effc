"""Text tables in batches: CSV, TSV and their relatives, also gzip'd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tamiz.data.chunks import Chunks, ReadAgain
from tamiz.data.column import Table, distinct_names
from tamiz.data.dialect import NAMES_OF, guess_dialect
from tamiz.data.errors import DataError, listed
from tamiz.data.plan import Options, Plan, make_plan
from tamiz.data.source import Source
from tamiz.scale.parts import CHANGED, Part, rows_per_batch


class CsvPart(Part):
    """A text table.

    Which columns hold text is known when all rows were read: a column that looks like numbers
    may turn out otherwise in the last row. ``text`` is what is known so far, and is shared by the
    parts of one table.

    Attributes
    ----------
    may_be_empty : bool
        Whether there may be nothing but a header: as one file of several.
    """

    reads_all = True
    may_be_empty = False

    def __init__(self, path: Path, shown: str, options: Options):
        self.shown, self.options = shown, options
        self.source = Source(path, shown, options.encoding)
        self.source.lengthen()
        tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes)
        self.dialect = guess_dialect(self.source.text(), self.source.whole, options, shown, tabs)
        self.names, self._renamed = distinct_names(self.dialect.names)
        self.named = self.dialect.header
        self.text: set[str] = set()
        self.encoding = self.source.encoding
        self.settled = False
        self.left_out: set[str] = set()
        self._reading: Chunks | None = None

    def plan(self) -> Plan:
        return make_plan(self.names, self.options, self.shown)

    def notes(self) -> list[str]:
        dialect = self.dialect
        told = [*dialect.notes, *self.plan().notes]
        if dialect.separator == "," and dialect.decimal == ".":
            return told
        separator = NAMES_OF.get(dialect.separator, repr(dialect.separator))
        comma = ", decimal comma" if dialect.decimal == "," else ""
        return [f"Separator: {separator}{comma}.", *told]

    def alarms(self) -> list[str]:
        told = []
        if self._renamed:
            which = listed(self._renamed)
            told.append(f"{self.shown} has columns of the same name, which were numbered: {which}.")
        if self.encoding != "utf-8" and self.options.encoding is None:
            told.append(
                f"{self.shown} is not UTF-8; it was read as Western European ({self.encoding}). If "
                "letters look wrong, name its encoding with encoding=."
            )
        return told

    def settle(self, surveyed: bool) -> None:
        self.settled = True

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[Table]:
        if self.may_be_empty and self._only_header():
            return
        self._refuse_another()
        plan = self.plan()
        if columns is not None:
            wanted = set(columns)
            target = plan.target if plan.target in wanted else None
            plan = Plan(target, [name for name in plan.features if name in wanted])
        reading = Chunks(
            self.source, self.dialect, self.names, plan, self.options, self.text, self.settled
        )
        reading.encoding = self.encoding
        self._reading = reading
        rows = rows_per_batch(len(plan.names)) if rows is None else rows
        try:
            yield from reading.tables(rows)
        except ReadAgain:
            self.encoding = reading.encoding
            if self.settled:
                raise DataError(
                    f"{self.shown} is not UTF-8 throughout; name its encoding, for instance "
                    "encoding='cp1252'."
                ) from None
            raise

    def _only_header(self) -> bool:
        rows = self.source.head.partition(b"\n")[2]
        return self.dialect.header and self.source.whole and not rows.strip()

    def _refuse_another(self) -> None:
        """The first line says which column is which, and was read when the file was opened."""
        first = self.source.head.partition(b"\n")[0]
        now = next(iter(self.source.pieces(max(64, len(self.source.bom) + len(first)))), b"")
        seen = min(len(first), len(now))  # what is packed may come in smaller pieces
        if not now or now[:seen] != first[:seen] or now[seen : seen + 1] not in (b"", b"\n"):
            raise DataError(f"{self.shown} begins with another line than before: {CHANGED}")

    @property
    def fault_row(self) -> int | None:
        return None if self._reading is None else self._reading.fault_row

    def leave_out(self, name: str) -> None:
        """Read a column of text no further: it has too many levels to be of use."""
        if self._reading is not None:
            self._reading.leave_out(name)
