"""L1L2SVM against a general solver, against the machine without selection, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import L1L2SVM
from tamiz.runtime.progress import Progress
from tamiz.solvers import mixed_descent
from tamiz.solvers import mixed_hinge as solver
from tamiz.solvers import mixed_interior as interior
from tamiz.solvers.linear_program import best_intercept
from tamiz.solvers.mixed_interior import PenalisedHinge, certify, constant
from tamiz.svm import SVC
from tests.calls import interrupted
from tests.checks import assert_every_check_passes
from tests.naive import mixed_penalties as naive

QUIET = Progress("", 0)


def random_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Any shape, ties, constant and duplicate features, duplicate samples, uneven penalties."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 40)), int(rng.integers(1, 25))
    if seed % 10 == 0:
        n, p = 200, 5
    if seed % 10 == 5:
        n, p = 12, 80
    X = rng.normal(size=(n, p)) if seed % 2 else rng.integers(-2, 3, size=(n, p)).astype(float)
    if p > 2:
        X[:, 1] = X[:, 0]
        X[:, 2] = 3.0
    if n > 4:
        X[-1] = X[0]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    C = np.full(n, 10.0 ** rng.integers(-1, 3)) * (rng.uniform(0.5, 2.0, n) if seed % 3 else 1.0)
    nu = np.full(p, float(rng.choice([0.0, 0.1, 1.0, 5.0])))
    if seed % 4 == 0:
        nu *= rng.uniform(0.0, 2.0, p).round(1)  # penalties of their own, some of them zero
    return X, y, C, nu


def solved(X, y, C, nu, tol=1e-4, start=None):
    problem = PenalisedHinge(X, y, C, nu)
    return solver.solve_penalised(problem, tol=tol, max_iter=10_000, progress=QUIET, start=start)


# ------------------------------------------------------------------------------- the solver


@pytest.mark.parametrize("seed", range(60))
def test_minimum_of_a_general_solver(seed):
    X, y, C, nu = random_problem(seed)
    found = solved(X, y, C, nu)
    w, _, least = naive.l1l2_by_general_solver(X, y, C, nu)
    own = naive.l1l2_objective(X, y, C, nu, found.w, found.intercept)
    assert found.status == "converged"
    assert own == pytest.approx(found.objective, rel=1e-9)
    assert own <= least * (1 + 1e-8) + 1e-10
    assert found.gap <= 1e-7 * own
    # Half the squared distance to the minimum is at most what an objective lies above it.
    above = np.array([found.gap, max(least - own, 0.0) + found.gap])
    assert np.linalg.norm(found.w - w) <= np.sqrt(2.0 * above).sum() + 1e-9


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_dual_point_is_feasible_and_its_gap_bounds_the_distance(seed):
    X, y, C, nu = random_problem(seed)
    exact = solved(X, y, C, nu)
    rng = np.random.default_rng(seed)
    for blur in (0.0, 1e-6, 1e-2, 1.0):
        alpha = y * exact.c + blur * C * rng.normal(size=len(y))
        found = certify(PenalisedHinge(X, y, C, nu), alpha)
        assert abs(found.c.sum()) <= 1e-12 * C.sum()
        assert (found.c * y >= 0).all() and (found.c * y <= C * (1 + 1e-15)).all()
        true = found.objective - exact.objective
        noise = 1e-10 * (1 + exact.objective)
        assert -noise <= true <= found.gap + noise
        assert np.sum((found.w - exact.w) ** 2) <= 2 * (found.gap + exact.gap) + noise
        np.testing.assert_array_equal(found.w == 0, np.abs(found.correlation) <= nu)


@pytest.mark.parametrize("seed", range(30))
def test_intercept_is_best_and_in_the_middle(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    outputs = rng.integers(-3, 4, n) / 2
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    C = rng.choice([0.5, 1.0, 2.0], n) if seed % 2 else np.ones(n)
    assert best_intercept(outputs, y, C) == pytest.approx(naive.best_intercept(outputs, y, C))


def test_without_a_sample_on_its_margin_the_intercept_is_the_midpoint():
    """Two samples whose multipliers are both at C: any b in an interval is optimal."""
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    machine, peer = L1L2SVM(C=0.1, nu=0.0).fit(X, y), SVC(C=0.1, kernel="linear").fit(X, y)
    assert machine.intercept_[0] == pytest.approx(-0.05) == peer.intercept_[0]


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 8])
def test_sparse_and_dense_tables_give_the_same(seed):
    X, y, C, nu = random_problem(seed)
    dense, thin = solved(X, y, C, nu), solved(sparse.csr_matrix(X), y, C, nu)
    assert thin.objective == pytest.approx(dense.objective, rel=1e-9)
    np.testing.assert_allclose(thin.w, dense.w, atol=1e-7)
    np.testing.assert_array_equal(constant(sparse.csr_matrix(X)), constant(X))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("nu", [0.0, 0.5, 3.0])
def test_coordinate_descent_reaches_the_same_minimum(kind, nu):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.3)
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    C, penalties = rng.uniform(0.5, 1.5, 300), np.full(40, nu)
    table = sparse.csr_matrix(X) if kind == "sparse" else X
    found = mixed_descent.descend(PenalisedHinge(table, y, C, penalties), 1e-4, 20_000, QUIET)
    exact = solved(X, y, C, penalties)
    assert found.status == "converged"
    assert exact.objective <= found.objective * (1 + 1e-9)
    assert found.objective <= exact.objective * (1 + 1e-4)
    assert found.gap <= 1e-4 * found.objective


@pytest.mark.parametrize("C", [1e-3, 1e-2, 1e-1])
def test_coordinate_descent_does_not_let_whole_classes_leave_by_turns(C):
    """Nearly every sample is at a bound; the multiplier decides which."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(900, 12))
    y = np.where(X[:, 0] + rng.normal(size=900) > 0.5, 1.0, -1.0)
    problem = PenalisedHinge(X - X.mean(axis=0), y, np.full(900, C), np.zeros(12))
    found = mixed_descent.descend(problem, 1e-6, 100, QUIET)
    assert found.status == "converged" and found.within(1e-6)
    loose = solver.solve_penalised(
        problem, tol=1e-3, max_iter=100, progress=QUIET, to_rounding=False
    )
    exact = solver.solve_penalised(problem, tol=1e-3, max_iter=100, progress=QUIET)
    assert exact.within(1e-9) and loose.within(1e-3)
    assert exact.objective <= loose.objective * (1 + 1e-9)


