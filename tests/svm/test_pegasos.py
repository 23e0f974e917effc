"""PegasosClassifier: against the formulas step by step, the exact optimum, and its own stream."""

from __future__ import annotations

import itertools
import pickle
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from tamiz.solvers.pegasos import (
    Averaging,
    Intercept,
    OnlineSamples,
    Setting,
    advance,
    expected_gap,
    new_state,
    objective,
    solution,
)
from tamiz.svm import PegasosClassifier
from tests.calls import interrupted_soon
from tests.naive import online as naive

INTERCEPTS = {"none": Intercept.NONE, "penalised": Intercept.PENALISED, "free": Intercept.FREE}


def two_classes(n=120, p=4, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + shift
    y = (X[:, 0] - shift + 0.5 * rng.standard_normal(n) > 0).astype(int)
    return X, y


def exact(X, y, lambda_, weight=None):
    """Optimum of λ/2 ‖w‖² + mean hinge, without intercept; y holds 0 and 1."""
    machine = LinearSVC(
        C=1 / (len(y) * lambda_), loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6
    ).fit(X, y, sample_weight=weight)
    w = machine.coef_[0]
    hinge = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ w))
    return lambda_ / 2 * w @ w + np.mean(hinge if weight is None else weight * hinge)


# ------------------------------------------------------------ the iterates are those of the text


def cut(order, size):
    """The batches of each step; the last one takes what is left."""
    return [order[start : start + size].tolist() for start in range(0, len(order), size)]


@st.composite
def runs(draw):
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    n, p = draw(st.integers(2, 12)), draw(st.integers(1, 5))
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
    codes = rng.integers(0, 2, n)
    size = draw(st.integers(1, 4))
    order = rng.integers(0, n, draw(st.integers(1, 60)))
    return X, codes, order, size, draw(st.sampled_from([1.0, 0.1, 0.003]))


@given(
    run=runs(),
    delay=st.sampled_from(["auto", 0.0, 3.5]),
    intercept=st.sampled_from(sorted(INTERCEPTS)),
    class_weight=st.sampled_from([(1.0, 1.0), (0.5, 3.0)]),
    as_sparse=st.booleans(),
)
def test_iterates_averages_and_directions_equal_the_naive_ones(
    run, delay, intercept, class_weight, as_sparse
):
    X, codes, order, size, lambda_ = run
    signs = np.where(codes == 1, 1, -1)
    weight = np.array(class_weight)
    batches = cut(order, size)
    iterates, rho = naive.pegasos(
        X.tolist(), signs, [*weight[codes], weight.max()], batches, lambda_, delay, intercept
    )
    samples = OnlineSamples(sparse.csr_matrix(X) if as_sparse else X, codes, np.array([1]), weight)
    T = len(batches)
    tail = 2 ** int(np.log2(T / 2)) if T >= 2 else 0
    expected = {
        Averaging.NONE: iterates[T],
        Averaging.ALL: naive.mean(iterates[:T]),
        Averaging.TAIL: naive.mean(iterates[tail:T]),
    }
    for averaging, beta in expected.items():
        delay_ = None if delay == "auto" else delay
        setting = Setting(lambda_, INTERCEPTS[intercept], averaging, delay_)
        state = new_state(1, X.shape[1], setting)
        advance(state, samples, setting, order, size)
        scale = np.abs(iterates).max()
        np.testing.assert_allclose(solution(state, setting)[0], beta, rtol=1e-9, atol=1e-11 * scale)
        assert np.sqrt(state.rho2[0]) == pytest.approx(rho, rel=1e-6)
        assert state.clock[0] == T


@given(run=runs())
def test_the_closed_form_is_the_literal_step(run):
    X, codes, order, size, lambda_ = run
    signs = np.where(codes == 1, 1, -1)
    batches = cut(order, size)
    closed, _ = naive.pegasos(X.tolist(), signs, [1.0] * len(X), batches, lambda_, 0.0, "none")
    literal = naive.pegasos_by_steps(X.tolist(), signs, batches, lambda_)
    np.testing.assert_allclose([b[:-1] for b in closed], literal, rtol=1e-7, atol=1e-9 / lambda_)


