"""Samples far from the origin, and in extreme units: right, or refused, or said; never wrong."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from tamiz.embedded import (
    AROM,
    FSV,
    L0L2SVM,
    L1L2SVM,
    L1SVM,
    SVMRFE,
    AdaptiveScaling,
    HoldOutSVM,
    RadiusMarginScaling,
    RobustLP,
)
from tamiz.kernels import RBF, Linear
from tamiz.persistence import load, save
from tamiz.svm import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    HardMarginSVC,
    LinearMachine,
    NotSeparableError,
    OneClassSVM,
    PegasosClassifier,
    PerceptronClassifier,
    SubgradientClassifier,
)
from tamiz.svm.diagnostics import feature_coordinates, least_slack, separability
from tamiz.validation import UnscaledWarning, far_from_origin

POINTS = np.array([[0.0], [1.0], [3.0], [4.0]])
SIGNS = np.array([-1, -1, 1, 1])
FAR = [1e3, 1e5, 3e7, 1e9, 1e12, 1e15]


@pytest.mark.parametrize("offset", FAR)
@pytest.mark.parametrize("solver", ["smo", "decomposition", "chunking"])
def test_classifier_does_not_depend_on_the_origin(offset, solver):
    X = offset + POINTS
    machine = SVC(kernel="linear", solver=solver).fit(X, SIGNS)
    assert machine.status_ == "converged"
    np.testing.assert_allclose(machine.decision_function(X), [-2, -1, 1, 2], atol=1e-3)
    assert machine.predict(X).tolist() == SIGNS.tolist()
    assert machine.coef_ == pytest.approx(1.0, abs=1e-3)
    assert machine.intercept_ == pytest.approx(-(offset + 2), rel=1e-3)
    assert 0.5 - 1e-3 <= machine.objective_ <= 0.5 + machine.duality_gap_ + 1e-9


@pytest.mark.parametrize("offset", FAR)
def test_hard_margin_does_not_depend_on_the_origin(offset):
    machine = HardMarginSVC().fit(offset + POINTS, SIGNS)
    assert machine.margin_ == pytest.approx(1.0)
    np.testing.assert_allclose(machine.decision_function(offset + POINTS), [-2, -1, 1, 2])


@pytest.mark.parametrize("offset", FAR)
def test_regression_and_ball_do_not_depend_on_the_origin(offset):
    X, target = offset + POINTS, POINTS[:, 0]
    line = SVR(kernel="linear", epsilon=0.0, C=100.0).fit(X, target)
    np.testing.assert_allclose(line.predict(X), target, atol=0.01)
    ball = SVDD(nu=0, kernel="linear").fit(X)
    assert ball.radius_ == pytest.approx(2.0, rel=1e-3)
    assert ball.predict(X).tolist() == [1, 1, 1, 1]
    assert ball.predict([[offset + 7]]).tolist() == [-1]


@pytest.mark.parametrize("offset", FAR)
@pytest.mark.parametrize("kind", [LinearMachine, L1SVM, FSV, AROM, L0L2SVM, L1L2SVM, RobustLP])
def test_linear_machines_do_not_depend_on_the_origin(kind, offset):
    X = offset + POINTS
    machine, near = kind().fit(X, SIGNS), kind().fit(POINTS, SIGNS)
    expected = near.decision_function(POINTS)
    np.testing.assert_allclose(machine.decision_function(X), expected, atol=1e-6)
    np.testing.assert_allclose(machine.coef_, near.coef_, atol=1e-6)


@pytest.mark.parametrize(
    "make", [lambda: SVMRFE(2), lambda: HoldOutSVM(2, kernel="linear", random_state=0)]
)
def test_eliminations_do_not_depend_on_the_origin(make):
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, size=(40, 6)).astype(float)
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    near, far = make().fit(X, y), make().fit(1e12 + X, y)
    assert far.ranking_.tolist() == near.ranking_.tolist()
    np.testing.assert_allclose(
        far.decision_function(1e12 + X), near.decision_function(X), atol=1e-2
    )


def test_several_classes_far_from_the_origin():
    X = np.arange(12.0)[:, None]
    y = np.repeat([0, 1, 2], 4)
    for scheme in ("ovo", "ovr"):
        near = SVC(kernel="linear", multiclass=scheme).fit(X, y)
        far = SVC(kernel="linear", multiclass=scheme).fit(1e10 + X, y)
        assert far.predict(1e10 + X).tolist() == near.predict(X).tolist()


def test_only_features_that_are_far_are_moved():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    near = SVC(kernel="linear").fit(X, y)
    moved = X + np.array([0.0, 1e10, 0.0])
    far = SVC(kernel="linear").fit(moved, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-4)
    values = far.decision_function(moved)
    np.testing.assert_allclose(values, near.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("offset", [1e8, 1e10])
def test_polynomial_kernel_says_that_digits_are_lost(offset):
    with pytest.warns(ConvergenceWarning, match="in floating point"):
        machine = SVC(kernel="poly", degree=2, coef0=1.0).fit(offset + POINTS, SIGNS)
    assert machine.status_ == "stalled"
    assert machine.kkt_violation_ > machine.tol


def test_certificate_includes_the_rounding_of_kernel_values():
    # a feature in large units leaves the others without digits in the kernel values
    X = np.hstack([POINTS, [[0.0], [1e10], [1e10], [0.0]]])
    with pytest.warns(ConvergenceWarning):
        machine = SVC(kernel="linear", C=1.0).fit(X, SIGNS)
    assert machine.status_ != "converged"
    assert machine.kkt_violation_ > machine.tol


def test_one_class_far_from_the_origin_admits_no_more_outliers():
    machine = OneClassSVM(nu=0.5, kernel="linear").fit(1e9 + POINTS)
    assert (machine.predict(1e9 + POINTS) == -1).sum() <= 2


def test_moved_machine_survives_saving(tmp_path):
    X = 1e9 + POINTS
    for machine in (SVC(kernel="linear").fit(X, SIGNS), LinearMachine().fit(X, SIGNS)):
        save(machine, tmp_path / "machine.tamiz")
        again = load(tmp_path / "machine.tamiz")
        assert again.decision_function(X).tolist() == machine.decision_function(X).tolist()


def test_machine_saved_without_a_centre_predicts_as_before():
    machine = SVC(kernel="linear").fit(POINTS, SIGNS)
    before = machine.decision_function(POINTS)
    for name in ("_centre", "_intercept_there"):  # as files of earlier versions have it
        vars(machine).pop(name)
    assert machine.decision_function(POINTS).tolist() == before.tolist()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-150, 1e-75, 1e75, 1e150])
def test_hard_margin_in_extreme_units(scale):
    machine = HardMarginSVC().fit(scale * (100 + POINTS), SIGNS)
    assert machine.margin_ == pytest.approx(scale)


def test_infinite_decisions_are_refused():
    machine = SVC(kernel="poly", degree=3, gamma=1.0).fit(POINTS, SIGNS)
    with pytest.raises(ValueError, match="very large values"):
        machine.decision_function([[1e150]])


def test_a_machine_that_is_fitted_again_forgets_where_it_was():
    X = np.array([[0.0], [1.0], [3.0], [4.5]])
    y = np.array([-1, -1, 1, 1])
    K = X @ X.T
    machine = SVC(kernel="linear").fit(X + 1e9, y).set_params(kernel="precomputed").fit(K, y)
    fresh = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(machine.decision_function(K), fresh.decision_function(K))


def test_a_kernel_of_zeros_has_no_rounding():
    machine = SVC(kernel="precomputed").fit(np.zeros((4, 4)), [0, 0, 1, 1])
    assert np.isfinite(machine.kkt_violation_)


PLANE = np.array([[0.0, 0], [1, 3], [2, 0], [4, 1], [5, 4], [6, 2]])
SIDES = np.array([-1, -1, -1, 1, 1, 1])
NOT_MOVED = {  # kernels that are not those of a machine that may measure from anywhere
    "2 * linear": {"kernel": 2 * Linear()},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "cubic": {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0},
    "linear + rbf": {"kernel": Linear() + RBF(gamma=0.1)},
    "function": {"kernel": lambda X, Z: X @ Z.T},
}


@pytest.mark.parametrize("offset", [1e8, 1e9])
@pytest.mark.parametrize("name", sorted(NOT_MOVED))
def test_elimination_says_that_kernel_values_lost_their_digits(name, offset):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rfe = SVMRFE(1, **NOT_MOVED[name]).fit(offset + PLANE, SIDES)
    assert [w.category for w in said] == [ConvergenceWarning]
    assert "StandardScaler" in str(said[0].message)
    assert rfe.status_ == rfe.selection_.notes["status"] == rfe.estimator_.status_ == "stalled"
    assert rfe.estimator_.kkt_violation_ > rfe.tol


@pytest.mark.parametrize("name", sorted(NOT_MOVED))
def test_elimination_is_certified_where_digits_are_left(name):
    rfe = SVMRFE(1, **NOT_MOVED[name]).fit(1e4 + PLANE, SIDES)
    assert rfe.status_ == rfe.estimator_.status_ == "converged"
    assert 0 < rfe.estimator_.kkt_violation_ <= rfe.tol
    assert rfe.score(1e4 + PLANE, SIDES) == 1.0


def test_kept_machine_has_the_certificate_of_one_that_is_fitted():
    rfe = SVMRFE(1, **NOT_MOVED["function"]).fit(1e9 + PLANE, SIDES)
    kept, kernel = rfe.estimator_, rfe.estimator_.kernel_
    with pytest.warns(ConvergenceWarning, match="in floating point"):
        fitted = SVC(kernel=kernel).fit((1e9 + PLANE)[:, rfe.support_], SIDES)
    for machine in (kept, fitted):
        assert machine.status_ == "stalled"
        assert machine.duality_gap_ > 1.0


def test_elimination_by_errors_counts_machines_without_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    with pytest.warns(ConvergenceWarning, match="HoldOutSVM: 4 of 4 machines"):
        HoldOutSVM(2, kernel=2 * Linear(), random_state=0).fit(1e9 + X, y)


def separated_plane(offset=0.0, n=40):
    """Samples in four columns, of which the first two tell the classes apart by a margin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    X[:, :2] += 0.4 * y[:, None]
    return offset + X, y


