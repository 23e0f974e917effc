"""``tamiz datasets``: data sets that are known by name."""

from __future__ import annotations

from tamiz.cli import options as opt


def datasets(json: opt.Json = False) -> None:
    """List the data sets that can be named instead of a file.

    Sets that are "here" come with the installation or lie in the folder that the environment
    variable TAMIZ_DATA names; the others are fetched from OpenML, where that has them.
    """
    from tamiz.cli.console import say, say_json, table
    from tamiz.data import available
    from tamiz.data.named import SETS

    bundled, folder, fetched = (set(available(where)) for where in ("bundled", "folder", "openml"))
    found = [
        {
            "name": name,
            "rows": SETS[name].rows,
            "features": SETS[name].features,
            "what": SETS[name].summary,
            "where": "here"
            if name in bundled | folder
            else "OpenML"
            if name in fetched
            else "not here",
        }
        for name in available()
    ]
    if json:
        say_json({"datasets": found})
        return
    table(
        ["name", "rows", "features", "what", "where"],
        [list(entry.values()) for entry in found],
        right=(1, 2),
    )
    say("\nUse a name in place of a file:  tamiz select breast_cancer")
