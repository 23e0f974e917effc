"""Wrappers: searches over subsets of features, judged by an estimator or a criterion."""

from tamiz.search.annealing import SimulatedAnnealing
from tamiz.search.genetic import GeneticSearch
from tamiz.search.splits import HoldOut

__all__ = ["GeneticSearch", "HoldOut", "SimulatedAnnealing"]
