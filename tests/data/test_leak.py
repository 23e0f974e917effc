"""Features that give the target away, and those that only help."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from tamiz.data import available, load
from tamiz.data.findings import leaks
from tamiz.data.named import SETS

RNG = np.random.default_rng(1)


def classes(n=400, k=3):
    return RNG.permutation(np.arange(n) % k)


def found(X, y, by_class=True, **names):
    return list(leaks(X, y, by_class, **names))


def test_copies_thresholds_and_levels():
    y = classes()
    noise = RNG.normal(size=len(y))
    X = np.column_stack(
        [
            noise,
            y * 10.0,  # the answer under another name
            y + 0.4 * np.tanh(noise),  # separated by two thresholds
            (y + 3 * RNG.integers(0, 4, len(y))).astype(float),  # each of 12 levels has one class
            y + noise,  # helps only
        ]
    )
    assert found(X, y) == [1, 2, 3]


def test_few_exceptions_do_not_clear_but_many_do():
    y = classes(3000, 2)
    noise = RNG.normal(size=(3000, 3))
    for flipped, leaking in ((1, True), (25, True), (60, False), (300, False)):
        column = y.astype(float)
        column[:flipped] = 1 - column[:flipped]
        how = leaks(np.column_stack([noise, column]), y, True)
        assert (3 in how) is leaking, flipped
    assert leaks(np.column_stack([noise, y]), y, True) == {3: "in every row"}
    column = y.astype(float)
    column[:7] = 1 - column[:7]
    assert leaks(np.column_stack([noise, column]), y, True) == {3: "in all but 7 of 3,000 rows"}


def test_an_easy_problem_is_no_leak():
    y = classes(200, 2)
    X = RNG.normal(size=(200, 6))
    X[:, 0] += 8 * y  # separates alone: suspicious ...
    assert found(X, y) == [0]
    X[:, 1] += 3.5 * y  # ... unless another column comes near
    assert found(X, y) == []
    X[:, 1] += 4.5 * y  # ... or does it too
    assert found(X, y) == []


def test_setosa_beside_versicolor_is_no_leak():
    iris = load("iris")
    assert found(iris.X[:100], iris.y[:100]) == []


def test_a_name_like_the_target_allows_more_exceptions():
    y = classes(600, 2)
    column = y.astype(float)
    column[:20] = 1 - column[:20]
    X = np.column_stack([RNG.normal(size=600), column])
    assert found(X, y, names=["age", "weight"], target="default") == []
    for name in ("default_date", "dateOfDefault", "Default"):
        assert found(X, y, names=["age", name], target="default") == [1]
    assert found(X, y, names=["age", "defaulted"], target="default") == []


def test_missing_cells_do_not_hide_a_leak():
    y = classes()
    column = y.astype(float)
    column[::5] = np.nan
    assert found(column[:, None], y) == [0]
    column[:300] = np.nan
    assert found(column[:, None], y) == []  # too little is left to say


def test_a_column_that_is_there_for_one_class_only_leaks():
    y = classes(400, 2)
    died = np.where(y == 1, RNG.normal(size=400), np.nan)  # months until death
    assert found(np.column_stack([RNG.normal(size=(400, 4)), died]), y) == [4]


def test_rare_class_among_many_rows():
    y = np.zeros(100_000, dtype=int)
    y[[77, 31234, 99_000, 5]] = 1
    X = np.column_stack([y * 2.5, RNG.normal(size=len(y))])
    assert found(X, y) == [0]


def test_distinct_values_are_no_leak():
    y = classes(100, 2)
    assert found(RNG.permutation(100).astype(float)[:, None], y) == []


def test_few_rows_and_wide_tables():
    y = np.array([0, 1] * 4)
    assert found(y[:, None].astype(float), y) == []  # eight people
    y = classes(40, 2)
    X = RNG.normal(size=(40, 100))
    X[:, 5] = y + 0.1 * RNG.random(40)  # separates, as some gene among thousands may
    X[:, 7] = 3.0 - y
    assert found(X, y) == [7]


def test_binary_columns_that_agree_by_chance_are_no_leak():
    rng = np.random.default_rng(0)
    y = np.array([0] * 18 + [1] * 2)
    X = (rng.random((20, 20_000)) < 0.1).astype(float)
    assert (y[:, None] == X).all(axis=0).any()  # some do
    assert found(X, y) == []


@pytest.mark.parametrize("change", [lambda y: 2 * y + 1, lambda y: -y, np.exp])
def test_regression(change):
    y = RNG.normal(size=1000)
    columns = [RNG.normal(size=1000), change(y), y + 0.01 * RNG.normal(size=1000), y + 0.3 * y**2]
    X = np.column_stack([*columns, *RNG.normal(size=(2, 1000))])
    how = leaks(X, y, False)
    assert list(how) == [1, 2]
    assert how[1] == "in every row" and how[2].startswith("squared correlation 0.999")


def test_regression_on_columns_that_are_all_near_is_no_leak():
    y = np.cumsum(RNG.normal(size=500)) + 100  # a price; its highest, lowest and first of the day
    X = y[:, None] + 0.05 * RNG.normal(size=(500, 3))
    assert found(X, y, False) == []


def test_regression_with_a_near_second_is_no_leak():
    y = RNG.normal(size=800)
    X = RNG.normal(size=(800, 12))
    X[:, 0] = y + 0.02 * X[:, 0]
    assert found(X, y, False) == [0]
    X[:, 1] = y + 0.05 * X[:, 1]
    assert found(X, y, False) == []


def test_one_class_has_nothing_to_leak():
    assert found(np.zeros((30, 1)), np.zeros(30)) == []


@pytest.mark.ours
@pytest.mark.parametrize("name", [name for name in available() if SETS[name].built_in])
def test_built_in_sets_hold_no_suspects(name):
    data = load(name, nrows=5000)
    assert not {"leak", "groups", "transposed"}.intersection(one.code for one in data.warnings)


def rows_of_patients(sick_by_patient=True):
    """240 rows of 40 patients; the target belongs to the patient, or to the row."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 6)
    sick = rng.integers(0, 2, 40)[patient] if sick_by_patient else rng.integers(0, 2, 240)
    cells = {"patient": [f"p{k}" for k in patient], "a": rng.standard_normal(240), "sick": sick}
    return pd.DataFrame(cells)


