"""``tamiz rank``: the features in order, by one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tamiz.cli import options as opt

if TYPE_CHECKING:
    from tamiz.base import Selection
    from tamiz.data import Dataset
    from tamiz.evaluation.methods import Method
    from tamiz.scale import Batches

_SHOWN = 20


@opt.reads
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
    scale: Annotated[
        str | None,
        typer.Option(
            help="standard, minmax or none; by default standard, unless the units of the features "
            "make no difference to the method."
        ),
    ] = None,
    *,
    reading: opt.Reading,
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

    A file that is large for the free memory is read in batches, several times if need be.
    Pictures of its report (--out) show a sample of the rows, and say so.

    Machines and searches rank standardised features, as in 'tamiz select' (--scale changes that);
    filters do not depend on units. One method gives one order in both commands.

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
        scale = scale_of(found, scale)
        if reading.weights is not None:
            raise ValueError("--weights: a ranking takes none; leave the column out with --drop.")
        stream = False if reading.transpose and stream is None else stream
        streamed = wants_stream(stream, data, found, reading.rows)
    if streamed:
        wanted = {"random_state": seed, "n_jobs": jobs, "verbose": 0 if quiet else 1}
        ranking, table = _streamed(data, reading, found, k, params, scale, wanted)
        if out is not None:
            report = _Report(out, lang, found.name, reading.arguments()["roles"])
            try:
                ranking = _report_streamed(ranking, table, data, seed, quiet, report)
            except KeyboardInterrupt:
                out, why = None, "interrupted while the report was made; there is none."
                ranking = ranking._replace(notes=[*ranking.notes, why])
            except Exception:  # reported last; the ranking may have taken hours
                _finish(ranking, k, json, quiet, None)
                raise
        _finish(ranking, k, json, quiet, out)
        return
    dataset = opt.read(data, reading=reading, leaks="keep", quiet=quiet)
    with usage():
        dataset, selector, X, notes = prepare(dataset, found, k, params, scale, seed, jobs, quiet)
        _fit(selector, X, dataset, scale, notes)
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
    """Where a report is wanted, in which language, of which method, and what columns were said
    to be."""

    out: str
    lang: str
    method: str
    roles: dict[str, str] | None


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
    reading: opt.Reading,
    method: Method,
    k: int | None,
    params: dict[str, Any],
    scale: str | None,
    wanted: dict[str, Any],
) -> tuple[Ranking, Batches]:
    """The ranking of a file that is read in batches, and the table that was ranked."""
    from pathlib import Path

    from tamiz.cli._stream import fit_streamed, open_table
    from tamiz.cli.problems import usage
    from tamiz.cli.wording import begin
    from tamiz.data.formats import stem

    begin()
    with usage():
        place = opt.name_or_position(reading.target)
        verbose = wanted["verbose"]
        table, read = open_table(data, place, method, verbose=verbose, **reading.streamed())
        selector, notes = fit_streamed(table, method, k, params, scale, wanted)
    selection, schema = selector.selection_, table.schema
    selection.names = list(schema.names)
    n, p = table.n_rows or 0, schema.n_features
    return Ranking(selection, n, p, schema.target, stem(Path(data)), read, notes), table


def _report_streamed(
    ranking: Ranking, table: Batches, data: str, seed: int, quiet: bool, report: _Report
) -> Ranking:
    """Write the report; the ranking with the notes of both."""
    from pathlib import Path

    from tamiz.cli._stream_report import streamed_study
    from tamiz.cli.console import command_line
    from tamiz.cli.problems import usage
    from tamiz.reports import write_report

    with usage():
        study = streamed_study(
            table,
            ranking,
            method=report.method,
            path=Path(data),
            given=report.roles,
            seed=seed,
            command=command_line(),
            verbose=0 if quiet else 1,
        )
    write_report(study, report.out, lang=report.lang)
    return ranking._replace(notes=study.notes)


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
    scale: str | None,
    seed: int,
    jobs: int,
    quiet: bool,
) -> tuple[Dataset, Any, Any, list[str]]:
    """The table in the form that a method takes, and the method as asked for.

    Categories stay codes for methods that count, and become indicators for the others; missing
    values are filled where the method takes none. Codes are not scaled.
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
    wanted = {"random_state": seed, "n_jobs": jobs, "verbose": 0 if quiet else 1}
    selector = make_selector(method, dataset.task, dataset.n_features, params, wanted)
    own = selector.get_params()
    if dataset.levels and "categorical_features" in own:
        selector.set_params(categorical_features=dataset.categorical)
    return dataset, selector, _prepared(dataset, scale, not method.missing, notes), notes


def scale_of(method: Method, asked: str | None) -> str | None:
    """How features are scaled for a method, None for not at all; by default where units matter."""
    if asked not in (None, "standard", "minmax", "none"):
        raise ValueError(f"--scale {asked!r} is not known; use standard, minmax or none.")
    if asked is None:
        return None if method.unit_free else "standard"
    return None if asked == "none" else asked


def make_selector(
    method: Method,
    task: str | None,
    n_features: int,
    params: dict[str, Any],
    wanted: dict[str, Any],
) -> Any:
    """The method with the parameters of the user, else with those wanted that it has.

    A method that would guess whether the target is numeric gets the task that the reader found.
    """
    names = method.cls._get_param_names()
    strange = [name for name in params if name not in names]
    if strange:
        raise ValueError(
            f"--param {strange[0]}: {method.name} has no such parameter. It has {', '.join(names)}."
        )
    task = task or "classification"
    others = {name: value for name, value in params.items() if name != "task"}
    selector = method.make(task=params.get("task", task), n_features=n_features, **others)
    own = selector.get_params()
    given = {"task": task, **wanted} if own.get("task") == "auto" else wanted
    given = {**{name: value for name, value in given.items() if name in own}, **params}
    return selector.set_params(**given)


def _prepared(dataset: Dataset, scale: str | None, fill: bool, notes: list[str]) -> Any:
    """The features, missing values filled and numbers scaled if asked for; what was filled goes
    into the notes."""
    from tamiz.evaluation.study import preparation

    X = dataset.X
    for name, step in preparation(dataset, scale, fill=fill and bool(dataset.missing.sum())):
        if name == "fill":
            X = step.fit_transform(X)
            notes.append(f"{int(dataset.missing.sum()):,} missing values were filled with medians.")
        elif dataset.levels:
            X, numeric = X.copy(), ~dataset.categorical
            X[:, numeric] = step.fit_transform(X[:, numeric])
        else:
            X = step.fit_transform(X)
    return X


def _fit(selector: Any, X: Any, dataset: Dataset, scale: str | None, notes: list[str]) -> None:
    """Fit; some methods take missing values with some parameters or tasks only, and say so."""
    from tamiz.cli.problems import UsageProblem
    from tamiz.cli.wording import warnings_into
    from tamiz.validation import MissingValuesError, SparseInputError

    with warnings_into(notes):
        try:
            selector.fit(X, dataset.y)
        except SparseInputError as error:
            if not hasattr(selector, "fit_stream"):
                raise
            raise UsageProblem(
                f"{type(selector).__name__} takes no sparse table as a whole here; --stream "
                "reads the file in batches."
            ) from error
        except MissingValuesError:
            selector.fit(_prepared(dataset, scale, True, notes), dataset.y)


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
