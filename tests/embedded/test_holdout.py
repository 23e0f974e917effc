"""HoldOutSVM: what it counts, what it removes, where it stops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tamiz import HoldOutSVM
from tamiz.embedded.holdout import elimination
from tamiz.embedded.holdout.elimination import new_seed
from tamiz.embedded.holdout.judges import (
    ErrorCounts,
    FadingGram,
    count_wrong,
    fading_gram,
    random_split,
    validation_counts,
)
from tamiz.kernels import RBF, Linear, Polynomial, QuadraticForm, Sigmoid
from tests.naive import holdout as naive

# the oracle's own machine may stop at its limit of steps, at a tolerance fine enough
pytestmark = pytest.mark.filterwarnings("ignore:Solver terminated early")

B = np.diag([1.0, 2.0, 1.0, 0.5, 1.5]) + 0.2
KERNELS = {
    "linear": (Linear(), naive.linear),
    "radial": (RBF(gamma=0.2), naive.radial(0.2)),
    "polynomial": (Polynomial(degree=3, gamma=0.3, coef0=1.0), naive.polynomial(0.3, 1.0, 3)),
    "composite": (
        0.5 * RBF(gamma=0.3) + Linear() * RBF(gamma=0.1),
        lambda x, z: 0.5 * naive.radial(0.3)(x, z) + naive.linear(x, z) * naive.radial(0.1)(x, z),
    ),
    "sigmoid": (Sigmoid(gamma=0.05, coef0=0.1), naive.sigmoid(0.05, 0.1)),
    "quadratic": (QuadraticForm(B), naive.quadratic(B.tolist())),
    "function": (lambda A, B: (A @ B.T + 1.0) ** 2, naive.polynomial(1.0, 1.0, 2)),
}


def problem(n=36, p=5, n_classes=2, seed=0):
    """Classes that the first two features tell apart, with errors; the classes are not equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X[:, 0] + 0.7 * X[:, 1] * X[:, 1] + 0.8 * rng.normal(size=n)
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1] ** 0.7)
    return X, np.searchsorted(cuts, score)


def compare(selector, kernel, X, y, tol=1e-9, **options):
    """Every error of every step, what leaves, and the features at the stop, beside the oracle."""
    selector.set_params(tol=tol, random_state=3)
    selector.fit(X, y)
    labels = np.unique(y, return_inverse=True)
    held_out = np.clip(np.rint(0.3 * np.bincount(labels[1])).astype(int), 1, None)
    groups = options.get("groups") or [
        [j] for j in range(X.shape[1]) if j not in options.get("fixed", ())
    ]
    steps, last, at_stop = naive.eliminate(
        kernel, X, labels[1].tolist(), held_out=held_out, seed=new_seed(3), **options
    )
    path = selector.selection_.path
    assert path[0].action == "start" and len(path) == len(steps) + 1
    for event, (present, errors, leave) in zip(path[1:], steps, strict=True):
        assert event.details["error"] == pytest.approx(present, rel=1e-12)
        assert event.details["features"].tolist() == [groups[k][0] for k in errors]
        assert event.details["without"].tolist() == pytest.approx(list(errors.values()), rel=1e-6)
        assert sorted(event.features) == sorted(j for k in leave for j in groups[k])
    assert selector.errors_.tolist() == pytest.approx([s[0] for s in steps] + [last], rel=1e-12)
    fixed = list(options.get("fixed", ()))
    expected = sorted([j for k in at_stop for j in groups[k]] + fixed)
    assert np.flatnonzero(selector.support_).tolist() == expected
    assert selector.selection_.notes["n_at_stop"] == len(expected)


@pytest.mark.filterwarnings("ignore::tamiz.kernels.IndefiniteKernelWarning")
@pytest.mark.parametrize("name", KERNELS)
def test_errors_without_each_feature(name):
    ours, theirs = KERNELS[name]
    absent = naive.zeroed if name == "quadratic" else naive.without
    compare(HoldOutSVM(C=2.0, kernel=ours), theirs, *problem(), C=2.0, absent=absent)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("name", ["linear", "radial"])
