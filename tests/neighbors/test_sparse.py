"""Neighbours in sparse matrices: those of the dense copy, without that copy."""

from __future__ import annotations

import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import tamiz
from tamiz.data import load
from tamiz.neighbors import KNNClassifier, choose_k
from tests.naive import knn as naive

KINDS = {
    "grid": lambda rng, shape: rng.integers(-2, 4, shape) / 10,  # ties that rounding would break
    "whole": lambda rng, shape: rng.integers(1, 3, shape).astype(float),
    "apart": lambda rng, shape: rng.standard_normal(shape),
    "far from zero": lambda rng, shape: 1e6 + 1e-9 * rng.integers(3, size=shape),
    "of all sizes": lambda rng, shape: (
        rng.standard_normal(shape) * 10.0 ** rng.integers(-160, 130, shape)
    ),
}


def widened(X):
    """With columns of zeros, so that a sparse copy stays sparse however full the others are."""
    return np.hstack([X, np.zeros((len(X), 3 * X.shape[1]))])


def table(rng, n, p, kind, fill, missing):
    X = KINDS[kind](rng, (n, p))
    X[rng.random(X.shape) > fill] = 0.0
    X[rng.random(X.shape) < missing] = np.nan
    X[:, rng.random(p) < 0.1] = 0.0
    return widened(X)


def stored(X, rng):
    """A sparse copy that stores some zeros, in some format."""
    rows, cols = np.nonzero((X != 0) | (rng.random(X.shape) < 0.1))
    made = sparse.coo_matrix((X[rows, cols], (rows, cols)), shape=X.shape)
    return made.asformat(rng.choice(["csr", "csc", "coo", "lil"]))


def everything(model, Q):
    answers = [*model.kneighbors(Q), model.predict(Q), model.predict_proba(Q), model.scale_]
    n = model.n_samples_fit_
    return [*answers, *(model.kneighbors(n_neighbors=min(n - 1, 7)) if n > 1 else ())]


