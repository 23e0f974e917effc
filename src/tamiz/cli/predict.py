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
    if out is not None or not json:
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
    import contextlib
    import csv
    import io
    import os
    import tempfile

    from tamiz.cli.console import say
    from tamiz.cli.problems import Problem

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
        _refuse_loss(text.getvalue())
        say(text.getvalue().rstrip("\n"))
        return
    place = os.path.realpath(out)  # of a link, what it points to is replaced
    whole = None
    try:
        handle, whole = tempfile.mkstemp(prefix=".tamiz-", dir=os.path.dirname(place))
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(whole, os.stat(place).st_mode & 0o777 if os.path.exists(place) else 0o666 & ~mask)
        os.replace(whole, place)
        whole = None
    except OSError as error:
        raise Problem(
            f"the predictions cannot be written to {out!r} ({error.strerror or error}); a file "
            "that was there before is unchanged."
        ) from None
    finally:
        if whole is not None:
            with contextlib.suppress(OSError):
                os.remove(whole)


def _refuse_loss(text: str) -> None:
    """Names of classes must not be changed on their way out."""
    import sys

    from tamiz.cli.problems import Problem

    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        letter = text[error.start]
        raise Problem(
            f"standard output ({encoding}) cannot show {letter!a}; use --out FILE, or set "
            "PYTHONIOENCODING=utf-8."
        ) from None


def _tell_error(fitted: Any, found: Any, truth: Any) -> None:
    import numpy as np

    from tamiz.cli.console import number, percent, tell
    from tamiz.cli.table_model import _text
    from tamiz.data.encoding import MISSING

    if fitted.labels is None:
        try:
            wanted = np.array([np.nan if cell is None else cell for cell in truth], dtype=float)
        except (TypeError, ValueError):
            return
        there = np.isfinite(wanted)
        if there.any():
            wrong = np.sqrt(np.mean((wanted[there] - found[there]) ** 2))
            tell(f"root mean squared error on these rows: {number(float(wrong))}")
        return
    names = np.array([_text(cell) for cell in truth], dtype=object)
    there = names != MISSING
    if there.any():
        wrong = np.mean(names[there] != found[there])
        tell(f"error on these rows: {percent(float(wrong))} of {int(there.sum()):,}")
