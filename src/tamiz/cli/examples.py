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

    from tamiz.cli.console import after_the_answer, flush, say
    from tamiz.cli.select import run_study, show

    opt.check_language(lang)
    opt.check_writable(out, "--out", opt.REPORT)
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

    show(study, lang)
    flush()
    with after_the_answer("report"):
        write_report(study, out, lang=lang)
    say()
    say(f"The report is in {Path(out).absolute()}: open it in a browser.")


def reproduce(
    recipe: Annotated[
        str | None,
        typer.Argument(
            help="A recipe such as P3, or a figure such as S0-1.3; without one, all are listed."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Where the picture of a figure goes.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="As many repeats as published.")] = False,
    repeats: Annotated[int | None, typer.Option(help="Number of repeats.")] = None,
    json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    quiet: opt.Quiet = False,
) -> None:
    """Repeat experiments of the documents that tamiz follows, draw their figures.

    Examples:  tamiz reproduce P3 --repeats 20
               tamiz reproduce S0-1.3 --out fig.png

    Without a name it lists them.
    """
    from tamiz.cli.console import say, say_json, table, usage
    from tamiz.reproduce import available, source_figures
    from tamiz.reproduce import reproduce as run

    if recipe is None:
        figures = source_figures()
        if json:
            say_json({"recipes": available(), "figures": figures})
        else:
            names = {**available(), **figures}
            table(["name", "what"], [[name, what] for name, what in names.items()])
        return
    with usage():
        name = full_name(recipe)
    if name in source_figures():
        with usage():
            for option, given in (("--full", full), ("--jobs", jobs != -1)):
                if given:
                    raise ValueError(
                        f"{option} is for recipes; the figure {name} is drawn by one process, and "
                        "--repeats says how many splits it averages."
                    )
        _draw(name, out, repeats, seed, json)
        return
    with usage():
        if out is not None:
            raise ValueError(f"--out is for figures; {name} prints a table.")
    found = run(
        name,
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


def full_name(text: str) -> str:
    """The recipe or figure of a name, in whatever case it is typed."""
    from tamiz.reproduce import available, source_figures

    for name in (*available(), *source_figures()):
        if name.lower() == text.strip().lower():
            return name
    raise ValueError(
        f"no recipe and no figure is called {text!r}; there are the recipes "
        f"{', '.join(available())}, and tamiz reproduce lists the figures."
    )


def _draw(name: str, out: str | None, repeats: int | None, seed: int, json: bool) -> None:
    """Write the picture of a figure."""
    from pathlib import Path

    from tamiz.cli.console import say, say_json, usage, write_out
    from tamiz.reproduce import draw_figure

    file = f"{name}.png" if out is None else out
    opt.check_writable(file, "--out", opt.PICTURE)
    kind = Path(file).suffix.lower().removeprefix(".")
    with usage():
        drawn = draw_figure(name, repeats=repeats, random_state=seed)
    write_out(file, lambda place: drawn.savefig(place, format=kind, dpi=110), "picture")
    if json:
        say_json({"figure": name, "file": file})
    else:
        say(f"{name} is in {file}.")
