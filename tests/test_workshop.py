"""The workshop: light import, exports, version, nothing that ties us to a machine."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import re
import subprocess
import sys
import tomllib
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tamiz
from tests.conftest import ROOT, fewer_cases, pytest_collection_modifyitems

#: The command line is a program; these are for other rooms, or the former place of something.
NOT_FOR_USERS = {"cli", "display", "pictures", "reproduce", "routing", "runtime", "selector"}

#: What ``import tamiz`` makes reachable.
MODULES = sorted(
    module.name
    for module in pkgutil.iter_modules(tamiz.__path__)
    if not module.name.startswith("_") and module.name not in NOT_FOR_USERS
)

HEAVY = {"joblib", "matplotlib", "narwhals", "numba", "numpy", "pandas", "scipy", "sklearn"}

# Written so that these lines do not match themselves.
MACHINE_PATH = re.compile(r"(?<![\w.)}~-])/(?:work|root|home|Users)/")
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|anaconda\.org|npmjs\.org|crates\.io|docker\.io|ghcr\.io|quay\.io"
    r"|art[i]factory|--(?:extra-)?index[-]url|--find[-]links"
    r"|https?://(?:localhost|\d+\.\d+\.\d+\.\d+)",
    re.IGNORECASE,
)


def needs(*packages: str) -> pytest.MarkDecorator:
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


# ------------------------------------------------------------------------------------- the import


def test_import_takes_less_than_150_milliseconds_of_a_processor():
    """With Python's own start; the least of several, as other programs slow down the clock only."""

    def seconds() -> float:
        return float(run_python("import time, tamiz; print(time.process_time())"))

    assert min(seconds() for _ in range(5)) < 0.15


def test_import_loads_nothing_heavy():
    loaded = set(run_python("import sys, tamiz; print(*sys.modules, sep='\\n')").split())
    assert "tamiz" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", tamiz.__all__)
def test_public_name_resolves(name):
    value = getattr(tamiz, name)
    if isinstance(value, type):
        assert value.__name__ == name
        assert value.__doc__


