"""Simulated annealing: the source's example with its draws, invariants, oracles."""

from __future__ import annotations

import itertools
import math
import warnings
import zlib

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from tamiz.search import ExhaustiveSearch, ForwardSelection, HoldOut, SimulatedAnnealing
from tamiz.search.annealing import Draws
from tests.checks import assert_every_check_passes
from tests.search.cases import Table, linear_machine, merit, numbered


class Given(Draws):
    """Draws that were made beforehand."""

    def __init__(self, units, uniforms):
        self.units, self.uniforms = list(units), list(uniforms)

    def choose(self, allowed):
        unit = self.units.pop(0)
        assert unit in allowed
        return unit

    def uniform(self):
        return self.uniforms.pop(0)


class Injected(SimulatedAnnealing):
    draws = None

    def _draws(self, rng):
        return self.draws


def test_the_worked_example(d8):
    # add f3 (draw .886), drop f2 (draw .612), cool; add f1, add f2 (a tie, draw .5), drop f3
    # (a tie, draw .5), cool below T1
    search = Injected(linear_machine(), T0=10, T1=3, v=0.4, m=2, start=[1], cv="loo", result="last")
    search.draws = Given([2, 1, 0, 1, 2], [0.886, 0.612, 0.5, 0.5])
    search.fit(d8.X, d8.y)
    steps = [s for s in search.selection_.path if s.action in ("accept", "reject")]
    assert [s.action for s in steps] == ["accept"] * 5
    probability = [s.details["probability"] for s in steps]
    np.testing.assert_allclose(probability[:2], [0.98758, 0.95123], atol=5e-6)
    assert probability[2:] == [1.0, 1.0, 1.0]
    assert [s.details["temperature"] for s in steps] == [10, 10, 4, 4, 4]
    errors = [1 - s.value for s in steps]
    np.testing.assert_allclose(errors, [4 / 8, 1, 0, 0, 0], atol=1e-12)
    assert search.temperatures_.tolist() == [10, 4]
    assert np.flatnonzero(search.support_).tolist() == [0, 1]
    assert search.draws.units == [] and search.draws.uniforms == []


def test_a_draw_above_the_probability_turns_the_change_down(d8):
    search = Injected(linear_machine(), T0=1, T1=0.9, v=0.5, m=1, start=[1], cv="loo")
    search.draws = Given([2], [math.exp(-1 / 8) + 1e-9])
    search.fit(d8.X, d8.y)
    assert [s.action for s in search.selection_.path][-1] == "reject"
    assert np.flatnonzero(search.support_).tolist() == [1]


@pytest.mark.parametrize("seed", range(5))
def test_the_optimum_of_a_sum_is_found(seed):
    weights = np.array([0.3, -0.2, 0.5, -0.1, 0.05, -0.4, 0.2, -0.3])
    X, y = numbered(10, 8)
    search = SimulatedAnnealing(criterion=merit(weights), random_state=seed, m=30).fit(X, y)
    assert np.flatnonzero(search.support_).tolist() == [0, 2, 4, 6]
    assert search.best_score_ == pytest.approx(1.05)
    # the features left out are ordered by what they cost: the estimate is rough at both ends only
    assert search.n_evaluations_ <= 2**8


@pytest.mark.parametrize("seed", range(3))
def test_swaps_keep_the_number_asked_for(seed):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=9)
    X, y = numbered(10, 9)
    search = SimulatedAnnealing(
        criterion=merit(weights), n_features_to_select=3, random_state=seed, m=40
    ).fit(X, y)
    sizes = {s.n_features for s in search.selection_.path}
    assert sizes == {3}
    best = max(itertools.combinations(range(9), 3), key=lambda s: weights[list(s)].sum())
    assert sorted(best) == np.flatnonzero(search.support_).tolist()


