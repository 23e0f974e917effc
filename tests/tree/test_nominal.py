"""Sets of categories: the shortcut is exact where it should be, the heuristic is close."""

import numpy as np
import pytest

from tamiz.tree import CARTClassifier, CARTRegressor
from tamiz.tree._splitting import best_subset
from tamiz.tree.impurity import SOMETHING, Criterion, Need
from tests.naive.cart import Problem

EMPTY = np.empty(0)


def divide(criterion, totals, counts, max_exact, least=1):
    goes_left = np.empty(len(counts), dtype=np.int8)
    costs = 1.0 - np.eye(totals.shape[1])
    need = Need(least, SOMETHING, 1e-12)
    score, balance = best_subset(
        int(criterion), totals, counts, costs, EMPTY, need, max_exact, goes_left
    )
    return score, balance, goes_left


def random_counts(seed, c, n_classes):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.gamma(1.0, 3.0, (c, n_classes))).astype(float)
    return table, table.sum(axis=1).astype(np.int64)


@pytest.mark.parametrize("criterion", [Criterion.GINI, Criterion.ENTROPY, Criterion.ERROR])
def test_with_two_classes_the_order_by_proportion_is_exact(criterion):
    for seed in range(15):
        totals, counts = random_counts(seed, 9, 2)
        short = divide(criterion, totals, counts, 2)
        every = divide(criterion, np.hstack([totals, np.zeros((9, 1))]), counts, 12)
        # a third class that is never there leaves the order exact, too
        assert short[0] == pytest.approx(every[0], abs=1e-9)
        third = totals.copy()
        third = np.hstack([third, np.full((9, 1), 1e-15)])  # there, but of no weight: all subsets
        exhaustive = divide(criterion, third, counts, 12)
        assert short[0] == pytest.approx(exhaustive[0], abs=1e-6)


def test_means_are_exact_for_squared_error():
    rng = np.random.default_rng(3)
    for _ in range(15):
        w = rng.integers(1, 9, size=8).astype(float)
        totals = np.column_stack([w, w * rng.standard_normal(8)])
        counts = w.astype(np.int64)
        short = divide(Criterion.SQUARED_ERROR, totals, counts, 2)
        every = divide(Criterion.SQUARED_ERROR, totals, counts + 1, 12, least=2)  # all subsets
        assert short[0] == pytest.approx(every[0])


def test_beyond_the_limit_the_orders_come_close():
    shares = []
    for seed in range(30):
        totals, counts = random_counts(seed, 9, 4)
        total = totals.sum(axis=0)
        before = (total**2).sum() / total.sum()
        exact = divide(Criterion.GINI, totals, counts, 12)[0] - before
        close = divide(Criterion.GINI, totals, counts, 2)[0] - before
        assert close <= exact + 1e-9
        shares.append(close / exact)
    assert np.mean(shares) > 0.97 and min(shares) > 0.8


def test_the_marks_give_the_score_and_empty_categories_are_left_out():
    totals, counts = random_counts(1, 7, 3)
    totals[4] = 0.0
    counts[4] = 0
    for max_exact in (2, 12):
        score, balance, mark = divide(Criterion.GINI, totals, counts, max_exact)
        assert mark[4] == -1 and set(mark.tolist()) == {-1, 0, 1}
        sides = [totals[mark == side].sum(axis=0) for side in (0, 1)]
        assert score == pytest.approx(sum((s**2).sum() / s.sum() for s in sides))
        assert balance == pytest.approx(min(s.sum() for s in sides))


def test_one_category_cannot_be_divided():
    totals, counts = random_counts(1, 1, 2)
    assert divide(Criterion.GINI, totals, counts, 10)[0] == -np.inf


def test_many_categories_of_a_wide_feature_are_split_as_the_oracle_does():
    rng = np.random.default_rng(5)
    X = rng.integers(9, size=(40, 1)).astype(float)
    X[:9, 0] = np.arange(9)
    odd = np.isin(X[:, 0], [0, 3, 5, 8])
    y = np.where(rng.random(40) < 0.2, 1 - odd, odd).astype(int)
    model = CARTClassifier(categorical_features=[0], max_depth=1).fit(X, y)
    problem = Problem(X, y, nominal=[0])
    rows = np.arange(40)
    split = model.tree_.splits[0]
    assert problem.gain(split, rows) == pytest.approx(problem.best_gain(rows))
    t = rng.standard_normal(40) + odd
    split = CARTRegressor(categorical_features=[0], max_depth=1).fit(X, t).tree_.splits[0]
    problem = Problem(X, t, criterion="squared_error", nominal=[0])
    assert problem.gain(split, rows) == pytest.approx(problem.best_gain(rows))
