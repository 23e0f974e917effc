"""HoldOutSVM as a user runs it: interrupted, taken up, side by side, screened, refused."""

from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import tamiz.embedded.holdout.judges as judges
from tamiz import HoldOutSVM
from tamiz.embedded.holdout import selector
from tamiz.filters import WelchT
from tamiz.kernels import RBF, Linear, QuadraticForm
from tamiz.runtime.checkpoint import Checkpoint
from tests.calls import failing, interrupted
from tests.checks import assert_every_check_passes
from tests.frames import to_polars

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 12))
Y = (X[:, 2] + X[:, 5] ** 2 + 0.3 * RNG.normal(size=60) > 1.0).astype(int)


def same(a, b):
    assert a.order_.tolist() == b.order_.tolist()
    assert a.support_.tolist() == b.support_.tolist()
    assert len(a.selection_.path) == len(b.selection_.path)
    for one, other in zip(a.selection_.path, b.selection_.path, strict=True):
        assert one[:4] == other[:4]
        if one.details:
            assert one.details["without"].tolist() == other.details["without"].tolist()
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.parametrize("call", [1, 2, 7, 24])
@pytest.mark.parametrize("random_state", [3, "RandomState"])
def test_interrupted_and_resumed_equals_uninterrupted(call, random_state, tmp_path):
    def make(**options):
        state = np.random.RandomState(3) if random_state == "RandomState" else random_state
        return HoldOutSVM(splits_per_step=2, random_state=state, **options)

    whole = make().fit(X, Y)
    file = tmp_path / "state.npz"
    part = make(checkpoint=file)
    told = pytest.warns(ConvergenceWarning, match="interrupted")
    with interrupted(judges, "fit_once", at=call), told as caught:
        part.fit(X, Y)
    assert caught[0].filename == __file__
    assert part.status_ == "interrupted" and part.selection_.notes["status"] == "interrupted"
    done = (call - 1) // 2
    assert part.order_[12 - done :].tolist() == whole.order_[12 - done :].tolist()
    assert sorted(part.order_) == list(range(12)) and part.predict(X).shape == (60,)
    again = make(checkpoint=file, resume=True).fit(X, Y)
    assert again.status_ == "converged"
    same(again, whole)
    same(make(checkpoint=file, resume=True).fit(X, Y), whole)  # a finished run is only read


def test_features_not_reached_are_ranked_by_their_last_errors():
    with interrupted(judges, "fit_once", at=3), pytest.warns(ConvergenceWarning):
        part = HoldOutSVM(random_state=0).fit(X, Y)
    last = part.selection_.path[-1]
    error = dict(zip(last.details["features"].tolist(), last.details["without"], strict=True))
    assert [error[j] for j in part.order_[:10]] == sorted(
        (error[j] for j in part.order_[:10]), reverse=True
    )
    assert last.value is None and part.support_.sum() == 10


class Killed(BaseException):
    """Nobody catches it: the process is gone, and nothing is put in order."""


def test_killed_and_resumed_equals_uninterrupted(tmp_path, save_every_step):
    file = tmp_path / "state.npz"
    with failing(judges, "fit_once", Killed, at=6), pytest.raises(Killed):
        HoldOutSVM(random_state=5, checkpoint=file).fit(X, Y)
    with np.load(file) as state:
        assert len(state["sizes"]) == 5
    resumed = HoldOutSVM(random_state=5, checkpoint=file, resume=True).fit(X, Y)
    same(resumed, HoldOutSVM(random_state=5).fit(X, Y))
    assert resumed.selection_.notes["n_fits"] == 12 - 5


