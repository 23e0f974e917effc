"""A fit that fails takes nothing away: what had been fitted before still predicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.svm.cases import (
    KERNEL,
    LABELS,
    NAMES,
    SUPERVISED,
    TARGET,
    WEIGHTED,
    N,
    X,
    every,
    machine,
    refuses,
    target,
)


def later_failures(name):
    """Refits on a wider table with other labels that fail, each at another place."""
    wide = pd.DataFrame(np.c_[X, X], columns=list("abcdef"))
    y = TARGET if name == "SVR" else np.where(LABELS > 0, "up", "down")
    yield "table", lambda m: m.fit(np.full((N, 6), np.nan), y)
    yield "overflow", lambda m: m.fit(1e300 * wide, y)
    if name in SUPERVISED:
        yield "target", lambda m: m.fit(wide, y[:-1])
    if name in WEIGHTED:
        yield "weight", lambda m: m.fit(wide, y, sample_weight=-np.ones(N))
    if name in KERNEL:
        bad = lambda A, B: np.full((len(A), len(B)), np.nan)  # noqa: E731
        yield "kernel", lambda m: m.set_params(kernel=bad).fit(wide, y)
        yield "parameter", lambda m: m.set_params(tol=-1.0).fit(wide, y)
    if name in ("SVC", "PegasosClassifier", "SubgradientClassifier", "LinearMachine"):
        yield "class weight", lambda m: m.set_params(class_weight={5: 1.0}).fit(wide, y)
    if name == "BudgetSVC":
        lot = np.where(np.random.default_rng(1).random(N) > 0.5, "up", "down")
        yield "budget", lambda m: m.set_params(kernel="linear", budget=0.01).fit(wide, lot)
    if name == "HardMarginSVC":
        lot = np.where(np.random.default_rng(1).random(N) > 0.5, "up", "down")
        yield "not separable", lambda m: m.fit(wide, lot)


@every
def test_a_failed_refit_leaves_the_machine_as_it_was(name):
    for where, fail in later_failures(name):
        fitted = machine(name).fit(pd.DataFrame(X, columns=NAMES), target(name))
        before = vars(fitted).copy()
        expected = fitted.predict(pd.DataFrame(X, columns=NAMES))
        with pytest.raises(ValueError):  # noqa: PT011 - which sentence, other tests ask
            fail(fitted)
        after = {key: value for key, value in vars(fitted).items() if key.endswith("_")}
        assert all(before[key] is value for key, value in after.items() if key != "lambda_"), where
        assert set(vars(fitted)) == set(before), where
        fitted.set_params(**machine(name).get_params())
        np.testing.assert_array_equal(fitted.predict(pd.DataFrame(X, columns=NAMES)), expected)


@every
def test_a_failed_first_fit_leaves_no_half_fitted_machine(name):
    for _, fail in later_failures(name):
        fresh = machine(name)
        with pytest.raises(ValueError):  # noqa: PT011
            fail(fresh)
        refuses(lambda m=fresh: m.set_params(**machine(name).get_params()).predict(X), "not fitted")
