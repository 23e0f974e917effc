"""Gaps filled in a stream: the medians of the whole column, whatever the batches."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.impute import SimpleImputer

from tamiz.data import DataError, DataWarning
from tamiz.data.formats import base
from tamiz.filters import FisherScore
from tamiz.scale import Batch, DaskExecutor, Filled, _medians, batches, filling, sweep
from tamiz.scale._medians import IntervalCounts, Search, key_of, value_of
from tamiz.scale.filling import Means, fill_batch
from tests.calls import watched
from tests.scale.tables import mixed, together

HOSTILE = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.0, np.nextafter(1.0, 2.0), 1.7e308, -1.7e308]
#: Values kept for sorting, parts of an interval, rows of the sample.
SMALL = [(0, 2, 0), (0, 8, 4), (3, 4, 100), (40, 16, 60), (1 << 21, 256, 100)]


def little_room(patch, kept, parts, sample):
    """Little room, so that many passes are needed."""
    patch.setattr(_medians, "_KEPT", kept)
    patch.setattr(_medians, "_LEAST_PARTS", 2)
    patch.setattr(_medians, "_MOST_PARTS", parts)
    patch.setattr(filling, "_SAMPLE_ROWS", sample)


def median_of(x):
    """That of NumPy; where the sum of the middle values may be no float64, by their halves."""
    known = np.sort(x[~np.isnan(x)])
    if np.abs(known).max() < 8e307:
        return np.nanmedian(x)
    low, high = known[(len(known) - 1) // 2], known[len(known) // 2]
    with np.errstate(over="ignore"):
        return (low + high) / 2 if np.isfinite(low + high) else low / 2 + high / 2


def check(table, X):
    """Columns with missing values are filled with medians, and no others."""
    gappy = np.flatnonzero(np.isnan(X).any(axis=0))
    assert list(table.fill_values) == [f"x{j}" for j in gappy]
    for j in gappy:
        found = table.fill_values[f"x{j}"]
        expected = median_of(X[:, j])
        assert found == expected, (j, found, expected)
        assert not (found == 0 and np.signbit(found))
    assert table.n_filled == np.count_nonzero(np.isnan(X))


def gappy_normal(n, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.arange(n) % 2


# ------------------------------------------------------------------------------------- medians

cells = st.one_of(
    st.sampled_from(HOSTILE),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(float),
    st.just(np.nan),
)


@settings(max_examples=40, deadline=None)
@given(
    column=st.lists(cells, min_size=2, max_size=60),
    rows=st.integers(1, 70),
    small=st.sampled_from(SMALL),
)
def test_the_median_of_numpy_for_any_values(column, rows, small):
    x = np.array([*column, np.nan, column[0]])
    if np.isnan(x).all():
        return
    X = np.column_stack([x, x[::-1], np.arange(len(x))])
    with pytest.MonkeyPatch.context() as patch:
        little_room(patch, *small)
        patch.setattr(filling, "_LEAST_SAMPLE", 1)
        table = batches((X, np.arange(len(x)) % 2), batch_rows=rows).filled()
    check(table, X)


@given(st.lists(st.sampled_from(HOSTILE) | st.floats(allow_nan=False), min_size=2, max_size=9))
def test_keys_are_in_the_order_of_the_values(values):
    values.sort()
    keys = [key_of(value) for value in values]
    assert keys == sorted(keys)
    for a, b, k, m in zip(values, values[1:], keys, keys[1:], strict=False):
        assert (a == b) == (k == m)
        assert value_of(k) == a


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("n", [2001, 2002])
def test_many_rows_and_little_room(n, small, monkeypatch):
    little_room(monkeypatch, *small)
    X, y = gappy_normal(n)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, np.round(X[:, 1]))
    X[: n // 2, 2], X[n // 2 :, 2] = 1.0, 2e9  # the middle values lie far apart
    X[[1, -1], 2] = np.nan
    X[:-1, 3], X[-1, 3] = np.nan, 0.3  # one value
    for rows in (n, 300):
        check(batches((X, y), batch_rows=rows).filled(), X)


def test_two_middle_values_far_apart_take_no_passes_of_their_own(monkeypatch):
    little_room(monkeypatch, 0, 4, 0)
    X = np.r_[np.linspace(1, 2, 500), np.linspace(1e200, 2e200, 500), np.nan][:, None]
    table = batches((X, np.arange(len(X)) % 2)).filled()
    check(table, X)
    assert table.n_passes == 3  # missing values, ends of all values, ends of the middle parts


def begin_with(monkeypatch, low, high, inside):
    """Let the sample suggest an interval for the median, and how many values lie inside."""

    def begin(self, sample):
        self.low, self.high, self.inside = key_of(low), key_of(high), inside

    monkeypatch.setattr(Search, "begin", begin)


@pytest.mark.parametrize("wrong", [(5.0, 6.0), (-6.0, -5.0), (1.0, 1.0)])
@pytest.mark.parametrize("inside", [10.0, np.inf])
def test_an_interval_beside_the_median_costs_passes_only(wrong, inside, monkeypatch):
    little_room(monkeypatch, 20, 16, 100)
    begin_with(monkeypatch, *wrong, inside)
    X, y = gappy_normal(1000)
    check(batches((X, y), batch_rows=100).filled(), X)


def test_more_values_than_the_sample_promised(monkeypatch):
    little_room(monkeypatch, 20, 16, 100)
    begin_with(monkeypatch, -9.0, 9.0, 4.0)
    X, y = gappy_normal(1000)
    table = batches((X, y), batch_rows=100).filled()
    check(table, X)
    assert table.n_passes > 3  # they were not kept


def test_batches_of_one_row_are_kept_together():
    """However many there are: neither memory nor work for each grows with their number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[500:700], X[700:900, 1] = 9.0, np.nan  # beyond the intervals, and missing values
    ends = [np.full(3, key_of(end), dtype=np.uint64) for end in (-1.0, 1.0)]
    look = _medians.CountIntervals(
        np.arange(3), *ends, np.empty(0, dtype=np.uint64), np.empty(0), 3, 2
    )
    found = [look(Batch(X[i : i + 1], None, 0, i)) for i in range(2000)]
    for merged in (reduce(IntervalCounts.merge, found), reduce(lambda a, b: b.merge(a), found)):
        assert len(merged.chunks) < 12  # 2 ** 11 > 2000
        for x, kept in zip(X.T, merged.values(3), strict=True):
            np.testing.assert_array_equal(np.sort(kept), np.sort(x[np.abs(x) <= 1]))