def test_writing_takes_a_small_part_of_the_time(tmp_path, monkeypatch, clock):
    def write(file):
        clock.now += 0.02

    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", clock)
        patch.setattr("tamiz.runtime.checkpoint.os.fsync", write)
        keeper = Checkpoint(tmp_path / "state.npz", {}, every=0.02)
        keeper.save({"k": 1}, now=True)  # takes 0.02 s, or 0.04: nothing for 0.4 s
        clock.now += 0.1
        keeper.save({"k": 2})
        assert int(np.load(keeper.path)["k"]) == 1
        clock.now += 0.8
        keeper.save({"k": 3})
    assert int(np.load(keeper.path)["k"]) == 3


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    file = tmp_path / "state.npz"
    HoldOutSVM(random_state=5, checkpoint=file).fit(X, Y)
    with pytest.raises(FileExistsError, match="resume=True"):
        HoldOutSVM(random_state=5, checkpoint=file).fit(X, Y)
    with pytest.raises(ValueError, match="another run: C was"):
        HoldOutSVM(C=2.0, random_state=5, checkpoint=file, resume=True).fit(X, Y)
    with pytest.raises(ValueError, match="data are not the same"):
        HoldOutSVM(random_state=5, checkpoint=file, resume=True).fit(X + 1, Y)


@pytest.mark.parametrize(
    "options",
    [
        {"splits_per_step": 4},
        {"splits_per_step": 3, "ties": "all", "kernel": "poly"},
        {"estimator": DecisionTreeClassifier(max_features=2), "splits_per_step": 2},
    ],
)
def test_any_number_of_jobs_gives_the_same(options):
    some = X[:, :6]
    one = HoldOutSVM(random_state=0, **options).fit(some, Y)
    two = HoldOutSVM(random_state=0, n_jobs=2, **options).fit(some, Y)
    assert one.order_.tolist() == two.order_.tolist()
    assert one.errors_.tolist() == two.errors_.tolist()
    other = HoldOutSVM(random_state=1, **options).fit(some, Y)
    assert other.errors_.tolist() != one.errors_.tolist()


# ------------------------------------------------------------------ before the elimination


def test_prefilter_puts_what_fails_last_by_p_value():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    colour = np.where(rng.random(120) < 0.8, y, 1 - y) * 2.0 + 1.0
    coin = rng.integers(0, 3, size=120)
    table = np.column_stack([rng.normal(size=(120, 5)), colour, coin, rng.normal(size=120) + y])
    selector = HoldOutSVM(prefilter="auto", categorical_features=[5, 6], random_state=0)
    selector.fit(table, y)
    p = selector.pvalues_
    assert p[5] < 1e-6 and p[7] < 1e-3
    failed = np.flatnonzero(p > 0.05)
    assert selector.order_[-len(failed) :].tolist() == failed[np.argsort(p[failed])].tolist()
    assert selector.selection_.notes["n_prefiltered"] == len(failed)
    assert selector.sizes_[0] == 8 - len(failed)
    # by hand: chi-squared of the category, Kolmogorov-Smirnov of the number
    from scipy.stats import chi2_contingency, ks_2samp

    cells = pd.crosstab(colour, y).to_numpy()
    assert p[5] == pytest.approx(chi2_contingency(cells, correction=False).pvalue)
    ks = ks_2samp(table[y == 0, 7], table[y == 1, 7], method="exact").pvalue
    assert p[7] == pytest.approx(ks, rel=1e-6)
    for other in ("ks", "chi2", WelchT()):
        assert clone(selector).set_params(prefilter=other).fit(table, y).order_[0] in (5, 7)
    everything = clone(selector).set_params(prefilter_level=1.0).fit(table, y)
    same_order = HoldOutSVM(random_state=0).fit(table, y)
    assert everything.order_.tolist() == same_order.order_.tolist()


