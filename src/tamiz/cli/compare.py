"""``tamiz compare``: honest errors of several methods side by side."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tamiz.cli import options as opt
from tamiz.cli.select import (
    Adjust,
    Checkpoint,
    Folds,
    Gap,
    Methods,
    Permutations,
    Repeats,
    Scale,
    Sizes,
    leave_if_cut,
    run_study,
)


@opt.reads
def compare(
    data: opt.Data,
    methods: Methods = None,
    judge: Annotated[
        str,
        typer.Option(
            help="Whose errors count: svc-linear, linear, rbf, tree, forest, boosting, knn; "
            "several: a,b,c."
        ),
    ] = "svc-linear",
    sizes: Sizes = None,
    cv: Folds = 10,
    repeats: Repeats = None,
    gap: Gap = 0,
    scale: Scale = "standard",
    tuned: Annotated[
        bool, typer.Option("--tune", help="Tune the judge inside the training parts.")
    ] = False,
    permutations: Permutations = 0,
    adjust: Adjust = None,
    *,
    reading: opt.Reading,
    json: opt.Json = False,
    out: opt.Out = None,
    lang: opt.Lang = "en",
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    time_budget: opt.TimeBudget = None,
    checkpoint: Checkpoint = None,
    quiet: opt.Quiet = False,
) -> None:
    """Compare methods: honest error by size, selection bias, stability.

    Example:  tamiz compare colon -m fisher,mrmr,rfe,ho-svm --out colon.html
    """
    from tamiz.cli.console import after_the_answer, flush, say, say_json, tell

    budget = opt.Budget(time_budget)
    opt.check_language(lang)
    opt.check_splits(reading, gap)
    opt.check_writable(out, "--out", opt.REPORT)
    with budget.without_compiling():
        dataset = opt.read(data, reading=reading, quiet=quiet)
    covariates = None if adjust is None else opt.split_list(adjust)
    study = run_study(
        dataset,
        quiet=quiet,
        methods=methods or ",".join(_usual(dataset)),
        judges=judge,
        sizes=sizes,
        cv=cv,
        repeats=repeats or (1 if "time" in dataset.extras else 3),
        gap=gap,
        scale=scale,
        tune=tuned or None,
        baselines=("random", "all"),
        permutations=permutations,
        fdr=None,
        adjust=covariates,
        n_jobs=jobs,
        random_state=seed,
        time_budget=budget,
        checkpoint=checkpoint,
    )
    adjusted = f"adjusted for {', '.join(covariates or ())} inside every training part."
    if covariates is not None and json and not quiet:
        tell(f"features are {adjusted}")
    # what was found comes first: it must not be lost if the file cannot be written
    if json:
        say_json(study.to_dict())
    else:
        say(str(study.comparison))
        if covariates is not None:  # it belongs to the result, also with --quiet
            say(f"Note: features were {adjusted}")
        for part in (study.significance, study.permutation):
            if part is not None:
                say()
                say(str(part))
    flush()
    if out is not None:
        from tamiz.reports import write_report

        with after_the_answer("report"):
            write_report(study, out, lang=lang)
        tell(f"the report is in {out}")
    leave_if_cut(study)


def _usual(dataset: Any) -> tuple[str, ...]:
    """The methods that are compared unless others are named."""
    if dataset.task == "regression":
        return ("pearson", "rrelieff", "cfs", "qpfs")
    return ("fisher", "relieff", "mrmr", "qpfs", "rfe", "ho-svm")
