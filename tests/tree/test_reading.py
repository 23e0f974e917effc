"""The estimators: pruning them, reading them, saving them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import tamiz
from tamiz.tree import CARTClassifier, CARTRegressor
from tamiz.tree.findings import Finding
from tamiz.tree.pruning import PruningPath
from tamiz.tree.rules import Rule
from tests.calls import interrupted, watched

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = slice(0, 300), slice(300, None)


@pytest.fixture
def model():
    return CARTClassifier().fit(X[TRAIN], Y[TRAIN])


def mixed(seed=0, n=300, gaps=0.2):
    """A table with numbers, names and ordered levels, and missing values in all."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "size": rng.normal(size=n).round(2),
        "city": rng.choice(["Lima", "Quito", "La Paz", "Cusco", "Ica"], n).astype(object),
        "grade": pd.Categorical(rng.choice(["low", "middle", "high"], n),
                                ["low", "middle", "high"], ordered=True),
        "it's": rng.integers(0, 5, n).astype(float),
    })  # fmt: skip
    score = frame["size"] + frame["city"].isin(["Lima", "Ica"]) * 1.5 - frame["grade"].cat.codes
    y = np.where(score + 0.3 * rng.normal(size=n) > 0, "yes", "no").astype("U7")
    y[(frame["it's"] == 4).to_numpy() & (rng.random(n) < 0.7)] = "perhaps"
    frame["hint"] = frame["size"] + 0.1 * rng.normal(size=n)  # what can stand in
    for name in frame:
        frame.loc[rng.random(n) < gaps, name] = None
    return frame, y


# ----------------------------------------------------------------------------------- pruning


@pytest.mark.parametrize("measure", ["mean_depth", "leaves"])
def test_the_sub_tree_with_least_held_out_error_is_kept(model, measure):
    full = model.tree_
    assert model.prune(X[TEST], Y[TEST], measure=measure) is model
    path = model.prune_path_
    errors = []
    for k in range(len(path)):
        tree = path.tree(k)
        errors.append(
            float((model.classes_[tree.prediction[tree.apply(X[TEST])]] != Y[TEST]).mean())
        )
    np.testing.assert_allclose(path.errors, errors, atol=1e-14)
    best = max(k for k, e in enumerate(errors) if e == min(errors))
    assert path.chosen == best and model.get_n_leaves() == path.leaves[best]
    assert 1 - model.score(X[TEST], Y[TEST]) == pytest.approx(min(errors))
    assert model.full_tree_ is full and model.get_n_leaves() < full.n_leaves
    assert path.data == "held-out data" and path.measure == measure


def test_pruning_starts_from_the_full_tree_each_time(model):
    full = model.tree_
    grown = model.pruning_path()
    model.prune_at(1e9)
    assert model.get_n_leaves() == 1 and model.full_tree_ is full
    model.prune(X[TEST], Y[TEST])
    assert model.get_n_leaves() > 1
    np.testing.assert_array_equal(model.pruning_path().alphas, grown.alphas)
    model.prune_at(0.0)
    assert model.get_n_leaves() == grown.leaves[0] and model.prune_path_.rule is None
    assert model.unprune().tree_ is full and not hasattr(model, "pruning_")
    model.prune_at(1e9).fit(X[TRAIN], Y[TRAIN])  # grown again
    assert model.tree_.n_leaves == full.n_leaves and model.full_tree_ is model.tree_
    model.prune_at(1e9).tree_ = full  # put in its place by hand
    assert model.full_tree_ is full and model.prune_path_.chosen is None


def test_one_standard_error_takes_a_smaller_tree(model):
    best = model.prune(X[TEST], Y[TEST]).get_n_leaves()
    path = model.prune_path_
    small = model.prune(X[TEST], Y[TEST], rule="1se").get_n_leaves()
    limit = path.errors[path.chosen] + path.standard_errors[path.chosen]
    assert small == path.leaves[path.errors <= limit].min() <= best


def test_costs_are_what_is_charged():
    iris = load_iris()
    costs = np.array([[0, 1, 1], [1, 0, 1], [1, 20, 0]], dtype=float)
    rows = np.random.default_rng(0).permutation(150)
    train, test = rows[:75], rows[75:]
    noisy = iris.target.copy()
    noisy[train[::6]] = np.random.default_rng(1).integers(0, 3, len(train[::6]))
    model = CARTClassifier(costs=costs).fit(iris.data[train], noisy[train])
    path = model.prune(iris.data[test], noisy[test]).prune_path_
    for k in range(len(path)):
        tree = path.tree(k)
        said = tree.prediction[tree.apply(iris.data[test])]
        assert path.errors[k] == pytest.approx(costs[noisy[test], said].mean(), abs=1e-12)


