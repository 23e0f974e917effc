"""What stands around the package: requirements, recipes and workflows agree with pyproject.toml."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import tamiz

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
EXTRAS = PROJECT["optional-dependencies"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
}


# ------------------------------------------------------------------------------------ lower bounds


def lowest(*names: str) -> dict[str, str]:
    command = [sys.executable, str(ROOT / "tools" / "lowest.py"), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(line.split("==") for line in done.stdout.splitlines())


def requirements(*names: str) -> list[Requirement]:
    """The requirements of the project, of extras and of groups, included groups as well."""
    found = list(map(Requirement, PROJECT["dependencies"]))
    for name in names:
        for one in (EXTRAS | GROUPS)[name]:
            if isinstance(one, dict):
                found += requirements(one["include-group"])
            else:
                found.append(Requirement(one))
    return found


@pytest.mark.parametrize(
    "names", [(), ("dask", "frames", "onnx", "plot", "test"), ("dev",), (*EXTRAS, *GROUPS)]
)
def test_lowest_agrees_with_pyproject(names):
    printed = lowest(*names)
    expected = requirements(*names)
    assert set(printed) == {requirement.name for requirement in expected}
    for requirement in expected:
        (bound,) = [s.version for s in requirement.specifier if s.operator == ">="]
        assert Version(printed[requirement.name]) == Version(bound)
        assert requirement.specifier.contains(printed[requirement.name])


def test_extras_are_for_users_and_groups_for_the_work_on_tamiz():
    assert set(EXTRAS) == {"plot", "frames", "dask", "gpu", "onnx"}
    included = {one["include-group"] for one in GROUPS["dev"] if isinstance(one, dict)}
    assert included == set(GROUPS) - {"dev"}
    for names in re.findall(r"--group (\w+)", MAKEFILE):
        assert names in GROUPS
    for names in re.findall(r'"\.\[([\w,]+)\]"', MAKEFILE):
        assert set(names.split(",")) <= set(EXTRAS)


# -------------------------------------------------------------------------------- other packagings


def test_the_conda_recipe_needs_what_pyproject_needs():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == tamiz.__version__
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"
    python, *others = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert [one.replace(" ", "") for one in others] == [str(one) for one in requirements()]
    host = [one.replace(" ", "") for one in recipe["requirements"]["host"]]
    assert host[2:] == PYPROJECT["build-system"]["requires"]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"tamiz = {PROJECT['scripts']['tamiz']}"


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == tamiz.__version__


def test_the_image_is_built_from_what_it_copies():
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    needed = ["src", "pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]]
    assert {f"!{name}" for name in needed} <= set(sent)
    assert all((ROOT / name).exists() for name in needed)


# --------------------------------------------------------------------------------------- workflows


def test_workflows_test_every_version_on_every_system():
    said = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    matrix = WORKFLOWS["ci.yml"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == said
    assert said[0] == PROJECT["requires-python"].removeprefix(">=")
    systems = {"ubuntu-latest", "macos-latest", "windows-latest"}
    assert set(matrix["os"]) == systems
    assert {one["os"] for one in matrix["include"] if one["versions"] == "lowest"} == systems


def test_workflows_install_what_the_makefile_installs():
    (for_tests,) = re.findall(r"^FOR_TESTS *:= (.*)$", MAKEFILE, flags=re.MULTILINE)
    steps = WORKFLOWS["ci.yml"]["jobs"]["test"]["steps"]
    installing = [step["run"] for step in steps if "--group" in step.get("run", "")]
    assert len(installing) == 2
    assert all(for_tests in run for run in installing)


def test_workflows_test_the_lowest_versions_as_the_makefile_does():
    (recipe,) = re.findall(r"^test-lowest:.*\n((?:\t.*\n)+)", MAKEFILE, flags=re.MULTILINE)
    (step,) = [
        step
        for step in WORKFLOWS["ci.yml"]["jobs"]["test"]["steps"]
        if step.get("name") == "Test, lowest versions"
    ]
    for option in re.findall(r'-m "not [^"]*"|--[a-z]+[= ][\w/.]+', recipe.partition("pytest")[2]):
        assert option in step["run"], option
    for name, value in re.findall(r'(TAMIZ_\w+)=("[^"]*"|\w+)', recipe):
        assert step["env"][name] == value.strip('"'), name


def test_actions_are_pinned_and_have_no_more_rights_than_they_need():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}, name
        for job in workflow["jobs"].values():
            assert job.get("permissions", {}) in ({}, {"id-token": "write"})
            assert job["timeout-minutes"]
            for step in job["steps"]:
                assert re.search(r"@[0-9a-f]{40}$", step.get("uses", "@" + 40 * "0")), step
    publish = WORKFLOWS["publish.yml"]["jobs"]["publish"]
    assert publish["environment"] == "release"
    assert not any("password" in step.get("with", {}) for step in publish["steps"])


@pytest.mark.parametrize("name", ["bug.yml", "config.yml", "idea.yml"])
def test_forms_for_issues_can_be_read(name):
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE" / name).read_text(encoding="utf-8"))
    fields = [part["id"] for part in form.get("body", []) if part["type"] != "markdown"]
    assert len(fields) == len(set(fields))
