"""L0L2SVM: each step against a general solver, the objective falls, and bad input is reported."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import L0L2SVM, L1L2SVM
from tamiz.embedded.sparse import l0l2 as module
from tamiz.solvers.concave import successive_linearisation
from tamiz.solvers.linear_program import best_intercept
from tamiz.solvers.mixed_interior import PenalisedHinge
from tests.calls import interrupted, interrupted_inside
from tests.checks import assert_every_check_passes
from tests.embedded.sparse.test_l1l2 import random_problem
from tests.naive import mixed_penalties as naive


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("seed", range(1, 40, 4))
@pytest.mark.parametrize("start", ["zero", "l2"])
def test_every_step_is_that_of_a_general_solver(seed, start, monkeypatch):
    monkeypatch.setattr(module, "merged", lambda *arguments: None)  # steps alone
    X, y, _, _ = random_problem(seed)
    rng = np.random.default_rng(seed)
    C, nu, a = (float(rng.choice(v)) for v in ([0.5, 5.0], [0.2, 1.0], [2.0, 5.0]))
    penalties = np.full(len(y), C)
    w = np.zeros(X.shape[1])
    if start == "l2":
        w, _, _ = naive.l1l2_by_general_solver(X, y, penalties, w)
    machine = L0L2SVM(C=C, nu=nu, a=a, start=start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no feature is left
        machine.fit(X, y)
    steps = len(machine.history_)
    values, last = naive.l0l2_by_linearisation(X, y, penalties, nu, a, w, steps)
    np.testing.assert_allclose(machine.history_, values, rtol=1e-5, atol=1e-8)
    assert machine.objective_ == machine.history_[-1]
    coef, b = machine.coef_[0], machine.intercept_[0]
    by_hand = naive.l0l2_objective(X, y, penalties, nu, a, coef, b)
    assert machine.objective_ == pytest.approx(by_hand, rel=1e-9)
    np.testing.assert_allclose(coef, last, atol=1e-2 * (1 + np.abs(last).max()))


@pytest.mark.parametrize(("C", "nu", "a"), [(1.0, 1.0, 5.0), (0.1, 1.0, 20.0), (10.0, 5.0, 1.0)])
def test_objective_never_rises(wdbc, C, nu, a):
    for start in ("zero", "l2"):
        machine = L0L2SVM(C=C, nu=nu, a=a, start=start).fit(*wdbc)
        assert len(machine.history_) == machine.n_iter_ > 1
        assert (np.diff(machine.history_) <= 0).all()
        assert machine.status_ == "converged"


def test_first_step_from_zero_is_the_convex_machine(wdbc):
    X, y = wdbc
    machine = L0L2SVM(C=1.0, nu=0.4, a=5.0, start="zero", max_iter=1)
    with pytest.warns(ConvergenceWarning, match="L0L2SVM: .*max_iter"):
        machine.fit(X, y)
    assert machine.n_iter_ == 1
    convex = L1L2SVM(C=1.0, nu=2.0).fit(X, y)
    np.testing.assert_allclose(machine.coef_, convex.coef_, atol=1e-9)


def test_the_better_start_is_kept(wdbc):
    for C, nu in ((1.0, 1.0), (0.1, 0.5)):
        zero, l2, best = (L0L2SVM(C=C, nu=nu, start=s).fit(*wdbc) for s in ("zero", "l2", "best"))
        assert best.objective_ == min(zero.objective_, l2.objective_)


def test_no_small_change_improves_the_objective(wdbc):
    """No saddle: nudged weights, with the best intercept for them, cost more."""
    X, y = wdbc
    signs, C = np.where(y == 1, 1.0, -1.0), np.ones(len(y))
    machine = L0L2SVM(C=1.0, nu=1.0, a=5.0, tol=1e-8).fit(X, y)
    rng = np.random.default_rng(0)
    for _ in range(50):
        w = machine.coef_[0] + 1e-3 * rng.normal(size=30) * (rng.random(30) < 0.2)
        b = best_intercept(X @ w, signs, C)
        loss = C @ np.maximum(0.0, 1.0 - signs * (X @ w + b))
        value = loss + 0.5 * w @ w + np.sum(1.0 - np.exp(-5.0 * np.abs(w)))
        assert value >= machine.objective_ * (1 - 1e-7)


@pytest.mark.parametrize("seed", [0, 1, 4])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_of_copies_of_a_feature_one_has_the_weight(seed, form):
    """Equal weights of copies are a saddle, or a minimum that one of them alone improves on."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(80, 5))
    y = Z[:, 0] - 0.5 * Z[:, 1] + 0.5 * rng.normal(size=80) > 0
    single = L0L2SVM(C=0.1, nu=1.0, a=5.0, tol=1e-8).fit(form(Z), y)
    assert single.coef_[0, 0] != 0
    for copies in (1, 2):
        X = np.column_stack([Z, *[Z[:, 0]] * copies])
        machine = L0L2SVM(C=0.1, nu=1.0, a=5.0, tol=1e-8).fit(form(X), y)
        assert machine.objective_ == pytest.approx(single.objective_, rel=1e-6)
        assert machine.coef_[0, 0] != 0 and not machine.coef_[0, 5:].any()  # the first one stays
        assert machine.order_[0] == 0
        assert (np.diff(machine.history_) <= 0).all()
        signs = np.where(y, 1.0, -1.0)
        coef, b = machine.coef_[0], machine.intercept_[0]
        value = naive.l0l2_objective(X, signs, np.full(80, 0.1), 1.0, 5.0, coef, b)
        assert machine.objective_ == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_first_of_two_copies_takes_the_weight_whichever_is_smaller(sign):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X = np.column_stack([X, sign * X[:, 0]])
    y, C = np.where(X[:, 0] > 0, 1.0, -1.0), np.full(40, 0.5)
    for small, large in ((0.4, 0.4 + 1e-15), (0.4 + 1e-15, 0.4)):
        w = np.array([small, 0.0, sign * large])
        moved = module.merged(PenalisedHinge(X, y, C, np.zeros(3)), w, 1.0, 5.0, np.inf)
        np.testing.assert_allclose(moved, [0.8, 0.0, 0.0])


