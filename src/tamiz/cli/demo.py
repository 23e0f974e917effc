"""``tamiz demo``: the main job on a data set that comes along."""

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

    569 tumours, 30 measurements of cell nuclei, benign or malignant. Nothing is downloaded.
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
