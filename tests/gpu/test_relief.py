"""Relief on the card: the same neighbours, hence the same scores, as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from tamiz.filters import Relief, ReliefF, RReliefF
from tamiz.gpu import emulated
from tamiz.validation import NotEnoughMemoryError
from tests.gpu.compiled import compiled_lane, needs_compiler


def table(n, kind, seed=0):
    """Numbers, integers that tie, symbols, and values that are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 7)) + y[:, None] * rng.random(7)
    if kind == "ties":
        X = np.rint(X)
    if kind == "missing":
        X[:, 4:] = np.where(rng.random((n, 3)) < 0.3, np.nan, np.rint(X[:, 4:]))
    return X, y


@pytest.fixture(params=["twin", pytest.param("compiled", marks=needs_compiler)])
def lane(request, tmp_path_factory):
    """An emulated card: by the twins in NumPy, or by the kernels, compiled for the CPU."""
    if request.param == "twin":
        with emulated() as lane:
            yield lane
    else:
        with compiled_lane(tmp_path_factory.mktemp("kernels")) as lane:
            yield lane


@pytest.mark.parametrize("selector", [Relief(), ReliefF(n_neighbors=4), RReliefF(n_neighbors=4)])
@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("kind", ["numbers", "ties", "missing"])
@pytest.mark.parametrize("symbols", [None, [0, 1], [0, 4]])
def test_scores_are_those_of_the_cpu(lane, selector, metric, kind, symbols):
    X, y = table(150, kind)
    if symbols is not None:
        X[:, symbols] = np.rint(X[:, symbols])
    options = {"metric": metric, "categorical_features": symbols, "random_state": 0}
    selector = clone(selector).set_params(**options)
    right = selector.fit(X, y).scores_
    found = selector.set_params(device="cuda").fit(X, y).scores_
    np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("memory", [200_000, None])
def test_samples_and_scales_as_on_the_cpu(memory):
    X, y = table(150, "ties")
    weight = np.linspace(0.0, 2.0, 150)
    with emulated(memory=memory):
        for options in ({"n_samples": 40}, {"scaling": "none"}, {"ties": "index"}):
            selector = ReliefF(n_neighbors=3, random_state=1, **options)
            right = selector.fit(X, y, weight).scores_
            found = selector.set_params(device="auto").fit(X, y, weight).scores_
            np.testing.assert_array_equal(found, right)
            found = selector.fit_stream([(X, y)]).scores_
            np.testing.assert_array_equal(found, selector.set_params(device=None).fit(X, y).scores_)


def test_too_small_a_card_is_a_sentence_with_the_size_that_would_fit():
    X, y = table(150, "numbers")
    sentence = r"^Distances of 150 samples in 7 features .* About \d+ samples would fit"
    with emulated(memory=50_000), pytest.raises(NotEnoughMemoryError, match=sentence):
        ReliefF(device="cuda").fit(X, y)
