"""Rows that are passed: generators, functions, lists; each fault reported with its batch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tamiz.data import DataError
from tamiz.scale import batches, sweep
from tests.frames import to_polars
from tests.scale.tables import mixed, together

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.arange(30) % 2


def pairs(n=3):
    for part in np.split(np.arange(30), n):
        yield X[part], Y[part]


def test_a_generator_once():
    table = batches(pairs())
    assert table.once
    np.testing.assert_array_equal(together(table).X, X)
    with pytest.raises(DataError, match=r"once only.*lambda"):
        list(table)


def test_a_generator_that_was_used_elsewhere():
    rows = pairs()
    list(rows)
    with pytest.raises(DataError, match="holds no rows"):
        batches(rows).survey()


def test_a_function_as_often_as_asked():
    table = batches(pairs)
    assert not table.once
    for _ in range(3):
        np.testing.assert_array_equal(together(table).X, X)


def test_a_function_that_gives_the_same_generator_twice():
    rows = pairs()
    with pytest.raises(DataError, match="holds no rows"):
        list(batches(lambda: rows))


def test_a_function_that_gives_other_rows():
    rows = list(pairs())
    table = batches(lambda: iter(rows))
    assert together(table).X.shape == (30, 3)
    rows.pop()
    with pytest.raises(DataError, match="gave 20 rows where it gave 30 before"):
        list(table)


def test_a_function_that_gives_nothing_to_go_through():
    with pytest.raises(DataError, match="gives int, which cannot be iterated"):
        batches(lambda: 3).survey()


def test_frames_with_their_target():
    frame = mixed(100).dropna(subset=["label"])
    parts = [frame.iloc[:40], frame.iloc[40:]]
    whole = together(batches(frame, "label"))
    for cast in (lambda f: f, to_polars):
        table = batches([cast(part) for part in parts], "label")
        np.testing.assert_array_equal(together(table).X, whole.X)
        np.testing.assert_array_equal(together(table).y, whole.y)


def test_columns_are_put_in_order():
    a = pd.DataFrame(X, columns=list("abc"))
    b = a[["c", "a", "b"]]
    result = together(batches([(a, Y), (b, Y)]))
    np.testing.assert_array_equal(result.X, np.vstack([X, X]))


def test_names_and_none_go_together_by_place():
    a = pd.DataFrame(X, columns=list("abc"))
    table = batches([(a, Y), (X, Y)])
    assert table.schema.names == ["a", "b", "c"]
    np.testing.assert_array_equal(together(table).X, np.vstack([X, X]))


def test_empty_batches_are_passed_over():
    table = batches([(X[:0], Y[:0]), (X[:9], Y[:9]), (X[:0], []), (X[9:], Y[9:])])
    np.testing.assert_array_equal(together(table).X, X)


def test_large_items_are_cut():
    assert [batch.n_rows for batch in batches([(X, Y), (X, Y)], batch_rows=20)] == [20, 10] * 2


def test_sparse_and_dense_do_not_mix():
    S = sparse.csr_matrix(X)
    with pytest.raises(DataError, match=r"batch 1 .*dense table where the first batch is sparse"):
        list(batches([(S, Y), (X, Y)]))
    with pytest.raises(DataError, match=r"batch 1 .*sparse matrix where the first batch is dense"):
        list(batches([(X, Y), (S, Y)]))


def test_numbers_as_codes():
    codes = np.column_stack([RNG.choice([2.0, 5.0, 9.0], 30), X[:, 0]])
    codes[4, 0] = np.nan
    table = batches([(codes[:10], Y[:10]), (codes[10:], Y[10:])], categorical_features=[0])
    assert table.schema.categories[0].tolist() == [2.0, 5.0, 9.0]
    found = together(table).X[:, 0]
    assert np.isnan(found[4])
    there = ~np.isnan(found)
    np.testing.assert_array_equal(
        table.schema.categories[0][found[there].astype(int)], codes[there, 0]
    )


class Count:
    """Rows counted so far, kept outside to see what was merged."""

    made: list[int] = []

    def __init__(self, batch):
        Count.made.append(batch.index)

    def merge(self, other):
        return self


BAD = X.copy()
BAD[5, 1] = np.inf
FRAME = pd.DataFrame(X, columns=list("abc"))
WORDS = FRAME.assign(b="u")


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((X, Y), (X[:, :2], Y), r"item 1 has 2 features where the first has 3"),
        ((FRAME, Y), (FRAME.rename(columns={"b": "z"}), Y), r"batch 1 .*no column 'b'"),
        ((FRAME, Y), (FRAME.assign(d=1), Y), r"batch 1 .*column 'd', which the first batch lacks"),
        ((X, Y), (BAD, Y), r"batch 1 \(from row 30\) has an infinite value in column 'x1', row 35"),
        ((FRAME, Y), (WORDS, Y), r"batch 1 .*'u' in column 'b', where numbers were expected"),
        ((WORDS, Y), (FRAME, Y), r"batch 1 .*numbers in column 'b', which holds text"),
        ((WORDS, Y), (FRAME.assign(b="v"), Y), r"batch 1 .*the level 'v' in column 'b'"),
        ((X, Y), (X, Y + 1), r"batch 1 .*2(\.0)? in the target .*none of the classes 0, 1"),
        ((X, Y), (X, np.where(Y, "a", "b")), r"'a'|'b' in the target"),
        ((X, Y), (X, Y[:9]), r"item 1: X has 30 rows but y has 9"),
        ((X, Y), (X, np.where(Y, np.nan, 1.0)), r"item 1: .*NaN|missing"),
        ((X, Y), X, r"item 1 is ndarray of shape \(30, 3\); give pairs"),
        ((X, Y), (X, Y, Y), r"item 1 is a tuple of 3; give pairs"),
        ((X, Y), "text", r"item 1 is str"),
    ],
)
def test_a_bad_batch_is_reported_and_not_counted(first, second, words):
    Count.made = []
    with pytest.raises(DataError, match=words):
        sweep(batches(iter([first, second])), Count)
    assert Count.made == [0]


def test_a_new_class_in_a_generator_names_the_remedy():
    rows = [(X, Y), (X, Y + 1)]
    with pytest.raises(DataError, match=r"judged by its first table.*classes="):
        list(batches(iter(rows)))
    assert together(batches(iter(rows), classes=[0, 1, 2])).y.max() == 2
    assert batches(rows).schema.classes.tolist() == [0, 1, 2]


def test_a_class_that_was_not_announced():
    with pytest.raises(DataError, match=r"batch 1 .*2(\.0)? in the target.*classes="):
        list(batches([(X, Y), (X, Y + 1)], classes=[0, 1]))


def test_dates_in_a_pair_are_refused():
    when = FRAME.assign(d=pd.Timestamp("2020-01-01"))
    with pytest.raises(DataError, match="column 'd' holds dates"):
        batches((when, Y)).survey()


def test_an_all_missing_column_is_allowed():
    gaps = X.copy()
    gaps[:, 1] = np.nan
    found = together(batches([(gaps, Y), (X, Y)]))
    assert np.isnan(found.X[:30, 1]).all() and not np.isnan(found.X[30:]).any()


def test_regression():
    table = batches([(X, X[:, 0]), (X, X[:, 1])])
    assert table.schema.task == "regression" and table.schema.classes is None
    np.testing.assert_array_equal(together(table).y, np.r_[X[:, 0], X[:, 1]])
    with pytest.raises(DataError, match=r"text such as 'a'"):
        list(batches([(X, X[:, 0]), (X, ["a"] * 30)], task="regression"))


def test_labels_of_every_kind():
    for labels in (Y == 1, np.where(Y, "b", "a"), list(np.where(Y, "b", "a")), Y * 2.0):
        table = batches((X, labels))
        assert table.schema.n_classes == 2
        np.testing.assert_array_equal(together(table).y, Y)
    assert batches((X, Y * 2.5)).schema.task == "regression"  # no classifier takes fractions
    table = batches((X, Y * 2.5), task="classification")
    assert table.schema.classes.tolist() == [0.0, 2.5]
    np.testing.assert_array_equal(together(table).y, Y)
