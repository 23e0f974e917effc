"""``tamiz demo``, the main job on a data set that comes along, and ``tamiz reproduce``."""

from __future__ import annotations

from typing import Annotated

import typer

from tamiz.cli import options as opt


def demo(
    out: Annotated[
        str, typer.Option("--out", "-o", help="Where the report goes.")
    ] = "tamiz-demo.html",
    repeats: Annotated[int, typer.Option(help="How often the folds are drawn anew.")] = 2,
    lang: opt.Lang = "en",
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    quiet: opt.Quiet = False,
) -> None:
    """Select features of the breast-cancer data, and write a report.

    569 tumours, 30 measurements of cell nuclei, benign or malignant. Nothing is
    downloaded.
    """
    from pathlib import Path

    from tamiz.cli.console import say
    from tamiz.cli.select import run_study, show

    opt.check_language(lang)
    opt.check_writable(out, "--out")
    say("Breast cancer: 569 tumours, 30 measurements of their cell nuclei. Which ones matter?")
    say("Methods, judges and numbers of features compete; all is chosen inside the training parts.")
    say()
    study = run_study(
        opt.read("breast_cancer", quiet=True),
        quiet=quiet,
        scale="auto",
        repeats=repeats,
        positive="malignant",
        n_jobs=jobs,
        random_state=seed,
    )
    study.command = "tamiz demo"
    from tamiz.reports import write_report

    write_report(study, out, lang=lang)
    show(study, lang)
    say()
    say(f"The report is in {Path(out).absolute()}: open it in a browser.")


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

    Example:  tamiz reproduce P3 --repeats 20

    Without a name it lists them.
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