def assert_same(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


# ---------------------------------------------------------------------------------- the oracles


@settings(max_examples=120)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(list(KINDS)),
    fill=st.sampled_from([0.0, 0.05, 0.3, 0.8]),
    missing=st.sampled_from([0.0, 0.0, 0.02, 0.3]),
    metric=st.sampled_from(["euclidean", "manhattan", "hamming", "mixed"]),
    scaling=st.sampled_from(["none", "range", "zscore"]),
    weights=st.sampled_from(["uniform", "distance"]),
    ties=st.sampled_from(["nearest", "frequent", "abstain"]),
)
def test_sparse_and_dense_answers_are_equal(
    seed, kind, fill, missing, metric, scaling, weights, ties
):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 70)), int(rng.integers(1, 30))
    X, Q = table(rng, n, p, kind, fill, missing), table(rng, 9, p, kind, fill, missing)
    half = n // 2
    X[half : 2 * half] = X[:half]  # every row twice
    Q[:2], Q[2] = X[:2], 0.0
    weight = rng.choice([0.0, 0.1, 0.7, 1.0, 3.0], 4 * p)
    weight[rng.integers(4 * p)] = 1.3
    model = KNNClassifier(
        int(rng.integers(1, n + 1)), metric=metric, scaling=scaling, weights=weights, ties=ties,
        feature_weights=weight if seed % 2 else None,
    )  # fmt: skip
    y = rng.integers(3, size=n)
    try:
        expected = everything(model.fit(X, y), Q)
    except ValueError as error:  # numbers of all sizes, scaled, may be too large: for both
        with pytest.raises(ValueError, match=str(error)[:20]):
            everything(model.fit(stored(X, rng), y), stored(Q, rng))
        return
    made = stored(X, rng)
    model.fit(made, y)
    assert model._space.is_sparse or 3 * made.nnz >= X.size
    assert_same(everything(model, stored(Q, rng)), expected)
    assert_same(everything(model, Q), expected)  # queries may be dense


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "hamming"])
def test_neighbours_equal_those_of_the_naive_search(metric):
    rng = np.random.default_rng(3)
    X, Q = table(rng, 60, 12, "grid", 0.4, 0.05), table(rng, 10, 12, "grid", 0.4, 0.05)
    weight, power = rng.uniform(0.1, 2, 48), 2 if metric == "euclidean" else 1
    nominal = [metric == "hamming"] * 48
    model = KNNClassifier(8, metric=metric, feature_weights=weight)
    distances, found = model.fit(sparse.csr_matrix(X), np.arange(60) % 3).kneighbors(
        sparse.csr_matrix(Q)
    )
    for q, x in enumerate(Q.tolist()):
        near = naive.neighbours(X.tolist(), x, 8, nominal, weight.tolist(), [1.0] * 48, power)
        assert found[q].tolist() == [i for _, i in near]
        np.testing.assert_allclose(distances[q], [d for d, _ in near], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("k", [1, 7, 60])
def test_neighbours_equal_those_of_scikit_learn(metric, k):
    X = sparse.random(500, 300, 0.05, format="csr", random_state=0)
    Q = sparse.random(90, 300, 0.05, format="csr", random_state=1)
    y = np.arange(500) % 3
    ours = KNNClassifier(k, metric=metric).fit(X, y)
    peer = KNeighborsClassifier(k, metric=metric, algorithm="brute").fit(X, y)
    for mine, theirs in zip(ours.kneighbors(Q), peer.kneighbors(Q), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict_proba(Q).argmax(axis=1), ours.predict(Q))
    np.testing.assert_allclose(ours.predict_proba(Q), peer.predict_proba(Q), rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_sums_that_cancel_hide_no_neighbour(metric):
    """Long rows that nearly agree: what they have in common tells less than they are apart."""
    rng = np.random.default_rng(0)
    power, length = (2, 1e6) if metric == "euclidean" else (1, 1e12)
    far = np.zeros((1, 120))
    far[0, :30] = length * rng.uniform(1, 2, 30)
    steps = rng.standard_normal((300, 30))
    apart = 1 + 1e-4 * rng.permutation(300)[:, None]
    steps *= (apart / (np.abs(steps) ** power).sum(axis=1, keepdims=True)) ** (1 / power)
    near = np.repeat(far, 300, axis=0)
    near[:, :30] += steps
    expected = KNNClassifier(9, metric=metric).fit(near, np.arange(300) % 2).kneighbors(far)
    model = KNNClassifier(9, metric=metric).fit(sparse.csr_matrix(near), np.arange(300) % 2)
    assert_same(model.kneighbors(sparse.csr_matrix(far)), expected)
    assert expected[0][0, -1] ** power < 1.01  # the order is not that of rounding


def test_squares_that_are_denormal_numbers_hide_no_neighbour():
    """They are rounded by as much as they are: no fraction of them bounds that."""
    rng = np.random.default_rng(0)
    X, Q = (widened(rng.integers(1, 9, (n, 12)) * 4e-163) for n in (400, 40))
    model = KNNClassifier(5).fit(X, np.arange(400) % 2)
    expected = model.kneighbors(Q)
    model.fit(sparse.csr_matrix(X), np.arange(400) % 2)
    assert_same(model.kneighbors(sparse.csr_matrix(Q)), expected)
    assert 0 < expected[0].max() < 1e-160


@pytest.mark.parametrize("missing", [[], [2, 4]])
def test_sums_beyond_float64_tie(missing):
    """What is known in common has little weight: sums are scaled up, some beyond all numbers."""
    X = np.array([[1.0, 1e130], [1.0, 1e120], [1.0, 5e125], [0.0, 2e102], [1.0, 1e102]])
    X[missing, 0] = np.nan
    X, Q = widened(X), widened(np.array([[np.nan, 0.0], [np.nan, 7e129]]))
    y, weights = [0, 1, 1, 0, 1], [1e100, 1.0, *[0.0] * 6]
    model = KNNClassifier(3, feature_weights=weights).fit(X, y)
    distances, rows = model.kneighbors(Q)
    assert rows.tolist() == [[4, 3, 0], [0, 1, 2]]
    assert np.isfinite(distances).tolist() == [[True, True, False], [False] * 3]
    model.fit(sparse.csr_matrix(X), y)
    assert_same(model.kneighbors(sparse.csr_matrix(Q)), (distances, rows))


@pytest.mark.filterwarnings("error")
def test_a_scale_that_weights_carry_beyond_float64_gets_the_sentence_only():
    X = np.array([[0.0, 1.0], [1e-290, 0.0], [0.0, 2.0]])
    model = KNNClassifier(1, metric="manhattan", scaling="range", feature_weights=[1e90, 1.0])
    for table_ in (X, sparse.csr_matrix(X)):
        with pytest.raises(ValueError, match="very large"):
            model.fit(table_, [0, 1, 1])


def test_a_text_table_is_the_dense_one():
    X, y = load("dexter_train").as_xy()
    X = np.asarray(X.todense() if sparse.issparse(X) else X)
    thin = sparse.csr_matrix(X)
    for metric in ("euclidean", "manhattan"):
        model = KNNClassifier(5, metric=metric)
        expected = model.fit(X[::2], y[::2]).kneighbors(X[1::6])
        model.fit(thin[::2], y[::2])
        assert model._space.is_sparse
        assert_same(model.kneighbors(thin[1::6]), expected)


# ------------------------------------------------------------------------------------ promises


def test_answers_do_not_depend_on_threads_nor_on_the_queries_asked_at_once():
    X = sparse.random(200, 50, 0.1, format="csr", random_state=0)
    model = KNNClassifier(4, n_jobs=1).fit(X, np.arange(200) % 2)
    expected = model.kneighbors(X)
    assert_same(model.set_params(n_jobs=2).kneighbors(X), expected)
    for begin in range(0, 200, 70):
        part = slice(begin, begin + 70)
        assert_same(model.kneighbors(X[part]), [answer[part] for answer in expected])


def test_no_dense_copy_is_made():
    """3,000 x 20,000 would take 480 MB; the table has 0.5 MB, and a chunk its samples."""
    rng = np.random.default_rng(0)
    cols = rng.integers(20_000, size=30_000)
    X = sparse.csr_matrix((rng.random(30_000), (np.arange(30_000) % 3000, cols)), (3000, 20_000))
    y = np.arange(3000) % 2
    KNNClassifier().fit(X[:20], y[:20]).predict(X[:20])  # compiled before it is measured
    tracemalloc.start()
    try:
        KNNClassifier(scaling="zscore").fit(X, y).predict(X)
        choose_k(X[:300], y[:300], [1, 5], cv=2, random_state=0, metric="manhattan")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def test_columns_in_any_order_are_read_and_left_as_they_are():
    """As text vectorisers leave them, with values that are stored in two parts."""
    indptr, indices = np.array([0, 3, 5, 6]), np.array([4, 0, 4, 3, 1, 2])
    data = np.array([1.0, 2.0, 0.5, 1.0, -1.0, 2.0])
    X = sparse.csr_matrix((data, indices, indptr), shape=(3, 20))
    for metric in ("euclidean", "manhattan", "hamming"):
        mine = KNNClassifier(3, metric=metric).fit(X, [0, 1, 1]).kneighbors(X)
        dense = KNNClassifier(3, metric=metric).fit(X.toarray(), [0, 1, 1])
        assert_same(mine, dense.kneighbors(X.toarray()))
    assert X.indices.tolist() == [4, 0, 4, 3, 1, 2]


def test_full_tables_become_dense_and_a_mask_of_no_column_changes_nothing():
    rng = np.random.default_rng(0)
    full, y = rng.random((40, 6)), np.arange(40) % 2
    model = KNNClassifier(3).fit(sparse.csr_matrix(full), y)
    assert not model._space.is_sparse
    assert_same(everything(model, sparse.csr_matrix(full)),
                everything(KNNClassifier(3).fit(full, y), full))  # fmt: skip
    thin = sparse.csr_matrix(np.where(full < 0.2, full, 0.0))
    for nobody in (None, [], np.zeros(6, dtype=bool)):
        model = KNNClassifier(3, metric="mixed", categorical_features=nobody).fit(thin, y)
        assert model._space.is_sparse
    marked = KNNClassifier(3, metric="mixed", categorical_features=[0]).fit(thin, y)
    assert not marked._space.is_sparse and marked.categorical_.tolist() == [True] + [False] * 5
    assert marked.predict(thin).tolist() == marked.predict(thin.toarray()).tolist()


def test_choose_k_is_that_of_the_dense_copy():
    rng = np.random.default_rng(1)
    X = table(rng, 90, 15, "grid", 0.3, 0.0)
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    options = dict(ks=range(1, 40), cv=3, test=0.2, random_state=0, scaling="range")
    mine, theirs = choose_k(sparse.csr_matrix(X), y, **options), choose_k(X, y, **options)
    assert mine.k == theirs.k
    np.testing.assert_array_equal(mine.cv_errors, theirs.cv_errors)
    np.testing.assert_array_equal(mine.test_error, theirs.test_error)


def test_saving_and_loading(tmp_path):
    X = sparse.random(80, 30, 0.1, format="csr", random_state=0)
    model = KNNClassifier(3, metric="manhattan").fit(X, np.arange(80) % 2)
    tamiz.save(model, tmp_path / "thin.tamiz")
    again = tamiz.load(tmp_path / "thin.tamiz")
    assert again._space.is_sparse
    assert_same(everything(again, X), everything(model, X))


def test_the_index_goes_with_its_samples():
    X = sparse.random(30, 30, 0.1, format="csr", random_state=0)
    model = KNNClassifier(3).fit(X, np.arange(30) % 2)
    model.predict(X)
    space = weakref.ref(model._space)
    del model
    assert space() is None


# ------------------------------------------------------------------------------------ sentences


def test_bad_input_gets_a_sentence():
    X, y = sparse.eye(6, format="csr"), np.arange(6) % 2
    gap, large, endless = X.copy(), X.copy() * 1e200, X.copy()
    gap.data[[4, 3]], endless.data[2] = np.nan, np.inf
    for wrong, params, message in [
        (gap, {"missing": "error"}, r"NaN \(first at row 3, column 3; 2 in all\)"),
        (endless, {}, "infinity .*row 2, column 2"),
        (large, {}, "very large values"),
        (X[:, :0], {}, "0 feature"),
        (X[:3], {"n_neighbors": 4}, "n_neighbors=4 exceeds"),
    ]:
        with pytest.raises(ValueError, match=message):
            KNNClassifier(**{"n_neighbors": 2, **params}).fit(wrong, y[: wrong.shape[0]])
    model = KNNClassifier(2, missing="error").fit(X, y)
    for wrong, message in [(gap, "NaN .*row 3"), (large, "very large"), (endless, "infinity"),
                           (X[:, :5], "5 features, but KNNClassifier is expecting 6")]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            model.predict(wrong)


def test_a_dense_copy_that_does_not_fit_is_refused_with_a_sentence(free_memory):
    free_memory(10_000)
    X, y = sparse.eye(40, 30, format="csr"), np.arange(40) % 2
    nominal = KNNClassifier(2, metric="mixed", categorical_features=[0])
    with pytest.raises(MemoryError, match=r"40 × 30 values: about 0\.1 MB.*categorical_features"):
        nominal.fit(X, y)
    model = KNNClassifier(2).fit(X.toarray(), y)
    with pytest.raises(MemoryError, match="Pass fewer rows at a time"):
        model.predict(X)
    assert len(model.predict(X[:5])) == 5
    assert len(KNNClassifier(2).fit(X, y).predict(X)) == 40


@pytest.mark.parametrize(
    ("part", "values"),
    [("indices", [99]), ("indices", [-1]), ("indptr", [0, 1, 0]), ("data", [0.0]),
     ("data", [np.inf]), ("indices", [0, 1, 1])],
)  # fmt: skip
def test_a_model_put_together_wrongly_is_refused(part, values):
    X = sparse.csr_matrix(np.eye(6) + np.eye(6, k=1))
    model = KNNClassifier(2).fit(X, np.arange(6) % 2)
    getattr(model._space.columns, part)[: len(values)] = values
    with pytest.raises(ValueError, match="do not fit together; fit it again"):
        model.predict(X)
