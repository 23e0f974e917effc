"""The arguments of a comparison, read and checked; the baselines that any selector must beat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from tamiz.base import Selector, number_to_select
from tamiz.evaluation.judges import (
    candidates_of,
    check_judge,
    judge_name,
    make_judge,
    name_of_judge,
)
from tamiz.evaluation.methods import METHODS, Method, find_method, method_of
from tamiz.validation import (
    SparseInputError,
    as_vector,
    check_classes,
    check_features,
    check_groups,
    check_regression_target,
    check_sample_weight,
    check_units,
    check_X,
    estimator_with,
    guess_task,
    named_values,
    names_such_as,
    sample_limits,
    tuning,
)

_DEFAULT = ("fisher", "relieff", "mrmr", "qpfs", "rfe", "ho-svm")
_DEFAULT_REGRESSION = ("pearson", "rrelieff", "cfs", "qpfs", "rfe", "ho-svm")
_BY_NAME = ("categorical_features", "fixed_features")
_HALF = (None, "auto")


#: Rows of a table, to learn from some and judge by others.
_FEWEST = 4


class ComparedData(NamedTuple):
    """The data, checked."""

    X: Any
    y: np.ndarray
    names: list[str]
    task: str
    has_missing: bool
    groups: np.ndarray | None
    weight: np.ndarray | None
    units: list[np.ndarray] | None
    covariates: np.ndarray | None

    @property
    def n_features(self) -> int:
        """Number of features: of columns, or of groups of them."""
        return self.X.shape[1] if self.units is None else len(self.units)


class Methods(NamedTuple):
    """Selectors, and what of them is judged."""

    selectors: dict[str, Any]
    own: dict[str, bool]
    curve: dict[str, bool]


class ColumnNames(BaseEstimator):
    """Bears the names of the columns."""


def read_data(
    X: Any, y: Any, task: str, groups: Any, sample_weight: Any, feature_groups: Any, adjust: Any
) -> ComparedData:
    """The table and the target; missing values are allowed in the table, infinite ones are not."""
    table = ColumnNames()
    X = check_X(table, X, reset=True, accept_sparse=True, allow_nan=True)
    if X.shape[0] < _FEWEST:
        raise ValueError(f"X has {X.shape[0]} rows, and at least {_FEWEST} are needed.")
    n, p = X.shape
    target = as_vector(y)
    if task == "auto":
        task = guess_task(target)
    if task == "classification":
        check_classes(target, n, quantity="pass task='regression'", warn=False)
    else:
        target = check_regression_target(target, n, labels="Pass task='classification'.")
        if np.ptp(target) == 0:
            raise ValueError(f"y is {target[0]:g} in all samples; there is nothing to predict.")
    if groups is not None:
        groups = check_groups(groups, n)
    has_missing = bool(np.isnan(X.data if sparse.issparse(X) else X).any())
    names = [str(name) for name in getattr(table, "feature_names_in_", ())]
    names = names or [f"x{j}" for j in range(p)]
    covariates = None
    if adjust is not None:
        if feature_groups is not None and getattr(adjust, "ndim", 1) != 2:
            raise ValueError(
                "feature_groups does not go with adjust by column: pass the covariates beside X, "
                "as an array, so that no position moves."
            )
        X, names, covariates = _read_covariates(adjust, X, names)
        has_missing = has_missing or bool(np.isnan(covariates).any())
    weight = None
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, n)
        if not (weight > 0).all():
            raise ValueError("sample_weight must be positive; leave out samples of no weight.")
    units = None
    if feature_groups is not None:
        units, names = _read_units(feature_groups, names)
    return ComparedData(X, target, names, task, has_missing, groups, weight, units, covariates)


def _read_covariates(adjust: Any, X: Any, names: list[str]) -> tuple[Any, list[str], np.ndarray]:
    """The features without the covariates, their names, and the covariates.

    Columns of ``X`` are named, or the covariates are passed as an array beside it.
    """
    if sparse.issparse(X):
        raise SparseInputError(
            "adjust= needs a dense table: residuals of a sparse one are not sparse. Pass "
            "X.toarray()."
        )
    if getattr(adjust, "ndim", 1) == 2:
        covariates = check_X(ColumnNames(), adjust, reset=True, allow_nan=True)
        if len(covariates) != len(X):
            raise ValueError(f"adjust has {len(covariates)} rows, X has {len(X)}.")
        return X, names, covariates
    places = check_features(adjust, "adjust", len(names), names)
    others = np.setdiff1d(np.arange(len(names)), places)
    if not len(places):
        raise ValueError("adjust names no column; leave it out.")
    if not len(others):
        raise ValueError("adjust names every column of X; no feature is left.")
    return X[:, others], [names[j] for j in others], X[:, places]


def _read_units(feature_groups: Any, names: list[str]) -> tuple[list[np.ndarray], list[str]]:
    """Columns that are one feature together, in the order of their first columns, with names."""
    found = check_units(feature_groups, None, len(names), names)
    by_first = {int(np.min(columns)): name for name, columns in (found.named or {}).items()}
    units = sorted(found.members, key=lambda columns: int(columns[0]))
    labels = [by_first.get(int(columns[0]), names[int(columns[0])]) for columns in units]
    return units, labels


def read_selectors(selectors: Any, baselines: Any, data: ComparedData, largest: int) -> Methods:
    """Selectors by name, in the order given, baselines last."""
    if selectors is None:
        selectors = _DEFAULT_REGRESSION if data.task == "regression" else _DEFAULT
    p = data.X.shape[1]
    if data.units is not None:  # a greedy method must reach so many features by their columns
        largest = min(p, sum(sorted(map(len, data.units))[-largest:]))
    forms = f"pass selectors with fit and get_support, or names of methods: {', '.join(METHODS)}"
    selecting = estimator_with("fit", "get_params", advice=forms)
    found: dict[str, Any] = {}
    for name, given in named_values("selectors", selectors):
        selector = find_method(given).make(task=data.task, n_features=p) if (
            isinstance(given, str)
        ) else given  # fmt: skip
        selecting(f"selectors[{name!r}]" if name else "selectors", selector)
        if name is None:
            method = find_method(given) if isinstance(given, str) else method_of(given)
            name = method.name if method is not None else type(given).__name__.lower()
        _add(found, name, _ready(selector, data, largest), "selectors")
    for given in names_such_as("random", "all")("baselines", baselines):
        method = find_method(given)
        if method.name not in found:
            found[method.name] = _ready(method.make(task=data.task), data, largest)
    if not found:
        raise ValueError("selectors names no selector; pass one, such as 'fisher'.")
    own = {name: _has_own_size(selector) for name, selector in found.items()}
    curve = {name: not isinstance(selector, METHODS["all"].cls) for name, selector in found.items()}
    return Methods(found, own, curve)


def read_judges(judges: Any, task: str, scale: str | None, class_weight: Any) -> dict[str, Any]:
    """Judges by name, in the order given."""
    found: dict[str, Any] = {}
    for name, given in named_values("judges", "svc-linear" if judges is None else judges):
        if isinstance(given, str):
            listed = judge_name(given)
            judge, name = make_judge(listed, task, scale is not None), name or listed
        else:
            judge, name = given, name or name_of_judge(given)
        check_judge(judge, name, task)
        judge = clone(judge)
        if class_weight is not None:
            weigh_classes(judge, class_weight)
        _add(found, name, judge, "judges")
    return found


def weigh_classes(judge: Any, class_weight: Any) -> bool:
    """Set the weights of the classes, if the judge has such a parameter."""
    names = [key for key in judge.get_params() if key.rpartition("__")[2] == "class_weight"]
    judge.set_params(**dict.fromkeys(names, class_weight))
    return bool(names)


#: The checks of ``tune``, where a plan may choose it, too, and of ``limits``.
_GRID = "pass a grid such as {'C': [0.1, 1, 10]}, a grid for each judge by its name, or True"
tuned = tuning("coarse", "fine", advice=_GRID)
tuned_by_plan = tuning("auto", "coarse", "fine", advice=_GRID)
limited = sample_limits(
    ("judges", "methods"),
    ("inner",),
    "{'judges': {'svc-rbf': 2000}, 'methods': {'relieff': 3000}, 'inner': 1000}",
)


def read_tune(tune: Any, judges: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The candidates of every judge; one without changes if there is nothing to tune."""
    if tune is None or tune is False:
        return {name: [{}] for name in judges}
    if tune is True or tune in ("coarse", "fine"):
        return {name: candidates_of(tune, name, judge) for name, judge in judges.items()}
    if not set(tune) <= set(judges):
        return {name: candidates_of(tune, name, judge) for name, judge in judges.items()}
    return {
        name: candidates_of(tune[name], name, judge) if name in tune else [{}]
        for name, judge in judges.items()
    }


