"""The warning about features whose spreads differ by more than a factor of 1,000."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.embedded import L1L2SVM, AdaptiveScaling
from tamiz.kernels import RBF, Linear
from tamiz.neighbors import KNNClassifier, choose_k
from tamiz.search import ExhaustiveSearch
from tamiz.svm import SVDD, OneClassSVM, UnscaledWarning

MACHINES = [
    tamiz.SVC(),
    tamiz.SVC(kernel="poly", degree=2),
    tamiz.SVC(kernel=2.0 * RBF(gamma="scale") + Linear()),
    tamiz.SVR(),
    OneClassSVM(),
    SVDD(),
    tamiz.SVMRFE(),
    tamiz.HoldOutSVM(random_state=0),
    tamiz.L1SVM(),
    L1L2SVM(),
    AdaptiveScaling(),
    KNNClassifier(),
]
QUIET = [
    tamiz.SVC(kernel="linear"),
    KNNClassifier(scaling="zscore"),
    KNNClassifier(feature_weights=[1.0, 1.0, 1e-4, 1.0]),
    tamiz.FisherScore(),
    make_pipeline(StandardScaler(), tamiz.SVC()),
]


def table(factor=1e4, n=60):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 4)), np.arange(n) % 2
    X[:, 1] += y
    X[:, 2] *= factor
    return X, y


def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [one for one in caught if issubclass(one.category, UnscaledWarning)]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_a_fit_to_unscaled_features_warns_once(machine):
    X, y = table()
    (one,) = said(lambda: machine.fit(X, y))
    assert type(machine).__name__ in str(one.message) and "StandardScaler" in str(one.message)
    assert "spread of x2 is" in str(one.message)
    assert one.filename == __file__
    assert not said(lambda: machine.fit(*table(100.0)))


@pytest.mark.parametrize("machine", QUIET, ids=str)
def test_those_that_do_not_mind_are_silent(machine):
    assert not said(lambda: machine.fit(*table()))


def test_features_are_named():
    X, y = table()
    frame = pd.DataFrame(X, columns=["height", "<b>", "income", "age"])
    frame["age"] *= 0.1
    (one,) = said(lambda: tamiz.SVC().fit(frame, y))
    assert "spread of 'income' is" in str(one.message) and "that of 'age' is" in str(one.message)


@pytest.mark.parametrize(
    ("make", "large", "small"),
    [
        (lambda X: X, "x3", "x5"),
        (lambda X: pd.DataFrame(X, columns=list("abcdef")), "'d'", "'f'"),
    ],
)
def test_a_search_names_the_columns_of_the_whole_table(make, large, small):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), np.arange(60) % 2
    X[:, 3] = 1e4 * (y + 0.4 * X[:, 3])
    X[:, 5] = 0.1 * (y + 0.4 * X[:, 5])
    search = ExhaustiveSearch(
        tamiz.SVC(), n_features_to_select=2, feature_groups=[[0, 1], [2, 4], [3, 5]]
    )
    (one,) = said(lambda: search.fit(make(X), y))
    assert search.get_support(indices=True).tolist() == [3, 5]
    assert f"spread of {large} is" in str(one.message)
    assert f"that of {small} is" in str(one.message)


def test_what_does_not_count():
    X, y = table(1.0)
    constant, binary = np.full(60, 1e9), np.where(y > 0, 1e6, 0.0)
    outlier = X[:, 0].copy()
    outlier[7] = 1e9
    for extra in (constant, binary, outlier):
        Z = np.column_stack([X, extra])
        assert not said(lambda Z=Z: tamiz.SVC(gamma=0.1).fit(Z, y))
    Z = np.column_stack([X, np.where(np.arange(60) % 5, 0.0, 1e6 * X[:, 0])])  # mostly zero
    assert said(lambda: tamiz.SVC().fit(Z, y))
    Z = table()[0]
    assert not said(lambda: tamiz.SVC().fit(sparse.csr_matrix(Z), y))
    assert not said(lambda: tamiz.SVC(kernel="precomputed").fit(Z @ Z.T, y))


def test_missing_values_are_left_out_of_the_spread():
    X, y = table()
    X[:, 3] = np.nan
    X[::2, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        (one,) = said(lambda: KNNClassifier().fit(X, y))
    assert "spread of x2" in str(one.message)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y: tamiz.tune(X, y, grid={"C": [1.0, 10.0]}, cv=3, fast=False),
        lambda X, y: tamiz.tune(X, y, tamiz.SVC(), {"C": [1.0, 10.0]}, cv=3, n_jobs=2),
        lambda X, y: tamiz.ForwardSelection(KNNClassifier(), cv=2).fit(X, y),
        lambda X, y: tamiz.BackwardElimination(tamiz.SVC(), cv=2, n_jobs=2).fit(X, y),
        lambda X, y: tamiz.HoldOutSVM(estimator=tamiz.SVC(), random_state=0).fit(X, y),
        lambda X, y: tamiz.compare(
            X, y, ["rfe"], "svc-rbf", scale=None, sizes=[4], cv=2, repeats=1
        ),
        lambda X, y: choose_k(X, y, ks=[1, 3]),
    ],
)
def test_procedures_warn_at_most_once(call):
    assert len(said(lambda: call(*table()))) <= 1
