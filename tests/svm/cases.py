"""Every machine with data it can be fitted to, and a way to ask whether a refusal is a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from tamiz.svm import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    HardMarginSVC,
    LinearMachine,
    LinearMachineRegressor,
    OneClassSVM,
    PegasosClassifier,
    PerceptronClassifier,
    SubgradientClassifier,
)

N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
X[: N // 2, 0] += 6.0
LABELS = np.repeat([1, 0], N // 2)
TARGET = 2.0 * X[:, 0] + 1.0
NAMES = ["age", "height", "weight"]

MACHINES = {
    "SVC": SVC(),
    "HardMarginSVC": HardMarginSVC(),
    "BudgetSVC": BudgetSVC(4.0),
    "SVR": SVR(),
    "SVDD": SVDD(),
    "OneClassSVM": OneClassSVM(),
    "PegasosClassifier": PegasosClassifier(lambda_=0.01, max_iter=20, random_state=0),
    "SubgradientClassifier": SubgradientClassifier(max_iter=50),
    "PerceptronClassifier": PerceptronClassifier(),
    "LinearMachine": LinearMachine(),
    "LinearMachineRegressor": LinearMachineRegressor(),
}
KERNEL = ("SVC", "HardMarginSVC", "BudgetSVC", "SVR", "SVDD", "OneClassSVM")
CLASSIFIERS = (
    "SVC",
    "HardMarginSVC",
    "BudgetSVC",
    "PegasosClassifier",
    "SubgradientClassifier",
    "PerceptronClassifier",
    "LinearMachine",
)
SUPERVISED = (*CLASSIFIERS, "SVR", "LinearMachineRegressor")
WEIGHTED = (*KERNEL, "SubgradientClassifier", "LinearMachine", "LinearMachineRegressor")


def machine(name, **params):
    return clone(MACHINES[name]).set_params(**params)


def target(name):
    return TARGET if name in ("SVR", "LinearMachineRegressor") else LABELS


def refuses(fit, *parts, error=ValueError):
    """The call fails with a message that holds every part, in any case of letters."""
    with pytest.raises(error) as caught:
        fit()
    message = str(caught.value)
    for part in parts:
        assert part.lower() in message.lower(), f"{part!r} is not in {message!r}"
    return caught.value


every = pytest.mark.parametrize("name", MACHINES)


def some(names):
    return pytest.mark.parametrize("name", names)
