"""The bytes of a text file: unpacked, in UTF-8, with ``\\n`` for line ends, a piece at a time."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tamiz.data.errors import DataError, damaged

HEAD = 1 << 18  # bytes that guesses may look at ...
LONG_HEAD = 1 << 26  # ... or more, up to here, if the first lines are longer
LINES = 4  # so many lines a guess should see
PIECE = 1 << 20  # bytes read at a time: what a processor's cache holds
PACKED = 5  # bytes of text for each byte of gzip, about

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (
    (b"PAR1", "a Parquet file; give it the extension .parquet"),
    (b"PK\x03\x04", "a packed file (a spreadsheet, or a zip archive); save the table as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet of the old kind; save the table as CSV"),
    (b"\x93NUMPY", "a NumPy array; give it the extension .npy"),
    (b"%PDF", "a PDF; save the table as CSV"),
    (b"BZh", "packed with bzip2; unpack it first"),
    (b"\xfd7zXZ", "packed with xz; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed with zstandard; unpack it first"),
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
            self._read_head(LINES)

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
        try:
            name = codecs.lookup(encoding).name
        except LookupError:
            raise DataError(
                f"encoding={encoding!r} is not known; use 'utf-8', 'cp1252', 'latin-1' or 'utf-16'."
            ) from None
        one_byte = name in ("utf-8", "ascii", "utf-8-sig") or name.startswith(("cp125", "iso8859"))
        self.encoding = name.replace("-sig", "") if one_byte else "utf-8"
        return None if one_byte else name

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
                try:
                    piece = decoder.decode(piece).encode("utf-8")
                except UnicodeDecodeError:
                    raise DataError(
                        f"{self.shown} is not valid {self._decoder} text; it may be cut short."
                    ) from None
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
        if held:
            yield held

    def _refuse_binary(self, first: bytes, head: bytes) -> None:
        for magic, what in _BINARY:
            if first.startswith(magic):
                raise DataError(f"{self.shown} is not a text table but {what}.")
        sample = head[: 1 << 14]
        odd = sum(sample.count(byte) for byte in (b"\x00", b"\x01", b"\x02", b"\x03", b"\x08"))
        if b"\x00" in sample or odd > len(sample) // 100:
            raise DataError(
                f"{self.shown} is a binary file, not a text table; save the table as CSV, or name "
                "the kind of file with format=."
            )


def _is_utf8(head: bytes, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=whole)
    except UnicodeDecodeError:
        return False
    return True
