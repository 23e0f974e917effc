"""How long the first fit of every estimator takes, with nothing compiled yet.

Each estimator is fitted in a process of its own with an empty cache, to the small tables of
``tamiz compile``; seconds are those of the processor, so that a busy machine does not count::

    python tools/first_fits.py [--only TEXT] [--limit SECONDS]

Imports are made before the clock starts. The exit status is 1 if a first fit takes longer than the
limit (5 s by default).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from tamiz.cli.compile import small_fits
from tamiz.runtime.compiling import CompileWatch

spent = []
fit = small_fits()[sys.argv[1]]
fit.make()  # the imports
began = time.process_time()
with CompileWatch(compiled=spent.append):
    fit()
first = time.process_time() - began
began = time.process_time()
fit()
print(json.dumps([first, time.process_time() - began, len(spent)]))
"""


def measure(name: str) -> tuple[float, float, int]:
    """Seconds of the first and of the second fit, and how many functions were compiled."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, name],
            env={**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    first, second, functions = json.loads(done.stdout.splitlines()[-1])
    return first, second, functions


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds a first fit may take")
    given = parser.parse_args()

    from tamiz.cli.compile import small_fits

    found = {}
    for name in (name for name in small_fits() if given.only in name):
        found[name] = measure(name)
        print(f"{found[name][0]:6.2f} s  {name}", file=sys.stderr, flush=True)
    print(f"{'first':>7} {'second':>7} {'functions':>9}  estimator")
    for name, (first, second, functions) in sorted(found.items(), key=lambda one: -one[1][0]):
        print(f"{first:7.2f} {second:7.2f} {functions:9d}  {name}")
    return int(any(first > given.limit for first, _, _ in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
