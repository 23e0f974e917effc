"""tune: the errors of the slow way, the choice, and what a user meets on the way."""

from __future__ import annotations

import json
import signal
import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.evaluation import Tuning, tune
from tamiz.evaluation.tuning.cells import Board
from tamiz.evaluation.tuning.result import Cell, choose_cell, find_edges
from tamiz.search import HoldOut
from tamiz.svm import SVC, SVR
from tests.frames import to_polars
from tests.naive.tuning import choose_one_standard_error, errors_of_cells

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
IRIS = load_iris(return_X_y=True)


def largest_value(estimator, X, y):
    return float(np.abs(estimator.predict(X)).max())


def stratified(X, y, n_splits):
    return list(StratifiedKFold(n_splits).split(X, y))


@pytest.fixture(scope="module")
def iris_tuning() -> Tuning:
    return tune(*IRIS, SVC(), GRID, cv=5)


# ------------------------------------------------------------------------------ the right errors


def test_errors_are_those_of_the_slow_way(iris_tuning):
    X, y = IRIS
    slow = errors_of_cells(SVC(), list(ParameterGrid(GRID)), X, y, stratified(X, y, 5))
    np.testing.assert_allclose(iris_tuning.errors, slow, atol=1e-12)
    assert iris_tuning.notes["fast_cells"] == 9
    best = iris_tuning.best_index
    assert slow.mean(axis=1)[best] == slow.mean(axis=1).min()
    assert iris_tuning.best_std == pytest.approx(slow[best].std(ddof=1))


def test_agrees_with_grid_search_of_scikit_learn_on_its_own_estimator():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 5, 15]}
    peer = GridSearchCV(model, grid, cv=5).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = tune(X, y, model, grid, cv=5)
    np.testing.assert_allclose(
        [cell.error for cell in ours.cells], 1 - peer.cv_results_["mean_test_score"], atol=1e-12
    )
    assert ours.notes["fast_cells"] == 0


def test_errors_are_the_published_ones_for_two_digits(data_dir):
    """Ten folds over gamma and C on the fives and eights of USPS; other folds, so a margin."""
    data = np.load(data_dir / "usps.npz")
    rows = (data["split"] == "train") & np.isin(data["y"].astype(int), [5, 8])
    X, y = data["X"][rows].astype(float), data["y"][rows]
    published = {(0.001, 1.0): 0.0182, (0.001, 10.0): 0.0164, (0.01, 10.0): 0.0455}
    grid = {"gamma": [0.001, 0.01], "C": [1.0, 10.0]}
    found = {(c.params["gamma"], c.params["C"]): c for c in tune(X, y, grid=grid, cv=10).cells}
    for place, error in published.items():
        assert abs(found[place].error - error) < 3 * found[place].standard_error


def test_scores_of_any_metric_become_errors():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SVC())
    grid = {"C": [0.1, 10.0]}
    for scoring, name in [("roc_auc", "1 - roc_auc"), ("f1", "1 - f1")]:
        ours = tune(X, y, pipe, grid, cv=3, scoring=scoring, refit=False)
        peer = GridSearchCV(pipe, {"svc__C": grid["C"]}, cv=3, scoring=scoring).fit(X, y)
        assert ours.metric == name
        means = [cell.error for cell in ours.cells]
        np.testing.assert_allclose(means, 1 - peer.cv_results_["mean_test_score"], atol=1e-9)
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40.0) / 7
    loss = tune(X, y, Ridge(), {"alpha": [1.0, 10.0]}, cv=4, scoring="neg_mean_squared_error")
    assert loss.metric == "mean_squared_error" and loss.errors.min() > 0
    own = tune(X, y, Ridge(), {"alpha": [1.0, 10.0]}, cv=4)
    assert own.metric == "1 - r2"
    largest = tune(X, y, Ridge(), {"alpha": [1.0]}, cv=4, scoring=largest_value)
    assert largest.metric == "-largest_value" and largest.best_error < 0


def test_weights_count_in_fitting_and_in_the_metric():
    X, y = IRIS
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(y))
    cells = list(ParameterGrid({"C": [0.1, 1.0], "gamma": [0.1, 1.0]}))
    slow = errors_of_cells(SVC(), cells, X, y, stratified(X, y, 4), weight)
    ours = tune(X, y, SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, cv=4, sample_weight=weight)
    np.testing.assert_allclose(ours.errors, slow, atol=1e-12)
    plain = tune(X, y, LogisticRegression(max_iter=500), {"C": [1.0]}, cv=4, sample_weight=weight)
    model = LogisticRegression(max_iter=500)
    slow = errors_of_cells(model, [{"C": 1.0}], X, y, stratified(X, y, 4), weight)
    np.testing.assert_allclose(plain.errors, slow, atol=1e-12)


