"""Fitted models of every kind that a file can hold, small, with rows to use them on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import tamiz

#: Packages whose public estimators are all in it, with their defaults.
ROOMS = (
    "svm",
    "neighbors",
    "tree",
    "filters",
    "embedded",
    "search",
    "information",
    "evaluation",
    "discovery",
)
#: Methods that a model may have, which take rows.
USES = ("predict", "decision_function", "predict_proba", "transform", "score_samples")

Made = tuple[Any, Any]  # a fitted model, and rows for it


def problem(n: int = 40, p: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that two of the features separate."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], n // 2)
    X = rng.normal(size=(n, p))
    X[:, :2] += 6.0 * y[:, None]
    return X, y


def zoo() -> dict[str, Callable[[], Made]]:
    """Name -> what fits the model."""
    found: dict[str, Callable[[], Made]] = {}
    for room in ROOMS:
        module = getattr(tamiz, room)
        for name in module.__all__:
            kind = getattr(module, name)
            if hasattr(kind, "fit") and not getattr(kind, "__abstractmethods__", None):
                found[f"{room}.{name}"] = partial(_default, kind)
    for name, make in _special():
        found[name] = make
    return found


def use(model: Any, rows: Any) -> int:
    """Call all that a model can do with rows; how many calls gave an answer."""
    answers = 0
    calls = [getattr(model, name) for name in USES if hasattr(model, name)]
    if sparse.issparse(model):
        calls = [lambda rows: model @ rows.T, lambda _: model.tocsc() + model.tocsr()]
    for method in calls:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                method(rows)
            except MemoryError:
                raise
            except Exception as error:  # of a model that was changed, any is as good as another
                if str(error) == "index is out of bounds":  # numba's, where it looks
                    raise
            else:
                answers += 1
    return answers


def _default(kind: type) -> Made:
    from sklearn.base import is_regressor

    X, y = problem()
    model: Any = kind()
    if "random_state" in getattr(model, "get_params", dict)():
        model.set_params(random_state=3)
    return model.fit(X, X[:, 0] + 0.1 * X[:, 1] if is_regressor(model) else y), X


def _matrix(csr: Any, name: str) -> Made:
    return csr.asformat(name), np.zeros((3, csr.shape[1]))


def _special() -> Iterator[tuple[str, Callable[[], Made]]]:
    from sklearn import ensemble, neighbors, pipeline, preprocessing, svm
    from sklearn import tree as trees
    from sklearn.impute import SimpleImputer

    from tamiz import SVC
    from tamiz.kernels import RBF, GapWeighted, Linear, Polynomial
    from tamiz.neighbors import KNNClassifier
    from tamiz.tree import CARTClassifier, CARTRegressor, ForestClassifier

    X, y = problem()
    three = np.array(["a", "b", "c"])[np.arange(len(y)) % 3]
    gram = X @ X.T
    csr = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    missing = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    nominal = np.column_stack([X[:, 0], np.arange(len(y)) % 4, X[:, 1]])
    words = np.array(["ab ba", "abba", "baab", "bbbb", "aabb", "cab"] * 7, dtype=object)[:40]

    def fit(model: Any, rows: Any = X, target: Any = y) -> Callable[[], Made]:
        return lambda: (model.fit(rows, target), rows)

    for name in ("linear", "poly", "sigmoid"):
        yield f"SVC {name}", fit(SVC(kernel=name, gamma=0.1))
    yield "SVC sum", fit(SVC(kernel=RBF(0.2) + 0.5 * Linear()))
    yield "SVC product", fit(SVC(kernel=Polynomial(2, gamma=0.1) * RBF(0.1)))
    yield "SVC mapped", fit(SVC(kernel=RBF(0.1).of(np.tanh)))
    yield "SVC precomputed", fit(SVC(kernel="precomputed"), gram)
    yield "SVC sparse", fit(SVC(), csr)
    yield "SVC three classes", fit(SVC(multiclass="ovr"), X, three)
    yield "SVC strings", fit(SVC(kernel=GapWeighted(2)), words)
    yield "KNN mixed", fit(KNNClassifier(metric="mixed", categorical_features=[1]), nominal)
    yield "KNN missing", fit(KNNClassifier(3), missing, three)
    yield "KNN sparse", fit(KNNClassifier(3), csr)
    yield "CART nominal", fit(CARTClassifier(categorical_features=[1]), nominal, three)
    yield "CART missing", fit(CARTClassifier(), missing, three)
    yield "CART oblique", fit(CARTClassifier(splits="oblique", random_state=0))
    yield "CART numeric target", fit(CARTRegressor(), missing, X[:, 0])
    yield "forest", fit(ForestClassifier(5, random_state=0), X, three)
    for name in ("csr", "csc", "bsr", "coo", "dia", "lil", "dok"):
        yield f"matrix {name}", partial(_matrix, csr, name)
    for penalty in ("l1", "l1l2", "l0"):
        yield f"LinearMachine {penalty}", fit(tamiz.svm.LinearMachine(penalty=penalty))
    for kind in (tamiz.embedded.L1SVM, tamiz.embedded.SVMRFE):
        yield f"{kind.__name__} numeric target", fit(kind(task="regression"), X, X[:, 0])
    yield "peer SVC", fit(svm.SVC(kernel="poly"), X, three)
    yield "peer SVC sparse", fit(svm.SVC(), csr, three)
    yield "peer SVC precomputed", fit(svm.SVC(kernel="precomputed"), gram, three)
    yield "peer SVR", fit(svm.SVR(), X, X[:, 0])
    yield "peer one class", fit(svm.OneClassSVM())
    yield "peer tree", fit(trees.DecisionTreeClassifier(random_state=0), X, three)
    yield "peer forest", fit(ensemble.RandomForestClassifier(4, random_state=0), X, three)
    yield "peer kd tree", fit(neighbors.KNeighborsClassifier(3, algorithm="kd_tree"), X, three)
    yield "peer ball tree", fit(neighbors.KNeighborsRegressor(3, algorithm="ball_tree"), X, X[:, 0])
    yield "peer brute", fit(neighbors.KNeighborsClassifier(3, algorithm="brute"), X, three)
    steps = (SimpleImputer(), preprocessing.StandardScaler(), tamiz.MRMR(3), SVC())
    yield "pipeline", fit(pipeline.make_pipeline(*steps), missing)
    codes = preprocessing.OneHotEncoder(handle_unknown="ignore")
    yield "one hot", fit(pipeline.make_pipeline(codes, svm.LinearSVC()), nominal.round())
