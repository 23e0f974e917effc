"""What all tests share: where the data are, the eight-row data set, hypothesis settings."""

from __future__ import annotations

import errno
import gc
import io
import os
import random
import re
import signal
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when SciPy is imported; see checks.py
# onnxruntime reports its use to its makers as soon as it is imported; where the home cannot be
# written, it also leaves a file `:memory:.ses` in the checkout.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import hypothesis
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent

# No deadline: the first example of a test may compile. The examples are new ones in every run,
# except where the same commit must always get the same verdict.
hypothesis.settings.register_profile("new examples", deadline=None)
hypothesis.settings.register_profile("same examples", deadline=None, derandomize=True)
hypothesis.settings.register_profile(
    "few examples", deadline=None, derandomize=True, max_examples=20
)
hypothesis.settings.load_profile(os.environ.get("TAMIZ_HYPOTHESIS", "new examples"))

# A process started in the background of a script ignores SIGINT, and so would what it starts: tests
# of Ctrl-C need the usual handler.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.pop("TAMIZ_DATA", None)  # the packaged data sets, whatever folder the user has


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Fewer cases if ``TAMIZ_CASES`` is a number; another order if ``TAMIZ_SHUFFLE`` is a seed."""
    if cases := int(os.environ.get("TAMIZ_CASES", 0)):
        kept = set(fewer_cases(items, cases))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    if seed := os.environ.get("TAMIZ_SHUFFLE"):
        draw = random.Random(seed)
        files = {item.path: draw.random() for item in items}
        items.sort(key=lambda item: (files[item.path], draw.random()))


def pytest_collection_finish() -> None:
    """What was imported stays: looking through it for garbage again and again takes seconds."""
    gc.freeze()


#: Where each case is about other packages: frames, files, processes, options.
ALL_CASES = {"cli", "data", "onnx", "runtime", "scale", "validation", "test_persistence.py"}

#: Elsewhere, a test that says one of these names is about other packages, too.
OTHERS = re.compile(
    r"pd|pl|pandas|polars|pyarrow|frames?|to_pandas|to_polars|.*sparse.*|cs[cr]_.*|coo_.*|set_output"
    r"|pickle|dumps|loads|joblib|dask.*|client|Parallel|parallel_config|.*check.*|clone|get_params"
    r"|set_params|get_tags|.*pipeline|.*Pipeline|FeatureUnion|ColumnTransformer|.*SearchCV|cross_val_.*"
    r"|get_feature_names_out|.*routing.*|linprog|milp|minimize|plt|Figure|.*plot.*|savefig|without"
    r"|.*interrupt.*|.*ctrl_c.*"
)
#: What else makes it so: the packages that things come from, but for what nearly every test has.
PACKAGES = re.compile(
    r"(sklearn|scipy|pandas|polars|pyarrow|numba|joblib|dask|matplotlib)\b(?!\.datasets)"
)
EVERYWHERE = {"StandardScaler", "scale"}


def fewer_cases(items: list[pytest.Item], most: int) -> Iterator[pytest.Item]:
    """What depends on versions, and of a test with many cases so many, from the first to the last.

    All cases of what is in ``ALL_CASES`` stay, and every test of a file beside the folders. In the
    other folders, where our own arithmetic is tested, stay those that say a name of ``OTHERS`` or
    of something that comes from another package, scikit-learn's checks (so many of each class of
    estimators), interruptions, and the first test of each file.
    That all is compiled, and agrees with plain loops, is seen by these and by a fit of every
    estimator to every kind of table (``cli/test_compile.py``).
    """
    functions: dict[Any, list[pytest.Item]] = {}
    files = set()
    for item in items:
        name = getattr(item, "originalname", item.name)
        params = getattr(getattr(item, "callspec", None), "params", {})
        kinds = tuple(type(value) for value in params.values()) if "check" in name else ()
        alone = item.name if "check" in params else None
        functions.setdefault((item.path, name, kinds, alone), []).append(item)
    for (path, *_), cases in functions.items():
        room, *inside = path.relative_to(ROOT).parts[1:]
        if room in ALL_CASES:
            yield from cases
        elif not inside or path not in files or is_about_others(cases[0]):
            step = (len(cases) - 1) / (most - 1) if most > 1 else 0
            yield from (cases[round(k * step)] for k in range(min(most, len(cases))))
        files.add(path)


def is_about_others(item: pytest.Item) -> bool:
    """Whether a test says a name of ``OTHERS``, or one that stands for part of another package."""
    known = getattr(getattr(item, "module", None), "__dict__", {})
    for name in said(item):
        thing = known.get(name)
        home = getattr(thing, "__module__", None) or getattr(thing, "__name__", "")
        if OTHERS.fullmatch(name) or (PACKAGES.match(str(home)) and name not in EVERYWHERE):
            return True
    return False


def said(item: pytest.Item) -> Iterator[str]:
    """The names that a test says: its own, those of its fixtures, variables and attributes."""
    function = getattr(item, "function", None)
    function = getattr(getattr(function, "hypothesis", None), "inner_test", function)
    yield getattr(item, "originalname", item.name)
    codes = [code] if (code := getattr(function, "__code__", None)) else []
    while codes:
        code = codes.pop()
        yield from (*code.co_names, *code.co_varnames)
        codes += [one for one in code.co_consts if isinstance(one, CodeType)]


@pytest.fixture(autouse=True)
def same_draws() -> None:
    """Whatever has no seed of its own draws the same numbers in every run, ours and peers."""
    np.random.seed(0)  # noqa: NPY002 (that is what draws where random_state is None)


@pytest.fixture(autouse=True)
def no_figures_left() -> Iterator[None]:
    """Figures of a test do not stay for those after it, which Matplotlib would warn of."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """Jobs that are no longer needed end before the next test, whose filters of warnings theirs,
    which belong to the whole process, would set back."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if "worker" in thread.name:  # of tamiz, of joblib
            thread.join(60)


