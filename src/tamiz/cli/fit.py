"""``tamiz fit``: a model to keep, with the error to expect."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tamiz.cli import options as opt


@opt.reads
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
    *,
    reading: opt.Reading,
    json: opt.Json = False,
    seed: opt.Seed = 0,
    quiet: opt.Quiet = False,
) -> None:
    """Fit a model, keep it in a file, and say what error to expect.

    Example:  tamiz fit train.csv --save model.tamiz -m mrmr -k 20 -p C=10
              tamiz predict model.tamiz new.csv > predictions.csv
    """
    from tamiz.cli.console import command_line, number, percent, say, say_json, tell
    from tamiz.cli.problems import usage
    from tamiz.cli.rank import read_params

    opt.check_writable(save, "--save")
    dataset = opt.read(data, reading=reading, quiet=quiet)
    import numpy as np

    from tamiz import save as write_model
    from tamiz.cli.table_model import TableModel
    from tamiz.cli.wording import tell_notes
    from tamiz.evaluation.comparison.setting import plan_parts
    from tamiz.evaluation.judges import judge_name
    from tamiz.evaluation.methods import find_method
    from tamiz.evaluation.study import make_pipeline_for

    groups = dataset.extras.get("groups")
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
        last = model[-1][-1] if hasattr(model[-1], "steps") else model[-1]
        last.set_params(**read_params(param))
        kind = dataset.task or "classification"
        if cv < 0:
            raise ValueError(f"--cv {cv} is not possible; use a number of folds from 2, or 0.")
        parts = plan_parts(cv, 1, encoded.X, y, kind, seed, groups) if cv else []
        # first of all to everything, so that what it refuses is said in its own name
        card = {"method": method, "judge": judge, "command": command_line()}
        fitted = TableModel.fitted(dataset, model, card=card, calibrate=not parts, seed=seed)
    honest = _honest(fitted, model, encoded, parts) if parts else {}
    if parts:
        fitted.card["honest"] = honest
    write_model(fitted, save)
    tell_notes(encoded, quiet)
    error, selected = honest.get("error"), fitted.features_ or []
    if json:
        say_json(
            {
                "model": save,
                "judge": judge,
                "method": method,
                "features": selected,
                "columns": fitted.columns,
                "error": error,
                "error_std": honest.get("std"),
                "low": honest.get("low"),
                "high": honest.get("high"),
                "metric": honest.get("metric"),
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
    if error is not None:
        form = number if dataset.task == "regression" else percent
        say(
            f"{honest['metric']} to expect on new data: {form(error)} (spread over {cv} folds "
            f"{form(honest['std'])}; selection and scaling inside the training parts)"
        )
    tell(f"the model is in {save}; use it with: tamiz predict {save} NEW_DATA")


def _honest(fitted: Any, pipeline: Any, data: Any, parts: Any) -> dict[str, Any]:
    """The error of rows that took no part in the fit; their decision values give probabilities."""
    import numpy as np
    from scipy.stats import binomtest

    from tamiz.cli.calibration import out_of_fold

    how = f"{len(parts)}-fold cross-validation" + ", by groups" * ("groups" in data.extras)
    y, weights = np.asarray(data.y), data.extras.get("weights")
    splits = [(part.train, part.test) for part in parts]
    found, values = out_of_fold(pipeline, data.X, y, splits, weights)
    regression = fitted.task == "regression"
    loss = (found - y) ** 2 if regression else (found != y).astype(float)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    errors = [np.average(loss[test], weights=weights[test]) for _, test in splits]
    low = high = None
    if regression:
        errors = np.sqrt(errors).tolist()
    else:
        fitted.calibrate(values, y, how, weights)
        n = float(weights.sum() ** 2 / (weights**2).sum())  # rows that so much is known of
        share = float(np.average(loss, weights=weights))
        ends = binomtest(round(share * n), max(1, round(n))).proportion_ci(method="wilson")
        low, high = float(ends.low), float(ends.high)
    return {
        "error": float(np.mean(errors)),
        "std": float(np.std(errors, ddof=1)),
        "low": low,
        "high": high,
        "metric": "root mean squared error" if regression else "error",
        "how": f"{how}, selection and scaling inside the training parts",
    }
