"""SVMRFE: the order of elimination, its criteria, sizes, groups, weights."""

from __future__ import annotations

import gzip
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as PeerSVC

from tamiz.embedded import SVMRFE
from tamiz.embedded.rfe import elimination, machines
from tamiz.embedded.rfe.elimination import RFESetup, WeighedSamples
from tamiz.embedded.rfe.targets import ClassTarget
from tamiz.kernels import RBF, IndefiniteKernelWarning, Linear, Polynomial, QuadraticForm
from tamiz.svm import SVC
from tamiz.svm.path import following
from tamiz.validation import check_classes, check_units, number_to_drop
from tests.naive import kernels as naive
from tests.naive import rfe as oracle


def z_scores(X):
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def random_data(n, p, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X @ np.linspace(2.0, 0.0, p) + 0.5 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
    return X, y


def begun(X, y, kernel=None, C=1.0, groups=None, criterion="margin", order="zero"):
    """The machines of an elimination, trained on all features."""
    units = check_units(groups, None, X.shape[1])
    setup = RFESetup(
        kernel=kernel or Linear(),
        C=C,
        tol=1e-3,
        criterion=criterion,
        order=order,
        step=1,
        units=units,
    )
    target = ClassTarget(check_classes(y, len(y)), None, "ovo")
    machines, _ = setup.machines(WeighedSamples(X, target, np.ones(len(y))))
    machines.start(np.empty(0, dtype=np.intp), None)
    return machines


# ---------------------------------------------------------------------- the worked example


def test_worked_example(d8):
    rfe = SVMRFE(1).fit(z_scores(d8.X), d8.y)
    assert rfe.order_.tolist() == [0, 1, 2]
    first, second = rfe.selection_.path
    assert (first.features, first.n_features) == ((2,), 2)
    assert (second.features, second.n_features) == ((1,), 1)
    assert first.value == pytest.approx(0.0407**2, rel=3e-3)
    assert first.details["objective"] == pytest.approx(1.2989**2 + 0.2853**2 + 0.0407**2, rel=1e-4)
    assert second.value == pytest.approx(0.2912**2, rel=1e-3)
    assert second.details["objective"] == pytest.approx(1.3036**2 + 0.2912**2, rel=1e-4)
    assert rfe.ranking_.tolist() == [1, 2, 3]
    assert rfe.estimator_.support_vectors_.shape[1] == 1
    for k, weights in {3: (1.2989, 0.2853, -0.0407), 2: (1.3036, 0.2912)}.items():
        last = SVMRFE(k).fit(z_scores(d8.X), d8.y).estimator_
        assert last.coef_[0] == pytest.approx(weights, abs=6e-5)


# ---------------------------------------------------------------------- against the oracle

KERNELS = {
    "linear": (Linear(), naive.linear()),
    "rbf": (RBF(gamma=0.3), naive.rbf(0.3)),
    "poly": (Polynomial(degree=3, gamma=0.5, coef0=1.0), naive.polynomial(3, 0.5, 1.0)),
    "sum": (
        RBF(gamma=0.3) + Polynomial(degree=2),
        naive.total(naive.rbf(0.3), naive.polynomial(2, 1.0, 1.0)),
    ),
    "product": (RBF(gamma=0.2) * Linear(), naive.product(naive.rbf(0.2), naive.linear())),
}


@pytest.mark.filterwarnings("ignore:SVMRFE. the last group left")
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("groups", [None, [[0, 3], [1, 4, 5]]], ids=["single", "groups"])
def test_order_and_criteria_equal_brute_force(name, groups):
    kernel, function = KERNELS[name]
    X, y = random_data(26, 7, seed=3)
    units = [[j] for j in range(7)] if groups is None else [[0, 3], [1, 4, 5], [2], [6]]
    rfe = SVMRFE(1, kernel=kernel, feature_groups=groups).fit(X, y)
    expected = oracle.eliminate(function, X, y, units)
    gone = [sorted(step.features) for step in rfe.selection_.path]
    assert gone == [units[u] for u in expected[:-1]]
    active = list(range(len(units)))
    for step, u in zip(rfe.selection_.path, expected, strict=False):
        changes = oracle.margin_changes(function, X, y, units, active)
        assert step.value == pytest.approx(changes[u], rel=1e-5, abs=1e-9)
        active.remove(u)


@pytest.mark.parametrize("name", ["rbf", "poly", "sum"])
def test_large_tables_give_the_order_of_brute_force(limits, name):
    """There pair steps come first, and LAPACK factorises what is free."""
    kernel, function = KERNELS[name]
    X, y = random_data(40, 6, seed=9)
    units = [[j] for j in range(6)]
    expected = oracle.eliminate(function, X, y, units)
    limits(following, LARGE=5, BLOCK=2)
    for tol in (1e-3, 1e-9):
        rfe = SVMRFE(1, kernel=kernel, tol=tol).fit(X, y)
        assert [step.features[0] for step in rfe.selection_.path] == expected[:-1]
        assert rfe.estimator_.kkt_violation_ <= tol
    active = list(range(6))
    for step, u in zip(rfe.selection_.path, expected, strict=False):
        changes = oracle.margin_changes(function, X, y, units, active)
        assert step.value == pytest.approx(changes[u], rel=1e-5, abs=1e-9)
        active.remove(u)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_several_classes_add_up(scheme, name):
    kernel, function = KERNELS[name]
    X, y = random_data(36, 6, seed=5, classes=3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 36)
    rfe = SVMRFE(1, kernel=kernel, multiclass=scheme, C=0.7).fit(X, y, weight)
    expected = oracle.eliminate(function, X, y, C=0.7, weight=weight, scheme=scheme)
    assert rfe.order_.tolist() == expected[::-1]


@pytest.mark.parametrize(("n", "p"), [(2, 3), (5, 40), (20, 60), (60, 20), (200, 8), (40, 40)])
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_linear_order_equals_cold_solutions(n, p, C):
    rng = np.random.default_rng(n * p)
    X, y = rng.normal(size=(n, p)), np.arange(n) % 2
    X[:, : p // 2] += y[:, None]
    rfe = SVMRFE(1, C=C).fit(X, y)
    active = list(range(p))
    for step in rfe.selection_.path:
        # LIBSVM does not reach such tolerances with a large C; our SVC says how close it came.
        cold = SVC(kernel="linear", C=C, tol=1e-8).fit(X[:, active], y)
        assert cold.duality_gap_ <= 1e-9 * cold.objective_
        w = cold.coef_[0]
        (gone,) = step.features
        size = float((w**2).max()) + 1e-12
        assert w[active.index(gone)] ** 2 <= (w**2).min() + 1e-9 * size
        assert step.details["objective"] == pytest.approx(float(w @ w), rel=1e-7, abs=1e-9)
        active.remove(gone)


@pytest.mark.parametrize(("step", "theirs"), [(1, 1), (3, 3), (9, 0.3)])
def test_equals_the_peer_on_well_separated_weights(step, theirs):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = SVMRFE(4, step=step).fit(X, y)
    # the peer's share is one of all features
    peer = RFE(PeerSVC(kernel="linear", tol=1e-6), n_features_to_select=4, step=theirs).fit(X, y)
    assert np.array_equal(ours.support_, peer.support_)
    assert ours.estimator_.coef_ == pytest.approx(peer.estimator_.coef_, abs=2e-2)


@pytest.mark.parametrize("step", [0.3, "half", 4])
def test_several_at_a_time_are_the_least_of_a_cold_machine(step):
    X, y = random_data(50, 23, seed=6)
    rfe = SVMRFE(1, step=step).fit(X, y)
    active = np.arange(23)
    for event in rfe.selection_.path:
        w = SVC(kernel="linear", tol=1e-8).fit(X[:, active], y).coef_[0]
        count = {0.3: int(0.3 * len(active)), "half": len(active) // 2, 4: 4}[step]
        count = max(1, min(count, len(active) - 1))
        order = np.argsort(w**2)[:count]
        assert event.features == tuple(active[order])
        assert event.value == pytest.approx(w[order[-1]] ** 2, rel=1e-6)
        active = np.delete(active, order)
    assert len(active) == 1


# ---------------------------------------------------------------------- features not scaled


def violation(X, y, b, C):
    """Of the conditions of the optimum, from the definition, in more digits."""
    X, b = X.astype(np.longdouble), b.astype(np.longdouble)
    signs = np.where(y == 1, 1.0, -1.0)
    g = X @ (X.T @ b) - signs
    lower, upper = np.minimum(signs * C, 0.0), np.maximum(signs * C, 0.0)
    assert ((b >= lower) & (b <= upper)).all()
    return float(g[b > lower].max() - g[b < upper].min())


def large(n, p, size, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * size
    return X, (X[:, 0] + size * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    ("data", "C"),
    [
        (large(200, 20, 1e5), 1.0),
        (large(200, 20, 1.0), 1e9),
        (large(60, 90, 1e5), 1.0),  # begins with more features than samples
        (load_breast_cancer(return_X_y=True), 1.0),
        (load_breast_cancer(return_X_y=True), 1e3),
    ],
    ids=["large", "hard", "wide", "raw", "raw and hard"],
)
def test_machines_are_at_their_optimum_also_without_scaling(data, C):
    X, y = data
    machines = begun(X, y, C=C)
    for _ in range(X.shape[1] - 1):
        active = machines.features()
        assert violation(X[:, active], y, machines.bank.b, C) <= 1e-3
        assert machines.drop_singles(1)
        machines.dropped()
    assert machines.excess == 0.0


def test_order_does_not_depend_on_units():
    X, y = large(200, 20, 1e5)
    rfe = SVMRFE(1, C=1.0).fit(X, y)
    same = SVMRFE(1, C=1e10).fit(X / 1e5, y)
    assert rfe.status_ == same.status_ == "converged"
    assert np.array_equal(rfe.order_, same.order_)
    assert rfe.estimator_.kkt_violation_ <= 1e-3


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_says_when_rounding_is_in_the_way(kernel):
    X, y = large(100, 5, 1e5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rfe = SVMRFE(2, C=1e8, kernel=kernel, gamma=1.0).fit(X, y)
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert "Scale the features" in str(caught[0].message) and "lower C" in str(caught[0].message)
    assert rfe.status_ == rfe.selection_.notes["status"] == "stalled"
    assert sorted(rfe.order_) == list(range(5))


def test_a_long_path_does_not_drift():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 600)) * 10.0 ** rng.uniform(-3, 3, 600)  # large ones leave traces
    y = np.arange(30) % 2
    rfe = SVMRFE(5, C=10.0).fit(X, y)
    kept = rfe.support_
    assert rfe.estimator_.duality_gap_ <= 1e-6 * rfe.estimator_.objective_
    last = rfe.selection_.path[-4]
    assert last.n_features == 4
    w = PeerSVC(kernel="linear", C=10.0, tol=1e-6, max_iter=500_000).fit(X[:, kept], y).coef_[0]
    assert last.details["objective"] == pytest.approx(float(w @ w), rel=1e-5)


# ---------------------------------------------------------------------- criteria


def squared_radius_and_norm(kernel, X, y, scale):
    """Hard margin and ball, solved anew for scaled features."""
    from tamiz.qp import DenseQ
    from tamiz.svm import HardMarginSVC
    from tamiz.svm.diagnostics import squared_radius

    machine = HardMarginSVC(kernel=kernel, tol=1e-8).fit(X * scale, y)
    return squared_radius(DenseQ(kernel(X * scale)), tol=1e-9), 1.0 / machine.margin_**2


@pytest.mark.parametrize("criterion", ["margin", "radius_margin"])
@pytest.mark.parametrize(
    "kernel", [RBF(gamma=0.2), Polynomial(degree=2), Linear()], ids=["rbf", "poly", "linear"]
)
@pytest.mark.parametrize("groups", [None, [[1, 2], [0, 3]]], ids=["single", "groups"])
def test_first_order_is_the_derivative_of_what_is_trained(criterion, kernel, groups):
    X, y = random_data(24, 5, seed=1)
    X[:, 0] += 4.0 * y  # separable by a wide margin
    units = [[j] for j in range(5)] if groups is None else [[0, 3], [1, 2], [4]]
    slopes = []
    for unit in units:
        values = []
        for h in (-1e-4, 1e-4):
            scale = np.ones(5)
            scale[unit] += h
            radius, square = squared_radius_and_norm(kernel, X, y, scale)
            values.append(square if criterion == "margin" else radius * square)
        slopes.append(abs(values[1] - values[0]) / 2e-4)
    got, objective = begun(X, y, kernel, 1e4, groups, criterion, "first").values()
    assert got == pytest.approx(slopes, rel=2e-2, abs=1e-4 * max(slopes))
    radius, square = squared_radius_and_norm(kernel, X, y, np.ones(5))
    expected = square if criterion == "margin" else radius * square
    assert objective == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("criterion", ["margin", "radius_margin"])
def test_slopes_in_a_group_may_cancel(criterion):
    X, y = random_data(30, 6, seed=4)
    kernel = RBF(gamma=0.5)
    single = begun(X, y, kernel, 1.0, None, criterion, "first")
    tracker, coef = single.tracker, single.coef(0, 30)
    slope = tracker.gradient(coef)
    if criterion == "radius_margin":
        beta = single._ball(0)
        radius = beta @ tracker.K.diagonal() - beta @ tracker.K @ beta
        about = tracker.diag_gradient(beta) - tracker.gradient(beta)
        slope = coef @ tracker.K @ coef * about - radius * slope
    assert single.values()[0] == pytest.approx(np.abs(slope), rel=1e-9)
    group = [int(slope.argmin()), int(slope.argmax())]
    assert slope[group[0]] < 0 < slope[group[1]]  # or the test tells nothing
    got = begun(X, y, kernel, 1.0, [group], criterion, "first").values()[0]
    assert got[min(group)] == pytest.approx(abs(slope[group].sum()), rel=1e-6)


@pytest.mark.parametrize("groups", [None, [[1, 2]]])
@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
def test_radius_margin_changes_by_brute_force(name, groups):
    from tamiz.qp import DenseQ, svdd_problem
    from tamiz.solvers import solve

    kernel, function = KERNELS[name]
    X, y = random_data(20, 4, seed=2)
    units = [[0], [1], [2], [3]] if groups is None else [[0], [1, 2], [3]]
    machines = begun(X, y, kernel, 1.0, groups, "radius_margin")
    active = list(range(len(units)))
    while len(active) > 1:
        here = sorted(j for u in active for j in units[u])
        whole = oracle.gram_of(function, X, here)
        ((_, c),) = oracle.machines(whole, y, 1.0, np.ones(20), "ovo")
        beta = solve(svdd_problem(DenseQ(whole), np.inf), tol=1e-10).a
        radius = [beta @ np.diag(whole) - oracle.form(beta, whole)]
        square = [oracle.form(c, whole)]
        for u in active:
            less = oracle.gram_of(function, X, [j for j in here if j not in units[u]])
            radius.append(beta @ np.diag(less) - oracle.form(beta, less))
            square.append(oracle.form(c, less))
        product = np.array(radius) * np.array(square)
        changes = np.abs(product[0] - product[1:])
        values, objective = machines.values()
        assert values[active] == pytest.approx(changes, rel=1e-4, abs=1e-6 * changes.max())
        assert np.isnan(np.delete(values, active)).all()
        assert objective == pytest.approx(product[0], rel=1e-5)
        gone = active[int(np.argmin(changes))]
        machines.drop(np.array([gone]))
        active.remove(gone)


@pytest.mark.parametrize("order", ["zero", "first"])
def test_the_linear_loop_agrees_with_the_general_one(order):
    X, y = random_data(40, 12, seed=7)
    quick = SVMRFE(1, order=order).fit(X, y)
    slow = SVMRFE(1, order=order, kernel=1.0 * Linear()).fit(X, y)
    assert np.array_equal(quick.order_, slow.order_)
    for a, b in zip(quick.selection_.path, slow.selection_.path, strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-6)
        assert a.details["objective"] == pytest.approx(b.details["objective"], rel=1e-6)


def test_xor_among_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 52))
    corner = rng.integers(0, 2, size=(400, 2))
    X[:, [17, 40]] = corner + 0.2 * rng.normal(size=(400, 2))
    X = z_scores(X)
    y = corner[:, 0] ^ corner[:, 1]
    assert sorted(SVMRFE(2, kernel="rbf", step=5).fit(X, y).order_[:2]) == [17, 40]
    assert sorted(SVMRFE(2, step=5).fit(X, y).order_[:2]) != [17, 40]


# ---------------------------------------------------------------------- steps and sizes


def test_number_to_drop():
    assert [number_to_drop("half", k, 1) for k in (9, 8, 3, 2)] == [4, 4, 1, 1]
    assert [number_to_drop(0.3, k, 1) for k in (100, 10, 3, 2)] == [30, 3, 1, 1]
    assert [number_to_drop(4, k, 1) for k in (100, 5, 4, 2)] == [4, 4, 3, 1]
    assert number_to_drop(4, 3, 0) == 3
    assert number_to_drop(0.29, 100, 1) == 29 and number_to_drop(0.07, 100, 1) == 7


@pytest.mark.parametrize("step", [1, 7, 0.25, "half"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_steps_land_on_the_size_asked_for(step, kernel):
    X, y = random_data(30, 21, seed=4)
    rfe = SVMRFE(5, step=step, kernel=kernel).fit(X, y)
    sizes = [21, *(event.n_features for event in rfe.selection_.path)]
    assert 5 in sizes and sizes[-1] == 1 and rfe.support_.sum() == 5
    assert sorted(rfe.ranking_) == list(range(1, 22))
    assert set(rfe.order_[:5]) == set(np.flatnonzero(rfe.support_))
    for before, after in pairwise(sizes):
        wanted = number_to_drop(step, before, 1)
        assert before - after == (min(wanted, before - 5) if before > 5 else wanted)


@pytest.mark.parametrize(
    ("wanted", "number"), [(None, 10), ("auto", 10), (3, 3), (0.25, 5), (21, 21), (1.0, 21)]
)
def test_sizes(wanted, number):
    X, y = random_data(30, 21, seed=4)
    rfe = SVMRFE(wanted).fit(X, y)
    assert rfe.support_.sum() == number and rfe.transform(X).shape == (30, number)
    assert len(rfe.selection_.path) == 20


def test_last_machine_is_the_one_on_the_selected_features():
    X, y = random_data(50, 10, seed=8, classes=3)
    for kernel in ("linear", "rbf", QuadraticForm(np.diag(np.arange(1.0, 11.0)))):
        rfe = SVMRFE(4, kernel=kernel).fit(X, y)
        Z = np.where(rfe.support_, X, 0.0)
        gram = rfe.kernel_(Z)
        peer = PeerSVC(kernel="precomputed", tol=1e-6).fit(gram, y)
        assert np.array_equal(rfe.predict(X), peer.predict(gram))
        assert rfe.estimator_.kernel_ == rfe.kernel_.restrict(np.flatnonzero(rfe.support_), 10)
    assert SVMRFE(4, kernel="rbf").fit(X, y).kernel_.gamma == pytest.approx(1 / (10 * X.var()))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_groups_and_fixed(kernel):
    X, y = random_data(40, 9, seed=9)
    groups, fixed = [[0, 4], [2, 3, 8]], [5]
    rfe = SVMRFE(4, kernel=kernel, feature_groups=groups, fixed_features=fixed).fit(X, y)
    assert rfe.order_[0] == 5 and rfe.support_[5]
    for group in groups:
        places = np.sort(rfe.ranking_[group])
        assert np.array_equal(places, np.arange(places[0], places[0] + len(group)))
        assert len(set(rfe.support_[group])) == 1
    assert 1 <= rfe.support_.sum() <= 4
    only = SVMRFE(1, kernel=kernel, feature_groups=groups, fixed_features=fixed).fit(X, y)
    assert np.flatnonzero(only.support_).tolist() == [5]


def test_groups_too_large_for_the_number_asked_for():
    X, y = random_data(40, 9, seed=9)
    groups = [[0, 1, 2], [3, 4, 5, 6, 7]]
    with pytest.raises(ValueError, match="the smallest of feature_groups has 3"):
        SVMRFE(2, feature_groups=[*groups[:1], [3, 4, 5, 6, 7, 8]]).fit(X, y)
    with pytest.warns(UserWarning, match="last group left has 3 features.*=2 asks for"):
        rfe = SVMRFE(2, feature_groups=groups).fit(X, y)
    assert np.flatnonzero(rfe.support_).tolist() == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SVMRFE(3, feature_groups=groups).fit(X, y).support_.sum() == 3
        SVMRFE(feature_groups=[list(range(9))]).fit(X, y)


# ---------------------------------------------------------------------- odd features, weights


def test_duplicates_keep_the_first_and_constants_go_first():
    X, y = random_data(40, 6, seed=10)
    X[:, 3] = 2.0
    X = np.column_stack([X, X[:, 0], X[:, 3]])
    rfe = SVMRFE(1).fit(X, y)
    assert set(rfe.order_[-2:]) == {3, 7}
    path = [step.features[0] for step in rfe.selection_.path]
    assert 6 in path and (0 not in path or path.index(6) < path.index(0))
    radial = SVMRFE(1, kernel="rbf").fit(X, y)
    assert set(radial.order_[-2:]) == {3, 7}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_all_constant(kernel):
    rfe = SVMRFE(2, kernel=kernel, gamma=0.5).fit(np.ones((6, 4)), [0, 1] * 3)
    assert rfe.order_.tolist() == [0, 1, 2, 3] and rfe.support_.sum() == 2


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_repetitions(kernel, classes):
    X, y = random_data(45, 7, seed=11, classes=classes)
    weight = np.random.default_rng(1).integers(0, 4, 45)
    weight[:2] = 0
    again = np.repeat(np.arange(45), weight)
    options = {"n_features_to_select": 3, "kernel": kernel, "gamma": 0.2}
    one = SVMRFE(**options).fit(X, y, sample_weight=weight)
    two = SVMRFE(**options).fit(X[again], y[again])
    assert np.array_equal(one.order_, two.order_)
    assert one.decision_function(X) == pytest.approx(two.decision_function(X), abs=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("weights", [{0: 0.05, 1: 3.0}, "balanced"])
def test_class_weights_are_sample_weights(kernel, weights):
    X, y = random_data(60, 7, seed=17)
    y[(y == 1) & (np.arange(60) % 4 > 0)] = 0  # few of class 1
    options = {"n_features_to_select": 3, "kernel": kernel, "gamma": 0.2, "C": 0.5}
    by_class = weights if weights != "balanced" else dict(enumerate(30.0 / np.bincount(y)))
    one = SVMRFE(**options, class_weight=weights).fit(X, y)
    two = SVMRFE(**options).fit(X, y, sample_weight=[by_class[k] for k in y])
    plain = SVMRFE(**options).fit(X, y)
    for a, b, c in zip(
        one.selection_.path, two.selection_.path, plain.selection_.path, strict=True
    ):
        assert a.features == b.features
        assert a.details["objective"] == pytest.approx(b.details["objective"], rel=1e-7)
        assert a.details["objective"] != pytest.approx(c.details["objective"], rel=1e-2)
    assert one.decision_function(X) == pytest.approx(two.decision_function(X), abs=1e-7)


def test_class_weight_zero_ties_everything():
    X, y = random_data(20, 4, seed=1)
    rfe = SVMRFE(2, class_weight={0: 0.0, 1: 1.0}).fit(X, y)
    assert rfe.order_.tolist() == [0, 1, 2, 3]


def test_sparse_equals_dense(limits):
    X, y = random_data(40, 15, seed=12, classes=3)
    X[np.abs(X) < 0.8] = 0.0
    dense = SVMRFE(4, step=2).fit(X, y)
    assert np.array_equal(SVMRFE(4, step=2).fit(sparse.csr_array(X), y).order_, dense.order_)
    limits(elimination, MOST_DENSE_BYTES=0)
    rfe = SVMRFE(4, step=2).fit(sparse.csr_matrix(X), y)
    assert np.array_equal(rfe.order_, dense.order_)
    assert np.array_equal(rfe.predict(sparse.csr_matrix(X)), dense.predict(X))
    best = SVMRFE("best", cv=3).fit(sparse.csr_matrix(X), y)
    # a sample of zeros only is on the boundary, and rounding decides
    same = np.isclose(best.cv_errors_, SVMRFE("best", cv=3).fit(X, y).cv_errors_)
    assert np.mean(same) > 0.95


def test_without_room_for_matrices(limits):
    X, y = random_data(30, 50, seed=13)
    Z, z = random_data(40, 6, seed=13, classes=3)
    expected = SVMRFE(3).fit(X, y).order_
    radial = [
        SVMRFE(3, kernel="rbf", criterion=c, tol=1e-8).fit(Z, z).order_
        for c in ("margin", "radius_margin")
    ]
    limits(machines, MOST_BYTES=0)
    assert np.array_equal(SVMRFE(3).fit(X, y).order_, expected)
    for order, c in zip(radial, ("margin", "radius_margin"), strict=True):
        got = SVMRFE(3, kernel="rbf", criterion=c, tol=1e-8).fit(Z, z).order_
        assert np.array_equal(got, order)


def test_machines_that_share_a_table(limits, monkeypatch):
    X, y = random_data(90, 12, seed=16, classes=4)
    for options in ({"step": 1}, {"step": 3}, {"feature_groups": [[0, 5]]}):
        expected = SVMRFE(2, **options).fit(X, y)
        limits(machines, MOST_TABLE_BYTES=0)
        rfe = SVMRFE(2, **options).fit(X, y)
        monkeypatch.undo()
        assert np.array_equal(rfe.order_, expected.order_)
        for a, b in zip(rfe.selection_.path, expected.selection_.path, strict=True):
            assert a.value == pytest.approx(b.value, rel=1e-8)


def test_many_classes_take_little_memory():
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 20
    bank = begun(rng.normal(size=(3000, 40)) + 3.0 * rng.normal(size=(20, 40))[y], y).bank
    held = sum(array.nbytes for array in bank)
    assert held < 30e6  # 190 factors of 300 x 300 would be 137 MB


def test_what_would_not_fit_gets_a_sentence(limits, free_memory):
    X, y = random_data(40, 6, seed=13)
    free_memory(1000)
    with pytest.raises(MemoryError, match="criterion='radius_margin' needs dense samples"):
        SVMRFE(criterion="radius_margin").fit(sparse.csr_matrix(X), y)
    free_memory(100_000)
    SVMRFE(criterion="radius_margin").fit(sparse.csr_matrix(X), y)
    limits(machines, MOST_BYTES=0)
    free_memory(7_700)  # four tables of 40 x 6 numbers, and no matrix of the support vectors
    with pytest.raises(MemoryError, match="support vectors, whose matrix"):
        SVMRFE(kernel="rbf").fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pair_steps_take_over(limits, kernel):
    X, y = random_data(60, 8, seed=14)
    expected = SVMRFE(3, kernel=kernel).fit(X, y)
    limits(following, MOST_FREE=2)
    rfe = SVMRFE(3, kernel=kernel, tol=1e-7).fit(X, y)
    assert np.array_equal(rfe.order_, expected.order_)


def test_indefinite_kernel_still_ranks():
    X, y = random_data(40, 5, seed=15)
    with pytest.warns(IndefiniteKernelWarning):
        rfe = SVMRFE(2, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert sorted(rfe.order_) == list(range(5))


def test_pipeline_grid_and_iris():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SVMRFE())
    grid = GridSearchCV(pipe, {"svmrfe__n_features_to_select": [1, 2], "svmrfe__C": [0.1, 1.0]})
    assert grid.fit(X, y).best_score_ > 0.9
    assert set(grid.best_estimator_[-1].order_[:2]) == {2, 3}


# ---------------------------------------------------------------------- published


def test_vertebral_order_over_random_splits(data_dir):
    with gzip.open(data_dir / "vertebral_2c.csv.gz", "rt") as file:
        rows = [line.strip().split(",") for line in file][1:]
    X = np.array([[float(v) for v in row[:-1]] for row in rows])
    y = np.array([row[-1] for row in rows])
    places = np.zeros((6, 6), dtype=int)
    rng = np.random.default_rng(0)
    for _ in range(100):
        train = rng.permutation(len(X))[:217]
        order = SVMRFE(1).fit(z_scores(X[train]), y[train]).order_
        places[order, np.arange(6)] += 1
    assert places.sum() == 600
    # published: f6 f5 f4 f2 f3 f1
    assert places[5, 0] == 100
    assert places[[3, 4]][:, [1, 2]].sum() >= 190 and places[4, 1] > places[3, 1] > 10
    assert places[1, 3] >= 95
    assert places[[0, 2]][:, [4, 5]].sum() >= 195 and places[0, 5] > 10


# ---------------------------------------------------------------------- Shapley values


@pytest.mark.parametrize("groups", [None, [[1, 2]]])
@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("classes", [2, 3])
def test_shapley_criterion_is_the_mean_absolute_value_of_what_units_add(name, groups, classes):
    from tamiz.explain import shapley_values

    kernel, _ = KERNELS[name]
    X, y = random_data(30, 4, seed=2, classes=classes)
    units = [[0], [1, 2], [3]] if groups else [[0], [1], [2], [3]]
    chosen = kernel if name != "linear" else "linear"
    for left in ([0, 1, 2, 3], [0, 3]):
        here = [unit for unit in units if set(unit) <= set(left)]
        machine = SVC(kernel=chosen, tol=1e-9).fit(X[:, left], y)
        values = shapley_values(machine, X[:, left], value="kernel_mean").values
        values = values.reshape(30, len(left), -1)
        wanted = []
        for unit in here:
            at = [left.index(j) for j in unit]
            wanted.append(np.abs(values[:, at].sum(axis=1)).mean(axis=0).sum())
        machines = begun(X, y, kernel, 1.0, groups, "shapley")
        gone = [k for k, unit in enumerate(units) if unit not in here]
        if gone:
            machines.drop(np.array(gone))
        got = machines.values()[0]
        assert np.delete(got, gone) == pytest.approx(wanted, rel=1e-4)


def test_shapley_criterion_finds_an_exclusive_or_and_refuses_what_it_does_not_know():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = X[:, 2] * X[:, 5] > 0
    rfe = SVMRFE(2, kernel="rbf", criterion="shapley", C=10.0).fit(X, y)
    assert sorted(rfe.get_support(indices=True)) == [2, 5]
    assert SVMRFE("best", criterion="shapley", cv=3).fit(X, X[:, 1] > 0).order_[0] == 1
    with pytest.raises(ValueError, match="'zero' with criterion='shapley'"):
        SVMRFE(criterion="shapley", order="first").fit(X, y)
    with pytest.raises(ValueError, match="not known exactly"):
        SVMRFE(criterion="shapley", kernel="sigmoid").fit(X, y)