def test_classes_that_training_never_saw_are_mistakes(model):
    y = Y[TEST].copy()
    y[:20] = 7
    path = model.prune(X[TEST], y).prune_path_
    known = model.prune(X[TEST][20:], y[20:]).prune_path_
    n = len(y)
    np.testing.assert_allclose(path.errors * n, known.errors * (n - 20) + 20)


def test_weights_count(model):
    weight = np.random.default_rng(0).integers(1, 4, len(Y[TEST]))
    weighted = model.prune(X[TEST], Y[TEST], sample_weight=weight).prune_path_
    repeated = model.prune(X[TEST].repeat(weight, 0), Y[TEST].repeat(weight)).prune_path_
    np.testing.assert_allclose(weighted.errors, repeated.errors, atol=1e-13)
    weighted = CARTClassifier(class_weight={0: 3, 1: 1}).fit(X[TRAIN], Y[TRAIN])
    path = weighted.prune(X[TEST], Y[TEST]).prune_path_
    tree = path.tree(2)
    wrong = weighted.classes_[tree.prediction[tree.apply(X[TEST])]] != Y[TEST]
    assert path.errors[2] == pytest.approx(np.average(wrong, weights=np.where(Y[TEST] == 0, 3, 1)))


@pytest.mark.parametrize("given", ["balanced", {0: 3.0, 1: 0.5}, {1: 4.0}])
def test_class_weights_count_with_and_without_folds(given):
    n, rng = 120, np.random.default_rng(0)
    columns = X[:, [0, 1, 4]]
    weight = rng.integers(1, 4, n)
    model = CARTClassifier(class_weight=given).fit(columns[:n], Y[:n], sample_weight=weight)
    other, y, w = columns[n : 2 * n], Y[n : 2 * n], rng.integers(1, 4, n)
    balance = {k: 1 / w[y == k].sum() for k in (0, 1)} if given == "balanced" else given
    factor = w * np.array([balance.get(k, 1.0) for k in y.tolist()])
    path = model.prune(other, y, sample_weight=w).prune_path_
    repeated = model.prune(other.repeat(w, 0), y.repeat(w)).prune_path_
    np.testing.assert_allclose(path.errors, repeated.errors, atol=1e-13)
    for k in range(len(path)):
        wrong = path.tree(k).prediction[path.tree(k).apply(other)] != y
        assert path.errors[k] == pytest.approx(np.average(wrong, weights=factor), abs=1e-12)
    # one fold that is judged by all rows of the second half
    half = np.arange(n)
    both, labels, weights = columns[: 2 * n], Y[: 2 * n], np.append(weight, w)
    model.prune_cv(both, labels, cv=[(half, half + n)], sample_weight=weights)
    cv = model.prune_path_
    balance = {k: 1 / weights[labels == k].sum() for k in (0, 1)} if given == "balanced" else given
    factor = w * np.array([balance.get(k, 1.0) for k in y.tolist()])
    alphas = np.append(np.sqrt(cv.alphas[:-1] * cv.alphas[1:]), 1e9)
    for k, alpha in enumerate(alphas):  # the fold's tree is the whole tree
        wrong = cv.tree(cv.at(alpha)).prediction[cv.tree(cv.at(alpha)).apply(other)] != y
        assert cv.errors[k] == pytest.approx(np.average(wrong, weights=factor), abs=1e-12)


def test_held_out_rows_need_not_have_the_classes_that_weights_name():
    model = CARTClassifier(class_weight={1: 5.0}).fit(X[TRAIN], Y[TRAIN])
    zeros = Y == 0
    path = model.prune(X[zeros], Y[zeros]).prune_path_
    said = path.tree(0).prediction[path.tree(0).apply(X[zeros])]
    assert path.errors[0] == pytest.approx((said == 1).mean())
    y = np.where(Y == 1, 7, Y)  # and may have others
    assert model.prune(X, y).prune_path_.errors.min() >= (y == 7).mean() - 1e-12
    rare = Y[:120].copy()
    rare[0] = 2  # the fold that judges it has grown without it
    one = CARTClassifier(class_weight={2: 5.0}).fit(X[:120], rare)
    assert np.isfinite(one.prune_cv(X[:120], rare, cv=4).prune_path_.errors).all()
    blind = CARTClassifier(class_weight={0: 0.0}).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="no row of X with a weight"):
        blind.prune(X[zeros], Y[zeros])