@given(run=runs(), average=st.sampled_from([False, True, "tail"]))
def test_each_machine_of_several_is_the_binary_one(run, average):
    X, _, order, size, lambda_ = run
    codes = np.arange(len(X)) % 3
    averaging = {False: Averaging.NONE, True: Averaging.ALL, "tail": Averaging.TAIL}[average]
    setting = Setting(lambda_, Intercept.PENALISED, averaging, 0.0)

    def weights(codes, positive):
        state = new_state(len(positive), X.shape[1], setting)
        samples = OnlineSamples(X, codes, np.array(positive), np.ones(3))
        advance(state, samples, setting, order, size)
        return solution(state, setting)

    together = weights(codes, [0, 1, 2])
    for k in range(3):
        np.testing.assert_array_equal(together[k], weights((codes == k).astype(int), [1])[0])


@pytest.mark.parametrize("batch_size", [1, 7])
@pytest.mark.parametrize("penalize_intercept", [True, False])
def test_dense_equals_sparse(batch_size, penalize_intercept):
    X, y = two_classes(seed=1)
    X[np.abs(X) < 0.7] = 0
    machine = PegasosClassifier(
        0.01, batch_size=batch_size, penalize_intercept=penalize_intercept, random_state=3
    )
    dense, csr = clone(machine).fit(X, y), clone(machine).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-8)
    np.testing.assert_allclose(csr.intercept_, dense.intercept_, rtol=1e-8)
    np.testing.assert_allclose(
        csr.decision_function(sparse.coo_array(X)), dense.decision_function(X)
    )
    for kind in (sparse.csc_matrix, sparse.coo_matrix):
        np.testing.assert_array_equal(clone(machine).fit(kind(X), y).coef_, csr.coef_)


# ------------------------------------------------------------------------------ streams


@given(
    cuts=st.lists(st.integers(0, 60), max_size=6),
    seed=st.integers(0, 1000),
    average=st.sampled_from([False, True, "tail"]),
    fit_intercept=st.booleans(),
    penalize=st.booleans(),
    t0=st.sampled_from(["auto", 0]),
)
def test_a_stream_does_not_depend_on_its_cuts(cuts, seed, average, fit_intercept, penalize, t0):
    X, y = two_classes(60, 3, seed)
    y[:2] = 0, 1
    machine = PegasosClassifier(
        0.05, average=average, fit_intercept=fit_intercept, penalize_intercept=penalize, t0=t0,
        shuffle=False, max_iter=1,
    )  # fmt: skip
    whole = clone(machine).fit(X, y)
    streamed = clone(machine)
    edges = [0, *sorted(set(cuts) - {0, 60}), 60]
    for start, stop in itertools.pairwise(edges):
        streamed.partial_fit(X[start:stop], y[start:stop], classes=[1, 0])
    np.testing.assert_array_equal(streamed.coef_, whole.coef_)
    np.testing.assert_array_equal(streamed.intercept_, whole.intercept_)
    assert streamed.t_ == whole.t_ == 60
    assert streamed.bound_ == whole.bound_
    assert (streamed.objective_, streamed.status_, streamed.n_iter_) == (None, "stream", 1)


def test_a_stream_of_mini_batches_cut_at_their_multiples():
    X, y = load_iris(return_X_y=True)
    machine = PegasosClassifier(0.05, batch_size=8, shuffle=False, max_iter=1)
    whole = clone(machine).fit(X, y)
    streamed = clone(machine)
    for start, stop in [(0, 16), (16, 24), (24, 120), (120, 150)]:
        streamed.partial_fit(X[start:stop], y[start:stop], classes=[0, 1, 2])
    np.testing.assert_array_equal(streamed.coef_, whole.coef_)
    assert streamed.t_ == whole.t_ == 19  # 18 batches of eight and one of six


