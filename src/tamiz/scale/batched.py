"""Batches: a table that is read a batch of rows at a time."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.data.column import RawTable
from tamiz.data.errors import DataError, DataWarning, listed
from tamiz.data.formats.base import ReadAgain, Reader, readable, rows_per_batch
from tamiz.data.formats.frames import AGAIN
from tamiz.data.plan import ASIDE, ColumnPlan, named_like_id
from tamiz.runtime.progress import Progress
from tamiz.scale._conform import Conformer, Place
from tamiz.scale._survey import Survey, first_roles, given_classes, given_roles, with_target
from tamiz.scale.batch import Batch, Schema

if TYPE_CHECKING:
    from tamiz.scale.filling import Filled

LOOK = 10_000  # rows by which columns are judged before all of them are read


class Batches:
    """A table of any size that can be gone through again and again; made by :func:`batches`.

    Iterating gives :class:`Batch` after :class:`Batch`. Each is checked as a whole before it is
    passed on.

    Attributes
    ----------
    schema : Schema
        Names, levels of the nominal features, classes and task. Asking for it makes the survey.
    n_rows : int or None
        Number of rows that have a target, where that is known: after the survey, or from what
        the file says of itself.
    n_batches : int or None
        Number of batches, where that is known.
    once : bool
        Whether the rows can be gone through a single time only, because they come from a
        generator.
    """

    def __init__(
        self,
        parts: list[Reader],
        *,
        batch_rows: int | None = None,
        classes: Any = None,
        categorical_features: Any = None,
        roles: Mapping[Any, str] | None = None,
        task: str | None = None,
        verbose: int = 0,
    ):
        self.parts = parts
        self.batch_rows = batch_rows
        self.task = task
        self.verbose = verbose
        self._classes = None if classes is None else given_classes(classes)
        self._categorical_features, self._roles = categorical_features, roles
        self.once = any(part.once for part in parts)
        self.own_thread = all(part.own_thread for part in parts)
        self._spent = False
        self._schema: Schema | None = None
        self._n_rows: int | None = None
        self._piece_rows: list[int] | None = None  # of each piece that a cluster reads by itself
        self._executor: Any = None
        self._remedy = ""
        self._columns: list[str] = []
        self._as_numbers: set[str] = set()
        if self._classes is not None and task == "regression":
            raise DataError("classes= belongs to a classification, not to task='regression'.")

    # ------------------------------------------------------------------------------ what it is

    @property
    def schema(self) -> Schema:
        """What every batch looks like."""
        self.survey()
        assert self._schema is not None
        return self._schema

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if known."""
        if self._n_rows is not None:
            return self._n_rows
        counts = [part.n_rows for part in self.parts]
        return None if None in counts else sum(n for n in counts if n is not None)

    @property
    def notes(self) -> list[str]:
        """What was guessed when the table was opened, such as its target."""
        return self.parts[0].notes()

    @property
    def n_batches(self) -> int | None:
        """Number of batches, if known."""
        rows = self._rows()
        counts = [part.n_rows for part in self.parts]
        if rows is None or None in counts:
            return None
        return sum(-(-n // rows) for n in counts if n is not None)

    @property
    def executor(self) -> Any:
        """Who does the passes, if not this process."""
        return self.parts[0].executor if self._executor is None else self._executor

    def on(self, client: Any = None) -> Batches:
        """The same table, whose passes are done by the workers of a Dask cluster.

        Each worker reads its own parts of the files, so these have to lie where all workers see
        them under the same path. Parquet files are divided by their row groups; of files of other
        kinds each is read by one worker.

        Parameters
        ----------
        client : dask.distributed.Client, optional
            The cluster; by default the client that is active, or threads of this process.

        Returns
        -------
        Batches
        """
        from tamiz.scale.dask import on

        return on(self, client)

    def filled(
        self, strategy: str | float = "median", *, verbose: bool | int | None = None
    ) -> Filled:
        """The same table, with the missing values of its numeric columns filled.

        What to fill them with is found at once, in passes over the rows: one to see which columns
        have any, and then one or two over these alone; the first is enough for a small table, or
        if there are none. Medians are exact, those of :func:`numpy.nanmedian`. See :class:`Filled`
        for nominal columns, sparse tables, and columns without any value.

        Parameters
        ----------
        strategy : {"median", "mean"} or float, default="median"
            What to fill in: the median or the mean of the values that the column has, or
            a number for all columns. For a number no row is read before.
        verbose : bool or int, optional
            Show progress of passes that take longer than two seconds; by default as the table does.

        Returns
        -------
        Filled
            Batches, with ``fill_values``, ``n_filled`` and ``n_passes``.

        Examples
        --------
        >>> import numpy as np
        >>> from tamiz.scale import batches
        >>> X = np.array([[1.0, 5.0], [np.nan, 6.0], [2.0, 5.0], [9.0, 7.0]])
        >>> table = batches((X, [0, 0, 1, 1]), batch_rows=2).filled("median")
        >>> table.fill_values, table.n_filled
        ({'x0': 2.0}, 1)
        >>> [batch.X[:, 0].tolist() for batch in table]
        [[1.0, 2.0], [2.0, 9.0]]
        """
        from tamiz.scale.filling import fill

        return fill(self, strategy, self.verbose if verbose is None else int(verbose))

    def memory(self, n_rows: int | None = None) -> int | None:
        """Bytes that rows take as float64 numbers in memory: ``n_rows``, or all of them."""
        n = self.n_rows if n_rows is None else n_rows
        return None if n is None else 8 * n * self.schema.n_features

    def __repr__(self) -> str:
        shown = listed([part.shown for part in self.parts], 2)
        size = "" if self._schema is None else f", {self._schema.n_features} features"
        rows = "" if self.n_rows is None else f", {self.n_rows} rows"
        return f"<Batches of {shown}{rows}{size}>"

    # ------------------------------------------------------------------------------- going through

    def __iter__(self) -> Generator[Batch, None, None]:
        self.survey()
        if self.once:
            if self._spent:
                raise DataError(AGAIN)
            self._spent = True
        return self._go()

    def _go(self) -> Generator[Batch, None, None]:
        schema = self.schema
        conformer = Conformer(
            schema, self._columns, self._as_numbers, self.parts[0].guess_roles, self._remedy
        )
        wanted = [*schema.names, *([] if schema.target is None else [schema.target])]
        for part in self.parts:
            stream = self._tables(part, wanted, conformer)
            while (table := next(stream, None)) is not None:
                batch = conformer.make(table)
                del table  # neither it nor the batch is held while the next is read
                if batch is not None:
                    yield batch
                del batch
        self._check_count(conformer)

    def _tables(
        self, part: Reader, columns: list[str] | None, place: Place
    ) -> Generator[RawTable, None, None]:
        """Tables of a part; an error names the batch."""
        rows = self._rows()
        start = Place(place.index, place.first_row)
        try:
            with readable(part):
                yield from part.tables(columns, rows)
        except DataError as error:
            at = Place(place.index, place.first_row)
            if part.fault_row is not None and rows is not None:
                at.index = start.index + part.fault_row // rows
                at.first_row = start.first_row + part.fault_row // rows * rows
            raise DataError(f"In {at.where}: {error}") from None

    def _check_count(self, conformer: Conformer) -> None:
        """The same rows as before must have come."""
        n = conformer.n_rows
        if not n:
            raise DataError(f"{self.parts[0].shown} holds no rows; a table needs at least one.")
        if self._n_rows is not None and n != self._n_rows:
            raise DataError(
                f"{self.parts[0].shown} gave {n:,} rows where it gave {self._n_rows:,} before; it "
                "must give the same rows in every pass. A function passed as source has to "
                "make a fresh iterator each time."
            )
        self._n_rows = n

    def _rows(self) -> int | None:
        """Rows of a batch; None where the source has batches of its own."""
        first = self.parts[0]
        if self.batch_rows is not None or first.own_batches:
            return self.batch_rows
        return rows_per_batch(len(first.plan().names))

    # -------------------------------------------------------------------------------------- survey

    def survey(self) -> Batches:
        """Find classes and levels, in one pass over the target and the nominal columns only.

        It is made once, by itself where it is needed: not in a regression on numbers, and not
        where ``classes`` are given and all features are numbers. A generator is judged by its
        first table.

        Returns
        -------
        Batches
            Itself.
        """
        while self._schema is None:
            try:
                self._survey()
            except ReadAgain:  # a column of a text table turned out to hold text
                continue
        return self

    def _survey(self) -> None:
        first = self.parts[0]
        own = Survey("target", [], [])  # of readers whose features are known after all rows
        surveyed = first.survey(self.parts, own.update)
        plan = first.plan()
        look = None
        for part in self.parts:
            look = self._look(part) if look is None else look
        if look is None:
            raise DataError(f"{first.shown} holds no rows; a table needs at least one.")
        self._columns = look.names
        given = given_roles(self._roles, self._categorical_features, plan, look.names, first.shown)
        if first.sparse and "categorical" in given.values():
            raise DataError(
                f"{first.shown} is sparse; categorical_features= needs a table that is not."
            )
        roles = first_roles(with_target(look, plan.target), plan, given, first.guess_roles)
        aside = {name: ASIDE[role] for name, role in roles.items() if role in ASIDE}
        texts = [c.name for c in look.columns if c.is_text and c.name != plan.target]
        self._as_numbers = {name for name in texts if given.get(name) == "numeric"}
        nominal = [n for n in plan.features if given.get(n) == "categorical" and n not in texts]
        open_texts = [n for n in texts if n not in aside and n not in self._as_numbers]
        asks_target = plan.target is not None and not (
            self._classes is not None or self.task == "regression"
        )
        survey = own if surveyed else Survey(plan.target, open_texts, nominal)
        whole = surveyed
        if self.once:
            survey.update(look)
        elif not whole and (asks_target or open_texts or nominal):
            counters = [name for name, role in roles.items() if role == "id" and name not in given]
            survey.watch(counters)
            columns = [*open_texts, *nominal, *counters]
            columns += [] if plan.target is None else [plan.target]
            self._pass(survey, None if first.reads_all else columns)
            whole = True
            for name in counters:
                if not named_like_id(name) and not survey.still_ascends(name):
                    del aside[name]
        if whole:
            self._n_rows = survey.n_read - survey.n_missing
        for part in self.parts:
            part.settle(whole)
        self._finish(plan, survey, given, aside)

    def _look(self, part: Reader) -> RawTable | None:
        """The first table that has rows; how many depends on no option, as features must not."""
        rows = self._rows()
        most = min(LOOK, rows_per_batch(len(part.plan().names))) if part.own_thread else None
        for n in (most, rows):
            try:
                with readable(part):
                    return part.first(n)
            except DataError as error:
                fault = error
            if rows is None or most is None or rows >= most:
                break
            # if the first batch alone can be read, the pass tells in which one the fault is
        k = 0 if part.fault_row is None or rows is None else part.fault_row // rows
        raise DataError(f"In {Place(k, k * (rows or 0)).where}: {fault}")

    def _pass(self, survey: Survey, columns: list[str] | None) -> None:
        if self.executor is not None and self.executor.survey(self, survey, columns):
            return
        place = Place()
        with Progress(f"survey of {self.parts[0].shown}", self.verbose) as progress:
            for part in self.parts:
                known = part.text_columns()
                for table in self._tables(part, columns, place):
                    self._check_target_there(table, survey, place)
                    full = {name for name, levels in survey.texts.items() if levels.full}
                    survey.update(table)
                    for name, levels in survey.texts.items():
                        if levels.full and name not in full:
                            part.leave_out(name)
                    place.index += 1
                    place.first_row += table.n_rows
                    progress.update(f"{survey.n_read} rows")
                if part is not self.parts[0] and part.text_columns() > known:
                    raise ReadAgain  # files before this one were taken for numbers

    def _check_target_there(self, table: RawTable, survey: Survey, place: Place) -> None:
        target = survey.target
        if target is not None and target not in {column.name for column in table.columns}:
            raise DataError(
                f"{table.source}, {place.where} has no column {target!r}; every batch needs the "
                "columns of the first."
            )

    def _finish(
        self, plan: ColumnPlan, survey: Survey, given: dict[str, str], aside: dict[str, str]
    ) -> None:
        first = self.parts[0]
        named = set(given)
        for name, levels in survey.texts.items():
            if name in aside or name in self._as_numbers or name not in plan.features:
                continue
            role = levels.role()
            if levels.full and (name in named or not first.guess_roles):
                raise DataError(
                    f"{first.shown}: column {name!r} has at least {len(levels.place):,} "
                    "levels, too many for a nominal feature; leave it out with drop=."
                )
            if role in ASIDE and first.guess_roles and name not in named:
                aside[name] = ASIDE[role]
        names = [name for name in plan.features if name not in aside]
        if not names:
            why = "; ".join(f"{name!r} is {reason}" for name, reason in list(aside.items())[:3])
            raise DataError(
                f"{first.shown} has no column to use as a feature ({why}); give roles such as "
                f"roles={{{plan.features[0]!r}: 'categorical'}}."
            )
        categories: dict[int, np.ndarray] = {}
        for j, name in enumerate(names):
            if name in survey.texts and name not in self._as_numbers:
                categories[j] = np.array(survey.texts[name].levels(), dtype=str)
            elif name in survey.numbers:
                if survey.numbers[name].full:
                    raise DataError(
                        f"{first.shown}: column {name!r} has at least "
                        f"{len(survey.numbers[name].values):,} different values, too many for "
                        "a nominal feature; leave it out of categorical_features."
                    )
                categories[j] = survey.numbers[name].values
        task, classes = self._settle_target(plan, survey)
        self._schema = Schema(
            names, categories, classes, task, plan.target, first.named, aside, first.sparse
        )
        self._warn(plan, survey, aside, named)

    def _settle_target(
        self, plan: ColumnPlan, survey: Survey
    ) -> tuple[str | None, np.ndarray | None]:
        if self.once:
            self._remedy = (
                "A generator is judged by its first table: name all classes with classes=, or pass "
                "a function that makes the generator."
            )
        else:
            self._remedy = "The rows are not those of the survey; pass the same in every pass."
        if plan.target is None:
            return None, None
        if self._classes is not None:
            self._remedy = "Name all classes in classes=."
            return "classification", self._classes
        if self.task == "regression" and survey.text_target is None:
            return self.task, None
        return survey.judge_target(self.task, self.parts[0].shown)

    def _warn(
        self, plan: ColumnPlan, survey: Survey, aside: dict[str, str], named: set[str]
    ) -> None:
        for found in self.parts[0].findings():
            warnings.warn(found.text, DataWarning, stacklevel=2)
        unasked = [name for name in aside if name not in named]
        if unasked:
            by_reason: dict[str, list[str]] = {}
            for name in unasked:
                by_reason.setdefault(aside[name], []).append(name)
            which = ", ".join(f"{listed(those)} ({why})" for why, those in by_reason.items())
            warnings.warn(
                f"Not used as features: {which}. Keep one with roles={{{unasked[0]!r}: 'numeric'}} "
                "or 'categorical'.",
                DataWarning,
                stacklevel=2,
            )
        if survey.n_missing and self.parts[0].guess_roles and not self.once:
            warnings.warn(
                f"Left out for want of a value of the target {plan.target!r}: "
                f"{survey.n_missing} of {survey.n_read} rows.",
                DataWarning,
                stacklevel=2,
            )
