"""Population stability: the formula, periods, chance, tables and pictures."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats

from tamiz.evaluation import population_stability
from tamiz.information import Discretiser
from tests.naive import evidence as naive


def table(n=900, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"income": rng.normal(size=n), "age": rng.normal(size=n)})
    frame["job"] = rng.choice(["a", "b"], n)
    frame.loc[n // 2 :, "income"] += 1.5
    frame.loc[::9, "age"] = np.nan
    return frame


def test_the_index_is_the_information_value_of_being_later():
    frame = table()
    first, later = frame[:500], frame[500:]
    got = population_stability(first, later, n_bins=7)
    cuts = Discretiser("frequency", n_bins=7).fit(first)
    codes = [cuts.transform(part).to_numpy() for part in (first, later)]
    when = [0] * 500 + [1] * 400
    want = [
        naive.information_value([*a.tolist(), *b.tolist()], when, 0.5)
        for a, b in zip(codes[0].T, codes[1].T, strict=True)
    ]
    np.testing.assert_allclose(got.values[0], want, atol=1e-12)
    assert got.names == ["income", "age", "job"]
    assert got.changed == ["income"]


def test_periods_hold_whole_days_in_their_order():
    frame = table()
    days = pd.date_range("2024-01-01", periods=90).repeat(10)
    order = np.random.default_rng(1).permutation(900)
    got = population_stability(frame, time=days, n_periods=3)
    mixed = population_stability(frame.iloc[order], time=days[order], n_periods=3)
    np.testing.assert_allclose(got.values, mixed.values)
    assert got.reference == "2024-01-01 to 2024-01-30"
    assert got.periods == ["2024-01-31 to 2024-02-29", "2024-03-01 to 2024-03-30"]
    assert got.n_rows.tolist() == [300, 300]
    np.testing.assert_allclose(
        got.values[1], population_stability(frame[:300], frame[600:]).values[0]
    )


@pytest.mark.parametrize("missing", [None, "u"])
@pytest.mark.parametrize("frames", [pd.DataFrame, pl.DataFrame, "array"])
def test_a_new_category_is_not_a_missing_value(frames, missing):
    first, later = ["u", missing] * 10, ["u", "z"] * 10
    if frames == "array":
        X, new = (np.array(part, dtype=object)[:, None] for part in (first, later))
    else:
        X, new = frames({"a": first}), frames({"a": later})
    got = population_stability(X, new, smoothing=0.5)
    bins = [0, 1 if missing is None else 0] * 10 + [0, 2] * 10
    expected = naive.information_value(bins, [0] * 20 + [1] * 20, 0.5)
    assert got.values[0, 0] == pytest.approx(expected)
    assert got.values[0, 0] > 1.0
    assert population_stability(X, X).values[0, 0] == 0.0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("value", [0.0, 2.5, -1e300])
def test_a_constant_that_changes_is_seen(kind, value):
    first, later = np.full((50, 2), value), np.full((50, 2), value)
    later[:, 0] = value / 2 + 1.0
    got = population_stability(kind(first), kind(later)).values[0]
    assert got[0] == pytest.approx(
        naive.information_value([0] * 50 + [1] * 50, [0] * 50 + [1] * 50, 0.5)
    )
    assert got[1] == 0.0
    one_row = population_stability(kind(first[:1]), kind(later)).values[0]
    assert one_row[0] > 0.25 and one_row[1] == 0.0


def test_one_population_has_what_chance_gives():
    rng = np.random.default_rng(0)
    found = [
        population_stability(rng.normal(size=(400, 5)), rng.normal(size=(300, 5)))
        for _ in range(40)
    ]
    mean = np.mean([one.values for one in found])
    assert mean == pytest.approx(np.mean([one.chance for one in found]), rel=0.15)
    values, limits = (
        np.concatenate(part)
        for part in zip(*((one.values[0], one.limit[0]) for one in found), strict=True)
    )
    assert np.mean(values > limits) <= 0.01  # one in a thousand is expected, of 200
    assert np.mean(values > stats.chi2.isf(0.1, 9) / stats.chi2.isf(1e-3, 9) * limits) > 0.05
    assert not any(one.changed for one in found)


def test_table_text_and_picture():
    pytest.importorskip("matplotlib").use("Agg")
    got = population_stability(table(), time=np.arange(900), n_periods=3)
    frame = got.to_frame()
    assert frame.shape == (6, 5)
    assert frame.set_index(["feature", "period"]).loc[("income", got.periods[1]), "index"] > 0.25
    assert repr(got).splitlines()[1].split()[0] == "feature"
    assert "income" in got._repr_html_()
    ax = got.plot(top=2)
    assert [line.get_label() for line in ax.get_lines()][:2] == [
        got.names[j] for j in got.order[:2]
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "either later"),
        ({"later": table(), "time": np.arange(900)}, "either later"),
        ({"time": np.zeros(900)}, "one moment only"),
        ({"time": np.arange(5)}, "time has 5 entries, X has 900"),
        ({"time": np.arange(900), "n_periods": 1}, "n_periods"),
        ({"later": table().drop(columns="age")}, "later lacks"),
        ({"time": np.full(900, np.nan)}, "time contains a missing value.*belongs to no period"),
        ({"time": np.zeros((900, 2))}, "time has shape"),
        ({"time": np.array(["a", 1] * 450, dtype=object)}, "time mixes text"),
        ({"time": ["01/02/2021", "02/01/2021"] * 450}, "time holds the text '01/02/2021'"),
        ({"time": pd.Series(["2024Q1", "2024Q2"] * 450)}, "time holds the text '2024Q1'"),
        ({"time": "when"}, r"time='when' is the name of a column; pass the column, frame\['when'"),
    ],
)
def test_bad_input_gets_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        population_stability(table(), **options)


@pytest.mark.parametrize("levels", ["zipf", "uniform"])
def test_categories_of_one_population_are_not_called_another(levels):
    """Levels that the reference lacks by chance are many; they are no change."""
    rng = np.random.default_rng(4)
    n_levels, n = 100, 600
    weights = 1.0 / np.arange(1, n_levels + 1) if levels == "zipf" else np.ones(n_levels)
    X = rng.choice(n_levels, (n, 10), p=weights / weights.sum())
    found = population_stability(X, time=np.arange(n), categorical_features=np.ones(10, bool))
    assert found.values.max() > 0.25  # as in nearly every column
    assert found.changed == []
    assert np.mean(found.values > found.limit) <= 0.02
    assert found.values.mean() == pytest.approx(found.chance.mean(), rel=0.1)


def test_a_category_that_replaces_another_is_a_change():
    first = np.repeat(np.arange(30), 10)[:, None]
    later = np.where(first < 10, 90, first)
    found = population_stability(first, later, categorical_features=[0])
    assert found.changed == ["x0"]


def test_categories_that_are_all_new_are_a_change_and_no_fault_of_a_period():
    """The months of a year: every period has its own."""
    months = pd.DataFrame({"month": np.repeat([f"m{k}" for k in range(6)], 100)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = population_stability(months, time=np.arange(600), n_periods=6)
    assert found.changed == ["month"]
    assert found.values.min() > 1.0


def test_categories_of_another_kind_are_warned_of_once():
    """Of two tables one may have been read as numbers, the other as text."""
    kinds = np.array([1, 2] * 50, dtype=object)
    first = pd.DataFrame({"a": kinds, "b": kinds, "c": kinds})
    later = first.assign(a=[str(v) for v in kinds], b=[f"{v}.0" for v in kinds])
    with pytest.warns(UserWarning, match="one new category together") as told:
        found = population_stability(first, later, categorical_features=["a", "b", "c"])
    assert [str(w.message).count("later") > 0 for w in told] == [True]
    said = str(told[0].message)
    assert "'a', 'b'" in said and "'c'" not in said and "fit" not in said
    assert sorted(found.changed) == ["a", "b"]


def test_a_later_table_of_other_columns_is_named_by_them():
    """No one has called fit."""
    frame = table()
    cases = [
        (frame.drop(columns="age"), "later lacks 'age'"),
        (frame.assign(town="x"), "later has also 'town'"),
    ]
    for later, words in cases:
        with pytest.raises(ValueError, match=words) as told:
            population_stability(frame, later)
        assert "fit" not in str(told.value)