def test_exports_are_listed_alike_in_all_three_places():
    tree = ast.parse(Path(tamiz.__file__).read_text(encoding="utf-8"))
    (for_checkers,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    ]
    seen_by_checkers = {
        alias.asname: statement.module
        for statement in for_checkers.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen_by_checkers == {**tamiz._HOME, **dict.fromkeys(MODULES, "tamiz")}
    assert sorted(tamiz.__all__) == sorted([*tamiz._HOME, "__version__"])


def test_modules_are_loaded_on_first_use_and_completion_shows_nothing_else():
    code = (
        "import sys, tamiz; print(*(m for m in sys.modules if m.startswith('tamiz'))); "
        f"print(*(getattr(tamiz, name).__name__ for name in {MODULES})); print(*dir(tamiz))"
    )
    before, names, shown = (line.split() for line in run_python(code).splitlines())
    assert before == ["tamiz"]
    assert names == [f"tamiz.{name}" for name in MODULES]
    public = [name for name in shown if not name.startswith("__")]
    assert public == sorted([*MODULES, *tamiz._HOME])


@pytest.mark.parametrize("name", MODULES)
def test_completion_of_a_package_shows_its_public_names_only(name):
    package = getattr(tamiz, name)
    if hasattr(package, "__path__"):
        assert dir(package) == sorted(package.__all__)
        assert all(hasattr(package, shown) for shown in package.__all__)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = tamiz.no_such_name


def test_version_matches_the_metadata():
    assert tamiz.__version__ == importlib.metadata.version("tamiz")


# ------------------------------------------------------------------------------- the files we keep


def project_files() -> list[Path]:
    """Files that git tracks or would track; without git, everything outside built folders."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        listed = [ROOT / name for name in done.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        listed = []
    if not listed:
        built = re.compile(r"(^|/)(\.git|\.venv|\.\w+_cache|\.hypothesis|__pycache__|_build)[^/]*/")
        listed = [p for p in ROOT.rglob("*") if not built.search(p.relative_to(ROOT).as_posix())]
    return sorted(path for path in listed if path.is_file())


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["path", "registry"])
def test_no_file_names_a_machine_or_a_registry(pattern):
    files = project_files()
    assert ROOT / "pyproject.toml" in files
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (MACHINE_PATH, "open('/{}/me/x.csv')".format("home")),
        (MACHINE_PATH, "cd /{}/main".format("work")),
        (REGISTRY, "https://{}.org/simple".format("pypi")),
        (REGISTRY, "pip install --index-{} x".format("url")),
    ],
)
def test_the_patterns_find_what_they_should(pattern, text):
    assert pattern.search(text)


# -------------------------------------------------------------------------------------- the shared


def test_d8_is_the_published_table(d8):
    assert d8.X.shape == (8, 3)
    assert d8.y.tolist() == [1, -1, -1, -1, 1, -1, 1, 1]
    assert d8.X[d8.y == 1].mean(axis=0)[:2].tolist() == [173.75, 82.5]
    assert d8.X[d8.y == -1].mean(axis=0)[:2].tolist() == [150.75, 78.25]
    np.testing.assert_allclose(d8.X[d8.y == 1].std(axis=0)[:2], [2.586, 2.2913], atol=5e-4)
    np.testing.assert_allclose(d8.X[d8.y == -1].std(axis=0)[:2], [2.586, 2.3848], atol=5e-4)


# -------------------------------------------------------------------------------- the run of tests


def items_of(file: str, test: str, n: int, **params: object) -> list[SimpleNamespace]:
    """What pytest collects for a test with so many cases."""
    path, callspec = ROOT / "tests" / file, SimpleNamespace(params=params)
    return [
        SimpleNamespace(path=path, originalname=test, name=f"{test}[{k}]", callspec=callspec)
        for k in range(n)
    ]


def test_fewer_cases_are_spread_over_all():
    many, few = items_of("test_a.py", "many", 10), items_of("test_a.py", "few", 3)
    assert list(fewer_cases([*many, *few], 3)) == [many[0], many[4], many[9], *few]
    assert list(fewer_cases(many, 1)) == many[:1]
    frames = items_of("data/test_a.py", "frames", 10)
    checks = items_of("qp/test_a.py", "checks", 10, estimator=None, check=None)
    assert list(fewer_cases([*frames, *checks], 3)) == [*frames, *checks]
    ours = items_of("qp/test_a.py", "every_check", 4, machine=1.0)
    others = items_of("qp/test_a.py", "every_check", 4, machine="a")
    assert list(fewer_cases([*ours, *others], 1)) == [ours[0], others[0]]


def test_of_our_own_arithmetic_stays_what_is_about_other_packages():
    file = "qp/test_a.py"
    first, own, frames, named = (items_of(file, name, 1) for name in ("a", "b", "c", "pipeline"))
    own[0].function, frames[0].function = lambda table: table, lambda frame: [frame for _ in "a"]
    assert list(fewer_cases([*first, *own, *frames, *named], 1)) == [*first, *frames, *named]
    for everything in ("data/test_a.py", "test_a.py"):
        both = [*items_of(everything, "a", 1), *items_of(everything, "b", 1)]
        assert list(fewer_cases(both, 1)) == both


def test_another_order_keeps_the_tests_of_a_file_together(monkeypatch):
    monkeypatch.delenv("TAMIZ_CASES", raising=False)
    items = [one for k in range(6) for one in items_of(f"qp/test_{k}.py", "test", 5)]
    orders = []
    for seed in ("1", "1", "2"):
        monkeypatch.setenv("TAMIZ_SHUFFLE", seed)
        order = items.copy()
        pytest_collection_modifyitems(None, order)
        assert order != items and {id(one) for one in order} == {id(one) for one in items}
        assert len([path for path, _ in groupby(one.path for one in order)]) == 6
        orders.append([one.path.name + one.name for one in order])
    assert orders[0] == orders[1] != orders[2]


def test_the_whole_run_has_a_time_limit(tmp_path):
    (tmp_path / "test_three.py").write_text(
        "import time, pytest\n@pytest.mark.parametrize('k', range(3))\n"
        "def test_it(k): time.sleep(0.2)\n",
        encoding="utf-8",
    )
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c"]
    for limit, words in (("0.1", "session-timeout: 0.1 sec exceeded"), ("600", "3 passed")):
        ini = tmp_path / "pytest.ini"
        ini.write_text(f"[pytest]\nsession_timeout = {limit}\n", encoding="utf-8")
        done = subprocess.run([*pytest_run, ini, tmp_path], capture_output=True, text=True)
        assert words in done.stdout
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert settings["pytest"]["ini_options"].keys() >= {"timeout", "session_timeout"}


# ---------------------------------------------------------------------------------- the newcomer


def test_quick_start_of_the_readme_runs(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    exec(compile(code, "README.md", "exec"), {})
    plt.close("all")
    printed = capsys.readouterr().out
    assert "<MRMR: 5 of 30 features: worst concave points" in printed
    assert re.search(r"<SVMRFE: \d+ of 30 features: worst area", printed)
    error = float(re.search(r"took no part: (\S+)", printed)[1])
    assert 0.01 < error < 0.05
    assert len(re.findall(r"^\d  .* True$", printed, flags=re.MULTILINE)) == 5


@pytest.mark.parametrize(
    "page",
    [
        "quick-start.md",
        "faq.md",
        "knockoffs.md",
        "migrating.md",
        "scaling.md",
        "shadows.md",
        "streaming-machines.md",
        "string-kernels.md",
        "tree-pruning.md",
        "trees.md",
        "nearest-neighbours.md",
        pytest.param("onnx.md", marks=needs("onnx", "onnxruntime")),
    ],
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)  # pages write files
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {})
    plt.close("all")


def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed: dict[str, set[str]] = {}
    for module, names in re.findall(r"currentmodule:: (\S+)(.*?)```", text, flags=re.DOTALL):
        listed.setdefault(module, set()).update(re.findall(r"^   (\w+)$", names, re.MULTILINE))
    listed["tamiz.persistence"] |= listed.pop("tamiz") - {"Selection"}  # save and load
    for module, names in listed.items():
        assert names == set(importlib.import_module(module).__all__), module
