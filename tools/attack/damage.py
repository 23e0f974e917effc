"""What happens to files on their way: bits flip, ends get lost, pieces come twice.

All of it is drawn from a seed, so that a number names a damaged file that can be made again.
"""

from __future__ import annotations

import numpy as np


def flip(raw, rng):
    found = bytearray(raw)
    for position in rng.integers(len(raw), size=rng.integers(1, 9)):
        found[position] ^= 1 << int(rng.integers(8))
    return bytes(found)


def shorten(raw, rng):
    return raw[: rng.integers(len(raw))]


def insert(raw, rng):
    at = int(rng.integers(len(raw)))
    return (
        raw[:at] + rng.integers(256, size=rng.integers(1, 40), dtype=np.uint8).tobytes() + raw[at:]
    )


def stutter(raw, rng):
    start, end = sorted(rng.integers(len(raw) + 1, size=2).tolist())
    return raw[:end] + raw[start:end] * int(rng.integers(1, 4)) + raw[end:]


def remove(raw, rng):
    start = int(rng.integers(len(raw)))
    return raw[:start] + raw[start + int(rng.integers(1, 60)) :]


def swap_lines(raw, rng):
    lines = raw.split(b"\n")
    for _ in range(int(rng.integers(1, 5))):
        i, j = rng.integers(len(lines), size=2)
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def zeros(raw, rng):
    at = int(rng.integers(len(raw)))
    length = int(rng.integers(1, 30))
    keep = int(rng.integers(2)) * length
    return raw[:at] + bytes(length) + raw[at + keep :]


def other_encoding(raw, rng):
    text = raw.decode("utf-8", errors="replace")
    name = ("utf-16", "utf-16-le", "utf-32", "cp1252", "utf-7", "cp037", "utf-8-sig")[
        int(rng.integers(7))
    ]
    return text.encode(name, errors="replace")


MARKS = (
    *(b'"', b"'", b"\\", b"{", b"}", b",", b"\r", b":", b"#", b"%", b"-", b"\n\n", b"nan", b"\x1a"),
    *(b"99999999999999999999", b"1e999", b"\xff\xfe", b"\xef\xbb\xbf", b"@data\n"),
)


def spill(raw, rng):
    """Marks that mean something to a reader, where none belong."""
    found = raw
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(found)))
        found = found[:at] + MARKS[int(rng.integers(len(MARKS)))] + found[at:]
    return found


def write_over(raw, rng):
    """Another number where one stands: for the binary kinds, sizes and offsets that lie."""
    at = int(rng.integers(max(len(raw) - 8, 1)))
    number = (0, 1, -1, 2**31 - 1, 2**31, 2**62, -(2**63), 2**16)[int(rng.integers(8))]
    width = (1, 2, 4, 8)[int(rng.integers(4))]
    return raw[:at] + (number % (1 << 8 * width)).to_bytes(width, "little") + raw[at + width :]


DAMAGE = (
    flip,
    shorten,
    insert,
    stutter,
    remove,
    swap_lines,
    zeros,
    other_encoding,
    spill,
    write_over,
)


def damaged(raw, seed):
    """The file after one or, in every third case, two accidents."""
    rng = np.random.default_rng(seed)
    kinds = [DAMAGE[seed % len(DAMAGE)]]
    if seed % 3 == 0:
        kinds.append(DAMAGE[int(rng.integers(len(DAMAGE)))])
    for kind in kinds:
        if raw:
            raw = kind(raw, rng)
    return raw
