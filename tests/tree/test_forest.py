"""Random forests on bins: against a plain one, scikit-learn's, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

import tamiz
import tests.naive.forest as naive
from tamiz.embedded import ForestImportance
from tamiz.tree import BoostingClassifier, BoostingRegressor, ForestClassifier
from tamiz.tree.forest import Bins, ForestRules, forest_proportions, grow_forest
from tests.checks import assert_every_check_passes


def table(n=60, p=6, n_classes=3, seed=0):
    """Numbers of which some occur often."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n) > 0.5).astype(np.intp)
    if n_classes > 2:
        y += X[:, 2] > 0.4
    return X, y


def xor(n=400, p=8, seed=0):
    """Two features that tell the class together and not alone; the others say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, p))
    return X, ((X[:, 2] > 0) ^ (X[:, 5] > 0)).astype(int)


# ----------------------------------------------------------------------------------------- bins

#: Among them neighbours with no number between, and two whose difference is infinite.
ODD = [0.0, 1e-300, 1.0, 1.0 + 2**-52, 1.0 + 2**-51, -1e308, 1e308]
numbers = st.floats(-1e6, 1e6) | st.sampled_from(ODD)


@given(arrays(np.float64, st.tuples(st.integers(1, 200), st.integers(1, 3)), elements=numbers))
def test_bins_equal_those_of_plain_loops(X):
    bins = Bins.of(X)
    with np.errstate(over="ignore"):
        expected = [naive.cuts(column) for column in X.T.tolist()]
        codes = naive.bins(X)
    for j, cuts in enumerate(expected):
        assert bins.counts[j] == len(cuts) + 1
        np.testing.assert_array_equal(bins.cuts[j, : len(cuts)], cuts)
    np.testing.assert_array_equal(bins.codes(X), codes)


@given(arrays(np.float64, st.tuples(st.integers(2, 300), st.just(1)), elements=numbers))
def test_bins_keep_the_order_and_separate_neighbours(X):
    bins = Bins.of(X)
    code, x = bins.codes(X)[0], X[:, 0]
    order = np.argsort(x, kind="stable")
    assert (np.diff(code[order].astype(int)) >= 0).all()
    for value in np.unique(x):
        assert len(np.unique(code[x == value])) == 1
    n_values = len(np.unique(x))
    assert bins.counts[0] <= 64 and code.max() == bins.counts[0] - 1
    if n_values <= 64:
        assert bins.counts[0] == n_values
    assert len(np.unique(code)) == bins.counts[0]  # none is empty


def test_no_two_values_share_a_bin_because_of_rounding():
    for pair in zip(sorted(ODD), sorted(ODD)[1:], strict=False):
        X = np.array(pair)[:, None]
        bins = Bins.of(X)
        assert bins.codes(X)[0].tolist() == [0, 1] and pair[0] <= bins.cuts[0, 0] < pair[1]


def test_many_values_give_bins_of_like_size():
    X = np.random.default_rng(0).exponential(size=(6400, 1))
    sizes = np.bincount(Bins.of(X).codes(X)[0])
    assert len(sizes) == 64 and sizes.min() >= 99 and sizes.max() <= 102


def test_values_of_new_samples_beyond_all_cuts():
    bins = Bins.of(np.arange(10.0)[:, None])
    assert bins.codes(np.array([[-1e9], [3.4], [1e9]]))[0].tolist() == [0, 3, 9]


# ---------------------------------------------------------------------------------- the oracle


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("random_cuts", [False, True])
@pytest.mark.parametrize("n_tried", [1, 2, 6])
@pytest.mark.parametrize("min_leaf", [1, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_equal_those_of_plain_loops(n_classes, min_leaf, n_tried, random_cuts, even):
    X, y = table(50, n_classes=n_classes, seed=n_tried)
    X[:, 4] = 1.0  # nothing to cut
    X[:, 3] = np.round(X[:, 0])  # often nothing to cut in a node
    weight = np.random.default_rng(1).integers(1, 4, size=50).astype(float)
    if even:
        weight[:] = 1.0
    bins = Bins.of(X)
    codes = bins.codes(X)
    options = {
        "n_classes": n_classes,
        "n_tried": n_tried,
        "min_leaf": min_leaf,
        "random_cuts": random_cuts,
    }
    rules = ForestRules(**options)
    lowest = bins.lowest(X, codes)
    forest = grow_forest(codes, bins.counts, lowest, y, weight, rules=rules, n_trees=3, seed=11)
    seeds = np.random.SeedSequence(11).generate_state(3)
    least = [[min(X[row == c, j]) for c in range(row.max() + 1)] for j, row in enumerate(codes)]
    trees = [naive.Tree(codes, least, y, weight, seed=int(s) % 2**31, **options) for s in seeds]
    new = bins.codes(table(80, seed=9)[0])
    expected = np.mean([[tree.share(sample) for sample in new.T] for tree in trees], axis=0)
    np.testing.assert_allclose(forest_proportions(forest, new), expected, atol=1e-12)
    np.testing.assert_allclose(
        forest.gains, np.mean([tree.gains for tree in trees], axis=0), atol=1e-12
    )


def test_a_single_split_is_the_best_of_all():
    """Two samples in each leaf at least, of four: there is one cut, the middle one."""
    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    y = np.array([0, 0, 1, 1])
    bins = Bins.of(X)
    forest = grow_forest(
        bins.codes(np.repeat(X, 250, axis=0)),
        bins.counts,
        bins.lowest(X, bins.codes(X)),
        np.repeat(y, 250),
        np.ones(1000),
        rules=ForestRules(n_classes=2, n_tried=2, min_leaf=1, random_cuts=False),
        n_trees=1,
        seed=0,
    )
    assert forest.feature.tolist() == [0, -1, -1] and forest.threshold[0] == 1
    np.testing.assert_array_equal(forest.value[1:], np.eye(2))
    assert forest.gains[0] == pytest.approx(2 * (s := forest.value[0, 0]) * (1 - s))


# ------------------------------------------------------------------------------- the estimator


def test_random_cuts_are_even_in_value_not_in_rank():
    """Of 0, 1 ... 9 and 1000, a cut drawn evenly from the range nearly always isolates 1000."""
    X = np.append(np.arange(10.0), 1000.0)[:, None]
    y = np.append(np.arange(10) % 2, 1)
    bins = Bins.of(X)
    codes = bins.codes(X)
    rules = ForestRules(n_classes=2, n_tried=1, min_leaf=1, random_cuts=True)
    lowest = bins.lowest(X, codes)
    forest = grow_forest(
        codes, bins.counts, lowest, y, np.ones(11), rules=rules, n_trees=200, seed=0
    )
    last = forest.threshold[forest.roots] == 9
    assert last.mean() > 0.97


def test_features_constant_in_a_node_count_among_those_drawn():
    """Of 42 features two vary: a node draws until it meets one of them, and looks at no other."""
    rng = np.random.default_rng(0)
    X = np.zeros((200, 42))
    X[:, :2] = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    bins = Bins.of(X)
    codes = bins.codes(X)
    rules = ForestRules(n_classes=2, n_tried=2, min_leaf=1, random_cuts=False)
    lowest = bins.lowest(X, codes)
    forest = grow_forest(
        codes, bins.counts, lowest, y, np.ones(200), rules=rules, n_trees=400, seed=0
    )
    useless = float(np.mean(forest.feature[forest.roots] == 1))
    assert 0.4 < useless < 0.6  # whichever of the two is drawn first


@pytest.mark.ours
@pytest.mark.parametrize(
    ("splits", "peer"), [("best", RandomForestClassifier), ("random", ExtraTreesClassifier)]
)
def test_errors_are_like_those_of_scikit_learn(splits, peer):
    differences = []
    for load, n_folds in ((load_breast_cancer, 5), (load_wine, 5), (load_digits, 3)):
        X, y = load(return_X_y=True)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        ours, theirs = (
            cross_val_score(forest, X, y, cv=folds).mean()
            for forest in (
                ForestClassifier(40, splits=splits, random_state=0),
                peer(40, random_state=0),
            )
        )
        differences.append(theirs - ours)
    assert np.mean(differences) < 0.01 and max(differences) < 0.025


def test_threads_and_monotone_transformations_do_not_matter():
    X, y = table(300, 5, seed=3)
    one = ForestClassifier(20, n_jobs=1, random_state=4).fit(X, y)
    two = ForestClassifier(20, n_jobs=2, random_state=4).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)
    other = ForestClassifier(20, random_state=5).fit(X, y)
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))
    # any transformation that keeps the order keeps the bins, and so the trees
    curved = ForestClassifier(20, random_state=4).fit(np.exp(X), y)
    np.testing.assert_array_equal(curved.predict_proba(np.exp(X)), one.predict_proba(X))


def test_importances_find_an_interaction():
    X, y = xor()
    forest = ForestClassifier(100, random_state=0).fit(X, y)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    assert set(np.argsort(forest.feature_importances_)[-2:]) == {2, 5}
    new, labels = xor(seed=1)
    assert forest.score(new, labels) > 0.85


def test_proportions_and_labels():
    X, y = table(100)
    names = np.array(["red", "green", "blue"])[y]
    forest = ForestClassifier(30, random_state=0).fit(X, names)
    found = forest.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert forest.classes_.tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(forest.predict(X), forest.classes_[found.argmax(axis=1)])
    assert (forest.predict(X) == names).mean() > 0.95


def test_features_that_say_nothing():
    y = np.arange(30) % 3 > 0
    forest = ForestClassifier(10, random_state=0).fit(np.ones((30, 4)), y)
    assert not forest.feature_importances_.any()
    np.testing.assert_allclose(forest.predict_proba(np.zeros((1, 4))), [[1 / 3, 2 / 3]], atol=0.15)


def test_leaves_hold_as_many_samples_as_asked_for():
    X, y = table(200, seed=5)
    small = ForestClassifier(5, random_state=0).fit(X, y).forest_
    large = ForestClassifier(5, min_samples_leaf=30, random_state=0).fit(X, y).forest_
    assert len(large[0]) < len(small[0]) / 4
    alone = ForestClassifier(5, min_samples_leaf=150, random_state=0).fit(X, y)
    assert len(alone.forest_[0]) == 5  # nothing but roots


def test_weights_of_zero_leave_samples_out():
    X, y = table(120, seed=6)
    weight = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    some = weight > 0
    weighted = ForestClassifier(10, random_state=0).fit(X, y, weight)
    fewer = ForestClassifier(10, random_state=0).fit(X[some], y[some])
    np.testing.assert_array_equal(weighted.predict_proba(X), fewer.predict_proba(X))
    for gone in range(3):
        forest = ForestClassifier(10, random_state=0).fit(X, y, np.where(y == gone, 0.0, 1.0))
        assert forest.classes_.tolist() == sorted({0, 1, 2} - {gone})
        fewer = ForestClassifier(10, random_state=0).fit(X[y != gone], y[y != gone])
        np.testing.assert_array_equal(forest.predict_proba(X), fewer.predict_proba(X))
        weights = {label: float(label != gone) for label in range(3)}
        by_class = ForestClassifier(10, class_weight=weights, random_state=0).fit(X, y)
        np.testing.assert_array_equal(by_class.predict(X), fewer.predict(X))


def test_weights_move_the_proportions():
    X, y = np.zeros((400, 1)), np.arange(400) % 2  # nothing but the root
    for weight in (np.where(y == 1, 4.0, 1.0), np.where(y == 1, 0.4, 0.1)):
        forest = ForestClassifier(20, random_state=0).fit(X, y, weight)
        np.testing.assert_allclose(forest.predict_proba(X[:1]), [[0.2, 0.8]], atol=0.02)
    rare = (np.arange(400) % 10 == 0).astype(int)
    balanced = ForestClassifier(20, class_weight="balanced", random_state=0).fit(X, rare)
    np.testing.assert_allclose(balanced.predict_proba(X[:1]), [[0.5, 0.5]], atol=0.06)
    by_class = ForestClassifier(5, class_weight={0: 1.0, 1: 3.0}, random_state=0).fit(X, rare)
    by_sample = ForestClassifier(5, random_state=0).fit(X, rare, 1.0 + 2.0 * rare)
    np.testing.assert_array_equal(by_class.predict_proba(X), by_sample.predict_proba(X))


def test_saved_and_loaded(tmp_path):
    X, y = table(80)
    forest = ForestClassifier(10, random_state=0).fit(X, y)
    again = tamiz.load(tamiz.save(forest, tmp_path / "forest"))
    assert again.get_params() == forest.get_params()
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))


def test_a_failed_fit_changes_nothing():
    X, y = table(60)
    forest = ForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        forest.fit(X[:, :3], np.zeros(60))
    assert forest.n_features_in_ == 6 and len(forest.predict(X)) == 60


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_features": "all"}, "max_features"),
        ({"splits": "worst"}, "splits"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"class_weight": "even"}, "class_weight"),
    ],
)
def test_absurd_parameters_are_refused(params, words):
    X, y = table(20)
    with pytest.raises(ValueError, match=words):
        ForestClassifier(**params).fit(X, y)


#: As for the forest of scikit-learn: a bootstrap sample of weighted samples is another one than
#: that of repeated samples. Trees grown to pure leaves take no notice of the weights of classes
#: that are mixed by chance, and there is no min_weight_fraction_leaf for the check to set.
NOT_MET = {
    "check_sample_weight_equivalence_on_dense_data": "bootstrap samples; leaves count samples",
    "check_class_weight_classifiers": "pure leaves",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "forest",
    [
        ForestClassifier(10),
        ForestClassifier(10, splits="random"),
        BoostingClassifier(10),
        BoostingRegressor(10),
        ForestImportance(n_estimators=10),
    ],
    ids=str,
)
def test_estimator_checks(forest):
    assert_every_check_passes(forest, not_met=NOT_MET)
