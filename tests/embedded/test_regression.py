"""Selectors on numeric targets: order, criteria, contract; SVR in place of SVC."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR as PeerSVR

from tamiz.embedded import (
    FSV,
    KPSVM,
    L1SVM,
    SVMRFE,
    AdaptiveScaling,
    HoldOutSVM,
    RadiusMarginScaling,
    RobustLP,
)
from tamiz.embedded.holdout import judges
from tamiz.embedded.holdout.elimination import new_seed
from tamiz.embedded.holdout.judges import NumericLoss
from tamiz.embedded.rfe.machines import KernelMachines, LinearMachines
from tamiz.embedded.scaling.machines import DualOptimum, RadiusMargin, Sample, TubeTarget
from tamiz.kernels import RBF, Linear
from tamiz.svm import SVR
from tests.calls import interrupted
from tests.checks import assert_every_check_passes
from tests.naive import holdout as naive_kernels
from tests.naive import regression as oracle

FAMILY = [SVMRFE, HoldOutSVM, KPSVM, AdaptiveScaling, RadiusMarginScaling]

#: The checks are about the contract, and fit some fifty times.
COARSE = {"tol": 0.1, "step": "half", "max_iter": 3}


def table(n=50, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = 2 * X[:, 1] - X[:, 3] + 0.5 * X[:, 0] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, y


def product(n=200, p=8, seed=0):
    """Two of the features matter, together only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 2] * X[:, 5] + 0.1 * rng.normal(size=n)


# ---------------------------------------------------------------------- SVM-RFE


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_elimination_equals_naive_loop(name, epsilon):
    X, y = table(n=24, p=5)
    kernel = naive_kernels.linear if name == "linear" else naive_kernels.radial(0.2)
    expected = oracle.eliminate(kernel, X, y, C=2.0, epsilon=epsilon)
    rfe = SVMRFE(2, task="regression", kernel=name, gamma=0.2, C=2.0, epsilon=epsilon).fit(X, y)
    assert rfe.order_[::-1].tolist() == expected
    step = rfe.selection_.path[0]
    units = [[j] for j in range(5)]
    changes = oracle.norm_changes(kernel, X, y, units, range(5), C=2.0, epsilon=epsilon)
    assert step.value == pytest.approx(min(changes.values()), rel=1e-5)


