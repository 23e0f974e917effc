"""What the tests of the information filters share."""

from __future__ import annotations

import numpy as np

from tests.naive import information as naive


def discrete(n, seed, p=8, classes=3):
    """Discrete columns of which some tell about the class, with a constant and a copy."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.integers(0, 3, (n, p))
    X[:, 1] = np.where(rng.random(n) < 0.5, y, X[:, 1])
    X[:, 2] = np.where(rng.random(n) < 0.3, y, X[:, 2])
    X[:, 3] = (X[:, 1] + (rng.random(n) < 0.2)) % 4
    X[:, 4] = 1
    X[:, 5] = 2 - X[:, 1]
    return X, y


def check_greedy(selector, criterion, X, y):
    """The whole order and all values agree with the naive search."""
    right, values = naive.greedy(X.T.tolist(), y.tolist(), X.shape[1], criterion)
    selector.fit(X, y)
    np.testing.assert_allclose([step.value for step in selector.selection_.path], values, atol=1e-9)
    assert selector.order_.tolist() == right
    assert [step.features[0] for step in selector.selection_.path] == right
    assert [step.n_features for step in selector.selection_.path] == list(range(1, len(right) + 1))
    return right


def check_completion(selector, X, y):
    """Features that are not selected follow by what they would have been worth next."""
    whole = type(selector)(**{**selector.get_params(), "full_ranking": True}).fit(X, y)
    k = selector.fit(X, y).support_.sum()
    assert selector.order_[: k + 1].tolist() == whole.order_[: k + 1].tolist()
    assert sorted(selector.ranking_.tolist()) == list(range(1, X.shape[1] + 1))
    rest = selector.order_[k:]
    flat = [len(set(X[:, j].tolist())) == 1 for j in rest]
    assert flat == sorted(flat)  # constant features come last
    rest = rest[~np.array(flat, dtype=bool)]
    assert (np.diff(selector.scores_[rest]) <= 0).all()
    assert whole.support_.tolist() == selector.support_.tolist()
