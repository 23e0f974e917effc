"""A genetic algorithm over subsets of features.

A chromosome is a string of bits, one for each feature. Each generation is drawn from the last by
roulette, an individual's part of the wheel being its score; some are paired and exchange their
ends behind a random cut; some flip one random bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.search._records import better, plot_genetic
from tamiz.search.annealing import Draws, Moves
from tamiz.search.base import SEARCH_CONSTRAINTS, Outcome, SearchSelector
from tamiz.search.evaluator import Evaluator, TimeUp

_PROBABILITY = Interval(Real, 0, 1, closed="both")


class GeneticSearch(SearchSelector):
    """Search by a genetic algorithm.

    A population of subsets is judged at a time, which suits several workers. The best subset ever
    met is returned. Without elitism (the default) a generation may be worse than the last.

    Parameters
    ----------
    estimator : estimator, default=SVC()
        The judge: any classifier or regression of scikit-learn, or a pipeline, in which scaling
        and imputation belong.
    n_features_to_select : int, float or None, default=None
        Number or fraction of features; offspring of another size is repaired by random flips. None
        or "best" leaves the number to the search.
    N : int, default=30
        Individuals in a generation.
    G : int, default=20
        Generations bred from the first.
    p_c : float, default=0.7
        Probability that an individual takes part in a crossover.
    p_m : float, default=0.3
        Probability that one of its bits is flipped.
    elitism : int, default=0
        Number of best individuals that pass unchanged into the next generation.
    patience : int, optional
        Generations without improvement after which the search ends early.
    start : list of features, or list of such lists, optional
        One or several individuals of the first generation; the rest is random. They may be empty
        only if there are fixed features.
    cv : int, "loo", splitter or list of splits, default=5
        How the samples are divided.
    scoring : str, callable, list or dict, optional
        Metric or metrics of scikit-learn; the first is the criterion of the search. Scores that
        are negative are shifted by the least of the generation before the roulette.
    criterion : str or callable, optional
        Instead of an estimator: "cfs", "bhattacharyya", "divergence", or a function
        ``f(X_subset, y)``.
    feature_groups : list of lists or dict of lists, optional
        Features that come and go together; the keys of a dict are the names of the groups.
    fixed_features : list, optional
        Features that are always in.
    max_features : int, optional
        Largest number of features.
    time_budget : float, optional
        Seconds after which the best so far is returned.
    error_score : {"raise", "worst"}, default="raise"
        What happens if the estimator fails on a subset.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int, optional
        Workers.
    checkpoint : path, optional
        Journal of all evaluations, from which a run can be resumed.
    resume : bool, default=False
        Take up the journal that ``checkpoint`` names.
    verbose : bool or int, default=0
        Show progress when the search takes longer than two seconds.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        As for all selectors. Behind the selected features the others are ordered by the mean
        score of the subsets with them minus that of the subsets without them.
    best_score_ : float
        Score of the selected subset.
    population_ : boolean array of shape (N, n_features)
        The last generation that was judged as a whole; the first if none was.
    n_generations_ : int
        Generations bred.
    n_evaluations_ : int
        Number of different subsets judged.
    evaluations_ : Evaluations
        Every subset judged with its score on every split; ``evaluations_.to_frame()`` is a table.
    status_ : str
        "finished", "interrupted" or "time_budget".
    estimator_ : estimator
        Fitted to the selected features.

    See Also
    --------
    SimulatedAnnealing : One subset at a time.
    ForwardSelection : One feature after the other.

    References
    ----------
    .. [1] D. E. Goldberg (1989). Genetic algorithms in search, optimization and machine learning.
           Addison-Wesley.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamiz import SVC
    >>> from tamiz.search import GeneticSearch
    >>> X, y = load_wine(return_X_y=True)
    >>> judge = make_pipeline(StandardScaler(), SVC())
    >>> search = GeneticSearch(judge, N=12, G=5, elitism=1, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97), search.n_generations_
    (True, 5)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SEARCH_CONSTRAINTS,
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto", "best"}),
        ],
        "N": [Interval(Integral, 2, None, closed="left")],
        "G": [Interval(Integral, 0, None, closed="left")],
        "p_c": [_PROBABILITY],
        "p_m": [_PROBABILITY],
        "elitism": [Interval(Integral, 0, None, closed="left")],
        "patience": [None, Interval(Integral, 1, None, closed="left")],
        "start": [None, list, tuple, np.ndarray],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        N: int = 30,
        G: int = 20,
        p_c: float = 0.7,
        p_m: float = 0.3,
        elitism: int = 0,
        patience: int | None = None,
        start: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        criterion: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        max_features: int | None = None,
        time_budget: float | None = None,
        error_score: str = "raise",
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.N = N
        self.G = G
        self.p_c = p_c
        self.p_m = p_m
        self.elitism = elitism
        self.patience = patience
        self.start = start
        self.cv = cv
        self.scoring = scoring
        self.criterion = criterion
        self.feature_groups = feature_groups
        self.fixed_features = fixed_features
        self.max_features = max_features
        self.time_budget = time_budget
        self.error_score = error_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores of the population by generation, with its best and its mean.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        check_is_fitted(self, "selection_")
        return plot_genetic(self.selection_, ax)

    # ------------------------------------------------------------------ breeding

    def _search(self, evaluator: Evaluator, outcome: Outcome, rng: np.random.Generator) -> None:
        if self.elitism >= self.N:
            raise ValueError(f"elitism={self.elitism} must be less than N={self.N}.")
        draws = self._draws(rng)
        moves = Moves(evaluator, self._size(evaluator.units), self._limit(evaluator.units))
        population = self._first_generation(evaluator, moves, draws)
        generation = idle = 0
        self.n_generations_ = generation
        self.population_ = _as_features(evaluator, population)
        while True:
            evaluator.stage = f"generation {generation} of {self.G}"
            try:
                values = np.array([e.value for e in evaluator.many(population)])
            except (KeyboardInterrupt, TimeUp):  # those judged count
                judged = [subset for subset in population if evaluator.is_known(subset)]
                _keep_best(evaluator, outcome, judged, generation)
                raise
            improved = _keep_best(evaluator, outcome, population, generation)
            self.n_generations_ = generation
            self.population_ = _as_features(evaluator, population)
            idle = 0 if improved else idle + 1
            if generation >= self.G or (self.patience is not None and idle >= self.patience):
                return
            population = self._breed(population, values, moves, draws)
            generation += 1

    def _breed(
        self, population: list[np.ndarray], values: np.ndarray, moves: Moves, draws: GeneticDraws
    ) -> list[np.ndarray]:
        """The next generation."""
        ahead = np.argsort(-values, kind="stable")[: self.elitism]
        elite = [population[i].copy() for i in ahead]
        wheel = cumulative_fitness(values)
        chosen = [
            population[roulette(wheel, draws.uniform())].copy() for _ in range(self.N - len(elite))
        ]
        parents = [i for i in range(len(chosen)) if draws.uniform() < self.p_c]
        parents = draws.shuffled(parents)
        for a, b in zip(parents[::2], parents[1::2], strict=False):  # an odd one stays single
            if len(chosen[a]) < 2:
                break
            cut = draws.cut(len(chosen[a]))
            tail = chosen[a][cut:].copy()
            chosen[a][cut:] = chosen[b][cut:]
            chosen[b][cut:] = tail
        for subset in chosen:
            if draws.uniform() < self.p_m:
                k = draws.choose(np.arange(len(subset)))
                subset[k] = not subset[k]
            repair(subset, moves, draws)
        return elite + chosen

    def _first_generation(
        self, evaluator: Evaluator, moves: Moves, draws: GeneticDraws
    ) -> list[np.ndarray]:
        given = [] if self.start is None else list(self.start)
        if self.start is not None and not (given and _is_list_of_lists(given)):
            given = [given]
        if len(given) > self.N:
            raise ValueError(f"start holds {len(given)} individuals, more than N={self.N}.")
        population = []
        for features in given:
            subset = self._start_subset(evaluator.units, False, features)
            moves.refuse(subset)
            population.append(subset)
        while len(population) < self.N:
            population.append(moves.random(draws))
        return population

    def _draws(self, rng: np.random.Generator) -> GeneticDraws:
        return GeneticDraws(rng)


