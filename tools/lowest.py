"""Print the lowest version of every requirement in pyproject.toml, one ``name==bound`` per line.

Usage: python tools/lowest.py [EXTRA ...]

The project's own dependencies come first, then those of the extras named. An extra that refers
to other extras of the project (``tamiz[plot]``) is followed. Only the standard library is used,
so that the script runs before anything is installed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^]]*)\])?\s*(?P<bounds>[^;]*)")
BOUND = re.compile(r">=\s*(?P<version>[\w.!+]+)")


def lowest(project: dict, extras: list[str]) -> dict[str, str]:
    """Map each requirement of the project and of the extras to its lower bound."""
    found: dict[str, str] = {}
    optional = project.get("optional-dependencies", {})
    unknown = [extra for extra in extras if extra not in optional]
    if unknown:
        raise ValueError(f"pyproject.toml has no extra named {', '.join(unknown)}.")
    pending = [*project.get("dependencies", []), *(r for extra in extras for r in optional[extra])]
    followed = set(extras)
    while pending:
        requirement = pending.pop(0)
        match = REQUIREMENT.match(requirement)
        if match is None:
            raise ValueError(f"Cannot read the requirement {requirement!r} in pyproject.toml.")
        name = match["name"]
        if name == project["name"]:
            for extra in (e.strip() for e in (match["extras"] or "").split(",")):
                if extra and extra not in followed:
                    followed.add(extra)
                    pending.extend(optional[extra])
            continue
        bound = BOUND.search(match["bounds"])
        if bound is None:
            raise ValueError(f"{requirement!r} in pyproject.toml has no lower bound (>=).")
        if found.setdefault(name, bound["version"]) != bound["version"]:
            raise ValueError(f"pyproject.toml names two lower bounds for {name}.")
    return found


def main() -> int:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    try:
        bounds = lowest(project, sys.argv[1:])
    except ValueError as error:
        print(f"lowest.py: {error}", file=sys.stderr)
        return 1
    for name, version in bounds.items():
        print(f"{name}=={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
