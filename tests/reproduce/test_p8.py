"""P8: the published counts, the tests of the tree, and a small form of the recipe."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tamiz.evaluation import reproduce
from tamiz.reproduce import p8
from tamiz.reproduce.base import claim_above


def test_published_numbers():
    assert p8.COUNTS["all"] == (2201, 711, 67.7)
    assert p8.COUNTS["women"] == (470, 344, 73.2) and p8.COUNTS["men"] == (1731, 367, 78.8)
    assert list(p8.TESTS.values()) == ["sex", "age", "class"]


def test_the_text_comes_back_as_it_was_told():
    part = p8.Everyone()
    found = part.repeat(part.prepare(True, 0), 0)
    json.dumps(found)
    assert found["all"][:2] == [2201, 711] and found["women"][:2] == [470, 344]
    assert found["women of the third class"] == pytest.approx(100 * 90 / 196)
    assert {which: found[which] for which in p8.TESTS} == p8.TESTS
    assert all(line.inside for line in part.rows([found], True))
    wrong = {**found, "first test": "age", "men": [1731, 368, 78.7], "other women": 89.0}
    outside = [line.what for line in part.rows([wrong], True) if not line.inside]
    assert outside == ["men", "men", "other women", "first test: age"]


def test_the_tests_are_found_whichever_side_they_stand_on():
    ready = p8.people()
    assert ready.levels["sex"] == ["female", "male"]
    swapped = ready.X.copy()
    sex = ready.names.index("sex")
    swapped[:, sex] = 1 - swapped[:, sex]  # codes the other way round
    other = ready._replace(X=swapped, levels={**ready.levels, "sex": ["male", "female"]})
    for people in (ready, other):
        assert p8.first_tests(p8.grown(people.X, people.survived), people) == p8.TESTS
    noise = np.random.default_rng(0).random(len(ready.X)) < 0.5
    asked = p8.first_tests(p8.grown(ready.X, noise), ready)  # a tree that is about something else
    assert set(asked) == set(p8.TESTS)


def test_a_small_form():
    found = reproduce("P8", repeats=6, random_state=1)
    again = reproduce("P8", repeats=6, random_state=1)
    assert found.rows == again.rows and found.repeats["resampled"] == 6
    group = "fraction of the resamples"
    fractions = {line.what: line for line in found.rows if line.group == group}
    assert fractions["first test: sex"].mean == 1.0
    assert all(line.inside is None for line in fractions.values())  # nothing is published
    depth = {line.what: line.mean for line in found.rows if line.group == "mean depth"}
    assert depth["pruned tree"] < depth["full tree"]


def test_differences_are_judged_by_the_interval_of_their_mean():
    assert claim_above("x", [1.0, 1.1, 0.9], group="g").inside is True
    assert claim_above("x", [-1.0, -1.1, -0.9], group="g").inside is False
    assert claim_above("x", [-1.0, 1.0, 0.1], group="g").inside is None
    assert claim_above("x", [1.0], group="g").inside is None


def test_no_row_grows_prunes_and_tests_the_same_tree():
    seen: dict[str, list] = {"fit": [], "prune": [], "predict": []}

    class Spy(p8.CARTClassifier):
        def fit(self, X, y):
            seen["fit"] += X[:, 0].tolist()
            return super().fit(X, y)

        def prune(self, X, y):
            seen["prune"] += X[:, 0].tolist()
            return super().prune(X, y)

        def predict(self, X):
            seen["predict"].append(X[:, 0].tolist())
            return super().predict(X)

    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(200.0), rng.normal(size=200)])
    y = X[:, 1] > 0.7
    values = p8.Pruning(Spy).repeat((X, y), 3)
    tested = seen["predict"][0]
    assert len(seen["predict"]) == 3 and all(part == tested for part in seen["predict"])
    assert sorted(seen["fit"] + seen["prune"] + tested) == list(range(200))
    assert values["root"] == pytest.approx(y[np.array(tested, dtype=int)].mean())
    assert values["pruned"] < values["root"] and 0 < values["pruned depth"] <= values["full depth"]