@pytest.mark.parametrize(
    ("shape", "C"),
    [((80, 12), 0.05), ((80, 12), 1.0), ((40, 5), 50.0), ((30, 60), 0.05), ((30, 60), 1.0)],
    ids=str,
)
def test_linear_elimination_equals_refits_by_scikit_learn(shape, C):
    X, y = table(*shape)
    rfe = SVMRFE(4, task="regression", C=C, epsilon=0.2).fit(X, y)
    peer = RFE(PeerSVR(kernel="linear", C=C, epsilon=0.2, tol=1e-7), n_features_to_select=1)
    assert np.array_equal(np.argsort(peer.fit(X, y).ranking_), rfe.order_)
    machine = PeerSVR(kernel="linear", C=C, epsilon=0.2, tol=1e-7).fit(X[:, rfe.support_], y)
    np.testing.assert_allclose(rfe.estimator_.coef_, machine.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(rfe.predict(X), machine.predict(X[:, rfe.support_]), atol=2e-3)


@pytest.mark.parametrize("sparse_input", [False, True])
def test_sparse_samples_and_groups(sparse_input, limits):
    from tamiz.embedded.rfe import elimination

    X, y = table(n=30, p=6)
    groups = [[0, 2], [1], [3, 4], [5]]
    expected = oracle.eliminate(naive_kernels.linear, X, y, units=groups)
    if sparse_input:
        limits(elimination, MOST_DENSE_BYTES=0)
        X = sparse.csr_array(X)
    rfe = SVMRFE(2, task="regression", feature_groups=groups).fit(X, y)
    left = [step.features[0] for step in rfe.selection_.path]
    assert left == [groups[u][0] for u in expected[:-1]]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_count_as_repetitions(kernel):
    X, y = table(n=30)
    times = np.random.default_rng(1).integers(0, 4, size=30)
    options = {"kernel": kernel, "gamma": 0.2, "task": "regression", "scale_target": True}
    weighed = SVMRFE(2, **options).fit(X, y, sample_weight=times)
    repeated = SVMRFE(2, **options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighed.order_.tolist() == repeated.order_.tolist()
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), atol=2e-3)
    values = [[step.value for step in rfe.selection_.path] for rfe in (weighed, repeated)]
    np.testing.assert_allclose(*values, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fold_errors_are_those_of_machines_fitted_in_the_fold(kernel):
    X, y = table()
    options = {"kernel": kernel, "gamma": 0.1, "step": 2}
    rfe = SVMRFE("best", task="regression", cv=3, **options).fit(X, y)
    assert rfe.cv_sizes_.tolist() == [6, 4, 2, 1]
    for k, (train, test) in enumerate(KFold(3).split(X)):
        inner = SVMRFE(1, task="regression", **options).fit(X[train], y[train])
        for size, error in zip(rfe.cv_sizes_, rfe.cv_errors_[k], strict=True):
            kept = np.sort(inner.order_[:size])
            machine = SVR(kernel=kernel, gamma=0.1, tol=1e-8).fit(X[train][:, kept], y[train])
            off = np.abs(machine.predict(X[test][:, kept]) - y[test]).mean()
            assert error == pytest.approx(off, rel=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_machines_follow_large_tables_that_hold_no_matrix(kernel, limits):
    """The way without a kernel matrix, and the one with more free variables than there is room."""
    from tamiz.embedded.rfe import machines
    from tamiz.svm.path import following

    X, y = table(n=60)
    options = {"task": "regression", "kernel": kernel, "gamma": 0.1, "epsilon": 0.05}
    expected = SVMRFE(2, **options).fit(X, y)
    limits(machines, MOST_BYTES=0)
    assert SVMRFE(2, **options).fit(X, y).order_.tolist() == expected.order_.tolist()
    limits(machines, MOST_BYTES=2**30)
    limits(following, MOST_FREE=3)
    again = SVMRFE(2, **options).fit(X, y)
    assert again.order_.tolist() == expected.order_.tolist() and again.status_ == "converged"


@pytest.mark.parametrize(
    "options", [{"step": 2}, {"kernel": "rbf"}, {"step": 2, "n_features_to_select": "best"}]
)
def test_resumed_elimination_equals_an_uninterrupted_one(tmp_path, options, save_every_step):
    X, y = table(p=9)
    expected = SVMRFE(task="regression", **options).fit(X, y)
    kind = KernelMachines if options.get("kernel") == "rbf" else LinearMachines
    file = tmp_path / "state.npz"
    asked = {"task": "regression", "checkpoint": file, "resume": True, **options}
    with interrupted(kind, "drop", 3), pytest.warns(ConvergenceWarning, match="interrupted"):
        half = SVMRFE(**asked).fit(X, y)
    assert half.status_ == "interrupted" and hasattr(half, "estimator_")
    again = SVMRFE(**asked).fit(X, y)
    assert again.status_ == "converged"
    assert again.order_.tolist() == expected.order_.tolist()
    assert again.support_.tolist() == expected.support_.tolist()


# ---------------------------------------------------------------------- hold-out elimination


@pytest.mark.parametrize("loss", ["absolute", "squared", "epsilon_insensitive"])
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_hold_out_elimination_equals_naive_loop(name, loss):
    X, y = table(n=24, p=5)
    kernel = naive_kernels.linear if name == "linear" else naive_kernels.radial(0.2)
    options = {"C": 2.0, "epsilon": 0.3, "loss": loss}
    held = HoldOutSVM(
        task="regression", kernel=name, gamma=0.2, tol=1e-8, random_state=3, **options
    )
    held.fit(X, y)
    steps = oracle.hold_out(kernel, X, y, seed=new_seed(3), held_out=7, **options)
    path = held.selection_.path
    assert [step.features[0] for step in path[1:]] == [gone for _, _, gone in steps[:-1]]
    np.testing.assert_allclose(held.errors_, [present for present, *_ in steps], rtol=1e-5)
    for step, (_, without, _) in zip(path[1:], steps[:-1], strict=True):
        assert dict(zip(step.details["features"], step.details["without"], strict=True)) == (
            pytest.approx(without, rel=1e-4)
        )


def test_hold_out_splits_tuning_and_other_judges():
    X, y = product()
    chosen = HoldOutSVM(2, task="regression", tune={"C": [1, 30], "gamma": [1e-3, 0.2]})
    chosen.set_params(random_state=0, splits_per_step=2, n_jobs=2).fit(X, y)
    assert sorted(chosen.order_[:2]) == [2, 5] and chosen.kernel_.gamma == 0.2
    table_of = {(one["C"], one["gamma"]): one["error"] for one in chosen.tuning_}
    assert min(table_of, key=table_of.get) == (chosen.C_, 0.2)
    assert chosen.selection_.notes["n_validation"] == 60
    X, y = table(n=80)
    judged = HoldOutSVM(task="regression", estimator=LinearRegression(), random_state=0).fit(X, y)
    assert set(judged.order_[:2]) == {1, 3}
    assert type(judged.estimator_) is LinearRegression
    screened = HoldOutSVM(task="regression", prefilter="auto", random_state=0).fit(X, y)
    assert screened.pvalues_[1] < 1e-4 and set(screened.order_[:2]) == {1, 3}


def test_resumed_hold_out_elimination_equals_an_uninterrupted_one(tmp_path, save_every_step):
    X, y = table()
    options = {"task": "regression", "random_state": 5}
    expected = HoldOutSVM(**options).fit(X, y)
    options |= {"checkpoint": tmp_path / "state.npz"}
    with interrupted(judges, "fit_tube", 3), pytest.warns(ConvergenceWarning, match="interrupted"):
        half = HoldOutSVM(**options).fit(X, y)
    assert half.status_ == "interrupted" and len(half.selection_.path) == 3
    again = HoldOutSVM(resume=True, **options).fit(X, y)
    assert again.order_.tolist() == expected.order_.tolist()
    assert again.errors_.tolist() == expected.errors_.tolist()


def test_small_units_of_the_target_are_no_ties():
    X, y = table()
    options = {"task": "regression", "scale_target": True, "random_state": 0, "tol": 1e-12}
    expected, tiny = (HoldOutSVM(**options).fit(X, unit * y) for unit in (1.0, 2.0**-40))
    assert expected.order_.tolist() == tiny.order_.tolist()
    assert len(set(tiny.errors_)) == len(tiny.errors_)


def test_losses():
    guess, truth = np.array([1.0, 2.0, -1.0]), np.array([1.5, 2.0, 1.0])
    for kind in ("absolute", "squared", "epsilon_insensitive"):
        mean = oracle.losses(guess - truth, kind, 0.6)
        assert NumericLoss(kind, 0.6)(guess, truth).mean() == pytest.approx(mean)


# ---------------------------------------------------------------------- scaling factors


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Linear()], ids=str)
@pytest.mark.parametrize("objective", [DualOptimum, RadiusMargin])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_derivatives_are_those_of_finite_differences(objective, kernel, epsilon):
    X, y = table(n=30, p=4)
    rng = np.random.default_rng(3)
    weight, sigma = rng.choice([1.0, 2.0], 30), rng.uniform(0.5, 1.5, 4)
    there = objective(kernel, Sample(X, TubeTarget(y, epsilon), weight, np.full(30, 2.0)))
    slope = there.at(sigma).gradient()
    h = 1e-5
    measured = [
        (there.at(sigma + h * e).value - there.at(sigma - h * e).value) / (2 * h) for e in np.eye(4)
    ]
    np.testing.assert_allclose(slope, measured, rtol=1e-5, atol=1e-6 * np.abs(slope).max())


