"""PegasosClassifier.fit_stream: passes over batches, the same problem as fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from tamiz.scale import batches
from tamiz.svm import PegasosClassifier
from tamiz.svm.stream.machine import default_passes


def mixture(n=600, p=4, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * [1.0, 5.0, 0.2, 2.0][:p] + 3.0
    score = X[:, 0] + 0.3 * X[:, 3] + 0.5 * rng.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))


def parts(X, y, size=150):
    return [(X[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]


def test_without_shuffling_a_stream_gives_the_bits_of_fit():
    X, y = mixture()
    fitted = PegasosClassifier(0.01, max_iter=4, shuffle=False).fit(X, y)
    for size in (600, 150, 37):
        streamed = PegasosClassifier(0.01, shuffle=False).fit_stream(parts(X, y, size), passes=4)
        np.testing.assert_array_equal(streamed.coef_, fitted.coef_)
        np.testing.assert_array_equal(streamed.intercept_, fitted.intercept_)
        np.testing.assert_allclose(streamed.objective_, fitted.objective_, rtol=1e-12)
        assert (streamed.t_, streamed.n_iter_, streamed.status_) == (2400, 4, "limit")
        np.testing.assert_allclose(streamed.bound_, fitted.bound_, rtol=1e-12)


def test_standardize_is_scaling_first():
    X, y = mixture(classes=3)
    Z = StandardScaler().fit_transform(X)
    fitted = PegasosClassifier(0.01, max_iter=3, shuffle=False).fit(Z, y)
    streamed = PegasosClassifier(0.01, shuffle=False)
    streamed.fit_stream(parts(X, y), passes=3, standardize=True)
    np.testing.assert_allclose(
        streamed.decision_function(X), fitted.decision_function(Z), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(streamed.objective_, fitted.objective_, rtol=1e-9)
    with pytest.raises(ValueError, match=r"standardize=True.*new machine"):
        streamed.partial_fit(X, y)
    streamed.fit(Z, y).partial_fit(Z, y)


def test_c_and_balanced_weights_come_from_the_first_pass():
    X, y = mixture()
    y = (X[:, 0] > 4).astype(int)
    options = {"C": 0.05, "class_weight": "balanced", "shuffle": False}
    fitted = PegasosClassifier(**options, max_iter=3).fit(X, y)
    streamed = PegasosClassifier(**options).fit_stream(parts(X, y), passes=3)
    np.testing.assert_allclose(streamed.coef_, fitted.coef_, rtol=1e-12)


def test_a_seed_gives_the_same_machine_and_another_seed_another():
    X, y = mixture()
    one, two, other = (
        PegasosClassifier(0.01, random_state=s).fit_stream(parts(X, y), passes=2) for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert not np.array_equal(one.coef_, other.coef_)


def test_sparse_rows_frames_and_files(tmp_path):
    X, y = mixture()
    dense = PegasosClassifier(0.01, shuffle=False).fit_stream(parts(X, y), passes=2)
    rows = [(sparse.csr_matrix(A), b) for A, b in parts(X, y)]
    thin = PegasosClassifier(0.01, shuffle=False).fit_stream(rows, passes=2)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-9)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=np.where(y, "yes", "no"))
    frame.to_csv(tmp_path / "table.csv", index=False, float_format="%.17g")
    machine = PegasosClassifier(0.01, shuffle=False)
    machine.fit_stream(tmp_path / "table.csv", target="label", passes=2, batch_rows=100)
    np.testing.assert_allclose(machine.coef_, dense.coef_, rtol=1e-9)
    assert machine.classes_.tolist() == ["no", "yes"]
    assert machine.feature_names_in_.tolist() == list("abcd")
    assert machine.score(frame[list("abcd")], frame["label"]) > 0.8


def test_tol_stops_and_tells():
    X, y = mixture()
    early = PegasosClassifier(0.1, tol=0.05, random_state=0).fit_stream(parts(X, y), passes=50)
    assert early.status_ == "converged"
    assert early.n_iter_ < 50
    with pytest.warns(ConvergenceWarning, match=r"after 2 passes.*raise passes"):
        PegasosClassifier(0.1, tol=1e-12, random_state=0).fit_stream(parts(X, y), passes=2)


@pytest.mark.parametrize(
    ("max_iter", "n", "passes"),
    [(100, 1000, 100), (100, 1_000_000, 10), (100, 10**9, 3), (2, 10**9, 2), (100, 3_000_000, 4)],
)
def test_default_number_of_passes(max_iter, n, passes):
    assert default_passes(max_iter, n) == passes


def test_sorted_rows_are_reported():
    X, y = mixture(1200)
    order = np.argsort(y, kind="stable")
    with pytest.warns(UserWarning, match=r"batches without the class.*sorted.*Shuffle"):
        PegasosClassifier(0.01).fit_stream(parts(X[order], y[order], 300), passes=1)


class Interrupted:
    def __init__(self, items, at):
        self.items, self.at, self.passes = items, at, 0

    def __iter__(self):
        self.passes += 1
        yield self.items[0]
        if self.passes >= self.at:
            raise KeyboardInterrupt
        yield from self.items[1:]


def test_ctrl_c_keeps_the_steps_taken():
    X, y = mixture()
    table = Interrupted(parts(X, y), -1)
    table.at = 10**9
    PegasosClassifier(0.01).fit_stream(table, passes=2, keep_bytes=0)
    table.at = table.passes - 1  # in the last pass of steps
    table.passes = 0
    machine = PegasosClassifier(0.01, random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted after 750 steps"):
        machine.fit_stream(table, passes=2, keep_bytes=0)
    assert (machine.t_, machine.n_iter_, machine.status_) == (750, 1, "interrupted")
    assert machine.objective_ is None
    assert machine.score(X, y) > 0.7


@pytest.mark.parametrize(
    ("options", "call", "sentence"),
    [
        ({"sampling": "replacement"}, {}, "permutation"),
        ({}, {"passes": 0}, "passes=0 must be"),
        ({}, {"passes": 1.5}, r"passes=1\.5 must be"),
    ],
)
def test_wrong_parameters_are_refused(options, call, sentence):
    X, y = mixture()
    with pytest.raises(ValueError, match=sentence):
        PegasosClassifier(**options).fit_stream(parts(X, y), **call)


def test_bad_rows_are_refused_and_an_earlier_fit_stays():
    X, y = mixture()
    machine = PegasosClassifier(0.01, random_state=0).fit(X, y)
    before = machine.coef_.copy()
    hole = X[:150].copy()
    hole[3, 2] = np.nan
    for bad, sentence in [
        ([(X, y), (hole, y[:150])], r"Batch 1 has a missing value in column 'x2'"),
        ([(X, np.ones(len(y)))], "one class only"),
        (((a, b) for a, b in parts(X, y)), "once only"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            machine.fit_stream(bad)
        np.testing.assert_array_equal(machine.coef_, before)
    with pytest.raises(ValueError, match="target is numeric"):
        machine.fit_stream(batches((X, X[:, 0]), task="regression"))


def test_a_weight_in_a_batch_is_a_number_of_rows():
    X, y = mixture()
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    machine = PegasosClassifier(lambda_=0.01, shuffle=False)
    got = clone(machine).partial_fit(X, y, classes=np.unique(y), sample_weight=weight)
    want = clone(machine).partial_fit(X[copies], y[copies], classes=np.unique(y))
    np.testing.assert_array_equal(got.coef_, want.coef_)
    assert got.t_ == want.t_ == weight.sum()
    light = PegasosClassifier(lambda_=0.01, random_state=0)
    for start in range(0, len(y), 10):
        part = slice(start, start + 10)
        light.partial_fit(X[part], y[part], np.unique(y), sample_weight=np.full(len(y), 0.25)[part])
    assert abs(light.t_ - len(y) / 4) < 4 * np.sqrt(len(y))
    with pytest.raises(ValueError, match="sample_weight"):
        light.partial_fit(X, y, sample_weight=weight[:-1])
