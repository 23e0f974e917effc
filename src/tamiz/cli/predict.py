"""``tamiz predict`` and ``tamiz show``: a kept model applied to new rows, and its card."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any, NamedTuple

import typer

from tamiz.cli import options as opt


@opt.reads
def predict(
    model: Annotated[str, typer.Argument(help="File that 'fit' or 'select --save' wrote.")],
    data: opt.Data,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Write a CSV file instead of printing.")
    ] = None,
    id_column: Annotated[
        list[str] | None,
        typer.Option(
            "--id", help="Column to copy beside the predictions; repeatable. Default: identifiers."
        ),
    ] = None,
    no_id: Annotated[bool, typer.Option("--no-id", help="Copy no identifiers.")] = False,
    *,
    reading: opt.NewTable,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Predict the target of new rows.

    Example:  tamiz predict model.tamiz new.csv --out predictions.csv

    The new table needs the columns that the model uses ('tamiz show' lists them),
    in any order; others are ignored. Identifiers are copied. If it has the target
    too, or --labels names a file that does, the error is reported.
    """
    from tamiz.cli.console import say_json, tell, usage

    opt.check_writable(out, "--out", opt.PREDICTIONS)
    with usage():
        fitted = read_table_model(model)
        rows = new_rows(fitted, data, reading.arguments(quiet), id_column, no_id, reading.labels)
    X, ids, truth, notes = rows
    for note in notes:
        tell(note)
    found = _Predicted(fitted.predict(X), fitted.decision_function(X), fitted.predict_proba(X), ids)
    error = None if truth is None else _tell_error(fitted, found.labels, truth)
    if json:
        document = {"model": model, "target": fitted.target, "classes": fitted.labels}
        say_json({**document, **found.document(fitted), "error": error, "notes": notes})
    if out is not None or not json:
        write_csv(found.columns(fitted), out)
    if out is not None:
        tell(f"{len(found.labels):,} predictions are in {out}")


class _Predicted(NamedTuple):
    """Predictions of some rows, and the identifiers that are copied beside them."""

    labels: Any
    scores: Any
    chances: Any
    ids: dict[str, list[str]]

    def document(self, fitted: Any) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"predictions": self.labels.tolist()}
        found |= {"n_samples": len(self.labels), "ids": self.ids}
        if self.scores is not None:
            found["scores"] = self.scores.tolist()
        if self.chances is not None:
            columns = self.chances.T.tolist()
            found["probabilities"] = dict(zip(_classes(fitted), columns, strict=True))
        return found

    def columns(self, fitted: Any) -> dict[str, list[Any]]:
        """For CSV, by name."""
        columns = {
            **self.ids,
            free_name(fitted.target or "prediction", self.ids): self.labels.tolist(),
        }
        if self.chances is not None:
            for name, column in zip(_classes(fitted), self.chances.T, strict=True):
                columns[free_name(f"p({name})", columns)] = [f"{value:.6g}" for value in column]
        if self.scores is not None and self.scores.ndim == 1:
            columns[free_name("score", columns)] = self.scores.tolist()
        return columns


class NewRows(NamedTuple):
    """Rows of a new table in the form that a model takes, and what stands beside them."""

    X: Any
    ids: dict[str, list[str]]
    truth: Any
    notes: list[str]


def read_table_model(model: str) -> Any:
    """The model of a file that 'tamiz fit' wrote."""
    from tamiz import load as read_model
    from tamiz.cli.console import UsageProblem
    from tamiz.cli.table_model import TableModel

    fitted = read_model(model)
    if not isinstance(fitted, TableModel):
        raise UsageProblem(
            f"{model} holds a {type(fitted).__name__}, not a model that 'tamiz fit' wrote; "
            "load it in Python with tamiz.load."
        )
    return fitted