def test_objectives_equal_their_definitions():
    X, y = table(n=20, p=4)
    sigma = np.array([0.5, 1.0, 1.5, 0.7])
    sample = Sample(X, TubeTarget(y, 0.2), np.ones(20), np.full(20, 3.0))
    K = RBF(gamma=0.2)(X * sigma)
    expected = oracle.dual_optimum(K, y, 3.0, 0.2)
    assert DualOptimum(RBF(gamma=0.2), sample).at(sigma).value == pytest.approx(expected, rel=1e-6)
    machine = SVR(C=1.5, epsilon=0.2, loss="squared", kernel="precomputed", tol=1e-8).fit(K, y)
    shifted = K + np.eye(20) / 3.0
    coef = machine.alpha_[0] - machine.alpha_[1]
    ball = RadiusMargin(RBF(gamma=0.2), sample)
    value = ball.at(sigma).value
    assert value / (coef @ shifted @ coef) == pytest.approx(radius_of(shifted), rel=1e-4)


def radius_of(K):
    from tests.naive.scaling import _maximum

    return _maximum(2.0 * K, np.diag(K), np.ones(len(K)), 1.0, [None] * len(K))


@pytest.mark.parametrize("kind", [KPSVM, AdaptiveScaling, RadiusMarginScaling])
def test_scaling_weights_count_as_repetitions(kind):
    X, y = table(n=24, p=4)
    times = np.random.default_rng(1).integers(0, 3, size=24)
    weighed = kind(task="regression").fit(X, y, sample_weight=times)
    repeated = kind(task="regression").fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighed.order_.tolist() == repeated.order_.tolist()
    np.testing.assert_allclose(weighed.scale_, repeated.scale_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [KPSVM, AdaptiveScaling, RadiusMarginScaling])
