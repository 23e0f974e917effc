"""``tamiz rank``: the features in order, by one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamiz.cli import options as opt

if TYPE_CHECKING:
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

    A ranking says nothing about the error to expect: 'tamiz select' does.
    """
    from tamiz.cli.console import number, say, say_json, table, tell
    from tamiz.cli.problems import usage
    from tamiz.cli.wording import tell_notes
    from tamiz.evaluation.methods import find_method

    opt.check_language(lang)
    opt.check_writable(out, "--out")
    with usage():
        found = find_method(method)
        params = read_params(param)
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
        selector.fit(X, dataset.y)
    selection = selector.selection_
    selection.names = list(dataset.feature_names)
    shown = len(selection.order) if k is None else k
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
    if json:
        document = selection.to_dict()
        document["features"] = document["features"][:shown]
        say_json(
            {
                **{key: document[key] for key in ("method", "params", "features", "seconds")},
                "n_samples": dataset.n_samples,
                "n_features": dataset.n_features,
                "target": dataset.target,
                "data": dataset.name,
                "notes": [*dataset.notes, *notes],
            }
        )
        return
    tell_notes(dataset, quiet)
    for note in notes:
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
    if out is not None:
        tell(f"the report is in {out}")


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
    from tamiz.reports.study import preparation

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
    if method.family in ("embedded", "wrapper") or (dataset.missing.sum() and not method.missing):
        scale = "standard" if method.family in ("embedded", "wrapper") else None
        for name, step in preparation(dataset, scale):
            X = step.fit_transform(X)
            if name == "fill":
                notes.append(
                    f"{int(dataset.missing.sum()):,} missing values were filled with medians."
                )
    return dataset, selector, X, notes


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