def new_rows(
    fitted: Any,
    data: str,
    arguments: dict[str, Any],
    id_column: list[str] | None,
    no_id: bool,
    labels: str | None = None,
) -> NewRows:
    """Read a new table for a model, with the identifiers to copy and the target if it is there."""
    table, truth = _read(fitted, data, arguments)
    if labels is not None:
        truth = _labels(fitted, table, data, labels, arguments)
    X, notes = fitted.table(table)
    copied = [] if no_id else _identifiers(fitted, table, id_column)
    ids = {name: _as_written(table, data, name, arguments, notes) for name in copied}
    if "samples" in table.extras and not no_id:
        ids["sample"] = [str(name) for name in table.extras["samples"]]
    return NewRows(X, ids, truth, notes)


def _read(fitted: Any, data: str, arguments: dict[str, Any]) -> Any:
    """The new table, and apart from it the target if the table has one."""
    import warnings

    from tamiz.data import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what columns are, the model knows
        whole = load(data, False, encode=None, **arguments)
        truth = None
        if fitted.target in whole.feature_names and fitted.target not in fitted.columns:
            truth = whole.keep([fitted.target]).X
            truth = (truth.toarray() if hasattr(truth, "toarray") else truth).ravel()
            if whole.n_features > 1:
                whole = whole.drop([fitted.target])
    return whole, truth


def _labels(
    fitted: Any, table: Any, data: str, labels: str, arguments: dict[str, Any]
) -> list[Any]:
    """The targets of the samples from a file; None for a sample that it does not name."""
    from dataclasses import replace
    from pathlib import Path

    from tamiz.data.errors import DataError, NoLabelColumn
    from tamiz.data.formats.transposed import labels_of
    from tamiz.data.plan import Options

    if "samples" not in table.extras:
        raise DataError("--labels goes with --transpose; in other tables the target is a column.")
    samples = [str(name) for name in table.extras["samples"]]
    options = Options(labels=labels)
    options.encoding, options.missing = arguments["encoding"], arguments["missing"]
    source = Path(data).name
    try:
        try:
            found = labels_of(samples, options, source)  # two columns, whatever their names
        except NoLabelColumn:
            found = labels_of(samples, replace(options, target=fitted.target), source)
    except NoLabelColumn as error:
        raise DataError(
            f"{labels} gives no labels: it needs a column with the names of the samples, and one "
            f"called {fitted.target!r}."
        ) from error
    texts = [label for label in found if isinstance(label, str)]
    if fitted.task == "regression" and texts:
        raise DataError(f"{labels} holds text such as {texts[0]!r}; the model predicts numbers.")
    return found


def _identifiers(fitted: Any, table: Any, asked: list[str] | None) -> list[str]:
    """Columns to copy: those asked for, else those that identify rows and are no features."""
    from tamiz.data.errors import DataError, near
    from tamiz.data.plan import named_like_id

    names = table.feature_names
    for name in asked or []:
        if name not in names:
            raise DataError(f"--id names {name!r}, which the table lacks.{near(name, names)}")
    if asked:
        return list(dict.fromkeys(asked))
    return [
        name
        for name in names
        if name not in fitted.columns
        and (table.roles.get(name) == "id" or name in fitted.ids_ or named_like_id(name))
    ]


def _as_written(
    table: Any, data: str, name: str, arguments: dict[str, Any], notes: list[str]
) -> list[str]:
    """The cells of a column as the file has them: 007 is no number, and 2⁵³ + 1 no float."""
    import warnings

    import numpy as np

    from tamiz.cli.table_model import text_of
    from tamiz.data import DataError, load
    from tamiz.data.dataset import MISSING

    j = table.feature_names.index(name)
    cells = table.X[:, [j]].toarray().ravel() if hasattr(table.X, "toarray") else table.X[:, j]
    texts = ["" if (text := text_of(cell)) == MISSING else text for cell in cells]
    if any(isinstance(cell, str) for cell in cells):
        return texts
    # with its head as a row, the column is text
    with warnings.catch_warnings(), contextlib.suppress(DataError):
        warnings.simplefilter("ignore")
        place = list(table.roles).index(name)
        as_row = {**arguments, "columns": [place], "header": False, "encode": None}
        raw = load(data, False, **as_row).X[:, 0]
        if len(raw) == len(texts) + 1 and raw[0] == name:
            return ["" if cell is None else str(cell) for cell in raw[1:]]
    if np.nanmax(np.abs(np.asarray(cells, dtype=float)), initial=0.0) >= 2.0**53:
        notes.append(f"column {name!r} holds integers beyond 2^53, which are rounded.")
    return texts


