"""HoldOutSVM chooses C and the kernel's parameters: which grids, which errors, interrupted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from tamiz import HoldOutSVM
from tamiz.embedded.holdout.elimination import new_seed
from tamiz.embedded.holdout.tune import PAPER_C, MachineChoice, check_grid
from tamiz.kernels import RBF, Linear, Polynomial
from tests.naive import holdout as naive

pytestmark = pytest.mark.filterwarnings("ignore:Solver terminated early")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(48, 4))
SCORE = X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.5 * RNG.normal(size=48)
TWO = (SCORE > 0.9).astype(int)
THREE = np.searchsorted([-0.3, 0.9], SCORE)


@pytest.mark.parametrize(
    ("options", "factor", "costs"),
    [
        ({}, [1, 1, 1], [1, 1, 1]),
        ({"balanced": True}, [1, 1, 1], [1, 1, 1]),
        ({"costs": {0: 1.0, 1: 2.5, 2: 4.0}, "balanced": True}, [1, 1, 1], [1.0, 2.5, 4.0]),
        ({"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}}, [1.0, 3.0, 0.5], [1, 1, 1]),
        ({"class_weight": "balanced", "costs": {0: 0.0, 1: 1.0, 2: 1.0}}, None, [0, 1, 1]),
        ({"multiclass": "ovr"}, [1, 1, 1], [1, 1, 1]),
    ],
)
def test_every_candidate_has_the_error_of_the_oracle(options, factor, costs):
    y = THREE.tolist()
    counts = np.bincount(y)
    factor = (48 / (3 * counts)).tolist() if factor is None else factor
    share = 3 * counts if options.get("balanced") else np.ones(3)
    prices = (np.array(costs) / share).tolist()
    grid = {"C": [5.0, 0.3], "gamma": [0.05, 0.8]}
    selector = HoldOutSVM(tune=grid, tol=1e-9, random_state=0, **options).fit(X, y)
    n_folds = min(10, counts.min())
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=new_seed(0) % 2**32)
    folds = list(splitter.split(X, y))
    assert [(e["gamma"], e["C"]) for e in selector.tuning_] == [
        (0.05, 5.0), (0.05, 0.3), (0.8, 5.0), (0.8, 0.3)
    ]  # fmt: skip
    for entry in selector.tuning_:
        kernel = naive.radial(entry["gamma"])
        scheme = options.get("multiclass", "ovo")
        total = naive.cross_validated(kernel, X, y, folds, entry["C"], factor, prices, scheme)
        assert entry["error"] == pytest.approx(total, rel=1e-12)
    assert len({entry["error"] for entry in selector.tuning_}) > 1
    best = min(selector.tuning_, key=lambda entry: entry["error"])
    assert selector.C_ == best["C"] == selector.estimator_.C
    assert selector.kernel_ == RBF(gamma=best["gamma"]) == selector.estimator_.kernel_


def test_two_classes_and_other_kernels():
    selector = HoldOutSVM(kernel="linear", tune={"C": [1.0, 0.01]}, tol=1e-9, random_state=0)
    selector.fit(X, TWO)
    assert selector.kernel_ == Linear()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=new_seed(0) % 2**32).split(X, TWO))
    for entry in selector.tuning_:
        total = naive.cross_validated(
            naive.linear, X, TWO.tolist(), folds, entry["C"], [1, 1], [1, 1], "ovo"
        )
        assert entry["error"] == total


def test_of_equal_candidates_the_one_named_first():
    far = np.c_[np.repeat([-5.0, 5.0], 20), X[:40, 0]]
    y = np.repeat([0, 1], 20)
    for values in ([3.0, 1.0, 2.0], [2.0, 3.0, 1.0]):
        selector = HoldOutSVM(kernel="linear", tune={"C": values}, random_state=0).fit(far, y)
        assert [entry["error"] for entry in selector.tuning_] == [0.0] * 3
        assert [entry["C"] for entry in selector.tuning_] == values
        assert values[0] == selector.C_


# ------------------------------------------------------------------ grids


@pytest.mark.parametrize(
    ("kernel", "tune", "found"),
    [
        ("poly", {"degree": np.arange(2, 4)}, [2, 3]),
        ("poly", {"degree": [2.0, np.float32(3)]}, [2, 3]),
        ("poly", {"degree": (d for d in (2, 3))}, [2, 3]),
        ("rbf", {"gamma": np.array([0.25, 0.5], dtype=np.float32)}, [0.25, 0.5]),
        ("rbf", {"gamma": ("scale", np.float64(0.5))}, ["scale", 0.5]),
        ("sigmoid", {"coef0": np.linspace(-1, 0, 2)}, [-1.0, 0.0]),
        ("linear", {"C": range(1, 3)}, [1.0, 2.0]),
    ],
)
@pytest.mark.filterwarnings("ignore::tamiz.kernels.IndefiniteKernelWarning")
def test_any_list_of_numbers(kernel, tune, found):
    (name,) = tune
    selector = HoldOutSVM(kernel=kernel, tune=tune, random_state=0).fit(X, TWO)
    values = [entry[name] for entry in selector.tuning_]
    assert values == found and all(type(a) is type(b) for a, b in zip(values, found, strict=True))
    if name == "degree":
        assert selector.kernel_ in [
            Polynomial(degree=d, gamma=1 / (4 * X.var()), coef0=0.0) for d in (2, 3)
        ]


@pytest.mark.parametrize(
    ("kernel", "tune", "words"),
    [
        ("linear", {}, "tune={} is not understood"),
        ("linear", {"gamma": [1]}, "not a parameter to choose with kernel='linear'"),
        ("linear", {"C": 3}, "list of candidates"),
        ("linear", {"C": "13"}, "list of candidates"),
        ("linear", {"C": []}, "holds no candidates"),
        ("linear", {"C": [0.0]}, "must be a number above 0"),
        ("linear", {"C": ["a"]}, "must be a number above 0"),
        ("linear", {"C": [True]}, "must be a number above 0"),
        ("linear", {"C": [np.nan]}, "must be a number above 0"),
        ("poly", {"degree": [2.5]}, "must be an integer from 1"),
        ("poly", {"degree": [np.inf]}, "must be an integer from 1"),
    ],
)
def test_grids_refused(kernel, tune, words):
    with pytest.raises(ValueError, match=words):
        HoldOutSVM(kernel=kernel, tune=tune).fit(X, TWO)


def test_grids_of_the_paper_and_none():
    grid = check_grid(True, "rbf")
    assert len(grid["C"]) == len(PAPER_C) == 18 and max(grid["gamma"]) == pytest.approx(50.0)
    assert check_grid(np.True_, "poly")["degree"] == list(range(2, 10))
    assert set(check_grid(True, RBF(gamma=1.0))) == {"C"}
    for nothing in (None, False, np.False_):
        assert not hasattr(HoldOutSVM(tune=nothing, random_state=0).fit(X, TWO), "tuning_")


# ------------------------------------------------------------------ interrupted

GRID = {"C": [10.0, 0.1], "gamma": [0.05, 0.2, 0.8]}


@pytest.mark.parametrize("call", [1, 15, 28])
def test_interrupted_while_choosing(call, tmp_path, monkeypatch):
    """Kernels that are done stay in the table; the choice goes on where it was."""
    whole = HoldOutSVM(tune=GRID, random_state=0).fit(X, TWO)
    path = tmp_path / "state.npz"
    fold_errors, calls = MachineChoice._fold_errors, []

    def watched(*args):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return fold_errors(*args)

    with monkeypatch.context() as patch:
        patch.setattr(MachineChoice, "_fold_errors", watched)
        part = HoldOutSVM(tune=GRID, random_state=0, checkpoint=path)
        with pytest.warns(ConvergenceWarning, match="no feature was removed yet") as caught:
            part.fit(X, TWO)
    done = 2 * ((call - 1) // 10)  # ten folds, two values of C
    assert f"{done} candidates of tune were tried" in str(caught[0].message)
    assert part.tuning_ == whole.tuning_[:done]
    assert part.status_ == "interrupted" and part.support_.all()
    if done:
        best = min(part.tuning_, key=lambda entry: entry["error"])
        assert (part.C_, part.kernel_) == (best["C"], RBF(gamma=best["gamma"]))
    else:
        assert part.C_ == 1.0
    assert part.predict(X).shape == (48,)
    calls.clear()
    with monkeypatch.context() as patch:
        patch.setattr(
            MachineChoice, "_fold_errors", lambda *args: calls.append(1) or fold_errors(*args)
        )
        again = HoldOutSVM(tune=GRID, random_state=0, checkpoint=path, resume=True).fit(X, TWO)
    assert len(calls) == 10 * (3 - done // 2)
    assert again.status_ == "converged" and again.tuning_ == whole.tuning_
    assert again.order_.tolist() == whole.order_.tolist()
    assert (again.C_, again.kernel_) == (whole.C_, whole.kernel_)
