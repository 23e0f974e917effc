"""All rows, of which a study may hold a sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tamiz.base import Selection
from tamiz.data import Dataset
from tamiz.evaluation.study import Whole
from tamiz.reports import Study, render
from tests.reports.tree import read

NAMES = [f"f{j}" for j in range(6)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    X[:50, 4] = np.nan
    y = np.where(np.arange(500) % 5, "common", "rare")
    return Dataset(X, y, list(NAMES), ["common", "rare"], target="kind", task="classification")


def study_of(table, rows, held=(4, 2)):
    """A study that holds some rows of the features that are selected."""
    order = np.array([4, 2, 0, 1, 3, 5])
    selection = Selection(order, np.isin(np.arange(6), (4, 2)), np.arange(6.0), NAMES, "fisher")
    data = table.take(rows).keep([NAMES[j] for j in held])
    whole = replace(Whole.of(table), held=list(held), doubtful=[])
    return Study(data, {"fisher": selection}, seed=0, whole=whole)


def test_a_table_in_memory_is_its_own_whole(table):
    whole = Whole.of(table)
    assert (whole.n_rows, whole.n_features) == (500, 6)
    assert whole.class_counts == {"common": 400, "rare": 100}
    assert [whole.place(j) for j in range(6)] == list(range(6))
    assert whole.to_dict() == {
        "n_samples": 500,
        "n_features": 6,
        "classes": {"common": 400, "rare": 100},
        "missing": 50,
    }


def test_numbers_are_of_all_rows_and_pictures_of_the_sample(table):
    study = study_of(table, np.arange(0, 500, 7))
    page = read(render(study))
    said = page.one("data").text
    assert "400 · 80.0%" in said and "50 · 10.0%" in said
    assert "6 features" in page.one("summary").text and "500 rows" in page.one("summary").text
    panels = page.one("features").of_class("panel")
    assert [panel.all("h3")[0].text for panel in panels] == ["f4", "f2"]
    assert "50 missing in all rows" in panels[0].text
    assert study.to_dict()["data"]["classes"] == {"common": 400, "rare": 100}
    drawn = render(study)
    assert "Rows of the sample" in drawn and "In the sample: Medians" in drawn


def test_all_rows_are_no_sample(table):
    drawn = render(study_of(table, np.arange(500)))
    page = read(drawn)
    assert not page.of_class("sample")
    assert "Rows of the sample" not in drawn and "In the sample" not in drawn
    whole = Study(table, study_of(table, np.arange(500)).selections, seed=0)
    for key in ("summary", "ranking", "features", "data"):
        assert page.one(key).text == read(render(whole)).one(key).text


def test_a_feature_that_is_not_held_is_refused_by_name(table):
    with pytest.raises(ValueError, match="does not hold the feature 'f2'"):
        render(study_of(table, np.arange(0, 500, 7), held=(4, 0)))


def test_the_largest_classes_are_those_of_all_rows(table):
    y = np.array([f"c{k % 10}" for k in range(500)])
    y[:100] = "c9"  # by far the largest, and the smallest of the sample
    many = replace(table, y=y, target_names=sorted(set(y.tolist())))
    rows = np.sort(np.r_[[109], np.flatnonzero(y != "c9")[::2]])
    counts = dict(zip(*np.unique(y[rows], return_counts=True), strict=True))
    assert counts["c9"] == min(counts.values()) and len(counts) == 10
    keys = [n.text for n in read(render(study_of(many, rows))).one("features").of_class("key")]
    assert len(keys) == 8
    assert any(key.startswith("c9 (") for key in keys)