def _add(found: dict[str, Any], name: str, one: Any, argument: str) -> None:
    if name in found:
        raise ValueError(
            f"two of {argument} are called {name!r}; pass a dict with a name for each, such as "
            f"{{{name + ' A'!r}: ..., {name + ' B'!r}: ...}}."
        )
    found[name] = one


def _ready(selector: Any, data: ComparedData, largest: int) -> Any:
    """A copy fit for folds: as many steps as are looked at, positions for names, no file."""
    selector = clone(selector)
    params = selector.get_params(deep=False)
    if params.get("checkpoint") is not None:
        raise ValueError(
            f"{type(selector).__name__} has checkpoint={str(params['checkpoint'])!r}; every split "
            "is another run. Give the file to compare(checkpoint=...) instead."
        )
    if params.get("task") == "auto":  # else it would guess, in each part of the rows
        selector.set_params(task=data.task)
    method = method_of(selector)
    if method is not None and method.greedy and params["n_features_to_select"] in _HALF:
        selector.set_params(n_features_to_select=largest)
    for key in _BY_NAME:
        value = params.get(key)
        if isinstance(value, Sequence) and any(isinstance(one, str) for one in value):
            places = check_features(value, key, data.X.shape[1], data.names)
            selector.set_params(**{key: places.tolist()})
    return selector