# ------------------------------------------------------------------------------ the choice


def test_one_standard_error_takes_the_simplest_within_reach(iris_tuning):
    chosen = tune(*IRIS, SVC(), GRID, cv=5, choose="1se")
    cells = [cell.params for cell in chosen.cells]
    assert chosen.best_index == choose_one_standard_error(cells, chosen.errors)
    assert chosen.best_params["C"] <= iris_tuning.best_params["C"]
    assert "within one standard error" in str(chosen)
    assert chosen.best_params["C"] == chosen.best_estimator.C


def test_one_standard_error_never_trades_one_parameter_for_another():
    """Cells within reach whose C is much smaller but whose gamma is larger are not simpler."""
    made = {(1.0, 0.1): 0.10, (0.001, 1.0): 0.11, (0.1, 0.1): 0.115, (0.01, 0.1): 0.5}
    folds = np.array([-0.05, 0.0, 0.05, 0.0])
    cells = [Cell({"C": C, "gamma": g}, e + folds) for (C, g), e in made.items()]
    errors = np.array([cell.errors for cell in cells])
    assert choose_cell(cells, "best") == 0
    assert choose_cell(cells, "1se") == 2
    assert choose_one_standard_error([cell.params for cell in cells], errors) == 2
    kernels = [
        Cell({"C": 1.0, "kernel": "rbf"}, 0.1 + folds),
        Cell({"C": 0.01, "kernel": "linear"}, 0.101 + folds),
    ]
    assert choose_cell(kernels, "1se") == 0  # which kernel is simpler is not known


def test_refit_learns_from_all_samples(iris_tuning):
    X, y = IRIS
    again = SVC(**iris_tuning.best_params).fit(X, y)
    np.testing.assert_array_equal(iris_tuning.best_estimator.predict(X), again.predict(X))
    assert tune(X, y, SVC(), {"C": [1.0]}, cv=3, refit=False).best_estimator is None


def test_random_search_draws_the_same_cells_for_a_seed():
    draws = {"C": stats.loguniform(0.1, 100), "gamma": stats.loguniform(0.01, 1)}
    one = tune(*IRIS, SVC(), draws, cv=3, search="random", n_iter=6, random_state=4)
    two = tune(*IRIS, SVC(), draws, cv=3, search="random", n_iter=6, random_state=4, n_jobs=2)
    assert [c.params for c in one.cells] == [c.params for c in two.cells]
    assert len(one.cells) == 6
    np.testing.assert_array_equal(one.errors, two.errors)
    assert len(tune(*IRIS, SVC(), GRID, cv=3, search="random", n_iter=50).cells) == 9