def test_partial_fit_goes_on_after_fit_and_after_a_pickle():
    X, y = two_classes()
    machine = PegasosClassifier(0.01, shuffle=False, max_iter=1)
    twice = clone(machine).set_params(max_iter=2).fit(X, y)
    resumed = pickle.loads(pickle.dumps(clone(machine).fit(X, y)))
    resumed.partial_fit(X, y)
    np.testing.assert_array_equal(resumed.coef_, twice.coef_)
    assert resumed.t_ == twice.t_ == 2 * len(y)


def test_the_rows_are_drawn_as_announced():
    X, y = two_classes()
    n, given = len(y), PegasosClassifier(0.01, shuffle=False)

    def fed(orders):
        machine = clone(given)
        for order in orders:
            machine.partial_fit(X[order], y[order], classes=[0, 1])
        return machine.coef_

    draws = np.random.RandomState(4)
    permutations = [draws.permutation(n) for _ in range(3)]
    machine = PegasosClassifier(0.01, max_iter=3, random_state=4)
    np.testing.assert_array_equal(clone(machine).fit(X, y).coef_, fed(permutations))
    streamed = clone(machine)
    for _ in range(3):  # each batch is shuffled anew
        streamed.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(streamed.coef_, fed(permutations))
    draws = np.random.RandomState(4)
    independent = [draws.randint(n, size=n) for _ in range(3)]
    machine.set_params(sampling="replacement")
    np.testing.assert_array_equal(machine.fit(X, y).coef_, fed(independent))
    machine.set_params(sampling="permutation", shuffle=False)
    np.testing.assert_array_equal(machine.fit(X, y).coef_, fed([np.arange(n)] * 3))


def test_memory_does_not_grow_with_the_stream():
    machine = PegasosClassifier(random_state=0)
    X, y = two_classes(5000, 6)

    def held():
        return len(pickle.dumps(machine))

    machine.partial_fit(X[:10], y[:10], classes=[0, 1])
    before = held()
    for start in range(0, 5000, 500):
        machine.partial_fit(X[start : start + 500], y[start : start + 500])
    assert abs(held() - before) < 100


def test_a_batch_may_lack_classes():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    machine = PegasosClassifier(1e-3, random_state=0)
    for k in range(3):  # one class at a time
        machine.partial_fit(X[y == k], y[y == k], classes=[0, 1, 2])
    assert machine.coef_.shape == (3, 4)
    order = np.random.default_rng(0).permutation(150)
    for _ in range(20):
        machine.partial_fit(X[order], y[order])
    assert machine.score(X, y) > 0.85


# ------------------------------------------------------------------------------- optimality


@pytest.mark.parametrize("t0", ["auto", 0])
@pytest.mark.parametrize("batch_size", [1, 5])
@pytest.mark.parametrize("lambda_", [0.3, 0.02])
def test_the_expected_gap_is_within_the_bound(t0, batch_size, lambda_):
    X, y = two_classes(seed=5)
    optimum = exact(X, y, lambda_)
    for passes in (1, 10):
        gaps, bounds = [], []
        for seed in range(10):
            machine = PegasosClassifier(
                lambda_, t0=t0, sampling="replacement", fit_intercept=False, max_iter=passes,
                batch_size=batch_size, random_state=seed,
            ).fit(X, y)  # fmt: skip
            gaps.append(machine.objective_ - optimum)
            bounds.append(machine.bound_)
        assert min(gaps) >= -1e-8
        assert np.mean(gaps) <= np.mean(bounds)


def test_the_bound_is_that_of_the_theorem():
    X, y = two_classes()
    signs = np.where(y == 1, 1, -1)
    lambda_, T = 0.1, len(y)
    machine = PegasosClassifier(lambda_, t0=0, shuffle=False, max_iter=1).fit(X, y)
    _, rho = naive.pegasos(X.tolist(), signs, [1.0] * T, [[i] for i in range(T)], lambda_)
    harmonic = sum(1 / t for t in range(1, T + 1))
    assert machine.bound_ == pytest.approx(rho**2 * harmonic / (2 * lambda_ * T))
    assert machine.bound_ <= rho**2 * (1 + np.log(T)) / (2 * lambda_ * T)
    for lambda_ in (1e-4, 0.1):  # nor is it ever more with the delayed clock
        delayed = PegasosClassifier(lambda_, shuffle=False, max_iter=1).fit(X, y)
        rho2 = delayed._state.rho2[0]
        assert delayed.bound_ <= rho2 * (1 + np.log(T)) / (2 * lambda_ * T)


