"""Row G1: filters from a Parquet file that need not fit into memory.

Files of 200 columns of float32 and a class, in row groups of 100,000 rows: 40 columns tell about
the class, 40 repeat them with noise, the others are noise. MaxRel, mRMR (20 features) and QPFS with
Nyström's method are fitted each in a process of its own, whose largest resident memory is noted.
On the smallest file the rankings have to be those of ``fit`` on all rows in memory. The last row is
counting alone, on one core: batches against encode and matrix on one array.

    python -m benchmarks.g1_stream                         200,000 rows
    python -m benchmarks.g1_stream --rows 1000000 3000000 10000000 [--folder PLACE]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import peak_mb, row

P = 200
GROUP = 100_000
SMALL = 200_000
LARGE = (1_000_000, 3_000_000, 10_000_000)
MOST_MB = 1536  # resident, in all
METHODS = ("maxrel", "mrmr", "qpfs")
TARGET = "class"


def selector(name: str) -> Any:
    """The filters of the row."""
    from tamiz.filters import MRMR, QPFS, MaxRel

    return {
        "maxrel": lambda: MaxRel(n_features_to_select=20),
        "mrmr": lambda: MRMR(n_features_to_select=20),
        "qpfs": lambda: QPFS(n_features_to_select=20, nystroem=0.2, random_state=0),
    }[name]()


def rows_of_group(k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k``-th row group: float32 columns, and classes."""
    rng = np.random.default_rng([7, k])
    y = rng.integers(0, 2, n, dtype=np.int8)
    X = rng.standard_normal((n, P), dtype=np.float32)
    effect = np.linspace(1.2, 0.1, 40, dtype=np.float32)
    X[:, :40] += y[:, None] * effect
    X[:, 40:80] = X[:, :40] + 0.5 * X[:, 40:80]
    return X, y


def write(path: Path, n: int) -> None:
    """A file of ``n`` rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"f{j:03d}" for j in range(P)]
    schema = pa.schema([(name, pa.float32()) for name in names] + [(TARGET, pa.int8())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for k, first in enumerate(range(0, n, GROUP)):
            X, y = rows_of_group(k, min(GROUP, n - first))
            columns = [pa.array(np.ascontiguousarray(column)) for column in X.T]
            table = pa.table([*columns, pa.array(y)], schema=schema)
            file.write_table(table, row_group_size=GROUP)


def resident_mb() -> float:
    """Largest resident memory of this program; not that of the one that started it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return peak_mb()


def child(task: str, path: str, n: int) -> dict[str, Any]:
    """What one process does: write the file, or fit one filter, streamed or in memory."""
    name, _, how = task.partition(":")
    if name == "write":
        write(Path(path), n)
        return {}
    if name == "counting":
        return counting(n)
    import tamiz.filters  # noqa: F401  (what is imported is not timed)

    chosen = selector(name)
    started, used = time.perf_counter(), time.process_time()
    if how == "stream":
        chosen.fit_stream(path, target=TARGET)
    else:
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        y = table.column(TARGET).to_numpy()
        X = np.column_stack([table.column(j).to_numpy() for j in range(P)]).astype(np.float64)
        chosen.fit(X, y)
    return {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - used,
        "peak": resident_mb(),
        "order": chosen.order_.tolist(),
        "scores": chosen.scores_.tolist(),
        "passes": getattr(chosen, "n_passes_", None),
    }


def counting(n: int) -> dict[str, Any]:
    """Seconds of both engines on one core, with all pairs of columns, the best of three."""
    from tamiz.information import encode
    from tamiz.runtime.threads import limit_threads
    from tamiz.scale import Ranges, StreamedCodes, streamed_cuts
    from tamiz.scale.batch import Batch

    X, y = rows_of_group(0, n)
    X, codes = X.astype(np.float64), y.astype(np.intp)
    step = 20_000
    parts = [
        Batch(X[first : first + step], codes[first : first + step], k, first)
        for k, first in enumerate(range(0, n, step))
    ]

    def sweep(make: Any) -> Any:
        total = make(parts[0])
        for part in parts[1:]:
            total = total.merge(make(part))
        return total

    def streamed() -> np.ndarray:
        ranges = sweep(lambda batch: Ranges.of(batch.X))
        cuts = streamed_cuts("mean_std", ranges=ranges)
        return StreamedCodes(sweep, cuts, 2).matrix()

    def whole() -> np.ndarray:
        return encode(X).matrix()

    best = {"streamed": np.inf, "whole": np.inf}
    found = {}
    with limit_threads(1):
        for _ in range(4):  # the first compiles
            for name, function in (("streamed", streamed), ("whole", whole)):
                started = time.perf_counter()
                found[name] = function()
                best[name] = min(best[name], time.perf_counter() - started)
    return {**best, "agree": bool(np.array_equal(found["streamed"], found["whole"]))}


def ask(task: str, path: Path, n: int) -> dict[str, Any]:
    """The answer of a process of its own."""
    command = [sys.executable, "-m", "benchmarks.g1_stream", "--child", task, str(path), str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{task} failed: {done.stderr.strip().splitlines()[-3:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(n: int, folder: Path, compare: bool) -> list[dict[str, Any]]:
    """The three filters on a file of ``n`` rows."""
    need = int(1.05 * 4 * n * P)
    free = shutil.disk_usage(folder).free
    if free < need + 2**30:
        print(f"{n:,} rows need {need / 2**30:.1f} GB in {folder}; there is less.", file=sys.stderr)
        return []
    path = folder / f"g1_{n}.parquet"
    out = []
    try:
        ask("write", path, n)
        for name in METHODS:
            ours = ask(f"{name}:stream", path, n)
            peer = ask(f"{name}:memory", path, n) if compare else None
            agree = ours["peak"] < MOST_MB
            if peer is not None:
                same = ours["order"] == peer["order"]
                agree = agree and same and ours["scores"] == peer["scores"]
            note = (
                f"{ours['passes']} passes, {n / ours['seconds']:,.0f} rows/s, "
                f"{ours['cpu']:.1f} s of processor time, "
                f"peak {ours['peak']:,.0f} MB"
            )
            if peer is not None:
                note += f" (in memory {peer['peak']:,.0f} MB)"
            out.append(
                row(
                    "G1",
                    f"{name}, Parquet {n:,} x {P}",
                    "fit in memory" if peer else "",
                    ours["seconds"],
                    None if peer is None else peer["seconds"],
                    None,
                    agree,
                    note,
                )
            )
            print(f"  {n:,} {name}: {ours['seconds']:.1f} s, {note}", file=sys.stderr, flush=True)
    finally:
        path.unlink(missing_ok=True)
    return out


def run(
    quick: bool, sizes: tuple[int, ...] | None = None, folder: str | None = None
) -> list[dict[str, Any]]:
    """Fit from files of growing size; the smallest also in memory."""
    chosen = sizes or ((SMALL,) if quick else (SMALL, *LARGE))
    rows = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for n in chosen:
            rows += measure(n, Path(place), compare=n <= SMALL)
        pure = ask("counting", Path(place), 50_000 if quick else SMALL)
    note = "bar: within twice the time"
    ours, peer = pure["streamed"], pure["whole"]
    work = f"counting all pairs, {P} columns, one core"
    rows.append(row("G1", work, "encode and matrix", ours, peer, 0.5, pure["agree"], note))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", help="sizes of the files")
    parser.add_argument("--folder", help="where the files are made; removed at the end")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        print(json.dumps(child(given.child[0], given.child[1], int(given.child[2]))))
    else:
        from benchmarks.common import print_table

        print_table(run(not given.rows, tuple(given.rows or ()) or None, given.folder))