def test_limits_groups_and_fixed_features():
    weights = np.ones(8)
    X, y = numbered(10, 8)
    search = SimulatedAnnealing(
        criterion=merit(weights),
        feature_groups=[[0, 1], [2, 3]],
        fixed_features=[7],
        max_features=5,
        random_state=0,
    ).fit(X, y)
    assert search.support_[7] and search.support_.sum() == 5
    assert search.support_[0] == search.support_[1] and search.support_[2] == search.support_[3]
    assert all(7 in s.features for s in search.selection_.path if s.action == "visit")
    assert max(s.n_features for s in search.selection_.path) <= 5


def test_at_the_bound_features_are_exchanged():
    """Cold, and one short of nothing to lose: without exchanges the walk could not move."""
    weights = np.array([0.9, 0.1, 0.2, 0.8, 0.3, 0.7, 0.4, 0.15])
    X, y = numbered(10, 8)
    search = SimulatedAnnealing(
        criterion=merit(weights),
        start=[1, 2, 7],
        max_features=3,
        T0=1e-6,
        T1=1e-7,
        m=60,
        random_state=0,
    ).fit(X, y)
    assert np.flatnonzero(search.support_).tolist() == [0, 3, 5]
    taken = [s for s in search.selection_.path if s.action == "accept"]
    assert {len(s.features) for s in taken} == {2}
    assert {s.n_features for s in taken} == {3}


def test_a_single_feature_is_exchanged_too():
    weights = np.array([0.1, 0.9, 0.2])
    X, y = numbered(10, 3)
    search = SimulatedAnnealing(
        criterion=merit(weights), start=[0], max_features=1, T0=1e-6, T1=1e-7, random_state=0
    ).fit(X, y)
    assert np.flatnonzero(search.support_).tolist() == [1]


def test_moves_at_the_bound_and_below(d8):
    """Below: one flip. At the bound: a removal, or an addition and what goes for it."""
    table = Table(4, 0)
    search = Injected(criterion=table, T0=1.0, T1=0.9, v=0.5, m=10, start=[0], max_features=2)
    # add 1; 2 for 0; drop 1; add 3; 0 for 3; then as often as it takes
    search.draws = Given([1, 2, 0, 1, 3, 0, 3] + [0, 0] * 40, [0.0] * 200)
    search.fit(table.X, table.y)
    steps = [s.features for s in search.selection_.path if s.action in ("accept", "reject")]
    assert [set(step) for step in steps[:5]] == [{1}, {0, 2}, {1}, {3}, {0, 3}]
    seen = [s.features for s in search.selection_.path if s.action == "visit"][:6]
    assert seen == [(0,), (0, 1), (1, 2), (2,), (2, 3), (0, 2)]


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_of_groups_keep_the_bound(seed):
    rng = np.random.default_rng(seed)
    table = Table(7, seed)
    groups = [[0, 1, 2], [3, 4]]
    search = table.fit(
        SimulatedAnnealing,
        feature_groups=groups,
        fixed_features=[6] if seed % 2 else None,
        max_features=4,
        T0=1.0,
        T1=0.05,
        m=20,
        random_state=int(rng.integers(100)),
    )
    assert max(s.n_features for s in search.selection_.path) <= 4
    units = [[0, 1, 2], [3, 4], [5], [6]]
    for subset in table.asked:
        assert all(set(u) <= set(subset) or not set(u) & set(subset) for u in units)
    assert any(len(s.features) > 3 for s in search.selection_.path if s.action == "accept")
    full = table.fit(
        ExhaustiveSearch,
        feature_groups=groups,
        fixed_features=[6] if seed % 2 else None,
        max_features=4,
    )
    assert search.best_score_ == full.best_score_  # a dozen subsets: all are met


