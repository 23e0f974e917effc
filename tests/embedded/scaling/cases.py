"""Data and checks that the three selectors by scaling factors share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tamiz.embedded.scaling import machines
from tamiz.embedded.scaling.machines import Sample
from tamiz.solvers import Status
from tamiz.validation import Labels
from tests.calls import interrupted, watched


def clouds(seed=0, n=400, noise=50, spread=0.35, like_clouds=False):
    """Four Gaussian clouds, the class their exclusive or, among features without meaning."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, n))
    X = rng.standard_normal((n, noise + 2))
    if like_clouds:  # all features have the same distribution
        X = 2.0 * rng.integers(0, 2, X.shape) - 1.0 + spread * X
    X[:, 0] = 2 * a - 1 + spread * rng.standard_normal(n)
    X[:, 1] = 2 * b - 1 + spread * rng.standard_normal(n)
    return (X - X.mean(axis=0)) / X.std(axis=0), a ^ b


def sample(seed=0, n=24, p=4, C=1.3, classes=2):
    """A small problem with penalties that differ."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    codes = np.arange(n) % classes
    X[:, 0] += 0.8 * codes
    penalty = C * rng.uniform(0.5, 2.0, n)
    return Sample(X, Labels(np.arange(classes), codes.astype(np.intp)), np.ones(n), penalty)


def differences(objective, sigma, h=1e-5):
    """Central differences of an objective."""
    out = np.empty(len(sigma))
    for j in range(len(sigma)):
        up, down = sigma.copy(), sigma.copy()
        up[j] += h
        down[j] -= h
        out[j] = (objective.at(up).value - objective.at(down).value) / (2 * h)
    return out


def check_common(selector, X, y):
    """What holds for every fitted selector by scaling factors."""
    p = X.shape[1]
    assert sorted(selector.order_) == list(range(p))
    assert (np.diff(selector.history_) < 0).all()
    assert (selector.scale_ >= 0).all()
    assert not selector.scale_[~selector.support_].any()
    steps = selector.selection_.path
    sizes = [step.n_features for step in steps]
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 1
    dropped = [j for step in steps for j in step.features]
    assert len(dropped) == len(set(dropped)) == p - 1
    np.testing.assert_array_equal(selector.order_, [selector.order_[0], *dropped[::-1]])
    # predict multiplies by the factors
    kept = np.flatnonzero(selector.support_)
    expected = selector.estimator_.decision_function(X[:, kept] * selector.scale_[kept])
    np.testing.assert_array_equal(selector.decision_function(X), expected)


def check_interrupted_at_once(make):
    """Nothing is known about the objective then, and nothing is made up."""
    X, y = clouds(0, n=40, noise=2)
    told = pytest.warns(ConvergenceWarning, match="interrupted")
    with interrupted(machines, "solve"), told as caught:
        selector = make().fit(X, y)
    assert caught[0].filename == __file__
    assert selector.objective_ is None and len(selector.history_) == 0
    assert selector.support_.all() and selector.predict(X).shape == y.shape


def check_failed_machines(make, monkeypatch):
    """Inner problems that end before their tolerance are counted and reported."""
    X, y = clouds(0, n=40, noise=2)
    assert make().fit(X, y).selection_.notes["n_failed"] == 0
    solve, calls = machines.solve, [0]

    def failing(*args, **kwargs):
        calls[0] += 1
        status = Status.STALLED if calls[0] in (3, 4, 9) else Status.CONVERGED
        return solve(*args, **kwargs)._replace(status=status)

    monkeypatch.setattr(machines, "solve", failing)
    with pytest.warns(ConvergenceWarning, match="3 of the machines trained on the way") as caught:
        selector = make().fit(X, y)
    assert caught[0].filename == __file__
    assert selector.selection_.notes["n_failed"] == 3


def check_resuming(make, X, y, path):
    """A run interrupted half-way and resumed ends where an uninterrupted one does."""
    with watched(machines, "solve") as calls:
        whole = make().fit(X, y)
    for k, fraction in enumerate((0.2, 0.6, 0.9)):
        file = path / f"{k}.npz"
        part = make(checkpoint=file)
        ctrl_c = interrupted(machines, "solve", at=int(fraction * len(calls)))
        with ctrl_c, pytest.warns(ConvergenceWarning, match="interrupted"):
            part.fit(X, y)
        assert part.status_ == "interrupted"
        assert sorted(part.order_) == list(range(X.shape[1]))
        assert part.predict(X).shape == y.shape
        with pytest.raises(FileExistsError, match="resume=True"):
            make(checkpoint=file).fit(X, y)
        for _ in range(2):  # the second time nothing is left to do
            resumed = make(checkpoint=file, resume=True).fit(X, y)
            assert resumed.status_ == "converged"
            np.testing.assert_array_equal(resumed.order_, whole.order_)
            # nothing is solved twice on the way, so that not even a last digit differs
            np.testing.assert_array_equal(resumed.scale_, whole.scale_)
            np.testing.assert_array_equal(resumed.history_, whole.history_)
            assert resumed.selection_.path[-1].features == whole.selection_.path[-1].features