@pytest.mark.parametrize("offset", [1e8, 1e9, 1e12])
def test_hard_margin_does_not_say_inseparable_of_lost_digits(offset):
    X, y = separated_plane(offset)
    with pytest.raises(ValueError, match=r"cannot be told: .* too far from the origin") as caught:
        HardMarginSVC("poly", degree=2, coef0=1.0).fit(X, y)
    assert not isinstance(caught.value, NotSeparableError)
    assert "StandardScaler" in str(caught.value)


@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_hard_margin_says_inseparable_where_digits_are_left(offset):
    cross = offset + np.array([[0.0, 0], [1, 1], [1, 0], [0, 1], [0.5, 0.5]])
    with pytest.raises(NotSeparableError):
        HardMarginSVC(2 * Linear()).fit(cross, [0, 0, 1, 1, 1])
    with pytest.raises(NotSeparableError):  # no digits could tell equal samples apart
        HardMarginSVC(2 * Linear()).fit(np.full((4, 2), 1e9), [0, 0, 1, 1])


def mixed_plane(offset, n=60):
    """Samples in two columns whose labels have nothing to do with them."""
    rng = np.random.default_rng(0)
    return offset + rng.normal(size=(n, 2)), np.where(rng.random(n) < 0.5, -1.0, 1.0)


