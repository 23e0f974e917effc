"""MILPSVM: the best subset of all, or how far from it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import tamiz
from tamiz.embedded import L1SVM, MILPSVM
from tamiz.solvers.linear_program import HingeLosses
from tamiz.solvers.subset_program import SubsetProgram
from tamiz.solvers.subset_search import solve_subset_program
from tests.checks import assert_every_check_passes
from tests.naive import subset_machines as naive


def problem(seed, n=40, p=7, n_classes=2):
    """Features that overlap, so that the best subset is not the best features one by one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] = X[:, 0] + 0.6 * rng.normal(size=n)
    value = X[:, 0] - X[:, 1] + X[:, 2] + 0.7 * rng.normal(size=n)
    return X, np.digitize(value, np.quantile(value, np.arange(1, n_classes) / n_classes))


def signs(y):
    if y.max() == 1:
        return [np.where(y == 1, 1.0, -1.0)]
    return [np.where(y == k, 1.0, -1.0) for k in range(y.max() + 1)]


def singles(p):
    return [[j] for j in range(p)]


def assert_proved(machine, least, features):
    assert machine.objective_ == pytest.approx(least, rel=1e-6)
    assert np.flatnonzero(machine.support_).tolist() == list(features)
    assert machine.bound_ <= machine.objective_ and machine.gap_ <= 1e-4
    assert machine.status_ == "converged"
    assert not machine.coef_[:, ~machine.support_].any()


@pytest.mark.parametrize(("seed", "k", "C"), [(0, 2, 1.0), (1, 3, 0.3), (2, 1, 10.0), (3, 4, 0.1)])
def test_equals_exhaustive_search(seed, k, C):
    X, y = problem(seed)
    machines = [HingeLosses(s, np.full(40, C)) for s in signs(y)]
    least, features = naive.best_subset(X, machines, singles(7), lambda S: len(S) <= k)
    machine = MILPSVM(k, C=C, tol=1e-6).fit(X, y)
    used = [j for j in features if machine.coef_[0, j]]  # more are allowed than may help
    assert_proved(machine, least, used)
    assert machine.start_objective_ >= machine.objective_ - 1e-9


@pytest.mark.parametrize("k", [3, 5])
def test_equals_exhaustive_search_of_fifteen_features(k):
    X, y = problem(0, n=24, p=15)
    machines = [HingeLosses(signs(y)[0], np.full(24, 0.5))]
    # a smaller subset is no better than one that contains it
    least, features = naive.best_subset(X, machines, singles(15), lambda S: len(S) == k)
    assert len(features) == k
    assert_proved(MILPSVM(k, C=0.5, tol=1e-6).fit(X, y), least, features)


def test_several_classes_share_the_subset():
    X, y = problem(4, n=45, p=5, n_classes=3)
    machines = [HingeLosses(s, np.ones(45)) for s in signs(y)]
    least, features = naive.best_subset(X, machines, singles(5), lambda S: len(S) <= 2)
    machine = MILPSVM(2, tol=1e-6).fit(X, y)
    assert_proved(machine, least, features)
    assert machine.coef_.shape == (3, 5)


def test_costs_and_budget():
    X, y = problem(0)
    costs = np.array([1.0, 1.0, 5.0, 2.0, 2.0, 0.5, 0.0])
    machines = [HingeLosses(signs(y)[0], np.ones(40))]
    within = naive.best_subset(X, machines, singles(7), lambda S: costs[S].sum() <= 3)
    both = naive.best_subset(X, machines, singles(7), lambda S: costs[S].sum() <= 3 and len(S) <= 2)
    for found, (least, _) in [
        (MILPSVM(costs=costs, budget=3.0, tol=1e-6), within),
        (MILPSVM(3, costs=costs, tol=1e-6), within),  # the number is the budget
        (MILPSVM(2, costs=costs, budget=3.0, tol=1e-6), both),
    ]:
        found.fit(X, y)
        assert found.objective_ == pytest.approx(least, rel=1e-6)
        assert costs[found.support_].sum() <= 3 and not found.support_[2]
    assert both[0] > within[0] + 1e-3


