"""``tamiz demo``: the main job on a data set that comes along."""

from __future__ import annotations

from typing import Annotated

import typer

from tamiz.cli import options as opt

_METHODS = "ho-svm,rfe,mrmr,qpfs,fisher"


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
    """Select features of the breast-cancer data by five methods, and write a report.

    569 tumours, 30 measurements of cell nuclei, benign or malignant. Nothing is downloaded.
    """
    import os

    from tamiz.cli.console import say, tell
    from tamiz.cli.select import run_study, show

    opt.check_language(lang)
    opt.check_writable(out, "--out")
    say("Breast cancer: 569 tumours, 30 measurements of their cell nuclei. Which ones matter?")
    say("Five methods are compared honestly: everything is learnt in the training part of a split.")
    if not quiet:
        tell("the first run compiles for some seconds and keeps the result.")
    say()
    study = run_study(
        opt.read("breast_cancer", quiet=True),
        _METHODS,
        "svc-linear",
        sizes=None,
        cv=5,
        repeats=repeats,
        scale="standard",
        tune=None,
        permutations=0,
        jobs=jobs,
        seed=seed,
        time_budget=None,
        checkpoint=None,
        quiet=quiet,
    )
    study.command = "tamiz demo"
    from tamiz.reports import write_report

    write_report(study, out, lang=lang)
    show(study, lang)
    say()
    say(f"The report is in {os.path.abspath(out)}: open it in a browser.")