NEARER = [0.0, 1e2, 3e2, 1e3, 3e3, 1e4, 1e5, 1e7]


@pytest.mark.parametrize("offset", NEARER)
@pytest.mark.parametrize(
    ("kernel", "limit"), [("linear", 1e7), (2 * Linear(), 1e4)], ids=["linear", "product"]
)
def test_inseparable_samples_are_called_so_at_any_distance(kernel, limit, offset):
    X, y = mixed_plane(offset)
    with pytest.raises(ValueError, match="cannot be") as caught:
        HardMarginSVC(kernel).fit(X, y)
    assert isinstance(caught.value, NotSeparableError) == (offset <= limit)
    near, signs = mixed_plane(0.0)
    least = least_slack(near @ near.T, signs, np.ones(60))
    said = f"needs is {least:.6g}" if offset <= limit else "cannot be told"
    with pytest.raises(ValueError, match=said):
        BudgetSVC(0.9 * least, kernel=kernel).fit(X, y)


@pytest.mark.parametrize("offset", NEARER[:-1])
def test_least_slack_has_no_help_from_rounding(offset):
    near, signs = mixed_plane(0.0)
    X, _ = mixed_plane(offset)
    assert feature_coordinates(X @ X.T).shape[1] == 2
    least = least_slack(X @ X.T, signs, np.ones(60))
    assert least == pytest.approx(least_slack(near @ near.T, signs, np.ones(60)), rel=1e-6)


