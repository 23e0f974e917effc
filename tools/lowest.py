"""Print the lowest version of every requirement in pyproject.toml, one ``name==bound`` per line.

Usage: python tools/lowest.py [NAME ...]

The project's own dependencies come first, then those of the extras and dependency groups named. A
group that includes other groups is followed. Only the standard library is used, so that the script
runs before anything is installed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?:\[[^]]*\])?\s*(?P<bounds>[^;]*)")
BOUND = re.compile(r">=\s*(?P<version>[\w.!+]+)")


def lowest(document: dict, names: list[str]) -> dict[str, str]:
    """Map each requirement of the project and of its extras and groups to its lower bound."""
    project = document["project"]
    known = {**project.get("optional-dependencies", {}), **document.get("dependency-groups", {})}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"pyproject.toml has no extra and no group named {', '.join(unknown)}.")
    pending = [*project.get("dependencies", []), *(r for name in names for r in known[name])]
    found: dict[str, str] = {}
    while pending:
        requirement = pending.pop(0)
        if isinstance(requirement, dict):
            pending.extend(known[requirement["include-group"]])
            continue
        match = REQUIREMENT.match(requirement)
        if match is None:
            raise ValueError(f"Cannot read the requirement {requirement!r} in pyproject.toml.")
        bound = BOUND.search(match["bounds"])
        if bound is None:
            raise ValueError(f"{requirement!r} in pyproject.toml has no lower bound (>=).")
        if found.setdefault(match["name"], bound["version"]) != bound["version"]:
            raise ValueError(f"pyproject.toml names two lower bounds for {match['name']}.")
    return found


def main() -> int:
    document = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    try:
        bounds = lowest(document, sys.argv[1:])
    except ValueError as error:
        print(f"lowest.py: {error}", file=sys.stderr)
        return 1
    for name, version in bounds.items():
        print(f"{name}=={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
