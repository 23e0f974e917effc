"""Offsets and scales: the same small problem far from the origin, and in tiny or huge units.

Every attempt moves a problem of four to six points by an offset of 1 to 1e15 times its spacing and
multiplies it by a factor of 1e-150 to 1e150. Its exact optimum is worked out in rational numbers
from the very floats that the machine is given. What a machine may do is: be right (its objective is
the optimum, its decision values are those of its weights, its certificate is true), refuse with a
true sentence, or warn. A wrong answer without a word is a failure; so is a warning of NumPy's.

Machines whose optimum does not depend on where the origin is and that minimise something else than
the reference knows must say the same of the moved problem as of the one that was not moved. Those
that approach an optimum in steps must be as accurate as near the origin.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamiz.embedded import (
    AROM,
    FSV,
    KPSVM,
    L0L2SVM,
    L1L2SVM,
    L1SVM,
    SVMRFE,
    AdaptiveScaling,
    HoldOutSVM,
    RadiusMarginScaling,
    RobustLP,
)
from tamiz.kernels import Linear
from tamiz.search import ForwardSelection
from tamiz.svm import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    HardMarginSVC,
    LinearMachine,
    LinearMachineRegressor,
    NotSeparableError,
    OneClassSVM,
    PegasosClassifier,
    PerceptronClassifier,
    SubgradientClassifier,
)
from tamiz.validation import far_point
from tools.attack.runner import Campaign

OFFSETS = [0.0, *(10.0**k for k in range(16))]
SCALES = [1.0, *(10.0**k for k in (*range(-150, 0, 15), *range(15, 151, 15)))]


#: Kernel values that a fitted machine stands for, exactly, and what is asked of a machine.
Gram: TypeAlias = Callable[[Any, list[list[Fraction]]], list[list[Fraction]]]


class Samples(NamedTuple):
    """A problem: points on a grid of integers, and labels of two classes."""

    points: list[list[int]]
    signs: list[int]


Check: TypeAlias = Callable[[Any, np.ndarray, Samples], None]

PROBLEMS = (
    Samples([[0], [1], [3], [4]], [-1, -1, 1, 1]),
    Samples([[0, 0], [1, 3], [2, 0], [4, 1], [5, 4], [6, 2]], [-1, -1, -1, 1, 1, 1]),
    Samples([[0], [1], [2], [3], [4]], [-1, 1, -1, 1, 1]),
)


# ------------------------------------------------------------------- the reference, exact


def exact(X: np.ndarray) -> list[list[Fraction]]:
    """The floats as the rational numbers that they are."""
    return [[Fraction(float(v)) for v in row] for row in X]


def solve_exactly(A: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """The solution of a square system; None if it is singular."""
    n = len(A)
    rows = [[*row, value] for row, value in zip(A, right, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def optimum(
    Q: list[list[Fraction]],
    p: list[Fraction],
    y: list[int],
    d: Fraction,
    upper: Fraction | None,
) -> tuple[list[Fraction], Fraction] | None:
    """``min ½a'Qa + p'a`` with ``y'a = d``, ``0 ≤ a ≤ upper``, by trying every active set.

    Returns the solution and the multiplier ``m`` of the equality, with ``Qa + p = m y`` where
    ``a`` is free; None if the problem is unbounded.
    """
    n = len(p)
    states = (0, 1) if upper is None else (0, 1, 2)
    for state in product(states, repeat=n):
        free = [i for i in range(n) if state[i] == 1]
        fixed = [Fraction(0) if s < 2 else upper for s in state]
        left = [Fraction(0) if i in free else fixed[i] for i in range(n)]
        k = len(free)
        A = [[Q[i][j] for j in free] + [Fraction(-y[i])] for i in free]
        A.append([Fraction(y[j]) for j in free] + [Fraction(0)])
        right = [-p[i] - sum(Q[i][j] * left[j] for j in range(n) if left[j]) for i in free]
        right.append(d - sum(y[j] * left[j] for j in range(n)))
        if k:
            found = solve_exactly(A, right)
            if found is None:
                continue
            a = list(left)
            for i, value in zip(free, found, strict=False):
                a[i] = value
            m = found[-1]
            if any(a[i] < 0 or (upper is not None and a[i] > upper) for i in free):
                continue
            g = [sum(Q[i][j] * a[j] for j in range(n)) + p[i] - m * y[i] for i in range(n)]
            if all((state[i] != 0 or g[i] >= 0) and (state[i] != 2 or g[i] <= 0) for i in range(n)):
                return a, m
        elif right[0] == 0:
            g = [sum(Q[i][j] * left[j] for j in range(n)) + p[i] for i in range(n)]
            low = [g[i] * y[i] for i in range(n) if (state[i] == 0) == (y[i] < 0)]
            high = [g[i] * y[i] for i in range(n) if (state[i] == 0) == (y[i] > 0)]
            least, most = max(low, default=None), min(high, default=None)
            if least is None or most is None or least <= most:
                return left, most if least is None else least
    return None


def inner(X: list[list[Fraction]]) -> list[list[Fraction]]:
    """Inner products of all rows."""
    return [[sum((a * b for a, b in zip(r, s, strict=True)), Fraction(0)) for s in X] for r in X]


def moved(X: list[list[Fraction]]) -> list[list[Fraction]]:
    """The rows less the first one: no machine with a free intercept can tell the difference."""
    return [[a - b for a, b in zip(row, X[0], strict=True)] for row in X]


def svc_optimum(K: list[list[Fraction]], signs: list[int], C: Fraction | None) -> Fraction | None:
    """The optimal value of the soft (or, without C, hard) margin; None if there is none."""
    Q = [[K[i][j] * signs[i] * signs[j] for j in range(len(K))] for i in range(len(K))]
    found = optimum(Q, [Fraction(-1)] * len(K), signs, Fraction(0), C)
    if found is None:
        return None
    a = found[0]
    half = sum(a[i] * Q[i][j] * a[j] for i in range(len(a)) for j in range(len(a))) / 2
    return sum(a) - half


def hinge_optimum(X: list[list[Fraction]], signs: list[int], C: Fraction) -> Fraction:
    """The least ``C Σ hinge + Σ |w|``: at a vertex, where as many terms as unknowns have a kink."""
    p = len(X[0])
    planes = [([*row, Fraction(1)], Fraction(s)) for row, s in zip(X, signs, strict=True)]
    unit = [[Fraction(int(i == j)) for j in range(p)] + [Fraction(0)] for i in range(p)]
    planes += [(row, Fraction(0)) for row in unit]
    values = []
    for chosen in combinations(planes, p + 1):
        found = solve_exactly([row for row, _ in chosen], [value for _, value in chosen])
        if found is not None:
            *w, b = found
            loss = sum(
                max(Fraction(0), 1 - s * (sum(v * x for v, x in zip(w, row, strict=True)) + b))
                for row, s in zip(X, signs, strict=True)
            )
            values.append(C * loss + sum(abs(v) for v in w))
    return min(values)


# ----------------------------------------------------------------------- what is asked


def require(condition: Any, what: str) -> None:
    """Fail with a word about what is wrong."""
    if not condition:
        raise AssertionError(what)


def decisions_of_weights(machine: Any, X: np.ndarray) -> np.ndarray:
    """The decision values, which must be those of the weights up to rounding of the data."""
    values = np.ravel(machine.decision_function(X)).astype(float)
    require(np.isfinite(values).all(), "decision values are not finite")
    rows = moved(exact(X))
    w = [Fraction(float(v)) for v in np.ravel(machine.coef_)]
    true = [float(sum((a * b for a, b in zip(w, r, strict=True)), Fraction(0))) for r in rows]
    found = values - values[0]
    size = 1.0 + float(np.max(np.abs(true)))
    require(np.abs(found - true).max() <= 1e-3 * size, f"decisions {found} of weights {true}")
    return values


def losses(values: np.ndarray, signs: list[int]) -> np.ndarray:
    return np.maximum(0.0, 1.0 - np.asarray(signs) * values)


def check_soft(machine: Any, X: np.ndarray, problem: Samples) -> None:
    """A linear soft margin with C = 1."""
    C = Fraction(1)
    best = svc_optimum(inner(moved(exact(X))), problem.signs, C)
    values = decisions_of_weights(machine, X)
    norm = float(sum(Fraction(float(v)) ** 2 for v in np.ravel(machine.coef_)))
    reached = 0.5 * norm + float(losses(values, problem.signs).sum())
    slip = reached - float(best)
    require(abs(slip) <= 0.02 * max(0.1, float(best)), f"objective {reached}, optimum {best}")
    require(slip <= machine.duality_gap_ + 1e-6 * (1.0 + reached), "the gap is no bound")


def check_hard(machine: Any, X: np.ndarray, problem: Samples) -> None:
    decisions_of_weights(machine, X)
    widest(moved_inner)(machine, X, problem)


def moved_inner(machine: Any, rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Inner products measured from the first row."""
    return inner(moved(rows))