def test_without_a_bound_the_draws_are_those_of_before():
    """One choice among all units for each iteration, and no more."""

    class Counting(Draws):
        chosen: list = []

        def choose(self, allowed):
            self.chosen.append(len(allowed))
            return super().choose(allowed)

    class Watched(SimulatedAnnealing):
        def _draws(self, rng):
            return Counting(rng)

    for most in (None, 6):
        Counting.chosen.clear()
        search = Table(6, 0).fit(
            Watched, T0=1.0, T1=0.1, max_features=most, start=[0, 1], random_state=0
        )
        assert len(Counting.chosen) == search.selection_.notes["n_iterations"]
        assert set(Counting.chosen) <= {5, 6}  # the last feature is not dropped


def test_the_same_seed_gives_the_same_walk_whatever_the_workers(d8):
    judge = linear_machine()
    runs = [
        SimulatedAnnealing(judge, cv=4, random_state=3, n_jobs=jobs).fit(d8.X, d8.y)
        for jobs in (1, 2)
    ]
    values = [[(s.action, s.features, s.value) for s in run.selection_.path] for run in runs]
    assert values[0] == values[1]
    other = SimulatedAnnealing(judge, cv=4, random_state=4).fit(d8.X, d8.y)
    assert [(s.action, s.features, s.value) for s in other.selection_.path] != values[0]


def test_annealing_leaves_a_trap_in_which_forward_selection_ends():
    # three decoys, better alone than any of the pair that is best of all
    def criterion(X, y):
        chosen = set(X[0].astype(int).tolist())
        value = 0.1 * len(chosen & {2, 3, 4}) - 0.15 * max(0, len(chosen & {2, 3, 4}) - 1)
        return value + (1.0 if {0, 1} <= chosen else -0.05 * len(chosen & {0, 1}))

    X, y = numbered(10, 5)
    greedy = ForwardSelection(criterion=criterion, patience=1).fit(X, y)
    assert not greedy.support_[:2].any()
    found = SimulatedAnnealing(criterion=criterion, random_state=0, m=20).fit(X, y)
    assert found.support_[:2].all()


def test_resume_continues_the_same_walk(d8, tmp_path):
    judge = linear_machine()
    whole = SimulatedAnnealing(judge, cv=4, random_state=None, checkpoint=tmp_path / "whole")
    whole.fit(d8.X, d8.y)
    lines = (tmp_path / "whole").read_text(encoding="utf-8").splitlines(keepends=True)
    name, length = lines[0].rsplit(maxsplit=2)[0], len("".join(lines[:4]).encode())
    first = f"{name} {length:020d}"
    (tmp_path / "cut").write_text(
        "".join([f"{first} {zlib.crc32(first.encode()):08x}\n", *lines[1:4]]), encoding="utf-8"
    )
    again = clone(whole).set_params(checkpoint=tmp_path / "cut", resume=True).fit(d8.X, d8.y)
    strip = [(s.action, s.features, s.value) for s in whole.selection_.path]
    assert [(s.action, s.features, s.value) for s in again.selection_.path] == strip


def test_ctrl_c_keeps_the_best_so_far():
    X, y = numbered(10, 8)
    calls = []

    def criterion(X, y):
        calls.append(1)
        if len(calls) > 25:
            raise KeyboardInterrupt
        return -abs(X.shape[1] - 3)

    with pytest.warns(UserWarning, match="interrupted after 25 subsets"):
        search = SimulatedAnnealing(criterion=criterion, random_state=0).fit(X, y)
    assert search.status_ == "interrupted"
    values = [s.value for s in search.selection_.path if s.action in ("start", "accept")]
    assert search.best_score_ == max(values)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"T0": 0}, "T0"),
        ({"v": 1.0}, "v"),
        ({"m": 0}, "m"),
        ({"T0": 1, "T1": 2}, "T1=2 must be below T0=1"),
        ({"T0": 1, "T1": 1}, "T1=1 must be below T0=1"),
        ({"start": []}, "start holds no feature, and none is fixed"),
        ({"n_features_to_select": 9}, "exceeds the 8 features"),
        ({"start": [0, 1], "n_features_to_select": 3}, "start has 2 features"),
        ({"start": [0, 1], "max_features": 1}, "more than max_features=1"),
        ({"start": [0], "feature_groups": [[0, 1]]}, "a part of the group"),
        ({"feature_groups": [[0, 1]], "n_features_to_select": 3}, "feature_groups"),
        ({"fixed_features": range(8)}, "nothing to search"),
        ({"cv": "many"}, "cv='many' is not understood"),
        ({"criterion": "magic"}, "criterion='magic'"),
    ],
)
def test_bad_parameters_get_a_sentence(params, sentence):
    X, y = numbered(10, 8)
    start = {"criterion": merit(np.ones(8))} if "cv" not in params else {}
    with pytest.raises(ValueError, match=sentence):
        SimulatedAnnealing(**{**start, **params}).fit(X, y)


