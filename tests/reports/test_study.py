"""A study: what it recommends and why, and that its numbers are those of its comparison."""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer
from tamiz.reports.study import make_pipeline_for, rank_all, recommend

from tamiz.base import Selection
from tamiz.data import Dataset
from tamiz.evaluation._compare_estimates import Estimate
from tamiz.evaluation.methods import METHODS
from tamiz.reports import Study, make_study, summary
from tamiz.reports.language import LANGUAGES, find_language

CODES = ("least_error", "fewest_within_interval", "steadier", "stable", "fairly_stable", "fragile")


GRID = {"C": [0.01, 10.0]}


def table(n_rows=60, n_features=8, *, gaps=False, classes=2):
    bunch = load_breast_cancer()
    rows = np.linspace(0, len(bunch.data) - 1, n_rows).astype(int)
    X, y = bunch.data[rows, :n_features].copy(), bunch.target[rows]
    if gaps:
        X[::7, 2] = np.nan
    if classes == 3:
        y = np.where(X[:, 0] > np.median(X[y == 0, 0]), 2, y)
    names = [f"f{j}" for j in range(n_features)]
    return Dataset(
        X, y, names, [f"c{k}" for k in range(classes)], task="classification", target="y"
    )


# --------------------------------------------------------------------------- recommending, by hand


def line(method, error, size, *, half=0.02, kind="chosen", n_splits=15, apparent=None):
    apparent = error if apparent is None else apparent
    return Estimate(
        method, "svc-linear", kind, size, size, size, error, max(0, error - half), error + half,
        size, apparent, error - apparent, 0.1, 0.1, n_splits,
    )  # fmt: skip


def by_hand(lines, stability, own_stability=None, n_features=20, n_own=3):
    """A study around lines and measures of agreement that were made up."""
    own_stability = own_stability or {}

    def measured(method, size):
        assert size == "own"
        return SimpleNamespace(nogueira=own_stability[method])

    found = SimpleNamespace(
        estimates=lambda: lines, confidence=0.95, shares=True, tuned={}, stability=measured,
        sizes=np.unique([one.size for one in lines]),
    )  # fmt: skip
    data = Dataset(
        np.zeros((10, n_features)), np.arange(10) % 2, [f"g{j}" for j in range(n_features)],
        ["no", "yes"], task="classification",
    )  # fmt: skip
    selections = {}
    for k, name in enumerate({one.method for one in lines} - {"random", "all"}):
        order = np.roll(np.arange(n_features), k)
        support = np.isin(np.arange(n_features), order[:n_own])
        selections[name] = Selection(order, support, None, data.feature_names, name)
    measures = {name: SimpleNamespace(nogueira=value) for name, value in stability.items()}
    return Study(data, selections, comparison=found, stability=measures)


def codes(best):
    return [reason.code for reason in best.reasons]


def test_the_least_error_wins_if_nothing_is_near():
    lines = [line("fisher", 0.05, 8), line("mrmr", 0.20, 2), line("all", 0.04, 20)]
    study = by_hand(lines, {"fisher": 0.8, "mrmr": 0.9})
    best = recommend(study)
    assert (best.method, best.size, best.kind) == ("fisher", 8, "chosen")
    assert best.features == [study.selections["fisher"].names[j] for j in
                             study.selections["fisher"].order[:8]]  # fmt: skip
    assert (best.error, best.low, best.high) == lines[0][6:9]
    assert codes(best)[:3] == ["least_error", "stable", "near_all"]


def test_of_equals_the_fewest_features_and_one_standard_error_is_the_limit():
    half = 0.03
    error = half / stats.t.ppf(0.975, 14)
    for step, wanted in ((0.99, "mrmr"), (1.01, "fisher")):
        lines = [line("fisher", 0.1, 8, half=half), line("mrmr", 0.1 + step * error, 2)]
        best = recommend(by_hand(lines, {"fisher": 0.8, "mrmr": 0.5}))
        assert best.method == wanted, step
    lines = [line("fisher", 0.0, 8, half=half), line("mrmr", 0.99 * error, 2)]  # cut at zero
    best = recommend(by_hand(lines, {"fisher": 0.8, "mrmr": 0.5}))
    assert best.method == "mrmr"
    assert codes(best)[:2] == ["fewest_within_interval", "fairly_stable"]
    values = best.reasons[0].values
    assert (values["best_method"], values["size"], values["n_equal"]) == ("fisher", 2, 2)
    lines[0] = lines[0]._replace(error=0.98, low=0.98 - half, high=1.0)  # cut at one
    lines[1] = lines[1]._replace(error=0.98 + 0.99 * error)
    assert recommend(by_hand(lines, {"fisher": 0.8, "mrmr": 0.5})).method == "mrmr"


