"""``tamiz tune``: parameters of a machine by cross-validation."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from tamiz.cli import options as opt


@opt.reads
def tune(
    data: opt.Data,
    kernel: Annotated[
        str, typer.Option(help="Kernels, one or several: rbf,linear,poly,sigmoid.")
    ] = "rbf",
    C: Annotated[str | None, typer.Option("--C", help="Values of C, such as 0.1,1,10.")] = None,
    gamma: Annotated[str | None, typer.Option(help="Values of gamma.")] = None,
    degree: Annotated[str | None, typer.Option(help="Degrees of the polynomial kernel.")] = None,
    coef0: Annotated[str | None, typer.Option(help="Constants of poly and sigmoid.")] = None,
    cv: Annotated[int, typer.Option(help="Folds.")] = 10,
    choose: Annotated[
        str, typer.Option(help="best, or 1se: the simplest within one standard error.")
    ] = "best",
    search: Annotated[str, typer.Option(help="grid, random or halving.")] = "grid",
    *,
    reading: opt.Reading,
    json: opt.Json = False,
    out: opt.Out = None,
    lang: opt.Lang = "en",
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    quiet: opt.Quiet = False,
) -> None:
    """Choose C, gamma and the kernel of a support vector machine.

    Example:  tamiz tune spambase --C 0.1,1,10,100 --gamma 0.001,0.01,0.1

    Features are scaled inside the training part of every fold.
    """
    from tamiz.cli.console import CutShort, flush, say_json, tell, tell_notes, usage

    opt.check_language(lang)
    opt.check_writable(out, "--out", opt.REPORT)
    grid = _grid(kernel, C, gamma, degree, coef0)
    dataset = opt.read(data, reading=reading, quiet=quiet)
    dataset = dataset.encode("onehot") if dataset.levels else dataset
    with usage():
        found = _tuned(dataset, grid, cv, choose, search, seed, jobs, quiet)
    tell_notes(dataset, quiet)
    if json:
        say_json({**found.to_dict(), "data": dataset.name, "n_samples": dataset.n_samples})
    else:
        _show(found)
    flush()
    if out is not None:
        _write(out, lang, dataset, found, {"grid": grid, "cv": cv}, seed)
        if not json:
            tell(f"the report is in {out}")
    if found.interrupted:
        raise CutShort


def _write(
    out: str, lang: str, dataset: Any, found: Any, params: dict[str, Any], seed: int
) -> None:
    """Write the report of what was chosen."""
    from tamiz.cli.console import after_the_answer, command_line
    from tamiz.reports import Study, write_report

    study = Study(dataset, {}, tuning=found, params=params, command=command_line(), seed=seed)
    with after_the_answer("report"):
        write_report(study, out, lang=lang)


def _tuned(
    dataset: Any, grid: Any, cv: int, choose: str, search: str, seed: int, jobs: int, quiet: bool
) -> Any:
    """The cross-validated error of every cell of the grid, scaling inside the folds."""
    from sklearn.pipeline import Pipeline

    from tamiz.evaluation import tune as run
    from tamiz.evaluation.scaler import preparation
    from tamiz.search.splits import TimeFolds, shuffled_folds
    from tamiz.svm import SVC, SVR

    machine = SVR() if dataset.task == "regression" else SVC()
    model = Pipeline([*preparation(dataset, "standard"), ("machine", machine)])
    # rows of a file are often sorted: folds are drawn at random, as in the other commands
    groups, times = dataset.extras.get("groups"), dataset.extras.get("time")
    if times is None:
        folds = shuffled_folds(cv, dataset.task != "regression", seed, groups)
    else:
        folds = TimeFolds(cv)
    return run(
        dataset.X,
        dataset.y,
        model,
        grid,
        cv=folds,
        choose=choose,
        search=search,
        sample_weight=dataset.extras.get("weights"),
        groups=groups if times is None else times,
        random_state=seed,
        n_jobs=jobs,
        verbose=0 if quiet else 1,
    )


def _show(found: Any) -> None:
    """The best cell, and a table of those next to it."""
    from tamiz.cli.console import number, say, table

    best = ", ".join(f"{name} = {_shown(value)}" for name, value in found.best_params.items())
    if found.interrupted:
        done = sum(not math.isnan(cell.error) for cell in found.cells)
        say(f"CUT SHORT: of {len(found.cells)} cells, {done} are complete.")
    say(f"best: {best}")
    spread = number(found.best_std)
    say(f"{found.metric} {number(found.best_error)} ± {spread} (spread over the folds)\n")
    cells = sorted(found.cells, key=lambda cell: cell.error)[:15]
    names = list(dict.fromkeys(name for cell in cells for name in cell.params))
    table(
        [*names, found.metric, "spread"],
        [
            [*[_shown(cell.params.get(n, "")) for n in names], number(cell.error), number(cell.std)]
            for cell in cells
        ],
    )
    if len(found.cells) > len(cells):
        say(f"… and {len(found.cells) - len(cells)} more cells (--json lists all).")


def _grid(
    kernel: str, C: str | None, gamma: str | None, degree: str | None, coef0: str | None
) -> list[dict[str, Any]] | None:
    """One dictionary for each kernel, with the parameters that it has."""
    kernels = opt.split_list(kernel)
    given = {
        "C": opt.numbers(C, "--C"),
        "gamma": opt.numbers(gamma, "--gamma"),
        "degree": opt.numbers(degree, "--degree", int),
        "coef0": opt.numbers(coef0, "--coef0"),
    }
    if kernels == ["rbf"] and not any(given.values()):
        return None
    has = {
        "linear": ("C",),
        "rbf": ("C", "gamma"),
        "poly": ("C", "gamma", "degree", "coef0"),
        "sigmoid": ("C", "gamma", "coef0"),
    }
    usual = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale"], "degree": [2, 3], "coef0": [1.0]}
    grid = []
    for name in kernels:
        if name not in has:
            from tamiz.cli.console import UsageProblem

            raise UsageProblem(f"--kernel {name!r} is not known; use {', '.join(has)}.")
        grid.append({"kernel": [name], **{key: given[key] or usual[key] for key in has[name]}})
    return grid


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
