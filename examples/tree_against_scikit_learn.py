"""
Trees beside those of scikit-learn: the same splits, missing values, and categories
===================================================================================

Prints the tables of the page on trees. Takes about twenty minutes. ::

    python examples/tree_against_scikit_learn.py [same | missing | categories | sizes]
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

    The largest over all nodes, as a fraction of the impurity of the node.
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


def compare(models: dict, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Accuracy and leaves of each model in every fold of five 10-fold cross-validations."""
    scores: dict[str, list[tuple[float, int]]] = {name: [] for name in models}
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0)
    for train, test in folds.split(X, y):
        for name, model in models.items():
            model.fit(X[train], y[train])
            last = getattr(model, "best_estimator_", model)
            last = last[-1] if hasattr(last, "steps") else last
            scores[name].append((model.score(X[test], y[test]), last.get_n_leaves()))
    return {name: np.array(values) for name, values in scores.items()}


def difference(a: np.ndarray, b: np.ndarray) -> str:
    """Mean difference by folds and its standard error, which allows for shared training samples.

    C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
    """
    by_fold = a - b
    error = by_fold.std(ddof=1) * np.sqrt(1 / len(by_fold) + 1 / 9)
    return f"{by_fold.mean():+.1f} ± {error:.1f}"


def one_hot(categorical: np.ndarray, model: DecisionTreeClassifier):
    """A tree on indicator columns."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = [("words", encoder, np.flatnonzero(categorical))]
    return make_pipeline(ColumnTransformer(columns, remainder="passthrough"), model)


class Pruned(CARTClassifier):
    """A tree that is pruned by cross-validation inside the training data."""

    def fit(self, X, y, sample_weight=None):
        """Grow and prune; the trees of the folds are plain ones."""
        plain = CARTClassifier(**self.get_params()).fit(X, y, sample_weight)
        vars(self).update(vars(plain.prune_cv(X, y, cv=5, measure="leaves")))
        return self


class PrunedPeer(DecisionTreeClassifier):
    """The same for scikit-learn: the penalty on a leaf is chosen by cross-validation."""

    def fit(self, X, y, sample_weight=None):
        """Try the prices of its own sequence, at most fifteen of them, and keep the best."""
        plain = DecisionTreeClassifier(random_state=self.random_state)
        alphas = plain.cost_complexity_pruning_path(X, y).ccp_alphas.clip(0.0)
        between = np.unique(np.sqrt(alphas[:-1] * alphas[1:]))
        few = between[np.linspace(0, len(between) - 1, min(15, len(between))).astype(int)]
        inner = StratifiedKFold(5, shuffle=True, random_state=0)
        search = GridSearchCV(plain, {"ccp_alpha": few}, cv=inner, refit=False).fit(X, y)
        self.ccp_alpha = search.best_params_["ccp_alpha"]
        return super().fit(X, y, sample_weight)


STOPS = (
    ("none", {}),
    ("min_samples_leaf = 5", {"min_samples_leaf": 5}),
    ("min_samples_leaf = 20", {"min_samples_leaf": 20}),
    ("max_depth = 5", {"max_depth": 5}),
    ("pruned by cross-validation", None),
)


def missing() -> None:
    """Accuracy on data with missing values, with the same stop criteria."""
    print(
        "| data | stop | same columns | scikit-learn | difference | sets | surrogates only | "
        "one-hot, scikit-learn | difference |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ("hmeq", "heart_cleveland"):
        data = tamiz.data.load(name)
        for said, stop in STOPS:
            if stop is None and name == "hmeq":  # a quarter of an hour by itself
                continue
            ours = CARTClassifier if stop is not None else Pruned
            theirs = DecisionTreeClassifier if stop is not None else PrunedPeer
            limits = stop or {}
            marked = {"categorical_features": data.categorical, **limits}
            models = {
                "same columns": ours(**limits),
                "peer": theirs(random_state=0, **limits),
                "sets": ours(**marked),
                "surrogates": ours(missing="surrogate", **marked),
                "one-hot": one_hot(data.categorical, theirs(random_state=0, **limits)),
            }
            found = compare(models, data.X, data.y)
            accuracy = {model: 100 * values[:, 0] for model, values in found.items()}
            mean = {model: f"{values.mean():.1f}" for model, values in accuracy.items()}
            cells = [
                mean["same columns"],
                mean["peer"],
                difference(accuracy["same columns"], accuracy["peer"]),
                mean["sets"],
                mean["surrogates"],
                mean["one-hot"],
                difference(accuracy["sets"], accuracy["one-hot"]),
            ]
            print(f"| {name} | {said} | {' | '.join(cells)} |", flush=True)


def categories() -> None:
    """Size and accuracy with sets of categories and with indicators, the size chosen inside."""
    heads = "sets of categories | one-hot, scikit-learn | difference"
    print(f"| data | | {heads} |\n|---|---|---|---|---|")
    sizes = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50]
    for name in ("german_credit", "credit_approval"):
        data = tamiz.data.load(name)
        inner = StratifiedKFold(5, shuffle=True, random_state=1)
        ours = CARTClassifier(categorical_features=data.categorical, leaf_choice="decrease")
        peer = one_hot(data.categorical, DecisionTreeClassifier(random_state=0))
        models = {
            "sets": GridSearchCV(ours, {"max_leaf_nodes": sizes}, cv=inner),
            "one-hot": GridSearchCV(
                peer, {"decisiontreeclassifier__max_leaf_nodes": sizes}, cv=inner
            ),
        }
        found = compare(models, data.X, data.y)
        for k, said in enumerate(("accuracy", "leaves")):
            a, b = (found[model][:, k] * (100 if k == 0 else 1) for model in ("sets", "one-hot"))
            print(
                f"| {name} | {said} | {a.mean():.1f} | {b.mean():.1f} | {difference(a, b)} |",
                flush=True,
            )


def sizes() -> None:
    """Accuracy of trees of the same number of leaves."""
    heads = "sets of categories | one-hot, scikit-learn | difference"
    print(f"| data | leaves | {heads} |\n|---|---|---|---|---|")
    for name in ("german_credit", "credit_approval"):
        data = tamiz.data.load(name)
        marked = {"categorical_features": data.categorical, "leaf_choice": "decrease"}
        for most in (3, 5, 8, 12, 20, 30, 50):
            peer = DecisionTreeClassifier(random_state=0, max_leaf_nodes=most)
            models = {
                "sets": CARTClassifier(max_leaf_nodes=most, **marked),
                "one-hot": one_hot(data.categorical, peer),
            }
            found = compare(models, data.X, data.y)
            a, b = (100 * values[:, 0] for values in found.values())
            cells = f"{a.mean():.1f} | {b.mean():.1f} | {difference(a, b)}"
            print(f"| {name} | {most} | {cells} |", flush=True)


if __name__ == "__main__":
    parts = {"same": same, "missing": missing, "categories": categories, "sizes": sizes}
    for part in sys.argv[1:] or parts:
        parts[part]()
        print()
