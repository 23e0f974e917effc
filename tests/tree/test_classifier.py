"""The classifier as users meet it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score

import tamiz
from tamiz.search import ForwardSelection
from tamiz.tree import CARTClassifier, CARTRegressor, NominalSplit, NumericSplit
from tests.calls import watched
from tests.checks import assert_every_check_passes
from tests.frames import to_polars


@pytest.fixture(scope="module")
def people():
    """A table of words, ordered words and numbers with missing values."""
    rng = np.random.default_rng(0)
    n = 150
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "town": rng.choice(["Lima", "Oslo", "Quito", "Rome"], n),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], n), categories=["S", "M", "L"], ordered=True
            ),
        }
    )
    y = np.where((frame.town.isin(["Oslo", "Rome"])) & (frame["size"] > "S"), "yes", "no")
    frame.loc[::10, "age"] = np.nan
    frame.loc[::14, "town"] = None
    return frame, y


def test_titanic_women_and_children_first():
    frame = tamiz.data.load("titanic").frame
    X, y = frame.drop(columns=frame.columns[-1]), frame.iloc[:, -1].astype(str)
    model = CARTClassifier(max_depth=2).fit(X, y)
    tree, names = model.tree_, list(model.feature_names_in_)
    said = {
        (split.text(True, names, model.categories_), split.text(False, names, model.categories_))
        for split in tree.splits
        if split is not None
    }
    assert tree.n_samples[0] == 2201
    survived = dict(zip(model.classes_, tree.value[0], strict=True))["yes"]
    assert survived == 711
    assert sorted(
        tree.splits[0].text(left, names, model.categories_) for left in (True, False)
    ) == [
        "sex = female",
        "sex = male",
    ]
    by_sex = {tree.splits[0].text(left, names, model.categories_): node
              for left, node in ((True, tree.left[0]), (False, tree.right[0]))}  # fmt: skip
    yes = list(model.classes_).index("yes")
    women, men = by_sex["sex = female"], by_sex["sex = male"]
    assert (tree.value[women, yes], tree.weight[women]) == (344, 470)
    assert (tree.value[men, yes], tree.weight[men]) == (367, 1731)
    assert [names[j] for j in tree.splits[men].features] == ["age"]
    assert [names[j] for j in tree.splits[women].features] == ["class"]
    third = next(
        node
        for left, node in ((True, tree.left[women]), (False, tree.right[women]))
        if tree.splits[women].text(left, names, model.categories_) == "class = third"
    )
    assert 0.4 < tree.value[third, yes] / tree.weight[third] < 0.5
    others = tree.left[women] + tree.right[women] - third
    assert tree.value[others, yes] / tree.weight[others] > 0.9
    assert len(said) == 3


def test_frames_of_words_go_straight_in(people):
    frame, y = people
    model = CARTClassifier().fit(frame, y)
    assert model.categories_[2].tolist() == ["S", "M", "L"]
    assert model.nominal_.tolist() == [False, True, False]
    assert model.feature_names_in_.tolist() == ["age", "town", "size"]
    kinds = {type(split) for split in model.tree_.splits if split is not None}
    assert kinds == {NominalSplit, NumericSplit}
    other = CARTClassifier(ordinal_features={"size": ["S", "M", "L"]}).fit(to_polars(frame), y)
    assert other.tree_.splits == model.tree_.splits
    np.testing.assert_array_equal(other.predict(to_polars(frame)), model.predict(frame))
    array = frame.astype(object).to_numpy()
    third = CARTClassifier(ordinal_features={2: ["S", "M", "L"]}).fit(array, y)
    assert third.tree_.splits == model.tree_.splits


def test_a_category_that_was_never_seen_is_placed_without_complaint(people):
    frame, y = people
    model = CARTClassifier().fit(frame, y)
    new = frame.copy()
    new.loc[:3, "town"] = "Tokyo"
    assert set(model.predict(new)) <= {"yes", "no"}
    table = model._read(new)
    assert (table[:4, 1] == -1).all()
    new["town"] = "Tokyo"
    with pytest.warns(UserWarning, match="Tokyo"):
        model.predict(new)


def test_saved_pickled_and_cloned_trees_predict_the_same(people, tmp_path):
    frame, y = people
    model = CARTClassifier(n_surrogates=2, costs={"yes": 3.0}).fit(frame, y)
    tamiz.save(model, tmp_path / "tree.tamiz")
    for copy in (
        tamiz.load(tmp_path / "tree.tamiz"),
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(frame, y),
    ):
        np.testing.assert_array_equal(copy.predict_proba(frame), model.predict_proba(frame))
        assert copy.tree_.splits == model.tree_.splits
        assert copy.tree_.surrogates == model.tree_.surrogates
    oblique = CARTClassifier(splits="oblique", random_state=0, max_depth=2)
    X, y = load_iris(return_X_y=True)
    tamiz.save(oblique.fit(X, y), tmp_path / "oblique.tamiz")
    assert tamiz.load(tmp_path / "oblique.tamiz").tree_.splits == oblique.tree_.splits


def test_a_tree_judges_in_a_search():
    X, y = load_iris(return_X_y=True)
    search = ForwardSelection(CARTClassifier(max_depth=3), n_features_to_select=1, cv=3).fit(X, y)
    assert int(search.order_[0]) in (2, 3)  # the petals


def test_probabilities_paths_and_sizes():
    X, y = load_iris(return_X_y=True)
    model = CARTClassifier(max_leaf_nodes=4).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X))
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(shares))
    path = model.decision_path(X)
    assert path.shape == (150, model.tree_.n_nodes)
    np.testing.assert_array_equal(path.toarray().astype(bool), model.tree_.decision_path(X))
    assert model.get_n_leaves() == 4
    assert model.get_depth() == model.tree_.max_depth


def test_nothing_to_split_is_one_leaf():
    for X, y in (
        (np.ones((5, 2)), [0, 1, 1, 0, 1]),
        ([[1.0]], ["a"]),
        ([[1.0], [2.0]], ["a", "a"]),
        (np.full((4, 2), np.nan), [0, 1, 1, 1]),
    ):
        model = CARTClassifier().fit(X, y)
        assert model.get_n_leaves() == 1
        assert (model.predict(X) == max(set(y), key=list(y).count)).all()


def test_an_empty_column_is_never_asked_for():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    X[:, 1] = np.nan
    model = CARTClassifier().fit(X, X[:, 0] > 0)
    assert model.get_n_leaves() == 2
    assert model.predict(np.full((2, 3), np.nan)).shape == (2,)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"max_depth": -1}, "max_depth"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"min_balance": 0.7}, "min_balance"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes"),
        ({"criterion": "twoing"}, "criterion"),
        ({"max_exact_categories": 40}, "max_exact_categories"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"class_weight": {"z": 1}}, "'z'"),
        ({"categorical_features": ["no such"]}, "no such"),
        ({"ordinal_features": {7: [1, 2]}}, "ordinal_features"),
        ({"ordinal_features": {0: [5.1, 5.1]}}, "twice"),
        ({"ordinal_features": {0: [5.1]}}, "leaves out"),
    ],
)
def test_absurd_parameters_get_a_sentence(params, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        CARTClassifier(**params).fit(X, y)


def test_bad_tables_get_a_sentence(people):
    frame, y = people
    model = CARTClassifier().fit(frame, y)
    before = model.tree_
    for bad, words in (
        (frame[["town", "age", "size"]], "order"),
        (frame.assign(age="old"), "held numbers in fit"),
        (frame.iloc[:, :2], "size"),
    ):
        with pytest.raises(ValueError, match=words):
            model.predict(bad)
    for table, target, words in (
        (np.array([[1.0, np.inf], [2, 3]]), [0, 1], "infinity"),
        (pd.concat([frame, frame], axis=1), y, "more than once"),
        (frame, np.linspace(0, 1, len(y)), "CARTRegressor"),
        (frame, y[:5], "inconsistent"),
        (frame.assign(town=[["a"]] * len(y)), y, "one value"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(table, target)
    assert model.tree_ is before  # a fit that fails leaves the tree that was there


def test_what_the_user_says_goes_before_the_order_of_a_column():
    pd = pytest.importorskip("pandas")
    size = pd.Categorical(list("SMLSML") * 4, categories=["S", "M", "L"], ordered=True)
    X, y = pd.DataFrame({"size": size}), np.array([0, 1, 0, 0, 1, 0] * 4)
    ordered = CARTClassifier().fit(X, y)
    for marked in (["size"], [0], [True]):
        free = CARTClassifier(categorical_features=marked).fit(X, y)
        assert free.get_n_leaves() == 2 < 3 == ordered.get_n_leaves()
        assert free.nominal_.tolist() == [True]


def test_words_without_an_order_need_one(people):
    frame, y = people
    with pytest.raises(ValueError, match="without an order"):
        CARTClassifier(ordinal_features=["town"]).fit(frame, y)


def test_a_sparse_matrix_gives_the_tree_of_its_dense_copy():
    X, y = load_iris(return_X_y=True)
    X = np.where(X > 1.0, X, 0.0)
    dense, thin = CARTClassifier().fit(X, y), CARTClassifier().fit(csr_matrix(X), y)
    assert thin.rules() == dense.rules() and dense.get_n_leaves() > 3
    assert thin.predict(csr_matrix(X)).tolist() == dense.predict(X).tolist()


@pytest.mark.parametrize("name", ["hmeq", "heart_cleveland"])
def test_errors_with_missing_values_are_not_worse_than_with_scikit_learn(data_dir, name):
    """Ours has no chance in it; the peer's tree depends on its seed, so that several are asked."""
    from sklearn.tree import DecisionTreeClassifier

    data = tamiz.data.load(data_dir / f"{name}.csv.gz")
    X, y = data.X, data.y
    assert np.isnan(X).any()
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    limit = {"min_samples_leaf": 20}
    ours = cross_val_score(CARTClassifier(**limit), X, y, cv=folds).mean()
    peers = [DecisionTreeClassifier(**limit, random_state=seed) for seed in range(5)]
    theirs = np.mean([cross_val_score(peer, X, y, cv=folds).mean() for peer in peers])
    assert ours > theirs - 0.003


@pytest.mark.slow
@pytest.mark.parametrize("model", [CARTClassifier(), CARTRegressor()], ids=str)
def test_scikit_learn_has_nothing_to_complain_of(model):
    assert_every_check_passes(model)


@pytest.mark.parametrize("model", [CARTClassifier(), CARTRegressor()])
def test_a_dense_copy_that_does_not_fit_is_refused_before_it_is_made(model, free_memory):
    rng = np.random.default_rng(0)
    X = sparse.random(40, 30, 0.3, format="csr", random_state=0)
    y = rng.integers(2, size=40)
    expected = model.fit(X.toarray(), y).predict(X.toarray())
    np.testing.assert_array_equal(model.fit(X, y).predict(X), expected)
    free_memory(9000)
    with watched(type(X), "toarray") as copies:
        with pytest.raises(MemoryError, match=r"40 × 30 values.* are free. Select features first"):
            model.fit(X, y)
        with pytest.raises(MemoryError, match="Pass fewer rows at a time"):
            model.predict(X)
    assert not copies
    np.testing.assert_array_equal(model.predict(np.zeros((1, 30))).shape, (1,))
