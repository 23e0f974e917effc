"""Whether features change over time, and what their values say, in the report."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tamiz.base import Selection
from tamiz.data import Dataset, load
from tamiz.evaluation import population_stability
from tamiz.information import WeightOfEvidence
from tamiz.reports import Study, render, summary
from tamiz.reports.language import LANGUAGES
from tests.reports.studies import DAYS as N
from tests.reports.studies import loans, make_study
from tests.reports.studies import ranked_study as study
from tests.reports.tree import Node, read

pytestmark = pytest.mark.ours


def section(one: Study, lang: str = "en") -> Node:
    return read(render(one, lang)).one("drift")


def has_section(one: Study) -> bool:
    return 'id="drift"' in render(one)


def cells(table: Node) -> list[list[str]]:
    """The body of a table as text."""
    rows = table.all("tbody")[0].all("tr")
    return [[cell.text for cell in row.all() if cell.name in ("th", "td")] for row in rows]


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("named", [False, True])
def test_the_indices_are_those_of_population_stability(lang, named):
    table = loans()
    one = study(table, time="day") if named else study(table)
    names = list(one.dataset.feature_names)
    coded = [name == "channel" for name in names]
    found = population_stability(
        one.dataset.X, time=table["day"].to_numpy(), categorical_features=coded, n_bins=5
    )
    words, part = LANGUAGES[lang], section(one, lang)
    rows = cells(part.of_class("shaded")[0])
    assert [row[0] for row in rows] == [names[k] for k in found.order]
    for row, k in zip(rows, found.order, strict=True):
        assert row[2:] == [words.fixed(v, 2) for v in found.values[:, k]]
    said = {row[0]: row[1] for row in rows}
    assert said["income"] == said["channel"] == words.of("change", "another")
    assert said["age"] == words.of("change", "stable")
    changed = [names[k] for k in found.order if f"x{k}" in found.changed]
    assert set(changed) == {"income", "channel"}
    assert words("drift_another", k=2, n=3, names=words.listed(changed)) in part.text
    assert words("drift_look") in part.text
    assert (words("drift_time", column="day") in part.text) != named
    assert "2022-01-01" in part.text and "00:00" not in part.text


def test_the_names_of_the_limits_stand_over_the_lines():
    part, words = section(study(loans())), LANGUAGES["en"]
    for chart in part.of_class("series")[0], part.of_class("series")[-1]:
        svg = next(s for s in part.all("svg") if chart in s.all())
        order = [n for n in svg.all() if n is chart or n.text == words("drift_mark_changed")]
        assert order[0] is chart and len(order) > 1


def test_rows_without_a_date_are_left_out_and_counted():
    table = loans()
    table.loc[table.index[:50], "day"] = pd.NaT
    text = section(study(table)).text
    assert "50 rows without a time are left out here." in text
    kept = section(study(table.iloc[50:])).of_class("shaded")[0]
    assert cells(section(study(table)).of_class("shaded")[0]) == cells(kept)


def test_stable_features_are_called_stable():
    rng = np.random.default_rng(1)
    quiet = loans(income=rng.normal(30, 6, N), channel=rng.choice(["a", "b"], N))
    part = section(study(quiet))
    words = LANGUAGES["en"]
    assert {row[1] for row in cells(part.of_class("shaded")[0])} == {words.of("change", "stable")}
    assert words("drift_stable", n=3) in part.text
    assert "None of the 3 selected features has changed" in part.text
    assert words("drift_look") not in part.text


@pytest.mark.parametrize("lang", ["en", "es"])
def test_what_is_said_of_selected_features_is_not_said_of_the_others(lang):
    """Age stays; income and the channel change, and were not selected."""
    one, words = study(loans()), LANGUAGES[lang]
    order = [one.dataset.feature_names.index(name) for name in ("age", "income", "channel")]
    ranked = Selection(
        np.array(order),
        np.isin(np.arange(3), order[:1]),
        -np.arange(3),
        one.dataset.feature_names,
        "f",
    )
    text = section(replace(one, selections={"f": ranked}), lang).text
    assert words("drift_stable_one") in text
    said = [
        words("drift_unselected", k=2, n=2, names=words.listed(names))
        for names in (["income", "channel"], ["channel", "income"])
    ]
    assert sum(sentence in text for sentence in said) == 1
    assert words("drift_unselected", k=2, n=2, names="").partition("(")[0] not in section(one).text


def test_of_many_selected_features_the_first_are_spoken_of():
    quiet = {f"s{j}": np.random.default_rng(j).normal(size=N) for j in range(29)}
    table = loans(**quiet).drop(columns=["income", "channel"])
    assert "None of the 30 selected features" in section(study(table)).text
    more = section(study(table.assign(last=np.random.default_rng(40).normal(size=N)))).text
    assert "None of the first 30 of the 31 selected features" in more


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ({"day": np.arange(N) / 7}, {}),  # numbers that nobody calls a time
        ({"day": ["03/04/2021", "05/06/2021"] * (N // 2)}, {}),  # day or month first
        ({"day": ["12:30", "13:45", "14:10"] * (N // 3)}, {}),  # of which day?
        ({"day": ["2022-01-01"] * N}, {}),
    ],
)
def test_without_times_there_is_no_section(changed, options):
    assert not has_section(study(loans(**changed), **options))
    assert has_section(study(loans(), **options))


@pytest.mark.parametrize("lang", ["en", "es"])
def test_several_columns_of_dates_have_no_section_until_one_is_named(lang):
    table = loans()
    table.insert(0, "birth_date", table["day"] - pd.to_timedelta(table["age"] * 365, unit="D"))
    one = study(table)
    one = replace(one, warnings=[w.to_dict() for w in one.dataset.warnings])
    words = LANGUAGES[lang]
    names = words.listed(["birth_date", "day"])
    assert 'id="drift"' not in render(one, lang)
    assert words("warning_date_which", names=names) in read(render(one, lang)).text
    assert "--time birth_date" not in render(one, lang)
    assert has_section(study(table, time="day"))


def test_few_rows_have_no_section():
    assert not has_section(study(loans().iloc[:79]))
    assert has_section(study(loans().iloc[:80]))


def test_numbers_that_the_user_calls_times_are_times():
    part = section(study(loans(day=np.arange(N)), time="day"))
    assert "compared with the first, 0 to 149" in part.text


def test_groups_are_not_advised_to_become_times():
    table = loans(group=np.arange(N) // 9)
    assert "--time day" not in section(study(table, groups="group")).text
    assert "--time day" in section(study(table.drop(columns="group"))).text


def test_a_study_warns_of_features_that_changed():
    """Of those that it recommends, in its own words, in those of the report and of a terminal."""
    quick = {"sizes": [2], "cv": 3, "repeats": 1, "fdr": None}
    tables = loans().drop(columns="channel"), loans(income=np.arange(N) % 40.0)
    for table, changed in zip(tables, (True, False), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = load(table[["day", "age", "income", "y"]], target="y")
            named = load(table[["day", "age", "income", "y"]], target="y", time="day")
        one = make_study(data, ["fisher"], "linear", **quick)
        assert sorted(one.recommended.features) == ["age", "income"]
        found = [w for w in one.warnings if w["code"] == "drift"]
        assert [w["columns"] for w in found] == [["income"]] * changed
        for lang in ("en", "es"):
            said = LANGUAGES[lang]("warning_drift_one", names="", dated="day").partition(":")[0]
            assert (said in read(render(one, lang)).one("summary").text) == changed
            assert any(said in sentence for sentence in summary(one, lang)) == changed
        if changed:
            assert "time='day'" in found[0]["text"]
            again = make_study(named, ["fisher"], "linear", **quick | {"repeats": None})
            text = next(w["text"] for w in again.warnings if w["code"] == "drift")
            assert "time='day'" not in text
            assert has_section(replace(again, recommended=None))  # what changes may not predict
        else:
            stable = LANGUAGES["en"]("drift_stable_best")
            assert stable in section(replace(one, recommended=None)).text


# ----------------------------------------------------------------------------------- evidence


@pytest.mark.parametrize("lang", ["en", "es"])
def test_information_values_and_weights_are_those_of_weight_of_evidence(lang):
    one = study(loans())
    data, words = one.dataset, LANGUAGES[lang]
    coded = [name == "channel" for name in data.feature_names]
    woe = WeightOfEvidence("frequency", n_bins=5, categorical_features=coded)
    woe.fit(data.X, data.y == "repaid")
    part = section(one, lang)
    table = next(t for t in part.all("table") if "shaded" not in (t.attributes.get("class") or ""))
    order = np.argsort(-woe.information_values_, kind="stable")
    rows = cells(table)
    assert [row[0] for row in rows] == [data.feature_names[k] for k in order]
    for row, k in zip(rows, order, strict=True):
        assert row[1] == words.fixed(woe.information_values_[k], 2)
        counts = woe.counts_[k][:-1]
        rate = counts[:, 1] / counts.sum(axis=1)
        most, least = (f"({words.in_percent(float(r), 0)})" for r in (rate.max(), rate.min()))
        assert row[3].endswith(most) and row[4].endswith(least)
    panels = part.of_class("panel")
    assert [panel.all("h3")[0].text for panel in panels] == [row[0] for row in rows]
    for panel, k in zip(panels, order, strict=True):
        drawn = [node.text for node in panel.all("text")]
        for weight in woe.weights_[k][:-1]:
            assert words.fixed(weight, 2, signed=True) in drawn
    channel = panels[[row[0] for row in rows].index("channel")]
    assert {"online", "branch"} <= {node.text for node in channel.all("text")}


def test_a_feature_that_says_all_is_to_be_checked_and_noise_says_nothing():
    rng = np.random.default_rng(2)
    table = loans(noise=rng.normal(size=N))
    table["late"] = (table["y"] == "default") + rng.normal(0, 0.2, N)
    part, words = section(study(table)), LANGUAGES["en"]
    table_of = next(t for t in part.all("table") if t.attributes.get("class") is None)
    said = {row[0]: row[2] for row in cells(table_of)}
    assert said["noise"] == words.of("tells", "none")
    assert said["late"] == words.of("tells", "suspect")
    assert "“late”" in part.text.split("above 0.5 it is worth checking")[0].split("What the")[1]


@pytest.mark.parametrize("lang", ["en", "es"])
def test_the_best_of_many_features_of_noise_tell_nothing(lang):
    """They were picked among 800 on the same rows: a limit for one feature does not hold."""
    rng = np.random.default_rng(7)
    n, p = 200, 800
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, p))
    values = WeightOfEvidence("frequency", n_bins=5).fit(X, y).information_values_
    data = Dataset(
        X,
        y,
        target_names=["no", "yes"],
        task="classification",
        extras={"time": np.arange(n)},
    )
    order = np.argsort(-values)
    best = Selection(order, np.isin(np.arange(p), order[:20]), values, data.feature_names, "f")
    part, words = section(Study(data, {"f": best}), lang), LANGUAGES[lang]
    table_of = next(t for t in part.all("table") if t.attributes.get("class") is None)
    assert [row[2] for row in cells(table_of)] == [words.of("tells", "none")] * 20
    assert words("evidence_chosen", k=20, n=800) in part.text
    assert words("evidence_chosen", k=3, n=3) not in section(study(loans()), lang).text


@pytest.mark.parametrize("kind", ["three classes", "regression"])
def test_other_targets_show_change_only(kind):
    table = loans()
    table["y"] = table["age"] + np.arange(N) / N
    if kind == "three classes":
        table["y"] = pd.qcut(table["y"] + table["income"], 3, labels=["a", "b", "c"]).astype(str)
    part = section(study(table))
    assert part.of_class("shaded") and not part.of_class("panel")
    assert LANGUAGES["en"]("evidence_heading") not in part.text


def test_missing_values_are_a_bin_and_many_levels_are_cut():
    rng = np.random.default_rng(3)
    table = loans(town=[f"town {k:02}" for k in rng.integers(0, 20, N)])
    table.loc[table.index[::4], "age"] = np.nan
    part = section(study(table))
    panels = {panel.all("h3")[0].text: panel for panel in part.of_class("panel")}
    assert "no value" in [node.text for node in panels["age"].all("text")]
    assert "no value" not in [node.text for node in panels["income"].all("text")]
    assert sum("town" in node.text for node in panels["town"].all("text")) == 8


def test_names_are_shown_as_they_are():
    evil = '<b onclick="boom()">'
    table = loans().rename(columns={"day": evil, "income": "<i>income</i>"})
    table["y"] = table["y"].replace("repaid", "<u>")
    part = section(study(table))
    assert evil in part.text and not part.all("b") and not part.all("i") and not part.all("u")