def test_similarity_of_features_counts_a_sample_of_weight_two_twice():
    draw = np.random.default_rng([19, 2017])
    X, y, twice = _one_in_three_twice(draw)
    order = np.concatenate([np.arange(len(X)), np.flatnonzero(twice)])
    weighted = L0L2SVM().fit(X, y, sample_weight=1.0 + twice)
    doubled = L0L2SVM().fit(X[order], y[order])
    assert weighted.objective_ == pytest.approx(doubled.objective_, rel=1e-9)
    np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-6)


def _one_in_three_twice(draw):
    n, p = int(draw.integers(24, 50)), int(draw.integers(3, 6))
    X, _ = draw.normal(size=(n, p)), draw.normal(size=(12, p))
    y = draw.permutation(np.arange(n) % 2)
    X[:, :2] += draw.uniform(0.5, 2.0) * y[:, None]
    return X, y, draw.random(n) < 0.3


def test_a_merged_point_has_the_lower_objective_that_it_claims():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X = np.column_stack([X, -2.0 * X[:, 0]])  # a copy in another unit
    y, C = np.where(X[:, 0] > 0, 1.0, -1.0), np.full(40, 0.5)
    problem = PenalisedHinge(X, y, C, np.zeros(4))
    w = np.array([0.4, 0.0, 0.3, -0.2])
    value = naive.l0l2_objective(X, y, C, 1.0, 5.0, w, best_intercept(X @ w, y, C))
    moved = module.merged(problem, w, 1.0, 5.0, value)
    assert np.count_nonzero(moved) == 2 and moved[1] == 0.0
    lower = naive.l0l2_objective(X, y, C, 1.0, 5.0, moved, best_intercept(X @ moved, y, C))
    assert lower < value
    assert module.merged(problem, moved, 1.0, 5.0, 0.5 * lower) is None
    assert module.merged(problem, np.array([0.0, 1.0, 0.0, 0.0]), 1.0, 5.0, np.inf) is None


def test_fewer_features_than_the_convex_machine(wdbc):
    X, y = wdbc
    few, convex = L0L2SVM(C=0.1, nu=1.0).fit(X, y), L1L2SVM(C=0.1, nu=2.0).fit(X, y)
    assert few.support_.sum() < convex.support_.sum()
    assert few.score(X, y) >= convex.score(X, y) - 0.015
    assert few.duality_gap_ is None


def test_no_penalty_is_the_linear_machine(wdbc):
    X, y = wdbc
    free, plain = L0L2SVM(C=1.0, nu=0.0).fit(X, y), L1L2SVM(C=1.0, nu=0.0).fit(X, y)
    np.testing.assert_allclose(free.coef_, plain.coef_, atol=1e-8)


def test_ranking_of_the_features_that_left(wdbc):
    X, y = wdbc
    machine = L0L2SVM(C=1.0, nu=1.0, start="l2").fit(X, y)
    kept = int(machine.support_.sum())
    assert set(machine.order_[:kept]) == set(np.flatnonzero(machine.coef_[0]))
    short = L0L2SVM(C=1.0, nu=1.0, start="l2", tol=0.5).fit(X, y)  # ends early
    left_first = np.flatnonzero(short.coef_[0] == 0)
    assert len(left_first) < 30 - kept
    later = [j for j in machine.order_[kept:] if j not in left_first]
    assert machine.order_[kept : kept + len(later)].tolist() == later


