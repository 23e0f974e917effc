"""``tamiz methods`` and ``tamiz datasets``: what can be named."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tamiz.cli import options as opt

_TAKES = {
    "multiclass": "many classes",
    "regression": "regression",
    "categorical": "categories",
    "missing": "missing values",
    "sparse": "sparse",
}


def methods(
    family: Annotated[
        str | None,
        typer.Option("--family", "-f", help="filter, wrapper, embedded, baseline or judge."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """List methods (family, what they look at, cost, data they take) and judges.

    Example:  tamiz methods --family filter
    """
    from tamiz.cli.console import UsageProblem, say, say_json, table
    from tamiz.evaluation.judges import JUDGES
    from tamiz.evaluation.methods import METHODS

    families = [*dict.fromkeys(method.family for method in METHODS.values()), "judge"]
    if family is not None and family not in families:
        raise UsageProblem(f"--family {family!r} is not known; use {', '.join(families)}.")
    found = [m for m in METHODS.values() if family is None or m.family == family]
    judges = JUDGES if family in (None, "judge") else {}
    if json:
        say_json(
            {
                "methods": [method.to_dict() for method in found],
                "judges": [judge.to_dict(name) for name, judge in judges.items()],
            }
        )
        return
    if found:
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
    if judges:
        if found:
            say("\nJudges, for --judge:\n")
        table(
            ["name", "decides by", "cost", "tuned over"],
            [
                [
                    name,
                    judge.what,
                    judge.cost,
                    "; ".join(
                        f"{key} {', '.join(map(str, values))}" for key, values in judge.grid.items()
                    ),
                ]
                for name, judge in judges.items()
            ],
        )
    say("\nIn costs, n is the number of samples and p that of features.")


def datasets(
    about: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Source, terms and citation of one data set."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """List the data sets that can be named instead of a file.

    All come with the installation. A file in the folder that the environment
    variable TAMIZ_DATA names (NAME.csv.gz or NAME.npz) is read instead of the
    packaged one.

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
