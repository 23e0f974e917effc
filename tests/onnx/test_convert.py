"""Graphs of fitted models answer as the models do."""

from __future__ import annotations

import json
import sys
from unittest import mock

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import tamiz
from tamiz.embedded import KPSVM
from tamiz.evaluation import AutoScaler, CovariateAdjuster
from tamiz.kernels import RBF, Linear, Polynomial, QuadraticForm, Sigmoid
from tamiz.neighbors import KNNClassifier
from tamiz.search import ForwardSelection
from tamiz.svm import (
    SVDD,
    BudgetSVC,
    HardMarginSVC,
    LinearMachine,
    LinearMachineRegressor,
    OneClassSVM,
    PegasosClassifier,
    PerceptronClassifier,
)
from tamiz.tree import (
    BoostingClassifier,
    BoostingRegressor,
    CARTClassifier,
    CARTRegressor,
    ForestClassifier,
)

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
CANCER = CANCER[0][::3], CANCER[1][::3]
DIABETES = load_diabetes(return_X_y=True)
DIABETES = DIABETES[0][::3], DIABETES[1][::3]


def run(model, X, dtype="float64"):
    session = runtime.InferenceSession(tamiz.to_onnx(model, dtype=dtype).SerializeToString())
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X.astype(dtype)}), strict=True))


def same(model, X, dtype="float64"):
    found, X = run(model, X, dtype), X.astype(dtype).astype(np.float64)
    compared = 0
    for name, method in (
        ("decisions", "decision_function"),
        ("probabilities", "predict_proba"),
    ):
        assert (name in found) == hasattr(model, method)
        if name in found:
            wanted = getattr(model, method)(X)
            assert found[name].dtype == dtype
            assert found[name].shape == wanted.shape
            np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-5)
            compared += 1
    wanted = model.predict(X)
    if "value" in found:
        np.testing.assert_allclose(found["value"], wanted, rtol=1e-5, atol=1e-5)
    else:
        # support vectors of a machine of one class lie on its boundary, up to rounding
        values = np.asarray(found.get("decisions", np.ones(len(X))))
        clear = np.abs(values) > 1e-8 if values.ndim == 1 else np.ones(len(X), dtype=bool)
        assert found["label"][clear].tolist() == wanted[clear].tolist()
        assert clear.mean() > 0.8
    assert compared or "value" in found


CLASSIFIERS = [
    tamiz.SVC(),
    tamiz.SVC(multiclass="ovr", kernel="poly"),
    tamiz.SVC(kernel="linear"),
    LinearMachine(loss="logistic"),
    tamiz.L1SVM(),
    CARTClassifier(),
    ForestClassifier(n_estimators=7, random_state=0),
    BoostingClassifier(n_estimators=7),
    tamiz.SVMRFE(n_features_to_select=2),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: str(model)[:30])
def test_classifiers_answer_as_they_do(model, data, dtype):
    same(make_pipeline(StandardScaler(), model).fit(*data), data[0], dtype)


@pytest.mark.parametrize(
    "model",
    [
        tamiz.SVR(C=100.0),
        LinearMachineRegressor(),
        CARTRegressor(),
        BoostingRegressor(n_estimators=7),
        tamiz.L1SVM(task="regression"),
        make_pipeline(RobustScaler(), tamiz.SVR(kernel="linear")),
    ],
    ids=lambda model: str(model)[:30],
)
def test_regressions_answer_as_they_do(model):
    same(model.fit(*DIABETES), DIABETES[0])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("kind", [OneClassSVM, SVDD])
def test_machines_of_one_class_answer_as_they_do(kind, kernel):
    X = IRIS[0]  # around the origin a linear one would have no weights
    same(kind(kernel=kernel).fit(X), X)


