"""Shapley values of fitted models: against all subsets, and what is refused."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tamiz
from tamiz.explain import shapley, shapley_values
from tamiz.kernels import RBF, GapWeighted
from tamiz.svm import SVC, SVDD, SVR, HardMarginSVC, LinearMachine, OneClassSVM
from tests.calls import interrupted
from tests.naive import shapley as naive

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(80, 5, n_informative=4, n_redundant=0, random_state=0)
    return 3.0 * X + 1.0, y


def assert_equals_all_subsets(found, f, X, Z, rtol=1e-8):
    """Values and base of a model with one output, and that they add up."""
    wanted = np.array([naive.interventional(f, x, Z) for x in X])
    np.testing.assert_allclose(found.values, wanted, rtol=rtol, atol=1e-8)
    assert found.base == pytest.approx(np.mean(f(Z)), rel=1e-9, abs=1e-9)


MACHINES = [
    SVC(gamma=0.1),
    SVC(kernel="linear"),
    SVC(kernel="poly", gamma=0.1, coef0=1.0),
    SVC(kernel=RBF(gamma=0.1) + 0.1 * RBF(gamma=1.0)),
    SVR(gamma=0.1),
    SVR(kernel="linear"),
    OneClassSVM(gamma=0.1),
    SVDD(gamma=0.1),
    SVDD(kernel="linear"),
    SVDD(kernel="poly", degree=2, gamma=0.1, coef0=1.0),
    LinearMachine(),
    LogisticRegression(),
    LinearRegression(),
]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
@pytest.mark.parametrize("far", [0.0, 1e6], ids=["near", "far"])
def test_exact_values_equal_all_subsets(machine, far, data):
    X, y = data
    X = X + far
    if far and ("poly" in repr(machine) or isinstance(machine, LogisticRegression)):
        return  # powers of such numbers have no digits left, and the solver does not end
    fitted = clone(machine).fit(X, y)
    found = shapley_values(fitted, X[:2], X[5:8])
    assert found.method == "exact" and found.standard_error is None
    f = getattr(fitted, "decision_function", fitted.predict)
    rtol = 1e-4 if far else 1e-8
    size = 1e-4 if far else 1e-8
    wanted = np.array([naive.interventional(f, x, X[5:8]) for x in X[:2]])
    np.testing.assert_allclose(found.values, wanted, rtol=rtol, atol=size)
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, f(X[:2]), rtol=rtol, atol=size)


@pytest.mark.parametrize("value", ["interventional", "kernel_mean", "left_out"])
def test_values_add_up_whatever_stands_for_unknown_features(value, data):
    X, y = data
    machine = HardMarginSVC(kernel="rbf", gamma=1.0).fit(X, y)
    found = shapley_values(machine, X, value=value)
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, machine.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes_have_an_output_for_each_machine(multiclass):
    X, y = load_iris(return_X_y=True)
    machine = SVC(multiclass=multiclass).fit(X, load_iris().target_names[y])
    found = shapley_values(machine, X[::30], X[::50])
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, machine.pairwise_decision_function(X[::30]), atol=1e-9)
    first = {"ovo": "versicolor over setosa", "ovr": "setosa"}[multiclass]
    assert found.output_names[0] == first
    assert found.to_frame(first)["total"].to_numpy() == pytest.approx(total[:, 0])
    with pytest.raises(ValueError, match="output"):
        found.to_frame("fourth")


def test_scalers_and_selectors_leave_the_original_columns(data):
    X, y = data
    steps = StandardScaler(), "passthrough", SelectKBest(k=3), QuantileTransformer(n_quantiles=20)
    model = make_pipeline(*steps, SVC()).fit(X, y)
    found = shapley_values(model, X[:2], X[5:8])
    assert found.method == "exact"
    assert not found.values[:, ~model[2].get_support()].any()
    assert_equals_all_subsets(found, model.decision_function, X[:2], X[5:8])


def test_values_behind_an_imputer_are_exact(data):
    X, y = data
    holes = np.where(X > 4.0, np.nan, X)
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVC()).fit(holes, y)
    found = shapley_values(model, X[:2], X[5:8])
    assert found.method == "exact"
    assert_equals_all_subsets(found, model.decision_function, X[:2], X[5:8])


def test_steps_that_mix_columns_are_sampled(data):
    X, y = data
    model = make_pipeline(Normalizer(), SVC()).fit(X, y)
    found = shapley_values(model, X[:2], X[5:8], random_state=0)
    assert found.method == "permutations"


@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(5), DecisionTreeRegressor(max_depth=4), PoissonRegressor()]
)
def test_sampled_values_are_within_their_standard_error(model, data):
    X, y = data
    model.fit(X, y)
    Z = X[5:15]
    found = shapley_values(model, X[:3], Z, n_permutations=400, random_state=0)
    assert found.method == "permutations"

    def f(table):
        if hasattr(model, "predict_proba"):
            return model.predict_proba(table)[:, 1]
        return model.predict(table)

    wanted = np.array([naive.interventional(f, x, Z) for x in X[:3]])
    np.testing.assert_array_less(np.abs(found.values - wanted), 4.0 * found.standard_error + 1e-12)
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, f(X[:3]), atol=1e-10)
    again = shapley_values(model, X[:3], Z, n_permutations=400, random_state=0)
    np.testing.assert_array_equal(found.values, again.values)


def test_sampled_values_of_several_classes_are_those_of_probabilities():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    found = shapley_values(model, X[::50], X[::25], n_permutations=20, random_state=0)
    assert found.values.shape == (3, 4, 3) and found.output_names == ["0", "1", "2"]
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_proba(X[::50]), atol=1e-12)


def test_frames_and_sparse_tables(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    machine = SVC().fit(frame, y)
    found = shapley_values(machine, frame[:4], frame[5:9])
    plain = shapley_values(SVC().fit(X, y), sparse.csr_matrix(X[:4]), X[5:9])
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-12)
    assert list(found.to_frame().columns) == [*"abcde", "base", "total"]
    with pytest.raises(ValueError, match="columns of X"):
        shapley_values(machine, frame[list("edcba")])


def test_result_is_saved_and_drawn(data, tmp_path):
    X, y = data
    found = shapley_values(SVC().fit(X, y), X[:10], X[20:24])
    tamiz.save(found, tmp_path / "values.tamiz")
    again = tamiz.load(tmp_path / "values.tamiz")
    np.testing.assert_array_equal(found.values, again.values)
    bars = found.plot(top=3)
    assert [round(bar.get_width(), 9) for bar in bars.patches] == [
        round(v, 9) for v in sorted(found.importances)[-3:]
    ]
    dots = found.plot_dependence(2, ax=bars).collections[0].get_offsets()
    np.testing.assert_array_equal(dots, np.column_stack([X[:10, 2], found.values[:, 2]]))
    with pytest.raises(ValueError, match="feature"):
        found.plot_dependence("z")


def test_one_of_several_outputs_is_drawn():
    X, y = load_iris(return_X_y=True)
    found = shapley_values(SVC().fit(X, y), X[::15], X[::10])
    for k, name in enumerate(found.output_names):
        wanted = sorted(np.abs(found.values[:, :, k]).mean(axis=0))
        for output in (k, name):
            axes = found.plot(output=output)
            assert name in axes.get_xlabel()
            np.testing.assert_allclose([bar.get_width() for bar in axes.patches], wanted)
    whole = found.plot()
    assert "mean over 3 outputs" in whole.get_xlabel()
    widths = [bar.get_width() for bar in whole.patches]
    np.testing.assert_allclose(widths, sorted(found.importances))
    with pytest.raises(ValueError, match="output"):
        found.plot(output="nobody")


def test_a_background_is_drawn_from_long_tables(data):
    X, y = data
    machine = SVC().fit(X, y)
    long = np.vstack([X, X + 0.1])
    a, b = (shapley_values(machine, long, random_state=seed).base for seed in (0, 1))
    assert a != b
    assert shapley_values(machine, long, random_state=0).base == a


@pytest.mark.parametrize("value", ["interventional", "kernel_mean"])
@pytest.mark.parametrize("n", [1, 4])
def test_equal_rows_are_not_their_own_background(data, value, n):
    """Compared with themselves they would have zeros only."""
    X, y = data
    machine = SVC().fit(X, y)
    with pytest.raises(ValueError, match=r"X has 1 (different )?row, .*background="):
        shapley_values(machine, X[np.zeros(n, dtype=int)], value=value)
    other = shapley_values(machine, X[:1], X[5:], value=value)
    assert np.abs(other.values).max() > 0.01
    assert np.abs(shapley_values(machine, X[:2], value=value).values).max() > 0.01
    assert np.abs(shapley_values(machine, X[:1], value="left_out").values).max() > 0.01


def test_bad_input_gets_a_sentence(data):
    X, y = data
    machine = SVC().fit(X, y)
    with pytest.raises(ValueError, match="fitted to 5"):
        shapley_values(machine, X[:, :3])
    with pytest.raises(ValueError, match="background has 3 features"):
        shapley_values(machine, X, X[:, :3])
    with pytest.raises(ValueError, match="value"):
        shapley_values(machine, X, value="mean")
    with pytest.raises(ValueError, match="sampled"):
        shapley_values(SVC(kernel="sigmoid").fit(X, y), X, value="kernel_mean")
    with pytest.raises(ValueError, match="not fitted"):
        shapley_values(SVC(), X)
    with pytest.raises(ValueError, match="kernel values"):
        shapley_values(SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T)
    words = ["ab", "ba", "aab", "bba"]
    with pytest.raises(ValueError, match="strings"):
        shapley_values(SVC(kernel=GapWeighted(2)).fit(words, [0, 1, 0, 1]), words)
    with pytest.raises(ValueError, match=r"NaN|missing"):
        shapley_values(machine, np.where(X > 2, np.nan, X))


def test_groups_are_players_of_sampled_models(data):
    """Of two groups there are two orders, so that sampled values are those of all orders."""
    X, y = data
    model = DecisionTreeClassifier(random_state=0, max_depth=4).fit(X, y)
    groups = {"first": [0, 3], "second": [1, 2, 4]}
    found = shapley_values(
        model, X[:6], X[10:30], feature_groups=groups, n_permutations=2 * 20, random_state=0
    )

    def f(rows):
        return model.predict_proba(rows)[:, 1]

    Z = X[10:30]
    for x, got in zip(X[:6], found.values, strict=True):
        only = [np.where(np.isin(np.arange(5), g), x, Z) for g in groups.values()]
        a, b = (f(one).mean() for one in only)
        whole, none = f(x[None])[0], f(Z).mean()
        wanted = [(a - none + whole - b) / 2, (b - none + whole - a) / 2]
        np.testing.assert_allclose(got, wanted, atol=1e-12)
    assert found.feature_names == ["first", "second"] and np.isnan(found.X).all()
    assert list(found.to_frame()) == ["first", "second", "base", "total"]
    with pytest.raises(ValueError, match="group of several columns"):
        found.plot_dependence("first")


def test_groups_of_exact_models_are_sums(data):
    X, y = data
    model = SVC(gamma=0.1).fit(X, y)
    single = shapley_values(model, X[:6], X[10:30])
    found = shapley_values(model, X[:6], X[10:30], feature_groups=[[1, 4]])
    wanted = np.column_stack(
        [single.values[:, [0]], single.values[:, [1, 4]].sum(axis=1), single.values[:, 2:4]]
    )
    np.testing.assert_allclose(found.values, wanted)
    assert len(found.feature_names) == 4
    with pytest.raises(ValueError, match="one group at most"):
        shapley_values(model, X[:6], X[10:30], feature_groups=[[1], [1]])


def test_limit_says_where_the_second_class_begins(data):
    X, y = data
    models = {0.0: SVC(gamma=0.1), 0.5: DecisionTreeClassifier(max_depth=3, random_state=0)}
    for limit, model in models.items():
        found = shapley_values(model.fit(X, y), X[:20], X[20:], n_permutations=10, random_state=0)
        total = found.to_frame()["total"].to_numpy()
        assert found.limit == limit
        clear = np.abs(total - limit) > 1e-9
        np.testing.assert_array_equal((total > limit)[clear], model.predict(X[:20])[clear] == 1)
        assert not ((total != 0) & (np.abs(total) < 1e-12)).any()  # 0, and not 5e-17
    target = X[:, 0]
    regression = shapley_values(LinearRegression().fit(X, target), X[:5], X[5:])
    assert regression.limit is None


def test_interruption_keeps_the_samples_that_are_done(data):
    X, y = data
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    given = {"n_permutations": 10, "random_state": 0}
    whole = shapley_values(model, X[:8], X[8:], **given)
    with interrupted(shapley, "_draws", at=4), pytest.warns(RuntimeWarning, match="3 of 8"):
        part = shapley_values(model, X[:8], X[8:], **given)
    np.testing.assert_array_equal(part.values, whole.values[:3])
    assert len(part.X) == len(part.standard_error) == 3
    with interrupted(shapley, "_draws", at=1), pytest.raises(KeyboardInterrupt):
        shapley_values(model, X[:8], X[8:], **given)


def test_all_outputs_are_shown_if_none_is_named():
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = shapley_values(SVC(gamma=0.1).fit(X, y), X[::15], X[::10])
    frame = found.to_frame()
    assert len(found.output_names) == 3 and len(frame) == 3 * len(X[::15])
    for name in found.output_names:
        part = frame[frame["output"] == name].drop(columns="output")
        pd.testing.assert_frame_equal(part, found.to_frame(name))
    ax = found.plot_dependence(X.columns[2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == found.output_names
    for k, points in enumerate(ax.collections):
        drawn = np.asarray(points.get_offsets())[:, 1]
        np.testing.assert_allclose(drawn, found.values[:, 2, k])
    assert len(found.plot_dependence(X.columns[2], output=1).collections) == 1
    with pytest.raises(ValueError, match="must be one of"):
        found.to_frame("banana")
