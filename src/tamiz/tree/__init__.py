"""Classification and regression trees: growing, pruning and reading them."""

from tamiz.tree.boosting import BoostingClassifier, BoostingRegressor
from tamiz.tree.cart import CARTClassifier, CARTRegressor
from tamiz.tree.findings import Finding
from tamiz.tree.forest import ForestClassifier
from tamiz.tree.pruning import PruningPath, pruning_path
from tamiz.tree.rules import Rule
from tamiz.tree.splits import NominalSplit, NumericSplit, ObliqueSplit, Split, Surrogate
from tamiz.tree.structure import Tree

__all__ = [
    "BoostingClassifier",
    "BoostingRegressor",
    "CARTClassifier",
    "CARTRegressor",
    "Finding",
    "ForestClassifier",
    "NominalSplit",
    "NumericSplit",
    "ObliqueSplit",
    "PruningPath",
    "Rule",
    "Split",
    "Surrogate",
    "Tree",
    "pruning_path",
]


def __dir__() -> list[str]:
    return sorted(__all__)
