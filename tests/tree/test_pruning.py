"""Pruning sequences against all sub-trees, scikit-learn, and losses row by row."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tamiz.tree.pruning import PruningPath, choose, growth_curve, pruning_path, weakest_links
from tamiz.tree.pruning_errors import class_losses, squared_losses
from tests.naive import tree_pruning as naive
from tests.tree.trees import from_sklearn, random_tree

MEASURES = ("mean_depth", "leaves")


def exact(tree, measure):
    """Children, errors and sizes of a random tree as fractions."""
    n = int(tree.n_samples[0])
    mistakes = tree.value.sum(axis=1) - tree.value.max(axis=1)
    error = [Fraction(int(m), n) for m in mistakes]
    size = [Fraction(int(m), n) if measure == "mean_depth" else Fraction(1) for m in tree.n_samples]
    return tree.left.tolist(), tree.right.tolist(), error, size


def leaves_at(path, k):
    """The leaves of tree k as nodes of the full tree."""
    pruned = path.tree(k)
    return frozenset(pruned.original[pruned.is_leaf].tolist())


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(25))
def test_each_tree_is_the_smallest_of_the_cheapest_among_all_sub_trees(measure, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(
        rng, int(rng.integers(0, 8)), int(rng.integers(2, 4)), int(rng.integers(6, 40))
    )
    left, right, error, size = exact(tree, measure)
    path = pruning_path(tree, measure)
    sizes = {
        T: sum((size[t] for t in naive.asked_in(left, right, T)), Fraction(0))
        for T in naive.prunings(left, right)
    }
    found = naive.sequence(left, right, error, size)
    assert len(path) == len(found)
    for k, (alpha, T) in enumerate(found):
        assert path.alphas[k] == pytest.approx(float(alpha), abs=1e-14)
        assert leaves_at(path, k) == T
        assert path.leaves[k] == len(T)
        assert path.training_errors[k] == pytest.approx(float(sum(error[t] for t in T)), abs=1e-14)
        after = found[k + 1][0] if k + 1 < len(found) else alpha + 1
        for price in (alpha, (alpha + after) / 2, alpha + (after - alpha) * Fraction(99, 100)):
            assert naive.cheapest(left, right, error, sizes, price) == T
        assert path.at(float(alpha + after) / 2) == k


@pytest.mark.parametrize("seed", range(5))
def test_mean_depth_is_a_sum_over_tests(seed):
    tree = random_tree(np.random.default_rng(seed), 7)
    left, right = tree.left.tolist(), tree.right.tolist()
    n = tree.n_samples.tolist()
    for T in naive.prunings(left, right):
        tests = naive.asked_in(left, right, T)
        assert naive.depth_sum(left, right, T, n) == Fraction(sum(n[t] for t in tests), n[0])


@pytest.mark.parametrize("measure", MEASURES)
def test_a_large_tree_is_nested_and_its_columns_are_those_of_its_trees(measure):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 300, 3, 2000)
    path = pruning_path(tree, measure)
    assert path.alphas[0] == 0 and (np.diff(path.alphas) > 0).all()
    assert path.leaves[-1] == 1 and (np.diff(path.leaves) < 0).all()
    assert len(path) >= 15
    before = None
    for k, pruned in enumerate(path):
        assert pruned.n_leaves == path.leaves[k]
        assert pruned.mean_depth == pytest.approx(path.mean_depths[k], abs=1e-12)
        assert pruned.training_error == pytest.approx(path.training_errors[k], abs=1e-12)
        nodes = set(pruned.original.tolist())
        assert before is None or nodes < before
        before = nodes
    # the alpha at which the next tree takes over is where both cost the same
    size = path.mean_depths if measure == "mean_depth" else path.leaves
    rate = np.diff(path.training_errors) / -np.diff(size)
    np.testing.assert_allclose(rate, path.alphas[1:], rtol=1e-9)


def test_links_that_gain_nothing_are_cut_at_once():
    tree = random_tree(np.random.default_rng(1), 30, 2, 60)
    path = pruning_path(tree)
    assert path.leaves[0] < tree.n_leaves
    assert path.training_errors[0] == pytest.approx(tree.training_error, abs=1e-14)
    assert "the full tree has" in str(path)


def test_a_chain_is_as_quick_as_a_bush():
    n = 20_001  # a chain of twenty thousand tests
    left = np.full(2 * n - 1, -1)
    right = left.copy()
    parent = left.copy()
    inner = np.arange(0, 2 * n - 2, 2)
    left[inner], right[inner] = inner + 1, inner + 2
    parent[left[inner]] = parent[right[inner]] = inner
    error = np.zeros(2 * n - 1)
    error[inner] = np.linspace(0.5, 0.0, len(inner)) ** 2  # convex: each link at its own alpha
    links = weakest_links(left, right, parent, error, np.ones(2 * n - 1))
    assert len(links.alphas) == n - 1 and links.last[0] == n - 2  # the last gains nothing


# ------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("seed", range(3))
def test_squared_error_per_leaf_is_scikit_learns_path(seed):
    X, y = load_diabetes(return_X_y=True)
    rows = np.random.default_rng(seed).permutation(len(y))[:200]
    X, y = X[rows], y[rows]
    model = DecisionTreeRegressor(random_state=seed).fit(X, y)
    path = pruning_path(from_sklearn(model, X, y), "leaves")
    theirs = model.cost_complexity_pruning_path(X, y)
    # they cut one link at a time: of equal alphas the last has all
    alphas, impurities = theirs.ccp_alphas, theirs.impurities
    last = np.append(np.diff(alphas) > 1e-9 * alphas[1:], True)
    np.testing.assert_allclose(path.alphas, alphas[last], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(path.training_errors, impurities[last], rtol=1e-7, atol=1e-9)
    for k in (1, len(path) // 2, len(path) - 2):
        price = np.sqrt(path.alphas[k] * path.alphas[k + 1])
        pruned = DecisionTreeRegressor(random_state=seed, ccp_alpha=price).fit(X, y)
        assert pruned.get_n_leaves() == path.leaves[k]


def test_gini_as_the_error_gives_scikit_learns_classical_path():
    X, y = load_breast_cancer(return_X_y=True)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    tree = from_sklearn(model, X, y)
    tree.error = tree.impurity * tree.weight / tree.weight[0]  # what scikit-learn charges
    theirs = model.cost_complexity_pruning_path(X, y)
    path = pruning_path(tree, "leaves")
    alphas = theirs.ccp_alphas
    last = np.append(np.diff(alphas) > 1e-9 * alphas[1:], True)
    np.testing.assert_allclose(path.alphas, alphas[last], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(path.training_errors, theirs.impurities[last], rtol=1e-9, atol=1e-14)


# -------------------------------------------------------------------------------- other data


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("costs", [None, [[0, 1, 4], [2, 0, 1], [7, 3, 0]]])
def test_errors_of_all_trees_are_those_of_each_row_in_each_tree(measure, costs):
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 40, 3, 200)
    costs = 1.0 - np.eye(3) if costs is None else np.array(costs, dtype=float)
    tree.prediction = (tree.value @ costs).argmin(axis=1)
    tree.error = (tree.value @ costs).min(axis=1) / 200
    X = rng.normal(size=(150, 4))
    codes = rng.integers(-1, 3, 150)  # -1: a class that training never saw
    weight = rng.random(150)
    path = pruning_path(tree, measure)
    losses = class_losses(tree, path.last, len(path), tree.apply(X), codes, weight, costs)
    for k, pruned in enumerate(path):
        said = pruned.prediction[pruned.apply(X)]
        each = np.where(codes < 0, costs.max(), costs[codes, said])
        mean = np.average(each, weights=weight)
        assert losses.mean[k] == pytest.approx(mean, abs=1e-12)
        n = weight.sum() ** 2 / (weight**2).sum()
        spread = np.average((each - mean) ** 2, weights=weight)
        assert losses.standard_error[k] == pytest.approx(np.sqrt(spread / (n - 1)), rel=1e-6)


def test_squared_errors_of_all_trees():
    X, y = load_diabetes(return_X_y=True)
    y = y + 1e4  # far from zero
    model = DecisionTreeRegressor(random_state=0).fit(X[:200], y[:200])
    path = pruning_path(from_sklearn(model, X[:200], y[:200]))
    weight = np.ones(len(y) - 200)
    losses = squared_losses(
        path.full, path.last, len(path), path.full.apply(X[200:]), y[200:], weight
    )
    for k in range(0, len(path), 5):
        pruned = path.tree(k)
        each = (y[200:] - pruned.prediction[pruned.apply(X[200:])]) ** 2
        assert losses.mean[k] == pytest.approx(each.mean(), rel=1e-9)
        standard = each.std(ddof=1) / np.sqrt(len(each))
        assert losses.standard_error[k] == pytest.approx(standard, rel=1e-6)


def test_rules_of_choice():
    errors = np.array([0.30, 0.20, 0.25, 0.20, 0.24, 0.5])
    assert choose(errors, np.full(6, 0.03), "best") == 3  # the smaller of the two best
    assert choose(errors, np.full(6, 0.05), "1se") == 4
    assert choose(errors, np.full(6, np.nan), "1se") == 3  # a single row has no deviation
    rounded = np.array([0.0, 3e-17, 0.4])  # as sums of weights come out
    assert choose(rounded, np.zeros(3), "best") == 1 and choose(rounded, np.zeros(3), "1se") == 1


# ------------------------------------------------------------------------------------ shown


def test_growth_begins_with_the_root_and_ends_with_the_full_tree():
    tree = random_tree(np.random.default_rng(5), 20)
    leaves, depth, error = growth_curve(tree)
    assert leaves[0] == 1 and depth[0] == 0 and error[0] == tree.error[0]
    assert leaves[-1] == tree.n_leaves
    assert depth[-1] == pytest.approx(tree.mean_depth)
    assert error[-1] == pytest.approx(tree.training_error)
    path = pruning_path(tree)  # no tree on the way is better than the best of its depth
    best = np.interp(depth, path.mean_depths[::-1], path.training_errors[::-1])
    assert (error >= best - 1e-12).all()


def test_path_as_table_frame_and_picture():
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(3)
    tree = random_tree(rng, 40, 3, 200)
    path = pruning_path(tree)
    assert set(path.to_dict()) >= {"alpha", "leaves", "training_error", "measure"}
    assert len(path.to_frame()) == len(path) and "error" not in path.to_frame()
    losses = class_losses(tree, path.last, len(path), tree.apply(rng.normal(size=(50, 4))),
                          rng.integers(0, 3, 50), np.ones(50), 1.0 - np.eye(3))  # fmt: skip
    judged = path.measured(losses, "held-out data", "best")
    assert isinstance(judged, PruningPath) and judged.chosen == choose(
        losses.mean, losses.standard_error, "best"
    )
    assert f"chosen: tree {judged.chosen}" in str(judged) and "<- chosen" in str(judged)
    assert "error" in judged.to_frame()
    for growth in (False, True):
        ax = judged.plot(growth=growth)
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert "held-out data" in labels and ("while it grew" in labels[0]) == growth
        line = next(line for line in ax.lines if line.get_label() == "held-out data")
        np.testing.assert_array_equal(line.get_ydata(), judged.errors)
        np.testing.assert_array_equal(line.get_xdata(), judged.mean_depths)
    plt.close("all")


def test_sequences_can_be_compared_and_kept_in_sets():
    tree = random_tree(np.random.default_rng(0), 5)
    path = pruning_path(tree)
    assert path == path and path != pruning_path(tree) and path in {path}


def test_bad_questions_are_answered_in_sentences():
    path = pruning_path(random_tree(np.random.default_rng(0), 5))
    with pytest.raises(IndexError, match=r"numbered 0 to"):
        path.tree(99)
    with pytest.raises(TypeError, match="position"):
        path.tree(1.5)
    with pytest.raises(ValueError, match="alpha=-1"):
        path.at(-1)
    with pytest.raises(ValueError, match="measure='depth'"):
        pruning_path(path.full, "depth")
