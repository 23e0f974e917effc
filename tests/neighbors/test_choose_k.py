"""choose_k against a plain loop over k; its choice, its table, its picture; what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, coo_matrix
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, StratifiedKFold

import tamiz
from tamiz.neighbors import KChoice, KNNClassifier, choose_k
from tamiz.neighbors import choose_k as choose_k_function
from tests.calls import interrupted
from tests.frames import to_polars
from tests.naive import knn as naive

CASES = [
    {"ties": "nearest"},
    {"ties": "frequent", "metric": "manhattan"},
    {"ties": "abstain", "scaling": "zscore"},
    {"weights": "distance"},
    {"metric": "hamming"},
]


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    wrong = rng.random(150) < 0.2
    return X, np.where(wrong, rng.integers(3, size=150), y)


@pytest.mark.parametrize("options", CASES, ids=str)
def test_the_curves_are_those_of_a_plain_loop(noisy, options):
    X, y = noisy
    rest, aside = np.arange(150) % 4 > 0, np.arange(150) % 4 == 0
    X, y, test = X[rest], y[rest], (X[aside], y[aside])
    ks = [1, 2, 3, 4, 6, 10, 25, 60]
    splits = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    found = choose_k(X, y, ks[::-1], splits, test=test, **options)
    cv, train, tested = naive.error_curves(
        lambda k: KNNClassifier(k, **options), X, y, splits, ks, test
    )
    np.testing.assert_array_equal(found.ks, ks)
    np.testing.assert_allclose(found.cv_errors, cv, atol=1e-15)
    np.testing.assert_allclose(found.train_error, train, atol=1e-15)
    np.testing.assert_allclose(found.test_error, tested, atol=1e-15)
    assert (found.n_train, found.n_test) == (112, 38)
    means = np.mean(cv, axis=0)
    assert found.k == max(k for k, e in zip(ks, means, strict=True) if e <= means.min() + 1e-12)


def test_one_standard_error_takes_more_neighbours(noisy):
    found = choose_k(*noisy, range(1, 41), random_state=0, rule="1se")
    at = np.flatnonzero(found.ks == found.choose("best"))[0]
    limit = found.cv_error[at] + found.cv_se[at]
    assert found.k >= found.choose("best")
    assert found.cv_error[found.ks == found.k][0] <= limit + 1e-12
    assert (found.cv_error[found.ks > found.k] > limit - 1e-12).all()
    assert found.estimator.get_params()["n_neighbors"] == found.k


def test_the_seed_decides_and_threads_do_not(noisy):
    one, two, other = (
        choose_k(*noisy, random_state=seed, n_jobs=jobs, test=0.3)
        for seed, jobs in ((3, 1), (3, 2), (4, 1))
    )
    np.testing.assert_array_equal(one.cv_errors, two.cv_errors)
    np.testing.assert_array_equal(one.test_error, two.test_error)
    assert (one.cv_errors != other.cv_errors).any()
    assert (
        one.n_test == 45 and one.n_train == 105 and one.train_error[0] == pytest.approx(0, abs=0.1)
    )
    assert one.ks.tolist() == list(range(1, 51))


def test_tables_with_text_in_pandas_and_polars():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": rng.choice(list("uvw"), 90), "b": rng.normal(size=90).round(2)})
    y = np.where((frame.a == "u") ^ (rng.random(90) < 0.1), "yes", "no")
    splits = list(KFold(3).split(frame))
    aside = choose_k(frame, y, [1, 5, 9], 3, metric="mixed", test=10, random_state=0)
    plain = choose_k(frame, y, [1, 5, 9], splits, metric="mixed")
    polars = choose_k(to_polars(frame), y, [1, 5, 9], splits, metric="mixed")
    lists = choose_k(frame.to_numpy().tolist(), y, [1, 5, 9], splits, metric="mixed")
    for other in (polars, lists):
        np.testing.assert_array_equal(plain.cv_errors, other.cv_errors)
    assert plain.cv_error.min() < 0.25 and aside.n_test == 10 and aside.n_train == 80


def test_table_dict_and_picture(noisy, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    found = choose_k(*noisy, range(1, 31), test=0.2, random_state=0)
    table = found.to_frame()
    assert table.index.tolist() == list(range(1, 31))
    np.testing.assert_allclose(table["cv"], found.cv_errors.mean(axis=0))
    np.testing.assert_allclose(table["test_se"] ** 2 * 30, table["test"] * (1 - table["test"]))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["k"] == found.k and len(plain["errors"]) == 30
    assert plain["at_k"]["cv"] == pytest.approx(found.cv_error[found.ks == found.k][0])
    text = str(found)
    assert f"*{found.k:5d}" in text and "test" in text and "30 values of k" in text
    assert repr(found).startswith(f"<KChoice: k = {found.k} of 30")
    ax = found.plot()
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_array_equal(lines["test"], found.test_error)
    assert found.plot(ax=ax) is ax
    tamiz.save(found, tmp_path / "choice.tamiz")
    again = tamiz.load(tmp_path / "choice.tamiz")
    assert isinstance(again, KChoice) and again.k == found.k


def test_one_split_has_no_deviation(noisy):
    found = choose_k(*noisy, [1, 5], [(np.arange(100), np.arange(100, 150))])
    assert np.isnan(found.cv_sd).all() and found.to_dict()["errors"][0]["cv_sd"] is None
    assert found.k in (1, 5) and "±" in str(found)


def test_ctrl_c_keeps_the_folds_done(noisy):
    module = __import__(choose_k_function.__module__, fromlist=["_errors"])
    with interrupted(module, "_errors", at=4):
        found = choose_k(*noisy, [1, 3], 10, random_state=0)
    assert found.interrupted and len(found.cv_errors) == 3 and "stopped early" in str(found)
    with interrupted(module, "_errors", at=2), pytest.raises(KeyboardInterrupt):
        choose_k(*noisy, [1, 3], 10, random_state=0)  # a single fold is no cross-validation
    with interrupted(module, "_errors", at=4):  # three folds, then the training error
        late = choose_k(*noisy, [1, 3], 3, random_state=0)
    assert late.interrupted and len(late.cv_errors) == 3 and np.isnan(late.train_error).all()
    assert late.k in (1, 3) and late.to_dict()["at_k"]["train"] is None and str(late)


def test_groups_stay_together():
    """Each group is one point many times, of a class of its own draw: to know it is to have it."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    X, y = rng.normal(size=(40, 2))[groups], np.tile([0, 1], 20)[groups]
    apart = choose_k(X, y, [1], 5, random_state=0)
    found = choose_k(X, y, [1], 5, groups=groups.tolist(), test=0.25, random_state=0)
    assert apart.cv_error[0] == pytest.approx(0, abs=1e-12)
    assert found.cv_error[0] > 0.25 and found.test_error[0] > 0.25
    assert (found.n_train, found.n_test) == (150, 50)
    with pytest.raises(ValueError, match="test=10 samples would part groups"):
        choose_k(X, y, [1], 5, groups=groups, test=10)
    with pytest.raises(ValueError, match="groups has 40 entries, X has 200 rows"):
        choose_k(X, y, [1], 5, groups=groups[::5])


