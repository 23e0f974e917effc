"""The first section: the words fit the number of features and the kind of study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tamiz.reports import render, summary
from tests.reports.studies import StudyLike, full_study
from tests.reports.tree import read


def _words(study: StudyLike, lang: str) -> str:
    return read(render(study, lang)).one("summary").text


@pytest.mark.parametrize(
    ("lang", "one", "many"),
    [("en", "Recommended: 1 feature,", "these 2 features"), ("es", "1 característica,", "estas 2")],
)
def test_one_feature_is_not_these_features(lang, one, many):
    study = full_study()
    best = study.recommended
    single = replace(study, recommended=replace(best, size=1, features=best.features[:1]))
    double = replace(study, recommended=replace(best, size=2, features=best.features[:2]))
    assert one in _words(single, lang)
    assert one in " ".join(summary(single, lang))
    assert "these 1" not in _words(single, lang)
    assert "estas 1" not in _words(single, lang)
    assert many in _words(double, lang)


def _only_tuned() -> StudyLike:
    study = full_study()
    return StudyLike(study.dataset, {}, tuning=study.tuning)


def test_a_study_of_parameters_does_not_speak_of_features_that_were_ranked():
    study = _only_tuned()
    page = read(render(study))
    said = page.one("summary").text
    assert "ranked" not in said
    assert "With which parameters" in said
    assert f"{study.tuning.best_error:.3g}" in said
    assert f"of {len(study.tuning.cells)} combinations" in said
    assert page.all("h1")[0].text.startswith("Parameters of a machine")
    assert read(render(study, "es")).all("h1")[0].text.startswith("Parámetros de una máquina")


def test_a_study_with_both_is_one_of_features():
    page = read(render(full_study()))
    assert page.all("h1")[0].text.startswith("Feature selection")
    assert "With which parameters" not in page.one("summary").text


@pytest.mark.parametrize("status", ["interrupted", "time budget"])
def test_a_comparison_that_was_cut_short_says_so_first(status):
    study = full_study()
    assert "cut short" not in _words(study, "en")
    seconds = study.comparison.select_seconds.copy()
    seconds.flat[0] = np.nan
    short = replace(study.comparison, status=status, select_seconds=seconds)
    part = read(render(replace(study, comparison=short))).one("summary")
    warning = part.of_class("warn")[0].text
    assert f"{seconds.size - 1} of its {seconds.size} parts" in warning
    assert "se interrumpió" in _words(replace(study, comparison=short), "es")