@pytest.mark.parametrize("sampling", ["permutation", "replacement"])
@pytest.mark.parametrize("average", [True, "tail", False])
def test_many_steps_come_near_the_optimum(sampling, average):
    X, y = two_classes(seed=6)
    lambda_ = 0.01
    augmented = np.c_[X, np.ones(len(X))]
    machine = PegasosClassifier(
        lambda_, average=average, sampling=sampling, max_iter=2000, random_state=0
    ).fit(X, y)
    optimum = exact(augmented, y, lambda_)
    assert optimum - 1e-8 <= machine.objective_ <= 1.02 * optimum
    signs = np.where(y == 1, 1, -1)
    weights = [*machine.coef_[0], machine.intercept_[0]]
    assert machine.objective_ == pytest.approx(
        naive.hinge_objective(augmented.tolist(), signs, [1.0] * len(y), weights, lambda_)
    )


def test_the_delayed_clock_keeps_few_steps_from_going_wild():
    X, y = two_classes(seed=7)
    at_zero = 1.0  # the objective of no machine at all
    delayed = PegasosClassifier(1e-5, max_iter=5, random_state=0).fit(10 * X, y)
    plain = PegasosClassifier(1e-5, max_iter=5, random_state=0, t0=0).fit(10 * X, y)
    assert delayed.objective_ < at_zero < plain.objective_


def test_C_states_the_problem_of_the_support_vector_machine():
    X, y = two_classes()
    for C in (0.1, 2.0):
        by_C = PegasosClassifier(C=C, random_state=0).fit(X, y)
        by_lambda = PegasosClassifier(1 / (len(y) * C), random_state=0).fit(X, y)
        np.testing.assert_array_equal(by_C.coef_, by_lambda.coef_)
    machine = PegasosClassifier(C=0.1, fit_intercept=False, max_iter=3000, random_state=0).fit(X, y)
    reference = LinearSVC(C=0.1, loss="hinge", fit_intercept=False, max_iter=10**6).fit(X, y)
    np.testing.assert_allclose(machine.coef_, reference.coef_, atol=0.02)


def test_a_free_intercept_reaches_what_the_penalised_one_cannot():
    X, y = two_classes(200, 2, seed=8, shift=5.0)
    lambda_ = 0.1
    reference = SVC(kernel="linear", C=1 / (len(y) * lambda_), tol=1e-8).fit(X, y)
    samples = OnlineSamples(X, y, np.array([1]), np.ones(2))
    setting = Setting(lambda_, Intercept.FREE, Averaging.ALL, None)
    optimum = objective(samples, setting, np.c_[reference.coef_, reference.intercept_])[0]
    free = PegasosClassifier(
        lambda_, penalize_intercept=False, average="tail", max_iter=3000, random_state=0
    ).fit(X, y)
    penalised = clone(free).set_params(penalize_intercept=True).fit(X, y)
    assert optimum - 1e-6 <= free.objective_ <= 1.02 * optimum
    assert free.bound_ is None
    assert abs(free.intercept_[0]) > abs(penalised.intercept_[0])


