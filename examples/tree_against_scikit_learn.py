"""Trees beside those of scikit-learn: the same splits, gaps, and categories.

Prints the three tables of the page on trees. Takes about five minutes.

    python examples/tree_against_scikit_learn.py [same | gaps | categories]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import tamiz.data
from tamiz.tree import CARTClassifier

BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
STORED = [
    "pima",
    "vertebral_2c",
    "vertebral_3c",
    "spambase",
    "german_numeric",
    "colon",
    "leukemia_golub",
    "srbct",
    "nine_tumors",
    "lymphoma_alizadeh_2093",
    "nci60_islr",
    "gcm_ramaswamy_1363",
    "madelon",
    "corral",
    "a1a",
    "gametes_2way",
]


def numbers(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A table of numbers, rounded to what scikit-learn's trees see (float32)."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
    else:
        data = tamiz.data.load(name)
        X, y = data.X, data.y
        X = X.toarray() if hasattr(X, "toarray") else X
    return np.asarray(X, dtype=np.float32).astype(np.float64), y


def shortfall(model: CARTClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """By how much a split of ours gains less than scikit-learn's best for the same samples.

    The largest over all nodes, as a share of the impurity of the node.
    """
    tree = model.tree_
    path = model.decision_path(X).tocsc()
    worst = 0.0
    for node in np.flatnonzero(tree.left >= 0):
        rows = path.indices[path.indptr[node] : path.indptr[node + 1]]
        peer = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[rows], y[rows]).tree_
        n = peer.weighted_n_node_samples
        theirs = peer.impurity[0] - (n[1:] * peer.impurity[1:]).sum() / n[0]
        children = np.array([tree.left[node], tree.right[node]])
        left = (tree.weight[children] * tree.impurity[children]).sum() / tree.weight[node]
        ours = tree.impurity[node] - left
        worst = max(worst, (theirs - ours) / tree.impurity[node])
    return worst


def same() -> None:
    """Training error, leaves, and whether every split is the best."""
    print("| data | n x p | training errors | leaves | scikit-learn's, 10 seeds | shortfall |")
    print("|---|---|---|---|---|---|")
    for name in (*BUNDLED, *STORED):
        X, y = numbers(name)
        ours = CARTClassifier().fit(X, y)
        peers = [DecisionTreeClassifier(random_state=seed).fit(X, y) for seed in range(10)]
        leaves = [peer.get_n_leaves() for peer in peers]
        errors = {int((peer.predict(X) != y).sum()) for peer in peers}
        own = int((ours.predict(X) != y).sum())
        print(
            f"| {name} | {X.shape[0]} x {X.shape[1]} | {own} and {'/'.join(map(str, errors))} | "
            f"{ours.get_n_leaves()} | {min(leaves)}-{max(leaves)} | "
            f"{shortfall(ours, X, y):.0e} |",
            flush=True,
        )


def compare(models: dict, X: np.ndarray, y: np.ndarray, repeats: int) -> dict[str, np.ndarray]:
    """Accuracy and leaves of each model by repeated 10-fold cross-validation."""
    scores: dict[str, list[tuple[float, int]]] = {name: [] for name in models}
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0)
    for train, test in folds.split(X, y):
        for name, model in models.items():
            model.fit(X[train], y[train])
            last = getattr(model, "best_estimator_", model)
            last = last[-1] if hasattr(last, "steps") else last
            scores[name].append((model.score(X[test], y[test]), last.get_n_leaves()))
    return {name: np.array(values) for name, values in scores.items()}


def one_hot(categorical: np.ndarray, model: DecisionTreeClassifier):
    """A tree on indicator columns."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = [("words", encoder, np.flatnonzero(categorical))]
    return make_pipeline(ColumnTransformer(columns, remainder="passthrough"), model)


def gaps() -> None:
    """Accuracy on data with missing values, with the same stop criteria."""
    print(
        "| data | stop | ours | surrogates only | ours, codes as numbers | "
        "scikit-learn, codes as numbers | scikit-learn, one-hot |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, repeats in (("hmeq", 2), ("heart_cleveland", 10)):
        data = tamiz.data.load(name)
        for stop in ({}, {"min_samples_leaf": 5}, {"min_samples_leaf": 20}, {"max_depth": 5}):
            marked = {"categorical_features": data.categorical, **stop}
            peer = DecisionTreeClassifier(random_state=0, **stop)
            models = {
                "ours": CARTClassifier(**marked),
                "surrogates": CARTClassifier(missing="surrogate", **marked),
                "numbers": CARTClassifier(**stop),
                "peer": peer,
                "one-hot": one_hot(data.categorical, peer),
            }
            found = compare(models, data.X, data.y, repeats)
            cells = " | ".join(f"{100 * values[:, 0].mean():.1f}" for values in found.values())
            said = ", ".join(f"{k} = {v}" for k, v in stop.items()) or "none"
            print(f"| {name} | {said} | {cells} |", flush=True)
            difference = found["numbers"][:, 0] - found["peer"][:, 0]
            wide = difference.std(ddof=1) * np.sqrt(1 / len(difference) + 1 / 9)
            print(f"  numbers - peer: {100 * difference.mean():+.2f} ± {100 * wide:.2f}")


def categories() -> None:
    """Size and accuracy with sets of categories and with indicators, the size chosen inside."""
    print("| data | model | accuracy | leaves |")
    print("|---|---|---|---|")
    sizes = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50]
    for name, repeats in (("german_credit", 1), ("credit_approval", 1)):
        data = tamiz.data.load(name)
        inner = StratifiedKFold(5, shuffle=True, random_state=1)
        ours = CARTClassifier(categorical_features=data.categorical, leaf_choice="decrease")
        peer = one_hot(data.categorical, DecisionTreeClassifier(random_state=0))
        models = {
            "sets of categories": GridSearchCV(ours, {"max_leaf_nodes": sizes}, cv=inner),
            "one-hot, scikit-learn": GridSearchCV(
                peer, {"decisiontreeclassifier__max_leaf_nodes": sizes}, cv=inner
            ),
        }
        for model, values in compare(models, data.X, data.y, repeats).items():
            share, leaves = values.mean(axis=0)
            print(f"| {name} | {model} | {100 * share:.1f} | {leaves:.1f} |", flush=True)


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["same", "gaps", "categories"]
    for part in chosen:
        {"same": same, "gaps": gaps, "categories": categories}[part]()
        print()
