"""Trees to test with: grown at random, or taken over from scikit-learn."""

from __future__ import annotations

import numpy as np

from tamiz.tree.structure import NominalSplit, NumericSplit, Tree


def from_sklearn(fitted, X, y):
    """A fitted scikit-learn tree as ours, with the error of each node on its training data."""
    t = fitted.tree_
    classes = getattr(fitted, "classes_", None)
    passed = fitted.decision_path(X).toarray().astype(bool)
    if classes is not None:
        codes = np.searchsorted(classes, y)
        value = np.array([np.bincount(codes[m], minlength=len(classes)) for m in passed.T], float)
        prediction = value.argmax(axis=1)
        error = (value.sum(axis=1) - value.max(axis=1)) / len(y)
    else:
        value = np.array([[y[m].mean()] for m in passed.T])
        prediction = value[:, 0]
        error = np.array([((y[m] - y[m].mean()) ** 2).sum() for m in passed.T]) / len(y)
    splits = [NumericSplit(int(f), float(c)) if f >= 0 else None
              for f, c in zip(t.feature, t.threshold, strict=True)]  # fmt: skip
    return Tree(
        "regression" if classes is None else "classification", X.shape[1],
        left=t.children_left, right=t.children_right, n_samples=t.n_node_samples,
        weight=t.weighted_n_node_samples, value=value, prediction=prediction, impurity=t.impurity,
        error=error, splits=splits,
    )  # fmt: skip


def random_tree(rng, n_splits, n_classes=2, n=40, n_features=4, nominal=()):
    """A tree whose samples are dealt at random: all of its errors are fractions of ``n``."""
    left, right = [-1], [-1]
    counts = [rng.multinomial(n, np.ones(n_classes) / n_classes)]
    splits = [None]
    for _ in range(n_splits):
        open_ = [t for t in range(len(left)) if left[t] < 0 and counts[t].sum() > 1]
        if not open_:
            break
        t = int(rng.choice(open_))
        a = counts[t]
        while not 0 < a.sum() < counts[t].sum():
            a = rng.binomial(counts[t], rng.random(n_classes))
        left[t], right[t] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
        counts += [a, counts[t] - a]
        j = int(rng.integers(n_features))
        if j in nominal:
            sides = rng.integers(0, 3, 6)  # the third: in neither
            left_codes, right_codes = (
                {*np.flatnonzero(sides == k).tolist(), 6 + k} for k in (0, 1)
            )
            splits[t] = NominalSplit(j, frozenset(left_codes), frozenset(right_codes))
        else:
            splits[t] = NumericSplit(j, float(rng.normal()))
        splits += [None, None]
    counts = np.array(counts)
    share = counts / counts.sum(axis=1, keepdims=True)
    return Tree(
        "classification", n_features, left=left, right=right, n_samples=counts.sum(axis=1),
        weight=counts.sum(axis=1), value=counts, prediction=counts.argmax(axis=1),
        impurity=1 - (share**2).sum(axis=1), error=(counts.sum(axis=1) - counts.max(axis=1)) / n,
        splits=splits,
    )  # fmt: skip
