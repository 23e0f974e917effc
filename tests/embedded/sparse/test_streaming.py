"""AROM and SVMRFE from a stream: the machines of memory, whatever the cut, with a true gap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import AROM, SVMRFE
from tamiz.persistence import load, save
from tamiz.scale import batches
from tamiz.svm import SVC
from tamiz.svm.stream import machine as streamed_machine
from tamiz.svm.stream import near as near_rows
from tests.svm.streams import cut, noisy

# ---------------------------------------------------------------------- equal to those in memory


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, [0, 1, 4, 7, 10, 13, 20, 21]]
    return X, y, StandardScaler().fit_transform(X)


def test_rfe_ranks_as_in_memory_whatever_the_cut(cancer):
    X, y, Z = cancer
    memory = SVMRFE(3, step=2).fit(Z, y)
    X = X.to_numpy()
    rng = np.random.default_rng(0)
    mixed = rng.permutation(len(y))
    cuts = [cut(X, y.to_numpy(), 300), cut(X[mixed], y.to_numpy()[mixed], 1, 200, 90)]
    for parts in cuts:
        stream = SVMRFE(3, step=2).fit_stream(parts, standardize=True, gap=1e-6)
        np.testing.assert_array_equal(stream.order_, memory.order_)
        np.testing.assert_array_equal(stream.support_, memory.support_)
        assert [s.features for s in stream.selection_.path] == [
            s.features for s in memory.selection_.path
        ]
        machine = stream.estimator_
        exact = memory.estimator_.objective_
        assert -1e-9 * exact <= machine.objective_[0] - exact <= machine.duality_gap_[0] + 1e-9
        assert machine.duality_gap_[0] <= 1e-6 * exact
        assert np.mean(stream.predict(X) == memory.predict(Z)) > 0.99
        assert stream.status_ == "converged"


def test_arom_selects_as_in_memory(cancer):
    X, y, Z = cancer
    memory = AROM(C=0.5).fit(Z, y)
    table = X.assign(diagnosis=y)
    stream = AROM(C=0.5).fit_stream(
        [table[:200], table[200:]], target="diagnosis", standardize=True
    )
    np.testing.assert_array_equal(stream.support_, memory.support_)
    kept = int(memory.support_.sum())
    np.testing.assert_array_equal(stream.order_[:kept], memory.order_[:kept])
    assert abs(stream.objective_ - memory.objective_) <= 1e-3 * memory.objective_
    assert np.mean(stream.predict(X.to_numpy()) == memory.predict(Z)) > 0.99
    dropped = {j for step in stream.selection_.path for j in step.features}
    assert dropped == set(np.flatnonzero(~stream.support_).tolist())
    np.testing.assert_allclose(
        stream.scores_[stream.support_], memory.scores_[stream.support_], rtol=0.05
    )


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_arom_keeps_the_features_of_memory(C):
    X, y = load_breast_cancer(return_X_y=True)
    memory = AROM(C=C).fit(StandardScaler().fit_transform(X), y)
    stream = AROM(C=C).fit_stream(cut(X, y, 200), standardize=True)
    np.testing.assert_array_equal(stream.support_, memory.support_)
    assert abs(stream.objective_ - memory.objective_) <= 1e-3 * memory.objective_


def test_rfe_ranks_three_wines_as_in_memory():
    X, y = load_wine(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(y))
    memory = SVMRFE(1).fit(StandardScaler().fit_transform(X), y)
    stream = SVMRFE(1).fit_stream(cut(X[mixed], y[mixed], 100), standardize=True)
    np.testing.assert_array_equal(stream.order_, memory.order_)


def test_arom_fits_again_if_fewer_are_asked_for():
    X, y = noisy(300, 5, seed=7)
    stream = AROM(C=1.0, n_features_to_select=1).fit_stream(cut(X, y, 100))
    assert stream.support_.sum() == 1
    assert np.count_nonzero(stream.coef_) == 1
    assert stream.selection_.notes["fitted_again"]
    plain = AROM(C=1.0, final="plain").fit_stream(cut(X, y, 100))
    kept = plain.support_
    exact = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X[:, kept], y)
    assert abs(plain.objective_ - exact.objective_) <= 1e-6 * exact.objective_
    np.testing.assert_allclose(plain.coef_[:, kept], exact.coef_, atol=0.01)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes(multiclass):
    X, y = load_iris(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(150)
    X, y = X[mixed], np.array(["a", "b", "c"])[y[mixed]]
    memory = SVMRFE(2, multiclass=multiclass).fit(X, y)
    stream = SVMRFE(2, multiclass=multiclass).fit_stream(cut(X, y, 70), gap=1e-6)
    np.testing.assert_array_equal(stream.order_, memory.order_)
    np.testing.assert_array_equal(stream.predict(X), memory.predict(X))
    assert stream.estimator_.coef_.shape == (3, 2)


def test_arom_of_three_classes_and_class_weights():
    X, y = noisy(300, 4, seed=8, classes=3)
    memory = AROM(C=1.0, class_weight="balanced").fit(X, y)
    stream = AROM(C=1.0, class_weight="balanced").fit_stream(cut(X, y, 120))
    assert stream.coef_.shape == (3, 4)
    np.testing.assert_allclose(stream.objective_, memory.objective_, rtol=1e-3)


def test_groups_and_fixed_features_and_a_constant():
    X, y = noisy(200, 6, seed=9)
    X[:, 5] = 3.0
    names = {"feature_groups": [[0, 2]], "fixed_features": [4]}
    memory = SVMRFE(3, **names).fit(X - X.mean(axis=0), y)
    stream = SVMRFE(3, **names).fit_stream(cut(X, y, 50))
    np.testing.assert_array_equal(stream.order_, memory.order_)
    constant = int(np.flatnonzero(stream.order_ == 5)[0])
    assert constant == 5


def test_sparse_rows_and_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random(400, 12, 0.3, random_state=0, format="csr")
    y = (np.asarray(X[:, :2].sum(axis=1)).ravel() + 0.2 * rng.random(400) > 0.4).astype(int)
    memory = SVMRFE(4, step=2).fit(X, y)
    stream = SVMRFE(4, step=2).fit_stream([(X[:150], y[:150]), (X[150:], y[150:])])
    np.testing.assert_array_equal(stream.order_[:4], memory.order_[:4])
    table = pd.DataFrame(X.toarray(), columns=[f"g{j}" for j in range(12)]).assign(y=y)
    table.to_csv(tmp_path / "t.csv", index=False)
    opened = batches(tmp_path / "t.csv", "y", batch_rows=90, task="classification")
    again = SVMRFE(4, step=2).fit_stream(opened)
    np.testing.assert_array_equal(again.order_[:4], memory.order_[:4])
    assert again.selection_.names[0] == "g0"


# ----------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda X, y: [(X, np.zeros(len(y)))], "one class"),
        (lambda X, y: [(X, y), (np.where(X > 2, np.nan, X), y)], "Batch 1 has a missing value"),
        (lambda X, y: [(X, y), (np.where(X > 2, np.inf, X), y)], "inf"),
        (lambda X, y: [(X, y), (X[:, 1:], y)], r"column|features"),
        (lambda X, y: ((X, y) for _ in range(2)), "once only"),
        (lambda X, y: [(1e200 * X, y)], "very large values"),
    ],
)
@pytest.mark.parametrize("selector", [AROM(), SVMRFE()])
def test_bad_streams_are_refused_with_a_sentence(make, sentence, selector):
    X, y = noisy(60, 3)
    with pytest.raises(ValueError, match=sentence):
        selector.fit_stream(make(X, y))
    assert not hasattr(selector, "support_")


def test_nominal_columns_and_wrong_arguments_are_refused():
    X, y = noisy(60, 3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(d=np.where(y, "u", "v"), y=y)
    with pytest.raises(ValueError, match=r"Column 'd' is nominal.*encode it first"):
        AROM().fit_stream([frame], target="y")
    with pytest.raises(ValueError, match=r"gap=2 must be"):
        AROM().fit_stream([(X, y)], gap=2)
    with pytest.raises(ValueError, match=r"max_passes=0 must be"):
        SVMRFE().fit_stream([(X, y)], max_passes=0)
    with pytest.raises(ValueError, match="target was given with batches"):
        SVMRFE().fit_stream(batches((X, y)), target="y")
    for wrong, sentence in [
        ({"kernel": "rbf"}, "linear kernel"),
        ({"criterion": "radius_margin"}, "criterion='margin' only"),
        ({"n_features_to_select": "best"}, "cross-validation"),
        ({"checkpoint": "x"}, "checkpoint is not available"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            SVMRFE(**wrong).fit_stream([(X, y)])


# ------------------------------------------------------------------------------ interruptions


class Interrupted:
    """Batches that press Ctrl-C in a certain pass."""

    def __init__(self, parts, at):
        self.parts, self.at, self.passes = parts, at, 0

    def __iter__(self):
        self.passes += 1
        if self.passes == self.at:
            raise KeyboardInterrupt
        return iter(self.parts)


def test_ctrl_c_keeps_the_features_that_have_left():
    X, y = noisy(300, 6, seed=2)
    whole = SVMRFE(2)
    counted = Interrupted(cut(X, y, 100), -1)
    whole.fit_stream(counted, keep_bytes=0)
    stopped = SVMRFE(2)
    with pytest.warns(ConvergenceWarning, match=r"interrupted after \d of 6 units"):
        stopped.fit_stream(Interrupted(cut(X, y, 100), counted.passes - 3), keep_bytes=0)
    assert stopped.status_ == "interrupted"
    assert stopped.order_[-1] == whole.order_[-1]
    assert stopped.estimator_.coef_.shape == (1, stopped.support_.sum())
    with pytest.raises(KeyboardInterrupt):
        SVMRFE(2).fit_stream(
            Interrupted(cut(X, y, 100), 4), keep_bytes=0
        )  # nothing has been reached


def test_ctrl_c_keeps_the_last_machine_of_arom():
    X, y = noisy(300, 6, seed=2)
    counted = Interrupted(cut(X, y, 100), -1)
    AROM().fit_stream(counted, keep_bytes=0)
    stopped = AROM()
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stopped.fit_stream(Interrupted(cut(X, y, 100), counted.passes - 2), keep_bytes=0)
    assert stopped.status_ == "interrupted"
    assert stopped.score(X, y) > 0.7


def test_passes_that_run_out_are_reported():
    X, y = noisy(300, 6, seed=2)
    with pytest.warns(ConvergenceWarning, match=r"all 30 passes were made after \d of 6"):
        machine = SVMRFE(2).fit_stream(cut(X, y, 100), max_passes=30)
    assert machine.status_ == "max_iter"
    assert machine.n_passes_ <= 31


def test_a_stream_too_wide_is_refused(limits):
    limits(streamed_machine, _MOST_CURVATURE=1000)
    X, y = noisy(50, 10)
    with pytest.raises(ValueError, match=r"10 features.*at most \d+ are possible"):
        AROM().fit_stream([(X, y)])


def test_many_rows_rank_as_in_memory_with_any_memory(limits):
    limits(near_rows, _SMALL=300)
    limits(streamed_machine, _MOST_SAMPLED=300)
    rng = np.random.default_rng(14)
    X = rng.standard_normal((1500, 6))
    y = np.argmax(X[:, :3] + 0.4 * rng.standard_normal((1500, 3)), axis=1)  # each from the rest
    memory = SVMRFE(2, C=0.1, multiclass="ovr").fit(X, y)
    sparse_memory = AROM(C=0.1).fit(X, y)
    for keep in (None, 40_000, 0):
        parts = Interrupted(cut(X, y, 400, 1, 700), -1)
        found = SVMRFE(2, C=0.1, multiclass="ovr").fit_stream(parts, gap=1e-6, keep_bytes=keep)
        np.testing.assert_array_equal(found.order_, memory.order_)
        assert found.status_ == "converged"
        read = parts.passes
        assert read < 6 if keep is None else read >= found.n_passes_
        arom = AROM(C=0.1).fit_stream(cut(X, y, 400, 700), keep_bytes=keep)
        np.testing.assert_array_equal(arom.support_, sparse_memory.support_)
        np.testing.assert_allclose(arom.objective_, sparse_memory.objective_, rtol=1e-4)


@pytest.mark.parametrize("keep", [-1, 0.5, True, "1 GB"])
def test_memory_is_a_number_of_bytes(keep):
    X, y = noisy(60, 3)
    with pytest.raises(ValueError, match=r"keep_bytes=.* must be an integer number of bytes"):
        AROM().fit_stream([(X, y)], keep_bytes=keep)


def test_a_streamed_ranking_is_saved_and_loaded(tmp_path, cancer):
    X, y, _ = cancer
    table = X.assign(diagnosis=y)
    rfe = SVMRFE(3, step=2).fit_stream([table], target="diagnosis", standardize=True)
    save(rfe, tmp_path / "rfe.tamiz")
    again = load(tmp_path / "rfe.tamiz")
    np.testing.assert_array_equal(again.order_, rfe.order_)
    table = X.to_numpy()
    np.testing.assert_array_equal(again.predict(table), rfe.predict(table))
    np.testing.assert_array_equal(again.estimator_.coef_, rfe.estimator_.coef_)
    np.testing.assert_array_equal(again.estimator_.duality_gap_, rfe.estimator_.duality_gap_)
    assert again.n_passes_ == rfe.n_passes_
    assert again.selection_.selected == rfe.selection_.selected
    with pytest.raises(TypeError, match="fit the selector"):
        again.estimator_.fit(X, y)
