"""L1SVM and its path: what they drop, in what order, and what they say."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from tamiz.embedded import FSV, L1SVM, RobustLP, l1_svm_path
from tamiz.embedded.sparse import l1 as l1_path
from tamiz.solvers import linear_program
from tamiz.svm import SVC
from tests.calls import interrupted, interrupted_inside
from tests.checks import assert_every_check_passes
from tests.naive import sparse_machines as naive


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_it_drops_a_feature_where_the_other_penalty_shrinks_both():
    """(1, 0) is shorter than (.5, .6) in the ℓ1 norm and longer in the ℓ2 norm."""
    rng = np.random.default_rng(0)
    t = np.where(np.arange(80) % 2, 1.0, -1.0)
    X = np.column_stack([t, 0.8 * t]) + 0.05 * rng.normal(size=(80, 2))
    sparse_one = L1SVM(C=1.0).fit(X, t)
    round_one = SVC(C=1.0, kernel="linear").fit(X, t)
    assert sparse_one.coef_[0, 1] == 0.0 and sparse_one.coef_[0, 0] > 0.5
    assert np.abs(round_one.coef_).min() > 0.2
    assert np.abs(sparse_one.coef_).sum() < np.abs(round_one.coef_).sum()
    assert np.linalg.norm(sparse_one.coef_) > np.linalg.norm(round_one.coef_)


def test_vertebral_column(data_dir):
    """S0 ch. 3: of six measures only the first is dropped, with signs 0 + - - - +."""
    table = pd.read_csv(data_dir / "vertebral_2c.csv.gz")
    X = table.drop(columns="target").to_numpy()
    y = (table["target"] == "Abnormal").to_numpy().astype(int)
    pattern = np.array([0, 1, -1, -1, -1, 1])
    agree = 0
    for seed in range(100):
        Z, _, z, _ = train_test_split(X, y, train_size=217, random_state=seed)
        Z = (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1)
        machine = L1SVM(C=1.0).fit(Z, z)
        assert machine.coef_[0, 0] == 0.0
        agree += np.array_equal(np.sign(machine.coef_[0]), pattern)
    assert agree >= 80


@pytest.mark.parametrize("solver", ["auto", "lp", "interior_point"])
def test_objective_weights_and_gap(cancer, solver):
    X, y = cancer
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    machine = L1SVM(C=0.1, solver=solver, class_weight={0: 2.0}).fit(X, y, weight)
    signs = np.where(y == 1, 1.0, -1.0)
    C = 0.1 * weight * np.where(y == 0, 2.0, 1.0)
    least = naive.least_objective(X[C > 0], signs[C > 0], C[C > 0], np.ones(30))
    assert machine.objective_ == pytest.approx(least, rel=1e-7)
    assert machine.objective_ == pytest.approx(
        naive.objective(X, signs, C, np.ones(30), machine.coef_[0], machine.intercept_[0])
    )
    assert 0 <= machine.duality_gap_ <= 1e-6 * least
    np.testing.assert_array_equal(machine.support_, machine.coef_[0] != 0)
    assert machine.status_ == "converged"


def test_lambda_is_the_inverse_of_C(cancer):
    X, y = cancer
    np.testing.assert_array_equal(
        L1SVM(lambda_=20.0).fit(X, y).coef_, L1SVM(C=1 / 20).fit(X, y).coef_
    )


def test_features_without_weight_are_ranked_by_how_near_they_are(cancer):
    X, y = cancer
    machine = L1SVM(C=0.01).fit(X, y)
    n = machine.support_.sum()
    np.testing.assert_array_equal(
        machine.order_[:n], np.argsort(-np.abs(machine.coef_[0]), kind="stable")[:n]
    )
    signs = np.where(y == 1, 1.0, -1.0)
    found = linear_program.solve_hinge_program(
        linear_program.HingeProgram(X, signs, np.full(len(y), 0.01), np.ones(30))
    )
    near = np.abs(X.T @ (signs * found.alpha))[machine.order_[n:]]
    assert (np.diff(near) <= 1e-9).all() and near[0] < 1.0
    wanted = L1SVM(C=0.01, n_features_to_select=10).fit(X, y)
    np.testing.assert_array_equal(np.sort(wanted.order_[:10]), np.flatnonzero(wanted.support_))


def test_several_classes_tables_and_sparse():
    X, y = load_iris(return_X_y=True, as_frame=True)
    machine = L1SVM(C=0.5).fit(X, y)
    assert machine.coef_.shape == (3, 4) and machine.score(X, y) > 0.9
    assert machine.objective_.shape == machine.duality_gap_.shape == (3,)
    assert list(machine.transform(X).columns) == list(machine.get_feature_names_out())
    as_polars = L1SVM(C=0.5).fit(pl.from_pandas(X), y.to_numpy())
    np.testing.assert_array_equal(as_polars.coef_, machine.coef_)
    assert isinstance(as_polars.transform(pl.from_pandas(X)), pl.DataFrame)
    thin = L1SVM(C=0.5).fit(sparse.csr_matrix(X.to_numpy()), y)
    np.testing.assert_allclose(thin.objective_, machine.objective_, rtol=1e-8)


@pytest.mark.parametrize("machine", [L1SVM(C=0.3), RobustLP(), FSV()])
def test_balanced_is_balanced_in_every_machine(machine):
    """Three equal classes: each against the other two, as if these were two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(180, 2)) + np.repeat([0.0, 0.6, -0.6], 60)[:, None]
    y = np.repeat([0, 1, 2], 60)
    weight = rng.integers(1, 3, size=180)
    machine.set_params(class_weight="balanced").fit(X, y, weight)
    coef, objective = machine.coef_, machine.objective_
    for k in range(3):
        alone = machine.fit(X, (y == k).astype(int), weight)
        np.testing.assert_array_equal(coef[k], alone.coef_[0])
        assert objective[k] == alone.objective_ and coef[k].any()