def _has_own_size(selector: Any) -> bool:
    """Whether the number of features that a selector selects means anything."""
    if not hasattr(selector, "get_support"):
        return False
    method: Method | None = method_of(selector)
    if method is None or method.own_size:
        return True
    params = selector.get_params(deep=False)
    if method.greedy:  # the number was set here, or by the user: a point of the curve either way
        return False
    asked = params.get("n_features_to_select") not in _HALF
    return asked or params.get("alpha") is not None or params.get("threshold") is not None


# ---------------------------------------------------------------------------------------- baselines


class RandomRanking(Selector):
    """Features in random order.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many are selected; half of them by default.
    random_state : int, RandomState or None, default=None
        Seed of the order.
    """

    def __init__(
        self, n_features_to_select: int | float | str | None = None, *, random_state: Any = None
    ):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RandomRanking:
        """Draw an order; ``y`` is not looked at."""
        X = check_X(self, X, reset=True, accept_sparse=True, allow_nan=True)
        p = X.shape[1]
        self._finish(
            order=check_random_state(self.random_state).permutation(p),
            n_selected=number_to_select(self.n_features_to_select, p, None),
        )
        return self


class AllFeatures(Selector):
    """Every feature is selected."""

    def fit(self, X: Any, y: Any = None) -> AllFeatures:
        """Take the columns as they come."""
        X = check_X(self, X, reset=True, accept_sparse=True, allow_nan=True)
        p = X.shape[1]
        self._finish(order=np.arange(p), n_selected=p)
        return self
