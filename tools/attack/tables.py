"""Small tables of every kind of file that is read, to be damaged."""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np


def rows(n=60):
    """A header and rows of numbers, words, missing values and a target."""
    rng = np.random.default_rng(7)
    yield ["code", "size", "colour", "note", "weight", "kind"]
    for i in range(n):
        size = "" if i % 9 == 4 else f"{rng.normal():.4f}"
        note = ('a "quoted" word', "one, two", "café", "?")[i % 4]
        yield [str(i % 7), size, ("red", "blue", "grün")[i % 3], note, f"{rng.random():.3e}",
               ("yes", "no")[int(rng.random() < 0.5)]]  # fmt: skip


def csv_bytes(separator=","):
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows())
    return text.getvalue().encode()


def parquet_bytes(**options):
    import pyarrow as pa
    import pyarrow.parquet as pq

    names, *cells = rows()
    columns = {name: [row[j] for row in cells] for j, name in enumerate(names)}
    columns["size"] = [float(cell) if cell else None for cell in columns["size"]]
    columns["code"] = [int(cell) for cell in columns["code"]]
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, **options)
    return buffer.getvalue()


def arff_bytes():
    head = [
        "% what was measured", "@relation 'a set'", "@attribute code numeric",
        "@attribute size REAL", "@attribute colour {red, blue, 'grün'}", "@attribute note string",
        "@attribute weight numeric", "@attribute kind {yes, no}", "@data",
    ]  # fmt: skip
    body = []
    for code, size, colour, note, weight, kind in list(rows())[1:]:
        quoted = "'" + note.replace("'", "\\'") + "'"
        body.append(",".join([code, size or "?", f"'{colour}'", quoted, weight, kind]))
    return "\n".join([*head, *body, ""]).encode()


def sparse_arff_bytes():
    head = ["@relation s", *(f"@attribute f{j} numeric" for j in range(9)), "@attribute y {a,b}"]
    rng = np.random.default_rng(3)
    body = []
    for i in range(60):
        at = sorted(rng.choice(9, 3, replace=False).tolist())
        body.append(
            "{" + ", ".join(f"{j} {rng.random():.2f}" for j in at) + ", 9 b" * (i % 2) + "}"
        )
    return "\n".join([*head, "@data", *body, ""]).encode()


def libsvm_bytes():
    rng = np.random.default_rng(5)
    lines = ["# made for a test"]
    for _ in range(60):
        at = sorted((1 + rng.choice(30, 5, replace=False)).tolist())
        lines.append(
            " ".join([f"{rng.choice([-1, 1]):+d}", *(f"{j}:{rng.normal():.3f}" for j in at)])
        )
    return "\n".join([*lines, ""]).encode()


def npz_bytes(packed=True):
    rng = np.random.default_rng(2)
    buffer = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(
        buffer,
        X=rng.normal(size=(40, 5)),
        y=np.arange(40) % 2,
        feature_names=np.array(["a", "b", "c", "d", "é"]),
    )
    return buffer.getvalue()


def npy_bytes():
    buffer = io.BytesIO()
    np.save(buffer, np.random.default_rng(4).normal(size=(40, 5)))
    return buffer.getvalue()


FILES = {
    "csv": csv_bytes,
    "csv.gz": lambda: gzip.compress(csv_bytes(), mtime=0),
    "tsv": lambda: csv_bytes("\t"),
    "parquet": parquet_bytes,
    "arff": arff_bytes,
    "libsvm": libsvm_bytes,
    "npz": npz_bytes,
}
#: Further forms of the same kinds of file, which other lines of the readers read.
FORMS = {
    "sparse.arff": sparse_arff_bytes,
    "plain.npz": lambda: npz_bytes(packed=False),
    "svm.gz": lambda: gzip.compress(libsvm_bytes(), mtime=0),
    "wide.csv": lambda: csv_bytes().decode().encode("utf-16"),
    "decimal.csv": lambda: csv_bytes(";").replace(b".", b","),
    "western.csv": lambda: csv_bytes().decode().encode("cp1252"),
    "npy": npy_bytes,
    "groups.parquet": lambda: parquet_bytes(row_group_size=13, compression="gzip"),
}


def bundled():
    """Real tables that come with the package, the beginning of each."""
    from importlib.resources import files

    folder = files("tamiz.data") / "sets"

    def lines(name, n):
        text = gzip.decompress((folder / name).read_bytes())
        return b"".join(text.splitlines(keepends=True)[:n])

    return {
        "credit.csv": lambda: lines("credit_approval.csv.gz", 150),
        "colic.csv": lambda: lines("horse_colic.csv.gz", 100),
        "hmeq.csv.gz": lambda: gzip.compress(lines("hmeq.csv.gz", 150), mtime=0),
        "german.txt": lambda: lines("german_credit.csv.gz", 100).replace(b",", b" "),
    }
