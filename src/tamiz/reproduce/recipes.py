"""Published tables as recipes, by name."""

from tamiz.reproduce import p1, p2, p3, p4, p5, p6, p7, p8
from tamiz.reproduce.base import Recipe

#: In the order of their numbers; a new recipe is a module with a RECIPE, listed here.
RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE for module in (p1, p2, p3, p4, p5, p6, p7, p8)
}

__all__ = ["RECIPES"]
