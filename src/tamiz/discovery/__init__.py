"""Which features one can stand behind: selections with a stated rate of false discoveries."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.discovery.aggregation import RankAggregation, aggregate_rankings
    from tamiz.discovery.bounds import stability_bound
    from tamiz.discovery.knockoffs.quality import KnockoffQuality
    from tamiz.discovery.knockoffs.rates import knockoff_threshold
    from tamiz.discovery.knockoffs.selector import Knockoffs
    from tamiz.discovery.permutations import PermutedScores, permutation_scores
    from tamiz.discovery.shadows import Shadows
    from tamiz.discovery.stability import StabilitySelection
    from tamiz.filters.univariate.corrections import adjust_pvalues, estimate_pi0

__all__ = [
    "KnockoffQuality",
    "Knockoffs",
    "PermutedScores",
    "RankAggregation",
    "Shadows",
    "StabilitySelection",
    "adjust_pvalues",
    "aggregate_rankings",
    "estimate_pi0",
    "knockoff_threshold",
    "permutation_scores",
    "stability_bound",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".aggregation": "RankAggregation aggregate_rankings",
        ".bounds": "stability_bound",
        ".knockoffs.quality": "KnockoffQuality",
        ".knockoffs.rates": "knockoff_threshold",
        ".knockoffs.selector": "Knockoffs",
        ".permutations": "PermutedScores permutation_scores",
        ".shadows": "Shadows",
        ".stability": "StabilitySelection",
        "tamiz.filters.univariate.corrections": "adjust_pvalues estimate_pi0",
    },
)
