"""The promised rates on drawn data: a short form of tools/discoveries."""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np
import pytest

from tamiz.discovery import Knockoffs, StabilitySelection
from tamiz.filters import WelchT
from tools.discoveries import (
    DESIGNS,
    METHODS,
    SIGNALS,
    Outcome,
    Setting,
    by_method,
    draw,
    known_methods,
    read_outcomes,
    repeat,
    table,
)
from tools.discoveries.runs import Turns, jobs_of, record
from tools.discoveries.tables import verdict


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("signal", SIGNALS)
def test_truths_are_as_described(design, signal):
    truth = draw(Setting(design, signal, 60, 40), 0)
    assert truth.X.shape == (60, 40)
    assert not (truth.relevant & truth.unrelated).any() or signal == "nothing"
    if design == "independent":
        assert (truth.relevant ^ truth.unrelated).all()
    again = draw(Setting(design, signal, 60, 40), 0)
    np.testing.assert_array_equal(again.y, truth.y)


def series(setting, methods, n):
    found = defaultdict(list)
    for seed in range(n):
        for outcome in repeat(setting, seed, methods):
            found[outcome.method].append(outcome)
    return found


def test_noise_is_selected_no_more_often_than_promised():
    methods = ["stability, score", "Benjamini-Hochberg", "Storey", "Holm"]
    found = series(Setting("independent", "nothing", 80, 40), methods, 20)
    false = {method: [o.unrelated for o in outcomes] for method, outcomes in found.items()}
    assert np.mean(false["stability, score"]) <= 1.0  # about 0.2 in long series
    assert np.mean(np.array(false["Holm"]) > 0) <= 0.3  # 0.1; 0.2 % of such series exceed it
    assert np.mean(np.array(false["Benjamini-Hochberg"]) > 0) <= 0.3
    assert np.mean(np.array(false["Storey"]) > 0) <= 0.3


@pytest.mark.parametrize("design", ["independent", "ar"])
def test_rates_of_false_discoveries_are_kept(design):
    """Knockoffs and Storey's p-values, on thirty tables of more than 2p + 1 rows."""
    setting = Setting(design, "linear", 300, 40)
    for method, outcomes in series(setting, ["Knockoffs, linear", "Storey"], 30).items():
        rate, inside = verdict(setting, method, outcomes)
        assert inside == "yes", (method, rate)  # at most two standard errors above the level
        assert np.mean([o.power for o in outcomes]) > 0.8, method


def test_what_is_there_is_found():
    found = series(Setting("ar", "logistic", 400, 40), ["stability, score", "Storey"], 4)
    assert np.mean([o.power for o in found["Storey"]]) > 0.4
    assert np.mean([o.power for o in found["stability, score"]]) > 0.2
    assert np.mean([o.unrelated for o in found["stability, score"]]) <= 1.0


@pytest.mark.parametrize("signal", ["xor", "radial"])
def test_signals_that_single_features_do_not_show(signal):
    """ReliefF sees pairs and distances: what it finds there is right, and nearly all there is."""
    methods = ["stability, ReliefF", "permutations, ReliefF, maxT", "permutations, ReliefF, fdr"]
    found = series(Setting("independent", signal, 300, 20), methods, 4)
    assert set(found) == set(methods)
    for name, outcomes in found.items():
        assert np.mean([o.power for o in outcomes]) > 0.6, name  # 0.94 to 1 in long series
        assert np.mean([o.unrelated for o in outcomes]) <= 1.0, name
    alone = [
        WelchT(alpha=0.1, correction="holm").fit(truth.X, truth.y).support_[truth.relevant].mean()
        for truth in (draw(Setting("independent", signal, 300, 20), seed) for seed in range(4))
    ]
    assert np.mean(alone) < 0.4


def test_features_to_stand_behind_are_seldom_there_by_mistake():
    """What ``tamiz select`` names, on noise and on sparse tables: the docs have long series."""
    name = "select, to stand behind"
    noise = series(Setting("independent", "nothing", 80, 30), [name], 3)[name]
    assert sum(o.unrelated > 0 for o in noise) <= 1  # at a rate of a tenth 3 in 100 would exceed
    sparse = series(Setting("independent", "sparse", 200, 40), [name], 2)[name]
    assert sum(o.selected for o in sparse) >= 4  # of 8
    assert sum(o.unrelated for o in sparse) <= 2