def test_prefilter_with_groups_fixed_features_and_several_classes():
    data, y = load_iris(return_X_y=True)
    table = np.hstack([data, np.random.default_rng(0).normal(size=(150, 3))])
    selector = HoldOutSVM(
        prefilter="auto", feature_groups=[[4, 0], [1, 6]], fixed_features=[5], random_state=0
    ).fit(table, y)
    p = selector.pvalues_
    assert max(p[:4]) < 1e-6 < min(p[4:])
    assert selector.support_[5] and selector.order_[0] == 5
    assert selector.support_[4] == selector.support_[0]
    with pytest.warns(UserWarning, match=r"no feature has a p-value.*prefilter_level"):
        alone = HoldOutSVM(prefilter="ks", prefilter_level=1e-300).fit(data[:100], y[:100])
    assert alone.support_.sum() == 1
    with pytest.raises(ValueError, match="gives no p-values"):
        HoldOutSVM(prefilter=HoldOutSVM()).fit(data, y)


KERNEL = QuadraticForm(np.eye(12) + 0.1) + RBF(gamma=0.1) * Linear().of(lambda T: T @ SQUARE)
SQUARE = np.eye(12)[:, ::3]


@pytest.mark.parametrize("prefilter", [None, "ks"])
def test_kernels_that_know_the_number_of_features(prefilter):
    """The last machine has the kernel of the elimination with zeros where features are missing."""
    selector = HoldOutSVM(
        3, kernel=KERNEL, prefilter=prefilter, prefilter_level=0.7, random_state=0
    ).fit(X, Y)
    kept = np.flatnonzero(selector.support_)
    assert len(kept) == 3
    filled = np.where(selector.support_, X, 0.0)
    np.testing.assert_allclose(selector.estimator_.kernel_(X[:, kept]), KERNEL(filled), rtol=1e-10)
    if prefilter:
        passed = np.flatnonzero(selector.pvalues_ <= 0.7)
        assert 3 < len(passed) < 12
        inside = np.where(selector.pvalues_ <= 0.7, X, 0.0)
        np.testing.assert_allclose(selector.kernel_(X[:, passed]), KERNEL(inside), rtol=1e-10)


def test_large_matrices_are_warned_of(limits):
    limits(selector, LARGE_MB=0.02)
    with pytest.warns(UserWarning, match="60 samples, and every matrix .* takes") as caught:
        HoldOutSVM(random_state=0).fit(X[:, :2], Y)
    assert caught[0].filename == __file__


# ------------------------------------------------------------------ asking for a number


def test_numbers_and_fractions():
    for wanted, number in [(3, 3), (0.25, 3), (12, 12), (1.0, 12)]:
        selector = HoldOutSVM(wanted, random_state=0).fit(X, Y)
        assert selector.support_.sum() == number
        assert selector.transform(X).shape == (60, number)
        assert set(selector.order_[:number]) == set(np.flatnonzero(selector.support_))
    groups = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    for wanted, number in [(1, 4), (5, 4), (8, 8), (11, 8)]:
        assert HoldOutSVM(wanted, feature_groups=groups).fit(X, Y).support_.sum() == number
    fixed = HoldOutSVM(1, fixed_features=[7, 9]).fit(X, Y)
    assert np.flatnonzero(fixed.support_).tolist() == [7, 9] == fixed.order_[:2].tolist()


def test_all_features_fixed():
    selector = HoldOutSVM(fixed_features=range(12), random_state=0).fit(X, Y)
    assert selector.support_.all() and len(selector.errors_) == 1


def test_tables_stay_what_they_are():
    names = [f"f{j}" for j in range(12)]
    frame = pd.DataFrame(X, columns=names)
    for table in (frame, to_polars(frame)):
        selector = HoldOutSVM(feature_groups=[["f1", "f2"]], random_state=0).fit(table, Y)
        out = selector.transform(table)
        assert type(out) is type(table) and list(out.columns) == [
            name for name, kept in zip(names, selector.support_, strict=True) if kept
        ]
    assert selector.selection_.to_frame().shape[0] == 12


