"""Arrays of other packages are read through DLPack, and what comes out is NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from tamiz.data import Dataset
from tamiz.discovery import Knockoffs, Shadows, StabilitySelection, permutation_scores
from tamiz.embedded import L1SVM, SVMRFE, HoldOutSVM, l1_svm_path
from tamiz.evaluation import (
    AutoScaler,
    CovariateAdjuster,
    ReportCard,
    compare,
    permutation_test,
    population_stability,
    report_card,
    stability_of,
    tune,
)
from tamiz.explain import (
    counterfactual,
    interaction_strength,
    leave_covariate_out,
    partial_dependence,
    permutation_importance,
    shapley_values,
)
from tamiz.filters import MRMR, FisherScore, MultiTarget, PearsonScore, ReliefF
from tamiz.information import (
    Discretiser,
    WeightOfEvidence,
    contingency_table,
    discretise,
    encode,
    entropy,
    mutual_information,
    pack_table,
    symmetrical_uncertainty,
)
from tamiz.kernels import RBF, Linear, mercer_check
from tamiz.neighbors import KNNClassifier, choose_k
from tamiz.search import ForwardSelection
from tamiz.svm import (
    SVC,
    SVR,
    LinearMachine,
    LinearMachineRegressor,
    OneClassSVM,
    PegasosClassifier,
    radius_margin_bound,
    span_bound,
)
from tamiz.tree import (
    BoostingClassifier,
    BoostingRegressor,
    CARTClassifier,
    CARTRegressor,
    ForestClassifier,
)
from tamiz.validation import as_numpy


class Tensor:
    """An array that has nothing of NumPy's: DLPack, and a shape."""

    def __init__(self, values, device=1, complaint=None):
        self.values = np.array(values)
        self.shape, self.ndim = self.values.shape, self.values.ndim
        self.device, self.complaint = device, complaint

    def __len__(self):
        return len(self.values)

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        if self.complaint is not None:
            raise self.complaint
        return self.values.__dlpack__()


MODELS = [
    SVC(),
    PegasosClassifier(random_state=0),
    CARTClassifier(random_state=0),
    ForestClassifier(5, random_state=0),
    KNNClassifier(),
    OneClassSVM(),
    SVR(),
    ForwardSelection(SVC(), n_features_to_select=2, random_state=0),
]
SELECTORS = [
    FisherScore(2),
    MRMR(2),
    ReliefF(2, random_state=0),
    PearsonScore(2),
    MultiTarget(n_features_to_select=2),
    StabilitySelection(FisherScore(), n_subsamples=4, random_state=0),
    Discretiser(),
    WeightOfEvidence("frequency"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [*MODELS, *SELECTORS], ids=lambda model: type(model).__name__)
def test_fit_and_what_follows_equal_those_of_numpy(model):
    X, y = load_iris(return_X_y=True)
    X, y = X[20:100], y[20:100]
    method = "predict" if model in MODELS else "transform"
    want = getattr(model.fit(X, y), method)(X)
    got = getattr(model.fit(Tensor(X), Tensor(y)), method)(Tensor(X))
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, want)


def test_weights_and_several_targets():
    X, y = load_iris(return_X_y=True)
    weight = np.arange(150) % 3
    got = MRMR().fit(Tensor(X), Tensor(y), sample_weight=Tensor(weight))
    np.testing.assert_array_equal(got.scores_, MRMR().fit(X, y, sample_weight=weight).scores_)
    Y = np.column_stack([y == 0, y == 1]).astype(int)
    got = MultiTarget().fit(Tensor(X), Tensor(Y))
    np.testing.assert_array_equal(got.scores_, MultiTarget().fit(X, Y).scores_)


def test_what_cannot_be_read_gets_a_sentence():
    X, y = load_iris(return_X_y=True)
    tensor = Tensor(X, complaint=BufferError("it requires a gradient"))
    with pytest.raises(ValueError, match=r"X is an array of .* cannot read \(it requires a grad"):
        SVC().fit(tensor, y)
    far = Tensor(X, device=2, complaint=BufferError("device memory"))
    with pytest.raises(ValueError, match="asnumpy"):
        SVC().fit(far, y)


def test_everything_else_stays_what_it_is():
    for value in (None, 3, "text", [[1.0]], np.eye(2), np.float64(1.0)):
        assert as_numpy(value) is value


def breast(n=60, p=4):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:n, :p], y[:n]


GROUPS = np.arange(60) % 12
WEIGHTS = np.arange(60) % 3 + 1.0
TIMES = np.arange(60) // 30


def fitted_once(machine):
    return machine.fit(*breast())


def search():
    return ForwardSelection(SVC(kernel="linear"), cv=2, n_features_to_select=1)


