"""A fitted model together with the columns it was fitted to, so that it can read new tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from tamiz.data.encoding import MISSING, indicators

if TYPE_CHECKING:
    from tamiz.data import Dataset


class TableModel(BaseEstimator):
    """A pipeline that takes tables by the names of their columns.

    Attributes
    ----------
    columns : list of str
        Columns of a table that are used, in order.
    levels : dict of str to list of str
        Names of the categories of the columns that hold some.
    indicators_ : dict of str to list of str
        The same as they were turned into indicators.
    pipeline : Pipeline
        Fitted.
    target, task : str
        What is predicted.
    labels : list of str or None
        Names of the classes, in the order of the sorted labels.
    """

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

    @classmethod
    def fitted(cls, dataset: Dataset, pipeline: Any) -> TableModel:
        """Fit a pipeline to a data set whose categories are still codes."""
        model = cls(
            columns=list(dataset.feature_names),
            levels={name: list(levels) for name, levels in dataset.levels.items()},
            pipeline=pipeline,
            target=dataset.target,
            task=dataset.task,
            labels=dataset.target_names,
        )
        model.indicators_ = {
            name: indicators(dataset.X[:, dataset.feature_names.index(name)], levels)[1]
            for name, levels in model.levels.items()
        }
        encoded = dataset.encode("onehot") if dataset.levels else dataset
        model.pipeline.fit(encoded.X, dataset.y)
        return model

    def predict(self, X: Any) -> np.ndarray:
        """Names of the predicted classes, or numbers, for rows as :meth:`table` gives them."""
        found = self.pipeline.predict(X)
        if self.labels is None:
            return found
        return np.array(self.labels)[np.searchsorted(self.pipeline.classes_, found)]

    def decision_function(self, X: Any) -> np.ndarray | None:
        """Decision values, if the model has some."""
        if not hasattr(self.pipeline[-1], "decision_function"):
            return None
        return self.pipeline.decision_function(X)

    def table(self, dataset: Dataset) -> tuple[Any, list[str]]:
        """The columns of another table in the form that the model takes, and what was noticed.

        ``dataset`` must hold cells as they are (``encode=None``).
        """
        place = {name: j for j, name in enumerate(dataset.feature_names)}
        absent = [name for name in self.columns if name not in place]
        if absent:
            shown = ", ".join(absent[:5]) + (", …" if len(absent) > 5 else "")
            raise ValueError(
                f"{dataset.name or 'the table'} lacks {len(absent)} of the {len(self.columns)} "
                f"columns that the model was fitted to: {shown}."
            )
        notes: list[str] = []
        if not isinstance(dataset.X, np.ndarray):
            return dataset.X[:, [place[name] for name in self.columns]], notes
        blocks = []
        for name in self.columns:
            column = dataset.X[:, place[name]]
            if name in self.levels:
                blocks.append(self._categories(name, column, notes))
            else:
                blocks.append(self._numbers(name, column, notes)[:, None])
        return np.hstack(blocks), notes

    def _categories(self, name: str, column: np.ndarray, notes: list[str]) -> np.ndarray:
        texts = np.array([_text(cell) for cell in column], dtype=object)
        labels = self.indicators_[name]
        known = [*self.levels[name], *labels]
        unseen = sorted(set(texts) - set(known))
        if unseen:
            shown = ", ".join(map(repr, unseen[:3])) + (", …" if len(unseen) > 3 else "")
            # two levels have one indicator: what is not the second counts as the first
            taken = repr(known[0]) if len(labels) == 1 else "none of its categories"
            notes.append(
                f"column {name!r} holds {shown}, which the model never saw: taken as {taken}."
            )
        return np.column_stack([(texts == label) for label in labels]).astype(np.float64)

    def _numbers(self, name: str, column: np.ndarray, notes: list[str]) -> np.ndarray:
        try:
            found = np.array([np.nan if cell is None else cell for cell in column], dtype=float)
        except (TypeError, ValueError):
            example = next(cell for cell in column if not isinstance(cell, (int, float)))
            raise ValueError(
                f"column {name!r} held numbers when the model was fitted, and now {example!r}."
            ) from None
        if np.isinf(found).any():
            row = int(np.flatnonzero(np.isinf(found))[0])
            raise ValueError(
                f"column {name!r} is infinite in row {row} (from 0); leave the cell empty if its "
                "value is not known."
            )
        n_gaps = int(np.isnan(found).sum())
        if n_gaps:
            notes.append(
                f"column {name!r} has {n_gaps} missing values: filled with the median of the "
                "table that the model was fitted to."
            )
        return found


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return MISSING
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
