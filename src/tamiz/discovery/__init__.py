"""Selections with a stated rate of false discoveries, for any selector."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.discovery.knockoffs.quality import KnockoffQuality
    from tamiz.discovery.knockoffs.rates import knockoff_threshold
    from tamiz.discovery.knockoffs.selector import Knockoffs
    from tamiz.discovery.shadows import Shadows

__all__ = [
    "KnockoffQuality",
    "Knockoffs",
    "Shadows",
    "knockoff_threshold",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".knockoffs.quality": "KnockoffQuality",
        ".knockoffs.rates": "knockoff_threshold",
        ".knockoffs.selector": "Knockoffs",
        ".shadows": "Shadows",
    },
)
