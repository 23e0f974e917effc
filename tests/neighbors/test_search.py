"""Three ways to find neighbours (a tree, products of matrices, all pairs), one answer."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from tamiz.neighbors import KNNClassifier
from tamiz.runtime.progress import Progress
from tests.calls import interrupted

N = 1200  # enough for products of matrices; so many queries at once are too few for them:
FEW = 20


def tables(p):
    rng = np.random.default_rng(p)
    near = rng.standard_normal((N, p))
    return {
        "apart": (near, rng.standard_normal((60, p))),
        "grid": (rng.integers(3, size=(N, p)) / 10, rng.integers(3, size=(60, p)) / 10),
        "the same twice": (np.tile(near[: N // 2], (2, 1)), near[:60]),
        "far from zero": (near + 1e6, near[:60] + 1e6),
        "a long way out": (np.vstack([near[:-1], np.full((1, p), 1e9)]), near[:60]),
        "missing in queries": (near, np.where(rng.random((60, p)) < 0.05, np.nan, near[:60])),
    }


def fitted(X, metric="euclidean", algorithm="auto", **params):
    weight = np.linspace(0.5, 2, X.shape[1])
    model = KNNClassifier(metric=metric, algorithm=algorithm, feature_weights=weight, **params)
    return model.fit(X, np.arange(len(X)) % 2)


@pytest.mark.parametrize("name", tables(2))
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_tree_finds_what_all_pairs_show(metric, name):
    X, Q = tables(3)[name]
    tree, pairs = (fitted(X, metric, algorithm) for algorithm in ("kd_tree", "brute"))
    for k in (1, 7, N):
        for mine, theirs in zip(tree.kneighbors(Q, k), pairs.kneighbors(Q, k), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", tables(2))
def test_products_find_what_all_pairs_show(name):
    X, Q = tables(40)[name]
    model = fitted(X)
    for k in (1, 7):
        parts = [model.kneighbors(Q[a : a + FEW], k) for a in range(0, len(Q), FEW)]
        for mine, theirs in zip(model.kneighbors(Q, k), zip(*parts, strict=True), strict=True):
            np.testing.assert_array_equal(mine, np.concatenate(theirs))


@pytest.mark.parametrize(("p", "metric"), [(3, "euclidean"), (40, "euclidean"), (40, "manhattan")])
def test_threads_change_nothing(p, metric):
    X, Q = tables(p)["grid"]
    one, two = (fitted(X, metric, n_jobs=n_jobs).kneighbors(Q, 5) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_array_equal(one[0], two[0])


def test_what_was_made_for_a_search_goes_with_its_samples():
    X, Q = tables(3)["apart"]
    model = fitted(X, algorithm="kd_tree")
    model.kneighbors(Q)
    there = weakref.ref(model._space)
    del model
    assert there() is None


def test_progress_is_shown_in_slices_and_ctrl_c_is_heard_between_them(limits):
    X, Q = tables(3)["apart"]
    limits("tamiz.neighbors._search", _SLICE=25 * X.size)
    with interrupted(Progress, "update", at=2) as updates, pytest.raises(KeyboardInterrupt):
        fitted(X, algorithm="brute", verbose=1).kneighbors(Q)
    assert [update.args[1] for update in updates] == ["25 of 60 samples", "50 of 60 samples"]


# ------------------------------------------------------------------------------------- scales


def test_scales_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, (200, 9)) * 10.0 ** np.arange(-4, 5)
    X[rng.random(X.shape) < 0.5] = 0.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4], X[:, 5], X[:, 6] = 0.0, 0.1, np.nan
    y, varies = np.arange(200) % 2, ~np.isin(np.arange(9), (4, 5, 6))
    deviation, width = (KNNClassifier(scaling=s).fit(X, y).scale_ for s in ("zscore", "range"))
    assert deviation[~varies].tolist() == width[~varies].tolist() == [1.0, 1.0, 1.0]
    np.testing.assert_allclose(deviation[varies], np.nanstd(X[:, varies], axis=0), rtol=1e-12)
    expected = np.nanmax(X[:, varies], axis=0) - np.nanmin(X[:, varies], axis=0)
    np.testing.assert_array_equal(width[varies], expected)


def test_the_deviation_of_a_long_column_loses_nothing():
    x = np.full(200_001, 0.1) + 1e9
    x[::2] += 1.0
    scale = KNNClassifier(1, scaling="zscore").fit(x[:, None], np.arange(len(x)) % 2).scale_
    np.testing.assert_allclose(scale, [x.std()], rtol=1e-9)