def test_groups_are_selected_together():
    X, y = problem(1)
    groups = [[0, 3], [1, 4, 5], [2], [6]]
    machines = [HingeLosses(signs(y)[0], np.ones(40))]
    least, features = naive.best_subset(X, machines, groups, lambda S: len(S) <= 3)
    machine = MILPSVM(3, feature_groups=groups[:2], tol=1e-6).fit(X, y)
    assert machine.objective_ == pytest.approx(least, rel=1e-6)
    assert np.flatnonzero(machine.support_).tolist() == list(features)


def test_the_form_of_the_authors():
    """Losses alone, weights within a box."""
    X, y = problem(2)
    machines = [HingeLosses(signs(y)[0], np.ones(40))]
    least, _ = naive.best_subset(X, machines, singles(7), lambda S: len(S) <= 2, box=1.5)
    machine = MILPSVM(2, weight_bound=1.5, tol=1e-6).fit(X, y)
    assert machine.objective_ == pytest.approx(least, rel=1e-6)
    assert np.abs(machine.coef_).max() <= 1.5 + 1e-9 and machine.support_.sum() <= 2


def test_all_features_allowed_is_the_l1_machine():
    X, y = problem(3)
    machine, convex = MILPSVM(7).fit(X, y), L1SVM().fit(X, y)
    assert machine.objective_ == pytest.approx(convex.objective_, rel=1e-6)
    np.testing.assert_array_equal(machine.support_, convex.support_)


def test_units_of_columns_do_not_matter_to_the_solver():
    X, y = problem(0)
    size = np.array([1e6, 1.0, 1e-5, 1.0, 1.0, 1.0, 1.0])
    machines = [HingeLosses(signs(y)[0], np.ones(40))]
    scaled = SubsetProgram(
        X * size + 1e4 * size,
        machines,
        1.0 * size,
        np.arange(7),
        np.ones((1, 7)),
        np.array([2.0]),
    )
    plain = scaled._replace(X=X, c=np.ones(7))
    found, expected = (solve_subset_program(one, tol=1e-6) for one in (scaled, plain))
    assert found.fit.objective == pytest.approx(expected.fit.objective, rel=1e-6)
    np.testing.assert_allclose(found.fit.W * size, expected.fit.W, atol=1e-5)
    np.testing.assert_array_equal(found.fit.chosen, expected.fit.chosen)


@pytest.mark.parametrize("seed", [6, 28, 55])
def test_a_start_that_is_not_the_best_is_left_behind(seed):
    """The bounds on the weights, derived from such a start, must not cut off the best subset."""
    rng = np.random.default_rng(seed)
    mixture = rng.normal(size=(4, 10))
    X = rng.normal(size=(40, 4)) @ mixture + 0.3 * rng.normal(size=(40, 10))
    y = np.where(X @ rng.normal(size=10) + rng.normal(size=40) > 0, 1.0, -1.0)
    machines = [HingeLosses(y, np.ones(40))]
    least, features = naive.best_subset(X, machines, singles(10), lambda S: len(S) <= 2)
    limit = np.ones((1, 10)), np.array([2.0])
    program = SubsetProgram(X, machines, np.ones(10), np.arange(10), *limit)
    found = solve_subset_program(program, tol=1e-6)
    assert found.start > 1.01 * found.fit.objective
    assert found.fit.objective == pytest.approx(least, rel=1e-6) and found.status == "converged"
    assert np.flatnonzero(found.fit.chosen).tolist() == list(features)


