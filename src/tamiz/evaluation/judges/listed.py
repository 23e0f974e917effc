"""Judges of a comparison by name: what each is, what of it is tuned, and what it costs.

The one list that comparisons, reports and the command line read. A class is imported when one of
its estimators is made, so that reading the list is cheap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Maker:
    """What makes an estimator of a class; the class is imported when the first one is made."""

    home: str
    class_name: str
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self) -> Any:
        return getattr(import_module(self.home), self.class_name)(**self.options)

    def __str__(self) -> str:
        return f"{self.home.partition('.')[0]}:{self.class_name}"


@dataclass(frozen=True)
class PerFeature:
    """A parameter that is divided by the number of features, on which its best value depends."""

    value: float

    def __repr__(self) -> str:
        return f"{self.value:g}/p"


@dataclass(frozen=True)
class NamedJudge:
    """A judge that is asked for by name: how to make it for each task, and what to tune.

    Attributes
    ----------
    classifier, regressor : Maker
        Make one.
    scaled : bool
        Whether it minds the scale of the features.
    grid : dict
        What ``tune=True`` tries.
    coarse, fine : dict
        The few settings, and those of more time, that ``tamiz select`` tries.
    what, cost : str
        How it decides, and how its time grows.
    """

    classifier: Maker
    regressor: Maker
    scaled: bool
    grid: dict[str, list[Any]]
    coarse: dict[str, list[Any]]
    fine: dict[str, list[Any]]
    what: str
    cost: str

    def to_dict(self, name: str) -> dict[str, Any]:
        """What a list of judges says of it, in plain values."""
        return {
            "name": name,
            "classifier": str(self.classifier),
            "regressor": str(self.regressor),
            "what": self.what,
            "cost": self.cost,
            "grid": {key: list(values) for key, values in self.grid.items()},
        }


def _per_feature(*values: float) -> list[PerFeature]:
    return [PerFeature(value) for value in values]


JUDGES = {
    "linear": NamedJudge(
        Maker("tamiz.svm", "LinearMachine"),
        Maker("tamiz.svm", "SVR", {"kernel": "linear"}),
        True,
        {"C": [0.001, 0.01, 0.1, 1.0, 10.0]},
        {"C": _per_feature(0.1, 2.0, 50.0)},
        {"C": _per_feature(0.1, 1.0, 10.0, 100.0)},
        "a plane, by the squared hinge loss",
        "n p² or n² p, whichever is less",
    ),
    "svc-rbf": NamedJudge(
        Maker("tamiz.svm", "SVC", {"kernel": "rbf"}),
        Maker("tamiz.svm", "SVR", {"kernel": "rbf"}),
        True,
        {"C": [0.1, 1.0, 10.0, 100.0]},
        {"C": [1.0, 10.0], "gamma": _per_feature(0.3, 1.5)},
        {"C": [1.0, 10.0], "gamma": _per_feature(0.2, 0.8, 3.0)},
        "a curved boundary with the widest margin",
        "n² p",
    ),
    "tree": NamedJudge(
        Maker("tamiz.tree", "CARTClassifier"),
        Maker("tamiz.tree", "CARTRegressor"),
        False,
        {"min_samples_leaf": [1, 5, 20]},
        {"min_samples_leaf": [5]},
        {"min_samples_leaf": [2, 12]},
        "questions about one feature after the other",
        "n log n p",
    ),
    "forest": NamedJudge(
        Maker("tamiz.tree", "ForestClassifier", {"n_jobs": 1}),
        Maker("sklearn.ensemble", "RandomForestRegressor"),
        False,
        {"min_samples_leaf": [1, 3, 10]},
        {},
        {"splits": ["best", "random"]},
        "the mean of a hundred trees",
        "n log n √p for each tree",
    ),
    "boosting": NamedJudge(
        Maker("tamiz.tree", "BoostingClassifier", {"n_jobs": 1}),
        Maker("tamiz.tree", "BoostingRegressor", {"n_jobs": 1}),
        False,
        {"n_estimators": [50, 100, 300], "max_leaf_nodes": [4, 15]},
        {},
        {"n_estimators": [100, 300]},
        "the sum of a hundred small trees, each on what the ones before left over",
        "n p for each tree",
    ),
    "svc-linear": NamedJudge(
        Maker("tamiz.svm", "SVC", {"kernel": "linear"}),
        Maker("tamiz.svm", "SVR", {"kernel": "linear"}),
        True,
        {"C": [0.001, 0.01, 0.1, 1.0, 10.0]},
        {"C": _per_feature(1.0, 30.0)},
        {"C": _per_feature(0.3, 3.0, 30.0)},
        "a plane with the widest margin",
        "n² p",
    ),
    "knn": NamedJudge(
        Maker("tamiz.neighbors", "KNNClassifier"),
        Maker("sklearn.neighbors", "KNeighborsRegressor"),
        True,
        {"n_neighbors": [1, 3, 5, 9, 15]},
        {"n_neighbors": [5]},
        {"n_neighbors": [1, 5, 15]},
        "the classes of the nearest samples",
        "n² p, less with few features",
    ),
}
#: Other names that are understood.
ALIASES = {
    "svc": "svc-linear",
    "svr": "svc-linear",
    "svr-linear": "svc-linear",
    "rbf": "svc-rbf",
    "svr-rbf": "svc-rbf",
    "cart": "tree",
    "random-forest": "forest",
    "boosted-trees": "boosting",
    "gradient-boosting": "boosting",
}


def judge_name(name: str) -> str:
    """The name under which a judge is listed."""
    wanted = name.strip().lower().replace("_", "-")
    wanted = ALIASES.get(wanted, wanted)
    if wanted not in JUDGES:
        raise ValueError(
            f"no judge is called {name!r}; use {', '.join(JUDGES)}, or an estimator of your own."
        )
    return wanted
