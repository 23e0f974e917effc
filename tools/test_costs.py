"""What the tests cost: processor seconds of each, those of child processes and of compiling apart.

Processor time, unlike the clock, says the same on a machine with other work to do::

    TAMIZ_COSTS=/tmp/costs make test PYTEST_ARGS="-p tools.test_costs"
    python -m tools.test_costs /tmp/costs

The first is a plugin of pytest, which writes one line for each test into the folder; the second
prints what costs most, by file and by test.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core import event


class Compiling(event.Listener):
    """Processor seconds inside the compiler; a function that compiles another counts once."""

    def __init__(self) -> None:
        self.depth = 0
        self.seconds = 0.0

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.started = time.process_time()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.process_time() - self.started


compiling = Compiling()


def clocks() -> tuple[float, float, float]:
    """Processor seconds so far: of this process, of its children, of compiling."""
    used = os.times()
    children = used.children_user + used.children_system
    return used.user + used.system, children, compiling.seconds


def pytest_configure() -> None:
    event.register("numba:compile", compiling)
    Path(os.environ["TAMIZ_COSTS"]).mkdir(parents=True, exist_ok=True)


def note(name: str, before: tuple[float, ...] = (0.0, 0.0, 0.0)) -> None:
    spent = [round(b - a, 3) for a, b in zip(before, clocks(), strict=True)]
    path = Path(os.environ["TAMIZ_COSTS"]) / f"{os.getpid()}.jsonl"
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps([name, *spent]) + "\n")


def pytest_collection_finish() -> None:
    note("collecting")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    before = clocks()
    answer = yield
    note(item.nodeid, before)
    return answer


def table(folder: Path, rows: int = 40) -> None:
    """What costs most, by file and by test."""
    files: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    tests: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for path in folder.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            name, own, children, compiled = json.loads(line)
            for sums in (files[name.partition("::")[0]], tests[name.partition("[")[0]]):
                for k, value in enumerate((own + children, children, compiled, 1)):
                    sums[k] += value
    heading = f"{'seconds':>9} {'children':>9} {'compiling':>9} {'cases':>6}"
    whole = [sum(column) for column in zip(*files.values(), strict=True)]
    for sums in ({"all": whole, **files}, tests):
        print(heading)
        for name in sorted(sums, key=lambda name: -sums[name][0])[:rows]:
            print("{:9.1f} {:9.1f} {:9.1f} {:6.0f}".format(*sums[name]), name)


if __name__ == "__main__":
    table(Path(sys.argv[1]))