def test_in_a_grid_search():
    pipe = make_pipeline(StandardScaler(), HoldOutSVM(random_state=0))
    search = GridSearchCV(pipe, {"holdoutsvm__n_features_to_select": [2, 6]}, cv=2).fit(X, Y)
    assert search.predict(X).shape == (60,)
    text = json.dumps(search.best_estimator_[-1].selection_.to_dict())
    assert json.loads(text)["path"][1]["details"]["tied"] >= 1


# ------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"C": 0.0}, "'C' parameter"),
        ({"validation_size": 1.0}, "'validation_size'"),
        ({"splits_per_step": 0}, "'splits_per_step'"),
        ({"ties": "none"}, "'ties'"),
        ({"n_features_to_select": 13}, "exceeds the 12 features"),
        ({"kernel": "precomputed"}, "knows no features"),
        ({"costs": (1.0,)}, "pair"),
        ({"costs": (0.0, 0.0)}, "all zero"),
        ({"costs": (-1.0, 2.0)}, "not negative"),
        ({"costs": {0: 1.0}}, "lacks 1"),
        ({"costs": {0: 1.0, 1: 1.0, 2: 1.0}}, "names 2"),
        ({"estimator": LinearRegression()}, "not a classifier"),
        ({"estimator": KNeighborsClassifier(), "tune": True}, "another judge"),
        ({"resume": True}, "checkpoint=path"),
        ({"fixed_features": [12]}, "numbered 0 to 11"),
    ],
)
def test_parameters_refused(options, words):
    with pytest.raises(ValueError, match=words):
        HoldOutSVM(**options).fit(X, Y)


def test_data_refused():
    with pytest.raises(ValueError, match=r"class 'b' has 1 sample; .* one to train"):
        HoldOutSVM().fit(X[:4], ["a", "a", "b", "a"])
    with pytest.raises(ValueError, match="one class only"):
        HoldOutSVM().fit(X[:4], [1, 1, 1, 1])
    with pytest.raises(ValueError, match="y has 3 classes; use a mapping"):
        HoldOutSVM(costs=(1.0, 2.0)).fit(X[:9], [0, 1, 2] * 3)
    with pytest.raises(ValueError, match="NaN"):
        HoldOutSVM().fit(np.where(X[3, 3] == X, np.nan, X), Y)
    with pytest.raises(ValueError, match="very large values"):
        HoldOutSVM(kernel="poly", gamma=1.0, degree=9).fit(X * 1e60, Y)


def test_smallest_and_constant_data():
    for n in (4, 5, 8):
        selector = HoldOutSVM(random_state=0).fit(X[:n, :3], np.arange(n) % 2)
        assert sorted(selector.order_) == [0, 1, 2]
    one = HoldOutSVM(random_state=0).fit(X[:, :1], Y)
    assert one.support_.all() and len(one.errors_) == 1
    with pytest.warns(UserWarning, match="every feature of X is constant"):
        HoldOutSVM(random_state=0).fit(np.ones((10, 3)), np.arange(10) % 2)
    HoldOutSVM(random_state=0, prefilter="auto").fit(np.c_[X, np.ones(60)], Y)


def test_a_failed_fit_leaves_the_earlier_one():
    selector = HoldOutSVM(random_state=0).fit(X, Y)
    before = selector.order_.tolist()
    with pytest.raises(ValueError, match="lacks"):
        selector.set_params(costs={5: 1.0}).fit(X, Y)
    assert selector.order_.tolist() == before


def test_methods_follow_the_judge():
    assert hasattr(HoldOutSVM(), "decision_function") and not hasattr(HoldOutSVM(), "predict_proba")
    judge = HoldOutSVM(estimator=KNeighborsClassifier())
    assert not hasattr(judge, "decision_function") and hasattr(judge, "predict_proba")
    fitted = HoldOutSVM(2, estimator=LogisticRegression(), random_state=0).fit(X[:, :4], Y)
    assert fitted.decision_function(X[:, :4]).shape == (60,)


def test_estimator_checks():
    assert_every_check_passes(HoldOutSVM())
