"""What SVC promises: optimality, diagnostics, degenerate cases, warm starts, solvers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.kernels import RBF, Linear, Polynomial
from tamiz.svm import SVC, SVR
from tests.naive.qp import svc_objectives, violation


def data(seed=0, n=60, p=3):
    return make_classification(n, p, n_informative=2, n_redundant=0, flip_y=0.15, random_state=seed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_diagnostics_follow_their_definitions(seed, weighted):
    X, y = data(seed, n=40)
    weight = np.random.default_rng(seed).uniform(0.2, 3, 40) if weighted else np.ones(40)
    machine = SVC(C=0.7, gamma=0.4).fit(X, y, sample_weight=weight)
    C = 0.7 * weight
    signs = np.where(y == 1, 1.0, -1.0)
    K = machine.kernel_(X)
    alpha = machine.alpha_
    primal, dual = svc_objectives(K, signs, C, alpha, machine.intercept_[0])
    assert machine.objective_ == pytest.approx(primal)
    assert machine.dual_objective_ == pytest.approx(dual)
    assert machine.duality_gap_ == pytest.approx(primal - dual, abs=1e-8)
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    assert signs @ alpha == pytest.approx(0.0, abs=1e-10)
    Q = K * np.outer(signs, signs)
    assert violation(Q, -np.ones(40), signs, alpha, np.zeros(40), C) <= 1e-3
    f = machine.decision_function(X)
    np.testing.assert_allclose(machine.slack_, np.maximum(0, 1 - signs * f), atol=1e-9)
    # free vectors are exactly on the margin
    np.testing.assert_allclose((signs * f)[machine.free_support_], 1.0, atol=1e-3)
    assert set(machine.support_) == set(machine.free_support_) | set(machine.bounded_support_)
    norm = np.sqrt((alpha * signs) @ K @ (alpha * signs))
    assert machine.margin_ == pytest.approx(1 / norm)
    # ||w||^2 = sum(alpha) - sum(C xi) at the optimum
    assert norm**2 == pytest.approx(alpha.sum() - C @ machine.slack_, abs=1e-2)


def test_bias_without_free_vectors_is_the_midpoint():
    # Four samples at C so small that all are bounded; the hinge sum is flat in b over an interval.
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]]) + 0.3
    y = np.array([0, 0, 1, 1])
    machine = SVC(C=0.01, kernel="linear", tol=1e-9).fit(X, y)
    assert len(machine.free_support_) == 0
    w = machine.coef_[0, 0]
    signs = np.where(y == 1, 1.0, -1.0)
    grid = np.linspace(-3, 3, 60001)
    loss = np.maximum(0, 1 - signs * (w * X[:, 0] + grid[:, None])).sum(axis=1)
    flat = grid[loss <= loss.min() + 1e-9]
    assert machine.intercept_[0] == pytest.approx((flat[0] + flat[-1]) / 2, abs=1e-3)


def test_permutation_of_samples_changes_nothing():
    X, y = data(1)
    order = np.random.default_rng(0).permutation(len(y))
    a = SVC(gamma=0.3).fit(X, y)
    b = SVC(gamma=0.3).fit(X[order], y[order])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-8)


def test_labels_of_any_kind():
    X, y = data(2)
    names = np.array(["no", "yes"])[y]
    plain, named = SVC().fit(X, y), SVC().fit(X, names)
    np.testing.assert_array_equal(
        names[y == plain.predict(X)], named.predict(X)[y == plain.predict(X)]
    )
    swapped = SVC().fit(X, 1 - y)
    np.testing.assert_allclose(swapped.decision_function(X), -plain.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("solver", ["smo", "decomposition", "chunking", "auto"])
def test_warm_start_reaches_the_same_optimum_sooner(solver):
    X, y = make_classification(700, 20, random_state=0)
    cold = SVC(C=5.0, gamma=0.05, solver=solver, tol=1e-5).fit(X[:, 1:], y)
    machine = SVC(C=5.0, gamma=0.05, solver=solver, tol=1e-5, warm_start=True).fit(X, y)
    machine.fit(X[:, 1:], y)
    assert machine.dual_objective_ == pytest.approx(cold.dual_objective_, rel=1e-7)
    assert machine.n_iter_ < cold.n_iter_
    again = machine.n_iter_
    machine.fit(X[:, 1:], y)
    assert machine.n_iter_ < 0.2 * again + 10


def test_warm_start_with_other_samples_is_a_cold_start():
    X, y = data(3, n=80)
    machine = SVC(warm_start=True).fit(X, y)
    machine.fit(X[:50], y[:50])
    fresh = SVC().fit(X[:50], y[:50])
    np.testing.assert_allclose(machine.alpha_, fresh.alpha_, atol=1e-8)


def test_small_cache_takes_decomposition_and_agrees():
    X, y = make_classification(1200, 10, random_state=1)
    roomy = SVC(gamma=0.1, tol=1e-4).fit(X, y)
    tight = SVC(gamma=0.1, tol=1e-4, cache_mb=1).fit(X, y)
    assert tight.status_ == "converged"
    assert tight.dual_objective_ == pytest.approx(roomy.dual_objective_, rel=1e-6)


def test_kernel_objects_and_functions():
    X, y = data(4)
    by_name = SVC(kernel="rbf", gamma=0.2).fit(X, y).decision_function(X)
    for kernel in (RBF(gamma=0.2), RBF(width=np.sqrt(2.5)), lambda A, B: RBF(gamma=0.2)(A, B)):
        values = SVC(kernel=kernel).fit(X, y).decision_function(X)
        np.testing.assert_allclose(values, by_name, atol=1e-8)
    mixed = 0.5 * RBF(gamma=0.1) + Polynomial(degree=2)
    assert SVC(kernel=mixed).fit(X, y).score(X, y) > 0.8


def test_sparse_equals_dense():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = data(5, n=100, p=8)
    X[np.abs(X) < 0.7] = 0
    for kernel in ("linear", "rbf", "poly"):
        dense = SVC(kernel=kernel, gamma=0.2).fit(X, y)
        csr = SVC(kernel=kernel, gamma=0.2).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(
            csr.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-8
        )
        assert sparse.issparse(csr.support_vectors_)


def test_pipelines_and_grids():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SVC())
    grid = GridSearchCV(pipe, {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1]}, cv=3)
    assert grid.fit(X, y).best_score_ > 0.96
    grid = GridSearchCV(SVC(kernel=RBF(gamma=0.1)), {"kernel__gamma": [0.01, 0.1]}, cv=3)
    assert grid.fit(StandardScaler().fit_transform(X), y).best_params_ == {"kernel__gamma": 0.01}
    assert clone(SVC(kernel=Linear())).kernel == Linear()


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_tables_with_names(name):
    module = pytest.importorskip(name)
    X, y = load_iris(return_X_y=True)
    frame = module.DataFrame({f"f{j}": X[:, j] for j in range(4)})
    machine = SVC().fit(frame, module.Series(values=y) if name == "polars" else module.Series(y))
    assert list(machine.feature_names_in_) == ["f0", "f1", "f2", "f3"]
    np.testing.assert_array_equal(machine.predict(frame), SVC().fit(X, y).predict(X))


def test_tied_votes_go_to_the_larger_sum():
    # With three classes a cycle of votes is possible; the score must break it by the sums.
    from tamiz.svm.multiclass import class_scores

    decisions = np.array([[0.5, -2.0, 0.1]])  # 1 beats 0, 0 beats 2, 2 beats 1
    scores = class_scores(decisions, 3, "ovo")
    sums = {0: -0.5 + 2.0, 1: 0.5 - 0.1, 2: -2.0 + 0.1}
    assert scores[0].argmax() == max(sums, key=sums.get)
    assert np.ptp(np.round(scores)) == 0  # one vote each


def test_limit_leaves_a_usable_flagged_result():
    X, y = make_classification(500, 10, flip_y=0.2, random_state=2)
    with pytest.warns(UserWarning, match="max_iter=20"):
        machine = SVC(C=100, max_iter=20).fit(X, y)
    assert machine.status_ == "max_iter"
    assert machine.kkt_violation_ > 1e-3
    signs = np.where(y == 1, 1.0, -1.0)
    assert (machine.alpha_ >= 0).all()
    assert (machine.alpha_ <= 100).all()
    assert signs @ machine.alpha_ == pytest.approx(0.0, abs=1e-9)
    assert set(machine.predict(X)) <= {0, 1}
    with pytest.warns(UserWarning, match="max_iter=5"):
        SVR(max_iter=5).fit(X, X[:, 0])


def test_predictions_in_single_precision_are_close():
    X, y = make_classification(4000, 10, flip_y=0.3, random_state=3)
    machine = SVC(gamma=0.1).fit(X, y)
    assert machine._prepared.dtype == np.float32
    K = machine.kernel_(X[:200], machine.support_vectors_)
    exact = K @ machine.dual_coef_[0] + machine.intercept_[0]
    np.testing.assert_allclose(machine.decision_function(X[:200]), exact, atol=2.5e-4)


def test_many_classes_share_little_memory():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 10)
    X = rng.normal(size=(40, 5))[y] + 0.1 * rng.normal(size=(400, 5))
    machine = SVC().fit(X, y)
    assert machine.alpha_.shape == (780, 400)
    assert machine.alpha_.nnz <= 780 * 20
    assert machine.n_support_.sum() == len(machine.support_)
    assert machine.score(X, y) == 1.0


@pytest.mark.parametrize("n_classes", [3, 4])
def test_a_change_of_scheme_is_a_cold_start(n_classes):
    X, y = make_classification(200, 6, n_informative=4, n_classes=n_classes, random_state=0)
    machine = SVC(multiclass="ovr", warm_start=True).fit(X, y)
    before = machine.predict(X)
    machine.set_params(multiclass="ovo")
    np.testing.assert_array_equal(machine.predict(X), before)  # until it is fitted again
    machine.fit(X, y)
    fresh = SVC(multiclass="ovo").fit(X, y)
    np.testing.assert_allclose(machine.decision_function(X), fresh.decision_function(X), atol=1e-6)


def test_no_weights_are_left_of_a_linear_fit():
    X, y = data(6)
    machine = SVC(kernel="linear").fit(X, y)
    assert hasattr(machine, "coef_")
    assert not hasattr(machine.set_params(kernel="rbf").fit(X, y), "coef_")


def test_one_versus_one_in_single_precision_is_verified():
    X, y = make_classification(1500, 10, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)
    machine = SVC(C=50.0, gamma=0.02).fit(X, y)
    K = rbf_kernel(X, gamma=0.02)
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        part = np.flatnonzero((y == i) | (y == j))
        signs = np.where(y[part] == j, 1.0, -1.0)
        b = signs * machine.alpha_[[k]].toarray()[0][part]
        g = K[np.ix_(part, part)] @ b - signs
        upper = np.where(signs > 0, 50.0, 0.0)
        assert g[b > upper - 50.0].max() - g[b < upper].min() <= 1.3e-3


def test_an_indefinite_kernel_is_said_to_be_one():
    X, y = data(7)
    with pytest.warns(UserWarning, match="semi-definite"):
        machine = SVC(C=1e3, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert np.isnan(machine.margin_) or machine.margin_ > 0


def test_sparse_input_is_not_touched():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = data(8)
    table = sparse.csr_array(X)
    table.indices[:3] = table.indices[:3][::-1].copy()  # unsorted
    table.data[:3] = table.data[:3][::-1].copy()
    table.has_sorted_indices = False
    before = table.indices.copy()
    SVC().fit(table, y)
    np.testing.assert_array_equal(table.indices, before)


@pytest.mark.parametrize(
    "kernel", [Polynomial(degree=2), RBF(gamma=0.1), Polynomial(degree=2) + RBF(gamma=0.1)]
)
def test_parameters_that_are_set_later_do_not_change_a_fitted_machine(kernel):
    X, y = load_iris(return_X_y=True)
    machine = SVC(kernel=kernel).fit(X, y)
    before = machine.decision_function(X)
    names = [name for name in kernel.get_params() if name.endswith(("degree", "gamma"))]
    machine.set_params(**{f"kernel__{name}": 3 for name in names})
    assert names and np.array_equal(machine.decision_function(X), before)
    assert not np.array_equal(machine.fit(X, y).decision_function(X), before)


@pytest.mark.parametrize("cache_mb", [2000, 20], ids=["whole matrix", "working sets"])
def test_answers_do_not_depend_on_the_number_of_threads(monkeypatch, cache_mb):
    X, y = make_classification(4200, 6, flip_y=0.1, random_state=0)
    machines = []
    for threads in ("1", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        machines.append(SVC(C=10.0, gamma=0.2, cache_mb=cache_mb).fit(X, y))
    one, four = machines
    assert four.n_iter_ == one.n_iter_
    np.testing.assert_allclose(four.alpha_, one.alpha_, atol=1e-6)
    assert four.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(
        four.decision_function(X[:500]), one.decision_function(X[:500]), atol=1e-6
    )
