"""Run benchmarks, each in a process of its own (and one per peer), and print a table of ratios.

    python -m benchmarks            the quick set
    python -m benchmarks --full     all sizes
    python -m benchmarks a1 b2      only these

Every module ``benchmarks/<letter><number>_<name>.py`` offers ``run(quick) -> list of rows``. A
module with ``PEERS`` takes ``run(quick, peer)`` and is run once for each peer. Rows check that both
answers agree before a time is worth anything.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.common import machine_rates, print_table

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("only", nargs="*", help="beginnings of module names, such as a1 or b")
    parser.add_argument("--full", action="store_true", help="all sizes, not only the quick ones")
    parser.add_argument("--json", type=Path, default=HERE / "results.json", help="where to write")
    parser.add_argument("--child", nargs=2, metavar=("MODULE", "PEER"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child(*args.child, quick=not args.full)
    rows, failed = [], 0
    for name in modules(args.only):
        for peer in peers(name):
            print(f"… {name} {peer}".rstrip(), file=sys.stderr, flush=True)
            answer = in_own_process(name, peer, full=args.full)
            rows.extend(answer or [])
            failed += answer is None
    rates = machine_rates()
    print_table(rows)
    print("\nThis machine: " + ", ".join(f"{k} {v:.3g}" for k, v in rates.items()))
    document = {"when": time.strftime("%Y-%m-%d"), "machine": rates, "rows": rows}
    args.json.write_text(json.dumps(document, indent=1, default=float), encoding="utf-8")
    short = [r for r in rows if r["agree"] is False or below_bar(r)]
    if short:
        print(f"{len(short)} row(s) below their bar or in disagreement.")
    return 1 if failed else 0


def below_bar(r: dict) -> bool:
    return r["bar"] is not None and r["ratio"] is not None and r["ratio"] < r["bar"]


def modules(only: list[str]) -> list[str]:
    names = sorted(p.stem for p in HERE.glob("*.py") if re.match(r"[a-hj]\d+\w*_", p.stem))
    return [n for n in names if not only or any(n.startswith(o.lower()) for o in only)]


def peers(name: str) -> list[str]:
    """The peers a module names, read from its text so that nothing heavy is imported here."""
    text = (HERE / f"{name}.py").read_text(encoding="utf-8")
    match = re.search(r"^PEERS = \(([^)]*)\)", text, re.MULTILINE)
    return re.findall(r"\"([^\"]+)\"", match.group(1)) if match else [""]


def in_own_process(name: str, peer: str, full: bool) -> list[dict] | None:
    command = [sys.executable, "-m", "benchmarks", "--child", name, peer]
    done = subprocess.run(
        command + ["--full"] * full, cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    marked = [line for line in done.stdout.splitlines() if line.startswith("ROWS ")]
    if done.returncode or not marked:
        print(f"  failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(marked[-1][5:])


def child(name: str, peer: str, quick: bool) -> int:
    module = importlib.import_module(f"benchmarks.{name}")
    rows = module.run(quick, peer) if peer else module.run(quick)
    print("ROWS " + json.dumps(rows, default=float))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
