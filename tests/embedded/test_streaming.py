"""AROM and SVMRFE from a stream: the machines of memory, whatever the cut, with a true gap."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import AROM, SVMRFE, _streaming
from tamiz.persistence import load, save
from tamiz.scale import batches
from tamiz.svm import SVC
from tamiz.svm import _stream_near as near_rows
from tamiz.svm import _stream_newton as newton
from tamiz.svm._stream_hinge import HingeAt, Tasks, Units, sides
from tamiz.svm._stream_near import NearAt, solve_machines
from tamiz.svm._stream_newton import Machine, Rows


def noisy(n=300, p=6, seed=0, shift=0.0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(0.5, 3.0, p) + shift
    score = X[:, 0] - shift + 0.5 * (X[:, 1] - shift) + rng.standard_normal(n)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    return X, y


def cut(X, y, *sizes):
    ends = np.cumsum(sizes)
    return list(zip(np.split(X, ends), np.split(y, ends), strict=True))


def rows_of(X, y, C, sample=None, dense=True):
    """The rows of a binary problem as the solver sees them, all in one batch."""
    scale = X.std(axis=0)
    units = Units(X.mean(axis=0) if dense else np.zeros(X.shape[1]), scale)
    table = X if dense else sparse.csr_matrix(X)
    tasks = Tasks(np.array([[-1.0, 1.0]]), np.full((1, 2), C))
    chosen = np.arange(len(y)) if sample is None else sample
    return Rows(
        total=lambda make: make.of(table, y),
        tasks=tasks,
        units=units,
        n_rows=len(y),
        row_cost=1.0,
        sample=units.apply(table[chosen]),
        codes=y[chosen],
        weight=len(y) / len(chosen),
    )


# -------------------------------------------------------------------------------- one pass


def slow_sums(make, X, codes):
    """The sums of a pass, row by row, from the formulas."""
    point, direction = make.point[0], make.direction[0]
    total = {"losses": 0.0, "hinges": 0.0, "curvature": 0.0, "rest": 0.0}
    duals = np.zeros((2, 2, X.shape[1] + 1))
    for x, code in zip(X, codes, strict=True):
        row = np.append((x - make.units.shift) / make.units.scale, 1.0)
        y, price = make.tasks.signs[0][code], make.tasks.prices[0][code]
        mu = make.after[0, 0]
        ends = 1 - y * ((point + make.lengths[0][:, None] * direction) @ row)
        m, mb = make.before[0]
        total["losses"] += price * (ends + np.sqrt(ends**2 + m**2)) / 2
        total["hinges"] += price * np.maximum(ends, 0)
        z0, z = 1 - y * (point @ row), ends[0]
        a0 = (1 + z0 / np.sqrt(z0**2 + m**2)) / 2
        a0 -= mb**2 / 2 / (z0**2 + mb**2) ** 1.5 * y * (direction @ row)
        a = (1 + z / np.sqrt(z**2 + mu**2)) / 2
        side = 0 if y > 0 else 1
        duals[0, side] += price * np.clip(a0, 0, 1) * row
        duals[1, side] += price * a * row
        total["rest"] += price * (max(z, 0) - a * z)
        bend = make.after[0, 1]
        total["curvature"] += price * bend**2 / 2 / (z**2 + bend**2) ** 1.5 * np.outer(row, row)
    return total, duals


@pytest.mark.parametrize("dense", [True, False])
def test_the_sums_of_a_pass_are_those_of_the_formulas_and_add_up(dense):
    X, y = noisy(40, 3)
    rows = rows_of(X, y, 0.7, dense=dense)
    rng = np.random.default_rng(1)
    make = HingeAt(
        tasks=Tasks(np.array([[-1.0, 1.0]]), np.array([[0.7, 2.0]])),
        units=rows.units,
        machines=np.array([0]),
        point=rng.standard_normal((1, 4)),
        direction=rng.standard_normal((1, 4)),
        lengths=np.array([[0.6, 0.0, 1.5]]),
        before=np.array([[0.3, 0.5]]),
        after=np.array([[0.1, 0.3]]),
        share=np.array([np.inf]),
    )
    table = X if dense else sparse.csr_matrix(X)
    whole = make.of(table, y)
    parts = make.of(table[:7], y[:7]).merge(make.of(table[7:], y[7:], 7))
    slow, duals = slow_sums(make, X, y)
    for found in (whole, parts, pickle.loads(pickle.dumps(make)).of(table, y)):
        np.testing.assert_allclose(found.losses[0], slow["losses"], rtol=1e-12)
        np.testing.assert_allclose(found.hinges[0], slow["hinges"], rtol=1e-12)
        np.testing.assert_allclose(found.rest[0], slow["rest"], rtol=1e-11)
        np.testing.assert_allclose(found.duals[0], duals, rtol=1e-10, atol=1e-12)
        lower = np.tril(found.curvature[0])
        np.testing.assert_allclose(lower, np.tril(slow["curvature"]), rtol=1e-11, atol=1e-12)


def test_a_share_of_the_rows_gives_the_curvature_on_average():
    X, y = noisy(20_000, 3)
    rows = rows_of(X, y, 1.0)
    question = newton._question(rows, [Machine(np.ones(3), np.zeros(4))], [0])
    whole = question.of(X, y)
    question.share = np.array([4000 / whole.bend[0]])
    some = question.of(X, y)
    assert not np.array_equal(some.curvature, whole.curvature)
    size = np.abs(whole.curvature[0]).max()
    assert np.abs(some.curvature - whole.curvature).max() < 0.1 * size
    np.testing.assert_array_equal(some.duals, whole.duals)


# ------------------------------------------------------------------------ the certified minimum


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("dense", [True, False])
def test_the_minimum_is_that_of_svc_and_the_gap_is_true(C, dense):
    X, y = noisy(seed=3, shift=0.0 if not dense else 5.0)
    exact = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    rows = rows_of(X, y, C, dense=dense)
    machine = Machine(1.0 / rows.units.scale**2, np.zeros(X.shape[1] + 1))
    solve_machines(rows, [machine], tol=1e-6, max_passes=60)
    assert machine.status == "converged"
    low, high = machine.bound, machine.objective
    slack = 1e-7 * exact.objective_
    assert low <= exact.objective_ + slack
    assert high >= exact.objective_ - slack
    assert high - low <= 1e-6 * high
    w = machine.best[:-1] / rows.units.scale
    np.testing.assert_allclose(w, exact.coef_[0], atol=2e-2 * np.abs(exact.coef_).max())


def test_every_plane_lies_below_the_losses_also_without_some_features():
    X, y = noisy(200, 5, seed=4)
    rows = rows_of(X, y, 1.0)
    machine = Machine(1.0 / rows.units.scale**2, np.zeros(6))
    solve_machines(rows, [machine], tol=1e-3, max_passes=30)
    assert len(machine.planes) > 3
    Z, signs = rows.units.apply(X), 2.0 * y - 1.0
    rng = np.random.default_rng(0)
    for dropped in ([], [0], [1, 4]):
        w = rng.standard_normal((50, 5)) * 3
        w[:, dropped] = 0.0
        for b in (-2.0, 0.0, 1.3):
            losses = np.maximum(0, 1 - signs[:, None] * (Z @ w.T + b)).sum(axis=0)
            for u, s in machine.planes:
                kept = u.copy()
                kept[dropped] = 0.0
                assert (losses >= s - w @ kept - 1e-9 * np.abs(s)).all()


def test_planes_of_the_machine_before_bound_the_next_and_save_passes():
    X, y = noisy(400, 8, seed=5)
    rows = rows_of(X, y, 0.1)
    ridge = 1.0 / rows.units.scale**2
    machine = Machine(ridge, np.zeros(9))
    solve_machines(rows, [machine], tol=1e-5, max_passes=60)
    least = int(np.argmin(machine.best[:-1] ** 2 * ridge))
    fewer = ridge.copy()
    fewer[least] = np.inf
    machine.again(fewer)
    exact = SVC(C=0.1, kernel="linear", tol=1e-8).fit(np.delete(X, least, axis=1), y)
    assert 0.9 * exact.objective_ < machine.bound <= exact.objective_ * (1 + 1e-7)  # no pass yet
    before = rows.passes
    solve_machines(rows, [machine], tol=1e-5, max_passes=60)
    warm = rows.passes - before
    cold = Machine(fewer, np.zeros(9))
    before = rows.passes
    solve_machines(rows, [cold], tol=1e-5, max_passes=60)
    assert warm < rows.passes - before
    assert machine.best[least] == 0.0
    assert abs(machine.objective - exact.objective_) <= 1e-5 * exact.objective_


def test_sides_scales_down_the_heavier_side():
    dual = np.array([[2.0, 4.0, 4.0], [1.0, 1.0, 2.0]])
    u, s = sides(dual)
    np.testing.assert_allclose(u, [1.0 - 1.0, 2.0 - 1.0])
    assert s == 4.0
    assert sides(np.zeros((2, 3)))[1] == 0.0


def test_a_sample_that_misleads_costs_passes_not_the_answer():
    X, y = noisy(600, 4, seed=6)
    order = np.argsort(X[:, 0])
    rows = rows_of(X, y, 1.0, sample=order[250:350])  # rows of one sort only
    machine = Machine(1.0 / rows.units.scale**2, np.zeros(5))
    solve_machines(rows, [machine], tol=1e-5, max_passes=80)
    exact = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y)
    assert machine.status == "converged"
    assert abs(machine.objective - exact.objective_) <= 1e-5 * exact.objective_


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
        SVMRFE(2).fit_stream(Interrupted(cut(X, y, 100), 4), keep_bytes=0)  # nothing has been reached


def test_ctrl_c_keeps_the_last_machine_of_arom():
    X, y = noisy(300, 6, seed=2)
    counted = Interrupted(cut(X, y, 100), -1)
    AROM().fit_stream(counted, keep_bytes=0)
    stopped = AROM()
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stopped.fit_stream(Interrupted(cut(X, y, 100), counted.passes - 2), keep_bytes=0)
    assert stopped.status_ == "interrupted"
    assert stopped.score(X, y) > 0.7


def test_passes_that_run_out_are_told():
    X, y = noisy(300, 6, seed=2)
    with pytest.warns(ConvergenceWarning, match=r"all 30 passes were made after \d of 6"):
        machine = SVMRFE(2).fit_stream(cut(X, y, 100), max_passes=30)
    assert machine.status_ == "max_iter"
    assert machine.n_passes_ <= 31


def test_a_stream_too_wide_is_refused(monkeypatch):
    monkeypatch.setattr("tamiz.svm._streaming._MOST_CURVATURE", 1000)
    X, y = noisy(50, 10)
    with pytest.raises(ValueError, match=r"10 features.*at most \d+ are possible"):
        AROM().fit_stream([(X, y)])


def test_precision_is_checked_in_one_place():
    assert _streaming.Precision.of(0.5, 3) == (0.5, 3)


# ------------------------------------------------------------------- rows near the margin


def far_and_near(X, y, table, K=1):
    """Question of a pass that keeps rows near the margin, at random weights."""
    rng = np.random.default_rng(3)
    p = X.shape[1]
    units = Units(np.zeros(p) if sparse.issparse(table) else X.mean(axis=0), X.std(axis=0))
    signs = np.array([[-1.0, 1.0, -1.0], [0.0, -1.0, 1.0]])[:K]
    return NearAt(
        tasks=Tasks(signs, np.array([[0.7, 2.0, 1.0], [1.0, 0.5, 3.0]])[:K]),
        units=units,
        machines=np.arange(K),
        point=rng.standard_normal((K, p + 1)),
        direction=rng.standard_normal((K, p + 1)),
        lengths=np.array([0.7, 0.2]),
        width=np.array([0.6, 0.3])[:K],
    )


@pytest.mark.parametrize("dense", [True, False])
def test_rows_kept_and_summed_up_are_those_of_the_definition_and_lie_below(dense):
    X, y = noisy(80, 3, seed=11, classes=3)
    table = X if dense else sparse.csr_matrix(X)
    make = far_and_near(X, y, table, K=2)
    whole = make.of(table, y)
    parts = make.of(table[:30], y[:30]).merge(make.of(table[30:], y[30:], 30))
    Z = np.column_stack([(X - make.units.shift) / make.units.scale, np.ones(len(y))])
    signs, prices = make.tasks.signs[:, y], make.tasks.prices[:, y]
    z = 1 - signs * ((make.point + 0.7 * make.direction) @ Z.T)
    near = ((np.abs(z) < make.width[:, None]) & (signs != 0)).any(axis=0)
    assert 0 < near.sum() < len(y)
    for found in (whole, parts):
        kept = np.concatenate([np.asarray(sparse.csr_matrix(p.X).todense()) for p in found.parts])
        np.testing.assert_array_equal(kept, X[near])
        np.testing.assert_array_equal(np.concatenate([p.codes for p in found.parts]), y[near])
        for k in range(2):
            alpha = prices[k] * (z[k] > 0) * ~near
            for side, sign in enumerate((1, -1)):
                np.testing.assert_allclose(
                    found.far[k, side], (alpha * (signs[k] == sign)) @ Z, atol=1e-11
                )
            ends = make.point[k] + make.lengths[:, None] * make.direction[k]
            losses = np.maximum(0, 1 - signs[k] * (ends @ Z.T)) @ (prices[k] * (signs[k] != 0))
            np.testing.assert_allclose(found.hinges[k], losses, rtol=1e-12)
    # with the rows far away summed up, the losses are never above the true ones
    rng = np.random.default_rng(4)
    for k, w in enumerate(3 * rng.standard_normal((2, 4))):
        true = prices[k] * (signs[k] != 0) * np.maximum(0, 1 - signs[k] * (Z @ w))
        level, u = whole.far[k, :, -1].sum(), whole.far[k, 0] - whole.far[k, 1]
        assert true[near].sum() + level - u @ w <= true.sum() + 1e-9


@pytest.mark.parametrize("dense", [True, False])
def test_rows_near_the_margin_save_passes_and_change_nothing(dense, monkeypatch):
    X, y = noisy(3000, 6, seed=12)
    exact = SVC(C=0.1, kernel="linear", tol=1e-8).fit(X, y).objective_
    passes = []
    for small in (10**9, 500):
        monkeypatch.setattr(near_rows, "_SMALL", small)
        rows = rows_of(X, y, 0.1, dense=dense, sample=np.arange(0, 3000, 10))
        rows.near_bytes, rows.row_bytes = 8 * 7 * 1500, 8 * 7
        machine = Machine(1.0 / rows.units.scale**2, np.zeros(7))
        solve_machines(rows, [machine], tol=1e-6, max_passes=60)
        assert machine.status == "converged"
        assert machine.bound <= exact * (1 + 1e-8)
        assert exact * (1 - 1e-8) <= machine.objective <= exact * (1 + 1e-6)
        passes.append(rows.passes)
    assert passes[1] < passes[0] / 2
    # the next machine starts from the rows that were kept
    ridge = machine.ridge * np.where(np.arange(6) == 5, np.inf, 1.0)
    machine.again(ridge)
    solve_machines(rows, [machine], tol=1e-6, max_passes=60)
    exact = SVC(C=0.1, kernel="linear", tol=1e-8).fit(X[:, :5], y).objective_
    assert exact * (1 - 1e-8) <= machine.objective <= exact * (1 + 1e-6)
    assert rows.passes - passes[1] <= 3


def test_a_margin_without_rows_ends_with_newton(monkeypatch):
    monkeypatch.setattr(near_rows, "_SMALL", 100)
    X, y = noisy(600, 4, seed=13)
    rows = rows_of(X, y, 1.0, sample=np.arange(200))
    rows.near_bytes, rows.row_bytes = 8 * 5 * 3, 8 * 5  # three rows at most
    machine = Machine(1.0 / rows.units.scale**2, np.full(5, 5.0))
    solve_machines(rows, [machine], tol=1e-5, max_passes=80)
    exact = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y).objective_
    assert machine.status == "converged"
    assert exact * (1 - 1e-8) <= machine.objective <= exact * (1 + 1e-5)


def test_many_rows_rank_as_in_memory_with_any_memory(monkeypatch):
    monkeypatch.setattr(near_rows, "_SMALL", 300)
    monkeypatch.setattr("tamiz.svm._streaming._MOST_SAMPLED", 300)
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
    with pytest.raises(ValueError, match=r"keep_bytes=.* must be a whole number of bytes"):
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