@pytest.mark.parametrize("kind", [CARTClassifier, CARTRegressor])
def test_a_number_of_folds_keeps_groups_together(kind):
    groups = np.random.default_rng(0).integers(0, 12, 200)
    table = np.column_stack([groups, X[:200, :3]])
    model = kind().fit(table, Y[:200])
    with watched(kind, "fit") as fits:
        model.prune_cv(table, Y[:200], cv=4, groups=groups)
    grown = [set(call.args[1][:, 0]) for call in fits]
    assert len(grown) == 4 and sum(12 - len(part) for part in grown) == 12  # each left out once
    with pytest.raises(ValueError, match="groups has 5 entries"):
        model.prune_cv(table, Y[:200], cv=4, groups=groups[:5])
    with pytest.raises(ValueError, match="from 2 to 12, the groups"):
        model.prune_cv(table, Y[:200], cv=13, groups=groups)


def test_folds_may_be_masks(model):
    mask = np.arange(300) < 200
    by_mask = model.prune_cv(X[TRAIN], Y[TRAIN], cv=[(mask, ~mask)]).prune_path_
    rows = [(np.arange(200), np.arange(200, 300))]
    by_rows = model.prune_cv(X[TRAIN], Y[TRAIN], cv=rows).prune_path_
    np.testing.assert_array_equal(by_mask.errors, by_rows.errors)


def test_regression_is_pruned_by_mean_squares():
    data = load_diabetes()
    model = CARTRegressor().fit(data.data[:250], data.target[:250])
    before = model.score(data.data[250:], data.target[250:])
    model.prune(data.data[250:], data.target[250:])
    path = model.prune_path_
    left = data.target[250:] - model.predict(data.data[250:])
    assert path.errors.min() == pytest.approx((left**2).mean())
    assert model.score(data.data[250:], data.target[250:]) > before + 0.2


# ------------------------------------------------------------------------- cross-validation


@pytest.mark.parametrize("measure", ["mean_depth", "leaves"])
def test_cross_validation_is_breimans(model, measure):
    cv = StratifiedKFold(5, shuffle=True, random_state=3)
    model.prune_cv(X[TRAIN], Y[TRAIN], cv=cv, measure=measure)
    path = model.prune_path_
    wrong = np.zeros(len(path))
    for train, test in cv.split(X[TRAIN], Y[TRAIN]):
        fold = CARTClassifier().fit(X[TRAIN][train], Y[TRAIN][train])
        for k in range(len(path)):
            last = k + 1 == len(path)
            fold.prune_at(1e99 if last else float(np.sqrt(path.alphas[k] * path.alphas[k + 1])),
                          measure=measure)  # fmt: skip
            wrong[k] += (fold.predict(X[TRAIN][test]) != Y[TRAIN][test]).sum()
    np.testing.assert_allclose(path.errors, wrong / 300, atol=1e-14)
    assert path.data == "cross-validation"
    assert path.errors[path.chosen] == path.errors.min()


def test_cross_validation_of_tables_with_missing_values_costs_and_rare_classes():
    frame, y = mixed(n=120)
    y[y == "perhaps"] = "no"
    y[0] = "rare"  # one sample: a fold lacks it
    costs = [[0, 1, 2], [1, 0, 3], [5, 5, 0]]
    model = CARTClassifier(costs=costs, class_weight={"no": 1, "rare": 2, "yes": 1}).fit(frame, y)
    model.prune_cv(frame, y, cv=4)
    again = clone(model).fit(frame, y).prune_cv(frame, y, cv=4)
    np.testing.assert_array_equal(model.prune_path_.errors, again.prune_path_.errors)
    assert (model.predict(frame) == again.predict(frame)).all()
    model.prune_cv(frame, y, cv=GroupKFold(3), groups=np.arange(120) % 3)
    numbers = CARTRegressor().fit(X[:100, :4], X[:100, 5])
    assert numbers.prune_cv(X[:100, :4], X[:100, 5], cv=KFold(4)).get_n_leaves() >= 1
    assert numbers.prune_cv(X[:100, :4], X[:100, 5], cv=3).prune_path_.data == "cross-validation"