def test_penalty_of_the_mean_loss_weights_sparse_tables_and_classes(wdbc):
    X, y = wdbc
    machine = L0L2SVM(C=0.1, nu=0.5).fit(X, y)
    same = L0L2SVM(C=9.0, nu=0.5, mu=56.9).fit(X, y)
    np.testing.assert_allclose(same.coef_, machine.coef_, atol=1e-8)
    thin = L0L2SVM(C=0.1, nu=0.5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, machine.coef_, atol=1e-5)
    twice = L0L2SVM(C=0.1, nu=0.5).fit(np.vstack([X, X]), np.append(y, y))
    weighted = L0L2SVM(C=0.1, nu=0.5).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-7)
    iris, three = load_iris(return_X_y=True)
    several = L0L2SVM(C=1.0, nu=0.5).fit(iris, three)
    threads = L0L2SVM(C=1.0, nu=0.5, n_jobs=3).fit(iris, three)
    np.testing.assert_array_equal(threads.coef_, several.coef_)
    assert several.coef_.shape == (3, 4) and len(several.history_) == 3
    assert several.score(iris, three) > 0.9


def test_colon(data_dir):
    stored = np.load(data_dir / "colon.npz")
    X, y = np.log(stored["X"]), stored["y"]
    pipe = make_pipeline(StandardScaler(), L0L2SVM(C=1.0, nu=0.1)).fit(X, y)
    assert 10 < pipe[-1].support_.sum() < 60
    assert cross_val_score(pipe, X, y, cv=5).mean() > 0.75


# ------------------------------------------------------------------------------ bad luck


def test_penalty_so_high_that_no_feature_enters(wdbc):
    with pytest.warns(UserWarning, match=r"every weight is zero.*Raise C or lower nu"):
        machine = L0L2SVM(nu=1e4).fit(*wdbc)
    assert not machine.support_.any()


def test_all_features_constant():
    X, y = np.ones((6, 2)), [0, 1, 0, 1, 0, 1]
    with pytest.warns(UserWarning, match="every weight is zero"):
        machine = L0L2SVM().fit(X, y)
    assert machine.objective_ == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": 0.0}, "'C'"),
        ({"nu": -1.0}, "'nu'"),
        ({"a": 0.0}, "'a'"),
        ({"start": "l1"}, "'start'"),
        ({"mu": -1.0}, "'mu'"),
    ],
)
def test_absurd_parameters(wdbc, parameters, match):
    with pytest.raises(ValueError, match=match):
        L0L2SVM(**parameters).fit(*wdbc)


@pytest.mark.parametrize("call", [0, 1, 3])
def test_interruption_keeps_the_last_whole_step(wdbc, call):
    X, y = wdbc
    full = L0L2SVM(C=1.0, nu=1.0).fit(X, y)
    told = pytest.warns(ConvergenceWarning, match="interrupted; the result so far is kept")
    with interrupted_inside(module, "solve_penalised", at=call + 1), told:
        machine = L0L2SVM(C=1.0, nu=1.0).fit(X, y)
    assert machine.status_ == "interrupted"
    assert machine.score(X, y) > 0.9 and machine.objective_ >= full.objective_


@pytest.mark.parametrize("call", [0, 1, 4])
def test_interruption_outside_the_solvers(wdbc, call):
    ctrl_c = interrupted(module, "solve_penalised", at=call + 1)
    with ctrl_c, pytest.warns(ConvergenceWarning, match="interrupted") as caught:
        machine = L0L2SVM(C=1.0, nu=1.0).fit(*wdbc)
    assert len(caught) == 1 and machine.status_ == "interrupted"
    assert (machine.score(*wdbc) > 0.9) == (call > 0)
    assert (machine.objective_ is None) == (call == 0)


def test_a_move_that_brings_nothing_is_not_tried_again():
    class Fit:
        status, w = "converged", np.array([1.0, 1.0])

    asked = []
    result = successive_linearisation(
        lambda penalties, previous: Fit(),
        lambda fit: 3.0,
        lambda size: np.ones(2),
        np.zeros(2),
        tol=1e-3,
        max_iter=50,
        moves=lambda fit, value: asked.append(value) or np.zeros(2),
    )
    assert asked == [3.0] and result.status == "converged" and result.n_iter == 3


def test_linearisation_ignores_a_step_that_rises():
    """Steps solved up to a tolerance may rise a little; the best point stays."""

    class Fit:
        status = "converged"

        def __init__(self, value):
            self.value, self.w = value, np.array([1.0, 0.0])

    values = iter([5.0, 3.0, 4.0])
    result = successive_linearisation(
        lambda penalties, previous: Fit(next(values)),
        lambda fit: fit.value,
        lambda size: np.ones(2),
        np.zeros(2),
        tol=1e-3,
        max_iter=10,
    )
    assert result.history == (5.0, 3.0, 3.0) and result.objective == result.fit.value == 3.0
    assert result.status == "converged" and result.left.tolist() == [np.inf, 1.0]


def test_estimator_checks():
    assert_every_check_passes(L0L2SVM(start="zero"))
