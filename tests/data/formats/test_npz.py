"""NumPy archives."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.data import DataError, load

X = np.arange(12, dtype=np.int16).reshape(6, 2) % 5


def save(folder, **arrays):
    np.savez(folder / "t.npz", **arrays)
    return folder / "t.npz"


def test_features_target_names_and_the_rest(tmp_path):
    split = np.array(["train"] * 4 + ["test"] * 2)
    genes = np.array(["first", "second"])
    path = save(
        tmp_path, X=X, y=np.array(list("ababab")), feature_names=["u", "v"], split=split, gene=genes
    )
    data = load(path)
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.X, X)
    assert data.feature_names == ["u", "v"]
    train = data.take(data.extras["split"] == "train")
    assert train.n_samples == 4 and train.extras["split"].tolist() == ["train"] * 4
    assert data.keep(["v"]).extras["gene"].tolist() == ["second"]
    assert load(path, nrows=3).extras["split"].tolist() == ["train"] * 3


def test_one_matrix_is_enough(tmp_path):
    data = load(save(tmp_path, table=X), task="classification")
    np.testing.assert_array_equal(data.X[:, 0], X[:, 0])
    np.testing.assert_array_equal(data.y, X[:, 1])
    np.save(tmp_path / "t.npy", X)
    assert load(tmp_path / "t.npy").feature_names == ["x0"]


def test_target_among_the_features(tmp_path):
    data = load(save(tmp_path, X=X, y=np.arange(6)[::-1] % 3, feature_names=["u", "v"]), target="v")
    assert data.feature_names == ["u", "target"]
    np.testing.assert_array_equal(data.y, X[:, 1])


def test_text_in_the_matrix(tmp_path):
    table = np.array([["a", "x"], ["b", "y"], ["a", "x"]])
    data = load(save(tmp_path, X=table, y=np.array([0, 1, 1])))
    assert data.levels == {"x0": ["a", "b"], "x1": ["x", "y"]}


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"a": np.ones(3), "b": np.ones(2)}, "no array 'X'"),
        ({"X": np.ones((3, 2)), "y": np.ones(2)}, "2 entries but 'X' has 3 rows"),
        ({"X": np.ones(3)}, "shape"),
        ({"X": np.array([[1, "a"]], dtype=object)}, "can run code"),
        ({"X": np.ones((0, 2))}, "no rows"),
        ({"X": np.ones((2, 2), dtype=complex), "y": np.ones(2)}, "neither numbers nor text"),
    ],
)
def test_refusals(tmp_path, arrays, words):
    with pytest.raises(DataError, match=words):
        load(save(tmp_path, **arrays))


@pytest.mark.parametrize("keep", [10, 200])
def test_cut_short(tmp_path, keep):
    path = save(tmp_path, X=np.arange(100.0).reshape(50, 2))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match="no NumPy archive, or it is cut short"):
        load(path)
