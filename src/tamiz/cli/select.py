"""``tamiz select``: which features to use, by which method, and what error to expect."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamiz.cli import options as opt

if TYPE_CHECKING:
    from tamiz.reports import Study

_WHAT = "What is compared"
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        "-m",
        help="Names, a,b,c ('tamiz methods'); those that fit into the time by default.",
        rich_help_panel=_WHAT,
    ),
]
Sizes = Annotated[
    str | None,
    typer.Option(help="Numbers of features to try, such as 1,2,5,10,20.", rich_help_panel=_WHAT),
]
Folds = Annotated[
    int | None, typer.Option("--cv", help="Folds; 5 by default.", rich_help_panel=_WHAT)
]
Repeats = Annotated[
    int | None,
    typer.Option(
        help="How often the folds are drawn anew; 1 to 4 by default.", rich_help_panel=_WHAT
    ),
]
Gap = Annotated[
    int,
    typer.Option(
        help="With --time: different times before a judged block that are not learned from.",
        rich_help_panel=_WHAT,
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        help="auto (heavy tails drawn in), standard, minmax or none; inside the training parts.",
        rich_help_panel=_WHAT,
    ),
]
Adjust = Annotated[
    str | None,
    typer.Option(
        help="Columns to adjust the features for, such as age,batch; inside the training parts.",
        rich_help_panel=_WHAT,
    ),
]
Permutations = Annotated[
    int,
    typer.Option(
        help="Label permutations that test whether there is any signal; 0: none.",
        rich_help_panel=_WHAT,
    ),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="A score of scikit-learn; accuracy, or balanced_accuracy if a class is rare.",
        rich_help_panel=_WHAT,
    ),
]
ClassWeight = Annotated[
    str,
    typer.Option(
        help="auto (balanced if a class is rare), balanced or none.", rich_help_panel=_WHAT
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(help="Journal of what is finished; the same command goes on from it."),
]
_SCALES = ("auto", "standard", "minmax", "none")


@opt.reads
def select(
    data: opt.Data,
    methods: Methods = None,
    judge: Annotated[
        str,
        typer.Option(
            help="Whose errors count: linear, rbf, tree, forest, boosting, svc-linear, knn; "
            "several: a,b,c.",
            rich_help_panel=_WHAT,
        ),
    ] = "auto",
    sizes: Sizes = None,
    cv: Folds = None,
    repeats: Repeats = None,
    gap: Gap = 0,
    scale: Scale = "auto",
    scoring: Scoring = None,
    positive: opt.Positive = None,
    class_weight: ClassWeight = "auto",
    tuned: Annotated[
        bool, typer.Option("--tune", help="Judges are always tuned.", hidden=True)
    ] = False,
    permutations: Permutations = 0,
    adjust: Adjust = None,
    fdr: Annotated[
        float,
        typer.Option(
            help="Rate of false discoveries among the features to stand behind; 0: do not look "
            "for them.",
            rich_help_panel=_WHAT,
        ),
    ] = 0.1,
    *,
    reading: opt.Reading,
    json: opt.Json = False,
    out: opt.Out = None,
    save: opt.Save = None,
    answer: Annotated[
        str,
        typer.Option(
            help="Which answer --save keeps: smallest or most-accurate.",
            rich_help_panel="What comes out",
        ),
    ] = "smallest",
    lang: opt.Lang = "en",
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    time_budget: opt.TimeBudget = None,
    checkpoint: Checkpoint = None,
    quiet: opt.Quiet = False,
) -> None:
    """Recommend a subset of features, with an honest error and the reasons.

    Examples:  tamiz select my.csv --out report.html
               tamiz select credit.csv -t default --positive yes --save my.tamiz

    All combinations of method, judge and number of features compete by repeated
    cross-validation. There are two answers: the smallest subset that is good
    enough, and the most accurate one. The error is that of the whole procedure:
    everything is chosen inside the training parts.

    By default it takes about a minute; --time-budget gives it more, or less.
    Ctrl-C shows what is there.
    """
    from tamiz.cli.console import UsageProblem, after_the_answer, flush, say_json, tell

    budget = opt.Budget(time_budget)
    opt.check_splits(reading, gap)
    opt.check_writable(out, "--out", opt.REPORT)
    opt.check_writable(save, "--save")
    opt.check_language(lang)
    if adjust is not None and save is not None:
        raise UsageProblem(
            "--save does not go with --adjust: a model would need the covariates of new rows."
        )
    if not 0 <= fdr < 1:
        raise UsageProblem(f"--fdr {fdr:g} must be a rate from 0 to below 1, such as 0.1.")
    if answer not in ("smallest", "most-accurate"):
        raise UsageProblem(f"--answer {answer!r} is not known; use smallest or most-accurate.")
    with budget.without_compiling():
        dataset = opt.read(data, reading=reading, quiet=quiet)
    if positive is not None:
        opt.check_positive(dataset, positive)
    if not quiet and "groups" in dataset.extras:
        n_groups = len(set(dataset.extras["groups"].tolist()))
        tell(f"rows of one group stay on one side of every split ({n_groups:,} groups).")
    if not quiet and "time" in dataset.extras:
        tell("every split learns from the past and is judged by what came after.")
    study = run_study(
        dataset,
        quiet=quiet,
        methods=methods,
        judges=None if judge == "auto" else judge,
        sizes=sizes,
        cv=cv,
        repeats=repeats,
        gap=gap,
        scale=scale,
        scoring=scoring,
        positive=positive,
        class_weight=class_weight,
        permutations=permutations,
        fdr=fdr or None,
        adjust=None if adjust is None else opt.split_list(adjust),
        n_jobs=jobs,
        random_state=seed,
        time_budget=budget,
        checkpoint=checkpoint,
    )
    # what was found comes first: it must not be lost if a file cannot be written
    if json:
        say_json(document(study, lang))
    else:
        show(study, lang)
    flush()
    if out is not None:
        from tamiz.reports import write_report

        with after_the_answer("report", then=None if save is None else "model"):
            write_report(study, out, lang=lang)
        tell(f"the report is in {out}")
    if save is not None:
        with after_the_answer("model"):
            _keep(study, dataset, save, answer.replace("-", " "))
    leave_if_cut(study)


def run_study(dataset: Any, *, quiet: bool, **options: Any) -> Study:
    """The study that the options describe: those of ``make_study``, as the user wrote them."""
    import warnings

    from tamiz.cli.console import as_options, command_line, tell, tell_notes, usage
    from tamiz.evaluation.methods import find_method
    from tamiz.reports import make_study
    from tamiz.validation import one_of

    with usage():
        names = options.pop("methods", None)
        if names is not None:
            names = [find_method(name).name for name in opt.split_list(names)]
            if not names:
                raise ValueError("--methods names none; 'tamiz methods' lists them.")
        judges = options.pop("judges", None)
        if judges is not None:
            judges = list(dict.fromkeys(_judge(one) for one in opt.split_list(judges)))
        options["sizes"] = opt.numbers(options.get("sizes"), "--sizes", int)
        scale = options.get("scale")
        one_of(*_SCALES)("scale", scale)
        options["scale"] = None if scale == "none" else scale
        weights = options.get("class_weight", "auto")
        one_of("auto", "balanced", "none")("class_weight", weights)
        options["class_weight"] = None if weights == "none" else weights
    tell_notes(dataset, quiet)
    budget = options.pop("time_budget", None) or opt.Budget(None)
    with usage(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = make_study(
            dataset,
            names,
            judges,
            time_budget=budget.left,
            resume=options.get("checkpoint") is not None,
            verbose=0 if quiet else 1,
            tell=None if quiet else tell,
            command=command_line(),
            **options,
        )
    for message in dict.fromkeys(str(one.message) for one in caught):
        if not quiet:
            tell(message)
    for warning in study.warnings:
        warning["text"] = as_options(warning["text"])
    _refuse_nothing(study, budget.seconds)
    return study


def _judge(name: str) -> str:
    """The name of a judge in a study."""
    from tamiz.evaluation.judges import JUDGES, judge_name

    short = {"svc-rbf": "rbf"}
    try:
        found = judge_name(name)
    except ValueError:
        names = ", ".join(short.get(one, one) for one in JUDGES)
        raise ValueError(f"--judge {name!r} is not known; use {names}.") from None
    return short.get(found, found)


def _refuse_nothing(study: Study, time_budget: float | None) -> None:
    """A run that was cut short before anything could be shown has failed."""
    from tamiz.cli.console import Problem

    found = study.comparison
    if found is None or study.answers is not None:
        return
    stopped = study.status == "cut short" and not found.failures
    if found.status == "time budget":
        raise Problem(_too_short(study, time_budget))
    if found.status == "interrupted" or stopped:
        raise KeyboardInterrupt
    raise Problem("no method could be judged: " + "; ".join(found.failures[:2]))


def _too_short(study: Study, time_budget: float | None) -> str:
    """What is known where no split was finished: an order of the features, and no error."""
    spent = study.seconds - study.compiling
    planned = 0.0 if study.plan is None else study.plan.seconds
    needed = 10 * math.ceil(max(2 * (time_budget or 0.0), spent + 2 * planned) / 10)
    budget = "the time" if time_budget is None else f"--time-budget {time_budget:g}"
    text = f"{budget} ended before any split was finished, and so no error is known"
    for method, selection in list(study.selections.items())[:1]:
        first = ", ".join(selection.names[j] for j in selection.order[:5])
        text += f"; as a first guess, {method} ranks first: {first}"
    return f"{text}. Allow more, such as --time-budget {needed}, or name fewer methods (--methods)."


def document(study: Study, lang: str = "en") -> dict[str, Any]:
    """The study as JSON, every reason with its sentence."""
    from tamiz.reports import reason_text

    found = study.to_dict()
    for key, one in (("recommended", study.recommended), ("most_accurate", study.most_accurate)):
        if one is not None:
            for entry, reason in zip(found[key]["reasons"], one.reasons, strict=True):
                entry["text"] = reason_text(study, one, reason, lang)
    return found


def show(study: Study, lang: str) -> None:
    """The study in a terminal: what to do, then the evidence."""
    from tamiz.cli.console import say
    from tamiz.reports import summary

    for sentence in summary(study, lang):
        say(sentence)


# -------------------------------------------------------------------------------- the model


def _keep(study: Study, dataset: Any, path: str, answer: str) -> None:
    """Fit an answer to all rows and keep it, with its card and probabilities."""
    from tamiz import save as write_model
    from tamiz.cli.console import Problem, tell
    from tamiz.cli.table_model import TableModel

    best = study.recommended if answer == "smallest" else study.most_accurate
    if best is None or study.no_signal:
        raise Problem(f"nothing is recommended, and so there is no model for {path}.")
    card = {
        "method": best.method,
        "judge": best.judge,
        "params": best.params,
        "honest": {
            "error": best.error,
            "low": best.low,
            "high": best.high,
            "metric": study.honest["metric"],
            "how": "the whole procedure inside each training part of a cross-validation",
        },
        "command": study.command,
    }
    model = TableModel.fitted(
        dataset, study.pipeline(answer), features=best.features, card=card, calibrate=False
    )
    made = study.out_of_fold(answer)
    if made is not None:
        values, labels, weights = made
        how = "the training parts that they took no part in"
        model.calibrate(values, labels, how, weights)
    elif study.classes is not None:
        tell("too few splits were finished to calibrate probabilities: the model gives none.")
    write_model(model, path)
    tell(f"the model is in {path}; use it with: tamiz predict {path} NEW_DATA")


# ---------------------------------------------------------------------------- being stopped


def leave_if_cut(study: Study) -> None:
    """A signal sets the exit code; a time budget that ran out is no failure."""
    from tamiz.cli.console import CutShort

    found = study.comparison
    if found is not None and found.status == "interrupted":
        raise CutShort
