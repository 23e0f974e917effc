"""Features that come back in the halves of the rows of a study."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from tamiz.data import load
from tamiz.discovery import StabilitySelection, stability_bound
from tamiz.evaluation.comparison.compare import run_comparison
from tamiz.evaluation.study import make_study
from tamiz.evaluation.study.standing import StudyHalves, find_standing
from tamiz.filters import FisherScore
from tamiz.reports import render, summary
from tamiz.reports.language import LANGUAGES
from tamiz.reports.page import Page
from tamiz.reports.sections.standing import feature_sentences
from tamiz.reports.sections.standing import said as said_of_standing

FAST = {"judges": "linear", "sizes": [2, 5], "cv": 3, "repeats": 1, "tune": None}


def signal(n=120, p=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = (X[:, 3] + X[:, 7] + 0.5 * rng.standard_normal(n) > 0).astype(int)
    return X, y


def compared(X, y, methods, **options):
    given = {"sizes": [2], "cv": 3, "repeats": 1, "apparent": "rank", "random_state": 0}
    return run_comparison(X, y, methods, **{**given, **options})


def standing_of(X, y, methods, fdr=0.1, **options):
    found, setting = compared(X, y, methods, **options)
    return find_standing(setting, found, methods[0], fdr, 60.0, None)


def test_one_method_equals_stability_selection():
    X, y = signal()
    ours = standing_of(X, y, ["fisher"], scale=None)
    other = StabilitySelection(FisherScore(), fdr=0.1, random_state=0).fit(X, y)
    assert ours.n_halves == 2 * other.n_pairs_
    # other halves are drawn, so that frequencies differ as two samples of them do
    path = other.frequency_path()[ours.sizes["fisher"] - 1]
    assert np.abs(ours.frequencies["fisher"] - path).max() < 0.2
    assert sorted(ours.features) == other.get_support(indices=True).tolist() == [3, 7]


def test_the_rate_is_divided_among_the_methods():
    X, y = signal()
    found = standing_of(X, y, ["fisher", "relieff", "mrmr"])
    assert set(found.frequencies) == {"fisher", "relieff", "mrmr"}
    expected, kept = 0.0, set()
    for name, least in found.thresholds.items():
        reached = np.flatnonzero(found.frequencies[name] >= least - 1e-9)
        pairs, q = found.n_halves // 2, found.sizes[name]
        bound = stability_bound(q, 40, least, n_pairs=pairs, assumption="unimodal")
        assert bound <= 0.1 / 3 * len(reached)
        expected, kept = expected + bound, kept | set(reached.tolist())
    assert set(found.features) == kept >= {3, 7}
    assert found.bound == pytest.approx(expected) and found.bound <= 0.1 * len(kept)


def test_noise_gives_nothing():
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(6):
        X, y = rng.standard_normal((60, 30)), np.arange(60) % 2
        named += len(standing_of(X, y, ["fisher"]).features)
    assert named <= 2


def test_copies_are_taken_at_random_whatever_their_place():
    X, y = signal()
    X = np.column_stack([np.repeat(X[:, [3]], 6, axis=1), X[:, 10:]])
    often = standing_of(X, y, ["fisher"]).frequencies["fisher"][:6]
    assert often.min() > 0.5 * often.max()


def test_families_agree_on_what_each_has_in_most_halves():
    X, y = signal()
    found = standing_of(X, y, ["fisher", "rfe", "relieff"])
    assert found.families == {"filter": ["fisher", "relieff"], "embedded": ["rfe"]}
    filters = (found.frequencies["fisher"] > 0.5) | (found.frequencies["relieff"] > 0.5)
    both = np.flatnonzero(filters & (found.frequencies["rfe"] > 0.5))
    assert sorted(found.agreed) == both.tolist() and {3, 7} <= set(found.agreed)
    # the two filters have one vote, as the elimination has
    places = {name: rankdata(-own) for name, own in found.frequencies.items()}
    votes = np.array([(places["fisher"] + places["relieff"]) / 2, places["rfe"]])
    votes = rankdata(votes, "max", axis=1)
    np.testing.assert_array_equal(found.consensus.ranks, votes)
    assert set(found.agreed[:2]) == {3, 7} == set(found.consensus.order[:2].tolist())


def test_a_category_counts_as_one_feature():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 150)
    table = pd.DataFrame(rng.standard_normal((150, 12)), columns=[f"x{k}" for k in range(12)])
    table["colour"], table["buys"] = colour, np.where(colour == "red", "yes", "no")
    table.loc[:20, "buys"] = "no"
    study = make_study(load(table, "buys", leaks="keep"), ["fisher", "mrmr"], **FAST)
    assert [study.dataset.feature_names[j] for j in study.standing.features] == ["colour"]


def test_rows_of_a_group_stay_together():
    X, y = signal(n=80)
    groups = np.arange(80) // 4
    _, setting = compared(X, y, ["fisher"], groups=groups)
    work = StudyHalves.of(setting)
    for part in (work.halves.pair(0, 0), work.halves.pair(0, 1)):
        assert not set(groups[part[0]]) & set(groups[part[1]])


def test_neighbours_in_time_stay_together():
    """With times, twenty blocks of neighbours are dealt, whatever the order of the rows."""
    X, y = signal(n=80)
    times = np.random.default_rng(1).permutation(80)
    _, setting = compared(X, y, ["fisher"], groups=times, cv=TimeSeriesSplit(3))
    work = StudyHalves.of(setting)
    blocks = times // 4
    for b in range(3):
        one, other = work.halves.pair(0, b)
        assert len(one) and len(other)
        for half in (one, other):
            assert set(np.unique(blocks[half], return_counts=True)[1].tolist()) == {4}


def test_groups_of_a_splitter_of_groups_are_groups():
    X, y = signal(n=80)
    groups = np.array([f"g{k:02}" for k in np.random.default_rng(0).permutation(80) // 2])
    _, setting = compared(X, y, ["fisher"], groups=groups, cv=GroupKFold(3))
    work = StudyHalves.of(setting)
    one, other = work.halves.pair(0, 0)
    assert work.by == "groups" and not set(groups[one]) & set(groups[other])
    # each group is dealt by itself, and not with its neighbours in the alphabet
    in_one = np.isin([f"g{k:02}" for k in range(40)], groups[one])
    assert (in_one[::2] != in_one[1::2]).any()


@pytest.mark.parametrize(
    ("column", "extras", "en", "es"),
    [
        ("rows", {}, "50 times, at random, and", "mitades, al azar, y"),
        ("groups", {"groups": "house"}, "the rows of one group are never in", "filas de un grupo"),
        ("times", {"time": "day"}, "whole blocks of time", "bloques de tiempo enteros"),
    ],
)
def test_the_report_says_what_is_dealt_to_the_halves(column, extras, en, es):
    X, y = signal(n=180, p=10)
    table = pd.DataFrame(X).assign(ill=y)
    for name in extras.values():
        table[name] = np.arange(180) // 3
    study = make_study(load(table, "ill", leaks="keep", **extras), ["fisher"], **FAST)
    assert study.to_dict()["standing"]["halves_by"] == column
    assert en in render(study) and es in render(study, "es")


def test_nothing_is_said_without_time_or_rows():
    X, y = signal()
    found, setting = compared(X, y, ["fisher"])
    assert find_standing(setting, found, "fisher", 0.1, 0.0, None) is None


def test_methods_that_there_is_no_time_for_are_named():
    found, setting = compared(*signal(), ["fisher", "welch"])
    found.select_seconds[1] = 1e6  # as by a clock that jumped
    standing = find_standing(setting, found, "fisher", 0.1, 60.0, None)
    assert list(standing.frequencies) == ["fisher"] and standing.left_out == ["welch"]


@pytest.fixture(scope="module")
def study():
    X, y = signal()
    table = pd.DataFrame(X, columns=[f"gene <{k}>" for k in range(40)]).assign(ill=y)
    return make_study(load(table, "ill"), ["fisher", "rfe"], **FAST)


def test_workers_do_not_change_the_answer(study):
    X, y = signal()
    table = pd.DataFrame(X, columns=[f"gene <{k}>" for k in range(40)]).assign(ill=y)
    other = make_study(load(table, "ill"), ["fisher", "rfe"], n_jobs=2, **FAST).standing
    for name, one in study.standing.frequencies.items():
        np.testing.assert_array_equal(one, other.frequencies[name])


@pytest.mark.parametrize(
    ("lang", "words", "line"),
    [
        ("en", "You can stand behind <b>2 features", "false discoveries up to 10%: 2 features"),
        ("es", "Puede respaldar <b>2", "hallazgos falsos hasta el 10"),
    ],
)
def test_the_report_names_them(study, lang, words, line):
    page = render(study, lang)
    assert words in page
    assert 'id="standing"' in page and "gene &lt;3&gt;" in page and "gene <3>" not in page
    said = " ".join(summary(study, lang))
    assert line in said and ("gene <3>, gene <7>" in said or "gene <7>, gene <3>" in said)


@pytest.mark.parametrize(
    ("lang", "words", "all_agree"),
    [
        ("en", "is among the first", "Every family of methods has it in most halves."),
        ("es", "primeras de", "Todas las familias de métodos la tienen"),
    ],
)
def test_each_feature_has_a_sentence(study, lang, words, all_agree):
    standing = study.standing
    page = Page(study, LANGUAGES[lang])
    said = feature_sentences(page)
    assert len(said) == len(standing.features) == 2
    for j, text in zip(standing.features, said, strict=True):
        best = max(standing.frequencies[name][j] for name in standing.keeps(j))
        assert page.feature(j) in text and words in text and all_agree in text
        assert page.lang.in_percent(float(best), 0) in text
        assert text in render(study, lang)


@pytest.mark.parametrize("lang", ["en", "es"])
def test_families_are_told_apart_by_their_methods(study, lang):
    asked = study.standing.frequencies
    study.standing.frequencies = asked | {"relieff": asked["fisher"]}
    said = str(said_of_standing(Page(study, LANGUAGES[lang]))[1])
    study.standing.frequencies = asked
    assert "(fisher, relieff; rfe)" in said


def test_the_sentence_says_which_families_do_not_agree(study):
    standing = study.standing
    kept = standing.frequencies["rfe"]
    standing.frequencies["rfe"] = np.zeros(40)
    said = feature_sentences(Page(study, LANGUAGES["en"]))
    standing.frequencies["rfe"] = kept
    assert "1 of 2 methods" in said[0]
    assert "it is selected by filters, and not by machines that select" in said[0]


@pytest.mark.parametrize(
    ("lang", "first", "instead"),
    [("en", "the first of", "first 1 of"), ("es", "la primera de", "las 1 primeras")],
)
def test_a_single_feature_of_each_half_is_the_first(study, lang, first, instead):
    standing = study.standing
    kept, standing.sizes = standing.sizes, dict.fromkeys(standing.sizes, 1)
    page = Page(study, LANGUAGES[lang])
    said = [*map(str, said_of_standing(page)), *map(str, feature_sentences(page))]
    standing.sizes = kept
    assert all(first in text for text in (said[0], said[-1]))
    assert not any(instead in text for text in said)


def with_standing(study, **changes):
    other = copy.copy(study)
    other.standing = dataclasses.replace(study.standing, **changes)
    return other


def test_none_is_said_too(study):
    none = with_standing(study, features=[])
    said, page = " ".join(summary(none)), render(none)
    assert "false discoveries up to 10%: none" in said
    assert "No feature comes back often enough" in page


def test_what_is_enough_for_one_feature_is_the_least_number_that_keeps_the_bound(study):
    for q in (1, 2, 5):
        least = with_standing(study, sizes={"fisher": q}).standing.needed_alone("fisher")
        bounds = [stability_bound(q, 40, share, n_pairs=50) for share in (least, least - 0.01)]
        assert bounds[0] <= 0.1 / 2 < bounds[1]


@pytest.mark.parametrize(
    ("lang", "size", "words"),
    [
        ("en", 1, "one alone would have to be the first of a method in 63% or more"),
        ("en", 2, "one alone would have to be among the first 2 of a method in 89% or more"),
        ("en", 6, "one alone would have to be among the first 6 of a method in every half"),
        ("en", 20, "not even every half of the rows would be enough"),
        ("es", 2, "una sola tendría que quedar entre las 2 primeras de un método en el 89"),
        ("es", 6, "entre las 6 primeras de un método en todas las mitades"),
        ("es", 20, "no bastarían ni todas las mitades"),
    ],
)
def test_where_there_is_none_the_reader_learns_what_would_be_enough(study, lang, size, words):
    none = with_standing(study, features=[], sizes=dict.fromkeys(study.standing.sizes, size))
    said = str(said_of_standing(Page(none, LANGUAGES[lang]))[0])
    assert words in said and "100%" not in said
    assert words in " ".join(" ".join(summary(none, lang)).split())


@pytest.mark.parametrize(
    ("lang", "every"), [("en", "of fisher in every half"), ("es", "de fisher en todas las mitades")]
)
def test_a_hundred_per_cent_is_every_half(study, lang, every):
    sure = with_standing(study, thresholds={"fisher": 1.0})
    said = str(said_of_standing(Page(sure, LANGUAGES[lang]))[0])
    assert every in said and "100%" not in said


def test_json_and_off(study):
    found = study.to_dict()["standing"]
    assert sorted(found["features"]) == ["gene <3>", "gene <7>"] and found["fdr"] == 0.1
    assert found["expected_by_chance"] <= 0.2 and set(found["thresholds"]) <= {"fisher", "rfe"}
    X, y = signal()
    table = pd.DataFrame(X).assign(ill=y)
    without = make_study(load(table, "ill"), ["fisher"], fdr=None, **FAST)
    assert without.standing is None and without.to_dict()["standing"] is None
    with pytest.raises(ValueError, match=r"fdr=1\.5 must be a number between 0 and 1"):
        make_study(load(table, "ill"), ["fisher"], fdr=1.5, **FAST)
