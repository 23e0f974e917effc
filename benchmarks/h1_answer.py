"""H1: how good is the answer of ``tamiz select``, beside what a practitioner would write?

    python -m benchmarks.h1_answer                       the quick sets, two folds each
    python -m benchmarks.h1_answer --full --jobs 16 --out h1.json

Outer folds hold out samples that nobody sees. In the training part, tamiz answers (both answers,
fitted to that part), and each rival of scikit-learn is tuned by cross-validation. Error and number
of columns used are then read off the held-out part. Everything is the same for all: folds, metric
(error), missing values filled by the median, categories as indicators.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

QUICK = ("breast_cancer", "heart_cleveland", "corral", "srbct")
SETS = (
    "breast_cancer",
    "wine",
    "pima",
    "heart_cleveland",
    "german_credit",
    "credit_approval",
    "vertebral_3c",
    "horse_colic",
    "corral",
    "gametes_2way",
    "promoters",
    "arrhythmia",
    "spambase",
    "hmeq",
    "adult",
    "madelon",
    "colon",
    "srbct",
    "leukemia_golub",
    "lymphoma_alizadeh_2093",
    "gcm_ramaswamy_1363",
    "arcene",
)
RIVALS = ("l1-logistic", "kbest+logistic", "rfecv", "forest+forest", "logistic", "forest")
OURS = ("smallest", "most accurate")
#: Columns that are known only afterwards.
DROPPED = {
    "horse_colic": (
        "hospital_number",
        "outcome",
        "lesion_type1",
        "lesion_type2",
        "lesion_type3",
        "cp_data",
    )
}
MOST_ROWS = 6000
FOLDS = 5


def table(name: str) -> Any:
    """The data set, classes of fewer than ten rows left out, at most 6,000 rows."""
    from tamiz.data import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load(name)
    data = data.drop([c for c in DROPPED.get(name, ()) if c in data.feature_names]) if (
        name in DROPPED
    ) else data  # fmt: skip
    if name == "arrhythmia":  # normal or not, as in the literature
        normal = np.asarray(data.y).astype(str) == "1"
        data.y, data.target_names = np.where(normal, 0, 1), ["normal", "arrhythmia"]
    labels, counts = np.unique(data.y, return_counts=True)
    data = data.take(np.isin(data.y, labels[counts >= 10]))
    if data.n_samples > MOST_ROWS:
        data = data.take(np.sort(np.random.default_rng(0).permutation(data.n_samples)[:MOST_ROWS]))
    return data


def folds(data: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return list(splitter.split(np.zeros(data.n_samples), data.y))


def run_one(name: str, who: str, fold: int, budget: float) -> list[dict[str, Any]]:
    """Held-out error and size: of both answers of tamiz, or of a rival."""
    warnings.simplefilter("ignore")
    data = table(name)
    train, test = folds(data)[fold]
    began = time.perf_counter()
    if who == "tamiz":
        found = ours(data, train, test, budget)
    else:
        found = [(who, *rival(who, data, train, test))]
    seconds = time.perf_counter() - began
    return [
        {"set": name, "who": one[0], "fold": fold, "error": one[1], "size": one[2],
         "promised": one[3] if len(one) > 3 else None, "seconds": seconds}
        for one in found
    ]  # fmt: skip


def ours(data: Any, train: np.ndarray, test: np.ndarray, budget: float) -> list[Any]:
    from tamiz.evaluation.study import make_study

    part, held_out = data.take(train), data.take(test)
    study = make_study(
        part, scoring="accuracy", class_weight=None, n_jobs=1, random_state=0, time_budget=budget
    )
    answers = study.answers
    found = []
    for answer, best in ((OURS[0], answers.smallest), (OURS[1], answers.most_accurate)):
        whole = data.keep(best.features)  # encoded as one table, so that columns agree
        whole = whole.encode("onehot") if whole.levels else whole
        study.recommended = answers.smallest  # also where there is no signal
        model = study.pipeline(answer).fit(np.asarray(whole.X)[train], part.y)
        error = float(np.mean(model.predict(np.asarray(whole.X)[test]) != held_out.y))
        found.append((answer, error, len(best.features), best.error))
    return found


def rival(who: str, data: Any, train: np.ndarray, test: np.ndarray) -> tuple[float, int]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import RFECV, SelectFromModel, SelectKBest
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from tamiz.data.dataset import columns_of

    units = columns_of(data)
    encoded = data.encode("onehot") if data.levels else data
    X = encoded.X.toarray() if hasattr(encoded.X, "toarray") else np.asarray(encoded.X)
    y = np.unique(data.y, return_inverse=True)[1]
    p = X.shape[1]
    sizes = [k for k in (1, 2, 5, 10, 20, 50, 100, 200) if k < p] + [min(p, 500)]
    grid = [0.01, 0.1, 1.0, 10.0]
    logistic = LogisticRegression(max_iter=1000)
    start = [("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())]

    def searched(steps: list[Any], params: dict[str, Any]) -> Any:
        pipe = Pipeline([*start, *steps])
        return GridSearchCV(pipe, params, cv=3, error_score=0.0) if params else pipe

    if who == "l1-logistic":
        sparse = LogisticRegression(l1_ratio=1.0, solver="liblinear", max_iter=300)
        if "penalty" in LogisticRegression().get_params() and _old_sklearn():
            sparse = LogisticRegression(penalty="l1", solver="liblinear", max_iter=300)
        model = searched(
            [("judge", OneVsRestClassifier(sparse))],
            {"judge__estimator__C": [0.03, 0.1, 1.0, 10.0]},
        )
    elif who == "kbest+logistic":
        model = searched(
            [("select", SelectKBest()), ("judge", logistic)],
            {"select__k": sizes, "judge__C": grid},
        )
    elif who == "rfecv":
        select = RFECV(LogisticRegression(max_iter=300), step=0.2 if p > 100 else 1, cv=3)
        model = searched([("select", select), ("judge", logistic)], {})
    elif who == "forest+forest":
        select = SelectFromModel(
            RandomForestClassifier(200, random_state=1), threshold=-np.inf, max_features=1
        )
        model = searched(
            [("select", select), ("judge", RandomForestClassifier(200, random_state=0))],
            {"select__max_features": sizes},
        )
    elif who == "logistic":
        model = searched([("judge", logistic)], {"judge__C": grid})
    else:
        model = searched([("judge", RandomForestClassifier(300, random_state=0))], {})
    model.fit(X[train], y[train])
    error = float(np.mean(model.predict(X[test]) != y[test]))
    fitted = getattr(model, "best_estimator_", model)
    used = np.arange(p)
    if "select" in fitted.named_steps:
        used = fitted["select"].get_support(indices=True)
    elif who == "l1-logistic":
        rows = [one.coef_.ravel() for one in fitted["judge"].estimators_]
        used = np.flatnonzero(np.any(np.array(rows) != 0, axis=0))
    return error, sum(bool(np.isin(columns, used).any()) for columns in units)


def _old_sklearn() -> bool:
    import sklearn

    return tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)


# ------------------------------------------------------------------------------------ tables


def judged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line for each set: our answers beside the best rival."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        table = {}
        for who in (*OURS, *RIVALS):
            those = sorted((r for r in mine if r["who"] == who), key=lambda r: r["fold"])
            if those:
                table[who] = (
                    np.array([r["error"] for r in those]), np.mean([r["size"] for r in those])
                )  # fmt: skip
        rivals = [who for who in RIVALS if who in table and np.isfinite(table[who][0]).all()]
        if not rivals or OURS[0] not in table:
            continue
        best = min(rivals, key=lambda who: table[who][0].mean())
        errors = table[best][0]
        spread = float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
        accurate, smallest = table[OURS[1]], table[OURS[0]]
        lines.append(
            {
                "set": name,
                "best": best,
                "best_error": float(errors.mean()),
                "best_size": float(table[best][1]),
                "standard_error": spread,
                "accurate_error": float(accurate[0].mean()),
                "accurate_size": float(accurate[1]),
                "smallest_error": float(smallest[0].mean()),
                "smallest_size": float(smallest[1]),
                "within": bool(accurate[0].mean() <= errors.mean() + spread + 1e-12),
                "better": bool(accurate[0].mean() < errors.mean() - 1e-12),
                "small": bool(
                    smallest[1] <= 0.5 * table[best][1] + 1e-9
                    and smallest[0].mean() <= errors.mean() + 0.015 + 1e-12
                ),
                "promised": float(np.mean([r["promised"] for r in mine if r["who"] == OURS[1]])),
                "all": {who: float(table[who][0].mean()) for who in table},
            }
        )
    return lines


def without_hindsight(rows: list[dict[str, Any]]) -> str:
    """The same beside a rival chosen for each fold by the errors on the other folds."""
    ours, theirs, within, better = [], [], 0, 0
    for name in dict.fromkeys(row["set"] for row in rows):
        errors = {
            who: {r["fold"]: r["error"] for r in rows if r["set"] == name and r["who"] == who}
            for who in (OURS[1], *RIVALS)
        }
        folds_of = set(errors[OURS[1]])
        if len(folds_of) < 2 or any(set(one) != folds_of for one in errors.values()):
            continue
        chosen = np.array(
            [
                errors[min(RIVALS, key=lambda w, k=k: sum(errors[w][j] for j in folds_of - {k}))][k]
                for k in sorted(folds_of)
            ]
        )
        mine, spread = np.mean(list(errors[OURS[1]].values())), chosen.std(ddof=1)
        within += bool(mine <= chosen.mean() + spread / np.sqrt(len(chosen)) + 1e-12)
        better += bool(mine < chosen.mean() - 1e-12)
        ours.append(mine)
        theirs.append(chosen.mean())
    return (
        f"Beside a rival chosen by the other folds, {len(ours)} sets: within one standard error on "
        f"{within}, better on {better}. Mean error {100 * np.mean(ours):.2f} % beside "
        f"{100 * np.mean(theirs):.2f} %."
    )


def show(lines: list[dict[str, Any]]) -> str:
    """The table in Markdown."""
    head = (
        "| set | best rival | its error % (se) | features | most accurate % | features | "
        "smallest % | features | within one se | better | half the features within 1.5 |"
    )
    text = [head, "|---|---|---|---|---|---|---|---|---|---|---|"]
    for one in lines:
        text.append(
            f"| {one['set']} | {one['best']} | {100 * one['best_error']:.1f} "
            f"({100 * one['standard_error']:.1f}) | {one['best_size']:.0f} | "
            f"{100 * one['accurate_error']:.1f} | {one['accurate_size']:.0f} | "
            f"{100 * one['smallest_error']:.1f} | {one['smallest_size']:.1f} | "
            f"{'yes' if one['within'] else 'no'} | {'yes' if one['better'] else 'no'} | "
            f"{'yes' if one['small'] else 'no'} |"
        )
    n = len(lines)
    text.append(
        f"\nOf {n} sets: within one standard error on {sum(o['within'] for o in lines)}, better on "
        f"{sum(o['better'] for o in lines)}, half the features within 1.5 points on "
        f"{sum(o['small'] for o in lines)}. Mean error: most accurate "
        f"{100 * np.mean([o['accurate_error'] for o in lines]):.2f} %, smallest "
        f"{100 * np.mean([o['smallest_error'] for o in lines]):.2f} %, best rival "
        f"{100 * np.mean([o['best_error'] for o in lines]):.2f} %."
    )
    return "\n".join(text)


def run(quick: bool) -> list[dict[str, Any]]:
    """Rows for the table of all benchmarks: errors take the place of seconds."""
    from benchmarks.common import row

    names, n_folds = (QUICK, 2) if quick else (SETS, FOLDS)
    rows: list[dict[str, Any]] = []
    for name in names:
        for who in ("tamiz", *RIVALS):
            for k in range(n_folds):
                rows += run_one(name, who, k, 60.0)
    return [
        row(
            "H1",
            f"held-out error, {one['set']}",
            one["best"],
            max(one["accurate_error"], 1e-9),
            max(one["best_error"], 1e-9),
            None,
            one["within"],
            f"{one['accurate_size']:.0f} and {one['smallest_size']:.0f} features beside "
            f"{one['best_size']:.0f}",
        )
        for one in judged(rows)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=None, help="names, a,b,c")
    parser.add_argument("--who", default="tamiz," + ",".join(RIVALS))
    parser.add_argument("--full", action="store_true", help="all sets and all folds")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=100.0, help="seconds of tamiz, one thread")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds for all of it")
    parser.add_argument("--out", default=None, help="JSON; rows of an earlier file are kept")
    args = parser.parse_args()
    from joblib import Parallel, delayed

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    names = args.sets.split(",") if args.sets else SETS if args.full else QUICK
    whos = args.who.split(",")
    rows: list[dict[str, Any]] = []
    if args.out and Path(args.out).exists():
        with open(args.out, encoding="utf-8") as file:
            rows = [r for r in json.load(file) if not _repeated(r, names, whos)]
    n_folds = FOLDS if args.full else 2
    jobs = [(name, who, k) for who in whos for name in names for k in range(n_folds)]
    began = time.monotonic()
    runs = Parallel(n_jobs=args.jobs, return_as="generator_unordered", pre_dispatch=args.jobs)(
        delayed(run_one)(*job, args.budget) for job in jobs if time.monotonic() - began < args.limit
    )
    for made in runs:
        rows += made
        if args.out:
            with open(args.out, "w", encoding="utf-8") as file:
                json.dump(rows, file)
    print(show(judged(rows)))
    print(without_hindsight(rows))
    return 0


def _repeated(row: dict[str, Any], names: Any, whos: Any) -> bool:
    who = "tamiz" if row["who"] in OURS else row["who"]
    return row["set"] in names and who in whos


if __name__ == "__main__":
    sys.exit(main())
