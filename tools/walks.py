"""Count the files that a reader passes on four walks through the package.

    python tools/walks.py                 this tree
    python tools/walks.py OTHER/src       another one, for comparison

A file is passed if a function in it is called; a hop is a pair of files of which one calls the
other. Each walk is made once before it is counted, so that imports and compilation have no part in
it. Compiled functions are not seen, as they do not call Python.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]


class SelectorReached(BaseException):
    """The walk ends here."""


class Walk:
    """The files of the package that are passed while a function runs."""

    def __init__(self, home: str, until_selector: bool = False):
        self.home, self.until_selector = home, until_selector
        self.files: set[str] = set()
        self.hops: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(self.home):
            return
        if self.until_selector and frame.f_code.co_name == "fit":
            kind = type(frame.f_locals.get("self"))
            if any(parent.__name__ == "Selector" for parent in kind.__mro__):
                raise SelectorReached
        self.files.add(name)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(self.home):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != name:
            self.hops.add((caller.f_code.co_filename, name))

    def of(self, function: Callable[[], Any]) -> dict[str, int]:
        """Run the function; how many files and hops there were."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            function()
        except SelectorReached:
            pass
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
        return {"files": len(self.files), "hops": len(self.hops)}


def measure() -> dict[str, dict[str, int]]:
    """All walks, in this process."""
    import tamiz
    from tamiz.cli import main

    home = f"{pathlib.Path(tamiz.__file__).parent}{os.sep}"

    def select() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(["select", "breast_cancer", "--quiet"])

    select()
    loaded = sum(name.split(".")[0] == "tamiz" for name in sys.modules)
    there = sum(1 for _ in pathlib.Path(home).rglob("*.py"))
    found = {
        "modules that tamiz select imports": {"files": loaded, "in all": there},
        "tamiz select, to the first selector": Walk(home, until_selector=True).of(select),
    }
    from sklearn.datasets import load_breast_cancer

    from tamiz import SVC, SVMRFE

    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200] / X.std(axis=0), y[:200]
    for machine, name in ((SVC(), "SVC().fit"), (SVMRFE(kernel="rbf"), 'SVMRFE(kernel="rbf").fit')):
        machine.fit(X, y)
        found[name] = Walk(home).of(lambda machine=machine: machine.fit(X, y))
    return found


def main() -> None:
    source = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src"
    if os.environ.get("TAMIZ_WALKS") != "1":
        environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "TAMIZ_WALKS": "1"}
        command = [sys.executable, __file__, *sys.argv[1:]]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        for name, counts in json.loads(done.stdout).items():
            print(f"{name:40}", ", ".join(f"{count} {what}" for what, count in counts.items()))
        return
    print(json.dumps(measure()))


if __name__ == "__main__":
    main()
