"""Absurd parameters, class weights and kernels, for every machine that has them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tamiz.kernels import RBF
from tests.svm.cases import (
    KERNEL,
    LABELS,
    X,
    machine,
    refuses,
    some,
    target,
)

ABSURD = [
    (
        ("SVC", "SVR", "PegasosClassifier", "SubgradientClassifier", "LinearMachine"),
        "C",
        [-1, 0, np.nan, np.inf, "a"],
    ),
    (KERNEL, "gamma", [-1, 0, np.nan, np.inf, "wide"]),
    (KERNEL, "degree", [0, -2, 2.5]),
    (KERNEL, "coef0", [np.nan, np.inf, "a"]),
    (KERNEL, "tol", [0, -1e-3, np.nan]),
    (KERNEL, "cache_mb", [-1, 0, np.nan]),
    (KERNEL, "kernel", ["nope", None, 3]),
    (KERNEL, "solver", ["simplex", None]),
    (KERNEL, "max_iter", [-5, 1.5, "a"]),
    (
        ("PegasosClassifier", "SubgradientClassifier", "PerceptronClassifier"),
        "max_iter",
        [0, -5, 1.5],
    ),
    (("SVDD", "OneClassSVM"), "nu", [-0.1, 1.1, np.nan, "a"]),
    (("OneClassSVM",), "nu", [0]),
    (("SVR",), "epsilon", [-0.1, np.nan, np.inf]),
    (("SVR",), "loss", ["absolute"]),
    (("SVC", "HardMarginSVC", "BudgetSVC"), "multiclass", ["all"]),
    (("BudgetSVC",), "budget", [-1, np.nan, np.inf, "a", None]),
    (
        ("SVC", "BudgetSVC", "PegasosClassifier", "SubgradientClassifier", "LinearMachine"),
        "class_weight",
        ["even", 3],
    ),
    (("PegasosClassifier", "SubgradientClassifier"), "lambda_", [0, -1, np.nan, np.inf]),
    (("PegasosClassifier",), "batch_size", [0]),
    (("PerceptronClassifier",), "learning_rate", [0, -1, np.nan, np.inf]),
    (("SubgradientClassifier",), "radius", [0, -1, np.inf]),
    (("LinearMachine",), "loss", ["absolute", None]),
    (("LinearMachine",), "penalty", ["l3", None]),
    (("LinearMachine",), "tol", [0, -1e-3, np.nan]),
]


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [(n, parameter, v) for names, parameter, values in ABSURD for n in names for v in values],
)
def test_absurd_parameters(name, parameter, value):
    refuses(
        lambda: machine(name, **{parameter: value}).fit(X, target(name)),
        f"'{parameter}' parameter of {name}",
        "must be",
        f"Got {value!r}",
    )


@some(["SVC", "PegasosClassifier", "SubgradientClassifier"])
def test_class_weights(name):
    fit = lambda **weights: lambda: machine(name, class_weight=weights["of"]).fit(X, LABELS)  # noqa: E731
    refuses(fit(of={5: 1.0}), "class_weight", "class 5", "(0, 1)", "remove it or correct")
    refuses(fit(of={0: -1.0}), "class_weight[0]", "-1.0", "must be finite")
    refuses(fit(of={1: np.nan}), "class_weight[1]", "nan", "must be finite")
    refuses(fit(of={1: "a"}), "class_weight[1]", "'a'", "must be finite numbers")
    refuses(fit(of={0: 0.0, 1: 0.0}), "class_weight", "zero", "must be positive")


@some(KERNEL)
def test_kernels_that_are_none(name):
    fit = lambda kernel: lambda: machine(name, kernel=kernel).fit(X, target(name))  # noqa: E731
    refuses(fit(RBF), "kernel=RBF is a class", "pass an object", "RBF(gamma=0.1)")
    refuses(
        fit(lambda A, B: np.ones((2, 2))),
        "kernel function",
        "(2, 2)",
        "must return a matrix of shape",
    )
    refuses(
        fit(lambda A, B: np.full((len(A), len(B)), np.nan)),
        "kernel function",
        "NaN",
        "must be finite",
    )
    lopsided = lambda A, B: A @ np.triu(np.ones((3, 3))) @ B.T  # noqa: E731
    refuses(fit(lopsided), "not symmetric", "must not depend on the order")


@some(KERNEL)
def test_precomputed_matrices(name):
    K = X @ X.T
    lopsided = K.copy()
    lopsided[2, 5] += 1.0
    fit = lambda K: lambda: machine(name, kernel="precomputed").fit(K, target(name))  # noqa: E731
    refuses(fit(X), "must be a square matrix", "(24, 3)", "all pairs of training samples")
    refuses(fit(lopsided), "not symmetric", "X[2, 5]", "X[5, 2]", "Use (X + X.T) / 2")
    refuses(fit(sparse.csr_array(K)), "Sparse", "X", "toarray", error=TypeError)
    fitted = fit(K)()
    refuses(lambda: fitted.predict(K[:, :5]), "X has 5 features", "expecting 24", "Pass X")
