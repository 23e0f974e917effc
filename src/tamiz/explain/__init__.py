"""Why a fitted machine decides as it does: what each feature adds to a decision value."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.explain.counterfactuals import Counterfactuals, counterfactual
    from tamiz.explain.curves import PartialDependence, partial_dependence
    from tamiz.explain.importance import (
        FoldImportances,
        leave_covariate_out,
        permutation_importance,
    )
    from tamiz.explain.interactions import Interactions, interaction_strength
    from tamiz.explain.result import ShapleyValues
    from tamiz.explain.shapley import shapley_values

__all__ = [
    "Counterfactuals",
    "FoldImportances",
    "Interactions",
    "PartialDependence",
    "ShapleyValues",
    "counterfactual",
    "interaction_strength",
    "leave_covariate_out",
    "partial_dependence",
    "permutation_importance",
    "shapley_values",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".counterfactuals": "Counterfactuals counterfactual",
        ".curves": "PartialDependence partial_dependence",
        ".importance": "FoldImportances leave_covariate_out permutation_importance",
        ".interactions": "Interactions interaction_strength",
        ".result": "ShapleyValues",
        ".shapley": "shapley_values",
    },
)