@pytest.mark.parametrize(
    "kernel",
    [
        0.5 * RBF(gamma=0.1) + Polynomial(degree=2),
        RBF(gamma=0.2) * Linear(),
        (0.1 * Linear()).exp(),
        RBF(gamma=0.3).poly([1, 0, 2]),
        QuadraticForm(np.diag([1.0, 2.0, 3.0, 4.0])),
        Sigmoid(gamma=0.01),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_kernels_have_the_values_they_have(kernel):
    X = StandardScaler().fit_transform(IRIS[0])
    same(tamiz.SVC(kernel=kernel).fit(X, IRIS[1]), X)
    same(SVDD(kernel=kernel).fit(X), X)


def test_samples_far_from_the_origin_keep_their_digits():
    X, y = IRIS[0] + 1e7, IRIS[1]
    same(tamiz.SVC(kernel="linear").fit(X, y), X)
    same(LinearMachine().fit(X, y), X)


def test_a_value_on_a_threshold_goes_left():
    X = np.array([[0.0], [2.0]] * 3)
    for model in (CARTClassifier(), ForestClassifier(n_estimators=3, min_samples_leaf=1)):
        same(model.fit(X, [0, 1] * 3), np.array([[1.0], [1.0 + 1e-9]]))


def test_thresholds_of_trees_are_not_rounded():
    X = np.array([[1.0], [1.0 + 1e-12]] * 3)
    same(CARTClassifier().fit(X, [0, 1] * 3), X)


@pytest.mark.parametrize("scaler", [MinMaxScaler(clip=True), AutoScaler(), StandardScaler()])
def test_scalers_and_selectors_stand_before_a_machine(scaler):
    X, y = CANCER
    names = np.array(["benign", "malignant"])[y]
    same(make_pipeline(scaler, tamiz.FisherScore(5), tamiz.SVC()).fit(X, names), 1.5 * X)


def test_scaling_factors_are_part_of_the_graph():
    X = StandardScaler().fit_transform(IRIS[0])[:100]
    same(KPSVM(n_features_to_select=2).fit(X, IRIS[1][:100]), X)


def test_a_selector_alone_gives_its_features():
    selector = tamiz.FisherScore(2).fit(*IRIS)
    assert np.array_equal(run(selector, IRIS[0])["features"], selector.transform(IRIS[0]))


def test_a_precomputed_kernel_takes_kernel_values():
    K = IRIS[0] @ IRIS[0].T
    same(tamiz.SVC(kernel="precomputed").fit(K, IRIS[1]), K)


def test_what_has_no_form_is_named():
    X, y = IRIS
    with pytest.raises(TypeError, match=r"of.sqrt. cannot be written as an ONNX graph"):
        tamiz.to_onnx(tamiz.SVC(kernel=Linear().of(np.sqrt)).fit(X, y))
    from sklearn.decomposition import PCA

    with pytest.raises(TypeError, match="PCA cannot be written as an ONNX graph"):
        tamiz.to_onnx(make_pipeline(PCA(2), tamiz.SVC()).fit(X, y))
    with pytest.raises(TypeError, match="is no estimator"):
        tamiz.to_onnx(3)
    with pytest.raises(ValueError, match="dtype='half' is not understood"):
        tamiz.to_onnx(tamiz.SVC().fit(X, y), dtype="half")


def test_the_file_holds_the_graph(tmp_path):
    made = tamiz.to_onnx(tamiz.SVC().fit(*IRIS), tmp_path / "iris.onnx")
    assert (tmp_path / "iris.onnx").read_bytes() == made.SerializeToString()


@pytest.mark.parametrize(
    "model",
    [
        HardMarginSVC(kernel="linear"),
        BudgetSVC(budget=10),
        PegasosClassifier(max_iter=3, random_state=0),
        PerceptronClassifier(),
        tamiz.HoldOutSVM(n_features_to_select=2, random_state=0),
        ForwardSelection(tamiz.SVC(), n_features_to_select=2),
        make_pipeline(CovariateAdjuster([1]), tamiz.SVC()),
        make_pipeline(MaxAbsScaler(), tamiz.SVC()),
        GridSearchCV(tamiz.SVC(), {"C": [1, 10]}, cv=3),
    ],
    ids=lambda model: str(model)[:30],
)
def test_heirs_and_wrappers_answer_as_they_do(model):
    X = StandardScaler().fit_transform(IRIS[0])
    same(model.fit(X[:100], IRIS[1][:100]), X)


def test_missing_values_are_filled_in():
    X = IRIS[0].copy()
    X[::7, 1] = np.nan
    same(make_pipeline(SimpleImputer(), tamiz.SVC()).fit(X, IRIS[1]), X)


@pytest.mark.parametrize("kind", [OneClassSVM, SVDD])
def test_a_single_support_vector_keeps_its_digits(kind):
    model = kind(kernel="poly", gamma=0.37).fit(IRIS[0][:1])
    wanted = model.decision_function(IRIS[0])
    np.testing.assert_allclose(run(model, IRIS[0])["decisions"], wanted, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("machine", [tamiz.SVC(kernel="linear"), LinearMachine()])
def test_a_scaled_single_feature_keeps_its_digits(machine):
    X, y = IRIS[0][:100, :1] * 1e3, IRIS[1][:100]
    model = make_pipeline(StandardScaler(), machine).fit(X, y)
    wanted = model.decision_function(1e3 * X)
    np.testing.assert_allclose(run(model, 1e3 * X)["decisions"], wanted, rtol=1e-11)


def test_a_failed_write_is_one_sentence(tmp_path):
    model = tamiz.SVC().fit(*IRIS)
    with pytest.raises(FileNotFoundError, match=r"cannot write .*there is no such"):
        tamiz.to_onnx(model, tmp_path / "absent" / "iris.onnx")


def test_a_search_without_refit_is_refused():
    search = GridSearchCV(tamiz.SVC(), {"C": [1, 10]}, cv=3, refit=False).fit(*IRIS)
    with pytest.raises(TypeError, match="GridSearchCV with refit=False has no model"):
        tamiz.to_onnx(search)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_steps_that_are_left_out_leave_the_table_as_it_is(place):
    steps = [("scale", StandardScaler()), ("machine", tamiz.SVC())]
    steps.insert(min(place, 1), ("none", "passthrough"))
    same(Pipeline(steps).fit(*IRIS), IRIS[0])
    last = Pipeline([("none", "passthrough"), ("scale", StandardScaler()), ("end", "passthrough")])
    last.fit(IRIS[0])
    np.testing.assert_allclose(run(last, IRIS[0])["features"], last.transform(IRIS[0]), atol=1e-12)
    with pytest.raises(TypeError, match="does nothing that could be written"):
        tamiz.to_onnx(Pipeline([("none", "passthrough")]).fit(IRIS[0]))


NEIGHBOURS = [
    KNNClassifier(),
    KNNClassifier(4, ties="frequent", metric="manhattan", scaling="zscore"),
    KNNClassifier(2, ties="abstain"),
    KNNClassifier(3, weights="distance", feature_weights=[1.0, 0.0, 2.0, 0.5]),
    KNNClassifier(6, metric="hamming"),
    KNNClassifier(4, metric="mixed", weights="distance"),
]


@pytest.mark.parametrize("model", NEIGHBOURS, ids=str)
def test_neighbours_vote_as_they_do(model):
    X, y = IRIS[0].copy(), np.array(["a", "b", "c"])[IRIS[1]]
    new = X + np.random.default_rng(0).choice([0.0, 0.1, 0.2], X.shape)
    same(model.fit(X[::2], y[::2]), np.vstack([X, new]))
    X[::5, 1] = new[::3, 2] = np.nan
    new[7] = np.nan
    same(model.fit(X[::2], y[::2]), np.vstack([X, new]))


def test_neighbours_of_categories_are_refused():
    model = KNNClassifier(1, metric="mixed").fit([[1.0, "a"], [2.0, "b"]], [0, 1])
    with pytest.raises(TypeError, match="columns of categories"):
        tamiz.to_onnx(model)


def test_names_of_columns_stand_in_the_file():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(IRIS[0], columns=["a", "b", "c", "ñ"])
    props = tamiz.to_onnx(tamiz.SVC().fit(X, IRIS[1])).metadata_props
    assert [(one.key, json.loads(one.value)) for one in props] == [("features", list(X))]


def test_without_skl2onnx_its_converters_say_what_to_install():
    with (
        mock.patch.dict(sys.modules, {"skl2onnx": None}),
        pytest.raises(ImportError, match="pip install skl2onnx"),
    ):
        tamiz.onnx.register_skl2onnx()