def test_table_has_a_row_for_each_method():
    setting = Setting("blocks", "linear", 60, 20)
    outcomes = repeat(setting, 0, ["Holm", "Benjamini-Hochberg", "stability, ReliefF"])
    text = table({(setting, o.method): [o, o] for o in outcomes})
    assert [line.split("|")[2].strip() for line in text.splitlines()[2:]] == [
        "Benjamini-Hochberg",
        "Holm",
    ]
    assert set(known_methods()) <= set(METHODS)


def test_outcomes_survive_a_line_that_was_cut(tmp_path):
    cell = Setting("ar", "nothing", 60, 20), "Holm"
    lines = [record(cell, Outcome("Holm", 1, 1, 2, np.nan, 0.1, seed)) for seed in (0, 1, 1)]
    (tmp_path / "outcomes-1.jsonl").write_text(
        "\n".join(lines) + "\n" + lines[0][:40], encoding="utf-8"
    )
    found = read_outcomes(tmp_path)
    assert [o.seed for o in found[cell]] == [0, 1]
    turns = Turns([cell], found, most=3)
    assert turns.pick(10.0) == ((cell[0], ("Holm",)), 2)
    assert turns.pick(10.0) is None  # two of three are done, and the third runs


def test_all_have_enough_before_the_quickest_have_more():
    small, large = Setting("ar", "nothing", 60, 20), Setting("ar", "nothing", 600, 200)
    cells = [(setting, "Holm") for setting in (large, small)]
    turns = Turns(cells, {}, most=3, enough=2)
    order = [turns.pick(10.0)[0][0] for _ in range(6)]
    assert order == [small, large, small, large, small, large]
    for job in turns.jobs:
        turns.running[job] = 2
    assert turns.pick(10.0)[0][0] == small


def test_methods_that_share_a_fit_select_what_they_select_alone():
    truth = draw(Setting("ar", "logistic", 120, 60), 0)
    shared = {
        "stability, score": StabilitySelection(WelchT(), pfer=1.0, random_state=5),
        "stability, score, r-concave": StabilitySelection(
            WelchT(), pfer=1.0, assumption="r-concave", random_state=5
        ),
        "Knockoffs, linear": Knockoffs("linear", fdr=0.2, random_state=5),
        "Storey": WelchT(alpha=0.1, correction="storey"),
    }
    for name, alone in shared.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = METHODS[name].read(METHODS[name].fit(truth, 5))
            want = alone.fit(truth.X, truth.y).support_
        assert want.any()
        np.testing.assert_array_equal(got, want, err_msg=name)
    cells = [(Setting("ar", "logistic", 120, 60), name) for name in METHODS]
    assert sum(len(names) for _, names in jobs_of(cells)) == len(METHODS)


def test_verdict_allows_two_binomial_errors():
    setting = Setting("ar", "nothing", 60, 20)
    outcomes = [Outcome("Holm", k < 15, k < 15, 1, np.nan, 0.1, k) for k in range(100)]
    assert verdict(setting, "Holm", outcomes)[1] == "yes"  # 0.15; 0.1 + 2 * 0.03 are allowed
    outcomes = [Outcome("Holm", k < 17, k < 17, 1, np.nan, 0.1, k) for k in range(100)]
    assert verdict(setting, "Holm", outcomes)[1] == "NO"
    assert verdict(setting, "Holm", outcomes[:5])[1] == "too few"
    # fractions of many features vary less than a coin
    outcomes = [Outcome("Knockoffs, linear", 3, 3, 12 + k % 3, 0.5, 0.1, k) for k in range(40)]
    assert (
        verdict(setting, "Knockoffs, linear", outcomes)[1] == "NO"
    )  # 0.23 for 0.2, and never less
    outcomes = [Outcome("Holm", k < 17, k < 17, 1, np.nan, 0.1, k) for k in range(100)]
    (row,) = by_method({(setting, "Holm"): outcomes}).splitlines()[2:]
    assert row.split(" | ")[2:5] == ["1", "100", "0"] and "0.170 ±" in row
