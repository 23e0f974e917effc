"""Input that several embedded selectors meet with the same sentence."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz import ForwardSelection
from tamiz.embedded import SVMRFE, HoldOutSVM, l1_svm_path

Y = np.arange(20) % 2
X = np.random.default_rng(0).normal(size=(20, 4))


@pytest.mark.parametrize("selector", [SVMRFE(2), HoldOutSVM(), ForwardSelection()])
def test_nobody_to_do_the_work(selector):
    with pytest.raises(ValueError, match="n_jobs=0 leaves no thread"):
        selector.set_params(n_jobs=0).fit(X, Y)


@pytest.mark.parametrize("selector", [SVMRFE(2), HoldOutSVM()])
def test_constant_features_only(selector):
    with pytest.warns(UserWarning, match="every feature of X is constant"):
        selector.fit(np.ones((20, 4)), Y)


def test_names_of_a_path():
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="1 names for 4 features"):
        l1_svm_path(X, Y, n_values=4).plot(names=["a"])