def test_constant_columns_of_a_sparse_table_with_stored_zeros():
    data, column = (
        [0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 1.0, 3.0, 3.0, 4.0],
        [0, 2, 1, 1, 1, 3, 3, 4, 4, 4],
    )
    table = sparse.csr_array((data, ([0, 1, 0, 1, 2, 0, 1, 0, 1, 2], column)), shape=(3, 6))
    assert constant(table).tolist() == constant(table.toarray()).tolist()
    assert constant(table).tolist() == [True, True, True, False, False, True]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_sweep_keeps_its_books_and_descends(kind):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 8)) * (rng.random((50, 8)) < 0.5)
    y, C, nu = np.where(rng.random(50) < 0.5, 1.0, -1.0), np.full(50, 0.7), np.full(8, 0.4)
    alpha, u, beta, sigma = np.zeros(50), np.zeros(8), 0.1, 0.5
    squares = np.sum(X**2, axis=1)
    rows = mixed_descent._rows(sparse.csr_matrix(X) if kind == "sparse" else X)

    def value():
        c = y * alpha
        w = np.sign(X.T @ c) * np.maximum(np.abs(X.T @ c) - nu, 0.0)
        return 0.5 * w @ w - alpha.sum() + beta * c.sum() + 0.5 * sigma * c.sum() ** 2

    values, order, costs = [value()], np.arange(50), (y, C, nu, np.ones(50))
    excess = 0.0
    for _ in range(5):
        state, before = (beta, sigma, excess, 0.0), alpha.copy()
        excess, moved, worst = mixed_descent._sweep(rows, costs, squares, alpha, u, state, order)
        values.append(value())
        assert moved == np.count_nonzero(alpha != before)
        assert worst == pytest.approx(np.max(np.abs(alpha - before) * (squares + sigma)))
        np.testing.assert_allclose(u, X.T @ (y * alpha), atol=1e-12)
        assert excess == pytest.approx(y @ alpha) and 0 < moved <= 50
        assert sorted(order) == list(range(50))
        assert (alpha >= 0).all() and (alpha <= C).all()
    assert (np.diff(values) < 0).all()