def test_class_weights_weigh_the_losses():
    X, y = two_classes(seed=9)
    lambda_ = 0.05
    weight = {0: 1.0, 1: 4.0}
    machine = PegasosClassifier(
        lambda_, class_weight=weight, fit_intercept=False, max_iter=3000, random_state=0
    ).fit(X, y)
    optimum = exact(X, y, lambda_, np.where(y == 1, 4.0, 1.0))
    assert optimum - 1e-8 <= machine.objective_ <= 1.02 * optimum
    counts = np.bincount(y)
    balanced = PegasosClassifier(class_weight="balanced", random_state=0).fit(X, y)
    by_hand = {k: len(y) / (2 * counts[k]) for k in (0, 1)}
    same = PegasosClassifier(class_weight=by_hand, random_state=0).fit(X, y)
    np.testing.assert_array_equal(balanced.coef_, same.coef_)
    streamed = PegasosClassifier(class_weight=weight, shuffle=False)
    streamed.partial_fit(X, y, classes=[0, 1])
    once = PegasosClassifier(class_weight=weight, shuffle=False, max_iter=1).fit(X, y)
    np.testing.assert_array_equal(streamed.coef_, once.coef_)


def test_what_has_no_bound_says_none():
    X, y = two_classes()
    for parameters in ({"average": False}, {"average": "tail"}, {"penalize_intercept": False}):
        assert PegasosClassifier(max_iter=2, **parameters).fit(X, y).bound_ is None
    setting = Setting(1.0, Intercept.NONE, Averaging.ALL, None)
    assert expected_gap(new_state(1, 2, setting), setting, np.ones(2)) is None


# -------------------------------------------------------------------------- several classes


def test_several_classes():
    X, codes = make_blobs(300, centers=4, random_state=1)
    X = StandardScaler().fit_transform(X)
    names = np.array(["north", "east", "south", "west"])
    machine = PegasosClassifier(1e-3, random_state=0).fit(X, names[codes])
    assert machine.coef_.shape == (4, 2)
    assert machine.intercept_.shape == machine.objective_.shape == machine.bound_.shape == (4,)
    values = machine.decision_function(X)
    np.testing.assert_allclose(values, X @ machine.coef_.T + machine.intercept_)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[values.argmax(axis=1)])
    reference = LinearSVC(C=1 / (300 * 1e-3), loss="hinge", max_iter=10**6).fit(X, codes)
    assert machine.score(X, names[codes]) >= reference.score(X, codes) - 0.03


# ------------------------------------------------------------------------ stopping, Ctrl-C


def test_tol_stops_early_or_says_that_it_did_not():
    X, y = two_classes()
    machine = PegasosClassifier(0.1, tol=1e-3, max_iter=1000, random_state=0).fit(X, y)
    assert machine.status_ == "converged"
    assert machine.n_iter_ < 1000
    assert machine.t_ == machine.n_iter_ * len(y)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*tol=1e-12.*increase max_iter"):
        hasty = PegasosClassifier(0.1, tol=1e-12, max_iter=2, random_state=0).fit(X, y)
    assert hasty.status_ == "limit"


def test_ctrl_c_keeps_what_was_reached():
    X, y = two_classes()
    machine = PegasosClassifier(0.01, max_iter=10**9, random_state=0)
    machine.partial_fit(X, y, classes=[0, 1])  # compiled before the clock runs
    start = time.perf_counter()
    told = pytest.warns(ConvergenceWarning, match=r"interrupted after [\d,]+ steps")
    with interrupted_soon(), told:
        machine.fit(X, y)
    assert time.perf_counter() - start < 10
    assert machine.status_ == "interrupted"
    assert machine.score(X, y) > 0.8


def test_ctrl_c_during_a_batch_keeps_its_first_part(monkeypatch):
    from tamiz.svm import pegasos as module

    X, y = two_classes()
    real = module.advance

    def cut_short(state, samples, setting, order, batch_size):
        real(state, samples, setting, order[:50], batch_size)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "advance", cut_short)
    with pytest.warns(ConvergenceWarning, match="interrupted after 50 steps of this batch"):
        machine = PegasosClassifier(shuffle=False).partial_fit(X, y, classes=[0, 1])
    reference = PegasosClassifier(shuffle=False, max_iter=1).fit(X[:50], y[:50])
    assert machine.status_ == "interrupted"
    np.testing.assert_array_equal(machine.coef_, reference.coef_)


# -------------------------------------------------------------------------- what goes in


