"""A fitted model with the columns it was fitted to, so that it can read new tables."""

from __future__ import annotations

import copy
import inspect
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from tamiz.cli import calibration
from tamiz.data.dataset import MISSING, indicators
from tamiz.data.errors import DataError, DataWarning, listed, near

if TYPE_CHECKING:
    from tamiz.data import Dataset


class TableModel(BaseEstimator):
    """A pipeline that takes tables by the names of their columns.

    Made by :meth:`fitted`, saved with :func:`tamiz.save`. The methods that predict take a pandas
    or polars frame, a :class:`~tamiz.data.Dataset`, or the array that :meth:`table` makes.

    Attributes
    ----------
    columns : list of str
        Columns of a table that are needed, in order.
    levels : dict of str to list of str
        Names of the categories of the columns that hold some.
    indicators_ : dict of str to list of str
        The same as they were turned into indicators.
    kept_ : list of int
        Which of the numbers and indicators of ``columns`` the pipeline takes.
    features_ : list of str
        Their names.
    pipeline : Pipeline
        Fitted; without the selector, and with the statistics of the needed columns alone.
    target, task : str
        What is predicted.
    labels : list of str or None
        Names of the classes, in the order of the sorted labels.
    ids_ : list of str
        Columns that were identifiers in the table.
    sigmoids_ : array of shape (n_machines, 2) or None
        Slope and intercept that turn decision values into probabilities.
    card : dict
        Where the model comes from: see :meth:`about`.
    """

    # a file of an earlier version has none of these
    kept_: list[int] | None = None
    features_: list[str] | None = None
    ids_: list[str] = []
    sigmoids_: np.ndarray | None = None
    sparse_: bool | None = None
    card: dict[str, Any] = {}

    def __init__(
        self,
        columns: list[str],
        levels: dict[str, list[str]],
        pipeline: Any,
        target: str | None,
        task: str | None,
        labels: list[str] | None,
    ):
        self.columns = columns
        self.levels = levels
        self.pipeline = pipeline
        self.target = target
        self.task = task
        self.labels = labels

    # ------------------------------------------------------------------------------ making it

    @classmethod
    def fitted(
        cls,
        dataset: Dataset,
        pipeline: Pipeline,
        *,
        features: list[str] | None = None,
        card: dict[str, Any] | None = None,
        calibrate: bool = True,
        seed: int = 0,
    ) -> TableModel:
        """Fit a copy of a pipeline to a data set whose categories are still codes.

        Parameters
        ----------
        dataset : Dataset
            With its target. Categories become indicators. ``extras`` may hold ``weights`` of the
            rows, and ``groups`` that stay in one fold or the ``time`` that folds follow.
        pipeline : Pipeline
            Not fitted. Its steps with ``get_support`` select features; the model keeps what they
            selected, and not the steps.
        features : list of str, optional
            Columns, or single indicators such as ``"colour=red"``, to fit to; all by default.
        card : dict, optional
            What else is known about the model, for :meth:`about`: ``method``, ``judge``,
            ``params``, ``honest`` (``error``, ``low``, ``high``, ``metric``, ``how``), ``command``.
        calibrate : bool, default=True
            Fit probabilities, by 5-fold cross-validation of the pipeline on some 3,000 rows at
            most. If ``features`` were chosen by these same rows, the probabilities are too close
            to 0 and 1; then pass False, and call :meth:`calibrate` with decision values of the
            whole procedure.
        seed : int, default=0
            Of the folds.
        """
        encoded = dataset.encode("onehot") if dataset.levels else dataset
        is_sparse = sparse.issparse(dataset.X)
        labels = {
            name: indicators(dataset.X[:, dataset.feature_names.index(name)], levels)[1]
            for name, levels in dataset.levels.items()
            if not is_sparse
        }
        widths = [len(labels.get(name, [name])) for name in dataset.feature_names]
        origin = np.repeat(np.arange(dataset.n_features), widths)
        given = _positions(features, dataset.feature_names, encoded.feature_names, origin)
        X, y = encoded.X[:, given], np.asarray(dataset.y)
        groups, weights = dataset.extras.get("groups"), dataset.extras.get("weights")
        whole = calibration.fit_copy(pipeline, X, y, weights)
        reduced, used = _reduced(whole, X)
        kept = given[used]
        needed = np.unique(origin[kept])
        columns = [dataset.feature_names[j] for j in needed]
        model = cls(
            columns=columns,
            levels={name: list(dataset.levels[name]) for name in columns if name in labels},
            pipeline=reduced,
            target=dataset.target,
            task=dataset.task,
            labels=dataset.target_names,
        )
        model.indicators_ = {name: labels[name] for name in columns if name in labels}
        model.kept_ = np.searchsorted(np.flatnonzero(np.isin(origin, needed)), kept).tolist()
        model.features_ = [encoded.feature_names[j] for j in kept]
        model.ids_ = [name for name, role in dataset.roles.items() if role == "id"]
        model.sparse_ = is_sparse
        model.card = _card(dataset, pipeline, model.features_, origin[kept]) | (card or {})
        if calibrate and hasattr(reduced, "classes_"):
            times = dataset.extras.get("time")
            rows, folds = calibration.folds_of(y, seed, groups, times)
            how = f"{len(folds)}-fold cross-validation"
            if times is not None:
                how = f"{len(folds)} splits in the order of time"
            some = None if weights is None else np.asarray(weights)[rows]
            try:
                values = calibration.out_of_fold(pipeline, X[rows], y[rows], folds, some)[1]
            except ValueError as error:  # too few rows for it in a fold: the model is good without
                model.card["probabilities"] = f"none, since a fold could not be fitted: {error}"
            else:
                model.calibrate(values, y[rows], how, some)
        return model

    def calibrate(
        self,
        values: np.ndarray | None,
        y: Any,
        how: str = "cross-validation",
        weights: np.ndarray | None = None,
    ) -> None:
        """Fit the probabilities.

        Parameters
        ----------
        values : array of shape (n_samples,) or (n_samples, n_classes), or None
            Decision values of rows that took no part in the fit; NaN leaves a row out.
        y : array of shape (n_samples,)
            Labels of these rows.
        how : str
            Where the values come from, for the card.
        weights : array of shape (n_samples,), optional
            Of the rows.
        """
        if values is None:
            return
        values, y, classes = np.asarray(values, dtype=float), np.asarray(y), self.pipeline.classes_
        values = values.reshape(len(y), -1)
        there = np.isfinite(values).all(axis=1)
        if not np.isin(classes, y[there]).all():
            return
        known = None if weights is None else weights[there]
        self.sigmoids_ = calibration.fit_sigmoids(values[there], y[there], classes, known)
        self.card = self.card | {
            "probabilities": f"Platt's sigmoid, fitted to decision values of {int(there.sum()):,} "
            f"rows from {how}"
        }

    # ---------------------------------------------------------------------------- predictions

    def predict(self, X: Any) -> np.ndarray:
        """Names of the predicted classes, or numbers."""
        found = self.pipeline.predict(self._rows(X))
        if self.labels is None:
            return found
        return np.array(self.labels)[np.searchsorted(self.pipeline.classes_, found)]

    def predict_proba(self, X: Any) -> np.ndarray | None:
        """Probabilities of the classes, in the order of ``classes_``; None if there are none.

        The predicted class is the machine's own, and need not be the one that is most probable.
        """
        if self.sigmoids_ is None:
            return None
        values = calibration.decision_values(self.pipeline, self._rows(X))
        return None if values is None else calibration.probabilities(values, self.sigmoids_)

    def decision_function(self, X: Any) -> np.ndarray | None:
        """Decision values, if the model has some."""
        if not hasattr(self.pipeline[-1], "decision_function"):
            return None
        return self.pipeline.decision_function(self._rows(X))

    @property
    def classes_(self) -> np.ndarray | None:
        """Names of the classes; None in a regression."""
        if self.task == "regression":
            return None
        return np.array(self.labels if self.labels is not None else self.pipeline.classes_)

    @property
    def sources(self) -> list[str]:
        """The column that each number or indicator of the pipeline comes from."""
        labels = self.indicators_ if self.levels else {}
        every = [name for name in self.columns for _ in labels.get(name, [name])]
        return every if self.kept_ is None else [every[j] for j in self.kept_]

    def about(self) -> dict[str, Any]:
        """The card: what the model is and where it comes from, in plain values.

        Always ``target``, ``task``, ``columns``, ``features`` (``name`` and ``column`` each) and
        ``judge``; of models that this version fitted also ``data``, ``n_samples``, ``classes``
        with their counts, ``method``, ``params``, ``probabilities``, ``created`` and ``tamiz``;
        where they are known, ``honest`` and ``command``.
        """
        made: dict[str, Any] = {
            "target": self.target,
            "task": self.task,
            "columns": list(self.columns),
            "judge": type(_last(self.pipeline)).__name__,
        }
        if self.task != "regression" and self.labels is not None:
            made["classes"] = dict.fromkeys(self.labels)
        if not self.card:
            made["features"] = [{"name": name, "column": name} for name in self.columns]
        return made | self.card

    # ------------------------------------------------------------------------------ new tables

    def table(self, dataset: Dataset) -> tuple[Any, list[str]]:
        """The columns of another table in the form that the pipeline takes, and what was noticed.

        ``dataset`` holds cells as they are (``encode=None``) or codes.
        """
        place = {name: j for j, name in enumerate(dataset.feature_names)}
        notes: list[str] = []
        thin = sparse.issparse(dataset.X)
        absent = [name for name in self.columns if name not in place]
        if absent and not (thin and len(absent) < len(self.columns)):
            others = [name for name in place if name not in self.columns]
            hints = dict.fromkeys(near(name, others, 1) for name in absent[:3])
            raise DataError(
                f"{dataset.name or 'the table'} lacks {len(absent)} of the {len(self.columns)} "
                f"columns that the model needs: {listed(absent)}.{''.join(hints)}"
            )
        if thin:
            return self._sparse(dataset.X, place, absent, notes), notes
        blocks = []
        for name in self.columns:
            column = dataset.X[:, place[name]]
            if name in dataset.levels:
                names = np.array([*dataset.levels[name], None], dtype=object)
                column = names[np.where(np.isnan(column), -1, column).astype(int)]
            if name in self.levels:
                blocks.append(self._categories(name, column, notes))
            else:
                blocks.append(self._numbers(name, column, notes)[:, None])
        X = np.hstack(blocks)
        return (X if self.kept_ is None else X[:, self.kept_]), notes

    def _rows(self, X: Any) -> Any:
        """Rows as the pipeline takes them, from a frame, a data set, or an array of such rows."""
        import warnings

        import narwhals.stable.v1 as nw

        from tamiz.data import Dataset, load

        if nw.dependencies.is_into_dataframe(X) and not isinstance(X, np.ndarray):
            there = set(map(str, getattr(X, "column_names", X.columns)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # about the roles of columns
                needed = self.columns if there.issuperset(self.columns) else None
                X = load(X, False, columns=needed, encode=None)
        if not isinstance(X, Dataset):
            return X
        rows, notes = self.table(X)
        for note in notes:
            warnings.warn(note, DataWarning, stacklevel=3)
        return rows

    def _sparse(self, X: Any, place: dict[str, int], absent: list[str], notes: list[str]) -> Any:
        if absent:
            notes.append(
                f"{len(absent)} columns that the model needs are not in the table and are taken as "
                f"zero: {listed(absent)}."
            )
            X = sparse.hstack([X, sparse.csr_matrix((X.shape[0], 1))], format="csr")
        found = X[:, [place.get(name, X.shape[1] - 1) for name in self.columns]]
        return found.toarray() if self.sparse_ is False else found

    def _categories(self, name: str, column: np.ndarray, notes: list[str]) -> np.ndarray:
        texts = np.array([text_of(cell) for cell in column], dtype=object)
        labels = self.indicators_[name]
        known = [*self.levels[name], *labels]
        unseen = sorted(set(texts) - set(known))
        if unseen:
            # two levels have one indicator: what is not the second counts as the first
            taken = repr(known[0]) if len(labels) == 1 else "none of its categories"
            notes.append(
                f"column {name!r} holds {listed(unseen, 3)}, which the model never saw: taken as "
                f"{taken}."
            )
        return np.column_stack([(texts == label) for label in labels]).astype(np.float64)

    def _numbers(self, name: str, column: np.ndarray, notes: list[str]) -> np.ndarray:
        try:
            found = np.array([np.nan if cell is None else cell for cell in column], dtype=float)
        except (TypeError, ValueError):
            example = next(cell for cell in column if not _is_number(cell))
            raise DataError(
                f"column {name!r} held numbers when the model was fitted, and now {example!r}."
            ) from None
        if np.isinf(found).any():
            row = int(np.flatnonzero(np.isinf(found))[0])
            raise DataError(
                f"column {name!r} is infinite in row {row} (from 0); leave the cell empty if its "
                "value is not known."
            )
        n_missing = int(np.isnan(found).sum())
        if n_missing:
            notes.append(
                f"column {name!r} has {n_missing} missing value{'s' * (n_missing > 1)}: filled "
                "with the median of the table that the model was fitted to."
            )
        return found


def text_of(cell: Any) -> str:
    """A cell as the name of a category."""
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return MISSING
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _is_number(cell: Any) -> bool:
    try:
        float(np.nan if cell is None else cell)
    except (TypeError, ValueError):
        return False
    return True


def _positions(
    features: list[str] | None, columns: list[str], encoded: list[str], origin: np.ndarray
) -> np.ndarray:
    """Places of columns or single indicators in the encoded table, in its order."""
    if features is None:
        return np.arange(len(encoded))
    found: set[int] = set()
    for name in features:
        if name in columns:
            found.update(np.flatnonzero(origin == columns.index(name)).tolist())
        elif name in encoded:
            found.add(encoded.index(name))
        else:
            raise DataError(f"there is no column {name!r}.{near(name, [*columns, *encoded])}")
    if not found:
        raise DataError("a model needs at least one feature.")
    return np.array(sorted(found))


def _reduced(pipeline: Pipeline, X: Any) -> tuple[Pipeline, np.ndarray]:
    """A fitted pipeline that takes the selected columns only, and which columns these are.

    Steps before a selector that treat each column by itself, such as filling and scaling, keep the
    statistics of the selected columns. If some step does otherwise, the pipeline stays whole.
    """
    everything = np.arange(X.shape[1])
    used, steps = None, [pipeline.steps[-1]]
    for name, step in reversed(pipeline.steps[:-1]):
        if step is None or step == "passthrough":
            continue
        if hasattr(step, "get_support"):
            chosen = step.get_support(indices=True)
            used = chosen if used is None else chosen[used]
        else:
            steps.insert(0, (name, step if used is None else _narrowed(step, used)))
    if used is None:
        return pipeline, everything
    small = Pipeline(steps)
    some = X[:500]
    before = pipeline[:-1].transform(some)
    try:
        after = small[:-1].transform(some[:, used]) if len(steps) > 1 else some[:, used]
    except ValueError:
        return pipeline, everything
    if sparse.issparse(before):
        same = sparse.issparse(after) and before.shape == after.shape and not (before != after).nnz
    else:
        same = np.array_equal(before, after, equal_nan=True)
    return (small, used) if same else (pipeline, everything)


def _narrowed(step: Any, used: np.ndarray) -> Any:
    """A copy of a fitted transformer with the statistics of some columns."""
    narrow, width = copy.copy(step), getattr(step, "n_features_in_", None)
    for name, value in vars(step).items():
        if isinstance(value, np.ndarray) and value.shape[-1:] == (width,):
            setattr(narrow, name, value[..., used])
    if width is not None:
        narrow.n_features_in_ = len(used)
    return narrow


def _last(pipeline: Any) -> Any:
    while isinstance(pipeline, Pipeline):
        pipeline = pipeline[-1]
    return pipeline


def _card(
    dataset: Dataset, pipeline: Pipeline, features: list[str], origin: np.ndarray
) -> dict[str, Any]:
    """What is known from the data and the pipeline; the caller adds the rest."""
    from tamiz import __version__

    judge = _last(pipeline)
    usual = inspect.signature(type(judge).__init__).parameters
    selectors = [type(step).__name__ for _, step in pipeline.steps if hasattr(step, "get_support")]
    card: dict[str, Any] = {
        "data": dataset.name,
        "n_samples": dataset.n_samples,
        "method": selectors[0] if selectors else None,
        "params": {
            key: value if isinstance(value, (str, int, float, type(None))) else repr(value)
            for key, value in judge.get_params(deep=False).items()
            if key != "random_state" and repr(value) != repr(usual[key].default)
        },
        "features": [
            {"name": name, "column": dataset.feature_names[j]}
            for name, j in zip(features, origin.tolist(), strict=True)
        ],
        "created": datetime.now().isoformat(timespec="seconds"),
        "tamiz": __version__,
    }
    if dataset.class_counts:
        card["classes"] = dict(dataset.class_counts)
    return card
