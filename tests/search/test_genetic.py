"""The genetic search: the source's example with its draws, invariants."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from tamiz.search import GeneticSearch, HoldOut
from tamiz.search.annealing import Moves
from tamiz.search.evaluator import Evaluator
from tamiz.search.genetic import GeneticDraws, cumulative_fitness, roulette
from tamiz.search.judges import Merit
from tamiz.validation import check_units
from tests.checks import assert_every_check_passes
from tests.search.cases import Table, linear_machine, merit, numbered


class Given(GeneticDraws):
    def __init__(self, uniforms, units=(), cuts=(), order=None):
        self.uniforms, self.units, self.cuts = list(uniforms), list(units), list(cuts)
        self.order = order

    def uniform(self):
        return self.uniforms.pop(0)

    def choose(self, allowed):
        unit = self.units.pop(0)
        assert unit in allowed
        return unit

    def cut(self, length):
        return self.cuts.pop(0)

    def shuffled(self, items):
        return list(items) if self.order is None else [items[k] for k in self.order]


class Injected(GeneticSearch):
    draws = None

    def _draws(self, rng):
        return self.draws


def bits(rows):
    return [np.array([c == "1" for c in row]) for row in rows]


def text(table):
    return ["".join("1" if b else "0" for b in row) for row in table]


def test_the_worked_example(d8):
    # {101, 100, 001}: fitness 1, 1, 0; only one would cross, so none does; the second mutates
    search = Injected(
        linear_machine(),
        N=3,
        G=1,
        p_c=0.7,
        p_m=0.7,
        cv="loo",
        start=[[0, 2], [0], [2]],
    )
    search.draws = Given([0.709, 0.477, 0.381, 0.582, 0.784, 0.806, 0.978, 0.603, 0.993], units=[1])
    search.fit(d8.X, d8.y)
    first = [s.value for s in search.selection_.path if s.action == "individual"][:3]
    np.testing.assert_allclose(first, [1, 1, 0], atol=1e-12)
    assert text(search.population_) == ["100", "111", "101"]
    assert search.draws.uniforms == [] and search.draws.units == []


def test_the_wheel():
    wheel = cumulative_fitness(np.array([1.0, 1.0, 0.0]))
    np.testing.assert_allclose(wheel, [0.5, 1.0, 1.0])
    assert [roulette(wheel, r) for r in (0.709, 0.477, 0.381)] == [1, 0, 0]
    assert roulette(wheel, 1.0) == 1  # the third has no share
    # negative scores are shifted, failures have no share, nothing at all is even
    np.testing.assert_allclose(cumulative_fitness(np.array([-3.0, -1.0, -2.0])), [0, 2 / 3, 1])
    np.testing.assert_allclose(cumulative_fitness(np.array([-np.inf, 1.0, 3.0])), [0, 0.25, 1])
    np.testing.assert_allclose(cumulative_fitness(np.array([-np.inf, -np.inf])), [0.5, 1])


def moves_of(p, size=None, limit=None):
    units = check_units(None, None, p)
    return Moves(Evaluator(Merit(lambda f: 0.0, "m"), units), size, limit or p)


def test_crossover_exchanges_the_ends():
    search = GeneticSearch(N=2, p_c=1.0, p_m=0.0)
    draws = Given([0.4, 0.9, 0, 0, 0.5, 0.5], cuts=[1])
    children = search._breed(bits(["1111", "0010"]), np.array([1.0, 1.0]), moves_of(4), draws)
    assert text(children) == ["1010", "0111"]


def test_elites_pass_unchanged():
    search = GeneticSearch(N=3, p_c=1.0, p_m=1.0, elitism=1)
    population = bits(["100", "010", "001"])
    rng = np.random.default_rng(0)
    for _ in range(20):
        children = search._breed(
            population, np.array([0.1, 0.9, 0.2]), moves_of(3), GeneticDraws(rng)
        )
        assert text(children)[0] == "010" and len(children) == 3


def test_every_child_has_an_allowed_size():
    rng = np.random.default_rng(0)
    population = [rng.random(7) < 0.5 for _ in range(10)]
    search = GeneticSearch(N=10, p_c=1.0, p_m=1.0)
    for size, limit in ((3, 7), (None, 2)):
        children = population
        for _ in range(20):
            values = rng.random(10)
            children = search._breed(children, values, moves_of(7, size, limit), GeneticDraws(rng))
            sizes = [int(c.sum()) for c in children]
            assert all(s == 3 for s in sizes) if size else all(1 <= s <= 2 for s in sizes)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_of_a_sum_is_found(seed):
    weights = np.array([0.3, -0.2, 0.5, -0.1, 0.05, -0.4, 0.2, -0.3])
    X, y = numbered(10, 8)
    search = GeneticSearch(criterion=merit(weights), random_state=seed, elitism=2).fit(X, y)
    assert np.flatnonzero(search.support_).tolist() == [0, 2, 4, 6]
    fixed = GeneticSearch(
        criterion=merit(weights), n_features_to_select=3, random_state=seed, elitism=2
    ).fit(X, y)
    best = max(itertools.combinations(range(8), 3), key=lambda s: weights[list(s)].sum())
    assert np.flatnonzero(fixed.support_).tolist() == sorted(best)


def test_without_elitism_the_best_ever_met_is_returned():
    X, y = numbered(10, 8)
    weights = np.linspace(-1, 1, 8)
    search = GeneticSearch(criterion=merit(weights), N=6, G=8, random_state=1).fit(X, y)
    visited = [s.value for s in search.selection_.path if s.action == "visit"]
    assert search.best_score_ == max(visited)


def test_workers_do_not_change_the_answer(d8):
    judge = linear_machine()
    runs = [
        GeneticSearch(judge, N=6, G=3, cv=4, random_state=3, n_jobs=jobs).fit(d8.X, d8.y)
        for jobs in (1, 2)
    ]
    steps = [[(s.action, s.features, s.value) for s in run.selection_.path] for run in runs]
    assert steps[0] == steps[1]


def test_patience_ends_early():
    X, y = numbered(10, 4)
    search = GeneticSearch(criterion=lambda X, y: 1.0, G=50, patience=3, random_state=0)
    # the first generation improves on nothing, later ones at most by being smaller
    assert search.fit(X, y).n_generations_ < 20


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"N": 1}, "N"),
        ({"p_c": 1.1}, "p_c"),
        ({"elitism": 30}, "must be less than N=30"),
        ({"start": [[0]] * 31}, "more than N=30"),
        ({"start": [[]]}, "start holds no feature, and none is fixed"),
        ({"start": [[0], []]}, "start holds no feature, and none is fixed"),
        ({"start": []}, "start holds no feature, and none is fixed"),
        ({"start": [["nobody"]]}, "no named columns"),
        ({"n_features_to_select": 2, "max_features": 1}, "cannot both hold"),
    ],
)
def test_bad_parameters_get_a_sentence(params, sentence):
    X, y = numbered(10, 8)
    with pytest.raises(ValueError, match=sentence):
        GeneticSearch(criterion=merit(np.ones(8)), **params).fit(X, y)


@pytest.mark.parametrize("stop_after", [1, 4, 9, 15])
def test_cut_short_at_any_moment_it_keeps_the_best_and_can_be_drawn(stop_after):
    plt = pytest.importorskip("matplotlib.pyplot")
    table = Table(8, 0, stop_after=stop_after)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        search = table.fit(GeneticSearch, N=6, random_state=0)
    assert search.best_score_ == max(table.score(subset) for subset in table.asked)
    assert search.population_.shape == (6, 8)
    assert search.n_generations_ > 0 or stop_after < 6
    assert search.plot().get_xlabel() == "generation"
    plt.close("all")


def test_an_empty_start_with_fixed_features():
    X, y = numbered(10, 4)
    for start in ([], [[]]):
        search = GeneticSearch(
            criterion=merit(-np.ones(4)), start=start, fixed_features=[2], N=2, G=0
        )
        assert np.flatnonzero(search.fit(X, y).support_).tolist() == [2]


def test_no_picture_before_the_fit():
    with pytest.raises(NotFittedError):
        GeneticSearch().plot()


def test_estimator_checks():
    assert_every_check_passes(GeneticSearch(N=2, G=1, cv=HoldOut(0.4), random_state=0))


def test_the_picture(d8):
    plt = pytest.importorskip("matplotlib.pyplot")
    search = GeneticSearch(linear_machine(), N=6, G=3, cv=4, random_state=3)
    ax = search.fit(d8.X, d8.y).plot()
    assert ax.get_xlabel() == "generation" and len(ax.lines) == 3
    assert len(ax.lines[0].get_xdata()) == 24
    plt.close("all")