def test_leaving_out_rows_of_weight_zero_is_leaving_them_out():
    weight = np.ones(150)
    weight[::5] = 0
    with_zeros = CARTClassifier().fit(X[:150], Y[:150], sample_weight=weight)
    with_zeros.prune_cv(X[:150], Y[:150], cv=[(np.arange(0, 75), np.arange(75, 150))],
                        sample_weight=weight)  # fmt: skip
    rows = np.flatnonzero(weight)
    without = CARTClassifier().fit(X[rows], Y[rows])
    cut = int((rows < 75).sum())
    without.prune_cv(X[rows], Y[rows], cv=[(np.arange(cut), np.arange(cut, len(rows)))])
    np.testing.assert_allclose(with_zeros.prune_path_.errors, without.prune_path_.errors)


def test_interrupted_or_failed_pruning_changes_nothing(model):
    full = model.tree_
    with interrupted(CARTClassifier, "fit"), pytest.raises(KeyboardInterrupt):
        model.prune_cv(X[TRAIN], Y[TRAIN])
    assert model.tree_ is full and not hasattr(model, "pruning_")


# ------------------------------------------------------------------------------------ errors


def test_what_is_not_grown_cannot_be_read():
    model = CARTClassifier()
    for call in (
        lambda: model.prune(X, Y), lambda: model.prune_cv(X, Y), lambda: model.prune_at(0.1),
        lambda: model.pruning_path(), lambda: model.rules(), lambda: model.plot(),
        lambda: model.to_svg(), lambda: model.to_text(), lambda: model.findings(),
        lambda: model.importances(), lambda: model.unprune(), lambda: model.feature_importances_,
        lambda: model.prune_path_, lambda: model.full_tree_,
    ):  # fmt: skip
        with pytest.raises(NotFittedError):
            call()
    assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.prune(X[:, :3], Y), "3 features"),
        (lambda m: m.prune(X[:0], Y[:0]), "at least one row"),
        (lambda m: m.prune(X, Y[:5]), "569 rows but y has 5"),
        (lambda m: m.prune(X, None), "y is None"),
        (lambda m: m.prune(X, Y.astype(str)), "none of the classes"),
        (lambda m: m.prune(X, Y, sample_weight=-np.ones(569)), "not negative"),
        (lambda m: m.prune(X, Y, rule="2se"), "rule='2se'"),
        (lambda m: m.prune(X, Y, measure="size"), "measure='size'"),
        (lambda m: m.prune_cv(X, Y, cv=1), "cv=1 folds"),
        (lambda m: m.prune_cv(X, Y, cv=400), "from 2 to 357"),
        (lambda m: m.prune_cv(X, Y, cv="loo"), "cv='loo'"),
        (lambda m: m.prune_cv(X[:9], Y), "9 rows but y has 569"),
        (lambda m: m.prune_cv(X, Y, cv=3.5), r"cv=3\.5"),
        (lambda m: m.prune_cv(X, Y, cv=[(np.arange(9),)]), "it must be a pair"),
        (lambda m: m.prune_cv(X, Y, cv=[(np.arange(9), [999])]), "names the sample 999"),
        (lambda m: m.prune_cv(X, Y, cv=[(np.arange(9), [0.5])]), "positions of samples"),
        (lambda m: m.prune_at(None), "alpha=None"),
        (lambda m: m.prune_at(-0.1), r"alpha=-0\.1"),
        (lambda m: m.prune_at(float("nan")), "alpha=nan"),
        (lambda m: m.rules("prose"), "style='prose'"),
        (lambda m: m.to_text(max_depth=-2), "max_depth=-2"),
    ],
)
def test_bad_input_is_answered_in_sentences_and_changes_nothing(model, call, sentence):
    full = model.tree_
    with pytest.raises((ValueError, TypeError), match=sentence):
        call(model)
    assert model.tree_ is full


# ----------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("missing", ["auto", "surrogate", "direction"])
@pytest.mark.parametrize("seed", range(3))
def test_the_source_predicts_the_same_with_missing_values_levels_and_sets(seed, missing):
    frame, y = mixed(seed)
    model = CARTClassifier(missing=missing, n_surrogates=3).fit(frame, y)
    space: dict = {}
    exec(model.rules("python"), space)
    other, _ = mixed(seed + 100, gaps=0.35)
    other["grade"] = other["grade"].astype(object)
    other.loc[::7, "city"] = "Atlantis"  # never seen
    other.loc[::11, "grade"] = "absurd"
    rows = other.to_dict("records")
    np.testing.assert_array_equal([space["predict"](row) for row in rows], model.predict(other))
    model.prune_at(0.01)
    exec(model.rules("python"), space)
    np.testing.assert_array_equal([space["predict"](row) for row in rows], model.predict(other))