@pytest.mark.parametrize("machine", [L1SVM(C=0.3), RobustLP(), FSV()])
def test_threads_change_nothing(machine):
    X, y = load_iris(return_X_y=True)
    alone = machine.set_params(n_jobs=None).fit(X, y).coef_
    np.testing.assert_array_equal(machine.set_params(n_jobs=2).fit(X, y).coef_, alone)
    with pytest.raises(ValueError, match="n_jobs=0"):
        machine.set_params(n_jobs=0).fit(X, y)


@pytest.mark.parametrize("solver", ["auto", "lp", "interior_point"])
def test_columns_of_all_sizes(solver):
    """From 1e-7 to 1e7, or varying by little about a million: weights in their own units."""
    rng = np.random.default_rng(0)
    size = 10.0 ** np.linspace(-7, 7, 12)
    U = rng.normal(size=(150, 12)) * size
    u = np.where(U[:, 0] * 1e7 + U[:, -1] * 1e-7 + 0.3 * rng.normal(size=150) > 0, 1.0, -1.0)
    machine = L1SVM(C=1e6, solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bound is beyond rounding, the weights are not
        machine.fit(U, u)
    C, c = np.full(150, 1e6), np.ones(12)
    least = naive.least_objective(U / size, u, C, c / size)  # HiGHS needs that: the same problem
    assert machine.objective_ == pytest.approx(least, rel=1e-7)
    value = naive.objective(U, u, C, c, machine.coef_[0], machine.intercept_[0])
    assert machine.objective_ == pytest.approx(value, rel=1e-9)
    near = np.round(rng.normal(size=(150, 6)) * 2**20) / 2**20
    u = np.where(near[:, 0] + 0.5 * rng.normal(size=150) > 0, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = L1SVM(C=1e6, solver=solver).fit(near + 2.0**20, u)
    least = naive.least_objective(near, u, C, c[:6])
    assert far.objective_ == pytest.approx(least, rel=1e-7) and far.score(near + 2.0**20, u) > 0.7


def test_in_a_grid_search(cancer):
    X, y = cancer
    search = GridSearchCV(
        make_pipeline(StandardScaler(), L1SVM()), {"l1svm__C": [0.003, 0.1]}, cv=3
    ).fit(X, y)
    assert search.best_params_ == {"l1svm__C": 0.1} and search.best_score_ > 0.94


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"C": 0.0}, "'C'"),
        ({"C": -1.0}, "'C'"),
        ({"lambda_": 0.0}, "lambda_"),
        ({"solver": "simplex"}, "solver"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_absurd_parameters(cancer, params, word):
    with pytest.raises(InvalidParameterError, match=word):
        L1SVM(**params).fit(*cancer)


@pytest.mark.parametrize("machine", [L1SVM(), RobustLP(), FSV()])
def test_bad_tables(machine):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="one class only"):
        machine.fit(X, np.zeros(6))
    with pytest.raises(ValueError, match=r"NaN \(first at row 2, column 1"):
        machine.fit(np.where(X == 5.0, np.nan, X), y)
    with pytest.raises(ValueError, match="holds text"):
        machine.fit([["a", 1.0], ["b", 2.0]], [0, 1])
    with pytest.raises(ValueError, match=r"one class only|sample"):
        machine.fit(X[:1], [0])
    with pytest.raises(ValueError, match="exceeds the 2 features"):
        type(machine)(n_features_to_select=3).fit(X, y)


