"""Counterfactuals: optimal for linear machines, certain for others, and within what was asked."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler

import tamiz
from tamiz.evaluation import AutoScaler
from tamiz.explain import counterfactual
from tamiz.kernels import RBF, Linear
from tamiz.svm import SVC, SVR, LinearMachine, OneClassSVM

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(120, 5, n_informative=4, n_redundant=0, random_state=0)
    return X * [1.0, 10.0, 0.1, 1.0, 1e3] + [0.0, 5.0, 0.0, -3.0, 0.0], y


LINEAR = [
    make_pipeline(StandardScaler(), SVC(kernel="linear")),
    make_pipeline(StandardScaler(), LinearMachine()),
    make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression()),
]
CURVED = [
    make_pipeline(StandardScaler(), SVC()),
    make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=1.0)),
    make_pipeline(StandardScaler(), SVC(kernel=RBF(gamma=0.1) + 0.1 * Linear())),
    make_pipeline(StandardScaler(), OneClassSVM(nu=0.2)),
]


def boundary_distance(model, x, side, background, norm, low, high):
    """The least change by SciPy's solvers, in standard deviations; None if there is none."""
    scale = background.std(axis=0)
    f = lambda point: side * model.decision_function(point[None, :])[0]  # noqa: E731
    slope = np.array([f(x + scale * e) - f(x) for e in np.eye(len(x))])
    ends = (low - x) / scale, (high - x) / scale
    if norm == "l1":
        wide = np.concatenate([slope, -slope])
        caps = [(0, max(0, b)) for b in ends[1]] + [(0, max(0, -a)) for a in ends[0]]
        found = linprog(np.ones(2 * len(x)), A_ub=-wide[None, :], b_ub=[f(x)], bounds=caps)
        return found.fun if found.status == 0 else None
    found = minimize(
        lambda d: d @ d / 2,
        np.zeros(len(x)),
        jac=lambda d: d,
        bounds=list(zip(*ends, strict=True)),
        constraints={"type": "ineq", "fun": lambda d: slope @ d + f(x), "jac": lambda d: slope},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return float(np.sqrt(2 * found.fun)) if found.success else None


@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_linear_machines_get_the_least_change(model, norm, data):
    X, y = data
    model.fit(X, y)
    found = counterfactual(model, X[:8], X, norm=norm)
    assert found.method == "exact"
    low, high = X.min(axis=0), X.max(axis=0)
    for i in range(8):
        side = -1.0 if model.decision_function(X[i : i + 1])[0] > 0 else 1.0
        wanted = boundary_distance(model, X[i], side, X, norm, low, high)
        assert found.found[i] == (wanted is not None)
        if wanted is not None:
            assert found.distances[i] == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_small_decision_values_are_as_good_as_large_ones(C, norm):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 3)) + y[:, None] * [1.0, 0.0, 0.0]
    machine = SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
    found = counterfactual(machine, X, X, norm=norm, bounds=None)
    size = np.abs(machine.coef_[0] * X.std(axis=0))
    reach = np.linalg.norm(size) if norm == "l2" else size.max()
    assert found.method == "exact"
    np.testing.assert_allclose(found.distances, np.abs(machine.decision_function(X)) / reach, 1e-3)


@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("model", [*LINEAR, *CURVED], ids=repr)
def test_what_is_found_has_the_other_answer_and_is_within_the_bounds(model, norm, data):
    X, y = data
    model.fit(X, y)
    found = counterfactual(model, X[:6], X, norm=norm, fixed_features=[3], bounds={0: (None, 0.5)})
    assert found.found.any()
    here = found.found
    np.testing.assert_array_equal(model.predict(found.changed[here]), found.wanted[here])
    assert (found.wanted != found.predictions).all()
    np.testing.assert_array_equal(found.changed[here, 3], X[:6][here, 3])
    slack = 1e-9 * X.std(axis=0)
    least, most = np.minimum(X.min(axis=0), X[:6]), np.maximum(X.max(axis=0), X[:6])
    most[:, 0], least[:, 0] = np.maximum(0.5, X[:6, 0]), -np.inf
    assert (found.changed[here] <= most[here] + slack).all()
    assert (found.changed[here] >= least[here] - slack).all()
    steps = (found.changed - X[:6]) / X.std(axis=0)
    size = np.abs(steps).sum(axis=1) if norm == "l1" else np.linalg.norm(steps, axis=1)
    np.testing.assert_allclose(found.distances[here], size[here])


@pytest.mark.parametrize("model", CURVED[:3], ids=repr)
def test_a_local_search_is_nearer_than_samples_and_stands_on_the_boundary(model, data):
    X, y = data
    model.fit(X, y)
    found = counterfactual(model, X[:10], X)
    assert found.method == "local"
    guess, scale = model.predict(X), X.std(axis=0)
    for i in np.flatnonzero(found.found):
        others = X[guess == found.wanted[i]]
        nearest = np.linalg.norm((others - X[i]) / scale, axis=1).min()
        assert found.distances[i] <= nearest + 1e-9
        short = X[i] + 0.99 * (found.changed[i] - X[i])
        assert model.predict(short[None, :])[0] == found.predictions[i]


def test_the_nearest_point_of_a_circle_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(400, 2))
    y = (X**2).sum(axis=1) < 1.0
    model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=0.0, C=1e4).fit(X, y)
    x = np.array([[0.3, 0.4], [1.2, -0.9]])
    found = counterfactual(model, x, X)
    scale = X.std(axis=0)
    angle = np.linspace(0, 2 * np.pi, 20_001)
    for i in range(2):
        ray = np.column_stack([np.cos(angle), np.sin(angle)])
        at0 = model.decision_function(np.zeros((1, 2)))[0]
        radius = np.sqrt(at0 / (at0 - model.decision_function(ray)))
        edge = ray * radius[:, None]
        wanted = np.linalg.norm((edge - x[i]) / scale, axis=1).min()
        assert found.distances[i] == pytest.approx(wanted, rel=1e-3)


