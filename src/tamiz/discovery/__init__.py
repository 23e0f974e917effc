"""Which features one can stand behind: selections with a stated rate of false discoveries."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.discovery.bounds import stability_bound
    from tamiz.discovery.stability import StabilitySelection

__all__ = ["StabilitySelection", "stability_bound"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".bounds": "stability_bound",
        ".stability": "StabilitySelection",
    },
)
