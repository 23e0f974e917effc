"""Tuning on the card against tuning on the CPU: the same choice, every cell with a certificate."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import SVC, load, save, tune
from tamiz.gpu import emulated
from tamiz.kernels import GapWeighted
from tamiz.svm import SVR
from tamiz.validation import ParameterError

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.02, 0.1]}


def classes(n=150, count=2, seed=0):
    return make_classification(
        n, 8, n_informative=5, n_classes=count, flip_y=0.1, random_state=seed
    )


def both(X, y, estimator, grid=GRID, **options):
    """On the CPU, and on the card."""
    options = {"cv": 3, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about edges of the grid
        expected = tune(X, y, estimator, grid, **options)
        with emulated():
            return expected, tune(X, y, estimator, grid, device="cuda", **options)


CASES = {
    "two classes": (SVC(), classes()),
    "three classes": (SVC(), classes(count=3)),
    "one against the rest": (SVC(multiclass="ovr"), classes(count=3)),
    "weights of classes": (SVC(class_weight="balanced"), classes()),
    "behind a scaler": (make_pipeline(StandardScaler(), SVC()), classes()),
    "regression": (SVR(), make_friedman1(120, random_state=0)),
    "regression behind a scaler": (
        make_pipeline(StandardScaler(), SVR()),
        make_friedman1(120, random_state=0),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_card_chooses_what_the_cpu_does_and_certifies_every_machine(name):
    estimator, (X, y) = CASES[name]
    expected, found = both(X, y, estimator)
    assert found.notes["fast_cells"] == 6
    assert found.best_params == expected.best_params
    assert np.abs(found.errors - expected.errors).max() <= 0.06  # samples near a boundary
    gaps = np.array([cell.gaps for cell in found.cells])
    assert gaps.shape == (6, 3) and (gaps >= 0).all() and (gaps <= 1e-3).all()
    assert found.largest_gap == gaps.max()
    assert "6 of 6 cells were solved on NumPy in the place of a card, each machine" in str(found)
    machine = getattr(found.best_estimator, "steps", [("", found.best_estimator)])[-1][1]
    assert machine.device == "cuda" and machine.device_.startswith("cuda")
    assert expected.largest_gap is None and "gap" not in expected.to_frame()


def test_a_smaller_gap_gives_the_errors_of_the_cpu():
    X, y = classes()
    expected, found = both(X, y, SVC(tol=1e-5), gap=1e-7)
    assert np.array_equal(found.errors, expected.errors)
    assert found.largest_gap <= 1e-7


def test_weights_and_other_metrics():
    X, y = classes()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    expected, found = both(X, y, SVC(tol=1e-5), scoring="roc_auc", sample_weight=weight, gap=1e-7)
    assert np.abs(found.errors - expected.errors).max() <= 1e-3
    assert found.best_params == expected.best_params


def test_gamma_that_depends_on_the_split():
    X, y = classes()
    part = np.arange(150) % 3
    X[part == 0] *= 5.0  # without it the variance of the others is far smaller
    splits = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(3)]
    grid = {"C": [0.1, 1.0, 10.0]}
    expected, found = both(X, y, SVC(tol=1e-5), grid, gap=1e-7, cv=splits)
    assert found.notes["fast_cells"] == 3
    assert np.array_equal(found.errors, expected.errors)


def test_cells_that_do_not_fit_or_cannot_be_batched_are_fitted_one_by_one_on_the_card():
    X, y = classes(100)
    grid = {"C": [1.0, 10.0], "kernel": ["rbf", "sigmoid"]}
    with emulated(2e5), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = tune(X, y, SVC(), {"C": [0.1, 1.0]}, cv=3, device="cuda")
    with emulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mixed = tune(X, y, SVC(gamma=0.1), grid, cv=3, device="cuda")
    assert few.notes["fast_cells"] == 0 and few.largest_gap is None
    assert few.best_estimator.device_.startswith("cuda")
    assert mixed.notes["fast_cells"] == 2
    assert [cell.gaps is None for cell in mixed.cells] == [
        cell.params["kernel"] == "sigmoid" for cell in mixed.cells
    ]
    squared, _ = make_friedman1(80, random_state=0)
    with emulated():
        found = tune(squared, squared[:, 0], SVR(loss="squared"), {"C": [1.0]}, cv=3, device="cuda")
    assert found.notes["fast_cells"] == 0


def test_results_can_be_saved_and_runs_resumed(tmp_path):
    X, y = classes()
    file = tmp_path / "scores"
    with emulated():
        found = tune(X, y, SVC(), GRID, cv=3, device="cuda", checkpoint=file)
        again = tune(X, y, SVC(), GRID, cv=3, device="cuda", checkpoint=file, resume=True)
        save(found, tmp_path / "tuning.tamiz")
    assert np.array_equal(again.errors, found.errors) and again.largest_gap == found.largest_gap
    loaded = load(tmp_path / "tuning.tamiz")
    assert loaded.largest_gap == found.largest_gap and str(loaded) == str(found)
    frame = found.to_frame()
    assert frame["gap"].max() == found.largest_gap
    assert found.to_dict()["cells"][0]["gaps"] == found.cells[0].gaps.tolist()


def test_the_same_data_have_the_same_answer():
    X, y = load_iris(return_X_y=True)
    with emulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one, other = (tune(X, y, SVC(), GRID, cv=3, device="cuda") for _ in range(2))
    assert np.array_equal(one.errors, other.errors)
    assert [c.gaps.tolist() for c in one.cells] == [c.gaps.tolist() for c in other.cells]


def test_a_machine_that_is_on_a_card_is_tuned_there():
    X, y = classes(80)
    with emulated():
        found = tune(X, y, SVC(device="cuda", gamma=0.1), {"C": [0.1, 1.0]}, cv=3, refit=False)
        alone = tune(X, y, SVC(device="cpu"), {"C": [0.1, 1.0]}, cv=3, refit=False)
    assert found.largest_gap <= 1e-3 and alone.largest_gap is None


def test_what_a_card_does_not_tune_is_said_before_anything_is_fitted():
    X, y = classes(60)
    words, kinds = ["abc", "abd", "xyz", "xyy"] * 6, [0, 0, 1, 1] * 6
    strings = SVC(kernel=GapWeighted(length=2))
    cases = [
        (words, kinds, strings, {"C": [1.0, 2.0]}, "is not for strings"),
        (X, y, DummyClassifier(), {"strategy": ["prior"]}, "DummyClassifier has none"),
        (X, y, SVC(solver="smo"), {"C": [1.0, 2.0]}, "that solver works on the CPU"),
    ]
    for table, target, estimator, grid, sentence in cases:
        with emulated(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            with pytest.raises(ParameterError, match=sentence):
                tune(table, target, estimator, grid, cv=3, device="cuda")
            found = tune(table, target, estimator, grid, cv=3, device="auto")
            expected = tune(table, target, estimator, grid, cv=3)
        assert np.array_equal(found.errors, expected.errors)
        assert "device" not in found.notes


def test_a_card_has_one_worker():
    X, y = classes(60)
    seen = set()

    class Watched(SVC):
        def fit(self, X, y, sample_weight=None):
            seen.add(threading.get_ident())
            return super().fit(X, y, sample_weight)

    with emulated():
        tune(X, y, Watched(), {"C": [0.1, 1.0]}, cv=3, n_jobs=2, fast=False, device="cuda")
    assert seen == {threading.get_ident()}


def test_wrong_devices_and_gaps_are_refused_in_a_sentence():
    X, y = classes(60)
    with pytest.raises(ParameterError, match="is no device"):
        tune(X, y, device="gpu")
    with pytest.raises(ParameterError, match="gap"):
        tune(X, y, gap=0.0)
