"""``tamiz methods``: every method with its family, its cost, and the data it takes."""

from __future__ import annotations

from typing import Annotated

import typer

from tamiz.cli import options as opt

_TAKES = {
    "multiclass": "many classes",
    "regression": "regression",
    "categorical": "categories",
    "missing": "gaps",
    "sparse": "sparse",
}


def methods(
    family: Annotated[
        str | None, typer.Option("--family", "-f", help="filter, wrapper, embedded or baseline.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """List every method: family, what it looks at, cost, and what data it takes.

    Example:  tamiz methods --family filter
    """
    from tamiz.cli.console import say, say_json, table
    from tamiz.cli.problems import UsageProblem
    from tamiz.evaluation.methods import METHODS

    families = list(dict.fromkeys(method.family for method in METHODS.values()))
    if family is not None and family not in families:
        raise UsageProblem(f"--family {family!r} is not known; use {', '.join(families)}.")
    found = [m for m in METHODS.values() if family is None or m.family == family]
    if json:
        say_json({"methods": [method.to_dict() for method in found]})
        return
    table(
        ["name", "family", "looks at", "cost", "takes, beside numbers and two classes"],
        [
            [
                m.name,
                m.family,
                m.what,
                m.cost,
                ", ".join(word for key, word in _TAKES.items() if getattr(m, key)) or "–",
            ]
            for m in found
        ],
    )
    say("\nIn costs, n is the number of samples and p that of features.")
