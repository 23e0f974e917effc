"""The machinery behind reproduced tables: intervals, seeds, interruptions, journals, pictures."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tamiz.evaluation import available, reproduce
from tamiz.reproduce.base import (
    UNEXPLAINED,
    Experiment,
    Recipe,
    central,
    claim,
    interval_of_mean,
    is_inside,
    row,
)
from tamiz.reproduce.reproduce import RECIPES


class Coin(Experiment):
    """Normal numbers around two, from the seed alone."""

    data = ()
    quick, full = 5, 50

    def __init__(self, name="coin", *, stop_at=None, fixed=False, alone=False):
        self.name, self.stop_at, self.fixed, self.alone = name, stop_at, fixed, alone
        self.calls = []

    def prepare(self, quick, seed):
        return 2.0

    def repeat(self, ready, seed):
        self.calls.append(seed)
        if self.stop_at is not None and len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        return {"value": float(np.random.default_rng(seed).normal(ready))}

    def rows(self, found, quick):
        values = [one["value"] for one in found]
        return [
            row("near", values, group="number", published=2.0, why="no reason"),
            row("far", values, group="number", published=99.0, why="far away"),
            row("farther", values, group="other", published=999.0),
            row("ours alone", values, group="other"),
            claim("sign", values, "above 0", float(np.mean(values)) > 0, group="other"),
        ]


@pytest.fixture
def coins(monkeypatch):
    """A recipe of one part by the name of C1; the part can be exchanged."""

    def make(*parts, thinned=""):
        recipe = Recipe("C1", "Coins", "nowhere", "toss", "none", parts, thinned)
        monkeypatch.setitem(RECIPES, "C1", recipe)
        return parts[0]

    return make


# ------------------------------------------------------------------------------- arithmetic


@pytest.mark.parametrize("n", [1, 2, 10, 40, 41, 80, 81, 100, 1000])
def test_central_leaves_out_at_most_a_fortieth_at_each_end(n):
    values = np.random.default_rng(n).normal(size=n)
    low, high = central(values)
    assert low in values and high in values
    below, above = int((values < low).sum()), int((values > high).sum())
    assert below <= 0.025 * n and above <= 0.025 * n
    # and no more could be left out: the next value inwards would leave out too many
    assert below + 1 > 0.025 * (n - 1) and above == below


def test_up_to_forty_values_the_interval_is_their_range():
    values = list(range(40))
    assert central(values) == (0, 39)
    assert central(range(41)) == (1, 39)


@pytest.mark.parametrize(
    ("published", "decimals", "inside"),
    [(0.828, 3, True), (0.8275, 4, False), (0.83, 2, True), (0.829, 3, False)],
)
def test_a_value_that_rounds_to_the_printed_number_is_inside(published, decimals, inside):
    assert is_inside(published, 77 / 93, 77 / 93, decimals) is inside


@pytest.mark.parametrize(("n", "of"), [(3, 100), (20, 100), (100, 5)])
def test_the_interval_of_a_mean_holds_such_means_in_95_of_100_cases(n, of):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(1000):
        low, high = interval_of_mean(rng.normal(7, 3, size=n), of)
        held += low <= rng.normal(7, 3, size=of).mean() <= high
    assert held / 1000 == pytest.approx(0.95, abs=3 * 0.0069)


def test_the_interval_of_a_mean_of_many_is_that_of_resampled_means():
    values = np.random.default_rng(0).exponential(size=20_000)
    drawn = np.random.default_rng(1).choice(values, size=(20_000, 100)).mean(axis=1)
    assert interval_of_mean(values, 100) == pytest.approx(central(drawn), rel=0.03)


def test_a_printed_mean_is_not_held_against_single_values():
    values = np.linspace(0.0, 10.0, 101)
    assert row("x", values, group="g", published=8.0).inside is True
    line = row("x", values, group="g", published=8.0, of=100, why="far from the mean")
    assert (line.inside, line.of, line.remark) == (False, 100, "far from the mean")
    assert line.low + line.high == pytest.approx(2 * line.mean, rel=1e-12)
    assert row("x", values, group="g", published=5.5, of=100).inside is True
    assert row("x", [1.0], group="g", published=1.0, of=100).inside is None


def test_what_is_not_judged_is_neither_inside_nor_outside():
    line = row("x", [1.0, 2.0], group="g", published=9.0, why="because", judged=False)
    assert line.inside is None and line.remark == "" and line.published == 9.0


def test_row_moments_are_those_of_the_values():
    values = [1.0, 2.0, 4.0, 5.0]
    line = row("x", values, group="g", published=(3.0, 0.5))
    assert (line.mean, line.low, line.high, line.n) == (3.0, 1.0, 5.0, 4)
    assert line.sd == pytest.approx(math.sqrt(10 / 3), rel=1e-12)
    assert line.inside is True and line.remark == ""
    assert line.published_sd == 0.5


def test_a_row_outside_is_explained_or_said_to_be_unexplained():
    assert row("x", [1.0, 2.0], group="g", published=9.0, why="because").remark == "because"
    assert row("x", [1.0, 2.0], group="g", published=9.0).remark == UNEXPLAINED
    both = row("x", [1.0, 2.0], group="g", published=9.0, why="b", note="a")
    assert both.remark == "a; b"
    assert row("x", [1.0, 2.0], group="g", published=1.5, why="b", note="a").remark == "a"


def test_one_random_value_is_no_interval():
    assert row("x", [1.0], group="g", published=1.0).inside is None
    assert row("x", [1.0], group="g", published=1.0).sd is None
    assert row("x", [1.0], group="g", published=1.0, judged=True).inside is True
    assert row("x", [1.0], group="g", published=2.0, judged=True).inside is False


# ------------------------------------------------------------------------------------- runs


def test_available_names_the_recipes_in_order():
    names = list(available())
    assert names[:6] == ["P1", "P2", "P2b", "P3", "P3b", "P4"]
    assert all(RECIPES[name].title == title for name, title in available().items())


@pytest.mark.parametrize("name", ["P33", "p", "vertebral", 3, None])
def test_an_unknown_name_lists_what_there_is(name):
    with pytest.raises(ValueError, match="is no recipe") as caught:
        reproduce(name)
    assert "P1 (Vertebral column" in str(caught.value)


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="Did you mean 'P3'"):
        reproduce("P33")


def test_names_may_be_lower_case(coins):
    coins(Coin())
    assert reproduce(" c1 ").name == "C1"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"repeats": 0}, ValueError, "repeats=0 must be an integer from 1"),
        ({"repeats": 2.5}, ValueError, "repeats=2.5"),
        ({"repeats": True}, ValueError, "repeats=True"),
        ({"random_state": -1}, ValueError, "random_state=-1"),
        ({"random_state": None}, ValueError, "random_state=None"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0"),
        ({"n_jobs": "two"}, TypeError, "n_jobs='two'"),
        ({"resume": True}, ValueError, "resume=True needs a file"),
    ],
)
def test_absurd_arguments_are_refused_in_a_sentence(coins, arguments, error, words):
    coins(Coin())
    with pytest.raises(error, match=words):
        reproduce("C1", **arguments)


def test_the_result_says_what_was_done(coins):
    part = coins(Coin(), thinned="Thinner.")
    found = reproduce("C1", random_state=3)
    assert found.repeats == {"coin": 5} == {"coin": len(part.calls)}
    assert found.rows[0].n == 5 and not found.interrupted
    assert [line.what for line in found.outside] == ["far", "farther"]
    assert repr(found) == "Reproduction(C1: 2 of 4 published numbers inside)"
    text = str(found)
    for words in ("Coins (quick form)", "central 95 %", "NO [1]", "[1] far away", "unexplained",
                  "The quick form: repeats coin 5 instead of 50. Thinner.",
                  "2 of 4 inside, 2 outside."):  # fmt: skip
        assert words in text
    assert "The quick form" not in str(reproduce("C1", quick=False))
    own = str(reproduce("C1", repeats=3))
    assert "The quick form: Thinner." in own and "instead of" not in own
    assert max(map(len, text.splitlines())) <= 110


def test_repeats_override_and_fixed_parts_keep_their_own(coins):
    coins(Coin("a"), Coin("b", fixed=True))
    assert reproduce("C1", repeats=2).repeats == {"a": 2, "b": 5}
    assert reproduce("C1", quick=False, repeats=3).repeats == {"a": 3, "b": 50}


def test_repeats_that_measure_time_share_with_none(coins):
    part = coins(Coin(alone=True))
    reproduce("C1", repeats=3, n_jobs=2)
    assert len(part.calls) == 3  # here: a worker would have counted in a copy


def test_one_repeat_is_enough_for_a_table(coins):
    coins(Coin())
    found = reproduce("C1", repeats=1)
    near = found.rows[0]
    assert near.sd is None and near.low == near.high == near.mean and near.inside is None
    assert "one value" in str(found)


def test_more_repeats_begin_with_the_same_ones(coins):
    few, many = coins(Coin()), Coin()
    reproduce("C1", repeats=3, random_state=5)
    coins(many)
    reproduce("C1", repeats=7, random_state=5)
    assert few.calls == many.calls[:3]
    assert len(set(many.calls)) == 7
    other = coins(Coin())
    reproduce("C1", repeats=3, random_state=6)
    assert not set(other.calls) & set(many.calls)


def test_parts_have_different_seeds(coins):
    coins(a := Coin("a"), b := Coin("b"))
    reproduce("C1")
    assert not set(a.calls) & set(b.calls)


# ----------------------------------------------------------------- interruptions, journals


def test_an_interrupt_keeps_the_repeats_done(coins):
    coins(Coin(stop_at=4))
    found = reproduce("C1")
    assert found.interrupted and found.repeats == {"coin": 3} and found.rows[0].n == 3
    assert "interrupted" in repr(found) and "Interrupted" in str(found)
    whole = coins(Coin()) and reproduce("C1", repeats=3)
    assert whole.rows[0].mean == found.rows[0].mean


def test_an_interrupt_before_anything_was_done_is_not_swallowed(coins):
    coins(Coin(stop_at=1))
    with pytest.raises(KeyboardInterrupt):
        reproduce("C1")


def test_parts_not_reached_have_no_rows(coins):
    coins(Coin("a", stop_at=5), Coin("b"))
    found = reproduce("C1")
    assert found.repeats == {"a": 4, "b": 0} and len(found.rows) == 5


def test_a_run_is_resumed_where_it_was(coins, tmp_path):
    file = tmp_path / "run.journal"
    coins(Coin(stop_at=4))
    assert reproduce("C1", checkpoint=file).interrupted
    again = coins(Coin())
    resumed = reproduce("C1", checkpoint=file, resume=True)
    assert len(again.calls) == 2 and not resumed.interrupted
    coins(Coin())
    fresh = reproduce("C1")
    assert [line.mean for line in resumed.rows] == [line.mean for line in fresh.rows]
    with pytest.raises(FileExistsError, match="resume=True"):
        reproduce("C1", checkpoint=file)
    with pytest.raises(ValueError, match="random_state was 0, and is 1"):
        reproduce("C1", checkpoint=file, resume=True, random_state=1)


def test_missing_data_are_named_before_the_work_begins(coins):
    part = Coin()
    part.data = ("colom", "colon", "mine")
    coins(part)
    with pytest.raises(ValueError, match=r"C1 needs data that are not here.*'colom'.*'mine'"):
        reproduce("C1")
    assert not part.calls


# ----------------------------------------------------------------------------- other shapes


def test_to_dict_is_ready_for_json(coins):
    coins(Coin())
    found = reproduce("C1", repeats=2)
    back = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert back["rows"][0]["mean"] == found.rows[0].mean
    assert back["rows"][3]["inside"] is None and back["repeats"] == {"coin": 2}
    json.dumps(reproduce("C1", repeats=1).to_dict(), allow_nan=False)


def test_to_frame_has_a_row_for_each_row(coins):
    coins(Coin())
    frame = reproduce("C1").to_frame()
    assert list(frame["what"]) == ["near", "far", "farther", "ours alone", "sign"]
    assert {"mean", "sd", "low", "high", "published", "inside", "remark"} <= set(frame.columns)


def test_pictures_show_intervals_and_marks(coins):
    plt = pytest.importorskip("matplotlib.pyplot")
    coins(Coin())
    found = reproduce("C1")
    panels = found.plot()
    assert [panel.get_xlabel() for panel in panels] == ["number", "other"]
    marks = [line for line in panels[0].lines if line.get_marker() == "D"]
    assert [mark.get_xdata()[0] for mark in marks] == [2.0, 99.0]
    bar = panels[0].lines[0].get_xdata()
    assert tuple(bar) == (found.rows[0].low, found.rows[0].high)
    _, ax = plt.subplots()
    assert found.plot(ax=ax) is ax and ax.get_xlabel() == "number"
    assert found.plot(group="other").get_xlabel() == "other"
    with pytest.raises(ValueError, match="group='no'"):
        found.plot(group="no")
    labels = panels[0].get_legend_handles_labels()[1]
    assert labels[2:] == ["published, inside", "published, outside"]
    one = reproduce("C1", repeats=1).plot(group="number")  # one value judges nothing
    assert one.get_legend_handles_labels()[1][2:] == ["published"]
    plt.close("all")
