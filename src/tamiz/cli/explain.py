"""``tamiz explain``: what each feature adds to the predictions of a kept model."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Annotated, Any

import typer

from tamiz.cli import options as opt
from tamiz.cli.predict import free_name, new_rows, read_table_model, write_csv

#: Rows that are printed if no file is written.
_SHOWN = 20
#: Decisions that are named beside the one that is explained.
_NAMED = 11
#: Different rows that may be their own background: of fewer, each is compared with hardly anything.
_ENOUGH = 10
#: Seconds from which on a run says beforehand how long it takes.
_LONG = 20.0


@opt.reads
def explain(
    model: Annotated[str, typer.Argument(help="File that 'fit' or 'select --save' wrote.")],
    data: opt.Data,
    background: Annotated[
        str | None,
        typer.Option(
            help="Table such as that of the training, which values that are not known are taken "
            "from. Default: DATA itself, if ten of its rows differ."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="Write what every feature adds as CSV, or a picture (png, svg, pdf).",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Features that are named for each row.")] = 3,
    output: Annotated[
        str | None,
        typer.Option(
            help="Of three classes or more: which decision, by name or position. Default: first."
        ),
    ] = None,
    *,
    reading: opt.ExplainedTable,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Explain predictions of new rows: what each feature adds to the value.

    Example:  tamiz explain model.tamiz new.csv --background train.csv

    With the base, the value when no feature is known, what the features add
    sums to the value of the model. Of two classes it speaks for the second
    one above zero, or above 0.5 where it is a probability (trees, forests,
    neighbours): the head of the column says which. With more classes the
    decision that is explained is named. A category is one feature. Ctrl-C
    shows, or writes, the rows that are done.
    """
    from tamiz.cli.console import CutShort, say, say_json, tell, usage

    opt.check_writable(out, "--out", opt.EXPLANATIONS)
    arguments = reading.arguments(quiet)
    with usage():
        fitted = read_table_model(model)
        rows = new_rows(fitted, data, arguments, None, False, reading.labels)
        given = None if background is None else new_rows(fitted, background, arguments, None, True)
        pipeline, X, Z = _without_missing(fitted.pipeline, rows.X, (given or rows).X)
        _check_background(X, given, data)
        asked = {"n_permutations": reading.permutations, "feature_groups": _columns_of(fitted)}
        if not quiet:
            _announce(pipeline, X[: reading.rows], Z, asked)
        found, stopped = _explained(pipeline, X[: reading.rows], Z, asked, quiet)
        found = replace(found, output_names=_outputs(fitted, found.output_names))
        values, base = found.of(_chosen(output, found.output_names))
    rows = _first(rows, len(values), stopped)
    decision = _name(output, found.output_names) if len(found.output_names) > 1 else None
    for note in rows.notes:
        tell(note)
    names = found.feature_names
    labels = fitted.predict(rows.X).tolist()
    if json:
        say_json({"model": model, **_document(found, output, values, base, names, labels, rows)})
    if out is not None:
        columns = _columns(fitted, rows.ids, labels, values, base, names, decision)
        _write(found, columns, names, decision, out)
    elif not json:
        if decision is not None:
            say(_which(decision, found.output_names))
            _tell_others(decision, labels)
        _print(rows.ids, labels, values, base, names, top, _head(found))
        _tell_error(found)
    if stopped:
        raise CutShort


def _tell_others(decision: str, labels: list[Any]) -> None:
    """Say that rows are predicted to be neither of the two classes of a pair."""
    from tamiz.cli.console import tell

    sides = decision.split(" over ")
    others = sum(str(label) not in sides for label in labels)
    if len(sides) == 2 and others:
        tell(
            f"{others:,} of {len(labels):,} rows are predicted to be neither; name a pair that has "
            "their class with --output"
        )


def _columns_of(fitted: Any) -> dict[str, list[int]]:
    """The places of every column among the numbers and indicators of the model."""
    places: dict[str, list[int]] = {}
    for j, name in enumerate(fitted.sources):
        places.setdefault(name, []).append(j)
    return places


def _announce(pipeline: Any, X: Any, Z: Any, asked: dict[str, Any]) -> None:
    """Say how long it takes if that is long; one row is tried for it."""
    from tamiz.cli.console import tell
    from tamiz.explain import shapley_values

    if len(X) < 2:
        return
    shapley_values(pipeline, X[:1], Z, random_state=0, **asked | {"n_permutations": 2})
    began = time.perf_counter()
    shapley_values(pipeline, X[:1], Z, random_state=0, **asked)
    seconds = (time.perf_counter() - began) * len(X)
    if seconds > _LONG:
        took = f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} minutes"
        tell(
            f"{len(X):,} rows take about {took}; --rows and --permutations make it shorter, and "
            "Ctrl-C keeps the rows that are done"
        )


def _explained(
    pipeline: Any, X: Any, Z: Any, asked: dict[str, Any], quiet: bool
) -> tuple[Any, bool]:
    """The values, and whether Ctrl-C left some rows out."""
    from tamiz.explain import shapley_values

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "stopped after", RuntimeWarning)  # a note says it
        found = shapley_values(pipeline, X, Z, random_state=0, verbose=0 if quiet else 1, **asked)
    return found, len(found.values) < len(X)


def _first(rows: Any, n: int, stopped: bool) -> Any:
    """The rows that are explained, with what stands beside them."""
    ids = {name: column[:n] for name, column in rows.ids.items()}
    note = [f"stopped: {n:,} rows are explained."] if stopped else []
    return rows._replace(X=rows.X[:n], ids=ids, notes=[*rows.notes, *note])


def _head(found: Any) -> str:
    """What stands above the values: from where on they speak for the second class."""
    if found.limit is None or len(found.output_names) > 1:
        return "value"
    return f"value ({found.output_names[0]} > {found.limit:g})"


