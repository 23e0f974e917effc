"""skl2onnx writes models of tamiz, with its own steps around them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import tamiz
from tamiz.neighbors import KNNClassifier
from tamiz.onnx import register_skl2onnx
from tamiz.svm import SVDD, LinearMachine, OneClassSVM
from tamiz.tree import BoostingClassifier, CARTRegressor, ForestClassifier

skl2onnx = pytest.importorskip(
    "skl2onnx", reason="skl2onnx is not installed: it is in the group test"
)
runtime = pytest.importorskip("onnxruntime")

X, Y = load_iris(return_X_y=True)
METHODS = {
    "label": "predict",
    "value": "predict",
    "probabilities": "predict_proba",
    "decisions": "decision_function",
    "features": "transform",
}


@pytest.fixture(scope="module", autouse=True)
def _registered():
    register_skl2onnx()


def run(model, samples, **options):
    graph = skl2onnx.to_onnx(model, samples[:1], **options)
    session = runtime.InferenceSession(graph.SerializeToString())
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": samples}), strict=True))


def same(model, samples, tolerance=1e-10, **options):
    found = run(model, samples, **options)
    for name, values in found.items():
        wanted = np.asarray(getattr(model, METHODS[name])(samples))
        assert values.shape == wanted.shape
        if name == "label":
            assert values.tolist() == wanted.tolist()
        else:
            np.testing.assert_allclose(values, wanted, rtol=tolerance, atol=tolerance)
    return set(found)


@pytest.mark.parametrize(
    ("model", "outputs"),
    [
        (tamiz.SVC(), {"label", "decisions"}),
        (LinearMachine(loss="logistic"), {"label", "decisions", "probabilities"}),
        (BoostingClassifier(5), {"label", "decisions", "probabilities"}),
        (ForestClassifier(5), {"label", "probabilities"}),
        (KNNClassifier(), {"label", "probabilities"}),
        (OneClassSVM(), {"label", "decisions"}),
        (SVDD(), {"label", "decisions"}),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("text", [False, True], ids=["integers", "text"])
def test_models_behind_a_scaler(model, outputs, classes, text):
    samples = X[classes > Y]
    y = np.array(["a", "b", "c"])[Y] if text else Y
    fitted = make_pipeline(StandardScaler(), model).fit(samples, y[classes > Y])
    assert same(fitted, samples + 0.001) == outputs
    names = set(run(fitted, samples.astype(np.float32), options={"zipmap": False})) if (
        hasattr(fitted, "classes_")
    ) else outputs  # fmt: skip
    assert names == outputs


@pytest.mark.parametrize("model", [tamiz.SVR(), CARTRegressor(), tamiz.SVR(kernel="linear")])
def test_regressions(model):
    samples, y = load_diabetes(return_X_y=True)
    assert same(make_pipeline(StandardScaler(), model).fit(samples, y), samples) == {"value"}


def test_float32_samples_are_counted_with_in_float64():
    samples = X.astype(np.float32)
    found = run(tamiz.SVC().fit(X, Y), samples)
    assert found["decisions"].dtype == np.float32
    wanted = tamiz.SVC().fit(X, Y).decision_function(samples.astype(float))
    np.testing.assert_allclose(found["decisions"], wanted, rtol=1e-6)


@pytest.mark.parametrize("opset", [17, 18, 21])
def test_versions_of_the_operators(opset):
    for model in (tamiz.SVC(), KNNClassifier(), ForestClassifier(3)):
        same(make_pipeline(StandardScaler(), model).fit(X, Y), X, target_opset=opset)
    with pytest.raises(ValueError, match="target_opset=17 or more instead of 15"):
        skl2onnx.to_onnx(tamiz.SVC().fit(X, Y), X[:1], target_opset=15)


def test_a_selector_gives_features_unless_it_is_to_predict():
    selector = tamiz.SVMRFE(n_features_to_select=2)
    assert same(selector.fit(X, Y), X) == {"features"}
    assert same(selector, X, options={id(selector): {"predict": True}}) == {"label", "decisions"}
    model = make_pipeline(tamiz.SVMRFE(n_features_to_select=2), tamiz.SVC()).fit(X, Y)
    assert same(model, X) == {"label", "decisions"}
    last = make_pipeline(StandardScaler(), tamiz.L1SVM()).fit(X, Y)
    assert same(last, X) == {"features"}
    assert same(last, X, options={"l1svm__predict": True}) == {"label", "decisions"}


def test_inside_what_skl2onnx_writes():
    union = make_union(tamiz.MRMR(2), MinMaxScaler())
    same(make_pipeline(union, StandardScaler(), tamiz.SVC()).fit(X, Y), X)
    search = GridSearchCV(tamiz.SVC(), {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    found = run(search, X)
    assert found["label"].tolist() == search.predict(X).tolist()
    voters = [("a", ForestClassifier(3)), ("b", LinearMachine(loss="logistic"))]
    vote = VotingClassifier(voters, voting="soft", flatten_transform=False).fit(X, Y)
    found = run(vote, X, options={"zipmap": False})
    assert found["label"].tolist() == vote.predict(X).tolist()
    np.testing.assert_allclose(found["probabilities"], vote.predict_proba(X), rtol=1e-6)


def test_columns_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 2], "c": np.array(["u", "v", "w"])[Y]})
    parts = ColumnTransformer([("n", StandardScaler(), ["a", "b"]), ("c", OneHotEncoder(), ["c"])])
    model = make_pipeline(parts, tamiz.SVC()).fit(frame, Y)
    graph = skl2onnx.to_onnx(model, frame[:1])
    session = runtime.InferenceSession(graph.SerializeToString())
    label, decisions = session.run(None, {c: frame[[c]].to_numpy() for c in frame})
    assert label.tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(decisions, model.decision_function(frame), rtol=1e-6)


def test_what_is_refused_is_refused_in_our_words():
    machine = tamiz.SVC(kernel=lambda A, B: A @ B.T).fit(X, Y)
    with pytest.raises(TypeError, match="cannot be written as an ONNX graph"):
        skl2onnx.to_onnx(machine, X[:1])
    with pytest.raises(ValueError, match="not fitted"):
        skl2onnx.to_onnx(tamiz.SVC(), X[:1])