@pytest.mark.parametrize("machine", [L1SVM(), L1SVM(solver="lp"), RobustLP(), FSV()])
def test_nothing_varies(machine):
    with pytest.warns(UserWarning, match="every weight is zero"):
        machine.fit(np.ones((6, 3)), [0, 1, 0, 1, 0, 0])
    assert not machine.support_.any() and machine.status_ == "converged"
    np.testing.assert_array_equal(machine.predict(np.ones((2, 3))), [0, 0])


def test_a_penalty_that_leaves_nothing(cancer):
    X, y = cancer
    with pytest.warns(UserWarning, match=r"every weight is zero.*Raise C"):
        machine = L1SVM(lambda_=1e6).fit(X, y)
    assert (machine.predict(X) == 1).all()  # the larger class
    assert machine.selection_.notes["n_nonzero"] == 0


def test_too_few_steps_are_reported(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        machine = L1SVM(max_iter=3, solver="interior_point").fit(X, y)
    assert machine.status_ == "max_iter" and machine.duality_gap_ > 0


def test_ctrl_c_keeps_what_was_reached(cancer):
    from tamiz.solvers import l1_interior

    X, y = cancer
    ctrl_c = interrupted(l1_interior._Path, "_step", at=12)
    with ctrl_c, pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = L1SVM(C=0.1).fit(X, y)
    assert machine.status_ == "interrupted"
    assert machine.score(X, y) > 0.9


# ---------------------------------------------------------------------------------- the path


def test_path_is_the_machines(cancer):
    X, y = cancer
    path = l1_svm_path(X, y, n_values=6, span=50)
    assert path.n_nonzero[0] <= 1 and path.n_nonzero[1] > 0
    for C, coef, objective in zip(path.Cs, path.coefs, path.objectives, strict=True):
        if path.Cs[0] == C:
            continue
        machine = L1SVM(C=C).fit(X, y)
        assert objective == pytest.approx(machine.objective_, rel=1e-7)
        np.testing.assert_allclose(coef, machine.coef_[0], atol=1e-6)
    assert (path.gaps <= 1e-6 * path.objectives).all()
    assert path.statuses == ("converged",) * 6
    # objective / C falls and the norm grows along the path
    assert (np.diff(np.abs(path.coefs).sum(axis=1)) >= -1e-9).all()
    early = path.entry[path.order]
    assert (np.diff(early) >= 0).all()
    np.testing.assert_array_equal(path.n_nonzero, (path.coefs != 0).sum(axis=1))


def test_path_takes_penalties_and_refuses_bad_ones(cancer):
    X, y = cancer
    np.testing.assert_array_equal(l1_svm_path(X, y, Cs=[0.1, 0.01]).Cs, [0.01, 0.1])
    for bad in ([], [0.0], [np.inf], "high"):
        with pytest.raises(ValueError, match=r"Cs=.* must hold positive, finite numbers"):
            l1_svm_path(X, y, Cs=bad)
    with pytest.raises(ValueError, match="3 classes"):
        l1_svm_path(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="No feature enters"):
        l1_svm_path(np.ones((6, 2)), [0, 1] * 3)


def test_path_weighs_samples_and_classes(cancer):
    X, y = cancer
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    given = {"class_weight": {0: 3.0}, "sample_weight": weight}
    path = l1_svm_path(X, y, Cs=[0.02, 0.2], **given)
    for C, objective in zip(path.Cs, path.objectives, strict=True):
        machine = L1SVM(C=C, class_weight={0: 3.0}).fit(X, y, weight)
        assert objective == pytest.approx(machine.objective_, rel=1e-9)
    balanced = l1_svm_path(X, y, Cs=[0.2], class_weight="balanced").objectives[0]
    assert balanced == pytest.approx(L1SVM(C=0.2, class_weight="balanced").fit(X, y).objective_)
    plain = l1_svm_path(X, y, n_values=3)
    for unit in (1e-13, 1e9):  # a common factor of the weights is one of C
        other = l1_svm_path(X, y, n_values=3, sample_weight=np.full(len(y), unit))
        np.testing.assert_allclose(other.Cs * unit, plain.Cs)
        np.testing.assert_array_equal(other.n_nonzero, plain.n_nonzero)
    with pytest.raises(ValueError, match="leaves class 0 without weight"):
        l1_svm_path(X, y, class_weight={0: 0})


def test_features_that_never_enter_come_by_nearness(cancer):
    X, y = cancer
    path = l1_svm_path(X, y, Cs=[0.004, 0.01])
    never = path.order[path.entry[path.order] == 2]
    assert len(never) > 20
    signs = np.where(y == 1, 1.0, -1.0)
    found = linear_program.solve_hinge_program(
        linear_program.HingeProgram(X, signs, np.full(len(y), 0.01), np.ones(30))
    )
    near = np.abs(X.T @ (signs * found.alpha))[never]
    assert (np.diff(near) <= 1e-7).all() and near[0] > near[-1] + 0.1


@pytest.mark.parametrize("ctrl_c", [interrupted_inside, interrupted])
@pytest.mark.parametrize("at", [1, 2, 4])
def test_interrupted_path_keeps_the_values_of_C_done(cancer, ctrl_c, at):
    X, y = cancer
    pressed = ctrl_c(l1_path, "solve_hinge_program", at=at)
    if at == 1:
        with pressed, pytest.raises(KeyboardInterrupt):
            l1_svm_path(X, y, n_values=4)
        return
    warned = pytest.warns(ConvergenceWarning, match=f"{at - 1} of 4 values of C were done")
    with pressed as calls, warned as told:
        path = l1_svm_path(X, y, n_values=4)
    assert told[0].filename == __file__
    assert len(path.Cs) == len(path.coefs) == at - 1 and len(calls) == at
    assert path.statuses == ("converged",) * (at - 1)


def test_path_tells_of_missed_tolerances(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="at 3 of 3 values of C"):
        path = l1_svm_path(X, y, n_values=3, max_iter=2, solver="interior_point")
    assert path.statuses == ("max_iter",) * 3 and (path.gaps > 1e-6 * path.objectives).all()


def test_path_can_be_drawn(cancer):
    import matplotlib

    matplotlib.use("Agg")
    path = l1_svm_path(*cancer, n_values=4)
    ax = path.plot(names=[f"gene {j}" for j in range(30)], top=2)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        f"gene {j}" for j in path.order[:2]
    ]


# ------------------------------------------------------------------- scikit-learn's own checks


def test_every_check_passes():
    assert_every_check_passes(L1SVM())
