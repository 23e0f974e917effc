"""The first section: answers, warnings and what must be read first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tamiz.evaluation.study import Reason, Study
from tamiz.evaluation.study.answers import find_answers
from tamiz.reports import make_study, reason_text, render, summary
from tamiz.reports.language import find_language
from tamiz.reports.page import Page
from tamiz.reports.sections.summary import build
from tests.reports.studies import full_study, other_study, small_table
from tests.reports.tree import Node, read

pytestmark = pytest.mark.ours


def _section(study: Study, lang: str = "en") -> Node:
    """The section alone: the whole page takes ten times as long."""
    return read(build(Page(study, find_language(lang))).body)


def _words(study: Study, lang: str = "en") -> str:
    return _section(study, lang).text


def test_equal_answers_are_shown_once():
    study = full_study()
    both = replace(study, most_accurate=replace(study.recommended, answer="most accurate"))
    cards = read(render(both)).of_class("answer")
    assert len(cards) == 1 and "Smallest, and most accurate too" in cards[0].text
    assert sum("; honest error" in line for line in summary(both)) == 1
    assert sum("; honest error" in line for line in summary(study)) == 2


@pytest.mark.parametrize("lang", ["en", "es"])
def test_without_signal_nothing_is_recommended_and_that_comes_first(lang):
    study = other_study("no signal")
    assert study.recommended is None
    page = read(render(study, lang))
    part = page.one("summary")
    first = part.of_class("warn")[0].text
    without = f"{100 * study.honest['without_features']:.1f}"
    assert without.replace(".", "," if lang == "es" else ".") in first
    assert part.text.index(first) < part.text.index(part.of_class("tiles")[0].text)
    assert not part.of_class("answer") and not part.of_class("names")
    ids = [node.attributes["id"] for node in page.all("section")]
    assert not {"features", "plane", "redundancy", "learning"} & set(ids)
    assert " ".join(first.split()) in " ".join(summary(study, lang))


def test_a_study_that_was_cut_short_counts_what_was_tested():
    study = other_study("cut short")
    rows = len(np.unique(study.predictions.rows))
    assert rows < study.dataset.n_samples
    part = read(render(study)).one("summary")
    assert f"come: 2 of 4, with which {rows} rows were tested." in part.of_class("warn")[0].text
    assert "cut short" not in _words(full_study())
    assert "se interrumpió" in _words(study, "es")


def test_methods_that_lack_a_split_are_named_where_a_study_was_cut_short():
    """Nobody reads that 4 of 4 splits are complete, and wonders what was cut short."""
    study = make_study(
        small_table(), ["fisher", "welch"], ["linear"], sizes=[2, 12], cv=4, repeats=1
    )
    found = replace(study.comparison, status="time budget")
    for table in (found.errors, found.own_errors, found.judge_seconds):
        table[found.methods.index("welch"), :, -1] = np.nan
    answers = find_answers(found, study.answers.constant)
    late = replace(study, comparison=found, answers=answers, status="cut short")
    said = _words(late)
    assert "cut short. Splits from which the numbers come: 4 of 4" in said
    assert "Not finished in all of them, and so out of the comparison: “welch”." in said
    assert "Failed" not in said
    found.judge_seconds[found.methods.index("welch"), :, -1] = 0.1  # tried, and without an error
    said = _words(late)
    assert "Failed, and so out of the comparison: “welch”." in said
    assert "Not finished" not in said
    assert "Con fallos, y por tanto fuera de la comparación: «welch»." in _words(late, "es")
    assert "out of the comparison" not in _words(other_study("cut short"))


def test_one_split_is_a_first_guess_and_no_promise():
    study = make_study(small_table(), ["fisher"], ["linear"], sizes=[2, 12], cv=4, repeats=1)
    found = replace(study.comparison, status="interrupted")
    for errors in (found.errors, found.own_errors):
        errors[:, :, 1:] = np.nan
        errors[:, :, :1] = np.where(np.isnan(errors[:, :, :1]), np.nan, 0.0)
    answers = find_answers(found, study.answers.constant)
    honest = {**study.honest, "error": answers.smallest.error, "low": np.nan, "high": np.nan,
              "n_splits": 1}  # fmt: skip
    early = replace(
        study, comparison=found, answers=answers, recommended=answers.smallest, honest=honest,
        most_accurate=answers.most_accurate, status="cut short", predictions=None, learning=None,
    )  # fmt: skip
    said = _words(early)
    assert "In the one split that was finished, the error is 0.0%: a first guess" in said
    assert "expect an error" not in said
    assert f"with {found.n_test[0]} samples, an error of up to about" in said  # no error was seen


def test_a_judge_with_a_curve_is_explained_where_a_plane_is_enough():
    study = full_study()
    values = {"best": "rbf", "difference": 0.001, "standard_error": 0.01}
    for judge, said in (("rbf", True), ("linear", False), ("svc-linear", False)):
        best = replace(study.recommended, judge=judge, reasons=[Reason("boundary_linear", values)])
        words = _words(replace(study, recommended=best, most_accurate=best))
        assert ("this answer is rbf all the same; --judge linear asks" in words) == said


@pytest.mark.parametrize(
    ("study", "words"),
    [(full_study, "no more than half a point: 2"), (None, "8 features and the same error: 2")],
)
def test_equal_errors_are_meant_in_the_unit_of_the_target(study, words):
    """A numeric target has no points."""
    study = other_study("regression") if study is None else study()
    values = {"n_alike": 2, "size": 8, "nogueira": 0.8, "frequency": 0.48}
    text = reason_text(study, study.recommended, Reason("most_recurrent", values))
    assert words in text
    assert "in the splits (0.80)" in text and "over all families of methods (48%)" in text


def test_a_study_that_finished_nothing_says_only_that():
    study = other_study("nothing finished")
    said = _words(study)
    assert "before any of its 4 splits was complete" in said
    assert "interval" not in said and "expect" not in said and "%" not in said
    assert "before any" in " ".join(summary(study))


def test_an_answer_of_a_size_that_no_split_chose_is_said():
    study = full_study()
    sizes = study.answers.nested["smallest"].sizes
    inside = replace(study, recommended=replace(study.recommended, size=int(sizes.max())))
    assert "splits" in _words(inside) and f", not {sizes.max()}" not in _words(inside)
    outside = replace(study, recommended=replace(study.recommended, size=int(sizes.max()) + 70))
    said = f"{sizes.max() + 70:.0f}: take the number as approximate"
    assert f", not {said}" in _words(outside)
    assert f", no {sizes.max() + 70:.0f}: tome el número" in _words(outside, "es")


def test_a_judge_that_was_left_out_is_named():
    study = full_study()
    one = {"what": "judge", "name": "rbf", "why": "no time", "flag": "--judge linear,rbf"}
    less = replace(study, plan=replace(study.plan, left_out=[one]))
    assert "the judge rbf. To include it: --judge linear,rbf" in _words(less)
    assert "el juez rbf" in _words(less, "es")


def test_an_interval_that_is_not_known_is_not_spoken_of():
    study = full_study()
    honest = {**study.honest, "low": np.nan, "high": np.nan, "pvalue": np.nan}
    best = replace(study.recommended, low=np.nan, high=np.nan)
    bare = replace(study, honest=honest, recommended=best, most_accurate=best)
    for said in (_words(bare), " ".join(summary(bare))):
        assert "interval" not in said.replace("the features", "") and "–" not in said


def _warned(code: str, columns: list[str], lang: str = "en") -> str:
    one = {"code": code, "columns": columns, "text": "Words of the program."}
    return _section(replace(full_study(), warnings=[one]), lang).of_class("warn")[0].text


@pytest.mark.parametrize(
    ("code", "columns", "words"),
    [
        ("leak", ["paid"], "Left out, since each alone gives the target away: “paid”"),
        ("leak", ["paid"], "--keep paid"),
        ("leak", ["mean area"], "Check that it is known before"),
        ("groups", ["patient"], "Left out: “patient”, since each value goes with one class"),
        ("groups", ["patient"], "the error given here is far too small: say --groups patient"),
        ("groups", ["mean area"], "it may say which rows belong together: “mean area”"),
        (
            "groups",
            ["mean area", "age"],
            "they may say which rows belong together: “mean area”, “",
        ),
        ("id", ["row id"], "Not used, since they look like identifiers"),
        ("id", ["mean area"], "but used as features"),
        ("transposed", ["GSM1"], "--transpose"),
        ("skew", ["diagnosis"], "is rare"),
        ("rows_dropped", ["diagnosis"], "Words of the program."),
    ],
)
def test_warnings_have_words(code, columns, words):
    assert words in _warned(code, columns)
    spanish = _warned(code, columns, "es")
    assert ("Words of the program" in spanish) == (code == "rows_dropped")


def test_one_column_is_spoken_of_in_the_singular():
    assert "Used as a feature" in _warned("groups", ["mean area"])
    assert "Usada como característica" in _warned("groups", ["mean area"], "es")
    assert "Excluida: " in _warned("groups", ["patient"], "es")
    assert "Excluidas: " in _warned("groups", ["patient", "visitor"], "es")


def test_a_balanced_error_and_weights_are_said():
    study = other_study("skewed")
    assert study.params["class_weight"] == "balanced"
    said = _words(study)
    assert (
        "(balanced error)" in said and "error is balanced" in said and "weight the classes" in said
    )
    assert "balanced" not in _words(full_study())


def test_row_limits_are_said_where_they_bite():
    study = full_study()
    most = int(np.max(study.comparison.n_train))
    for limit, said in ((most - 1, True), (most, False)):
        limits = {"judges": {"linear": limit}, "methods": {"fisher": limit}, "inner": limit}
        words = _words(replace(study, params={**study.params, "limits": limits}))
        assert ("The judge linear learns from no more than" in words) == said
        assert ("The method fisher looks at no more than" in words) == said
        assert ("chosen with no more than" in words) == said


def _only_tuned() -> Study:
    study = full_study()
    return Study(study.dataset, {}, tuning=study.tuning)


def test_a_search_for_parameters_that_was_cut_short_says_so():
    study = _only_tuned()
    assert "cut short" not in read(render(study)).text
    tuning = replace(study.tuning, interrupted=True)
    all_cells = len(tuning.cells)
    words = f"of {all_cells} cells, {all_cells} are complete"
    assert words in read(render(replace(study, tuning=tuning))).text


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


def test_names_stay_as_they_are_in_plain_text():
    study = full_study()
    one = {"code": "leak", "columns": ["a<b> &lt;"], "text": ""}
    assert "a<b> &lt;" in " ".join(summary(replace(study, warnings=[one])))
