"""Cuts: bins, discrete columns, and the order in which columns are counted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tamiz.scale import Cuts
from tests.naive.streaming import bins


def test_codes_are_the_number_of_cuts_below():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (80, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    lists = [[-1.0, 0.0, 2.0], [], [0.5]]
    cuts = Cuts.of(lists)
    expected = np.column_stack([bins(x, part) for x, part in zip(X.T, lists, strict=True)])
    assert cuts.codes(X).tolist() == expected.tolist()
    assert cuts.n_bins.tolist() == [4, 1, 2]


def test_levels_become_their_places():
    cuts = Cuts.of([[0.3], []]).with_levels({0: 4, 1: np.array([-2.5, 0.0, 7.0])})
    X = np.array([[0.0, -2.5], [1.0, 0.0], [2.0, 7.0], [3.0, np.nan]])
    assert cuts.codes(X).tolist() == [[0, 0], [1, 1], [2, 2], [3, -1]]


def test_infinite_cuts_only_fill_up():
    cuts = Cuts.of(np.array([[1.0, 2.0], [1.0, np.inf]]), gaps=[True, False])
    assert [cuts.column(j).tolist() for j in range(2)] == [[1.0, 2.0], [1.0]]


def test_layout_groups_columns_by_counted_levels():
    cuts = Cuts.of([[1.0, 2.0], [], [1.0], [5.0, 6.0]], gaps=[False, False, True, False])
    layout = cuts.layout
    assert sorted(layout.order.tolist()) == [0, 1, 2, 3]
    assert layout.order[layout.place].tolist() == [0, 1, 2, 3]
    assert layout.n_counted.tolist() == [0, 2, 2, 2]
    assert layout.first.tolist() == [0, 0, 2, 4, 6]
    assert sum(span.stop - span.start for span in layout.spans) == 4
    for span in layout.spans:
        for l, j in enumerate(span.columns):
            assert span.cuts[:, l].tolist() == cuts.column(j).tolist()
            assert span.n_counted == len(cuts.column(j)) + cuts.gaps[j]


def test_equality_survives_pickling():
    cuts = Cuts.of([[1.0], [2.0]], gaps=[True, False], rank_error=0.1)
    assert len(cuts.layout.spans) == 2
    again = pickle.loads(pickle.dumps(cuts))
    assert cuts.equals(again) and again.rank_error == 0.1
    assert not cuts.equals(Cuts.of([[1.0], [2.0]], gaps=True))
    assert not cuts.equals(Cuts.of([[1.0], [2.5]], gaps=[True, False]))


def test_cuts_must_ascend():
    assert Cuts.of([[1.0, 1.0, 2.0], [2.0, 2.0]]).values.tolist() == [1.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="column 1 are not ascending"):
        Cuts.of([[1.0], [2.0, 1.5]])
