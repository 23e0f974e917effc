"""``tamiz rank``: the features in order, by one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tamiz.cli import options as opt

if TYPE_CHECKING:
    from tamiz.base import Selection
    from tamiz.data import Dataset
    from tamiz.evaluation.methods import Method

_SHOWN = 20


def rank(
    data: opt.Data,
    method: Annotated[
        str, typer.Option("--method", "-m", help="A name that 'tamiz methods' lists.")
    ] = "mrmr",
    k: Annotated[
        int | None, typer.Option("-k", help="How many features; all are ranked by default.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="Parameter of the method, NAME=VALUE; repeatable."),
    ] = None,
    target: opt.Target = None,
    drop: opt.Drop = None,
    role: opt.Role = None,
    task: opt.Task = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    rows: opt.Rows = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Read the file in batches, or as a whole; by default by its size.",
        ),
    ] = None,
    json: opt.Json = False,
    out: opt.Out = None,
    lang: opt.Lang = "en",
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
) -> None:
    """Rank the features by one method.

    Examples:  tamiz rank genes.csv --method mrmr -k 50
               tamiz rank credit.csv -t default -m relieff --json | jq '.features[0].name'

    A file that is large beside the free memory is read in batches, several times if need be.
    Pictures of its report (--out) show a sample of the rows, and say so.

    A ranking says nothing about the error to expect: 'tamiz select' does.
    """
    from tamiz.cli._stream import wants_stream
    from tamiz.cli.problems import usage
    from tamiz.evaluation.methods import find_method

    opt.check_language(lang)
    opt.check_writable(out, "--out")
    with usage():
        found = find_method(method)
        params = read_params(param)
        streamed = wants_stream(stream, data, found, rows)
    if streamed:
        reading = {"drop": drop, "role": role, "task": task, "separator": sep, "decimal": decimal}
        report = None if out is None else _Report(out, lang)
        ranking = _streamed(data, target, reading, found, k, params, seed, jobs, quiet, report)
        _finish(ranking, k, json, quiet, out)
        return
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
    with usage():
        dataset, selector, X, notes = prepare(dataset, found, k, params, seed, jobs, quiet)
        _fit(selector, X, dataset, notes)
    selection = selector.selection_
    selection.names = list(dataset.feature_names)
    if out is not None:
        from tamiz.cli.console import command_line
        from tamiz.reports import Study, write_report

        study = Study(
            dataset,
            {found.name: selection},
            params=selection.params,
            command=command_line(),
            seed=seed,
            notes=notes,
            seconds=selection.seconds,
        )
        write_report(study, out, lang=lang)
    _finish(Ranking.of(selection, dataset, notes), k, json, quiet, out)


def _finish(ranking: Ranking, k: int | None, json: bool, quiet: bool, out: str | None) -> None:
    show(ranking, k, json, quiet)
    if out is not None and not json:
        from tamiz.cli.console import tell

        tell(f"the report is in {out}")


class _Report(NamedTuple):
    """Where a report is wanted, and in which language."""

    out: str
    lang: str


class Ranking(NamedTuple):
    """What is shown."""

    selection: Selection
    n_samples: int
    n_features: int
    target: str | None
    data: str
    read: list[str]  # what was decided while the table was read
    notes: list[str]

    @classmethod
    def of(cls, selection: Selection, dataset: Dataset, notes: list[str]) -> Ranking:
        n, p = dataset.n_samples, dataset.n_features
        return cls(selection, n, p, dataset.target, dataset.name, dataset.notes, notes)


def _streamed(
    data: str,
    target: str | None,
    reading: dict[str, Any],
    method: Method,
    k: int | None,
    params: dict[str, Any],
    seed: int,
    jobs: int,
    quiet: bool,
    report: _Report | None,
) -> Ranking:
    """The ranking of a file that is read in batches, and its report if one is wanted."""
    from pathlib import Path

    from tamiz.cli._stream import fit_streamed, open_table
    from tamiz.cli.problems import usage
    from tamiz.cli.wording import begin

    begin()
    with usage():
        options = opt.reading_options(**reading)
        verbose = 0 if quiet else 1
        place = opt.name_or_position(target)
        table, told = open_table(data, place, method, verbose=verbose, **options)
        wanted = {"random_state": seed, "n_jobs": jobs, "verbose": verbose}
        selector, notes = fit_streamed(table, method, k, params, wanted, quiet)
    selection, schema = selector.selection_, table.schema
    selection.names = list(schema.names)
    n = table.n_rows or 0
    if report is not None:
        from tamiz.cli._stream_report import streamed_study
        from tamiz.cli.console import command_line
        from tamiz.reports import write_report

        with usage():
            study = streamed_study(
                table,
                selection,
                method=method.name,
                path=Path(data),
                given=options["roles"],
                read=told,
                notes=notes,
                seed=seed,
                command=command_line(),
                verbose=verbose,
            )
        write_report(study, report.out, lang=report.lang)
        notes = study.notes
    return Ranking(selection, n, schema.n_features, schema.target, Path(data).name, told, notes)


def show(ranking: Ranking, k: int | None, json: bool, quiet: bool) -> None:
    """Print a ranking."""
    from tamiz.cli.console import number, say, say_json, table, tell
    from tamiz.cli.wording import tell_once

    selection = ranking.selection
    shown = len(selection.order) if k is None else k
    if json:
        document = selection.to_dict()
        document["features"] = document["features"][:shown]
        say_json(
            {
                **{key: document[key] for key in ("method", "params", "features", "seconds")},
                "n_samples": ranking.n_samples,
                "n_features": ranking.n_features,
                "target": ranking.target,
                "data": ranking.data,
                "notes": [*ranking.read, *ranking.notes],
            }
        )
        return
    for note in [] if quiet else ranking.read:
        tell_once(note)
    for note in ranking.notes:
        tell(note)
    if k is None:
        shown = min(shown, _SHOWN)
    scores = selection.scores
    table(
        ["rank", "feature", "score"],
        [
            [i + 1, selection.names[j], number(None if scores is None else float(scores[j]))]
            for i, j in enumerate(selection.order[:shown])
        ],
        right=(0, 2),
    )
    if shown < len(selection.order) and k is None:
        say(f"… and {len(selection.order) - shown:,} more (-k {len(selection.order)} shows all).")


def prepare(
    dataset: Dataset,
    method: Method,
    k: int | None,
    params: dict[str, Any],
    seed: int,
    jobs: int,
    quiet: bool,
) -> tuple[Dataset, Any, Any, list[str]]:
    """The table in the form that a method takes, and the method as asked for.

    Categories stay codes for methods that count, and become indicators for the others; gaps are
    filled and features scaled where the method needs it.
    """
    notes: list[str] = []
    if dataset.levels and not method.categorical:
        dataset = dataset.encode("onehot")
        notes.append(
            f"categories were turned into indicators, since {method.name} works with numbers; "
            f"there are {dataset.n_features} features now."
        )
    if k is not None:
        if not 1 <= k <= dataset.n_features:
            raise ValueError(
                f"-k {k} is not possible: the table has {dataset.n_features:,} features."
            )
        params = {"n_features_to_select": k, **params}
    elif method.greedy:
        params = {"n_features_to_select": dataset.n_features, **params}
    selector = method.make(
        task=dataset.task or "classification", n_features=dataset.n_features, **params
    )
    own = selector.get_params()
    wanted = {"random_state": seed, "n_jobs": jobs, "verbose": 0 if quiet else 1}
    selector.set_params(**{a: v for a, v in wanted.items() if a in own and a not in params})
    if dataset.levels and "categorical_features" in own:
        selector.set_params(categorical_features=dataset.categorical)
    X = dataset.X
    if method.family in ("embedded", "wrapper"):
        X = _prepared(X, dataset, "standard", notes)
    elif dataset.missing.sum() and not method.missing:
        X = _prepared(X, dataset, None, notes)
    return dataset, selector, X, notes


def _prepared(X: Any, dataset: Dataset, scale: str | None, notes: list[str]) -> Any:
    """Gaps filled, and features scaled if asked for; what was filled goes into the notes."""
    from tamiz.reports.study import preparation

    for name, step in preparation(dataset, scale):
        X = step.fit_transform(X)
        if name == "fill":
            notes.append(f"{int(dataset.missing.sum()):,} missing values were filled with medians.")
    return X


def _fit(selector: Any, X: Any, dataset: Dataset, notes: list[str]) -> None:
    """Fit; some methods take gaps with some parameters or tasks only, and say so themselves."""
    try:
        selector.fit(X, dataset.y)
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        selector.fit(_prepared(X, dataset, None, notes), dataset.y)


def read_params(given: list[str] | None) -> dict[str, Any]:
    """``NAME=VALUE`` as a dictionary; values as Python writes them, else as text."""
    import ast

    found: dict[str, Any] = {}
    for one in given or []:
        name, equals, text = one.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--param {one!r} is not understood; write NAME=VALUE.")
        try:
            found[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            found[name.strip()] = text.strip()
    return found
