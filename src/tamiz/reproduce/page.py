"""A reproduction as tables in Markdown, for a page."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from tamiz.reproduce.base import Row
from tamiz.reproduce.show import cells

if TYPE_CHECKING:
    from tamiz.reproduce.reproduce import Reproduction

_MANY = 12  # rows from which groups with the same rows share a table
_LONG = 7  # lines up to which a table stays open
_SIZE = re.compile(r"(?P<name>.*), (?P<size>\d+) features$")

Table = list[list[str]]


def markdown(reproduction: Reproduction) -> str:
    """Protocol, tables in the order of the rows, and the remarks they lead to."""
    marks: dict[str, int] = {}
    done = ", ".join(f"{name} {n}" for name, n in reproduction.repeats.items())
    blocks = [
        f"*Data.* {reproduction.data}.",
        f"*Protocol.* {reproduction.protocol}",
        f"*Repeats.* {done}. {' '.join(reproduction.notes)}".rstrip(),
    ]
    for groups in _bundles(reproduction.rows):
        judged = [row.inside for rows in groups.values() for row in rows if row.inside is not None]
        table = _table(groups, marks)
        title = next(iter(groups)) if len(groups) == 1 else ", ".join(groups)
        if judged:
            title += f": {sum(judged)} of {len(judged)} inside"
        text = "\n".join(f"| {' | '.join(line)} |" for line in table)
        if len(table) > _LONG or not judged:
            text = f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"
        else:
            text = f"**{title}**\n\n{text}"
        blocks.append(text)
    if marks:
        blocks.append("\n".join(f"{mark}. {_sentence(text)}" for text, mark in marks.items()))
    return "\n\n".join(blocks)


def _bundles(rows: list[Row]) -> list[dict[str, list[Row]]]:
    """Groups of rows; neighbours with the same many rows together, as columns of one table."""
    bundles: list[dict[str, list[Row]]] = []
    for group, members in groupby(rows, key=lambda row: row.group):
        lines = list(members)
        last = next(iter(bundles[-1].values())) if bundles else []
        same = [row.what for row in lines] == [row.what for row in last]
        verdicts = {row.inside is None for row in (*lines, *last)}
        if same and len(lines) >= _MANY and len(verdicts) == 1:
            bundles[-1][group] = lines
        else:
            bundles.append({group: lines})
    return bundles


def _table(groups: dict[str, list[Row]], marks: dict[str, int]) -> Table:
    """Lines of cells, the heading and the rule first."""
    (first, *_), columns = groups.values(), list(groups.values())
    if all(row.published is None and _SIZE.match(row.what) for row in first):
        body = _curves(first)
    elif len(groups) > 1:
        body = [["", *groups]]
        for k, row in enumerate(first):
            body.append([row.what, *(_short(column[k], marks) for column in columns)])
    else:
        body = [["", "ours", "central 95 %", "published", "inside?"]]
        body += [_bold(cells(row, marks)) for row in first]
    return [body[0], ["---"] * len(body[0]), *body[1:]]


def _curves(rows: list[Row]) -> Table:
    """Our means by method and number of features."""
    means: dict[str, dict[str, str]] = {}
    for row in rows:
        match = _SIZE.match(row.what)
        assert match is not None
        means.setdefault(match["name"], {})[match["size"]] = f"{row.mean:.1f}"
    sizes = list(next(iter(means.values())))
    return [["features", *sizes], *([name, *values.values()] for name, values in means.items())]


def _short(row: Row, marks: dict[str, int]) -> str:
    """Our interval; the published number, bold if it is outside."""
    ours, between, published, said = cells(row, marks)[1:]
    mark = _round(said.removeprefix("NO").removeprefix("yes").strip())
    text = f"**{published}**" if row.inside is False else published
    return f"{between if row.n > 1 else ours}; {text} {mark}".rstrip()


def _bold(line: list[str]) -> list[str]:
    return [*line[:-1], _round(line[-1]).replace("NO", "**no**")]


def _round(said: str) -> str:
    """Marks in round brackets: square ones make links in Markdown."""
    return said.replace("[", "(").replace("]", ")")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