def test_frames_keep_their_names():
    X, y = two_classes()
    names = ["a", "b", "c", "d"]
    plain = PegasosClassifier(random_state=0).fit(X, y)
    for frame, labels in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ):
        machine = PegasosClassifier(random_state=0).fit(frame, labels)
        assert machine.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(machine.coef_, plain.coef_)
        np.testing.assert_array_equal(machine.predict(frame), plain.predict(X))


def bad_X(value):
    X, y = two_classes()
    X = X.astype(object)
    X[3, 1] = value
    return X, y


def names_twice():
    X, y = two_classes()
    return pd.DataFrame(X, columns=["a", "b", "a", "c"]), y


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            lambda: bad_X(np.nan),
            r"X contains NaN \(first at row 3, column 1.*Fill the missing values",
        ),
        (lambda: bad_X(np.inf), r"X contains infinity.*row 3, column 1.*Replace"),
        (lambda: bad_X("red"), r"column 1 holds text .*'red' at row 3.*Encode"),
        (lambda: (two_classes()[0], np.zeros(120)), r"y holds one class only .*at least 2"),
        (lambda: ([[1.0, 2.0]], [1]), r"one class"),
        (names_twice, r"more than once, first 'a'; rename"),
        (lambda: (two_classes()[0], np.arange(119) % 2), r"120 rows but y has 119"),
        (lambda: (two_classes()[0], None), r"requires y"),
        (lambda: (1e200 * two_classes()[0], two_classes()[1]), r"X has very large.*Scale the feat"),
    ],
)
def test_bad_data_is_refused_with_a_sentence(data, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        PegasosClassifier(max_iter=1).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lambda_": -1}, r"'lambda_' .* range \(0.*Got -1"),
        ({"lambda_": 0}, r"'lambda_' .*Got 0"),
        ({"C": 0}, r"'C' .*Got 0"),
        ({"max_iter": 0}, r"'max_iter' .*Got 0"),
        ({"batch_size": 2.5}, r"'batch_size' .*Got 2.5"),
        ({"average": "head"}, r"'average' .*'tail'.*Got 'head'"),
        ({"t0": -3}, r"'t0' .*Got -3"),
        ({"sampling": "some"}, r"'sampling' .*'permutation'.*Got 'some'"),
        ({"sampling": "replacement", "shuffle": False}, r"shuffle=False.*use"),
        ({"class_weight": {7: 2.0}}, r"class_weight names the class 7.*\(0, 1\).*remove"),
        ({"class_weight": {0: -2.0}}, r"class_weight\[0\] is -2.0.*not negative"),
        ({"class_weight": {0: 0, 1: 0}}, r"class_weight is zero.*positive"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        PegasosClassifier(**parameters).fit(*two_classes())


def test_bad_streams_are_refused_with_a_sentence():
    X, y = two_classes()

    def stream(**parameters):
        return PegasosClassifier(**parameters).partial_fit(X, y, classes=[0, 1])

    with pytest.raises(ValueError, match=r"classes is None in the first call .*classes=\[0, 1\]"):
        PegasosClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y holds one class only"):
        PegasosClassifier().partial_fit(X, y, classes=[1, 1])
    with pytest.raises(ValueError, match=r"y\[0\] is 5, .*\(0, 1\).*Name every class"):
        stream().partial_fit(X, np.full(len(y), 5))
    with pytest.raises(ValueError, match=r"y\[0\] is 'a', .*\(0, 1\)"):
        stream().partial_fit(X, np.full(len(y), "a"))
    with pytest.raises(ValueError, match=r"classes is \(0, 1, 2\), .*\(0, 1\); leave"):
        stream().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"X has 3 features, .*expecting 4"):
        stream().partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match=r"C=2 .*set C=None and choose lambda_"):
        stream(C=2)
    with pytest.raises(ValueError, match=r'class_weight="balanced" .*pass a dict'):
        stream(class_weight="balanced")
    with pytest.raises(ValueError, match=r"lambda_ was 0.0001 and is 0.5.*clone"):
        stream().set_params(lambda_=0.5).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"Input X contains NaN"):
        stream().partial_fit(np.full_like(X, np.nan), y)


