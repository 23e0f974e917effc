"""Running a comparison: workers, journals, Ctrl-C, budgets, failures, and sentences."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import redirect_stderr

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from tamiz import SVMRFE, FisherScore, compare
from tamiz.evaluation.judges import ErrorMetric
from tests.conftest import Screen
from tests.evaluation.test_compare import FAST, Spy, data

SHORT = {"sizes": [1, 4], "cv": 3, "repeats": 1, **FAST}


def same(a, b):
    for name in ("errors", "apparent_errors", "nested_errors", "nested_sizes", "own_errors"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for method in a.methods:
        for p, q in zip(a.orders[method], b.orders[method], strict=True):
            np.testing.assert_array_equal(p, q)


class Slow(FisherScore):
    """A filter that takes its time."""

    seconds = 0.06
    calls = 0

    def fit(self, X, y):
        type(self).calls += 1
        time.sleep(self.seconds)
        return super().fit(X, y)


class Fails(FisherScore):
    """Fails where the first sample is missing: in one fold, and in inner ones."""

    def fit(self, X, y):
        if not (np.abs(X[:, 0] - X[:, 0].max()) < 1e-12).any() or X[:, 0].max() < 5:
            raise ArithmeticError("the great value is missing")
        return super().fit(X, y)


# --------------------------------------------------------------------------------------- workers


def test_the_answer_does_not_depend_on_the_workers():
    X, y = data()
    options = {**SHORT, "judges": ["svc", "tree"]}
    alone = compare(X, y, ["relieff", "random"], **options)
    threads = compare(X, y, ["relieff", "random"], n_jobs=2, prefer="threads", **options)
    same(alone, threads)
    assert alone.seed == threads.seed
    other = compare(X, y, ["relieff", "random"], **{**options, "random_state": 1})
    assert not np.array_equal(other.errors, alone.errors)


def test_the_answer_of_processes_is_the_same():
    X, y = data()
    judge = DecisionTreeClassifier(random_state=0)  # not of this library: processes
    options = {**SHORT, "judges": judge, "nested": False}
    same(compare(X, y, ["random"], **options), compare(X, y, ["random"], n_jobs=2, **options))


def test_the_seed_of_the_result_repeats_an_unseeded_run():
    X, y = data()
    options = {**SHORT, "random_state": None, "nested": False}
    first = compare(X, y, ["random"], **options)
    second = compare(X, y, ["random"], **options)
    assert first.seed != second.seed
    third = compare(X, y, ["random"], **{**options, "random_state": 5})
    fourth = compare(X, y, ["random"], **{**options, "random_state": 5})
    assert third.seed == fourth.seed
    same(third, fourth)


# -------------------------------------------------------------------------------------- journals


def test_a_journal_is_taken_up_where_it_ended(tmp_path):
    X, y = data()
    path = tmp_path / "run.journal"
    selectors = {"slow": Slow(), "f": FisherScore()}
    whole = compare(X, y, selectors, **SHORT)
    Slow.calls = 0
    cut = compare(X, y, selectors, checkpoint=path, time_budget=0.25, **SHORT)
    assert cut.status == "time budget" and "CUT SHORT by the time budget" in str(cut)
    assert 0 < Slow.calls < 13
    options = {**SHORT, "checkpoint": path, "resume": True, "prefer": "threads"}
    resumed = compare(X, y, selectors, n_jobs=2, **options)
    assert resumed.status == "complete"
    # 1 on all data, and 1 + 3 inner ones in each of 3 splits; a unit that was cut is done again
    assert 13 <= (calls := Slow.calls) <= 16
    same(whole, resumed)
    again = compare(X, y, selectors, **options)
    assert Slow.calls == calls
    same(whole, again)


def test_an_unseeded_journal_brings_its_seed(tmp_path):
    X, y = data()
    options = {**SHORT, "random_state": None, "checkpoint": tmp_path / "j"}
    first = compare(X, y, ["random"], **options)
    second = compare(X, y, ["random"], resume=True, **options)
    assert first.seed == second.seed
    same(first, second)


def test_foreign_and_damaged_journals_are_refused(tmp_path):
    X, y = data()
    path = tmp_path / "run.journal"
    options = {**SHORT, "checkpoint": path}
    compare(X, y, ["fisher"], **options)
    with pytest.raises(FileExistsError, match="resume=True"):
        compare(X, y, ["fisher"], **options)
    for change in (
        {"sizes": [1, 5]},
        {"cv": 4},
        {"rule": "1se"},
        {"random_state": 1},
        {"judges": "knn"},
        {"tune": {"C": [1, 2]}},
    ):
        with pytest.raises(ValueError, match="belongs to another run"):
            compare(X, y, ["fisher"], resume=True, **{**options, **change})
    with pytest.raises(ValueError, match="belongs to another run"):
        compare(X, y, [FisherScore(variant="multiclass")], resume=True, **options)
    with pytest.raises(ValueError, match="the data are not the same"):
        compare(X + 1, y, ["fisher"], resume=True, **options)
    content = path.read_bytes()
    path.write_bytes(content[:-30])
    with pytest.raises(ValueError, match="damaged"):
        compare(X, y, ["fisher"], resume=True, **options)
    path.write_text("something else", encoding="utf-8")
    with pytest.raises(ValueError, match="no journal of tamiz"):
        compare(X, y, ["fisher"], resume=True, **options)
    with pytest.raises(ValueError, match="pass checkpoint=path"):
        compare(X, y, ["fisher"], resume=True, **SHORT)


# ------------------------------------------------------------------------------- Ctrl-C, budgets


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_returns_what_was_reached(n_jobs):
    X, y = data()

    class Stopped(Slow):
        seconds = 0.01
        calls = 0
        stopped = False

        def fit(self, X, y):
            super().fit(X, y)
            if type(self).calls >= 6 and not type(self).stopped:  # one on all data, five units
                type(self).stopped = True
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.05)
            return self

    options = {**SHORT, "cv": 10, "repeats": 20, "nested": False}
    found = compare(X, y, {"slow": Stopped()}, n_jobs=n_jobs, prefer="threads", **options)
    assert found.status == "interrupted"
    assert "CUT SHORT by Ctrl-C" in str(found) and "interrupted" in repr(found)
    there = np.isfinite(found.errors[0, 0]).all(axis=1)
    assert 0 < there.sum() < 200
    assert found.estimate("slow").n_splits <= there.sum()
    whole = compare(X, y, {"slow": FisherScore()}, **options)
    np.testing.assert_array_equal(found.errors[0, 0][there], whole.errors[0, 0][there])


def test_a_selector_that_swallows_ctrl_c_ends_the_comparison():
    class Interrupted(FisherScore):
        def fit(self, X, y):
            super().fit(X, y)
            if len(y) < 60:  # not on all data
                self.status_ = "interrupted"
            return self

    X, y = data()
    found = compare(X, y, {"f": Interrupted()}, **SHORT)
    assert found.status == "interrupted"
    assert np.isnan(found.errors).all()
    assert "–" in str(found)


def test_progress_tells_the_whole_plan(capsys):
    X, y = data()

    class Longer(Slow):
        seconds = 0.3

    compare(X, y, {"slow": Longer()}, verbose=2, **{**SHORT, "cv": 9, "nested": False})
    told = capsys.readouterr().err
    assert "of 10 units (slow), about" in told and "left" in told


class Listens(FisherScore):
    """Notes what the progress line says when its first fit begins."""

    heard: list[str] = []

    def fit(self, X, y):
        self.heard.append(sys.stderr.getvalue())
        return super().fit(X, y)


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_progress_is_there_before_the_first_unit(tmp_path, verbose, terminal):
    X, y = data()
    options = {**SHORT, "nested": False, "verbose": verbose, "checkpoint": tmp_path / "journal"}
    Listens.heard.clear()
    with redirect_stderr(Screen(terminal)) as screen:
        compare(X, y, {"one": Listens()}, **options)
    shown = verbose > 1 or (verbose == 1 and terminal)
    assert ("compare: 0 of 4 units [" in Listens.heard[0]) == shown
    length = len(screen.getvalue())
    with redirect_stderr(screen):
        compare(X, y, {"one": Listens()}, resume=True, **options)
    assert len(screen.getvalue()) == length  # nothing was left to do


# -------------------------------------------------------------------------------------- failures


def test_failures_are_left_out_with_a_warning_or_raised():
    X, y = data()
    X[:, 0] = 0.1 * np.random.default_rng(0).standard_normal(60)
    X[7, 0] = 50.0  # alone in its fold
    splits = list(StratifiedKFold(3).split(X, y))
    options = {**SHORT, "cv": splits, "nested": False}
    selectors = {"fails": Fails(), "fisher": FisherScore()}
    with pytest.warns(RuntimeWarning, match="1 failures are left out.*ArithmeticError"):
        found = compare(X, y, selectors, **options)
    lost = [7 in test for _, test in splits]
    np.testing.assert_array_equal(np.isnan(found.errors[0, 0, :, 0]), lost)
    assert np.isfinite(found.errors[1]).all()
    assert found.estimate("fails").n_splits == 2
    assert "* fewer than the 3 splits" in str(found)
    with pytest.raises(ArithmeticError, match="the great value") as caught:
        compare(X, y, selectors, error_score="raise", **options)
    assert "'fails', repeat 0, fold" in caught.value.__notes__[0]


class Moody(ClassifierMixin, BaseEstimator):
    """A judge that fails with three features."""

    def fit(self, X, y):
        if X.shape[1] == 3:
            raise ValueError("three is too many")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_judge_that_fails_at_a_size():
    X, y = data()
    with pytest.warns(RuntimeWarning, match="judge 'moody' with 3 features"):
        found = compare(X, y, ["fisher"], Moody(), **{**SHORT, "sizes": [1, 3, 4]})
    np.testing.assert_array_equal(np.isnan(found.errors[0, 0, 0]), [False, True, False])
    assert np.isfinite(found.nested_errors).all()
    assert 3 not in found.nested_sizes


@pytest.mark.parametrize("judge", ["knn", "linear"])  # by its estimator, and the fast way
def test_a_metric_without_value_in_a_fold_is_left_out(judge):
    X, y = data(n=40)
    order = np.argsort(y, kind="stable")
    one_class = np.flatnonzero(y == 0)[:5]
    splits = [(np.setdiff1d(order, part), part) for part in (one_class, np.arange(0, 40, 3))]
    options = {**SHORT, "cv": splits, "scoring": "roc_auc", "nested": False}
    with pytest.warns(RuntimeWarning, match="roc_auc was not defined 4 times"):
        found = compare(X, y, ["fisher"], judge, **options)
    np.testing.assert_array_equal(np.isnan(found.errors[0, 0, :, 0]), [True, False])
    assert found.metric == "1 − roc_auc"


def test_errors_that_may_exceed_one_are_not_shown_in_per_cent():
    X, y = data()
    wrong = 1 - y  # a judge that is always wrong has a correlation of -1: an error of 2

    class Contrary(Moody):
        def predict(self, X):
            return np.where(X[:, 0] > 0, 0, 1)

    X[:, 0] = np.where(wrong, -1.0, 1.0)
    options = {**SHORT, "sizes": [1], "scale": None}
    found = compare(X, y, {"f": Spy()}, Contrary(), scoring="matthews_corrcoef", **options)
    line = found.estimate("f")
    assert (line.error, line.low, line.high) == (2.0, 2.0, 2.0)
    assert not found.error_is_rate and "%" not in str(found).splitlines()[4]
    for scoring in ("accuracy", "balanced_accuracy", "f1_macro", "roc_auc_ovr", "recall"):
        assert ErrorMetric(scoring, "classification").error_is_rate, scoring
    for scoring in ("r2", "explained_variance", "neg_log_loss"):
        assert not ErrorMetric(scoring, "regression").error_is_rate, scoring


def test_warnings_of_selectors_come_once():
    class Warns(FisherScore):
        def fit(self, X, y):
            import warnings

            warnings.warn("I have doubts", UserWarning, stacklevel=2)
            return super().fit(X, y)

    X, y = data()
    # 1 on all data, and 1 + 3 inner ones in each of 3 splits
    with pytest.warns(UserWarning, match=r"I have doubts \(13 times") as caught:
        compare(X, y, {"w": Warns()}, **SHORT)
    assert len([one for one in caught if "doubts" in str(one.message)]) == 1


def test_warnings_are_counted_whatever_python_would_show():
    import warnings

    class Warns(FisherScore):
        def fit(self, X, y):
            warnings.warn("I have doubts", UserWarning, stacklevel=2)
            return super().fit(X, y)

    X, y = data()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # once for each line of code, as outside of tests
        compare(X, y, {"w": Warns()}, **SHORT)
    assert ["(13 times" in str(one.message) for one in caught] == [True]


# ------------------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"selectors": ["fishr"]}, "no method is called 'fishr'. Did you mean 'fisher'"),
        ({"selectors": []}, "selectors is empty"),
        ({"selectors": ["fisher", FisherScore()]}, "two of selectors are called 'fisher'"),
        ({"selectors": {1: "fisher"}}, "names must be text"),
        ({"judges": "svm"}, "no judge is called 'svm'"),
        ({"judges": ["knn", KNeighborsClassifier(), "knn"]}, "two of judges are called 'knn'"),
        ({"sizes": [1, 13]}, "sizes holds 13, but X has 12 features"),
        ({"sizes": []}, "sizes=.* is not understood"),
        ({"sizes": [0, 3]}, "numbers of features from 1"),
        ({"sizes": "many"}, "sizes='many' is not understood"),
        ({"sizes": [2.5]}, "is not understood"),
        ({"cv": 1}, "cv=1 folds"),
        ({"cv": 40}, "cv=40 folds need 40 samples of every class; class .* Use cv="),
        ({"cv": "often"}, "cv='often' is not understood"),
        ({"repeats": 0}, "repeats=0"),
        ({"scoring": "beauty"}, "scoring='beauty' is no metric"),
        ({"scoring": ["accuracy", "f1"]}, "has one metric"),
        (
            {"scale": "robust"},
            "scale='robust' is not understood; use 'standard', 'auto', 'minmax' or None",
        ),
        ({"tune": {"D": [1]}}, "tune names 'D', which is no parameter of the judge"),
        ({"tune": 3}, "tune=3 is not understood"),
        ({"nested": 1}, "nested=1 is not understood"),
        ({"rule": "worst"}, "rule='worst'"),
        ({"prefer": "cluster"}, "prefer='cluster'"),
        ({"task": "guess"}, "task='guess'"),
        ({"error_score": 0}, "error_score=0"),
        ({"confidence": 95}, "confidence=95"),
        ({"time_budget": -1}, "time_budget=-1"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"baselines": [3]}, "baselines holds 3"),
    ],
)
def test_absurd_arguments_get_a_sentence(change, sentence):
    X, y = data()
    with pytest.raises(ValueError, match=sentence):
        compare(X, y, **{"selectors": ["fisher"], **SHORT, **change})


def test_absurd_data_get_a_sentence():
    X, y = data()
    with pytest.raises(ValueError, match="one class only"):
        compare(X, np.ones(60), ["fisher"])
    bad = X.copy()
    bad[3, 2] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*row 3, column 2"):
        compare(bad, y, ["fisher"])
    with pytest.raises(ValueError, match="60 rows but y has 59"):
        compare(X, y[:-1], ["fisher"])
    with pytest.raises(ValueError, match="holds text where numbers are needed"):
        compare([["a", 1.0]] * 60, y, ["fisher"])
    with pytest.raises(ValueError, match="has one sample"):
        compare(X, np.r_[y[:-1], 7], ["fisher"])
    with pytest.raises(TypeError, match=r"pass an object of it, FisherScore\(\)"):
        compare(X, y, [FisherScore])
    with pytest.raises(TypeError, match="Pass selectors with fit"):
        compare(X, y, [3])
    with pytest.raises(TypeError, match="Use an estimator with fit and predict"):
        compare(X, y, ["fisher"], [Spy()])
    with pytest.raises(ValueError, match="every split is another run"):
        compare(X, y, [SVMRFE(checkpoint="x")])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="more than once"):
        compare(pandas.DataFrame(X, columns=["a"] * 12), y, ["fisher"])


def test_few_samples_and_small_classes():
    X, y = data(n=12)
    y = np.arange(12) % 6  # two of each: one in a training part
    options = {**SHORT, "cv": 2, "tune": True, "task": "classification"}
    with pytest.warns(RuntimeWarning, match="in 2 training parts no number of features"):
        found = compare(X, y, ["fisher"], "tree", **options)
    assert np.isfinite(found.errors).all()
    assert np.isnan(found.nested_errors).all()  # no part of a training part could choose
    assert "nested=False does without" in str(found)
    X, y = data(n=40)
    y[:4] = 2
    options = {**SHORT, "cv": 2, "nested": 5}
    found = compare(X, y, ["fisher"], "tree", **options)
    assert np.isfinite(found.nested_errors).all()


@pytest.mark.filterwarnings("ignore:CFS found no relevant")
def test_records_are_plain(tmp_path):
    X, y = data()
    path = tmp_path / "j"
    compare(X, y, ["cfs"], checkpoint=path, **SHORT)
    lines = path.read_text(encoding="utf-8").splitlines()[2:]
    records = [json.loads(line.split(" ", 1)[1]) for line in lines]
    assert [record["split"] for record in records] == [-1, 0, 1, 2]
    assert sorted(records[1]["order"]) == list(range(12))
