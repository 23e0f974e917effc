"""AROM: its first machine, its steps one by one, what it converges to, and bad input."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import AROM
from tamiz.embedded.sparse import arom as module
from tamiz.svm import SVC, HardMarginSVC
from tests.calls import interrupted, interrupted_inside
from tests.checks import assert_every_check_passes
from tests.naive import mixed_penalties as naive


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def overlapping(seed: int, n: int = 60, p: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y


def limited(X, y, steps, **parameters):
    with pytest.warns(ConvergenceWarning, match="AROM: .*max_iter"):
        return AROM(max_iter=steps, **parameters).fit(X, y)


def test_first_machine_is_the_linear_one(wdbc):
    X, y = wdbc
    for C in (0.1, 1.0):
        machine = limited(X, y, 1, C=C)
        peer = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
        np.testing.assert_allclose(machine.coef_, peer.coef_, atol=1e-5)
        np.testing.assert_allclose(machine.intercept_, peer.intercept_, atol=1e-5)
        np.testing.assert_array_equal(machine.scale_, np.ones(30))
        assert machine.objective_ == pytest.approx(peer.objective_, rel=1e-7)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_steps_one_by_one(seed, C, normalize):
    X, y = overlapping(seed)
    X *= np.linspace(0.5, 2.0, 8)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    signs = np.where(y == 1, 1.0, -1.0)
    factors, total, b = naive.arom_by_hand(X, signs, C * weight, 3, normalize)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some end here by themselves
        machine = AROM(C=C, normalize=normalize, tol=1e-14, max_iter=3).fit(X, y, weight)
    assert machine.n_iter_ == 3
    shown = machine.scale_ > 0  # features that have left by now have no factor any more
    np.testing.assert_allclose(machine.scale_[shown], factors[-1][shown], atol=1e-5)
    np.testing.assert_allclose(machine.scale_[~shown], 0.0, atol=1e-5)
    np.testing.assert_allclose(machine.coef_[0], total, atol=1e-4)
    np.testing.assert_allclose(machine.intercept_, b, atol=1e-4)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_end_of_the_iteration(seed, normalize):
    """Those that stay have equal weights in the scaled features, one without normalisation."""
    X, y = overlapping(seed)
    machine = AROM(C=10.0, normalize=normalize, tol=1e-6).fit(X, y)
    assert machine.status_ == "converged"
    kept = machine.support_
    assert {0, 1} <= set(np.flatnonzero(kept)) and kept.sum() < 8
    w = np.abs(machine.coef_[0, kept] / machine.scale_[kept])
    np.testing.assert_allclose(w, w[0] if normalize else 1.0, rtol=1e-4)
    assert len(machine.history_) == machine.n_iter_
    assert machine.objective_ == machine.history_[-1]
    assert machine.duality_gap_ <= 1e-9 * machine.objective_
    again = SVC(C=10.0, kernel="linear", tol=1e-9).fit(X * machine.scale_, y)
    np.testing.assert_allclose(again.coef_ * machine.scale_, machine.coef_, atol=1e-5)


def test_upper_bound_falls_with_every_bare_step():
    """Sum of log|v_j| + C sum(hinge) never rises while all features are there."""
    X, y = overlapping(5, n=100, p=4)
    signs, values = np.where(y == 1, 1.0, -1.0), []
    for steps in range(1, 5):
        machine = limited(X, y, steps, C=2.0, normalize=False, tol=1e-12)
        if not machine.scale_.all():
            break
        w, b = machine.coef_[0], machine.intercept_[0]
        values.append(np.log(np.abs(w)).sum() + naive.hinge_sum(X, signs, [2.0] * 100, w, b))
    assert len(values) > 2
    assert (np.diff(values) < 0).all()


def test_hard_margin_by_a_large_C_is_that_of_the_scaled_features():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 60))
    y = (X[:, 3] > 0).astype(int)
    bare, normalized = (AROM(C=1e6, normalize=n).fit(X, y) for n in (False, True))
    np.testing.assert_array_equal(bare.support_, normalized.support_)
    np.testing.assert_allclose(bare.coef_, normalized.coef_, atol=1e-2)
    assert bare.score(X, y) == 1.0 and bare.support_[3] and bare.support_.sum() < 10
    hard = HardMarginSVC().fit(X * bare.scale_, y)
    np.testing.assert_allclose(bare.coef_, hard.coef_ * bare.scale_, atol=1e-3)


def test_plain_machine_at_the_end(wdbc):
    X, y = wdbc
    scaled, plain = AROM(C=1.0).fit(X, y), AROM(C=1.0, final="plain").fit(X, y)
    np.testing.assert_array_equal(scaled.support_, plain.support_)
    peer = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X[:, plain.support_], y)
    np.testing.assert_allclose(plain.coef_[:, plain.support_], peer.coef_, atol=1e-5)
    assert not np.allclose(plain.coef_, scaled.coef_, atol=1e-2)


def test_ranking_follows_the_path(wdbc):
    X, y = wdbc
    machine = AROM(C=0.1, n_features_to_select=12).fit(X, y)
    kept = np.flatnonzero(machine.coef_[0])
    assert machine.support_.sum() == 12 > len(kept)
    position = machine.ranking_
    assert position[kept].max() == len(kept)
    dropped = [step.features for step in machine.selection_.path]
    assert sorted(j for features in dropped for j in features) == sorted(set(range(30)) - set(kept))
    assert machine.selection_.path[-1].n_features == len(kept)
    for earlier, later in itertools.pairwise(dropped):
        assert min(position[list(earlier)]) > max(position[list(later)])


def test_few_features_of_many_and_honest_accuracy(data_dir):
    stored = np.load(data_dir / "colon.npz")
    X, y = np.log(stored["X"]), stored["y"]
    pipe = make_pipeline(StandardScaler(), AROM()).fit(X, y)
    assert 3 < pipe[-1].support_.sum() < 30 and pipe.score(X, y) == 1.0
    assert cross_val_score(pipe, X, y, cv=5).mean() > 0.7


def test_weights_sparse_tables_and_several_classes(wdbc):
    X, y = wdbc
    thin = AROM().fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, AROM().fit(X, y).coef_, atol=1e-5)
    iris, three = load_iris(return_X_y=True)
    several = AROM(C=10.0).fit(iris, three)
    assert several.coef_.shape == several.scale_.shape == (3, 4)
    assert several.score(iris, three) > 0.9
    assert several.selection_.path == []  # every machine has its own
    threads = AROM(C=10.0, n_jobs=2).fit(iris, three)
    np.testing.assert_array_equal(threads.coef_, several.coef_)
    np.testing.assert_array_equal(threads.scale_, several.scale_)
    with pytest.raises(ValueError, match="n_jobs=0"):
        AROM(n_jobs=0).fit(iris, three)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_weights_stand_for_repetitions(form):
    """Weights move the means and spreads of the features; a class that weighs more does too."""
    X, y = overlapping(3)
    X = X * np.linspace(0.5, 3.0, 8) + 1.0
    weight = np.where(X[:, 2] > 1.0, 5, 1) * np.random.default_rng(0).integers(0, 3, len(y))
    weighted = AROM(C=0.1, class_weight={0: 1.0, 1: 3.0}).fit(form(X), y, sample_weight=weight)
    repeated = AROM(C=0.1, class_weight={0: 1.0, 1: 3.0}).fit(
        form(np.repeat(X, weight, axis=0)), np.repeat(y, weight)
    )
    assert 1 < weighted.support_.sum() < 8
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, atol=1e-7)


@pytest.mark.parametrize("normalize", [True, False])
def test_units_of_the_features_matter_only_at_the_start(normalize):
    """From the same proportions on, a change of units is taken up by the factors."""
    X, y = overlapping(3)
    machine = AROM(C=10.0, normalize=normalize, tol=1e-8).fit(X, y)
    kept = machine.support_
    assert kept.sum() < 8
    units = np.where(kept, machine.scale_, 1e-9)  # the others leave at once
    scaled = AROM(C=10.0, normalize=normalize, tol=1e-8).fit(X * units, y)
    np.testing.assert_array_equal(scaled.support_, kept)
    np.testing.assert_allclose((scaled.coef_[0] * units)[kept], machine.coef_[0, kept], rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_unit_of_a_useless_feature_decides_nothing(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + 0.7 * X[:, 1] + 0.8 * rng.normal(size=60) > 0
    plain = AROM(C=0.1).fit(X, y)
    assert {0, 1} <= set(np.flatnonzero(plain.support_)) and plain.support_.sum() < 5
    for unit in (3.0, 10.0, 100.0, 1e4):
        other = AROM(C=0.1).fit(X * np.where(np.arange(8) == 7, unit, 1.0), y)
        np.testing.assert_array_equal(other.support_, plain.support_)


# ------------------------------------------------------------------------------ bad luck


def test_all_features_may_go():
    X, y = overlapping(0)
    with pytest.warns(UserWarning, match=r"AROM: every weight is zero.*Raise C to let"):
        machine = AROM(C=1e-4, normalize=False).fit(X, y)
    assert not machine.support_.any() and len(set(machine.predict(X))) == 1
    assert sorted(machine.order_) == list(range(8))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_constant_features(form):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(30, 0.1), rng.normal(size=30), np.zeros(30)])
    y = (X[:, 1] > 0).astype(int)
    machine = AROM().fit(form(X), y)
    np.testing.assert_array_equal(machine.support_, [False, True, False])
    with pytest.warns(UserWarning, match="every weight is zero"):
        AROM().fit(form(X[:, [0, 2]]), y)


def test_labels_by_lot_where_weights_are_nothing_but_rounding():
    for seed in (17, 28):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            machine = AROM().fit(X, y)
        assert machine.status_ == "converged" and machine.n_iter_ < 60


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": 0.0}, "'C'"),
        ({"final": "raw"}, "'final'"),
        ({"tol": -1.0}, "'tol'"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"normalize": "yes"}, "'normalize'"),
    ],
)
def test_absurd_parameters(parameters, match):
    with pytest.raises(ValueError, match=match):
        AROM(**parameters).fit(*overlapping(0))


@pytest.mark.parametrize("call", [0, 2])
def test_interruption_inside_a_solver_keeps_the_last_machine(wdbc, call):
    ctrl_c = interrupted_inside(module, "solve_penalised", at=call + 1)
    with ctrl_c, pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = AROM().fit(*wdbc)
    assert machine.status_ == "interrupted" and machine.score(*wdbc) > 0.9
    assert machine.n_iter_ == max(1, call)


@pytest.mark.parametrize("call", [0, 3])
def test_interruption_between_the_machines(wdbc, call):
    """Ctrl-C where no solver catches it: the last machine stays, or none if there was none."""
    ctrl_c = interrupted(module, "solve_penalised", at=call + 1)
    with ctrl_c, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine = AROM().fit(*wdbc)
    assert [w.category for w in caught] == [ConvergenceWarning]  # and no advice to raise C
    assert caught[0].filename == __file__ and "interrupted" in str(caught[0].message)
    assert machine.status_ == "interrupted"
    if call:
        assert machine.n_iter_ == call and machine.score(*wdbc) > 0.9
    else:
        assert machine.objective_ is None and not machine.coef_.any()


def test_failed_fit_leaves_the_machine_as_it_was():
    X, y = overlapping(0)
    machine = AROM().fit(X, y)
    before = machine.scale_.copy(), machine.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        machine.fit(np.where(X > 1, np.nan, X), y)
    np.testing.assert_array_equal(machine.scale_, before[0])
    np.testing.assert_array_equal(machine.coef_, before[1])


def test_estimator_checks():
    assert_every_check_passes(AROM())