def test_an_end_above_the_temperature_found_is_lowered():
    X, y = numbered(10, 6)
    weights = np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1])
    search = SimulatedAnnealing(criterion=merit(weights), T1=2.0, random_state=0)
    with pytest.warns(UserWarning, match=r"T1=2.0 is not below the first temperature, 0.144"):
        search.fit(X, y)
    first = 0.1 / math.log(2)
    np.testing.assert_allclose(search.temperatures_, first * 0.8 ** np.arange(4))
    given = SimulatedAnnealing(criterion=merit(weights), T1=0.9 * first, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given.fit(X, y)
    np.testing.assert_allclose(given.temperatures_, [first])


def test_an_empty_start_with_fixed_features():
    X, y = numbered(10, 4)
    search = SimulatedAnnealing(
        criterion=merit(-np.ones(4)), start=[], fixed_features=[2], random_state=0
    )
    assert np.flatnonzero(search.fit(X, y).support_).tolist() == [2]


@pytest.mark.parametrize("stop_after", [1, 3, 12, 20])
@pytest.mark.parametrize("T0", ["auto", 1.0])
def test_cut_short_at_any_moment_it_can_be_drawn(T0, stop_after):
    plt = pytest.importorskip("matplotlib.pyplot")
    table = Table(8, 0, stop_after=stop_after)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        search = table.fit(SimulatedAnnealing, T0=T0, random_state=0)
    assert [s.action for s in search.selection_.path][:2] == ["visit", "start"]
    assert (len(search.temperatures_) > 0) == (stop_after > 10)
    assert search.plot().get_xlabel() == "iteration"
    plt.close("all")


def test_out_of_time_at_once():
    plt = pytest.importorskip("matplotlib.pyplot")
    table = Table(8, 0)
    with pytest.warns(ConvergenceWarning, match="out of time after 1 subsets"):
        search = table.fit(SimulatedAnnealing, time_budget=1e-9, random_state=0)
    assert search.temperatures_.shape == (0,)
    assert search.plot().get_title().startswith("SimulatedAnnealing")
    plt.close("all")


def test_no_picture_before_the_fit():
    with pytest.raises(NotFittedError):
        SimulatedAnnealing().plot()


def test_estimator_checks():
    assert_every_check_passes(
        SimulatedAnnealing(T0=0.1, T1=0.05, v=0.3, m=1, cv=HoldOut(0.4), random_state=0)
    )


def test_the_picture(d8):
    plt = pytest.importorskip("matplotlib.pyplot")
    search = SimulatedAnnealing(linear_machine(), cv=4, random_state=3).fit(d8.X, d8.y)
    ax = search.plot()
    assert ax.get_xlabel() == "iteration"
    assert [a.get_ylabel() for a in ax.figure.axes] == ["score", "temperature"]
    ax.figure.canvas.draw()  # the legend covers no data: it is below the axes and their label
    legend = ax.get_legend().get_window_extent()
    assert legend.y1 <= ax.xaxis.label.get_window_extent().y0
    assert legend.y0 >= 0 and legend.x1 <= ax.figure.bbox.x1
    plt.close("all")
