"""The table of all subsets judged: every split's score, and what became of the subset."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB

from tamiz.search import (
    BackwardElimination,
    BestFirst,
    BranchAndBound,
    ExhaustiveSearch,
    ForwardSelection,
    GeneticSearch,
    SimulatedAnnealing,
)
from tests.search.cases import Table, marks, selected

X, Y = load_iris(return_X_y=True)
BY_ESTIMATOR = [
    BackwardElimination(GaussianNB()),
    BestFirst(GaussianNB()),
    BranchAndBound(GaussianNB(), criterion=None, monotone=True),
    ExhaustiveSearch(GaussianNB()),
    ForwardSelection(GaussianNB(), floating=True),
    GeneticSearch(GaussianNB(), N=6, G=3, random_state=0),
    SimulatedAnnealing(GaussianNB(), T0=0.1, T1=0.05, random_state=0),
]


@pytest.mark.parametrize("search", BY_ESTIMATOR, ids=lambda search: type(search).__name__)
@pytest.mark.filterwarnings("ignore:BranchAndBound. removing features raised")
def test_every_search_keeps_every_score(search):
    metrics = ("accuracy", "f1_macro")
    search.set_params(cv=3, scoring=metrics).fit(X, Y)
    table = search.evaluations_
    assert len(table) == search.n_evaluations_ == len(marks(search, "visit"))
    assert table.scores.shape == (len(table), 2, 3)
    splits = list(StratifiedKFold(3).split(X, Y))
    for i, (step, support) in enumerate(
        zip(marks(search, "visit"), table.support, strict=True)
    ):  # in the order in which they were asked for
        assert tuple(np.flatnonzero(support).tolist()) == step.features
        assert table.n_features[i] == step.n_features
        assert table.mean[i, 0] == pytest.approx(step.value)
        expected = cross_validate(GaussianNB(), X[:, support], Y, cv=splits, scoring=metrics)
        for m, metric in enumerate(metrics):
            np.testing.assert_array_equal(table.scores[i, m], expected[f"test_{metric}"])
    assert (np.diff(table.seconds) >= 0).all()
    [winner] = np.flatnonzero(table.selected)
    assert tuple(np.flatnonzero(table.support[winner]).tolist()) == selected(search)
    assert table.accepted.any()
    assert table.accepted[winner]
    frame = table.to_frame()
    assert frame.index.tolist() == list(range(1, len(table) + 1))
    own = [f"split{k}_f1_macro" for k in range(3)]
    np.testing.assert_allclose(frame["mean_f1_macro"], frame[own].mean(axis=1))
    np.testing.assert_allclose(frame["sd_f1_macro"], frame[own].std(axis=1), atol=1e-12)
    ranks = frame["mean_accuracy"].rank(ascending=False, method="min")
    assert frame["rank"].tolist() == ranks.tolist()
    names = np.array(["x0", "x1", "x2", "x3"])
    assert frame["features"].tolist() == [names[support].tolist() for support in table.support]
    assert json.loads(json.dumps(table.to_dict()))["number"][-1] == len(table)


def test_what_was_accepted():
    table = Table(5, 0)
    found = table.fit(ForwardSelection)
    judged = found.evaluations_
    steps = {tuple(np.flatnonzero(s).tolist()) for s in judged.support[judged.accepted]}
    assert steps == {tuple(point["features"].tolist()) for point in found.curve_}
    walk = table.fit(SimulatedAnnealing, T0=0.5, T1=0.05, random_state=1)
    current, ever = None, set()
    for step in marks(walk, "start", "accept"):
        current = set(step.features) if step.action == "start" else current ^ set(step.features)
        ever.add(tuple(sorted(current)))
    table = walk.evaluations_
    accepted = {tuple(np.flatnonzero(s).tolist()) for s in table.support[table.accepted]}
    assert accepted == ever
    assert not table.accepted.all()


def test_in_a_population_the_best_so_far_are_accepted():
    found = Table(6, 0).fit(GeneticSearch, N=8, G=4, random_state=0)
    table, best = found.evaluations_, -np.inf
    for i, value in enumerate(table.mean[:, 0]):
        assert table.accepted[i] == (value > best)
        best = max(best, value)


def test_after_a_resume_the_table_is_the_same(tmp_path):
    file = tmp_path / "run"
    whole = ForwardSelection(GaussianNB()).fit(X, Y).evaluations_
    with pytest.warns(ConvergenceWarning, match="out of time"):
        cut = ForwardSelection(GaussianNB(), checkpoint=file, time_budget=1e-9).fit(X, Y)
    assert len(cut.evaluations_) == 1
    resumed = ForwardSelection(GaussianNB(), checkpoint=file, resume=True).fit(X, Y).evaluations_
    for name in ("scores", "subsets", "accepted", "selected"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))


def test_an_interruption_keeps_the_table():
    with pytest.warns(ConvergenceWarning, match="interrupted after 4"):
        found = Table(6, 0, stop_after=4).fit(ForwardSelection)
    assert len(found.evaluations_) == 4
    assert found.evaluations_.features(3) == ["x3"]


def test_failures_are_missing_values():
    def fails(part, y):
        if part.shape[1] == 2:
            raise ValueError("pairs are forbidden")
        return float(part.shape[1])

    with pytest.warns(RuntimeWarning, match="could not be judged"):
        found = ExhaustiveSearch(criterion=fails, error_score="worst").fit(X, Y)
    table = found.evaluations_
    assert np.isnan(table.scores[table.n_features == 2]).all()
    assert table.rank[table.n_features == 2].tolist() == [10] * 6
    assert table.to_dict()["mean_fails"].count(None) == 6
    assert table.to_frame()["mean_fails"].isna().sum() == 6
    assert np.isnan(table.sd).all()  # of one split nothing is known


def test_fixed_features_and_groups_are_in():
    found = Table(6, 0).fit(
        ExhaustiveSearch, fixed_features=[5], feature_groups={"pair": [0, 1], "rest": [2, 3]}
    )
    support = found.evaluations_.support
    assert support[:, 5].all() and (support[:, 0] == support[:, 1]).all()
    assert len(support) == 8
    chosen = found.selection_.notes["groups"]
    assert chosen == [name for name, j in (("pair", 0), ("rest", 2)) if found.support_[j]]


def test_memory_and_copies():
    found = Table(9, 0).fit(ExhaustiveSearch).evaluations_
    assert len(found) == 511
    assert found.nbytes == 511 * (8 + 2 + 8 + 2)  # a score, nine bits, the time, two marks
    assert repr(found) == "<Evaluations: 511 subsets of 9 features, criterion on 1 split>"
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.scores, found.scores)
