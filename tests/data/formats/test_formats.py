"""Which reader a file gets."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tamiz.data.formats import sniff, stem


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.csv", "a"), ("a.csv.gz", "a"), ("v1.2.csv", "v1.2"), ("a", "a"), ("a.b.arff", "a.b"),
     (".csv", ".csv")],
)  # fmt: skip
def test_stem(name, expected):
    assert stem(Path(name)) == expected


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PAR1...", "parquet"),
        (b"\x93NUMPY...", "npz"),
        (b"% hello\n@RELATION x\n", "arff"),
        (b"1 1:0.5 3:2\n-1 2:1e-3\n", "libsvm"),
        (b"1 1:0.5 3:2 # note\n-1 2:1e-3\n", "libsvm"),
        (b"a,b\n1,2\n", None),
        (b"10:20 30\n", None),
        (b"", None),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_first_bytes(tmp_path, content, kind, packed):
    path = tmp_path / "t"
    path.write_bytes(gzip.compress(content) if packed else content)
    assert sniff(path) == kind
