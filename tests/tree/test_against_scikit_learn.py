"""Trees of twenty data sets beside those of scikit-learn: the script behind the table, checked."""

from __future__ import annotations

import runpy

import pytest
from sklearn.tree import DecisionTreeClassifier

from tamiz.tree import CARTClassifier
from tests.conftest import ROOT

SCRIPT = runpy.run_path(str(ROOT / "examples" / "tree_against_scikit_learn.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCRIPT["BUNDLED"], *SCRIPT["STORED"]])
def test_the_same_splits(name):
    """No split gains less than the best, so that only ties tell the two trees apart."""
    X, y = SCRIPT["numbers"](name)
    step = -(-len(y) // 600)  # the script takes all samples
    X, y = X[::step], y[::step]
    ours = CARTClassifier().fit(X, y)
    peers = [DecisionTreeClassifier(random_state=seed).fit(X, y) for seed in range(3)]
    errors = {int((peer.predict(X) != y).sum()) for peer in peers}
    assert errors == {int((ours.predict(X) != y).sum())}
    leaves = [peer.get_n_leaves() for peer in peers]
    ties = max(2, 0.02 * max(leaves))
    assert min(leaves) - ties <= ours.get_n_leaves() <= max(leaves) + ties
    assert SCRIPT["shortfall"](ours, X, y) < 1e-12
