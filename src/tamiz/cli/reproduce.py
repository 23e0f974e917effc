"""``tamiz reproduce``: published tables, ours beside theirs."""

from __future__ import annotations

from typing import Annotated

import typer

from tamiz.cli import options as opt


def reproduce(
    recipe: Annotated[
        str | None, typer.Argument(help="A name such as P3; without one, all are listed.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="As many repeats as published.")] = False,
    repeats: Annotated[int | None, typer.Option(help="Number of repeats.")] = None,
    json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    quiet: opt.Quiet = False,
) -> None:
    """Repeat the experiments of the documents that tamiz follows.

    Examples:  tamiz reproduce
               tamiz reproduce P3 --repeats 20
    """
    from tamiz.cli.console import say, say_json, table, usage
    from tamiz.reproduce.reproduce import available
    from tamiz.reproduce.reproduce import reproduce as run

    if recipe is None:
        if json:
            say_json({"recipes": available()})
        else:
            table(["name", "what"], [[name, what] for name, what in available().items()])
        return
    with usage():
        if recipe.upper() not in available():
            raise ValueError(f"no recipe is called {recipe!r}; there are {', '.join(available())}.")
    found = run(
        recipe.upper(),
        quick=not full,
        repeats=repeats,
        random_state=seed,
        n_jobs=jobs,
        verbose=0 if quiet else 1,
    )
    if json:
        say_json(found.to_dict())
    else:
        say(str(found))