@pytest.mark.parametrize("offset", NEARER)
def test_a_thin_direction_that_separates_is_found_or_left_open(offset):
    X, y = mixed_plane(0.0)
    X = offset + np.column_stack([X, 1e-2 * y])
    assert HardMarginSVC().fit(X, y).margin_ == pytest.approx(1e-2, rel=1e-3)
    K = X @ X.T
    if offset <= 1e4:
        assert separability(K, y).separable
        assert least_slack(K, y, np.ones(60)) == pytest.approx(0.0, abs=1e-6)
    elif offset > 1e5:
        with pytest.raises(ValueError, match="cannot be told"):
            BudgetSVC(1.0, kernel=2 * Linear()).fit(X, y)


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8, 1e9, 1e12])
def test_budget_is_met_or_said_to_be_in_doubt(offset):
    X, y = separated_plane(offset)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if offset >= 1e8:
            with pytest.raises(ValueError, match="cannot be told"):
                BudgetSVC(5.0, kernel="poly", degree=3).fit(X, y)
            return
        machine = BudgetSVC(5.0, kernel="poly", degree=3).fit(X, y)
    assert bool(said) == (machine.status_ != "converged")
    if machine.status_ == "converged":
        assert machine.score(X, y) > 0.9
        assert machine.kkt_violation_ <= machine.tol


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e12])
@pytest.mark.parametrize(
    "make",
    [
        lambda: RadiusMarginScaling(2, kernel="linear"),
        lambda: RadiusMarginScaling(2, kernel="linear", criterion="span"),
        lambda: AdaptiveScaling(2, kernel="linear"),
    ],
    ids=["radius", "span", "adaptive"],
)
@pytest.mark.filterwarnings("error")
def test_scaling_of_a_linear_kernel_does_not_depend_on_the_origin(make, offset):
    X, y = separated_plane(offset)
    near, far = make().fit(X - offset, y), make().fit(X, y)
    assert far.order_.tolist() == near.order_.tolist()
    np.testing.assert_allclose(far.scale_, near.scale_, rtol=1e-2, atol=1e-3)
    values = far.decision_function(X)
    np.testing.assert_allclose(values, near.decision_function(X - offset), atol=0.05)


def test_scaling_without_an_optimum_gives_the_true_reason():
    X, y = separated_plane(1e9)
    selector = RadiusMarginScaling(2, kernel="poly", degree=2, coef0=1.0)
    with pytest.raises(ValueError, match="too far from the origin"):
        selector.fit(X, y)


def test_span_estimate_has_no_warning_of_its_matrix():
    X, y = separated_plane(1e4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RadiusMarginScaling(2, kernel="linear", criterion="span").fit(X, y)


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e7, 1e9, 1e11])
def test_one_class_far_from_the_origin_has_the_outliers_it_was_asked_for(offset):
    X = offset + np.random.default_rng(0).normal(size=(900, 2))
    machine = OneClassSVM(nu=0.5, kernel="linear").fit(X)
    assert machine.status_ == "converged"
    assert 0.4 <= (machine.predict(X) == -1).mean() <= 0.5
    values = machine.decision_function(X)
    assert np.corrcoef(values, X.sum(axis=1) - 2 * offset)[0, 1] > 0.999


@pytest.mark.parametrize("offset", [1e9, 1e11])
def test_one_class_says_that_digits_are_lost(offset):
    X = offset + np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(ConvergenceWarning, match="in floating point"):
        machine = OneClassSVM(nu=0.5, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X)
    assert machine.status_ == "stalled"


def plane_of_labels(offset, n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X + offset, np.where(X @ rng.normal(size=3) > 0, 1, -1)


STEPS = {
    "pegasos": lambda: PegasosClassifier(random_state=0),
    "subgradient": SubgradientClassifier,
}


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e9, 1e15])
@pytest.mark.parametrize("name", sorted(STEPS))
def test_machines_of_steps_say_that_samples_are_far(name, offset):
    X, y = plane_of_labels(offset)
    with pytest.warns(UnscaledWarning, match="farther from the origin") as said:
        STEPS[name]().fit(X, y)
    assert len(said) == 1
    assert "StandardScaler" in str(said[0].message)
    assert said[0].filename == __file__