#: Functions and methods that take samples: each gets the arrays, and what it says is compared.
FUNCTIONS = {
    "SVC.score": lambda X, y, w, g, t: fitted_once(SVC()).score(X, y, w),
    "SVR.score": lambda X, y, w, g, t: fitted_once(SVR()).score(X, y, w),
    "LinearMachine.score": lambda X, y, w, g, t: fitted_once(LinearMachine()).score(X, y, w),
    "LinearMachineRegressor.score": lambda X, y, w, g, t: fitted_once(
        LinearMachineRegressor()
    ).score(X, y, w),
    "PegasosClassifier.score": lambda X, y, w, g, t: fitted_once(
        PegasosClassifier(random_state=0)
    ).score(X, y, w),
    "PegasosClassifier.partial_fit": lambda X, y, w, g, t: (
        PegasosClassifier(random_state=0).partial_fit(X, y, classes=[0, 1]).coef_
    ),
    "CARTClassifier.score": lambda X, y, w, g, t: fitted_once(CARTClassifier()).score(X, y, w),
    "CARTRegressor.score": lambda X, y, w, g, t: fitted_once(CARTRegressor()).score(X, y, w),
    "BoostingClassifier.score": lambda X, y, w, g, t: fitted_once(BoostingClassifier(3)).score(
        X, y, w
    ),
    "BoostingRegressor.score": lambda X, y, w, g, t: fitted_once(BoostingRegressor(3)).score(
        X, y, w
    ),
    "ForestClassifier.score": lambda X, y, w, g, t: fitted_once(
        ForestClassifier(3, random_state=0)
    ).score(X, y, w),
    "KNNClassifier.score": lambda X, y, w, g, t: fitted_once(KNNClassifier()).score(X, y, w),
    "KNNClassifier.explain": lambda X, y, w, g, t: (
        fitted_once(KNNClassifier()).explain(X).to_frame().to_numpy()
    ),
    "SVMRFE.score": lambda X, y, w, g, t: fitted_once(SVMRFE(2)).score(X, y, w),
    "L1SVM.score": lambda X, y, w, g, t: fitted_once(L1SVM()).score(X, y, w),
    "HoldOutSVM.fit, groups": lambda X, y, w, g, t: (
        HoldOutSVM(kernel="linear", random_state=0).fit(X, y, groups=g).order_
    ),
    "SVMRFE.fit, groups": lambda X, y, w, g, t: (
        SVMRFE(n_features_to_select="best", cv=3).fit(X, y, sample_weight=w, groups=g).order_
    ),
    "ForwardSelection.score": lambda X, y, w, g, t: fitted_once(search()).score(X, y),
    "ForwardSelection.fit, groups": lambda X, y, w, g, t: (
        search().fit(X, y, sample_weight=w, groups=g).order_
    ),
    "StabilitySelection.fit, groups": lambda X, y, w, g, t: (
        StabilitySelection(FisherScore(), n_subsamples=4, random_state=0)
        .fit(X, y, groups=g)
        .scores_
    ),
    "Shadows.fit, groups": lambda X, y, w, g, t: (
        Shadows(FisherScore(), max_rounds=5, random_state=0).fit(X, y, groups=g).scores_
    ),
    "Knockoffs.fit": lambda X, y, w, g, t: (
        Knockoffs(FisherScore(), random_state=0).fit(X, y).scores_
    ),
    "CovariateAdjuster": lambda X, y, w, g, t: CovariateAdjuster([0]).fit(X, y).transform(X),
    "AutoScaler": lambda X, y, w, g, t: AutoScaler().fit(X).transform(X),
    "permutation_test": lambda X, y, w, g, t: (
        permutation_test(
            SVC(), X, y, cv=2, n_permutations=3, groups=g, sample_weight=w, random_state=0
        ).permuted
    ),
    "stability_of": lambda X, y, w, g, t: (
        stability_of(FisherScore(2), X, y, groups=g, n_resamples=4, random_state=0).frequency
    ),
    "tune": lambda X, y, w, g, t: (
        tune(X, y, SVC(), {"C": [1.0, 9.0]}, cv=2, groups=g, sample_weight=w)
        .to_frame()
        .select_dtypes("number")
        .filter(like="score")
        .to_numpy()
    ),
    "compare": lambda X, y, w, g, t: (
        compare(
            X,
            y,
            ["fisher"],
            sizes=[1, 2],
            cv=2,
            judges="linear",
            groups=g,
            sample_weight=w,
            random_state=0,
        )
        .to_frame()["error"]
        .to_numpy()
    ),
    "permutation_scores": lambda X, y, w, g, t: (
        permutation_scores(FisherScore(), X, y, n_permutations=5, groups=g, random_state=0).pvalues
    ),
    "population_stability": lambda X, y, w, g, t: (
        population_stability(X, time=t).to_frame().select_dtypes("number").to_numpy()
    ),
    "choose_k": lambda X, y, w, g, t: (
        choose_k(X, y, [1, 3], cv=3, groups=g, random_state=0).cv_errors
    ),
    "choose_k, test": lambda X, y, w, g, t: (
        choose_k(X, y, [1, 3], cv=3, test=(X, y), random_state=0).test_error
    ),
    "shapley_values": lambda X, y, w, g, t: (
        shapley_values(fitted_once(SVC()), X, background=X).values
    ),
    "partial_dependence": lambda X, y, w, g, t: (
        partial_dependence(fitted_once(SVC()), X).to_frame().select_dtypes("number").to_numpy()
    ),
    "interaction_strength": lambda X, y, w, g, t: (
        interaction_strength(fitted_once(SVC()), X).to_frame().select_dtypes("number").to_numpy()
    ),
    "counterfactual": lambda X, y, w, g, t: (
        counterfactual(fitted_once(SVC(kernel="linear")), X, X).distances
    ),
    "permutation_importance": lambda X, y, w, g, t: (
        permutation_importance(SVC(), X, y, cv=2, groups=g, sample_weight=w, random_state=0).values
    ),
    "leave_covariate_out": lambda X, y, w, g, t: (
        leave_covariate_out(SVC(), X, y, cv=2, groups=g, sample_weight=w).values
    ),
    "report_card": lambda X, y, w, g, t: report_card(y, y, sample_weight=w).accuracy,
    "ReportCard.of": lambda X, y, w, g, t: ReportCard.of(fitted_once(SVC()), X, y).accuracy,
    "report_card, scores": lambda X, y, w, g, t: report_card(y, y, scores=w).roc[0]["tpr"],
    "CARTClassifier.prune_cv": lambda X, y, w, g, t: (
        fitted_once(CARTClassifier()).prune_cv(X, y).predict(X)
    ),
    "kernel": lambda X, y, w, g, t: RBF(0.5)(X, X),
    "composed kernel": lambda X, y, w, g, t: (RBF(0.5) + Linear())(X),
    "kernel.diag": lambda X, y, w, g, t: RBF(0.5).diag(X),
    "kernel.prepare": lambda X, y, w, g, t: RBF(0.5).prepare(X).block([0, 1], [0, 1]),
    "mercer_check": lambda X, y, w, g, t: mercer_check(RBF(0.5), X).smallest,
    "l1_svm_path": lambda X, y, w, g, t: l1_svm_path(X, y, n_values=3).coefs,
    "LinearMachine.path": lambda X, y, w, g, t: (
        LinearMachine(penalty="l1").path(X, y, n_values=3).coefs
    ),
    "Dataset": lambda X, y, w, g, t: np.column_stack([(found := Dataset(X, y)).X, found.y]),
    "fit_stream": lambda X, y, w, g, t: FisherScore(2).fit_stream((X, y)).scores_,
    "discretise": lambda X, y, w, g, t: discretise(X),
    "encode": lambda X, y, w, g, t: encode(X).n_levels,
    "entropy": lambda X, y, w, g, t: entropy(y),
    "mutual_information": lambda X, y, w, g, t: mutual_information(y, t),
    "symmetrical_uncertainty": lambda X, y, w, g, t: symmetrical_uncertainty(y, t),
    "contingency_table": lambda X, y, w, g, t: contingency_table(y, t),
    "CARTClassifier.explain": lambda X, y, w, g, t: str(fitted_once(CARTClassifier()).explain(X)),
    "span_bound": lambda X, y, w, g, t: span_bound(fitted_once(SVC()), X, y).spans_squared,
    "margin_confidence": lambda X, y, w, g, t: fitted_once(SVC()).margin_confidence(X).values,
    "radius_margin_bound": lambda X, y, w, g, t: (
        radius_margin_bound(fitted_once(SVC()), X, y).value
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_read_them_as_they_read_numpy(name):
    X, y = breast()
    given = (X, y, WEIGHTS, GROUPS, TIMES)
    want = FUNCTIONS[name](*given)
    got = FUNCTIONS[name](*map(Tensor, given))
    np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["SVC.score", "ForwardSelection.fit, groups", "shapley_values", "kernel", "Dataset"]
)
def test_arrays_of_the_strict_standard_are_read(name):
    strict = pytest.importorskip("array_api_strict")
    X, y = breast()
    given = (X, y, WEIGHTS, GROUPS, TIMES)
    got = FUNCTIONS[name](*(strict.asarray(one) for one in given))
    assert type(got) in (float, np.ndarray)
    np.testing.assert_array_equal(got, FUNCTIONS[name](*given))


def test_tables_are_packed(tmp_path):
    X, _ = breast()
    want = pack_table(X, tmp_path / "one.bits").n_levels
    np.testing.assert_array_equal(pack_table(Tensor(X), tmp_path / "two.bits").n_levels, want)