def test_a_fragile_method_gives_way_to_a_steadier_one():
    lines = [line("fisher", 0.10, 2), line("mrmr", 0.105, 9)]
    best = recommend(by_hand(lines, {"fisher": 0.2, "mrmr": 0.6}))
    assert best.method == "mrmr"
    assert codes(best)[:2] == ["steadier", "fairly_stable"]  # it has more features, not fewer
    best = recommend(by_hand(lines, {"fisher": 0.2, "mrmr": 0.1}))
    assert best.method == "fisher" and codes(best)[:2] == ["least_error", "fragile"]


def test_a_method_of_its_own_size_is_measured_by_its_own_selections():
    lines = [line("cfs", 0.3, 5), line("cfs", 0.1, 3.5, kind="own"), line("fisher", 0.1, 9)]
    study = by_hand(lines, {"cfs": 0.1, "fisher": 0.6}, {"cfs": 0.9})
    best = recommend(study)
    assert (best.method, best.kind) == ("cfs", "own")
    # the features are those that it selects of all data, whatever the median of the splits
    support = study.selections["cfs"].support
    assert best.size == 3 == len(best.features)
    assert set(best.features) == {f"g{j}" for j in np.flatnonzero(support)}
    assert dict(best.reasons)["stable"] == {"nogueira": 0.9}
    study = by_hand(lines, {"cfs": 0.9, "fisher": 0.6}, {"cfs": 0.1})
    assert recommend(study).method == "fisher"


def test_baselines_failures_and_searches_without_a_ranking_are_not_recommended():
    lines = [line("all", 0.0, 20), line("random", 0.0, 1), line("mrmr", np.nan, 3)]
    assert recommend(by_hand(lines, {})) is None
    lines += [line("genetic", 0.01, 2), line("fisher", 0.3, 4)]
    study = by_hand(lines, {"genetic": 0.9, "fisher": 0.9})
    assert recommend(study).method == "fisher"
    del study.selections["fisher"]  # its ranking of all data failed
    assert recommend(study) is None
    assert recommend(Study(study.dataset, {})) is None


def test_warnings_among_the_reasons():
    near = {"fisher": 0.8}
    lines = [line("fisher", 0.30, 8, apparent=0.1), line("all", 0.10, 20), line("random", 0.31, 16)]
    best = recommend(by_hand(lines, near))
    assert codes(best) == [
        "least_error", "stable", "all_features_better", "no_better_than_random", "selection_bias"
    ]  # fmt: skip
    assert dict(best.reasons)["selection_bias"]["bias"] == pytest.approx(0.2)
    best = recommend(by_hand([line("fisher", 0.49, 8), line("random", 0.3, 17)], near))
    assert "no_signal" in codes(best) and "no_better_than_random" not in codes(best)
    assert dict(best.reasons)["no_signal"] == {"majority_error": 0.5}
    best = recommend(by_hand([line("fisher", 0.1, 8), line("all", 0.1, 20)], near))
    assert "not_worse_than_all" in codes(best)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_has_words(lang):
    for code in CODES:
        assert find_language(lang).has(f"reason_{code}"), code


# ---------------------------------------------------------------------------------- whole studies


@pytest.fixture(scope="module")
def study():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return make_study(
            table(gaps=True), ["fisher", "cfs"], sizes=[1, 8], cv=3, repeats=1, tune=GRID
        )


def test_the_error_is_the_comparisons_own_honest_line(study):
    best, found = study.recommended, study.comparison
    own = found.estimate(best.method, best.judge, best.kind)
    assert (best.error, best.low, best.high, best.apparent) == (
        own.error, own.low, own.high, own.apparent,
    )  # fmt: skip
    assert found.nested  # sizes come from the training parts


@pytest.mark.parametrize(("kind", "judge"), [("chosen", "svc-linear"), ("own", "tree")])
def test_the_report_card_repeats_the_honest_predictions(kind, judge):
    data = table(gaps=True, classes=2 if judge == "svc-linear" else 3)
    made = make_study(
        data, ["cfs" if kind == "own" else "fisher"], judge, sizes=[1, 8], cv=2, repeats=2,
        tune=GRID if judge == "svc-linear" else None, random_state=3,
    )  # fmt: skip
    best, found = made.recommended, made.comparison
    if best.kind != kind:
        made.recommended = best = SimpleNamespace(**{**vars(best), "kind": kind})
        from tamiz.reports._predictions import card_of

        made.card = card_of(made, 2, 2)
    errors = (found.own_errors if kind == "own" else found.nested_errors)[0, 0, :2]
    confusion = np.asarray(made.card.confusion)
    assert confusion.sum() == len(data.y)
    assert confusion.sum() - np.trace(confusion) == pytest.approx(errors @ found.n_test[:2])
    np.testing.assert_array_equal(confusion.sum(axis=1), np.bincount(data.y))


def test_the_pipeline_is_the_judge_that_was_compared(study):
    best = study.recommended
    rows = study.comparison.tuned[best.method][best.judge]
    place = -1 if best.kind == "own" else study.comparison.sizes.tolist().index(best.size)
    values = [row[place]["C"] for row in rows]
    assert values.count(best.params["C"]) == max(map(values.count, values))
    model = study.pipeline()
    assert best.params["C"] == model["judge"].C and model["judge"].kernel == "linear"
    fitted = model.fit(study.dataset.X, study.dataset.y)
    taken = fitted["select"].get_support(indices=True)
    assert {study.dataset.feature_names[j] for j in taken} == set(best.features)