def test_halving_chooses_from_the_last_rung():
    X, y = make_classification(600, 8, n_informative=4, random_state=0)
    grid = {"C": [0.001, 0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
    found = tune(X, y, SVC(), grid, cv=3, search="halving")
    sizes = [cell.n_samples for cell in found.cells]
    assert found.best.n_samples == max(sizes) > min(sizes)
    assert found.best_params.keys() == {"C", "gamma"}
    assert found.best_estimator.predict(X[:3]).shape == (3,)
    with pytest.raises(ValueError, match="sample_weight cannot be used with search='halving'"):
        tune(X, y, SVC(), grid, cv=3, search="halving", sample_weight=np.ones(600))


def test_a_best_cell_at_the_edge_is_reported():
    with pytest.warns(UserWarning, match="C=1 is the greatest of the grid: try larger"):
        found = tune(*IRIS, SVC(gamma=0.01), {"C": [0.001, 0.01, 0.1, 1.0]}, cv=5)
    assert found.edges and found.edges[0] in str(found)


def test_words_among_numbers_are_no_edge():
    made = [("scale", 0.4), (0.01, 0.3), (0.1, 0.2), (1.0, 0.1)]
    cells = [Cell({"gamma": gamma}, np.full(3, error)) for gamma, error in made]
    assert find_edges(cells, 3) == [
        "The best gamma=1 is the greatest of the grid: try larger values too."
    ]
    cells[0].errors -= 0.35  # the word is best: nothing to say
    assert find_edges(cells, 0) == []


def test_ties_with_an_inner_cell_are_no_edge():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tune(*IRIS, SVC(kernel="linear"), {"C": [1.0, 1.0001, 1.0002]}, cv=3)
    assert found.best_params == {"C": 1.0}


# ------------------------------------------------------------------------------ what comes in


def test_tables_of_all_kinds_give_the_same_errors(iris_tuning):
    X, y = IRIS
    frame = pd.DataFrame(X, columns=list("abcd"))
    for table in (frame, to_polars(frame), X.tolist(), X.astype(np.float32)):
        found = tune(table, y, SVC(), GRID, cv=5)
        np.testing.assert_allclose(found.errors, iris_tuning.errors, atol=0.05)
    found = tune(frame, y, SVC(), GRID, cv=5)
    np.testing.assert_array_equal(found.errors, iris_tuning.errors)
    assert found.best_estimator.feature_names_in_.tolist() == list("abcd")
    assert found.notes["fast_cells"] == 9
    thin = tune(sparse.csr_matrix(X), y, SVC(), {"C": [1.0], "gamma": [0.1]}, cv=5)
    np.testing.assert_array_equal(thin.errors[0], iris_tuning.errors[4])


def test_precomputed_kernels_are_cut_in_both_directions():
    X, y = IRIS
    K = X @ X.T
    ours = tune(K, y, SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, cv=5)
    other = tune(X, y, SVC(kernel="linear"), {"C": [0.1, 1.0]}, cv=5)
    np.testing.assert_array_equal(ours.errors, other.errors)


def test_defaults_are_a_scaled_machine_and_a_grid_around_the_usual_gamma():
    X, y = load_wine(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = tune(X, y, cv=3)
    assert len(found.cells) == 25 and found.notes["fast_cells"] == 25
    assert {cell.params["C"] for cell in found.cells} == {0.1, 1.0, 10.0, 100.0, 1000.0}
    gammas = sorted({cell.params["gamma"] for cell in found.cells})
    assert gammas[2] == pytest.approx(1 / 13, rel=1e-2)
    assert found.best_error < 0.05
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        line = tune(X[:60], X[:60, 0] + 0.37, cv=3)
    assert isinstance(line.best_estimator[-1], SVR)
    thin = tune(sparse.csr_matrix(X), y, grid={"C": [1.0]}, cv=3)
    assert thin.best_estimator[0].__class__.__name__ == "MaxAbsScaler"


def test_cv_may_be_leave_one_out_a_hold_out_or_a_list():
    X, y = IRIS
    assert tune(X[::5], y[::5], SVC(), {"C": [1.0]}, cv="loo").errors.shape == (1, 30)
    one = tune(X, y, SVC(), {"C": [1.0, 10.0]}, cv=HoldOut(0.3, random_state=0), choose="1se")
    assert one.errors.shape == (2, 1) and np.isnan(one.best_std)
    assert "±" not in repr(one)
    splits = stratified(X, y, 3)
    listed = tune(X, y, SVC(), {"C": [1.0]}, cv=splits)
    np.testing.assert_array_equal(listed.errors, tune(X, y, SVC(), {"C": [1.0]}, cv=3).errors)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"grid": {}}, "empty dict"),
        ({"grid": []}, "empty list"),
        ({"grid": 3}, "grid=3 is not understood"),
        ({"grid": [3]}, "must be a dict of lists"),
        ({"grid": {"C": []}}, r"grid\['C'\] holds no candidates"),
        ({"grid": {"C": 1.0}}, "must be a list of candidates"),
        ({"grid": {"kernel": "rbf"}}, "must be a list of candidates"),
        ({"grid": {"gama": [1.0]}}, "Did you mean 'gamma'"),
        ({"grid": {"c": [1.0]}}, "Did you mean 'C'"),
        ({"grid": {"C": [0.0, 1.0]}}, "grid holds the cell C=0:"),
        ({"grid": {"C": [-1.0]}}, "grid holds the cell C=-1:"),
        ({"grid": {"kernel": ["rbff"]}}, "grid holds the cell kernel='rbff'"),
        ({"grid": {"C": stats.uniform()}}, "use search='random'"),
        ({"search": "all"}, "search='all' is not understood"),
        ({"choose": "2se"}, "choose='2se' is not understood"),
        ({"n_iter": 0, "search": "random"}, "n_iter=0"),
        ({"error_score": "nan"}, "error_score='nan'"),
        ({"memory_mb": -1}, "memory_mb=-1"),
        ({"n_jobs": 0}, "n_jobs=0 leaves no thread"),
        ({"resume": True}, "resume=True needs a file"),
        ({"scoring": ["accuracy", "f1"]}, "names several metrics"),
        ({"scoring": "acuracy"}, "scoring='acuracy' cannot be used"),
        ({"cv": 1}, "cv=1 folds"),
        ({"cv": "ten"}, "cv='ten' is not understood"),
        ({"estimator": SVC}, "SVC is a class"),
        ({"estimator": 3}, "is no estimator"),
        ({"estimator": LogisticRegression(), "grid": None}, "has a default for SVC and SVR only"),
        ({"y": np.zeros(150)}, "one class only"),
        ({"y": None}, "y is None"),
        ({"y": IRIS[1][:20]}, "150"),
        ({"X": np.where(np.eye(150, 4), np.nan, IRIS[0])}, "NaN"),
        ({"X": [["a", "b"]] * 150}, "'a'"),
        ({"sample_weight": np.full(150, -1.0)}, "sample_weight"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(change, sentence):
    arguments = {"X": IRIS[0], "y": IRIS[1], "estimator": SVC(), "grid": {"C": [1.0]}, "cv": 3}
    with pytest.raises((ValueError, TypeError), match=sentence):
        tune(**{**arguments, **change})


def test_small_classes_are_reported():
    X, y = IRIS[0][:60], IRIS[1][:60]
    y = np.where(np.arange(60) < 3, 2, y)
    with pytest.warns(UserWarning, match="class 2 has 3 samples, fewer than cv=5 folds"):
        tune(X, y, SVC(), {"C": [1.0]}, cv=5)


class Moody(SVC):
    """Fails for one C."""

    def fit(self, X, y, sample_weight=None):
        if self.C == 10.0:
            raise RuntimeError("not today")
        return super().fit(X, y, sample_weight)


def test_failing_cells_are_named_and_left_out():
    grid = {"C": [1.0, 10.0]}
    with pytest.warns(RuntimeWarning, match="C=10 failed on 3 of 3 splits.*not today"):
        found = tune(*IRIS, Moody(), grid, cv=3)
    assert np.isnan(found.cells[1].errors).all() and found.best_params == {"C": 1.0}
    assert "not today" in found.cells[1].failure
    with pytest.warns(RuntimeWarning, match="C=10 failed"):
        worst = tune(*IRIS, Moody(), grid, cv=3, error_score=0.0)
    assert worst.cells[1].error == 1.0
    with pytest.raises(RuntimeError, match="not today") as caught:
        tune(*IRIS, Moody(), grid, cv=3, error_score="raise")
    assert "in the cell C=10, on split 0" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match=r"All 1 cells of the grid failed\..*not today"):
        tune(*IRIS, Moody(), {"C": [10.0]}, cv=3)


@pytest.mark.parametrize("fast", [True, False])
def test_a_metric_that_is_not_defined_is_reported(fast):
    X, y = IRIS[0][:100], IRIS[1][:100]
    everyone, zeros = np.arange(100), np.arange(0, 50, 2)
    cv = [(np.setdiff1d(everyone, zeros), zeros), (everyone[::2], everyone[1::2])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own words on it
        with pytest.raises(ValueError, match="1 - roc_auc is not defined on split 0"):
            tune(X, y, SVC(), {"C": [1.0]}, cv=cv, scoring="roc_auc", fast=fast)


# ------------------------------------------------------------------------------ long runs


@pytest.mark.parametrize("estimator", [SVC(), KNeighborsClassifier()])
def test_a_checkpoint_is_taken_up(tmp_path, estimator):
    grid = {"C": [0.1, 1.0]} if isinstance(estimator, SVC) else {"n_neighbors": [1, 5]}
    file = tmp_path / "tuning.journal"
    whole = tune(*IRIS, estimator, grid, cv=3, checkpoint=file)
    with pytest.raises(FileExistsError, match="resume=True"):
        tune(*IRIS, estimator, grid, cv=3, checkpoint=file)
    before = file.read_bytes()
    again = tune(*IRIS, estimator, grid, cv=3, checkpoint=file, resume=True)
    np.testing.assert_array_equal(again.errors, whole.errors)
    assert file.read_bytes() == before
    with pytest.raises(ValueError, match="belongs to another run"):
        tune(*IRIS, estimator, grid, cv=4, checkpoint=file, resume=True)


class Slow(KNeighborsClassifier):
    """Lets Ctrl-C arrive when the third cell is fitted."""

    def fit(self, X, y):
        if self.n_neighbors == 7:
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y)


def test_ctrl_c_keeps_what_was_computed(tmp_path):
    grid = {"n_neighbors": [1, 5, 7, 9]}
    file = tmp_path / "tuning.journal"
    found = tune(*IRIS, Slow(), grid, cv=3, checkpoint=file)
    assert found.interrupted and found.best_estimator is None
    done = np.isfinite(found.errors).all(axis=1)
    assert done.tolist() == [True, True, False, False]
    assert found.best_index in (0, 1)
    assert "Interrupted: 2 of 4 cells" in str(found) and "interrupted" in repr(found)
    json.dumps(found.to_dict(), allow_nan=False)
    found.to_frame()
    with pytest.raises(KeyboardInterrupt):
        tune(*IRIS, Slow(), {"n_neighbors": [7]}, cv=3)


def test_ctrl_c_reaches_the_threads_of_the_fast_way(monkeypatch):
    X, y = make_classification(800, 10, random_state=0)
    grid = {"C": np.logspace(-3, 3, 7), "gamma": np.logspace(-4, 2, 4)}
    report = Board.report

    def after_a_while(self, *outcome):
        report(self, *outcome)
        if self.done.sum() == 50:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Board, "report", after_a_while)
    found = tune(X, y, SVC(), grid, cv=5, n_jobs=2)
    assert found.interrupted
    done = np.isfinite(found.errors)
    assert 50 <= done.sum() < done.size
    monkeypatch.undo()
    whole = tune(X, y, SVC(), grid, cv=5, refit=False)
    np.testing.assert_array_equal(found.errors[done], whole.errors[done])


