"""Extreme weights and parameters: the right answer or one sentence, and no warning of NumPy's."""

import numpy as np
import pytest

from tamiz.embedded import AROM, FSV, KPSVM, L0L2SVM, L1L2SVM, L1SVM, AdaptiveScaling, RobustLP
from tamiz.filters import AUCScore, KolmogorovSmirnov, PearsonScore, StumpError
from tamiz.svm import (
    SVC,
    SVDD,
    LinearMachine,
    OneClassSVM,
    PegasosClassifier,
    SubgradientClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 4))
Y = (X[:, 0] + 0.5 * RNG.normal(size=24) > 0).astype(int)
EXTREME = [1e-308, 1e-300, 1e-170, 1e-150, 1e150, 1e170, 1e300]

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize("weight", EXTREME)
@pytest.mark.parametrize("kind", [AUCScore, KolmogorovSmirnov, StumpError, PearsonScore])
def test_scores_do_not_depend_on_the_unit_of_weights(kind, weight):
    scores = kind().fit(X, Y, sample_weight=np.full(24, weight)).scores_
    np.testing.assert_allclose(scores, kind().fit(X, Y).scores_, rtol=1e-9)


@pytest.mark.parametrize("kind", [AUCScore, KolmogorovSmirnov])
def test_pvalues_of_extreme_weights_are_those_of_very_many_or_no_samples(kind):
    many = kind().fit(X, Y, sample_weight=np.full(24, 1e170))
    assert (many.pvalues_ == 0.0).all()
    few = kind().fit(X, Y, sample_weight=np.full(24, 1e-170))
    assert (few.pvalues_ == 1.0).all()


def test_weights_of_all_sizes_leave_scores_finite():
    weight = 10.0 ** RNG.integers(-300, 300, size=24)
    for kind in (AUCScore, KolmogorovSmirnov, PearsonScore, StumpError):
        assert np.isfinite(kind().fit(X, Y, sample_weight=weight).scores_).all()


@pytest.mark.parametrize("weight", [1e170, 1e300])
@pytest.mark.parametrize(
    "kind", [L1SVM, FSV, AROM, L0L2SVM, L1L2SVM, RobustLP, LinearMachine, OneClassSVM]
)
def test_weights_that_overflow_are_refused(kind, weight):
    with pytest.raises(ValueError, match=r"too extreme for arithmetic in float64\. Use a number"):
        kind().fit(X, Y, sample_weight=np.full(24, weight))


@pytest.mark.parametrize(
    "machine",
    [
        L1SVM(C=1e160),
        L1SVM(C=1.7e308),
        L1SVM(lambda_=1e-320),
        FSV(a=1e300),
        FSV(lambda_=1e-320),
        L0L2SVM(nu=1e300),
        L1L2SVM(C=1e-320),
        AROM(C=1e300),
        LinearMachine(C=1e300),
        PegasosClassifier(C=1.7e308),
        PegasosClassifier(lambda_=1e-320),
        SubgradientClassifier(C=1e-320),
        KPSVM(C=1.7e308),
        AdaptiveScaling(gamma=1.7e308),
    ],
    ids=repr,
)
def test_parameters_that_overflow_are_refused(machine):
    with pytest.raises(ValueError, match=r"too extreme for arithmetic in float64\."):
        machine.fit(X, Y)


def test_machines_with_extreme_parameters_stay_finite():
    for C in (1e-300, 1e-160, 1e160, 1e300):
        machine = SVC(C=C).fit(X, Y)
        assert np.isfinite(machine.decision_function(X)).all()
    ball = SVDD(nu=1e-320).fit(X)
    assert np.isfinite(ball.objective_)
    assert (ball.predict(X) == 1).all()
