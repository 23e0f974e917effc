"""``tamiz fit``: a model to keep, with the error to expect."""

from __future__ import annotations

from typing import Annotated

import typer

from tamiz.cli import options as opt


def fit(
    data: opt.Data,
    save: Annotated[str, typer.Option("--save", "-s", help="File to keep the model in.")],
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="Method that selects features; none: all.")
    ] = None,
    k: Annotated[int | None, typer.Option("-k", help="How many features to select.")] = None,
    judge: Annotated[
        str, typer.Option(help="svc-linear, svc-rbf, knn or tree: what predicts.")
    ] = "svc-rbf",
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="Parameter of the judge, NAME=VALUE; repeatable."),
    ] = None,
    cv: Annotated[int, typer.Option(help="Folds for the error; 0: do not estimate it.")] = 5,
    scale: Annotated[str, typer.Option(help="standard, minmax or none.")] = "standard",
    target: opt.Target = None,
    drop: opt.Drop = None,
    role: opt.Role = None,
    task: opt.Task = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    rows: opt.Rows = None,
    json: opt.Json = False,
    seed: opt.Seed = 0,
    quiet: opt.Quiet = False,
) -> None:
    """Fit a model, keep it in a file, and say what error to expect.

    Example:  tamiz fit train.csv --save model.tamiz -m mrmr -k 20 -p C=10
              tamiz predict model.tamiz new.csv > predictions.csv
    """
    from tamiz.cli.console import number, percent, say, say_json, tell
    from tamiz.cli.problems import usage
    from tamiz.cli.rank import read_params

    opt.check_writable(save, "--save")
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
    import numpy as np
    from sklearn.model_selection import cross_val_score

    from tamiz import save as write_model
    from tamiz.cli.table_model import TableModel
    from tamiz.cli.wording import tell_notes
    from tamiz.evaluation._compare_judges import judge_name
    from tamiz.evaluation._plan import plan_parts
    from tamiz.evaluation.methods import find_method
    from tamiz.reports.study import make_pipeline_for

    encoded = dataset.encode("onehot") if dataset.levels else dataset
    y = np.asarray(dataset.y)
    with usage():
        if k is not None and method is None:
            raise ValueError("-k needs --method, which says how the features are selected.")
        if scale not in ("standard", "minmax", "none"):
            raise ValueError(f"--scale {scale!r} is not known; use standard, minmax or none.")
        judge = judge_name(judge)
        method = None if method is None else find_method(method).name
        model = make_pipeline_for(
            encoded, method or "all", judge, k, None if scale == "none" else scale, seed
        )
        params = read_params(param)
        last = model[-1][-1] if hasattr(model[-1], "steps") else model[-1]
        last.set_params(**params)
        kind = dataset.task or "classification"
        if cv < 0:
            raise ValueError(f"--cv {cv} is not possible; use a number of folds from 2, or 0.")
        parts = plan_parts(cv, 1, encoded.X, y, kind, seed, None) if cv else []
        # first of all to everything, so that what it refuses is told in its own name
        fitted = TableModel.fitted(dataset, model)
    error = spread = None
    if parts:
        scoring = "neg_root_mean_squared_error" if dataset.task == "regression" else "accuracy"
        scores = cross_val_score(
            model,  # a copy of it
            encoded.X,
            y,
            cv=[(part.train, part.test) for part in parts],
            scoring=scoring,
            error_score="raise",
        )
        errors = -scores if dataset.task == "regression" else 1.0 - scores
        error, spread = float(np.mean(errors)), float(np.std(errors, ddof=1))
    write_model(fitted, save)
    tell_notes(encoded, quiet)
    selected = list(encoded.feature_names)
    if "select" in model.named_steps:
        selected = [selected[j] for j in model["select"].get_support(indices=True)]
    if json:
        say_json(
            {
                "model": save,
                "judge": judge,
                "method": method,
                "features": selected,
                "error": error,
                "error_std": spread,
                "cv": cv,
                "n_samples": dataset.n_samples,
                "n_features": encoded.n_features,
                "task": dataset.task,
                "target": dataset.target,
            }
        )
        return
    say(f"{judge} fitted to {dataset.n_samples:,} rows with {len(selected):,} features")
    if method is not None:
        say(f"selected by {method}: {', '.join(selected[:12])}{', …' if selected[12:] else ''}")
    if error is not None and spread is not None:
        form = number if dataset.task == "regression" else percent
        what = "root mean squared error" if dataset.task == "regression" else "error"
        say(
            f"{what} to expect on new data: {form(error)} (spread over {cv} folds {form(spread)}; "
            "selection and scaling inside the training parts)"
        )
    tell(f"the model is in {save}; use it with: tamiz predict {save} NEW_DATA")
