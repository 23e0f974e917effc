"""What has nothing to do with the target: constants, noise, targets of the wrong kind."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from tamiz.filters import (
    CFS,
    CMIM,
    JMI,
    MRMR,
    QPFS,
    AUCScore,
    ChiSquared,
    FisherScore,
    InformationGain,
    KolmogorovSmirnov,
    MaxDep,
    MaxRel,
    PearsonScore,
    Relief,
    ReliefF,
    RReliefF,
    SignalToNoise,
    StumpError,
    SymmetricalUncertainty,
    WelchT,
)

EVERY = [
    FisherScore(),
    SignalToNoise(),
    WelchT(),
    PearsonScore(),
    AUCScore(),
    KolmogorovSmirnov(),
    StumpError(),
    ChiSquared(),
    ChiSquared(bins="mdl"),
    InformationGain(),
    InformationGain(missing="ignore"),
    SymmetricalUncertainty(),
    MaxRel(),
    MRMR(),
    MRMR(bins="mdl", full_ranking=True),
    MRMR(scheme="quotient"),
    MRMR(measure="f_pearson", full_ranking=True),
    JMI(),
    JMI(full_ranking=True),
    CMIM(),
    MaxDep(),
    CFS(),
    CFS(correlation="pearson"),
    CFS(search="forward"),
    QPFS(),
    QPFS(similarity="symmetrical_uncertainty"),
    QPFS(similarity="pearson"),
    QPFS(nystroem=0.5, random_state=0),
    Relief(random_state=0),
    ReliefF(random_state=0),
    RReliefF(random_state=0),
]

each = pytest.mark.parametrize("selector", EVERY, ids=lambda s: repr(s)[:60])


@each
def test_constants_come_last(selector):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 60)
    noise = rng.normal(size=(120, 4))
    copy = y + rng.normal(scale=0.4, size=120)
    X = np.column_stack([np.full(120, 3.0), copy, noise, np.zeros(120), copy, 2 * copy])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert selector.fit(X, y).order_[-2:].tolist() == [0, 6]
    assert not selector.support_[[0, 6]].any()


@each
def test_nothing_but_constants(selector):
    y = np.tile([0, 1], 40)
    with pytest.warns(UserWarning, match="found no relevant feature"):
        selector.fit(np.ones((80, 3)), y)
    assert selector.order_.tolist() == [0, 1, 2]
    empty = isinstance(selector, CFS | QPFS | MaxDep)
    assert selector.support_.sum() == (0 if empty else 1)
    if empty:
        assert selector.set_params(n_features_to_select=2) is selector
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert selector.fit(np.ones((80, 3)), y).support_.tolist() == [True, True, False]
        selector.set_params(n_features_to_select="auto")


@pytest.mark.parametrize("selector", [CFS(), InformationGain(), SymmetricalUncertainty()])
def test_noise_is_called_noise(selector):
    X, y = np.random.default_rng(5).normal(size=(60, 5)), np.tile([0, 1], 30)
    with pytest.warns(UserWarning, match="found no relevant feature"):
        selector.fit(X, y)
    if isinstance(selector, CFS):
        assert not selector.support_.any()


def test_features_that_tell_only_together_are_no_noise():
    X = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)] * 10)
    y = X[:, 0] ^ X[:, 1]
    for selector in (JMI(2, bins=None), MaxDep(2, bins=None)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert selector.fit(X, y).support_.tolist() == [True, True, False]
    for selector in (CMIM(2, bins=None), MRMR(2, bins=None), MaxRel(2, bins=None)):
        with pytest.warns(UserWarning, match="no relevant feature"):
            selector.fit(X, y)


def test_a_constant_number_as_target():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match=r"y is 2 in all samples; RReliefF.*target that varies"):
        RReliefF().fit(X, np.full(30, 2.0))
    for selector in (PearsonScore(task="regression"), CFS(task="regression")):
        with pytest.warns(UserWarning, match="no relevant feature"):
            selector.fit(X, np.full(30, 2.0))


# ------------------------------------------------------------------------------- almost constant


def test_a_single_odd_value_is_not_the_best_feature():
    X, y = load_breast_cancer(return_X_y=True)
    wider = np.column_stack([X, np.r_[1.0, np.zeros(568)], np.zeros(569)])
    plain = QPFS().fit(X, y)
    found = QPFS().fit(wider, y)
    assert found.order_[-2:].tolist() == [30, 31]
    np.testing.assert_allclose(found.weights_[:30], plain.weights_, atol=1e-9)
    assert found.selection_.notes["n_left_out"] == 2
    published = QPFS(min_entropy=0.0).fit(wider, y)  # entropy as similarity with itself
    assert published.ranking_[30] == 1
    fair = QPFS(similarity="symmetrical_uncertainty").fit(wider, y)
    assert fair.ranking_[30] > 15


def test_rare_columns_of_a9a(data_dir):
    with np.load(data_dir / "a9a.npz", allow_pickle=True) as data:
        X, y = data["X"], data["y"]
    assert X[:, 122].sum() == 1
    assert QPFS(bins=None).fit(X, y).ranking_[122] > 100
    assert QPFS(bins=None, min_entropy=0.0).fit(X, y).ranking_[122] == 1


def test_normalised_similarity_is_the_matrix_of_uncertainties():
    from tamiz.information import encode

    X, y = load_breast_cancer(return_X_y=True)
    codes = encode(X)
    found = QPFS(similarity="symmetrical_uncertainty", alpha=0.3).fit(X, y)
    given = QPFS(
        similarity=codes.matrix(ratio=True), relevance=codes.su_relevance(y), alpha=0.3
    ).fit(X, y)
    np.testing.assert_allclose(found.weights_, given.weights_, atol=1e-7)
    np.testing.assert_allclose(found.relevance_, codes.su_relevance(y))


# ---------------------------------------------------------------------------- classes or numbers


def test_diabetes_is_a_regression():
    X, y = load_diabetes(return_X_y=True)
    assert y.dtype.kind == "f"
    assert (y == np.trunc(y)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(
            CFS().fit(X, y).subset_, CFS(task="regression").fit(X, y).subset_
        )
        assert PearsonScore().fit(X, y).scores_.max() > 0.5
        QPFS(similarity="pearson").fit(X, y)
    with pytest.raises(ValueError, match='y holds numbers; use similarity="pearson"'):
        QPFS().fit(X, y)
    for selector in (InformationGain(), FisherScore(), MRMR(3), ChiSquared(), ReliefF()):
        with pytest.warns(UserWarning, match="different integers|no relevant") as caught:
            selector.fit(X, y)
        said = [str(w.message) for w in caught]
        assert any("214 different integers" in m and "RReliefF" in m for m in said)


@pytest.mark.parametrize("selector", [PearsonScore(), CFS(), QPFS(similarity="pearson")])
def test_in_doubt_the_guess_is_said(selector):
    X = np.random.default_rng(0).normal(size=(600, 3))
    many, few = np.arange(600) % 150, np.arange(600) % 25
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*no relevant")
        for kind in (int, float):  # how numbers are stored does not matter
            with pytest.warns(UserWarning, match='150 different.*as numbers.*"regression"'):
                selector.fit(X, many.astype(kind))
            with pytest.warns(UserWarning, match='25 different.*as numbers.*"classification"'):
                selector.fit(X, few.astype(kind))
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*no relevant")
        for kind in (int, float):
            selector.fit(X, (few % 20).astype(kind))
        selector.fit(X, np.linspace(0.5, 9, 600))