def test_resumed_descent_equals_an_uninterrupted_one(tmp_path, kind):
    X, y = table(n=30, p=5)
    expected = kind(task="regression").fit(X, y)
    objective = RadiusMargin if kind is RadiusMarginScaling else DualOptimum
    asked = {"task": "regression", "checkpoint": tmp_path / "state.npz", "resume": True}
    with interrupted(objective, "_solve", 9), pytest.warns(ConvergenceWarning, match="interrupted"):
        half = kind(**asked).fit(X, y)
    assert half.status_ == "interrupted"
    again = kind(**asked).fit(X, y)
    assert again.order_.tolist() == expected.order_.tolist()
    np.testing.assert_allclose(again.scale_, expected.scale_, rtol=1e-9)


# ---------------------------------------------------------------------- the ℓ1 machine


@pytest.mark.parametrize("C", [0.003, 0.05, 1.0])
def test_l1_without_a_tube_is_the_median_regression_of_scikit_learn(C):
    X, y = table(n=60)
    machine = L1SVM(task="regression", C=C, epsilon=0.0, tol=1e-9)
    if C == 0.003:
        with pytest.warns(UserWarning, match="every weight is zero"):
            machine.fit(X, y)
    else:
        machine.fit(X, y)
    peer = QuantileRegressor(quantile=0.5, alpha=1 / (2 * 60 * C), solver="highs").fit(X, y)
    np.testing.assert_allclose(machine.coef_[0], peer.coef_, atol=1e-8)
    assert machine.objective_ == pytest.approx(
        C * np.abs(y - peer.predict(X)).sum() + np.abs(peer.coef_).sum(), rel=1e-9
    )
    assert machine.duality_gap_ <= 1e-9 * machine.objective_
    np.testing.assert_array_equal(machine.support_, machine.coef_[0] != 0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_l1_objective_is_that_of_the_textbook_program(make, epsilon):
    X, y = table(n=40)
    X[:, 4] = 1e4 + 1e3 * X[:, 4]  # one of another unit
    weight = np.random.default_rng(0).integers(0, 3, 40).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = L1SVM(task="regression", C=0.5, epsilon=epsilon)
        machine.fit(make(X), y, sample_weight=weight)
    assert machine.objective_ == pytest.approx(
        oracle.l1_minimum(X, y, 0.5 * weight, epsilon), rel=1e-7
    )
    residuals = np.abs(y - machine.predict(X))
    loss = 0.5 * weight @ np.maximum(residuals - epsilon, 0.0)
    assert loss + np.abs(machine.coef_).sum() == pytest.approx(machine.objective_, rel=1e-7)
    assert machine.duality_gap_ <= 1e-6 * machine.objective_ and machine.status_ == "converged"


def test_l1_as_regressor():
    X, y = table(n=80)
    machine = L1SVM(task="regression", C=0.05, scale_target=True)
    assert is_regressor(machine) and not hasattr(machine, "decision_function")
    machine.fit(X, y)
    assert set(machine.order_[:2]) == {1, 3} and not hasattr(machine, "classes_")
    assert machine.score(X, y) == pytest.approx(r2_score(y, machine.predict(X)))
    large = clone(machine).fit(X, 1000.0 * y + 5000.0)
    np.testing.assert_allclose(large.coef_, 1000.0 * machine.coef_, rtol=1e-6)
    fewer = clone(machine).set_params(n_features_to_select=1).fit(X, y)
    assert np.flatnonzero(fewer.coef_[0]).tolist() == [1]
    axes = L1SVM(task="regression", scale_target=True).fit(X[:, 1:2], y).plot(X[:, 1:2], y)
    words = [text.get_text() for text in axes.get_legend().texts]
    assert f"tube, ε = {0.1 * y.std():g}" in words
    assert is_classifier(L1SVM()) and hasattr(L1SVM().fit(X, y > 0), "decision_function")
    with pytest.raises(ValueError, match="class_weight='balanced' is for classes"):
        L1SVM(task="regression", class_weight="balanced").fit(X, y)


def test_estimator_checks_pass_for_the_sparse_regression():
    assert_every_check_passes(L1SVM(task="regression"))


# ---------------------------------------------------------------------- what they find


@pytest.mark.parametrize("kind", FAMILY)
def test_product_of_two_features_is_found_by_kernels_only(kind):
    X, y = product()
    options = {"task": "regression", "C": 10.0, "gamma": 0.1}
    seed = {"random_state": 0} if kind is HoldOutSVM else {}
    kernel = {} if kind is KPSVM else {"kernel": "rbf"}
    curved = kind(2, **options, **seed, **kernel).fit(X, y)
    assert set(np.flatnonzero(curved.support_)) == {2, 5}
    assert curved.score(X, y) > 0.9
    if kind in (SVMRFE, HoldOutSVM):
        straight = kind(2, task="regression", kernel="linear", **seed).fit(X, y)
        assert set(np.flatnonzero(straight.support_)) != {2, 5}
        assert straight.score(X, y) < 0.2


@pytest.mark.parametrize("kind", FAMILY)
def test_friedman_1(kind):
    n = 300 if kind in (SVMRFE, HoldOutSVM) else 200
    X, y = make_friedman1(n, n_features=20, noise=1.0, random_state=0)
    X = StandardScaler().fit_transform(X)
    options = {"task": "regression", "C": 10.0, "gamma": 0.01 if kind is SVMRFE else 0.03}
    if kind is SVMRFE:
        options |= {"kernel": "rbf", "epsilon": 0.5}
    if kind is HoldOutSVM:
        options |= {"splits_per_step": 3, "random_state": 0}
    found = kind(5, **options).fit(X, y)
    assert set(np.flatnonzero(found.support_)) == {0, 1, 2, 3, 4}


# ---------------------------------------------------------------------- the contract


@pytest.mark.parametrize("kind", FAMILY)
def test_task_and_score(kind):
    X, y = table(n=40, p=4)
    seed = {"random_state": 0} if kind is HoldOutSVM else {}
    plain, numeric, unknown = (
        kind(**seed),
        kind(task="regression", **seed),
        kind(task="auto", **seed),
    )
    assert is_classifier(plain) and not is_regressor(plain)
    assert is_regressor(numeric) and not is_classifier(numeric)
    assert not is_regressor(unknown) and not is_classifier(unknown)
    assert not hasattr(numeric, "decision_function") and hasattr(plain, "decision_function")
    numeric.fit(X, y)
    assert numeric.task_ == "regression" and not hasattr(numeric, "classes_")
    assert numeric.score(X, y) == pytest.approx(r2_score(y, numeric.predict(X)))
    assert is_regressor(unknown.fit(X, y))
    np.testing.assert_array_equal(unknown.predict(X), numeric.predict(X))
    assert is_classifier(unknown.fit(X, y > 0)) and unknown.classes_.tolist() == [False, True]
    assert not is_classifier(clone(unknown))
    assert unknown.fit(X, y).task_ == "regression" and not hasattr(unknown, "classes_")
    whole = np.round(10 * y)  # integers, of which no fold could be stratified
    assert np.isfinite(cross_val_score(numeric, X, whole, cv=4)).all()
    with pytest.raises(ValueError, match=r'Unknown label type.*set task="regression"'):
        plain.fit(X, y)
    with pytest.raises(ValueError, match="class_weight='balanced' is for classes"):
        kind(task="regression", class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="y must hold numbers"):
        kind(task="regression").fit(X, ["a", "b"] * 20)
    with pytest.raises(ValueError, match="NaN"):
        kind(task="regression").fit(X, np.where(y > 1, np.nan, y))


@pytest.mark.parametrize("kind", FAMILY)
def test_the_unit_of_the_target_does_not_matter_if_it_is_scaled(kind):
    X, y = table(n=40, p=4)
    seed = {"random_state": 0} if kind is HoldOutSVM else {}
    small = kind(task="regression", scale_target=True, **seed).fit(X, y)
    large = kind(task="regression", scale_target=True, **seed).fit(X, 1000.0 * y + 5000.0)
    assert small.order_.tolist() == large.order_.tolist()
    np.testing.assert_allclose(large.predict(X), 1000.0 * small.predict(X) + 5000.0, rtol=1e-2)
    unlike = kind(task="regression", **seed).fit(X, 1000.0 * y + 5000.0)
    assert unlike.score(X, 1000.0 * y + 5000.0) < small.score(X, y)


@pytest.mark.parametrize("kind", FAMILY)
def test_estimator_checks_pass_for_a_regression(kind):
    """Of descents, the first steps: some hundred blow rounding up to 1e-6, a check allows 1e-7.

    ``test_scaling_weights_count_as_repetitions`` looks at whole ones.
    """
    few = {} if kind in (SVMRFE, HoldOutSVM) else COARSE
    assert_every_check_passes(kind(task="regression", **few))


@pytest.mark.parametrize("kind", FAMILY)
def test_constant_targets_and_very_few_samples(kind):
    X, _ = table(n=10, p=4)
    found = kind(task="regression").fit(X, np.full(10, 7.0))
    np.testing.assert_allclose(found.predict(X), 7.0, atol=0.2)
    assert kind(task="regression").fit(X[:2], [0.0, 1.0]).predict(X).shape == (10,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": (1, 2)}, "costs=.* is for classes"),
        ({"balanced": True}, "balanced=True is for classes"),
        ({"prefilter": "ks"}, "prefilter='ks' is for classes.*'auto' or a filter"),
        ({"estimator": LogisticRegression()}, "is not a regressor"),
        ({"loss": "hinge"}, "loss"),
        ({"epsilon": -1.0}, "epsilon"),
    ],
)
def test_hold_out_refuses_what_is_for_classes(options, message):
    X, y = table(n=20, p=4)
    with pytest.raises(ValueError, match=message):
        HoldOutSVM(task="regression", **options).fit(X, y)


def test_others_say_who_takes_numbers():
    X, y = table(n=20, p=4)
    for machine in (FSV(), RobustLP()):
        with pytest.raises(ValueError, match="use L1SVM, L1L2SVM, L0L2SVM"):
            machine.fit(X, y)
    with pytest.raises(ValueError, match="'regression' is not available for a stream"):
        SVMRFE(task="regression").fit_stream([(X, y)])
    with pytest.raises(ValueError, match=r"is not a classifier.*unless task='regression'"):
        HoldOutSVM(estimator=Ridge()).fit(X, y > 0)
    with pytest.raises(ValueError, match="cv=30 needs at least 30 samples; there are 20"):
        SVMRFE("best", task="regression", cv=30).fit(X, y)