# ----------------------------------------------------------------------------------- passes


@pytest.fixture
def path(tmp_path):
    X, y = gappy_normal(3000, 5)
    X[:, [0, 3]] = np.random.default_rng(1).normal(size=(3000, 2))  # no missing values there
    frame = pd.DataFrame(X, columns=list("abcde")).assign(kind=y)
    frame.loc[::50, "kind"] = np.nan
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=400)
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.parquet"


@pytest.mark.filterwarnings("ignore:Left out")
def test_later_passes_read_columns_with_missing_values_only(path, monkeypatch):
    little_room(monkeypatch, 50, 64, 500)
    table = batches(path, "kind").survey()
    with watched(table.parts[0], "tables") as passes:
        filled = table.filled()
    read = [list(columns) for (columns, _), _ in passes]
    assert read[0] == [*"abcde", "kind"]
    assert len(read) == filled.n_passes == 3
    assert sorted(read[1]) == [*"bce", "kind"]
    assert table.n_rows == filled.n_rows == 2940
    assert table.schema.names == [*"abcde"]


@pytest.mark.filterwarnings("ignore:Left out")
def test_without_missing_values_nothing_more_is_read(path, limits):
    limits(filling, _SAMPLE_ROWS=500)
    table = batches(path, "kind", columns=["a", "d"]).survey()
    with watched(table.parts[0], "tables") as passes:
        filled = table.filled("median")
    assert (filled.n_passes, filled.n_filled, filled.fill_values) == (1, 0, {})
    assert len(passes) == 1
    np.testing.assert_array_equal(together(filled).X, together(table).X)


