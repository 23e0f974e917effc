"""Wrappers: searches over subsets of features, judged by an estimator or a criterion."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.search.annealing import SimulatedAnnealing
    from tamiz.search.best_first import BestFirst
    from tamiz.search.branch_bound import BranchAndBound
    from tamiz.search.exhaustive import ExhaustiveSearch
    from tamiz.search.genetic import GeneticSearch
    from tamiz.search.sequential import BackwardElimination, ForwardSelection
    from tamiz.search.splits import HoldOut, TimeFolds

__all__ = [
    "BackwardElimination",
    "BestFirst",
    "BranchAndBound",
    "ExhaustiveSearch",
    "ForwardSelection",
    "GeneticSearch",
    "HoldOut",
    "SimulatedAnnealing",
    "TimeFolds",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".annealing": "SimulatedAnnealing",
        ".best_first": "BestFirst",
        ".branch_bound": "BranchAndBound",
        ".exhaustive": "ExhaustiveSearch",
        ".genetic": "GeneticSearch",
        ".sequential": "BackwardElimination ForwardSelection",
        ".splits": "HoldOut TimeFolds",
    },
)
