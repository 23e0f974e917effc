"""Row G3: counting all pairs of features on a Dask cluster of one worker, and of two.

Every worker reads row groups of one Parquet file, counts them and merges the counts. The peer of
two workers is one worker, by turns. The note says how many seconds of processor time the busiest
worker took, which other load on the machine does not change much. Agreement: both find the counts
of one process to the last bit, and so does a pass during which one of two workers is killed.

    python -m benchmarks.g3_dask [--quick]
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.common import alternate, print_table, row


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the pass with one worker and with two, and kill one half-way."""
    import dask
    from dask.distributed import Client, LocalCluster

    from tamiz.scale import Ranges, batches, streamed_cuts, sweep
    from tamiz.scale.dask import DaskExecutor
    from tamiz.scale.streamed_codes import CountPairs

    n_parts, n, p = (16, 25_000, 200) if quick else (64, 50_000, 200)
    workload = f"pairs of {p} features, {n_parts * n:,} rows"

    def cluster(n_workers: int) -> Any:
        made = stack.enter_context(
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
                scheduler_kwargs={"dashboard": False},
            )
        )
        return stack.enter_context(Client(made, set_as_default=False))

    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        path = _write(Path(folder) / "table.parquet", n_parts, n, p)
        stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"}))
        clients = {k: cluster(k) for k in (1, 2)}
        whole = batches(path, "y", classes=[0, 1])
        ranges = sweep(whole, lambda batch: Ranges.of(batch.X))
        tables = {k: whole.on(client) for k, client in clients.items()}
        cuts = streamed_cuts("width", n_bins=4, ranges=ranges)
        count = CountPairs(cuts, 2)

        def go(k: int) -> Any:
            before = clients[k].run(time.process_time)
            found = sweep(tables[k], count)
            after = clients[k].run(time.process_time)
            spent[k] = min(spent.get(k, np.inf), max(after[w] - before[w] for w in after))
            return found

        spent: dict[int, float] = {}
        two_s, one_s, two, one = alternate(lambda: go(2), lambda: go(1), 3 if quick else 5)
        alone = sweep(whole, count)
        agree = bool((two.counts == alone.counts).all() and (one.counts == alone.counts).all())
        rows = [
            row(
                "G3",
                workload,
                "one worker",
                two_s,
                one_s,
                1.0,
                agree,
                f"processor time of the busiest: {spent[2]:.2f} s of two, {spent[1]:.2f} s of one; "
                f"{len(pickle.dumps(two)) / 1e6:.2f} MB travel back",
            )
        ]
        rows.append(_killed(clients[2], tables[2], count, alone, two_s, workload, DaskExecutor))
    return rows


def _write(path: Path, n_parts: int, n: int, p: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(p)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    with pq.ParquetWriter(path, schema) as file:
        for k in range(n_parts):
            rng = np.random.default_rng(k)
            X = rng.standard_normal((n, p), dtype=np.float32)
            y = (X[:, 0] + X[:, 1] > 0).astype(np.int8)
            columns = [*np.ascontiguousarray(X.T), y]
            file.write_table(pa.table(dict(zip([*names, "y"], columns, strict=True))), n)
    return path


class _Striking:
    """A progress line that kills a worker when some rows were counted."""

    def __init__(self, pid: int):
        self.pid, self.done = pid, False

    def update(self, text: str) -> None:
        if not self.done:
            self.done = True
            os.kill(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows: the latter


def _killed(
    client: Any, table: Any, count: Any, alone: Any, usual: float, workload: str, executor: Any
) -> dict[str, Any]:
    line = _Striking(min(client.run(os.getpid).values()))
    began = time.perf_counter()
    found = executor(client).sweep(table, count, line, lambda *told: "")
    seconds = time.perf_counter() - began
    agree = line.done and bool((found.counts == alone.counts).all())
    note = f"{usual:.2f} s without; its row groups were read and counted again"
    return row("G3", f"{workload}, a worker killed", "", seconds, None, None, agree, note)


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