def _classes(fitted: Any) -> list[str]:
    return [str(name) for name in fitted.classes_]


def free_name(name: str, taken: Any) -> str:
    """A name that no column has yet."""
    while name in taken:
        name += "_"
    return name


def write_csv(columns: dict[str, list[Any]], out: str | None, what: str = "predictions") -> None:
    """Write columns to a file, or print them."""
    import csv
    import io

    from tamiz.cli.console import say, write_out

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    if out is not None:  # a file may be opened by a spreadsheet, standard output is for programs
        rows = [[_harmless(cell) for cell in row] for row in rows]
    writer.writerows(rows)
    if out is None:
        _refuse_loss(text.getvalue())
        say(text.getvalue().rstrip("\n"))
        return
    write_out(out, text.getvalue().encode("utf-8"), what)


#: What a formula begins with, or what hides its beginning; the last four are as wide as a letter
#: of Japanese, whose spreadsheets take them for the others.
_FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


def _harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe before it.

    >>> [_harmless(cell) for cell in ("=1+1", "-1.5", "-", "@x", -2, "a=b", "\uff1d1")]
    ["'=1+1", '-1.5', '-', "'@x", -2, 'a=b', "'\uff1d1"]
    """
    if not isinstance(cell, str) or len(cell) < 2 or cell[0] not in _FORMULA:
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _refuse_loss(text: str) -> None:
    """Names of classes must not be changed on their way out."""
    import sys

    from tamiz.cli.console import Problem

    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        letter = text[error.start]
        raise Problem(
            f"standard output ({encoding}) cannot show {letter!a}; use --out FILE, or set "
            "PYTHONIOENCODING=utf-8."
        ) from None


def _tell_error(fitted: Any, found: Any, truth: Any) -> float | None:
    import numpy as np

    from tamiz.cli.console import number, percent, tell
    from tamiz.cli.table_model import text_of
    from tamiz.data.dataset import MISSING

    if fitted.labels is None:
        try:
            wanted = np.array([np.nan if cell is None else cell for cell in truth], dtype=float)
        except (TypeError, ValueError):
            return None
        there = np.isfinite(wanted)
        if not there.any():
            return None
        wrong = float(np.sqrt(np.mean((wanted[there] - found[there]) ** 2)))
        tell(f"root mean squared error on these rows: {number(wrong)}")
        return wrong
    names = np.array([text_of(cell) for cell in truth], dtype=object)
    there = names != MISSING
    if not there.any():
        return None
    wrong = float(np.mean(names[there] != found[there]))
    balanced = ""
    if ((fitted.card or {}).get("honest") or {}).get("metric") == "balanced error":
        each = [np.mean(found[names == name] != name) for name in np.unique(names[there])]
        balanced = f"; balanced error {percent(float(np.mean(each)))}"
    tell(f"error on these rows: {percent(wrong)} of {int(there.sum()):,}{balanced}")
    return wrong


# ------------------------------------------------------------------------ tamiz show


def show(
    model: Annotated[str, typer.Argument(help="File that tamiz wrote.")],
    onnx: Annotated[
        str | None,
        typer.Option(help="Write the model as an ONNX graph, for programs without Python."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Show the card of a kept model: its data, features, columns and error.

    Example:  tamiz show model.tamiz --onnx model.onnx
    """
    from tamiz.cli.console import say, say_json, usage

    opt.check_writable(onnx, "--onnx", opt.GRAPH)
    with usage():
        from tamiz import load as read_model
        from tamiz.cli.table_model import TableModel

        found = read_model(model)
    if onnx is not None:
        _write_graph(found, onnx)
    kind = type(found).__name__
    if isinstance(found, TableModel):
        card = found.about()
        if json:
            say_json({"model": model, "kind": kind, **card})
        else:
            for line in _lines(card):
                say(line)
        return
    said = " ".join(repr(found).split())
    if json:
        say_json({"model": model, "kind": kind, "repr": said})
    else:
        say(
            f"{model} holds {said} of class {kind}, not a model that reads tables; load it in "
            "Python with tamiz.load."
        )