@pytest.mark.filterwarnings("ignore")
def test_a_column_that_says_which_rows_belong_together_is_reported():
    table = rows_of_patients()
    data = load(table, "sick", leaks="drop")
    assert "patient" in data.aside and data.roles["patient"] == "leak"
    (said,) = [one for one in data.warnings if one.code in ("leak", "groups")]
    assert said.code == "groups" and said.columns == ("patient",)
    assert "groups='patient'" in said.text and "40 values" in said.text
    assert "keep=" not in said.text  # which would lead to a model of these patients alone
    kept = load(table, "sick", leaks="drop", keep="patient")
    assert "patient" in kept.feature_names
    grouped = load(table, "sick", leaks="drop", groups="patient")
    assert not [one for one in grouped.warnings if one.code in ("leak", "groups")]
    shuffled = load(table.assign(sick=np.random.default_rng(1).permutation(table.sick)), "sick")
    assert "patient" in shuffled.feature_names


@pytest.mark.filterwarnings("ignore")
def test_groups_of_many_rows_are_reported_as_groups_too():
    """So few values beside the rows would be a leak like any other, were they not so mixed."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 60)
    table = pd.DataFrame({"person": person, "a": rng.standard_normal(1800)})
    data = load(table.assign(y=rng.integers(0, 2, 30)[person]), "y", leaks="drop")
    assert [(one.code, one.columns) for one in data.warnings] == [("groups", ("person",))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["patient", "customer_id", "Subject no", "visitorId", "cliente"])
@pytest.mark.parametrize("text", [True, False])
def test_a_feature_that_is_called_like_a_group_is_reported_whatever_the_classes(name, text):
    table = rows_of_patients(sick_by_patient=False)
    values = table.patient if text else 7 * table.patient.str[1:].astype(int) + 1000
    data = load(table.assign(patient=values).rename(columns={"patient": name}), "sick")
    assert name in data.feature_names
    (said,) = [one for one in data.warnings if one.code == "groups"]
    assert said.columns == (name,) and f"groups={name!r}" in said.text
    told = load(table.rename(columns={"patient": name}), "sick", roles={name: "categorical"})
    assert not [one for one in told.warnings if one.code == "groups"]


@pytest.mark.filterwarnings("ignore")
def test_no_more_is_said_of_a_group_than_its_name_says():
    table = rows_of_patients(sick_by_patient=False)
    codes = table.patient.str[1:].astype(int)

    def text_of(**columns):
        data = load(table.drop(columns="patient").assign(**columns), "sick")
        return [one.text for one in data.warnings if one.code == "groups"]

    (said,) = text_of(android_id=codes)
    assert said.startswith("The rows of a value may belong together: 'android_id' (40 values); it")
    assert "it is called like an identifier, and its values return." in said
    assert "a patient" not in said and said.endswith(" It is used as a feature.")
    (said,) = text_of(android_id=codes, tabletId=codes + 1000 * (codes % 2))
    assert "they are called like identifiers" in said and said.endswith("used as features.")
    (said,) = text_of(patient_id=codes)
    assert "(a patient, a customer)" in said and "its name says so, and its values return" in said
    assert len(text_of(patient_id=codes, android_id=codes + 1000 * (codes % 2))) == 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ward", "active_users", "persons", "patient_age"])
def test_other_features_whose_values_return_are_no_groups(name):
    table = rows_of_patients(sick_by_patient=False).rename(columns={"patient": name})
    assert not [one for one in load(table, "sick").warnings if one.code == "groups"]


def test_values_that_return_thousands_of_times_are_no_trouble():
    rng = np.random.default_rng(1)
    level = rng.integers(0, 12, 6000)
    table = pd.DataFrame({"level": level, "y": np.where(level % 3 == 0, "yes", "no")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table["noise"] = rng.standard_normal(6000)
        data = load(table, "y", leaks="drop")
    assert "level" in data.aside and "noise" in data.feature_names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["batch", "Plate_ID", "hospital", "lote", "Centro"])
def test_batches_are_pointed_out_by_their_name(name):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    table["sick"] = np.where(table.a > 0, "yes", "no")

    def said_of(values, **settings):
        data = load(table.assign(**{name: values}), "sick", **settings)
        return [one for one in data.warnings if one.code == "batches"]

    places = np.array(["north", "south", "west"])[rng.integers(0, 3, 90)]
    (said,) = said_of(places)
    assert said.columns == (name,) and f"adjust={name!r}" in said.text
    assert f"groups={name!r}" in said.text and "used as a feature" in said.text
    assert said_of(rng.integers(0, 5, 90)) and not said_of(rng.normal(size=90))
    (beside,) = said_of(places, groups="a")  # rows cannot be grouped twice
    assert f"adjust={name!r}" in beside.text and f"groups={name!r}" not in beside.text
    assert f"groups={name!r}" not in said_of(places, time="a")[0].text
    assert not said_of(places, groups=name) and not said_of(places, roles={name: "categorical"})
    assert not said_of(np.full(90, "north"))
