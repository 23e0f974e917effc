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
               tamiz rank credit.csv -t default -m relieff --json | jq .features

    A file that is large for the free memory is read in batches, several times if
    need be. Pictures of its report (--out) show a sample of the rows, and say so.

    Machines and searches rank standardised features, as in 'tamiz select'
    (--scale changes that); filters do not depend on units. One method gives one
    order in both commands.

    A ranking says nothing about the error to expect: 'tamiz select' does.
    """
    from tamiz.cli._stream import wants_stream
    from tamiz.cli.console import usage
    from tamiz.evaluation.methods import find_method

    opt.check_language(lang)
    opt.check_writable(out, "--out", opt.REPORT)
    with usage():
        found = find_method(method)
        wanted = {"random_state": seed, "n_jobs": jobs, "verbose": 0 if quiet else 1}
        asked = Request(found, k, read_params(param), scale_of(found, scale), wanted)
        if reading.weights is not None:
            raise ValueError("--weights: a ranking takes none; leave the column out with --drop.")
        stream = False if reading.transpose and stream is None else stream
        streamed = wants_stream(stream, data, found, reading.rows)
    output = _Output(out, lang, json, quiet)
    if streamed:
        _rank_streamed(data, reading, asked, output)
    else:
        _rank_in_memory(data, reading, asked, output)


class Request(NamedTuple):
    """The ranking that the options ask for.

    Attributes
    ----------
    method : Method
        Which ranks.
    k : int or None
        How many features; None for all.
    params : dict
        Parameters of the method that the user gave.
    scale : str or None
        "standard" or "minmax"; None for features as they are.
    wanted : dict
        ``random_state``, ``n_jobs`` and ``verbose``, for methods that have them.
    """

    method: Method
    k: int | None
    params: dict[str, Any]
    scale: str | None
    wanted: dict[str, Any]


class _Output(NamedTuple):
    """Where results go: a report in a language, and what is printed."""

    out: str | None
    lang: str
    json: bool
    quiet: bool


def _rank_in_memory(data: str, reading: opt.Reading, asked: Request, output: _Output) -> None:
    from tamiz.cli.console import after_the_answer, command_line, flush, tell, usage

    dataset = opt.read(data, reading=reading, leaks="keep", quiet=output.quiet)
    with usage():
        dataset, selector, X, notes = prepare(dataset, asked)
        warned = _fit(selector, X, dataset, asked.scale, notes)
    selection = selector.selection_
    selection.names = list(dataset.feature_names)
    ranking = Ranking.of(selection, dataset, [*notes, *warned])
    show(ranking._replace(warned=warned), asked.k, output.json, output.quiet)
    flush()
    if output.out is not None:
        from tamiz.reports import Study, write_report

        study = Study(
            dataset,
            {asked.method.name: selection},
            params=selection.params,
            command=command_line(),
            seed=asked.wanted["random_state"],
            notes=[*notes, *warned],
            seconds=selection.seconds,
        )
        with after_the_answer("report"):
            write_report(study, output.out, lang=output.lang)
        if not output.json:
            tell(f"the report is in {output.out}")


def _rank_streamed(data: str, reading: opt.Reading, asked: Request, output: _Output) -> None:
    ranking, table = _streamed(data, reading, asked)
    if output.out is not None:
        roles = reading.arguments()["roles"]
        try:
            ranking = _report_streamed(ranking, table, data, asked, output, roles)
        except KeyboardInterrupt:
            output = output._replace(out=None)
            why = "interrupted while the report was made; there is none."
            ranking = ranking._replace(notes=[*ranking.notes, why], warned=[*ranking.warned, why])
        except Exception:  # reported last; the ranking may have taken hours
            _finish(ranking, asked.k, output._replace(out=None))
            raise
    _finish(ranking, asked.k, output)


def _finish(ranking: Ranking, k: int | None, output: _Output) -> None:
    show(ranking, k, output.json, output.quiet)
    if output.out is not None and not output.json:
        from tamiz.cli.console import tell

        tell(f"the report is in {output.out}")


class Ranking(NamedTuple):
    """What is shown."""

    selection: Selection
    n_samples: int
    n_features: int
    target: str | None
    data: str
    read: list[str]  # what was decided while the table was read
    notes: list[str]
    warned: list[str] = []  # those of them that --quiet leaves: no decisions

    @classmethod
    def of(cls, selection: Selection, dataset: Dataset, notes: list[str]) -> Ranking:
        n, p = dataset.n_samples, dataset.n_features
        return cls(selection, n, p, dataset.target, dataset.name, dataset.notes, notes)


def _streamed(data: str, reading: opt.Reading, asked: Request) -> tuple[Ranking, Batches]:
    """The ranking of a file that is read in batches, and the table that was ranked."""
    from pathlib import Path

    from tamiz.cli._stream import fit_streamed, open_table
    from tamiz.cli.console import begin, usage
    from tamiz.data.formats import stem

    begin()
    with usage():
        place = opt.name_or_position(reading.target)
        verbose = asked.wanted["verbose"]
        table, read = open_table(data, place, asked.method, verbose=verbose, **reading.streamed())
        selector, notes, warned = fit_streamed(table, asked)
    selection, schema = selector.selection_, table.schema
    selection.names = list(schema.names)
    n, p = table.n_rows or 0, schema.n_features
    name = stem(Path(data))
    return Ranking(selection, n, p, schema.target, name, read, notes, warned), table


def _report_streamed(
    ranking: Ranking,
    table: Batches,
    data: str,
    asked: Request,
    output: _Output,
    roles: dict[str, str] | None,
) -> Ranking:
    """Write the report; the ranking with the notes of both."""
    from pathlib import Path

    from tamiz.cli._stream_report import streamed_study
    from tamiz.cli.console import command_line, usage
    from tamiz.reports import write_report

    with usage():
        study = streamed_study(
            table,
            ranking,
            method=asked.method.name,
            path=Path(data),
            given=roles,
            seed=asked.wanted["random_state"],
            command=command_line(),
            verbose=asked.wanted["verbose"],
        )
    write_report(study, output.out, lang=output.lang)
    return ranking._replace(notes=study.notes)


def show(ranking: Ranking, k: int | None, json: bool, quiet: bool) -> None:
    """Print a ranking."""
    from tamiz.cli.console import number, say, say_json, table, tell, tell_once

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
    for note in ranking.warned if quiet else ranking.notes:
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


def prepare(dataset: Dataset, asked: Request) -> tuple[Dataset, Any, Any, list[str]]:
    """The table in the form that a method takes, and the method as asked for.

    Categories stay codes for methods that count, and become indicators for the others; missing
    values are filled where the method takes none. Codes are not scaled.
    """
    method = asked.method
    notes: list[str] = []
    if dataset.levels and not method.categorical:
        dataset = dataset.encode("onehot")
        notes.append(
            f"categories were turned into indicators, since {method.name} works with numbers; "
            f"there are {dataset.n_features} features now."
        )
    selector = make_selector(asked, dataset.task, dataset.n_features)
    own = selector.get_params()
    if dataset.levels and "categorical_features" in own:
        selector.set_params(categorical_features=dataset.categorical)
    return dataset, selector, _prepared(dataset, asked.scale, not method.missing, notes), notes


def scale_of(method: Method, asked: str | None) -> str | None:
    """How features are scaled for a method, None for not at all; by default where units matter."""
    from tamiz.validation import one_of, optional

    optional(one_of("standard", "minmax", "none"))("scale", asked)
    if asked is None:
        return None if method.unit_free else "standard"
    return None if asked == "none" else asked


def make_selector(asked: Request, task: str | None, n_features: int) -> Any:
    """The method with the parameters of the user, else with those wanted that it has.

    A method that would guess whether the target is numeric gets the task that the reader found.
    Greedy methods rank no further than they select, and so select all unless fewer are asked for.
    """
    method, k, params = asked.method, asked.k, asked.params
    if k is not None and not 1 <= k <= n_features:
        raise ValueError(f"-k {k} is not possible: the table has {n_features:,} features.")
    if k is not None or method.greedy:
        params = {"n_features_to_select": n_features if k is None else k, **params}
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
    given = {"task": task, **asked.wanted} if own.get("task") == "auto" else asked.wanted
    given = {**{name: value for name, value in given.items() if name in own}, **params}
    return selector.set_params(**given)


def _prepared(dataset: Dataset, scale: str | None, fill: bool, notes: list[str]) -> Any:
    """The features, missing values filled and numbers scaled if asked for; what was filled goes
    into the notes."""
    from tamiz.evaluation.scaler import preparation

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


def _fit(selector: Any, X: Any, dataset: Dataset, scale: str | None, notes: list[str]) -> list[str]:
    """Fit, and return the warnings.

    Some methods take missing values with some parameters or tasks only, and say so.
    """
    from tamiz.cli.console import UsageProblem, warnings_into
    from tamiz.validation import MissingValuesError, SparseInputError

    warned: list[str] = []
    with warnings_into(warned):
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
    return warned


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