def test_lists_with_missing_values_and_any_sparse_matrix(noisy):
    X, y = noisy
    rows = [[*row, "u" if k % 2 else None] for k, row in enumerate(X.tolist())]
    options = {"metric": "mixed", "categorical_features": [4]}
    found = choose_k(rows, y, [1, 3], 3, test=(rows, y), random_state=0, **options)
    np.testing.assert_array_equal(found.test_error, found.train_error)
    plain = choose_k(X, y, [1, 3], 3, random_state=0)
    thin = choose_k(coo_matrix(X), y, [1, 3], 3, random_state=0)
    np.testing.assert_array_equal(thin.cv_errors, plain.cv_errors)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"ks": [0, 3]}, ValueError, r"ks=\[0, 3\] is not understood; .* neighbours from 1"),
        ({"ks": [136]}, ValueError, "ks holds 136; the smallest .* 135 .* k can be 1 to 135"),
        ({"ks": [1.5]}, ValueError, r"ks=\[1.5\] is not understood"),
        ({"ks": []}, ValueError, r"ks=\[\] is not understood"),
        ({"rule": "least"}, ValueError, "rule='least' is not understood"),
        ({"cv": 1}, ValueError, "cv=1"),
        ({"test": 1.5}, ValueError, "test=1.5 leaves nothing"),
        ({"test": 150}, ValueError, "below 150"),
        ({"test": "half"}, ValueError, "not understood"),
        ({"test": (np.zeros((3, 4)), [0, 1])}, ValueError, "3 rows but 2 labels"),
        ({"test": (np.zeros((2, 4)), ["0", "1"])}, ValueError, "No label of test is a class of y"),
        ({"test": (np.zeros(4), [1])}, ValueError, "X_test must be a table"),
        ({"test": 1}, ValueError, "test=1 cannot be put aside with the classes in proportion"),
        ({"n_neighbors": 3}, ValueError, "candidates as ks"),
        ({"kernel": "rbf"}, TypeError, "no option 'kernel'"),
        ({"estimator": "knn"}, TypeError, "must be a KNNClassifier"),
    ],
)  # fmt: skip
def test_bad_arguments_get_a_sentence(noisy, changes, error, message):
    with pytest.raises(error, match=message):
        choose_k(*noisy, **changes)


