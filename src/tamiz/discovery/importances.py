r"""How much each column of a table matters to a criterion: any selector, machine or estimator.

What a fitted thing says of its columns is read in this order:

- a selector: ``scores_`` if its order is that of the scores, else its ranking (a greedy ranking
  such as that of mRMR has scores that depend on what was chosen before);
- a machine with another kernel than the linear one: the change of ``||w||^2`` when a feature is
  left out with the dual variables as they are, which is the criterion of recursive elimination, for
  all features from one fit;
- ``coef_``: absolute values, or the root of the sum of squares over several machines;
- ``feature_importances_``.

Several columns may be one unit, such as the indicators of a category: what a machine with another
kernel is asked then is to leave all of them out. Squares of weights and importances are added, and
of scores and ranks the best one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import clone

from tamiz.information.columns import CodedTable, safe_units
from tamiz.search.base import seeded
from tamiz.search.judges import last_step
from tamiz.search.resampling import fit_to_the_end
from tamiz.validation import guess_task


@dataclass(frozen=True)
class NamedCriterion:
    """A criterion that has a name.

    Attributes
    ----------
    classes, numbers : tuple or None
        Module, class and parameters of what is fitted to classes, or to a numeric target; None if
        it takes no such target.
    scaled : bool
        Whether columns are standardised before.
    codes : bool
        Whether it takes the codes of categories as numbers.
    """

    classes: tuple[str, str, dict[str, Any]] | None
    numbers: tuple[str, str, dict[str, Any]] | None = None
    scaled: bool = False
    codes: bool = False

    def make(self, task: str) -> Any:
        """What is fitted; None if it does not take this task."""
        found = self.numbers if task == "regression" else self.classes
        return None if found is None else getattr(import_module(found[0]), found[1])(**found[2])


_FILTERS, _LINEAR = "tamiz.filters", "sklearn.linear_model"

#: Criteria by name.
CRITERIA = {
    "linear": NamedCriterion(
        ("tamiz.svm", "LinearMachine", {}), (_LINEAR, "RidgeCV", {}), scaled=True
    ),
    "lasso": NamedCriterion(
        ("tamiz.embedded", "L1SVM", {}),
        (_LINEAR, "LassoCV", {"cv": 3}),
        scaled=True,
    ),
    "rbf": NamedCriterion(("tamiz.svm", "SVC", {}), ("tamiz.svm", "SVR", {}), scaled=True),
    "forest": NamedCriterion(("tamiz.embedded", "ForestImportance", {}), codes=True),
    "relieff": NamedCriterion((_FILTERS, "ReliefF", {}), (_FILTERS, "RReliefF", {})),
    "mrmr": NamedCriterion((_FILTERS, "MRMR", {})),
    "auc": NamedCriterion((_FILTERS, "AUCScore", {})),
    "pearson": NamedCriterion((_FILTERS, "PearsonScore", {}), (_FILTERS, "PearsonScore", {})),
}


@dataclass
class ColumnScorer:
    """Fits a criterion to a table, and says how much each column matters.

    Parameters
    ----------
    estimator : estimator
        What is fitted: a clone of it, for every table.
    categorical : array of bool
        Which columns of the original table hold codes of categories.
    scaled : bool
        Whether columns are standardised.
    """

    estimator: Any
    categorical: np.ndarray
    scaled: bool = False

    def __call__(
        self,
        X: np.ndarray,
        y: Any,
        columns: np.ndarray,
        seed: int,
        arguments: Mapping[str, Any] | None = None,
        members: list[np.ndarray] | None = None,
    ) -> np.ndarray:
        """Importances of the columns of ``X``; ``columns`` says which feature each is (a copy of).

        ``arguments`` are those of ``fit`` besides the table and the target, ``members`` the columns
        of each unit, if importances are those of units. A column that does not vary matters
        nothing.
        """
        model = seeded(clone(self.estimator), seed)
        nominal = np.flatnonzero(self.categorical[columns])
        if len(nominal) and "categorical_features" in model.get_params(deep=False):
            model.set_params(categorical_features=nominal)
        if self.scaled:
            X = X / safe_units(np.abs(X).max(axis=0))
            spread = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        fitted = fit_to_the_end(model, X, y, **(arguments or {}))
        return column_importances(fitted, X.shape[1], members)


def scorer_for(
    parameter: str, given: Any, task: str, table: CodedTable, y: np.ndarray
) -> ColumnScorer:
    """The scorer of a criterion that is given by name, or as what is fitted.

    ``parameter`` is what it was given as, for sentences.
    """
    scaled = codes = False
    estimator = given
    if isinstance(given, str):
        criterion = CRITERIA[given]
        task = guess_task(y) if task == "auto" else task
        estimator, scaled, codes = criterion.make(task), criterion.scaled, criterion.codes
        if estimator is None:
            others = ", ".join(repr(key) for key, one in CRITERIA.items() if one.numbers)
            raise ValueError(
                f"{parameter}={given!r} needs classes, and y holds numbers; use one of {others}, "
                "or an estimator for numbers."
            )
    codes = codes or "categorical_features" in last_step(estimator).get_params(deep=False)
    if table.categorical.any() and not codes:
        first = int(np.flatnonzero(table.categorical)[0])
        more = ", 'rbf'" if parameter == "selector" else ""  # which makes indicators of them
        raise ValueError(
            f"{table.called(first)} holds categories, and {type(last_step(estimator)).__name__} "
            f"takes numbers; use {parameter}='forest', 'mrmr'{more} or 'relieff', or "
            "encode the categories first."
        )
    return ColumnScorer(estimator, table.categorical, scaled)


def column_importances(
    fitted: Any, n_columns: int, members: list[np.ndarray] | None = None
) -> np.ndarray:
    """What a fitted selector, machine or estimator says of its columns, as the module describes.

    Parameters
    ----------
    fitted : estimator
        It, or a pipeline that ends with it.
    n_columns : int
        Number of columns that it was given.
    members : list of int arrays, optional
        Columns of each unit, adjacent and in their order; one importance for each unit is returned.
    """
    step = last_step(fitted)
    several = members is not None and len(members) < n_columns
    if several and members is not None:
        together = _left_out_together(step, n_columns, members)
        if together is not None:
            return together
    found, combine = next(
        ((own, combine) for read, combine in _READERS if (own := read(step)) is not None),
        (None, np.sum),
    )
    if found is None:
        raise TypeError(
            f"{type(step).__name__} says nothing of single features: it has none of scores_, "
            "ranking_, coef_, feature_importances_ and a kernel. Use a selector, a linear or "
            "kernel machine, or a forest."
        )
    if found.shape != (n_columns,):
        raise ValueError(
            f"{type(step).__name__} was given {n_columns} columns and has importances of shape "
            f"{found.shape}: an earlier step of the pipeline changes the columns. Apply that step "
            "to X first."
        )
    found = np.where(np.isnan(found), 0.0, found)
    if not several or members is None:
        return found
    return np.array([combine(found[part]) for part in members])


def _scored(step: Any) -> np.ndarray | None:
    scores, order = getattr(step, "scores_", None), getattr(step, "order_", None)
    if scores is None:
        return None
    scores = np.asarray(scores, dtype=np.float64)
    if order is not None and (np.diff(scores[order]) > 0).any():
        return None
    return scores


def _ranked(step: Any) -> np.ndarray | None:
    ranking = getattr(step, "ranking_", None)
    return None if ranking is None else -np.asarray(ranking, dtype=np.float64)


def _tracked(step: Any) -> tuple[Any, list[np.ndarray]] | None:
    """The kernel over the support vectors of a machine that is not linear, and its coefficients."""
    kernel = getattr(step, "kernel_", None)
    if kernel is None or kernel.is_linear:
        return None
    return kernel.track(step.support_vectors_), list(np.atleast_2d(step.dual_coef_))


def _left_out(step: Any) -> np.ndarray | None:
    found = _tracked(step)
    if found is None:
        return None
    tracker, machines = found
    changes = [
        np.abs(coef @ tracker.K @ coef - tracker.leave_one_out_norms(coef)) for coef in machines
    ]
    return np.sum(changes, axis=0)


def _left_out_together(step: Any, n_columns: int, members: list[np.ndarray]) -> np.ndarray | None:
    """The change of ``||w||^2`` without all columns of a unit; None of what has no such kernel."""
    found = None if hasattr(step, "scores_") or hasattr(step, "ranking_") else _tracked(step)
    single = None if found is None else _left_out(step)
    if found is None or single is None or len(single) != n_columns:
        return None
    tracker, machines = found
    whole = [coef @ tracker.K @ coef for coef in machines]
    changes = np.array([single[part[0]] for part in members])
    for k, part in enumerate(members):
        if len(part) > 1:
            for j in part:
                tracker.remove(j)
            without = [coef @ tracker.K @ coef for coef in machines]
            changes[k] = np.abs(np.subtract(whole, without)).sum()
            for j in part:
                tracker.add(j)
    return changes


def _weighed(step: Any) -> np.ndarray | None:
    coef = getattr(step, "coef_", None)
    if coef is None:
        return None
    return np.sqrt(np.square(np.atleast_2d(np.asarray(coef, dtype=np.float64))).sum(axis=0))


def _split(step: Any) -> np.ndarray | None:
    found = getattr(step, "feature_importances_", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _length(values: np.ndarray) -> float:
    return float(np.sqrt(np.square(values).sum()))


#: How what is fitted is read, and how the columns of a unit count together.
_READERS: tuple[tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]], ...] = (
    (_scored, np.max),
    (_ranked, np.max),
    (_left_out, np.sum),
    (_weighed, _length),
    (_split, np.sum),
)


def as_indicators(table: CodedTable) -> tuple[np.ndarray, list[np.ndarray]]:
    """A table of numbers for machines: indicators of categories, medians for missing numbers.

    Parameters
    ----------
    table : CodedTable
        With codes, and NaN for missing values. A missing category is a category of its own.

    Returns
    -------
    X : array
        The table; no value is missing.
    members : list of int arrays
        Columns of each feature.
    """
    parts: list[np.ndarray] = []
    for j in range(table.X.shape[1]):
        column = table.X[:, j]
        missing = np.isnan(column)
        if not table.categorical[j]:
            middle = np.median(column[~missing]) if not missing.all() else 0.0
            parts.append(np.where(missing, middle, column)[:, None])
            continue
        codes = np.where(missing, np.max(column[~missing], initial=-1.0) + 1.0, column)
        levels = np.unique(codes)
        levels = levels[1:] if len(levels) == 2 else levels  # one indicator says both
        parts.append((codes[:, None] == levels).astype(np.float64))
    ends = np.cumsum([part.shape[1] for part in parts])
    return np.hstack(parts), np.split(np.arange(ends[-1]), ends[:-1])
