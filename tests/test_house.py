"""How the package is laid out: who imports what from whom, and names that mean one thing."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import tamiz

pytestmark = pytest.mark.ours

SRC = Path(tamiz.__file__).parent


def name_of(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """Every file of the package, parsed: not while tests are collected, which every worker does."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SRC.rglob("*.py"))}


@pytest.fixture(scope="module")
def modules(trees) -> set[str]:
    return {name_of(path) for path in trees}


def imported(tree: ast.Module) -> set[str]:
    """Full names of what a module of the package imports from the package."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tamiz":
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.split(".")[0] == "tamiz"}
    return found


def reaches_in(module: str, target: str) -> bool:
    """Whether ``target`` is, or is in, a private module of a package that ``module`` is not in."""
    parts = target.split(".")
    for k, part in enumerate(parts[1:], start=1):
        if part.startswith("_") and not part.startswith("__"):
            owner = ".".join(parts[:k])
            return owner != "tamiz" and module != owner and not module.startswith(f"{owner}.")
    return False


def test_private_modules_are_imported_inside_their_package_only(trees, modules):
    found = [
        f"{name_of(path)} imports {target}"
        for path, tree in trees.items()
        for target in sorted(imported(tree) & modules)
        if reaches_in(name_of(path), target)
    ]
    assert not found, "\n".join(found)


def test_a_private_module_of_another_package_would_be_found():
    assert reaches_in("tamiz.cli.fit", "tamiz.search._records")
    assert not reaches_in("tamiz.search.genetic", "tamiz.search._records")
    assert not reaches_in("tamiz.search", "tamiz.search._records")


def test_validation_is_imported_as_a_package(trees, modules):
    found = [
        f"{name_of(path)} imports {target}"
        for path, tree in trees.items()
        if path.parent.name != "validation"
        for target in sorted(imported(tree) & modules)
        if target.startswith("tamiz.validation.")
    ]
    assert not found, "\n".join(found)


def test_no_four_files_of_a_folder_share_a_prefix(trees):
    groups = Counter(
        (path.parent.relative_to(SRC).as_posix(), path.stem.lstrip("_").split("_")[0])
        for path in trees
        if "_" in path.stem.lstrip("_")
    )
    found = [f"{folder}/{prefix}_*: {n}" for (folder, prefix), n in groups.items() if n > 3]
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def shared_names(trees) -> dict[str, list[str]]:
    classes = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name.lstrip("_")].append(name_of(path))
    return {name: places for name, places in classes.items() if len(places) > 2}


def test_no_three_classes_share_a_name(shared_names):
    found = [f"{name}: {', '.join(places)}" for name, places in shared_names.items()]
    assert not found, "\n".join(found)


def test_compiled_functions_are_declared_by_our_own_decorator(trees):
    """numba's own cache does not see what a function depends on (tamiz.runtime.compiling)."""
    wrong = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path, tree in trees.items()
        if path.name != "compiling.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").partition(".")[0] == "numba"
        and {"njit", "jit"} & {alias.name for alias in node.names}
    ]
    assert wrong == []


def test_lazy_packages_name_the_same_modules_for_checkers_and_for_use(trees):
    for path, tree in trees.items():
        tables = [
            node.value.args[1]
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and getattr(node.value.func, "id", "") == "lazy_names"
        ]
        if not tables:
            continue
        package = ".".join(("tamiz", *path.parent.relative_to(SRC).parts))
        package = package.replace("tamiz.tamiz", "tamiz")
        used = {
            (package + home if home.startswith(".") else home, name)
            for home, names in ast.literal_eval(tables[0]).items()
            for name in names.split()
        }
        seen = {
            (statement.module, alias.name)
            for node in tree.body
            if isinstance(node, ast.If)
            for statement in node.body
            if isinstance(statement, ast.ImportFrom)
            for alias in statement.names
        }
        assert used == seen, path
