"""A reproduction as a table of text, as tables in Markdown for a page, and as a picture."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tamiz.display import PALETTE, text_table
from tamiz.display import axes as new_axes
from tamiz.reproduce.base import Row

if TYPE_CHECKING:
    from tamiz.reproduce.reproduce import Reproduction


_WIDTH = 100
#: Colour and words for a published number.
_VERDICTS = {True: ("0.1", ", inside"), False: (PALETTE[1], ", outside"), None: ("0.6", "")}
_ANSWERS = {True: "yes", False: "no", None: "open"}
_HEADS = ("", "ours", "central 95 %", "published", "inside?")


def table(reproduction: Reproduction) -> str:
    """Readable lines: a heading, the protocol, and the rows by group."""
    form = "quick form" if reproduction.quick else "full form"
    done = ", ".join(f"{name} {n}" for name, n in reproduction.repeats.items())
    lines = [f"{reproduction.name}  {reproduction.title} ({form})", ""]
    about = (
        f"Source: {reproduction.source}",
        f"Data: {reproduction.data}",
        f"Protocol: {reproduction.protocol}",
        f"Repeats: {done}; {reproduction.seconds:.0f} s; random_state {reproduction.random_state}.",
        *reproduction.notes,
    )
    for text in about:
        lines += textwrap.wrap(text, _WIDTH, subsequent_indent="  ")
    marks: dict[str, int] = {}  # one footnote for a remark, however many rows share it
    body = [
        [f"  {line[0]}", *line[1:]] for line in (cells(row, marks) for row in reproduction.rows)
    ]
    head, rule, *rows = text_table(_HEADS, body, rule=True, separator=" | ")
    lines += ["", head, rule]
    shown = iter(rows)
    for group, members in groupby(reproduction.rows, key=lambda row: row.group):
        lines += ["", group, *(next(shown) for _ in members)]
    judged = sum(row.inside is not None for row in reproduction.rows)
    outside = len(reproduction.outside)
    lines += ["", f"{judged - outside} of {judged} inside, {outside} outside."]
    for remark, mark in marks.items():
        lines += textwrap.wrap(f"[{mark}] {remark}", _WIDTH, subsequent_indent="    ")
    return "\n".join(lines)


def cells(row: Row, marks: dict[str, int]) -> list[str]:
    """The five cells of a row; its remark gets a number among the ``marks``."""
    digits = row.decimals
    finer = max(digits, 1)  # of counts the mean is none
    ours = f"{row.mean:.{finer}f}"
    if row.sd is not None:
        ours += f" ± {row.sd:.{finer}f}"
    between = f"{row.low:.{digits}f} to {row.high:.{digits}f}" if row.n > 1 else "one value"
    published = row.claim or "–"
    if row.published is not None:
        published = f"{row.published:.{digits}f}"
        if row.published_sd is not None:
            published += f" ± {row.published_sd:g}"
    said = {True: "yes", False: "NO", None: "open" if row.claim else ""}[row.inside]
    if row.remark:
        said += f" [{marks.setdefault(row.remark, len(marks) + 1)}]"
    return [row.what, ours, between, published, said.strip()]


# -------------------------------------------------------------------------------------- picture


def draw(reproduction: Reproduction, ax: Any, group: str | None) -> Any:
    """Intervals as bars, published numbers as marks."""
    groups: dict[str, list[Row]] = {}
    for row in reproduction.rows:
        groups.setdefault(row.group, []).append(row)
    if group is not None and group not in groups:
        raise ValueError(f"group={group!r} is none of {', '.join(map(repr, groups))}.")
    if ax is not None or group is not None:
        chosen = next(iter(groups)) if group is None else group
        ax = new_axes(ax, height=1.2 + 0.24 * len(groups[chosen]))
        _panel(ax, chosen, groups[chosen])
        ax.legend(
            fontsize="x-small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False
        )
        ax.set_title(f"{reproduction.name}: {reproduction.title}", size="medium", pad=20)
        return ax
    heights = [len(rows) + 2.5 for rows in groups.values()]
    first = new_axes(height=0.6 + 0.22 * sum(heights))
    figure = first.figure
    first.remove()
    axes = figure.subplots(len(groups), 1, height_ratios=heights, squeeze=False)
    for panel, (name, rows) in zip(axes[:, 0], groups.items(), strict=True):
        _panel(panel, name, rows)
    handles: dict[str, Any] = {}
    for panel in axes[:, 0]:
        drawn, labels = panel.get_legend_handles_labels()
        handles |= dict(zip(labels, drawn, strict=True))
    figure.legend(
        handles.values(), handles, fontsize="x-small", loc="outside lower center", ncols=4
    )
    figure.suptitle(f"{reproduction.name}: {reproduction.title}", size="medium")
    return axes[:, 0]


def _panel(ax: Any, group: str, rows: list[Row]) -> None:
    """Rows from top to bottom; published numbers outside our interval in another colour."""
    labelled: set[str] = set()
    for k, row in enumerate(rows):
        ax.plot(
            [row.low, row.high], [k, k], color=PALETTE[0], lw=4, alpha=0.45, solid_capstyle="butt",
            label=_once("our central 95 %", labelled),
        )  # fmt: skip
        ax.plot(row.mean, k, "|", color=PALETTE[0], ms=9, mew=2, label=_once("our mean", labelled))
        if row.published is not None:
            color, where = _VERDICTS[row.inside]
            label = _once(f"published{where}", labelled)
            ax.plot(row.published, k, "D", color=color, ms=4.5, label=label)
        if row.claim:
            said = f"{row.claim}: {_ANSWERS[row.inside]}"
            color = _VERDICTS[row.inside][0]
            ax.annotate(
                said, (row.high, k), xytext=(5, 0), textcoords="offset points",
                va="center", size="x-small", color=color,
            )  # fmt: skip
    ax.set_yticks(range(len(rows)), [row.what for row in rows], size="small")
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(group)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)


def _once(label: str, used: set[str]) -> str | None:
    """A label for the legend the first time it is needed."""
    if label in used:
        return None
    used.add(label)
    return label


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
        body = [list(_HEADS)]
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
