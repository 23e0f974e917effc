r"""How much each column of a table matters to a criterion: any selector, machine or estimator.

What a fitted thing says of its columns is read in this order:

- a selector: ``scores_`` if its order is that of the scores, else its ranking (a greedy ranking
  such as that of mRMR has scores that depend on what was chosen before);
- a machine with another kernel than the linear one: the change of ``||w||^2`` when a feature is
  left out with the dual variables as they are, which is the criterion of recursive elimination, for
  all features from one fit;
- ``coef_``: absolute values, or the root of the sum of squares over several machines;
- ``feature_importances_``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from tamiz.information.columns import CodedTable
from tamiz.search.base import seeded
from tamiz.search.judges import fit_arguments, last_step
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
        weight: np.ndarray | None = None,
    ) -> np.ndarray:
        """Importances of the columns of ``X``; ``columns`` says which feature each is (a copy of).

        A column that does not vary matters nothing.
        """
        model = seeded(clone(self.estimator), seed)
        nominal = np.flatnonzero(self.categorical[columns])
        if len(nominal) and "categorical_features" in model.get_params(deep=False):
            model.set_params(categorical_features=nominal)
        if self.scaled:
            spread = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        weights = fit_arguments(model, weight)
        fitted = fit_to_the_end(model, X, y, **weights)
        return column_importances(fitted, X.shape[1])


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
        raise ValueError(
            f"{table.called(first)} holds categories, and {type(last_step(estimator)).__name__} "
            f"takes numbers; use {parameter}='forest', 'mrmr' or 'relieff', or encode the "
            "categories first."
        )
    return ColumnScorer(estimator, table.categorical, scaled)


def takes_weights(estimator: Any) -> bool:
    """Whether what is fitted uses sample weights."""
    return bool(has_fit_parameter(last_step(estimator), "sample_weight"))


def column_importances(fitted: Any, n_columns: int) -> np.ndarray:
    """What a fitted selector, machine or estimator says of its columns, as the module describes."""
    step = last_step(fitted)
    for read in _READERS:
        found = read(step)
        if found is not None:
            break
    else:
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
    return np.where(np.isnan(found), 0.0, found)


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


def _left_out(step: Any) -> np.ndarray | None:
    kernel = getattr(step, "kernel_", None)
    if kernel is None or kernel.is_linear:
        return None
    tracker = kernel.track(step.support_vectors_)
    changes = [
        np.abs(coef @ tracker.K @ coef - tracker.leave_one_out_norms(coef))
        for coef in np.atleast_2d(step.dual_coef_)
    ]
    return np.sum(changes, axis=0)


def _weighed(step: Any) -> np.ndarray | None:
    coef = getattr(step, "coef_", None)
    if coef is None:
        return None
    return np.sqrt(np.square(np.atleast_2d(np.asarray(coef, dtype=np.float64))).sum(axis=0))


def _split(step: Any) -> np.ndarray | None:
    found = getattr(step, "feature_importances_", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


_READERS: tuple[Callable[[Any], np.ndarray | None], ...] = (
    _scored,
    _ranked,
    _left_out,
    _weighed,
    _split,
)
