"""HoldOutSVM on discrete data, where decision values are exactly equal; splits; blocks."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import tamiz.embedded.holdout.judges as judges
from tamiz import HoldOutSVM
from tamiz.embedded.holdout.judges import random_split
from tamiz.kernels import RBF, Linear, Polynomial, QuadraticForm, Sigmoid
from tamiz.svm.path.penalties import fit_once
from tamiz.validation import check_units
from tests.calls import watched
from tests.embedded.test_holdout import compare
from tests.naive import holdout as naive

SILENT = {
    "linear": Linear(),
    "radial": RBF(gamma=0.3),
    "polynomial": Polynomial(degree=2, gamma=0.5, coef0=1.0),
    "sigmoid": Sigmoid(gamma=0.1),
    "composite": 0.5 * RBF(gamma=0.3) + Linear(),
    "quadratic": QuadraticForm(np.eye(7) + 0.1),
    "function": lambda A, B: (A @ B.T + 1.0) ** 2,
}


def discrete(seed, n_classes, constant=0.0):
    """Few values, so that samples are repeated and values are equal; the last two say nothing."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.integers(0, 2, (40, 5)), np.zeros(40), np.full(40, constant)].astype(float)
    return X, rng.integers(0, n_classes, 40)


@pytest.mark.filterwarnings("ignore::tamiz.kernels.IndefiniteKernelWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("name", SILENT)
def test_a_feature_that_says_nothing_changes_no_error(name, scheme):
    """Neither by itself nor in a group, however the value with all features is rounded."""
    constant = 3.7 if name == "radial" else 0.0
    seen = 0
    many = 8 if name in ("linear", "radial") else 4
    for seed in range(11, 11 + many):
        X, y = discrete(seed, 2 + seed % 3, constant)
        for groups in (None, [[5, 6]]):
            selector = HoldOutSVM(
                kernel=SILENT[name], C=10.0, multiclass=scheme, feature_groups=groups
            )
            for step in selector.set_params(random_state=0).fit(X, y).selection_.path[1:]:
                details = step.details
                for j, error in zip(details["features"], details["without"], strict=True):
                    if j >= 5:
                        assert error == details["error"]
                        seen += 1
    assert seen > 25


def test_equal_votes_are_not_decided_by_rounding():
    """Found by a reviewer: with the column of zeros there were 4 errors, without it 5."""
    X, y = discrete(13, 3)
    selector = HoldOutSVM(kernel="linear", C=10.0, random_state=0).fit(X[:, :6], y)
    details = [step.details for step in selector.selection_.path[1:]]
    silent = [
        (d["error"], d["without"][d["features"].tolist().index(5)])
        for d in details
        if 5 in d["features"]
    ]
    assert len(silent) > 2 and all(a == b for a, b in silent)


@pytest.mark.parametrize(("scheme", "values"), [("ovo", [-0.3, 0.3, -0.3]), ("ovr", [0.3] * 3)])
def test_equal_sums_go_to_the_earlier_class(scheme, values, monkeypatch):
    """One vote for each class and the same sums, or the same value, but for the last bit."""
    judge = judges.KernelJudge(
        np.eye(6), check_units(None, None, 6, None), np.arange(6) % 3, 3, scheme, Linear(),
        np.ones(6), 1e-3,
    )  # fmt: skip
    nobody = np.array([], dtype=np.intp)
    for late in range(3):
        rounded = [v * (1 + 4e-16) if k == late else v for k, v in enumerate(values)]
        machines = [judges.KeptMachine(nobody, np.array([]), v, 1e-11) for v in rounded]
        assert judge._winners(machines, np.arange(2), nobody, False).tolist() == [[0], [0]]
        machines = [m._replace(zero=0.0) for m in machines]
        if late == (1 if scheme == "ovo" else 2):
            assert judge._winners(machines, np.arange(2), nobody, False).tolist() == [[2], [2]]


@pytest.mark.parametrize(("n_classes", "scheme"), [(2, "ovo"), (3, "ovo"), (3, "ovr"), (4, "ovo")])
def test_equal_values_beside_the_oracle(n_classes, scheme):
    """With the same machines (their matrix holds integers), every error is the oracle's."""

    def same_machine(kernel, samples, signs, C):
        K = np.array([[kernel(x, z) for z in samples] for x in samples])
        coef, intercept, _ = fit_once(K, np.array(signs, dtype=float), np.array(C), 1e-3)
        return coef.tolist(), intercept

    for seed in (0, 1):
        X, y = discrete(seed, n_classes)
        selector = HoldOutSVM(kernel="linear", multiclass=scheme)
        compare(selector, naive.linear, X, y, tol=1e-3, scheme=scheme, train=same_machine)


# ------------------------------------------------------------------ splits


def test_every_step_draws_new_splits_in_proportion():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [10, 20, 43]))
    with watched(judges.KernelJudge, "errors") as calls:
        HoldOutSVM(splits_per_step=3, random_state=0).fit(rng.normal(size=(73, 5)), y)
    steps = [call.args[1] for call in calls]
    assert [len(splits) for splits in steps] == [3] * 5
    drawn = [split for splits in steps for split in splits]
    for split in drawn:
        assert np.bincount(y[split.validation]).tolist() == [3, 6, 13]
        assert np.bincount(y[split.train]).tolist() == [7, 14, 30]
        assert sorted([*split.train, *split.validation]) == list(range(73))
    assert len({tuple(sorted(split.validation)) for split in drawn}) == 15  # no two are the same


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("groups", [None, [[0, 1], [2, 5, 7]]])
def test_blocks_of_samples_hold_less_and_count_the_same(groups, scheme, limits):
    rng = np.random.default_rng(0)
    n_classes, n, p = 9, 90, 200
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, :n_classes] += 2.0 * np.eye(n_classes)[y]
    units = check_units(groups, None, p, None)
    split = random_split(
        [np.flatnonzero(y == k) for k in range(n_classes)], np.full(n_classes, 3), rng
    )

    def counted():
        judge = judges.KernelJudge(
            X, units, y, n_classes, scheme, RBF(gamma=0.01), np.full(n, 10.0), 1e-3
        )
        gc.collect()
        tracemalloc.start()
        try:
            found = judge.errors(
                [split],
                np.arange(len(units.members)),
                [0],
                lambda f, jobs: [f(*job) for job in jobs],
            )
            return found, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def least():  # of three: the first also compiles or loads, and other threads may allocate
        results = [counted() for _ in range(3)]
        return results[0][0], min(peak for _, peak in results)

    whole, peak = least()
    assert peak < 27 * 208 * 8 * 32  # 36 machines for one versus one: their values are not held
    limits(judges, BLOCK=2**13)
    blocks, less = least()
    assert less < 0.7 * peak
    assert whole.present.tolist() == blocks.present.tolist()
    assert whole.without.tolist() == blocks.without.tolist()
    assert 0 < whole.present.sum() < 27 and len(np.unique(whole.without.sum(axis=1))) > 2
