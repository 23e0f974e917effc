"""From columns to a data set: what is set aside, warned of, encoded, guessed."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from tamiz.data import DataError, DataWarning, load

N = 60
RNG = np.random.default_rng(2)


def frame(**columns):
    base = {"a": RNG.normal(size=N), **columns, "y": np.arange(N) % 2}
    return pd.DataFrame(base)


def quietly(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load(*args, **kwargs)


def test_plain_tables_bring_no_warning():
    data = quietly(frame(b=RNG.normal(size=N)))
    assert data.notes == []
    assert data.aside == {}


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        ([f"s{k}" for k in range(N)], "id"),
        (np.arange(N) + 5, "id"),
        ([f"word by word {k}" for k in range(N)], "text"),
        ([f"2020-01-{1 + k % 28:02d}" for k in range(N)], "date"),
        ([None] * N, "empty"),
    ],
)
def test_useless_columns_are_set_aside_and_said(cells, role):
    with pytest.warns(DataWarning, match=r"Not used as features: 'b'") as caught:
        data = load(frame(b=cells))
    assert len(caught) == 1
    assert data.feature_names == ["a"]
    assert data.roles["b"] == role
    assert list(data.aside) == ["b"]


def test_a_role_that_is_given_is_final():
    data = quietly(frame(b=np.arange(N)), roles={"b": "numeric", "a": "ignore"})
    assert data.feature_names == ["b"]
    assert data.aside == {"a": "left out as asked"}


def test_constant_and_repeated_columns_stay_with_a_note():
    X = frame(b=np.ones(N))
    X.insert(0, "c", X["a"])
    data = quietly(X)
    assert data.feature_names == ["c", "a", "b"]
    assert (data.roles["b"], data.roles["a"]) == ("constant", "duplicate")
    assert any("'a' repeats 'c'" in note for note in data.notes)
    assert any("Constant columns: 'b'" in note for note in data.notes)


def test_equal_codes_of_other_words_are_no_repetition():
    data = quietly(frame(b=["u", "v", "v"] * 20, c=["p", "q", "q"] * 20, d=["u", "v", "v"] * 20))
    assert [data.roles[name] for name in "bcd"] == ["categorical", "categorical", "duplicate"]


def test_leaks_are_kept_and_warned_of():
    with pytest.warns(DataWarning, match="'b' .in every row.. Check that they are known"):
        data = load(frame(b=np.where(np.arange(N) % 2, "yes", "no")))
    assert data.feature_names == ["a", "b"]
    assert data.roles["b"] == "leak"
    quietly(frame(b=np.where(np.arange(N) % 2, "yes", "no")), roles={"b": "categorical"})


def test_codes_that_look_like_numbers():
    column = RNG.integers(1, 5, N).astype(float)
    data = quietly(frame(b=column))
    assert not data.categorical.any()
    assert any("'b'; if they are codes" in note for note in data.notes)
    data = quietly(frame(b=column), roles={"b": "categorical"})
    assert data.categorical.tolist() == [False, True]
    assert data.levels["b"] == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(data.X[:, 1], column - 1)


def test_text_that_is_numbers_after_all():
    data = quietly(frame(b=pd.Series([str(v) for v in range(30)] * 2)), roles={"b": "numeric"})
    np.testing.assert_array_equal(data.X[:, 1], [*range(30), *range(30)])


def test_rows_without_a_target_are_left_out():
    table = frame()
    table["y"] = table["y"].astype(float)
    table.loc[[3, 7], "y"] = np.nan
    with pytest.warns(DataWarning, match="target 'y': 2 of 60 rows"):
        data = load(table)
    np.testing.assert_array_equal(data.X[:, 0], table["a"].drop([3, 7]))
    table["y"] = np.nan
    with pytest.raises(DataError, match="missing in every row"):
        load(table)


def test_nothing_to_use():
    table = pd.DataFrame({"s": [f"one two three {k}" for k in range(N)], "y": np.arange(N) % 2})
    with pytest.raises(DataError, match=r"no column to use as a feature.*free text"):
        load(table)
    assert load(table, encode=None).X[1, 0] == "one two three 1"


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([0, 1] * 10, "classification"),
        ([-1.5, 1.5] * 10, "regression"),
        ([1, 2, 3] * 10, "classification"),
        ([1, 2, 3.5] * 10, "regression"),
        (list(range(30)), "regression"),
        (list(range(20)) * 5, "classification"),
        (list(range(21)) * 5, "regression"),
        ([1, 2, 3, 4], "regression"),  # hardly classes of one each
    ],
)
def test_task(values, task):
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(size=len(values)), "y": values})
    assert load(table).task == task


def test_task_can_be_told():
    table = pd.DataFrame({"a": RNG.normal(size=N), "y": np.arange(N) % 3})
    data = load(table, task="regression")
    assert data.y.dtype == np.float64 and data.target_names is None
    table["y"] = RNG.integers(0, 40, N)
    assert load(table).task == "regression"
    data = load(table, task="classification")
    assert data.y.dtype == np.int64
    assert data.target_names == [str(label) for label in np.unique(table["y"])]


def test_labels_keep_their_kind():
    assert load(frame()).y.dtype == np.int64
    assert load(frame().assign(y=["p", "q"] * 30)).y.tolist() == ["p", "q"] * 30


def test_each_column_set_aside_stands_beside_its_reason():
    table = frame(key=[f"s{k}" for k in range(N)], nothing=np.full(N, np.nan))
    with pytest.warns(DataWarning, match=r"'key' \(an identifier.*\), 'nothing' \(no value"):
        load(table)


def test_a_doubtful_identifier_is_kept_and_warned_of():
    table = frame(hospital_number=RNG.permutation(N) + 500)
    with pytest.warns(DataWarning, match=r"Perhaps identifiers.*'hospital_number'.*drop="):
        data = load(table)
    assert "hospital_number" in data.feature_names
    quietly(table, roles={"hospital_number": "numeric"})  # whoever says so is not asked again
    quietly(table, drop=["hospital_number"])


# ------------------------------------------------------------------------------------- findings


def codes(data):
    return {found.code: found.columns for found in data.warnings}


@pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")
def test_everything_said_of_columns_has_a_code():
    table = frame(
        key=[f"s{k}" for k in range(N)],
        day=[f"2020-01-{1 + k % 28:02d}" for k in range(N)],
        word=[f"word by word {k}" for k in range(N)],
        one=np.ones(N),
        few=np.arange(N) % 5,
        answer=np.arange(N) % 2 + 5.0,
    )
    table.insert(1, "b", table["a"])
    table["y"] = table["y"].astype(object)
    table.loc[3, "y"] = None
    found = codes(load(table))
    assert found == {
        "id": ("key",),
        "date": ("day",),
        "text": ("word",),
        "constant": ("one",),
        "codes": ("few",),
        "leak": ("answer",),
        "duplicate": ("b",),
        "rows_dropped": ("y",),
    }
    document = load(table).warnings[0].to_dict()
    assert list(document) == ["code", "columns", "text"] and document["columns"] == ["y"]


@pytest.mark.parametrize(
    ("counts", "rare"),
    [((50, 10), True), ((45, 15), False), ((6,) * 10, False), ((30, 25, 5), True)],
)
def test_rare_classes_are_found_and_not_warned_of(counts, rare):
    y = np.repeat([f"c{k}" for k in range(len(counts))], counts)
    data = quietly(pd.DataFrame({"a": RNG.normal(size=N), "y": y}))
    assert ("skew" in codes(data)) is rare
    if rare:
        assert f"'c{len(counts) - 1}' is rare: {min(counts)} of 60 rows" in data.warnings[0].text


@pytest.mark.filterwarnings("ignore::tamiz.data.DataWarning")
def test_findings_stay_with_the_columns_they_are_about():
    table = frame(one=np.ones(N), colour=["u", "v", "w"] * 20, key=[f"s{k}" for k in range(N)])
    data = load(table)
    assert set(codes(data)) == {"constant", "id"}
    assert set(codes(data.take(slice(30)))) == {"constant", "id"}
    assert set(codes(data.encode("onehot"))) == {"constant", "id"}
    assert set(codes(data.drop("one"))) == {"id"}
    assert set(codes(data.keep(["one"]))) == {"constant", "id"}


def test_leaks_are_left_out_if_asked_and_come_back_by_name():
    table = frame(b=np.where(np.arange(N) % 2, "yes", "no"), c=RNG.normal(size=N))
    table["d"] = table["b"]
    table = table[["a", "b", "c", "d", "y"]]
    with pytest.warns(DataWarning, match=r"Left out as suspected leaks.*'b'.*keep='b'"):
        data = load(table, leaks="drop")
    assert data.feature_names == ["a", "c"]
    assert data.roles["b"] == data.roles["d"] == "leak"
    assert "suspected leak" in data.aside["b"]
    assert codes(data)["leak"] == ("b", "d")
    assert quietly(table, leaks="drop", keep=["b", "d"]).feature_names == ["a", "b", "c", "d"]
    with pytest.raises(DataError, match=r"no column 'bb' \(keep\)"):
        load(table, keep="bb")
    with pytest.raises(DataError, match=r"suspected leak with keep='b'"):
        load(table[["b", "y"]], leaks="drop")
    with pytest.raises(DataError, match="leaks='maybe'"):
        load(table, leaks="maybe")


# --------------------------------------------------------------------------- groups and weights


def test_groups_and_weights_are_taken_out_of_the_features():
    table = frame(patient=np.repeat([f"p{k}" for k in range(20)], 3), w=RNG.random(N) + 0.5)
    table["y"] = table["y"].astype(float)
    table.loc[3, "y"] = np.nan
    table["visit"] = np.arange(N) // 3
    with pytest.warns(DataWarning, match="1 of 60 rows"):
        data = load(table, "y", groups="patient", weights="w", columns=["a"])
    assert data.feature_names == ["a"]
    assert data.extras["groups"].tolist() == table["patient"].drop(3).tolist()
    np.testing.assert_array_equal(data.extras["weights"], table["w"].drop(3))
    table = table.drop(columns="y").assign(kind=["u", "v"] * 30)[["a", "kind", "visit"]]
    data = quietly(table, groups="visit")  # the last column is not the target then
    assert data.target == "kind"
    assert data.extras["groups"].dtype == np.int64
    taken = data.take(slice(6))
    assert taken.extras["groups"].tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("column", "argument", "words"),
    [
        (np.r_[np.nan, np.ones(N - 1)], "weights", r"no value in 1 of 60 rows, and weights="),
        (np.r_[np.nan, np.ones(N - 1)], "groups", r"no value in 1 of 60 rows, and groups="),
        (np.r_[-2.0, np.ones(N - 1)], "weights", r"positive numbers, and column 'w' holds '-2'"),
        (np.zeros(N), "weights", "holds '0'"),
        (np.r_[np.inf, np.ones(N - 1)], "weights", "positive numbers"),
        (["much"] * N, "weights", "holds 'much'"),
    ],
)
def test_groups_and_weights_that_are_none(column, argument, words):
    with pytest.raises(DataError, match=words):
        load(frame(w=column), **{argument: "w"})


@pytest.mark.parametrize(("alone", "said"), [(N, 1), (N - 4, 1), (N // 2, 0)])
def test_groups_of_single_rows_are_warned_of(alone, said):
    rows = np.r_[np.arange(alone), np.full(N - alone, alone)] / 8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load(frame(g=rows), "y", groups="g")
    found = [one for one in data.warnings if one.code == "single_rows"]
    assert len(found) == said
    assert all(f"By 'g' nearly no rows belong together: {alone} of 60" in one.text for one in found)


def test_the_target_is_no_group():
    with pytest.raises(DataError, match=r"'y' cannot be the target and groups= at once"):
        load(frame(), "y", groups="y")


# ------------------------------------------------------------------------------------------ times


@pytest.mark.parametrize(
    "cells",
    [
        [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(N)],
        [f"{1 + k % 28}.{1 + k % 12}.{2000 + k // 2}" for k in range(N)],  # the day first
        [f"{1 + k % 12}/{1 + k % 28}/{2000 + k // 2} 10:30" for k in range(N)],  # the month first
        [f"2024-03-05T{k % 24:02}:{k:02}:07.5Z" for k in range(N)],
        [f"2024-03-05 10:{k:02}+0{k % 9}:30" for k in range(N)],
    ],
)
def test_dates_become_the_seconds_of_pandas(cells):
    data = quietly(frame(when=cells), "y", time="when")
    assert "when" not in data.feature_names
    day_first = "." in cells[0] and "T" not in cells[0]
    known = pd.to_datetime(pd.Series(cells), utc=True, dayfirst=day_first, format="mixed")
    seconds = (known - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(seconds=1)
    np.testing.assert_allclose(data.extras["time"], seconds, rtol=0, atol=1e-6)


def test_numbers_and_moments_of_a_frame_are_times():
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N)[::-1], unit="D")
    found = quietly(frame(when=days), "y", time="when").extras["time"]
    assert (np.diff(found) == -86400).all()
    assert quietly(frame(when=np.arange(N) / 4), "y", time="when").extras["time"][3] == 0.75


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([f"{1 + k % 12}/{1 + k % 12}/2024" for k in range(N)], "day or the month first"),
        ([*["2024-02-28"] * (N - 1), "2024-02-30"], "'2024-02-30' is neither"),
        (["soon"] * N, "'soon' is neither"),
        ([*["2024-02-28"] * (N - 1), ""], "no value in 1 of 60 rows, and time="),
        (np.r_[np.inf, np.arange(N - 1.0)], "time= needs finite numbers in column 'when'"),
    ],
)
def test_times_that_are_none(cells, words):
    with pytest.raises(DataError, match=words):
        quietly(frame(when=cells), "y", time="when")


def test_a_column_of_dates_is_suggested_as_time_unless_one_was_named():
    table = frame(when=[f"2024-03-{1 + k % 28:02}" for k in range(N)], step=np.arange(N))
    with pytest.warns(DataWarning, match="say time='when'"):
        load(table, "y")
    for named in ({"time": "step"}, {"groups": "step"}):
        with pytest.warns(DataWarning) as caught:
            load(table, "y", **named)
        assert not any("time=" in str(one.message) for one in caught)


def test_dates_are_kept_beside_the_features_whether_they_are_named_or_guessed():
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N) * 36, unit="h")
    table = frame(clock=["12:30", "13:40", "14:50"] * (N // 3), when=days)
    table.loc[3, "when"] = pd.NaT
    with pytest.warns(DataWarning, match="Not used as features"):
        guessed = load(table, "y")
    want = days.to_numpy().astype("datetime64[s]").copy()
    want[3] = np.datetime64("NaT")
    assert guessed.dated_by == "when" and "time" not in guessed.extras
    np.testing.assert_array_equal(guessed.extras["dates"], want)
    np.testing.assert_array_equal(guessed.take([5, 3]).extras["dates"], want[[5, 3]])
    named = quietly(table.drop(index=3), "y", time="when", drop=["clock"])
    assert named.dated_by == "when"
    np.testing.assert_array_equal(named.extras["dates"], np.delete(want, 3))
    numbers = quietly(frame(when=np.arange(N)), "y", time="when")
    assert numbers.dated_by == "when" and "dates" not in numbers.extras


def test_of_several_columns_of_dates_none_is_taken_for_the_time_of_the_rows():
    days = pd.date_range("2024-01-01", periods=N)
    table = frame(birth_date=days[::-1] - pd.DateOffset(years=40), visit=days)
    with pytest.warns(DataWarning, match="Which of 'birth_date', 'visit' says .* with time="):
        data = load(table, "y")
    assert data.dated_by is None and "dates" not in data.extras
    assert not any("time='birth_date'" in one.text for one in data.warnings)
    with pytest.warns(DataWarning, match="'birth_date' .dates or times"):
        assert load(table, "y", time="visit").dated_by == "visit"
    with pytest.warns(DataWarning, match="say time='visit'"):
        assert load(table, "y", drop=["birth_date"]).dated_by == "visit"
    clock = frame(clock=["12:30", "13:40"] * (N // 2), visit=days)
    with pytest.warns(DataWarning, match="say time='visit'"):
        assert load(clock, "y").dated_by == "visit"


@pytest.mark.parametrize(
    "cells",
    [
        [f"{1 + k % 12}/{1 + k % 12}/2024" for k in range(N)],
        ["2024-01-01"] * N,
        ["10:20", "11:30"] * (N // 2),
    ],
)
def test_dates_that_are_in_doubt_are_not_guessed(cells):
    with pytest.warns(DataWarning, match="Not used as features"):
        data = load(frame(when=cells), "y")
    assert data.dated_by is None and "dates" not in data.extras


def test_a_moment_without_a_value_is_missing():
    days = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="D"))
    days[7] = pd.NaT
    with pytest.raises(DataError, match="no value in 1 of 60 rows, and time="):
        quietly(frame(when=days), "y", time="when")
