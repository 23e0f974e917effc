"""Wrappers: searches over subsets of features, judged by an estimator or a criterion."""

from tamiz.search.annealing import SimulatedAnnealing
from tamiz.search.best_first import BestFirst
from tamiz.search.branch_bound import BranchAndBound
from tamiz.search.exhaustive import ExhaustiveSearch
from tamiz.search.genetic import GeneticSearch
from tamiz.search.sequential import BackwardElimination, ForwardSelection
from tamiz.search.splits import HoldOut

__all__ = [
    "BackwardElimination",
    "BestFirst",
    "BranchAndBound",
    "ExhaustiveSearch",
    "ForwardSelection",
    "GeneticSearch",
    "HoldOut",
    "SimulatedAnnealing",
]


def __dir__() -> list[str]:
    return sorted(__all__)
