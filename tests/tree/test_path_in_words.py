"""The way of a sample down a tree, in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tamiz.tree import CARTClassifier, CARTRegressor


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 200
    age = rng.uniform(1, 80, n)
    colour = rng.choice(["red", "green", "blue"], n)
    height = 2.0 * age + rng.normal(size=n)
    y = np.where(colour == "red", age > 40, age > 60)
    return pd.DataFrame({"age": age, "colour": colour, "height": height}), np.where(y, "old", "new")


def test_reasons_hold_for_the_sample_and_lead_to_its_leaf(people):
    frame, y = people
    tree = CARTClassifier(max_depth=4).fit(frame, y)
    found = tree.explain(frame)
    assert [one.prediction for one in found] == tree.predict(frame).tolist()
    np.testing.assert_array_equal([one.nodes[-1] for one in found], tree.apply(frame))
    path = tree.decision_path(frame)
    for i, one in enumerate(found):
        assert sorted(one.nodes) == sorted(path[i].indices)
        assert one.shares[one.prediction] == pytest.approx(
            tree.predict_proba(frame[i : i + 1]).max()
        )
        text = str(one)
        if "colour" in " ".join(one.reasons):
            assert frame["colour"][i] in text
        assert f"it is {frame['age'][i]:.6g}" in text or "age" not in text


def test_tests_of_one_feature_are_one_reason():
    X = np.arange(100.0)[:, None]
    y = (X[:, 0] > 30) & (X[:, 0] <= 60)
    tree = CARTClassifier().fit(X, y)
    one = tree.explain([[45.0]])[0]
    assert one.reasons == ("30.5 < x0 <= 60.5 (it is 45)",)
    assert str(one).startswith("Predicted True, because 30.5 < x0 <= 60.5 (it is 45). ")


def test_a_missing_value_names_its_surrogate(people):
    frame, y = people
    tree = CARTClassifier(max_depth=4, n_surrogates=2).fit(frame, y)
    row = frame[:1].copy()
    row["age"] = np.nan
    text = str(tree.explain(row)[0])
    assert "age is missing, and height" in text and "stands for age" in text
    assert tree.explain(row)[0].prediction == tree.predict(row)[0]
    row["height"] = np.nan
    assert "most samples" in str(tree.explain(row)[0])


def test_numbers_have_a_deviation(people):
    frame, _ = people
    tree = CARTRegressor(max_depth=2).fit(frame, frame["height"])
    one = tree.explain(frame[:1])[0]
    inside = frame["height"][tree.apply(frame) == one.nodes[-1]]
    assert one.deviation == pytest.approx(inside.std(ddof=0))
    assert one.prediction == pytest.approx(inside.mean())
    assert f"deviation {one.deviation:.4g}" in str(one)


def test_a_leaf_alone_asks_nothing():
    tree = CARTClassifier().fit([[0.0], [0.0], [0.0]], [0, 1, 1])
    assert "the tree asks nothing" in str(tree.explain([[0.0]])[0])


@pytest.fixture
def grown():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "c": rng.choice(["u", "v", "w"], 300)})
    y = np.where((frame["a"] > 0.5) ^ (frame["c"] == "u") ^ (frame["a"] < -0.5), "p", "n")
    return CARTClassifier(max_depth=5, n_surrogates=0).fit(frame, y)


@pytest.mark.parametrize("a", [-1.0, 0.0, 1.0])
def test_a_category_that_was_not_seen_is_said_to_be_that(a, grown):
    rows = pd.DataFrame({"a": [a, a], "c": ["zzz", "u"]})
    one = grown.explain(rows)[0]
    about = [reason for reason in one.reasons if reason.startswith("c ")]
    assert len(about) == 1 and "-1" not in about[0]
    assert about[0].startswith("c is a category that was not seen in training, and most samples")
    assert "it is" not in about[0]
    assert one.prediction == grown.predict(rows)[0]


@pytest.mark.parametrize("c", ["u", "v", None])
def test_all_that_is_said_of_a_missing_value_is_one_reason(c, grown):
    row = pd.DataFrame({"a": [np.nan], "c": [c]})
    one = grown.explain(row)[0]
    about = [reason for reason in one.reasons if reason.startswith("a ")]
    assert len(about) == 1 and about[0].count("a is missing") == 1
    tests_of_a = sum(0 in grown.tree_.splits[t].features for t in one.nodes[:-1])
    assert tests_of_a > 1  # put together
    assert about[0].count("most samples have") == 1
    assert one.prediction == grown.predict(row)[0]
