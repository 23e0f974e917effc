"""A study and its report: the numbers of the page are those of the comparison behind it."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from tamiz.data import Dataset
from tamiz.evaluation.methods import METHODS
from tamiz.evaluation.study import Study, make_pipeline_for
from tamiz.reports import reason_text, summary
from tests.reports.studies import full_study, make_study, other_study, small_table

pytestmark = pytest.mark.ours


def test_the_honest_error_is_that_of_choosing_inside_every_training_part():
    study = full_study()
    nested = study.answers.nested["smallest"]
    found, splits = study.comparison, nested.contest.splits
    error = np.average(nested.errors, weights=found.n_test[splits])
    assert study.honest["error"] == study.recommended.error == pytest.approx(error)
    for k, place in enumerate(nested.chosen.tolist()):
        m, j, c = nested.contest.places[place]
        table = found.own_errors[m, j] if c < 0 else found.errors[m, j, :, c]
        assert nested.errors[k] == table[splits[k]]


@pytest.mark.parametrize("kind", ["full", "three classes"])
def test_the_report_card_repeats_the_honest_predictions(kind):
    study = full_study() if kind == "full" else other_study(kind)
    assert study.honest["metric"] == "error"
    confusion = np.asarray(study.card.confusion)
    wrong = confusion.sum() - np.trace(confusion)
    assert wrong / confusion.sum() == pytest.approx(study.honest["error"])
    counts = study.dataset.class_counts
    assert confusion.sum(axis=1).tolist() == [counts[name] for name in study.card.classes]


def test_plain_values_carry_what_the_page_says():
    study = full_study()
    said = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    best = study.recommended
    assert said["recommended"]["features"] == best.features
    assert said["honest"]["error"] == pytest.approx(study.honest["error"])
    assert [one["code"] for one in said["recommended"]["reasons"]] == [
        one.code for one in best.reasons
    ]
    text = " ".join(" ".join(summary(study)).split())
    for one in best.reasons:
        assert reason_text(study, best, one) in text
    assert all(name in text for name in best.features)


def test_a_summary_is_short():
    for study in (full_study(), *map(other_study, ("skewed", "regression", "no signal"))):
        lines = summary(study)
        assert len(lines) <= 37 and max(map(len, lines)) <= 88


def test_a_study_without_comparison_recommends_nothing():
    study = full_study()
    bare = Study(study.dataset, study.selections)
    with pytest.raises(ValueError, match="recommends nothing"):
        bare.pipeline()
    assert bare.to_dict()["recommended"] is None
    assert "no error was measured" in " ".join(summary(bare))
    with pytest.raises(ValueError, match="needs a target"):
        make_study(Dataset(np.zeros((4, 1)), None, ["a"]))


# ------------------------------------------------------------------ pipelines and rankings

SLOW = {"annealing", "genetic", "adaptive-scaling", "radius-margin", "kp-svm", "arom"}
OTHERS = {"random", "all", "rrelieff"}


def numbers() -> Dataset:
    """Sixty rows of six numbers."""
    data = small_table(60)
    return data.keep([name for name in data.feature_names[:7] if name != "mean area"])


@pytest.mark.parametrize("name", sorted(set(METHODS) - SLOW - OTHERS))
def test_pipelines_select_what_the_ranking_of_all_data_says(name):
    data = numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = make_pipeline_for(data, "all", "tree", None, "standard", 0)[:-1].fit_transform(data.X)
        selector = make_pipeline_for(data, name, "tree", None, "standard", 0)["select"]
        selection = selector.fit(Z, data.y).selection_
        for size in (None, *((1, 3) if METHODS[name].ranks else ())):
            model = make_pipeline_for(data, name, "tree", size, "standard", 0)
            taken = model.fit(data.X, data.y)["select"].get_support(indices=True)
            wanted = np.flatnonzero(selection.support) if size is None else selection.order[:size]
            assert set(taken) == set(wanted), size


def test_without_selection_there_is_no_step_for_it():
    model = make_pipeline_for(numbers(), "all", "svc-linear", None, None, 0)
    assert list(model.named_steps) == ["fill", "judge"]
    with pytest.raises(ValueError, match="'all' takes every feature; leave out the number 2"):
        make_pipeline_for(numbers(), "all", "svc-linear", 2, None, 0)