def test_answers_do_not_depend_on_the_number_of_workers(iris_tuning):
    for n_jobs in (2, -1):
        np.testing.assert_array_equal(
            tune(*IRIS, SVC(), GRID, cv=5, n_jobs=n_jobs).errors, iris_tuning.errors
        )
    with parallel_config(backend="threading"):  # processes take seconds to start
        one = tune(*IRIS, KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=3, n_jobs=2)
    two = tune(*IRIS, KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=3)
    np.testing.assert_array_equal(one.errors, two.errors)


def test_progress_tells_how_much_is_left(capsys, clock):
    clock.step = 3.0
    tune(*IRIS, SVC(), {"C": [1.0, 2.0]}, cv=3, verbose=2)
    shown = capsys.readouterr().err
    assert "of 6 fits" in shown and "s left" in shown


# ------------------------------------------------------------------------------ the result


def test_the_result_prints_and_converts(iris_tuning):
    assert repr(iris_tuning).startswith("<Tuning: C=")
    table = str(iris_tuning).splitlines()
    assert table[0].split() == ["C", "gamma", "1", "-", "accuracy", "std", "seconds"]
    assert table[1].startswith("*")
    frame = iris_tuning.to_frame()
    assert frame.shape == (9, 2 + 3 + 5 + 2) and frame["chosen"].sum() == 1
    assert frame.loc[frame["chosen"], "error"].item() == iris_tuning.best_error
    plain = json.loads(json.dumps(iris_tuning.to_dict(), allow_nan=False))
    assert plain["best_params"] == iris_tuning.best_params
    assert len(plain["cells"]) == 9 and len(plain["cells"][0]["errors"]) == 5


def test_estimators_as_candidates_are_not_shared_between_fits():
    X, y = load_wine(return_X_y=True)
    from sklearn.preprocessing import MinMaxScaler

    model = make_pipeline(StandardScaler(), SVC())
    scalers = [StandardScaler(), MinMaxScaler(), "passthrough"]
    found = tune(X, y, model, {"standardscaler": scalers, "C": [1.0]}, cv=3)
    assert not hasattr(scalers[0], "mean_")
    assert found.notes["fast_cells"] == 3
    assert found.cells[2].error > found.cells[0].error
    assert tune(X, y, model, {"standardscaler": scalers, "C": [1.0]}, cv=3, fast=False).errors == (
        pytest.approx(found.errors)
    )
