"""Published tables, made again: ours beside the printed numbers.

The splits of a published study are seldom known. So its protocol is repeated on many random splits,
and the printed number is looked for among ours: inside the central 95 % of our values, or outside.
A number outside is explained, or said to be unexplained.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from tamiz.data import DataError, load
from tamiz.display import TableResult, frames
from tamiz.reproduce import p1, p2, p3, p4, p5, p6, p7, p8
from tamiz.reproduce.base import Experiment, Found, Recipe, Row
from tamiz.reproduce.show import draw, markdown, table
from tamiz.runtime.checkpoint import Journal
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads
from tamiz.runtime.workers import Runner, Shared, find_runner
from tamiz.validation import check_resume, checked, integer_from, number_of_jobs, optional

#: Recipes by name, in the order of their numbers; a new one is a module with a RECIPE;
#: a letter marks another reading of the same table, found after its numbers had been seen.
RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        p1.RECIPE,
        p2.RECIPE,
        p2.HARD_MARGIN,
        p3.RECIPE,
        p3.LINEAR,
        p4.RECIPE,
        p5.RECIPE,
        p6.RECIPE,
        p7.RECIPE,
        p8.RECIPE,
    )
}

_RECORDS = 3  # what a record of the journal looks like


@dataclass(repr=False)
class Reproduction(TableResult):
    """A published table beside ours.

    Attributes
    ----------
    name, title, source : str
        What was reproduced, and where it was printed.
    protocol, data : str
        What was done, and with which data, in words.
    rows : list of Row
        One for each published number or claim: ``what``, our ``mean``, ``sd``, central 95 %
        (``low``, ``high``) over ``n`` repeats, ``published``, ``inside``, ``remark``, and ``of``:
        how many values the published one is the mean of.
    repeats : dict
        Repeats done of each part of the recipe.
    quick : bool
        Whether the quick form was run.
    random_state : int
        The seed.
    seconds : float
        How long it took.
    interrupted : bool
        Whether it was stopped before all repeats were done.
    """

    name: str
    title: str
    source: str
    protocol: str
    data: str
    rows: list[Row]
    repeats: dict[str, int]
    quick: bool
    random_state: int
    seconds: float
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def outside(self) -> list[Row]:
        """The rows whose published number or claim our values do not bear out."""
        return [row for row in self.rows if row.inside is False]

    def __repr__(self) -> str:
        judged = sum(row.inside is not None for row in self.rows)
        agree = judged - len(self.outside)
        stopped = ", interrupted" if self.interrupted else ""
        return f"Reproduction({self.name}: {agree} of {judged} published numbers inside{stopped})"

    def __str__(self) -> str:
        return table(self)

    def to_frame(self) -> Any:
        """The rows as a pandas table."""
        return frames().DataFrame([asdict(row) for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def to_markdown(self) -> str:
        """The tables of a page, the long ones folded."""
        return markdown(self)

    def plot(self, ax: Any = None, group: str | None = None) -> Any:
        """Draw our intervals, with the published numbers as marks.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw one group of rows. Without it, a figure with a panel for each group.
        group : str, optional
            The group to draw; with ``ax`` and without ``group`` it is the first.

        Returns
        -------
        ax : matplotlib axes, or array of them
        """
        return draw(self, ax, group)


def available() -> dict[str, str]:
    """Names of the recipes, and what each reproduces.

    Examples
    --------
    >>> from tamiz.evaluation import available
    >>> available()["P6"]
    'Digits 5 and 8: error of a radial machine over gamma and C'
    """
    return {name: recipe.title for name, recipe in RECIPES.items()}


@checked(repeats=optional(integer_from(1)), random_state=integer_from(0), n_jobs=number_of_jobs)
def reproduce(
    name: str | Recipe,
    *,
    quick: bool = True,
    repeats: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
    checkpoint: Any = None,
    resume: bool = False,
) -> Reproduction:
    """Repeat the protocol of a published table, and set our numbers beside the printed ones.

    Parameters
    ----------
    name : str or Recipe
        Which one; see :func:`available`. A recipe of your own can be passed itself.
    quick : bool, default=True
        A form that ends within two minutes on two cores: fewer repeats, and where the protocol says
        so a thinner grid. ``False`` for the full form.
    repeats : int, optional
        Number of random splits, instead of the recipe's own. Parts that are not random keep theirs.
    random_state : int, default=0
        Seed of the splits. Each repeat has a seed of its own that follows from it, so that the
        answer does not depend on ``n_jobs``, and more repeats begin with the same ones.
    n_jobs : int or None, default=None
        Workers that share the repeats, as in joblib: one by default, -1 for all cores.
    verbose : bool or int, optional
        Progress on standard error: by default on terminals; 0 for none, 2 to show it elsewhere.
    checkpoint : str or path, optional
        File to which finished repeats are written.
    resume : bool, default=False
        Go on from ``checkpoint`` if it exists.

    Returns
    -------
    reproduction : Reproduction
        Print it for the table. An interrupted run (Ctrl-C) returns the repeats done, with
        ``interrupted`` true.

    See Also
    --------
    available : The names.

    Notes
    -----
    Like is compared with like. The published value of a single split is held against our single
    splits. A published mean over many is held against where the mean of as many of ours would lie,
    which allows for our having done fewer (``of`` in the rows).

    Examples
    --------
    >>> from tamiz.evaluation import reproduce
    >>> result = reproduce("P1", repeats=100)  # doctest: +SKIP
    >>> print(result)  # doctest: +SKIP
    """
    recipe = _recipe(name)
    check_resume(resume, checkpoint)
    _require_data(recipe)
    started = time.perf_counter()
    due = {part.name: part.n_repeats(quick, repeats) for part in recipe.parts}
    identity = {
        "method": f"reproduce {recipe.name}",
        "records": str(_RECORDS),
        "quick": str(bool(quick)),
        "random_state": str(int(random_state)),
    }
    journal = None if checkpoint is None else Journal(checkpoint, identity, resume=resume)
    progress = Progress(recipe.name, 1 if verbose is None else verbose)
    run = _Repeats(recipe, quick, int(random_state), find_runner(n_jobs), journal, progress)
    try:
        run.all(due)
    finally:
        progress.close()
        if journal is not None:
            journal.close()
    found = {part.name: run.found(part, due[part.name]) for part in recipe.parts}
    return Reproduction(
        recipe.name,
        recipe.title,
        recipe.source,
        recipe.protocol,
        recipe.data,
        rows=[
            row
            for part in recipe.parts
            if found[part.name]
            for row in part.rows(found[part.name], quick)
        ],
        repeats={name: len(values) for name, values in found.items()},
        quick=bool(quick),
        random_state=int(random_state),
        seconds=round(time.perf_counter() - started, 3),
        interrupted=run.interrupted,
        notes=_notes(recipe, quick, repeats, run.interrupted),
    )


class _Repeats:
    """The repeats of all parts: those taken from the journal, and those to do."""

    def __init__(
        self,
        recipe: Recipe,
        quick: bool,
        random_state: int,
        runner: Runner,
        journal: Journal | None,
        progress: Progress,
    ):
        self.recipe, self.quick, self.random_state = recipe, quick, random_state
        self.runner, self.journal, self.progress = runner, journal, progress
        self.interrupted = False
        self._found: dict[tuple[str, int], Found] = {}
        for part, k, values in journal.records if journal is not None else ():
            self._found[part, k] = values

    def all(self, due: dict[str, int]) -> None:
        """Do what is due; an interrupt ends it, and keeps what was done if that is anything."""
        self._due, self._began = sum(due.values()), time.perf_counter()
        self._new = 0
        try:
            for number, part in enumerate(self.recipe.parts):
                seeds = _seeds(self.random_state, number, due[part.name])
                todo = [k for k in range(due[part.name]) if (part.name, k) not in self._found]
                if todo:
                    self.progress.update(f"{part.name}, preparing")
                    for k, values in self._work(part, todo, seeds):
                        self._learn(part, k, values)
        except KeyboardInterrupt:
            if not self._found:
                raise
            self.interrupted = True

    def found(self, part: Experiment, due: int) -> list[Found]:
        """The values of a part, in the order of the repeats."""
        return [self._found[part.name, k] for k in range(due) if (part.name, k) in self._found]

    def _work(
        self, part: Experiment, todo: list[int], seeds: np.ndarray
    ) -> Iterator[tuple[int, Found]]:
        with limit_threads(1):
            ready = part.prepare(self.quick, int(seeds[-1]))
        if part.alone or self.runner.serial or (len(todo) == 1 and not self.runner.remote):
            for k in todo:
                yield k, _once((part, ready), int(seeds[k]))
            return
        jobs = [(int(seeds[k]),) for k in todo]
        working = self.runner.results(_once, Shared((part, ready)), jobs, at_once=len(todo))
        with closing(working) as found:
            yield from zip(todo, found, strict=True)

    def _learn(self, part: Experiment, k: int, values: Found) -> None:
        self._found[part.name, k] = values
        if self.journal is not None:
            self.journal.append([[part.name, k, values]])
        self._new += 1
        spent = time.perf_counter() - self._began
        left = max(self._due - len(self._found), 0)  # the file may hold more than is due
        self.progress.update(
            f"{part.name}, {len(self._found)} of {self._due} repeats, about "
            f"{spent / self._new * left:.0f} s left"
        )


def _once(prepared: tuple[Experiment, Any], seed: int) -> Found:
    """One repeat, on one thread: the last bits of a product depend on the number of threads."""
    part, ready = prepared
    with limit_threads(1):
        return part.repeat(ready, seed)


def _seeds(random_state: int, part: int, n: int) -> np.ndarray:
    """A seed for each repeat, the same for the first ones whatever ``n``, and one more."""
    words = np.random.SeedSequence([random_state, part]).generate_state(n + 1)
    seeds = words.astype(np.int64) % 2**31
    return np.append(seeds[1:], seeds[0])  # the last one is for what is prepared once


def _notes(recipe: Recipe, quick: bool, repeats: int | None, interrupted: bool) -> list[str]:
    """What the reader of the table must know of this run."""
    notes = []
    fewer = [
        f"{part.name} {part.quick} instead of {part.full}"
        for part in recipe.parts
        if part.quick < part.full and (repeats is None or part.fixed)
    ]
    if quick and (fewer or recipe.thinned):
        left_out = [f"repeats {', '.join(fewer)}." if fewer else "", recipe.thinned]
        notes.append(f"The quick form: {' '.join(filter(None, left_out))}")
    if interrupted:
        notes.append("Interrupted: the table is made of the repeats that were done.")
    return notes


def _recipe(name: Any) -> Recipe:
    if isinstance(name, Recipe):
        return name
    if isinstance(name, str):
        for known, recipe in RECIPES.items():
            if known.lower() == name.strip().lower():
                return recipe
    near = get_close_matches(str(name).upper(), RECIPES, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    names = ", ".join(f"{known} ({recipe.title})" for known, recipe in RECIPES.items())
    raise ValueError(f"name={name!r} is no recipe.{hint} There are: {names}.")


def _require_data(recipe: Recipe) -> None:
    """Say before the work begins which data are not there."""
    missing = []
    for name in dict.fromkeys(name for part in recipe.parts for name in part.data):
        try:
            load(name, nrows=5)
        except DataError as error:
            missing.append(str(error))
    if missing:
        raise DataError(f"{recipe.name} needs data that are not here. {' '.join(missing)}")