def test_large_tables_begin_with_coordinate_descent(limits):
    X, y, C, nu = random_problem(10)
    expected = solved(X, y, C, nu)
    limits(solver, _MAX_NEWTON_WORK=0)
    by_descent = solved(X, y, C, nu, tol=1e-3)
    assert by_descent.within(1e-3)
    limits(solver, _FIRST_SWEEPS=20)
    helped = solved(X, y, C, nu, tol=1e-9)  # not to be had in twenty sweeps
    assert helped.within(1e-9) and helped.n_iter > 20
    assert helped.objective == pytest.approx(expected.objective, rel=1e-8)


def test_sparse_tables_begin_with_coordinate_descent_earlier(monkeypatch):
    """The matrix of a Newton step is dense whatever the table is."""
    called = []

    def pretended(problem, *arguments):
        called.append(type(problem.X))
        return certify(problem, 0.0 * problem.C)

    monkeypatch.setattr(solver, "descend", pretended)
    X = sparse.random(700, 4000, 0.002, format="csr", random_state=0)
    y = np.where(np.arange(700) % 2, 1.0, -1.0)
    solved(X, y, np.ones(700), np.zeros(4000))
    assert len(called) == 1
    solved(X[:60, :300], y[:60], np.ones(60), np.zeros(300))
    assert len(called) == 1


@pytest.mark.parametrize("limit", [1, 7, 25, 61])
def test_coordinate_descent_keeps_its_limit(limit):
    X, y, C, nu = random_problem(10)
    found = mixed_descent.descend(PenalisedHinge(X, y, C, nu), 1e-15, limit, QUIET)
    assert found.n_iter == limit and found.status == "max_iter"


