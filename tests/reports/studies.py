"""Studies for the tests of the report, made quickly."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from tamiz.base import Selection
from tamiz.data import Dataset, Finding, load
from tamiz.evaluation import permutation_test, report_card, stability, tune
from tamiz.evaluation.study import Study
from tamiz.evaluation.study import make_study as planned_study
from tamiz.evaluation.study.answers import find_answers
from tamiz.filters import FisherScore


def make_study(*args: Any, **options: Any) -> Study:
    """With so much time that the plan does not depend on how busy the machine is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return planned_study(*args, time_budget=900.0, **options)


def quiet_tune(*args: Any, **options: Any) -> Any:
    """A tiny grid has its best cell at an edge, and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return tune(*args, **options)


def small_table(n_rows: int = 143, *, task: str = "classification", classes: int = 2) -> Dataset:
    """Tumours: twelve numbers with missing values, a category, and a column that was set aside."""
    bunch = load_breast_cancer()
    rows = np.linspace(0, len(bunch.data) - 1, n_rows).astype(int)
    X, y = bunch.data[rows, :12].copy(), bunch.target[rows]
    if classes == 3:
        y = np.where(X[:, 0] > np.median(X[y == 0, 0]), 2, y)
    X[::9, 3] = np.nan
    colour = np.searchsorted(np.quantile(X[:, 7], [0.33, 0.67]), X[:, 7]).astype(float)
    names = [*(str(name) for name in bunch.feature_names[:12]), "colour"]
    numbers = task == "regression"
    return Dataset(
        np.column_stack([X, colour]),
        X[:, 2] * 2 + X[:, 7] + np.random.default_rng(0).normal(0, 3, len(X)) if numbers else y,
        names,
        None if numbers else ["malignant", "benign", "third"][:classes],
        np.arange(13) == 12,
        name="breast cancer",
        source="scikit-learn",
        target="diagnosis",
        task=task,
        roles={**dict.fromkeys(names, "numeric"), "colour": "categorical", "row id": "id"},
        levels={"colour": ["red", "green", "blue"]},
        aside={"row id": "an identifier"},
        notes=["Read from memory."],
        warnings=[Finding("id", ("row id",), "Not used as features: 'row id'.")],
    )


@lru_cache(maxsize=1)
def full_study() -> Study:
    """A study with every part, and two answers that differ."""
    for seed in (3, *range(20)):  # the first one does, with the newest versions
        options: dict[str, Any] = {"sizes": [1, 3, 5, 12], "cv": 4, "repeats": 1}
        options |= {"random_state": seed, "command": "tamiz select 'breast cancer' --seed 0"}
        study = make_study(small_table(), ["fisher", "relieff"], ["linear", "tree"], **options)
        best = study.recommended
        if best is not None and 1 < best.size < study.most_accurate.size and best.size < 12:
            break
    else:
        raise AssertionError("no seed gives two answers")
    study.permutation = permutation_test(
        study.pipeline(), study.dataset.keep(best.features).encode("onehot").X, study.dataset.y,
        cv=3, n_permutations=4, random_state=0,
    )  # fmt: skip
    data = study.dataset
    filled = np.where(np.isnan(data.X), np.nanmedian(data.X, axis=0), data.X)[:, :3]
    study.tuning = quiet_tune(
        filled, data.y, grid={"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}, cv=2
    )
    study.created = "2026-01-31T10:20:30"
    study.notes.append("A note.")
    return study


@lru_cache
def other_study(kind: str) -> Study:
    """Studies of every other kind, small: see the names."""
    quick: dict[str, Any] = {"sizes": [1, 2, 5], "cv": 3, "repeats": 1}
    methods = ["fisher", "relieff"]
    if kind == "regression":
        table = small_table(120, task="regression")
        return make_study(table, ["pearson", "cfs"], ["linear", "tree"], **quick)
    if kind == "three classes":
        return make_study(small_table(150, classes=3), methods, ["linear", "rbf"], **quick)
    quick["fdr"] = None  # features to stand behind are in those above and in the full study
    data = small_table()
    if kind in ("cut short", "nothing finished"):
        return _cut_short(kind)
    if kind == "no signal":
        data.y = np.random.default_rng(1).permutation(data.y)
        return make_study(data, methods, ["linear", "tree"], **quick)
    if kind == "skewed":
        kept = np.r_[np.flatnonzero(data.y == 0)[:20], np.flatnonzero(data.y == 1)]
        return make_study(data.take(np.sort(kept)), methods, ["linear", "tree"], **quick)
    if kind == "one numeric feature":
        return make_study(
            data.keep(["mean area"]), ["fisher"], "tree", sizes=[1], cv=3, repeats=1, fdr=None
        )
    if kind == "one category":
        colour = data.keep(["colour"])
        return make_study(colour, ["fisher"], "linear", sizes=[1], cv=3, repeats=1, fdr=None)
    if kind == "two splits":
        return make_study(data, ["fisher"], "forest", sizes=[1, 12], cv=2, repeats=1, fdr=None)
    raise ValueError(kind)


def _cut_short(kind: str) -> Study:
    """A study after two of its splits, or before the first was complete."""
    study = make_study(
        small_table(), ["fisher"], ["linear", "tree"], sizes=[2, 12], cv=4, repeats=1, fdr=None
    )
    assert study.comparison is not None and study.answers is not None
    found = replace(study.comparison, status="interrupted")
    first = 2 if kind == "cut short" else 0
    found.errors, found.own_errors = found.errors.copy(), found.own_errors.copy()
    found.errors[:, :, first:], found.own_errors[:, :, first:] = np.nan, np.nan
    answers = find_answers(found, study.answers.constant)
    if answers is None:
        return Study(study.dataset, study.selections, comparison=found, status="cut short")
    best = answers.smallest
    made = study.predictions
    assert made is not None
    early = np.repeat(np.arange(4), found.n_test) < first
    honest = {**study.honest, "error": best.error, "low": best.low, "high": best.high,
              "n_splits": first}  # fmt: skip
    return replace(
        study, comparison=found, answers=answers, recommended=best, honest=honest, learning=None,
        most_accurate=answers.most_accurate, status="cut short",
        predictions=type(made)(*(None if part is None else part[early] for part in made)),
    )  # fmt: skip


KINDS = (
    "regression", "three classes", "cut short", "nothing finished", "no signal", "skewed",
    "one numeric feature", "one category", "two splits",
)  # fmt: skip


def wide_study(n_features: int = 16_063, n_rows: int = 30) -> Study:
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
    return Study(data, selections, stability={"fisher": stability(masks)})


#: Rows of the table of loans, one for each day.
DAYS = 900


def loans(**changed: Any) -> pd.DataFrame:
    """Days in a mixed order; income rises with them, the way of asking changes, age stays."""
    rng = np.random.default_rng(0)
    day = rng.permutation(DAYS)
    age = rng.normal(45, 12, DAYS)
    income = rng.normal(30, 6, DAYS) + 8 * (day > 600)
    channel = np.where(rng.random(DAYS) < 0.2 + 0.6 * (day > 450), "online", "branch")
    repaid = age + income + 10 * (channel == "branch") + rng.normal(0, 8, DAYS) > 82
    table = {
        "day": pd.Timestamp("2022-01-01") + pd.to_timedelta(day, unit="D"),
        "age": age,
        "income": income,
        "channel": channel,
        "y": np.where(repaid, "repaid", "default"),
    }
    return pd.DataFrame({**table, **changed})


def ranked_study(table: pd.DataFrame, **options: Any) -> Study:
    """A ranking of all features, all of them selected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load(table, target="y", **options)
    p = data.n_features
    found = Selection(np.arange(p), np.ones(p, dtype=bool), -np.arange(p), data.feature_names, "f")
    return Study(data, {"f": found})


@lru_cache(maxsize=1)
def dated_study() -> Study:
    """Loans of three years, of which two columns change: one is long, and many columns stay."""
    rng = np.random.default_rng(2)
    quiet = {f"sensor {j} of a long name": rng.normal(size=DAYS) for j in range(8)}
    changed = {"income of the household": loans()["income"]} | quiet
    table = loans().drop(columns="income").assign(**changed)
    quick: dict[str, Any] = {"sizes": [2, 5], "cv": 3, "repeats": 1, "fdr": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load(table, target="y", time="day")
    return make_study(data, ["fisher", "relieff"], ["linear"], **quick)


def evil_study(names: list[str]) -> Study:
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
    return Study(
        data,
        {method: selection},
        card=report_card(y, y[::-1]),
        stability={method: stability(masks)},
        params={"<script>": "</script><script>boom()</script>"},
        command="echo '</code><script>boom()</script>' && \"quoted\"",
        versions={"<b>": "</dd>"},
        created="<script>",
        notes=["</ul><script>boom()</script>"],
        warnings=[
            {"code": "<script>", "columns": ["</li>"], "text": "<script>boom()</script>"},
            {"code": "leak", "columns": names, "text": ""},
        ],
    )
