"""L1SVM and its path: what they drop, in what order, and what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

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
from tamiz.solvers import linear_program
from tamiz.svm import SVC
from tests.naive import sparse_machines as naive

ROOT = Path(__file__).resolve().parent.parent.parent


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


def test_lambda_is_the_inverse_price(cancer):
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


def test_too_few_steps_are_told(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        machine = L1SVM(max_iter=3, solver="interior_point").fit(X, y)
    assert machine.status_ == "max_iter" and machine.duality_gap_ > 0


def test_ctrl_c_keeps_what_was_reached(cancer, monkeypatch):
    from tamiz.solvers import _l1_interior

    X, y = cancer
    steps = []
    step = _l1_interior._Path._step

    def pressed(self):
        steps.append(1)
        if len(steps) == 12:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(_l1_interior._Path, "_step", pressed)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
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
    # objective / C falls and the norm grows along the path
    assert (np.diff(np.abs(path.coefs).sum(axis=1)) >= -1e-9).all()
    early = path.entry[path.order]
    assert (np.diff(early) >= 0).all()
    np.testing.assert_array_equal(path.n_nonzero, (path.coefs != 0).sum(axis=1))


def test_path_takes_prices_and_refuses_bad_ones(cancer):
    X, y = cancer
    np.testing.assert_array_equal(l1_svm_path(X, y, Cs=[0.1, 0.01]).Cs, [0.01, 0.1])
    for bad in ([], [0.0], [np.inf], "high"):
        with pytest.raises(ValueError, match="Cs must hold"):
            l1_svm_path(X, y, Cs=bad)
    with pytest.raises(ValueError, match="3 classes"):
        l1_svm_path(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="No feature enters"):
        l1_svm_path(np.ones((6, 2)), [0, 1] * 3)


def test_path_can_be_drawn(cancer):
    import matplotlib

    matplotlib.use("Agg")
    path = l1_svm_path(*cancer, n_values=4)
    ax = path.plot(names=[f"gene {j}" for j in range(30)], top=2)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        f"gene {j}" for j in path.order[:2]
    ]


# ------------------------------------------------------------------- scikit-learn's own checks

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
import tamiz.embedded
estimator = eval(sys.argv[1], vars(tamiz.embedded).copy())
answers = [[a["check_name"], a["status"], repr(a["exception"])]
           for a in check_estimator(estimator, on_fail=None)]
print("ANSWERS" + json.dumps(answers))
"""


def assert_every_check_passes(text):
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, text],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (line,) = [s for s in done.stdout.splitlines() if s.startswith("ANSWERS")]
    answers = json.loads(line.removeprefix("ANSWERS"))
    assert len(answers) > 40
    assert [answer for answer in answers if answer[1] != "passed"] == []


@pytest.mark.parametrize("text", ["L1SVM()", "L1SVM(solver='interior_point')"])
def test_every_check_passes(text):
    assert_every_check_passes(text)
