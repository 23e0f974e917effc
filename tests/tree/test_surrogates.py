"""Surrogates imitate the split, better than the larger side alone, best first."""

import itertools

import numpy as np
import pytest

from tamiz.tree import CARTClassifier, CARTRegressor, NominalSplit, NumericSplit
from tests.tree.test_growth import mixed


def agreement(split, other, X, weight):
    """Share of the weight that both place on the same side, and the larger side's share."""
    a, b = split.sends_left(X), other.sends_left(X)
    both = (a >= 0) & (b >= 0)
    w = weight * both
    larger = max(w[a == 1].sum(), w[a == 0].sum()) / w.sum()
    return w[a == b].sum() / w.sum(), larger


def test_agreement_and_association_are_what_they_say():
    X, y = mixed(1, n=200, gaps=0.15)
    weight = np.random.default_rng(2).random(200) + 0.5
    model = CARTClassifier(categorical_features=[1, 3], missing="surrogate")
    tree = model.fit(X, y, sample_weight=weight).tree_
    table = model._read(X)
    path = tree.decision_path(table)
    n_checked = 0
    for node in np.flatnonzero(tree.left >= 0):
        split, rows = tree.splits[node], path[:, node]
        found = tree.surrogates[node]
        for surrogate in found:
            share, larger = agreement(split, surrogate, table[rows], weight[rows])
            assert surrogate.agreement == pytest.approx(share)
            assert surrogate.association == pytest.approx((share - larger) / (1 - larger))
            assert surrogate.association > 0
            assert surrogate.features != split.features
            n_checked += 1
        shares = [surrogate.agreement for surrogate in found]
        assert shares == sorted(shares, reverse=True)
        assert len(found) <= 3
    assert n_checked > 10


def test_no_cut_of_another_feature_agrees_more():
    X, y = mixed(3, n=100)
    model = CARTClassifier(categorical_features=[1, 3], n_surrogates=4, max_depth=1).fit(X, y)
    tree = model.tree_
    split = tree.splits[0]
    weight = np.ones(len(X))
    by_feature = {s.features[0]: s for s in tree.surrogates[0]}
    for j in {0, 1, 2, 3} - set(split.features):
        best = 0.0
        values = np.unique(X[:, j])
        if j in (0, 2):
            for a, b in itertools.pairwise(values):
                if min((X[:, j] <= a).sum(), (X[:, j] > a).sum()) >= 2:
                    share, larger = agreement(split, NumericSplit(j, (a + b) / 2), X, weight)
                    best = max(best, share, 1 - share)
        else:
            for mask in range(1, 2 ** len(values) - 1):
                left = frozenset(int(v) for k, v in enumerate(values) if mask >> k & 1)
                right = frozenset(int(v) for v in values) - left
                share, larger = agreement(split, NominalSplit(j, left, right), X, weight)
                best = max(best, share)
        if best > larger + 1e-9:
            assert by_feature[j].agreement == pytest.approx(best)
        else:
            assert j not in by_feature


def test_a_copy_of_the_split_feature_stands_in_for_it_when_a_value_is_missing():
    rng = np.random.default_rng(4)
    x = rng.standard_normal(300)
    y = (x > 0.3).astype(int)
    X = np.column_stack([x, -2.0 * x, rng.standard_normal(300)])
    model = CARTClassifier(n_surrogates=2).fit(X, y)
    (first, *_) = model.tree_.surrogates[0]
    assert first.reverse and first.agreement == 1.0 and first.association == 1.0
    gaps = X.copy()
    gaps[:, 0] = np.nan
    np.testing.assert_array_equal(model.predict(gaps), y)
    alone = CARTClassifier().fit(X, y)  # without surrogates, the larger side
    larger = np.bincount(y).argmax()
    assert (alone.predict(gaps) == larger).all()


def test_surrogates_recover_what_missing_values_hide():
    rng = np.random.default_rng(5)
    z = rng.standard_normal(600)
    X = z[:, None] + 0.3 * rng.standard_normal((600, 4))
    y = (z > 0).astype(int)
    X[rng.random(X.shape) < 0.3] = np.nan
    train, test = slice(0, 400), slice(400, 600)
    with_them = CARTClassifier(missing="surrogate", max_depth=1).fit(X[train], y[train])
    without = CARTClassifier(missing="surrogate", n_surrogates=0, max_depth=1)
    without.fit(X[train], y[train])
    assert with_them.score(X[test], y[test]) > without.score(X[test], y[test]) + 0.05
    t = z + 0.1 * rng.standard_normal(600)
    tree = CARTRegressor(missing="surrogate", max_depth=4).fit(X[train], t[train])
    assert tree.score(X[test], t[test]) > 0.7


def test_auto_is_for_training_data_with_missing_values():
    X, y = mixed(6)
    assert not any(CARTClassifier(categorical_features=[1, 3]).fit(X, y).tree_.surrogates)
    X[0, 0] = np.nan
    assert any(CARTClassifier(categorical_features=[1, 3]).fit(X, y).tree_.surrogates)
    directed = CARTClassifier(categorical_features=[1, 3], missing="direction").fit(X, y)
    assert not any(directed.tree_.surrogates)
