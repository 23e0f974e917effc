"""Many machines at once: certificates against their definition, points against the CPU's solver."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from tamiz.gpu import emulated
from tamiz.gpu.columns import ColumnProblems, certify, feasible, solve_columns
from tamiz.kernels import RBF, Linear
from tamiz.qp import DenseQ, QuadraticProblem, svr_problem
from tamiz.qp.card import CardQ
from tamiz.solvers import solve_smo
from tamiz.svm.path.together import Line, solve_together
from tamiz.validation import NotEnoughMemoryError
from tests.naive.card import classifier_gap, regression_gap

PENALTIES = [0.01, 0.03, 0.1, 1.0, 2.0, 10.0, 300.0]


def classes(n=120, seed=0):
    X, y = make_classification(n, 8, n_informative=5, flip_y=0.1, random_state=seed)
    return X, 2.0 * y - 1.0


def folds(y, count=3):
    """A line for each fold, its samples held out."""
    lines = []
    for k in range(count):
        takes = (np.arange(len(y)) % count != k).astype(float)
        lines.append(Line(-y, np.minimum(0, y) * takes, np.maximum(0, y) * takes))
    return lines


def tubes(target, epsilon, count=2):
    lines = []
    for k in range(count):
        takes = (np.arange(len(target)) % 3 != k).astype(float)
        lines.append(Line(-target, -takes, takes, epsilon, float(target.std())))
    return lines


def optimum(K, line, C):
    """The dual objective by the solver of the CPU."""
    if line.tube:
        problem = svr_problem(DenseQ(K), -line.p, C * line.upper, line.tube)
    else:
        problem = QuadraticProblem(K, line.p, lower=C * line.lower, upper=C * line.upper)
    return -solve_smo(problem, tol=1e-9).objective


def on_card(lane, line, C):
    one = [lane.to_device(a[:, None]) for a in (line.p, C * line.lower, C * line.upper)]
    return ColumnProblems(*one, lane.to_device(np.array([line.tube])))


@pytest.mark.parametrize("kernel", [RBF(gamma=0.1), Linear()], ids=repr)
@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-5])
def test_every_cell_is_within_the_gap_of_its_optimum(kernel, gap):
    X, y = classes()
    K, lines = kernel(X), folds(y)
    with emulated() as lane:
        found = list(solve_together(CardQ(lane, kernel, X, np.float64), lines, PENALTIES, gap))
    assert sorted((one.place, one.line) for one in found) == [
        (place, line) for place in range(len(PENALTIES)) for line in range(3)
    ]
    for one in found:
        C, line = PENALTIES[one.place], lines[one.line]
        best = optimum(K, line, C)
        shortfall, dual = classifier_gap(K, y, C * np.abs(line.lower + line.upper), one.b)
        assert one.gap <= gap
        assert (best - dual) / dual <= one.gap + 1e-9  # never below the true gap
        assert shortfall / dual <= one.gap * (1 + 1e-6) + 1e-9
        assert abs(one.b.sum()) <= 1e-9 * C
        assert (one.b >= C * line.lower).all() and (one.b <= C * line.upper).all()
        constant = one.values - K @ one.b
        assert np.ptp(constant) <= 1e-9 * max(1.0, np.abs(one.values).max())


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_regressions_are_within_the_gap_of_their_optimum(epsilon):
    X, _ = classes()
    target = 10.0 * np.sin(X[:, 0]) + X[:, 1]
    K, lines = RBF(gamma=0.1)(X), tubes(target, epsilon)
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X, np.float64)
        found = list(solve_together(Q, lines, PENALTIES[2:], 1e-4))
    for one in found:
        C, line = PENALTIES[2:][one.place], lines[one.line]
        shortfall, dual = regression_gap(K, target, C * line.upper, epsilon, one.b)
        assert one.gap <= 1e-4
        assert optimum(K, line, C) - dual <= (one.gap + 1e-9) * dual
        assert shortfall <= (one.gap * (1 + 1e-6) + 1e-9) * dual


def test_the_certificate_is_the_gap_by_its_definition():
    X, y = classes()
    K, rng = RBF(gamma=0.1)(X), np.random.default_rng(0)
    target = X[:, 0]
    with emulated() as lane:
        gram = lane.to_device(K)
        for line in (*folds(y), *tubes(target, 0.2)):
            z = lane.to_device(rng.normal(size=(len(y), 1)))
            point = certify(lane, gram, on_card(lane, line, 2.0), z)
            b = lane.to_host(point.b)[:, 0]
            if line.tube:
                expected, dual = regression_gap(K, target, 2.0 * line.upper, 0.2, b)
            else:
                C = 2.0 * np.abs(line.lower + line.upper)
                expected, dual = classifier_gap(K, y, C, b)
            found = float(point.gap[0])
            assert expected * (1 - 1e-12) <= found <= expected * (1 + 1e-6)
            assert float(point.dual[0]) == pytest.approx(dual, rel=1e-9)


def test_points_are_made_feasible_and_feasible_ones_stay():
    X, y = classes()
    rng = np.random.default_rng(0)
    with emulated() as lane:
        problem, z = on_card(lane, folds(y)[0], 1.0), 0.7 * rng.normal(size=(120, 1))
        b = lane.to_host(feasible(lane, problem, lane.to_device(z)))
        again = lane.to_host(feasible(lane, problem, lane.to_device(b)))
        nothing = on_card(lane, Line(-y, 0 * y, 0 * y), 1.0)
        zero = lane.to_host(feasible(lane, nothing, lane.to_device(rng.normal(size=(120, 1)))))
        point = certify(lane, lane.to_device(RBF(gamma=0.1)(X)), nothing, lane.to_device(zero))
    inside = (b > np.minimum(0, y)[:, None] + 1e-6) & (b < np.maximum(0, y)[:, None] - 1e-6)
    assert inside.sum() > 20 and np.ptp((b - z)[inside]) <= 1e-8  # the nearest of all
    assert abs(b.sum()) <= 1e-12 and np.abs(again - b).max() <= 1e-15
    assert not zero.any() and float(point.gap[0]) == 0.0


def test_a_constant_that_is_not_unique_is_in_the_middle():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    K = np.diag([1.0, 2.0, 3.0, 4.0])  # C so small that all are at their bounds
    with emulated() as lane:
        problem = on_card(lane, Line(-y, np.minimum(0, y), np.maximum(0, y)), 0.01)
        point = certify(lane, lane.to_device(K), problem, lane.to_device(0.01 * y[:, None]))
        found = lane.to_host(point.values)[:, 0] - K @ (0.01 * y)
    g = K @ (0.01 * y) - y
    assert found == pytest.approx(np.full(4, -0.5 * (g[2:].max() + g[:2].min())), abs=1e-9)
    assert float(point.relative()[0]) <= 1e-12


def test_columns_that_fall_short_are_finished_by_decomposition():
    X, y = classes()
    K, line = RBF(gamma=0.1)(X), folds(y)[0]
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X, np.float64)
        few = solve_columns(lane, Q.gram.whole, on_card(lane, line, 300.0), 1e-9, 1e-6, None, 25)
        found = list(solve_together(Q, [line], [300.0], 1e-7))
    assert few.gap[0] > 1e-6  # far too small a rho, and few steps
    assert found[0].finished and found[0].gap <= 1e-7
    _, dual = classifier_gap(K, y, 300.0 * np.abs(line.lower + line.upper), found[0].b)
    assert dual == pytest.approx(optimum(K, line, 300.0), rel=1e-8)


@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_an_interruption_while_a_column_is_finished_is_one_of_the_whole(epsilon):
    X, y = classes()
    line = folds(y)[0] if epsilon is None else tubes(X[:, 0], epsilon)[0]

    def interrupted(*_):
        raise KeyboardInterrupt

    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X, np.float64)
        Q.gram.block = interrupted  # only decomposition comes here
        with pytest.raises(KeyboardInterrupt):
            list(solve_together(Q, [line], [300.0], 1e-14))


def test_a_neighbour_is_a_better_start_than_nothing():
    X, y = classes()
    with emulated() as lane:
        Q, line = CardQ(lane, RBF(gamma=0.1), X, np.float64), folds(y)[0]
        K = Q.gram.whole
        near = solve_columns(lane, K, on_card(lane, line, 9.0), 2.0, 1e-5)
        problem = on_card(lane, line, 10.0)
        cold = solve_columns(lane, K, problem, 2.0, 1e-3)
        warm = solve_columns(lane, K, problem, 2.0, 1e-3, lane.to_device(near.b))
    assert warm.gap[0] <= 1e-3 and warm.steps[0] < cold.steps[0]


def test_same_problem_same_answer_and_the_order_of_lines_does_not_matter():
    X, y = classes()
    lines = folds(y)
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.1), X, np.float64)
        one, two = ([s.b for s in solve_together(Q, lines, PENALTIES, 1e-3)] for _ in range(2))
        turned = list(solve_together(Q, lines[::-1], [1.0], 1e-6))
        straight = list(solve_together(Q, lines, [1.0], 1e-6))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    for a, b in zip(straight, turned[::-1], strict=True):
        assert np.abs(a.values - b.values).max() <= 1e-3


def test_more_than_the_card_holds_is_refused_with_the_number_that_fits():
    _, y = classes()
    with emulated(2e5) as lane, pytest.raises(NotEnoughMemoryError, match="samples would fit"):
        solve_columns(lane, None, on_card(lane, folds(y)[0], 1.0), 1.0, 1e-3)
