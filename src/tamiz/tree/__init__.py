"""Classification and regression trees: growing, pruning and reading them."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.tree.boosting import BoostingClassifier, BoostingRegressor
    from tamiz.tree.cart import CARTClassifier, CARTRegressor
    from tamiz.tree.findings import Finding
    from tamiz.tree.forest import ForestClassifier
    from tamiz.tree.pruning import PruningPath, pruning_path
    from tamiz.tree.rules import PathInWords, Rule
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
    "PathInWords",
    "PruningPath",
    "Rule",
    "Split",
    "Surrogate",
    "Tree",
    "pruning_path",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".boosting": "BoostingClassifier BoostingRegressor",
        ".cart": "CARTClassifier CARTRegressor",
        ".findings": "Finding",
        ".forest": "ForestClassifier",
        ".pruning": "PruningPath pruning_path",
        ".rules": "PathInWords Rule",
        ".splits": "NominalSplit NumericSplit ObliqueSplit Split Surrogate",
        ".structure": "Tree",
    },
)
