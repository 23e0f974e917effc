"""Trees grow as they should: every split is the best there is, leaves are split in their order,
limits are kept, and both growers grow the same tree."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tamiz.evaluation import compare, tune
from tamiz.tree import CARTClassifier, CARTRegressor
from tests.calls import interrupted
from tests.naive.cart import Problem, descend, rows_of_nodes

CRITERIA = ["gini", "entropy", "error"]


def table(seed, n=60, p=4, n_classes=3, n_levels=None):
    """Numbers and classes with something in common; with ``n_levels``, many values are equal."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    X = rng.standard_normal((n, p)) + 0.8 * y[:, None] * rng.random(p)
    return (X if n_levels is None else np.round(X * n_levels / 4)), y


def mixed(seed, n=70, gaps=0.0, n_classes=3):
    """Two numeric and two nominal features (3 and 5 categories), with missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    X = np.column_stack(
        [
            np.round(rng.standard_normal(n) + y, 1),
            (y + rng.integers(2, size=n)) % 3,
            np.round(rng.standard_normal(n), 1),
            np.where(rng.random(n) < 0.5, (2 * y) % 5, rng.integers(5, size=n)),
        ]
    ).astype(float)
    X[0, 1], X[:5, 3] = 2, np.arange(5)
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def check_splits_are_best(model, problem, min_samples_split=2):
    """At every node the split gains what the best of all splits gains; leaves have none to gain."""
    tree = model.tree_
    n_checked = 0
    for node, rows in enumerate(rows_of_nodes(tree, problem.X)):
        assert len(rows) == tree.n_samples[node]
        if tree.splits[node] is None:
            continue
        best = problem.best_gain(rows)
        gain = problem.gain(tree.splits[node], rows)
        assert problem.allowed(tree.splits[node], rows)
        assert gain == pytest.approx(best, abs=1e-9 * max(1.0, problem.impurity(rows)))
        n_checked += 1
    assert n_checked > 3


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("levels", [None, 3])
def test_every_numeric_split_is_the_best(criterion, levels):
    X, y = table(1, n_levels=levels)
    model = CARTClassifier(criterion).fit(X, y)
    check_splits_are_best(model, Problem(X, y, criterion=criterion))
    if levels is None:
        assert model.tree_.training_error == 0.0


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("missing", ["auto", "surrogate", "direction"])
def test_every_split_of_mixed_features_with_missing_values_is_the_best(criterion, missing):
    X, y = mixed(2, gaps=0.15)
    model = CARTClassifier(criterion, categorical_features=[1, 3], missing=missing).fit(X, y)
    check_splits_are_best(
        model, Problem(X, y, criterion=criterion, nominal=[1, 3], missing=missing)
    )


def test_limits_on_the_sides_are_kept_in_the_search():
    X, y = mixed(3, n=80)
    for limit in ({"min_samples_leaf": 6}, {"min_balance": 0.3}):
        model = CARTClassifier(categorical_features=[1, 3], **limit).fit(X, y)
        check_splits_are_best(model, Problem(X, y, nominal=[1, 3], **limit))


def test_weights_count_in_every_split():
    X, y = table(4)
    weight = np.random.default_rng(5).random(len(y)) + 0.1
    for criterion in CRITERIA:
        model = CARTClassifier(criterion).fit(X, y, sample_weight=weight)
        check_splits_are_best(model, Problem(X, y, criterion=criterion, weight=weight))


@pytest.mark.parametrize("grower", [{}, {"n_surrogates": 1}])
def test_weights_that_differ_widely_do_not_drown_in_rounding(grower):
    for seed in range(3):
        X, y = table(seed, p=2)
        weight = 10.0 ** np.random.default_rng(seed).uniform(-20, 0, size=len(y))
        tree = CARTClassifier(**grower).fit(X, y, sample_weight=weight).tree_
        problem = Problem(X, y, weight=weight)
        for node, rows in enumerate(rows_of_nodes(tree, X)):
            if tree.splits[node] is not None:
                short = problem.best_gain(rows) - problem.gain(tree.splits[node], rows)
                assert short <= 1e-9 * weight[rows].sum()


@pytest.mark.parametrize("scale", [2.0**k for k in (990, 660, -660, -1030)])
@pytest.mark.parametrize("options", [{}, {"n_surrogates": 1}, {"splits": "oblique"}])
def test_the_unit_of_the_weights_does_not_matter(scale, options):
    X, y = table(12)
    limits = {"min_impurity_decrease": 0.01, "random_state": 0, **options}
    for model, target in ((CARTClassifier(**limits), y), (CARTRegressor(**limits), X[:, 0] ** 2)):
        plain = model.fit(X, target).tree_
        scaled = model.fit(X, target, sample_weight=np.full(len(y), scale)).tree_
        assert plain.n_leaves > 3
        assert scaled.splits == plain.splits
        np.testing.assert_allclose(scaled.impurity, plain.impurity, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(scaled.weight, plain.weight * scale, rtol=1e-6)


def test_fractions_of_the_samples_are_not_rounded_up():
    X, y = np.arange(100.0)[:, None], np.arange(100) >= 7  # 0.07 * 100 is a little above 7
    tree = CARTClassifier(min_samples_leaf=0.07).fit(X, y).tree_
    assert tree.n_samples.tolist() == [100, 7, 93]


def test_regression_splits_are_best_with_categories_and_missing_values():
    rng = np.random.default_rng(6)
    X, k = mixed(6, gaps=0.1)
    t = k + rng.standard_normal(len(k)) + 1e3
    weight = rng.integers(1, 4, size=len(k))
    model = CARTRegressor(categorical_features=[1, 3]).fit(X, t, sample_weight=weight)
    problem = Problem(X, t, criterion="squared_error", weight=weight, nominal=[1, 3])
    check_splits_are_best(model, problem)


def same_tree(a, b, tol=0.0):
    """Whether two trees ask the same questions and hold the same numbers."""
    np.testing.assert_array_equal(a.left, b.left)
    np.testing.assert_array_equal(a.right, b.right)
    assert a.splits == b.splits
    for name in ("value", "weight", "impurity", "error", "prediction"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=tol, atol=tol)


@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 9}, {"leaf_choice": "decrease"}])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_both_growers_grow_the_same_tree(criterion, options):
    X, y = load_wine(return_X_y=True)
    fast = CARTClassifier(criterion, **options).fit(X, y)
    slow = CARTClassifier(criterion, n_surrogates=1, **options).fit(X, y)
    same_tree(fast.tree_, slow.tree_)
    assert any(slow.tree_.surrogates)


def test_branches_side_by_side_are_the_tree_grown_in_line():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((6000, 3)).round(2)
    y = (X.sum(axis=1) + rng.standard_normal(6000) > 0).astype(int)
    for costs in (None, {0: 1e4, 1: 1e4}):  # what a split saves may be more than there are samples
        free = CARTClassifier(n_jobs=2, costs=costs).fit(X, y)
        one = CARTClassifier(n_jobs=1, costs=costs).fit(X, y)
        line = CARTClassifier(max_leaf_nodes=10**6, costs=costs).fit(X, y)
        same_tree(free.tree_, one.tree_)
        same_tree(free.tree_, line.tree_)
        assert free.tree_.n_leaves > 500


@pytest.mark.parametrize("choice", ["impurity", "decrease"])
def test_the_leaf_first_in_line_is_split_first(choice):
    X, y = table(8, n=200)
    tree = CARTClassifier(leaf_choice=choice).fit(X, y).tree_
    total = tree.impurity * tree.weight
    gain = np.zeros(tree.n_nodes)
    inner = np.flatnonzero(tree.left >= 0)
    gain[inner] = total[inner] - total[tree.left[inner]] - total[tree.right[inner]]
    priority = total if choice == "impurity" else gain
    by_children = {int(tree.left[t]): t for t in inner}
    for first in range(1, tree.n_nodes, 2):
        split = by_children[first]  # children are made in pairs
        assert tree.right[split] == first + 1
        waiting = [t for t in inner if t < first and tree.left[t] >= first]
        assert priority[split] >= max(priority[t] for t in waiting) - 1e-9


def test_a_tree_with_few_leaves_is_the_beginning_of_the_full_one():
    X, y = load_breast_cancer(return_X_y=True)
    full = CARTClassifier().fit(X, y).tree_
    for most in (1, 2, 5, 12):
        small = CARTClassifier(max_leaf_nodes=most).fit(X, y).tree_
        assert small.n_leaves == most
        n = small.n_nodes
        assert small.splits == tuple(
            None if full.left[t] >= n or full.left[t] < 0 else full.splits[t] for t in range(n)
        )


def test_growth_stops_at_its_limits():
    X, y = load_breast_cancer(return_X_y=True)
    full = CARTClassifier().fit(X, y).tree_
    assert full.training_error == 0.0
    for grower in ({}, {"n_surrogates": 1}):
        deep = CARTClassifier(max_depth=3, **grower).fit(X, y).tree_
        assert deep.max_depth == 3
        flat = CARTClassifier(max_mean_depth=2.5, **grower).fit(X, y).tree_
        assert 2.0 < flat.mean_depth <= 2.5
        enough = CARTClassifier(max_error=0.05, **grower).fit(X, y).tree_
        fewer = CARTClassifier(max_leaf_nodes=enough.n_leaves - 1, **grower).fit(X, y).tree_
        assert enough.training_error <= 0.05 < fewer.training_error
        wide = CARTClassifier(min_samples_leaf=20, **grower).fit(X, y).tree_
        assert wide.n_samples.min() >= 20
        large = CARTClassifier(min_samples_split=50, **grower).fit(X, y).tree_
        assert large.n_samples[large.left >= 0].min() >= 50
        even = CARTClassifier(min_balance=0.2, **grower).fit(X, y).tree_
        inner = even.left >= 0
        smaller = np.minimum(even.n_samples[even.left], even.n_samples[even.right])
        assert (smaller[inner] >= 0.2 * even.n_samples[inner]).all()
        steep = CARTClassifier(min_impurity_decrease=0.01, **grower).fit(X, y).tree_
        total = steep.impurity * steep.weight / steep.weight[0]
        inner = np.flatnonzero(steep.left >= 0)
        gains = total[inner] - total[steep.left[inner]] - total[steep.right[inner]]
        assert gains.min() >= 0.01 - 1e-12
        assert 1 < steep.n_leaves < full.n_leaves


def test_training_samples_end_where_they_were_when_the_tree_grew():
    X, y = mixed(9, n=150, gaps=0.2)
    model = CARTClassifier(categorical_features=[1, 3]).fit(X, y)
    tree = model.tree_
    leaf = model.apply(X)
    np.testing.assert_array_equal(np.bincount(leaf, minlength=tree.n_nodes)[tree.left < 0],
                                  tree.n_samples[tree.left < 0])  # fmt: skip
    assert leaf.tolist() == [descend(tree, x)[-1] for x in model._read(X)]
    assert np.mean(model.predict(X) != y) == pytest.approx(tree.training_error)


@pytest.mark.parametrize(
    ("data", "ours", "theirs"),
    [
        (load_iris, CARTClassifier, DecisionTreeClassifier),
        (load_breast_cancer, CARTClassifier, DecisionTreeClassifier),
        (load_diabetes, CARTRegressor, DecisionTreeRegressor),
    ],
)
def test_trees_of_limited_size_equal_those_of_scikit_learn(data, ours, theirs):
    X, y = data(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)  # all that the other side sees
    for limit in ({"max_leaf_nodes": 6}, {"max_depth": 3}, {"min_samples_leaf": 25}):
        a = ours(leaf_choice="decrease", **limit).fit(X, y)
        b = theirs(random_state=0, **limit).fit(X, y)
        assert a.get_n_leaves() == b.get_n_leaves()
        assert a.score(X, y) == pytest.approx(b.score(X, y), abs=1e-12)


def test_a_sample_of_weight_two_counts_as_two_and_one_of_weight_none_is_absent():
    X, y = mixed(10, gaps=0.1)
    weight = np.random.default_rng(11).integers(0, 4, size=len(y))
    weight[:3] = 1
    copies = np.repeat(np.arange(len(y)), weight)
    for model in (
        CARTClassifier(categorical_features=[1, 3]),
        CARTClassifier("entropy", categorical_features=[1, 3], class_weight="balanced"),
        CARTRegressor(categorical_features=[1, 3]),
    ):
        a = model.fit(X, y, sample_weight=weight).tree_
        b = model.fit(X[copies], y[copies]).tree_
        assert len(a.splits) == len(b.splits)
        same_tree(a, b, tol=1e-12)


def test_equal_gains_give_the_more_balanced_split():
    # no cut changes the number of errors: the middle one is taken
    X = np.arange(8.0)[:, None]
    model = CARTClassifier("error", max_depth=1).fit(X, [0, 0, 1, 0, 0, 0, 0, 0])
    assert model.tree_.splits[0].threshold == 3.5


@pytest.mark.parametrize("grower", [{}, {"n_surrogates": 1}])
def test_of_equal_features_the_one_with_the_widest_gap_is_asked(grower):
    # below the first split, features 1 and 2 both separate the classes; the values of the other
    # samples lie in the gap of feature 2
    rest, here = [10, 11, 12, 13], [3, 4, 5, 6]
    X = np.array(
        [[1, 0, 0], [1, 1, 1], [1, 2, 8], [1, 3, 9], *zip([0] * 4, rest, here, strict=True)], float
    )
    model = CARTClassifier(**grower).fit(X, [0, 0, 1, 1, 2, 2, 2, 2])
    asked = [split.features for split in model.tree_.splits if split is not None]
    assert asked == [(0,), (2,)]


def test_ctrl_c_keeps_the_tree_as_far_as_it_had_grown(limits):
    from tamiz.tree import _fast, _grower

    X, y = load_wine(return_X_y=True)
    limits(_fast, _STEPS=1)
    for grower, name, module in (
        ({}, "grow_in_line", _fast),
        ({"n_surrogates": 1}, "best_surrogates", _grower),
        ({"n_surrogates": 1}, "describe", _grower),
    ):
        with interrupted(module, name, at=5), pytest.warns(UserWarning, match="interrupted"):
            model = CARTClassifier(**grower).fit(X, y)
        assert 1 < model.get_n_leaves() < 12
        assert np.mean(model.predict(X) != y) == pytest.approx(model.tree_.training_error)


def test_ctrl_c_inside_a_procedure_is_passed_on(limits):
    """Half a tree would be judged as if it were a whole one."""
    from tamiz.tree import _fast, _grower

    X, y = load_wine(return_X_y=True)
    limits(_fast, _STEPS=1)
    for grower, name, module in (
        ({}, "grow_in_line", _fast),
        ({"n_surrogates": 1}, "describe", _grower),
    ):
        with interrupted(module, name, at=5), pytest.raises(KeyboardInterrupt):
            tune(X, y, CARTClassifier(**grower), {"min_samples_leaf": [1, 3]}, cv=2)
    with interrupted(_fast, "grow_in_line", at=5):
        found = compare(X, y, ["fisher"], "tree", sizes=[1, 2], cv=3, repeats=1, n_jobs=1)
    assert found.status == "interrupted"


def test_ctrl_c_stops_the_threads_that_grow_other_branches(monkeypatch, limits):
    import threading

    from tamiz.tree import _fast

    rng = np.random.default_rng(13)
    X = rng.standard_normal((6000, 3)).round(2)
    y = (X.sum(axis=1) + rng.standard_normal(6000) > 0).astype(int)
    real, begun, ended, growers = _fast.grow_in_line, threading.Event(), [], []

    class Watched(_fast.Branches):
        def __init__(self, *args):
            super().__init__(*args)
            growers.append(self)

    def step(*args):
        if not growers:
            return real(*args)
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        assert growers[0]._stop.wait(10)
        ended.append(real(*args))
        return ended[-1]

    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    limits(_fast, _STEPS=1)
    monkeypatch.setattr(_fast, "Branches", Watched)
    monkeypatch.setattr(_fast, "grow_in_line", step)
    with pytest.warns(UserWarning, match="interrupted"):
        model = CARTClassifier().fit(X, y)
    assert len(ended) == 1  # it finished what it was at, and went no further
    assert 17 < model.get_n_leaves() < 500
    assert np.mean(model.predict(X) != y) == pytest.approx(model.tree_.training_error)