@pytest.mark.parametrize("X", ["iris", 3, [1.0, 2.0], [[1.0, 2.0], [3.0]], np.ones(2)], ids=str)
def test_what_is_no_table_gets_a_sentence(X):
    with pytest.raises(ValueError, match="X must be a table: one row for each sample"):
        choose_k(X, [0, 1])


def test_labels_of_another_length(noisy):
    with pytest.raises(ValueError, match="150 rows but y has 149"):
        choose_k(noisy[0], noisy[1][1:])


def test_a_sparse_vector_is_no_table():
    vector = coo_array(np.arange(6.0))
    if vector.ndim == 2:
        pytest.skip("sparse vectors came with SciPy 1.13")
    with pytest.raises(ValueError, match="X must be a table"):
        choose_k(vector, [0, 1] * 3, cv=2)


def test_a_weight_is_a_number_of_rows(noisy):
    X, y = noisy
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    whole = list(StratifiedKFold(4).split(X, y))
    held = [np.isin(np.arange(len(y)), test) for _, test in whole]
    kept = np.flatnonzero(weight)
    splits = [(np.flatnonzero(~one[kept]), np.flatnonzero(one[kept])) for one in held]
    repeated = [(np.flatnonzero(~one[copies]), np.flatnonzero(one[copies])) for one in held]
    ks = [1, 2, 3, 5, 8]
    got = choose_k(X, y, ks, splits, sample_weight=weight)
    want = choose_k(X[copies], y[copies], ks, repeated)
    np.testing.assert_allclose(got.cv_errors, want.cv_errors, atol=1e-12)
    np.testing.assert_allclose(got.train_error, want.train_error, atol=1e-12)
    assert got.k == want.k
    plain = choose_k(X[kept], y[kept], ks, splits)
    assert (plain.cv_errors != got.cv_errors).any()
    ones = choose_k(X, y, ks, whole, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(ones.cv_errors, choose_k(X, y, ks, whole).cv_errors)
    aside = choose_k(X, y, ks, 4, sample_weight=weight, test=0.25, random_state=0)
    assert aside.n_train + aside.n_test == len(kept)
