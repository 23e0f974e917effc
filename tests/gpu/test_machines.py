"""Machines on the card, with NumPy in its place, against those of the CPU and plain sums."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from tamiz import SVC, load, save
from tamiz.gpu import NoCardError, emulated, lane_of
from tamiz.gpu.gram import UnfitForCardError
from tamiz.kernels import RBF, GapWeighted, Linear, QuadraticForm
from tamiz.qp import KernelQ, QuadraticProblem, kkt_violation, svc_problem, svr_problem
from tamiz.qp.card import CardQ
from tamiz.solvers import Status, solve, solve_smo
from tamiz.solvers.card import solve_on_card
from tamiz.svm import SVDD, SVR, HardMarginSVC, OneClassSVM
from tamiz.validation import NotEnoughMemoryError, ParameterError

STREAMED = 2e6  # bytes: less than the matrix of 700 samples


def two_classes(n=700, seed=0):
    return make_classification(n, 12, n_informative=6, flip_y=0.1, random_state=seed)


def numbers(n=400, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1]


# ---------------------------------------------------------------------- the solver


@pytest.mark.parametrize("working_set", [2, 20, 64, 1000])
@pytest.mark.parametrize("memory", [None, 1e6], ids=["whole", "streamed"])
def test_any_working_set_reaches_the_optimum(working_set, memory):
    X, y = two_classes(300)
    signs = 2.0 * y - 1.0
    expected = solve_smo(svc_problem(on_cpu(X), signs, 1.0), tol=1e-8)
    with emulated(memory) as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X)
        found = solve_on_card(svc_problem(Q, signs, 1.0), tol=1e-7, working_set=working_set)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    assert np.abs(found.a - expected.a).max() <= 1e-4
    assert ((found.a >= 0) & (found.a <= 1)).all() and abs(found.a @ signs) <= 1e-12


def on_cpu(X, gamma=0.1):
    """The same matrix without a card."""
    return KernelQ(RBF(gamma=gamma), X, np.float64)


@pytest.mark.parametrize("C", [0.01, 10.0])
def test_what_is_reported_is_computed_from_the_samples_in_float64(C):
    X, y = two_classes()
    signs = 2.0 * y - 1.0
    K = RBF(gamma=0.1)(X)
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X, np.float32)
        found = solve(svc_problem(Q, signs, C), tol=1e-3)
    assert found.precision == "float32"
    gradient = signs * (K @ (signs * found.a)) - 1.0
    assert np.abs(found.gradient - gradient).max() <= 1e-11
    ends = np.minimum(0, C * signs), np.maximum(0, C * signs)
    violation = kkt_violation(signs * found.a, signs * gradient, *ends)
    assert violation <= 1e-3 and found.violation == pytest.approx(violation, abs=1e-11)


def test_entries_in_float32_serve_any_tolerance_as_the_gradient_is_computed_anew():
    X, y = two_classes(500)
    exact = svc_problem(on_cpu(X, 0.02), 2.0 * y - 1.0, 1e4)
    with emulated() as lane:
        problem = svc_problem(CardQ(lane, RBF(gamma=0.02), X, np.float32), 2.0 * y - 1.0, 1e4)
        found = solve(problem, tol=1e-8)
    assert (found.precision, found.status) == ("float32", Status.CONVERGED)
    assert found.objective == pytest.approx(solve_smo(exact, tol=1e-8).objective, rel=1e-12)


def test_where_float32_does_not_suffice_float64_goes_on_and_it_is_said():
    X, y = two_classes(500)
    exact = svc_problem(on_cpu(X, 0.02), 2.0 * y - 1.0, 1e3)
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.02), X, np.float32)
        Q.gram.samples = Q.gram.samples._replace(rows=lane.xp.round(Q.gram.samples.rows, 1))
        found = solve(svc_problem(Q, 2.0 * y - 1.0, 1e3), tol=1e-6)
    assert (found.precision, found.status) == ("float64", Status.CONVERGED)
    assert found.objective == pytest.approx(solve_smo(exact, tol=1e-8).objective, rel=1e-9)


@pytest.mark.parametrize("squared", [False, True])
def test_regressions_reach_the_optimum(squared):
    X, target = numbers()
    expected = solve_smo(svr_problem(on_cpu(X), target, 2.0, 0.1, squared), tol=1e-8)
    with emulated() as lane:
        problem = svr_problem(CardQ(lane, RBF(gamma=0.1), X), target, 2.0, 0.1, squared)
        found = solve(problem, tol=1e-7)
        warm = solve(problem, tol=1e-7, start=found.a)
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    assert found.status is Status.CONVERGED and warm.iterations <= found.iterations / 2


def test_limits_and_interruptions_leave_a_point_with_its_gradient():
    X, y = two_classes()
    signs = 2.0 * y - 1.0
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X)
        problem = svc_problem(Q, signs, 10.0)
        few = solve_on_card(problem, max_iter=100, tol=1e-9, working_set=50)
        product, calls = Q.gram.add_product, []

        def interrupted(*args):
            calls.append(args)
            if len(calls) == 3:
                raise KeyboardInterrupt
            product(*args)

        Q.gram.add_product = interrupted
        stopped = solve_on_card(problem, tol=1e-9, working_set=50)
    assert (few.status, stopped.status) == (Status.MAX_ITER, Status.INTERRUPTED)
    for result in (few, stopped):
        assert result.a.any()  # what was reached is not lost
        gradient = signs * (RBF(gamma=0.1)(X) @ (signs * result.a)) - 1.0
        assert np.abs(result.gradient - gradient).max() <= 1e-9


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("max_iter", [-1, 100])
def test_what_is_reported_does_not_rest_on_sums_carried_along(dtype, max_iter):
    X, y = two_classes(300)
    signs = 2.0 * y - 1.0
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X, dtype)
        product = Q.gram.add_product
        Q.gram.add_product = lambda index, coef, out: product(index, 0.999 * coef, out)
        found = solve_on_card(svc_problem(Q, signs, 10.0), max_iter=max_iter)
    gradient = signs * (RBF(gamma=0.1)(X) @ (signs * found.a)) - 1.0
    assert np.abs(found.gradient - gradient).max() <= 1e-11
    assert found.status is (Status.MAX_ITER if max_iter > 0 else Status.CONVERGED)


def test_unbounded_and_infeasible_problems_are_recognised():
    with emulated() as lane:
        Q = CardQ(lane, Linear(), np.zeros((50, 2)))
        p = np.linspace(0, 1, 50)
        unbounded = QuadraticProblem(Q, p, d=1.0, lower=-np.inf)
        assert solve(unbounded).status is Status.UNBOUNDED
        assert solve(QuadraticProblem(Q, p, d=60.0, upper=1.0)).status is Status.INFEASIBLE


@pytest.mark.parametrize("solver", ["smo", "chunking"])
def test_solvers_of_the_cpu_are_refused_for_the_card(solver):
    with emulated(), pytest.raises(ParameterError, match='works on the CPU; with device="cuda"'):
        SVC(device="cuda", solver=solver).fit(*two_classes(60))


# ---------------------------------------------------------------------- the estimators

MACHINES = [
    SVC(C=1.0, gamma=0.05, tol=1e-4),
    SVC(C=100.0, gamma=0.05, tol=1e-4),
    SVC(kernel="linear", tol=1e-4),
    SVC(kernel="poly", gamma=0.05, coef0=1.0, tol=1e-4),
    SVC(kernel="rbf", class_weight="balanced", tol=1e-4),
    SVR(C=10.0, gamma=0.05, tol=1e-4),
    SVR(C=10.0, gamma=0.05, loss="squared", tol=1e-4),
    OneClassSVM(nu=0.2, gamma=0.05, tol=1e-4),
    SVDD(nu=0.2, gamma=0.05, tol=1e-4),
]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
@pytest.mark.parametrize("memory", [None, STREAMED], ids=["whole", "streamed"])
def test_machines_of_the_card_are_those_of_the_cpu(machine, memory):
    X, y = two_classes()
    y = X @ np.linspace(-1, 1, 12) if isinstance(machine, SVR) else y
    weight = np.where(np.arange(len(X)) % 7 == 0, 0.0, 1.0)
    expected = clone(machine).fit(X, y, sample_weight=weight)
    with emulated(memory):
        found = clone(machine).set_params(device="cuda").fit(X, y, sample_weight=weight)
        answers = found.predict(X)
        values = getattr(found, "decision_function", found.predict)(X)
    assert found.status_ == "converged" and found.device_.startswith("cuda")
    assert found.dual_objective_ == pytest.approx(expected.dual_objective_, rel=1e-6)
    assert found.duality_gap_ >= -1e-9 * abs(found.dual_objective_)
    reference = getattr(expected, "decision_function", expected.predict)(X)
    assert np.abs(values - reference).max() <= 5e-3 * max(1.0, np.ptp(reference))
    if not isinstance(machine, SVR):
        sure = np.abs(reference) > 1e-2 * np.ptp(reference)
        assert np.array_equal(answers[sure], expected.predict(X)[sure])
    # everything that comes back is NumPy's
    assert all(isinstance(getattr(found, a), np.ndarray) for a in ("alpha_", "dual_coef_"))


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_more_classes_than_two(scheme):
    X, y = make_classification(400, 10, n_informative=6, n_classes=4, random_state=0)
    expected = SVC(multiclass=scheme, tol=1e-5).fit(X, y)
    with emulated():
        found = SVC(multiclass=scheme, tol=1e-5, device="cuda").fit(X, y)
        assert np.array_equal(found.predict(X), expected.predict(X))
    assert np.allclose(found.dual_objective_, expected.dual_objective_, rtol=1e-8)


def test_the_gap_is_no_smaller_than_the_distance_to_the_optimum():
    X, y = two_classes()
    best = SVC(C=10.0, gamma=0.05, tol=1e-8).fit(X, y).dual_objective_
    with emulated():
        for tol in (1e-1, 1e-2, 1e-3):
            found = SVC(C=10.0, gamma=0.05, tol=tol, device="cuda").fit(X, y)
            assert best - found.dual_objective_ <= found.duality_gap_ + 1e-9 * best
            assert found.objective_ >= best * (1 - 1e-9)


def test_the_same_problem_has_the_same_answer_to_the_bit():
    X, y = two_classes()
    with emulated():
        one, other = (SVC(C=10.0, device="cuda").fit(X, y) for _ in range(2))
    assert np.array_equal(one.alpha_, other.alpha_) and one.intercept_ == other.intercept_


def test_warm_starts_take_fewer_steps():
    X, y = two_classes()
    with emulated():
        machine = SVC(C=10.0, gamma=0.05, device="cuda", warm_start=True).fit(X, y)
        first = machine.n_iter_
        machine.fit(X, y)
    assert machine.n_iter_ <= first / 10


def test_models_fitted_on_a_card_load_and_predict_without_one(tmp_path):
    X, y = two_classes(200)
    with emulated():
        machine = SVC(device="cuda").fit(X, y)
        expected = machine.decision_function(X)
    save(machine, tmp_path / "model.tamiz")
    loaded = load(tmp_path / "model.tamiz")
    assert loaded.device_ == machine.device_ and loaded.device == "cuda"
    assert np.abs(loaded.decision_function(X) - expected).max() <= 1e-9
    del loaded.device  # a file from before there was one
    assert np.abs(loaded.decision_function(X) - expected).max() <= 1e-9
    assert clone(loaded).device is None


# ---------------------------------------------------------------------- errors


def test_what_the_card_does_not_take_is_refused_or_left_to_the_cpu():
    from scipy import sparse

    X, y = two_classes(80)
    cases = [
        (SVC(kernel="precomputed"), X @ X.T, "A precomputed matrix is on the host"),
        (SVC(kernel=QuadraticForm(np.eye(12))), X, "is no kernel that the card computes"),
        (SVC(), sparse.csr_array(X), "X is sparse, and the card takes dense"),
        (SVC(kernel=GapWeighted(length=2)), ["abc", "abd"] * 40, "no kernel that the card"),
    ]
    with emulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for machine, table, sentence in cases:
            with pytest.raises(UnfitForCardError, match=sentence):
                clone(machine).set_params(device="cuda").fit(table, y)
            found = clone(machine).set_params(device="auto").fit(table, y)
            assert found.device_ == "cpu"
            assert np.array_equal(found.predict(table), machine.fit(table, y).predict(table))


def test_auto_is_the_cpu_where_the_solver_or_the_memory_of_the_card_says_so():
    X, y = two_classes(80)
    expected = SVC().fit(X, y)
    with emulated():
        for solver in ("smo", "chunking"):
            assert SVC(device="auto", solver=solver).fit(X, y).device_ == "cpu"
        assert SVC(device="auto", solver="decomposition").fit(X, y).device_ == "cuda, float64"
    with emulated(3000):  # not even the samples
        with pytest.raises(NotEnoughMemoryError, match="samples would fit"):
            SVC(device="cuda").fit(X, y)
        found = SVC(device="auto").fit(X, y)
        assert found.device_ == "cpu" and np.array_equal(found.alpha_, expected.alpha_)
        assert np.array_equal(found.predict(X), expected.predict(X))


def test_without_a_card_cuda_is_refused_and_auto_is_the_cpu():
    X, y = two_classes(80)
    if has_card():
        assert SVC(device="auto").fit(X, y).device_.startswith("cuda")
        return
    with pytest.raises(NoCardError, match="cpu"):
        SVC(device="cuda").fit(X, y)
    assert SVC(device="auto").fit(X, y).device_ == "cpu"


def has_card():
    try:
        return lane_of("cuda") is not None
    except NoCardError:
        return False


def test_unknown_devices_are_refused_by_the_estimators():
    with pytest.raises(ValueError, match="device"):
        SVC(device="gpu").fit(*two_classes(60))
    assert "device" not in HardMarginSVC().get_params()