QUICK = {"annealing", "genetic", "adaptive-scaling", "radius-margin", "kp-svm", "arom"}


@pytest.mark.parametrize("name", sorted(set(METHODS) - QUICK - {"random", "all", "rrelieff"}))
def test_pipelines_select_what_the_ranking_of_all_data_says(name):
    data = table(60, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selection = rank_all(data, [name], "standard", 0)[name]
        for size in (None, *((1, 3) if METHODS[name].ranks else ())):
            model = make_pipeline_for(data, name, "tree", size, "standard", 0)
            taken = model.fit(data.X, data.y)["select"].get_support(indices=True)
            wanted = np.flatnonzero(selection.support) if size is None else selection.order[:size]
            assert set(taken) == set(wanted), size


def test_sparse_tables_are_scaled_as_in_the_comparison():
    data = table(60, 6)
    data.X[np.median(data.X, axis=0) > data.X] = 0
    data.X = sparse.csr_matrix(data.X)
    made = make_study(data, ["fisher"], "svc-rbf", sizes=[2, 6], cv=3, repeats=1)
    scaler = made.pipeline()["scale"]
    assert (type(scaler).__name__, scaler.with_mean) == ("StandardScaler", False)
    confusion = np.asarray(made.card.confusion)
    errors = made.comparison.nested_errors[0, 0]
    wrong = confusion.sum() - np.trace(confusion)
    assert wrong == pytest.approx(errors @ made.comparison.n_test)


def test_without_selection_there_is_no_step_for_it():
    data = table(60, 6)
    model = make_pipeline_for(data, "all", "svc-linear", None, None, 0)
    assert list(model.named_steps) == ["fill", "judge"]
    with pytest.raises(ValueError, match="'all' takes every feature; leave out the number 2"):
        make_pipeline_for(data, "all", "svc-linear", 2, None, 0)


def test_a_method_that_fails_does_not_take_the_others_along(monkeypatch):
    from tamiz.filters import WelchT

    def fail(self, X, y=None):
        raise ValueError("no two classes are alike")

    monkeypatch.setattr(WelchT, "fit", fail)
    data = table(40, 6)
    with pytest.warns(RuntimeWarning, match="failures are left out"):
        made = make_study(data, ["fisher", "welch"], "tree", sizes=[2, 6], cv=2, repeats=1)
    assert made.recommended.method == "fisher"
    assert list(made.selections) == ["fisher"]
    assert any("welch failed: no two" in note for note in made.notes)
    with pytest.raises(ValueError, match="no two classes"):
        rank_all(data, ["welch"], None, 0)


def test_ctrl_c_in_the_last_rankings_keeps_the_comparison(monkeypatch):
    from tamiz.filters import MRMR

    def stop(self, X, y=None):
        if len(y) == 60:
            raise KeyboardInterrupt
        return MRMR.__bases__[0].fit(self, X, y)

    data = table(60, 6)
    notes = []
    monkeypatch.setattr(MRMR, "fit", stop)
    found = rank_all(data, ["fisher", "mrmr", "welch"], "standard", 0, notes=notes)
    assert list(found) == ["fisher"] and "Interrupted" in notes[0]
    with pytest.raises(KeyboardInterrupt):
        rank_all(data, ["mrmr"], "standard", 0)


def test_the_permutation_test_says_what_it_does_not_shuffle():
    made = make_study(
        table(60, 4), ["fisher"], "tree", sizes=[1, 4], cv=3, repeats=1, permutations=2
    )
    assert made.permutation.n_permutations == 2
    assert any("p-value is a little too small" in note for note in made.notes)
    for wrong in (-1, 2.5):
        with pytest.raises(ValueError, match="permutations="):
            make_study(table(60, 4), ["fisher"], permutations=wrong)


def test_plain_values_and_text(study):
    said = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    best = study.recommended
    assert said["recommended"]["features"] == best.features
    assert said["recommended"]["error"] == pytest.approx(best.error)
    assert [one["code"] for one in said["recommended"]["reasons"]] == codes(best)
    assert said["recommended"]["params"] == best.params
    assert said["rankings"].keys() == {"fisher", "cfs"}
    assert said["data"]["missing"] == int(np.isnan(study.dataset.X).sum()) > 0
    assert f"recommends {best.size} features by {best.method}" in repr(study)
    told = " ".join(summary(study))
    assert f"{100 * best.error:.1f}%" in told and best.features[0] in told


def test_a_study_without_comparison_recommends_nothing(study):
    bare = Study(study.dataset, study.selections)
    with pytest.raises(ValueError, match="recommends nothing"):
        bare.pipeline()
    assert bare.to_dict()["recommended"] is None
    with pytest.raises(ValueError, match="needs a target"):
        make_study(Dataset(np.zeros((4, 1)), None, ["a"]))
