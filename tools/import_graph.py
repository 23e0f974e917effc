"""Draw which rooms of the package import which, as docs/design/rooms.svg.

    python tools/import_graph.py            write the picture and print the table behind it

A room is a module or sub-package of ``tamiz``; rooms stand in the order of the import contract of
pyproject.toml, highest first. A number says in how many modules of the row's room something of the
column's room is imported. Imports point one way: nothing stands to the left of the diagonal, except
between rooms of one floor. Imports for type checkers only are left out, as in the contract.
"""

from __future__ import annotations

import ast
import collections
import math
import pathlib
import tomllib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "tamiz"
PICTURE = ROOT / "docs" / "design" / "rooms.svg"


def floors() -> list[list[str]]:
    """Rooms by floor, as the contract lists them."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    split = (line.replace("|", ":").split(":") for line in layers)
    return [[name.strip(" ()") for name in names] for names in split]


def imports(tree: ast.AST) -> Iterator[str]:
    """Names of modules that are imported when the code runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            yield from imports(node)


def edges() -> collections.Counter[tuple[str, str]]:
    """How many modules of one room import from another."""
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):
            continue
        names = {n for n in imports(ast.parse(path.read_text("utf-8"))) if n.startswith("tamiz.")}
        for other in {name.split(".")[1] for name in names} - {room}:
            found[room, other] += 1
    return found


def draw(rooms: list[list[str]], found: collections.Counter[tuple[str, str]]) -> str:
    """The picture as SVG: a row for each room, a column for each that it imports from."""
    names = [name for floor in rooms for name in floor]
    cell, left, top = 34.0, 120.0, 110.0
    parts = []
    for k, name in enumerate(names):
        y, x = top + cell * (k + 0.5), left + cell * (k + 0.5)
        parts.append(f'<text x="{left - 8:.0f}" y="{y + 5:.0f}" text-anchor="end">{name}</text>')
        parts.append(
            f'<text transform="translate({x + 5:.0f} {top - 8:.0f}) rotate(-60)">{name}</text>'
        )
        parts.append(
            f'<rect x="{x - cell / 2:.0f}" y="{y - cell / 2:.0f}" width="{cell:.0f}"'
            f' height="{cell:.0f}" fill="#d8d8d8"/>'
        )
        for j, other in enumerate(names):
            count = found[name, other]
            if count:
                x = left + cell * (j + 0.5)
                strength = 0.15 + 0.85 * min(1.0, math.log2(1 + count) / 6)
                dark = "#ffffff" if strength > 0.55 else "#111111"
                parts.append(
                    f'<rect x="{x - cell / 2 + 1:.0f}" y="{y - cell / 2 + 1:.0f}"'
                    f' width="{cell - 2:.0f}" height="{cell - 2:.0f}" fill="#1b6ca8"'
                    f' fill-opacity="{strength:.2f}"><title>{name} imports from {other} in {count}'
                    f' modules</title></rect><text x="{x:.0f}" y="{y + 5:.0f}" fill="{dark}"'
                    f' text-anchor="middle" font-size="12" pointer-events="none">{count}</text>'
                )
    side = cell * len(names)
    for k in range(len(names) + 1):
        at = cell * k
        parts.append(
            f'<path d="M{left:.0f} {top + at:.0f}h{side:.0f}M{left + at:.0f} {top:.0f}v{side:.0f}"'
            ' stroke="#cccccc" stroke-width="0.6" fill="none"/>'
        )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg"'
        f' viewBox="0 0 {left + side + 60:.0f} {top + side + 12:.0f}"'
        ' font-family="sans-serif" font-size="14" fill="#111111">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def main() -> None:
    rooms, found = floors(), edges()
    PICTURE.write_text(draw(rooms, found), encoding="utf-8")
    for (here, there), count in sorted(found.items()):
        print(f"{here:12} -> {there:12} {count:4}")
    print(f"{len(found)} pairs of {sum(map(len, rooms))} rooms: {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
