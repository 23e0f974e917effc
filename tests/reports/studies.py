"""Studies for the tests of the report: the attributes of a Study, filled quickly."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.base import Selection
from tamiz.data import Dataset
from tamiz.evaluation import compare, permutation_test, report_card, stability, tune
from tamiz.filters import FisherScore, ReliefF
from tamiz.svm import SVC


@dataclass
class Recommended:
    """What a study recommends."""

    method: str
    judge: str
    size: int
    kind: str
    features: list[str]
    error: float
    low: float
    high: float
    reasons: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


@dataclass
class StudyLike:
    """The attributes of a Study that the report reads."""

    dataset: Any
    selections: dict[str, Any]
    comparison: Any = None
    recommended: Any = None
    card: Any = None
    tuning: Any = None
    stability: dict[str, Any] = field(default_factory=dict)
    significance: Any = None
    permutation: Any = None
    params: dict[str, Any] = field(default_factory=dict)
    command: str | None = None
    seed: int | None = 0
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    created: str | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def quiet_tune(*args: Any, **options: Any) -> Any:
    """A tiny grid has its best cell at an edge, and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return tune(*args, **options)


@lru_cache(maxsize=1)
def full_study() -> StudyLike:
    """A study with every part, small enough to be made in a second."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    rows = np.arange(0, len(bunch.data), 4)
    X, y = bunch.data[rows].copy(), bunch.target[rows]
    X[::9, 3] = np.nan
    names = [str(name) for name in bunch.feature_names]
    colour = (X[:, 0] > np.median(X[:, 0])).astype(float) + (np.arange(len(X)) % 3 == 0)
    X = np.column_stack([X[:, :12], colour])
    names = [*names[:12], "colour"]
    categorical = np.arange(13) == 12
    data = Dataset(
        X,
        y,
        names,
        ["malignant", "benign"],
        categorical,
        name="breast cancer",
        source="scikit-learn",
        target="diagnosis",
        task="classification",
        roles={**dict.fromkeys(names, "numeric"), "colour": "categorical", "row id": "id"},
        levels={"colour": ["red", "green", "blue"]},
        aside={"row id": "an identifier"},
        notes=["Read from memory."],
    )
    found = compare(
        X, y, ["fisher", "relieff"], ["svc-linear", "knn"], sizes=[1, 2, 5, 12], cv=4,
        repeats=1, nested=False, random_state=0,
    )  # fmt: skip
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    selections = {
        "relieff": ReliefF(5).fit(filled, y).selection_,
        "fisher": FisherScore(5).fit(filled, y).selection_,
    }
    for selection in selections.values():
        selection.names = names
    order = selections["fisher"].order[:5]
    model = make_pipeline(StandardScaler(), SVC())
    scores = cross_val_predict(model, filled[:, order], y, cv=3, method="decision_function")
    best = found.estimate("fisher")
    return StudyLike(
        dataset=data,
        selections=selections,
        comparison=found,
        recommended=Recommended(
            "fisher", "svc-linear", 5, "chosen", [names[j] for j in order], best.error, best.low,
            best.high,
            [
                ("least_error", {"method": "fisher", "error": best.error}),
                ("stable", {"nogueira": 0.9}),
                ("selection_bias", {"bias": 0.01, "apparent": 0.05}),
            ],
        ),
        card=report_card(y, (scores > 0).astype(int), scores=scores, n_bootstrap=50),
        tuning=quiet_tune(
            filled[:, order], y, grid={"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}, cv=2
        ),
        stability={name: found.stability(name, 5) for name in ("fisher", "relieff")},
        significance=found.significance(),
        permutation=permutation_test(
            model, filled[:, order], y, cv=3, n_permutations=10, random_state=0
        ),
        params={"cv": 4, "repeats": 1},
        command="tamiz select 'breast cancer' --seed 0",
        versions={"tamiz": "0.1.0", "numpy": np.__version__},
        seconds=1.5,
        created="2026-01-31T10:20:30",
        notes=["A note."],
        warnings=["A warning."],
    )  # fmt: skip


def wide_study(n_features: int = 16_063, n_rows: int = 30) -> StudyLike:
    """Many features, ranked by three methods."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    names = [f"AFFX-{j:05d}_at" for j in range(n_features)]
    y = np.arange(n_rows) % 2
    data = Dataset(X, y, names, ["no", "yes"], name="wide", task="classification", target="y")
    selections = {}
    for method in ("fisher", "mrmr", "rfe"):
        scores = rng.random(n_features)
        order = np.argsort(-scores)
        support = np.zeros(n_features, dtype=bool)
        support[order[:40]] = True
        selections[method] = Selection(order, support, scores, names, method)
    masks = rng.random((30, n_features)) < 0.003
    return StudyLike(data, selections, stability={"fisher": stability(masks)})


def evil_study(names: list[str]) -> StudyLike:
    """A table whose names, classes and notes try to break out of the page."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, len(names)))
    y = np.array(['<img src=x onerror="boom()">', "</script><script>boom()</script>"])[
        np.arange(24) % 2
    ]
    classes = sorted(set(y.tolist()))
    data = Dataset(
        X, y, names, classes, name="<b>bold</b>", source="<i>file</i>", task="classification",
        target="'\"><svg onload=boom()>", notes=["<script>boom()</script>"],
        aside={"<u>id</u>": "</td><script>boom()</script>"},
        roles={"<u>id</u>": "id"},
    )  # fmt: skip
    method = "<script>boom()</script>"
    selection = FisherScore(min(3, len(names))).fit(X, y).selection_
    selection.names = names
    selection.scores = np.where(np.arange(len(names)) == 1, np.nan, selection.scores)
    masks = rng.random((6, len(names))) < 0.5
    return StudyLike(
        data,
        {method: selection},
        card=report_card(y, y[::-1]),
        stability={method: stability(masks)},
        params={"<script>": "</script><script>boom()</script>"},
        command="echo '</code><script>boom()</script>' && \"quoted\"",
        versions={"<b>": "</dd>"},
        created="<script>",
        notes=["</ul><script>boom()</script>"],
        warnings=["<script>boom()</script>"],
    )