def test_several_classes(name, scheme):
    ours, theirs = KERNELS[name]
    X, y = problem(40, 4, n_classes=3)
    compare(HoldOutSVM(kernel=ours, multiclass=scheme), theirs, X, y, scheme=scheme)


@pytest.mark.parametrize("ties", ["random", "all"])
@pytest.mark.parametrize("stop", ["worse", "not_better"])
def test_rules_and_splits(ties, stop):
    ours, theirs = KERNELS["radial"]
    selector = HoldOutSVM(kernel=ours, ties=ties, stop=stop, splits_per_step=3)
    compare(selector, theirs, *problem(seed=4), ties=ties, stop=stop, n_splits=3)


def test_costs():
    X, y = problem()
    ours, theirs = KERNELS["radial"]
    compare(HoldOutSVM(kernel=ours, costs=(1.0, 3.5)), theirs, X, y, prices=[1.0, 3.5])
    named = np.array(["healthy", "ill"])[y]
    by_name = HoldOutSVM(kernel=ours, costs={"ill": 3.5, "healthy": 1.0})
    compare(by_name, theirs, X, named, prices=[1.0, 3.5])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_error(n_classes):
    X, y = problem(40, 4, n_classes=n_classes)
    held_out = np.rint(0.3 * np.bincount(y))
    ours, theirs = KERNELS["radial"]
    prices = (1.0 / (n_classes * held_out)).tolist()
    compare(HoldOutSVM(kernel=ours, balanced=True), theirs, X, y, prices=prices)


def test_class_weights():
    X, y = problem()
    ours, theirs = KERNELS["linear"]
    selector = HoldOutSVM(kernel=ours, class_weight={0: 1.0, 1: 4.0})
    compare(selector, theirs, X, y, class_factor=[1.0, 4.0])


@pytest.mark.parametrize("name", ["linear", "radial", "composite"])
def test_groups_and_fixed_features(name):
    ours, theirs = KERNELS[name]
    X, y = problem(36, 6)
    groups = [[0, 4], [1], [2, 3, 5]]
    compare(
        HoldOutSVM(kernel=ours, feature_groups=[[0, 4], [5, 3, 2]]), theirs, X, y, groups=groups
    )
    compare(HoldOutSVM(kernel=ours, fixed_features=[1, 2]), theirs, X, y, fixed=(1, 2))


# ------------------------------------------------------------------ counting


def test_an_error_counts_once():
    """The printed sum of |y - sgn| is twice the number of errors; here a sample counts as one."""
    X = np.r_[np.zeros((10, 1)), np.ones((10, 1))]
    y = np.r_[np.zeros(5), np.ones(5), np.zeros(5), np.ones(5)]  # nothing to learn: half are wrong
    selector = HoldOutSVM(random_state=0).fit(np.hstack([X, X]), y)
    assert selector.selection_.notes["n_validation"] == 6
    assert selector.errors_.max() <= 6 and selector.errors_.max() % 1 == 0
    assert count_wrong(np.array([True, False, True]), np.array([0, 2])).tolist() == [1, 1]


def test_splits_hold_every_class_on_both_sides():
    y = np.repeat([0, 1, 2], [2, 7, 40])
    labels = type("L", (), {"classes": np.arange(3), "codes": y})
    held_out = validation_counts(labels, 0.3)
    assert held_out.tolist() == [1, 2, 12]
    seen = np.zeros(len(y))
    for step in range(60):
        by_class = [np.flatnonzero(y == k) for k in range(3)]
        split = random_split(by_class, held_out, elimination.stream(0, step))
        assert sorted([*split.train, *split.validation]) == list(range(len(y)))
        assert np.bincount(y[split.validation]).tolist() == held_out.tolist()
        assert (np.diff(y[split.validation]) >= 0).all()
        assert split.starts.tolist() == [0, 1, 3]
        seen[split.validation] += 1
    assert seen.min() >= 5  # everyone gets a turn
    assert validation_counts(labels, 0.99).tolist() == [1, 6, 39]
    assert validation_counts(labels, 0.01).tolist() == [1, 1, 1]