def test_three_passes_are_usual(limits, monkeypatch):
    limits(filling, _SAMPLE_ROWS=2000)
    X, y = gappy_normal(40_000, 3)
    assert batches((X, y)).filled().n_passes == 2  # the values of the interval can be sorted
    little_room(monkeypatch, 2500, 64, 2000)
    assert batches((X, y)).filled().n_passes == 3
    assert batches((X[:2000], y[:2000])).filled().n_passes == 1


@pytest.mark.filterwarnings("ignore:Left out")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("rows", [37, 1000, None])
@pytest.mark.parametrize("sample", [20_000, 200])
def test_the_table_of_the_imputer(path, kind, rows, sample, limits):
    limits(filling, _SAMPLE_ROWS=sample)
    table = batches(path.with_suffix(f".{kind}"), "kind", batch_rows=rows)
    raw = together(table)
    for strategy in ("median", "mean"):
        filled = table.filled(strategy)
        assert isinstance(filled, Filled) and "missing values filled" in repr(filled)
        expected = SimpleImputer(strategy=strategy).fit_transform(raw.X)
        for _ in range(2):  # it can be gone through again
            whole = together(filled)
            np.testing.assert_array_equal(whole.y, raw.y)
            if strategy == "median":
                np.testing.assert_array_equal(whole.X, expected)
            else:
                np.testing.assert_allclose(whole.X, expected, rtol=1e-12, atol=1e-15)
        assert filled.filled() is filled
        assert filled.n_batches == table.n_batches


@pytest.mark.filterwarnings("ignore:Left out")
@pytest.mark.parametrize("sample", [20_000, 200])
def test_on_a_cluster(path, sample, limits):
    limits(filling, _SAMPLE_ROWS=sample)
    limits(base, BATCH_BYTES=500 * 8 * 6)  # all six columns
    plain = batches(path, "kind").filled()
    expected = FisherScore().fit_stream(plain).scores_
    for table in (batches(path, "kind").on().filled(), plain.on()):
        assert table.fill_values == plain.fill_values and table.n_filled == plain.n_filled
        found = FisherScore().fit_stream(table)
        np.testing.assert_allclose(found.scores_, expected, rtol=1e-12)
    with pytest.raises(DataError, match=r"on\(client\)\.filled\(\)"):
        sweep(plain, lambda batch: Means.of(batch.X), executor=DaskExecutor())


def test_a_table_that_changes_between_passes(monkeypatch):
    little_room(monkeypatch, 10, 16, 100)
    X, y = gappy_normal(500)
    seen = []

    def rows():
        seen.append(None)
        Z = X.copy()
        Z[len(seen)] = np.nan
        return iter([(Z, y)])

    with pytest.raises(DataError, match=r"'x\d' has .* in the pass before.*the same rows"):
        batches(rows).filled()


def test_a_table_whose_values_change_between_passes_ends(monkeypatch):
    little_room(monkeypatch, 0, 4, 0)
    seen = []

    def rows():
        seen.append(None)
        x = np.linspace(1.0, 2.0, 50) * (-1.0) ** len(seen)
        return iter([(np.append(x, np.nan)[:, None], np.arange(51) % 2)])

    with pytest.raises(DataError, match="'x0' is never found; the source must give the same rows"):
        batches(rows).filled()


# --------------------------------------------------------------------------- kinds of columns


def test_nominal_columns_keep_their_missing_values(tmp_path):
    mixed().to_csv(tmp_path / "mixed.csv", index=False)
    with pytest.warns(DataWarning, match="Left out"):
        table = batches(tmp_path / "mixed.csv", "label").survey()
    raw, whole = together(table), together(table.filled())
    word = table.schema.names.index("word")
    assert np.isnan(raw.X[:, word]).any()
    np.testing.assert_array_equal(whole.X[:, word], raw.X[:, word])
    assert list(table.filled().fill_values) == ["size"]
    assert not np.isnan(np.delete(whole.X, word, axis=1)).any()
    assert list(table.filled(0).fill_values) == ["size", "whole", "tiny"]
    only = batches(tmp_path / "mixed.csv", "label", columns=["word"])
    with pytest.warns(DataWarning, match="Left out"):
        assert only.filled().n_passes == 0


