"""``tamiz predict``: a kept model applied to new rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tamiz.cli import options as opt


def predict(
    model: Annotated[str, typer.Argument(help="File that 'fit' or 'select --save' wrote.")],
    data: opt.Data,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Write a CSV file instead of printing.")
    ] = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Predict the target of new rows.

    Example:  tamiz predict model.tamiz new.csv --out predictions.csv

    The new table needs the columns that the model was fitted to, in any order; others are passed
    over. If it has the target too, the error is told.
    """
    from tamiz.cli.console import say_json, tell
    from tamiz.cli.problems import UsageProblem, usage

    opt.check_writable(out, "--out")
    with usage():
        from tamiz import load as read_model
        from tamiz.cli.table_model import TableModel

        fitted = read_model(model)
        if not isinstance(fitted, TableModel):
            raise UsageProblem(
                f"{model} holds a {type(fitted).__name__}, not a model that 'tamiz fit' wrote; "
                "load it in Python with tamiz.load."
            )
        table, truth = _read(fitted, data, sep, decimal, quiet)
        X, notes = fitted.table(table)
    for note in notes:
        tell(note)
    found = fitted.predict(X)
    scores = fitted.decision_function(X)
    if json:
        document: dict[str, Any] = {
            "model": model,
            "target": fitted.target,
            "classes": fitted.labels,
            "predictions": found.tolist(),
            "n_samples": len(found),
            "notes": notes,
        }
        if scores is not None:
            document["scores"] = scores.tolist()
        say_json(document)
    else:
        _write(fitted, found, scores, out)
    if truth is not None:
        _tell_error(fitted, found, truth)
    if out is not None:
        tell(f"{len(found):,} predictions are in {out}")


def _read(fitted: Any, data: str, sep: str | None, decimal: str | None, quiet: bool) -> Any:
    """The columns that the model needs, and the target if the table has it."""
    import warnings

    from tamiz.data import load

    arguments: dict[str, Any] = {
        "encode": None,
        "separator": sep,
        "decimal": decimal,
        "verbose": 0 if quiet else 1,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what columns are, the model knows
        whole = load(data, False, **arguments)
        truth = None
        if fitted.target in whole.feature_names:
            truth = whole.X[:, whole.feature_names.index(fitted.target)]
            whole = whole.drop([fitted.target])
    return whole, truth


def _write(fitted: Any, found: Any, scores: Any, out: str | None) -> None:
    import csv
    import io
    import os

    from tamiz.cli.console import say

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = [fitted.target or "prediction"]
    columns = [found.tolist()]
    if scores is not None and scores.ndim == 1:
        head.append("score")
        columns.append(scores.tolist())
    writer.writerow(head)
    writer.writerows(zip(*columns, strict=True))
    if out is None:
        say(text.getvalue().rstrip("\n"))
        return
    whole = f"{out}.part"
    try:
        with open(whole, "w", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
        os.replace(whole, out)
    except OSError:
        if os.path.exists(whole):
            os.remove(whole)
        raise


def _tell_error(fitted: Any, found: Any, truth: Any) -> None:
    import numpy as np

    from tamiz.cli.console import number, percent, tell
    from tamiz.cli.table_model import _text

    if fitted.labels is None:
        try:
            wrong = np.sqrt(np.mean((np.asarray(truth, dtype=float) - found) ** 2))
        except (TypeError, ValueError):
            return
        tell(f"root mean squared error on these rows: {number(float(wrong))}")
        return
    names = np.array([_text(cell) for cell in truth])
    wrong = np.mean(names != found)
    tell(f"error on these rows: {percent(float(wrong))} of {len(found):,}")