def test_the_source_of_a_regression_tree():
    iris = load_iris()
    space: dict = {}
    numbers = CARTRegressor(max_leaf_nodes=20).fit(iris.data[:, :3], iris.data[:, 3])
    exec(numbers.rules("python"), space)
    said = [space["predict"](row) for row in iris.data[:, :3].tolist()]
    np.testing.assert_array_equal(said, numbers.predict(iris.data[:, :3]))


def test_importances_are_scikit_learns(model):
    theirs = DecisionTreeClassifier(random_state=0, max_leaf_nodes=3).fit(X, Y)
    ours = CARTClassifier(max_leaf_nodes=3, leaf_choice="decrease").fit(X, Y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    np.testing.assert_array_equal(ours.importances(), ours.feature_importances_)
    model.prune_at(1e9)
    assert not model.feature_importances_.any()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_names_of_tables_are_used(kind, tmp_path):
    iris = load_iris(as_frame=True)
    table = kind({name: iris.data[name].to_numpy() for name in iris.data})
    labels = iris.target_names[iris.target]
    model = CARTClassifier(max_depth=2).fit(table, labels)
    rules = model.rules("list")
    assert all(isinstance(rule, Rule) for rule in rules)
    assert rules[0].prediction == "setosa" and "petal" in rules[0].conditions[0]
    assert "petal width (cm)" in model.to_text() or "petal length (cm)" in model.to_text()
    text = model.to_svg(tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text(encoding="utf-8") == text and "setosa" in text
    assert "petal" in model.prune(table, labels).rules()


def test_findings_name_nodes_of_the_tree(model):
    found = model.findings()
    assert found and all(isinstance(f, Finding) for f in found)
    assert all(0 <= t < model.tree_.n_nodes for f in found for t in f.nodes)
    assert not [f for f in model.prune_at(1e9).findings()]


@pytest.mark.parametrize("how", ["tamiz", "pickle"])
def test_saved_models_keep_the_pruned_tree_and_the_full_one(model, how, tmp_path):
    model.prune(X[TEST], Y[TEST])
    if how == "tamiz":
        tamiz.save(model, tmp_path / "model.tamiz")
        back = tamiz.load(tmp_path / "model.tamiz")
    else:
        back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.get_n_leaves() == model.get_n_leaves() < back.full_tree_.n_leaves
    assert back.full_tree_.n_leaves == model.full_tree_.n_leaves
    assert isinstance(back.prune_path_, PruningPath) and str(back.prune_path_) == str(
        model.prune_path_
    )
    assert back.rules() == model.rules()
    assert back.unprune().get_n_leaves() == model.full_tree_.n_leaves
    again = back.prune(X[TEST], Y[TEST], rule="1se")
    assert again.get_n_leaves() == model.prune(X[TEST], Y[TEST], rule="1se").get_n_leaves()


def test_women_and_children_first(data_dir):
    """Worked example 14: the tree of the Titanic, pruned to what the source tells."""
    frame = pd.read_csv(data_dir / "titanic.csv.gz")
    y = frame.pop("target")
    model = CARTClassifier().fit(frame, y)
    assert (model.tree_.n_samples[0], model.tree_.value[0].tolist()) == (2201, [1490, 711])
    model.prune_cv(frame, y)
    assert model.to_text().splitlines()[1:] == [
        "├─ sex = male: no 78.8 %, n = 1731",
        "│  ├─ age = adult: no 79.7 %, n = 1667",
        "│  └─ age = child: no 54.7 %, n = 64",
        "│     ├─ class = third: no 72.9 %, n = 48",
        "│     └─ class in {first, second}: yes 100.0 %, n = 16",
        "└─ sex = female: yes 73.2 %, n = 470",
        "   ├─ class = third: no 54.1 %, n = 196",
        "   └─ class in {crew, first, second}: yes 92.7 %, n = 274",
    ]
    assert model.tree_.training_error == pytest.approx(model.full_tree_.training_error)