def test_features_that_were_not_tried_at_first_are_found(monkeypatch, limits):
    """Many more features than samples: the most correlated are tried first, then those missed."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 1500))
    y = np.where(X[:, :5].sum(axis=1) > 0, 1.0, -1.0)
    C = np.ones(20)
    for nu in (np.full(1500, 0.5), rng.uniform(0.1, 2.0, 1500)):
        few = solved(X, y, C, nu)
        monkeypatch.setattr(solver, "polish", lambda problem, estimate, best: best)
        rough = solved(X, y, C, nu)  # polishing would find them too
        monkeypatch.undo()
        limits(solver, _VERY_MANY=np.inf)
        whole = solved(X, y, C, nu)
        monkeypatch.undo()
        assert rough.objective == pytest.approx(whole.objective, rel=1e-6)
        assert few.objective == pytest.approx(whole.objective, rel=1e-10)
        np.testing.assert_allclose(few.w, whole.w, atol=1e-9)
        again = solved(X, y, C, 1.1 * nu, start=few.c)
        assert again.objective == pytest.approx(solved(X, y, C, 1.1 * nu).objective, rel=1e-10)


@pytest.mark.parametrize("C", [1e-6, 1e-2, 1e2, 1e5])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_penalties_and_units_of_all_sizes(C, unit):
    X, y = load_breast_cancer(return_X_y=True)
    X = unit * StandardScaler().fit_transform(X)[:200]
    machine = solved(X, np.where(y[:200] == 1, 1.0, -1.0), np.full(200, C), np.full(30, 0.1 * unit))
    assert machine.status == "converged"


# ------------------------------------------------------------------------- the machine


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_without_the_second_penalty_it_is_the_linear_machine(wdbc, C):
    from sklearn.svm import SVC as Peer

    X, y = wdbc
    machine = L1L2SVM(C=C, nu=0.0).fit(X, y)
    ours = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    peer = Peer(C=C, kernel="linear", tol=1e-8).fit(X, y)
    assert machine.objective_ == pytest.approx(ours.objective_, rel=1e-7)
    np.testing.assert_allclose(machine.coef_, ours.coef_, atol=1e-5)
    np.testing.assert_allclose(machine.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(machine.intercept_, peer.intercept_, atol=1e-3)


def test_attributes(wdbc):
    X, y = wdbc
    machine = L1L2SVM(C=0.1, nu=2.0).fit(X, y)
    assert machine.status_ == "converged"
    assert machine.duality_gap_ <= 1e-10 * machine.objective_
    np.testing.assert_array_equal(machine.support_, machine.coef_[0] != 0)
    assert 3 < machine.support_.sum() < 25
    assert machine.transform(X).shape[1] == machine.support_.sum()
    np.testing.assert_array_equal(machine.scores_, np.abs(machine.coef_[0]))
    signs = np.where(y == 1, 1.0, -1.0)
    C, nu = np.full(len(y), 0.1), np.full(30, 2.0)
    value = naive.l1l2_objective(X, signs, C, nu, machine.coef_[0], machine.intercept_[0])
    assert machine.objective_ == pytest.approx(value, rel=1e-9)


def test_the_next_feature_to_enter_ranks_first_among_those_left_out(wdbc):
    X, y = wdbc
    machine = L1L2SVM(C=0.1, nu=4.0).fit(X, y)
    n_kept = int(machine.support_.sum())
    for nu in 4.0 - 0.1 * np.arange(1, 30):
        looser = L1L2SVM(C=0.1, nu=nu).fit(X, y)
        new = np.flatnonzero(looser.support_ & ~machine.support_)
        if len(new):
            assert machine.order_[n_kept] in new
            return
    pytest.fail("no feature entered")


def test_penalty_of_the_mean_loss(wdbc):
    X, y = wdbc
    by_mu = L1L2SVM(C=77.0, nu=1.0, mu=56.9).fit(X, y)
    by_C = L1L2SVM(C=0.1, nu=1.0).fit(X, y)
    np.testing.assert_allclose(by_mu.coef_, by_C.coef_, atol=1e-9)
    weight = np.full(len(y), 2.0)  # the mean does not notice
    weighted = L1L2SVM(nu=1.0, mu=56.9).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.coef_, by_C.coef_, atol=1e-9)


def test_weights_stand_for_repetitions():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, 2, 40)
    weight = rng.integers(0, 4, 40)
    weighted = L1L2SVM(C=0.5, nu=0.3).fit(X, y, sample_weight=weight)
    repeated = L1L2SVM(C=0.5, nu=0.3).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-9)


def test_shift_of_a_feature_changes_nothing_but_the_intercept(wdbc):
    X, y = wdbc
    machine, moved = (L1L2SVM(C=1.0, nu=1.0).fit(Z, y) for Z in (X, X + 1e6))
    np.testing.assert_allclose(moved.coef_, machine.coef_, atol=1e-6)
    np.testing.assert_allclose(moved.predict(X + 1e6), machine.predict(X))


def test_several_classes_in_a_pipeline_with_names():
    import pandas as pd

    frame, y = load_iris(return_X_y=True, as_frame=True)
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), L1L2SVM(nu=5.0))
    pipe.fit(frame, frame.assign(y=y)["y"].map({0: "a", 1: "b", 2: "c"}))
    machine = pipe[-1]
    assert machine.coef_.shape == (3, 4) and machine.duality_gap_.shape == (3,)
    assert pipe.score(frame, ["abc"[k] for k in y]) > 0.85
    assert isinstance(machine.transform(frame), pd.DataFrame)
    assert set(machine.get_feature_names_out()) <= set(frame.columns)
    search = GridSearchCV(pipe, {"l1l2svm__nu": [0.1, 1.0]}, cv=3).fit(frame, y)
    assert search.best_score_ > 0.9


def test_colon(data_dir):
    stored = np.load(data_dir / "colon.npz")
    X, y = np.log(stored["X"]), stored["y"]
    pipe = make_pipeline(StandardScaler(), L1L2SVM(C=1.0, nu=1.0)).fit(X, y)
    assert 30 < pipe[-1].support_.sum() < 80
    assert pipe[-1].duality_gap_ <= 1e-9 * pipe[-1].objective_
    assert cross_val_score(pipe, X, y, cv=5).mean() > 0.75


# ------------------------------------------------------------------------------ bad luck


def test_penalty_so_high_that_no_feature_enters(wdbc):
    X, y = wdbc
    with pytest.warns(UserWarning, match=r"every weight is zero.*Raise C or lower nu") as caught:
        machine = L1L2SVM(nu=1e4).fit(X, y)
    assert caught[0].filename == __file__
    assert not machine.support_.any() and not machine.coef_.any()
    assert set(machine.predict(X)) == {1}  # the larger class
    with pytest.warns(UserWarning, match="No features were selected"):
        assert machine.transform(X).shape == (569, 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("nu", [0.0, 0.1])
def test_constant_features_get_no_weight(form, nu):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=30), np.full(30, 0.1), np.zeros(30)])
    y = (X[:, 0] > 0).astype(int)
    machine = L1L2SVM(nu=nu).fit(form(X), y)
    np.testing.assert_array_equal(machine.support_, [True, False, False])
    with pytest.warns(UserWarning, match="every weight is zero"):
        nothing = L1L2SVM(nu=nu).fit(form(X[:, 1:]), y)
    assert len(set(nothing.predict(X[:, 1:]))) == 1


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": 0.0}, "'C'"),
        ({"C": -1.0}, "'C'"),
        ({"nu": -0.1}, "'nu'"),
        ({"mu": 0.0}, "'mu'"),
        ({"tol": 0.0}, "'tol'"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"n_features_to_select": 31}, "exceeds the 30 features"),
        ({"class_weight": {7: 1.0}}, "not among those of y"),
    ],
)
def test_absurd_parameters(wdbc, parameters, match):
    with pytest.raises(ValueError, match=match):
        L1L2SVM(**parameters).fit(*wdbc)


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        ([[1.0], [np.nan]], [0, 1], "NaN.*row 1"),
        ([[1.0], [np.inf]], [0, 1], "infinity"),
        ([[1.0], [2.0]], [0, 0], "one class only"),
        ([[1.0]], [0], "one class only"),
        ([["a"], ["b"]], [0, 1], "text"),
        ([[1e200], [2.0]], [0, 1], "very large values"),
    ],
)
def test_bad_input(X, y, match):
    with pytest.raises(ValueError, match=match):
        L1L2SVM().fit(X, y)


def test_class_of_weight_zero_takes_no_part(wdbc):
    X, y = wdbc
    with pytest.warns(UserWarning, match="every weight is zero"):
        machine = L1L2SVM(class_weight={0: 0.0, 1: 1.0}).fit(X, y)
    assert set(machine.predict(X)) == {1}
    assert machine.objective_ == 0.0


def test_limit_on_steps(wdbc):
    X, y = wdbc
    with pytest.warns(ConvergenceWarning, match=r"L1L2SVM: .*max_iter") as caught:
        machine = L1L2SVM(max_iter=2).fit(X, y)
    assert len(caught) == 1  # no weight yet, but not for the penalty
    exact = L1L2SVM().fit(X, y)
    assert machine.status_ == "max_iter" and machine.n_iter_ == 2
    assert machine.duality_gap_ >= machine.objective_ - exact.objective_ > 0


def test_interruption_keeps_what_was_reached(wdbc):
    X, y = wdbc
    told = pytest.warns(ConvergenceWarning, match="interrupted; the result so far is kept")
    with interrupted(interior, "_advance", at=9), told:
        machine = L1L2SVM().fit(X, y)
    assert machine.status_ == "interrupted"
    assert machine.score(X, y) > 0.9 and np.isfinite(machine.duality_gap_)


@pytest.mark.parametrize("step", [0, 1])
def test_an_early_interruption_gives_no_advice_on_the_penalty(wdbc, step):
    ctrl_c = interrupted(interior, "_advance", at=step + 1)
    with ctrl_c, pytest.warns(ConvergenceWarning, match="interrupted") as caught:
        machine = L1L2SVM().fit(*wdbc)
    assert len(caught) == 1 and not machine.coef_.any()  # what would look like a high penalty


def test_interruption_of_the_last_digits(wdbc):
    ctrl_c = interrupted(solver, "polish")
    with ctrl_c, pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = L1L2SVM().fit(*wdbc)
    assert machine.duality_gap_ <= 1e-6 * machine.objective_


def test_machines_of_several_classes_in_threads(monkeypatch):
    X, y = load_iris(return_X_y=True)
    one, many = L1L2SVM(nu=1.0).fit(X, y), L1L2SVM(nu=1.0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.coef_, many.coef_)
    np.testing.assert_array_equal(one.duality_gap_, many.duality_gap_)


def test_estimator_checks():
    assert_every_check_passes(L1L2SVM(class_weight="balanced"))
