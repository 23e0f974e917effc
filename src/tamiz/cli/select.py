"""``tamiz select``: which features to use, by which method, and what error to expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamiz.cli import options as opt

if TYPE_CHECKING:
    from tamiz.reports import Study

Methods = Annotated[
    str | None,
    typer.Option("--methods", "-m", help="Names, a,b,c ('tamiz methods'); six by default."),
]
Sizes = Annotated[str | None, typer.Option(help="Numbers of features to try, such as 1,2,5,10,20.")]
Folds = Annotated[int, typer.Option("--cv", help="Folds.")]
Repeats = Annotated[int, typer.Option(help="How often the folds are drawn anew.")]
Scale = Annotated[str, typer.Option(help="standard, minmax or none; inside the training parts.")]
Permutations = Annotated[
    int, typer.Option(help="Label permutations that test whether there is any signal; 0: none.")
]
Checkpoint = Annotated[
    str | None,
    typer.Option(help="Journal of what is finished; the same command goes on from it."),
]


def select(
    data: opt.Data,
    methods: Methods = None,
    judge: Annotated[
        str, typer.Option(help="svc-linear, svc-rbf, knn or tree: whose error counts.")
    ] = "svc-linear",
    sizes: Sizes = None,
    cv: Folds = 5,
    repeats: Repeats = 3,
    scale: Scale = "standard",
    tuned: Annotated[
        bool, typer.Option("--tune", help="Tune the judge inside the training parts.")
    ] = False,
    permutations: Permutations = 0,
    target: opt.Target = None,
    drop: opt.Drop = None,
    role: opt.Role = None,
    task: opt.Task = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    rows: opt.Rows = None,
    json: opt.Json = False,
    out: opt.Out = None,
    save: opt.Save = None,
    lang: opt.Lang = "en",
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    time_budget: opt.TimeBudget = None,
    checkpoint: Checkpoint = None,
    quiet: opt.Quiet = False,
) -> None:
    """Recommend a subset of features, with an honest error and the reasons.

    Examples:  tamiz select my.csv --out report.html
               tamiz select credit.csv -t default -m fisher,mrmr,rfe --save model.tamiz

    Several methods are compared by repeated cross-validation in which ranking, scaling and the
    number of features come from the training part alone.
    """
    from tamiz.cli.console import flush, say_json, tell

    for path, name in ((out, "--out"), (save, "--save")):
        opt.check_writable(path, name)
    opt.check_language(lang)
    dataset = opt.read(
        data,
        target,
        drop=drop,
        role=role,
        task=task,
        separator=sep,
        decimal=decimal,
        rows=rows,
        quiet=quiet,
    )
    study = run_study(
        dataset,
        methods,
        judge,
        sizes=sizes,
        cv=cv,
        repeats=repeats,
        scale=scale,
        tune=tuned or None,
        permutations=permutations,
        jobs=jobs,
        seed=seed,
        time_budget=time_budget,
        checkpoint=checkpoint,
        quiet=quiet,
    )
    # what was found comes first: it must not be lost if a file cannot be written
    if json:
        say_json(study.to_dict())
    else:
        show(study, lang)
    flush()
    if out is not None:
        from tamiz.reports import write_report

        write_report(study, out, lang=lang)
        tell(f"the report is in {out}")
    if save is not None:
        from tamiz import save as write_model
        from tamiz.cli.problems import Problem
        from tamiz.cli.table_model import TableModel

        if study.recommended is None:
            raise Problem(f"nothing could be recommended, and so there is no model for {save}.")
        write_model(TableModel.fitted(dataset, study.pipeline()), save)
        tell(f"the model is in {save}; use it with: tamiz predict {save} NEW_DATA")


def run_study(
    dataset: Any,
    methods: str | None,
    judge: str,
    *,
    sizes: str | None,
    cv: int,
    repeats: int,
    scale: str,
    tune: Any,
    permutations: int,
    jobs: int,
    seed: int,
    time_budget: float | None,
    checkpoint: str | None,
    quiet: bool,
) -> Study:
    """The study that the options describe."""
    import warnings

    from tamiz.cli.console import command_line, tell
    from tamiz.cli.problems import usage
    from tamiz.cli.wording import tell_notes
    from tamiz.evaluation.judges import judge_name
    from tamiz.evaluation.methods import find_method
    from tamiz.reports import make_study

    with usage():
        names = None
        if methods is not None:
            names = [find_method(name).name for name in opt.split_list(methods)]
            if not names:
                raise ValueError("--methods names none; 'tamiz methods' lists them.")
        judge = judge_name(judge)
        wanted = opt.numbers(sizes, "--sizes", int)
        if scale not in ("standard", "minmax", "none"):
            raise ValueError(f"--scale {scale!r} is not known; use standard, minmax or none.")
        if dataset.levels:
            dataset = dataset.encode("onehot")
    tell_notes(dataset, quiet)
    with usage(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = make_study(
            dataset,
            names,
            judge,
            sizes=wanted,
            cv=cv,
            repeats=repeats,
            scale=None if scale == "none" else scale,
            tune=tune,
            permutations=permutations,
            n_jobs=jobs,
            random_state=seed,
            time_budget=time_budget,
            checkpoint=checkpoint,
            resume=checkpoint is not None,
            verbose=0 if quiet else 1,
            command=command_line(),
        )
    for message in dict.fromkeys(str(one.message) for one in caught):
        if not quiet:
            tell(message)
    _refuse_nothing(study, time_budget)
    return study


def _refuse_nothing(study: Study, time_budget: float | None) -> None:
    """A run that was cut short before anything could be shown has failed."""
    from tamiz.cli.problems import Problem

    found = study.comparison
    if found is None or any(one.n_splits for one in found.estimates()):
        return
    if found.status == "interrupted":
        raise KeyboardInterrupt
    if found.status == "time budget":
        raise Problem(f"--time-budget {time_budget:g} ended before any split was finished.")


def show(study: Study, lang: str) -> None:
    """The study in a terminal: what to do, then the evidence."""
    from tamiz.cli.console import say
    from tamiz.reports import summary

    for sentence in summary(study, lang):
        say(sentence)
    say()
    say(str(study.comparison))