@pytest.mark.parametrize("sample", [20_000, 0])
def test_a_column_without_any_value_is_filled_with_zeros(sample, limits):
    limits(filling, _SAMPLE_ROWS=sample)
    X, y = gappy_normal(300, 3)
    X[:, 1] = np.nan
    for strategy in ("median", "mean"):
        with pytest.warns(DataWarning, match="No row has a value in column 'x1'.*with 0"):
            table = batches((X, y), batch_rows=100).filled(strategy)
        imputer = SimpleImputer(strategy=strategy, keep_empty_features=True)
        np.testing.assert_allclose(together(table).X, imputer.fit_transform(X), rtol=1e-12)


@pytest.mark.parametrize("strategy", ["median", "mean", 7])
@pytest.mark.parametrize("sample", [20_000, 0])
def test_sparse_tables(strategy, sample, monkeypatch):
    little_room(monkeypatch, 10, 16, sample)
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((400, 5)) < 0.6, rng.normal(size=(400, 5)), 0.0)
    dense[:, 0] = rng.normal(size=400)  # its median is no zero
    dense[rng.random(dense.shape) < 0.1] = np.nan
    table = batches((sparse.csr_matrix(dense), np.arange(400) % 2), batch_rows=90).filled(strategy)
    known = strategy if isinstance(strategy, str) else "constant"
    expected = SimpleImputer(strategy=known, fill_value=7).fit_transform(dense)
    whole = together(table).X
    assert sparse.issparse(whole)
    np.testing.assert_allclose(whole.toarray(), expected, rtol=1e-12)


def test_the_rows_of_the_user_stay_as_they_are():
    X, y = gappy_normal(50)
    before = X.copy()
    for source in ((X, y), [(X, y)]):
        together(batches(source).filled())
        together(batches(source).filled(0))
        np.testing.assert_array_equal(X, before)
    S = sparse.csr_matrix(X)
    filled = fill_batch(Batch(S, y, 0, 0), np.arange(4.0))
    assert not np.isnan(filled.X.data).any()
    np.testing.assert_array_equal(S.toarray(), before)


# ------------------------------------------------------------------------------- mean, numbers


@pytest.mark.parametrize("size", [1e308, 1e-310, 1.0])
def test_means_of_any_size(size, monkeypatch):
    little_room(monkeypatch, 0, 8, 0)
    X, y = gappy_normal(500)
    X = np.clip(X, -1.7, 1.7) * size
    X[:, 0] = np.where(np.isnan(X[:, 0]), np.nan, 0.1 * size)
    X[:, 1] = np.abs(X[:, 1])
    table = batches((X, y), batch_rows=77).filled("mean")
    found = np.array(list(table.fill_values.values()))
    assert found[0] == 0.1 * size  # exactly: a constant stays one
    expected = np.nanmean(X / size, axis=0)
    np.testing.assert_allclose(found / size, expected, rtol=1e-11, atol=1e-12)


def test_a_number_reads_nothing_and_takes_a_generator():
    X, y = gappy_normal(60)

    def rows():
        for start in range(0, 60, 20):
            yield X[start : start + 20], y[start : start + 20]

    table = batches(rows(), classes=[0, 1]).filled(-1)
    assert table.n_passes == 0 and table.n_filled is None
    np.testing.assert_array_equal(
        np.vstack([batch.X for batch in table]), np.where(np.isnan(X), -1.0, X)
    )
    with pytest.raises(DataError, match="read once only"):
        list(table)
    for strategy in ("median", "mean"):
        with pytest.raises(DataError, match=rf"once only.*{strategy}.*filled\(0\)"):
            batches(rows(), classes=[0, 1]).filled(strategy)


@pytest.mark.parametrize("strategy", ["mode", "", None, True, np.nan, np.inf, [0.0], "0"])
def test_a_strategy_that_is_none(strategy):
    X, y = gappy_normal(20)
    table = batches((X, y))
    for one in (table, table.filled(0)):
        with pytest.raises(ValueError, match="a number or 'median' or 'mean'"):
            one.filled(strategy)
