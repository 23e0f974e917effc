"""The bytes of a text file: unpacked, in UTF-8, with ``\\n`` for line ends, a piece at a time.

How a table is written in it (separator, decimal sign, header) is guessed from its beginning.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tamiz.data.errors import DataError, damaged, endless
from tamiz.data.plan import Options
from tamiz.validation import check_as, one_character

HEAD = 1 << 18  # bytes that guesses may look at ...
LONG_HEAD = 1 << 26  # ... or more, up to here, if the first lines are longer
LINES = 4  # so many lines a guess should see
PIECE = 1 << 20  # bytes read at a time: what a processor's cache holds
PACKED = 5  # bytes of text for each byte of gzip, about

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (
    (b"PAR1", "a Parquet file; give it the extension .parquet"),
    (b"PK\x03\x04", "a compressed file (a spreadsheet, or a zip archive); save the table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet (.xls); save the table as CSV"),
    (b"\x93NUMPY", "a NumPy array; give it the extension .npy"),
    (b"%PDF", "a PDF; save the table as CSV"),
    (b"BZh", "compressed with bzip2; decompress it first"),
    (b"\xfd7zXZ", "compressed with xz; decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstandard; decompress it first"),
    (b"SQLite format", "a database; save the table as CSV"),
)


class TextFile:
    """A text file, perhaps gzip'd, in one of the usual encodings.

    Attributes
    ----------
    head : bytes
        The beginning, in UTF-8 (or in the one-byte encoding of the file).
    whole : bool
        Whether ``head`` is all there is.
    encoding : str
        How ``head`` and all pieces are to be decoded: "utf-8" or a one-byte encoding.
    """

    encoding: str

    def __init__(self, path: Path, shown: str, encoding: str | None = None):
        self.path, self.shown = path, shown
        with open(path, "rb") as file:
            start = file.read(8)
        self.packed = start[:2] == b"\x1f\x8b"
        if not start:
            raise DataError(f"{shown} is empty; it should hold a header line and rows.")
        first = self._unpacked(1 << 12)
        if not first:
            raise DataError(f"{shown} is empty; it should hold a header line and rows.")
        self._decoder = self._choose(first, encoding)
        self.mac = b"\r" in first[:-2] and b"\n" not in first  # line ends of old Macintoshes
        head = self._read_head(0)
        self._refuse_binary(first, head)
        if self.encoding == "utf-8" and encoding is None and not _is_utf8(head, self.whole):
            self.encoding = "cp1252"

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size

    def lengthen(self) -> None:
        """Make the head longer if need be, so that guesses see some lines, however long."""
        if not self.whole and self.head.count(b"\n") < LINES:
            head = self._read_head(LINES)
            if not self.whole and b"\n" not in head:
                raise DataError(endless(self.shown, 1, LONG_HEAD))

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """The whole text from the beginning; pieces end anywhere."""
        yield from self._pieces(size)

    def text(self) -> str:
        """The head, decoded."""
        return self.head.decode(self.encoding, errors="replace")

    # ------------------------------------------------------------------------------- private

    def _read_head(self, lines: int) -> bytes:
        pieces: list[bytes] = []
        size = 0
        self.whole = True
        for piece in self._pieces(HEAD):
            pieces.append(piece)
            size += len(piece)
            lines -= piece.count(b"\n")
            if size > HEAD and (lines <= 0 or size > LONG_HEAD):
                self.whole = False
                break
        self.head = b"".join(pieces)
        return self.head

    def _choose(self, first: bytes, encoding: str | None) -> str | None:
        """Set ``encoding``; return the one to convert from, if the text must be converted."""
        self.bom = b""
        for bom, name in _BOMS:
            if first.startswith(bom):
                self.encoding = "utf-8"
                if name == "utf-8-sig":
                    self.bom = bom
                    return None
                return name
        if encoding is None:
            self.encoding = "utf-8"
            return None
        name = codecs.lookup(encoding).name
        if name in ("utf-16", "utf-32"):  # without a mark: which byte of a letter comes first
            return self._choose_order(first, name)
        one_byte = name in ("utf-8", "ascii", "utf-8-sig") or name.startswith(("cp125", "iso8859"))
        self.encoding = name.replace("-sig", "") if one_byte else "utf-8"
        return None if one_byte else name

    def _choose_order(self, first: bytes, name: str) -> str:
        order = _byte_order(first)
        if order is None or not order.startswith(name):
            raise DataError(
                f"{self.shown} does not begin with the mark of {name}; name the order of its bytes "
                f"too: encoding='{name}-le' or '{name}-be'."
            )
        self.encoding = "utf-8"
        return order

    def _open(self) -> IO[bytes]:
        return gzip.open(self.path, "rb") if self.packed else open(self.path, "rb")  # type: ignore[return-value]

    def _unpacked(self, size: int) -> bytes:
        for piece in self._raw(size):
            return piece
        return b""

    def _raw(self, size: int) -> Iterator[bytes]:
        with self._open() as file:
            while True:
                try:
                    piece = file.read(size)
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    raise DataError(damaged(self.shown, error, remedy="fetch or pack")) from None
                if not piece:
                    return
                yield piece

    def _pieces(self, size: int) -> Iterator[bytes]:
        decoder: Any = None
        if self._decoder is not None:
            decoder = codecs.getincrementaldecoder(self._decoder)()
        skip = len(self.bom)
        held = b""
        for piece in self._raw(size):
            if skip:
                cut = min(skip, len(piece))
                piece, skip = piece[cut:], skip - cut
            if decoder is not None:
                piece = self._decoded(decoder, piece)
            if self.mac:
                piece = piece.replace(b"\r", b"\n")
            piece = held + piece
            held = b""
            if piece.endswith(b"\r"):
                piece, held = piece[:-1], b"\r"
            if b"\r" in piece:
                piece = piece.replace(b"\r\n", b"\n")
            if piece:
                yield piece
        if decoder is not None:
            held += self._decoded(decoder, b"", final=True)
        if held:
            yield held

    def _decoded(self, decoder: Any, piece: bytes, final: bool = False) -> bytes:
        """A piece in UTF-8."""
        try:
            return decoder.decode(piece, final).encode("utf-8")
        except UnicodeError:  # of letters, or of half of one that is left at the end
            raise DataError(
                f"{self.shown} is not valid {self._decoder} text; it may be cut short."
            ) from None

    def _refuse_binary(self, first: bytes, head: bytes) -> None:
        for magic, what in _BINARY:
            if first.startswith(magic):
                raise DataError(f"{self.shown} is not a text table but {what}.")
        sample = head[: 1 << 14]
        odd = sum(sample.count(byte) for byte in (b"\x00", b"\x01", b"\x02", b"\x03", b"\x08"))
        if b"\x00" in sample or odd > len(sample) // 100:
            order = _byte_order(first)
            if order is not None:
                raise DataError(
                    f"{self.shown} looks like {order} text without a mark at its beginning; name "
                    f"it with encoding={order!r}, or save the table as UTF-8."
                )
            raise DataError(
                f"{self.shown} is a binary file, not a text table; save the table as CSV, or name "
                "the kind of file with format=."
            )


def _byte_order(first: bytes) -> str | None:
    """Where the zeros are that letters of two or four bytes mostly have; None if nowhere."""
    for name, width, letter in (
        ("utf-32-le", 4, 0),
        ("utf-32-be", 4, 3),
        ("utf-16-le", 2, 0),
        ("utf-16-be", 2, 1),
    ):
        n = len(first) // width
        zeros = [first[k : width * n : width].count(0) for k in range(width)]
        own = zeros.pop(letter)
        if n and min(zeros) > 0.7 * n and own < 0.1 * n:
            return name
    return None


def _is_utf8(head: bytes, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=whole)
    except UnicodeDecodeError:
        return False
    return True


# ------------------------------------------------------------------------------------------ dialect


#: Spellings of a missing value: those of pandas, and the question mark of UCI and Weka.
MISSING = frozenset(
    {"", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "#N/A N/A", "NaN", "nan", "-NaN", "-nan"}
    | {"NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)

#: Tried in this order: a comma may be a decimal sign, a blank may be anything.
SEPARATORS = ("\t", ";", "|", ",", " ")
NAMES_OF = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "blanks"}

_POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_FRACTION = {".": re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?"), ",": re.compile(r"[+-]?\d*,\d+")}


@dataclass
class Dialect:
    """What a reader of text tables needs to know."""

    separator: str
    decimal: str = "."
    header: bool = True
    names: list[str] = field(default_factory=list)
    skip: int = 0  # lines before the header or the first row
    missing: frozenset[str] = MISSING
    row_names: bool = False  # rows have one field more than the header
    notes: list[str] = field(default_factory=list)

    @property
    def numbers_missing(self) -> bool:
        """Whether some spelling of a missing value is a number, such as -999."""
        return any(self.is_number(spelling) for spelling in self.missing)

    def is_number(self, cell: str) -> bool:
        return bool((_POINT if self.decimal == "." else _COMMA).fullmatch(cell))

    def number(self, cell: str) -> float:
        return float(cell if self.decimal == "." else cell.replace(",", "."))


def guess_dialect(
    text: str, whole: bool, options: Options, shown: str, path: Path = Path()
) -> Dialect:
    """Look at the first rows and decide; what the user says is not guessed."""
    tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes)
    lines = text.split("\n")
    if not whole and len(lines) > 1:
        lines = lines[:-1]  # it may be cut
    skip = 0
    separator = options.separator
    if lines and (match := re.fullmatch(r"sep=(.)", lines[0].strip("\ufeff \r"))):
        skip = 1  # spreadsheets write this line, and hide it
        separator = separator or check_as(DataError, one_character, "separator", match[1])
    skip += _comments(lines[skip:])
    if not any(line.strip() for line in lines[skip:]):
        raise DataError(f"{shown} holds no text; it should hold a header line and rows.")
    if separator is None:
        separator = guess_separator(lines[skip:], tabs)
    rows = list(split_rows(lines[skip:], separator, 200))
    if not rows and len(lines[skip]) > csv.field_size_limit() and '"' not in lines[skip]:
        raise DataError(
            f"{shown}: a cell of the first row has more than {csv.field_size_limit():,} "
            "characters; it is no table, or its separators and line ends are missing."
        )
    if not rows:
        raise DataError(
            f"{shown}: the first row cannot be cut into cells; look for a quotation mark that is "
            "not closed, or a carriage return inside a row."
        )
    if not whole and len(rows) > 2:
        rows = rows[:-1]  # a quoted cell of the last one may be cut
    dialect = Dialect(separator, skip=skip)
    if options.missing is not None:
        dialect.missing = frozenset(str(spelling).strip() for spelling in options.missing) | {""}
    dialect.decimal = _decimal(rows, separator, options.decimal)
    width = Counter(len(row) for row in rows[1:]).most_common(1)[0][0] if len(rows) > 1 else None
    first = rows[0]
    if options.header is None:
        dialect.header = _has_header(rows, dialect)
        if len(rows) > 1 and not dialect.header:
            dialect.notes.append(
                "No header line was found: columns are named x0, x1, ... (header=True changes it)."
            )
    else:
        dialect.header = bool(options.header)
    if dialect.header:
        dialect.names = [name.strip() for name in first]
        longer = [row for row in rows[1:] if len(row) == len(first) + 1]
        if len(longer) > 0.9 * (len(rows) - 1) and any(row[-1] for row in longer):  # as R writes
            dialect.row_names = True
            dialect.names = ["row_names", *dialect.names]
        elif width == len(first) - 1 and not dialect.names[-1]:
            dialect.names = dialect.names[:-1]  # a separator ends the header only
        dialect.names = [name or f"unnamed_{j}" for j, name in enumerate(dialect.names)]
    else:
        dialect.names = [f"x{j}" for j in range(width or len(first))]
    return dialect


def _comments(lines: list[str]) -> int:
    """Number of lines at the top that begin with ``#`` and are not the header.

    A header that begins so is cut into as many cells as the rows below it.
    """
    count = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    below = lines[count : count + 50]
    if not count or not below:
        return 0
    separator = guess_separator(below, False)
    rows = split_rows([lines[count - 1], *below], separator)
    is_header = len(rows) > 1 and len(rows[0]) > 1 and len(rows[0]) == len(rows[1])
    return count - 1 if is_header else count


def split_rows(lines: list[str], separator: str, most: int | None = None) -> list[list[str]]:
    """Cells of the rows; blank lines are passed over, runs of blanks are one separator."""
    rows: list[list[str]] = []
    if separator == " ":
        reader = csv.reader(lines, delimiter=" ", skipinitialspace=True)
    else:
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if separator == " " and row and row[-1] == "":
                row = row[:-1]
            if row and (len(row) > 1 or row[0].strip()):
                rows.append(row)
                if most is not None and len(rows) >= most:
                    break
    except csv.Error:  # a cell beyond the limit of the module: enough was seen
        pass
    return rows


def guess_separator(lines: list[str], tabs: bool) -> str:
    """The separator that cuts all of the first rows into equally many cells."""
    lines = lines[:200]
    best, best_fraction = ",", 0.0
    for separator in SEPARATORS:
        counts = Counter(len(row) for row in split_rows(lines, separator))
        if not counts:
            continue
        width, times = counts.most_common(1)[0]
        fraction = times / sum(counts.values())
        if width > 1 and separator == "\t" and tabs:
            return separator
        if width > 1 and fraction > best_fraction + 0.05:
            best, best_fraction = separator, fraction
    return best


def _decimal(rows: list[list[str]], separator: str, given: str | None) -> str:
    if given is not None:
        if given == separator:
            raise DataError(
                f"decimal={given!r} is not possible with separator {separator!r}; use '.' or ','."
            )
        return given
    if separator == ",":
        return "."
    seen = {
        sign: sum(bool(pattern.fullmatch(cell.strip())) for row in rows for cell in row)
        for sign, pattern in _FRACTION.items()
    }
    return "," if seen[","] > seen["."] else "."


def _has_header(rows: list[list[str]], dialect: Dialect) -> bool:
    """Whether the first row names the columns.

    Text above a column of numbers settles it; a number in the first row speaks against it; where
    all is text, names should be distinct, and return below in few of the columns whose values do.
    """
    first = [cell.strip() for cell in rows[0]]
    below = rows[1:]
    numeric_first = any(dialect.is_number(cell) for cell in first)
    if not below:
        return not numeric_first
    shift = 1 if len(below[0]) == len(first) + 1 else 0
    for j, name in enumerate(first):
        column = [row[j + shift].strip() for row in below if len(row) > j + shift]
        column = [cell for cell in column if cell not in dialect.missing]
        if not column or not all(dialect.is_number(cell) for cell in column):
            continue
        if name not in dialect.missing and not dialect.is_number(name):
            return True
    if numeric_first:
        return False
    if len(set(first)) < len(first):
        return False
    returning = repeating = 0
    for j, name in enumerate(first):
        column = [row[j].strip() for row in below if len(row) > j]
        returning += bool(name) and name in column
        repeating += len(set(column)) < len(column)
    return returning == 0 or 2 * returning < repeating
