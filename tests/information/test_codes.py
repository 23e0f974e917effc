"""Counting by bits against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamiz.information import Codes, codes, encode, joint_codes
from tamiz.information.codes import MOST_CELLS, MOST_PACKED
from tamiz.runtime.progress import Progress
from tests.naive import information as naive


def table(n, seed, *, gaps=0.0):
    """Discrete columns of every kind: constant, two to many levels, equal, skewed, all distinct."""
    rng = np.random.default_rng(seed)
    columns = [
        np.zeros(n),
        rng.integers(0, 2, n),
        rng.integers(0, 3, n) - 1,
        rng.integers(0, 3, n) * 5,
        (rng.random(n) < 0.05).astype(float),
        rng.integers(0, 9, n),
        rng.integers(0, 40, n),
        rng.integers(0, 40, n),
        rng.integers(0, 5000, n),
        np.arange(n) * 1000,
    ]
    X = np.column_stack([*columns, columns[2]]).astype(float)
    X[rng.random(X.shape) < gaps] = np.nan
    return X, rng.integers(0, 4, n)


def expected(X, Z, measure, missing):
    return np.array(
        [[naive.over_pairs(measure, x.tolist(), z.tolist(), missing) for z in Z.T] for x in X.T]
    )


@pytest.mark.parametrize("n", [2, 3, 63, 64, 65, 198, 1000])
@pytest.mark.parametrize(("missing", "gaps"), [("code", 0.0), ("code", 0.2), ("ignore", 0.2)])
@pytest.mark.parametrize("ratio", [False, True])
def test_every_way_to_ask_gives_the_same_and_the_right_answer(n, missing, gaps, ratio):
    X, y = table(n, n, gaps=gaps)
    p = X.shape[1]
    codes = encode(X, bins=None, missing=missing)
    measure = naive.symmetrical_uncertainty if ratio else naive.mutual_information
    right = expected(X, X, measure, missing)
    matrix = codes.matrix(ratio=ratio)
    np.testing.assert_allclose(matrix, right, atol=1e-12)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(codes.rows(np.arange(p)[::-1], ratio=ratio), matrix[::-1])
    one = codes.su_row if ratio else codes.row
    np.testing.assert_array_equal([one(j) for j in range(p)], matrix)
    together = np.vstack([block for _, block in codes.blocks(4, ratio=ratio)])
    np.testing.assert_array_equal(together, matrix)
    relevance = codes.su_relevance(y) if ratio else codes.relevance(y)
    np.testing.assert_allclose(
        relevance, expected(X, y[:, None], measure, missing)[:, 0], atol=1e-12
    )
    single = codes.matrix(ratio=ratio, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, matrix, atol=1e-6)


def test_all_paths_are_taken():
    X, _ = table(1000, 0)
    levels = encode(X, bins=None).n_levels
    assert levels.max() > MOST_PACKED
    assert (levels[6] <= MOST_PACKED) and levels[6] * levels[7] > MOST_CELLS
    assert sorted(set(levels.tolist()))[:4] == [1, 2, 3, 9]


@pytest.mark.parametrize("missing", ["code", "ignore"])
def test_entropies_are_the_diagonal(missing):
    X, _ = table(150, 5, gaps=0.1)
    X[:, 3] = np.nan
    codes = encode(X, bins=None, missing=missing)
    np.testing.assert_allclose(codes.entropies(), np.diag(codes.matrix()), atol=1e-13)
    assert codes.entropies()[3] == 0


@pytest.mark.parametrize("n", [10, 200])
def test_conditional_information(n):
    X, y = table(n, 3)
    codes = encode(X, bins=None)
    for j in range(X.shape[1]):
        right = [
            naive.conditional_mutual_information(x.tolist(), y.tolist(), X[:, j].tolist())
            for x in X.T
        ]
        np.testing.assert_allclose(codes.conditional(j, y), right, atol=1e-12)


@pytest.mark.parametrize("n", [3, 10, 200])
def test_conditional_information_with_missing_values(n):
    X, y = table(n, 3, gaps=0.3)
    X[:, 4] = np.nan
    codes = encode(X, bins=None, missing="ignore")
    for j in range(X.shape[1]):
        right = [naive.conditional_over_gaps(x.tolist(), y.tolist(), X[:, j].tolist()) for x in X.T]
        np.testing.assert_allclose(codes.conditional(j, y), right, atol=1e-12)


@pytest.mark.parametrize("n", [5, 100, 1000])
def test_information_of_missing_values_and_of_values_adds_up(n):
    X, y = table(n, 7, gaps=0.3)
    values = encode(X, bins=None, missing="ignore").relevance(y)
    both = encode(X, bins=None, missing="code").relevance(y)
    gaps = encode(np.isnan(X), bins=None).relevance(y)
    np.testing.assert_allclose(values + gaps, both, atol=1e-12)


@pytest.mark.parametrize("n", [2, 63, 64, 300])
def test_few_features_form_one_group(n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.integers(0, r, n) for r in (1, 2, 5, 3, 2, 4)]).astype(float)
    X = np.column_stack([X, np.arange(n) * 1000 + 0.0]) if n > 100 else X  # one that is not packed
    y = rng.integers(0, 3, n)
    codes = encode(X, bins=None)
    assert len(codes.groups) == 1
    levels = [len(set(x)) for x in X.T.tolist()]
    assert codes.n_levels.tolist() == levels
    for ratio, measure in (
        (False, naive.mutual_information),
        (True, naive.symmetrical_uncertainty),
    ):
        right = expected(X, X, measure, "code")
        np.testing.assert_allclose(codes.matrix(ratio=ratio), right, atol=1e-12)
        relevance = expected(X, y[:, None], measure, "code")[:, 0]
        got = codes.su_relevance(y) if ratio else codes.relevance(y)
        np.testing.assert_allclose(got, relevance, atol=1e-12)
    assert [len(counts) for counts in codes.contingency(y)] == levels
    np.testing.assert_allclose(codes.entropies(), np.diag(codes.matrix()), atol=1e-13)
    part = codes.take([1, 3, 5])
    assert part.n_levels.tolist() == [levels[j] for j in (1, 3, 5)]
    np.testing.assert_array_equal(part.column(2), codes.column(5))


def test_slices_of_a_matrix_make_the_whole(limits):
    X = np.random.default_rng(0).integers(0, 3, (100, 400))
    whole = encode(X, bins=None).matrix()
    limits(codes, _SLICE=1)
    steps = []
    progress = Progress("", 0)
    progress.update = steps.append
    np.testing.assert_array_equal(encode(X, bins=None).matrix(progress=progress), whole)
    assert len(steps) > 3 and "100%" in steps[-1]


def test_columns_come_back_as_they_went_in():
    X, _ = table(130, 1, gaps=0.1)
    codes = encode(X, bins=None, missing="ignore")
    for j in range(X.shape[1]):
        column = codes.column(j)
        np.testing.assert_array_equal(column < 0, np.isnan(X[:, j]))
        kept = column >= 0
        _, ranks = np.unique(X[kept, j], return_inverse=True)
        np.testing.assert_array_equal(column[kept], ranks)


def test_a_part_of_the_features():
    X, y = table(200, 2, gaps=0.05)
    codes = encode(X, bins=None, missing="ignore")
    which = np.array([0, 2, 5, 8, 10])
    part = codes.take(which)
    np.testing.assert_array_equal(part.matrix(), codes.matrix()[np.ix_(which, which)])
    np.testing.assert_array_equal(part.relevance(y), codes.relevance(y)[which])


def test_tables_of_blocks_add_up():
    rng = np.random.default_rng(0)
    X, y = np.vstack([np.eye(3), rng.integers(0, 2, (300, 3))]), rng.integers(0, 4, 303)
    X[:, 2] *= np.arange(303)  # very many levels
    y[:4] = range(4)
    whole = encode(X, bins=None)
    tables = whole.contingency(y)
    for j in range(3):
        column = whole.column(j)
        right = np.zeros((whole.n_levels[j], 4), dtype=int)
        np.add.at(right, (column, y), 1)
        np.testing.assert_array_equal(tables[j], right)
    first, second = encode(X[:150, :2], bins=None), encode(X[150:, :2], bins=None)
    for a, b, c in zip(
        first.contingency(y[:150], 4), second.contingency(y[150:], 4), tables, strict=False
    ):
        np.testing.assert_array_equal(a + b, c)


@given(st.integers(0, 10_000), st.integers(2, 90), st.integers(2, 5))
def test_ties_are_exact_whatever_the_names_of_the_levels(seed, n, levels):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, levels, n), rng.integers(0, 3, n)
    names = rng.permutation(levels)
    shuffled = rng.permutation(n)
    codes = encode(np.column_stack([x, names[x]]), bins=None)
    relevance = codes.relevance(y)
    assert relevance[0] == relevance[1]
    again = encode(np.column_stack([x, names[x]])[shuffled], bins=None).relevance(y[shuffled])
    np.testing.assert_array_equal(relevance, again)


def test_independent_columns_share_exactly_nothing():
    X = np.array([[a, b, c] for a in range(3) for b in range(4) for c in range(5)])
    matrix = encode(X, bins=None).matrix()
    np.testing.assert_array_equal(matrix - np.diag(np.diag(matrix)), 0)


def test_a_tile_boundary_is_no_boundary():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (100, 700))
    codes = encode(X, bins=None)
    assert len(codes.groups) == 1
    matrix = codes.matrix()
    for i, j in [(0, 699), (63, 64), (255, 256), (256, 255), (511, 512), (650, 10), (699, 699)]:
        right = naive.mutual_information(X[:, i].tolist(), X[:, j].tolist())
        assert matrix[i, j] == pytest.approx(right, abs=1e-12)
    np.testing.assert_array_equal(matrix, codes.rows(range(700)))


def test_joint_codes_number_the_pairs():
    x, z = np.array([0, 1, 1, -1, 0]), np.array([2, 0, 2, 1, -1])
    assert joint_codes(x, z).tolist() == [0, 1, 2, -1, -1]


def test_ten_thousand_levels():
    rng = np.random.default_rng(0)
    n = 20_000
    X = np.column_stack([rng.integers(0, 10_000, n), rng.integers(0, 10_000, n), np.arange(n) % 3])
    codes = encode(X, bins=None)
    assert codes.n_levels[0] > 8000
    matrix = codes.matrix()
    assert matrix[0, 2] == pytest.approx(
        naive.mutual_information(X[:, 0].tolist(), X[:, 2].tolist())
    )
    assert matrix[0, 1] == pytest.approx(
        naive.mutual_information(X[:, 0].tolist(), X[:, 1].tolist())
    )


def test_wrong_lengths_are_refused():
    codes = encode([[0, 1], [1, 1], [0, 0]], bins=None)
    with pytest.raises(ValueError, match="one label for each of the 3 samples"):
        codes.relevance([0, 1])
    with pytest.raises(ValueError, match="one integer for each of the 3 samples"):
        codes.against([0, 1])
    assert isinstance(codes, Codes)


def test_a_feature_that_is_not_there():
    codes = encode(np.arange(12).reshape(4, 3), bins=None)
    for call in (codes.row, codes.su_row, codes.column, lambda j: codes.rows([0, j])):
        for j in (3, 99, -4):
            with pytest.raises(IndexError, match=f"{j} is not a feature.*from 0 to 2"):
                call(j)
    with pytest.raises(IndexError, match="'mean radius' is not a feature"):
        codes.row("mean radius")
    np.testing.assert_array_equal(codes.row(-1), codes.row(2))
    np.testing.assert_array_equal(codes.rows([-1]), codes.rows([2]))


def test_what_varied_before_it_was_cut():
    n = 60
    X = np.column_stack(
        [np.ones(n), np.arange(n) * 7 % n, np.tile([0.0, 1.0], 30), np.full(n, np.nan)]
    )
    X = np.column_stack([X, np.where(np.arange(n) < 30, 5.0, np.nan)])
    y = np.tile([0, 1], 30)
    for missing, gappy in (("code", True), ("ignore", False)):
        codes = encode(X, bins="mdl", y=y, missing=missing)
        assert codes.varies.tolist() == [False, True, True, False, gappy]
        assert codes.n_levels[1] == 1
        assert codes.take([1, 3]).varies.tolist() == [True, False]
