"""Dataset: parts of it, and how it shows itself."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.data import DataError, Dataset, load
from tamiz.filters import FisherScore


def small():
    X = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]])
    return Dataset(X, np.array([0, 1]), ["a", "b", "c"], ["no", "yes"])


def test_the_five_agreed_parts_come_first():
    X, y = np.eye(2), np.array([0, 1])
    data = Dataset(X, y, ["u", "v"], ["no", "yes"], np.array([True, False]))
    assert data.as_xy() == (X, y)
    assert data.feature_names == ["u", "v"] and data.target_names == ["no", "yes"]
    assert data.categorical.tolist() == [True, False]


def test_what_is_left_out_is_filled_in():
    data = Dataset(np.eye(3))
    assert data.feature_names == ["x0", "x1", "x2"]
    assert not data.categorical.any() and data.missing.tolist() == [0, 0, 0]


@pytest.mark.parametrize("features", [["c", "a"], [2, 0], [-1, 0]])
def test_keep_in_the_order_given(features):
    kept = small().keep(features)
    assert kept.feature_names == ["c", "a"]
    np.testing.assert_array_equal(kept.X, [[3, 1], [6, 4]])


def test_keep_by_mask_and_drop():
    assert small().keep(np.array([True, False, True])).feature_names == ["a", "c"]
    dropped = small().drop("b")
    assert dropped.feature_names == ["a", "c"] and dropped.missing.tolist() == [0, 0]
    assert small().missing.tolist() == [0, 1, 0]


def test_keep_what_a_selector_selects():
    iris = load("iris")
    selector = FisherScore(2).fit(iris.X, iris.y)
    assert iris.keep(selector.support_).n_features == 2


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda d: d.keep(["aa"]), "keep names 'aa', but no feature is called so"),
        (lambda d: d.keep([]), "at least one"),
        (lambda d: d.drop(["a", "b", "c"]), "at least one"),
        (lambda d: d.keep([3]), "position 3"),
        (lambda d: d.keep([True, False]), "mask of 2 entries"),
        (lambda d: d.keep(["a", 0]), "twice"),
        (lambda d: d.encode("funny"), "how='funny'"),
        (lambda d: Dataset(np.eye(2), feature_names=["a"]), "1 entries but X has 2 columns"),
        (lambda d: Dataset(np.eye(2), np.zeros(3)), "y has 3 entries but X has 2 rows"),
    ],
)
def test_refusals(act, words):
    with pytest.raises(DataError, match=words):
        act(small())


def test_take_rows():
    iris = load("iris")
    part = iris.take(slice(0, 60))
    assert part.n_samples == 60 and part.target_names == ["setosa", "versicolor"]
    assert part.class_counts == {"setosa": 50, "versicolor": 10}
    assert iris.take(iris.y == 2).target_names == ["virginica"]
    assert small().take([1]).missing.tolist() == [0, 0, 0]


def test_one_line_and_overview():
    data = small()
    assert repr(data) == "<Dataset: 2 x 3, 1 missing>"
    text = load("iris").describe(top=2)
    assert text == str(text)
    for words in ("150 samples, 4 features", "classification with 3 classes", "setosa 50",
                  "sepal length (cm)", "4.3 to 7.9", "... and 2 more"):  # fmt: skip
        assert words in text
    assert "petal" not in text
    assert "\n" not in repr(load("diabetes"))
    assert str(load("diabetes")).count("regression, 25 to 346") == 1


def test_overview_tells_what_was_set_aside(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "id,a,y\n" + "".join(f"n{k},{k % 7},{k % 2}\n" for k in range(30)), encoding="utf-8"
    )
    with pytest.warns(UserWarning, match="'id'"):
        text = str(load(path))
    assert "not used:\n  id: an identifier" in text
    assert "notes:" in text