def test_a_refused_batch_leaves_the_stream_as_it_was():
    X, y = two_classes()
    machine = PegasosClassifier(shuffle=False).partial_fit(X, y, classes=[0, 1])
    coef = machine.coef_.copy()
    with pytest.raises(ValueError, match="not among the classes"):
        machine.partial_fit(X, y + 1)
    machine.partial_fit(X, y)
    reference = PegasosClassifier(shuffle=False, max_iter=2).fit(X, y)
    assert not np.array_equal(machine.coef_, coef)
    np.testing.assert_array_equal(machine.coef_, reference.coef_)


def test_a_batch_that_fails_leaves_the_stream_as_it_was():
    X, y = make_blobs(200, centers=2, random_state=0)
    stream = PegasosClassifier(lambda_=0.01, shuffle=False).partial_fit(X, y, classes=[0, 1])
    other = PegasosClassifier(lambda_=0.01, shuffle=False).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="Scale"):
        stream.partial_fit(X * 1e200, y)
    stream.partial_fit(X, y)
    other.partial_fit(X, y)
    np.testing.assert_array_equal(stream.coef_, other.coef_)


# ---------------------------------------------------------------------------------- sample weights


@pytest.mark.parametrize("sampling", ["permutation", "replacement"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_integer_weights_equal_rows_repeated_in_place(sampling, class_weight):
    X, y = make_blobs(60, centers=3, random_state=0, cluster_std=2.0)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    options = {"sampling": sampling, "class_weight": class_weight, "C": 1.0, "random_state": 3}
    got = PegasosClassifier(max_iter=5, **options).fit(X, y, sample_weight=weight)
    want = PegasosClassifier(max_iter=5, **options).fit(X[rows], y[rows])
    np.testing.assert_array_equal(got.coef_, want.coef_)
    np.testing.assert_array_equal(got.intercept_, want.intercept_)
    np.testing.assert_allclose(got.objective_, want.objective_, rtol=1e-12)
    assert got.t_ == want.t_


@pytest.mark.parametrize("sampling", ["permutation", "replacement"])
def test_real_weights_lead_to_the_weighted_optimum(sampling):
    X, codes = two_classes(80, seed=1)
    weight = np.random.default_rng(0).uniform(0.0, 3.0, 80)
    machine = PegasosClassifier(
        lambda_=0.1, fit_intercept=False, max_iter=300, sampling=sampling, random_state=0
    ).fit(X, codes, sample_weight=weight)
    unit = weight / weight.mean()
    least = exact(X, codes, 0.1, unit)
    assert least <= machine.objective_ + 1e-9
    assert machine.objective_ < least * 1.01
    assert machine.objective_ == pytest.approx(
        0.05 * (machine.coef_**2).sum()
        + np.mean(unit * np.maximum(0, 1 - np.where(codes == 1, 1, -1) * (X @ machine.coef_[0])))
    )


@pytest.mark.parametrize("unit", [1e-300, 1e-6, 1e9, 1e18, 1e300])
@pytest.mark.parametrize("sampling", ["permutation", "replacement"])
def test_a_pass_has_not_fewer_steps_than_rows_nor_without_end(unit, sampling):
    passes, steps = (300, 60) if unit < 1 else (1, 1_000_000)
    X, codes = two_classes(60, seed=1)
    weight = np.random.default_rng(0).integers(1, 5, 60)
    machine = PegasosClassifier(
        lambda_=0.1, fit_intercept=False, max_iter=passes, sampling=sampling, random_state=0
    ).fit(X, codes, sample_weight=weight * unit)
    assert abs(machine.t_ - passes * steps) <= passes
    assert machine.objective_ < exact(X, codes, 0.1, weight / weight.mean()) * 1.05


def test_integer_weights_of_many_rows_are_repeated_as_they_are():
    X, codes = two_classes(8, seed=1)
    weight = np.arange(1, 9) * 1000
    machine = PegasosClassifier(lambda_=0.1, max_iter=1, random_state=0)
    assert machine.fit(X, codes, sample_weight=weight).t_ == weight.sum()
