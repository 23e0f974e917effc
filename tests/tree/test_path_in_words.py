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
