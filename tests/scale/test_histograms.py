"""ClassHistograms: the exact value of every filter lies within the bounds, whatever the bins."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamiz.filters import AUCScore, KolmogorovSmirnov, StumpError
from tamiz.filters.univariate.base import LabelledSamples
from tamiz.filters.univariate.order import SortedColumns
from tamiz.scale import Bounds, ClassHistograms, Cuts, RowSample, fine_cuts
from tamiz.validation import Labels
from tests.naive.streaming import blocks, merge_anyhow

SLACK = 1e-12


def setting(rng, n, p, n_classes):
    """Continuous, whole, constant and mostly equal columns; every class is there."""
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.standard_normal((n, p)) + y[:, None] * rng.standard_normal(p)
    X[:, 1] = np.rint(X[:, 1])
    X[:, 2] = 4.0
    X[rng.random(n) < 0.7, 3] = 0.0
    return X, y


def histograms(X, y, cuts, rng):
    n_classes = int(y.max()) + 1
    parts = [ClassHistograms.of(b.X, b.y, cuts, n_classes) for b in blocks(X, y, rng)]
    return merge_anyhow(parts, rng)


def assert_within(value, bounds, where=None):
    assert (bounds.low <= bounds.high).all()
    assert (bounds.low - SLACK <= value).all()
    assert (value <= bounds.high + SLACK).all()


def truths(X, y):
    """Areas and distances of each class against the rest, and errors, by the filters."""
    areas, distances = [], []
    for k in range(int(y.max()) + 1):
        areas.append(AUCScore().fit(X, y == k).auc_)
        distances.append(KolmogorovSmirnov().fit(X, y == k).scores_)
    return np.array(areas), np.array(distances), StumpError().fit(X, y).errors_


@pytest.mark.filterwarnings("ignore:.*found no relevant feature")
@settings(max_examples=40)
@given(
    n=st.integers(8, 120),
    n_classes=st.integers(2, 4),
    n_cuts=st.integers(0, 12),
    seed=st.integers(0, 2**31),
)
def test_the_truth_lies_within_the_bounds(n, n_classes, n_cuts, seed):
    rng = np.random.default_rng(seed)
    X, y = setting(rng, n, 5, n_classes)
    cuts = Cuts.of(np.sort(rng.standard_normal((5, n_cuts)) * 2, axis=1))
    got = histograms(X, y, cuts, rng)
    area, distance, error = truths(X, y)
    assert_within(area, got.auc())
    assert_within(np.abs(area - 0.5), got.auc_distance())
    assert_within(distance, got.kolmogorov_smirnov())
    assert_within(error, got.stump_errors())
    assert got.class_rows.tolist() == np.bincount(y).tolist()
    assert got.constant().tolist() == [
        False,
        len(np.unique(X[:, 1])) == 1,
        True,
        *got.constant()[3:],
    ]
    exact = got.exact()
    assert exact[2]
    for bounds in (got.auc(), got.kolmogorov_smirnov(), got.stump_errors()):
        assert (bounds.low[..., exact] == bounds.high[..., exact]).all()


@pytest.mark.filterwarnings("ignore:.*found no relevant feature")
def test_exact_where_every_bin_holds_one_value():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = np.column_stack([rng.integers(0, 40, 400) + 3 * y, rng.integers(0, 2, 400)]).astype(float)
    cuts = fine_cuts(RowSample.of(X, y, first_row=0), 64)
    got = histograms(X, y, cuts, rng)
    assert got.exact().all()
    area, distance, error = truths(X, y)
    for value, bounds in (
        (area, got.auc()),
        (distance, got.kolmogorov_smirnov()),
        (error, got.stump_errors()),
    ):
        np.testing.assert_allclose(bounds.low, value, rtol=0, atol=SLACK)
        np.testing.assert_allclose(bounds.high, value, rtol=0, atol=SLACK)


def test_a_bin_for_each_value_gives_the_bits_of_sorted_columns():
    """Memory and stream differ in where the labels come from, not in what is computed."""
    rng = np.random.default_rng(1)
    X, y = setting(rng, 300, 5, 3)
    got = histograms(X, y, Cuts.of([np.unique(column)[:-1] for column in X.T]), rng)
    sorted_columns = SortedColumns(LabelledSamples(X, Labels(np.arange(3), y), None))
    weight = np.array([1.0, 0.5, 3.0])
    for score in (
        lambda columns: columns.auc(),
        lambda columns: columns.kolmogorov_smirnov(),
        lambda columns: columns.stump(weight),
        lambda columns: (columns.ties(), columns.class_weight(weight), columns.constant()),
    ):
        np.testing.assert_equal(tuple(score(got)), tuple(score(sorted_columns)))
    low, high = sorted_columns.kolmogorov_smirnov()
    np.testing.assert_array_equal(low, high)


@pytest.mark.filterwarnings("ignore:.*found no relevant feature")
@pytest.mark.parametrize("y", [[0, 1, 0, 1, 1], [0, 1, 2, 0, 1], [0, 0, 1, 1, 2]])
def test_bounds_are_those_of_all_orders_inside_the_bins(y):
    """Five rows in two bins: every order is tried, and no bound could be closer."""
    y = np.array(y)
    got = ClassHistograms.of(np.array([[0.0], [1.0], [2.0], [5.0], [6.0]]), y, Cuts.of([[4.0]]), 3)
    orders = [
        np.array([*first, *last], dtype=float)
        for first in itertools.permutations(range(3))
        for last in itertools.permutations((5, 6))
    ]
    area, distance, error = (
        np.array(found) for found in zip(*(truths(x[:, None], y) for x in orders), strict=True)
    )
    n_classes = int(y.max()) + 1
    for bounds, tried in ((got.auc(), area), (got.kolmogorov_smirnov(), distance)):
        assert_within(tried, Bounds(bounds.low[:n_classes], bounds.high[:n_classes]))
        np.testing.assert_allclose(tried.max(axis=0), bounds.high[:n_classes], atol=SLACK)
    np.testing.assert_allclose(area.min(axis=0), got.auc().low[:n_classes], atol=SLACK)
    assert_within(error, got.stump_errors())
    np.testing.assert_allclose(error.min(axis=0), got.stump_errors().low, atol=SLACK)


def test_class_weights_of_the_error():
    rng = np.random.default_rng(0)
    X, y = setting(rng, 200, 5, 2)
    weight = np.array([1.0, 3.0])
    truth = StumpError(class_weight=dict(enumerate(weight))).fit(X, y).errors_
    for n_bins in (4, 32, 400):
        cuts = fine_cuts(RowSample.of(X, y, first_row=0), n_bins)
        assert_within(truth, histograms(X, y, cuts, rng).stump_errors(weight))


def test_bounds_are_attained():
    """Two arrangements of the same counts reach both ends, so no bound could be closer."""
    cuts = Cuts.of([[]])
    y = np.array([0, 0, 1, 1])
    for order in ([0.0, 1.0, 2.0, 3.0], [2.0, 3.0, 0.0, 1.0]):
        X = np.array(order)[:, None]
        got = ClassHistograms.of(X, y, cuts, 2)
        assert got.auc().low[1, 0] == 0.0 and got.auc().high[1, 0] == 1.0
        assert got.kolmogorov_smirnov().high[0, 0] == 1.0
        assert got.stump_errors().low[0] == 0.0


def test_fine_bins_are_narrow_and_leave_common_values_alone():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    X = np.column_stack([rng.standard_normal(20_000) + y, rng.exponential(size=20_000) - y])
    X[rng.random(20_000) < 0.6, 1] = 0.0
    cuts = fine_cuts(RowSample.of(X, y, first_row=0, size=2000), 256)
    assert cuts.rank_error > 0
    got = histograms(X, y, cuts, rng)
    for bounds, most in ((got.auc(), 1 / 256), (got.kolmogorov_smirnov(), 0.02)):
        assert 0 < (bounds.high - bounds.low).max() < most
    assert (got.auc().middle >= got.auc().low).all()


def test_pickled_and_refused():
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    cuts = Cuts.of([[1.5]])
    part = pickle.loads(pickle.dumps(ClassHistograms.of(X, y, cuts, 2)))
    assert part.merge(part).counts.tolist() == [[2, 0], [0, 2]]
    assert part.nbytes == 2 * 8 * 4 + cuts.nbytes
    with pytest.raises(ValueError, match=r"contains NaN \(column 0\). Fill the missing values"):
        ClassHistograms.of(np.array([[np.nan], [1.0]]), y, cuts, 2)
    with pytest.raises(ValueError, match="different cuts"):
        part.merge(ClassHistograms.of(X, y, Cuts.of([[1.6]]), 2))


def test_cuts_at_the_ends_of_what_floats_can_hold():
    rng = np.random.default_rng(0)
    x = np.array([-1e308, -1.0, 0.0, 5e-324, 1e-300, 1.0, 1e308])
    lists = [x[:-1], [0.0, 5e-324], [-1.0, 1.0], [1.0]]
    X = np.column_stack([rng.permutation(np.tile(x, 3)) for _ in lists])
    got = ClassHistograms.of(X, np.zeros(21, dtype=int), Cuts.of(lists), 1)
    codes = Cuts.of(lists).codes(X)
    for j in range(len(lists)):
        expected = np.bincount(codes[:, j], minlength=len(lists[j]) + 1)
        assert got.counts[0, got._bins(j)].tolist() == expected.tolist()