def test_time_is_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    y = (X[:, :6].sum(axis=1) + rng.normal(size=80) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match=r"time was up after 0\.05 s; ") as said:
        machine = MILPSVM(6, time_limit=0.05).fit(X, y)
    above = 100 * (machine.objective_ / machine.bound_ - 1)
    assert f"at most {above:.3g} % above the least one (bound_)" in str(said[0].message)
    assert machine.status_ == "time_limit" and machine.gap_ > 1e-4
    assert 0 < machine.bound_ < machine.objective_
    assert machine.gap_ == pytest.approx(1 - machine.bound_ / machine.objective_)
    assert 0 < machine.support_.sum() <= 6


def test_preselection_narrows_the_choice():
    X, y = problem(1, p=12)
    machine = MILPSVM(2, preselect=4).fit(X, y)
    assert machine.objective_ >= MILPSVM(2).fit(X, y).objective_ - 1e-9
    assert machine.coef_.shape == (1, 12) and machine.support_.sum() <= 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [0, 1])
def test_what_preselection_leaves_out_is_out_of_play(seed):
    X, y = problem(seed, p=12)
    machine = MILPSVM(2, preselect=6).fit(X, y)
    assert machine.status_ == "converged" and machine.support_.sum() <= 2
    costs = np.r_[np.full(3, 9.0), np.ones(9)]  # the features that tell most are too dear
    dear = MILPSVM(costs=costs, budget=2.0, preselect=2).fit(X, y)
    assert 0 < dear.support_.sum() <= 2 and not dear.support_[:3].any()


def test_costs_by_name():
    X, y = problem(0)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    costs = pd.Series([1.0, 1.0, 5.0, 2.0, 2.0, 0.5, 0.0], index=list("abcdefg"))
    plain = MILPSVM(costs=costs.to_numpy(), budget=3.0).fit(frame, y)
    for named in (costs[::-1], dict(costs[::-1])):
        found = MILPSVM(costs=named, budget=3.0).fit(frame, y)
        np.testing.assert_array_equal(found.support_, plain.support_)
    with pytest.raises(ValueError, match=r"costs names 'z', which X does not have; its columns"):
        MILPSVM(costs={**costs, "z": 1.0}, budget=3.0).fit(frame, y)
    with pytest.raises(ValueError, match=r"costs does not name 'c'; give a value for every"):
        MILPSVM(costs=costs.drop("c"), budget=3.0).fit(frame, y)


def test_sparse_equals_dense():
    X, y = problem(0)
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = MILPSVM(2).fit(X, y), MILPSVM(2).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.support_, thin.support_)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"budget": 2.0}, "budget limits the sum of costs; give costs as well"),
        ({"costs": [1.0, 2.0]}, r"costs has shape \(2,\); X has 7 features"),
        ({"costs": [-1.0] + [1.0] * 6}, "costs must not be negative"),
        (
            {"costs": [5.0] * 7, "budget": 4.0},
            r"No feature can be selected: the cheapest feature costs 5, budget is 4\. Raise budget",
        ),
        (
            {"n_features_to_select": 1, "feature_groups": [[0, 1], [2, 3], [4, 5, 6]]},
            r"the smallest feature or group has 2, n_features_to_select is 1\. Raise",
        ),
        ({"costs": [1.0] * 7}, "costs are given, but no budget"),
        ({"n_features_to_select": -2, "costs": [1.0] * 7}, "positive budget"),
        ({"n_features_to_select": 8}, "exceeds the 7 features"),
    ],
)
def test_what_cannot_be_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        MILPSVM(**params).fit(*problem(0))


def test_saved_and_loaded(tmp_path):
    X, y = problem(0)
    machine = MILPSVM(2).fit(X, y)
    tamiz.save(machine, tmp_path / "m.tamiz")
    loaded = tamiz.load(tmp_path / "m.tamiz")
    np.testing.assert_array_equal(loaded.predict(X), machine.predict(X))
    assert loaded.gap_ == machine.gap_


def test_scikit_learn_checks():
    assert_every_check_passes(MILPSVM(time_limit=None))
