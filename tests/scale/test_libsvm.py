"""LIBSVM files in batches."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from tamiz.data import DataError, load
from tamiz.data.formats import libsvm
from tamiz.scale import batches
from tests.scale.tables import assert_same_as, together


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.svm"


def write(path, zero_based, n=80, p=12, seed=0):
    X = sparse.random(n, p, 0.3, format="csr", random_state=seed)
    dump_svmlight_file(X, np.arange(n) % 3, str(path), zero_based=zero_based)
    return X


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("rows", [1, 7, None])
def test_same_as_load(path, zero_based, rows, limits):
    write(path, zero_based)
    limits(libsvm, CHUNK=500)  # many pieces
    assert_same_as(batches(path, batch_rows=rows), load(path))


def test_packed(path):
    write(path, False)
    packed = path.with_suffix(".svm.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert_same_as(batches(packed, batch_rows=9), load(packed))


def test_the_greatest_index_comes_last(path):
    path.write_text("1 1:2\n0 2:1 3:1\n# nothing\n\n1 9:4\n", encoding="utf-8")
    table = batches(path, batch_rows=1)
    assert table.schema.names == [f"f{j}" for j in range(1, 10)]
    assert [batch.X.shape for batch in table] == [(1, 9)] * 3
    assert_same_as(table, load(path))


def test_a_zero_index_that_comes_last(path):
    path.write_text("1 1:2\n0 2:1\n1 0:4\n", encoding="utf-8")
    assert_same_as(batches(path, batch_rows=1), load(path))


def test_several_files_share_width_and_first_index(tmp_path):
    (tmp_path / "0.svm").write_text("1 1:2 2:1\n0 2:1\n", encoding="utf-8")
    (tmp_path / "1.svm").write_text("1 0:3 4:1\n", encoding="utf-8")
    X, y = together(batches([tmp_path / "0.svm", tmp_path / "1.svm"]))
    assert X.toarray().tolist() == [[0, 2, 1, 0, 0], [0, 0, 1, 0, 0], [3, 0, 0, 0, 1]]
    assert y.tolist() == [1, 0, 1]


def test_number_of_features_given(path):
    path.write_text("1 1:2\n0 3:1\n", encoding="utf-8")
    assert together(batches(path, n_features=7)).X.shape == (2, 7)
    with pytest.raises(DataError, match=r"t\.svm has 3 features.* but n_features=2"):
        batches(path, n_features=2).survey()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 1:2\n0 x:1\n", r"t\.svm, line 2: '0 x:1' is not of the form"),
        ("1 1:2\n0 9999999999:1\n", "t.svm"),
        ("1 1:2\n0 99999999:1\n", "mistake"),
        ("\n\n", "is empty"),
        ("1 1:inf\n0 2:1\n", "infinite|not of the form"),
    ],
)
def test_bad_files(path, text, words):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        list(batches(path))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "f1"}, "what its lines begin with"),
        ({"columns": [0]}, "all features are read"),
        ({"categorical_features": [0]}, "is sparse"),
        ({"classes": [0, 1]}, r"2\.0 in the target 'target', which is none of the classes 0, 1"),
    ],
)
def test_what_does_not_go_with_it(path, options, words):
    write(path, False)
    with pytest.raises(DataError, match=words):
        list(batches(path, **options))


def test_regression(path):
    path.write_text("1.5 1:2\n0.25 2:1\n-3 1:1\n7 1:1\n", encoding="utf-8")
    assert together(batches(path, task="regression")).y.tolist() == [1.5, 0.25, -3, 7]


def test_n_features_elsewhere(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="belongs to LIBSVM"):
        batches(tmp_path / "t.csv", n_features=3)