def twice_inner(machine: Any, rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The kernel ``2 * Linear()``."""
    return [[2 * v for v in row] for row in inner(rows)]


def plain_inner(machine: Any, rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The kernel of :func:`products`."""
    return inner(rows)


def polynomial(machine: Any, rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The polynomial kernel with the numbers that the machine has found."""
    kernel = machine.kernel_
    gamma, coef0 = Fraction(float(kernel.gamma)), Fraction(float(kernel.coef0))
    return [[(gamma * v + coef0) ** int(kernel.degree) for v in row] for row in inner(rows)]


def products(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """A kernel given as a function."""
    return np.asarray(X @ Z.T)


def of_last(machine: Any, X: np.ndarray) -> tuple[Any, np.ndarray]:
    """The machine itself, or the last one of a selector, and the features that it has."""
    last = getattr(machine, "estimator_", None)
    return (machine, X) if last is None else (last, X[:, machine.support_])


def half_norm(coef: list[Fraction], K: list[list[Fraction]]) -> float:
    n = len(coef)
    return float(sum(coef[i] * K[i][j] * coef[j] for i in range(n) for j in range(n)) / 2)


def finite_decisions(machine: Any, X: np.ndarray) -> np.ndarray:
    values = np.ravel(machine.decision_function(X)).astype(float)
    require(np.isfinite(values).all(), "decision values are not finite")
    return values


def signed(machine: Any, problem: Samples) -> list[Fraction]:
    """``y_i alpha_i`` of a classifier."""
    return [Fraction(float(a)) * s for a, s in zip(machine.alpha_, problem.signs, strict=True)]


def soft(gram: Gram) -> Check:
    """A soft margin with C = 1 and the kernel values of ``gram``."""

    def check(machine: Any, X: np.ndarray, problem: Samples) -> None:
        last, X = of_last(machine, X)
        K = gram(last, exact(X))
        best = float(svc_optimum(K, problem.signs, Fraction(1)))
        slack = float(losses(finite_decisions(last, X), problem.signs).sum())
        reached = half_norm(signed(last, problem), K) + slack
        slip = reached - best
        require(abs(slip) <= 0.02 * max(1.0, best), f"objective {reached}, optimum {best}")
        require(slip <= last.duality_gap_ + 1e-6 * (1.0 + reached), "the gap is no bound")

    return check


def widest(gram: Gram) -> Check:
    """A hard margin."""

    def check(machine: Any, X: np.ndarray, problem: Samples) -> None:
        best = svc_optimum(gram(machine, exact(X)), problem.signs, None)
        require(best is not None, "the classes cannot be separated")
        values = finite_decisions(machine, X)
        require((np.asarray(problem.signs) * values > 0.99).all(), f"decision values {values}")
        ratio = float(Fraction(float(machine.margin_)) ** 2 * 2 * best)
        require(abs(ratio - 1.0) < 0.02, f"the squared margin is {ratio} of the true one")

    return check


def within_budget(gram: Gram) -> Check:
    """A total slack of 0.5: that of the machine with the penalty found, which is its optimum."""

    def check(machine: Any, X: np.ndarray, problem: Samples) -> None:
        K, C = gram(machine, exact(X)), Fraction(float(machine.C_))
        slack = float(losses(finite_decisions(machine, X), problem.signs).sum())
        require(slack <= 0.505, f"a total slack of {slack}")
        best = float(svc_optimum(K, problem.signs, C))
        reached = half_norm(signed(machine, problem), K) + float(C) * slack
        require(abs(reached - best) <= 0.02 * best, f"objective {reached}, optimum {best}")

    return check


def tube(gram: Gram) -> Check:
    """A regression with C = 1, epsilon = 0.25; the target is the sum of the points."""

    def check(machine: Any, X: np.ndarray, problem: Samples) -> None:
        K = gram(machine, exact(X))
        target = [Fraction(sum(point)) for point in problem.points]
        best = float(_regression_optimum(K, target, Fraction(1), Fraction(1, 4)))
        coef = [Fraction(0)] * len(target)
        for i, value in zip(machine.support_, np.ravel(machine.dual_coef_), strict=True):
            coef[i] = Fraction(float(value))
        residual = np.abs(np.array([float(t) for t in target]) - machine.predict(X))
        reached = half_norm(coef, K) + float(np.maximum(0.0, residual - 0.25).sum())
        slip = reached - best
        require(abs(slip) <= 0.02 * max(0.1, best), f"objective {reached}, optimum {best}")
        require(slip <= machine.duality_gap_ + 1e-6 * (1.0 + reached), "the gap is no bound")

    return check


def _regression_optimum(K, target, C, epsilon):  # type: ignore[no-untyped-def]
    """By trying every state of each sample: no sample is above and below the tube."""
    n = len(K)
    for state in product((0, 1, 2, 3, 4), repeat=n):  # 0, free up, at C up, free down, at C down
        free = [i for i in range(n) if state[i] in (1, 3)]
        left = [{2: C, 4: -C}.get(s, Fraction(0)) for s in state]
        side = [1 if s in (1, 2) else -1 for s in state]
        A = [[K[i][j] for j in free] + [Fraction(1)] for i in free]
        A.append([Fraction(1)] * len(free) + [Fraction(0)])
        right = [
            target[i] - side[i] * epsilon - sum(K[i][j] * left[j] for j in range(n) if left[j])
            for i in free
        ]
        right.append(-sum(left))
        if not free:
            continue
        found = solve_exactly(A, right)
        if found is None:
            continue
        coef = list(left)
        for i, value in zip(free, found, strict=False):
            coef[i] = value
        if any(coef[i] * side[i] < 0 or abs(coef[i]) > C for i in free):
            continue
        f = [sum(K[i][j] * coef[j] for j in range(n)) + found[-1] for i in range(n)]
        r = [t - v for t, v in zip(target, f, strict=True)]
        fine = all(
            abs(r[i]) <= epsilon
            if state[i] == 0
            else (r[i] >= epsilon if state[i] == 2 else state[i] != 4 or r[i] <= -epsilon)
            for i in range(n)
        )
        if fine:
            half = sum(coef[i] * K[i][j] * coef[j] for i in range(n) for j in range(n)) / 2
            return half + C * sum(max(Fraction(0), abs(v) - epsilon) for v in r)
    # no free variable: the weights are zero beside the tube
    centre = sorted(target)
    return min(
        C * sum(max(Fraction(0), abs(t - b) - epsilon) for t in target)
        for b in [t + s * epsilon for t in centre for s in (-1, 1)]
    )


def ball(gram: Gram) -> Check:
    """The smallest ball around all samples."""
    return lambda machine, X, problem: _check_ball(gram(machine, exact(X)), machine, X)


def _check_ball(K: list[list[Fraction]], machine: Any, X: np.ndarray) -> None:
    n = len(K)
    found = optimum(K, [-K[i][i] / 2 for i in range(n)], [1] * n, Fraction(1), None)
    require(found is not None, "the reference found no ball")
    a = found[0]
    radius = sum(a[i] * K[i][i] for i in range(n)) - sum(
        a[i] * K[i][j] * a[j] for i in range(n) for j in range(n)
    )
    ratio = float(Fraction(float(machine.squared_radius_)) / radius)
    require(abs(ratio - 1.0) < 0.01, f"squared radius is {ratio} of the true one")
    values = machine.decision_function(X)
    require((values >= 0).all(), f"samples outside of the ball: {values}")


def one_class(gram: Gram) -> Check:
    """The plane farthest from the origin, half of the samples beyond it at most."""
    return lambda machine, X, problem: _check_one_class(gram(machine, exact(X)), machine, X)


def _check_one_class(K: list[list[Fraction]], machine: Any, X: np.ndarray) -> None:
    n = len(K)
    found = optimum(K, [Fraction(0)] * n, [1] * n, Fraction(n, 2), Fraction(1))
    require(found is not None, "the reference found no plane")
    a = found[0]
    true = [sum(K[i][j] * a[j] for j in range(n)) for i in range(n)]
    size = max(abs(v - true[0]) for v in true)
    values = machine.decision_function(X)
    require(np.isfinite(values).all(), "decision values are not finite")
    require((values < 0).sum() <= n / 2, f"more outliers than admitted: {values}")
    if size:  # the level is not unique where no variable is free
        found = [Fraction(float(v)) - Fraction(float(values[0])) for v in values]
        slip = max(abs(v - t + true[0]) / size for v, t in zip(found, true, strict=True))
        require(slip < Fraction(1, 20), f"decision values are off by {float(slip):.2g}")


def check_sparse(machine: Any, X: np.ndarray, problem: Samples) -> None:
    """``C Σ hinge + Σ |w|`` with C = 1."""
    best = float(hinge_optimum(moved(exact(X)), problem.signs, Fraction(1)))
    values = decisions_of_weights(machine, X)
    reached = float(losses(values, problem.signs).sum() + np.abs(machine.coef_).sum())
    require(abs(reached - best) <= 1e-3 * max(1.0, best), f"objective {reached}, optimum {best}")


def check_squared_hinge(machine: Any, X: np.ndarray, problem: Samples) -> None:
    values = decisions_of_weights(machine, X)
    K = inner(moved(exact(X)))
    n = len(K)
    ridge = Fraction(1, 2)  # of C = 1
    Q = [[(K[i][j] + (ridge if i == j else 0)) * problem.signs[i] * problem.signs[j]
          for j in range(n)] for i in range(n)]  # fmt: skip
    found = optimum(Q, [Fraction(-1)] * n, problem.signs, Fraction(0), None)
    require(found is not None, "the reference found no machine")
    best = float(sum(found[0])) / 2.0
    norm = float(sum(Fraction(float(v)) ** 2 for v in np.ravel(machine.coef_)))
    reached = 0.5 * norm + float((losses(values, problem.signs) ** 2).sum())
    require(abs(reached - best) <= 1e-3 * max(1.0, best), f"objective {reached}, optimum {best}")


def as_accurate(make: Callable[[], Any]) -> Check:
    """At most one decision more is wrong than of the same machine near the origin."""

    def check(machine: Any, X: np.ndarray, problem: Samples) -> None:
        finite_decisions(machine, X)
        near, y = X - X[0], np.array(problem.signs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = make().fit(near, y).score(near, y)
        reached = machine.score(X, y)
        require((best - reached) * len(y) < 1.5, f"accuracy {reached}, near the origin {best}")

    return check


class Machine(NamedTuple):
    """A machine, what is asked of it, and whether it must not care where the origin is."""

    make: Callable[[], Any]
    check: Check | None
    problems: tuple[int, ...]
    same_when_moved: bool = False


POLY: dict[str, Any] = {"kernel": "poly", "degree": 2, "coef0": 1.0}


def seeded_pegasos() -> PegasosClassifier:
    return PegasosClassifier(random_state=0)


MACHINES: dict[str, Machine] = {
    "SVC": Machine(lambda: SVC(kernel="linear"), check_soft, (0, 1, 2)),
    "SVC decomposition": Machine(
        lambda: SVC(kernel="linear", solver="decomposition"), check_soft, (0, 1, 2)
    ),
    "SVC poly": Machine(lambda: SVC(**POLY), soft(polynomial), (0, 2)),
    "HardMarginSVC": Machine(lambda: HardMarginSVC(), check_hard, (0, 1)),
    "HardMarginSVC poly": Machine(lambda: HardMarginSVC(**POLY), widest(polynomial), (0, 1)),
    "BudgetSVC": Machine(
        lambda: BudgetSVC(0.5, kernel="linear"), within_budget(moved_inner), (0, 1)
    ),
    "BudgetSVC poly": Machine(lambda: BudgetSVC(0.5, **POLY), within_budget(polynomial), (0, 1)),
    "SVR": Machine(lambda: SVR(kernel="linear", epsilon=0.25), tube(moved_inner), (0,)),
    "SVR poly": Machine(lambda: SVR(epsilon=0.25, **POLY), tube(polynomial), (0,)),
    "SVDD": Machine(lambda: SVDD(nu=0, kernel="linear"), ball(moved_inner), (0, 1)),
    "SVDD poly": Machine(lambda: SVDD(nu=0, **POLY), ball(polynomial), (0, 1)),
    "OneClassSVM": Machine(lambda: OneClassSVM(kernel="linear"), one_class(plain_inner), (0, 1)),
    "OneClassSVM poly": Machine(lambda: OneClassSVM(**POLY), one_class(polynomial), (0, 1)),
    "LinearMachine": Machine(lambda: LinearMachine(), check_squared_hinge, (0, 1, 2)),
    "L1SVM": Machine(lambda: L1SVM(), check_sparse, (0, 1, 2)),
    "FSV": Machine(lambda: FSV(), None, (0, 1, 2), True),
    "AROM": Machine(lambda: AROM(), None, (0, 1, 2), True),
    "L0L2SVM": Machine(lambda: L0L2SVM(), None, (0, 1, 2), True),
    "L1L2SVM": Machine(lambda: L1L2SVM(), None, (0, 1, 2), True),
    "RobustLP": Machine(lambda: RobustLP(), None, (0, 1, 2), True),
    "SVMRFE": Machine(lambda: SVMRFE(1), None, (1,), True),
    "SVMRFE poly": Machine(lambda: SVMRFE(1, **POLY), soft(polynomial), (1,)),
    "SVMRFE twice linear": Machine(lambda: SVMRFE(1, kernel=2 * Linear()), soft(twice_inner), (1,)),
    "SVMRFE function": Machine(lambda: SVMRFE(1, kernel=products), soft(plain_inner), (1,)),
    "HoldOutSVM": Machine(lambda: HoldOutSVM(1, kernel="linear", random_state=0), None, (1,), True),
    "ForwardSelection": Machine(
        lambda: ForwardSelection(SVC(kernel="linear"), n_features_to_select=1, cv=3),
        None,
        (1,),
        True,
    ),
    "AdaptiveScaling": Machine(lambda: AdaptiveScaling(1, kernel="linear"), None, (1,), True),
    "RadiusMarginScaling": Machine(
        lambda: RadiusMarginScaling(1, kernel="linear"), None, (1,), True
    ),
    "KPSVM": Machine(lambda: KPSVM(1), None, (1,), True),
    "LinearMachineRegressor": Machine(lambda: LinearMachineRegressor(), None, (0,), True),
    "PegasosClassifier": Machine(seeded_pegasos, as_accurate(seeded_pegasos), (0, 1, 2)),
    "PerceptronClassifier": Machine(
        PerceptronClassifier, as_accurate(PerceptronClassifier), (0, 1, 2)
    ),
    "SubgradientClassifier": Machine(
        SubgradientClassifier, as_accurate(SubgradientClassifier), (0, 1, 2)
    ),
}


def check_moved(make: Callable[[], Any], machine: Any, X: np.ndarray, y: Any) -> None:
    """The machine says of the samples what it says of them when they lie at the origin."""
    origin: Any = X[0]
    if isinstance(machine, HoldOutSVM):
        # A machine without one of its features, not fitted again, has the value of that feature at
        # the origin in its place: the answer is that of the samples as they are measured.
        origin = far_point(X)
        if origin is None:
            return
    near = X - origin  # exact: the points are a few spacings apart
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", ConvergenceWarning)
            other = make().fit(near, y)
    except (ValueError, ConvergenceWarning):
        return  # nothing to compare with: at the origin it is refused, or says that it did not end
    values, expected = answers(machine, X), answers(other, near)
    require(np.isfinite(values).all(), "decision values are not finite")
    if max(np.ptp(values), np.ptp(expected)) < 1e-6:
        return  # the features are so small that C admits no weights: any constant is as good
    reached, best = (float(np.maximum(0.0, 1.0 - y * v).sum()) for v in (values, expected))
    if (
        abs(reached - best) < 1e-6
        and max(np.abs(machine_weights(m)).max(initial=0.0) for m in (machine, other)) < 1e-6
    ):
        return  # ... or so large that weights cost nothing: all that separate are as good
    if hasattr(machine, "selection_"):
        require(np.array_equal(machine.support_, other.support_), "other features are selected")
    slip = np.abs(values - expected).max() / (1.0 + np.abs(expected).max())
    allowed = 0.01
    if isinstance(machine, KPSVM):  # features times their rates are rounded where they are
        allowed += 8.0 * np.finfo(np.float64).eps * np.abs(X).max() / np.ptp(X)
    require(slip < allowed, f"decision values {values}, at the origin {expected}")


def machine_weights(machine: Any) -> np.ndarray:
    """The weights of a linear machine, or of the last machine of a selector; else none."""
    return np.ravel(getattr(getattr(machine, "estimator_", machine), "coef_", []))


def answers(machine: Any, X: np.ndarray) -> np.ndarray:
    """Decision values, or predicted numbers."""
    return np.ravel(getattr(machine, "decision_function", machine.predict)(X)).astype(float)


def cases() -> list[tuple[str, int, float, float]]:
    """Machine, problem, offset and scale of every attempt, in a fixed order of no pattern."""
    every = [
        (name, k, offset, scale)
        for name, machine in MACHINES.items()
        for k in machine.problems
        for offset in OFFSETS
        for scale in SCALES
    ]
    order = np.random.default_rng(20).permutation(len(every))
    return [every[i] for i in order]


def attempt(name: str, k: int, offset: float, scale: float) -> str:
    """Fit one machine to one problem; the outcome in a word, AssertionError if it is wrong."""
    machine, problem = MACHINES[name], PROBLEMS[k]
    X = scale * (offset + np.array(problem.points, dtype=np.float64))
    y: Any = np.array(problem.signs)
    if isinstance(machine.make(), (SVR, LinearMachineRegressor)):
        y = np.array([float(sum(point)) for point in problem.points])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            fitted = machine.make().fit(X, y)
            if hasattr(fitted, "decision_function"):
                fitted.decision_function(X)
        except NotSeparableError as error:
            require(name.startswith("HardMarginSVC"), str(error))
            require(svc_optimum(inner(moved(exact(X))), problem.signs, None) is None, str(error))
            return "refused"
        except ValueError as error:
            require(str(error).rstrip().endswith("."), f"no sentence: {error}")
            false = ("No machine has a total slack", "not positive semi-definite")
            require(not any(claim in str(error) for claim in false), str(error))
            return "refused"
    for one in said:
        numeric = issubclass(one.category, RuntimeWarning)
        require(not numeric, f"NumPy's own warning: {one.message} ({one.filename}:{one.lineno})")
    loud = any(issubclass(one.category, (ConvergenceWarning, UserWarning)) for one in said)
    try:
        with np.errstate(all="ignore"):
            if machine.check is not None:
                machine.check(fitted, X, problem)
            if machine.same_when_moved:
                check_moved(machine.make, fitted, X, y)
    except AssertionError:
        if loud:
            return "warned"
        raise
    return "right"


def outcomes(numbers: Iterable[int]) -> Iterator[tuple[str, str]]:
    """What was tried and what came of it, for attempts by number."""
    every = cases()
    for number in numbers:
        case = every[number % len(every)]
        description = "{} on problem {}, offset {:g}, scale {:g}".format(*case)
        try:
            yield description, attempt(*case)
        except Exception as error:
            yield description, f"failed: {type(error).__name__}: {' '.join(str(error).split())}"


class Scales(Campaign):
    """One attempt for each machine, problem, offset and scale."""

    count = len(cases())
    short = 30

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.every = cases()

    def about(self, seed: int) -> str:
        return "{} on problem {}, offset {:g}, scale {:g}".format(
            *self.every[seed % len(self.every)]
        )

    def attempt(self, seed: int) -> str:
        return attempt(*self.every[seed % len(self.every)])