def test_each_machine_of_steps_has_a_limit_of_its_own():
    X, y = plane_of_labels(10.0)
    with pytest.warns(UnscaledWarning, match="over 5 times"):
        SubgradientClassifier().fit(X, y)
    with pytest.warns(UnscaledWarning, match="over 20 times"):
        PegasosClassifier(random_state=0).fit(X + 90.0, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PegasosClassifier(random_state=0).fit(X, y)


@pytest.mark.filterwarnings("error::tamiz.validation.UnscaledWarning")
def test_pegasos_stands_ordinary_tables_that_are_not_centred():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    raised = 1.0 + 0.5 * y[:, None] * (np.arange(20) < 4)
    tables = {
        "counts": rng.poisson(30.0 * np.tile(raised, 3)),
        "expression": 8.0 + np.log2(np.tile(raised, 25)) + rng.normal(size=(200, 500)),
        "constant": np.column_stack([rng.normal(size=(200, 5)) + y[:, None], np.full(200, 1e3)]),
    }
    for X in tables.values():
        PegasosClassifier(random_state=0).fit(X, y)
        PegasosClassifier(random_state=0).partial_fit(X, y, classes=[0, 1])
        PegasosClassifier(random_state=0).fit_stream([(X, y)], passes=2)
    SubgradientClassifier().fit(tables["constant"], y)
    for name in ("counts", "expression"):
        X = np.asarray(tables[name], dtype=np.float64)
        machine = PegasosClassifier(random_state=0).fit(X[:100], y[:100])
        assert machine.score(X[100:], y[100:]) > 0.9, name


@pytest.mark.parametrize(("limit", "ratio"), [(5.0, 5.01), (20.0, 20.01)])
def test_the_limit_is_a_ratio_of_root_mean_squares(limit, ratio):
    spread = np.array([[-1.0], [1.0]])  # at a distance of one from its mean
    assert far_from_origin(spread + np.sqrt(ratio**2 - 1.0), limit)
    assert not far_from_origin(spread + np.sqrt((2 * limit - ratio) ** 2 - 1.0), limit)


def test_samples_are_far_in_any_unit():
    X, _ = plane_of_labels(1e4)
    for scale in (1e-150, 1.0, 1e150, 1e300):
        assert far_from_origin(scale * X)
        assert not far_from_origin(scale * (X - 1e4))


@pytest.mark.parametrize("name", sorted(STEPS))
@pytest.mark.filterwarnings("error::tamiz.validation.UnscaledWarning")
def test_ordinary_tables_are_not_far(name):
    for load_table in (load_breast_cancer, load_wine, load_iris, load_digits):
        X, y = load_table(return_X_y=True)
        STEPS[name]().set_params(max_iter=2).fit(X, y)
    counts = np.random.default_rng(0).poisson(20.0, size=(100, 5))
    STEPS[name]().fit(counts, np.arange(100) % 2)
    STEPS[name]().fit(np.full((4, 2), 1e9), [0, 1, 0, 1])  # nothing to subtract that would help
    X, y = plane_of_labels(1e3)
    STEPS[name]().set_params(fit_intercept=False).fit(X, y)  # the origin is meant


def test_streams_say_that_samples_are_far_once():
    X, y = plane_of_labels(1e3)
    stream = PegasosClassifier()
    with pytest.warns(UnscaledWarning, match="farther from the origin"):
        stream.partial_fit(X[:100], y[:100], classes=[-1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream.partial_fit(X[100:], y[100:])
        PegasosClassifier().partial_fit(X[:2], y[:2], classes=[-1, 1])  # too few to know
        PegasosClassifier().fit_stream([(X, y)], passes=2, standardize=True)
    with pytest.warns(UnscaledWarning, match="standardize=True"):
        PegasosClassifier().fit_stream([(X, y)], passes=2)


def test_perceptron_far_from_the_origin_gives_the_reason():
    X, y = plane_of_labels(1e4)
    with pytest.warns(ConvergenceWarning, match="far from the origin") as said:
        PerceptronClassifier().fit(X, y)
    assert len(said) == 1
    with pytest.warns(ConvergenceWarning, match="none will be"):
        PerceptronClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])


def test_a_norm_lost_in_rounding_leaves_a_gap_that_is_a_bound():
    X, y = 1000.0 + np.arange(5.0)[:, None], [-1, 1, -1, 1, 1]
    machine = SVC(kernel="poly", degree=2, coef0=1.0).fit(X, y)
    losses = np.maximum(0.0, 1.0 - y * machine.decision_function(X)).sum()
    assert machine.status_ == "converged"
    assert losses - 8 / 3 <= machine.duality_gap_ < 0.01  # the optimum without curvature is 8/3


def test_ball_contains_its_samples_where_distances_are_rounded():
    X = 1e75 * (1e6 + POINTS)
    assert SVDD(nu=0, kernel="poly", degree=2, coef0=1.0).fit(X).predict(X).tolist() == [1, 1, 1, 1]
