"""Arrays of other packages are read through DLPack, and what comes out is NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tamiz.discovery import StabilitySelection
from tamiz.filters import MRMR, FisherScore, MultiTarget, PearsonScore, ReliefF
from tamiz.information import Discretiser, WeightOfEvidence
from tamiz.neighbors import KNNClassifier
from tamiz.search import ForwardSelection
from tamiz.svm import SVC, SVR, OneClassSVM, PegasosClassifier
from tamiz.tree import CARTClassifier, ForestClassifier
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