@pytest.mark.parametrize("spread", [6.0, 1.0, 0.3, 0.03])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.2), Linear()])
def test_tables_agree_with_the_tracked_kernel(kernel, spread):
    """Over the whole way down, with columns cleared in between, in every range of exponents."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 41)) * spread + 5.0
    fast, slow = fading_gram(kernel, X), FadingGram(kernel, X)
    assert type(fast) is not FadingGram
    rows, support = np.arange(20, 30), np.arange(0, 20, 2)
    coef = rng.normal(size=10)
    for j in rng.permutation(41)[:-1]:
        left = np.flatnonzero(slow.tracker.active)
        ours = fast.without(rows, support, coef)[:, [*fast.place[left], fast.nothing]]
        theirs = slow.without(rows, support, coef)[:, [*left, slow.nothing]]
        size = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, atol=1e-11 * size, rtol=0)
        np.testing.assert_allclose(fast.block(rows), slow.block(rows), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(
            fast.values(rows, support, coef),
            slow.values(rows, support, coef),
            atol=1e-11 * size,
            rtol=0,
        )
        fast.remove([int(j)])
        slow.remove([int(j)])


# ------------------------------------------------------------------ rules on given errors


class Given:
    """A judge that reads its errors from a table: those present, and those without each unit."""

    def __init__(self, present, without):
        self.present, self.table = present, without
        self.gone = []
        self.n_fits = self.n_early = 0

    def remove(self, unit):
        self.gone.append(unit)

    def errors(self, splits, units, seeds, run):
        step = len(self.gone)
        without = [[self.table[step][k], 0] for k in units]
        return ErrorCounts(np.array([self.present[step], 0]), np.array(without).reshape(-1, 2))


def eliminated(judge, n_units, *, strict=True, all_tied=False, seed=0, fixed=()):
    units = elimination.Units(
        [np.array([k]) for k in range(n_units)], np.array(fixed, dtype=int), n_units + len(fixed)
    )
    by_class = [np.arange(4), np.arange(4, 8)]
    plan = elimination.HoldOutPlan(
        by_class, np.array([1, 1]), np.ones(2), 1, all_tied, strict=strict, seed=seed
    )
    record = elimination.HoldOutRecord()
    with elimination.Progress("test") as progress:
        elimination.eliminate(judge, units, plan, record, None, progress)
    return record


def test_the_two_stop_rules_differ():
    """At the second step the least error without a feature equals the error with all of them."""
    present = [5, 4, 3, 9]
    without = [[4, 6, 6, 6], [9, 4, 7, 8], [9, 9, 4, 5], []]
    strict = eliminated(Given(present, without), 4)
    assert [r[0] for r in strict.removed] == [0, 1, 2]
    assert strict.stopped == 2 and elimination.kept_at_stop(strict, 4) == [2, 3]
    loose = eliminated(Given(present, without), 4, strict=False)
    assert loose.removed == strict.removed  # the rule decides the support, not the ranking
    assert loose.stopped == 1 and elimination.kept_at_stop(loose, 4) == [1, 2, 3]
    assert elimination.unit_order(loose, 4) == [3, 2, 1, 0]


def test_never_stopping_leaves_one():
    record = eliminated(Given([5, 5, 5], [[1, 2, 3], [9, 1, 2], []]), 3)
    assert record.stopped is None and elimination.kept_at_stop(record, 3) == [2]


def test_ties_at_random_take_each_in_turn():
    table = [[2, 2, 7, 2], [8] * 4, [8] * 4, [8] * 4]
    first = [eliminated(Given([3] * 4, table), 4, seed=s).removed[0] for s in range(60)]
    counts = np.bincount([units[0] for units in first], minlength=4)
    assert counts[2] == 0 and (counts[[0, 1, 3]] >= 8).all()
    assert eliminated(Given([3] * 4, table), 4).tied[0] == 3


def test_all_ties_at_once_but_never_everything():
    record = eliminated(Given([3] * 5, [[2, 2, 7, 2]] * 5), 4, all_tied=True)
    assert sorted(record.removed[0]) == [0, 1, 3] and len(record.removed) == 1
    record = eliminated(Given([3] * 5, [[2, 2, 2, 2]] * 5), 4, all_tied=True)
    assert len(record.removed[0]) == 3 and record.complete
    record = eliminated(Given([3] * 9, [[2, 2, 2, 2]] * 9), 4, all_tied=True, fixed=[4])
    assert sorted(record.removed[0]) == [0, 1, 2, 3]  # the fixed one is left
    orders = {
        tuple(eliminated(Given([3] * 5, [[2] * 4] * 5), 4, seed=s).removed[0]) for s in range(9)
    }
    assert len(orders) > 3  # who of equals stays is a matter of chance


# ------------------------------------------------------------------ what it finds


@pytest.mark.parametrize("seed", range(2))
def test_a_pair_that_works_only_together(seed):
    """Worked example 15: four clouds in the corners of a square, among 50 features of noise."""
    rng = np.random.default_rng(seed)
    corner = rng.integers(0, 2, size=(250, 2))
    X = rng.normal(size=(250, 52))
    pair = rng.permutation(52)[:2]
    X[:, pair] = 4.0 * corner - 2.0 + 0.6 * rng.normal(size=(250, 2))
    y = corner[:, 0] ^ corner[:, 1]
    X = StandardScaler().fit_transform(X)
    selector = HoldOutSVM(2, C=10.0, splits_per_step=3, random_state=seed).fit(X, y)
    assert sorted(selector.order_[:2]) == sorted(pair)
    assert selector.score(X, y) > 0.95


def test_wdbc_keeps_its_accuracy():
    X, y = load_breast_cancer(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    selector = HoldOutSVM(C=10.0, gamma=0.5, splits_per_step=5, random_state=0)
    selector.fit(X[::2], y[::2])
    assert 2 <= selector.support_.sum() <= 29
    assert selector.score(X[1::2], y[1::2]) > 0.94
    assert selector.estimator_.kernel_ == RBF(gamma=0.5)
    ax = selector.selection_.plot()
    (line,) = (found for found in ax.lines if len(found.get_xdata()) > 2)
    assert line.get_xdata().tolist() == list(range(30, 0, -1))
    assert line.get_ydata().tolist() == selector.errors_.tolist()
    assert any(set(found.get_xdata()) == {selector.support_.sum()} for found in ax.lines)


@pytest.mark.parametrize("judge", [KNeighborsClassifier(3), DecisionTreeClassifier(max_depth=3)])
def test_any_judge_is_fitted_anew(judge):
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 2))])
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    selector = HoldOutSVM(estimator=judge, splits_per_step=2, random_state=1).fit(X, names)
    assert selector.order_[0] in (2, 3)
    assert selector.score(X, names) > 0.9
    assert selector.predict_proba(X).shape == (150, 3)
    assert type(selector.estimator_) is type(judge)
    step = selector.selection_.path[3]  # by hand: the third step, four features in
    inside = np.array([j for j in range(6) if j not in selector.order_[4:]])
    assert step.details["features"].tolist() == inside.tolist()
    rng = elimination.stream(new_seed(1), 2)
    by_class = [np.flatnonzero(y == k) for k in range(3)]
    splits = [random_split(by_class, np.array([15] * 3), rng) for _ in range(2)]
    seeds = rng.integers(2**31 - 1, size=2)
    for place, gone in enumerate([None, *inside]):
        columns = [j for j in inside if j != gone]
        total = 0
        for split, seed in zip(splits, seeds, strict=True):
            if "random_state" in judge.get_params():
                judge = type(judge)(max_depth=3, random_state=_derived(seed))
            guess = judge.fit(X[np.ix_(split.train, columns)], y[split.train]).predict(
                X[np.ix_(split.validation, columns)]
            )
            total += (guess != y[split.validation]).sum() / 2
        found = step.details["error"] if gone is None else step.details["without"][place - 1]
        assert found == total


def _derived(seed):
    return int(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))
