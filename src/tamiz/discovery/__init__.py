"""Which features one can stand behind: selections with a stated rate of false discoveries."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.discovery.bounds import stability_bound
    from tamiz.discovery.permutations import PermutedScores, permutation_scores
    from tamiz.discovery.stability import StabilitySelection
    from tamiz.filters.univariate.corrections import adjust_pvalues, estimate_pi0

__all__ = [
    "PermutedScores",
    "StabilitySelection",
    "adjust_pvalues",
    "estimate_pi0",
    "permutation_scores",
    "stability_bound",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".bounds": "stability_bound",
        ".permutations": "PermutedScores permutation_scores",
        ".stability": "StabilitySelection",
        "tamiz.filters.univariate.corrections": "adjust_pvalues estimate_pi0",
    },
)