def _write_graph(found: Any, path: str) -> None:
    """The model as an ONNX graph; one of a table names in it what it takes and gives."""
    import json

    from tamiz.cli.console import tell, usage, write_out
    from tamiz.cli.table_model import TableModel

    of_table = isinstance(found, TableModel)
    with usage():
        from tamiz.onnx import to_onnx

        made = to_onnx(found.pipeline if of_table else found)
    if not of_table:
        write_out(path, made.SerializeToString(), "graph")
        tell(f"the graph is in {path}")
        return
    import onnx

    names = [one["name"] for one in found.about()["features"]]
    facts: dict[str, Any] = {"features": names, "target": found.target}
    if found.labels is not None and found.task != "regression":
        facts |= {"classes": found.labels, "labels": found.pipeline.classes_.tolist()}
    onnx.helper.set_model_props(made, {name: json.dumps(said) for name, said in facts.items()})
    write_out(path, made.SerializeToString(), "graph")
    tell(f"the graph is in {path}; the {len(names):,} numbers that a row takes are in its metadata")


def _lines(card: dict[str, Any]) -> list[str]:
    """The card in lines of a name and what is known."""
    from tamiz.cli.console import number, percent

    features, columns = card["features"], card["columns"]
    used = list(dict.fromkeys(one["column"] for one in features))  # indicators of one, once
    judge = str(card["judge"])
    if card.get("params"):
        shown = ((k, number(v) if isinstance(v, float) else v) for k, v in card["params"].items())
        judge += f" ({', '.join(f'{key}={value}' for key, value in shown)})"
    rows = {
        "predicts": f"{card['target'] or 'the target'} ({card['task'] or 'classification'})",
        "classes": ", ".join(
            name if count is None else f"{name} ({count:,} rows)"
            for name, count in (card.get("classes") or {}).items()
        ),
        "fitted to": _joined(card.get("data"), f"{card['n_samples']:,} rows")
        if "n_samples" in card
        else "",
        "judge": judge,
        "features": f"{len(used):,}"
        + (f" (as {len(features):,} numbers)" if len(features) > len(used) else "")
        + (f", selected by {card['method']}" if card.get("method") else ""),
        "": ", ".join(used[:50]) + (f", and {len(used) - 50:,} more" if used[50:] else ""),
        "needs": f"{len(columns):,} columns of a table: {', '.join(columns[:50])}"
        + (", …" if columns[50:] else ""),
    }
    honest = card.get("honest")
    if honest is not None:
        form = number if card["task"] == "regression" else percent
        said = f"{honest.get('metric') or 'error'} {form(honest['error'])}"
        if honest.get("low") is not None and honest.get("high") is not None:
            said += f" ({form(honest['low'])} to {form(honest['high'])})"
        rows["expect"] = said + (f", by {honest['how']}" if honest.get("how") else "")
    rows["probabilities"] = card.get("probabilities") or ""
    rows["written"] = _joined(
        card.get("created"), f"by tamiz {card['tamiz']}" if "tamiz" in card else None
    )
    rows["command"] = card.get("command") or ""
    return [f"{name:<15}{text}".rstrip() for name, text in rows.items() if text]


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)