def _check_background(X: Any, given: Any, data: str) -> None:
    """The rows themselves may be it if enough of them differ."""
    from tamiz.validation import require_own_background

    if given is None:
        advice = "pass --background with a table such as that of the training."
        require_own_background(X, data, _ENOUGH, advice)


def _tell_error(found: Any) -> None:
    from tamiz.cli.console import tell

    if found.standard_error is not None:
        tell(f"sampled: standard errors up to {found.standard_error.max():.2g}")


def _write(
    found: Any, columns: dict[str, list[Any]], names: list[str], decision: str | None, out: str
) -> None:
    """A picture, or all values as CSV; what is in the file is said."""
    from tamiz.cli.console import tell

    if not out.lower().endswith((".csv", ".txt")) and "." in out:
        _draw(found, names, decision, out)
        tell(f"the importances of {len(names):,} features are drawn in {out}")
    else:
        write_csv(columns, out, "explanations")
        tell(f"what each feature adds to {len(found.values):,} predictions is in {out}")
    if decision is not None:
        tell(_which(decision, found.output_names))


def _document(
    found: Any, output: Any, values: Any, base: float, names: Any, labels: Any, rows: Any
) -> dict[str, Any]:
    """For JSON."""
    error = found.standard_error
    return {
        "outputs": found.output_names,
        "output": _name(output, found.output_names),
        "method": found.method,
        "features": list(names),
        "base": base,
        "limit": found.limit,
        "values": values.tolist(),
        "standard_error": None if error is None else float(error.max()),
        "predictions": labels,
        "ids": rows.ids,
        "n_samples": len(values),
        "notes": rows.notes,
    }


def _chosen(output: str | None, names: list[str]) -> str | int:
    """An output by its name, or by its position."""
    if output is None:
        return 0
    return int(output) if output not in names and output.isdecimal() else output


def _name(output: str | None, names: list[str]) -> str:
    chosen = _chosen(output, names)
    return chosen if isinstance(chosen, str) else names[chosen]


def _which(decision: str, names: list[str]) -> str:
    """Which of several decisions is explained, and what else ``--output`` takes."""
    others = [repr(name) for name in names if name != decision]
    listed = ", ".join(others[:_NAMED])
    if len(others) > _NAMED:
        listed += f", … (+{len(others) - _NAMED}; --json has all)"
    return f"explained: {decision!r}; others, with --output: {listed}"


def _outputs(fitted: Any, names: list[str]) -> list[str]:
    """The outputs by the names of the classes; machines know their codes only."""
    if fitted.labels is None:
        return names
    codes = [str(code) for code in fitted.pipeline.classes_]
    label = dict(zip(codes, map(str, fitted.labels), strict=True))
    return [" over ".join(label.get(part, part) for part in name.split(" over ")) for name in names]


def _without_missing(pipeline: Any, X: Any, Z: Any) -> tuple[Any, Any, Any]:
    """The pipeline behind its first step if that fills missing values, and the filled tables."""
    first = pipeline[0]
    if len(pipeline) > 1 and hasattr(first, "statistics_"):
        return pipeline[1:], first.transform(X), first.transform(Z)
    return pipeline, X, Z


def _columns(
    fitted: Any,
    ids: Any,
    labels: list[Any],
    values: Any,
    base: float,
    names: list[str],
    decision: str | None,
) -> dict[str, list[Any]]:
    """For CSV, by name; with several decisions each row has the one that is explained."""
    from tamiz.explain.result import totals

    columns = {**ids, free_name(fitted.target or "prediction", ids): labels}
    if decision is not None:
        columns[free_name("output", columns)] = [decision] * len(labels)
    columns[free_name("base", columns)] = [base] * len(labels)
    for name, column in zip(names, values.T, strict=True):
        columns[free_name(name, columns)] = [float(f"{value:.6g}") for value in column]
    columns[free_name("value", columns)] = totals(values, base).tolist()
    return columns


def _print(
    ids: Any, labels: list[Any], values: Any, base: float, names: list[str], top: int, value: str
) -> None:
    import numpy as np

    from tamiz.cli.console import number, say, table, tell
    from tamiz.explain.result import totals

    keys = next(iter(ids.values()), None) or [str(i) for i in range(len(labels))]
    rows = []
    total = totals(values, base).tolist()
    for key, label, row, whole in list(zip(keys, labels, values, total, strict=True))[:_SHOWN]:
        order = np.argsort(-np.abs(row), kind="stable")
        parts = [f"{names[j]} {row[j]:+.3g}" for j in order[:top]]
        rest = float(row[order[top:]].sum())
        if len(order) > top:
            parts.append(f"others {rest:+.3g}")
        said = number(label) if isinstance(label, float) else str(label)
        rows.append([key, said, number(whole), ", ".join(parts)])
    head = next(iter(ids), "row")
    table([head, "prediction", value, f"base {number(base)} and"], rows, right=[2])
    if len(labels) > _SHOWN:
        tell(f"{_SHOWN} of {len(labels):,} rows; all of them with --out FILE.csv or --json")
    mean = np.abs(values).mean(axis=0)
    order = np.argsort(-mean, kind="stable")[: max(top, 5)]
    say()
    table(["feature", "mean size"], [[names[j], number(float(mean[j]))] for j in order], right=[1])


def _draw(found: Any, names: list[str], decision: str | None, out: str) -> None:
    from tamiz.cli.console import write_out

    figure = replace(found, feature_names=list(names)).plot(output=decision).figure
    kind = out.lower().rpartition(".")[2]
    write_out(out, lambda place: figure.savefig(place, format=kind, dpi=110), "picture")
