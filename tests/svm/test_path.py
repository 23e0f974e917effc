"""The engine for many nearly equal machines: rows, solutions, paths along C, built machines."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from tamiz.kernels import RBF, Linear, Polynomial
from tamiz.kernels.compiled import RowSource
from tamiz.qp import KernelQ
from tamiz.svm import SVC
from tamiz.svm.multiclass import decide, fit_binary, tasks
from tamiz.svm.path import following
from tamiz.svm.path.exact import fit, values_at
from tamiz.svm.path.following import FollowingMachines
from tamiz.svm.path.gram import GridGrams, LazyGram, radial, squared_distances
from tamiz.svm.path.penalties import ClassifierPath, PatientBinary, fit_once
from tamiz.svm.path.problem import BinaryDual, Doubt, SplitProblems
from tests.naive.tuning import squared_distances as slow_distances

RNG = np.random.default_rng(0)


def make(seed, n=80, p=5, ties=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 0] += y
    return (np.round(X) if ties else X), y


# ---------------------------------------------------------------------- rows


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 40])
def test_rows_of_the_kernel_matrix(n):
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(3, n)), rng.normal(size=(2, n))
    signs = np.array([1.0, -1.0, 1.0])
    D = np.square(B[:, :, None] - B[:, None]).sum(axis=0)
    P = B.T @ B
    more = np.einsum("c,cij->ij", signs, np.square(A[:, :, None] - A[:, None]))
    products = P + (A.T * signs) @ A
    wanted = {
        True: np.exp(np.minimum(-0.5 * (D + more), 0.0)),
        False: (1.0 + 0.5 * products) ** 3,
    }
    for by_distance, base in ((True, D), (False, P)):
        source = RowSource(base, A, signs, by_distance, 0.5, 1.0, 3)
        gram = LazyGram(source, np.full((n, n), np.nan))
        np.testing.assert_allclose(gram.diag, wanted[by_distance].diagonal(), rtol=1e-9, atol=1e-12)
        some = np.arange(0, n, 2)
        gram.rows(some)
        np.testing.assert_allclose(gram.K[some], wanted[by_distance][some], rtol=1e-9, atol=1e-12)
        assert np.isnan(gram.K[1::2]).all()  # nobody asked
        part = gram.part(some)
        part.rows(np.arange(len(some)))
        np.testing.assert_array_equal(part.K, gram.K[np.ix_(some, some)])


@pytest.mark.parametrize("single", [False, True])
def test_distances_are_those_of_all_pairs(single):
    X = RNG.normal(size=(150, 5)) + 1e4
    found = squared_distances(X, single)
    np.testing.assert_allclose(found, slow_distances(X), rtol=2e-7 if single else 1e-9, atol=1e-8)
    assert np.array_equal(found, found.T) and not found.diagonal().any()


def test_matrices_are_those_of_the_kernels():
    X = RNG.normal(size=(130, 4))
    base = GridGrams(X, single=False)
    for kernel in (RBF(gamma=0.3), Linear(), Polynomial(degree=3, gamma=0.2, coef0=1.0)):
        np.testing.assert_allclose(base.gram(kernel, np.float64), kernel(X), rtol=1e-9)
    coarse = GridGrams(X, single=True).gram(RBF(gamma=0.3), np.float32)
    assert coarse.dtype == np.float32
    assert np.abs(coarse - RBF(gamma=0.3)(X)).max() < 3e-7


def test_far_samples_have_kernel_value_zero():
    distances = np.array([[0.0, 1e30], [1e30, 0.0]])
    for dtype in (np.float32, np.float64):
        with np.errstate(under="ignore"):
            found = radial(distances, 10.0, np.dtype(dtype))
        assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


# ---------------------------------------------------------------------- solutions


def test_solutions_are_those_of_the_estimator():
    for seed in range(6):
        X, y = make(seed, ties=bool(seed % 2))
        signs = np.where(y == 1, 1.0, -1.0)
        C = 10.0 ** (seed - 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine = SVC(gamma=0.4, C=C).fit(X, y)
        K = np.ascontiguousarray(machine.kernel_(X))
        box = BinaryDual(np.arange(len(K)), signs, np.ones(len(K))).box(len(K), C)
        lower, upper = box.lower, box.upper
        D = np.square(X[:, None] - X[None]).sum(axis=2)
        source = RowSource(D, np.empty((0, len(X))), np.empty(0), True, 0.4, 0.0, 1)
        gram = LazyGram(source, np.full_like(D, np.nan))
        found = fit(gram, box)
        assert (found.b >= lower).all() and (found.b <= upper).all()
        assert abs(found.b.sum()) <= 1e-10 * np.abs(found.b).sum()
        objective = 0.5 * found.b @ (found.g - signs)
        assert -objective == pytest.approx(machine.dual_objective_, rel=1e-9)
        np.testing.assert_allclose(found.g, K @ found.b - signs, atol=1e-9 * (1 + C))
        if found.certain:
            values = found.g + signs - found.multiplier
            np.testing.assert_allclose(values, machine.decision_function(X), atol=1e-7)


def test_a_small_machine_in_a_matrix_of_its_own_has_the_same_values():
    X, y = load_iris(return_X_y=True)
    K = RBF(gamma=0.2)(X)
    some, test = np.flatnonzero((y != 2) & (np.arange(150) % 3 > 0)), np.arange(0, 150, 3)
    signs = np.where(y[some] == 1, 1.0, -1.0)
    dual = BinaryDual(some, signs, np.ones(len(some)))
    cut = values_at(dual, 5.0, LazyGram.filled(K), test, None)
    whole = fit(LazyGram.filled(K), dual.box(150, 5.0))
    np.testing.assert_allclose(cut, (K @ whole.b)[test] - whole.multiplier, atol=1e-8)
    coef, intercept, converged = fit_once(K[np.ix_(some, some)], signs, np.full(66, 5.0), 1e-9)
    assert converged
    np.testing.assert_allclose(K[np.ix_(test, some)] @ coef + intercept, cut, atol=1e-6)


def test_machines_that_follow_and_machines_fitted_at_once_agree():
    X, y = make(3, n=60)
    signs = np.where(y == 1, 1.0, -1.0)
    machines = FollowingMachines(list(tasks(y, 2, "ovo")), np.full(60, 2.0), 1e-3)
    for kept in (5, 4, 3):  # features leave, the solution is followed
        K = np.ascontiguousarray(RBF(gamma=0.3)(X[:, :kept]))
        machines.bank = machines.bank._replace(grams=K.ravel())
        machines.bank.diag[:] = K.diagonal()
        machines.forget_factors()
        machines.settle()
        box = BinaryDual(np.arange(60), signs, np.ones(60)).box(60, 2.0)
        np.testing.assert_allclose(machines.bank.b, fit(LazyGram.filled(K), box).b, atol=1e-8)
    assert machines.excess == 0.0


def test_a_factor_made_beforehand_is_that_of_the_free_block(limits):
    limits(following, LARGE=5, BLOCK=2)
    X, y = make(3, n=60)
    machines = FollowingMachines(list(tasks(y, 2, "ovo")), np.full(60, 2.0), 1e-3)
    K = np.ascontiguousarray(RBF(gamma=0.3)(X))
    machines.bank = machines.bank._replace(grams=K.ravel())
    machines.bank.diag[:] = K.diagonal()
    machines.settle()
    machines.forget_factors()
    machines.factor_ahead(0)
    bank, f = machines.bank, machines.bank.info[0, 0]
    free = bank.free[:f]
    assert (
        f > 5
        and (bank.b[free] > bank.lower[free]).all()
        and (bank.b[free] < bank.upper[free]).all()
    )
    U = np.triu(bank.factors[: bank.room[0] ** 2].reshape(bank.room[0], -1)[:f, :f])
    np.testing.assert_allclose(U.T @ U, K[np.ix_(free, free)] + bank.shift[0], atol=1e-12)


def test_along_C_every_solution_is_that_of_a_machine_from_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    K, train, test = RBF(gamma=0.05)(X), np.arange(400), np.arange(400, 569)
    path = ClassifierPath(SVC(), train, test, y, None)
    path.attach(K)
    patient = PatientBinary(SplitProblems(train, test, y, None, SVC()).duals()[0], test, 1e-8)
    patient.attach(K)
    for C in (0.1, 1.0, 10.0):
        machine = SVC(C=C, gamma=0.05).fit(X[train], y[train])
        wanted = machine.decision_function(X[test])
        np.testing.assert_allclose(path.answer(C).decisions, wanted, atol=1e-6)
        np.testing.assert_allclose(patient.values(C), wanted, atol=1e-5)


def test_no_machine_for_one_class_or_for_classes_without_weight():
    y = np.array([0, 0, 1, 1])
    everyone = np.arange(4)
    with pytest.raises(Doubt):
        SplitProblems(np.arange(2), everyone, y, None, SVC())
    with pytest.raises(Doubt):
        SplitProblems(everyone, everyone, y, None, SVC(class_weight={5: 1.0}))


def test_decisions_say_how_far_the_next_winner_is():
    winner, values, distance = decide(np.array([[0.5], [-2.0]]), 2, "ovo")
    assert (winner.tolist(), values.tolist(), distance.tolist()) == (
        [1, 0],
        [0.5, -2.0],
        [0.5, 2.0],
    )
    winner, _, distance = decide(np.array([[1.0, 0.25, -3.0]]), 3, "ovr")
    assert winner.tolist() == [0] and distance.tolist() == [0.75]
    _, _, distance = decide(np.array([[1.0, 1e-9, 1.0]]), 3, "ovo")
    assert distance[0] <= 1e-9


# ---------------------------------------------------------------------- built from a solution


@pytest.mark.parametrize("weights", [False, True])
def test_a_machine_built_from_its_solution_is_the_fitted_one(weights):
    X, y = load_iris(return_X_y=True)
    weight = 1.0 + np.arange(150) % 3 if weights else np.ones(150)
    weight[::10] = 0.0 if weights else 1.0
    params = {"C": 2.0, "kernel": RBF(gamma=0.3)}
    fitted = SVC(**params).fit(X, y, weight)
    used = np.flatnonzero(weight)
    solution = []
    for task in tasks(y[used], 3, "ovo"):
        rows = used[task.samples]
        Q = KernelQ(RBF(gamma=0.3), X[rows], np.float64)
        solution.append(fit_binary(Q, task.signs, 2.0 * weight[rows], tol=1e-3, polished=True))
    built = SVC.from_solution(X, y, solution, weight, **params)
    np.testing.assert_array_equal(built.support_, fitted.support_)
    np.testing.assert_allclose(built.decision_function(X), fitted.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(built.objective_, fitted.objective_)
    assert built.get_params()["C"] == 2.0 and built.status_ == fitted.status_
    with pytest.raises(ValueError, match="solution holds machines of"):
        SVC.from_solution(X[:140], y[:140], solution, weight[:140], **params)
