"""Three ways to find neighbours, one answer."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from tamiz.neighbors import _search
from tamiz.neighbors._metrics import METRICS
from tamiz.neighbors._search import AllPairs, Products, Tree, choose_finder, find_neighbours
from tamiz.neighbors._space import make_space
from tamiz.runtime.parallel import limit_threads


def space_of(X, metric="euclidean", weight=None):
    weight = np.ones(X.shape[1]) if weight is None else weight
    nominal = np.zeros(X.shape[1], dtype=bool)
    return make_space(X, nominal, weight, METRICS[metric], "none")[0]


def tables(p):
    rng = np.random.default_rng(p)
    near = rng.standard_normal((400, p))
    return {
        "apart": (near, rng.standard_normal((60, p))),
        "grid": (rng.integers(3, size=(400, p)) / 10, rng.integers(3, size=(60, p)) / 10),
        "the same twice": (np.tile(near[:200], (2, 1)), near[:60]),
        "far from zero": (near + 1e6, near[:60] + 1e6),
        "a long way out": (np.vstack([near, np.full((1, p), 1e9)]), near[:60]),
        "gaps in queries": (near, np.where(rng.random((60, p)) < 0.05, np.nan, near[:60])),
    }


@pytest.mark.parametrize("name", tables(2))
@pytest.mark.parametrize(("finder", "p", "metric"), [(Tree, 3, "euclidean"), (Tree, 3, "manhattan"),
                                                     (Products, 40, "euclidean")])  # fmt: skip
def test_the_same_neighbours_as_all_pairs(finder, p, metric, name):
    X, Q = tables(p)[name]
    space = space_of(X, metric, np.linspace(0.5, 2, p))
    Q = space.bring(Q)
    for k in (1, 7):
        proposed = find_neighbours(finder(space, METRICS[metric]), Q, k, 0)
        expected = find_neighbours(AllPairs(space, METRICS[metric]), Q, k, 0)
        np.testing.assert_array_equal(proposed[1], expected[1])
        np.testing.assert_array_equal(proposed[0], expected[0])


def test_slices_and_threads_change_nothing(monkeypatch):
    X, Q = tables(40)["grid"]
    for finder, metric in ((AllPairs, "manhattan"), (Products, "euclidean"), (Tree, "euclidean")):
        space = space_of(X, metric)
        whole = find_neighbours(finder(space, METRICS[metric]), Q, 5, 0)
        monkeypatch.setattr(finder, "per_slice", lambda self, k: 7)
        with limit_threads(1):
            sliced = find_neighbours(finder(space, METRICS[metric]), Q, 5, 0)
        monkeypatch.undo()
        np.testing.assert_array_equal(whole[1], sliced[1])
        np.testing.assert_array_equal(whole[0], sliced[0])


def test_who_is_asked():
    rng = np.random.default_rng(0)
    few, many = space_of(rng.random((2000, 3))), space_of(rng.random((2000, 50)))
    gappy = space_of(np.where(rng.random((2000, 3)) < 0.1, np.nan, 1.0))
    euclidean, manhattan = METRICS["euclidean"], METRICS["manhattan"]
    asked = [
        (few, euclidean, "auto", 5, Tree),
        (few, euclidean, "brute", 5, AllPairs),
        (few, euclidean, "auto", 1999, AllPairs),
        (few, euclidean, "kd_tree", 2000, AllPairs),  # all of them: nothing to look for
        (many, euclidean, "auto", 5, Products),
        (many, manhattan, "auto", 5, AllPairs),
        (many, manhattan, "kd_tree", 5, Tree),
        (gappy, euclidean, "kd_tree", 5, AllPairs),
    ]
    for space, metric, algorithm, k, expected in asked:
        assert type(choose_finder(space, metric, algorithm, k)) is expected


def test_trees_go_with_their_samples():
    space = space_of(np.random.default_rng(0).random((50, 2)))
    find_neighbours(Tree(space, METRICS["euclidean"]), space.columns.T[:3], 2, 0)
    assert space in _search._trees
    there = weakref.ref(space)
    del space
    assert there() is None


def test_progress_is_told(monkeypatch, capsys):
    monkeypatch.setattr("tamiz.neighbors._search.Progress.update",
                        lambda self, text: print(text))  # fmt: skip
    X, Q = tables(3)["apart"]
    monkeypatch.setattr(AllPairs, "per_slice", lambda self, k: 25)
    find_neighbours(AllPairs(space_of(X), METRICS["euclidean"]), Q, 2, 1)
    assert capsys.readouterr().out.split("\n")[:3] == [f"{n} of 60 samples" for n in (25, 50, 60)]
