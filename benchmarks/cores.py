"""Rows M1 to M6, many cores: the same call with more and more threads.

    python -m benchmarks.cores --threads 1,2,4,8,16           all rows
    python -m benchmarks.cores --rows M1,M2 --profile         where the time goes
    python -m benchmarks.cores --plot benchmarks/cores.json --figure docs/figures/cores.png

Each number of threads has a process of its own for each group of rows (M1 and M2 share a machine),
with ``OMP_NUM_THREADS`` and the limits of the BLAS libraries set. A smaller call of the same kind
compiles first. The time is the median of three runs, fewer where they take very long. The table is
in Markdown; ``--out`` says where the JSON goes.

``--profile`` looks at the threads fifty times in a tenth of a second. It prints how many cores were
in use, during which fraction of the time no thread of the pool was at work, and the lines that the
calling thread spent its time at, with the mean number of other threads at work meanwhile. A call of
compiled code or of BLAS counts for the line that made it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from benchmarks.common import peak_mb, used

HERE = Path(__file__).parent

#: Workload, gain to reach, with how many threads.
ROWS: dict[str, tuple[str, float, int]] = {
    "M1": ("SVC radial, fit, n=20,000 p=50 C=10", 5.0, 8),
    "M2": ("the same machine, predict 20,000 rows", 8.0, 16),
    "M3": ("SVC radial, fit, n=50,000 p=50 C=1", 4.0, 8),
    "M4": ("radial SVM-RFE, 2,000 x 100", 4.0, 8),
    "M5": ("mutual information of all pairs, 198 x 16,063", 10.0, 16),
    "M6": ("ReliefF, 2,600 x 500", 8.0, 16),
}
GROUPS = (("M1", "M2"), ("M3",), ("M4",), ("M5",), ("M6",))
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ENOUGH_S = 20.0  # no further run of a row that has taken this long
SAMPLE_S = 0.002


def machines(rows: tuple[str, ...], n: int, C: float) -> dict[str, Callable[[], float]]:
    """Fit and predict of a radial classifier; each returns a number that must stay the same."""
    from sklearn.datasets import make_classification

    from tamiz.svm import SVC

    X, y = make_classification(n, 50, random_state=0)
    SVC(C=C, gamma=1 / 50).fit(X[:3000], y[:3000]).predict(X[:3000])
    # beyond the memory of a dense matrix another solver is at work
    SVC(C=C, gamma=1 / 50, cache_mb=20).fit(X[:3000], y[:3000])
    kept: list[Any] = [None]

    def fit() -> float:
        kept[0] = None  # before the next one needs as much memory
        kept[0] = SVC(C=C, gamma=1 / 50).fit(X, y)
        return float(kept[0].objective_)

    def predict() -> float:
        return float(np.abs(kept[0].decision_function(X)).sum())

    return dict(zip(rows, (fit, predict), strict=False))


def elimination() -> dict[str, Callable[[], float]]:
    from sklearn.datasets import make_classification

    from tamiz.embedded import SVMRFE

    X, y = make_classification(2000, 100, n_informative=10, random_state=0)
    SVMRFE(1, kernel="rbf", gamma=0.01).fit(X[:, :4], y)
    call = lambda: SVMRFE(1, kernel="rbf", gamma=0.01).fit(X, y)  # noqa: E731
    return {"M4": lambda: float(np.dot(call().order_, np.arange(100)))}


def all_pairs() -> dict[str, Callable[[], float]]:
    from benchmarks.b1_mutual_information import P, table
    from tamiz.information import mutual_information_matrix

    X = table(P)
    mutual_information_matrix(X[:, :300], bins=None, dtype=np.float32)
    return {
        "M5": lambda: float(
            mutual_information_matrix(X, bins=None, dtype=np.float32)[:200].sum(dtype=np.float64)
        )
    }


def relief() -> dict[str, Callable[[], float]]:
    from sklearn.datasets import make_classification

    from tamiz.filters import ReliefF

    X, y = make_classification(2600, 500, n_informative=5, random_state=0)
    X = np.round(480 + 20 * X)  # integers, as in madelon
    call = lambda: ReliefF(n_neighbors=10, ties="index").fit(X, y).scores_  # noqa: E731
    call()
    return {"M6": lambda: float(np.abs(call()).sum())}


def workloads(rows: tuple[str, ...]) -> dict[str, Callable[[], float]]:
    """The calls of one group, compiled and with their data."""
    if rows[0] == "M1":
        return machines(rows, 20_000, 10.0)
    if rows[0] == "M3":
        return machines(rows, 50_000, 1.0)
    return {"M4": elimination, "M5": all_pairs, "M6": relief}[rows[0]]()


# ------------------------------------------------------------------------------- one process


def child(rows: tuple[str, ...], repeats: int, profile: bool) -> int:
    """Time one group with the threads of this process."""
    for name, call in workloads(rows).items():
        seconds: list[float] = []
        cpu: list[float] = []
        value = 0.0
        short = 10 if name == "M6" else 1  # calls in a run
        while len(seconds) < repeats and (not seconds or sum(seconds) < ENOUGH_S):
            before = time.process_time()
            start = time.perf_counter()
            for _ in range(short):
                value = call()
            seconds.append((time.perf_counter() - start) / short)
            cpu.append((time.process_time() - before) / short)
        found: dict[str, Any] = {
            "row": name,
            "seconds": statistics.median(seconds),
            "runs": seconds,
            "cpu_s": statistics.median(cpu),
            "value": value,
            "peak_mb": peak_mb(),
        }
        if profile:
            found["profile"] = profiled(call, short)
        print("FOUND " + json.dumps(found), flush=True)
    return 0


def profiled(call: Callable[[], float], times: int) -> dict[str, Any]:
    """Look at all threads again and again while the call runs."""
    main = threading.get_ident()
    lines: Counter[str] = Counter()
    helped: Counter[str] = Counter()
    alone, ended = 0, threading.Event()

    def watch() -> None:
        nonlocal alone
        while not ended.wait(SAMPLE_S):
            frames = sys._current_frames()
            working = sum(_in_tile(f) for key, f in frames.items() if key != main)
            where = _place(frames.get(main))
            lines[where] += 1
            helped[where] += working
            alone += working == 0
            del frames

    watcher = threading.Thread(target=watch, daemon=True)
    before, start = used(), time.perf_counter()
    watcher.start()
    for _ in range(times):
        call()
    wall = time.perf_counter() - start
    ended.set()
    watcher.join()
    after = used()
    total = max(1, sum(lines.values()))
    return {
        "wall_s": wall / times,
        "cores": (after.seconds - before.seconds) / wall,
        "kernel_s": (after.system - before.system) / times,
        "alone": alone / total,
        "waits": after.waits - before.waits,
        "displaced": after.displaced - before.displaced,
        "lines": [
            {"where": w, "fraction": k / total, "others": helped[w] / k}
            for w, k in lines.most_common(14)
        ],
    }


def _in_tile(frame: FrameType | None) -> bool:
    """Whether a thread of the pool has a tile to work on."""
    while frame is not None:
        if frame.f_code.co_name == "work" and frame.f_code.co_filename.endswith("threads.py"):
            return True
        frame = frame.f_back
    return False


def _place(frame: FrameType | None) -> str:
    """The innermost line of tamiz, and the function of another package it is in, if any.

    Time in the thread pool counts for the line that gave the tiles, marked as work or as waiting.
    """
    inner = ""
    while frame is not None:
        code = frame.f_code
        if f"{os.sep}tamiz{os.sep}" in code.co_filename:
            path = code.co_filename.rsplit(f"{os.sep}tamiz{os.sep}", 1)[1]
            if not path.endswith("threads.py") or code.co_name == "product":
                return f"{path}:{frame.f_lineno} {code.co_name}{inner}"
            inner = " > (waits for tiles)" if "wait" in inner else " > (tiles)"
        inner = inner or f" > {code.co_name}"
        frame = frame.f_back
    return "elsewhere"


# ------------------------------------------------------------------------------- all of them


def measure(rows: list[str], threads: list[int], repeats: int, profile: bool) -> list[dict]:
    """One entry for each row and number of threads."""
    found = []
    for group in GROUPS:
        chosen = [name for name in group if name in rows]
        if not chosen:
            continue
        if chosen == ["M2"]:
            chosen = ["M1", "M2"]  # the machine has to be fitted first
        for number in threads:
            print(f"… {' '.join(chosen)} with {number}", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "benchmarks.cores", "--child", ",".join(chosen)]
            command += ["--repeats", str(repeats)] + ["--profile"] * profile
            done = subprocess.run(
                command,
                cwd=HERE.parent,
                env=os.environ | dict.fromkeys(LIMITS, str(number)),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                print(f"  failed: {done.stderr.strip()[-2000:]}", file=sys.stderr)
            for line in done.stdout.splitlines():
                if line.startswith("FOUND "):
                    entry = {"threads": number, **json.loads(line[6:])}
                    found.append(entry)
                    if profile:
                        print_profile(entry)
    return found


def print_profile(entry: dict) -> None:
    p = entry["profile"]
    print(
        f"\n{entry['row']} with {entry['threads']}: {p['wall_s']:.2f} s, {p['cores']:.1f} cores in "
        f"use, {p['kernel_s']:.2f} s of it in the kernel, nobody else at work "
        f"{100 * p['alone']:.0f} % of the time, {p['waits']} waits, {p['displaced']} displaced"
    )
    for line in p["lines"]:
        print(f"  {100 * line['fraction']:5.1f} %  {line['others']:4.1f} others  {line['where']}")
    sys.stdout.flush()


def print_markdown(found: list[dict]) -> None:
    """Seconds and gains over the threads, and whether the bar is met and nothing is slower."""
    threads = sorted({e["threads"] for e in found})
    print("\n| row | workload | " + " | ".join(f"{t}" for t in threads) + " | bar | met |")
    print("|---|---|" + "---|" * (len(threads) + 2))
    for name, (workload, bar, at) in ROWS.items():
        cells = {e["threads"]: e for e in found if e["row"] == name}
        if not cells:
            continue
        one = cells[min(cells)]["seconds"]
        texts = [
            f"{_seconds(cells[t]['seconds'])} ({one / cells[t]['seconds']:.1f}×)"
            if t in cells
            else ""
            for t in threads
        ]
        met = one / cells[at]["seconds"] >= bar if at in cells and 1 in cells else None
        known = sorted(cells)
        slower = [b for a, b in pairwise(known) if cells[b]["seconds"] > 1.05 * cells[a]["seconds"]]
        verdict = {True: "yes", False: "NO", None: ""}[met]
        verdict += f" (slower: {', '.join(map(str, slower))})" if slower else ""
        goal = f"{bar:g}× at {at}"
        print(f"| {name} | {workload} | " + " | ".join(texts) + f" | {goal} | {verdict} |")
    values: dict[str, list[float]] = {}
    for e in found:
        values.setdefault(e["row"], []).append(e["value"])
    for name, some in values.items():
        spread = (max(some) - min(some)) / max(abs(max(some)), 1e-300)
        print(f"{name}: answers differ by {spread:.1e} between numbers of threads")


def _seconds(value: float) -> str:
    return f"{1000 * value:.0f} ms" if value < 1 else f"{value:.2f} s"


def plot(source: Path, figure: Path) -> None:
    """Draw gains over threads, one curve for each row, and the ideal."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = json.loads(source.read_text(encoding="utf-8"))["found"]
    fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    threads = sorted({e["threads"] for e in found})
    ax.plot(threads, threads, color="0.7", linestyle="--", label="ideal")
    for name, (workload, _, _) in ROWS.items():
        cells = sorted((e["threads"], e["seconds"]) for e in found if e["row"] == name)
        if cells:
            x, seconds = zip(*cells, strict=True)
            gains = [seconds[0] / s for s in seconds]
            ax.plot(x, gains, marker="o", label=f"{name} {workload}")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xticks(threads, [str(t) for t in threads])
    ax.set_yticks(threads, [f"{t}×" for t in threads])
    ax.set_xlabel("threads")
    ax.set_ylabel("times faster than with one thread")
    ax.legend(fontsize=7)
    fig.savefig(figure, dpi=150)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cores",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "cores.json")
    parser.add_argument("--plot", type=Path, metavar="JSON")
    parser.add_argument("--figure", type=Path, default=Path("cores.png"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.plot:
        plot(args.plot, args.figure)
        return 0
    if args.child:
        return child(tuple(args.child.split(",")), args.repeats, args.profile)
    rows, threads = args.rows.split(","), [int(t) for t in args.threads.split(",")]
    found = measure(rows, threads, args.repeats, args.profile)
    print_markdown(found)
    document = {
        "when": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "machine": platform.processor() or platform.machine(),
        "found": found,
    }
    args.out.write_text(json.dumps(document, indent=1), encoding="utf-8")
    print(f"Written: {args.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
