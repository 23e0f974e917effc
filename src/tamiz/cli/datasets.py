"""``tamiz datasets``: data sets that are known by name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tamiz.cli import options as opt


def datasets(
    about: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Source, terms and citation of one data set."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """List the data sets that can be named instead of a file.

    All come with the installation. A file in the folder that the environment variable TAMIZ_DATA
    names (NAME.csv.gz or NAME.npz) is read instead of the packaged one.

    Example:  tamiz datasets --about colon
    """
    from tamiz.cli.console import say, say_json, table, usage
    from tamiz.data import about as facts
    from tamiz.data import available

    with usage():
        own = set(available("folder"))
        chosen = [facts(name) for name in (available() if about is None else [about])]
    found: list[dict[str, Any]] = [
        {
            "name": one.name,
            "rows": one.rows,
            "features": one.features,
            "what": one.summary,
            "where": "TAMIZ_DATA" if one.name in own else "here",
        }
        for one in chosen
    ]
    if json:
        more = [{key: getattr(one, key) for key in one._fields[4:]} for one in chosen]
        say_json({"datasets": [a | b for a, b in zip(found, more, strict=True)]})
    elif about is not None:
        say(str(chosen[0]))
    else:
        table(
            ["name", "rows", "features", "what", "where"],
            [list(entry.values()) for entry in found],
            right=(1, 2),
        )
        say("\nUse a name in place of a file:  tamiz select breast_cancer")
        say("Source, terms and citation:     tamiz datasets --about colon")
