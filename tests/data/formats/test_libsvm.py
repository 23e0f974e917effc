"""LIBSVM's sparse text, against scikit-learn's writer."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from tamiz.data import DataError, load


@pytest.fixture
def written():
    rng = np.random.default_rng(0)
    X = sparse.random(30, 12, 0.3, random_state=0, format="csr")
    X.data = X.data.round(6)  # the writer keeps 16 digits only
    X = X.toarray()
    X[0, 0], X[1, 11] = 1.5, 2.5  # so that first and last column are there
    return sparse.csr_matrix(X), rng.integers(0, 3, 30)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("name", ["t.svm", "t.libsvm", "t", "t.t"])
def test_round_trip(tmp_path, written, zero_based, name):
    X, y = written
    path = tmp_path / name
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)
    data = load(path)
    assert sparse.issparse(data.X) and data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), X.toarray())
    np.testing.assert_array_equal(data.y, y)
    assert data.feature_names[0] == ("f00" if zero_based else "f01")


def test_packed_part_and_columns(tmp_path, written):
    X, y = written
    dump_svmlight_file(X, y, str(tmp_path / "t"), zero_based=False)
    path = tmp_path / "t.svm.gz"
    path.write_bytes(gzip.compress((tmp_path / "t").read_bytes()))
    data = load(path, nrows=20, columns=["f01", "f12"])
    np.testing.assert_array_equal(data.X.toarray(), X[:20].toarray()[:, [0, 11]])
    assert len(data.y) == 20


def test_numbers_as_target(tmp_path):
    (tmp_path / "t.svm").write_text(
        "".join(f"{i + 0.5} 1:{i}\n" for i in range(30)), encoding="utf-8"
    )
    assert load(tmp_path / "t.svm").task == "regression"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 1:2\n1 2:x\n", "line 2: '1 2:x'"),
        ("1 1:2\nhello\n", "line 2: 'hello'"),
        ("", "empty"),
    ],
)
def test_faults(tmp_path, text, words):
    (tmp_path / "t.svm").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        load(tmp_path / "t.svm")


def test_cut_short(tmp_path):
    packed = gzip.compress(b"1 1:2 3:4\n" * 1000)
    (tmp_path / "t.svm.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match="cut short"):
        load(tmp_path / "t.svm.gz")