@contextmanager
def little_memory(most: int) -> Iterator[None]:
    """Inside, this process must not need so many bytes more than before, at any time.

    The system's highest mark of the process is set back first, where it can be: a test after one
    that took much could not fail otherwise. Elsewhere only what Python and NumPy take is counted.
    """
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")

    def kilobytes(name: str) -> int:
        return int(status.read_text(encoding="utf-8").split(f"{name}:")[1].split()[0])

    try:
        reset.write_text("5", encoding="utf-8")
        before = kilobytes("VmRSS")
    except (OSError, IndexError):
        tracemalloc.start()
        try:
            yield
            taken = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    else:
        yield
        taken = 1024 * (kilobytes("VmHWM") - before)
    assert taken < most, f"{taken:,} bytes were taken"


@pytest.fixture
def thrifty() -> Iterator[None]:
    """Meanwhile this process must not need much more memory, however small its files are."""
    with little_memory(1 << 28):
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the packaged data sets, for tests that read their files otherwise."""
    from tamiz.data.named import PACKAGED

    return PACKAGED


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A client of two worker processes, for all tests of this process that ask for it."""
    from tests.clusters import two_workers

    with two_workers() as client:
        yield client


@pytest.fixture
def client(dask_client: Any) -> Iterator[Any]:
    """The same, as the active client of one test, with both workers there."""
    from tests.clusters import both_there

    with both_there(dask_client):
        yield dask_client


class Screen(io.StringIO):
    """A stream that is a terminal, or is none."""

    def __init__(self, terminal: bool):
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Clock:
    """The clock of progress lines and time limits, which a test moves by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.step = 0.0  #: seconds that pass with every look that the test's own thread takes
        self._owner = threading.get_ident()

    def __call__(self) -> float:
        # threads that wait look as often as real time lets them: they do not move it
        if threading.get_ident() == self._owner:
            self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stands in for ``time.perf_counter``; it stands still until a test moves it."""
    import_module("numba.core.event")  # keeps the clock that it finds, and looks at it often
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


@pytest.fixture
def save_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints are written after every step, not only every few seconds."""
    from tamiz.runtime.checkpoint import Checkpoint

    monkeypatch.setitem(Checkpoint.save.__kwdefaults__, "now", True)


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``limits(module, NAME=value)``: constants that small data would never reach."""

    def set_to(module: Any, **values: Any) -> None:
        module = import_module(module) if isinstance(module, str) else module
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)

    return set_to


@pytest.fixture
def free_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """``free_memory(n)``: so many bytes are free, whatever the machine has."""

    def set_to(n_bytes: int) -> None:
        monkeypatch.setenv("TAMIZ_FREE_MEMORY", str(n_bytes))

    return set_to


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``without("pyarrow")``: as if these packages were not installed."""

    def hide(*names: str) -> None:
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return hide


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``full_disk("fsync")``: that function of ``os`` finds no space left on the device."""

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return lambda name: monkeypatch.setattr(os, name, fail)


class D8(NamedTuple):
    """Eight people, tall (+1) or short (-1)."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]


@pytest.fixture
def d8() -> D8:
    """Height in cm, weight in kg and noise of eight people; a fresh copy for every test."""
    rows = [
        (170, 85, 0.011, +1),
        (147, 75, 0.340, -1),
        (150, 77, 0.034, -1),
        (154, 81, 0.092, -1),
        (175, 79, 0.065, +1),
        (152, 80, 0.358, -1),
        (173, 82, 0.360, +1),
        (177, 84, 0.757, +1),
    ]
    table = np.array(rows, dtype=float)
    return D8(table[:, :3].copy(), table[:, 3].astype(int), ("height", "weight", "noise"))
