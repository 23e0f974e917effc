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
        str,
        typer.Option(
            help="What predicts: svc-rbf, linear, tree, forest, boosting, svc-linear or knn."
        ),
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
    from tamiz.cli.console import command_line, say_json, tell, usage
    from tamiz.cli.rank import read_params

    opt.check_writable(save, "--save")
    dataset = opt.read(data, reading=reading, quiet=quiet)
    encoded = dataset.encode("onehot") if dataset.levels else dataset
    from tamiz import save as write_model
    from tamiz.cli.console import tell_notes
    from tamiz.cli.table_model import TableModel

    with usage():
        method, judge, model = _pipeline(encoded, method, judge, k, scale, seed)
        last = model[-1][-1] if hasattr(model[-1], "steps") else model[-1]
        last.set_params(**read_params(param))
        parts = _parts(encoded, cv, seed)
        # fitted to all rows first, so that what the method refuses is said in its own name
        card = {"method": method, "judge": judge, "command": command_line()}
        fitted = TableModel.fitted(dataset, model, card=card, calibrate=not parts, seed=seed)
    honest = _honest(fitted, model, encoded, parts) if parts else {}
    if parts:
        fitted.card["honest"] = honest
    write_model(fitted, save)
    tell_notes(encoded, quiet)
    if json:
        say_json(
            {
                "model": save,
                "judge": judge,
                "method": method,
                "features": fitted.features_ or [],
                "columns": fitted.columns,
                "error": honest.get("error"),
                "error_std": honest.get("std"),
                **{key: honest.get(key) for key in ("low", "high", "metric")},
                "cv": cv,
                "n_samples": dataset.n_samples,
                "n_features": encoded.n_features,
                "task": dataset.task,
                "target": dataset.target,
            }
        )
        return
    _show(fitted, cv)
    tell(f"the model is in {save}; use it with: tamiz predict {save} NEW_DATA")


def _pipeline(
    data: Any, method: str | None, judge: str, k: int | None, scale: str, seed: int
) -> tuple[str | None, str, Any]:
    """The names of method and judge, and the pipeline of both."""
    from tamiz.evaluation.judges import judge_name
    from tamiz.evaluation.methods import find_method
    from tamiz.evaluation.study import make_pipeline_for
    from tamiz.validation import one_of

    if k is not None and method is None:
        raise ValueError("-k needs --method, which says how the features are selected.")
    if k is not None and not 1 <= k <= data.n_features:
        coded = ", as each level of a category is one here" if data.feature_groups else ""
        raise ValueError(
            f"-k {k} is not possible: the table has {data.n_features:,} features{coded}."
        )
    one_of("standard", "minmax", "none")("scale", scale)
    judge = judge_name(judge)
    method = None if method is None else find_method(method).name
    scaled = None if scale == "none" else scale
    return method, judge, make_pipeline_for(data, method or "all", judge, k, scaled, seed)


def _parts(data: Any, cv: int, seed: int) -> Any:
    """The splits that estimate the error; none for ``--cv 0``."""
    import numpy as np

    from tamiz.evaluation.comparison.setting import plan_parts
    from tamiz.validation import integer_from

    if cv == 0:
        return []
    cv = integer_from(2, of="folds")("cv", cv)
    from tamiz.search.splits import TimeFolds

    task, groups = data.task or "classification", data.extras.get("groups")
    times = data.extras.get("time")
    if times is not None:
        return plan_parts(TimeFolds(cv), 1, data.X, np.asarray(data.y), task, seed, times)
    return plan_parts(cv, 1, data.X, np.asarray(data.y), task, seed, groups)


def _show(fitted: Any, cv: int) -> None:
    """What was fitted, and the error to expect."""
    from tamiz.cli.console import number, percent, say

    card, selected = fitted.card, fitted.features_ or []
    say(f"{card['judge']} fitted to {card['n_samples']:,} rows with {len(selected):,} features")
    if card["method"] is not None:
        names = f"{', '.join(selected[:12])}{', …' if selected[12:] else ''}"
        say(f"selected by {card['method']}: {names}")
    honest = card.get("honest")
    if honest:
        form = number if fitted.task == "regression" else percent
        say(
            f"{honest['metric']} to expect on new data: {form(honest['error'])} (spread over {cv} "
            f"folds {form(honest['std'])}; selection and scaling inside the training parts)"
        )


def _honest(fitted: Any, pipeline: Any, data: Any, parts: Any) -> dict[str, Any]:
    """The error of rows that took no part in the fit; their decision values give probabilities."""
    import numpy as np
    from scipy.stats import binomtest

    from tamiz.cli.calibration import out_of_fold

    how = f"{len(parts)}-fold cross-validation" + ", by groups" * ("groups" in data.extras)
    if "time" in data.extras:
        how = f"{len(parts)} splits in the order of time"
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
        tested = np.concatenate([test for _, test in splits])
        counted = weights[tested]
        n = float(counted.sum() ** 2 / (counted**2).sum())  # the effective number of rows
        rate = float(np.average(loss[tested], weights=counted))
        ends = binomtest(round(rate * n), max(1, round(n))).proportion_ci(method="wilson")
        low, high = float(ends.low), float(ends.high)
    return {
        "error": float(np.mean(errors)),
        "std": float(np.std(errors, ddof=1)),
        "low": low,
        "high": high,
        "metric": "root mean squared error" if regression else "error",
        "how": f"{how}, selection and scaling inside the training parts",
    }