def test_no_way_out_is_said():
    X = np.array([[-1.0, 0.0], [1.0, 0.1], [-2.0, 0.2], [2.0, 0.3]])
    model = SVC(kernel="linear", C=100).fit(X, [0, 1, 0, 1])
    found = counterfactual(model, X[:1], X, fixed_features=[0])
    assert not found.found[0] and np.isnan(found.changed).all()
    assert "no change within the bounds" in found.sentence()
    with pytest.raises(ValueError, match="no counterfactual"):
        found.plot()
    assert counterfactual(model, X[:1], X, bounds={0: (-1.0, 0.5)}).found[0]


def test_the_result_is_a_sentence_a_table_and_a_picture_and_can_be_kept(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(frame, y)
    found = counterfactual(model, frame[:3], frame, norm="l1")
    table = found.to_frame()
    first = table[table["sample"] == 0]
    assert first["feature"].iloc[0] in found.sentence(0)
    assert np.abs(first["in_scales"]).sum() == pytest.approx(found.distances[0])
    widths = [bar.get_width() for bar in found.plot(0).patches]
    np.testing.assert_allclose(widths[::-1], first["in_scales"])
    tamiz.save(found, tmp_path / "kept.tamiz")
    pd.testing.assert_frame_equal(tamiz.load(tmp_path / "kept.tamiz").to_frame(), table)


def test_bad_input_gets_a_sentence(data):
    X, y = data
    model = SVC(kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="bounds"):
        counterfactual(model, X, X, bounds="wide")
    with pytest.raises(ValueError, match="lower bound first"):
        counterfactual(model, X, X, bounds={0: (1.0, 0.0)})
    with pytest.raises(ValueError, match="norm"):
        counterfactual(model, X, X, norm="l0")
    iris = load_iris()
    with pytest.raises(ValueError, match="two classes"):
        counterfactual(SVC().fit(iris.data, iris.target), iris.data, iris.data)
    with pytest.raises(ValueError, match="predicts numbers"):
        counterfactual(SVR(kernel="linear").fit(X, y), X, X)
    with pytest.raises(TypeError, match="keep columns apart"):
        counterfactual(make_pipeline(Normalizer(), SVC()).fit(X, y), X, X)
    bent = make_pipeline(QuantileTransformer(n_quantiles=20), SVC()).fit(X, y)
    with pytest.raises(ValueError, match="shift and scale"):
        counterfactual(bent, X, X)


def skewed():
    """Two columns with heavy tails, one of them known by a selector only, and one without."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.lognormal(3.0, 1.2, 150), rng.normal(size=150), rng.normal(size=150)])
    X = np.column_stack([X, rng.standard_t(2.0, 150)])
    return X, (np.log(X[:, 0]) + X[:, 1] + 0.3 * X[:, 3] > 3.0).astype(int)


def nearest_by_scipy(model, x, X, begin):
    """Least changes that SciPy finds from two points beyond the boundary."""
    scale = X.std(axis=0)
    side = -1.0 if model.decision_function(x[None])[0] > 0 else 1.0
    ends = zip((X.min(axis=0) - x) / scale, (X.max(axis=0) - x) / scale, strict=True)
    bounds = list(ends)
    far = X[np.argmax(side * model.decision_function(X))]
    found = [
        minimize(
            lambda d: d @ d / 2,
            (point - x) / scale,
            bounds=bounds,
            constraints={
                "type": "ineq",
                "fun": lambda d: side * model.decision_function((x + scale * d)[None])[0],
            },
            method="SLSQP",
        )
        for point in (begin, far)
    ]
    return [np.sqrt(2 * one.fun) for one in found if one.success]


@pytest.mark.parametrize(
    "steps",
    [
        [AutoScaler(), SVC(kernel="linear")],
        [AutoScaler(), SVC()],
        [AutoScaler(), LinearMachine()],
        [StandardScaler(), AutoScaler(), SelectKBest(k=3), StandardScaler(), SVC(C=3.0)],
        [SelectKBest(k=3), AutoScaler(), SVC(kernel="poly", degree=2, coef0=1.0)],
    ],
    ids=repr,
)
def test_behind_columns_that_are_drawn_in(steps):
    X, y = skewed()
    model = make_pipeline(*steps).fit(X, y)
    assert any(step.drawn_in_.any() for step in model if isinstance(step, AutoScaler))
    found = counterfactual(model, X[:6], X)
    assert found.method == "local" and found.found.all()
    assert (model.predict(found.changed) != model.predict(X[:6])).all()
    assert ((found.changed >= X.min(axis=0)) & (found.changed <= X.max(axis=0))).all()
    for i in range(6):
        tried = nearest_by_scipy(model, X[i], X, found.changed[i])
        assert found.distances[i] <= 1.02 * min(tried) + 1e-6


def test_without_heavy_tails_it_is_a_scale_and_exact():
    X, y = skewed()
    plain = X[:, [1, 2]]
    model = make_pipeline(AutoScaler(), SVC(kernel="linear")).fit(plain, y)
    other = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(plain, y)
    got, want = (counterfactual(one, plain[:5], plain) for one in (model, other))
    assert got.method == want.method == "exact"
    np.testing.assert_allclose(got.changed, want.changed, rtol=1e-5, atol=1e-8)