class GeneticDraws(Draws):
    """The random decisions of breeding; a test can put its own in their place."""

    def shuffled(self, items: Sequence[int]) -> list[int]:
        """The same, in random order."""
        return [items[k] for k in self.rng.permutation(len(items))]

    def cut(self, length: int) -> int:
        """Where two chromosomes are cut: behind the first bit at the earliest."""
        return int(self.rng.integers(1, length))


def cumulative_fitness(values: np.ndarray) -> np.ndarray:
    """Ends of the parts of the roulette's wheel; what could not be judged has none."""
    fitness = np.where(np.isfinite(values), values, 0.0)
    judged = np.isfinite(values)
    if (values[judged] < 0).any():
        fitness = np.where(judged, values - values[judged].min(), 0.0)
    total = fitness.sum()
    if not total > 0:
        fitness, total = np.ones(len(values)), float(len(values))
    return np.cumsum(fitness / total)


def roulette(wheel: np.ndarray, draw: float) -> int:
    """The first individual whose part does not end before the draw."""
    return min(int(np.searchsorted(wheel, draw, side="left")), len(wheel) - 1)


def repair(subset: np.ndarray, moves: Moves, draws: Draws) -> None:
    """Flip random bits, in place, until the size is allowed."""
    if moves.wanted is not None:
        while moves.size(subset) > moves.wanted:
            subset[draws.choose(np.flatnonzero(subset))] = False
        while moves.size(subset) < moves.wanted:
            subset[draws.choose(np.flatnonzero(~subset))] = True
        return
    while moves.size(subset) > moves.limit:
        subset[draws.choose(np.flatnonzero(subset))] = False
    if not moves.size(subset):
        subset[draws.choose(np.flatnonzero(moves.sizes <= moves.limit))] = True


def _keep_best(
    evaluator: Evaluator, outcome: Outcome, population: list[np.ndarray], generation: int
) -> bool:
    """Write down the individuals of a generation; whether the best ever met is among them."""
    improved = False
    for subset in population:
        ahead = outcome.subset is None
        if outcome.subset is not None:
            new, old = (
                (evaluator.recall(s).value, evaluator.n_features(s))
                for s in (subset, outcome.subset)
            )
            ahead = better(*new, *old)
        evaluator.mark("individual", subset, taken=ahead, generation=generation)
        if ahead:
            outcome.subset, improved = subset, True
    return improved


def _is_list_of_lists(start: list[Any]) -> bool:
    return all(isinstance(item, (list, tuple, np.ndarray)) for item in start)


def _as_features(evaluator: Evaluator, population: list[np.ndarray]) -> np.ndarray:
    table = np.zeros((len(population), evaluator.units.n_features), dtype=bool)
    for row, subset in zip(table, population, strict=True):
        row[evaluator.features(subset)] = True
    return table
