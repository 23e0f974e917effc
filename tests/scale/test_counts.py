"""LevelCounts: tables with and without missing values. (Merging: see test_pair_counts.py.)"""

from __future__ import annotations

import pickle

import numpy as np

from tamiz.scale import Cuts, LevelCounts


def test_missing_values_are_a_level_or_left_out():
    X = np.array([[0.0], [np.nan], [2.0], [np.nan]])
    counts = LevelCounts.of(X, np.array([0, 0, 1, 1]), Cuts.of([[0.5, 1.5]]), 2)
    assert counts.table(0).tolist() == [[1, 0], [0, 0], [0, 1], [1, 1]]
    assert counts.table(0, missing="ignore").tolist() == [[1, 0], [0, 0], [0, 1]]
    assert counts.n_samples == 4


def test_a_column_without_missing_values_has_its_last_bin_from_the_rest():
    counts = LevelCounts.of(np.array([[0.0], [1.0], [2.0]]), None, Cuts.of([[0.5, 1.5]], False))
    assert counts.counts.tolist() == [[1, 1]]
    assert counts.table(0, missing="ignore").tolist() == [[1], [1], [1]]


def test_very_many_levels():
    X = np.arange(3000.0)[:, None]
    cuts = Cuts.of([[]], False).with_levels({0: 3000})
    assert LevelCounts.of(X[::-1], None, cuts).table(0).tolist() == [[1]] * 3000


def test_pickled():
    counts = LevelCounts.of(np.ones((5, 2)), None, Cuts.of([[0.5], [2.0]]))
    again = pickle.loads(pickle.dumps(counts)).merge(counts)
    assert again.table(0).tolist() == [[0], [10]]
    assert again.nbytes == 8 * 4 + 8 + again.cuts.nbytes
